// SPDX-License-Identifier: Apache-2.0
// What the recorder itself costs, measured when it begins: both callbacks of a call, on records
// that are thrown away. What CUPTI takes is not in it, nor what a cold cache costs. Calls of the
// runtime that are told as well cost some more: those are few.
#include "guest/calibrate/bench.h"
#include "guest/cuda/cuda.h"
#include "guest/region.h"
#include "guest/stack/stack.h"

#include <string.h>

enum { ROUNDS = 41, COMMANDS = 64, RECORDS = 4 * COMMANDS };

// All that recording needs, and nobody else sees.
struct bench {
	struct guest_thread thread;
	struct cuda_thread mine;
	struct cuda_stream stream;
	struct cuda_recorded_kernel kernel;
	struct tare_trace_window window;
	union tare_trace_record records[RECORDS];
	uint32_t launch, call; // functions
	uint32_t correlation;
};

// A launch's parameters, as cuLaunchKernel has them.
static const struct {
	const void *function;
	uint32_t sizes[7], padding;
	const void *stream, *parameters, *extra;
} launched = { &launched, { 1, 1, 1, 1, 1, 1, 0 }, 0, &launched, NULL, NULL };

static const char symbol[] = "";

static void rewind_bench(struct bench *bench)
{
	bench->thread.next = bench->records + 1;
	bench->thread.cpu_read_ticks = bench->thread.left_ticks = guest_ticks();
}

static void one(struct bench *bench, uint32_t function, const void *parameters)
{
	cu_result result = ABI_SUCCESS;
	struct cupti_call told = { .parameters = parameters,
		                   .result = &result,
		                   .symbol = symbol,
		                   .context = (cu_context)(uintptr_t)bench,
		                   .correlation = ++bench->correlation };
	// As callbacks do, each of which asks for its thread.
	__asm__ volatile("" : : "r"(guest_thread_of(TARE_TRACE_CUDA)));
	cuda_bench_call(&bench->thread, &told, function, false);
	__asm__ volatile("" : : "r"(guest_thread_of(TARE_TRACE_CUDA)) : "memory");
	cuda_bench_call(&bench->thread, &told, function, true);
}

// What CUPTI would tell of them nobody awaits.
static void forget(struct bench *bench)
{
	struct cuda_pending found;
	bool first;
	for (uint32_t i = 0; cuda_timed && i < COMMANDS; i++)
		cuda_pending_find(bench->correlation - i, &found, &first);
}

static uint64_t time_commands(struct bench *bench)
{
	uint64_t from, ticks;
	rewind_bench(bench);
	from = guest_ticks();
	for (int i = 0; i < COMMANDS; i++)
		one(bench, bench->launch, &launched);
	ticks = guest_ticks() - from;
	forget(bench);
	return ticks;
}

static uint64_t time_calls(struct bench *bench)
{
	uint64_t from;
	rewind_bench(bench);
	from = guest_ticks();
	for (int i = 0; i < COMMANDS; i++)
		one(bench, bench->call, &launched);
	return guest_ticks() - from;
}

// From where the program initialises CUDA: as deep as others of its calls, more or less.
static uint64_t time_stacks(struct bench *bench)
{
	uint64_t from;
	rewind_bench(bench);
	from = guest_ticks();
	for (uint32_t i = 0; i < COMMANDS; i++)
		guest_site(&bench->thread, 0, i + 1, guest_stack_seen() + 1);
	return guest_ticks() - from;
}

// The same when it is the stack of the call before.
static uint64_t time_stacks_again(struct bench *bench)
{
	uint64_t from;
	rewind_bench(bench);
	from = guest_ticks();
	for (uint32_t i = 0; i < COMMANDS; i++)
		guest_site(&bench->thread, 0, i + 1, guest_stack());
	return guest_ticks() - from;
}

// Picoseconds of one of COMMANDS, by the median of the rounds; 0: not known.
static int64_t median_ps(struct bench *bench, uint64_t (*time)(struct bench *))
{
	uint64_t sorted[ROUNDS], ticks_of_ms = guest_ticks_of_ns(1000000);
	for (int round = 0; round < ROUNDS; round++) {
		uint64_t ticks = time(bench);
		int at = round;
		for (; at > 0 && sorted[at - 1] > ticks; at--)
			sorted[at] = sorted[at - 1];
		sorted[at] = ticks;
	}
	return ticks_of_ms == 0 ? 0
	                        : (int64_t)((double)sorted[ROUNDS / 2] / (double)COMMANDS * 1e9 /
	                                    (double)ticks_of_ms);
}

// Everything is known already, as it mostly is to a program's call.
static void prepare(struct bench *bench)
{
	uint32_t process = atomic_load(&guest_process);
	bench->launch = (uint32_t)cuda_function_of("cuLaunchKernel") - 1;
	bench->call = (uint32_t)cuda_function_of("cuArrayDestroy") - 1;
	bench->thread.process = process;
	bench->thread.api[TARE_TRACE_CUDA] = &bench->mine;
	bench->thread.window = &bench->window;
	bench->thread.end = bench->records + RECORDS;
	bench->records[0].head = 1;
	bench->stream.handle = (cu_stream)(uintptr_t)launched.stream;
	atomic_store(&bench->stream.process, process);
	bench->kernel.handle = (cu_function)(uintptr_t)launched.function;
	bench->kernel.symbol = symbol;
	atomic_store(&bench->kernel.process, process);
	bench->mine.stream = &bench->stream;
	bench->mine.kernel = &bench->kernel;
	// A shape that is in no trace.
	memcpy(bench->mine.sizes, launched.sizes, sizeof bench->mine.sizes);
	bench->mine.shape_process = process;
}

// The names are defined by the program's first call, not by ours.
static void measure(struct bench *bench, struct guest_costs *costs)
{
	uint32_t names[] = { bench->launch, bench->call };
	bool stacks = guest_stacks, timed = cuda_timed;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		atomic_store(&cuda_defined[names[i]], bench->thread.process);
	guest_stacks = false;
	costs->timed_ps = median_ps(bench, time_commands);
	cuda_timed = false;
	costs->untimed_ps = timed ? median_ps(bench, time_commands) : costs->timed_ps;
	cuda_timed = timed;
	costs->call_ps = median_ps(bench, time_calls);
	costs->stack_ps = stacks ? median_ps(bench, time_stacks) : 0;
	if (stacks)
		guest_stacks_cost(costs->stack_ps, median_ps(bench, time_stacks_again));
	guest_stacks = stacks;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		atomic_store(&cuda_defined[names[i]], 0);
}

void cuda_calibrate(void)
{
	struct bench *bench;
	uint64_t from = guest_ticks();
	struct guest_costs costs;
	// The header has one set of costs.
	if (!guest_header || !atomic_load(&guest_active) ||
	    guest_header->apis != UINT64_C(1) << TARE_TRACE_CUDA)
		return;
	bench = guest_memory(sizeof *bench);
	if (!bench)
		return;
	prepare(bench);
	measure(bench, &costs);
	guest_costs_tell(TARE_TRACE_CUDA, from, &costs);
}
