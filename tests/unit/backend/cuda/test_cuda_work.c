// SPDX-License-Identifier: Apache-2.0
// Memory, kernels and graphs of the CUDA backend.
#include "backend/kernels.h"
#include "cuda_rig.h"

static void too_much_memory_is_refused_as_such(void **state)
{
	static const enum tare_memory_kind kinds[] = { TARE_MEMORY_DEVICE, TARE_MEMORY_PINNED,
		                                       TARE_MEMORY_SHARED };
	struct tare_memory *memory = NULL;
	(void)state;
	open_device("memory=1000000 host_memory=0");
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		assert_int_equal(tare_memory_create(device, kinds[i], 1000001, &memory, &error),
		                 -ENOMEM);
		assert_says("1000001 bytes");
		assert_null(memory);
	}
	open_device("no_managed");
	assert_int_equal(tare_memory_create(device, TARE_MEMORY_SHARED, 64, &memory, &error),
	                 -ENOTSUP);
}

static void fills_of_long_patterns_need_a_pattern_that_repeats(void **state)
{
	static const struct {
		const char *pattern;
		uint32_t bytes;
		int code;
	} rows[] = {
		{ "a", 1, 0 },
		{ "ab", 2, 0 },
		{ "abcd", 4, 0 },
		{ "abcdabcd", 8, 0 },
		{ "abcdabcdabcdabcd", 16, 0 },
		{ "abababab", 8, 0 },
		{ "abcdefgh", 8, -ENOTSUP },
		{ "abcdabcdabcdabce", 16, -ENOTSUP },
		{ "abc", 3, -EINVAL },
	};
	(void)state;
	open_device(NULL);
	struct tare_queue *queue = new_queue(false);
	struct tare_memory *memory = new_memory(TARE_MEMORY_MAPPED, 48);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tare_operation what = { .type = TARE_OPERATION_FILL,
			                       .destination = { memory, 0, 48 },
			                       .fill = { rows[i].pattern, rows[i].bytes } };
		assert_int_equal(tare_append(queue, &what, NULL, &error), rows[i].code);
		must(tare_finish(queue, TARE_LIMIT_DEFAULT_NS, &error));
		for (uint32_t at = 0; rows[i].code == 0 && at < 48; at += rows[i].bytes)
			assert_memory_equal((char *)memory->host + at, rows[i].pattern,
			                    rows[i].bytes);
	}
	tare_memory_free(memory);
	tare_queue_free(queue);
}

static void a_kernel_gets_its_arguments_and_local_ones_as_offsets(void **state)
{
	struct tare_module *module = NULL;
	struct tare_kernel_facts facts;
	uint32_t value = 0x1234;

	(void)state;
	open_device(NULL);
	struct tare_queue *queue = new_queue(false);
	struct tare_memory *memory = new_memory(TARE_MEMORY_MAPPED, 64);
	struct tare_kernel *kernel = new_kernel("store", &module);
	const struct tare_argument arguments[] = {
		{ .type = TARE_ARGUMENT_MEMORY, .span = { memory, 16, 16 } },
		{ .type = TARE_ARGUMENT_VALUE, .value = &value, .bytes = sizeof value },
		{ .type = TARE_ARGUMENT_LOCAL, .bytes = 20 },
		{ .type = TARE_ARGUMENT_LOCAL, .bytes = 100 },
	};
	struct tare_operation what = launch(kernel);
	what.launch.arguments = arguments;
	what.launch.argument_count = 4;
	must(tare_append(queue, &what, NULL, &error));
	value = 0; // copied when it was appended
	must(tare_finish(queue, TARE_LIMIT_DEFAULT_NS, &error));
	const uint32_t expected[] = { 0x1234, 0, 32, 144 };
	assert_memory_equal((char *)memory->host + 16, expected, sizeof expected);
	must(tare_kernel_facts(kernel, &facts, &error));
	assert_int_equal(facts.registers, 24);
	assert_int_equal(facts.max_group_size, 1024);
	assert_int_equal(facts.simd_width, 32);
	assert_int_equal(facts.spill_bytes, 0);
	// Local memory is told in 32 bits: neither one that is too large nor a sum wraps.
	struct tare_argument large[4];
	memcpy(large, arguments, sizeof large);
	what.launch.arguments = large;
	large[2].bytes = (size_t)UINT32_MAX + 21;
	assert_int_equal(tare_append(queue, &what, NULL, &error), -EINVAL);
	assert_says("local memory");
	large[2].bytes = large[3].bytes = UINT32_MAX / 2 + 1;
	assert_int_equal(tare_append(queue, &what, NULL, &error), -EINVAL);
	assert_says("local memory");
	what.launch.arguments = arguments;
	what.launch.group_size[0] = 2048;
	assert_int_equal(tare_append(queue, &what, NULL, &error), -EINVAL);
	tare_kernel_free(kernel);
	tare_module_free(module);
	tare_memory_free(memory);
	tare_queue_free(queue);
}

