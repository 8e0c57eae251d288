// SPDX-License-Identifier: Apache-2.0
// A Level Zero program on the CPU driver under a script made by the test. The driver reads its
// script once, so each case runs in a process of its own.
#pragma once
#include "base/time.h"
#include "tests/unit/skip.h"

#include <level_zero/ze_api.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CASE_TOO_LATE 75 // the machine was slow: try again with more time

#define EVENTS 64

// The beginning of most scripts: everything costs whole nanoseconds, which the counter shows.
#define MIB ((size_t)1 << 20)

#define HEAD                                                                                       \
	"tare-device 1\n"                                                                          \
	"device name \"model\" memory 1 GiB units 4\n"                                             \
	"timer rate 1 GHz bits 64\n"                                                               \
	"engine compute runs kernel,to-device,to-host,local\n"

struct ze {
	ze_driver_handle_t driver;
	ze_device_handle_t device;
	ze_context_handle_t context;
	ze_event_pool_handle_t pool;
	uint32_t event_count;
	uint32_t compute, copy;                // ordinals
	struct tare_clock_rate kernel, global; // stamps of events; the clock that can be read
	uint64_t tick_ns;                      // timerResolution as its older encoding says it
};

#define must(call) ze_must((call), #call, __LINE__)

static inline void ze_must(ze_result_t result, const char *call, int line)
{
	if (result == ZE_RESULT_SUCCESS)
		return;
	fprintf(stderr, "line %d: %s: 0x%x\n", line, call, (unsigned)result);
	_exit(1);
}

// Ends the case with a sentence unless a and b differ by at most `slack`.
#define near(a, b, slack) ze_near((a), (b), (slack), #a, __LINE__)

static inline void ze_near(int64_t a, int64_t b, int64_t slack, const char *what, int line)
{
	int64_t apart = a > b ? a - b : b - a;

	if (apart <= slack)
		return;
	fprintf(stderr, "line %d: %s is %lld, not %lld +- %lld\n", line, what, (long long)a,
	        (long long)b, (long long)slack);
	_exit(1);
}

#define holds(condition) ze_holds((condition), #condition, __LINE__)

static inline void ze_holds(bool condition, const char *what, int line)
{
	if (condition)
		return;
	fprintf(stderr, "line %d: not so: %s\n", line, what);
	_exit(1);
}

// NULL: without a script.
static inline void ze_use_script(const char *text)
{
	char path[] = "/tmp/ze-cpu-script-XXXXXX";

	if (!text) {
		unsetenv("ZE_CPU_SCRIPT");
		must(zeInit(0));
		return;
	}
	int file = mkstemp(path);

	holds(file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text));
	close(file);
	setenv("ZE_CPU_SCRIPT", path, 1);
	must(zeInit(0));
	unlink(path);
}

static inline void ze_read_clocks(struct ze *ze)
{
	ze_device_properties_t now = { .stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2 };
	ze_device_properties_t older = { .stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES };

	must(zeDeviceGetProperties(ze->device, &now));
	must(zeDeviceGetProperties(ze->device, &older));
	ze->kernel = ze->global = (struct tare_clock_rate){ now.timerResolution, 1, 0, 1 };
	ze->kernel.valid_bits = now.kernelTimestampValidBits;
	ze->global.valid_bits = now.timestampValidBits;
	ze->tick_ns = older.timerResolution;
}

static inline void ze_find_groups(struct ze *ze)
{
	ze_command_queue_group_properties_t groups[8] = { 0 };
	uint32_t count = 8;

	must(zeDeviceGetCommandQueueGroupProperties(ze->device, &count, groups));
	for (uint32_t i = count; i-- > 0;) {
		if (groups[i].flags & ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE)
			ze->compute = i;
		else
			ze->copy = i;
	}
}

static inline struct ze ze_open(const char *script)
{
	ze_context_desc_t context = { .stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC };
	ze_event_pool_desc_t pool = { .stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
		                      .flags = ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP |
		                               ZE_EVENT_POOL_FLAG_HOST_VISIBLE,
		                      .count = EVENTS };
	struct ze ze = { 0 };
	uint32_t one = 1;

	ze_use_script(script);
	must(zeDriverGet(&one, &ze.driver));
	must(zeDeviceGet(ze.driver, &one, &ze.device));
	must(zeContextCreate(ze.driver, &context, &ze.context));
	must(zeEventPoolCreate(ze.context, &pool, 0, NULL, &ze.pool));
	ze_read_clocks(&ze);
	ze_find_groups(&ze);
	return ze;
}

