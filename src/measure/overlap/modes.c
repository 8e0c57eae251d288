// SPDX-License-Identifier: Apache-2.0
// The stages one after the other, and every set of them at once; the bound and the engines that
// follow.
#include "base/units.h"
#include "measure/overlap/internal.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEQUENTIAL_SHARE 0.12
#define SEQUENTIAL_MOST 0.18 // if that is enough to converge everywhere
#define MODES_SHARE 0.2
// What a sample takes in serial runs: the stages one by one, all at once, and what is around them.
#define SEQUENTIAL_RUNS 2.35
// Samples of a mode that are worth having at each point; a sample lasts about so many serial runs.
#define MODE_SAMPLES 6
#define MODE_RUNS 2.0
#define MODES_WITH_KERNEL 4

// ---- the sequential table

struct sequence {
	struct overlap *overlap;
	struct overlap_point *point;
};

static const struct tare_schedule serial_schedule = { .chunks = 1, .queues = 1 };

static int begin_sequence(struct tare_measurement *measurement, struct tare_error *error)
{
	struct sequence *sequence = measurement->context;

	(void)error;
	overlap_set_cycles(sequence->overlap, sequence->point->cycles);
	return 0;
}

static int sample_sequence(struct tare_measurement *measurement, int64_t *values,
                           struct tare_error *error)
{
	struct overlap *overlap = ((struct sequence *)measurement->context)->overlap;
	uint32_t stages = tare_pipeline_stages(overlap->pipeline);
	int64_t ns;
	bool device;
	int status = 0;

	for (int i = 0; status == 0 && i < TARE_STAGE_COUNT; i++)
		if (stages >> i & 1)
			status = tare_pipeline_stage(overlap->pipeline, (enum tare_stage)i,
			                             &values[i], &device, error);
	if (status == 0)
		status = tare_pipeline_run(overlap->pipeline, &serial_schedule, TARE_BREAK_NONE,
		                           &ns, NULL, error);
	if (status == 0)
		values[3] = 1000 * ns;
	return status;
}

static void plan_sequence(struct sequence *sequence, struct tare_measurement *measurement)
{
	struct overlap *overlap = sequence->overlap;
	const char *source = overlap->bench.stamped ? "device" : "host";
	uint32_t stages = tare_pipeline_stages(overlap->pipeline);

	measurement->context = sequence;
	measurement->begin = begin_sequence;
	measurement->sample = sample_sequence;
	snprintf(measurement->title, sizeof measurement->title, "in sequence, kernel : copy %.2f",
	         sequence->point->ratio);
	for (int i = 0; i <= TARE_STAGE_COUNT; i++) {
		bool total = i == TARE_STAGE_COUNT;
		const char *name = total ? "total" : tare_stage_name((enum tare_stage)i);
		struct tare_figure *figure = tare_measurement_add(
		    measurement, "time", "ps", total ? overlap_run_source(overlap) : source, "%s%s",
		    total ? "all three in one queue, each of the whole work: "
		          : "this stage of the whole work in one operation, alone",
		    total ? overlap_run_method(
		                overlap, "host time from before the first append until finish "
		                         "returned; a queue without stamps")
		          : "");
		tare_labels_set_text(&figure->labels, "group", "sequential");
		overlap_label_point(overlap, sequence->point, &figure->labels);
		tare_labels_set_text(&figure->labels, "stage", name);
		figure->quantum = total || !overlap->bench.stamped
		                      ? 1000.0 * overlap_run_step_ns(overlap)
		                      : overlap->bench.step_ps;
		if (!total && !(stages >> i & 1))
			snprintf(figure->absent, sizeof figure->absent,
			         "there is no such stage: the kernel has nothing to copy there");
		else if (!total && i != TARE_STAGE_KERNEL) {
			const struct tare_chunk_kernel *chunk = &overlap->built.chunk;
			figure->rate_unit = "GB/s";
			figure->work = (double)(overlap->items * (i == TARE_STAGE_TO_DEVICE
			                                              ? chunk->in_bytes
			                                              : chunk->out_bytes));
		}
	}
}

// A figure needs OVERLAP_SAMPLES to be called known. Where a little more time gives them, it gets
// it. Nine tenths of a share go into samples.
static double sequential_share(const struct overlap *overlap)
{
	double runs_ns = 0, share;

	for (size_t i = 0; i < overlap->point_count; i++)
		runs_ns += overlap->points[i].serial_once_ns;
	share = OVERLAP_SAMPLES * SEQUENTIAL_RUNS * runs_ns / (double)overlap->budget_ns / 0.9;
	return share > SEQUENTIAL_SHARE && share <= SEQUENTIAL_MOST ? share : SEQUENTIAL_SHARE;
}

