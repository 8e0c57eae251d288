// SPDX-License-Identifier: Apache-2.0
// Samples where a program's threads are each millisecond of their CPU time, by the kernel's
// perf events. Nothing of it is in the program.
#pragma once
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Not a round number: work that comes back each millisecond is not met at one place only.
enum { TARE_BLOCKS_CLOCK_NS = 997000 };

// A thread was there, outside the kernel.
struct tare_blocks_tick {
	uint64_t at; // of perf's clock
	uint64_t address;
	uint32_t process;
};

// Code that was mapped.
struct tare_blocks_mapping {
	uint64_t at, from, bytes, offset; // offset: in the file
	uint32_t process;
	char *path;
};

struct tare_blocks_ticks {
	struct tare_blocks_tick *at;
	size_t count, room;
	struct tare_blocks_mapping *mappings;
	size_t mapping_count;
	uint64_t lost; // for want of room
	bool failed;   // no memory: there were more
};

struct tare_blocks_clock;

// Whether the system lets us sample. A sentence of what it has against it, where it does not.
bool tare_blocks_clock_is_allowed(struct tare_error *error);
// Prepares the sampling of what is started next: of this process's children from their exec on.
// NULL with a sentence where the system does not allow it: -EACCES, -ENOSYS, -ENOENT,
// -ENOMEM; -ENOBUFS: other samplers of the user have the room.
struct tare_blocks_clock *tare_blocks_clock_begin(struct tare_error *error);
// Ends it. `ticks` is to be freed.
void tare_blocks_clock_end(struct tare_blocks_clock *clock, struct tare_blocks_ticks *ticks);
void tare_blocks_ticks_free(struct tare_blocks_ticks *ticks);
