// SPDX-License-Identifier: Apache-2.0
#include "base/room.h"
#include "result/parts.h"
#include "result/result.h"

#include <errno.h>
#include <stdlib.h>

void tare_plot_clear(struct tare_plot *plot)
{
	free(plot->id);
	free(plot->title);
	free(plot->note);
	free(plot->x.title);
	free(plot->x.unit);
	free(plot->y.title);
	free(plot->y.unit);
	for (size_t i = 0; i < plot->count; i++) {
		free(plot->series[i].name);
		free(plot->series[i].points);
	}
	free(plot->series);
	free(plot->spare.points);
	*plot = (struct tare_plot){ 0 };
}

struct tare_plot *tare_result_add_plot(struct tare_result *result, const char *id,
                                       const char *title, enum tare_plot_kind kind)
{
	struct tare_plot plot = { .kind = kind };
	struct tare_plot *grown = NULL;

	if (!result->failed && tare_set_string(&plot.id, id) == 0 &&
	    tare_set_string(&plot.title, title) == 0)
		grown = tare_grow(result->plots, result->plot_count, sizeof *grown);
	if (!grown) {
		tare_plot_clear(&plot);
		tare_plot_clear(&result->spare_plot);
		result->failed = true;
		result->spare_plot = (struct tare_plot){ .failed = true };
		return &result->spare_plot;
	}
	result->plots = grown;
	grown += result->plot_count++;
	*grown = plot;
	return grown;
}

int tare_plot_axes(struct tare_plot *plot, const char *x_title, const char *x_unit, bool x_log,
                   const char *y_title, const char *y_unit, bool y_log)
{
	plot->x.logarithmic = x_log;
	plot->y.logarithmic = y_log;
	if (plot->failed || tare_set_string(&plot->x.title, x_title) < 0 ||
	    tare_set_string(&plot->x.unit, x_unit) < 0 ||
	    tare_set_string(&plot->y.title, y_title) < 0 ||
	    tare_set_string(&plot->y.unit, y_unit) < 0) {
		plot->failed = true;
		return -ENOMEM;
	}
	return 0;
}

int tare_plot_set_note(struct tare_plot *plot, const char *note)
{
	if (plot->failed || tare_set_string(&plot->note, note) < 0) {
		plot->failed = true;
		return -ENOMEM;
	}
	return 0;
}

struct tare_plot_series *tare_plot_add_series(struct tare_plot *plot, const char *name)
{
	char *copy = NULL;
	struct tare_plot_series *grown = NULL;

	if (!plot->failed && tare_set_string(&copy, name) == 0)
		grown = tare_grow(plot->series, plot->count, sizeof *grown);
	if (!grown) {
		free(copy);
		plot->failed = true;
		free(plot->spare.points);
		plot->spare = (struct tare_plot_series){ .failed = true };
		return &plot->spare;
	}
	plot->series = grown;
	grown += plot->count++;
	grown->name = copy;
	return grown;
}

int tare_plot_series_add(struct tare_plot_series *series, struct tare_point point)
{
	struct tare_point *grown = NULL;

	if (!series->failed)
		grown = tare_grow(series->points, series->count, sizeof *grown);
	if (!grown) {
		series->failed = true;
		return -ENOMEM;
	}
	series->points = grown;
	grown[series->count++] = point;
	return 0;
}
