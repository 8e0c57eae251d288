// SPDX-License-Identifier: Apache-2.0
// Series of results: when they are enough, and what they say.
#include "time/series.h"

#include "time/internal.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define LIMIT_NS INT64_C(5000000000)

int tare_time_series_open(struct tare_time_series **series, const char *name,
                          const struct tare_time_series_options *options,
                          struct tare_time_error *error)
{
	struct tare_time_series *made;

	if (!series)
		return tare_time_fail(error, EINVAL, "a series needs a place to be told in");
	*series = NULL;
	if (options && (!(options->half_width >= 0) || options->limit_ns < 0))
		return tare_time_fail(error, EINVAL, "a series has no limits below 0");
	made = calloc(1, sizeof *made);
	if (!made)
		return tare_time_fail(error, ENOMEM, "out of memory");
	if (options)
		made->options = *options;
	if (made->options.limit_ns == 0)
		made->options.limit_ns = LIMIT_NS;
	snprintf(made->name, sizeof made->name, "%s", name ? name : "");
	made->device.rule = tare_stopping_default();
	if (made->options.half_width > 0)
		made->device.rule.relative_half_width = made->options.half_width;
	made->device.rule.maximum_n = made->options.most;
	made->floor_ns = NAN;
	*series = made;
	return 0;
}

void tare_time_series_close(struct tare_time_series *series)
{
	if (!series)
		return;
	tare_series_clear(&series->device);
	tare_series_clear(&series->host);
	free(series);
}

static int refuse(struct tare_time_series *series, const struct tare_time_result *result,
                  struct tare_time_error *error)
{
	if (result->state == TARE_TIME_NOT_READY)
		return tare_time_fail(error, EAGAIN, "%s", result->sentence);
	series->known = TARE_TIME_ABSENT;
	snprintf(series->sentence, sizeof series->sentence, "%s", result->sentence);
	return tare_time_fail(error, ENODATA, "%s", result->sentence);
}

// What is documented of a clock's step is a bound, and may be far too large (CUDA's 500 ns,
// NVIDIA's OpenCL 1000): two readings that differ by less show that it is no larger than that. A
// counter's tick it is at least.
static double step_of(const struct tare_time_series *series, const struct tare_time_result *result)
{
	size_t n = series->device.n;
	double before = series->device.rule.quantum, step, apart;
	double tick = result->rate.hz_numerator ? tare_tick_ns(&result->rate) : 0;

	step = tick > 0 ? tare_step_ns(&result->rate)
	                : (double)(result->uncertainty_ns -
	                           (result->floor_ns > 0 ? TARE_TIME_GAPS * result->floor_ns : 0));
	if (n == 0)
		return step;
	apart = fabs((double)(result->device_ns - series->device.samples[n - 1]));
	return apart > 0 ? fmax(tick, fmin(before, apart)) : before;
}

static enum tare_time_known decide(struct tare_time_series *series, int64_t now_ns)
{
	const struct tare_series *device = &series->device;
	enum tare_verdict verdict = tare_series_decide(&series->device, now_ns - series->first_ns);
	bool full = device->rule.maximum_n && device->n >= device->rule.maximum_n;

	if (verdict == TARE_CONVERGED)
		return TARE_TIME_CONVERGED;
	if (verdict == TARE_NOT_CONVERGED)
		return full ? TARE_TIME_GIVEN_UP : TARE_TIME_COARSE;
	return now_ns - series->first_ns >= series->options.limit_ns ? TARE_TIME_GIVEN_UP
	                                                             : TARE_TIME_OPEN;
}

int tare_time_series_add_at(struct tare_time_series *series, const struct tare_time_result *result,
                            int64_t now_ns, struct tare_time_error *error)
{
	double step;

	if (series->known != TARE_TIME_OPEN)
		return tare_time_fail(error, EALREADY, "this series has ended already");
	if (result->state != TARE_TIME_OK && result->state != TARE_TIME_BELOW_FLOOR)
		return refuse(series, result, error);
	step = step_of(series, result);
	if (tare_series_add(&series->host, result->host_ns < 0 ? 0 : result->host_ns) < 0)
		return tare_time_fail(error, ENOMEM, "out of memory");
	if (tare_series_add(&series->device, result->device_ns) < 0) {
		series->host.n--;
		return tare_time_fail(error, ENOMEM, "out of memory");
	}
	series->device.rule.quantum = step;
	series->events |= result->host_ns < 0;
	series->counted = result->rate.hz_numerator != 0;
	series->rate = result->rate;
	if (result->floor_ns >= 0)
		series->floor_ns = (double)result->floor_ns;
	series->between = result->between;
	if (series->device.n == 1) {
		series->first_ns = now_ns;
		snprintf(series->device_name, sizeof series->device_name, "%s", result->device);
	}
	series->known = decide(series, now_ns);
	return series->known == TARE_TIME_OPEN;
}

