// SPDX-License-Identifier: Apache-2.0
// Host ticks of a trace as nanoseconds: exact where the readings are, within the residual
// elsewhere.
#include "trace/clock.h"

#include "tests/unit/model/statistics/noise.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 40000 };
static struct tare_trace_reading readings[MOST];

// A counter whose rate is known: what CLOCK_MONOTONIC_RAW shows at a tick.
struct counter {
	double hz;
	uint64_t first_ticks;
	int64_t first_ns;
	uint64_t bend; // from here on 1 % faster; 0: never
};

static double true_ns(const struct counter *counter, double ticks)
{
	double since = ticks - (double)counter->first_ticks;
	double after =
	    counter->bend && ticks > (double)counter->bend ? ticks - (double)counter->bend : 0;

	return (double)counter->first_ns + (since - after / 101) * 1e9 / counter->hz;
}

// `count` readings over `span` ticks; the clock was read anywhere in a bracket of about `width`.
static void read_clock(const struct counter *counter, size_t count, uint64_t span, uint64_t width,
                       struct tare_random *random)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t before =
		    counter->first_ticks + (uint64_t)((double)span * (double)i / (double)count);
		uint64_t slow = tare_random_below(random, 5) ? 1 : 100;
		uint64_t bracket = 1 + slow * (width / 2 + tare_random_below(random, width));
		double at = (double)before + (double)bracket * uniform(random);
		readings[i] = (struct tare_trace_reading){ before, before + bracket,
			                                   (int64_t)floor(true_ns(counter, at)) };
	}
}

static double largest_error(const struct counter *counter, const struct tare_trace_map *map,
                            uint64_t from, uint64_t to)
{
	double largest = 0;

	for (int i = 0; i <= 1000; i++) {
		uint64_t ticks = from + (uint64_t)((double)(to - from) * i / 1000);
		largest = fmax(largest, fabs((double)tare_trace_map_ns(map, ticks) -
		                             true_ns(counter, (double)ticks)));
	}
	return largest;
}

static struct tare_trace_map fit(const struct counter *counter, size_t count, uint64_t hz,
                                 uint64_t span)
{
	struct tare_trace_map map;

	assert_int_equal(tare_trace_map_fit(readings, count, counter->first_ticks,
	                                    counter->first_ns, hz, counter->first_ticks,
	                                    counter->first_ticks + span, &map),
	                 0);
	return map;
}

static void drifting_counters_are_followed_within_the_residual(void **state)
{
	static const struct {
		double hz;
		size_t count;
		double seconds;
		uint64_t width;
		bool said;
	} rows[] = {
		{ 2.4e9, 2, 10, 50, true },       { 2.4e9, 100, 10, 50, true },
		{ 3.7e9, 1000, 3600, 50, true },  { 1e9, 100, 1, 100, true },
		{ 2.1e9, 200, 100, 2000, false }, { 24e6, 100, 100, 2, true },
		{ 2.4e9, 3, 0.001, 50, true },    { 2.4e9, 3, 0.01, 50, false },
		{ 5e9, 16384, 1e6, 50, true },
	};
	struct tare_random random = unchosen_seed();

	(void)state;
	for (size_t row = 0; row < sizeof rows / sizeof *rows; row++)
		for (int drift = -1; drift <= 1; drift++) {
			struct counter counter = { rows[row].hz * (1 + drift * 80e-6),
				                   UINT64_C(123456789012), INT64_C(987654321098),
				                   0 };
			uint64_t span = (uint64_t)(rows[row].seconds * rows[row].hz);
			uint64_t hz = rows[row].said ? (uint64_t)rows[row].hz : 0;
			struct tare_trace_map map;
			double error, good;
			read_clock(&counter, rows[row].count, span, rows[row].width, &random);
			map = fit(&counter, rows[row].count, hz, span);
			error = largest_error(&counter, &map, counter.first_ticks,
			                      counter.first_ticks + span);
			if (error > (double)map.residual_ns + 0.001 * rows[row].seconds)
				fail_msg("row %zu: off by %g ns, residual %d", row, error,
				         (int)map.residual_ns);
			assert_int_equal(map.contradicting, 0);
			assert_false(map.rate_unknown);
			// With a few dozen readings the residual is about half a narrow bracket.
			good = 3 * (double)rows[row].width / rows[row].hz * 1e9 + 10;
			if (rows[row].count >= 100 && (double)map.residual_ns > good)
				fail_msg("row %zu: residual %d, not %g", row, (int)map.residual_ns,
				         good);
			if (rows[row].count >= 100)
				assert_int_equal(map.count, 1);
			tare_trace_map_free(&map);
		}
}

