// SPDX-License-Identifier: Apache-2.0
// Where slices lie, so that none covers another.
#include "analysis/recording/intervals.h"
#include "base/room.h"
#include "report/page/timeline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

// ---- lanes: the lowest that is free

struct open_slice {
	int64_t end_ns;
	uint8_t lane;
};

struct timeline_lanes {
	struct open_slice open[TIMELINE_NO_LANE]; // a heap: the first to end on top
	size_t count;
	bool used[TIMELINE_NO_LANE];
	size_t lowest; // no lane below it is free
};

static void lanes_reset(struct timeline_lanes *lanes)
{
	lanes->count = lanes->lowest = 0;
	memset(lanes->used, 0, sizeof lanes->used);
}

static void release_first(struct timeline_lanes *lanes)
{
	struct open_slice *open = lanes->open;
	struct open_slice moved = open[--lanes->count];
	size_t at = 0, child = 1;

	lanes->used[open[0].lane] = false;
	if (open[0].lane < lanes->lowest)
		lanes->lowest = open[0].lane;
	for (; child < lanes->count; child = 2 * at + 1) {
		if (child + 1 < lanes->count && open[child + 1].end_ns < open[child].end_ns)
			child++;
		if (moved.end_ns <= open[child].end_ns)
			break;
		open[at] = open[child];
		at = child;
	}
	open[at] = moved;
}

// The lane for a slice that begins no earlier than all before it.
static uint8_t lanes_take(struct timeline_lanes *lanes, int64_t from_ns, int64_t to_ns)
{
	size_t at;

	while (lanes->count > 0 && lanes->open[0].end_ns <= from_ns)
		release_first(lanes);
	while (lanes->lowest < TIMELINE_NO_LANE && lanes->used[lanes->lowest])
		lanes->lowest++;
	if (lanes->lowest == TIMELINE_NO_LANE)
		return TIMELINE_NO_LANE;
	lanes->used[lanes->lowest] = true;
	at = lanes->count++;
	for (; at > 0 && lanes->open[(at - 1) / 2].end_ns > to_ns; at = (at - 1) / 2)
		lanes->open[at] = lanes->open[(at - 1) / 2];
	lanes->open[at] = (struct open_slice){ to_ns, (uint8_t)lanes->lowest };
	return (uint8_t)lanes->lowest;
}

// ---- commands on queues and engines

struct placing {
	const struct timeline *timeline;
	bool engines;
};

static uint8_t engine_of(const struct tare_recorded_command *command)
{
	switch (tare_command_effect(command)) {
	case TARE_EFFECT_KERNEL:
		return 0;
	case TARE_EFFECT_TO_DEVICE:
		return 1;
	case TARE_EFFECT_FROM_DEVICE:
		return 2;
	case TARE_EFFECT_LOCAL:
		return 3;
	default:
		return TIMELINE_NO_LANE;
	}
}

// The drawing's row that a command is in.
__attribute__((always_inline)) static inline uint64_t
group_of(const struct placing *placing, uint32_t index, const struct tare_recorded_command *command)
{
	if (!placing->engines)
		return command->queue;
	return (uint64_t)tare_command_device(placing->timeline->recording, command) << 8 |
	       placing->timeline->engine[index];
}

// Commands that are in order already, to be merged with others: the first of them, and where the
// next lie.
struct ordered_run {
	uint64_t group;
	int64_t start_ns;
	uint32_t index;
	size_t next, end;
};

static bool is_before(const struct ordered_run *a, const struct ordered_run *b)
{
	if (a->group != b->group)
		return a->group < b->group;
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns;
	return a->index < b->index;
}

static void set_first(const struct placing *placing, uint32_t index, struct ordered_run *run)
{
	const struct tare_recorded_command *command =
	    TARE_COMMAND(placing->timeline->recording, index);

	run->group = group_of(placing, index, command);
	run->start_ns = command->start_ns;
	run->index = index;
}

