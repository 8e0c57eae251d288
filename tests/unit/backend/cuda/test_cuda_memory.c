// SPDX-License-Identifier: Apache-2.0
// Managed memory and a thread's default stream of the CUDA backend: what the driver is called with.
#include "backend/call.h"
#include "backend/cuda/internal.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct tare_driver *driver;
static struct tare_device *device;
static struct tare_error error;

// What was asked of the driver last.
static struct {
	int calls;
	bool located; // with a location
	cu_pointer at;
	size_t bytes;
	cu_advice advice;
	int type, id;
	cu_stream stream;
} asked;
static cu_result answer;

static cu_result note(bool located, cu_pointer at, size_t bytes, cu_advice advice, int type, int id,
                      cu_stream stream)
{
	asked = (typeof(asked)){ asked.calls + 1, located, at, bytes, advice, type, id, stream };
	return answer;
}

static cu_result prefetch(cu_pointer at, size_t bytes, cu_location to, unsigned int flags,
                          cu_stream stream)
{
	assert_int_equal(flags, 0);
	return note(true, at, bytes, 0, to.type, to.id, stream);
}

static cu_result old_prefetch(cu_pointer at, size_t bytes, cu_device to, cu_stream stream)
{
	return note(false, at, bytes, 0, 0, to, stream);
}

static cu_result advise(cu_pointer at, size_t bytes, cu_advice advice, cu_location location)
{
	return note(true, at, bytes, advice, location.type, location.id, NULL);
}

static cu_result old_advise(cu_pointer at, size_t bytes, cu_advice advice, cu_device of)
{
	return note(false, at, bytes, advice, 0, of, NULL);
}

static struct cuda_device *cuda(void)
{
	return (struct cuda_device *)device;
}

static void watch(bool located, bool old)
{
	struct cuda_functions *call = &cuda()->driver->call;

	call->cuMemPrefetchAsync_v2 = located ? prefetch : NULL;
	call->cuMemAdvise_v2 = located ? advise : NULL;
	call->cuMemPrefetchAsync = old ? old_prefetch : NULL;
	call->cuMemAdvise = old ? old_advise : NULL;
	asked.calls = 0;
	answer = ABI_SUCCESS;
}

static int setup(void **state)
{
	const struct tare_backend *backend = tare_backend_find("cuda");
	(void)state;
	setenv("TARE_FAKE_CUDA", "devices=2", 1);
	return backend->driver_open(NULL, &driver, &error) < 0 ||
	       backend->device_open(driver, 1, &device, &error) < 0;
}

static int teardown(void **state)
{
	(void)state;
	tare_device_close(device);
	tare_backend_find("cuda")->driver_close(driver);
	return 0;
}

static struct tare_memory *new_memory(enum tare_memory_kind kind, uint64_t bytes)
{
	struct tare_memory *memory = NULL;
	if (tare_memory_create(device, kind, bytes, &memory, &error) < 0)
		fail_msg("%s", error.message);
	return memory;
}

static struct tare_queue *new_queue(enum tare_queue_order order)
{
	struct tare_queue *queue = NULL;
	const struct tare_queue_options options = { .order = order };
	if (tare_queue_create(device, &options, &queue, &error) < 0)
		fail_msg("%s", error.message);
	return queue;
}

static void assert_says(const char *words)
{
	if (!strstr(error.message, words))
		fail_msg("'%s' does not say '%s'", error.message, words);
}

static void memory_is_prefetched_to_a_location(void **state)
{
	static const struct {
		bool located, old, to_host;
		int type, id;
	} rows[] = {
		{ true, true, false, ABI_LOCATION_DEVICE, 1 },
		{ true, true, true, ABI_LOCATION_HOST, 0 },
		{ true, false, false, ABI_LOCATION_DEVICE, 1 },
		// Drivers before 12.2 know a device, or the processor.
		{ false, true, false, 0, 1 },
		{ false, true, true, 0, ABI_DEVICE_CPU },
	};
	struct tare_memory *memory = new_memory(TARE_MEMORY_SHARED, 8192);
	struct tare_queue *queue = new_queue(TARE_QUEUE_IN_ORDER);
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tare_operation operation = { .type = TARE_OPERATION_MIGRATE,
			                            .destination = { memory, 4096, 2048 },
			                            .to_host = rows[i].to_host };
		watch(rows[i].located, rows[i].old);
		assert_int_equal(tare_append(queue, &operation, NULL, &error), 0);
		assert_int_equal(asked.calls, 1);
		assert_int_equal(asked.located, rows[i].located);
		assert_int_equal(asked.type, rows[i].type);
		assert_int_equal(asked.id, rows[i].id);
		assert_int_equal(asked.at, (cu_pointer)(uintptr_t)memory->host + 4096);
		assert_int_equal(asked.bytes, 2048);
		assert_ptr_equal(asked.stream, ((struct cuda_queue *)queue)->stream);
	}
	tare_queue_free(queue);
	tare_memory_free(memory);
}

