// SPDX-License-Identifier: Apache-2.0
// Schedules as graphs, kernels that are first launched in the run, and launches of few work-groups,
// on simulated devices.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "even_device.h"
#include "measure/pipeline/internal.h"

// ---- graphs

static void a_graph_takes_what_its_queues_take(void **state)
{
	static const struct {
		uint32_t chunks, queues;
		double chunk_times;
	} rows[] = {
		{ 1, 1, 3 },    { 12, 1, 36 }, { 12, 3, 14 },
		{ 12, 12, 14 }, { 60, 4, 62 }, { 12, 2, 19 },
	};
	struct device device;
	(void)state;
	start(&device, even(NULL, NULL, "host append 1 us\ngraph launch 3 us instantiate 90 us\n"),
	      ITEMS, 1);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tare_schedule schedule = { .chunks = rows[i].chunks,
			                          .queues = rows[i].queues,
			                          .mechanism = TARE_MECHANISM_GRAPH };
		char text[96];
		// The launch is all that the host does: no append, no instantiation.
		near_ns(tare_schedule_text(&schedule, text, sizeof text),
		        (double)time_of(&device, &schedule, TARE_BREAK_NONE),
		        3000 + rows[i].chunk_times * STAGE_NS / rows[i].chunks, 5);
		assert_int_equal(verify(&device, &schedule, TARE_BREAK_NONE, NULL), TARE_VERIFIED);
	}
	stop(&device);
}

static void a_graph_is_recorded_anew_for_other_scalars(void **state)
{
	struct tare_schedule schedule = { .chunks = 12,
		                          .queues = 3,
		                          .mechanism = TARE_MECHANISM_GRAPH };
	struct device device;
	int32_t cycles = 3;
	(void)state;
	start(&device, even(NULL, NULL, ""), ITEMS, 1);
	near_ns("1 cycle", (double)time_of(&device, &schedule, TARE_BREAK_NONE),
	        STAGE_NS * 14 / 12.0, 5);
	device.rig.cycles = cycles;
	tare_pipeline_set_scalar(device.rig.pipeline, 1, &cycles);
	near_ns("3 cycles", (double)time_of(&device, &schedule, TARE_BREAK_NONE),
	        STAGE_NS * (3 * 12 + 2) / 12.0, 5);
	assert_int_equal(verify(&device, &schedule, TARE_BREAK_NONE, NULL), TARE_VERIFIED);
	// Backwards it has other nodes.
	tare_pipeline_set_backwards(device.rig.pipeline, true);
	assert_int_equal(verify(&device, &schedule, TARE_BREAK_NONE, NULL), TARE_VERIFIED);
	stop(&device);
}

// More of them than are kept; each is right whenever its turn comes.
static void many_graphs_take_turns(void **state)
{
	struct device device;
	(void)state;
	start(&device, even(NULL, NULL, ""), ITEMS, 1);
	for (uint32_t k = 0; k < 40; k++) {
		struct tare_schedule schedule = { .chunks = 2 + k * 7 % 10,
			                          .queues = 2,
			                          .mechanism = TARE_MECHANISM_GRAPH };
		assert_int_equal(verify(&device, &schedule, TARE_BREAK_NONE, NULL), TARE_VERIFIED);
	}
	stop(&device);
}

static void wrong_data_in_a_graph_is_found(void **state)
{
	struct tare_schedule schedule = { .chunks = 4,
		                          .queues = 2,
		                          .mechanism = TARE_MECHANISM_GRAPH };
	int hit = 0;
	(void)state;
	for (int operation = 1; operation < 40; operation++) {
		struct device device;
		char fault[64];
		snprintf(fault, sizeof fault, "fault wrong-data %d\n", operation);
		start(&device, even(NULL, NULL, fault), 1000, 1);
		hit += verify(&device, &schedule, TARE_BREAK_NONE, NULL) == TARE_WRONG;
		stop(&device);
	}
	assert_true(hit >= 12);
}

