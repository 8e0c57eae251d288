// SPDX-License-Identifier: Apache-2.0
// PTX that a CUDA program brings, with counters in it (tare blocks --ptx). In the first run it is
// written down as BUILDs (guest/blocks/shared.h); in the second the driver is given the MODULEs in
// its place, whose counters are variables of theirs. Whatever fails, the program has its own.
#pragma once
#include "guest/blocks/files.h"
#include "guest/cuda/cuda.h"
#include "guest/guest.h"

// The driver's functions that are called from here; NULL: it has none.
struct ptx_driver {
	cu_result (*cuModuleLoadData)(void **module, const void *image);
	cu_result (*cuModuleUnload)(void *module);
	cu_result (*cuModuleGetGlobal_v2)(uint64_t *at, size_t *bytes, void *module,
	                                  const char *name);
	cu_result (*cuLibraryGetGlobal)(uint64_t *at, size_t *bytes, void *library,
	                                const char *name);
	cu_result (*cuFuncGetModule)(void **module, void *function);
	cu_result (*cuKernelGetLibrary)(void **library, void *kernel);
	cu_result (*cuLibraryGetKernel)(void **kernel, void *library, const char *name);
	cu_result (*cuCtxPushCurrent_v2)(cu_context context);
	cu_result (*cuCtxPopCurrent_v2)(cu_context *context);
	cu_result (*cuCtxSynchronize)(void);
	cu_result (*cuMemcpyDtoH_v2)(void *to, uint64_t from, size_t bytes);
	cu_result (*cuMemsetD8_v2)(uint64_t at, unsigned char value, size_t bytes);
};
extern struct ptx_driver ptx_driver;

// Finds them. False: those that are needed are not there.
bool ptx_driver_find(void);

// Whether the thread is in a call of ours to the driver, which is not the program's.
extern _Thread_local bool ptx_is_ours;

// ---- modules.c

bool ptx_modules_begin(enum blocks_stage stage);
// A call that loads code begins; its image may be replaced. And it has ended.
void ptx_load_enters(const struct cupti_call *call, bool library);
void ptx_load_leaves(const struct cupti_call *call, bool library);
// A kernel was launched.
void ptx_launched(const struct cupti_call *call, void *function, const uint32_t groups[3],
                  const uint32_t lanes[3]);
// A module, or a library of them, is about to go.
void ptx_unloads(void *handle, bool library);
// A context is about to go; NULL: all are.
void ptx_context_ends(cu_context context);
