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

// Commands come in the order of their calls, which is nearly that of their starts: a span waits
// until so many came behind it.
enum { WAITING = 1 << 15 };

struct device_spans {
	struct tare_busy busy;
	struct tables_span *at; // that wait
	size_t count, room;
	bool scattered; // they came so far out of order that all of them wait
};

static int append(struct device_spans *spans, struct tables_span span)
{
	struct tables_span *added = TARE_ROOM_FOR(spans->at, spans->room, spans->count);
	if (!added)
		return -ENOMEM;
	*added = span;
	spans->count++;
	return 0;
}

// Takes all back, to be put in order when all are known.
static int scatter(struct device_spans *spans)
{
	int code = 0;
	for (struct tare_busy_walk walk = { 0 }; !code && tare_busy_next(&spans->busy, &walk);)
		code = append(spans, (struct tables_span){ walk.piece.from_ns, walk.piece.to_ns });
	tare_busy_free(&spans->busy);
	spans->scattered = true;
	return code;
}

// Puts the first so many, of those that wait, where they belong.
static int settle(struct device_spans *spans, size_t count)
{
	int code = 0;
	size_t done = 0;
	tables_sort(spans->at, spans->count);
	for (; done < count && !code; done++)
		code = tare_busy_add(&spans->busy, spans->at[done].from, spans->at[done].to);
	done -= code != 0;
	spans->count -= done;
	if (spans->count)
		memmove(spans->at, spans->at + done, spans->count * sizeof *spans->at);
	return code == -EINVAL ? scatter(spans) : code;
}

static int add_span(struct device_spans *spans, struct tables_span span)
{
	struct tables_span *last = spans->count ? &spans->at[spans->count - 1] : NULL;
	if (last && span.from >= last->from && span.from <= last->to) {
		last->to = span.to > last->to ? span.to : last->to;
		return 0;
	}
	if (append(spans, span))
		return -ENOMEM;
	return spans->count == 2 * WAITING && !spans->scattered ? settle(spans, WAITING) : 0;
}

static int finish(struct device_spans *spans)
{
	int code = settle(spans, spans->count);
	// What was taken back is in order now.
	return !code && spans->count ? settle(spans, spans->count) : code;
}

int tables_busy_open(const struct tables_context *context, bool of_view, struct tables_busy *busy)
{
	const struct tare_recording *recording = context->recording;
	size_t devices = recording->device_count + 1;
	struct device_spans *of = calloc(devices, sizeof *of);
	int code = 0;
	*busy = (struct tables_busy){ .of = calloc(devices, sizeof *busy->of), .devices = devices };
	if (!of || !busy->of)
		code = -ENOMEM;
	for (size_t i = 0; i < recording->command_count && !code; i++) {
		const struct tare_recorded_command *command = TARE_COMMAND(recording, i);
		struct tables_span span;
		if (is_counted(context, of_view, command, &span))
			code = add_span(&of[tables_device(context, command)], span);
	}
	for (size_t i = 0; i < devices && !code; i++)
		code = finish(&of[i]);
	for (size_t i = 0; of && i < devices; i++) {
		free(of[i].at);
		if (busy->of)
			busy->of[i] = of[i].busy;
		else
			tare_busy_free(&of[i].busy);
	}
	free(of);
	for (size_t i = 0; i < devices && context->all_but_names && !code; i++)
		context->kernel_ns[i] = tare_busy_total(&busy->of[i]);
	return code;
}

int tables_busy_totals(const struct tables_context *context, struct tables_busy *busy)
{
	size_t devices = context->recording->device_count + 1;
	if (context->kernel_ns[0] < 0) {
		int code = tables_busy_open(context, true, busy);
		for (size_t i = 0; code == 0 && i < devices; i++)
			tare_busy_shrink(&busy->of[i]);
		return code;
	}
	*busy = (struct tables_busy){ .of = calloc(devices, sizeof *busy->of), .devices = devices };
	for (size_t i = 0; i < devices && busy->of; i++)
		busy->of[i].before_ns = context->kernel_ns[i];
	return busy->of ? 0 : -ENOMEM;
}

void tables_busy_close(struct tables_busy *busy)
{
	for (size_t i = 0; busy->of && i < busy->devices; i++)
		tare_busy_free(&busy->of[i]);
	free(busy->of);
	*busy = (struct tables_busy){ 0 };
}

int64_t tables_busy_before(const struct tables_busy *busy, uint32_t device, int64_t time_ns)
{
	return tare_busy_before(&busy->of[device], time_ns);
}

int64_t tables_busy_total(const struct tables_busy *busy, uint32_t device)
{
	return tare_busy_total(&busy->of[device]);
}
