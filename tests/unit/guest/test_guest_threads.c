// SPDX-License-Identifier: Apache-2.0
// The recorder's core under threads and forks. Built a second time for ThreadSanitizer.
#include "guest_trace.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/time.h>

#include <cmocka.h>

enum { MOST_TRACKS = 12000 };

struct tracks {
	uint32_t defined[MOST_TRACKS], last[MOST_TRACKS];
	uint64_t commands, tracks;
};

static uint64_t last_ticks(const struct guest_trace *trace)
{
	struct guest_place place = { 0 };
	const union tare_trace_record *record;
	uint64_t ticks = 0;
	while ((record = next_record(trace, &place)))
		if (tare_trace_type(record->head) == TARE_TRACE_PHASE &&
		    record->phase.ticks > ticks)
			ticks = record->phase.ticks;
	return ticks;
}

// Each track's commands, which must be whole and in order, after its definition.
static void count_tracks(const struct guest_trace *trace, struct tracks *tracks)
{
	struct guest_place place = { 0 };
	const union tare_trace_record *record;
	memset(tracks, 0, sizeof *tracks);
	while ((record = next_record(trace, &place))) {
		uint32_t track = tare_trace_track(record->head);
		assert_in_range(track, 1, MOST_TRACKS - 1);
		if (tare_trace_type(record->head) == TARE_TRACE_TRACK) {
			assert_int_equal(tracks->defined[track]++, 0);
			tracks->tracks++;
		}
		if (tare_trace_type(record->head) != TARE_TRACE_COMMAND)
			continue;
		assert_true(is_whole(record));
		assert_int_equal(record->command.number, ++tracks->last[track]);
		tracks->commands++;
	}
	for (size_t i = 0; i < MOST_TRACKS; i++)
		if (tracks->last[i])
			assert_int_equal(tracks->defined[i], 1);
}

enum { THREADS = 8, EACH = 9000 };

static void *write_each(void *argument)
{
	for (int i = 0; i < *(int *)argument; i++)
		write_command(guest_thread());
	return NULL;
}

static int write_from_threads(void *argument)
{
	pthread_t threads[THREADS];
	guest_begin(&plain_api);
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, write_each, argument))
			return 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

static void each_thread_has_its_track(void **state)
{
	static struct tracks tracks;
	int each = EACH;
	struct guest_trace trace;
	(void)state;
	assert_int_equal(run_recorded(folder, "", write_from_threads, &each), 0);
	trace = only_trace();
	count_tracks(&trace, &tracks);
	assert_int_equal(tracks.commands, THREADS * EACH);
	assert_in_range(tracks.tracks, THREADS + 1, THREADS + 2); // the first one, and the helper
	assert_int_equal(trace.header->lost_records, 0);
	unload(&trace);
}

// Full windows are used again while others write: what is left has no hole within a thread.
static void newest_of_many_threads_are_kept(void **state)
{
	struct guest_place place = { 0 };
	const union tare_trace_record *record;
	uint32_t last[THREADS + 3] = { 0 };
	uint64_t commands = 0;
	int each = EACH * 3;
	struct guest_trace trace;
	(void)state;
	assert_int_equal(run_recorded(folder, "max=6000000,keep=newest", write_from_threads, &each),
	                 0);
	trace = only_trace();
	while ((record = next_record(&trace, &place)))
		if (tare_trace_type(record->head) == TARE_TRACE_COMMAND) {
			uint32_t track = tare_trace_track(record->head);
			assert_in_range(track, 1, THREADS + 2);
			assert_true(is_whole(record));
			if (last[track])
				assert_int_equal(record->command.number, last[track] + 1);
			last[track] = record->command.number;
			commands++;
		}
	assert_true(trace.header->recycled_commands > 0);
	assert_int_equal(commands + trace.header->recycled_commands + trace.header->lost_commands,
	                 THREADS * EACH * 3);
	unload(&trace);
}

#ifdef UNDER_THREAD_SANITIZER // it takes its time with each, and has a thread of its own
enum { SHORT_THREADS = 1000, SANITIZER_THREADS = 1 };
#else
enum { SHORT_THREADS = 10000, SANITIZER_THREADS = 0 };
#endif

static int run_short_threads(void *argument)
{
	int one = 3;
	guest_begin(&plain_api);
	for (int i = 0; i < *(int *)argument; i++) {
		pthread_t thread;
		if (pthread_create(&thread, NULL, write_each, &one))
			return 1;
		pthread_join(thread, NULL);
	}
	return 0;
}

