// SPDX-License-Identifier: Apache-2.0
// The one loop that samples. Order is random (so that drift of the machine does not look like a
// trend over sizes), the rule when to stop is model/statistics/statistics.h, the budget is shared
// fairly.
#include "measure/core/run.h"

#include "backend/call.h"
#include "base/cleanup.h"
#include "base/units.h"
#include "measure/core/telemetry.h"
#include "model/statistics/order.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Part of the budget is left to what follows sampling in each measurement: verification.
#define SAMPLING_SHARE 0.9
// Samples are kept at most so often (more often in a short share), and at most so many.
#define FEWEST_KEPT 200
// A simulated device that costs next to nothing would be sampled for hours of real time, and one
// whose clock stands still for ever: so many samples of so little virtual time are enough.
#define NEXT_TO_NOTHING_NS 100
#define NEXT_TO_NOTHING_MOST 5000
#define KEEP_EVERY_NS INT64_C(500000)
#define KEEP_MOST 20000
// Ticks of the timer below which operations are batched, and how many a batch lasts then.
#define TICKS_LEAST 100
#define TICKS_WANTED 400
// Fruitless tries after which a measurement is given up.
#define TRIES 100
// A measurement whose turn comes when the budget is used up is skipped only beyond this much more.
#define OVERRUN 1.1
#define OVERRUN_NS INT64_C(1000000000)

struct sampler {
	struct tare_run *run;
	struct tare_measurement *measurement;
	struct tare_series series[TARE_FIGURES];
	bool settled[TARE_FIGURES]; // as of the last decision: more samples would not help
	bool converged[TARE_FIGURES];
	struct tare_host_time begun; // before begin()
	int64_t share_ns;
	bool few;            // as many samples as are worth their cost
	int tries;           // that came to nothing
	int64_t sampling_ns; // spent in samples, for the estimate of a budget that would do
};

struct tare_figure *tare_measurement_add(struct tare_measurement *measurement, const char *quantity,
                                         const char *unit, const char *source,
                                         const char *method_format, ...)
{
	struct tare_figure *figure = &measurement->spare;
	char *method = NULL;
	va_list arguments;

	va_start(arguments, method_format);
	if (vasprintf(&method, method_format, arguments) < 0)
		method = NULL;
	va_end(arguments);
	if (method && measurement->figure_count < TARE_FIGURES)
		figure = &measurement->figures[measurement->figure_count++];
	else
		measurement->failed = true;
	tare_figure_clear(figure);
	*figure = (struct tare_figure){
		.quantity = quantity, .unit = unit, .source = source, .method = method
	};
	return figure;
}

void tare_figure_clear(struct tare_figure *figure)
{
	for (size_t i = 0; i < figure->labels.count; i++) {
		free(figure->labels.at[i].name);
		free(figure->labels.at[i].text);
	}
	free(figure->labels.at);
	free(figure->method);
	*figure = (struct tare_figure){ 0 };
}

void tare_measurement_clear(struct tare_measurement *measurement)
{
	for (size_t i = 0; i < TARE_FIGURES; i++)
		tare_figure_clear(&measurement->figures[i]);
	tare_figure_clear(&measurement->spare);
	measurement->figure_count = 0;
	measurement->failed = false;
}

uint32_t tare_batch(double duration, double step, uint32_t limit)
{
	double wanted;

	if (!(step > 0))
		return 1;
	if (!(duration > 0))
		return limit;
	if (duration >= TICKS_LEAST * step)
		return 1;
	wanted = ceil(TICKS_WANTED * step / duration);
	return wanted < 1 ? 1 : wanted > limit ? limit : (uint32_t)wanted;
}

// Whether a failure is this measurement's alone (it becomes absent cells) or the whole run's.
static bool only_this_one(int status)
{
	switch (-status) {
	case ENOSYS:
	case ENOTSUP:
	case ENODATA:
	case ENOMEM:
	case EINVAL:
	case EIO:
	case EOVERFLOW:
		return true;
	default:
		return false;
	}
}

