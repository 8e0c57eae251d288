// SPDX-License-Identifier: Apache-2.0
// The core entry points by table, in the order of the tables: X(table, member, since, function).
// `since` is N of the specification 1.N whose tables first have the member.
#pragma once
#include <level_zero/ze_ddi.h>

#define CPU_GLOBAL(X) X(global, pfnInit, 0, zeInit)

#define CPU_DRIVER(X)                                                                              \
	X(driver, pfnGet, 0, zeDriverGet)                                                          \
	X(driver, pfnGetApiVersion, 0, zeDriverGetApiVersion)                                      \
	X(driver, pfnGetProperties, 0, zeDriverGetProperties)                                      \
	X(driver, pfnGetIpcProperties, 0, zeDriverGetIpcProperties)                                \
	X(driver, pfnGetExtensionProperties, 0, zeDriverGetExtensionProperties)                    \
	X(driver, pfnGetExtensionFunctionAddress, 1, zeDriverGetExtensionFunctionAddress)

#define CPU_DEVICE(X)                                                                              \
	X(device, pfnGet, 0, zeDeviceGet)                                                          \
	X(device, pfnGetSubDevices, 0, zeDeviceGetSubDevices)                                      \
	X(device, pfnGetProperties, 0, zeDeviceGetProperties)                                      \
	X(device, pfnGetComputeProperties, 0, zeDeviceGetComputeProperties)                        \
	X(device, pfnGetModuleProperties, 0, zeDeviceGetModuleProperties)                          \
	X(device, pfnGetCommandQueueGroupProperties, 0, zeDeviceGetCommandQueueGroupProperties)    \
	X(device, pfnGetMemoryProperties, 0, zeDeviceGetMemoryProperties)                          \
	X(device, pfnGetMemoryAccessProperties, 0, zeDeviceGetMemoryAccessProperties)              \
	X(device, pfnGetCacheProperties, 0, zeDeviceGetCacheProperties)                            \
	X(device, pfnGetImageProperties, 0, zeDeviceGetImageProperties)                            \
	X(device, pfnGetExternalMemoryProperties, 0, zeDeviceGetExternalMemoryProperties)          \
	X(device, pfnGetP2PProperties, 0, zeDeviceGetP2PProperties)                                \
	X(device, pfnCanAccessPeer, 0, zeDeviceCanAccessPeer)                                      \
	X(device, pfnGetStatus, 0, zeDeviceGetStatus)                                              \
	X(device, pfnGetGlobalTimestamps, 1, zeDeviceGetGlobalTimestamps)                          \
	X(device, pfnReserveCacheExt, 2, zeDeviceReserveCacheExt)                                  \
	X(device, pfnSetCacheAdviceExt, 2, zeDeviceSetCacheAdviceExt)                              \
	X(device, pfnPciGetPropertiesExt, 3, zeDevicePciGetPropertiesExt)

#define CPU_DEVICE_EXP(X) X(device_exp, pfnGetFabricVertexExp, 4, zeDeviceGetFabricVertexExp)

#define CPU_CONTEXT(X)                                                                             \
	X(context, pfnCreate, 0, zeContextCreate)                                                  \
	X(context, pfnDestroy, 0, zeContextDestroy)                                                \
	X(context, pfnGetStatus, 0, zeContextGetStatus)                                            \
	X(context, pfnSystemBarrier, 0, zeContextSystemBarrier)                                    \
	X(context, pfnMakeMemoryResident, 0, zeContextMakeMemoryResident)                          \
	X(context, pfnEvictMemory, 0, zeContextEvictMemory)                                        \
	X(context, pfnMakeImageResident, 0, zeContextMakeImageResident)                            \
	X(context, pfnEvictImage, 0, zeContextEvictImage)                                          \
	X(context, pfnCreateEx, 1, zeContextCreateEx)

