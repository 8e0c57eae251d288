// SPDX-License-Identifier: Apache-2.0
// Running pipelines on simulated devices: totals, breaks, verification, shapes of work.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "even_device.h"
#include "tests/unit/measure/latency/native_waits.h"
#include "tests/unit/quick.h"

// ---- totals

static void totals_equal_closed_forms(void **state)
{
	static const struct {
		const char *name;
		struct tare_schedule schedule; // chunks are set below
		bool serial, one_copy_engine;
	} rows[] = {
		{ "one queue", { .queues = 1 }, true },
		{ "three queues", { .queues = 3 }, false },
		{ "breadth-first", { .queues = 64, .order = TARE_ORDER_BREADTH_FIRST }, false },
		{ "interleaved", { .queues = 3, .order = TARE_ORDER_INTERLEAVED }, false },
		{ "stage queues",
		  { .queues = 3, .mechanism = TARE_MECHANISM_STAGE_QUEUES },
		  false },
		{ "out of order",
		  { .queues = 1, .mechanism = TARE_MECHANISM_OUT_OF_ORDER },
		  false },
		{ "out of order, breadth-first",
		  { .queues = 1,
		    .order = TARE_ORDER_BREADTH_FIRST,
		    .mechanism = TARE_MECHANISM_OUT_OF_ORDER },
		  false },
	};
	struct device device;
	(void)state;
	start(&device, even(NULL, NULL, ""), ITEMS, 1);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		for (uint32_t chunks = 1; chunks <= 60; chunks += chunks < 6 ? 1 : 6) {
			struct tare_schedule schedule = rows[i].schedule;
			double expected = rows[i].serial ? 3.0 * STAGE_NS
			                                 : (double)STAGE_NS * (chunks + 2) / chunks;
			if (3600 % chunks)
				continue;
			schedule.chunks = chunks;
			near_ns(rows[i].name, (double)time_of(&device, &schedule, TARE_BREAK_NONE),
			        expected, 3);
		}
	stop(&device);
}

static void one_copy_engine_breadth_first_gains_a_half(void **state)
{
	struct tare_schedule schedule = { .chunks = 48,
		                          .queues = 48,
		                          .order = TARE_ORDER_BREADTH_FIRST };
	struct device device;
	(void)state;
	start(&device, even(BOTH, ONE_COPY_ENGINE, ""), ITEMS, 1);
	near_ns("one copy engine", (double)time_of(&device, &schedule, TARE_BREAK_NONE),
	        2.0 * STAGE_NS, STAGE_NS / 24);
	stop(&device);
}

// ---- breaks

static void breaks_cost_what_they_must(void **state)
{
	struct tare_schedule schedule = { .chunks = 12, .queues = 3 };
	double best = STAGE_NS * 14 / 12.0;
	struct device device;
	(void)state;
	start(&device, even(NULL, NULL, "host allocate 50 us\n"), ITEMS, 1);
	near_ns("none", (double)time_of(&device, &schedule, TARE_BREAK_NONE), best, 2);
	near_ns("default queue", (double)time_of(&device, &schedule, TARE_BREAK_DEFAULT_QUEUE),
	        3.0 * STAGE_NS, 2);
	near_ns("blocking", (double)time_of(&device, &schedule, TARE_BREAK_BLOCKING),
	        3.0 * STAGE_NS, 2);
	// Each of eleven allocations holds the host; the last chunk then runs by itself.
	near_ns("allocation", (double)time_of(&device, &schedule, TARE_BREAK_ALLOCATION),
	        11 * 50000 + 3 * STAGE_NS / 12.0, 2);
	// The host's own copy in takes five times as long as the engine's.
	if (time_of(&device, &schedule, TARE_BREAK_PAGEABLE) < 5 * STAGE_NS)
		fail_msg("pageable is quicker than the host's own copy");
	near_ns("none, again", (double)time_of(&device, &schedule, TARE_BREAK_NONE), best, 2);
	for (int how = 0; how < TARE_BREAK_COUNT; how++)
		assert_int_equal(verify(&device, &schedule, (enum tare_break)how, NULL),
		                 TARE_VERIFIED);
	assert_string_equal(tare_break_name(TARE_BREAK_DEFAULT_QUEUE), "default-queue");
	stop(&device);
}

// ---- verification

