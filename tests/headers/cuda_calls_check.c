// SPDX-License-Identifier: Apache-2.0
// Compares what the CUDA recorder takes of calls' parameters (src/guest/cuda/function.c, command.c)
// with the structures of NVIDIA's headers. Built only where a toolkit with CUPTI is installed.
#define __CUDA_API_VERSION_INTERNAL // the structures of functions of old as well
#include <cuda.h>
#include <generated_cuda_meta.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

// Where something is, in 8 bytes.
struct place {
	const char *function, *member;
	size_t at;
};
#define PLACE(name, member) { #name, #member, offsetof(name##_params, member) }
// Streams.
static const struct place streams[] = {
	PLACE(cuLaunchKernel, hStream),       PLACE(cuLaunchCooperativeKernel, hStream),
	PLACE(cuGraphLaunch, hStream),        PLACE(cuMemcpyHtoDAsync_v2, hStream),
	PLACE(cuMemcpyDtoHAsync_v2, hStream), PLACE(cuMemcpyDtoDAsync_v2, hStream),
	PLACE(cuMemcpyAsync, hStream),        PLACE(cuMemcpyPeerAsync, hStream),
	PLACE(cuMemcpy2DAsync_v2, hStream),   PLACE(cuMemcpy3DAsync_v2, hStream),
	PLACE(cuMemcpy3DPeerAsync, hStream),  PLACE(cuMemcpyHtoAAsync_v2, hStream),
	PLACE(cuMemcpyAtoHAsync_v2, hStream), PLACE(cuMemsetD8Async, hStream),
	PLACE(cuMemsetD16Async, hStream),     PLACE(cuMemsetD32Async, hStream),
	PLACE(cuMemsetD2D8Async, hStream),    PLACE(cuMemsetD2D16Async, hStream),
	PLACE(cuMemsetD2D32Async, hStream),
#if CUDA_VERSION >= 13000
	PLACE(cuMemcpyBatchAsync, hStream),   PLACE(cuMemcpyBatchAsync_v2, hStream),
#endif
};
#undef PLACE

#define AT(name, member, place)                                                                    \
	_Static_assert(offsetof(name##_params, member) == 8 * (place),                             \
	               #name ": " #member " is elsewhere")
AT(cuLaunchKernel, f, 0);
AT(cuLaunchKernel, gridDimX, 1);
_Static_assert(offsetof(cuLaunchKernel_params, blockDimX) == 20, "");
AT(cuLaunchKernelEx, config, 0);
AT(cuLaunchKernelEx, f, 1);
_Static_assert(offsetof(CUlaunchConfig, blockDimX) == 12 && offsetof(CUlaunchConfig, hStream) == 32,
               "");
AT(cuMemcpyHtoD_v2, dstDevice, 0);
AT(cuMemcpyHtoD_v2, srcHost, 1);
AT(cuMemcpyHtoD_v2, ByteCount, 2);
AT(cuMemcpyDtoH_v2, dstHost, 0);
AT(cuMemcpyDtoH_v2, srcDevice, 1);
AT(cuMemcpyDtoH_v2, ByteCount, 2);
AT(cuMemcpyDtoD_v2, srcDevice, 1);
AT(cuMemcpy, src, 1);
AT(cuMemcpyPeer, srcDevice, 2);
AT(cuMemcpyPeer, ByteCount, 4);
AT(cuMemcpyAtoA_v2, srcArray, 2);
AT(cuMemcpyAtoA_v2, ByteCount, 4);
AT(cuMemcpyHtoA_v2, srcHost, 2);
AT(cuMemcpyHtoA_v2, ByteCount, 3);
AT(cuMemcpyAtoH_v2, srcArray, 1);
AT(cuMemcpyAtoH_v2, ByteCount, 3);
AT(cuMemcpyDtoA_v2, srcDevice, 2);
AT(cuMemcpyAtoD_v2, srcArray, 1);
AT(cuMemcpyAtoD_v2, ByteCount, 3);
AT(cuMemsetD8_v2, N, 2);
AT(cuMemsetD16_v2, N, 2);
AT(cuMemsetD32_v2, N, 2);
AT(cuMemsetD2D8_v2, Width, 3);
AT(cuMemsetD2D8_v2, Height, 4);
AT(cuMemAlloc_v2, bytesize, 1);
AT(cuMemAllocAsync, bytesize, 1);
AT(cuMemAllocFromPoolAsync, bytesize, 1);
AT(cuMemMap, ptr, 0);
AT(cuMemMap, size, 1);
AT(cuMemUnmap, ptr, 0);
AT(cuMemAllocManaged, bytesize, 1);
AT(cuMemAllocHost_v2, bytesize, 1);
AT(cuMemHostAlloc, bytesize, 1);
AT(cuMemHostRegister_v2, bytesize, 1);
AT(cuMemAllocPitch_v2, pPitch, 1);
AT(cuMemAllocPitch_v2, Height, 3);
AT(cuEventRecord, hStream, 1);
AT(cuStreamWaitEvent, hEvent, 1);
AT(cuEventSynchronize, hEvent, 0);
AT(cuStreamSynchronize, hStream, 0);
AT(cuGraphInstantiateWithFlags, phGraphExec, 0);
#if CUDA_VERSION >= 13000
AT(cuMemcpyBatchAsync_v2, sizes, 2);
AT(cuMemcpyBatchAsync_v2, count, 3);
#endif
_Static_assert(CU_POINTER_ATTRIBUTE_MEMORY_TYPE == 2 && CU_POINTER_ATTRIBUTE_IS_MANAGED == 8, "");
_Static_assert(CU_MEMORYTYPE_HOST == 1 && CU_MEMORYTYPE_DEVICE == 2 && CU_MEMORYTYPE_ARRAY == 3 &&
                   CU_MEMORYTYPE_UNIFIED == 4,
               "");
_Static_assert(offsetof(CUDA_MEMCPY2D, srcHost) == 24 && offsetof(CUDA_MEMCPY2D, srcDevice) == 32 &&
                   offsetof(CUDA_MEMCPY2D, srcArray) == 40 &&
                   offsetof(CUDA_MEMCPY2D, dstXInBytes) == 56 &&
                   offsetof(CUDA_MEMCPY2D, WidthInBytes) == 112,
               "");
_Static_assert(offsetof(CUDA_MEMCPY3D_PEER, dstHost) == offsetof(CUDA_MEMCPY3D, dstHost) &&
                   offsetof(CUDA_MEMCPY3D_PEER, Depth) == offsetof(CUDA_MEMCPY3D, Depth),
               "");

// As in src/guest/cuda/cuda.h, whose types are not NVIDIA's.
unsigned cuda_stream_place(const char *called);

int main(void)
{
	size_t wrong = 0;
	for (size_t i = 0; i < sizeof streams / sizeof *streams; i++) {
		unsigned at = cuda_stream_place(streams[i].function);
		if (at * 8 == streams[i].at)
			continue;
		printf("# %s: the stream is at %zu, not %u\n", streams[i].function, streams[i].at,
		       at * 8);
		wrong++;
	}
	printf("1..1\n%sok 1 - parameters of calls are where CUPTI has them\n",
	       wrong ? "not " : "");
	return wrong != 0;
}
