// SPDX-License-Identifier: Apache-2.0
// Events of the Level Zero CPU driver that count, under a script and without: signalled at first,
// and each time anew, while what waited for them before still waits for that.
#include "backend/levelzero/newer.h"
#include "sleeping_thread.h"
#include "ze_time_rig.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { BYTES = 100000, BOTH = LEVELZERO_COUNTER_IMMEDIATE | LEVELZERO_COUNTER_REGULAR };

static const char script[] = HEAD "engine copy runs to-device,to-host,local\n"
                                  "queue route queue\n"
                                  "copy pinned device rate 1 GB/s\n"
                                  "copy device pinned rate 500 MB/s\n"
                                  "call fixed 3 us\n"
                                  "marker fixed 700 ns\n";

struct counters {
	struct ze ze;
	bool scripted;
	levelzero_create_counter_event *create;
	levelzero_get_counter_flags *flags_of;
	char *device, *host;
};

static void *newer(const struct ze *ze, const char *name)
{
	void *address = NULL;

	must(zeDriverGetExtensionFunctionAddress(ze->driver, name, &address));
	holds(address);
	return address;
}

static struct counters counters_open(const char *text)
{
	struct counters made = { .ze = ze_open(text), .scripted = text };

	made.create =
	    (levelzero_create_counter_event *)newer(&made.ze, "zeEventCounterBasedCreate");
	made.flags_of =
	    (levelzero_get_counter_flags *)newer(&made.ze, "zeEventGetCounterBasedFlags");
	made.device = ze_device_memory(&made.ze, MIB);
	made.host = ze_host_memory(&made.ze, MIB);
	return made;
}

static ze_event_handle_t counter(const struct counters *with, uint32_t flags)
{
	struct levelzero_counter_event description = { .stype = LEVELZERO_TYPE_COUNTER_EVENT,
		                                       .flags = flags,
		                                       .signal = ZE_EVENT_SCOPE_FLAG_HOST };
	ze_event_handle_t event = NULL;

	must(with->create(with->ze.context, with->ze.device, &description, &event));
	return event;
}

static ze_event_handle_t stamped(const struct counters *with)
{
	return counter(with, BOTH | LEVELZERO_COUNTER_DEVICE_STAMPS);
}

static ze_command_list_handle_t immediate(const struct counters *with, uint32_t ordinal)
{
	ze_command_queue_desc_t description = { .stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
		                                .ordinal = ordinal,
		                                .flags = LEVELZERO_QUEUE_IN_ORDER,
		                                .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS };
	ze_command_list_handle_t list;

	must(zeCommandListCreateImmediate(with->ze.context, with->ze.device, &description, &list));
	return list;
}

static ze_command_list_handle_t regular(const struct counters *with, uint32_t ordinal)
{
	ze_command_list_desc_t description = { .stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC,
		                               .commandQueueGroupOrdinal = ordinal,
		                               .flags = LEVELZERO_LIST_IN_ORDER };
	ze_command_list_handle_t list;

	must(zeCommandListCreate(with->ze.context, with->ze.device, &description, &list));
	return list;
}

static void copy(const struct counters *with, ze_command_list_handle_t list,
                 ze_event_handle_t signal, ze_event_handle_t wait)
{
	must(zeCommandListAppendMemoryCopy(list, with->device, with->host, BYTES, signal,
	                                   wait ? 1 : 0, wait ? &wait : NULL));
}

#define answers(expected, call) near((call), (expected), 0)

// ---- what they are

static void at_first(const void *row, int attempt)
{
	struct counters with = counters_open(row);
	ze_event_handle_t event = stamped(&with), regular_one = ze_event(&with.ze);
	ze_command_list_handle_t list = immediate(&with, with.ze.compute);
	ze_kernel_timestamp_result_t result;
	uint32_t flags = 0;

	(void)attempt;
	must(zeEventQueryStatus(event));
	must(zeEventHostSynchronize(event, UINT64_MAX));
	must(zeEventQueryKernelTimestamp(event, &result));
	must(with.flags_of(event, &flags));
	near(flags, BOTH | LEVELZERO_COUNTER_DEVICE_STAMPS, 0);
	must(with.flags_of(regular_one, &flags));
	near(flags, 0, 0);
	must(with.flags_of(counter(&with, 0), &flags));
	near(flags, LEVELZERO_COUNTER_IMMEDIATE, 0);
	answers(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeEventHostReset(event));
	answers(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeEventHostSignal(event));
	answers(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeCommandListAppendEventReset(list, event));
	copy(&with, list, event, event);
	must(zeEventHostSynchronize(event, UINT64_MAX));
	must(zeEventDestroy(event));
	must(zeCommandListDestroy(list));
}

