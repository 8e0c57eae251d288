// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal/signals.h"

#include "base/interrupt.h"

#include <stddef.h>
#include <unistd.h>

volatile sig_atomic_t tare_interrupted;

static const char *volatile unfinished[4];
static volatile sig_atomic_t first_is_noted;

#define UNFINISHED_MAX (sizeof unfinished / sizeof *unfinished)

void tare_signals_clean_up(void)
{
	for (size_t i = 0; i < UNFINISHED_MAX; i++)
		if (unfinished[i])
			unlink(unfinished[i]);
}

static void interrupt(int signal_number)
{
	if (first_is_noted && !tare_interrupted) {
		tare_interrupted = 1;
		tare_interrupt_note();
		return;
	}
	tare_signals_clean_up();
	// Ends the way the signal would have, so that a shell sees it.
	signal(signal_number, SIG_DFL);
	raise(signal_number);
}

void tare_signals_install(bool note_first)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction action = { .sa_handler = interrupt, .sa_flags = SA_RESTART };

	first_is_noted = note_first;
	tare_interrupt_watch(note_first ? &tare_interrupted : NULL);
	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
		struct sigaction before;
		// Under nohup and in background jobs a signal may be ignored: it stays so.
		if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler == SIG_IGN)
			continue;
		sigaction(numbers[i], &action, NULL);
	}
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
}

void tare_signals_remove_at_end(const char *path)
{
	for (size_t i = 0; i < UNFINISHED_MAX; i++)
		if (!unfinished[i]) {
			unfinished[i] = path;
			return;
		}
}

void tare_signals_keep(const char *path)
{
	for (size_t i = 0; i < UNFINISHED_MAX; i++)
		if (unfinished[i] == path)
			unfinished[i] = NULL;
}
