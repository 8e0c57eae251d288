// SPDX-License-Identifier: Apache-2.0
// The instructions of a device that is not there, as often as they would be executed: the blocks of
// the device's code (listing.h) joined with the executions that were counted of the same kernel. A
// model.
//
// A block of the device's code is taken for a counted one where both alone have a line's accesses
// to memory, or its floating-point operations, and equally many of them. From these, how many
// work-items there were, and that what goes into a block comes out of it, the others follow, or
// they are not joined.
#pragma once
#include "blocks/intel/listing.h"
#include "blocks/profile.h"

enum tare_blocks_join {
	TARE_BLOCKS_JOINED, // in part, at the least
	TARE_BLOCKS_JOIN_NO_LISTING,
	TARE_BLOCKS_JOIN_NOT_COUNTED, // the kernel's counts are not all there
	TARE_BLOCKS_JOIN_CALLS,       // the device's code has functions
	TARE_BLOCKS_JOIN_LARGE,       // more blocks than are tried
	TARE_BLOCKS_JOIN_CONTRADICTS, // no way through the device's code fits what was counted
	TARE_BLOCKS_JOINS,
};

struct tare_blocks_joined {
	enum tare_blocks_join how;
	uint64_t instructions, joined; // of the device's code as it stands
	// Executions of the latter by hardware threads, if each is for as many work-items as a
	// thread has. Where work-items part, or are fewer, there are more of them.
	uint64_t at_least[TARE_BLOCKS_ISAS];
	// Instructions by which the listing's code and the device's own differ, kind by kind,
	// waits left out.
	uint64_t differing;
	// How often each block of the listing is passed by work-items, UINT64_MAX: not known;
	// malloc, NULL where nothing was joined.
	uint64_t *passed;
};

// Joins them; `own` is what ocloc made without "-g". 0 or -ENOMEM. joined->passed is the caller's.
int tare_blocks_join(const struct tare_blocks_listing *listing,
                     const struct tare_blocks_kernel *kernel, const struct tare_blocks_static *own,
                     struct tare_blocks_joined *joined);
// Why nothing was joined, a clause.
const char *tare_blocks_join_why(enum tare_blocks_join how);
