// SPDX-License-Identifier: Apache-2.0
// Faults that a script puts into the Level Zero CPU driver: each is told in time, and nothing else
// stops.
#include "ze_time_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { BYTES = 100000 };

static const char fault_script[] = HEAD "copy pinned device rate 1 GB/s\n"
                                        "fill rate 1 GB/s\n"
                                        "fault %s 2\n";

static struct ze open_fault(const char *fault)
{
	char script[1024];

	snprintf(script, sizeof script, fault_script, fault);
	return ze_open(script);
}

#define LIMIT_NS UINT64_C(50000000)

static void hang(const void *row, int attempt)
{
	struct ze ze = open_fault("hang");
	ze_command_list_handle_t list = ze_list(&ze, ze.compute);
	ze_command_queue_handle_t queue = ze_queue(&ze, ze.compute, 0);
	void *device = ze_device_memory(&ze, MIB), *host = ze_host_memory(&ze, MIB);
	ze_event_handle_t a = ze_event(&ze), b = ze_event(&ze), c = ze_event(&ze);
	uint64_t at;

	(void)row;
	(void)attempt;
	must(zeCommandListAppendMemoryCopy(list, device, host, BYTES, a, 0, NULL));
	must(zeCommandListAppendMemoryCopy(list, device, host, BYTES, b, 0, NULL));
	must(zeCommandListAppendWriteGlobalTimestamp(list, host, c, 0, NULL));
	must(zeCommandListClose(list));
	must(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
	near(ze_duration_ns(&ze, a), BYTES, 0);
	holds(zeEventHostSynchronize(b, LIMIT_NS) == ZE_RESULT_NOT_READY);
	holds(zeCommandQueueSynchronize(queue, 0) == ZE_RESULT_NOT_READY);
	holds(zeEventQueryStatus(c) == ZE_RESULT_NOT_READY);
	// Destroyed with work pending; others go on.
	must(zeCommandQueueDestroy(queue));
	must(zeEventDestroy(b));
	ze_command_list_handle_t next = ze_immediate(&ze, ze.compute, 0);
	ze_event_handle_t d = ze_event(&ze);
	must(zeCommandListAppendMemoryCopy(next, device, host, BYTES, d, 0, NULL));
	near(ze_duration_ns(&ze, d), BYTES, 0);
	must(zeDeviceGetGlobalTimestamps(ze.device, &at, &at));
}

// A queue destroyed while its command runs gives the engine back, after the driver's time of grace.
static void abandoned(const void *row, int attempt)
{
	struct ze ze = ze_open(HEAD "copy pinned device fixed 1 us rate 8 GB/s\n"
	                            "fill fixed 100 s rate 1 GB/s\n");
	ze_command_list_handle_t list = ze_immediate(&ze, ze.compute, 0);
	void *device = ze_device_memory(&ze, MIB), *host = ze_host_memory(&ze, MIB);
	ze_event_handle_t a = ze_event(&ze);

	(void)row;
	(void)attempt;
	must(zeCommandListAppendMemoryFill(list, device, "x", 1, 8, NULL, 0, NULL));
	must(zeCommandListDestroy(list));
	list = ze_immediate(&ze, ze.compute, 0);
	must(zeCommandListAppendMemoryCopy(list, device, host, 8, a, 0, NULL));
	must(zeEventHostSynchronize(a, UINT64_C(20000000000)));
	near(ze_duration_ns(&ze, a), 1001, 0);
}

static void lost(const void *row, int attempt)
{
	struct ze ze = open_fault("device-lost");
	ze_command_list_handle_t list = ze_immediate(&ze, ze.compute, 0);
	void *device = ze_device_memory(&ze, MIB), *host = ze_host_memory(&ze, MIB);
	ze_event_handle_t a = ze_event(&ze), b = ze_event(&ze);

	(void)row;
	(void)attempt;
	must(zeCommandListAppendMemoryCopy(list, device, host, BYTES, a, 0, NULL));
	must(zeEventHostSynchronize(a, UINT64_MAX));
	must(zeCommandListAppendMemoryCopy(list, device, host, BYTES, b, 0, NULL));
	holds(zeEventHostSynchronize(b, UINT64_MAX) == ZE_RESULT_ERROR_DEVICE_LOST);
	holds(zeCommandListAppendMemoryCopy(list, device, host, BYTES, a, 0, NULL) ==
	      ZE_RESULT_ERROR_DEVICE_LOST);
}

static void failure(const void *row, int attempt)
{
	struct ze ze = open_fault("failure");
	ze_command_list_handle_t list = ze_list(&ze, ze.compute);
	ze_command_queue_handle_t queue = ze_queue(&ze, ze.compute, 0);
	void *device = ze_device_memory(&ze, MIB), *host = ze_host_memory(&ze, MIB);
	ze_event_handle_t event = ze_event(&ze);
	ze_kernel_timestamp_result_t stamps;

	(void)row;
	(void)attempt;
	must(zeCommandListAppendMemoryCopy(list, device, host, BYTES, event, 0, NULL));
	must(zeCommandListClose(list));
	for (int i = 0; i < 3; i++) {
		must(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
		holds((zeCommandQueueSynchronize(queue, UINT64_MAX) == ZE_RESULT_SUCCESS) ==
		      (i != 1));
		// No figures of what came to nothing.
		holds(zeEventQueryKernelTimestamp(event, &stamps) ==
		      (i == 1 ? ZE_RESULT_ERROR_DEVICE_LOST : ZE_RESULT_SUCCESS));
		must(zeEventHostReset(event));
	}
}

static void wrong_data(const void *row, int attempt)
{
	struct ze ze = open_fault("wrong-data");
	ze_command_list_handle_t list = ze_immediate(&ze, ze.compute, 0);
	char *host = ze_shared_memory(&ze, 1000);
	ze_event_handle_t a = ze_event(&ze);

	(void)row;
	(void)attempt;
	for (int i = 0; i < 3; i++) {
		int wrong = 0;
		must(zeCommandListAppendMemoryFill(list, host, "x", 1, 1000, a, 0, NULL));
		must(zeEventHostSynchronize(a, UINT64_MAX));
		must(zeEventHostReset(a));
		for (int at = 0; at < 1000; at++)
			wrong += host[at] != 'x';
		near(wrong, i == 1, 0);
	}
}

// No module builds, and larger allocations fail.
static void refused(const void *row, int attempt)
{
	struct ze ze = ze_open(HEAD "fault build \"no such luck\" out-of-memory-above 1 MiB\n");
	static const uint8_t module_bytes[20] = { 3, 2, 0x23, 7 };
	ze_module_desc_t description = { .stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
		                         .format = ZE_MODULE_FORMAT_IL_SPIRV,
		                         .inputSize = sizeof module_bytes,
		                         .pInputModule = module_bytes };
	ze_host_mem_alloc_desc_t memory = { .stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC };
	ze_module_build_log_handle_t log;
	ze_module_handle_t module;
	char text[64];
	size_t bytes = sizeof text;
	void *at;

	(void)row;
	(void)attempt;
	holds(zeModuleCreate(ze.context, ze.device, &description, &module, &log) ==
	      ZE_RESULT_ERROR_MODULE_BUILD_FAILURE);
	must(zeModuleBuildLogGetString(log, &bytes, text));
	holds(strstr(text, "no such luck") != NULL);
	must(zeMemAllocHost(ze.context, &memory, MIB, 64, &at));
	holds(zeMemAllocHost(ze.context, &memory, MIB + 1, 64, &at) != ZE_RESULT_SUCCESS);
}

CASE(a_command_that_hangs_stops_its_queue_only, hang)
CASE(a_queue_destroyed_at_work_gives_its_engine_back, abandoned)
CASE(a_lost_device_is_told, lost)
CASE(a_failure_is_told_once, failure)
CASE(wrong_data_is_one_bit, wrong_data)
CASE(builds_and_allocations_fail_as_the_script_says, refused)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_command_that_hangs_stops_its_queue_only),
		cmocka_unit_test(a_queue_destroyed_at_work_gives_its_engine_back),
		cmocka_unit_test(a_lost_device_is_told),
		cmocka_unit_test(a_failure_is_told_once),
		cmocka_unit_test(wrong_data_is_one_bit),
		cmocka_unit_test(builds_and_allocations_fail_as_the_script_says),
	};

	if (argc != 2)
		return 2;
	setenv("ZE_ENABLE_ALT_DRIVERS", argv[1], 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
