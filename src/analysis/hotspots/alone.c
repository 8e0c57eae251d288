// SPDX-License-Identifier: Apache-2.0
// Whether a counted launch had the device to itself: a metric query counts what the whole device
// does, whatever queue that comes from.
#include "analysis/hotspots/collect.h"

#include <errno.h>
#include <stdlib.h>

struct span {
	int64_t from_ns, to_ns;
	uint32_t queue, device;
};

static int by_start(const void *a, const void *b)
{
	const struct span *x = a, *y = b;
	return x->from_ns != y->from_ns ? (x->from_ns < y->from_ns ? -1 : 1) : 0;
}

static bool is_timed(const struct tare_recorded_command *command)
{
	return command->start_ns != TARE_NO_TIME && command->end_ns != TARE_NO_TIME;
}

static bool is_shared(const struct span *spans, size_t count, int64_t longest_ns,
                      const struct span *of)
{
	size_t low = 0, high = count;

	// The first that may reach into it.
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (spans[middle].from_ns < of->from_ns - longest_ns)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < count && spans[low].from_ns < of->to_ns; low++)
		if (spans[low].to_ns > of->from_ns && spans[low].queue != of->queue &&
		    spans[low].device == of->device)
			return true;
	return false;
}

static const struct tare_recorded_count *duration_of(const struct tare_recording *counted,
                                                     size_t at)
{
	for (size_t i = at; i < counted->count_count; i++) {
		if (counted->counts[i].launch != counted->counts[at].launch)
			break;
		if (counted->counts[i].counter == TARE_TRACE_COUNTER_DURATION_NS)
			return &counted->counts[i];
	}
	return NULL;
}

// What the query of a launch counted, whose values begin at `at`: longer than the launch by what
// its duration says, before it or behind; of a group without one by as much again.
static struct span window_of(const struct tare_recording *counted, size_t at,
                             const struct tare_recorded_command *c)
{
	const struct tare_recorded_count *duration = duration_of(counted, at);
	int64_t timed_ns = c->end_ns - c->start_ns, more_ns = timed_ns;

	if (duration && duration->value >= 0 && duration->value < 1e18)
		more_ns = (int64_t)duration->value - timed_ns;
	more_ns = more_ns > 0 ? more_ns : 0;
	return (struct span){ c->start_ns - more_ns, c->end_ns + more_ns, c->queue,
		              counted->queues[c->queue].device };
}

static bool is_alone(const struct tare_recording *counted, size_t at, const struct span *spans,
                     size_t count, int64_t longest_ns)
{
	const struct tare_recorded_command *c = TARE_COMMAND(counted, counted->counts[at].command);
	struct span window;

	if (!is_timed(c) || c->queue == TARE_NO_INDEX)
		return false;
	window = window_of(counted, at, c);
	return !is_shared(spans, count, longest_ns, &window);
}

int tare_counted_alone(const struct tare_recording *counted, bool *alone)
{
	struct span *spans = calloc(counted->command_count + 1, sizeof *spans);
	size_t count = 0;
	int64_t longest_ns = 0;

	if (!spans)
		return -ENOMEM;
	for (size_t i = 0; i < counted->command_count; i++) {
		const struct tare_recorded_command *c = TARE_COMMAND(counted, i);
		if (!is_timed(c) || c->queue == TARE_NO_INDEX || c->kind == TARE_KIND_GRAPH)
			continue;
		spans[count++] = (struct span){ c->start_ns, c->end_ns, c->queue,
			                        counted->queues[c->queue].device };
		longest_ns =
		    c->end_ns - c->start_ns > longest_ns ? c->end_ns - c->start_ns : longest_ns;
	}
	qsort(spans, count, sizeof *spans, by_start);
	for (size_t i = 0; i < counted->count_count; i++) {
		const struct tare_recorded_count *value = &counted->counts[i];
		if (i > 0 && value->launch == value[-1].launch)
			alone[i] = alone[i - 1];
		else if (value->command < counted->command_count)
			alone[i] = is_alone(counted, i, spans, count, longest_ns);
	}
	free(spans);
	return 0;
}
