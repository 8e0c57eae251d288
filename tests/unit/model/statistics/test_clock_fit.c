// SPDX-License-Identifier: Apache-2.0
#include "model/statistics/clock_fit.h"
#include "noise.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const struct {
	uint64_t numerator, denominator;
} rates[] = {
	{ 12000000, 1 },   { 12500000, 1 },    { 19200000, 1 },    { 25000000, 1 },
	{ 1000000000, 1 }, { 1000000000, 83 }, { 1000000000, 52 },
};
static const uint32_t widths[] = { 32, 36, 64 };

enum {
	RATES = sizeof rates / sizeof *rates,
	WIDTHS = sizeof widths / sizeof *widths,
	MOST_PAIRS = 1000
};

// A device whose clock is known: at host time `started` plus `ns` its counter shows ticks_at(ns).
struct device {
	struct tare_clock_rate rate;
	struct tare_host_time started;
	uint64_t first;  // what the counter shows at `started`
	double fast_ppm; // the counter is faster than its rate says
};

static struct device make_device(size_t rate, size_t width, double fast_ppm,
                                 struct tare_random *random)
{
	return (struct device){
		.rate = { rates[rate].numerator, rates[rate].denominator, widths[width], 1 },
		.started = { (int64_t)tare_random_below(random, UINT64_C(1) << 60) },
		.first = tare_random_next(random),
		.fast_ppm = fast_ppm,
	};
}

static struct tare_ticks ticks_at(const struct device *device, double ns)
{
	double since = ns / tare_tick_ns(&device->rate) * (1 + device->fast_ppm / 1e6);
	uint64_t ticks = device->first + (uint64_t)(int64_t)floor(since);
	// Bits above the valid ones are noise.
	return (struct tare_ticks){ device->rate.valid_bits == 64
		                        ? ticks
		                        : ticks ^ (ticks * 77) << device->rate.valid_bits };
}

// A way to read both clocks: the least that passes on each side, and what comes on top at times.
struct reading {
	double before_ns, after_ns, jitter_ns;
};

static double delay(double least, double jitter, struct tare_random *random)
{
	// Mostly quick, sometimes interrupted.
	double scale = uniform(random) < 0.8 ? 0.1 : 1;
	return least - scale * jitter * log(uniform(random));
}

static struct tare_clock_pair read_pair(const struct device *device, double ns,
                                        const struct reading *reading, struct tare_random *random)
{
	double before = ns - delay(reading->before_ns, reading->jitter_ns, random);
	double after = ns + delay(reading->after_ns, reading->jitter_ns, random);
	return (struct tare_clock_pair){
		.before = { device->started.ns + (int64_t)floor(before) },
		.device = ticks_at(device, ns),
		.after = { device->started.ns + (int64_t)floor(after) },
	};
}

// `n` pairs over `span_ns`, at no regular distance.
static void read_pairs(const struct device *device, size_t n, double span_ns,
                       const struct reading *reading, struct tare_random *random,
                       struct tare_clock_pair *pairs)
{
	for (size_t i = 0; i < n; i++)
		pairs[i] =
		    read_pair(device, span_ns * ((double)i + 0.5 * uniform(random)) / (double)n,
		              reading, random);
}

// The largest mapping error over the fitted range, each reading mapped with a wrong but near time.
static double largest_error(const struct device *device, const struct tare_clock_fit *fit,
                            double from_ns, double to_ns, struct tare_random *random)
{
	double period = ldexp(tare_tick_ns(&device->rate), (int)device->rate.valid_bits);
	double astray = fmin(0.4 * period, 1e15);
	double largest = 0;
	for (int i = 0; i <= 200; i++) {
		double ns = from_ns + (to_ns - from_ns) * i / 200;
		double near = ns + astray * (2 * uniform(random) - 1);
		struct tare_host_time mapped =
		    tare_clock_map(fit, ticks_at(device, ns),
		                   (struct tare_host_time){ device->started.ns + (int64_t)near });
		largest = fmax(largest, fabs((double)(mapped.ns - device->started.ns) - ns));
	}
	return largest;
}

