// SPDX-License-Identifier: Apache-2.0
#include "cli/options/groups.h"

static const struct tare_option tare_device_options_rows[] = {
	{ .name = "device",
	  .letter = 'd',
	  .value = TARE_VALUE_DEVICE,
	  .value_name = "WHAT",
	  .summary = "which device: number, opencl:0, simulated, part of a name or PCI address; "
	             "several: all, "
	             "cuda:all, cuda:0,cuda:1",
	  .detail =
	      "The number is the one that tare devices prints. An API's name alone stands for that "
	      "API's "
	      "best device, simulated:SCRIPT for the device that a script describes. The default "
	      "is "
	      "$TARE_DEVICE, or else the best device: a GPU before an accelerator before a CPU, "
	      "seen "
	      "through CUDA before Level Zero before OpenCL. The simulated device is never chosen "
	      "unasked. Several devices are measured one after the other, and bandwidth measures "
	      "them "
	      "together as well; --budget is for all of that. all stands for every device once, "
	      "under "
	      "the first API that can measure it.",
	  .offset = TARE_SETTING(device) },
};
const struct tare_option_group tare_device_options = TARE_OPTION_GROUP(tare_device_options_rows);

static const struct tare_option tare_ze_cpu_options_rows[] = {
	{ .name = "ze-cpu",
	  .value = TARE_VALUE_OPTIONAL,
	  .value_name = "SCRIPT",
	  .summary = "through Level Zero on this CPU, with tare's own driver for tests",
	  .detail = "With SCRIPT its timestamps and costs are those of the device that the script "
	            "describes. It "
	            "may also stand before the command. The default device is then levelzero. "
	            "Figures of the "
	            "CPU itself mean nothing.",
	  .offset = TARE_SETTING(ze_cpu) },
};
const struct tare_option_group tare_ze_cpu_options = TARE_OPTION_GROUP(tare_ze_cpu_options_rows);

static const struct tare_option tare_build_options_rows[] = {
	{ .name = "build-options",
	  .value = TARE_VALUE_TEXT,
	  .value_name = "TEXT",
	  .summary = "options for building your kernel, in the API's own words",
	  .offset = TARE_SETTING(build_options) },
};
const struct tare_option_group tare_build_options = TARE_OPTION_GROUP(tare_build_options_rows);

static const struct tare_option tare_peaks_options_rows[] = {
	{ .name = "peaks",
	  .value = TARE_VALUE_TEXT,
	  .value_name = "FILE|none",
	  .summary = "measured ceilings from this result of peak (default: the last one kept)",
	  .offset = TARE_SETTING(peaks),
	  .words = TARE_WORDS_PEAKS },
};
const struct tare_option_group tare_peaks_options = TARE_OPTION_GROUP(tare_peaks_options_rows);

static const struct tare_option tare_measuring_options_rows[] = {
	{ .name = "budget",
	  .letter = 'b',
	  .value = TARE_VALUE_SECONDS,
	  .value_name = "SECONDS",
	  .summary = "about how long to measure",
	  .detail =
	      "Each figure is measured until its median is known to 1 % or its share of the budget "
	      "is "
	      "used up; the latter is reported as not converged, with the budget that would do.",
	  .offset = TARE_SETTING(budget_ns) },
	{ .name = "seed",
	  .value = TARE_VALUE_NUMBER,
	  .value_name = "N",
	  .summary = "order in which the figures are measured (default: another one each time)",
	  .detail = "The seed is part of the result. On the simulated device the default is 1.",
	  .offset = TARE_SETTING(seed) },
};
const struct tare_option_group tare_measuring_options =
    TARE_OPTION_GROUP(tare_measuring_options_rows);

