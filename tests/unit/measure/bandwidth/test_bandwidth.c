// SPDX-License-Identifier: Apache-2.0
// `bandwidth` on a simulated device: rates follow from the script.
#include "measure/bandwidth/bandwidth.h"

#include "base/units.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bandwidth_rig.h"
#include "tests/unit/quick.h"

// Device time of one copy: fixed + bytes / rate, to a tick.
static void device_times_equal_closed_forms(void **state)
{
	static const struct {
		const char *line;
		uint64_t bytes;
		double us;
	} rows[] = {
		{ "host-to-device", 64 * KB, 2 + 65536 / 10e3 },
		{ "host-to-device", MB, 2 + 1048576 / 10e3 },
		{ "host-to-device", 100000, 2 + 100000 / 10e3 },
		{ "device-to-host", 64 * KB, 1 + 65536 / 8e3 },
		{ "device-to-host", MB, 1 + 1048576 / 8e3 },
		{ "device-to-device", MB, 1 + 1048576 / 100e3 },
		// Rows of 4 KB cost 10 ns each on top.
		{ "rectangle-to-device", 64 * KB, 2 + 65536 / 10e3 + 16 * 0.01 },
		{ "rectangle-to-host", 64 * KB, 1 + 65536 / 8e3 + 16 * 0.01 },
	};
	struct simulated_run simulated;
	(void)state;
	run_well(&simulated, SIMPLE_DEVICE SIMPLE_PAIRS,
	         "host-to-device,device-to-host,device-to-device,rectangle", 64 * KB, MB);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct tare_cell *cell =
		    find(simulated.run.result, rows[i].line, rows[i].bytes, "device");
		close_to(rows[i].line, time_us(cell), rows[i].us, 0.002);
		close_to("rate", cell->rate.median, (double)rows[i].bytes / rows[i].us / 1e3, 0.01);
		assert_int_equal(cell->verified, TARE_VERIFIED);
		assert_true(cell->converged);
	}
	simulated_close(&simulated);
}

// The host waits for the device and then some: launch, submission, wake-up.
static void host_times_enclose_device_times(void **state)
{
	struct simulated_run simulated;
	const struct tare_result *result;
	(void)state;
	run_well(&simulated, SIMPLE_DEVICE SIMPLE_PAIRS, "copy,unaligned", 64 * KB, MB);
	result = simulated.run.result;
	for (size_t i = 0; i < result->cell_count; i++) {
		const struct tare_cell *host = &result->cells[i];
		if (host->absent || strcmp(host->source, "host") != 0)
			continue;
		const struct tare_cell *device =
		    find(result, label_text(host, "line"), label_number(host, "bytes"), "device");
		assert_true(time_us(host) > time_us(device));
	}
	simulated_close(&simulated);
}

static void the_first_cell_of_a_line_is_its_figure(void **state)
{
	struct simulated_run simulated;
	(void)state;
	run_well(&simulated, SIMPLE_DEVICE SIMPLE_PAIRS, "copy", MB, MB);
	for (size_t l = 0; l < TARE_LINE_COUNT; l++) {
		if (strcmp(tare_lines[l].group, "copy") != 0)
			continue;
		for (size_t i = 0; i < simulated.run.result->cell_count; i++) {
			const struct tare_cell *cell = &simulated.run.result->cells[i];
			if (strcmp(label_text(cell, "line"), tare_lines[l].name) != 0)
				continue;
			assert_string_equal(cell->source,
			                    tare_lines[l].host_is_main ? "host" : "device");
			break;
		}
	}
	simulated_close(&simulated);
}

static void unaligned_pointers_cost_what_the_script_says(void **state)
{
	char script[4096];
	struct simulated_run simulated;
	const struct tare_result *result;
	double aligned;
	(void)state;
	snprintf(script, sizeof script, "%s%s", SIMPLE_DEVICE, SIMPLE_PAIRS);
	replace(script, "unaligned boundary 64 B speed 50 %", "unaligned boundary 64 B speed 5 %");
	run_well(&simulated, script, "heap-to-device,unaligned", MB, MB);
	result = simulated.run.result;
	aligned = time_us(find(result, "heap-to-device", MB, "host"));
	close_to("64 is aligned here", time_us(find(result, "heap-to-device+64", MB, "host")),
	         aligned, 0.05);
	close_to("4096 is aligned", time_us(find(result, "heap-to-device+4096", MB, "host")),
	         aligned, 0.05);
	assert_true(time_us(find(result, "heap-to-device+1", MB, "host")) > 2 * aligned);
	assert_int_equal(find(result, "heap-to-device+1", MB, "host")->verified, TARE_VERIFIED);
	assert_non_null(find_warning(result, "unaligned-slow"));
	simulated_close(&simulated);
}

