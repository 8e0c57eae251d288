// SPDX-License-Identifier: Apache-2.0
// tare hotspots: records a program, runs it once more with counters for the kernels that matter,
// and says what bounds each.
#include "analysis/hotspots/collect.h"
#include "analysis/hotspots/refused.h"
#include "analysis/hotspots/samples.h"
#include "base/cleanup.h"
#include "base/units.h"
#include "cli/devices/device_counters.h"
#include "cli/options/commands.h"
#include "cli/options/groups.h"
#include "cli/run/hotspot_ceilings.h"
#include "cli/run/hotspot_instructions.h"
#include "cli/run/record_program.h"
#include "cli/run/report_view.h"
#include "cli/run/run_analysis.h"
#include "cli/terminal/output.h"
#include "cli/terminal/signals.h"
#include "cli/terminal/terminal.h"
#include "report/hotspots/counted_report.h"
#include "report/hotspots/hotspots.h"
#include "sample/sample.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Kernels with a verdict in full in the text; the page has all.
#define KERNELS_SHOWN 3
// Within the folder of the recording.
#define COUNTED "counted"
#define SAMPLED "sampled.tare"
// Microseconds between two samples of the device.
enum { SAMPLING_DEFAULT_US = 100, SAMPLING_LEAST_US = 5, SAMPLING_MOST_US = 1000000 };

struct own {
	const char *pattern;
	uint64_t top, a_group, interval_us;
	int replay, overlapping, timeline, one_run;
};

struct hotspots {
	const struct tare_settings *settings;
	const struct own *own;
	struct tare_recorded_program_end first, second;
	struct tare_recording *recorded, *counted;
	struct tare_analysis analysis;
	struct tare_collection collection;
	struct tare_sampling *sampling; // NULL: the device is not sampled
	struct tare_device_samples *samples;
	const struct sampled_api *sampled; // whose device is sampled; NULL: none
	bool sampling_failed;              // on the way; why was said
	off_t input;                       // where standard input was, a file; -1: it is none
};

static void say(const char *text)
{
	fprintf(stderr, "tare: hotspots: %s\n", text);
}

// ---- the device over time

// By whose counters a device is sampled, the first that has one here.
static const struct sampled_api {
	const char *backend, *title;
	// Why it refuses, by its error and the function; for free().
	char *(*refused)(uint32_t code, const char *function);
} sampled_apis[] = {
	{ "cuda", "CUDA", tare_counters_refused },
	{ "levelzero", "Level Zero", tare_metrics_refused },
};

static void say_why_not_sampled(const struct sampled_api *api, const struct tare_error *why)
{
	TARE_FREE char *refused = why->native && api && strcmp(why->api, "cuda") != 0
	                              ? api->refused((uint32_t)why->native, why->call)
	                              : NULL;
	char text[700];

	snprintf(text, sizeof text, "--timeline: n/a: %s", refused ? refused : why->message);
	say(text);
}

// Of ze_result_t: a driver is there, but does not begin when it is asked for metrics.
enum { DEPENDENCY_UNAVAILABLE = 0x70020000 };

static bool is_no_driver(int status, const struct tare_error *why)
{
	return (status == -ENOENT || status == -ENODEV || status == -ENOSYS) &&
	       why->native != DEPENDENCY_UNAVAILABLE;
}

static void begin_sampling(struct hotspots *h)
{
	uint64_t us = h->own->interval_us ? h->own->interval_us : SAMPLING_DEFAULT_US;
	struct tare_error first = { 0 }, why = { 0 };
	const struct sampled_api *at = sampled_apis;
	int64_t ready_ns = 0;
	char text[200], took[TARE_UNIT_TEXT];
	int status =
	    tare_sampling_begin(at->backend, 0, us * 1000, &h->sampling, &ready_ns, &first);

	// What a driver that is there says against it is the answer; a missing one is none.
	if (is_no_driver(status, &first)) {
		at++;
		status =
		    tare_sampling_begin(at->backend, 0, us * 1000, &h->sampling, &ready_ns, &why);
	}
	if (status < 0) {
		bool neither = at > sampled_apis && is_no_driver(status, &why);
		h->sampling = NULL;
		say_why_not_sampled(neither ? sampled_apis : at,
		                    neither || at == sampled_apis ? &first : &why);
		return;
	}
	h->sampled = at;
	snprintf(text, sizeof text,
	         "%s's device 0 is sampled every %" PRIu64 " us, whatever runs there; beginning "
	         "that took %s",
	         at->title, us, tare_format_ns((double)ready_ns, took));
	if (h->settings->verbosity >= 0)
		say(text);
}

