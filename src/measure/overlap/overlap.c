// SPDX-License-Identifier: Apache-2.0
// The experiment from beginning to end; each step is a file of its own (internal.h).
#include "measure/overlap/overlap.h"

#include "backend/call.h"
#include "base/units.h"
#include "measure/overlap/internal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FIT_NS INT64_C(50000000)
// Runs of everything in sequence that a point takes to be known well (measured: sequential 20,
// modes 40, search 40, finalists 50). Where the budget holds fewer, points are left out.
#define RUNS_A_POINT 60.0

// ---- what the files share

// ---- options

static const uint32_t default_chunks[] = { 1,  2,  3,  4,  6,  8,   12,  16,
	                                   24, 32, 48, 64, 96, 128, 192, 256 };
static const uint32_t default_queues[] = { 1, 2, 3, 4, 6, 8 };

static void fill_space(struct overlap *overlap)
{
	struct tare_search_space *space = &overlap->options.space;
	uint32_t can;
	char why[320] = "";

	if (space->chunk_count == 0) {
		memcpy(space->chunks, default_chunks, sizeof default_chunks);
		space->chunk_count = sizeof default_chunks / sizeof *default_chunks;
	}
	if (space->queue_count == 0) {
		memcpy(space->queues, default_queues, sizeof default_queues);
		space->queue_count = sizeof default_queues / sizeof *default_queues;
	}
	if (!space->orders)
		space->orders = (1u << TARE_ORDER_COUNT) - 1;
	if (!space->sizes)
		space->sizes = (1u << TARE_CHUNKS_COUNT) - 1;
	can = tare_pipeline_mechanisms(overlap->pipeline, why, sizeof why);
	if (!space->mechanisms)
		space->mechanisms = (1u << TARE_MECHANISM_COUNT) - 1;
	if (space->mechanisms & ~can)
		tare_result_warn(overlap->run->result, "mechanisms", NULL, "not searched: %s",
		                 why[0] ? why : "a mechanism that this device cannot do");
	space->mechanisms &= can;
	// Without device times that is said already.
	if (overlap->run->device->scripted && overlap->bench.stamped &&
	    !tare_pipeline_by_device(overlap->pipeline))
		tare_result_warn(
		    overlap->run->result, "host-times",
		    "schedules are timed by the host's clock, and hold this machine's own "
		    "work",
		    "%s",
		    overlap->bench.ungated[0] ? overlap->bench.ungated
		    : tare_pipeline_pinned(overlap->pipeline)
		        ? "the device's clock cannot be read"
		        : "the driver gives no pinned memory");
}

// How many chunks there can be: the last one may lack a part of a block.
static uint64_t blocks_of(const struct overlap *overlap)
{
	return (overlap->items + overlap->work.align - 1) / overlap->work.align;
}

// A chunk count of the user's that cannot be had is not passed over in silence.
static int check_space(struct overlap *overlap, bool warn, struct tare_error *error)
{
	const struct tare_search_space *space = &overlap->options.space;
	struct tare_schedule *all = calloc(TARE_SCHEDULES_MAX, sizeof *all);
	uint64_t blocks = blocks_of(overlap);
	size_t count;

	if (!all)
		return tare_fail(error, ENOMEM, "out of memory");
	count = tare_search_all(space, &overlap->work, all, TARE_SCHEDULES_MAX);
	free(all);
	if (count == 0)
		return tare_fail(error, EINVAL,
		                 "%llu items in blocks of %llu (--align) make at most %llu chunks; "
		                 "--chunks asks for more",
		                 (unsigned long long)overlap->items,
		                 (unsigned long long)overlap->work.align,
		                 (unsigned long long)blocks);
	if (warn && space->chunks[space->chunk_count - 1] > blocks)
		tare_result_warn(
		    overlap->run->result, "chunks-short", "take more --bytes or a smaller --align",
		    "chunk counts above %llu were left out: chunks begin at multiples of "
		    "%llu of the %llu items",
		    (unsigned long long)blocks, (unsigned long long)overlap->work.align,
		    (unsigned long long)overlap->items);
	return 0;
}

