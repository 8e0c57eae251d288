// SPDX-License-Identifier: Apache-2.0
// When a kernel ran on a device: what transfers are hidden behind, and what shares are of.
#include "analysis/tables/internal.h"

#include <stdlib.h>

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
static int accumulate(struct device_spans *of)
{
	struct tables_span *total = TARE_ROOM_FOR(of->at, of->room, of->count);
	int64_t before_ns = 0;
	if (!total)
		return -ENOMEM;
	for (size_t i = 0; i < of->count; i++) {
		int64_t length_ns = of->at[i].to - of->at[i].from;
		of->at[i].to = before_ns;
		before_ns = tables_add(before_ns, length_ns);
	}
	*total = (struct tables_span){ INT64_MAX, before_ns };
	return 0;
}

// Hands a device's spans over, in order and without the room that is left.
static int finish(struct device_spans *of, struct tables_span **spans, size_t *count)
{
	tables_sort(of->at, of->count);
	of->count = tables_merge(of->at, of->count);
	int code = accumulate(of);
	*count = of->count;
	*spans = of->at;
	of->at = NULL;
	return code;
}

int tables_busy_open(const struct tables_context *context, bool of_view, struct tables_busy *busy)
{
	const struct tare_recording *recording = context->recording;
	size_t devices = recording->device_count + 1;
	struct device_spans *of = calloc(devices, sizeof *of);
	int code = 0;
	*busy = (struct tables_busy){ .spans = calloc(devices, sizeof *busy->spans),
		                      .count = calloc(devices, sizeof *busy->count),
		                      .devices = devices };
	if (!of || !busy->spans || !busy->count)
		code = -ENOMEM;
	for (size_t i = 0; i < recording->command_count && !code; i++) {
		const struct tare_recorded_command *command = TARE_COMMAND(recording, i);
		struct tables_span span;
		if (is_counted(context, of_view, command, &span))
			code = add_span(&of[tables_device(context, command)], span);
	}
	for (size_t i = 0; i < devices && !code; i++)
		code = finish(&of[i], &busy->spans[i], &busy->count[i]);
	for (size_t i = 0; of && i < devices; i++)
		free(of[i].at);
	free(of);
	return code;
}

int tables_busy_shrink(struct tables_busy *busy)
{
	for (size_t i = 0; i < busy->devices; i++) {
		struct tables_span *total = malloc(sizeof *total);
		if (!total)
			return -ENOMEM;
		*total = busy->spans[i][busy->count[i]];
		free(busy->spans[i]);
		busy->spans[i] = total;
		busy->count[i] = 0;
	}
	return 0;
}

void tables_busy_close(struct tables_busy *busy)
{
	for (size_t i = 0; busy->spans && i < busy->devices; i++)
		free(busy->spans[i]);
	free(busy->spans);
	free(busy->count);
	*busy = (struct tables_busy){ 0 };
}

int64_t tables_busy_before(const struct tables_busy *busy, uint32_t device, int64_t time_ns)
{
	// The first entry that begins after the time; the total does, always.
	const struct tables_span *spans = busy->spans[device];
	size_t low = 0;
	size_t high = busy->count[device];
	int64_t into_ns, whole_ns;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (spans[middle].from <= time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return 0;
	into_ns = time_ns - spans[low - 1].from;
	whole_ns = spans[low].to - spans[low - 1].to;
	return spans[low - 1].to + (into_ns < whole_ns ? into_ns : whole_ns);
}

int64_t tables_busy_total(const struct tables_busy *busy, uint32_t device)
{
	return busy->spans[device][busy->count[device]].to;
}
