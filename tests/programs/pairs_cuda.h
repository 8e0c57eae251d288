// SPDX-License-Identifier: Apache-2.0
// What the pairs on CUDA share: a kernel, a stream and memory.
#pragma once
#include "example.h"
#include "stopwatch.h"

#include <stdbool.h>
#include <stdint.h>

#define MEGABYTE ((size_t)1 << 20)
#define AGAIN (4 * MEGABYTE) // to change so much takes longer than a launch
enum { ITEMS = 256, GROUP = 32, SMALL_LAUNCHES = 2000, MADE_TURNS = 100, MADE_A_TURN = 400 };
// What the host does before the first command, or behind the last, in pieces.
enum { HOST_PIECES = 10, PIECE_US = 80000, PIECE_TURNS = 300000 };

extern struct kernel kernel;
extern cu_stream stream, other;
extern cu_pointer memory; // on the device, as much as AGAIN
extern char *host;        // plain, on 4096 bytes, as much
extern bool raise_it, fix_it, graph_it;
extern uint32_t factor;
extern uint32_t device_units; // of the device
// modules are to be, and were, loaded for so long before the first command
extern double build_ns, built_ns;
// so many pieces are to be prepared before the first command; what it took until then
extern int prepared;
extern double started_ns;

static inline void compute(double us)
{
	for (double until = now_ns() + us * 1e3; now_ns() < until;)
		;
}

static inline void run_in(cu_stream to, uint32_t items, uint32_t block, uint32_t turns)
{
	launch_steps(kernel, memory, memory, items, block, turns * factor, to);
}

static inline void run(uint32_t turns)
{
	run_in(stream, ITEMS, GROUP, turns);
}

static inline void finish(void)
{
	DO(cuStreamSynchronize, stream);
}

// As many work-items as the device runs at once, at the least: no kernel is too small then.
static inline uint32_t filling_items(void)
{
	return device_units * 32;
}

// The first launch is no finding here.
static inline void warm_up(void)
{
	run(1);
}

// pairs_cuda_transfers.c
void transfers_dominate(void);
void small_transfers(void);
void unaligned_transfers(void);
void duplicate_transfers(void);
void ping_pong(void);
void zero_copy(void);