// By a pool, as programs of before 1.15 have them, and by Intel's function.
static void other_ways(const void *row, int attempt)
{
	struct counters with = counters_open(row);
	struct levelzero_counter_pool counting = { .stype = LEVELZERO_TYPE_COUNTER_POOL };
	ze_event_pool_desc_t pool = { .stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
		                      .pNext = &counting,
		                      .flags = ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP,
		                      .count = EVENTS };
	ze_command_list_handle_t list = immediate(&with, with.ze.compute);
	levelzero_create_counter_event *intel =
	    (levelzero_create_counter_event *)newer(&with.ze, "zexCounterBasedEventCreate2");
	ze_event_handle_t events[2];

	(void)attempt;
	must(zeEventPoolCreate(with.ze.context, &pool, 0, NULL, &with.ze.pool));
	events[0] = ze_event(&with.ze);
	must(intel(with.ze.context, with.ze.device, NULL, &events[1]));
	for (int i = 0; i < 2; i++) {
		must(zeEventQueryStatus(events[i]));
		for (int turn = 0; turn < 3; turn++) {
			copy(&with, list, events[i], NULL);
			if (with.scripted)
				near(ze_duration_ns(&with.ze, events[i]), BYTES, 0);
			must(zeEventHostSynchronize(events[i], UINT64_MAX));
		}
		answers(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeEventHostReset(events[i]));
		must(zeEventDestroy(events[i]));
	}
	counting.flags = 4;
	answers(ZE_RESULT_ERROR_INVALID_ENUMERATION,
	        zeEventPoolCreate(with.ze.context, &pool, 0, NULL, &with.ze.pool));
	counting.flags = 0;
	pool.flags = ZE_EVENT_POOL_FLAG_IPC;
	answers(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
	        zeEventPoolCreate(with.ze.context, &pool, 0, NULL, &with.ze.pool));
}

static void refusals(const void *row, int attempt)
{
	struct counters with = counters_open(row);
	ze_base_desc_t storage = { .stype = (ze_structure_type_t)0x2003f };
	ze_base_desc_t patience = { .stype = LEVELZERO_TYPE_SYNC_MODE };
	struct levelzero_counter_event good = { .stype = LEVELZERO_TYPE_COUNTER_EVENT };
	ze_event_handle_t event = NULL;
	const struct {
		uint32_t flags, signal, wait;
		const void *next;
		ze_result_t expected;
	} rows[] = {
		{ 0x80, 0, 0, NULL, ZE_RESULT_ERROR_INVALID_ENUMERATION },
		{ 0, 8, 0, NULL, ZE_RESULT_ERROR_INVALID_ENUMERATION },
		{ 0, 0, 8, NULL, ZE_RESULT_ERROR_INVALID_ENUMERATION },
		{ LEVELZERO_COUNTER_DEVICE_STAMPS | LEVELZERO_COUNTER_HOST_STAMPS, 0, 0, NULL,
		  ZE_RESULT_ERROR_INVALID_ARGUMENT },
		{ LEVELZERO_COUNTER_IPC | LEVELZERO_COUNTER_DEVICE_STAMPS, 0, 0, NULL,
		  ZE_RESULT_ERROR_INVALID_ARGUMENT },
		{ LEVELZERO_COUNTER_IPC, 0, 0, NULL, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE },
		{ 0, 0, 0, &storage, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE },
		{ 0, 0, 0, &patience, ZE_RESULT_SUCCESS },
	};

	(void)attempt;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct levelzero_counter_event bad = { LEVELZERO_TYPE_COUNTER_EVENT, rows[i].next,
			                               rows[i].flags, rows[i].signal,
			                               rows[i].wait };
		answers(rows[i].expected,
		        with.create(with.ze.context, with.ze.device, &bad, &event));
	}
	answers(ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
	        with.create(NULL, with.ze.device, &good, &event));
	answers(ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
	        with.create(with.ze.context, NULL, &good, &event));
	answers(ZE_RESULT_ERROR_INVALID_NULL_POINTER,
	        with.create(with.ze.context, with.ze.device, NULL, &event));
	answers(ZE_RESULT_ERROR_INVALID_NULL_POINTER,
	        with.create(with.ze.context, with.ze.device, &good, NULL));
}

