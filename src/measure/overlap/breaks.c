// SPDX-License-Identifier: Apache-2.0
// What it costs to break the best schedule; a kernel beside itself; and the best schedule drawn
// from the device's own stamps.
#include "base/units.h"
#include "measure/overlap/internal.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BREAKS_SHARE 0.1
#define TIMELINE_BARS 1200

struct break_task {
	struct overlap *overlap;
	enum tare_break how; // NONE: a kernel beside itself
};

static const struct overlap_point *balanced(const struct overlap *overlap)
{
	return &overlap->points[overlap->balanced];
}

static int begin_break(struct tare_measurement *measurement, struct tare_error *error)
{
	struct break_task *task = measurement->context;

	(void)error;
	overlap_set_cycles(task->overlap, balanced(task->overlap)->cycles);
	return 0;
}

static int sample_break(struct tare_measurement *measurement, int64_t *values,
                        struct tare_error *error)
{
	struct break_task *task = measurement->context;

	return tare_pipeline_run(task->overlap->pipeline, &balanced(task->overlap)->best_schedule,
	                         task->how, &values[0], NULL, error);
}

static int end_break(struct tare_measurement *measurement, enum tare_verified *verified,
                     struct tare_error *error)
{
	struct break_task *task = measurement->context;
	bool right = true;
	int status = overlap_verify(task->overlap, &balanced(task->overlap)->best_schedule,
	                            task->how, &right, error);

	*verified = status < 0 ? TARE_NOT_VERIFIABLE : right ? TARE_VERIFIED : TARE_WRONG;
	return status;
}

static int sample_beside(struct tare_measurement *measurement, int64_t *values,
                         struct tare_error *error)
{
	struct break_task *task = measurement->context;

	return tare_pipeline_kernel_beside(task->overlap->pipeline, &values[0], &values[1], error);
}

static void plan_break(struct break_task *task, struct tare_measurement *measurement)
{
	static const char *const methods[TARE_BREAK_COUNT] = {
		[TARE_BREAK_DEFAULT_QUEUE] = "everything in one queue, the API's default one where "
		                             "it has one",
		[TARE_BREAK_BLOCKING] = "copies by the API's blocking calls",
		[TARE_BREAK_PAGEABLE] = "plain host memory instead of pinned",
		[TARE_BREAK_ALLOCATION] = "device memory allocated and freed between chunks",
		[TARE_BREAK_LAZY_LOADING] =
		    "the kernel was built just before and is first launched "
		    "in the run",
	};
	struct overlap *overlap = task->overlap;
	struct tare_figure *figure =
	    tare_measurement_add(measurement, "time", "ns", overlap_run_source(overlap),
	                         "the best schedule, but %s; %s time of a run", methods[task->how],
	                         overlap_run_source(overlap));

	measurement->context = task;
	measurement->begin = begin_break;
	measurement->sample = sample_break;
	measurement->end = end_break;
	snprintf(measurement->title, sizeof measurement->title, "breaking it: %s",
	         tare_break_name(task->how));
	tare_labels_set_text(&figure->labels, "group", "break");
	overlap_label_point(overlap, balanced(overlap), &figure->labels);
	tare_labels_set_text(&figure->labels, "break", tare_break_name(task->how));
	figure->quantum = overlap_run_step_ns(overlap);
	if (task->how == TARE_BREAK_PAGEABLE && !tare_pipeline_pinned(overlap->pipeline)) {
		snprintf(figure->absent, sizeof figure->absent,
		         "the device has no pinned memory: pageable is what was measured");
		figure->refused = true;
	}
}

static void plan_beside(struct break_task *task, struct tare_measurement *measurement)
{
	struct overlap *overlap = task->overlap;
	const char *source = overlap->bench.stamped ? "device" : "host";
	static const char *const names[] = { "two halves in two queues", "one launch" };

	measurement->context = task;
	measurement->begin = begin_break;
	measurement->sample = sample_beside;
	snprintf(measurement->title, sizeof measurement->title, "kernel beside kernel");
	for (int i = 0; i < 2; i++) {
		struct tare_figure *figure =
		    tare_measurement_add(measurement, "time", "ps", source, "%s",
		                         i ? "one launch of all items"
		                           : "two launches of half the items each, in two queues: "
		                             "first start to last end");
		tare_labels_set_text(&figure->labels, "group", "kernel-beside-kernel");
		overlap_label_point(overlap, balanced(overlap), &figure->labels);
		tare_labels_set_text(&figure->labels, "what", names[i]);
		figure->quantum = overlap->bench.stamped
		                      ? overlap->bench.step_ps
		                      : 1000.0 * (double)overlap->run->host_step_ns;
	}
}

// How many times as long the broken run takes.
static void add_factor(struct overlap *overlap, enum tare_break how, size_t broken)
{
	const struct overlap_time best = balanced(overlap)->best;
	struct overlap_time time = overlap_time_of(overlap, broken);
	struct tare_cell *cell;

	if (!time.present || !best.present)
		return;
	cell = overlap_model(overlap, "break", "factor", balanced(overlap), "ratio", "1");
	tare_labels_set_text(&cell->labels, "break", tare_break_name(how));
	overlap->break_factor[how] = time.ns / best.ns;
	overlap->break_known[how] = time.low / best.high > 1;
	tare_cell_set_model(cell, time.ns / best.ns, time.low / best.high, time.high / best.low);
}

