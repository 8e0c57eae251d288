// SPDX-License-Identifier: Apache-2.0
// Where the blocks of a kernel lead.
#pragma once
#include "blocks/cuda/samples.h"

enum { TARE_FLOW_NOWHERE = UINT32_MAX, TARE_FLOW_MOST_BLOCKS = 8192 };

enum tare_flow_kind {
	TARE_FLOW_ON,     // to the next block
	TARE_FLOW_JUMP,   // to another one
	TARE_FLOW_CHOICE, // to either, or to both, by lanes
	TARE_FLOW_MEETS,  // to the next, when all lanes that were told of have come (BSYNC)
	TARE_FLOW_CALLS,  // to another one, and to the next when it returns
	TARE_FLOW_RETURNS,
	TARE_FLOW_ENDS,      // out of the kernel
	TARE_FLOW_ENDS_SOME, // or to the next, by lanes
	TARE_FLOW_UNKNOWN,   // to a place that is not read
};
struct tare_sass_way {
	enum tare_flow_kind kind;
	uint32_t to[2];   // a branch's target, and the next block; NOWHERE: it goes to none
	bool ends;        // a way out of the kernel
	bool conditional; // it may have no effect
};
struct tare_sass_flow {
	struct tare_sass_way *ways; // of each block
	uint32_t *stack;
	bool *seen;
	uint32_t count;
};
// 0 or -ENOMEM; to free in either case. Too many blocks are none.
int tare_flow_make(const struct tare_sampled_kernel *kernel, struct tare_sass_flow *flow);
void tare_flow_free(struct tare_sass_flow *flow);
// Marks in flow->seen the blocks that can be reached from `from`, itself included, by none of
// `without` (NOWHERE: by any). Returns whether one of them leads out.
bool tare_flow_reach(const struct tare_sass_flow *flow, uint32_t from, uint32_t without);
// Whether lanes of a warp may part before they come to a block.
bool tare_flow_parts(const struct tare_sass_flow *flow, uint32_t block);
// Whether every way from the kernel's beginning to an end goes through it, and none comes back.
bool tare_flow_is_once(const struct tare_sass_flow *flow, uint32_t block);
