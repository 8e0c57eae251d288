// SPDX-License-Identifier: Apache-2.0
// What can be read in the text of a PTX module: its version and target, its kernels and their
// parameters. https://docs.nvidia.com/cuda/parallel-thread-execution
#pragma once
#include "backend/backend.h"

// A part of a text.
struct cuda_text {
	const char *at;
	size_t length;
};

// Word behind the first directive of that name ("version", "target"), up to a blank or comma;
// length 0: there is none.
struct cuda_text cuda_ptx_directive(const char *ptx, const char *name);

// The next kernel behind *at, which moves on; begin with *at = the text. False: no more.
// *parameters: what stands between its parentheses.
bool cuda_ptx_next(const char **at, struct cuda_text *name, struct cuda_text *parameters);

// Names of the kernels, separated by ", ", those that fit, whole; returns how many there are. A
// mangled C++ name is written as in the source (without its types) where that is told apart.
size_t cuda_ptx_names(const char *ptx, char *names, size_t size);

// The kernel that is meant by `wanted`: its name, its mangled name, or the last part of it.
// Returns how many kernels fit; *name is the one if it is one.
size_t cuda_ptx_resolve(const char *ptx, const char *wanted, struct cuda_text *name);

// The parameters of the kernel of that (mangled) name. -1: no such kernel.
int64_t cuda_ptx_parameter_count(const char *ptx, const char *name);
// Fills in kind, type and bytes of parameter `index`: -EINVAL where there is none. A 64-bit number
// may as well be a pointer: UNKNOWN.
int cuda_ptx_parameter(const char *ptx, const char *name, uint32_t index,
                       struct tare_parameter *parameter);

// The name in the source of a mangled one, "space::kernel"; another name as it is. `text` has
// `size` bytes; what does not fit is cut.
void cuda_readable_name(struct cuda_text mangled, char *text, size_t size);
