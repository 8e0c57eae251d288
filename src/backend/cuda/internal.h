// SPDX-License-Identifier: Apache-2.0
// What the files of the CUDA backend share. Nothing else includes this.
#pragma once
#include "backend/backend.h"
#include "backend/cuda/abi.h"
#include "backend/cuda/nvml/nvml.h"
#include "base/library.h"

#include <pthread.h>

#define CUDA_MAX_ARGUMENTS 64

struct cuda_driver {
	struct tare_driver base;
	struct cuda_functions call;
	struct tare_library *library;
	struct cuda_nvml nvml;
	struct cuda_nvrtc *nvrtc; // NULL until it is first wanted
	int version;              // 13000
	uint32_t count;
};

// ---- clock.c: one time base out of differences. See the comment at the top of clock.c.

struct cuda_epoch {
	cu_event event;
	struct cuda_epoch *previous; // NULL once its distance is known
	bool done;                   // known to be recorded
	double ns;                   // since the first epoch
	uint32_t number;
	struct tare_host_time recorded;
	uint32_t users;
};

// ---- gate.c

#define CUDA_GATE_SLOTS 64
#define CUDA_GATE_CAPACITY 256
#define CUDA_GATE_ENTRIES 896 // of a stream; about 1,000 would block the host

struct cuda_gate {
	struct tare_gate base;
	struct cuda_queue *queue; // NULL when that was freed first
	struct cuda_gate *next;   // in the device's list of shut gates
	bool open;
	uint32_t slot; // CUDA_GATE_SLOTS: a host function blocks instead
	struct cuda_gate_block *block;
};

#define CUDA_POOL_EVENTS 512
#define CUDA_CALLBACK_STREAMS 16

struct cuda_device {
	struct tare_device base;
	struct cuda_driver *driver;
	cu_device handle;
	cu_context context;
	uint64_t serial; // of this opening; see cuda_enter
	int warp_size;
	bool managed, concurrent_managed, pageable_access, register_supported;
	cu_stream clock_stream; // for epochs and clock pairs; nothing else runs there
	struct cuda_epoch *epoch;
	uint64_t resolution_ns;             // 0: not measured yet
	cu_event pool[2][CUDA_POOL_EVENTS]; // free events: [0] without timing, [1] with
	uint32_t pooled[2];
	cu_stream callback_streams[CUDA_CALLBACK_STREAMS];
	uint32_t callback_stream_count;
	volatile uint32_t *gate_words; // pinned; one word a slot, a cache line apart
	cu_pointer gate_words_device;
	uint64_t gate_slots_used; // a bit a slot
	uint32_t gate_generation[CUDA_GATE_SLOTS];
	struct cuda_gate *gates;      // shut ones
	struct cuda_trace *trace;     // see trace.h; NULL: the engines are not traced
	struct cuda_graph *recording; // NULL: none
	bool used_once;               // see gate.c
	struct cuda_blas *blas;       // NULL until it is first asked for
};

struct cuda_memory {
	struct tare_memory base;
	cu_pointer device; // 0: the device cannot address it
	void *pages;       // mapped by us: PAGEABLE, REGISTERED
	bool registered;
	cu_array array; // NULL: it is none, else of this shape
	struct tare_image shape;
};

struct cuda_queue {
	struct tare_queue base;
	cu_stream stream;
	bool timed, legacy, capturing;
	bool of_thread; // the default stream of the thread that made it
	pthread_t thread;
	struct cuda_queue *next_joined; // of those that record the same graph
	uint32_t gates;                 // shut gates at present
	bool depends;                   // on another queue, and a gate of the device was shut then
	uint32_t held;                  // operations appended behind either, since the last finish
	uint32_t entries; // what they take of the stream: waits and event records as well
};

struct cuda_event {
	struct tare_event base;
	cu_event start; // NULL: not timed
	cu_event end;
	struct cuda_epoch *epoch;
	bool captured;            // belongs to a graph; can only be waited for inside it
	struct cuda_trace *trace; // NULL: its engine is not traced
	uint32_t traced;          // its place there
	bool pushed;              // calls of this thread are traced for it
	struct cuda_event *next_live, *previous_live;
};

struct cuda_module {
	struct tare_module base;
	cu_module handle;
	char *ptx;             // its text; NULL where there is none, and for tare's own
	char *source;          // CUDA C; NULL for other formats
	char *entry, *lowered; // an expression for a kernel, and the kernel's name
};

struct cuda_graph; // graph.h
struct cuda_trace; // trace.h

struct cuda_kernel {
	struct tare_kernel base;
	cu_function handle;
	char *name; // as the module has it, which may be mangled
};

