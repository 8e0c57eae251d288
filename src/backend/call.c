// SPDX-License-Identifier: Apache-2.0
#include "backend/call.h"

#include <errno.h>
#include <stddef.h>

// What is left behind with a lost device is no leak to report.
#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifdef SANITIZED
#include <sanitizer/lsan_interface.h>
#endif

static int cannot(const struct tare_backend *backend, const char *what, struct tare_error *error)
{
	return tare_fail(error, ENOSYS, "%s cannot %s", backend->title, what);
}

// Whatever gives a device work, or waits for it, could be held up by what hangs there.
static int given_up(struct tare_error *error)
{
	return tare_fail(error, ENODEV, "the device was given up: it hangs or is lost");
}

int tare_engines(struct tare_device *device, struct tare_engine *engines, uint32_t capacity,
                 struct tare_error *error)
{
	const struct tare_backend *backend = device->backend;
	if (!backend->engines)
		return cannot(backend, "read the engines", error);
	return backend->engines(device, engines, capacity, error);
}

int tare_clock_rate(struct tare_device *device, enum tare_clock clock, struct tare_clock_rate *rate,
                    struct tare_error *error)
{
	const struct tare_backend *backend = device->backend;
	if (!backend->clock_rate)
		return cannot(backend, "read a device clock's rate", error);
	return backend->clock_rate(device, clock, rate, error);
}

int tare_clock_pair(struct tare_device *device, struct tare_clock_pair *pair,
                    struct tare_error *error)
{
	const struct tare_backend *backend = device->backend;
	if (device->lost)
		return given_up(error);
	if (!backend->clock_pair)
		return cannot(backend, "read device and host clock together", error);
	return backend->clock_pair(device, pair, error);
}

