// SPDX-License-Identifier: Apache-2.0
#include "analysis/recording/recording.h"
#include "base/time.h"
#include "base/units.h"
#include "cli/options/commands.h"
#include "cli/options/groups.h"
#include "cli/run/record_program.h"
#include "record/child.h"
#include "record/document.h"
#include "record/folder.h"
#include "record/loader/cupti.h"
#include "record/loader/driver.h"
#include "record/loader/layer.h"
#include "record/loader/program.h"
#include "record/nested.h"
#include "record/survey.h"
#include "record/watch.h"
#include "tare_config.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// A page of header, windows for definitions and for the events of two threads, and some more.
#define LEAST_BYTES (UINT64_C(1) << 20)

// One recording from claiming the folder to the last word.
struct session {
	const struct tare_settings *settings;
	struct tare_record_options options;
	struct tare_program program;
	struct tare_closure closure; // the program and the libraries that it names
	struct tare_loader_choice loader;
	char *layer;
	char *cuda_front; // NULL: none is put before CUDA's driver
	char **environment;
	struct tare_record_folder folder;
	struct tare_record_document document;
	struct tare_child launch;
	struct tare_watch *watch;
	struct tare_drivers drivers;   // of Level Zero, behind stubs
	struct tare_other_uses others; // libraries of APIs that are not recorded yet
	struct tare_child_end end;
	struct tare_survey survey;
	char inner[PATH_MAX]; // the trace of a tare record inside the program; "": none
	char state[512];      // what became of the layer
	bool reported;        // a report follows, so that it need not be named
};

static void say(const struct session *session, const char *text)
{
	fprintf(stderr, "tare: %s: %s\n", session->settings->command->name, text);
}

// ---- before the program

// Whether a text is the number 0 in any way that strtod(3) takes.
static bool is_zero(const char *text)
{
	char *end;
	double number = strtod(text, &end);

	return end != text && !*end && number >= 0 && number <= 0;
}

// No --delay at all is one of 0; a --duration of 0 would record nothing.
static int parse_time(const char *name, const char *text, bool may_be_zero, int64_t *ns,
                      struct tare_error *error)
{
	if (text && may_be_zero && is_zero(text))
		return 0;
	if (!text || tare_parse_seconds(text, ns, error) == 0)
		return 0;
	return tare_error_prefix(error, "--%s", name);
}

static int parse_times(const char *text, enum tare_record_times *times, struct tare_error *error)
{
	for (int i = TARE_TIMES_SAMPLED; i <= TARE_TIMES_NONE; i++)
		if (!text || strcmp(text, tare_record_times_name((enum tare_record_times)i)) == 0) {
			*times = (enum tare_record_times)i;
			return 0;
		}
	return tare_fail(error, EINVAL, "--times: '%.40s' is neither all, sampled nor none", text);
}

static int parse_options(const struct tare_settings *settings, struct tare_record_options *options,
                         struct tare_error *error)
{
	const char *keep = settings->record.keep ? settings->record.keep : "oldest";

	*options = (struct tare_record_options){
		.strict = settings->record.strict,
		.call_stacks = settings->record.call_stacks == 1,
		.no_cupti = settings->record.no_cupti == 1,
		.contents = settings->record.contents == 1,
		.max_bytes = settings->record.max_bytes,
		.keep_newest = strcmp(keep, "newest") == 0,
		.count = settings->record.count,
	};
	if (!options->keep_newest && strcmp(keep, "oldest") != 0)
		return tare_fail(error, EINVAL, "--keep: '%.40s' is neither newest nor oldest",
		                 keep);
	if (options->no_cupti && options->strict)
		return tare_fail(
		    error, EINVAL,
		    "--no-cupti puts a library of tare's in front of CUDA's driver, which is not "
		    "to change anything with --strict");
	if (options->contents && !TARE_HAVE_CONTENTS)
		return tare_fail(
		    error, ENOTSUP,
		    "--contents: this tare was built without xxhash.h (libxxhash-dev)");
	if (settings->record.keep && options->max_bytes == 0)
		return tare_fail(error, EINVAL,
		                 "--keep says what to keep of a limited file: it needs --max-size");
	if (parse_times(settings->record.times, &options->times, error) < 0)
		return error->code;
	if (settings->record.max_bytes && settings->record.max_bytes < LEAST_BYTES)
		return tare_fail(error, EINVAL,
		                 "--max-size: a trace takes at least 1M for each process");
	if (parse_time("delay", settings->record.delay, true, &options->delay_ns, error) < 0)
		return error->code;
	return parse_time("duration", settings->record.duration, false, &options->duration_ns,
	                  error);
}