// Only lists in order signal them, of the kind that they are for; any list waits for them.
static void kinds_of_lists(const void *row, int attempt)
{
	struct counters with = counters_open(row);
	ze_command_list_handle_t lists[] = {
		immediate(&with, with.ze.compute),
		regular(&with, with.ze.compute),
		ze_immediate(&with.ze, with.ze.compute, 0),
		ze_list(&with.ze, with.ze.compute),
	};
	const uint32_t flags[] = { LEVELZERO_COUNTER_IMMEDIATE, LEVELZERO_COUNTER_REGULAR, 0 };

	(void)attempt;
	for (size_t kind = 0; kind < 3; kind++)
		for (size_t i = 0; i < 4; i++) {
			ze_event_handle_t event = counter(&with, flags[kind]);
			bool good = i < 2 && (kind == 2 ? i == 0 : i == kind);
			answers(good ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_INVALID_ARGUMENT,
			        zeCommandListAppendSignalEvent(lists[i], event));
			// What was refused changed nothing.
			if (!good)
				must(zeEventQueryStatus(event));
			must(zeCommandListAppendWaitOnEvents(lists[i], 1, &event));
			must(zeEventDestroy(event));
		}
}

// ---- signalled again

// What waited for a signal does not wait for the next one of the same event.
static void each_signal_is_another(const void *row, int attempt)
{
	struct counters with = counters_open(row);
	ze_command_list_handle_t list = immediate(&with, with.ze.compute);
	ze_command_list_handle_t other = ze_immediate(&with.ze, with.ze.copy, 0);
	ze_event_handle_t gates[] = { ze_event(&with.ze), ze_event(&with.ze) };
	ze_event_handle_t event = stamped(&with), done = ze_event(&with.ze);

	(void)attempt;
	copy(&with, list, event, gates[0]);
	copy(&with, other, done, event);
	copy(&with, list, event, gates[1]);
	holds(zeEventQueryStatus(event) == ZE_RESULT_NOT_READY);
	holds(zeEventQueryStatus(done) == ZE_RESULT_NOT_READY);
	must(zeEventHostSignal(gates[0]));
	must(zeEventHostSynchronize(done, UINT64_MAX));
	holds(zeEventHostSynchronize(event, 5000000) == ZE_RESULT_NOT_READY);
	must(zeEventHostSignal(gates[1]));
	must(zeEventHostSynchronize(event, UINT64_MAX));
	if (with.scripted)
		near(ze_duration_ns(&with.ze, event), BYTES, 0);
	// One that is signalled later than it is waited for in one list is what it was before.
	must(zeCommandListAppendBarrier(list, event, 1, &event));
	must(zeEventHostSynchronize(event, UINT64_MAX));
}

enum { TURNS = 5 };

