// SPDX-License-Identifier: Apache-2.0
// What the device did while it was measured: clocks, power, temperature, what held it back.
// tare_run_measure watches by itself; commands ask here for the clock to divide by.
#pragma once
#include "measure/core/run.h"

struct tare_watch;

// The clock over the readings taken while samples were.
struct tare_clock_range {
	double low_hz, median_hz, high_hz;
	size_t readings;     // that the figures are of; at least 1
	double slowed_share; // of the readings: the device slowed itself down; NaN: not told
	uint64_t slowed_by;  // the reasons that were seen: bits (1 << enum tare_throttle)
};

// How many readings there are so far. Taken at the start of a measurement (its begin function), it
// makes tare_telemetry_clock_hz tell that measurement's clock.
size_t tare_telemetry_mark(const struct tare_run *run);

// The clock to divide a rate by: that of the readings after `since` (a mark; 0: the whole run) in
// which the device was not idle. A measurement has at least one by the time its end function is
// called. Returns 0; -ENODATA when the device tells no clock or was idle in all; -ENOMEM.
int tare_telemetry_clock_hz(const struct tare_run *run, size_t since,
                            struct tare_clock_range *range);

// ---- for sampling.c

// Starts watching in a thread of its own (on a real device whose telemetry can be read; the
// simulated one is read in its own time by tare_telemetry_rest alone). *watch is the caller's,
// and may become NULL: nothing to watch. What cannot be watched is in the document with the reason.
// Returns 0 or -ENOMEM.
int tare_telemetry_start(struct tare_run *run, struct tare_watch **watch);
// Samples are being taken from here on, until tare_telemetry_rest; it takes a reading if there was
// none in between.
void tare_telemetry_work(struct tare_watch *watch);
void tare_telemetry_rest(struct tare_watch *watch);
// Ends the thread, sums up into the document, and adds or renews its warnings. Accepts NULL.
void tare_telemetry_stop(struct tare_run *run, struct tare_watch *watch);

// Puts the readings of a document's parts together into its own summary (checkup).
void tare_telemetry_join(struct tare_result *result);
