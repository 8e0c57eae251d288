// SPDX-License-Identifier: Apache-2.0
// `matmul`: the ladder on a simulated device, and how sizes and rungs are named.
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "matmul_rig.h"

static void kernel_times_follow_from_the_launches(void **state)
{
	static const struct {
		const char *rung;
		int64_t n;
		double items; // of the launch
	} rows[] = {
		{ "naive", 32, 32 * 32 },    { "naive", 33, 48 * 48 },  { "tiled", 33, 48 * 48 },
		{ "second", 32, 16 * 16 },   { "second", 33, 32 * 32 }, { "register", 64, 64 },
		{ "register", 100, 4 * 64 }, { "naive", 1, 256 },       { "naive", 100, 112 * 112 },
	};
	struct simulated_run simulated;
	(void)state;
	run_well(&simulated, SCRIPT, "1,32,33,64,100", "naive,tiled,second,register");
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct tare_cell *cell =
		    find(simulated.run.result, rows[i].rung, rows[i].n, "kernel");
		double expected = 2 + rows[i].items * (double)rows[i].n / 1e3;
		close_to(rows[i].rung, us(cell), expected, 0.002);
		close_to("rate", cell->rate.median, 2 * pow((double)rows[i].n, 3) / expected / 1e3,
		         0.01);
		assert_int_equal(cell->verified, TARE_VERIFIED);
		assert_true(cell->converged);
	}
	simulated_close(&simulated);
}

static void the_parts_make_the_total(void **state)
{
	static const char *const rungs[] = { "element", "naive", "register" };
	struct simulated_run simulated;
	(void)state;
	run_well(&simulated, SCRIPT, "33", "element,naive,register");
	for (size_t i = 0; i < 3; i++) {
		const struct tare_result *result = simulated.run.result;
		double sum = us(find(result, rungs[i], 33, "copy-in")) +
		             us(find(result, rungs[i], 33, "launch")) +
		             us(find(result, rungs[i], 33, "submit-to-complete")) +
		             us(find(result, rungs[i], 33, "copy-out"));
		// Each part is a median of whole nanoseconds.
		close_to(rungs[i], us(find(result, rungs[i], 33, "total")), sum, 0.003);
		assert_true(us(find(result, rungs[i], 33, "kernel")) <
		            us(find(result, rungs[i], 33, "launch")) +
		                us(find(result, rungs[i], 33, "submit-to-complete")));
		close_to("build", us(find(result, rungs[i], -1, "build")), 1000, 1);
		close_to("allocate", us(find(result, rungs[i], 33, "allocate")), 30, 0.1);
		assert_int_equal(find(result, rungs[i], 33, "allocate")->summary.n, 1);
	}
	simulated_close(&simulated);
}

// A launch an element: the device's work alone is n x n kernels; the span has the gaps too.
static void one_launch_an_element_is_bound_by_launches(void **state)
{
	struct simulated_run simulated;
	const struct tare_result *result;
	double alone = 20 * 20 * (2 + 64 * 20 / 1e3);
	bool said = false;
	(void)state;
	run_well(&simulated, SCRIPT, "20", "element,naive");
	result = simulated.run.result;
	close_to("alone", us(find(result, "element", 20, "kernels-alone")), alone, 0.5);
	close_to("span", us(find(result, "element", 20, "kernel")), alone + 399 * 0.2, 1);
	close_to("launch", us(find(result, "element", 20, "launch")), 400 + 256 * 0.5, 80);
	for (size_t i = 0; i < result->conclusion_count; i++)
		said |= strcmp(result->conclusions[i].id, "launch-bound") == 0 &&
		        strstr(result->conclusions[i].text, "400 launches") != NULL;
	assert_true(said);
	simulated_close(&simulated);
}

static const char *conclusion(const struct tare_result *result, const char *id)
{
	for (size_t i = 0; i < result->conclusion_count; i++)
		if (strcmp(result->conclusions[i].id, id) == 0)
			return result->conclusions[i].text;
	return "";
}

