// SPDX-License-Identifier: Apache-2.0
#include "backend/call.h"

#include "backend/builder.h"
#include "base/interrupt.h"

#include <errno.h>
#include <stddef.h>

// What is left behind with a lost device is no leak to report.
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

static int cannot(const struct tare_backend *backend, const char *what, struct tare_error *error)
{
	return tare_fail(error, ENOSYS, "%s cannot %s", backend->title, what);
}

// Whatever gives a device work, or waits for it, could be held up by what hangs there.
static int given_up(struct tare_error *error)
{
	if (tare_interrupt_wanted())
		return tare_fail(error, EINTR, "interrupted");
	return tare_fail(error, ENODEV, "the device was given up: it hangs or is lost");
}

// ASK: int tare_NAME PARAMETERS hands on to the backend's member of that name, or says what the
// backend cannot. WORK: so it does, but for a device that was given up.
#define ASK(name, device_of, what, parameters, arguments)                                          \
	int tare_##name parameters                                                                 \
	{                                                                                          \
		const struct tare_backend *backend = (device_of)->backend;                         \
		return backend->name ? backend->name arguments : cannot(backend, what, error);     \
	}
#define WORK(name, device_of, what, parameters, arguments)                                         \
	int tare_##name parameters                                                                 \
	{                                                                                          \
		const struct tare_backend *backend = (device_of)->backend;                         \
		if ((device_of)->lost)                                                             \
			return given_up(error);                                                    \
		return backend->name ? backend->name arguments : cannot(backend, what, error);     \
	}

// WAIT: so it does, and a device whose work nobody waits for any longer is given up.
#define WAIT(name, device_of, what, parameters, arguments)                                         \
	int tare_##name parameters                                                                 \
	{                                                                                          \
		const struct tare_backend *backend = (device_of)->backend;                         \
		if ((device_of)->lost)                                                             \
			return given_up(error);                                                    \
		int status =                                                                       \
		    backend->name ? backend->name arguments : cannot(backend, what, error);        \
		if (status == -EINTR)                                                              \
			tare_device_abandon(device_of);                                            \
		return status;                                                                     \
	}

// One member after the other, in the order of the contract.
// clang-format off
ASK(engines, device, "read the engines",
    (struct tare_device *device, struct tare_engine *engines, uint32_t capacity,
     struct tare_error *error), (device, engines, capacity, error))
ASK(clock_rate, device, "read a device clock's rate",
    (struct tare_device *device, enum tare_clock clock, struct tare_clock_rate *rate,
     struct tare_error *error), (device, clock, rate, error))
WORK(clock_pair, device, "read device and host clock together",
     (struct tare_device *device, struct tare_clock_pair *pair, struct tare_error *error),
     (device, pair, error))
WORK(memory_create, device, "allocate memory",
     (struct tare_device *device, enum tare_memory_kind kind, uint64_t bytes,
      struct tare_memory **memory, struct tare_error *error), (device, kind, bytes, memory, error))
ASK(memory_advise, span.memory->device, "advise on memory",
    (struct tare_span span, enum tare_advice advice, struct tare_error *error),
    (span, advice, error))
ASK(peer_enable, device, "enable peers",
    (struct tare_device *device, struct tare_device *peer, struct tare_error *error),
    (device, peer, error))
WORK(queue_create, device, "create queues",
     (struct tare_device *device, const struct tare_queue_options *options,
      struct tare_queue **queue, struct tare_error *error), (device, options, queue, error))
WORK(append, queue->device, "append operations",
     (struct tare_queue *queue, const struct tare_operation *operation, struct tare_event **event,
      struct tare_error *error), (queue, operation, event, error))
WORK(submit, queue->device, "submit",
     (struct tare_queue *queue, struct tare_error *error), (queue, error))
WAIT(finish_fenced, queue->device, "wait by a fence",
     (struct tare_queue *queue, int64_t limit_ns, struct tare_error *error),
     (queue, limit_ns, error))
WORK(append_clock, queue->device, "write the device's clock from a queue",
     (struct tare_queue *queue, struct tare_span to, struct tare_error *error), (queue, to, error))
WAIT(finish, queue->device, "finish",
     (struct tare_queue *queue, int64_t limit_ns, struct tare_error *error),
     (queue, limit_ns, error))
WAIT(event_wait, event->device, "wait for events",
     (struct tare_event *event, int64_t limit_ns, struct tare_error *error),
     (event, limit_ns, error))
ASK(event_done, event->device, "query events",
    (struct tare_event *event, struct tare_error *error), (event, error))
ASK(event_callback, event->device, "call back from events",
    (struct tare_event *event, void (*function)(void *context), void *context,
     struct tare_error *error), (event, function, context, error))
ASK(event_stamps, event->device, "stamp events",
    (struct tare_event *event, struct tare_stamps *stamps, struct tare_error *error),
    (event, stamps, error))
