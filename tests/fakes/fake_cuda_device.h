// SPDX-License-Identifier: Apache-2.0
// The device behind fake_cuda.c: its script, memory, streams and clock. Everything below is to be
// used with `mutex` held, which ENTER takes and leave gives back.
#pragma once
#include "fake_cuda.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define DECLARE(name, parameters) FAKE_EXPORT cu_result name parameters;
CUDA_FUNCTIONS(DECLARE, DECLARE)
#undef DECLARE

#define QUEUE_DEPTH 1000
#define MAX_STREAMS 64
#define MAX_RANGES 256
#define FOR_EVER INT64_MAX

enum kind { RECORD, WAIT_EVENT, WAIT_VALUE, WORK, COPY, FILL, HOST_FUNCTION, KERNEL };

struct cu_event_object {
	bool timed, recorded, captured;
	uint64_t asked, done;  // records asked for and done
	int64_t ns;
};

struct cu_function_object {
	char name[32];
};

struct cu_module_object {
	struct cu_function_object functions[4];
	int count;
	char *text;
};

struct cu_context_object {
	int users;
};

struct op {
	enum kind kind;
	bool begun, finished;
	int64_t cost_ns, asked_ns, end_ns;
	struct cu_event_object *event;
	uint64_t generation;
	const volatile uint32_t *word;
	uint32_t value;
	cu_host_function function;
	void *data;
	char *destination;
	const char *source;
	size_t bytes, unit;
	uint32_t store[4];
	cu_result fails;
};

struct cu_stream_object {
	bool used, destroyed, capturing;
	struct op queue[QUEUE_DEPTH];
	size_t head, count;
	int64_t ready_ns;
	struct op *captured;
	size_t captured_count;
};

struct cu_graph_object {
	struct op *ops;
	size_t count;
};

struct range {
	char *at;
	size_t bytes;
	enum { DEVICE, MANAGED, PINNED, REGISTERED } kind;
};

struct script {
	int init, devices, major, minor, fail_launch, hang_launch, step;
	bool no_wait_value, no_managed;
	char name[64];
	size_t memory;
};

struct gpu {
	struct script script;
	struct cu_stream_object streams[MAX_STREAMS];  // [0] is the legacy one
	struct cu_context_object contexts[8];
	struct range ranges[MAX_RANGES];
	size_t allocated;
	int64_t skipped_ns;
	int objects, launches, records, functions_pending;
	bool initialised;
	cu_result lost;  // by a failed kernel, and for good
};

extern struct gpu gpu;
extern pthread_mutex_t mutex;
extern _Thread_local cu_context current;

// Lets the device get on: everything that is over by now is finished.
void pump(void);
// Appends to a stream; blocks while that is full, as CUDA does.
cu_result append(cu_stream handle, struct op op);
// Waits until the stream is empty.
cu_result drain(cu_stream handle);
struct cu_stream_object *stream_of(cu_stream handle);
// Operations that are queued in any stream.
int work_pending(void);
// Sleeps for some µs without the mutex.
void pause_shortly(void);
// Wakes (and at first starts) the thread that runs host functions.
void wake_worker(void);
void start_device(void);
// The memory that contains the address; NULL: CUDA does not know it.
struct range *range_of(const void *at);
struct range *keep_range(void *at, size_t bytes, int kind);
cu_result leave(cu_result result);

// A device address as the memory that it is here.
#define AT(pointer) ((void *)(uintptr_t)(pointer))

// Every function begins with this: what CUDA checks first.
#define ENTER() \
	do { \
		pthread_mutex_lock(&mutex); \
		if (!gpu.initialised || gpu.lost) \
			return leave(gpu.lost ? gpu.lost : ABI_NOT_INITIALIZED); \
	} while (0)
#define ENTER_CONTEXT() \
	do { \
		ENTER(); \
		if (!current) \
			return leave(ABI_INVALID_CONTEXT); \
	} while (0)
