// SPDX-License-Identifier: Apache-2.0
// The Level Zero backend where the driver fails, lacks what it needs, or knows more than Debian's:
// the CPU driver with single calls replaced in the backend's own table.
#include "levelzero_rig.h"

#include <errno.h>

static ze_result_t answer; // of the call that fails

// A call that fails, for each entry point of the table below.
#define FAILING(name, ...)                                                                         \
	static ze_result_t ZE_APICALL fail_##name(__VA_ARGS__)                                     \
	{                                                                                          \
		return answer;                                                                     \
	}
#pragma GCC diagnostic ignored "-Wunused-parameter"
FAILING(zeMemAllocDevice, ze_context_handle_t a, const ze_device_mem_alloc_desc_t *b, size_t c,
        size_t d, ze_device_handle_t e, void **f)
FAILING(zeMemAllocHost, ze_context_handle_t a, const ze_host_mem_alloc_desc_t *b, size_t c,
        size_t d, void **e)
FAILING(zeMemAllocShared, ze_context_handle_t a, const ze_device_mem_alloc_desc_t *b,
        const ze_host_mem_alloc_desc_t *c, size_t d, size_t e, ze_device_handle_t f, void **g)
FAILING(zeCommandListCreateImmediate, ze_context_handle_t a, ze_device_handle_t b,
        const ze_command_queue_desc_t *c, ze_command_list_handle_t *d)
FAILING(zeCommandListCreate, ze_context_handle_t a, ze_device_handle_t b,
        const ze_command_list_desc_t *c, ze_command_list_handle_t *d)
FAILING(zeCommandQueueCreate, ze_context_handle_t a, ze_device_handle_t b,
        const ze_command_queue_desc_t *c, ze_command_queue_handle_t *d)
FAILING(zeCommandListClose, ze_command_list_handle_t a)
FAILING(zeCommandQueueExecuteCommandLists, ze_command_queue_handle_t a, uint32_t b,
        ze_command_list_handle_t *c, ze_fence_handle_t d)
FAILING(zeCommandQueueSynchronize, ze_command_queue_handle_t a, uint64_t b)
FAILING(zeCommandListAppendBarrier, ze_command_list_handle_t a, ze_event_handle_t b, uint32_t c,
        ze_event_handle_t *d)
FAILING(zeCommandListAppendMemoryCopy, ze_command_list_handle_t a, void *b, const void *c, size_t d,
        ze_event_handle_t e, uint32_t f, ze_event_handle_t *g)
FAILING(zeCommandListAppendEventReset, ze_command_list_handle_t a, ze_event_handle_t b)
FAILING(zeEventPoolCreate, ze_context_handle_t a, const ze_event_pool_desc_t *b, uint32_t c,
        ze_device_handle_t *d, ze_event_pool_handle_t *e)
FAILING(zeEventCreate, ze_event_pool_handle_t a, const ze_event_desc_t *b, ze_event_handle_t *c)
FAILING(zeEventHostSynchronize, ze_event_handle_t a, uint64_t b)
FAILING(zeEventQueryStatus, ze_event_handle_t a)
FAILING(zeEventQueryKernelTimestamp, ze_event_handle_t a, ze_kernel_timestamp_result_t *b)
FAILING(zeEventHostSignal, ze_event_handle_t a)
FAILING(zeEventHostReset, ze_event_handle_t a)
FAILING(zeCommandListHostSynchronize, ze_command_list_handle_t a, uint64_t b)

// What is tried, on a queue with memory, an event that is done and a shut gate on another queue.
enum act {
	ALLOCATE_DEVICE,
	ALLOCATE_PINNED,
	ALLOCATE_SHARED,
	OPEN_QUEUE,
	OPEN_DEFERRED,
	APPEND,
	APPEND_DEFERRED,
	BLOCK,
	SUBMIT,
	FINISH,
	FINISH_BY_EVENT,
	FINISH_DEFERRED,
	WAIT,
	ASK,
	STAMP,
	SHUT,
	OPEN,
	RECORD,
	LAUNCH,
	ADVISE,
};

struct scene {
	struct tare_queue *queue, *deferred, *gated;
	struct tare_memory *a, *b;
	struct tare_event *event;
	struct tare_gate *gate;
	struct tare_graph *graph;
};

