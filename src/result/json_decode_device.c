// SPDX-License-Identifier: Apache-2.0
#include "result/json_decode.h"

#if TARE_HAVE_JSON
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static enum tare_fact_origin decode_origin(struct tare_fields *fields, json_t *object)
{
	const char *names[TARE_ORIGIN_GUESS + 1];

	for (int i = 0; i <= TARE_ORIGIN_GUESS; i++)
		names[i] = tare_origin_name((enum tare_fact_origin)i);
	return (enum tare_fact_origin)tare_field_choice(fields, object, "origin", names,
	                                                TARE_ORIGIN_GUESS + 1);
}

static void decode_fact(struct tare_fields *fields, json_t *object, struct tare_facts *facts,
                        enum tare_fact_id id)
{
	json_t *value = json_object_get(object, "value");
	enum tare_fact_origin origin;
	const char *text;

	if (!value || json_is_null(value)) {
		text = tare_field_word(fields, object, "reason", true);
		// A file says in words what a fact that nobody asked for is.
		if (text && strcmp(text, TARE_FACT_NOT_ASKED) != 0)
			tare_fact_absent(facts, id, "%s", text);
		return;
	}
	origin = decode_origin(fields, object);
	switch (tare_fact_rows[id].type) {
	case TARE_FACT_TEXT:
		text = tare_field_word(fields, object, "value", false);
		if (text)
			tare_fact_set_text(facts, id, origin, text);
		break;
	case TARE_FACT_BOOL:
		tare_fact_set_count(facts, id, origin,
		                    tare_field_flag(fields, object, "value", false));
		break;
	case TARE_FACT_NS:
	case TARE_FACT_RATE:
		tare_fact_set_rate(facts, id, origin, tare_field_number(fields, object, "value"));
		break;
	default:
		tare_fact_set_count(
		    facts, id, origin,
		    (uint64_t)tare_field_integer(fields, object, "value", 0, INT64_MAX));
	}
}

// A fact that this tare does not know (a later one wrote it) is passed over.
static void decode_facts(struct tare_fields *fields, json_t *object, struct tare_facts *facts)
{
	json_t *list = tare_field_object(fields, object, "facts", false);
	size_t mark = tare_fields_enter(fields, "facts");

	for (int id = 0; id < TARE_FACT_COUNT_OF; id++) {
		const char *key = tare_fact_rows[id].key;
		json_t *entry = tare_field_object(fields, list, key, true);
		if (entry) {
			size_t inner = tare_fields_enter(fields, key);
			decode_fact(fields, entry, facts, (enum tare_fact_id)id);
			tare_fields_leave(fields, inner);
		}
	}
	tare_fields_leave(fields, mark);
}

static void decode_engines(struct tare_fields *fields, json_t *object,
                           struct tare_device_entry *device)
{
	static const char *const classes[] = {
		[TARE_ENGINE_COMPUTE] = "compute",
		[TARE_ENGINE_COPY] = "copy",
		[TARE_ENGINE_LINK] = "link",
	};
	json_t *list = tare_field_array(fields, object, "engines", true);
	size_t count = json_array_size(list);

	if (count == 0)
		return;
	device->engines = calloc(count, sizeof *device->engines);
	if (!device->engines) {
		tare_fields_out_of_memory(fields);
		return;
	}
	device->engine_count = count;
	for (size_t i = 0; i < count; i++) {
		size_t mark = tare_fields_enter_element(fields, "engines", i);
		json_t *item = tare_field_as_object(fields, json_array_get(list, i));
		struct tare_engine *engine = &device->engines[i];
		const char *title;
		if (item) {
			engine->class = (enum tare_engine_class)tare_field_choice(
			    fields, item, "class", classes, sizeof classes / sizeof *classes);
			engine->index =
			    (uint32_t)tare_field_integer(fields, item, "index", 0, UINT32_MAX);
			engine->known = tare_field_flag(fields, item, "known", false);
			title = tare_field_word(fields, item, "title", true);
			snprintf(engine->title, sizeof engine->title, "%s", title ? title : "");
		}
		tare_fields_leave(fields, mark);
	}
}

static void decode_kernel(struct tare_fields *fields, json_t *item, struct tare_kernel_list *list)
{
	const char *name = tare_field_word(fields, item, "name", false);
	struct tare_kernel_entry *kernel;

	if (!name)
		return;
	kernel = tare_kernel_list_add(list, name);
	if (!kernel) {
		tare_fields_out_of_memory(fields);
		return;
	}
	for (int v = 0; v < TARE_KERNEL_VALUE_COUNT; v++)
		kernel->value[v] =
		    tare_field_integer_or(fields, item, tare_kernel_rows[v].key, 0, INT64_MAX, -1);
	tare_field_text(fields, item, "parameters", true, &kernel->parameters);
}

static void decode_kernels(struct tare_fields *fields, json_t *object,
                           struct tare_device_entry *device)
{
	json_t *built = tare_field_object(fields, object, "kernels", true);
	size_t mark = tare_fields_enter(fields, "kernels");
	json_t *list = tare_field_array(fields, built, "kernels", true);
	const char *file = built ? tare_field_word(fields, built, "file", false) : NULL;

	if (file && !(device->kernels = tare_kernel_list_new(file)))
		tare_fields_out_of_memory(fields);
	if (device->kernels)
		tare_field_text(fields, built, "absent", true, &device->kernels->absent);
	for (size_t i = 0; device->kernels && i < json_array_size(list); i++) {
		size_t inner = tare_fields_enter_element(fields, "kernels", i);
		json_t *item = tare_field_as_object(fields, json_array_get(list, i));
		if (item)
			decode_kernel(fields, item, device->kernels);
		tare_fields_leave(fields, inner);
	}
	tare_fields_leave(fields, mark);
}

