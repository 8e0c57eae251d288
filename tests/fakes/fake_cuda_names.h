// SPDX-License-Identifier: Apache-2.0
// Functions of the stand-in for libcuda whose calls CUPTI is told of: fake_cuda_calls.c exports
// them under their names, and what they do is defined elsewhere under others.
#pragma once

// X(name, (parameters), (arguments), members of a structure of them)
#define FAKE_CUDA_CALLS(X)                                                                         \
	X(cuDevicePrimaryCtxRetain, (cu_context * context, cu_device device), (context, device),   \
	  cu_context *context;                                                                     \
	  cu_device device;)                                                                       \
	X(cuDevicePrimaryCtxRelease_v2, (cu_device device), (device), cu_device device;)           \
	X(cuDeviceGetAttribute, (int *value, cu_attribute attribute, cu_device device),            \
	  (value, attribute, device), int *value;                                                  \
	  cu_attribute attribute; cu_device device;)                                               \
	X(cuMemGetInfo_v2, (size_t *vacant, size_t *total), (vacant, total), size_t *vacant,       \
	  *total;)                                                                                 \
	X(cuCtxSynchronize, (void), (), int nothing;)                                              \
	X(cuMemAlloc_v2, (cu_pointer * pointer, size_t bytes), (pointer, bytes),                   \
	  cu_pointer *pointer;                                                                     \
	  size_t bytes;)                                                                           \
	X(cuMemFree_v2, (cu_pointer pointer), (pointer), cu_pointer pointer;)                      \
	X(cuMemHostAlloc, (void **pointer, size_t bytes, unsigned int flags),                      \
	  (pointer, bytes, flags), void **pointer;                                                 \
	  size_t bytes; unsigned int flags;)                                                       \
	X(cuMemFreeHost, (void *pointer), (pointer), void *pointer;)                               \
	X(cuMemHostRegister_v2, (void *pointer, size_t bytes, unsigned int flags),                 \
	  (pointer, bytes, flags), void *pointer;                                                  \
	  size_t bytes; unsigned int flags;)                                                       \
	X(cuMemHostUnregister, (void *pointer), (pointer), void *pointer;)                         \
	X(cuMemAllocManaged, (cu_pointer * pointer, size_t bytes, unsigned int flags),             \
	  (pointer, bytes, flags), cu_pointer *pointer;                                            \
	  size_t bytes; unsigned int flags;)                                                       \
	X(cuMemMap,                                                                                \
	  (cu_pointer pointer, size_t bytes, size_t offset, uint64_t handle, uint64_t flags),      \
	  (pointer, bytes, offset, handle, flags), cu_pointer pointer;                             \
	  size_t bytes, offset; uint64_t handle, flags;)                                           \
	X(cuMemUnmap, (cu_pointer pointer, size_t bytes), (pointer, bytes), cu_pointer pointer;    \
	  size_t bytes;)                                                                           \
	X(cuMemcpyAsync, (cu_pointer to, cu_pointer from, size_t bytes, cu_stream stream),         \
	  (to, from, bytes, stream), cu_pointer to, from;                                          \
	  size_t bytes; cu_stream stream;)                                                         \
	X(cuMemcpyHtoDAsync_v2, (cu_pointer to, const void *from, size_t bytes, cu_stream stream), \
	  (to, from, bytes, stream), cu_pointer to;                                                \
	  const void *from; size_t bytes; cu_stream stream;)                                       \
	X(cuMemcpyDtoHAsync_v2, (void *to, cu_pointer from, size_t bytes, cu_stream stream),       \
	  (to, from, bytes, stream), void *to;                                                     \
	  cu_pointer from; size_t bytes; cu_stream stream;)                                        \
	X(cuMemcpyDtoDAsync_v2, (cu_pointer to, cu_pointer from, size_t bytes, cu_stream stream),  \
	  (to, from, bytes, stream), cu_pointer to, from;                                          \
	  size_t bytes; cu_stream stream;)                                                         \
	X(cuMemcpyPeerAsync,                                                                       \
	  (cu_pointer to, cu_context to_context, cu_pointer from, cu_context from_context,         \
	   size_t bytes, cu_stream stream),                                                        \
	  (to, to_context, from, from_context, bytes, stream), cu_pointer to;                      \
	  cu_context to_context; cu_pointer from; cu_context from_context; size_t bytes;           \
	  cu_stream stream;)                                                                       \
	X(cuMemcpy, (cu_pointer to, cu_pointer from, size_t bytes), (to, from, bytes),             \
	  cu_pointer to, from;                                                                     \
	  size_t bytes;)                                                                           \
	X(cuMemcpyHtoD_v2, (cu_pointer to, const void *from, size_t bytes), (to, from, bytes),     \
	  cu_pointer to;                                                                           \
	  const void *from; size_t bytes;)                                                         \
	X(cuMemcpyDtoH_v2, (void *to, cu_pointer from, size_t bytes), (to, from, bytes), void *to; \
	  cu_pointer from; size_t bytes;)                                                          \
	X(cuMemcpy3DAsync_v2, (const cu_memcpy3d *what, cu_stream stream), (what, stream),         \
	  const cu_memcpy3d *what;                                                                 \
	  cu_stream stream;)                                                                       \
	X(cuMemsetD8Async, (cu_pointer to, unsigned char value, size_t count, cu_stream stream),   \
	  (to, value, count, stream), cu_pointer to;                                               \
	  unsigned char value; size_t count; cu_stream stream;)                                    \
	X(cuMemsetD16Async, (cu_pointer to, unsigned short value, size_t count, cu_stream stream), \
	  (to, value, count, stream), cu_pointer to;                                               \
	  unsigned short value; size_t count; cu_stream stream;)                                   \
	X(cuMemsetD32Async, (cu_pointer to, unsigned int value, size_t count, cu_stream stream),   \
	  (to, value, count, stream), cu_pointer to;                                               \
	  unsigned int value; size_t count; cu_stream stream;)                                     \
	X(cuStreamCreate, (cu_stream * stream, unsigned int flags), (stream, flags),               \
	  cu_stream *stream;                                                                       \
	  unsigned int flags;)                                                                     \
	X(cuStreamCreateWithPriority, (cu_stream * stream, unsigned int flags, int priority),      \
	  (stream, flags, priority), cu_stream *stream;                                            \
	  unsigned int flags; int priority;)                                                       \
	X(cuStreamDestroy_v2, (cu_stream stream), (stream), cu_stream stream;)                     \
	X(cuStreamSynchronize, (cu_stream stream), (stream), cu_stream stream;)                    \
	X(cuStreamQuery, (cu_stream stream), (stream), cu_stream stream;)                          \
	X(cuStreamWaitEvent, (cu_stream stream, cu_event event, unsigned int flags),               \
	  (stream, event, flags), cu_stream stream;                                                \
	  cu_event event; unsigned int flags;)                                                     \
	X(cuStreamBeginCapture_v2, (cu_stream stream, cu_capture_mode mode), (stream, mode),       \
	  cu_stream stream;                                                                        \
	  cu_capture_mode mode;)                                                                   \
	X(cuStreamEndCapture, (cu_stream stream, cu_graph * graph), (stream, graph),               \
	  cu_stream stream;                                                                        \
	  cu_graph * graph;)                                                                       \
	X(cuGraphInstantiateWithFlags,                                                             \
	  (cu_graph_exec * exec, cu_graph graph, unsigned long long flags), (exec, graph, flags),  \
	  cu_graph_exec *exec;                                                                     \
	  cu_graph graph; unsigned long long flags;)                                               \
	X(cuGraphLaunch, (cu_graph_exec exec, cu_stream stream), (exec, stream),                   \
	  cu_graph_exec exec;                                                                      \
	  cu_stream stream;)                                                                       \
	X(cuEventCreate, (cu_event * event, unsigned int flags), (event, flags), cu_event *event;  \
	  unsigned int flags;)                                                                     \
	X(cuEventDestroy_v2, (cu_event event), (event), cu_event event;)                           \
	X(cuEventRecord, (cu_event event, cu_stream stream), (event, stream), cu_event event;      \
	  cu_stream stream;)                                                                       \
	X(cuEventQuery, (cu_event event), (event), cu_event event;)                                \
	X(cuEventSynchronize, (cu_event event), (event), cu_event event;)                          \
	X(cuLaunchHostFunc, (cu_stream stream, cu_host_function function, void *data),             \
	  (stream, function, data), cu_stream stream;                                              \
	  cu_host_function function; void *data;)                                                  \
	X(cuModuleUnload, (cu_module module), (module), cu_module module;)                         \
	X(cuModuleGetFunction, (cu_function * function, cu_module module, const char *name),       \
	  (function, module, name), cu_function *function;                                         \
	  cu_module module; const char *name;)

