// SPDX-License-Identifier: Apache-2.0
// What the pairs on Level Zero share: a kernel, lists and memory.
#pragma once
#include "example.h"
#include "stopwatch.h"

#include <stdbool.h>
#include <stdint.h>

#define MEGABYTE ((size_t)1 << 20)
#define AGAIN (4 * MEGABYTE) // to change so much takes longer than a launch
#define ITEMS 128u
#define GROUP 16u
#define SMALL_LAUNCHES 2000u
enum { KEPT = 24, AGAIN_TURNS = 100, AGAIN_A_TURN = 10 };
// What the host does before the first command, or behind the last, in pieces.
enum { HOST_PIECES = 10, PIECE_US = 80000, PIECE_TURNS = 300000 };
#define LIMIT_NS (60 * UINT64_C(1000000000))

extern struct device device;
extern ze_module_handle_t module;
extern ze_kernel_handle_t kernel;
// of the compute engine: asynchronous, and synchronous
extern ze_command_list_handle_t list, waiting;
extern ze_event_pool_handle_t pool;
extern ze_event_handle_t done;
extern void *memory;                 // on the device, as much as AGAIN
extern char *host;                   // plain, on 4096 bytes, as much
extern bool raise_it, fix_it, keeps; // keeps: modules are made to be destroyed
extern ze_module_handle_t kept[KEPT];
// modules are to be, and were, built for so long before the first command
extern long build_us, built_us;
// so many pieces are to be prepared before the first command; what it took until then
extern int prepared;
extern long started_us;

static inline long now_us(void)
{
	return (long)(now_ns() / 1e3);
}

static inline void compute(long us)
{
	for (long until = now_us() + us; now_us() < until;)
		;
}

static inline void run_on(ze_command_list_handle_t to, void *values, const uint32_t items[2],
                          uint32_t group, uint32_t turns, ze_event_handle_t event)
{
	const ze_group_count_t groups = { items[0] / group, items[1], 1 };

	set_argument(kernel, 0, sizeof values, &values);
	set_argument(kernel, 1, sizeof turns, &turns);
	check(zeKernelSetGroupSize(kernel, group, 1, 1), "zeKernelSetGroupSize");
	check(zeCommandListAppendLaunchKernel(to, kernel, &groups, event, 0, NULL),
	      "zeCommandListAppendLaunchKernel");
}

static inline void run(uint32_t turns)
{
	run_on(list, memory, (const uint32_t[]){ ITEMS, 1 }, GROUP, turns, NULL);
}

// Until all is done that is in the list.
static inline void finish(void)
{
	check(zeCommandListAppendBarrier(list, done, 0, NULL), "zeCommandListAppendBarrier");
	check(zeEventHostSynchronize(done, LIMIT_NS), "zeEventHostSynchronize");
	check(zeEventHostReset(done), "zeEventHostReset");
}

// The first launch is no finding here.
static inline void warm_up(void)
{
	run(1);
	finish();
}

// pairs_levelzero_transfers.c
void transfers_dominate(void);
void small_transfers(void);
void unaligned_transfers(void);
void duplicate_transfers(void);
void ping_pong(void);
void zero_copy(void);
