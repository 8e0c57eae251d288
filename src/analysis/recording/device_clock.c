// SPDX-License-Identifier: Apache-2.0
#include "analysis/recording/device_clock.h"

#include "base/cleanup.h"
#include "model/statistics/clock_fit.h"
#include "model/statistics/order.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

// What the bins begin with; the length of a run is found by doubling.
static const int64_t first_bin_ns = 1000000;
// No oscillator is off by more, so durations are the same on both clocks within this.
static const double most_drift = 500e-6;
// An offset that is known this well and may be 0 is 0: clocks that count from different moments are
// hours apart.
static const int64_t same_ns = 100000;
static const uint64_t same_commands = 3;
// One in so many may contradict.
static const uint64_t odd_ones = 50;
// A time that may be off by more says nothing of a program.
static const int64_t most_residual_ns = 1000000000;
// 146 years from the origin: no stamp.
static const int64_t farthest_ns = INT64_MAX / 2;

struct tare_device_clock *tare_device_clock_new(int64_t host_residual_ns, uint64_t resolution_ns)
{
	struct tare_device_clock *clock = calloc(1, sizeof *clock);

	if (!clock)
		return NULL;
	clock->host_residual_ns = host_residual_ns > 0 ? host_residual_ns : 0;
	clock->resolution_ns = resolution_ns ? resolution_ns : 1;
	if (clock->resolution_ns > 1000000)
		clock->resolution_ns = 1000000;
	clock->offset_low_ns = INT64_MIN;
	clock->offset_high_ns = INT64_MAX;
	clock->residual_ns = TARE_NO_TIME;
	return clock;
}

static int64_t width_ns(const struct tare_reading *reading)
{
	return reading->after_ns - reading->before_ns;
}

static void keep_narrower(struct tare_reading_bins *bins, size_t bin,
                          const struct tare_reading *reading)
{
	if (bins->filled[bin] && width_ns(&bins->narrowest[bin]) <= width_ns(reading))
		return;
	bins->narrowest[bin] = *reading;
	bins->filled[bin] = true;
}

static void double_bins(struct tare_reading_bins *bins)
{
	for (size_t i = 0; i < TARE_CLOCK_BINS; i++) {
		if (!bins->filled[i])
			continue;
		if (i > 0) {
			bins->filled[i] = false;
			keep_narrower(bins, i / 2, &bins->narrowest[i]);
		}
	}
	bins->bin_ns *= 2;
}

static void add_reading(struct tare_reading_bins *bins, const struct tare_reading *reading)
{
	int64_t since;

	if (!bins->readings++) {
		bins->from_ns = reading->before_ns;
		bins->bin_ns = first_bin_ns;
	}
	since = reading->before_ns - bins->from_ns;
	if (since < 0)
		since = 0;
	while (since / bins->bin_ns >= TARE_CLOCK_BINS)
		double_bins(bins);
	keep_narrower(bins, (size_t)(since / bins->bin_ns), reading);
}

void tare_device_clock_pair(struct tare_device_clock *clock, const struct tare_reading *reading)
{
	int64_t slack = clock->host_residual_ns + (int64_t)clock->resolution_ns;

	if (reading->after_ns < reading->before_ns)
		return;
	add_reading(&clock->pairs, reading);
	clock->pairs_not_same += (int64_t)((uint64_t)reading->before_ns - reading->ticks) > slack ||
	                         (int64_t)((uint64_t)reading->after_ns - reading->ticks) < -slack;
}

// Whether the command is possible when the device counts the host's clock, and what it says of the
// offset then.
static void try_same(struct tare_device_clock *clock, const struct tare_command_stamps *stamps,
                     uint64_t first)
{
	int64_t slack = clock->host_residual_ns + (int64_t)clock->resolution_ns;
	int64_t low = (int64_t)((uint64_t)stamps->enter_ns - first);
	int64_t high = (int64_t)((uint64_t)stamps->observed_ns - stamps->end);

	if (stamps->queued) {
		int64_t bound = (int64_t)((uint64_t)stamps->exit_ns - stamps->queued);
		high = bound < high ? bound : high;
	}
	if (low > slack || high < -slack) {
		clock->not_same++;
		return;
	}
	clock->same++;
	if (low > clock->offset_low_ns)
		clock->offset_low_ns = low;
	if (high < clock->offset_high_ns)
		clock->offset_high_ns = high;
}