#define CPU_COMMAND_QUEUE(X)                                                                       \
	X(command_queue, pfnCreate, 0, zeCommandQueueCreate)                                       \
	X(command_queue, pfnDestroy, 0, zeCommandQueueDestroy)                                     \
	X(command_queue, pfnExecuteCommandLists, 0, zeCommandQueueExecuteCommandLists)             \
	X(command_queue, pfnSynchronize, 0, zeCommandQueueSynchronize)

#define CPU_COMMAND_LIST(X)                                                                        \
	X(command_list, pfnCreate, 0, zeCommandListCreate)                                         \
	X(command_list, pfnCreateImmediate, 0, zeCommandListCreateImmediate)                       \
	X(command_list, pfnDestroy, 0, zeCommandListDestroy)                                       \
	X(command_list, pfnClose, 0, zeCommandListClose)                                           \
	X(command_list, pfnReset, 0, zeCommandListReset)                                           \
	X(command_list, pfnAppendWriteGlobalTimestamp, 0, zeCommandListAppendWriteGlobalTimestamp) \
	X(command_list, pfnAppendBarrier, 0, zeCommandListAppendBarrier)                           \
	X(command_list, pfnAppendMemoryRangesBarrier, 0, zeCommandListAppendMemoryRangesBarrier)   \
	X(command_list, pfnAppendMemoryCopy, 0, zeCommandListAppendMemoryCopy)                     \
	X(command_list, pfnAppendMemoryFill, 0, zeCommandListAppendMemoryFill)                     \
	X(command_list, pfnAppendMemoryCopyRegion, 0, zeCommandListAppendMemoryCopyRegion)         \
	X(command_list, pfnAppendMemoryCopyFromContext, 0,                                         \
	  zeCommandListAppendMemoryCopyFromContext)                                                \
	X(command_list, pfnAppendImageCopy, 0, zeCommandListAppendImageCopy)                       \
	X(command_list, pfnAppendImageCopyRegion, 0, zeCommandListAppendImageCopyRegion)           \
	X(command_list, pfnAppendImageCopyToMemory, 0, zeCommandListAppendImageCopyToMemory)       \
	X(command_list, pfnAppendImageCopyFromMemory, 0, zeCommandListAppendImageCopyFromMemory)   \
	X(command_list, pfnAppendMemoryPrefetch, 0, zeCommandListAppendMemoryPrefetch)             \
	X(command_list, pfnAppendMemAdvise, 0, zeCommandListAppendMemAdvise)                       \
	X(command_list, pfnAppendSignalEvent, 0, zeCommandListAppendSignalEvent)                   \
	X(command_list, pfnAppendWaitOnEvents, 0, zeCommandListAppendWaitOnEvents)                 \
	X(command_list, pfnAppendEventReset, 0, zeCommandListAppendEventReset)                     \
	X(command_list, pfnAppendQueryKernelTimestamps, 0,                                         \
	  zeCommandListAppendQueryKernelTimestamps)                                                \
	X(command_list, pfnAppendLaunchKernel, 0, zeCommandListAppendLaunchKernel)                 \
	X(command_list, pfnAppendLaunchCooperativeKernel, 0,                                       \
	  zeCommandListAppendLaunchCooperativeKernel)                                              \
	X(command_list, pfnAppendLaunchKernelIndirect, 0, zeCommandListAppendLaunchKernelIndirect) \
	X(command_list, pfnAppendLaunchMultipleKernelsIndirect, 0,                                 \
	  zeCommandListAppendLaunchMultipleKernelsIndirect)                                        \
	X(command_list, pfnAppendImageCopyToMemoryExt, 3, zeCommandListAppendImageCopyToMemoryExt) \
	X(command_list, pfnAppendImageCopyFromMemoryExt, 3,                                        \
	  zeCommandListAppendImageCopyFromMemoryExt)

#define CPU_IMAGE(X)                                                                               \
	X(image, pfnGetProperties, 0, zeImageGetProperties)                                        \
	X(image, pfnCreate, 0, zeImageCreate)                                                      \
	X(image, pfnDestroy, 0, zeImageDestroy)                                                    \
	X(image, pfnGetAllocPropertiesExt, 3, zeImageGetAllocPropertiesExt)

