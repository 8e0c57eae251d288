// SPDX-License-Identifier: Apache-2.0
// A stand-in for libcupti.so upon fake_cuda.c, by CUPTI's documented rules:
//  - one subscriber at a time; a second one is refused, and told the first one's name;
//  - records are as long as the version of the library makes them, and follow one another; what
//    does not fit into a buffer goes into the next one that the client gives, or is dropped;
//  - buffers come back on a thread of CUPTI's own, or when they are flushed;
//  - a record tells its call (correlation) only while driver or runtime calls are recorded, or told
//    to callbacks (as on an H100 with CUPTI 13; not with the word `uncorrelated`), and a call
//    between push and pop is preceded by a record of the id that was pushed;
//  - times are on the registered clock, or else CLOCK_REALTIME; start and end both 0: unknown;
//  - a node that is copied into a graph that is ready is told as created, and then as cloned;
//  - nothing is recorded of a kind that is not enabled; flushing does not wait for the device.
//
// TARE_FAKE_CUPTI, read at each subscription, holds words: version=N, holder=NAME (somebody is
// subscribed already), fail_enable=CODE, drop=N (so many records), timeless=N (so many have no
// times), fill=BYTES (a buffer counts as full by then), late (all records come with the flush, the
// last one first), early (what is done is given back before a call's callback is told of its end,
// and there is time to read it), hold (the end of the first launch is told late), uncorrelated,
// outer (a record's call is the runtime's where there is one), unshared (kernels have no shared
// memory of their own), nvlink=N (so many links between the first two devices), strange (nodes have
// other numbers in records than callbacks tell).
#include "fake_cupti_internal.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define DECLARE(name, parameters) FAKE_CUPTI_EXPORT cupti_result name parameters;
CUPTI_FUNCTIONS(DECLARE, DECLARE)
#undef DECLARE

enum { INVALID_PARAMETER = 1, QUEUE_EMPTY = 18, INVALID_KIND = 21 };
#define DEPTH 8
#define STRANGE 1000000

struct fake_cupti_state fake_cupti = { .lock = PTHREAD_MUTEX_INITIALIZER,
	                               .script.version = 130001 };
struct fake_cupti_driver fake_cupti_driver;

static _Thread_local struct {
	uint64_t id;
	uint32_t last;
} stack[DEPTH];
static _Thread_local int depth;

static void read_script(void)
{
	static const struct {
		const char *word;
		int *value;
	} numbers[] = {
		{ "version", &fake_cupti.script.version },
		{ "fail_enable", &fake_cupti.script.fail_enable },
		{ "drop", &fake_cupti.script.drop },
		{ "timeless", &fake_cupti.script.timeless },
		{ "fill", &fake_cupti.script.fill },
		{ "nvlink", &fake_cupti.script.nvlink },
	};
	const char *text = getenv("TARE_FAKE_CUPTI");
	char words[256], *place = NULL;

	memset(&fake_cupti.script, 0, sizeof fake_cupti.script);
	fake_cupti.script.version = 130001;
	snprintf(words, sizeof words, "%s", text ? text : "");
	for (char *word = strtok_r(words, " ", &place); word; word = strtok_r(NULL, " ", &place)) {
		char *value = strchr(word, '=');
		if (value)
			*value++ = '\0';
		fake_cupti.script.late |= strcmp(word, "late") == 0;
		fake_cupti.script.early |= strcmp(word, "early") == 0;
		fake_cupti.script.hold |= strcmp(word, "hold") == 0;
		fake_cupti.script.outer |= strcmp(word, "outer") == 0;
		fake_cupti.script.strange |= strcmp(word, "strange") == 0;
		fake_cupti.script.uncorrelated |= strcmp(word, "uncorrelated") == 0;
		fake_cupti.script.unshared |= strcmp(word, "unshared") == 0;
		fake_cupti.script.slow |= strcmp(word, "slow") == 0;
		if (value && strcmp(word, "holder") == 0)
			snprintf(fake_cupti.script.holder, sizeof fake_cupti.script.holder, "%s",
			         value);
		for (size_t i = 0; value && i < sizeof numbers / sizeof *numbers; i++)
			if (strcmp(word, numbers[i].word) == 0)
				*numbers[i].value = atoi(value);
	}
}

