// SPDX-License-Identifier: Apache-2.0
#include "guest/internal.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static _Atomic(struct guest_thread *) all_threads;
static _Atomic uint32_t last_track;
static pthread_key_t end_key;
static bool has_end_key;

// A thread ends: whoever comes next goes on in its window.
static void give_back(void *argument)
{
	struct guest_thread *thread = argument;
	struct guest_quiet quiet;
	guest_quiet_enter(&quiet);
	if (thread == guest_this &&
	    thread->process == atomic_load_explicit(&guest_process, memory_order_relaxed)) {
		guest_cpu_time_write(thread, guest_ticks());
		guest_waiting(thread, 0, 0);
		thread->polled = NULL;
		atomic_store_explicit(&thread->taken, 0, memory_order_release);
	}
	guest_this = NULL;
	guest_quiet_leave(&quiet);
}

void guest_thread_begin(void)
{
	if (!has_end_key)
		has_end_key = !pthread_key_create(&end_key, give_back);
}

static struct guest_thread *find_state(void)
{
	struct guest_thread *thread;
	for (thread = atomic_load(&all_threads); thread; thread = thread->following) {
		uint32_t taken = 0;
		if (atomic_compare_exchange_strong(&thread->taken, &taken, 1))
			return thread;
	}
	thread = guest_memory(sizeof *thread);
	if (!thread)
		return NULL;
	atomic_store(&thread->taken, 1);
	thread->following = atomic_load(&all_threads);
	while (!atomic_compare_exchange_weak(&all_threads, &thread->following, thread))
		;
	return thread;
}

static void define_track(struct guest_thread *thread, enum tare_trace_track_kind kind)
{
	union tare_trace_record record = { .track = {
		                               .head =
		                                   tare_trace_head(TARE_TRACE_TRACK, 0,
		                                                   (uint16_t)kind, thread->track),
		                               .ticks = guest_ticks(),
		                               .tid = (uint64_t)syscall(SYS_gettid),
		                           } };
	char name[16] = "";
	prctl(PR_GET_NAME, name);
	record.track.name = guest_string_of(thread, name, strnlen(name, sizeof name));
	guest_define_of(thread, &record);
}

static void close_phases(struct guest_thread *thread)
{
	for (struct guest_phase_open *open = thread->phases; open; open = open->following)
		open->depth = 0;
}

struct guest_thread *guest_thread_attach(enum tare_trace_track_kind kind)
{
	struct guest_thread *thread;
	struct guest_quiet quiet;
	guest_quiet_enter(&quiet);
	thread = find_state();
	if (thread) {
		thread->track = atomic_fetch_add(&last_track, 1) + 1;
		thread->command_number = 0;
		thread->depth = 0;
		thread->locked = 0;
		thread->aside = 0;
		thread->helper = kind == TARE_TRACE_HELPER;
		thread->cpu_read_ticks = 0;
		thread->left_ticks = guest_ticks();
		thread->polled = NULL;
		thread->windows++;
		thread->lost_records = thread->lost_commands = 0;
		thread->loss_from = thread->loss_to = 0;
		thread->forking = NULL;
		close_phases(thread);
		thread->walk = NULL;
		// In a window that another thread has left, the call that is waited in is now ours.
		if (thread->window)
			__atomic_store_n(&thread->window->head,
			                 tare_trace_head(TARE_TRACE_WINDOW, 0, 0, thread->track),
			                 __ATOMIC_RELEASE);
		thread->process = atomic_load(&guest_process);
		guest_this = thread;
		if (has_end_key)
			pthread_setspecific(end_key, thread);
		define_track(thread, kind);
	}
	guest_quiet_leave(&quiet);
	return thread;
}

struct guest_thread *guest_thread_here(void)
{
	// A signal handler may have been here before us.
	struct guest_thread *thread = guest_this;
	if (!thread || thread->process != atomic_load(&guest_process))
		thread = guest_thread_attach(TARE_TRACE_THREAD);
	return thread;
}

void guest_thread_forget(void)
{
	struct guest_thread *thread;
	for (thread = atomic_load(&all_threads); thread; thread = thread->following) {
		thread->next = thread->end = NULL;
		thread->window = NULL;
		thread->polled = NULL;
		thread->windows++;
		atomic_store(&thread->taken, 0);
	}
	guest_this = NULL;
	atomic_store(&last_track, 0);
}

// ---- events

// What was lost since the last record, as soon as there is room again.
static void write_loss(struct guest_thread *thread)
{
	union tare_trace_record *record = guest_claim(thread);
	record->loss.from = thread->loss_from;
	record->loss.to = thread->loss_to;
	record->loss.records = thread->lost_records;
	record->loss.commands = thread->lost_commands;
	guest_commit(record, tare_trace_head(TARE_TRACE_LOSS, 0, 0, thread->track));
	thread->lost_records = thread->lost_commands = 0;
}

