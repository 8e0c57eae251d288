// SPDX-License-Identifier: Apache-2.0
// What a driver takes for what is changed in the program, with a driver that is slow on purpose,
// and which commands are timed where that is too much.
//   test_driver_cost LAYER.so ENTRIES CASE    CASE: profiling, transfers, release, threads,
//   refuses, sample, share,
//                                            own, all, none
#include "slow_driver_rig.h"

#include <math.h>
#include <sys/wait.h>

// ---- costs

// By order: the machine may have other work, which the median of the rounds leaves out mostly.
static void assert_about(int64_t ps, double ns)
{
	assert_true((double)ps >= 0.5 * ns * 1e3);
	assert_true((double)ps <= 5 * ns * 1e3);
}

// A machine that is too busy for a few rounds in 50 ms leaves the costs unknown, and nothing to
// check: NULL. cmocka's own skip() counts as a failure.
static const struct tare_trace_header *measured(void)
{
	make_first_context();
	const struct tare_trace_header *h = header();
	if (h->driver_rounds == 0) {
		printf("# SKIP %s: too busy to measure\n", which_case);
		return NULL;
	}
	assert_true(h->driver_rounds >= 5);
	return h;
}

static void a_dear_profiling_is_told_as_dear(void **state)
{
	(void)state;
	const struct tare_trace_header *h = measured();
	if (!h)
		return;
	assert_about(h->driver_ps[TARE_DRIVER_PROFILING], SLOW_NS);
	assert_about(h->driver_ps[TARE_DRIVER_BOTH], SLOW_NS);
	// The program's own profiling is not our doing.
	assert_true(h->driver_ps[TARE_DRIVER_EVENT] < SLOW_NS * 1000 / 2);
	assert_true(h->driver_ps[TARE_DRIVER_RELEASE] < SLOW_NS * 1000 / 2);
	assert_true(h->driver_ps[TARE_DRIVER_QUERIES] < SLOW_NS * 1000 / 2);
	for (int i = 0; i < TARE_DRIVER_COST_COUNT; i++) {
		assert_true(h->driver_low_ps[i] <= h->driver_ps[i]);
		assert_true(h->driver_ps[i] <= h->driver_high_ps[i]);
	}
	assert_true(h->calibration_ticks > 0);
	// Our own code is compared with the same queue and event: what is dear in the driver is not
	// in it.
	const int64_t own_ps[] = { h->self_cost_ps, h->self_untimed_cost_ps };
	for (int i = 0; i < 2; i++) {
		assert_in_range(own_ps[i], 1, SLOW_NS * 1000 / 2);
		assert_in_range(own_ps[i], h->self_low_ps[i], h->self_high_ps[i]);
	}
	assert_int_equal(h->flags & TARE_TRACE_DRIVER_THREADS, 0);
	assert_int_equal(find(TARE_TRACE_CHANGE, 1, (uintptr_t)context).count, 1);
}

static void transfers_may_be_dearer_than_kernels(void **state)
{
	(void)state;
	const struct tare_trace_header *h = measured();
	if (!h)
		return;
	assert_about(h->driver_ps[TARE_DRIVER_TRANSFER + TARE_DRIVER_PROFILING], SLOW_NS);
	assert_about(h->driver_ps[TARE_DRIVER_TRANSFER + TARE_DRIVER_BOTH], SLOW_NS);
	assert_true(h->driver_ps[TARE_DRIVER_TRANSFER + TARE_DRIVER_EVENT] < SLOW_NS * 1000 / 2);
	assert_true(h->driver_ps[TARE_DRIVER_PROFILING] < SLOW_NS * 1000 / 2);
	assert_true(h->driver_ps[TARE_DRIVER_BOTH] < SLOW_NS * 1000 / 2);
}

