// SPDX-License-Identifier: Apache-2.0
// What the files of fake_cupti.c share: its state, records, and what is told of calls.
#pragma once
#include "backend/cuda/cupti_pc_sampling_abi.h"
#include "fake_cupti.h"

#include "fake_cuda.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#define FAKE_CUPTI_KINDS 64
#define FAKE_CUPTI_CALLS 128
#define FAKE_CUPTI_HELD 4096

// A call's record.
struct fake_cupti_api {
	cupti_kind kind;
	uint32_t callback;
	uint64_t start, end;
	uint32_t process, thread, correlation, result;
};

// A record with all that is filled in here.
union fake_cupti_held {
	cupti_kind kind;
	struct cupti_kernel kernel;
	struct cupti_memcpy copy;
	struct cupti_memcpy_peer peer;
	struct cupti_memset fill;
	struct cupti_external external;
	struct cupti_pages pages;
	struct cupti_overhead overhead;
	struct cupti_nvlink nvlink;
	struct fake_cupti_api api;
};

struct fake_cupti_state {
	pthread_mutex_t lock;
	struct {
		int version, fail_enable, drop, timeless, fill, nvlink;
		bool late, early, hold, strange, uncorrelated, outer, unshared, slow;
		char holder[64];
	} script;
	pid_t process;
	_Atomic bool forced; // a flush was
	bool subscribed, latency;
	bool enabled[FAKE_CUPTI_KINDS];
	cupti_buffer_requested requested;
	cupti_buffer_completed completed;
	cupti_timestamp clock;
	cupti_callback callback;
	void *context;
	bool calls[FAKE_CUPTI_CALLS];   // of the driver, that are told to it
	bool runtime[FAKE_CUPTI_CALLS]; // and of the runtime
	bool calls_told;
	bool created, cloned, loaded, contexts, context_ends; // are told to the callback
	uint32_t counters;                                    // of managed memory, a bit each
	uint8_t *buffer;
	size_t bytes, used;
	int buffers, pushed;
	size_t dropped;
	union fake_cupti_held held[FAKE_CUPTI_HELD]; // until the flush, if they come late
	int held_count;
};
extern struct fake_cupti_state fake_cupti;

// Functions of fake_cuda.c.
struct fake_cupti_driver {
	void (*observe)(void (*see)(const struct fake_cuda_activity *activity));
	void (*observe_nodes)(void (*see)(uint64_t node, uint64_t original));
	uint32_t (*last_correlation)(void);
	void (*observe_loading)(void (*tell)(int module, int64_t start_ns, int64_t end_ns));
	void (*observe_calls)(void (*tell)(const char *name, struct cupti_call *call));
	void (*observe_runtime)(void (*tell)(const char *name, struct cupti_call *call));
	void (*number_by_runtime)(int does);
	const char *(*call_name)(uint32_t id);
	uint32_t (*context_device)(cu_context context);
};
extern struct fake_cupti_driver fake_cupti_driver;

// fake_cupti_records.c. How long a record of the kind is in this version; 0: there is none.
size_t fake_cupti_record_bytes(cupti_kind kind);
// Gives the buffer back. Called with the lock, which it gives away meanwhile.
void fake_cupti_complete(void);
// Writes a record, or with the word `late` keeps it until the flush. Called with the lock.
void fake_cupti_emit(const void *record);
void fake_cupti_write_record(const void *record);
// A time of the device's, which is CLOCK_MONOTONIC_RAW here, on the registered clock.
uint64_t fake_cupti_normal(int64_t ns);
uint32_t fake_cupti_stream_id(cu_stream stream);
void fake_cupti_see(const struct fake_cuda_activity *what);

// fake_cupti_calls.c. Some of the runtime's functions, as CUPTI names them, and what is told of
// nodes, modules and calls.
#define FAKE_CUPTI_RUNTIME_CALLS 9
extern const char *const fake_cupti_runtime_names[FAKE_CUPTI_RUNTIME_CALLS];
void fake_cupti_see_node(uint64_t node, uint64_t original);
void fake_cupti_see_loading(int module, int64_t start_ns, int64_t end_ns);
void fake_cupti_see_call(const char *name, struct cupti_call *call);
void fake_cupti_see_runtime(const char *name, struct cupti_call *call);