// The order matters: a signal handler must find either no room or room that is ours.
static void change_window(struct guest_thread *thread, struct tare_trace_window *window)
{
	struct tare_trace_window *before = thread->window;
	thread->polled = NULL;
	thread->windows++;
	__atomic_store_n(&thread->end, NULL, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	thread->window = window;
	__atomic_store_n(&thread->next, guest_window_first(window), __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	__atomic_store_n(&thread->end, guest_window_end(window), __ATOMIC_RELAXED);
	if (before) {
		__atomic_store_n(&before->in_call, 0, __ATOMIC_RELEASE);
		guest_window_full(before);
	}
}

static bool has_stopped(void)
{
	return __atomic_load_n(&guest_header->state, __ATOMIC_RELAXED) == TARE_TRACE_STOPPED;
}

// With --keep newest a thread that finds no other window uses its own again.
static struct tare_trace_window *claim_window(struct guest_thread *thread)
{
	struct tare_trace_window *window = guest_window_claim(thread, false), *own = thread->window;
	uint64_t in_call, since;
	if (window || !own || !guest_options.keep_newest)
		return window;
	in_call = own->in_call;
	since = own->in_call_ticks;
	thread->polled = NULL;
	thread->next = thread->end = NULL;
	thread->window = NULL;
	guest_window_full(own);
	window = guest_window_claim(thread, false);
	if (window && in_call) {
		__atomic_store_n(&window->in_call_ticks, since, __ATOMIC_RELAXED);
		__atomic_store_n(&window->in_call, in_call, __ATOMIC_RELEASE);
	}
	return window;
}

static union tare_trace_record *find_room(struct guest_thread *thread)
{
	union tare_trace_record *record = guest_claim(thread);
	struct guest_quiet quiet;
	if (record || has_stopped())
		return record;
	guest_quiet_enter(&quiet);
	record = guest_claim(thread); // a signal handler may have got a window
	if (!record) {
		struct tare_trace_window *window = claim_window(thread);
		if (window) {
			change_window(thread, window);
			if (thread->lost_records)
				write_loss(thread);
			record = guest_claim(thread);
		}
	}
	guest_quiet_leave(&quiet);
	return record;
}

static union tare_trace_record *room_or_loss(struct guest_thread *thread, bool command)
{
	union tare_trace_record *record;
	// The child of a fork that goes on with what its parent had in hand.
	if (thread->process != atomic_load_explicit(&guest_process, memory_order_relaxed))
		return NULL;
	record = find_room(thread);
	if (record)
		return record;
	thread->loss_to = guest_ticks();
	if (!thread->lost_records)
		thread->loss_from = thread->loss_to;
	thread->lost_records++;
	thread->lost_commands += command;
	guest_count(&guest_header->lost_records, 1);
	if (command)
		guest_count(&guest_header->lost_commands, 1);
	return NULL;
}

union tare_trace_record *guest_event_slow(struct guest_thread *thread, bool command)
{
	if (!atomic_load_explicit(&guest_active, memory_order_relaxed))
		return NULL;
	return room_or_loss(thread, command);
}

union tare_trace_record *guest_event_always(struct guest_thread *thread)
{
	union tare_trace_record *record = guest_claim(thread);
	return record ? record : room_or_loss(thread, false);
}

void guest_thread_window(struct guest_thread *thread)
{
	struct guest_quiet quiet;
	if (has_stopped() || thread->process != atomic_load(&guest_process))
		return;
	guest_quiet_enter(&quiet);
	if (!thread->window) {
		struct tare_trace_window *window = guest_window_claim(thread, false);
		if (window)
			change_window(thread, window);
	}
	guest_quiet_leave(&quiet);
}

void guest_waiting_slow(struct guest_thread *thread, uint32_t function, uint64_t ticks)
{
	if (!ticks || !atomic_load(&guest_active))
		return;
	guest_thread_window(thread);
	if (thread->window)
		guest_waiting(thread, function, ticks);
}

void guest_cpu_time_write(struct guest_thread *thread, uint64_t now)
{
	int error = errno;
	union tare_trace_record *record;
	uint64_t cpu_ns;
	if (!atomic_load(&guest_active))
		return;
	cpu_ns = guest_ns(CLOCK_THREAD_CPUTIME_ID);
	record = guest_event(thread);
	if (record) {
		memset(&record->words[1], 0, sizeof *record - sizeof record->head);
		record->cpu_time.ticks = now;
		record->cpu_time.cpu_ns = cpu_ns;
		guest_commit(record, tare_trace_head(TARE_TRACE_CPU_TIME, 0, 0, thread->track));
	}
	errno = error;
}
