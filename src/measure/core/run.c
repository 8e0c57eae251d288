// SPDX-License-Identifier: Apache-2.0
#include "measure/core/run.h"

#include "backend/call.h"
#include "measure/core/engines.h"
#include "measure/core/probe.h"
#include "measure/devices/devices.h"
#include "measure/host/step.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool tare_run_interrupted(const struct tare_run *run)
{
	return run->interrupted && *run->interrupted;
}

struct tare_host_time tare_run_now(const struct tare_run *run)
{
	return tare_device_now(run->device);
}

int64_t tare_run_remaining_ns(const struct tare_run *run)
{
	int64_t left = run->budget_ns - tare_host_elapsed_ns(run->started, tare_run_now(run));
	return left > 0 ? left : 0;
}

void tare_run_restart(struct tare_run *run)
{
	run->started = tare_run_now(run);
	run->cells_done = 0;
	run->cells_total = 0;
	run->needed_ns = 0;
	run->open_figures = 0;
	run->worst = 0;
	run->without_interval = 0;
	run->limited_figures = 0;
}

// The device as its driver tells of it, where the caller has not put it into the document.
static void add_device(struct tare_run *run)
{
	const struct tare_backend *backend = run->device->backend;
	struct tare_device_entry *entry = tare_result_add_device(run->result);
	struct tare_engine engines[16];
	int count;

	tare_device_entry_name(entry, backend->name, backend->title, NULL);
	entry->index = run->device->index;
	if (run->facts)
		entry->facts = *run->facts;
	count = tare_engines(run->device, engines, 16, NULL);
	if (count > 0)
		tare_device_entry_set_engines(entry, engines, count < 16 ? (size_t)count : 16);
}

// What the driver says against quoting any figure of this device.
static void warn_of_note(const struct tare_run *run)
{
	if (!run->facts || run->facts->doubt == TARE_DOUBT_NONE)
		return;
	for (size_t i = 0; i < run->result->warning_count; i++)
		if (strcmp(run->result->warnings[i].id, "not-a-device") == 0)
			return;
	tare_result_warn(run->result, "not-a-device",
	                 "quote none of these figures as a device's speed", "%s",
	                 run->facts->fact[TARE_FACT_NOTE].text);
}

// The simulated device's host clock counts whole nanoseconds; reading it would only pass its time.
static int64_t measure_step(const struct tare_run *run)
{
	struct tare_host_time reads[TARE_STEP_READS];

	if (run->simulated)
		return 1;
	for (size_t i = 0; i < TARE_STEP_READS; i++)
		reads[i] = tare_run_now(run);
	return tare_host_step_ns(reads, TARE_STEP_READS);
}

static int choose_engine(struct tare_run *run, struct tare_error *error)
{
	char title[48];
	int status = 0;

	if (run->engine_word)
		status = tare_engine_named(run->device, run->engine_word, &run->engine, error);
	if (status < 0 || !run->device->backend->binds_queues)
		return status;
	tare_engine_title(run->device, run->engine, title);
	tare_labels_set_text(&run->result->parameters, "engine", title);
	return 0;
}

int tare_run_begin(struct tare_run *run, int64_t default_budget_ns, struct tare_error *error)
{
	int status = tare_probe(run->device, error);

	if (status < 0)
		return status;
	run->simulated = strcmp(run->device->backend->name, "simulated") == 0;
	run->engine = tare_engine_for(run->device, TARE_USE_KERNELS);
	status = choose_engine(run, error);
	if (status < 0)
		return status;
	if (run->budget_ns <= 0)
		run->budget_ns = default_budget_ns;
	run->random = (struct tare_random){ .state = run->seed };
	run->host_step_ns = measure_step(run);
	tare_run_restart(run);
	if (run->result->device_count == 0)
		add_device(run);
	if (run->simulated)
		tare_result_set_timeless(run->result);
	else
		tare_topology_of_host(&run->result->host);
	tare_labels_set_number(&run->result->parameters, "seed", (int64_t)run->seed);
	tare_labels_set_number(&run->result->parameters, "budget_ns", run->budget_ns);
	if (run->samples)
		tare_labels_set_number(&run->result->parameters, "samples", (int64_t)run->samples);
	warn_of_note(run);
	return tare_result_status(run->result) < 0 ? tare_fail(error, ENOMEM, "out of memory") : 0;
}

static bool is_lost(int status)
{
	return tare_device_is_gone(status) || status == -EIO;
}

static bool has_measured(const struct tare_result *result)
{
	for (size_t i = 0; i < result->cell_count; i++) {
		const struct tare_cell *cell = &result->cells[i];
		if (!cell->absent && !tare_cell_is_model(cell))
			return true;
	}
	for (size_t i = 0; i < result->part_count; i++)
		if (has_measured(result->parts[i]))
			return true;
	return false;
}

bool tare_run_is_partial(const struct tare_run *run, int status)
{
	return status == -EINTR || (is_lost(status) && has_measured(run->result));
}

static void warn_lost(struct tare_run *run, int status, const struct tare_error *why)
{
	const char *action =
	    "see the kernel's log (dmesg), reset the device or restart the machine";

	if (!is_lost(status))
		return;
	if (status == -ETIMEDOUT)
		action = "stop what else uses the device and run again; if it stays so, reset it";
	tare_result_warn(run->result, "device-lost", action,
	                 "the run ended early, only what was measured until then is here: %s",
	                 why && why->message[0] ? why->message : "the device is gone");
}

int tare_run_end(struct tare_run *run, int status, struct tare_error *error)
{
	tare_run_warn_convergence(run);
	warn_lost(run, status, error);
	return tare_result_status(run->result) < 0 ? tare_fail(error, ENOMEM, "out of memory")
	                                           : status;
}

int tare_run_fail_if_wrong(const struct tare_run *run, const char *of, struct tare_error *error)
{
	size_t wrong = 0;

	for (size_t i = 0; i < run->result->cell_count; i++)
		wrong += run->result->cells[i].verified == TARE_WRONG;
	return wrong ? tare_fail(error, EBADMSG, "%zu figures are of %s", wrong, of) : 0;
}
