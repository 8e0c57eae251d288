// SPDX-License-Identifier: Apache-2.0
// What devices there are, which of them are one and the same, and where they sit.
#pragma once
#include "backend/backend.h"
#include "result/result.h"

struct tare_devices_options {
	const char *backend; // only this one ("opencl"); NULL: all
	const char *option;  // for its driver_open (a script of `simulated`); NULL: none
	bool facts_only;     // open no device: it costs seconds and memory, and disturbs others
};

// Adds every device of every backend to result->devices (with one `number` for one physical
// device), and every backend without one to result->absences with the reason and what to do.
// Returns 0 (also when there is no device at all), -EINVAL for an unknown backend, -ENOMEM.
int tare_measure_devices(const struct tare_devices_options *options, struct tare_result *result,
                         struct tare_error *error);

// Fills in an entry for device `index` of an open driver: facts and host topology. Opens nothing.
int tare_device_describe(struct tare_driver *driver, uint32_t index,
                         struct tare_device_entry *entry, struct tare_error *error);
// Adds what takes an open device: its engines. An entry has them once. Returns 0 or -ENOMEM.
int tare_device_describe_open(struct tare_device *device, struct tare_device_entry *entry,
                              struct tare_error *error);

// Gives entries that are one physical device one number: the same UUID, else the same PCI
// address. Numbers count from 0 in the order of first appearance (identity.c).
int tare_merge_identities(struct tare_device_entry *entries, size_t count);

// Adds what the host knows of a device: package and NUMA node, link of its PCI address; and the
// host itself to result->host (topology.c). Absent facts carry the reason.
void tare_topology_of_device(struct tare_facts *facts);
void tare_topology_of_host(struct tare_labels *host);
