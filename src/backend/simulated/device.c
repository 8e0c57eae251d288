// SPDX-License-Identifier: Apache-2.0
#include "backend/simulated/simulated.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- what completes

void simulated_call_at(struct simulated_device *device, struct simulated_callback *callback)
{
	struct simulated_callback **link = &device->callbacks;

	while (*link && (*link)->due_ps <= callback->due_ps)
		link = &(*link)->next;
	callback->next = *link;
	*link = callback;
}

// Moves the callbacks of a finished command to the device's list.
static void schedule_callbacks(struct simulated_device *device, struct simulated_command *command)
{
	while (command->callbacks) {
		struct simulated_callback *callback = command->callbacks;
		command->callbacks = callback->next;
		callback->due_ps =
		    tare_model_add_ps(command->model.end_ps, device->script->host.callback_ps);
		simulated_call_at(device, callback);
	}
}

static void run_host_call(struct simulated_device *device, struct simulated_command *command)
{
	int64_t before = device->callback_ps;

	device->callback_ps = command->model.end_ps;
	command->operation.call.function(command->operation.call.context);
	device->callback_ps = before;
}

// The model calls this for each operation as it completes.
static void command_done(void *context, struct tare_model_operation *operation)
{
	struct simulated_device *device = context;
	struct simulated_command *command = (struct simulated_command *)operation;
	const struct tare_script_faults *faults = &device->script->faults;

	if (command->number && command->number == faults->lost_at)
		device->lost = true;
	if (device->lost)
		command->status = -ENODEV;
	else if (command->number && command->number == faults->fail_at)
		command->status = -EIO;
	command->wrong = command->number && command->number == faults->wrong_at;
	if (command->status == 0 && !command->is_gate) {
		if (command->operation.type == TARE_OPERATION_HOST_CALL)
			run_host_call(device, command);
		else
			simulated_effect(command);
	}
	if (command->status < 0 && command->queue)
		command->queue->failed = command->number;
	simulated_command_leave(command);
	schedule_callbacks(device, command);
	simulated_command_release(command);
}

// ---- time

// Lets the device's and the callbacks' time pass up to the host's.
static void catch_up(struct simulated_device *device)
{
	tare_model_run(device->model, device->host_ps);
	while (device->callbacks && device->callbacks->due_ps <= device->host_ps) {
		struct simulated_callback *callback = device->callbacks;
		device->callbacks = callback->next;
		device->callback_ps = callback->due_ps;
		callback->function(callback->context);
		device->callback_ps = -1;
		free(callback);
	}
}

void simulated_spend(struct simulated_device *device, int64_t ps)
{
	// A callback runs beside the host: its time is its own.
	if (device->callback_ps >= 0)
		return;
	device->host_ps = tare_model_add_ps(device->host_ps, ps);
	catch_up(device);
}

void simulated_host_goes_on_at(struct simulated_device *device, int64_t ps)
{
	if (ps > device->host_ps)
		device->host_ps = ps > TARE_PS_MAX ? TARE_PS_MAX : ps;
	catch_up(device);
}

struct tare_host_time simulated_host_now(struct tare_device *base)
{
	struct simulated_device *device = (struct simulated_device *)base;

	simulated_spend(device, device->script->host.clock_ps);
	int64_t ps = device->callback_ps >= 0 ? device->callback_ps : device->host_ps;
	return (struct tare_host_time){ ps / 1000 };
}

void simulated_host_pause(struct tare_device *device, int64_t ns)
{
	if (ns > 0)
		simulated_spend((struct simulated_device *)device,
		                ns > TARE_PS_MAX / 1000 ? TARE_PS_MAX : ns * 1000);
}

int simulated_check(const struct simulated_device *device, struct tare_error *error)
{
	if (device->callback_ps >= 0)
		return tare_fail(error, EINVAL,
		                 "a callback may read the host clock and nothing else");
	if (device->lost)
		return tare_fail(error, ENODEV,
		                 "the device is lost (fault device-lost %llu of the script)",
		                 (unsigned long long)device->script->faults.lost_at);
	return 0;
}

int simulated_wait(struct simulated_device *device, struct simulated_command *command,
                   int64_t limit_ns, struct tare_error *error)
{
	const struct tare_script_host *host = &device->script->host;
	bool native = limit_ns < 0; // TARE_LIMIT_NATIVE
	int64_t limit_ps = native || limit_ns > TARE_PS_MAX / 1000
	                       ? TARE_PS_MAX
	                       : tare_model_add_ps(device->host_ps, limit_ns * 1000);
	int64_t idle_ps = tare_model_add_ps(device->host_ps, host->finish_ps);

	if (command->model.phase == TARE_PHASE_DONE) {
		simulated_host_goes_on_at(device, idle_ps);
	} else if (tare_model_run_until(device->model, &command->model, limit_ps)) {
		int64_t awake_ps = tare_model_add_ps(command->model.end_ps, host->wake_ps);
		simulated_host_goes_on_at(device, awake_ps > idle_ps ? awake_ps : idle_ps);
	} else {
		if (native)
			return tare_fail(error, ETIMEDOUT,
			                 "this wait would never end: what it waits for is held "
			                 "by a gate, was not submitted, or hangs");
		simulated_host_goes_on_at(device, limit_ps);
		return tare_fail(error, ETIMEDOUT, "not done after %.3g s", (double)limit_ns / 1e9);
	}
	if (command->status == -ENODEV)
		return tare_fail(error, ENODEV,
		                 "the device is lost (fault device-lost %llu of the script)",
		                 (unsigned long long)device->script->faults.lost_at);
	if (command->status < 0)
		return tare_fail(error, -command->status,
		                 "operation %llu failed on the device (fault "
		                 "failure of the script)",
		                 (unsigned long long)command->number);
	return 0;
}

