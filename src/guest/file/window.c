// SPDX-License-Identifier: Apache-2.0
// Windows ahead of their use, and full ones that are used again (--keep newest).
#include "guest/internal.h"

#include <string.h>

enum { MOST_READY = 16, FIRST_READY = 2, COLD = 8 };

// A full window of events, in the order in which they became full.
struct full {
	struct tare_trace_window *window;
	struct full *following;
};

static _Atomic(struct tare_trace_window *) ready[MOST_READY];
static _Atomic uint32_t wanted = FIRST_READY; // windows that the helper keeps ready
// Windows in use whose pages nobody has touched yet; the helper does it behind their threads.
static _Atomic(struct tare_trace_window *) cold[COLD];

static guest_lock full_lock;
static struct full *oldest_full, *newest_full, *spare;

static struct tare_trace_window *take_ready(void)
{
	for (size_t i = 0; i < MOST_READY; i++)
		if (atomic_load_explicit(&ready[i], memory_order_relaxed)) {
			struct tare_trace_window *window = atomic_exchange(&ready[i], NULL);
			if (window)
				return window;
		}
	return NULL;
}

static bool put_into(_Atomic(struct tare_trace_window *) *slots, size_t count,
                     struct tare_trace_window *window)
{
	for (size_t i = 0; i < count; i++) {
		struct tare_trace_window *none = NULL;
		if (atomic_compare_exchange_strong(&slots[i], &none, window))
			return true;
	}
	return false;
}

void guest_window_full(struct tare_trace_window *window)
{
	struct full *entry;
	if (!guest_options.keep_newest)
		return;
	guest_acquire(&full_lock);
	entry = spare;
	if (entry)
		spare = entry->following;
	guest_release(&full_lock);
	if (!entry)
		entry = guest_memory(sizeof *entry);
	if (!entry)
		return; // it is never used again
	entry->window = window;
	entry->following = NULL;
	guest_acquire(&full_lock);
	if (oldest_full)
		newest_full->following = entry;
	else
		oldest_full = entry;
	newest_full = entry;
	guest_release(&full_lock);
}

static struct tare_trace_window *take_full(void)
{
	struct tare_trace_window *window = NULL;
	struct full *entry;
	guest_acquire(&full_lock);
	entry = oldest_full;
	if (entry) {
		oldest_full = entry->following;
		window = entry->window;
		entry->following = spare;
		spare = entry;
	}
	guest_release(&full_lock);
	return window;
}

// Empties the oldest full window. A process killed meanwhile leaves an empty one.
static struct tare_trace_window *recycle(void)
{
	struct tare_trace_window *window = take_full();
	union tare_trace_record *record, *end;
	uint64_t records = 0, commands = 0;
	if (!window)
		return NULL;
	end = guest_window_end(window);
	for (record = guest_window_first(window); record < end && record->head; record++) {
		records++;
		commands += tare_trace_type(record->head) == TARE_TRACE_COMMAND;
		if (tare_trace_type(record->head) == TARE_TRACE_LAUNCHES)
			commands += tare_trace_detail(record->head);
	}
	// Counted at once: a process that ends in between has lost them uncounted.
	__atomic_store_n(&window->head, 0, __ATOMIC_RELEASE);
	guest_count(&guest_header->recycled_records, records);
	guest_count(&guest_header->recycled_commands, commands);
	memset(window, 0, TARE_TRACE_WINDOW_BYTES);
	return window;
}

// New windows are touched first by the helper. Where there is none, at once, while what was written
// to them is in the cache.
static void populate_soon(struct tare_trace_window *window)
{
	if (atomic_load(&guest_lone))
		guest_file_populate(window);
	else
		put_into(cold, COLD, window);
}

// The thread has to wait for what the helper should have done, or there is no helper.
static struct tare_trace_window *make_now(void)
{
	uint64_t from = guest_ticks();
	uint32_t more = atomic_load(&wanted);
	struct tare_trace_window *window = guest_file_window();
	if (window)
		populate_soon(window);
	else if (guest_options.keep_newest)
		window = recycle();
	if (!window)
		return NULL;
	if (more < MOST_READY && !atomic_load(&guest_lone))
		atomic_compare_exchange_strong(&wanted, &more, more * 2);
	guest_count(&guest_header->stalls, 1);
	guest_count(&guest_header->stalled_ticks, guest_ticks() - from);
	return window;
}