static void modules_that_do_not_build_say_why(void **state)
{
	static const struct {
		enum tare_module_format format;
		const char *text;
		int code;
	} rows[] = {
		{ TARE_MODULE_PTX, ".version 6.0\n.target sm_70\n.entry a() { fake_error; }",
		  -EINVAL },
		{ TARE_MODULE_NATIVE, "empty", -ENOTSUP },
		{ TARE_MODULE_OPENCL_C, "kernel void empty(void) {}", -ENOTSUP },
		{ TARE_MODULE_SPIRV, "\3\2#\7", -ENOTSUP },
	};
	struct tare_module *module = NULL;
	struct tare_kernel *kernel = NULL;
	(void)state;
	open_device(NULL);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char *log = NULL;
		struct tare_module_source source = { rows[i].format, rows[i].text,
			                             strlen(rows[i].text), NULL };
		assert_int_equal(tare_module_create(device, &source, &module, &log, &error),
		                 rows[i].code);
		assert_null(module);
		assert_int_equal(log != NULL, rows[i].code == -EINVAL);
		if (log)
			assert_non_null(strstr(log, "fake_error"));
		free(log);
	}
	tare_kernel_free(new_kernel("empty", &module));
	assert_int_equal(tare_kernel_create(module, "missing", &kernel, &error), -EINVAL);
	assert_says("missing");
	tare_module_free(module);
}

static void the_kernels_that_tare_carries_are_taken_as_ptx(void **state)
{
	struct tare_module_source source;
	struct tare_module *module = NULL;
	struct tare_kernel *kernel = NULL;
	(void)state;
	open_device(NULL);
	assert_int_equal(
	    tare_kernel_build(device, "nothing", "nothing", &module, &kernel, NULL, &error),
	    -ENOENT);
	assert_int_equal(tare_kernel_source("empty", (enum tare_module_format)99, &source, &error),
	                 -ENOTSUP);
	must(tare_kernel_source("empty", TARE_MODULE_OPENCL_C, &source, &error));
	assert_int_equal(strlen(source.data), source.bytes);
	assert_non_null(strstr(source.data, "KERNEL void empty"));
	if (tare_kernel_source("empty", TARE_MODULE_PTX, &source, NULL) < 0) {
		assert_int_equal(
		    tare_kernel_build(device, "empty", "empty", &module, &kernel, NULL, &error),
		    -ENOTSUP);
		assert_says("without clang");
		return;
	}
	assert_non_null(strstr(source.data, ".entry empty"));
	must(tare_kernel_build(device, "empty", "empty", &module, &kernel, NULL, &error));
	tare_kernel_free(kernel);
	tare_module_free(module);
}

