// SPDX-License-Identifier: Apache-2.0
#include "cli/options/option.h"

#include "base/units.h"
#include "cli/options/command.h"
#include "measure/bandwidth/bandwidth.h"
#include "measure/checkup/checkup.h"
#include "measure/latency/latency.h"
#include "measure/matmul/matmul.h"
#include "measure/overlap/overlap.h"
#include "measure/peak/peak.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BIT(command) (1u << TARE_COMMAND_##command)
#define MEASURING                                                                                  \
	(BIT(LATENCY) | BIT(BANDWIDTH) | BIT(PEAK) | BIT(MATMUL) | BIT(OVERLAP) | BIT(CHECKUP))
#define RECORDING (BIT(RECORD) | BIT(RUN))
#define REPORTING (BIT(REPORT) | BIT(RUN))
#define VIEWING (REPORTING | BIT(EXPORT))
#define TRACING (RECORDING | VIEWING)
#define WRITING (MEASURING | BIT(DEVICES) | BIT(RENDER))
#define EVERY (WRITING | TRACING | BIT(HELP) | BIT(DESCRIBE))
#define MEMBER(name) offsetof(struct tare_settings, name)

// clang-format off
const struct tare_command tare_commands[TARE_COMMAND_COUNT] = {
	[TARE_COMMAND_DEVICES] = {
		"devices", "", 0, 0, false, "what devices there are, their clocks and their ceilings",
		"Lists every device of every API: what it is, how its clock ticks, what it could do on "
		"paper. A device seen through two APIs is listed once. APIs that gave no device say why.",
		tare_command_devices },
	[TARE_COMMAND_LATENCY] = {
		"latency", "", 0, 0, false, "what a launch, a wait, a timestamp, a 1-byte copy cost",
		"Measures the fixed costs of a device: the floor of its timestamps, an empty launch, the "
		"way from launch to start, waiting, a 1-byte copy each way, events and callbacks.",
		tare_command_latency, TARE_LATENCY_BUDGET_NS },
	[TARE_COMMAND_BANDWIDTH] = {
		"bandwidth", "", 0, 0, false, "how fast bytes move, by kind of memory, direction and size",
		"Measures copies between kinds of memory over a range of sizes, on the device's clock "
		"and on the host's, and verifies what arrived.",
		tare_command_bandwidth, TARE_BANDWIDTH_BUDGET_NS },
	[TARE_COMMAND_PEAK] = {
		"peak", "", 0, 0, false, "what the device can really reach: FLOP/s, memory, caches",
		"Measures ceilings: multiply-add and integer rates by type and vector width, device memory "
		"read, written, copied and strided, working sets that show the caches, local memory. The "
		"result is kept, so that other commands can say how far they are from it.",
		tare_command_peak, TARE_PEAK_BUDGET_NS },
	[TARE_COMMAND_MATMUL] = {
		"matmul", "", 0, 0, false, "a matrix product from naive to fast, how far from the limit",
		"Climbs a ladder of matrix products, from one launch an element to the vendor's library, "
		"beside the host's own, and keeps apart what building, copying, launching and computing "
		"took. Every product is verified.",
		tare_command_matmul, TARE_MATMUL_BUDGET_NS },
	[TARE_COMMAND_OVERLAP] = {
		"overlap", "", 0, 0, false, "would overlapping copies and kernels pay, and how",
		"Measures copies and kernels alone and beside each other, computes the bound that no "
		"schedule can beat, searches for the best chunks and queues, and says whether it is worth "
		"it; with tare's own loop or with your kernel.",
		tare_command_overlap, TARE_OVERLAP_BUDGET_NS },
	[TARE_COMMAND_CHECKUP] = {
		"checkup", "", 0, 0, false, "all of these in one go, as one page",
		"Runs devices, latency, bandwidth, peak, matmul and overlap within one budget and writes "
		"one text, one page, one JSON.",
		tare_command_checkup, TARE_CHECKUP_BUDGET_NS },
	[TARE_COMMAND_RECORD] = {
		"record", "-- PROGRAM [ARGUMENTS]", 0, 0, false, "runs your program and records what it does with its devices",
		"Runs an unmodified program and records every call, kernel and transfer into a folder that "
		"tare report reads. The program's output, exit status and results stay its own.",
		tare_command_record },
	[TARE_COMMAND_REPORT] = {
		"report", "[DIR.tare]", 0, 1, false, "where the time of a recorded program went",
		"Reads what tare record wrote and says where the time went: the ledger, the kernels, the "
		"transfers, the calls, and what bounds the run. Without DIR: the newest trace here.",
		tare_command_report },
	[TARE_COMMAND_RUN] = {
		"run", "-- PROGRAM [ARGUMENTS]", 0, 0, false, "record and report in one go",
		"Runs your program as tare record does and then reports as tare report does. The exit "
		"status is the program's.",
		tare_command_run },
	[TARE_COMMAND_EXPORT] = {
		"export", "[DIR.tare]", 0, 1, false, "a recorded run for Perfetto, SQLite or as CSV",
		"Writes what tare record wrote for other tools. Without DIR: the newest trace here.",
		tare_command_export },
	[TARE_COMMAND_RENDER] = {
		"render", "FILE.json", 1, 1, false, "a saved result again, as text, page or CSV",
		"Reads a result that --json wrote and writes it again: as text, or as what the options "
		"ask for.",
		tare_command_render },
	[TARE_COMMAND_HELP] = {
		"help", "[COMMAND]", 0, 1, false, "this overview, or the options of a command",
		"Prints the overview, or the options of one command.",
		tare_command_help },
	[TARE_COMMAND_DESCRIBE] = {
		"describe", "WHAT [COMMAND]", 1, 2, true, "the option table, for completions and man pages",
		"Writes what the build makes from the option table: the completion script for bash, zsh "
		"or fish, the OPTIONS of a man page (man COMMAND), or its LINES (lines).",
		tare_command_describe },
};

