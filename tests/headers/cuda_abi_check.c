// SPDX-License-Identifier: Apache-2.0
// Compares our declarations of the CUDA driver library and of NVML with NVIDIA's own headers, at
// compile time: every function's type, every constant, every structure. Built only where a toolkit
// is installed; without one the test is skipped.
#define __CUDA_API_VERSION_INTERNAL // declares every version by its exported name
#include <cuda.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

// First our own types, unchanged, against the sizes that NVIDIA's have.
#include "backend/cuda/abi.h"
#include "backend/cuda/nvml/nvml_abi.h"
#include "model/telemetry.h"

#define SAME_SIZE(ours, theirs)                                                                    \
	_Static_assert(sizeof(ours) == sizeof(theirs), #ours " and " #theirs " differ in size")
SAME_SIZE(cu_result, CUresult);
SAME_SIZE(cu_device, CUdevice);
SAME_SIZE(cu_attribute, CUdevice_attribute);
SAME_SIZE(cu_function_attribute, CUfunction_attribute);
SAME_SIZE(cu_capture_mode, CUstreamCaptureMode);
SAME_SIZE(cu_jit_option, CUjit_option);
SAME_SIZE(cu_advice, CUmem_advise);
SAME_SIZE(cu_pointer, CUdeviceptr);
SAME_SIZE(cu_context, CUcontext);
SAME_SIZE(cu_stream, CUstream);
SAME_SIZE(cu_event, CUevent);
SAME_SIZE(cu_module, CUmodule);
SAME_SIZE(cu_function, CUfunction);
SAME_SIZE(cu_graph, CUgraph);
SAME_SIZE(cu_graph_exec, CUgraphExec);
SAME_SIZE(cu_host_function, CUhostFn);
SAME_SIZE(cu_u32, cuuint32_t);
SAME_SIZE(cu_uuid, CUuuid);
SAME_SIZE(cu_memcpy3d, CUDA_MEMCPY3D_v2);
SAME_SIZE(cu_array, CUarray);
SAME_SIZE(cu_array3d, CUDA_ARRAY3D_DESCRIPTOR_v2);
#define SAME_MEMBER(ours, theirs)                                                                  \
	_Static_assert(offsetof(cu_array3d, ours) == offsetof(CUDA_ARRAY3D_DESCRIPTOR_v2, theirs), \
	               #ours " is not where " #theirs " is")
SAME_MEMBER(width, Width);
SAME_MEMBER(height, Height);
SAME_MEMBER(depth, Depth);
SAME_MEMBER(format, Format);
SAME_MEMBER(channels, NumChannels);
SAME_MEMBER(flags, Flags);
SAME_SIZE(cu_location, CUmemLocation);
_Static_assert(offsetof(cu_location, type) == offsetof(CUmemLocation, type) &&
                   offsetof(cu_location, id) == offsetof(CUmemLocation, id),
               "a location's members are elsewhere");

#define SAME_PLACE(ours, theirs)                                                                   \
	_Static_assert(offsetof(cu_memcpy3d, ours) == offsetof(CUDA_MEMCPY3D_v2, theirs) &&        \
	                   sizeof((cu_memcpy3d *)0)->ours ==                                       \
	                       sizeof((CUDA_MEMCPY3D_v2 *)0)->theirs,                              \
	               #ours " is not where " #theirs " is")
SAME_PLACE(source_x_bytes, srcXInBytes);
SAME_PLACE(source_y, srcY);
SAME_PLACE(source_z, srcZ);
SAME_PLACE(source_lod, srcLOD);
SAME_PLACE(source_type, srcMemoryType);
SAME_PLACE(source_host, srcHost);
SAME_PLACE(source_device, srcDevice);
SAME_PLACE(source_array, srcArray);
SAME_PLACE(source_pitch, srcPitch);
SAME_PLACE(source_height, srcHeight);
SAME_PLACE(destination_x_bytes, dstXInBytes);
SAME_PLACE(destination_y, dstY);
SAME_PLACE(destination_z, dstZ);
SAME_PLACE(destination_lod, dstLOD);
SAME_PLACE(destination_type, dstMemoryType);
SAME_PLACE(destination_host, dstHost);
SAME_PLACE(destination_device, dstDevice);
SAME_PLACE(destination_array, dstArray);
SAME_PLACE(destination_pitch, dstPitch);
SAME_PLACE(destination_height, dstHeight);
SAME_PLACE(width_bytes, WidthInBytes);
SAME_PLACE(height, Height);
SAME_PLACE(depth, Depth);

#define SAME_VALUE(ours, theirs)                                                                   \
	_Static_assert((long long)(ours) == (long long)(theirs), #ours " is not " #theirs)
#define SAME_ERROR(name) SAME_VALUE(ABI_##name, CUDA_ERROR_##name)
#define SAME_ATTRIBUTE(name) SAME_VALUE(ABI_ATTRIBUTE_##name, CU_DEVICE_ATTRIBUTE_##name)
#define SAME_CONSTANT(name) SAME_VALUE(ABI_##name, CU_##name)
SAME_VALUE(ABI_SUCCESS, CUDA_SUCCESS);
SAME_ERROR(INVALID_VALUE);
SAME_ERROR(OUT_OF_MEMORY);
SAME_ERROR(NOT_INITIALIZED);
SAME_ERROR(STUB_LIBRARY);
SAME_ERROR(DEVICE_UNAVAILABLE);
SAME_ERROR(NO_DEVICE);
SAME_ERROR(INVALID_DEVICE);
SAME_ERROR(INVALID_IMAGE);
SAME_ERROR(INVALID_CONTEXT);
SAME_ERROR(NO_BINARY_FOR_GPU);
SAME_ERROR(ECC_UNCORRECTABLE);
SAME_ERROR(PEER_ACCESS_UNSUPPORTED);
SAME_ERROR(INVALID_PTX);
SAME_ERROR(NVLINK_UNCORRECTABLE);
SAME_ERROR(JIT_COMPILER_NOT_FOUND);
SAME_ERROR(UNSUPPORTED_PTX_VERSION);
SAME_ERROR(JIT_COMPILATION_DISABLED);
#if CUDA_VERSION >= 12080
SAME_ERROR(CONTAINED);
#endif
SAME_ERROR(INVALID_HANDLE);
SAME_ERROR(NOT_FOUND);
SAME_ERROR(NOT_READY);
SAME_ERROR(ILLEGAL_ADDRESS);
SAME_ERROR(LAUNCH_OUT_OF_RESOURCES);
SAME_ERROR(LAUNCH_TIMEOUT);
SAME_ERROR(PEER_ACCESS_ALREADY_ENABLED);
SAME_ERROR(CONTEXT_IS_DESTROYED);
SAME_ERROR(ASSERT);
SAME_ERROR(TOO_MANY_PEERS);
SAME_ERROR(HARDWARE_STACK_ERROR);
SAME_ERROR(ILLEGAL_INSTRUCTION);
SAME_ERROR(MISALIGNED_ADDRESS);
SAME_ERROR(INVALID_ADDRESS_SPACE);
SAME_ERROR(INVALID_PC);
SAME_ERROR(LAUNCH_FAILED);
SAME_ERROR(NOT_PERMITTED);
SAME_ERROR(NOT_SUPPORTED);
SAME_ERROR(SYSTEM_DRIVER_MISMATCH);
SAME_ERROR(COMPAT_NOT_SUPPORTED_ON_DEVICE);
SAME_ERROR(MPS_CLIENT_TERMINATED);
SAME_ERROR(CAPTURED_EVENT);
SAME_ERROR(UNKNOWN);
SAME_ATTRIBUTE(MAX_THREADS_PER_BLOCK);
SAME_ATTRIBUTE(MAX_THREADS_PER_MULTIPROCESSOR);
SAME_ATTRIBUTE(MAX_REGISTERS_PER_MULTIPROCESSOR);
SAME_ATTRIBUTE(WARP_SIZE);
SAME_ATTRIBUTE(CLOCK_RATE);
SAME_ATTRIBUTE(MULTIPROCESSOR_COUNT);
SAME_ATTRIBUTE(INTEGRATED);
SAME_ATTRIBUTE(COMPUTE_MODE);
SAME_ATTRIBUTE(ECC_ENABLED);
SAME_ATTRIBUTE(MEMORY_CLOCK_RATE);
SAME_ATTRIBUTE(GLOBAL_MEMORY_BUS_WIDTH);
SAME_ATTRIBUTE(L2_CACHE_SIZE);
SAME_ATTRIBUTE(ASYNC_ENGINE_COUNT);
SAME_ATTRIBUTE(COMPUTE_CAPABILITY_MAJOR);
SAME_ATTRIBUTE(COMPUTE_CAPABILITY_MINOR);
SAME_ATTRIBUTE(MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
SAME_ATTRIBUTE(MANAGED_MEMORY);
SAME_ATTRIBUTE(PAGEABLE_MEMORY_ACCESS);
SAME_ATTRIBUTE(CONCURRENT_MANAGED_ACCESS);
SAME_ATTRIBUTE(HOST_REGISTER_SUPPORTED);
SAME_VALUE(ABI_FUNCTION_MAX_THREADS_PER_BLOCK, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
SAME_VALUE(ABI_FUNCTION_SHARED_SIZE_BYTES, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
SAME_VALUE(ABI_FUNCTION_LOCAL_SIZE_BYTES, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
SAME_VALUE(ABI_FUNCTION_NUM_REGS, CU_FUNC_ATTRIBUTE_NUM_REGS);
SAME_CONSTANT(MEMHOSTALLOC_PORTABLE);
SAME_CONSTANT(MEMHOSTALLOC_DEVICEMAP);
SAME_CONSTANT(MEMHOSTALLOC_WRITECOMBINED);
SAME_CONSTANT(MEMHOSTREGISTER_PORTABLE);
SAME_CONSTANT(MEM_ATTACH_GLOBAL);
SAME_CONSTANT(MEMORYTYPE_HOST);
SAME_CONSTANT(MEMORYTYPE_DEVICE);
SAME_CONSTANT(MEMORYTYPE_ARRAY);
SAME_CONSTANT(AD_FORMAT_UNSIGNED_INT8);
SAME_CONSTANT(MEMORYTYPE_UNIFIED);
SAME_CONSTANT(DEVICE_CPU);
SAME_VALUE(ABI_LOCATION_DEVICE, CU_MEM_LOCATION_TYPE_DEVICE);
SAME_VALUE(ABI_LOCATION_HOST, CU_MEM_LOCATION_TYPE_HOST);
SAME_CONSTANT(STREAM_NON_BLOCKING);
SAME_CONSTANT(STREAM_WAIT_VALUE_GEQ);
SAME_CONSTANT(STREAM_CAPTURE_MODE_RELAXED);
SAME_CONSTANT(EVENT_DEFAULT);
SAME_CONSTANT(EVENT_DISABLE_TIMING);
SAME_CONSTANT(COMPUTEMODE_PROHIBITED);
SAME_CONSTANT(COMPUTEMODE_EXCLUSIVE_PROCESS);
SAME_CONSTANT(JIT_INFO_LOG_BUFFER);
SAME_CONSTANT(JIT_INFO_LOG_BUFFER_SIZE_BYTES);
SAME_CONSTANT(JIT_ERROR_LOG_BUFFER);
SAME_CONSTANT(JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
SAME_VALUE(ABI_ADVISE_SET_READ_MOSTLY, CU_MEM_ADVISE_SET_READ_MOSTLY);
SAME_VALUE(ABI_ADVISE_UNSET_READ_MOSTLY, CU_MEM_ADVISE_UNSET_READ_MOSTLY);
SAME_VALUE(ABI_ADVISE_SET_PREFERRED_LOCATION, CU_MEM_ADVISE_SET_PREFERRED_LOCATION);
SAME_VALUE(ABI_ADVISE_UNSET_PREFERRED_LOCATION, CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION);

// Then the functions, with NVIDIA's types in place of ours.
#define cu_result CUresult
#define cu_device CUdevice
#define cu_attribute CUdevice_attribute
#define cu_function_attribute CUfunction_attribute
#define cu_capture_mode CUstreamCaptureMode
#define cu_jit_option CUjit_option
#define cu_advice CUmem_advise
#define cu_pointer CUdeviceptr
#define cu_context CUcontext
#define cu_stream CUstream
#define cu_event CUevent
#define cu_module CUmodule
#define cu_function CUfunction
#define cu_graph CUgraph
#define cu_graph_exec CUgraphExec
#define cu_host_function CUhostFn
#define cu_u32 cuuint32_t
#define cu_uuid CUuuid
#define cu_memcpy3d CUDA_MEMCPY3D_v2
#define cu_array CUarray
#define cu_array3d CUDA_ARRAY3D_DESCRIPTOR_v2
#define cu_location CUmemLocation
#if CUDA_VERSION < 12040 // came later
CUresult cuFuncGetParamInfo(CUfunction function, size_t index, size_t *offset, size_t *bytes);
#endif
#define SAME_TYPE(name, parameters)                                                                \
	_Static_assert(__builtin_types_compatible_p(__typeof__(&name), CUresult(*) parameters),    \
	               #name " is declared otherwise by NVIDIA");
CUDA_FUNCTIONS(SAME_TYPE, SAME_TYPE)

#if __has_include(<nvml.h>)
#include <nvml.h>
SAME_SIZE(nvml_result, nvmlReturn_t);
SAME_SIZE(nvml_clock, nvmlClockType_t);
SAME_SIZE(nvml_sensor, nvmlTemperatureSensors_t);
SAME_SIZE(nvml_device, nvmlDevice_t);
SAME_SIZE(nvml_threshold, nvmlTemperatureThresholds_t);
SAME_SIZE(nvml_state, nvmlEnableState_t);
SAME_SIZE(nvml_memory_error, nvmlMemoryErrorType_t);
SAME_SIZE(nvml_ecc_counter, nvmlEccCounterType_t);
SAME_SIZE(nvml_peer_ability, nvmlGpuP2PCapsIndex_t);
SAME_SIZE(nvml_peer_status, nvmlGpuP2PStatus_t);
SAME_SIZE(nvml_link_end, nvmlIntNvLinkDeviceType_t);
SAME_SIZE(nvml_pci, nvmlPciInfo_t);
SAME_VALUE(ABI_NVML_PEERS_BY_NVLINK, NVML_P2P_CAPS_INDEX_NVLINK);
SAME_VALUE(ABI_NVML_PEERS_OK, NVML_P2P_STATUS_OK);
SAME_VALUE(ABI_NVML_LINK_TO_GPU, NVML_NVLINK_DEVICE_TYPE_GPU);
SAME_VALUE(ABI_NVML_LINK_TO_SWITCH, NVML_NVLINK_DEVICE_TYPE_SWITCH);
SAME_VALUE(ABI_NVML_SUCCESS, NVML_SUCCESS);
SAME_VALUE(ABI_NVML_CLOCK_SM, NVML_CLOCK_SM);
SAME_VALUE(ABI_NVML_CLOCK_MEM, NVML_CLOCK_MEM);
SAME_VALUE(ABI_NVML_TEMPERATURE_GPU, NVML_TEMPERATURE_GPU);
SAME_VALUE(ABI_NVML_NO_PERMISSION, NVML_ERROR_NO_PERMISSION);
SAME_VALUE(ABI_NVML_NOT_FOUND, NVML_ERROR_NOT_FOUND);
SAME_VALUE(ABI_NVML_DRIVER_NOT_LOADED, NVML_ERROR_DRIVER_NOT_LOADED);
SAME_VALUE(ABI_NVML_GPU_IS_LOST, NVML_ERROR_GPU_IS_LOST);
SAME_VALUE(ABI_NVML_RESET_REQUIRED, NVML_ERROR_RESET_REQUIRED);
SAME_VALUE(ABI_NVML_VERSION_MISMATCH, NVML_ERROR_LIB_RM_VERSION_MISMATCH);
SAME_VALUE(ABI_NVML_THRESHOLD_SHUTDOWN, NVML_TEMPERATURE_THRESHOLD_SHUTDOWN);
SAME_VALUE(ABI_NVML_THRESHOLD_SLOWDOWN, NVML_TEMPERATURE_THRESHOLD_SLOWDOWN);
SAME_VALUE(ABI_NVML_ENABLED, NVML_FEATURE_ENABLED);
SAME_VALUE(ABI_NVML_CORRECTED, NVML_MEMORY_ERROR_TYPE_CORRECTED);
SAME_VALUE(ABI_NVML_UNCORRECTED, NVML_MEMORY_ERROR_TYPE_UNCORRECTED);
SAME_VALUE(ABI_NVML_VOLATILE, NVML_VOLATILE_ECC);
SAME_VALUE(ABI_NVML_LINKS, NVML_NVLINK_MAX_LINKS);
// tare's bits of what throttles a clock are NVML's.
#ifdef nvmlClocksEventReasonGpuIdle // since 12.2; before that it said throttling, too
#define REASON(name) nvmlClocksEventReason##name
#else
#define REASON(name) nvmlClocksThrottleReason##name
#endif
SAME_VALUE(1 << TARE_THROTTLE_IDLE, REASON(GpuIdle));
SAME_VALUE(1 << TARE_THROTTLE_SETTING, REASON(ApplicationsClocksSetting));
SAME_VALUE(1 << TARE_THROTTLE_POWER_CAP, REASON(SwPowerCap));
SAME_VALUE(1 << TARE_THROTTLE_SYNC_BOOST, REASON(SyncBoost));
SAME_VALUE(1 << TARE_THROTTLE_HEAT, REASON(SwThermalSlowdown));
SAME_VALUE(1 << TARE_THROTTLE_DISPLAY, REASON(DisplayClockSetting));
SAME_VALUE(1 << TARE_THROTTLE_HARDWARE, nvmlClocksThrottleReasonHwSlowdown);
SAME_VALUE(1 << TARE_THROTTLE_HARDWARE_HEAT, nvmlClocksThrottleReasonHwThermalSlowdown);
SAME_VALUE(1 << TARE_THROTTLE_POWER_BRAKE, nvmlClocksThrottleReasonHwPowerBrakeSlowdown);
// Some of them are on their way out; they are asked for only where they are there.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#define nvml_threshold nvmlTemperatureThresholds_t
#define nvml_state nvmlEnableState_t
#define nvml_memory_error nvmlMemoryErrorType_t
#define nvml_ecc_counter nvmlEccCounterType_t
#define nvml_peer_ability nvmlGpuP2PCapsIndex_t
#define nvml_peer_status nvmlGpuP2PStatus_t
#define nvml_link_end nvmlIntNvLinkDeviceType_t
#define nvml_pci nvmlPciInfo_t
#define nvml_result nvmlReturn_t
#define nvml_clock nvmlClockType_t
#define nvml_sensor nvmlTemperatureSensors_t
#define nvml_device nvmlDevice_t
#define SAME_NVML_TYPE(name, parameters)                                                           \
	_Static_assert(                                                                            \
	    __builtin_types_compatible_p(__typeof__(&name), nvmlReturn_t(*) parameters),           \
	    #name " is declared otherwise by NVIDIA");
NVML_FUNCTIONS(SAME_NVML_TYPE, SAME_NVML_TYPE)
#define NVML_COMPARED "and nvml.h"
#else
#define NVML_COMPARED "(no nvml.h beside it)"
#endif

int main(void)
{
	if ((uintptr_t)CU_STREAM_LEGACY != 1 || (uintptr_t)CU_STREAM_PER_THREAD != 2) {
		printf("1..1\nnot ok 1 - a default stream is another handle\n");
		return 1;
	}
	printf("1..1\nok 1 - our declarations agree with cuda.h %d.%d %s\n", CUDA_VERSION / 1000,
	       CUDA_VERSION % 1000 / 10, NVML_COMPARED);
	return 0;
}
