// SPDX-License-Identifier: Apache-2.0
// Memory, queues, operations, events, gates and graphs of the Level Zero backend: what their files
// share. docs/levelzero.md says which of the API's ways each takes, and why.
#pragma once
#include "backend/levelzero/internal.h"

struct levelzero_graph;

#define LEVELZERO_GROUPS 16

// ---- native events (pool.c)

// A native event of the device's pools. It is used again when it is signalled and nobody names it.
struct levelzero_slot {
	ze_event_handle_t handle;
	bool timed;      // of a pool whose events carry kernel timestamps
	uint64_t waited; // serial of the last command that waits for it; 0: none
	struct levelzero_slot *next;
};

// One zeEventPoolCreate.
struct levelzero_block {
	ze_event_pool_handle_t handle;
	struct levelzero_slot *slots;
	uint32_t count;
	struct levelzero_block *next;
};

// ---- queues (queue.c, list.c)

// Where a queue runs.
struct levelzero_engine {
	uint32_t ordinal, index;
	bool compute;
	size_t fill_pattern_bytes; // the longest pattern of a fill there
};

// A regular list of a deferred queue.
struct levelzero_list {
	ze_command_list_handle_t handle;
	bool closed;
	struct levelzero_list *next;
};

struct levelzero_queue {
	struct tare_queue base;
	struct levelzero_queue *next; // of the device's
	uint64_t number;              // never used again, unlike its address
	struct levelzero_engine engine;
	bool timed, out_of_order, deferred;
	bool chained;                         // the driver keeps the order itself
	bool retired;                         // freed by the caller while work was in it
	ze_command_list_handle_t list;        // immediate; deferred: NULL
	ze_command_queue_handle_t native;     // deferred: where lists are executed
	ze_fence_handle_t fence;              // of `native`; NULL until wanted
	bool fence_pending;                   // nobody saw it signalled: not to be reset yet
	struct levelzero_list *flying, *idle; // deferred: executed; ready to gather again
	struct levelzero_list *gathering;     // deferred: what commands go to; NULL: none began
	uint32_t flying_count;
	bool unordered; // commands were appended since the last barrier
	// serials: appended, handed to the device, known to be done
	uint64_t last, submitted, done;
	uint32_t shut_gates;
	struct levelzero_slot *token; // retired: signalled when all is done
	struct levelzero_graph *recording;
};

struct levelzero_work {
	struct levelzero_engine *engines;
	uint32_t engine_count;
	struct levelzero_slot *spare[2]; // by `timed`: not signalled, named by nobody
	struct levelzero_slot *limbo[2]; // given back before it could be known that they are done
	struct levelzero_block *blocks;
	uint32_t block_events[2]; // how many the last block of each sort had
	struct levelzero_queue *queues;
	struct levelzero_gate *gates; // shut ones
	bool opens_gates;             // the host can signal events, as was tried
	struct levelzero_graph *recording;
	ze_command_list_handle_t service; // for what has no queue; NULL until wanted
	uint64_t serial;                  // of the last command appended to any queue
	uint64_t numbers;                 // of queues and graphs, the last that was given
};

// ---- events (event.c)

struct levelzero_event {
	struct tare_event base;
	struct levelzero_slot *slot; // NULL: it was part of a graph, which owns the slot
	uint64_t queue;              // number of its queue, which may be gone
	uint64_t serial;
	uint64_t graph;         // number of the graph that it is a node of; 0: none
	ze_event_handle_t node; // its native event there
	bool timed;
	bool done;             // was seen signalled
	const char *unstamped; // why an event of a timed queue has no stamps; NULL: it has
};

struct levelzero_gate {
	struct tare_gate base;
	struct levelzero_slot *slot;
	uint64_t queue; // number of its queue, which may be gone
	struct levelzero_gate *next;
	bool open;
};

static inline struct levelzero_device *levelzero_device_of(struct tare_device *device)
{
	return (struct levelzero_device *)device;
}