static void each_duration_is_within_one_tick(void **state)
{
	struct tare_random random = unchosen_seed();
	(void)state;
	for (size_t r = 0; r < RATES; r++)
		for (size_t w = 0; w < WIDTHS; w++) {
			struct device device = make_device(r, w, 0, &random);
			double tick = tare_tick_ns(&device.rate);
			double period = ldexp(tick, (int)widths[w]);
			for (int i = 0; i < 1000; i++) {
				// From a tick to nearly a whole period, which wraps half of the
				// time.
				double most = fmin(log(0.99 * period), log(1e14));
				double length =
				    exp(log(tick) + (most - log(tick)) * uniform(&random));
				double start = 1e12 * uniform(&random);
				uint64_t ticks =
				    tare_ticks_elapsed(&device.rate, ticks_at(&device, start),
				                       ticks_at(&device, start + length));
				double ns = (double)tare_ticks_to_ns(&device.rate, ticks);
				assert_true(fabs(ns - length) <= tick + 1);
			}
		}
}

static void mapping_errs_by_at_most_half_the_tightest_bracket(void **state)
{
	// The halves of a bracket are never the same; in the last one they are never near it.
	static const struct reading readings[] = {
		{ 400, 500, 1000 },
		{ 900, 1000, 300 },
		{ 300, 900, 3000 },
	};
	struct tare_random random = unchosen_seed();
	(void)state;
	for (size_t r = 0; r < RATES; r++)
		for (size_t w = 0; w < WIDTHS; w++)
			for (size_t k = 0; k < sizeof readings / sizeof *readings; k++)
				for (int drift = -50; drift <= 50; drift += 50) {
					struct device device = make_device(r, w, drift, &random);
					struct tare_clock_pair pairs[100];
					struct tare_clock_fit fit;
					double error, slow = (1 / (1 + drift / 1e6) - 1) * 1e6;
					read_pairs(&device, 100, 20e9, &readings[k], &random,
					           pairs);
					assert_int_equal(
					    tare_clock_fit(&device.rate, pairs, 100, &fit, NULL),
					    0);
					error =
					    largest_error(&device, &fit, 0.1e9, 19.8e9, &random);
					assert_true(error <= (double)fit.tightest_bracket_ns / 2);
					assert_true(error <= (double)fit.residual_ns);
					assert_true(fit.residual_ns < 2000);
					assert_true(fabs(fit.drift_ppm - slow) < 1);
					assert_true(fabs(fit.drift_ppm - slow) <=
					            fit.drift_error_ppm + 1e-6);
					assert_int_equal(fit.pairs, 100);
				}
}

// The residual is a bound, however few the pairs are and however bad.
static void the_residual_bounds_the_error(void **state)
{
	static const struct reading readings[] = {
		{ 0, 0, 0 }, { 0, 0, 1 }, { 50, 1, 20 }, { 1, 2000, 0 }, { 300, 200, 5000 },
	};
	static const size_t counts[] = { 1, 2, 3, 10, 50 };
	struct tare_random random = unchosen_seed();
	(void)state;
	for (int run = 0; run < 4000; run++) {
		struct device device = make_device(tare_random_below(&random, RATES),
		                                   tare_random_below(&random, WIDTHS),
		                                   200 * uniform(&random) - 100, &random);
		size_t n = counts[run % 5];
		struct tare_clock_pair pairs[50];
		struct tare_clock_fit fit;
		double span = n == 1 ? 0 : 1e6 * exp(10 * uniform(&random));
		double last;
		read_pairs(&device, n, span, &readings[run / 5 % 5], &random, pairs);
		assert_int_equal(tare_clock_fit(&device.rate, pairs, n, &fit, NULL), 0);
		assert_true(n == 1 ? isnan(fit.drift_error_ppm) : fit.drift_error_ppm > 0);
		if (n == 1) {
			struct tare_host_time at =
			    tare_clock_map(&fit, pairs[0].device, pairs[0].before);
			assert_true(at.ns >= pairs[0].before.ns - fit.residual_ns &&
			            at.ns <= pairs[0].after.ns + fit.residual_ns);
			continue;
		}
		last = (double)(pairs[n - 1].before.ns - device.started.ns);
		assert_true(largest_error(&device, &fit,
		                          (double)(pairs[0].after.ns - device.started.ns), last,
		                          &random) <= (double)fit.residual_ns);
	}
}

