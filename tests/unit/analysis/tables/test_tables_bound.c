// SPDX-License-Identifier: Apache-2.0
// What bounds a run, and how that is said: ledgers made by hand.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "summary_rig.h"

static const struct {
	int kernels;
	int64_t call_ns, length_ns;
	int ambiguous; // thousandths
	enum tare_bound bound;
	const char *verdict;
	struct part parts[5];
} judged[] = {
	{ 10,
	  1000,
	  80000,
	  0,
	  TARE_BOUND_DEVICE,
	  "This run is device-bound: the device works on kernels and local copies 81.0 % of the "
	  "time",
	  { { TARE_LEDGER_KERNEL, 800 }, { TARE_LEDGER_LOCAL, 10 }, { TARE_LEDGER_API, 190 } } },
	{ 10,
	  1000,
	  40000,
	  0,
	  TARE_BOUND_TRANSFER,
	  "This run is transfer-bound: the device waits for data 60.0 % of the time",
	  { { TARE_LEDGER_KERNEL, 400 },
	    { TARE_LEDGER_TO_DEVICE, 300 },
	    { TARE_LEDGER_FROM_DEVICE, 100 },
	    { TARE_LEDGER_BOTH_WAYS, 100 },
	    { TARE_LEDGER_BLOCKING_COPY, 100 } } },
	{ 100,
	  700,
	  300,
	  0,
	  TARE_BOUND_LAUNCH,
	  "This run is launch-bound: the device waits for short commands to be issued 70.0 % of "
	  "the time",
	  { { TARE_LEDGER_KERNEL, 300 },
	    { TARE_LEDGER_API, 500 },
	    { TARE_LEDGER_HELD, 100 },
	    { TARE_LEDGER_DISPATCH, 100 } } },
	// A call with its arguments takes 1400 ns.
	{ 100,
	  700,
	  1000,
	  0,
	  TARE_BOUND_LAUNCH,
	  NULL,
	  { { TARE_LEDGER_KERNEL, 300 }, { TARE_LEDGER_API, 700 } } },
	{ 100,
	  700,
	  1500,
	  0,
	  TARE_BOUND_HOST,
	  NULL,
	  { { TARE_LEDGER_KERNEL, 300 }, { TARE_LEDGER_API, 700 } } },
	// The same ledger with few long kernels is other calls' doing.
	{ 2,
	  700,
	  150000,
	  0,
	  TARE_BOUND_HOST,
	  "This run is host-bound: the device waits for what the program does on the host 70.0 % "
	  "of the time",
	  { { TARE_LEDGER_KERNEL, 300 }, { TARE_LEDGER_API, 700 } } },
	{ 2,
	  700,
	  150000,
	  0,
	  TARE_BOUND_HOST,
	  NULL,
	  { { TARE_LEDGER_KERNEL, 300 },
	    { TARE_LEDGER_COMPUTING, 300 },
	    { TARE_LEDGER_BUILD, 100 },
	    { TARE_LEDGER_ALLOCATE, 100 },
	    { TARE_LEDGER_OFF_CPU, 200 } } },
	{ 2,
	  700,
	  150000,
	  0,
	  TARE_BOUND_HOST,
	  NULL,
	  { { TARE_LEDGER_KERNEL, 300 },
	    { TARE_LEDGER_BEFORE_FIRST, 400 },
	    { TARE_LEDGER_ENDED, 300 } } },
	{ 2,
	  700,
	  150000,
	  0,
	  TARE_BOUND_SYNCHRONISATION,
	  "This run is synchronisation-bound: the device idles while host and device wait for "
	  "each other 70.0 % of the time",
	  { { TARE_LEDGER_KERNEL, 300 },
	    { TARE_LEDGER_WAIT, 400 },
	    { TARE_LEDGER_DEPENDENCY, 300 } } },
	{ 2,
	  700,
	  450000,
	  0,
	  TARE_BOUND_SYNCHRONISATION,
	  NULL,
	  { { TARE_LEDGER_KERNEL, 300 },
	    { TARE_LEDGER_HELD, 300 },
	    { TARE_LEDGER_DISPATCH, 400 } } },
	{ 2,
	  700,
	  450000,
	  0,
	  TARE_BOUND_DEVICE,
	  "This run is device-bound: the device works on local copies 90.0 % of the time",
	  { { TARE_LEDGER_LOCAL, 900 }, { TARE_LEDGER_WAIT, 100 } } },
	// What runs for longer than its issuing takes is not short; else it is, on a slow device as
	// on a fast one.
	{ 10,
	  700,
	  71500,
	  0,
	  TARE_BOUND_SYNCHRONISATION,
	  NULL,
	  { { TARE_LEDGER_KERNEL, 300 },
	    { TARE_LEDGER_HELD, 300 },
	    { TARE_LEDGER_DISPATCH, 400 } } },
	{ 10,
	  1000000,
	  1500000,
	  0,
	  TARE_BOUND_LAUNCH,
	  NULL,
	  { { TARE_LEDGER_KERNEL, 300 },
	    { TARE_LEDGER_API, 400 },
	    { TARE_LEDGER_DISPATCH, 300 } } },
	// What is held for longer than calls and dispatch take was not handed over.
	{ 10,
	  700,
	  23000,
	  0,
	  TARE_BOUND_SYNCHRONISATION,
	  NULL,
	  { { TARE_LEDGER_KERNEL, 200 },
	    { TARE_LEDGER_HELD, 700 },
	    { TARE_LEDGER_DISPATCH, 100 } } },
	// Few of them are start-up.
	{ 2,
	  700,
	  99900,
	  0,
	  TARE_BOUND_HOST,
	  NULL,
	  { { TARE_LEDGER_KERNEL, 300 },
	    { TARE_LEDGER_HELD, 300 },
	    { TARE_LEDGER_DISPATCH, 400 } } },
	{ 9,
	  700,
	  60000,
	  0,
	  TARE_BOUND_HOST,
	  NULL,
	  { { TARE_LEDGER_KERNEL, 300 },
	    { TARE_LEDGER_HELD, 300 },
	    { TARE_LEDGER_DISPATCH, 400 } } },
	{ 2,
	  700,
	  40000,
	  0,
	  TARE_BOUND_HOST,
	  NULL,
	  { { TARE_LEDGER_KERNEL, 300 }, { TARE_LEDGER_API, 600 }, { TARE_LEDGER_HELD, 100 } } },
	{ 10,
	  700,
	  60000,
	  0,
	  TARE_BOUND_LAUNCH,
	  NULL,
	  { { TARE_LEDGER_KERNEL, 300 },
	    { TARE_LEDGER_HELD, 300 },
	    { TARE_LEDGER_DISPATCH, 400 } } },
	{ 2,
	  700,
	  150000,
	  0,
	  TARE_BOUND_NOT_CLEAR,
	  "It is not clear what bounds this run: transfers not hidden 52.0 %, kernels 48.0 % of "
	  "the time",
	  { { TARE_LEDGER_KERNEL, 480 }, { TARE_LEDGER_TO_DEVICE, 520 } } },
	{ 2,
	  700,
	  150000,
	  0,
	  TARE_BOUND_TRANSFER,
	  NULL,
	  { { TARE_LEDGER_KERNEL, 470 }, { TARE_LEDGER_TO_DEVICE, 530 } } },
	{ 2,
	  700,
	  150000,
	  60,
	  TARE_BOUND_NOT_CLEAR,
	  NULL,
	  { { TARE_LEDGER_KERNEL, 470 }, { TARE_LEDGER_TO_DEVICE, 530 } } },
	{ 2,
	  700,
	  150000,
	  0,
	  TARE_BOUND_NOT_CLEAR,
	  NULL,
	  { { TARE_LEDGER_KERNEL, 500 },
	    { TARE_LEDGER_WAIT, 250 },
	    { TARE_LEDGER_UNTIMED, 150 },
	    { TARE_LEDGER_UNKNOWN, 100 } } },
	{ 2,
	  700,
	  150000,
	  0,
	  TARE_BOUND_DEVICE,
	  NULL,
	  { { TARE_LEDGER_KERNEL, 600 },
	    { TARE_LEDGER_WAIT, 150 },
	    { TARE_LEDGER_UNTIMED, 150 },
	    { TARE_LEDGER_UNKNOWN, 100 } } },
};

