// SPDX-License-Identifier: Apache-2.0
// The part of CUPTI's binary interface that tare uses, in our own words, as in abi.h. Records grow
// only at their end from one version of the library to the next, so each structure below is the
// beginning of a record; tests/headers/cupti_abi_check.c compares it with every version that
// NVIDIA's headers still describe.
#pragma once
#include "backend/cuda/abi.h"

#ifndef TARE_CUPTI_ABI_CHECK // the check puts NVIDIA's types here
typedef int cupti_result;
typedef unsigned int cupti_kind;
typedef unsigned int cupti_external_kind;
typedef unsigned int cupti_domain;
typedef struct cupti_subscriber_object *cupti_subscriber;
typedef struct cu_graph_node_object *cu_graph_node;

// What every record begins with.
typedef struct {
	cupti_kind kind;
} cupti_record;

typedef struct {
	size_t bytes;        // of this structure
	const char *name;    // ours
	char *holder;        // returns who holds the library already; NULL: not asked
	size_t holder_bytes; // at least 64
} cupti_subscription;

// Which counter of unified memory is wanted.
typedef struct {
	uint32_t scope, counter, device, enable;
} cupti_pages_config;

typedef void (*cupti_callback)(void *context, cupti_domain domain, uint32_t id, const void *data);
typedef void (*cupti_buffer_requested)(uint8_t **buffer, size_t *bytes, size_t *most_records);
typedef void (*cupti_buffer_completed)(cu_context context, uint32_t stream, uint8_t *buffer,
                                       size_t bytes, size_t valid_bytes);
typedef uint64_t (*cupti_timestamp)(void);
#endif

enum {
	ABI_CUPTI_SUCCESS = 0,
	ABI_CUPTI_INVALID_OPERATION = 7,
	ABI_CUPTI_OUT_OF_MEMORY = 8,
	ABI_CUPTI_NOT_IMPLEMENTED = 11,
	ABI_CUPTI_MAX_LIMIT_REACHED = 12,
	ABI_CUPTI_NOT_INITIALIZED = 15,
	ABI_CUPTI_INSUFFICIENT_PRIVILEGES = 35,
	ABI_CUPTI_MULTIPLE_SUBSCRIBERS = 39,
};

enum {
	ABI_CUPTI_KIND_MEMCPY = 1,
	ABI_CUPTI_KIND_MEMSET = 2,
	ABI_CUPTI_KIND_DRIVER = 4,
	ABI_CUPTI_KIND_RUNTIME = 5,
	ABI_CUPTI_KIND_CONCURRENT_KERNEL = 10,
	ABI_CUPTI_KIND_OVERHEAD = 17,
	ABI_CUPTI_KIND_MEMCPY_PEER = 22,
	ABI_CUPTI_KIND_PAGES = 25, // UNIFIED_MEMORY_COUNTER
	ABI_CUPTI_KIND_EXTERNAL_CORRELATION = 39,
	ABI_CUPTI_KIND_NVLINK = 40,
	ABI_CUPTI_EXTERNAL_CUSTOM0 = 3,
	ABI_CUPTI_FLUSH_FORCED = 1,
};

// What an overhead is, and of what.
enum {
	ABI_CUPTI_OVERHEAD_MODULE_LOADING = 4 << 16, // RUNTIME_TRIGGERED_MODULE_LOADING
	ABI_CUPTI_OVERHEAD_LAZY_LOADING = 5 << 16,   // LAZY_FUNCTION_LOADING
	ABI_CUPTI_OBJECT_THREAD = 2,
};

// What an end of a link is.
enum { ABI_CUPTI_NVLINK_GPU = 1 };

