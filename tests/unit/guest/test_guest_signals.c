// SPDX-License-Identifier: Apache-2.0
// The recorder's core in the middle of signals. Built a second time for ThreadSanitizer.
#include "guest_trace.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/time.h>

#include <cmocka.h>

static volatile sig_atomic_t handled;
static sigjmp_buf jump;
static volatile sig_atomic_t jumps;

static void write_in_handler(int signal)
{
	(void)signal;
	if (!guest_thread())
		return;
	for (int i = 0; i < 5; i++)
		handled += write_command(guest_thread());
	guest_string("in a handler", 12);
}

// Commands here take their numbers in the order of claiming, so that a handler's stand behind.
static bool write_slowly(uint32_t value)
{
	struct guest_thread *thread = guest_thread();
	union tare_trace_record *record = guest_event(thread);
	if (!record)
		return false;
	for (size_t i = 1; i < 8; i++) {
		((volatile uint64_t *)record->words)[i] = value;
		// Some take long, so that signals come while they are filled; most do not, so that
		// signals come while a place is taken.
		for (volatile int wait = 0; value % 16 == 0 && wait < 20; wait++)
			;
	}
	guest_commit(record, tare_trace_head(TARE_TRACE_PHASE, 0, 0, thread->track));
	return true;
}

enum { IN_STORM = 300000 };

static int write_in_a_storm(void *argument)
{
	struct itimerval every = { { 0, 50 }, { 0, 50 } };
	uint32_t written = 0;
	guest_begin(&plain_api);
	signal(SIGALRM, write_in_handler);
	setitimer(ITIMER_REAL, &every, NULL);
	for (uint32_t i = 1; i <= IN_STORM; i++) {
		written += write_slowly(i);
		if (i % 256 == 0)
			guest_string("outside", 7);
	}
	signal(SIGALRM, SIG_IGN);
	*(uint32_t *)argument = (uint32_t)handled;
	return written != IN_STORM;
}

static int store_handled(void *argument)
{
	uint32_t in_handlers = 0;
	int status = write_in_a_storm(&in_handlers);
	FILE *file = fopen(argument, "w");
	if (!file)
		return 1;
	fprintf(file, "%u", in_handlers);
	fclose(file);
	return status;
}

static void handlers_may_record_in_the_middle(void **state)
{
	struct guest_place place = { 0 };
	const union tare_trace_record *record;
	struct guest_trace trace;
	uint64_t number = 0, phase = 0, commands = 0;
	unsigned in_handlers = 0;
	char path[300];
	FILE *file;
	(void)state;
	snprintf(path, sizeof path, "%s/handled", folder);
	assert_int_equal(run_recorded(folder, "", store_handled, path), 0);
	file = fopen(path, "r");
	assert_non_null(file);
	assert_int_equal(fscanf(file, "%u", &in_handlers), 1);
	fclose(file);
	trace = only_trace();
	while ((record = next_record(&trace, &place))) {
		assert_int_not_equal(tare_trace_type(record->head), TARE_TRACE_VOID);
		if (tare_trace_type(record->head) == TARE_TRACE_PHASE) {
			assert_int_equal(record->words[1], ++phase);
			for (size_t i = 2; i < 8; i++)
				assert_int_equal(record->words[i], phase);
		}
		if (tare_trace_type(record->head) != TARE_TRACE_COMMAND)
			continue;
		assert_true(is_whole(record));
		assert_true(record->command.number > number);
		number = record->command.number;
		commands++;
	}
	assert_int_equal(phase, IN_STORM);
	assert_int_equal(commands, in_handlers);
	assert_true(in_handlers > 0);
	assert_int_equal(trace.header->lost_records, 0);
	unload(&trace);
}

static void jump_out(int signal)
{
	(void)signal;
	jumps++;
	write_command(guest_thread());
	siglongjmp(jump, 1);
}