static void several_wraps_between_two_pairs_are_undone(void **state)
{
	// 32 bits of 1 GHz wrap every 4.3 s; the pairs are a quarter of an hour apart, and at the
	// end the drift alone has come to a third of a wrap.
	static const struct reading reading = { 300, 400, 500 };
	struct tare_random random = unchosen_seed();
	(void)state;
	for (double fast = -50; fast <= 50; fast += 10) {
		struct device device = make_device(4, 0, fast, &random);
		struct tare_clock_pair pairs[30];
		struct tare_clock_fit fit;
		read_pairs(&device, 30, 30000e9, &reading, &random, pairs);
		assert_int_equal(tare_clock_fit(&device.rate, pairs, 30, &fit, NULL), 0);
		assert_true(fabs(fit.drift_ppm + fast) < 0.1);
		assert_true(largest_error(&device, &fit, 1000e9, 29000e9, &random) <=
		            (double)fit.residual_ns);
		assert_true(fit.residual_ns < 1000);
	}
}

// 16 bits of 12 MHz wrap every 5.5 ms: what 500 ppm make of ten seconds.
static void wraps_that_nobody_can_count_are_refused(void **state)
{
	static const struct reading reading = { 300, 400, 500 };
	struct tare_random random = unchosen_seed();
	struct device device = make_device(0, 0, 400, &random);
	struct tare_clock_pair pairs[10];
	struct tare_clock_fit fit;
	struct tare_error error;
	(void)state;
	device.rate.valid_bits = 16;
	read_pairs(&device, 10, 100e9, &reading, &random, pairs);
	assert_int_equal(tare_clock_fit(&device.rate, pairs, 10, &fit, &error), -EINVAL);
	assert_non_null(strstr(error.message, "starts again every 5.46 ms"));
	read_pairs(&device, 10, 1e9, &reading, &random, pairs);
	assert_int_equal(tare_clock_fit(&device.rate, pairs, 10, &fit, NULL), 0);
	assert_true(fabs(fit.drift_ppm + 400) < 20);
}

static void close_pairs_send_nothing_astray(void **state)
{
	// Five readings within 50 us tell nothing of the drift. A second later, the error must be
	// that of an uncorrected clock, not that of a slope fitted to the jitter.
	static const struct reading reading = { 500, 800, 1000 };
	struct tare_random random = unchosen_seed();
	(void)state;
	for (int run = 0; run < 200; run++) {
		struct device device = make_device(4, 2, 20, &random);
		struct tare_clock_pair pairs[5];
		struct tare_clock_fit fit;
		read_pairs(&device, 5, 50e3, &reading, &random, pairs);
		assert_int_equal(tare_clock_fit(&device.rate, pairs, 5, &fit, NULL), 0);
		assert_true(fit.drift_error_ppm > 500);
		assert_true(largest_error(&device, &fit, 1e9, 1e9, &random) < 40e3);
	}
}

// A clock that warms up is on no line; the residual says by how much.
static void a_clock_that_wanders_is_fitted_with_a_larger_residual(void **state)
{
	static const struct reading reading = { 200, 300, 2000 };
	struct tare_random random = unchosen_seed();
	(void)state;
	for (int run = 0; run < 100; run++) {
		struct device device = make_device(run % RATES, 2, 30, &random);
		struct tare_clock_pair pairs[200];
		struct tare_clock_fit fit;
		double wander = 1300 * exp(2.8 * uniform(&random)); // more than brackets hide
		double slowness = 4e9 * exp(log(4) * uniform(&random));
		double largest = 0;
		for (size_t i = 0; i < 200; i++) {
			double ns = 1e9 * ((double)i + 0.5 * uniform(&random));
			struct tare_clock_pair pair = read_pair(&device, ns, &reading, &random);
			pair.device = ticks_at(&device, ns + wander * sin(ns / slowness));
			pairs[i] = pair;
		}
		assert_int_equal(tare_clock_fit(&device.rate, pairs, 200, &fit, NULL), 0);
		for (double ns = 1e9; ns < 199e9; ns += 0.7e9) {
			struct tare_host_time near = { device.started.ns + (int64_t)ns };
			struct tare_host_time at = tare_clock_map(
			    &fit, ticks_at(&device, ns + wander * sin(ns / slowness)), near);
			largest = fmax(largest, fabs((double)(at.ns - device.started.ns) - ns));
		}
		assert_true(largest <= (double)fit.residual_ns);
		assert_true((double)fit.residual_ns < 4 * wander + 3000);
	}
}

