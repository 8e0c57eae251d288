// SPDX-License-Identifier: Apache-2.0
// Which schedule is best: those that the prediction likes and a few at random are timed in rounds,
// the fastest few to convergence, each in turn with the serial one.
#include "backend/call.h"
#include "measure/overlap/internal.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define QUICK_SHARE 0.13
#define VERIFY_SHARE 0.1
#define FINAL_SHARE 0.25
#define FINAL_MOST 0.32  // if that is enough to converge everywhere
#define AFTER_FINAL 0.15 // of the budget is left for breaks and verification
#define ROUNDS 5
// At the balanced point the search is thorough, elsewhere it follows.
#define LIKELY_BALANCED 16
#define CONTROLS_BALANCED 4
#define LIKELY_OTHERS 6
#define CONTROLS_OTHERS 1
// On a real device a run costs what it takes, not what the simulation of it takes.
#define MORE_CONTROLS 4
#define CANDIDATES_MOST (LIKELY_BALANCED + CONTROLS_BALANCED + MORE_CONTROLS)

static const struct tare_schedule serial_schedule = { .chunks = 1, .queues = 1 };
// The CUDA Handbook's program (6.5): a chunk for each of its streams, all copies in first.
static const struct tare_schedule handbook_schedule = { .chunks = OVERLAP_HANDBOOK_STREAMS,
	                                                .queues = OVERLAP_HANDBOOK_STREAMS,
	                                                .order = TARE_ORDER_BREADTH_FIRST };

// ---- quick timing

// The Handbook's schedule is timed at each point, whether it is promising or not.
static int add_handbook(struct overlap *overlap, size_t at, struct tare_error *error)
{
	struct overlap_timed timed = { .point = at,
		                       .schedule = handbook_schedule,
		                       .handbook = true,
		                       .series.rule = tare_stopping_default() };
	uint64_t blocks = overlap->items / overlap->work.align;
	int status;

	if (!overlap->own || blocks < handbook_schedule.chunks ||
	    overlap->timed_count == OVERLAP_TIMED_MAX)
		return 0;
	for (size_t i = 0; i < overlap->timed_count; i++)
		if (overlap->timed[i].point == at &&
		    overlap_same_schedule(&overlap->timed[i].schedule, &handbook_schedule)) {
			overlap->timed[i].handbook = true;
			return 0;
		}
	status = tare_predict(&overlap->points[at].calibration, &overlap->work, &handbook_schedule,
	                      &timed.predicted_ns, error);
	if (status == 0)
		overlap->timed[overlap->timed_count++] = timed;
	return status;
}

static int list_candidates(struct overlap *overlap, size_t at, struct tare_error *error)
{
	struct overlap_point *point = &overlap->points[at];
	struct tare_candidate candidates[CANDIDATES_MOST];
	bool balanced = at == overlap->balanced;
	size_t more = overlap->run->simulated ? 0 : MORE_CONTROLS;
	int count = tare_search_candidates(
	    &point->calibration, &overlap->work, &overlap->options.space,
	    overlap->run->seed + point->cycles, balanced ? LIKELY_BALANCED : LIKELY_OTHERS,
	    more + (balanced ? CONTROLS_BALANCED : CONTROLS_OTHERS), candidates, CANDIDATES_MOST,
	    error);

	for (int i = 0; i < count; i++) {
		// One chunk is the serial run, which the finalists are compared with.
		if (candidates[i].schedule.chunks == 1 || overlap->timed_count == OVERLAP_TIMED_MAX)
			continue;
		overlap->timed[overlap->timed_count++] =
		    (struct overlap_timed){ .point = at,
			                    .schedule = candidates[i].schedule,
			                    .predicted_ns = candidates[i].predicted_ns,
			                    .control = candidates[i].control,
			                    .series.rule = tare_stopping_default() };
	}
	return count < 0 ? count : add_handbook(overlap, at, error);
}

// The first and last schedule of a point in overlap->timed.
static void range_of(const struct overlap *overlap, size_t point, size_t *from, size_t *to)
{
	*from = 0;
	while (*from < overlap->timed_count && overlap->timed[*from].point != point)
		++*from;
	*to = *from;
	while (*to < overlap->timed_count && overlap->timed[*to].point == point)
		++*to;
}

