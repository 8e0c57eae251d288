// SPDX-License-Identifier: Apache-2.0
// A series inside. Internal to src/time.
#pragma once
#include "tare/time_series.h"

#include "model/statistics/statistics.h"

#include <stdbool.h>

struct tare_time_series {
	char name[64];
	struct tare_time_series_options options;
	struct tare_series device, host; // nanoseconds
	enum tare_time_known known;
	char sentence[320];   // why a result was not available
	int64_t first_ns;     // the host's clock at the first result
	double floor_ns;      // NaN: not known
	bool counted;         // by `rate`
	char device_name[64]; // of the first result
	enum tare_time_between between;
	bool events; // a result of an event is among them: no time to enqueue
	struct tare_clock_rate rate;
};

// Adds a result that the host's clock saw at now_ns; as tare_time_series_add.
int tare_time_series_add_at(struct tare_time_series *series, const struct tare_time_result *result,
                            int64_t now_ns, struct tare_time_error *error);