static void fits_recover_the_script(void **state)
{
	struct simulated_run simulated;
	const struct tare_result *result;
	(void)state;
	run_well(&simulated, SIMPLE_DEVICE SIMPLE_PAIRS, "host-to-device,device-to-host", 8 * KB,
	         4 * MB);
	result = simulated.run.result;
	close_to("latency", find_fit(result, "host-to-device", "latency")->summary.median, 2000,
	         20);
	close_to("rate", find_fit(result, "host-to-device", "rate")->summary.median, 10, 0.05);
	close_to("half", find_fit(result, "host-to-device", "half-rate")->summary.median, 20000,
	         300);
	close_to("latency", find_fit(result, "device-to-host", "latency")->summary.median, 1000,
	         20);
	close_to("rate", find_fit(result, "device-to-host", "rate")->summary.median, 8, 0.05);
	assert_string_equal(find_fit(result, "device-to-host", "rate")->source, "model");
	simulated_close(&simulated);
}

static void a_fit_needs_three_sizes(void **state)
{
	struct simulated_run simulated;
	(void)state;
	run_well(&simulated, SIMPLE_DEVICE SIMPLE_PAIRS, "host-to-device", MB, MB);
	assert_non_null(find_fit(simulated.run.result, "host-to-device", "rate")->absent);
	simulated_close(&simulated);
}

// Both ways, each at its share of its speed: 9 and 6.4 GB/s, with 0.2 us between copies.
static void both_ways_each_direction_is_slowed_by_the_other(void **state)
{
	struct simulated_run simulated;
	const struct tare_result *result;
	const struct tare_warning *warning;
	double up, down;
	(void)state;
	run_well(&simulated, SIMPLE_DEVICE SIMPLE_PAIRS, "host-to-device,device-to-host,both",
	         4 * MB, 4 * MB);
	result = simulated.run.result;
	up = 4194304 / 9e3 + 2.2;
	down = 4194304 / 6.4e3 + 1.2;
	close_to("up", time_us(find(result, "both-to-device", 4 * MB, "device")), up, 0.01 * up);
	close_to("down", time_us(find(result, "both-to-host", 4 * MB, "device")), down,
	         0.01 * down);
	assert_int_equal(find(result, "both-total", 4 * MB, "device")->verified, TARE_VERIFIED);
	close_to("total", find(result, "both-total", 4 * MB, "device")->rate.median,
	         4194304 / up / 1e3 + 4194304 / down / 1e3, 0.1);
	warning = find_warning(result, "both-ways-shared");
	assert_non_null(warning);
	assert_non_null(strstr(warning->message, "90 %"));
	assert_non_null(strstr(warning->message, "80 %"));
	simulated_close(&simulated);
}

// Copies to the host fall to a fifth while the other direction keeps its speed: the latter's copies
// are done long before one of the former, if their number follows from the times alone.
static void a_one_sided_slowdown_is_measured_too(void **state)
{
	char script[4096];
	struct simulated_run simulated;
	const struct tare_result *result;
	double up, down;
	(void)state;
	snprintf(script, sizeof script, "%s%s", SIMPLE_DEVICE, SIMPLE_PAIRS);
	replace(script, "to-device speed 90 %", "to-device speed 99 %");
	replace(script, "to-host speed 80 %", "to-host speed 15 %");
	run_well(&simulated, script, "both", 4 * MB, 4 * MB);
	result = simulated.run.result;
	up = find(result, "both-to-device", 4 * MB, "device")->rate.median;
	down = find(result, "both-to-host", 4 * MB, "device")->rate.median;
	close_to("up", up, 9.9, 0.1);
	// A little above: in the gaps of the other direction it has its speed.
	close_to("down", down, 1.2 + 0.03, 0.05);
	close_to("total", find(result, "both-total", 4 * MB, "device")->rate.median, up + down,
	         0.05);
	simulated_close(&simulated);
}