int tare_memory_create(struct tare_device *device, enum tare_memory_kind kind, uint64_t bytes,
                       struct tare_memory **memory, struct tare_error *error)
{
	const struct tare_backend *backend = device->backend;
	if (device->lost)
		return given_up(error);
	if (!backend->memory_create)
		return cannot(backend, "allocate memory", error);
	return backend->memory_create(device, kind, bytes, memory, error);
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

int tare_memory_import(struct tare_device *device, void *host, uint64_t bytes,
                       struct tare_memory **memory, struct tare_error *error)
{
	const struct tare_backend *backend = device->backend;
	if (!backend->memory_import)
		return cannot(backend, "import memory", error);
	return backend->memory_import(device, host, bytes, memory, error);
}

int tare_memory_advise(struct tare_span span, enum tare_advice advice, struct tare_error *error)
{
	const struct tare_backend *backend = span.memory->device->backend;
	if (!backend->memory_advise)
		return cannot(backend, "advise on memory", error);
	return backend->memory_advise(span, advice, error);
}

int tare_peer_enable(struct tare_device *device, struct tare_device *peer, struct tare_error *error)
{
	const struct tare_backend *backend = device->backend;
	if (!backend->peer_enable)
		return cannot(backend, "enable peers", error);
	return backend->peer_enable(device, peer, error);
}

int tare_queue_create(struct tare_device *device, const struct tare_queue_options *options,
                      struct tare_queue **queue, struct tare_error *error)
{
	const struct tare_backend *backend = device->backend;
	if (device->lost)
		return given_up(error);
	if (!backend->queue_create)
		return cannot(backend, "create queues", error);
	return backend->queue_create(device, options, queue, error);
}

int tare_append(struct tare_queue *queue, const struct tare_operation *operation,
                struct tare_event **event, struct tare_error *error)
{
	const struct tare_backend *backend = queue->device->backend;
	if (queue->device->lost)
		return given_up(error);
	if (!backend->append)
		return cannot(backend, "append operations", error);
	return backend->append(queue, operation, event, error);
}

int tare_submit(struct tare_queue *queue, struct tare_error *error)
{
	const struct tare_backend *backend = queue->device->backend;
	if (queue->device->lost)
		return given_up(error);
	if (!backend->submit)
		return cannot(backend, "submit", error);
	return backend->submit(queue, error);
}

int tare_finish_fenced(struct tare_queue *queue, int64_t limit_ns, struct tare_error *error)
{
	const struct tare_backend *backend = queue->device->backend;
	if (queue->device->lost)
		return given_up(error);
	if (!backend->finish_fenced)
		return cannot(backend, "wait by a fence", error);
	return backend->finish_fenced(queue, limit_ns, error);
}

int tare_append_clock(struct tare_queue *queue, struct tare_span to, struct tare_error *error)
{
	const struct tare_backend *backend = queue->device->backend;
	if (queue->device->lost)
		return given_up(error);
	if (!backend->append_clock)
		return cannot(backend, "write the device's clock from a queue", error);
	return backend->append_clock(queue, to, error);
}

int tare_finish(struct tare_queue *queue, int64_t limit_ns, struct tare_error *error)
{
	const struct tare_backend *backend = queue->device->backend;
	if (queue->device->lost)
		return given_up(error);
	if (!backend->finish)
		return cannot(backend, "finish", error);
	return backend->finish(queue, limit_ns, error);
}

int tare_event_wait(struct tare_event *event, int64_t limit_ns, struct tare_error *error)
{
	const struct tare_backend *backend = event->device->backend;
	if (event->device->lost)
		return given_up(error);
	if (!backend->event_wait)
		return cannot(backend, "wait for events", error);
	return backend->event_wait(event, limit_ns, error);
}

int tare_event_done(struct tare_event *event, struct tare_error *error)
{
	const struct tare_backend *backend = event->device->backend;
	if (!backend->event_done)
		return cannot(backend, "query events", error);
	return backend->event_done(event, error);
}

int tare_event_callback(struct tare_event *event, void (*function)(void *context), void *context,
                        struct tare_error *error)
{
	const struct tare_backend *backend = event->device->backend;
	if (!backend->event_callback)
		return cannot(backend, "call back from events", error);
	return backend->event_callback(event, function, context, error);
}

int tare_event_stamps(struct tare_event *event, struct tare_stamps *stamps,
                      struct tare_error *error)
{
	const struct tare_backend *backend = event->device->backend;
	if (!backend->event_stamps)
		return cannot(backend, "stamp events", error);
	return backend->event_stamps(event, stamps, error);
}

int tare_gate_shut(struct tare_queue *queue, struct tare_gate **gate, struct tare_error *error)
{
	const struct tare_backend *backend = queue->device->backend;
	if (queue->device->lost)
		return given_up(error);
	if (!backend->gate_shut)
		return cannot(backend, "hold a queue", error);
	return backend->gate_shut(queue, gate, error);
}

int tare_gate_open(struct tare_gate *gate, struct tare_error *error)
{
	const struct tare_backend *backend = gate->device->backend;
	if (!backend->gate_open)
		return cannot(backend, "hold a queue", error);
	return backend->gate_open(gate, error);
}

int tare_module_create(struct tare_device *device, const struct tare_module_source *source,
                       struct tare_module **module, char **log, struct tare_error *error)
{
	const struct tare_backend *backend = device->backend;
	if (device->lost)
		return given_up(error);
	if (!backend->module_create)
		return cannot(backend, "build modules", error);
	return backend->module_create(device, source, module, log, error);
}

int tare_module_kernels(struct tare_module *module, char *names, size_t size,
                        struct tare_error *error)
{
	const struct tare_backend *backend = module->device->backend;
	if (!backend->module_kernels)
		return cannot(backend, "list the kernels of a module", error);
	return backend->module_kernels(module, names, size, error);
}

int tare_kernel_create(struct tare_module *module, const char *name, struct tare_kernel **kernel,
                       struct tare_error *error)
{
	const struct tare_backend *backend = module->device->backend;
	if (!backend->kernel_create)
		return cannot(backend, "create kernels", error);
	return backend->kernel_create(module, name, kernel, error);
}

int tare_kernel_facts(struct tare_kernel *kernel, struct tare_kernel_facts *facts,
                      struct tare_error *error)
{
	const struct tare_backend *backend = kernel->module->device->backend;
	if (!backend->kernel_facts)
		return cannot(backend, "tell about kernels", error);
	return backend->kernel_facts(kernel, facts, error);
}

int tare_kernel_parameter(struct tare_kernel *kernel, uint32_t index,
                          struct tare_parameter *parameter, struct tare_error *error)
{
	const struct tare_backend *backend = kernel->module->device->backend;
	if (!backend->kernel_parameter)
		return cannot(backend, "tell about kernel parameters", error);
	return backend->kernel_parameter(kernel, index, parameter, error);
}

int tare_blas_gemm(struct tare_queue *queue, enum tare_blas_precision precision, uint32_t n,
                   struct tare_span c, struct tare_span a, struct tare_span b,
                   struct tare_event **event, struct tare_error *error)
{
	const struct tare_backend *backend = queue->device->backend;
	if (queue->device->lost)
		return given_up(error);
	if (!backend->blas_gemm)
		return cannot(backend, "multiply matrices by a vendor's library", error);
	return backend->blas_gemm(queue, precision, n, c, a, b, event, error);
}

const char *tare_blas_name(struct tare_device *device)
{
	return device->backend->blas_name ? device->backend->blas_name(device) : "";
}

int tare_graph_begin(struct tare_queue *queue, struct tare_error *error)
{
	const struct tare_backend *backend = queue->device->backend;
	if (!backend->graph_begin)
		return cannot(backend, "record graphs", error);
	return backend->graph_begin(queue, error);
}

int tare_graph_end(struct tare_queue *queue, struct tare_graph **graph, struct tare_error *error)
{
	const struct tare_backend *backend = queue->device->backend;
	if (!backend->graph_end)
		return cannot(backend, "record graphs", error);
	return backend->graph_end(queue, graph, error);
}

int tare_graph_launch(struct tare_graph *graph, struct tare_queue *queue, struct tare_event **event,
                      struct tare_error *error)
{
	const struct tare_backend *backend = queue->device->backend;
	if (queue->device->lost)
		return given_up(error);
	if (!backend->graph_launch)
		return cannot(backend, "launch graphs", error);
	return backend->graph_launch(graph, queue, event, error);
}

int tare_graph_stamps(struct tare_graph *graph, uint32_t node, struct tare_stamps *stamps,
                      struct tare_error *error)
{
	const struct tare_backend *backend = graph->device->backend;
	if (!backend->graph_stamps)
		return cannot(backend, "stamp graph nodes", error);
	return backend->graph_stamps(graph, node, stamps, error);
}

int tare_engine_stamps_begin(struct tare_device *device, struct tare_error *error)
{
	const struct tare_backend *backend = device->backend;
	if (device->lost)
		return given_up(error);
	if (!backend->engine_stamps_begin)
		return cannot(backend, "trace engines", error);
	return backend->engine_stamps_begin(device, error);
}

int tare_engine_stamps_end(struct tare_device *device, struct tare_error *error)
{
	const struct tare_backend *backend = device->backend;
	if (device->lost)
		return given_up(error);
	if (!backend->engine_stamps_end)
		return cannot(backend, "trace engines", error);
	return backend->engine_stamps_end(device, error);
}

int tare_telemetry(struct tare_device *device, struct tare_telemetry *telemetry,
                   struct tare_error *error)
{
	const struct tare_backend *backend = device->backend;
	if (!backend->telemetry)
		return cannot(backend, "read telemetry", error);
	return backend->telemetry(device, telemetry, error);
}

void tare_device_abandon(struct tare_device *device)
{
	if (device)
		device->lost = true;
}

// True when the object is to be freed; leaves it where it is when its device was abandoned.
static bool may_free(const struct tare_device *device, const void *object)
{
#ifdef SANITIZED
	if (device->lost)
		__lsan_ignore_object(object);
#else
	(void)object;
#endif
	return !device->lost;
}

void tare_memory_free(struct tare_memory *memory)
{
	if (memory && may_free(memory->device, memory) && memory->device->backend->memory_free)
		memory->device->backend->memory_free(memory);
}

void tare_queue_free(struct tare_queue *queue)
{
	if (queue && may_free(queue->device, queue) && queue->device->backend->queue_free)
		queue->device->backend->queue_free(queue);
}

void tare_event_free(struct tare_event *event)
{
	if (event && may_free(event->device, event) && event->device->backend->event_free)
		event->device->backend->event_free(event);
}

void tare_gate_free(struct tare_gate *gate)
{
	if (gate && may_free(gate->device, gate) && gate->device->backend->gate_free)
		gate->device->backend->gate_free(gate);
}

void tare_module_free(struct tare_module *module)
{
	if (module && may_free(module->device, module) && module->device->backend->module_free)
		module->device->backend->module_free(module);
}

void tare_kernel_free(struct tare_kernel *kernel)
{
	if (kernel && may_free(kernel->module->device, kernel) &&
	    kernel->module->device->backend->kernel_free)
		kernel->module->device->backend->kernel_free(kernel);
}

void tare_graph_free(struct tare_graph *graph)
{
	if (graph && may_free(graph->device, graph) && graph->device->backend->graph_free)
		graph->device->backend->graph_free(graph);
}

void tare_device_close(struct tare_device *device)
{
	if (device && may_free(device, device) && device->backend->device_close)
		device->backend->device_close(device);
}