WORK(gate_shut, queue->device, "hold a queue",
     (struct tare_queue *queue, struct tare_gate **gate, struct tare_error *error),
     (queue, gate, error))
ASK(gate_open, gate->device, "hold a queue",
    (struct tare_gate *gate, struct tare_error *error), (gate, error))
ASK(module_kernels, module->device, "list the kernels of a module",
    (struct tare_module *module, char *names, size_t size, struct tare_error *error),
    (module, names, size, error))
ASK(kernel_create, module->device, "create kernels",
    (struct tare_module *module, const char *name, struct tare_kernel **kernel,
     struct tare_error *error), (module, name, kernel, error))
ASK(kernel_facts, kernel->module->device, "tell about kernels",
    (struct tare_kernel *kernel, struct tare_kernel_facts *facts, struct tare_error *error),
    (kernel, facts, error))
ASK(kernel_parameter, kernel->module->device, "tell about kernel parameters",
    (struct tare_kernel *kernel, uint32_t index, struct tare_parameter *parameter,
     struct tare_error *error), (kernel, index, parameter, error))
WORK(blas_gemm, queue->device, "multiply matrices by a vendor's library",
     (struct tare_queue *queue, enum tare_blas_precision precision, uint32_t n, struct tare_span c,
      struct tare_span a, struct tare_span b, struct tare_event **event, struct tare_error *error),
     (queue, precision, n, c, a, b, event, error))
ASK(graph_begin, queue->device, "record graphs",
    (struct tare_queue *queue, struct tare_error *error), (queue, error))
ASK(graph_end, queue->device, "record graphs",
    (struct tare_queue *queue, struct tare_graph **graph, struct tare_error *error),
    (queue, graph, error))
WORK(graph_launch, queue->device, "launch graphs",
     (struct tare_graph *graph, struct tare_queue *queue, struct tare_event **event,
      struct tare_error *error), (graph, queue, event, error))
ASK(graph_stamps, graph->device, "stamp graph nodes",
    (struct tare_graph *graph, uint32_t node, struct tare_stamps *stamps, struct tare_error *error),
    (graph, node, stamps, error))
WORK(engine_stamps_begin, device, "trace engines",
     (struct tare_device *device, struct tare_error *error), (device, error))
WORK(engine_stamps_end, device, "trace engines",
     (struct tare_device *device, struct tare_error *error), (device, error))
ASK(telemetry, device, "read telemetry",
    (struct tare_device *device, struct tare_telemetry *telemetry, struct tare_error *error),
    (device, telemetry, error))
// clang-format on

int tare_module_create(struct tare_device *device, const struct tare_module_source *source,
                       struct tare_module **module, char **log, struct tare_error *error)
{
	if (device->lost)
		return given_up(error);
	if (!device->backend->module_create)
		return cannot(device->backend, "build modules", error);
	int status = device->backend->builds_anywhere
	                 ? backend_build_aside(device, source, module, log, error)
	                 : device->backend->module_create(device, source, module, log, error);
	if (status == -EINTR)
		tare_device_abandon(device);
	return status;
}

int tare_image_create(struct tare_device *device, const struct tare_image *shape,
                      struct tare_memory **memory, struct tare_error *error)
{
	const struct tare_backend *backend = device->backend;
	if (device->lost)
		return given_up(error);
	if (!backend->image_create)
		return tare_fail(error, ENOSYS, "tare makes no images or arrays through %s",
		                 backend->title);
	return backend->image_create(device, shape, memory, error);
}

const char *tare_blas_name(struct tare_device *device)
{
	return device->backend->blas_name ? device->backend->blas_name(device) : "";
}

void tare_device_abandon(struct tare_device *device)
{
	if (device)
		device->lost = true;
}

// True when the object is to be freed; leaves it where it is when its device was abandoned.
static bool may_free(const struct tare_device *device, const void *object)
{
#ifdef __SANITIZE_ADDRESS__
	if (device->lost)
		__lsan_ignore_object(object);
#else
	(void)object;
#endif
	return !device->lost;
}

// void tare_NAME(struct TYPE *object) frees it; nothing happens to NULL.
#define FREE(name, type, device_of)                                                                \
	void tare_##name(struct type *object)                                                      \
	{                                                                                          \
		if (object && may_free(device_of, object) && (device_of)->backend->name)           \
			(device_of)->backend->name(object);                                        \
	}

// One a line.
// clang-format off
FREE(memory_free, tare_memory, object->device)
FREE(queue_free, tare_queue, object->device)
FREE(event_free, tare_event, object->device)
FREE(gate_free, tare_gate, object->device)
FREE(module_free, tare_module, object->device)
FREE(kernel_free, tare_kernel, object->module->device)
FREE(graph_free, tare_graph, object->device)
FREE(device_close, tare_device, object)
// clang-format on
