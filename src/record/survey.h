// SPDX-License-Identifier: Apache-2.0
// What the headers of a trace's files tell: how many processes, what was lost and why. Records are
// not looked at.
#pragma once
#include "tare/trace_format.h"

#include <stddef.h>
#include <stdint.h>

#define TARE_SURVEY_REASONS (TARE_TRACE_NO_MEMORY + 1)

struct tare_survey {
	uint32_t processes;   // files with a header that can be read
	uint32_t silent;      // of these, that made no call, as far as was seen
	uint32_t phases_only; // of these, whose recorder was loaded by marks of phases alone
	uint32_t running;     // of these, processes of this machine that still run and record
	uint32_t unreadable;  // files that are no trace of a version that is known
	uint64_t apis;        // bits 1 << enum tare_trace_api: those that were recorded
	uint64_t bytes;       // of all files
	uint64_t calls;       // that reached the recorders
	uint64_t lost_records, lost_commands;
	uint64_t recycled_records, recycled_commands;
	// processes whose recorder gave up, by enum tare_trace_stop
	uint32_t stopped[TARE_SURVEY_REASONS];
	int64_t stop_error; // errno of the first one that says one; 0: none
};

// Looks at every *.trace in a folder. Returns 0 or a negative errno (the folder cannot be read).
int tare_survey_folder(const char *folder, struct tare_survey *survey);

// How many processes of this machine run in an environment that leads to `folder`, an absolute
// path: the program's children and theirs, as far as this user may look (proc_pid_environ(5)).
uint32_t tare_survey_alive(const char *folder);

// What was lost and what to do about it, one sentence without a full stop; "" when nothing was.
void tare_survey_loss(const struct tare_survey *survey, char *text, size_t size);
