// SPDX-License-Identifier: Apache-2.0
// Level Zero: global timestamps, written by the list into the host's memory. A timestamp keeps no
// order with its neighbours, so that barriers stand on both sides of a span's first one and before
// its last one.
#include "time/internal.h"

#include <errno.h>

#if TARE_TIME_LEVELZERO
#include <level_zero/ze_api.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define FUNCTIONS(X)                                                                               \
	X(zeDriverGet)                                                                             \
	X(zeDeviceGet)                                                                             \
	X(zeDeviceGetSubDevices)                                                                   \
	X(zeDeviceGetProperties)                                                                   \
	X(zeMemAllocHost)                                                                          \
	X(zeMemFree)                                                                               \
	X(zeEventPoolCreate)                                                                       \
	X(zeEventPoolDestroy)                                                                      \
	X(zeEventCreate)                                                                           \
	X(zeEventDestroy)                                                                          \
	X(zeEventHostReset)                                                                        \
	X(zeEventQueryStatus)                                                                      \
	X(zeEventQueryKernelTimestamp)                                                             \
	X(zeCommandListAppendBarrier)                                                              \
	X(zeCommandListAppendWriteGlobalTimestamp)                                                 \
	X(zeCommandListAppendEventReset)

struct functions {
#define X(function) __typeof__(function) *function;
	FUNCTIONS(X)
#undef X
};

static const struct tare_time_symbol symbols[] = {
#define X(function) { #function, offsetof(struct functions, function), false },
	FUNCTIONS(X)
#undef X
};

// No GPU's timer is slower than this: a smaller number may be nanoseconds, whatever was asked for.
#define SLOWEST_HZ 100000
// As often a pair that changes while it is read is read again.
#define READS 100

enum { FLOOR, START, END, MOMENTS };

struct list {
	struct functions ze;
	ze_context_handle_t context;
	ze_device_handle_t device;
	ze_command_list_handle_t native;
	bool immediate;
	char device_name[TARE_TIME_DEVICE];
	uint32_t spans;
	struct tare_clock_rate global, kernel;
	ze_event_pool_handle_t pool;
	uint64_t (*ticks)[MOMENTS]; // the host's memory, which the device writes
	ze_event_handle_t ends[];
};

static int barrier(struct list *list, struct tare_time_error *error)
{
	ze_result_t result = list->ze.zeCommandListAppendBarrier(list->native, NULL, 0, NULL);

	return result == ZE_RESULT_SUCCESS
	           ? 0
	           : tare_time_fail_native(error, EIO, "zeCommandListAppendBarrier", (long)result,
	                                   "Level Zero refused a span's barrier in the list");
}

static int stamp(struct list *list, uint64_t *to, ze_event_handle_t signal,
                 struct tare_time_error *error)
{
	ze_result_t result =
	    list->ze.zeCommandListAppendWriteGlobalTimestamp(list->native, to, signal, 0, NULL);

	return result == ZE_RESULT_SUCCESS
	           ? 0
	           : tare_time_fail_native(error, EIO, "zeCommandListAppendWriteGlobalTimestamp",
	                                   (long)result,
	                                   "Level Zero refused a span's timestamp in the list");
}

// A list that runs again resets the event itself.
static int reset(struct list *list, ze_event_handle_t event, struct tare_time_error *error)
{
	const char *call = list->immediate ? "zeEventHostReset" : "zeCommandListAppendEventReset";
	ze_result_t result = list->immediate
	                         ? list->ze.zeEventHostReset(event)
	                         : list->ze.zeCommandListAppendEventReset(list->native, event);

	return result == ZE_RESULT_SUCCESS
	           ? 0
	           : tare_time_fail_native(error, EIO, call, (long)result,
	                                   "Level Zero does not reset a span's event");
}

static int levelzero_begin(void *state, uint32_t slot, bool with_floor,
                           struct tare_time_error *error)
{
	struct list *list = state;
	uint64_t *ticks = list->ticks[slot];
	int status = reset(list, list->ends[slot], error);