static bool find_cuda(void)
{
	const char *name = getenv("TARE_CUDA_LIBRARY");
	void *library = name ? dlopen(name, RTLD_NOW | RTLD_NOLOAD) : NULL;

	if (!library)
		return false;
	*(void **)&fake_cupti_driver.observe = dlsym(library, "fake_cuda_observe");
	*(void **)&fake_cupti_driver.observe_nodes = dlsym(library, "fake_cuda_observe_nodes");
	*(void **)&fake_cupti_driver.last_correlation =
	    dlsym(library, "fake_cuda_last_correlation");
	*(void **)&fake_cupti_driver.observe_loading = dlsym(library, "fake_cuda_observe_loading");
	*(void **)&fake_cupti_driver.observe_calls = dlsym(library, "fake_cuda_observe_calls");
	*(void **)&fake_cupti_driver.observe_runtime = dlsym(library, "fake_cuda_observe_runtime");
	*(void **)&fake_cupti_driver.number_by_runtime =
	    dlsym(library, "fake_cuda_number_by_runtime");
	*(void **)&fake_cupti_driver.call_name = dlsym(library, "fake_cuda_call_name");
	*(void **)&fake_cupti_driver.context_device = dlsym(library, "fake_cuda_context_device");
	dlclose(library);
	return fake_cupti_driver.observe_loading && fake_cupti_driver.observe_calls &&
	       fake_cupti_driver.call_name && fake_cupti_driver.context_device &&
	       fake_cupti_driver.observe && fake_cupti_driver.observe_nodes &&
	       fake_cupti_driver.last_correlation;
}

cupti_result cuptiGetVersion(uint32_t *version)
{
	read_script();
	*version = (uint32_t)fake_cupti.script.version;
	return ABI_CUPTI_SUCCESS;
}

cupti_result cuptiGetResultString(cupti_result result, const char **text)
{
	*text = result == ABI_CUPTI_INSUFFICIENT_PRIVILEGES ? "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"
	        : result == ABI_CUPTI_NOT_INITIALIZED       ? "CUPTI_ERROR_NOT_INITIALIZED"
	                                                    : NULL;
	return *text ? ABI_CUPTI_SUCCESS : INVALID_PARAMETER;
}

cupti_result cuptiSubscribe_v2(cupti_subscriber *subscriber, cupti_callback callback, void *context,
                               cupti_subscription *subscription)
{
	if (!subscriber || !callback ||
	    (subscription && subscription->bytes != sizeof *subscription))
		return INVALID_PARAMETER;
	read_script();
	if (!find_cuda())
		return ABI_CUPTI_NOT_INITIALIZED;
	if (fake_cupti.subscribed || fake_cupti.script.holder[0]) {
		if (subscription && subscription->holder && subscription->holder_bytes >= 64)
			snprintf(subscription->holder, subscription->holder_bytes, "%s",
			         strcmp(fake_cupti.script.holder, "?") ? fake_cupti.script.holder
			                                               : "");
		return ABI_CUPTI_MULTIPLE_SUBSCRIBERS;
	}
	fake_cupti.subscribed = true;
	fake_cupti.process = getpid();
	fake_cupti.callback = callback;
	fake_cupti.context = context;
	*subscriber = (cupti_subscriber)&fake_cupti;
	return ABI_CUPTI_SUCCESS;
}

cupti_result cuptiSubscribe(cupti_subscriber *subscriber, cupti_callback callback, void *context)
{
	return cuptiSubscribe_v2(subscriber, callback, context, NULL);
}

cupti_result cuptiUnsubscribe(cupti_subscriber subscriber)
{
	if (subscriber != (cupti_subscriber)&fake_cupti || !fake_cupti.subscribed)
		return INVALID_PARAMETER;
	fake_cupti.subscribed = fake_cupti.created = fake_cupti.cloned = fake_cupti.loaded = false;
	memset(fake_cupti.calls, 0, sizeof fake_cupti.calls);
	memset(fake_cupti.runtime, 0, sizeof fake_cupti.runtime);
	fake_cupti.calls_told = false;
	fake_cupti_driver.observe_runtime(NULL);
	fake_cupti_driver.observe_calls(NULL);
	fake_cupti_driver.observe_nodes(NULL);
	fake_cupti_driver.observe_loading(NULL);
	return ABI_CUPTI_SUCCESS;
}

