// SPDX-License-Identifier: Apache-2.0
// Definitions: few, from any thread, in windows of their own that are never used again.
#include "guest/internal.h"

#include <string.h>

enum { MOST_TEXT = 64 * 1024 };

static guest_lock lock;
static union tare_trace_record *next, *end;
static _Atomic uint32_t last_string, last_shape, last_stack;

void guest_define_begin(void)
{
	static bool registered;
	if (!registered)
		guest_lock_register(&lock);
	registered = true;
}

void guest_define_forget(void)
{
	next = end = NULL;
	atomic_store(&last_string, 0);
	atomic_store(&last_shape, 0);
	atomic_store(&last_stack, 0);
}

// With the lock held. The record's head is stored last.
static bool write_definition(const struct guest_thread *thread,
                             const union tare_trace_record *record)
{
	if (next == end) {
		struct tare_trace_window *window = NULL;
		if (__atomic_load_n(&guest_header->state, __ATOMIC_RELAXED) != TARE_TRACE_STOPPED)
			window = guest_window_claim(thread, true);
		if (!window) {
			guest_count(&guest_header->lost_records, 1);
			return false;
		}
		next = guest_window_first(window);
		end = guest_window_end(window);
	}
	memcpy(&next->words[1], &record->words[1], sizeof *record - sizeof record->head);
	guest_commit(next, (record->head & UINT32_MAX) | (uint64_t)thread->track << 32);
	next++;
	return true;
}

// A thread of this generation: what is left of another has no window here.
static bool is_of_now(const struct guest_thread *thread)
{
	return thread &&
	       thread->process == atomic_load_explicit(&guest_process, memory_order_relaxed);
}

void guest_define_of(struct guest_thread *thread, const union tare_trace_record *record)
{
	struct guest_quiet quiet;
	if (!is_of_now(thread))
		return;
	guest_quiet_enter(&quiet);
	guest_acquire(&lock);
	write_definition(thread, record);
	guest_release(&lock);
	guest_quiet_leave(&quiet);
}

uint32_t guest_string_of(struct guest_thread *thread, const char *text, size_t bytes)
{
	union tare_trace_record record = { .string = { .head = TARE_TRACE_STRING } };
	struct tare_trace_string *part = &record.string;
	struct guest_quiet quiet;
	bool written;
	if (!is_of_now(thread) || !text)
		return 0;
	if (bytes > MOST_TEXT)
		bytes = MOST_TEXT;
	part->id = atomic_fetch_add(&last_string, 1) + 1;
	part->total = (uint32_t)bytes;
	guest_quiet_enter(&quiet);
	guest_acquire(&lock);
	do {
		size_t left = bytes - part->offset;
		part->bytes = (uint32_t)(left < sizeof part->text ? left : sizeof part->text);
		memset(part->text, 0, sizeof part->text);
		memcpy(part->text, text + part->offset, part->bytes);
		written = write_definition(thread, &record);
		part->offset += part->bytes;
	} while (written && part->offset < bytes);
	guest_release(&lock);
	guest_quiet_leave(&quiet);
	return written ? part->id : 0;
}

uint32_t guest_stack_define(struct guest_thread *thread, const uint64_t *frames, uint32_t count)
{
	union tare_trace_record record = { .stack = { .total = count } };
	struct tare_trace_stack *part = &record.stack;
	struct guest_quiet quiet;
	bool written = false;
	if (!is_of_now(thread))
		return 0;
	part->id = atomic_fetch_add(&last_stack, 1) + 1;
	guest_quiet_enter(&quiet);
	guest_acquire(&lock);
	while (part->offset < count) {
		uint32_t left = count - part->offset;
		uint32_t frames_here = left < 5 ? left : 5;
		part->head = tare_trace_head(TARE_TRACE_STACK, 0, (uint16_t)frames_here, 0);
		memset(part->frame, 0, sizeof part->frame);
		memcpy(part->frame, frames + part->offset, frames_here * sizeof *frames);
		written = write_definition(thread, &record);
		if (!written)
			break;
		part->offset += frames_here;
	}
	guest_release(&lock);
	guest_quiet_leave(&quiet);
	return written ? part->id : 0;
}

uint32_t guest_shape_number(void)
{
	return atomic_fetch_add(&last_shape, 1) + 1;
}
