// SPDX-License-Identifier: Apache-2.0
// The lines of `bandwidth` for host memory of other kinds, kernels that copy, shared memory with
// and without prefetch, and what is counted twice: on a simulated device, against closed forms.
#include "measure/bandwidth/bandwidth.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/measure/core/simulated_run.h"
#include "tests/unit/measure/latency/native_waits.h"

#define BUDGET INT64_C(600000000)
#define KB UINT64_C(1024)
#define MB (KB * 1024)
// 16384 work-items copy 1 MB: 16.384 us and 2 us.
#define KINDS                                                                                      \
	"copy write-combined device fixed 2 us rate 4 GB/s\n"                                      \
	"copy registered device fixed 2 us rate 3 GB/s\n"                                          \
	"copy device registered fixed 1 us rate 2 GB/s\n"                                          \
	"copy mapped device fixed 2 us rate 5 GB/s\n"                                              \
	"copy device mapped fixed 1 us rate 4 GB/s\n"                                              \
	"kernel copy_bytes fixed 2 us rate 1 Gitem/s action copy arguments 3\n"
#define SHARED "migrate page 64 KiB fault 2 us fixed 5 us rate 10 GB/s\n"

static void run_on(struct simulated_run *simulated, const char *script, const char *lines,
                   uint64_t from, uint64_t to)
{
	struct tare_bandwidth_options options = { .from_bytes = from, .to_bytes = to };
	struct tare_error error = { 0 };

	assert_int_equal(tare_parse_lines(lines, &options.lines, NULL), 0);
	simulated_open(simulated, script, "bandwidth", BUDGET);
	if (tare_measure_bandwidth(&simulated->run, &options, &error) < 0)
		fail_msg("%s", error.message);
}

static const struct tare_cell *find(const struct tare_result *result, const char *line,
                                    uint64_t bytes, const char *source)
{
	for (size_t i = 0; i < result->cell_count; i++) {
		const struct tare_cell *cell = &result->cells[i];
		if (strcmp(label_text(cell, "line"), line) == 0 &&
		    label_number(cell, "bytes") == (int64_t)bytes &&
		    strcmp(cell->source, source) == 0)
			return cell;
	}
	fail_msg("no cell %s, %llu bytes (%s)", line, (unsigned long long)bytes, source);
	return NULL;
}

static double time_us(const struct tare_cell *cell)
{
	if (cell->absent)
		fail_msg("%s: %s", label_text(cell, "line"), cell->absent);
	return cell->summary.median / 1e6;
}

static void device_times_equal_closed_forms(void **state)
{
	static const struct {
		const char *line;
		uint64_t bytes;
		double us, more_us; // more: gaps between two operations
	} rows[] = {
		{ "combined-to-device", MB, 2 + 1048576 / 4e3, 0 },
		{ "registered-to-device", MB, 2 + 1048576 / 3e3, 0 },
		{ "device-to-registered", MB, 1 + 1048576 / 2e3, 0 },
		{ "registered-to-device", 64 * KB, 2 + 65536 / 3e3, 0 },
		// A kernel reaches the host over the link.
		{ "kernel-to-device", MB, 2 + 1048576 / 5e3, 0 },
		{ "kernel-to-host", MB, 2 + 1048576 / 4e3, 0 },
		{ "kernel-on-device", MB, 2 + 16.384, 0 },
		// 16 pages of 64 KB, each with a fault.
		{ "shared-fault", MB, 2 + 16.384 + 16 * 2 + 1048576 / 10e3, 0 },
		{ "shared-fault", 64 * KB, 2 + 1.024 + 2 + 65536 / 10e3, 0 },
		{ "shared-prefetch", MB, 5 + 1048576 / 10e3 + 2 + 16.384, 4 },
		{ "shared-resident", MB, 2 + 16.384, 0 },
		{ "shared-read-mostly", MB, 2 + 16.384 + 16 * 2 + 1048576 / 10e3, 0 },
	};
	struct simulated_run simulated;
	(void)state;
	run_on(&simulated, SIMPLE_DEVICE SIMPLE_PAIRS KINDS SHARED, "host-memory,kernel,shared",
	       64 * KB, MB);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct tare_cell *cell =
		    find(simulated.run.result, rows[i].line, rows[i].bytes, "device");
		const struct tare_cell *host =
		    find(simulated.run.result, rows[i].line, rows[i].bytes, "host");
		double us = time_us(cell);
		if (us < rows[i].us - 0.01 || us > rows[i].us + rows[i].more_us + 0.01)
			fail_msg("%s: %.3f us, not %.3f", rows[i].line, us, rows[i].us);
		assert_int_equal(cell->verified, TARE_VERIFIED);
		assert_true(time_us(host) > us);
		assert_true(fabs(cell->rate.median - (double)rows[i].bytes / us / 1e3) < 0.01);
	}
	simulated_close(&simulated);
}