// Each second reading is 2 us ahead, and the truth is always at the end of its bracket that is
// farther from any line.
static void a_clock_that_jumps_is_fitted_with_its_jumps_in_the_residual(void **state)
{
	struct tare_clock_rate rate = { 1000000000, 1, 64, 1 };
	struct tare_clock_pair pairs[91];
	struct tare_clock_fit fit;
	(void)state;
	for (int64_t i = 0; i < 91; i++) {
		int64_t ns = i * 1000000;
		pairs[i].device.ticks = (uint64_t)ns;
		pairs[i].before.ns = ns + (i % 2 ? 1900 : 0);
		pairs[i].after.ns = ns + (i % 2 ? 2000 : 100);
	}
	// One bracket is narrower than all, and says nothing of the others.
	pairs[45].before.ns -= 910;
	pairs[45].after.ns -= 990;
	assert_int_equal(tare_clock_fit(&rate, pairs, 91, &fit, NULL), 0);
	for (int64_t i = 0; i < 91; i++) {
		struct tare_host_time at = tare_clock_map(&fit, pairs[i].device, pairs[i].before);
		int64_t truth = i % 2 ? pairs[i].after.ns : pairs[i].before.ns;
		assert_true(llabs((long long)(at.ns - truth)) <= fit.residual_ns);
	}
	assert_in_range(fit.residual_ns, 1000, 1010);
}

static void a_clock_that_was_set_is_refused(void **state)
{
	static const int64_t set_ns[] = { -250000000, -20000000, 20000000, 1000000000 };
	struct tare_clock_rate rate = { 1000000000, 1, 64, 1 };
	(void)state;
	for (size_t k = 0; k < 4; k++)
		for (size_t at = 5; at < 45; at += 13) {
			struct tare_clock_pair pairs[50];
			struct tare_clock_fit fit;
			struct tare_error error;
			for (size_t i = 0; i < 50; i++) {
				int64_t ns = (int64_t)i * 10000000;
				pairs[i].before.ns = ns;
				pairs[i].after.ns = ns + 1000;
				pairs[i].device.ticks = (uint64_t)(INT64_C(1000000000000) + ns +
				                                   (i >= at ? set_ns[k] : 0));
			}
			assert_int_equal(tare_clock_fit(&rate, pairs, 50, &fit, &error), -EINVAL);
			assert_non_null(strstr(error.message, "jumps"));
			// One false pair says nothing of the rate either.
			for (size_t i = at + 1; i < 50; i++)
				pairs[i].device.ticks -= (uint64_t)set_ns[k];
			assert_int_equal(tare_clock_fit(&rate, pairs, 50, &fit, &error), -EINVAL);
			assert_non_null(strstr(error.message, "jumps"));
		}
}

static void an_exact_clock_maps_exactly(void **state)
{
	// As a simulated device offers it: no time passes between the readings.
	struct tare_clock_rate rate = { 1000000000, 1, 64, 1 };
	struct tare_clock_pair pairs[3];
	struct tare_clock_fit fit;
	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct tare_host_time now = { 5000 + (int64_t)i * 1000000 };
		pairs[i] = (struct tare_clock_pair){ now, { 77000 + i * 1000000 }, now };
	}
	assert_int_equal(tare_clock_fit(&rate, pairs, 3, &fit, NULL), 0);
	assert_int_equal(fit.tightest_bracket_ns, 0);
	assert_in_range(fit.residual_ns, 0, 3);
	assert_true(fabs(fit.drift_ppm) < 1e-9);
	// Also before the first pair, where ticks count backwards.
	for (int64_t ns = -70001; ns < 2000000; ns += 99999)
		assert_int_equal(tare_clock_map(&fit, (struct tare_ticks){ 77000 + (uint64_t)ns },
		                                pairs[0].before)
		                     .ns,
		                 5000 + ns);
}

