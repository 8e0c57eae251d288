// SPDX-License-Identifier: Apache-2.0
// What the counters say: of each kernel of each build, how often its blocks ran, and what follows.
#pragma once
#include "blocks/compile.h"

struct tare_blocks_kernel {
	char name[BLOCKS_NAME_BYTES];
	const struct tare_blocks_build *build; // NULL: it is not known
	enum blocks_api api;
	uint64_t launches, counted; // of all processes; those that count
	uint64_t work_items;        // of the latter
	enum blocks_why why;        // launches are not counted
	int code;                   // the vendor's
	char log[256];              // of the driver's build
	uint64_t *counters;         // as they were read; NULL: none
	uint64_t *executions; // of each block of the build's module, by work-items; NULL: none
	uint64_t *sample;     // the slots of its first process (sample.h); NULL: none
	bool far;             // counted in the memory of a device, and read back
	uint64_t unread;      // launches after which it is not known to have been read
	uint64_t entered;     // of the kernel's first block: work_items, or counts are missing
	struct tare_blocks_tally tally; // of all launches
	uint64_t unchecked; // launches of `counted` of which only the counters tell the work-items
	// what the driver says of the program's own kernel; BLOCKS_NOT_TOLD: nothing
	uint64_t multiple, sub_group, private_bytes, spill_bytes;
	uint64_t lanes_used, lanes_offered; // by that width, of launches with a size of groups
	struct blocks_argument arguments[BLOCKS_ARGUMENTS]; // by value
};

struct tare_blocks_profile {
	struct tare_blocks_kernel *kernels; // those that cost most first
	size_t kernel_count;
	uint32_t processes;
	uint64_t lost_kernels, lost_launches, unknown_launches;
	uint64_t brought[BLOCKS_BROUGHT_KINDS]; // modules and libraries of CUDA, with --ptx
	uint64_t graphs;       // launches of CUDA graphs of which it is not known what they run
	uint64_t without_room; // processes for whose counts there was no room
	bool command_buffers;
	uint64_t counter_bytes; // memory that counters took, of all processes
	// of the first build that failed with other options than the program's own; 0: none
	int build_code;
	char build_log[1020]; // its beginning
	uint64_t pragmas;     // of a set's, a bit for each that was put before a loop
	// why launches by CUDA were not seen, of the first process where they were not
	enum blocks_unseen unseen;
};
// That as a clause; NULL: they were seen, or CUDA was not used.
const char *tare_blocks_unseen(const struct tare_blocks_profile *profile);
// What is said where the layer was in the program's processes, and saw no launch.
const char *tare_blocks_nothing(const struct tare_blocks_profile *profile);

// Reads the counts of every process in the folder. 0, or -ENOMEM with a sentence; files that are
// cut off are left out. To free in either case. The builds must outlive it.
int tare_blocks_profile_read(const char *folder, const struct tare_blocks_builds *builds,
                             struct tare_blocks_profile *profile, struct tare_error *error);
void tare_blocks_profile_free(struct tare_blocks_profile *profile);

// Launches of all kernels of that name.
uint64_t tare_blocks_launches_of(const struct tare_blocks_profile *profile, const char *name);
// Whether a kernel's counts are all there.
bool tare_blocks_is_whole(const struct tare_blocks_kernel *kernel);

// ---- of a kernel that was counted

// A line of the source, over all blocks.
struct tare_blocks_line {
	uint32_t file, line;            // of the module
	uint64_t executions;            // of the block of it that ran most
	struct tare_blocks_tally tally; // of all launches
};
// Its lines, those with most instructions first; malloc, *count of them. NULL: none, or no memory.
struct tare_blocks_line *tare_blocks_lines(const struct tare_blocks_kernel *kernel, size_t *count);

// A loop, by the block that every turn begins with.
struct tare_blocks_loop {
	uint32_t header; // block
	uint64_t entries, turns;
	bool known; // `entries` is
};
// Its loops; malloc, *count of them. NULL: none, or no memory.
struct tare_blocks_loop *tare_blocks_loops(const struct tare_blocks_kernel *kernel, size_t *count);

// The blocks that ran, those that cost most (executions × instructions) first; malloc.
uint32_t *tare_blocks_order(const struct tare_blocks_kernel *kernel, size_t *count);

// The lowest and the highest line of a block in the file of its first line, which is returned; 0
// and 0: not known.
uint32_t tare_blocks_span(const struct tare_blocks_module *module, uint32_t block, uint32_t *first,
                          uint32_t *last);