static void a_counter_that_changes_its_rate_is_followed(void **state)
{
	struct tare_random random = unchosen_seed();
	uint64_t span = UINT64_C(24000000000);
	struct counter counter = { 2.4e9, 1000000, 5000000, 1000000 + span / 2 };
	struct tare_trace_map map;

	(void)state;
	read_clock(&counter, 1000, span, 50, &random);
	map = fit(&counter, 1000, 0, span);
	assert_true(map.count > 1);
	assert_true(map.residual_ns < 20000); // a line would be off by 12 ms
	assert_true(largest_error(&counter, &map, 1000000, 1000000 + span) <=
	            (double)map.residual_ns + 1);
	assert_int_equal(map.contradicting, 0);
	tare_trace_map_free(&map);
}

static void false_readings_are_left_out(void **state)
{
	static const size_t wrong[] = { 0, 1, 17, 50, 98, 99 };
	struct tare_random random = unchosen_seed();
	uint64_t span = UINT64_C(24000000000);
	struct counter counter = { 2.4e9, 1000000, 5000000, 0 };

	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		for (int kind = 0; kind < 5; kind++) {
			struct tare_trace_reading *reading = &readings[wrong[i]];
			struct tare_trace_map map;
			read_clock(&counter, 100, span, 50, &random);
			switch (kind) {
			case 0:
				reading->ns += 40000000;
				break;
			case 1:
				reading->ns = 0;
				break;
			case 2:
				reading->ns = INT64_MAX;
				break;
			case 3:
				reading->before = reading->after = UINT64_MAX;
				break;
			default:
				reading->before = reading->after + 1;
				break;
			}
			map = fit(&counter, 100, 2400000000, span);
			assert_true(largest_error(&counter, &map, 1000000, 1000000 + span) <=
			            (double)map.residual_ns);
			assert_true(map.residual_ns < 100);
			assert_int_equal(map.contradicting, 1);
			tare_trace_map_free(&map);
		}
}

static void the_start_alone_and_a_nominal_rate_will_do(void **state)
{
	struct counter counter = { 2.4e9 * (1 + 400e-6), 1000000, 5000000, 0 };
	uint64_t span = UINT64_C(24000000000);
	struct tare_trace_map map = fit(&counter, 0, 2400000000, span);

	(void)state;
	assert_true(largest_error(&counter, &map, 1000000, 1000000 + span) <=
	            (double)map.residual_ns);
	assert_in_range(map.residual_ns, 5000000, 5002000); // 500 ppm of 10 s
	assert_int_equal(tare_trace_map_ns(&map, 1000000), 5000000);
	assert_int_equal(tare_trace_map_ns(&map, 1000000 + 24), 5000010);
	tare_trace_map_free(&map);
	// Readings too close together tell the rate less well than its nominal value does.
	for (uint64_t i = 0; i < 3; i++)
		readings[i] =
		    (struct tare_trace_reading){ 1000000 + 12000 * i, 1000100 + 12000 * i,
			                         (int64_t)true_ns(&counter,
			                                          1000050 + 12000.0 * (double)i) };
	map = fit(&counter, 3, 2400000000, span);
	assert_true(largest_error(&counter, &map, 1000000, 1000000 + span) <=
	            (double)map.residual_ns);
	assert_in_range(map.residual_ns, 4990000, 5002000);
	tare_trace_map_free(&map);
	// With one reading far enough off, the start is its other point.
	readings[0] =
	    (struct tare_trace_reading){ 1000000 + span - 20, 1000000 + span + 20,
		                         (int64_t)true_ns(&counter, (double)(1000000 + span)) };
	for (uint64_t hz = 0; hz <= 2400000000; hz += 2400000000) {
		map = fit(&counter, 1, hz, span);
		assert_true(largest_error(&counter, &map, 1000000, 1000000 + span) <=
		            (double)map.residual_ns);
		assert_true(map.residual_ns < 2000);
		assert_false(map.rate_unknown);
		tare_trace_map_free(&map);
	}
}

static void a_rate_that_nothing_tells_is_said_to_be_unknown(void **state)
{
	struct counter counter = { 1e9, 1000, 5000, 0 };
	struct tare_trace_map map = fit(&counter, 0, 0, 1000000);

	(void)state;
	assert_true(map.rate_unknown);
	assert_int_equal(map.residual_ns, 1000000);
	assert_int_equal(tare_trace_map_ns(&map, 2000), 6000);
	tare_trace_map_free(&map);
}

// The map's line by integers that cannot overflow, rounded once.
static __int128 exact_ns(const struct tare_trace_segment *line, uint64_t ticks)
{
	__int128 numerator =
	    ((__int128)ticks * 2 - line->origin_twice) * line->ns * 2 + line->twice;
	__int128 denominator = (__int128)line->twice * 2;
	__int128 whole = numerator / denominator;

	return line->origin_ns + whole - (numerator % denominator < 0);
}