static void short_threads_share_windows(void **state)
{
	static struct tracks tracks;
	int threads = SHORT_THREADS;
	struct guest_trace trace;
	(void)state;
	assert_int_equal(run_recorded(folder, "", run_short_threads, &threads), 0);
	trace = only_trace();
	count_tracks(&trace, &tracks);
	assert_int_equal(tracks.commands, 3 * threads);
	assert_in_range(tracks.tracks, threads + 1, threads + 2);
	assert_int_equal(trace.header->lost_records, 0);
	// 3 commands and a CPU time each, 4095 to a window; and those that are still in use.
	assert_true(trace.header->windows - trace.header->definition_windows <=
	            (uint64_t)threads * 4 / 4095 + 4);
	unload(&trace);
}

// ---- the end

static _Atomic int harvests, harvests_at_end;
static _Atomic bool in_harvest;

static void harvest_slowly(void)
{
	if (!atomic_load(&guest_alive)) {
		atomic_fetch_add(&harvests_at_end, 1);
		return;
	}
	atomic_store(&in_harvest, true);
	nanosleep(&(struct timespec){ .tv_nsec = 5000000 }, NULL);
	atomic_store(&in_harvest, false);
	atomic_fetch_add(&harvests, 1);
}

// Registered before the recorder's, so it runs after that. The vendor may be gone by now.
static void check_at_exit(void)
{
	if (atomic_load(&in_harvest) || atomic_load(&guest_alive))
		_exit(3);
	nanosleep(&(struct timespec){ .tv_nsec = 30000000 }, NULL); // the helper goes on meanwhile
	if (atomic_load(&harvests_at_end) != 1)
		_exit(4);
	for (int i = 0; i < 10; i++) {
		union tare_trace_record *record;
		if (!write_command(guest_thread()))
			_exit(5);
		record = guest_event(guest_thread());
		record->phase.ticks = guest_ticks();
		guest_commit(record,
		             tare_trace_head(TARE_TRACE_PHASE, 0, 0, guest_thread()->track));
	}
}

static int end_while_harvesting(void *argument)
{
	(void)argument;
	atexit(check_at_exit);
	start_idle_thread();
	static const struct guest_api slow = { .api = TARE_TRACE_OPENCL,
		                               .harvest = harvest_slowly };
	guest_begin(&slow);
	__atomic_store_n(&guest_header->pending, 1, __ATOMIC_RELAXED);
	while (!atomic_load(&harvests) || !atomic_load(&in_harvest))
		sched_yield();
	return 0;
}

static void nobody_harvests_after_the_end(void **state)
{
	struct guest_trace trace;
	(void)state;
	assert_int_equal(run_recorded(folder, "", end_while_harvesting, NULL), 0);
	trace = only_trace();
	// What handlers call that run later is recorded all the same, and the end is after it.
	assert_int_equal(count_records(&trace, TARE_TRACE_COMMAND), 10);
	assert_int_equal(trace.header->state, TARE_TRACE_ENDED);
	assert_true(trace.header->end_ticks > last_ticks(&trace));
	unload(&trace);
}

static _Atomic bool first_is_leaving;

static void *outlive_the_first(void *argument)
{
	while (!atomic_load(&first_is_leaving))
		sched_yield();
	nanosleep(&(struct timespec){ .tv_nsec = 30000000 }, NULL);
	write_command(guest_thread());
	return argument;
}

// What only the first thread's stack knew would be taken for a leak.
static void leave_at_once(void)
{
	_exit(0);
}

static int leave_by_pthread_exit(void *argument)
{
	pthread_t thread;
	atexit(leave_at_once);
	alarm(60); // the helper may not keep the process alive
	if (pthread_create(&thread, NULL, outlive_the_first, argument))
		return 1;
	guest_begin(&plain_api);
	atomic_store(&first_is_leaving, true);
	pthread_exit(NULL);
}

static void process_ends_with_its_last_thread(void **state)
{
	struct guest_trace trace;
	(void)state;
	if (SANITIZER_THREADS) {
		printf("# SKIP %s: a thread of the sanitizer's stays\n", __func__);
		return;
	}
	assert_int_equal(run_recorded(folder, "", leave_by_pthread_exit, NULL), 0);
	trace = only_trace();
	assert_int_equal(count_records(&trace, TARE_TRACE_COMMAND), 1);
	assert_int_equal(trace.header->state, TARE_TRACE_ENDED);
	unload(&trace);
}

