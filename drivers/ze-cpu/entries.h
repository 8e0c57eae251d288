// SPDX-License-Identifier: Apache-2.0
// The core entry points by table, in the order of the tables: X(table, member, function). What is
// newer than Debian's headers is in tables.c.
#pragma once
#include <level_zero/ze_ddi.h>

#define CPU_GLOBAL(X) \
	X(global, pfnInit, zeInit)

#define CPU_DRIVER(X) \
	X(driver, pfnGet, zeDriverGet) \
	X(driver, pfnGetApiVersion, zeDriverGetApiVersion) \
	X(driver, pfnGetProperties, zeDriverGetProperties) \
	X(driver, pfnGetIpcProperties, zeDriverGetIpcProperties) \
	X(driver, pfnGetExtensionProperties, zeDriverGetExtensionProperties) \
	X(driver, pfnGetExtensionFunctionAddress, zeDriverGetExtensionFunctionAddress)

#define CPU_DEVICE(X) \
	X(device, pfnGet, zeDeviceGet) \
	X(device, pfnGetSubDevices, zeDeviceGetSubDevices) \
	X(device, pfnGetProperties, zeDeviceGetProperties) \
	X(device, pfnGetComputeProperties, zeDeviceGetComputeProperties) \
	X(device, pfnGetModuleProperties, zeDeviceGetModuleProperties) \
	X(device, pfnGetCommandQueueGroupProperties, zeDeviceGetCommandQueueGroupProperties) \
	X(device, pfnGetMemoryProperties, zeDeviceGetMemoryProperties) \
	X(device, pfnGetMemoryAccessProperties, zeDeviceGetMemoryAccessProperties) \
	X(device, pfnGetCacheProperties, zeDeviceGetCacheProperties) \
	X(device, pfnGetImageProperties, zeDeviceGetImageProperties) \
	X(device, pfnGetExternalMemoryProperties, zeDeviceGetExternalMemoryProperties) \
	X(device, pfnGetP2PProperties, zeDeviceGetP2PProperties) \
	X(device, pfnCanAccessPeer, zeDeviceCanAccessPeer) \
	X(device, pfnGetStatus, zeDeviceGetStatus) \
	X(device, pfnGetGlobalTimestamps, zeDeviceGetGlobalTimestamps) \
	X(device, pfnReserveCacheExt, zeDeviceReserveCacheExt) \
	X(device, pfnSetCacheAdviceExt, zeDeviceSetCacheAdviceExt) \
	X(device, pfnPciGetPropertiesExt, zeDevicePciGetPropertiesExt)

#define CPU_DEVICE_EXP(X) \
	X(device_exp, pfnGetFabricVertexExp, zeDeviceGetFabricVertexExp)

#define CPU_CONTEXT(X) \
	X(context, pfnCreate, zeContextCreate) \
	X(context, pfnDestroy, zeContextDestroy) \
	X(context, pfnGetStatus, zeContextGetStatus) \
	X(context, pfnSystemBarrier, zeContextSystemBarrier) \
	X(context, pfnMakeMemoryResident, zeContextMakeMemoryResident) \
	X(context, pfnEvictMemory, zeContextEvictMemory) \
	X(context, pfnMakeImageResident, zeContextMakeImageResident) \
	X(context, pfnEvictImage, zeContextEvictImage) \
	X(context, pfnCreateEx, zeContextCreateEx)

#define CPU_COMMAND_QUEUE(X) \
	X(command_queue, pfnCreate, zeCommandQueueCreate) \
	X(command_queue, pfnDestroy, zeCommandQueueDestroy) \
	X(command_queue, pfnExecuteCommandLists, zeCommandQueueExecuteCommandLists) \
	X(command_queue, pfnSynchronize, zeCommandQueueSynchronize)