// With four elements a work-item `second` takes a quarter of the items; where all take the fixed
// time only, nothing is said of which is better.
static void the_advice_follows_from_the_figures(void **state)
{
	char script[8192];
	struct simulated_run simulated;
	(void)state;
	snprintf(script, sizeof script, "%s", SCRIPT);
	run_well(&simulated, script, "64", "naive,tiled,second");
	assert_non_null(
	    strstr(conclusion(simulated.run.result, "best-rung"), "best rung is second"));
	assert_non_null(strstr(conclusion(simulated.run.result, "best-rung"), "3.9 times naive"));
	assert_string_equal(conclusion(simulated.run.result, "alike"), "");
	assert_non_null(strstr(conclusion(simulated.run.result, "tiling"), "do not help"));
	assert_non_null(strstr(conclusion(simulated.run.result, "next-step"), "(register)"));
	simulated_close(&simulated);
	replace(script, "repeat-rate 1 Gitem/s", "repeat-rate 9 Titem/s");
	run_well(&simulated, script, "16", "naive,tiled,second");
	assert_non_null(strstr(conclusion(simulated.run.result, "alike"), "are as fast"));
	assert_string_equal(conclusion(simulated.run.result, "tiling"), "");
	assert_non_null(strstr(conclusion(simulated.run.result, "next-step"), "too short"));
	simulated_close(&simulated);
}

static void bytes_and_shares_follow_from_the_formulas(void **state)
{
	static const struct {
		const char *rung, *level;
		double bytes;
	} rows[] = {
		{ "naive", "memory", 12 * 64 * 64 },
		{ "naive", "cache", 8.0 * 64 * 64 * 64 },
		{ "tiled", "cache", 8.0 * 64 * 64 * 64 / 16 },
		{ "tiled", "local", 8.0 * 64 * 64 * 64 },
		{ "second", "cache", 8.0 * 64 * 64 * 64 / 32 },
		{ "second", "local", 8.0 * 64 * 64 * 64 / 2 },
		{ "register", "cache", 8.0 * 64 * 64 * 64 / 64 },
		{ "register", "local", 8.0 * 64 * 64 * 64 / 8 },
	};
	struct simulated_run simulated;
	struct tare_matmul_options options = { .n = { 64 }, .n_count = 1 };
	const struct tare_cell *cell;
	double seconds;
	(void)state;
	assert_int_equal(tare_parse_rungs("naive,tiled,second,register", &options.rungs, NULL), 0);
	options.peaks.present = true;
	for (int i = 0; i < TARE_CEILING_COUNT; i++)
		options.peaks.per_second[i] = options.peaks.theoretical[i] = NAN;
	options.peaks.per_second[TARE_CEILING_FP32] = 1e13;
	options.peaks.theoretical[TARE_CEILING_FP32] = 2e13;
	options.peaks.per_second[TARE_CEILING_MEMORY_READ] = 1e12;
	options.peaks.per_second[TARE_CEILING_CACHE] = 2e10;
	simulated_open(&simulated, SCRIPT, "matmul", BUDGET);
	assert_int_equal(tare_measure_matmul(&simulated.run, &options, NULL), 0);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		seconds = us(find(simulated.run.result, rows[i].rung, 64, "kernel")) * 1e-6;
		cell = find_model(simulated.run.result, rows[i].rung, 64, "required-bytes",
		                  rows[i].level);
		close_to(rows[i].level, cell->summary.median, rows[i].bytes, 0.5);
		cell = find_model(simulated.run.result, rows[i].rung, 64, "required-rate",
		                  rows[i].level);
		close_to(rows[i].level, cell->summary.median, rows[i].bytes / seconds * 1e-9, 1e-3);
	}
	seconds = us(find(simulated.run.result, "tiled", 64, "kernel")) * 1e-6;
	close_to(
	    "measured",
	    find_model(simulated.run.result, "tiled", 64, "share-of-measured", "")->summary.median,
	    100 * 2 * 262144 / seconds / 1e13, 1e-6);
	close_to(
	    "paper",
	    find_model(simulated.run.result, "tiled", 64, "share-of-paper", "")->summary.median,
	    100 * 2 * 262144 / seconds / 2e13, 1e-6);
	close_to(
	    "least",
	    find_model(simulated.run.result, "tiled", 64, "least-time-paper", "")->summary.median,
	    2 * 262144 / 2e13 * 1e9, 1e-6);
	// 4 FLOP a byte of the cache's 20 GB/s; the naive rung's quarter of that rate is below.
	cell = find_model(simulated.run.result, "tiled", 64, "tightest-ceiling", "");
	close_to("ceiling", cell->summary.median, 80, 1e-6);
	assert_string_equal(label_text(cell, "ceiling"), "cache");
	cell = find_model(simulated.run.result, "tiled", 64, "distance", "");
	close_to("distance", cell->summary.median, 80e9 / (2 * 262144 / seconds), 1e-6);
	assert_string_equal(cell->source, "model");
	simulated_close(&simulated);
}

