// SPDX-License-Identifier: Apache-2.0
// The part of the CUDA driver library's binary interface that tare uses, in our own words: the
// library is opened at run time and NVIDIA's headers are not needed. Functions are called by their
// exported names: plain cuMemAlloc is the old 32-bit one. tests/headers/cuda_abi_check.c compares
// every line with NVIDIA's cuda.h where a toolkit is installed.
#pragma once
#include <stddef.h>
#include <stdint.h>

#ifndef TARE_CUDA_ABI_CHECK // the check puts NVIDIA's types here
typedef int cu_result;
typedef int cu_device;
typedef int cu_attribute;
typedef int cu_function_attribute;
typedef int cu_capture_mode;
typedef int cu_jit_option;
typedef int cu_advice;
typedef unsigned long long cu_pointer;
typedef struct cu_context_object *cu_context;
typedef struct cu_stream_object *cu_stream;
typedef struct cu_event_object *cu_event;
typedef struct cu_module_object *cu_module;
typedef struct cu_function_object *cu_function;
typedef struct cu_array_object *cu_array;
typedef struct cu_graph_object *cu_graph;
typedef struct cu_graph_exec_object *cu_graph_exec;
typedef void (*cu_host_function)(void *data);
typedef unsigned int cu_u32;

typedef struct {
	char bytes[16];
} cu_uuid;

// Where managed memory is, or is to be.
typedef struct {
	int type, id;
} cu_location;

// One side of a rectangle copy, then the other, then its extent.
typedef struct {
	size_t source_x_bytes, source_y, source_z, source_lod;
	int source_type;
	const void *source_host;
	cu_pointer source_device;
	cu_array source_array;
	void *reserved0;
	size_t source_pitch, source_height;
	size_t destination_x_bytes, destination_y, destination_z, destination_lod;
	int destination_type;
	void *destination_host;
	cu_pointer destination_device;
	cu_array destination_array;
	void *reserved1;
	size_t destination_pitch, destination_height;
	size_t width_bytes, height, depth;
} cu_memcpy3d;

// depth 0: of two dimensions.
typedef struct {
	size_t width, height, depth;
	int format;
	unsigned int channels, flags;
} cu_array3d;
#endif

enum {
	ABI_SUCCESS = 0,
	ABI_INVALID_VALUE = 1,
	ABI_OUT_OF_MEMORY = 2,
	ABI_NOT_INITIALIZED = 3,
	ABI_STUB_LIBRARY = 34,
	ABI_DEVICE_UNAVAILABLE = 46,
	ABI_NO_DEVICE = 100,
	ABI_INVALID_DEVICE = 101,
	ABI_INVALID_IMAGE = 200,
	ABI_INVALID_CONTEXT = 201,
	ABI_NO_BINARY_FOR_GPU = 209,
	ABI_ECC_UNCORRECTABLE = 214,
	ABI_PEER_ACCESS_UNSUPPORTED = 217,
	ABI_INVALID_PTX = 218,
	ABI_NVLINK_UNCORRECTABLE = 220,
	ABI_JIT_COMPILER_NOT_FOUND = 221,
	ABI_UNSUPPORTED_PTX_VERSION = 222,
	ABI_JIT_COMPILATION_DISABLED = 223,
	ABI_CONTAINED = 226,
	ABI_INVALID_HANDLE = 400,
	ABI_NOT_FOUND = 500,
	ABI_NOT_READY = 600,
	ABI_ILLEGAL_ADDRESS = 700,
	ABI_LAUNCH_OUT_OF_RESOURCES = 701,
	ABI_LAUNCH_TIMEOUT = 702,
	ABI_PEER_ACCESS_ALREADY_ENABLED = 704,
	ABI_CONTEXT_IS_DESTROYED = 709,
	ABI_ASSERT = 710,
	ABI_TOO_MANY_PEERS = 711,
	ABI_HARDWARE_STACK_ERROR = 714,
	ABI_ILLEGAL_INSTRUCTION = 715,
	ABI_MISALIGNED_ADDRESS = 716,
	ABI_INVALID_ADDRESS_SPACE = 717,
	ABI_INVALID_PC = 718,
	ABI_LAUNCH_FAILED = 719,
	ABI_NOT_PERMITTED = 800,
	ABI_NOT_SUPPORTED = 801,
	ABI_SYSTEM_DRIVER_MISMATCH = 803,
	ABI_COMPAT_NOT_SUPPORTED_ON_DEVICE = 804,
	ABI_MPS_CLIENT_TERMINATED = 810,
	ABI_CAPTURED_EVENT = 907,
	ABI_UNKNOWN = 999,
};

