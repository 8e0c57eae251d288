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
	LOADS_LIBRARY,
	LAUNCHES,
	LAUNCHES_CONFIGURED,
	LAUNCHES_GRAPH,
	UNLOADS_MODULE,
	UNLOADS_LIBRARY,
	CONTEXT_GOES,
	CONTEXTS_GO,
};
static uint8_t forms[CALLBACKS];
static cupti_subscriber subscriber;
struct ptx_driver ptx_driver;
_Thread_local bool ptx_is_ours;

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
		{ "cuModuleLoadDataEx", LOADS_MODULE },
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
		{ "cuDevicePrimaryCtxReset", CONTEXTS_GO },
		{ "cuDevicePrimaryCtxReset_v2", CONTEXTS_GO },
		{ "cuDevicePrimaryCtxRelease", CONTEXTS_GO },
		{ "cuDevicePrimaryCtxRelease_v2", CONTEXTS_GO },
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
	case LOADS_LIBRARY:
		ptx_load_enters(call, form == LOADS_LIBRARY);
		break;
	case UNLOADS_MODULE:
	case UNLOADS_LIBRARY:
		ptx_unloads(parameters[0], form == UNLOADS_LIBRARY);
		break;
	case CONTEXT_GOES:
		ptx_context_ends(parameters[0]);
		break;
	case CONTEXTS_GO:
		ptx_context_ends(NULL);
		break;
	default:
		break;
	}
}

static void leaves(enum form form, const struct cupti_call *call)
{
	const struct plain_launch *plain = call->parameters;
	const struct configured_launch *configured = call->parameters;

	if (form == LOADS_MODULE || form == LOADS_LIBRARY)
		ptx_load_leaves(call, form == LOADS_LIBRARY);
	if (*(const cu_result *)call->result != ABI_SUCCESS)
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
	if (domain == ABI_CUPTI_DOMAIN_DRIVER && id < CALLBACKS && forms[id] && !ptx_is_ours &&
	    blocks_counts->pid == (uint32_t)getpid()) {
		if (call->site == ABI_CUPTI_SITE_ENTER)
			enters((enum form)forms[id], call);
		else
			leaves((enum form)forms[id], call);
	}
	errno = error;
}

bool ptx_driver_find(void)
{
#define SYMBOL(name, needed) { #name, &ptx_driver.name, needed }
	static const struct cuda_symbol symbols[] = {
		SYMBOL(cuModuleLoadData, true),     SYMBOL(cuModuleUnload, true),
		SYMBOL(cuModuleGetGlobal_v2, true), SYMBOL(cuLibraryGetGlobal, false),
		SYMBOL(cuFuncGetModule, true),      SYMBOL(cuKernelGetLibrary, false),
		SYMBOL(cuLibraryGetKernel, false),  SYMBOL(cuCtxPushCurrent_v2, true),
		SYMBOL(cuCtxPopCurrent_v2, true),   SYMBOL(cuCtxSynchronize, true),
		SYMBOL(cuMemcpyDtoH_v2, true),      SYMBOL(cuMemsetD8_v2, true),
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

static void begin(const void *caller)
{
	cuda_driver_open(caller);
	blocks_files_apart();
	enum blocks_stage stage = blocks_files_begin();
	if ((stage != BLOCKS_COLLECT && stage != BLOCKS_COUNT) || !ptx_driver_find() ||
	    !cuda_cupti_open() || !cuda_cupti.cuptiEnableCallback || !ptx_modules_begin(stage) ||
	    cuda_cupti.cuptiSubscribe(&subscriber, callback, NULL) != ABI_CUPTI_SUCCESS)
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
