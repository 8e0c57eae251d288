// SPDX-License-Identifier: Apache-2.0
// The recorder's core inside the user's program, shared by the recorders of all APIs: threads,
// windows of the trace file, the clock, the helper thread, fork and exit. Rules of the house:
//  - no malloc (the program may have replaced it, or hold its lock), no stdio, no assert, no exit;
//  - errno is as it was when a function of ours returns;
//  - nothing here waits for another thread longer than a spinlock around a few stores, and no lock
//    is held across a call into the vendor's library;
//  - whatever fails, the program goes on and the loss is counted.
#pragma once
#include "tare/trace.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Of a variable of ours that a fast path looks at: it is in this library, no table says where.
#define GUEST_HIDDEN __attribute__((visibility("hidden")))

// ---- life

// What TARE_RECORD in the environment says; `tare record` writes it (src/record/environment.h).
struct guest_options {
	char directory[4000]; // absolute; "" : do not record
	bool strict;
	bool keep_newest;
	bool count_only;               // no device times, no profiling, no events
	bool may_sample;               // device times of a sample, when those of all cost too much
	uint64_t max_bytes;            // of this process's file; 0: no limit
	int64_t delay_ns, duration_ns; // from start; duration 0: to the end
	int64_t start_raw_ns;          // when `tare record` started the program
	bool call_stacks;
	bool contents; // hash what transfers carry (contents.h)
	bool front;    // a loader was put in front of the program's own
	// as calibrated, for the header
	int64_t self_cost_ps, self_call_cost_ps, self_stack_cost_ps;
	int64_t self_untimed_cost_ps;
	// the interval of a command's with times and without
	int64_t self_low_ps[2], self_high_ps[2];
	uint64_t calibration_ticks;
	// the API of which alone these costs are (enum tare_trace_api); 0: of none alone
	uint32_t calibrated;
	int64_t event_ns; // that an event is taken to cost; 0: as measured
};

// Begins recording of an API (guest/api.h; NULL: of phases alone) in this process, and with the
// first one the file. Any number of APIs, in any order, from any thread, before or after a fork;
// again for one that was begun it does nothing. Returns true when the process is being recorded.
// After a fork the child begins a file of its own by itself, for all that its parent had begun.
struct guest_api;
bool guest_begin(const struct guest_api *api);
extern GUEST_HIDDEN struct guest_options guest_options;
// Writes what guest_options has of our own code's cost into a header, the file's or one to come.
void guest_tell_self_cost(struct tare_trace_header *header);
// To the process's file: it took a thread of the program from then on (CLOCK_MONOTONIC) to begin or
// end the recording.
void guest_setup_took(uint64_t from_ns);

// True while events are wanted (--delay, --duration). Definitions always are. It stays true when
// there is no room any more, so that what is lost is counted.
extern GUEST_HIDDEN _Atomic bool guest_active;
// Counts the files that this process image has begun, forks included: what was defined in another
// generation (functions, strings, shapes) is not known in this one's file.
extern GUEST_HIDDEN _Atomic uint32_t guest_process;
// False from the end of the process on: then nothing of the vendor's may be called any more.
extern GUEST_HIDDEN _Atomic bool guest_alive;

// ---- time

// Host ticks now: the time-stamp counter where it is invariant, else CLOCK_MONOTONIC_RAW.
static inline uint64_t guest_ticks(void);
// About that many nanoseconds of host ticks (for thresholds, never for results).
uint64_t guest_ticks_of_ns(int64_t ns);

// ---- threads and records

// What a thread of the program has; never freed, used again when the thread has ended.
struct guest_thread {
	union tare_trace_record *next, *end; // room in the window; equal: none
	struct tare_trace_window *window;    // NULL: none yet
	uint32_t track;
	uint32_t windows;        // that it has had: a place in one before is not looked at again
	uint32_t command_number; // of the last command
	uint32_t depth;          // calls, of any API, that this thread is inside of
	// spinlocks that an API's recorder holds in this thread
	uint32_t locked;
	// the API whose recorder calls its library for itself; 0: none
	uint32_t aside;
	uint32_t process;                // generation; differs from guest_process after a fork
	uint64_t cpu_read_ticks;         // when the thread's CPU clock was last read
	uint64_t left_ticks;             // when it came back from its last call
	union tare_trace_record *polled; // last record, when it is a POLLED
	uint64_t lost_records, lost_commands;
	bool helper; // the recorder's own
	// What the recorder of each API keeps of a thread, by enum tare_trace_api; the next thread
	// that takes this state goes on with it.
	void *api[TARE_TRACE_API_COUNT];
	// Private to src/guest.
	struct guest_contents_room *contents; // to hash in
	struct guest_phase_open *phases;      // how many are open, by domain
	struct guest_walk *walk;              // of its stack, in progress
	struct guest_walks *walks;            // that it has made lately
	uint32_t walks_track;                 // whose they are
	uint64_t loss_from, loss_to;          // host ticks
	union tare_trace_record *forking;     // the record of a fork that is under way
	struct guest_thread *following;
	_Atomic uint32_t taken;
};

