// SPDX-License-Identifier: Apache-2.0
// What a device did while it was measured: the arithmetic, and the thread that watches.
#include "backend/backend.h"
#include "measure/core/telemetry.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "tests/unit/telemetry_rig.h"

#define MS INT64_C(1000000)

static void nap(int64_t ns)
{
	struct timespec time = { ns / 1000000000, ns % 1000000000 };
	while (nanosleep(&time, &time) != 0)
		;
}

// ---- the arithmetic

static void idle_readings_do_not_count_beside_others(void **state)
{
	struct tare_telemetry readings[] = {
		clock_and_reasons(300, BIT(IDLE)),
		clock_and_reasons(2000, 0),
		clock_and_reasons(1990, BIT(POWER_CAP)),
		clock_and_reasons(1500, BIT(POWER_CAP) | BIT(HEAT)),
		clock_and_reasons(1980, BIT(SETTING)),
	};
	struct tare_telemetry_summary summary;
	const struct tare_telemetry_range *clock = &summary.of[TARE_TELEMETRY_OF_CLOCK];
	(void)state;

	assert_int_equal(tare_telemetry_summarise(readings, 5, &summary), 0);
	assert_int_equal(summary.readings, 5);
	assert_int_equal(summary.loaded, 4);
	assert_int_equal(clock->n, 4);
	assert_float_equal(clock->low, 1500, 0);
	assert_float_equal(clock->median, 1985, 0);
	assert_float_equal(clock->mean, 1867.5, 1e-9);
	assert_float_equal(clock->high, 2000, 0);
	assert_float_equal(summary.moved_share, 0.25, 0);
	assert_int_equal(summary.throttle_n, 4);
	assert_float_equal(summary.throttle_share[TARE_THROTTLE_IDLE], 0.2, 1e-12);
	assert_float_equal(summary.throttle_share[TARE_THROTTLE_POWER_CAP], 0.5, 0);
	assert_float_equal(summary.throttle_share[TARE_THROTTLE_HEAT], 0.25, 0);
	// A set clock is no slowing down, and two reasons at once are one reading.
	assert_float_equal(summary.slowed_share, 0.5, 0);
	assert_true(isnan(summary.of[TARE_TELEMETRY_OF_POWER].median));
}

static void a_device_that_is_always_idle_still_has_a_clock(void **state)
{
	struct tare_telemetry readings[] = { clock_and_reasons(300, BIT(IDLE)),
		                             clock_and_reasons(345, BIT(IDLE)) };
	struct tare_telemetry_summary summary;
	(void)state;

	assert_int_equal(tare_telemetry_summarise(readings, 2, &summary), 0);
	assert_int_equal(summary.loaded, 0);
	assert_int_equal(summary.of[TARE_TELEMETRY_OF_CLOCK].n, 2);
	assert_float_equal(summary.of[TARE_TELEMETRY_OF_CLOCK].low, 300, 0);
	assert_float_equal(summary.slowed_share, 0, 0);
}

static void what_is_not_told_is_not_a_number(void **state)
{
	struct tare_telemetry nothing = { .present = HAS(POWER), .power_w = 70 };
	struct tare_telemetry_summary summary;
	(void)state;

	assert_int_equal(tare_telemetry_summarise(&nothing, 1, &summary), 0);
	assert_int_equal(summary.loaded, 1);
	assert_int_equal(summary.of[TARE_TELEMETRY_OF_CLOCK].n, 0);
	assert_true(isnan(summary.of[TARE_TELEMETRY_OF_CLOCK].low));
	assert_true(isnan(summary.moved_share));
	assert_true(isnan(summary.slowed_share));
	assert_true(isnan(summary.throttle_share[TARE_THROTTLE_IDLE]));
	assert_float_equal(summary.of[TARE_TELEMETRY_OF_POWER].mean, 70, 0);
	assert_int_equal(tare_telemetry_summarise(NULL, 0, &summary), 0);
	assert_int_equal(summary.readings, 0);
}

