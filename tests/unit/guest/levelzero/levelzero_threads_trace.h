// SPDX-License-Identifier: Apache-2.0
// What test_levelzero_threads.c looks for in a trace.
#pragma once
#include "tests/unit/guest/guest_trace.h"

#include <inttypes.h>

// A command and its times, or one of them.
struct told {
	uint32_t track, number, queue;
	uint64_t execution, start, end;
};
struct told_all {
	struct told *commands, *times;
	size_t command_count, times_count, untimed_count;
};

static inline int by_command(const void *one, const void *other)
{
	const struct told *a = one, *b = other;
	if (a->track != b->track)
		return a->track < b->track ? -1 : 1;
	if (a->number != b->number)
		return a->number < b->number ? -1 : 1;
	return (a->execution > b->execution) - (a->execution < b->execution);
}

static inline int by_queue(const void *one, const void *other)
{
	const struct told *a = one, *b = other;
	if (a->queue != b->queue)
		return a->queue < b->queue ? -1 : 1;
	return by_command(one, other);
}

static inline struct told_all load_told(const struct guest_trace *trace)
{
	struct guest_place place = { 0 };
	const union tare_trace_record *record;
	size_t commands = count_records(trace, TARE_TRACE_COMMAND),
	       times = count_records(trace, TARE_TRACE_TIMES);
	struct told_all all = { .commands = calloc(commands + 1, sizeof *all.commands),
		                .times = calloc(times + 1, sizeof *all.times) };
	if (all.commands == NULL || all.times == NULL)
		abort();
	while ((record = next_record(trace, &place))) {
		switch (tare_trace_type(record->head)) {
		case TARE_TRACE_COMMAND:
			all.commands[all.command_count++] =
			    (struct told){ .track = tare_trace_track(record->head),
				           .number = record->command.number,
				           .queue = record->command.queue };
			break;
		case TARE_TRACE_TIMES:
			all.times[all.times_count++] =
			    (struct told){ .track = record->times.command_track,
				           .number = record->times.command_number,
				           .execution = record->times.execution,
				           .start = record->times.start,
				           .end = record->times.end };
			break;
		case TARE_TRACE_UNTIMED:
			fprintf(stderr,
			        "track %" PRIu32 ", command %" PRIu32 ", execution %" PRIu64
			        ": untimed, reason %d\n",
			        record->untimed.command_track, record->untimed.command_number,
			        record->untimed.execution, tare_trace_detail(record->head));
			all.untimed_count++;
			break;
		default:
			break;
		}
	}
	qsort(all.commands, all.command_count, sizeof *all.commands, by_command);
	qsort(all.times, all.times_count, sizeof *all.times, by_command);
	return all;
}

static inline bool is_bad(const struct told *told, const char *what)
{
	fprintf(stderr,
	        "track %" PRIu32 ", command %" PRIu32 ", execution %" PRIu64 ", %" PRIu64
	        " to %" PRIu64 ": %s\n",
	        told->track, told->number, told->execution, told->start, told->end, what);
	return true;
}

// Times that are told twice, or of a command that there is not. The rest get its queue.
static inline size_t count_bad(const struct told_all *all)
{
	size_t bad = 0;
	for (size_t i = 0; i < all->times_count; i++) {
		struct told *times = &all->times[i];
		const struct told key = { .track = times->track, .number = times->number };
		const struct told *command = bsearch(&key, all->commands, all->command_count,
		                                     sizeof *all->commands, by_command);
		if (command == NULL)
			bad += is_bad(times, "times of no command");
		else
			times->queue = command->queue;
		if (i != 0 && by_command(times, times - 1) == 0)
			bad += is_bad(times, "times told twice");
		if (times->start > times->end)
			bad += is_bad(times, "ends before it begins");
	}
	return bad;
}

// What an immediate list has done it has done in the order of its commands, and executions of one
// command follow each other: times that are another command's do not fit.
static inline size_t count_out_of_order(const struct told_all *all)
{
	size_t bad = 0;
	qsort(all->times, all->times_count, sizeof *all->times, by_queue);
	for (size_t i = 1; i < all->times_count; i++) {
		const struct told *times = &all->times[i], *before = times - 1;
		bool follows = times->queue == before->queue &&
		               (times->execution == 0 || times->number == before->number);
		if (follows && times->start < before->end)
			bad += is_bad(before, "comes first") +
			       is_bad(times, "begins before that ends");
	}
	return bad;
}

// Of the commands in lists those have an execution.
static inline size_t count_in_lists(const struct told_all *all)
{
	size_t in_lists = 0;
	for (size_t i = 0; i < all->times_count; i++)
		in_lists += all->times[i].execution != 0;
	return in_lists;
}