// A host figure must not jump where tare begins to time both clocks with the same copy.
static void a_turn_between_our_queues_is_in_no_figure(void **state)
{
	static const uint64_t sizes[] = { 64 * KB, 256 * KB, 512 * KB };
	static const char *const costs[] = { "switch 0 us ", "switch 5 us " };
	double first[3] = { 0 };
	(void)state;
	for (size_t c = 0; c < 2; c++) {
		char script[4096];
		struct simulated_run simulated;
		double above_us = 0;
		snprintf(script, sizeof script, "%s%s", SIMPLE_DEVICE, SIMPLE_PAIRS);
		replace(script, "switch 1 us ", costs[c]);
		run_well(&simulated, script, "host-to-device", 64 * KB, 512 * KB);
		for (size_t i = 0; i < 3; i++) {
			const struct tare_result *result = simulated.run.result;
			double us = time_us(find(result, "host-to-device", sizes[i], "host"));
			double device_us =
			    time_us(find(result, "host-to-device", sizes[i], "device"));
			if (c == 0)
				first[i] = us;
			close_to("host time", us, first[i], 0.02);
			// Stamps cost 0.5 us of event, no more.
			if (i > 0)
				close_to("above the device's", us - device_us, above_us, 0.6);
			above_us = us - device_us;
		}
		simulated_close(&simulated);
	}
}

// A wrapped counter would make a long copy look short.
static void what_lasts_longer_than_half_the_period_has_only_a_host_figure(void **state)
{
	static const char *const timers[] = { "timer rate 12 MHz bits 16",
		                              "timer rate 1 GHz bits 22" };
	(void)state;
	for (size_t t = 0; t < (test_is_quick() ? 1 : 2); t++) {
		char script[4096];
		struct simulated_run simulated;
		const struct tare_result *result;
		const struct tare_cell *device;
		snprintf(script, sizeof script, "%s%s", SIMPLE_DEVICE, SIMPLE_PAIRS);
		replace(script, "timer rate 1 GHz bits 64", timers[t]);
		replace(script, "memory 64 MiB largest 64 MiB", "memory 96 MiB");
		run_well(&simulated, script, "device-to-heap,both", MB, 32 * MB);
		result = simulated.run.result;
		device = find(result, "device-to-heap", MB, "device");
		assert_null(device->absent);
		device = find(result, "device-to-heap", 16 * MB, "device");
		assert_non_null(device->absent);
		assert_non_null(strstr(device->absent, "longer than the device clock can tell "
		                                       "(half its period, 2."));
		close_to("host", find(result, "device-to-heap", 16 * MB, "host")->rate.median, 4,
		         0.1);
		assert_non_null(
		    strstr(find(result, "both-total", 16 * MB, "device")->absent, "longer than"));
		simulated_close(&simulated);
	}
}

// One engine for both directions: there is no 'both at once', and no figure for it.
static void directions_that_take_turns_have_no_figure(void **state)
{
	char script[4096];
	struct simulated_run simulated;
	const struct tare_cell *cell;
	(void)state;
	if (test_is_quick()) {
		print_message("# left out: minutes under sanitizers\n");
		return;
	}
	snprintf(script, sizeof script, "%s%s", SIMPLE_DEVICE, SIMPLE_PAIRS);
	replace(script, "engine copy runs to-device,local\nengine copy runs to-host\n",
	        "engine copy runs to-device,local,to-host\n");
	run_well(&simulated, script, "both", MB, MB);
	cell = find(simulated.run.result, "both-to-device", MB, "device");
	assert_non_null(cell->absent);
	assert_non_null(strstr(cell->absent, "did not run at once"));
	assert_string_equal(find(simulated.run.result, "both-total", MB, "device")->absent,
	                    cell->absent);
	assert_null(strpbrk(cell->absent, "0123456789")); // one text for all sizes
	simulated_close(&simulated);
}

static void first_touch_costs_its_faults(void **state)
{
	struct simulated_run simulated;
	const struct tare_result *result;
	double resident, first;
	(void)state;
	run_well(&simulated, SIMPLE_DEVICE SIMPLE_PAIRS SHARED, "device-to-heap,first-touch", MB,
	         MB);
	result = simulated.run.result;
	resident = time_us(find(result, "device-to-heap", MB, "host"));
	first = time_us(find(result, "device-to-heap-first", MB, "host"));
	close_to("256 faults of 0.5 us", first - resident, 128, 3);
	assert_int_equal(find(result, "device-to-heap-first", MB, "host")->verified, TARE_VERIFIED);
	assert_int_equal(find(result, "shared-to-shared-first", MB, "host")->verified,
	                 TARE_VERIFIED);
	assert_non_null(find_warning(result, "first-touch-slow"));
	simulated_close(&simulated);
}