static void reasons_have_names(void **state)
{
	static const struct {
		uint64_t bits;
		const char *text;
	} rows[] = {
		{ 0, "no" },
		{ 1, "idle" },
		{ 0x44, "power cap, hardware thermal" },
		{ 0x1ff,
		  "idle, applications clocks, power cap, hardware slowdown, sync boost, thermal, "
		  "hardware thermal, hardware power brake, display clocks" },
		{ UINT64_C(1) << 40 | 4, "power cap, bit 40" },
	};
	char text[256], tiny[8];
	(void)state;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		assert_string_equal(tare_throttle_list(rows[i].bits, text, sizeof text),
		                    rows[i].text);
	assert_string_equal(tare_throttle_list(0x44, tiny, sizeof tiny), "power c");
	assert_int_equal(tare_throttle_of_bit(9), TARE_THROTTLE_OTHER);
	assert_int_equal(tare_throttle_class_of(TARE_THROTTLE_OTHER), TARE_THROTTLE_CLASS_SLOWS);
}

// ---- watching

// What the device's telemetry does, and how often it was asked.
static struct {
	int fails_with, fails_from, slow_ms;
	int slow_at;             // the one reading that lasts 20 ms; 0: none
	int before_ms, after_ms; // how long a thread's reading lasts before and after it is made
	atomic_int asked;
	_Atomic uint64_t clock_hz, throttle;
	uint64_t falling_to; // the clock of every other reading; 0: as above
} script;

static pthread_t measuring;

static int telemetry(struct tare_device *device, struct tare_telemetry *reading,
                     struct tare_error *error)
{
	int asked = script.asked++;
	(void)device;

	bool watcher = !pthread_equal(pthread_self(), measuring);

	if (watcher && script.before_ms)
		nap(script.before_ms * MS);
	if (script.fails_with && asked >= script.fails_from)
		return tare_fail(error, script.fails_with, "the library is not there");
	*reading = clock_and_reasons(script.clock_hz, script.throttle);
	if (script.falling_to && asked % 2)
		reading->clock_hz = script.falling_to;
	if (watcher && script.after_ms)
		nap(script.after_ms * MS);
	if (script.slow_ms)
		nap(script.slow_ms * MS);
	if (script.slow_at && asked == script.slow_at)
		nap(20 * MS);
	return 0;
}

static int64_t virtual_ns;

static struct tare_host_time real_now(struct tare_device *device)
{
	(void)device;
	return tare_host_now();
}

static struct tare_host_time virtual_now(struct tare_device *device)
{
	(void)device;
	return (struct tare_host_time){ virtual_ns };
}

static const struct tare_backend real_backend = {
	.name = "opencl",
	.title = "Real",
	.host_now = real_now,
	.telemetry = telemetry,
};
static const struct tare_backend simulated_backend = {
	.name = "simulated",
	.title = "Simulated",
	.host_now = virtual_now,
	.telemetry = telemetry,
};
static const struct tare_backend dumb_backend = {
	.name = "opencl",
	.title = "Dumb",
	.host_now = real_now,
};

static size_t threads(void)
{
	DIR *tasks = opendir("/proc/self/task");
	size_t count = 0;

	assert_non_null(tasks);
	for (struct dirent *entry; (entry = readdir(tasks));)
		count += entry->d_name[0] != '.';
	closedir(tasks);
	return count;
}

struct bench {
	struct tare_device device;
	struct tare_run run;
	int64_t sample_ns, rest_ns; // how long a sample and what follows it last
	size_t samples, most_threads, mark;
	struct tare_clock_range range;
	int clock_status;
};

static int begin(struct tare_measurement *measurement, struct tare_error *error)
{
	struct bench *bench = measurement->context;
	(void)error;
	bench->mark = tare_telemetry_mark(&bench->run);
	return 0;
}

static int sample(struct tare_measurement *measurement, int64_t *values, struct tare_error *error)
{
	struct bench *bench = measurement->context;
	size_t now = threads();
	(void)error;

	bench->samples++;
	if (now > bench->most_threads)
		bench->most_threads = now;
	if (bench->run.simulated)
		virtual_ns += bench->sample_ns;
	else
		nap(bench->sample_ns);
	values[0] = 1000 + 100 * (int64_t)(bench->samples * 5 % 7); // never settles
	return 0;
}

// At rest the clock falls; nobody must see it.
static int end(struct tare_measurement *measurement, enum tare_verified *verified,
               struct tare_error *error)
{
	struct bench *bench = measurement->context;
	uint64_t before = script.clock_hz;
	(void)error;

	bench->clock_status = tare_telemetry_clock_hz(&bench->run, bench->mark, &bench->range);
	if (bench->rest_ns) {
		script.clock_hz = 100000000;
		nap(bench->rest_ns);
		script.clock_hz = before;
	}
	*verified = TARE_VERIFIED;
	return 0;
}

