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

	*entry = (struct tare_device_entry){ .index = device->index,
		                             .number = device->number,
		                             .facts = device->facts };
	tare_device_entry_name(entry, device->backend, device->backend_title, device->same_by);
	tare_device_entry_set_engines(entry, device->engines, device->engine_count);
	return tare_result_status(part);
}

int checkup_add_devices(struct tare_run *run)
{
	const struct tare_device_entry *device = &run->result->devices[0];
	struct tare_result *part = tare_result_new("devices");
	int status = part ? checkup_copy_device(part, device) : -ENOMEM;

	// The simulated device is the same on every machine and day.
	if (status == 0 && run->simulated)
		tare_result_set_timeless(part);
	else if (status == 0)
		tare_topology_of_host(&part->host);
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
