// SPDX-License-Identifier: Apache-2.0
// Calls of the stand-in for libcuda that load code or change graphs (fake_cuda_load.c,
// fake_cuda_node.c), as CUPTI is told of them: who is told may put another image or name in the
// place of the second parameter.
#pragma once
#include "fake_cuda_device.h"

struct fake_link;

// X(name, (parameters), (what is held), (arguments), members of a structure of what is held)
#define FAKE_CUDA_LOADS(X)                                                                         \
	X(cuModuleLoad, (cu_module * handle, const char *image), (handle, image),                  \
	  (held.handle, held.image), cu_module *handle;                                            \
	  const char *image;)                                                                      \
	X(cuModuleLoadData, (cu_module * handle, const void *image), (handle, image),              \
	  (held.handle, held.image), cu_module *handle;                                            \
	  const void *image;)                                                                      \
	X(cuModuleLoadFatBinary, (cu_module * handle, const void *image), (handle, image),         \
	  (held.handle, held.image), cu_module *handle;                                            \
	  const void *image;)                                                                      \
	X(cuLibraryLoadData,                                                                       \
	  (cu_module * handle, const void *image, cu_jit_option *options, void **values,           \
	   unsigned int count, void *own, void **own_values, unsigned int own_count),              \
	  (handle, image, options, values, count),                                                 \
	  (held.handle, held.image, options, values, count, own, own_values, own_count),           \
	  cu_module *handle;                                                                       \
	  const void *image; cu_jit_option * options; void **values; unsigned int count;)          \
	X(cuLibraryLoadFromFile,                                                                   \
	  (cu_module * handle, const char *image, cu_jit_option *options, void **values,           \
	   unsigned int count, void *own, void **own_values, unsigned int own_count),              \
	  (handle, image, options, values, count),                                                 \
	  (held.handle, held.image, options, values, count, own, own_values, own_count),           \
	  cu_module *handle;                                                                       \
	  const char *image; cu_jit_option * options; void **values; unsigned int count;)          \
	X(cuLibraryUnload, (cu_module handle), (handle), (held.handle), cu_module handle;)         \
	X(cuLinkComplete, (struct fake_link * handle, void **code, size_t *bytes),                 \
	  (handle, code, bytes), (handle, code, bytes), struct fake_link *handle;                  \
	  void **code; size_t *bytes;)                                                             \
	X(cuGraphExecKernelNodeSetParams_v2,                                                       \
	  (cu_graph_exec handle, void *node, const void *given), (handle, node, given),            \
	  (handle, node, given), cu_graph_exec handle;                                             \
	  void *node; const void *given;)                                                          \
	X(cuGraphNodeSetEnabled, (cu_graph_exec handle, void *node, unsigned int enabled),         \
	  (handle, node, enabled), (handle, node, enabled), cu_graph_exec handle;                  \
	  void *node; unsigned int enabled;)

#define FAKE_CUDA_LOAD(name, parameters, ...) cu_result fake_##name parameters;
FAKE_CUDA_LOADS(FAKE_CUDA_LOAD)
#undef FAKE_CUDA_LOAD

FAKE_EXPORT cu_result cuModuleGetGlobal_v2(uint64_t *at, size_t *bytes,
                                           struct cu_module_object *module, const char *name);
