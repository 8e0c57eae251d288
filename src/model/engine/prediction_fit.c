// SPDX-License-Identifier: Apache-2.0
// What no operation alone can show: gaps and switches, found from whole runs. One parameter after
// the other is searched on a grid and then by golden section; nothing is drawn at random, so that
// the same runs give the same fit.
#include "model/engine/prediction_internal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

enum parameter { GAP, SWITCH, EVENT_GAP, OUT_OF_ORDER_GAP, PARAMETERS };

// A schedule's time jumps as an operation finds its engine free or just not, so that the error has
// many small dips. The grid is fine where the values usually are, and a larger value has to be
// better by more than that.
#define GRID 36
#define GRID_RATIO 1.25
#define DIP 1e-5 // squared relative error: 0.3 %
#define SECTIONS 14
#define ROUNDS 2

struct fit {
	struct tare_calibration *calibration;
	struct tare_predictor *predictor;
	const struct tare_timed_schedule *runs;
	size_t count;
	double *square; // squared relative error of each run at the present values
	double *trial;
	bool *used;     // runs that count now
	double least;   // sum of the squares at the best values so far
	double best_ns; // of the parameter that is searched
	double *value[PARAMETERS];
	double highest_ns[PARAMETERS]; // no larger one is tried
};

static bool depends_on(const struct tare_timed_schedule *run, enum parameter parameter)
{
	enum tare_mechanism mechanism = run->schedule.mechanism;

	switch (parameter) {
	case GAP:
		return mechanism == TARE_MECHANISM_CHUNK_QUEUES;
	case SWITCH:
		return tare_schedule_queues(&run->schedule) > 1 && run->schedule.chunks > 1;
	case EVENT_GAP:
		return mechanism == TARE_MECHANISM_STAGE_QUEUES;
	default:
		return mechanism == TARE_MECHANISM_OUT_OF_ORDER;
	}
}

// Sum of the squared relative errors with the calibration as it stands, of the runs in use. Only
// runs that the parameter can change are predicted again; PARAMETERS: all.
static int evaluate(struct fit *fit, enum parameter changed, double *sum, struct tare_error *error)
{
	*sum = 0;
	for (size_t i = 0; i < fit->count; i++) {
		const struct tare_timed_schedule *run = &fit->runs[i];
		fit->trial[i] = fit->square[i];
		if (!fit->used[i])
			continue;
		if (changed == PARAMETERS || depends_on(run, changed)) {
			double ns, off;
			int status = tare_predictor_run(fit->predictor, &run->schedule, INFINITY,
			                                &ns, error);
			if (status < 0)
				return status;
			off = run->ns > 0 ? ns / run->ns - 1 : 0;
			fit->trial[i] = off * off;
		}
		*sum += fit->trial[i];
	}
	return 0;
}

// Tries a value of one parameter; it becomes the best when it is better than that by `margin`.
static int try_value(struct fit *fit, enum parameter parameter, double ns, double margin,
                     double *sum, struct tare_error *error)
{
	*fit->value[parameter] = ns;
	int status = evaluate(fit, parameter, sum, error);
	if (status < 0)
		return status;
	if (*sum < fit->least - margin) {
		fit->least = *sum;
		fit->best_ns = ns;
		for (size_t i = 0; i < fit->count; i++)
			fit->square[i] = fit->trial[i];
	}
	return 0;
}

// Golden section within [low, high].
static int narrow(struct fit *fit, enum parameter parameter, double low, double high,
                  struct tare_error *error)
{
	const double golden = 0.6180339887498949;
	double a = high - golden * (high - low), b = low + golden * (high - low), at_a, at_b;
	int status = try_value(fit, parameter, a, 1e-12, &at_a, error);

	status = status ?: try_value(fit, parameter, b, 1e-12, &at_b, error);
	for (int i = 0; status == 0 && i < SECTIONS; i++) {
		if (at_a <= at_b) {
			high = b;
			b = a;
			at_b = at_a;
			a = high - golden * (high - low);
			status = try_value(fit, parameter, a, 1e-12, &at_a, error);
		} else {
			low = a;
			a = b;
			at_a = at_b;
			b = low + golden * (high - low);
			status = try_value(fit, parameter, b, 1e-12, &at_b, error);
		}
	}
	return status;
}

