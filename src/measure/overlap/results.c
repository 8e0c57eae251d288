// SPDX-License-Identifier: Apache-2.0
// What follows from the figures of `overlap`: bounds, engines, how good the prediction was.
#include "measure/overlap/internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// A time below the bound by less than this is no contradiction.
#define BOUND_TOLERANCE 0.01
// And by less than this it is not worth a word when it may be noise.
#define BOUND_DOUBT 0.05

// ---- the bound

// A stage that is there and could not be timed alone would count as no work at all.
static bool find_bound(struct overlap *overlap, struct overlap_point *point)
{
	uint32_t stages = overlap->pipeline ? tare_pipeline_stages(overlap->pipeline) : 0;
	struct tare_error why = { 0 };

	for (int i = 0; i < TARE_STAGE_COUNT; i++)
		if (stages >> i & 1 && !(point->modes.alone_ns[i] > 0)) {
			snprintf(point->unbounded, sizeof point->unbounded,
			         "the stage %s alone was not measured",
			         tare_stage_name((enum tare_stage)i));
			return false;
		}
	if (tare_overlap_bound(&point->modes, &point->bound, &why) < 0) {
		snprintf(point->unbounded, sizeof point->unbounded, "%.190s", why.message);
		return false;
	}
	return true;
}

static void set(struct overlap *overlap, const struct overlap_point *point, const char *what,
                const char *quantity, const char *unit, double value, double low, double high,
                const char *method)
{
	struct tare_cell *cell = overlap_model(overlap, "bound", what, point, quantity, unit);

	tare_cell_set_method(cell, method);
	if (isfinite(value))
		tare_cell_set_model(cell, value, low, high);
	else
		tare_cell_set_absent(cell, "%s",
		                     point->unbounded[0]   ? point->unbounded
		                     : point->best.present ? "the best schedule is faster"
		                                           : "no schedule was measured");
}

double overlap_attainable_ns(const struct overlap_point *point)
{
	const struct tare_schedule *schedule = &point->best_schedule;
	uint32_t chunks = point->best.present ? schedule->chunks : 1;
	double attainable;

	// Tapered chunks (1 2 4 ... 4 2 1) begin and end as so many equal ones do.
	if (schedule->sizes == TARE_CHUNKS_TAPERED && chunks > 2)
		chunks = chunks == 3 ? 4 : 4 * chunks - 10;
	// Engines that stages share, and how they slow each other, are in the bound.
	attainable =
	    fmax(point->bound.ns, tare_overlap_attainable_ns(&point->modes, chunks, false));
	return point->best.present && point->best.high < attainable ? NAN : attainable;
}

static void warn_exceeded(struct overlap *overlap, const struct overlap_point *point)
{
	const struct overlap_time *best = &point->best;
	bool sure = best->high < point->bound.ns * point->bound_low * (1 - BOUND_TOLERANCE);

	if (!best->present || best->ns >= point->bound.ns * (1 - (sure ? 0 : BOUND_DOUBT)))
		return;
	tare_result_warn(
	    overlap->run->result, "bound-exceeded",
	    sure ? "take the share of the bound with care, or more --bytes"
	         : "more --budget, or a quieter machine",
	    "at kernel : copy %.2f the best schedule is %.0f %% faster than the bound from whole "
	    "buffers: %s",
	    point->ratio, 100 * (point->bound.ns / best->ns - 1),
	    sure ? "chunks may fit into a cache that whole buffers do not fit into, or the machine "
	           "was busy while the stages were timed alone"
	         : "their intervals overlap, so that noise can be the cause");
}

