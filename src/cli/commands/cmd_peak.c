// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/measure_command.h"
#include "cli/options/command.h"
#include "measure/core/peaks.h"
#include "measure/peak/peak.h"

#include <errno.h>

static int measure(struct tare_run *run, const void *context, struct tare_error *error)
{
	struct tare_error why = { 0 };
	int status = tare_measure_peak(run, error);

	(void)context;
	// Other commands take the ceilings from there.
	if (status == 0 && tare_peaks_keep(run->result, &why) < 0 &&
	    tare_result_warn(run->result, "not-kept",
	                     "give this result's JSON to other commands with --peaks FILE",
	                     "the result could not be kept for other commands: %s",
	                     why.message) < 0)
		status = tare_fail(error, ENOMEM, "out of memory");
	return status;
}

int tare_command_peak(const struct tare_settings *settings, struct tare_error *error)
{
	return tare_measure_command(settings, TARE_NEED_KERNELS, measure, NULL, error);
}
