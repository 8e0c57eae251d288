// SPDX-License-Identifier: Apache-2.0
#include "blocks/cuda/report/write.h"
#include "blocks/report/write.h"
#include "cli/options/commands.h"
#include "cli/options/groups.h"
#include "cli/run/blocks_compile.h"
#include "cli/run/blocks_report.h"
#include "cli/run/blocks_runs.h"
#include "cli/run/document_database.h"
#include "cli/terminal/output.h"
#include "cli/terminal/signals.h"
#include "cli/terminal/terminal.h"
#include "record/loader/cupti.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

// The command's own options.
struct own {
	int sample;
	int once;
	int executions;
	int ptx;
	uint64_t period;
	const char *exact;   // a CUDA kernel; NULL: none
	const char *devices; // of --for; NULL: none
	struct tare_texts options;
	uint64_t rounds;
	int before;
	int times;
	int gains;
};
_Static_assert(sizeof(struct own) <= TARE_OWN_SETTINGS, "it lies in tare_settings");

static uint32_t rounds_of(const struct own *own)
{
	return own->rounds ? (uint32_t)own->rounds : TARE_BLOCKS_ROUNDS;
}

// The program's two runs and what is made of them.
struct session {
	const struct tare_settings *settings;
	struct tare_blocks_runs runs;
	int64_t plain_ns, counted_ns;
	struct tare_blocks_builds builds;
	struct tare_blocks_models models;
	struct tare_blocks_profile profile;
	struct tare_pc_samples samples; // of CUDA kernels
	char *exact;                    // the one that is counted, as linked; NULL: not known
	struct tare_blocks_builds unoptimised; // of --before, and what was counted of them
	struct tare_blocks_profile before;
	struct tare_blocks_times times;   // of the host's clock
	struct tare_blocks_trials trials; // of build options
	struct tare_blocks_gains gains;   // of findings
};

static void say(const struct session *session, const char *text)
{
	if (session->settings->verbosity >= 0)
		fprintf(stderr, "tare: blocks: %s\n", text);
}

// Returns an exit status.
static int prepare(struct session *session, struct tare_error *error)
{
	const struct own *own = (const void *)session->settings->own;
	bool several = !own->once || own->before || own->times || own->options.count;
	int status = tare_blocks_runs_begin(session->settings->program,
	                                    several ? "tare blocks" : NULL, &session->runs, error);

	if (status == TARE_EXIT_OK && own->devices &&
	    tare_blocks_models_begin(own->devices, session->runs.place.folder, &session->models,
	                             error) < 0)
		return TARE_EXIT_RECORD;
	return status;
}

// Every how many cycles, as a power of 2, CUDA kernels are sampled.
static uint32_t period_of(const struct session *session)
{
	const struct own *own = (const void *)session->settings->own;

	return own->period ? (uint32_t)own->period : SAMPLES_USUAL_PERIOD;
}

// Where a CUDA kernel is to be counted the first run samples, and times that kernel; the second
// counts.
static int run_once(struct session *session, const char *stage, bool silent, int64_t *wall_ns,
                    struct tare_error *error)
{
	const struct own *asked = (const void *)session->settings->own;
	const struct tare_blocks_run run = {
		.stage = stage,
		.silent = silent,
		.period = asked->ptx || (silent && !asked->exact) ? 0 : period_of(session),
		.ptx = asked->ptx,
		.launches = asked->executions && !(asked->exact && !silent),
		.exact = session->exact ? session->exact : asked->exact,
		.count = asked->exact && !silent
	};

	return tare_blocks_runs_once(&session->runs, run, wall_ns, error);
}

// After the first run: the kernel that was met there is the one to count, by its linked name.
static int find_exact(struct session *session, struct tare_error *error)
{
	const struct own *own = (const void *)session->settings->own;
	struct tare_pc_samples samples;
	int status = TARE_EXIT_OK;

	if (!own->exact)
		return TARE_EXIT_OK;
	if (tare_pc_samples_read(session->runs.place.folder, &samples, error) < 0)
		status = TARE_EXIT_RECORD;
	for (size_t i = 0; status == TARE_EXIT_OK && !session->exact && i < samples.exact_count;
	     i++)
		if (samples.exact[i].name_hash &&
		    asprintf(&session->exact, "=%s", samples.exact[i].name) < 0)
			session->exact = NULL;
	if (status == TARE_EXIT_OK && !session->exact) {
		tare_exact_refuse(own->exact, &samples, error);
		status = TARE_EXIT_RECORD;
	}
	tare_pc_samples_free(&samples);
	return status;
}

