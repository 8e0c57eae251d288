// SPDX-License-Identifier: Apache-2.0
// The simulated device: the backend contract in virtual time, on the engine model. Memory is real,
// so copies move bytes; what a copy does happens when it completes in the model.
#pragma once
#include "backend/backend.h"
#include "base/random.h"
#include "model/engine/engine.h"
#include "model/script/script.h"

struct simulated_driver {
	struct tare_driver base;
	struct tare_script script;
};

// A call that falls due at a point of virtual time.
struct simulated_callback {
	struct simulated_callback *next;
	int64_t due_ps;
	void (*function)(void *context);
	void *context;
};

// A product of n x n matrices: a, b and c one behind the other. product.c
struct simulated_product {
	uint64_t n;
	unsigned char *bytes; // NULL: none
};

struct simulated_device {
	struct tare_device base;
	const struct tare_script *script;
	struct tare_model *model;
	int64_t host_ps;     // the host's clock
	int64_t callback_ps; // what a callback reads while one runs; -1: none runs
	bool lost;
	uint64_t commands;     // executed or to be executed so far; numbers the faults
	uint64_t device_bytes; // allocated
	struct tare_random jitter;
	struct simulated_queue *queues;
	struct simulated_callback *callbacks; // by due time
	struct simulated_product product;     // the last large one
};

struct simulated_memory {
	struct tare_memory base;
	unsigned char *bytes;
	bool touched;                // host pages need no first touch
	enum tare_map_access mapped; // 0: not mapped
	unsigned char *resident;     // SHARED: one bit a script page, set where the device has it
};

struct simulated_queue {
	struct tare_queue base;
	struct simulated_queue *next;
	struct tare_model_queue *model;
	enum tare_queue_order order;
	bool timed;
	bool deferred;                          // operations wait for submit
	struct simulated_command *first, *last; // not done, in the order of appending
	// out-of-order: later commands wait for it; not done
	struct simulated_command *barrier;
	struct simulated_graph *recording;
	uint32_t gates; // shut
	uint32_t behind_gate;
	uint64_t failed; // number of a command that failed and was not reported yet; 0: none
};

// One operation on its way through the model. Counted references: the model's until it is done,
// each event's, each waiting command's.
struct simulated_command {
	struct tare_model_operation model; // first, so that the one is found from the other
	struct simulated_device *device;
	struct simulated_queue *queue; // NULL once done or the queue is gone
	struct simulated_command *previous, *next;
	unsigned references;
	int status;      // once done: 0, -EIO, -ENODEV
	uint64_t number; // counts what faults may strike; 0: none may
	int64_t queued_ps;
	bool timed, wrong;
	struct tare_model_operation **waits;
	struct simulated_callback *callbacks;
	// What it does on completion. Deep copies; nothing in it points to the caller's data.
	struct tare_operation operation;
	unsigned char pattern[16];
	struct tare_argument *arguments;
	const struct tare_script_kernel *kernel; // LAUNCH
	bool is_gate;
};

struct simulated_event {
	struct tare_event base;
	struct simulated_command *command; // NULL: a node of a graph that is being recorded
	const struct simulated_graph *graph;
	uint32_t node; // of the graph
};

struct simulated_gate {
	struct tare_gate base;
	struct simulated_command *command;
	struct simulated_queue *queue;
	bool open;
};

struct simulated_module {
	struct tare_module base;
};

struct simulated_kernel {
	struct tare_kernel base;
	const struct tare_script_kernel *script;
};

// A queue that was recorded from, and the one that runs its nodes: NULL for the first, whose nodes
// run in the queue of the launch.
struct simulated_lane {
	const struct simulated_queue *from;
	struct tare_queue *runs;
};

// Which lane a node is of, and which nodes it waits for beside those before it in its lane.
struct simulated_place {
	uint32_t lane;
	uint32_t *waits, wait_count;
};

struct simulated_graph {
	struct tare_graph base;
	struct simulated_queue *queue; // that it was recorded from
	struct simulated_lane *lanes;  // beside that queue those that waited for its nodes
	uint32_t lane_count;
	struct simulated_place *places;      // of the nodes
	struct simulated_command **nodes;    // templates
	struct simulated_command **launched; // of the last launch; NULL before
	uint32_t count;
	size_t node_room, place_room;
};

extern const struct tare_backend tare_backend_simulated;
extern const char tare_simulated_script[];
extern const size_t tare_simulated_script_bytes;

// The memory of a span.
static inline struct simulated_memory *simulated_memory_of(struct tare_span span)
{
	return (struct simulated_memory *)span.memory;
}

