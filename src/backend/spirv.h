// SPDX-License-Identifier: Apache-2.0
// What a SPIR-V module tells of itself: its kernels, their parameters, its program-scope variables
// and specialisation constants. Reads only; nothing is executed. Every byte is taken as hostile.
#pragma once
#include "backend/backend.h"

struct tare_spirv_kernel {
	char *name;
	uint32_t parameter_count;
	struct tare_parameter *parameters; // names as the module's debug information has them
	uint32_t required_group_size[3];   // 0 0 0: none
	uint32_t required_sub_group_size;  // 0: none
};

// A program-scope variable of global or constant memory.
struct tare_spirv_variable {
	uint32_t id;
	char *name; // linkage or debug name; "" where it has none
	uint64_t bytes;
	bool constant;  // constant memory
	bool exported;  // has a linkage name
	bool addressed; // another's initial value may have its address
};

struct tare_spirv_constant {
	uint32_t id;    // SpecId
	uint32_t bytes; // 1 (a truth value), 2, 4 or 8
};

struct tare_spirv {
	uint32_t version;      // 0x00010200: 1.2
	uint32_t address_bits; // 32 or 64, by its addressing model
	struct tare_spirv_kernel *kernels;
	uint32_t kernel_count;
	struct tare_spirv_variable *variables;
	uint32_t variable_count;
	struct tare_spirv_constant *constants;
	uint32_t constant_count;
	char **imports; // functions that another module must define
	uint32_t import_count;
	char **functions; // defined and exported, kernels left out
	uint32_t function_count;
};

// Reads `bytes` of a module; either byte order. *module is the caller's, to free with
// tare_spirv_free. -EINVAL: it is none, or is damaged (the error says what is wrong, and at which
// word); -ENOMEM.
int tare_spirv_read(const void *data, size_t bytes, struct tare_spirv **module,
                    struct tare_error *error);
// NULL is legal.
void tare_spirv_free(struct tare_spirv *module);
// The kernel of that name, or NULL; also where there is no module.
const struct tare_spirv_kernel *tare_spirv_kernel(const struct tare_spirv *module,
                                                  const char *name);
