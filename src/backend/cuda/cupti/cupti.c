// SPDX-License-Identifier: Apache-2.0
// CUPTI, the CUDA profiling tools interface, in tare's own process and only while engine stamps
// are asked for. The library stays mapped once it is open: it keeps threads and handlers. The
// process has one subscriber, so one device is traced at a time.
#include "backend/cuda/cupti/engines.h"
#include "backend/cuda/graph.h"
#include "backend/cuda/trace.h"
#include "base/room.h"
#include "guest/cuda/cupti_places.h"

#include <dlfcn.h>
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMES 64
#define NAME_BYTES 256
#define HOLDER_BYTES 64

static const struct tare_symbol symbols[] = {
#define REQUIRED(name, parameters) TARE_SYMBOL(struct cupti_functions, name),
#define OPTIONAL(name, parameters) TARE_SYMBOL_OPTIONAL(struct cupti_functions, name),
	CUPTI_FUNCTIONS(REQUIRED, OPTIONAL)
#undef REQUIRED
#undef OPTIONAL
};

static struct {
	pthread_mutex_t lock;
	struct tare_library *library; // NULL: not open
	struct cupti_functions call;
	uint32_t version;
	cupti_subscriber subscriber;
	struct cuda_device *device; // that is traced; NULL: none
	uint64_t tickets;           // given so far
} cupti = { .lock = PTHREAD_MUTEX_INITIALIZER };

static _Thread_local struct cuda_graph *recorded_graph;

// ---- the library

struct names {
	char text[NAMES][NAME_BYTES];
	const char *list[NAMES + 1];
	size_t count;
};

static void add_name(struct names *names, const char *name)
{
	if (names->count == NAMES || strlen(name) >= NAME_BYTES)
		return;
	strcpy(names->text[names->count], name);
	names->list[names->count] = names->text[names->count];
	names->list[++names->count] = NULL;
}

static void add_matches(struct names *names, const char *pattern)
{
	glob_t found;

	if (glob(pattern, 0, NULL, &found) != 0)
		return;
	for (size_t i = found.gl_pathc; i-- > 0;) // newest toolkit first
		add_name(names, found.gl_pathv[i]);
	globfree(&found);
}

// The driver's own version first, then from new to old; by name, then in the toolkits' folders.
static void list_names(struct names *names, int driver_version)
{
	static const char *const versions[] = { CUPTI_VERSIONS };
	static const char *const places[] = { CUPTI_FOLDERS };
	char own[16], text[NAME_BYTES];

	snprintf(own, sizeof own, "%d", driver_version / 1000);
	for (size_t v = 0; v <= sizeof versions / sizeof *versions; v++) {
		const char *version = v ? versions[v - 1] : own;
		if (v && strcmp(version, own) == 0)
			continue;
		snprintf(text, sizeof text, "libcupti.so.%s", version);
		add_name(names, text);
		for (size_t p = 0; p < sizeof places / sizeof *places; p++) {
			snprintf(text, sizeof text, "%s/libcupti.so.%s", places[p], version);
			add_matches(names, text);
		}
	}
}

// One that the process has loaded already comes first: two copies do not get on.
static void prefer_loaded(struct names *names)
{
	for (size_t i = 0; i < names->count; i++) {
		void *handle = dlopen(names->list[i], RTLD_LAZY | RTLD_NOLOAD);
		if (!handle)
			continue;
		dlclose(handle);
		names->list[0] = names->text[i];
		names->list[1] = NULL;
		return;
	}
}

static int library_missing(const char *chosen, struct tare_error *error)
{
	if (chosen)
		return tare_fail(error, ENOENT,
		                 "TARE_CUPTI_LIBRARY names '%.200s', which cannot be opened",
		                 chosen);
	return tare_fail(error, ENOENT,
	                 "no CUPTI library (libcupti.so), which tells when engines worked; install "
	                 "the CUDA toolkit's cuda-cupti package, or name the library with "
	                 "TARE_CUPTI_LIBRARY");
}