// Moves the run at `at` of a heap, whose first comes first, down to where it belongs.
static void sink(struct ordered_run *heap, size_t count, size_t at)
{
	const struct ordered_run moved = heap[at];

	for (size_t child; (child = 2 * at + 1) < count; at = child) {
		if (child + 1 < count && is_before(&heap[child + 1], &heap[child]))
			child++;
		if (!is_before(&heap[child], &moved))
			break;
		heap[at] = heap[child];
	}
	heap[at] = moved;
}

// Finds what is in order. Returns how many runs, or -ENOMEM. *runs is to be freed.
static ssize_t find_runs(const struct placing *placing, const uint32_t *order, size_t count,
                         struct ordered_run **runs)
{
	size_t found = 0, room = 0;
	struct ordered_run last = { 0 };

	for (size_t i = 0; i < count; i++) {
		struct ordered_run next = { .next = i + 1 };
		set_first(placing, order[i], &next);
		if (i == 0 || is_before(&next, &last)) {
			struct ordered_run *run = TARE_ROOM_FOR(*runs, room, found);
			if (!run)
				return -ENOMEM;
			if (found > 0)
				run[-1].end = i;
			*run = next;
			found++;
		}
		last = next;
	}
	if (found > 0)
		(*runs)[found - 1].end = count;
	return (ssize_t)found;
}

static void merge_runs(const struct placing *placing, struct ordered_run *heap, size_t count,
                       const uint32_t *order, uint32_t *merged)
{
	for (size_t i = count / 2; i-- > 0;)
		sink(heap, count, i);
	while (count > 0) {
		*merged++ = heap->index;
		if (heap->next < heap->end)
			set_first(placing, order[heap->next++], heap);
		else
			*heap = heap[--count];
		if (count > 0)
			sink(heap, count, 0);
	}
}

// Merges all runs at once: they are few, about as many as queues. Returns 0 or -ENOMEM.
static int put_in_order(const struct placing *placing, uint32_t *order, size_t count)
{
	struct ordered_run *runs = NULL;
	uint32_t *merged = NULL;
	ssize_t found = find_runs(placing, order, count, &runs);
	int code = found < 0 ? -ENOMEM : 0;

	if (found > 1) {
		merged = malloc(count * sizeof *merged);
		code = merged ? 0 : -ENOMEM;
	}
	if (merged) {
		merge_runs(placing, runs, (size_t)found, order, merged);
		memcpy(order, merged, count * sizeof *order);
	}
	free(merged);
	free(runs);
	return code;
}

// Places them as they stand; false: they are not in order.
static bool place_ordered(const struct placing *placing, const uint32_t *order, size_t count,
                          struct timeline_lanes *lanes, uint8_t *lane)
{
	struct ordered_run last = { 0 };

	for (size_t i = 0; i < count; i++) {
		const struct tare_recorded_command *command =
		    TARE_COMMAND(placing->timeline->recording, order[i]);
		const struct ordered_run next = { .group = group_of(placing, order[i], command),
			                          .start_ns = command->start_ns,
			                          .index = order[i] };
		if (i > 0 && is_before(&next, &last))
			return false;
		if (i == 0 || next.group != last.group)
			lanes_reset(lanes);
		last = next;
		lane[order[i]] = lanes_take(lanes, command->start_ns, command->end_ns);
	}
	return true;
}

static int place_commands(struct placing *placing, uint32_t *order, size_t count,
                          struct timeline_lanes *lanes, uint8_t *lane)
{
	if (place_ordered(placing, order, count, lanes, lane))
		return 0;
	if (put_in_order(placing, order, count))
		return -ENOMEM;
	place_ordered(placing, order, count, lanes, lane);
	return 0;
}

// The bucket of a command's queue; those of no queue come last.
static size_t bucket_of(const struct tare_recording *recording, uint32_t index)
{
	uint32_t queue = TARE_COMMAND(recording, index)->queue;

	return queue < recording->queue_count ? queue : recording->queue_count;
}