static inline ze_event_handle_t ze_event(struct ze *ze)
{
	ze_event_desc_t description = { .stype = ZE_STRUCTURE_TYPE_EVENT_DESC,
		                        .index = ze->event_count++,
		                        .signal = ZE_EVENT_SCOPE_FLAG_HOST,
		                        .wait = ZE_EVENT_SCOPE_FLAG_HOST };
	ze_event_handle_t event;

	must(zeEventCreate(ze->pool, &description, &event));
	return event;
}

static inline ze_command_list_handle_t ze_immediate(struct ze *ze, uint32_t ordinal, uint32_t index)
{
	ze_command_queue_desc_t description = { .stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
		                                .ordinal = ordinal,
		                                .index = index,
		                                .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS };
	ze_command_list_handle_t list;

	must(zeCommandListCreateImmediate(ze->context, ze->device, &description, &list));
	return list;
}

static inline ze_command_list_handle_t ze_list(struct ze *ze, uint32_t ordinal)
{
	ze_command_list_desc_t description = { .stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC,
		                               .commandQueueGroupOrdinal = ordinal };
	ze_command_list_handle_t list;

	must(zeCommandListCreate(ze->context, ze->device, &description, &list));
	return list;
}

static inline ze_command_queue_handle_t ze_queue(struct ze *ze, uint32_t ordinal, uint32_t index)
{
	ze_command_queue_desc_t description = { .stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
		                                .ordinal = ordinal,
		                                .index = index,
		                                .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS };
	ze_command_queue_handle_t queue;

	must(zeCommandQueueCreate(ze->context, ze->device, &description, &queue));
	return queue;
}

static inline void *ze_device_memory(struct ze *ze, size_t bytes)
{
	ze_device_mem_alloc_desc_t description = { .stype =
		                                       ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC };
	void *memory;

	must(zeMemAllocDevice(ze->context, &description, bytes, 4096, ze->device, &memory));
	return memory;
}

static inline void *ze_host_memory(struct ze *ze, size_t bytes)
{
	ze_host_mem_alloc_desc_t description = { .stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC };
	void *memory;

	must(zeMemAllocHost(ze->context, &description, bytes, 4096, &memory));
	return memory;
}

static inline void *ze_shared_memory(struct ze *ze, size_t bytes)
{
	ze_device_mem_alloc_desc_t device = { .stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC };
	ze_host_mem_alloc_desc_t host = { .stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC };
	void *memory;

	must(zeMemAllocShared(ze->context, &device, &host, bytes, 4096, ze->device, &memory));
	return memory;
}

static inline ze_kernel_timestamp_result_t ze_stamps(ze_event_handle_t event)
{
	ze_kernel_timestamp_result_t result;

	must(zeEventHostSynchronize(event, UINT64_MAX));
	must(zeEventQueryKernelTimestamp(event, &result));
	return result;
}

// From tick a to tick b of the events' counter, in nanoseconds.
static inline int64_t ze_ns(const struct ze *ze, uint64_t a, uint64_t b)
{
	return tare_ticks_to_ns(
	    &ze->kernel,
	    tare_ticks_elapsed(&ze->kernel, (struct tare_ticks){ a }, (struct tare_ticks){ b }));
}

static inline int64_t ze_duration_ns(const struct ze *ze, ze_event_handle_t event)
{
	ze_kernel_timestamp_result_t stamps = ze_stamps(event);

	return ze_ns(ze, stamps.global.kernelStart, stamps.global.kernelEnd);
}

// From the end of one event's command to the start of another's.
static inline int64_t ze_between_ns(const struct ze *ze, ze_event_handle_t a, ze_event_handle_t b)
{
	return ze_ns(ze, ze_stamps(a).global.kernelEnd, ze_stamps(b).global.kernelStart);
}

// Starts a case in a process of its own. Its status is what `body` gives to _exit, 0 if it returns.
static inline pid_t ze_start_case(void (*body)(const void *row, int attempt), const void *row,
                                  int attempt)
{
	pid_t child;

	fflush(NULL);
	child = fork();
	if (child == 0) {
		alarm(60);
		body(row, attempt);
		_exit(0);
	}
	return child;
}

// The exit status of a case; 128 and the signal's number if that ended it.
static inline int ze_end_case(pid_t child)
{
	int status;

	if (child < 0 || waitpid(child, &status, 0) != child)
		return 1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// What a case exits with that cannot be tried here; it has printed the reason.
enum { ZE_SKIPPED = 77 };

// A test of one case.
#define CASE(name, body)                                                                           \
	static void name(void **state)                                                             \
	{                                                                                          \
		int status = ze_end_case(ze_start_case(body, NULL, 0));                            \
		(void)state;                                                                       \
		if (status == ZE_SKIPPED)                                                          \
			skip_because("see above");                                                 \
		assert_int_equal(status, 0);                                                       \
	}