// The exit status for a program that cannot be run, as env(1) has it.
static int status_of(int why)
{
	return why == -ENOENT   ? TARE_EXIT_NOT_FOUND
	       : why == -ENOMEM ? TARE_EXIT_RECORD
	                        : TARE_EXIT_NOT_EXECUTABLE;
}

static int write_document(struct session *session, struct tare_error *error)
{
	size_t bytes = 0;
	char *text = tare_record_document_text(&session->document, &bytes);
	int status = text ? tare_record_folder_draft(&session->folder, text, bytes, error)
	                  : tare_fail(error, ENOMEM, "out of memory");

	free(text);
	return status;
}

// A loader that knows no layers is passed over by one that does, but not with --strict. What the
// program is linked with tells which APIs it may use.
static void look_at_libraries(struct session *session)
{
	const char *library_path = getenv("LD_LIBRARY_PATH");

	tare_closure_find(session->program.path, library_path, &session->closure);
	tare_loader_choose(&session->closure, getenv("LD_PRELOAD"), library_path, TARE_CACHE,
	                   &session->loader);
	for (size_t i = 0; i < session->closure.count; i++)
		for (size_t n = 0; n < session->closure.objects[i].needed_count; n++)
			tare_other_note(&session->others, session->closure.objects[i].needed[n],
			                false);
	if (session->loader.front[0] && !session->options.strict)
		session->options.front = session->loader.front;
	if (!session->options.strict)
		session->cuda_front =
		    tare_cuda_front_find(session->layer, &session->closure, library_path,
		                         TARE_CACHE, session->options.no_cupti);
	session->options.cuda_front = session->cuda_front;
	tare_drivers_find(session->layer, getenv(TARE_DRIVERS_VARIABLE), library_path, TARE_CACHE,
	                  &session->drivers);
	session->options.drivers = session->drivers.stubs;
	session->options.behind = session->drivers.behind;
}

// Finds and makes all that the program needs. Returns an exit status.
static int prepare(struct session *session, struct tare_error *error)
{
	const struct tare_settings *settings = session->settings;
	struct tare_record_claim claim = {
		.output = settings->record.output,
		.program = settings->program[0],
		.force = settings->force,
	};
	int status;

	if (parse_options(settings, &session->options, error) < 0)
		return TARE_EXIT_RECORD;
	// First, so that a misspelt name leaves nothing behind.
	status = tare_program_find(settings->program[0], &session->program, error);
	if (status < 0)
		return status_of(status);
	session->layer = tare_layer_find(error);
	if (!session->layer || tare_layer_check(session->layer, error) < 0 ||
	    tare_record_folder_claim(&claim, &session->folder, error) < 0)
		return TARE_EXIT_RECORD;
	look_at_libraries(session);
	session->document = (struct tare_record_document){
		.program = settings->program,
		.options = &session->options,
		.job = session->folder.job,
		.layer_path = session->layer,
		.others = &session->others,
	};
	tare_record_start_now(&session->document);
	session->environment =
	    tare_environment_make(environ, session->layer, session->folder.data, &session->options,
	                          session->document.start_raw_ns);
	if (!session->environment) {
		tare_fail(error, ENOMEM, "out of memory");
		return TARE_EXIT_RECORD;
	}
	// Shows that the folder can be written before the program is started.
	if (!session->folder.joined && write_document(session, error) < 0)
		return TARE_EXIT_RECORD;
	return TARE_EXIT_OK;
}

