// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/measure_command.h"
#include "cli/options/commands.h"
#include "cli/options/groups.h"
#include "cli/options/words.h"
#include "measure/bandwidth/bandwidth.h"
#include "measure/bandwidth/cache.h"

#include <errno.h>

// Of its own options.
struct bandwidth_settings {
	const char *lines; // NULL: all
	struct tare_byte_range sizes;
};

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

static int run(const struct tare_settings *settings, struct tare_error *error)
{
	const struct bandwidth_settings *own = (const void *)settings->own;
	struct tare_bandwidth_options options = {
		.from_bytes = own->sizes.from,
		.to_bytes = own->sizes.to,
	};

	if (own->lines && tare_parse_lines(own->lines, &options.lines, error) < 0)
		return tare_words_refuse(settings->command, "lines", own->lines, error);
	return tare_measure_command(settings, TARE_NEED_BANDWIDTH, measure, &options, error);
}

static const struct tare_option own_options_rows[] = {
	{ .name = "lines",
	  .letter = 'l',
	  .value = TARE_VALUE_TEXT,
	  .value_name = "A,B,...",
	  .summary = "which lines to measure; all for every one (default: most)",
	  .offset = TARE_OWN_SETTING(struct bandwidth_settings, lines),
	  .words = TARE_WORDS_LINES },
	{ .name = "engine",
	  .value = TARE_VALUE_TEXT,
	  .value_name = "ORDINAL[.INDEX]",
	  .summary = "engine that copies, where the API lets one choose (Level Zero; default: 0)",
	  .detail = "The ordinal of a queue group and the queue in it, as devices -v lists them. "
	            "Copies of both "
	            "directions at once are always on the copy engines, where there are any.",
	  .offset = TARE_SETTING(engine) },
	{ .name = "sizes",
	  .letter = 's',
	  .value = TARE_VALUE_SIZES,
	  .value_name = "FROM..TO",
	  .summary = "range of sizes, such as 8K..64M (default: 8K..1G)",
	  .detail =
	      "K, M and G are powers of 1024. What does not fit into memory is left out, and said.",
	  .offset = TARE_OWN_SETTING(struct bandwidth_settings, sizes) },
};
static const struct tare_option_group own_options = TARE_OPTION_GROUP(own_options_rows);

const struct tare_command tare_bandwidth_command = {
	.name = "bandwidth",
	.operands = "",
	.summary = "how fast bytes move, by kind of memory, direction and size",
	.description =
	    "Measures copies between kinds of memory over a range of sizes, on the device's clock "
	    "and on the host's, and verifies what arrived.",
	.run = run,
	.budget_ns = TARE_BANDWIDTH_BUDGET_NS,
	.options = { &tare_device_options, &tare_ze_cpu_options, &own_options,
	             &tare_measuring_options, &tare_writing_options, &tare_quiet_options,
	             &tare_verbose_options, &tare_help_options },
};
