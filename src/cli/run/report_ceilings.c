// SPDX-License-Identifier: Apache-2.0
#include "cli/run/report_ceilings.h"

#include "measure/bandwidth/cache.h"
#include "measure/latency/cache.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define KINDS 4 // both directions, pinned or not

static void add_device(const struct tare_recorded_device *device,
                       struct tare_report_ceilings *ceilings)
{
	struct tare_bandwidth_peaks peaks;

	tare_bandwidth_load(device->name, device->driver_version, &peaks);
	if (!peaks.present)
		return;
	const struct tare_transfer_ceiling found[KINDS] = {
		{ device->name, TARE_DIRECTION_TO_DEVICE, true, peaks.to_device_pinned, NULL,
		  peaks.to_device_pinned_sizes },
		{ device->name, TARE_DIRECTION_TO_DEVICE, false, peaks.to_device_pageable, NULL,
		  peaks.to_device_pageable_sizes },
		{ device->name, TARE_DIRECTION_FROM_DEVICE, true, peaks.from_device_pinned, NULL,
		  peaks.from_device_pinned_sizes },
		{ device->name, TARE_DIRECTION_FROM_DEVICE, false, peaks.from_device_pageable, NULL,
		  peaks.from_device_pageable_sizes },
	};
	for (size_t i = 0; i < KINDS; i++)
		if (isfinite(found[i].bytes_per_second))
			ceilings->at[ceilings->count++] = found[i];
}

static void add_launches(const struct tare_recorded_device *device,
                         struct tare_report_ceilings *ceilings)
{
	struct tare_launch_times times;

	tare_latency_load(device->name, device->driver_version, &times);
	if (!times.present)
		return;
	memcpy(ceilings->dates[ceilings->launch_count], times.measured, sizeof times.measured);
	ceilings->launches[ceilings->launch_count] =
	    (struct tare_launch_costs){ device->name, times.launch_ns, times.graph_kernel_ns,
		                        fmax(0, times.graph_wait_ns - times.wait_ns),
		                        ceilings->dates[ceilings->launch_count] };
	ceilings->launch_count++;
}

int tare_report_ceilings_find(const struct tare_recording *recording,
                              struct tare_report_ceilings *ceilings, struct tare_error *error)
{
	*ceilings = (struct tare_report_ceilings){ 0 };
	ceilings->at = calloc(recording->device_count * KINDS + 1, sizeof *ceilings->at);
	ceilings->launches = calloc(recording->device_count + 1, sizeof *ceilings->launches);
	ceilings->dates = calloc(recording->device_count + 1, sizeof *ceilings->dates);
	if (!ceilings->at || !ceilings->launches || !ceilings->dates)
		return tare_fail(error, ENOMEM, "no memory left");
	for (uint32_t i = 0; i < recording->device_count; i++)
		if (recording->devices[i].same_as == i) {
			add_device(&recording->devices[i], ceilings);
			add_launches(&recording->devices[i], ceilings);
		}
	return 0;
}

void tare_report_ceilings_free(struct tare_report_ceilings *ceilings)
{
	free(ceilings->at);
	free(ceilings->launches);
	free(ceilings->dates);
	*ceilings = (struct tare_report_ceilings){ 0 };
}
