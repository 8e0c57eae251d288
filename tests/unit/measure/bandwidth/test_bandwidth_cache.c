// SPDX-License-Identifier: Apache-2.0
// The best rates of a result of bandwidth, and where they are kept for tare report.
#include "measure/bandwidth/cache.h"

#include "result/json.h"
#include "tare_config.h"

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
#include <unistd.h>

#include <cmocka.h>

#define LARGE (INT64_C(64) << 20)

static struct tare_cell *add(struct tare_result *result, const char *line, int64_t bytes,
                             const char *source, double gb_per_s)
{
	struct tare_series series = { .rule = tare_stopping_default() };
	struct tare_cell *cell = tare_result_add_cell(result, "time", "ps", source);

	assert_non_null(cell);
	assert_int_equal(tare_labels_set_text(&cell->labels, "line", line), 0);
	assert_int_equal(tare_labels_set_number(&cell->labels, "bytes", bytes), 0);
	for (int i = 0; i < 40; i++)
		assert_int_equal(tare_series_add(&series, 1000000), 0);
	assert_int_equal(tare_cell_take_series(cell, &series, TARE_CONVERGED), 0);
	assert_int_equal(tare_cell_set_rate(cell, 1000 * gb_per_s, "GB/s", 1e9), 0);
	return cell;
}

static struct tare_result *make(const char *backend, const char *driver, const char *without)
{
	static const struct {
		const char *line;
		double rate;
	} lines[] = {
		{ "host-to-device", 55 },
		{ "heap-to-device", 12 },
		{ "device-to-host", 54 },
		{ "device-to-heap", 11 },
	};
	struct tare_result *result = tare_result_new("bandwidth");
	struct tare_device_entry *device = tare_result_add_device(result);

	assert_int_equal(tare_set_string(&device->backend, backend), 0);
	assert_int_equal(tare_set_string(&device->backend_title, "OpenCL"), 0);
	assert_int_equal(tare_set_string(&result->written_at, "2026-02-01T10:00:00Z"), 0);
	tare_fact_set_text(&device->facts, TARE_FACT_NAME, TARE_ORIGIN_DRIVER, "NVIDIA H200");
	if (driver)
		tare_fact_set_text(&device->facts, TARE_FACT_DRIVER, TARE_ORIGIN_DRIVER, driver);
	add(result, "device-to-device", LARGE, "device", 2000);
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		if (without && strcmp(without, lines[i].line) == 0)
			continue;
		add(result, lines[i].line, 8192, "device", 1);
		add(result, lines[i].line, LARGE, "device", lines[i].rate);
		add(result, lines[i].line, LARGE, "host", lines[i].rate + 100);
	}
	return result;
}

static void the_best_rate_of_each_kind_is_found(void **state)
{
	struct tare_result *result = make("opencl", "1", "device-to-heap");
	struct tare_result *whole = tare_result_new("checkup");
	struct tare_bandwidth_peaks peaks;
	(void)state;
	// Wrong data, and what is only perhaps faster, are no ceiling.
	add(result, "host-to-device", LARGE, "device", 70)->verified = TARE_WRONG;
	struct tare_cell *unsure = add(result, "host-to-device", LARGE, "device", 60);
	unsure->converged = false;
	unsure->rate.ci_low = 50;
	unsure = add(result, "device-to-host", LARGE, "device", 80);
	unsure->converged = false;
	unsure->rate.ci_low = NAN;
	unsure->rate.min = 70;
	// Without a device's clock the host's is taken.
	add(result, "device-to-heap", LARGE, "host", 9);
	assert_int_equal(tare_result_add_part(whole, result), 0);
	tare_bandwidth_peaks_of(whole, &peaks);
	assert_true(peaks.present);
	assert_float_equal(peaks.to_device_pinned, 55e9, 1e3);
	assert_float_equal(peaks.to_device_pageable, 12e9, 1e3);
	assert_float_equal(peaks.from_device_pinned, 63e9, 1e3);
	assert_float_equal(peaks.from_device_pageable, 9e9, 1e3);
	// By size, of the same clock: the device's.
	assert_int_equal(peaks.to_device_pinned_sizes.count, 2);
	assert_float_equal(peaks.to_device_pinned_sizes.at[0].bytes, 8192, 0);
	assert_float_equal(peaks.to_device_pinned_sizes.at[0].bytes_per_second, 1e9, 1);
	assert_float_equal(peaks.to_device_pinned_sizes.at[1].bytes_per_second, 55e9, 1e3);
	assert_string_equal(peaks.measured, "2026-02-01");
	assert_string_equal(peaks.origin, "measured 2026-02-01 (tare bandwidth, OpenCL)");
	tare_result_free(whole);
}