// The first run, without its output; what it built is instrumented. Returns an exit status.
static int collect(struct session *session, struct tare_error *error)
{
	if (isatty(STDERR_FILENO))
		say(session, "first run, without its output: what are the kernels built from?");
	int status = run_once(session, BLOCKS_STAGE_COLLECT, true, &session->plain_ns, error);

	if (status != TARE_EXIT_OK)
		return status;
	tare_blocks_forget_counts(&session->runs.place);
	// It is not run again when it was interrupted, or ended itself by a fault.
	if (session->runs.end.signal || session->runs.end.asked)
		return TARE_EXIT_OK;
	const struct own *own = (const void *)session->settings->own;
	if (tare_blocks_compile_shown(session->runs.place.folder, own->sample,
	                              session->settings->verbosity >= 0, &session->builds,
	                              &session->models, error) < 0)
		return TARE_EXIT_RECORD;
	return find_exact(session, error);
}

// ---- the report

static int write_all(const struct session *session, struct tare_error *error)
{
	const struct tare_blocks_document document = { .program = session->settings->program,
		                                       .exit_status = session->runs.end.status,
		                                       .exit_signal = session->runs.end.signal,
		                                       .plain_ns = session->plain_ns,
		                                       .counted_ns = session->counted_ns,
		                                       .builds = &session->builds,
		                                       .models = &session->models,
		                                       .before = &session->before,
		                                       .times = &session->times,
		                                       .trials = &session->trials,
		                                       .gains = &session->gains,
		                                       .profile = &session->profile,
		                                       .samples = &session->samples };

	return tare_blocks_report(session->settings, &document, error);
}

// Why there is nothing to report on. A negative errno.
static int explain(struct session *session, struct tare_error *error)
{
	struct tare_loader front = { .knows_layers = true };
	const char *unseen = tare_blocks_unseen(&session->profile);
	char why[400];

	if (unseen)
		return tare_fail(error, ENODATA,
		                 "nothing was counted: what the program launches by CUDA was not "
		                 "seen, as %s",
		                 unseen);
	if (session->profile.processes)
		return tare_fail(error, ENODATA, "%s", tare_blocks_nothing(&session->profile));
	if (session->profile.without_room)
		return tare_fail(
		    error, ENOSPC,
		    "nothing was counted, there was no room for counts in %.300s: free "
		    "some, name another folder in TMPDIR, or raise the limit of files' "
		    "sizes",
		    session->runs.place.folder);
	snprintf(front.path, sizeof front.path, "%s", session->runs.loader.front);
	tare_layer_explain(&session->runs.program,
	                   session->runs.place.front     ? &front
	                   : session->runs.loader.wanted ? &session->runs.loader.without
	                                                 : &session->runs.loader.program,
	                   NULL, why, sizeof why);
	return tare_fail(error, ENODATA, "nothing was counted: %.390s; nor did it use CUDA", why);
}

// One more run, silent, whose kernels are counted as they are written. Returns an exit status.
static int count_before(struct session *session, struct tare_error *error)
{
	const struct own *own = (const void *)session->settings->own;
	struct tare_child_end end = session->runs.end;
	int64_t wall_ns;

	if (!own->before || end.signal || end.asked)
		return TARE_EXIT_OK;
	tare_blocks_forget_counts(&session->runs.place);
	if (tare_blocks_compile_unoptimised(session->runs.place.folder, &session->unoptimised,
	                                    error) < 0)
		return TARE_EXIT_RECORD;
	int status = run_once(session, BLOCKS_STAGE_COUNT, true, &wall_ns, error);
	session->runs.end = end;
	if (status != TARE_EXIT_OK)
		return status;
	return tare_blocks_profile_read(session->runs.place.folder, &session->unoptimised,
	                                &session->before, error) < 0
	           ? TARE_EXIT_RECORD
	           : TARE_EXIT_OK;
}