// Once the program has ended; `ran`: and was recorded.
static void end_sampling(struct hotspots *h, bool ran)
{
	struct tare_sampling_end end = { 0 };
	struct tare_error why = { 0 };
	TARE_FREE char *folder = NULL;
	int status;

	if (!h->sampling)
		return;
	if (ran && asprintf(&folder, "%s/" SAMPLED, h->first.path) < 0)
		folder = NULL;
	status = tare_sampling_end(h->sampling, folder, &end, &why);
	h->sampling = NULL;
	h->sampling_failed = end.status < 0;
	if (h->sampling_failed)
		say_why_not_sampled(h->sampled, &end.error);
	if (status < 0)
		say(why.message);
}

static void load_samples(struct hotspots *h)
{
	struct tare_error why = { 0 };
	TARE_FREE char *folder = NULL;

	if (!h->own->timeline || asprintf(&folder, "%s/" SAMPLED, h->first.path) < 0)
		return;
	if (access(folder, F_OK) != 0)
		return;
	// Where sampling ended early there may be nothing to show, and the reason was said.
	if (tare_device_samples_load(folder, h->recorded, &h->samples, &why) < 0 &&
	    !h->sampling_failed)
		say_why_not_sampled(h->sampled, &why);
	h->collection.run.samples = h->samples;
}

// ---- the two runs

static int run_first(struct hotspots *h, struct tare_error *error)
{
	int status;

	struct tare_settings settings = *h->settings;
	char plan[64];

	// More launches a group than a short program has do no harm: time is what limits them.
	snprintf(plan, sizeof plan, "%" PRIu64 ",open=%" PRIu64,
	         h->own->a_group ? h->own->a_group : 1, h->own->top ? h->own->top : 10);
	if (h->own->one_run)
		settings.record.count = plan;
	if (h->own->timeline)
		begin_sampling(h);
	status = tare_record_program(&settings, true, &h->first, error);
	end_sampling(h, status == TARE_EXIT_OK && !h->first.joined);
	if (status != TARE_EXIT_OK)
		return status;
	if (h->first.joined)
		return TARE_EXIT_RECORD;
	if (tare_recording_load(h->first.path, &h->recorded, error) < 0)
		return TARE_EXIT_RECORD;
	return tare_analyse(h->settings, h->recorded, NULL, &h->analysis, error) == TARE_EXIT_OK
	           ? TARE_EXIT_OK
	           : TARE_EXIT_RECORD;
}

// The program reads its input again from where it stood; of a pipe nothing is left.
static void rewind_input(const struct hotspots *h)
{
	struct stat about;

	if (h->input >= 0)
		lseek(STDIN_FILENO, h->input, SEEK_SET);
	else if (fstat(STDIN_FILENO, &about) == 0 && S_ISFIFO(about.st_mode))
		say("the second run finds standard input, a pipe, at its end: name a file instead");
}

static int run_second(struct hotspots *h, struct tare_error *error)
{
	struct tare_settings again = *h->settings;
	struct tare_error why = { 0 };
	char *output;
	int status;

	if (asprintf(&output, "%s/" COUNTED, h->first.path) < 0)
		return tare_fail(error, ENOMEM, "out of memory");
	again.record.output = output;
	// Of Level Zero the times tell whether a counted launch had the device to itself.
	again.record.times = h->collection.levelzero ? NULL : "none";
	again.record.count = h->collection.plan;
	again.record.call_stacks = again.record.contents = again.record.calibrate = 0;
	again.force = 1;
	again.verbosity = -1;
	rewind_input(h);
	status = tare_record_program(&again, true, &h->second, &why);
	if (status == TARE_EXIT_OK)
		status = tare_recording_load(h->second.path, &h->counted, &why);
	free(output);
	if (status != TARE_EXIT_OK)
		return tare_fail(error, EIO, "the second run: %s", why.message);
	if (h->second.end.signal != h->first.end.signal ||
	    h->second.end.status != h->first.end.status)
		say("the second run ended otherwise than the first: the figures may be of another "
		    "work");
	return tare_collection_count(&h->collection, h->counted, error);
}

// ---- what is said

