// SPDX-License-Identifier: Apache-2.0
// Interruption: the first SIGINT, SIGTERM or SIGHUP asks to stop, the second ends at once.
#pragma once
#include <signal.h>

// Set by the first signal; measuring looks at it between samples.
extern volatile sig_atomic_t tare_interrupted;

// Installs the handlers, and lets writing to a closed pipe fail with EPIPE.
void tare_signals_install(void);

// A file to remove when the second signal ends the program; at most 4 at a time. The text must
// stay valid until tare_signals_keep.
void tare_signals_remove_at_end(const char *path);
void tare_signals_keep(const char *path);
