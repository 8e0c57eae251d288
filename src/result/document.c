// SPDX-License-Identifier: Apache-2.0
// The fields of a document: a line a field (record.h).
#include "result/document.h"

#if TARE_HAVE_JSON
#include "result/result.h"

#include <string.h>

enum { MAXIMUM_PARTS = 64 };

// ---- what a document has lists of

#define STABLE_WORD .doc = "A stable word.", .schema = "{'pattern': '^[a-z0-9-]+$'}"

#define STRUCTURE struct tare_warning
static const struct tare_json_field warning_fields[] = {
	TARE_JSON_FIELD("id", TEXT, id, STABLE_WORD),
	TARE_JSON_FIELD("message", TEXT, message, .doc = "What is so."),
	TARE_JSON_FIELD("action", TEXT, action, .flags = TARE_JSON_OR_NULL,
	                .doc = "What to do about it."),
};
static const struct tare_json_record warning = TARE_JSON_RECORD(warning_fields);

#undef STRUCTURE
#define STRUCTURE struct tare_conclusion
static const struct tare_json_field conclusion_fields[] = {
	TARE_JSON_FIELD("id", TEXT, id, STABLE_WORD),
	TARE_JSON_FIELD("text", TEXT, text, .doc = "One or two sentences."),
};
static const struct tare_json_record conclusion = TARE_JSON_RECORD(conclusion_fields);

#undef STRUCTURE
#define STRUCTURE struct tare_backend_absence
static const struct tare_json_field absence_fields[] = {
	TARE_JSON_FIELD("backend", TEXT, backend),
	TARE_JSON_FIELD("reason", TEXT, reason),
	TARE_JSON_FIELD("action", TEXT, action, .flags = TARE_JSON_OR_NULL),
};
static const struct tare_json_record absence = TARE_JSON_RECORD(absence_fields);

// ---- the clock

#undef STRUCTURE
#define STRUCTURE struct tare_result

static bool has_clock(const void *result)
{
	const struct tare_clock_quality *clock = &((const struct tare_result *)result)->clock;

	return clock->present || clock->note || clock->floor_ns >= 0;
}

static bool has_clock_fit(const void *result)
{
	return ((const struct tare_result *)result)->clock.present;
}

// Rates are at least 1: they divide.
static const struct tare_json_field clock_rate_fields[] = {
	TARE_JSON_FIELD("hz_numerator", WHOLE, clock.rate.hz_numerator, .least = 1),
	TARE_JSON_FIELD("hz_denominator", WHOLE, clock.rate.hz_denominator, .least = 1),
	TARE_JSON_FIELD("valid_bits", WHOLE, clock.rate.valid_bits, .least = 1, .most = 64),
	TARE_JSON_FIELD("resolution_ticks", WHOLE, clock.rate.resolution_ticks, .least = 1),
};
static const struct tare_json_record clock_rate = TARE_JSON_RECORD(clock_rate_fields);

static const struct tare_json_field clock_fit_fields[] = {
	TARE_JSON_FIELD("origin_host_ns", WHOLE, clock.fit.origin_host.ns, .least = INT64_MIN),
	TARE_JSON_FIELD("origin_ticks", COUNTER, clock.fit.origin_ticks,
	                .doc = "Digits as text: a counter has 64 bits, a JSON number may not."),
	TARE_JSON_FIELD("drift_ppm", NUMBER, clock.fit.drift_ppm,
	                .doc = "Of host time over device time: a device clock that gains on the "
	                       "host's has a negative one."),
	TARE_JSON_FIELD("drift_error_ppm", NUMBER, clock.fit.drift_error_ppm),
	TARE_JSON_FIELD("residual_ns", WHOLE, clock.fit.residual_ns,
	                .doc = "The largest possible error of the mapping."),
	TARE_JSON_FIELD("tightest_bracket_ns", WHOLE, clock.fit.tightest_bracket_ns),
	TARE_JSON_FIELD("pairs", WHOLE, clock.fit.pairs),
};
static const struct tare_json_record clock_fit = TARE_JSON_RECORD(clock_fit_fields);

static const struct tare_json_field clock_fields[] = {
	TARE_JSON_FIELD("rate", OBJECT, clock, .of = &clock_rate, TARE_JSON_KNOWN(clock.present),
	                .doc = "hz_numerator / hz_denominator ticks a second, exactly. Null: no "
	                       "device clock was used."),
	TARE_JSON_FIELD("fit", OBJECT, clock, .of = &clock_fit, .known = has_clock_fit,
	                TARE_JSON_KNOWN(clock.fitted),
	                .doc = "How device time maps to host time; null without clock pairs."),
	TARE_JSON_FIELD("floor_ns", WHOLE, clock.floor_ns, .flags = TARE_JSON_MINUS_NULL,
	                .doc = "Between two stamps taken back to back."),
	TARE_JSON_FIELD("note", TEXT, clock.note, .flags = TARE_JSON_OR_NULL),
};