static void say_counted(const struct hotspots *h)
{
	const struct tare_counted_run *run = &h->collection.run;
	uint64_t launches = 0;
	char recorded[TARE_UNIT_TEXT], counted[TARE_UNIT_TEXT], spent[TARE_UNIT_TEXT], text[512];

	if (run->device.no_counters) // why is said below
		return;
	for (size_t i = 0; i < run->kernel_count; i++)
		launches += run->kernels[i].counted_launches;
	if (h->own->one_run)
		snprintf(
		    text, sizeof text,
		    "the program ran once, in %s, with %" PRIu64
		    " launches counted, in which its threads spent %s, work before them included: "
		    "that is in its times; how often kernels would be launched, and which wait for "
		    "each other, was not known then",
		    tare_format_ns((double)run->recorded_wall_ns, recorded), launches,
		    tare_format_ns((double)run->counting_ns, spent));
	else
		snprintf(
		    text, sizeof text,
		    "the program ran twice: recorded in %s, then in %s with %" PRIu64
		    " launches counted, in which its threads spent %s, work before them included",
		    tare_format_ns((double)run->recorded_wall_ns, recorded),
		    tare_format_ns((double)run->counted_wall_ns, counted), launches,
		    tare_format_ns((double)run->counting_ns, spent));
	if (h->settings->verbosity >= 0)
		say(text);
	if (h->settings->verbosity >= 0 && h->collection.levelzero)
		say("of a Level Zero device L2 stands for the last cache (Intel's L3)");
	if (h->collection.left_by_own)
		say("the program began to count by itself: nothing was counted from then on");
	if (h->collection.failed == 0)
		return;
	snprintf(text, sizeof text,
	         "%" PRIu64 " launches could not be counted: %.100s, error %" PRIu32,
	         h->collection.failed, h->collection.failed_at, h->collection.failed_code);
	say(text);
}

static int write_format(enum tare_format format, const void *document, FILE *file,
                        struct tare_error *error)
{
	return format == TARE_FORMAT_HTML ? tare_report_hotspots_page(document, file, error)
	                                  : tare_report_hotspots_json(document, file, error);
}

// Verdicts first; every figure for who wants them.
static int write_text(const struct hotspots *h, FILE *file, struct tare_error *error)
{
	struct tare_text_options options = tare_terminal_text_options(h->settings->verbosity);
	const struct tare_counted_run *run = &h->collection.run;
	int status = tare_report_hotspots_text(run, KERNELS_SHOWN, &options, file, error);

	if (status == 0 && h->settings->verbosity > 0)
		status = tare_report_counted_text(run, &options, file, error);
	return status;
}

// Ceilings measured here, of the device that was counted. A file that was named must be of it.
static int find_ceilings(struct hotspots *h, struct tare_error *error)
{
	struct tare_counted_device *device = &h->collection.run.device;
	const char *uuid = "";
	char origin[256], text[300];

	if (!device->name || (device->no_counters && !h->collection.run.by_instructions))
		return 0;
	for (size_t i = 0; i < h->recorded->device_count; i++)
		if (h->recorded->devices[i].name == device->name)
			uuid = h->recorded->devices[i].uuid;
	if (tare_hotspot_ceilings_find(uuid, h->settings->peaks, device, origin, error) < 0)
		return tare_error_prefix(error, "--peaks");
	snprintf(text, sizeof text, "ceilings: %s", origin);
	if (h->settings->verbosity >= 0)
		say(text);
	return 0;
}

static int report(struct hotspots *h, struct tare_error *error)
{
	struct tare_outputs outputs;
	int status;

	tare_signals_install(false);
	status = tare_outputs_open(h->settings, &outputs, error);
	if (status != TARE_EXIT_OK)
		return status;
	status = tare_outputs_write_with(&outputs, write_format, &h->collection.run, error);
	if (status == TARE_EXIT_OK && !tare_outputs_take_stdout(&outputs)) {
		if (write_text(h, stdout, error) < 0)
			status = TARE_EXIT_FAILED;
		tare_outputs_print_paths(&outputs, stdout);
		if (status == TARE_EXIT_OK)
			status = tare_stdout_finish(error);
	}
	tare_outputs_close(&outputs);
	return status;
}

// The program would find no driver in its second run.
static int refuse_metrics(struct tare_collection *collection, struct tare_error *error)
{
	collection->reason = tare_metrics_refused(DEPENDENCY_UNAVAILABLE, NULL);
	collection->run.device.no_counters = collection->reason;
	return collection->reason ? 0 : tare_fail(error, ENOMEM, "out of memory");
}

