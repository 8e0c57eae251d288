// SPDX-License-Identifier: Apache-2.0
// The entry by which CUDA's driver lets us in (CUDA_INJECTION64_PATH), within the program's first
// cuInit, and CUPTI's callbacks of the calls that load code, launch it, and let it go.
#include "guest/ptx/ptx.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

EXPORTED int InitializeInjection(void);

enum form {
	NOTHING,
	LOADS_MODULE,
	LOADS_MODULE_EX,
	LOADS_MODULE_FILE,
	LOADS_LIBRARY,
	LOADS_LIBRARY_FILE, // the last that loads
	LINKS,
	LAUNCHES,
	LAUNCHES_CONFIGURED,
	LAUNCHES_GRAPH,
	MAKES_GRAPH,
	UPDATES_GRAPH,
	SETS_NODE,       // by the first version of its parameters
	SETS_NODE_WHOLE, // or the second
	CHANGES_GRAPH,
	GRAPH_GOES,
	UNLOADS_MODULE,
	UNLOADS_LIBRARY,
	CONTEXT_GOES,
	DEVICE_GOES, // its primary context may
	CAPTURE_BEGINS,
	CAPTURE_ENDS,
	OWN_STREAM = 64, // the stream that is 0 is the thread's own
};
static const struct ptx_way ways[] = {
	[LOADS_MODULE] = { .file = false },
	[LOADS_MODULE_EX] = { .with_options = true },
	[LOADS_MODULE_FILE] = { .file = true },
	[LOADS_LIBRARY] = { .library = true },
	[LOADS_LIBRARY_FILE] = { .library = true, .file = true },
};
static uint8_t forms[CUDA_LISTENED_IDS];
static cupti_subscriber subscriber;
struct ptx_driver ptx_driver;
_Atomic int32_t ptx_captures;
static _Thread_local bool is_ours;
static _Thread_local cu_capture_mode mode_before;

// How a launch's parameters lie (cuda.h of the driver).
struct launch_grid {
	struct ptx_grid grid;
	uint32_t shared_bytes;
	cu_stream stream;
};
struct plain_launch {
	void *function;
	struct launch_grid grid;
};
struct configured_launch {
	const struct launch_grid *grid;
	void *function;
};

static const struct cuda_listened calls[] = {
	{ "cuModuleLoadData", LOADS_MODULE },
	{ "cuModuleLoadDataEx", LOADS_MODULE_EX },
	{ "cuModuleLoad", LOADS_MODULE_FILE },
	{ "cuModuleLoadFatBinary", LOADS_MODULE },
	{ "cuLibraryLoadData", LOADS_LIBRARY },
	{ "cuLibraryLoadFromFile", LOADS_LIBRARY_FILE },
	{ "cuLinkComplete", LINKS },
	{ "cuLaunchKernel", LAUNCHES },
	{ "cuLaunchKernel_ptsz", LAUNCHES | OWN_STREAM },
	{ "cuLaunchCooperativeKernel", LAUNCHES },
	{ "cuLaunchCooperativeKernel_ptsz", LAUNCHES | OWN_STREAM },
	{ "cuLaunchKernelEx", LAUNCHES_CONFIGURED },
	{ "cuLaunchKernelEx_ptsz", LAUNCHES_CONFIGURED | OWN_STREAM },
	{ "cuGraphLaunch", LAUNCHES_GRAPH },
	{ "cuGraphLaunch_ptsz", LAUNCHES_GRAPH | OWN_STREAM },
	{ "cuGraphInstantiate", MAKES_GRAPH },
	{ "cuGraphInstantiate_v2", MAKES_GRAPH },
	{ "cuGraphInstantiateWithFlags", MAKES_GRAPH },
	{ "cuGraphInstantiateWithParams", MAKES_GRAPH },
	{ "cuGraphInstantiateWithParams_ptsz", MAKES_GRAPH },
	{ "cuGraphExecUpdate", UPDATES_GRAPH },
	{ "cuGraphExecUpdate_v2", UPDATES_GRAPH },
	{ "cuGraphExecKernelNodeSetParams", SETS_NODE },
	{ "cuGraphExecKernelNodeSetParams_v2", SETS_NODE_WHOLE },
	{ "cuGraphExecNodeSetParams", CHANGES_GRAPH },
	{ "cuGraphExecChildGraphNodeSetParams", CHANGES_GRAPH },
	{ "cuGraphNodeSetEnabled", CHANGES_GRAPH },
	{ "cuGraphExecDestroy", GRAPH_GOES },
	{ "cuModuleUnload", UNLOADS_MODULE },
	{ "cuLibraryUnload", UNLOADS_LIBRARY },
	{ "cuCtxDestroy", CONTEXT_GOES },
	{ "cuCtxDestroy_v2", CONTEXT_GOES },
	{ "cuDevicePrimaryCtxReset", DEVICE_GOES },
	{ "cuDevicePrimaryCtxReset_v2", DEVICE_GOES },
	{ "cuDevicePrimaryCtxRelease", DEVICE_GOES },
	{ "cuDevicePrimaryCtxRelease_v2", DEVICE_GOES },
	{ "cuStreamBeginCapture", CAPTURE_BEGINS },
	{ "cuStreamBeginCapture_ptsz", CAPTURE_BEGINS },
	{ "cuStreamBeginCapture_v2", CAPTURE_BEGINS },
	{ "cuStreamBeginCapture_v2_ptsz", CAPTURE_BEGINS },
	{ "cuStreamBeginCaptureToGraph", CAPTURE_BEGINS },
	{ "cuStreamBeginCaptureToGraph_ptsz", CAPTURE_BEGINS },
	{ "cuStreamEndCapture", CAPTURE_ENDS },
	{ "cuStreamEndCapture_ptsz", CAPTURE_ENDS },
};

