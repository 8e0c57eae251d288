// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal/progress.h"

#include "cli/terminal/terminal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Redrawing costs time on the machine that is being measured.
#define REDRAW_NS INT64_C(200000000)
#define LATE_NS INT64_C(1000000000)

void tare_progress_start(struct tare_progress *progress, const char *command, bool wanted)
{
	const char *terminal = getenv("TERM");
	*progress = (struct tare_progress){
		.enabled =
		    wanted && isatty(STDERR_FILENO) && !(terminal && strcmp(terminal, "dumb") == 0),
		.command = command,
	};
}

void tare_progress_start_late(struct tare_progress *progress, const char *command, bool wanted)
{
	tare_progress_start(progress, command, wanted);
	progress->begun = tare_host_now();
	progress->hold_ns = LATE_NS;
}

// Cuts text to at most `columns` characters of UTF-8, never inside one.
static void cut(char *text, unsigned columns)
{
	unsigned column = 0;

	for (; *text; text++) {
		bool begins = ((unsigned char)*text & 0xc0) != 0x80;
		if (begins && column++ == columns) {
			*text = '\0';
			return;
		}
	}
}

const char *tare_progress_text(const char *command, const char *what, size_t cells, size_t total,
                               int64_t remaining_ns, unsigned columns, char *text, size_t size)
{
	char left[32] = "";
	int64_t seconds = (remaining_ns + 999999999) / 1000000000;

	if (remaining_ns >= 0)
		snprintf(left, sizeof left, ", %lld:%02lld left", (long long)(seconds / 60),
		         (long long)(seconds % 60));
	if (total == 0)
		snprintf(text, size, "%s: %s", command, what ? what : "");
	else
		snprintf(text, size, "%s: %zu of %zu%s: %s", command, cells, total, left,
		         what ? what : "");
	// The last column stays free: some terminals wrap when it is written.
	cut(text, columns > 1 ? columns - 1 : 1);
	return text;
}

void tare_progress_update(void *context, const char *what, size_t cells, size_t total,
                          int64_t remaining_ns)
{
	struct tare_progress *progress = context;
	struct tare_host_time now = tare_host_now();
	char text[256];

	if (!progress->enabled ||
	    (progress->hold_ns && tare_host_elapsed_ns(progress->begun, now) < progress->hold_ns) ||
	    (progress->drawn && tare_host_elapsed_ns(progress->last, now) < REDRAW_NS))
		return;
	tare_progress_text(progress->command, what, cells, total, remaining_ns,
	                   tare_terminal_columns(STDERR_FILENO), text, sizeof text);
	fprintf(stderr, "\r\033[K%s", text);
	fflush(stderr);
	progress->drawn = true;
	progress->last = now;
}

void tare_progress_clear(struct tare_progress *progress)
{
	if (progress->drawn) {
		fputs("\r\033[K", stderr);
		fflush(stderr);
	}
	progress->drawn = false;
}
