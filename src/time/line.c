// SPDX-License-Identifier: Apache-2.0
// A result in one line.
#include "time/internal.h"

#include <stdio.h>

const char *tare_time_duration(char text[TARE_TIME_DURATION], int64_t ns)
{
	static const struct {
		int64_t below;
		double unit;
		const char *name;
	} units[] = {
		{ 10000, 1, "ns" },
		{ 10000000, 1e3, "us" },
		{ INT64_C(10000000000), 1e6, "ms" },
		{ INT64_MAX, 1e9, "s" },
	};
	unsigned i = 0;

	while (i < 3 && ns >= units[i].below)
		i++;
	snprintf(text, TARE_TIME_DURATION, i == 0 ? "%.0f %s" : "%.3f %s",
	         (double)ns / units[i].unit, units[i].name);
	return text;
}

static int tell_time(const struct tare_time_result *result, const char *name, char *text,
                     size_t size)
{
	char device[TARE_TIME_DURATION], floor[TARE_TIME_DURATION], step[TARE_TIME_DURATION],
	    host[TARE_TIME_DURATION];
	const char *modulo = result->wraps_excluded ? "" : ", if less than the clock's period";
	int64_t own_ns = result->floor_ns > 0 ? TARE_TIME_GAPS * result->floor_ns : 0;
	int64_t step_ns = result->uncertainty_ns - own_ns;

	tare_time_duration(device, result->device_ns);
	tare_time_duration(step, step_ns);
	if (result->between == TARE_TIME_ENGINES)
		return snprintf(
		    text, size,
		    "%s: %s on the device's engines, %u command%s, +- %s; %s to enqueue", name,
		    device, result->commands, result->commands == 1 ? "" : "s", step,
		    tare_time_duration(host, result->host_ns));
	if (result->floor_ns == 0)
		return snprintf(text, size, "%s: %s on the device, +- %s%s", name, device, step,
		                modulo);
	tare_time_duration(host, result->host_ns);
	if (result->floor_ns < 0)
		return snprintf(
		    text, size,
		    "%s: %s on the device, +- %s, with a floor that is not known%s; %s to enqueue",
		    name, device, step, modulo, host);
	tare_time_duration(floor, own_ns);
	return snprintf(text, size,
	                "%s: %s on the device, +- %s, of which up to about %s are the span's "
	                "own%s; %s to enqueue",
	                name, device, step, floor, modulo, host);
}

static int tell_floor(const struct tare_time_result *result, const char *name, char *text,
                      size_t size)
{
	char bound[TARE_TIME_DURATION];

	return snprintf(text, size, "%s: below the floor, no more than %s: %s", name,
	                tare_time_duration(bound, result->device_ns + result->uncertainty_ns),
	                result->sentence);
}

int tare_time_line(const struct tare_time_result *result, char *text, size_t size)
{
	const char *name = result->name[0] ? result->name : "span";

	switch (result->state) {
	case TARE_TIME_OK:
		return tell_time(result, name, text, size);
	case TARE_TIME_BELOW_FLOOR:
		return tell_floor(result, name, text, size);
	case TARE_TIME_NOT_READY:
		return snprintf(text, size, "%s: not ready: %s", name, result->sentence);
	case TARE_TIME_NOT_AVAILABLE:
		break;
	}
	if (result->reason == TARE_TIME_COMMAND_FAILED || result->reason == TARE_TIME_DEVICE_LOST)
		return snprintf(text, size, "%s: n/a, because %s (0x%lx)", name, result->sentence,
		                (unsigned long)result->native & 0xffffffffUL);
	return snprintf(text, size, "%s: n/a, because %s", name,
	                result->sentence ? result->sentence : "");
}
