// SPDX-License-Identifier: Apache-2.0
#include "cli/command.h"
#include "cli/output.h"
#include "cli/report_ceilings.h"
#include "cli/report_view.h"
#include "cli/signals.h"
#include "cli/terminal.h"
#include "report/run_report.h"

#include <stdlib.h>

static int write_json(enum tare_format format, const void *run, FILE *file,
                      struct tare_error *error)
{
	(void)format; // the only one
	return tare_report_run_json(run, file, error);
}

static int write_report(const struct tare_settings *settings, const struct tare_run_report *run,
                        struct tare_outputs *outputs, struct tare_error *error)
{
	struct tare_text_options options = tare_terminal_text_options(settings->verbosity);
	int status = tare_outputs_write_with(outputs, write_json, run, error);

	if (status != TARE_EXIT_OK || tare_outputs_take_stdout(outputs))
		return status;
	if (tare_report_run_text(run, &options, stdout, error) < 0)
		return TARE_EXIT_FAILED;
	tare_outputs_print_paths(outputs, stdout);
	return tare_stdout_finish(error);
}

static int report(const struct tare_settings *settings, const struct tare_recording *recording,
                  const char *choice, struct tare_outputs *outputs, struct tare_error *error)
{
	struct tare_ledgers ledgers = { 0 };
	struct tare_tables tables = { 0 };
	struct tare_view view;
	struct tare_report_ceilings ceilings;
	int status = tare_report_view_parse(settings, recording, &view, error);

	if (status != TARE_EXIT_OK)
		return status;
	status = TARE_EXIT_FAILED;
	if (tare_report_ceilings_find(recording, &ceilings, error) == 0 &&
	    tare_ledgers_compute(recording, &view, &ledgers, error) == 0 &&
	    tare_tables_compute(recording, &view, &ledgers, ceilings.at, ceilings.count, &tables,
	                        error) == 0) {
		struct tare_run_report run = { recording, &view, &ledgers, &tables, choice };
		status = write_report(settings, &run, outputs, error);
	}
	tare_tables_free(&tables);
	tare_report_ceilings_free(&ceilings);
	tare_ledgers_free(&ledgers);
	return status;
}

int tare_command_report(const struct tare_settings *settings, struct tare_error *error)
{
	struct tare_report_trace trace;
	struct tare_recording *recording = NULL;
	struct tare_outputs outputs;
	int status;

	tare_signals_install(false);
	status = tare_report_trace_find(settings->operands[0], &trace, error);
	if (status != TARE_EXIT_OK)
		return status;
	// A file that cannot be written is found before a long trace is read.
	status = tare_outputs_open(settings, &outputs, error);
	if (status == TARE_EXIT_OK) {
		status = tare_recording_load(trace.path, &recording, error) < 0 ? TARE_EXIT_FAILED
		                                                                : TARE_EXIT_OK;
		if (status == TARE_EXIT_OK)
			status = report(settings, recording, trace.choice, &outputs, error);
		tare_recording_free(recording);
		tare_outputs_close(&outputs);
	}
	free(trace.path);
	return status;
}
