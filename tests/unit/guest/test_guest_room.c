// SPDX-License-Identifier: Apache-2.0
// The recorder's core without room: --max-size with either --keep, file limits, a full disk.
#include "guest/internal.h"
#include "guest_trace.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include <cmocka.h>

enum { MANY = 60000 };

static void oldest_are_kept(void **state)
{
	static const uint64_t windows[] = { 2, 3, 5, 8 };
	(void)state;
	for (size_t i = 0; i < sizeof windows / sizeof *windows; i++) {
		uint64_t count = MANY, number = 0;
		struct guest_place place = { 0 };
		const union tare_trace_record *record;
		struct guest_trace trace;
		char options[64];
		snprintf(options, sizeof options, "max=%llu",
		         (unsigned long long)(TARE_TRACE_HEADER_BYTES +
		                              windows[i] * TARE_TRACE_WINDOW_BYTES + 17));
		set_up(NULL);
		assert_int_equal(run_recorded(folder, options, write_commands, &count), 0);
		trace = only_trace();
		assert_int_equal(trace.size,
		                 TARE_TRACE_HEADER_BYTES + windows[i] * TARE_TRACE_WINDOW_BYTES);
		while ((record = next_record(&trace, &place)))
			if (tare_trace_type(record->head) == TARE_TRACE_COMMAND)
				assert_int_equal(record->command.number, ++number);
		assert_true(number >= 4000);
		assert_int_equal(trace.header->lost_commands, MANY - number);
		assert_true(trace.header->lost_records >= trace.header->lost_commands);
		assert_int_equal(trace.header->state, TARE_TRACE_STOPPED);
		assert_int_equal(trace.header->stop_reason, TARE_TRACE_MAX_SIZE);
		assert_true(trace.header->end_ticks > trace.header->start_ticks);
		assert_int_equal(trace.header->recycled_records, 0);
		unload(&trace);
		tear_down(NULL);
	}
}

static int define_between_commands(void *argument)
{
	(void)argument;
	guest_begin(&plain_api);
	for (uint32_t i = 0; i < MANY; i++) {
		union tare_trace_record object = { .object = {
			                               .head =
			                                   tare_trace_head(TARE_TRACE_OBJECT, 0,
			                                                   TARE_OBJECT_MEMORY, 0),
			                               .number = i / 10,
			                           } };
		write_command(guest_thread());
		if (i % 10 == 0)
			guest_define(&object);
	}
	return 0;
}

static void newest_are_kept_and_definitions_too(void **state)
{
	static const uint64_t windows[] = { 4, 5, 6, 20 };
	(void)state;
	for (size_t i = 0; i < sizeof windows / sizeof *windows; i++) {
		struct guest_place place = { 0 };
		const union tare_trace_record *record;
		struct guest_trace trace;
		uint64_t number = 0, commands = 0;
		char options[64];
		snprintf(options, sizeof options, "keep=newest,max=%llu",
		         (unsigned long long)(TARE_TRACE_HEADER_BYTES +
		                              windows[i] * TARE_TRACE_WINDOW_BYTES));
		set_up(NULL);
		assert_int_equal(run_recorded(folder, options, define_between_commands, NULL), 0);
		trace = only_trace();
		assert_true(trace.size <=
		            TARE_TRACE_HEADER_BYTES + windows[i] * TARE_TRACE_WINDOW_BYTES);
		while ((record = next_record(&trace, &place))) {
			if (tare_trace_type(record->head) != TARE_TRACE_COMMAND)
				continue;
			// No hole: the oldest are those that were given up.
			if (commands++)
				assert_int_equal(record->command.number, number + 1);
			number = record->command.number;
		}
		assert_int_equal(number, MANY);
		assert_int_equal(commands + trace.header->recycled_commands, MANY);
		assert_int_equal(count_records(&trace, TARE_TRACE_OBJECT), MANY / 10);
		assert_int_equal(trace.header->lost_records, 0);
		assert_int_equal(trace.header->state, TARE_TRACE_ENDED);
		assert_true(trace.header->flags & TARE_TRACE_KEEP_NEWEST);
		unload(&trace);
		tear_down(NULL);
	}
}

// Another thread, which finds no room at first.
static void *lose_some(void *argument)
{
	for (int i = 0; i < 10; i++)
		if (write_command(guest_thread()) || guest_event(guest_thread()))
			return argument;
	atomic_store(&guest_file.full, TARE_TRACE_NOT_STOPPED);
	return write_command(guest_thread()) ? NULL : argument;
}

