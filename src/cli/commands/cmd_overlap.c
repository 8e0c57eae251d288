// SPDX-License-Identifier: Apache-2.0
#include "base/units.h"
#include "cli/commands/measure_command.h"
#include "cli/devices/device_kernels.h"
#include "cli/options/commands.h"
#include "cli/options/groups.h"
#include "cli/options/words.h"
#include "measure/overlap/overlap.h"
#include "measure/overlap/user_kernel.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

// Of its own options.
struct overlap_settings {
	const char *bytes, *cycles, *chunks, *queues, *breaks, *loop, *item_bytes;
	struct tare_texts kernel_arguments;
	uint64_t align, group_size, groups; // 0: not said
};

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
	status = status ?: tare_measure_overlap(run, &options, &log, error);
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
	const struct overlap_settings *own = (const void *)settings->own;

	if (own->bytes && tare_parse_bytes(own->bytes, &options->bytes, error) < 0)
		return refuse("bytes", error);
	if (own->bytes && options->bytes == 0)
		return tare_usage(error, "--bytes: 0 bytes are no work");
	if (own->cycles && tare_parse_cycles(own->cycles, options, error) < 0)
		return refuse("cycles", error);
	if (own->chunks && tare_parse_chunks(own->chunks, options, error) < 0)
		return refuse("chunks", error);
	if (options->space.chunk_count == 1 && options->space.chunks[0] == 1)
		return tare_usage(error, "--chunks: one chunk has nothing to overlap with; take 2 "
		                         "or more");
	if (own->queues && tare_parse_queues(own->queues, options, error) < 0)
		return refuse("queues", error);
	options->breaks = TARE_OVERLAP_ALL_BREAKS;
	if (own->breaks && tare_parse_breaks(own->breaks, options, error) < 0)
		return tare_words_refuse(settings->command, "break", own->breaks, error);
	if (own->item_bytes && parse_item_bytes(own->item_bytes, options, error) < 0)
		return refuse("item-bytes", error);
	if (own->loop && tare_parse_loop(own->loop, options, error) < 0)
		return refuse("loop", error);
	if (own->groups > UINT32_MAX / 1024)
		return tare_usage(error, "--groups is too large");
	options->groups = (uint32_t)own->groups;
	return TARE_EXIT_OK;
}

// Options that only mean something with a kernel of the user's, or only without.
static int check_kernel(const struct tare_settings *settings, struct tare_error *error)
{
	const struct overlap_settings *own = (const void *)settings->own;
	const char *kernel_only = settings->entry               ? "entry"
	                          : own->kernel_arguments.count ? "arg"
	                          : settings->build_options     ? "build-options"
	                          : own->group_size             ? "group"
	                                                        : NULL;
	struct tare_user_argument argument;

	if (!settings->kernel && kernel_only)
		return tare_usage(error,
		                  "--%s is about a kernel of yours; name its file with "
		                  "--kernel",
		                  kernel_only);
	if (settings->kernel && (own->cycles || own->loop || own->groups))
		return tare_usage(error, "--%s is about tare's own loop, which --kernel replaces",
		                  own->cycles ? "cycles"
		                  : own->loop ? "loop"
		                              : "groups");
	for (size_t i = 0; i < own->kernel_arguments.count; i++)
		if (tare_user_argument_parse(own->kernel_arguments.at[i], &argument, error) < 0)
			return TARE_EXIT_USAGE;
	if (own->group_size > 65536 || own->align > UINT32_MAX)
		return tare_usage(error, "--%s is too large",
		                  own->group_size > 65536 ? "group" : "align");
	return TARE_EXIT_OK;
}

static void guard_build(const void *settings, bool begins)
{
	tare_build_guard(settings, begins);
}

static int run(const struct tare_settings *settings, struct tare_error *error)
{
	const struct overlap_settings *own = (const void *)settings->own;
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
	kernel->arguments = own->kernel_arguments.at;
	kernel->argument_count = own->kernel_arguments.count;
	kernel->align = own->align;
	kernel->group_size = (uint32_t)own->group_size;
	kernel->around_build = guard_build;
	kernel->around_context = settings;
	return tare_measure_command(settings, TARE_NEED_KERNELS, measure, &context, error);
}

