// SPDX-License-Identifier: Apache-2.0
// What the parts of the OpenCL layer share. The wrappers are generated (tools/gen_api.py) and call
// the inline functions of wrap.h; docs/recorder-opencl.md says what happens to a command.
#pragma once
#include "guest/api.h"
#include "guest/contents.h"
#include "guest/layer/cl.h"
#include "guest/opencl/ring.h"
#include "guest/region.h"

#include <CL/cl_ext.h>

#include "opencl_hooks.h"

#define LAYER_LIKELY(condition) __builtin_expect(!!(condition), 1)
#define LAYER_UNLIKELY(condition) __builtin_expect(!!(condition), 0)

// ---- the table

// The functions below us: the loader's own, or another layer's. Set once, before any call.
extern GUEST_HIDDEN cl_icd_dispatch layer_next;
// Replaces the members of `table` that layer_next has by our wrappers. Generated.
void layer_wrap(cl_icd_dispatch *table);

struct layer_function_name {
	const char *name;
	enum tare_trace_role role;
};
extern const struct layer_function_name layer_function_names[LAYER_FUNCTIONS];

// An extension function: each vendor's pointer is reached through a function of its own.
struct layer_extension {
	const char *name;
	void *via[LAYER_SLOTS];
	void *vendor[LAYER_SLOTS];
};
extern struct layer_extension layer_extensions[LAYER_EXTENSIONS + 1];

// OpenCL's numbers of functions are the trace's as they are.
_Static_assert(GUEST_FUNCTION_BASE(TARE_TRACE_OPENCL) == 0 && LAYER_FUNCTIONS <= GUEST_FUNCTIONS,
               "");
// The generation of the file in which a function was defined.
extern GUEST_HIDDEN _Atomic uint32_t layer_defined[LAYER_FUNCTIONS];
void layer_define_function(uint32_t function, uint32_t process);

// ---- threads

enum { LAYER_SHAPES = 64, LAYER_WAITED = 8 };
struct layer_shape {
	uint64_t global[3];
	uint32_t local[3];
	uint32_t dimensions; // and 16 when there is an offset
	uint32_t id;         // 0: none
	uint32_t process;
};
// The last launch of a thread, which those like it are put behind (LAUNCHES).
struct layer_run {
	struct guest_launches row;
	// what another of one dimension without an offset is compared with (again.h); NULL: none is
	struct layer_queue *of;
	uint64_t global, local; // local 0: the driver's choice
	uint8_t flags;          // of the COMMAND
};
// Which commands of a thread get device times (sample.c).
enum { LAYER_KINDS = 256 };
struct layer_sampled_kind {
	uint64_t key;    // of a kernel and its size, or of a function and a size class
	uint32_t seen;   // so often since the sample began; 0: the place is free
	uint32_t next;   // when that is reached the chance is reckoned anew
	uint32_t chance; // of 2^32, at least; UINT32_MAX: all are taken
};
struct layer_sampler {
	bool on;              // a sample, else all
	uint32_t look_in;     // commands until the cost is looked at
	uint32_t chance;      // of 2^32
	uint32_t left, epoch; // commands until the chance is reckoned anew, and of all such
	uint64_t state;       // of the generator
	uint32_t timed;       // since the chance was chosen
	uint64_t start;       // host ticks of the first command
	uint64_t chosen;      // when the chance was chosen, or the cost last looked at
	uint64_t commands;    // of this thread that were timed before there was a sample
	double spent;         // host ticks on those timed, before `chosen`
	uint32_t used;        // places of `kinds`
	struct layer_sampled_kind kinds[LAYER_KINDS];
};
struct layer_thread {
	struct guest_api_thread
	    shared;                // it defines at the exit of its last call that was no command
	struct layer_queue *queue; // last used
	uint32_t callbacks;        // of the program that this thread is inside of
	uint32_t waited_count;
	struct layer_queue *waited[LAYER_WAITED]; // of the events that are waited for
	// in a call that waits, which has not returned: what it sees complete is as it was read
	bool stands_by;
	struct guest_contents unmapping; // what is being unmapped held; `bytes` 0: nothing
	struct layer_run run;
	struct layer_sampler sampler;
	const struct layer_shape *last_shape; // one of these; NULL: none yet
	struct layer_shape shapes[LAYER_SHAPES];
};
// Makes what is kept of a thread. False when there is no memory.
static inline bool layer_thread_make(struct guest_thread *thread)
{
	return guest_api_thread_make(thread, TARE_TRACE_OPENCL, sizeof(struct layer_thread));
}
// That; NULL: none yet.
static inline struct layer_thread *layer_of(const struct guest_thread *thread)
{
	return thread->api[TARE_TRACE_OPENCL];
}

