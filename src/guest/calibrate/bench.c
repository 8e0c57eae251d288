// SPDX-License-Identifier: Apache-2.0
#include "guest/calibrate/bench.h"
#include "guest/stack/stack.h"

void guest_bench_begin(struct guest_bench *bench, enum tare_trace_api api, void *mine,
                       union tare_trace_record *records, size_t count)
{
	uint32_t process = atomic_load(&guest_process);
	// In the child of a fork the window is the parent's.
	if (bench->thread.process != process)
		bench->room = NULL;
	bench->thread.process = process;
	bench->thread.api[api] = mine;
	// What it takes to harvest here is not the program's.
	bench->thread.helper = true;
	bench->thread.depth = 1;
	bench->thread.window = &bench->window;
	bench->records = records;
	bench->record_count = count;
	records[0].head = 1;
	guest_bench_room(bench, false);
	guest_bench_rewind(bench, 0);
}

void guest_bench_room(struct guest_bench *bench, bool lent)
{
	if (bench->room != NULL)
		guest_window_give_back(bench->room);
	bench->room = lent ? guest_window_borrow() : NULL;
	bench->thread.next = bench->thread.end = NULL;
}

void guest_bench_rewind(struct guest_bench *bench, size_t wanted)
{
	struct guest_thread *thread = &bench->thread;
	union tare_trace_record *all =
	    bench->room != NULL ? (union tare_trace_record *)bench->room : bench->records;
	size_t count =
	    bench->room != NULL ? TARE_TRACE_WINDOW_BYTES / sizeof *all : bench->record_count;
	thread->cpu_read_ticks = thread->left_ticks = guest_ticks();
	thread->windows++;
	// A window is gone through once: its lines are as cold as those of the program's will be.
	if (bench->room != NULL && thread->end != NULL &&
	    (size_t)(thread->end - thread->next) >= wanted)
		return;
	// Without a head it is nobody's to a reader, wherever the process ends; the claim of the
	// second looks at the record before.
	thread->next = all + 1 + (bench->room != NULL);
	if (bench->room != NULL)
		all[1].head = tare_trace_head(TARE_TRACE_VOID, 0, 0, 0);
	thread->end = all + count;
}

uint64_t guest_bench_stacks(struct guest_bench *bench, uint32_t count)
{
	uint64_t from = guest_ticks();
	for (uint32_t i = 0; i < count; i++)
		guest_site(&bench->thread, 0, i + 1, guest_stack_seen() + 1);
	return guest_ticks() - from;
}

uint64_t guest_bench_stacks_again(struct guest_bench *bench, uint32_t count)
{
	uint64_t from = guest_ticks();
	for (uint32_t i = 0; i < count; i++)
		guest_site(&bench->thread, 0, i + 1, guest_stack());
	return guest_ticks() - from;
}

static void sort(int64_t *values, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++) {
		int64_t value = values[i];
		uint32_t at = i;
		for (; at > 0 && values[at - 1] > value; at--)
			values[at] = values[at - 1];
		values[at] = value;
	}
}

int64_t guest_bench_median_ps(uint64_t (*time)(void *context), void *context, uint32_t count)
{
	enum { ROUNDS = 41 };
	int64_t ticks[ROUNDS];
	uint64_t ticks_of_ms = guest_ticks_of_ns(1000000);
	for (int round = 0; round < ROUNDS; round++)
		ticks[round] = (int64_t)time(context);
	sort(ticks, ROUNDS);
	return ticks_of_ms == 0 ? 0
	                        : (int64_t)((double)ticks[ROUNDS / 2] / (double)count * 1e9 /
	                                    (double)ticks_of_ms);
}

struct guest_middle guest_middle_of(int64_t *values, uint32_t count)
{
	uint32_t root = 0;
	sort(values, count);
	while ((root + 1) * (root + 1) <= count)
		root++;
	uint32_t outside = count / 2 > root ? count / 2 - root : 0;
	return (struct guest_middle){ values[outside], values[count / 2],
		                      values[count - 1 - outside] };
}

static int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

// At least something, whatever noise says. The upper end: between a program's commands caches may
// be colder than between a measurement's by as much again as here they are colder than in a row.
void guest_bench_own(int which, struct guest_middle measured)
{
	enum { LEAST_PS = 1 };
	static int64_t in_a_row_ps[2];
	int64_t *own_ps =
	    which == 0 ? &guest_options.self_cost_ps : &guest_options.self_untimed_cost_ps;
	if (in_a_row_ps[which] == 0)
		in_a_row_ps[which] = *own_ps;
	*own_ps = larger(measured.best, LEAST_PS);
	int64_t colder_ps = larger(*own_ps - in_a_row_ps[which], 0);
	guest_options.self_low_ps[which] = larger(measured.low, LEAST_PS);
	guest_options.self_high_ps[which] = larger(measured.high, *own_ps + colder_ps);
}

void guest_costs_tell(enum tare_trace_api api, uint64_t from_ticks, const struct guest_costs *costs)
{
	guest_options.calibrated = api;
	guest_options.calibration_ticks = guest_ticks() - from_ticks;
	guest_options.self_cost_ps = costs->timed_ps;
	guest_options.self_untimed_cost_ps = costs->untimed_ps;
	guest_options.self_call_cost_ps = costs->call_ps;
	guest_options.self_stack_cost_ps = costs->stack_ps;
	guest_tell_self_cost(guest_header);
	__atomic_store_n(&guest_header->self_stack_cost_ps, costs->stack_ps, __ATOMIC_RELAXED);
	__atomic_store_n(&guest_header->calibration_ticks, guest_options.calibration_ticks,
	                 __ATOMIC_RELAXED);
}

bool guest_bench_goes_on(uint32_t rounds, uint64_t from_ticks, uint64_t most_ticks)
{
	enum { BUSY = 8 };
	uint64_t most = rounds < GUEST_BENCH_LEAST_ROUNDS ? BUSY * most_ticks : most_ticks;
	return rounds < GUEST_BENCH_ROUNDS && guest_ticks() - from_ticks < most;
}
