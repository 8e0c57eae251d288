// SPDX-License-Identifier: Apache-2.0
// Starts the user's program as a child and waits for it, so that whoever started tare sees what it
// would have seen of the program itself: output, status, signals, job control.
#pragma once
#include "base/error.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct tare_child {
	pid_t child;
	sigset_t mask;                   // of signals, as tare was given it
	struct sigaction actions[_NSIG]; // the same for what is done with them
};

// How the program ended.
struct tare_child_end {
	int status; // exit status; -1: a signal ended it
	int signal; // that signal; 0: none
	// SIGINT, SIGQUIT, SIGTERM or SIGHUP that came meanwhile; 0: none
	int asked;
	// CPU time of the program and of all children that it waited for
	int64_t user_ns, system_ns;
	int64_t max_resident_bytes; // of the largest of them
};

// Starts arguments[0] (looked for in PATH as execvp(3) does) with `environment`. The program has
// the signal mask, dispositions, descriptors, folder and process group that tare has; it is killed
// when tare is killed. From then on signals sent to tare go to the program, except those that the
// terminal sends to both. Returns 0 once the program runs, or the negative errno of the exec (or of
// tare's own failure to start it: then *own is true) with a sentence.
int tare_child_start(char *const *arguments, char *const *environment, struct tare_child *launch,
                     bool *own, struct tare_error *error);

// Waits for the program's end; stops when it stops. Signals are no longer handed on afterwards.
// Returns 0, or a negative errno with a sentence.
int tare_child_wait(struct tare_child *launch, struct tare_child_end *end,
                    struct tare_error *error);

// Ends this process by the signal that ended the program, without a core file of its own. Returns
// only when that signal does not end it; then 128 + signal is the status to exit with.
int tare_launch_die_alike(const struct tare_child_end *end);
