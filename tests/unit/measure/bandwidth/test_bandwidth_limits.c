// SPDX-License-Identifier: Apache-2.0
// `bandwidth` on simulated devices that lie, lack something, run out or are lost.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bandwidth_rig.h"
#include "tests/unit/measure/latency/native_waits.h"
#include "tests/unit/quick.h"

// Whichever copy of the run goes wrong, either nothing was left of it in the end or it is found.
static void wrong_data_is_found(void **state)
{
	static const char *const lines[] = { "device-to-host",     "host-to-device",
		                             "heap-to-device",     "device-to-heap",
		                             "device-to-device",   "rectangle-to-host",
		                             "rectangle-to-device" };
	(void)state;
	for (size_t l = 0; l < sizeof lines / sizeof *lines; l += test_is_quick() ? 3 : 1) {
		size_t found = 0;
		// Only the last copies' faults are still there to be seen; how many copies a run
		// makes is the sampling's business.
		for (int number = 1; number < 400 && found == 0; number++) {
			char script[4096];
			struct simulated_run simulated;
			struct tare_error error = { 0 };
			int status;
			snprintf(script, sizeof script, "%s%sfault wrong-data %d\n", SIMPLE_DEVICE,
			         SIMPLE_PAIRS, number);
			// Few long copies.
			replace(script, " GB/s", " MB/s");
			// A rectangle spans twice its bytes on the host.
			status =
			    run(&simulated, script, lines[l], 64 * KB,
			        strncmp(lines[l], "rect", 4) == 0 ? 128 * KB : 64 * KB, &error);
			if (status == -EBADMSG) {
				const struct tare_result *result = simulated.run.result;
				found++;
				assert_int_equal(result->cells[0].verified, TARE_WRONG);
				assert_non_null(find_warning(result, "wrong-data"));
				assert_non_null(
				    strstr(error.message, "did not hold what was sent"));
			} else if (status < 0) {
				fail_msg("%s", error.message);
			} else {
				assert_int_equal(simulated.run.result->cells[0].verified,
				                 TARE_VERIFIED);
			}
			simulated_close(&simulated);
		}
		if (found == 0)
			fail_msg("%s: no wrong copy was found", lines[l]);
	}
}

static void sizes_beyond_memory_are_bounded_and_it_is_said(void **state)
{
	struct simulated_run simulated;
	const struct tare_result *result;
	int64_t largest = 0;
	char script[4096];
	(void)state;
	snprintf(script, sizeof script, "%s%s", SIMPLE_DEVICE, SIMPLE_PAIRS);
	replace(script, "memory 64 MiB largest 64 MiB", "memory 16 MiB largest 16 MiB");
	run_well(&simulated, script, "device-to-device", 2 * MB, 1024 * MB);
	result = simulated.run.result;
	for (size_t i = 0; i < result->cell_count; i++)
		if (label_number(&result->cells[i], "bytes") > largest)
			largest = label_number(&result->cells[i], "bytes");
	assert_int_equal(largest, 4 * MB); // two buffers in three quarters of 16 MB
	assert_non_null(find_warning(result, "sizes-bounded"));
	simulated_close(&simulated);
}

// 10 GB/s less staging: 16 MB eight times takes 30 ms and more.
static void a_short_budget_leaves_out_the_largest_sizes(void **state)
{
	struct tare_bandwidth_options options = { .from_bytes = 64 * KB, .to_bytes = 16 * MB };
	struct simulated_run simulated;
	const struct tare_result *result;
	size_t skipped = 0;
	(void)state;
	assert_int_equal(tare_parse_lines("host-to-device", &options.lines, NULL), 0);
	simulated_open(&simulated, SIMPLE_DEVICE SIMPLE_PAIRS, "bandwidth", 20000000);
	assert_int_equal(tare_measure_bandwidth(&simulated.run, &options, NULL), 0);
	result = simulated.run.result;
	assert_non_null(find_warning(result, "sizes-short"));
	for (size_t i = 0; i < result->cell_count; i++) {
		assert_true(label_number(&result->cells[i], "bytes") <= (int64_t)(4 * MB));
		skipped += result->cells[i].absent && strstr(result->cells[i].absent, "budget");
	}
	assert_int_equal(skipped, 0);
	simulated_close(&simulated);
}

