// SPDX-License-Identifier: Apache-2.0
#include "model/statistics/clock_fit.h"

#include "model/statistics/clock_tube.h"

#include "base/cleanup.h"
#include "base/units.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

typedef __int128 wide;

// The host clock has cut or rounded its readings to the nanosecond.
static const double host_rounding_ns = 1;
// So are the origin of the fit and what is mapped, to the nearest.
static const double mapping_rounding_ns = 1;
// A drift that is known no better than this is not used: no oscillator is off by so much, and a
// fit over a few close pairs would send everything outside them astray.
static const double useful_drift = 500e-6;
// What a rate may be off by before it is called wrong.
static const double wrong_rate = 0.01;

static wide wrap_period(const struct tare_clock_rate *rate)
{
	return (wide)1 << rate->valid_bits;
}

// Nominal nanoseconds of `ticks`, which may be negative: the whole part, and what is left, of the
// same sign, in *fraction. The ticks are taken apart first, so that the product cannot overflow.
static int64_t nominal_ns(const struct tare_clock_rate *rate, wide ticks, double *fraction)
{
	wide second = (wide)1000000000 * rate->hz_denominator;
	wide whole = ticks / rate->hz_numerator;
	wide rest = (ticks - whole * rate->hz_numerator) * second;
	*fraction = (double)(rest % rate->hz_numerator) / (double)rate->hz_numerator;
	return (int64_t)(whole * second + rest / rate->hz_numerator);
}

// The count that is congruent to `ticks` modulo the wrap period and nearest to `expected`.
static wide nearest_congruent(const struct tare_clock_rate *rate, wide ticks, double expected)
{
	double period = (double)wrap_period(rate);
	return ticks + (wide)rint((expected - (double)ticks) / period) * wrap_period(rate);
}

static double ticks_in(const struct tare_clock_rate *rate, double ns)
{
	return ns * (double)rate->hz_numerator / (1e9 * (double)rate->hz_denominator);
}

// By how much host time is ahead of nominal device time.
static double ahead(struct tare_host_time now, struct tare_host_time origin, int64_t nominal)
{
	return (double)((wide)now.ns - origin.ns - nominal);
}

static double middle_ns(const struct tare_clock_pair *pair, struct tare_host_time origin)
{
	return (ahead(pair->before, origin, 0) + ahead(pair->after, origin, 0)) / 2;
}

static int compare_brackets(const void *a, const void *b)
{
	const struct tare_clock_bracket *x = a;
	const struct tare_clock_bracket *y = b;
	return (x->ns > y->ns) - (x->ns < y->ns);
}

// Pairs as brackets around the offset between host time and nominal device time since the first
// pair, in the order of device time.
static void bracket_pairs(const struct tare_clock_rate *rate, const struct tare_clock_pair *pairs,
                          size_t n, struct tare_clock_bracket *brackets)
{
	struct tare_host_time origin = pairs[0].before;
	double slack = tare_step_ns(rate) / 2 + host_rounding_ns;
	wide ticks = 0;
	for (size_t i = 0; i < n; i++) {
		double fraction;
		int64_t nominal;
		if (i > 0) {
			double elapsed =
			    middle_ns(&pairs[i], origin) - middle_ns(&pairs[i - 1], origin);
			wide step = tare_ticks_elapsed(rate, pairs[i - 1].device, pairs[i].device);
			ticks += nearest_congruent(rate, step, ticks_in(rate, elapsed));
		}
		nominal = nominal_ns(rate, ticks, &fraction);
		brackets[i].ns = (double)nominal + fraction;
		brackets[i].low = ahead(pairs[i].before, origin, nominal) - fraction - slack;
		brackets[i].high = ahead(pairs[i].after, origin, nominal) - fraction + slack;
	}
	qsort(brackets, n, sizeof *brackets, compare_brackets);
}

static int check(const struct tare_clock_rate *rate, const struct tare_clock_pair *pairs, size_t n,
                 struct tare_error *error)
{
	if (n == 0)
		return tare_fail(error, EINVAL, "no clock pair to fit");
	if (!rate->hz_numerator || !rate->hz_denominator || !rate->valid_bits ||
	    rate->valid_bits > 64)
		return tare_fail(error, EINVAL,
		                 "a clock of %" PRIu64 "/%" PRIu64 " Hz and %" PRIu32
		                 " bits cannot be",
		                 rate->hz_numerator, rate->hz_denominator, rate->valid_bits);
	for (size_t i = 0; i < n; i++)
		if (pairs[i].after.ns < pairs[i].before.ns)
			return tare_fail(error, EINVAL,
			                 "clock pair %zu was read %" PRId64
			                 " ns before it was begun",
			                 i, pairs[i].before.ns - pairs[i].after.ns);
	return 0;
}

