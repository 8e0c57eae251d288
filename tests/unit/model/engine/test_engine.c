// SPDX-License-Identifier: Apache-2.0
// The engine model against closed forms, and its invariants over random devices and work.
#include "model/engine/engine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#define US INT64_C(1000000)
#define NS INT64_C(1000)
#define MB (UINT64_C(1) << 20)

// A script with the lines that every one needs, and `lines`.
static struct tare_script script_of(const char *lines)
{
	static struct tare_script script;
	struct tare_error error = { 0 };
	char text[2048];
	int length = snprintf(text, sizeof text,
	                      "tare-device 1\ndevice name \"test\" units 4 memory 1 GiB\n"
	                      "timer rate 1 GHz\nengine compute runs kernel\n%s",
	                      lines);
	if (tare_script_parse(text, (size_t)length, "test", &script, &error) < 0)
		fail_msg("%s", error.message);
	return script;
}

#define TWO_COPY_ENGINES "engine copy runs to-device\nengine copy runs to-host,local\n"
#define ONE_COPY_ENGINE "engine copy runs to-device,to-host,local\n"

static struct tare_model_operation copy_of(const struct tare_script *script, enum tare_place from,
                                           enum tare_place to, uint64_t bytes)
{
	const struct tare_script_copy *copy = &script->copies[from][to];
	struct tare_model_operation operation = { 0 };
	tare_model_copy_cost(copy->fixed_ps, copy->rate, bytes, tare_flow_of_copy(from, to),
	                     &operation);
	return operation;
}

static struct tare_model_operation kernel_of(int64_t ps)
{
	return (struct tare_model_operation){ .flow = TARE_FLOW_KERNEL, .work_ps = ps };
}

static void one_copy_takes_fixed_plus_bytes_over_rate(void **state)
{
	static const struct {
		uint64_t bytes;
		int64_t ps;
	} rows[] = {
		{ 0, 2830000 },
		{ 1, 2830000 + 18 },          // 17.99 ps, rounded up
		{ 55600, 2830000 + 1000000 }, // 55.6 kB at 55.6 GB/s: 1 us
		{ UINT64_C(55600000000), 2830000 + INT64_C(1000000000000) },
	};
	(void)state;
	struct tare_script script =
	    script_of(TWO_COPY_ENGINES "copy pinned device fixed 2.83 us rate 55.6 GB/s\n");
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tare_model *model = tare_model_new(&script, NULL, NULL);
		struct tare_model_operation copy =
		    copy_of(&script, TARE_PLACE_PINNED, TARE_PLACE_DEVICE, rows[i].bytes);
		tare_model_append(model, tare_model_queue_new(model, TARE_MODEL_IN_ORDER, -1),
		                  &copy);
		assert_true(tare_model_run_until(model, &copy, TARE_PS_MAX));
		assert_int_equal(copy.start_ps, 0);
		assert_int_equal(copy.end_ps, rows[i].ps);
		tare_model_free(model);
	}
}

static void copies_back_to_back_add_up(void **state)
{
	(void)state;
	struct tare_script script =
	    script_of(TWO_COPY_ENGINES "queue same-gap 250 ns\n"
	                               "copy device pinned fixed 2 us rate 10 GB/s\n");
	struct tare_model *model = tare_model_new(&script, NULL, NULL);
	struct tare_model_queue *queue = tare_model_queue_new(model, TARE_MODEL_IN_ORDER, -1);
	struct tare_model_operation copies[7];
	for (int i = 0; i < 7; i++) {
		copies[i] = copy_of(&script, TARE_PLACE_DEVICE, TARE_PLACE_PINNED, 100000);
		tare_model_append(model, queue, &copies[i]);
	}
	assert_true(tare_model_run_until(model, &copies[6], TARE_PS_MAX));
	assert_int_equal(copies[6].end_ps, 7 * (2 * US + 10 * US) + 6 * 250 * NS);
	tare_model_free(model);
}

