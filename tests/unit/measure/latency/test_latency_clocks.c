// SPDX-License-Identifier: Apache-2.0
// `latency` on devices whose stamps and clocks go wrong.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "latency_rig.h"

// What the fit cannot know lies within what it says it cannot know.
static void mapped_figures_hold_the_truth_in_their_interval(void **state)
{
	struct simulated_run simulated;
	const struct tare_result *result;
	const struct tare_cell *start, *end, *around, *callback, *residual;
	(void)state;
	measure(&simulated, SIMPLE_DEVICE SIMPLE_PAIRS);
	result = simulated.run.result;
	start = find(result, "launch to start", "device");
	end = find(result, "end to return", "device");
	around = find(result, "around the kernel", "host");
	callback = find(result, "event done to callback", "device");
	residual = find(result, "device to host clock, largest error", "model");
	assert_true(median_ns(residual) > 0 && median_ns(residual) <= 820);
	assert_true(start->summary.ci_high - start->summary.ci_low >= 1000 * median_ns(residual));
	// The two parts make up the whole, whatever the fit does.
	assert_true(fabs(median_ns(start) + median_ns(end) - median_ns(around)) < 30);
	// The callback runs 4 us after the end.
	assert_true(callback->summary.ci_low <= 4000e3 && callback->summary.ci_high >= 4000e3);
	assert_false(start->converged);
	assert_true(result->clock.fitted);
	simulated_close(&simulated);
}