#define CPU_IMAGE_EXP(X)                                                                           \
	X(image_exp, pfnGetMemoryPropertiesExp, 2, zeImageGetMemoryPropertiesExp)                  \
	X(image_exp, pfnViewCreateExp, 2, zeImageViewCreateExp)

#define CPU_FENCE(X)                                                                               \
	X(fence, pfnCreate, 0, zeFenceCreate)                                                      \
	X(fence, pfnDestroy, 0, zeFenceDestroy)                                                    \
	X(fence, pfnHostSynchronize, 0, zeFenceHostSynchronize)                                    \
	X(fence, pfnQueryStatus, 0, zeFenceQueryStatus)                                            \
	X(fence, pfnReset, 0, zeFenceReset)

#define CPU_EVENT_POOL(X)                                                                          \
	X(event_pool, pfnCreate, 0, zeEventPoolCreate)                                             \
	X(event_pool, pfnDestroy, 0, zeEventPoolDestroy)                                           \
	X(event_pool, pfnGetIpcHandle, 0, zeEventPoolGetIpcHandle)                                 \
	X(event_pool, pfnOpenIpcHandle, 0, zeEventPoolOpenIpcHandle)                               \
	X(event_pool, pfnCloseIpcHandle, 0, zeEventPoolCloseIpcHandle)

#define CPU_EVENT(X)                                                                               \
	X(event, pfnCreate, 0, zeEventCreate)                                                      \
	X(event, pfnDestroy, 0, zeEventDestroy)                                                    \
	X(event, pfnHostSignal, 0, zeEventHostSignal)                                              \
	X(event, pfnHostSynchronize, 0, zeEventHostSynchronize)                                    \
	X(event, pfnQueryStatus, 0, zeEventQueryStatus)                                            \
	X(event, pfnHostReset, 0, zeEventHostReset)                                                \
	X(event, pfnQueryKernelTimestamp, 0, zeEventQueryKernelTimestamp)

#define CPU_EVENT_EXP(X) X(event_exp, pfnQueryTimestampsExp, 2, zeEventQueryTimestampsExp)

#define CPU_MODULE(X)                                                                              \
	X(module, pfnCreate, 0, zeModuleCreate)                                                    \
	X(module, pfnDestroy, 0, zeModuleDestroy)                                                  \
	X(module, pfnDynamicLink, 0, zeModuleDynamicLink)                                          \
	X(module, pfnGetNativeBinary, 0, zeModuleGetNativeBinary)                                  \
	X(module, pfnGetGlobalPointer, 0, zeModuleGetGlobalPointer)                                \
	X(module, pfnGetKernelNames, 0, zeModuleGetKernelNames)                                    \
	X(module, pfnGetProperties, 0, zeModuleGetProperties)                                      \
	X(module, pfnGetFunctionPointer, 0, zeModuleGetFunctionPointer)                            \
	X(module, pfnInspectLinkageExt, 3, zeModuleInspectLinkageExt)

#define CPU_MODULE_BUILD_LOG(X)                                                                    \
	X(module_build_log, pfnDestroy, 0, zeModuleBuildLogDestroy)                                \
	X(module_build_log, pfnGetString, 0, zeModuleBuildLogGetString)

