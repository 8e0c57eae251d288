// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/measure_command.h"
#include "cli/options/commands.h"
#include "cli/options/groups.h"
#include "cli/terminal/signals.h"
#include "result/json.h"

static int run(const struct tare_settings *settings, struct tare_error *error)
{
	struct tare_result *result = NULL;
	struct tare_outputs outputs;
	int status;

	// Read first: the result may be rendered over itself.
	if (tare_result_read_file(settings->operands[0], &result, error) < 0)
		return TARE_EXIT_FAILED;
	tare_signals_install(false);
	status = tare_outputs_open(settings, &outputs, error);
	if (status == TARE_EXIT_OK) {
		status = tare_report_all(settings, &outputs, result, error);
		tare_outputs_close(&outputs);
	}
	tare_result_free(result);
	return status;
}

const struct tare_command tare_render_command = {
	.name = "render",
	.operands = "FILE.json",
	.operand = TARE_OPERAND_RESULT,
	.operands_min = 1,
	.operands_max = 1,
	.summary = "a saved result again, as text, page or CSV",
	.description =
	    "Reads a result that --json wrote and writes it again: as text, or as what the options "
	    "ask for.",
	.run = run,
	.options = { &tare_writing_options, &tare_quiet_options, &tare_verbose_options,
	             &tare_help_options },
};
