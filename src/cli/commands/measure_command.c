// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/measure_command.h"

#include "backend/call.h"
#include "cli/terminal/progress.h"
#include "cli/terminal/signals.h"
#include "cli/terminal/terminal.h"
#include "measure/devices/devices.h"
#include "report/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

// The device of one command, from finding to closing.
struct session {
	struct tare_result *found; // the devices to choose from
	struct tare_result *result;
	struct tare_driver *driver;
	struct tare_device *device;
};

static void session_close(struct session *session)
{
	bool lost = session->device && session->device->lost;

	if (session->device)
		tare_device_close(session->device);
	// What a lost device left behind still points into its driver.
	if (session->driver && !lost)
		session->driver->backend->driver_close(session->driver);
	tare_result_free(session->result);
	tare_result_free(session->found);
}

static int fail_memory(struct tare_error *error)
{
	tare_fail(error, ENOMEM, "out of memory");
	return TARE_EXIT_FAILED;
}

// Says which device was taken when the user left it open.
static void say_choice(const struct tare_settings *settings, const struct tare_result *found,
                       int best)
{
	const struct tare_device_entry *entry = &found->devices[best];
	const char *name = entry->facts.fact[TARE_FACT_NAME].text;
	size_t others = 0;

	for (size_t i = 0; i < found->device_count; i++)
		others += i != (size_t)best && strcmp(found->devices[i].backend, "simulated") != 0;
	if (settings->verbosity >= 0 && others && !settings->device)
		fprintf(stderr, "tare: %s: measuring %s (%s:%u); --device picks another\n",
		        settings->command->name, name, entry->backend, entry->index);
}

static int open_device(const struct tare_settings *settings, const struct tare_device_entry *entry,
                       struct session *session, struct tare_error *error)
{
	const struct tare_backend *backend = tare_backend_find(entry->backend);
	int status =
	    backend->driver_open(tare_device_script(settings->device), &session->driver, error);

	if (status == 0)
		status =
		    backend->device_open(session->driver, entry->index, &session->device, error);
	return status == 0 ? TARE_EXIT_OK : TARE_EXIT_FAILED;
}

static int session_open(const struct tare_settings *settings, enum tare_need need,
                        struct session *session, struct tare_error *error)
{
	struct tare_result *found = session->found = tare_result_new("devices");
	bool *chosen = NULL;
	int best, status;

	session->result = tare_result_new(settings->command->name);
	status = found && session->result ? tare_devices_find(settings->device, need, found, error)
	                                  : fail_memory(error);
	if (status != TARE_EXIT_OK)
		goto out;
	chosen = calloc(found->device_count + 1, sizeof *chosen);
	status = chosen ? tare_devices_choose(settings->device, found, chosen, error)
	                : fail_memory(error);
	if (status != TARE_EXIT_OK)
		goto out;
	status = TARE_EXIT_FAILED;
	best = tare_devices_best(settings->device, need, found, chosen, error);
	if (best < 0)
		goto out;
	say_choice(settings, found, best);
	status = open_device(settings, &found->devices[best], session, error);
	if (status == TARE_EXIT_OK && tare_device_move(found, (size_t)best, session->result) < 0)
		status = fail_memory(error);
	if (status == TARE_EXIT_OK &&
	    tare_device_describe_open(session->device, &session->result->devices[0], error) < 0)
		status = TARE_EXIT_FAILED;
out:
	free(chosen);
	return status;
}

uint64_t tare_choose_seed(const struct tare_settings *settings, bool simulated)
{
	uint64_t seed = 1;

	if (settings->seed_given)
		return settings->seed;
	if (simulated)
		return 1;
	if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) != sizeof seed)
		seed = (uint64_t)tare_host_now().ns;
	return seed % 1000000; // short enough to be typed again
}

int tare_report_all(const struct tare_settings *settings, struct tare_outputs *outputs,
                    const struct tare_result *result, struct tare_error *error)
{
	struct tare_text_options options = tare_terminal_text_options(settings->verbosity);
	int status = tare_outputs_write(outputs, result, error);

	if (status != TARE_EXIT_OK || tare_outputs_take_stdout(outputs))
		return status;
	if (tare_report_text(result, &options, stdout, error) < 0)
		return TARE_EXIT_FAILED;
	tare_outputs_print_paths(outputs, stdout);
	return tare_stdout_finish(error);
}