static inline struct cuda_device *cuda_device_of(struct tare_device *device)
{
	return (struct cuda_device *)device;
}

// ---- library.c

int cuda_library_open(struct cuda_driver *driver, struct tare_error *error);
// Why a device cannot be opened: its compute mode, no room for a context and the like.
int cuda_open_failed(const struct cuda_driver *driver, uint32_t index, cu_device device,
                     cu_result result, struct tare_error *error);
// Turns a failed call into errno and a sentence. NULL driver: the name of the code is not known.
int cuda_fail(const struct cuda_driver *driver, cu_result result, const char *call,
              struct tare_error *error, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
// Negative errno of a result: the context is lost -> -ENODEV, and so on.
int cuda_errno(cu_result result);
// Makes the device's context current in this thread.
int cuda_enter(struct cuda_device *device, struct tare_error *error);
// An attribute of the device; 0: not known.
int cuda_attribute(const struct cuda_device *device, cu_attribute attribute);
void cuda_leave(void);

// ---- facts.c

int cuda_facts(struct tare_driver *driver, uint32_t index, struct tare_facts *facts,
               struct tare_error *error);
int cuda_engines(struct tare_device *device, struct tare_engine *engines, uint32_t capacity,
                 struct tare_error *error);
int cuda_telemetry(struct tare_device *device, struct tare_telemetry *telemetry,
                   struct tare_error *error);

// ---- memory.c

int cuda_memory_create(struct tare_device *device, enum tare_memory_kind kind, uint64_t bytes,
                       struct tare_memory **memory, struct tare_error *error);
void cuda_memory_free(struct tare_memory *memory);
int cuda_memory_advise(struct tare_span span, enum tare_advice advice, struct tare_error *error);
// Prefetches shared memory to the device or to the host.
int cuda_memory_migrate(struct cuda_device *device, const struct tare_span *span, bool to_host,
                        cu_stream stream, struct tare_error *error);
// The span's start as the host or the device knows it; 0 where that side does not.
cu_pointer cuda_device_address(const struct tare_span *span);
void *cuda_host_address(const struct tare_span *span);

// ---- peer.c

int cuda_peer_enable(struct tare_device *device, struct tare_device *peer,
                     struct tare_error *error);
// Appends a copy from one device's memory to another's to the stream.
int cuda_peer_copy(struct cuda_device *device, const struct tare_span *from,
                   const struct tare_span *to, cu_stream stream, struct tare_error *error);

// ---- array.c

bool cuda_is_array(const struct tare_memory *memory);
int cuda_image_create(struct tare_device *device, const struct tare_image *shape,
                      struct tare_memory **memory, struct tare_error *error);
// Appends a copy of a whole array from or to host memory to the stream.
int cuda_copy_array(struct cuda_device *device, const struct tare_operation *operation,
                    cu_stream stream, struct tare_error *error);

// ---- pool.c

// An event of the pool, or a new one.
int cuda_event_take(struct cuda_device *device, bool timed, cu_event *event,
                    struct tare_error *error);
void cuda_event_give(struct cuda_device *device, bool timed, cu_event event);
int cuda_event_record(struct cuda_device *device, cu_event event, cu_stream stream,
                      struct tare_error *error);
// Looks again and again until the event, or all in the stream, is done, for at most limit_ns.
int cuda_poll_event(struct cuda_device *device, cu_event event, int64_t limit_ns,
                    struct tare_error *error);
int cuda_poll_stream(struct cuda_device *device, cu_stream stream, int64_t limit_ns,
                     struct tare_error *error);

// ---- queue.c

int cuda_queue_create(struct tare_device *device, const struct tare_queue_options *options,
                      struct tare_queue **queue, struct tare_error *error);
void cuda_queue_free(struct tare_queue *queue);
// Makes the queue's device current. -EINVAL where the queue is another thread's default stream:
// the same handle would mean this thread's.
int cuda_queue_enter(const struct cuda_queue *queue, struct tare_error *error);
int cuda_submit(struct tare_queue *queue, struct tare_error *error);
int cuda_finish(struct tare_queue *queue, int64_t limit_ns, struct tare_error *error);

// ---- operation.c

int cuda_append(struct tare_queue *queue, const struct tare_operation *operation,
                struct tare_event **event, struct tare_error *error);

// ---- event.c

// What surrounds an operation whose event the caller wants: begin makes the event and records the
// start on a timed queue, end records the end.
int cuda_bracket_begin(struct cuda_queue *queue, struct cuda_event **event,
                       struct tare_error *error);
// The same around the launch of a graph, whose nodes' engines are traced as well.
int cuda_bracket_graph(struct cuda_queue *queue, struct cuda_graph *graph,
                       struct cuda_event **event, struct tare_error *error);
int cuda_bracket_end(struct cuda_queue *queue, struct cuda_event *event, struct tare_error *error);
// Hands the bracket's event to the caller, or frees it after a failure. `made` is NULL where no
// event was wanted. Returns `status`.
int cuda_bracket_give(struct cuda_event *made, int status, struct tare_event **event);
int cuda_event_wait(struct tare_event *event, int64_t limit_ns, struct tare_error *error);
int cuda_event_done(struct tare_event *event, struct tare_error *error);
int cuda_event_callback(struct tare_event *event, void (*function)(void *context), void *context,
                        struct tare_error *error);
int cuda_event_stamps(struct tare_event *event, struct tare_stamps *stamps,
                      struct tare_error *error);
void cuda_event_free(struct tare_event *event);

// ---- clock.c

int cuda_clock_rate(struct tare_device *device, enum tare_clock clock, struct tare_clock_rate *rate,
                    struct tare_error *error);
int cuda_clock_pair(struct tare_device *device, struct tare_clock_pair *pair,
                    struct tare_error *error);
// The epoch for an event that is recorded now; a new one where the last has aged.
int cuda_epoch_take(struct cuda_device *device, struct cuda_epoch **epoch,
                    struct tare_error *error);
void cuda_epoch_give(struct cuda_device *device, struct cuda_epoch *epoch);
// The stamps of what lies between two such events.
int cuda_epoch_stamps(struct cuda_device *device, struct cuda_epoch *epoch, cu_event start,
                      cu_event end, struct tare_stamps *stamps, struct tare_error *error);
// Nanoseconds between two finished events.
int cuda_elapsed(struct cuda_device *device, cu_event start, cu_event end, double *ns,
                 struct tare_error *error);

// ---- gate.c

int cuda_gate_shut(struct tare_queue *queue, struct tare_gate **gate, struct tare_error *error);
int cuda_gate_open(struct tare_gate *gate, struct tare_error *error);
void cuda_gate_free(struct tare_gate *gate);
// Opens every gate of the device; before it is closed.
void cuda_gates_close(struct cuda_device *device);
// Counts an operation with so many waits before it that is about to be appended. -EINVAL when it
// may be held by a gate and the stream has no room for more of that.
int cuda_count_held(struct cuda_queue *queue, uint32_t wait_count, bool event,
                    struct tare_error *error);

// ---- module.c, graph.c

int cuda_module_create(struct tare_device *device, const struct tare_module_source *source,
                       struct tare_module **module, char **log, struct tare_error *error);
void cuda_module_free(struct tare_module *module);
int cuda_kernel_create(struct tare_module *module, const char *name, struct tare_kernel **kernel,
                       struct tare_error *error);
void cuda_kernel_free(struct tare_kernel *kernel);
int cuda_kernel_facts(struct tare_kernel *kernel, struct tare_kernel_facts *facts,
                      struct tare_error *error);
int cuda_module_kernels(struct tare_module *module, char *names, size_t size,
                        struct tare_error *error);
// parameter.c
int cuda_kernel_parameter(struct tare_kernel *kernel, uint32_t index,
                          struct tare_parameter *parameter, struct tare_error *error);
// How many parameters the kernel has; -1 where it is not known.
int64_t cuda_parameter_count(struct cuda_kernel *kernel);
int cuda_graph_begin(struct tare_queue *queue, struct tare_error *error);
// A queue that waits for an event of the graph that is being recorded is recorded with it.
void cuda_graph_join(struct cuda_queue *queue, const struct cuda_event *event);
// What surrounds each operation that a recording queue appends.
int cuda_node_begin(struct cuda_queue *queue, enum tare_operation_type type,
                    struct tare_error *error);
int cuda_node_end(struct cuda_queue *queue, struct tare_error *error);
// The queue is about to be freed: what it records is given up.
void cuda_graph_leave(struct cuda_queue *queue);
int cuda_graph_end(struct tare_queue *queue, struct tare_graph **graph, struct tare_error *error);
int cuda_graph_launch(struct tare_graph *graph, struct tare_queue *queue, struct tare_event **event,
                      struct tare_error *error);
int cuda_graph_stamps(struct tare_graph *graph, uint32_t node, struct tare_stamps *stamps,
                      struct tare_error *error);
void cuda_graph_free(struct tare_graph *graph);

// ---- cublas.c

int cuda_blas_gemm(struct tare_queue *queue, enum tare_blas_precision precision, uint32_t n,
                   struct tare_span c, struct tare_span a, struct tare_span b,
                   struct tare_event **event, struct tare_error *error);
const char *cuda_blas_name(struct tare_device *device);
void cuda_blas_close(struct cuda_device *device);
