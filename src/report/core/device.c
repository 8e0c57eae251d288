// SPDX-License-Identifier: Apache-2.0
#include "report/core/run.h"
#include "report/core/words.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool tare_report_nothing_timed(const struct tare_report *run)
{
	return run->tables->coverage.enqueued > 0 && run->tables->coverage.completed == 0;
}

uint32_t tare_report_device_number(const struct tare_recording *recording, uint32_t device)
{
	uint32_t number = 0, same;

	if (device >= recording->device_count)
		return TARE_NO_INDEX;
	same = recording->devices[device].same_as;
	for (uint32_t i = 0; i < same && i < recording->device_count; i++)
		number += recording->devices[i].same_as == i;
	return number;
}

uint64_t tare_report_device_apis(const struct tare_recording *recording, uint32_t device)
{
	uint64_t apis = 0;

	for (uint32_t i = 0; device < recording->device_count && i < recording->device_count; i++)
		if (recording->devices[i].same_as == recording->devices[device].same_as)
			apis |= UINT64_C(1) << recording->devices[i].api;
	return apis;
}

uint32_t tare_report_joined_by(const struct tare_recording *recording, uint32_t device)
{
	const struct tare_recorded_device *devices = recording->devices;

	for (uint32_t i = 0; device < recording->device_count && i < recording->device_count; i++)
		if (devices[i].same_as == devices[device].same_as &&
		    devices[i].api != devices[devices[i].same_as].api)
			return devices[i].same_by;
	return TARE_SAME_BY_NOTHING;
}

// " (OpenCL, CUDA)", where the recording has devices of more than one API.
static void add_apis(const struct tare_recording *recording, uint32_t device, char *text,
                     size_t size)
{
	uint64_t apis = tare_report_device_apis(recording, device);
	const char *before = " (";
	size_t used = strlen(text);

	if ((recording->apis & (recording->apis - 1)) == 0)
		return;
	for (uint32_t api = 0; api < TARE_TRACE_API_COUNT && used < size; api++) {
		if (!(apis >> api & 1) || !tare_report_api_title(api))
			continue;
		used += (size_t)snprintf(text + used, size - used, "%s%s", before,
		                         tare_report_api_title(api));
		before = ", ";
	}
	if (used < size && before[0] == ',')
		snprintf(text + used, size - used, ")");
}

const char *tare_report_device_name(const struct tare_recording *recording, uint32_t device,
                                    char *text, size_t size)
{
	unsigned different = 0;

	if (device >= recording->device_count) {
		snprintf(text, size, "?");
		return text;
	}
	for (uint32_t i = 0; i < recording->device_count; i++)
		different += recording->devices[i].same_as == i;
	if (different > 1)
		snprintf(text, size, "#%" PRIu32 " %.120s",
		         tare_report_device_number(recording, device),
		         recording->devices[device].name);
	else
		snprintf(text, size, "%.120s", recording->devices[device].name);
	add_apis(recording, device, text, size);
	return text;
}
