// SPDX-License-Identifier: Apache-2.0
// PTX that a CUDA program brings, with counters in it (tare blocks --ptx). In the first run it is
// written down as BUILDs (guest/blocks/shared.h); in the second the driver is given the MODULEs in
// its place, whose counters are variables of theirs. Whatever fails, the program has its own.
#pragma once
#include "guest/blocks/files.h"
#include "guest/cuda/cuda.h"
#include "guest/guest.h"

struct ptx_grid {
	uint32_t groups[3], lanes[3];
};
// Of a graph's node: CUDA_KERNEL_NODE_PARAMS_v2 of the driver. The first version ends before
// `kernel`.
struct ptx_node_parameters {
	void *function;
	struct ptx_grid grid;
	uint32_t shared_bytes;
	void **parameters, **extra;
	void *kernel; // where there is no function
	cu_context context;
};

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
	// of graphs
	cu_result (*cuGraphGetNodes)(void *graph, void **nodes, size_t *count);
	cu_result (*cuGraphNodeGetType)(void *node, int *type);
	cu_result (*cuGraphKernelNodeGetParams_v2)(void *node, struct ptx_node_parameters *given);
	cu_result (*cuGraphChildGraphNodeGetGraph)(void *node, void **graph);
	cu_result (*cuFuncGetName)(const char **name, void *function);
	cu_result (*cuKernelGetName)(const char **name, void *kernel);
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

extern enum blocks_stage ptx_stage;
bool ptx_modules_begin(enum blocks_stage stage);
// The kernel that a handle is of; NULL: no memory.
struct ptx_kernel *ptx_kernel_of(void *function, const char *name);
uint64_t ptx_items(const struct ptx_grid *grid);
// Counts a launch in a context. A NULL kernel is not known.
void ptx_count(struct ptx_kernel *kernel, cu_context context, uint64_t items);
// A kernel was launched, and not captured.
void ptx_launched(const struct cupti_call *call, void *function, const struct ptx_grid *grid);
// Handles of functions may mean others from now on.
void ptx_handles_change(void);

// ---- loads.c

// How a call that loads code does it.
struct ptx_way {
	bool library; // not a module
	bool with_options;
	bool file; // that it reads
};
// The call begins; its image, or its file's name, may be replaced. And it has ended.
void ptx_load_enters(const struct cupti_call *call, const struct ptx_way *way);
void ptx_load_leaves(const struct cupti_call *call, const struct ptx_way *way);
// cuLinkComplete has succeeded.
void ptx_linked(const struct cupti_call *call);

// ---- fat.c

// The fat binary that an image is, or that its wrapper leads to, and how many bytes it has by its
// own head; `known`: how many there are, SIZE_MAX: not told. NULL: it is not taken, *why says why.
const char *ptx_fat_of(const char *image, size_t known, size_t *bytes, enum blocks_why *why);
// What fat binaries begin with, and what the compiler puts before one.
#define PTX_FAT_BINARY "\x50\xed\x55\xba"
#define PTX_FAT_WRAPPER "\xb1\x43\x62\x46"
// The compute capability, times ten, of the device that code is loaded for; "": not known.
enum { PTX_CAPABILITY_BYTES = 16 };
void ptx_capability(char text[PTX_CAPABILITY_BYTES]);
// Makes a primary context current that the program has, where none is. False: it has none. And
// makes none current again.
bool ptx_context_borrow(cu_device *device);
void ptx_context_return(cu_device device);

// ---- graphs.c

// A graph that can be launched was made of another one, or is as that one from now on. Node
// parameters of it were set, by a call whose structure has a context (`whole`) or not.
void ptx_graph_made(void *exec, void *graph);
void ptx_graph_set(void *exec, void *node, const struct ptx_node_parameters *given, bool whole);
// It was changed in a way that is not followed; it goes.
void ptx_graph_changed(void *exec);
void ptx_graph_ends(void *exec);
// It was launched, from a context.
void ptx_graph_launched(void *exec, cu_context context);

// ---- counters.c

// A module, or a library of them, is about to go.
void ptx_unloads(void *handle, bool library);
// A context is about to go; NULL: all are.
void ptx_context_ends(cu_context context);
// The program gives up the primary context of a device, which may go, and has done so.
void ptx_device_ends(cu_device device);
void ptx_device_ended(cu_device device);