static int library_open(int driver_version, struct tare_error *error)
{
	const char *chosen = getenv(CUPTI_VARIABLE);
	struct names *names;
	int status;

	if (cupti.library)
		return 0;
	names = calloc(1, sizeof *names);
	if (!names)
		return tare_fail(error, ENOMEM, "out of memory");
	chosen = chosen && *chosen ? chosen : NULL;
	if (chosen) {
		names->list[0] = chosen;
	} else {
		list_names(names, driver_version);
		prefer_loaded(names);
	}
	status = tare_library_open(names->list, symbols, sizeof symbols / sizeof *symbols,
	                           &cupti.call, &cupti.library, error);
	if (status == -ENOENT)
		status = library_missing(chosen, error);
	else if (status == -ENOSYS) {
		status = -ENOTSUP;
		tare_error_prefix(error, "this CUPTI cannot be used");
		if (error)
			error->code = status;
	}
	free(names);
	if (status < 0)
		return status;
	dlopen(tare_library_name(cupti.library), RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
	if (cupti.call.cuptiGetVersion(&cupti.version) != ABI_CUPTI_SUCCESS)
		cupti.version = 0;
	return 0;
}

int cuda_tracer_open(int driver_version, const char **name, struct tare_error *error)
{
	int status;

	pthread_mutex_lock(&cupti.lock);
	status = library_open(driver_version, error);
	if (status == 0)
		*name = tare_library_name(cupti.library);
	pthread_mutex_unlock(&cupti.lock);
	return status;
}

// ---- starting and stopping it

static int fail(cupti_result result, const char *call, struct tare_error *error)
{
	const char *name = NULL, *hint = "";

	if (cupti.call.cuptiGetResultString(result, &name) != ABI_CUPTI_SUCCESS)
		name = NULL;
	if (result == ABI_CUPTI_INSUFFICIENT_PRIVILEGES)
		hint = "; run as root, or have NVreg_RestrictProfilingToAdminUsers=0 set for the "
		       "driver";
	else if (result == ABI_CUPTI_NOT_INITIALIZED)
		hint = "; it may not fit the driver: name another one with TARE_CUPTI_LIBRARY";
	return tare_fail_native(error, ENOTSUP, "cupti", call, result, name,
	                        "CUPTI (%s) cannot trace here%s", tare_library_name(cupti.library),
	                        hint);
}

static int held_by_another(const char *holder, struct tare_error *error)
{
	const char *injected = getenv("CUDA_INJECTION64_PATH");

	if (holder[0])
		return tare_fail(
		    error, ENOTSUP,
		    "another tool traces this process with CUPTI already (%s); run tare "
		    "without it",
		    holder);
	if (injected && *injected)
		return tare_fail(error, ENOTSUP,
		                 "another tool traces this process with CUPTI already "
		                 "(CUDA_INJECTION64_PATH is %.200s); run tare without it",
		                 injected);
	return tare_fail(error, ENOTSUP,
	                 "another tool traces this process with CUPTI already; run tare without "
	                 "Nsight Systems, Nsight Compute or cuda-gdb");
}

static void note_graph_node(uint32_t id, const struct cupti_graph_resource *what)
{
	uint64_t node = 0, original = 0;

	if (cupti.call.cuptiGetGraphNodeId(what->node, &node) != ABI_CUPTI_SUCCESS)
		return;
	if (id == ABI_CUPTI_RESOURCE_GRAPHNODE_CREATED)
		cuda_graph_keep_id(recorded_graph, node);
	else if (cupti.call.cuptiGetGraphNodeId(what->original_node, &original) ==
	         ABI_CUPTI_SUCCESS)
		cuda_graph_keep_copy(recorded_graph, node, original);
}

// Called in the thread that makes or copies a graph's node.
static void on_resource(void *context, cupti_domain domain, uint32_t id, const void *data)
{
	const struct cupti_resource *resource = data;

	(void)context;
	if (recorded_graph && domain == ABI_CUPTI_DOMAIN_RESOURCE && resource->descriptor &&
	    (id == ABI_CUPTI_RESOURCE_GRAPHNODE_CREATED ||
	     id == ABI_CUPTI_RESOURCE_GRAPHNODE_CLONED))
		note_graph_node(id, resource->descriptor);
}

static int subscribe(struct tare_error *error)
{
	char holder[HOLDER_BYTES] = "";
	cupti_subscription subscription = { sizeof subscription, "tare", holder, sizeof holder };
	bool second = cupti.call.cuptiSubscribe_v2 != NULL;
	cupti_result result =
	    second
	        ? cupti.call.cuptiSubscribe_v2(&cupti.subscriber, on_resource, NULL, &subscription)
	        : cupti.call.cuptiSubscribe(&cupti.subscriber, on_resource, NULL);

	holder[sizeof holder - 1] = '\0';
	if (result == ABI_CUPTI_MULTIPLE_SUBSCRIBERS)
		return held_by_another(holder, error);
	if (result != ABI_CUPTI_SUCCESS)
		return fail(result, second ? "cuptiSubscribe_v2" : "cuptiSubscribe", error);
	return 0;
}

static void stop(void)
{
	tare_cupti_end(&cupti.call, cupti.subscriber);
	cupti.subscriber = NULL;
}

static int start(struct tare_error *error)
{
	const struct cupti_functions *call = &cupti.call;
	const char *name;
	cupti_result result;
	int status = subscribe(error);

	if (status < 0)
		return status;
	cuda_records_begin(call, cupti.version);
	result = tare_cupti_records_to(call, cuda_records_completed, &name);
	if (call->cuptiActivityEnableLatencyTimestamps)
		call->cuptiActivityEnableLatencyTimestamps(1);
	if (call->cuptiEnableCallback && call->cuptiGetGraphNodeId) {
		call->cuptiEnableCallback(1, cupti.subscriber, ABI_CUPTI_DOMAIN_RESOURCE,
		                          ABI_CUPTI_RESOURCE_GRAPHNODE_CREATED);
		call->cuptiEnableCallback(1, cupti.subscriber, ABI_CUPTI_DOMAIN_RESOURCE,
		                          ABI_CUPTI_RESOURCE_GRAPHNODE_CLONED);
	}
	if (result == ABI_CUPTI_SUCCESS)
		result = tare_cupti_enable(call, true, &name);
	if (result == ABI_CUPTI_SUCCESS)
		return 0;
	status = fail(result, name, error);
	stop();
	return status;
}

int cuda_engine_stamps_begin(struct tare_device *base, struct tare_error *error)
{
	struct cuda_device *device = cuda_device_of(base);
	struct cuda_trace *trace;
	int status = cuda_enter(device, error);

	if (status < 0)
		return status;
	if (device->trace)
		return tare_fail(error, EINVAL, "this device's engines are traced already");
	trace = calloc(1, sizeof *trace);
	if (!trace)
		return tare_fail(error, ENOMEM, "out of memory");
	trace->device = device;
	trace->users = 1;
	pthread_mutex_lock(&cupti.lock);
	if (cupti.device)
		status =
		    tare_fail(error, ENOTSUP, "%s",
		              cupti.device->base.lost
		                  ? "CUPTI is held by a device that was lost while it was traced"
		                  : "another device's engines are being traced; CUPTI traces for "
		                    "one at a time");
	status = status ?: library_open(device->driver->version, error);
	status = status ?: start(error);
	if (status == 0)
		cupti.device = device;
	pthread_mutex_unlock(&cupti.lock);
	if (status < 0) {
		free(trace);
		return status;
	}
	device->trace = trace;
	return 0;
}

static void give(struct cuda_trace *trace)
{
	if (trace && --trace->users == 0) {
		free(trace->at);
		free(trace);
	}
}

static void end(struct cuda_device *device)
{
	struct cuda_trace *trace = device->trace;

	pthread_mutex_lock(&cupti.lock);
	stop();
	cuda_records_resolve(trace);
	cupti.device = NULL;
	pthread_mutex_unlock(&cupti.lock);
	trace->done = true;
	device->trace = NULL;
	give(trace);
}

int cuda_engine_stamps_end(struct tare_device *base, struct tare_error *error)
{
	struct cuda_device *device = cuda_device_of(base);
	int status = cuda_enter(device, error);

	if (!device->trace)
		return tare_fail(error, EINVAL, "this device's engines are not traced");
	if (device->gates)
		return tare_fail(error, EINVAL,
		                 "a gate is shut; what waits behind it cannot be traced");
	// CUPTI hands out whole records only of what is over, and does not wait itself.
	for (struct cuda_event *event = device->trace->live; event && status == 0;
	     event = event->next_live) {
		status = cuda_poll_event(device, event->end, TARE_LIMIT_DEFAULT_NS, error);
		if (status < 0)
			tare_error_prefix(error, "event of device %u", base->index);
	}
	end(device);
	return status;
}

void cuda_trace_close(struct cuda_device *device)
{
	if (device->trace)
		end(device);
}

// ---- tickets

// From now on the graph's stamps are those of this launch.
static void take_graph(struct cuda_trace *trace, struct cuda_graph *graph)
{
	if (graph->trace)
		cuda_trace_forget_graph(graph->trace, graph);
	for (uint32_t i = 0; i < graph->count; i++)
		graph->nodes[i].times = (struct cuda_engine_times){ 0 };
	graph->trace = trace;
	graph->traced = trace->count;
	trace->users++;
}

int cuda_trace_push(struct cuda_device *device, struct cuda_event *event, struct cuda_graph *graph,
                    struct tare_error *error)
{
	struct cuda_trace *trace = device->trace;

	if (!trace)
		return 0;
	if (!TARE_ROOM_FOR(trace->at, trace->room, trace->count))
		return tare_fail(error, ENOMEM, "out of memory");
	if (graph)
		take_graph(trace, graph);
	// Tickets go on from one trace to the next: a record that comes late is nobody else's.
	trace->at[trace->count] = (struct cuda_traced){ .ticket = ++cupti.tickets, .graph = graph };
	event->trace = trace;
	event->traced = trace->count++;
	event->next_live = trace->live;
	if (trace->live)
		trace->live->previous_live = event;
	trace->live = event;
	trace->users++;
	event->pushed = cupti.call.cuptiActivityPushExternalCorrelationId(
	                    ABI_CUPTI_EXTERNAL_CUSTOM0, cupti.tickets) == ABI_CUPTI_SUCCESS;
	return 0;
}

void cuda_trace_pop(struct cuda_event *event)
{
	uint64_t last;

	if (event->pushed)
		cupti.call.cuptiActivityPopExternalCorrelationId(ABI_CUPTI_EXTERNAL_CUSTOM0, &last);
	event->pushed = false;
}

void cuda_trace_forget(struct cuda_event *event)
{
	struct cuda_trace *trace = event->trace;

	cuda_trace_pop(event);
	if (!trace)
		return;
	if (event->previous_live)
		event->previous_live->next_live = event->next_live;
	else
		trace->live = event->next_live;
	if (event->next_live)
		event->next_live->previous_live = event->previous_live;
	event->trace = NULL;
	give(trace);
}

void cuda_trace_forget_graph(struct cuda_trace *trace, const struct cuda_graph *graph)
{
	if (!trace)
		return;
	trace->at[graph->traced].graph = NULL;
	give(trace);
}

void cuda_trace_record_graph(struct cuda_graph *graph)
{
	recorded_graph = graph;
}

int cuda_trace_tell(const struct cuda_trace *trace, const struct cuda_engine_times *times,
                    struct tare_stamps *stamps, struct tare_error *error)
{
	if (!trace->done)
		return tare_fail(error, EAGAIN,
		                 "engine stamps can be had once their recording has ended");
	if (trace->dropped)
		return tare_fail(
		    error, ENODATA,
		    "CUPTI dropped %zu records for lack of memory; an operation's may be "
		    "among them",
		    trace->dropped);
	if (!times->records)
		return tare_fail(error, ENODATA, "CUPTI saw no engine at work for this operation");
	if (times->timeless)
		return tare_fail(error, ENODATA, "CUPTI had no times for this operation");
	stamps->at[TARE_STAMP_START].ticks = times->start;
	stamps->at[TARE_STAMP_END].ticks = times->end;
	stamps->present = 1u << TARE_STAMP_START | 1u << TARE_STAMP_END;
	if (times->queued && times->queued <= times->start) {
		stamps->at[TARE_STAMP_QUEUED].ticks = times->queued;
		stamps->present |= 1u << TARE_STAMP_QUEUED;
	}
	if (times->submitted && times->submitted <= times->start) {
		stamps->at[TARE_STAMP_SUBMITTED].ticks = times->submitted;
		stamps->present |= 1u << TARE_STAMP_SUBMITTED;
	}
	stamps->epoch = CUDA_ENGINE_EPOCH;
	stamps->brackets_engine = true;
	return 0;
}
