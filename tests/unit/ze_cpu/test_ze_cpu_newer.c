// SPDX-License-Identifier: Apache-2.0
// Entry points of the Level Zero CPU driver that are newer than the loader's specification.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "ze_work_rig.h"

#include <time.h>

// Stamps in the host's time lie between the host's own readings.
static void mapped_stamps(void **state)
{
	levelzero_query_stamps *query =
	    (levelzero_query_stamps *)newer_entry("zeEventQueryKernelTimestampsExt");
	ze_event_pool_handle_t mapped = pool_new(1, LEVELZERO_EVENT_POOL_MAPPED_TIMESTAMP);
	ze_event_handle_t event = event_of(mapped, 0), plain = event_of(pool, 0);
	ze_command_list_handle_t list = immediate_new(true);
	struct levelzero_host_stamps host = { 0 };
	struct levelzero_stamps_results results = {
		.stype = LEVELZERO_TYPE_STAMPS_RESULTS,
		.host = &host,
	};
	static uint8_t memory[4096];
	struct timespec before, after;
	uint32_t count = 0;

	(void)state;
	assert_non_null(query);
	must(query(event, device, &count, NULL));
	assert_int_equal(count, 1);
	assert_int_equal(query(event, device, &count, &results), ZE_RESULT_NOT_READY);
	clock_gettime(CLOCK_MONOTONIC_RAW, &before);
	must(zeCommandListAppendMemoryCopy(list, memory, memory + 2048, 2048, event, 0, NULL));
	must(zeCommandListAppendMemoryCopy(list, memory, memory + 2048, 2048, plain, 0, NULL));
	clock_gettime(CLOCK_MONOTONIC_RAW, &after);
	must(query(event, device, &count, &results));
	assert_true(host.global.start_ns >=
	            (uint64_t)before.tv_sec * 1000000000 + (uint64_t)before.tv_nsec);
	assert_true(host.global.start_ns <= host.global.end_ns);
	assert_true(host.global.end_ns <=
	            (uint64_t)after.tv_sec * 1000000000 + (uint64_t)after.tv_nsec);
	assert_int_equal(query(plain, device, &count, &results), ZE_RESULT_ERROR_INVALID_ARGUMENT);
	must(zeCommandListDestroy(list));
	must(zeEventDestroy(event));
	must(zeEventDestroy(plain));
	must(zeEventPoolDestroy(mapped));
}

static void add_one(void *at)
{
	++*(int *)at;
}

