// SPDX-License-Identifier: Apache-2.0
// Ceilings from a document, and the cache that keeps them.
#include "measure/core/peaks.h"

#include "result/json.h"
#include "tare_config.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

// `samples` that scatter by `scatter_ps` around the time for this rate.
static void add_series(struct tare_result *result, const char *group, const char *label,
                       const char *text, double g_per_s, int samples, int64_t scatter_ps,
                       enum tare_verdict verdict)
{
	struct tare_series series = { .rule = tare_stopping_default() };
	struct tare_cell *cell = tare_result_add_cell(result, "time", "ps", "device");

	assert_non_null(cell);
	assert_int_equal(tare_labels_set_text(&cell->labels, "group", group), 0);
	if (label)
		assert_int_equal(tare_labels_set_text(&cell->labels, label, text), 0);
	for (int i = 0; i < samples; i++)
		assert_int_equal(tare_series_add(&series, 1000000 + (i % 3 - 1) * scatter_ps), 0);
	assert_int_equal(tare_cell_take_series(cell, &series, verdict), 0);
	assert_int_equal(tare_cell_set_rate(cell, 1000 * g_per_s, "GB/s", 1e9), 0);
}

static void add(struct tare_result *result, const char *group, const char *label, const char *text,
                double g_per_s)
{
	add_series(result, group, label, text, g_per_s, 40, 0, TARE_CONVERGED);
}

static struct tare_result *make_result(const char *command, const char *backend, const char *uuid,
                                       const char *driver)
{
	struct tare_result *result = tare_result_new(command);
	struct tare_device_entry *device = tare_result_add_device(result);

	assert_int_equal(tare_set_string(&device->backend, backend), 0);
	assert_int_equal(tare_set_string(&device->backend_title, "OpenCL"), 0);
	tare_fact_set_text(&device->facts, TARE_FACT_NAME, TARE_ORIGIN_DRIVER, "NVIDIA H200 (x)");
	if (uuid)
		tare_fact_set_text(&device->facts, TARE_FACT_UUID, TARE_ORIGIN_DRIVER, uuid);
	tare_fact_set_text(&device->facts, TARE_FACT_PCI, TARE_ORIGIN_SYSTEM, "0000:01:00.0");
	tare_fact_set_text(&device->facts, TARE_FACT_DRIVER, TARE_ORIGIN_DRIVER, driver);
	tare_fact_set_rate(&device->facts, TARE_FACT_PEAK_FP32, TARE_ORIGIN_FORMULA, 66.9e12);
	if (strcmp(command, "peak") != 0)
		return result;
	add(result, "compute", "type", "fp32", 60000);
	add(result, "compute", "type", "fp32", 64500);
	add(result, "memory", "op", "read", 4400);
	add(result, "memory", "op", "strided", 9000);
	add(result, "memory", "op", "write", 4100);
	add(result, "sweep", NULL, NULL, 20000);
	result->cells[4].verified = TARE_WRONG;
	return result;
}

static void the_best_of_each_kind_is_its_ceiling(void **state)
{
	struct tare_result *result = make_result("peak", "opencl", "1", "550");
	struct tare_result *whole = tare_result_new("checkup");
	struct tare_peaks peaks;
	(void)state;
	assert_int_equal(tare_result_add_part(whole, result), 0);
	tare_peaks_of(whole, &peaks);
	assert_true(peaks.present);
	assert_float_equal(peaks.per_second[TARE_CEILING_FP32], 64.5e12, 1e6);
	assert_float_equal(peaks.per_second[TARE_CEILING_MEMORY_READ], 4.4e12, 1e6);
	assert_float_equal(peaks.per_second[TARE_CEILING_CACHE], 20e12, 1e6);
	assert_float_equal(peaks.theoretical[TARE_CEILING_FP32], 66.9e12, 1);
	// Wrong results, what was not measured, what nobody tells: no figure.
	assert_true(isnan(peaks.per_second[TARE_CEILING_MEMORY_WRITE]));
	assert_true(isnan(peaks.per_second[TARE_CEILING_FP64]));
	assert_true(isnan(peaks.theoretical[TARE_CEILING_MEMORY_READ]));
	tare_result_free(whole);
}

