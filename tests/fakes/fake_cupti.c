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
#include "fake_cupti.h"
#include "backend/cuda/cupti_pc_sampling_abi.h"

#include "fake_cuda.h"

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
#define KINDS 64
#define CALLS 128
#define DEPTH 8
#define HELD 4096
#define STRANGE 1000000

struct api {
	cupti_kind kind;
	uint32_t callback;
	uint64_t start, end;
	uint32_t process, thread, correlation, result;
};

// A record with all that is filled in here.
union held {
	cupti_kind kind;
	struct cupti_kernel kernel;
	struct cupti_memcpy copy;
	struct cupti_memcpy_peer peer;
	struct cupti_memset fill;
	struct cupti_external external;
	struct cupti_pages pages;
	struct cupti_overhead overhead;
	struct cupti_nvlink nvlink;
	struct api api;
};

static struct {
	pthread_mutex_t lock;
	struct {
		int version, fail_enable, drop, timeless, fill, nvlink;
		bool late, early, hold, strange, uncorrelated, outer, unshared, slow;
		char holder[64];
	} script;
	pid_t process;
	_Atomic bool forced; // a flush was
	bool subscribed, latency;
	bool enabled[KINDS];
	cupti_buffer_requested requested;
	cupti_buffer_completed completed;
	cupti_timestamp clock;
	cupti_callback callback;
	void *context;
	bool calls[CALLS];   // of the driver, that are told to it
	bool runtime[CALLS]; // and of the runtime
	bool calls_told;
	bool created, cloned, loaded, contexts, context_ends; // are told to the callback
	uint32_t counters;                                    // of managed memory, a bit each
	uint8_t *buffer;
	size_t bytes, used;
	int buffers, pushed;
	size_t dropped;
	union held held[HELD]; // until the flush, if they come late
	int held_count;
} self = { .lock = PTHREAD_MUTEX_INITIALIZER, .script.version = 130001 };

static _Thread_local struct {
	uint64_t id;
	uint32_t last;
} stack[DEPTH];
static _Thread_local int depth;

static struct {
	void (*observe)(void (*see)(const struct fake_cuda_activity *activity));
	void (*observe_nodes)(void (*see)(uint64_t node, uint64_t original));
	uint32_t (*last_correlation)(void);
	void (*observe_loading)(void (*tell)(int module, int64_t start_ns, int64_t end_ns));
	void (*observe_calls)(void (*tell)(const char *name, struct cupti_call *call));
	void (*observe_runtime)(void (*tell)(const char *name, struct cupti_call *call));
	void (*number_by_runtime)(int does);
	const char *(*call_name)(uint32_t id);
	uint32_t (*context_device)(cu_context context);
} cuda;

// ---- records

static size_t by_version(const size_t sizes[3])
{
	return sizes[self.script.version < ABI_CUPTI_VERSION_GRAPH_NODE ? 0
	             : self.script.version < 130000                     ? 1
	                                                                : 2];
}

// As they were up to CUDA 10, in CUDA 11.1 and in CUDA 13.
static size_t size_of(cupti_kind kind)
{
	switch (kind) {
	case ABI_CUPTI_KIND_CONCURRENT_KERNEL:
		return by_version((const size_t[]){ 144, 160, 216 });
	case ABI_CUPTI_KIND_MEMCPY:
		return by_version((const size_t[]){ 64, 72, 96 });
	case ABI_CUPTI_KIND_MEMCPY_PEER:
		return by_version((const size_t[]){ 72, 80, 96 });
	case ABI_CUPTI_KIND_MEMSET:
		return by_version((const size_t[]){ 64, 72, 88 });
	case ABI_CUPTI_KIND_PAGES:
		return by_version((const size_t[]){ 64, 64, 104 });
	case ABI_CUPTI_KIND_NVLINK:
		return by_version((const size_t[]){ 72, 96, 136 });
	case ABI_CUPTI_KIND_OVERHEAD:
		return by_version((const size_t[]){ 40, 40, 56 });
	case ABI_CUPTI_KIND_DRIVER:
		return sizeof(struct api);
	case ABI_CUPTI_KIND_EXTERNAL_CORRELATION:
		return sizeof(struct cupti_external);
	default:
		return 0;
	}
}