	status = status ?: barrier(list, error);
	if (status == 0 && with_floor) {
		// What stands around nothing is the same as around something.
		status = stamp(list, &ticks[FLOOR], NULL, error);
		status = status ?: barrier(list, error);
		status = status ?: barrier(list, error);
	}
	status = status ?: stamp(list, &ticks[START], NULL, error);
	return status == 0 ? barrier(list, error) : status;
}

static int levelzero_end(void *state, uint32_t slot, struct tare_time_error *error)
{
	struct list *list = state;
	int status = barrier(list, error);

	return status == 0 ? stamp(list, &list->ticks[slot][END], list->ends[slot], error) : status;
}

static int failed(struct tare_time_why *why, ze_result_t result)
{
	if (result == ZE_RESULT_ERROR_DEVICE_LOST)
		return tare_time_absent(why, TARE_TIME_DEVICE_LOST, (long)result,
		                        "the device is lost");
	return tare_time_absent(why, TARE_TIME_COMMAND_FAILED, (long)result,
	                        "the driver says that it failed");
}

static int levelzero_event_check(const void *event, struct tare_time_error *error)
{
	return tare_time_check_handle(event, "event", error);
}

static int levelzero_event_done(void *state, void *event, struct tare_time_why *why)
{
	struct list *list = state;
	ze_result_t result = list->ze.zeEventQueryStatus(event);

	if (result == ZE_RESULT_NOT_READY)
		return 0;
	return result == ZE_RESULT_SUCCESS ? 1 : failed(why, result);
}

static int levelzero_done(void *state, uint32_t slot, struct tare_time_why *why)
{
	struct list *list = state;

	return levelzero_event_done(state, list->ends[slot], why);
}

static void read_ticks(const struct list *list, uint32_t slot, struct tare_time_stamps *stamps)
{
	const uint64_t *ticks = list->ticks[slot];

	stamps->floor = __atomic_load_n(&ticks[FLOOR], __ATOMIC_ACQUIRE);
	stamps->start = __atomic_load_n(&ticks[START], __ATOMIC_ACQUIRE);
	stamps->end = __atomic_load_n(&ticks[END], __ATOMIC_ACQUIRE);
}

// The list may be executed again meanwhile: what is taken is of one execution, because it was all
// there twice.
static int levelzero_stamps(void *state, uint32_t slot, bool with_floor,
                            struct tare_time_stamps *stamps, struct tare_time_why *why)
{
	struct list *list = state;
	struct tare_time_stamps again;
	int done = 1;

	stamps->counted = true;
	stamps->has_floor = with_floor;
	stamps->rate = list->global;
	for (int i = 0; i < READS && done == 1; i++) {
		read_ticks(list, slot, stamps);
		done = levelzero_done(state, slot, why);
		read_ticks(list, slot, &again);
		if (done == 1 && stamps->floor == again.floor && stamps->start == again.start &&
		    stamps->end == again.end)
			return 0;
	}
	return done < 0 ? done : -EAGAIN;
}

static int levelzero_event_stamps(void *state, void *event, struct tare_time_stamps *stamps,
                                  struct tare_time_why *why)
{
	struct list *list = state;
	ze_kernel_timestamp_result_t told = { 0 };
	ze_result_t result = list->ze.zeEventQueryKernelTimestamp(event, &told);

	if (result == ZE_RESULT_NOT_READY)
		return -EAGAIN;
	if (result != ZE_RESULT_SUCCESS)
		return failed(why, result);
	if (!told.global.kernelStart && !told.global.kernelEnd)
		return tare_time_absent(why, TARE_TIME_NO_STAMPS, 0,
		                        "the driver wrote no times for this event");
	stamps->counted = true;
	stamps->rate = list->kernel;
	stamps->start = told.global.kernelStart;
	stamps->end = told.global.kernelEnd;
	return 0;
}

static const char *levelzero_device(void *state)
{
	struct list *list = state;

	return list->device_name;
}

