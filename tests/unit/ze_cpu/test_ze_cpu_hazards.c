// SPDX-License-Identifier: Apache-2.0
// What programs do wrong, or in large numbers, and the Level Zero CPU driver has to survive.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "sleeping_thread.h"
#include "ze_work_rig.h"

#include <errno.h>
#include <pthread.h>
#include <spawn.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

// ---- lists

static void list_closed_twice(void **state)
{
	ze_command_queue_handle_t queue = queue_new(true);
	ze_command_list_handle_t list = list_new(), immediate = immediate_new(true);
	int from = 3, to = 0;

	(void)state;
	assert_int_equal(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL),
	                 ZE_RESULT_ERROR_INVALID_ARGUMENT);
	must(zeCommandListAppendMemoryCopy(list, &to, &from, sizeof to, NULL, 0, NULL));
	must(zeCommandListClose(list));
	must(zeCommandListClose(list));
	assert_int_equal(zeCommandListAppendBarrier(list, NULL, 0, NULL),
	                 ZE_RESULT_ERROR_INVALID_ARGUMENT);
	must(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
	assert_int_equal(to, 3);
	assert_int_equal(zeCommandQueueExecuteCommandLists(queue, 1, &immediate, NULL),
	                 ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE);
	must(zeCommandListReset(list));
	must(zeCommandListAppendBarrier(list, NULL, 0, NULL));
	must(zeCommandListClose(list));
	to = 0;
	must(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
	assert_int_equal(to, 0);
	must(zeCommandListDestroy(list));
	must(zeCommandListDestroy(immediate));
	must(zeCommandQueueDestroy(queue));
}

// A list runs in two queues at once, and again, while it is reset, changed and destroyed.
static void list_changed_in_flight(void **state)
{
	ze_command_queue_handle_t queues[2] = { queue_new(false), queue_new(false) };
	ze_command_list_handle_t list = list_new();
	ze_event_handle_t gate = event_of(pool, 0);
	int from = 8, other = 9, to = 0, never = 0;

	(void)state;
	must(zeCommandListAppendBarrier(list, NULL, 1, &gate));
	must(zeCommandListAppendMemoryCopy(list, &to, &from, sizeof to, NULL, 0, NULL));
	must(zeCommandListClose(list));
	for (int i = 0; i < 6; i++)
		must(zeCommandQueueExecuteCommandLists(queues[i % 2], 1, &list, NULL));
	must(zeCommandListReset(list));
	must(zeCommandListAppendMemoryCopy(list, &never, &other, sizeof never, NULL, 0, NULL));
	must(zeCommandListDestroy(list));
	assert_int_equal(to, 0);
	must(zeEventHostSignal(gate));
	for (int i = 0; i < 2; i++) {
		must(zeCommandQueueSynchronize(queues[i], FOR_EVER));
		must(zeCommandQueueDestroy(queues[i]));
	}
	assert_int_equal(to, 8);
	assert_int_equal(never, 0);
	must(zeEventDestroy(gate));
}

// ---- events

static void event_destroyed_while_pending(void **state)
{
	ze_command_queue_handle_t queue = queue_new(false);
	ze_command_list_handle_t list = list_new();
	ze_event_pool_handle_t own = pool_new(3, 0);
	ze_event_handle_t gate = event_of(pool, 0), first = event_of(own, 0), second;
	int from = 5, to = 0;

	(void)state;
	must(zeCommandListAppendBarrier(list, first, 1, &gate));
	must(zeCommandListAppendMemoryCopy(list, &to, &from, sizeof to, NULL, 1, &first));
	must(zeCommandListClose(list));
	must(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
	must(zeEventDestroy(first));
	second = event_of(own, 0);
	must(zeEventPoolDestroy(own));
	must(zeEventHostSignal(gate));
	must(zeCommandQueueSynchronize(queue, FOR_EVER));
	assert_int_equal(to, 5);
	assert_int_equal(zeEventQueryStatus(second), ZE_RESULT_NOT_READY);
	must(zeEventDestroy(second));
	must(zeEventDestroy(gate));
	must(zeCommandListDestroy(list));
	must(zeCommandQueueDestroy(queue));
}

struct waiter {
	pthread_t thread;
	ze_event_handle_t event; // NULL: it waits for the fence
	ze_fence_handle_t fence;
	atomic_long number; // of the thread, once it begins to wait
	ze_result_t result;
};

static void *wait_shortly(void *at)
{
	struct waiter *waiter = at;
	uint64_t limit_ns = 100000000;

	// So that nothing but the wait lets the thread sleep then.
	if (waiter->event)
		zeEventHostSynchronize(waiter->event, 0);
	else
		zeFenceHostSynchronize(waiter->fence, 0);
	atomic_store(&waiter->number, syscall(SYS_gettid));
	waiter->result = waiter->event ? zeEventHostSynchronize(waiter->event, limit_ns)
	                               : zeFenceHostSynchronize(waiter->fence, limit_ns);
	return NULL;
}

// What a thread waits for may be destroyed by another. Under the address sanitizer a look at what
// is gone is found.
static void destroyed_while_waited_for(void **state)
{
	ze_command_queue_handle_t queue = queue_new(false);
	ze_fence_desc_t described = { .stype = ZE_STRUCTURE_TYPE_FENCE_DESC };
	struct waiter waiters[2] = { { .event = event_of(pool, 0) }, { .event = NULL } };
	ze_event_handle_t other = event_of(pool, 1);

	(void)state;
	must(zeFenceCreate(queue, &described, &waiters[1].fence));
	for (int i = 0; i < 2; i++)
		assert_int_equal(
		    pthread_create(&waiters[i].thread, NULL, wait_shortly, &waiters[i]), 0);
	for (int i = 0; i < 2; i++)
		await_sleep(&waiters[i].number);
	must(zeEventDestroy(waiters[0].event));
	must(zeFenceDestroy(waiters[1].fence));
	must(zeEventHostReset(other));
	for (int i = 0; i < 2; i++) {
		pthread_join(waiters[i].thread, NULL);
		assert_int_equal(waiters[i].result, ZE_RESULT_NOT_READY);
	}
	must(zeEventDestroy(other));
	must(zeCommandQueueDestroy(queue));
}

// Real programs do it, and wait for each of them.
static void events_of_one_index(void **state)
{
	ze_event_handle_t first = event_of(pool, 0), second;

	(void)state;
	must(zeEventHostSignal(first));
	second = event_of(pool, 0);
	assert_int_equal(zeEventQueryStatus(second), ZE_RESULT_NOT_READY);
	must(zeEventHostSignal(second));
	must(zeEventHostReset(first));
	must(zeEventQueryStatus(second));
	must(zeEventDestroy(first));
	must(zeEventQueryStatus(second));
	must(zeEventDestroy(second));
}

static void many_events(void **state)
{
	enum { COUNT = 100000 };
	ze_event_pool_handle_t large = pool_new(COUNT, ZE_EVENT_POOL_FLAG_HOST_VISIBLE);
	ze_event_handle_t *events = malloc(COUNT * sizeof(ze_event_handle_t)), past = NULL;
	ze_event_desc_t described = { .stype = ZE_STRUCTURE_TYPE_EVENT_DESC, .index = COUNT };
	ze_command_queue_handle_t queue = queue_new(true);
	ze_command_list_handle_t list = list_new();
	uint32_t signalled = 0;

	(void)state;
	assert_non_null(events);
	for (uint32_t i = 0; i < COUNT; i++)
		events[i] = event_of(large, i);
	assert_int_equal(zeEventCreate(large, &described, &past), ZE_RESULT_ERROR_INVALID_ARGUMENT);
	for (uint32_t i = 0; i < COUNT; i += 2)
		must(zeCommandListAppendSignalEvent(list, events[i]));
	must(zeCommandListClose(list));
	must(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
	for (uint32_t i = 0; i < COUNT; i++)
		signalled += zeEventQueryStatus(events[i]) ==
		             (i % 2 ? ZE_RESULT_NOT_READY : ZE_RESULT_SUCCESS);
	assert_int_equal(signalled, COUNT);
	for (uint32_t i = 0; i < COUNT; i++)
		must(zeEventDestroy(events[i]));
	must(zeEventPoolDestroy(large));
	must(zeCommandListDestroy(list));
	must(zeCommandQueueDestroy(queue));
	free(events);
}

static void shared_pools(void **state)
{
	ze_event_pool_handle_t own = pool_new(2, ZE_EVENT_POOL_FLAG_IPC), opened = NULL;
	ze_ipc_event_pool_handle_t handle;
	ze_event_handle_t here = event_of(own, 1), there;

	(void)state;
	assert_int_equal(zeEventPoolGetIpcHandle(pool, &handle), ZE_RESULT_ERROR_INVALID_ARGUMENT);
	must(zeEventPoolGetIpcHandle(own, &handle));
	must(zeEventPoolOpenIpcHandle(context, handle, &opened));
	there = event_of(opened, 1);
	must(zeEventHostSignal(here));
	must(zeEventQueryStatus(there));
	must(zeEventDestroy(here));
	must(zeEventQueryStatus(there));
	must(zeEventPoolDestroy(own));
	must(zeEventDestroy(there));
	must(zeEventPoolCloseIpcHandle(opened));
	memset(&handle, 0, sizeof handle);
	assert_int_equal(zeEventPoolOpenIpcHandle(context, handle, &opened),
	                 ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

static void pass_ns(uint64_t ns)
{
	struct timespec start, now;

	clock_gettime(CLOCK_MONOTONIC, &start);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while ((uint64_t)((now.tv_sec - start.tv_sec) * 1000000000 + now.tv_nsec - start.tv_nsec) <
	       ns);
}

// A thread that left its engine to an urgent queue goes on when that queue wants it no longer.
static void event_reset_before_an_urgent_queue(void **state)
{
	enum { BYTES = 1 << 17, RESET_TURNS = 500 };
	ze_command_queue_desc_t described = queue_description(0, false);
	ze_event_handle_t gate = event_of(pool, 0), done = event_of(pool, 1),
	                  ran = event_of(pool, 2);
	ze_command_list_handle_t urgent = NULL, list = immediate_new(false);
	struct tare_random random = { 5 };
	uint8_t *memory = shared_new(2 * BYTES), byte = 0;

	(void)state;
	described.priority = ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_HIGH;
	must(zeCommandListCreateImmediate(context, device, &described, &urgent));
	must(zeCommandListAppendMemoryCopy(urgent, &byte, memory, 1, ran, 1, &gate));
	for (int turn = 0; turn < RESET_TURNS; turn++) {
		must(zeCommandListAppendMemoryCopy(list, memory, memory + BYTES, BYTES, done, 0,
		                                   NULL));
		// About when the thread of `list` wakes.
		pass_ns(tare_random_below(&random, 100000));
		must(zeEventHostSignal(gate));
		pass_ns(tare_random_below(&random, 30000));
		must(zeEventHostReset(gate));
		must(zeEventHostSynchronize(done, UINT64_C(20000000000)));
		must(zeEventHostReset(done));
		if (zeEventQueryStatus(ran) == ZE_RESULT_SUCCESS) {
			must(zeEventHostReset(ran));
			must(
			    zeCommandListAppendMemoryCopy(urgent, &byte, memory, 1, ran, 1, &gate));
		}
	}
	must(zeEventHostSignal(gate));
	must(zeEventHostSynchronize(ran, FOR_EVER));
	must(zeCommandListDestroy(urgent));
	must(zeCommandListDestroy(list));
	must(zeMemFree(context, memory));
	must(zeEventDestroy(gate));
	must(zeEventDestroy(done));
	must(zeEventDestroy(ran));
}

// ---- memory and queues

// What is freed in use is given back once nothing uses it: within a time that no machine exceeds.
static void await_return(void *memory)
{
	unsigned char resident;

	for (int turn = 0; turn < 20000; turn++) {
		if (mincore((char *)memory - (uintptr_t)memory % 4096, 1, &resident) != 0) {
			assert_int_equal(errno, ENOMEM);
			return;
		}
		usleep(1000);
	}
	fail_msg("the memory was not given back");
}

static void memory_freed_in_use(void **state)
{
	enum { BYTES = 1 << 20 };
	ze_command_list_handle_t list = immediate_new(false);
	ze_event_handle_t gate = event_of(pool, 0), done = event_of(pool, 1);
	uint8_t *from = shared_new(BYTES), *to = malloc(BYTES);

	(void)state;
	assert_non_null(to);
	memset(from, 77, BYTES);
	must(zeCommandListAppendMemoryCopy(list, to, from, BYTES, done, 1, &gate));
	must(zeMemFree(context, from));
	must(zeEventHostSignal(gate));
	must(zeEventHostSynchronize(done, FOR_EVER));
	for (int i = 0; i < BYTES; i++)
		if (to[i] != 77)
			fail_msg("byte %d is %d", i, to[i]);
	await_return(from);
	must(zeEventDestroy(gate));
	must(zeEventDestroy(done));
	must(zeCommandListDestroy(list));
	free(to);
}

// Destroying it does not block, what can be done is done, and memory is given back at last.
static void queue_destroyed_with_work(void **state)
{
	ze_command_list_handle_t list = immediate_new(false);
	ze_event_handle_t never = event_of(pool, 0), done = event_of(pool, 1),
	                  not = event_of(pool, 2);
	int *from = shared_new(sizeof *from), *to = shared_new(sizeof *to);

	(void)state;
	*from = 6;
	*to = 0;
	must(zeCommandListAppendMemoryCopy(list, to, from, sizeof *to, done, 0, NULL));
	must(zeCommandListAppendMemoryCopy(list, to, from, sizeof *to, not, 1, &never));
	must(zeCommandListDestroy(list));
	must(zeEventHostSynchronize(done, FOR_EVER));
	assert_int_equal(*to, 6);
	assert_int_equal(zeEventHostSynchronize(not, UINT64_C(5000000)), ZE_RESULT_NOT_READY);
	must(zeMemFree(context, from));
	must(zeMemFree(context, to));
	await_return(to);
	must(zeEventDestroy(never));
	must(zeEventDestroy(not));
	must(zeEventDestroy(done));
}

enum { THREADS = 64, TURNS = 20 };

struct worker {
	pthread_t thread;
	uint32_t number;
	bool right;
};

// Cannot use assertions: cmocka's jump to the main thread's stack.
static void *work(void *at)
{
	struct worker *worker = at;
	ze_command_queue_desc_t described = queue_description(0, false);
	ze_command_list_desc_t of_list = { .stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC };
	ze_command_queue_handle_t queue = NULL;
	ze_command_list_handle_t list = NULL;
	uint32_t from = 0, to = 0, good = 0;

	if (zeCommandQueueCreate(context, device, &described, &queue) != ZE_RESULT_SUCCESS ||
	    zeCommandListCreate(context, device, &of_list, &list) != ZE_RESULT_SUCCESS)
		return NULL;
	zeCommandListAppendMemoryCopy(list, &to, &from, sizeof to, NULL, 0, NULL);
	zeCommandListClose(list);
	for (uint32_t i = 0; i < TURNS; i++) {
		from = worker->number * 1000 + i;
		if (zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL) == ZE_RESULT_SUCCESS &&
		    zeCommandQueueSynchronize(queue, FOR_EVER) == ZE_RESULT_SUCCESS && to == from)
			good++;
	}
	worker->right = good == TURNS && zeCommandListDestroy(list) == ZE_RESULT_SUCCESS &&
	                zeCommandQueueDestroy(queue) == ZE_RESULT_SUCCESS;
	return NULL;
}

static void many_queues(void **state)
{
	static struct worker workers[THREADS];

	(void)state;
	for (uint32_t i = 0; i < THREADS; i++) {
		workers[i].number = i;
		assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
	}
	for (uint32_t i = 0; i < THREADS; i++)
		pthread_join(workers[i].thread, NULL);
	for (uint32_t i = 0; i < THREADS; i++)
		assert_true(workers[i].right);
}

// ---- arguments

static void refused_arguments(void **state)
{
	ze_command_queue_desc_t described = queue_description(0, false);
	ze_event_pool_desc_t of_pool = { .stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC };
	ze_command_list_handle_t list = list_new(), made = NULL;
	ze_command_queue_handle_t queue = NULL;
	ze_event_pool_handle_t none = NULL;
	uint64_t words[2] = { 0 };

	(void)state;
	assert_int_equal(zeCommandListAppendBarrier(list, NULL, 1, NULL),
	                 ZE_RESULT_ERROR_INVALID_SIZE);
	assert_int_equal(zeCommandListAppendMemoryCopy(list, NULL, words, 8, NULL, 0, NULL),
	                 ZE_RESULT_ERROR_INVALID_NULL_POINTER);
	assert_int_equal(zeCommandListAppendMemoryCopy(NULL, words, words, 8, NULL, 0, NULL),
	                 ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
	assert_int_equal(zeCommandListAppendWriteGlobalTimestamp(
	                     list, (uint64_t *)(void *)((char *)words + 4), NULL, 0, NULL),
	                 ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT);
	assert_int_equal(
	    zeCommandListAppendMemAdvise(list, device, words, 8, (ze_memory_advice_t)99),
	    ZE_RESULT_ERROR_INVALID_ENUMERATION);
	described.ordinal = 77;
	assert_int_equal(zeCommandQueueCreate(context, device, &described, &queue),
	                 ZE_RESULT_ERROR_INVALID_ARGUMENT);
	assert_int_equal(zeCommandListCreateImmediate(context, device, &described, &made),
	                 ZE_RESULT_ERROR_INVALID_ARGUMENT);
	described.mode = (ze_command_queue_mode_t)9;
	assert_int_equal(zeCommandQueueCreate(context, device, &described, &queue),
	                 ZE_RESULT_ERROR_INVALID_ENUMERATION);
	assert_int_equal(zeEventPoolCreate(context, &of_pool, 0, NULL, &none),
	                 ZE_RESULT_ERROR_INVALID_SIZE);
	of_pool.count = 1;
	of_pool.flags = ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP | LEVELZERO_EVENT_POOL_MAPPED_TIMESTAMP;
	assert_int_equal(zeEventPoolCreate(context, &of_pool, 0, NULL, &none),
	                 ZE_RESULT_ERROR_INVALID_ARGUMENT);
	assert_int_equal(zeEventHostSynchronize(NULL, 0), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
	assert_int_equal(zeFenceReset(NULL), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
	must(zeCommandListDestroy(list));
}

// ---- the end of the process

static const char *library;

// Ends with work that waits and work that runs.
static int end_with_work(void)
{
	enum { BYTES = 1 << 24 };
	ze_command_queue_desc_t described = queue_description(0, false);
	static uint8_t from[BYTES], to[BYTES];
	static ze_command_list_handle_t lists[2];

	for (int i = 0; i < 2; i++)
		if (zeCommandListCreateImmediate(context, device, &described, &lists[i]) != 0)
			return 1;
	static ze_event_handle_t gate;
	gate = event_of(pool_new(1, 0), 0);
	zeCommandListAppendBarrier(lists[0], NULL, 1, &gate);
	for (int i = 0; i < 50; i++)
		zeCommandListAppendMemoryCopy(lists[1], to, from, BYTES, NULL, 0, NULL);
	return 0;
}

static void process_ends_with_work(void **state)
{
	char program[] = "/proc/self/exe", word[] = "end";
	char *arguments[] = { program, (char *)(uintptr_t)library, word, NULL };
	int status = -1;
	pid_t child;

	(void)state;
	assert_int_equal(posix_spawn(&child, program, NULL, NULL, arguments, environ), 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

// Without time stamps.
static int make_plain_pool(void **state)
{
	(void)state;
	pool = pool_new(3, ZE_EVENT_POOL_FLAG_HOST_VISIBLE);
	return 0;
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(list_closed_twice),
		cmocka_unit_test(list_changed_in_flight),
		cmocka_unit_test(event_destroyed_while_pending),
		cmocka_unit_test(destroyed_while_waited_for),
		cmocka_unit_test(event_reset_before_an_urgent_queue),
		cmocka_unit_test(events_of_one_index),
		cmocka_unit_test(many_events),
		cmocka_unit_test(shared_pools),
		cmocka_unit_test(memory_freed_in_use),
		cmocka_unit_test(queue_destroyed_with_work),
		cmocka_unit_test(many_queues),
		cmocka_unit_test(refused_arguments),
		cmocka_unit_test(process_ends_with_work),
	};
	// Whether the program starts at all.
	if (argc == 2 && strcmp(argv[1], "--probe") == 0)
		return 0;
	int status = argc < 2 ? 77 : rig_open(argv[1]);
	if (status)
		return status;
	library = argv[1];
	if (argc > 2)
		return end_with_work();
	return cmocka_run_group_tests(tests, make_plain_pool, free_pool);
}
