// SPDX-License-Identifier: Apache-2.0
#include "cli/options/option.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

int tare_usage(struct tare_error *error, const char *format, ...)
{
	va_list arguments;

	*error = (struct tare_error){ .code = -EINVAL };
	va_start(arguments, format);
	vsnprintf(error->message, sizeof error->message, format, arguments);
	va_end(arguments);
	return TARE_EXIT_USAGE;
}

const struct tare_option *tare_command_option(const struct tare_command *command, size_t i)
{
	for (size_t g = 0; g < TARE_OPTION_GROUPS && command->options[g]; g++) {
		if (i < command->options[g]->count)
			return &command->options[g]->at[i];
		i -= command->options[g]->count;
	}
	return NULL;
}

const struct tare_command *tare_command_find(const struct tare_command *const *commands,
                                             const char *name)
{
	for (; *commands; commands++)
		if (strcmp((*commands)->name, name) == 0)
			return *commands;
	return NULL;
}
