// SPDX-License-Identifier: Apache-2.0
// The driver's functions that are recorded, by the names that CUPTI has for them: its numbers need
// not be known, and a newer driver's are found as well. Runtime functions (cudaMemcpy) call these.
#include "guest/cuda/cuda.h"

#include <string.h>

#define COPY(name, form, kind, waits)                                                              \
	{ name, TARE_ROLE_COMMAND, form, kind, CUDA_NO_STREAM, 0, waits }
#define COPY_ASYNC(name, form, kind, stream)                                                       \
	{ name, TARE_ROLE_COMMAND, form, kind, stream, 0, false }
#define FILL(name, form, stream, element)                                                          \
	{ name, TARE_ROLE_COMMAND, form, TARE_KIND_FILL, stream, element, false }
#define CALL(name, role, form) { name, role, form, 0, CUDA_NO_STREAM, 0, (role) == TARE_ROLE_WAIT }
#define MEMORY(name, form, memory)                                                                 \
	{ name, TARE_ROLE_ALLOCATE, form, 0, CUDA_NO_STREAM, memory, false }

const struct cuda_function cuda_functions[] = {
	{ "cuLaunchKernel", TARE_ROLE_COMMAND, CUDA_LAUNCH, TARE_KIND_KERNEL, 5, 0, false },
	{ "cuLaunchCooperativeKernel", TARE_ROLE_COMMAND, CUDA_LAUNCH, TARE_KIND_KERNEL, 5, 1,
	  false },
	{ "cuLaunchKernelEx", TARE_ROLE_COMMAND, CUDA_LAUNCH_EX, TARE_KIND_KERNEL, CUDA_NO_STREAM,
	  0, false },
	{ "cuGraphLaunch", TARE_ROLE_COMMAND, CUDA_GRAPH, TARE_KIND_GRAPH, 1, 0, false },
	COPY("cuMemcpyHtoD_v2", CUDA_TO_DEVICE, TARE_KIND_WRITE, true),
	COPY("cuMemcpyDtoH_v2", CUDA_FROM_DEVICE, TARE_KIND_READ, true),
	COPY("cuMemcpyDtoD_v2", CUDA_WITHIN, TARE_KIND_COPY, false),
	COPY("cuMemcpy", CUDA_BETWEEN, TARE_KIND_COPY, true),
	COPY("cuMemcpyPeer", CUDA_PEER, TARE_KIND_COPY, false),
	COPY("cuMemcpy2D_v2", CUDA_RECTANGLE_2D, TARE_KIND_COPY, true),
	COPY("cuMemcpy2DUnaligned_v2", CUDA_RECTANGLE_2D, TARE_KIND_COPY, true),
	COPY("cuMemcpy3D_v2", CUDA_RECTANGLE_3D, TARE_KIND_COPY, true),
	COPY("cuMemcpyHtoA_v2", CUDA_HOST_TO_ARRAY, TARE_KIND_WRITE, true),
	COPY("cuMemcpyAtoH_v2", CUDA_ARRAY_TO_HOST, TARE_KIND_READ, true),
	COPY("cuMemcpy3DPeer", CUDA_RECTANGLE_3D, TARE_KIND_COPY, false),
	// both sides have an offset behind them
	COPY("cuMemcpyAtoA_v2", CUDA_PEER, TARE_KIND_COPY, false),
	COPY("cuMemcpyDtoA_v2", CUDA_ARRAY, TARE_KIND_COPY, false),
	COPY("cuMemcpyAtoD_v2", CUDA_ARRAY, TARE_KIND_COPY, false),
	COPY_ASYNC("cuMemcpyHtoDAsync_v2", CUDA_TO_DEVICE, TARE_KIND_WRITE, 3),
	COPY_ASYNC("cuMemcpyDtoHAsync_v2", CUDA_FROM_DEVICE, TARE_KIND_READ, 3),
	COPY_ASYNC("cuMemcpyDtoDAsync_v2", CUDA_WITHIN, TARE_KIND_COPY, 3),
	COPY_ASYNC("cuMemcpyAsync", CUDA_BETWEEN, TARE_KIND_COPY, 3),
	COPY_ASYNC("cuMemcpyPeerAsync", CUDA_PEER, TARE_KIND_COPY, 5),
	COPY_ASYNC("cuMemcpy2DAsync_v2", CUDA_RECTANGLE_2D, TARE_KIND_COPY, 1),
	COPY_ASYNC("cuMemcpy3DAsync_v2", CUDA_RECTANGLE_3D, TARE_KIND_COPY, 1),
	COPY_ASYNC("cuMemcpy3DPeerAsync", CUDA_RECTANGLE_3D, TARE_KIND_COPY, 1),
	COPY_ASYNC("cuMemcpyBatchAsync", CUDA_BATCH, TARE_KIND_COPY, 8),
	COPY_ASYNC("cuMemcpyBatchAsync_v2", CUDA_BATCH, TARE_KIND_COPY, 7),
	COPY_ASYNC("cuMemcpyHtoAAsync_v2", CUDA_HOST_TO_ARRAY, TARE_KIND_WRITE, 4),
	COPY_ASYNC("cuMemcpyAtoHAsync_v2", CUDA_ARRAY_TO_HOST, TARE_KIND_READ, 4),
	FILL("cuMemsetD8_v2", CUDA_FILL, CUDA_NO_STREAM, 1),
	FILL("cuMemsetD16_v2", CUDA_FILL, CUDA_NO_STREAM, 2),
	FILL("cuMemsetD32_v2", CUDA_FILL, CUDA_NO_STREAM, 4),
	FILL("cuMemsetD2D8_v2", CUDA_FILL_2D, CUDA_NO_STREAM, 1),
	FILL("cuMemsetD2D16_v2", CUDA_FILL_2D, CUDA_NO_STREAM, 2),
	FILL("cuMemsetD2D32_v2", CUDA_FILL_2D, CUDA_NO_STREAM, 4),
	FILL("cuMemsetD8Async", CUDA_FILL, 3, 1),
	FILL("cuMemsetD16Async", CUDA_FILL, 3, 2),
	FILL("cuMemsetD32Async", CUDA_FILL, 3, 4),
	FILL("cuMemsetD2D8Async", CUDA_FILL_2D, 5, 1),
	FILL("cuMemsetD2D16Async", CUDA_FILL_2D, 5, 2),
	FILL("cuMemsetD2D32Async", CUDA_FILL_2D, 5, 4),

	CALL("cuCtxSynchronize", TARE_ROLE_WAIT, CUDA_NOTHING),
	CALL("cuCtxSynchronize_v2", TARE_ROLE_WAIT, CUDA_NOTHING),
	CALL("cuStreamSynchronize", TARE_ROLE_WAIT, CUDA_OF_STREAM),
	CALL("cuEventSynchronize", TARE_ROLE_WAIT, CUDA_EVENT_WAIT),
	CALL("cuStreamQuery", TARE_ROLE_POLL, CUDA_NOTHING),
	CALL("cuEventQuery", TARE_ROLE_POLL, CUDA_NOTHING),
	CALL("cuEventRecord", TARE_ROLE_COMMAND, CUDA_EVENT_RECORD),
	CALL("cuEventRecordWithFlags", TARE_ROLE_COMMAND, CUDA_EVENT_RECORD),
	CALL("cuStreamWaitEvent", TARE_ROLE_COMMAND, CUDA_EVENT_AWAIT),
	CALL("cuLaunchHostFunc", TARE_ROLE_COMMAND, CUDA_NOTHING),
	CALL("cuStreamAddCallback", TARE_ROLE_COMMAND, CUDA_NOTHING),
	CALL("cuMemPrefetchAsync", TARE_ROLE_COMMAND, CUDA_NOTHING),
	CALL("cuMemPrefetchAsync_v2", TARE_ROLE_COMMAND, CUDA_NOTHING),
	CALL("cuGraphUpload", TARE_ROLE_COMMAND, CUDA_NOTHING),

	MEMORY("cuMemAlloc_v2", CUDA_ALLOCATE, TARE_TRACE_MEMORY_BUFFER),
	MEMORY("cuMemAllocPitch_v2", CUDA_ALLOCATE_PITCH, TARE_TRACE_MEMORY_BUFFER),
	MEMORY("cuMemAllocAsync", CUDA_ALLOCATE, TARE_TRACE_MEMORY_BUFFER),
	MEMORY("cuMemAllocFromPoolAsync", CUDA_ALLOCATE, TARE_TRACE_MEMORY_BUFFER),
	MEMORY("cuMemAllocManaged", CUDA_ALLOCATE, TARE_TRACE_MEMORY_SHARED),
	MEMORY("cuMemAllocHost_v2", CUDA_ALLOCATE, TARE_TRACE_MEMORY_PINNED),
	MEMORY("cuMemHostAlloc", CUDA_ALLOCATE, TARE_TRACE_MEMORY_PINNED),
	MEMORY("cuMemHostAlloc_v2", CUDA_ALLOCATE, TARE_TRACE_MEMORY_PINNED),
	MEMORY("cuMemHostRegister_v2", CUDA_REGISTER, TARE_TRACE_MEMORY_PINNED),
	MEMORY("cuMemHostUnregister", CUDA_FREE, 0),
	MEMORY("cuMemFree_v2", CUDA_FREE, 0),
	MEMORY("cuMemFreeHost", CUDA_FREE, 0),
	MEMORY("cuMemFreeAsync", CUDA_FREE, 0),
	MEMORY("cuMemMap", CUDA_REGISTER, TARE_TRACE_MEMORY_BUFFER),
	MEMORY("cuMemUnmap", CUDA_FREE, 0),

	CALL("cuArrayCreate_v2", TARE_ROLE_ALLOCATE, CUDA_NOTHING),
	CALL("cuArray3DCreate_v2", TARE_ROLE_ALLOCATE, CUDA_NOTHING),
	CALL("cuArrayDestroy", TARE_ROLE_ALLOCATE, CUDA_NOTHING),
	CALL("cuMemCreate", TARE_ROLE_ALLOCATE, CUDA_NOTHING),
	CALL("cuMemRelease", TARE_ROLE_ALLOCATE, CUDA_NOTHING),
	CALL("cuMemSetAccess", TARE_ROLE_ALLOCATE, CUDA_NOTHING),

	CALL("cuModuleLoad", TARE_ROLE_BUILD, CUDA_MODULE),
	CALL("cuModuleLoadData", TARE_ROLE_BUILD, CUDA_MODULE),
	CALL("cuModuleLoadDataEx", TARE_ROLE_BUILD, CUDA_MODULE),
	CALL("cuModuleLoadFatBinary", TARE_ROLE_BUILD, CUDA_MODULE),
	CALL("cuLibraryLoadData", TARE_ROLE_BUILD, CUDA_MODULE),
	CALL("cuLibraryLoadFromFile", TARE_ROLE_BUILD, CUDA_MODULE),
	CALL("cuLinkComplete", TARE_ROLE_BUILD, CUDA_NOTHING),
	CALL("cuModuleGetFunction", TARE_ROLE_QUERY, CUDA_NOTHING), // may load it
	CALL("cuLibraryGetKernel", TARE_ROLE_QUERY, CUDA_NOTHING),
	CALL("cuKernelGetFunction", TARE_ROLE_QUERY, CUDA_NOTHING),
	CALL("cuDeviceGetAttribute", TARE_ROLE_QUERY, CUDA_ASKED),
	CALL("cuMemGetInfo_v2", TARE_ROLE_QUERY, CUDA_ASKED),
	CALL("cuPointerGetAttribute", TARE_ROLE_QUERY, CUDA_ASKED),
	CALL("cuPointerGetAttributes", TARE_ROLE_QUERY, CUDA_ASKED),
	CALL("cuFuncGetAttribute", TARE_ROLE_QUERY, CUDA_ASKED),
	CALL("cuOccupancyMaxActiveBlocksPerMultiprocessor", TARE_ROLE_QUERY, CUDA_ASKED),
	CALL("cuFuncLoad", TARE_ROLE_BUILD, CUDA_NOTHING),
	CALL("cuModuleUnload", TARE_ROLE_RELEASE, CUDA_NOTHING),
	CALL("cuLibraryUnload", TARE_ROLE_RELEASE, CUDA_NOTHING),

	CALL("cuCtxCreate_v2", TARE_ROLE_CREATE, CUDA_NOTHING),
	CALL("cuCtxCreate_v3", TARE_ROLE_CREATE, CUDA_NOTHING),
	CALL("cuCtxCreate_v4", TARE_ROLE_CREATE, CUDA_NOTHING),
	CALL("cuCtxDestroy_v2", TARE_ROLE_RELEASE, CUDA_NOTHING),
	CALL("cuDevicePrimaryCtxRetain", TARE_ROLE_CREATE, CUDA_NOTHING),
	CALL("cuDevicePrimaryCtxRelease_v2", TARE_ROLE_RELEASE, CUDA_NOTHING),
	CALL("cuDevicePrimaryCtxReset_v2", TARE_ROLE_RELEASE, CUDA_NOTHING),
	CALL("cuStreamCreate", TARE_ROLE_CREATE, CUDA_STREAM_CREATE),
	CALL("cuStreamCreateWithPriority", TARE_ROLE_CREATE, CUDA_STREAM_CREATE),
	CALL("cuStreamDestroy_v2", TARE_ROLE_RELEASE, CUDA_STREAM_DESTROY),
	CALL("cuEventCreate", TARE_ROLE_CREATE, CUDA_NOTHING),
	CALL("cuEventDestroy_v2", TARE_ROLE_RELEASE, CUDA_EVENT_DESTROY),
	CALL("cuStreamBeginCapture", TARE_ROLE_CREATE, CUDA_CAPTURE_BEGIN),
	CALL("cuStreamBeginCapture_v2", TARE_ROLE_CREATE, CUDA_CAPTURE_BEGIN),
	CALL("cuStreamBeginCaptureToGraph", TARE_ROLE_CREATE, CUDA_CAPTURE_BEGIN),
	CALL("cuStreamEndCapture", TARE_ROLE_CREATE, CUDA_CAPTURE_END),
	CALL("cuGraphInstantiate", TARE_ROLE_CREATE, CUDA_GRAPH_MADE),
	CALL("cuGraphInstantiate_v2", TARE_ROLE_CREATE, CUDA_GRAPH_MADE),
	CALL("cuGraphInstantiateWithFlags", TARE_ROLE_CREATE, CUDA_GRAPH_MADE),
	CALL("cuGraphInstantiateWithParams", TARE_ROLE_CREATE, CUDA_GRAPH_MADE),
	CALL("cuGraphExecUpdate_v2", TARE_ROLE_OTHER, CUDA_NOTHING),
	CALL("cuGraphExecDestroy", TARE_ROLE_RELEASE, CUDA_NOTHING),
	CALL("cuGraphDestroy", TARE_ROLE_RELEASE, CUDA_NOTHING),
};
const uint32_t cuda_function_count = sizeof cuda_functions / sizeof *cuda_functions;
_Static_assert(sizeof cuda_functions / sizeof *cuda_functions <= CUDA_MOST_FUNCTIONS, "");