// ---- objects

struct layer_object {
	const void *_Atomic handle;  // NULL: not in use
	_Atomic uint32_t references; // that the program holds
	uint8_t kind;                // enum tare_trace_object_kind
	uint8_t memory;              // enum tare_trace_memory
	uint32_t element_bytes;      // of an image, else 0
	uint64_t flags, bytes;
	uint64_t serial;
	struct layer_object *following; // in the list of those to be used again
};
// Remembers a new object. NULL: no memory.
struct layer_object *layer_object_new(enum tare_trace_object_kind kind, const void *handle);
void layer_object_put(struct layer_object *object, enum tare_trace_object_kind kind,
                      const void *handle);
// NULL: not known, or of another kind.
struct layer_object *layer_object_find(enum tare_trace_object_kind kind, const void *handle);
// Before the program's call that retains or releases it. Releasing returns whether it was the last.
void layer_retaining(const void *handle);
bool layer_releasing(const void *handle);

// ---- definitions

static inline void layer_define(enum tare_trace_object_kind kind, const void *handle,
                                const void *parent, const void *device, uint64_t properties,
                                uint64_t bytes, uint32_t name, uint32_t number)
{
	guest_define_object(TARE_TRACE_OPENCL, 0, kind, handle, parent, device, properties, bytes,
	                    name, number);
}
static inline void layer_fact(enum tare_trace_fact fact, const void *object, uint64_t value,
                              const void *device, uint32_t text)
{
	guest_define_fact(TARE_TRACE_OPENCL, fact, object, value, device, text);
}
static inline void layer_change(enum tare_trace_change change, const void *object, uint64_t from,
                                uint64_t to)
{
	guest_define_change(TARE_TRACE_OPENCL, change, object, from, to);
}

// ---- devices

struct layer_device {
	cl_device_id handle;
	cl_platform_id platform;
	uint32_t number;
	_Atomic uint32_t process;      // in whose file it is defined
	_Atomic bool no_timer;         // clGetDeviceAndHostTimer does not work
	_Atomic uint64_t paired_ticks; // when the clocks were last read
};
// The device, defined when it was not yet; NULL when there are too many.
struct layer_device *layer_device_find(cl_device_id device);
void layer_platform_seen(cl_platform_id platform);
// Reads the device's clock between two host ticks, at most a few times a second.
void layer_clock_pair(struct guest_thread *thread, struct layer_device *device, uint64_t now);

// ---- queues and harvest