static void other_documents_have_none(void **state)
{
	struct tare_result *result = tare_result_new("latency");
	struct tare_bandwidth_peaks peaks;
	(void)state;
	tare_bandwidth_peaks_of(result, &peaks);
	assert_false(peaks.present);
	assert_true(isnan(peaks.to_device_pinned) && isnan(peaks.from_device_pageable));
	assert_int_equal(tare_bandwidth_keep(result, NULL), -EINVAL);
	tare_result_free(result);
}

#if TARE_HAVE_JSON

static char folder[256];

static int open_folder(void **state)
{
	(void)state;
	snprintf(folder, sizeof folder, "/tmp/tare-test-bandwidth-XXXXXX");
	return mkdtemp(folder) ? setenv("XDG_CACHE_HOME", folder, 1) : -1;
}

static int close_folder(void **state)
{
	char command[300];
	(void)state;
	snprintf(command, sizeof command, "rm -r %s", folder);
	return system(command);
}

static bool is_kept(const char *name, const char *version)
{
	struct tare_bandwidth_peaks peaks;

	tare_bandwidth_load(name, version, &peaks);
	assert_true(peaks.origin[0]);
	assert_true(peaks.present ? peaks.to_device_pinned == 55e9 : isnan(peaks.to_device_pinned));
	return peaks.present;
}

static void what_is_kept_is_found_by_device_and_driver_through_any_api(void **state)
{
	static const struct {
		const char *driver, *name, *version;
		bool found;
	} rows[] = {
		{ "580.159.03", "NVIDIA H200", "580.159.03", true },
		{ "NVIDIA CUDA 580.159.03", "NVIDIA H200", "580.159.03", true },
		{ "AMD Accelerated Parallel Processing 3614.0 (HSA1.1,LC)", "NVIDIA H200",
		  "3614.0 (HSA1.1,LC)", true },
		{ "AMD Accelerated Parallel Processing 3614.0 (HSA1.1,LC)", "NVIDIA H200",
		  "3615.0 (HSA1.1,LC)", false },
		{ "AMD Accelerated Parallel Processing 13614.0 (HSA1.1,LC)", "NVIDIA H200",
		  "3614.0 (HSA1.1,LC)", false },
		{ "580.159.03", "NVIDIA H200", "580.159.04", false },
		{ "580.159.03", "NVIDIA H100", "580.159.03", false },
		{ "1580.159.03", "NVIDIA H200", "580.159.03", false },
		{ "580.159.03", "NVIDIA H200", "", false },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tare_result *result = make("opencl", rows[i].driver, NULL);
		assert_int_equal(open_folder(NULL), 0);
		assert_false(is_kept(rows[i].name, rows[i].version));
		assert_int_equal(tare_bandwidth_keep(result, NULL), 0);
		assert_int_equal(is_kept(rows[i].name, rows[i].version), rows[i].found);
		assert_int_equal(close_folder(NULL), 0);
		tare_result_free(result);
	}
}