static inline const struct levelzero_functions *levelzero_calls(const struct tare_device *device)
{
	return &((const struct levelzero_device *)device)->driver->call;
}

// ---- pool.c

// A native event that is not signalled and that nobody else has.
int levelzero_slot_take(struct levelzero_device *device, bool timed, struct levelzero_slot **slot,
                        struct tare_error *error);
// Gives it back. `done`: it is known to be signalled; else that is found out when events run out.
void levelzero_slot_give(struct levelzero_device *device, struct levelzero_slot *slot, bool done);
// Gives back one that no command will signal.
void levelzero_slot_give_unused(struct levelzero_device *device, struct levelzero_slot *slot);
void levelzero_pools_close(struct levelzero_device *device);

// ---- work.c

// Makes device->work, once. -ENOTSUP names what the loader or the driver lacks.
int levelzero_works(struct levelzero_device *device, struct tare_error *error);
// The queue of this number, or NULL where it is gone.
struct levelzero_queue *levelzero_queue_numbered(const struct levelzero_device *device,
                                                 uint64_t number);
// An immediate list, a regular list, and a queue that executes such, on an engine. The caller's to
// destroy; NULL with the error of the call.
int levelzero_list_open(struct levelzero_device *device, const struct levelzero_engine *engine,
                        ze_command_queue_mode_t mode, bool in_order, ze_command_list_handle_t *list,
                        struct tare_error *error);
int levelzero_regular_list_open(struct levelzero_device *device,
                                const struct levelzero_engine *engine,
                                ze_command_list_handle_t *list, struct tare_error *error);
int levelzero_native_queue_open(struct levelzero_device *device,
                                const struct levelzero_engine *engine,
                                ze_command_queue_handle_t *queue, struct tare_error *error);

// ---- queue.c

// Ends what levelzero_works began; what the device still works on is left behind.
void levelzero_work_close(struct levelzero_device *device);
int levelzero_queue_create(struct tare_device *device, const struct tare_queue_options *options,
                           struct tare_queue **queue, struct tare_error *error);
void levelzero_queue_free(struct tare_queue *queue);

// ---- list.c

// The list that commands of the queue go to; a deferred queue begins one where none gathers.
int levelzero_list_of(struct levelzero_queue *queue, ze_command_list_handle_t *list,
                      struct tare_error *error);
// Makes what is appended next begin after all that was appended so far, where neither the driver
// nor the queue's kind does.
int levelzero_order(struct levelzero_queue *queue, ze_command_list_handle_t list,
                    struct tare_error *error);
// Closes and executes what a deferred queue has gathered; nothing for the others.
int levelzero_submit(struct tare_queue *queue, struct tare_error *error);
// The same, with a fence to signal; NULL: none.
int levelzero_submit_list(struct levelzero_queue *queue, ze_fence_handle_t fence,
                          struct tare_error *error);
// Everything that was appended to the queue is done.
void levelzero_queue_is_done(struct levelzero_queue *queue);
void levelzero_lists_close(struct levelzero_queue *queue);

// ---- wait.c

int levelzero_finish(struct tare_queue *queue, int64_t limit_ns, struct tare_error *error);
int levelzero_finish_fenced(struct tare_queue *queue, int64_t limit_ns, struct tare_error *error);
// Waits for a native event. -ETIMEDOUT, or the error of the call.
int levelzero_slot_wait(const struct levelzero_device *device, ze_event_handle_t handle,
                        int64_t limit_ns, const char *what, struct tare_error *error);

// ---- append.c, operation.c, launch.c

// One command on its way into a list.
struct levelzero_append {
	struct levelzero_device *device;
	const struct levelzero_functions *call;
	const struct levelzero_engine *engine;
	const struct tare_operation *operation;
	ze_command_list_handle_t list;
	ze_event_handle_t signal; // NULL: none
	uint32_t wait_count;
	ze_event_handle_t *waits;
	const char *unstamped; // out: why its event will have no stamps
};

