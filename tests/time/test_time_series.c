// SPDX-License-Identifier: Apache-2.0
// Series: when they end, against the measuring commands' own rule; what they say; and the document,
// read back by the reader of `tare render`.
#include "result/json.h"
#include "time/internal.h"
#include "time/series.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define MS INT64_C(1000000)

static const struct tare_clock_rate nanoseconds = { 1000000000, 1, 64, 1 };
static struct tare_time_error error;

static struct tare_time_series *open_series(const char *name,
                                            const struct tare_time_series_options *options)
{
	struct tare_time_series *series;

	if (tare_time_series_open(&series, name, options, &error) < 0)
		fail_msg("%s", error.message);
	return series;
}

// By a counter of nanoseconds; without a floor.
static struct tare_time_result result_of(int64_t device_ns)
{
	return (struct tare_time_result){ .state = TARE_TIME_OK,
		                          .sentence = "",
		                          .device_ns = device_ns,
		                          .floor_ns = -1,
		                          .uncertainty_ns = 1,
		                          .host_ns = 700,
		                          .rate = nanoseconds };
}

// As CUDA's: no ticks, and steps of 500 ns as documented.
static struct tare_time_result event_result_of(int64_t device_ns)
{
	struct tare_time_result result = result_of(device_ns);

	result.rate = (struct tare_clock_rate){ 0 };
	result.uncertainty_ns = 500;
	return result;
}

static struct tare_time_figure figure_of(struct tare_time_series *series)
{
	struct tare_time_figure figure;

	if (tare_time_series_figure(series, &figure, &error) < 0)
		fail_msg("%s", error.message);
	return figure;
}

// Adds the same again until the series ends; each is seen 2 ms later.
static struct tare_time_figure repeat(struct tare_time_series *series,
                                      struct tare_time_result result)
{
	int status = 1;

	for (int64_t i = 0; status > 0; i++)
		status = tare_time_series_add_at(series, &result, 2 * MS * i, &error);
	assert_int_equal(status, 0);
	return figure_of(series);
}

static void equal(double found, double expected)
{
	if (found != expected && !(isnan(found) && isnan(expected)))
		fail_msg("%.17g is not %.17g", found, expected);
}

static int64_t noise(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (int64_t)(*state >> 33) % 200000;
}

// What the measuring commands would have said of the same samples, after as many.
static void it_ends_by_the_commands_own_rule(void **state)
{
	struct tare_time_series *series = open_series("noisy", NULL);
	struct tare_series rule = { .rule = tare_stopping_default() };
	enum tare_verdict verdict = TARE_CONTINUE;
	uint64_t seed = 22;
	int status = 1;
	(void)state;

	rule.rule.quantum = 1;
	for (int64_t i = 0; verdict == TARE_CONTINUE; i++) {
		struct tare_time_result result = result_of(900000 + noise(&seed));
		assert_int_equal(status, 1);
		assert_int_equal(figure_of(series).known, TARE_TIME_OPEN);
		assert_int_equal(tare_series_add(&rule, result.device_ns), 0);
		status = tare_time_series_add_at(series, &result, MS * i, &error);
		verdict = tare_series_decide(&rule, MS * i);
	}
	struct tare_time_figure figure = figure_of(series);
	assert_int_equal(verdict, TARE_CONVERGED);
	assert_int_equal(status, 0);
	assert_int_equal(figure.known, TARE_TIME_CONVERGED);
	assert_true(figure.n == rule.n && rule.n > 100);
	equal(figure.median_ns, rule.summary.median);
	equal(figure.low_ns, rule.summary.ci_low);
	equal(figure.high_ns, rule.summary.ci_high);
	equal(figure.p95_ns, rule.summary.p95);
	equal(figure.min_ns, (double)rule.summary.min);
	equal(figure.max_ns, (double)rule.summary.max);
	equal(figure.effective_n, rule.summary.effective_n);
	equal(figure.step_ns, 1);
	assert_true(figure.high_ns - figure.low_ns <= 0.02 * figure.median_ns);
	tare_series_clear(&rule);
	tare_time_series_close(series);
}

static void fifty_milliseconds_and_32_results_are_the_least(void **state)
{
	struct tare_time_series *series = open_series("still", NULL);
	(void)state;

	// 2 ms apart: 32 are there after 62 ms.
	assert_int_equal(repeat(series, result_of(MS)).n, 32);
	tare_time_series_close(series);
	series = open_series("quick", NULL);
	struct tare_time_result result = result_of(MS);
	for (int i = 0; i < 48; i++)
		assert_int_equal(tare_time_series_add_at(series, &result, MS * i, &error), 1);
	tare_time_series_close(series);
}

