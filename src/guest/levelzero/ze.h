// SPDX-License-Identifier: Apache-2.0
// What the parts of the Level Zero recorder share. The wrappers are generated
// (tools/gen_levelzero.py); docs/recorder-levelzero.md says what happens to a command.
#pragma once
#include "guest/api.h"
#include "guest/stack/stack.h"

#include <level_zero/ze_api.h>
#include <level_zero/ze_ddi.h>

// By value in functions of newer headers.
struct ze_newer_size {
	uint32_t x, y, z;
};

#include "levelzero_hooks.h"

#define ZE_LIKELY(condition) __builtin_expect(!!(condition), 1)
#define ZE_UNLIKELY(condition) __builtin_expect(!!(condition), 0)

// ---- drivers

// One of the drivers of this process. Its functions never change once they are known.
struct ze_driver {
	struct ze_calls call; // the driver's own
};
extern GUEST_HIDDEN struct ze_driver ze_drivers[ZE_SLOTS];

// A function: where its pointer is, and those of ours that stand for it, one a driver.
struct ze_row {
	const char *name, *table; // table: name of its getter
	enum tare_trace_role role;
	uint16_t place;      // in the table
	uint16_t since;      // specification 1.N
	size_t offset;       // in struct ze_calls
	void *via[ZE_SLOTS]; // NULL: not wrapped
};
extern GUEST_HIDDEN const struct ze_row ze_rows[ZE_FUNCTIONS];
// Names of functions that only ask and have no row; NULL ends them.
extern const char *const ze_asking[];

_Static_assert(ZE_FUNCTIONS <= GUEST_FUNCTIONS, "");
// The generation of the file in which a function was defined.
extern GUEST_HIDDEN _Atomic uint32_t ze_defined[ZE_FUNCTIONS];
void ze_define_function(uint32_t function, uint32_t process);
static inline void ze_know_function(const struct guest_thread *thread, uint32_t function)
{
	if (ZE_UNLIKELY(atomic_load_explicit(&ze_defined[function], memory_order_relaxed) !=
	                thread->process))
		ze_define_function(function, thread->process);
}
static inline uint16_t ze_detail(uint32_t function)
{
	return (uint16_t)(GUEST_FUNCTION_BASE(TARE_TRACE_LEVELZERO) + function);
}

// ---- threads

// Room for the lists of one call, where they are many.
struct ze_arena {
	void *memory;
	uint32_t room; // lists
	bool taken;
};

// The last launch's groups and their size, as given, and the shape that they are.
struct ze_launched {
	uint32_t groups[3], group[3];
	uint32_t shape, process; // process: in whose file the shape is defined
};

struct ze_thread {
	struct guest_api_thread
	    shared;               // it defines at the exit of its last call that was no command
	struct ze_list *list;     // last used
	struct ze_kernel *kernel; // last launched
	struct ze_launched launched;
	struct guest_launches row;
	struct ze_arena arena;
	// in a call that waits: what it sees complete is as it was read
	bool stands_by;
	bool ends; // ends a list or a context: what is complete is taken now or never
};
static inline bool ze_thread_make(struct guest_thread *thread)
{
	return guest_api_thread_make(thread, TARE_TRACE_LEVELZERO, sizeof(struct ze_thread));
}
static inline struct ze_thread *ze_of(const struct guest_thread *thread)
{
	return thread->api[TARE_TRACE_LEVELZERO];
}

// Begins a call: this thread, or NULL when nothing is recorded. Ends with ze_leave.
static inline struct guest_thread *ze_enter(void)
{
	struct guest_thread *thread = guest_thread_of(TARE_TRACE_LEVELZERO);
	if (ZE_UNLIKELY(thread == NULL) ||
	    (ZE_UNLIKELY(ze_of(thread) == NULL) && !ze_thread_make(thread)))
		return NULL;
	thread->depth++;
	guest_count_call(&ze_of(thread)->shared);
	return thread;
}
static inline void ze_leave(struct guest_thread *thread)
{
	// In the child of a fork from within a call it has begun anew.
	thread->depth -= thread->depth != 0;
}

