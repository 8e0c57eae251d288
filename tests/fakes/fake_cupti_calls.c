// SPDX-License-Identifier: Apache-2.0
// What fake_cupti.c tells callbacks of the driver's and the runtime's calls, and of nodes, modules
// and contexts.
#include "fake_cupti_internal.h"

#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

// A node was made; a node's handle is its number here.
static void tell_node(uint32_t id, uint64_t node, uint64_t original)
{
	struct cupti_graph_resource graph = { .node = (cu_graph_node)(uintptr_t)node,
		                              .original_node = (cu_graph_node)(uintptr_t)original };
	struct cupti_resource resource = { .descriptor = &graph };

	fake_cupti.callback(fake_cupti.context, ABI_CUPTI_DOMAIN_RESOURCE, id, &resource);
}

void fake_cupti_see_node(uint64_t node, uint64_t original)
{
	if (fake_cupti.subscribed && fake_cupti.created)
		tell_node(ABI_CUPTI_RESOURCE_GRAPHNODE_CREATED, node, 0);
	if (fake_cupti.subscribed && fake_cupti.cloned && original)
		tell_node(ABI_CUPTI_RESOURCE_GRAPHNODE_CLONED, node, original);
}

// For the range profiler (fake_cupti_profiler.c).
static _Thread_local const char *under_way;
static _Atomic int captures;

static _Thread_local bool launch_captured;

// Of a launch with plain parameters: whether its stream captures.
static void note_capture(const struct cupti_call *call)
{
	const struct {
		void *function;
		uint32_t sizes[7];
		cu_stream stream;
	} *parameters = call->parameters;
	cu_result (*is_capturing)(cu_stream, int *) = NULL;
	int status = 0;

	*(void **)&is_capturing = dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuStreamIsCapturing");
	launch_captured =
	    is_capturing && is_capturing(parameters->stream, &status) == ABI_SUCCESS && status != 0;
}

static void note_launch(const char *name, struct cupti_call *call)
{
	bool exits = call->site == ABI_CUPTI_SITE_EXIT;
	bool done = exits && *(const cu_result *)call->result == ABI_SUCCESS;
	under_way = exits ? NULL : name;
	if (done && strncmp(name, "cuStreamBeginCapture", 20) == 0)
		captures++;
	if (exits && strncmp(name, "cuStreamEndCapture", 18) == 0)
		captures--;
	if (strncmp(name, "cuLaunchKernel", 14) == 0 && !exits)
		note_capture(call);
	if (done && strncmp(name, "cuLaunch", 8) == 0 && call->symbol) {
		fake_cupti_launched(call->symbol, false);
		if (!launch_captured)
			fake_cupti_sass_launched(call->symbol);
	}
	if (done && strcmp(name, "cuModuleUnload") == 0)
		fake_cupti_sass_unloaded();
	if (done && strcmp(name, "cuGraphLaunch") == 0)
		fake_cupti_launched("a graph's", true);
	if (done && strcmp(name, "cuCtxSynchronize") == 0)
		fake_cupti_awaited();
}

bool fake_cupti_captures(void)
{
	return captures > 0;
}

bool fake_cupti_within(const char *word)
{
	return under_way && strstr(under_way, word);
}

// A module is told of when it is loaded, a kernel with a record; so is what is no loading.
void fake_cupti_see_loading(int module, int64_t start_ns, int64_t end_ns)
{
	struct cupti_resource resource = { 0 };
	struct cupti_overhead told = { .kind = ABI_CUPTI_KIND_OVERHEAD,
		                       .overhead = ABI_CUPTI_OVERHEAD_LAZY_LOADING,
		                       .object = ABI_CUPTI_OBJECT_THREAD,
		                       .process = (uint32_t)getpid(),
		                       .thread = (uint32_t)pthread_self() };
	if (module) {
		resource.descriptor = (void *)fake_cupti_next_module();
		if (fake_cupti.subscribed && fake_cupti.loaded)
			fake_cupti.callback(fake_cupti.context, ABI_CUPTI_DOMAIN_RESOURCE,
			                    ABI_CUPTI_RESOURCE_MODULE_LOADED, &resource);
		return;
	}
	pthread_mutex_lock(&fake_cupti.lock);
	told.start = fake_cupti_normal(start_ns);
	told.end = told.start + (uint64_t)(end_ns - start_ns);
	for (int other = 0; other < 2 && fake_cupti.enabled[told.kind]; other++) {
		fake_cupti_emit(&told);
		told.overhead = 2 << 16; // instrumentation
	}
	pthread_mutex_unlock(&fake_cupti.lock);
}

