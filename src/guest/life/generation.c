// SPDX-License-Identifier: Apache-2.0
// The beginning of a file: of the process, or of the child of a fork.
#include "guest/internal.h"

#include <string.h>
#include <time.h>

guest_lock guest_begin_lock;

void guest_tell_self_cost(struct tare_trace_header *header)
{
	__atomic_store_n(&header->self_cost_ps, guest_options.self_cost_ps, __ATOMIC_RELAXED);
	__atomic_store_n(&header->self_call_cost_ps, guest_options.self_call_cost_ps,
	                 __ATOMIC_RELAXED);
	__atomic_store_n(&header->self_untimed_cost_ps, guest_options.self_untimed_cost_ps,
	                 __ATOMIC_RELAXED);
	for (int i = 0; i < 2; i++) {
		__atomic_store_n(&header->self_low_ps[i], guest_options.self_low_ps[i],
		                 __ATOMIC_RELAXED);
		__atomic_store_n(&header->self_high_ps[i], guest_options.self_high_ps[i],
		                 __ATOMIC_RELAXED);
	}
}

static void fill_header(struct tare_trace_header *header, uint32_t flags)
{
	memcpy(header->magic, TARE_TRACE_MAGIC, sizeof header->magic);
	header->version_major = TARE_TRACE_VERSION_MAJOR;
	header->version_minor = TARE_TRACE_VERSION_MINOR;
	header->byte_order = TARE_TRACE_BYTE_ORDER;
	header->header_bytes = TARE_TRACE_HEADER_BYTES;
	header->window_bytes = TARE_TRACE_WINDOW_BYTES;
	header->record_bytes = TARE_TRACE_RECORD_BYTES;
	header->flags = flags;
	if (guest_options.strict)
		header->flags |= TARE_TRACE_STRICT;
	if (guest_options.keep_newest)
		header->flags |= TARE_TRACE_KEEP_NEWEST;
	if (guest_options.count_only)
		header->flags |= TARE_TRACE_COUNT_ONLY;
	if (guest_options.may_sample && !guest_options.count_only)
		header->flags |= TARE_TRACE_MAY_SAMPLE;
	if (guest_options.call_stacks && GUEST_HAVE_FIND_OBJECT)
		header->flags |= TARE_TRACE_CALL_STACKS;
	if (guest_options.contents)
		header->flags |= TARE_TRACE_COMPARED;
	guest_api_tell(header);
	guest_tell_self_cost(header);
	header->self_stack_cost_ps = guest_options.self_stack_cost_ps;
	header->calibration_ticks = flags & TARE_TRACE_FORKED ? 0 : guest_options.calibration_ticks;
	header->state = TARE_TRACE_RECORDING;
}

// Events are wanted from the start unless they are to come later; that is the helper's to do.
static void begin_active(struct guest_thread *thread)
{
	union tare_trace_record *record;
	bool later = guest_options.delay_ns > 0;
	atomic_store(&guest_active, !later);
	record = later && thread ? guest_event_always(thread) : NULL;
	if (!record)
		return;
	memset(&record->words[1], 0, sizeof *record - sizeof record->head);
	record->active.ticks = guest_ticks();
	guest_commit(record, tare_trace_head(TARE_TRACE_ACTIVE, 0, 0, thread->track));
}

// With guest_begin_lock held, in the quiet.
static bool begin_file(uint32_t flags)
{
	struct tare_trace_header header = { 0 };
	struct guest_thread *thread;
	char stem[128];
	bool lone;
	fill_header(&header, flags);
	guest_clock_begin(&header);
	guest_identify(&header, stem, sizeof stem);
	header.alive_ticks = header.start_ticks;
	if (guest_file_create(&header, stem)) {
		atomic_store(&guest_life, GUEST_OVER);
		return false;
	}
	guest_thread_begin();
	guest_define_begin();
	lone = guest_lone_begin();
	guest_window_begin(2);
	atomic_store(&guest_alive, true);
	atomic_store(&guest_life, GUEST_RECORDING);
	thread = guest_thread_here();
	// Before the helper, which would take the only one of a very small file.
	if (thread)
		guest_thread_window(thread);
	begin_active(thread);
	guest_clock_pairs(thread);
	if (!lone && !guest_helper_start())
		atomic_store(&guest_active, true);
	return true;
}

void guest_begin_file(uint32_t flags, uint64_t from_ns)
{
	if (begin_file(flags))
		guest_setup_took(from_ns);
}

void guest_setup_took(uint64_t from_ns)
{
	__atomic_fetch_add(&guest_header->setup_ns, (int64_t)(guest_ns(CLOCK_MONOTONIC) - from_ns),
	                   __ATOMIC_RELAXED);
}

bool guest_begin_child(void)
{
	guest_acquire(&guest_begin_lock);
	if (atomic_load(&guest_life) == GUEST_FORKED)
		guest_begin_file(TARE_TRACE_FORKED, guest_ns(CLOCK_MONOTONIC));
	guest_release(&guest_begin_lock);
	return atomic_load(&guest_life) == GUEST_RECORDING;
}