static void without_graphs_there_is_a_reason(void **state)
{
	struct tare_schedule schedule = { .chunks = 4,
		                          .queues = 2,
		                          .mechanism = TARE_MECHANISM_GRAPH };
	struct tare_error why = { 0 };
	struct device device;
	char text[256];
	int64_t ns;
	(void)state;
	start(&device, even(NULL, NULL, "lacks graphs reason \"an old driver\"\n"), 1000, 1);
	assert_int_equal(tare_pipeline_mechanisms(device.rig.pipeline, text, sizeof text), 7);
	assert_non_null(strstr(text, "graph ("));
	assert_non_null(strstr(text, "an old driver"));
	assert_int_equal(
	    tare_pipeline_run(device.rig.pipeline, &schedule, TARE_BREAK_NONE, &ns, NULL, &why),
	    -ENOTSUP);
	// Broken, it is no graph any more.
	assert_int_equal(verify(&device, &schedule, TARE_BREAK_BLOCKING, NULL), TARE_VERIFIED);
	stop(&device);
}

// A queue joins by waiting for a node; one that nobody waits for in the end is a mistake.
static void a_queue_that_joins_must_be_waited_for(void **state)
{
	struct tare_operation marker = { .type = TARE_OPERATION_MARKER };
	struct tare_event *fork = NULL, *end = NULL;
	struct tare_graph *graph = NULL;
	struct pipeline_queue *queue[2];
	struct tare_error why = { 0 };
	struct device device;
	(void)state;
	start(&device, even(NULL, NULL, ""), 1000, 1);
	for (uint32_t i = 2; i-- > 0;)
		rig_must(pipeline_queue(device.rig.pipeline, PIPELINE_PLAIN, i, &queue[i], error));
	for (int joined = 0; joined < 2; joined++) {
		rig_must(tare_graph_begin(queue[0]->queue, error));
		marker.wait_count = 0;
		rig_must(tare_append(queue[0]->queue, &marker, &fork, error));
		marker.waits = &fork;
		marker.wait_count = 1;
		rig_must(tare_append(queue[1]->queue, &marker, &end, error));
		assert_int_equal(tare_graph_end(queue[1]->queue, &graph, &why), -EINVAL);
		marker.waits = &end;
		if (joined)
			rig_must(tare_append(queue[0]->queue, &marker, NULL, error));
		assert_int_equal(tare_graph_end(queue[0]->queue, &graph, &why),
		                 joined ? 0 : -EINVAL);
		tare_event_free(fork);
		tare_event_free(end);
		// Neither records any more.
		marker.wait_count = 0;
		for (int i = 0; i < 2; i++) {
			rig_must(tare_append(queue[i]->queue, &marker, NULL, error));
			rig_must(tare_finish(queue[i]->queue, TARE_LIMIT_DEFAULT_NS, error));
		}
	}
	tare_graph_free(graph);
	stop(&device);
}

// ---- a kernel that was never launched

static int rebuilt;

static int count_rebuild(const void *context, struct tare_module **module,
                         struct tare_kernel **kernel, struct tare_error *error)
{
	const struct rig *rig = context;

	rebuilt++;
	return tare_kernel_build(rig->bench.device, "overlap", "overlap_other", module, kernel,
	                         NULL, error);
}

static void a_run_may_be_the_first_of_its_kernel(void **state)
{
	struct tare_schedule schedule = { .chunks = 12, .queues = 3 };
	struct tare_error why = { 0 };
	struct device device;
	int64_t ns;
	(void)state;
	// The kernel that is built anew takes its time for each launch; so it is the one that ran.
	start(&device,
	      even(NULL, NULL,
	           "kernel overlap_other fixed 500 us arguments 6 action "
	           "overlap-register\n"),
	      0, 1);
	device.rig.chunk.rebuild = count_rebuild;
	rig_must(tare_pipeline_open(&device.rig.bench, ITEMS, &device.rig.pipeline,
	                            &device.rig.chunk, error));
	near_ns("as built", (double)time_of(&device, &schedule, TARE_BREAK_NONE),
	        STAGE_NS * 14 / 12.0, 5);
	assert_int_equal(rebuilt, 0);
	near_ns("anew", (double)time_of(&device, &schedule, TARE_BREAK_LAZY_LOADING),
	        12 * 500e3 + 2 * STAGE_NS / 12.0, 5);
	assert_int_equal(rebuilt, 1);
	assert_int_equal(verify(&device, &schedule, TARE_BREAK_LAZY_LOADING, NULL), TARE_VERIFIED);
	assert_int_equal(rebuilt, 2);
	tare_pipeline_free(device.rig.pipeline);
	device.rig.chunk.rebuild = NULL;
	rig_must(tare_pipeline_open(&device.rig.bench, ITEMS, &device.rig.pipeline,
	                            &device.rig.chunk, error));
	assert_int_equal(tare_pipeline_run(device.rig.pipeline, &schedule, TARE_BREAK_LAZY_LOADING,
	                                   &ns, NULL, &why),
	                 -ENOTSUP);
	stop(&device);
}

