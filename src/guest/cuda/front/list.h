// SPDX-License-Identifier: Apache-2.0
// The driver's functions that the front stands before: those that function.c lists, with the number
// of their parameters (facts of NVIDIA's cuda.h). All of them are integers and pointers, each in a
// register or in 8 bytes of the stack. Queries are left out: nobody could tell the program's from
// the runtime's own. Most that take a stream are there a second time, for the default stream of
// each thread.
#pragma once

#define CUDA_FRONT_ONE(F, count, name) F(count, name)
#define CUDA_FRONT_PTSZ(F, count, name) F(count, name) F(count, name##_ptsz)
#define CUDA_FRONT_PTDS(F, count, name) F(count, name) F(count, name##_ptds)
// F(count, name) for each of them.
#define CUDA_FRONT_FUNCTIONS(F) CUDA_FRONT_ROWS(F, CUDA_FRONT_ONE, CUDA_FRONT_PTSZ, CUDA_FRONT_PTDS)

#define CUDA_FRONT_ROWS(F, ONE, PTSZ, PTDS)                                                        \
	PTSZ(F, 11, cuLaunchKernel)                                                                \
	PTSZ(F, 10, cuLaunchCooperativeKernel)                                                     \
	PTSZ(F, 4, cuLaunchKernelEx)                                                               \
	PTSZ(F, 2, cuGraphLaunch)                                                                  \
	PTDS(F, 3, cuMemcpyHtoD_v2)                                                                \
	PTDS(F, 3, cuMemcpyDtoH_v2)                                                                \
	PTDS(F, 3, cuMemcpyDtoD_v2)                                                                \
	PTDS(F, 3, cuMemcpy)                                                                       \
	PTDS(F, 5, cuMemcpyPeer)                                                                   \
	PTDS(F, 1, cuMemcpy2D_v2)                                                                  \
	PTDS(F, 1, cuMemcpy2DUnaligned_v2)                                                         \
	PTDS(F, 1, cuMemcpy3D_v2)                                                                  \
	PTDS(F, 4, cuMemcpyHtoA_v2)                                                                \
	PTDS(F, 4, cuMemcpyAtoH_v2)                                                                \
	PTDS(F, 1, cuMemcpy3DPeer)                                                                 \
	PTDS(F, 5, cuMemcpyAtoA_v2)                                                                \
	PTDS(F, 4, cuMemcpyDtoA_v2)                                                                \
	PTDS(F, 4, cuMemcpyAtoD_v2)                                                                \
	PTSZ(F, 4, cuMemcpyHtoDAsync_v2)                                                           \
	PTSZ(F, 4, cuMemcpyDtoHAsync_v2)                                                           \
	PTSZ(F, 4, cuMemcpyDtoDAsync_v2)                                                           \
	PTSZ(F, 4, cuMemcpyAsync)                                                                  \
	PTSZ(F, 6, cuMemcpyPeerAsync)                                                              \
	PTSZ(F, 2, cuMemcpy2DAsync_v2)                                                             \
	PTSZ(F, 2, cuMemcpy3DAsync_v2)                                                             \
	PTSZ(F, 2, cuMemcpy3DPeerAsync)                                                            \
	PTSZ(F, 9, cuMemcpyBatchAsync)                                                             \
	PTSZ(F, 8, cuMemcpyBatchAsync_v2)                                                          \
	PTSZ(F, 5, cuMemcpyHtoAAsync_v2)                                                           \
	PTSZ(F, 5, cuMemcpyAtoHAsync_v2)                                                           \
	PTDS(F, 3, cuMemsetD8_v2)                                                                  \
	PTDS(F, 3, cuMemsetD16_v2)                                                                 \
	PTDS(F, 3, cuMemsetD32_v2)                                                                 \
	PTDS(F, 5, cuMemsetD2D8_v2)                                                                \
	PTDS(F, 5, cuMemsetD2D16_v2)                                                               \
	PTDS(F, 5, cuMemsetD2D32_v2)                                                               \
	PTSZ(F, 4, cuMemsetD8Async)                                                                \
	PTSZ(F, 4, cuMemsetD16Async)                                                               \
	PTSZ(F, 4, cuMemsetD32Async)                                                               \
	PTSZ(F, 6, cuMemsetD2D8Async)                                                              \
	PTSZ(F, 6, cuMemsetD2D16Async)                                                             \
	PTSZ(F, 6, cuMemsetD2D32Async)                                                             \
	ONE(F, 0, cuCtxSynchronize)                                                                \
	ONE(F, 1, cuCtxSynchronize_v2)                                                             \
	PTSZ(F, 1, cuStreamSynchronize)                                                            \
	ONE(F, 1, cuEventSynchronize)                                                              \
	PTSZ(F, 1, cuStreamQuery)                                                                  \
	ONE(F, 1, cuEventQuery)                                                                    \
	PTSZ(F, 2, cuEventRecord)                                                                  \
	PTSZ(F, 3, cuEventRecordWithFlags)                                                         \
	PTSZ(F, 3, cuStreamWaitEvent)                                                              \
	PTSZ(F, 3, cuLaunchHostFunc)                                                               \
	PTSZ(F, 4, cuStreamAddCallback)                                                            \
	PTSZ(F, 4, cuMemPrefetchAsync)                                                             \
	PTSZ(F, 5, cuMemPrefetchAsync_v2)                                                          \
	PTSZ(F, 2, cuGraphUpload)                                                                  \
	ONE(F, 2, cuMemAlloc_v2)                                                                   \
	ONE(F, 5, cuMemAllocPitch_v2)                                                              \
	PTSZ(F, 3, cuMemAllocAsync)                                                                \
	PTSZ(F, 4, cuMemAllocFromPoolAsync)                                                        \
	ONE(F, 3, cuMemAllocManaged)                                                               \
	ONE(F, 2, cuMemAllocHost_v2)                                                               \
	ONE(F, 3, cuMemHostAlloc)                                                                  \
	ONE(F, 3, cuMemHostAlloc_v2)                                                               \
	ONE(F, 3, cuMemHostRegister_v2)                                                            \
	ONE(F, 1, cuMemHostUnregister)                                                             \
	ONE(F, 1, cuMemFree_v2)                                                                    \
	ONE(F, 1, cuMemFreeHost)                                                                   \
	PTSZ(F, 2, cuMemFreeAsync)                                                                 \
	ONE(F, 2, cuArrayCreate_v2)                                                                \
	ONE(F, 2, cuArray3DCreate_v2)                                                              \
	ONE(F, 1, cuArrayDestroy)                                                                  \
	ONE(F, 4, cuMemCreate)                                                                     \
	ONE(F, 1, cuMemRelease)                                                                    \
	ONE(F, 5, cuMemMap)                                                                        \
	ONE(F, 2, cuMemUnmap)                                                                      \
	ONE(F, 4, cuMemSetAccess)                                                                  \
	ONE(F, 2, cuModuleLoad)                                                                    \
	ONE(F, 2, cuModuleLoadData)                                                                \
	ONE(F, 5, cuModuleLoadDataEx)                                                              \
	ONE(F, 2, cuModuleLoadFatBinary)                                                           \
	ONE(F, 8, cuLibraryLoadData)                                                               \
	ONE(F, 8, cuLibraryLoadFromFile)                                                           \
	ONE(F, 3, cuLinkComplete)                                                                  \
	ONE(F, 3, cuModuleGetFunction)                                                             \
	ONE(F, 3, cuLibraryGetKernel)                                                              \
	ONE(F, 2, cuKernelGetFunction)                                                             \
	ONE(F, 1, cuFuncLoad)                                                                      \
	ONE(F, 1, cuModuleUnload)                                                                  \
	ONE(F, 1, cuLibraryUnload)                                                                 \
	ONE(F, 3, cuCtxCreate_v2)                                                                  \
	ONE(F, 5, cuCtxCreate_v3)                                                                  \
	ONE(F, 4, cuCtxCreate_v4)                                                                  \
	ONE(F, 1, cuCtxDestroy_v2)                                                                 \
	ONE(F, 2, cuDevicePrimaryCtxRetain)                                                        \
	ONE(F, 1, cuDevicePrimaryCtxRelease_v2)                                                    \
	ONE(F, 1, cuDevicePrimaryCtxReset_v2)                                                      \
	ONE(F, 2, cuStreamCreate)                                                                  \
	ONE(F, 3, cuStreamCreateWithPriority)                                                      \
	ONE(F, 1, cuStreamDestroy_v2)                                                              \
	ONE(F, 2, cuEventCreate)                                                                   \
	ONE(F, 1, cuEventDestroy_v2)                                                               \
	PTSZ(F, 1, cuStreamBeginCapture)                                                           \
	PTSZ(F, 2, cuStreamBeginCapture_v2)                                                        \
	PTSZ(F, 6, cuStreamBeginCaptureToGraph)                                                    \
	PTSZ(F, 2, cuStreamEndCapture)                                                             \
	ONE(F, 5, cuGraphInstantiate)                                                              \
	ONE(F, 5, cuGraphInstantiate_v2)                                                           \
	ONE(F, 3, cuGraphInstantiateWithFlags)                                                     \
	PTSZ(F, 3, cuGraphInstantiateWithParams)                                                   \
	ONE(F, 3, cuGraphExecUpdate_v2)                                                            \
	ONE(F, 1, cuGraphExecDestroy)                                                              \
	ONE(F, 1, cuGraphDestroy)
