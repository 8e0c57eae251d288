// SPDX-License-Identifier: Apache-2.0
// What the prediction needs to know: stages at the sizes of chunks, the host's cost of issuing, and
// a few runs that show the gaps between operations.
#include "measure/overlap/internal.h"
#include "model/statistics/order.h"

#include <math.h>

#define CALIBRATE_SHARE 0.1
#define SIZE_STEP 4 // from one size to the next
#define IN_A_ROW_MOST 6
// Serial runs that calibrating takes with all repeats.
#define RUNS_FOR_ALL 65.0
// Chunk counts from which the cost of issuing an operation is told.
#define ISSUE_FEW 8
#define ISSUE_MANY 64

// ---- stages at the sizes of chunks

// The most queues that are searched.
static uint32_t most_queues(const struct overlap *overlap)
{
	const struct tare_search_space *space = &overlap->options.space;
	uint32_t most = 1;

	for (size_t i = 0; i < space->queue_count; i++)
		most = space->queues[i] > most ? space->queues[i] : most;
	return most;
}

static int measure_point(struct overlap *overlap, enum tare_stage stage, uint64_t items,
                         struct tare_stage_point *point, struct tare_error *error)
{
	double isolated[OVERLAP_REPEATS_MOST], row[OVERLAP_REPEATS_MOST],
	    across[OVERLAP_REPEATS_MOST];
	bool kernels = stage == TARE_STAGE_KERNEL;
	int status = 0;

	for (uint32_t i = 0; status == 0 && i < overlap->repeats; i++) {
		struct tare_stage_point once = { 0 };
		status = overlap_go_on(overlap, error);
		if (status == 0)
			status = tare_pipeline_stage_point(overlap->pipeline, stage, items,
			                                   overlap->in_a_row, &once, error);
		if (status == 0 && kernels)
			status = tare_pipeline_kernels_across(overlap->pipeline, items,
			                                      most_queues(overlap), &once, error);
		isolated[i] = once.isolated_ns;
		row[i] = once.back_to_back_ns;
		across[i] = once.across_ns;
	}
	if (status < 0)
		return status;
	*point = (struct tare_stage_point){
		.amount = items * (stage == TARE_STAGE_TO_DEVICE ? overlap->work.in_bytes
		                   : stage == TARE_STAGE_TO_HOST ? overlap->work.out_bytes
		                                                 : 1),
		.isolated_ns = tare_median(isolated, overlap->repeats),
		.back_to_back_ns = tare_median(row, overlap->repeats),
		.across_ns = kernels ? tare_median(across, overlap->repeats) : 0,
	};
	return 0;
}

// The largest count of chunks that is searched.
static uint32_t most_chunks(const struct overlap *overlap)
{
	const struct tare_search_space *space = &overlap->options.space;
	uint32_t most = 1;

	for (size_t i = 0; i < space->chunk_count; i++)
		most = space->chunks[i] > most ? space->chunks[i] : most;
	return most;
}

// Sizes from the smallest chunk to the whole, in ascending order.
static int measure_points(struct overlap *overlap, enum tare_stage stage,
                          struct tare_calibration *calibration, struct tare_error *error)
{
	uint64_t align = overlap->work.align, before = 0;
	uint64_t parts = 1, wanted = most_chunks(overlap);
	size_t *count = &calibration->point_count[stage];
	int status = 0;

	*count = 0;
	while (parts < wanted)
		parts *= SIZE_STEP;
	for (; status == 0 && parts >= 1 && *count < TARE_STAGE_POINTS; parts /= SIZE_STEP) {
		uint64_t items = (overlap->items / parts + align - 1) / align * align;
		if (items == 0)
			items = align;
		if (items > overlap->items)
			items = overlap->items;
		if (items == before)
			continue;
		before = items;
		status = measure_point(overlap, stage, items, &calibration->points[stage][*count],
		                       error);
		*count += status == 0;
	}
	return status;
}

// ---- issuing

static int median_run(struct overlap *overlap, const struct tare_schedule *schedule, double *ns,
                      double *issue_ns, struct tare_error *error)
{
	return overlap_median_run(overlap, schedule, overlap->repeats, ns, issue_ns, error);
}

static uint32_t bounded_chunks(const struct overlap *overlap, uint32_t chunks)
{
	uint64_t blocks = overlap->items / overlap->work.align;
	return blocks < chunks ? (uint32_t)(blocks ? blocks : 1) : chunks;
}

// What a further operation adds to the time until all are appended. A driver that runs the work
// while it appends has that work in both counts alike.
static int measure_issue(struct overlap *overlap, struct tare_calibration *calibration,
                         struct tare_error *error)
{
	struct tare_schedule few = { .queues = 1, .chunks = bounded_chunks(overlap, ISSUE_FEW) };
	struct tare_schedule many = { .queues = 1, .chunks = bounded_chunks(overlap, ISSUE_MANY) };
	double few_ns = 0, many_ns = 0, ns, stages = 0;
	int status;

