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

enum { CALLBACKS = 4096 };

enum form {
	NOTHING,
	LOADS_MODULE,
	LOADS_MODULE_EX,
	LOADS_LIBRARY,
	LAUNCHES,
	LAUNCHES_CONFIGURED,
	LAUNCHES_GRAPH,
	UNLOADS_MODULE,
	UNLOADS_LIBRARY,
	CONTEXT_GOES,
	DEVICE_GOES, // its primary context may
	CAPTURE_BEGINS,
	CAPTURE_ENDS,
};
static uint8_t forms[CALLBACKS];
static cupti_subscriber subscriber;
struct ptx_driver ptx_driver;
_Atomic int32_t ptx_captures;
static _Thread_local bool is_ours;
static _Thread_local cu_capture_mode mode_before;

// How a launch's parameters lie (cuda.h of the driver).
struct grid {
	uint32_t groups[3], lanes[3];
};
struct plain_launch {
	void *function;
	struct grid grid;
};
struct configured_launch {
	const struct grid *grid;
	void *function;
};

static enum form form_of(const char *name)
{
	static const struct {
		const char *name;
		enum form form;
	} calls[] = {
		{ "cuModuleLoadData", LOADS_MODULE },
		{ "cuModuleLoadDataEx", LOADS_MODULE_EX },
		{ "cuLibraryLoadData", LOADS_LIBRARY },
		{ "cuLaunchKernel", LAUNCHES },
		{ "cuLaunchKernel_ptsz", LAUNCHES },
		{ "cuLaunchCooperativeKernel", LAUNCHES },
		{ "cuLaunchCooperativeKernel_ptsz", LAUNCHES },
		{ "cuLaunchKernelEx", LAUNCHES_CONFIGURED },
		{ "cuLaunchKernelEx_ptsz", LAUNCHES_CONFIGURED },
		{ "cuGraphLaunch", LAUNCHES_GRAPH },
		{ "cuGraphLaunch_ptsz", LAUNCHES_GRAPH },
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

	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
		if (strcmp(name, calls[i].name) == 0)
			return calls[i].form;
	return NOTHING;
}

static void enters(enum form form, const struct cupti_call *call)
{
	void *const *parameters = call->parameters;

	switch (form) {
	case LOADS_MODULE:
	case LOADS_MODULE_EX:
	case LOADS_LIBRARY:
		ptx_load_enters(call, form == LOADS_LIBRARY, form == LOADS_MODULE_EX);
		break;
	case UNLOADS_MODULE:
	case UNLOADS_LIBRARY:
		ptx_unloads(parameters[0], form == UNLOADS_LIBRARY);
		break;
	case CONTEXT_GOES:
		ptx_context_ends(parameters[0]);
		break;
	case DEVICE_GOES:
		ptx_device_ends(*(const cu_device *)call->parameters);
		break;
	case CAPTURE_BEGINS:
		atomic_fetch_add(&ptx_captures, 1);
		break;
	default:
		break;
	}
}

static void leaves(enum form form, const struct cupti_call *call)
{
	const struct plain_launch *plain = call->parameters;
	const struct configured_launch *configured = call->parameters;

	bool succeeded = *(const cu_result *)call->result == ABI_SUCCESS;

	if (form == LOADS_MODULE || form == LOADS_MODULE_EX || form == LOADS_LIBRARY)
		ptx_load_leaves(call, form == LOADS_LIBRARY);
	else if (form == DEVICE_GOES)
		ptx_device_ended(*(const cu_device *)call->parameters);
	else if (form == (succeeded ? CAPTURE_ENDS : CAPTURE_BEGINS))
		atomic_fetch_sub(&ptx_captures, 1);
	if (!succeeded)
		return;
	if (form == LAUNCHES)
		ptx_launched(call, plain->function, plain->grid.groups, plain->grid.lanes);
	else if (form == LAUNCHES_CONFIGURED && configured->grid)
		ptx_launched(call, configured->function, configured->grid->groups,
		             configured->grid->lanes);
	else if (form == LAUNCHES_GRAPH)
		blocks_count_launch(NULL, false, 0);
}

static void callback(void *context, cupti_domain domain, uint32_t id, const void *data)
{
	const struct cupti_call *call = data;
	int error = errno;

	(void)context;
	// In the child of a fork there is no CUDA.
	if (domain == ABI_CUPTI_DOMAIN_DRIVER && id < CALLBACKS && forms[id] && !is_ours &&
	    blocks_counts->pid == (uint32_t)getpid()) {
		if (call->site == ABI_CUPTI_SITE_ENTER)
			enters((enum form)forms[id], call);
		else
			leaves((enum form)forms[id], call);
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
	for (uint32_t id = 1; id < CALLBACKS; id++) {
		const char *name = NULL;
		if (cuda_cupti.cuptiGetCallbackName(ABI_CUPTI_DOMAIN_DRIVER, id, &name) !=
		        ABI_CUPTI_SUCCESS ||
		    !name)
			continue;
		forms[id] = (uint8_t)form_of(name);
		if (forms[id])
			cuda_cupti.cuptiEnableCallback(1, subscriber, ABI_CUPTI_DOMAIN_DRIVER, id);
	}
	// Runs before what the driver has registered: its memory can be read while it may be.
	atexit(end);
}

int InitializeInjection(void)
{
	static uint32_t entered;
	int error = errno;

	// NVIDIA's OpenCL has a driver of its own inside: that is not the program's CUDA.
	if (cuda_is_driver(__builtin_return_address(0)) &&
	    __atomic_exchange_n(&entered, 1, __ATOMIC_ACQ_REL) == 0)
		begin(__builtin_return_address(0));
	errno = error;
	return 1;
}