static void limits_end_it(void **state)
{
	const struct tare_time_series_options few = { .most = 10 }, brief = { .limit_ns = 20 * MS },
	                                      wide = { .half_width = 0.2 };
	struct tare_time_series *series = open_series("few", &few);
	struct tare_time_figure figure = repeat(series, result_of(MS));
	uint64_t seed = 1;
	int status = 1, n = 0;
	(void)state;

	assert_true(figure.known == TARE_TIME_GIVEN_UP && figure.n == 10);
	assert_true(isnan(figure.low_ns) && strstr(figure.sentence, "given up"));
	tare_time_series_close(series);
	series = open_series("brief", &brief);
	figure = repeat(series, result_of(MS));
	assert_true(figure.known == TARE_TIME_GIVEN_UP && figure.n == 11);
	tare_time_series_close(series);
	series = open_series("wide", &wide);
	for (; status > 0; n++) {
		struct tare_time_result result = result_of(900000 + noise(&seed));
		status = tare_time_series_add_at(series, &result, 2 * MS * n, &error);
	}
	assert_true(figure_of(series).known == TARE_TIME_CONVERGED && n < 100);
	tare_time_series_close(series);
	// Thirty in a row are the same.
	const struct tare_time_series_options rows = { .most = 200 };
	series = open_series("rows", &rows);
	status = 1;
	int64_t more_ns = 0;
	for (int64_t i = 0; status > 0; i++) {
		more_ns = i % 30 == 0 ? noise(&seed) / 100 : more_ns;
		struct tare_time_result result = result_of(MS + more_ns);
		status = tare_time_series_add_at(series, &result, i * MS / 1000, &error);
	}
	figure = figure_of(series);
	assert_true(figure.known == TARE_TIME_GIVEN_UP && figure.effective_n < 24);
	assert_non_null(strstr(figure.sentence, "independent"));
	tare_time_series_close(series);
}

// 50 steps are 2 % of the figure, whatever is added.
static void a_coarse_clock_ends_it(void **state)
{
	struct tare_time_result result = result_of(50 * 80);
	struct tare_time_series *series = open_series("coarse", NULL);
	struct tare_time_figure figure;
	(void)state;

	result.rate = (struct tare_clock_rate){ 12500000, 1, 32, 1 };
	figure = repeat(series, result);
	assert_int_equal(figure.known, TARE_TIME_COARSE);
	equal(figure.step_ns, 80);
	equal(figure.low_ns, 4000 - 80);
	equal(figure.high_ns, 4000 + 80);
	tare_time_series_close(series);
}

// Two results that differ by 32 ns show that CUDA's steps are not 500.
static void a_difference_seen_bounds_an_unknown_step(void **state)
{
	struct tare_time_series *series = open_series("cuda", NULL);
	struct tare_time_result results[] = { event_result_of(20000), event_result_of(20032),
		                              event_result_of(20096) };
	int status = 1;
	(void)state;

	assert_int_equal(repeat(series, results[0]).known, TARE_TIME_COARSE);
	equal(figure_of(series).step_ns, 500);
	tare_time_series_close(series);
	series = open_series("cuda", NULL);
	for (int64_t i = 0; status > 0; i++)
		status = tare_time_series_add_at(series, &results[i % 3], 2 * MS * i, &error);
	assert_int_equal(status, 0);
	assert_int_equal(figure_of(series).known, TARE_TIME_CONVERGED);
	equal(figure_of(series).step_ns, 32);
	tare_time_series_close(series);
	// A counter's step is at least its tick, however the nanoseconds are rounded.
	series = open_series("counter", NULL);
	results[0] = result_of(10000000), results[1] = result_of(10000083);
	results[0].rate = results[1].rate = (struct tare_clock_rate){ 12000000, 1, 32, 12 };
	for (int64_t i = 0; i < 10; i++)
		tare_time_series_add_at(series, &results[i % 2], 2 * MS * i, &error);
	equal(figure_of(series).step_ns, 1e9 / 12e6);
	tare_time_series_close(series);
}

