// SPDX-License-Identifier: Apache-2.0
#include "analysis/recording/intervals.h"
#include "base/room.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

// Where the direction is not told: what the command is for.
#define BY_DIRECTION(untold)                                                                       \
	{ [TARE_DIRECTION_NONE] = (untold),                                                        \
	  [TARE_DIRECTION_TO_DEVICE] = TARE_EFFECT_TO_DEVICE,                                      \
	  [TARE_DIRECTION_FROM_DEVICE] = TARE_EFFECT_FROM_DEVICE,                                  \
	  [TARE_DIRECTION_LOCAL] = TARE_EFFECT_LOCAL,                                              \
	  [TARE_DIRECTION_HOST] = TARE_EFFECT_LOCAL }
#define WHATEVER(effect) { (effect), (effect), (effect), (effect), (effect) }

const uint8_t tare_effect_of[TARE_KIND_KINDS][TARE_DIRECTION_DIRECTIONS] = {
	[TARE_KIND_KERNEL] = WHATEVER(TARE_EFFECT_KERNEL),
	[TARE_KIND_TASK] = WHATEVER(TARE_EFFECT_KERNEL),
	[TARE_KIND_GRAPH] = WHATEVER(TARE_EFFECT_KERNEL),
	[TARE_KIND_WRITE] = BY_DIRECTION(TARE_EFFECT_TO_DEVICE),
	[TARE_KIND_READ] = BY_DIRECTION(TARE_EFFECT_FROM_DEVICE),
	[TARE_KIND_MAP] = BY_DIRECTION(TARE_EFFECT_NONE),
	[TARE_KIND_UNMAP] = BY_DIRECTION(TARE_EFFECT_NONE),
	[TARE_KIND_MIGRATE] = BY_DIRECTION(TARE_EFFECT_NONE),
	[TARE_KIND_COPY] = BY_DIRECTION(TARE_EFFECT_LOCAL),
	[TARE_KIND_FILL] = BY_DIRECTION(TARE_EFFECT_LOCAL),
	[TARE_KIND_OTHER] = BY_DIRECTION(TARE_EFFECT_LOCAL),
};

int64_t tare_list_launch_ns(const struct tare_recording *recording, enum tare_list_part part,
                            uint32_t execution, int64_t call_ns)
{
	bool executes = part == TARE_EXECUTES_MORE;
	if (part == TARE_EXECUTES)
		return 0;
	if (execution >= recording->execution_count)
		return executes ? call_ns : 0;
	// Of lists that one call executes the first command has the call; what they ran shares it.
	uint32_t call = recording->executions[execution].call;
	if (call >= recording->command_count)
		return 0;
	const struct tare_recorded_command *by = TARE_COMMAND(recording, call);
	if (by->flags & TARE_COMMAND_NESTED || by->execution >= recording->execution_count)
		return 0;
	uint64_t shares = recording->executions[by->execution].shares;
	return shares > 0 && shares <= INT64_MAX
	           ? tare_earlier_ns(by->exit_ns, by->enter_ns) / (int64_t)shares
	           : 0;
}

static int compare_spans(const void *a, const void *b)
{
	const struct tare_run_span *x = a, *y = b;
	return (x->from_ns > y->from_ns) - (x->from_ns < y->from_ns);
}

static bool in_order(const struct tare_run_span *spans, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (spans[i - 1].from_ns > spans[i].from_ns)
			return false;
	return true;
}

size_t tare_spans_unite(struct tare_run_span *spans, size_t count)
{
	size_t kept = 0;
	if (!in_order(spans, count))
		qsort(spans, count, sizeof *spans, compare_spans);
	for (size_t i = 0; i < count; i++) {
		if (spans[i].from_ns >= spans[i].to_ns)
			continue;
		if (kept == 0 || spans[i].from_ns > spans[kept - 1].to_ns)
			spans[kept++] = spans[i];
		else if (spans[i].to_ns > spans[kept - 1].to_ns)
			spans[kept - 1].to_ns = spans[i].to_ns;
	}
	return kept;
}

// Takes spans out that end before a time.
static void settle_before(struct tare_cover *cover, int64_t reached_ns)
{
	size_t done = 0;
	while (done < cover->count && cover->spans[done].to_ns < reached_ns) {
		cover->settled_ns += cover->spans[done].to_ns - cover->spans[done].from_ns;
		if (cover->take)
			cover->take(cover->context, &cover->spans[done]);
		done++;
	}
	if (done == 0)
		return;
	cover->count -= done;
	memmove(cover->spans, cover->spans + done, cover->count * sizeof *cover->spans);
}

static int make_room(struct tare_cover *cover, int64_t at_ns)
{
	if (cover->count < cover->capacity)
		return 0;
	// Nothing can reach those any more.
	settle_before(cover, tare_earlier_ns(at_ns, cover->reach_ns));
	// Half of it free, or moving spans down would take more than linear time.
	if (cover->capacity && cover->count <= cover->capacity / 2)
		return 0;
	return TARE_ROOM_FOR(cover->spans, cover->capacity, cover->capacity) ? 0 : -ENOMEM;
}

int tare_cover_around(struct tare_cover *cover, int64_t at_ns, int64_t by_ns)
{
	struct tare_run_span span = { tare_earlier_ns(at_ns, by_ns), tare_later_ns(at_ns, by_ns) };
	if (span.from_ns < cover->from_ns)
		span.from_ns = cover->from_ns;
	if (span.to_ns > cover->to_ns)
		span.to_ns = cover->to_ns;
	if (span.from_ns >= span.to_ns)
		return 0;
	while (cover->count && cover->spans[cover->count - 1].to_ns >= span.from_ns) {
		const struct tare_run_span *last = &cover->spans[--cover->count];
		if (last->from_ns < span.from_ns)
			span.from_ns = last->from_ns;
		if (last->to_ns > span.to_ns)
			span.to_ns = last->to_ns;
	}
	if (make_room(cover, at_ns))
		return -ENOMEM;
	cover->spans[cover->count++] = span;
	return 0;
}

void tare_cover_finish(struct tare_cover *cover)
{
	settle_before(cover, INT64_MAX);
}

void tare_cover_free(struct tare_cover *cover)
{
	free(cover->spans);
	cover->spans = NULL;
	cover->count = cover->capacity = 0;
}