enum {
	ABI_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 1,
	ABI_ATTRIBUTE_WARP_SIZE = 10,
	ABI_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK = 12,
	ABI_ATTRIBUTE_CLOCK_RATE = 13, // kHz
	ABI_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
	ABI_ATTRIBUTE_INTEGRATED = 18,
	ABI_ATTRIBUTE_COMPUTE_MODE = 20,
	ABI_ATTRIBUTE_ECC_ENABLED = 32,
	ABI_ATTRIBUTE_MEMORY_CLOCK_RATE = 36, // kHz
	ABI_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH = 37,
	ABI_ATTRIBUTE_L2_CACHE_SIZE = 38,
	ABI_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR = 39,
	ABI_ATTRIBUTE_ASYNC_ENGINE_COUNT = 40,
	ABI_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
	ABI_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
	ABI_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR = 81,
	ABI_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR = 82, // of 4 bytes
	ABI_ATTRIBUTE_MANAGED_MEMORY = 83,
	ABI_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS = 88,
	ABI_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS = 89,
	ABI_ATTRIBUTE_HOST_REGISTER_SUPPORTED = 99,
	ABI_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR = 106,
	ABI_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK = 111,
};

enum {
	ABI_FUNCTION_MAX_THREADS_PER_BLOCK = 0,
	ABI_FUNCTION_SHARED_SIZE_BYTES = 1,
	ABI_FUNCTION_LOCAL_SIZE_BYTES = 3,
	ABI_FUNCTION_NUM_REGS = 4,
};

enum {
	ABI_MEMHOSTALLOC_PORTABLE = 1,
	ABI_MEMHOSTALLOC_DEVICEMAP = 2,
	ABI_MEMHOSTALLOC_WRITECOMBINED = 4,
	ABI_MEMHOSTREGISTER_PORTABLE = 1,
	ABI_MEM_ATTACH_GLOBAL = 1,
	ABI_MEMORYTYPE_HOST = 1,
	ABI_MEMORYTYPE_DEVICE = 2,
	ABI_MEMORYTYPE_ARRAY = 3,
	ABI_MEMORYTYPE_UNIFIED = 4,
	ABI_AD_FORMAT_UNSIGNED_INT8 = 1,
	ABI_DEVICE_CPU = -1, // of the functions that know no locations
	ABI_LOCATION_DEVICE = 1,
	ABI_LOCATION_HOST = 2,
};

enum {
	ABI_STREAM_NON_BLOCKING = 1,
	ABI_STREAM_WAIT_VALUE_GEQ = 0,
	ABI_STREAM_CAPTURE_MODE_RELAXED = 2,
	ABI_EVENT_DEFAULT = 0,
	ABI_EVENT_DISABLE_TIMING = 2,
	ABI_EVENT_RECORD_EXTERNAL = 1,
};

enum {
	ABI_COMPUTEMODE_PROHIBITED = 2,
	ABI_COMPUTEMODE_EXCLUSIVE_PROCESS = 3,
};

enum {
	ABI_JIT_INFO_LOG_BUFFER = 3,
	ABI_JIT_INFO_LOG_BUFFER_SIZE_BYTES = 4,
	ABI_JIT_ERROR_LOG_BUFFER = 5,
	ABI_JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6,
};