static void conclude_bound(struct overlap *overlap, struct overlap_point *point)
{
	const struct overlap_time *best = &point->best, *serial = &point->serial;
	double bound = NAN, attainable = NAN, sum = NAN, amdahl = NAN, share = NAN, gain = NAN;

	point->bounded = find_bound(overlap, point);
	if (point->bounded) {
		bound = point->bound.ns;
		sum = point->bound.serial_ns;
		amdahl = tare_overlap_amdahl(&point->modes);
		attainable = overlap_attainable_ns(point);
		if (best->present)
			share = 100 * bound / best->ns;
	}
	if (best->present && serial->present)
		gain = serial->ns / best->ns;
	set(overlap, point, "kernel-to-copy", "ratio", "1", point->ratio, NAN, NAN,
	    "time of the kernel over that of the longer copy, each alone");
	set(overlap, point, "bound", "time", "ns", bound, bound * point->bound_low,
	    bound * point->bound_high,
	    point->modes.side_by_side > 1
	        ? "least time over all sets of stages at once such that all work "
	          "gets done, at the speeds measured for each set; the kernel at "
	          "its rate with launches side by side, slowed by copies as one is"
	        : "least time over all sets of stages at once such that all work "
	          "gets done, at the speeds measured for each set");
	set(overlap, point, "serial", "time", "ns", sum, NAN, NAN,
	    "sum of the stages alone, as the bound sees them");
	set(overlap, point, "attainable", "time", "ns", attainable, NAN, NAN,
	    "the bound, and filling and draining with the best schedule's chunks");
	if (point->bounded && point->modes.side_by_side > 1)
		set(overlap, point, "kernel-side-by-side", "time", "ns",
		    tare_overlap_stage_ns(&point->modes, TARE_STAGE_KERNEL), NAN, NAN,
		    "the kernel of the whole work where launches of chunks run side by "
		    "side, one in each queue: the least over the sizes of chunks");
	set(overlap, point, "speed-up", "ratio", "1", gain, serial->low / best->high,
	    serial->high / best->low,
	    "serial time over the best schedule's, both measured in turn");
	set(overlap, point, "share", "share", "%", share,
	    share * point->bound_low * best->ns / best->high,
	    share * point->bound_high * best->ns / best->low,
	    "the bound over the best schedule's time");
	set(overlap, point, "amdahl", "ratio", "1", amdahl, NAN, NAN,
	    "the speed-up by Amdahl's law with two processors, as the CUDA Handbook "
	    "idealises it");
	if (point->bounded)
		warn_exceeded(overlap, point);
}

// How near the kernel is to the rate at which the device's memory was measured to copy: near 100 %
// more cycles cost nothing yet, far below the kernel computes.
static void conclude_memory(struct overlap *overlap, const struct overlap_point *point)
{
	const struct tare_peaks *peaks = &overlap->options.peaks;
	const struct tare_chunk_kernel *chunk = &overlap->built.chunk;
	const struct overlap_time *kernel = &point->stage[TARE_STAGE_KERNEL];
	double ceiling = peaks->per_second[TARE_CEILING_MEMORY_COPY];
	double bytes = (double)(overlap->items * (chunk->in_bytes + chunk->out_bytes));
	double share = 100 * bytes / (kernel->ns * 1e-9) / ceiling;
	char method[400];

	if (!peaks->present || !(ceiling > 0) || !kernel->present)
		return;
	snprintf(method, sizeof method,
	         "bytes in and out over the kernel's time, of the rate at which device memory "
	         "copies (%s)",
	         peaks->origin);
	set(overlap, point, "kernel-memory-share", "share", "%", share,
	    share * kernel->ns / kernel->high, share * kernel->ns / kernel->low, method);
}

void overlap_conclude_bounds(struct overlap *overlap)
{
	for (size_t i = 0; i < overlap->point_count; i++) {
		conclude_bound(overlap, &overlap->points[i]);
		conclude_memory(overlap, &overlap->points[i]);
	}
}

// ---- the prediction

static void add_prediction(struct overlap *overlap, const struct overlap_timed *timed,
                           const char *what, const char *quantity, const char *unit, double value)
{
	struct tare_cell *cell = overlap_model(overlap, "concurrent", NULL,
	                                       &overlap->points[timed->point], quantity, unit);

	overlap_label_schedule(&timed->schedule, &cell->labels);
	if (timed->control)
		tare_labels_set_number(&cell->labels, "control", 1);
	tare_labels_set_text(&cell->labels, "what", what);
	tare_cell_set_model(cell, value, NAN, NAN);
}

// A run that the prediction was fitted to says nothing about how good it is.
static bool was_fitted(const struct overlap *overlap, const struct overlap_timed *timed)
{
	for (size_t i = 0; timed->point == overlap->balanced && i < overlap->fitted_count; i++)
		if (overlap_same_schedule(&overlap->fitted[i].schedule, &timed->schedule))
			return true;
	for (size_t i = 0; i < overlap->points[timed->point].probe_count; i++)
		if (overlap_same_schedule(&overlap->points[timed->point].probes[i],
		                          &timed->schedule))
			return true;
	return false;
}