cupti_result cuptiEnableCallback(uint32_t enable, cupti_subscriber subscriber, cupti_domain domain,
                                 uint32_t id)
{
	if (subscriber != (cupti_subscriber)&fake_cupti)
		return INVALID_PARAMETER;
	if (domain == ABI_CUPTI_DOMAIN_DRIVER && id < FAKE_CUPTI_CALLS) {
		fake_cupti.calls[id] = enable;
		fake_cupti.calls_told |= enable;
		fake_cupti_driver.observe_calls(fake_cupti_see_call);
		return ABI_CUPTI_SUCCESS;
	}
	if (domain == ABI_CUPTI_DOMAIN_RUNTIME && id < FAKE_CUPTI_CALLS) {
		fake_cupti.runtime[id] = enable;
		fake_cupti_driver.number_by_runtime(fake_cupti.script.outer);
		fake_cupti_driver.observe_runtime(fake_cupti_see_runtime);
		return ABI_CUPTI_SUCCESS;
	}
	if (domain != ABI_CUPTI_DOMAIN_RESOURCE)
		return INVALID_PARAMETER;
	if (id == ABI_CUPTI_RESOURCE_CONTEXT_CREATED)
		fake_cupti.contexts = enable;
	if (id == ABI_CUPTI_RESOURCE_CONTEXT_ENDS)
		fake_cupti.context_ends = enable;
	if (id == ABI_CUPTI_RESOURCE_CONTEXT_CREATED || id == ABI_CUPTI_RESOURCE_CONTEXT_ENDS)
		fake_cupti_driver.observe_calls(fake_cupti_see_call);
	if (id == ABI_CUPTI_RESOURCE_GRAPHNODE_CREATED)
		fake_cupti.created = enable;
	if (id == ABI_CUPTI_RESOURCE_GRAPHNODE_CLONED)
		fake_cupti.cloned = enable;
	if (id == ABI_CUPTI_RESOURCE_MODULE_LOADED)
		fake_cupti.loaded = enable;
	fake_cupti_driver.observe_nodes(fake_cupti_see_node);
	fake_cupti_driver.observe_loading(fake_cupti_see_loading);
	return ABI_CUPTI_SUCCESS;
}

cupti_result cuptiEnableDomain(uint32_t enable, cupti_subscriber subscriber, cupti_domain domain)
{
	for (uint32_t id = 1; id < FAKE_CUPTI_CALLS; id++)
		if (domain == ABI_CUPTI_DOMAIN_DRIVER || domain == ABI_CUPTI_DOMAIN_RUNTIME)
			cuptiEnableCallback(enable, subscriber, domain, id);
	return subscriber == (cupti_subscriber)&fake_cupti ? ABI_CUPTI_SUCCESS : INVALID_PARAMETER;
}

cupti_result cuptiEnableAllDomains(uint32_t enable, cupti_subscriber subscriber)
{
	cuptiEnableDomain(enable, subscriber, ABI_CUPTI_DOMAIN_DRIVER);
	return cuptiEnableDomain(enable, subscriber, ABI_CUPTI_DOMAIN_RUNTIME);
}

cupti_result cuptiGetCallbackState(uint32_t *enable, cupti_subscriber subscriber,
                                   cupti_domain domain, uint32_t id)
{
	if (subscriber != (cupti_subscriber)&fake_cupti || id >= FAKE_CUPTI_CALLS)
		return INVALID_PARAMETER;
	*enable = domain == ABI_CUPTI_DOMAIN_DRIVER
	              ? fake_cupti.calls[id]
	              : domain == ABI_CUPTI_DOMAIN_RUNTIME && fake_cupti.runtime[id];
	return ABI_CUPTI_SUCCESS;
}

cupti_result cuptiFinalize(void)
{
	cuptiUnsubscribe((cupti_subscriber)&fake_cupti);
	memset(fake_cupti.enabled, 0, sizeof fake_cupti.enabled);
	fake_cupti.requested = NULL;
	fake_cupti.completed = NULL;
	return ABI_CUPTI_SUCCESS;
}

cupti_result cuptiGetCallbackName(cupti_domain domain, uint32_t id, const char **name)
{
	if (domain == ABI_CUPTI_DOMAIN_RUNTIME && id < 1 + FAKE_CUPTI_RUNTIME_CALLS) {
		*name = id ? fake_cupti_runtime_names[id - 1] : NULL;
		return *name ? ABI_CUPTI_SUCCESS : INVALID_PARAMETER;
	}
	if (domain != ABI_CUPTI_DOMAIN_DRIVER || !find_cuda() || !fake_cupti_driver.call_name(id))
		return INVALID_PARAMETER;
	*name = fake_cupti_driver.call_name(id);
	return ABI_CUPTI_SUCCESS;
}

