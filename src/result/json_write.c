// SPDX-License-Identifier: Apache-2.0
#include "result/json.h"

#include "result/json_layout.h"
#include "result/json_telemetry.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#if !TARE_HAVE_JSON

int tare_result_write_json(const struct tare_result *result, FILE *file, struct tare_error *error)
{
	(void)result;
	(void)file;
	return tare_fail(error, ENOSYS, "this tare was built without JSON; build it with jansson");
}

#else

// Whether anything could not be made, for lack of memory: looked at once, at the end.
struct writer {
	bool failed;
};

// Takes over `value`.
static void put(struct writer *writer, json_t *object, const char *key, json_t *value)
{
	if (!value || json_object_set_new_nocheck(object, key, value) < 0)
		writer->failed = true;
}

static void push(struct writer *writer, json_t *array, json_t *value)
{
	if (!value || json_array_append_new(array, value) < 0)
		writer->failed = true;
}

// Not a number, infinite: unknown, which JSON calls null.
static json_t *number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static json_t *pair(struct writer *writer, double low, double high)
{
	json_t *array = json_array();

	push(writer, array, number(low));
	push(writer, array, number(high));
	return array;
}

// Saturates: no count and no rate that means anything is beyond 2^63 - 1.
static json_t *unsigned_number(uint64_t value)
{
	return json_integer(value <= INT64_MAX ? (json_int_t)value : INT64_MAX);
}

static json_t *labels(struct writer *writer, const struct tare_labels *list)
{
	json_t *object = json_object();

	for (size_t i = 0; i < list->count; i++) {
		const struct tare_label *label = &list->at[i];
		json_t *name = tare_json_text(label->name);
		if (!name) {
			writer->failed = true;
			break;
		}
		put(writer, object, json_string_value(name),
		    label->text ? tare_json_text(label->text) : json_integer(label->number));
		json_decref(name);
	}
	return object;
}

static json_t *fact_value(const struct tare_fact *fact, enum tare_fact_type type)
{
	switch (type) {
	case TARE_FACT_TEXT:
		return tare_json_text(fact->text);
	case TARE_FACT_BOOL:
		return json_boolean(fact->count != 0);
	case TARE_FACT_NS:
	case TARE_FACT_RATE:
		return number(fact->rate);
	default:
		return unsigned_number(fact->count);
	}
}

static json_t *facts(struct writer *writer, const struct tare_facts *list)
{
	json_t *object = json_object();

	for (int id = 0; id < TARE_FACT_COUNT_OF; id++) {
		const struct tare_fact_row *row = &tare_fact_rows[id];
		const struct tare_fact *fact = &list->fact[id];
		const char *reason = tare_fact_reason(list, (enum tare_fact_id)id);
		json_t *entry = json_object();
		bool known = fact->present;

		if (known && (row->type == TARE_FACT_NS || row->type == TARE_FACT_RATE))
			known = isfinite(fact->rate);
		else if (known && row->type != TARE_FACT_TEXT)
			known = fact->count <= INT64_MAX;
		if (known) {
			put(writer, entry, "value", fact_value(fact, row->type));
			put(writer, entry, "unit", tare_json_text(row->unit));
			put(writer, entry, "origin",
			    tare_json_text(tare_origin_name(fact->origin)));
		} else {
			put(writer, entry, "value", json_null());
			put(writer, entry, "reason",
			    tare_json_text(fact->present ? "not a number that can be written"
			                                 : reason));
		}
		put(writer, object, row->key, entry);
	}
	return object;
}

static json_t *kernels(struct writer *writer, const struct tare_kernel_list *list)
{
	json_t *object = json_object();
	json_t *array = json_array();

	put(writer, object, "file", tare_json_text(list->file));
	put(writer, object, "absent", tare_json_text(list->absent));
	for (size_t i = 0; i < list->count; i++) {
		const struct tare_kernel_entry *kernel = &list->at[i];
		json_t *item = json_object();
		put(writer, item, "name", tare_json_text(kernel->name));
		for (int v = 0; v < TARE_KERNEL_VALUE_COUNT; v++)
			put(writer, item, tare_kernel_rows[v].key,
			    kernel->value[v] < 0 ? json_null() : json_integer(kernel->value[v]));
		put(writer, item, "parameters", tare_json_text(kernel->parameters));
		push(writer, array, item);
	}
	put(writer, object, "kernels", array);
	return object;
}

