// SPDX-License-Identifier: Apache-2.0
// When a kernel ran on a device: what transfers are hidden behind, and what shares are of.
#include "analysis/tables/internal.h"

#include <stdlib.h>
#include <string.h>

static bool is_counted(const struct tables_context *context, bool of_view,
                       const struct tare_recorded_command *command, struct tables_span *span)
{
	return tables_is_kernel(command) && tables_timed(command, span) &&
	       (!of_view || tables_has_command_of_any_name(context, command));
}

// Spans of one device: merged as long as they come in order, as they do from one queue.
struct device_spans {
	struct tables_span *at;
	size_t count, room;
};

static int add_span(struct device_spans *spans, struct tables_span span)
{
	struct tables_span *last = spans->count ? &spans->at[spans->count - 1] : NULL;
	if (last && span.from >= last->from && span.from <= last->to) {
		last->to = span.to > last->to ? span.to : last->to;
		return 0;
	}
	struct tables_span *added = TARE_ROOM_FOR(spans->at, spans->room, spans->count);
	if (!added)
		return -ENOMEM;
	*added = span;
	spans->count++;
	return 0;
}

// Turns the ends of merged spans into the time run before each, and adds the total to them.
static void accumulate(struct tables_span *spans, size_t n)
{
	int64_t before_ns = 0;
	for (size_t i = 0; i < n; i++) {
		int64_t length_ns = spans[i].to - spans[i].from;
		spans[i].to = before_ns;
		before_ns = tables_add(before_ns, length_ns);
	}
	spans[n] = (struct tables_span){ INT64_MAX, before_ns };
}

// One behind the other, into `busy`.
static int join(struct device_spans *of, size_t devices, struct tables_busy *busy)
{
	size_t room = 0;
	for (size_t i = 0; i < devices; i++) {
		tables_sort(of[i].at, of[i].count);
		of[i].count = tables_merge(of[i].at, of[i].count);
		busy->first[i] = room;
		busy->total[i] = room + of[i].count;
		room += of[i].count + 1;
	}
	busy->spans = malloc(room * sizeof *busy->spans);
	if (!busy->spans)
		return -ENOMEM;
	for (size_t i = 0; i < devices; i++) {
		if (of[i].count)
			memcpy(busy->spans + busy->first[i], of[i].at,
			       of[i].count * sizeof *of[i].at);
		accumulate(busy->spans + busy->first[i], of[i].count);
		free(of[i].at);
		of[i].at = NULL;
	}
	return 0;
}

int tables_busy_open(const struct tables_context *context, bool of_view, struct tables_busy *busy)
{
	const struct tare_recording *recording = context->recording;
	size_t devices = recording->device_count + 1;
	struct device_spans *of = calloc(devices, sizeof *of);
	int code = 0;
	*busy = (struct tables_busy){ .first = calloc(devices, sizeof *busy->first),
		                      .total = calloc(devices, sizeof *busy->total) };
	if (!of || !busy->first || !busy->total)
		code = -ENOMEM;
	for (size_t i = 0; i < recording->command_count && !code; i++) {
		const struct tare_recorded_command *command = TARE_COMMAND(recording, i);
		struct tables_span span;
		if (is_counted(context, of_view, command, &span))
			code = add_span(&of[tables_device(context, command)], span);
	}
	if (!code)
		code = join(of, devices, busy);
	for (size_t i = 0; of && i < devices; i++)
		free(of[i].at);
	free(of);
	return code;
}

int tables_busy_shrink(const struct tables_context *context, struct tables_busy *busy)
{
	size_t devices = context->recording->device_count + 1;
	struct tables_span *totals = malloc(devices * sizeof *totals);
	if (!totals)
		return -ENOMEM;
	for (size_t i = 0; i < devices; i++) {
		totals[i] = busy->spans[busy->total[i]];
		busy->first[i] = busy->total[i] = i;
	}
	free(busy->spans);
	busy->spans = totals;
	return 0;
}

void tables_busy_close(struct tables_busy *busy)
{
	free(busy->spans);
	free(busy->first);
	free(busy->total);
	*busy = (struct tables_busy){ 0 };
}

int64_t tables_busy_before(const struct tables_busy *busy, uint32_t device, int64_t time_ns)
{
	// The first entry that begins after the time; the total does, always.
	size_t low = busy->first[device];
	size_t high = busy->total[device];
	int64_t into_ns, whole_ns;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (busy->spans[middle].from <= time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == busy->first[device])
		return 0;
	into_ns = time_ns - busy->spans[low - 1].from;
	whole_ns = busy->spans[low].to - busy->spans[low - 1].to;
	return busy->spans[low - 1].to + (into_ns < whole_ns ? into_ns : whole_ns);
}

int64_t tables_busy_total(const struct tables_busy *busy, uint32_t device)
{
	return busy->spans[busy->total[device]].to;
}
