// SPDX-License-Identifier: Apache-2.0
// What is known of devices as a list, for the CSV. Internal to src/report.
#pragma once
#include "result/result.h"
#include "table/table.h"

struct tare_device_property {
	const struct tare_device_entry *device; // NULL: a backend without devices
	const char *backend, *unit, *origin, *reason;
	char key[128];
	struct tare_cell_value value;
};

struct tare_device_properties {
	struct tare_device_property *at;
	size_t count;
};

// Every fact and kernel of every device, and every backend without one. `at` is to be freed, also
// after -ENOMEM.
int tare_device_properties(const struct tare_result *result, struct tare_device_properties *list);
