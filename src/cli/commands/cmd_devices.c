// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/measure_command.h"
#include "cli/devices/device_kernels.h"
#include "cli/options/command.h"
#include "cli/terminal/signals.h"
#include "measure/devices/devices.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool only_simulated(const struct tare_result *result)
{
	for (size_t i = 0; i < result->device_count; i++)
		if (strcmp(result->devices[i].backend, "simulated") != 0)
			return false;
	return result->device_count > 0;
}

// Moves what was asked for from `found` into the document.
static int gather(const struct tare_settings *settings, struct tare_result *found,
                  struct tare_result *result, struct tare_error *error)
{
	bool *chosen = calloc(found->device_count + 1, sizeof *chosen);
	int status = TARE_EXIT_FAILED, added = chosen ? 0 : -ENOMEM;

	if (chosen)
		status = tare_devices_choose(settings->device, found, chosen, error);
	for (size_t i = 0; added == 0 && status == TARE_EXIT_OK && i < found->device_count; i++)
		if (chosen[i])
			added = tare_device_move(found, i, result);
	for (size_t i = 0; added == 0 && !settings->device && i < found->absence_count; i++)
		added =
		    tare_result_add_absence(result, found->absences[i].backend,
		                            found->absences[i].reason, found->absences[i].action);
	// The simulated device alone is the same on every machine and day.
	if (added == 0 && only_simulated(result))
		tare_result_set_timeless(result);
	else if (added == 0)
		tare_topology_of_host(&result->host);
	free(chosen);
	if (added < 0) {
		tare_fail(error, ENOMEM, "out of memory");
		return TARE_EXIT_FAILED;
	}
	return status;
}

int tare_command_devices(const struct tare_settings *settings, struct tare_error *error)
{
	struct tare_result *found = tare_result_new("devices");
	struct tare_result *result = tare_result_new("devices");
	struct tare_outputs outputs = { 0 };
	struct tare_error why = { 0 };
	int status, kernels = TARE_EXIT_OK;

	if (!found || !result) {
		tare_fail(error, ENOMEM, "out of memory");
		status = TARE_EXIT_FAILED;
		goto out;
	}
	status = tare_device_kernels_check(settings, error);
	if (status != TARE_EXIT_OK)
		goto out;
	tare_signals_install(false);
	status = tare_outputs_open(settings, &outputs, error);
	if (status != TARE_EXIT_OK)
		goto out;
	status = tare_devices_find(settings->device, TARE_NEED_LISTING, found, error);
	if (status == TARE_EXIT_OK)
		status = gather(settings, found, result, error);
	if (status == TARE_EXIT_OK && settings->kernel)
		kernels = tare_device_kernels(settings, result, &why);
	if (status == TARE_EXIT_OK)
		status = tare_report_all(settings, &outputs, result, error);
	// What does not build is reported among the rest and fails the command.
	if (status == TARE_EXIT_OK && kernels != TARE_EXIT_OK) {
		*error = why;
		status = kernels;
	}
out:
	tare_outputs_close(&outputs);
	tare_result_free(result);
	tare_result_free(found);
	return status;
}
