// SPDX-License-Identifier: Apache-2.0
// The fields of what the device did while it was measured: a line a field (record.h).
#include "result/document.h"

#if TARE_HAVE_JSON
#include "result/result.h"

#include <math.h>
#include <string.h>

// ---- ranges: the table of values is model/telemetry.c's

#define STRUCTURE struct tare_telemetry_range
static const struct tare_json_field range_fields[] = {
	TARE_JSON_FIELD("n", WHOLE, n, .least = 1), TARE_JSON_FIELD("low", NUMBER, low),
	TARE_JSON_FIELD("median", NUMBER, median),  TARE_JSON_FIELD("mean", NUMBER, mean),
	TARE_JSON_FIELD("high", NUMBER, high),
};
static const struct tare_json_record range_record = TARE_JSON_RECORD(range_fields);

#undef STRUCTURE
#define STRUCTURE struct tare_telemetry_section

static json_t *range(struct tare_json *json, const struct tare_telemetry_range *range,
                     const char *unit)
{
	json_t *object;

	if (range->n == 0)
		return json_null();
	object = json_object();
	tare_json_put(json, object, "unit", tare_json_text(unit));
	tare_json_put_record(json, object, &range_record, range);
	return object;
}

static void put_ranges(struct tare_json *json, json_t *object, const void *structure)
{
	const struct tare_telemetry_section *section = structure;

	for (int v = 0; v < TARE_TELEMETRY_VALUES; v++)
		tare_json_put(
		    json, object, tare_telemetry_value_rows[v].key,
		    range(json, &section->summary.of[v], tare_telemetry_value_rows[v].unit));
}

static void take_ranges(struct tare_fields *fields, json_t *object, void *structure)
{
	struct tare_telemetry_section *section = structure;

	for (int v = 0; v < TARE_TELEMETRY_VALUES; v++) {
		const char *key = tare_telemetry_value_rows[v].key;
		json_t *entry = tare_field_object(fields, object, key, true);
		size_t mark = tare_fields_enter(fields, key);
		section->summary.of[v] = (struct tare_telemetry_range){ 0, NAN, NAN, NAN, NAN };
		tare_json_read_record(fields, &range_record, entry, &section->summary.of[v]);
		tare_fields_leave(fields, mark);
	}
}

// ---- throttling

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
	TARE_JSON_FIELD("slowed_share", SHARE, summary.slowed_share),
	TARE_JSON_FIELD("reasons", OWN, summary, .put = put_reasons, .take = take_reasons),
};
static const struct tare_json_record throttle = TARE_JSON_RECORD(throttle_fields);

// ---- the section: why nothing is known, or all of it

static const struct tare_json_field told_fields[] = {
	TARE_JSON_FIELD("absent", TEXT, absent, .flags = TARE_JSON_OR_NULL),
	TARE_JSON_FIELD("readings", WHOLE, summary.readings, .least = 1),
	TARE_JSON_FIELD("loaded", WHOLE, summary.loaded),
	TARE_JSON_FIELD("", OWN, summary.of, .put = put_ranges, .take = take_ranges),
	TARE_JSON_FIELD("clock_moved_share", SHARE, summary.moved_share),
	TARE_JSON_FIELD("throttle", OBJECT, summary, .of = &throttle,
	                TARE_JSON_KNOWN(summary.throttle_n)),
};

// The first field alone.
static const struct tare_json_record absent_record = { told_fields, 1, NULL };

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

const struct tare_json_record tare_telemetry_record =
    TARE_JSON_RECORD(told_fields, .check = check_told);

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