cupti_result cuptiGetDeviceId(cu_context context, uint32_t *device)
{
	if (!context)
		return INVALID_PARAMETER;
	*device = fake_cupti_driver.context_device(context);
	return ABI_CUPTI_SUCCESS;
}

cupti_result cuptiGetStreamIdEx(cu_context context, cu_stream stream, uint8_t is_thread_default,
                                uint32_t *id)
{
	(void)is_thread_default;
	if (!context)
		return INVALID_PARAMETER;
	*id = fake_cupti_stream_id(stream);
	return ABI_CUPTI_SUCCESS;
}

cupti_result cuptiGetGraphNodeId(cu_graph_node node, uint64_t *id)
{
	*id = (uint64_t)(uintptr_t)node + (fake_cupti.script.strange ? STRANGE : 0);
	return ABI_CUPTI_SUCCESS;
}

cupti_result cuptiActivityRegisterTimestampCallback(cupti_timestamp now)
{
	fake_cupti.clock = now;
	return now ? ABI_CUPTI_SUCCESS : INVALID_PARAMETER;
}

cupti_result cuptiActivityEnableLatencyTimestamps(uint8_t enable)
{
	fake_cupti.latency = enable;
	return ABI_CUPTI_SUCCESS;
}

cupti_result cuptiActivityRegisterCallbacks(cupti_buffer_requested requested,
                                            cupti_buffer_completed completed)
{
	fake_cupti.requested = requested;
	fake_cupti.completed = completed;
	return requested && completed ? ABI_CUPTI_SUCCESS : INVALID_PARAMETER;
}

static bool any_enabled(void)
{
	for (int i = 0; i < FAKE_CUPTI_KINDS; i++)
		if (fake_cupti.enabled[i])
			return true;
	return false;
}

// One record, of the first two devices; ends are named as fake_cuda.c has them.
static void see_links(void)
{
	struct cupti_nvlink link = { .kind = ABI_CUPTI_KIND_NVLINK,
		                     .version = 4,
		                     .types = { ABI_CUPTI_NVLINK_GPU, ABI_CUPTI_NVLINK_GPU },
		                     .count = (uint32_t)fake_cupti.script.nvlink };
	for (int end = 0; end < 2; end++)
		for (int i = 0; i < 16; i++)
			link.ends[end][i] = (uint8_t)(i < 15 ? 0xa0 + i : end);
	if (fake_cupti.script.nvlink)
		fake_cupti_emit(&link);
}

cupti_result cuptiActivityEnable(cupti_kind kind)
{
	if (kind == 3)
		abort(); // serialises the device
	if (fake_cupti.script.fail_enable)
		return fake_cupti.script.fail_enable;
	if (kind >= FAKE_CUPTI_KINDS)
		return INVALID_KIND;
	if (!fake_cupti_driver.observe && !find_cuda())
		return ABI_CUPTI_NOT_INITIALIZED;
	fake_cupti.process = getpid();
	pthread_mutex_lock(&fake_cupti.lock);
	if (kind == ABI_CUPTI_KIND_NVLINK && !fake_cupti.enabled[kind])
		see_links();
	fake_cupti.enabled[kind] = true;
	pthread_mutex_unlock(&fake_cupti.lock);
	fake_cupti_driver.observe(fake_cupti_see);
	fake_cupti_driver.observe_loading(fake_cupti_see_loading);
	return ABI_CUPTI_SUCCESS;
}

cupti_result cuptiActivityConfigureUnifiedMemoryCounter(cupti_pages_config *configs, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		if (configs[i].counter == 0 || configs[i].counter > ABI_CUPTI_PAGES_BETWEEN_DEVICES)
			return INVALID_PARAMETER;
		fake_cupti.counters |= (configs[i].enable & 1) << configs[i].counter;
	}
	return ABI_CUPTI_SUCCESS;
}