static void check_clock(struct tare_fields *fields, json_t *object, void *structure)
{
	struct tare_clock_quality *clock = &((struct tare_result *)structure)->clock;

	(void)object;
	if (clock->fitted && !clock->present)
		tare_fields_fail(fields, "fit", "needs a rate beside it");
	clock->fit.rate = clock->rate;
}

static const struct tare_json_record the_clock =
    TARE_JSON_RECORD(clock_fields, .check = check_clock, .name = "clock");

// ---- the document

static const char *const schema[] = { TARE_RESULT_SCHEMA, NULL };
static const char *const tool_name[] = { "tare", NULL };

static const struct tare_json_field tool_fields[] = {
	TARE_JSON_FIELD("name", CONSTANT, version, .words = tool_name, .flags = TARE_JSON_UNREAD),
	TARE_JSON_FIELD("version", TEXT, version),
};
static const struct tare_json_record tool = TARE_JSON_RECORD(tool_fields);

static bool lists_devices(const void *structure)
{
	const struct tare_result *result = structure;

	return result->device_count > 1 || strcmp(result->command, "devices") == 0;
}

// The device that was measured; null where there is a list.
static void put_device(struct tare_json *json, json_t *object, const void *structure)
{
	const struct tare_result *result = structure;

	tare_json_put(json, object, "device",
	              lists_devices(result) || !result->device_count
	                  ? json_null()
	                  : tare_json_record(json, &tare_device_record, result->devices));
}

static void take_device(struct tare_fields *fields, json_t *object, void *structure)
{
	json_t *device = tare_field_object(fields, object, "device", true);
	size_t mark;

	if (!device)
		return;
	if (json_is_array(json_object_get(object, "devices")))
		tare_fields_fail(fields, "device", "must be null where there is a list of devices");
	mark = tare_fields_enter(fields, "device");
	tare_json_read_record(fields, &tare_device_record, device,
	                      tare_result_add_device(structure));
	tare_fields_leave(fields, mark);
}

static void put_parts(struct tare_json *json, json_t *object, const void *structure)
{
	const struct tare_result *result = structure;
	json_t *array = json_array();

	for (size_t i = 0; i < result->part_count; i++)
		tare_json_push(json, array,
		               tare_json_record(json, &tare_document_record, result->parts[i]));
	tare_json_put(json, object, "parts", array);
}

static void take_part(struct tare_fields *fields, json_t *object, struct tare_result *result)
{
	struct tare_result *part = object ? tare_result_new("") : NULL;

	if (part && tare_result_add_part(result, part) == 0)
		tare_json_read_record(fields, &tare_document_record, object, part);
	else if (object)
		tare_fields_out_of_memory(fields);
}

static void take_parts(struct tare_fields *fields, json_t *object, void *structure)
{
	json_t *list = tare_field_array(fields, object, "parts", true);

	// Whoever reads a part is within the whole.
	if (list && fields->path[0])
		tare_fields_fail(fields, "parts", "a part has no parts of its own");
	if (json_array_size(list) > MAXIMUM_PARTS)
		tare_fields_fail(fields, "parts", "has more than %d documents", MAXIMUM_PARTS);
	for (size_t i = 0; i < json_array_size(list) && fields->status == 0; i++) {
		size_t mark = tare_fields_enter_element(fields, "parts", i);
		take_part(fields, tare_field_as_object(fields, json_array_get(list, i)), structure);
		tare_fields_leave(fields, mark);
	}
}

// Made of the cells for those who read the document: nobody reads them back.
static void put_tables(struct tare_json *json, json_t *object, const void *structure)
{
	json_t *tables = json->tables ? json->tables(json, structure) : NULL;

	if (json_array_size(tables))
		tare_json_put(json, object, "tables", tables);
	else
		json_decref(tables);
}

static bool lists_absences(const void *result)
{
	return lists_devices(result) || ((const struct tare_result *)result)->absence_count;
}