// Whether the process has this one thread only, by the C library's word: then nobody else changes
// what this thread looks at until it starts another. False where that cannot be told.
static inline bool guest_alone(void);

// This thread's state, or NULL when nothing is recorded (not begun, no memory, at the end).
// Cheap: one thread-local load and two compares. After a fork it begins the child's own file.
static inline struct guest_thread *guest_thread(void);

// Room for one event record of this thread, or NULL: not active, or no room (then the loss is
// counted). Fill everything but the head, then guest_commit. Nothing else may be written between,
// but by a signal handler: its records stand behind, and one that is never committed because the
// handler did not return is left as TARE_TRACE_VOID.
static inline union tare_trace_record *guest_event(struct guest_thread *thread);
// The same for a COMMAND, whose loss is counted as one.
static inline union tare_trace_record *guest_command(struct guest_thread *thread);
static inline void guest_commit(union tare_trace_record *record, uint64_t head);

// Says that this thread is inside a call that may wait (`function`), or no more (0 ticks).
static inline void guest_waiting(struct guest_thread *thread, uint32_t function, uint64_t ticks);

// Writes a record of the thread's CPU time when what began at `since`, a call or the time between
// two, took 50 µs, or when 0.5 ms have passed since the last one.
static inline void guest_cpu_time(struct guest_thread *thread, uint64_t since, uint64_t now);

// Writes one definition (`record` with its head; the track is filled in). For the other clocks and
// devices too. Safe from any thread.
void guest_define(const union tare_trace_record *record);
// Defines a text (at most 64 KiB of it) and returns its id; 0 when there was no room. Not
// deduplicated.
uint32_t guest_string(const char *text, size_t bytes);
// A new number for a shape.
uint32_t guest_shape_number(void);

// A window as a thread would get it next, empty, to try things out in: nobody's, and without a
// head. NULL: there is none to spare. It is emptied when it is given back.
struct tare_trace_window *guest_window_borrow(void);
void guest_window_give_back(struct tare_trace_window *window);

// ---- tools without malloc

// `bytes` of zeroed memory that is never given back. NULL when there is none.
void *guest_memory(size_t bytes);

// A spinlock for a few stores; in the child of a fork all of them are free again.
typedef struct {
	_Atomic uint32_t taken;
} guest_lock;
void guest_acquire(guest_lock *lock);
bool guest_try(guest_lock *lock);
void guest_release(guest_lock *lock);
// Registers a lock that the child of a fork must find free. What it guards may have been caught in
// the middle of a change by another thread: the child begins it anew (see guest_process).
void guest_lock_register(guest_lock *lock);

// A map from pointers to 64-bit values that grows by guest_memory; any thread may use it, finding
// takes no lock. `absent` is returned for what is not there.
struct guest_map;
struct guest_map *guest_map_new(void);
bool guest_map_put(struct guest_map *map, const void *key, uint64_t value); // replaces
uint64_t guest_map_find(const struct guest_map *map, const void *key, uint64_t absent);
void guest_map_remove(struct guest_map *map, const void *key);

// 64 bits, going on from `hash`: XXH3 (FNV-1a in a build without xxhash.h), known to this build
// alone; and a key of a map out of one, never a small number.
#define GUEST_HASH_START UINT64_C(0xcbf29ce484222325)
uint64_t guest_hash(uint64_t hash, const void *data, size_t bytes);
static inline const void *guest_hash_key(uint64_t hash)
{
	return (const void *)(uintptr_t)(hash << 4 | 8);
}

// The file's header, for the live counters; NULL before guest_begin.
extern GUEST_HIDDEN struct tare_trace_header *guest_header;
static inline void guest_count(uint64_t *counter, uint64_t by)
{
	__atomic_fetch_add(counter, by, __ATOMIC_RELAXED);
}

#include "guest/guest_inline.h"
