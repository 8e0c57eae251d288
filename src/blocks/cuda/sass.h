// SPDX-License-Identifier: Apache-2.0
// What tare reads out of SASS, the instructions of NVIDIA's devices, by itself: what sort an
// instruction is, and where a branch goes; hence basic blocks. It was compared with nvdisasm for
// compute capability 7.5, 8.0, 8.6, 8.9, 9.0, 10.0 and 12.0. Operands are not read.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// X(NAME, what it is called)
#define TARE_SASS_CLASSES(X)                                                                       \
	X(UNKNOWN, "unknown")                                                                      \
	X(CONTROL, "control")                                                                      \
	X(BARRIER, "barrier")                                                                      \
	X(INTEGER, "integer")                                                                      \
	X(FP16, "fp16")                                                                            \
	X(FP32, "fp32")                                                                            \
	X(FP64, "fp64")                                                                            \
	X(MATRIX, "matrix")                                                                        \
	X(SPECIAL, "special function")                                                             \
	X(CONVERT, "conversion")                                                                   \
	X(MOVE, "move")                                                                            \
	X(LANES, "between lanes")                                                                  \
	X(GLOBAL_LOAD, "global load")                                                              \
	X(GLOBAL_STORE, "global store")                                                            \
	X(SHARED_LOAD, "shared load")                                                              \
	X(SHARED_STORE, "shared store")                                                            \
	X(LOCAL_LOAD, "local load")                                                                \
	X(LOCAL_STORE, "local store")                                                              \
	X(CONSTANT, "constant load")                                                               \
	X(ATOMIC, "atomic")                                                                        \
	X(TEXTURE, "texture or surface")                                                           \
	X(MEMORY, "other memory")
enum tare_sass_class {
#define X(name, text) TARE_SASS_##name,
	TARE_SASS_CLASSES(X)
#undef X
	    TARE_SASS_CLASS_COUNT,
};
const char *tare_sass_class_name(enum tare_sass_class class);

// How sure tare is of an architecture.
enum tare_sass_known {
	TARE_SASS_COMPARED, // with nvdisasm
	TARE_SASS_ASSUMED,  // it is taken to be as its neighbours
	TARE_SASS_FOREIGN,  // other instructions: nothing is read
};
enum tare_sass_known tare_sass_known(uint32_t sm);

// Opcodes that say where warps go, by their low nine bits.
enum {
	TARE_SASS_BSYNC = 0x141,
	TARE_SASS_BREAK,
	TARE_SASS_CALL_ABSOLUTE,
	TARE_SASS_CALL,
	TARE_SASS_BSSY,
	TARE_SASS_WARPSYNC = 0x148,
	TARE_SASS_RET = 0x150,
};
struct tare_sass {
	uint32_t opcode;  // its low nine bits
	const char *name; // NULL: unknown
	enum tare_sass_class class;
	bool conditional; // it may have no effect
	bool leaves;      // what follows it is another block
	bool goes_on;     // what follows it may be the next, at once or when a call returns
	bool indirect;    // where it goes to is not read
	bool has_target;
	int64_t target; // pc
};
// One instruction of 16 bytes at `pc` of its function.
struct tare_sass tare_sass_read(const uint8_t *code, uint32_t sm, uint64_t pc);

struct tare_sass_block {
	uint32_t first, count; // instructions
};
struct tare_sass_blocks {
	struct tare_sass_block *at; // by address; malloc
	uint32_t count;
	uint32_t indirect; // branches whose targets are not read: blocks may begin there
	uint32_t unknown;  // instructions
};
// Divides a function. 0, or -ENOMEM. Free blocks->at.
int tare_sass_split(const uint8_t *code, size_t bytes, uint32_t sm,
                    struct tare_sass_blocks *blocks);
