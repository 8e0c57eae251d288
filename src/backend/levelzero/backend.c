// SPDX-License-Identifier: Apache-2.0
// Level Zero through its loader, opened at run time: docs/levelzero.md.
#include "backend/host_clock.h"
#include "backend/levelzero/facts/facts.h"
#include "backend/levelzero/internal.h"
#include "backend/levelzero/module.h"
#include "backend/levelzero/work.h"

#include <errno.h>
#include <stdlib.h>

extern const struct tare_backend tare_backend_levelzero;

static void driver_close(struct tare_driver *base)
{
	struct levelzero_driver *driver = (struct levelzero_driver *)base;

	if (!driver)
		return;
	for (uint32_t i = 0; i < driver->count; i++)
		if (driver->contexts[i] && driver->call.zeContextDestroy)
			driver->call.zeContextDestroy(driver->contexts[i]);
	tare_library_close(driver->library);
	free(driver);
}

static int driver_open(const char *option, struct tare_driver **driver, struct tare_error *error)
{
	struct levelzero_driver *opened = calloc(1, sizeof *opened);
	const char *limit = getenv("TARE_LEVELZERO_LIMIT_MS");
	long long limit_ms = limit ? strtoll(limit, NULL, 10) : 0;
	int status;

	(void)option;
	if (!opened)
		return tare_fail(error, ENOMEM, "out of memory");
	opened->base.backend = &tare_backend_levelzero;
	// So that tests of what never ends do not take as long as users may have to wait.
	opened->longest_wait_ns = limit_ms > 0 && limit_ms <= 1000000 ? limit_ms * 1000000 : 0;
	status = levelzero_library_open(opened, error);
	if (status < 0) {
		driver_close(&opened->base);
		return status;
	}
	*driver = &opened->base;
	return 0;
}

static uint32_t device_count(const struct tare_driver *driver)
{
	return ((const struct levelzero_driver *)driver)->count;
}

static void device_close(struct tare_device *base)
{
	struct levelzero_device *device = (struct levelzero_device *)base;

	if (!device)
		return;
	levelzero_work_close(device);
	free(device);
}

// The context of the device's driver, made when the first of its devices is opened. A driver that
// makes none can still be asked; what needs a context says that there is none.
static int enter_context(struct levelzero_device *device, uint32_t index, struct tare_error *error)
{
	const ze_context_desc_t wanted = { .stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC };
	struct levelzero_driver *driver = device->driver;
	uint32_t first = 0;

	while (first < index && driver->places[first].driver != device->place.driver)
		first++;
	if (!driver->contexts[first] && driver->call.zeContextCreate) {
		ze_result_t result = driver->call.zeContextCreate(device->place.driver, &wanted,
		                                                  &driver->contexts[first]);
		if (result != ZE_RESULT_SUCCESS)
			driver->contexts[first] = NULL;
		if (result != ZE_RESULT_SUCCESS && result != ZE_RESULT_ERROR_UNSUPPORTED_FEATURE)
			return levelzero_fail(result, "zeContextCreate", error,
			                      "cannot open the device");
	}
	device->context = driver->contexts[first];
	return 0;
}

static int device_open(struct tare_driver *base, uint32_t index, struct tare_device **device,
                       struct tare_error *error)
{
	struct levelzero_driver *driver = (struct levelzero_driver *)base;
	struct levelzero_device *opened;
	ze_device_properties_t properties;
	int status;

	if (index >= driver->count)
		return tare_fail(error, EINVAL, "Level Zero has no device %u; it has %u", index,
		                 driver->count);
	opened = calloc(1, sizeof *opened);
	if (!opened)
		return tare_fail(error, ENOMEM, "out of memory");
	opened->base = (struct tare_device){ .backend = &tare_backend_levelzero, .index = index };
	opened->driver = driver;
	opened->place = driver->places[index];
	status = levelzero_properties(driver, &opened->place, &properties, error);
	if (status == 0)
		opened->base.scripted =
		    levelzero_make_of(driver, &opened->place) == LEVELZERO_SCRIPTED;
	if (status == 0)
		status = levelzero_rates(driver, &opened->place, &properties, opened->rates, error);
	status = status ?: enter_context(opened, index, error);
	if (status < 0) {
		free(opened);
		return status;
	}
	*device = &opened->base;
	return 0;
}