enum { LAYER_ASKED_LIST = 16 };
enum layer_queue_use { LAYER_QUEUE_USED = 0, LAYER_QUEUE_FREE = 1, LAYER_QUEUE_TAKEN = 2 };
struct layer_queue {
	struct layer_object object; // handle, references
	cl_context context;
	struct layer_device *device;
	// Read by a thread that still remembers an earlier queue of this memory.
	_Atomic uint32_t number;
	_Atomic uint32_t process; // in whose file it is defined
	cl_command_queue_properties asked, made;
	cl_queue_properties list[LAYER_ASKED_LIST]; // as the program gave it
	uint32_t list_count;                        // 0: none
	bool altered;                               // the program asked for no profiling
	bool supply;                                // we ask for events where the program does not
	bool timed;                                 // events are harvested
	bool out_of_order;
	_Atomic bool told_supply, told_retain;
	_Atomic uint32_t free; // enum layer_queue_use
	// the one thread that pushes into the first ring; NULL: none yet
	struct guest_thread *_Atomic owner;
	_Atomic uint32_t counted; // of header->pending, due to this queue
	struct layer_ring rings[LAYER_RINGS];
	guest_lock push, harvesting;   // the first for the second ring
	_Atomic uint32_t wanted;       // a thread that has waited anyway would like to harvest
	uint64_t quiet_heads;          // layer_heads, when the helper last looked
	uint64_t early_ticks;          // that harvesting took and header->harvest_ticks has not
	struct layer_queue *following; // of all queues that ever were
};
struct layer_queue *layer_queues(void);
// The queue of a handle, NULL when it was not made through us (see layer_queue_adopt).
struct layer_queue *layer_queue_find(struct guest_thread *thread, cl_command_queue handle);
// Makes a queue known that came from elsewhere; the handle must be valid.
struct layer_queue *layer_queue_adopt(struct guest_thread *thread, cl_command_queue handle);
void layer_queue_releasing(struct layer_queue *queue);
struct layer_queue *layer_queue_take(void);

static inline void layer_lock(guest_lock *lock)
{
	guest_hold(lock);
}
static inline void layer_unlock(guest_lock *lock)
{
	guest_let_go(lock);
}
// This thread, or NULL when nothing is recorded.
static inline struct guest_thread *layer_thread(void)
{
	return guest_thread_of(TARE_TRACE_OPENCL);
}

// How many commands were ever put into each of its rings.
static inline uint64_t layer_heads(const struct layer_queue *queue)
{
	return atomic_load_explicit(&queue->rings[LAYER_OWNED].head, memory_order_relaxed) |
	       (uint64_t)atomic_load_explicit(&queue->rings[LAYER_SHARED].head,
	                                      memory_order_relaxed)
	           << 32;
}
static inline uint32_t layer_pending_count(const struct layer_queue *queue)
{
	return layer_ring_count(&queue->rings[LAYER_OWNED]) +
	       layer_ring_count(&queue->rings[LAYER_SHARED]);
}

// The ring that this thread pushes into; it becomes the owner of one that nobody owns.
enum { LAYER_LARGEST_RING = 1 << 20 };
struct layer_ring *layer_ring_of(struct guest_thread *thread, struct layer_queue *queue);
// layer_ring_put as that ring asks for.
uint32_t layer_ring_push(struct guest_thread *thread, struct layer_queue *queue,
                         struct layer_ring *ring, const struct layer_pending *pending);
// Doubles it where there is memory and it is not at its largest.
void layer_ring_grow(struct guest_thread *thread, struct layer_queue *queue,
                     struct layer_ring *ring);
// When its owner is to look next, by whether all was complete when it looked.
void layer_ring_looked(struct layer_ring *ring, bool complete);
// What is pending in this queue, in the header.
void layer_count_pending(struct layer_queue *queue);

// What is to be done where that is not all. `used`: how many are in the owner's ring with it;
// UINT32_MAX: it is in none yet.
void layer_push_slow(struct guest_thread *thread, struct layer_queue *queue, cl_event event,
                     uint32_t number, uint32_t used);