static const struct tare_option tare_recording_options_rows[] = {
	{ .name = "output",
	  .letter = 'o',
	  .value = TARE_VALUE_FILE,
	  .value_name = "DIR",
	  .summary = "folder for the trace (default: PROGRAM.tare, here)",
	  .detail = "A name that does not end in .tare gets it. The folder is made; one that is "
	            "empty is used.",
	  .offset = TARE_SETTING(record.output) },
	{ .name = "force",
	  .letter = 'f',
	  .value = TARE_VALUE_NONE,
	  .summary = "replace the trace that is there",
	  .detail = "What tare record and its recorders wrote is removed, once the program has "
	            "started; other "
	            "files in the folder stay. A folder without a trace of tare is never touched.",
	  .offset = TARE_SETTING(force),
	  .sets = 1 },
	{ .name = "strict",
	  .value = TARE_VALUE_NONE,
	  .summary = "change nothing in the program",
	  .detail = "Then only queues that the program made with profiling have device times.",
	  .offset = TARE_SETTING(record.strict),
	  .sets = 1 },
	{ .name = "max-size",
	  .value = TARE_VALUE_BYTES,
	  .value_name = "SIZE",
	  .summary = "most bytes of one process's file, such as 500M (default: no limit)",
	  .offset = TARE_SETTING(record.max_bytes) },
	{ .name = "keep",
	  .value = TARE_VALUE_TEXT,
	  .value_name = "newest|oldest",
	  .summary = "what to keep when that is reached (default: oldest)",
	  .detail =
	      "oldest stops recording, newest overwrites what is oldest. What is lost is counted.",
	  .offset = TARE_SETTING(record.keep),
	  .words = TARE_WORDS_KEEP },
	{ .name = "times",
	  .value = TARE_VALUE_TEXT,
	  .value_name = "all|sampled|none",
	  .summary = "which commands get device times (default: sampled)",
	  .detail =
	      "sampled: every command, until that costs more than 5 % of the run so far; from then "
	      "on a random "
	      "sample, by which the rest is estimated. All are counted. none adds no profiling.",
	  .offset = TARE_SETTING(record.times),
	  .words = TARE_WORDS_TIMES },
};
const struct tare_option_group tare_recording_options =
    TARE_OPTION_GROUP(tare_recording_options_rows);

static const struct tare_option tare_recording_time_options_rows[] = {
	{ .name = "delay",
	  .value = TARE_VALUE_TEXT,
	  .value_name = "SECONDS",
	  .summary = "record only from so long after the start (default: at once)",
	  .offset = TARE_SETTING(record.delay) },
	{ .name = "duration",
	  .value = TARE_VALUE_TEXT,
	  .value_name = "SECONDS",
	  .summary = "and only for so long (default: to the end)",
	  .offset = TARE_SETTING(record.duration) },
};
const struct tare_option_group tare_recording_time_options =
    TARE_OPTION_GROUP(tare_recording_time_options_rows);

static const struct tare_option tare_recording_more_options_rows[] = {
	{ .name = "call-stacks",
	  .value = TARE_VALUE_NONE,
	  .summary = "record from where in the program commands were issued",
	  .detail = "Costs more for each command; the report says how much.",
	  .offset = TARE_SETTING(record.call_stacks),
	  .sets = 1 },
	{ .name = "no-cupti",
	  .value = TARE_VALUE_NONE,
	  .summary = "record CUDA programs without CUPTI",
	  .detail = "Calls and counts by a library that is put in front of the driver, no device "
	            "times. Where CUPTI is not found, "
	            "that is done anyway.",
	  .offset = TARE_SETTING(record.no_cupti),
	  .sets = 1 },
	{ .name = "contents",
	  .value = TARE_VALUE_NONE,
	  .summary = "compare what transfers carry: are the same bytes moved again?",
	  .detail = "Hashes them, for a fifth of the run at most; the report says how much.",
	  .offset = TARE_SETTING(record.contents),
	  .sets = 1 },
};
const struct tare_option_group tare_recording_more_options =
    TARE_OPTION_GROUP(tare_recording_more_options_rows);

static const struct tare_option tare_viewing_options_rows[] = {
	{ .name = "process",
	  .letter = 'p',
	  .value = TARE_VALUE_TEXT,
	  .value_name = "WHAT",
	  .summary = "only this process: its number in the report, its pid or its program's name",
	  .offset = TARE_SETTING(process) },
	{ .name = "device",
	  .letter = 'd',
	  .value = TARE_VALUE_TEXT,
	  .value_name = "WHAT",
	  .summary = "only this device: its number in the report, or a part of its name",
	  .offset = TARE_SETTING(device) },
	{ .name = "kernel",
	  .letter = 'k',
	  .value = TARE_VALUE_TEXT,
	  .value_name = "PATTERN",
	  .summary = "only kernels whose names match, such as 'step*'",
	  .detail =
	      "A pattern as the shell has them: * ? [...]. Transfers and other commands stay.",
	  .offset = TARE_SETTING(task) },
	{ .name = "from",
	  .value = TARE_VALUE_TEXT,
	  .value_name = "TIME",
	  .summary = "only from so many seconds into the run on, or from a part of it, such as 10%",
	  .offset = TARE_SETTING(from) },
	{ .name = "to",
	  .value = TARE_VALUE_TEXT,
	  .value_name = "TIME",
	  .summary = "only until then, such as 2.5 or 90%",
	  .offset = TARE_SETTING(to) },
	{ .name = "phase",
	  .value = TARE_VALUE_TEXT,
	  .value_name = "PATTERN",
	  .summary = "only while a phase that the program marks is open, such as 'step*'",
	  .detail =
	      "Phases come from ITT, NVTX or tare's own two calls; a domain goes before a slash.",
	  .offset = TARE_SETTING(phase) },
};
const struct tare_option_group tare_viewing_options = TARE_OPTION_GROUP(tare_viewing_options_rows);

