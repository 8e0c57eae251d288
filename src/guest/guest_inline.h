// SPDX-License-Identifier: Apache-2.0
// The recorder's fast paths, included by guest.h alone. What another thread or a signal handler of
// the program may touch is read and written by atomics without any bus lock.
#pragma once
#include "guest/guest.h"

#include <time.h>
#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#define GUEST_KNOWS_ALONE 1
#else
#define GUEST_KNOWS_ALONE 0
#endif

// One pointer is all that the recorder takes of the static thread-local memory: with the other
// models the first use in a thread would call malloc.
extern GUEST_HIDDEN _Thread_local struct guest_thread *guest_this
    __attribute__((tls_model("initial-exec")));
extern GUEST_HIDDEN bool guest_clock_tsc;
extern GUEST_HIDDEN uint64_t guest_cpu_ticks;      // 50 µs
extern GUEST_HIDDEN uint64_t guest_cpu_most_ticks; // 0.5 ms
// There is no helper, for the process has one thread.
extern GUEST_HIDDEN _Atomic bool guest_lone;

struct guest_thread *guest_thread_slow(void);
union tare_trace_record *guest_event_slow(struct guest_thread *thread, bool command);
void guest_waiting_slow(struct guest_thread *thread, uint32_t function, uint64_t ticks);
void guest_cpu_time_slow(struct guest_thread *thread, uint64_t now);
// What the helper would do, by a thread that is inside of `depth` calls of the API by its own
// doing: in a callback, which has one more around it, nothing of the vendor's may be called.
void guest_lone_round(struct guest_thread *thread, uint32_t depth);

