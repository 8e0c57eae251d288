// SPDX-License-Identifier: Apache-2.0
// Series as a table: a line each, and below it what has to be said of them.
#include "time/internal.h"
#include "time/series.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum column { NAME, MEDIAN, HALF, P95, LEAST, RESULTS, FLOOR, ENQUEUE, THROUGHPUT, COLUMNS };
enum { CELL = 64 };

static const char *const heads[COLUMNS] = {
	[NAME] = "on the device",
	[MEDIAN] = "median",
	[HALF] = "+-",
	[P95] = "p95",
	[LEAST] = "min",
	[RESULTS] = "n",
	[FLOOR] = "floor",
	[ENQUEUE] = "(to enqueue)",
	[THROUGHPUT] = "throughput",
};

struct row {
	char cell[COLUMNS][CELL];
};

// What snprintf does, piece by piece.
struct text {
	char *at;
	size_t size, length;
};

static void __attribute__((format(printf, 2, 3))) put(struct text *text, const char *format, ...)
{
	size_t left = text->length < text->size ? text->size - text->length : 0;
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(left ? text->at + text->length : NULL, left, format, arguments);
	va_end(arguments);
	text->length += length > 0 ? (size_t)length : 0;
}

static void put_time(char cell[CELL], double ns)
{
	char text[TARE_TIME_DURATION];

	snprintf(cell, CELL, "%s", isnan(ns) ? "n/a" : tare_time_duration(text, llrint(ns)));
}

static void put_half(char cell[CELL], const struct tare_time_figure *figure)
{
	double half = fmax(figure->median_ns - figure->low_ns, figure->high_ns - figure->median_ns);
	const char *mark = figure->known == TARE_TIME_CONVERGED ? "" : "*";

	if (isnan(half) || !(figure->median_ns > 0))
		snprintf(cell, CELL, "n/a%s", mark);
	else
		snprintf(cell, CELL, "%.2g %%%s", 100 * half / figure->median_ns, mark);
}

static void fill_row(struct row *row, const struct tare_time_figure *figure)
{
	snprintf(row->cell[NAME], CELL, "%s", figure->name[0] ? figure->name : "span");
	put_time(row->cell[MEDIAN], figure->median_ns);
	put_half(row->cell[HALF], figure);
	put_time(row->cell[P95], figure->p95_ns);
	put_time(row->cell[LEAST], figure->min_ns);
	snprintf(row->cell[RESULTS], CELL, "%llu", (unsigned long long)figure->n);
	put_time(row->cell[FLOOR], figure->floor_ns);
	put_time(row->cell[ENQUEUE], figure->enqueue_ns);
	if (isnan(figure->gb_s))
		snprintf(row->cell[THROUGHPUT], CELL, "n/a");
	else
		snprintf(row->cell[THROUGHPUT], CELL, "%.3f GB/s", figure->gb_s);
}

static bool any_throughput(struct tare_time_series *const *series, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (series[i]->options.bytes)
			return true;
	return false;
}

static void put_row(struct text *text, const struct row *row, const size_t width[COLUMNS],
                    enum column last)
{
	put(text, "%-*s", (int)width[NAME], row->cell[NAME]);
	for (enum column i = MEDIAN; i <= last; i++)
		put(text, "  %*s", (int)width[i], row->cell[i]);
	put(text, "\n");
}

static void widen(size_t width[COLUMNS], const struct row *row)
{
	for (enum column i = 0; i < COLUMNS; i++)
		if (strlen(row->cell[i]) > width[i])
			width[i] = strlen(row->cell[i]);
}

static int row_of(struct tare_time_series *series, struct row *row, struct tare_time_figure *figure)
{
	int status = tare_time_series_figure(series, figure, NULL);

	if (status == 0)
		fill_row(row, figure);
	return status;
}

static int put_rows(struct text *text, struct tare_time_series *const *series, size_t count,
                    const size_t width[COLUMNS])
{
	enum column last = any_throughput(series, count) ? THROUGHPUT : ENQUEUE;
	struct tare_time_figure figure;
	struct row row;
	int status = 0;

	for (enum column i = 0; i < COLUMNS; i++)
		snprintf(row.cell[i], CELL, "%s", heads[i]);
	put_row(text, &row, width, last);
	for (size_t i = 0; status == 0 && i < count; i++) {
		status = row_of(series[i], &row, &figure);
		if (status == 0)
			put_row(text, &row, width, last);
	}
	return status;
}

static int put_sentences(struct text *text, struct tare_time_series *const *series, size_t count)
{
	struct tare_time_figure figure;
	int status = 0;

	for (size_t i = 0; status == 0 && i < count; i++) {
		const char *name = series[i]->name[0] ? series[i]->name : "span";
		status = tare_time_series_figure(series[i], &figure, NULL);
		if (status == 0 && figure.sentence[0])
			put(text, "%s%s: %s\n", figure.known == TARE_TIME_CONVERGED ? "" : "* ",
			    name, figure.sentence);
		if (status == 0 && figure.known != TARE_TIME_CONVERGED && figure.below_floor)
			put(text, "%s: no longer than an empty span takes on this queue\n", name);
		if (status == 0 && figure.drifting)
			put(text,
			    "%s: its times drift, so that the median depends on how long one "
			    "measures\n",
			    name);
	}
	return status;
}

int tare_time_table(struct tare_time_series *const *series, size_t count, char *at, size_t size)
{
	struct text text = { at, size, 0 };
	size_t width[COLUMNS];
	int status = series || !count ? 0 : -EINVAL;

	for (enum column i = 0; i < COLUMNS; i++)
		width[i] = strlen(heads[i]);
	for (size_t i = 0; status == 0 && i < count; i++) {
		struct tare_time_figure figure;
		struct row row;
		status = row_of(series[i], &row, &figure);
		if (status == 0)
			widen(width, &row);
	}
	status = status ?: put_rows(&text, series, count, width);
	status = status ?: put_sentences(&text, series, count);
	return status < 0 ? status : (int)text.length;
}
