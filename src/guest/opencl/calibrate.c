// SPDX-License-Identifier: Apache-2.0
// What the recorder itself costs, measured when it is loaded: the wrappers' two halves around
// functions that do nothing, on records that are thrown away. What profiling and events cost in the
// driver is not in it, nor what a cold cache costs.
#include "guest/opencl/bench.h"
#include "guest/stack/stack.h"

enum { COMMANDS = LAYER_BENCH_COMMANDS };

int64_t layer_timed_cost_ps;

static cl_int CL_API_CALL no_time(cl_event event, cl_profiling_info name, size_t bytes, void *value,
                                  size_t *bytes_ret)
{
	(void)event, (void)name, (void)bytes, (void)bytes_ret;
	*(cl_ulong *)value = 1;
	return CL_SUCCESS;
}

static cl_int CL_API_CALL no_release(cl_event event)
{
	(void)event;
	return CL_SUCCESS;
}

static __attribute__((noinline)) cl_int no_command(void *context, cl_event *event)
{
	(void)context;
	__asm__ volatile("" : : "r"(event) : "memory");
	if (event != NULL)
		*event = (cl_event)(uintptr_t)64;
	return CL_SUCCESS;
}

static uint64_t time_commands(void *context)
{
	struct layer_bench *bench = context;
	layer_bench_rewind(bench);
	uint64_t from = guest_ticks();
	for (int i = 0; i < COMMANDS; i++)
		layer_bench_command(bench, no_command, NULL);
	uint64_t ticks = guest_ticks() - from;
	// What harvesting takes is measured while the program runs (harvest_ticks). What our own
	// code takes of it is a part of what a sample saves.
	layer_bench_harvest(bench);
	bench->harvest = guest_ticks() - from - ticks;
	return ticks;
}

static uint64_t time_harvest(void *context)
{
	struct layer_bench *bench = context;
	time_commands(bench);
	return bench->harvest;
}

static uint64_t time_calls(void *context)
{
	struct layer_bench *bench = context;
	layer_bench_rewind(bench);
	uint64_t from = guest_ticks();
	for (int i = 0; i < COMMANDS; i++) {
		uint64_t enter = layer_call_begin(&bench->on.thread, LAYER_clFlush, false);
		cl_int result = no_command(NULL, NULL);
		layer_call_end(&bench->on.thread, LAYER_clFlush, enter, false,
		               &(struct layer_said){ .status = result });
	}
	return guest_ticks() - from;
}

static uint64_t time_stacks(void *context)
{
	struct layer_bench *bench = context;
	layer_bench_rewind(bench);
	return guest_bench_stacks(&bench->on, COMMANDS);
}

static uint64_t time_stacks_again(void *context)
{
	struct layer_bench *bench = context;
	layer_bench_rewind(bench);
	return guest_bench_stacks_again(&bench->on, COMMANDS);
}

static int64_t median_ps(struct layer_bench *bench, uint64_t (*time)(void *context))
{
	return guest_bench_median_ps(time, bench, COMMANDS);
}

void layer_calibrate(void)
{
	uint64_t from = guest_ticks();
	struct layer_bench *bench = layer_bench();
	if (bench == NULL)
		return;
	// No call of the program has come through us yet.
	cl_icd_dispatch next = layer_next;
	bool stacks = guest_stacks;
	guest_stacks = false;
	layer_next.clGetEventProfilingInfo = no_time;
	layer_next.clReleaseEvent = no_release;
	layer_bench_times(bench, true);
	int64_t command_ps = median_ps(bench, time_commands);
	int64_t harvest_ps = median_ps(bench, time_harvest);
	layer_bench_times(bench, false);
	int64_t untimed_ps = median_ps(bench, time_commands);
	int64_t call_ps = median_ps(bench, time_calls);
	int64_t stack_ps = stacks ? median_ps(bench, time_stacks) : 0;
	if (stacks)
		guest_stacks_cost(stack_ps, median_ps(bench, time_stacks_again));
	layer_next = next;
	guest_stacks = stacks;
	if (!guest_options.count_only && !guest_options.strict)
		layer_timed_cost_ps =
		    (command_ps > untimed_ps ? command_ps - untimed_ps : 0) + harvest_ps;
	// Other APIs' may be in the same header.
	guest_costs_tell(TARE_TRACE_NO_API, from,
	                 &(struct guest_costs){ command_ps, untimed_ps, call_ps, stack_ps });
}