// Not a whole number of vectors, of work-items or of groups.
static void a_kernel_copies_every_byte_of_odd_sizes(void **state)
{
	static const uint64_t sizes[] = { 15, 16385 + 17 };
	(void)state;
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		struct simulated_run simulated;
		run_on(&simulated, SIMPLE_DEVICE SIMPLE_PAIRS KINDS SHARED,
		       "kernel-to-device,kernel-to-host,kernel-on-device,shared-fault", sizes[i],
		       sizes[i]);
		for (size_t c = 0; c < simulated.run.result->cell_count; c++) {
			assert_null(simulated.run.result->cells[c].absent);
			assert_int_equal(simulated.run.result->cells[c].verified, TARE_VERIFIED);
		}
		simulated_close(&simulated);
	}
}

static void within_the_device_bytes_are_counted_twice_too(void **state)
{
	char script[4096];
	struct simulated_run simulated;
	const struct tare_cell *once, *twice;
	(void)state;
	// Ticks of 100 ns: the small ones are batched.
	snprintf(script, sizeof script, "%s%s", SIMPLE_DEVICE, SIMPLE_PAIRS);
	replace(script, "timer rate 1 GHz", "timer rate 10 MHz");
	run_on(&simulated, script, "twice", 8 * KB, 32 * KB);
	assert_true(label_number(find(simulated.run.result, "device-to-device", 8 * KB, "device"),
	                         "batch") > 1);
	for (uint64_t bytes = 8 * KB; bytes <= 32 * KB; bytes *= 2) {
		once = find(simulated.run.result, "device-to-device", bytes, "device");
		twice = find(simulated.run.result, "device-to-device-twice", bytes, "device");
		assert_true(once->summary.median == twice->summary.median);
		assert_true(fabs(twice->rate.median / once->rate.median - 2) < 1e-9);
		assert_int_equal(label_number(once, "batch"), label_number(twice, "batch"));
		assert_int_equal(twice->verified, TARE_VERIFIED);
		assert_true(once->converged == twice->converged);
		// The clock's step widens both alike.
		assert_true(once->summary.ci_low == twice->summary.ci_low);
		assert_true(once->summary.ci_high == twice->summary.ci_high);
	}
	simulated_close(&simulated);
}

static void twice_has_no_figure_where_once_has_none(void **state)
{
	char script[4096];
	struct simulated_run simulated;
	const struct tare_cell *once, *twice;
	(void)state;
	snprintf(script, sizeof script, "%s", SIMPLE_DEVICE);
	replace(script, "stamps queued,submitted,start,end", "stamps none");
	run_on(&simulated, script, "twice", MB, MB);
	once = find(simulated.run.result, "device-to-device", MB, "device");
	twice = find(simulated.run.result, "device-to-device-twice", MB, "device");
	assert_non_null(once->absent);
	assert_string_equal(once->absent, twice->absent);
	simulated_close(&simulated);
}

