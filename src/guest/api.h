// SPDX-License-Identifier: Apache-2.0
// The contract between the recorder's core and the recorder of an API, which is a folder beside
// this file: one const struct guest_api, handed to guest_begin when the API's own loader has let
// the folder in. All of them share one file, one clock, one helper thread and one state a thread,
// whoever comes first. docs/recorder-apis.md shows how a folder is made.
//
// What holds whatever the order of beginnings, of forks and of calls within calls:
//  - `depth` of a thread counts calls of all APIs that it is inside of; a call at depth 2 or more
//    is NESTED, in a callback or in another API's driver, perhaps under locks of that driver's.
//  - The core calls `harvest` from where no call of the program's is under way below it: the helper
//    thread, or the process's only thread at the end of a call at depth 1, never from a callback.
//  - A folder may harvest its own API at the end of its own calls, at any depth but within its own
//    callbacks: its driver is free then, whatever stands above it. It never makes another API be
//    harvested: that one's driver may be what has called.
//  - What a folder asks its vendor's library for itself (times, releases) may come down through
//    another API's wrappers, if one driver stands on the other. Between guest_aside_begin and
//    guest_aside_end those pass on what they are called with and record nothing. The core does it
//    around `harvest`.
//  - Handles of two APIs may be equal: every definition is tagged with its API (guest_api_head),
//    and events are by the API of their function. Numbers of functions, devices and queues differ.
#pragma once
#include "guest/guest.h"

// Every member is called from one thread at a time, on which nothing else of the contract runs,
// with errno of no meaning. All but `api` and `harvest` may be NULL.
struct guest_api {
	enum tare_trace_api api;

	// Writes the times of the API's commands that are complete, without waiting. Called by the
	// helper thread in each of its rounds (every 4 ms while guest_header->pending is not 0), in
	// a process with one thread by that every 10 ms, and once at the process's end, with
	// guest_alive false: then nothing of the vendor's may be called any more, only accounts are
	// settled. May come as soon as guest_begin has been called, before that returns.
	void (*harvest)(void);

	// How many calls of the program have reached the API's wrappers in this process, recorded
	// or not. NULL: as many as its threads have counted (guest_count_call).
	uint64_t (*calls)(void);

	// In the child of a fork, from the handler of fork(2), when the core has let go of the
	// parent's file: only plain stores, no lock and nothing of the vendor's. What is pending is
	// the parent's; what was defined (functions, objects, texts) is to be defined again at its
	// next use, see guest_process.
	void (*in_child)(void);
};

// Functions of an API have numbers of their own, so many at most; the trace has those of
// guest_function.
#define GUEST_FUNCTIONS 4096
#define GUEST_FUNCTION_BASE(api) (((uint32_t)(api) - 1) * GUEST_FUNCTIONS)
_Static_assert((TARE_TRACE_API_COUNT - 1) * GUEST_FUNCTIONS < UINT16_MAX,
               "a record's detail has 16 bits");

// The head of a definition that is about handles of `api`: OBJECT, FACT, CHANGE, and CLOCK_PAIR.
static inline uint64_t guest_api_head(enum tare_trace_api api, enum tare_trace_type type,
                                      uint16_t detail)
{
	return tare_trace_head((uint8_t)type, (uint8_t)api, detail, 0);
}

// ---- threads

// What a folder keeps of a thread begins with this.
struct guest_api_thread {
	_Atomic uint64_t calls;  // of the program, that have reached the wrappers
	uint64_t defining_ticks; // when what it defines came to be; 0: when it is defined
	struct guest_api_thread *following;
};
// Gives a thread `bytes` of zeroed memory for `api`. False: there is none.
bool guest_api_thread_make(struct guest_thread *thread, enum tare_trace_api api, size_t bytes);
// All that were ever made for `api`; the child of a fork begins with no calls in them. `mine` is a
// pointer to the folder's structure, in which the above is `shared`.
struct guest_api_thread *guest_api_threads(enum tare_trace_api api);
#define GUEST_API_THREADS(mine, api)                                                               \
	for ((mine) = (void *)guest_api_threads(api); (mine);                                      \
	     (mine) = (void *)(mine)->shared.following)
static inline void guest_count_call(struct guest_api_thread *mine)
{
	atomic_store_explicit(&mine->calls,
	                      atomic_load_explicit(&mine->calls, memory_order_relaxed) + 1,
	                      memory_order_relaxed);
}

// ---- definitions

