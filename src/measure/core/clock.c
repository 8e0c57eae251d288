// SPDX-License-Identifier: Apache-2.0
#include "measure/core/clock.h"

#include "backend/call.h"
#include "base/units.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UPDATE_NS INT64_C(20000000)
#define FIRST_PAIRS 32

// One pair more; when the array is full, every other one goes and half as many are taken.
static int take_pair(struct tare_clock_track *track, struct tare_error *error)
{
	struct tare_clock_pair pair;
	int status = tare_clock_pair(track->device, &pair, error);

	if (status < 0)
		return status;
	track->last = pair.after;
	if (track->count == TARE_CLOCK_PAIRS_MAX) {
		for (size_t i = 0; i < TARE_CLOCK_PAIRS_MAX / 2; i++)
			track->pairs[i] = track->pairs[2 * i];
		track->count /= 2;
	}
	track->pairs[track->count++] = pair;
	return 0;
}

static void fit(struct tare_clock_track *track)
{
	struct tare_error error = { 0 };

	track->fitted =
	    tare_clock_fit(&track->rate, track->pairs, track->count, &track->fit, &error) == 0;
	if (!track->fitted)
		snprintf(track->absent, sizeof track->absent, "%.300s", error.message);
}

// Stamps and pairs must come from one counter, whichever of its bits each shows.
static int common_rate(struct tare_clock_track *track, const struct tare_clock_rate *stamps,
                       struct tare_error *error)
{
	struct tare_clock_rate pairs;
	int status = tare_clock_rate(track->device, TARE_CLOCK_PAIRS, &pairs, error);

	if (status < 0)
		return status;
	if ((unsigned __int128)pairs.hz_numerator * stamps->hz_denominator !=
	    (unsigned __int128)stamps->hz_numerator * pairs.hz_denominator)
		return tare_fail(error, ENOTSUP,
		                 "the counter that stamps events ticks at another rate than "
		                 "the one that can be read");
	track->rate = *stamps;
	if (pairs.valid_bits < track->rate.valid_bits)
		track->rate.valid_bits = pairs.valid_bits;
	return 0;
}

int tare_clock_track_begin(struct tare_run *run, const struct tare_clock_rate *stamps,
                           int64_t span_ns, struct tare_clock_track *track,
                           struct tare_error *error)
{
	struct tare_error why = { 0 };
	int status;

	*track = (struct tare_clock_track){ .device = run->device };
	status = common_rate(track, stamps, &why);
	if (status == 0) {
		track->pairs = malloc(TARE_CLOCK_PAIRS_MAX * sizeof *track->pairs);
		if (!track->pairs)
			return tare_fail(error, ENOMEM, "out of memory");
	}
	for (size_t i = 0; status == 0 && i < FIRST_PAIRS; i++) {
		status = take_pair(track, &why);
		if (status == 0 && i + 1 < FIRST_PAIRS)
			tare_device_pause(run->device, span_ns / FIRST_PAIRS);
	}
	if (tare_device_is_gone(status))
		return tare_error_pass(error, &why, status);
	if (status < 0)
		snprintf(track->absent, sizeof track->absent, "%.300s", why.message);
	else
		fit(track);
	return 0;
}

void tare_clock_track_update(struct tare_clock_track *track)
{
	if (!track->fitted ||
	    tare_host_elapsed_ns(track->last, tare_device_now(track->device)) < UPDATE_NS)
		return;
	if (take_pair(track, NULL) == 0)
		fit(track);
}

void tare_clock_track_end(struct tare_run *run, struct tare_clock_track *track)
{
	struct tare_clock_quality *clock = &run->result->clock;
	char note[400];

	// What was given up hangs, and would hold the reading to its limit.
	if (track->fitted && !track->device->lost && take_pair(track, NULL) == 0)
		fit(track);
	clock->fitted = track->fitted;
	clock->fit = track->fit;
	if (track->fitted)
		return;
	snprintf(note, sizeof note, "device times are not on the host's clock: %s", track->absent);
	tare_result_set_text(run->result, &clock->note, note);
}

void tare_clock_track_check(struct tare_clock_track *track, const struct tare_stamps *stamps,
                            struct tare_host_time before, struct tare_host_time after)
{
	const struct tare_clock_fit *fit = &track->fit;
	int64_t error_ns = 1000 + 10 * fit->residual_ns, early_ns, late_ns;
	char text[TARE_UNIT_TEXT];

	track->apart[0] = '\0';
	if (!track->fitted || !tare_stamps_have(stamps, TARE_STAMP_START) ||
	    !tare_stamps_have(stamps, TARE_STAMP_END) ||
	    tare_clock_can_tell(&fit->rate, tare_host_elapsed_ns(before, after), NULL) < 0)
		return;
	early_ns =
	    tare_host_elapsed_ns(tare_clock_map(fit, stamps->at[TARE_STAMP_START], before), before);
	late_ns =
	    tare_host_elapsed_ns(after, tare_clock_map(fit, stamps->at[TARE_STAMP_END], after));
	if (early_ns > error_ns || late_ns > error_ns)
		snprintf(
		    track->apart, sizeof track->apart,
		    "the counter that stamps events and the one that can be read have different "
		    "zeros: a stamp lies %s from where its command ran",
		    tare_format_ns((double)(early_ns > late_ns ? early_ns : late_ns), text));
}

const char *tare_clock_track_unmapped(const struct tare_clock_track *track)
{
	if (!track->fitted)
		return track->absent;
	return track->apart[0] ? track->apart : NULL;
}

void tare_clock_track_clear(struct tare_clock_track *track)
{
	free(track->pairs);
	*track = (struct tare_clock_track){ 0 };
}

// The device's clock may be this much faster than the host's.
static const double fastest = 1.001;

int tare_clock_can_tell(const struct tare_clock_rate *rate, int64_t host_ns,
                        struct tare_error *error)
{
	double half_ns;
	char text[TARE_UNIT_TEXT];

	if (rate->valid_bits >= 64)
		return 0;
	half_ns = ldexp(tare_tick_ns(rate), (int)rate->valid_bits - 1);
	if (!((double)host_ns * fastest > half_ns))
		return 0;
	return tare_fail(error, EOVERFLOW,
	                 "lasts longer than the device clock can tell (half its period, %s)",
	                 tare_format_ns(half_ns, text));
}
