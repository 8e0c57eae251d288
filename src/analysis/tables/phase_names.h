// SPDX-License-Identifier: Apache-2.0
// Phases by name. Internal to src/analysis.
#pragma once
#include "analysis/tables/phases.h"

// Of which name each phase is, counted from 0 in the order of their first begin.
struct phase_names {
	uint32_t *of;    // by phase; TARE_NO_INDEX: an instant, or of a process that is not wanted
	uint32_t *first; // a phase of each name
	size_t count;
};

// Those of a process; TARE_NO_INDEX: of all. Returns 0 or -ENOMEM. Free in either case.
int phase_names_find(const struct tare_recording *recording, uint32_t process,
                     struct phase_names *names);
void phase_names_free(struct phase_names *names);