// a bytes to the device and b to the host from time 0, without fixed cost, at 10 GB/s alone, and
// at `in` and `out` of that while both run.
static void opposing(const char *in, const char *out, uint64_t a, uint64_t b, int64_t *in_end,
                     int64_t *out_end)
{
	char lines[512];
	snprintf(lines, sizeof lines,
	         TWO_COPY_ENGINES
	         "copy pinned device rate 10 GB/s\ncopy device pinned rate 10 GB/s\n"
	         "concurrent to-device speed %s %% while to-host\n"
	         "concurrent to-host speed %s %% while to-device\n",
	         in, out);
	struct tare_script script = script_of(lines);
	struct tare_model *model = tare_model_new(&script, NULL, NULL);
	struct tare_model_operation to_device =
	    copy_of(&script, TARE_PLACE_PINNED, TARE_PLACE_DEVICE, a);
	struct tare_model_operation to_host =
	    copy_of(&script, TARE_PLACE_DEVICE, TARE_PLACE_PINNED, b);
	tare_model_append(model, tare_model_queue_new(model, TARE_MODEL_IN_ORDER, -1), &to_device);
	tare_model_append(model, tare_model_queue_new(model, TARE_MODEL_IN_ORDER, -1), &to_host);
	assert_true(tare_model_run_until(model, &to_device, TARE_PS_MAX));
	assert_true(tare_model_run_until(model, &to_host, TARE_PS_MAX));
	*in_end = to_device.end_ps;
	*out_end = to_host.end_ps;
	tare_model_free(model);
}

static void opposing_copies_share_the_duplex_factor(void **state)
{
	int64_t in, out;
	(void)state;
	// Equal: both at 80 % to the end. 100 us of work alone.
	opposing("80", "80", 1000000, 1000000, &in, &out);
	assert_int_equal(in, 125 * US);
	assert_int_equal(out, 125 * US);
	// Unequal: the shorter one ends at 50 us / 0.8, the longer does the rest at full speed.
	opposing("80", "80", 1000000, 500000, &in, &out);
	assert_int_equal(out, 62500 * NS);
	assert_int_equal(in, 62500 * NS + (100 * US - 50 * US));
	// Each direction with a factor of its own: 50 us at 90 %, then the rest of 200 us, of which
	// 60 % passed meanwhile.
	opposing("60", "90", 2000000, 450000, &in, &out);
	assert_int_equal(out, 50 * US);
	assert_int_equal(in, 50 * US + (200 * US - 30 * US));
}

static void the_slowest_line_whose_flows_all_run_holds(void **state)
{
	// A kernel of 90 us of work beside a long copy each way; the copies come and go.
	static const struct {
		bool in, out;
		int64_t end_ps;
	} rows[] = {
		{ false, false, 90 * US },
		{ true, false, 100 * US }, // 90 %
		{ false, true, 90 * US },  // no line
		{ true, true, 300 * US },  // 30 %
	};
	(void)state;
	struct tare_script script =
	    script_of(TWO_COPY_ENGINES "concurrent kernel speed 30 % while to-device,to-host\n"
	                               "concurrent kernel speed 90 % while to-device\n");
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tare_model *model = tare_model_new(&script, NULL, NULL);
		struct tare_model_operation kernel = kernel_of(90 * US);
		struct tare_model_operation in = { .flow = TARE_FLOW_TO_DEVICE,
			                           .work_ps = 1000 * US };
		struct tare_model_operation out = { .flow = TARE_FLOW_TO_HOST,
			                            .work_ps = 1000 * US };
		tare_model_append(model, tare_model_queue_new(model, TARE_MODEL_IN_ORDER, -1),
		                  &kernel);
		if (rows[i].in)
			tare_model_append(
			    model, tare_model_queue_new(model, TARE_MODEL_IN_ORDER, -1), &in);
		if (rows[i].out)
			tare_model_append(
			    model, tare_model_queue_new(model, TARE_MODEL_IN_ORDER, -1), &out);
		assert_true(tare_model_run_until(model, &kernel, TARE_PS_MAX));
		assert_int_equal(kernel.end_ps, rows[i].end_ps);
		tare_model_free(model);
	}
}