// ---- facts.c
void simulated_facts(const struct tare_script *script, struct tare_facts *facts);

// ---- device.c: the host's clock, and what completes
int simulated_device_open(struct tare_driver *driver, uint32_t index, struct tare_device **device,
                          struct tare_error *error);
struct tare_host_time simulated_host_now(struct tare_device *device);
void simulated_host_pause(struct tare_device *device, int64_t ns);
int simulated_clock_rate(struct tare_device *device, enum tare_clock clock,
                         struct tare_clock_rate *rate, struct tare_error *error);
int simulated_clock_pair(struct tare_device *device, struct tare_clock_pair *pair,
                         struct tare_error *error);
int simulated_engines(struct tare_device *device, struct tare_engine *engines, uint32_t capacity,
                      struct tare_error *error);
int simulated_telemetry(struct tare_device *device, struct tare_telemetry *telemetry,
                        struct tare_error *error);
// The host is busy for `ps`: time passes, and what completes meanwhile is done.
void simulated_spend(struct simulated_device *device, int64_t ps);
// Fails when the device is lost or a callback is running (which may only read the clock).
int simulated_check(const struct simulated_device *device, struct tare_error *error);
// Waits until the command is done. `limit_ns` as in the contract.
int simulated_wait(struct simulated_device *device, struct simulated_command *command,
                   int64_t limit_ns, struct tare_error *error);
// Puts a callback into the device's list, to be called when due_ps has come.
void simulated_call_at(struct simulated_device *device, struct simulated_callback *callback);
// The host goes on at `ps`, or where it is if that is later.
void simulated_host_goes_on_at(struct simulated_device *device, int64_t ps);
// The absence of something the script says this device lacks: -ENOTSUP with its reason; else 0.
int simulated_lacks(const struct simulated_device *device, enum tare_lack lack,
                    struct tare_error *error);

// ---- command.c
struct simulated_command *simulated_command_new(struct simulated_device *device);
// A deep copy of an operation into a command that is not in any queue.
int simulated_command_fill(struct simulated_command *command,
                           const struct tare_operation *operation, struct tare_error *error);
void simulated_command_release(struct simulated_command *command);
static inline struct simulated_command *simulated_command_keep(struct simulated_command *command)
{
	command->references++;
	return command;
}
// Hands a filled command to its queue, where it holds a reference of its own. Explicit waits come
// from the events, implied ones from the kind of queue.
int simulated_command_enqueue(struct simulated_queue *queue, struct simulated_command *command,
                              struct tare_event *const *waits, uint32_t wait_count,
                              int64_t submitted_ps, struct tare_error *error);
// Ends what the queue freed: it is done, failed, and out of the model.
void simulated_command_cancel(struct simulated_command *command);
// Takes a command that is done out of its queue and drops what it waited for.
void simulated_command_leave(struct simulated_command *command);
// Makes everything in the queue visible to the device now, at no cost of its own.
void simulated_flush(struct simulated_queue *queue);

// ---- cost.c

// What the host does for a command beside the call itself.
struct simulated_host_work {
	int64_t before_ps; // until the device may begin: first touch, the first chunk of staging
	int64_t during_ps; // while the device works: the other chunks
};

// Checks an operation and fills the command's costs in the model.
int simulated_cost(struct simulated_queue *queue, struct simulated_command *command,
                   struct simulated_host_work *work, struct tare_error *error);

// Whether the span lies within a memory of this device; the error calls it `what`.
int simulated_check_span(const struct simulated_device *device, struct tare_span span,
                         const char *what, struct tare_error *error);
// The time of moving pages of shared memory to where they are needed.
int64_t simulated_migration_ps(const struct tare_script *script, struct tare_span span,
                               bool to_host);

// ---- launch.c

// Checks a launch's grid and arguments and fills the command's costs in the model.
int simulated_launch_cost(struct simulated_command *command, struct tare_error *error);

// ---- effect.c: moves the bytes.
void simulated_effect(struct simulated_command *command);
static inline unsigned char *simulated_bytes_of(struct tare_span span)
{
	return simulated_memory_of(span)->bytes + span.offset_bytes;
}
// As memmove, which goes byte by byte under gcc's address sanitizer.
void simulated_move(unsigned char *to, const unsigned char *from, uint64_t bytes);