static void set_scene(struct scene *scene)
{
	struct tare_operation marker = { .type = TARE_OPERATION_MARKER };

	*scene = (struct scene){ .queue = new_queue(TARE_QUEUE_IN_ORDER, 0, true),
		                 .deferred = new_queue(TARE_QUEUE_DEFERRED, 0, false),
		                 .gated = new_queue(TARE_QUEUE_IN_ORDER, 1, false),
		                 .a = new_memory(TARE_MEMORY_PINNED),
		                 .b = new_memory(TARE_MEMORY_PINNED) };
	must(tare_append(scene->queue, &marker, &scene->event, &error));
	must(tare_finish(scene->queue, LIMIT, &error));
	must(tare_gate_shut(scene->gated, &scene->gate, &error));
	must(tare_graph_begin(scene->queue, &error));
	must(tare_append(scene->queue, &marker, NULL, &error));
	must(tare_graph_end(scene->queue, &scene->graph, &error));
}

// The device goes on after a failure, and nothing was lost.
static void clear_scene(struct scene *scene)
{
	// A wait that was made to fail left its copy at work.
	must(tare_finish(scene->queue, LIMIT, &error));
	put(scene->a, 1);
	put(scene->b, 2);
	shift(scene->queue, scene->a, scene->b, 2);
	must(tare_finish(scene->queue, LIMIT, &error));
	assert_pattern(scene->a, 2, 1, 2);
	tare_gate_free(scene->gate);
	must(tare_finish(scene->gated, LIMIT, &error));
	must(tare_finish(scene->deferred, LIMIT, &error));
	tare_graph_free(scene->graph);
	tare_event_free(scene->event);
	tare_queue_free(scene->gated);
	tare_queue_free(scene->deferred);
	free_all(scene->queue, scene->a, scene->b);
}

static int open_queue(enum tare_queue_order order)
{
	struct tare_queue *none = NULL;
	int rc = tare_queue_create(device, &(struct tare_queue_options){ .order = order }, &none,
	                           &error);
	assert_null(none);
	return rc;
}

static int allocate(enum tare_memory_kind kind)
{
	struct tare_memory *none = NULL;
	int rc = tare_memory_create(device, kind, BYTES, &none, &error);
	assert_null(none);
	return rc;
}

static int append_one(struct scene *scene, struct tare_queue *queue, bool blocking)
{
	struct tare_operation operation = copy(scene->a, 0, scene->b, 0, BYTES);
	struct tare_event *none = NULL;
	operation.blocking = blocking;
	int rc = tare_append(queue, &operation, &none, &error);
	assert_null(none);
	return rc;
}

static int advise(void)
{
	struct tare_memory *memory = new_memory(TARE_MEMORY_SHARED);
	int rc = tare_memory_advise((struct tare_span){ memory, 0, BYTES }, TARE_ADVISE_READ_MOSTLY,
	                            &error);
	tare_memory_free(memory);
	return rc;
}

static int try(struct scene *scene, enum act act)
{
	struct tare_stamps stamps;
	struct tare_gate *gate = NULL;
	struct tare_graph *graph = NULL;
	int rc;

	switch (act) {
	case ALLOCATE_DEVICE:
		return allocate(TARE_MEMORY_DEVICE);
	case ALLOCATE_PINNED:
		return allocate(TARE_MEMORY_PINNED);
	case ALLOCATE_SHARED:
		return allocate(TARE_MEMORY_SHARED);
	case OPEN_QUEUE:
		return open_queue(TARE_QUEUE_IN_ORDER);
	case OPEN_DEFERRED:
		return open_queue(TARE_QUEUE_DEFERRED);
	case APPEND:
		return append_one(scene, scene->queue, false);
	case APPEND_DEFERRED:
		return append_one(scene, scene->deferred, false);
	case BLOCK:
		return append_one(scene, scene->queue, true);
	case SUBMIT:
		return tare_submit(scene->deferred, &error);
	case FINISH:
		return tare_finish(scene->queue, LIMIT, &error);
	case FINISH_BY_EVENT: // as under loaders before 1.6
		calls()->zeCommandListHostSynchronize = NULL;
		return tare_finish(scene->queue, LIMIT, &error);
	case FINISH_DEFERRED:
		return tare_finish(scene->deferred, LIMIT, &error);
	case WAIT:
		return tare_event_wait(scene->event, LIMIT, &error);
	case ASK:
		return tare_event_done(scene->event, &error);
	case STAMP:
		return tare_event_stamps(scene->event, &stamps, &error);
	case SHUT:
		return tare_gate_shut(scene->queue, &gate, &error);
	case OPEN:
		return tare_gate_open(scene->gate, &error);
	case LAUNCH:
		return tare_graph_launch(scene->graph, scene->queue, NULL, &error);
	case ADVISE:
		return advise();
	case RECORD:
		rc = tare_graph_begin(scene->queue, &error);
		if (rc == 0)
			rc = tare_graph_end(scene->queue, &graph, &error);
		assert_null(graph);
		return rc;
	}
	return 0;
}