static void what_is_not_whole_is_rounded_up_once(void **state)
{
	(void)state;
	struct tare_script script =
	    script_of(TWO_COPY_ENGINES "concurrent kernel speed 30 % while to-device\n");
	struct tare_model *model = tare_model_new(&script, NULL, NULL);
	struct tare_model_operation kernel = kernel_of(100);
	struct tare_model_operation in = { .flow = TARE_FLOW_TO_DEVICE, .work_ps = US };
	tare_model_append(model, tare_model_queue_new(model, TARE_MODEL_IN_ORDER, -1), &kernel);
	tare_model_append(model, tare_model_queue_new(model, TARE_MODEL_IN_ORDER, -1), &in);
	// Looked at in the middle, which changes nothing.
	tare_model_run(model, 101);
	assert_true(tare_model_run_until(model, &kernel, TARE_PS_MAX));
	assert_int_equal(kernel.end_ps, 334); // 100 / 0.3 = 333.3
	tare_model_free(model);
}

static void an_engine_takes_what_was_ready_first(void **state)
{
	(void)state;
	struct tare_script script = script_of("");
	struct tare_model *model = tare_model_new(&script, NULL, NULL);
	struct tare_model_operation first = kernel_of(10 * US), late = kernel_of(10 * US);
	struct tare_model_operation early = kernel_of(10 * US), tie = kernel_of(10 * US);
	late.submitted_ps = 5 * US;
	early.submitted_ps = 4 * US;
	tie.submitted_ps = 5 * US;
	tare_model_append(model, tare_model_queue_new(model, TARE_MODEL_IN_ORDER, -1), &first);
	tare_model_append(model, tare_model_queue_new(model, TARE_MODEL_IN_ORDER, -1), &late);
	tare_model_append(model, tare_model_queue_new(model, TARE_MODEL_IN_ORDER, -1), &early);
	tare_model_append(model, tare_model_queue_new(model, TARE_MODEL_IN_ORDER, -1), &tie);
	tare_model_run(model, 1000 * US);
	assert_int_equal(early.start_ps, 10 * US);
	assert_int_equal(late.start_ps, 20 * US); // ready with `tie`, but appended before it
	assert_int_equal(tie.start_ps, 30 * US);
	tare_model_free(model);
}

static void a_fixed_cost_does_not_slow_down(void **state)
{
	(void)state;
	struct tare_script script = script_of(
	    TWO_COPY_ENGINES
	    "copy pinned device fixed 10 us rate 10 GB/s\ncopy device pinned rate 10 GB/s\n"
	    "concurrent to-device speed 50 % while to-host\n"
	    "concurrent to-host speed 50 % while to-device\n");
	struct tare_model *model = tare_model_new(&script, NULL, NULL);
	struct tare_model_operation in =
	    copy_of(&script, TARE_PLACE_PINNED, TARE_PLACE_DEVICE, 1000000);
	struct tare_model_operation out =
	    copy_of(&script, TARE_PLACE_DEVICE, TARE_PLACE_PINNED, 1000000);
	tare_model_append(model, tare_model_queue_new(model, TARE_MODEL_IN_ORDER, -1), &in);
	tare_model_append(model, tare_model_queue_new(model, TARE_MODEL_IN_ORDER, -1), &out);
	assert_true(tare_model_run_until(model, &in, TARE_PS_MAX));
	// 10 us alone for `out`, its other 90 us at half speed; then `in` has 10 us of its 100
	// left.
	assert_int_equal(out.end_ps, 190 * US);
	assert_int_equal(in.end_ps, 200 * US);
	tare_model_free(model);
}

static void engines_of_one_flow_share_its_link(void **state)
{
	(void)state;
	struct tare_script script =
	    script_of("engine copy runs to-device\nengine copy runs to-device\n"
	              "engine copy runs to-device\ncopy pinned device rate 10 GB/s\n");
	struct tare_model *model = tare_model_new(&script, NULL, NULL);
	struct tare_model_operation copies[3];
	for (int i = 0; i < 3; i++) {
		copies[i] =
		    copy_of(&script, TARE_PLACE_PINNED, TARE_PLACE_DEVICE, 100000 * (i + 1));
		tare_model_append(model, tare_model_queue_new(model, TARE_MODEL_IN_ORDER, -1),
		                  &copies[i]);
	}
	assert_true(tare_model_run_until(model, &copies[2], TARE_PS_MAX));
	// 10, 20 and 30 us of work: thirds until 30, halves until 50, alone until 60.
	assert_int_equal(copies[0].end_ps, 30 * US);
	assert_int_equal(copies[1].end_ps, 50 * US);
	assert_int_equal(copies[2].end_ps, 60 * US);
	tare_model_free(model);
}

