// SPDX-License-Identifier: Apache-2.0
// The recorder's core in a process with one thread, which has no other for the recorder's sake, and
// what becomes of it with the second.
#include "guest_trace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void *write_one(void *argument)
{
	write_command(guest_thread());
	return argument;
}

static uint64_t count_helpers(const struct guest_trace *trace)
{
	struct guest_place place = { 0 };
	const union tare_trace_record *record;
	uint64_t tracks = 0, changes = 0;
	while ((record = next_record(trace, &place))) {
		uint16_t detail = tare_trace_detail(record->head);
		tracks += tare_trace_type(record->head) == TARE_TRACE_TRACK &&
		          detail == TARE_TRACE_HELPER;
		changes += tare_trace_type(record->head) == TARE_TRACE_CHANGE &&
		           detail == TARE_CHANGE_HELPER;
	}
	assert_int_equal(tracks, changes);
	return tracks;
}

// Writes commands for some time, with the clocks that calls read.
static void write_for_ns(uint64_t ns)
{
	uint64_t until = raw_ns() + ns;
	do {
		for (int i = 0; i < 100; i++)
			write_command(guest_thread());
		guest_cpu_time(guest_thread(), 0, guest_ticks());
	} while (raw_ns() < until);
}

static _Atomic int lone_harvests;

static void count_harvest(void)
{
	atomic_fetch_add(&lone_harvests, 1);
}

static int stay_alone(void *argument)
{
	uint64_t alive, sampled;
	(void)argument;
	static const struct guest_api counted = { .api = TARE_TRACE_OPENCL,
		                                  .harvest = count_harvest };
	guest_begin(&counted);
	sampled = guest_header->process_cpu_ns;
	// Harvests are 10 ms apart or more, and with the third the clocks have been paired after 10
	// and 20 ms more, however long others had the processor meanwhile.
	while (atomic_load(&lone_harvests) < 3)
		write_for_ns(1000000);
	if (count_tasks() != 1)
		return 2;
	alive = guest_header->alive_ticks; // no window is claimed here
	pause_ns(2000000);
	guest_cpu_time(guest_thread(), 0, guest_ticks());
	if (guest_header->alive_ticks == alive || guest_header->process_cpu_ns == sampled)
		return 3;
	raise(SIGKILL);
	return 4;
}

// What the helper does is done all the same, also in a process that is killed.
static void one_thread_stays_alone(void **state)
{
	struct guest_place place = { 0 };
	const union tare_trace_record *record;
	size_t pairs = 0, samples = 0;
	struct guest_trace trace;
	int status;
	(void)state;
	if (!KNOWS_ALONE) {
		printf("# SKIP %s: not known to be alone\n", __func__);
		return;
	}
	status = run_recorded(folder, "", stay_alone, NULL);
	assert_true(WIFSIGNALED(status));
	trace = only_trace();
	while ((record = next_record(&trace, &place))) {
		uint16_t detail = tare_trace_detail(record->head);
		pairs += tare_trace_type(record->head) == TARE_TRACE_CLOCK_PAIR &&
		         detail == TARE_CLOCK_REALTIME;
		samples += tare_trace_type(record->head) == TARE_TRACE_CPU_TIME && detail == 1;
	}
	assert_true(pairs >= 3); // at the beginning, after 10 ms, after 20 more
	assert_true(samples >= 1);
	assert_int_equal(count_helpers(&trace), 0);
	assert_int_equal(trace.header->lost_records, 0);
	assert_int_equal(trace.header->helper_cpu_ns, 0);
	unload(&trace);
}

static int get_a_thread(void *argument)
{
	bool calls = *(int *)argument != 0, known = KNOWS_ALONE;
	int tasks;
	pthread_t thread;
	guest_begin(&plain_api);
	for (int i = 0; i < 1000; i++)
		write_command(guest_thread());
	guest_cpu_time(guest_thread(), 0, guest_ticks());
	tasks = count_tasks();
	if (known && tasks != 1)
		return 2;
	if (calls) {
		// Its first call tells; this thread makes none meanwhile.
		if (pthread_create(&thread, NULL, write_one, NULL))
			return 1;
		pthread_join(thread, NULL);
	} else {
		start_idle_thread();
		tasks++;
	}
	for (uint64_t turns = 0; known && count_tasks() <= tasks; turns++) {
		if (turns > 20000)
			return 3;
		if (!calls)
			guest_cpu_time(guest_thread(), 0, guest_ticks());
		pause_ns(100000);
	}
	// It is there, and on a busy machine may not have come to its first round: only that shows
	// in alive_ticks now.
	for (uint64_t turns = 0, there = guest_ticks();
	     known && __atomic_load_n(&guest_header->alive_ticks, __ATOMIC_RELAXED) < there;
	     turns++) {
		if (turns > 200000)
			return 4;
		pause_ns(100000);
	}
	for (int i = 0; i < 20000; i++)
		write_command(guest_thread());
	return 0;
}

static void helper_comes_with_the_second_thread(void **state)
{
	(void)state;
	for (int calls = 0; calls < 2; calls++) {
		struct guest_trace trace;
		set_up(NULL);
		assert_int_equal(run_recorded(folder, "", get_a_thread, &calls), 0);
		trace = only_trace();
		assert_int_equal(count_records(&trace, TARE_TRACE_COMMAND), 21000 + calls);
		if (KNOWS_ALONE)
			assert_int_equal(count_helpers(&trace), 1);
		assert_int_equal(trace.header->lost_records, 0);
		unload(&trace);
		tear_down(NULL);
	}
}

static int fork_alone(void *argument)
{
	int status;
	(void)argument;
	guest_begin(&plain_api);
	write_for_ns(0);
	pid_t child = fork();
	if (!child) {
		write_for_ns(20000000);
		exit(count_tasks() == 1 ? 0 : 2);
	}
	write_for_ns(20000000);
	return waitpid(child, &status, 0) != child || status || count_tasks() != 1;
}

static void child_of_one_thread_is_alone_too(void **state)
{
	struct guest_trace traces[2] = { 0 };
	(void)state;
	if (!KNOWS_ALONE) {
		printf("# SKIP %s: not known to be alone\n", __func__);
		return;
	}
	assert_int_equal(run_recorded(folder, "", fork_alone, NULL), 0);
	assert_int_equal(load_files(folder, traces, 2), 2);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(count_helpers(&traces[i]), 0);
		assert_int_equal(traces[i].header->state, TARE_TRACE_ENDED);
		assert_true(count_records(&traces[i], TARE_TRACE_COMMAND) >= 100);
		unload(&traces[i]);
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(one_thread_stays_alone),
		cmocka_unit_test(helper_comes_with_the_second_thread),
		TEST(child_of_one_thread_is_alone_too),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