// A list executed again without waiting, each time with a query behind it: each execution's stamps.
static void lists_again(const void *row, int attempt)
{
	struct counters with = counters_open(row);
	struct ze *ze = &with.ze;
	ze_command_list_handle_t lists[] = { regular(&with, ze->compute), NULL };
	ze_command_queue_handle_t queue = ze_queue(ze, ze->compute, 0);
	ze_event_handle_t events[] = { stamped(&with), stamped(&with) }, gate = ze_event(ze);
	ze_kernel_timestamp_result_t *results = ze_host_memory(ze, 4 * TURNS * sizeof *results);
	const size_t offsets[] = { 2 * sizeof *results, 0 };

	(void)attempt;
	copy(&with, lists[0], events[0], NULL);
	must(zeCommandListAppendMemoryCopy(lists[0], with.host, with.device, BYTES, events[1], 1,
	                                   events));
	must(zeCommandListClose(lists[0]));
	holds(zeEventQueryStatus(events[0]) == ZE_RESULT_NOT_READY);
	must(zeCommandListAppendWaitOnEvents(ze_immediate(ze, ze->compute, 0), 1, &gate));
	for (int turn = 0; turn < TURNS; turn++) {
		lists[1] = ze_list(ze, ze->compute);
		must(zeCommandListAppendQueryKernelTimestamps(
		    lists[1], 2, events, results + 4 * turn, offsets, NULL, 0, NULL));
		must(zeCommandListClose(lists[1]));
		must(zeCommandQueueExecuteCommandLists(queue, 2, lists, NULL));
		must(zeCommandListDestroy(lists[1]));
	}
	// What is queried is what was there then, whatever the event stands for later.
	copy(&with, immediate(&with, ze->compute), events[0], gate);
	must(zeCommandQueueSynchronize(queue, UINT64_MAX));
	holds(zeEventQueryStatus(events[0]) == ZE_RESULT_NOT_READY);
	for (int turn = 0; turn < TURNS; turn++) {
		const ze_kernel_timestamp_result_t *first = &results[4 * turn + 2];
		const ze_kernel_timestamp_result_t *second = &results[4 * turn];
		holds(first->global.kernelStart <= first->global.kernelEnd);
		holds(first->global.kernelEnd <= second->global.kernelStart);
		if (turn > 0)
			holds(second[-4].global.kernelEnd <= first->global.kernelStart);
		if (!with.scripted)
			continue;
		near(ze_ns(ze, first->global.kernelStart, first->global.kernelEnd), BYTES, 0);
		near(ze_ns(ze, second->global.kernelStart, second->global.kernelEnd), 2 * BYTES, 0);
	}
	must(zeEventHostSignal(gate));
	must(zeEventHostSynchronize(events[0], UINT64_MAX));
}

// Two lists that wait for each other, as the specification has them: the second time the first list
// waits for what the second one did the first time.
static void lists_that_wait_for_each_other(const void *row, int attempt)
{
	struct counters with = counters_open(row);
	struct ze *ze = &with.ze;
	ze_command_list_handle_t one = regular(&with, ze->compute), two = regular(&with, ze->copy);
	ze_command_queue_handle_t queues[] = { ze_queue(ze, ze->compute, 0),
		                               ze_queue(ze, ze->copy, 0) };
	ze_event_handle_t a = counter(&with, BOTH), b = counter(&with, BOTH);
	ze_event_handle_t gate = ze_event(ze);

	(void)attempt;
	must(zeCommandListAppendSignalEvent(two, b));
	must(zeCommandListReset(two));
	must(zeCommandListAppendSignalEvent(one, a));
	must(zeCommandListAppendWaitOnEvents(two, 1, &gate));
	must(zeCommandListAppendWaitOnEvents(two, 1, &a));
	copy(&with, two, b, NULL);
	must(zeCommandListAppendWaitOnEvents(one, 1, &b));
	must(zeCommandListClose(one));
	must(zeCommandListClose(two));
	must(zeCommandQueueExecuteCommandLists(queues[0], 1, &one, NULL));
	must(zeCommandQueueExecuteCommandLists(queues[1], 1, &two, NULL));
	holds(zeCommandQueueSynchronize(queues[0], 3000000) == ZE_RESULT_NOT_READY);
	must(zeEventHostSignal(gate));
	must(zeCommandQueueSynchronize(queues[0], UINT64_MAX));
	must(zeCommandQueueSynchronize(queues[1], UINT64_MAX));
	must(zeEventHostReset(gate));
	must(zeCommandQueueExecuteCommandLists(queues[0], 1, &one, NULL));
	must(zeCommandQueueSynchronize(queues[0], UINT64_MAX));
	must(zeCommandQueueExecuteCommandLists(queues[1], 1, &two, NULL));
	holds(zeEventHostSynchronize(b, 3000000) == ZE_RESULT_NOT_READY);
	must(zeEventHostSignal(gate));
	must(zeEventHostSynchronize(b, UINT64_MAX));
}

// ---- destroyed, forked, failed

struct waiter {
	ze_event_handle_t event;
	ze_result_t result;
	atomic_long number;
};