const struct tare_option tare_options[] = {
	{ "device", 'd', TARE_VALUE_DEVICE, "WHAT", MEASURING | BIT(DEVICES),
	  "which device: number, opencl:0, simulated, part of a name or PCI address; several: all, "
	  "cuda:all, cuda:0,cuda:1",
	  "The number is the one that tare devices prints. An API's name alone stands for that API's "
	  "best device, simulated:SCRIPT for the device that a script describes. The default is "
	  "$TARE_DEVICE, or else the best device: a GPU before an accelerator before a CPU, seen "
	  "through CUDA before Level Zero before OpenCL. The simulated device is never chosen "
	  "unasked. Several devices are measured one after the other, and bandwidth measures them "
	  "together as well; --budget is for all of that. all stands for every device once, under "
	  "the first API that can measure it.",
	  MEMBER(device), 0 },
	{ "ze-cpu", 0, TARE_VALUE_OPTIONAL, "SCRIPT", MEASURING | BIT(DEVICES) | RECORDING,
	  "through Level Zero on this CPU, with tare's own driver for tests",
	  "With SCRIPT its timestamps and costs are those of the device that the script describes. It "
	  "may also stand before the command. The default device is then levelzero. Figures of the "
	  "CPU itself mean nothing.",
	  MEMBER(ze_cpu), 0 },
	{ "lines", 'l', TARE_VALUE_TEXT, "A,B,...", BIT(BANDWIDTH),
	  "which lines to measure; all for every one (default: most)", NULL, MEMBER(lines), 0, TARE_WORDS_LINES },
	{ "engine", 0, TARE_VALUE_TEXT, "ORDINAL[.INDEX]", BIT(BANDWIDTH),
	  "engine that copies, where the API lets one choose (Level Zero; default: 0)",
	  "The ordinal of a queue group and the queue in it, as devices -v lists them. Copies of both "
	  "directions at once are always on the copy engines, where there are any.",
	  MEMBER(engine), 0 },
	{ "sizes", 's', TARE_VALUE_SIZES, "FROM..TO", BIT(BANDWIDTH),
	  "range of sizes, such as 8K..64M (default: 8K..1G)",
	  "K, M and G are powers of 1024. What does not fit into memory is left out, and said.",
	  MEMBER(from_bytes), 0 },
	{ "n", 'n', TARE_VALUE_TEXT, "LIST", BIT(MATMUL),
	  "sizes of the matrices, such as 256,1000 or 32..2048 (default: 32..2048)",
	  "A range stands for the powers of two in it.", MEMBER(n), 0 },
	{ "rungs", 'r', TARE_VALUE_TEXT, "A,B,...", BIT(MATMUL),
	  "which rungs of the ladder (default: all)", NULL, MEMBER(rungs), 0, TARE_WORDS_RUNGS },
	{ "bytes", 0, TARE_VALUE_TEXT, "SIZE", BIT(OVERLAP),
	  "bytes each way, such as 512M (default: 64M, less where memory is short)", NULL,
	  MEMBER(bytes), 0 },
	{ "cycles", 0, TARE_VALUE_TEXT, "FROM..TO:STEP", BIT(OVERLAP),
	  "turns of the kernel's loop (default: so that kernel : copy is 1/4 to 4)", NULL,
	  MEMBER(cycles), 0 },
	{ "chunks", 0, TARE_VALUE_TEXT, "LIST", BIT(OVERLAP),
	  "numbers of chunks to try, such as 8,16,32 or 1..256", NULL, MEMBER(chunks), 0 },
	{ "queues", 0, TARE_VALUE_TEXT, "LIST", BIT(OVERLAP),
	  "numbers of queues to try, such as 1,2,4 or 1..8", NULL, MEMBER(queues), 0 },
	{ "loop", 0, TARE_VALUE_TEXT, "register|handbook|volatile", BIT(OVERLAP),
	  "the loop of tare's own kernel (default: register)",
	  "handbook does what the CUDA Handbook's kernel does as NVIDIA's compiler builds it: an "
	  "addition a turn, in a register. volatile: every turn goes through memory.", MEMBER(loop), 0,
	  TARE_WORDS_LOOPS },
	{ "break", 0, TARE_VALUE_TEXT, "A,B,...", BIT(OVERLAP),
	  "which breaks of concurrency to try: default-queue, blocking, pageable, allocation, "
	  "lazy-loading, all, none (default: all)",
	  NULL, MEMBER(breaks), 0, TARE_WORDS_BREAKS },
	{ "kernel", 'k', TARE_VALUE_FILE, "FILE", BIT(OVERLAP),
	  "your own kernel instead of tare's loop; see KERNELS", NULL, MEMBER(kernel), 0 },
	{ "entry", 0, TARE_VALUE_TEXT, "NAME", BIT(OVERLAP), "the kernel's name in FILE", NULL,
	  MEMBER(entry), 0 },
	{ "arg", 0, TARE_VALUE_LIST, "TYPE:VALUE", BIT(OVERLAP),
	  "a further argument of the kernel, such as int:5, float:0.5 or local:1024; repeat for more",
	  NULL, MEMBER(kernel_arguments), 0 },
	{ "item-bytes", 0, TARE_VALUE_TEXT, "IN[,OUT]", BIT(OVERLAP),
	  "bytes of an item of input and of output (default: 4,4)", NULL, MEMBER(item_bytes), 0 },
	{ "align", 0, TARE_VALUE_COUNT, "ITEMS", BIT(OVERLAP),
	  "chunks begin at multiples of so many items (default: 1)", NULL, MEMBER(align), 0 },
	{ "group", 0, TARE_VALUE_COUNT, "ITEMS", BIT(OVERLAP),
	  "work-items of a work-group of your kernel (default: what it prefers)", NULL,
	  MEMBER(group_size), 0 },
	{ "groups", 0, TARE_VALUE_COUNT, "N", BIT(OVERLAP),
	  "work-groups of a launch of tare's own kernel, at most; few under-fill the device",
	  NULL, MEMBER(groups), 0 },
	{ "kernel", 'k', TARE_VALUE_FILE, "FILE", BIT(DEVICES),
	  "build this file for each device and say what the driver tells of its kernels",
	  "FILE is .spv, .cl, .ptx or .cu; nothing of it is run. A build log is shown.", MEMBER(kernel),
	  0 },
	{ "entry", 0, TARE_VALUE_TEXT, "NAME", BIT(DEVICES),
	  "only this kernel of FILE (default: all)", NULL, MEMBER(entry), 0 },
	{ "build-options", 0, TARE_VALUE_TEXT, "TEXT", BIT(OVERLAP) | BIT(DEVICES),
	  "options for building your kernel, in the API's own words", NULL, MEMBER(build_options), 0 },
	{ "peaks", 0, TARE_VALUE_TEXT, "FILE|none", BIT(MATMUL) | BIT(OVERLAP),
	  "measured ceilings from this result of peak (default: the last one kept)", NULL,
	  MEMBER(peaks), 0, TARE_WORDS_PEAKS },
	{ "budget", 'b', TARE_VALUE_SECONDS, "SECONDS", MEASURING,
	  "about how long to measure",
	  "Each figure is measured until its median is known to 1 % or its share of the budget is "
	  "used up; the latter is reported as not converged, with the budget that would do.",
	  MEMBER(budget_ns), 0 },
	{ "seed", 0, TARE_VALUE_NUMBER, "N", MEASURING,
	  "order in which the figures are measured (default: another one each time)",
	  "The seed is part of the result. On the simulated device the default is 1.",
	  MEMBER(seed), 0 },
	{ "output", 'o', TARE_VALUE_FILE, "DIR", RECORDING,
	  "folder for the trace (default: PROGRAM.tare, here)",
	  "A name that does not end in .tare gets it. The folder is made; one that is empty is used.",
	  MEMBER(output), 0 },
	{ "force", 'f', TARE_VALUE_NONE, NULL, RECORDING, "replace the trace that is there",
	  "What tare record and its recorders wrote is removed, once the program has started; other "
	  "files in the folder stay. A folder without a trace of tare is never touched.",
	  MEMBER(force), 1 },
	{ "force", 'f', TARE_VALUE_NONE, NULL, BIT(EXPORT), "replace files that are there already",
	  "In a folder for CSV the tables are replaced; other files in it stay.", MEMBER(force), 1 },
	{ "strict", 0, TARE_VALUE_NONE, NULL, RECORDING, "change nothing in the program",
	  "Then only queues that the program made with profiling have device times.", MEMBER(strict),
	  1 },
	{ "max-size", 0, TARE_VALUE_BYTES, "SIZE", RECORDING,
	  "most bytes of one process's file, such as 500M (default: no limit)", NULL,
	  MEMBER(max_bytes), 0 },
	{ "keep", 0, TARE_VALUE_TEXT, "newest|oldest", RECORDING,
	  "what to keep when that is reached (default: oldest)",
	  "oldest stops recording, newest overwrites what is oldest. What is lost is counted.",
	  MEMBER(keep), 0, TARE_WORDS_KEEP },
	{ "times", 0, TARE_VALUE_TEXT, "all|sampled|none", RECORDING,
	  "which commands get device times (default: sampled)",
	  "sampled: every command, until that costs more than 5 % of the run so far; from then on a random "
	  "sample, by which the rest is estimated. All are counted. none adds no profiling.",
	  MEMBER(times), 0, TARE_WORDS_TIMES },
	{ "calibrate", 0, TARE_VALUE_NONE, NULL, BIT(RECORD),
	  "measure what recording costs: run the program unrecorded, too",
	  "First once to warm up, then in 5 pairs with and without recording (fewer, but 2, when these "
	  "take a minute), without standard output; last recorded as ever.",
	  MEMBER(calibrate), 1 },
	{ "delay", 0, TARE_VALUE_TEXT, "SECONDS", RECORDING,
	  "record only from so long after the start (default: at once)", NULL, MEMBER(delay), 0 },
	{ "duration", 0, TARE_VALUE_TEXT, "SECONDS", RECORDING,
	  "and only for so long (default: to the end)", NULL, MEMBER(duration), 0 },
	{ "process", 'p', TARE_VALUE_TEXT, "WHAT", VIEWING,
	  "only this process: its number in the report, its pid or its program's name", NULL,
	  MEMBER(process), 0 },
	{ "device", 'd', TARE_VALUE_TEXT, "WHAT", VIEWING,
	  "only this device: its number in the report, or a part of its name", NULL, MEMBER(device),
	  0 },
	{ "kernel", 'k', TARE_VALUE_TEXT, "PATTERN", VIEWING,
	  "only kernels whose names match, such as 'step*'",
	  "A pattern as the shell has them: * ? [...]. Transfers and other commands stay.",
	  MEMBER(task), 0 },
	{ "from", 0, TARE_VALUE_TEXT, "TIME", VIEWING,
	  "only from so many seconds into the run on, or from a part of it, such as 10%", NULL,
	  MEMBER(from), 0 },
	{ "to", 0, TARE_VALUE_TEXT, "TIME", VIEWING, "only until then, such as 2.5 or 90%", NULL,
	  MEMBER(to), 0 },
	{ "phase", 0, TARE_VALUE_TEXT, "PATTERN", VIEWING,
	  "only while a phase that the program marks is open, such as 'step*'",
	  "Phases come from ITT, NVTX or tare's own two calls; a domain goes before a slash.",
	  MEMBER(phase), 0 },
	{ "call-stacks", 0, TARE_VALUE_NONE, NULL, RECORDING,
	  "record from where in the program commands were issued",
	  "Costs more for each command; the report says how much.", MEMBER(call_stacks), 1 },
	{ "no-cupti", 0, TARE_VALUE_NONE, NULL, RECORDING, "record CUDA programs without CUPTI",
	  "Calls and counts by a library that is put in front of the driver, no device times. Where CUPTI is not found, "
	  "that is done anyway.", MEMBER(no_cupti), 1 },
	{ "contents", 0, TARE_VALUE_NONE, NULL, RECORDING,
	  "compare what transfers carry: are the same bytes moved again?",
	  "Hashes them, for a fifth of the run at most; the report says how much.", MEMBER(contents), 1 },
	{ "perfetto", 0, TARE_VALUE_OUTPUT, "FILE", BIT(EXPORT), "write a trace for ui.perfetto.dev",
	  "FILE may be - for standard output.", MEMBER(perfetto), 0 },
	{ "sqlite", 0, TARE_VALUE_OUTPUT, "FILE", BIT(EXPORT), "write an SQLite database", NULL,
	  MEMBER(sqlite), 0 },
	{ "csv", 0, TARE_VALUE_OUTPUT, "DIR", BIT(EXPORT), "write CSV files, one a table, into DIR",
	  NULL, MEMBER(csv), 0 },
	{ "page-size", 0, TARE_VALUE_BYTES, "SIZE", REPORTING,
	  "most bytes of timeline in the page (default: 40M)",
	  "What is left out then is said on the page.", MEMBER(page_bytes), 0 },
	{ "html", 0, TARE_VALUE_OUTPUT, "FILE", REPORTING,
	  "write one self-contained page with a timeline", NULL, MEMBER(html), 0 },
	{ "json", 0, TARE_VALUE_OUTPUT, "FILE", REPORTING, "write the report as JSON",
	  "FILE may be - for standard output; then the text report is left out. A file that is there "
	  "already is replaced only when the new one is complete.",
	  MEMBER(json), 0 },
	{ "json", 0, TARE_VALUE_OUTPUT, "FILE", WRITING, "write the result as JSON, with every sample",
	  "FILE may be - for standard output; then the text report is left out. A file that is there "
	  "already is replaced only when the new one is complete. The same goes for --csv and --html.",
	  MEMBER(json), 0 },
	{ "csv", 0, TARE_VALUE_OUTPUT, "FILE", WRITING, "write the figures as CSV, one row each", NULL,
	  MEMBER(csv), 0 },
	{ "html", 0, TARE_VALUE_OUTPUT, "FILE", WRITING, "write one self-contained page with charts",
	  NULL, MEMBER(html), 0 },
	{ "quiet", 'q', TARE_VALUE_NONE, NULL, REPORTING,
	  "only the head, where the time went, and what to change", NULL, MEMBER(verbosity), -1 },
	{ "quiet", 'q', TARE_VALUE_NONE, NULL, WRITING | BIT(RECORD) | BIT(EXPORT),
	  "no progress, no hints, only what was asked for",
	  NULL, MEMBER(verbosity), -1 },
	{ "verbose", 'v', TARE_VALUE_NONE, NULL, WRITING | REPORTING,
	  "every fact with its origin, every figure with its method", NULL, MEMBER(verbosity), 1 },
	{ "help", 'h', TARE_VALUE_NONE, NULL, EVERY, "print this help", NULL, MEMBER(help), 1 },
};
// clang-format on
const size_t tare_option_count = sizeof tare_options / sizeof *tare_options;

