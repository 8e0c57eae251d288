// SPDX-License-Identifier: Apache-2.0
// How the contract is called: each function is the member of the same name of the object's backend
// (see backend/backend.h for what it does). Where an API lacks the member, -ENOSYS with a sentence;
// every free accepts NULL.
#pragma once
#include "backend/backend.h"

static inline struct tare_host_time tare_device_now(struct tare_device *device)
{
	return device->backend->host_now(device);
}

static inline void tare_device_pause(struct tare_device *device, int64_t ns)
{
	device->backend->host_pause(device, ns);
}

int tare_engines(struct tare_device *device, struct tare_engine *engines, uint32_t capacity,
                 struct tare_error *error);
int tare_clock_rate(struct tare_device *device, enum tare_clock clock, struct tare_clock_rate *rate,
                    struct tare_error *error);
int tare_clock_pair(struct tare_device *device, struct tare_clock_pair *pair,
                    struct tare_error *error);
int tare_memory_create(struct tare_device *device, enum tare_memory_kind kind, uint64_t bytes,
                       struct tare_memory **memory, struct tare_error *error);
int tare_image_create(struct tare_device *device, const struct tare_image *shape,
                      struct tare_memory **memory, struct tare_error *error);
int tare_memory_advise(struct tare_span span, enum tare_advice advice, struct tare_error *error);
int tare_peer_enable(struct tare_device *device, struct tare_device *peer,
                     struct tare_error *error);
int tare_queue_create(struct tare_device *device, const struct tare_queue_options *options,
                      struct tare_queue **queue, struct tare_error *error);
int tare_append(struct tare_queue *queue, const struct tare_operation *operation,
                struct tare_event **event, struct tare_error *error);
int tare_append_clock(struct tare_queue *queue, struct tare_span to, struct tare_error *error);
int tare_submit(struct tare_queue *queue, struct tare_error *error);
int tare_finish_fenced(struct tare_queue *queue, int64_t limit_ns, struct tare_error *error);
int tare_finish(struct tare_queue *queue, int64_t limit_ns, struct tare_error *error);
int tare_event_wait(struct tare_event *event, int64_t limit_ns, struct tare_error *error);
int tare_event_done(struct tare_event *event, struct tare_error *error);
int tare_event_callback(struct tare_event *event, void (*function)(void *context), void *context,
                        struct tare_error *error);
int tare_event_stamps(struct tare_event *event, struct tare_stamps *stamps,
                      struct tare_error *error);
int tare_gate_shut(struct tare_queue *queue, struct tare_gate **gate, struct tare_error *error);
int tare_gate_open(struct tare_gate *gate, struct tare_error *error);
int tare_module_create(struct tare_device *device, const struct tare_module_source *source,
                       struct tare_module **module, char **log, struct tare_error *error);
int tare_module_kernels(struct tare_module *module, char *names, size_t size,
                        struct tare_error *error);
int tare_kernel_create(struct tare_module *module, const char *name, struct tare_kernel **kernel,
                       struct tare_error *error);
int tare_kernel_facts(struct tare_kernel *kernel, struct tare_kernel_facts *facts,
                      struct tare_error *error);
int tare_kernel_parameter(struct tare_kernel *kernel, uint32_t index,
                          struct tare_parameter *parameter, struct tare_error *error);
int tare_blas_gemm(struct tare_queue *queue, enum tare_blas_precision precision, uint32_t n,
                   struct tare_span c, struct tare_span a, struct tare_span b,
                   struct tare_event **event, struct tare_error *error);
// "" where there is none.
const char *tare_blas_name(struct tare_device *device);
int tare_graph_begin(struct tare_queue *queue, struct tare_error *error);
int tare_graph_end(struct tare_queue *queue, struct tare_graph **graph, struct tare_error *error);
int tare_graph_launch(struct tare_graph *graph, struct tare_queue *queue, struct tare_event **event,
                      struct tare_error *error);
int tare_graph_stamps(struct tare_graph *graph, uint32_t node, struct tare_stamps *stamps,
                      struct tare_error *error);
int tare_engine_stamps_begin(struct tare_device *device, struct tare_error *error);
int tare_engine_stamps_end(struct tare_device *device, struct tare_error *error);
int tare_telemetry(struct tare_device *device, struct tare_telemetry *telemetry,
                   struct tare_error *error);

// Gives up a device that hangs or is lost, before the process ends: from now on every free below
// and tare_device_close return at once and leave behind what they were given, because a driver's
// own teardown can wait for ever behind work that never ends. The device's driver must then not be
// closed either. What gives the device work or waits for it is refused from then on with -ENODEV.
// NULL is legal.
void tare_device_abandon(struct tare_device *device);

void tare_memory_free(struct tare_memory *memory);
void tare_queue_free(struct tare_queue *queue);
void tare_event_free(struct tare_event *event);
void tare_gate_free(struct tare_gate *gate);
void tare_module_free(struct tare_module *module);
void tare_kernel_free(struct tare_kernel *kernel);
void tare_graph_free(struct tare_graph *graph);
void tare_device_close(struct tare_device *device);
