// SPDX-License-Identifier: Apache-2.0
// Puts the stamps of one device in one process on the host's clock (docs/method.md, "Times of a
// recorded program"). Evidence is gathered while the trace is read, in constant memory; then the
// clock is settled, and maps.
#pragma once
#include "analysis/recording/recording.h"
#include "base/error.h"

#define TARE_CLOCK_BINS 256

// A device reading that was taken at some host time from before_ns to after_ns.
struct tare_reading {
	int64_t before_ns, after_ns;
	uint64_t ticks;
};

// The narrowest reading of each stretch of time. Stretches double when the run outgrows them.
struct tare_reading_bins {
	struct tare_reading narrowest[TARE_CLOCK_BINS];
	bool filled[TARE_CLOCK_BINS];
	int64_t from_ns, bin_ns;
	uint64_t readings;
};

// What one command tells: stamps in device ticks (nanoseconds of the device's clock), 0 where there
// is none, and when the host was where.
struct tare_command_stamps {
	int64_t enter_ns, exit_ns; // of the call that enqueued it
	int64_t observed_ns;       // it was complete by then
	uint64_t queued, submitted, start, end;
};

struct tare_device_clock {
	struct tare_reading_bins pairs, commands;
	// Were the device's clock the host's: commands that would be possible, and that would not;
	// and what the possible ones leave of the offset.
	uint64_t same, not_same;
	uint64_t pairs_not_same; // readings of its timer that would not be possible
	int64_t offset_low_ns, offset_high_ns;
	int64_t host_residual_ns;
	uint64_t resolution_ns;
	// Settled:
	enum tare_clock_source source;
	int64_t residual_ns; // host ticks included; TARE_NO_TIME: no mapping
	double drift_ppm;
	uint64_t rests_on; // readings
	int64_t origin_ns;
	uint64_t origin_ticks;
};

// A new clock with no evidence, or NULL when there is no memory. Free with free().
//   host_residual_ns  what host times may be off by
//   resolution_ns     smallest step of the stamps, 0: not told
struct tare_device_clock *tare_device_clock_new(int64_t host_residual_ns, uint64_t resolution_ns);

// A reading of both clocks. One whose `after` is before its `before` says nothing.
void tare_device_clock_pair(struct tare_device_clock *clock, const struct tare_reading *reading);

// A command that ran. Returns false, and takes no notice, when its stamps cannot be: no start or
// end, an end before the start, or a longer time on the device than the host saw.
bool tare_device_clock_command(struct tare_device_clock *clock,
                               const struct tare_command_stamps *stamps);

// Chooses the source and fits. Without evidence that agrees, or where the mapping could be off by
// more than a second, source is TARE_CLOCK_NONE. Returns 0 or -ENOMEM.
int tare_device_clock_settle(struct tare_device_clock *clock, struct tare_error *error);

// No mapping after all: the stamps turned out to contradict it.
void tare_device_clock_refuse(struct tare_device_clock *clock);

// A device reading on the host's clock; TARE_NO_TIME when it is farther from the evidence than any
// run lasts. The clock must be settled, with a source.
int64_t tare_device_clock_map(const struct tare_device_clock *clock, uint64_t ticks);