static int take_sample(struct sampler *sampler, bool keep, struct tare_error *error)
{
	struct tare_measurement *measurement = sampler->measurement;
	int64_t values[TARE_FIGURES];
	int status;

	for (size_t i = 0; i < TARE_FIGURES; i++)
		values[i] = TARE_NO_SAMPLE;
	status = measurement->sample(measurement, values, error);
	for (size_t i = 0; status >= 0 && keep && i < measurement->figure_count; i++)
		if (values[i] != TARE_NO_SAMPLE &&
		    tare_series_add(&sampler->series[i], values[i]) < 0)
			status = tare_fail(error, ENOMEM, "out of memory for samples");
	if (status == -EAGAIN && ++sampler->tries < TRIES)
		return 0;
	if (status == -EAGAIN) {
		error->code = -ENODATA;
		return -ENODATA;
	}
	return status < 0 ? status : 0;
}

// True when every figure that yields samples is settled at this very number of samples.
static bool all_settled(struct sampler *sampler, int64_t elapsed_ns)
{
	bool all = true, any = false;

	for (size_t i = 0; i < sampler->measurement->figure_count; i++) {
		struct tare_series *series = &sampler->series[i];
		bool decision = series->n >= series->next_decision;
		enum tare_verdict verdict;

		if (series->n == 0 || sampler->measurement->figures[i].refused)
			continue;
		any = true;
		verdict = tare_series_decide(series, elapsed_ns);
		if (decision || verdict != TARE_CONTINUE) {
			sampler->settled[i] = verdict != TARE_CONTINUE;
			sampler->converged[i] = verdict == TARE_CONVERGED;
		}
		all = all && sampler->settled[i];
	}
	return any && all;
}

static size_t choose_stride(int64_t limit_ns, size_t taken, int64_t taken_ns)
{
	int64_t sample_ns = taken_ns / (int64_t)taken;
	int64_t every_ns = limit_ns / FEWEST_KEPT;

	if (every_ns > KEEP_EVERY_NS)
		every_ns = KEEP_EVERY_NS;
	return sample_ns > 0 && sample_ns < every_ns ? (size_t)(every_ns / sample_ns) : 1;
}

// Whether a measurement ends before its next sample: it has as many as it may, or its time is over.
static bool has_enough(struct sampler *sampler, size_t taken, int64_t limit_ns)
{
	const struct tare_run *run = sampler->run;
	size_t most = run->samples ? run->samples : sampler->measurement->most_samples;

	sampler->few = most && taken >= most;
	if (run->samples)
		return sampler->few;
	return (taken > 0 && sampler->sampling_ns >= limit_ns) || sampler->few ||
	       (run->simulated && taken >= NEXT_TO_NOTHING_MOST &&
	        sampler->sampling_ns < NEXT_TO_NOTHING_NS * (int64_t)taken);
}

static int sample_until_done(struct sampler *sampler, struct tare_error *error)
{
	struct tare_run *run = sampler->run;
	struct tare_host_time start;
	size_t stride = 1;
	int64_t limit_ns;
	int status = 0;

	if (!sampler->measurement->no_warm_up)
		status = take_sample(sampler, false, error);
	start = tare_run_now(run);
	limit_ns = (int64_t)((double)sampler->share_ns * SAMPLING_SHARE) -
	           tare_host_elapsed_ns(sampler->begun, start);
	for (size_t taken = 0; status == 0; taken++) {
		bool keep = taken % stride == 0;
		if (tare_run_interrupted(run)) {
			status = -EINTR;
			break;
		}
		if (has_enough(sampler, taken, limit_ns))
			break;
		status = take_sample(sampler, keep, error);
		sampler->sampling_ns = tare_host_elapsed_ns(start, tare_run_now(run));
		if ((taken & (taken + 1)) == 0 && taken >= 7 &&
		    !sampler->measurement->most_samples && !run->samples)
			stride = choose_stride(limit_ns, taken + 1, sampler->sampling_ns);
		if (status == 0 && keep && all_settled(sampler, sampler->sampling_ns) &&
		    !run->samples)
			break;
	}
	return status;
}