// Runs the program with and without recording. What was wrong with that is said, and the program is
// recorded nonetheless, unless it was interrupted: then the exit status is returned, else 0.
static int compare(struct session *session, struct tare_error *error)
{
	struct tare_error why = { 0 };
	int interrupted = 0;
	int status;

	if (!session->settings->record.calibrate)
		return TARE_EXIT_OK;
	status = session->folder.job[0]
	             ? tare_fail(&why, EINVAL, "--calibrate: not for the ranks of a parallel job")
	             : tare_compare(session->settings->program, session->layer,
	                            session->folder.data, &session->options,
	                            &session->document.comparison, &interrupted, &why);
	if (interrupted) {
		tare_fail(error, ECANCELED, "%s while it was compared", why.message);
		return TARE_EXIT_RECORD;
	}
	if (status < 0)
		say(session, why.message);
	// Now, for the runs took their time.
	tare_record_start_now(&session->document);
	tare_environment_free(session->environment);
	session->environment =
	    tare_environment_make(environ, session->layer, session->folder.data, &session->options,
	                          session->document.start_raw_ns);
	return session->environment ? TARE_EXIT_OK : TARE_EXIT_RECORD;
}

static int start(struct session *session, struct tare_error *error)
{
	struct tare_error why = { 0 };
	char stale[PATH_MAX];
	bool own;
	int status;

	// Of an earlier run that was killed.
	if (!session->folder.joined)
		tare_nested_take(session->folder.data, stale, sizeof stale);
	status = tare_child_start(session->settings->program, session->environment,
	                          &session->launch, &own, error);
	if (status < 0)
		return own ? TARE_EXIT_RECORD : status_of(status);
	// From here on the program runs, and its status is what counts.
	session->watch = tare_watch_start(session->launch.child);
	if (!session->folder.joined && tare_record_folder_publish(&session->folder, &why) < 0)
		say(session, why.message);
	tare_record_folder_begun(&session->folder);
	tare_nested_tell(session->folder.absolute);
	return TARE_EXIT_OK;
}

// ---- after it

// Bytes to three digits, 7606272 as "7.25 MB".
static const char *rounded(uint64_t bytes, char text[TARE_UNIT_TEXT])
{
	static const struct {
		double bytes;
		const char *name;
	} units[] = { { 1073741824, "GB" }, { 1048576, "MB" }, { 1024, "KB" } };
	char number[TARE_UNIT_TEXT];

	for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
		if ((double)bytes < units[i].bytes)
			continue;
		tare_format_significant((double)bytes / units[i].bytes, 3, number);
		snprintf(text, TARE_UNIT_TEXT, "%.20s %s", number, units[i].name);
		return text;
	}
	return tare_format_bytes(bytes, text);
}

// Why the recorder was not in the program.
static void explain(const struct session *session, char *text, size_t size)
{
	const struct tare_loader_choice *choice = &session->loader;
	struct tare_loader front = { .knows_layers = true };
	bool withheld = choice->front[0] && !session->options.front;

	snprintf(front.path, sizeof front.path, "%s", choice->front);
	tare_layer_explain(&session->program,
	                   session->options.front ? &front
	                   : choice->wanted       ? &choice->without
	                                          : &choice->program,
	                   withheld ? choice->front : NULL, text, size);
}

// Why no process was recorded, with the evidence, from the most telling on.
static void explain_nothing(struct session *session)
{
	const struct tare_record_folder *folder = &session->folder;
	size_t size = sizeof session->state;
	uint32_t alive = tare_survey_alive(folder->data);
	char why[400];

	tare_record_folder_obstacle(folder->data, why, sizeof why);
	if (session->inner[0])
		snprintf(session->state, size,
		         "nothing was recorded here: the program runs tare record itself; next: "
		         "tare report %.300s",
		         session->inner);
	else if (why[0])
		snprintf(session->state, size, "nothing was recorded: %s", why);
	else if (alive)
		snprintf(session->state, size,
		         "nothing is recorded yet, but %" PRIu32 " process%s that the program left "
		         "behind still run%s; when it is done: tare report %.200s",
		         alive, alive == 1 ? "" : "es", alive == 1 ? "s" : "", folder->path);
	else if (tare_other_any(&session->others)) {
		tare_other_say(&session->others, why, sizeof why);
		snprintf(session->state, size, "nothing was recorded: %s", why);
	} else {
		explain(session, session->state, size);
	}
}

// Says in the session what became of the layer.
static void judge_layer(struct session *session)
{
	const struct tare_survey *survey = &session->survey;
	char why[400];

	if (survey->processes + survey->unreadable == 0) {
		explain_nothing(session);
	} else if (survey->phases_only == survey->processes && !survey->unreadable) {
		explain(session, why, sizeof why);
		snprintf(session->state, sizeof session->state,
		         "only phases were recorded, no OpenCL call: %s", why);
	} else {
		snprintf(session->state, sizeof session->state, "%s",
		         survey->silent < survey->processes || survey->unreadable
		             ? TARE_LAYER_LOADED
		             : "the layer was loaded, 0 calls: a library was opened and not used");
	}
}