	// Then the device has all of it before it begins.
	if (tare_pipeline_by_device(overlap->pipeline))
		return 0;
	status = median_run(overlap, &few, &ns, &few_ns, error);

	for (uint32_t bits = tare_pipeline_stages(overlap->pipeline); bits; bits &= bits - 1)
		stages++;
	status = status ?: median_run(overlap, &many, &ns, &many_ns, error);
	if (status == 0 && many.chunks > few.chunks)
		calibration->issue_ns =
		    fmax(0, (many_ns - few_ns) / (stages * (many.chunks - few.chunks)));
	if (status < 0 || !(overlap->options.space.mechanisms >> TARE_MECHANISM_STAGE_QUEUES & 1))
		return status;
	// Events: two in three operations are waited for.
	few = many;
	few.mechanism = TARE_MECHANISM_STAGE_QUEUES;
	status = median_run(overlap, &few, &ns, &few_ns, error);
	if (status == 0 && stages > 1)
		calibration->issue_event_ns =
		    fmax(0, (few_ns - many_ns) / ((stages - 1) * many.chunks));
	return status;
}

// What launching a graph takes of the host, by the operations in it.
static int measure_graph(struct overlap *overlap, struct tare_calibration *calibration,
                         struct tare_error *error)
{
	struct tare_schedule few = { .queues = 1, .mechanism = TARE_MECHANISM_GRAPH };
	struct tare_schedule many = few;
	double few_ns = 0, many_ns = 0, ns, stages = 0;
	int status;

	if (!(overlap->options.space.mechanisms >> TARE_MECHANISM_GRAPH & 1) ||
	    tare_pipeline_by_device(overlap->pipeline))
		return 0;
	for (uint32_t bits = tare_pipeline_stages(overlap->pipeline); bits; bits &= bits - 1)
		stages++;
	few.chunks = bounded_chunks(overlap, ISSUE_FEW);
	many.chunks = bounded_chunks(overlap, ISSUE_MANY);
	status = median_run(overlap, &few, &ns, &few_ns, error);
	status = status ?: median_run(overlap, &many, &ns, &many_ns, error);
	if (status < 0)
		return status;
	if (many.chunks > few.chunks)
		calibration->graph_node_ns =
		    fmax(0, (many_ns - few_ns) / (stages * (many.chunks - few.chunks)));
	calibration->graph_launch_ns =
	    fmax(0, few_ns - stages * few.chunks * calibration->graph_node_ns);
	return 0;
}

// What the whole in one piece takes beyond its three operations.
static int measure_finish(struct overlap *overlap, struct tare_calibration *calibration,
                          struct tare_error *error)
{
	static const struct tare_schedule serial = { .chunks = 1, .queues = 1 };
	double ns = 0, predicted = 0;
	int status = median_run(overlap, &serial, &ns, NULL, error);

	calibration->finish_ns = 0;
	status = status ?: tare_predict(calibration, &overlap->work, &serial, &predicted, error);
	if (status == 0)
		calibration->finish_ns = fmax(0, ns - predicted);
	return status;
}

// ---- gaps

// Runs that show gaps: many chunks in one queue, in three, in a queue a stage, out of order.
static int measure_fitted(struct overlap *overlap, struct tare_error *error)
{
	static const struct tare_schedule wanted[] = {
		{ .chunks = 64, .queues = 1, .order = TARE_ORDER_DEPTH_FIRST },
		{ .chunks = 64, .queues = 3, .order = TARE_ORDER_DEPTH_FIRST },
		{ .chunks = 64,
		  .queues = 3,
		  .order = TARE_ORDER_INTERLEAVED,
		  .mechanism = TARE_MECHANISM_STAGE_QUEUES },
		{ .chunks = 64,
		  .queues = 1,
		  .order = TARE_ORDER_INTERLEAVED,
		  .mechanism = TARE_MECHANISM_OUT_OF_ORDER },
	};
	const struct tare_search_space *space = &overlap->options.space;
	uint32_t most = most_chunks(overlap);
	int status = 0;

	overlap->fitted_count = 0;
	for (size_t i = 0; status == 0 && i < sizeof wanted / sizeof *wanted; i++) {
		struct tare_timed_schedule *run = &overlap->fitted[overlap->fitted_count];
		if (!(space->mechanisms >> wanted[i].mechanism & 1))
			continue;
		run->schedule = wanted[i];
		if (run->schedule.chunks > most)
			run->schedule.chunks = most;
		run->schedule.chunks = bounded_chunks(overlap, run->schedule.chunks);
		if (run->schedule.chunks < 2)
			continue;
		status = median_run(overlap, &run->schedule, &run->ns, NULL, error);
		overlap->fitted_count += status == 0;
	}
	return status;
}