static void what_release_takes_is_told_as_that(void **state)
{
	(void)state;
	const struct tare_trace_header *h = measured();
	if (!h)
		return;
	assert_about(h->driver_ps[TARE_DRIVER_RELEASE], SLOW_NS);
	assert_true(h->driver_ps[TARE_DRIVER_PROFILING] < SLOW_NS * 1000 / 2);
}

static void nothing_of_it_is_left_behind(void **state)
{
	(void)state;
	size_t queues_before = made_queues;
	// Only the first context.
	make_first_context();
	assert_int_equal(made_queues, queues_before);
	assert_int_equal(made_queues, 2);
	assert_int_equal(gone_queues, 2);
	assert_int_equal(live_events, 0);
	// Its commands are nobody's.
	assert_int_equal(find(TARE_TRACE_COMMAND, 0, 0).count, 0);
	assert_int_equal(find(TARE_TRACE_TIMES, 0, 0).count, 0);
	for (size_t i = 0; i < queue_count; i++)
		assert_int_equal(find(TARE_TRACE_OBJECT, 1, (uintptr_t)&queues[i]).count, 0);
	// One that the program makes is known.
	assert_int_equal(find(TARE_TRACE_OBJECT, 1, (uintptr_t)make_queue(0)).count, 1);
}

// A device whose commands are executed by a thread of the process.
static void threads_that_compute_are_told(void **state)
{
	pthread_t worker;
	(void)state;
	sem_init(&handed_over, 0, 0);
	sem_init(&executed, 0, 0);
	has_worker = true;
	assert_int_equal(pthread_create(&worker, NULL, execute, NULL), 0);
	const struct tare_trace_header *h = measured();
	has_worker = false;
	sem_post(&handed_over);
	pthread_join(worker, NULL);
	if (!h)
		return;
	assert_int_equal(h->flags & TARE_TRACE_DRIVER_THREADS, TARE_TRACE_DRIVER_THREADS);
}

static void a_driver_that_fails_is_not_known(void **state)
{
	(void)state;
	make_first_context();
	assert_int_equal(header()->driver_rounds, 0);
	assert_int_equal(made_queues, gone_queues);
	make_first_context();
	assert_int_equal(made_queues, 2);
}

// ---- samples

static size_t flagged(uint8_t flags)
{
	size_t count = 0;
	open_trace();
	for (size_t at = TARE_TRACE_HEADER_BYTES; at + TARE_TRACE_WINDOW_BYTES <= trace_bytes;
	     at += TARE_TRACE_WINDOW_BYTES) {
		const uint64_t *record = (const uint64_t *)(trace + at);
		union tare_trace_record one = { 0 };
		for (size_t i = 0; i < TARE_TRACE_WINDOW_BYTES / 64 && record[0] != 0;
		     i++, record += 8)
			for (uint32_t done = 0; done < stands_for(record); done++) {
				stand_for(&one, record, done);
				count += tare_trace_type(one.head) == TARE_TRACE_COMMAND &&
				         (tare_trace_record_flags(one.head) &
				          TARE_COMMAND_NOT_SAMPLED) == flags;
			}
	}
	return count;
}

// For how many commands those that were drawn stand, themselves left out; of how many that is the
// sum; and how many the last one stands for.
static double stood_for(size_t *drawn, double *last)
{
	double sum = 0;
	*drawn = 0;
	open_trace();
	for (size_t at = TARE_TRACE_HEADER_BYTES; at + 64 <= trace_bytes; at += 64) {
		union tare_trace_record one;
		memcpy(&one, trace + at, sizeof one);
		// A header is no record, but none of its pages begins with such a head.
		if (tare_trace_type(one.head) != TARE_TRACE_DRAWN)
			continue;
		*last = 4294967296.0 / one.drawn.chance;
		sum += *last - 1;
		++*drawn;
	}
	return sum;
}

