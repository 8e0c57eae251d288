// SPDX-License-Identifier: Apache-2.0
// The fields of cells and plots: a line a field (record.h).
#include "result/document.h"

#if TARE_HAVE_JSON
#include "result/result.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

// Samples stay so far from the ends of int64_t that nobody's difference of two overflows.
#define SAMPLE_LIMIT (INT64_MAX / 4)

// ---- cells

#define STRUCTURE struct tare_cell

// Without samples nothing is known of their spread: null, never 0.
#define SAMPLED TARE_JSON_KNOWN(summary.n)

static void put_verified(struct tare_json *json, json_t *object, const void *structure)
{
	const struct tare_cell *cell = structure;

	tare_json_put(json, object, "verified",
	              cell->verified == TARE_NOT_VERIFIABLE
	                  ? json_null()
	                  : json_boolean(cell->verified == TARE_VERIFIED));
}

static void take_verified(struct tare_fields *fields, json_t *object, void *structure)
{
	struct tare_cell *cell = structure;
	json_t *value = json_object_get(object, "verified");

	if (value && !json_is_null(value))
		cell->verified =
		    tare_field_flag(fields, object, "verified", false) ? TARE_VERIFIED : TARE_WRONG;
}

static void put_samples(struct tare_json *json, json_t *object, const void *structure)
{
	const struct tare_cell *cell = structure;
	json_t *array = json_array();

	for (size_t i = 0; cell->samples && i < cell->summary.n; i++)
		tare_json_push(json, array, json_integer(cell->samples[i]));
	tare_json_put(json, object, "samples", array);
}