static void host_functions(void **state)
{
	levelzero_append_host_function *append =
	    (levelzero_append_host_function *)newer_entry("zeCommandListAppendHostFunction");
	ze_command_list_handle_t list = list_new();
	ze_command_queue_handle_t queue = queue_new(true);
	int calls = 0, seen[2] = { 0 };

	(void)state;
	assert_non_null(append);
	must(append(list, add_one, &calls, NULL, NULL, 0, NULL));
	must(zeCommandListAppendMemoryCopy(list, &seen[0], &calls, sizeof calls, NULL, 0, NULL));
	must(append(list, add_one, &calls, NULL, NULL, 0, NULL));
	must(zeCommandListAppendMemoryCopy(list, &seen[1], &calls, sizeof calls, NULL, 0, NULL));
	must(zeCommandListClose(list));
	// The queue's thread begins with the first one, and sleeps before the second.
	for (int run = 0; run < 2; run++) {
		must(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
		assert_int_equal(seen[0], 2 * run + 1);
		assert_int_equal(seen[1], 2 * run + 2);
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	}
	must(zeCommandListDestroy(list));
	must(zeCommandQueueDestroy(queue));
}

// What queues, lists and events tell of themselves.
static void newer_facts(void **state)
{
	ze_command_list_handle_t lists[2] = { list_new(), immediate_new(false) };
	ze_event_handle_t event = event_of(pool, 0);
	ze_event_pool_handle_t its_pool = NULL;
	ze_event_scope_flags_t scope = 0;
	ze_context_handle_t its_context = NULL;
	uint32_t ordinal = 7, index = 7;
	ze_bool_t immediate = 7;

	(void)state;
	ze_result_t (*is_immediate)(ze_command_list_handle_t, ze_bool_t *) = (ze_result_t(*)(
	    ze_command_list_handle_t, ze_bool_t *))newer_entry("zeCommandListIsImmediate");
	ze_result_t (*number[2])(ze_command_list_handle_t, uint32_t *);
	number[0] = (ze_result_t(*)(ze_command_list_handle_t, uint32_t *))newer_entry(
	    "zeCommandListGetOrdinal");
	number[1] = (ze_result_t(*)(ze_command_list_handle_t, uint32_t *))newer_entry(
	    "zeCommandListImmediateGetIndex");
	ze_result_t (*pool_of)(ze_event_handle_t, ze_event_pool_handle_t *) = (ze_result_t(*)(
	    ze_event_handle_t, ze_event_pool_handle_t *))newer_entry("zeEventGetEventPool");
	ze_result_t (*scope_of)(ze_event_handle_t, ze_event_scope_flags_t *) = (ze_result_t(*)(
	    ze_event_handle_t, ze_event_scope_flags_t *))newer_entry("zeEventGetSignalScope");
	ze_result_t (*context_of)(ze_command_list_handle_t, ze_context_handle_t *) =
	    (ze_result_t(*)(ze_command_list_handle_t, ze_context_handle_t *))newer_entry(
	        "zeCommandListGetContextHandle");
	for (int i = 0; i < 2; i++) {
		must(is_immediate(lists[i], &immediate));
		assert_int_equal(immediate, i);
	}
	must(number[0](lists[0], &ordinal));
	assert_int_equal(ordinal, 0);
	must(number[1](lists[1], &index));
	assert_int_equal(index, 0);
	assert_int_equal(number[1](lists[0], &index), ZE_RESULT_ERROR_INVALID_ARGUMENT);
	must(pool_of(event, &its_pool));
	assert_ptr_equal(its_pool, pool);
	must(scope_of(event, &scope));
	assert_int_equal(scope, ZE_EVENT_SCOPE_FLAG_HOST);
	must(context_of(lists[0], &its_context));
	assert_ptr_equal(its_context, context);
	must(zeEventDestroy(event));
	must(zeCommandListDestroy(lists[0]));
	must(zeCommandListDestroy(lists[1]));
}

// A list that an immediate one runs: behind its waits, before its signal.
static void lists_in_immediate_lists(void **state)
{
	typedef ze_result_t append_lists(ze_command_list_handle_t, uint32_t,
	                                 ze_command_list_handle_t *, ze_event_handle_t, uint32_t,
	                                 ze_event_handle_t *);
	append_lists *append =
	    (append_lists *)newer_entry("zeCommandListImmediateAppendCommandListsExp");
	ze_command_list_handle_t immediate = immediate_new(false), list = list_new();
	ze_event_handle_t gate = event_of(pool, 0), done = event_of(pool, 1);
	int from = 3, to = 0;

	(void)state;
	assert_non_null(append);
	must(zeCommandListAppendMemoryCopy(list, &to, &from, sizeof to, NULL, 0, NULL));
	must(zeCommandListClose(list));
	must(append(immediate, 1, &list, done, 1, &gate));
	assert_int_equal(zeEventHostSynchronize(done, 2000000), ZE_RESULT_NOT_READY);
	assert_int_equal(to, 0);
	must(zeEventHostSignal(gate));
	must(zeEventHostSynchronize(done, FOR_EVER));
	assert_int_equal(to, 3);
	must(zeCommandListDestroy(list));
	must(zeCommandListDestroy(immediate));
	must(zeEventDestroy(gate));
	must(zeEventDestroy(done));
}

// Nobody made it, so nobody destroys it: it stays as it is.
static void the_default_context(void **state)
{
	typedef ze_context_handle_t default_context(ze_driver_handle_t);
	default_context *get = (default_context *)newer_entry("zeDriverGetDefaultContext");
	ze_context_handle_t found;

	(void)state;
	assert_non_null(get);
	found = get(driver);
	assert_non_null(found);
	assert_int_equal(zeContextDestroy(found), ZE_RESULT_ERROR_INVALID_ARGUMENT);
	must(zeContextGetStatus(found));
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(mapped_stamps),       cmocka_unit_test(host_functions),
		cmocka_unit_test(newer_facts),         cmocka_unit_test(lists_in_immediate_lists),
		cmocka_unit_test(the_default_context),
	};
	int status = argc < 2 ? 77 : rig_open(argv[1]);

	return status ? status : cmocka_run_group_tests(tests, make_pool, free_pool);
}
