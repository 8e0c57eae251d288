// SPDX-License-Identifier: Apache-2.0
// What findings about launches say: of graphs, and of the loop around calls.
#include "tests/unit/analysis/findings/findings_rig.h"

#include <math.h>

static void a_graph_is_not_said_to_save_all_of_a_launch(void **state)
{
	(void)state;
	for (int cuda = 0; cuda < 2; cuda++) {
		struct scene *scene = run_script(
		    &(struct script){ .run_ns = 2 * US, .dispatch_ns = 3 * US, .cuda = cuda });
		const struct tare_finding *finding = found(scene, "many-short-kernels");
		assert_non_null(finding);
		int64_t least_ns = cuda ? finding->cost_ns / 2 : finding->cost_ns;
		assert_true(llabs(finding->cost_low_ns - least_ns) < 20 * US);
		assert_int_equal(strstr(finding->evidence, "graph") != NULL, cuda);
		free_scene(scene);
	}
}

static double figure_of(const struct tare_finding *finding, const char *name)
{
	for (size_t i = 0; i < finding->figure_count; i++)
		if (!strcmp(finding->figures[i].name, name))
			return finding->figures[i].value;
	return NAN;
}

// Of 199 gaps of 3 µs, for the first launch is no turn, with kernels of 2 µs.
static void what_a_graph_saves_is_by_what_was_measured(void **state)
{
	static const struct {
		const char *device;
		double launch_ns, node_ns, make_ns, graph_ns;
		double saves_ns, low_ns, best_ns; // saves NaN: it is not told
		bool cuda, advised;
	} rows[] = {
		{ "device", 4500, 500, 0, 15e3, 199 * 2e3 - 15e3, 199 * 2e3 - 15e3, 440e3, true,
		  true },
		{ "device", 9000, 500, 0, 0, 199 * 2.5e3, 199 * 2.5e3, 199 * 2.5e3, true, true },
		{ "device", 9000, 500, 1000, 0, 199 * 1.5e3, 199 * 1.5e3, 199 * 2e3, true, true },
		{ "device", 9000, 500, 7000, 0, 0, 0, 199 * 1.25e3, true, true },
		{ "device", 2100, 500, 0, 0, 0, 0, 199 * 1.25e3, true, true },
		{ "device", 9000, 2900, 0, 0, 199 * 100, 199 * 100, 199 * 3e3, true, false },
		{ "another", 4500, 500, 0, 0, NAN, 199 * 1.5e3, 199 * 3e3, true, true },
		{ "device", 4500, 500, 0, 0, NAN, 199 * 3e3, 199 * 3e3, false, true },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct tare_launch_costs costs = { rows[i].device,   rows[i].launch_ns,
			                                 rows[i].node_ns,  rows[i].make_ns,
			                                 rows[i].graph_ns, "2026-02-01" };
		struct scene *scene = run_script(&(struct script){
		    .run_ns = 2 * US, .dispatch_ns = 3 * US, .cuda = rows[i].cuda });
		find_knowing(scene, &costs);
		const struct tare_finding *finding = found(scene, "many-short-kernels");
		assert_non_null(finding);
		double saves_ns = figure_of(finding, "graph_saves_ns");
		bool told = isnan(rows[i].saves_ns) ? isnan(saves_ns)
		                                    : fabs(saves_ns - rows[i].saves_ns) < 5e3;
		if (!told || fabs((double)finding->cost_low_ns - rows[i].low_ns) > 5e3 ||
		    fabs((double)finding->cost_ns - rows[i].best_ns) > 5e3)
			fail_msg("row %zu: saves %.0f, low %lld, best %lld", i, saves_ns,
			         (long long)finding->cost_low_ns, (long long)finding->cost_ns);
		if (rows[i].cuda)
			assert_int_equal(strstr(finding->advice, "torch.cuda.graph") != NULL,
			                 rows[i].advised);
		assert_int_equal(strstr(finding->evidence, "2026-02-01") != NULL,
		                 !isnan(rows[i].saves_ns));
		free_scene(scene);
	}
}

static double launch_bound_saves_ns(struct scene *scene, double make_ns, double graph_ns)
{
	const struct tare_launch_costs costs = { "device", 4000, 700, make_ns, graph_ns, "" };
	find_knowing(scene, &costs);
	return figure_of(found(scene, "launch-bound"), "graph_saves_ns");
}

// Between two waits there is a graph: one is made, and all are launched.
static void waits_end_a_graph_that_is_made_once(void **state)
{
	enum { WAITS = 20 };
	struct scene *scene = run_script(&(struct script){ .api_ns = 250 * US, .cuda = true });
	const int64_t from_ns = TARE_COMMAND(&scene->made->recording, 0)->exit_ns;
	(void)state;
	double saves_ns = launch_bound_saves_ns(scene, 0, 0);
	assert_true(fabs(saves_ns - launch_bound_saves_ns(scene, 1000, 0) - 199e3) < 2e3);
	for (int64_t i = 1; i < WAITS; i++)
		made_call(scene->made, made_plain_call(0, TARE_ROLE_WAIT, from_ns + i * 250 * US,
		                                       from_ns + i * 250 * US + 1));
	made_sort(scene->made);
	// The first behind each is launched as before.
	double of_one = saves_ns;
	saves_ns = launch_bound_saves_ns(scene, 0, 0);
	assert_true(fabs(saves_ns / of_one - (199. - WAITS) / 198) < 0.005);
	assert_true(fabs(saves_ns - launch_bound_saves_ns(scene, 1000, 0) - 199e3 / WAITS) < 2e3);
	assert_true(fabs(saves_ns - launch_bound_saves_ns(scene, 0, 1000) - WAITS * 1e3) < 2e3);
	free_scene(scene);
}

