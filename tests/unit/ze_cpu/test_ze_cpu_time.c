// SPDX-License-Identifier: Apache-2.0
// Timestamps of the Level Zero CPU driver under a script, through the loader: whatever the rate,
// the width and the drift of the counters, and wherever they wrap, tare's own functions find what
// the script says within one tick; and the usual formula fails where it must.
#include "ze_time_rig.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <time.h>

#include <cmocka.h>

enum wrap { NEVER, IN_COMMAND, BEFORE_START };

struct row {
	const char *name;
	const char *rate; // as the script says it
	uint64_t hz;
	unsigned kernel_bits, global_bits;
	int ppm;
	enum wrap wrap;
	// What (end - start) * timerResolution in whole nanoseconds is wrong by; 1: it is nonsense.
	double seed_error;
};

static const struct row rows[] = {
	{ "12 MHz, 64 bits", "12 MHz", 12000000, 64, 64, 0, NEVER, -0.004 },
	{ "12.5 MHz, 36 bits", "12.5 MHz", 12500000, 36, 36, 0, NEVER, 0 },
	{ "19.2 MHz, 32 and 36 bits", "19.2 MHz", 19200000, 32, 36, 0, NEVER, -0.0016 },
	{ "25 MHz, 32 bits", "25 MHz", 25000000, 32, 32, 0, NEVER, 0 },
	{ "12000048 Hz, 36 and 32 bits", "12000048 Hz", 12000048, 36, 32, 0, NEVER, -0.003996 },
	{ "1 GHz, 56 and 64 bits", "1 GHz", 1000000000, 56, 64, 0, NEVER, 0 },
	{ "12 MHz, 32 bits, fast", "12 MHz", 12000000, 32, 64, 50, NEVER, -0.004 + 0.00005 },
	{ "19.2 MHz, 36 bits, slow", "19.2 MHz", 19200000, 36, 36, -50, NEVER, -0.0016 - 0.00005 },
	{ "12 MHz, 32 bits wrap in a command", "12 MHz", 12000000, 32, 36, 0, IN_COMMAND, 1 },
	{ "12.5 MHz, 36 bits wrap in a command", "12.5 MHz", 12500000, 36, 32, 0, IN_COMMAND, 1 },
	{ "19.2 MHz, 32 bits wrap, fast", "19.2 MHz", 19200000, 32, 32, 50, IN_COMMAND, 1 },
	{ "25 MHz, 36 bits wrap in a command", "25 MHz", 25000000, 36, 36, 0, IN_COMMAND, 1 },
	{ "1 GHz, 56 bits wrap in a command", "1 GHz", 1000000000, 56, 56, 0, IN_COMMAND, 1 },
	{ "12 MHz, 32 bits wrap before it", "12 MHz", 12000000, 32, 32, 0, BEFORE_START, -0.004 },
	{ "19.2 MHz, 36 bits wrap before it", "19.2 MHz", 19200000, 36, 36, 0, BEFORE_START,
	  -0.0016 },
	{ "25 MHz, both wrap before it", "25 MHz", 25000000, 36, 32, -50, BEFORE_START, -0.00005 },
};

#define ROWS (sizeof rows / sizeof *rows)

// The counter of a row is about to wrap this long after the driver started.
static int64_t window_us(int attempt)
{
	return INT64_C(150000) << (2 * attempt);
}

static double ticks_a_us(const struct row *row)
{
	return (double)row->hz / 1e6 * (1 + row->ppm / 1e6);
}

// What a counter shows at first so that it wraps at the end of the window.
static uint64_t epoch_of(const struct row *row, unsigned bits, int attempt)
{
	if (row->wrap == NEVER)
		return bits == 64 ? UINT64_C(999999999999999999) : 1000;
	return (UINT64_C(1) << bits) - (uint64_t)(ticks_a_us(row) * (double)window_us(attempt));
}

static int64_t submission_us(const struct row *row, int attempt)
{
	return row->wrap == BEFORE_START ? window_us(attempt) + 20000 : 2;
}

static struct ze open_row(const struct row *row, int attempt)
{
	char script[1024];

