// SPDX-License-Identifier: Apache-2.0
// Puts commands, calls and phases in the order in which they were entered, CPU samples by thread.
// Events come in the order of their ends, so each thread's are in order already but for nested
// calls: they are merged, and moved within their arrays, as there may be hundreds of megabytes of
// them.
#include "analysis/recording/internal.h"

#include <string.h>

#define RUNS_OF_THREAD 2 // calls, and those nested in them

// An array whose elements begin with enter_ns (a phase: from_ns), or commands.
struct sorted_rows {
	char *base;
	size_t count, size, thread_at;
	const struct tare_commands *commands; // NULL: it is another array
};

static int64_t enter_of(const struct sorted_rows *rows, uint32_t row)
{
	int64_t enter_ns;

	if (rows->commands)
		return tare_command_at(rows->commands, row).enter_ns;
	memcpy(&enter_ns, rows->base + row * rows->size, sizeof enter_ns);
	return enter_ns;
}

static uint32_t thread_of(const struct sorted_rows *rows, uint32_t row)
{
	uint32_t thread;

	if (rows->commands)
		return tare_command_at(rows->commands, row).thread;
	memcpy(&thread, rows->base + row * rows->size + rows->thread_at, sizeof thread);
	return thread;
}

static bool in_order(const struct sorted_rows *rows)
{
	for (size_t i = 1; i < rows->count; i++)
		if (enter_of(rows, (uint32_t)(i - 1)) > enter_of(rows, (uint32_t)i))
			return false;
	return true;
}

// Runs of ascending rows to be merged: a heap of their first rows.
struct merge {
	const struct sorted_rows *rows;
	uint32_t *heap;
	size_t count, room;
};

static bool before(const struct merge *m, uint32_t a, uint32_t b)
{
	int64_t enter_a = enter_of(m->rows, a), enter_b = enter_of(m->rows, b);

	return enter_a != enter_b ? enter_a < enter_b : a < b;
}

static void sink(struct merge *m, size_t at)
{
	uint32_t row = m->heap[at];

	for (;;) {
		size_t child = 2 * at + 1;
		if (child >= m->count)
			break;
		if (child + 1 < m->count && before(m, m->heap[child + 1], m->heap[child]))
			child++;
		if (!before(m, m->heap[child], row))
			break;
		m->heap[at] = m->heap[child];
		at = child;
	}
	m->heap[at] = row;
}

// Links each row to the next one of its run; the runs' first rows go into the heap.
static bool find_runs(struct merge *m, uint32_t *next, uint32_t *tails)
{
	for (size_t i = 0; i < m->rows->count; i++) {
		uint32_t row = (uint32_t)i;
		uint32_t *tail = tails + RUNS_OF_THREAD * (size_t)thread_of(m->rows, row);
		int64_t enter_ns = enter_of(m->rows, row);
		size_t k = 0;
		next[row] = TARE_NO_INDEX;
		while (k < RUNS_OF_THREAD - 1 && tail[k] != TARE_NO_INDEX &&
		       enter_of(m->rows, tail[k]) > enter_ns)
			k++;
		if (tail[k] != TARE_NO_INDEX && enter_of(m->rows, tail[k]) <= enter_ns) {
			next[tail[k]] = row;
		} else {
			uint32_t *first = TARE_ROOM_FOR(m->heap, m->room, m->count);
			if (!first)
				return false;
			*first = row;
			m->count++;
		}
		tail[k] = row;
	}
	return true;
}

// Where each row goes, to be freed; NULL: no memory.
static uint32_t *find_ranks(const struct sorted_rows *rows, size_t threads)
{
	struct merge m = { .rows = rows };
	uint32_t *next = malloc(rows->count * sizeof *next);
	uint32_t *tails = malloc((threads + 1) * RUNS_OF_THREAD * sizeof *tails);
	bool ready = next && tails;

	if (ready) {
		memset(tails, 0xff, (threads + 1) * RUNS_OF_THREAD * sizeof *tails);
		ready = find_runs(&m, next, tails);
	}
	if (!ready) {
		free(next);
		next = NULL;
	} else {
		uint32_t rank = 0;
		for (size_t i = m.count; i-- > 0;)
			sink(&m, i);
		while (m.count) {
			uint32_t row = m.heap[0];
			m.heap[0] = next[row] == TARE_NO_INDEX ? m.heap[--m.count] : next[row];
			next[row] = rank++;
			if (m.count)
				sink(&m, 0);
		}
	}
	free(tails);
	free(m.heap);
	return next;
}

// Moves each row to its rank; afterwards each rank is its own index.
static void move_rows(const struct sorted_rows *rows, uint32_t *ranks)
{
	char spare[128];

	for (size_t i = 0; i < rows->count; i++)
		while (ranks[i] != i) {
			uint32_t to = ranks[i];
			memcpy(spare, rows->base + to * rows->size, rows->size);
			memcpy(rows->base + to * rows->size, rows->base + i * rows->size,
			       rows->size);
			memcpy(rows->base + i * rows->size, spare, rows->size);
			ranks[i] = ranks[to];
			ranks[to] = to;
		}
}

