// SPDX-License-Identifier: Apache-2.0
// The device of a checkup: its entry in each part, and the part that shows it under every API.
#include "measure/checkup/internal.h"

#include "measure/devices/devices.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int checkup_copy_device(struct tare_result *part, const struct tare_device_entry *device)
{
	struct tare_device_entry *entry = tare_result_add_device(part);

	if (!entry)
		return -ENOMEM;
	*entry = (struct tare_device_entry){ .index = device->index,
		                             .number = device->number,
		                             .facts = device->facts };
	if (tare_set_string(&entry->backend, device->backend) < 0 ||
	    tare_set_string(&entry->backend_title, device->backend_title) < 0 ||
	    tare_set_string(&entry->same_by, device->same_by) < 0)
		return -ENOMEM;
	if (device->engine_count == 0)
		return 0;
	entry->engines = malloc(device->engine_count * sizeof *entry->engines);
	if (!entry->engines)
		return -ENOMEM;
	memcpy(entry->engines, device->engines, device->engine_count * sizeof *entry->engines);
	entry->engine_count = device->engine_count;
	return 0;
}

int checkup_add_devices(struct tare_run *run)
{
	const struct tare_device_entry *device = &run->result->devices[0];
	struct tare_result *part = tare_result_new("devices");
	int status = part ? checkup_copy_device(part, device) : -ENOMEM;

	// The simulated device is the same on every machine and day.
	if (status == 0 && run->simulated)
		status = tare_set_string(&part->written_at, "1970-01-01T00:00:00Z");
	else if (status == 0)
		status = tare_topology_of_host(&part->host);
	for (size_t i = 0; status == 0 && run->listing && i < run->listing->device_count; i++) {
		const struct tare_device_entry *other = &run->listing->devices[i];
		// The one that was chosen has moved from the listing into the document.
		if (other->backend && other->number == device->number &&
		    (strcmp(other->backend, device->backend) != 0 || other->index != device->index))
			status = checkup_copy_device(part, other);
	}
	if (status == 0)
		return tare_result_add_part(run->result, part);
	tare_result_free(part);
	return status;
}
