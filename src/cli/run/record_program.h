// SPDX-License-Identifier: Apache-2.0
// Running a program under the recorder, for record and run (cmd_record.c).
#pragma once
#include "cli/options/option.h"
#include "record/child.h"

#include <limits.h>
#include <stdbool.h>

// A program that ran.
struct tare_recorded_program_end {
	struct tare_child_end end;
	char path[PATH_MAX]; // of the trace, as a person would type it
	bool joined;         // another rank of the same parallel job made the folder
};

// Runs settings->program and records it; what is to be said of that goes to standard error. With
// `reported` a report follows at once. Returns TARE_EXIT_OK and *recorded once the program has
// ended, else what tare shall exit with: 125 to 127 and a sentence.
int tare_record_program(const struct tare_settings *settings, bool reported,
                        struct tare_recorded_program_end *recorded, struct tare_error *error);
// The exit status of tare for that program. Where a signal ended the program, it ends tare here.
int tare_record_status(const struct tare_recorded_program_end *recorded);