int overlap_measure_sequential(struct overlap *overlap, struct tare_error *error)
{
	struct tare_measurement *measurements = calloc(overlap->point_count, sizeof *measurements);
	struct sequence *sequences = calloc(overlap->point_count, sizeof *sequences);
	int status = measurements && sequences ? 0 : -ENOMEM;

	overlap_phase(overlap, sequential_share(overlap));
	for (size_t i = 0; status == 0 && i < overlap->point_count; i++) {
		sequences[i] = (struct sequence){ overlap, &overlap->points[i] };
		measurements[i].weight = overlap->points[i].serial_once_ns;
		plan_sequence(&sequences[i], &measurements[i]);
	}
	if (status == 0)
		status = tare_run_measure(overlap->run, measurements, overlap->point_count, error);
	else
		tare_fail(error, ENOMEM, "out of memory");
	for (size_t i = 0; measurements && sequences && i < overlap->point_count; i++) {
		struct overlap_point *point = &overlap->points[i];
		for (size_t k = 0; measurements[i].figure_count && k < TARE_STAGE_COUNT; k++)
			point->stage[k] = overlap_time_of(overlap, measurements[i].figures[k].cell);
		if (point->stage[TARE_STAGE_KERNEL].present)
			point->ratio = point->stage[TARE_STAGE_KERNEL].ns /
			               fmax(point->stage[TARE_STAGE_TO_DEVICE].ns,
			                    point->stage[TARE_STAGE_TO_HOST].ns);
		tare_measurement_clear(&measurements[i]);
	}
	free(measurements);
	free(sequences);
	return status;
}

// ---- the modes

struct mode_task {
	struct overlap *overlap;
	struct overlap_point *point;
	uint32_t mode;
	size_t samples, together;
	size_t stage_figure[TARE_STAGE_COUNT];
};

static int begin_mode(struct tare_measurement *measurement, struct tare_error *error)
{
	struct mode_task *task = measurement->context;

	(void)error;
	overlap_set_cycles(task->overlap, task->point->cycles);
	return 0;
}

static int sample_mode(struct tare_measurement *measurement, int64_t *values,
                       struct tare_error *error)
{
	struct mode_task *task = measurement->context;
	int64_t ps[TARE_STAGE_COUNT] = { 0 };
	bool together = false;
	int status = tare_pipeline_mode(task->overlap->pipeline, task->mode, ps, &together, error);

	if (status < 0)
		return status;
	for (int i = 0; i < TARE_STAGE_COUNT; i++)
		if (task->mode >> i & 1)
			values[task->stage_figure[i]] = ps[i];
	task->samples++;
	task->together += together;
	return 0;
}

static void plan_mode(struct mode_task *task, struct tare_measurement *measurement)
{
	struct overlap *overlap = task->overlap;
	const struct tare_chunk_kernel *chunk = &overlap->built.chunk;
	bool kernel = task->mode >> TARE_STAGE_KERNEL & 1;
	size_t count = 0;

	measurement->context = task;
	measurement->begin = begin_mode;
	measurement->sample = sample_mode;
	measurement->no_warm_up = true;
	snprintf(measurement->title, sizeof measurement->title, "%s at once, kernel : copy %.2f",
	         tare_mode_name(task->mode), task->point->ratio);
	for (int i = 0; i < TARE_STAGE_COUNT; i++) {
		struct tare_figure *figure;
		if (!(task->mode >> i & 1))
			continue;
		figure = tare_measurement_add(
		    measurement, "time", "ps", overlap->bench.stamped ? "device" : "host",
		    "the stages of this mode beside each other, each in a queue of its own: what "
		    "the whole work of this stage would take at the speed that it had while all "
		    "of them were at work");
		tare_labels_set_text(&figure->labels, "group", "mode");
		tare_labels_set_text(&figure->labels, "mode", tare_mode_name(task->mode));
		tare_labels_set_text(&figure->labels, "stage", tare_stage_name((enum tare_stage)i));
		if (kernel)
			overlap_label_point(overlap, task->point, &figure->labels);
		figure->quantum = overlap->bench.stamped
		                      ? overlap->bench.step_ps
		                      : 1000.0 * (double)overlap->run->host_step_ns;
		task->stage_figure[i] = count++;
		if (i == TARE_STAGE_KERNEL)
			continue;
		figure->rate_unit = "GB/s";
		figure->work =
		    (double)(overlap->items *
		             (i == TARE_STAGE_TO_DEVICE ? chunk->in_bytes : chunk->out_bytes));
	}
}

static bool with_kernel(uint32_t mode)
{
	return mode >> TARE_STAGE_KERNEL & 1;
}

// Whether the modes with a kernel can be measured at every point.
static bool every_point(const struct overlap *overlap)
{
	double runs_ns = 0;

	for (size_t i = 0; i < overlap->point_count; i++) {
		const struct overlap_time *stage = overlap->points[i].stage;
		runs_ns += stage[0].ns + stage[1].ns + stage[2].ns;
	}
	return MODES_WITH_KERNEL * MODE_SAMPLES * MODE_RUNS * runs_ns <
	       MODES_SHARE * (double)overlap->budget_ns;
}

