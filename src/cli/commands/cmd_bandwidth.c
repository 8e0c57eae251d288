// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/measure_command.h"
#include "cli/options/command.h"
#include "cli/options/words.h"
#include "measure/bandwidth/bandwidth.h"
#include "measure/bandwidth/cache.h"

#include <errno.h>

static int measure(struct tare_run *run, const void *context, struct tare_error *error)
{
	struct tare_error why = { 0 };
	int status = tare_measure_bandwidth(run, context, error);

	// tare report takes the best rates from there.
	if (status == 0 && tare_bandwidth_keep(run->result, &why) < 0 &&
	    tare_result_warn(run->result, "not-kept",
	                     "tare report will not say what share of them a program reaches",
	                     "the rates could not be kept for other commands: %s", why.message) < 0)
		status = tare_fail(error, ENOMEM, "out of memory");
	return status;
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