// Two more runs, silent and without counters: PoCL builds with lines, into a cache of ours, and in
// the second run threads are sampled. 0 or a negative errno with a sentence.
static int sample_times(struct session *session, struct tare_error *error)
{
	const struct own *own = (const void *)session->settings->own;
	const char *folder = session->runs.place.folder;
	const struct tare_blocks_times_tools tools = { tare_blocks_clang(&session->builds),
		                                       folder };
	struct tare_blocks_run run = { .arguments = session->settings->program,
		                       .stage = BLOCKS_STAGE_COLLECT,
		                       .silent = true };
	struct tare_child_end end = session->runs.end;
	struct tare_blocks_ticks ticks = { .at = NULL };
	struct tare_blocks_clock *clock = NULL;
	struct tare_error *why = &session->times.why;
	char cache[PATH_MAX];

	session->times.asked = own->times;
	if (!own->times || !tare_blocks_is_alike(&session->runs.end, &end, false, why) ||
	    !tare_blocks_clock_is_allowed(why))
		return 0;
	snprintf(cache, sizeof cache, "%s/pocl", folder);
	// Without a compiler, or without anything that was built, there are times of kernels only.
	run.cache = tools.clang[0] ? cache : NULL;
	int status = run.cache ? tare_blocks_runs_aside(&session->runs, &run, &end, error) : 0;
	if (status < 0 || !tare_blocks_is_alike(&session->runs.end, &end, run.cache, why))
		return status;
	clock = tare_blocks_clock_begin(why);
	if (!clock)
		return 0;
	status = tare_blocks_runs_aside(&session->runs, &run, &end, error);
	tare_blocks_clock_end(clock, &ticks);
	if (status == 0 && tare_blocks_is_alike(&session->runs.end, &end, run.cache, why) &&
	    tare_blocks_times_make(&ticks, &tools, &session->times) < 0)
		status = tare_fail(error, ENOMEM, "out of memory");
	tare_blocks_ticks_free(&ticks);
	return status;
}

static void say_progress(void *context, const char *text)
{
	say(context, text);
}

// Why no run was made for gains; one that failed is in the report.
static void say_nothing_to_gain(const struct session *session)
{
	const struct tare_blocks_gains *gains = &session->gains;

	if (!gains->why.code && !gains->trials.set_count)
		say(session, gains->counted
		                 ? "--gains: these kernels have no finding, so that there is "
		                   "nothing to measure"
		                 : "--gains: no kernel was counted, so that there is no finding to "
		                   "measure");
}

// The sets of --options, where there are any, and the gains of --gains. 0 or a negative errno with
// a sentence.
static int compare(struct session *session, struct tare_error *error)
{
	const struct own *own = (const void *)session->settings->own;
	const struct tare_blocks_trying trying = { .place = &session->runs.place,
		                                   .arguments = session->settings->program,
		                                   .input = &session->runs.input,
		                                   .own = &session->profile,
		                                   .rounds = rounds_of(own),
		                                   .sample = own->sample,
		                                   .tell = say_progress,
		                                   .context = session };
	int status = 0;

	if (own->options.count == 0 && !own->gains)
		return 0;
	if (session->runs.end.signal || session->runs.end.asked) {
		say(session, "a signal ended the program: it is not run again to compare");
		return 0;
	}
	if (own->gains && own->once)
		say(session, "--gains: --once counts nothing, so that there is no finding to "
		             "measure; leave it out");
	else if (own->gains)
		status =
		    tare_blocks_gains_measure(&trying, &session->builds, &session->gains, error);
	if (status == 0 && own->gains && !own->once)
		say_nothing_to_gain(session);
	if (status == 0 && own->options.count)
		status = tare_blocks_try(&trying, own->options.at, own->options.count,
		                         &session->trials, error);
	return status;
}

// Whether that run ended otherwise than the sampled one, `before`: then it was of other work.
static bool explain_end(struct session *session, const struct tare_child_end *before)
{
	const struct tare_child_end *end = &session->runs.end;
	int by = end->signal ? end->signal : end->status;

	if (end->signal == before->signal && end->status == before->status)
		return false;
	if (asprintf(&session->samples.uncounted,
	             "the run for that ended otherwise than the sampled one, %s %d",
	             end->signal ? "by signal" : "with exit status", by) < 0)
		session->samples.uncounted = NULL;
	return true;
}