bool tare_device_clock_command(struct tare_device_clock *clock,
                               const struct tare_command_stamps *stamps)
{
	struct tare_reading reading = { stamps->enter_ns, stamps->observed_ns, stamps->start };
	int64_t length, bound;

	if (!stamps->start || !stamps->end || (int64_t)(stamps->end - stamps->start) < 0)
		return false;
	if (stamps->queued && (int64_t)(stamps->start - stamps->queued) >= 0)
		reading.ticks = stamps->queued;
	else if (stamps->submitted && (int64_t)(stamps->start - stamps->submitted) >= 0)
		reading.ticks = stamps->submitted;
	// From the reading to the end passed so much, on a clock that is no more than so fast.
	length = (int64_t)(stamps->end - reading.ticks);
	if (length < 0 || length > farthest_ns)
		return false;
	bound = stamps->observed_ns - length + (int64_t)(most_drift * (double)length);
	reading.after_ns = bound;
	if (reading.ticks == stamps->queued && stamps->exit_ns < bound)
		reading.after_ns = stamps->exit_ns;
	if (reading.after_ns < reading.before_ns) {
		int64_t slack = 2 * clock->host_residual_ns + (int64_t)clock->resolution_ns;
		if (reading.before_ns - reading.after_ns > slack)
			return false;
		reading.after_ns = reading.before_ns;
	}
	try_same(clock, stamps, reading.ticks);
	add_reading(&clock->commands, &reading);
	return true;
}

static size_t gather(const struct tare_reading_bins *bins, struct tare_reading *readings)
{
	size_t n = 0;

	for (size_t i = 0; i < TARE_CLOCK_BINS; i++)
		if (bins->filled[i])
			readings[n++] = bins->narrowest[i];
	return n;
}

// Middle of a reading against the first: ticks passed, and by how much the host is ahead.
struct point {
	double ticks, ahead, half_width;
};

static struct point point_of(const struct tare_reading *reading, const struct tare_reading *first)
{
	int64_t ticks = (int64_t)(reading->ticks - first->ticks);
	double before = (double)(reading->before_ns - first->before_ns) - (double)ticks;
	double after = (double)(reading->after_ns - first->before_ns) - (double)ticks;

	return (struct point){ (double)ticks, (before + after) / 2, (after - before) / 2 };
}

// Leaves out the readings that no line near the others passes through: the line is Theil's and
// Sen's, which a quarter of false readings does not move. Returns how many are left, or SIZE_MAX
// when there is no memory.
static size_t leave_out_false(struct tare_reading *readings, size_t n)
{
	TARE_FREE struct point *points = malloc(n * sizeof *points);
	TARE_FREE double *values = malloc(n * n / 2 * sizeof *values + sizeof *values);
	double slope, offset, half_width;
	size_t count = 0, left = 0;

	if (!points || !values)
		return SIZE_MAX;
	for (size_t i = 0; i < n; i++)
		points[i] = point_of(&readings[i], &readings[0]);
	for (size_t i = 0; i < n; i++)
		for (size_t k = i + 1; k < n; k++)
			if (points[k].ticks != points[i].ticks)
				values[count++] = (points[k].ahead - points[i].ahead) /
				                  (points[k].ticks - points[i].ticks);
	slope = count ? tare_median(values, count) : 0;
	for (size_t i = 0; i < n; i++)
		values[i] = points[i].ahead - slope * points[i].ticks;
	offset = tare_median(values, n);
	for (size_t i = 0; i < n; i++)
		values[i] = points[i].half_width;
	half_width = tare_median(values, n);
	for (size_t i = 0; i < n; i++) {
		double off = fabs(points[i].ahead - slope * points[i].ticks - offset);
		if (off <= points[i].half_width + 4 * half_width + 1000)
			readings[left++] = readings[i];
	}
	return left;
}

static int fit_readings(const struct tare_device_clock *clock, const struct tare_reading *readings,
                        size_t n, struct tare_clock_fit *fit)
{
	struct tare_clock_rate rate = { 1000000000, 1, 64, clock->resolution_ns };
	struct tare_clock_pair pairs[TARE_CLOCK_BINS];
	struct tare_error error;

	for (size_t i = 0; i < n; i++)
		pairs[i] = (struct tare_clock_pair){ { readings[i].before_ns },
			                             { readings[i].ticks },
			                             { readings[i].after_ns } };
	return tare_clock_fit(&rate, pairs, n, fit, &error);
}

static int64_t widest(const struct tare_reading *readings, size_t n)
{
	int64_t most = 0;

	for (size_t i = 0; i < n; i++)
		if (width_ns(&readings[i]) > most)
			most = width_ns(&readings[i]);
	return most;
}

// Fits what the bins hold, without the false ones if need be. 0, -EINVAL when nothing fits,
// -ENOMEM.
static int fit_bins(const struct tare_device_clock *clock, const struct tare_reading_bins *bins,
                    struct tare_clock_fit *fit)
{
	struct tare_reading readings[TARE_CLOCK_BINS];
	size_t n = gather(bins, readings);
	size_t left = n;
	int status = n ? fit_readings(clock, readings, n, fit) : -EINVAL;

	if (status == -ENOMEM || !n)
		return status;
	// No reading is false when a line passes through all of them.
	if (!status && fit->residual_ns <= widest(readings, n) + 2 * (int64_t)clock->resolution_ns)
		return 0;
	if (n > 3) {
		left = leave_out_false(readings, n);
		if (left == SIZE_MAX)
			return -ENOMEM;
	}
	if (left * 4 < n * 3)
		return -EINVAL;
	return left == n ? status : fit_readings(clock, readings, left, fit);
}

