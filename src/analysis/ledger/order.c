// SPDX-License-Identifier: Apache-2.0
#include "analysis/ledger/internal.h"
#include "base/room.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int compare_times(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

static const char *kernel_name(const struct tare_recording *recording,
                               const struct tare_recorded_command *command)
{
	bool named = (command->kind == TARE_KIND_KERNEL || command->kind == TARE_KIND_TASK) &&
	             command->object < recording->kernel_count;
	const char *name = named ? recording->kernels[command->object].name : NULL;
	return name ? name : "";
}

static uint32_t queue_number(const struct tare_recording *recording, uint32_t queue)
{
	return queue < recording->queue_count ? recording->queues[queue].number : TARE_NO_INDEX;
}

// Of commands that start at the same moment the first one to be enqueued is the one that ends an
// idle gap; the rest of the key is there to make the answer the same every time.
static int compare_commands(const void *a, const void *b, void *context)
{
	const struct tare_recording *recording = context;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	const struct tare_recorded_command *x = TARE_COMMAND(recording, i),
	                                   *y = TARE_COMMAND(recording, j);
	int order = compare_times(x->start_ns, y->start_ns);
	if (!order)
		order = compare_times(x->enter_ns, y->enter_ns);
	if (!order)
		order = compare_times(x->submitted_ns, y->submitted_ns);
	if (!order)
		order = compare_times(x->end_ns, y->end_ns);
	if (!order)
		order = x->kind - y->kind;
	if (!order)
		order = strcmp(kernel_name(recording, x), kernel_name(recording, y));
	if (!order)
		order = ledger_compare_threads(recording, x->thread, y->thread);
	if (!order)
		order = compare_times(queue_number(recording, x->queue),
		                      queue_number(recording, y->queue));
	if (!order)
		order = (i > j) - (i < j);
	return order;
}

// Before 0: `i` comes before `j`.
static inline int compare_indices(const struct tare_recording *recording, uint32_t i, uint32_t j)
{
	int64_t a = TARE_COMMAND(recording, i)->start_ns, b = TARE_COMMAND(recording, j)->start_ns;
	return a != b ? (a < b ? -1 : 1) : compare_commands(&i, &j, (void *)recording);
}

// Ascending runs to be merged, as a heap of their first commands.
struct runs {
	const struct tare_recording *recording;
	const uint32_t *found;
	uint32_t *next; // place in `found` of the next of the same run; TARE_NO_INDEX
	uint32_t *heap; // places
	size_t count, room;
};

static bool is_before(const struct runs *runs, uint32_t a, uint32_t b)
{
	return compare_indices(runs->recording, runs->found[a], runs->found[b]) < 0;
}

static void sink(struct runs *runs, size_t at)
{
	uint32_t place = runs->heap[at];
	for (size_t child; (child = 2 * at + 1) < runs->count; at = child) {
		if (child + 1 < runs->count &&
		    is_before(runs, runs->heap[child + 1], runs->heap[child]))
			child++;
		if (!is_before(runs, runs->heap[child], place))
			break;
		runs->heap[at] = runs->heap[child];
	}
	runs->heap[at] = place;
}

// The commands of a queue start in their order nearly always: each is behind the last one of its
// queue, or begins a run. `last`: room for one a queue, and for those of none.
static int find_runs(struct runs *runs, size_t count, uint32_t *last)
{
	const struct tare_recording *recording = runs->recording;
	for (size_t i = 0; i <= recording->queue_count; i++)
		last[i] = TARE_NO_INDEX;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t queue = TARE_COMMAND(recording, runs->found[i])->queue;
		uint32_t *before =
		    &last[queue < recording->queue_count ? queue : recording->queue_count];
		runs->next[i] = TARE_NO_INDEX;
		if (*before != TARE_NO_INDEX && is_before(runs, *before, i)) {
			runs->next[*before] = i;
		} else {
			uint32_t *first = TARE_ROOM_FOR(runs->heap, runs->room, runs->count);
			if (!first)
				return -ENOMEM;
			*first = i;
			runs->count++;
		}
		*before = i;
	}
	for (size_t i = runs->count / 2; i-- > 0;)
		sink(runs, i);
	return 0;
}

// Puts what was found in order. *found is replaced. Returns 0 or -ENOMEM.
static int merge_runs(const struct tare_recording *recording, uint32_t **found, size_t count)
{
	struct runs runs = { .recording = recording, .found = *found };
	uint32_t *sorted = malloc((count + 1) * sizeof *sorted);
	uint32_t *last = malloc((recording->queue_count + 1) * sizeof *last);
	runs.next = malloc((count + 1) * sizeof *runs.next);
	int code = sorted && last && runs.next ? find_runs(&runs, count, last) : -ENOMEM;
	for (size_t n = 0; !code && runs.count; n++) {
		uint32_t first = runs.heap[0];
		sorted[n] = runs.found[first];
		runs.heap[0] =
		    runs.next[first] == TARE_NO_INDEX ? runs.heap[--runs.count] : runs.next[first];
		if (runs.count)
			sink(&runs, 0);
	}
	free(runs.next);
	free(runs.heap);
	free(last);
	if (code) {
		free(sorted);
		return code;
	}
	free(*found);
	*found = sorted;
	return 0;
}

int ledger_order(const struct tare_recording *recording, const struct tare_view *view,
                 uint32_t **order, size_t *count)
{
	struct ledger_scope all = { .recording = recording, .view = view, .device = TARE_NO_INDEX };
	size_t n = 0;
	int64_t last_ns = INT64_MIN;
	bool sorted = true;
	uint32_t *found = malloc((recording->command_count + 1) * sizeof *found);
	if (!found)
		return -ENOMEM;
	for (uint32_t i = 0; i < recording->command_count; i++) {
		const struct tare_recorded_command *command = TARE_COMMAND(recording, i);
		if (!tare_command_timed(command) || !ledger_has_command(&all, command))
			continue;
		found[n++] = i;
		sorted = sorted && (n < 2 || command->start_ns > last_ns ||
		                    (command->start_ns == last_ns &&
		                     compare_indices(recording, found[n - 2], i) < 0));
		last_ns = command->start_ns;
	}
	int code = sorted ? 0 : merge_runs(recording, &found, n);
	*order = found;
	*count = n;
	return code;
}