static void advice_goes_where_it_is_meant(void **state)
{
	static const struct {
		enum tare_advice advice;
		cu_advice asked;
		bool on_host;
		int calls;
	} rows[] = {
		{ TARE_ADVISE_READ_MOSTLY, ABI_ADVISE_SET_READ_MOSTLY, false, 1 },
		{ TARE_ADVISE_PREFER_DEVICE, ABI_ADVISE_SET_PREFERRED_LOCATION, false, 1 },
		{ TARE_ADVISE_PREFER_HOST, ABI_ADVISE_SET_PREFERRED_LOCATION, true, 1 },
		{ TARE_ADVISE_NONE, ABI_ADVISE_UNSET_PREFERRED_LOCATION, false, 2 },
	};
	struct tare_memory *memory = new_memory(TARE_MEMORY_SHARED, 8192);
	(void)state;
	for (int located = 0; located < 2; located++)
		for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
			int host_type = located ? ABI_LOCATION_HOST : 0;
			watch(located, true);
			assert_int_equal(tare_memory_advise((struct tare_span){ memory, 0, 8192 },
			                                    rows[i].advice, &error),
			                 0);
			assert_int_equal(asked.calls, rows[i].calls);
			assert_int_equal(asked.advice, rows[i].asked);
			assert_int_equal(asked.located, located);
			assert_int_equal(asked.type, rows[i].on_host ? host_type
			                             : located       ? ABI_LOCATION_DEVICE
			                                             : 0);
			assert_int_equal(asked.id,
			                 rows[i].on_host ? (located ? 0 : ABI_DEVICE_CPU) : 1);
		}
	tare_memory_free(memory);
}

static void what_cannot_be_prefetched_or_advised_is_said(void **state)
{
	static const struct {
		bool located, old, concurrent;
		enum tare_memory_kind kind;
		int code;
		const char *words;
	} rows[] = {
		{ true, true, false, TARE_MEMORY_SHARED, -ENOTSUP, "concurrentManagedAccess is 0" },
		{ false, false, true, TARE_MEMORY_SHARED, -ENOTSUP, "8.0 or later" },
	};
	bool concurrent = cuda()->concurrent_managed;
	struct tare_queue *queue = new_queue(TARE_QUEUE_IN_ORDER);
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tare_memory *memory = new_memory(rows[i].kind, 4096);
		struct tare_operation operation = { .type = TARE_OPERATION_MIGRATE,
			                            .destination = { memory, 0, 4096 } };
		watch(rows[i].located, rows[i].old);
		cuda()->concurrent_managed = rows[i].concurrent;
		assert_int_equal(tare_append(queue, &operation, NULL, &error), rows[i].code);
		assert_says(rows[i].words);
		assert_int_equal(
		    tare_memory_advise(operation.destination, TARE_ADVISE_READ_MOSTLY, &error),
		    rows[i].code);
		assert_says(rows[i].words);
		assert_int_equal(asked.calls, 0);
		cuda()->concurrent_managed = concurrent;
		tare_memory_free(memory);
	}
	tare_queue_free(queue);
}

static void a_refusal_of_the_driver_is_told_by_its_call(void **state)
{
	struct tare_memory *memory = new_memory(TARE_MEMORY_SHARED, 4096);
	struct tare_queue *queue = new_queue(TARE_QUEUE_IN_ORDER);
	struct tare_operation operation = { .type = TARE_OPERATION_MIGRATE,
		                            .destination = { memory, 0, 4096 } };
	(void)state;
	for (int located = 0; located < 2; located++) {
		watch(located, true);
		answer = ABI_INVALID_VALUE;
		assert_int_equal(tare_append(queue, &operation, NULL, &error), -EINVAL);
		assert_says(located ? "cuMemPrefetchAsync_v2" : "cuMemPrefetchAsync");
		assert_int_equal(
		    tare_memory_advise(operation.destination, TARE_ADVISE_READ_MOSTLY, &error),
		    -EINVAL);
		assert_says(located ? "cuMemAdvise_v2" : "cuMemAdvise");
	}
	tare_queue_free(queue);
	tare_memory_free(memory);
}

