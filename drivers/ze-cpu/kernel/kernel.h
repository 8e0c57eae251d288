// SPDX-License-Identifier: Apache-2.0
// A kernel handle: what a launch is made from.
#pragma once
#include "module/program.h"

// An argument as zeKernelSetArgumentValue left it.
struct kernel_argument {
	enum tare_parameter_kind kind; // UNKNOWN: an image or a sampler, which cannot be given
	bool set;
	size_t bytes; // LOCAL: of the memory; else of the value
	union {
		uint64_t small;
		void *pointer;      // MEMORY
		unsigned char *big; // a value of more than 8 bytes; malloc
	};
};

// What the OpenCL device says of a kernel, and what this device allows.
struct kernel_limits {
	uint64_t local_bytes, private_bytes; // fixed when it was compiled
	uint64_t item_bytes;                 // of private variables
	uint32_t spill_bytes;
	uint64_t device_local_bytes;
	uint32_t group_size, dimension_size[3];
	uint32_t sub_group_size, preferred_multiple;
};

struct _ze_kernel_handle_t {
	ze_module_handle_t module;
	struct cpu_program *program;
	const struct tare_spirv_kernel *spirv;
	uint32_t index; // of it in the program
	struct kernel_argument *arguments;
	uint32_t group_size[3], offset[3];
	ze_kernel_indirect_access_flags_t indirect;
	struct kernel_limits limits;
	char *attributes; // of the source, as zeKernelGetSourceAttributes says them
};

// Argument bytes, wherever they are.
static inline const void *kernel_argument_value(const struct kernel_argument *argument)
{
	return argument->bytes > sizeof argument->small ? (const void *)argument->big
	                                                : (const void *)&argument->small;
}

// False: out of memory.
bool kernel_argument_copy(struct kernel_argument *to, const struct kernel_argument *from);
void kernel_arguments_free(struct kernel_argument *arguments, uint32_t count);

// kernel_facts.c
ze_result_t kernel_read_limits(ze_kernel_handle_t kernel);
// "": nothing declared; NULL: out of memory.
char *kernel_source_attributes(const struct _ze_kernel_handle_t *kernel);
// kernel_spill.c: an estimate, in bytes; 0 also where memory runs out.
uint32_t kernel_spill_bytes(const struct _ze_kernel_handle_t *kernel);
// kernel_local.c: bytes of its variables in local memory, where that is less than *local_bytes, and
// in private memory, of one work-item; 0 where that cannot be told.
void kernel_variable_bytes(const struct _ze_kernel_handle_t *kernel, uint64_t *local_bytes,
                           uint64_t *private_bytes);
