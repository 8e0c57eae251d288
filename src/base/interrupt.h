// SPDX-License-Identifier: Apache-2.0
// How long waits end when the user wants to stop: what waits for a device or builds for it asks
// here now and then.
#pragma once
#include <signal.h>
#include <stdbool.h>

// From now on *flag (set by a signal handler) says that the user wants to stop. NULL: nobody does.
// Not while others ask.
void tare_interrupt_watch(const volatile sig_atomic_t *flag);
// Whether the flag is set.
bool tare_interrupt_wanted(void);
// For the handler of the signal, after it has set the flag: when the user wanted to stop.
void tare_interrupt_note(void);
// Whether it has been so for a second, in which what is nearly done may have come to its end: the
// time counts from tare_interrupt_note, else from the first call of this that saw it. From any
// thread.
bool tare_interrupt_due(void);
