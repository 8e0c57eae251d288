// SPDX-License-Identifier: Apache-2.0
#include "cli/options/commands.h"
#include "cli/options/groups.h"
#include "cli/run/report_view.h"
#include "cli/run/report_write.h"
#include "cli/run/run_analysis.h"
#include "cli/terminal/output.h"
#include "cli/terminal/progress.h"
#include "cli/terminal/signals.h"
#include "cli/terminal/terminal.h"

#include <stdio.h>
#include <stdlib.h>

#define PAGE_BYTES (UINT64_C(40) << 20)

struct report {
	const struct tare_report *run;
	uint64_t page_bytes; // most of the timeline's data
	struct tare_page_left_out *left_out;
};

static int write_format(enum tare_format format, const void *document, FILE *file,
                        struct tare_error *error)
{
	const struct report *report = document;

	return format == TARE_FORMAT_HTML ? tare_report_run_page(report->run, report->page_bytes,
	                                                         file, report->left_out, error)
	                                  : tare_report_run_json(report->run, file, error);
}

int tare_report_write(const struct tare_settings *settings, const struct tare_report *run,
                      struct tare_outputs *outputs, struct tare_error *error)
{
	struct tare_text_options options = tare_terminal_text_options(settings->verbosity);
	struct tare_page_left_out left_out = { 0 };
	struct report report = { run, settings->page_bytes ? settings->page_bytes : PAGE_BYTES,
		                 &left_out };
	int status = tare_outputs_write_with(outputs, write_format, &report, error);

	if (status != TARE_EXIT_OK)
		return status;
	if (tare_outputs_take_stdout(outputs)) {
		tare_report_left_out_text(&left_out, &options, stderr);
		return status;
	}
	if (tare_report_run_text(run, &options, stdout, error) < 0)
		return TARE_EXIT_FAILED;
	tare_outputs_print_paths(outputs, stdout);
	tare_report_left_out_text(&left_out, &options, stdout);
	return tare_stdout_finish(error);
}

static void tell_read(void *context, double part)
{
	char what[48];

	snprintf(what, sizeof what, "reading, %.0f %%", 100 * part);
	tare_progress_update(context, what, 0, 0, -1);
}

int tare_report_trace_at(const struct tare_settings *settings, const char *path, const char *choice,
                         struct tare_outputs *outputs, struct tare_error *error)
{
	struct tare_recording *recording = NULL;
	struct tare_analysis analysis;
	struct tare_progress progress;
	const struct tare_recording_told told = { tell_read, &progress };
	int status;

	tare_progress_start_late(&progress, "report", settings->verbosity >= 0);
	status = tare_recording_load_telling(path, &told, &recording, error);
	if (status < 0) {
		tare_progress_clear(&progress);
		return TARE_EXIT_FAILED;
	}
	status = tare_analyse(settings, recording, &progress, &analysis, error);
	tare_progress_clear(&progress);
	if (status == TARE_EXIT_OK) {
		struct tare_report run = tare_analysis_report(&analysis, recording, choice);
		status = tare_report_write(settings, &run, outputs, error);
	}
	tare_analysis_free(&analysis);
	tare_recording_free(recording);
	return status;
}

static int run(const struct tare_settings *settings, struct tare_error *error)
{
	struct tare_report_trace trace;
	struct tare_outputs outputs;
	int status;

	tare_signals_install(false);
	status = tare_report_trace_find(settings->operands[0], &trace, error);
	if (status != TARE_EXIT_OK)
		return status;
	// A file that cannot be written is found before a long trace is read.
	status = tare_outputs_open(settings, &outputs, error);
	if (status == TARE_EXIT_OK) {
		status = tare_report_trace_at(settings, trace.path, trace.choice, &outputs, error);
		tare_outputs_close(&outputs);
	}
	free(trace.path);
	return status;
}

const struct tare_command tare_report_command = {
	.name = "report",
	.operands = "[DIR.tare]",
	.operand = TARE_OPERAND_TRACE,
	.operands_max = 1,
	.summary = "where the time of a recorded program went",
	.description =
	    "Reads what tare record wrote and says where the time went: the ledger, the kernels, "
	    "the "
	    "transfers, the calls, and what bounds the run. Without DIR: the newest trace here.",
	.run = run,
	.options = { &tare_viewing_options, &tare_reporting_options, &tare_verbose_options,
	             &tare_help_options },
};