static void maps_that_move_bytes_have_rates(void **state)
{
	struct simulated_run simulated;
	const struct tare_cell *cell;
	(void)state;
	run_well(&simulated, SIMPLE_DEVICE SIMPLE_PAIRS MAPS, "map", 8 * KB, 4 * MB);
	cell = find(simulated.run.result, "map-read", 4 * MB, "device");
	assert_true(cell->rate.present);
	close_to("map", time_us(cell), 4 + 4194304 / 10e3, 0.01);
	close_to("unmap", time_us(find(simulated.run.result, "unmap-written", 4 * MB, "device")),
	         3 + 4194304 / 8e3, 0.01);
	assert_int_equal(cell->verified, TARE_VERIFIED);
	assert_null(find_warning(simulated.run.result, "map-zero-copy"));
	simulated_close(&simulated);
}

static void zero_copy_maps_have_none(void **state)
{
	struct simulated_run simulated;
	const struct tare_result *result;
	// The stand-in moves the bytes, so large maps are what this costs.
	uint64_t most = test_is_quick() ? MB : 4 * MB;
	(void)state;
	run_well(&simulated, SIMPLE_DEVICE SIMPLE_PAIRS ZERO_COPY_MAPS, "map", 8 * KB, most);
	result = simulated.run.result;
	for (size_t i = 0; i < result->cell_count; i++)
		assert_false(result->cells[i].rate.present);
	assert_non_null(strstr(find(result, "map-read", most, "host")->method, "zero copy"));
	assert_non_null(find_warning(result, "map-zero-copy"));
	for (size_t i = 0; i < result->plot_count; i++)
		assert_int_equal(result->plots[i].count, 0);
	simulated_close(&simulated);
}

static void pageable_memory_is_advised_against(void **state)
{
	struct simulated_run simulated;
	const struct tare_warning *warning;
	const struct tare_cell *heap, *host;
	char expected[32];
	(void)state;
	run_well(&simulated, SIMPLE_DEVICE SIMPLE_PAIRS, "heap-to-device,host-to-device", 4 * MB,
	         4 * MB);
	heap = find(simulated.run.result, "heap-to-device", 4 * MB, "host");
	host = find(simulated.run.result, "host-to-device", 4 * MB, "host");
	warning = find_warning(simulated.run.result, "pageable-slow");
	assert_non_null(warning);
	snprintf(expected, sizeof expected, "%.0f %% of pinned",
	         100 * heap->rate.median / host->rate.median);
	assert_non_null(strstr(warning->message, expected));
	simulated_close(&simulated);
}

// Nor where the memory is the host's, nor where it is slower in small copies only.
static void pageable_memory_that_costs_nothing_is_not_advised_against(void **state)
{
	static const struct {
		const char *was, *is;
		uint64_t from, to;
	} changes[] = {
		{ "largest 64 MiB", "largest 64 MiB unified yes", 4 * MB, 4 * MB },
		{ "copy pageable device fixed 3 us rate 10 GB/s staging 5 GB/s",
		  "copy pageable device fixed 23 us rate 100 GB/s staging 900 GB/s", 8 * KB,
		  4 * MB },
	};
	(void)state;
	for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
		struct simulated_run simulated;
		char script[4096];
		snprintf(script, sizeof script, "%s%s", SIMPLE_DEVICE, SIMPLE_PAIRS);
		replace(script, changes[i].was, changes[i].is);
		run_well(&simulated, script, "heap-to-device,host-to-device", changes[i].from,
		         changes[i].to);
		assert_null(find_warning(simulated.run.result, "pageable-slow"));
		simulated_close(&simulated);
	}
}

// A timer of 1 us: one copy of 8 KB is 3 ticks, 512 of them in a row are many.
static void short_copies_are_batched(void **state)
{
	char script[4096];
	struct simulated_run simulated;
	const struct tare_cell *cell;
	(void)state;
	snprintf(script, sizeof script, "%s%s", SIMPLE_DEVICE, SIMPLE_PAIRS);
	replace(script, "timer rate 1 GHz", "timer rate 1 MHz");
	run_well(&simulated, script, "host-to-device", 8 * KB, 8 * KB);
	cell = find(simulated.run.result, "host-to-device", 8 * KB, "device");
	assert_true(label_number(cell, "batch") >= 30);
	// fixed + bytes / rate: the gap in the queue is not the copy's.
	close_to("time", time_us(cell), 2 + 0.8192, 0.028);
	assert_true(cell->summary.ci_low <= 2.8192e6 && cell->summary.ci_high >= 2.8192e6);
	assert_int_equal(cell->verified, TARE_VERIFIED);
	simulated_close(&simulated);
}