// One more run, silent, in which the hardware counts instructions of CUDA kernels that were
// sampled. Returns an exit status.
static int count_instructions(struct session *session, struct tare_error *error)
{
	const struct own *own = (const void *)session->settings->own;
	struct tare_child_end end = session->runs.end;
	struct tare_blocks_place trace = { .lock = -1 };
	int status = TARE_EXIT_OK;
	char *plan = NULL;

	if (!own->executions || own->once || end.signal || end.asked)
		return TARE_EXIT_OK;
	if (tare_sampled_plan(&session->samples, &plan) < 0) {
		tare_fail(error, ENOMEM, "out of memory");
		return TARE_EXIT_RECORD;
	}
	if (status == TARE_EXIT_OK && plan) {
		const struct tare_blocks_run run = { .stage = BLOCKS_STAGE_COLLECT,
			                             .silent = true,
			                             .trace = trace.folder,
			                             .counters = plan };
		status =
		    tare_blocks_folder_make(&trace, error) < 0 ? TARE_EXIT_RECORD : TARE_EXIT_OK;
		if (status == TARE_EXIT_OK)
			status = tare_blocks_runs_once(&session->runs, run,
			                               &session->samples.counting_ns, error);
		if (status == TARE_EXIT_OK && !explain_end(session, &end) &&
		    tare_sampled_count(trace.folder, &session->samples, error) < 0)
			status = TARE_EXIT_RECORD;
		tare_blocks_place_free(&trace);
	}
	end.asked |= session->runs.end.asked;
	session->runs.end = end;
	free(plan);
	return status;
}

static int report(struct session *session, struct tare_error *error)
{
	uint64_t counted, launches;

	if (tare_blocks_profile_read(session->runs.place.folder, &session->builds,
	                             &session->profile, error) < 0 ||
	    tare_blocks_models_join(&session->profile, &session->models, error) < 0)
		return TARE_EXIT_RECORD;
	if (tare_pc_samples_read(session->runs.place.folder, &session->samples, error) < 0 ||
	    tare_pc_samples_disassemble(session->runs.place.folder, &session->samples) < 0)
		return TARE_EXIT_RECORD;
	tare_blocks_coverage(&session->profile, &counted, &launches);
	if (!launches && !session->samples.used) {
		tare_signals_install(false);
		return explain(session, error) < 0 ? TARE_EXIT_RECORD : TARE_EXIT_OK;
	}
	int status = count_before(session, error);
	if (status == TARE_EXIT_OK)
		status = count_instructions(session, error);
	if (status != TARE_EXIT_OK)
		return status;
	if (sample_times(session, error) < 0 || compare(session, error) < 0)
		return TARE_EXIT_RECORD;
	tare_signals_install(false);
	status = write_all(session, error);
	// What was asked for is missing: the report says it too.
	const struct own *own = (const void *)session->settings->own;
	bool missing =
	    own->exact && (!session->samples.kernel_count || !session->samples.kernels->exact);
	if (status != TARE_EXIT_OK || !missing)
		return status;
	tare_exact_refuse(own->exact, &session->samples, error);
	return TARE_EXIT_RECORD;
}

static void session_free(struct session *session)
{
	tare_blocks_gains_free(&session->gains);
	tare_blocks_trials_free(&session->trials);
	tare_blocks_times_free(&session->times);
	tare_blocks_profile_free(&session->before);
	tare_blocks_builds_free(&session->unoptimised);
	tare_pc_samples_free(&session->samples);
	tare_blocks_profile_free(&session->profile);
	tare_blocks_models_free(&session->models);
	tare_blocks_builds_free(&session->builds);
	tare_blocks_runs_free(&session->runs);
	free(session->exact);
}

// What of the command's options cannot be, alone or together. 0 or a negative errno with a
// sentence.
static int check(const struct own *own, struct tare_error *error)
{
	const char *sampled = own->exact        ? "--exact"
	                      : own->executions ? "--executions"
	                      : own->period     ? "--period"
	                                        : NULL;

	if (own->ptx && sampled)
		return tare_fail(error, EINVAL, "--ptx samples nothing: leave it out, or %s",
		                 sampled);
	if (own->ptx && own->once)
		return tare_fail(error, EINVAL,
		                 "--ptx counts in a second run of the program: leave out --once");
	if (own->period &&
	    (own->period < SAMPLES_LEAST_PERIOD || own->period > SAMPLES_MOST_PERIOD))
		return tare_fail(error, EINVAL, "--period is a power of 2, from %d to %d",
		                 SAMPLES_LEAST_PERIOD, SAMPLES_MOST_PERIOD);
	if (own->rounds > TARE_BLOCKS_MOST_ROUNDS)
		return tare_fail(error, EINVAL, "--rounds is at most %d", TARE_BLOCKS_MOST_ROUNDS);
	return tare_blocks_sets_check(own->options.at, own->options.count, error);
}

