// SPDX-License-Identifier: Apache-2.0
// How problems of a recorded run are gathered. Internal to the files that find them.
#pragma once
#include "report/run/report.h"

#include <stdbool.h>
#include <stdint.h>

struct problem_finder {
	const struct tare_report *run;
	struct tare_report_problems *problems;
	bool failed; // no memory
};

// Adds a problem; `figures`: it is about what the report's figures say. Without memory
// finder->failed is set.
void problem_add(struct problem_finder *finder, const char *id, bool figures, const char *format,
                 ...) __attribute__((format(printf, 4, 5)));

static inline unsigned long long problem_number(uint64_t value)
{
	return value;
}

static inline const char *problem_plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

// How the processes ended, and what of each is there.
void problems_find_processes(struct problem_finder *finder);
