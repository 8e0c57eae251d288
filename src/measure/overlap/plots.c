// SPDX-License-Identifier: Apache-2.0
// Charts of `overlap`: times over cycles, speed-up over kernel : copy, what was searched.
#include "measure/overlap/internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct tare_point point_of(double x, const struct overlap_time *time)
{
	return (struct tare_point){ x, time->ns, time->low, time->high };
}

static struct tare_point bare(double x, double y)
{
	return (struct tare_point){ x, y, NAN, NAN };
}

// Too few runs to bound anything better than a half above: that band would hide the others.
static struct tare_point point_if_bounded(double x, const struct overlap_time *time)
{
	return time->high > 1.5 * time->ns ? bare(x, time->ns) : point_of(x, time);
}

// ---- times over cycles

static void add_times(struct overlap *overlap)
{
	struct tare_plot *plot = tare_result_add_plot(
	    overlap->run->result, "times", "In sequence, at once, and the bound", TARE_PLOT_LINE);
	static const char *const names[] = { "to device", "kernel",        "to host",
		                             "serial",    "best schedule", "bound" };

	tare_plot_axes(plot, "cycles", "", false, "time", "ns", false);
	for (int k = 0; k < 6; k++) {
		struct tare_plot_series *series = tare_plot_add_series(plot, names[k]);
		for (size_t i = 0; i < overlap->point_count; i++) {
			const struct overlap_point *point = &overlap->points[i];
			const struct overlap_time *time = k < 3    ? &point->stage[k]
			                                  : k == 3 ? &point->serial
			                                           : &point->best;
			double x = (double)point->cycles;
			if (k == 5 && point->bounded)
				tare_plot_series_add(series, bare(x, point->bound.ns));
			else if (k < 5 && time->present)
				tare_plot_series_add(series, point_of(x, time));
		}
	}
}

// ---- speed-up over kernel : copy

enum curve { MEASURED, BOUND, ATTAINABLE, AMDAHL, CURVES };

static struct tare_point curve_point(const struct overlap_point *point, enum curve curve)
{
	const struct overlap_time *best = &point->best, *serial = &point->serial;
	double x = point->ratio, sum = point->bound.serial_ns;

	if (curve == MEASURED)
		return best->present && serial->present
		           ? (struct tare_point){ x, serial->ns / best->ns,
			                          serial->low / best->high,
			                          serial->high / best->low }
		           : bare(x, NAN);
	if (!point->bounded)
		return bare(x, NAN);
	if (curve == BOUND)
		return bare(x, sum / point->bound.ns);
	if (curve == AMDAHL)
		return bare(x, tare_overlap_amdahl(&point->modes));
	if (!best->present)
		return bare(x, NAN);
	return bare(x, sum / overlap_attainable_ns(point));
}

static void add_speed_up(struct overlap *overlap)
{
	struct tare_plot *plot = tare_result_add_plot(overlap->run->result, "speed-up",
	                                              "What overlapping gains", TARE_PLOT_LINE);
	static const char *const names[CURVES] = { "measured", "bound", "attainable",
		                                   "Amdahl, two processors" };

	tare_plot_axes(plot, "kernel : longer copy", "", true, "speed-up over serial", "", false);
	tare_plot_set_note(plot,
	                   "Bound: no schedule is faster. Attainable: with the best schedule's "
	                   "chunks, which must fill and drain. Amdahl: the CUDA Handbook's "
	                   "idealised curve, which knows neither.");
	for (int k = 0; k < CURVES; k++) {
		struct tare_plot_series *series = tare_plot_add_series(plot, names[k]);
		for (size_t i = 0; i < overlap->point_count; i++) {
			struct tare_point at = curve_point(&overlap->points[i], (enum curve)k);
			if (isfinite(at.y) && at.x > 0)
				tare_plot_series_add(series, at);
		}
	}
}

// ---- the search