// What an H200 did; its driver tells 60 MB. Between the two falls lies the shared cache, and the
// first size after the nearer one still has part of that.
static void the_shared_cache_lies_between_two_falls(void **state)
{
	static const struct {
		int64_t bytes;
		double rate;
	} sweep[] = {
		{ 64 << 10, 33020 },  { 128 << 10, 33022 }, { 256 << 10, 32020 },
		{ 512 << 10, 17211 }, { 1 << 20, 16298 },   { 4 << 20, 15109 },
		{ 32 << 20, 13158 },  { 64 << 20, 13397 },  { 128 << 20, 11300 },
		{ 256 << 20, 6748 },
	};
	struct tare_sweep_fall falls[TARE_SWEEP_FALLS];
	(void)state;
	for (int from = 0; from < 2; from++) {
		struct tare_result *result = tare_result_new("peak");
		struct tare_device_entry *device = tare_result_add_device(result);
		struct tare_peaks peaks;
		// The second time without what comes before the nearer fall: then it cannot be
		// seen.
		for (size_t i = from ? 4 : 0; i < sizeof sweep / sizeof *sweep; i++) {
			add(result, "sweep", NULL, NULL, sweep[i].rate);
			assert_int_equal(
			    tare_labels_set_number(&result->cells[result->cell_count - 1].labels,
			                           "bytes", sweep[i].bytes),
			    0);
		}
		tare_fact_set_count(&device->facts, TARE_FACT_CACHE, TARE_ORIGIN_DRIVER, 60 << 20);
		tare_peaks_of(result, &peaks);
		if (from) {
			assert_true(isnan(peaks.per_second[TARE_CEILING_SHARED_CACHE]));
		} else {
			assert_int_equal(tare_sweep_falls(result, 60 << 20, falls), 2);
			assert_int_equal(falls[0].cache, TARE_FALLEN_NEARER);
			assert_int_equal(falls[0].from, 256 << 10);
			assert_int_equal(falls[0].to, 512 << 10);
			assert_int_equal(falls[1].cache, TARE_FALLEN_SHARED);
			assert_float_equal(peaks.per_second[TARE_CEILING_SHARED_CACHE], 16298e9,
			                   1e6);
			assert_float_equal(peaks.per_second[TARE_CEILING_CACHE], 33022e9, 1e6);
		}
		tare_result_free(result);
	}
}

// The samples of 512 KB followed each other in another run of that H200, so it had no interval.
static void a_fall_is_seen_where_samples_give_no_interval(void **state)
{
	static const struct {
		int64_t bytes;
		double rate;
		bool dependent;
	} sweep[] = {
		{ 128 << 10, 32981, true },  { 256 << 10, 31981, false },
		{ 512 << 10, 17230, true },  { 1 << 20, 16173, false },
		{ 32 << 20, 13075, false },  { 64 << 20, 13320, false },
		{ 128 << 20, 10549, false }, { 256 << 20, 6313, false },
	};
	struct tare_result *result = tare_result_new("peak");
	struct tare_device_entry *device = tare_result_add_device(result);
	struct tare_sweep_fall falls[TARE_SWEEP_FALLS];
	struct tare_peaks peaks;
	(void)state;
	for (size_t i = 0; i < sizeof sweep / sizeof *sweep; i++) {
		struct tare_cell *cell;
		add_series(result, "sweep", NULL, NULL, sweep[i].rate, 40, 10000,
		           TARE_NOT_CONVERGED);
		cell = &result->cells[result->cell_count - 1];
		if (sweep[i].dependent)
			cell->rate.ci_low = cell->rate.ci_high = NAN;
		assert_int_equal(tare_labels_set_number(&cell->labels, "bytes", sweep[i].bytes), 0);
	}
	tare_fact_set_count(&device->facts, TARE_FACT_CACHE, TARE_ORIGIN_DRIVER, 60 << 20);
	tare_peaks_of(result, &peaks);
	assert_int_equal(tare_sweep_falls(result, 60 << 20, falls), 2);
	assert_int_equal(falls[0].cache, TARE_FALLEN_NEARER);
	assert_int_equal(falls[0].from, 256 << 10);
	assert_int_equal(falls[0].to, 512 << 10);
	assert_int_equal(falls[1].cache, TARE_FALLEN_SHARED);
	assert_float_equal(peaks.per_second[TARE_CEILING_SHARED_CACHE], 16173e9, 1e6);
	// Where the ranges of the samples meet, nothing is known to have fallen.
	result->cells[2].summary.min /= 3;
	assert_int_equal(tare_sweep_falls(result, 60 << 20, falls), 1);
	tare_result_free(result);
}