static void levelzero_close(void *state)
{
	struct list *list = state;

	for (uint32_t i = 0; i < list->spans; i++)
		if (list->ends[i])
			list->ze.zeEventDestroy(list->ends[i]);
	if (list->pool)
		list->ze.zeEventPoolDestroy(list->pool);
	if (list->ticks)
		list->ze.zeMemFree(list->context, list->ticks);
	free(list);
}

#define MEMBERS                                                                                    \
	.begin = levelzero_begin, .end = levelzero_end, .done = levelzero_done,                    \
	.stamps = levelzero_stamps, .event_check = levelzero_event_check,                          \
	.event_done = levelzero_event_done, .event_stamps = levelzero_event_stamps,                \
	.close = levelzero_close, .device = levelzero_device, .writes_later = true
static const struct tare_time_api immediate = { MEMBERS };
static const struct tare_time_api regular = { MEMBERS, .executes_again = true };

// Whether two numbers are one tick in nanoseconds, rounded somehow, and its rate in hertz.
static bool are_reciprocal(uint64_t ns, uint64_t hz)
{
	return fabs((double)ns - 1e9 / (double)hz) < 1;
}

static struct tare_clock_rate rate_of(uint64_t resolution, bool nanoseconds, uint32_t bits)
{
	return (struct tare_clock_rate){
		.hz_numerator = nanoseconds ? 1000000000 : resolution,
		.hz_denominator = nanoseconds ? resolution : 1,
		.valid_bits = bits,
		.resolution_ticks = 1,
	};
}

// Drivers, devices of a driver and parts of a device that are looked through.
#define MOST 64

static bool is_part_of(const struct list *list, ze_device_handle_t device)
{
	ze_device_handle_t parts[MOST];
	uint32_t count = MOST;

	if (device == list->device)
		return true;
	if (list->ze.zeDeviceGetSubDevices(device, &count, parts) != ZE_RESULT_SUCCESS)
		return false;
	for (uint32_t i = 0; i < count; i++)
		if (parts[i] == list->device)
			return true;
	return false;
}

// Whether the device is one that a driver lists: no driver has to check a handle.
static bool is_listed(const struct list *list)
{
	ze_driver_handle_t drivers[MOST];
	ze_device_handle_t devices[MOST];
	uint32_t driver_count = MOST, count;

	if (list->ze.zeDriverGet(&driver_count, drivers) != ZE_RESULT_SUCCESS)
		return true; // nothing can be told
	for (uint32_t d = 0; d < driver_count; d++) {
		count = MOST;
		if (list->ze.zeDeviceGet(drivers[d], &count, devices) != ZE_RESULT_SUCCESS)
			return true;
		for (uint32_t i = 0; i < count; i++)
			if (is_part_of(list, devices[i]))
				return true;
	}
	return false;
}

// timerResolution is cycles a second where the type 1.2 of the properties is asked for, nanoseconds
// where an older one is; drivers that tell nanoseconds to both are known by the number.
static int ask_device(struct list *list, struct tare_time_error *error)
{
	ze_device_properties_t now = { .stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2 };
	ze_device_properties_t older = { .stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES };
	ze_result_t result = is_listed(list) ? list->ze.zeDeviceGetProperties(list->device, &now)
	                                     : ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	uint64_t told = now.timerResolution;
	bool nanoseconds = false;

	if (result != ZE_RESULT_SUCCESS)
		return tare_time_fail_native(error, EINVAL, "zeDeviceGetProperties", (long)result,
		                             "this is no device");
	if (told < SLOWEST_HZ) {
		if (list->ze.zeDeviceGetProperties(list->device, &older) != ZE_RESULT_SUCCESS)
			older.timerResolution = told;
		nanoseconds =
		    older.timerResolution == told || !are_reciprocal(older.timerResolution, told);
	}
	if (told == 0 || now.kernelTimestampValidBits - 1 > 63 || now.timestampValidBits - 1 > 63)
		return tare_time_fail(
		    error, EINVAL,
		    "the driver says that the timer has a rate of %llu and counters of %u "
		    "and %u bits, and no time can be told by it",
		    (unsigned long long)told, now.kernelTimestampValidBits, now.timestampValidBits);
	snprintf(list->device_name, sizeof list->device_name, "%.*s", TARE_TIME_DEVICE - 1,
	         now.name);
	list->kernel = rate_of(told, nanoseconds, now.kernelTimestampValidBits);
	list->global = rate_of(told, nanoseconds, now.timestampValidBits);
	return 0;
}