// Between two pairs the counter may have wrapped any number of times. How often is known by the
// host's clock, as long as the drift of no oscillator and both readings come to half a period.
static int check_wraps(const struct tare_clock_rate *rate, const struct tare_clock_pair *pairs,
                       size_t n, struct tare_error *error)
{
	double half_ns = (double)wrap_period(rate) / 2 * tare_tick_ns(rate);
	char apart[TARE_UNIT_TEXT], period[TARE_UNIT_TEXT];

	for (size_t i = 1; i < n; i++) {
		struct tare_host_time origin = pairs[i - 1].before;
		double ns = middle_ns(&pairs[i], origin) - middle_ns(&pairs[i - 1], origin);
		double reading_ns = (ahead(pairs[i - 1].after, origin, 0) +
		                     ahead(pairs[i].after, pairs[i].before, 0)) /
		                    2;
		if (fabs(ns) * useful_drift + reading_ns > half_ns)
			return tare_fail(
			    error, EINVAL,
			    "the device clock starts again every %s, and two readings of it "
			    "are %s apart: how often it did between them is not known",
			    tare_format_ns(2 * half_ns, period), tare_format_ns(ns, apart));
	}
	return 0;
}

static int refuse_rate(const struct tare_clock_rate *rate, double drift, struct tare_error *error)
{
	char said[TARE_UNIT_TEXT], seen[TARE_UNIT_TEXT];
	double hz = (double)rate->hz_numerator / (double)rate->hz_denominator;
	if (!(drift > -1) || isinf(drift))
		return tare_fail(error, EINVAL,
		                 "the device clock does not advance with the host's");
	return tare_fail(error, EINVAL,
	                 "the device clock ticks at %s by the host's clock, but the driver says %s",
	                 tare_format_hz(hz / (1 + drift), seen), tare_format_hz(hz, said));
}

// A wander of more than 1 % of the whole span is no wander: the counter was set, or a pair is
// false.
static bool jumps(const struct tare_clock_bracket *brackets, size_t n,
                  const struct tare_clock_line *line)
{
	double length = brackets[n - 1].ns - brackets[0].ns;

	return length > 0 && line->extra > wrong_rate * length;
}

int tare_clock_fit(const struct tare_clock_rate *rate, const struct tare_clock_pair *pairs,
                   size_t n, struct tare_clock_fit *fit, struct tare_error *error)
{
	TARE_FREE struct tare_clock_bracket *brackets = NULL;
	struct tare_clock_line line;
	int status = check(rate, pairs, n, error);
	status = status ?: check_wraps(rate, pairs, n, error);
	if (status)
		return status;
	brackets = malloc(n * sizeof *brackets);
	if (!brackets)
		return tare_fail(error, ENOMEM, "no memory for %zu clock pairs", n);
	bracket_pairs(rate, pairs, n, brackets);
	status = tare_clock_line(brackets, n, useful_drift, &line);
	if (status)
		return tare_fail(error, -status, "no memory for %zu clock pairs", n);
	if (jumps(brackets, n, &line)) {
		char far[TARE_UNIT_TEXT];
		return tare_fail(
		    error, EINVAL,
		    "the device clock jumps: no steady rate comes closer than %s to all "
		    "its readings",
		    tare_format_ns(line.extra, far));
	}
	if (fabs(line.least_slope) > wrong_rate)
		return refuse_rate(rate, line.least_slope, error);
	*fit = (struct tare_clock_fit){
		.rate = *rate,
		.origin_host = { pairs[0].before.ns + llround(line.offset) },
		.origin_ticks = pairs[0].device.ticks & (uint64_t)(wrap_period(rate) - 1),
		.drift_ppm = line.slope * 1e6,
		.drift_error_ppm = line.slope_error * 1e6,
		.tightest_bracket_ns = INT64_MAX,
		.pairs = n,
	};
	for (size_t i = 0; i < n; i++) {
		int64_t width = tare_host_elapsed_ns(pairs[i].before, pairs[i].after);
		if (width < fit->tightest_bracket_ns)
			fit->tightest_bracket_ns = width;
	}
	// The reading itself stands for any time within its tick.
	fit->residual_ns = (int64_t)ceil(line.error + mapping_rounding_ns + tare_step_ns(rate) / 2);
	return 0;
}

struct tare_host_time tare_clock_map(const struct tare_clock_fit *fit, struct tare_ticks ticks,
                                     struct tare_host_time near)
{
	double slope = fit->drift_ppm / 1e6;
	double elapsed = (double)(near.ns - fit->origin_host.ns) / (1 + slope);
	wide since =
	    tare_ticks_elapsed(&fit->rate, (struct tare_ticks){ fit->origin_ticks }, ticks);
	double fraction;
	int64_t nominal;
	since = nearest_congruent(&fit->rate, since, ticks_in(&fit->rate, elapsed));
	nominal = nominal_ns(&fit->rate, since, &fraction);
	fraction += ((double)nominal + fraction) * slope;
	return (struct tare_host_time){ fit->origin_host.ns + nominal + llround(fraction) };
}