// The simulated device moves every byte: a few samples of a large copy are enough, and it is said.
static void the_largest_sizes_cost_a_few_samples(void **state)
{
	struct simulated_run simulated;
	const struct tare_result *result;
	size_t larger = 0;
	char script[4096];
	(void)state;
	snprintf(script, sizeof script, "%s%s", SIMPLE_DEVICE, SIMPLE_PAIRS);
	replace(script, "memory 64 MiB largest 64 MiB", "memory 4 GiB largest 1 GiB");
	run_well(&simulated, script, "device-to-device", 16 * MB,
	         test_is_quick() ? 64 * MB : 1024 * MB);
	result = simulated.run.result;
	for (size_t i = 0; i < result->cell_count; i++) {
		const struct tare_cell *cell = &result->cells[i];
		int64_t bytes = label_number(cell, "bytes");
		if (bytes < 0 || strcmp(cell->source, "device") != 0)
			continue;
		if (bytes > (int64_t)(16 * MB))
			assert_true(cell->summary.n >= 2 &&
			            (int64_t)cell->summary.n * bytes <= (int64_t)(2048 * MB) &&
			            cell->summary.n <= 16);
		else
			assert_true(cell->converged && cell->summary.n >= 32);
		close_to("rate", cell->rate.median, (double)bytes / (1000 + (double)bytes / 100),
		         0.01);
		assert_int_equal(cell->verified, TARE_VERIFIED);
		larger += bytes == (int64_t)(1024 * MB);
	}
	assert_true(test_is_quick() || larger == 1);
	assert_non_null(find_warning(result, "few-samples"));
	assert_null(find_warning(result, "not-converged"));
	simulated_close(&simulated);
}

static void out_of_memory_goes_smaller_and_then_gives_up(void **state)
{
	struct simulated_run simulated;
	struct tare_error error = { 0 };
	(void)state;
	run_well(&simulated, SIMPLE_DEVICE SIMPLE_PAIRS "fault out-of-memory-above 1 MiB\n",
	         "device-to-device", 64 * KB, 16 * MB);
	assert_non_null(find_warning(simulated.run.result, "sizes-bounded"));
	simulated_close(&simulated);
	assert_int_equal(run(&simulated, SIMPLE_DEVICE "fault out-of-memory-above 16 KiB\n",
	                     "device-to-device", 64 * KB, 16 * MB, &error),
	                 -ENOMEM);
	assert_non_null(strstr(error.message, "no room for copies of 64 KB"));
	simulated_close(&simulated);
}

