// SPDX-License-Identifier: Apache-2.0
// What is wrong with a command or an option, and what was probably meant.
#include "cli/options/option.h"
#include "cli/options/suggest.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

// `text` without dashes and value.
static void bare_name(const char *text, char *name, size_t size)
{
	text += strspn(text, "-");
	snprintf(name, size, "%.*s", (int)strcspn(text, "="), text);
}

static bool any_takes(const struct tare_command *const *commands, const char *name)
{
	const struct tare_option *option;

	for (; *commands; commands++)
		for (size_t i = 0; (option = tare_command_option(*commands, i)); i++)
			if (strcmp(option->name, name) == 0)
				return true;
	return false;
}

static int refuse_unknown(const struct tare_settings *settings, const char *text,
                          struct tare_error *error)
{
	const struct tare_command *command = settings->command;
	const struct tare_option *option;
	char name[64], list[256] = "";
	unsigned candidates = 0;

	bare_name(text, name, sizeof name);
	if (any_takes(settings->commands, name))
		return tare_usage(error, "%s takes no option '--%s'; see tare %s --help",
		                  command->name, name, command->name);
	struct tare_suggestion suggestion = { .wanted = name };
	for (size_t i = 0; (option = tare_command_option(command, i)); i++) {
		tare_suggestion_offer(&suggestion, option->name);
		if (name[0] && strncmp(option->name, name, strlen(name)) == 0) {
			size_t length = strlen(list);
			snprintf(list + length, sizeof list - length, "%s--%s",
			         candidates++ ? " or " : "", option->name);
		}
	}
	if (candidates > 1)
		return tare_usage(error, "'%s' could be %s", text, list);
	if (suggestion.nearest)
		return tare_usage(error, "unknown option '%s'; did you mean '--%s'?", text,
		                  suggestion.nearest);
	return tare_usage(error, "unknown option '%s'; see tare %s --help", text, command->name);
}

int tare_option_refuse(int found, const struct tare_settings *settings, char **arguments,
                       struct tare_error *error)
{
	char letter[] = { '-', (char)optopt, '\0' };
	const struct tare_option *option;

	for (size_t i = 0; (option = tare_command_option(settings->command, i)); i++) {
		if (optopt == 0 ||
		    (optopt != TARE_LONG_OPTION + (int)i && optopt != option->letter))
			continue;
		if (found == ':')
			return tare_usage(error, "--%s needs a value (%s)", option->name,
			                  option->value_name);
		return tare_usage(error, "--%s takes no value", option->name);
	}
	return refuse_unknown(settings, optopt ? letter : arguments[optind - 1], error);
}

int tare_command_refuse(const struct tare_command *const *commands, const char *name,
                        struct tare_error *error)
{
	struct tare_suggestion suggestion = { .wanted = name };

	for (; *commands; commands++)
		if (!(*commands)->hidden)
			tare_suggestion_offer(&suggestion, (*commands)->name);
	if (name[0] == '-')
		return tare_usage(
		    error, "unknown option '%s'; options follow the command: see tare help", name);
	if (suggestion.nearest)
		return tare_usage(error, "unknown command '%s'; did you mean '%s'?", name,
		                  suggestion.nearest);
	return tare_usage(error, "unknown command '%s'; see tare help", name);
}
