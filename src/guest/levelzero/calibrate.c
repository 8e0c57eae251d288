// SPDX-License-Identifier: Apache-2.0
// What the recorder itself costs, measured when it begins: the wrappers' two halves around
// functions that do nothing, on records that are thrown away. What the driver takes is not in it
// (driver_cost.c), nor what a cold cache costs.
#include "guest/levelzero/bench.h"

enum { COMMANDS = ZE_BENCH_COMMANDS };

static __attribute__((noinline)) ze_result_t no_command(void *context, uint32_t at)
{
	__asm__ volatile("" : : "r"(context), "r"(at) : "memory");
	return ZE_RESULT_SUCCESS;
}

static uint64_t time_commands(struct ze_bench *bench, bool timed)
{
	ze_bench_rewind(bench);
	uint64_t from = guest_ticks();
	for (uint32_t i = 0; i < COMMANDS; i++)
		ze_bench_command(bench, timed, no_command, NULL, i);
	uint64_t ticks = guest_ticks() - from;
	ze_bench_forget(bench);
	return ticks;
}

static uint64_t time_timed(void *context)
{
	return time_commands(context, true);
}

static uint64_t time_untimed(void *context)
{
	return time_commands(context, false);
}

static uint64_t time_calls(void *context)
{
	struct ze_bench *bench = context;
	ze_bench_rewind(bench);
	uint64_t from = guest_ticks();
	for (uint32_t i = 0; i < COMMANDS; i++) {
		uint64_t enter = ze_call_begin(&bench->on.thread, ZE_zeMemFree, false);
		ze_result_t result = no_command(NULL, i);
		ze_call_end(&bench->on.thread, ZE_zeMemFree, enter, false,
		            &(struct ze_said){ .status = result });
	}
	return guest_ticks() - from;
}

static uint64_t time_stacks(void *context)
{
	struct ze_bench *bench = context;
	ze_bench_rewind(bench);
	return guest_bench_stacks(&bench->on, COMMANDS);
}

static uint64_t time_stacks_again(void *context)
{
	struct ze_bench *bench = context;
	ze_bench_rewind(bench);
	return guest_bench_stacks_again(&bench->on, COMMANDS);
}

static int64_t median_ps(struct ze_bench *bench, uint64_t (*time)(void *context))
{
	return guest_bench_median_ps(time, bench, COMMANDS);
}

void ze_calibrate(void)
{
	// The header has one set of costs.
	if (guest_header == NULL || guest_header->apis != UINT64_C(1) << TARE_TRACE_LEVELZERO)
		return;
	uint64_t from = guest_ticks();
	struct ze_bench *bench = ze_bench();
	if (bench == NULL)
		return;
	bool stacks = guest_stacks;
	guest_stacks = false;
	int64_t untimed_ps = median_ps(bench, time_untimed);
	int64_t timed_ps =
	    bench->list.own != NULL && ze_may_change() ? median_ps(bench, time_timed) : untimed_ps;
	int64_t call_ps = median_ps(bench, time_calls),
	        stack_ps = stacks ? median_ps(bench, time_stacks) : 0;
	if (stacks)
		guest_stacks_cost(stack_ps, median_ps(bench, time_stacks_again));
	guest_stacks = stacks;
	guest_costs_tell(TARE_TRACE_LEVELZERO, from,
	                 &(struct guest_costs){ timed_ps, untimed_ps, call_ps, stack_ps });
}
