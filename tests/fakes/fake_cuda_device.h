// SPDX-License-Identifier: Apache-2.0
// What the files of the stand-in for libcuda share. Everything below is to be used with `mutex`
// held, which ENTER takes and leave gives back.
//
// Each device is an engine model (src/model/engine/engine.h) that a script describes, on the real
// CLOCK_MONOTONIC_RAW: an operation is done, and its data has moved, when the model says so. A
// stream is an in-order queue of the model. What waits for something else (an event, the legacy
// stream, a word, a host function) is held in the model until that is done.
#pragma once
#include "fake_cuda_names.h"

#include "fake_cuda.h"
#include "model/engine/engine.h"
#include "model/script/script.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define DECLARE(name, parameters) FAKE_EXPORT cu_result name parameters;
CUDA_FUNCTIONS(DECLARE, DECLARE)
#undef DECLARE

#define QUEUE_DEPTH 1000
#define MAX_DEVICES 8
#define MAX_RANGES 2048
#define MAX_PARAMETERS 64

// Results and attributes that the backend has no use for.
enum {
	FAKE_PEER_ACCESS_UNSUPPORTED = 217,
	FAKE_ALREADY_REGISTERED = 712,
	FAKE_NOT_REGISTERED = 713,
	FAKE_CAPTURE_UNSUPPORTED = 900,
	FAKE_CAPTURE_INVALIDATED = 901,
	FAKE_CAPTURE_MERGE = 902,
	FAKE_CAPTURE_UNMATCHED = 903,
	FAKE_CAPTURE_UNJOINED = 904,
	FAKE_CAPTURE_ISOLATION = 905,
	FAKE_CAPTURE_IMPLICIT = 906,
	FAKE_ATTRIBUTE_COMPUTE_MODE = 20,
	FAKE_RECORD_EXTERNAL = 1, // cuEventRecordWithFlags, cuStreamWaitEvent
};
#define FAKE_STREAM_PER_THREAD ((cu_stream)0x2)

enum kind { RECORD, WAIT, WAIT_VALUE, NOTHING, COPY, FILL, HOST_CALL, HOST_RETURN, KERNEL };

struct op;
struct lane;

struct ops {
	struct op **at;
	size_t count, capacity;
};

// The last use of an event is its own handle's or a record's.
struct cu_event_object {
	struct device *device;
	bool timed, recorded;
	int users;
	uint64_t asked, done; // records asked for and done
	struct op *last;      // the record asked for last, while it is pending
	int64_t ns;
	uint64_t capture; // recorded in that capture: what it stands for there; 0: in none
	size_t *nodes;
	size_t node_count;
};

struct parameter {
	size_t offset, bytes;
};

struct cu_function_object {
	struct cu_module_object *module;
	char name[256];
	const struct tare_script_kernel *script; // NULL: one that the script does not know
	struct parameter parameters[MAX_PARAMETERS];
	size_t parameter_count, parameter_bytes;
	bool loaded;
	uint64_t work_items; // launched
	struct cu_function_object *next;
};

struct cu_module_object {
	struct device *device;
	struct cu_function_object *functions;
	bool loaded;
	char *text; // as it was given
};
// What stands before the text of machine code and of fat binaries here.
enum { FAKE_HEAD_BYTES = 64 };
// fake_cuda_ptx.c: whether a text is not taken; a module goes.
bool refuses_ptx(const char *text);
void *make_device_memory(size_t bytes);
void forget_ptx(const struct cu_module_object *module);
// A launch of the function has ended well.
void count_in_ptx(struct cu_function_object *function, uint64_t work_items);

struct cu_context_object {
	struct device *device;
	int users;
};

// One side of a copy; pitches in bytes.
struct side {
	char *at;
	size_t pitch, layer;
};

struct op {
	struct tare_model_operation model; // first, so that the one is found from the other
	enum kind kind;
	struct device *device;
	struct cu_stream_object *stream;
	struct lane *lane;
	struct op *previous, *next; // in its lane
	bool entry;                 // takes a place in the stream
	uint32_t correlation;
	uint64_t graph_node;
	// What it waits for beside its predecessor; who waits for it.
	struct ops waits, followers;
	int64_t not_before_ps;

