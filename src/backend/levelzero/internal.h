// SPDX-License-Identifier: Apache-2.0
// What the files of the Level Zero backend share. Nothing else includes this.
#pragma once
#include "backend/backend.h"
#include "backend/levelzero/newer.h"
#include "base/library.h"

#include <level_zero/ze_api.h>
#include <level_zero/zet_api.h>

#define LEVELZERO_MAX_DEVICES 64

// required(name), optional(name): the types come from the headers.
// One function a line.
// clang-format off
#define LEVELZERO_FUNCTIONS(required, optional) \
	required(zeInit) \
	required(zeDriverGet) \
	required(zeDriverGetApiVersion) \
	required(zeDriverGetProperties) \
	required(zeDeviceGet) \
	required(zeDeviceGetProperties) \
	required(zeDeviceGetComputeProperties) \
	required(zeDeviceGetModuleProperties) \
	required(zeDeviceGetCommandQueueGroupProperties) \
	required(zeDeviceGetMemoryProperties) \
	required(zeDeviceGetCacheProperties) \
	optional(zeDeviceGetGlobalTimestamps) \
	optional(zeCommandListAppendWriteGlobalTimestamp) \
	optional(zeDevicePciGetPropertiesExt) \
	optional(zeDriverGetExtensionProperties) \
	optional(zeDeviceGetSubDevices) \
	optional(zeDeviceGetMemoryAccessProperties) \
	optional(zeModuleCreate) \
	optional(zeModuleDestroy) \
	optional(zeModuleBuildLogGetString) \
	optional(zeModuleBuildLogDestroy) \
	optional(zeModuleGetKernelNames) \
	optional(zeKernelCreate) \
	optional(zeKernelDestroy) \
	optional(zeKernelGetProperties) \
	optional(zeFenceCreate) \
	optional(zeFenceReset) \
	optional(zeFenceHostSynchronize) \
	optional(zeFenceDestroy) \
	optional(zeDeviceGetImageProperties) \
	optional(zeImageCreate) \
	optional(zeImageDestroy) \
	optional(zeCommandListAppendImageCopyFromMemory) \
	optional(zeCommandListAppendImageCopyToMemory) \
	optional(zetMetricGroupGet) \
	optional(zetMetricGroupGetProperties) \
	optional(zetMetricGet) \
	optional(zetMetricGetProperties) \
	optional(zetContextActivateMetricGroups) \
	optional(zetMetricStreamerOpen) \
	optional(zetMetricStreamerClose) \
	optional(zetMetricStreamerReadData) \
	optional(zetMetricGroupCalculateMetricValues) \
	LEVELZERO_WORK_FUNCTIONS(optional)
// clang-format on

// What memory and queues need. All are of the first specification: a loader without them is
// refused when the first of them is wanted (levelzero_works).
#define LEVELZERO_WORK_FUNCTIONS(X)                                                                \
	X(zeContextCreate)                                                                         \
	X(zeContextDestroy)                                                                        \
	X(zeMemAllocHost)                                                                          \
	X(zeMemAllocDevice)                                                                        \
	X(zeMemAllocShared)                                                                        \
	X(zeMemFree)                                                                               \
	X(zeCommandQueueCreate)                                                                    \
	X(zeCommandQueueDestroy)                                                                   \
	X(zeCommandQueueExecuteCommandLists)                                                       \
	X(zeCommandQueueSynchronize)                                                               \
	X(zeCommandListCreate)                                                                     \
	X(zeCommandListCreateImmediate)                                                            \
	X(zeCommandListDestroy)                                                                    \
	X(zeCommandListClose)                                                                      \
	X(zeCommandListReset)                                                                      \
	X(zeCommandListAppendBarrier)                                                              \
	X(zeCommandListAppendSignalEvent)                                                          \
	X(zeCommandListAppendEventReset)                                                           \
	X(zeCommandListAppendMemoryCopy)                                                           \
	X(zeCommandListAppendMemoryCopyRegion)                                                     \
	X(zeCommandListAppendMemoryFill)                                                           \
	X(zeCommandListAppendMemoryPrefetch)                                                       \
	X(zeCommandListAppendMemAdvise)                                                            \
	X(zeCommandListAppendLaunchKernel)                                                         \
	X(zeKernelSetArgumentValue)                                                                \
	X(zeKernelSetGroupSize)                                                                    \
	X(zeEventPoolCreate)                                                                       \
	X(zeEventPoolDestroy)                                                                      \
	X(zeEventCreate)                                                                           \
	X(zeEventDestroy)                                                                          \
	X(zeEventHostSignal)                                                                       \
	X(zeEventHostSynchronize)                                                                  \
	X(zeEventQueryStatus)                                                                      \
	X(zeEventHostReset)                                                                        \
	X(zeEventQueryKernelTimestamp)