static void what_is_known_well_goes_before_what_is_a_little_better(void **state)
{
	static const struct {
		double rate;
		int samples;
		int64_t scatter_ps;
		double ceiling;
	} rows[] = {
		{ 66000, 2, 0, 64500 },       // too few to know
		{ 65000, 40, 100000, 64500 }, // perhaps not better
		{ 99000, 40, 100000, 99000 }, // surely better
		{ 99000, 2, 0, 99000 },       // by so much, even few tell
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tare_result *result = make_result("peak", "opencl", "1", "550");
		struct tare_peaks peaks;
		add_series(result, "compute", "type", "fp32", rows[i].rate, rows[i].samples,
		           rows[i].scatter_ps, TARE_NOT_CONVERGED);
		add_series(result, "compute", "type", "fp64", rows[i].rate, 2, 0,
		           TARE_NOT_CONVERGED);
		add_series(result, "compute", "type", "fp64", 100, 1, 0, TARE_NOT_CONVERGED);
		tare_peaks_of(result, &peaks);
		assert_float_equal(peaks.per_second[TARE_CEILING_FP32], 1e9 * rows[i].ceiling, 1e6);
		// Where nothing is known well, the best of what there is.
		assert_float_equal(peaks.per_second[TARE_CEILING_FP64], 1e9 * rows[i].rate, 1e6);
		tare_result_free(result);
	}
}

static void a_sweep_no_faster_than_memory_shows_no_cache(void **state)
{
	struct tare_result *result = make_result("peak", "opencl", "1", "550");
	struct tare_peaks peaks;
	(void)state;
	add(result, "memory", "op", "read", 20000);
	tare_peaks_of(result, &peaks);
	assert_true(isnan(peaks.per_second[TARE_CEILING_CACHE]));
	tare_result_free(result);
}

static void a_document_without_rates_has_none(void **state)
{
	struct tare_result *result = make_result("latency", "opencl", "1", "550");
	struct tare_peaks peaks;
	(void)state;
	tare_peaks_of(result, &peaks);
	assert_false(peaks.present);
	assert_non_null(strstr(peaks.origin, "no result of tare peak"));
	tare_result_free(result);
}

#if TARE_HAVE_JSON

static char folder[256];

static int open_folder(void **state)
{
	(void)state;
	snprintf(folder, sizeof folder, "/tmp/tare-peaks-XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	return setenv("XDG_CACHE_HOME", folder, 1);
}

// The path of the only file in the cache, or "".
static const char *only_file(void)
{
	static char path[600];
	char tare[300];
	DIR *directory;
	size_t count = 0;

	path[0] = '\0';
	snprintf(tare, sizeof tare, "%s/tare", folder);
	directory = opendir(tare);
	for (struct dirent *entry; directory && (entry = readdir(directory));) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof path, "%s/%s", tare, entry->d_name);
		count++;
	}
	if (directory)
		closedir(directory);
	assert_true(count <= 1);
	return path;
}

static int close_folder(void **state)
{
	char command[300];
	(void)state;
	snprintf(command, sizeof command, "rm -r %s", folder);
	return system(command);
}

static void keep_then_load_finds_it_by_device_and_driver(void **state)
{
	static const struct {
		const char *backend, *uuid, *driver;
		bool found;
	} rows[] = {
		{ "opencl", "abcd", "550", true },
		{ "cuda", "abcd", "550", true },             // the same device by another API
		{ "opencl", "abcd", "560", false },          // another driver
		{ "opencl", "abce", "550", false },          // another device
		{ "opencl", "00000000-0000", "550", false }, // says nothing: by name and address
		{ "simulated", "abcd", "550", false },
	};
	struct tare_result *kept = make_result("peak", "opencl", "abcd", "550");
	struct tare_error error = { 0 };
	(void)state;
	assert_int_equal(tare_peaks_keep(kept, &error), 0);
	assert_non_null(strstr(only_file(), "/tare/peak-nvidia-h200-x-"));
	// Replaced as a whole, without leaving anything beside it.
	assert_int_equal(tare_peaks_keep(kept, &error), 0);
	assert_string_not_equal(only_file(), "");
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tare_result *other =
		    make_result("latency", rows[i].backend, rows[i].uuid, rows[i].driver);
		struct tare_peaks peaks;
		assert_int_equal(tare_peaks_load(&other->devices[0], NULL, &peaks, &error), 0);
		assert_int_equal(peaks.present, rows[i].found);
		assert_float_equal(peaks.theoretical[TARE_CEILING_FP32], 66.9e12, 1);
		if (rows[i].found)
			assert_float_equal(peaks.per_second[TARE_CEILING_FP32], 64.5e12, 1e6);
		else
			assert_true(peaks.origin[0] && isnan(peaks.per_second[TARE_CEILING_FP32]));
		tare_result_free(other);
	}
	struct tare_result *newer = make_result("peak", "opencl", "abcd", "560");
	struct tare_peaks none, both;
	// Each driver has its own.
	assert_int_equal(tare_peaks_keep(newer, &error), 0);
	assert_int_equal(tare_peaks_load(&kept->devices[0], NULL, &both, &error), 0);
	assert_true(both.present);
	tare_result_free(newer);
	assert_int_equal(tare_peaks_load(&kept->devices[0], "none", &none, &error), 0);
	assert_false(none.present);
	tare_result_free(kept);
}