static void add_parameters(const struct overlap *overlap)
{
	struct tare_labels *parameters = &overlap->run->result->parameters;
	const struct tare_chunk_kernel *chunk = &overlap->built.chunk;
	const struct {
		const char *name;
		uint64_t number;
	} numbers[] = {
		{ "in_bytes", overlap->items * chunk->in_bytes },
		{ "out_bytes", overlap->items * chunk->out_bytes },
		{ "items", overlap->items },
		{ "align_items", overlap->work.align },
		{ "group_size", chunk->group_size },
		{ "pinned", tare_pipeline_pinned(overlap->pipeline) },
	};

	tare_labels_set_text(parameters, "kernel", overlap->built.title);
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		tare_labels_set_number(parameters, numbers[i].name, (int64_t)numbers[i].number);
}

// ---- points that the budget holds

// Orders them by how near they are to balance, so that cutting leaves the most telling ones.
static int compare_points(const void *a, const void *b)
{
	double left = fabs(log(((const struct overlap_point *)a)->ratio));
	double right = fabs(log(((const struct overlap_point *)b)->ratio));
	return (left > right) - (left < right);
}

static int compare_cycles(const void *a, const void *b)
{
	const struct overlap_point *left = a, *right = b;
	return (left->cycles > right->cycles) - (left->cycles < right->cycles);
}

// What one run in sequence takes at each point, from a run; then keeps what the budget holds.
static int cut_points(struct overlap *overlap, struct tare_error *error)
{
	static const struct tare_schedule serial = { .chunks = 1, .queues = 1 };
	struct overlap_point *points = overlap->points;
	size_t count = overlap->point_count, kept = 0;
	double runs_ns = 0, balanced;
	int status = 0;

	qsort(points, count, sizeof *points, compare_points);
	for (; status == 0 && kept < count; kept++) {
		int64_t ns = 0;
		overlap_set_cycles(overlap, points[kept].cycles);
		status = overlap_go_on(overlap, error);
		if (status == 0)
			status = tare_pipeline_run(overlap->pipeline, &serial, TARE_BREAK_NONE, &ns,
			                           NULL, error);
		points[kept].serial_once_ns = (double)ns;
		runs_ns += RUNS_A_POINT * (double)ns;
		if (kept > 0 && runs_ns > (double)overlap->budget_ns)
			break;
	}
	if (status < 0)
		return status;
	overlap->point_count = kept;
	balanced = points[0].ratio;
	qsort(points, kept, sizeof *points, compare_cycles);
	for (size_t i = 0; i < kept; i++)
		if (points[i].ratio == balanced)
			overlap->balanced = i;
	if (kept < count)
		tare_result_warn(
		    overlap->run->result, "points-short", "more --budget or fewer --bytes",
		    "measured at %zu of %zu values of cycles, those nearest to balance: "
		    "the budget does not hold more",
		    kept, count);
	return 0;
}

// ---- the flow

static void conclude(struct overlap *overlap)
{
	overlap->run->budget_ns = overlap->budget_ns;
	overlap_conclude_bounds(overlap);
	overlap_conclude_schedules(overlap);
	overlap_conclude_engines(overlap);
	overlap_add_plots(overlap);
	overlap_add_verdict(overlap);
}

static int measure(struct overlap *overlap, struct tare_error *error)
{
	static int (*const phases[])(struct overlap *, struct tare_error *) = {
		overlap_measure_sequential, overlap_measure_modes,
		overlap_calibrate,          overlap_search,
		overlap_measure_breaks,     overlap_verify_timed,
		overlap_add_timeline,
	};
	int status = 0;

	for (size_t i = 0; status == 0 && i < sizeof phases / sizeof *phases; i++)
		status = phases[i](overlap, error);
	if (status < 0 && !tare_run_is_partial(overlap->run, status))
		return status;
	if (status == -EINTR)
		overlap->run->result->interrupted = true;
	conclude(overlap);
	return tare_run_end(overlap->run, status, error);
}