	snprintf(script, sizeof script,
	         "tare-device 1\n"
	         "device name \"clock\" memory 1 GiB\n"
	         "timer rate %s bits %u drift %d ppm epoch %llu ticks\n"
	         "pair-timer rate %s bits %u drift %d ppm epoch %llu ticks\n"
	         "queue submission %lld us\n"
	         "engine compute runs kernel,to-device,to-host,local\n"
	         "copy pinned device fixed 3 us rate 1 MB/s\n"
	         "marker fixed 7 us\n",
	         row->rate, row->kernel_bits, row->ppm,
	         (unsigned long long)epoch_of(row, row->kernel_bits, attempt), row->rate,
	         row->global_bits, row->ppm,
	         (unsigned long long)epoch_of(row, row->global_bits, attempt),
	         (long long)submission_us(row, attempt));
	return ze_open(script);
}

static int64_t raw_ns(void)
{
	return tare_host_now().ns;
}

// What the device's counter says of a duration of the model: it runs fast or slow.
static int64_t as_counted_ps(const struct row *row, int64_t ps)
{
	return ps + ps / 1000000 * row->ppm;
}

static int64_t elapsed_ps(const struct tare_clock_rate *rate, uint64_t a, uint64_t b)
{
	uint64_t ticks =
	    tare_ticks_elapsed(rate, (struct tare_ticks){ a }, (struct tare_ticks){ b });

	return tare_ticks_scale(rate, ticks, UINT64_C(1000000000000));
}

// What one submission left behind: a timestamp, a copy with an event, a barrier, a timestamp.
struct seen {
	uint64_t first, last; // the written timestamps
	ze_kernel_timestamp_result_t queried, appended;
	int64_t before_ns, after_ns; // around the submission
};

static struct seen run_sequence(struct ze *ze, size_t bytes)
{
	ze_command_list_handle_t list = ze_list(ze, ze->compute);
	ze_command_queue_handle_t queue = ze_queue(ze, ze->compute, 0);
	ze_event_handle_t event = ze_event(ze);
	uint64_t *stamps = ze_device_memory(ze, 64), *back = ze_host_memory(ze, 64);
	ze_kernel_timestamp_result_t *appended = ze_host_memory(ze, sizeof *appended);
	struct seen seen;

