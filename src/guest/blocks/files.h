// SPDX-License-Identifier: Apache-2.0
// The files of tare blocks' folder, for the layers of both APIs.
#pragma once
#include "guest/blocks/shared.h"

#include <stdbool.h>
#include <stddef.h>

enum { BLOCKS_SAMPLE_HEAD = 2 }; // numbers before a sample (blocks/sample.h)

enum blocks_stage { BLOCKS_OFF, BLOCKS_COLLECT, BLOCKS_COUNT, BLOCKS_CHANGE };
// Reads the environment and makes this process's COUNTS, at the first call. OFF: there is nothing
// to do.
enum blocks_stage blocks_files_begin(void);
// Before it, in a library that may be in a process beside the OpenCL layer: its COUNTS are its own.
void blocks_files_apart(void);
extern struct blocks_counts *blocks_counts;

// The path of a file of a number, which is its name's first part.
enum { BLOCKS_PATH_BYTES = 4200 };
void blocks_path_of(char path[BLOCKS_PATH_BYTES], uint64_t number, const char *suffix);
// Writes a file of that hash (a BUILD, a PART, HEADERS), unless it is there. `data` is the whole of
// it.
void blocks_write(uint64_t hash, const char *suffix, const void *data, size_t bytes);
// Whether there is one.
bool blocks_is_written(uint64_t hash, const char *suffix);
// Remembers that a binary (by the hash of its bytes) was built from the BUILD of `hash`, for this
// run and the next, and tells it; 0: it is not known.
void blocks_write_origin(uint64_t binary, uint64_t hash);
uint64_t blocks_read_origin(uint64_t binary);
// The MODULE of that hash, mapped for good; NULL: there is none, or it is cut off.
const struct blocks_module *blocks_module_of(uint64_t hash);
// The row of a kernel, taken when it has none yet; NULL: there is no more room.
struct blocks_kernel *blocks_row(const char *name, uint64_t hash, enum blocks_api api);
// The row's counters, made at the first call; NULL: there is no room, of which *why says more.
void *blocks_counters(struct blocks_kernel *row, const struct blocks_module *module,
                      enum blocks_why *why);
// How many bytes they and the sample behind them take.
uint64_t blocks_counter_bytes(const struct blocks_module *module);
// Says which work-groups of the next launch are sampled, so that about as many work-items are as
// there is room for.
void blocks_choose_sample(void *counters, const struct blocks_module *module, uint64_t work_items);

// Notes what an argument of the row's kernel is set to (arguments.c). A NULL value is none.
void blocks_note_argument(struct blocks_kernel *row, uint32_t index, size_t bytes,
                          const void *value);
// The same of a kernel of a changed module: a bit of *misfits, by the module's fixed arguments, is
// set where the value is not the one that it was made for.
void blocks_fit_argument(const struct blocks_module *module, const struct blocks_kernel *row,
                         uint32_t index, size_t bytes, const void *value, uint32_t *misfits);
// Whether the kernel's work-groups take another size there.
bool blocks_regroups(const struct blocks_module *module, const struct blocks_kernel *row);

// Stands for the row of a kernel for which there was none.
extern struct blocks_kernel blocks_no_row;
// Counts a launch of a row; NULL: of a kernel that is not known. `counted`: of its twin, with so
// many work-items.
void blocks_count_launch(struct blocks_kernel *row, bool counted, uint64_t work_items);

// The width that the driver tells of the row's kernel; 0: none (groups.c).
uint64_t blocks_width(const struct blocks_kernel *row);
// Adds a launch to the row's lanes, where the width is known.
void blocks_add_lanes(struct blocks_kernel *row, uint64_t items, uint64_t groups,
                      uint64_t in_group);
// How many of a launch's `items` in the first dimension a work-group should have, so that it fills
// the width, with `others` in the other dimensions: 64 work-items or more where that divides the
// launch, and at most `most`. 0: there is no such number.
// `most` is what the device allows; BLOCKS_NOT_TOLD or 0: it does not say, and 1024 is taken.
uint64_t blocks_filling(uint64_t width, uint64_t items, uint64_t others, uint64_t most);