// What a rung passes is no ceiling of it.
static void a_ceiling_that_is_passed_is_none(void **state)
{
	struct simulated_run simulated;
	struct tare_matmul_options options = { .n = { 64 },
		                               .n_count = 1,
		                               .rungs = 1u << TARE_RUNG_NAIVE };
	(void)state;
	options.peaks.present = true;
	for (int i = 0; i < TARE_CEILING_COUNT; i++)
		options.peaks.per_second[i] = options.peaks.theoretical[i] = NAN;
	options.peaks.per_second[TARE_CEILING_FP32] = 1e10;
	options.peaks.per_second[TARE_CEILING_CACHE] = 1e9;
	simulated_open(&simulated, SCRIPT, "matmul", BUDGET);
	assert_int_equal(tare_measure_matmul(&simulated.run, &options, NULL), 0);
	assert_string_equal(
	    label_text(find_model(simulated.run.result, "naive", 64, "tightest-ceiling", ""),
	               "ceiling"),
	    "fp32");
	simulated_close(&simulated);
}

// Arithmetic comes from nowhere nearer: that ceiling was measured when the device was slower.
static void a_rung_above_its_arithmetic_is_at_it(void **state)
{
	struct tare_matmul_options options = { .n = { 64 },
		                               .n_count = 1,
		                               .rungs = 1u << TARE_RUNG_NAIVE };
	(void)state;
	options.peaks.present = true;
	for (int i = 0; i < TARE_CEILING_COUNT; i++)
		options.peaks.per_second[i] = options.peaks.theoretical[i] = NAN;
	options.peaks.per_second[TARE_CEILING_FP32] = 1.5e9;
	options.peaks.per_second[TARE_CEILING_MEMORY_READ] = 1e12;
	for (int clocks = 0; clocks < 2; clocks++) {
		struct simulated_run simulated;
		const struct tare_result *result;
		const char *said;
		double share;
		options.peaks.clock_hz[TARE_CEILING_FP32] = clocks ? 1.5e9 : NAN;
		simulated_open(&simulated, SCRIPT "telemetry clock 2 GHz throttle 0\n", "matmul",
		               BUDGET);
		assert_int_equal(tare_measure_matmul(&simulated.run, &options, NULL), 0);
		result = simulated.run.result;
		assert_string_equal(
		    label_text(find_model(result, "naive", 64, "tightest-ceiling", ""), "ceiling"),
		    "fp32");
		share = find_model(result, "naive", 64, "share-of-measured", "")->summary.median;
		assert_true(share > 102);
		close_to("distance",
		         find_model(result, "naive", 64, "distance", "")->summary.median,
		         100 / share, 1e-9);
		close_to("clock", find_model(result, "naive", 64, "clock", "")->summary.median,
		         2000, 1e-9);
		said = conclusion(result, "at-ceiling");
		assert_non_null(strstr(said, "naive is at 132 % of fp32"));
		assert_non_null(
		    strstr(said, clocks ? "measured at 1500 MHz, this at 2000 MHz: per clock 99 %"
		                        : "clocks is not known"));
		assert_non_null(strstr(said, "the device was slower"));
		if (clocks)
			close_to(
			    "per clock",
			    find_model(result, "naive", 64, "share-per-clock", "")->summary.median,
			    share * 0.75, 1e-9);
		simulated_close(&simulated);
	}
}