// Write an OBJECT, a FACT or a CHANGE, at this thread's defining_ticks; an OBJECT at `ticks`,
// unless those are 0.
void guest_define_object(enum tare_trace_api api, uint64_t ticks, enum tare_trace_object_kind kind,
                         const void *handle, const void *parent, const void *device,
                         uint64_t properties, uint64_t bytes, uint32_t name, uint32_t number);
void guest_define_fact(enum tare_trace_api api, enum tare_trace_fact fact, const void *object,
                       uint64_t value, const void *device, uint32_t text);
void guest_define_change(enum tare_trace_api api, enum tare_trace_change change, const void *object,
                         uint64_t from, uint64_t to);
// Whether a handle was not yet defined in the file of this process, which the caller does now,
// outside of the lock that he holds. Of more than there is room for it is always true.
struct guest_defined {
	uint32_t count;
	struct {
		const void *handle;
		uint32_t process;
	} of[32];
};
bool guest_defines_first(struct guest_defined *defined, const void *handle);
// Writes the FUNCTION record of a number that is below GUEST_FUNCTIONS.
void guest_define_function(enum tare_trace_api api, uint32_t number, const char *name,
                           enum tare_trace_role role);
// The id of a text, defined once a file; 0: none was given, or there was no room.
uint32_t guest_text(const char *text, size_t bytes);
// The id of an ND-range, defined once a file; `shape` as in the record, its head and id are not
// looked at.
uint32_t guest_shape(const struct tare_trace_shape *shape);
// Numbers for the objects of all APIs, never used twice by a process or by its forked children:
// devices from 0, queues from 1.
uint32_t guest_device_number(void);
uint32_t guest_queue_number(void);

// This thread for a wrapper of `api`, or NULL when the call is to be passed on as it came: nothing
// is recorded, another API's recorder is at work (guest_aside_begin), or we are in a signal handler
// that has interrupted the holder of one of this folder's locks (`locked`).
static inline __attribute__((always_inline)) struct guest_thread *
guest_thread_of(enum tare_trace_api api)
{
	struct guest_thread *thread = guest_thread();
	if (__builtin_expect(!thread, 0))
		return NULL;
	uint32_t locked = __atomic_load_n(&thread->locked, __ATOMIC_RELAXED);
	uint32_t aside = __atomic_load_n(&thread->aside, __ATOMIC_RELAXED);
	if (__builtin_expect((locked | aside) == 0, 1))
		return thread;
	return !locked && aside == (uint32_t)api ? thread : NULL;
}

// From here on this thread (NULL: none) calls `api`'s library for the recorder, whose wrappers know
// that; with GUEST_ASIDE_ALL no API's calls are recorded. Returns what guest_aside_end, which ends
// it, is to be given.
enum { GUEST_ASIDE_ALL = TARE_TRACE_API_COUNT };
static inline uint32_t guest_aside_begin(struct guest_thread *thread, uint32_t api)
{
	uint32_t before = thread ? thread->aside : 0;
	if (thread)
		__atomic_store_n(&thread->aside, api, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return before;
}
static inline void guest_aside_end(struct guest_thread *thread, uint32_t before)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (thread)
		__atomic_store_n(&thread->aside, before, __ATOMIC_RELAXED);
}

// From here to guest_unshield this thread changes what a signal handler of the program must not
// find half changed: what such a one calls is passed on as it came, see guest_thread_of.
static inline __attribute__((always_inline)) void guest_shield(struct guest_thread *thread)
{
	__atomic_store_n(&thread->locked, thread->locked + 1, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}
static inline __attribute__((always_inline)) void guest_unshield(struct guest_thread *thread)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	// In the child of a fork by a handler the state was begun anew.
	if (__builtin_expect(thread->locked != 0, 1))
		__atomic_store_n(&thread->locked, thread->locked - 1, __ATOMIC_RELAXED);
}

// A lock of an API's recorder, for a few stores and never across a call of the vendor's. A signal
// handler that comes meanwhile and calls the API must not wait for its own thread: see
// guest_thread_of.
static inline __attribute__((always_inline)) void guest_hold(guest_lock *lock)
{
	struct guest_thread *thread = guest_this;
	if (__builtin_expect(thread != NULL, 1))
		guest_shield(thread);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	// A store is enough where nobody else can take it: another thread, once there is one, finds
	// it.
	if (guest_alone() && !atomic_load_explicit(&lock->taken, memory_order_relaxed))
		atomic_store_explicit(&lock->taken, 1, memory_order_relaxed);
	else if (__builtin_expect(atomic_exchange_explicit(&lock->taken, 1, memory_order_acquire),
	                          0))
		guest_acquire(lock);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}