// ---- definitions

static inline void ze_define(enum tare_trace_object_kind kind, const void *handle,
                             const void *parent, const void *device, uint64_t properties,
                             uint64_t bytes, uint32_t name, uint32_t number)
{
	guest_define_object(TARE_TRACE_LEVELZERO, 0, kind, handle, parent, device, properties,
	                    bytes, name, number);
}
static inline void ze_fact(enum tare_trace_fact fact, const void *object, uint64_t value,
                           const void *device, uint32_t text)
{
	guest_define_fact(TARE_TRACE_LEVELZERO, fact, object, value, device, text);
}
static inline void ze_change(enum tare_trace_change change, const void *object, uint64_t from,
                             uint64_t to)
{
	guest_define_change(TARE_TRACE_LEVELZERO, change, object, from, to);
}

// ---- objects: handles to what is kept of them

struct ze_spares {
	guest_lock lock;
	void *first;
	size_t kept; // an object's first bytes, which are never cleared
};
// `bytes` of zeroed memory, of `spares` or new; its first member is a pointer that links it among
// them. NULL: there is none.
void *ze_take(struct ze_spares *spares, size_t bytes);
void ze_give(struct ze_spares *spares, void *object);

struct ze_device {
	ze_device_handle_t handle;
	const struct ze_driver *driver;
	uint32_t number;
	_Atomic uint32_t process; // in whose file it is defined
	uint64_t timer_hz;        // of stamps; 0: not known
	uint32_t stamp_bits;
	uint32_t sub_devices;    // over which the driver may spread a command; 0: it has none
	_Atomic uint32_t parted; // in whose file these are defined
	// bits of the queue groups, by ordinal, whose engines run no kernels
	uint32_t copying;
	_Atomic bool no_timer;         // zeDeviceGetGlobalTimestamps does not work
	_Atomic uint64_t paired_ticks; // when the clocks were last read; 0: never
	_Atomic uint64_t first_paired_ticks;
};
// The device, defined when it was not yet; NULL when there are too many.
struct ze_device *ze_device_find(const struct ze_driver *driver, ze_device_handle_t device);
// Defines its sub-devices, where that was not done yet.
void ze_sub_devices_define(struct ze_device *device);
// Reads the device's clock between two host ticks, unless that was done a short while ago.
void ze_clock_pair(struct guest_thread *thread, struct ze_device *device);
// The same where work ends: what lies between two readings is known better than what comes after
// the last.
void ze_clock_pair_behind(struct guest_thread *thread, struct ze_device *device);

struct counters_kernel;
struct ze_kernel {
	void *spare;
	ze_kernel_handle_t handle; // NULL: destroyed
	uint32_t group[3];
	bool unsure;                     // a launch that was refused may have changed it
	struct counters_kernel *counted; // NULL: it is not to be counted
};
struct ze_kernel *ze_kernel_find(struct guest_thread *thread, ze_kernel_handle_t handle);

// ---- events