static void what_the_device_lacks_is_said(void **state)
{
	static const struct {
		const char *line, *reason, *from, *to; // of the script
	} rows[] = {
		{ "combined-to-device", "write-combined", "copy write-combined", "copy mapped" },
		{ "kernel-to-device", "mapped", "copy mapped device fixed 2 us rate 5 GB/s\n", "" },
		{ "kernel-on-device", "no kernel that copies", "kernel copy_bytes",
		  "kernel other" },
		{ "shared-fault", "no kernel that copies", "kernel copy_bytes", "kernel other" },
		{ "shared-prefetch", "migrate", SHARED, "" },
		{ "shared-back-fault", "does not see the host", "", "" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char script[4096];
		struct simulated_run simulated;
		snprintf(script, sizeof script, "%s%s%s%s", SIMPLE_DEVICE, SIMPLE_PAIRS, KINDS,
		         SHARED);
		if (i == 0)
			replace(script, "copy write-combined device fixed 2 us rate 4 GB/s\n", "");
		else if (rows[i].from[0])
			replace(script, rows[i].from, rows[i].to);
		run_on(&simulated, script, rows[i].line, MB, MB);
		for (size_t c = 0; c < simulated.run.result->cell_count; c++) {
			const char *absent = simulated.run.result->cells[c].absent;
			if (!absent || !strstr(absent, rows[i].reason))
				fail_msg("%s: '%s' does not say '%s'", rows[i].line,
				         absent ? absent : "a figure", rows[i].reason);
		}
		simulated_close(&simulated);
	}
}

static void narrow_rows_cost_each_their_own(void **state)
{
	struct simulated_run simulated;
	const struct tare_cell *cell;
	double expected = 2 + 65536 / 10e3 + 256 * 0.01;
	(void)state;
	run_on(&simulated, SIMPLE_DEVICE SIMPLE_PAIRS, "narrow-to-device,narrow-to-host", 64 * KB,
	       MB);
	cell = find(simulated.run.result, "narrow-to-device", 64 * KB, "device");
	assert_true(fabs(time_us(cell) - expected) < 0.01);
	assert_int_equal(cell->verified, TARE_VERIFIED);
	cell = find(simulated.run.result, "narrow-to-host", 64 * KB, "device");
	assert_int_equal(cell->verified, TARE_VERIFIED);
	simulated_close(&simulated);
}

static void prefetching_is_advised_where_it_pays(void **state)
{
	char script[4096];
	struct simulated_run simulated;
	(void)state;
	run_on(&simulated, SIMPLE_DEVICE SIMPLE_PAIRS KINDS SHARED, "shared-fault,shared-prefetch",
	       MB, MB);
	assert_null(find_warning(simulated.run.result, "prefetch-faster"));
	simulated_close(&simulated);
	snprintf(script, sizeof script, "%s%s%s%s", SIMPLE_DEVICE, SIMPLE_PAIRS, KINDS, SHARED);
	replace(script, "fault 2 us", "fault 9 us");
	run_on(&simulated, script, "shared-fault,shared-prefetch", MB, MB);
	assert_non_null(find_warning(simulated.run.result, "prefetch-faster"));
	simulated_close(&simulated);
}

// What is not asked for by name is the usual lines, in the order of their groups.
static void the_rest_is_measured_on_request_only(void **state)
{
	struct simulated_run simulated;
	struct tare_bandwidth_options options = { .from_bytes = 64 * KB, .to_bytes = 64 * KB };
	const char *group = "";
	size_t extra = 0, groups = 0;
	(void)state;
	simulated_open(&simulated, SIMPLE_DEVICE SIMPLE_PAIRS KINDS SHARED, "bandwidth", BUDGET);
	assert_int_equal(tare_measure_bandwidth(&simulated.run, &options, NULL), 0);
	for (int line = 0; line < TARE_LINE_COUNT; line++) {
		bool found = false;
		for (size_t i = 0; i < simulated.run.result->cell_count; i++)
			found |= strcmp(label_text(&simulated.run.result->cells[i], "line"),
			                tare_lines[line].name) == 0;
		if (found == tare_lines[line].extra)
			fail_msg("%s", tare_lines[line].name);
		extra += tare_lines[line].extra;
		groups += strcmp(group, tare_lines[line].group) != 0;
		group = tare_lines[line].group;
	}
	assert_int_equal(extra, 7);
	assert_int_equal(groups, 12); // each is in one place
	simulated_close(&simulated);
}

static void no_native_wait_comes_before_a_limited_one(void **state)
{
	static const char *const lines[] = { "combined-to-device", "kernel-to-device",
		                             "shared-prefetch" };
	(void)state;
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		struct tare_bandwidth_options options = { .from_bytes = MB, .to_bytes = MB };
		struct simulated_run simulated;
		assert_int_equal(tare_parse_lines(lines[i], &options.lines, NULL), 0);
		simulated_open(&simulated, SIMPLE_DEVICE SIMPLE_PAIRS KINDS SHARED, "bandwidth",
		               BUDGET / 2);
		watch_native_waits(&simulated);
		assert_int_equal(tare_measure_bandwidth(&simulated.run, &options, NULL), 0);
		if (native_violations)
			fail_msg("%s: %zu", lines[i], native_violations);
		simulated_close(&simulated);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(device_times_equal_closed_forms),
		cmocka_unit_test(a_kernel_copies_every_byte_of_odd_sizes),
		cmocka_unit_test(within_the_device_bytes_are_counted_twice_too),
		cmocka_unit_test(twice_has_no_figure_where_once_has_none),
		cmocka_unit_test(what_the_device_lacks_is_said),
		cmocka_unit_test(narrow_rows_cost_each_their_own),
		cmocka_unit_test(prefetching_is_advised_where_it_pays),
		cmocka_unit_test(the_rest_is_measured_on_request_only),
		cmocka_unit_test(no_native_wait_comes_before_a_limited_one),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
