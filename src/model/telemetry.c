// SPDX-License-Identifier: Apache-2.0
#include "model/telemetry.h"

#include "model/statistics/order.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

const struct tare_telemetry_value_row tare_telemetry_value_rows[TARE_TELEMETRY_VALUES] = {
	[TARE_TELEMETRY_OF_CLOCK] = { "clock", "Hz", "clock" },
	[TARE_TELEMETRY_OF_MEMORY_CLOCK] = { "memory_clock", "Hz", "memory clock" },
	[TARE_TELEMETRY_OF_POWER] = { "power", "W", "power" },
	[TARE_TELEMETRY_OF_TEMPERATURE] = { "temperature", "°C", "temperature" },
	[TARE_TELEMETRY_OF_LINK_GENERATION] = { "link_generation", "", "PCIe generation" },
	[TARE_TELEMETRY_OF_LINK_WIDTH] = { "link_width", "", "PCIe lanes" },
};

static const struct {
	const char *key, *name;
	enum tare_throttle_class class;
} throttles[TARE_THROTTLE_COUNT] = {
#define X(id, key, name, class) [TARE_THROTTLE_##id] = { key, name, TARE_THROTTLE_CLASS_##class },
	TARE_THROTTLES(X)
#undef X
	    // Not known to be harmless.
	    [TARE_THROTTLE_OTHER] = { "other", "another reason", TARE_THROTTLE_CLASS_SLOWS },
};

const char *tare_throttle_key(enum tare_throttle reason)
{
	return throttles[reason].key;
}

const char *tare_throttle_name(enum tare_throttle reason)
{
	return throttles[reason].name;
}

enum tare_throttle_class tare_throttle_class_of(enum tare_throttle reason)
{
	return throttles[reason].class;
}

enum tare_throttle tare_throttle_of_bit(unsigned bit)
{
	return bit < TARE_THROTTLE_KNOWN ? (enum tare_throttle)bit : TARE_THROTTLE_OTHER;
}

const char *tare_throttle_list(uint64_t bits, char *text, size_t size)
{
	size_t used = 0;

	snprintf(text, size, "no");
	for (unsigned bit = 0; bit < 64 && used < size; bit++) {
		enum tare_throttle reason = tare_throttle_of_bit(bit);
		int written;
		if (!(bits >> bit & 1))
			continue;
		written =
		    reason == TARE_THROTTLE_OTHER
		        ? snprintf(text + used, size - used, "%sbit %u", used ? ", " : "", bit)
		        : snprintf(text + used, size - used, "%s%s", used ? ", " : "",
		                   tare_throttle_name(reason));
		used += written > 0 ? (size_t)written : 0;
	}
	return text;
}

static bool is_idle(const struct tare_telemetry *reading)
{
	return tare_telemetry_has(reading, TARE_TELEMETRY_THROTTLE) &&
	       (reading->throttle >> TARE_THROTTLE_IDLE & 1);
}

// NaN where the reading does not have it.
static double value_of(const struct tare_telemetry *reading, enum tare_telemetry_value value)
{
	static const int members[TARE_TELEMETRY_VALUES] = {
		TARE_TELEMETRY_CLOCK,       TARE_TELEMETRY_MEMORY_CLOCK, TARE_TELEMETRY_POWER,
		TARE_TELEMETRY_TEMPERATURE, TARE_TELEMETRY_LINK,         TARE_TELEMETRY_LINK,
	};

	if (!tare_telemetry_has(reading, members[value]))
		return NAN;
	switch (value) {
	case TARE_TELEMETRY_OF_CLOCK:
		return (double)reading->clock_hz;
	case TARE_TELEMETRY_OF_MEMORY_CLOCK:
		return (double)reading->memory_clock_hz;
	case TARE_TELEMETRY_OF_POWER:
		return reading->power_w;
	case TARE_TELEMETRY_OF_TEMPERATURE:
		return reading->temperature_c;
	case TARE_TELEMETRY_OF_LINK_GENERATION:
		return reading->link_generation;
	default:
		return reading->link_width;
	}
}