static bool loads(enum form form)
{
	return form >= LOADS_MODULE && form <= LOADS_LIBRARY_FILE;
}

static void enters(enum form form, const struct cupti_call *call)
{
	void *const *parameters = call->parameters;

	if (loads(form))
		ptx_load_enters(call, &ways[form]);
	else if (form == UNLOADS_MODULE || form == UNLOADS_LIBRARY)
		ptx_unloads(parameters[0], form == UNLOADS_LIBRARY);
	else if (form == CONTEXT_GOES)
		ptx_context_ends(parameters[0]);
	else if (form == DEVICE_GOES)
		ptx_device_ends(*(const cu_device *)call->parameters);
	else if (form == GRAPH_GOES)
		ptx_graph_ends(parameters[0]);
	else if (form == CAPTURE_BEGINS)
		atomic_fetch_add(&ptx_captures, 1);
}

// What is captured does not run. Nobody is asked while nothing captures.
static bool is_captured(cu_stream stream, bool own_stream)
{
	int status = 0;

	if (atomic_load(&ptx_captures) <= 0 || !cuda_driver.cuStreamIsCapturing)
		return false;
	stream = !stream && own_stream ? ABI_STREAM_PER_THREAD : stream;
	return cuda_driver.cuStreamIsCapturing(stream, &status) == ABI_SUCCESS && status != 0;
}

static void launched(enum form form, bool own_stream, const struct cupti_call *call)
{
	const struct plain_launch *plain = call->parameters;
	const struct configured_launch *configured = call->parameters;
	const struct launch_grid *grid = form == LAUNCHES ? &plain->grid : configured->grid;

	if (grid != NULL && !is_captured(grid->stream, own_stream))
		ptx_launched(call, form == LAUNCHES ? plain->function : configured->function,
		             &grid->grid);
}

static void graph_called(enum form form, bool own_stream, const struct cupti_call *call)
{
	void *const *parameters = call->parameters;

	if (form == LAUNCHES_GRAPH && !is_captured(parameters[1], own_stream))
		ptx_graph_launched(parameters[0], call->context);
	else if (form == MAKES_GRAPH && parameters[0] != NULL)
		ptx_graph_made(*(void **)parameters[0], parameters[1]);
	else if (form == UPDATES_GRAPH)
		ptx_graph_made(parameters[0], parameters[1]);
	else if (form == SETS_NODE || form == SETS_NODE_WHOLE)
		ptx_graph_set(parameters[0], parameters[1], parameters[2], form == SETS_NODE_WHOLE);
	else if (form == CHANGES_GRAPH)
		ptx_graph_changed(parameters[0]);
}

static void leaves(enum form form, bool own_stream, const struct cupti_call *call)
{
	bool succeeded = *(const cu_result *)call->result == ABI_SUCCESS;

	if (loads(form))
		ptx_load_leaves(call, &ways[form]);
	else if (form == DEVICE_GOES)
		ptx_device_ended(*(const cu_device *)call->parameters);
	else if (form == (succeeded ? CAPTURE_ENDS : CAPTURE_BEGINS))
		atomic_fetch_sub(&ptx_captures, 1);
	if (!succeeded)
		return;
	if (form == LAUNCHES || form == LAUNCHES_CONFIGURED)
		launched(form, own_stream, call);
	else if (form == LINKS)
		ptx_linked(call);
	else if (form >= LAUNCHES_GRAPH && form <= CHANGES_GRAPH)
		graph_called(form, own_stream, call);
}