#define CPU_KERNEL(X)                                                                              \
	X(kernel, pfnCreate, 0, zeKernelCreate)                                                    \
	X(kernel, pfnDestroy, 0, zeKernelDestroy)                                                  \
	X(kernel, pfnSetCacheConfig, 0, zeKernelSetCacheConfig)                                    \
	X(kernel, pfnSetGroupSize, 0, zeKernelSetGroupSize)                                        \
	X(kernel, pfnSuggestGroupSize, 0, zeKernelSuggestGroupSize)                                \
	X(kernel, pfnSuggestMaxCooperativeGroupCount, 0, zeKernelSuggestMaxCooperativeGroupCount)  \
	X(kernel, pfnSetArgumentValue, 0, zeKernelSetArgumentValue)                                \
	X(kernel, pfnSetIndirectAccess, 0, zeKernelSetIndirectAccess)                              \
	X(kernel, pfnGetIndirectAccess, 0, zeKernelGetIndirectAccess)                              \
	X(kernel, pfnGetSourceAttributes, 0, zeKernelGetSourceAttributes)                          \
	X(kernel, pfnGetProperties, 0, zeKernelGetProperties)                                      \
	X(kernel, pfnGetName, 0, zeKernelGetName)

#define CPU_KERNEL_EXP(X)                                                                          \
	X(kernel_exp, pfnSetGlobalOffsetExp, 1, zeKernelSetGlobalOffsetExp)                        \
	X(kernel_exp, pfnSchedulingHintExp, 2, zeKernelSchedulingHintExp)

#define CPU_SAMPLER(X)                                                                             \
	X(sampler, pfnCreate, 0, zeSamplerCreate)                                                  \
	X(sampler, pfnDestroy, 0, zeSamplerDestroy)

#define CPU_PHYSICAL_MEM(X)                                                                        \
	X(physical_mem, pfnCreate, 0, zePhysicalMemCreate)                                         \
	X(physical_mem, pfnDestroy, 0, zePhysicalMemDestroy)

#define CPU_MEM(X)                                                                                 \
	X(mem, pfnAllocShared, 0, zeMemAllocShared)                                                \
	X(mem, pfnAllocDevice, 0, zeMemAllocDevice)                                                \
	X(mem, pfnAllocHost, 0, zeMemAllocHost)                                                    \
	X(mem, pfnFree, 0, zeMemFree)                                                              \
	X(mem, pfnGetAllocProperties, 0, zeMemGetAllocProperties)                                  \
	X(mem, pfnGetAddressRange, 0, zeMemGetAddressRange)                                        \
	X(mem, pfnGetIpcHandle, 0, zeMemGetIpcHandle)                                              \
	X(mem, pfnOpenIpcHandle, 0, zeMemOpenIpcHandle)                                            \
	X(mem, pfnCloseIpcHandle, 0, zeMemCloseIpcHandle)                                          \
	X(mem, pfnFreeExt, 3, zeMemFreeExt)

#define CPU_VIRTUAL_MEM(X)                                                                         \
	X(virtual_mem, pfnReserve, 0, zeVirtualMemReserve)                                         \
	X(virtual_mem, pfnFree, 0, zeVirtualMemFree)                                               \
	X(virtual_mem, pfnQueryPageSize, 0, zeVirtualMemQueryPageSize)                             \
	X(virtual_mem, pfnMap, 0, zeVirtualMemMap)                                                 \
	X(virtual_mem, pfnUnmap, 0, zeVirtualMemUnmap)                                             \
	X(virtual_mem, pfnSetAccessAttribute, 0, zeVirtualMemSetAccessAttribute)                   \
	X(virtual_mem, pfnGetAccessAttribute, 0, zeVirtualMemGetAccessAttribute)

#define CPU_FABRIC_VERTEX_EXP(X)                                                                   \
	X(fabric_vertex_exp, pfnGetExp, 4, zeFabricVertexGetExp)                                   \
	X(fabric_vertex_exp, pfnGetSubVerticesExp, 4, zeFabricVertexGetSubVerticesExp)             \
	X(fabric_vertex_exp, pfnGetPropertiesExp, 4, zeFabricVertexGetPropertiesExp)               \
	X(fabric_vertex_exp, pfnGetDeviceExp, 4, zeFabricVertexGetDeviceExp)

#define CPU_FABRIC_EDGE_EXP(X)                                                                     \
	X(fabric_edge_exp, pfnGetExp, 4, zeFabricEdgeGetExp)                                       \
	X(fabric_edge_exp, pfnGetVerticesExp, 4, zeFabricEdgeGetVerticesExp)                       \
	X(fabric_edge_exp, pfnGetPropertiesExp, 4, zeFabricEdgeGetPropertiesExp)