static int make_events(struct list *list, struct tare_time_error *error)
{
	ze_host_mem_alloc_desc_t memory = { .stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC };
	ze_event_pool_desc_t pool = { .stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
		                      .flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE,
		                      .count = list->spans };
	const char *call = "zeMemAllocHost";
	ze_result_t result = list->ze.zeMemAllocHost(
	    list->context, &memory, list->spans * sizeof *list->ticks, 64, (void **)&list->ticks);

	if (result == ZE_RESULT_SUCCESS) {
		call = "zeEventPoolCreate";
		result =
		    list->ze.zeEventPoolCreate(list->context, &pool, 1, &list->device, &list->pool);
	}
	for (uint32_t i = 0; i < list->spans && result == ZE_RESULT_SUCCESS; i++) {
		ze_event_desc_t event = { .stype = ZE_STRUCTURE_TYPE_EVENT_DESC,
			                  .index = i,
			                  .signal = ZE_EVENT_SCOPE_FLAG_HOST,
			                  .wait = ZE_EVENT_SCOPE_FLAG_HOST };
		call = "zeEventCreate";
		result = list->ze.zeEventCreate(list->pool, &event, &list->ends[i]);
	}
	return result == ZE_RESULT_SUCCESS
	           ? 0
	           : tare_time_fail_native(error, EIO, call, (long)result,
	                                   "Level Zero gives no events or memory");
}

static int open_list(struct list *list, struct tare_timer **timer, struct tare_time_error *error)
{
	int status = tare_time_find("libze_loader.so.1", "libze_loader.so", symbols,
	                            sizeof symbols / sizeof *symbols, &list->ze, error);

	if (status < 0) {
		free(list);
		return status;
	}
	status = ask_device(list, error);
	status = status ?: make_events(list, error);
	if (status == 0)
		status = tare_time_make(timer, list->immediate ? &immediate : &regular, list,
		                        list->spans, error);
	if (status < 0)
		levelzero_close(list);
	return status;
}

int tare_time_open_levelzero(struct tare_timer **timer, void *context, void *device, void *native,
                             enum tare_time_list kind, const struct tare_time_options *options,
                             struct tare_time_error *error)
{
	struct list *list;
	uint32_t spans;
	int status = tare_time_start(timer, options, false, &spans, error);

	if (status < 0)
		return status;
	if (!context || !device || !native)
		return tare_time_fail(error, EINVAL, "the context, the device or the list is NULL");
	if (kind != TARE_TIME_REGULAR && kind != TARE_TIME_IMMEDIATE)
		return tare_time_fail(error, EINVAL, "a list is regular or immediate");
	status = tare_time_check_handle(context, "context", error);
	status = status ?: tare_time_check_handle(device, "device", error);
	status = status ?: tare_time_check_handle(native, "command list", error);
	if (status < 0)
		return status;
	list = calloc(1, sizeof *list + spans * sizeof *list->ends);
	if (!list)
		return tare_time_fail(error, ENOMEM, "out of memory");
	list->context = context;
	list->device = device;
	list->native = native;
	list->immediate = kind == TARE_TIME_IMMEDIATE;
	list->spans = spans;
	return open_list(list, timer, error);
}

#else // built without Level Zero's headers
int tare_time_open_levelzero(struct tare_timer **timer, void *context, void *device, void *native,
                             enum tare_time_list kind, const struct tare_time_options *options,
                             struct tare_time_error *error)
{
	uint32_t spans;
	int status = tare_time_start(timer, options, false, &spans, error);

	(void)context, (void)device, (void)native, (void)kind;
	return status < 0 ? status
	                  : tare_time_fail(error, ENOSYS,
	                                   "libtare was built without Level Zero's headers");
}
#endif