static int compare_family(const void *a, const void *b)
{
	const struct tare_schedule *left = &(*(const struct overlap_timed *const *)a)->schedule;
	const struct tare_schedule *right = &(*(const struct overlap_timed *const *)b)->schedule;

	if (left->mechanism != right->mechanism)
		return left->mechanism < right->mechanism ? -1 : 1;
	if (tare_schedule_queues(left) != tare_schedule_queues(right))
		return tare_schedule_queues(left) < tare_schedule_queues(right) ? -1 : 1;
	if (left->order != right->order)
		return left->order < right->order ? -1 : 1;
	if (left->sizes != right->sizes)
		return left->sizes < right->sizes ? -1 : 1;
	return (left->chunks > right->chunks) - (left->chunks < right->chunks);
}

static bool same_family(const struct tare_schedule *a, const struct tare_schedule *b)
{
	return a->mechanism == b->mechanism && tare_schedule_queues(a) == tare_schedule_queues(b) &&
	       a->order == b->order && a->sizes == b->sizes;
}

// Mechanism, order and sizes, unlike those of every other family.
static void family_name(const struct tare_schedule *schedule, const char *what, char *name,
                        size_t size)
{
	const char *tapered = schedule->sizes == TARE_CHUNKS_TAPERED ? ", tapered" : "";
	char queues[32];

	snprintf(queues, sizeof queues, "%s%u queue%s",
	         schedule->mechanism == TARE_MECHANISM_GRAPH ? "a graph of " : "", schedule->queues,
	         schedule->queues == 1 ? "" : "s");
	snprintf(name, size, "%s, %s%s%s",
	         schedule->mechanism == TARE_MECHANISM_STAGE_QUEUES   ? "a queue for each stage"
	         : schedule->mechanism == TARE_MECHANISM_OUT_OF_ORDER ? "out of order"
	                                                              : queues,
	         tare_order_name(schedule->order), tapered, what);
}

static void add_family(struct tare_plot *plot, struct overlap_timed *const *timed, size_t count,
                       bool predicted)
{
	struct tare_plot_series *series;
	char name[128];

	family_name(&timed[0]->schedule, predicted ? " (predicted)" : "", name, sizeof name);
	series = tare_plot_add_series(plot, name);
	for (size_t i = 0; i < count; i++) {
		double x = timed[i]->schedule.chunks;
		tare_plot_series_add(series, predicted ? bare(x, timed[i]->predicted_ns)
		                                       : point_if_bounded(x, &timed[i]->time));
	}
}

static void add_search(struct overlap *overlap)
{
	struct overlap_timed **timed = calloc(overlap->timed_count + 1, sizeof *timed);
	struct tare_plot *plot;
	size_t count = 0;

	for (size_t i = 0; timed && i < overlap->timed_count; i++)
		if (overlap->timed[i].point == overlap->balanced && overlap->timed[i].time.present)
			timed[count++] = &overlap->timed[i];
	if (count) {
		qsort(timed, count, sizeof *timed, compare_family);
		plot =
		    tare_result_add_plot(overlap->run->result, "search",
		                         "What was tried, and what was predicted", TARE_PLOT_LINE);
		tare_plot_axes(plot, "chunks", "", true, "time", "ns", false);
		tare_plot_set_note(plot, "At the kernel : copy nearest to 1.");
		for (size_t from = 0, to; from < count; from = to) {
			for (to = from + 1; to < count && same_family(&timed[from]->schedule,
			                                              &timed[to]->schedule);)
				to++;
			add_family(plot, timed + from, to - from, false);
			add_family(plot, timed + from, to - from, true);
		}
	}
	if (!timed)
		tare_result_fail(overlap->run->result);
	free(timed);
}

void overlap_add_plots(struct overlap *overlap)
{
	if (overlap->point_count > 1)
		add_times(overlap);
	if (overlap->point_count > 1)
		add_speed_up(overlap);
	add_search(overlap);
}