// Keeps the event of a command until its times can be had. `row`: more like it may follow, which
// times would come between.
static inline __attribute__((always_inline)) void layer_push(struct guest_thread *thread,
                                                             struct layer_queue *queue,
                                                             cl_event event, uint32_t number,
                                                             bool row)
{
	struct layer_ring *ring = &queue->rings[LAYER_OWNED];
	uint32_t used = UINT32_MAX;
	if (LAYER_LIKELY(atomic_load_explicit(&queue->owner, memory_order_relaxed) == thread)) {
		guest_shield(thread);
		used = layer_ring_put(ring, event, thread->track, number);
		guest_unshield(thread);
	}
	const uint32_t look = atomic_load_explicit(&ring->look, memory_order_relaxed);
	if (LAYER_UNLIKELY(used >= (row ? look : look / 2) ||
	                   atomic_load_explicit(&queue->counted, memory_order_relaxed) == 0))
		layer_push_slow(thread, queue, event, number, used);
}
// Takes the times of completed commands, looking at no more than `limit` of the oldest. Those
// pushed before `known_heads` were complete by `known_ticks` (0: nothing is known of that). Returns
// false when another thread is at it.
bool layer_harvest_queue(struct guest_thread *thread, struct layer_queue *queue, uint32_t limit,
                         uint64_t known_heads, uint64_t known_ticks);
// Of a read whose bytes are still to be hashed: whether who harvests stands by, or nobody has for a
// while.
bool layer_may_harvest(const struct guest_thread *thread, const struct layer_pending *pending);
void layer_contents_come(struct guest_thread *thread, const struct layer_pending *pending);
// The same for queues that the program has let go of before their commands were complete, if there
// are any: nobody waits for those by name.
void layer_harvest_released_slow(struct guest_thread *thread);
extern GUEST_HIDDEN _Atomic bool layer_released_pending;
static inline void layer_harvest_released(struct guest_thread *thread)
{
	if (LAYER_UNLIKELY(atomic_load_explicit(&layer_released_pending, memory_order_relaxed)))
		layer_harvest_released_slow(thread);
}
// The queue of an event, if it is one of ours.
struct layer_queue *layer_queue_of_event(struct guest_thread *thread, cl_event event);
// How many references to it are in a ring.
uint32_t layer_held(struct layer_queue *queue, cl_event event);
void layer_harvest(void);      // for the helper
void layer_harvest_stop(void); // the loader goes away
// In the child of a fork, before a queue's first use there: what is pending is the parent's.
// Returns whether no other thread has done it.
bool layer_forget_pending(struct layer_queue *queue, uint32_t process);

// ---- host memory

// Of host memory inside a mapped memory object.
uint8_t layer_mapped_memory(const void *memory);
static inline void layer_freeing(const void *start)
{
	guest_region_forget(start);
}
static inline void layer_freeing_all(cl_uint count, void **starts)
{
	for (cl_uint i = 0; starts != NULL && i < count; i++)
		layer_freeing(starts[i]);
}

// ---- the rest

cl_command_queue layer_graph_queue(const void *graph);
uint32_t layer_shape_id(struct guest_thread *thread, const struct layer_shape *shape);
// Measures what a command and a call cost by the recorder itself, for the file's header.
void layer_calibrate(void);
// Measures what the driver takes for what is changed in the program, on queues of ours: at the
// program's first context, and, where it let time pass since then, when it releases its last queue,
// whose commands are all harvested. A few milliseconds; whatever fails, it stays unknown.
void layer_driver_cost_first(const struct guest_thread *thread, cl_context context,
                             cl_device_id device);
void layer_driver_cost_again(const struct guest_thread *thread, const struct layer_queue *last);
// Writes what is known of it into the file's header; in the child of a fork that is another one.
void layer_driver_cost_tell(void);
// What our own code takes more for a command with times than for one without.
extern int64_t layer_timed_cost_ps;
// Host ticks that the times of a command take: our own code, the event, its questions and its
// release; 0: not known.
extern _Atomic uint64_t layer_event_ticks;
// Where a function of the vendor's lies stays loaded to the end of the process.
const char *layer_pin(const void *address);
// Before the first call, once.
bool layer_objects_begin(void);
// In the child of a fork; for struct guest_api.
void layer_in_child(void);
void layer_callbacks_begin(void);
void layer_arguments_begin(void);
void layer_extensions_begin(void);
void layer_devices_begin(void);