static void a_kernel_runs_in_waves(void **state)
{
	// 4 units x 2 slots = 8 groups at once; a wave lasts 1 us + 32 items x 10 ns.
	static const struct {
		uint64_t groups;
		int64_t waves;
	} rows[] = {
		{ 1, 1 }, { 8, 1 }, { 9, 2 }, { 16, 2 }, { 17, 3 }, { 8000, 1000 }, { 8001, 1001 },
	};
	(void)state;
	struct tare_script script =
	    script_of("kernel k fixed 2 us slots 2 wave 1 us item 10 ns\n"
	              "kernel floor fixed 2 us minimum 5 us slots 2 wave 1 us item 10 ns\n"
	              "kernel stream fixed 3 us rate 1 Gitem/s\n"
	              "kernel share fixed 2 us slots 2 wave 1 us item 10 ns share yes\n");
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tare_model_operation k, floor, share;
		int64_t body = rows[i].waves * 1320 * NS;
		tare_model_kernel_cost(&script, &script.kernels[0], rows[i].groups, 32, NULL, &k);
		assert_int_equal(k.fixed_ps + k.work_ps + k.tail_ps, 2 * US + body);
		assert_int_equal(k.tail_ps, 0);
		tare_model_kernel_cost(&script, &script.kernels[1], rows[i].groups, 32, NULL,
		                       &floor);
		assert_int_equal(floor.fixed_ps + floor.work_ps + floor.tail_ps,
		                 2 * US + (body < 5 * US ? 5 * US : body));
		// Shared: it lasts as long, but holds the engine only for what it fills.
		tare_model_kernel_cost(&script, &script.kernels[3], rows[i].groups, 32, NULL,
		                       &share);
		assert_int_equal(share.work_ps + share.tail_ps, body);
		assert_int_equal(share.work_ps, (int64_t)rows[i].groups * 1320 * NS / 8);
	}
	struct tare_model_operation stream;
	tare_model_kernel_cost(&script, &script.kernels[2], 1000, 64, NULL, &stream);
	assert_int_equal(stream.fixed_ps + stream.work_ps, 3 * US + 64 * US);
}

static void repeats_cost_items_times_the_argument(void **state)
{
	static const struct {
		size_t kernel;
		uint64_t items, count, span;
		int64_t ps;
	} rows[] = {
		{ 0, 1000, 1, 0, 1000 * NS },
		{ 0, 1000, 64, 0, 64000 * NS },
		{ 0, 1000, 0, 0, 0 },
		{ 1, 1, 1, 0, 333333333334 }, // 1/3 s, rounded up
		{ 1, UINT64_MAX, UINT64_MAX, 0, TARE_PS_MAX },
		{ 1, UINT64_C(1) << 63, UINT64_C(1) << 53, 0, TARE_PS_MAX }, // 2^116 repeats
		{ 1, 3000000, 1, 0, TARE_PS_MAX },
		{ 1, 2999999, 1, 0, INT64_C(999999666666666667) },
		// 1 Gitem/s up to 1 KiB, 0.5 up to 2 KiB, beyond that 0.1.
		{ 2, 100, 1, 1, 100 * NS },
		{ 2, 100, 1, 1024, 100 * NS },
		{ 2, 100, 1, 1025, 200 * NS },
		{ 2, 100, 1, 2048, 200 * NS },
		{ 2, 100, 1, 2049, 1000 * NS },
		{ 2, 100, 1, UINT64_MAX, 1000 * NS },
		{ 3, 100, 1, 1, 0 },
	};
	(void)state;
	struct tare_script script = script_of(
	    "kernel k repeat 0 repeat-rate 1 Gitem/s\n"
	    "kernel slow repeat 0 repeat-rate 3 item/s\n"
	    "kernel tiered repeat 0 repeat-rate 0.1 Gitem/s span 1\n"
	    "tier tiered up-to 1 KiB rate 1 Gitem/s\ntier tiered up-to 2 KiB rate 0.5 Gitem/s\n"
	    "kernel none\n"
	    "kernel all fixed 2 us minimum 9 us slots 2 wave 1 us rate 1 Gitem/s share yes \\\n"
	    " repeat 0 repeat-rate 1 Gitem/s\n");
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		assert_int_equal(tare_model_repeat_ps(
		                     &script.kernels[rows[i].kernel], rows[i].items,
		                     &(struct tare_model_repeat){ rows[i].count, rows[i].span }),
		                 rows[i].ps);
	assert_int_equal(tare_model_repeat_ps(&script.kernels[0], 1000, NULL), 0);
	// 4 of 8 slots filled: 1 us of wave, of it 0.5 held; 0.4 us of items; 4 us of repeats; at
	// least 9.
	struct tare_model_operation operation;
	tare_model_kernel_cost(&script, &script.kernels[4], 4, 100,
	                       &(struct tare_model_repeat){ .count = 10 }, &operation);
	assert_int_equal(operation.fixed_ps, 2 * US);
	assert_int_equal(operation.work_ps, 500 * NS + 400 * NS + 4 * US);
	assert_int_equal(operation.work_ps + operation.tail_ps, 9 * US);
	tare_model_kernel_cost(&script, &script.kernels[4], 4, 100,
	                       &(struct tare_model_repeat){ .count = 20 }, &operation);
	assert_int_equal(operation.work_ps + operation.tail_ps, 1 * US + 400 * NS + 8 * US);
}

