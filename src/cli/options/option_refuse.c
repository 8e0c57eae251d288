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

static int refuse_unknown(const struct tare_command *command, const char *text,
                          struct tare_error *error)
{
	char name[64], list[256] = "";
	unsigned candidates = 0;

	bare_name(text, name, sizeof name);
	struct tare_suggestion suggestion = { .wanted = name };
	for (size_t i = 0; i < tare_option_count; i++) {
		const struct tare_option *option = &tare_options[i];
		if (!tare_option_applies(option, command)) {
			if (strcmp(option->name, name) == 0)
				return tare_usage(error, "%s takes no option '--%s'", command->name,
				                  name);
			continue;
		}
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

int tare_option_refuse(int found, const struct tare_command *command, char **arguments,
                       struct tare_error *error)
{
	char letter[] = { '-', (char)optopt, '\0' };

	for (size_t i = 0; i < tare_option_count; i++) {
		const struct tare_option *option = &tare_options[i];
		bool long_form = optopt == 256 + (int)i;
		if (!long_form && (optopt == 0 || optopt != option->letter ||
		                   !tare_option_applies(option, command)))
			continue;
		if (found == ':')
			return tare_usage(error, "--%s needs a value (%s)", option->name,
			                  option->value_name);
		return tare_usage(error, "--%s takes no value", option->name);
	}
	return refuse_unknown(command, optopt ? letter : arguments[optind - 1], error);
}

int tare_command_refuse(const char *name, struct tare_error *error)
{
	struct tare_suggestion suggestion = { .wanted = name };

	for (size_t i = 0; i < TARE_COMMAND_COUNT; i++)
		if (!tare_commands[i].hidden)
			tare_suggestion_offer(&suggestion, tare_commands[i].name);
	if (name[0] == '-')
		return tare_usage(
		    error, "unknown option '%s'; options follow the command: see tare help", name);
	if (suggestion.nearest)
		return tare_usage(error, "unknown command '%s'; did you mean '%s'?", name,
		                  suggestion.nearest);
	return tare_usage(error, "unknown command '%s'; see tare help", name);
}