// ---- few work-groups

// A group takes 1 us for each of its 64 items' turns; the device holds four at a time.
#define FEW "kernel overlap_few slots 1 item 1 us share yes arguments 6 action overlap-register\n"

static void few_groups_do_all_and_leave_room_for_others(void **state)
{
	static const struct {
		uint32_t groups_most, queues;
		double us;
	} rows[] = {
		// 16 launches of 6400 items: 100 groups, 25 at a time, each 64 us long.
		{ 0, 1, 16 * 25 * 64 },
		// One group does them all; four launches at a time where there are four queues,
		// each of which holds the engine for a quarter of its time.
		{ 1, 1, 16 * 6400 },
		{ 1, 2, 8 * 6400 + 1600 },
		{ 1, 4, 4 * 6400 + 3 * 1600 },
	};
	struct tare_stage_point point;
	struct device device;
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tare_schedule schedule = { .chunks = 16, .queues = rows[i].queues };
		double alone_us = rows[i].groups_most ? 6400 : 25 * 64;
		start(&device, even(NULL, NULL, FEW), 0, 1);
		tare_kernel_free(device.rig.kernel);
		tare_module_free(device.rig.module);
		rig_must(tare_kernel_build(device.rig.bench.device, "overlap", "overlap_few",
		                           &device.rig.module, &device.rig.kernel, NULL, error));
		device.rig.chunk.kernel = device.rig.kernel;
		device.rig.chunk.groups_most = rows[i].groups_most;
		rig_must(tare_pipeline_open(&device.rig.bench, 16 * 6400, &device.rig.pipeline,
		                            &device.rig.chunk, error));
		near_ns("a run", (double)time_of(&device, &schedule, TARE_BREAK_NONE),
		        1e3 * rows[i].us, 20e3 + 2e6 / 16);
		assert_int_equal(verify(&device, &schedule, TARE_BREAK_NONE, NULL), TARE_VERIFIED);
		// In a row each waits for the one before; over queues only where the device is
		// full: what one more takes is the quarter of the engine that it holds.
		rig_must(tare_pipeline_stage_point(device.rig.pipeline, TARE_STAGE_KERNEL, 6400, 4,
		                                   &point, error));
		rig_must(tare_pipeline_kernels_across(device.rig.pipeline, 6400, 8, &point, error));
		near_ns("alone", point.isolated_ns, 1e3 * alone_us, 10);
		near_ns("in a row", point.back_to_back_ns, 1e3 * alone_us, 10);
		near_ns("across", point.across_ns, 1e3 * (rows[i].groups_most ? 1600 : alone_us),
		        10);
		stop(&device);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_graph_takes_what_its_queues_take),
		cmocka_unit_test(a_graph_is_recorded_anew_for_other_scalars),
		cmocka_unit_test(many_graphs_take_turns),
		cmocka_unit_test(wrong_data_in_a_graph_is_found),
		cmocka_unit_test(without_graphs_there_is_a_reason),
		cmocka_unit_test(a_queue_that_joins_must_be_waited_for),
		cmocka_unit_test(a_run_may_be_the_first_of_its_kernel),
		cmocka_unit_test(few_groups_do_all_and_leave_room_for_others),
	};
	return cmocka_run_group_tests_name("pipeline_graph", tests, NULL, NULL);
}