// Finds the best value of one parameter with the others as they are: on the grid in the first
// round, then near the value that it has.
static int search(struct fit *fit, enum parameter parameter, int round, struct tare_error *error)
{
	double sum, ns = fit->highest_ns[parameter] * pow(GRID_RATIO, -GRID), least_step = ns;
	int status = 0;

	fit->best_ns = *fit->value[parameter];
	for (int i = 0; status == 0 && round == 0 && i <= GRID; i++, ns *= GRID_RATIO)
		status = try_value(fit, parameter, ns, DIP, &sum, error);
	// At 0 only a clear gain would have moved it.
	if (status == 0 && fit->best_ns > 0) {
		double step = fmax(least_step, fit->best_ns * (GRID_RATIO - 1));
		status = narrow(fit, parameter, fmax(0, fit->best_ns - step), fit->best_ns + step,
		                error);
	}
	*fit->value[parameter] = fit->best_ns;
	return status;
}

// Takes those runs into use, besides the ones that already are, that the parameter changes and no
// later one does. Returns whether there are any, or an error.
static int use_runs(struct fit *fit, enum parameter parameter, struct tare_error *error)
{
	bool any = false;

	for (size_t i = 0; i < fit->count; i++) {
		bool use = depends_on(&fit->runs[i], parameter);
		for (int later = (int)parameter + 1; later < PARAMETERS; later++)
			use &= !depends_on(&fit->runs[i], (enum parameter)later);
		fit->used[i] |= use;
		any |= use;
	}
	int status = evaluate(fit, PARAMETERS, &fit->least, error);
	for (size_t i = 0; i < fit->count; i++)
		fit->square[i] = fit->trial[i];
	return status < 0 ? status : any;
}

// One queue shows the gap alone, several show the switch once the gap is known, and events theirs
// after that; then all runs together settle what they share.
static int descend(struct fit *fit, struct tare_error *error)
{
	bool shown[PARAMETERS] = { false };
	int status = 0;

	for (int parameter = 0; status >= 0 && parameter < PARAMETERS; parameter++) {
		status = use_runs(fit, (enum parameter)parameter, error);
		if (status <= 0)
			continue;
		shown[parameter] = true;
		// Without a run of one queue the others have to show the gap as well.
		if (parameter == SWITCH && !shown[GAP]) {
			shown[GAP] = true;
			status = search(fit, GAP, 0, error);
		}
		if (status >= 0)
			status = search(fit, (enum parameter)parameter, 0, error);
	}
	for (int round = 1; status >= 0 && round <= ROUNDS && fit->least > 1e-8; round++)
		for (int parameter = 0; status >= 0 && parameter < PARAMETERS; parameter++)
			if (shown[parameter])
				status = search(fit, (enum parameter)parameter, round, error);
	return status < 0 ? status : 0;
}

int tare_calibration_fit(struct tare_calibration *calibration,
                         const struct tare_pipeline_work *work,
                         const struct tare_timed_schedule *runs, size_t count,
                         struct tare_error *error)
{
	struct tare_calibration before = *calibration;
	int status = 0;
	struct fit fit = {
		.calibration = calibration,
		.runs = runs,
		.count = count,
		.value = { &calibration->gap_ns, &calibration->switch_ns,
		           &calibration->event_gap_ns, &calibration->out_of_order_gap_ns },
	};

	fit.predictor = tare_predictor_new(calibration, work, &status, error);
	if (!fit.predictor)
		return status;
	fit.square = calloc(count ? count : 1, sizeof *fit.square);
	fit.trial = calloc(count ? count : 1, sizeof *fit.trial);
	fit.used = calloc(count ? count : 1, sizeof *fit.used);
	for (size_t i = 0; i < count; i++) {
		for (int parameter = 0; parameter < PARAMETERS; parameter++)
			if (depends_on(&runs[i], (enum parameter)parameter))
				fit.highest_ns[parameter] =
				    fmax(fit.highest_ns[parameter],
				         runs[i].ns / runs[i].schedule.chunks);
		if (depends_on(&runs[i], EVENT_GAP))
			calibration->event_gap_ns = 0;
		if (depends_on(&runs[i], OUT_OF_ORDER_GAP))
			calibration->out_of_order_gap_ns = 0;
	}
	calibration->gap_ns = calibration->switch_ns = 0;
	if (!fit.square || !fit.trial || !fit.used)
		status = tare_fail(error, ENOMEM, "no memory to fit %zu runs", count);
	else
		status = descend(&fit, error);
	if (status < 0)
		*calibration = before;
	free(fit.square);
	free(fit.trial);
	free(fit.used);
	tare_predictor_free(fit.predictor);
	return status;
}
