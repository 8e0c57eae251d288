// SPDX-License-Identifier: Apache-2.0
#include "cli/command.h"
#include "cli/measure_command.h"
#include "cli/suggest.h"
#include "measure/bandwidth.h"

#include <stdio.h>
#include <string.h>

static int measure(struct tare_run *run, const void *context, struct tare_error *error)
{
	return tare_measure_bandwidth(run, context, error);
}

// The first word of a list of lines that is none, when a line or group is near it; else keeps
// the sentence that names them all.
static int refuse_lines(const char *text, struct tare_error *error)
{
	char word[64];

	for (size_t length; *text; text += length + (text[length] == ',')) {
		struct tare_suggestion suggestion = { .wanted = word };
		length = strcspn(text, ",");
		snprintf(word, sizeof word, "%.*s", (int)length, text);
		for (size_t i = 0; i < TARE_LINE_COUNT; i++) {
			tare_suggestion_offer(&suggestion, tare_lines[i].name);
			tare_suggestion_offer(&suggestion, tare_lines[i].group);
		}
		if (suggestion.nearest && strcmp(suggestion.nearest, word) != 0)
			return tare_usage(error, "--lines: no line '%s'; did you mean '%s'?", word,
			                  suggestion.nearest);
	}
	tare_error_prefix(error, "--lines");
	return TARE_EXIT_USAGE;
}

int tare_command_bandwidth(const struct tare_settings *settings, struct tare_error *error)
{
	struct tare_bandwidth_options options = {
		.from_bytes = settings->from_bytes,
		.to_bytes = settings->to_bytes,
	};

	if (settings->lines && tare_parse_lines(settings->lines, &options.lines, error) < 0)
		return refuse_lines(settings->lines, error);
	return tare_measure_command(settings, TARE_NEED_BANDWIDTH, measure, &options, error);
}
