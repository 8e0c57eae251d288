// SPDX-License-Identifier: Apache-2.0
// PC sampling inside a CUDA program, by CUPTI: what its parts share. As in guest.h: nothing of the
// program's is changed, and whatever fails, it goes on.
#pragma once
#include "backend/cuda/cupti_pc_sampling_abi.h"
#include "guest/samples/shared.h"

#include <stdbool.h>

// ---- file.c

// This process's file; NULL: nothing is to be sampled, or there is no room.
extern struct samples_file *samples_file;
// Reads the environment and makes the file.
bool samples_file_begin(void);
// In the child of a fork, which has no part in its parent's file.
void samples_file_forget(void);
// The place of a function, taken when it has none yet; SAMPLES_FUNCTIONS: no room. Only by one
// thread at a time, as samples_add.
uint32_t samples_function_of(const struct sampling_record *record);
// Adds a record; `slots`: of each of CUPTI's reasons its place in the file.
void samples_add(const struct sampling_record *record, const uint8_t *slots, uint32_t slot_count);
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
