// SPDX-License-Identifier: Apache-2.0
// What is known of the bytes of transfers (tare record --contents), and what finding it out took.
#pragma once
#include "analysis/findings/internal.h"

// The place of a command; NULL: it has none.
const struct tare_recorded_place *finding_place_of(const struct tare_recording *recording,
                                                   uint32_t command);
// Whether contents were asked for in a process.
bool finding_was_compared(const struct evaluation *evaluation);
// Says of how many copies of the view the bytes are not known, and why. Returns 0 or -ENOMEM.
int finding_say_not_compared(struct evaluation *evaluation);
// Takes out of idle gaps what the program's threads spent on hashing: it is the recorder's, not the
// host's computing, and without --contents it would not be there; shares are of the working part
// without it. Returns 0 or -ENOMEM.
int finding_leave_out_hashing(struct evaluation *evaluation);