#define CPU_COMMAND_LIST(X) \
	X(command_list, pfnCreate, zeCommandListCreate) \
	X(command_list, pfnCreateImmediate, zeCommandListCreateImmediate) \
	X(command_list, pfnDestroy, zeCommandListDestroy) \
	X(command_list, pfnClose, zeCommandListClose) \
	X(command_list, pfnReset, zeCommandListReset) \
	X(command_list, pfnAppendWriteGlobalTimestamp, zeCommandListAppendWriteGlobalTimestamp) \
	X(command_list, pfnAppendBarrier, zeCommandListAppendBarrier) \
	X(command_list, pfnAppendMemoryRangesBarrier, zeCommandListAppendMemoryRangesBarrier) \
	X(command_list, pfnAppendMemoryCopy, zeCommandListAppendMemoryCopy) \
	X(command_list, pfnAppendMemoryFill, zeCommandListAppendMemoryFill) \
	X(command_list, pfnAppendMemoryCopyRegion, zeCommandListAppendMemoryCopyRegion) \
	X(command_list, pfnAppendMemoryCopyFromContext, zeCommandListAppendMemoryCopyFromContext) \
	X(command_list, pfnAppendImageCopy, zeCommandListAppendImageCopy) \
	X(command_list, pfnAppendImageCopyRegion, zeCommandListAppendImageCopyRegion) \
	X(command_list, pfnAppendImageCopyToMemory, zeCommandListAppendImageCopyToMemory) \
	X(command_list, pfnAppendImageCopyFromMemory, zeCommandListAppendImageCopyFromMemory) \
	X(command_list, pfnAppendMemoryPrefetch, zeCommandListAppendMemoryPrefetch) \
	X(command_list, pfnAppendMemAdvise, zeCommandListAppendMemAdvise) \
	X(command_list, pfnAppendSignalEvent, zeCommandListAppendSignalEvent) \
	X(command_list, pfnAppendWaitOnEvents, zeCommandListAppendWaitOnEvents) \
	X(command_list, pfnAppendEventReset, zeCommandListAppendEventReset) \
	X(command_list, pfnAppendQueryKernelTimestamps, zeCommandListAppendQueryKernelTimestamps) \
	X(command_list, pfnAppendLaunchKernel, zeCommandListAppendLaunchKernel) \
	X(command_list, pfnAppendLaunchCooperativeKernel, zeCommandListAppendLaunchCooperativeKernel) \
	X(command_list, pfnAppendLaunchKernelIndirect, zeCommandListAppendLaunchKernelIndirect) \
	X(command_list, pfnAppendLaunchMultipleKernelsIndirect, zeCommandListAppendLaunchMultipleKernelsIndirect) \
	X(command_list, pfnAppendImageCopyToMemoryExt, zeCommandListAppendImageCopyToMemoryExt) \
	X(command_list, pfnAppendImageCopyFromMemoryExt, zeCommandListAppendImageCopyFromMemoryExt)

#define CPU_IMAGE(X) \
	X(image, pfnGetProperties, zeImageGetProperties) \
	X(image, pfnCreate, zeImageCreate) \
	X(image, pfnDestroy, zeImageDestroy) \
	X(image, pfnGetAllocPropertiesExt, zeImageGetAllocPropertiesExt)

#define CPU_IMAGE_EXP(X) \
	X(image_exp, pfnGetMemoryPropertiesExp, zeImageGetMemoryPropertiesExp) \
	X(image_exp, pfnViewCreateExp, zeImageViewCreateExp)

#define CPU_FENCE(X) \
	X(fence, pfnCreate, zeFenceCreate) \
	X(fence, pfnDestroy, zeFenceDestroy) \
	X(fence, pfnHostSynchronize, zeFenceHostSynchronize) \
	X(fence, pfnQueryStatus, zeFenceQueryStatus) \
	X(fence, pfnReset, zeFenceReset)

#define CPU_EVENT_POOL(X) \
	X(event_pool, pfnCreate, zeEventPoolCreate) \
	X(event_pool, pfnDestroy, zeEventPoolDestroy) \
	X(event_pool, pfnGetIpcHandle, zeEventPoolGetIpcHandle) \
	X(event_pool, pfnOpenIpcHandle, zeEventPoolOpenIpcHandle) \
	X(event_pool, pfnCloseIpcHandle, zeEventPoolCloseIpcHandle)

#define CPU_EVENT(X) \
	X(event, pfnCreate, zeEventCreate) \
	X(event, pfnDestroy, zeEventDestroy) \
	X(event, pfnHostSignal, zeEventHostSignal) \
	X(event, pfnHostSynchronize, zeEventHostSynchronize) \
	X(event, pfnQueryStatus, zeEventQueryStatus) \
	X(event, pfnHostReset, zeEventHostReset) \
	X(event, pfnQueryKernelTimestamp, zeEventQueryKernelTimestamp)

#define CPU_EVENT_EXP(X) \
	X(event_exp, pfnQueryTimestampsExp, zeEventQueryTimestampsExp)

#define CPU_MODULE(X) \
	X(module, pfnCreate, zeModuleCreate) \
	X(module, pfnDestroy, zeModuleDestroy) \
	X(module, pfnDynamicLink, zeModuleDynamicLink) \
	X(module, pfnGetNativeBinary, zeModuleGetNativeBinary) \
	X(module, pfnGetGlobalPointer, zeModuleGetGlobalPointer) \
	X(module, pfnGetKernelNames, zeModuleGetKernelNames) \
	X(module, pfnGetProperties, zeModuleGetProperties) \
	X(module, pfnGetFunctionPointer, zeModuleGetFunctionPointer) \
	X(module, pfnInspectLinkageExt, zeModuleInspectLinkageExt)

#define CPU_MODULE_BUILD_LOG(X) \
	X(module_build_log, pfnDestroy, zeModuleBuildLogDestroy) \
	X(module_build_log, pfnGetString, zeModuleBuildLogGetString)

