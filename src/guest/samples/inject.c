// SPDX-License-Identifier: Apache-2.0
// The entry by which CUDA's driver lets us in (CUDA_INJECTION64_PATH), within the program's first
// cuInit, and CUPTI's callbacks: contexts, modules, and launches.
#include "guest/cuda/cuda.h"
#include "guest/samples/samples.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define EXPORTED __attribute__((visibility("default")))

EXPORTED int InitializeInjection(void);

// How a launch's parameters lie (cuda.h of the driver): the kernel, then its grid, its shared
// memory and its stream; or a pointer to a configuration that begins with these.
enum form {
	NOTHING,
	PLAIN,
	CONFIGURED,
	GRAPH,
	CAPTURE_BEGINS,
	CAPTURE_ENDS,
	MODULE_GOES,
	LIBRARY_GOES,
	CONTEXT_GOES,
	DEVICE_RESETS,
	OWN_STREAM = 16,
};
static uint8_t forms[CUDA_LISTENED_IDS];
static cupti_subscriber subscriber;

struct plain_launch {
	void *function;
	struct samples_grid grid;
};
struct configured_launch {
	const struct samples_grid *grid;
	void *function;
};

// With OWN_STREAM the stream that is 0 is the thread's own.
static const struct cuda_listened calls[] = {
	{ "cuLaunchKernel", PLAIN },
	{ "cuLaunchKernel_ptsz", PLAIN | OWN_STREAM },
	{ "cuLaunchCooperativeKernel", PLAIN },
	{ "cuLaunchCooperativeKernel_ptsz", PLAIN | OWN_STREAM },
	{ "cuLaunchKernelEx", CONFIGURED },
	{ "cuLaunchKernelEx_ptsz", CONFIGURED | OWN_STREAM },
	{ "cuGraphLaunch", GRAPH },
	{ "cuGraphLaunch_ptsz", GRAPH },
	{ "cuStreamBeginCapture", CAPTURE_BEGINS },
	{ "cuStreamBeginCapture_ptsz", CAPTURE_BEGINS },
	{ "cuStreamBeginCapture_v2", CAPTURE_BEGINS },
	{ "cuStreamBeginCapture_v2_ptsz", CAPTURE_BEGINS },
	{ "cuStreamBeginCaptureToGraph", CAPTURE_BEGINS },
	{ "cuStreamBeginCaptureToGraph_ptsz", CAPTURE_BEGINS },
	{ "cuStreamEndCapture", CAPTURE_ENDS },
	{ "cuStreamEndCapture_ptsz", CAPTURE_ENDS },
	{ "cuModuleUnload", MODULE_GOES },
	{ "cuLibraryUnload", LIBRARY_GOES },
	{ "cuCtxDestroy", CONTEXT_GOES },
	{ "cuCtxDestroy_v2", CONTEXT_GOES },
	{ "cuDevicePrimaryCtxReset", DEVICE_RESETS },
	{ "cuDevicePrimaryCtxReset_v2", DEVICE_RESETS },
};

static void launched_graph(void)
{
	__atomic_fetch_add(&samples_file->header.graphs, 1, __ATOMIC_RELAXED);
	samples_exact_graph();
}

static void launches(enum form form, bool own_stream, const struct cupti_call *call)
{
	const struct samples_grid *grid =
	    form == PLAIN ? &((const struct plain_launch *)call->parameters)->grid
	                  : ((const struct configured_launch *)call->parameters)->grid;

	if (!grid || !call->symbol)
		return;
	cu_stream stream = !grid->stream && own_stream ? ABI_STREAM_PER_THREAD : grid->stream;
	if (call->site == ABI_CUPTI_SITE_ENTER) {
		samples_exact_enters(call, stream);
		return;
	}
	if (samples_file->header.counts_launches)
		samples_count_launch(call->symbol, samples_warps(grid));
	samples_exact_leaves(call, stream, samples_warps(grid));
}

