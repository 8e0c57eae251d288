// SPDX-License-Identifier: Apache-2.0
#include "cli/options/commands.h"
#include "cli/options/groups.h"
#include "cli/run/export_folder.h"
#include "cli/run/report_view.h"
#include "cli/run/run_analysis.h"
#include "cli/terminal/output.h"
#include "cli/terminal/progress.h"
#include "cli/terminal/signals.h"
#include "export/export.h"
#include "tare_config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Of its own options.
struct export_settings {
	const char *perfetto, *sqlite; // files
};

struct exporting {
	const struct export_settings *own;
	const struct tare_settings *settings;
	struct tare_report run;
	struct tare_progress progress;
	const char *what; // that the progress is about
	struct tare_host_time since;
};

// ---- before anything is read

static bool is_stdout(const char *path)
{
	return path && strcmp(path, "-") == 0;
}

// Whether a file belongs to a trace, which no --force is meant for.
static bool is_of_trace(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	size_t length = strlen(name);
	char record[4200];

	snprintf(record, sizeof record, "%.*srecord.json", slash ? (int)(name - path) : 0, path);
	return access(record, F_OK) == 0 &&
	       (strcmp(name, "record.json") == 0 ||
	        (length > 6 && strcmp(name + length - 6, ".trace") == 0));
}

// A file may be replaced with --force; what is no file (a pipe, /dev/null) is written to.
static int check_file(const char *option, const char *path, bool force, struct tare_error *error)
{
	struct stat found;

	if (!path || is_stdout(path) || stat(path, &found) != 0)
		return TARE_EXIT_OK;
	if (S_ISDIR(found.st_mode))
		tare_fail(error, EISDIR, "%s: %.200s is a folder; name a file", option, path);
	else if (S_ISREG(found.st_mode) && is_of_trace(path))
		tare_fail(error, EEXIST, "%s: %.200s is a part of a trace; name another file",
		          option, path);
	else if (S_ISREG(found.st_mode) && !force)
		tare_fail(
		    error, EEXIST,
		    "%s: %.200s is there already; name another file, or replace it with --force",
		    option, path);
	else
		return TARE_EXIT_OK;
	return TARE_EXIT_FAILED;
}

static int check_words(const struct tare_settings *settings, struct tare_error *error)
{
	const struct export_settings *own = (const void *)settings->own;
	const char *paths[] = { own->perfetto, own->sqlite, settings->csv };

	if (!own->perfetto && !own->sqlite && !settings->csv)
		return tare_usage(error, "say what to write: --perfetto FILE, --sqlite FILE or "
		                         "--csv DIR");
	if (is_stdout(own->sqlite) || is_stdout(settings->csv))
		return tare_usage(error, "--%s cannot go to standard output; name a %s",
		                  is_stdout(own->sqlite) ? "sqlite" : "csv",
		                  is_stdout(own->sqlite) ? "file" : "folder");
	for (size_t i = 0; i < 3; i++)
		for (size_t k = i + 1; k < 3; k++)
			if (paths[i] && paths[k] && strcmp(paths[i], paths[k]) == 0)
				return tare_usage(error, "two exports would both write %.200s",
				                  paths[i]);
	if (is_stdout(own->perfetto) && isatty(STDOUT_FILENO))
		return tare_usage(error, "--perfetto: standard output is a terminal; name a file");
	return TARE_EXIT_OK;
}

static int check_targets(const struct tare_settings *settings, struct tare_error *error)
{
	const struct export_settings *own = (const void *)settings->own;
	bool force = settings->force;
	int status = check_words(settings, error);

	if (status != TARE_EXIT_OK)
		return status;
	if (own->sqlite && !TARE_HAVE_SQLITE) {
		tare_fail(error, ENOSYS,
		          "--sqlite needs SQLite, and this tare was built without (libsqlite3)");
		return TARE_EXIT_FAILED;
	}
	status = check_file("--perfetto", own->perfetto, force, error);
	if (status == TARE_EXIT_OK)
		status = check_file("--sqlite", own->sqlite, force, error);
	if (status == TARE_EXIT_OK && settings->csv &&
	    tare_export_folder_check(settings->csv, force, error) < 0)
		status = TARE_EXIT_FAILED;
	return status;
}

// ---- while writing

static bool step(void *context, const char *what, uint64_t done, uint64_t total)
{
	struct exporting *e = context;
	int64_t remaining_ns = -1, took;

	if (e->what != what) {
		e->what = what;
		e->since = tare_host_now();
	}
	took = tare_host_elapsed_ns(e->since, tare_host_now());
	if (done && took > 0)
		remaining_ns = (int64_t)((double)took / (double)done * (double)(total - done));
	tare_progress_update(&e->progress, what, done, total, remaining_ns);
	return !tare_interrupted;
}

