// SPDX-License-Identifier: Apache-2.0
// What Intel's compiler says of the kernels that it made for a device: its .ze_info (YAML, written
// by ocloc; format: "ZE Info" in intel-graphics-compiler/documentation/igc/ZEBinary) and its
// assembly.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Kinds of instructions, by their mnemonics.
enum tare_blocks_isa {
	TARE_BLOCKS_ISA_ARITHMETIC, // whole numbers, floats, bits, comparisons
	TARE_BLOCKS_ISA_MOVE,
	TARE_BLOCKS_ISA_MATH,    // of the unit for roots, divisions and the like
	TARE_BLOCKS_ISA_MATRIX,  // systolic
	TARE_BLOCKS_ISA_MESSAGE, // to memory, samplers, barriers
	TARE_BLOCKS_ISA_CONTROL,
	TARE_BLOCKS_ISA_WAIT, // for what was sent, and nothing
	TARE_BLOCKS_ISAS,
};
const char *tare_blocks_isa_name(enum tare_blocks_isa isa);

struct tare_blocks_static {
	char kernel[512];
	uint32_t simd_width; // work-items of a hardware thread; 0: not said
	uint32_t registers;  // of a hardware thread
	uint32_t barriers;
	uint64_t local_bytes; // shared by a work-group
	// Of a hardware thread, in memory: what registers were spilled to, and both that and
	// private arrays where the compiler does not tell them apart.
	uint64_t spill_bytes, scratch_bytes;
	bool has_mix;                   // there was an assembly
	uint64_t mix[TARE_BLOCKS_ISAS]; // its instructions as they stand
};

// Whether the compiler tells of memory in the place of registers.
bool tare_blocks_spills(const struct tare_blocks_static *of);
// Reads the kernels of a .ze_info, which need not be well-formed: *count of them, malloc; those
// whose names a path cannot have are left out. NULL: none, or no memory.
struct tare_blocks_static *tare_blocks_ze_info(const char *text, size_t *count);
// The instruction of a line of assembly that ends before `end`; NULL: it has none.
const char *tare_blocks_mnemonic(const char *line, const char *end);
enum tare_blocks_isa tare_blocks_isa_of(const char *mnemonic);
// Adds the instructions of a kernel's assembly.
void tare_blocks_assembly(const char *text, uint64_t mix[TARE_BLOCKS_ISAS]);