// Of it, what is filled in here.
static size_t known_bytes(cupti_kind kind)
{
	return kind == ABI_CUPTI_KIND_CONCURRENT_KERNEL ? sizeof(struct cupti_kernel)
	       : kind == ABI_CUPTI_KIND_MEMCPY          ? sizeof(struct cupti_memcpy)
	       : kind == ABI_CUPTI_KIND_MEMCPY_PEER     ? sizeof(struct cupti_memcpy_peer)
	       : kind == ABI_CUPTI_KIND_PAGES           ? sizeof(struct cupti_pages)
	       : kind == ABI_CUPTI_KIND_MEMSET          ? sizeof(struct cupti_memset)
	       : kind == ABI_CUPTI_KIND_NVLINK          ? sizeof(struct cupti_nvlink)
	       : kind == ABI_CUPTI_KIND_OVERHEAD        ? sizeof(struct cupti_overhead)
	                                                : size_of(kind);
}

struct full {
	uint8_t *buffer;
	size_t bytes, used;
};

static void *hand_back(void *context)
{
	struct full *full = context;
	self.completed(NULL, 0, full->buffer, full->bytes, full->used);
	return NULL;
}

// Called with the lock, which it gives away meanwhile.
static void complete(void)
{
	struct full full = { self.buffer, self.bytes, self.used };
	pthread_t thread;

	if (!self.buffer)
		return;
	self.buffer = NULL;
	self.buffers--;
	pthread_mutex_unlock(&self.lock);
	if (pthread_create(&thread, NULL, hand_back, &full) == 0)
		pthread_join(thread, NULL);
	pthread_mutex_lock(&self.lock);
}

static void write_record(const void *record)
{
	cupti_kind kind = *(const cupti_kind *)record;
	size_t bytes = size_of(kind),
	       limit = self.script.fill ? (size_t)self.script.fill : self.bytes;
	size_t known = known_bytes(kind);

	if (self.script.drop > 0) {
		self.script.drop--;
		self.dropped++;
		return;
	}
	if (self.buffer && self.used + bytes > (limit < self.bytes ? limit : self.bytes))
		complete();
	if (!self.buffer) {
		size_t most = 0;
		self.requested(&self.buffer, &self.bytes, &most);
		self.used = 0;
		self.buffers += self.buffer != NULL;
	}
	if (!self.buffer || (uintptr_t)self.buffer % 8 || self.bytes < bytes) {
		self.dropped++;
		return;
	}
	// What a reader takes beyond the record is nobody's.
	memset(self.buffer + self.used, 0xee, bytes);
	memcpy(self.buffer + self.used, record, known < bytes ? known : bytes);
	self.used += bytes;
}

static void emit(const void *record)
{
	if (self.script.late && self.held_count < HELD)
		memcpy(&self.held[self.held_count++], record,
		       known_bytes(*(const cupti_kind *)record));
	else
		write_record(record);
}

