// SPDX-License-Identifier: Apache-2.0
#include "base/room.h"
#include "cli/commands/table.h"
#include "cli/devices/ze_cpu.h"
#include "cli/options/option.h"
#include "cli/terminal/output.h"

#include <locale.h>
#include <stdio.h>
#include <unistd.h>

// "tare: bandwidth: sentence"
static void say(const struct tare_command *command, const struct tare_error *error)
{
	if (error->message[0])
		fprintf(stderr, "tare: %s%s%s\n", command ? command->name : "", command ? ": " : "",
		        error->message);
}

static int run(struct tare_settings *settings, struct tare_error *error)
{
	int status;

	if (settings->version)
		puts("tare " TARE_VERSION);
	else if (settings->help)
		tare_help_write(tare_commands, settings->command, stdout);
	else {
		status = tare_ze_cpu_use(settings, error);
		if (status != TARE_EXIT_OK)
			return settings->program ? TARE_EXIT_RECORD : status;
		status = settings->command->run(settings, error);
		if (status != TARE_EXIT_OK)
			return status;
	}
	return tare_stdout_finish(error);
}

int main(int argument_count, char **arguments)
{
	struct tare_settings settings;
	struct tare_error error = { 0 };
	int status;

	// What is freed of a large array goes back at once, however large those freed before were.
	tare_return_large_arrays();
	// Only the character set: numbers keep their decimal point.
	setlocale(LC_CTYPE, "");
	status = tare_settings_parse(tare_commands, argument_count, arguments, &settings, &error);
	if (status == TARE_EXIT_OK)
		status = run(&settings, &error);
	if (status != TARE_EXIT_OK)
		say(settings.command, &error);
	// A driver may still be at what nobody waits for any longer: its end must not come in
	// between.
	if (status == TARE_EXIT_INTERRUPTED) {
		fflush(NULL);
		_exit(status);
	}
	return status;
}