static json_t *device(struct writer *writer, const struct tare_device_entry *entry)
{
	static const char *const classes[] = {
		[TARE_ENGINE_COMPUTE] = "compute",
		[TARE_ENGINE_COPY] = "copy",
		[TARE_ENGINE_LINK] = "link",
	};
	json_t *object = json_object();
	json_t *engines = json_array();

	put(writer, object, "backend", tare_json_text(entry->backend));
	put(writer, object, "backend_title", tare_json_text(entry->backend_title));
	put(writer, object, "index", json_integer(entry->index));
	put(writer, object, "number", json_integer(entry->number));
	put(writer, object, "same_by", tare_json_text(entry->same_by));
	put(writer, object, "facts", facts(writer, &entry->facts));
	for (size_t i = 0; i < entry->engine_count; i++) {
		const struct tare_engine *engine = &entry->engines[i];
		json_t *item = json_object();
		put(writer, item, "class", tare_json_text(classes[engine->class]));
		put(writer, item, "index", json_integer(engine->index));
		put(writer, item, "known", json_boolean(engine->known));
		put(writer, item, "title", tare_json_text(engine->title));
		push(writer, engines, item);
	}
	put(writer, object, "engines", engines);
	if (entry->kernels)
		put(writer, object, "kernels", kernels(writer, entry->kernels));
	return object;
}

static json_t *devices(struct writer *writer, const struct tare_result *result)
{
	json_t *array = json_array();

	for (size_t i = 0; i < result->device_count; i++)
		push(writer, array, device(writer, &result->devices[i]));
	return array;
}

static json_t *absences(struct writer *writer, const struct tare_result *result)
{
	json_t *array = json_array();

	for (size_t i = 0; i < result->absence_count; i++) {
		json_t *object = json_object();
		put(writer, object, "backend", tare_json_text(result->absences[i].backend));
		put(writer, object, "reason", tare_json_text(result->absences[i].reason));
		put(writer, object, "action", tare_json_text(result->absences[i].action));
		push(writer, array, object);
	}
	return array;
}

// Wide counters as text: JSON's readers keep 53 or 63 bits of a number, a counter has 64.
static json_t *counter(uint64_t value)
{
	return json_sprintf("%" PRIu64, value);
}

static json_t *clock_rate(struct writer *writer, const struct tare_clock_rate *rate)
{
	json_t *object = json_object();

	put(writer, object, "hz_numerator", unsigned_number(rate->hz_numerator));
	put(writer, object, "hz_denominator", unsigned_number(rate->hz_denominator));
	put(writer, object, "valid_bits", json_integer(rate->valid_bits));
	put(writer, object, "resolution_ticks", unsigned_number(rate->resolution_ticks));
	return object;
}

static json_t *clock_quality(struct writer *writer, const struct tare_clock_quality *clock)
{
	json_t *object, *fit = json_null();

	if (!clock->present && !clock->note && clock->floor_ns < 0)
		return json_null();
	object = json_object();
	put(writer, object, "rate",
	    clock->present ? clock_rate(writer, &clock->rate) : json_null());
	if (clock->present && clock->fitted) {
		fit = json_object();
		put(writer, fit, "origin_host_ns", json_integer(clock->fit.origin_host.ns));
		put(writer, fit, "origin_ticks", counter(clock->fit.origin_ticks));
		put(writer, fit, "drift_ppm", number(clock->fit.drift_ppm));
		put(writer, fit, "drift_error_ppm", number(clock->fit.drift_error_ppm));
		put(writer, fit, "residual_ns", json_integer(clock->fit.residual_ns));
		put(writer, fit, "tightest_bracket_ns",
		    json_integer(clock->fit.tightest_bracket_ns));
		put(writer, fit, "pairs", unsigned_number(clock->fit.pairs));
	}
	put(writer, object, "fit", fit);
	put(writer, object, "floor_ns",
	    clock->floor_ns < 0 ? json_null() : json_integer(clock->floor_ns));
	put(writer, object, "note", tare_json_text(clock->note));
	return object;
}

