// SPDX-License-Identifier: Apache-2.0
// What tests may ask of fake_cupti.c beside CUPTI's own functions (by dlsym).
#pragma once
#include "backend/cuda/cupti_abi.h"

#define FAKE_CUPTI_EXPORT __attribute__((visibility("default")))

#include <stdbool.h>

// Of the range profiler: what a metric is of a launch of a kernel.
FAKE_CUPTI_EXPORT double fake_cupti_value(const char *metric, const char *kernel);
// Of the sampling of a device: it is busy in every other period of its timer.
#define FAKE_SAMPLING_PERIOD_NS INT64_C(40000000)
// Of an image of samples: what the metric is of one; false: it is no such image.
bool fake_cupti_sampled(const void *data, size_t index, const char *metric, double *value);
// Among the fake's own files: a kernel was launched; any stream captures; this thread is in a call
// of the driver's with this word in its name.
void fake_cupti_launched(const char *kernel, bool graph);
// The context's work is done.
void fake_cupti_awaited(void);
bool fake_cupti_captures(void);
bool fake_cupti_within(const char *word);

// Of PC sampling: the module that is loaded next; NULL: the script has none.
struct cupti_module_resource;
const struct cupti_module_resource *fake_cupti_next_module(void);

// The error that TARE_FAKE_SAMPLES has for a function.
cupti_result fake_cupti_scripted(const char *function);
// Of SASS metrics: a kernel was launched; a module was unloaded.
void fake_cupti_sass_launched(const char *kernel);
void fake_cupti_sass_unloaded(void);

// Kinds that are enabled, plus one for a subscriber.
FAKE_CUPTI_EXPORT int fake_cupti_active(void);
// Buffers that were asked for and not given back.
FAKE_CUPTI_EXPORT int fake_cupti_buffers(void);
// External correlation ids that were pushed and not popped.
FAKE_CUPTI_EXPORT int fake_cupti_pushed(void);
