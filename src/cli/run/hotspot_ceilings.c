// SPDX-License-Identifier: Apache-2.0
#include "cli/run/hotspot_ceilings.h"

#include "measure/devices/devices.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

void tare_hotspot_ceilings_take(const struct tare_peaks *peaks, struct tare_counted_device *device)
{
	const double *measured = peaks->per_second, *paper = peaks->theoretical;

	device->measured_memory_bytes_per_s =
	    fmax(fmax(measured[TARE_CEILING_MEMORY_READ], measured[TARE_CEILING_MEMORY_WRITE]),
	         fmax(measured[TARE_CEILING_MEMORY_COPY], measured[TARE_CEILING_MEMORY_TRIAD]));
	device->measured_l2_bytes_per_s = measured[TARE_CEILING_SHARED_CACHE];
	device->measured_l1_bytes_per_s = measured[TARE_CEILING_LOCAL];
	device->measured_fp16_flop_per_s = measured[TARE_CEILING_FP16];
	device->measured_fp32_flop_per_s = measured[TARE_CEILING_FP32];
	device->measured_fp64_flop_per_s = measured[TARE_CEILING_FP64];
	device->paper_memory_bytes_per_s = paper[TARE_CEILING_MEMORY_READ];
	device->paper_fp16_flop_per_s = paper[TARE_CEILING_FP16];
	device->paper_fp32_flop_per_s = paper[TARE_CEILING_FP32];
	device->paper_fp64_flop_per_s = paper[TARE_CEILING_FP64];
}

static const char *fact_text(const struct tare_device_entry *entry, enum tare_fact_id id)
{
	const struct tare_fact *fact = &entry->facts.fact[id];

	return fact->present ? fact->text : "";
}

// Whether two UUIDs are one, whatever their dashes and case; those of zeros say nothing.
static bool same_uuid(const char *a, const char *b)
{
	if (!a[strspn(a, "0-")] || !b[strspn(b, "0-")])
		return false;
	for (;; a++, b++) {
		a += strspn(a, "-");
		b += strspn(b, "-");
		if (tolower((unsigned char)*a) != tolower((unsigned char)*b))
			return false;
		if (!*a)
			return true;
	}
}

const struct tare_device_entry *tare_hotspot_device_find(const struct tare_result *devices,
                                                         const char *uuid, const char *name)
{
	const struct tare_device_entry *named = NULL;

	for (size_t i = 0; i < devices->device_count; i++)
		if (same_uuid(fact_text(&devices->devices[i], TARE_FACT_UUID), uuid))
			return &devices->devices[i];
	for (size_t i = 0; i < devices->device_count; i++) {
		const struct tare_device_entry *entry = &devices->devices[i];
		if (strcmp(fact_text(entry, TARE_FACT_NAME), name) != 0)
			continue;
		if (named && named->number != entry->number)
			return NULL;
		named = named ? named : entry;
	}
	return named;
}

int tare_hotspot_ceilings_find(const char *uuid, const char *from,
                               struct tare_counted_device *device, char origin[256],
                               struct tare_error *error)
{
	const struct tare_devices_options options = { .facts_only = true };
	struct tare_result *found = tare_result_new("devices");
	const struct tare_device_entry *entry = NULL;
	struct tare_peaks peaks;
	int code = 0;

	snprintf(origin, 256, "this machine's drivers do not list the device");
	if (!found)
		return tare_fail(error, ENOMEM, "no memory left");
	if (tare_measure_devices(&options, found, NULL) == 0)
		entry = tare_hotspot_device_find(found, uuid ? uuid : "",
		                                 device->name ? device->name : "");
	if (entry) {
		code = tare_peaks_load(entry, from, &peaks, error);
		if (code == 0) {
			tare_hotspot_ceilings_take(&peaks, device);
			snprintf(origin, 256, "%s", peaks.origin);
		}
	}
	tare_result_free(found);
	return code;
}
