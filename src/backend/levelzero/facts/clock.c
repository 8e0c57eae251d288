// SPDX-License-Identifier: Apache-2.0
// The device's timer: its rate in both encodings, and the width of both counters.
#include "backend/levelzero/facts/facts.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

// No GPU's timer is slower than this: a smaller number may be nanoseconds, whatever was asked for.
#define SLOWEST_HZ 100000

// Asks for the timer the older way: nanoseconds a tick since 1.2. 0 where that is not to be had.
static uint64_t older_resolution(const struct levelzero_driver *driver,
                                 const struct levelzero_place *place)
{
	ze_device_properties_t older = { .stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES };

	if (place->version < ZE_API_VERSION_1_2 ||
	    driver->call.zeDeviceGetProperties(place->device, &older) != ZE_RESULT_SUCCESS)
		return 0;
	return older.timerResolution;
}

// Whether two numbers are one tick in nanoseconds, rounded somehow, and its rate in hertz.
static bool are_reciprocal(uint64_t ns, uint64_t hz)
{
	return fabs((double)ns - 1e9 / (double)hz) < 1;
}

// Version 1.0 knew nanoseconds only, and some drivers tell them whatever is asked. A slow timer is
// told from those by its other encoding, which is then another number and fits.
static bool tells_nanoseconds(const struct levelzero_driver *driver,
                              const struct levelzero_place *place, uint64_t resolution)
{
	uint64_t older;

	if (place->version < ZE_API_VERSION_1_1)
		return true;
	if (resolution >= SLOWEST_HZ)
		return false;
	older = older_resolution(driver, place);
	return older == resolution || !are_reciprocal(older, resolution);
}

int levelzero_rates(const struct levelzero_driver *driver, const struct levelzero_place *place,
                    const ze_device_properties_t *properties, struct tare_clock_rate rates[2],
                    struct tare_error *error)
{
	static const char *const names[] = {
		[TARE_CLOCK_STAMPS] = "counter of kernel timestamps",
		[TARE_CLOCK_PAIRS] = "global counter",
	};
	uint64_t resolution = properties->timerResolution;
	const uint32_t bits[2] = {
		[TARE_CLOCK_STAMPS] = properties->kernelTimestampValidBits,
		[TARE_CLOCK_PAIRS] = properties->timestampValidBits,
	};

	if (resolution == 0)
		return tare_fail(
		    error, EINVAL,
		    "the driver says that the device's timer has a rate of 0, and no time can "
		    "be told by it; update the device's driver");
	bool nanoseconds = tells_nanoseconds(driver, place, resolution);
	for (int i = 0; i < 2; i++) {
		if (bits[i] == 0 || bits[i] > 64)
			return tare_fail(
			    error, EINVAL,
			    "the driver says that the device's %s has %u valid bits, where 1 to "
			    "64 can be, and no time can be told by it; update the device's "
			    "driver",
			    names[i], bits[i]);
		rates[i] = (struct tare_clock_rate){
			.hz_numerator = nanoseconds ? 1000000000 : resolution,
			.hz_denominator = nanoseconds ? resolution : 1,
			.valid_bits = bits[i],
			.resolution_ticks = 1,
		};
	}
	return 0;
}

// What a program gets that asks for the timer the older way, in whole nanoseconds a tick, and how
// wrong its durations are: tick_ns * rate / 1e9 - 1.
static void older_encoding(const struct levelzero_driver *driver,
                           const struct levelzero_place *place, const struct tare_clock_rate *rate,
                           struct tare_facts *facts)
{
	ze_device_properties_t older = { .stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES };
	uint64_t hz = rate->hz_numerator / rate->hz_denominator;
	char text[128];

	if (place->version < ZE_API_VERSION_1_2) {
		tare_fact_absent(facts, TARE_FACT_TIMER_OLDER,
		                 "this driver has one encoding only (Level Zero before 1.2)");
		return;
	}
	if (driver->call.zeDeviceGetProperties(place->device, &older) != ZE_RESULT_SUCCESS) {
		tare_fact_absent(facts, TARE_FACT_TIMER_OLDER, "the driver does not answer it");
		return;
	}
	double ns = (double)older.timerResolution;
	double off = 100 * (ns / tare_tick_ns(rate) - 1);
	if (older.timerResolution == 0)
		snprintf(text, sizeof text, "0 ns a tick, with which every duration is 0");
	else if (older.timerResolution >= SLOWEST_HZ && !are_reciprocal(older.timerResolution, hz))
		snprintf(text, sizeof text,
		         "%llu: cycles a second here as well, against the specification",
		         (unsigned long long)older.timerResolution);
	else if (fabs(off) < 0.0005)
		snprintf(text, sizeof text, "%.0f ns a tick, which is exact", ns);
	else
		snprintf(text, sizeof text,
		         "%.0f ns a tick, with which durations are %.*f %% too %s", ns,
		         fabs(off) < 0.01 ? 4 : 2, fabs(off), off < 0 ? "short" : "long");
	tare_fact_set_text(facts, TARE_FACT_TIMER_OLDER, TARE_ORIGIN_DRIVER, text);
}

static void rate_facts(const struct levelzero_driver *driver, const struct levelzero_place *place,
                       const ze_device_properties_t *properties, struct tare_facts *facts)
{
	static const enum tare_fact_id ours[] = {
		TARE_FACT_TIMER_RATE,        TARE_FACT_TIMER_RESOLUTION, TARE_FACT_TIMER_BITS,
		TARE_FACT_TIMER_GLOBAL_BITS, TARE_FACT_TIMER_OLDER,      TARE_FACT_TIMER_PAIRS,
	};
	struct tare_clock_rate rates[2];
	struct tare_error error;

	if (levelzero_rates(driver, place, properties, rates, &error) < 0) {
		for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
			tare_fact_absent(facts, ours[i], "%s", error.message);
		tare_facts_doubt(facts, TARE_DOUBT_TIMER, error.message);
		return;
	}
	const struct tare_clock_rate *stamps = &rates[TARE_CLOCK_STAMPS];
	tare_fact_set_count(facts, TARE_FACT_TIMER_RATE, TARE_ORIGIN_DRIVER,
	                    stamps->hz_numerator / stamps->hz_denominator);
	tare_fact_set_rate(facts, TARE_FACT_TIMER_RESOLUTION, TARE_ORIGIN_DRIVER,
	                   tare_tick_ns(stamps));
	tare_fact_set_count(facts, TARE_FACT_TIMER_BITS, TARE_ORIGIN_DRIVER, stamps->valid_bits);
	tare_fact_set_count(facts, TARE_FACT_TIMER_GLOBAL_BITS, TARE_ORIGIN_DRIVER,
	                    rates[TARE_CLOCK_PAIRS].valid_bits);
	older_encoding(driver, place, stamps, facts);
	if (driver->call.zeDeviceGetGlobalTimestamps)
		tare_fact_set_text(facts, TARE_FACT_TIMER_PAIRS, TARE_ORIGIN_DRIVER,
		                   "zeDeviceGetGlobalTimestamps, bracketed by the host clock");
	else
		tare_fact_absent(facts, TARE_FACT_TIMER_PAIRS,
		                 "this loader lacks zeDeviceGetGlobalTimestamps");
}

void levelzero_clock_facts(const struct levelzero_driver *driver,
                           const struct levelzero_place *place,
                           const ze_device_properties_t *properties, struct tare_facts *facts)
{
	rate_facts(driver, place, properties, facts);
	tare_fact_set_text(facts, TARE_FACT_PROFILING, TARE_ORIGIN_DRIVER,
	                   "kernel timestamps of events: start and end, global and while active");
}