// Where the host does other things than launch, a graph saves no more than the launches.
static void a_graph_saves_launches_and_no_other_calls(void **state)
{
	const struct tare_launch_costs costs = { "device", 4000, 700, 100, 0, "" };
	struct scene *scene = run_script(&(struct script){ .api_ns = 250 * US, .cuda = true });
	(void)state;
	const struct tare_finding *finding = found(scene, "launch-bound");
	assert_non_null(finding);
	assert_true(isnan(figure_of(finding, "graph_saves_ns")));
	find_knowing(scene, &costs);
	finding = found(scene, "launch-bound");
	assert_non_null(finding);
	assert_true(fabs(figure_of(finding, "graph_saves_ns") - 199 * 3.2e3) < 10e3);
	assert_true(finding->cost_ns > 199 * 40 * US);
	assert_true(finding->cost_low_ns >= 199 * 3 * US);
	free_scene(scene);
}

static void what_a_launch_loop_does_now_and_then_is_its_own(void **state)
{
	static const struct script loop = { .run_ns = 2 * US, .dispatch_ns = 3 * US };
	struct scene *scene = make_scene(&loop);
	(void)state;
	for (int rest = 0; rest < 2; rest++) {
		for (int i = 0; i < 150; i++) {
			if (i == 75)
				spend(scene,
				      scene->device_ns - scene->now_ns + (rest ? 2 * MS : 100 * US),
				      true);
			enqueue(scene, TARE_KIND_KERNEL, 0, 4 * US, 2 * US);
		}
		// Work that could hide what the host does.
		enqueue(scene, TARE_KIND_KERNEL, 1, 0, 500 * US);
		call(scene, TARE_ROLE_WAIT, scene->device_ns - scene->now_ns);
		scene->made->processes[0].end_ns = scene->made->recording.end_ns = scene->now_ns;
		scene->view = tare_view_all(&scene->made->recording);
		if (rest)
			find_again(scene);
		else
			find(scene);
		// Unless it is more than all the rest.
		assert_non_null(found(scene, "many-short-kernels"));
		assert_int_equal(found(scene, "idle-host-computes") != NULL, rest);
	}
	free_scene(scene);
}

// The loop around calls goes with them, as far as it is no more than they are.
static void what_lies_between_calls_is_in_the_upper_end(void **state)
{
	static const struct script script = { .api_ns = 249 * US };
	(void)state;
	struct scene *scene = run_script(&script);
	const struct tare_finding *bound = found(scene, "launch-bound");
	int64_t without_ns = bound->cost_high_ns;
	for (size_t i = 0; i < scene->made->recording.call_count; i++)
		if (scene->made->calls[i].exit_ns - scene->made->calls[i].enter_ns == 249 * US)
			scene->made->calls[i].enter_ns += 210 * US;
	find_again(scene);
	bound = found(scene, "launch-bound");
	assert_non_null(bound);
	// A gap of 50 µs: 39 or 40 inside the calls, the rest between them.
	assert_true(bound->cost_ns < without_ns * 9 / 10);
	assert_true(llabs(bound->cost_high_ns - without_ns) < without_ns / 20);
	// Where the driver's part of recording is known there is an estimate, else the upper end.
	for (int known = 0; known < 2; known++) {
		scene->tables.coverage.driver_ns = known ? 0 : TARE_NO_TIME;
		tare_findings_free(&scene->findings);
		assert_int_equal(tare_findings_find(&scene->made->recording, &scene->view,
		                                    &scene->ledgers, &scene->tables,
		                                    &scene->findings, NULL),
		                 0);
		bound = found(scene, "launch-bound");
		assert_int_equal(bound->cost_ns == bound->cost_high_ns, !known);
		assert_int_equal(bound->cost_low_ns == 0, !known);
	}
	free_scene(scene);
}

// What the device takes between two kernels in any case is no longer than the shortest gap.
static void launches_that_wait_are_not_said_to_gain_the_devices_own_gaps(void **state)
{
	struct script loop = { .return_ns = 20 * US };
	struct scene *scene = make_scene(&loop);
	(void)state;
	for (int i = 0; i < 200; i++) {
		loop.return_ns = i == 100 ? 5 * US : 20 * US;
		enqueue(scene, TARE_KIND_KERNEL, 0, 0, 20 * US);
	}
	call(scene, TARE_ROLE_WAIT, US);
	scene->made->processes[0].end_ns = scene->made->recording.end_ns = scene->now_ns;
	scene->view = tare_view_all(&scene->made->recording);
	find(scene);
	const struct tare_finding *finding = found(scene, "synchronous-launches");
	assert_non_null(finding);
	double gap_ns = figure_of(finding, "idle_ns") / 199;
	assert_true(gap_ns > 19 * US && gap_ns < 30 * US);
	assert_true(finding->cost_low_ns > 199 * 14 * US && finding->cost_low_ns < 199 * 15 * US);
	free_scene(scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_graph_is_not_said_to_save_all_of_a_launch),
		cmocka_unit_test(what_a_graph_saves_is_by_what_was_measured),
		cmocka_unit_test(waits_end_a_graph_that_is_made_once),
		cmocka_unit_test(a_graph_saves_launches_and_no_other_calls),
		cmocka_unit_test(what_a_launch_loop_does_now_and_then_is_its_own),
		cmocka_unit_test(what_lies_between_calls_is_in_the_upper_end),
		cmocka_unit_test(launches_that_wait_are_not_said_to_gain_the_devices_own_gaps),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