static void the_largest_part_bounds_the_run(void **state)
{
	struct run *run = *state;
	for (size_t i = 0; i < sizeof judged / sizeof *judged; i++) {
		const struct tare_recorded_summary *summary;
		int64_t sum_ns = 0;
		add_kernels(run, judged[i].kernels, judged[i].call_ns, judged[i].length_ns);
		memset(run->ledger.parts_ns, 0, sizeof run->ledger.parts_ns);
		for (size_t k = 0; k < 5; k++)
			run->ledger.parts_ns[judged[i].parts[k].category] +=
			    judged[i].parts[k].thousandths * (WALL_NS / 1000);
		run->ledger.ambiguous_ns = judged[i].ambiguous * (WALL_NS / 1000);
		summary = compute(run);
		if (summary->bound != judged[i].bound)
			print_error("row %zu: %s: %s\n", i, summary->verdict, summary->evidence);
		assert_int_equal(summary->bound, judged[i].bound);
		if (judged[i].verdict)
			assert_string_equal(summary->verdict, judged[i].verdict);
		for (int k = 0; k < TARE_BOUND_COUNT; k++)
			sum_ns += summary->bound_ns[k];
		assert_int_equal(sum_ns, WALL_NS);
		assert_int_equal(summary->working_to_ns - summary->working_from_ns, WALL_NS);
	}
}