// Where there are no counters, but code that can be counted: two runs more. What goes wrong there
// is said, and the table of times remains.
static void count_instructions(struct hotspots *h)
{
	struct tare_counted_run *run = &h->collection.run;
	struct tare_hotspot_instructions counted;
	struct tare_error why = { 0 };
	char recorded[TARE_UNIT_TEXT], plain[TARE_UNIT_TEXT], with[TARE_UNIT_TEXT], text[400];

	if (!run->device.no_counters || !run->kernel_count || h->first.end.signal ||
	    !tare_instructions_may(h->recorded))
		return;
	rewind_input(h);
	if (tare_hotspot_instructions_count(h->settings->program, h->own->pattern, &h->collection,
	                                    &counted, &why) < 0) {
		snprintf(text, sizeof text, "instructions were not counted: %.300s", why.message);
		say(text);
		return;
	}
	run->counted_wall_ns = (uint64_t)counted.counted_ns;
	snprintf(text, sizeof text,
	         "there are no counters, so instructions were counted: the program ran %s "
	         "times, recorded in %s, its kernels' code noted in %s, counted in %s, the last "
	         "two without its output",
	         h->second.path[0] ? "four" : "three",
	         tare_format_ns((double)run->recorded_wall_ns, recorded),
	         tare_format_ns((double)counted.plain_ns, plain),
	         tare_format_ns((double)counted.counted_ns, with));
	if (h->settings->verbosity >= 0)
		say(text);
	if (counted.end.signal != h->first.end.signal || counted.end.status != h->first.end.status)
		say("the counted run ended otherwise than the recorded one: the figures may be of "
		    "another work");
}

// What the one run has counted; where there are no counters, its times alone.
static int count_one_run(struct hotspots *h, struct tare_error *error)
{
	struct tare_counted_device *device = &h->collection.run.device;

	if (!device->no_counters && h->collection.levelzero)
		device->no_counters = "--one-run counts CUDA's kernels only; without it the "
		                      "program runs twice";
	if (!device->no_counters && tare_collection_count(&h->collection, h->recorded, error) < 0)
		return TARE_EXIT_RECORD;
	h->collection.run.counted_wall_ns = 0; // there was no other run
	say_counted(h);
	return find_ceilings(h, error) < 0 ? TARE_EXIT_RECORD : report(h, error);
}

// Graphs have names of their own.
static bool is_matched(const struct tare_counted_run *run, const char *pattern)
{
	for (size_t i = 0; i < run->kernel_count; i++)
		if (fnmatch(pattern, run->kernels[i].name, 0) == 0)
			return true;
	return false;
}

static int work(struct hotspots *h, struct tare_error *error)
{
	struct tare_collect_options options = {
		.pattern = h->own->pattern,
		.top = h->own->top ? (uint32_t)h->own->top : 10,
		.a_group = (uint32_t)h->own->a_group,
		.replay = h->own->replay,
		.overlapping = h->own->overlapping,
		.counted = h->own->one_run,
	};
	int status;

	if (tare_collection_choose(h->recorded, &h->analysis.tables, &options, &h->collection,
	                           error) < 0)
		return TARE_EXIT_RECORD;
	if (options.pattern && !is_matched(&h->collection.run, options.pattern) &&
	    tare_kernel_pattern_check(options.pattern, h->recorded, error) != TARE_EXIT_OK)
		return TARE_EXIT_RECORD;
	load_samples(h);
	if (h->own->one_run)
		return count_one_run(h, error);
	if (h->collection.plan && h->first.end.signal) {
		say("a signal ended the program: it is not run again");
	} else if (h->collection.plan && h->collection.levelzero && !tare_device_counters_begin()) {
		if (refuse_metrics(&h->collection, error) < 0)
			return TARE_EXIT_RECORD;
	} else if (h->collection.plan) {
		if (run_second(h, error) < 0)
			return TARE_EXIT_RECORD;
		say_counted(h);
	}
	count_instructions(h);
	if (find_ceilings(h, error) < 0)
		return TARE_EXIT_RECORD;
	status = report(h, error);
	return status;
}

static int run(const struct tare_settings *settings, struct tare_error *error)
{
	const struct own *own = (const void *)settings->own;
	struct hotspots h = { .settings = settings,
		              .own = own,
		              .input = lseek(STDIN_FILENO, 0, SEEK_CUR) };
	int status;

	if (settings->record.strict || settings->record.times)
		return tare_usage(error, "--times and --strict are not for hotspots, which needs "
		                         "the times of all kernels");
	if (own->one_run && (own->pattern || own->replay || own->overlapping))
		return tare_usage(error, "--one-run chooses kernels by itself: --kernel, --replay "
		                         "and --overlapping take the usual two runs");
	if (own->interval_us && (!own->timeline || own->interval_us < SAMPLING_LEAST_US ||
	                         own->interval_us > SAMPLING_MOST_US))
		return tare_usage(
		    error, "--sampling-interval takes %d to %d microseconds, with --timeline",
		    SAMPLING_LEAST_US, SAMPLING_MOST_US);
	status = run_first(&h, error);
	if (status == TARE_EXIT_OK)
		status = work(&h, error);
	tare_collection_free(&h.collection);
	tare_analysis_free(&h.analysis);
	tare_recording_free(h.recorded);
	tare_recording_free(h.counted);
	free(h.samples);
	// What the program did is what the caller asks about; else what tare could not do.
	if (status != TARE_EXIT_OK && !h.first.end.signal && h.first.end.status == 0)
		return status == TARE_EXIT_FAILED ? TARE_EXIT_RECORD : status;
	return h.first.path[0] ? tare_record_status(&h.first) : status;
}