// A kernel whose chunks do not add up to the whole ends the run before figures are made of it.
static int verify_first(struct overlap *overlap, struct tare_error *error)
{
	struct tare_schedule cut = { .chunks = 1, .queues = 1 };
	bool right = true;
	int status = overlap_verify(overlap, &cut, TARE_BREAK_NONE, &right, error);

	cut.chunks = 3;
	if (status == 0 && right && blocks_of(overlap) >= cut.chunks) {
		tare_pipeline_set_backwards(overlap->pipeline, true);
		status = overlap_verify(overlap, &cut, TARE_BREAK_NONE, &right, error);
		tare_pipeline_set_backwards(overlap->pipeline, false);
		overlap->verified_count = 0;
		if (status == 0 && right)
			status = overlap_verify(overlap, &cut, TARE_BREAK_NONE, &right, error);
	}
	if (status == 0 && !right)
		return tare_fail(error, EBADMSG, "%s", overlap->wrong);
	return status;
}

static int prepare(struct overlap *overlap, char **log, struct tare_error *error)
{
	bool chunks_given = overlap->options.space.chunk_count > 0;
	int status = tare_bench_open(overlap->run, FIT_NS, &overlap->bench, error);

	overlap_progress(overlap, "building the kernel");
	status = status ?: overlap_build_kernel(overlap, log, error);
	status = status ?: overlap_open_pipeline(overlap, error);
	if (status == 0)
		fill_space(overlap);
	status = status ?: check_space(overlap, false, error);
	status = status ?: verify_first(overlap, error);
	tare_run_restart(overlap->run);
	overlap_progress(overlap, "choosing cycles");
	status = status ?: overlap_choose_points(overlap, error);
	// Over how many bytes is known now. A pipeline that was opened anew has verified nothing.
	status = status ?: check_space(overlap, chunks_given, error);
	if (status == 0 && overlap->verified_count == 0)
		status = verify_first(overlap, error);
	if (status == 0) {
		overlap_warn_work(overlap);
		add_parameters(overlap);
		status = cut_points(overlap, error);
	}
	if (status == -EOVERFLOW && error) {
		struct tare_error why = *error;
		tare_fail(error, EOVERFLOW, "a stage of the work %.300s; fewer --bytes may do",
		          why.message);
	}
	return status;
}

static void overlap_free(struct overlap *overlap)
{
	tare_pipeline_free(overlap->pipeline);
	tare_built_kernel_free(&overlap->built);
	tare_bench_close(&overlap->bench);
	for (size_t i = 0; overlap->timed && i < overlap->timed_count; i++)
		tare_series_clear(&overlap->timed[i].series);
	free(overlap->timed);
	free(overlap);
}

int tare_measure_overlap(struct tare_run *run, const struct tare_overlap_options *options,
                         char **log, struct tare_error *error)
{
	struct overlap *overlap = calloc(1, sizeof *overlap);
	int status = tare_run_begin(run, TARE_OVERLAP_BUDGET_NS, error);

	if (overlap)
		overlap->timed = calloc(OVERLAP_TIMED_MAX, sizeof *overlap->timed);
	if (!overlap || !overlap->timed)
		status = tare_fail(error, ENOMEM, "out of memory");
	if (status == 0) {
		overlap->run = run;
		overlap->budget_ns = run->budget_ns;
		if (options)
			overlap->options = *options;
		else
			overlap->options.breaks = TARE_OVERLAP_ALL_BREAKS;
		status = prepare(overlap, log, error);
		run->result->interrupted = status == -EINTR;
	}
	status = status ?: measure(overlap, error);
	run->budget_ns = overlap ? overlap->budget_ns : run->budget_ns;
	if (tare_device_is_gone(status))
		tare_device_abandon(run->device);
	if (status == 0 && overlap->wrong[0])
		status = tare_fail(error, EBADMSG, "%s", overlap->wrong);
	if (overlap)
		overlap_free(overlap);
	return status;
}