static void open_bench(struct bench *bench, const struct tare_backend *backend, int64_t budget_ns)
{
	*bench = (struct bench){ .device = { .backend = backend }, .sample_ns = 2 * MS };
	script.clock_hz = script.clock_hz ? (uint64_t)script.clock_hz : 1980000000;
	bench->run = (struct tare_run){ .device = &bench->device,
		                        .budget_ns = budget_ns,
		                        .result = tare_result_new("latency") };
	assert_non_null(bench->run.result);
	assert_int_equal(tare_run_begin(&bench->run, budget_ns, NULL), 0);
	tare_run_restart(&bench->run);
}

static void measure(struct bench *bench, size_t count)
{
	struct tare_measurement measurements[8] = { 0 };

	for (size_t i = 0; i < count; i++) {
		measurements[i].context = bench;
		measurements[i].begin = begin;
		measurements[i].sample = sample;
		measurements[i].end = end;
		assert_non_null(
		    tare_measurement_add(&measurements[i], "time", "ns", "host", "how"));
	}
	assert_int_equal(tare_run_measure(&bench->run, measurements, count, NULL), 0);
	for (size_t i = 0; i < count; i++)
		tare_measurement_clear(&measurements[i]);
	assert_null(bench->run.watch);
}

static int close_bench(struct bench *bench)
{
	tare_result_free(bench->run.result);
	memset(&script, 0, sizeof script);
	return 0;
}

static const struct tare_warning *warning(const struct tare_result *result, const char *id)
{
	const struct tare_warning *found = NULL;

	for (size_t i = 0; i < result->warning_count; i++)
		if (strcmp(result->warnings[i].id, id) == 0) {
			assert_null(found); // said once
			found = &result->warnings[i];
		}
	return found;
}

static void a_thread_watches_while_samples_are_taken_and_then_is_gone(void **state)
{
	size_t before = threads();
	struct bench bench;
	(void)state;

	// A busy machine may let the thread run once in that time; twice it runs, given more.
	open_bench(&bench, &real_backend, 400 * MS);
	measure(&bench, 1);
	for (int again = 0; again < 2 && bench.run.result->telemetry.count < 2; again++) {
		close_bench(&bench);
		open_bench(&bench, &real_backend, 4000 * MS);
		measure(&bench, 1);
	}
	assert_int_equal(bench.most_threads, before + 1);
	// Who was joined is listed for a moment yet.
	for (int turn = 0; turn < 5000 && threads() != before; turn++)
		nap(MS);
	assert_int_equal(threads(), before);
	const struct tare_telemetry_section *section = &bench.run.result->telemetry;
	assert_true(section->present);
	assert_null(section->absent);
	// Asked once more to see whether there is anything. One reading would be the measurement's.
	assert_in_range(section->count, 2, (size_t)script.asked - 1);
	assert_int_equal(section->summary.readings, section->count);
	assert_float_equal(section->summary.of[TARE_TELEMETRY_OF_CLOCK].low, 1980e6, 0);
	assert_int_equal(bench.run.result->warning_count, 0);
	close_bench(&bench);
}

// The thread's reading is under way when samples end: what it read may be the device at rest.
static void readings_at_rest_do_not_count(void **state)
{
	static const struct {
		int before_ms, after_ms;
		int64_t rest_ns;
	} rows[] = {
		{ 50, 10, 150 * MS }, // over while the device rests
		{ 30, 60, 50 * MS },  // over when the next measurement is under way
	};
	(void)state;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct bench bench;
		script.before_ms = rows[i].before_ms;
		script.after_ms = rows[i].after_ms;
		open_bench(&bench, &real_backend, 198 * MS);
		bench.sample_ns = 30 * MS;
		bench.rest_ns = rows[i].rest_ns;
		measure(&bench, 3);
		const struct tare_telemetry_section *section = &bench.run.result->telemetry;
		assert_in_range(section->count, 1, 20);
		assert_float_equal(section->summary.of[TARE_TELEMETRY_OF_CLOCK].low, 1980e6, 0);
		close_bench(&bench);
	}
}

static void readings_that_take_long_are_rare(void **state)
{
	struct bench bench;
	(void)state;

	script.slow_ms = 8;
	open_bench(&bench, &real_backend, 400 * MS);
	measure(&bench, 1);
	// 8 ms may be spent only every 1.6 s: the first of the thread, and none after it.
	assert_in_range(bench.run.result->telemetry.count, 1, 2);
	close_bench(&bench);
}