static void a_graph_runs_what_was_recorded_as_often_as_it_is_launched(void **state)
{
	struct tare_graph *graph = NULL;
	struct tare_event *event = NULL;
	struct tare_stamps stamps;

	(void)state;
	open_device(NULL);
	struct tare_queue *queue = new_queue(true);
	struct tare_memory *from = new_memory(TARE_MEMORY_PINNED, 16);
	struct tare_memory *to = new_memory(TARE_MEMORY_PINNED, 16);
	struct tare_operation what = copy(from, to);
	memset(from->host, 1, 16);
	memset(to->host, 9, 16);
	must(tare_graph_begin(queue, &error));
	must(tare_append(queue, &what, &event, &error));
	assert_int_equal(tare_event_wait(event, 1000000, &error), -EINVAL);
	assert_says("graph");
	tare_event_free(event);
	what.blocking = true;
	assert_int_equal(tare_append(queue, &what, NULL, &error), -EINVAL);
	must(tare_graph_end(queue, &graph, &error));
	must(tare_finish(queue, TARE_LIMIT_DEFAULT_NS, &error));
	assert_int_equal(((char *)to->host)[15], 9); // recording runs nothing
	for (int round = 1; round < 3; round++) {
		memset(from->host, round, 16);
		must(tare_graph_launch(graph, queue, &event, &error));
		must(tare_event_wait(event, TARE_LIMIT_DEFAULT_NS, &error));
		assert_int_equal(((char *)to->host)[15], round);
		must(tare_event_stamps(event, &stamps, &error));
		tare_event_free(event);
	}
	must(tare_graph_stamps(graph, 0, &stamps, &error));
	assert_true(stamps.at[TARE_STAMP_END].ticks > stamps.at[TARE_STAMP_START].ticks);
	tare_graph_free(graph);
	tare_memory_free(from);
	tare_memory_free(to);
	tare_queue_free(queue);
}

static void queues_that_cuda_lacks_are_refused_with_the_reason(void **state)
{
	static const struct {
		struct tare_queue_options options;
		const char *words;
	} rows[] = {
		{ { .order = TARE_QUEUE_OUT_OF_ORDER }, "runs in order" },
		{ { .order = TARE_QUEUE_DEFERRED }, "graph" },
		{ { .engine = 2 }, "chooses" },
	};
	struct tare_queue *queue = NULL;
	(void)state;
	open_device(NULL);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		assert_int_equal(tare_queue_create(device, &rows[i].options, &queue, &error),
		                 -ENOTSUP);
		assert_says(rows[i].words);
	}
	must(tare_queue_create(
	    device,
	    &(struct tare_queue_options){ .order = TARE_QUEUE_LEGACY_DEFAULT, .timed = true },
	    &queue, &error));
	struct tare_memory *from = new_memory(TARE_MEMORY_PAGEABLE, 4096);
	struct tare_memory *to = new_memory(TARE_MEMORY_DEVICE, 4096);
	struct tare_operation there = copy(from, to), back = copy(to, from);
	there.blocking = back.blocking = true;
	memset(from->host, 7, 4096);
	must(tare_append(queue, &there, NULL, &error));
	memset(from->host, 0, 4096);
	must(tare_append(queue, &back, NULL, &error));
	assert_int_equal(((char *)from->host)[4095], 7);
	tare_memory_free(from);
	tare_memory_free(to);
	tare_queue_free(queue);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		rig_test(too_much_memory_is_refused_as_such),
		rig_test(fills_of_long_patterns_need_a_pattern_that_repeats),
		rig_test(a_kernel_gets_its_arguments_and_local_ones_as_offsets),
		rig_test(modules_that_do_not_build_say_why),
		rig_test(the_kernels_that_tare_carries_are_taken_as_ptx),
		rig_test(a_graph_runs_what_was_recorded_as_often_as_it_is_launched),
		rig_test(queues_that_cuda_lacks_are_refused_with_the_reason),
		cmocka_unit_test(nothing_is_left_behind),
	};
	return cmocka_run_group_tests(tests, rig_setup, NULL);
}