static int clock_rate(struct tare_device *device, enum tare_clock clock,
                      struct tare_clock_rate *rate, struct tare_error *error)
{
	(void)error;
	*rate = ((struct levelzero_device *)device)->rates[clock];
	return 0;
}

static int clock_pair(struct tare_device *base, struct tare_clock_pair *pair,
                      struct tare_error *error)
{
	struct levelzero_device *device = (struct levelzero_device *)base;
	const struct levelzero_functions *call = &device->driver->call;
	uint64_t host = 0, ticks = 0;

	if (!call->zeDeviceGetGlobalTimestamps)
		return tare_fail(error, ENOTSUP, "this loader lacks zeDeviceGetGlobalTimestamps");
	// The driver's own host time is of a clock that the specification does not name exactly,
	// and "close together" is no bound. Ours are.
	pair->before = tare_host_now();
	ze_result_t result = call->zeDeviceGetGlobalTimestamps(device->place.device, &host, &ticks);
	pair->after = tare_host_now();
	if (result == ZE_RESULT_ERROR_UNSUPPORTED_FEATURE)
		return tare_fail(error, ENOTSUP, "this device's clock cannot be read");
	if (result != ZE_RESULT_SUCCESS)
		return levelzero_fail(result, "zeDeviceGetGlobalTimestamps", error,
		                      "cannot read the device's clock");
	pair->device.ticks = ticks;
	return 0;
}

static int engines(struct tare_device *base, struct tare_engine *list, uint32_t capacity,
                   struct tare_error *error)
{
	struct levelzero_device *device = (struct levelzero_device *)base;
	return levelzero_engines_of(device->driver, &device->place, list, capacity, error);
}

const struct tare_backend tare_backend_levelzero = {
	.name = "levelzero",
	.title = "Level Zero",
	.binds_queues = true,
	.needs_probe = true,
	.driver_open = driver_open,
	.driver_close = driver_close,
	.device_count = device_count,
	.device_facts = levelzero_facts,
	.counters = levelzero_counters,
	.sampler = &levelzero_sampler,
	.device_open = device_open,
	.device_close = device_close,
	.host_now = tare_backend_host_now,
	.host_pause = tare_backend_host_pause,
	.clock_rate = clock_rate,
	.clock_pair = clock_pair,
	.engines = engines,
	.memory_create = levelzero_memory_create,
	.memory_free = levelzero_memory_free,
	.image_create = levelzero_image_create,
	.memory_advise = levelzero_memory_advise,
	.queue_create = levelzero_queue_create,
	.queue_free = levelzero_queue_free,
	.append = levelzero_append,
	.append_clock = levelzero_append_clock,
	.submit = levelzero_submit,
	.finish = levelzero_finish,
	.finish_fenced = levelzero_finish_fenced,
	.event_wait = levelzero_event_wait,
	.event_done = levelzero_event_done,
	.event_stamps = levelzero_event_stamps,
	.event_free = levelzero_event_free,
	.gate_shut = levelzero_gate_shut,
	.gate_open = levelzero_gate_open,
	.gate_free = levelzero_gate_free,
	.module_formats = 1 << TARE_MODULE_SPIRV | 1 << TARE_MODULE_NATIVE,
	.builds_anywhere = true,
	.module_create = levelzero_module_create,
	.module_free = levelzero_module_free,
	.module_kernels = levelzero_module_kernels,
	.kernel_create = levelzero_kernel_create,
	.kernel_free = levelzero_kernel_free,
	.kernel_facts = levelzero_kernel_facts,
	.kernel_parameter = levelzero_kernel_parameter,
	.graph_begin = levelzero_graph_begin,
	.graph_end = levelzero_graph_end,
	.graph_launch = levelzero_graph_launch,
	.graph_stamps = levelzero_graph_stamps,
	.graph_free = levelzero_graph_free,
};