uint16_t cuda_by_callback[CUDA_MOST_CALLBACKS];
_Atomic uint32_t cuda_defined[CUDA_MOST_NAMES];

// The length of a name without what the end of it says of the default stream.
static size_t plain_length(const char *name, bool *of_thread)
{
	size_t length = strlen(name);
	*of_thread = length > 5 && (strcmp(name + length - 5, "_ptsz") == 0 ||
	                            strcmp(name + length - 5, "_ptds") == 0);
	return *of_thread ? length - 5 : length;
}

uint16_t cuda_function_of(const char *name)
{
	bool of_thread;
	size_t length = plain_length(name, &of_thread);
	for (uint32_t i = 0; i < cuda_function_count; i++) {
		const char *called = cuda_functions[i].called;
		if (strncmp(called, name, length) == 0 && !called[length])
			return (uint16_t)((i + 1) | (of_thread ? CUDA_OF_THREAD : 0));
	}
	return 0;
}

uint32_t cuda_functions_find(void)
{
	uint32_t found = 0;
	for (uint32_t id = 1; id < CUDA_MOST_CALLBACKS; id++) {
		const char *name = NULL;
		if (cuda_cupti.cuptiGetCallbackName(ABI_CUPTI_DOMAIN_DRIVER, id, &name) !=
		        ABI_CUPTI_SUCCESS ||
		    !name)
			break;
		cuda_by_callback[id] = cuda_function_of(name);
		found += cuda_by_callback[id] != 0;
	}
	return found;
}