static void what_a_device_lacks_is_a_row_that_says_why(void **state)
{
	static const struct {
		const char *script, *lines, *line, *reason;
	} rows[] = {
		{ SIMPLE_DEVICE "lacks pinned reason \"no pinning here\"\n", "copy",
		  "host-to-device", "no pinning here" },
		{ SIMPLE_DEVICE "lacks shared reason \"no sharing here\"\n", "copy",
		  "shared-to-shared", "no sharing here" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct simulated_run simulated;
		const struct tare_cell *cell;
		run_well(&simulated, rows[i].script, rows[i].lines, 64 * KB, 64 * KB);
		cell = find(simulated.run.result, rows[i].line, 64 * KB, "device");
		assert_non_null(cell->absent);
		if (!strstr(cell->absent, rows[i].reason))
			fail_msg("%s", cell->absent);
		assert_true(isnan(cell->summary.median));
		assert_null(find(simulated.run.result, "heap-to-device", 64 * KB, "host")->absent);
		simulated_close(&simulated);
	}
}

static void without_stamps_the_host_still_measures(void **state)
{
	char script[4096];
	struct simulated_run simulated;
	(void)state;
	snprintf(script, sizeof script, "%s%s", SIMPLE_DEVICE, SIMPLE_PAIRS);
	replace(script, "stamps queued,submitted,start,end", "stamps none");
	run_well(&simulated, script, "host-to-device", 64 * KB, MB);
	assert_null(find(simulated.run.result, "host-to-device", MB, "host")->absent);
	assert_non_null(find(simulated.run.result, "host-to-device", MB, "device")->absent);
	assert_non_null(find_fit(simulated.run.result, "host-to-device", "rate"));
	simulated_close(&simulated);
}

static void a_device_lost_in_the_middle_is_an_error(void **state)
{
	struct simulated_run simulated;
	struct tare_error error = { 0 };
	(void)state;
	assert_int_equal(run(&simulated, SIMPLE_DEVICE SIMPLE_PAIRS "fault device-lost 200\n",
	                     "copy", 64 * KB, MB, &error),
	                 -ENODEV);
	assert_non_null(strstr(error.message, "lost"));
	simulated_close(&simulated);
}

static void an_interruption_keeps_what_was_measured(void **state)
{
	static const volatile sig_atomic_t yes = 1;
	struct tare_bandwidth_options options = { .from_bytes = 64 * KB, .to_bytes = MB };
	struct simulated_run simulated;
	(void)state;
	simulated_open(&simulated, SIMPLE_DEVICE SIMPLE_PAIRS, "bandwidth", BUDGET);
	simulated.run.interrupted = &yes;
	assert_int_equal(tare_measure_bandwidth(&simulated.run, &options, NULL), -EINTR);
	assert_true(simulated.run.result->interrupted);
	assert_true(simulated.run.result->cell_count > 0);
	simulated_close(&simulated);
}

// Memory is filled when a copy needs it: who interrupts a run does not wait for gigabytes.
static void an_interruption_waits_for_no_memory(void **state)
{
	static const volatile sig_atomic_t yes = 1;
	struct tare_bandwidth_options options = { .from_bytes = 64 * KB, .to_bytes = 256 * MB };
	struct simulated_run simulated;
	struct rusage before, after;
	char script[4096] = SIMPLE_DEVICE SIMPLE_PAIRS;
	int status;
	(void)state;
	// Room for the largest size: 64 MiB becomes 4 GiB.
	for (char *at = script; (at = strstr(at, "64 MiB"));)
		memcpy(at, " 4 GiB", 6);
	// Of a process of its own: the largest size is of its whole life.
	if (fork() == 0) {
		simulated_open(&simulated, script, "bandwidth", 100 * BUDGET);
		simulated.run.interrupted = &yes;
		getrusage(RUSAGE_SELF, &before);
		status = tare_measure_bandwidth(&simulated.run, &options, NULL);
		getrusage(RUSAGE_SELF, &after);
		_exit(status != -EINTR || simulated.run.result->warning_count > 0       ? 1
		      : after.ru_maxrss - before.ru_maxrss > (int64_t)(128 * MB / 1024) ? 2
		                                                                        : 0);
	}
	assert_true(wait(&status) > 0);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void no_native_wait_comes_before_a_limited_one(void **state)
{
	// Each by itself, so that none is saved by what another has tried.
	static const char *const lines[] = { "map-read",
		                             "unmap-written",
		                             "device-to-heap-first",
		                             "shared-to-shared-first",
		                             "host-to-device",
		                             "heap-to-device",
		                             "both",
		                             "rectangle-to-device" };
	(void)state;
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		struct tare_bandwidth_options options = { .from_bytes = 64 * KB, .to_bytes = MB };
		struct simulated_run simulated;
		assert_int_equal(tare_parse_lines(lines[i], &options.lines, NULL), 0);
		simulated_open(&simulated, SIMPLE_DEVICE SIMPLE_PAIRS SHARED MAPS, "bandwidth",
		               BUDGET);
		watch_native_waits(&simulated);
		assert_int_equal(tare_measure_bandwidth(&simulated.run, &options, NULL), 0);
		if (native_violations)
			fail_msg("%s: %zu", lines[i], native_violations);
		simulated_close(&simulated);
	}
}

static struct tare_backend reversing, plain;
static size_t stamp_calls;

// Right while each direction is tried alone, then end before start.
static int reversed_stamps(struct tare_event *event, struct tare_stamps *stamps,
                           struct tare_error *error)
{
	int status = plain.event_stamps(event, stamps, error);
	struct tare_ticks start = stamps->at[TARE_STAMP_START];

	if (++stamp_calls > 7) {
		stamps->at[TARE_STAMP_START] = stamps->at[TARE_STAMP_END];
		stamps->at[TARE_STAMP_END] = start;
	}
	return status;
}

static void both_ways_an_end_before_its_start_is_said(void **state)
{
	struct tare_bandwidth_options options = { .from_bytes = 4 * MB, .to_bytes = 4 * MB };
	struct simulated_run simulated;
	const char *absent;
	(void)state;
	stamp_calls = 0;
	assert_int_equal(tare_parse_lines("both", &options.lines, NULL), 0);
	simulated_open(&simulated, SIMPLE_DEVICE SIMPLE_PAIRS, "bandwidth", BUDGET);
	plain = reversing = *simulated.device->backend;
	reversing.event_stamps = reversed_stamps;
	simulated.device->backend = &reversing;
	assert_int_equal(tare_measure_bandwidth(&simulated.run, &options, NULL), 0);
	absent = find(simulated.run.result, "both-total", 4 * MB, "device")->absent;
	if (!absent || !strstr(absent, "end stamp of a copy lies before its start"))
		fail_msg("absent: %s", absent ? absent : "(it is there)");
	simulated_close(&simulated);
}

// A driver may say that a blocking copy is done when it has taken the bytes, before they arrive.
static int append_at_once(struct tare_queue *queue, const struct tare_operation *operation,
                          struct tare_event **event, struct tare_error *error)
{
	struct tare_operation staged = *operation;

	staged.blocking = false;
	return plain.append(queue, &staged, event, error);
}

static void a_copy_that_ends_after_its_call_keeps_its_figures(void **state)
{
	struct tare_bandwidth_options options = { .from_bytes = 16 * MB, .to_bytes = 16 * MB };
	struct simulated_run simulated;
	const struct tare_result *result;
	double host_us, device_us;
	char script[4096];
	(void)state;
	assert_int_equal(tare_parse_lines("heap-to-device", &options.lines, NULL), 0);
	snprintf(script, sizeof script, "%s%s", SIMPLE_DEVICE, SIMPLE_PAIRS);
	replace(script, "rate 10 GB/s staging 5 GB/s chunk 64 KiB", "rate 10 GB/s");
	simulated_open(&simulated, script, "bandwidth", BUDGET);
	plain = reversing = *simulated.device->backend;
	reversing.append = append_at_once;
	simulated.device->backend = &reversing;
	assert_int_equal(tare_measure_bandwidth(&simulated.run, &options, NULL), 0);
	result = simulated.run.result;
	host_us = time_us(find(result, "heap-to-device", 16 * MB, "host"));
	device_us = time_us(find(result, "heap-to-device", 16 * MB, "device"));
	if (!(device_us > 2 * host_us))
		fail_msg("device %.1f, host %.1f us", device_us, host_us);
	simulated_close(&simulated);
}

static void cells_say_which_stamps_are_positions_in_the_stream(void **state)
{
	char script[4096];
	struct simulated_run simulated;
	(void)state;
	snprintf(script, sizeof script, "%s%s", SIMPLE_DEVICE, SIMPLE_PAIRS);
	replace(script, "stamps queued,submitted,start,end", "stamps start,end,stream");
	run_well(&simulated, script, "host-to-device", 64 * KB, MB);
	assert_non_null(strstr(find(simulated.run.result, "host-to-device", MB, "device")->method,
	                       "positions in the stream"));
	assert_null(strstr(find(simulated.run.result, "host-to-device", MB, "host")->method,
	                   "positions in the stream"));
	simulated_close(&simulated);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wrong_data_is_found),
		cmocka_unit_test(sizes_beyond_memory_are_bounded_and_it_is_said),
		cmocka_unit_test(a_short_budget_leaves_out_the_largest_sizes),
		cmocka_unit_test(the_largest_sizes_cost_a_few_samples),
		cmocka_unit_test(out_of_memory_goes_smaller_and_then_gives_up),
		cmocka_unit_test(what_a_device_lacks_is_a_row_that_says_why),
		cmocka_unit_test(without_stamps_the_host_still_measures),
		cmocka_unit_test(a_device_lost_in_the_middle_is_an_error),
		cmocka_unit_test(an_interruption_keeps_what_was_measured),
		cmocka_unit_test(an_interruption_waits_for_no_memory),
		cmocka_unit_test(no_native_wait_comes_before_a_limited_one),
		cmocka_unit_test(both_ways_an_end_before_its_start_is_said),
		cmocka_unit_test(a_copy_that_ends_after_its_call_keeps_its_figures),
		cmocka_unit_test(cells_say_which_stamps_are_positions_in_the_stream),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
