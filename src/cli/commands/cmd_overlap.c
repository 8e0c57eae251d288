// SPDX-License-Identifier: Apache-2.0
#include "base/units.h"
#include "cli/commands/measure_command.h"
#include "cli/devices/device_kernels.h"
#include "cli/options/command.h"
#include "cli/options/words.h"
#include "measure/overlap/overlap.h"
#include "measure/overlap/user_kernel.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct context {
	struct tare_overlap_options options;
	const char *peaks; // as on the command line
	bool warns;        // show what the compiler said of a kernel that it took
};

static int measure(struct tare_run *run, const void *context, struct tare_error *error)
{
	struct tare_overlap_options options = ((const struct context *)context)->options;
	const char *peaks = ((const struct context *)context)->peaks;
	char *log = NULL;
	int status = 0;

	if (run->result->device_count)
		status = tare_peaks_load(&run->result->devices[0], peaks, &options.peaks, error);
	if (status < 0)
		tare_error_prefix(error, "--peaks");
	if (status == 0)
		status = tare_measure_overlap(run, &options, &log, error);
	if (log && (status == -EINVAL || ((const struct context *)context)->warns))
		tare_print_build_log(log);
	free(log);
	return status;
}

static int refuse(const char *option, struct tare_error *error)
{
	tare_error_prefix(error, "--%s", option);
	return TARE_EXIT_USAGE;
}

// "8" or "8,4": an item of input and of output.
static int parse_item_bytes(const char *text, struct tare_overlap_options *options,
                            struct tare_error *error)
{
	char *end = NULL;
	unsigned long long in = strtoull(text, &end, 10), out = in;

	if (end != text && *end == ',') {
		text = end + 1;
		out = strtoull(text, &end, 10);
	}
	if (end == text || *end || text[0] < '0' || text[0] > '9' || in == 0 || out == 0 ||
	    in > 65536 || out > 65536)
		return tare_fail(error, EINVAL, "is IN or IN,OUT, each from 1 to 65536 bytes");
	options->in_bytes = options->kernel.in_bytes = in;
	options->out_bytes = options->kernel.out_bytes = out;
	return 0;
}

static int parse_lists(const struct tare_settings *settings, struct tare_overlap_options *options,
                       struct tare_error *error)
{
	if (settings->bytes && tare_parse_bytes(settings->bytes, &options->bytes, error) < 0)
		return refuse("bytes", error);
	if (settings->bytes && options->bytes == 0)
		return tare_usage(error, "--bytes: 0 bytes are no work");
	if (settings->cycles && tare_parse_cycles(settings->cycles, options, error) < 0)
		return refuse("cycles", error);
	if (settings->chunks && tare_parse_chunks(settings->chunks, options, error) < 0)
		return refuse("chunks", error);
	if (options->space.chunk_count == 1 && options->space.chunks[0] == 1)
		return tare_usage(error, "--chunks: one chunk has nothing to overlap with; take 2 "
		                         "or more");
	if (settings->queues && tare_parse_queues(settings->queues, options, error) < 0)
		return refuse("queues", error);
	options->breaks = TARE_OVERLAP_ALL_BREAKS;
	if (settings->breaks && tare_parse_breaks(settings->breaks, options, error) < 0)
		return tare_words_refuse("break", settings->breaks, error);
	if (settings->item_bytes && parse_item_bytes(settings->item_bytes, options, error) < 0)
		return refuse("item-bytes", error);
	if (settings->loop && tare_parse_loop(settings->loop, options, error) < 0)
		return refuse("loop", error);
	if (settings->groups > UINT32_MAX / 1024)
		return tare_usage(error, "--groups is too large");
	options->groups = (uint32_t)settings->groups;
	return TARE_EXIT_OK;
}

// Options that only mean something with a kernel of the user's, or only without.
static int check_kernel(const struct tare_settings *settings, struct tare_error *error)
{
	const char *kernel_only = settings->entry                    ? "entry"
	                          : settings->kernel_arguments.count ? "arg"
	                          : settings->build_options          ? "build-options"
	                          : settings->group_size             ? "group"
	                                                             : NULL;
	struct tare_user_argument argument;

	if (!settings->kernel && kernel_only)
		return tare_usage(error,
		                  "--%s is about a kernel of yours; name its file with "
		                  "--kernel",
		                  kernel_only);
	if (settings->kernel && (settings->cycles || settings->loop || settings->groups))
		return tare_usage(error, "--%s is about tare's own loop, which --kernel replaces",
		                  settings->cycles ? "cycles"
		                  : settings->loop ? "loop"
		                                   : "groups");
	for (size_t i = 0; i < settings->kernel_arguments.count; i++)
		if (tare_user_argument_parse(settings->kernel_arguments.at[i], &argument, error) <
		    0)
			return TARE_EXIT_USAGE;
	if (settings->group_size > 65536 || settings->align > UINT32_MAX)
		return tare_usage(error, "--%s is too large",
		                  settings->group_size > 65536 ? "group" : "align");
	return TARE_EXIT_OK;
}

static void guard_build(const void *settings, bool begins)
{
	tare_build_guard(settings, begins);
}

int tare_command_overlap(const struct tare_settings *settings, struct tare_error *error)
{
	struct context context = { .peaks = settings->peaks, .warns = settings->verbosity > 0 };
	struct tare_user_kernel *kernel = &context.options.kernel;
	int status = parse_lists(settings, &context.options, error);

	if (status == TARE_EXIT_OK)
		status = check_kernel(settings, error);
	if (status != TARE_EXIT_OK)
		return status;
	kernel->file = settings->kernel;
	kernel->entry = settings->entry;
	kernel->build_options = settings->build_options;
	kernel->arguments = settings->kernel_arguments.at;
	kernel->argument_count = settings->kernel_arguments.count;
	kernel->align = settings->align;
	kernel->group_size = (uint32_t)settings->group_size;
	kernel->around_build = guard_build;
	kernel->around_context = settings;
	return tare_measure_command(settings, TARE_NEED_KERNELS, measure, &context, error);
}