static int64_t raw_ns(clockid_t id)
{
	struct timespec now;
	clock_gettime(id, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

// A time of the device's, which is CLOCK_MONOTONIC_RAW here, on the registered clock.
static uint64_t normal(int64_t ns)
{
	int64_t before = raw_ns(CLOCK_MONOTONIC_RAW);
	int64_t now = self.clock ? (int64_t)self.clock() : raw_ns(CLOCK_REALTIME);
	bool same = before <= now && now <= raw_ns(CLOCK_MONOTONIC_RAW);
	return (uint64_t)(same ? ns : now - (before - ns));
}

static uint32_t correlation_of(const struct fake_cuda_activity *what)
{
	return self.enabled[ABI_CUPTI_KIND_DRIVER] || self.enabled[ABI_CUPTI_KIND_RUNTIME] ||
	               (self.calls_told && !self.script.uncorrelated)
	           ? what->correlation
	           : 0;
}

// A name lives as long as the process.
static const char *kept_name(const char *name)
{
	static const char *kept[256];
	size_t i = 0;
	while (i < sizeof kept / sizeof *kept - 1 && kept[i] && strcmp(kept[i], name) != 0)
		i++;
	if (!kept[i])
		kept[i] = strdup(name);
	return kept[i];
}

static uint32_t stream_id(cu_stream stream)
{
	return (uint32_t)((uintptr_t)stream >> 4);
}

static int32_t size(uint32_t told)
{
	return told ? (int32_t)told : 1;
}

// Pages that moved to a device did so for a group of faults; of the host's faults each page is one.
static void see_migration(const struct fake_cuda_activity *what)
{
	bool to_device = what->copy_kind == 1;
	uint64_t start = normal(what->start_ns);
	struct cupti_pages moved = { .kind = ABI_CUPTI_KIND_PAGES,
		                     .value = what->bytes,
		                     .start = start,
		                     .counter = to_device ? ABI_CUPTI_PAGES_TO_DEVICE
		                                          : ABI_CUPTI_PAGES_TO_HOST,
		                     .end = start + (uint64_t)(what->end_ns - what->start_ns),
		                     .address = 0x7000,
		                     .source = to_device ? 0 : what->device,
		                     .destination = to_device ? what->device : 0,
		                     .cause = 2 };
	struct cupti_pages faults = moved;
	faults.counter = ABI_CUPTI_PAGES_DEVICE_FAULTS;
	faults.source = what->device;
	faults.value = 3;
	if (!self.enabled[ABI_CUPTI_KIND_PAGES])
		return;
	if (self.counters >> moved.counter & 1)
		emit(&moved);
	if (to_device && self.counters >> faults.counter & 1)
		emit(&faults);
}

static void see_copy(const struct fake_cuda_activity *what, uint32_t device, int copy_kind,
                     uint64_t start, uint64_t end, uint32_t correlation)
{
	emit(&(struct cupti_memcpy){ .kind = ABI_CUPTI_KIND_MEMCPY,
	                             .copy_kind = (uint8_t)copy_kind,
	                             .source_kind = copy_kind == 1 ? 2 : 3,
	                             .destination_kind = copy_kind == 2 ? 2 : 3,
	                             .bytes = what->bytes,
	                             .start = start,
	                             .end = end,
	                             .device = device,
	                             .stream = stream_id(what->stream),
	                             .correlation = correlation,
	                             .graph_node = what->graph_node });
}

static void see(const struct fake_cuda_activity *what)
{
	if (what->kind == FAKE_CUDA_MIGRATION) {
		pthread_mutex_lock(&self.lock);
		see_migration(what);
		pthread_mutex_unlock(&self.lock);
		return;
	}
	pthread_mutex_lock(&self.lock);
	uint64_t start = normal(what->start_ns);
	uint64_t end = start + (uint64_t)(what->end_ns - what->start_ns);
	bool peer = what->copy_kind == 10;
	cupti_kind kind = what->kind == FAKE_CUDA_KERNEL ? ABI_CUPTI_KIND_CONCURRENT_KERNEL
	                  : what->kind == FAKE_CUDA_FILL ? ABI_CUPTI_KIND_MEMSET
	                  : peer                         ? ABI_CUPTI_KIND_MEMCPY_PEER
	                                                 : ABI_CUPTI_KIND_MEMCPY;
	uint32_t stream = stream_id(what->stream), correlation = correlation_of(what);
	bool timed = self.script.timeless == 0;

	if (!self.enabled[kind]) {
		pthread_mutex_unlock(&self.lock);
		return;
	}
	if (!timed) {
		self.script.timeless--;
		start = end = 0;
	}
	if (kind == ABI_CUPTI_KIND_CONCURRENT_KERNEL)
		emit(&(struct cupti_kernel){
		    .kind = kind,
		    .start = start,
		    .end = end,
		    .completed = end,
		    .device = what->device,
		    .stream = stream,
		    .name = kept_name(what->name),
		    .grid = { size(what->grid[0]), size(what->grid[1]), size(what->grid[2]) },
		    .block = { size(what->block[0]), size(what->block[1]), size(what->block[2]) },
		    .registers = 32,
		    .static_shared = self.script.unshared ? 0 : 256,
		    .local_a_thread = 16,
		    .dynamic_shared = (int32_t)what->shared_bytes,
		    .queued = timed && self.latency ? start - 2000 : 0,
		    .submitted = timed && self.latency ? start - 1000 : 0,
		    .correlation = correlation,
		    .graph_node = what->graph_node });
	else if (kind == ABI_CUPTI_KIND_MEMSET)
		emit(&(struct cupti_memset){ .kind = kind,
		                             .bytes = what->bytes,
		                             .start = start,
		                             .end = end,
		                             .device = what->device,
		                             .stream = stream,
		                             .correlation = correlation,
		                             .graph_node = what->graph_node });
	else if (kind == ABI_CUPTI_KIND_MEMCPY_PEER)
		emit(&(struct cupti_memcpy_peer){ .kind = kind,
		                                  .copy_kind = 10,
		                                  .bytes = what->bytes,
		                                  .start = start,
		                                  .end = end,
		                                  .device = what->device,
		                                  .stream = stream,
		                                  .source_kind = 3,
		                                  .destination_kind = 3,
		                                  .source_device = what->ends[0],
		                                  .destination_device = what->ends[1],
		                                  .correlation = correlation,
		                                  .graph_node = what->graph_node });
	else if (what->copy_kind == FAKE_CUDA_STAGED) {
		// As a driver does it: out of the one and into the other, piece by piece.
		uint64_t third = (end - start) / 3;
		see_copy(what, what->ends[0], 2, start, end - third, correlation);
		see_copy(what, what->ends[1], 1, start ? start + third : 0, end, correlation);
	} else
		see_copy(what, what->device, what->copy_kind, start, end, correlation);
	pthread_mutex_unlock(&self.lock);
}

// A node was made; a node's handle is its number here.
static void tell_node(uint32_t id, uint64_t node, uint64_t original)
{
	struct cupti_graph_resource graph = { .node = (cu_graph_node)(uintptr_t)node,
		                              .original_node = (cu_graph_node)(uintptr_t)original };
	struct cupti_resource resource = { .descriptor = &graph };

	self.callback(self.context, ABI_CUPTI_DOMAIN_RESOURCE, id, &resource);
}

static void see_node(uint64_t node, uint64_t original)
{
	if (self.subscribed && self.created)
		tell_node(ABI_CUPTI_RESOURCE_GRAPHNODE_CREATED, node, 0);
	if (self.subscribed && self.cloned && original)
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
static void see_loading(int module, int64_t start_ns, int64_t end_ns)
{
	struct cupti_resource resource = { 0 };
	struct cupti_overhead told = { .kind = ABI_CUPTI_KIND_OVERHEAD,
		                       .overhead = ABI_CUPTI_OVERHEAD_LAZY_LOADING,
		                       .object = ABI_CUPTI_OBJECT_THREAD,
		                       .process = (uint32_t)getpid(),
		                       .thread = (uint32_t)pthread_self() };
	if (module) {
		resource.descriptor = (void *)fake_cupti_next_module();
		if (self.subscribed && self.loaded)
			self.callback(self.context, ABI_CUPTI_DOMAIN_RESOURCE,
			              ABI_CUPTI_RESOURCE_MODULE_LOADED, &resource);
		return;
	}
	pthread_mutex_lock(&self.lock);
	told.start = normal(start_ns);
	told.end = told.start + (uint64_t)(end_ns - start_ns);
	for (int other = 0; other < 2 && self.enabled[told.kind]; other++) {
		emit(&told);
		told.overhead = 2 << 16; // instrumentation
	}
	pthread_mutex_unlock(&self.lock);
}

// A context is told of when it is made, and before it goes.
static void see_context(const char *name, const struct cupti_call *call)
{
	bool made = strcmp(name, "cuCtxCreate_v2") == 0 || strcmp(name, "cuCtxCreate") == 0 ||
	            strcmp(name, "cuDevicePrimaryCtxRetain") == 0;
	bool goes = strncmp(name, "cuCtxDestroy", 12) == 0;
	struct cupti_resource resource = { 0 };

	if (!self.subscribed)
		return;
	if (made && self.contexts && call->site == ABI_CUPTI_SITE_EXIT &&
	    *(const cu_result *)call->result == ABI_SUCCESS) {
		resource.context = **(cu_context *const *)call->parameters;
		self.callback(self.context, ABI_CUPTI_DOMAIN_RESOURCE,
		              ABI_CUPTI_RESOURCE_CONTEXT_CREATED, &resource);
	}
	if (goes && self.context_ends && call->site == ABI_CUPTI_SITE_ENTER) {
		resource.context = *(const cu_context *)call->parameters;
		self.callback(self.context, ABI_CUPTI_DOMAIN_RESOURCE,
		              ABI_CUPTI_RESOURCE_CONTEXT_ENDS, &resource);
	}
}

// A function's id is its place among the names.
static void see_call(const char *name, struct cupti_call *call)
{
	see_context(name, call);
	if (self.script.early && call->site == ABI_CUPTI_SITE_EXIT) {
		pthread_mutex_lock(&self.lock);
		complete();
		pthread_mutex_unlock(&self.lock);
		usleep(20000);
	}
	if (self.script.hold && call->site == ABI_CUPTI_SITE_EXIT &&
	    strcmp(name, "cuLaunchKernel") == 0) {
		self.script.hold = false;
		usleep(30000);
	}
	note_launch(name, call);
	for (uint32_t id = 1; id < CALLS && cuda.call_name(id); id++)
		if (self.calls[id] && self.subscribed && strcmp(cuda.call_name(id), name) == 0)
			self.callback(self.context, ABI_CUPTI_DOMAIN_DRIVER, id, call);
}

// Some of the runtime's functions, as CUPTI names them.
static const char *const runtime_names[] = { "cudaMalloc_v3020",
	                                     "cudaFree_v3020",
	                                     "cudaMemcpyAsync_v3020",
	                                     "cudaMemset_v3020",
	                                     "cudaStreamSynchronize_v3020",
	                                     "cudaEventQuery_v3020",
	                                     "cudaGetDevice_v3020",
	                                     "cudaMemcpyAsync_ptsz_v7000",
	                                     "__cudaLaunchKernel_v13000" };

static void see_runtime(const char *name, struct cupti_call *call)
{
	for (uint32_t i = 0; i < sizeof runtime_names / sizeof *runtime_names; i++)
		if (self.runtime[i + 1] && self.subscribed && strcmp(runtime_names[i], name) == 0)
			self.callback(self.context, ABI_CUPTI_DOMAIN_RUNTIME, i + 1, call);
}

// ---- the library

static void read_script(void)
{
	static const struct {
		const char *word;
		int *value;
	} numbers[] = {
		{ "version", &self.script.version }, { "fail_enable", &self.script.fail_enable },
		{ "drop", &self.script.drop },       { "timeless", &self.script.timeless },
		{ "fill", &self.script.fill },       { "nvlink", &self.script.nvlink },
	};
	const char *text = getenv("TARE_FAKE_CUPTI");
	char words[256], *place = NULL;

	memset(&self.script, 0, sizeof self.script);
	self.script.version = 130001;
	snprintf(words, sizeof words, "%s", text ? text : "");
	for (char *word = strtok_r(words, " ", &place); word; word = strtok_r(NULL, " ", &place)) {
		char *value = strchr(word, '=');
		if (value)
			*value++ = '\0';
		self.script.late |= strcmp(word, "late") == 0;
		self.script.early |= strcmp(word, "early") == 0;
		self.script.hold |= strcmp(word, "hold") == 0;
		self.script.outer |= strcmp(word, "outer") == 0;
		self.script.strange |= strcmp(word, "strange") == 0;
		self.script.uncorrelated |= strcmp(word, "uncorrelated") == 0;
		self.script.unshared |= strcmp(word, "unshared") == 0;
		self.script.slow |= strcmp(word, "slow") == 0;
		if (value && strcmp(word, "holder") == 0)
			snprintf(self.script.holder, sizeof self.script.holder, "%s", value);
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
	*(void **)&cuda.observe = dlsym(library, "fake_cuda_observe");
	*(void **)&cuda.observe_nodes = dlsym(library, "fake_cuda_observe_nodes");
	*(void **)&cuda.last_correlation = dlsym(library, "fake_cuda_last_correlation");
	*(void **)&cuda.observe_loading = dlsym(library, "fake_cuda_observe_loading");
	*(void **)&cuda.observe_calls = dlsym(library, "fake_cuda_observe_calls");
	*(void **)&cuda.observe_runtime = dlsym(library, "fake_cuda_observe_runtime");
	*(void **)&cuda.number_by_runtime = dlsym(library, "fake_cuda_number_by_runtime");
	*(void **)&cuda.call_name = dlsym(library, "fake_cuda_call_name");
	*(void **)&cuda.context_device = dlsym(library, "fake_cuda_context_device");
	dlclose(library);
	return cuda.observe_loading && cuda.observe_calls && cuda.call_name &&
	       cuda.context_device && cuda.observe && cuda.observe_nodes && cuda.last_correlation;
}

cupti_result cuptiGetVersion(uint32_t *version)
{
	read_script();
	*version = (uint32_t)self.script.version;
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
	if (self.subscribed || self.script.holder[0]) {
		if (subscription && subscription->holder && subscription->holder_bytes >= 64)
			snprintf(subscription->holder, subscription->holder_bytes, "%s",
			         strcmp(self.script.holder, "?") ? self.script.holder : "");
		return ABI_CUPTI_MULTIPLE_SUBSCRIBERS;
	}
	self.subscribed = true;
	self.process = getpid();
	self.callback = callback;
	self.context = context;
	*subscriber = (cupti_subscriber)&self;
	return ABI_CUPTI_SUCCESS;
}

cupti_result cuptiSubscribe(cupti_subscriber *subscriber, cupti_callback callback, void *context)
{
	return cuptiSubscribe_v2(subscriber, callback, context, NULL);
}

cupti_result cuptiUnsubscribe(cupti_subscriber subscriber)
{
	if (subscriber != (cupti_subscriber)&self || !self.subscribed)
		return INVALID_PARAMETER;
	self.subscribed = self.created = self.cloned = self.loaded = false;
	memset(self.calls, 0, sizeof self.calls);
	memset(self.runtime, 0, sizeof self.runtime);
	self.calls_told = false;
	cuda.observe_runtime(NULL);
	cuda.observe_calls(NULL);
	cuda.observe_nodes(NULL);
	cuda.observe_loading(NULL);
	return ABI_CUPTI_SUCCESS;
}

cupti_result cuptiEnableCallback(uint32_t enable, cupti_subscriber subscriber, cupti_domain domain,
                                 uint32_t id)
{
	if (subscriber != (cupti_subscriber)&self)
		return INVALID_PARAMETER;
	if (domain == ABI_CUPTI_DOMAIN_DRIVER && id < CALLS) {
		self.calls[id] = enable;
		self.calls_told |= enable;
		cuda.observe_calls(see_call);
		return ABI_CUPTI_SUCCESS;
	}
	if (domain == ABI_CUPTI_DOMAIN_RUNTIME && id < CALLS) {
		self.runtime[id] = enable;
		cuda.number_by_runtime(self.script.outer);
		cuda.observe_runtime(see_runtime);
		return ABI_CUPTI_SUCCESS;
	}
	if (domain != ABI_CUPTI_DOMAIN_RESOURCE)
		return INVALID_PARAMETER;
	if (id == ABI_CUPTI_RESOURCE_CONTEXT_CREATED)
		self.contexts = enable;
	if (id == ABI_CUPTI_RESOURCE_CONTEXT_ENDS)
		self.context_ends = enable;
	if (id == ABI_CUPTI_RESOURCE_CONTEXT_CREATED || id == ABI_CUPTI_RESOURCE_CONTEXT_ENDS)
		cuda.observe_calls(see_call);
	if (id == ABI_CUPTI_RESOURCE_GRAPHNODE_CREATED)
		self.created = enable;
	if (id == ABI_CUPTI_RESOURCE_GRAPHNODE_CLONED)
		self.cloned = enable;
	if (id == ABI_CUPTI_RESOURCE_MODULE_LOADED)
		self.loaded = enable;
	cuda.observe_nodes(see_node);
	cuda.observe_loading(see_loading);
	return ABI_CUPTI_SUCCESS;
}

cupti_result cuptiEnableDomain(uint32_t enable, cupti_subscriber subscriber, cupti_domain domain)
{
	for (uint32_t id = 1; id < CALLS; id++)
		if (domain == ABI_CUPTI_DOMAIN_DRIVER || domain == ABI_CUPTI_DOMAIN_RUNTIME)
			cuptiEnableCallback(enable, subscriber, domain, id);
	return subscriber == (cupti_subscriber)&self ? ABI_CUPTI_SUCCESS : INVALID_PARAMETER;
}

cupti_result cuptiEnableAllDomains(uint32_t enable, cupti_subscriber subscriber)
{
	cuptiEnableDomain(enable, subscriber, ABI_CUPTI_DOMAIN_DRIVER);
	return cuptiEnableDomain(enable, subscriber, ABI_CUPTI_DOMAIN_RUNTIME);
}

cupti_result cuptiGetCallbackState(uint32_t *enable, cupti_subscriber subscriber,
                                   cupti_domain domain, uint32_t id)
{
	if (subscriber != (cupti_subscriber)&self || id >= CALLS)
		return INVALID_PARAMETER;
	*enable = domain == ABI_CUPTI_DOMAIN_DRIVER
	              ? self.calls[id]
	              : domain == ABI_CUPTI_DOMAIN_RUNTIME && self.runtime[id];
	return ABI_CUPTI_SUCCESS;
}

cupti_result cuptiFinalize(void)
{
	cuptiUnsubscribe((cupti_subscriber)&self);
	memset(self.enabled, 0, sizeof self.enabled);
	self.requested = NULL;
	self.completed = NULL;
	return ABI_CUPTI_SUCCESS;
}

cupti_result cuptiGetCallbackName(cupti_domain domain, uint32_t id, const char **name)
{
	if (domain == ABI_CUPTI_DOMAIN_RUNTIME &&
	    id < 1 + sizeof runtime_names / sizeof *runtime_names) {
		*name = id ? runtime_names[id - 1] : NULL;
		return *name ? ABI_CUPTI_SUCCESS : INVALID_PARAMETER;
	}
	if (domain != ABI_CUPTI_DOMAIN_DRIVER || !find_cuda() || !cuda.call_name(id))
		return INVALID_PARAMETER;
	*name = cuda.call_name(id);
	return ABI_CUPTI_SUCCESS;
}

cupti_result cuptiGetDeviceId(cu_context context, uint32_t *device)
{
	if (!context)
		return INVALID_PARAMETER;
	*device = cuda.context_device(context);
	return ABI_CUPTI_SUCCESS;
}

cupti_result cuptiGetStreamIdEx(cu_context context, cu_stream stream, uint8_t is_thread_default,
                                uint32_t *id)
{
	(void)is_thread_default;
	if (!context)
		return INVALID_PARAMETER;
	*id = stream_id(stream);
	return ABI_CUPTI_SUCCESS;
}

cupti_result cuptiGetGraphNodeId(cu_graph_node node, uint64_t *id)
{
	*id = (uint64_t)(uintptr_t)node + (self.script.strange ? STRANGE : 0);
	return ABI_CUPTI_SUCCESS;
}

cupti_result cuptiActivityRegisterTimestampCallback(cupti_timestamp now)
{
	self.clock = now;
	return now ? ABI_CUPTI_SUCCESS : INVALID_PARAMETER;
}

cupti_result cuptiActivityEnableLatencyTimestamps(uint8_t enable)
{
	self.latency = enable;
	return ABI_CUPTI_SUCCESS;
}

cupti_result cuptiActivityRegisterCallbacks(cupti_buffer_requested requested,
                                            cupti_buffer_completed completed)
{
	self.requested = requested;
	self.completed = completed;
	return requested && completed ? ABI_CUPTI_SUCCESS : INVALID_PARAMETER;
}

static bool any_enabled(void)
{
	for (int i = 0; i < KINDS; i++)
		if (self.enabled[i])
			return true;
	return false;
}

// One record, of the first two devices; ends are named as fake_cuda.c has them.
static void see_links(void)
{
	struct cupti_nvlink link = { .kind = ABI_CUPTI_KIND_NVLINK,
		                     .version = 4,
		                     .types = { ABI_CUPTI_NVLINK_GPU, ABI_CUPTI_NVLINK_GPU },
		                     .count = (uint32_t)self.script.nvlink };
	for (int end = 0; end < 2; end++)
		for (int i = 0; i < 16; i++)
			link.ends[end][i] = (uint8_t)(i < 15 ? 0xa0 + i : end);
	if (self.script.nvlink)
		emit(&link);
}

cupti_result cuptiActivityEnable(cupti_kind kind)
{
	if (kind == 3)
		abort(); // serialises the device
	if (self.script.fail_enable)
		return self.script.fail_enable;
	if (kind >= KINDS)
		return INVALID_KIND;
	if (!cuda.observe && !find_cuda())
		return ABI_CUPTI_NOT_INITIALIZED;
	self.process = getpid();
	pthread_mutex_lock(&self.lock);
	if (kind == ABI_CUPTI_KIND_NVLINK && !self.enabled[kind])
		see_links();
	self.enabled[kind] = true;
	pthread_mutex_unlock(&self.lock);
	cuda.observe(see);
	cuda.observe_loading(see_loading);
	return ABI_CUPTI_SUCCESS;
}

cupti_result cuptiActivityConfigureUnifiedMemoryCounter(cupti_pages_config *configs, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		if (configs[i].counter == 0 || configs[i].counter > ABI_CUPTI_PAGES_BETWEEN_DEVICES)
			return INVALID_PARAMETER;
		self.counters |= (configs[i].enable & 1) << configs[i].counter;
	}
	return ABI_CUPTI_SUCCESS;
}

cupti_result cuptiActivityDisable(cupti_kind kind)
{
	if (kind >= KINDS)
		return INVALID_KIND;
	pthread_mutex_lock(&self.lock);
	self.enabled[kind] = false;
	bool any = any_enabled();
	pthread_mutex_unlock(&self.lock);
	if (!any)
		cuda.observe(NULL);
	return ABI_CUPTI_SUCCESS;
}

cupti_result cuptiActivityFlushAll(uint32_t flag)
{
	if (self.process != getpid())
		abort(); // the child of a fork
	if (!self.completed)
		return ABI_CUPTI_SUCCESS; // as on an H200 with CUPTI 13, though documented
		                          // otherwise
	pthread_mutex_lock(&self.lock);
	while (self.held_count)
		write_record(&self.held[--self.held_count]);
	complete();
	pthread_mutex_unlock(&self.lock);
	if (flag == ABI_CUPTI_FLUSH_FORCED)
		self.forced = true;
	return ABI_CUPTI_SUCCESS;
}

static void read_slowly(void)
{
	for (int i = 0; i < 10000 && !self.forced; i++)
		usleep(1000);
	usleep(50000);
}

cupti_result cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid_bytes, cupti_record **record)
{
	uint8_t *next = *record ? (uint8_t *)*record + size_of((*record)->kind) : buffer;

	if (!buffer)
		return INVALID_PARAMETER;
	if (self.script.slow && !*record && gettid() != getpid())
		read_slowly();
	if (next >= buffer + valid_bytes)
		return ABI_CUPTI_MAX_LIMIT_REACHED;
	*record = (cupti_record *)next;
	return size_of((*record)->kind) ? ABI_CUPTI_SUCCESS : INVALID_KIND;
}

cupti_result cuptiActivityGetNumDroppedRecords(cu_context context, uint32_t stream, size_t *dropped)
{
	(void)context;
	(void)stream;
	pthread_mutex_lock(&self.lock);
	*dropped = self.dropped;
	self.dropped = 0;
	pthread_mutex_unlock(&self.lock);
	return ABI_CUPTI_SUCCESS;
}

cupti_result cuptiActivityPushExternalCorrelationId(cupti_external_kind kind, uint64_t id)
{
	if (kind == 0 || kind > 5 || depth == DEPTH)
		return INVALID_PARAMETER;
	stack[depth].id = id;
	stack[depth++].last = cuda.last_correlation();
	self.pushed++;
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
	self.pushed--;
	if (last)
		*last = stack[depth].id;
	pthread_mutex_lock(&self.lock);
	for (uint32_t call = stack[depth].last + 1;
	     self.enabled[ABI_CUPTI_KIND_DRIVER] && call <= cuda.last_correlation(); call++) {
		struct cupti_external external = { ABI_CUPTI_KIND_EXTERNAL_CORRELATION, kind,
			                           stack[depth].id, call, 0 };
		if (!self.enabled[ABI_CUPTI_KIND_EXTERNAL_CORRELATION])
			continue;
		emit(&external);
		emit(&(struct api){ .kind = ABI_CUPTI_KIND_DRIVER, .correlation = call });
	}
	pthread_mutex_unlock(&self.lock);
	return ABI_CUPTI_SUCCESS;
}

// ---- for the tests

int fake_cupti_active(void)
{
	int active = self.subscribed;
	for (int i = 0; i < KINDS; i++)
		active += self.enabled[i];
	return active;
}

int fake_cupti_buffers(void)
{
	return self.buffers;
}

int fake_cupti_pushed(void)
{
	return self.pushed;
}