static void take_mode(struct overlap *overlap, const struct mode_task *task,
                      const struct tare_measurement *measurement, struct overlap_point *point)
{
	uint32_t mode = task->mode;
	struct tare_overlap_modes *modes = &point->modes;

	modes->known[mode] = task->samples > 0;
	modes->together[mode] = 2 * task->together > task->samples;
	for (int i = 0; i < TARE_STAGE_COUNT; i++) {
		struct overlap_time time;
		if (!(mode >> i & 1))
			continue;
		time = overlap_time_of(overlap, measurement->figures[task->stage_figure[i]].cell);
		if (!time.present) {
			modes->known[mode] = false;
			continue;
		}
		// Until the stages alone are known: the time; see take_speeds.
		modes->speed[mode][i] = time.ns;
		point->mode_low[mode][i] = time.ns / time.high;
		if (mode == 1u << i) {
			modes->alone_ns[i] = time.ns;
			point->bound_low = fmin(point->bound_low, time.low / time.ns);
			point->bound_high = fmax(point->bound_high, time.high / time.ns);
		}
	}
}

static void take_speeds(struct overlap_point *point)
{
	struct tare_overlap_modes *modes = &point->modes;

	for (uint32_t mode = 1; mode < TARE_MODE_COUNT; mode++)
		for (int i = 0; i < TARE_STAGE_COUNT; i++) {
			double *speed = &modes->speed[mode][i];
			bool in = mode >> i & 1;
			if (!modes->known[mode] || !in || !(modes->alone_ns[i] > 0))
				*speed = 0;
			else
				*speed = mode == 1u << i ? 1 : modes->alone_ns[i] / *speed;
			// Faster beside others than alone: rarely true, and often noise.
			if (*speed > 1 && *speed * point->mode_low[mode][i] * point->bound_low <= 1)
				*speed = 1;
		}
}

// Modes are measured with parts of the work, each of which has a fixed cost; the whole in one
// operation can be faster, and no bound may be above it.
static void take_alone(struct overlap_point *point)
{
	for (int i = 0; i < TARE_STAGE_COUNT; i++) {
		double *alone_ns = &point->modes.alone_ns[i];
		const struct overlap_time *stage = &point->stage[i];
		bool other = i == TARE_STAGE_KERNEL && point->modes_borrowed;
		if (*alone_ns > 0 && stage->present && (other || stage->ns < *alone_ns))
			*alone_ns = stage->ns;
	}
}

// The modes that were measured once hold for every point; those with a kernel, measured at the
// balanced point only, are its speeds.
static void spread_modes(struct overlap *overlap, const struct mode_task *tasks,
                         const struct tare_measurement *measurements, size_t count, bool all)
{
	for (size_t p = 0; p < overlap->point_count; p++) {
		struct overlap_point *point = &overlap->points[p];
		point->bound_low = point->bound_high = 1;
		point->modes_borrowed = !all && p != overlap->balanced;
		for (size_t i = 0; i < count; i++)
			if (tasks[i].point == point || !with_kernel(tasks[i].mode) ||
			    point->modes_borrowed)
				take_mode(overlap, &tasks[i], &measurements[i], point);
		take_speeds(point);
		take_alone(point);
	}
}

int overlap_measure_modes(struct overlap *overlap, struct tare_error *error)
{
	size_t capacity = 3 + MODES_WITH_KERNEL * overlap->point_count, count = 0;
	struct tare_measurement *measurements = calloc(capacity, sizeof *measurements);
	struct mode_task *tasks = calloc(capacity, sizeof *tasks);
	uint32_t stages = tare_pipeline_stages(overlap->pipeline);
	bool all = every_point(overlap);
	int status = measurements && tasks ? 0 : -ENOMEM;

	overlap_phase(overlap, MODES_SHARE);
	for (uint32_t mode = 1; mode < TARE_MODE_COUNT; mode++)
		for (size_t p = 0; status == 0 && p < overlap->point_count; p++) {
			bool wanted = p == overlap->balanced || (with_kernel(mode) && all);
			if (!wanted || (mode & ~stages))
				continue;
			tasks[count] = (struct mode_task){ .overlap = overlap,
				                           .point = &overlap->points[p],
				                           .mode = mode };
			plan_mode(&tasks[count], &measurements[count]);
			count++;
		}
	if (status == 0)
		status = tare_run_measure(overlap->run, measurements, count, error);
	else
		tare_fail(error, ENOMEM, "out of memory");
	if (measurements && tasks)
		spread_modes(overlap, tasks, measurements, count, all);
	for (size_t i = 0; measurements && i < count; i++)
		tare_measurement_clear(&measurements[i]);
	free(measurements);
	free(tasks);
	if (status == 0 && !all && overlap->point_count > 1)
		tare_result_warn(
		    overlap->run->result, "modes-borrowed", "more --budget or fewer --bytes",
		    "how stages slow each other was measured at kernel : copy %.2f only and "
		    "taken for the other points: the budget does not hold more",
		    overlap->points[overlap->balanced].ratio);
	return status;
}
