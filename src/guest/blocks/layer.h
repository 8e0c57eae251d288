// SPDX-License-Identifier: Apache-2.0
// The OpenCL layer of tare blocks. Beside each kernel of the program it keeps a twin from the
// instrumented module; the program holds and asks the kernel, launches take the twin. Nothing here
// allocates with malloc, prints, or ends the program; what fails leaves the kernel as it is.
#pragma once
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_0_APIS
#define CL_USE_DEPRECATED_OPENCL_2_1_APIS
#define CL_USE_DEPRECATED_OPENCL_2_2_APIS
#include "guest/blocks/shared.h"
#include "guest/guest.h"

#include <CL/cl_icd.h>

// The functions below us. Set once, before any call.
extern cl_icd_dispatch blocks_next;

// ---- the folder (files.c)

enum blocks_stage { BLOCKS_OFF, BLOCKS_COLLECT, BLOCKS_COUNT };
// Reads the environment and makes this process's COUNTS. OFF: there is nothing to do.
enum blocks_stage blocks_files_begin(void);
extern struct blocks_counts *blocks_counts;

// Writes a BUILD of that hash, unless it is there. `data` is the whole of it.
void blocks_write_build(uint64_t hash, const void *data, size_t bytes);
// Remembers that a binary (by the hash of its bytes) was built from the BUILD of `hash`, for this
// run and the next, and tells it; 0: it is not known.
void blocks_write_origin(uint64_t binary, uint64_t hash);
uint64_t blocks_read_origin(uint64_t binary);
// Maps the MODULE of that hash; NULL: there is none, or it is cut off.
const struct blocks_module *blocks_map_module(uint64_t hash);
// The row of a kernel, taken when it has none yet; NULL: there is no more room.
struct blocks_kernel *blocks_row(const char *name, uint64_t hash);
// The row's counters, made at the first call; NULL: there is no room.
void *blocks_counters(struct blocks_kernel *row, const struct blocks_module *module);

// ---- programs (program.c)

// What a kernel of a program is taken from.
struct blocks_source {
	void *data; // a BUILD, mapped; NULL: it has no source
	size_t bytes, room;
	uint64_t hash;
};
// Reads what the program was built from. `data` is NULL where `why` says why.
void blocks_source_read(cl_program program, struct blocks_source *source, enum blocks_why *why);
void blocks_source_free(struct blocks_source *source);
// The program's specialisation constants were set.
void blocks_specialised(cl_program program);
// The instrumented program of a source in the program's context, built; NULL: row->why says why.
cl_program blocks_twin_program(cl_program program, const struct blocks_module *module,
                               struct blocks_kernel *row);

// ---- binaries (binary.c)

bool blocks_binaries_begin(void);
void blocks_wrap_binaries(cl_icd_dispatch *table);
// The hash of the BUILD from which a program was made that was loaded as a binary; 0: not known.
uint64_t blocks_origin(cl_program program);

// Puts a function of ours into the table in the place of one that is there.
#define BLOCKS_WRAP(table, member, ours)                                                           \
	do                                                                                         \
		if ((table)->member != NULL)                                                       \
			(table)->member = (ours);                                                  \
	while (0)

// ---- kernels (kernel.c)

bool blocks_kernels_begin(enum blocks_stage stage);
// Replaces members of the table.
void blocks_wrap(cl_icd_dispatch *table);
// From now on no twin is launched: arguments are set in ways that the layer does not see.
void blocks_stop_twins(void);