// An event of the program's.
struct ze_event {
	void *spare;
	// By so many threads that harvest, just now. Of another event, too, that had this memory
	// before: never cleared.
	_Atomic uint32_t asked;
	_Atomic(ze_event_handle_t) handle; // NULL: destroyed
	ze_event_pool_handle_t pool;
	bool timed; // its pool has timestamps that may be read
	// it stands for the last command that was appended with it, and is never reset
	bool counts;
	// somebody else signals it, too, and until it is reset nobody knows whose times it says
	_Atomic bool doubtful;
	// and they were, since the host reset it: what it says next differs from
	_Atomic bool read;
	_Atomic uint64_t start, end; // these
	// Of the command at this place of that list's ring, where they are of one.
	_Atomic(const struct ze_list *) kept_list;
	_Atomic uint32_t kept_at;
	// The last command that signals it and was not read yet; changed under the list's lock
	// `push`.
	_Atomic(struct ze_list *) list;       // NULL: none
	_Atomic uint32_t at;                  // in that list's ring, or among its nodes
	_Atomic(struct ze_content *) content; // those nodes; NULL: it is in the ring
	// The last command whose times an immediate list copies before it resets this event. Until
	// the reset has run the event says that command's times.
	_Atomic(struct ze_list *) copied_list; // NULL: none
	_Atomic uint32_t copied_at;            // in that list's ring
	// The program, until it destroys the event, each pending command whose times are copied,
	// and each node: the last of them lets its memory be used again.
	_Atomic uint32_t holders;
	_Atomic uint32_t nodes; // that are queried: of the lists that signal it
	// Bits 1 << number % 64 of these nodes' contents: where none is set there is none.
	_Atomic uint64_t contents;
	// The driver's is destroyed when it is none of so many contents in flight.
	_Atomic uint32_t in_flight;
};
void ze_event_let_go(struct ze_event *event); // by one of its holders
struct ze_event *ze_event_find(ze_event_handle_t handle);
bool ze_events_begin(void);
// Destroys what the program has destroyed while it was still to be read.
void ze_events_destroy_due(void);
void ze_event_before_slow(struct guest_thread *thread, struct ze_event *event);
// It is about to be reset, signalled anew or destroyed: what it says is read now or never.
static inline void ze_event_before(struct guest_thread *thread, struct ze_event *event)
{
	if (ZE_UNLIKELY(atomic_load_explicit(&event->list, memory_order_relaxed) != NULL ||
	                atomic_load_explicit(&event->nodes, memory_order_relaxed) != 0))
		ze_event_before_slow(thread, event);
}

// The recorder's own events, by context. NULL: none can be had.
struct ze_own_events;
struct ze_own_events *ze_own_events_of(const struct ze_driver *driver, ze_context_handle_t context);
ze_event_handle_t ze_own_take(struct ze_own_events *own);
void ze_own_give(struct ze_own_events *own, ze_event_handle_t event); // resets it
// Host memory of the context for one event's times. NULL: none can be had.
ze_kernel_timestamp_result_t *ze_slot_take(struct ze_own_events *own);
void ze_slot_give(struct ze_own_events *own, ze_kernel_timestamp_result_t *slot);
void ze_own_end(const struct ze_driver *driver, ze_context_handle_t context);

// ---- queues and lists

struct ze_queue {
	void *spare;
	ze_command_queue_handle_t handle;
	struct ze_device *device;
	uint32_t number;
};
struct ze_queue *ze_queue_find(ze_command_queue_handle_t handle);

// A command of an immediate list whose times are to be read; event NULL: done.
struct ze_pending {
	ze_event_handle_t event;
	struct ze_event *known; // the program's; NULL: the event is ours
	uint32_t track, number;
	// where its times are when the event is signalled; NULL: in that
	ze_kernel_timestamp_result_t *slot;
	ze_event_handle_t copied; // with a slot: ours, for which a barrier waits
	struct ze_event *of;      // and the program's event, from which the times are copied
	bool is_behind;           // its event was copied and reset in this list, by the command
	uint32_t behind;          // at this place; before that is done the event says its times
};

// A command in a regular list.
struct ze_node {
	ze_event_handle_t event; // NULL: not timed
	struct ze_event *known;
	uint32_t track, number;
	bool lost;                          // the list itself uses its event again
	bool gone;                          // its event, which counts, has become another command's
	ze_kernel_timestamp_result_t *slot; // where the list puts its times; NULL: in the event
};

static inline bool ze_is_queried(const struct ze_node *node)
{
	return !node->lost && node->slot == NULL;
}

// Behind a list, in the same call: reads its nodes' times of one execution.
struct ze_query {
	struct ze_query *following; // of all that its content has
	struct ze_query *next;      // of those in flight, or of the idle ones
	ze_command_list_handle_t list;
	ze_event_handle_t begun, done;
	ze_kernel_timestamp_result_t *results; // of `count` nodes
	uint32_t count;
	bool overwritten;      // executed again before it could be read
	_Atomic bool doubtful; // was not complete when others began to signal its events
	// Of each node the last execution whose times somebody writes, or has: who raises it does.
	_Atomic uint32_t *settled;
	uint32_t settled_room;
	uint64_t execution;
};

