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

enum { LANES = 32, CALLBACKS = 4096 };

// How a launch's parameters lie (cuda.h of the driver): the kernel, then its grid; or a pointer to
// a configuration that begins with the grid.
enum form { NO_LAUNCH, PLAIN, CONFIGURED, GRAPH };
static uint8_t forms[CALLBACKS];
static cupti_subscriber subscriber;

struct plain_launch {
	void *function;
	uint32_t sizes[6]; // of the grid, of a block
};
struct configured_launch {
	const uint32_t *sizes; // the same
	void *function;
};

static enum form form_of(const char *name)
{
	static const struct {
		const char *name;
		enum form form;
	} launches[] = {
		{ "cuLaunchKernel", PLAIN },
		{ "cuLaunchKernel_ptsz", PLAIN },
		{ "cuLaunchCooperativeKernel", PLAIN },
		{ "cuLaunchCooperativeKernel_ptsz", PLAIN },
		{ "cuLaunchKernelEx", CONFIGURED },
		{ "cuLaunchKernelEx_ptsz", CONFIGURED },
		{ "cuGraphLaunch", GRAPH },
		{ "cuGraphLaunch_ptsz", GRAPH },
	};

	for (size_t i = 0; i < sizeof launches / sizeof *launches; i++)
		if (strcmp(name, launches[i].name) == 0)
			return launches[i].form;
	return NO_LAUNCH;
}

static void launched(enum form form, const struct cupti_call *call)
{
	if (form == GRAPH) {
		__atomic_fetch_add(&samples_file->header.graphs, 1, __ATOMIC_RELAXED);
		return;
	}
	const uint32_t *sizes = form == PLAIN
	                            ? ((const struct plain_launch *)call->parameters)->sizes
	                            : ((const struct configured_launch *)call->parameters)->sizes;
	if (!sizes || !call->symbol)
		return;
	uint64_t groups = (uint64_t)sizes[0] * sizes[1] * sizes[2];
	uint64_t lanes = (uint64_t)sizes[3] * sizes[4] * sizes[5];
	samples_count_launch(call->symbol, groups * ((lanes + LANES - 1) / LANES));
}

static void resource(uint32_t id, const struct cupti_resource *told)
{
	if (id == ABI_CUPTI_RESOURCE_CONTEXT_CREATED)
		samples_context_begins(told->context);
	else if (id == ABI_CUPTI_RESOURCE_CONTEXT_ENDS)
		samples_context_ends(told->context);
	else if (id == ABI_CUPTI_RESOURCE_MODULE_LOADED)
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
	} else if (domain == ABI_CUPTI_DOMAIN_DRIVER && id < CALLBACKS && forms[id]) {
		const struct cupti_call *call = data;
		if (call->site == ABI_CUPTI_SITE_EXIT &&
		    *(const cu_result *)call->result == ABI_SUCCESS)
			launched((enum form)forms[id], call);
	}
	errno = error;
}

static void enable_callbacks(void)
{
	static const uint32_t resources[] = { ABI_CUPTI_RESOURCE_CONTEXT_CREATED,
		                              ABI_CUPTI_RESOURCE_CONTEXT_ENDS,
		                              ABI_CUPTI_RESOURCE_MODULE_LOADED,
		                              ABI_CUPTI_RESOURCE_MODULE_UNLOADS };
	const char *launches = getenv(SAMPLES_ENVIRONMENT_LAUNCHES);

	for (size_t i = 0; i < sizeof resources / sizeof *resources; i++)
		cuda_cupti.cuptiEnableCallback(1, subscriber, ABI_CUPTI_DOMAIN_RESOURCE,
		                               resources[i]);
	if (!launches || !launches[0])
		return;
	samples_file->header.counts_launches = 1;
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
	atexit(samples_end);
}

int InitializeInjection(void)
{
	static uint32_t entered;
	int error = errno;

	// NVIDIA's OpenCL has a driver of its own inside, which calls us too: that is not the
	// program's CUDA.
	if (cuda_is_driver(__builtin_return_address(0)) &&
	    __atomic_exchange_n(&entered, 1, __ATOMIC_ACQ_REL) == 0)
		begin(__builtin_return_address(0));
	errno = error;
	return 1;
}