static inline void guest_let_go(guest_lock *lock)
{
	struct guest_thread *thread = guest_this;
	guest_release(lock);
	// In the child of a fork by a handler it is another state, or none.
	if (__builtin_expect(thread != NULL, 1))
		guest_unshield(thread);
}

// ---- launches in a row: one that is like the one before takes eight bytes behind it (LAUNCHES)

// The last launch of a thread.
struct guest_launches {
	union tare_trace_record *last; // COMMAND or LAUNCHES; NULL: none, or it is being changed
	uint64_t exit;
	uint32_t number;
	uint32_t windows; // of the thread, then
	uint32_t room;    // for so many more in that record
	// of the COMMAND, what all have in common
	uint32_t queue;
	uint64_t head, object, amount;
};

// Whether a launch may follow: all that is not told again is the same.
static inline bool guest_launches_like(const struct guest_launches *row, uint64_t head,
                                       uint32_t queue, uint64_t object, uint64_t amount)
{
	return ((row->head ^ head) | (row->queue ^ queue) | (row->object ^ object) |
	        (row->amount ^ amount)) == 0;
}

// Where a launch that is like the one before is to be put: in the same record, or in the next with
// all its `room`. NULL: it must have a record of its own. What is found is for
// guest_launches_put_in or guest_launches_leave; until then a signal handler that launches finds no
// row: what it writes lies behind, and numbers and places tell us.
static inline __attribute__((always_inline)) union tare_trace_record *
guest_launches_place(struct guest_thread *thread, struct guest_launches *row, uint32_t *room)
{
	union tare_trace_record *last = row->last;
	if (__builtin_expect(last == NULL, 0))
		return NULL;
	__atomic_store_n(&row->last, NULL, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (__builtin_expect(!guest_is_last(thread, last, row->windows), 0))
		return NULL;
	*room = row->room;
	if (*room != 0)
		return last;
	*room = TARE_LAUNCHES_MOST;
	return guest_claim_behind(thread, last);
}

// Nothing is put there.
static inline void guest_launches_leave(const struct guest_thread *thread,
                                        union tare_trace_record *place, uint32_t room)
{
	if (room == TARE_LAUNCHES_MOST)
		guest_commit(place, tare_trace_head(TARE_TRACE_VOID, 0, 0, thread->track));
}

// Puts the launch there, as `number`. False: it must have a record of its own, and nothing was
// written; so it is where that is not the thread's next number, for a signal handler has had it.
static inline __attribute__((always_inline)) bool
guest_launches_put_in(struct guest_thread *thread, struct guest_launches *row,
                      union tare_trace_record *place, uint32_t room, uint32_t number,
                      uint64_t enter, uint64_t exit)
{
	const uint64_t after = enter - row->exit, took = exit - enter;
	const uint32_t count = TARE_LAUNCHES_MOST - room;
	// UINT32_MAX stands for a call that took longer.
	if (__builtin_expect((after | (took + 1)) >> 32 != 0, 0) ||
	    __builtin_expect(!guest_take_number(thread, number), 0)) {
		guest_launches_leave(thread, place, room);
		return false;
	}
	uint32_t *ticks = &place->launches.ticks[2 * count];
	ticks[0] = (uint32_t)after;
	ticks[1] = (uint32_t)took;
	guest_commit(place,
	             tare_trace_head(TARE_TRACE_LAUNCHES, 0, (uint16_t)(count + 1), thread->track));
	row->exit = exit;
	row->number = number;
	row->room = room - 1;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	__atomic_store_n(&row->last, place, __ATOMIC_RELAXED);
	return true;
}

// Both.
static inline __attribute__((always_inline)) bool guest_launches_more(struct guest_thread *thread,
                                                                      struct guest_launches *row,
                                                                      uint32_t number,
                                                                      uint64_t enter, uint64_t exit)
{
	uint32_t room = 0;
	union tare_trace_record *place = guest_launches_place(thread, row, &room);
	return place != NULL &&
	       guest_launches_put_in(thread, row, place, room, number, enter, exit);
}

// Begins a row with a COMMAND that was just written, to which no other record belongs. `windows`:
// the thread's, when its place was taken.
static inline void guest_launches_begin(struct guest_launches *row, union tare_trace_record *record,
                                        uint32_t windows)
{
	const struct tare_trace_command *command = &record->command;
	__atomic_store_n(&row->last, NULL, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	row->exit = command->enter + command->call_ticks;
	row->number = command->number;
	row->windows = windows;
	row->room = 0;
	row->queue = command->queue;
	row->head = command->head;
	row->object = command->object;
	row->amount = command->amount;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	__atomic_store_n(&row->last, record, __ATOMIC_RELAXED);
}