#define CPU_KERNEL(X) \
	X(kernel, pfnCreate, zeKernelCreate) \
	X(kernel, pfnDestroy, zeKernelDestroy) \
	X(kernel, pfnSetCacheConfig, zeKernelSetCacheConfig) \
	X(kernel, pfnSetGroupSize, zeKernelSetGroupSize) \
	X(kernel, pfnSuggestGroupSize, zeKernelSuggestGroupSize) \
	X(kernel, pfnSuggestMaxCooperativeGroupCount, zeKernelSuggestMaxCooperativeGroupCount) \
	X(kernel, pfnSetArgumentValue, zeKernelSetArgumentValue) \
	X(kernel, pfnSetIndirectAccess, zeKernelSetIndirectAccess) \
	X(kernel, pfnGetIndirectAccess, zeKernelGetIndirectAccess) \
	X(kernel, pfnGetSourceAttributes, zeKernelGetSourceAttributes) \
	X(kernel, pfnGetProperties, zeKernelGetProperties) \
	X(kernel, pfnGetName, zeKernelGetName)

#define CPU_KERNEL_EXP(X) \
	X(kernel_exp, pfnSetGlobalOffsetExp, zeKernelSetGlobalOffsetExp) \
	X(kernel_exp, pfnSchedulingHintExp, zeKernelSchedulingHintExp)

#define CPU_SAMPLER(X) \
	X(sampler, pfnCreate, zeSamplerCreate) \
	X(sampler, pfnDestroy, zeSamplerDestroy)

#define CPU_PHYSICAL_MEM(X) \
	X(physical_mem, pfnCreate, zePhysicalMemCreate) \
	X(physical_mem, pfnDestroy, zePhysicalMemDestroy)

#define CPU_MEM(X) \
	X(mem, pfnAllocShared, zeMemAllocShared) \
	X(mem, pfnAllocDevice, zeMemAllocDevice) \
	X(mem, pfnAllocHost, zeMemAllocHost) \
	X(mem, pfnFree, zeMemFree) \
	X(mem, pfnGetAllocProperties, zeMemGetAllocProperties) \
	X(mem, pfnGetAddressRange, zeMemGetAddressRange) \
	X(mem, pfnGetIpcHandle, zeMemGetIpcHandle) \
	X(mem, pfnOpenIpcHandle, zeMemOpenIpcHandle) \
	X(mem, pfnCloseIpcHandle, zeMemCloseIpcHandle) \
	X(mem, pfnFreeExt, zeMemFreeExt)

#define CPU_VIRTUAL_MEM(X) \
	X(virtual_mem, pfnReserve, zeVirtualMemReserve) \
	X(virtual_mem, pfnFree, zeVirtualMemFree) \
	X(virtual_mem, pfnQueryPageSize, zeVirtualMemQueryPageSize) \
	X(virtual_mem, pfnMap, zeVirtualMemMap) \
	X(virtual_mem, pfnUnmap, zeVirtualMemUnmap) \
	X(virtual_mem, pfnSetAccessAttribute, zeVirtualMemSetAccessAttribute) \
	X(virtual_mem, pfnGetAccessAttribute, zeVirtualMemGetAccessAttribute)

#define CPU_FABRIC_VERTEX_EXP(X) \
	X(fabric_vertex_exp, pfnGetExp, zeFabricVertexGetExp) \
	X(fabric_vertex_exp, pfnGetSubVerticesExp, zeFabricVertexGetSubVerticesExp) \
	X(fabric_vertex_exp, pfnGetPropertiesExp, zeFabricVertexGetPropertiesExp) \
	X(fabric_vertex_exp, pfnGetDeviceExp, zeFabricVertexGetDeviceExp)

#define CPU_FABRIC_EDGE_EXP(X) \
	X(fabric_edge_exp, pfnGetExp, zeFabricEdgeGetExp) \
	X(fabric_edge_exp, pfnGetVerticesExp, zeFabricEdgeGetVerticesExp) \
	X(fabric_edge_exp, pfnGetPropertiesExp, zeFabricEdgeGetPropertiesExp)

#define CPU_ENTRIES(X) \
	CPU_GLOBAL(X) \
	CPU_DRIVER(X) \
	CPU_DEVICE(X) \
	CPU_DEVICE_EXP(X) \
	CPU_CONTEXT(X) \
	CPU_COMMAND_QUEUE(X) \
	CPU_COMMAND_LIST(X) \
	CPU_IMAGE(X) \
	CPU_IMAGE_EXP(X) \
	CPU_FENCE(X) \
	CPU_EVENT_POOL(X) \
	CPU_EVENT(X) \
	CPU_EVENT_EXP(X) \
	CPU_MODULE(X) \
	CPU_MODULE_BUILD_LOG(X) \
	CPU_KERNEL(X) \
	CPU_KERNEL_EXP(X) \
	CPU_SAMPLER(X) \
	CPU_PHYSICAL_MEM(X) \
	CPU_MEM(X) \
	CPU_VIRTUAL_MEM(X) \
	CPU_FABRIC_VERTEX_EXP(X) \
	CPU_FABRIC_EDGE_EXP(X)

// Weak: an entry that no file defines is NULL.
#define X(table, member, function) \
	extern __typeof__(function) cpu_##function __attribute__((weak, visibility("hidden")));
CPU_ENTRIES(X)
#undef X