// Kinds of schedules that are not as the model has them.
static void add_corrections(struct overlap *overlap, const struct overlap_point *point)
{
	for (int i = 0; i < (int)TARE_MECHANISM_COUNT * (int)TARE_ORDER_COUNT; i++) {
		int mechanism = i / TARE_ORDER_COUNT, order = i % TARE_ORDER_COUNT;
		const struct tare_kind_correction *kind =
		    &point->calibration.correction[mechanism][order];
		for (size_t k = 0; k < kind->count; k++) {
			struct tare_cell *cell =
			    overlap_model(overlap, "prediction", "correction", point, "ratio", "1");
			tare_labels_set_text(&cell->labels, "mechanism",
			                     tare_mechanism_name((enum tare_mechanism)mechanism));
			tare_labels_set_text(&cell->labels, "order",
			                     tare_order_name((enum tare_issue_order)order));
			tare_labels_set_number(&cell->labels, "chunks", kind->chunks[k]);
			tare_labels_set_number(&cell->labels, "in-sequence",
			                       point->in_sequence[mechanism][order]);
			tare_cell_set_method(cell,
			                     "measured time over the engine model's of a run of "
			                     "this mechanism and order, where it is off by more "
			                     "than 5 %; predictions of its kind are multiplied by "
			                     "it");
			tare_cell_set_model(cell, kind->factor[k], NAN, NAN);
		}
	}
}

static void add_summary(struct overlap *overlap, const struct overlap_point *point,
                        const char *what, double value, const char *method)
{
	struct tare_cell *cell = overlap_model(overlap, "prediction", what, point, "error", "%");

	tare_cell_set_method(cell, method);
	tare_cell_set_model(cell, value, NAN, NAN);
}

struct errors {
	double sum, worst, noise;
	size_t count, noise_count;
};

// Mean difference of two of a schedule's runs, in rounds over all schedules, in % of their median;
// NAN: there were no two.
static double noise_of(const struct overlap *overlap, const struct overlap_timed *timed)
{
	const struct tare_cell *cell = &overlap->run->result->cells[timed->cell];
	size_t pairs = cell->summary.n * (cell->summary.n - 1) / 2;
	double sum = 0;

	if (cell->summary.n < 2 || !cell->samples)
		return NAN;
	for (size_t i = 0; i < cell->summary.n; i++)
		for (size_t k = 0; k < i; k++)
			sum += fabs((double)cell->samples[i] - (double)cell->samples[k]);
	return 100 * sum / (double)pairs / cell->summary.median;
}

static void add_errors(struct overlap *overlap, const struct overlap_point *point,
                       const struct errors *errors)
{
	if (errors->count)
		add_summary(overlap, point, "mean-error", errors->sum / (double)errors->count,
		            "mean of the absolute errors over the schedules that were "
		            "measured, without those that the prediction was fitted to "
		            "or corrected by");
	if (errors->count)
		add_summary(overlap, point, "worst-error", errors->worst,
		            "the largest of these errors");
	if (errors->noise_count)
		add_summary(overlap, point, "noise", errors->noise / (double)errors->noise_count,
		            "by how much two runs of the same schedule differ, mean over all "
		            "pairs of each and over the schedules: a part of the errors");
}

// How much longer the schedule takes that the prediction likes best than the best one measured.
static void add_regret(struct overlap *overlap, size_t at)
{
	const struct overlap_point *point = &overlap->points[at];
	const struct overlap_timed *chosen = NULL;
	struct tare_cell *cell;

	for (size_t i = 0; i < overlap->timed_count; i++) {
		const struct overlap_timed *timed = &overlap->timed[i];
		if (timed->point == at && !timed->handbook && timed->predicted_ns > 0 &&
		    (!chosen || timed->predicted_ns < chosen->predicted_ns))
			chosen = timed;
	}
	if (!chosen || !point->best.present)
		return;
	cell = overlap_model(overlap, "prediction", "chosen", point, "excess", "%");
	overlap_label_schedule(&chosen->schedule, &cell->labels);
	tare_cell_set_method(
	    cell, "measured time of the schedule that the prediction likes best, over that "
	          "of the best one measured, less 1");
	if (chosen->time.present && !chosen->wrong)
		tare_cell_set_model(cell, 100 * (chosen->time.ns / point->best.ns - 1),
		                    100 * (chosen->time.low / point->best.high - 1),
		                    100 * (chosen->time.high / point->best.low - 1));
	else
		tare_cell_set_absent_as(cell, TARE_ABSENT_NO_TIME,
		                        "the budget did not hold a run of it");
}

