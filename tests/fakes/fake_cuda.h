// SPDX-License-Identifier: Apache-2.0
// What tests may ask of fake_cuda.c beside CUDA's own functions (by dlsym).
#pragma once
#include "backend/cuda/cupti_abi.h"

#include <stdint.h>

#define FAKE_EXPORT __attribute__((visibility("default")))

// How far the device's global timer is ahead of CLOCK_MONOTONIC_RAW.
#define FAKE_CUDA_TIMER_NS INT64_C(1000000000000000)

// When the event was recorded, in exact nanoseconds of the fake's device clock.
FAKE_EXPORT int64_t fake_cuda_event_ns(cu_event event);
// Lets the device's clock jump ahead of the host's.
FAKE_EXPORT void fake_cuda_skip_ns(int64_t ns);
// Objects that exist: events, streams, allocations of any kind, modules, graphs, contexts.
FAKE_EXPORT int fake_cuda_objects(void);
// Calls of cuEventRecord so far.
FAKE_EXPORT int fake_cuda_records(void);
// Operations that wait in any stream, begun or not.
FAKE_EXPORT int fake_cuda_pending(void);

// ---- for the stand-ins of libraries that build upon CUDA. They find these by dlsym in the library
// that TARE_CUDA_LIBRARY names (dlopen with RTLD_NOLOAD).

// Appends a kernel of another library to a stream of the current context: `effect` is called with
// `data` when it ends (NULL: none), and it keeps its compute engine for `cost_ns`.
FAKE_EXPORT cu_result fake_cuda_launch(cu_stream stream, const char *name, int64_t cost_ns,
                                       void (*effect)(void *data), void *data);

// Nanoseconds that the engines of a device have worked; *idle_ns is for how long it has had nothing
// to do, INT64_MAX: ever since it was started.
FAKE_EXPORT int64_t fake_cuda_busy_ns(uint32_t device, int64_t *idle_ns);

enum fake_cuda_activity_kind {
	FAKE_CUDA_COPY,
	FAKE_CUDA_FILL,
	FAKE_CUDA_KERNEL,
	FAKE_CUDA_MIGRATION
};
// Between two devices through the memory of the host; CUPTI has no number for it.
enum { FAKE_CUDA_STAGED = 11 };
// What an engine did. Times are on the fake's device clock, which is CLOCK_MONOTONIC_RAW plus what
// was skipped.
struct fake_cuda_activity {
	enum fake_cuda_activity_kind kind;
	uint32_t correlation; // of the call that asked for it; see fake_cuda_last_correlation
	uint32_t device;
	cu_stream stream;
	int64_t start_ns, end_ns;
	uint64_t bytes; // copied or filled
	// as CUPTI numbers it: 1 to the device, 2 to the host, 8 on the device; or what follows
	int copy_kind;
	uint32_t ends[2]; // devices, of a copy between two (10, staged): from, to
	char name[64];    // of a kernel; what follows too
	uint32_t grid[3], block[3];
	uint32_t shared_bytes; // asked for at the launch
	uint64_t graph_node;   // of a graph that is ready to be launched; 0: none
};
// Calls `see` for every operation that ends from now on, with no lock held; NULL: no more.
FAKE_EXPORT void fake_cuda_observe(void (*see)(const struct fake_cuda_activity *activity));
// Calls `see`, with a lock held, for every node that a capture makes (original 0) and for every
// copy of a node in a graph made ready; NULL: no more.
FAKE_EXPORT void fake_cuda_observe_nodes(void (*see)(uint64_t node, uint64_t original));
// The number of the last call of this thread that gave a device work; each has another one.
FAKE_EXPORT uint32_t fake_cuda_last_correlation(void);

// Calls `tell` before and after every call that CUPTI would be told of, with no lock held; `name`
// is the function's. NULL: no more.
FAKE_EXPORT void fake_cuda_observe_calls(void (*tell)(const char *name, struct cupti_call *call));
// The same for what stands for the runtime: `runtime` calls it before (ABI_CUPTI_SITE_ENTER) and
// after its calls.
FAKE_EXPORT void fake_cuda_observe_runtime(void (*tell)(const char *name, struct cupti_call *call));
FAKE_EXPORT void fake_cuda_runtime(const char *name, int site, int result);
// Whether what a call of the runtime's asks for has that call's number in place of the driver's.
FAKE_EXPORT void fake_cuda_number_by_runtime(int does);
// Calls `tell`, with no lock held, when a launch has loaded a kernel, or its module, for so long
// (of CLOCK_MONOTONIC_RAW). NULL: no more.
FAKE_EXPORT void fake_cuda_observe_loading(void (*tell)(int module, int64_t start_ns,
                                                        int64_t end_ns));
// Names of these functions, from 1 on; NULL: there are no more.
FAKE_EXPORT const char *fake_cuda_call_name(uint32_t id);
// The number of a context's device.
FAKE_EXPORT uint32_t fake_cuda_context_device(cu_context context);