static const struct tare_option own_options_rows[] = {
	{ .name = "kernel",
	  .letter = 'k',
	  .value = TARE_VALUE_TEXT,
	  .value_name = "PATTERN",
	  .summary = "only kernels whose names match, such as 'step*'",
	  .offset = TARE_OWN_SETTING(struct own, pattern) },
	{ .name = "top",
	  .value = TARE_VALUE_COUNT,
	  .value_name = "N",
	  .summary = "count at most so many kernels, from the longest on (default: 10)",
	  .offset = TARE_OWN_SETTING(struct own, top) },
	{ .name = "launches",
	  .value = TARE_VALUE_COUNT,
	  .value_name = "N",
	  .summary = "count so many launches a kernel and group of counters (default: 1 to 3)",
	  .detail = "Each takes 20 to 30 ms, and there are five groups on most devices. The "
	            "default is as many as "
	            "slow the program by less than 3 s or 30 %, but one.",
	  .offset = TARE_OWN_SETTING(struct own, a_group) },
	{ .name = "replay",
	  .value = TARE_VALUE_NONE,
	  .summary = "run kernels several times that have too few launches",
	  .detail =
	      "The driver saves and restores the memory that the kernel writes. Its writes to "
	      "device memory and its cache hits are not those of a single launch.",
	  .offset = TARE_OWN_SETTING(struct own, replay),
	  .sets = 1 },
	{ .name = "overlapping",
	  .value = TARE_VALUE_NONE,
	  .summary = "count kernels, too, that ran beside those of another queue",
	  .detail = "One that waits for another kernel waits for ever, for counted launches run "
	            "alone.",
	  .offset = TARE_OWN_SETTING(struct own, overlapping),
	  .sets = 1 },
	{ .name = "one-run",
	  .value = TARE_VALUE_NONE,
	  .summary = "run the program once (CUDA): choose kernels and count them as it goes",
	  .detail = "Counting is then in the recorded times. Kernels that wait for each other are "
	            "not known beforehand: one may wait for ever.",
	  .offset = TARE_OWN_SETTING(struct own, one_run),
	  .sets = 1 },
	{ .name = "timeline",
	  .value = TARE_VALUE_NONE,
	  .summary = "sample the device's counters over time while the program is recorded",
	  .detail =
	      "Cores active, instructions, device memory, PCIe and NVLink, of all that runs on "
	      "CUDA's device 0, or without CUDA on Level Zero's, in a process of tare's own.",
	  .offset = TARE_OWN_SETTING(struct own, timeline),
	  .sets = 1 },
	{ .name = "sampling-interval",
	  .value = TARE_VALUE_COUNT,
	  .value_name = "US",
	  .summary = "microseconds between two samples (default: 100)",
	  .offset = TARE_OWN_SETTING(struct own, interval_us) },
	{ .name = "html",
	  .value = TARE_VALUE_OUTPUT,
	  .value_name = "FILE",
	  .summary = "write one self-contained page: roofline, memory hierarchies, verdicts",
	  .offset = TARE_SETTING(html) },
	{ .name = "json",
	  .value = TARE_VALUE_OUTPUT,
	  .value_name = "FILE",
	  .summary = "write every figure as JSON ('-': to standard output, behind the program's)",
	  .offset = TARE_SETTING(json) },
};
static const struct tare_option_group own_options = TARE_OPTION_GROUP(own_options_rows);

const struct tare_command tare_hotspots_command = {
	.name = "hotspots",
	.operands = "-- PROGRAM [ARGUMENTS]",
	.operand = TARE_OPERAND_PROGRAM,
	.summary = "what each kernel is bound by, from hardware counters",
	.description =
	    "Runs your program twice: recorded as by tare record, then with hardware counters for "
	    "a few launches of the kernels that took longest. The program's output comes twice; "
	    "the "
	    "exit status is that of the first run. Of a device of OpenCL's or Level Zero's without "
	    "counters instructions are counted instead.",
	.run = run,
	.options = { &tare_ze_cpu_options, &own_options, &tare_peaks_options,
	             &tare_recording_options, &tare_recording_more_options, &tare_quiet_options,
	             &tare_verbose_options, &tare_help_options },
};