static int jump_out_of_records(void *argument)
{
	(void)argument;
	guest_begin(&plain_api);
	signal(SIGUSR1, jump_out);
	for (volatile int i = 0; i < 10000; i++)
		if (!sigsetjmp(jump, 1)) {
			struct guest_thread *thread = guest_thread();
			union tare_trace_record *record = guest_event(thread);
			if (!record)
				return 1;
			if (i % 10 == 0)
				raise(SIGUSR1);
			guest_commit(record,
			             tare_trace_head(TARE_TRACE_PHASE, 0, 0, thread->track));
		}
	return jumps != 1000;
}

static void handlers_that_never_return_hide_nothing(void **state)
{
	struct guest_trace trace;
	(void)state;
	assert_int_equal(run_recorded(folder, "", jump_out_of_records, NULL), 0);
	trace = only_trace();
	assert_int_equal(count_records(&trace, TARE_TRACE_COMMAND), 1000);
	assert_int_equal(count_records(&trace, TARE_TRACE_PHASE), 9000);
	assert_int_equal(count_records(&trace, TARE_TRACE_VOID), 1000);
	unload(&trace);
}

enum { KERNEL = 5 };

static void begin_row(struct guest_thread *thread, struct guest_launches *row)
{
	union tare_trace_record *record = guest_command(thread);
	if (!record)
		exit(1);
	record->command = (struct tare_trace_command){ .enter = 1000,
		                                       .call_ticks = 10,
		                                       .number = guest_next_number(thread),
		                                       .object = KERNEL };
	guest_commit(record, tare_trace_head(TARE_TRACE_COMMAND, 0, 1, thread->track));
	guest_launches_begin(row, record, thread->windows);
}

// A row of which the last record has room for no more, and what comes to the next launch between
// its place and its numbers: another command of this thread, or a call of more than 2^32 ticks.
static int interrupt_a_row(void *argument)
{
	const bool handler = *(const bool *)argument;
	struct guest_launches row = { 0 };
	uint32_t room = 0;
	guest_begin(&plain_api);
	struct guest_thread *thread = guest_thread();
	begin_row(thread, &row);
	const uint32_t first = row.number;
	for (uint32_t i = 1; i <= TARE_LAUNCHES_MOST; i++)
		if (!guest_launches_more(thread, &row, first + i, row.exit + 5, row.exit + 25))
			return 2;
	const uint64_t enter = row.exit + 5;
	const uint32_t number = row.number + 1;
	union tare_trace_record *place = guest_launches_place(thread, &row, &room);
	if (!place || room != TARE_LAUNCHES_MOST || row.last)
		return 3;
	if (handler && !write_command(thread))
		return 4;
	const uint64_t exit = enter + (handler ? 20 : UINT64_C(1) << 33);
	if (guest_launches_put_in(thread, &row, place, room, number, enter, exit))
		return 5;
	if (tare_trace_type(place->head) != TARE_TRACE_VOID)
		return 6;
	// It has a record of its own, and a row goes on from there.
	begin_row(thread, &row);
	return !guest_launches_more(thread, &row, row.number + 1, row.exit + 5, row.exit + 25);
}

static void launches_leave_what_they_cannot_fill(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		bool handler = i == 1;
		assert_int_equal(run_recorded(folder, "", interrupt_a_row, &handler), 0);
		struct guest_trace trace = only_trace();
		struct guest_place place = { 0 };
		const union tare_trace_record *record;
		uint32_t number = 0;
		while ((record = next_record(&trace, &place)))
			if (tare_trace_type(record->head) == TARE_TRACE_COMMAND)
				assert_int_equal(record->command.number, ++number);
		assert_int_equal(number, 1 + TARE_LAUNCHES_MOST + handler + 2);
		assert_int_equal(count_records(&trace, TARE_TRACE_VOID), 1);
		assert_int_equal(trace.header->lost_records, 0);
		unload(&trace);
		tear_down(state);
		set_up(state);
	}
}

int main(int argc, char **argv)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(handlers_may_record_in_the_middle),
		TEST(handlers_that_never_return_hide_nothing),
		TEST(launches_leave_what_they_cannot_fill),
	};
	if (argc == 2 && !strcmp(argv[1], "--probe"))
		return 0;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