static const struct tare_json_field document_fields[] = {
	TARE_JSON_FIELD("schema", CONSTANT, command, .words = schema),
	TARE_JSON_FIELD("tool", OBJECT, version, .of = &tool),
	TARE_JSON_FIELD(
	    "written_at", TEXT, written_at, .flags = TARE_JSON_OR_NULL,
	    .doc =
	        "UTC; 1970-01-01T00:00:00Z on the simulated device, whose results do not change.",
	    .schema = "{'pattern': '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$'}"),
	TARE_JSON_FIELD("command", TEXT, command, .schema = "{'pattern': '^[a-z]+$'}"),
	TARE_JSON_FIELD(
	    "interrupted", TRUTH, interrupted,
	    .doc =
	        "The user stopped the command; the document holds what was measured until then."),
	TARE_JSON_FIELD("parameters", LABELS, parameters),
	TARE_JSON_FIELD("host", LABELS, host, .doc = "The machine, without its name."),
	TARE_JSON_FIELD("device", OWN, devices, .flags = TARE_JSON_OR_NULL,
	                .of = &tare_device_record, .put = put_device, .take = take_device,
	                .doc = "The device that was measured; null where `devices` lists several."),
	TARE_JSON_FIELD("clock", OBJECT, clock, .of = &the_clock, .known = has_clock),
	TARE_JSON_FIELD(
	    "telemetry", OWN, telemetry, .flags = TARE_JSON_LEFT_OUT,
	    TARE_JSON_KNOWN(telemetry.present), .of = &tare_telemetry_record,
	    .put = tare_put_telemetry, .take = tare_take_telemetry,
	    .doc =
	        "What the device did while it was measured. Left out where nothing was measured."),
	TARE_JSON_FIELD("kernel_timestamp", LABELS, kernel_timestamp, .flags = TARE_JSON_LEFT_OUT,
	                TARE_JSON_KNOWN(kernel_timestamp.count),
	                .doc = "Raw stamps of one launch by both counters of the device: global_* "
	                       "runs freely, kernel_* counts while the kernel was active. Only "
	                       "where the API has both (Level Zero)."),
	TARE_JSON_ROWS(
	    "conclusions", conclusions, conclusion_count, &conclusion, .flags = TARE_JSON_LEFT_OUT,
	    TARE_JSON_KNOWN(conclusion_count),
	    .doc = "What follows from the figures, in plain words. Left out where there is none."),
	TARE_JSON_ROWS("warnings", warnings, warning_count, &warning),
	TARE_JSON_ROWS("devices", devices, device_count, &tare_device_record,
	               .flags = TARE_JSON_LEFT_OUT, .known = lists_devices),
	TARE_JSON_ROWS("absences", absences, absence_count, &absence, .flags = TARE_JSON_LEFT_OUT,
	               .known = lists_absences, .doc = "The backends that gave no device."),
	TARE_JSON_ROWS("plots", plots, plot_count, &tare_plot_record),
	TARE_JSON_ROWS("cells", cells, cell_count, &tare_cell_record,
	               .flags = TARE_JSON_LEFT_OUT | TARE_JSON_OR_MISSING),
	TARE_JSON_FIELD("tables", OWN, cells, .flags = TARE_JSON_LEFT_OUT | TARE_JSON_UNREAD,
	                .put = put_tables, .schema = "{'$ref': '#/$defs/tables'}"),
	TARE_JSON_FIELD(
	    "parts", OWN, parts, .flags = TARE_JSON_LEFT_OUT, TARE_JSON_KNOWN(part_count),
	    .most = MAXIMUM_PARTS, .put = put_parts, .take = take_parts,
	    .doc = "The documents of a command that runs others (checkup), or of the devices that "
	           "it measured one after the other (--device all), each complete in itself; the "
	           "cells beside them are of all together, with labels device and peer. Left out "
	           "where there is none; parts have no parts.",
	    .schema = "{'type': 'array', 'items': {'$ref': '#', 'not': {'required': ['parts']}}}"),
};

// A list of devices has no cells.
static void check_document(struct tare_fields *fields, json_t *object, void *structure)
{
	(void)structure;
	if (!json_object_get(object, "devices") && !json_is_array(json_object_get(object, "cells")))
		tare_fields_fail(fields, "cells", "is missing");
}

const struct tare_json_record tare_document_record =
    TARE_JSON_RECORD(document_fields, .check = check_document,
                     .doc = "What a tare command measured. A reader passes over members it does "
                            "not know; a member whose value is unknown is null, never 0.",
                     .schema = "{'if': {'properties': {'command': {'const': 'devices'}}}, "
                               "'then': {'required': ['devices', 'absences'], 'properties': "
                               "{'device': {'type': 'null'}}}, "
                               "'else': {'required': ['cells']}}");
#endif
