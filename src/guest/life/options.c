// SPDX-License-Identifier: Apache-2.0
#include "guest/internal.h"

#include "guest/environment.h"
#include "tare_config.h"

#include <stdlib.h>
#include <string.h>

struct guest_options guest_options;

static uint64_t number_of(const char *text, size_t bytes)
{
	uint64_t number = 0;
	for (size_t i = 0; i < bytes; i++) {
		if (text[i] < '0' || text[i] > '9' || __builtin_mul_overflow(number, 10, &number) ||
		    __builtin_add_overflow(number, (uint64_t)(text[i] - '0'), &number))
			return 0;
	}
	return number;
}

// Whether `word` begins with `name`; then *value is what comes after.
static bool has_name(const char *word, size_t bytes, const char *name, const char **value)
{
	size_t length = strlen(name);
	*value = word + length;
	return bytes >= length && !strncmp(word, name, length);
}

static void read_word(const char *word, size_t bytes)
{
	const char *value;
	uint64_t number;
	if (bytes == strlen("strict") && has_name(word, bytes, "strict", &value))
		guest_options.strict = true;
	else if (bytes == strlen("count") && has_name(word, bytes, "count", &value))
		guest_options.count_only = true;
	else if (bytes == strlen("times=none") && has_name(word, bytes, "times=none", &value))
		guest_options.count_only = true;
	else if (bytes == strlen("times=sampled") && has_name(word, bytes, "times=sampled", &value))
		guest_options.may_sample = true;
	else if (bytes == strlen("stacks") && has_name(word, bytes, "stacks", &value))
		guest_options.call_stacks = true;
	else if (bytes == strlen("contents") && has_name(word, bytes, "contents", &value))
		guest_options.contents = TARE_HAVE_CONTENTS;
	else if (bytes == strlen("front") && has_name(word, bytes, "front", &value))
		guest_options.front = true;
	else if (bytes == strlen("keep=newest") && has_name(word, bytes, "keep=newest", &value))
		guest_options.keep_newest = true;
	else if (has_name(word, bytes, "max=", &value))
		guest_options.max_bytes = number_of(value, (size_t)(word + bytes - value));
	else {
		static const struct {
			const char *name;
			int64_t *to;
		} times[] = {
			{ "delay=", &guest_options.delay_ns },
			{ "duration=", &guest_options.duration_ns },
			{ "start=", &guest_options.start_raw_ns },
			{ "event=", &guest_options.event_ns },
		};
		for (size_t i = 0; i < sizeof times / sizeof *times; i++)
			if (has_name(word, bytes, times[i].name, &value)) {
				number = number_of(value, (size_t)(word + bytes - value));
				*times[i].to =
				    number > INT64_MAX / 2 ? INT64_MAX / 2 : (int64_t)number;
			}
	}
}

void guest_options_read(void)
{
	const char *directory = getenv(TARE_ENVIRONMENT_DIRECTORY);
	const char *words = getenv(TARE_ENVIRONMENT_OPTIONS);
	size_t bytes = directory ? strlen(directory) : 0;
	memset(&guest_options, 0, sizeof guest_options);
	// A relative path would mean another place after the program's chdir.
	if (!bytes || bytes >= sizeof guest_options.directory || directory[0] != '/')
		return;
	memcpy(guest_options.directory, directory, bytes + 1);
	while (words && *words) {
		size_t length = strcspn(words, ",");
		read_word(words, length);
		words += length + (words[length] == ',');
	}
}