// Some devices run a kernel inside the call that enqueues it: that is no cost of issuing it.
static void a_kernel_that_runs_inside_its_call_is_not_short(void **state)
{
	struct run *run = *state;
	for (int i = 0; i < 100; i++)
		add(run, 10000 * i, 1000, 10000 * i + 50, i < 99 ? 10000 * i + 950 : WALL_NS);
	run->ledger.parts_ns[TARE_LEDGER_KERNEL] = 90000;
	run->ledger.parts_ns[TARE_LEDGER_API] = 910000;
	assert_int_equal(compute(run)->bound, TARE_BOUND_HOST);
	assert_int_equal(run->tables.summary.launch_ns, 100000);
	for (int i = 0; i < 99; i++) { // after it
		run->commands[i].start_ns += 1000;
		run->commands[i].end_ns += 1000;
	}
	assert_int_equal(compute(run)->bound, TARE_BOUND_LAUNCH);
}

// A long kernel among short ones and a call that compiled do not change what the others are.
static void what_is_usual_decides(void **state)
{
	struct run *run = *state;
	add_kernels(run, 100, 700, 300);
	run->commands[50].start_ns -= 5000;
	run->commands[50].end_ns += 900000;
	run->ledger.parts_ns[TARE_LEDGER_KERNEL] = 300000;
	run->ledger.parts_ns[TARE_LEDGER_API] = 700000;
	assert_int_equal(compute(run)->bound, TARE_BOUND_LAUNCH);
	add_kernels(run, 100, 700, 1500);
	run->commands[50].exit_ns += 500000;
	assert_int_equal(compute(run)->bound, TARE_BOUND_HOST);
}

// The first kernel is compiled by its first launch, after the call or within it.
static void first_launches_are_the_hosts(void **state)
{
	struct run *run = *state;
	const struct tare_recorded_summary *summary;
	add(run, 0, 1000, 600000, 690000)->submitted_ns = 2000;
	add(run, 700000, 1000, 930000, WALL_NS)->submitted_ns = 702000;
	// Others, so that it is no mere start-up.
	for (int i = 1; i <= 8; i++)
		add(run, 700000 + i, 1000, 930000, 950000)->submitted_ns = 702000;
	run->ledger.parts_ns[TARE_LEDGER_KERNEL] = 160000;
	run->ledger.parts_ns[TARE_LEDGER_API] = 12000;
	run->ledger.parts_ns[TARE_LEDGER_DISPATCH] = 828000;
	run->gaps[0] = (struct tare_gap){ 0, 600000, 0, 0, TARE_LEDGER_DISPATCH };
	run->gaps[1] = (struct tare_gap){ 690000, 930000, 0, 1, TARE_LEDGER_DISPATCH };
	run->gap_count = 2;
	summary = compute(run);
	assert_int_equal(summary->bound, TARE_BOUND_HOST);
	assert_int_equal(summary->bound_ns[TARE_BOUND_HOST], 598000);
	assert_int_equal(summary->bound_ns[TARE_BOUND_LAUNCH], 242000);
	assert_string_equal(
	    summary->verdict,
	    "This run is host-bound: the device waits for the host, mostly at first "
	    "launches of kernels, 59.8 % of the time");
	assert_non_null(strstr(summary->evidence, "; the host's part includes first launches of 1 "
	                                          "kernel, when many drivers compile: 59.8 %"));
	// What they took does not make the others' issuing long.
	run->ledger.parts_ns[TARE_LEDGER_DISPATCH] = 698000;
	run->ledger.parts_ns[TARE_LEDGER_WAIT] = 130000;
	assert_int_equal(compute(run)->bound_ns[TARE_BOUND_LAUNCH], 0);
	run->ledger.parts_ns[TARE_LEDGER_WAIT] = 0;
	// In the call, before which the thread did something else.
	run->commands[0].enter_ns = 100;
	run->commands[0].submitted_ns = run->commands[0].exit_ns = 560000;
	run->gaps[0].cause = TARE_LEDGER_API;
	run->ledger.parts_ns[TARE_LEDGER_API] = 600000;
	run->ledger.parts_ns[TARE_LEDGER_DISPATCH] = 240000;
	assert_int_equal(compute(run)->bound_ns[TARE_BOUND_HOST], 559900);
	// Held back, perhaps until the program flushes: nobody's first launch.
	run->gaps[0].cause = TARE_LEDGER_HELD;
	assert_int_equal(compute(run)->bound_ns[TARE_BOUND_HOST], 0);
	// Of several devices none is the union.
	run->gaps[0].cause = TARE_LEDGER_API;
	run->gaps[1].device = 1;
	assert_int_equal(compute(run)->bound_ns[TARE_BOUND_HOST], 0);
}