// The values of one kind that count, sorted, into `values`; returns how many.
static size_t gather(const struct tare_telemetry *readings, size_t n, bool loaded_only,
                     enum tare_telemetry_value value, double *values)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++) {
		double one = value_of(&readings[i], value);
		if (isfinite(one) && !(loaded_only && is_idle(&readings[i])))
			values[count++] = one;
	}
	qsort(values, count, sizeof *values, tare_compare_doubles);
	return count;
}

static struct tare_telemetry_range range_of(const double *sorted, size_t n)
{
	struct tare_telemetry_range range = { n, NAN, NAN, NAN, NAN };
	double sum = 0;

	if (n == 0)
		return range;
	for (size_t i = 0; i < n; i++)
		sum += sorted[i];
	range.low = sorted[0];
	range.high = sorted[n - 1];
	range.median = (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
	range.mean = sum / (double)n;
	return range;
}

// Shares of the reasons among the readings that count; idle's among all.
static void share_throttles(const struct tare_telemetry *readings, size_t n, bool loaded_only,
                            struct tare_telemetry_summary *summary)
{
	size_t seen[TARE_THROTTLE_COUNT] = { 0 }, known = 0, slowed = 0;

	for (size_t i = 0; i < n; i++) {
		bool has[TARE_THROTTLE_COUNT] = { false }, slows = false;
		if (!tare_telemetry_has(&readings[i], TARE_TELEMETRY_THROTTLE))
			continue;
		known++;
		for (unsigned bit = 0; bit < 64; bit++)
			if (readings[i].throttle >> bit & 1)
				has[tare_throttle_of_bit(bit)] = true;
		seen[TARE_THROTTLE_IDLE] += has[TARE_THROTTLE_IDLE];
		if (loaded_only && is_idle(&readings[i]))
			continue;
		summary->throttle_n++;
		for (int r = TARE_THROTTLE_IDLE + 1; r < TARE_THROTTLE_COUNT; r++) {
			seen[r] += has[r];
			slows |= has[r] && throttles[r].class == TARE_THROTTLE_CLASS_SLOWS;
		}
		slowed += slows;
	}
	summary->slowed_share = NAN;
	for (int r = 0; r < TARE_THROTTLE_COUNT; r++)
		summary->throttle_share[r] = NAN;
	if (summary->throttle_n == 0)
		return;
	summary->slowed_share = (double)slowed / (double)summary->throttle_n;
	for (int r = 0; r < TARE_THROTTLE_COUNT; r++)
		summary->throttle_share[r] =
		    (double)seen[r] /
		    (double)(r == TARE_THROTTLE_IDLE ? known : summary->throttle_n);
}

int tare_telemetry_summarise(const struct tare_telemetry *readings, size_t n,
                             struct tare_telemetry_summary *summary)
{
	double *values = malloc((n ? n : 1) * sizeof *values);
	bool loaded_only;
	size_t count, below = 0;

	if (!values)
		return -ENOMEM;
	*summary = (struct tare_telemetry_summary){ .readings = n, .moved_share = NAN };
	for (size_t i = 0; i < n; i++)
		summary->loaded += !is_idle(&readings[i]);
	loaded_only = summary->loaded > 0;
	for (int v = 0; v < TARE_TELEMETRY_VALUES; v++) {
		count = gather(readings, n, loaded_only, (enum tare_telemetry_value)v, values);
		summary->of[v] = range_of(values, count);
		if (v != TARE_TELEMETRY_OF_CLOCK || count == 0)
			continue;
		while (below < count &&
		       values[below] < (1 - TARE_TELEMETRY_MOVED) * values[count - 1])
			below++;
		summary->moved_share = (double)below / (double)count;
	}
	share_throttles(readings, n, loaded_only, summary);
	free(values);
	return 0;
}