static void every_schedule_computes_the_same(void **state)
{
	static const uint64_t items[] = { 1, 63, 64, 65, 1000, 4097 };
	(void)state;
	for (size_t i = 0; i < sizeof items / sizeof *items; i++) {
		struct device device;
		start(&device, even(NULL, NULL, ""), items[i], 7);
		for (uint32_t k = 0; k < TARE_MECHANISM_COUNT * TARE_ORDER_COUNT * 4; k++) {
			struct tare_schedule schedule = {
				.chunks = k % 2 ? 5 : 1,
				.queues = k % 2 ? 2 : 1,
				.sizes = k / 2 % 2 ? TARE_CHUNKS_TAPERED : TARE_CHUNKS_EQUAL,
				.order = (enum tare_issue_order)(k / 4 % TARE_ORDER_COUNT),
				.mechanism = (enum tare_mechanism)(k / 4 / TARE_ORDER_COUNT),
			};
			enum tare_verified verified;
			int64_t ns;
			struct tare_error why = { 0 };
			if (schedule.chunks > items[i]) {
				assert_int_equal(tare_pipeline_run(device.rig.pipeline, &schedule,
				                                   TARE_BREAK_NONE, &ns, NULL,
				                                   &why),
				                 -ERANGE);
				continue;
			}
			rig_must(tare_pipeline_verify(device.rig.pipeline, &schedule,
			                              TARE_BREAK_NONE, &verified, NULL, error));
			assert_int_equal(verified, TARE_VERIFIED);
		}
		stop(&device);
	}
}

static void wrong_data_is_found_with_its_item(void **state)
{
	struct tare_schedule schedule = { .chunks = 4, .queues = 2 };
	uint64_t wrong = 0;
	struct device device;
	char fault[64];
	int hit = 0;
	(void)state;
	// Wherever the fault strikes among the operations of the verified run.
	for (int operation = 1; operation < 40; operation++) {
		snprintf(fault, sizeof fault, "fault wrong-data %d\n", operation);
		start(&device, even(NULL, NULL, fault), 1000, 3);
		wrong = 9999;
		if (verify(&device, &schedule, TARE_BREAK_NONE, &wrong) == TARE_WRONG) {
			hit++;
			// One bit in the middle of a chunk, of what a stage wrote.
			assert_true(wrong % 250 == 125);
		}
		stop(&device);
	}
	if (hit < 12)
		fail_msg("%d of 12 wrong operations were found", hit);
}

// So much output is poisoned and checked by several threads, each of which has a part.
static void wrong_data_is_found_in_every_part_of_much(void **state)
{
	enum { MUCH = 1 << 21, CHUNKS = 4, CHUNK = MUCH / CHUNKS };
	struct tare_schedule schedule = { .chunks = CHUNKS, .queues = 2 };
	bool found[CHUNKS] = { false };
	(void)state;
	for (int operation = 1; operation < 40; operation += test_is_quick() ? 3 : 1) {
		uint64_t wrong = MUCH;
		struct device device;
		char fault[64];
		snprintf(fault, sizeof fault, "fault wrong-data %d\n", operation);
		start(&device, even(NULL, NULL, fault), MUCH, 1);
		if (verify(&device, &schedule, TARE_BREAK_NONE, &wrong) == TARE_WRONG) {
			assert_true(wrong < MUCH);
			assert_int_equal(wrong % CHUNK, CHUNK / 2);
			found[wrong / CHUNK] = true;
		}
		stop(&device);
	}
	for (int i = 0; i < CHUNKS; i++)
		assert_true(found[i]);
}

static void the_reference_is_an_unchunked_run(void **state)
{
	struct tare_schedule schedule = { .chunks = 4, .queues = 2 };
	enum tare_verified verified;
	struct tare_chunk_kernel chunk;
	uint64_t wrong = 9999;
	int32_t cycles = 9;
	struct device device;
	int hit = 0;
	(void)state;
	start(&device, even(NULL, NULL, ""), 0, 3);
	chunk = device.rig.chunk;
	chunk.check = NULL;
	rig_must(tare_pipeline_open(&device.rig.bench, 1000, &device.rig.pipeline, &chunk, error));
	assert_int_equal(verify(&device, &schedule, TARE_BREAK_NONE, NULL), TARE_VERIFIED);
	// Other scalars have another reference.
	tare_pipeline_set_scalar(device.rig.pipeline, 1, &cycles);
	assert_int_equal(verify(&device, &schedule, TARE_BREAK_NONE, NULL), TARE_VERIFIED);
	stop(&device);
	for (int operation = 1; operation < 40; operation++) {
		char fault[64];
		snprintf(fault, sizeof fault, "fault wrong-data %d\n", operation);
		start(&device, even(NULL, NULL, fault), 0, 3);
		chunk = device.rig.chunk;
		chunk.check = NULL;
		rig_must(tare_pipeline_open(&device.rig.bench, 1000, &device.rig.pipeline, &chunk,
		                            error));
		rig_must(tare_pipeline_verify(device.rig.pipeline, &schedule, TARE_BREAK_NONE,
		                              &verified, &wrong, error));
		hit += verified == TARE_WRONG;
		stop(&device);
	}
	if (hit < 12)
		fail_msg("%d of 12 wrong operations were found", hit);
}