// Commands with times, queue by queue, as they were enqueued: that is nearly always how they
// started. NULL: no memory.
static uint32_t *by_queues(const struct tare_recording *recording, const struct timeline_rows *rows,
                           size_t *count)
{
	uint32_t *order = calloc(rows->count + 1, sizeof *order);
	size_t *first = calloc(recording->queue_count + 2, sizeof *first);

	*count = 0;
	for (size_t i = 0; order && first && i < rows->count; i++)
		if (tare_command_timed(TARE_COMMAND(recording, rows->at[i])))
			first[bucket_of(recording, rows->at[i]) + 1]++;
	for (size_t i = 0; first && i <= recording->queue_count; i++)
		first[i + 1] += first[i];
	if (first)
		*count = first[recording->queue_count + 1];
	for (size_t i = 0; order && first && i < rows->count; i++)
		if (tare_command_timed(TARE_COMMAND(recording, rows->at[i])))
			order[first[bucket_of(recording, rows->at[i])]++] = rows->at[i];
	if (!first) {
		free(order);
		order = NULL;
	}
	free(first);
	return order;
}

enum { ENGINES = 4 };

// Where a command that an engine runs goes among those of all engines.
static size_t engine_bucket(const struct tare_recording *recording,
                            const struct tare_recorded_command *command, uint8_t engine)
{
	uint32_t device = tare_command_device(recording, command);

	return (device < recording->device_count ? device : recording->device_count) * ENGINES +
	       engine;
}

// Finds the engine of each command. first: of a bucket behind those before it, where its commands
// with times begin.
static void find_engines(struct timeline *timeline, size_t *first)
{
	const struct tare_recording *recording = timeline->recording;
	const struct timeline_rows *rows = &timeline->all[TIMELINE_COMMANDS];

	for (size_t i = 0; i < rows->count; i++) {
		uint32_t index = rows->at[i];
		const struct tare_recorded_command *command = TARE_COMMAND(recording, index);
		uint8_t engine = engine_of(command);
		timeline->lane[index] = timeline->engine_lane[index] = TIMELINE_NO_LANE;
		timeline->engine[index] = engine;
		if (engine != TIMELINE_NO_LANE && tare_command_timed(command))
			first[engine_bucket(recording, command, engine) + 1]++;
	}
	for (size_t i = 0; i < (recording->device_count + 1) * ENGINES; i++)
		first[i + 1] += first[i];
}

// Those of them that an engine runs, engine by engine, else as they come: a queue's are in order
// then. *order is replaced, `first` used up. Returns 0 or -ENOMEM.
static int by_engines(const struct timeline *timeline, size_t *first, uint32_t **order,
                      size_t *count)
{
	const struct tare_recording *recording = timeline->recording;
	size_t moved = first[(recording->device_count + 1) * ENGINES];
	uint32_t *moving = calloc(moved + 1, sizeof *moving);

	if (!moving)
		return -ENOMEM;
	for (size_t i = 0; i < *count; i++) {
		uint32_t index = (*order)[i];
		uint8_t engine = timeline->engine[index];
		if (engine != TIMELINE_NO_LANE)
			moving[first[engine_bucket(recording, TARE_COMMAND(recording, index),
			                           engine)]++] = index;
	}
	free(*order);
	*order = moving;
	*count = moved;
	return 0;
}

static int place_on_device(struct timeline *timeline, struct timeline_lanes *lanes)
{
	const struct tare_recording *recording = timeline->recording;
	struct placing placing = { timeline, false };
	size_t count = 0;
	uint32_t *order = by_queues(recording, &timeline->all[TIMELINE_COMMANDS], &count);
	size_t *first = calloc((recording->device_count + 1) * ENGINES + 1, sizeof *first);
	int code = order && first ? 0 : -ENOMEM;

	if (!code) {
		find_engines(timeline, first);
		code = place_commands(&placing, order, count, lanes, timeline->lane);
	}
	if (!code)
		code = by_engines(timeline, first, &order, &count);
	placing.engines = true;
	if (!code)
		code = place_commands(&placing, order, count, lanes, timeline->engine_lane);
	free(first);
	free(order);
	return code;
}

// ---- calls within calls

struct call_stack {
	int64_t *exits;
	size_t count, capacity;
};