static void adopt(struct tare_device_clock *clock, enum tare_clock_source source,
                  const struct tare_clock_fit *fit, uint64_t rests_on)
{
	clock->source = source;
	clock->origin_ns = fit->origin_host.ns;
	clock->origin_ticks = fit->origin_ticks;
	clock->drift_ppm = fit->drift_ppm;
	clock->residual_ns = fit->residual_ns + clock->host_residual_ns;
	clock->rests_on = rests_on;
}

// Where commands are outside the pairs, the drift's error comes on top.
static void reach_commands(struct tare_device_clock *clock, const struct tare_clock_fit *fit)
{
	struct tare_reading pairs[TARE_CLOCK_BINS], commands[TARE_CLOCK_BINS];
	size_t n = gather(&clock->pairs, pairs);
	size_t commands_n = gather(&clock->commands, commands);
	double drift =
	    fit->drift_error_ppm < most_drift * 1e6 ? fit->drift_error_ppm / 1e6 : most_drift;
	int64_t outside = 0;

	if (!commands_n)
		return;
	if (pairs[0].before_ns > commands[0].before_ns)
		outside = pairs[0].before_ns - commands[0].before_ns;
	if (commands[commands_n - 1].after_ns - pairs[n - 1].before_ns > outside)
		outside = commands[commands_n - 1].after_ns - pairs[n - 1].before_ns;
	clock->residual_ns += (int64_t)ceil(drift * (double)outside);
}

// Some devices read a clock that is not the one of their stamps.
static bool commands_agree(const struct tare_device_clock *clock)
{
	struct tare_reading commands[TARE_CLOCK_BINS];
	size_t n = gather(&clock->commands, commands);
	size_t agree = 0;

	for (size_t i = 0; i < n; i++) {
		int64_t at = tare_device_clock_map(clock, commands[i].ticks);
		agree += at != TARE_NO_TIME && at >= commands[i].before_ns - clock->residual_ns &&
		         at <= commands[i].after_ns + clock->residual_ns;
	}
	return agree * 2 >= n;
}

static bool is_host_clock(const struct tare_device_clock *clock)
{
	return clock->same >= same_commands && clock->not_same <= clock->same / odd_ones &&
	       clock->offset_low_ns > -same_ns && clock->offset_high_ns < same_ns &&
	       clock->pairs_not_same <= clock->pairs.readings / odd_ones;
}

static int choose(struct tare_device_clock *clock, struct tare_error *error)
{
	struct tare_clock_fit fit;
	int status = -EINVAL;

	// A driver that stamps with the host's clock may have a timer to read, too: what is known
	// to be equal is not to be fitted to brackets, the first of which may be wide.
	if (is_host_clock(clock)) {
		clock->source = TARE_CLOCK_SAME;
		clock->residual_ns = clock->host_residual_ns +
		                     (clock->resolution_ns > 1 ? (int64_t)clock->resolution_ns : 0);
		clock->rests_on = clock->same;
		return 0;
	}
	if (clock->pairs.readings)
		status = fit_bins(clock, &clock->pairs, &fit);
	if (!status) {
		adopt(clock, TARE_CLOCK_PAIRS, &fit, clock->pairs.readings);
		reach_commands(clock, &fit);
		if (commands_agree(clock))
			return 0;
	}
	tare_device_clock_refuse(clock);
	if (status != -ENOMEM && clock->commands.readings)
		status = fit_bins(clock, &clock->commands, &fit);
	else if (status != -ENOMEM)
		return 0;
	if (status == -ENOMEM)
		return tare_fail(error, ENOMEM, "no memory for a device's clock");
	if (!status)
		adopt(clock, TARE_CLOCK_CAUSAL, &fit, clock->commands.readings);
	return 0;
}

int tare_device_clock_settle(struct tare_device_clock *clock, struct tare_error *error)
{
	int status = choose(clock, error);

	if (clock->source != TARE_CLOCK_NONE && clock->residual_ns > most_residual_ns)
		tare_device_clock_refuse(clock);
	return status;
}

void tare_device_clock_refuse(struct tare_device_clock *clock)
{
	clock->source = TARE_CLOCK_NONE;
	clock->residual_ns = TARE_NO_TIME;
	clock->drift_ppm = 0;
	clock->rests_on = 0;
	clock->origin_ns = 0;
	clock->origin_ticks = 0;
}

int64_t tare_device_clock_map(const struct tare_device_clock *clock, uint64_t ticks)
{
	int64_t since = (int64_t)(ticks - clock->origin_ticks);

	if (since > farthest_ns || since < -farthest_ns)
		return TARE_NO_TIME;
	if (clock->drift_ppm == 0) // ticks are the host's nanoseconds
		return clock->origin_ns + since;
	return clock->origin_ns + since + llround((double)since * clock->drift_ppm / 1e6);
}