static void decode_device(struct tare_fields *fields, json_t *object, struct tare_result *result)
{
	struct tare_device_entry *device;

	if (!object)
		return;
	device = tare_result_add_device(result);
	tare_field_text(fields, object, "backend", false, &device->backend);
	tare_field_text(fields, object, "backend_title", false, &device->backend_title);
	device->index = (uint32_t)tare_field_integer(fields, object, "index", 0, UINT32_MAX);
	device->number = (uint32_t)tare_field_integer(fields, object, "number", 0, UINT32_MAX);
	tare_field_text(fields, object, "same_by", true, &device->same_by);
	decode_facts(fields, object, &device->facts);
	decode_engines(fields, object, device);
	decode_kernels(fields, object, device);
}

static void decode_absence(struct tare_fields *fields, json_t *object, struct tare_result *result)
{
	const char *backend, *reason, *action;

	if (!object)
		return;
	backend = tare_field_word(fields, object, "backend", false);
	reason = tare_field_word(fields, object, "reason", false);
	action = tare_field_word(fields, object, "action", true);
	if (fields->status == 0)
		tare_result_add_absence(result, backend, reason, action);
}

void tare_decode_devices(struct tare_fields *fields, json_t *root, struct tare_result *result)
{
	json_t *one = tare_field_object(fields, root, "device", true);
	json_t *list = tare_field_array(fields, root, "devices", true);
	json_t *absences = tare_field_array(fields, root, "absences", true);

	if (one && list)
		tare_fields_fail(fields, "device", "must be null where there is a list of devices");
	if (one) {
		size_t mark = tare_fields_enter(fields, "device");
		decode_device(fields, one, result);
		tare_fields_leave(fields, mark);
	}
	for (size_t i = 0; i < json_array_size(list) && fields->status == 0; i++) {
		size_t mark = tare_fields_enter_element(fields, "devices", i);
		decode_device(fields, tare_field_as_object(fields, json_array_get(list, i)),
		              result);
		tare_fields_leave(fields, mark);
	}
	for (size_t i = 0; i < json_array_size(absences) && fields->status == 0; i++) {
		size_t mark = tare_fields_enter_element(fields, "absences", i);
		decode_absence(fields, tare_field_as_object(fields, json_array_get(absences, i)),
		               result);
		tare_fields_leave(fields, mark);
	}
}

static uint64_t decode_counter(struct tare_fields *fields, json_t *object, const char *key)
{
	const char *text = tare_field_word(fields, object, key, false);
	char *end = NULL;
	uint64_t value;

	if (!text)
		return 0;
	errno = 0;
	value = strtoull(text, &end, 10);
	if (!isdigit((unsigned char)*text) || *end || errno) {
		tare_fields_fail(fields, key, "must be the digits of a number below 2^64");
		return 0;
	}
	return value;
}

static void decode_fit(struct tare_fields *fields, json_t *object, struct tare_clock_fit *fit)
{
	fit->origin_host.ns =
	    tare_field_integer(fields, object, "origin_host_ns", INT64_MIN, INT64_MAX);
	fit->origin_ticks = decode_counter(fields, object, "origin_ticks");
	fit->drift_ppm = tare_field_number(fields, object, "drift_ppm");
	fit->drift_error_ppm = tare_field_number(fields, object, "drift_error_ppm");
	fit->residual_ns = tare_field_integer(fields, object, "residual_ns", 0, INT64_MAX);
	fit->tightest_bracket_ns =
	    tare_field_integer(fields, object, "tightest_bracket_ns", 0, INT64_MAX);
	fit->pairs = (size_t)tare_field_integer(fields, object, "pairs", 0, INT64_MAX);
}

void tare_decode_clock(struct tare_fields *fields, json_t *root, struct tare_clock_quality *clock)
{
	json_t *object = tare_field_object(fields, root, "clock", true);
	size_t mark = tare_fields_enter(fields, "clock");
	json_t *rate = tare_field_object(fields, object, "rate", true);
	json_t *fit = tare_field_object(fields, object, "fit", true);
	size_t inner;

	if (rate) {
		inner = tare_fields_enter(fields, "rate");
		clock->present = true;
		// At least 1 each: they divide.
		clock->rate.hz_numerator =
		    (uint64_t)tare_field_integer(fields, rate, "hz_numerator", 1, INT64_MAX);
		clock->rate.hz_denominator =
		    (uint64_t)tare_field_integer(fields, rate, "hz_denominator", 1, INT64_MAX);
		clock->rate.valid_bits =
		    (uint32_t)tare_field_integer(fields, rate, "valid_bits", 1, 64);
		clock->rate.resolution_ticks =
		    (uint64_t)tare_field_integer(fields, rate, "resolution_ticks", 1, INT64_MAX);
		tare_fields_leave(fields, inner);
	}
	if (fit && !rate)
		tare_fields_fail(fields, "fit", "needs a rate beside it");
	if (fit) {
		inner = tare_fields_enter(fields, "fit");
		clock->fitted = true;
		clock->fit.rate = clock->rate;
		decode_fit(fields, fit, &clock->fit);
		tare_fields_leave(fields, inner);
	}
	clock->floor_ns = tare_field_integer_or(fields, object, "floor_ns", 0, INT64_MAX, -1);
	tare_field_text(fields, object, "note", true, &clock->note);
	tare_fields_leave(fields, mark);
}
#endif