static void take_samples(struct tare_fields *fields, json_t *object, void *structure)
{
	struct tare_cell *cell = structure;
	json_t *list = tare_field_array(fields, object, "samples", false);
	size_t n = json_array_size(list);

	// The figures speak of these samples: whoever reads the document relies on their number.
	if (cell->summary.n != n)
		tare_fields_fail(fields, "n", "is %zu, but there are %zu samples", cell->summary.n,
		                 n);
	cell->samples = n ? calloc(n, sizeof *cell->samples) : NULL;
	if (cell->summary.n != n || (n && !cell->samples)) {
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

static const struct tare_json_field outlier_fields[] = {
	TARE_JSON_FIELD("mild", WHOLE, summary.outliers_mild),
	TARE_JSON_FIELD("severe", WHOLE, summary.outliers_severe),
};
static const struct tare_json_record outliers = TARE_JSON_RECORD(outlier_fields);

static const struct tare_json_field rate_fields[] = {
	TARE_JSON_FIELD("unit", TEXT, rate.unit, .doc = "GB/s is 10^9 bytes a second."),
	TARE_JSON_FIELD("work", NUMBER, rate.work, .doc = "Of one sample: bytes."),
	TARE_JSON_FIELD("min", NUMBER, rate.min, .doc = "The lowest rate, of the longest sample."),
	TARE_JSON_FIELD("median", NUMBER, rate.median),
	TARE_JSON_FIELD(
	    "p95", NUMBER, rate.p95,
	    .doc = "What 95 % of the samples reached: from the 95th percentile of the time."),
	TARE_JSON_FIELD("ci", INTERVAL, rate.ci_low,
	                .second = offsetof(struct tare_cell, rate.ci_high)),
};
static const struct tare_json_record rate =
    TARE_JSON_RECORD(rate_fields, .name = "rate", .doc = "The work of one sample over its time.");

static const char *const sources[] = { "device", "host", "model", NULL };

static const struct tare_json_field cell_fields[] = {
	TARE_JSON_FIELD("labels", LABELS, labels,
	                .doc = "What tells this cell from its neighbours."),
	TARE_JSON_FIELD("quantity", TEXT, quantity),
	TARE_JSON_FIELD("unit", TEXT, unit, .doc = "Of the samples and the summary."),
	TARE_JSON_FIELD("source", WORD, source, .words = sources,
	                .doc = "Whose clock, or that it was computed."),
	TARE_JSON_FIELD("method", TEXT, method, .flags = TARE_JSON_OR_NULL,
	                .doc = "How it was measured."),
	TARE_JSON_FIELD("absent", TEXT, absent, .flags = TARE_JSON_OR_NULL,
	                .doc = "Why there is no figure; null when there is one."),
	TARE_JSON_FIELD("converged", TRUTH, converged),
	TARE_JSON_FIELD(
	    "verified", OWN, verified, .put = put_verified, .take = take_verified,
	    .doc =
	        "Whether the destination held what was sent; null when there is nothing to verify.",
	    .schema = "{'type': ['boolean', 'null']}"),
	TARE_JSON_FIELD("n", WHOLE, summary.n, .doc = "Number of samples."),
	TARE_JSON_FIELD("min", WHOLE, summary.min, SAMPLED, .least = -SAMPLE_LIMIT,
	                .most = SAMPLE_LIMIT),
	TARE_JSON_FIELD("median", NUMBER, summary.median),
	TARE_JSON_FIELD("p95", NUMBER, summary.p95),
	TARE_JSON_FIELD("max", WHOLE, summary.max, SAMPLED, .least = -SAMPLE_LIMIT,
	                .most = SAMPLE_LIMIT),
	TARE_JSON_FIELD("ci", INTERVAL, summary.ci_low,
	                .second = offsetof(struct tare_cell, summary.ci_high),
	                .doc = "Interval of the median, 95 %."),
	TARE_JSON_FIELD("autocorrelation", NUMBER, summary.autocorrelation, SAMPLED,
	                .schema = "{'minimum': -1, 'maximum': 1}"),
	TARE_JSON_FIELD("effective_n", NUMBER, summary.effective_n, SAMPLED,
	                .schema = "{'minimum': 0}"),
	TARE_JSON_FIELD("outliers", OBJECT, summary, .of = &outliers, SAMPLED,
	                .doc = "Counted, never dropped: beyond 1.5 and 3 interquartile ranges."),
	TARE_JSON_FIELD("drifting", TRUTH, summary.drifting, SAMPLED),
	TARE_JSON_FIELD("quantised", TRUTH, summary.quantised, SAMPLED),
	TARE_JSON_FIELD("rate", OBJECT, rate, .of = &rate, TARE_JSON_KNOWN(rate.present)),
	TARE_JSON_FIELD("samples", OWN, samples, .put = put_samples, .take = take_samples,
	                .doc = "Raw, in the order in which they were taken.",
	                .schema = "{'type': 'array', 'items': {'type': 'integer'}}"),
};

static void check_cell(struct tare_fields *fields, json_t *object, void *structure)
{
	const struct tare_cell *cell = structure;

	(void)object;
	if (cell->summary.max < cell->summary.min)
		tare_fields_fail(fields, "max", "must be from %" PRId64 " to %" PRId64,
		                 cell->summary.min, SAMPLE_LIMIT);
	if (cell->absent && (cell->summary.n || !isnan(cell->summary.median) || cell->rate.present))
		tare_fields_fail(fields, "absent",
		                 "gives a reason for having no figure, but there is one");
}

const struct tare_json_record tare_cell_record = TARE_JSON_RECORD(
    cell_fields, .check = check_cell, .name = "cell",
    .schema = "{'if': {'properties': {'absent': {'type': 'string'}}}, "
              "'then': {'properties': {'n': {'const': 0}, 'median': {'type': 'null'}, 'min': "
              "{'type': 'null'}, 'p95': {'type': 'null'}, 'max': {'type': 'null'}, 'rate': "
              "{'type': 'null'}, 'samples': {'maxItems': 0}}}}");

// ---- plots

#undef STRUCTURE
#define STRUCTURE struct tare_plot_series

static void put_points(struct tare_json *json, json_t *object, const void *structure)
{
	const struct tare_plot_series *series = structure;
	json_t *points = json_array();

	for (size_t i = 0; i < series->count; i++) {
		const struct tare_point *at = &series->points[i];
		const double numbers[] = { at->x, at->y, at->low, at->high };
		json_t *point = json_array();
		for (size_t k = 0; k < 4; k++)
			tare_json_push(json, point, tare_json_number(numbers[k]));
		tare_json_push(json, points, point);
	}
	tare_json_put(json, object, "points", points);
}

static void take_points(struct tare_fields *fields, json_t *object, void *structure)
{
	json_t *list = tare_field_array(fields, object, "points", false);

	for (size_t i = 0; i < json_array_size(list) && fields->status == 0; i++) {
		size_t mark = tare_fields_enter_element(fields, "points", i);
		double at[4];
		tare_fields_numbers_of(fields, json_array_get(list, i), at, 4);
		if (tare_plot_series_add(structure,
		                         (struct tare_point){ at[0], at[1], at[2], at[3] }) < 0)
			tare_fields_out_of_memory(fields);
		tare_fields_leave(fields, mark);
	}
}

static const struct tare_json_field series_fields[] = {
	TARE_JSON_FIELD("name", TEXT, name),
	TARE_JSON_FIELD("points", OWN, points, .put = put_points, .take = take_points,
	                .doc = "x, y, and the interval of y (in a timeline, of x).",
	                .schema = "{'type': 'array', 'items': {'type': 'array', 'items': {'$ref': "
	                          "'#/$defs/number_or_null'}, 'minItems': 4, 'maxItems': 4}}"),
};
static const struct tare_json_record series = TARE_JSON_RECORD(series_fields);

#undef STRUCTURE
#define STRUCTURE struct tare_plot

static const char *const scales[] = { "linear", "logarithmic", NULL };
static const char *const kinds[] = {
	[TARE_PLOT_LINE] = "line",
	[TARE_PLOT_BAR] = "bar",
	[TARE_PLOT_TIMELINE] = "timeline",
	NULL,
};

// The fields of an axis of a plot.
#define AXIS(which)                                                                                \
	{                                                                                          \
		TARE_JSON_FIELD("title", TEXT, which.title, .flags = TARE_JSON_OR_NULL),           \
		TARE_JSON_FIELD("unit", TEXT, which.unit, .flags = TARE_JSON_OR_NULL),             \
		TARE_JSON_FIELD("scale", WORD, which.logarithmic, .words = scales),                \
	}
static const struct tare_json_field x_fields[] = AXIS(x), y_fields[] = AXIS(y);
static const struct tare_json_record x_axis = TARE_JSON_RECORD(x_fields, .name = "axis");
static const struct tare_json_record y_axis = TARE_JSON_RECORD(y_fields, .name = "axis");

static const struct tare_json_field plot_fields[] = {
	TARE_JSON_FIELD("id", TEXT, id),
	TARE_JSON_FIELD("title", TEXT, title),
	TARE_JSON_FIELD("note", TEXT, note, .flags = TARE_JSON_OR_NULL),
	TARE_JSON_FIELD(
	    "kind", WORD, kind, .words = kinds,
	    .doc = "In a timeline a series is a lane and a point a bar: its interval is where it "
	           "begins and ends on the x axis, its y the number of what ran, from 0."),
	TARE_JSON_FIELD("x", OBJECT, x, .of = &x_axis),
	TARE_JSON_FIELD("y", OBJECT, y, .of = &y_axis),
	TARE_JSON_ROWS("series", series, count, &series),
};
const struct tare_json_record tare_plot_record = TARE_JSON_RECORD(plot_fields, .name = "plot");
#endif