	must(zeCommandListAppendWriteGlobalTimestamp(list, stamps, NULL, 0, NULL));
	must(zeCommandListAppendMemoryCopy(list, ze_device_memory(ze, bytes),
	                                   ze_host_memory(ze, bytes), bytes, event, 0, NULL));
	must(zeCommandListAppendBarrier(list, NULL, 0, NULL));
	must(zeCommandListAppendWriteGlobalTimestamp(list, stamps + 1, NULL, 0, NULL));
	must(zeCommandListAppendQueryKernelTimestamps(list, 1, &event, appended, NULL, NULL, 0,
	                                              NULL));
	must(zeCommandListAppendMemoryCopy(list, back, stamps, 16, NULL, 0, NULL));
	must(zeCommandListClose(list));
	seen.before_ns = raw_ns();
	must(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
	seen.after_ns = raw_ns();
	must(zeCommandQueueSynchronize(queue, UINT64_MAX));
	seen.first = back[0];
	seen.last = back[1];
	seen.queried = ze_stamps(event);
	seen.appended = *appended;
	return seen;
}

// The formula as it is often seen: a plain difference, times a rate in whole nanoseconds.
static void check_seed(const struct row *row, const struct ze *ze, const struct seen *seen,
                       int64_t truth_ps)
{
	uint64_t duration = seen->queried.context.kernelEnd - seen->queried.context.kernelStart;
	double error = (double)duration * (double)ze->tick_ns * 1000 / (double)truth_ps - 1;

	if (row->wrap == IN_COMMAND)
		holds(error > 1000);
	else
		holds(fabs(error - row->seed_error) < 0.00003);
}

static void check_stamps(const struct row *row, const struct ze *ze, const struct seen *seen,
                         int64_t copy_ps)
{
	int64_t tick_ps = (int64_t)(UINT64_C(1000000000000) / ze->kernel.hz_numerator) + 1;
	const ze_kernel_timestamp_result_t *at = &seen->queried;
	int64_t counted_ps = as_counted_ps(row, copy_ps);

	near(elapsed_ps(&ze->kernel, at->global.kernelStart, at->global.kernelEnd), counted_ps,
	     tick_ps);
	near(elapsed_ps(&ze->kernel, at->context.kernelStart, at->context.kernelEnd), counted_ps,
	     tick_ps);
	holds(memcmp(at, &seen->appended, sizeof *at) == 0);
	holds((at->global.kernelEnd & ~tare_ticks_mask(&ze->kernel)) == 0);
	near(elapsed_ps(&ze->global, seen->first, seen->last),
	     as_counted_ps(row, copy_ps + 7000000), tick_ps);
	// Both counters begin alike but for their width, so the first timestamp is the copy's
	// start.
	if (ze->kernel.valid_bits == ze->global.valid_bits)
		holds(seen->first == at->global.kernelStart);
}

// The written timestamp, by way of a reading of the clock before, is when the device saw the work.
static void check_submission(const struct row *row, const struct ze *ze, const struct seen *seen,
                             uint64_t host_ns, uint64_t device, int attempt)
{
	int64_t passed_ps = elapsed_ps(&ze->global, device, seen->first);
	int64_t at_ns = (int64_t)host_ns + (passed_ps - passed_ps / 1000000 * row->ppm) / 1000;
	int64_t submission_ns = submission_us(row, attempt) * 1000;
	int64_t tick_ns = (int64_t)(UINT64_C(1000000000) / ze->global.hz_numerator) + 1;

	holds(at_ns >= seen->before_ns + submission_ns - 2 * tick_ns);
	holds(at_ns <= seen->after_ns + submission_ns + 2 * tick_ns);
}

// Two readings of the clock, some time apart: the device's differs by its drift.
static void check_drift(const struct row *row, const struct ze *ze, uint64_t host_ns,
                        uint64_t device)
{
	uint64_t host_again_ns, device_again;
	int64_t tick_ps = (int64_t)(UINT64_C(1000000000000) / ze->global.hz_numerator) + 1;

	must(zeDeviceGetGlobalTimestamps(ze->device, &host_again_ns, &device_again));
	near(elapsed_ps(&ze->global, device, device_again),
	     as_counted_ps(row, (int64_t)(host_again_ns - host_ns) * 1000), tick_ps);
}

static void check_properties(const struct row *row, const struct ze *ze)
{
	near((int64_t)ze->kernel.hz_numerator, (int64_t)row->hz, 0);
	near((int64_t)ze->tick_ns, llround(1e9 / (double)row->hz), 0);
	near(ze->kernel.valid_bits, row->kernel_bits, 0);
	near(ze->global.valid_bits, row->global_bits, 0);
}

static void run_row(const void *context, int attempt)
{
	const struct row *row = context;
	struct ze ze = open_row(row, attempt);
	uint64_t host_ns, device, raw = 0;
	int64_t length_us = 40000, left_us;

	check_properties(row, &ze);
	must(zeDeviceGetGlobalTimestamps(ze.device, &host_ns, &device));
	raw = tare_ticks_elapsed(&ze.global,
	                         (struct tare_ticks){ epoch_of(row, row->global_bits, attempt) },
	                         (struct tare_ticks){ device });
	left_us = window_us(attempt) - (int64_t)((double)raw / ticks_a_us(row));
	if (row->wrap != NEVER && left_us < 5000)
		_exit(CASE_TOO_LATE);
	if (row->wrap == IN_COMMAND)
		length_us = left_us + 10000;
	struct seen seen = run_sequence(&ze, (size_t)length_us);
	if (row->wrap == IN_COMMAND &&
	    seen.queried.global.kernelStart <= seen.queried.global.kernelEnd)
		_exit(CASE_TOO_LATE);
	if (row->wrap == BEFORE_START)
		holds(seen.first < device);
	int64_t copy_ps = 3000000 + length_us * 1000000;
	check_stamps(row, &ze, &seen, copy_ps);
	check_submission(row, &ze, &seen, host_ns, device, attempt);
	check_drift(row, &ze, host_ns, device);
	check_seed(row, &ze, &seen, copy_ps);
}

static void every_duration_is_the_scripts_within_a_tick(void **state)
{
	bool failed = false;
	pid_t children[ROWS];

	(void)state;
	for (size_t i = 0; i < ROWS; i++)
		children[i] = ze_start_case(run_row, &rows[i], 0);
	for (size_t i = 0; i < ROWS; i++) {
		int status = ze_end_case(children[i]);
		for (int attempt = 1; status == CASE_TOO_LATE && attempt < 4; attempt++)
			status = ze_end_case(ze_start_case(run_row, &rows[i], attempt));
		if (status != 0)
			print_error("%s: status %d\n", rows[i].name, status);
		failed |= status != 0;
	}
	assert_false(failed);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_duration_is_the_scripts_within_a_tick),
	};

	if (argc != 2)
		return 2;
	setenv("ZE_ENABLE_ALT_DRIVERS", argv[1], 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
