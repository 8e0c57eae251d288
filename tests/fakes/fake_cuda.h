// SPDX-License-Identifier: Apache-2.0
// What tests may ask of fake_cuda.c beside CUDA's own functions (by dlsym).
#pragma once
#include "backend/cuda/abi.h"

#define FAKE_EXPORT __attribute__((visibility("default")))

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