#ifndef FAKE_CUDA_CALLERS
#define cuDevicePrimaryCtxRetain fake_cuDevicePrimaryCtxRetain
#define cuDevicePrimaryCtxRelease_v2 fake_cuDevicePrimaryCtxRelease_v2
#define cuDeviceGetAttribute fake_cuDeviceGetAttribute
#define cuMemGetInfo_v2 fake_cuMemGetInfo_v2
#define cuCtxSynchronize fake_cuCtxSynchronize
#define cuMemAlloc_v2 fake_cuMemAlloc_v2
#define cuMemFree_v2 fake_cuMemFree_v2
#define cuMemHostAlloc fake_cuMemHostAlloc
#define cuMemFreeHost fake_cuMemFreeHost
#define cuMemHostRegister_v2 fake_cuMemHostRegister_v2
#define cuMemHostUnregister fake_cuMemHostUnregister
#define cuMemAllocManaged fake_cuMemAllocManaged
#define cuMemMap fake_cuMemMap
#define cuMemUnmap fake_cuMemUnmap
#define cuMemcpyAsync fake_cuMemcpyAsync
#define cuMemcpyHtoDAsync_v2 fake_cuMemcpyHtoDAsync_v2
#define cuMemcpyDtoHAsync_v2 fake_cuMemcpyDtoHAsync_v2
#define cuMemcpyDtoDAsync_v2 fake_cuMemcpyDtoDAsync_v2
#define cuMemcpyPeerAsync fake_cuMemcpyPeerAsync
#define cuMemcpy fake_cuMemcpy
#define cuMemcpyHtoD_v2 fake_cuMemcpyHtoD_v2
#define cuMemcpyDtoH_v2 fake_cuMemcpyDtoH_v2
#define cuMemcpy3DAsync_v2 fake_cuMemcpy3DAsync_v2
#define cuMemsetD8Async fake_cuMemsetD8Async
#define cuMemsetD16Async fake_cuMemsetD16Async
#define cuMemsetD32Async fake_cuMemsetD32Async
#define cuStreamCreate fake_cuStreamCreate
#define cuStreamCreateWithPriority fake_cuStreamCreateWithPriority
#define cuStreamDestroy_v2 fake_cuStreamDestroy_v2
#define cuStreamSynchronize fake_cuStreamSynchronize
#define cuStreamQuery fake_cuStreamQuery
#define cuStreamWaitEvent fake_cuStreamWaitEvent
#define cuStreamBeginCapture_v2 fake_cuStreamBeginCapture_v2
#define cuStreamEndCapture fake_cuStreamEndCapture
#define cuGraphInstantiateWithFlags fake_cuGraphInstantiateWithFlags
#define cuGraphLaunch fake_cuGraphLaunch
#define cuEventCreate fake_cuEventCreate
#define cuEventDestroy_v2 fake_cuEventDestroy_v2
#define cuEventRecord fake_cuEventRecord
#define cuEventQuery fake_cuEventQuery
#define cuEventSynchronize fake_cuEventSynchronize
#define cuLaunchHostFunc fake_cuLaunchHostFunc
#define cuModuleLoadDataEx fake_cuModuleLoadDataEx
#define cuModuleUnload fake_cuModuleUnload
#define cuModuleGetFunction fake_cuModuleGetFunction
#define cuLaunchKernel fake_cuLaunchKernel
#endif