static void the_evidence_has_the_figures(void **state)
{
	struct run *run = *state;
	const struct tare_recorded_summary *summary;
	add_kernels(run, 100, 1700, 900);
	run->ledger.parts_ns[TARE_LEDGER_KERNEL] = 90000;
	run->ledger.parts_ns[TARE_LEDGER_API] = 800000;
	run->ledger.parts_ns[TARE_LEDGER_DISPATCH] = 30000;
	run->ledger.parts_ns[TARE_LEDGER_UNKNOWN] = 80000;
	summary = compute(run);
	assert_string_equal(summary->evidence,
	                    "kernels 9.0 %, issuing commands 83.0 %, not known 8.0 %; "
	                    "the median kernel runs for 900 ns, issuing one takes 2.00 \u00b5s");
	run->ledger.parts_ns[TARE_LEDGER_API] = 400000;
	run->ledger.parts_ns[TARE_LEDGER_KERNEL] = 390000;
	run->ledger.parts_ns[TARE_LEDGER_WAIT] = 100000;
	summary = compute(run);
	assert_string_equal(summary->evidence,
	                    "kernels 39.0 %, issuing commands 43.0 %, synchronisation 10.0 %, not "
	                    "known 8.0 %; the two largest are within 5 % of each other");
	run->ledger.parts_ns[TARE_LEDGER_API] = 430000;
	run->ledger.parts_ns[TARE_LEDGER_WAIT] = 70000;
	summary = compute(run);
	assert_non_null(
	    strstr(summary->evidence, "; 8.0 % that are not known could turn the order"));
}

static void plain_call(struct run *run, uint32_t thread, uint8_t role, int64_t enter_ns,
                       int64_t exit_ns)
{
	run->calls[run->recording.call_count++] = (struct tare_recorded_call){
		.enter_ns = enter_ns,
		.exit_ns = exit_ns,
		.inside_ns = exit_ns - enter_ns,
		.count = 1,
		.thread = thread,
		.function = UINT16_MAX,
		.object = TARE_NO_INDEX,
		.role = role,
	};
}

// The thread that will enqueue sleeps until another one has built: what start-up went into is that.
static void what_other_threads_build_is_said(void **state)
{
	struct run *run = *state;
	run->recording.thread_count = 2;
	run->threads[1].unfinished_function = TARE_NO_INDEX;
	run->processes[0].cpu_ns = 1000;
	run->processes[0].end_ns = WALL_NS;
	run->processes[0].came_to_exit = true;
	add(run, WALL_NS * 9 / 10, 1000, WALL_NS * 19 / 20, WALL_NS);
	plain_call(run, 0, TARE_ROLE_CREATE, 10, 1000);
	plain_call(run, 1, TARE_ROLE_BUILD, 2000, WALL_NS / 2);
	const struct tare_recorded_summary *summary = compute(run);
	const struct tare_recording_part *part = &summary->parts[TARE_PART_START_UP];
	assert_true(summary->has_parts);
	assert_true(part->parts_ns[TARE_LEDGER_OFF_CPU] > WALL_NS * 8 / 10);
	// At least: what little of the part is not off the CPU may lie in the build.
	assert_in_range(part->off_cpu_beside_builds_ns, WALL_NS / 2 - 10000, WALL_NS / 2);
	assert_non_null(
	    strstr(summary->verdict,
	           "mostly the host off the CPU, most of that while other threads build programs"));
	run->calls[1].exit_ns = WALL_NS / 3;
	assert_null(strstr(compute(run)->verdict, "other threads"));
}