static double half_width(const struct tare_cell *cell)
{
	return (cell->summary.ci_high - cell->summary.ci_low) / 2;
}

static double target_of(const struct tare_cell *cell)
{
	return tare_stopping_default().relative_half_width * fabs(cell->summary.median);
}

static void add_systematic(struct tare_cell *cell, double systematic)
{
	if (!(systematic > 0))
		return;
	cell->summary.ci_low -= systematic;
	cell->summary.ci_high += systematic;
	if (cell->summary.min >= 0 && cell->summary.ci_low < 0)
		cell->summary.ci_low = 0;
}

// A floor of 1 stands for "not 0"; what the timer can tell is then its step.
static void set_below_the_floor(struct tare_cell *cell, const struct tare_figure *figure)
{
	double floor = fmax((double)figure->floor, figure->quantum);
	char text[TARE_UNIT_TEXT];

	floor *= strcmp(figure->unit, "ps") == 0 ? 1e-3 : 1;
	tare_cell_set_absent(cell, "below the timer's floor of %s", tare_format_ns(floor, text));
}

// Turns one figure's series into its cell.
static void fill_cell(struct sampler *sampler, size_t i, enum tare_verified verified, int status,
                      const struct tare_error *why)
{
	struct tare_figure *figure = &sampler->measurement->figures[i];
	struct tare_cell *cell = &sampler->run->result->cells[figure->cell];
	struct tare_series *series = &sampler->series[i];

	tare_set_string(&cell->absent, NULL);
	free(cell->method);
	cell->method = figure->method;
	figure->method = NULL;
	tare_labels_copy(&cell->labels, &figure->labels);
	if (status < 0 && status != -EINTR) {
		tare_cell_set_absent(cell, "%s", why->message);
		return;
	}
	if (series->n == 0 || figure->refused) {
		if (figure->absent[0])
			tare_cell_set_absent(cell, "%s", figure->absent);
		else
			tare_cell_set_absent_as(cell, TARE_ABSENT_INTERRUPTED,
			                        "interrupted before the first sample");
		return;
	}
	if (figure->floor > 0) {
		struct tare_summary summary;
		if (!tare_summarise(series->samples, series->n, series->rule.quantum, &summary) &&
		    summary.median < (double)figure->floor) {
			set_below_the_floor(cell, figure);
			return;
		}
	}
	tare_cell_take_series(cell, series,
	                      sampler->converged[i] ? TARE_CONVERGED : TARE_NOT_CONVERGED);
	cell->verified = verified;
	add_systematic(cell, figure->systematic);
	// The interval of the last decision may be narrower than that of all samples, of which a
	// figure gets more while others of its measurement have not settled.
	cell->converged = cell->converged && half_width(cell) <= target_of(cell);
	if (figure->rate_unit)
		tare_cell_set_rate(cell, figure->work, figure->rate_unit, 1e9);
}

// How many times the samples of a cell it would take to get its interval down to the target: for
// noise of deviation d (from the quartiles, so that a few stragglers do not count) the interval of
// a median of n has a half-width of about 1.25 z d / sqrt(n), here with z = 3.
static double factor_needed(const struct tare_cell *cell)
{
	size_t n = cell->summary.n;
	TARE_FREE int64_t *sorted = malloc(n * sizeof *sorted);
	double deviation, samples;

	if (!sorted || n < 4)
		return (double)tare_stopping_default().minimum_n / (double)n;
	memcpy(sorted, cell->samples, n * sizeof *sorted);
	qsort(sorted, n, sizeof *sorted, tare_compare_integers);
	deviation = (double)(sorted[3 * n / 4] - sorted[n / 4]) / 1.35;
	samples = pow(3 * 1.25 * deviation / target_of(cell), 2);
	if (cell->summary.effective_n > 0)
		samples *= (double)n / cell->summary.effective_n;
	return fmax(samples, (double)tare_stopping_default().minimum_n) / (double)n;
}