// Leaves out the operation of a number, as a bug would.
static struct tare_backend skipping, skipping_plain;
static int skip_in; // of one type
static enum tare_operation_type skip_type;
static enum tare_memory_kind skip_to;
static int skip_status;

static int skipping_append(struct tare_queue *queue, const struct tare_operation *operation,
                           struct tare_event **event, struct tare_error *error)
{
	static const struct tare_operation marker = { .type = TARE_OPERATION_MARKER };
	if (operation->type == skip_type &&
	    (skip_type != TARE_OPERATION_COPY || operation->destination.memory->kind == skip_to) &&
	    skip_in-- == 0) {
		if (skip_status < 0)
			return tare_fail(error, -skip_status, "refused");
		operation = &marker;
	}
	return skipping_plain.append(queue, operation, event, error);
}

static void skip_from_now_on(struct device *device)
{
	skipping_plain = skipping = *device->simulated.device->backend;
	skipping.append = skipping_append;
	device->simulated.device->backend = &skipping;
	skip_in = -1;
	skip_status = 0;
}

static void what_is_left_out_is_found(void **state)
{
	static const struct {
		enum tare_operation_type type;
		enum tare_memory_kind to;
	} rows[] = { { TARE_OPERATION_COPY, TARE_MEMORY_DEVICE },
		     { TARE_OPERATION_LAUNCH, TARE_MEMORY_DEVICE },
		     { TARE_OPERATION_COPY, TARE_MEMORY_PINNED } };
	struct tare_schedule schedule = { .chunks = 4, .queues = 2 };
	struct device device;
	(void)state;
	start(&device, even(NULL, NULL, ""), 1000, 3);
	skip_from_now_on(&device);
	for (int i = 0; i < 3; i++)
		for (int chunk = 0; chunk < 4; chunk++) {
			uint64_t wrong = 9999;
			skip_in = -1;
			assert_int_equal(verify(&device, &schedule, TARE_BREAK_NONE, &wrong),
			                 TARE_VERIFIED);
			skip_type = rows[i].type;
			skip_to = rows[i].to;
			skip_in = chunk;
			assert_int_equal(verify(&device, &schedule, TARE_BREAK_NONE, &wrong),
			                 TARE_WRONG);
			assert_int_equal(wrong, 250 * chunk);
		}
	stop(&device);
}

static void a_run_that_fails_leaves_nothing_behind(void **state)
{
	struct tare_schedule schedule = { .chunks = 6, .queues = 3 };
	struct device device;
	int64_t ns, expected;
	(void)state;
	start(&device, even(NULL, NULL, ""), ITEMS, 1);
	expected = time_of(&device, &schedule, TARE_BREAK_NONE);
	skip_from_now_on(&device);
	skip_type = TARE_OPERATION_LAUNCH;
	skip_status = -EIO;
	for (int launch = 0; launch < 6; launch++) {
		skip_in = launch;
		assert_int_equal(tare_pipeline_run(device.rig.pipeline, &schedule, TARE_BREAK_NONE,
		                                   &ns, NULL, NULL),
		                 -EIO);
		near_ns("the next run", (double)time_of(&device, &schedule, TARE_BREAK_NONE),
		        (double)expected, 2);
	}
	stop(&device);
}

