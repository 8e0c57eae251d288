// SPDX-License-Identifier: Apache-2.0
// Interruption: while measuring, the first SIGINT, SIGTERM or SIGHUP asks to stop and the second
// ends at once; in commands that do not measure, the first one ends at once.
#pragma once
#include <signal.h>
#include <stdbool.h>

// Set by the first signal; measuring looks at it between samples.
extern volatile sig_atomic_t tare_interrupted;

// Installs the handlers, and lets writing to a closed pipe fail with EPIPE and beyond the limit of
// a file's size with EFBIG. note_first: the first signal only sets tare_interrupted, which the
// caller promises to look at.
void tare_signals_install(bool note_first);

// A file to remove when a signal ends the program; at most 4 at a time. The text must
// stay valid until tare_signals_keep.
void tare_signals_remove_at_end(const char *path);
void tare_signals_keep(const char *path);
// Removes them now, for who ends the program in another way.
void tare_signals_clean_up(void);