// A wait that came to its limit before there was any figure: what that means, and what to do.
static void say_nothing_was_measured(struct tare_error *error)
{
	size_t length = strlen(error->message);

	if (!error->advises)
		snprintf(error->message + length, sizeof error->message - length,
		         "; nothing was measured: does the device hang? stop what else uses it, or "
		         "reset it");
}

// Why a run has no figure at all: what most of its cells say, of those that say more than that time
// was short. NULL: it has figures, or more time might give some.
static const char *why_nothing(const struct tare_result *result)
{
	const char *why = NULL;
	size_t most = 0;

	for (size_t i = 0; i < result->cell_count; i++) {
		const char *absent = result->cells[i].absent;
		size_t same = 0;
		if (!absent)
			return NULL;
		if (result->cells[i].absence != TARE_ABSENT_OTHER)
			continue;
		for (size_t k = i; k < result->cell_count; k++)
			same += result->cells[k].absent && !strcmp(result->cells[k].absent, absent);
		if (same > most)
			why = absent;
		most = same > most ? same : most;
	}
	return why;
}

// Turns what measuring returned into a document and an exit status.
static int conclude(const struct tare_settings *settings, int measured, const struct tare_run *run,
                    struct tare_outputs *outputs, struct tare_error *error)
{
	struct tare_error why = *error;
	int status;

	if (measured < 0 && measured != -EBADMSG && !tare_run_is_partial(run, measured)) {
		if (measured == -ETIMEDOUT)
			say_nothing_was_measured(error);
		return TARE_EXIT_FAILED;
	}
	*error = (struct tare_error){ 0 };
	status = tare_report_all(settings, outputs, run->result, error);
	if (status == TARE_EXIT_OK && measured == 0 && why_nothing(run->result)) {
		tare_fail(error, ENODATA, "nothing was measured: %s", why_nothing(run->result));
		return TARE_EXIT_FAILED;
	}
	if (status != TARE_EXIT_OK || measured == 0)
		return status;
	*error = why;
	if (measured != -EINTR)
		return TARE_EXIT_FAILED;
	tare_fail(error, EINTR, "interrupted; what was measured until then is reported");
	return TARE_EXIT_INTERRUPTED;
}

int tare_measure_one_command(const struct tare_settings *settings, enum tare_need need,
                             int (*measure)(struct tare_run *run, const void *context,
                                            struct tare_error *error),
                             const void *context, struct tare_error *error)
{
	struct session session = { 0 };
	struct tare_outputs outputs;
	struct tare_progress progress;
	int measured, status;

	// First: a signal must find the handler that removes half-written files.
	tare_signals_install(true);
	status = tare_outputs_open(settings, &outputs, error);
	if (status != TARE_EXIT_OK)
		return status;
	tare_progress_start(&progress, settings->command->name, settings->verbosity >= 0);
	tare_progress_update(&progress, "opening the device", 0, 0, -1);
	status = session_open(settings, need, &session, error);
	if (status != TARE_EXIT_OK) {
		tare_progress_clear(&progress);
		goto out;
	}
	struct tare_run run = {
		.device = session.device,
		.facts = &session.result->devices[0].facts,
		.result = session.result,
		.budget_ns = settings->budget_ns,
		.seed = tare_choose_seed(settings,
		                         strcmp(session.device->backend->name, "simulated") == 0),
		.progress = tare_progress_update,
		.progress_context = &progress,
		.interrupted = &tare_interrupted,
		.listing = session.found,
		.engine_word = settings->engine,
	};
	tare_progress_update(&progress, "building kernels", 0, 0, -1);
	measured = measure(&run, context, error);
	tare_progress_clear(&progress);
	status = conclude(settings, measured, &run, &outputs, error);
out:
	session_close(&session);
	tare_outputs_close(&outputs);
	return status;
}