static void a_shared_kernel_leaves_room_for_the_next(void **state)
{
	(void)state;
	struct tare_script script = script_of("kernel share slots 1 wave 8 us share yes\n");
	struct tare_model *model = tare_model_new(&script, NULL, NULL);
	struct tare_model_operation kernels[4];
	// Each fills a quarter of the device: four queues together take 8 us plus three quarters'
	// delay.
	for (int i = 0; i < 4; i++) {
		tare_model_kernel_cost(&script, &script.kernels[0], 1, 1, NULL, &kernels[i]);
		kernels[i].submitted_ps = 0;
		kernels[i].held = false;
		kernels[i].wait_count = 0;
		tare_model_append(model, tare_model_queue_new(model, TARE_MODEL_IN_ORDER, -1),
		                  &kernels[i]);
	}
	assert_true(tare_model_run_until(model, &kernels[3], TARE_PS_MAX));
	assert_int_equal(kernels[3].end_ps, 3 * 2 * US + 8 * US);
	tare_model_free(model);
}

enum issue { DEPTH_FIRST, BREADTH_FIRST };

// n chunks of three equal stages of 10 us; returns the time for all.
static int64_t pipeline(const char *lines, size_t n, size_t queues, enum issue issue)
{
	struct tare_script script = script_of(lines);
	struct tare_model *model = tare_model_new(&script, NULL, NULL);
	struct tare_model_operation *stages = calloc(3 * n, sizeof *stages);
	struct tare_model_queue *at[64];
	int64_t end = 0;
	for (size_t i = 0; i < queues; i++)
		at[i] = tare_model_queue_new(model, TARE_MODEL_IN_ORDER, -1);
	for (size_t i = 0; i < 3 * n; i++) {
		size_t chunk = issue == DEPTH_FIRST ? i / 3 : i % n;
		size_t stage = issue == DEPTH_FIRST ? i % 3 : i / n;
		static const enum tare_flow flows[] = { TARE_FLOW_TO_DEVICE, TARE_FLOW_KERNEL,
			                                TARE_FLOW_TO_HOST };
		struct tare_model_operation *operation = &stages[3 * chunk + stage];
		*operation =
		    (struct tare_model_operation){ .flow = flows[stage], .work_ps = 10 * US };
		tare_model_append(model, at[chunk % queues], operation);
	}
	tare_model_run(model, TARE_PS_MAX - 1);
	for (size_t i = 0; i < 3 * n; i++) {
		assert_int_equal(stages[i].phase, TARE_PHASE_DONE);
		end = stages[i].end_ps > end ? stages[i].end_ps : end;
	}
	free(stages);
	tare_model_free(model);
	return end;
}