// No room now, and with --keep oldest never again.
static void stop(void)
{
	uint32_t reason = atomic_load(&guest_file.full), recording = TARE_TRACE_RECORDING;
	if (!reason || guest_options.keep_newest)
		return;
	__atomic_store_n(&guest_header->stop_error, atomic_load(&guest_file.error),
	                 __ATOMIC_RELAXED);
	__atomic_store_n(&guest_header->stop_reason, reason, __ATOMIC_RELAXED);
	__atomic_compare_exchange_n(&guest_header->state, &recording, TARE_TRACE_STOPPED, false,
	                            __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

struct tare_trace_window *guest_window_claim(const struct guest_thread *thread, bool definitions)
{
	struct tare_trace_window *window = take_ready();
	if (!window)
		window = make_now();
	if (!window) {
		stop();
		return NULL;
	}
	window->sequence = __atomic_add_fetch(&guest_header->windows, 1, __ATOMIC_RELAXED);
	if (definitions)
		guest_count(&guest_header->definition_windows, 1);
	window->claimed_ticks = guest_ticks();
	window->lost_before = definitions ? 0 : thread->lost_records;
	if (!definitions && thread->window) {
		__atomic_store_n(&window->in_call_ticks, thread->window->in_call_ticks,
		                 __ATOMIC_RELAXED);
		__atomic_store_n(&window->in_call, thread->window->in_call, __ATOMIC_RELAXED);
	}
	__atomic_store_n(&guest_header->alive_ticks, window->claimed_ticks, __ATOMIC_RELAXED);
	__atomic_store_n(&window->head,
	                 tare_trace_head(TARE_TRACE_WINDOW, 0, definitions, thread->track),
	                 __ATOMIC_RELEASE);
	guest_helper_wake();
	return window;
}

struct tare_trace_window *guest_window_borrow(void)
{
	// A small file needs all that it has.
	if (guest_file.most_windows - atomic_load(&guest_file.made) < MOST_READY &&
	    guest_file.most_windows != UINT64_MAX)
		return NULL;
	struct guest_quiet quiet;
	struct tare_trace_window *window;
	guest_quiet_enter(&quiet);
	window = take_ready();
	if (!window) {
		window = guest_file_window();
		if (window)
			guest_file_populate(window);
	}
	guest_quiet_leave(&quiet);
	return window;
}

void guest_window_give_back(struct tare_trace_window *window)
{
	memset(window, 0, TARE_TRACE_WINDOW_BYTES);
	// Without a place it stays in the file as it is: empty.
	put_into(ready, MOST_READY, window);
}

void guest_window_begin(uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		struct tare_trace_window *window = guest_file_window();
		if (!window)
			return;
		put_into(ready, MOST_READY, window);
		populate_soon(window);
	}
}

void guest_window_prepare(void)
{
	uint32_t count = 0, most = atomic_load(&wanted);
	for (size_t i = 0; i < COLD; i++) {
		struct tare_trace_window *window = atomic_exchange(&cold[i], NULL);
		if (window)
			guest_file_populate(window);
	}
	for (size_t i = 0; i < MOST_READY; i++)
		count += atomic_load(&ready[i]) != NULL;
	for (; count < most; count++) {
		struct tare_trace_window *window = guest_file_window();
		if (window)
			guest_file_populate(window);
		else if (guest_options.keep_newest && count < guest_file.most_windows / 8)
			// What is emptied ahead of time is lost to whoever reads: few, in a small
			// file.
			window = recycle();
		if (!window || !put_into(ready, MOST_READY, window))
			return;
	}
}

void guest_window_forget(void)
{
	for (size_t i = 0; i < MOST_READY; i++)
		atomic_store(&ready[i], NULL);
	for (size_t i = 0; i < COLD; i++)
		atomic_store(&cold[i], NULL);
	atomic_store(&wanted, FIRST_READY);
	guest_release(&full_lock);
	oldest_full = newest_full = NULL;
}