static void a_wrong_product_fails_and_the_cell_says_so(void **state)
{
	char script[8192];
	struct simulated_run simulated;
	struct tare_error error = { 0 };
	(void)state;
	snprintf(script, sizeof script, "%s%s%s", SIMPLE_DEVICE SIMPLE_PAIRS,
	         KERNEL("naive", "4", "matmul"), KERNEL("tiled", "4", "none"));
	assert_int_equal(run(&simulated, script, "33", "naive,tiled", &error), -EBADMSG);
	assert_non_null(strstr(error.message, "tiled, n = 33"));
	assert_int_equal(find(simulated.run.result, "naive", 33, "kernel")->verified,
	                 TARE_VERIFIED);
	assert_int_equal(find(simulated.run.result, "tiled", 33, "kernel")->verified, TARE_WRONG);
	assert_int_equal(find(simulated.run.result, "tiled", 33, "total")->verified, TARE_WRONG);
	simulated_close(&simulated);
}

// Virtual time goes by for the host's product too, at the rate that the script names.
static void speed_ups_are_over_the_scripts_host(void **state)
{
	char script[8192];
	struct simulated_run simulated;
	const struct tare_cell *host;
	(void)state;
	snprintf(script, sizeof script, "%s", SCRIPT);
	replace(script, "register 10 us build 1 ms", "multiply-adds 2 Gitem/s");
	run_well(&simulated, script, "64,300", "sequential,naive");
	host = find(simulated.run.result, "sequential", 300, "total");
	close_to("host", us(host), 300 * 300 * 300 / 2e3, 0.05);
	assert_int_equal(host->verified, TARE_NOT_VERIFIABLE);
	close_to(
	    "speed-up",
	    find_model(simulated.run.result, "naive", 300, "speed-up-kernel", "")->summary.median,
	    us(host) / us(find(simulated.run.result, "naive", 300, "kernel")), 0.01);
	simulated_close(&simulated);
}