// On a busy machine one does, and says nothing of the others.
static void one_reading_that_takes_long_makes_none_rare(void **state)
{
	size_t count = 0;
	(void)state;

	for (int turn = 0; turn < 10 && count < 6; turn++) {
		struct bench bench;
		script.slow_at = 2;
		open_bench(&bench, &real_backend, 600 * MS);
		measure(&bench, 1);
		count = bench.run.result->telemetry.count;
		close_bench(&bench);
	}
	// After the slow one the next comes within 50 ms, not 1 s later.
	assert_true(count >= 6);
}

static void the_simulated_device_is_read_once_a_measurement_without_a_thread(void **state)
{
	size_t before = threads();
	(void)state;

	for (int again = 0; again < 2; again++) {
		struct bench bench;
		virtual_ns = 5;
		open_bench(&bench, &simulated_backend, 400 * MS);
		measure(&bench, 3);
		assert_int_equal(bench.most_threads, before);
		assert_int_equal(bench.run.result->telemetry.count, 3);
		assert_int_equal(script.asked, 4);
		close_bench(&bench);
	}
}

static void what_cannot_be_watched_is_absent_with_the_reason(void **state)
{
	struct bench bench;
	(void)state;

	open_bench(&bench, &dumb_backend, 20 * MS);
	measure(&bench, 1);
	assert_non_null(strstr(bench.run.result->telemetry.absent, "telemetry"));
	assert_int_equal(bench.run.result->warning_count, 0);
	close_bench(&bench);

	script.fails_with = ENOTSUP;
	open_bench(&bench, &real_backend, 20 * MS);
	measure(&bench, 1);
	measure(&bench, 1);
	assert_string_equal(bench.run.result->telemetry.absent, "the library is not there");
	const struct tare_warning *said = warning(bench.run.result, "not-watched");
	assert_non_null(said);
	assert_non_null(strstr(said->message, "the library is not there"));
	assert_non_null(strstr(said->action, "management library"));
	assert_int_equal(tare_telemetry_clock_hz(&bench.run, 0, &bench.range), -ENODATA);
	assert_true(isnan(bench.range.median_hz));
	close_bench(&bench);
}

static void telemetry_that_fails_midway_costs_no_figure(void **state)
{
	struct bench bench;
	(void)state;

	script.fails_with = EIO;
	script.fails_from = 1;
	open_bench(&bench, &real_backend, 120 * MS);
	measure(&bench, 1);
	assert_null(bench.run.result->cells[0].absent);
	assert_non_null(strstr(bench.run.result->telemetry.absent, "no answer"));
	close_bench(&bench);
}

static void a_mark_tells_one_measurements_clock(void **state)
{
	struct bench bench;
	(void)state;

	virtual_ns = 5;
	open_bench(&bench, &simulated_backend, 400 * MS);
	script.clock_hz = 1000000000;
	measure(&bench, 1);
	assert_int_equal(bench.clock_status, 0);
	assert_float_equal(bench.range.median_hz, 1e9, 0);
	script.clock_hz = 2000000000;
	measure(&bench, 1);
	assert_float_equal(bench.range.low_hz, 2e9, 0);
	assert_int_equal(bench.range.readings, 1);
	assert_float_equal(bench.range.slowed_share, 0, 0);
	script.throttle = BIT(POWER_CAP) | BIT(SETTING);
	measure(&bench, 1);
	assert_float_equal(bench.range.slowed_share, 1, 0);
	assert_true(bench.range.slowed_by == BIT(POWER_CAP));
	script.throttle = 0;
	measure(&bench, 1);
	assert_float_equal(bench.range.slowed_share, 0, 0);
	assert_int_equal(tare_telemetry_clock_hz(&bench.run, 0, &bench.range), 0);
	assert_float_equal(bench.range.low_hz, 1e9, 0);
	assert_float_equal(bench.range.median_hz, 2e9, 0);
	assert_float_equal(bench.range.high_hz, 2e9, 0);
	assert_int_equal(bench.range.readings, 4);
	assert_int_equal(tare_telemetry_clock_hz(&bench.run, 99, &bench.range), -ENODATA);
	// A device that called itself idle all the time tells of no clock under load.
	script.throttle = BIT(IDLE);
	script.clock_hz = 345000000;
	measure(&bench, 1);
	assert_int_equal(bench.clock_status, -ENODATA);
	assert_int_equal(tare_telemetry_clock_hz(&bench.run, 0, &bench.range), 0);
	assert_int_equal(bench.range.readings, 4);
	close_bench(&bench);
}