#define CPU_ENTRIES(X)                                                                             \
	CPU_GLOBAL(X)                                                                              \
	CPU_DRIVER(X)                                                                              \
	CPU_DEVICE(X)                                                                              \
	CPU_DEVICE_EXP(X)                                                                          \
	CPU_CONTEXT(X)                                                                             \
	CPU_COMMAND_QUEUE(X)                                                                       \
	CPU_COMMAND_LIST(X)                                                                        \
	CPU_IMAGE(X)                                                                               \
	CPU_IMAGE_EXP(X)                                                                           \
	CPU_FENCE(X)                                                                               \
	CPU_EVENT_POOL(X)                                                                          \
	CPU_EVENT(X)                                                                               \
	CPU_EVENT_EXP(X)                                                                           \
	CPU_MODULE(X)                                                                              \
	CPU_MODULE_BUILD_LOG(X)                                                                    \
	CPU_KERNEL(X)                                                                              \
	CPU_KERNEL_EXP(X)                                                                          \
	CPU_SAMPLER(X)                                                                             \
	CPU_PHYSICAL_MEM(X)                                                                        \
	CPU_MEM(X)                                                                                 \
	CPU_VIRTUAL_MEM(X)                                                                         \
	CPU_FABRIC_VERTEX_EXP(X)                                                                   \
	CPU_FABRIC_EDGE_EXP(X)

// Newer than specification 1.4: N(table, place, since, function). `place` is the member's index in
// the newest tables, which only grow at their ends.
#define CPU_NEWER(N)                                                                               \
	N(global, 1, 10, zeInitDrivers)                                                            \
	N(driver, 6, 6, zeDriverGetLastErrorDescription)                                           \
	N(driver, 8, 14, zeDriverGetDefaultContext)                                                \
	N(device, 18, 7, zeDeviceGetRootDevice)                                                    \
	N(device, 22, 14, zeDeviceSynchronize)                                                     \
	N(command_queue, 4, 9, zeCommandQueueGetOrdinal)                                           \
	N(command_queue, 5, 9, zeCommandQueueGetIndex)                                             \
	N(command_list, 28, 6, zeCommandListHostSynchronize)                                       \
	N(command_list, 29, 9, zeCommandListGetDeviceHandle)                                       \
	N(command_list, 30, 9, zeCommandListGetContextHandle)                                      \
	N(command_list, 31, 9, zeCommandListGetOrdinal)                                            \
	N(command_list, 32, 9, zeCommandListImmediateGetIndex)                                     \
	N(command_list, 33, 9, zeCommandListIsImmediate)                                           \
	N(command_list, 36, 14, zeCommandListAppendLaunchKernelWithParameters)                     \
	N(command_list, 37, 14, zeCommandListAppendLaunchKernelWithArguments)                      \
	N(command_list, 51, 17, zeCommandListAppendHostFunction)                                   \
	N(command_list_exp, 1, 9, zeCommandListImmediateAppendCommandListsExp)                     \
	N(event_pool, 5, 6, zeEventPoolPutIpcHandle)                                               \
	N(event_pool, 6, 9, zeEventPoolGetContextHandle)                                           \
	N(event_pool, 7, 9, zeEventPoolGetFlags)                                                   \
	N(event, 7, 6, zeEventQueryKernelTimestampsExt)                                            \
	N(event, 8, 9, zeEventGetEventPool)                                                        \
	N(event, 9, 9, zeEventGetSignalScope)                                                      \
	N(event, 10, 9, zeEventGetWaitScope)                                                       \
	N(event, 11, 15, zeEventCounterBasedCreate)                                                \
	N(event, 16, 17, zeEventGetCounterBasedFlags)                                              \
	N(mem, 10, 6, zeMemPutIpcHandle)                                                           \
	N(physical_mem, 2, 15, zePhysicalMemGetProperties)