// newer(name, type): what Debian 12's headers do not declare; see newer.h.
#define LEVELZERO_NEWER_FUNCTIONS(X)                                                               \
	X(zeCommandListHostSynchronize, levelzero_list_host_synchronize)                           \
	X(zeCommandListAppendHostFunction, levelzero_append_host_function)

struct levelzero_functions {
#define X(name) __typeof__(&name) name;
	LEVELZERO_FUNCTIONS(X, X)
#undef X
#define X(name, type) type *name;
	LEVELZERO_NEWER_FUNCTIONS(X)
#undef X
};

struct levelzero_place {
	ze_driver_handle_t driver;
	ze_device_handle_t device;
	ze_api_version_t version;
};

struct levelzero_driver {
	struct tare_driver base;
	struct levelzero_functions call;
	struct tare_library *library;
	struct levelzero_place places[LEVELZERO_MAX_DEVICES]; // the devices of all drivers
	uint32_t count;
	// One for all devices of a driver, so that they can reach each other's memory; at the place
	// of the driver's first device.
	ze_context_handle_t contexts[LEVELZERO_MAX_DEVICES];
	int64_t longest_wait_ns; // TARE_LEVELZERO_LIMIT_MS, for tests; 0: each wait's own limit
};

struct levelzero_work; // work.h

struct levelzero_device {
	struct tare_device base;
	struct levelzero_driver *driver;
	struct levelzero_place place;
	ze_context_handle_t context;     // the driver's; NULL where it has none
	struct levelzero_work *work;     // its queues and events; NULL until they are first wanted
	struct tare_clock_rate rates[2]; // by enum tare_clock
};

int levelzero_library_open(struct levelzero_driver *driver, struct tare_error *error);
// Fills in the error of a call that failed.
int levelzero_fail(ze_result_t result, const char *call, struct tare_error *error,
                   const char *format, ...) __attribute__((format(printf, 4, 5)));

// The device's properties with its timer in cycles a second.
int levelzero_properties(const struct levelzero_driver *driver, const struct levelzero_place *place,
                         ze_device_properties_t *properties, struct tare_error *error);
// Rates of both counters; -EINVAL when the driver tells nothing that a counter could be.
int levelzero_rates(const struct levelzero_driver *driver, const struct levelzero_place *place,
                    const ze_device_properties_t *properties, struct tare_clock_rate rates[2],
                    struct tare_error *error);
int levelzero_counters(struct tare_driver *driver, uint32_t index,
                       const struct tare_counter_visitor *visitor, struct tare_error *error);
extern const struct tare_sampler levelzero_sampler;
int levelzero_facts(struct tare_driver *driver, uint32_t index, struct tare_facts *facts,
                    struct tare_error *error);
// Groups whose queues are engines to us.
#define LEVELZERO_GROUP_FLAGS                                                                      \
	(ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE | ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY)
int levelzero_engines_of(const struct levelzero_driver *driver, const struct levelzero_place *place,
                         struct tare_engine *engines, uint32_t capacity, struct tare_error *error);
