// SPDX-License-Identifier: Apache-2.0
#include "model/statistics/statistics.h"
#include "noise.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { MOST = 24 };
static uint64_t bytes[MOST];
static double time_ns[MOST];

// 8 KB, 16 KB, ... : `n` sizes of a link of that latency and rate, with relative noise.
static void fill(size_t n, double latency_ns, double rate, double noise, struct tare_random *random)
{
	for (size_t i = 0; i < n; i++) {
		bytes[i] = UINT64_C(8192) << i;
		time_ns[i] = latency_ns + 1e9 * (double)bytes[i] / rate;
		if (noise > 0)
			time_ns[i] *= exp(noise * normal(random));
	}
}

static void a_line_without_noise_is_found_exactly(void **state)
{
	static const struct {
		size_t n;
		double latency_ns, rate;
	} rows[] = {
		{ 3, 9200, 12e9 },
		{ 18, 2850, 55.5e9 },
		{ 18, 1900, 2081e9 },
		{ 18, 0, 1e9 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tare_transfer_fit fit;
		fill(rows[i].n, rows[i].latency_ns, rows[i].rate, 0, NULL);
		// Without a latency the line may miss 0 by a rounding, to either side.
		if (rows[i].latency_ns == 0)
			time_ns[0] *= 1 + 1e-9;
		assert_int_equal(tare_fit_transfer(bytes, time_ns, rows[i].n, &fit), 0);
		assert_true(fabs(fit.latency_ns - rows[i].latency_ns) < 0.01);
		assert_true(fabs(fit.rate_bytes_per_s / rows[i].rate - 1) < 1e-6);
		if (rows[i].latency_ns > 0)
			assert_true(
			    fabs(fit.half_rate_bytes / (rows[i].latency_ns * rows[i].rate / 1e9) -
			         1) < 1e-4);
		assert_true(fit.worst_relative_residual < 1e-6);
		assert_int_equal(fit.points, rows[i].n);
	}
}

static void intervals_cover_the_truth(void **state)
{
	static const struct {
		size_t n;
		double latency_ns, rate, noise;
	} rows[] = {
		{ 18, 2850, 55.5e9, 0.01 }, { 18, 9200, 12e9, 0.05 }, { 5, 9200, 12e9, 0.02 },
		{ 3, 500, 12e9, 0.003 },    { 18, 9200, 12e9, 0.15 },
	};
	enum { RUNS = 4000 };
	struct tare_random random = unchosen_seed();
	(void)state;
	for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
		size_t latency = 0, rate = 0, fitted = 0;
		for (size_t i = 0; i < RUNS; i++) {
			struct tare_transfer_fit fit;
			fill(rows[k].n, rows[k].latency_ns, rows[k].rate, rows[k].noise, &random);
			if (tare_fit_transfer(bytes, time_ns, rows[k].n, &fit))
				continue;
			fitted++;
			latency += fit.latency_low_ns <= rows[k].latency_ns &&
			           rows[k].latency_ns <= fit.latency_high_ns;
			rate += fit.rate_low <= rows[k].rate && rows[k].rate <= fit.rate_high;
			assert_true(fit.rate_low > 0 && isfinite(fit.rate_high));
			assert_true(isfinite(fit.latency_low_ns) && isfinite(fit.latency_high_ns));
		}
		printf("# %zu points: fitted %.1f %%, latency %.1f %%, rate %.1f %%\n", rows[k].n,
		       100.0 * (double)fitted / RUNS, 100.0 * (double)latency / (double)fitted,
		       100.0 * (double)rate / (double)fitted);
		assert_true(fitted > RUNS * 95 / 100);
		assert_in_range(latency * 1000 / fitted, 930, 975);
		assert_in_range(rate * 1000 / fitted, 930, 975);
	}
}

