// SPDX-License-Identifier: Apache-2.0
// Hardware counters of a whole device over time, whatever runs there, sampled by the device itself.
#pragma once
#include "base/error.h"
#include "base/time.h"
#include "tare/trace_format.h"

struct tare_device;

enum { TARE_SAMPLED_MOST = 16 };

// What is sampled.
struct tare_sampled_set {
	uint32_t count;
	uint16_t counters[TARE_SAMPLED_MOST]; // enum tare_trace_counter
	uint64_t absent;                      // bits 1 << counter: the device has no such one
};
// A sample, in nanoseconds of the device's clock; values[i] is of set.counters[i].
struct tare_sample {
	uint64_t from_ns, to_ns;
	const double *values;
};
struct tare_sample_visitor {
	void *context;
	void (*sample)(void *context, const struct tare_sample *sample);
};

// One device at a time, in one thread. All return 0 or a negative errno; an error of the vendor's
// is in error->native and error->call.
struct tare_sampler {
	enum tare_trace_api api;
	// Called before the driver is opened, in a process that does nothing else: asks it to
	// count. NULL: it need not be asked.
	void (*prepare)(void);
	// Prepares a sample every so many nanoseconds.
	int (*open)(struct tare_device *device, uint64_t interval_ns, struct tare_sampled_set *set,
	            struct tare_error *error);
	// A bracketed reading of the clock that stamps samples.
	int (*clock)(struct tare_device *device, struct tare_clock_pair *pair,
	             struct tare_error *error);
	int (*start)(struct tare_device *device, struct tare_error *error);
	// Shows the samples that were completed since the last time. *lost: there was no room for
	// some.
	int (*read)(struct tare_device *device, const struct tare_sample_visitor *visitor,
	            bool *lost, struct tare_error *error);
	int (*stop)(struct tare_device *device, struct tare_error *error);
	// Gives everything back; after a failure of any of these, too.
	void (*close)(struct tare_device *device);
};