	struct cu_event_object *event;
	struct cu_graph_object *graph; // the last of a launch
	const volatile uint32_t *word;
	uint32_t value;
	cu_host_function function;
	void *data;

	struct side to, from;
	size_t row_bytes, rows, layers, unit;
	int copy_kind;
	uint32_t ends[2];        // devices, of a copy between two
	uint64_t migrated_bytes; // of managed memory: before it begins, or all that it does
	int64_t migrated_ps;
	char *staged; // of pageable memory, read when the copy was asked for

	const struct tare_script_kernel *script;
	struct cu_function_object *kernel; // NULL: of none
	char name[64];
	char *arguments;
	struct parameter parameters[MAX_PARAMETERS];
	size_t parameter_count;
	uint64_t items, group_items;
	uint32_t grid[3], block[3], shared_bytes;
	void (*effect)(void *data);
	cu_result fails;
};

struct lane {
	struct tare_model_queue *queue;
	struct op *first, *last;
	struct lane *next;
};

struct cu_stream_object {
	struct cu_stream_object *next;
	struct device *device;
	bool blocking, legacy, destroyed;
	int priority;
	pthread_t thread; // whose default stream it is
	bool of_thread;
	size_t count;
	struct lane *lanes; // the first is the stream; the others run branches of graphs
	struct capture *capture;
	size_t branch; // of the capture's graph
	size_t *nodes; // that the next node follows
	size_t node_count;
};

// A node's operation as it will be, in a branch that runs in order, behind others' nodes.
struct node {
	struct op op;
	size_t branch, place; // its place in its graph
	size_t *after;
	size_t after_count;
};

struct cu_graph_object {
	struct device *device;
	struct node *nodes;
	size_t count, branches;
	struct op *last; // of the launch under way
};

struct capture {
	uint64_t number;
	struct cu_graph_object *graph;
	struct cu_stream_object *origin;
	bool invalid;
};

struct range {
	char *at;
	size_t bytes;
	enum tare_place place;
	bool registered;
	struct device *device;
	unsigned char *resident; // SHARED: a bit a page that the device has
};

struct device {
	int index;
	struct tare_script script;
	struct tare_model *model;
	struct cu_context_object context;
	struct cu_stream_object *streams; // the first is the legacy one
	size_t allocated;
	bool peers[MAX_DEVICES];
	int64_t busy_ps, busy_until_ps;
	int working;    // operations on engines, or waiting for one
	cu_result lost; // by a failed kernel, and for good
};

struct words {
	int init, driver, devices, major, minor, ptx_major, ptx_minor;
	bool launch_blocking; // CUDA_LAUNCH_BLOCKING is 1
	int fail_launch, fail_code, hang_launch, step;
	int load_us, module_us; // of a kernel and its module, at the first launch of it
	int launch_us;          // of the host's time, for each launch that is not captured
	bool no_wait_value, no_managed, no_peer, shared_link, exclusive, prohibited;
	char name[64];
	size_t memory, host_memory, memory_above, fail_peer;
	uint64_t peer_rate;
};

struct gpu {
	struct words words;
	struct device devices[MAX_DEVICES];
	struct range ranges[MAX_RANGES];
	size_t range_end; // beyond the last that is used
	size_t host_allocated;
	int64_t base_ns, skipped_ns;
	int objects, launches, records, functions_pending;
	bool initialised;
};

extern struct gpu gpu;
extern pthread_mutex_t mutex;
extern _Thread_local cu_context current;

// ---- fake_cuda_script.c
// Reads what the environment says: the words and the devices' scripts.
void read_words(void);

