// SPDX-License-Identifier: Apache-2.0
// Clocks, CPU times and costs that the recorder's core records.
#include "guest_trace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/prctl.h>

#include <cmocka.h>

static int compute_for_a_while(void *argument)
{
	(void)argument;
	guest_begin(&plain_api);
	// and often: a busy machine may stop it for most of that
	uint64_t until = raw_ns() + 60000000;
	for (int count = 0; raw_ns() < until || count < 20000; count++)
		guest_cpu_time(guest_thread(), 0, guest_ticks());
	return 0;
}

static void clocks_and_cpu_times_are_recorded(void **state)
{
	struct guest_place place = { 0 };
	const union tare_trace_record *record;
	struct guest_trace trace;
	const struct tare_trace_header *header;
	uint64_t cpu_ns = 0, ticks = 0;
	size_t pairs[4] = { 0 }, own = 0, process = 0;
	(void)state;
	assert_int_equal(run_recorded(folder, "", compute_for_a_while, NULL), 0);
	trace = only_trace();
	header = trace.header;
	while ((record = next_record(&trace, &place))) {
		uint16_t detail = tare_trace_detail(record->head);
		if (tare_trace_type(record->head) == TARE_TRACE_CLOCK_PAIR) {
			const struct tare_trace_clock_pair *pair = &record->clock_pair;
			assert_in_range(detail, TARE_CLOCK_RAW, TARE_CLOCK_REALTIME);
			assert_true(pair->before <= pair->after);
			pairs[detail]++;
			if (detail == TARE_CLOCK_RAW) {
				double passed = (double)(pair->before - header->start_ticks) * 1e9 /
				                (double)header->host_hz;
				double error =
				    passed - (double)((int64_t)pair->value - header->start_raw_ns);
				assert_true(error < 0.01 * passed + 10000 &&
				            error > -0.01 * passed - 10000);
			}
		}
		if (tare_trace_type(record->head) != TARE_TRACE_CPU_TIME)
			continue;
		process += detail == 1;
		if (tare_trace_track(record->head) != 1 || detail)
			continue;
		assert_true(record->cpu_time.cpu_ns >= cpu_ns && record->cpu_time.ticks > ticks);
		cpu_ns = record->cpu_time.cpu_ns;
		ticks = record->cpu_time.ticks;
		own++;
	}
	assert_true(own >= 3 && process >= 1);
	assert_true(pairs[TARE_CLOCK_MONOTONIC] >= 2 && pairs[TARE_CLOCK_REALTIME] >= 2);
	if (header->host_clock == TARE_TRACE_CLOCK_TSC)
		assert_true(pairs[TARE_CLOCK_RAW] >= 2);
	assert_true(header->process_cpu_ns >= cpu_ns);
	unload(&trace);
}

static int measure_cost(void *argument)
{
	double least = 1e9;
	(void)argument;
	guest_begin(&plain_api);
	for (int turn = 0; turn < 20; turn++) {
		uint64_t from = raw_ns();
		double each;
		for (int i = 0; i < 2000; i++)
			write_command(guest_thread());
		each = (double)(raw_ns() - from) / 2000;
		if (each < least)
			least = each;
		pause_ns(3000000); // the helper gets ahead, as it does in a program that also works
	}
	printf("# %.1f ns a record without its time stamps, least of 20 times 2000\n", least);
	fflush(stdout);
	return 0;
}

static void cost_is_printed(void **state)
{
	(void)state;
	assert_int_equal(run_recorded(folder, "", measure_cost, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(clocks_and_cpu_times_are_recorded, set_up,
		                                tear_down),
		cmocka_unit_test_setup_teardown(cost_is_printed, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
