// SPDX-License-Identifier: Apache-2.0
// The summary of a run by ledgers made by hand: its figures, and the part that is judged.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "summary_rig.h"

// 0.9 s of start-up must not hide that kernels bound the rest. The ledger of that part is the real
// one; the hand-made one says host and would win if it were asked.
// They lie one behind the other, each summed up by what it went into.
static void assert_parts(const struct tare_recorded_summary *summary,
                         const int64_t lengths_ns[TARE_PARTS])
{
	for (int i = 0; i < TARE_PARTS; i++) {
		const struct tare_recording_part *part = &summary->parts[i];
		int64_t sum_ns = 0;
		assert_int_equal(part->to_ns - part->from_ns, lengths_ns[i]);
		assert_true(i == 0 || part->from_ns == summary->parts[i - 1].to_ns);
		for (int c = 0; c < TARE_LEDGER_CATEGORIES; c++)
			sum_ns += part->parts_ns[c];
		assert_int_equal(sum_ns, lengths_ns[i]);
	}
}

static void start_up_is_not_judged(void **state)
{
	struct run *run = *state;
	const struct tare_recorded_summary *summary;
	const int64_t ms = 1000000;
	run->recording.end_ns = run->processes[0].end_ns = 1000 * ms;
	run->view = tare_view_all(&run->recording);
	run->ledger.wall_ns = 1000 * ms;
	run->ledger.parts_ns[TARE_LEDGER_COMPUTING] = 920 * ms;
	run->ledger.parts_ns[TARE_LEDGER_KERNEL] = 80 * ms;
	for (int i = 0; i < 8; i++)
		add(run, 900 * ms + 10 * ms * i, 1000, 900 * ms + 10 * ms * i + 2000,
		    900 * ms + 10 * ms * i + 9 * ms);
	run->calls[0] = (struct tare_recorded_call){ .enter_ns = 980 * ms,
		                                     .exit_ns = 981 * ms,
		                                     .count = 1,
		                                     .inside_ns = ms,
		                                     .object = TARE_NO_INDEX,
		                                     .device = TARE_NO_INDEX,
		                                     .function = 1,
		                                     .role = TARE_ROLE_WAIT };
	run->recording.call_count = 1;
	summary = compute(run);
	assert_int_equal(summary->working_from_ns, 900 * ms);
	assert_int_equal(summary->working_to_ns, 979 * ms);
	assert_int_equal(summary->bound, TARE_BOUND_DEVICE);
	assert_int_equal(summary->bound_ns[TARE_BOUND_DEVICE], 8 * (9 * ms - 2000));
	assert_string_equal(summary->verdict,
	                    "Start-up takes 90.0 % of this run (1.00 s): 900 ms, mostly what the "
	                    "program did before its "
	                    "first API call. Its working part, 79.0 ms, is device-bound: the "
	                    "device works on kernels "
	                    "91.1 % of it; tear-down took 21.0 ms, mostly what is not known");
	assert_true(summary->has_parts);
	assert_parts(summary, (const int64_t[]){ 900 * ms, 79 * ms, 21 * ms });
	assert_int_equal(summary->parts[TARE_PART_START_UP].parts_ns[TARE_LEDGER_BEFORE_FIRST],
	                 900 * ms);
	assert_int_equal(summary->parts[TARE_PART_WORKING].parts_ns[TARE_LEDGER_KERNEL],
	                 8 * (9 * ms - 2000));
	assert_null(strstr(summary->evidence, "not judged"));
	// Shares are of the whole.
	assert_true(fabs(summary->kernel_share - 0.08) < 1e-12);
}

static void a_long_tear_down_is_said_first(void **state)
{
	struct run *run = *state;
	const struct tare_recorded_summary *summary;
	const int64_t ms = 1000000;
	run->recording.end_ns = run->processes[0].end_ns = 1000 * ms;
	run->view = tare_view_all(&run->recording);
	run->ledger.wall_ns = 1000 * ms;
	for (int i = 0; i < 8; i++)
		add(run, 10 * ms * i, 1000, 10 * ms * i + 2000, 10 * ms * i + 9 * ms);
	summary = compute(run);
	assert_parts(summary, (const int64_t[]){ 0, 79 * ms, 921 * ms });
	assert_int_equal(
	    strncmp(summary->verdict, "Tear-down takes 92.1 % of this run (1.00 s): 921 ms", 51),
	    0);
	assert_non_null(strstr(summary->verdict, "Its working part, 79.0 ms, is device-bound"));
	assert_null(strstr(summary->verdict, "start-up"));
	// Of a part of the run nothing is said to be start-up or tear-down.
	run->view.to_ns = 999 * ms;
	summary = compute(run);
	assert_false(summary->has_parts);
	assert_non_null(strstr(summary->verdict, "of its working part"));
	assert_non_null(strstr(summary->evidence, " before and 920 ms after are not judged"));
}

// What the program calls a phase has no start-up: the view's ledger is judged, whatever was
// enqueued when.
static void all_of_a_phase_is_judged(void **state)
{
	static const struct tare_run_span spans[] = { { 0, 300000 }, { 500000, 1000000 } };
	struct run *run = *state;
	const struct tare_recorded_summary *summary;
	run->view.spans = spans;
	run->view.span_count = 2;
	run->view.phase = "load";
	run->processes[0].cpu_ns = 600000;
	run->ledger.wall_ns = 800000;
	run->ledger.parts_ns[TARE_LEDGER_COMPUTING] = 700000;
	run->ledger.parts_ns[TARE_LEDGER_TO_DEVICE] = 100000;
	add(run, 600000, 1000, 610000, 710000);
	summary = compute(run);
	assert_int_equal(summary->wall_ns, 800000);
	assert_int_equal(summary->working_from_ns, 0);
	assert_int_equal(summary->working_to_ns, 1000000);
	assert_int_equal(summary->bound, TARE_BOUND_HOST);
	assert_int_equal(summary->bound_ns[TARE_BOUND_HOST], 700000);
	assert_string_equal(summary->verdict,
	                    "This phase is host-bound: the device waits for what the program "
	                    "does on the host 87.5 % of the time");
	assert_null(strstr(summary->evidence, "not judged"));
	assert_true(isnan(summary->cpu_utilisation));
}