// ---- fake_cuda_device.c
void start_device(void);
// The device's clock; times of the models are picoseconds since gpu.base_ns.
int64_t device_now(void);
int64_t now_ps(void);
// Lets the devices get on: everything that is over by now is finished.
void pump(void);
// Sleeps, or not, until something may have changed, without the mutex.
void pause_shortly(void);
// The caller's time, as the script's `host` line says, without the mutex.
void host_takes(int64_t ps);
// The same of a host that waited until the device was done.
void host_wakes(const struct device *device, bool waited);
// Gives the mutex back, and tells the observer what has ended.
cu_result leave(cu_result result);
// Operations that are queued in any stream.
int work_pending(void);
// Wakes (and at first starts) the thread that runs host functions.
void wake_worker(void);
_Noreturn void would_hang(const char *what);
// Waits until the stream, or everything on the device, is done.
cu_result drain(struct cu_stream_object *stream);
cu_result drain_device(struct device *device);
// An empty device, of which nothing was asked yet.
void revive_device(struct device *device);
// Drops what is pending, and the streams.
void forget_work(struct device *device);
// The lane's operation is done for the model.
void operation_done(void *context, struct tare_model_operation *model);

// ---- fake_cuda_queue.c: streams and what is in them
cu_result stream_of(cu_stream handle, struct cu_stream_object **stream);
struct cu_stream_object *new_stream(struct device *device, unsigned int flags);
void free_stream(struct cu_stream_object *stream);
struct lane *lane_of(struct cu_stream_object *stream, size_t index);
// Appends to a stream, or to what it captures; blocks while the stream is full, as CUDA does. The
// operation's arguments and staged bytes are taken over, also when it is refused. *made: what was
// appended, NULL when it was captured; it is gone once the mutex was given back.
cu_result append(cu_stream handle, const struct op *op, struct op **made);
// The same without a capture, a limit or an order among streams.
struct op *enqueue(struct cu_stream_object *stream, struct lane *lane, const struct op *op);
// What stands behind a host function until it has returned.
struct op *enqueue_return(const struct op *call);
void follow(struct op *op, struct op *first);
void order_streams(struct op *op);
cu_result wait_for_room(struct cu_stream_object *stream);
bool head_is_stuck(const struct cu_stream_object *stream);
void free_op(struct op *op);
uint32_t next_correlation(void);

// ---- fake_cuda_calls.c
// The number of the call that this thread is in; 0: none that is told of.
uint32_t fake_cuda_call_under_way(void);
uint32_t fake_cuda_new_number(void);
// Lets in who is named to the driver, once.
void let_in(void);

// ---- fake_cuda_graph.c
// For what may not be asked of a stream that captures.
cu_result refuse_capturing(struct cu_stream_object *stream);
cu_result capture_operation(struct cu_stream_object *stream, const struct op *op);
cu_result capture_wait(struct cu_stream_object *stream, struct cu_event_object *event);
void capture_event(struct cu_stream_object *stream, struct cu_event_object *event);
void forget_captured(struct cu_event_object *event);

// ---- fake_cuda_kernel.c
// What a kernel computes, and whether its memory is there: else CUDA's result.
cu_result run_kernel(const struct op *op);
// Fills in the costs of a kernel on the device.
void kernel_cost(const struct device *device, struct op *op, uint64_t groups, uint64_t group_items);

// ---- fake_cuda_peak.c
bool is_peak(const struct op *op);
cu_result run_peak(const struct op *op);

// ---- fake_cuda_memory.c
// The memory that contains the address; NULL: CUDA does not know it.
struct range *range_of(const void *at);
// Time of moving pages of managed memory to the device.
// Adds the bytes that move to *moved.
int64_t migrate(struct range *range, const char *at, size_t bytes, bool to_host, bool faults,
                uint64_t *moved_bytes);
void free_ranges(struct device *device);

// A device address as the memory that it is here.
#define AT(pointer) ((void *)(uintptr_t)(pointer))

// Every function begins with this: what CUDA checks first.
#define ENTER()                                                                                    \
	do {                                                                                       \
		pthread_mutex_lock(&mutex);                                                        \
		if (!gpu.initialised)                                                              \
			return leave(ABI_NOT_INITIALIZED);                                         \
	} while (0)
// An error of a kernel stays with its context.
#define ENTER_CONTEXT()                                                                            \
	do {                                                                                       \
		ENTER();                                                                           \
		if (!current)                                                                      \
			return leave(ABI_INVALID_CONTEXT);                                         \
		if (current->device->lost)                                                         \
			return leave(current->device->lost);                                       \
	} while (0)
