// SPDX-License-Identifier: Apache-2.0
// The last complete result of `bandwidth` of each device and driver, kept for tare report: what
// share of the attainable rate a program's transfers reached.
#pragma once
#include "base/error.h"
#include "model/statistics/rate_curve.h"

#include <stdbool.h>

struct tare_result;

// The best rates of copies between host and device, of all sizes, in bytes per second; NaN where
// not measured. By the device's clock where it has one, as a trace has them, else by the host's.
struct tare_bandwidth_peaks {
	bool present; // at least one is known
	double to_device_pinned, to_device_pageable;
	double from_device_pinned, from_device_pageable;
	// The same by size, each from one clock: that of the best.
	struct tare_rate_curve to_device_pinned_sizes, to_device_pageable_sizes;
	struct tare_rate_curve from_device_pinned_sizes, from_device_pageable_sizes;
	char measured[16]; // date, "2026-02-01"; "" not known
	char origin[256];  // "measured 2026-02-01 (tare bandwidth, OpenCL)", or why there are none
};

// Those of a result of `bandwidth` (or of a `checkup` with that part).
void tare_bandwidth_peaks_of(const struct tare_result *result, struct tare_bandwidth_peaks *peaks);

// Those that are kept for a device of that name and driver, whatever API measured them.
// driver_version: as the driver tells it (CL_DRIVER_VERSION), without the platform's name. Nothing
// kept, or not readable, is no error: then present is false and origin says why.
void tare_bandwidth_load(const char *device_name, const char *driver_version,
                         struct tare_bandwidth_peaks *peaks);

// Keeps a result of `bandwidth`, replacing an older one as a whole, where it is complete: not
// interrupted, with both directions of pinned and pageable memory, up to at least 64 MB; not the
// simulated device's. Failing is no error for the command: 0, also when it is not kept, or a
// negative errno with the reason for a warning.
int tare_bandwidth_keep(const struct tare_result *result, struct tare_error *error);