// ---- figures

static void shares_are_of_the_unions_ledger(void **state)
{
	struct run *run = *state;
	const struct tare_recorded_summary *summary;
	run->ledger.parts_ns[TARE_LEDGER_KERNEL] = 400000;
	run->ledger.parts_ns[TARE_LEDGER_TO_DEVICE] = 100000;
	run->ledger.parts_ns[TARE_LEDGER_FROM_DEVICE] = 50000;
	run->ledger.parts_ns[TARE_LEDGER_BOTH_WAYS] = 20000;
	run->ledger.parts_ns[TARE_LEDGER_LOCAL] = 30000;
	run->ledger.parts_ns[TARE_LEDGER_COMPUTING] = 400000;
	run->ledger.matrix_ns[TARE_HOST_WAIT][TARE_DEVICE_KERNEL_AND_TRANSFER] = 60000;
	run->ledger.matrix_ns[TARE_HOST_API][TARE_DEVICE_KERNEL_AND_TRANSFER] = 20000;
	add_kernels(run, 4, 100, 1000);
	summary = compute(run);
	assert_true(fabs(summary->kernel_share - 0.4) < 1e-12);
	assert_true(fabs(summary->exposed_transfer_share - 0.17) < 1e-12);
	assert_true(fabs(summary->transfer_share - 0.25) < 1e-12);
	assert_true(fabs(summary->device_utilisation - 0.6) < 1e-12);
	assert_int_equal(summary->wall_ns, WALL_NS);
	run->ledger.device = 0; // a device's, no union
	summary = compute(run);
	assert_true(isnan(summary->kernel_share));
	assert_true(isnan(summary->device_utilisation));
}

static void launches_are_calls_that_do_not_block(void **state)
{
	struct run *run = *state;
	const struct tare_recorded_summary *summary;
	add(run, 0, 100, 200, 300);
	add(run, 400, 300, 800, 900)->kind = TARE_KIND_WRITE;
	add(run, 1000, 5000, 1100, 5900)->flags = TARE_COMMAND_BLOCKING;
	add(run, 7000, 50, 7100, 7200)->flags = TARE_COMMAND_NESTED;
	summary = compute(run);
	assert_int_equal(summary->launch_ns, 400);
	assert_true(fabs(summary->mean_launch_ns - 200) < 1e-9);
}

static void cpu_time_is_known_for_the_whole_run_only(void **state)
{
	struct run *run = *state;
	assert_true(isnan(compute(run)->cpu_utilisation)); // nothing told
	run->processes[0].cpu_ns = 600000;
	run->processes[0].helper_cpu_ns = 100000;
	assert_true(fabs(compute(run)->cpu_utilisation - 0.5) < 1e-12);
	run->recording.user_cpu_ns = 1500000;
	run->recording.system_cpu_ns = 100000;
	assert_true(fabs(compute(run)->cpu_utilisation - 1.5) < 1e-12);
	run->view.process = 0;
	assert_true(fabs(compute(run)->cpu_utilisation - 0.5) < 1e-12);
	run->view.from_ns = 10;
	assert_true(isnan(compute(run)->cpu_utilisation));
}

static void a_call_that_executes_is_shared_once(void **state)
{
	struct tare_recorded_command commands[] = {
		{ .enter_ns = 100, .exit_ns = 400, .part = TARE_EXECUTES_MORE },
		{ .enter_ns = 100, .exit_ns = 400, .part = TARE_RUN },
		{ .enter_ns = 100, .exit_ns = 400, .part = TARE_RUN },
	};
	struct tare_recorded_execution execution = {
		.command = 0, .nodes = 5, .runs = 2, .shares = 3
	};
	struct tare_recording recording = { .commands.plain = commands,
		                            .command_count = 3,
		                            .executions = &execution,
		                            .execution_count = 1 };
	(void)state;
	for (int i = 0; i < 3; i++)
		assert_int_equal(tare_command_launch_ns(&recording, &commands[i]), 100);
	// Nothing else was run: the runs share all of it.
	commands[0].part = TARE_EXECUTES;
	execution.shares = 2;
	assert_int_equal(tare_command_launch_ns(&recording, &commands[0]), 0);
	assert_int_equal(tare_command_launch_ns(&recording, &commands[1]), 150);
	// Of none that it ran anything is known.
	commands[0].part = TARE_EXECUTES_MORE;
	execution.runs = 0;
	execution.shares = 1;
	assert_int_equal(tare_command_launch_ns(&recording, &commands[0]), 300);
}

int main(void)
{
#define WITH_RUN(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		WITH_RUN(all_of_a_phase_is_judged),
		WITH_RUN(start_up_is_not_judged),
		WITH_RUN(a_long_tear_down_is_said_first),
		WITH_RUN(shares_are_of_the_unions_ledger),
		WITH_RUN(launches_are_calls_that_do_not_block),
		WITH_RUN(cpu_time_is_known_for_the_whole_run_only),
		cmocka_unit_test(a_call_that_executes_is_shared_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