static json_t *rate(struct writer *writer, const struct tare_rate *value)
{
	json_t *object;

	if (!value->present)
		return json_null();
	object = json_object();
	put(writer, object, "unit", tare_json_text(value->unit));
	put(writer, object, "work", number(value->work));
	put(writer, object, "min", number(value->min));
	put(writer, object, "median", number(value->median));
	put(writer, object, "p95", number(value->p95));
	put(writer, object, "ci", pair(writer, value->ci_low, value->ci_high));
	return object;
}

static json_t *samples(struct writer *writer, const struct tare_cell *cell)
{
	json_t *array = json_array();

	for (size_t i = 0; cell->samples && i < cell->summary.n; i++)
		push(writer, array, json_integer(cell->samples[i]));
	return array;
}

// The summary's members. Without samples nothing is known of their spread: null, never 0.
static void put_summary(struct writer *writer, json_t *object, const struct tare_summary *summary)
{
	bool sampled = summary->n > 0;
	json_t *outliers = json_null();

	if (sampled) {
		outliers = json_object();
		put(writer, outliers, "mild", unsigned_number(summary->outliers_mild));
		put(writer, outliers, "severe", unsigned_number(summary->outliers_severe));
	}
	put(writer, object, "n", unsigned_number(summary->n));
	put(writer, object, "min", sampled ? json_integer(summary->min) : json_null());
	put(writer, object, "median", number(summary->median));
	put(writer, object, "p95", number(summary->p95));
	put(writer, object, "max", sampled ? json_integer(summary->max) : json_null());
	put(writer, object, "ci", pair(writer, summary->ci_low, summary->ci_high));
	put(writer, object, "autocorrelation",
	    sampled ? number(summary->autocorrelation) : json_null());
	put(writer, object, "effective_n", sampled ? number(summary->effective_n) : json_null());
	put(writer, object, "outliers", outliers);
	put(writer, object, "drifting", sampled ? json_boolean(summary->drifting) : json_null());
	put(writer, object, "quantised", sampled ? json_boolean(summary->quantised) : json_null());
}

static json_t *cell(struct writer *writer, const struct tare_cell *value)
{
	json_t *object = json_object();

	put(writer, object, "labels", labels(writer, &value->labels));
	put(writer, object, "quantity", tare_json_text(value->quantity));
	put(writer, object, "unit", tare_json_text(value->unit));
	put(writer, object, "source", tare_json_text(value->source));
	put(writer, object, "method", tare_json_text(value->method));
	put(writer, object, "absent", tare_json_text(value->absent));
	put(writer, object, "converged", json_boolean(value->converged));
	put(writer, object, "verified",
	    value->verified == TARE_NOT_VERIFIABLE
	        ? json_null()
	        : json_boolean(value->verified == TARE_VERIFIED));
	put_summary(writer, object, &value->summary);
	put(writer, object, "rate", rate(writer, &value->rate));
	put(writer, object, "samples", samples(writer, value));
	return object;
}

static json_t *axis(struct writer *writer, const struct tare_axis *value)
{
	json_t *object = json_object();

	put(writer, object, "title", tare_json_text(value->title));
	put(writer, object, "unit", tare_json_text(value->unit));
	put(writer, object, "scale", tare_json_text(value->logarithmic ? "logarithmic" : "linear"));
	return object;
}

static json_t *plot_series(struct writer *writer, const struct tare_plot_series *value)
{
	json_t *object = json_object();
	json_t *points = json_array();

	for (size_t i = 0; i < value->count; i++) {
		const struct tare_point *at = &value->points[i];
		json_t *point = json_array();
		push(writer, point, number(at->x));
		push(writer, point, number(at->y));
		push(writer, point, number(at->low));
		push(writer, point, number(at->high));
		push(writer, points, point);
	}
	put(writer, object, "name", tare_json_text(value->name));
	put(writer, object, "points", points);
	return object;
}

static json_t *plot(struct writer *writer, const struct tare_plot *value)
{
	static const char *const kinds[] = {
		[TARE_PLOT_LINE] = "line",
		[TARE_PLOT_BAR] = "bar",
		[TARE_PLOT_TIMELINE] = "timeline",
	};
	json_t *object = json_object();
	json_t *series = json_array();

	for (size_t i = 0; i < value->count; i++)
		push(writer, series, plot_series(writer, &value->series[i]));
	put(writer, object, "id", tare_json_text(value->id));
	put(writer, object, "title", tare_json_text(value->title));
	put(writer, object, "note", tare_json_text(value->note));
	put(writer, object, "kind", tare_json_text(kinds[value->kind]));
	put(writer, object, "x", axis(writer, &value->x));
	put(writer, object, "y", axis(writer, &value->y));
	put(writer, object, "series", series);
	return object;
}