bool tare_option_applies(const struct tare_option *option, const struct tare_command *command)
{
	return option->commands >> (command - tare_commands) & 1;
}

const struct tare_command *tare_command_find(const char *name)
{
	for (size_t i = 0; i < TARE_COMMAND_COUNT; i++)
		if (strcmp(tare_commands[i].name, name) == 0)
			return &tare_commands[i];
	return NULL;
}

const char *tare_option_summary(const struct tare_option *option,
                                const struct tare_command *command, char *text, size_t size)
{
	char number[TARE_UNIT_TEXT] = "";

	if (option->value == TARE_VALUE_SECONDS && command->budget_ns > 0)
		snprintf(number, sizeof number, "%g", (double)command->budget_ns * 1e-9);
	snprintf(text, size, "%s%s%s%s", option->summary, number[0] ? " (default: " : "", number,
	         number[0] ? ")" : "");
	return text;
}

int tare_usage(struct tare_error *error, const char *format, ...)
{
	va_list arguments;

	*error = (struct tare_error){ .code = -EINVAL };
	va_start(arguments, format);
	vsnprintf(error->message, sizeof error->message, format, arguments);
	va_end(arguments);
	return TARE_EXIT_USAGE;
}

// ---- values

static int parse_number(const char *text, uint64_t *value, struct tare_error *error)
{
	char *end = NULL;

	errno = 0;
	*value = strtoull(text, &end, 0);
	if (text[0] < '0' || text[0] > '9' || *end || errno)
		return tare_fail(error, EINVAL, "'%s' is not a whole number", text);
	return 0;
}

