// SPDX-License-Identifier: Apache-2.0
#include "backend/simulated/simulated.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

_Static_assert((int)TARE_PLACE_PAGEABLE == (int)TARE_MEMORY_PAGEABLE &&
                   (int)TARE_PLACE_PINNED == (int)TARE_MEMORY_PINNED &&
                   (int)TARE_PLACE_WRITE_COMBINED == (int)TARE_MEMORY_WRITE_COMBINED &&
                   (int)TARE_PLACE_REGISTERED == (int)TARE_MEMORY_REGISTERED &&
                   (int)TARE_PLACE_DEVICE == (int)TARE_MEMORY_DEVICE &&
                   (int)TARE_PLACE_SHARED == (int)TARE_MEMORY_SHARED &&
                   (int)TARE_PLACE_MAPPED == (int)TARE_MEMORY_MAPPED &&
                   (int)TARE_PLACE_COUNT == (int)TARE_MEMORY_KIND_COUNT,
               "the script's kinds of memory are the contract's");

static int driver_open(const char *option, struct tare_driver **driver, struct tare_error *error)
{
	struct simulated_driver *opened = calloc(1, sizeof *opened);

	if (!opened)
		return tare_fail(error, ENOMEM, "out of memory");
	opened->base.backend = &tare_backend_simulated;
	int status = option ? tare_script_read(option, &opened->script, error)
	                    : tare_script_parse(tare_simulated_script, tare_simulated_script_bytes,
	                                        "default.tare-device", &opened->script, error);
	if (status < 0) {
		free(opened);
		return status;
	}
	*driver = &opened->base;
	return 0;
}

static void driver_close(struct tare_driver *driver)
{
	free(driver);
}

static uint32_t device_count(const struct tare_driver *driver)
{
	(void)driver;
	return 1;
}

static int device_facts(struct tare_driver *driver, uint32_t index, struct tare_facts *facts,
                        struct tare_error *error)
{
	if (index != 0)
		return tare_fail(error, EINVAL, "there is one simulated device, number 0");
	simulated_facts(&((struct simulated_driver *)driver)->script, facts);
	return 0;
}

static void queue_free(struct tare_queue *queue)
{
	if (queue)
		simulated_graph_leave((struct simulated_queue *)queue);
	simulated_queue_free(queue);
}

static void device_close(struct tare_device *base)
{
	struct simulated_device *device = (struct simulated_device *)base;

	if (!device)
		return;
	while (device->queues)
		queue_free(&device->queues->base);
	while (device->callbacks) {
		struct simulated_callback *callback = device->callbacks;
		device->callbacks = callback->next;
		free(callback);
	}
	tare_model_free(device->model);
	free(device->product.bytes);
	free(device);
}

const struct tare_backend tare_backend_simulated = {
	.name = "simulated",
	.title = "Simulated",
	.driver_open = driver_open,
	.driver_close = driver_close,
	.device_count = device_count,
	.device_facts = device_facts,
	.device_open = simulated_device_open,
	.device_close = device_close,
	.host_now = simulated_host_now,
	.host_pause = simulated_host_pause,
	.clock_rate = simulated_clock_rate,
	.clock_pair = simulated_clock_pair,
	.engines = simulated_engines,
	.memory_create = simulated_memory_create,
	.memory_free = simulated_memory_free,
	.memory_advise = simulated_memory_advise,
	.peer_enable = simulated_peer_enable,
	.queue_create = simulated_queue_create,
	.queue_free = queue_free,
	.append = simulated_append,
	.submit = simulated_submit,
	.finish = simulated_finish,
	.event_wait = simulated_event_wait,
	.event_done = simulated_event_done,
	.event_callback = simulated_event_callback,
	.event_stamps = simulated_event_stamps,
	.event_free = simulated_event_free,
	.gate_shut = simulated_gate_shut,
	.gate_open = simulated_gate_open,
	.gate_free = simulated_gate_free,
	.module_formats = 1u << TARE_MODULE_NATIVE,
	.module_create = simulated_module_create,
	.module_free = simulated_module_free,
	.kernel_create = simulated_kernel_create,
	.kernel_free = simulated_kernel_free,
	.kernel_facts = simulated_kernel_facts,
	.kernel_parameter = simulated_kernel_parameter,
	.graph_begin = simulated_graph_begin,
	.graph_end = simulated_graph_end,
	.graph_launch = simulated_graph_launch,
	.graph_stamps = simulated_graph_stamps,
	.graph_free = simulated_graph_free,
	.telemetry = simulated_telemetry,
};