// What was appended to a regular list since it was made or reset.
struct ze_content {
	_Atomic(struct ze_content *) following; // of its list, older ones
	uint32_t number;                        // its templates' queue
	struct ze_node *nodes;
	uint32_t count, room, timed;
	uint32_t appended; // commands, whether they are timed or not
	struct ze_query *queries;
	// Under the list's lock `push`; only who has the right to harvest takes one out of those in
	// flight.
	_Atomic(struct ze_query *) idle;
	struct ze_query *oldest, *newest; // of those in flight
	_Atomic uint32_t in_flight;
	ze_event_handle_t *handles; // of the timed nodes, for a query
	_Atomic bool dropped;       // the program has reset or destroyed it
	_Atomic bool empty;         // and nothing of ours is left in it: it can be used again
	_Atomic bool no_query;      // the driver cannot query in a list of this kind: see query.c
	// its events are signalled by what is not known, too: no more of it is timed
	_Atomic bool shared;
	struct ze_copy *copies; // between host and device, with --contents: compare.c
	uint32_t copy_count, copy_room;
};

enum ze_list_state { ZE_LIST_FREE, ZE_LIST_MADE, ZE_LIST_USED, ZE_LIST_ENDED };
struct ze_list {
	struct ze_list *following; // of all that ever were
	ze_command_list_handle_t handle;
	const struct ze_driver *driver;
	ze_context_handle_t context;
	_Atomic(struct ze_device *) device;
	struct ze_own_events *own;
	uint32_t ordinal;
	bool copies;                     // its engine runs no kernels: see query.c
	uint32_t number;                 // of the queue that an immediate one is
	bool immediate, in_order, waits; // waits: an append returns when the command is done
	_Atomic uint32_t state;          // enum ze_list_state
	_Atomic uint32_t process;        // in whose file it is defined
	_Atomic bool told;
	guest_lock push, harvesting;
	// a thread of the program's would like to have the right to harvest
	_Atomic uint32_t wanted;
	struct ze_pending *ring;
	uint32_t mask;                        // capacity - 1; 0: no ring yet
	_Atomic uint32_t head, tail;          // count up without end
	_Atomic(struct ze_content *) content; // of a regular one; the newest first
	_Atomic uint32_t in_flight;           // queries of all its contents
	// that were read and not told yet, and what they took of the device
	uint64_t queries, queries_ns;
	bool told_queries;
	bool ours; // of the recorder's own measuring: execute_cost.c
	uint64_t executions;
	// flags of mutable.c: what the next command may become before it runs
	uint32_t next_mutable;
	_Atomic bool capturing; // what is appended goes into a graph and is not run
};
struct ze_list *ze_lists(void);
struct ze_list *ze_list_find(struct guest_thread *thread, ze_command_list_handle_t handle);
// `handle` is a copy of the list: how much it runs is known, and nothing of that is timed.
void ze_list_cloned(struct guest_thread *thread, const struct ze_list *list,
                    ze_command_list_handle_t handle);
// Whether commands are to be given events of ours, and pools our flags.
static inline bool ze_may_change(void)
{
	return !guest_options.strict && !guest_options.count_only;
}

// ---- commands

// A command in flight, on its wrapper's stack.
struct ze_command {
	uint64_t enter;
	struct ze_list *list;    // NULL: not known
	ze_event_handle_t event; // what the driver is given
	struct ze_event *known;  // the program's, if it has times
	bool own, passed;        // passed: of it nothing is recorded
	uint32_t function;
	uint32_t may_become;         // as next_mutable
	struct count_entry *counted; // a metric query is around it; NULL: none
};
struct ze_what {
	uint8_t kind;
	ze_kernel_handle_t kernel;
	const ze_group_count_t *groups;
	const struct ze_newer_size *group; // NULL: as the kernel has it
	const void *to, *from;
	uint64_t bytes;
	const ze_copy_region_t *region;
	const ze_image_region_t *extent;
	ze_image_handle_t image, source; // copied to, and from
	const void *graph;
};
// What a call that is no command says.
struct ze_said {
	ze_result_t status;
	bool released;
	uint64_t object, bytes;
	uint32_t wait_count;
	ze_event_handle_t *waits;
};
void ze_command_begin(struct guest_thread *thread, struct ze_command *command, uint32_t function,
                      ze_command_list_handle_t list, ze_event_handle_t event, bool takes_event);