// ---- threads that follow each other

static void *wait_in_function_5(void *argument)
{
	write_command(guest_thread());
	guest_waiting(guest_thread(), 5, 777);
	raise(SIGKILL);
	return argument;
}

static int hand_over_and_wait(void *argument)
{
	pthread_t thread;
	int one = 1;
	guest_begin(&plain_api);
	write_command(guest_thread());
	if (pthread_create(&thread, NULL, write_each, &one))
		return 1;
	pthread_join(thread, NULL);
	if (pthread_create(&thread, NULL, wait_in_function_5, argument))
		return 1;
	pthread_join(thread, NULL);
	return 0;
}

static void wait_in_a_window_of_another_is_its_own(void **state)
{
	struct guest_place place = { 0 };
	const union tare_trace_record *record;
	struct guest_trace trace;
	uint32_t last_track = 0, waiting = 0;
	(void)state;
	assert_true(WIFSIGNALED(run_recorded(folder, "", hand_over_and_wait, NULL)));
	trace = only_trace();
	while ((record = next_record(&trace, &place))) {
		if (tare_trace_type(record->head) == TARE_TRACE_WINDOW && record->window.in_call) {
			assert_int_equal(waiting, 0);
			assert_int_equal(record->window.in_call, 6);
			waiting = tare_trace_track(record->head);
		}
		if (tare_trace_type(record->head) == TARE_TRACE_COMMAND &&
		    tare_trace_track(record->head) > last_track)
			last_track = tare_trace_track(record->head);
	}
	assert_true(last_track > 1);
	assert_int_equal(waiting, last_track);
	unload(&trace);
}

// ---- forks

static guest_lock held;

static int fork_once(void *argument)
{
	bool calls = *(int *)argument != 0;
	pid_t child;
	int status;
	guest_begin(&plain_api);
	for (int i = 0; i < 5000; i++)
		write_command(guest_thread());
	guest_lock_register(&held);
	guest_acquire(&held);
	child = fork();
	if (!child) {
		if (!guest_try(&held))
			_exit(2);
		guest_count(&guest_header->passed_calls, 1); // not its parent's
		for (int i = 0; calls && i < 7; i++)
			write_command(guest_thread());
		exit(0);
	}
	for (int i = 0; i < 100; i++)
		write_command(guest_thread());
	return waitpid(child, &status, 0) != child || status;
}

static const union tare_trace_record *only_record(const struct guest_trace *trace,
                                                  enum tare_trace_type type)
{
	struct guest_place place = { 0 };
	const union tare_trace_record *record, *found = NULL;
	while ((record = next_record(trace, &place)))
		if (tare_trace_type(record->head) == type) {
			assert_null(found);
			found = record;
		}
	assert_non_null(found);
	return found;
}

static void child_has_a_file_of_its_own(void **state)
{
	(void)state;
	for (int calls = 0; calls < 2; calls++) {
		struct guest_trace traces[2] = { 0 };
		const struct guest_trace *parent = &traces[0], *child = &traces[1];
		uint64_t number;
		set_up(NULL);
		assert_int_equal(run_recorded(folder, "", fork_once, &calls), 0);
		assert_int_equal(load_files(folder, traces, 2), 1 + calls);
		if (calls && (traces[0].header->flags & TARE_TRACE_FORKED)) {
			parent = &traces[1];
			child = &traces[0];
		}
		number = only_record(parent, TARE_TRACE_FORK)->fork.child;
		assert_int_equal(count_records(parent, TARE_TRACE_COMMAND), 5100);
		assert_int_equal(parent->header->flags, 0);
		assert_int_equal(parent->header->state, TARE_TRACE_ENDED);
		assert_true(number > 1 && number != parent->header->pid);
		assert_int_equal(parent->header->passed_calls, 0);
		if (calls) {
			assert_int_equal(child->header->flags, TARE_TRACE_FORKED);
			assert_int_equal(child->header->pid, number);
			assert_int_equal(child->header->parent_pid, parent->header->pid);
			assert_int_equal(child->header->state, TARE_TRACE_ENDED);
			assert_int_equal(count_records(child, TARE_TRACE_COMMAND), 7);
			// Its helper may not have run yet when it ended.
			assert_in_range(count_records(child, TARE_TRACE_TRACK), 1, 2);
		}
		unload(&traces[0]);
		unload(&traces[1]);
		tear_down(NULL);
	}
}

