// SPDX-License-Identifier: Apache-2.0
// Findings about what the host does around the device's work, and about recording itself.
#include "tests/unit/analysis/findings/findings_rig.h"

// What a module of CUDA's was made from is not recorded: it may be machine code already.
static void builds_that_may_be_loads_are_only_possible(void **state)
{
	static const struct script opencl = { .start_build_ns = 600 * MS };
	static const struct script cuda = { .start_build_ns = 600 * MS, .cuda = true };
	struct scene *scene = run_script(&opencl);
	(void)state;
	assert_int_equal(found(scene, "start-up-builds")->confidence, TARE_CONFIDENCE_LIKELY);
	assert_int_equal(found(scene, "start-up-builds")->cost_low_ns, 300 * MS);
	free_scene(scene);
	scene = run_script(&cuda);
	assert_int_equal(found(scene, "start-up-builds")->confidence, TARE_CONFIDENCE_POSSIBLE);
	assert_int_equal(found(scene, "start-up-builds")->cost_low_ns, 0);
	assert_int_equal(found(scene, "start-up-builds")->cost_ns, 600 * MS);
	free_scene(scene);
}

// On a device that runs in the calling thread the same thread can do nothing beside it.
static void what_runs_in_the_caller_has_nothing_beside_it(void **state)
{
	static const struct script script = { .compute_ns = 20 * US };
	(void)state;
	struct scene *scene = run_script(&script);
	assert_true(found(scene, "idle-host-computes")->cost_low_ns > 0);
	assert_non_null(strstr(found(scene, "idle-host-computes")->advice, "Enqueue the next"));
	for (size_t i = 0; i < scene->made->recording.command_count; i++)
		scene->made->commands[i].exit_ns = scene->made->commands[i].end_ns;
	find_again(scene);
	assert_int_equal(found(scene, "idle-host-computes")->cost_low_ns, 0);
	assert_non_null(strstr(found(scene, "idle-host-computes")->advice, "in another thread"));
	assert_null(strstr(found(scene, "idle-host-computes")->advice, "Enqueue the next"));
	free_scene(scene);
}

// Kernels that share the device with others would not make the run shorter.
static void only_kernels_that_run_alone_count(void **state)
{
	static const struct script script = { .dimensions = 2, .global = { 640, 64 } };
	(void)state;
	struct scene *scene = run_script(&script);
	assert_non_null(found(scene, "one-kernel-dominates"));
	for (size_t i = 1; i < scene->made->recording.command_count; i += 2) {
		scene->made->commands[i].start_ns = scene->made->commands[i - 1].start_ns;
		scene->made->commands[i].end_ns = scene->made->commands[i - 1].end_ns;
		scene->made->commands[i].submitted_ns = scene->made->commands[i - 1].submitted_ns;
	}
	find_again(scene);
	assert_true(scene->tables.task_count > 0);
	assert_null(found(scene, "one-kernel-dominates"));
	free_scene(scene);
}

// Of a start-up's calls: those beyond the longest of a function, and about memory that nothing
// used.
static void what_is_made_too_often_is_saved(void **state)
{
	static const struct script script = { .start_call_ns = 300 * MS, .start_calls = 2 };
	struct tare_recorded_function functions[2] = { { .name = "start" }, { .name = "make" } };
	struct tare_recorded_memory memory = { .parent = TARE_NO_INDEX };
	(void)state;
	struct scene *scene = run_script(&script);
	struct tare_recording *recording = &scene->made->recording;
	recording->functions = functions;
	recording->function_count = 2;
	recording->memories = &memory;
	recording->memory_count = 1;
	for (int spare = 0; spare < 3; spare++) {
		for (size_t i = 0; i < recording->call_count; i++) {
			struct tare_recorded_call *call = &scene->made->calls[i];
			if (call->exit_ns - call->enter_ns != 300 * MS)
				continue;
			call->function = 1;
			call->object = spare > 0 ? 0 : TARE_NO_INDEX;
			call->role = spare > 0 ? TARE_ROLE_ALLOCATE : TARE_ROLE_CREATE;
		}
		memory.released_ns = spare == 1 ? 660 * MS : TARE_NO_TIME;
		find_again(scene);
		const struct tare_finding *finding = found(scene, "start-up-calls");
		assert_non_null(finding);
		// And beside the host's own 50 ms the rest, as far as there is any.
		int64_t expected_ms = spare == 0 ? 300 + 50 : spare == 1 ? 600 + 10 : 50;
		assert_int_equal(finding->cost_ns, expected_ms * MS);
		assert_non_null(strstr(finding->title, "most of it in make"));
		assert_int_equal(strstr(finding->evidence, "more than is needed") != NULL,
		                 spare < 2);
	}
	free_scene(scene);
}