static void callback(void *context, cupti_domain domain, uint32_t id, const void *data)
{
	const struct cupti_call *call = data;
	int error = errno;

	(void)context;
	// In the child of a fork there is no CUDA.
	if (domain == ABI_CUPTI_DOMAIN_DRIVER && id < CUDA_LISTENED_IDS && forms[id] && !is_ours &&
	    blocks_counts->pid == (uint32_t)getpid()) {
		if (call->site == ABI_CUPTI_SITE_ENTER)
			enters((enum form)(forms[id] & (OWN_STREAM - 1)), call);
		else
			leaves((enum form)(forms[id] & (OWN_STREAM - 1)), forms[id] & OWN_STREAM,
			       call);
	}
	errno = error;
}

static void exchange_mode(void)
{
	if (ptx_driver.cuThreadExchangeStreamCaptureMode != NULL)
		ptx_driver.cuThreadExchangeStreamCaptureMode(&mode_before);
}

void ptx_ours_begin(void)
{
	is_ours = true;
	mode_before = ABI_STREAM_CAPTURE_MODE_RELAXED;
	exchange_mode();
}

void ptx_ours_end(void)
{
	exchange_mode();
	is_ours = false;
}

bool ptx_driver_find(void)
{
#define SYMBOL(name, needed) { #name, &ptx_driver.name, needed }
	static const struct cuda_symbol symbols[] = {
		SYMBOL(cuModuleLoadDataEx, true),
		SYMBOL(cuModuleUnload, true),
		SYMBOL(cuModuleGetGlobal_v2, true),
		SYMBOL(cuLibraryGetGlobal, false),
		SYMBOL(cuFuncGetModule, true),
		SYMBOL(cuKernelGetLibrary, false),
		SYMBOL(cuLibraryGetKernel, false),
		SYMBOL(cuCtxGetCurrent, true),
		SYMBOL(cuCtxSetCurrent, true),
		SYMBOL(cuCtxSynchronize, true),
		SYMBOL(cuStreamCreate, true),
		SYMBOL(cuStreamDestroy_v2, true),
		SYMBOL(cuStreamSynchronize, true),
		SYMBOL(cuMemcpyDtoHAsync_v2, true),
		SYMBOL(cuMemcpyHtoDAsync_v2, true),
		SYMBOL(cuDevicePrimaryCtxGetState, false),
		SYMBOL(cuDevicePrimaryCtxRetain, false),
		SYMBOL(cuDevicePrimaryCtxRelease_v2, false),
		SYMBOL(cuThreadExchangeStreamCaptureMode, false),
		SYMBOL(cuGraphGetNodes, false),
		SYMBOL(cuGraphNodeGetType, false),
		SYMBOL(cuGraphKernelNodeGetParams_v2, false),
		SYMBOL(cuGraphChildGraphNodeGetGraph, false),
		SYMBOL(cuFuncGetName, false),
		SYMBOL(cuKernelGetName, false),
	};
#undef SYMBOL
	void *library = dlopen(cuda_library, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);

	return library && cuda_find_symbols(library, symbols, sizeof symbols / sizeof *symbols);
}

static void end(void)
{
	if (blocks_counts->pid == (uint32_t)getpid())
		ptx_context_ends(NULL);
}

static enum blocks_unseen subscribe(enum blocks_stage stage)
{
	if (!ptx_driver_find() || !ptx_modules_begin(stage))
		return BLOCKS_OLD_DRIVER;
	if (!cuda_cupti_open() || !cuda_cupti.cuptiEnableCallback)
		return BLOCKS_NO_CUPTI;
	return cuda_cupti.cuptiSubscribe(&subscriber, callback, NULL) == ABI_CUPTI_SUCCESS
	           ? BLOCKS_SEEN
	           : BLOCKS_CUPTI_TAKEN;
}

static void begin(const void *caller)
{
	cuda_driver_open(caller);
	blocks_files_apart();
	enum blocks_stage stage = blocks_files_begin();
	if (stage != BLOCKS_COLLECT && stage != BLOCKS_COUNT)
		return;
	blocks_counts->unseen = (uint32_t)subscribe(stage);
	if (blocks_counts->unseen != BLOCKS_SEEN)
		return;
	cuda_listen(subscriber, calls, sizeof calls / sizeof *calls, forms);
	// Runs before what the driver has registered: its memory can be read while it may be.
	atexit(end);
}

int InitializeInjection(void)
{
	return cuda_let_in(__builtin_return_address(0), begin);
}
