// SPDX-License-Identifier: Apache-2.0
// The raw stamps of one launch, as the driver gave them, for who wants to see what the times come
// from.
#pragma once
#include "backend/backend.h"
#include "result/result.h"

struct tare_raw_stamps {
	char kernel[96]; // whose they are; "": none were kept
	struct tare_stamps stamps;
	int64_t host_ns; // what the host saw it take, and something around it
};

// Keeps the stamps of a finished launch, which took the host `host_ns` with what was around it, in
// the place of those before, where there are both those of the free-running counter and those that
// count while the kernel was active (Level Zero).
void tare_raw_stamps_keep(struct tare_raw_stamps *raw, struct tare_event *event, int64_t host_ns,
                          const char *kernel_format, ...) __attribute__((format(printf, 4, 5)));

// Writes what was kept into the document: ticks, width and rate of the counters, and both durations
// (masked differences), or why there are none.
void tare_raw_stamps_write(const struct tare_raw_stamps *raw, const struct tare_clock_rate *rate,
                           struct tare_result *result);