static void scalars_can_be_changed(void **state)
{
	struct tare_schedule schedule = { .chunks = 6, .queues = 3 };
	struct device device;
	(void)state;
	start(&device, even(NULL, NULL, ""), ITEMS, 1);
	near_ns("1 cycle", (double)time_of(&device, &schedule, TARE_BREAK_NONE), STAGE_NS * 8 / 6.0,
	        2);
	device.rig.cycles = 3;
	tare_pipeline_set_scalar(device.rig.pipeline, 1, &device.rig.cycles);
	near_ns("3 cycles", (double)time_of(&device, &schedule, TARE_BREAK_NONE),
	        STAGE_NS * (3 + 2 / 6.0), 2);
	assert_int_equal(verify(&device, &schedule, TARE_BREAK_NONE, NULL), TARE_VERIFIED);
	stop(&device);
}

// ---- the host's side

static void devices_that_wait_for_a_submit_get_it_in_time(void **state)
{
	(void)state;
	for (int m = 0; m < TARE_MECHANISM_COUNT; m++)
		for (int how = 0; how < TARE_BREAK_COUNT; how++) {
			struct tare_schedule schedule = { .chunks = 60,
				                          .queues = 3,
				                          .mechanism = (enum tare_mechanism)m };
			struct device device;
			int64_t ns;
			start(&device, even(NULL, NULL, "queue flush submit\nhost append 250 ns\n"),
			      ITEMS, 1);
			ns = time_of(&device, &schedule, (enum tare_break)how);
			// Appending all takes 45 us; the device begins after the first.
			if (how == TARE_BREAK_NONE)
				near_ns("total", (double)ns, 250 + STAGE_NS * 62 / 60.0, 300);
			assert_int_equal(verify(&device, &schedule, (enum tare_break)how, NULL),
			                 TARE_VERIFIED);
			stop(&device);
		}
}

static void submitting_costs_less_than_an_append_each(void **state)
{
	static const enum tare_issue_order orders[] = { TARE_ORDER_DEPTH_FIRST,
		                                        TARE_ORDER_BREADTH_FIRST,
		                                        TARE_ORDER_INTERLEAVED };
	(void)state;
	for (int m = 0; m < TARE_MECHANISM_COUNT; m++)
		for (size_t o = 0; o < 3; o++) {
			struct tare_schedule schedule = { .chunks = 120,
				                          .queues = 3,
				                          .order = orders[o],
				                          .mechanism = (enum tare_mechanism)m };
			struct device device;
			int64_t ns, issue_ns;
			start(&device, even(NULL, NULL, "host submit 1 us\n"), ITEMS, 1);
			rig_must(tare_pipeline_run(device.rig.pipeline, &schedule, TARE_BREAK_NONE,
			                           &ns, &issue_ns, error));
			// 360 appends, which are free here.
			if (issue_ns > 190000)
				fail_msg(
				    "%s, %s: %lld submits", tare_mechanism_name(schedule.mechanism),
				    tare_order_name(schedule.order), (long long)issue_ns / 1000);
			stop(&device);
		}
}

static void no_native_wait_comes_before_a_limited_one(void **state)
{
	(void)state;
	for (int how = 0; how < TARE_BREAK_COUNT; how++)
		for (int m = 0; m < TARE_MECHANISM_COUNT; m++) {
			struct tare_schedule schedule = { .chunks = 4,
				                          .queues = 2,
				                          .mechanism = (enum tare_mechanism)m };
			int64_t ps[TARE_STAGE_COUNT];
			struct tare_stage_point point;
			struct device device;
			bool together;
			simulated_open(&device.simulated,
			               even("stamps queued,submitted,start,end", "stamps none", ""),
			               "overlap", INT64_C(1000000000));
			watch_native_waits(&device.simulated);
			rig_open(&device.rig, &device.simulated.run, 1000, 1);
			// The first wait may be any of them.
			if (m == 0)
				verify(&device, &schedule, (enum tare_break)how, NULL);
			if (how == 0)
				for (int s = 0; s < TARE_STAGE_COUNT; s++)
					rig_must(tare_pipeline_stage_point(device.rig.pipeline,
					                                   (enum tare_stage)s, 100,
					                                   5, &point, error));
			time_of(&device, &schedule, (enum tare_break)how);
			rig_must(tare_pipeline_mode(device.rig.pipeline, 7, ps, &together, error));
			verify(&device, &schedule, (enum tare_break)how, NULL);
			if (native_violations)
				fail_msg("%s: %zu", tare_break_name((enum tare_break)how),
				         native_violations);
			stop(&device);
		}
}

// ---- other shapes of work

