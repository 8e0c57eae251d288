// SPDX-License-Identifier: Apache-2.0
#include "cli/command.h"
#include "cli/measure_command.h"
#include "cli/words.h"
#include "measure/bandwidth.h"

static int measure(struct tare_run *run, const void *context, struct tare_error *error)
{
	return tare_measure_bandwidth(run, context, error);
}

int tare_command_bandwidth(const struct tare_settings *settings, struct tare_error *error)
{
	struct tare_bandwidth_options options = {
		.from_bytes = settings->from_bytes,
		.to_bytes = settings->to_bytes,
	};

	if (settings->lines && tare_parse_lines(settings->lines, &options.lines, error) < 0)
		return tare_words_refuse("lines", settings->lines, error);
	return tare_measure_command(settings, TARE_NEED_BANDWIDTH, measure, &options, error);
}