// With its gap a copy of 8000 bytes is 3 ticks to the nanosecond: in a row all of them begin at the
// same part of a tick, and all read 2 ticks, or all 3.
static void copies_in_step_with_the_timer_are_not_all_rounded_alike(void **state)
{
	char script[4096];
	struct simulated_run simulated;
	(void)state;
	snprintf(script, sizeof script, "%s%s", SIMPLE_DEVICE, SIMPLE_PAIRS);
	replace(script, "timer rate 1 GHz", "timer rate 1 MHz");
	run_well(&simulated, script, "host-to-device", 8000, 8000);
	close_to("time", time_us(find(simulated.run.result, "host-to-device", 8000, "device")), 2.8,
	         0.028);
	simulated_close(&simulated);
}

// Stamps that are positions in the stream do not tell the copy from the gap before it: the method
// says so.
static void between_positions_the_gap_stays_and_is_said(void **state)
{
	char script[4096];
	struct simulated_run simulated;
	const struct tare_cell *cell;
	(void)state;
	snprintf(script, sizeof script, "%s%s", SIMPLE_DEVICE, SIMPLE_PAIRS);
	replace(script, "timer rate 1 GHz", "timer rate 1 MHz");
	replace(script, "stamps queued,submitted,start,end", "stamps stream,start,end");
	run_well(&simulated, script, "host-to-device", 8 * KB, 8 * KB);
	cell = find(simulated.run.result, "host-to-device", 8 * KB, "device");
	close_to("time", time_us(cell), 2 + 0.8192 + 0.2, 0.04);
	assert_non_null(strstr(cell->method, "hand-over included"));
	simulated_close(&simulated);
}

static void the_seeds_figures_are_charts(void **state)
{
	struct simulated_run simulated;
	const struct tare_result *result;
	const char *const ids[] = { "bandwidth-small", "bandwidth-large", "bandwidth" };
	(void)state;
	run_well(&simulated, SIMPLE_DEVICE SIMPLE_PAIRS, "host-to-device,heap-to-device", 2 * MB,
	         8 * MB);
	result = simulated.run.result;
	assert_int_equal(result->plot_count, 3);
	for (size_t i = 0; i < 3; i++)
		assert_string_equal(result->plots[i].id, ids[i]);
	assert_int_equal(result->plots[0].series[0].count, 2); // 2 and 4 MB
	assert_int_equal(result->plots[1].series[0].count, 1); // 8 MB
	assert_int_equal(result->plots[2].count, 3);           // heap on both clocks, host on one
	simulated_close(&simulated);
}

static void lines_are_named_by_line_by_group_or_all(void **state)
{
	static const struct {
		const char *text;
		uint64_t lines;
	} rows[] = {
		{ "shared-to-shared", 1u << TARE_LINE_SHARED_TO_SHARED },
		{ "host-to-device, device-to-host",
		  1u << TARE_LINE_HOST_TO_DEVICE | 1u << TARE_LINE_DEVICE_TO_HOST },
		{ "copy", 63 },
		{ "map", 1u << TARE_LINE_MAP_READ | 1u << TARE_LINE_UNMAP_WRITTEN },
		{ "heap-to-device+1", 1u << TARE_LINE_UNALIGNED_1 },
		{ "all", (UINT64_C(1) << TARE_LINE_COUNT) - 1 },
	};
	static const char *const bad[] = { "",          "host", "copy,", ",copy", "host-to-devic",
		                           "copy,,map", "ALL" };
	struct tare_error error;
	uint64_t lines;
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		assert_int_equal(tare_parse_lines(rows[i].text, &lines, NULL), 0);
		assert_int_equal(lines, rows[i].lines);
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		lines = 7;
		assert_int_equal(tare_parse_lines(bad[i], &lines, &error), -EINVAL);
		assert_int_equal(lines, 7);
		assert_non_null(strstr(error.message, "host-to-device"));
	}
}

// Figures that never settle use up their shares.
static int64_t sampled_ps(const struct tare_cell *cell)
{
	int64_t sum = 0;
	assert_null(cell->absent);
	for (size_t i = 0; i < cell->summary.n; i++)
		sum += cell->samples[i];
	return sum;
}