static int time_once(struct overlap *overlap, struct overlap_timed *timed, struct tare_error *error)
{
	int64_t ns = 0;
	int status = tare_pipeline_run(overlap->pipeline, &timed->schedule, TARE_BREAK_NONE, &ns,
	                               NULL, error);

	if (status < 0)
		return status;
	return tare_series_add(&timed->series, ns) < 0 ? tare_fail(error, ENOMEM, "out of memory")
	                                               : 0;
}

// Rounds over all of them, so that a busy moment of the machine falls on all alike. What the time
// does not hold is not timed.
static int time_point(struct overlap *overlap, size_t at, int64_t limit_ns,
                      struct tare_error *error)
{
	struct tare_host_time begin = tare_run_now(overlap->run);
	size_t from, to;
	char title[96];
	int status = 0;

	range_of(overlap, at, &from, &to);
	overlap_set_cycles(overlap, overlap->points[at].cycles);
	snprintf(title, sizeof title, "trying %zu schedules, kernel : copy %.2f", to - from,
	         overlap->points[at].ratio);
	overlap_progress(overlap, title);
	for (int round = 0; status == 0 && round < ROUNDS; round++)
		for (size_t i = from; status == 0 && i < to; i++) {
			int64_t used = tare_host_elapsed_ns(begin, tare_run_now(overlap->run));
			status = overlap_go_on(overlap, error);
			if (status < 0)
				return status;
			if (used > limit_ns && (round > 0 || i > from))
				return 0;
			status = time_once(overlap, &overlap->timed[i], error);
		}
	return status;
}

static double quick_ns(const struct overlap_timed *timed)
{
	struct tare_summary summary;

	if (timed->series.n == 0 || timed->wrong ||
	    tare_summarise(timed->series.samples, timed->series.n, 0, &summary) < 0)
		return INFINITY;
	return summary.median;
}

// ---- the finalists

struct finals {
	struct overlap *overlap;
	size_t point;
	// and the Handbook's, and what the prediction likes best
	size_t timed[OVERLAP_FINALISTS + 2];
	size_t count;
	uint32_t turn;
	double round_ns; // what a sample takes
};

static void add_finalist(struct finals *finals, size_t timed)
{
	finals->overlap->timed[timed].in_final = true;
	finals->round_ns += quick_ns(&finals->overlap->timed[timed]);
	finals->timed[finals->count++] = timed;
}

static void add_liked(struct finals *finals, size_t from, size_t to)
{
	const struct overlap_timed *timed = finals->overlap->timed;
	size_t liked = to;

	for (size_t i = from; i < to; i++)
		if (!timed[i].handbook && timed[i].predicted_ns > 0 &&
		    (liked == to || timed[i].predicted_ns < timed[liked].predicted_ns))
			liked = i;
	if (liked < to && !timed[liked].in_final && isfinite(quick_ns(&timed[liked])))
		add_finalist(finals, liked);
}

static void choose_finalists(struct finals *finals)
{
	struct overlap *overlap = finals->overlap;
	size_t from, to, chosen = 0;

	range_of(overlap, finals->point, &from, &to);
	finals->count = 0;
	finals->round_ns = overlap->points[finals->point].serial_once_ns;
	for (size_t i = from; i < to; i++)
		if (overlap->timed[i].handbook && isfinite(quick_ns(&overlap->timed[i])))
			add_finalist(finals, i);
	while (chosen < OVERLAP_FINALISTS) {
		double best_ns = INFINITY;
		size_t best = to;
		for (size_t i = from; i < to; i++)
			if (!overlap->timed[i].in_final && quick_ns(&overlap->timed[i]) < best_ns) {
				best_ns = quick_ns(&overlap->timed[i]);
				best = i;
			}
		if (best == to)
			break;
		add_finalist(finals, best);
		chosen++;
	}
	// How good the choice was is known only in turn with the best.
	if (!overlap->run->simulated)
		add_liked(finals, from, to);
}

static int begin_finals(struct tare_measurement *measurement, struct tare_error *error)
{
	struct finals *finals = measurement->context;

	(void)error;
	overlap_set_cycles(finals->overlap, finals->overlap->points[finals->point].cycles);
	return 0;
}