static const struct tare_option tare_reporting_options_rows[] = {
	{ .name = "page-size",
	  .value = TARE_VALUE_BYTES,
	  .value_name = "SIZE",
	  .summary = "most bytes of timeline in the page (default: 40M)",
	  .detail = "What is left out then is said on the page.",
	  .offset = TARE_SETTING(page_bytes) },
	{ .name = "html",
	  .value = TARE_VALUE_OUTPUT,
	  .value_name = "FILE",
	  .summary = "write one self-contained page with a timeline",
	  .offset = TARE_SETTING(html) },
	{ .name = "json",
	  .value = TARE_VALUE_OUTPUT,
	  .value_name = "FILE",
	  .summary = "write the report as JSON",
	  .detail = "FILE may be - for standard output; then the text report is left out. A file "
	            "that is there "
	            "already is replaced only when the new one is complete.",
	  .offset = TARE_SETTING(json) },
	{ .name = "quiet",
	  .letter = 'q',
	  .value = TARE_VALUE_NONE,
	  .summary = "only the head, where the time went, and what to change",
	  .offset = TARE_SETTING(verbosity),
	  .sets = -1 },
};
const struct tare_option_group tare_reporting_options =
    TARE_OPTION_GROUP(tare_reporting_options_rows);

static const struct tare_option tare_writing_options_rows[] = {
	{ .name = "json",
	  .value = TARE_VALUE_OUTPUT,
	  .value_name = "FILE",
	  .summary = "write the result as JSON, with every sample",
	  .detail = "FILE may be - for standard output; then the text report is left out. A file "
	            "that is there "
	            "already is replaced only when the new one is complete. The same goes for "
	            "--csv and --html.",
	  .offset = TARE_SETTING(json) },
	{ .name = "csv",
	  .value = TARE_VALUE_OUTPUT,
	  .value_name = "FILE",
	  .summary = "write the figures as CSV, one row each",
	  .offset = TARE_SETTING(csv) },
	{ .name = "html",
	  .value = TARE_VALUE_OUTPUT,
	  .value_name = "FILE",
	  .summary = "write one self-contained page with charts",
	  .offset = TARE_SETTING(html) },
};
const struct tare_option_group tare_writing_options = TARE_OPTION_GROUP(tare_writing_options_rows);

static const struct tare_option tare_quiet_options_rows[] = {
	{ .name = "quiet",
	  .letter = 'q',
	  .value = TARE_VALUE_NONE,
	  .summary = "no progress, no hints, only what was asked for",
	  .offset = TARE_SETTING(verbosity),
	  .sets = -1 },
};
const struct tare_option_group tare_quiet_options = TARE_OPTION_GROUP(tare_quiet_options_rows);

static const struct tare_option tare_verbose_options_rows[] = {
	{ .name = "verbose",
	  .letter = 'v',
	  .value = TARE_VALUE_NONE,
	  .summary = "every fact with its origin, every figure with its method",
	  .offset = TARE_SETTING(verbosity),
	  .sets = 1 },
};
const struct tare_option_group tare_verbose_options = TARE_OPTION_GROUP(tare_verbose_options_rows);

static const struct tare_option tare_help_options_rows[] = {
	{ .name = "help",
	  .letter = 'h',
	  .value = TARE_VALUE_NONE,
	  .summary = "print this help",
	  .offset = TARE_SETTING(help),
	  .sets = 1 },
};
const struct tare_option_group tare_help_options = TARE_OPTION_GROUP(tare_help_options_rows);
