// SPDX-License-Identifier: Apache-2.0
#include "example.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void help(const char *about, const struct option *options, size_t count)
{
	printf("%s\n\n", about);
	for (size_t i = 0; i < count; i++) {
		const struct option *option = &options[i];

		printf("  %-11s %-5s %s", option->name, option->text ? "FILE" : "N", option->what);
		if (option->number)
			printf(", %zu to %zu", option->least, option->most);
		if (option->number && *option->number <= option->most)
			printf("; %zu if not given", *option->number);
		putchar('\n');
	}
	printf("  %-17s this text\n", "--help");
}

static bool number_of(const char *text, const struct option *option)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	unsigned long long value = strtoull(text, &end, 10);
	if (errno || *end || value < option->least || value > option->most)
		return false;
	*option->number = (size_t)value;
	return true;
}

static const struct option *option_named(const char *name, const struct option *options,
                                         size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(name, options[i].name) == 0)
			return &options[i];
	return NULL;
}

void read_options(int count, char **arguments, const char *about, const struct option *options,
                  size_t option_count)
{
	for (int i = 1; i < count; i += 2) {
		const struct option *option = option_named(arguments[i], options, option_count);

		if (strcmp(arguments[i], "--help") == 0) {
			help(about, options, option_count);
			exit(0);
		}
		if (option && option->text && i + 1 < count) {
			*option->text = arguments[i + 1];
			continue;
		}
		if (option && i + 1 < count && number_of(arguments[i + 1], option))
			continue;
		if (!option)
			fprintf(stderr, "there is no option '%s'; see --help\n", arguments[i]);
		else if (option->text)
			fprintf(stderr, "%s needs a value; see --help\n", option->name);
		else
			fprintf(stderr, "%s takes a number from %zu to %zu; see --help\n",
			        option->name, option->least, option->most);
		exit(2);
	}
}
