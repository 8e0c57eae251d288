// SPDX-License-Identifier: Apache-2.0
// The fields of what the device did while it was measured: a line a field (record.h).
#include "result/document.h"

#if TARE_HAVE_JSON
#include "result/result.h"

#include <math.h>
#include <string.h>

// ---- ranges: the table of values is model/telemetry.c's

struct told_range {
	const char *unit;
	struct tare_telemetry_range range;
};

#define STRUCTURE struct told_range
static const struct tare_json_field range_fields[] = {
	TARE_JSON_FIELD("unit", TEXT, unit, .flags = TARE_JSON_UNREAD),
	TARE_JSON_FIELD("n", WHOLE, range.n, .least = 1),
	TARE_JSON_FIELD("low", NUMBER, range.low),
	TARE_JSON_FIELD("median", NUMBER, range.median),
	TARE_JSON_FIELD("mean", NUMBER, range.mean),
	TARE_JSON_FIELD("high", NUMBER, range.high),
};
static const struct tare_json_record range_record =
    TARE_JSON_RECORD(range_fields, .name = "telemetry_range",
                     .doc = "Over the readings in which the device was not idle (over all, where "
                            "there is none); null: not told.");

#undef STRUCTURE
#define STRUCTURE struct tare_telemetry_section

static const char *value_name(size_t index)
{
	return index < TARE_TELEMETRY_VALUES ? tare_telemetry_value_rows[index].key : NULL;
}

static void put_ranges(struct tare_json *json, json_t *object, const void *structure)
{
	const struct tare_telemetry_section *section = structure;

	for (int v = 0; v < TARE_TELEMETRY_VALUES; v++) {
		const struct told_range told = { tare_telemetry_value_rows[v].unit,
			                         section->summary.of[v] };
		tare_json_put(json, object, tare_telemetry_value_rows[v].key,
		              told.range.n ? tare_json_record(json, &range_record, &told)
		                           : json_null());
	}
}

static void take_ranges(struct tare_fields *fields, json_t *object, void *structure)
{
	struct tare_telemetry_section *section = structure;

	for (int v = 0; v < TARE_TELEMETRY_VALUES; v++) {
		const char *key = tare_telemetry_value_rows[v].key;
		json_t *entry = tare_field_object(fields, object, key, true);
		size_t mark = tare_fields_enter(fields, key);
		struct told_range told = { NULL, { 0, NAN, NAN, NAN, NAN } };
		tare_json_read_record(fields, &range_record, entry, &told);
		section->summary.of[v] = told.range;
		tare_fields_leave(fields, mark);
	}
}

// ---- throttling

static const char *reason_name(size_t index)
{
	return index < TARE_THROTTLE_COUNT ? tare_throttle_key((enum tare_throttle)index) : NULL;
}

// Each reason that was seen, with its share of the readings.
static void put_reasons(struct tare_json *json, json_t *object, const void *structure)
{
	const struct tare_telemetry_section *section = structure;
	json_t *reasons = json_object();

	for (int r = 0; r < TARE_THROTTLE_COUNT; r++)
		if (section->summary.throttle_share[r] > 0)
			tare_json_put(json, reasons, tare_throttle_key((enum tare_throttle)r),
			              tare_json_number(section->summary.throttle_share[r]));
	tare_json_put(json, object, "reasons", reasons);
}

static void take_reasons(struct tare_fields *fields, json_t *object, void *structure)
{
	struct tare_telemetry_section *section = structure;
	json_t *list = tare_field_object(fields, object, "reasons", false);
	size_t mark = tare_fields_enter(fields, "reasons");

	for (int r = 0; list && r < TARE_THROTTLE_COUNT; r++) {
		const char *key = tare_throttle_key((enum tare_throttle)r);
		section->summary.throttle_share[r] =
		    json_object_get(list, key) ? tare_field_share(fields, list, key) : 0;
	}
	tare_fields_leave(fields, mark);
}

static const struct tare_json_field throttle_fields[] = {
	TARE_JSON_FIELD("n", WHOLE, summary.throttle_n, .least = 1),
	TARE_JSON_FIELD("slowed_share", SHARE, summary.slowed_share,
	                .doc = "Of the readings: the device slowed itself down."),
	TARE_JSON_FIELD("reasons", OWN, summary, .put = put_reasons, .take = take_reasons,
	                .name_of = reason_name,
	                .doc = "What held the clock back, and in what share of the readings; "
	                       "`idle` of all readings.",
	                .schema = "{'type': 'object', 'additionalProperties': {'type': 'number', "
	                          "'minimum': 0, 'maximum': 1}}"),
};
static const struct tare_json_record throttle = TARE_JSON_RECORD(throttle_fields);

// ---- the section: why nothing is known, or all of it

static const struct tare_json_field absent_fields[] = {
	TARE_JSON_FIELD("absent", TEXT, absent, .flags = TARE_JSON_OR_MISSING,
	                .doc = "Why nothing is known.", .schema = "{'minLength': 1}"),
};
static const struct tare_json_record absent_record = TARE_JSON_RECORD(absent_fields);

static const struct tare_json_field told_fields[] = {
	TARE_JSON_FIELD("absent", TEXT, absent, .flags = TARE_JSON_OR_NULL,
	                .schema = "{'type': 'null'}"),
	TARE_JSON_FIELD("readings", WHOLE, summary.readings, .least = 1,
	                .doc = "Taken while samples were."),
	TARE_JSON_FIELD("loaded", WHOLE, summary.loaded,
	                .doc = "Of them: the device did not call itself idle."),
	TARE_JSON_FIELD("", OWN, summary.of, .flags = TARE_JSON_OR_NULL, .of = &range_record,
	                .put = put_ranges, .take = take_ranges, .name_of = value_name),
	TARE_JSON_FIELD("clock_moved_share", SHARE, summary.moved_share,
	                .doc = "Of the readings: the clock was more than 2 % below its highest."),
	TARE_JSON_FIELD("throttle", OBJECT, summary, .of = &throttle,
	                TARE_JSON_KNOWN(summary.throttle_n), .doc = "Null: not told."),
};

static void check_told(struct tare_fields *fields, json_t *object, void *structure)
{
	struct tare_telemetry_summary *summary =
	    &((struct tare_telemetry_section *)structure)->summary;

	(void)fields, (void)object;
	if (summary->throttle_n)
		return;
	summary->slowed_share = NAN;
	for (int r = 0; r < TARE_THROTTLE_COUNT; r++)
		summary->throttle_share[r] = NAN;
}

const struct tare_json_record tare_telemetry_record = TARE_JSON_RECORD(
    told_fields, .check = check_told, .name = "telemetry", .otherwise = &absent_record);

void tare_put_telemetry(struct tare_json *json, json_t *object, const void *structure)
{
	const struct tare_telemetry_section *section =
	    &((const struct tare_result *)structure)->telemetry;

	tare_json_put(json, object, "telemetry",
	              tare_json_record(json,
	                               section->absent ? &absent_record : &tare_telemetry_record,
	                               section));
}

void tare_take_telemetry(struct tare_fields *fields, json_t *object, void *structure)
{
	struct tare_telemetry_section *section = &((struct tare_result *)structure)->telemetry;
	json_t *telemetry = tare_field_object(fields, object, "telemetry", true);
	size_t mark = tare_fields_enter(fields, "telemetry");

	section->present = telemetry != NULL;
	tare_json_read_record(fields, &absent_record, telemetry, section);
	if (!section->absent)
		tare_json_read_record(fields, &tare_telemetry_record, telemetry, section);
	tare_fields_leave(fields, mark);
}
#endif
