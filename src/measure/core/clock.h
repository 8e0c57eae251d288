// SPDX-License-Identifier: Apache-2.0
// The device's clock on the host's: pairs gathered all through a command, and the fit over them.
#pragma once
#include "measure/core/run.h"
#include "model/statistics/clock_fit.h"

#define TARE_CLOCK_PAIRS_MAX 1024

struct tare_clock_track {
	struct tare_device *device;
	struct tare_clock_pair *pairs; // owned, TARE_CLOCK_PAIRS_MAX of them
	size_t count;                  // when it fills up, every other one goes
	struct tare_clock_rate rate;   // of what both the stamps and the pairs show
	struct tare_clock_fit fit;
	bool fitted;
	struct tare_host_time last; // when the newest pair was taken
	char absent[320];           // why there is no fit
	char apart[200];            // why stamps of events are not on the fit all the same; or ""
};

// Takes pairs for about `span_ns` of host time and fits them. `stamps` is the rate of the counter
// that stamps events. Never fails for lack of pairs (track->absent says why there is no fit).
// Returns 0, -ENOMEM, or -ENODEV when the device is lost.
int tare_clock_track_begin(struct tare_run *run, const struct tare_clock_rate *stamps,
                           int64_t span_ns, struct tare_clock_track *track,
                           struct tare_error *error);
// Takes another pair and fits again if the newest is older than 20 ms. To be called between
// samples, not inside a timed window.
void tare_clock_track_update(struct tare_clock_track *track);
// A last pair and fit, written into result->clock.
void tare_clock_track_end(struct tare_run *run, struct tare_clock_track *track);
void tare_clock_track_clear(struct tare_clock_track *track);

// Whether the stamps of a command that began and ended between two host times are there by the fit,
// too. Where they lie outside by far more than the fit can be wrong, the counter that stamps events
// and the one that can be read have different zeros, and track->apart says so.
void tare_clock_track_check(struct tare_clock_track *track, const struct tare_stamps *stamps,
                            struct tare_host_time before, struct tare_host_time after);
// Why stamps of events cannot be mapped onto the host's clock; NULL: they can.
const char *tare_clock_track_unmapped(const struct tare_clock_track *track);

// Stamps wrap: 0 if something that took the host `host_ns` in all can be told from two readings of
// a counter, -EOVERFLOW with the reason if that is more than half the counter's period.
int tare_clock_can_tell(const struct tare_clock_rate *rate, int64_t host_ns,
                        struct tare_error *error);