static int need_value(const struct tare_option *option, const char *text, struct tare_error *error)
{
	return text[0] ? 0 : tare_fail(error, EINVAL, "needs a value (%s)", option->value_name);
}

static int add_text(struct tare_texts *texts, const struct tare_option *option, const char *text,
                    struct tare_error *error)
{
	if (need_value(option, text, error) < 0)
		return -EINVAL;
	if (texts->count == TARE_TEXTS)
		return tare_fail(error, EINVAL, "is given more than %d times", TARE_TEXTS);
	texts->at[texts->count++] = text;
	return 0;
}

static int set_value(struct tare_settings *settings, const struct tare_option *option,
                     const char *text, struct tare_error *error)
{
	char *member = (char *)settings + option->offset;
	int status = 0;

	switch (option->value) {
	case TARE_VALUE_NONE:
		*(int *)member = option->sets;
		break;
	case TARE_VALUE_OPTIONAL:
		status = text ? need_value(option, text, error) : 0;
		*(const char **)member = text ? text : "";
		break;
	case TARE_VALUE_DEVICE:
		settings->device_given = true;
		/* fall through */
	case TARE_VALUE_OUTPUT:
	case TARE_VALUE_TEXT:
	case TARE_VALUE_FILE:
		status = need_value(option, text, error);
		*(const char **)member = text;
		break;
	case TARE_VALUE_SECONDS:
		status = tare_parse_seconds(text, &settings->budget_ns, error);
		break;
	case TARE_VALUE_NUMBER:
		status = parse_number(text, &settings->seed, error);
		settings->seed_given = true;
		break;
	case TARE_VALUE_LIST:
		status = add_text((struct tare_texts *)member, option, text, error);
		break;
	case TARE_VALUE_COUNT:
		status = parse_number(text, (uint64_t *)member, error);
		if (status == 0 && *(uint64_t *)member == 0)
			status = tare_fail(error, EINVAL, "must be at least 1");
		break;
	case TARE_VALUE_BYTES:
		status = tare_parse_bytes(text, (uint64_t *)member, error);
		if (status == 0 && *(uint64_t *)member == 0)
			status = tare_fail(error, EINVAL, "must be at least 1 byte");
		break;
	case TARE_VALUE_SIZES:
		status =
		    tare_parse_byte_range(text, &settings->from_bytes, &settings->to_bytes, error);
		break;
	}
	if (status == 0)
		return TARE_EXIT_OK;
	tare_error_prefix(error, "--%s", option->name);
	return TARE_EXIT_USAGE;
}