cupti_result cuptiActivityDisable(cupti_kind kind)
{
	if (kind >= FAKE_CUPTI_KINDS)
		return INVALID_KIND;
	pthread_mutex_lock(&fake_cupti.lock);
	fake_cupti.enabled[kind] = false;
	bool any = any_enabled();
	pthread_mutex_unlock(&fake_cupti.lock);
	if (!any)
		fake_cupti_driver.observe(NULL);
	return ABI_CUPTI_SUCCESS;
}

cupti_result cuptiActivityFlushAll(uint32_t flag)
{
	if (fake_cupti.process != getpid())
		abort(); // the child of a fork
	if (!fake_cupti.completed)
		return ABI_CUPTI_SUCCESS; // as on an H200 with CUPTI 13, though documented
		                          // otherwise
	pthread_mutex_lock(&fake_cupti.lock);
	while (fake_cupti.held_count)
		fake_cupti_write_record(&fake_cupti.held[--fake_cupti.held_count]);
	fake_cupti_complete();
	pthread_mutex_unlock(&fake_cupti.lock);
	if (flag == ABI_CUPTI_FLUSH_FORCED)
		fake_cupti.forced = true;
	return ABI_CUPTI_SUCCESS;
}

static void read_slowly(void)
{
	for (int i = 0; i < 10000 && !fake_cupti.forced; i++)
		usleep(1000);
	usleep(50000);
}

cupti_result cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid_bytes, cupti_record **record)
{
	uint8_t *next =
	    *record ? (uint8_t *)*record + fake_cupti_record_bytes((*record)->kind) : buffer;

	if (!buffer)
		return INVALID_PARAMETER;
	if (fake_cupti.script.slow && !*record && gettid() != getpid())
		read_slowly();
	if (next >= buffer + valid_bytes)
		return ABI_CUPTI_MAX_LIMIT_REACHED;
	*record = (cupti_record *)next;
	return fake_cupti_record_bytes((*record)->kind) ? ABI_CUPTI_SUCCESS : INVALID_KIND;
}

cupti_result cuptiActivityGetNumDroppedRecords(cu_context context, uint32_t stream, size_t *dropped)
{
	(void)context;
	(void)stream;
	pthread_mutex_lock(&fake_cupti.lock);
	*dropped = fake_cupti.dropped;
	fake_cupti.dropped = 0;
	pthread_mutex_unlock(&fake_cupti.lock);
	return ABI_CUPTI_SUCCESS;
}

cupti_result cuptiActivityPushExternalCorrelationId(cupti_external_kind kind, uint64_t id)
{
	if (kind == 0 || kind > 5 || depth == DEPTH)
		return INVALID_PARAMETER;
	stack[depth].id = id;
	stack[depth++].last = fake_cupti_driver.last_correlation();
	fake_cupti.pushed++;
	return ABI_CUPTI_SUCCESS;
}

// The calls since the push were made by this thread: the numbers after the last one's.
cupti_result cuptiActivityPopExternalCorrelationId(cupti_external_kind kind, uint64_t *last)
{
	if (kind == 0 || kind > 5)
		return INVALID_PARAMETER;
	if (depth == 0)
		return QUEUE_EMPTY;
	depth--;
	fake_cupti.pushed--;
	if (last)
		*last = stack[depth].id;
	pthread_mutex_lock(&fake_cupti.lock);
	for (uint32_t call = stack[depth].last + 1; fake_cupti.enabled[ABI_CUPTI_KIND_DRIVER] &&
	                                            call <= fake_cupti_driver.last_correlation();
	     call++) {
		struct cupti_external external = { ABI_CUPTI_KIND_EXTERNAL_CORRELATION, kind,
			                           stack[depth].id, call, 0 };
		if (!fake_cupti.enabled[ABI_CUPTI_KIND_EXTERNAL_CORRELATION])
			continue;
		fake_cupti_emit(&external);
		fake_cupti_emit(
		    &(struct fake_cupti_api){ .kind = ABI_CUPTI_KIND_DRIVER, .correlation = call });
	}
	pthread_mutex_unlock(&fake_cupti.lock);
	return ABI_CUPTI_SUCCESS;
}

// ---- for the tests

int fake_cupti_active(void)
{
	int active = fake_cupti.subscribed;
	for (int i = 0; i < FAKE_CUPTI_KINDS; i++)
		active += fake_cupti.enabled[i];
	return active;
}

int fake_cupti_buffers(void)
{
	return fake_cupti.buffers;
}

int fake_cupti_pushed(void)
{
	return fake_cupti.pushed;
}