static void the_drift_has_the_sign_of_the_devices_clock(void **state)
{
	static const struct {
		const char *timer, *words;
		double gain_ppm;
	} rows[] = {
		{ "timer rate 1 GHz bits 64 drift 50 ppm", "the device's clock gains ", 50 },
		{ "timer rate 1 GHz bits 64 drift -30 ppm", "the device's clock loses ", -30 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char script[4096];
		struct simulated_run simulated;
		const struct tare_cell *cell;
		snprintf(script, sizeof script, "%s%s", SIMPLE_DEVICE, SIMPLE_PAIRS);
		replace(script, "timer rate 1 GHz bits 64 resolution 1 tick", rows[i].timer);
		measure(&simulated, script);
		cell = find(simulated.run.result, "device clock gains on the host's", "model");
		if (fabs(cell->summary.median - rows[i].gain_ppm) > 2)
			fail_msg("%g ppm, not %g", cell->summary.median, rows[i].gain_ppm);
		assert_true(cell->summary.ci_low < cell->summary.ci_high);
		assert_non_null(strstr(cell->method, rows[i].words));
		simulated_close(&simulated);
	}
}

// A device of which only the host knows anything still yields the host's figures.
static void without_stamps_the_host_still_measures(void **state)
{
	char script[4096];
	struct simulated_run simulated;
	(void)state;
	snprintf(script, sizeof script, "%s", SIMPLE_DEVICE);
	replace(script, "stamps queued,submitted,start,end", "stamps none");
	measure(&simulated, script);
	assert_null(find(simulated.run.result, "launch and wait", "host")->absent);
	assert_non_null(find(simulated.run.result, "empty kernel, alone", "device")->absent);
	assert_non_null(find_warning(simulated.run.result, "no-device-times"));
	assert_false(simulated.run.result->clock.present);
	simulated_close(&simulated);
}

static size_t stamp_calls;

// The first three calls try whether there are stamps at all.
static int stamps_without_end(struct tare_event *event, struct tare_stamps *stamps,
                              struct tare_error *error)
{
	int status = plain.event_stamps(event, stamps, error);
	if (++stamp_calls > 3)
		stamps->present &= ~(1u << TARE_STAMP_END);
	return status;
}

static void a_stamp_that_is_missing_is_no_figure(void **state)
{
	struct simulated_run simulated;
	(void)state;
	stamp_calls = 0;
	replace_backend(&simulated, SIMPLE_DEVICE SIMPLE_PAIRS);
	backend.event_stamps = stamps_without_end;
	assert_int_equal(tare_measure_latency(&simulated.run, NULL, NULL), 0);
	assert_non_null(strstr(find(simulated.run.result, "wait across queues", "device")->absent,
	                       "no end of the first"));
	assert_non_null(
	    strstr(find(simulated.run.result, "step between device stamps", "device")->absent,
	           "of a marker"));
	simulated_close(&simulated);
}

static void cells_say_which_stamps_are_positions_in_the_stream(void **state)
{
	static const char note[] = "positions in the stream";
	char script[4096];
	struct simulated_run simulated;
	(void)state;
	snprintf(script, sizeof script, "%s%s", SIMPLE_DEVICE, SIMPLE_PAIRS);
	replace(script, "stamps queued,submitted,start,end", "stamps start,end,stream");
	measure(&simulated, script);
	for (size_t i = 0; i < simulated.run.result->cell_count; i++) {
		const struct tare_cell *cell = &simulated.run.result->cells[i];
		bool device = strcmp(cell->source, "device") == 0;
		assert_int_equal(strstr(cell->method, note) != NULL, device);
	}
	simulated_close(&simulated);
	measure(&simulated, SIMPLE_DEVICE SIMPLE_PAIRS);
	assert_null(
	    strstr(find(simulated.run.result, "empty kernel, alone", "device")->method, note));
	simulated_close(&simulated);
}

// A reading of the clock that takes 800 us, with the device's part off its middle by 100.
static void what_is_lost_in_the_clock_fit_is_not_printed_as_zero(void **state)
{
	static const char *const whats[] = { "launch to start", "end to return",
		                             "event done to callback" };
	struct simulated_run simulated;
	(void)state;
	measure(&simulated, SIMPLE_DEVICE "pairs before 300 us after 500 us\n");
	for (size_t i = 0; i < 3; i++) {
		const struct tare_cell *cell = find(simulated.run.result, whats[i], "device");
		if (!cell->absent)
			fail_msg("%s: %f", whats[i], cell->summary.median);
		assert_non_null(strstr(cell->absent, "lost in the clock fit's error of "));
	}
	assert_null(find(simulated.run.result, "around the kernel", "host")->absent);
	simulated_close(&simulated);
}

static int stamps_far_apart(struct tare_event *event, struct tare_stamps *stamps,
                            struct tare_error *error)
{
	int status = plain.event_stamps(event, stamps, error);
	stamps->at[TARE_STAMP_END].ticks += 1000000;
	return status;
}

static void a_kernel_longer_than_its_launch_and_wait_is_no_figure(void **state)
{
	struct simulated_run simulated;
	const struct tare_cell *around;
	(void)state;
	replace_backend(&simulated, SIMPLE_DEVICE SIMPLE_PAIRS);
	backend.event_stamps = stamps_far_apart;
	assert_int_equal(tare_measure_latency(&simulated.run, NULL, NULL), 0);
	around = find(simulated.run.result, "around the kernel", "host");
	assert_non_null(around->absent);
	assert_non_null(strstr(around->absent, "by the host's clock it was over after"));
	assert_non_null(find(simulated.run.result, "launch to start", "device")->absent);
	simulated_close(&simulated);
}

// No host costs: its clock stands still while nothing runs. Without an end this test runs into its
// time limit.
static void a_clock_that_stands_still_ends_too(void **state)
{
	struct simulated_run simulated;
	(void)state;
	simulated_open(&simulated,
	               "tare-device 1\n"
	               "device name \"Still\" memory 1 MiB\n"
	               "timer rate 1 GHz\n"
	               "engine compute runs kernel,to-device,to-host,local\n"
	               "copy pinned device rate 10 GB/s\n",
	               "latency", BUDGET);
	assert_int_equal(tare_measure_latency(&simulated.run, NULL, NULL), 0);
	assert_non_null(find(simulated.run.result, "read the host clock", "host")->absent);
	simulated_close(&simulated);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mapped_figures_hold_the_truth_in_their_interval),
		cmocka_unit_test(the_drift_has_the_sign_of_the_devices_clock),
		cmocka_unit_test(without_stamps_the_host_still_measures),
		cmocka_unit_test(a_stamp_that_is_missing_is_no_figure),
		cmocka_unit_test(cells_say_which_stamps_are_positions_in_the_stream),
		cmocka_unit_test(what_is_lost_in_the_clock_fit_is_not_printed_as_zero),
		cmocka_unit_test(a_kernel_longer_than_its_launch_and_wait_is_no_figure),
		cmocka_unit_test(a_clock_that_stands_still_ends_too),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