// Side s of tiles of 64: 2 · 64 s · n floats of rows and columns, and the square, in half the
// cache.
static void squares_are_the_largest_that_fit_half_of_the_cache(void **state)
{
	static const struct {
		uint64_t bytes;
		uint32_t n, square;
	} rows[] = {
		{ 0, 100, 0 },
		// 8 · (2 · 256 · 300 + 256²) bytes, and one less
		{ 1753088, 300, 4 },
		{ 1753087, 300, 3 },
		// 8 · (2 · 64 · 4096 + 64²)
		{ 4227072, 4096, 1 },
		{ 4227071, 4096, 0 },
		// no more than the product has
		{ UINT64_C(1) << 40, 128, 3 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		assert_int_equal(matmul_square(rows[i].bytes, rows[i].n), rows[i].square);
}

static void short_kernels_are_batched(void **state)
{
	char script[8192];
	struct simulated_run simulated;
	const struct tare_cell *cell;
	(void)state;
	snprintf(script, sizeof script, "%s", SCRIPT);
	replace(script, "timer rate 1 GHz", "timer rate 1 MHz");
	run_well(&simulated, script, "16", "naive");
	cell = find(simulated.run.result, "naive", 16, "kernel");
	assert_true(label_number(cell, "batch") > 50);
	// The gap in the queue is not the kernel's.
	close_to("the mean of their own", us(cell), 2 + 256 * 16 / 1e3, 0.06);
	simulated_close(&simulated);
}

// ---- device and host

static void add_time(struct tare_result *result, const char *rung, const char *part, uint32_t n,
                     int64_t us)
{
	struct tare_cell *cell = tare_result_add_cell(result, "time", "ns", "host");
	struct tare_series series = { .rule = tare_stopping_default() };
	assert_non_null(cell);
	assert_int_equal(tare_labels_set_text(&cell->labels, "rung", rung), 0);
	assert_int_equal(tare_labels_set_text(&cell->labels, "part", part), 0);
	assert_int_equal(tare_labels_set_number(&cell->labels, "n", n), 0);
	for (int i = 0; i < 40; i++)
		assert_int_equal(tare_series_add(&series, 1000 * us), 0);
	assert_int_equal(tare_cell_take_series(cell, &series, TARE_CONVERGED), 0);
	tare_series_clear(&series);
}

static void it_is_said_from_which_size_the_device_pays(void **state)
{
	// Of n = 64 and 256, us: the device's kernel and total, the host's.
	static const struct {
		int64_t kernel[2], total[2], host[2];
		const char *total_text, *kernel_text;
	} rows[] = {
		{ { 9, 90 },
		  { 40, 300 },
		  { 20, 900 },
		  "the host (sequential) is faster up to n = 64, the device from n = 256 on "
		  "(tried: 64 to 256).",
		  "already the device is faster than the host (sequential) at every n (tried: 64 "
		  "to 256)." },
		{ { 50, 400 },
		  { 60, 500 },
		  { 20, 450 },
		  "the host (sequential) is faster at every n (tried: 64 to 256): not worth "
		  "offloading one product at a time.",
		  "already the host (sequential) is faster up to n = 64, the device from n = 256 "
		  "on (tried: 64 to 256)." },
		{ { 9, 500 },
		  { 10, 600 },
		  { 20, 450 },
		  "the device is faster at n = 64, the host is faster at n = 256 (of the host: "
		  "sequential).",
		  "already the device is faster at n = 64, the host is faster at n = 256" },
		{ { 9, 90 },
		  { 20, 80 },
		  { 20, 450 },
		  "counted neither is faster for sure at n = 64, the device is faster at n = 256",
		  "the device is faster than the host (sequential) at every n (tried: 64 to "
		  "256)." },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tare_result *result = tare_result_new("matmul");
		struct tare_run run = { .result = result };
		struct tare_peaks peaks = { 0 };
		struct matmul matmul = {
			.run = &run, .peaks = &peaks, .n = { 64, 256 }, .n_count = 2
		};
		const char *said[2] = { "", "" };
		for (int k = 0; k < 2; k++) {
			add_time(result, "naive", "kernel", matmul.n[k], rows[i].kernel[k]);
			add_time(result, "naive", "total", matmul.n[k], rows[i].total[k]);
			add_time(result, "sequential", "total", matmul.n[k], rows[i].host[k]);
		}
		matmul_add_advice(&matmul);
		for (size_t k = 0; k < result->conclusion_count; k++) {
			if (strcmp(result->conclusions[k].id, TARE_MATMUL_TOTAL) == 0)
				said[0] = result->conclusions[k].text;
			if (strcmp(result->conclusions[k].id, TARE_MATMUL_KERNELS) == 0)
				said[1] = result->conclusions[k].text;
		}
		if (!strstr(said[0], rows[i].total_text) || !strstr(said[1], rows[i].kernel_text))
			fail_msg("%zu: %s | %s", i, said[0], said[1]);
		tare_result_free(result);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernel_times_follow_from_the_launches),
		cmocka_unit_test(the_parts_make_the_total),
		cmocka_unit_test(one_launch_an_element_is_bound_by_launches),
		cmocka_unit_test(the_advice_follows_from_the_figures),
		cmocka_unit_test(bytes_and_shares_follow_from_the_formulas),
		cmocka_unit_test(a_ceiling_that_is_passed_is_none),
		cmocka_unit_test(a_rung_above_its_arithmetic_is_at_it),
		cmocka_unit_test(a_wrong_product_fails_and_the_cell_says_so),
		cmocka_unit_test(speed_ups_are_over_the_scripts_host),
		cmocka_unit_test(squares_are_the_largest_that_fit_half_of_the_cache),
		cmocka_unit_test(short_kernels_are_batched),
		cmocka_unit_test(it_is_said_from_which_size_the_device_pays),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
