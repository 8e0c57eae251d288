// SPDX-License-Identifier: Apache-2.0
#include "base/room.h"
#include "result/parts.h"
#include "result/result.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct tare_summary no_figure = {
	.median = NAN,
	.p95 = NAN,
	.ci_low = NAN,
	.ci_high = NAN,
	.autocorrelation = NAN,
	.effective_n = NAN,
};

void tare_cell_clear(struct tare_cell *cell)
{
	tare_labels_clear(&cell->labels);
	free(cell->quantity);
	free(cell->unit);
	free(cell->source);
	free(cell->method);
	free(cell->samples);
	free(cell->rate.unit);
	free(cell->absent);
	*cell = (struct tare_cell){ 0 };
}

struct tare_cell *tare_result_add_cell(struct tare_result *result, const char *quantity,
                                       const char *unit, const char *source)
{
	struct tare_cell cell = { .summary = no_figure };
	struct tare_cell *grown = NULL;

	if (!result->failed && tare_set_string(&cell.quantity, quantity) == 0 &&
	    tare_set_string(&cell.unit, unit) == 0 && tare_set_string(&cell.source, source) == 0)
		grown = tare_grow(result->cells, result->cell_count, sizeof *grown);
	if (!grown) {
		tare_cell_clear(&cell);
		tare_cell_clear(&result->spare_cell);
		result->failed = true;
		result->spare_cell = (struct tare_cell){ .summary = no_figure, .failed = true };
		return &result->spare_cell;
	}
	result->cells = grown;
	grown += result->cell_count++;
	*grown = cell;
	return grown;
}

// Returns -ENOMEM.
static int fail(struct tare_cell *cell)
{
	cell->failed = true;
	return -ENOMEM;
}

int tare_cell_set_method(struct tare_cell *cell, const char *method)
{
	if (cell->failed || tare_set_string(&cell->method, method) < 0)
		return fail(cell);
	return 0;
}

int tare_cell_take_series(struct tare_cell *cell, struct tare_series *series,
                          enum tare_verdict verdict)
{
	struct tare_summary summary = series->summary;

	if (cell->failed)
		return -ENOMEM;
	// Sampling may have ended between two decisions (budget, interruption).
	if (summary.n != series->n &&
	    tare_summarise(series->samples, series->n, series->rule.quantum, &summary) < 0)
		return fail(cell);
	free(cell->samples);
	cell->samples = series->samples;
	cell->summary = series->n ? summary : no_figure;
	cell->converged = verdict == TARE_CONVERGED;
	series->samples = NULL;
	tare_series_clear(series);
	return 0;
}

// Twelve digits: what is beyond is the noise of the division, and unpleasant to read.
static double rounded(double value)
{
	char text[32];

	if (!isfinite(value))
		return NAN;
	snprintf(text, sizeof text, "%.11e", value);
	return strtod(text, NULL);
}

// NaN for a time that gives no rate.
static double per_second(double work, double time, double unit_s, double scale)
{
	return time > 0 ? rounded(work / (time * unit_s) / scale) : NAN;
}

int tare_cell_set_rate(struct tare_cell *cell, double work, const char *unit, double scale)
{
	const struct tare_summary *time = &cell->summary;
	double unit_s;

	if (cell->absent && !cell->failed)
		return 0;
	if (cell->failed || tare_set_string(&cell->rate.unit, unit) < 0)
		return fail(cell);
	unit_s = strcmp(cell->unit, "ps") == 0 ? 1e-12 : 1e-9;
	cell->rate.present = true;
	cell->rate.work = work;
	cell->rate.min = time->n ? per_second(work, (double)time->max, unit_s, scale) : NAN;
	cell->rate.median = per_second(work, time->median, unit_s, scale);
	cell->rate.p95 = per_second(work, time->p95, unit_s, scale);
	cell->rate.ci_low = per_second(work, time->ci_high, unit_s, scale);
	cell->rate.ci_high = per_second(work, time->ci_low, unit_s, scale);
	return 0;
}

static void drop_figure(struct tare_cell *cell)
{
	free(cell->samples);
	cell->samples = NULL;
	cell->summary = no_figure;
	free(cell->rate.unit);
	cell->rate = (struct tare_rate){ 0 };
	cell->converged = false;
}

const char *tare_cell_text(const struct tare_cell *cell, const char *name)
{
	const struct tare_label *label = tare_labels_find(&cell->labels, name);
	return label && label->text ? label->text : "";
}

int64_t tare_cell_number(const struct tare_cell *cell, const char *name)
{
	const struct tare_label *label = tare_labels_find(&cell->labels, name);
	return label && !label->text ? label->number : -1;
}

bool tare_cell_has_text(const struct tare_cell *cell, const char *name, const char *text)
{
	const struct tare_label *label = tare_labels_find(&cell->labels, name);
	return label && label->text && strcmp(label->text, text) == 0;
}

bool tare_cell_rate_bounds(const struct tare_cell *cell, double *low, double *high)
{
	const struct tare_rate *rate = &cell->rate;
	const struct tare_summary *summary = &cell->summary;

	if (!rate->present || cell->absent)
		return false;
	*low = rate->ci_low;
	*high = rate->ci_high;
	if (isfinite(*low) && isfinite(*high))
		return true;
	if (summary->n < 3 || summary->min <= 0)
		return false;
	*low = rate->median * summary->median / (double)summary->max;
	*high = rate->median * summary->median / (double)summary->min;
	return isfinite(*low) && isfinite(*high);
}

double tare_cell_spread(const struct tare_cell *cell)
{
	const struct tare_summary *summary = &cell->summary;

	if (cell->absent || !(summary->median > 0))
		return NAN;
	return fmax(summary->median - summary->ci_low, summary->ci_high - summary->median) /
	       summary->median;
}

int tare_cell_set_model(struct tare_cell *cell, double value, double low, double high)
{
	if (cell->failed)
		return -ENOMEM;
	drop_figure(cell);
	cell->summary.median = rounded(value);
	cell->summary.ci_low = rounded(low);
	cell->summary.ci_high = rounded(high);
	return 0;
}

__attribute__((format(printf, 3, 0))) static int set_absent(struct tare_cell *cell,
                                                            enum tare_absence absence,
                                                            const char *reason_format,
                                                            va_list arguments)
{
	char *reason = NULL;

	if (cell->failed || vasprintf(&reason, reason_format, arguments) < 0)
		return fail(cell);
	drop_figure(cell);
	cell->verified = TARE_NOT_VERIFIABLE;
	free(cell->absent);
	cell->absent = reason;
	cell->absence = absence;
	return 0;
}

int tare_cell_set_absent(struct tare_cell *cell, const char *reason_format, ...)
{
	va_list arguments;
	int status;

	va_start(arguments, reason_format);
	status = set_absent(cell, TARE_ABSENT_OTHER, reason_format, arguments);
	va_end(arguments);
	return status;
}

int tare_cell_set_absent_as(struct tare_cell *cell, enum tare_absence absence,
                            const char *reason_format, ...)
{
	va_list arguments;
	int status;

	va_start(arguments, reason_format);
	status = set_absent(cell, absence, reason_format, arguments);
	va_end(arguments);
	return status;
}

double tare_cell_unit_ns(const struct tare_cell *cell)
{
	return strcmp(cell->unit, "ps") == 0 ? 1e-3 : 1;
}

bool tare_cell_is_model(const struct tare_cell *cell)
{
	return strcmp(cell->source, "model") == 0;
}
