// SPDX-License-Identifier: Apache-2.0
// The raw stamps of one launch, as the driver gave them, for who wants to see what the times come from.
#pragma once
#include "backend/backend.h"
#include "result/result.h"

struct tare_raw_stamps {
	char kernel[96];           // whose they are; "": none were kept
	struct tare_stamps stamps;
};

// Keeps the stamps of a finished launch in the place of those before, where there are both those of
// the free-running counter and those that count while the kernel was active (Level Zero).
void tare_raw_stamps_keep(struct tare_raw_stamps *raw, struct tare_event *event,
                          const char *kernel_format, ...) __attribute__((format(printf, 3, 4)));

// Writes what was kept into the document: ticks, width and rate of the counters, and both durations
// (masked differences). Returns 0 or -ENOMEM.
int tare_raw_stamps_write(const struct tare_raw_stamps *raw, const struct tare_clock_rate *rate,
                          struct tare_result *result);
