// SPDX-License-Identifier: Apache-2.0
// What traces of one subject begin with: a header with the usual, and the first objects.
#pragma once
#include "make_traces.h"

static const uint64_t t0 = UINT64_C(1000000000000);

static inline struct tare_trace_header usual(void)
{
	return (struct tare_trace_header){ .start_raw_ns = (int64_t)t0,
		                           .start_ticks = t0,
		                           .api = TARE_TRACE_OPENCL };
}

static inline void object(struct tare_trace_writer *w, uint16_t kind, struct tare_trace_object o)
{
	o.head = tare_trace_head(TARE_TRACE_OBJECT, 0, kind, 1);
	o.ticks = t0;
	add(w, (union tare_trace_record){ .object = o });
}

static inline void base_objects(struct tare_trace_writer *w)
{
	uint32_t name = tare_trace_writer_text(w, "n");

	object(w, TARE_OBJECT_PLATFORM,
	       (struct tare_trace_object){ .handle = PLATFORM, .name = name });
	object(w, TARE_OBJECT_DEVICE,
	       (struct tare_trace_object){ .handle = DEVICE, .parent = PLATFORM, .bytes = 9 });
	object(w, TARE_OBJECT_CONTEXT,
	       (struct tare_trace_object){ .handle = CONTEXT, .device = DEVICE });
	object(w, TARE_OBJECT_QUEUE,
	       (struct tare_trace_object){ .handle = QUEUE,
	                                   .parent = CONTEXT,
	                                   .device = DEVICE,
	                                   .properties = 3,
	                                   .number = 1 });
	object(w, TARE_OBJECT_PROGRAM,
	       (struct tare_trace_object){ .handle = PROGRAM, .parent = CONTEXT });
	object(w, TARE_OBJECT_KERNEL,
	       (struct tare_trace_object){ .handle = KERNEL, .parent = PROGRAM, .name = name });
	object(w, TARE_OBJECT_MEMORY,
	       (struct tare_trace_object){ .handle = BUFFER,
	                                   .parent = CONTEXT,
	                                   .bytes = 64,
	                                   .number = TARE_TRACE_MEMORY_BUFFER });
}