// ---- the command line

static bool takes_ze_cpu(const struct tare_command *command)
{
	for (size_t i = 0; i < tare_option_count; i++)
		if (tare_options[i].value == TARE_VALUE_OPTIONAL &&
		    tare_option_applies(&tare_options[i], command))
			return true;
	return false;
}

// Whether what follows the options is a program and its arguments, options of its own among them.
static bool runs_program(const struct tare_command *command)
{
	return command == &tare_commands[TARE_COMMAND_RECORD] ||
	       command == &tare_commands[TARE_COMMAND_RUN];
}

// getopt's own description of the options that belong to `command`.
static void describe_options(const struct tare_command *command, struct option *longs, char *shorts)
{
	if (runs_program(command))
		*shorts++ = '+'; // stops at the first operand
	*shorts++ = ':';
	for (size_t i = 0; i < tare_option_count; i++) {
		const struct tare_option *option = &tare_options[i];
		bool valued = option->value != TARE_VALUE_NONE;
		if (!tare_option_applies(option, command))
			continue;
		*longs++ = (struct option){ option->name,
			                    option->value == TARE_VALUE_OPTIONAL ? optional_argument
			                    : valued                             ? required_argument
			                                                         : no_argument,
			                    NULL, 256 + (int)i };
		if (option->letter) {
			*shorts++ = option->letter;
			if (valued)
				*shorts++ = ':';
		}
	}
	*longs = (struct option){ 0 };
	*shorts = '\0';
}

