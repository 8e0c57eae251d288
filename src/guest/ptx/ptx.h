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
	cu_result (*cuModuleLoadDataEx)(void **module, const void *image, unsigned int count,
	                                int *options, void **values);
	cu_result (*cuModuleUnload)(void *module);
	cu_result (*cuModuleGetGlobal_v2)(uint64_t *at, size_t *bytes, void *module,
	                                  const char *name);
	cu_result (*cuLibraryGetGlobal)(uint64_t *at, size_t *bytes, void *library,
	                                const char *name);
	cu_result (*cuFuncGetModule)(void **module, void *function);
	cu_result (*cuKernelGetLibrary)(void **library, void *kernel);
	cu_result (*cuLibraryGetKernel)(void **kernel, void *library, const char *name);
	cu_result (*cuCtxGetCurrent)(cu_context *context);
	cu_result (*cuCtxSetCurrent)(cu_context context);
	cu_result (*cuCtxSynchronize)(void);
	cu_result (*cuStreamCreate)(cu_stream *stream, unsigned int flags);
	cu_result (*cuStreamDestroy_v2)(cu_stream stream);
	cu_result (*cuStreamSynchronize)(cu_stream stream);
	cu_result (*cuMemcpyDtoHAsync_v2)(void *to, uint64_t from, size_t bytes, cu_stream stream);
	cu_result (*cuMemcpyHtoDAsync_v2)(uint64_t to, const void *from, size_t bytes,
	                                  cu_stream stream);
	cu_result (*cuDevicePrimaryCtxGetState)(cu_device device, unsigned int *flags, int *active);
	cu_result (*cuDevicePrimaryCtxRetain)(cu_context *context, cu_device device);
	cu_result (*cuDevicePrimaryCtxRelease_v2)(cu_device device);
	cu_result (*cuThreadExchangeStreamCaptureMode)(cu_capture_mode *mode);
};
extern struct ptx_driver ptx_driver;

// Finds them. False: those that are needed are not there.
bool ptx_driver_find(void);

// Between these two the thread's calls are ours, not the program's, and break no capture.
void ptx_ours_begin(void);
void ptx_ours_end(void);
// Streams that capture, in all of the process.
extern _Atomic int32_t ptx_captures;

// ---- modules.c

struct ptx_loaded;
// A kernel of one of the program's modules. Never given back.
struct ptx_kernel {
	struct ptx_kernel *following; // of its module
	struct ptx_loaded *loaded;    // NULL: of a module that tare does not know
	struct blocks_kernel *row;
	uint64_t *counters;  // in the file; NULL: it is not counted
	uint64_t at;         // its counters in the device's memory
	size_t bytes;        // of them
	uint64_t unread;     // launches since they were read
	uint64_t work_items; // of these
};
// A text that the program has loaded. Never given back.
struct ptx_loaded {
	struct ptx_loaded *following;
	void *handle;
	bool library;
	_Atomic bool gone;
	_Atomic(cu_context) context; // in which its kernels are counted; NULL: none ran
	uint64_t hash;
	const struct blocks_module *module; // in its place; NULL: there is none
	enum blocks_why why;                // which is why
	cu_result code;
	struct ptx_kernel *_Atomic kernels; // that were launched
};
extern struct ptx_loaded *_Atomic ptx_loaded_all;

bool ptx_modules_begin(enum blocks_stage stage);
// A call that loads code begins; its image may be replaced. And it has ended.
void ptx_load_enters(const struct cupti_call *call, bool library, bool with_options);
void ptx_load_leaves(const struct cupti_call *call, bool library);
// A kernel was launched.
void ptx_launched(const struct cupti_call *call, void *function, const uint32_t groups[3],
                  const uint32_t lanes[3]);
// Handles of functions may mean others from now on.
void ptx_handles_change(void);

// ---- counters.c

// A module, or a library of them, is about to go.
void ptx_unloads(void *handle, bool library);
// A context is about to go; NULL: all are.
void ptx_context_ends(cu_context context);
// The program gives up the primary context of a device, which may go, and has done so.
void ptx_device_ends(cu_device device);
void ptx_device_ended(cu_device device);