static void sizes_far_apart_weigh_the_same(void **state)
{
	struct tare_transfer_fit fit;
	(void)state;
	// The largest is 3 % off. In absolute terms that is many latencies.
	fill(18, 2850, 55.5e9, 0, NULL);
	time_ns[17] *= 1.03;
	assert_int_equal(tare_fit_transfer(bytes, time_ns, 18, &fit), 0);
	assert_true(fabs(fit.latency_ns / 2850 - 1) < 0.02);
	assert_true(fabs(fit.rate_bytes_per_s / 55.5e9 - 1) < 0.01);
	assert_true(fit.worst_relative_residual > 0.02);
}

static void a_latency_lost_in_the_noise_includes_zero(void **state)
{
	struct tare_random random = { 11 };
	size_t negative = 0;
	(void)state;
	for (size_t i = 0; i < 300; i++) {
		struct tare_transfer_fit fit;
		fill(12, 1, 1e9, 0.05, &random);
		if (tare_fit_transfer(bytes, time_ns, 12, &fit))
			continue;
		assert_true(fit.latency_high_ns >= 0);
		if (fit.latency_ns <= 0) {
			negative++;
			assert_true(isnan(fit.half_rate_bytes));
		}
	}
	assert_true(negative > 50);
}

static void what_is_no_transfer_is_refused(void **state)
{
	static const struct {
		const char *why;
		size_t n;
		uint64_t bytes[4];
		double time_ns[4];
	} rows[] = {
		{ "nothing", 0, { 0 }, { 0 } },
		{ "two sizes", 4, { 1, 1, 2, 2 }, { 1, 1.1, 2, 2.1 } },
		{ "all the same time", 4, { 1000, 2000, 4000, 8000 }, { 5, 5, 5, 5 } },
		{ "more is faster", 4, { 1000, 2000, 4000, 8000 }, { 5, 4, 3, 2 } },
		{ "no rate within the noise", 4, { 1000, 2000, 4000, 8000 }, { 5, 4, 6, 5.1 } },
		{ "less than nothing at 0", 4, { 1000, 2000, 4000, 8000 }, { 1, 10, 28, 64 } },
		{ "zero time", 4, { 1000, 2000, 4000, 8000 }, { 0, 2, 4, 8 } },
		{ "negative time", 4, { 1000, 2000, 4000, 8000 }, { -1, 2, 4, 8 } },
		{ "unknown time", 4, { 1000, 2000, 4000, 8000 }, { NAN, 2, 4, 8 } },
		{ "endless", 4, { 1000, 2000, 4000, 8000 }, { 1, 2, 4, INFINITY } },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tare_transfer_fit fit;
		if (tare_fit_transfer(rows[i].bytes, rows[i].time_ns, rows[i].n, &fit) != -EINVAL)
			fail_msg("%s was accepted", rows[i].why);
	}
}

// Latency of 10 ms, sizes that cost microseconds: the slope is noise, whatever its sign.
static void a_slope_picked_out_of_the_noise_is_no_rate(void **state)
{
	struct tare_random random = { 20261120 };
	uint64_t sizes[7];
	double times_ns[7];
	int accepted = 0;
	(void)state;
	for (int run = 0; run < 2000; run++) {
		struct tare_transfer_fit fit;
		for (size_t i = 0; i < 7; i++) {
			double unit = (double)tare_random_below(&random, 1000000) / 1e6 - 0.5;
			sizes[i] = UINT64_C(1024) << i;
			times_ns[i] = (10e6 + (double)sizes[i] / 10) * (1 + 0.17 * unit);
		}
		accepted += tare_fit_transfer(sizes, times_ns, 7, &fit) == 0;
	}
	assert_true(accepted < 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_without_noise_is_found_exactly),
		cmocka_unit_test(intervals_cover_the_truth),
		cmocka_unit_test(sizes_far_apart_weigh_the_same),
		cmocka_unit_test(a_latency_lost_in_the_noise_includes_zero),
		cmocka_unit_test(what_is_no_transfer_is_refused),
		cmocka_unit_test(a_slope_picked_out_of_the_noise_is_no_rate),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