static void a_recording_that_drowns_says_so_and_nothing_else(void **state)
{
	static const struct script script = { .compute_ns = 50 * US, .command_cost_ns = 130 * US };
	static const struct script uncalibrated = { .not_calibrated = true };
	(void)state;
	struct scene *scene = run_script(&script);
	assert_int_equal(scene->findings.count, 1);
	assert_non_null(found(scene, "recording-cost"));
	assert_non_null(strstr(scene->findings.at[0].title, "too much to conclude"));
	free_scene(scene);
	scene = run_script(&uncalibrated);
	assert_int_equal(scene->findings.unjudged_count, 1);
	assert_non_null(strstr(scene->findings.unjudged[0], "not calibrated"));
	free_scene(scene);
}

// Each poll costs as much again as it takes. A row of them lasts as long as the device does,
// though; single ones come between other things.
static void what_loops_that_ask_cost_blurs_nothing(void **state)
{
	static const struct script script = { .poll_ns = 100 };
	(void)state;
	struct scene *scene = run_script(&script);
	scene->made->processes[0].self_cost_ps = 1000;
	scene->made->processes[0].self_call_cost_ps = 90 * 1000;
	find_again(scene);
	assert_non_null(found(scene, "host-polling"));
	assert_null(found(scene, "recording-cost"));
	scene->made->processes[0].self_cost_ps = 30 * US * 1000;
	find_again(scene);
	const struct tare_finding *finding = found(scene, "recording-cost");
	assert_non_null(finding);
	assert_true(finding->cost_ns < 7 * MS && finding->cost_high_ns > 30 * MS);
	for (size_t i = 0; i < scene->made->recording.call_count; i++)
		if (scene->made->calls[i].role == TARE_ROLE_POLL)
			scene->made->calls[i].role = TARE_ROLE_OTHER;
	find_again(scene);
	assert_non_null(strstr(found(scene, "recording-cost")->title, "too much to conclude"));
	free_scene(scene);
}

// Of what lies around the working part it can be told all the same.
static void what_drowns_the_working_part_leaves_the_start_up(void **state)
{
	static const struct script script = { .command_cost_ns = 130 * US,
		                              .start_call_ns = 600 * MS };
	(void)state;
	struct scene *scene = run_script(&script);
	assert_int_equal(scene->findings.count, 2);
	assert_non_null(strstr(found(scene, "recording-cost")->title, "too much to conclude"));
	assert_non_null(found(scene, "start-up-calls"));
	free_scene(scene);
}

// 1,500 calls before the first command fill the trace more than the 200 records of the working
// part.
static void waiting_for_room_in_the_start_up_is_no_cost_of_the_working_part(void **state)
{
	static const struct script script = { .stalled_ns = 20 * MS,
		                              .start_call_ns = 400 * US,
		                              .start_calls = 1500 };
	(void)state;
	struct scene *scene = run_script(&script);
	assert_null(found(scene, "recording-cost"));
	assert_non_null(found(scene, "start-up-calls"));
	free_scene(scene);
}

static void judge_again(struct scene *scene)
{
	tare_findings_free(&scene->findings);
	assert_int_equal(tare_findings_find(&scene->made->recording, &scene->view, &scene->ledgers,
	                                    &scene->tables, &scene->findings, NULL),
	                 0);
}