static void a_pipeline_reaches_3n_over_n_plus_2_on_two_copy_engines(void **state)
{
	(void)state;
	for (size_t n = 1; n <= 64; n *= 2) {
		int64_t serial = (int64_t)n * 3 * 10 * US;
		int64_t time = pipeline(TWO_COPY_ENGINES, n, n, DEPTH_FIRST);
		assert_int_equal(time * 3 * (int64_t)n, serial * (int64_t)(n + 2));
	}
}

static void a_pipeline_reaches_one_and_a_half_on_one_copy_engine_breadth_first(void **state)
{
	(void)state;
	for (size_t n = 2; n <= 64; n *= 2) {
		int64_t serial = (int64_t)n * 3 * 10 * US;
		assert_int_equal(2 * serial, 3 * pipeline(ONE_COPY_ENGINE, n, n, BREADTH_FIRST));
	}
	// Where the engine takes work in the order of issue, depth first gains nothing.
	assert_int_equal(
	    pipeline("engine copy runs to-device,to-host order issue\n", 8, 8, BREADTH_FIRST),
	    8 * 20 * US);
	assert_int_equal(
	    pipeline("engine copy runs to-device,to-host order issue\n", 8, 8, DEPTH_FIRST),
	    8 * 30 * US);
}

static void one_in_order_queue_overlaps_nothing(void **state)
{
	(void)state;
	for (size_t n = 1; n <= 64; n *= 4)
		assert_int_equal(pipeline(TWO_COPY_ENGINES, n, 1, DEPTH_FIRST),
		                 (int64_t)n * 30 * US);
}

static void gaps_and_switches_are_paid_where_they_arise(void **state)
{
	(void)state;
	struct tare_script script =
	    script_of(TWO_COPY_ENGINES "queue gap 3 us event-gap 5 us switch 2 us\n");
	struct tare_model *model = tare_model_new(&script, NULL, NULL);
	struct tare_model_queue *a = tare_model_queue_new(model, TARE_MODEL_IN_ORDER, -1);
	struct tare_model_queue *b = tare_model_queue_new(model, TARE_MODEL_IN_ORDER, -1);
	struct tare_model_operation first = kernel_of(10 * US), second = kernel_of(10 * US);
	struct tare_model_operation copy = { .flow = TARE_FLOW_TO_HOST, .work_ps = 10 * US };
	struct tare_model_operation *waits[] = { &copy };
	struct tare_model_operation last = kernel_of(10 * US);
	last.waits = waits;
	last.wait_count = 1;
	tare_model_append(model, a, &first);
	tare_model_append(model, a, &copy);
	tare_model_append(model, a, &second);
	tare_model_append(model, b, &last);
	tare_model_run(model, 1000 * US);
	assert_int_equal(first.end_ps, 10 * US);
	assert_int_equal(copy.start_ps, 13 * US);   // another engine: gap
	assert_int_equal(second.start_ps, 26 * US); // and back: gap
	assert_int_equal(last.ready_ps, 28 * US);   // the other queue's event: event gap
	assert_int_equal(last.start_ps, 38 * US);   // engine free at 36, then it switches queues
	tare_model_free(model);
}

static void a_held_operation_goes_when_it_is_released(void **state)
{
	(void)state;
	struct tare_script script = script_of("");
	struct tare_model *model = tare_model_new(&script, NULL, NULL);
	struct tare_model_queue *queue = tare_model_queue_new(model, TARE_MODEL_IN_ORDER, -1);
	struct tare_model_operation gate = { .flow = TARE_FLOW_NONE, .held = true };
	struct tare_model_operation kernel = kernel_of(10 * US);
	tare_model_append(model, queue, &gate);
	tare_model_append(model, queue, &kernel);
	assert_false(tare_model_run_until(model, &kernel, TARE_PS_MAX));
	tare_model_run(model, 50 * US);
	assert_int_equal(kernel.phase, TARE_PHASE_PENDING);
	assert_int_equal(tare_model_next_ps(model), TARE_MODEL_NEVER);
	tare_model_release(&gate, 60 * US);
	assert_true(tare_model_run_until(model, &kernel, TARE_PS_MAX));
	assert_int_equal(kernel.start_ps, 60 * US);
	tare_model_free(model);
}