enum {
	ABI_ADVISE_SET_READ_MOSTLY = 1,
	ABI_ADVISE_UNSET_READ_MOSTLY = 2,
	ABI_ADVISE_SET_PREFERRED_LOCATION = 3,
	ABI_ADVISE_UNSET_PREFERRED_LOCATION = 4,
};

// The stream that waits for the others and that they wait for, whatever this build's default is.
#define ABI_STREAM_LEGACY ((cu_stream)0x1)
// The default stream of the thread that names it.
#define ABI_STREAM_PER_THREAD ((cu_stream)0x2)

// required(name, parameters), optional(name, parameters); all of them return cu_result.
// One function a line.
// clang-format off
#define CUDA_FUNCTIONS(required, optional) \
	required(cuInit, (unsigned int flags)) \
	required(cuDriverGetVersion, (int *version)) \
	required(cuGetErrorName, (cu_result result, const char **name)) \
	required(cuDeviceGetCount, (int *count)) \
	required(cuDeviceGet, (cu_device *device, int ordinal)) \
	required(cuDeviceGetName, (char *name, int length, cu_device device)) \
	optional(cuDeviceGetUuid_v2, (cu_uuid *uuid, cu_device device)) \
	required(cuDeviceTotalMem_v2, (size_t *bytes, cu_device device)) \
	required(cuDeviceGetAttribute, (int *value, cu_attribute attribute, cu_device device)) \
	required(cuDeviceGetPCIBusId, (char *text, int length, cu_device device)) \
	required(cuDevicePrimaryCtxRetain, (cu_context *context, cu_device device)) \
	required(cuDevicePrimaryCtxRelease_v2, (cu_device device)) \
	required(cuCtxSetCurrent, (cu_context context)) \
	required(cuDeviceCanAccessPeer, (int *can, cu_device device, cu_device peer)) \
	required(cuCtxEnablePeerAccess, (cu_context peer, unsigned int flags)) \
	required(cuMemAlloc_v2, (cu_pointer *pointer, size_t bytes)) \
	required(cuMemFree_v2, (cu_pointer pointer)) \
	required(cuMemHostAlloc, (void **pointer, size_t bytes, unsigned int flags)) \
	required(cuMemFreeHost, (void *pointer)) \
	required(cuMemHostRegister_v2, (void *pointer, size_t bytes, unsigned int flags)) \
	required(cuMemHostUnregister, (void *pointer)) \
	required(cuMemHostGetDevicePointer_v2, \
	         (cu_pointer *pointer, void *host, unsigned int flags)) \
	required(cuMemAllocManaged, (cu_pointer *pointer, size_t bytes, unsigned int flags)) \
	optional(cuMemPrefetchAsync, \
	         (cu_pointer pointer, size_t bytes, cu_device to, cu_stream stream)) \
	optional(cuMemPrefetchAsync_v2, \
	         (cu_pointer pointer, size_t bytes, cu_location to, unsigned int flags, \
	          cu_stream stream)) \
	optional(cuMemAdvise_v2, \
	         (cu_pointer pointer, size_t bytes, cu_advice advice, cu_location location)) \
	optional(cuMemAdvise, \
	         (cu_pointer pointer, size_t bytes, cu_advice advice, cu_device device)) \
	required(cuMemcpyAsync, \
	         (cu_pointer destination, cu_pointer source, size_t bytes, cu_stream stream)) \
	required(cuMemcpyHtoDAsync_v2, \
	         (cu_pointer destination, const void *source, size_t bytes, cu_stream stream)) \
	required(cuMemcpyDtoHAsync_v2, \
	         (void *destination, cu_pointer source, size_t bytes, cu_stream stream)) \
	required(cuMemcpyDtoDAsync_v2, \
	         (cu_pointer destination, cu_pointer source, size_t bytes, cu_stream stream)) \
	optional(cuMemcpyPeerAsync, \
	         (cu_pointer destination, cu_context destination_context, cu_pointer source, \
	          cu_context source_context, size_t bytes, cu_stream stream)) \
	required(cuMemcpy, (cu_pointer destination, cu_pointer source, size_t bytes)) \
	required(cuMemcpyHtoD_v2, (cu_pointer destination, const void *source, size_t bytes)) \
	required(cuMemcpyDtoH_v2, (void *destination, cu_pointer source, size_t bytes)) \
	required(cuMemcpy3DAsync_v2, (const cu_memcpy3d *copy, cu_stream stream)) \
	optional(cuArray3DCreate_v2, (cu_array *array, const cu_array3d *descriptor)) \
	optional(cuArrayDestroy, (cu_array array)) \
	required(cuMemsetD8Async, \
	         (cu_pointer destination, unsigned char value, size_t count, cu_stream stream)) \
	required(cuMemsetD16Async, \
	         (cu_pointer destination, unsigned short value, size_t count, cu_stream stream)) \
	required(cuMemsetD32Async, \
	         (cu_pointer destination, unsigned int value, size_t count, cu_stream stream)) \
	required(cuStreamCreate, (cu_stream *stream, unsigned int flags)) \
	required(cuStreamDestroy_v2, (cu_stream stream)) \
	required(cuStreamSynchronize, (cu_stream stream)) \
	required(cuStreamQuery, (cu_stream stream)) \
	required(cuStreamWaitEvent, (cu_stream stream, cu_event event, unsigned int flags)) \
	optional(cuStreamWaitValue32_v2, \
	         (cu_stream stream, cu_pointer address, cu_u32 value, unsigned int flags)) \
	optional(cuStreamBeginCapture_v2, (cu_stream stream, cu_capture_mode mode)) \
	optional(cuStreamEndCapture, (cu_stream stream, cu_graph *graph)) \
	optional(cuGraphInstantiateWithFlags, \
	         (cu_graph_exec *exec, cu_graph graph, unsigned long long flags)) \
	optional(cuGraphUpload, (cu_graph_exec exec, cu_stream stream)) \
	optional(cuGraphLaunch, (cu_graph_exec exec, cu_stream stream)) \
	optional(cuGraphExecDestroy, (cu_graph_exec exec)) \
	optional(cuGraphDestroy, (cu_graph graph)) \
	required(cuEventCreate, (cu_event *event, unsigned int flags)) \
	required(cuEventDestroy_v2, (cu_event event)) \
	required(cuEventRecord, (cu_event event, cu_stream stream)) \
	optional(cuEventRecordWithFlags, (cu_event event, cu_stream stream, unsigned int flags)) \
	required(cuEventQuery, (cu_event event)) \
	required(cuEventSynchronize, (cu_event event)) \
	required(cuEventElapsedTime, (float *ms, cu_event start, cu_event end)) \
	optional(cuLaunchHostFunc, (cu_stream stream, cu_host_function function, void *data)) \
	required(cuLaunchKernel, \
	         (cu_function function, unsigned int groups_x, unsigned int groups_y, \
	          unsigned int groups_z, unsigned int size_x, unsigned int size_y, \
	          unsigned int size_z, unsigned int shared_bytes, cu_stream stream, \
	          void * *parameters, void **extra)) \
	required(cuModuleLoadDataEx, \
	         (cu_module *module, const void *image, unsigned int option_count, \
	          cu_jit_option *options, void **values)) \
	required(cuModuleUnload, (cu_module module)) \
	required(cuModuleGetFunction, (cu_function *function, cu_module module, const char *name)) \
	required(cuFuncGetAttribute, \
	         (int *value, cu_function_attribute attribute, cu_function function)) \
	optional(cuFuncLoad, (cu_function function)) \
	optional(cuFuncGetParamInfo, \
	         (cu_function function, size_t index, size_t *offset, size_t *bytes))
// clang-format on

struct cuda_functions {
#define X(name, parameters) cu_result(*name) parameters;
	CUDA_FUNCTIONS(X, X)
#undef X
};
