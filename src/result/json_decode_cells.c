// SPDX-License-Identifier: Apache-2.0
#include "result/json_decode.h"

#if TARE_HAVE_JSON
#include <math.h>
#include <stdlib.h>

enum { MAXIMUM_LABELS = 256 };

// Samples stay so far from the ends of int64_t that nobody's difference of two overflows.
#define SAMPLE_LIMIT (INT64_MAX / 4)

void tare_decode_labels(struct tare_fields *fields, json_t *object, const char *key,
                        struct tare_labels *labels)
{
	json_t *list = tare_field_object(fields, object, key, false);
	size_t mark = tare_fields_enter(fields, key);
	const char *name;
	json_t *value;

	if (json_object_size(list) > MAXIMUM_LABELS)
		tare_fields_fail(fields, NULL, "has more than %d members", MAXIMUM_LABELS);
	json_object_foreach(list, name, value)
	{
		int status = 0;
		if (fields->status < 0)
			break;
		if (!tare_text_is_plain(name))
			tare_fields_fail(fields, NULL, "has a name with control characters");
		else if (json_is_string(value) && !tare_text_is_plain(json_string_value(value)))
			tare_fields_fail(fields, name, "holds control characters");
		else if (json_is_string(value))
			status = tare_labels_set_text(labels, name, json_string_value(value));
		else if (json_is_integer(value))
			status = tare_labels_set_number(labels, name, json_integer_value(value));
		else
			tare_fields_fail(fields, name, "must be a text or a whole number");
		if (status < 0)
			tare_fields_out_of_memory(fields);
	}
	tare_fields_leave(fields, mark);
}

static void decode_samples(struct tare_fields *fields, json_t *object, struct tare_cell *cell)
{
	json_t *list = tare_field_array(fields, object, "samples", false);
	size_t n = json_array_size(list);

	// The figures speak of these samples: whoever reads the document relies on their number.
	cell->summary.n = (size_t)tare_field_integer(fields, object, "n", 0, INT64_MAX);
	if (cell->summary.n != n) {
		tare_fields_fail(fields, "n", "is %zu, but there are %zu samples", cell->summary.n,
		                 n);
		cell->summary.n = 0;
	}
	if (cell->summary.n == 0)
		return;
	cell->samples = calloc(n, sizeof *cell->samples);
	if (!cell->samples) {
		cell->summary.n = 0;
		tare_fields_out_of_memory(fields);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		const json_t *value = json_array_get(list, i);
		if (!json_is_integer(value) || json_integer_value(value) > SAMPLE_LIMIT ||
		    json_integer_value(value) < -SAMPLE_LIMIT) {
			size_t mark = tare_fields_enter_element(fields, "samples", i);
			tare_fields_fail(fields, NULL, "must be a whole number within 2^61");
			tare_fields_leave(fields, mark);
			return;
		}
		cell->samples[i] = json_integer_value(value);
	}
}

static void decode_summary(struct tare_fields *fields, json_t *object, struct tare_summary *summary)
{
	json_t *outliers = tare_field_object(fields, object, "outliers", true);
	double interval[2];

	if (summary->n) {
		summary->min =
		    tare_field_integer(fields, object, "min", -SAMPLE_LIMIT, SAMPLE_LIMIT);
		summary->max =
		    tare_field_integer(fields, object, "max", summary->min, SAMPLE_LIMIT);
	}
	summary->median = tare_field_number(fields, object, "median");
	summary->p95 = tare_field_number(fields, object, "p95");
	tare_field_numbers(fields, object, "ci", interval, 2);
	summary->ci_low = interval[0];
	summary->ci_high = interval[1];
	summary->autocorrelation = tare_field_number(fields, object, "autocorrelation");
	summary->effective_n = tare_field_number(fields, object, "effective_n");
	if (outliers) {
		size_t mark = tare_fields_enter(fields, "outliers");
		summary->outliers_mild =
		    (size_t)tare_field_integer(fields, outliers, "mild", 0, INT64_MAX);
		summary->outliers_severe =
		    (size_t)tare_field_integer(fields, outliers, "severe", 0, INT64_MAX);
		tare_fields_leave(fields, mark);
	}
	summary->drifting = tare_field_flag(fields, object, "drifting", false);
	summary->quantised = tare_field_flag(fields, object, "quantised", false);
}

static void decode_rate(struct tare_fields *fields, json_t *object, struct tare_rate *rate)
{
	json_t *value = tare_field_object(fields, object, "rate", true);
	size_t mark = tare_fields_enter(fields, "rate");
	double interval[2];

	if (value) {
		rate->present = true;
		tare_field_text(fields, value, "unit", false, &rate->unit);
		rate->work = tare_field_number(fields, value, "work");
		rate->min = tare_field_number(fields, value, "min");
		rate->median = tare_field_number(fields, value, "median");
		rate->p95 = tare_field_number(fields, value, "p95");
		tare_field_numbers(fields, value, "ci", interval, 2);
		rate->ci_low = interval[0];
		rate->ci_high = interval[1];
	}
	tare_fields_leave(fields, mark);
}

static enum tare_verified decode_verified(struct tare_fields *fields, json_t *object)
{
	json_t *value = json_object_get(object, "verified");

	if (!value || json_is_null(value))
		return TARE_NOT_VERIFIABLE;
	return tare_field_flag(fields, object, "verified", false) ? TARE_VERIFIED : TARE_WRONG;
}

