// SPDX-License-Identifier: Apache-2.0
// Counters that a driver lists, and what is asked for, as declared tables (tables/*.def).
#pragma once
#include "report/terminal/write.h"

#include <stddef.h>

// A group, or a counter of it.
struct tare_counter_row {
	const char *name, *unit, *description, *tells;
};

struct tare_counters_listed {
	struct tare_counter_row *rows;
	size_t *depths; // a group's counters are below it
	size_t count;
};
// Adds a row with copies of its texts, but for `tells`. 0 or -ENOMEM; to free in either case.
int tare_counters_add(struct tare_counters_listed *listed, size_t depth,
                      const struct tare_counter_row *row);
void tare_counters_free(struct tare_counters_listed *listed);
void tare_counters_listed_text(struct tare_text *text, const struct tare_counters_listed *listed);

// What is asked for of a kernel's launch.
void tare_counters_asked_text(struct tare_text *text);