// What the exporter said, as a status with a sentence.
static int conclude(int written, const char *path, struct tare_error *error)
{
	if (written == 0)
		return TARE_EXIT_OK;
	if (written == -EINTR)
		return TARE_EXIT_INTERRUPTED;
	if (error->code == -EPIPE && is_stdout(path))
		*error = (struct tare_error){ .code = -EPIPE }; // who read has had enough
	else
		tare_error_prefix(error, "cannot write %.200s",
		                  is_stdout(path) ? "to standard output" : path);
	return TARE_EXIT_FAILED;
}

static const char *plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

static void say(const struct exporting *e, const char *name, const char *path, const char *text)
{
	if (e->settings->verbosity >= 0 && !is_stdout(e->own->perfetto))
		printf("%s: %s, %s\n", name, path, text);
}

static int write_perfetto(struct exporting *e, const struct tare_export_watch *watch,
                          struct tare_export_counts *counts, struct tare_error *error)
{
	struct tare_output output = { .path = e->own->perfetto };
	int status = tare_output_open(&output, error);
	char text[160];

	if (status == TARE_EXIT_OK)
		status = conclude(tare_export_perfetto(e->run.recording, e->run.view, watch,
		                                       output.file, counts, error),
		                  output.path, error);
	if (status == TARE_EXIT_OK)
		status = tare_output_finish(&output, error);
	tare_output_close(&output);
	tare_progress_clear(&e->progress);
	snprintf(text, sizeof text,
	         "%" PRIu64 " slice%s of %" PRIu64
	         " command%s and the calls around them; next: open it in ui.perfetto.dev",
	         counts->slices, plural(counts->slices), counts->commands,
	         plural(counts->commands));
	if (status == TARE_EXIT_OK)
		say(e, "perfetto", e->own->perfetto, text);
	return status;
}

static int write_sqlite(struct exporting *e, const struct tare_export_watch *watch,
                        struct tare_export_counts *counts, struct tare_error *error)
{
	struct tare_output output = { .path = e->own->sqlite };
	int status = tare_output_open(&output, error);
	char text[160];

	if (status == TARE_EXIT_OK && !output.temporary) {
		tare_fail(error, EINVAL,
		          "--sqlite: %.200s is no file in a folder that can be "
		          "written; name another",
		          output.path);
		status = TARE_EXIT_FAILED;
	}
	if (status == TARE_EXIT_OK)
		status =
		    conclude(tare_export_sqlite(&e->run, watch, output.temporary, counts, error),
		             output.path, error);
	if (status == TARE_EXIT_OK)
		status = tare_output_finish(&output, error);
	tare_output_close(&output);
	tare_progress_clear(&e->progress);
	snprintf(text, sizeof text, "%" PRIu64 " row%s; next: the queries in tare-export(1)",
	         counts->rows, plural(counts->rows));
	if (status == TARE_EXIT_OK)
		say(e, "sqlite", e->own->sqlite, text);
	return status;
}

static int write_csv(struct exporting *e, const struct tare_export_watch *watch,
                     struct tare_export_counts *counts, struct tare_error *error)
{
	struct tare_export_folder folder = { .path = e->settings->csv,
		                             .names = tare_export_tables() };
	int status = TARE_EXIT_FAILED;
	char text[160];

	if (tare_export_folder_open(&folder, error) == 0)
		status = conclude(tare_export_csv(&e->run, watch, folder.work, counts, error),
		                  folder.path, error);
	if (status == TARE_EXIT_OK && tare_export_folder_finish(&folder, error) < 0)
		status = TARE_EXIT_FAILED;
	tare_export_folder_close(&folder);
	tare_progress_clear(&e->progress);
	snprintf(text, sizeof text, "%" PRIu64 " row%s, one file a table", counts->rows,
	         plural(counts->rows));
	if (status == TARE_EXIT_OK)
		say(e, "csv", e->settings->csv, text);
	return status;
}