static void a_device_that_is_held_back_is_warned_of(void **state)
{
	static const struct {
		uint64_t throttle, falls_to;
		const char *id, *message, *action;
	} rows[] = {
		{ BIT(POWER_CAP), 0, "throttled", "power cap in 100 % of the readings",
		  "nvidia-smi -pl" },
		{ BIT(HEAT), 0, "throttled", "thermal in 100 %", "cooling" },
		{ BIT(POWER_BRAKE), 0, "throttled", "hardware power brake", "power supply" },
		{ UINT64_C(1) << 50, 0, "throttled", "another reason", "PERFORMANCE" },
		{ BIT(SETTING), 0, "clock-limited", "applications clocks", "-rac" },
		{ 0, 1900000000, "clock-moved", "between 1.90 GHz and 1.98 GHz", "-lgc" },
		// One matter, one warning.
		{ BIT(POWER_CAP), 1900000000, "throttled",
		  "100 % of the readings; its clock moved between 1.90 GHz and 1.98 GHz",
		  "per clock" },
	};
	(void)state;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct bench bench;
		const struct tare_warning *said;
		virtual_ns = 5;
		script.throttle = rows[i].throttle;
		script.falling_to = rows[i].falls_to;
		open_bench(&bench, &simulated_backend, 400 * MS);
		measure(&bench, 2);
		measure(&bench, 2);
		assert_int_equal(bench.run.result->warning_count, 1);
		said = warning(bench.run.result, rows[i].id);
		assert_non_null(said);
		assert_non_null(strstr(said->message, rows[i].message));
		assert_non_null(strstr(said->action, rows[i].action));
		close_bench(&bench);
	}
}

// The clock moved first, and only later readings tell why.
static void a_reason_takes_the_place_of_a_clock_that_moved(void **state)
{
	struct bench bench;
	(void)state;

	virtual_ns = 5;
	script.falling_to = 1900000000;
	open_bench(&bench, &simulated_backend, 400 * MS);
	measure(&bench, 2);
	measure(&bench, 2);
	assert_non_null(warning(bench.run.result, "clock-moved"));
	script.throttle = BIT(POWER_CAP);
	measure(&bench, 2);
	assert_non_null(warning(bench.run.result, "throttled"));
	assert_int_equal(bench.run.result->warning_count, 1);
	close_bench(&bench);
}

static void a_steady_or_idle_device_is_not(void **state)
{
	static const struct {
		uint64_t throttle, falls_to;
	} rows[] = {
		{ 0, 0 },
		{ BIT(IDLE), 0 },
		{ 0, 1965000000 },
	};
	(void)state;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct bench bench;
		virtual_ns = 5;
		script.throttle = rows[i].throttle;
		script.falling_to = rows[i].falls_to;
		open_bench(&bench, &simulated_backend, 400 * MS);
		measure(&bench, 4);
		assert_int_equal(bench.run.result->warning_count, 0);
		close_bench(&bench);
	}
}

static void *nothing(void *context)
{
	return context;
}

int main(void)
{
	pthread_t first;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(idle_readings_do_not_count_beside_others),
		cmocka_unit_test(a_device_that_is_always_idle_still_has_a_clock),
		cmocka_unit_test(what_is_not_told_is_not_a_number),
		cmocka_unit_test(reasons_have_names),
		cmocka_unit_test(a_thread_watches_while_samples_are_taken_and_then_is_gone),
		cmocka_unit_test(readings_at_rest_do_not_count),
		cmocka_unit_test(readings_that_take_long_are_rare),
		cmocka_unit_test(one_reading_that_takes_long_makes_none_rare),
		cmocka_unit_test(the_simulated_device_is_read_once_a_measurement_without_a_thread),
		cmocka_unit_test(what_cannot_be_watched_is_absent_with_the_reason),
		cmocka_unit_test(telemetry_that_fails_midway_costs_no_figure),
		cmocka_unit_test(a_mark_tells_one_measurements_clock),
		cmocka_unit_test(a_device_that_is_held_back_is_warned_of),
		cmocka_unit_test(a_reason_takes_the_place_of_a_clock_that_moved),
		cmocka_unit_test(a_steady_or_idle_device_is_not),
	};

	measuring = pthread_self();
	// A sanitizer may start a thread of its own beside a program's first.
	if (pthread_create(&first, NULL, nothing, NULL) == 0)
		pthread_join(first, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
