// SPDX-License-Identifier: Apache-2.0
// What of a copy's time nothing else hides: that is what leaving it out saves.
#pragma once
#include "analysis/findings/internal.h"

struct finding_alone {
	struct tare_run_span *spans; // of all other commands, united
	size_t count;
};
// `left_out`, by command: the copies in question. Returns 0 or -ENOMEM; finding_alone_close in
// either case.
int finding_alone_open(const struct evaluation *evaluation, const bool *left_out,
                       struct finding_alone *alone);
void finding_alone_close(struct finding_alone *alone);
// Of a command that is left out, with times.
int64_t finding_alone_ns(const struct finding_alone *alone,
                         const struct tare_recorded_command *command);