int overlap_measure_breaks(struct overlap *overlap, struct tare_error *error)
{
	struct tare_measurement measurements[TARE_BREAK_COUNT] = { 0 };
	struct break_task tasks[TARE_BREAK_COUNT];
	bool best = balanced(overlap)->best.present;
	size_t count = 0;
	int status;

	overlap_phase(overlap, BREAKS_SHARE);
	for (int how = TARE_BREAK_NONE; how < TARE_BREAK_COUNT; how++) {
		if (how != TARE_BREAK_NONE && (!best || !(overlap->options.breaks >> how & 1)))
			continue;
		tasks[count] = (struct break_task){ overlap, (enum tare_break)how };
		if (how == TARE_BREAK_NONE)
			plan_beside(&tasks[count], &measurements[count]);
		else
			plan_break(&tasks[count], &measurements[count]);
		count++;
	}
	status = tare_run_measure(overlap->run, measurements, count, error);
	for (size_t i = 0; i < count; i++) {
		if (tasks[i].how != TARE_BREAK_NONE && measurements[i].figure_count)
			add_factor(overlap, tasks[i].how, measurements[i].figures[0].cell);
		tare_measurement_clear(&measurements[i]);
	}
	return status;
}

// ---- the timeline

// What was drawn, and by how much it was longer than the runs that count.
static void describe_drawn(const struct overlap *overlap, char *note, size_t size)
{
	const struct overlap_point *point = balanced(overlap);
	struct tare_drawn drawn = tare_pipeline_drawn(overlap->pipeline);
	double more = 100 * ((double)drawn.ns / point->best.ns - 1);
	char schedule[96], took[TARE_UNIT_TEXT], timed[TARE_UNIT_TEXT];

	tare_schedule_text(&point->best_schedule, schedule, sizeof schedule);
	if (!drawn.traced) {
		snprintf(note, size,
		         "%s; a run of its own with stamps on, which can be slower than those that "
		         "were timed.",
		         schedule);
		return;
	}
	snprintf(
	    note, size,
	    "%s%s; engine times by the vendor's tracer, in a run of its own. Tracing slows it: it "
	    "took %s, %.1f %% %s than the %s of those that were timed, and is itself no timing.",
	    schedule,
	    point->best_schedule.mechanism == TARE_MECHANISM_GRAPH
	        ? ", its operations appended one by one instead of as a graph"
	        : "",
	    tare_format_ns((double)drawn.ns, took), fabs(more), more < 0 ? "less" : "more",
	    tare_format_ns(point->best.ns, timed));
}

// The drawn run beside those that were timed, for readers of the data.
static void add_traced(struct overlap *overlap)
{
	const struct overlap_point *point = balanced(overlap);
	struct tare_drawn drawn = tare_pipeline_drawn(overlap->pipeline);
	struct tare_cell *cell;

	if (!drawn.traced)
		return;
	cell = overlap_model(overlap, "timeline", "traced", point, "excess", "%");
	overlap_label_schedule(&point->best_schedule, &cell->labels);
	tare_cell_set_method(
	    cell, "host time of the run that is drawn, its engines traced, over the median "
	          "of the schedule's timed runs, less 1");
	tare_cell_set_model(cell, 100 * ((double)drawn.ns / point->best.ns - 1), NAN, NAN);
}

static void draw(struct overlap *overlap, const struct tare_bar *bars, int count)
{
	struct tare_plot *plot = tare_result_add_plot(
	    overlap->run->result, "timeline", "The best schedule, drawn from the device's stamps",
	    TARE_PLOT_TIMELINE);
	char note[512];

	describe_drawn(overlap, note, sizeof note);
	tare_plot_axes(plot, "time", "ns", false, "chunk", "", false);
	tare_plot_set_note(plot, note);
	for (int stage = 0; stage < TARE_STAGE_COUNT; stage++) {
		struct tare_plot_series *series =
		    tare_plot_add_series(plot, tare_stage_name((enum tare_stage)stage));
		for (int i = 0; i < count; i++) {
			double low = (double)bars[i].start_ps / 1000,
			       high = (double)bars[i].end_ps / 1000;
			if (bars[i].stage == (enum tare_stage)stage)
				tare_plot_series_add(series, (struct tare_point){ (low + high) / 2,
				                                                  bars[i].chunk,
				                                                  low, high });
		}
	}
}

int overlap_add_timeline(struct overlap *overlap, struct tare_error *error)
{
	const struct overlap_point *point = balanced(overlap);
	struct tare_error why = { 0 };
	struct tare_bar *bars;
	int count;

	if (!point->best.present || 3 * point->best_schedule.chunks > TIMELINE_BARS)
		return 0;
	overlap_progress(overlap, "drawing the best schedule");
	bars = calloc(3 * (size_t)point->best_schedule.chunks, sizeof *bars);
	if (!bars)
		return tare_fail(error, ENOMEM, "out of memory");
	overlap_set_cycles(overlap, point->cycles);
	count = tare_pipeline_gantt(overlap->pipeline, &point->best_schedule, bars, &why);
	if (count > 0) {
		draw(overlap, bars, count);
		add_traced(overlap);
	}
	free(bars);
	if (tare_device_is_gone(count) || count == -ENOMEM)
		return tare_fail(error, -count, "%s",
		                 why.message[0] ? why.message : "out of memory");
	if (count < 0)
		tare_result_warn(overlap->run->result, "no-timeline",
		                 tare_pipeline_drawn(overlap->pipeline).traced
		                     ? "the other figures do not need it"
		                     : "nothing to do; the other figures do not need it",
		                 "the best schedule is not drawn: %s", why.message);
	return 0;
}