// Counts what did not converge, and returns what time this measurement would have needed.
static double needed_ns(const struct sampler *sampler)
{
	double factor = 1;

	for (size_t i = 0; i < sampler->measurement->figure_count; i++) {
		const struct tare_figure *figure = &sampler->measurement->figures[i];
		const struct tare_cell *cell = &sampler->run->result->cells[figure->cell];
		double known = figure->quantum + figure->systematic, target = target_of(cell);
		if (cell->absent || cell->converged)
			continue;
		// Who limited the samples says so, and no budget would change it.
		if (sampler->few && !sampler->run->samples)
			continue;
		sampler->run->worst = fmax(sampler->run->worst, tare_cell_spread(cell));
		sampler->run->without_interval += isnan(tare_cell_spread(cell));
		// Too wide by what more samples would not remove.
		if (!(target > 0) ||
		    (half_width(cell) > target && half_width(cell) - known <= target)) {
			sampler->run->limited_figures++;
			continue;
		}
		sampler->run->open_figures++;
		factor = fmax(factor, factor_needed(cell));
	}
	return factor * (double)sampler->sampling_ns;
}

static double weight_of(const struct tare_measurement *measurement)
{
	return measurement->weight > 0 ? measurement->weight : 1;
}

// `part` is its share of what is left of the budget.
static int measure_one(struct tare_run *run, struct tare_measurement *measurement, double part,
                       struct tare_error *error)
{
	struct sampler sampler = { .run = run, .measurement = measurement };
	enum tare_verified verified = TARE_NOT_VERIFIABLE;
	struct tare_error why = { 0 };
	int status = 0, ended;

	sampler.begun = tare_run_now(run);
	sampler.share_ns = (int64_t)((double)tare_run_remaining_ns(run) * part);
	if (measurement->begin)
		status = measurement->begin(measurement, &why);
	for (size_t i = 0; i < measurement->figure_count; i++) {
		sampler.series[i].rule = tare_stopping_default();
		sampler.series[i].rule.maximum_n = KEEP_MOST;
		// A share too short for the rule's least time still lets a steady thing converge.
		if (sampler.series[i].rule.minimum_ns > sampler.share_ns / 4)
			sampler.series[i].rule.minimum_ns = sampler.share_ns / 4;
		// Few samples are too few for the time as well.
		if (measurement->most_samples || run->samples)
			sampler.series[i].rule.minimum_ns = 0;
		sampler.series[i].rule.quantum = measurement->figures[i].quantum;
	}
	if (status >= 0) {
		tare_telemetry_work(run->watch);
		status = sample_until_done(&sampler, &why);
	}
	if (tare_device_is_gone(status))
		tare_device_abandon(run->device);
	tare_telemetry_rest(run->watch);
	if (measurement->end) {
		struct tare_error later = { 0 };
		ended = measurement->end(measurement, &verified, &later);
		// What failed first is the reason, but for a device that is found gone only now.
		if (ended < 0 && (status >= 0 || status == -EINTR ||
		                  (tare_device_is_gone(ended) && !tare_device_is_gone(status)))) {
			status = ended;
			why = later;
		}
	}
	for (size_t i = 0; i < measurement->figure_count; i++)
		fill_cell(&sampler, i, verified, status, &why);
	run->needed_ns += needed_ns(&sampler) +
	                  (double)tare_host_elapsed_ns(sampler.begun, tare_run_now(run)) -
	                  (double)sampler.sampling_ns;
	for (size_t i = 0; i < measurement->figure_count; i++)
		tare_series_clear(&sampler.series[i]);
	if (status < 0 && !only_this_one(status)) {
		if (error)
			*error = why;
		return status;
	}
	return 0;
}