// Figure 0 is the serial run. The order changes from sample to sample.
static int sample_finals(struct tare_measurement *measurement, int64_t *values,
                         struct tare_error *error)
{
	struct finals *finals = measurement->context;
	struct overlap *overlap = finals->overlap;
	size_t figures = finals->count + 1;
	int status = 0;

	for (size_t k = 0; status == 0 && k < figures; k++) {
		size_t figure = (k + finals->turn) % figures;
		const struct tare_schedule *schedule =
		    figure == 0 ? &serial_schedule
		                : &overlap->timed[finals->timed[figure - 1]].schedule;
		status = tare_pipeline_run(overlap->pipeline, schedule, TARE_BREAK_NONE,
		                           &values[figure], NULL, error);
	}
	finals->turn++;
	return status;
}

// The output of the last run is one thing; each schedule is run once more over poisoned output.
static int end_finals(struct tare_measurement *measurement, enum tare_verified *verified,
                      struct tare_error *error)
{
	struct finals *finals = measurement->context;
	bool right = true;
	int status =
	    overlap_verify(finals->overlap, &serial_schedule, TARE_BREAK_NONE, &right, error);

	for (size_t i = 0; status == 0 && right && i < finals->count; i++)
		status = overlap_verify(finals->overlap,
		                        &finals->overlap->timed[finals->timed[i]].schedule,
		                        TARE_BREAK_NONE, &right, error);
	*verified = status < 0 ? TARE_NOT_VERIFIABLE : right ? TARE_VERIFIED : TARE_WRONG;
	return status;
}

static void label(const struct overlap *overlap, size_t point, const struct tare_schedule *schedule,
                  const struct overlap_timed *timed, struct tare_labels *labels)
{
	{
		tare_labels_set_text(labels, "group", "concurrent");
		overlap_label_point(overlap, &overlap->points[point], labels);
		overlap_label_schedule(schedule, labels);
	}
	if (timed && timed->handbook)
		tare_labels_set_number(labels, "handbook", 1);
	if (timed && timed->control)
		tare_labels_set_number(labels, "control", 1);
}

static void plan_finals(struct finals *finals, struct tare_measurement *measurement)
{
	struct overlap *overlap = finals->overlap;

	measurement->context = finals;
	measurement->begin = begin_finals;
	measurement->sample = sample_finals;
	measurement->end = end_finals;
	measurement->weight = finals->round_ns;
	snprintf(measurement->title, sizeof measurement->title,
	         "the best schedules, kernel : copy %.2f", overlap->points[finals->point].ratio);
	for (size_t i = 0; i <= finals->count; i++) {
		const struct overlap_timed *timed =
		    i ? &overlap->timed[finals->timed[i - 1]] : NULL;
		struct tare_figure *figure = tare_measurement_add(
		    measurement, "time", "ns", overlap_run_source(overlap), "%s; in turn with %s",
		    overlap_run_method(overlap,
		                       "host time of a run from before the first append until "
		                       "finish returned, queues without stamps"),
		    i ? "the serial run and the other best schedules"
		      : "the best schedules, as one chunk in one queue");
		label(overlap, finals->point, i ? &timed->schedule : &serial_schedule, timed,
		      &figure->labels);
		figure->quantum = overlap_run_step_ns(overlap);
	}
}

static void take_finals(struct finals *finals, const struct tare_measurement *measurement)
{
	struct overlap *overlap = finals->overlap;
	struct overlap_point *point = &overlap->points[finals->point];

	point->serial = overlap_time_of(overlap, measurement->figures[0].cell);
	for (size_t i = 0; i < finals->count; i++) {
		struct overlap_timed *timed = &overlap->timed[finals->timed[i]];
		timed->cell = measurement->figures[i + 1].cell;
		timed->time = overlap_time_of(overlap, timed->cell);
		if (!timed->time.present || timed->wrong ||
		    (point->best.present && point->best.ns <= timed->time.ns))
			continue;
		point->best = timed->time;
		point->best_schedule = timed->schedule;
		point->best_cell = timed->cell;
	}
}

// ---- the schedules that were only timed in rounds

