// SPDX-License-Identifier: Apache-2.0
// Shared by the files of `checkup`; nobody else's business.
#pragma once
#include "measure/checkup/checkup.h"
#include "measure/core/peaks.h"

struct checkup;

// A command that is run as a part.
struct checkup_row {
	const char *command;
	double share; // of the budget, beside the others'
	// As tare_measure_*; `run` is the part's own.
	int (*measure)(struct checkup *checkup, struct tare_run *run, struct tare_error *error);
	const char *cut; // what is left out of it; NULL: nothing
};

struct checkup {
	struct tare_run *run;    // the whole one
	struct tare_peaks peaks; // of the part `peak`, else those kept of an earlier run
	const struct checkup_row *rows;
	size_t count;
	size_t row;              // of the part that is being measured
	struct tare_error wrong; // of the first part that found wrong results; code 0: none
};

// tare_measure_checkup with the parts of a table (parts.c).
int checkup_measure(struct tare_run *run, const struct checkup_row *rows, size_t count,
                    struct tare_error *error);

// A copy of the device's entry for the document of a part. Returns 0 or -ENOMEM.
int checkup_copy_device(struct tare_result *part, const struct tare_device_entry *device);
// The document of `devices`: the device of the run under every API that the run's listing has it
// under. Returns 0 or -ENOMEM.
int checkup_add_devices(struct tare_run *run);

// Bytes a second from pinned memory to the device, by the host's clock, of the largest size that
// the part `bandwidth` measured; NaN: none.
double checkup_link_rate(const struct tare_result *result);
// Sums up what the parts found; `peaks` may be empty. What no part measured is not said.
void checkup_conclude(struct tare_result *result, const struct tare_peaks *peaks);
