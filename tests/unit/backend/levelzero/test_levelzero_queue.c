// SPDX-License-Identifier: Apache-2.0
// Memory, queues and gates of the Level Zero backend on the CPU driver: what the contract test
// cannot ask of every backend.
#include "levelzero_rig.h"

#include "backend/kernels.h"

#include <errno.h>

static void the_host_sees_all_but_device_memory(void **state)
{
	static const struct {
		enum tare_memory_kind kind;
		bool seen;
	} rows[] = {
		{ TARE_MEMORY_PAGEABLE, true }, { TARE_MEMORY_PINNED, true },
		{ TARE_MEMORY_MAPPED, true },   { TARE_MEMORY_SHARED, true },
		{ TARE_MEMORY_DEVICE, false },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tare_memory *memory = new_memory(rows[i].kind);
		assert_int_equal(memory->host != NULL, rows[i].seen);
		tare_memory_free(memory);
	}
}

// ---- order

// The CPU driver takes the flag of in-order lists; validation layers that are older than the flag
// (Debian 12's) refuse it. Which this one is tells a list made beside the backend.
static bool takes_flag(bool flag)
{
	const ze_command_queue_desc_t description = { .stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
		                                      .flags = LEVELZERO_QUEUE_IN_ORDER,
		                                      .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS };
	ze_command_list_handle_t list = NULL;
	bool taken =
	    flag && real.zeCommandListCreateImmediate(own()->context, own()->place.device,
	                                              &description, &list) == ZE_RESULT_SUCCESS;

	if (taken)
		real.zeCommandListDestroy(list);
	else if (flag)
		assert_non_null(getenv("ZE_ENABLE_VALIDATION_LAYER"));
	return taken;
}

static void an_in_order_queue_keeps_the_order(void **state)
{
	static const struct {
		enum tare_queue_order order;
		bool flag;
	} rows[] = {
		{ TARE_QUEUE_IN_ORDER, false },
		{ TARE_QUEUE_IN_ORDER, true },
		{ TARE_QUEUE_DEFERRED, false },
		{ TARE_QUEUE_DEFERRED, true },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		// With the driver's own in-order lists, and without.
		own()->place.version =
		    rows[i].flag ? LEVELZERO_VERSION_IN_ORDER : ZE_API_VERSION_1_4;
		struct tare_queue *queue = new_queue(rows[i].order, 0, false);
		struct tare_memory *a = new_memory(TARE_MEMORY_PINNED),
		                   *b = new_memory(TARE_MEMORY_DEVICE);
		if (rows[i].order == TARE_QUEUE_IN_ORDER)
			assert_int_equal(((struct levelzero_queue *)queue)->chained,
			                 takes_flag(rows[i].flag));
		put(a, 1);
		for (int round = 0; round < 4; round++) {
			shift(queue, a, b, 5);
			must(tare_submit(queue, &error));
		}
		must(tare_finish(queue, LIMIT, &error));
		assert_pattern(a, 20, 1, 20);
		free_all(queue, a, b);
	}
}