static const struct tare_option *option_found(int found, const struct tare_command *command)
{
	for (size_t i = 0; i < tare_option_count; i++)
		if (found == 256 + (int)i || (found > 0 && found == tare_options[i].letter &&
		                              tare_option_applies(&tare_options[i], command)))
			return &tare_options[i];
	return NULL;
}

static int parse_operands(int argument_count, char **arguments, struct tare_settings *settings,
                          struct tare_error *error)
{
	const struct tare_command *command = settings->command;

	if (runs_program(command)) {
		if (optind < argument_count)
			settings->program = arguments + optind;
		else if (!settings->help)
			return tare_usage(error, "the program to run is missing: tare %s -- ./app",
			                  command->name);
		return TARE_EXIT_OK;
	}
	for (int i = optind; i < argument_count; i++) {
		if (settings->operand_count == command->operands_max)
			return tare_usage(error, "unexpected argument '%s'; see tare %s --help",
			                  arguments[i], command->name);
		settings->operands[settings->operand_count++] = arguments[i];
	}
	if (settings->operand_count < command->operands_min && !settings->help)
		return tare_usage(error, "%s is missing", command->operands);
	return TARE_EXIT_OK;
}

static int parse_command(int argument_count, char **arguments, struct tare_settings *settings,
                         struct tare_error *error)
{
	struct option longs[sizeof tare_options / sizeof *tare_options + 1];
	char shorts[2 * sizeof tare_options / sizeof *tare_options + 3];
	int found, status;