static void *wait_for_it(void *context)
{
	struct waiter *waiter = context;

	atomic_store(&waiter->number, gettid());
	waiter->result = zeEventHostSynchronize(waiter->event, UINT64_C(50000000000));
	return NULL;
}

static void destroyed(const void *row, int attempt)
{
	struct counters with = counters_open(row);
	ze_command_list_handle_t list = immediate(&with, with.ze.compute);
	ze_command_list_handle_t other = ze_immediate(&with.ze, with.ze.copy, 0);
	ze_event_handle_t gate = ze_event(&with.ze), done = ze_event(&with.ze);
	struct waiter waiter = { .event = counter(&with, 0), .result = ZE_RESULT_ERROR_UNKNOWN };
	pthread_t thread;

	(void)attempt;
	copy(&with, list, waiter.event, gate);
	copy(&with, other, done, waiter.event);
	holds(pthread_create(&thread, NULL, wait_for_it, &waiter) == 0);
	await_sleep(&waiter.number);
	must(zeEventDestroy(waiter.event));
	must(zeEventHostSignal(gate));
	must(zeEventHostSynchronize(done, UINT64_MAX));
	pthread_join(thread, NULL);
	must(waiter.result);
	// A list that was never run leaves what waits for it waiting, and takes nothing with it.
	waiter.event = counter(&with, BOTH);
	list = regular(&with, with.ze.compute);
	must(zeCommandListAppendSignalEvent(list, waiter.event));
	must(zeCommandListDestroy(list));
	holds(zeEventHostSynchronize(waiter.event, 1000000) == ZE_RESULT_NOT_READY);
	must(zeEventDestroy(waiter.event));
}

static void forked(const void *row, int attempt)
{
	struct counters with = counters_open(row);
	ze_command_list_handle_t list = immediate(&with, with.ze.compute);
	ze_event_handle_t event = counter(&with, 0), gate = ze_event(&with.ze);
	pid_t child;

	(void)attempt;
	copy(&with, list, event, gate);
	child = fork();
	if (child == 0) {
		answers(ZE_RESULT_ERROR_DEVICE_LOST, zeEventHostSynchronize(event, UINT64_MAX));
		answers(ZE_RESULT_ERROR_DEVICE_LOST, zeCommandListAppendSignalEvent(list, event));
		must(zeEventDestroy(event));
		must(zeEventDestroy(counter(&with, 0)));
		_exit(0);
	}
	near(ze_end_case(child), 0, 0);
	must(zeEventHostSignal(gate));
	must(zeEventHostSynchronize(event, UINT64_MAX));
}

// The first command fails: what it signalled and what waited for it, not the event's next signal.
static void failed(const void *row, int attempt)
{
	struct counters with = counters_open(row);
	ze_command_list_handle_t list = immediate(&with, with.ze.compute);
	ze_command_list_handle_t other = ze_immediate(&with.ze, with.ze.copy, 0);
	ze_event_handle_t event = stamped(&with), done = ze_event(&with.ze);

	(void)attempt;
	copy(&with, list, event, NULL);
	copy(&with, other, done, event);
	answers(ZE_RESULT_ERROR_DEVICE_LOST, zeEventHostSynchronize(event, UINT64_MAX));
	answers(ZE_RESULT_ERROR_DEVICE_LOST, zeEventHostSynchronize(done, UINT64_MAX));
	copy(&with, list, event, NULL);
	near(ze_duration_ns(&with.ze, event), BYTES, 0);
}

// ---- what else they are used with

static void count_call(void *context)
{
	++*(int *)context;
}

