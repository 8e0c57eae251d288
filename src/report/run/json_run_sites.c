// SPDX-License-Identifier: Apache-2.0
// Call sites as JSON.
#include "report/run/json_run.h"

#if TARE_HAVE_JSON
#include "report/core/words.h"

#define STACKS 100 // rows that come with their stack
#define FRAMES 64  // of each

static json_t *text_or_null(const char *text)
{
	return text && text[0] ? tare_json_text(text) : json_null();
}

static json_t *frames_of(struct tare_json *json, const struct tare_report *run, uint32_t stack)
{
	const struct tare_frame *frames;
	size_t count = tare_symbols_frames(run->symbols, stack, &frames);
	json_t *list = json_array();

	for (size_t i = 0; i < count && i < FRAMES; i++) {
		json_t *object = json_object();
		tare_json_put(json, object, "function", text_or_null(frames[i].function));
		tare_json_put(json, object, "file", text_or_null(frames[i].file));
		tare_json_put(json, object, "line",
		              frames[i].line > 0 ? json_integer(frames[i].line) : json_null());
		tare_json_put(json, object, "module", text_or_null(frames[i].module));
		tare_json_put(json, object, "address", tare_json_unsigned(frames[i].address));
		tare_json_put(json, object, "inlined", json_boolean(frames[i].inlined));
		tare_json_push(json, list, object);
	}
	return list;
}

void tare_json_put_sites(struct tare_json *json, const struct tare_report *run, json_t *root)
{
	json_t *list = json_array();

	for (size_t i = 0; run->sites && run->symbols && i < run->sites->count; i++) {
		const struct tare_site_row *row = &run->sites->rows[i];
		json_t *object = json_object();
		tare_json_put(json, object, "site", tare_json_text(row->text));
		tare_json_put(json, object, "kind",
		              row->kind ? text_or_null(tare_report_kind(row->kind)) : json_null());
		tare_json_put(json, object, "what", tare_json_text(row->what));
		tare_json_put(json, object, "count", tare_json_unsigned(row->count));
		tare_json_put(json, object, "bytes", tare_json_unsigned(row->bytes));
		tare_json_put(json, object, "device_ns", json_integer(row->device_ns));
		tare_json_put(json, object, "host_ns", json_integer(row->host_ns));
		tare_json_put(json, object, "gaps_ns", json_integer(row->gap_ns));
		tare_json_put(json, object, "stacks", tare_json_unsigned(row->stacks));
		tare_json_put(json, object, "frames",
		              i < STACKS ? frames_of(json, run, row->stack) : json_null());
		tare_json_push(json, list, object);
	}
	tare_json_put(json, root, "sites", list);
}

#endif