static inline uint64_t guest_ticks(void)
{
	struct timespec now;
#if defined(__x86_64__)
	if (__builtin_expect(guest_clock_tsc, 1))
		// Not by x86intrin.h, which takes longer to compile than all else here.
		return __builtin_ia32_rdtsc();
#endif
	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static inline bool guest_alone(void)
{
#if GUEST_KNOWS_ALONE
	return __atomic_load_n(&__libc_single_threaded, __ATOMIC_RELAXED) != 0;
#else
	return false;
#endif
}

static inline struct guest_thread *guest_thread(void)
{
	struct guest_thread *thread = guest_this;
	if (__builtin_expect(thread && thread->process == atomic_load_explicit(
	                                                      &guest_process, memory_order_relaxed),
	                     1))
		return thread;
	return guest_thread_slow();
}

// Moves `next` from `from` to `to` unless a signal handler was there in between. Only this thread
// does it, so one instruction is enough and needs no bus lock.
static inline bool guest_move_next(struct guest_thread *thread, union tare_trace_record *from,
                                   union tare_trace_record *to)
{
#if defined(__x86_64__)
	bool moved;
	__asm__ volatile("cmpxchgq %3, %1"
	                 : "=@ccz"(moved), "+m"(thread->next), "+a"(from)
	                 : "r"(to)
	                 : "memory");
	return moved;
#else
	return __atomic_compare_exchange_n(&thread->next, &from, to, false, __ATOMIC_RELAXED,
	                                   __ATOMIC_RELAXED);
#endif
}

// A record further on will be written before long. Windows are made by another core: its line would
// come from there when it is written, and the driver's next bus lock would wait for that.
static inline void guest_expect_writing(const union tare_trace_record *record)
{
#if defined(__x86_64__)
	__asm__ volatile("prefetchw %0" : : "m"(*(const char *)record));
#else
	__builtin_prefetch(record, 1);
#endif
}

// The next place in this thread's window, or NULL at its end.
static inline union tare_trace_record *guest_claim(struct guest_thread *thread)
{
	union tare_trace_record *record;
	do {
		record = __atomic_load_n(&thread->next, __ATOMIC_RELAXED);
		if (__builtin_expect(record >= __atomic_load_n(&thread->end, __ATOMIC_RELAXED), 0))
			return NULL;
	} while (__builtin_expect(!guest_move_next(thread, record, record + 1), 0));
	thread->polled = NULL;
	guest_expect_writing(record + 2);
	// We are in a signal handler that came while the record before was being filled. Should it
	// never be completed, readers must still find this one.
	if (__builtin_expect(!__atomic_load_n(&record[-1].head, __ATOMIC_RELAXED), 0))
		__atomic_store_n(&record[-1].head,
		                 tare_trace_head(TARE_TRACE_VOID, 0, 0, thread->track),
		                 __ATOMIC_RELEASE);
	return record;
}

// The place behind `last`, the last record of this thread's window. NULL: there is another by now,
// or no room.
static inline union tare_trace_record *guest_claim_behind(struct guest_thread *thread,
                                                          union tare_trace_record *last)
{
	union tare_trace_record *record = last + 1;
	if (__builtin_expect(record >= __atomic_load_n(&thread->end, __ATOMIC_RELAXED) ||
	                         !guest_move_next(thread, record, record + 1),
	                     0))
		return NULL;
	thread->polled = NULL;
	guest_expect_writing(record + 2);
	return record;
}

static inline union tare_trace_record *guest_event(struct guest_thread *thread)
{
	union tare_trace_record *record = NULL;
	if (__builtin_expect(atomic_load_explicit(&guest_active, memory_order_relaxed), 1))
		record = guest_claim(thread);
	return __builtin_expect(record != NULL, 1) ? record : guest_event_slow(thread, false);
}

static inline union tare_trace_record *guest_command(struct guest_thread *thread)
{
	union tare_trace_record *record = NULL;
	if (__builtin_expect(atomic_load_explicit(&guest_active, memory_order_relaxed), 1))
		record = guest_claim(thread);
	return __builtin_expect(record != NULL, 1) ? record : guest_event_slow(thread, true);
}

static inline void guest_commit(union tare_trace_record *record, uint64_t head)
{
	__atomic_store_n(&record->head, head, __ATOMIC_RELEASE);
}

static inline void guest_waiting(struct guest_thread *thread, uint32_t function, uint64_t ticks)
{
	struct tare_trace_window *window = thread->window;
	if (__builtin_expect(!window, 0)) {
		guest_waiting_slow(thread, function, ticks);
		return;
	}
	if (ticks)
		__atomic_store_n(&window->in_call_ticks, ticks, __ATOMIC_RELAXED);
	__atomic_store_n(&window->in_call, ticks ? (uint64_t)function + 1 : 0, __ATOMIC_RELEASE);
}

// The number of this thread's next command. A signal handler may take one at any moment; only this
// thread does it, so one instruction is enough and needs no bus lock.
static inline uint32_t guest_next_number(struct guest_thread *thread)
{
	uint32_t number = 1;
#if defined(__x86_64__)
	__asm__ volatile("xaddl %0, %1" : "+r"(number), "+m"(thread->command_number));
#else
	number = __atomic_fetch_add(&thread->command_number, 1, __ATOMIC_RELAXED);
#endif
	return number + 1;
}

// Takes `number` as that of this thread's next command. False: it is not, a signal handler had it.
static inline bool guest_take_number(struct guest_thread *thread, uint32_t number)
{
	uint32_t before = number - 1;
#if defined(__x86_64__)
	bool taken;
	__asm__ volatile("cmpxchgl %3, %1"
	                 : "=@ccz"(taken), "+m"(thread->command_number), "+a"(before)
	                 : "r"(number)
	                 : "memory");
	return taken;
#else
	return __atomic_compare_exchange_n(&thread->command_number, &before, number, false,
	                                   __ATOMIC_RELAXED, __ATOMIC_RELAXED);
#endif
}

// Whether `last`, which this thread wrote in the window that it has had as the `windows`th, is
// still the last record of it, so that more may be put into it. A signal handler may have been
// here.
static inline bool guest_is_last(const struct guest_thread *thread,
                                 const union tare_trace_record *last, uint32_t windows)
{
	return __atomic_load_n(&thread->next, __ATOMIC_RELAXED) == last + 1 &&
	       thread->windows == windows &&
	       atomic_load_explicit(&guest_active, memory_order_relaxed);
}

// Many short calls in a row are read once for all: what a thread does for 50 µs is seen by itself.
static inline bool guest_cpu_time_is_due(const struct guest_thread *thread, uint64_t since,
                                         uint64_t now)
{
	return __builtin_expect(now - since >= guest_cpu_ticks, 0) ||
	       __builtin_expect(now - thread->cpu_read_ticks >= guest_cpu_most_ticks, 0);
}

static inline void guest_cpu_time(struct guest_thread *thread, uint64_t since, uint64_t now)
{
	if (guest_cpu_time_is_due(thread, since, now))
		guest_cpu_time_slow(thread, now);
}