static int run(const struct tare_settings *settings, struct tare_error *error)
{
	const struct own *own = (const void *)settings->own;
	struct session session = { .settings = settings };

	if (check(own, error) < 0 || tare_outputs_check(settings, error) != 0 ||
	    tare_database_check(settings->database, error) != 0)
		return TARE_EXIT_RECORD;
	int status = prepare(&session, error);
	if (status == TARE_EXIT_OK && !own->once)
		status = collect(&session, error);
	bool ended = session.runs.end.signal || session.runs.end.asked;
	if (status == TARE_EXIT_OK && ended)
		say(&session, "a signal ended the first of the program's two runs: nothing was "
		              "counted; CUDA kernels are sampled in a single run by --once");
	else if (status == TARE_EXIT_OK)
		status = run_once(&session, BLOCKS_STAGE_COUNT, false, &session.counted_ns, error);
	if (status == TARE_EXIT_OK && !ended)
		status = report(&session, error);
	struct tare_child_end end = session.runs.end;
	session_free(&session);
	if (status != TARE_EXIT_OK && !(end.signal || end.status))
		return status;
	// What the program did is what the caller asks about; a sentence is still said.
	return end.signal ? tare_launch_die_alike(&end) : end.status ? end.status : status;
}

static const struct tare_option own_options_rows[] = {
	{ .name = "sample",
	  .value = TARE_VALUE_NONE,
	  .summary = "sample single work-items: divergence, lines of memory, turns of each",
	  .detail = "Small kernels run up to twenty times slower for it.",
	  .offset = TARE_OWN_SETTING(struct own, sample),
	  .sets = 1 },
	{ .name = "once",
	  .value = TARE_VALUE_NONE,
	  .summary = "run the program once: CUDA kernels are sampled, others not counted",
	  .offset = TARE_OWN_SETTING(struct own, once),
	  .sets = 1 },
	{ .name = "executions",
	  .value = TARE_VALUE_NONE,
	  .summary = "how often blocks of CUDA kernels run, about; runs the program once more",
	  .detail = "Launches are counted, each takes about a microsecond more; and in one more "
	            "run the hardware counts instructions of the 16 kernels with most samples.",
	  .offset = TARE_OWN_SETTING(struct own, executions),
	  .sets = 1 },
	{ .name = "ptx",
	  .value = TARE_VALUE_NONE,
	  .summary = "count CUDA kernels of PTX that the program brings, as OpenCL's; sample none",
	  .detail = "NVIDIA's cuobjdump takes it out of fat binaries. Left out, and said, is what "
	            "came as machine code. --sample, --before and "
	            "--times do nothing with these kernels.",
	  .offset = TARE_OWN_SETTING(struct own, ptx),
	  .sets = 1 },
	{ .name = "period",
	  .value = TARE_VALUE_COUNT,
	  .value_name = "N",
	  .summary = "sample each core of a CUDA device every 2^N cycles, 10 to 24 (default 16)",
	  .offset = TARE_OWN_SETTING(struct own, period) },
	{ .name = "exact",
	  .value = TARE_VALUE_TEXT,
	  .value_name = "KERNEL",
	  .summary = "count how often each instruction of one CUDA kernel is executed",
	  .detail =
	      "KERNEL is its name, or words of it; the first kernel launched that has them is "
	      "counted. It runs ten to hundreds of times slower, which is told. The first run "
	      "samples; with --once there are counts alone.",
	  .offset = TARE_OWN_SETTING(struct own, exact) },
	{ .name = "before",
	  .value = TARE_VALUE_NONE,
	  .summary = "count kernels before they are optimised, too; runs the program once more",
	  .detail = "Of OpenCL C. SPIR-V is counted as the program brought it.",
	  .offset = TARE_OWN_SETTING(struct own, before),
	  .sets = 1 },
	{ .name = "times",
	  .value = TARE_VALUE_NONE,
	  .summary = "sample the host's clock: CPU time of kernels on CPU devices (PoCL)",
	  .detail = "Runs the program twice more, without counters and without its output. PoCL "
	            "builds its kernels with -g in these runs, and lines and blocks have times.",
	  .offset = TARE_OWN_SETTING(struct own, times),
	  .sets = 1 },
	{ .name = "gains",
	  .value = TARE_VALUE_NONE,
	  .summary = "measure what findings can bring in time, by running changed kernels",
	  .detail = "Where a machine can make the change (doubles, divisors, functions, sizes of "
	            "work-groups) the program's kernels are changed, and it runs with them and "
	            "without in turn, many times and without its output. Its results may differ "
	            "in these runs.",
	  .offset = TARE_OWN_SETTING(struct own, gains),
	  .sets = 1 },
	{ .name = "options",
	  .value = TARE_VALUE_WORDS,
	  .value_name = "SET...",
	  .summary = "compare sets of build options with the program's own: times, counts",
	  .detail =
	      "Each SET is one word of the shell: --options '-cl-mad-enable' '-DUNROLL=4'. An "
	      "empty one, '', leaves the program's optimising options out. What its source "
	      "needs stays: -D, -U, -I, -include, -cl-std. Behind them may stand pragmas for loops "
	      "of OpenCL C, by lines of the source: --options '#14 unroll 4'. Modules of Level "
	      "Zero take sets of their own words (-ze-opt-disable). The program runs many "
	      "times, without its output.",
	  .offset = TARE_OWN_SETTING(struct own, options) },
	{ .name = "rounds",
	  .value = TARE_VALUE_COUNT,
	  .value_name = "N",
	  .summary = "rounds of --options and --gains (default 8; fewer than 6 decide nothing)",
	  .offset = TARE_OWN_SETTING(struct own, rounds) },
	{ .name = "for",
	  .value = TARE_VALUE_TEXT,
	  .value_name = "DEVICE,...",
	  .summary = "say what kernels would be on these Intel GPUs, by ocloc",
	  .detail = "As ocloc names them: dg2, pvc. The devices need not be there: SIMD width, "
	            "registers, spills, local memory and barriers are those that Intel's offline "
	            "compiler tells. It is a model; nothing is run there.",
	  .offset = TARE_OWN_SETTING(struct own, devices) },
	{ .name = "json",
	  .value = TARE_VALUE_OUTPUT,
	  .value_name = "FILE",
	  .summary = "write all blocks, lines and loops as JSON",
	  .detail = "FILE may be - for standard output; then the text report is left out. A file "
	            "that is there already is replaced only when the new one is complete.",
	  .offset = TARE_SETTING(json) },
	{ .name = "csv",
	  .value = TARE_VALUE_OUTPUT,
	  .value_name = "FILE",
	  .summary = "write all blocks as CSV, a row each; with --options the sets, a row a kernel",
	  .offset = TARE_SETTING(csv) },
	{ .name = "sqlite",
	  .value = TARE_VALUE_OUTPUT,
	  .value_name = "FILE",
	  .summary = "write a database of kernels, blocks, lines, instructions and findings",
	  .offset = TARE_SETTING(database) },
	{ .name = "html",
	  .value = TARE_VALUE_OUTPUT,
	  .value_name = "FILE",
	  .summary = "write one self-contained page: findings, blocks, source beside instructions",
	  .offset = TARE_SETTING(html) },
};
static const struct tare_option_group own_options = TARE_OPTION_GROUP(own_options_rows);

const struct tare_command tare_blocks_command = {
	.name = "blocks",
	.operands = "-- PROGRAM [ARGUMENTS]",
	.operand = TARE_OPERAND_PROGRAM,
	.summary = "instructions, loads and stores, by basic block and line",
	.description =
	    "Runs an unmodified OpenCL or Level Zero program twice: first to see what its kernels "
	    "are built "
	    "from, without its standard output, and then with counters in every basic block. Its "
	    "results stay its own. Kernels of CUDA are sampled as they run; with --ptx those that "
	    "came as PTX are counted instead.",
	.run = run,
	.options = { &tare_ze_cpu_options, &own_options, &tare_quiet_options, &tare_verbose_options,
	             &tare_help_options },
};