static void decode_cell(struct tare_fields *fields, json_t *object, struct tare_result *result)
{
	static const char *const sources[] = { "device", "host", "model" };
	const char *quantity, *unit;
	size_t source;
	struct tare_cell *cell;

	if (!object)
		return;
	quantity = tare_field_word(fields, object, "quantity", false);
	unit = tare_field_word(fields, object, "unit", false);
	source = tare_field_choice(fields, object, "source", sources, 3);
	if (fields->status < 0)
		return;
	cell = tare_result_add_cell(result, quantity, unit, sources[source]);
	tare_decode_labels(fields, object, "labels", &cell->labels);
	tare_field_text(fields, object, "method", true, &cell->method);
	tare_field_text(fields, object, "absent", true, &cell->absent);
	cell->converged = tare_field_flag(fields, object, "converged", false);
	cell->verified = decode_verified(fields, object);
	decode_samples(fields, object, cell);
	decode_summary(fields, object, &cell->summary);
	decode_rate(fields, object, &cell->rate);
	if (cell->absent && (cell->summary.n || !isnan(cell->summary.median) || cell->rate.present))
		tare_fields_fail(fields, "absent",
		                 "gives a reason for having no figure, but there is one");
}

void tare_decode_cells(struct tare_fields *fields, json_t *root, struct tare_result *result)
{
	json_t *list = tare_field_array(fields, root, "cells", json_object_get(root, "devices"));

	for (size_t i = 0; i < json_array_size(list) && fields->status == 0; i++) {
		size_t mark = tare_fields_enter_element(fields, "cells", i);
		decode_cell(fields, tare_field_as_object(fields, json_array_get(list, i)), result);
		tare_fields_leave(fields, mark);
	}
}

static void decode_axis(struct tare_fields *fields, json_t *object, const char *key,
                        struct tare_axis *axis)
{
	static const char *const scales[] = { "linear", "logarithmic" };
	json_t *value = tare_field_object(fields, object, key, false);
	size_t mark = tare_fields_enter(fields, key);

	if (value) {
		tare_field_text(fields, value, "title", true, &axis->title);
		tare_field_text(fields, value, "unit", true, &axis->unit);
		axis->logarithmic = tare_field_choice(fields, value, "scale", scales, 2) == 1;
	}
	tare_fields_leave(fields, mark);
}

static void decode_points(struct tare_fields *fields, json_t *object,
                          struct tare_plot_series *series)
{
	json_t *list = tare_field_array(fields, object, "points", false);
	size_t count = json_array_size(list);

	if (count == 0)
		return;
	series->points = calloc(count, sizeof *series->points);
	if (!series->points) {
		tare_fields_out_of_memory(fields);
		return;
	}
	series->count = count;
	for (size_t i = 0; i < count && fields->status == 0; i++) {
		size_t mark = tare_fields_enter_element(fields, "points", i);
		double at[4];
		tare_fields_numbers_of(fields, json_array_get(list, i), at, 4);
		series->points[i] = (struct tare_point){ at[0], at[1], at[2], at[3] };
		tare_fields_leave(fields, mark);
	}
}

static void decode_plot_series(struct tare_fields *fields, json_t *object, struct tare_plot *plot)
{
	json_t *list = tare_field_array(fields, object, "series", false);

	for (size_t i = 0; i < json_array_size(list) && fields->status == 0; i++) {
		size_t mark = tare_fields_enter_element(fields, "series", i);
		json_t *item = tare_field_as_object(fields, json_array_get(list, i));
		const char *name = item ? tare_field_word(fields, item, "name", false) : NULL;
		struct tare_plot_series *series = name ? tare_plot_add_series(plot, name) : NULL;
		if (series)
			decode_points(fields, item, series);
		tare_fields_leave(fields, mark);
	}
}

static void decode_plot(struct tare_fields *fields, json_t *object, struct tare_result *result)
{
	static const char *const kinds[] = {
		[TARE_PLOT_LINE] = "line",
		[TARE_PLOT_BAR] = "bar",
		[TARE_PLOT_TIMELINE] = "timeline",
	};
	const char *id, *title;
	enum tare_plot_kind kind;
	struct tare_plot *plot;

	if (!object)
		return;
	id = tare_field_word(fields, object, "id", false);
	title = tare_field_word(fields, object, "title", false);
	kind = (enum tare_plot_kind)tare_field_choice(fields, object, "kind", kinds,
	                                              sizeof kinds / sizeof *kinds);
	if (fields->status < 0)
		return;
	plot = tare_result_add_plot(result, id, title, kind);
	tare_field_text(fields, object, "note", true, &plot->note);
	decode_axis(fields, object, "x", &plot->x);
	decode_axis(fields, object, "y", &plot->y);
	decode_plot_series(fields, object, plot);
}

void tare_decode_plots(struct tare_fields *fields, json_t *root, struct tare_result *result)
{
	json_t *list = tare_field_array(fields, root, "plots", false);

	for (size_t i = 0; i < json_array_size(list) && fields->status == 0; i++) {
		size_t mark = tare_fields_enter_element(fields, "plots", i);
		decode_plot(fields, tare_field_as_object(fields, json_array_get(list, i)), result);
		tare_fields_leave(fields, mark);
	}
}
#endif