int levelzero_append(struct tare_queue *queue, const struct tare_operation *operation,
                     struct tare_event **event, struct tare_error *error);
int levelzero_append_clock(struct tare_queue *queue, struct tare_span to, struct tare_error *error);
// Appends the operation itself: no order, no events but those named.
int levelzero_append_command(struct levelzero_append *append, struct tare_error *error);
int levelzero_append_launch(const struct levelzero_append *append, struct tare_error *error);
// The span's start, for the host and the device alike.
void *levelzero_address(const struct tare_span *span);
// NULL: it is no image.
ze_image_handle_t levelzero_image_of(const struct tare_memory *memory);
// Takes the image over where it succeeds.
int levelzero_memory_of_image(struct levelzero_device *device, ze_image_handle_t image,
                              uint64_t bytes, struct tare_memory **memory,
                              struct tare_error *error);

// ---- event.c

int levelzero_event_make(struct tare_device *device, bool timed, struct levelzero_event **event,
                         struct tare_error *error);
int levelzero_event_wait(struct tare_event *event, int64_t limit_ns, struct tare_error *error);
int levelzero_event_done(struct tare_event *event, struct tare_error *error);
int levelzero_event_stamps(struct tare_event *event, struct tare_stamps *stamps,
                           struct tare_error *error);
void levelzero_event_free(struct tare_event *event);
// The stamps of a signalled native event. -EAGAIN: it is not signalled.
int levelzero_read_stamps(const struct levelzero_device *device, ze_event_handle_t handle,
                          struct tare_stamps *stamps, struct tare_error *error);
// Hands the event's command to the device, where its queue still gathers it.
int levelzero_event_submit(const struct levelzero_event *event, struct tare_error *error);

// ---- gate.c

int levelzero_gate_shut(struct tare_queue *queue, struct tare_gate **gate,
                        struct tare_error *error);
int levelzero_gate_open(struct tare_gate *gate, struct tare_error *error);
// Whether the host can signal an event, and reset it, before anything waits for one. The slot is
// unused, and stays so. -ENOTSUP or what the driver answered.
int levelzero_try_to_open(struct levelzero_device *device, const struct levelzero_slot *slot,
                          struct tare_error *error);
void levelzero_gate_free(struct tare_gate *gate);
// Opens every gate of the device; before it is closed.
void levelzero_gates_open(struct levelzero_device *device);

// ---- memory.c

int levelzero_image_create(struct tare_device *device, const struct tare_image *shape,
                           struct tare_memory **memory, struct tare_error *error);
int levelzero_memory_create(struct tare_device *device, enum tare_memory_kind kind, uint64_t bytes,
                            struct tare_memory **memory, struct tare_error *error);
void levelzero_memory_free(struct tare_memory *memory);
int levelzero_memory_advise(struct tare_span span, enum tare_advice advice,
                            struct tare_error *error);
// Whether kernels may be given plain host memory.
bool levelzero_reaches_heap(const struct levelzero_device *device);

// ---- graph.c

int levelzero_graph_begin(struct tare_queue *queue, struct tare_error *error);
// A queue that waits for a node of the graph that is being recorded is recorded with it.
void levelzero_graph_join(struct levelzero_queue *queue, const struct tare_operation *operation);
int levelzero_graph_append(struct levelzero_queue *queue, const struct tare_operation *operation,
                           struct tare_event **event, struct tare_error *error);
// The queue is about to be freed: what it records is given up.
void levelzero_graph_leave(struct levelzero_queue *queue);
int levelzero_graph_end(struct tare_queue *queue, struct tare_graph **graph,
                        struct tare_error *error);
int levelzero_graph_launch(struct tare_graph *graph, struct tare_queue *queue,
                           struct tare_event **event, struct tare_error *error);
int levelzero_graph_stamps(struct tare_graph *graph, uint32_t node, struct tare_stamps *stamps,
                           struct tare_error *error);
void levelzero_graph_free(struct tare_graph *graph);