static int compare_places(const void *a, const void *b)
{
	const struct tare_recorded_place *x = a, *y = b;

	return (x->command > y->command) - (x->command < y->command);
}

static int order_commands(struct loading *l)
{
	struct tare_recording *r = l->recording;
	struct sorted_rows rows = { (char *)r->commands.rows, r->command_count,
		                    sizeof *r->commands.rows, .commands = &r->commands };
	uint32_t *ranks;

	if (in_order(&rows))
		return 0;
	ranks = find_ranks(&rows, r->thread_count);
	if (!ranks)
		return loading_fail(l, ENOMEM, "commands");
	for (size_t i = 0; i < r->wait_count; i++)
		if (r->waits[i].command < r->command_count)
			r->waits[i].command = ranks[r->waits[i].command] & INT32_MAX;
	for (size_t i = 0; i < r->place_count; i++)
		r->places[i].command = ranks[r->places[i].command];
	for (size_t i = 0; i < r->count_count; i++)
		if (r->counts[i].command < r->command_count)
			r->counts[i].command = ranks[r->counts[i].command];
	for (size_t i = 0; i < r->execution_count; i++)
		r->executions[i].command = ranks[r->executions[i].command];
	for (size_t i = 0; i < r->part_count; i++)
		r->parts[i].command = ranks[r->parts[i].command];
	loading_order_parts(r);
	for (size_t i = 0; i < r->draw_count; i++)
		r->draws[i].command = ranks[r->draws[i].command];
	for (size_t i = 0; i < r->peer_count; i++)
		r->peers[i].command = ranks[r->peers[i].command];
	if (r->place_count)
		qsort(r->places, r->place_count, sizeof *r->places, compare_places);
	move_rows(&rows, ranks);
	free(ranks);
	return 0;
}

static int order_calls(struct loading *l)
{
	struct tare_recording *r = l->recording;
	struct sorted_rows rows = { (char *)r->calls, r->call_count, sizeof *r->calls,
		                    offsetof(struct tare_recorded_call, thread) };
	uint32_t *ranks;

	if (in_order(&rows))
		return 0;
	ranks = find_ranks(&rows, r->thread_count);
	if (!ranks)
		return loading_fail(l, ENOMEM, "calls");
	move_rows(&rows, ranks);
	free(ranks);
	return 0;
}

static int order_phases(struct loading *l)
{
	struct tare_recording *r = l->recording;
	struct sorted_rows rows = { (char *)r->phases, r->phase_count, sizeof *r->phases,
		                    offsetof(struct tare_recorded_phase, thread) };
	uint32_t *ranks;

	if (in_order(&rows))
		return 0;
	ranks = find_ranks(&rows, r->thread_count);
	if (!ranks)
		return loading_fail(l, ENOMEM, "phases");
	for (size_t i = 0; i < r->phase_count; i++)
		if (r->phases[i].parent != TARE_NO_INDEX)
			r->phases[i].parent = ranks[r->phases[i].parent];
	move_rows(&rows, ranks);
	free(ranks);
	return 0;
}

// Neither time nor CPU time goes backwards, whatever the file says.
static void make_monotone(struct tare_cpu_sample *samples, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		if (samples[i].at_ns < samples[i - 1].at_ns)
			samples[i].at_ns = samples[i - 1].at_ns;
		if (samples[i].cpu_ns < samples[i - 1].cpu_ns)
			samples[i].cpu_ns = samples[i - 1].cpu_ns;
	}
}

static void order_samples(struct loading *l)
{
	struct tare_recording *r = l->recording;
	struct sorted_rows rows = { (char *)r->cpu_samples, r->cpu_sample_count,
		                    sizeof *r->cpu_samples, 0 };
	size_t first = 0;

	for (size_t i = 0; i < r->cpu_sample_count; i++)
		r->threads[l->sample_threads[i]].sample_count++;
	for (size_t i = 0; i < r->thread_count; i++) {
		r->threads[i].first_sample = first;
		first += r->threads[i].sample_count;
		r->threads[i].sample_count = 0;
	}
	for (size_t i = 0; i < r->cpu_sample_count; i++) {
		struct tare_recorded_thread *thread = &r->threads[l->sample_threads[i]];
		l->sample_threads[i] = (uint32_t)(thread->first_sample + thread->sample_count++);
	}
	move_rows(&rows, l->sample_threads);
	for (size_t i = 0; i < r->thread_count; i++)
		make_monotone(r->cpu_samples + r->threads[i].first_sample,
		              r->threads[i].sample_count);
}

int loading_order(struct loading *l)
{
	if (order_commands(l) || order_calls(l) || order_phases(l))
		return l->status;
	loading_order_draws(l->recording);
	loading_order_peers(l->recording);
	loading_phase_depths(l);
	if (l->recording->cpu_sample_count)
		order_samples(l);
	return 0;
}
