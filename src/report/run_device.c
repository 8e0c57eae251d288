// SPDX-License-Identifier: Apache-2.0
#include "report/run_report.h"

#include <inttypes.h>

bool tare_run_nothing_timed(const struct tare_run_report *run)
{
	return run->tables->coverage.enqueued > 0 && run->tables->coverage.completed == 0;
}

uint32_t tare_run_device_number(const struct tare_recording *recording, uint32_t device)
{
	uint32_t number = 0, same;

	if (device >= recording->device_count)
		return TARE_NO_INDEX;
	same = recording->devices[device].same_as;
	for (uint32_t i = 0; i < same && i < recording->device_count; i++)
		number += recording->devices[i].same_as == i;
	return number;
}

const char *tare_run_device_name(const struct tare_recording *recording, uint32_t device,
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
		         tare_run_device_number(recording, device),
		         recording->devices[device].name);
	else
		snprintf(text, size, "%.120s", recording->devices[device].name);
	return text;
}