static void devices_without_a_uuid_go_by_name_and_address(void **state)
{
	struct tare_result *kept = make_result("peak", "opencl", "0000-0000", "550");
	struct tare_peaks peaks;
	(void)state;
	assert_int_equal(tare_peaks_keep(kept, NULL), 0);
	assert_int_equal(tare_peaks_load(&kept->devices[0], NULL, &peaks, NULL), 0);
	assert_true(peaks.present);
	tare_fact_set_text(&kept->devices[0].facts, TARE_FACT_PCI, TARE_ORIGIN_SYSTEM,
	                   "0000:02:00.0");
	assert_int_equal(tare_peaks_load(&kept->devices[0], NULL, &peaks, NULL), 0);
	assert_false(peaks.present);
	tare_result_free(kept);
}

static void neither_interrupted_nor_simulated_results_are_kept(void **state)
{
	struct tare_result *cut = make_result("peak", "opencl", "abcd", "550");
	struct tare_result *simulated = make_result("peak", "simulated", "abcd", "550");
	struct tare_result *tests = make_result("peak", "levelzero", "abcd", "550");
	struct tare_result *other = make_result("latency", "opencl", "abcd", "550");
	struct tare_error error = { 0 };
	struct tare_peaks peaks;
	(void)state;
	cut->interrupted = true;
	// As ze-cpu's device has it.
	tare_facts_doubt(&tests->devices[0].facts, TARE_DOUBT_FOR_TESTS, "for tests");
	assert_int_equal(tare_peaks_keep(cut, &error), 0);
	assert_int_equal(tare_peaks_keep(simulated, &error), 0);
	assert_int_equal(tare_peaks_keep(tests, &error), 0);
	assert_int_equal(tare_peaks_keep(other, &error), -EINVAL);
	assert_string_equal(only_file(), "");
	// Nor is it taken for another device's with the same UUID.
	assert_int_equal(tare_peaks_load(&tests->devices[0], NULL, &peaks, &error), 0);
	assert_non_null(strstr(peaks.origin, "for tests are not kept"));
	tare_result_free(tests);
	tare_result_free(cut);
	tare_result_free(simulated);
	tare_result_free(other);
}