static void failures_are_told_and_leave_nothing_behind(void **state)
{
#define LOST ZE_RESULT_ERROR_DEVICE_LOST
#define NO_HOST ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY
#define NO_DEVICE ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY
#define UNKNOWN ZE_RESULT_ERROR_UNKNOWN
#define UNSUPPORTED ZE_RESULT_ERROR_UNSUPPORTED_FEATURE
#define ROWS(X)                                                                                    \
	X(zeMemAllocDevice, NO_DEVICE, ALLOCATE_DEVICE, -ENOMEM)                                   \
	X(zeMemAllocHost, NO_HOST, ALLOCATE_PINNED, -ENOMEM)                                       \
	X(zeMemAllocShared, UNSUPPORTED, ALLOCATE_SHARED, -ENOTSUP)                                \
	X(zeMemAllocDevice, ZE_RESULT_ERROR_UNSUPPORTED_SIZE, ALLOCATE_DEVICE, -ENOMEM)            \
	X(zeCommandListCreateImmediate, NO_DEVICE, OPEN_QUEUE, -ENOMEM)                            \
	X(zeCommandListCreateImmediate, UNSUPPORTED, OPEN_QUEUE, -ENOTSUP)                         \
	X(zeEventHostSynchronize, LOST, BLOCK, -ENODEV)                                            \
	X(zeEventHostSynchronize, ZE_RESULT_NOT_READY, BLOCK, -ETIMEDOUT)                          \
	X(zeCommandQueueCreate, LOST, OPEN_DEFERRED, -ENODEV)                                      \
	X(zeCommandListCreate, NO_HOST, APPEND_DEFERRED, -ENOMEM)                                  \
	X(zeCommandListCreate, NO_HOST, RECORD, -ENOMEM)                                           \
	X(zeCommandQueueCreate, LOST, RECORD, -ENODEV)                                             \
	X(zeCommandListClose, UNKNOWN, RECORD, -EIO)                                               \
	X(zeCommandListAppendEventReset, UNSUPPORTED, RECORD, -ENOTSUP)                            \
	X(zeCommandListAppendMemoryCopy, LOST, APPEND, -ENODEV)                                    \
	X(zeCommandListAppendMemoryCopy, ZE_RESULT_ERROR_INVALID_ARGUMENT, BLOCK, -EINVAL)         \
	X(zeEventQueryStatus, LOST, ASK, -ENODEV)                                                  \
	X(zeEventHostSynchronize, LOST, WAIT, -ENODEV)                                             \
	X(zeEventHostSynchronize, ZE_RESULT_NOT_READY, WAIT, -ETIMEDOUT)                           \
	X(zeEventHostSynchronize, LOST, FINISH_BY_EVENT, -ENODEV)                                  \
	X(zeCommandListHostSynchronize, LOST, FINISH, -ENODEV)                                     \
	X(zeCommandListHostSynchronize, ZE_RESULT_NOT_READY, FINISH, -ETIMEDOUT)                   \
	X(zeCommandListCreateImmediate, LOST, ADVISE, -ENODEV)                                     \
	X(zeEventHostSynchronize, ZE_RESULT_NOT_READY, ADVISE, -ETIMEDOUT)                         \
	X(zeCommandListAppendBarrier, LOST, ADVISE, -ENODEV)                                       \
	X(zeEventQueryKernelTimestamp, UNKNOWN, STAMP, -EIO)                                       \
	X(zeEventQueryKernelTimestamp, ZE_RESULT_NOT_READY, STAMP, -EAGAIN)                        \
	X(zeCommandQueueSynchronize, LOST, FINISH_DEFERRED, -ENODEV)                               \
	X(zeCommandQueueSynchronize, ZE_RESULT_NOT_READY, FINISH_DEFERRED, -ETIMEDOUT)             \
	X(zeCommandListAppendBarrier, LOST, SHUT, -ENODEV)                                         \
	X(zeCommandListAppendBarrier, NO_DEVICE, FINISH_BY_EVENT, -ENOMEM)                         \
	X(zeEventHostSignal, LOST, OPEN, -ENODEV)                                                  \
	X(zeEventHostSignal, LOST, LAUNCH, -ENODEV)
	(void)state;
#define X(name, result, act, code)                                                                 \
	{                                                                                          \
		struct scene scene;                                                                \
		set_scene(&scene);                                                                 \
		answer = result;                                                                   \
		calls()->name = fail_##name;                                                       \
		int rc = try(&scene, act);                                                         \
		*calls() = real;                                                                   \
		if (rc != code)                                                                    \
			fail_msg("%s in " #act ": %d, not %d", #name, rc, code);                   \
		if (code != -ETIMEDOUT && code != -EAGAIN)                                         \
			assert_says(#name);                                                        \
		clear_scene(&scene);                                                               \
	}
	ROWS(X)
#undef X
}

static void refused_operations_keep_no_events(void **state)
{
	struct scene scene;
	(void)state;
	set_scene(&scene);
	calls()->zeCommandListAppendMemoryCopy = fail_zeCommandListAppendMemoryCopy;
	answer = ZE_RESULT_ERROR_INVALID_ARGUMENT;
	int blocks = block_count();
	for (int i = 0; i < 200; i++)
		assert_int_equal(append_one(&scene, i % 2 ? scene.queue : scene.deferred, false),
		                 -EINVAL);
	assert_int_equal(block_count(), blocks);
	*calls() = real;
	clear_scene(&scene);
}

static int closed;
static ze_result_t ZE_APICALL count_close(ze_command_list_handle_t list)
{
	closed++;
	return real.zeCommandListClose(list);
}

static void a_list_that_cannot_be_executed_is_said(void **state)
{
	struct scene scene;
	(void)state;
	for (int close = 0; close < 2; close++) {
		set_scene(&scene);
		put(scene.a, 1);
		shift(scene.deferred, scene.a, scene.b, 1);
		answer = ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
		closed = 0;
		calls()->zeCommandListClose = close ? fail_zeCommandListClose : count_close;
		if (!close)
			calls()->zeCommandQueueExecuteCommandLists =
			    fail_zeCommandQueueExecuteCommandLists;
		assert_int_equal(try(&scene, SUBMIT), -ENOMEM);
		assert_int_equal(try(&scene, FINISH_DEFERRED), -ENOMEM);
		assert_int_equal(closed, close ? 0 : 1);
		*calls() = real;
		// What was appended is still there, and more can follow it.
		shift(scene.deferred, scene.a, scene.b, 1);
		must(tare_finish(scene.deferred, LIMIT, &error));
		assert_pattern(scene.a, 2, 1, 2);
		clear_scene(&scene);
	}
}

// The first of the events that are wanted cannot be made.
static void a_device_without_events_says_so(void **state)
{
	struct tare_operation marker = { .type = TARE_OPERATION_MARKER };
	struct tare_queue *queue = new_queue(TARE_QUEUE_IN_ORDER, 0, true);
	struct tare_event *event = NULL;
	(void)state;
	answer = ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
	calls()->zeEventCreate = fail_zeEventCreate;
	assert_int_equal(tare_append(queue, &marker, &event, &error), -ENOMEM);
	assert_says("zeEventCreate");
	*calls() = real;
	calls()->zeEventPoolCreate = fail_zeEventPoolCreate;
	assert_int_equal(tare_append(queue, &marker, &event, &error), -ENOMEM);
	assert_says("zeEventPoolCreate");
	*calls() = real;
	must(tare_append(queue, &marker, &event, &error));
	must(tare_event_wait(event, LIMIT, &error));
	tare_event_free(event);
	tare_queue_free(queue);
}

// Before anything waits for what the host cannot signal.
static void a_gate_that_cannot_be_opened_is_not_shut(void **state)
{
	struct tare_operation marker = { .type = TARE_OPERATION_MARKER };
	struct tare_queue *queue = new_queue(TARE_QUEUE_IN_ORDER, 0, false);
	struct tare_gate *gate = NULL;
	(void)state;
	levelzero_device_of(device)->work->opens_gates = false;
	answer = ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
	calls()->zeEventHostSignal = fail_zeEventHostSignal;
	assert_int_equal(tare_gate_shut(queue, &gate, &error), -ENOTSUP);
	assert_says("zeEventHostSignal");
	assert_says("a newer driver");
	// Nor is a graph recorded, which the host lets begin.
	assert_int_equal(tare_graph_begin(queue, &error), -ENOTSUP);
	assert_says("zeEventHostSignal");
	*calls() = real;
	calls()->zeEventHostReset = fail_zeEventHostReset;
	assert_int_equal(tare_graph_begin(queue, &error), -ENOTSUP);
	assert_int_equal(tare_gate_shut(queue, &gate, &error), -ENOTSUP);
	assert_says("zeEventHostReset");
	// The events that were tried are spare ones, not signalled.
	for (struct levelzero_slot *slot = levelzero_device_of(device)->work->spare[false]; slot;
	     slot = slot->next)
		assert_int_equal(calls()->zeEventQueryStatus(slot->handle), ZE_RESULT_NOT_READY);
	*calls() = real;
	must(tare_append(queue, &marker, NULL, &error));
	must(tare_finish(queue, LIMIT, &error));
	tare_queue_free(queue);
}

static void a_missing_entry_point_is_named(void **state)
{
	struct tare_memory *memory = NULL;
	struct tare_queue *queue = NULL;
	(void)state;
#define X(name)                                                                                    \
	calls()->name = NULL;                                                                      \
	assert_int_equal(tare_memory_create(device, TARE_MEMORY_PAGEABLE, 64, &memory, &error),    \
	                 -ENOTSUP);                                                                \
	assert_says("lacks " #name);                                                               \
	assert_int_equal(                                                                          \
	    tare_queue_create(device, &(struct tare_queue_options){ 0 }, &queue, &error),          \
	    -ENOTSUP);                                                                             \
	assert_says("lacks " #name);                                                               \
	*calls() = real;
	LEVELZERO_WORK_FUNCTIONS(X)
#undef X
	must(tare_memory_create(device, TARE_MEMORY_PAGEABLE, 64, &memory, &error));
	tare_memory_free(memory);
}

// ---- what is newer

static uint64_t asked_ns;
static ze_result_t ZE_APICALL synchronise(ze_command_list_handle_t list, uint64_t timeout_ns)
{
	asked_ns = timeout_ns;
	return answer;
}

// A longer wait is cut into pieces (wait.c).
#define PIECE_NS 250000000

static void immediate_lists_are_waited_for_where_that_can_be(void **state)
{
	static const struct {
		ze_result_t answer;
		int64_t limit_ns;
		uint64_t asked_ns;
		int want;
	} rows[] = {
		{ ZE_RESULT_SUCCESS, 5 * MS, 5 * MS, 0 },
		{ ZE_RESULT_SUCCESS, TARE_LIMIT_NATIVE, PIECE_NS, 0 },
		{ ZE_RESULT_NOT_READY, 0, 0, -ETIMEDOUT },
		{ ZE_RESULT_ERROR_DEVICE_LOST, LIMIT, PIECE_NS, -ENODEV },
		// The loader knows it, the driver does not: the event of a barrier does it.
		{ ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, LIMIT, PIECE_NS, 0 },
	};
	struct tare_queue *queue = new_queue(TARE_QUEUE_IN_ORDER, 0, false);
	(void)state;
	calls()->zeCommandListHostSynchronize = synchronise;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		answer = rows[i].answer;
		asked_ns = 1;
		assert_int_equal(tare_finish(queue, rows[i].limit_ns, &error), rows[i].want);
		assert_int_equal(asked_ns, rows[i].asked_ns);
	}
	struct tare_memory *a = new_memory(TARE_MEMORY_PINNED), *b = new_memory(TARE_MEMORY_DEVICE);
	put(a, 1);
	shift(queue, a, b, 3);
	must(tare_finish(queue, LIMIT, &error));
	assert_pattern(a, 3, 1, 3);
	free_all(queue, a, b);
}

static ze_result_t ZE_APICALL call_host(ze_command_list_handle_t list,
                                        levelzero_host_function *function, void *context,
                                        const void *next, ze_event_handle_t signal, uint32_t count,
                                        ze_event_handle_t *waits)
{
	assert_null(next);
	if (answer != ZE_RESULT_SUCCESS)
		return answer;
	function(context);
	return real.zeCommandListAppendBarrier(list, signal, count, waits);
}

static void count_up(void *context)
{
	++*(int *)context;
}

static void host_functions_are_appended_where_there_are_any(void **state)
{
	struct tare_queue *queue = new_queue(TARE_QUEUE_IN_ORDER, 0, false);
	struct tare_event *event = NULL, *before = NULL;
	struct tare_operation marker = { .type = TARE_OPERATION_MARKER };
	int called = 0;
	(void)state;
	must(tare_append(queue, &marker, &before, &error));
	struct tare_operation operation = { .type = TARE_OPERATION_HOST_CALL,
		                            .call = { count_up, &called },
		                            .waits = &before,
		                            .wait_count = 1 };
	calls()->zeCommandListAppendHostFunction = call_host;
	answer = ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
	assert_int_equal(tare_append(queue, &operation, &event, &error), -ENOTSUP);
	assert_says("zeCommandListAppendHostFunction");
	answer = ZE_RESULT_SUCCESS;
	must(tare_append(queue, &operation, &event, &error));
	must(tare_event_wait(event, LIMIT, &error));
	assert_int_equal(called, 1);
	tare_event_free(before);
	tare_event_free(event);
	tare_queue_free(queue);
}

static ze_result_t ZE_APICALL refuse_flag(ze_context_handle_t context, ze_device_handle_t handle,
                                          const ze_command_queue_desc_t *wanted,
                                          ze_command_list_handle_t *list)
{
	if (wanted->flags)
		return answer;
	return real.zeCommandListCreateImmediate(context, handle, wanted, list);
}

// A layer of an older loader refuses the flag that the driver knows.
static void a_refused_flag_is_done_without(void **state)
{
	static const ze_result_t answers[] = { ZE_RESULT_ERROR_INVALID_ENUMERATION,
		                               ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION };
	(void)state;
	own()->place.version = LEVELZERO_VERSION_IN_ORDER;
	calls()->zeCommandListCreateImmediate = refuse_flag;
	for (size_t i = 0; i < 2; i++) {
		answer = answers[i];
		struct tare_queue *queue = new_queue(TARE_QUEUE_IN_ORDER, 0, false);
		struct tare_memory *a = new_memory(TARE_MEMORY_PINNED),
		                   *b = new_memory(TARE_MEMORY_DEVICE);
		assert_false(((struct levelzero_queue *)queue)->chained);
		put(a, 1);
		shift(queue, a, b, 3);
		must(tare_finish(queue, LIMIT, &error));
		assert_pattern(a, 3, 1, 3);
		free_all(queue, a, b);
	}
	answer = ZE_RESULT_ERROR_DEVICE_LOST;
	assert_int_equal(open_queue(TARE_QUEUE_IN_ORDER), -ENODEV);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(failures_are_told_and_leave_nothing_behind),
		TEST(refused_operations_keep_no_events),
		TEST(a_list_that_cannot_be_executed_is_said),
		TEST(a_device_without_events_says_so),
		TEST(a_gate_that_cannot_be_opened_is_not_shut),
		TEST(a_missing_entry_point_is_named),
		TEST(immediate_lists_are_waited_for_where_that_can_be),
		TEST(host_functions_are_appended_where_there_are_any),
		TEST(a_refused_flag_is_done_without),
	};
	return run_on_levelzero(tests);
}