static int enter_call(struct call_stack *stack, int64_t enter_ns, int64_t exit_ns, uint8_t *depth)
{
	while (stack->count > 0 && stack->exits[stack->count - 1] <= enter_ns)
		stack->count--;
	*depth = stack->count < UINT8_MAX ? (uint8_t)stack->count : UINT8_MAX;
	if (stack->count == stack->capacity) {
		size_t capacity = stack->capacity ? 2 * stack->capacity : 8;
		int64_t *exits = reallocarray(stack->exits, capacity, sizeof *exits);
		if (!exits)
			return -ENOMEM;
		stack->exits = exits;
		stack->capacity = capacity;
	}
	stack->exits[stack->count++] = exit_ns;
	return 0;
}

// Whether the command's call comes first: the earlier one or, at the same moment, the longer one.
static bool command_first(const struct tare_recorded_command *command,
                          const struct tare_recorded_call *call)
{
	return command->enter_ns != call->enter_ns ? command->enter_ns < call->enter_ns
	                                           : command->exit_ns >= call->exit_ns;
}

static int enter_calls(struct timeline *timeline, struct call_stack *stacks)
{
	const struct tare_recording *recording = timeline->recording;
	const struct timeline_rows *commands = &timeline->all[TIMELINE_COMMANDS];
	const struct timeline_rows *calls = &timeline->all[TIMELINE_CALLS];
	size_t command_at = 0, call_at = 0;
	int code = 0;

	while (!code && (command_at < commands->count || call_at < calls->count)) {
		const struct tare_recorded_command *command =
		    command_at < commands->count ? TARE_COMMAND(recording, commands->at[command_at])
		                                 : NULL;
		const struct tare_recorded_call *call =
		    call_at < calls->count ? &recording->calls[calls->at[call_at]] : NULL;
		if (command && tare_command_is_run(command))
			// It is in the call of the command that executes its list.
			timeline->command_depth[commands->at[command_at++]] = 0;
		else if (command && (!call || command_first(command, call)))
			code = enter_call(&stacks[command->thread], command->enter_ns,
			                  command->exit_ns,
			                  &timeline->command_depth[commands->at[command_at++]]);
		else
			code = enter_call(&stacks[call->thread], call->enter_ns, call->exit_ns,
			                  &timeline->call_depth[calls->at[call_at++]]);
	}
	return code;
}

static int place_calls(struct timeline *timeline)
{
	size_t threads = timeline->recording->thread_count;
	struct call_stack *stacks = calloc(threads + 1, sizeof *stacks);
	int code = stacks ? enter_calls(timeline, stacks) : -ENOMEM;

	for (size_t i = 0; stacks && i < threads; i++)
		free(stacks[i].exits);
	free(stacks);
	return code;
}

// ---- phases

static int compare_phases(const void *left, const void *right, void *context)
{
	const struct timeline *timeline = context;
	const struct tare_recorded_phase *phases = timeline->recording->phases;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	if (phases[a].thread != phases[b].thread)
		return phases[a].thread < phases[b].thread ? -1 : 1;
	return a < b ? -1 : a > b;
}

static int place_phases(struct timeline *timeline, struct timeline_lanes *lanes)
{
	const struct timeline_rows *rows = &timeline->all[TIMELINE_PHASES];
	const struct tare_recorded_phase *phases = timeline->recording->phases;
	uint32_t *order = calloc(rows->count + 1, sizeof *order);

	if (!order)
		return -ENOMEM;
	if (rows->count)
		memcpy(order, rows->at, rows->count * sizeof *order);
	qsort_r(order, rows->count, sizeof *order, compare_phases, timeline);
	for (size_t i = 0; i < rows->count; i++) {
		if (i == 0 || phases[order[i]].thread != phases[order[i - 1]].thread)
			lanes_reset(lanes);
		timeline->phase_lane[order[i]] =
		    lanes_take(lanes, phases[order[i]].from_ns, phases[order[i]].to_ns);
	}
	free(order);
	return 0;
}

int timeline_place(struct timeline *timeline)
{
	struct timeline_lanes *lanes = calloc(1, sizeof *lanes);
	int code = lanes ? place_on_device(timeline, lanes) : -ENOMEM;

	if (!code)
		code = place_calls(timeline);
	if (!code)
		code = place_phases(timeline, lanes);
	free(lanes);
	return code;
}