static void add_quick_cells(struct overlap *overlap)
{
	for (size_t i = 0; i < overlap->timed_count; i++) {
		struct overlap_timed *timed = &overlap->timed[i];
		struct tare_cell *cell;
		char method[400];
		if (timed->in_final || !timed->verified)
			continue;
		snprintf(method, sizeof method,
		         "a few runs, in rounds over all schedules that were tried; %s",
		         overlap_run_method(overlap, "host time from before the first append until "
		                                     "finish returned"));
		cell = tare_result_add_cell(overlap->run->result, "time", "ns",
		                            overlap_run_source(overlap));
		label(overlap, timed->point, &timed->schedule, timed, &cell->labels);
		tare_cell_set_method(cell, method);
		tare_cell_take_series(cell, &timed->series, TARE_NOT_CONVERGED);
		cell->verified = timed->wrong ? TARE_WRONG : TARE_VERIFIED;
		timed->cell = overlap->run->result->cell_count - 1;
		timed->time = overlap_time_of(overlap, timed->cell);
	}
}

// More time than usual where it gives every finalist the samples that it needs to converge.
static void begin_final_phase(struct overlap *overlap, double round_ns)
{
	double share = (OVERLAP_SAMPLES + 4) * round_ns / (double)overlap->budget_ns;

	overlap_phase(overlap, share > FINAL_SHARE && share <= FINAL_MOST ? share : FINAL_SHARE);
	if ((double)overlap->run->budget_ns > (1 - AFTER_FINAL) * (double)overlap->budget_ns)
		overlap->run->budget_ns = (int64_t)((1 - AFTER_FINAL) * (double)overlap->budget_ns);
}

static int measure_finals(struct overlap *overlap, struct tare_error *error)
{
	struct tare_measurement *measurements = calloc(overlap->point_count, sizeof *measurements);
	struct finals *finals = calloc(overlap->point_count, sizeof *finals);
	int status = measurements && finals ? 0 : -ENOMEM;
	double round_ns = 0;

	for (size_t i = 0; status == 0 && i < overlap->point_count; i++) {
		finals[i] = (struct finals){ .overlap = overlap, .point = i };
		choose_finalists(&finals[i]);
		round_ns += finals[i].round_ns;
		plan_finals(&finals[i], &measurements[i]);
	}
	begin_final_phase(overlap, round_ns);
	if (status == 0)
		status = tare_run_measure(overlap->run, measurements, overlap->point_count, error);
	else
		tare_fail(error, ENOMEM, "out of memory");
	for (size_t i = 0; measurements && finals && i < overlap->point_count; i++) {
		if (measurements[i].figure_count == finals[i].count + 1)
			take_finals(&finals[i], &measurements[i]);
		tare_measurement_clear(&measurements[i]);
	}
	free(measurements);
	free(finals);
	return status;
}

int overlap_search(struct overlap *overlap, struct tare_error *error)
{
	double weights = 0;
	int status = 0;

	for (size_t i = 0; status == 0 && i < overlap->point_count; i++) {
		status = list_candidates(overlap, i, error);
		weights += (1 + overlap->points[i].ratio) * (i == overlap->balanced ? 3 : 1);
	}
	overlap_phase(overlap, QUICK_SHARE);
	double phase_ns = (double)overlap_phase_left_ns(overlap);
	for (size_t i = 0; status == 0 && i < overlap->point_count; i++) {
		double weight = (1 + overlap->points[i].ratio) * (i == overlap->balanced ? 3 : 1);
		status = time_point(overlap, i, (int64_t)(phase_ns * weight / weights), error);
	}
	return status < 0 ? status : measure_finals(overlap, error);
}

// Every schedule that is reported is run once over poisoned output. What the time does not hold is
// not reported.
int overlap_verify_timed(struct overlap *overlap, struct tare_error *error)
{
	int status = 0;

	overlap_phase(overlap, VERIFY_SHARE);
	overlap_progress(overlap, "verifying");
	for (size_t i = 0; status == 0 && i < overlap->timed_count; i++) {
		struct overlap_timed *timed = &overlap->timed[i];
		bool right = true;
		if (timed->series.n == 0 || timed->in_final)
			continue;
		status = overlap_go_on(overlap, error);
		if (status < 0)
			return status;
		if (overlap_phase_left_ns(overlap) == 0)
			break;
		overlap_set_cycles(overlap, overlap->points[timed->point].cycles);
		status = overlap_verify(overlap, &timed->schedule, TARE_BREAK_NONE, &right, error);
		timed->wrong = !right;
		timed->verified = status == 0;
	}
	add_quick_cells(overlap);
	return status;
}