static int lose_for_a_while(void *argument)
{
	struct tare_trace_window *window;
	pthread_t thread;
	void *failed = argument;
	guest_begin(&plain_api);
	atomic_store(&guest_file.full, TARE_TRACE_MAX_SIZE);
	pause_ns(30000000); // the helper has got its own
	while ((window = guest_window_claim(guest_thread(), false)))
		;
	if (pthread_create(&thread, NULL, lose_some, argument))
		return 1;
	pthread_join(thread, &failed);
	return failed != NULL;
}

static void loss_is_told_when_there_is_room_again(void **state)
{
	struct guest_place place = { 0 };
	const union tare_trace_record *record, *loss = NULL;
	struct guest_trace trace;
	(void)state;
	assert_int_equal(run_recorded(folder, "keep=newest", lose_for_a_while, folder), 0);
	trace = only_trace();
	while ((record = next_record(&trace, &place))) {
		if (tare_trace_type(record->head) == TARE_TRACE_LOSS && record->loss.commands) {
			assert_null(loss);
			loss = record;
		}
		if (tare_trace_type(record->head) == TARE_TRACE_COMMAND) {
			assert_non_null(loss); // it stands before what could be written again
			assert_int_equal(record->command.number, 11);
			assert_int_equal(tare_trace_track(record->head),
			                 tare_trace_track(loss->head));
		}
	}
	assert_non_null(loss);
	assert_int_equal(loss->loss.records, 20);
	assert_int_equal(loss->loss.commands, 10);
	assert_true(loss->loss.from > trace.header->start_ticks);
	assert_true(loss->loss.to > loss->loss.from);
	assert_int_equal(trace.header->lost_commands, 10);
	unload(&trace);
}

struct limited {
	uint64_t bytes;
};

static int write_with_a_limit(void *argument)
{
	const struct limited *limited = argument;
	struct rlimit limit = { limited->bytes, limited->bytes };
	uint64_t count = MANY;
	setrlimit(RLIMIT_FSIZE, &limit);
	return write_commands(&count);
}

static void file_limit_harms_nobody(void **state)
{
	static const struct limited limits[] = {
		{ 0 }, { 4095 }, { 4096 }, { 266239 }, { 266240 }, { 1000000 }, { 3000000 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
		struct limited limited = limits[i];
		struct guest_trace trace;
		int status;
		set_up(NULL);
		status = run_recorded(folder, "", write_with_a_limit, &limited);
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), limited.bytes < 4096);
		if (limited.bytes >= 4096) {
			trace = only_trace();
			assert_true(trace.size <= limited.bytes);
			assert_int_equal(trace.header->state, TARE_TRACE_STOPPED);
			assert_int_equal(trace.header->stop_reason, TARE_TRACE_FILE_LIMIT);
			assert_int_equal(count_records(&trace, TARE_TRACE_COMMAND) +
			                     trace.header->lost_commands,
			                 MANY);
			unload(&trace);
		}
		tear_down(NULL);
	}
}

enum { NOT_PERMITTED = 77 };

// What the full disk holds is copied out, for it is gone with this process.
static int write_on_a_full_disk(void *argument)
{
	struct guest_trace *trace = argument;
	char mount_point[300];
	uint64_t count = MANY;
	pid_t child;
	int status;
	snprintf(mount_point, sizeof mount_point, "%s/disk", folder);
	mkdir(mount_point, 0700);
	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", mount_point, "tmpfs", 0, "size=1200k"))
		return NOT_PERMITTED;
	setenv("TARE_RECORD", mount_point, 1);
	child = fork();
	if (!child)
		exit(write_commands(&count));
	waitpid(child, &status, 0);
	if (status || load_files(mount_point, trace, 1) != 1)
		return 1;
	if (trace->header->stop_reason != TARE_TRACE_NO_SPACE ||
	    trace->header->stop_error != ENOSPC || trace->header->state != TARE_TRACE_STOPPED)
		return 2;
	if (count_records(trace, TARE_TRACE_COMMAND) + trace->header->lost_commands != MANY)
		return 3;
	return !count_records(trace, TARE_TRACE_COMMAND);
}

static void full_disk_harms_nobody(void **state)
{
	struct guest_trace trace = { 0 };
	char mount_point[300];
	int status = run_recorded(folder, "", write_on_a_full_disk, &trace);
	(void)state;
	snprintf(mount_point, sizeof mount_point, "%s/disk", folder);
	rmdir(mount_point);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == NOT_PERMITTED) {
		printf("# SKIP %s: a disk of its own cannot be mounted here\n", __func__);
		return;
	}
	assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(oldest_are_kept),
		cmocka_unit_test(newest_are_kept_and_definitions_too),
		TEST(loss_is_told_when_there_is_room_again),
		cmocka_unit_test(file_limit_harms_nobody),
		TEST(full_disk_harms_nobody),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