void ze_command_end(struct guest_thread *thread, struct ze_command *command, ze_result_t status,
                    const struct ze_what *what, uint32_t wait_count, ze_event_handle_t *waits);
uint64_t ze_call_begin(struct guest_thread *thread, uint32_t function, bool waits);
void ze_call_end(struct guest_thread *thread, uint32_t function, uint64_t enter, bool waits,
                 const struct ze_said *said);
void ze_asked(struct guest_thread *thread, uint32_t function, uint64_t enter, ze_result_t status,
              uint64_t object, bool poll);
void ze_write_depends(struct guest_thread *thread, uint64_t of, uint32_t count,
                      ze_event_handle_t *events);
void ze_write_call_end(struct guest_thread *thread, uint32_t number, uint64_t exit);
uint64_t ze_begin_ticks_slow(struct guest_thread *thread, uint64_t enter);
// Host ticks at the beginning of a call, after the thread's CPU clock was read if it was time.
static inline uint64_t ze_begin_ticks(struct guest_thread *thread)
{
	uint64_t enter = guest_ticks();
	return ZE_UNLIKELY(guest_cpu_time_is_due(thread, thread->left_ticks, enter))
	           ? ze_begin_ticks_slow(thread, enter)
	           : enter;
}

// What a command may become after it was appended. The first three as in the API.
enum {
	ZE_MUTABLE_GROUPS = 1 << 1 | 1 << 2,
	ZE_MUTABLE_WAITS = 1 << 5,
	ZE_MUTABLE_KERNEL = 1 << 6,
	ZE_MUTABLE_ALL_BUT_KERNEL = 0x3f
};

// ---- harvest

// Keeps a command of an immediate list until its times can be had.
void ze_push(struct guest_thread *thread, struct ze_list *list, ze_event_handle_t event,
             struct ze_event *known, uint32_t number);
// Keeps a command of a regular list.
void ze_node_add(struct guest_thread *thread, struct ze_list *list, ze_event_handle_t event,
                 struct ze_event *known, uint32_t number);
// The list itself resets the event, or signals it again: of an earlier node in it nothing can be
// read.
void ze_node_lose(struct ze_list *list, struct ze_event *event);
// Takes the times of what is complete. False: another thread is at it.
bool ze_harvest_list(struct guest_thread *thread, struct ze_list *list);
// compare.c: where a copy between host and device begins in the device's memory; its TRANSFER
// record; and its bytes, once its record is written and before its event is pushed.
uint64_t ze_part_of(const struct tare_trace_command *command, const struct ze_what *what);
void ze_write_part(struct guest_thread *thread, uint32_t number, uint64_t offset);
void ze_compare(struct guest_thread *thread, const struct tare_trace_command *command,
                const struct ze_what *what, unsigned flags);
// Of a read whose bytes are still to be hashed: whether who harvests stands by, or nobody has for a
// while.
bool ze_may_settle(const struct guest_thread *thread, uint32_t track, uint32_t number);
void ze_compare_come(struct guest_thread *thread, uint32_t track, uint32_t number);
// Of regular lists: keeps a copy; hashes what the copies of an execution carry, before the driver
// gets it (is_told: ze_compare_ran will say that it is complete); writes that, behind its record.
void ze_copy_add(struct guest_thread *thread, struct ze_content *content,
                 const struct tare_trace_command *command, const struct ze_what *what);
void ze_compare_run(struct guest_thread *thread, const struct ze_content *content,
                    uint64_t execution, bool is_told);
void ze_compare_write(struct guest_thread *thread, const struct ze_content *content,
                      uint64_t execution);