static json_t *warnings(struct writer *writer, const struct tare_result *result)
{
	json_t *array = json_array();

	for (size_t i = 0; i < result->warning_count; i++) {
		json_t *object = json_object();
		put(writer, object, "id", tare_json_text(result->warnings[i].id));
		put(writer, object, "message", tare_json_text(result->warnings[i].message));
		put(writer, object, "action", tare_json_text(result->warnings[i].action));
		push(writer, array, object);
	}
	return array;
}

static json_t *conclusions(struct writer *writer, const struct tare_result *result)
{
	json_t *array = json_array();

	for (size_t i = 0; i < result->conclusion_count; i++) {
		json_t *object = json_object();
		put(writer, object, "id", tare_json_text(result->conclusions[i].id));
		put(writer, object, "text", tare_json_text(result->conclusions[i].text));
		push(writer, array, object);
	}
	return array;
}

static json_t *document(struct writer *writer, const struct tare_result *result);

static json_t *documents(struct writer *writer, const struct tare_result *result)
{
	json_t *array = json_array();

	for (size_t i = 0; i < result->part_count; i++)
		push(writer, array, document(writer, result->parts[i]));
	return array;
}

static json_t *document(struct writer *writer, const struct tare_result *result)
{
	bool lists_devices = result->device_count > 1 || strcmp(result->command, "devices") == 0;
	json_t *root = json_object();
	json_t *tool = json_object();
	json_t *cells = json_array();
	json_t *plots = json_array();

	for (size_t i = 0; i < result->cell_count; i++)
		push(writer, cells, cell(writer, &result->cells[i]));
	for (size_t i = 0; i < result->plot_count; i++)
		push(writer, plots, plot(writer, &result->plots[i]));
	put(writer, tool, "name", tare_json_text("tare"));
	put(writer, tool, "version", tare_json_text(result->version));
	put(writer, root, "schema", tare_json_text(TARE_RESULT_SCHEMA));
	put(writer, root, "tool", tool);
	put(writer, root, "written_at", tare_json_text(result->written_at));
	put(writer, root, "command", tare_json_text(result->command));
	put(writer, root, "interrupted", json_boolean(result->interrupted));
	put(writer, root, "parameters", labels(writer, &result->parameters));
	put(writer, root, "host", labels(writer, &result->host));
	put(writer, root, "device",
	    lists_devices || !result->device_count ? json_null()
	                                           : device(writer, &result->devices[0]));
	put(writer, root, "clock", clock_quality(writer, &result->clock));
	if (result->telemetry.present)
		put(writer, root, "telemetry", tare_json_telemetry(&result->telemetry));
	if (result->kernel_timestamp.count)
		put(writer, root, "kernel_timestamp", labels(writer, &result->kernel_timestamp));
	if (result->conclusion_count)
		put(writer, root, "conclusions", conclusions(writer, result));
	put(writer, root, "warnings", warnings(writer, result));
	if (lists_devices)
		put(writer, root, "devices", devices(writer, result));
	if (lists_devices || result->absence_count)
		put(writer, root, "absences", absences(writer, result));
	put(writer, root, "plots", plots);
	put(writer, root, "cells", cells);
	if (result->part_count)
		put(writer, root, "parts", documents(writer, result));
	return root;
}

int tare_result_write_json(const struct tare_result *result, FILE *file, struct tare_error *error)
{
	struct writer writer = { false };
	int status = tare_result_status(result);
	json_t *root = status == 0 ? document(&writer, result) : NULL;

	if (writer.failed)
		status = -ENOMEM;
	errno = 0;
	if (status == 0)
		status = tare_json_layout(root, file);
	json_decref(root);
	if (status < 0)
		return tare_fail(error, -status, "out of memory for the result as JSON");
	if (fflush(file) != 0 || ferror(file))
		return tare_fail(error, EIO, "cannot write the result as JSON: %s",
		                 errno ? strerror(errno) : "the output has failed");
	return 0;
}
#endif