static int write_exports(struct exporting *e, struct tare_error *error)
{
	static int (*const writers[])(struct exporting *e, const struct tare_export_watch *watch,
	                              struct tare_export_counts *counts,
	                              struct tare_error *error) = {
		write_perfetto,
		write_sqlite,
		write_csv,
	};
	const char *paths[] = { e->own->perfetto, e->own->sqlite, e->settings->csv };
	const struct tare_export_watch watch = { step, e };
	struct tare_export_counts counts = { 0 };
	int worst = TARE_EXIT_OK;

	tare_progress_start(&e->progress, "export", e->settings->verbosity >= 0);
	// One that fails does not keep the others from being written.
	for (size_t i = 0; i < 3 && worst != TARE_EXIT_INTERRUPTED; i++) {
		struct tare_error here = { 0 };
		int status = paths[i] ? writers[i](e, &watch, &counts, &here) : TARE_EXIT_OK;
		if (status == TARE_EXIT_OK ||
		    (worst != TARE_EXIT_OK && status != TARE_EXIT_INTERRUPTED))
			continue;
		worst = status;
		*error = here;
	}
	if (worst == TARE_EXIT_OK && counts.without_times && e->settings->verbosity >= 0 &&
	    !is_stdout(e->own->perfetto))
		printf(" %" PRIu64 " of %" PRIu64
		       " command%s ha%s no device times: what is known of "
		       "%s is when %s enqueued\n",
		       counts.without_times, counts.commands, plural(counts.commands),
		       counts.without_times == 1 ? "s" : "ve",
		       counts.without_times == 1 ? "it" : "them",
		       counts.without_times == 1 ? "it was" : "they were");
	return worst == TARE_EXIT_OK ? tare_stdout_finish(error) : worst;
}

static int export_trace(const struct tare_settings *settings, const char *path,
                        struct tare_error *error)
{
	struct exporting e = { .own = (const void *)settings->own, .settings = settings };
	struct tare_recording *recording = NULL;
	struct tare_analysis analysis = { 0 };
	int status;

	if (tare_recording_load(path, &recording, error) < 0)
		return TARE_EXIT_FAILED;
	if (recording->process_count == 0) {
		tare_fail(error, ENODATA, "%.200s has no recorded process; why: tare report %.200s",
		          path, path);
		status = TARE_EXIT_FAILED;
	} else {
		status = tare_report_view_parse(settings, recording, &analysis.view,
		                                &analysis.spans, error);
	}
	if (status == TARE_EXIT_OK && (e.own->sqlite || settings->csv))
		status = tare_analyse_tables(recording, &analysis, error);
	e.run = tare_analysis_report(&analysis, recording, NULL);
	if (status == TARE_EXIT_OK) {
		// From here on there are files to be removed.
		tare_signals_install(true);
		status = write_exports(&e, error);
	}
	tare_analysis_free(&analysis);
	tare_recording_free(recording);
	return status;
}

static int run(const struct tare_settings *settings, struct tare_error *error)
{
	struct tare_report_trace trace;
	int status = check_targets(settings, error);

	tare_signals_install(false);
	if (status == TARE_EXIT_OK)
		status = tare_report_trace_find(settings->operands[0], &trace, error);
	if (status != TARE_EXIT_OK)
		return status;
	status = export_trace(settings, trace.path, error);
	free(trace.path);
	return status;
}

static const struct tare_option own_options_rows[] = {
	{ .name = "force",
	  .letter = 'f',
	  .value = TARE_VALUE_NONE,
	  .summary = "replace files that are there already",
	  .detail = "In a folder for CSV the tables are replaced; other files in it stay.",
	  .offset = TARE_SETTING(force),
	  .sets = 1 },
};
static const struct tare_option_group own_options = TARE_OPTION_GROUP(own_options_rows);

static const struct tare_option file_options_rows[] = {
	{ .name = "perfetto",
	  .value = TARE_VALUE_OUTPUT,
	  .value_name = "FILE",
	  .summary = "write a trace for ui.perfetto.dev",
	  .detail = "FILE may be - for standard output.",
	  .offset = TARE_OWN_SETTING(struct export_settings, perfetto) },
	{ .name = "sqlite",
	  .value = TARE_VALUE_OUTPUT,
	  .value_name = "FILE",
	  .summary = "write an SQLite database",
	  .offset = TARE_OWN_SETTING(struct export_settings, sqlite) },
	{ .name = "csv",
	  .value = TARE_VALUE_OUTPUT,
	  .value_name = "DIR",
	  .summary = "write CSV files, one a table, into DIR",
	  .offset = TARE_SETTING(csv) },
};
static const struct tare_option_group file_options = TARE_OPTION_GROUP(file_options_rows);

const struct tare_command tare_export_command = {
	.name = "export",
	.operands = "[DIR.tare]",
	.operand = TARE_OPERAND_TRACE,
	.operands_max = 1,
	.summary = "a recorded run for Perfetto, SQLite or as CSV",
	.description =
	    "Writes what tare record wrote for other tools. Without DIR: the newest trace here.",
	.run = run,
	.options = { &own_options, &tare_viewing_options, &file_options, &tare_quiet_options,
	             &tare_help_options },
};