static void say_summary(const struct session *session)
{
	const struct tare_survey *survey = &session->survey;
	const struct tare_record_folder *folder = &session->folder;
	char calls[32], size[TARE_UNIT_TEXT], text[1024];

	if (survey->processes == survey->silent && survey->unreadable == 0) {
		say(session, session->state);
		return;
	}
	snprintf(text, sizeof text, "%" PRIu32 " process%s, %s call%s, %s in %.200s",
	         survey->processes, survey->processes == 1 ? "" : "es",
	         tare_format_grouped(survey->calls, calls), survey->calls == 1 ? "" : "s",
	         rounded(survey->bytes, size), folder->path);
	if (!session->reported)
		snprintf(text + strlen(text), sizeof text - strlen(text),
		         "; next: tare report %.200s", folder->path);
	say(session, text);
}

// Somebody else's tool records the program's phases.
static void say_hooks(const struct session *session)
{
	for (size_t i = 0; i < TARE_PHASE_HOOKS; i++) {
		const char *value, *phases,
		    *variable =
		        tare_environment_elsewhere(environ, session->layer, i, &value, &phases);
		char text[512];
		if (!variable)
			continue;
		snprintf(text, sizeof text, "%s is set to %.300s: %s are not recorded", variable,
		         value, phases);
		say(session, text);
	}
}

static void say_comparison(const struct session *session)
{
	const struct tare_comparison *found = &session->document.comparison;
	char text[512], wall[TARE_UNIT_TEXT], low[TARE_UNIT_TEXT], high[TARE_UNIT_TEXT],
	    cpu[TARE_UNIT_TEXT];

	if (found->pairs == 0 || found->native_wall_ns <= 0)
		return;
	snprintf(text, sizeof text,
	         "recording added %.1f %% to the wall time: %s (%s to %s, by %" PRIu32
	         " pairs of runs with and without it), and %s of CPU time",
	         100 * (double)found->wall_ns / (double)found->native_wall_ns,
	         tare_format_ns((double)found->wall_ns, wall),
	         tare_format_ns((double)found->wall_low_ns, low),
	         tare_format_ns((double)found->wall_high_ns, high), found->pairs,
	         tare_format_ns((double)found->cpu_ns, cpu));
	say(session, text);
}

static void say_remarks(const struct session *session)
{
	const struct tare_survey *survey = &session->survey;
	const struct tare_record_folder *folder = &session->folder;
	char text[1024];

	tare_survey_loss(survey, text, sizeof text);
	if (text[0])
		say(session, text);
	if (survey->unreadable) {
		snprintf(text, sizeof text,
		         "%" PRIu32 " file%s in %.200s cannot be read as a trace",
		         survey->unreadable, survey->unreadable == 1 ? "" : "s", folder->path);
		say(session, text);
	}
	if (survey->running) {
		snprintf(text, sizeof text,
		         "%" PRIu32 " process%s that the program left behind still record%s",
		         survey->running, survey->running == 1 ? "" : "es",
		         survey->running == 1 ? "s" : "");
		say(session, text);
	}
	if (session->document.end_raw_ns - session->document.start_raw_ns <
	        session->options.delay_ns &&
	    survey->calls && !survey->running)
		say(session, "the program ended before --delay was over: no command was recorded");
	say_hooks(session);
	if (session->inner[0] && survey->processes > survey->silent) {
		snprintf(text, sizeof text,
		         "what the program runs under a tare record of its own is in %.300s",
		         session->inner);
		say(session, text);
	}
	if (!folder->remote)
		return;
	bool local = strcmp(folder->data, folder->absolute) != 0;
	snprintf(text, sizeof text, "%.200s is on %s: %s", folder->path, folder->remote,
	         local ? "recorded on a local file system and moved"
	               : "recorded there, which may have slowed the program; TMPDIR can name a "
	                 "local file system");
	say(session, text);
}