static void counters_keep_the_rational_rate_and_wrap(void **state)
{
	struct tare_script_timer timer = { .rate = { 12000000, 1, 64, 1 } };
	(void)state;
	// 12 MHz: 83.333 ns a tick; an hour has exactly 43.2e9 of them.
	assert_int_equal(tare_model_ticks(&timer, 83333).ticks, 0);
	assert_int_equal(tare_model_ticks(&timer, 83334).ticks, 1);
	assert_int_equal(tare_model_ticks(&timer, INT64_C(3600) * 1000000 * US).ticks,
	                 UINT64_C(43200000000));
	// 50 ppm fast: 180 ms an hour.
	timer.drift_ppb = 50000;
	assert_int_equal(tare_model_ticks(&timer, INT64_C(3600) * 1000000 * US).ticks,
	                 UINT64_C(43200000000) + 2160000);
	timer = (struct tare_script_timer){ .rate = { 1000000000, 1, 32, 1000 },
		                            .epoch_ticks = UINT64_C(4294967000) };
	assert_int_equal(tare_model_ticks(&timer, 0).ticks, UINT64_C(4294967000));
	// Cut to steps of 1000, then to 32 bits.
	assert_int_equal(tare_model_ticks(&timer, 1999 * NS).ticks, 4294968000 - 4294967296);
	// The largest time and rate do not overflow.
	timer = (struct tare_script_timer){ .rate = { UINT64_C(10000000000), 1, 64, 1 } };
	assert_int_equal(tare_model_ticks(&timer, TARE_PS_MAX).ticks, UINT64_C(10000000000000000));
}

static void absurd_costs_stop_at_the_limit(void **state)
{
	struct tare_model_operation operation;
	(void)state;
	struct tare_script script =
	    script_of("kernel k fixed 1000 s slots 1 wave 1000 s item 1000 s\n");
	assert_int_equal(tare_model_rate_ps(UINT64_MAX, 1), TARE_PS_MAX);
	assert_int_equal(tare_model_add_ps(TARE_PS_MAX, TARE_PS_MAX), TARE_PS_MAX);
	tare_model_kernel_cost(&script, &script.kernels[0], UINT64_MAX, UINT64_MAX, NULL,
	                       &operation);
	assert_int_equal(operation.work_ps, TARE_PS_MAX);
	struct tare_model *model = tare_model_new(&script, NULL, NULL);
	operation.submitted_ps = 0;
	operation.held = false;
	operation.wait_count = 0;
	tare_model_append(model, tare_model_queue_new(model, TARE_MODEL_IN_ORDER, -1), &operation);
	tare_model_run(model, TARE_PS_MAX);
	assert_in_range(tare_model_now_ps(model), 0, TARE_PS_MAX);
	tare_model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_copy_takes_fixed_plus_bytes_over_rate),
		cmocka_unit_test(copies_back_to_back_add_up),
		cmocka_unit_test(opposing_copies_share_the_duplex_factor),
		cmocka_unit_test(the_slowest_line_whose_flows_all_run_holds),
		cmocka_unit_test(what_is_not_whole_is_rounded_up_once),
		cmocka_unit_test(an_engine_takes_what_was_ready_first),
		cmocka_unit_test(a_fixed_cost_does_not_slow_down),
		cmocka_unit_test(engines_of_one_flow_share_its_link),
		cmocka_unit_test(a_kernel_runs_in_waves),
		cmocka_unit_test(repeats_cost_items_times_the_argument),
		cmocka_unit_test(a_shared_kernel_leaves_room_for_the_next),
		cmocka_unit_test(a_pipeline_reaches_3n_over_n_plus_2_on_two_copy_engines),
		cmocka_unit_test(
		    a_pipeline_reaches_one_and_a_half_on_one_copy_engine_breadth_first),
		cmocka_unit_test(one_in_order_queue_overlaps_nothing),
		cmocka_unit_test(gaps_and_switches_are_paid_where_they_arise),
		cmocka_unit_test(a_held_operation_goes_when_it_is_released),
		cmocka_unit_test(counters_keep_the_rational_rate_and_wrap),
		cmocka_unit_test(absurd_costs_stop_at_the_limit),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