// Of unified memory: what is counted.
enum {
	ABI_CUPTI_PAGES_TO_DEVICE = 1,
	ABI_CUPTI_PAGES_TO_HOST = 2,
	ABI_CUPTI_PAGES_HOST_FAULTS = 3,
	ABI_CUPTI_PAGES_DEVICE_FAULTS = 4,
	ABI_CUPTI_PAGES_THRASHING = 5,
	ABI_CUPTI_PAGES_THROTTLING = 6,
	ABI_CUPTI_PAGES_REMOTE_MAP = 7,
	ABI_CUPTI_PAGES_BETWEEN_DEVICES = 8,
	ABI_CUPTI_PAGES_ALL_DEVICES = 2, // scope: of this process
};

enum {
	ABI_CUPTI_DOMAIN_DRIVER = 1,
	ABI_CUPTI_DOMAIN_RUNTIME = 2,
	ABI_CUPTI_DOMAIN_RESOURCE = 3,
	ABI_CUPTI_SITE_ENTER = 0,
	ABI_CUPTI_SITE_EXIT = 1,
	ABI_CUPTI_RESOURCE_CONTEXT_ENDS = 2,
	ABI_CUPTI_RESOURCE_MODULE_LOADED = 6,
	ABI_CUPTI_RESOURCE_GRAPHNODE_CREATED = 13,
	ABI_CUPTI_RESOURCE_GRAPHNODE_CLONED = 20,
};

// The first version whose records of every kind carry graph_node (CUDA 11.1).
#define ABI_CUPTI_VERSION_GRAPH_NODE 14

// Times are nanoseconds of the registered clock; 0: unknown.
struct cupti_kernel {
	cupti_kind kind;
	uint8_t cache_config, shared_config;
	uint16_t registers;
	uint32_t partition_requested, partition_executed;
	uint64_t start, end, completed;
	uint32_t device, context, stream;
	int32_t grid[3], block[3];
	int32_t static_shared, dynamic_shared;
	uint32_t local_a_thread, local_total;
	uint32_t correlation;
	int64_t grid_id;
	const char *name;
	void *reserved;
	uint64_t queued, submitted;
	uint8_t launch_type, carveout_requested, carveout, padding;
	uint32_t shared_executed;
	uint64_t graph_node;
};

struct cupti_memcpy {
	cupti_kind kind;
	uint8_t copy_kind, source_kind, destination_kind, flags;
	uint64_t bytes, start, end;
	uint32_t device, context, stream;
	uint32_t correlation, runtime_correlation, padding;
	void *reserved;
	uint64_t graph_node;
};

struct cupti_memcpy_peer {
	cupti_kind kind;
	uint8_t copy_kind, source_kind, destination_kind, flags;
	uint64_t bytes, start, end;
	uint32_t device, context, stream;
	uint32_t source_device, source_context, destination_device, destination_context;
	uint32_t correlation;
	void *reserved;
	uint64_t graph_node;
};

struct cupti_memset {
	cupti_kind kind;
	uint32_t value;
	uint64_t bytes, start, end;
	uint32_t device, context, stream;
	uint32_t correlation;
	uint16_t flags, memory_kind;
	uint32_t padding;
	void *reserved;
	uint64_t graph_node;
};

// A counter of unified memory (since CUDA 7).
struct cupti_pages {
	cupti_kind kind;
	uint32_t counter;
	uint64_t value, start, end, address;
	uint32_t source, destination, stream, process;
	uint32_t cause, padding;
};
// How two GPUs are linked, by their UUIDs; `count` links. Versions differ behind that.
struct cupti_nvlink {
	cupti_kind kind;
	uint32_t version;
	uint32_t types[2];
	uint8_t ends[2][16];
	uint32_t flag, count;
};
// What driver or CUPTI did by themselves in a thread, which is the lower half of its pthread_t.
struct cupti_overhead {
	cupti_kind kind;
	uint32_t overhead, object, process, thread, padding;
	uint64_t start, end;
};
// Which call of ours (external) a call of the driver (correlation) belongs to.
struct cupti_external {
	cupti_kind kind;
	cupti_external_kind external_kind;
	uint64_t external;
	uint32_t correlation, reserved;
};

