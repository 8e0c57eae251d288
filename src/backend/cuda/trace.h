// SPDX-License-Identifier: Apache-2.0
// Engine times by CUPTI's activity records, between engine_stamps_begin and _end of one device.
// Each operation whose event the caller wants gets a ticket: an external correlation id around the
// driver's calls. Records tell the driver's call (correlation) that an engine worked for, and
// other records the ticket of that call. Nothing of CUPTI is active otherwise.
#pragma once
#include "backend/cuda/cupti_abi.h"
#include "backend/cuda/internal.h"

// What the engines did for one operation, in nanoseconds of CLOCK_MONOTONIC_RAW: from the first
// start to the last end of its records. 0: unknown.
struct cuda_engine_times {
	uint64_t queued, submitted, start, end;
	uint32_t records;
	bool timeless; // a record had no times
};

struct cuda_traced {
	uint64_t ticket;
	struct cuda_engine_times times;
	struct cuda_graph *graph; // whose nodes get their times as well; NULL: none
};

struct cuda_trace {
	struct cuda_device *device;
	uint32_t users; // the device while it traces, and each event with a ticket
	bool done;
	size_t dropped;         // records that CUPTI had no room for
	struct cuda_traced *at; // by ticket, rising
	uint32_t count;
	size_t room;
	struct cuda_event *live; // events with a ticket
};

// The epoch of all engine stamps: they are on one clock, the host's.
#define CUDA_ENGINE_EPOCH UINT32_MAX

// ---- cupti.c

// Opens CUPTI, for good, and tells the library's name.
int cuda_tracer_open(int driver_version, const char **name, struct tare_error *error);
int cuda_engine_stamps_begin(struct tare_device *device, struct tare_error *error);
int cuda_engine_stamps_end(struct tare_device *device, struct tare_error *error);
// Ends a trace that still goes on, without waiting; before the device is closed.
void cuda_trace_close(struct cuda_device *device);
// Gives the event a ticket if the device traces, for the driver's calls of this thread until
// cuda_trace_pop. 0 or -ENOMEM.
int cuda_trace_push(struct cuda_device *device, struct cuda_event *event, struct cuda_graph *graph,
                    struct tare_error *error);
void cuda_trace_pop(struct cuda_event *event);
// The event, or the graph, is about to be freed.
void cuda_trace_forget(struct cuda_event *event);
void cuda_trace_forget_graph(struct cuda_trace *trace, const struct cuda_graph *graph);
// The stamps of `times`, which belong to the trace: -EAGAIN before it has ended, -ENODATA without.
int cuda_trace_tell(const struct cuda_trace *trace, const struct cuda_engine_times *times,
                    struct tare_stamps *stamps, struct tare_error *error);
// The graph that this thread's calls record or make ready; its nodes get to know their ids.
void cuda_trace_record_graph(struct cuda_graph *graph);

// ---- cupti/records.c

// Forgets all records; from now on buffers are read by these functions.
void cuda_records_begin(const struct cupti_functions *call, uint32_t version);
void cuda_records_completed(cu_context context, uint32_t stream, uint8_t *buffer, size_t bytes,
                            size_t valid_bytes);
// Hands every record to the operation that it belongs to, and frees them.
void cuda_records_resolve(struct cuda_trace *trace);