// ---- kernel_effect.c: what kernels compute.
void simulated_run_kernel(const struct simulated_command *command);
// The same; but a matrix product of the very matrices of the last one is looked up. product.c
void simulated_compute(struct simulated_device *device, const struct simulated_command *command);
// What the kernel writes; its memory is NULL for one that writes nothing.
struct tare_span simulated_kernel_output(const struct simulated_command *command);
// The 32-bit value of argument `index`, which the launch was checked to have.
uint32_t simulated_value(const struct tare_launch *launch, uint32_t index);
// What an action `copy` with so many work-items copies.
uint64_t simulated_copied_bytes(const struct tare_launch *launch, uint64_t items);

// ---- memory.c
int simulated_memory_create(struct tare_device *device, enum tare_memory_kind kind, uint64_t bytes,
                            struct tare_memory **memory, struct tare_error *error);
int simulated_memory_advise(struct tare_span span, enum tare_advice advice,
                            struct tare_error *error);
int simulated_peer_enable(struct tare_device *device, struct tare_device *peer,
                          struct tare_error *error);
void simulated_memory_free(struct tare_memory *memory);
// Pages of PAGEABLE memory in the span that nobody has touched.
uint64_t simulated_untouched_pages(struct tare_span span, uint64_t page_bytes);
// Moves the pages of SHARED memory to the device (or to the host) and returns how many moved.
uint64_t simulated_move_pages(struct tare_span span, uint64_t page_bytes, bool to_host);

// ---- queue.c
int simulated_queue_create(struct tare_device *device, const struct tare_queue_options *options,
                           struct tare_queue **queue, struct tare_error *error);
void simulated_queue_free(struct tare_queue *queue);
int simulated_submit(struct tare_queue *queue, struct tare_error *error);
int simulated_finish(struct tare_queue *queue, int64_t limit_ns, struct tare_error *error);

// ---- append.c
int simulated_append(struct tare_queue *queue, const struct tare_operation *operation,
                     struct tare_event **event, struct tare_error *error);

// ---- event.c
struct tare_event *simulated_event_new(struct simulated_device *device,
                                       struct simulated_command *command);
int simulated_event_wait(struct tare_event *event, int64_t limit_ns, struct tare_error *error);
int simulated_event_done(struct tare_event *event, struct tare_error *error);
int simulated_event_callback(struct tare_event *event, void (*function)(void *context),
                             void *context, struct tare_error *error);
int simulated_event_stamps(struct tare_event *event, struct tare_stamps *stamps,
                           struct tare_error *error);
void simulated_event_free(struct tare_event *event);
int simulated_command_stamps(const struct simulated_command *command, struct tare_stamps *stamps,
                             struct tare_error *error);
int simulated_gate_shut(struct tare_queue *queue, struct tare_gate **gate,
                        struct tare_error *error);
int simulated_gate_open(struct tare_gate *gate, struct tare_error *error);
void simulated_gate_free(struct tare_gate *gate);

// ---- module.c
int simulated_module_create(struct tare_device *device, const struct tare_module_source *source,
                            struct tare_module **module, char **log, struct tare_error *error);
void simulated_module_free(struct tare_module *module);
int simulated_kernel_create(struct tare_module *module, const char *name,
                            struct tare_kernel **kernel, struct tare_error *error);
void simulated_kernel_free(struct tare_kernel *kernel);
// Work-items that a group of the kernel may have; 0: not limited.
uint64_t simulated_group_limit(const struct tare_script_kernel *kernel,
                               const struct tare_script_device *device);
int simulated_kernel_facts(struct tare_kernel *kernel, struct tare_kernel_facts *facts,
                           struct tare_error *error);
int simulated_kernel_parameter(struct tare_kernel *kernel, uint32_t index,
                               struct tare_parameter *parameter, struct tare_error *error);

// ---- graph.c
int simulated_graph_begin(struct tare_queue *queue, struct tare_error *error);
int simulated_graph_end(struct tare_queue *queue, struct tare_graph **graph,
                        struct tare_error *error);
int simulated_graph_launch(struct tare_graph *graph, struct tare_queue *queue,
                           struct tare_event **event, struct tare_error *error);
int simulated_graph_stamps(struct tare_graph *graph, uint32_t node, struct tare_stamps *stamps,
                           struct tare_error *error);
void simulated_graph_free(struct tare_graph *graph);
// A queue records as well from when on an operation waits for a node that is being recorded.
void simulated_graph_join(struct simulated_queue *queue, const struct tare_operation *operation);
// The queue is about to be freed: what it records is given up.
void simulated_graph_leave(struct simulated_queue *queue);
// Adds an operation to the graph that the queue records.
int simulated_graph_record(struct simulated_queue *queue, const struct tare_operation *operation,
                           struct tare_event **event, struct tare_error *error);