// What the callback of the domain DRIVER gets: a call, before and after it.
struct cupti_call {
	int site;
	const char *function;
	const void *parameters; // a structure of them, in their order
	void *result;           // of the driver's type, at the exit
	const char *symbol;     // of a launch: the kernel's name
	cu_context context;     // the thread's; NULL: none
	uint32_t context_id;    // never used again in the process
	uint64_t *data;         // kept from the entry to the exit
	uint32_t correlation;
};

// What the callback of the domain RESOURCE gets, and what `descriptor` points to there for graphs.
struct cupti_resource {
	cu_context context;
	void *handle;
	void *descriptor;
};
struct cupti_graph_resource {
	cu_graph graph, original_graph;
	cu_graph_node node, original_node;
};

// required(name, parameters), optional(name, parameters); all of them return cupti_result.
// One function a line.
// clang-format off
#define CUPTI_FUNCTIONS(required, optional) \
	required(cuptiGetVersion, (uint32_t *version)) \
	required(cuptiGetResultString, (cupti_result result, const char **text)) \
	required(cuptiSubscribe, \
	         (cupti_subscriber *subscriber, cupti_callback callback, void *context)) \
	optional(cuptiSubscribe_v2, \
	         (cupti_subscriber *subscriber, cupti_callback callback, void *context, \
	          cupti_subscription *subscription)) \
	required(cuptiUnsubscribe, (cupti_subscriber subscriber)) \
	optional(cuptiEnableCallback, \
	         (uint32_t enable, cupti_subscriber subscriber, cupti_domain domain, uint32_t id)) \
	optional(cuptiEnableDomain, \
	         (uint32_t enable, cupti_subscriber subscriber, cupti_domain domain)) \
	optional(cuptiEnableAllDomains, (uint32_t enable, cupti_subscriber subscriber)) \
	optional(cuptiGetCallbackState, \
	         (uint32_t *enable, cupti_subscriber subscriber, cupti_domain domain, uint32_t id)) \
	optional(cuptiFinalize, (void)) \
	optional(cuptiGetCallbackName, (cupti_domain domain, uint32_t id, const char **name)) \
	optional(cuptiGetDeviceId, (cu_context context, uint32_t *device)) \
	optional(cuptiGetStreamIdEx, \
	         (cu_context context, cu_stream stream, uint8_t is_thread_default, uint32_t *id)) \
	optional(cuptiGetGraphNodeId, (cu_graph_node node, uint64_t *id)) \
	required(cuptiActivityRegisterTimestampCallback, (cupti_timestamp now)) \
	optional(cuptiActivityEnableLatencyTimestamps, (uint8_t enable)) \
	required(cuptiActivityRegisterCallbacks, \
	         (cupti_buffer_requested requested, cupti_buffer_completed completed)) \
	required(cuptiActivityEnable, (cupti_kind kind)) \
	required(cuptiActivityDisable, (cupti_kind kind)) \
	required(cuptiActivityFlushAll, (uint32_t flag)) \
	optional(cuptiActivityConfigureUnifiedMemoryCounter, \
	         (cupti_pages_config *configs, uint32_t count)) \
	required(cuptiActivityGetNextRecord, \
	         (uint8_t *buffer, size_t valid_bytes, cupti_record **record)) \
	required(cuptiActivityGetNumDroppedRecords, \
	         (cu_context context, uint32_t stream, size_t *dropped)) \
	required(cuptiActivityPushExternalCorrelationId, (cupti_external_kind kind, uint64_t id)) \
	required(cuptiActivityPopExternalCorrelationId, \
	         (cupti_external_kind kind, uint64_t *last))
// clang-format on

struct cupti_functions {
#define X(name, parameters) cupti_result(*name) parameters;
	CUPTI_FUNCTIONS(X, X)
#undef X
};
