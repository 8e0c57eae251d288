// SPDX-License-Identifier: Apache-2.0
// One line on a terminal's standard error that says what is being measured and how long it still
// takes. Nothing where standard error is no terminal.
#pragma once
#include "base/time.h"

#include <stdbool.h>
#include <stddef.h>

struct tare_progress {
	bool enabled;
	bool drawn; // a line stands there
	const char *command;
	struct tare_host_time begun, last; // started; when it was drawn
	int64_t hold_ns;                   // nothing is drawn so long; 0 as started
};

// `wanted` is false with --quiet.
void tare_progress_start(struct tare_progress *progress, const char *command, bool wanted);
// For what is over in a moment most often: nothing is drawn within the first second.
void tare_progress_start_late(struct tare_progress *progress, const char *command, bool wanted);
// A tare_progress_function (measure/core/run.h); context is the struct tare_progress.
void tare_progress_update(void *context, const char *what, size_t cells, size_t total,
                          int64_t remaining_ns);
// Takes the line away.
void tare_progress_clear(struct tare_progress *progress);

// The line itself (a total of 0: nothing is counted yet), without the terminal's control codes, at
// most `columns` wide. Returns text.
const char *tare_progress_text(const char *command, const char *what, size_t cells, size_t total,
                               int64_t remaining_ns, unsigned columns, char *text, size_t size);