// What a call takes beside the copy that it blocks for is no transfer.
static void a_blocking_call_is_named_beside_the_transfers(void **state)
{
	struct run *run = *state;
	add_kernels(run, 1, 1000, WALL_NS / 10);
	run->ledger.parts_ns[TARE_LEDGER_KERNEL] = WALL_NS / 10;
	run->ledger.parts_ns[TARE_LEDGER_TO_DEVICE] = WALL_NS * 9 / 10;
	assert_string_equal(compute(run)->evidence, "kernels 10.0 %, transfers not hidden 90.0 %");
	run->ledger.parts_ns[TARE_LEDGER_TO_DEVICE] = WALL_NS * 6 / 10;
	run->ledger.parts_ns[TARE_LEDGER_BLOCKING_COPY] = WALL_NS * 3 / 10;
	assert_string_equal(compute(run)->evidence,
	                    "kernels 10.0 %, transfers not hidden and calls that block for them "
	                    "90.0 %");
}

static void without_commands_or_times_nothing_is_claimed(void **state)
{
	struct run *run = *state;
	const struct tare_recorded_summary *summary = compute(run);
	assert_int_equal(summary->bound, TARE_BOUND_NOTHING);
	assert_string_equal(summary->verdict,
	                    "No command was enqueued: nothing bounds this run but "
	                    "the program itself");
	assert_int_equal(summary->working_from_ns, TARE_NO_TIME);
	assert_true(isnan(summary->mean_launch_ns));
	run->ledger.parts_ns[TARE_LEDGER_BUILD] = WALL_NS * 3 / 4;
	run->ledger.parts_ns[TARE_LEDGER_COMPUTING] = WALL_NS / 4;
	assert_string_equal(compute(run)->verdict,
	                    "No command was enqueued; building programs took 75.0 % of this run "
	                    "(750 µs)");
	run->view.from_ns = 1;
	assert_null(strstr(compute(run)->verdict, "building"));
	run->view.from_ns = 0;
	memset(run->ledger.parts_ns, 0, sizeof run->ledger.parts_ns);
	run->ledger.parts_ns[TARE_LEDGER_UNTIMED] = WALL_NS;
	for (int i = 0; i < 3; i++)
		add(run, i * 10, 5, TARE_NO_TIME, TARE_NO_TIME);
	summary = compute(run);
	assert_int_equal(summary->bound, TARE_BOUND_NOT_CLEAR);
	assert_string_equal(
	    summary->verdict,
	    "What bounds this run cannot be told: of 3 commands, none has device times");
	assert_int_equal(summary->bound_ns[TARE_BOUND_NOT_CLEAR],
	                 summary->working_to_ns - summary->working_from_ns);
	assert_true(isnan(summary->device_utilisation) && isnan(summary->kernel_share));
	assert_true(isnan(summary->transfer_share) && isnan(summary->exposed_transfer_share));
}

static void every_bound_has_a_name(void **state)
{
	(void)state;
	for (int i = 0; i < TARE_BOUND_COUNT; i++) {
		assert_non_null(tare_bound_name(i));
		for (int k = 0; k < i; k++)
			assert_string_not_equal(tare_bound_name(i), tare_bound_name(k));
	}
	assert_string_equal(tare_bound_name(TARE_BOUND_COUNT), "unknown");
}

int main(void)
{
#define WITH_RUN(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		WITH_RUN(the_largest_part_bounds_the_run),
		WITH_RUN(a_kernel_that_runs_inside_its_call_is_not_short),
		WITH_RUN(what_is_usual_decides),
		WITH_RUN(first_launches_are_the_hosts),
		WITH_RUN(the_evidence_has_the_figures),
		WITH_RUN(what_other_threads_build_is_said),
		WITH_RUN(a_blocking_call_is_named_beside_the_transfers),
		WITH_RUN(without_commands_or_times_nothing_is_claimed),
		cmocka_unit_test(every_bound_has_a_name),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
