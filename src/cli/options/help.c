// SPDX-License-Identifier: Apache-2.0
// What the option table looks like to a person: --help, and OPTIONS in the man page.
#include "cli/options/commands.h"
#include "cli/options/groups.h"
#include "cli/options/suggest.h"

#include <stdio.h>
#include <string.h>

// Where the summaries begin, and where lines end.
#define INDENT 26
#define COLUMNS 80
// Bytes of the longest summary.
#define SUMMARY 256

// Writes words from column `at` on and breaks lines before COLUMNS.
static void write_wrapped(const char *text, size_t at, size_t indent, FILE *file)
{
	while (*text) {
		size_t length = strcspn(text, " ");
		if (at > indent && at + 1 + length > COLUMNS) {
			fprintf(file, "\n%*s", (int)indent, "");
			at = indent;
		} else if (at > indent) {
			fputc(' ', file);
			at++;
		}
		fwrite(text, 1, length, file);
		at += length;
		text += length;
		text += strspn(text, " ");
	}
	fputc('\n', file);
}

static void write_option(const struct tare_option *option, const struct tare_command *command,
                         FILE *file)
{
	char left[64], summary[SUMMARY];
	bool optional = option->value == TARE_VALUE_OPTIONAL;
	int length = snprintf(left, sizeof left, "  %c%c%s --%s%s%s%s", option->letter ? '-' : ' ',
	                      option->letter ? option->letter : ' ', option->letter ? "," : " ",
	                      option->name,
	                      optional             ? "[="
	                      : option->value_name ? " "
	                                           : "",
	                      option->value_name ? option->value_name : "", optional ? "]" : "");

	if (length >= INDENT - 1)
		fprintf(file, "%s\n%*s", left, INDENT, "");
	else
		fprintf(file, "%-*s", INDENT, left);
	write_wrapped(tare_option_summary(option, command, summary, sizeof summary), INDENT, INDENT,
	              file);
}

static void write_overview(const struct tare_command *const *commands, FILE *file)
{
	fputs("usage: tare COMMAND [OPTION]...\n\n"
	      "What offloading work to an accelerator really costs.\n\n",
	      file);
	for (; *commands; commands++)
		if (!(*commands)->hidden)
			fprintf(file, "  tare %-11s %s\n", (*commands)->name, (*commands)->summary);
	fputs("  tare --version   the version\n\n"
	      "tare --ze-cpu COMMAND gives it a Level Zero device on this CPU, for tests.\n"
	      "tare COMMAND --help lists its options; the manual is tare(1).\n",
	      file);
}

void tare_help_write(const struct tare_command *const *commands, const struct tare_command *command,
                     FILE *file)
{
	const struct tare_option *option;

	if (!command) {
		write_overview(commands, file);
		return;
	}
	fprintf(file, "usage: tare %s [OPTION]...%s%s\n\n", command->name,
	        command->operands[0] ? " " : "", command->operands);
	write_wrapped(command->description, 0, 0, file);
	fputc('\n', file);
	for (size_t i = 0; (option = tare_command_option(command, i)); i++)
		write_option(option, command, file);
}

// Text as scdoc takes it: its markup characters are escaped.
static void write_scdoc(const char *text, FILE *file)
{
	for (; *text; text++) {
		if (strchr("*_\\#", *text))
			fputc('\\', file);
		fputc(*text, file);
	}
}

void tare_man_options_write(const struct tare_command *command, FILE *file)
{
	const struct tare_option *option;
	char summary[SUMMARY];

	for (size_t i = 0; (option = tare_command_option(command, i)); i++) {
		if (option->letter)
			fprintf(file, "*-%c*, ", option->letter);
		fprintf(file, "*--%s*", option->name);
		if (option->value == TARE_VALUE_OPTIONAL)
			fprintf(file, "[=_%s_]", option->value_name);
		else if (option->value_name)
			fprintf(file, " _%s_", option->value_name);
		fputs("\n\t", file);
		write_scdoc(tare_option_summary(option, command, summary, sizeof summary), file);
		fputs(".", file);
		if (option->detail) {
			fputc(' ', file);
			write_scdoc(option->detail, file);
		}
		fputs("\n\n", file);
	}
}

static int run(const struct tare_settings *settings, struct tare_error *error)
{
	const char *name = settings->operand_count ? settings->operands[0] : NULL;
	const struct tare_command *command =
	    name ? tare_command_find(settings->commands, name) : NULL;
	struct tare_suggestion suggestion = { .wanted = name };

	if (!name || command) {
		tare_help_write(settings->commands, command, stdout);
		return TARE_EXIT_OK;
	}
	for (size_t i = 0; settings->commands[i]; i++)
		if (!settings->commands[i]->hidden)
			tare_suggestion_offer(&suggestion, settings->commands[i]->name);
	return tare_usage(error, "there is no command '%s'%s%s%s", name,
	                  suggestion.nearest ? "; did you mean '" : "",
	                  suggestion.nearest ? suggestion.nearest : "",
	                  suggestion.nearest ? "'?" : "");
}

const struct tare_command tare_help_command = {
	.name = "help",
	.operands = "[COMMAND]",
	.operand = TARE_OPERAND_COMMAND,
	.operands_max = 1,
	.summary = "this overview, or the options of a command",
	.description = "Prints the overview, or the options of one command.",
	.run = run,
	.options = { &tare_help_options },
};
