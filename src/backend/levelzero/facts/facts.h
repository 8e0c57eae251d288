// SPDX-License-Identifier: Apache-2.0
// What the files that gather facts of a Level Zero device share.
#pragma once
#include "backend/levelzero/internal.h"

#define LEVELZERO_INTEL 0x8086

// What a driver is, by the UUID that it says it has.
enum levelzero_make {
	LEVELZERO_VENDORS,
	LEVELZERO_ZE_CPU,   // drivers/ze-cpu, whatever type its device says that it has
	LEVELZERO_SCRIPTED, // the same; its times are a script's
};
enum levelzero_make levelzero_make_of(const struct levelzero_driver *driver,
                                      const struct levelzero_place *place);
// Sets a count, or says that the driver told 0.
void levelzero_count_fact(struct tare_facts *facts, enum tare_fact_id id, uint64_t value);
// Units, widths, peaks (compute.c).
void levelzero_compute_facts(const struct levelzero_driver *driver,
                             const struct levelzero_place *place,
                             const ze_device_properties_t *properties, struct tare_facts *facts);
// Both counters and both encodings of the timer (clock.c).
void levelzero_clock_facts(const struct levelzero_driver *driver,
                           const struct levelzero_place *place,
                           const ze_device_properties_t *properties, struct tare_facts *facts);
// Memory, caches (memory.c).
void levelzero_memory_facts(const struct levelzero_driver *driver,
                            const struct levelzero_place *place,
                            const ze_device_properties_t *properties, struct tare_facts *facts);
// Queue groups and engines (engines.c).
void levelzero_engine_facts(const struct levelzero_driver *driver,
                            const struct levelzero_place *place, struct tare_facts *facts);
// Whether the driver lists the extension of that name.
bool levelzero_has_extension(const struct levelzero_driver *driver,
                             const struct levelzero_place *place, const char *name);