static void write_text(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void a_corrupt_or_foreign_file_is_ignored_with_a_reason(void **state)
{
	struct tare_result *kept = make_result("peak", "opencl", "abcd", "550");
	struct tare_result *other = make_result("peak", "opencl", "other", "550");
	struct tare_peaks peaks;
	struct tare_error error = { 0 };
	char path[600];
	FILE *file;
	(void)state;
	assert_int_equal(tare_peaks_keep(kept, &error), 0);
	snprintf(path, sizeof path, "%s", only_file());
	write_text(path, "{ \"schema\": \"tare.res");
	assert_int_equal(tare_peaks_load(&kept->devices[0], NULL, &peaks, &error), 0);
	assert_false(peaks.present);
	assert_non_null(strstr(peaks.origin, "cannot be read"));
	file = fopen(path, "w");
	assert_int_equal(tare_result_write_json(other, file, &error), 0);
	fclose(file);
	assert_int_equal(tare_peaks_load(&kept->devices[0], NULL, &peaks, &error), 0);
	assert_false(peaks.present);
	assert_non_null(strstr(peaks.origin, "not one of tare peak for this device"));
	// Opening it would wait for a writer for ever.
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(tare_peaks_load(&kept->devices[0], NULL, &peaks, &error), 0);
	assert_false(peaks.present);
	assert_non_null(strstr(peaks.origin, "is no file"));
	unlink(path);
	tare_result_free(kept);
	tare_result_free(other);
}

static void a_file_is_read_for_its_own_device_only(void **state)
{
	struct tare_result *kept = make_result("peak", "opencl", "abcd", "550");
	struct tare_result *other = make_result("latency", "opencl", "other", "550");
	struct tare_error error = { 0 };
	struct tare_peaks peaks;
	char path[300], log[300];
	FILE *file;
	(void)state;
	snprintf(path, sizeof path, "%s/given.json", folder);
	snprintf(log, sizeof log, "%s/latency.json", folder);
	file = fopen(path, "w");
	assert_int_equal(tare_result_write_json(kept, file, &error), 0);
	fclose(file);
	file = fopen(log, "w");
	assert_int_equal(tare_result_write_json(other, file, &error), 0);
	fclose(file);
	assert_int_equal(tare_peaks_load(&kept->devices[0], path, &peaks, &error), 0);
	assert_true(peaks.present);
	assert_non_null(strstr(peaks.origin, "given.json"));
	assert_int_equal(tare_peaks_load(&other->devices[0], path, &peaks, &error), -EINVAL);
	assert_non_null(strstr(error.message, "another device"));
	assert_false(peaks.present);
	assert_int_equal(tare_peaks_load(&other->devices[0], log, &peaks, &error), -EINVAL);
	assert_non_null(strstr(error.message, "not of tare peak"));
	assert_int_equal(tare_peaks_load(&other->devices[0], "/nowhere/x.json", &peaks, &error),
	                 -ENOENT);
	tare_result_free(kept);
	tare_result_free(other);
}

static void the_age_is_said_in_words(void **state)
{
	static const struct {
		int64_t seconds;
		const char *words;
	} rows[] = {
		{ 5, "measured just now" },
		{ 61, "measured 1 minute ago" },
		{ 7300, "measured 2 hours ago" },
		{ 3 * 86400 + 100, "measured 3 days ago (tare peak)" },
		{ -3600, "measured at an unknown time" }, // from the future
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tare_result *kept = make_result("peak", "opencl", "abcd", "550");
		time_t then = time(NULL) - rows[i].seconds;
		struct tare_peaks peaks;
		struct tm broken;
		char text[64];
		strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&then, &broken));
		assert_int_equal(tare_set_string(&kept->written_at, text), 0);
		assert_int_equal(tare_peaks_keep(kept, NULL), 0);
		assert_int_equal(tare_peaks_load(&kept->devices[0], NULL, &peaks, NULL), 0);
		if (!strstr(peaks.origin, rows[i].words))
			fail_msg("%s instead of %s", peaks.origin, rows[i].words);
		assert_true(rows[i].seconds < 0 ? peaks.age_s == -1
		                                : peaks.age_s >= rows[i].seconds);
		tare_result_free(kept);
	}
}

static void a_relative_cache_folder_is_ignored_and_a_failing_one_said(void **state)
{
	struct tare_result *kept = make_result("peak", "opencl", "abcd", "550");
	struct tare_error error = { 0 };
	struct tare_peaks peaks;
	char path[600];
	(void)state;
	setenv("XDG_CACHE_HOME", "relative", 1);
	setenv("HOME", folder, 1);
	assert_int_equal(tare_peaks_keep(kept, &error), 0);
	snprintf(path, sizeof path, "%s/.cache/tare", folder);
	assert_int_equal(access(path, F_OK), 0);
	assert_int_equal(access("relative", F_OK), -1);
	unsetenv("HOME");
	assert_int_equal(tare_peaks_keep(kept, &error), -ENOENT);
	assert_int_equal(tare_peaks_load(&kept->devices[0], NULL, &peaks, &error), 0);
	assert_non_null(strstr(peaks.origin, "XDG_CACHE_HOME"));
	snprintf(path, sizeof path, "%s/file", folder);
	write_text(path, "");
	setenv("XDG_CACHE_HOME", path, 1);
	assert_true(tare_peaks_keep(kept, &error) < 0);
	assert_non_null(strstr(error.message, path));
	tare_result_free(kept);
}

#endif

#define in_folder(test) cmocka_unit_test_setup_teardown(test, open_folder, close_folder)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_best_of_each_kind_is_its_ceiling),
		cmocka_unit_test(the_shared_cache_lies_between_two_falls),
		cmocka_unit_test(a_fall_is_seen_where_samples_give_no_interval),
		cmocka_unit_test(what_is_known_well_goes_before_what_is_a_little_better),
		cmocka_unit_test(a_sweep_no_faster_than_memory_shows_no_cache),
		cmocka_unit_test(a_document_without_rates_has_none),
#if TARE_HAVE_JSON
		in_folder(keep_then_load_finds_it_by_device_and_driver),
		in_folder(devices_without_a_uuid_go_by_name_and_address),
		in_folder(neither_interrupted_nor_simulated_results_are_kept),
		in_folder(a_corrupt_or_foreign_file_is_ignored_with_a_reason),
		in_folder(a_file_is_read_for_its_own_device_only),
		in_folder(the_age_is_said_in_words),
		in_folder(a_relative_cache_folder_is_ignored_and_a_failing_one_said),
#endif
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
