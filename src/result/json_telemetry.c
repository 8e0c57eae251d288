// SPDX-License-Identifier: Apache-2.0
#include "result/json_telemetry.h"

#if TARE_HAVE_JSON
#include "result/json_layout.h"

#include <math.h>
#include <string.h>

static json_t *number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

// Takes over `value`; clears *made where memory ran out.
static void put(bool *made, json_t *object, const char *key, json_t *value)
{
	if (!value || json_object_set_new_nocheck(object, key, value) < 0)
		*made = false;
}

static json_t *range(bool *made, const struct tare_telemetry_range *range, const char *unit)
{
	json_t *object;

	if (range->n == 0)
		return json_null();
	object = json_object();
	put(made, object, "unit", tare_json_text(unit));
	put(made, object, "n", json_integer((json_int_t)range->n));
	put(made, object, "low", number(range->low));
	put(made, object, "median", number(range->median));
	put(made, object, "mean", number(range->mean));
	put(made, object, "high", number(range->high));
	return object;
}

// Each reason that was seen, with its share of the readings.
static json_t *reasons(bool *made, const struct tare_telemetry_summary *summary)
{
	json_t *object = json_object();

	for (int r = 0; r < TARE_THROTTLE_COUNT; r++)
		if (summary->throttle_share[r] > 0)
			put(made, object, tare_throttle_key((enum tare_throttle)r),
			    number(summary->throttle_share[r]));
	return object;
}

static json_t *throttle(bool *made, const struct tare_telemetry_summary *summary)
{
	json_t *object;

	if (summary->throttle_n == 0)
		return json_null();
	object = json_object();
	put(made, object, "n", json_integer((json_int_t)summary->throttle_n));
	put(made, object, "slowed_share", number(summary->slowed_share));
	put(made, object, "reasons", reasons(made, summary));
	return object;
}

json_t *tare_json_telemetry(const struct tare_telemetry_section *section)
{
	const struct tare_telemetry_summary *summary = &section->summary;
	json_t *object = json_object();
	bool made = object != NULL;

	put(&made, object, "absent", tare_json_text(section->absent));
	if (!section->absent) {
		put(&made, object, "readings", json_integer((json_int_t)summary->readings));
		put(&made, object, "loaded", json_integer((json_int_t)summary->loaded));
		for (int v = 0; v < TARE_TELEMETRY_VALUES; v++)
			put(&made, object, tare_telemetry_value_rows[v].key,
			    range(&made, &summary->of[v], tare_telemetry_value_rows[v].unit));
		put(&made, object, "clock_moved_share", number(summary->moved_share));
		put(&made, object, "throttle", throttle(&made, summary));
	}
	if (made)
		return object;
	json_decref(object);
	return NULL;
}

static void decode_range(struct tare_fields *fields, json_t *object, const char *key,
                         struct tare_telemetry_range *range)
{
	json_t *entry = tare_field_object(fields, object, key, true);
	size_t mark = tare_fields_enter(fields, key);

	*range = (struct tare_telemetry_range){ 0, NAN, NAN, NAN, NAN };
	if (entry) {
		range->n = (size_t)tare_field_integer(fields, entry, "n", 1, INT64_MAX);
		range->low = tare_field_number(fields, entry, "low");
		range->median = tare_field_number(fields, entry, "median");
		range->mean = tare_field_number(fields, entry, "mean");
		range->high = tare_field_number(fields, entry, "high");
	}
	tare_fields_leave(fields, mark);
}

// A share outside 0 to 1 is none.
static double share(struct tare_fields *fields, json_t *object, const char *key)
{
	double value = tare_field_number(fields, object, key);

	if (value < 0 || value > 1)
		tare_fields_fail(fields, key, "must be from 0 to 1");
	return value;
}

static void decode_throttle(struct tare_fields *fields, json_t *object,
                            struct tare_telemetry_summary *summary)
{
	json_t *entry = tare_field_object(fields, object, "throttle", true);
	size_t mark = tare_fields_enter(fields, "throttle"), inner;
	json_t *list = entry ? tare_field_object(fields, entry, "reasons", false) : NULL;

	summary->slowed_share = NAN;
	for (int r = 0; r < TARE_THROTTLE_COUNT; r++)
		summary->throttle_share[r] = NAN;
	if (entry) {
		summary->throttle_n = (size_t)tare_field_integer(fields, entry, "n", 1, INT64_MAX);
		summary->slowed_share = share(fields, entry, "slowed_share");
	}
	inner = tare_fields_enter(fields, "reasons");
	for (int r = 0; list && r < TARE_THROTTLE_COUNT; r++) {
		const char *key = tare_throttle_key((enum tare_throttle)r);
		summary->throttle_share[r] =
		    json_object_get(list, key) ? share(fields, list, key) : 0;
	}
	tare_fields_leave(fields, inner);
	tare_fields_leave(fields, mark);
}

void tare_decode_telemetry(struct tare_fields *fields, json_t *root,
                           struct tare_telemetry_section *section)
{
	json_t *object = tare_field_object(fields, root, "telemetry", true);
	size_t mark = tare_fields_enter(fields, "telemetry");
	struct tare_telemetry_summary *summary = &section->summary;

	if (object) {
		section->present = true;
		tare_field_text(fields, object, "absent", true, &section->absent);
	}
	if (object && !section->absent) {
		summary->readings =
		    (size_t)tare_field_integer(fields, object, "readings", 1, INT64_MAX);
		summary->loaded =
		    (size_t)tare_field_integer(fields, object, "loaded", 0, INT64_MAX);
		for (int v = 0; v < TARE_TELEMETRY_VALUES; v++)
			decode_range(fields, object, tare_telemetry_value_rows[v].key,
			             &summary->of[v]);
		summary->moved_share = share(fields, object, "clock_moved_share");
		decode_throttle(fields, object, summary);
	}
	tare_fields_leave(fields, mark);
}
#endif