// Cells exist before anything is measured, so that the document is whole at every moment.
static void add_cells(struct tare_run *run, struct tare_measurement *measurement)
{
	for (size_t i = 0; i < measurement->figure_count; i++) {
		struct tare_figure *figure = &measurement->figures[i];
		struct tare_cell *cell = tare_result_add_cell(run->result, figure->quantity,
		                                              figure->unit, figure->source);
		figure->cell = run->result->cell_count - 1;
		tare_labels_copy(&cell->labels, &figure->labels);
		tare_cell_set_absent(cell, "not measured");
		tare_cell_set_method(cell, figure->method);
	}
	if (measurement->failed)
		tare_result_fail(run->result);
}

static void mark_unmeasured(struct tare_run *run, const struct tare_measurement *measurement,
                            enum tare_absence absence, const char *reason)
{
	for (size_t i = 0; i < measurement->figure_count; i++)
		tare_cell_set_absent_as(&run->result->cells[measurement->figures[i].cell], absence,
		                        "%s", reason);
}

static void report_progress(struct tare_run *run, const struct tare_measurement *measurement)
{
	if (run->progress)
		run->progress(run->progress_context, measurement->title, run->cells_done,
		              run->cells_total, tare_run_remaining_ns(run));
}

static void shuffle(struct tare_random *random, size_t *order, size_t count)
{
	for (size_t i = 0; i < count; i++)
		order[i] = i;
	for (size_t i = count; i > 1; i--) {
		size_t k = (size_t)tare_random_below(random, i), held = order[i - 1];
		order[i - 1] = order[k];
		order[k] = held;
	}
}

static bool budget_is_gone(const struct tare_run *run)
{
	int64_t used_ns = tare_host_elapsed_ns(run->started, tare_run_now(run));

	return (double)used_ns > OVERRUN * (double)run->budget_ns + (double)OVERRUN_NS;
}

int tare_run_measure(struct tare_run *run, struct tare_measurement *measurements, size_t count,
                     struct tare_error *error)
{
	size_t *order = calloc(count ? count : 1, sizeof *order);
	struct tare_watch *watch = NULL;
	size_t done = 0;
	double left; // the weights of what is not measured yet
	int status = -ENOMEM;

	for (size_t i = 0; i < count; i++)
		add_cells(run, &measurements[i]);
	if (order && tare_result_status(run->result) == 0)
		status = tare_telemetry_start(run, &watch);
	if (status < 0) {
		free(order);
		return tare_fail(error, ENOMEM, "out of memory");
	}
	shuffle(&run->random, order, count);
	if (run->cells_total < run->cells_done + count)
		run->cells_total = run->cells_done + count;
	left = (double)(run->cells_total - run->cells_done - count);
	for (size_t i = 0; i < count; i++)
		left += weight_of(&measurements[i]);
	for (; status == 0 && done < count; done++) {
		struct tare_measurement *measurement = &measurements[order[done]];
		double weight = weight_of(measurement);
		report_progress(run, measurement);
		if (tare_run_interrupted(run)) {
			status = tare_fail(error, EINTR, "interrupted");
			break;
		}
		if (run->between)
			run->between(run->between_context);
		if (!run->samples && budget_is_gone(run))
			mark_unmeasured(run, measurement, TARE_ABSENT_NO_TURN,
			                "not measured: the budget ran out before its turn");
		else
			status = measure_one(run, measurement, weight / left, error);
		left -= weight;
		run->cells_done++;
	}
	for (; done < count; done++)
		mark_unmeasured(run, &measurements[order[done]],
		                status == -EINTR ? TARE_ABSENT_INTERRUPTED : TARE_ABSENT_OTHER,
		                status == -EINTR ? "not measured: interrupted before its turn"
		                                 : "not measured: the run ended before its turn");
	tare_telemetry_stop(run, watch);
	if (status == -EINTR) {
		run->result->interrupted = true;
		tare_fail(error, EINTR, "interrupted");
	}
	free(order);
	return tare_result_status(run->result) < 0 ? tare_fail(error, ENOMEM, "out of memory")
	                                           : status;
}