static void a_wrong_rate_is_refused_with_the_right_one(void **state)
{
	static const struct {
		uint64_t said, real;
		const char *words;
	} rows[] = {
		{ 1000000000, 12500000, "12.5 MHz" },
		{ 12000000, 12500000, "12.5 MHz" },
		{ 19200000, 1000000000, "1.00 GHz" },
	};
	static const struct reading reading = { 300, 400, 200 };
	struct tare_random random = unchosen_seed();
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		for (size_t w = 0; w < WIDTHS; w++) {
			struct device device = make_device(0, w, 0, &random);
			struct tare_clock_pair pairs[20];
			struct tare_clock_fit fit;
			struct tare_error error;
			device.rate.hz_numerator = rows[i].real;
			read_pairs(&device, 20, 2e9, &reading, &random, pairs);
			device.rate.hz_numerator = rows[i].said;
			assert_int_equal(tare_clock_fit(&device.rate, pairs, 20, &fit, &error),
			                 -EINVAL);
			if (!strstr(error.message, rows[i].words))
				fail_msg("'%s' lacks '%s'", error.message, rows[i].words);
		}
}

static void what_cannot_be_is_refused(void **state)
{
	struct tare_clock_rate rate = { 1000000000, 1, 64, 1 };
	struct tare_clock_pair pair = { { 10 }, { 5 }, { 20 } };
	struct tare_clock_fit fit;
	struct tare_error error;
	(void)state;
	assert_int_equal(tare_clock_fit(&rate, &pair, 0, &fit, &error), -EINVAL);
	pair.after.ns = 9;
	assert_int_equal(tare_clock_fit(&rate, &pair, 1, &fit, &error), -EINVAL);
	assert_non_null(strstr(error.message, "pair 0"));
	pair.after.ns = 20;
	for (int i = 0; i < 4; i++) {
		struct tare_clock_rate bad = rate;
		if (i == 0)
			bad.hz_numerator = 0;
		else if (i == 1)
			bad.hz_denominator = 0;
		else
			bad.valid_bits = i == 2 ? 0 : 65;
		assert_int_equal(tare_clock_fit(&bad, &pair, 1, &fit, &error), -EINVAL);
	}
	assert_int_equal(tare_clock_fit(&rate, &pair, 1, &fit, &error), 0);
}

static void a_clock_that_stands_still_is_refused(void **state)
{
	struct tare_clock_rate rate = { 1000000000, 1, 64, 1 };
	struct tare_clock_pair pairs[10];
	struct tare_clock_fit fit;
	struct tare_error error;
	(void)state;
	for (size_t i = 0; i < 10; i++)
		pairs[i] = (struct tare_clock_pair){ { (int64_t)i * 1000000 },
			                             { 99 },
			                             { (int64_t)i * 1000000 + 100 } };
	assert_int_equal(tare_clock_fit(&rate, pairs, 10, &fit, &error), -EINVAL);
	assert_non_null(strstr(error.message, "advance"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_duration_is_within_one_tick),
		cmocka_unit_test(mapping_errs_by_at_most_half_the_tightest_bracket),
		cmocka_unit_test(the_residual_bounds_the_error),
		cmocka_unit_test(several_wraps_between_two_pairs_are_undone),
		cmocka_unit_test(wraps_that_nobody_can_count_are_refused),
		cmocka_unit_test(close_pairs_send_nothing_astray),
		cmocka_unit_test(a_clock_that_wanders_is_fitted_with_a_larger_residual),
		cmocka_unit_test(a_clock_that_jumps_is_fitted_with_its_jumps_in_the_residual),
		cmocka_unit_test(a_clock_that_was_set_is_refused),
		cmocka_unit_test(an_exact_clock_maps_exactly),
		cmocka_unit_test(a_wrong_rate_is_refused_with_the_right_one),
		cmocka_unit_test(what_cannot_be_is_refused),
		cmocka_unit_test(a_clock_that_stands_still_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
