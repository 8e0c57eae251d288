// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/measure_command.h"
#include "cli/devices/device_counters.h"
#include "cli/devices/device_kernels.h"
#include "cli/options/commands.h"
#include "cli/options/groups.h"
#include "cli/terminal/signals.h"
#include "measure/devices/devices.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct own {
	int counters;
	struct tare_texts options;
};

static const struct tare_texts *sets_of(const struct tare_settings *settings)
{
	return &((const struct own *)(const void *)settings->own)->options;
}

static bool lists_counters(const struct tare_settings *settings)
{
	return ((const struct own *)(const void *)settings->own)->counters;
}

static int check(const struct tare_settings *settings, struct tare_error *error)
{
	if (lists_counters(settings) &&
	    (settings->json || settings->csv || settings->html || settings->kernel))
		return tare_usage(error, "--counters is a text by itself: leave --json, --csv, "
		                         "--html and --kernel out");
	if (lists_counters(settings))
		tare_device_counters_prepare();
	return tare_device_kernels_check(settings, sets_of(settings), error);
}

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

static int run(const struct tare_settings *settings, struct tare_error *error)
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
	status = check(settings, error);
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
		kernels = tare_device_kernels(settings, sets_of(settings), result, &why);
	if (status == TARE_EXIT_OK && lists_counters(settings))
		status = tare_device_counters(settings, result, stdout, error);
	else if (status == TARE_EXIT_OK)
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

static const struct tare_option own_options_rows[] = {
	{ .name = "kernel",
	  .letter = 'k',
	  .value = TARE_VALUE_FILE,
	  .value_name = "FILE",
	  .summary = "build this file for each device and say what the driver tells of its kernels",
	  .detail = "FILE is .spv, .cl, .ptx or .cu; nothing of it is run. A build log is shown.",
	  .offset = TARE_SETTING(kernel) },
	{ .name = "counters",
	  .value = TARE_VALUE_NONE,
	  .summary = "what hardware counters the drivers list, and why not, instead of facts",
	  .offset = TARE_OWN_SETTING(struct own, counters),
	  .sets = 1 },
	{ .name = "options",
	  .value = TARE_VALUE_WORDS,
	  .value_name = "SET...",
	  .summary = "build FILE with each of these sets of options too, and compare what it gives",
	  .detail = "Each SET is one word of the shell, put behind --build-options: --options "
	            "'-cl-mad-enable' '-DTILE=32'. A is --build-options alone. Nothing is run; "
	            "tare blocks --options times sets on a program.",
	  .offset = TARE_OWN_SETTING(struct own, options) },
	{ .name = "entry",
	  .value = TARE_VALUE_TEXT,
	  .value_name = "NAME",
	  .summary = "only this kernel of FILE (default: all)",
	  .offset = TARE_SETTING(entry) },
};
static const struct tare_option_group own_options = TARE_OPTION_GROUP(own_options_rows);

const struct tare_command tare_devices_command = {
	.name = "devices",
	.operands = "",
	.summary = "what devices there are, their clocks and their ceilings",
	.description =
	    "Lists every device of every API: what it is, how its clock ticks, what it could do on "
	    "paper. A device seen through two APIs is listed once. APIs that gave no device say "
	    "why.",
	.run = run,
	.options = { &tare_device_options, &tare_ze_cpu_options, &own_options, &tare_build_options,
	             &tare_writing_options, &tare_quiet_options, &tare_verbose_options,
	             &tare_help_options },
};