static void see_call(uint8_t how, const struct cupti_call *call)
{
	bool leaves = call->site == ABI_CUPTI_SITE_EXIT,
	     failed = leaves && *(const cu_result *)call->result != ABI_SUCCESS;
	enum form form = how & (OWN_STREAM - 1);

	switch (form) {
	case PLAIN:
	case CONFIGURED:
		if (!failed)
			launches(form, how & OWN_STREAM, call);
		break;
	case GRAPH:
		if (leaves && !failed)
			launched_graph();
		break;
	case CAPTURE_BEGINS: // it counts from its call on, for that may be long
		if (!leaves || failed)
			samples_exact_captures(leaves ? -1 : 1);
		break;
	case CAPTURE_ENDS:
		if (leaves)
			samples_exact_captures(-1);
		break;
	case MODULE_GOES:
	case LIBRARY_GOES:
		if (!leaves)
			samples_exact_unloads(*(void *const *)call->parameters,
			                      form == LIBRARY_GOES);
		break;
	// Before the driver has taken its locks, which the callback of the resource is within.
	case CONTEXT_GOES:
		if (!leaves)
			samples_exact_ends(*(const cu_context *)call->parameters);
		break;
	case DEVICE_RESETS:
		if (!leaves)
			samples_exact_resets(*(const cu_device *)call->parameters);
		break;
	default:
		break;
	}
}

static void resource(uint32_t id, const struct cupti_resource *told)
{
	if (id == ABI_CUPTI_RESOURCE_CONTEXT_CREATED)
		samples_context_begins(told->context);
	else if (id == ABI_CUPTI_RESOURCE_CONTEXT_ENDS) {
		samples_exact_ends(told->context);
		samples_context_ends(told->context);
	} else if (id == ABI_CUPTI_RESOURCE_MODULE_LOADED)
		samples_module_loaded(told->descriptor);
	else if (id == ABI_CUPTI_RESOURCE_MODULE_UNLOADS)
		samples_module_ends(told->context);
}

static void callback(void *context, cupti_domain domain, uint32_t id, const void *data)
{
	int error = errno;

	(void)context;
	if (!samples_file)
		return;
	if (domain == ABI_CUPTI_DOMAIN_RESOURCE) {
		resource(id, data);
	} else if (domain == ABI_CUPTI_DOMAIN_DRIVER && id < CUDA_LISTENED_IDS && forms[id]) {
		see_call(forms[id], data);
	}
	errno = error;
}

static void enable_callbacks(void)
{
	static const uint32_t resources[] = { ABI_CUPTI_RESOURCE_CONTEXT_CREATED,
		                              ABI_CUPTI_RESOURCE_CONTEXT_ENDS,
		                              ABI_CUPTI_RESOURCE_MODULE_LOADED,
		                              ABI_CUPTI_RESOURCE_MODULE_UNLOADS };
	const char *counted = getenv(SAMPLES_ENVIRONMENT_LAUNCHES);

	for (size_t i = 0; i < sizeof resources / sizeof *resources; i++)
		cuda_cupti.cuptiEnableCallback(1, subscriber, ABI_CUPTI_DOMAIN_RESOURCE,
		                               resources[i]);
	samples_file->header.counts_launches = counted && counted[0];
	if (!samples_exact_begin() && !samples_file->header.counts_launches)
		return;
	cuda_listen(subscriber, calls, sizeof calls / sizeof *calls, forms);
}

static void end(void)
{
	samples_exact_ends(NULL);
	samples_end();
}

static void begin(const void *caller)
{
	cuda_driver_open(caller);
	if (!samples_file_begin())
		return;
	if (!cuda_cupti_open() || !samples_functions_find()) {
		samples_failed(SAMPLES_NO_CUPTI, 0, "");
		return;
	}
	// Until driver 610 a process has one subscriber. Another one keeps it.
	cupti_result result = cuda_cupti.cuptiSubscribe(&subscriber, callback, NULL);
	if (result != ABI_CUPTI_SUCCESS) {
		samples_failed(result == ABI_CUPTI_MULTIPLE_SUBSCRIBERS ? SAMPLES_TAKEN
		                                                        : SAMPLES_REFUSED,
		               result, "cuptiSubscribe");
		return;
	}
	pthread_atfork(NULL, NULL, samples_forget);
	enable_callbacks();
	// Runs before what the driver has registered: CUPTI is asked for the rest while it may be.
	atexit(end);
}

int InitializeInjection(void)
{
	return cuda_let_in(__builtin_return_address(0), begin);
}