static void input_and_output_may_differ_in_size(void **state)
{
	static const struct {
		uint64_t in_bytes, out_bytes;
		uint32_t stages;
	} rows[] = { { 12, 4, 7 }, { 4, 8, 7 }, { 0, 4, 6 }, { 4, 0, 3 } };
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tare_schedule serial = { .chunks = 6, .queues = 1 };
		struct tare_pipeline_work work;
		struct tare_chunk_kernel chunk;
		enum tare_verified verified;
		struct device device;
		char script[4096];
		int64_t ns;
		// A kernel that only takes time: what it computes is another matter.
		snprintf(script, sizeof script, "%s", even(" action overlap-register", "", ""));
		start(&device, script, 0, 1);
		chunk = device.rig.chunk;
		chunk.check = NULL;
		chunk.in_bytes = rows[i].in_bytes;
		chunk.out_bytes = rows[i].out_bytes;
		rig_must(tare_pipeline_open(&device.rig.bench, ITEMS, &device.rig.pipeline, &chunk,
		                            error));
		assert_int_equal(tare_pipeline_stages(device.rig.pipeline), rows[i].stages);
		work = tare_pipeline_work(device.rig.pipeline);
		assert_int_equal(work.in_bytes, rows[i].in_bytes);
		assert_int_equal(work.items, ITEMS);
		for (int m = 0; m < TARE_MECHANISM_COUNT; m++) {
			serial.mechanism = (enum tare_mechanism)m;
			rig_must(tare_pipeline_run(device.rig.pipeline, &serial, TARE_BREAK_NONE,
			                           &ns, NULL, error));
			if (m == 0)
				near_ns("serial", (double)ns,
				        STAGE_NS * (1 + (double)rows[i].in_bytes / 4 +
				                    (double)rows[i].out_bytes / 4),
				        12);
		}
		rig_must(tare_pipeline_verify(device.rig.pipeline, &serial, TARE_BREAK_NONE,
		                              &verified, NULL, error));
		assert_int_equal(verified, rows[i].out_bytes ? TARE_VERIFIED : TARE_NOT_VERIFIABLE);
		stop(&device);
	}
}

static void chunks_keep_the_alignment(void **state)
{
	struct tare_schedule schedule = { .chunks = 3, .queues = 3 };
	struct tare_bar bars[9];
	struct tare_chunk_kernel chunk;
	struct device device;
	(void)state;
	start(&device, even(NULL, NULL, ""), 0, 1);
	chunk = device.rig.chunk;
	chunk.align = 96000;
	rig_must(tare_pipeline_open(&device.rig.bench, ITEMS, &device.rig.pipeline, &chunk, error));
	rig_must(tare_pipeline_gantt(device.rig.pipeline, &schedule, bars, error));
	for (int i = 0; i < 9; i++)
		near_ns("bar", (double)(bars[i].end_ps - bars[i].start_ps) / 1000,
		        bars[i].chunk == 2 ? STAGE_NS * 4 / 24.0 : STAGE_NS * 10 / 24.0, 2);
	stop(&device);
}

static void without_pinned_memory_there_is_pageable(void **state)
{
	struct tare_schedule schedule = { .chunks = 4, .queues = 2 };
	struct device device;
	int64_t ns;
	bool together;
	(void)state;
	start(&device, even(NULL, NULL, "lacks pinned reason \"none left\"\n"), 10000, 1);
	assert_false(tare_pipeline_pinned(device.rig.pipeline));
	assert_int_equal(verify(&device, &schedule, TARE_BREAK_NONE, NULL), TARE_VERIFIED);
	assert_true(speed(&device, 3, TARE_STAGE_KERNEL, &together) > 0);
	assert_int_equal(
	    tare_pipeline_run(device.rig.pipeline, &schedule, TARE_BREAK_PAGEABLE, &ns, NULL, NULL),
	    -ENOTSUP);
	stop(&device);
}