static void rounding_happens_once_and_to_the_nearest(void **state)
{
	struct tare_random random = unchosen_seed();

	(void)state;
	for (int i = 0; i < 200; i++) {
		uint64_t span = 1000 + tare_random_below(&random, UINT64_C(1) << (10 + i % 40));
		uint64_t start = tare_random_below(&random, UINT64_C(1) << 50);
		struct tare_trace_map map;
		readings[0] = (struct tare_trace_reading){ start, start + i % 2, 1000000000 };
		readings[1] = (struct tare_trace_reading){
			start + span, start + span + i % 3,
			1000000000 + (int64_t)tare_random_below(&random, span + span / 4) + 1
		};
		assert_int_equal(
		    tare_trace_map_fit(readings, 2, start, 0, 0, start, start + span, &map), 0);
		assert_int_equal(map.count, 1);
		for (int j = 0; j < 500; j++) {
			uint64_t ticks = j % 5 ? start + tare_random_below(&random, span + 1)
			                       : start - tare_random_below(&random, start / 4 + 1);
			int64_t ns = tare_trace_map_ns(&map, ticks);
			assert_true(ns == exact_ns(map.segments, ticks));
			assert_true(tare_trace_map_ns(&map, ticks + 1) >= ns);
		}
		tare_trace_map_free(&map);
	}
}

static void no_ticks_are_too_many(void **state)
{
	static const uint64_t extremes[] = { 0, 1, INT64_MAX, UINT64_C(1) << 63, UINT64_MAX };
	static const uint64_t rates[] = { 1, 1000000000, UINT64_C(1) << 60, UINT64_MAX };
	struct tare_trace_map map = { 0 };

	(void)state;
	assert_int_equal(tare_trace_map_ns(&map, 77), 77);
	assert_true(tare_trace_map_ns(&map, UINT64_MAX) == INT64_MAX);
	for (size_t rate = 0; rate < 4; rate++)
		for (size_t i = 0; i < 5; i++) {
			int64_t last = INT64_MIN;
			readings[0] = (struct tare_trace_reading){ extremes[i], extremes[4 - i],
				                                   (int64_t)extremes[i] };
			readings[1] = (struct tare_trace_reading){ 10, 20, INT64_MAX / 2 };
			assert_int_equal(tare_trace_map_fit(readings, 2, extremes[i], INT64_MAX,
			                                    rates[rate], 0, UINT64_MAX, &map),
			                 0);
			assert_true(map.residual_ns >= 0);
			for (size_t j = 0; j < 5; j++) {
				int64_t ns = tare_trace_map_ns(&map, extremes[j]);
				assert_true(ns > INT64_MIN && ns >= last);
				last = ns;
			}
			tare_trace_map_free(&map);
		}
}

// Noise as readings: no crash, no endless loop, and later ticks are never earlier.
static void readings_of_noise_do_no_harm(void **state)
{
	struct tare_random random = unchosen_seed();

	(void)state;
	for (int i = 0; i < 200; i++) {
		size_t count = tare_random_below(&random, 200);
		struct tare_trace_map map;
		int64_t last = INT64_MIN;
		for (size_t j = 0; j < count; j++) {
			uint64_t before = tare_random_next(&random) >> (1 + i % 50);
			readings[j] = (struct tare_trace_reading){
				before, before + (tare_random_next(&random) >> (10 + i % 50)),
				(int64_t)(tare_random_next(&random) >> (1 + j % 60))
			};
		}
		assert_int_equal(tare_trace_map_fit(readings, count, 5, 6, i % 2 ? 1000000 : 0, 0,
		                                    1 << 20, &map),
		                 0);
		for (uint64_t ticks = 0; ticks < UINT64_C(1) << 62; ticks = ticks * 3 / 2 + 1) {
			int64_t ns = tare_trace_map_ns(&map, ticks);
			assert_true(ns >= last);
			last = ns;
		}
		tare_trace_map_free(&map);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(drifting_counters_are_followed_within_the_residual),
		cmocka_unit_test(a_counter_that_changes_its_rate_is_followed),
		cmocka_unit_test(false_readings_are_left_out),
		cmocka_unit_test(the_start_alone_and_a_nominal_rate_will_do),
		cmocka_unit_test(a_rate_that_nothing_tells_is_said_to_be_unknown),
		cmocka_unit_test(rounding_happens_once_and_to_the_nearest),
		cmocka_unit_test(no_ticks_are_too_many),
		cmocka_unit_test(readings_of_noise_do_no_harm),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