// What to do about times that nobody has seen is not what to do where none were asked for.
static void why_there_are_no_times_is_said(void **state)
{
	static const struct script script = { .untimed = true };
	(void)state;
	struct scene *scene = run_script(&script);
	struct tare_coverage *coverage = &scene->tables.coverage;
	for (int unseen = 0; unseen < 2; unseen++) {
		memset(coverage->unobserved_by, 0, sizeof coverage->unobserved_by);
		coverage
		    ->unobserved_by[unseen ? TARE_UNOBSERVED_PENDING : TARE_UNOBSERVED_NOT_ASKED] =
		    coverage->enqueued;
		judge_again(scene);
		const char *said = scene->findings.unjudged[0];
		assert_non_null(strstr(said, "no command has device times"));
		assert_int_equal(strstr(said, "release its queue") != NULL, unseen);
		assert_int_equal(strstr(said, "--strict") != NULL, !unseen);
	}
	free_scene(scene);
}

static void where_the_host_was_off_the_cpu_that_is_said(void **state)
{
	static const struct script off = { .start_off_ns = 600 * MS };
	static const struct script own = { .start_own_ns = 600 * MS };
	(void)state;
	struct scene *scene = run_script(&off);
	assert_non_null(strstr(found(scene, "start-up-host")->title, "mostly off the CPU"));
	assert_non_null(strstr(found(scene, "start-up-host")->evidence, "off the CPU for 600 ms"));
	free_scene(scene);
	scene = run_script(&own);
	assert_null(strstr(found(scene, "start-up-host")->title, "off the CPU"));
	free_scene(scene);
}

// The driver's part is that of the commands for which something was changed, not of all.
static void the_driver_is_charged_for_what_was_changed(void **state)
{
	static const struct script script = { .command_cost_ns = 1 * US };
	(void)state;
	struct scene *scene = run_script(&script);
	struct tare_recorded_process *process = &scene->made->processes[0];
	size_t commands = scene->made->recording.command_count, changed = 0;
	process->driver_rounds = 9;
	process->driver_ps[TARE_DRIVER_BOTH] = process->driver_low_ps[TARE_DRIVER_BOTH] =
	    process->driver_high_ps[TARE_DRIVER_BOTH] = (int64_t)60 * US * 1000;
	scene->made->queues[0].profiling = scene->made->queues[0].profiling_added = true;
	for (size_t i = 0; i < commands; i++) {
		scene->made->commands[i].flags = i % 2 ? TARE_COMMAND_OWN_EVENT : 0;
		changed += i % 2;
	}
	find_again(scene);
	const struct tare_finding *finding = found(scene, "recording-cost");
	assert_non_null(finding);
	double cost_ns = (double)changed * 60 * US + (double)commands * US;
	assert_in_range(finding->cost_ns, (int64_t)(0.99 * cost_ns), (int64_t)(1.01 * cost_ns));
	free_scene(scene);
}

// Below it a finding is about no more than what recording its commands costs.
static void what_recording_costs_is_no_finding(void **state)
{
	static const struct script dear = { .compute_ns = 14 * US, .command_cost_ns = 15 * US };
	static const struct script cheap = { .compute_ns = 14 * US, .command_cost_ns = 12 * US };
	(void)state;
	struct scene *scene = run_script(&dear);
	assert_null(found(scene, "idle-host-computes"));
	free_scene(scene);
	scene = run_script(&cheap);
	assert_non_null(found(scene, "idle-host-computes"));
	free_scene(scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(builds_that_may_be_loads_are_only_possible),
		cmocka_unit_test(what_runs_in_the_caller_has_nothing_beside_it),
		cmocka_unit_test(only_kernels_that_run_alone_count),
		cmocka_unit_test(what_is_made_too_often_is_saved),
		cmocka_unit_test(a_recording_that_drowns_says_so_and_nothing_else),
		cmocka_unit_test(what_loops_that_ask_cost_blurs_nothing),
		cmocka_unit_test(what_drowns_the_working_part_leaves_the_start_up),
		cmocka_unit_test(waiting_for_room_in_the_start_up_is_no_cost_of_the_working_part),
		cmocka_unit_test(why_there_are_no_times_is_said),
		cmocka_unit_test(where_the_host_was_off_the_cpu_that_is_said),
		cmocka_unit_test(the_driver_is_charged_for_what_was_changed),
		cmocka_unit_test(what_recording_costs_is_no_finding),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