// Before each command but the first, where the driver does not keep the order.
static void barriers_are_few(void **state)
{
	static const struct {
		enum tare_queue_order order;
		bool flag;
		int want;
	} rows[] = {
		{ TARE_QUEUE_IN_ORDER, false, 4 },
		{ TARE_QUEUE_IN_ORDER, true, 0 },
		{ TARE_QUEUE_OUT_OF_ORDER, false, 0 },
		{ TARE_QUEUE_DEFERRED, false, 4 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		own()->place.version =
		    rows[i].flag ? LEVELZERO_VERSION_IN_ORDER : ZE_API_VERSION_1_4;
		struct tare_queue *queue = new_queue(rows[i].order, 0, false);
		struct tare_memory *a = new_memory(TARE_MEMORY_PINNED),
		                   *b = new_memory(TARE_MEMORY_DEVICE);
		struct tare_operation operation = copy(a, 0, b, 0, BYTES);
		struct tare_operation marker = { .type = TARE_OPERATION_MARKER };
		put(a, 1);
		calls()->zeCommandListAppendBarrier = count_barrier;
		barriers = 0;
		for (int n = 0; n < 5; n++)
			must(tare_append(queue, &operation, NULL, &error));
		assert_int_equal(barriers, rows[i].flag && !takes_flag(true) ? 4 : rows[i].want);
		must(tare_finish(queue, LIMIT, &error));
		barriers = 0;
		must(tare_append(queue, &operation, NULL, &error));
		assert_int_equal(barriers, 0);
		must(tare_finish(queue, LIMIT, &error));
		// A marker is one itself.
		barriers = 0;
		must(tare_append(queue, &operation, NULL, &error));
		must(tare_append(queue, &marker, NULL, &error));
		must(tare_append(queue, &operation, NULL, &error));
		assert_int_equal(barriers, 1);
		must(tare_finish(queue, LIMIT, &error));
		*calls() = real;
		free_all(queue, a, b);
	}
}

// ---- deferred queues

static void a_deferred_queue_gathers_until_submit(void **state)
{
	struct tare_queue *queue = new_queue(TARE_QUEUE_DEFERRED, 0, true);
	struct tare_memory *a = new_memory(TARE_MEMORY_PINNED), *b = new_memory(TARE_MEMORY_PINNED);
	struct tare_operation operation = copy(a, 0, b, 0, BYTES);
	struct tare_event *event = NULL, *second = NULL;
	(void)state;
	put(a, 1);
	put(b, 2);
	must(tare_append(queue, &operation, &event, &error));
	tare_device_pause(device, FEW_MS);
	assert_int_equal(tare_event_done(event, &error), 0);
	assert_pattern(b, 0, 2, 0);
	must(tare_submit(queue, &error));
	must(tare_event_wait(event, LIMIT, &error));
	assert_pattern(b, 0, 1, 0);
	// Who waits hands over what he waits for.
	must(tare_append(queue, &operation, &second, &error));
	must(tare_event_wait(second, LIMIT, &error));
	must(tare_submit(queue, &error));
	tare_event_free(event);
	tare_event_free(second);
	free_all(queue, a, b);
}

static void lists_gather_again(void **state)
{
	struct tare_queue *queue = new_queue(TARE_QUEUE_DEFERRED, 0, false);
	struct levelzero_queue *inside = (struct levelzero_queue *)queue;
	struct tare_memory *a = new_memory(TARE_MEMORY_PINNED), *b = new_memory(TARE_MEMORY_PINNED);
	int lists = 0;
	(void)state;
	put(a, 1);
	put(b, 2);
	for (int i = 0; i < 100; i++) {
		shift(queue, a, b, 1);
		must(tare_submit(queue, &error));
		if (i % 5 == 4)
			must(tare_finish(queue, LIMIT, &error));
	}
	assert_pattern(a, 100, 1, 100);
	for (struct levelzero_list *list = inside->idle; list; list = list->next)
		lists++;
	assert_null(inside->flying);
	assert_int_equal(lists, 5);
	free_all(queue, a, b);
}

static void waiting_for_another_queue_submits_it(void **state)
{
	struct tare_queue *gathers = new_queue(TARE_QUEUE_DEFERRED, 0, false);
	struct tare_queue *waits = new_queue(TARE_QUEUE_IN_ORDER, 0, false);
	struct tare_operation marker = { .type = TARE_OPERATION_MARKER };
	struct tare_event *event = NULL;
	(void)state;
	must(tare_append(gathers, &marker, &event, &error));
	marker.waits = &event;
	marker.wait_count = 1;
	must(tare_append(waits, &marker, NULL, &error));
	must(tare_finish(waits, LIMIT, &error));
	tare_event_free(event);
	tare_queue_free(gathers);
	tare_queue_free(waits);
}

// ---- engines, operations

static ze_command_queue_desc_t asked;
static ze_result_t ZE_APICALL note_list(ze_context_handle_t context, ze_device_handle_t handle,
                                        const ze_command_queue_desc_t *wanted,
                                        ze_command_list_handle_t *list)
{
	asked = *wanted;
	return real.zeCommandListCreateImmediate(context, handle, wanted, list);
}

static ze_result_t ZE_APICALL note_queue(ze_context_handle_t context, ze_device_handle_t handle,
                                         const ze_command_queue_desc_t *wanted,
                                         ze_command_queue_handle_t *queue)
{
	asked = *wanted;
	return real.zeCommandQueueCreate(context, handle, wanted, queue);
}

static void engines_are_taken_by_ordinal_and_index(void **state)
{
	struct tare_engine engines[16];
	int count = tare_engines(device, engines, 16, &error);
	(void)state;
	assert_true(count >= 2 && count <= 16);
	calls()->zeCommandListCreateImmediate = note_list;
	calls()->zeCommandQueueCreate = note_queue;
	for (int i = 0; i < 2 * count; i++) {
		struct tare_queue *queue =
		    new_queue(i < count ? TARE_QUEUE_IN_ORDER : TARE_QUEUE_DEFERRED,
		              (uint32_t)(i % count), true);
		struct levelzero_engine *engine = &((struct levelzero_queue *)queue)->engine;
		char title[48];
		snprintf(title, sizeof title, "ordinal %u, %s %u", asked.ordinal,
		         engine->compute ? "compute" : "copy", asked.index);
		assert_string_equal(engines[i % count].title, title);
		assert_int_equal(asked.mode, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
		assert_int_equal(engine->compute, engines[i % count].class == TARE_ENGINE_COMPUTE);
		tare_queue_free(queue);
	}
	*calls() = real;
	struct tare_queue *none = NULL;
	struct tare_queue_options options = { .engine = (uint32_t)count };
	assert_int_equal(tare_queue_create(device, &options, &none, &error), -EINVAL);
	options = (struct tare_queue_options){ .order = TARE_QUEUE_LEGACY_DEFAULT };
	assert_int_equal(tare_queue_create(device, &options, &none, &error), -ENOTSUP);
	options.order = TARE_QUEUE_THREAD_DEFAULT;
	assert_int_equal(tare_queue_create(device, &options, &none, &error), -ENOTSUP);
}

static void what_cannot_be_appended_is_refused(void **state)
{
	struct tare_queue *queue = new_queue(TARE_QUEUE_IN_ORDER, 0, false);
	struct tare_memory *pinned = new_memory(TARE_MEMORY_PINNED);
	struct tare_memory *heap = new_memory(TARE_MEMORY_PAGEABLE);
	struct tare_memory *shared = new_memory(TARE_MEMORY_SHARED);
	const struct tare_span all = { pinned, 0, BYTES }, heaps = { heap, 0, BYTES };
	const struct {
		struct tare_operation operation;
		int code;
		const char *says;
	} rows[] = {
		{ { TARE_OPERATION_MAP, .destination = all }, -ENOTSUP, "no mapping" },
		{ { TARE_OPERATION_UNMAP, .destination = all }, -ENOTSUP, "no mapping" },
		{ { TARE_OPERATION_HOST_CALL }, -ENOTSUP, "zeCommandListAppendHostFunction" },
		{ { TARE_OPERATION_MIGRATE, .destination = all }, -ENOTSUP, "shared" },
		{ { TARE_OPERATION_MIGRATE, .destination = { shared, 0, BYTES }, .to_host = true },
		  -ENOTSUP,
		  "touch" },
		{ { TARE_OPERATION_FILL, .destination = all, .fill = { "abc", 3 } },
		  -EINVAL,
		  "3 bytes" },
		{ { TARE_OPERATION_FILL, .destination = { pinned, 0, 7 }, .fill = { "ab", 2 } },
		  -EINVAL,
		  "whole number" },
		{ { TARE_OPERATION_FILL, .destination = heaps, .fill = { "a", 1 } },
		  -ENOTSUP,
		  "fills" },
		{ { TARE_OPERATION_COPY, .source = all, .destination = { heap, 0, 1 } },
		  -EINVAL,
		  "into 1" },
		{ { TARE_OPERATION_RECTANGLE, .source = all, .destination = heaps,
		    .rectangle = { 1, 1, 1, UINT64_C(1) << 32, 0, 1, 0 } },
		  -ENOTSUP,
		  "4 GiB" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tare_event *event = NULL;
		int rc = tare_append(queue, &rows[i].operation, &event, &error);
		if (rc != rows[i].code)
			fail_msg("row %d: %d, not %d", (int)i, rc, rows[i].code);
		assert_says(rows[i].says);
		assert_null(event);
	}
	must(tare_finish(queue, LIMIT, &error));
	tare_memory_free(heap);
	free_all(queue, pinned, shared);
}

static void a_short_pattern_is_found_in_a_long_one(void **state)
{
	struct tare_queue *queue = new_queue(TARE_QUEUE_IN_ORDER, 0, false);
	struct levelzero_engine *engine = &((struct levelzero_queue *)queue)->engine;
	struct tare_memory *memory = new_memory(TARE_MEMORY_PINNED);
	struct tare_operation fill = { .type = TARE_OPERATION_FILL,
		                       .destination = { memory, 0, 64 },
		                       .fill = { "abababababababab", 16 } };
	(void)state;
	engine->fill_pattern_bytes = 2;
	must(tare_append(queue, &fill, NULL, &error));
	must(tare_finish(queue, LIMIT, &error));
	assert_memory_equal(memory->host, "abababababababab", 16);
	fill.fill.pattern = "abababababababac";
	assert_int_equal(tare_append(queue, &fill, NULL, &error), -ENOTSUP);
	assert_says("2 bytes");
	free_all(queue, memory, NULL);
}

static size_t noted_bytes;
static const void *noted_value;
static ze_result_t ZE_APICALL note_argument(ze_kernel_handle_t kernel, uint32_t index, size_t bytes,
                                            const void *value)
{
	(void)kernel;
	(void)index;
	noted_bytes = bytes;
	noted_value = value;
	return ZE_RESULT_SUCCESS;
}

static void a_launch_gets_its_arguments(void **state)
{
	enum { LENGTH = 4000, OFFSET = 64 };
	struct tare_module *module = NULL;
	struct tare_kernel *kernel = NULL;
	struct tare_queue *queue = new_queue(TARE_QUEUE_IN_ORDER, 0, true), *copies = NULL;
	struct tare_memory *in = new_memory(TARE_MEMORY_PINNED),
	                   *out = new_memory(TARE_MEMORY_MAPPED);
	uint64_t length = LENGTH;
	(void)state;
	int rc = tare_kernel_build(device, "copy", "copy_bytes", &module, &kernel, NULL, &error);
	if (rc == -ENOTSUP) {
		free_all(queue, in, out);
		skip_test();
	}
	must(rc);
	put(in, 1);
	put(out, 2);
	const struct tare_argument arguments[] = {
		{ TARE_ARGUMENT_MEMORY, .span = { out, 0, 0 } },
		{ TARE_ARGUMENT_MEMORY, .span = { in, OFFSET, 0 } },
		{ TARE_ARGUMENT_VALUE, .value = &length, .bytes = sizeof length },
	};
	struct tare_operation launch = { .type = TARE_OPERATION_LAUNCH };
	launch.launch = (struct tare_launch){ kernel, { 2, 1, 1 }, { 64, 1, 1 }, arguments, 3 };
	must(tare_append(queue, &launch, NULL, &error));
	length = 0; // values are copied at append
	must(tare_finish(queue, LIMIT, &error));
	for (uint64_t i = 0; i < BYTES; i++)
		assert_int_equal(((uint8_t *)out->host)[i],
		                 i < LENGTH ? pattern(i + OFFSET, 1) : pattern(i, 2));
	// Local memory is a size without a value.
	const struct tare_argument local = { TARE_ARGUMENT_LOCAL, .value = "", .bytes = 48 };
	launch.launch.arguments = &local;
	launch.launch.argument_count = 1;
	calls()->zeKernelSetArgumentValue = note_argument;
	must(tare_append(queue, &launch, NULL, &error));
	must(tare_finish(queue, LIMIT, &error));
	*calls() = real;
	assert_int_equal(noted_bytes, 48);
	assert_null(noted_value);
	// An engine that only copies.
	for (uint32_t i = 0; i < own()->work->engine_count && !copies; i++)
		if (!own()->work->engines[i].compute)
			copies = new_queue(TARE_QUEUE_IN_ORDER, i, false);
	assert_non_null(copies);
	assert_int_equal(tare_append(copies, &launch, NULL, &error), -ENOTSUP);
	assert_says("only copies");
	tare_queue_free(copies);
	tare_kernel_free(kernel);
	tare_module_free(module);
	free_all(queue, in, out);
}

// ---- queue groups

// A driver may have queue groups for something else only, video for one.
static ze_result_t ZE_APICALL only_video(ze_device_handle_t handle, uint32_t *count,
                                         ze_command_queue_group_properties_t *groups)
{
	(void)handle;
	*count = 1;
	if (groups)
		*groups =
		    (ze_command_queue_group_properties_t){ .stype = groups->stype, .numQueues = 2 };
	return ZE_RESULT_SUCCESS;
}

static void a_device_without_engines_says_so(void **state)
{
	struct tare_memory *memory = NULL;
	(void)state;
	calls()->zeDeviceGetCommandQueueGroupProperties = only_video;
	assert_int_equal(tare_memory_create(device, TARE_MEMORY_SHARED, BYTES, &memory, &error),
	                 -ENOTSUP);
	assert_says("no engine to give work to");
}

// Modules need a context as much as memory does.
static void a_driver_without_contexts_builds_nothing(void **state)
{
	static const uint32_t words[5] = { 0x07230203, 0x00010000, 0, 1, 0 };
	const struct tare_module_source source = { .format = TARE_MODULE_SPIRV,
		                                   .data = words,
		                                   .bytes = sizeof words };
	ze_context_handle_t context = own()->context;
	struct tare_module *module = NULL;
	char *log = NULL;
	(void)state;
	own()->context = NULL;
	assert_int_equal(tare_module_create(device, &source, &module, &log, &error), -ENOTSUP);
	assert_says("zeContextCreate");
	own()->context = context;
	free(log);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_host_sees_all_but_device_memory),
		TEST(an_in_order_queue_keeps_the_order),
		TEST(barriers_are_few),
		TEST(a_deferred_queue_gathers_until_submit),
		TEST(lists_gather_again),
		TEST(waiting_for_another_queue_submits_it),
		TEST(engines_are_taken_by_ordinal_and_index),
		TEST(what_cannot_be_appended_is_refused),
		TEST(a_short_pattern_is_found_in_a_long_one),
		TEST(a_launch_gets_its_arguments),
		TEST(a_device_without_engines_says_so),
		TEST(a_driver_without_contexts_builds_nothing),
	};
	return run_on_levelzero(tests);
}