static void conclude_predictions(struct overlap *overlap, size_t at, struct errors *all)
{
	struct errors here = { 0 };

	for (size_t i = 0; i < overlap->timed_count; i++) {
		const struct overlap_timed *timed = &overlap->timed[i];
		double error;
		if (timed->point != at || !timed->time.present || !(timed->predicted_ns > 0))
			continue;
		error = 100 * (timed->predicted_ns / timed->time.ns - 1);
		add_prediction(overlap, timed, "predicted", "time", "ns", timed->predicted_ns);
		add_prediction(overlap, timed, "error", "error", "%", error);
		if (was_fitted(overlap, timed))
			continue;
		double noise = noise_of(overlap, timed);
		here.noise += isfinite(noise) ? noise : 0;
		here.noise_count += isfinite(noise) ? 1 : 0;
		here.sum += fabs(error);
		here.worst = fmax(here.worst, fabs(error));
		here.count++;
	}
	all->sum += here.sum;
	all->noise += here.noise;
	all->noise_count += here.noise_count;
	all->worst = fmax(all->worst, here.worst);
	all->count += here.count;
	if (overlap->point_count > 1)
		add_errors(overlap, &overlap->points[at], &here);
	add_regret(overlap, at);
}

void overlap_conclude_schedules(struct overlap *overlap)
{
	struct errors all = { 0 };

	for (size_t i = 0; i < overlap->point_count; i++) {
		if (overlap->points[i].best.present)
			tare_labels_set_number(
			    &overlap->run->result->cells[overlap->points[i].best_cell].labels,
			    "best", 1);
	}
	for (size_t i = 0; i < overlap->point_count; i++)
		add_corrections(overlap, &overlap->points[i]);
	for (size_t i = 0; i < overlap->point_count; i++)
		conclude_predictions(overlap, i, &all);
	add_errors(overlap, NULL, &all);
}

// ---- engines

static int claimed_engines(const struct overlap *overlap, const char **why)
{
	const struct tare_device_entry *entry = overlap->run->result->devices;
	const struct tare_fact *copies = &entry->facts.fact[TARE_FACT_COPY_ENGINES];
	int count = 0;

	*why = tare_fact_reason(&entry->facts, TARE_FACT_COPY_ENGINES);
	if (copies->present)
		return (int)copies->count + 1;
	for (size_t i = 0; i < entry->engine_count; i++)
		count += entry->engines[i].class != TARE_ENGINE_LINK;
	return count > 1 ? count : 0;
}

void overlap_conclude_engines(struct overlap *overlap)
{
	const struct overlap_point *point = &overlap->points[overlap->balanced];
	struct tare_engines_revealed revealed = { 0 };
	struct tare_cell *cell =
	    overlap_model(overlap, "engines", "revealed", NULL, "engines", "1");
	const char *why;
	int claimed;
	bool known = false;

	tare_cell_set_method(cell, "the most stages whose operations were ever in progress at "
	                           "one moment; there may be more engines than stages");
	for (uint32_t mode = 1; mode < TARE_MODE_COUNT; mode++)
		known |= (mode & (mode - 1)) && point->modes.known[mode];
	tare_engines_reveal(&point->modes, &revealed);
	if (known)
		tare_cell_set_model(cell, revealed.count, NAN, NAN);
	else
		tare_cell_set_absent(cell, "no two stages were measured at once");
	cell = overlap_model(overlap, "engines", "claimed", NULL, "engines", "1");
	tare_cell_set_method(cell, "the device's own word: its copy engines, and one that "
	                           "computes");
	claimed = claimed_engines(overlap, &why);
	if (claimed)
		tare_cell_set_model(cell, claimed, NAN, NAN);
	else
		tare_cell_set_absent(cell, "%s", why);
}
