// SPDX-License-Identifier: Apache-2.0
// The Level Zero CPU driver through the loader: what the device says it is, under scripts and
// without, its memory, and its memory in another process. Each case is a process of its own, as a
// driver reads its script once.
#include <fcntl.h>
#include <level_zero/ze_api.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static const char *driver_path;

// In a child: cmocka belongs to the parent.
#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);            \
			_exit(1);                                                                  \
		}                                                                                  \
	} while (0)
#define MUST(call) CHECK((call) == ZE_RESULT_SUCCESS)

struct rig {
	ze_driver_handle_t driver;
	ze_device_handle_t device;
	ze_context_handle_t context;
};

static struct rig open_device(ze_init_flags_t flags)
{
	ze_context_desc_t desc = { .stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC };
	struct rig rig;
	uint32_t one = 1;

	MUST(zeInit(flags));
	MUST(zeDriverGet(&one, &rig.driver));
	MUST(zeDeviceGet(rig.driver, &one, &rig.device));
	MUST(zeContextCreate(rig.driver, &desc, &rig.context));
	return rig;
}

// Runs `body` in a child under a script ("" for none). Returns what it wrote to standard error.
static const char *in_child(const char *script, void (*body)(void))
{
	static char said[2048];
	char name[] = "/tmp/ze-cpu-script-XXXXXX";
	int ends[2], status, file = mkstemp(name);
	size_t used = 0;
	ssize_t got;

	assert_true(file >= 0 && pipe(ends) == 0);
	assert_int_equal(write(file, script, strlen(script)), (ssize_t)strlen(script));
	close(file);
	fflush(NULL);
	pid_t child = fork();
	if (child == 0) {
		dup2(ends[1], 2);
		setenv("ZE_ENABLE_ALT_DRIVERS", driver_path, 1);
		if (script[0])
			setenv("ZE_CPU_SCRIPT", name, 1);
		else
			unsetenv("ZE_CPU_SCRIPT");
		body();
		_exit(0);
	}
	close(ends[1]);
	while (used < sizeof said - 1 &&
	       (got = read(ends[0], said + used, sizeof said - 1 - used)) > 0)
		used += (size_t)got;
	said[used] = '\0';
	close(ends[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	unlink(name);
	if (status != 0)
		fail_msg("%s(status %d)", said, status);
	return said;
}

// ---- what it is

static void ask_both_encodings(struct rig rig, uint64_t ns, uint64_t hz, uint32_t global,
                               uint32_t kernel)
{
	ze_base_properties_t unknown = { .stype = (ze_structure_type_t)0x7abcdef };
	ze_device_properties_t old = { .stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES,
		                       .pNext = &unknown };
	ze_device_properties_t new = { .stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2 };

	MUST(zeDeviceGetProperties(rig.device, &old));
	MUST(zeDeviceGetProperties(rig.device, &new));
	CHECK(old.timerResolution == ns && new.timerResolution == hz);
	CHECK(old.stype == ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES && old.pNext == &unknown);
	CHECK(new.timestampValidBits == global &&old.timestampValidBits == global);
	CHECK(new.kernelTimestampValidBits == kernel &&old.kernelTimestampValidBits == kernel);
}

static void as_this_cpu(void)
{
	struct rig rig = open_device(0);
	ze_device_properties_t properties = { .stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES };
	ze_command_queue_group_properties_t groups[3];
	uint32_t count = 0;

	ask_both_encodings(rig, 1, 1000000000, 64, 56);
	MUST(zeDeviceGetProperties(rig.device, &properties));
	CHECK(properties.type == ZE_DEVICE_TYPE_CPU);
	CHECK(strstr(properties.name, "(ze-cpu: kernels on the CPU, for tests)"));
	MUST(zeDeviceGetCommandQueueGroupProperties(rig.device, &count, NULL));
	CHECK(count == 2);
	memset(groups, 0, sizeof groups);
	count = 3;
	MUST(zeDeviceGetCommandQueueGroupProperties(rig.device, &count, groups));
	CHECK(count == 2 && groups[0].numQueues == 1 && groups[1].numQueues == 2);
	CHECK(groups[0].flags & ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE);
	CHECK(groups[0].flags & ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY);
	CHECK(groups[1].flags == ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY);
}

static void to_programs_for_gpus(void)
{
	struct rig rig = open_device(ZE_INIT_FLAG_GPU_ONLY);
	ze_device_properties_t properties = { .stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES };

	MUST(zeDeviceGetProperties(rig.device, &properties));
	CHECK(properties.type == ZE_DEVICE_TYPE_GPU);
	CHECK(strstr(properties.name, "ze-cpu"));
}

static void without_a_script(void **state)
{
	(void)state;
	in_child("", as_this_cpu);
	in_child("", to_programs_for_gpus);
}

#define SCRIPT(timer, engines)                                                                     \
	"tare-device 1\ndevice name \"Toy\" vendor \"Intel\" units 24 lanes 8 clock 1 GHz "        \
	"memory 64 MiB largest 16 MiB cache 1 MiB local 64 KiB work-group 512 sub-group "          \
	"32\n" timer "\n" engines "\ncopy pageable device rate 1 GB/s\n"
#define ENGINES                                                                                    \
	"engine compute runs kernel\nengine compute runs kernel,to-device,to-host,local\n"         \
	"engine copy runs to-device,to-host,local\nengine copy runs to-device,to-host,local"

static void as_scripted(void)
{
	struct rig rig = open_device(0);
	ze_device_properties_t properties = { .stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES };
	ze_device_compute_properties_t compute = {
		.stype = ZE_STRUCTURE_TYPE_DEVICE_COMPUTE_PROPERTIES,
	};
	ze_command_queue_group_properties_t groups[3] = { { 0 } };
	uint32_t count = 3;
	uint64_t host_ns, ticks, next_ns, next;

	ask_both_encodings(rig, 80, 12500000, 40, 32);
	MUST(zeDeviceGetProperties(rig.device, &properties));
	CHECK(strcmp(properties.name, "Toy (ze-cpu, scripted)") == 0);
	CHECK(properties.vendorId == 0x8086 && properties.coreClockRate == 1000);
	CHECK(properties.numSlices * properties.numSubslicesPerSlice *
	          properties.numEUsPerSubslice ==
	      24);
	CHECK(properties.physicalEUSimdWidth == 8 && properties.maxMemAllocSize == 16 << 20);
	MUST(zeDeviceGetComputeProperties(rig.device, &compute));
	CHECK(compute.maxTotalGroupSize == 512 && compute.subGroupSizes[0] == 32);
	CHECK(compute.maxSharedLocalMemory == 64 << 10);
	MUST(zeDeviceGetCommandQueueGroupProperties(rig.device, &count, groups));
	CHECK(count == 3 && groups[0].numQueues == 1 && groups[2].numQueues == 2);
	CHECK(!(groups[0].flags & ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY));
	CHECK(groups[1].flags & ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY);
	CHECK(groups[2].flags == ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY);
	// The counter goes at its rate: within a tick of what the host's clock says passed.
	MUST(zeDeviceGetGlobalTimestamps(rig.device, &host_ns, &ticks));
	CHECK(ticks >= UINT64_C(500000000000));
	usleep(1000);
	MUST(zeDeviceGetGlobalTimestamps(rig.device, &next_ns, &next));
	int64_t passed = (int64_t)((next - ticks) & ((UINT64_C(1) << 40) - 1));
	int64_t expected = (int64_t)((next_ns - host_ns) / 80);
	CHECK(passed - expected <= 1 && expected - passed <= 1);
}

static void under_a_script(void **state)
{
	(void)state;
	in_child(SCRIPT("timer rate 12.5 MHz bits 32\npair-timer rate 12.5 MHz bits 40 epoch "
	                "500000000000 ticks",
	                ENGINES),
	         as_scripted);
}

// Copy engines of one direction each are one group, which copies.
static void as_parts(void)
{
	struct rig rig = open_device(0);
	ze_command_queue_group_properties_t groups[3] = { { 0 } };
	uint32_t count = 3;

	MUST(zeDeviceGetCommandQueueGroupProperties(rig.device, &count, groups));
	CHECK(count == 2 && groups[1].numQueues == 3);
	CHECK(groups[1].flags == ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY);
}

static void under_a_script_of_one_way_engines(void **state)
{
	(void)state;
	in_child(SCRIPT("timer rate 1 GHz",
	                "engine compute runs kernel\nengine copy runs to-device,"
	                "local\nengine copy runs to-host\nengine copy runs local"),
	         as_parts);
}

static void refused(void)
{
	CHECK(zeInit(0) != ZE_RESULT_SUCCESS);
}

static void scripts_that_no_device_can_be(void **state)
{
	static const struct {
		const char *script, *said;
	} rows[] = {
		{ SCRIPT("timer rate 12 MHz\npair-timer rate 19.2 MHz", ENGINES),
		  ":4: 'pair-timer' has another rate than 'timer'" },
		{ SCRIPT("timer rate 1 GHz",
		         "engine compute runs kernel\nengine copy runs to-device"),
		  ":5: this engine copies in some directions only" },
		{ SCRIPT("timer rate 1 GHz\nqueue route queue",
		         "engine compute runs kernel\nengine copy "
		         "runs to-device,local\nengine copy runs to-host"),
		  ":6: this engine copies in some directions only" },
		{ SCRIPT("timer rate 1000/83 MHz", ENGINES),
		  ":3: Level Zero tells a timer's rate in whole" },
		{ SCRIPT("timer rate 1 GHz", "engine compute runs to-device,to-host,local"),
		  ":4: this compute engine runs no kernels" },
		{ SCRIPT("timer rate 1 GHz", "engine compute runs kernel\nengine copy runs "
		                             "kernel,to-device,to-host,local"),
		  ":5: this copy engine runs kernels" },
		{ SCRIPT("timer rate 0 Hz", ENGINES), ":3: " },
		{ "no script\n", ":1: " },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const char *said = in_child(rows[i].script, refused);
		const char *end = strchr(said, '\n');
		if (!strstr(said, rows[i].said) || !end || end[1])
			fail_msg("row %zu: not the one sentence: %s", i, said);
	}
}

// ---- memory

static ze_device_mem_alloc_desc_t device_desc = { .stype =
	                                              ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC };
static ze_host_mem_alloc_desc_t host_desc = { .stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC };

static void memory_is_known(void)
{
	struct rig rig = open_device(0);
	ze_memory_allocation_properties_t properties = {
		.stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES,
	};
	ze_device_handle_t device;
	char *at[300], local;
	void *base;
	size_t bytes;

	for (size_t i = 0; i < 300; i++) {
		if (i % 3 == 0)
			MUST(zeMemAllocDevice(rig.context, &device_desc, i + 1, 0, rig.device,
			                      (void **)&at[i]));
		else if (i % 3 == 1)
			MUST(zeMemAllocHost(rig.context, &host_desc, i + 1, (size_t)1 << i % 22,
			                    (void **)&at[i]));
		else
			MUST(zeMemAllocShared(rig.context, &device_desc, &host_desc, i + 1, 8192,
			                      rig.device, (void **)&at[i]));
		memset(at[i], (int)i, i + 1);
		if (i % 3 == 1)
			CHECK((uintptr_t)at[i] % ((size_t)1 << i % 22) == 0);
	}
	for (size_t i = 0; i < 300; i++) {
		static const ze_memory_type_t types[] = { ZE_MEMORY_TYPE_DEVICE,
			                                  ZE_MEMORY_TYPE_HOST,
			                                  ZE_MEMORY_TYPE_SHARED };
		MUST(zeMemGetAllocProperties(rig.context, at[i] + i, &properties, &device));
		CHECK(properties.type == types[i % 3]);
		CHECK(device == (i % 3 == 1 ? NULL : rig.device));
		MUST(zeMemGetAddressRange(rig.context, at[i] + i, &base, &bytes));
		CHECK(base == at[i] && bytes == i + 1 && at[i][i] == (char)i);
		MUST(zeMemGetAllocProperties(rig.context, at[i] + i + 1, &properties, &device));
		CHECK(properties.type == ZE_MEMORY_TYPE_UNKNOWN);
	}
	MUST(zeMemGetAllocProperties(rig.context, &local, &properties, &device));
	CHECK(properties.type == ZE_MEMORY_TYPE_UNKNOWN && !device);
	for (size_t i = 0; i < 300; i++)
		MUST(zeMemFree(rig.context, at[i * 7 % 300]));
	CHECK(zeMemFree(rig.context, at[0]) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
	CHECK(zeMemFree(rig.context, &local) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

// A copy that waits for the host still needs what the program has freed.
static void freed_in_use(void)
{
	struct rig rig = open_device(0);
	ze_memory_allocation_properties_t properties = {
		.stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES,
	};
	ze_command_queue_desc_t queue = { .stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC };
	ze_event_pool_desc_t pool_desc = { .stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
		                           .count = 2,
		                           .flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE };
	ze_event_desc_t event_desc = { .stype = ZE_STRUCTURE_TYPE_EVENT_DESC };
	ze_command_list_handle_t list;
	ze_event_pool_handle_t pool;
	ze_event_handle_t go, done;
	char *from, target[100] = "";

	MUST(zeMemAllocHost(rig.context, &host_desc, sizeof target, 0, (void **)&from));
	memset(from, 'f', sizeof target);
	MUST(zeEventPoolCreate(rig.context, &pool_desc, 1, &rig.device, &pool));
	MUST(zeEventCreate(pool, &event_desc, &go));
	event_desc.index = 1;
	MUST(zeEventCreate(pool, &event_desc, &done));
	queue.mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS;
	MUST(zeCommandListCreateImmediate(rig.context, rig.device, &queue, &list));
	MUST(zeCommandListAppendMemoryCopy(list, target, from, sizeof target, done, 1, &go));
	MUST(zeMemFree(rig.context, from));
	CHECK(zeMemFree(rig.context, from) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
	MUST(zeMemGetAllocProperties(rig.context, from, &properties, NULL));
	CHECK(properties.type == ZE_MEMORY_TYPE_UNKNOWN && !target[0]);
	MUST(zeEventHostSignal(go));
	MUST(zeEventHostSynchronize(done, UINT64_MAX));
	CHECK(target[0] == 'f' && target[99] == 'f');
}

static void bad_allocations(void)
{
	struct rig rig = open_device(0);
	ze_device_mem_alloc_desc_t odd = device_desc;
	void *at, *filled[4];

	odd.flags = 0x80;
	CHECK(zeMemAllocDevice(rig.context, &device_desc, 0, 0, rig.device, &at) ==
	      ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
	CHECK(zeMemAllocDevice(rig.context, &device_desc, (16 << 20) + 1, 0, rig.device, &at) ==
	      ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
	CHECK(zeMemAllocHost(rig.context, &host_desc, SIZE_MAX, 0, &at) ==
	      ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
	CHECK(zeMemAllocHost(rig.context, &host_desc, 64, 3, &at) ==
	      ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT);
	CHECK(zeMemAllocDevice(rig.context, &odd, 64, 0, rig.device, &at) ==
	      ZE_RESULT_ERROR_INVALID_ENUMERATION);
	CHECK(zeMemAllocDevice(rig.context, NULL, 64, 0, rig.device, &at) ==
	      ZE_RESULT_ERROR_INVALID_NULL_POINTER);
	CHECK(zeMemAllocDevice(rig.context, &device_desc, 64, 0, NULL, &at) ==
	      ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
	// The script's device has 64 MiB.
	for (int i = 0; i < 4; i++)
		MUST(zeMemAllocDevice(rig.context, &device_desc, 16 << 20, 0, rig.device,
		                      &filled[i]));
	CHECK(zeMemAllocDevice(rig.context, &device_desc, 4096, 0, rig.device, &at) ==
	      ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
	MUST(zeMemFree(rig.context, filled[2]));
	MUST(zeMemAllocDevice(rig.context, &device_desc, 4096, 0, rig.device, &at));
}

static void addresses_and_physical_memory(void)
{
	struct rig rig = open_device(0);
	ze_physical_mem_desc_t desc = { .stype = ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC };
	ze_memory_access_attribute_t access;
	ze_physical_mem_handle_t memory;
	size_t page, same;
	void *at;

	MUST(zeVirtualMemQueryPageSize(rig.context, rig.device, 100, &page));
	CHECK(zeVirtualMemReserve(rig.context, NULL, page + 1, &at) ==
	      ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
	MUST(zeVirtualMemReserve(rig.context, NULL, 4 * page, &at));
	char *first = at, *second = first + 2 * page;
	desc.size = 2 * page;
	MUST(zePhysicalMemCreate(rig.context, rig.device, &desc, &memory));
	MUST(zeVirtualMemMap(rig.context, first, 2 * page, memory, 0,
	                     ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE));
	CHECK(zeVirtualMemMap(rig.context, first + page, page, memory, 0,
	                      ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE) ==
	      ZE_RESULT_ERROR_INVALID_ARGUMENT);
	// The same memory at two places.
	MUST(zeVirtualMemMap(rig.context, second, page, memory, page,
	                     ZE_MEMORY_ACCESS_ATTRIBUTE_READONLY));
	first[page + 5] = 7;
	CHECK(second[5] == 7);
	MUST(zeVirtualMemGetAccessAttribute(rig.context, first, 4 * page, &access, &same));
	CHECK(access == ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE && same == 2 * page);
	MUST(zeVirtualMemSetAccessAttribute(rig.context, first, page,
	                                    ZE_MEMORY_ACCESS_ATTRIBUTE_NONE));
	MUST(zeVirtualMemGetAccessAttribute(rig.context, first, 2 * page, &access, &same));
	CHECK(access == ZE_MEMORY_ACCESS_ATTRIBUTE_NONE && same == page);
	MUST(zePhysicalMemDestroy(rig.context, memory));
	CHECK(second[5] == 7);
	MUST(zeVirtualMemUnmap(rig.context, first, 2 * page));
	CHECK(zeVirtualMemUnmap(rig.context, first, 2 * page) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
	MUST(zeVirtualMemFree(rig.context, at, 4 * page));
	CHECK(zeVirtualMemFree(rig.context, at, 4 * page) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

static void memory_and_addresses(void **state)
{
	(void)state;
	in_child("", memory_is_known);
	in_child("", freed_in_use);
	in_child(SCRIPT("timer rate 1 GHz", ENGINES), bad_allocations);
	in_child("", addresses_and_physical_memory);
}

// ---- another process

// The descriptor that a new file would have.
static int next_file(void)
{
	int file = dup(0);

	close(file);
	return file;
}

// A handle that was damaged on its way costs no descriptor.
static void open_damaged(struct rig *rig, ze_ipc_mem_handle_t handle)
{
	static const size_t at_bytes = 32; // its size, in memory_ipc.c
	int file = next_file();
	void *other;

	for (int byte = 0; byte < 256; byte += 255) {
		memset(handle.data + at_bytes, byte, 8);
		CHECK(zeMemOpenIpcHandle(rig->context, rig->device, handle, 0, &other) ==
		      ZE_RESULT_ERROR_INVALID_ARGUMENT);
		CHECK(next_file() == file);
	}
}

static void in_another_process(void)
{
	int there[2], back[2], status;
	ze_ipc_mem_handle_t handle;
	char byte = 0, *at;
	void *other;

	CHECK(pipe(there) == 0 && pipe(back) == 0);
	pid_t child = fork();
	if (child == 0) {
		struct rig rig = open_device(0);
		CHECK(read(there[0], &handle, sizeof handle) == sizeof handle);
		MUST(zeMemOpenIpcHandle(rig.context, rig.device, handle, 0, &other));
		CHECK(((char *)other)[4999] == 'p');
		((char *)other)[0] = 'c';
		MUST(zeMemCloseIpcHandle(rig.context, other));
		CHECK(write(back[1], "x", 1) == 1);
		_exit(0);
	}
	struct rig rig = open_device(0);
	void *before;
	MUST(zeMemAllocDevice(rig.context, &device_desc, 100, 0, rig.device, &before));
	MUST(zeMemAllocDevice(rig.context, &device_desc, 5000, 0, rig.device, (void **)&at));
	at[4999] = 'p';
	MUST(zeMemGetIpcHandle(rig.context, at, &handle));
	CHECK(write(there[1], &handle, sizeof handle) == sizeof handle);
	close(back[1]);
	CHECK(read(back[0], &byte, 1) == 1 && at[0] == 'c');
	CHECK(waitpid(child, &status, 0) == child && status == 0);
	open_damaged(&rig, handle);
	// The same process, by the descriptor alone, as programs pass it that know no more of a
	// handle.
	memset(handle.data + sizeof(int), 0, sizeof handle.data - sizeof(int));
	MUST(zeMemOpenIpcHandle(rig.context, rig.device, handle, 0, &other));
	CHECK(other != at && ((char *)other)[4999] == 'p');
	((char *)other)[17] = 's';
	CHECK(at[17] == 's');
	CHECK(zeMemFree(rig.context, other) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
	MUST(zeMemCloseIpcHandle(rig.context, other));
	memset(&handle, 0x5a, sizeof handle);
	CHECK(zeMemOpenIpcHandle(rig.context, rig.device, handle, 0, &other) ==
	      ZE_RESULT_ERROR_INVALID_ARGUMENT);
	MUST(zeMemFree(rig.context, at));
}

static void device_memory_in_another_process(void **state)
{
	(void)state;
	in_child("", in_another_process);
}

int main(int argument_count, char **arguments)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_script),
		cmocka_unit_test(under_a_script),
		cmocka_unit_test(under_a_script_of_one_way_engines),
		cmocka_unit_test(scripts_that_no_device_can_be),
		cmocka_unit_test(memory_and_addresses),
		cmocka_unit_test(device_memory_in_another_process),
	};

	driver_path = argument_count > 1 ? arguments[1] : "";
	return cmocka_run_group_tests(tests, NULL, NULL);
}