// Two kernels in turn, as periodic as can be, and one that comes 20 times.
static void run_two_kernels(int launches, size_t timed[2], size_t *rare)
{
	static char kernels[2], seldom;
	cl_command_queue queue = make_queue(0);
	for (int i = 0; i < launches; i++) {
		launch(queue, &kernels[i % 2], NULL);
		timed[i % 2] += was_given_event;
		if (i % (launches / 20) == 100) {
			launch(queue, &seldom, NULL);
			*rare += was_given_event;
		}
		if (i % 50 == 49)
			cl->clFinish(queue);
	}
	cl->clFinish(queue);
}

static void a_sample_is_random_and_counts_all(void **state)
{
	size_t timed[2] = { 0 }, rare = 0;
	(void)state;
	make_first_context();
	run_two_kernels(MANY, timed, &rare);
	size_t all = timed[0] + timed[1] + rare;
	assert_int_equal(flagged(TARE_COMMAND_OWN_EVENT), all);
	assert_int_equal(flagged(TARE_COMMAND_NOT_SAMPLED), MANY + 20 - all);
	assert_true(header()->sampled_from_ticks != 0);
	assert_int_equal(header()->flags & TARE_TRACE_MAY_SAMPLE, TARE_TRACE_MAY_SAMPLE);
	// An event is taken to cost a second: as few as may be, one in 1,024 beside those from
	// before the sample began, the first 32, and 32 more each time that there are e times as
	// many. One in so many counted off would be all of one kernel, for they come in turn. 332
	// are expected of each, with a standard deviation of 16.
	for (int i = 0; i < 2; i++)
		assert_in_range(timed[i], 332 - 90, 64 + 332 + 90);
	// What they stand for is what has no times: a deviation is 6 % of it.
	size_t drawn;
	double last, others = stood_for(&drawn, &last);
	assert_true(drawn > 400 && drawn < all);
	assert_true(fabs(others / (double)(MANY + 20 - all) - 1) < 0.35);
	// What is rare is timed whenever it comes.
	assert_int_equal(rare, 20);
	// Those of the program's own are not kept either.
	cl_command_queue queue = make_queue(0);
	int kept = 0;
	for (int i = 0; i < 200; i++) {
		cl_event event;
		launch(queue, kernel, &event);
		kept += ((struct event *)event)->references == 2;
		cl->clReleaseEvent(event);
	}
	assert_true(kept >= 32 && kept < 150);
}