static void what_is_no_time_is_no_sample(void **state)
{
	struct tare_time_series *series = open_series("absent", NULL);
	struct tare_time_result result = result_of(MS),
	                        late = { .state = TARE_TIME_NOT_READY, .sentence = "not yet" },
	                        absent = { .state = TARE_TIME_NOT_AVAILABLE,
		                           .sentence = "the device is lost" };
	struct tare_time_figure figure;
	(void)state;

	assert_int_equal(tare_time_series_add(series, &result, &error), 1);
	assert_int_equal(tare_time_series_add(series, &late, &error), -EAGAIN);
	assert_string_equal(error.message, "not yet");
	assert_int_equal(figure_of(series).n, 1);
	assert_int_equal(tare_time_series_add(series, &absent, &error), -ENODATA);
	figure = figure_of(series);
	assert_int_equal(figure.known, TARE_TIME_ABSENT);
	assert_string_equal(figure.sentence, "the device is lost");
	assert_true(figure.n == 0 && isnan(figure.median_ns));
	assert_int_equal(tare_time_series_add(series, &result, &error), -EALREADY);
	tare_time_series_close(series);
	assert_int_equal(tare_time_series_open(NULL, "", NULL, &error), -EINVAL);
	assert_int_equal(tare_time_series_add(NULL, &result, &error), -EINVAL);
	assert_int_equal(
	    tare_time_series_take(NULL, NULL, (struct tare_time_span){ 0, 0 }, 0, &error), -EINVAL);
	assert_int_equal(tare_time_series_figure(NULL, &figure, &error), -EINVAL);
	const struct tare_time_series_options wrong = { .half_width = -1 };
	assert_int_equal(tare_time_series_open(&series, "", &wrong, &error), -EINVAL);
	assert_null(series);
	tare_time_series_close(NULL);
}

static void fill_below(struct tare_time_series *series)
{
	struct tare_time_result result = result_of(1000);

	result.state = TARE_TIME_BELOW_FLOOR;
	result.floor_ns = 1000;
	result.uncertainty_ns = 2001;
	repeat(series, result);
}

static void a_table_says_it(void **state)
{
	const struct tare_time_series_options copy = { .bytes = 1000000 }, few = { .most = 3 };
	struct tare_time_series *series[] = { open_series("copy", &copy), open_series("few", &few),
		                              open_series("empty", NULL), open_series(NULL, NULL) };
	struct tare_time_result absent = { .state = TARE_TIME_NOT_AVAILABLE,
		                           .sentence = "no profiling" };
	char text[2048], small[20];
	(void)state;

	repeat(series[0], result_of(100000));
	repeat(series[1], result_of(100000));
	fill_below(series[2]);
	tare_time_series_add(series[3], &absent, NULL);
	int length = tare_time_table(series, 4, text, sizeof text);
	assert_int_equal(length, strlen(text));
	assert_string_equal(text,
	                    "on the device      median       +-         p95         min   n    "
	                    "floor  (to enqueue)   throughput\n"
	                    "copy           100.000 us  0.001 %  100.000 us  100.000 us  32      "
	                    "n/a        700 ns  10.000 GB/s\n"
	                    "few            100.000 us     n/a*  100.000 us  100.000 us   3      "
	                    "n/a        700 ns          n/a\n"
	                    "empty             1000 ns    0.1 %     1000 ns     1000 ns  32  1000 "
	                    "ns        700 ns          n/a\n"
	                    "span                  n/a     n/a*         n/a         n/a   0      "
	                    "n/a           n/a          n/a\n"
	                    "* few: given up before the interval was as narrow as was asked for\n"
	                    "empty: no longer than an empty span takes on this queue\n"
	                    "* span: no profiling\n");
	assert_int_equal(tare_time_table(series, 4, small, sizeof small), length);
	assert_memory_equal(small, text, sizeof small - 1);
	assert_int_equal(small[sizeof small - 1], 0);
	// Without bytes there is no throughput.
	tare_time_table(&series[1], 1, text, sizeof text);
	assert_null(strstr(text, "throughput"));
	for (int i = 0; i < 4; i++)
		tare_time_series_close(series[i]);
}

static struct tare_result *read_back(struct tare_time_series *const *series, size_t count)
{
	struct tare_result *result = NULL;
	struct tare_error why;
	char path[] = "/tmp/tare-time-XXXXXX";
	int file = mkstemp(path);

	assert_true(file >= 0);
	close(file);
	if (tare_time_write(series, count, path, &error) < 0)
		fail_msg("%s", error.message);
	if (tare_result_read_file(path, &result, &why) < 0)
		fail_msg("%s", why.message);
	unlink(path);
	return result;
}