// Of extensions, in no table: zeDriverGetExtensionFunctionAddress gives them.
#define CPU_EXTENSIONS(E) E(zexCounterBasedEventCreate2)

// Weak: an entry that no file defines is NULL.
#define CPU_WEAK __attribute__((weak, visibility("hidden")))
#define X(table, member, since, function) extern __typeof__(function) cpu_##function CPU_WEAK;
CPU_ENTRIES(X)
#undef X

struct levelzero_init_drivers;
ze_result_t cpu_zeInitDrivers(uint32_t *, ze_driver_handle_t *,
                              struct levelzero_init_drivers *) CPU_WEAK;
// The newer ones whose types are old; the others are declared where their types are.
ze_result_t cpu_zeDriverGetLastErrorDescription(ze_driver_handle_t, const char **) CPU_WEAK;
ze_context_handle_t cpu_zeDriverGetDefaultContext(ze_driver_handle_t) CPU_WEAK;
ze_result_t cpu_zeDeviceGetRootDevice(ze_device_handle_t, ze_device_handle_t *) CPU_WEAK;
ze_result_t cpu_zeDeviceSynchronize(ze_device_handle_t) CPU_WEAK;
ze_result_t cpu_zeCommandQueueGetOrdinal(ze_command_queue_handle_t, uint32_t *) CPU_WEAK;
ze_result_t cpu_zeCommandQueueGetIndex(ze_command_queue_handle_t, uint32_t *) CPU_WEAK;
ze_result_t cpu_zeCommandListHostSynchronize(ze_command_list_handle_t, uint64_t) CPU_WEAK;
ze_result_t cpu_zeCommandListGetDeviceHandle(ze_command_list_handle_t,
                                             ze_device_handle_t *) CPU_WEAK;
ze_result_t cpu_zeCommandListGetContextHandle(ze_command_list_handle_t,
                                              ze_context_handle_t *) CPU_WEAK;
ze_result_t cpu_zeCommandListGetOrdinal(ze_command_list_handle_t, uint32_t *) CPU_WEAK;
ze_result_t cpu_zeCommandListImmediateGetIndex(ze_command_list_handle_t, uint32_t *) CPU_WEAK;
ze_result_t cpu_zeCommandListIsImmediate(ze_command_list_handle_t, ze_bool_t *) CPU_WEAK;
ze_result_t cpu_zeCommandListAppendHostFunction(ze_command_list_handle_t, void (*)(void *), void *,
                                                const void *, ze_event_handle_t, uint32_t,
                                                ze_event_handle_t *) CPU_WEAK;
ze_result_t cpu_zeCommandListImmediateAppendCommandListsExp(ze_command_list_handle_t, uint32_t,
                                                            ze_command_list_handle_t *,
                                                            ze_event_handle_t, uint32_t,
                                                            ze_event_handle_t *) CPU_WEAK;
ze_result_t cpu_zeEventPoolPutIpcHandle(ze_context_handle_t, ze_ipc_event_pool_handle_t) CPU_WEAK;
ze_result_t cpu_zeEventPoolGetContextHandle(ze_event_pool_handle_t, ze_context_handle_t *) CPU_WEAK;
ze_result_t cpu_zeEventPoolGetFlags(ze_event_pool_handle_t, ze_event_pool_flags_t *) CPU_WEAK;
ze_result_t cpu_zeEventGetEventPool(ze_event_handle_t, ze_event_pool_handle_t *) CPU_WEAK;
ze_result_t cpu_zeEventGetSignalScope(ze_event_handle_t, ze_event_scope_flags_t *) CPU_WEAK;
ze_result_t cpu_zeEventGetWaitScope(ze_event_handle_t, ze_event_scope_flags_t *) CPU_WEAK;
ze_result_t cpu_zeMemPutIpcHandle(ze_context_handle_t, ze_ipc_mem_handle_t) CPU_WEAK;