static double seconds_of(clockid_t clock)
{
	struct timespec now;
	clock_gettime(clock, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

// A sample begins by its share of the time. Where others had most of that, it may not.
static bool too_busy(double worked, double passed)
{
	if (header()->sampled_from_ticks != 0 || worked >= passed / 2)
		return false;
	printf("# SKIP %s: too busy to tell, with %.0f %% of a processor\n", which_case,
	       100 * worked / passed);
	return true;
}

// An event is taken to cost SLOW_NS, and does.
static void a_sample_takes_its_share(void **state)
{
	size_t timed[2] = { 0 }, rare = 0;
	(void)state;
	make_first_context();
	run_two_kernels(MANY / 4, timed, &rare);
	double taken = (double)(timed[0] + timed[1] + rare) * SLOW_NS;
	double passed = seconds_of(CLOCK_MONOTONIC_RAW) * 1e9 - (double)header()->start_raw_ns;
	double worked = seconds_of(CLOCK_PROCESS_CPUTIME_ID) * 1e9;
	if (too_busy(worked, passed))
		return;
	assert_true(header()->sampled_from_ticks != 0);
	// 5 % at first, a 64th from then on, and the first of each kind, with 32 more each time
	// that there are e times as many; a pause at the end is not made up for.
	double first = 20 + 2 * (32 + 32 * log(MANY / 4 / 2 / 32));
	assert_true(taken < 0.06 * passed + 1.2 * first * SLOW_NS);
	assert_true(taken > 0.006 * (worked < passed ? worked : passed));
}

// An event is taken to cost more than a launch, until a sample has begun, and from then on a
// twelfth. A 64th of the time would be one command in five; but what is drawn costs, too.
static void no_more_than_one_in_sixteen_is_drawn(void **state)
{
	size_t timed[2] = { 0 }, rare = 0, drawn;
	double last = 0;
	(void)state;
	make_first_context();
	for (int i = 0; i < 100 && header()->sampled_from_ticks == 0; i++)
		run_two_kernels(200, timed, &rare);
	assert_true(header()->sampled_from_ticks != 0);
	slow_launches = true;
	run_two_kernels(2000, timed, &rare);
	stood_for(&drawn, &last);
	assert_true(drawn > 0 && last > 15.9 && last < 16.1);
}

// An event is taken to cost 20 µs. That the program took long to start is no reason to time more.
static void start_up_is_no_credit(void **state)
{
	enum { START_US = 700000, FIRST = 20 + 2 * (32 + 133), LOOKS = 3 * 64 };
	size_t timed[2] = { 0 }, rare = 0;
	(void)state;
	usleep(START_US);
	make_first_context();
	double passed = -seconds_of(CLOCK_MONOTONIC_RAW) * 1e9;
	run_two_kernels(4000, timed, &rare);
	passed += seconds_of(CLOCK_MONOTONIC_RAW) * 1e9;
	double taken = (double)(timed[0] + timed[1] + rare) * SLOW_NS;
	assert_true(header()->sampled_from_ticks != 0);
	assert_true(taken < 2e6 + (FIRST + LOOKS) * SLOW_NS + 0.07 * passed);
}

// An event is taken to cost a nanosecond: only our own code can be too dear for a launch of
// nothing.
static void our_own_code_counts(void **state)
{
	size_t timed[2] = { 0 }, rare = 0;
	(void)state;
	double worked = -seconds_of(CLOCK_PROCESS_CPUTIME_ID),
	       passed = -seconds_of(CLOCK_MONOTONIC);
	make_first_context();
	for (int i = 0; i < 8 && header()->sampled_from_ticks == 0; i++)
		run_two_kernels(MANY, timed, &rare);
	worked += seconds_of(CLOCK_PROCESS_CPUTIME_ID);
	passed += seconds_of(CLOCK_MONOTONIC);
	if (too_busy(worked, passed))
		return;
	assert_true(header()->sampled_from_ticks != 0);
}

static void all_are_timed_when_told_so(void **state)
{
	size_t timed[2] = { 0 }, rare = 0;
	(void)state;
	make_first_context();
	run_two_kernels(LAUNCHES, timed, &rare);
	assert_int_equal(timed[0] + timed[1] + rare, LAUNCHES + 20);
	assert_int_equal(flagged(TARE_COMMAND_NOT_SAMPLED), 0);
	assert_int_equal(header()->sampled_from_ticks, 0);
}

static void none_changes_nothing_of_the_programs(void **state)
{
	size_t timed[2] = { 0 }, rare = 0;
	(void)state;
	make_first_context();
	// What our own code takes is measured on a queue of ours, as the program's are.
	assert_int_equal(made_queues, 1);
	assert_int_equal(gone_queues, 1);
	assert_int_equal(live_events, 0);
	assert_int_equal(header()->driver_rounds, 0);
	// On a machine that was too busy there is no interval.
	if (header()->self_high_ps[1] != 0)
		assert_in_range(header()->self_untimed_cost_ps, header()->self_low_ps[1],
		                header()->self_high_ps[1]);
	run_two_kernels(LAUNCHES, timed, &rare);
	assert_int_equal(timed[0] + timed[1] + rare, 0);
	for (size_t i = 0; i < queue_count; i++)
		assert_int_equal(queues[i].properties, 0);
	assert_int_equal(flagged(TARE_COMMAND_NO_TIMES), LAUNCHES + 20);
	assert_int_equal(header()->flags & TARE_TRACE_COUNT_ONLY, TARE_TRACE_COUNT_ONLY);
}

// ---- again

static bool is_measured(const char *name)
{
	static const char *const names[] = { "profiling", "transfers", "release", "threads",
		                             "own" };
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

// What is measured another program may disturb: a cost is wrong that is wrong three times. What the
// last turn has written is passed on. Returns only in a process that is to run the test itself.
static void take_turns(char **argv)
{
	char line[512];
	int status = 1;
	if (!is_measured(argv[3]) || getenv("TARE_TEST_TURN") != NULL)
		return;
	setenv("TARE_TEST_TURN", "1", 1);
	for (int turn = 0; turn < 3 && status != 0; turn++) {
		FILE *written = tmpfile();
		pid_t child = written != NULL ? fork() : -1;
		if (child == 0) {
			dup2(fileno(written), STDOUT_FILENO);
			execv(argv[0], argv);
			_exit(2);
		}
		if (child < 0 || waitpid(child, &status, 0) != child)
			exit(2);
		rewind(written);
		while ((status == 0 || turn == 2) && fgets(line, sizeof line, written) != NULL)
			fputs(line, stdout);
		fclose(written);
	}
	exit(status != 0);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name, *options;
		struct CMUnitTest tests[2];
	} cases[] = {
		{ "profiling",
		  "times=all",
		  { cmocka_unit_test(a_dear_profiling_is_told_as_dear),
		    cmocka_unit_test(nothing_of_it_is_left_behind) } },
		{ "transfers",
		  "times=all",
		  { cmocka_unit_test(transfers_may_be_dearer_than_kernels),
		    cmocka_unit_test(nothing_of_it_is_left_behind) } },
		{ "release",
		  "times=all",
		  { cmocka_unit_test(what_release_takes_is_told_as_that),
		    cmocka_unit_test(nothing_of_it_is_left_behind) } },
		{ "threads", "times=all", { cmocka_unit_test(threads_that_compute_are_told) } },
		{ "refuses", "times=all", { cmocka_unit_test(a_driver_that_fails_is_not_known) } },
		{ "sample",
		  "times=sampled,event=1000000000",
		  { cmocka_unit_test(a_sample_is_random_and_counts_all) } },
		{ "share",
		  "times=sampled,event=20000",
		  { cmocka_unit_test(a_sample_takes_its_share) } },
		{ "cheap",
		  "times=sampled,event=20000",
		  { cmocka_unit_test(no_more_than_one_in_sixteen_is_drawn) } },
		{ "start",
		  "times=sampled,event=20000",
		  { cmocka_unit_test(start_up_is_no_credit) } },
		{ "own", "times=sampled,event=1", { cmocka_unit_test(our_own_code_counts) } },
		{ "all",
		  "times=all,event=1000000000",
		  { cmocka_unit_test(all_are_timed_when_told_so) } },
		{ "none",
		  "times=none,event=1000000000",
		  { cmocka_unit_test(none_changes_nothing_of_the_programs) } },
	};
	if (argc != 4)
		return 2;
	take_turns(argv);
	if (mkdtemp(directory) == NULL)
		return 2;
	which_case = argv[3];
	setenv("TARE_RECORD", directory, 1);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		if (strcmp(cases[i].name, which_case) != 0)
			continue;
		setenv("TARE_RECORD_OPTIONS", cases[i].options, 1);
		fill_slow_driver();
		entries = (cl_uint)atoi(argv[2]);
		void *layer = dlopen(argv[1], RTLD_NOW);
		pfn_clInitLayer begin =
		    layer != NULL ? (pfn_clInitLayer)dlsym(layer, "clInitLayer") : NULL;
		if (begin == NULL || begin(entries, &driver.table, &entries_ret, &cl) != CL_SUCCESS)
			return 2;
		size_t count = cases[i].tests[1].test_func != NULL ? 2 : 1;
		int failed =
		    _cmocka_run_group_tests("driver_cost", cases[i].tests, count, NULL, NULL);
		remove_trace();
		return failed;
	}
	return 2;
}
