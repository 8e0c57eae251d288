// SPDX-License-Identifier: Apache-2.0
#include "cli/options/option.h"

#include "base/units.h"

#include <assert.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_OPTIONS 64 // of a command

const char *tare_option_summary(const struct tare_option *option,
                                const struct tare_command *command, char *text, size_t size)
{
	char number[TARE_UNIT_TEXT] = "";

	if (option->value == TARE_VALUE_SECONDS && command->budget_ns > 0)
		snprintf(number, sizeof number, "%g", (double)command->budget_ns * 1e-9);
	snprintf(text, size, "%s%s%s%s", option->summary, number[0] ? " (default: " : "", number,
	         number[0] ? ")" : "");
	return text;
}

// ---- values

static int parse_number(const char *text, uint64_t *value, struct tare_error *error)
{
	char *end = NULL;

	errno = 0;
	*value = strtoull(text, &end, 0);
	if (text[0] < '0' || text[0] > '9' || *end || errno)
		return tare_fail(error, EINVAL, "'%s' is not a whole number", text);
	return 0;
}

static int need_value(const struct tare_option *option, const char *text, struct tare_error *error)
{
	return text[0] ? 0 : tare_fail(error, EINVAL, "needs a value (%s)", option->value_name);
}

static int add_text(struct tare_texts *texts, const struct tare_option *option, const char *text,
                    struct tare_error *error)
{
	// getopt takes what follows, be it another option.
	bool words = option->value == TARE_VALUE_WORDS;
	if (need_value(option,
	               !words                        ? text
	               : strncmp(text, "--", 2) == 0 ? ""
	                                             : "word",
	               error) < 0)
		return -EINVAL;
	if (texts->count == TARE_TEXTS)
		return tare_fail(error, EINVAL, "is given more than %d times", TARE_TEXTS);
	texts->at[texts->count++] = text;
	return 0;
}

static int set_value(struct tare_settings *settings, const struct tare_option *option,
                     const char *text, struct tare_error *error)
{
	char *member = (char *)settings + option->offset;
	int status = 0;

	switch (option->value) {
	case TARE_VALUE_NONE:
		*(int *)member = option->sets;
		break;
	case TARE_VALUE_OPTIONAL:
		status = text ? need_value(option, text, error) : 0;
		*(const char **)member = text ? text : "";
		break;
	case TARE_VALUE_DEVICE:
		settings->device_given = true;
		/* fall through */
	case TARE_VALUE_OUTPUT:
	case TARE_VALUE_TEXT:
	case TARE_VALUE_FILE:
		status = need_value(option, text, error);
		*(const char **)member = text;
		break;
	case TARE_VALUE_SECONDS:
		status = tare_parse_seconds(text, &settings->budget_ns, error);
		break;
	case TARE_VALUE_NUMBER:
		status = parse_number(text, &settings->seed, error);
		settings->seed_given = true;
		break;
	case TARE_VALUE_LIST:
	case TARE_VALUE_WORDS:
		status = add_text((struct tare_texts *)member, option, text, error);
		break;
	case TARE_VALUE_COUNT:
		status = parse_number(text, (uint64_t *)member, error);
		if (status == 0 && *(uint64_t *)member == 0)
			status = tare_fail(error, EINVAL, "must be at least 1");
		break;
	case TARE_VALUE_BYTES:
		status = tare_parse_bytes(text, (uint64_t *)member, error);
		if (status == 0 && *(uint64_t *)member == 0)
			status = tare_fail(error, EINVAL, "must be at least 1 byte");
		break;
	case TARE_VALUE_SIZES: {
		struct tare_byte_range *range = (struct tare_byte_range *)member;
		status = tare_parse_byte_range(text, &range->from, &range->to, error);
		break;
	}
	}
	if (status == 0)
		return TARE_EXIT_OK;
	tare_error_prefix(error, "--%s", option->name);
	return TARE_EXIT_USAGE;
}

// ---- the command line

static bool takes(const struct tare_command *command, enum tare_value value)
{
	const struct tare_option *option;

	for (size_t i = 0; (option = tare_command_option(command, i)); i++)
		if (option->value == value)
			return true;
	return false;
}

// getopt's own description of the options of `command`.
static void describe_options(const struct tare_command *command, struct option *longs, char *shorts)
{
	const struct tare_option *option;

	if (command->operand == TARE_OPERAND_PROGRAM)
		*shorts++ = '+'; // stops at the first operand
	*shorts++ = ':';
	for (size_t i = 0; (option = tare_command_option(command, i)); i++) {
		bool valued = option->value != TARE_VALUE_NONE;
		*longs++ = (struct option){ option->name,
			                    option->value == TARE_VALUE_OPTIONAL ? optional_argument
			                    : valued                             ? required_argument
			                                                         : no_argument,
			                    NULL, TARE_LONG_OPTION + (int)i };
		if (option->letter) {
			*shorts++ = option->letter;
			if (valued)
				*shorts++ = ':';
		}
	}
	*longs = (struct option){ 0 };
	*shorts = '\0';
}

static const struct tare_option *option_found(int found, const struct tare_command *command)
{
	const struct tare_option *option;

	for (size_t i = 0; (option = tare_command_option(command, i)); i++)
		if (found == TARE_LONG_OPTION + (int)i || (found > 0 && found == option->letter))
			return option;
	return NULL;
}