	describe_options(settings->command, longs, shorts);
	opterr = 0;
	optind = 0; // glibc: start anew
	while ((found = getopt_long(argument_count, arguments, shorts, longs, NULL)) != -1) {
		const struct tare_option *option = option_found(found, settings->command);
		if (found == '?' || found == ':' || !option)
			return tare_option_refuse(found, settings->command, arguments, error);
		status = set_value(settings, option, optarg, error);
		if (status)
			return status;
	}
	return parse_operands(argument_count, arguments, settings, error);
}

// --ze-cpu before the command: it may be told for whatever follows. Returns whether it was there.
static int parse_before(const char *text, struct tare_settings *settings, bool *there,
                        struct tare_error *error)
{
	const char *const name = "--ze-cpu";
	size_t length = strlen(name);

	*there = text && strncmp(text, name, length) == 0 && (!text[length] || text[length] == '=');
	if (!*there)
		return TARE_EXIT_OK;
	if (text[length] && !text[length + 1])
		return tare_usage(error, "--ze-cpu: needs a value (SCRIPT) behind '='");
	settings->ze_cpu = text[length] ? text + length + 1 : "";
	return TARE_EXIT_OK;
}

int tare_settings_parse(int argument_count, char **arguments, struct tare_settings *settings,
                        struct tare_error *error)
{
	const char *device = getenv("TARE_DEVICE");
	const char *first = argument_count > 1 ? arguments[1] : NULL;
	bool before;
	int status;

	*settings = (struct tare_settings){ .device = device && device[0] ? device : NULL };
	status = parse_before(first, settings, &before, error);
	if (status != TARE_EXIT_OK)
		return status;
	if (before) {
		argument_count--;
		arguments++;
		first = argument_count > 1 ? arguments[1] : NULL;
	}
	if (!first || strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0) {
		settings->help = 1;
		return first ? TARE_EXIT_OK
		             : tare_usage(error, "a command is missing; see tare help");
	}
	if (strcmp(first, "--version") == 0 || strcmp(first, "-V") == 0) {
		settings->version = 1;
		return TARE_EXIT_OK;
	}
	settings->command = tare_command_find(first);
	if (!settings->command)
		return tare_command_refuse(first, error);
	if (before && !takes_ze_cpu(settings->command))
		return tare_usage(error, "%s takes no option '--ze-cpu'", settings->command->name);
	// The default is one of measuring.
	if (VIEWING >> (settings->command - tare_commands) & 1)
		settings->device = NULL;
	status = parse_command(argument_count - 1, arguments + 1, settings, error);
	// A program may well end with 2 itself.
	return status != TARE_EXIT_OK && runs_program(settings->command) ? TARE_EXIT_RECORD
	                                                                 : status;
}
