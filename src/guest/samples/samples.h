// SPDX-License-Identifier: Apache-2.0
// PC sampling inside a CUDA program, by CUPTI: what its parts share. As in guest.h: nothing of the
// program's is changed, and whatever fails, it goes on.
#pragma once
#include "backend/cuda/cupti_pc_sampling_abi.h"
#include "backend/cuda/cupti_sass_abi.h"
#include "guest/samples/shared.h"

#include <stdbool.h>

// ---- file.c

// This process's file; NULL: nothing is to be sampled, or there is no room.
extern struct samples_file *samples_file;
// Reads the environment and makes the file.
bool samples_file_begin(void);
// In the child of a fork, which has no part in its parent's file.
void samples_file_forget(void);
// Adds a record; `slots`: of each of CUPTI's reasons its place in the file.
// Only by one thread at a time, as samples_add_exact.
void samples_add(const struct sampling_record *record, const uint8_t *slots, uint32_t slot_count);
// Adds executions of an instruction. False: there is no room.
bool samples_add_exact(uint64_t crc, const char *name, uint64_t pc, uint64_t warps,
                       uint64_t threads);
// Writes a module, unless it is there.
void samples_write_module(uint64_t crc, const void *cubin, size_t bytes);
// Counts a launch; any thread.
void samples_count_launch(const char *name, uint64_t warps);
void samples_failed(enum samples_state state, int code, const char *where);
uint64_t samples_now_ns(void);

// ---- session.c

// Finds CUPTI's functions. False: this CUPTI has none.
bool samples_functions_find(void);
// A context was made, or is about to end; a module was loaded, or is about to go.
void samples_context_begins(cu_context context);
void samples_context_ends(cu_context context);
void samples_module_loaded(const struct cupti_module_resource *module);
void samples_module_ends(cu_context context);
// The process ends: what is left is read.
void samples_end(void);
// In the child of a fork.
void samples_forget(void);

// ---- exact.c

// What a launch's parameters are, at a place that both forms of them have (inject.c).
struct samples_grid {
	uint32_t groups[3], lanes[3];
	uint32_t shared_bytes;
	cu_stream stream;
};
static inline uint64_t samples_warps(const struct samples_grid *grid)
{
	uint64_t lanes = (uint64_t)grid->lanes[0] * grid->lanes[1] * grid->lanes[2];

	return (uint64_t)grid->groups[0] * grid->groups[1] * grid->groups[2] * ((lanes + 31) / 32);
}
// Reads the environment. False: no kernel is to be looked for.
bool samples_exact_begin(void);
// This process counts: nothing is sampled.
bool samples_exact_counts(void);
// A launch begins, in any thread; and it has succeeded.
// `stream` is the one that the launch means.
void samples_exact_enters(const struct cupti_call *call, cu_stream stream);
void samples_exact_leaves(const struct cupti_call *call, cu_stream stream, uint64_t warps);
void samples_exact_graph(void);
// A stream begins to capture (1), or ends to (-1).
void samples_exact_captures(int more);
// A module, or a library of them, is about to go, with the counts of its kernels.
void samples_exact_unloads(void *handle, bool library);
// A context ends; NULL: the process does. What was counted is read.
void samples_exact_ends(cu_context context);
// A device's primary context is about to go.
void samples_exact_resets(cu_device device);
void samples_exact_forget(void);

// ---- exact_name.c

// Whether a kernel's linked name fits what was asked for: "=NAME" is the whole name; else each word
// of it must occur, but for those of built-in types, which linked names do not spell.
bool samples_exact_fits(const char *asked, const char *symbol);