#ifdef __SANITIZE_ADDRESS__ // its locks, which threads that start take, stay locked in a fork's
                            // child
enum { STRESS_FORKS = 0 };
#else
enum { STRESS_FORKS = 6 };
#endif
enum { STRESS_THREADS = 4, STRESS_EACH = 4000 };

// The thread sanitizer's allocator may be locked in a child for ever: there no thread can start, so
// a child makes no call, and has no file.
enum { STRESS_CHILDREN = SANITIZER_THREADS ? 0 : STRESS_FORKS };

static _Atomic bool stress_over;

static void *fork_often(void *argument)
{
	(void)argument;
	for (int i = 0; i < STRESS_FORKS; i++) {
		pid_t child = fork();
		if (!child) {
			for (int k = 0; STRESS_CHILDREN > 0 && k < 50; k++)
				write_command(guest_thread());
			_exit(STRESS_CHILDREN == 0 || guest_thread() ? 0 : 1);
		}
		for (int k = 0; k < 10; k++)
			write_command(guest_thread());
		int status = 1;
		if (waitpid(child, &status, 0) != child || status)
			return argument;
	}
	return NULL;
}

static void *define_often(void *argument)
{
	(void)argument;
	while (!atomic_load(&stress_over)) {
		guest_string("a text that takes more than one record to be written", 52);
		guest_waiting(guest_thread(), 3, guest_ticks());
		guest_cpu_time(guest_thread(), 0, guest_ticks());
		guest_waiting(guest_thread(), 0, 0);
		struct timespec moment = { 0, 100000 };
		nanosleep(&moment, NULL);
	}
	return NULL;
}

static int stress(void *argument)
{
	pthread_t threads[STRESS_THREADS], forker, definer;
	int each = STRESS_EACH, one = 1;
	void *failed = NULL;
	(void)argument;
	guest_begin(&plain_api);
	__atomic_store_n(&guest_header->pending, 1, __ATOMIC_RELAXED); // the helper harvests
	if (pthread_create(&forker, NULL, fork_often, &one) ||
	    pthread_create(&definer, NULL, define_often, NULL))
		return 1;
	for (int turn = 0; turn < 5; turn++) {
		for (int i = 0; i < STRESS_THREADS; i++)
			if (pthread_create(&threads[i], NULL, write_each, &each))
				return 1;
		for (int i = 0; i < STRESS_THREADS; i++)
			pthread_join(threads[i], NULL);
	}
	pthread_join(forker, &failed);
	atomic_store(&stress_over, true);
	pthread_join(definer, NULL);
	return failed != NULL;
}

static void threads_and_forks_together(void **state)
{
	static struct tracks tracks;
	struct guest_trace traces[STRESS_CHILDREN + 1];
	size_t parents = 0;
	(void)state;
	assert_int_equal(run_recorded(folder, "", stress, NULL), 0);
	assert_int_equal(load_files(folder, traces, STRESS_CHILDREN + 1), STRESS_CHILDREN + 1);
	for (size_t i = 0; i <= STRESS_CHILDREN; i++) {
		bool child = traces[i].header->flags & TARE_TRACE_FORKED;
		count_tracks(&traces[i], &tracks);
		assert_int_equal(tracks.commands,
		                 child ? 50 : 5 * STRESS_THREADS * STRESS_EACH + STRESS_FORKS * 10);
		assert_int_equal(traces[i].header->lost_records, 0);
		if (!child)
			assert_int_equal(count_records(&traces[i], TARE_TRACE_FORK), STRESS_FORKS);
		parents += !child;
		unload(&traces[i]);
	}
	assert_int_equal(parents, 1);
}

int main(int argc, char **argv)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(each_thread_has_its_track),
		TEST(newest_of_many_threads_are_kept),
		TEST(short_threads_share_windows),
		TEST(nobody_harvests_after_the_end),
		TEST(process_ends_with_its_last_thread),
		TEST(wait_in_a_window_of_another_is_its_own),
		cmocka_unit_test(child_has_a_file_of_its_own),
		TEST(threads_and_forks_together),
	};
	if (argc == 2 && !strcmp(argv[1], "--probe"))
		return 0;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
