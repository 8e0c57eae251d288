// SPDX-License-Identifier: Apache-2.0
// What hardware counters a driver lists of a device. Nothing is counted here.
#pragma once
#include <stdbool.h>
#include <stdint.h>

// Counters that are counted together. Texts are the driver's, and live until the visitor returns.
struct tare_counter_group {
	const char *name, *description;
	bool by_event;   // for the commands between two marks
	bool by_time;    // of the whole device, in intervals
	uint32_t domain; // groups of one domain cannot be counted together
};

struct tare_listed_counter {
	const char *name, *description, *unit;
};

// Called for each group, and then for each counter of it. Not 0 ends the listing, and is returned.
struct tare_counter_visitor {
	void *context;
	int (*group)(void *context, const struct tare_counter_group *group);
	int (*counter)(void *context, const struct tare_listed_counter *counter);
};