int tare_time_series_add(struct tare_time_series *series, const struct tare_time_result *result,
                         struct tare_time_error *error)
{
	struct timespec now;

	if (!series || !result)
		return tare_time_fail(error, EINVAL, "there is no series, or no result");
	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	return tare_time_series_add_at(series, result,
	                               (int64_t)now.tv_sec * 1000000000 + now.tv_nsec, error);
}

int tare_time_series_take(struct tare_time_series *series, struct tare_timer *timer,
                          struct tare_time_span span, int64_t limit_ns,
                          struct tare_time_error *error)
{
	struct tare_time_result result;
	int status;

	if (!series)
		return tare_time_fail(error, EINVAL, "there is no series");
	status = tare_time_read(timer, span, limit_ns, &result, error);
	if (status < 0)
		return status;
	if (result.state != TARE_TIME_NOT_READY)
		status = tare_time_release(timer, span, error);
	return status < 0 ? status
	                  : tare_time_series_add_at(series, &result, tare_time_now(timer), error);
}

// As model/statistics/series.c has it: samples that are worth fewer make nothing known.
#define FEWEST_RESULTS 32
#define FEWEST_EFFECTIVE 24

static bool hang_together(const struct tare_time_series *series)
{
	return series->device.n >= FEWEST_RESULTS &&
	       series->device.summary.effective_n < FEWEST_EFFECTIVE;
}

static const char *sentence_of(const struct tare_time_series *series, bool below_floor)
{
	switch (series->known) {
	case TARE_TIME_ABSENT:
		return series->sentence;
	case TARE_TIME_OPEN:
		return "more results are wanted";
	case TARE_TIME_GIVEN_UP:
		return hang_together(series)
		           ? "given up: its results depend on each other, and are worth too few "
		             "independent ones"
		           : "given up before the interval was as narrow as was asked for";
	case TARE_TIME_COARSE:
		return "the device's clock is too coarse for so short a span; put more work into "
		       "each";
	case TARE_TIME_CONVERGED:
		break;
	}
	return below_floor ? "no longer than an empty span takes on this queue" : "";
}

static void fill(const struct tare_time_series *series, struct tare_time_figure *figure)
{
	const struct tare_summary *device = &series->device.summary;

	figure->median_ns = device->median;
	figure->low_ns = device->ci_low;
	figure->high_ns = device->ci_high;
	figure->min_ns = (double)device->min;
	figure->p95_ns = device->p95;
	figure->max_ns = (double)device->max;
	figure->effective_n = device->effective_n;
	figure->step_ns = series->device.rule.quantum;
	figure->drifting = device->drifting;
	figure->below_floor =
	    device->median <= (series->floor_ns > 0 ? series->floor_ns : 0) + figure->step_ns;
	if (!series->events)
		figure->enqueue_ns = series->host.summary.median;
	if (series->options.bytes && device->median > 0)
		figure->gb_s = (double)series->options.bytes / device->median;
}

int tare_time_series_figure(struct tare_time_series *series, struct tare_time_figure *figure,
                            struct tare_time_error *error)
{
	if (!series || !figure)
		return tare_time_fail(error, EINVAL,
		                      "a figure needs a series, and a place to be told in");
	*figure = (struct tare_time_figure){
		.known = series->known,
		.median_ns = NAN,
		.low_ns = NAN,
		.high_ns = NAN,
		.min_ns = NAN,
		.p95_ns = NAN,
		.max_ns = NAN,
		.effective_n = NAN,
		.floor_ns = series->floor_ns,
		.step_ns = NAN,
		.enqueue_ns = NAN,
		.gb_s = NAN,
	};
	snprintf(figure->name, sizeof figure->name, "%s", series->name);
	// A series with a result that is not available has no figure, whatever came before.
	if (series->device.n && series->known != TARE_TIME_ABSENT) {
		if (tare_series_summarise(&series->device) < 0 ||
		    tare_series_summarise(&series->host) < 0)
			return tare_time_fail(error, ENOMEM, "out of memory");
		figure->n = series->device.n;
		fill(series, figure);
	}
	figure->sentence = sentence_of(series, figure->below_floor);
	return 0;
}