static void the_document_is_read_back(void **state)
{
	const struct tare_time_series_options copy = { .bytes = 1000000 };
	struct tare_time_series *series[] = { open_series("a \"copy\"\n\x01\xff \xc3\xa9", &copy),
		                              open_series("lost", NULL) };
	struct tare_time_result absent = { .state = TARE_TIME_NOT_AVAILABLE,
		                           .sentence = "the device is lost" };
	uint64_t seed = 5;
	int status = 1;
	(void)state;

	for (int64_t i = 0; status > 0; i++) {
		struct tare_time_result result = result_of(900000 + noise(&seed));
		result.floor_ns = 1204;
		result.uncertainty_ns = 2409;
		status = tare_time_series_add_at(series[0], &result, 2 * MS * i, &error);
	}
	tare_time_series_add(series[1], &absent, NULL);
	struct tare_result *result = read_back(series, 2);
	struct tare_time_figure figure = figure_of(series[0]);
	const struct tare_cell *cell = &result->cells[0];
	assert_string_equal(result->command, "time");
	assert_int_equal(result->cell_count, 3);
	assert_string_equal(tare_cell_text(cell, "span"),
	                    "a \"copy\" \xef\xbf\xbd\xef\xbf\xbd \xc3\xa9");
	assert_int_equal(cell->summary.n, figure.n);
	assert_memory_equal(cell->samples, series[0]->device.samples, figure.n * sizeof(int64_t));
	equal(cell->summary.median, figure.median_ns);
	equal(cell->summary.ci_low, figure.low_ns);
	equal(cell->summary.ci_high, figure.high_ns);
	equal(cell->summary.p95, figure.p95_ns);
	equal(cell->summary.effective_n, figure.effective_n);
	equal(cell->rate.median, figure.gb_s);
	equal(cell->rate.ci_low, 1e6 / figure.high_ns);
	equal(cell->rate.min, 1e6 / figure.max_ns);
	assert_true(cell->converged && !cell->absent);
	assert_non_null(strstr(cell->method, "1204 ns"));
	assert_string_equal(result->cells[1].source, "host");
	equal(result->cells[1].summary.median, 700);
	assert_string_equal(result->cells[2].absent, "the device is lost");
	assert_int_equal(result->cells[2].summary.n, 0);
	assert_false(result->clock.present);
	assert_int_equal(result->plots[0].count, 1);
	equal(result->plots[0].series[0].points[0].y, figure.median_ns);
	tare_result_free(result);
	result = read_back(series, 1);
	assert_true(result->clock.present && result->clock.rate.hz_numerator == 1000000000);
	assert_int_equal(result->warning_count, 0);
	tare_result_free(result);
	tare_time_series_close(series[0]);
	tare_time_series_close(series[1]);
}

static void warnings_are_in_the_document(void **state)
{
	const struct tare_time_series_options few = { .most = 3 };
	struct tare_time_series *series[] = { open_series("few", &few), open_series("empty", NULL),
		                              open_series("coarse", NULL) };
	(void)state;

	repeat(series[0], result_of(MS));
	fill_below(series[1]);
	repeat(series[2], event_result_of(20000));
	struct tare_result *result = read_back(series, 3);
	assert_int_equal(result->warning_count, 3);
	assert_string_equal(result->warnings[0].id, "not-converged");
	assert_string_equal(result->warnings[1].id, "below-floor");
	assert_string_equal(result->warnings[2].id, "clock-limited");
	assert_false(result->cells[0].converged);
	assert_true(isnan(result->cells[0].summary.ci_low));
	tare_result_free(result);
	result = read_back(NULL, 0);
	assert_int_equal(result->cell_count, 0);
	tare_result_free(result);
	assert_int_equal(tare_time_write(series, 3, "/nowhere/at/all", &error), -ENOENT);
	assert_non_null(strstr(error.message, "/nowhere/at/all"));
	assert_int_equal(tare_time_write(series, 3, "/dev/full", &error), -ENOSPC);
	assert_int_equal(tare_time_write(series, 3, NULL, &error), -EINVAL);
	for (int i = 0; i < 3; i++)
		tare_time_series_close(series[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_ends_by_the_commands_own_rule),
		cmocka_unit_test(fifty_milliseconds_and_32_results_are_the_least),
		cmocka_unit_test(limits_end_it),
		cmocka_unit_test(a_coarse_clock_ends_it),
		cmocka_unit_test(a_difference_seen_bounds_an_unknown_step),
		cmocka_unit_test(what_is_no_time_is_no_sample),
		cmocka_unit_test(a_table_says_it),
		cmocka_unit_test(the_document_is_read_back),
		cmocka_unit_test(warnings_are_in_the_document),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