// As ze_may_settle and ze_compare_come, of all of an execution's reads; ran: the driver has taken
// it.
bool ze_may_settle_run(const struct guest_thread *thread, const struct ze_content *content,
                       uint64_t execution);
void ze_compare_ran(struct guest_thread *thread, const struct ze_content *content,
                    uint64_t execution, bool ran);
// That of all lists, after the program has waited.
void ze_harvest_all(struct guest_thread *thread);
void ze_harvest(void); // for the core
bool ze_may_call(void);
// The right to harvest a list, and to change its contents: some microseconds are waited for it.
bool ze_take_right(struct ze_list *list);
// The same where it is now or never: who has it is given way to.
bool ze_take_right_patiently(struct ze_list *list);
void ze_keep_stamps(struct ze_event *event, const ze_kernel_timestamp_result_t *stamps);
void ze_write_times(struct guest_thread *thread, uint32_t track, uint32_t number,
                    uint64_t execution, const ze_kernel_timestamp_result_t *stamps);
// What each sub-device did of the command that signalled the event last.
enum { ZE_MOST_PARTS = 16 };
struct ze_parts {
	uint32_t count; // 0: no more than one, or not known
	ze_kernel_timestamp_result_t of[ZE_MOST_PARTS];
};
// What is told of a command.
struct ze_told {
	ze_kernel_timestamp_result_t stamps; // all zero: nothing
	struct ze_parts parts;
};
// Asked before the right to write the command's times is claimed: when it is, the program may reset
// the event.
void ze_parts_ask(const struct ze_list *list, ze_event_handle_t event, struct ze_parts *parts);
// Before its times: the parts, if they are this command's. `whole`: its times.
void ze_write_parts(struct guest_thread *thread, const struct ze_list *list,
                    const struct ze_parts *parts, uint32_t track, uint32_t number,
                    uint64_t execution, const ze_kernel_timestamp_result_t *whole);
void ze_write_untimed(struct guest_thread *thread, uint32_t track, uint32_t number,
                      uint64_t execution, enum tare_trace_untimed why, int64_t value);
// Of regular lists, with the right to harvest.
void ze_contents_harvest(struct guest_thread *thread, struct ze_list *list);
void ze_content_drop(struct ze_list *list);
// The event of a node is about to be used again: what it says of the last execution is read now.
void ze_node_before(struct guest_thread *thread, struct ze_list *list, struct ze_content *content,
                    uint32_t at, struct ze_event *event);
// The same of all nodes in flight that it is the event of. `found` NULL, or called for each content
// with one, with the right to harvest its list. False: another thread has kept that of one.
bool ze_nodes_before(struct guest_thread *thread, struct ze_event *event,
                     void (*found)(void *context, const struct ze_content *content), void *context);
// What that event says is no longer this node's: none of its executions in flight is timed.
void ze_node_stop(struct ze_content *content, uint32_t at, const struct ze_event *event);
// It is about to be signalled by what is no node: by those in flight, too, it may be until it is
// reset.
void ze_nodes_doubt(struct guest_thread *thread, struct ze_event *event);
// True for the first who has asked about this node of this execution: who gets it has asked before,
// since the program may reset the event as soon as somebody has it.
bool ze_query_settle(const struct ze_query *query, uint32_t node, uint64_t execution);
// An event that counts is about to be another command's than the node's in a regular list.
void ze_node_gone(struct guest_thread *thread, struct ze_event *event);
// The list itself has copied what the event's node says into `slot`. False: it has no such node.
bool ze_node_slot(struct ze_list *list, struct ze_event *event, ze_kernel_timestamp_result_t *slot);
// Reads the command in a ring that signals the event, if it is complete. False: it is not.
bool ze_pending_read(struct guest_thread *thread, struct ze_event *event);
// Whether an event says something else than when it was read last: without a reset in between it
// may.
bool ze_is_new(const struct ze_event *known, const ze_kernel_timestamp_result_t *stamps);
// Whether another list than `list` is still to copy and reset what the event says.
bool ze_is_copied_elsewhere(struct guest_thread *thread, const struct ze_event *event,
                            const struct ze_list *list);
