// SPDX-License-Identifier: Apache-2.0
// When a kernel ran on a device: what transfers are hidden behind, and what shares are of.
#include "analysis/tables/internal.h"

#include "base/cleanup.h"

#include <stdlib.h>

static bool is_counted(const struct tables_context *context, bool of_view,
                       const struct tare_recorded_command *command, struct tables_span *span)
{
	return tables_is_kernel(command) && tables_timed(command, span) &&
	       (!of_view || tables_has_command_of_any_name(context, command));
}

// Merges a device's spans in place and turns their ends into the time run before each; there is
// room for one more entry, the total. Returns its place.
static size_t accumulate(struct tables_span *spans, size_t n)
{
	int64_t before_ns = 0;
	tables_sort(spans, n);
	n = tables_merge(spans, n);
	for (size_t i = 0; i < n; i++) {
		int64_t length_ns = spans[i].to - spans[i].from;
		spans[i].to = before_ns;
		before_ns = tables_add(before_ns, length_ns);
	}
	spans[n] = (struct tables_span){ INT64_MAX, before_ns };
	return n;
}

int tables_busy_open(const struct tables_context *context, bool of_view, struct tables_busy *busy)
{
	const struct tare_recording *recording = context->recording;
	const struct tare_recorded_command *commands = recording->commands;
	size_t devices = recording->device_count + 1;
	TARE_FREE size_t *next = calloc(devices, sizeof *next);
	struct tables_span span;
	size_t room = 0;
	*busy = (struct tables_busy){ .first = calloc(devices, sizeof *busy->first),
		                      .total = calloc(devices, sizeof *busy->total) };
	if (!next || !busy->first || !busy->total)
		return -ENOMEM;
	for (size_t i = 0; i < recording->command_count; i++)
		if (is_counted(context, of_view, &commands[i], &span))
			next[tables_device(context, &commands[i])]++;
	for (size_t i = 0; i < devices; i++) {
		busy->first[i] = room;
		room += next[i] + 1;
		next[i] = busy->first[i];
	}
	busy->spans = malloc(room * sizeof *busy->spans);
	if (!busy->spans)
		return -ENOMEM;
	for (size_t i = 0; i < recording->command_count; i++)
		if (is_counted(context, of_view, &commands[i], &span))
			busy->spans[next[tables_device(context, &commands[i])]++] = span;
	for (size_t i = 0; i < devices; i++) {
		size_t first = busy->first[i];
		busy->total[i] = first + accumulate(busy->spans + first, next[i] - first);
	}
	return 0;
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