static int parse_operands(int argument_count, char **arguments, struct tare_settings *settings,
                          struct tare_error *error)
{
	const struct tare_command *command = settings->command;

	if (command->operand == TARE_OPERAND_PROGRAM) {
		if (optind < argument_count)
			settings->program = arguments + optind;
		else if (!settings->help)
			return tare_usage(error, "the program to run is missing: tare %s -- ./app",
			                  command->name);
		return TARE_EXIT_OK;
	}
	for (int i = optind; i < argument_count; i++) {
		if (settings->operand_count == command->operands_max)
			return tare_usage(error, "unexpected argument '%s'; see tare %s --help",
			                  arguments[i], command->name);
		settings->operands[settings->operand_count++] = arguments[i];
	}
	if (settings->operand_count < command->operands_min && !settings->help)
		return tare_usage(error, "%s is missing", command->operands);
	return TARE_EXIT_OK;
}

// Whether a word ends those of an option that takes several.
static bool ends_words(const struct tare_command *command, const char *word)
{
	const struct tare_option *option;

	if (word[0] != '-' || word[1] == '-')
		return word[0] == '-';
	for (size_t i = 0; (option = tare_command_option(command, i)); i++)
		if (option->letter && word[1] == option->letter && !word[2])
			return true;
	return false;
}

// The further words of an option that takes several.
static int take_words(int argument_count, char **arguments, const struct tare_option *option,
                      struct tare_settings *settings, struct tare_error *error)
{
	int status = TARE_EXIT_OK;

	while (status == TARE_EXIT_OK && option->value == TARE_VALUE_WORDS &&
	       optind < argument_count && !ends_words(settings->command, arguments[optind]))
		status = set_value(settings, option, arguments[optind++], error);
	return status;
}

static int parse_command(int argument_count, char **arguments, struct tare_settings *settings,
                         struct tare_error *error)
{
	struct option longs[MOST_OPTIONS + 1];
	char shorts[2 * MOST_OPTIONS + 3];
	int found, status;

	assert(!tare_command_option(settings->command, MOST_OPTIONS));
	describe_options(settings->command, longs, shorts);
	opterr = 0;
	optind = 0; // glibc: start anew
	while ((found = getopt_long(argument_count, arguments, shorts, longs, NULL)) != -1) {
		const struct tare_option *option = option_found(found, settings->command);
		if (found == '?' || found == ':' || !option)
			return tare_option_refuse(found, settings, arguments, error);
		// An empty word is one of the shell's own; "--options=" has none.
		bool none = option->value == TARE_VALUE_WORDS && !optarg[0] &&
		            optarg != arguments[optind - 1];
		status = set_value(settings, option, none ? "--" : optarg, error);
		if (status == TARE_EXIT_OK)
			status = take_words(argument_count, arguments, option, settings, error);
		if (status)
			return status;
	}
	return parse_operands(argument_count, arguments, settings, error);
}

// --ze-cpu before the command: it may be told for whatever follows. Returns whether it was there.
static int parse_before(const char *text, struct tare_settings *settings, bool *there,
                        struct tare_error *error)
{
	const char *const name = "--ze-cpu";
	size_t length = strlen(name);

	*there = text && strncmp(text, name, length) == 0 && (!text[length] || text[length] == '=');
	if (!*there)
		return TARE_EXIT_OK;
	if (text[length] && !text[length + 1])
		return tare_usage(error, "--ze-cpu: needs a value (SCRIPT) behind '='");
	settings->ze_cpu = text[length] ? text + length + 1 : "";
	return TARE_EXIT_OK;
}

int tare_settings_parse(const struct tare_command *const *commands, int argument_count,
                        char **arguments, struct tare_settings *settings, struct tare_error *error)
{
	const char *device = getenv("TARE_DEVICE");
	const char *first = argument_count > 1 ? arguments[1] : NULL;
	bool before;
	int status;

	*settings = (struct tare_settings){ .device = device && device[0] ? device : NULL,
		                            .commands = commands };
	status = parse_before(first, settings, &before, error);
	if (status != TARE_EXIT_OK)
		return status;
	if (before) {
		argument_count--;
		arguments++;
		first = argument_count > 1 ? arguments[1] : NULL;
	}
	if (!first || strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0) {
		settings->help = 1;
		return first ? TARE_EXIT_OK
		             : tare_usage(error, "a command is missing; see tare help");
	}
	if (strcmp(first, "--version") == 0 || strcmp(first, "-V") == 0) {
		settings->version = 1;
		return TARE_EXIT_OK;
	}
	settings->command = tare_command_find(commands, first);
	if (!settings->command)
		return tare_command_refuse(commands, first, error);
	if (before && !takes(settings->command, TARE_VALUE_OPTIONAL))
		return tare_usage(error, "%s takes no option '--ze-cpu'", settings->command->name);
	// The default is one of measuring.
	if (!takes(settings->command, TARE_VALUE_DEVICE))
		settings->device = NULL;
	status = parse_command(argument_count - 1, arguments + 1, settings, error);
	// A program may well end with 2 itself.
	return status != TARE_EXIT_OK && settings->command->operand == TARE_OPERAND_PROGRAM
	           ? TARE_EXIT_RECORD
	           : status;
}
