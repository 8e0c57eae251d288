// SPDX-License-Identifier: Apache-2.0
#include "cli/options/commands.h"
#include "cli/options/groups.h"
#include "cli/run/record_program.h"
#include "cli/run/report_write.h"
#include "cli/terminal/output.h"
#include "cli/terminal/signals.h"

#include <string.h>

static int report(const struct tare_settings *settings, const char *path, struct tare_error *error)
{
	struct tare_outputs outputs;
	int status;

	// Not earlier: the program inherits what is done with signals.
	tare_signals_install(false);
	status = tare_outputs_open(settings, &outputs, error);
	if (status != TARE_EXIT_OK)
		return status;
	status = tare_report_trace_at(settings, path, NULL, &outputs, error);
	tare_outputs_close(&outputs);
	return status;
}

static int run(const struct tare_settings *settings, struct tare_error *error)
{
	struct tare_recorded_program_end recorded;
	struct tare_error why = { 0 };
	int status;

	if (tare_outputs_check(settings, error) != TARE_EXIT_OK)
		return TARE_EXIT_RECORD;
	status = tare_record_program(settings, true, &recorded, error);
	if (status != TARE_EXIT_OK)
		return status;
	// The rank that made the folder reports for those that joined it.
	if (!recorded.joined)
		status = report(settings, recorded.path, &why);
	if (status != TARE_EXIT_OK && why.message[0])
		fprintf(stderr, "tare: run: %s; the trace is in %s: tare report says more\n",
		        why.message, recorded.path);
	// What the program did is what the caller asks about; else what tare could not do.
	if (status != TARE_EXIT_OK && !recorded.end.signal && recorded.end.status == 0)
		return TARE_EXIT_RECORD;
	return tare_record_status(&recorded);
}

const struct tare_command tare_run_command = {
	.name = "run",
	.operands = "-- PROGRAM [ARGUMENTS]",
	.operand = TARE_OPERAND_PROGRAM,
	.summary = "record and report in one go",
	.description =
	    "Runs your program as tare record does and then reports as tare report does. The exit "
	    "status is the program's.",
	.run = run,
	.options = { &tare_ze_cpu_options, &tare_recording_options, &tare_recording_time_options,
	             &tare_viewing_options, &tare_recording_more_options, &tare_reporting_options,
	             &tare_verbose_options, &tare_help_options },
};