static void conclude(struct session *session)
{
	struct tare_error why = { 0 };
	const char *loader = session->loader.program.path;
	bool quiet = session->settings->verbosity < 0;

	tare_survey_folder(session->folder.data, &session->survey);
	if (session->survey.apis >> TARE_TRACE_CUDA & 1)
		session->others.of[TARE_OTHER_CUDA].seen = false;
	if (session->survey.apis >> TARE_TRACE_LEVELZERO & 1)
		session->others.of[TARE_OTHER_LEVEL_ZERO].seen = false;
	if (!session->folder.joined)
		tare_nested_take(session->folder.data, session->inner, sizeof session->inner);
	judge_layer(session);
	session->document.ended = true;
	session->document.end = &session->end;
	session->document.loader = loader[0] ? loader : NULL;
	session->document.layer_state = session->state;
	// A rank that joined leaves the summary to the one that made the folder.
	if (!quiet && !session->folder.joined)
		say_summary(session);
	if (!quiet)
		say_comparison(session);
	if (tare_record_folder_collect(&session->folder, &why) < 0)
		say(session, why.message);
	else if (!quiet && !session->folder.joined)
		say_remarks(session);
	if (!session->folder.joined && (write_document(session, &why) < 0 ||
	                                tare_record_folder_publish(&session->folder, &why) < 0))
		say(session, why.message);
}

static void session_free(struct session *session)
{
	tare_program_free(&session->program);
	tare_closure_free(&session->closure);
	tare_environment_free(session->environment);
	tare_drivers_free(&session->drivers);
	tare_record_folder_free(&session->folder);
	free(session->layer);
	free(session->cuda_front);
}

int tare_record_program(const struct tare_settings *settings, bool reported,
                        struct tare_recorded_program_end *recorded, struct tare_error *error)
{
	struct session session = { .settings = settings,
		                   .folder.directory = -1,
		                   .reported = reported };
	int status = prepare(&session, error);

	*recorded = (struct tare_recorded_program_end){ 0 };
	if (status == TARE_EXIT_OK)
		status = compare(&session, error);
	if (status == TARE_EXIT_OK)
		status = start(&session, error);
	if (status != TARE_EXIT_OK) {
		tare_record_folder_abandon(&session.folder);
		session_free(&session);
		return status;
	}
	status = tare_child_wait(&session.launch, &session.end, error);
	tare_watch_stop(session.watch, &session.others);
	if (status < 0) {
		session_free(&session);
		return TARE_EXIT_RECORD;
	}
	session.document.end_raw_ns = tare_host_now().ns;
	conclude(&session);
	recorded->end = session.end;
	recorded->joined = session.folder.joined;
	snprintf(recorded->path, sizeof recorded->path, "%s", session.folder.path);
	session_free(&session);
	return TARE_EXIT_OK;
}

int tare_record_status(const struct tare_recorded_program_end *recorded)
{
	return recorded->end.signal ? tare_launch_die_alike(&recorded->end) : recorded->end.status;
}

static int run(const struct tare_settings *settings, struct tare_error *error)
{
	struct tare_recorded_program_end recorded;
	int status = tare_record_program(settings, false, &recorded, error);

	return status == TARE_EXIT_OK ? tare_record_status(&recorded) : status;
}

static const struct tare_option own_options_rows[] = {
	{ .name = "calibrate",
	  .value = TARE_VALUE_NONE,
	  .summary = "measure what recording costs: run the program unrecorded, too",
	  .detail = "First once to warm up, then in 5 pairs with and without recording (fewer, but "
	            "2, when these "
	            "take a minute), without standard output; last recorded as ever.",
	  .offset = TARE_SETTING(record.calibrate),
	  .sets = 1 },
};
static const struct tare_option_group own_options = TARE_OPTION_GROUP(own_options_rows);

const struct tare_command tare_record_command = {
	.name = "record",
	.operands = "-- PROGRAM [ARGUMENTS]",
	.operand = TARE_OPERAND_PROGRAM,
	.summary = "runs your program and records what it does with its devices",
	.description =
	    "Runs an unmodified program and records every call, kernel and transfer into a folder "
	    "that "
	    "tare report reads. The program's output, exit status and results stay its own.",
	.run = run,
	.options = { &tare_ze_cpu_options, &tare_recording_options, &own_options,
	             &tare_recording_time_options, &tare_recording_more_options,
	             &tare_quiet_options, &tare_help_options },
};