static const struct tare_option own_options_rows[] = {
	{ .name = "bytes",
	  .value = TARE_VALUE_TEXT,
	  .value_name = "SIZE",
	  .summary = "bytes each way, such as 512M (default: 64M, less where memory is short)",
	  .offset = TARE_OWN_SETTING(struct overlap_settings, bytes) },
	{ .name = "cycles",
	  .value = TARE_VALUE_TEXT,
	  .value_name = "FROM..TO:STEP",
	  .summary = "turns of the kernel's loop (default: so that kernel : copy is 1/4 to 4)",
	  .offset = TARE_OWN_SETTING(struct overlap_settings, cycles) },
	{ .name = "chunks",
	  .value = TARE_VALUE_TEXT,
	  .value_name = "LIST",
	  .summary = "numbers of chunks to try, such as 8,16,32 or 1..256",
	  .offset = TARE_OWN_SETTING(struct overlap_settings, chunks) },
	{ .name = "queues",
	  .value = TARE_VALUE_TEXT,
	  .value_name = "LIST",
	  .summary = "numbers of queues to try, such as 1,2,4 or 1..8",
	  .offset = TARE_OWN_SETTING(struct overlap_settings, queues) },
	{ .name = "loop",
	  .value = TARE_VALUE_TEXT,
	  .value_name = "register|handbook|volatile",
	  .summary = "the loop of tare's own kernel (default: register)",
	  .detail = "handbook does what the CUDA Handbook's kernel does as NVIDIA's compiler "
	            "builds it: an "
	            "addition a turn, in a register. volatile: every turn goes through memory.",
	  .offset = TARE_OWN_SETTING(struct overlap_settings, loop),
	  .words = TARE_WORDS_LOOPS },
	{ .name = "break",
	  .value = TARE_VALUE_TEXT,
	  .value_name = "A,B,...",
	  .summary =
	      "which breaks of concurrency to try: default-queue, blocking, pageable, allocation, "
	      "lazy-loading, all, none (default: all)",
	  .offset = TARE_OWN_SETTING(struct overlap_settings, breaks),
	  .words = TARE_WORDS_BREAKS },
	{ .name = "kernel",
	  .letter = 'k',
	  .value = TARE_VALUE_FILE,
	  .value_name = "FILE",
	  .summary = "your own kernel instead of tare's loop; see KERNELS",
	  .offset = TARE_SETTING(kernel) },
	{ .name = "entry",
	  .value = TARE_VALUE_TEXT,
	  .value_name = "NAME",
	  .summary = "the kernel's name in FILE",
	  .offset = TARE_SETTING(entry) },
	{ .name = "arg",
	  .value = TARE_VALUE_LIST,
	  .value_name = "TYPE:VALUE",
	  .summary = "a further argument of the kernel, such as int:5, float:0.5 or local:1024; "
	             "repeat for more",
	  .offset = TARE_OWN_SETTING(struct overlap_settings, kernel_arguments) },
	{ .name = "item-bytes",
	  .value = TARE_VALUE_TEXT,
	  .value_name = "IN[,OUT]",
	  .summary = "bytes of an item of input and of output (default: 4,4)",
	  .offset = TARE_OWN_SETTING(struct overlap_settings, item_bytes) },
	{ .name = "align",
	  .value = TARE_VALUE_COUNT,
	  .value_name = "ITEMS",
	  .summary = "chunks begin at multiples of so many items (default: 1)",
	  .offset = TARE_OWN_SETTING(struct overlap_settings, align) },
	{ .name = "group",
	  .value = TARE_VALUE_COUNT,
	  .value_name = "ITEMS",
	  .summary = "work-items of a work-group of your kernel (default: what it prefers)",
	  .offset = TARE_OWN_SETTING(struct overlap_settings, group_size) },
	{ .name = "groups",
	  .value = TARE_VALUE_COUNT,
	  .value_name = "N",
	  .summary =
	      "work-groups of a launch of tare's own kernel, at most; few under-fill the device",
	  .offset = TARE_OWN_SETTING(struct overlap_settings, groups) },
};
static const struct tare_option_group own_options = TARE_OPTION_GROUP(own_options_rows);

const struct tare_command tare_overlap_command = {
	.name = "overlap",
	.operands = "",
	.summary = "would overlapping copies and kernels pay, and how",
	.description =
	    "Measures copies and kernels alone and beside each other, computes the bound that no "
	    "schedule can beat, searches for the best chunks and queues, and says whether it is "
	    "worth "
	    "it; with tare's own loop or with your kernel.",
	.run = run,
	.budget_ns = TARE_OVERLAP_BUDGET_NS,
	.options = { &tare_device_options, &tare_ze_cpu_options, &own_options, &tare_build_options,
	             &tare_peaks_options, &tare_measuring_options, &tare_writing_options,
	             &tare_quiet_options, &tare_verbose_options, &tare_help_options },
};