// From now on the copy's event tells that its times are in its slot; what it has is given back when
// they were read, or when it has been made for nothing.
void ze_pending_exchange(struct ze_list *list, struct ze_event *event,
                         const struct ze_pending *copy);
struct ze_content *ze_content_new(struct ze_list *list);
// A list to go behind this one's next execution; NULL: none can be had. Whoever harvests is not
// waited for.
struct ze_query *ze_query_take(struct ze_list *list, uint64_t execution);
// Says how many queries have run, of which nothing was said yet. With the right to harvest.
void ze_queries_tell(struct ze_list *list);
// From now on others signal its events: only executions that are complete by now are timed.
void ze_content_share(struct ze_list *list, struct ze_content *content);
// It is in flight no more; with the right to harvest.
void ze_query_return(struct ze_list *list, struct ze_content *content, struct ze_query *query);

// ---- costs

// Measures what our own code takes, where no other API is recorded in the process.
void ze_calibrate(void);
// A list was made, the program's first one: what the driver takes for an event is measured on a
// list of ours.
void ze_driver_cost_first(const struct guest_thread *thread, const struct ze_list *like);

// A list is about to be executed with one of ours behind it, for the first time: what that takes is
// measured.
void ze_execute_cost_first(const struct guest_thread *thread, const struct ze_list *like);

// ---- counters (counters/launch.c), for `tare hotspots`

extern GUEST_HIDDEN bool ze_counts; // any launch is to be counted
// Reads what is to be counted (TARE_RECORD_COUNT).
void ze_count_begin(void);
void ze_count_in_child(void);
void ze_bench_in_child(void); // no measurement of the parent's is under way in it
// A table of the driver's tools functions on its way to the loader.
void ze_count_table(unsigned slot, const char *table, void *members);
// Of a kernel's name; NULL: it is not to be counted.
struct counters_kernel *ze_count_kernel(const char *name);
// Before the driver gets a launch, after that, and when its record is written (number 0: it has
// none). Between the first and the last no other thread counts.
void ze_count_launch_slow(struct guest_thread *thread, struct ze_command *command,
                          ze_kernel_handle_t kernel, uint32_t wait_count, ze_event_handle_t *waits);
void ze_count_launched_slow(struct guest_thread *thread, const struct ze_command *command,
                            ze_result_t status);
void ze_count_written_slow(struct guest_thread *thread, const struct ze_command *command,
                           uint32_t number);
static inline void ze_count_launch(struct guest_thread *thread, struct ze_command *command,
                                   ze_kernel_handle_t kernel, uint32_t wait_count,
                                   ze_event_handle_t *waits)
{
	if (ZE_UNLIKELY(ze_counts))
		ze_count_launch_slow(thread, command, kernel, wait_count, waits);
}
// Before a regular list is executed; when what was appended to it is dropped.
void ze_count_execute_slow(struct guest_thread *thread, const struct ze_list *list,
                           uint64_t execution);
void ze_count_drop_slow(const struct ze_content *content);
// Reads what is complete.
void ze_count_read_slow(struct guest_thread *thread);
static inline void ze_count_read(struct guest_thread *thread)
{
	if (ZE_UNLIKELY(ze_counts))
		ze_count_read_slow(thread);
}
// Before a list or a context is destroyed: what is in flight there is read, if it comes soon.
void ze_count_list_ends_slow(struct guest_thread *thread, const struct ze_list *list);
void ze_count_context_ends(struct guest_thread *thread, const struct ze_driver *driver,
                           ze_context_handle_t context);
// The program has begun to count by itself.
void ze_count_program_counts(void);

// ---- the rest

bool ze_objects_begin(void);
bool ze_lists_begin(void);
bool ze_modules_begin(void);
bool ze_images_begin(void);
// Bytes of an image, or of a part of it; 0: not known.
uint64_t ze_image_bytes(ze_image_handle_t handle, const ze_image_region_t *part);
void ze_in_child(void);
