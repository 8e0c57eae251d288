// SPDX-License-Identifier: Apache-2.0
// Fences, events that are reset, and stamps.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "ze_work_rig.h"

static void fences(void **state)
{
	ze_fence_desc_t described = {
		.stype = ZE_STRUCTURE_TYPE_FENCE_DESC,
		.flags = ZE_FENCE_FLAG_SIGNALED,
	};
	ze_command_queue_handle_t queue = queue_new(false), other = queue_new(false);
	ze_command_list_handle_t lists[2] = { list_new(), list_new() };
	ze_fence_handle_t fence = NULL;
	uint32_t count = 0, one = 1;

	(void)state;
	must(zeFenceCreate(queue, &described, &fence));
	must(zeFenceQueryStatus(fence));
	must(zeFenceReset(fence));
	assert_int_equal(zeFenceQueryStatus(fence), ZE_RESULT_NOT_READY);
	must(zeCommandListAppendMemoryCopy(lists[1], &count, &one, 4, NULL, 0, NULL));
	must(zeCommandListClose(lists[0]));
	must(zeCommandListClose(lists[1]));
	must(zeCommandQueueExecuteCommandLists(queue, 2, lists, fence));
	must(zeFenceHostSynchronize(fence, FOR_EVER));
	assert_int_equal(count, 1);
	must(zeFenceReset(fence));
	must(zeCommandQueueExecuteCommandLists(queue, 1, lists, NULL));
	must(zeCommandQueueSynchronize(queue, FOR_EVER));
	assert_int_equal(zeFenceQueryStatus(fence), ZE_RESULT_NOT_READY);
	assert_int_equal(zeCommandQueueExecuteCommandLists(other, 1, lists, fence),
	                 ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT);
	must(zeFenceDestroy(fence));
	must(zeCommandListDestroy(lists[0]));
	must(zeCommandListDestroy(lists[1]));
	must(zeCommandQueueDestroy(queue));
	must(zeCommandQueueDestroy(other));
}

// A command behind a reset waits again, whoever reset the event.
static void waits_after_resets(void **state)
{
	ze_command_list_handle_t list = immediate_new(true);
	ze_event_handle_t event = event_of(pool, 0), done = event_of(pool, 1);

	(void)state;
	for (int by_host = 0; by_host < 2; by_host++) {
		ze_command_list_handle_t waiting = immediate_new(false);
		must(zeCommandListAppendSignalEvent(list, event));
		if (by_host)
			must(zeEventHostReset(event));
		else
			must(zeCommandListAppendEventReset(list, event));
		must(zeCommandListAppendBarrier(waiting, done, 1, &event));
		assert_int_equal(zeEventHostSynchronize(done, 5000000), ZE_RESULT_NOT_READY);
		must(zeCommandListAppendSignalEvent(list, event));
		must(zeEventHostSynchronize(done, FOR_EVER));
		must(zeEventHostReset(done));
		must(zeCommandListDestroy(waiting));
	}
	must(zeEventDestroy(event));
	must(zeEventDestroy(done));
	must(zeCommandListDestroy(list));
}

static void resets(void **state)
{
	ze_command_list_handle_t list = immediate_new(true);
	ze_event_handle_t event = event_of(pool, 0), back = event_of(pool, 1);

	(void)state;
	must(zeCommandListAppendSignalEvent(list, event));
	must(zeEventQueryStatus(event));
	must(zeCommandListAppendEventReset(list, event));
	assert_int_equal(zeEventQueryStatus(event), ZE_RESULT_NOT_READY);
	must(zeEventHostSignal(event));
	must(zeCommandListAppendWaitOnEvents(list, 1, &event));
	must(zeEventHostReset(event));
	assert_int_equal(zeEventHostSynchronize(event, 0), ZE_RESULT_NOT_READY);
	must(zeEventHostSignal(event));
	const void *ranges[] = { &event };
	size_t sizes[] = { sizeof event };
	must(zeCommandListAppendMemoryRangesBarrier(list, 1, sizes, ranges, back, 1, &event));
	must(zeEventQueryStatus(back));
	must(zeEventDestroy(event));
	must(zeEventDestroy(back));
	must(zeCommandListDestroy(list));
}

// Global timestamps before and behind bracket the stamps of a copy: unscripted all are one clock.
static void stamps(void **state)
{
	enum { BYTES = 1 << 20 };
	ze_command_list_handle_t list = list_new();
	ze_command_queue_handle_t queue = queue_new(true);
	ze_event_handle_t events[2] = { event_of(pool, 0), event_of(pool, 1) };
	ze_kernel_timestamp_result_t stamp, written[4];
	size_t offsets[] = { 2 * sizeof stamp, 0 };
	uint64_t global[3] = { 0 };
	uint8_t *memory = shared_new(2 * BYTES);
	uint32_t count = 0;

	(void)state;
	memset(written, 0x5a, sizeof written);
	must(zeCommandListAppendWriteGlobalTimestamp(list, &global[0], NULL, 0, NULL));
	must(
	    zeCommandListAppendMemoryCopy(list, memory, memory + BYTES, BYTES, events[0], 0, NULL));
	must(zeCommandListAppendWriteGlobalTimestamp(list, &global[1], NULL, 1, events));
	must(
	    zeCommandListAppendMemoryCopy(list, memory, memory + BYTES, BYTES, events[1], 0, NULL));
	must(zeCommandListAppendWriteGlobalTimestamp(list, &global[2], NULL, 0, NULL));
	must(zeCommandListAppendQueryKernelTimestamps(list, 2, events, written, offsets, NULL, 0,
	                                              NULL));
	must(zeCommandListClose(list));
	must(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
	for (int i = 0; i < 2; i++) {
		must(zeEventQueryKernelTimestamp(events[i], &stamp));
		assert_true(global[i] <= stamp.global.kernelStart);
		assert_true(stamp.global.kernelStart < stamp.global.kernelEnd);
		assert_true(stamp.global.kernelEnd <= global[i + 1]);
		assert_memory_equal(&stamp.context, &stamp.global, sizeof stamp.global);
		assert_memory_equal(&written[i == 0 ? 2 : 0], &stamp, sizeof stamp);
	}
	assert_int_equal(((uint8_t *)&written[1])[0], 0x5a);
	assert_int_equal(((uint8_t *)&written[3])[0], 0x5a);
	must(zeCommandListReset(list));
	must(zeCommandListAppendQueryKernelTimestamps(list, 2, events, written, NULL, NULL, 0,
	                                              NULL));
	must(zeCommandListClose(list));
	must(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
	assert_memory_equal(&written[1], &stamp, sizeof stamp);
	memset(&written[0], 0, sizeof written[0]);
	must(zeEventQueryTimestampsExp(events[1], device, &count, NULL));
	assert_int_equal(count, 1);
	must(zeEventQueryTimestampsExp(events[1], device, &count, written));
	assert_memory_equal(&written[0], &stamp, sizeof stamp);
	must(zeMemFree(context, memory));
	must(zeEventDestroy(events[0]));
	must(zeEventDestroy(events[1]));
	must(zeCommandListDestroy(list));
	must(zeCommandQueueDestroy(queue));
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(fences),
		cmocka_unit_test(waits_after_resets),
		cmocka_unit_test(resets),
		cmocka_unit_test(stamps),
	};
	int status = argc < 2 ? 77 : rig_open(argv[1]);

	return status ? status : cmocka_run_group_tests(tests, make_pool, free_pool);
}