// A context is told of when it is made, and before it goes.
static void see_context(const char *name, const struct cupti_call *call)
{
	bool made = strcmp(name, "cuCtxCreate_v2") == 0 || strcmp(name, "cuCtxCreate") == 0 ||
	            strcmp(name, "cuDevicePrimaryCtxRetain") == 0;
	bool goes = strncmp(name, "cuCtxDestroy", 12) == 0;
	struct cupti_resource resource = { 0 };

	if (!fake_cupti.subscribed)
		return;
	if (made && fake_cupti.contexts && call->site == ABI_CUPTI_SITE_EXIT &&
	    *(const cu_result *)call->result == ABI_SUCCESS) {
		resource.context = **(cu_context *const *)call->parameters;
		fake_cupti.callback(fake_cupti.context, ABI_CUPTI_DOMAIN_RESOURCE,
		                    ABI_CUPTI_RESOURCE_CONTEXT_CREATED, &resource);
	}
	if (goes && fake_cupti.context_ends && call->site == ABI_CUPTI_SITE_ENTER) {
		resource.context = *(const cu_context *)call->parameters;
		fake_cupti.callback(fake_cupti.context, ABI_CUPTI_DOMAIN_RESOURCE,
		                    ABI_CUPTI_RESOURCE_CONTEXT_ENDS, &resource);
	}
}

// A function's id is its place among the names.
void fake_cupti_see_call(const char *name, struct cupti_call *call)
{
	see_context(name, call);
	if (fake_cupti.script.early && call->site == ABI_CUPTI_SITE_EXIT) {
		pthread_mutex_lock(&fake_cupti.lock);
		fake_cupti_complete();
		pthread_mutex_unlock(&fake_cupti.lock);
		usleep(20000);
	}
	if (fake_cupti.script.hold && call->site == ABI_CUPTI_SITE_EXIT &&
	    strcmp(name, "cuLaunchKernel") == 0) {
		fake_cupti.script.hold = false;
		usleep(30000);
	}
	note_launch(name, call);
	for (uint32_t id = 1; id < FAKE_CUPTI_CALLS && fake_cupti_driver.call_name(id); id++)
		if (fake_cupti.calls[id] && fake_cupti.subscribed &&
		    strcmp(fake_cupti_driver.call_name(id), name) == 0)
			fake_cupti.callback(fake_cupti.context, ABI_CUPTI_DOMAIN_DRIVER, id, call);
}

// Some of the runtime's functions, as CUPTI names them.
const char *const fake_cupti_runtime_names[FAKE_CUPTI_RUNTIME_CALLS] = {
	"cudaMalloc_v3020",
	"cudaFree_v3020",
	"cudaMemcpyAsync_v3020",
	"cudaMemset_v3020",
	"cudaStreamSynchronize_v3020",
	"cudaEventQuery_v3020",
	"cudaGetDevice_v3020",
	"cudaMemcpyAsync_ptsz_v7000",
	"__cudaLaunchKernel_v13000"
};

void fake_cupti_see_runtime(const char *name, struct cupti_call *call)
{
	for (uint32_t i = 0; i < sizeof fake_cupti_runtime_names / sizeof *fake_cupti_runtime_names;
	     i++)
		if (fake_cupti.runtime[i + 1] && fake_cupti.subscribed &&
		    strcmp(fake_cupti_runtime_names[i], name) == 0)
			fake_cupti.callback(fake_cupti.context, ABI_CUPTI_DOMAIN_RUNTIME, i + 1,
			                    call);
}