static void what_the_device_lacks_is_said(void **state)
{
	struct tare_schedule schedule = { .chunks = 4,
		                          .queues = 1,
		                          .mechanism = TARE_MECHANISM_OUT_OF_ORDER };
	struct tare_error why = { 0 };
	struct device device;
	char text[256];
	int64_t ns;
	(void)state;
	start(&device, even(NULL, NULL, "lacks out-of-order reason \"an old driver\"\n"), 1000, 1);
	assert_int_equal(tare_pipeline_mechanisms(device.rig.pipeline, text, sizeof text),
	                 1u << TARE_MECHANISM_CHUNK_QUEUES | 1u << TARE_MECHANISM_STAGE_QUEUES |
	                     1u << TARE_MECHANISM_GRAPH);
	assert_non_null(strstr(text, "out-of-order"));
	assert_non_null(strstr(text, "an old driver"));
	assert_int_equal(
	    tare_pipeline_run(device.rig.pipeline, &schedule, TARE_BREAK_NONE, &ns, NULL, &why),
	    -ENOTSUP);
	stop(&device);
	start(&device, even(NULL, NULL, ""), 1000, 1);
	assert_int_equal(tare_pipeline_mechanisms(device.rig.pipeline, text, sizeof text),
	                 (1u << TARE_MECHANISM_COUNT) - 1);
	assert_string_equal(text, "");
	stop(&device);
}

static void work_that_does_not_fit_is_refused(void **state)
{
	struct device device;
	struct tare_error why = { 0 };
	struct tare_pipeline *pipeline = NULL;
	(void)state;
	start(&device, even(NULL, NULL, ""), 0, 1);
	assert_int_equal(
	    tare_pipeline_open(&device.rig.bench, 16000000, &pipeline, &device.rig.chunk, &why),
	    -ENOMEM);
	assert_int_equal(tare_pipeline_open(&device.rig.bench, UINT64_C(1) << 32, &pipeline,
	                                    &device.rig.chunk, &why),
	                 -EINVAL);
	assert_int_equal(
	    tare_pipeline_open(&device.rig.bench, 0, &pipeline, &device.rig.chunk, &why), -EINVAL);
	assert_null(pipeline);
	stop(&device);
}

static void a_device_that_fails_in_the_middle_is_said(void **state)
{
	static const struct {
		const char *fault;
		int status;
	} rows[] = { { "device-lost", -ENODEV }, { "hang", -ETIMEDOUT }, { "failure", -EIO } };
	struct tare_schedule schedule = { .chunks = 4, .queues = 2 };
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		for (int operation = 9; operation < 60; operation += 7) {
			struct tare_error why = { 0 };
			struct device device;
			char fault[64];
			int64_t ns, ps[TARE_STAGE_COUNT];
			int status = 0;
			bool together;
			snprintf(fault, sizeof fault, "fault %s %d\n", rows[i].fault, operation);
			start(&device, even(NULL, NULL, fault), 1000, 1);
			for (int k = 0; status == 0 && k < 4; k++)
				status = tare_pipeline_run(device.rig.pipeline, &schedule,
				                           TARE_BREAK_NONE, &ns, NULL, &why);
			if (status == 0)
				status =
				    tare_pipeline_mode(device.rig.pipeline, 7, ps, &together, &why);
			assert_int_equal(status, rows[i].status);
			assert_true(strlen(why.message) > 0);
			if (status == -EIO)
				rig_must(tare_pipeline_run(device.rig.pipeline, &schedule,
				                           TARE_BREAK_NONE, &ns, NULL, error));
			stop(&device);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(totals_equal_closed_forms),
		cmocka_unit_test(one_copy_engine_breadth_first_gains_a_half),
		cmocka_unit_test(breaks_cost_what_they_must),
		cmocka_unit_test(every_schedule_computes_the_same),
		cmocka_unit_test(wrong_data_is_found_with_its_item),
		cmocka_unit_test(wrong_data_is_found_in_every_part_of_much),
		cmocka_unit_test(the_reference_is_an_unchunked_run),
		cmocka_unit_test(what_is_left_out_is_found),
		cmocka_unit_test(a_run_that_fails_leaves_nothing_behind),
		cmocka_unit_test(scalars_can_be_changed),
		cmocka_unit_test(devices_that_wait_for_a_submit_get_it_in_time),
		cmocka_unit_test(submitting_costs_less_than_an_append_each),
		cmocka_unit_test(no_native_wait_comes_before_a_limited_one),
		cmocka_unit_test(input_and_output_may_differ_in_size),
		cmocka_unit_test(chunks_keep_the_alignment),
		cmocka_unit_test(without_pinned_memory_there_is_pageable),
		cmocka_unit_test(what_the_device_lacks_is_said),
		cmocka_unit_test(work_that_does_not_fit_is_refused),
		cmocka_unit_test(a_device_that_fails_in_the_middle_is_said),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