static void every_kind_of_host_memory_is_copied_and_back(void **state)
{
	static const enum tare_memory_kind kinds[] = {
		TARE_MEMORY_PAGEABLE,   TARE_MEMORY_PINNED, TARE_MEMORY_WRITE_COMBINED,
		TARE_MEMORY_REGISTERED, TARE_MEMORY_MAPPED, TARE_MEMORY_SHARED,
	};
	struct tare_memory *there = new_memory(TARE_MEMORY_DEVICE, 4096);
	struct tare_queue *queue = new_queue(TARE_QUEUE_IN_ORDER);
	(void)state;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		struct tare_memory *from = new_memory(kinds[i], 4096),
		                   *to = new_memory(kinds[i], 4096);
		struct tare_operation operation = { .type = TARE_OPERATION_COPY,
			                            .source = { from, 0, 4096 },
			                            .destination = { there, 0, 4096 } };
		assert_non_null(from->host);
		memset(from->host, (int)i + 1, 4096);
		memset(to->host, 0, 4096);
		assert_int_equal(tare_append(queue, &operation, NULL, &error), 0);
		operation = (struct tare_operation){ .type = TARE_OPERATION_COPY,
			                             .source = { there, 0, 4096 },
			                             .destination = { to, 0, 4096 } };
		assert_int_equal(tare_append(queue, &operation, NULL, &error), 0);
		assert_int_equal(tare_finish(queue, TARE_LIMIT_DEFAULT_NS, &error), 0);
		assert_memory_equal(from->host, to->host, 4096);
		tare_memory_free(from);
		tare_memory_free(to);
	}
	tare_queue_free(queue);
	tare_memory_free(there);
}

// ---- the default streams

struct attempt {
	struct tare_queue *queue;
	int appended, finished, shut, recorded;
	char message[256];
};

static void *use_elsewhere(void *context)
{
	struct attempt *attempt = context;
	const struct tare_operation marker = { .type = TARE_OPERATION_MARKER };
	struct tare_gate *gate = NULL;
	struct tare_graph *graph = NULL;
	struct tare_error why = { 0 };

	attempt->appended = tare_append(attempt->queue, &marker, NULL, &why);
	snprintf(attempt->message, sizeof attempt->message, "%.250s", why.message);
	attempt->finished = tare_finish(attempt->queue, TARE_LIMIT_DEFAULT_NS, NULL);
	attempt->shut = tare_gate_shut(attempt->queue, &gate, NULL);
	tare_gate_free(gate);
	attempt->recorded = tare_graph_begin(attempt->queue, NULL);
	if (attempt->recorded == 0) {
		assert_int_equal(tare_graph_end(attempt->queue, &graph, NULL), 0);
		tare_graph_free(graph);
	}
	return NULL;
}

static void a_threads_default_stream_is_its_own(void **state)
{
	static const enum tare_queue_order orders[] = { TARE_QUEUE_IN_ORDER,
		                                        TARE_QUEUE_LEGACY_DEFAULT,
		                                        TARE_QUEUE_THREAD_DEFAULT };
	(void)state;
	for (size_t i = 0; i < 3; i++) {
		bool own = orders[i] == TARE_QUEUE_THREAD_DEFAULT;
		struct attempt attempt = { .queue = new_queue(orders[i]) };
		cu_stream stream = ((struct cuda_queue *)attempt.queue)->stream;
		pthread_t thread;
		// A marker without an event asks nothing of the driver; one with an event does.
		const struct tare_operation marker = { .type = TARE_OPERATION_MARKER };
		struct tare_event *event = NULL;
		assert_int_equal(tare_append(attempt.queue, &marker, &event, &error), 0);
		assert_int_equal(tare_event_wait(event, TARE_LIMIT_DEFAULT_NS, &error), 0);
		tare_event_free(event);
		assert_int_equal(pthread_create(&thread, NULL, use_elsewhere, &attempt), 0);
		pthread_join(thread, NULL);
		assert_int_equal(attempt.appended, own ? -EINVAL : 0);
		assert_int_equal(attempt.finished, own ? -EINVAL : 0);
		assert_int_equal(attempt.shut, own ? -EINVAL : 0);
		assert_int_equal(attempt.recorded, own ? -EINVAL : i == 1 ? -ENOTSUP : 0);
		if (own && !strstr(attempt.message, "the thread that made it"))
			fail_msg("%s", attempt.message);
		assert_int_equal((uintptr_t)stream == 2, own);
		assert_int_equal((uintptr_t)stream == 1, orders[i] == TARE_QUEUE_LEGACY_DEFAULT);
		assert_int_equal(tare_finish(attempt.queue, TARE_LIMIT_DEFAULT_NS, &error), 0);
		tare_queue_free(attempt.queue);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(memory_is_prefetched_to_a_location, setup,
		                                teardown),
		cmocka_unit_test_setup_teardown(advice_goes_where_it_is_meant, setup, teardown),
		cmocka_unit_test_setup_teardown(what_cannot_be_prefetched_or_advised_is_said, setup,
		                                teardown),
		cmocka_unit_test_setup_teardown(a_refusal_of_the_driver_is_told_by_its_call, setup,
		                                teardown),
		cmocka_unit_test_setup_teardown(every_kind_of_host_memory_is_copied_and_back, setup,
		                                teardown),
		cmocka_unit_test_setup_teardown(a_threads_default_stream_is_its_own, setup,
		                                teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