static void copies_get_more_of_the_budget_and_large_ones_most(void **state)
{
	static const struct {
		const char *line;
		uint64_t bytes;
		double share;
	} rows[] = {
		{ "heap-to-device+1", 16 * MB, 1 },
		{ "heap-to-device+4096", 16 * MB, 1 },
		// Pageable copies twice that of others.
		{ "heap-to-device", 4 * MB, 2 * (2 + 2 * 4 / 64.0) },
		{ "heap-to-device", 16 * MB, 2 * (2 + 2 * 16 / 64.0) },
		{ "device-to-heap", 16 * MB, 2 * (2 + 2 * 16 / 64.0) },
	};
	struct tare_bandwidth_options options = { .from_bytes = 4 * MB, .to_bytes = 16 * MB };
	struct simulated_run simulated;
	int64_t unit_ps;
	(void)state;
	if (test_is_quick()) {
		print_message("# left out: it uses up its budget\n");
		return;
	}
	assert_int_equal(
	    tare_parse_lines("heap-to-device,device-to-heap,unaligned", &options.lines, NULL), 0);
	simulated_open(&simulated, SIMPLE_DEVICE SIMPLE_PAIRS "jitter range 100 %\n", "bandwidth",
	               BUDGET);
	assert_int_equal(tare_measure_bandwidth(&simulated.run, &options, NULL), 0);
	unit_ps = sampled_ps(find(simulated.run.result, rows[0].line, rows[0].bytes, "host"));
	for (size_t i = 1; i < sizeof rows / sizeof *rows; i++) {
		double share = (double)sampled_ps(find(simulated.run.result, rows[i].line,
		                                       rows[i].bytes, "host")) /
		               (double)unit_ps;
		// What one leaves over goes to those after it.
		close_to(rows[i].line, share / rows[i].share, 1, 0.35);
	}
	simulated_close(&simulated);
}

static void a_quick_look_takes_sizes_in_steps_of_four(void **state)
{
	struct tare_bandwidth_options options = { .from_bytes = 16 * KB,
		                                  .to_bytes = MB,
		                                  .coarse = true };
	struct simulated_run simulated;
	size_t sizes = 0;
	(void)state;
	assert_int_equal(tare_parse_lines("host-to-device", &options.lines, NULL), 0);
	simulated_open(&simulated, SIMPLE_DEVICE SIMPLE_PAIRS, "bandwidth", BUDGET);
	assert_int_equal(tare_measure_bandwidth(&simulated.run, &options, NULL), 0);
	for (size_t i = 0; i < simulated.run.result->cell_count; i++) {
		const struct tare_cell *cell = &simulated.run.result->cells[i];
		int64_t bytes = label_number(cell, "bytes");
		if (bytes < 0 || strcmp(cell->source, "device") != 0)
			continue;
		sizes++;
		assert_true(bytes == 16 * (int64_t)KB || bytes == 64 * (int64_t)KB ||
		            bytes == 256 * (int64_t)KB || bytes == (int64_t)MB);
	}
	assert_int_equal(sizes, 4);
	simulated_close(&simulated);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(device_times_equal_closed_forms),
		cmocka_unit_test(host_times_enclose_device_times),
		cmocka_unit_test(the_first_cell_of_a_line_is_its_figure),
		cmocka_unit_test(unaligned_pointers_cost_what_the_script_says),
		cmocka_unit_test(fits_recover_the_script),
		cmocka_unit_test(a_fit_needs_three_sizes),
		cmocka_unit_test(both_ways_each_direction_is_slowed_by_the_other),
		cmocka_unit_test(a_one_sided_slowdown_is_measured_too),
		cmocka_unit_test(a_turn_between_our_queues_is_in_no_figure),
		cmocka_unit_test(what_lasts_longer_than_half_the_period_has_only_a_host_figure),
		cmocka_unit_test(directions_that_take_turns_have_no_figure),
		cmocka_unit_test(first_touch_costs_its_faults),
		cmocka_unit_test(maps_that_move_bytes_have_rates),
		cmocka_unit_test(zero_copy_maps_have_none),
		cmocka_unit_test(pageable_memory_is_advised_against),
		cmocka_unit_test(pageable_memory_that_costs_nothing_is_not_advised_against),
		cmocka_unit_test(short_copies_are_batched),
		cmocka_unit_test(copies_in_step_with_the_timer_are_not_all_rounded_alike),
		cmocka_unit_test(between_positions_the_gap_stays_and_is_said),
		cmocka_unit_test(the_seeds_figures_are_charts),
		cmocka_unit_test(lines_are_named_by_line_by_group_or_all),
		cmocka_unit_test(copies_get_more_of_the_budget_and_large_ones_most),
		cmocka_unit_test(a_quick_look_takes_sizes_in_steps_of_four),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