// A list within an immediate list, and a host's function, between events that count.
static void lists_and_functions(const void *row, int attempt)
{
	typedef ze_result_t append_lists(ze_command_list_handle_t, uint32_t,
	                                 ze_command_list_handle_t *, ze_event_handle_t, uint32_t,
	                                 ze_event_handle_t *);
	struct counters with = counters_open(row);
	struct ze *ze = &with.ze;
	append_lists *append =
	    (append_lists *)newer(ze, "zeCommandListImmediateAppendCommandListsExp");
	levelzero_append_host_function *call =
	    (levelzero_append_host_function *)newer(ze, "zeCommandListAppendHostFunction");
	ze_command_list_handle_t list = regular(&with, ze->compute),
	                         open = regular(&with, ze->compute);
	ze_command_list_handle_t in_order = immediate(&with, ze->compute);
	ze_event_handle_t inner = stamped(&with), before = stamped(&with), done = stamped(&with);
	ze_event_handle_t called = stamped(&with), gate = ze_event(ze);
	ze_event_handle_t never = ze_event(ze);
	ze_base_desc_t unknown = { .stype = (ze_structure_type_t)0x7ffffff0 };
	int calls = 0;

	(void)attempt;
	copy(&with, list, inner, NULL);
	must(zeCommandListClose(list));
	must(zeCommandListAppendWaitOnEvents(in_order, 1, &gate));
	copy(&with, in_order, before, NULL);
	for (int turn = 0; turn < 2; turn++)
		must(append(in_order, 1, &list, done, 1, &before));
	// What is refused leaves nothing behind that would wait.
	answers(ZE_RESULT_ERROR_INVALID_ARGUMENT, append(in_order, 1, &open, done, 1, &never));
	answers(ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE,
	        append(in_order, 1, &in_order, done, 1, &never));
	answers(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
	        call(in_order, count_call, &calls, &unknown, called, 1, &never));
	must(call(in_order, count_call, &calls, NULL, called, 1, &done));
	near(calls, 0, 0);
	must(zeEventHostSignal(gate));
	must(zeEventHostSynchronize(called, UINT64_MAX));
	near(calls, 1, 0);
	if (!with.scripted)
		return;
	near(ze_duration_ns(ze, called), 3000, 0);
	near(ze_duration_ns(ze, inner), BYTES, 0);
	// Of the two lists each has a barrier before it and one behind.
	near(ze_between_ns(ze, before, called), 2 * (700 + BYTES + 700), 0);
	near(ze_between_ns(ze, inner, done), 0, 0);
}

// ---- each with and without a script

#define BOTH_WAYS(name, body)                                                                      \
	static void name(void **state)                                                             \
	{                                                                                          \
		(void)state;                                                                       \
		assert_int_equal(ze_end_case(ze_start_case(body, NULL, 0)), 0);                    \
		assert_int_equal(ze_end_case(ze_start_case(body, script, 0)), 0);                  \
	}
BOTH_WAYS(they_are_signalled_at_first, at_first)
BOTH_WAYS(pools_and_extensions_make_them_too, other_ways)
BOTH_WAYS(what_is_not_there_is_refused, refusals)
BOTH_WAYS(lists_in_order_signal_them, kinds_of_lists)
BOTH_WAYS(each_signal_stands_for_itself, each_signal_is_another)
BOTH_WAYS(each_execution_has_its_stamps, lists_again)
BOTH_WAYS(lists_wait_for_each_other, lists_that_wait_for_each_other)
BOTH_WAYS(they_are_destroyed_while_waited_for, destroyed)
BOTH_WAYS(a_child_is_told_that_the_device_is_lost, forked)
BOTH_WAYS(lists_in_lists_and_host_functions, lists_and_functions)

static void a_failure_is_one_signals(void **state)
{
	char text[sizeof script + 16];

	(void)state;
	snprintf(text, sizeof text, "%sfault failure 1\n", script);
	assert_int_equal(ze_end_case(ze_start_case(failed, text, 0)), 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(they_are_signalled_at_first),
		cmocka_unit_test(pools_and_extensions_make_them_too),
		cmocka_unit_test(what_is_not_there_is_refused),
		cmocka_unit_test(lists_in_order_signal_them),
		cmocka_unit_test(each_signal_stands_for_itself),
		cmocka_unit_test(each_execution_has_its_stamps),
		cmocka_unit_test(lists_wait_for_each_other),
		cmocka_unit_test(they_are_destroyed_while_waited_for),
		cmocka_unit_test(a_child_is_told_that_the_device_is_lost),
		cmocka_unit_test(a_failure_is_one_signals),
		cmocka_unit_test(lists_in_lists_and_host_functions),
	};

	if (argc != 2)
		return 2;
	setenv("ZE_ENABLE_ALT_DRIVERS", argv[1], 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