// ---- clocks

int simulated_clock_rate(struct tare_device *base, enum tare_clock clock,
                         struct tare_clock_rate *rate, struct tare_error *error)
{
	const struct tare_script *script = ((struct simulated_device *)base)->script;

	if (clock == TARE_CLOCK_STAMPS && !script->stamps)
		return tare_fail(error, ENOTSUP,
		                 "this device stamps nothing (stamps none in the script)");
	if (clock == TARE_CLOCK_PAIRS && !script->has_pairs)
		return tare_fail(error, ENOTSUP,
		                 "the device clock cannot be read (pairs none in the script)");
	*rate = clock == TARE_CLOCK_STAMPS ? script->timer.rate : script->pair_timer.rate;
	return 0;
}

int simulated_clock_pair(struct tare_device *base, struct tare_clock_pair *pair,
                         struct tare_error *error)
{
	struct simulated_device *device = (struct simulated_device *)base;
	const struct tare_script *script = device->script;
	int status = simulated_check(device, error);

	if (status < 0)
		return status;
	if (!script->has_pairs)
		return tare_fail(error, ENOTSUP,
		                 "the device clock cannot be read (pairs none in the script)");
	pair->before = simulated_host_now(base);
	simulated_spend(device, script->pairs.before_ps);
	pair->device = tare_model_ticks(&script->pair_timer, device->host_ps);
	simulated_spend(device, script->pairs.after_ps);
	pair->after = simulated_host_now(base);
	return 0;
}

// ---- what the device has

int simulated_engines(struct tare_device *base, struct tare_engine *engines, uint32_t capacity,
                      struct tare_error *error)
{
	const struct tare_script *script = ((struct simulated_device *)base)->script;
	uint32_t of_class[2] = { 0, 0 };

	(void)error;
	for (size_t i = 0; i < script->engine_count; i++) {
		const struct tare_script_engine *from = &script->engines[i];
		struct tare_engine engine = {
			.class = from->compute ? TARE_ENGINE_COMPUTE : TARE_ENGINE_COPY,
			.index = of_class[from->compute]++,
			.known = from->known,
		};
		if (from->title[0])
			snprintf(engine.title, sizeof engine.title, "%.47s", from->title);
		else
			snprintf(engine.title, sizeof engine.title, "%s engine %u",
			         from->compute ? "compute" : "copy", engine.index);
		if (i < capacity)
			engines[i] = engine;
	}
	return (int)script->engine_count;
}

int simulated_telemetry(struct tare_device *base, struct tare_telemetry *telemetry,
                        struct tare_error *error)
{
	const struct tare_script *script = ((struct simulated_device *)base)->script;
	const struct tare_script_telemetry *from = &script->telemetry;

	if (!from->line)
		return tare_fail(error, ENOTSUP, "the script has no telemetry");
	*telemetry = (struct tare_telemetry){
		.clock_hz = from->clock_hz,
		.memory_clock_hz = from->memory_clock_hz,
		.throttle = from->throttle,
		.power_w = (double)from->power_mw / 1000,
		.temperature_c = (double)from->temperature_mc / 1000,
		.link_generation = (uint32_t)script->link.generation,
		.link_width = (uint32_t)script->link.width,
	};
	telemetry->present = 1u << TARE_TELEMETRY_THROTTLE;
	telemetry->present |= (uint32_t)(from->clock_hz > 0) << TARE_TELEMETRY_CLOCK;
	telemetry->present |= (uint32_t)(from->memory_clock_hz > 0) << TARE_TELEMETRY_MEMORY_CLOCK;
	telemetry->present |= (uint32_t)(from->power_mw > 0) << TARE_TELEMETRY_POWER;
	telemetry->present |= (uint32_t)(from->temperature_mc > 0) << TARE_TELEMETRY_TEMPERATURE;
	telemetry->present |= (uint32_t)(script->link.generation > 0) << TARE_TELEMETRY_LINK;
	return 0;
}

int simulated_lacks(const struct simulated_device *device, enum tare_lack lack,
                    struct tare_error *error)
{
	const char *reason = device->script->lacks[lack];

	return reason[0] ? tare_fail(error, ENOTSUP, "%s", reason) : 0;
}

// ---- opening

int simulated_device_open(struct tare_driver *base, uint32_t index, struct tare_device **device,
                          struct tare_error *error)
{
	struct simulated_driver *driver = (struct simulated_driver *)base;

	if (index != 0)
		return tare_fail(error, EINVAL, "there is one simulated device, number 0");
	struct simulated_device *opened = calloc(1, sizeof *opened);
	if (!opened)
		return tare_fail(error, ENOMEM, "out of memory");
	opened->base =
	    (struct tare_device){ .backend = base->backend,
		                  .index = 0,
		                  .host_rate = (double)driver->script.host.multiply_rate };
	opened->script = &driver->script;
	opened->callback_ps = -1;
	opened->jitter.state = driver->script.jitter.seed;
	opened->model = tare_model_new(opened->script, command_done, opened);
	if (!opened->model) {
		free(opened);
		return tare_fail(error, ENOMEM, "out of memory");
	}
	*device = &opened->base;
	return 0;
}