static void only_complete_results_of_real_devices_are_kept(void **state)
{
	enum { WHOLE, CUT, SIMULATED, FOR_TESTS, SMALL, NO_DRIVER, LACKS };
	static const struct {
		int what;
		const char *lacks;
		bool kept;
	} rows[] = {
		{ WHOLE, NULL, true },
		{ CUT, NULL, false },
		{ SIMULATED, NULL, false },
		{ FOR_TESTS, NULL, false },
		{ SMALL, NULL, false },
		{ NO_DRIVER, NULL, false },
		{ LACKS, "host-to-device", false },
		{ LACKS, "heap-to-device", false },
		{ LACKS, "device-to-host", false },
		{ LACKS, "device-to-heap", false },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tare_result *result =
		    make(rows[i].what == SIMULATED ? "simulated" : "opencl",
		         rows[i].what == NO_DRIVER ? NULL : "7", rows[i].lacks);
		char command[320];
		assert_int_equal(open_folder(NULL), 0);
		result->interrupted = rows[i].what == CUT;
		// As ze-cpu's device has it.
		if (rows[i].what == FOR_TESTS)
			tare_facts_doubt(&result->devices[0].facts, TARE_DOUBT_FOR_TESTS,
			                 "for tests");
		for (size_t c = 0; rows[i].what == SMALL && c < result->cell_count; c++)
			assert_int_equal(
			    tare_labels_set_number(&result->cells[c].labels, "bytes", LARGE - 1),
			    0);
		assert_int_equal(tare_bandwidth_keep(result, NULL), 0);
		snprintf(command, sizeof command, "test -n \"$(find %s -type f)\"", folder);
		assert_int_equal(system(command) == 0, rows[i].kept);
		assert_int_equal(close_folder(NULL), 0);
		tare_result_free(result);
	}
}

static void a_newer_result_replaces_and_a_damaged_one_is_only_a_reason(void **state)
{
	struct tare_result *result = make("opencl", "7", NULL);
	struct tare_bandwidth_peaks peaks;
	char command[400];
	(void)state;
	assert_int_equal(tare_bandwidth_keep(result, NULL), 0);
	add(result, "host-to-device", LARGE, "device", 57);
	assert_int_equal(tare_bandwidth_keep(result, NULL), 0);
	tare_bandwidth_load("NVIDIA H200", "7", &peaks);
	assert_float_equal(peaks.to_device_pinned, 57e9, 1e3);
	snprintf(command, sizeof command, "f=$(find %s -type f) && echo '{' > $f", folder);
	assert_int_equal(system(command), 0);
	tare_bandwidth_load("NVIDIA H200", "7", &peaks);
	assert_true(!peaks.present && strstr(peaks.origin, "cannot be read"));
	snprintf(command, sizeof command, "f=$(find %s -type f) && rm $f && mkdir $f", folder);
	assert_int_equal(system(command), 0);
	tare_bandwidth_load("NVIDIA H200", "7", &peaks);
	assert_true(!peaks.present && strstr(peaks.origin, "is no file"));
	tare_result_free(result);
}

static void a_cache_that_cannot_be_written_is_said(void **state)
{
	struct tare_result *result = make("opencl", "7", NULL);
	struct tare_error error = { 0 };
	struct tare_bandwidth_peaks peaks;
	(void)state;
	setenv("XDG_CACHE_HOME", "/dev/null/cache", 1);
	assert_true(tare_bandwidth_keep(result, &error) < 0);
	assert_non_null(strstr(error.message, "/dev/null/cache"));
	unsetenv("XDG_CACHE_HOME");
	unsetenv("HOME");
	assert_int_equal(tare_bandwidth_keep(result, &error), -ENOENT);
	tare_bandwidth_load("NVIDIA H200", "7", &peaks);
	assert_true(!peaks.present && strstr(peaks.origin, "XDG_CACHE_HOME"));
	tare_result_free(result);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_best_rate_of_each_kind_is_found),
		cmocka_unit_test(other_documents_have_none),
#if TARE_HAVE_JSON
		cmocka_unit_test(what_is_kept_is_found_by_device_and_driver_through_any_api),
		cmocka_unit_test(only_complete_results_of_real_devices_are_kept),
		cmocka_unit_test_setup_teardown(
		    a_newer_result_replaces_and_a_damaged_one_is_only_a_reason, open_folder,
		    close_folder),
		cmocka_unit_test(a_cache_that_cannot_be_written_is_said),
#endif
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
