// SPDX-License-Identifier: Apache-2.0
// Sub-devices of the Level Zero CPU driver, as a script describes them.
#include "backend/levelzero/newer.h"
#include "ze_time_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { BYTES = 100000, PARTS = 2 };

#define DEVICE "tare-device 1\ndevice name \"parts\" memory 1 GiB units 24 "
#define TIMER "timer rate 1 GHz bits 64\n"
#define COMPUTE "engine compute runs kernel,to-device,to-host,local\n"
#define COPY "engine copy runs to-device,to-host,local\n"

static const char script[] = DEVICE
    "sub-devices 2 stagger 3 us\n" TIMER COMPUTE COMPUTE COPY COPY COPY COPY "queue route queue\n"
    "copy pinned device rate 1 GB/s\n"
    "copy device pinned rate 1 GB/s\n"
    "marker fixed 1 us\n";

// Their part of the whole: numbers, units, engines.
static void shares(const void *row, int attempt)
{
	struct ze ze = ze_open(script);
	ze_device_properties_t whole = { .stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES };
	ze_device_handle_t parts[PARTS + 2] = { NULL }, root = NULL;
	ze_result_t (*root_of)(ze_device_handle_t, ze_device_handle_t *);
	void *address = NULL;
	uint32_t count = 0;
	ze_bool_t can = 0;

	(void)row;
	(void)attempt;
	must(zeDriverGetExtensionFunctionAddress(ze.driver, "zeDeviceGetRootDevice", &address));
	memcpy(&root_of, &address, sizeof root_of);
	must(zeDeviceGetSubDevices(ze.device, &count, NULL));
	near(count, PARTS, 0);
	count = PARTS + 2;
	must(zeDeviceGetSubDevices(ze.device, &count, parts));
	near(count, PARTS, 0);
	must(zeDeviceGetProperties(ze.device, &whole));
	holds(!(whole.flags & ZE_DEVICE_PROPERTY_FLAG_SUBDEVICE));
	must(root_of(ze.device, &root));
	holds(!root);
	for (uint32_t i = 0; i < PARTS; i++) {
		ze_device_properties_t part = { .stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES };
		ze_command_queue_group_properties_t groups[4] = { 0 };
		ze_device_handle_t none = NULL;
		uint32_t group_count = 4, more = 1;
		must(zeDeviceGetProperties(parts[i], &part));
		holds(part.flags & ZE_DEVICE_PROPERTY_FLAG_SUBDEVICE);
		near(part.subdeviceId, i, 0);
		near(part.numEUsPerSubslice, 12, 0);
		holds(memcmp(&part.uuid, &whole.uuid, sizeof part.uuid) != 0);
		must(root_of(parts[i], &root));
		holds(root == ze.device);
		must(zeDeviceGetSubDevices(parts[i], &more, &none));
		near(more, 0, 0);
		must(zeDeviceGetCommandQueueGroupProperties(parts[i], &group_count, groups));
		near(group_count, 2, 0);
		near(groups[0].numQueues, 1, 0);
		near(groups[1].numQueues, 2, 0);
		must(zeDeviceCanAccessPeer(parts[i], parts[1 - i], &can));
		holds(can);
	}
}

// A command on a sub-device's queue runs on that one's own engine, and beside the other's.
static void engines(const void *row, int attempt)
{
	struct ze ze = ze_open(script);
	char *device = ze_device_memory(&ze, MIB), *host = ze_host_memory(&ze, MIB);
	ze_device_handle_t parts[PARTS];
	ze_event_handle_t done[4] = { NULL }, gate = ze_event(&ze);
	ze_command_queue_desc_t description = { .stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
		                                .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS };
	ze_command_list_handle_t list;
	uint32_t count = PARTS;

	(void)row;
	(void)attempt;
	must(zeDeviceGetSubDevices(ze.device, &count, parts));
	// Two of the second sub-device share its engine; the root's second engine is that one too.
	for (int i = 0; i < 4; i++) {
		ze_device_handle_t on = i < PARTS ? parts[i] : i == 2 ? parts[1] : ze.device;
		description.index = i == 3 ? 1 : 0;
		done[i] = ze_event(&ze);
		must(zeCommandListCreateImmediate(ze.context, on, &description, &list));
		// Not in one direction at once: those would share a link.
		must(zeCommandListAppendMemoryCopy(list, i == 0 ? device : host,
		                                   i == 0 ? host : device, BYTES, done[i], 1,
		                                   &gate));
	}
	description.index = 1;
	near(zeCommandListCreateImmediate(ze.context, parts[0], &description, &list),
	     ZE_RESULT_ERROR_INVALID_ARGUMENT, 0);
	must(zeEventHostSignal(gate));
	uint64_t start = ze_stamps(done[0]).global.kernelStart;
	for (int i = 0; i < 4; i++) {
		near(ze_duration_ns(&ze, done[i]), BYTES, 0);
		near((int64_t)(ze_stamps(done[i]).global.kernelStart - start),
		     i < 2 ? 0 : (i - 1) * BYTES, 0);
	}
}