// ----

static int calibrate_balanced(struct overlap *overlap, struct tare_error *error)
{
	struct overlap_point *point = &overlap->points[overlap->balanced];
	struct tare_calibration *calibration = &point->calibration;
	uint32_t stages = tare_pipeline_stages(overlap->pipeline);
	int status = 0;

	calibration->bound = overlap->run->device->backend->binds_queues;
	overlap_set_cycles(overlap, point->cycles);
	for (int i = 0; status == 0 && i < TARE_STAGE_COUNT; i++)
		if (stages >> i & 1)
			status = measure_points(overlap, (enum tare_stage)i, calibration, error);
	status = status ?: measure_issue(overlap, calibration, error);
	status = status ?: measure_graph(overlap, calibration, error);
	status = status ?: measure_finish(overlap, calibration, error);
	status = status ?: measure_fitted(overlap, error);
	if (status == 0)
		status = tare_calibration_fit(calibration, &overlap->work, overlap->fitted,
		                              overlap->fitted_count, error);
	// What the whole in one piece takes has the gaps in it, which were not known then.
	status = status ?: measure_finish(overlap, calibration, error);
	return status < 0 ? status
	                  : tare_calibration_fit(calibration, &overlap->work, overlap->fitted,
	                                         overlap->fitted_count, error);
}

// The kernel's points where there is no time to measure them: those of the balanced point, as much
// longer as the whole is.
static void scale_points(struct overlap *overlap, struct overlap_point *point)
{
	tare_stage_points_stretch(point->calibration.points[TARE_STAGE_KERNEL],
	                          point->calibration.point_count[TARE_STAGE_KERNEL], overlap->items,
	                          overlap->points[overlap->balanced].stage[TARE_STAGE_KERNEL].ns,
	                          point->stage[TARE_STAGE_KERNEL].ns);
}

// How much more of the kernel gets done with launches side by side, by the size of chunk at which
// that is most.
static void find_side_by_side(const struct overlap *overlap, struct overlap_point *point)
{
	const struct tare_calibration *calibration = &point->calibration;
	double least_ns = INFINITY;

	for (size_t i = 0; i < calibration->point_count[TARE_STAGE_KERNEL]; i++) {
		const struct tare_stage_point *at = &calibration->points[TARE_STAGE_KERNEL][i];
		if (tare_stage_leaves_room(at))
			least_ns = fmin(least_ns, at->across_ns * (double)overlap->items /
			                              (double)at->amount);
	}
	point->modes.side_by_side = point->modes.alone_ns[TARE_STAGE_KERNEL] / least_ns;
}

static void choose_repeats(struct overlap *overlap)
{
	const struct overlap_time *stage = overlap->points[overlap->balanced].stage;
	double run_ns = stage[0].ns + stage[1].ns + stage[2].ns;
	double hold = CALIBRATE_SHARE * (double)overlap->budget_ns / (run_ns * RUNS_FOR_ALL);

	overlap->repeats = hold > 1 ? OVERLAP_REPEATS_MOST : hold > 0.6 ? 2 : 1;
	overlap->in_a_row = hold > 0.3 ? IN_A_ROW_MOST : 2;
}

int overlap_calibrate(struct overlap *overlap, struct tare_error *error)
{
	const struct tare_calibration *balanced = &overlap->points[overlap->balanced].calibration;
	int status;

	overlap_phase(overlap, CALIBRATE_SHARE);
	choose_repeats(overlap);
	overlap_progress(overlap, "calibrating the prediction");
	for (size_t i = 0; i < overlap->point_count; i++)
		overlap->points[i].calibration.modes = overlap->points[i].modes;
	status = calibrate_balanced(overlap, error);
	// The rest differs in how long the kernel takes.
	for (size_t i = 0; status == 0 && i < overlap->point_count; i++) {
		struct overlap_point *point = &overlap->points[i];
		if (i == overlap->balanced)
			continue;
		status = overlap_go_on(overlap, error);
		if (status < 0)
			return status;
		point->calibration = *balanced;
		point->calibration.modes = point->modes;
		overlap_set_cycles(overlap, point->cycles);
		if (overlap_phase_left_ns(overlap) > 0)
			status =
			    measure_points(overlap, TARE_STAGE_KERNEL, &point->calibration, error);
		else
			scale_points(overlap, point);
	}
	for (size_t i = 0; status == 0 && i < overlap->point_count; i++)
		find_side_by_side(overlap, &overlap->points[i]);
	return status < 0 ? status : overlap_probe_kinds(overlap, error);
}
