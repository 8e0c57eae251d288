// SPDX-License-Identifier: Apache-2.0
#include "measure/clock.h"

#include "backend/call.h"

#include <errno.h>
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
	if (status == -ENODEV || status == -ETIMEDOUT) {
		if (error)
			*error = why;
		return status;
	}
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

int tare_clock_track_end(struct tare_run *run, struct tare_clock_track *track)
{
	struct tare_clock_quality *clock = &run->result->clock;
	char note[400];

	// What was given up hangs, and would hold the reading to its limit.
	if (track->fitted && !track->device->lost && take_pair(track, NULL) == 0)
		fit(track);
	clock->fitted = track->fitted;
	clock->fit = track->fit;
	if (track->fitted)
		return 0;
	snprintf(note, sizeof note, "device times are not on the host's clock: %s", track->absent);
	return tare_set_string(&clock->note, note);
}

void tare_clock_track_clear(struct tare_clock_track *track)
{
	free(track->pairs);
	*track = (struct tare_clock_track){ 0 };
}