// What a command of the root did on each, by both functions that tell it.
static void results(const void *row, int attempt)
{
	struct ze ze = ze_open(script);
	char *device = ze_device_memory(&ze, MIB), *host = ze_host_memory(&ze, MIB);
	ze_command_list_handle_t list = ze_immediate(&ze, ze.compute, 0);
	ze_event_handle_t event = ze_event(&ze), short_one = ze_event(&ze);
	ze_kernel_timestamp_result_t parts[4], again[4], one;
	struct levelzero_stamps_results wanted = { .stype = LEVELZERO_TYPE_STAMPS_RESULTS,
		                                   .ticks = again };
	levelzero_query_stamps *query;
	ze_device_handle_t subs[PARTS];
	void *address = NULL;
	uint32_t count = 0;

	(void)row;
	(void)attempt;
	must(zeDriverGetExtensionFunctionAddress(ze.driver, "zeEventQueryKernelTimestampsExt",
	                                         &address));
	query = (levelzero_query_stamps *)address;
	must(zeEventQueryTimestampsExp(event, ze.device, &count, NULL));
	near(count, PARTS, 0);
	near(zeEventQueryTimestampsExp(event, ze.device, &count, parts), ZE_RESULT_NOT_READY, 0);
	must(zeCommandListAppendMemoryCopy(list, device, host, BYTES, event, 0, NULL));
	ze_kernel_timestamp_result_t whole = ze_stamps(event);
	near(ze_ns(&ze, whole.global.kernelStart, whole.global.kernelEnd), BYTES, 0);
	count = 4;
	must(zeEventQueryTimestampsExp(event, ze.device, &count, parts));
	near(count, PARTS, 0);
	must(query(event, ze.device, &count, &wanted));
	near(parts[0].global.kernelStart, whole.global.kernelStart, 0);
	near(parts[0].global.kernelEnd, whole.global.kernelEnd - 3000, 0);
	near(parts[1].global.kernelStart, whole.global.kernelStart + 3000, 0);
	near(parts[1].global.kernelEnd, whole.global.kernelEnd, 0);
	holds(memcmp(parts, again, PARTS * sizeof *parts) == 0);
	must(zeDeviceGetSubDevices(ze.device, &count, subs));
	for (uint32_t i = 0; i < PARTS; i++) {
		count = 0;
		must(zeEventQueryTimestampsExp(event, subs[i], &count, NULL));
		near(count, 1, 0);
		must(zeEventQueryTimestampsExp(event, subs[i], &count, &one));
		holds(memcmp(&one, &parts[i], sizeof one) == 0);
	}
	// One that is shorter than the stagger ends no sooner than it begins.
	must(zeCommandListAppendBarrier(list, short_one, 0, NULL));
	whole = ze_stamps(short_one);
	count = 1;
	must(zeEventQueryTimestampsExp(short_one, ze.device, &count, parts));
	near(count, 1, 0);
	count = PARTS;
	must(zeEventQueryTimestampsExp(short_one, ze.device, &count, parts));
	near(parts[0].global.kernelEnd, whole.global.kernelStart, 0);
	near(parts[1].global.kernelStart, whole.global.kernelEnd, 0);
}

// Of a command on one sub-device there is one result; so is there without a script.
static void single(const void *row, int attempt)
{
	struct ze ze = ze_open(row);
	char *device = ze_device_memory(&ze, MIB), *host = ze_host_memory(&ze, MIB);
	ze_command_queue_desc_t description = { .stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
		                                .mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS };
	ze_device_handle_t subs[PARTS], on = ze.device;
	ze_event_handle_t event = ze_event(&ze);
	ze_kernel_timestamp_result_t results[PARTS], whole;
	ze_command_list_handle_t list;
	uint32_t count = PARTS;

	(void)attempt;
	must(zeDeviceGetSubDevices(ze.device, &count, subs));
	near(count, row ? PARTS : 0, 0);
	if (count)
		on = subs[1];
	must(zeCommandListCreateImmediate(ze.context, on, &description, &list));
	must(zeCommandListAppendMemoryCopy(list, device, host, BYTES, event, 0, NULL));
	whole = ze_stamps(event);
	count = PARTS;
	must(zeEventQueryTimestampsExp(event, ze.device, &count, results));
	near(count, 1, 0);
	holds(memcmp(&results[0], &whole, sizeof whole) == 0);
}

// The sentence for engines that cannot be shared out.
static void refused(const void *row, int attempt)
{
	char path[] = "/tmp/ze-cpu-script-XXXXXX", said[512] = "";
	int file = mkstemp(path), ends[2];

	(void)attempt;
	holds(file >= 0 && pipe(ends) == 0);
	holds(write(file, row, strlen(row)) == (ssize_t)strlen(row));
	setenv("ZE_CPU_SCRIPT", path, 1);
	dup2(ends[1], STDERR_FILENO);
	holds(zeInit(0) == ZE_RESULT_ERROR_UNINITIALIZED);
	unlink(path);
	holds(read(ends[0], said, sizeof said - 1) > 0);
	holds(strstr(said, "cannot be shared out to 2 sub-devices"));
	holds(strstr(said, ":6:"));
}

CASE(each_has_its_share, shares)
CASE(each_has_its_engines, engines)
CASE(each_has_its_results, results)

static void commands_of_one_have_one_result(void **state)
{
	(void)state;
	assert_int_equal(ze_end_case(ze_start_case(single, script, 0)), 0);
	assert_int_equal(ze_end_case(ze_start_case(single, NULL, 0)), 0);
}

static void engines_that_cannot_be_shared_are_refused(void **state)
{
	static const char lone[] = DEVICE "sub-devices 2\n" TIMER COMPUTE COMPUTE COPY;

	(void)state;
	assert_int_equal(ze_end_case(ze_start_case(refused, lone, 0)), 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_has_its_share),
		cmocka_unit_test(each_has_its_engines),
		cmocka_unit_test(each_has_its_results),
		cmocka_unit_test(commands_of_one_have_one_result),
		cmocka_unit_test(engines_that_cannot_be_shared_are_refused),
	};

	if (argc != 2)
		return 2;
	setenv("ZE_ENABLE_ALT_DRIVERS", argv[1], 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
