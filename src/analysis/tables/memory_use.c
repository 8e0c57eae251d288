// SPDX-License-Identifier: Apache-2.0
// How much memory was asked for, and the most that was held at once.
#include "analysis/tables/internal.h"

struct tare_recorded_faults tare_device_faults(const struct tare_recording *recording,
                                               const struct tare_view *view, uint32_t device)
{
	struct tare_recorded_faults sum = { 0 };
	for (size_t i = 0; i < recording->device_count; i++) {
		const struct tare_recorded_faults *each = &recording->devices[i].faults;
		if (recording->devices[i].same_as != device ||
		    !tare_view_has_process(view, recording->devices[i].process))
			continue;
		sum.known |= each->known;
		sum.host_faults += each->host_faults;
		sum.device_faults += each->device_faults;
		sum.device_groups += each->device_groups;
		sum.thrashing += each->thrashing;
		sum.throttled += each->throttled;
		sum.remote_maps += each->remote_maps;
		sum.throttled_ns = tables_add(sum.throttled_ns, each->throttled_ns);
	}
	return sum;
}

#include "base/cleanup.h"

#include <stdlib.h>

struct change {
	int64_t at_ns;
	uint64_t bytes;
	bool released;
};

static bool is_counted(const struct tables_context *context,
                       const struct tare_recorded_memory *memory)
{
	return memory->parent == TARE_NO_INDEX && memory->kind != TARE_TRACE_MEMORY_PART &&
	       (memory->process < context->recording->process_count
	            ? context->process_in[memory->process]
	            : context->view->process == TARE_NO_INDEX);
}

// What is given back at the moment in which other memory is made was not held together with it.
static int compare_changes(const void *a, const void *b)
{
	const struct change *x = a;
	const struct change *y = b;
	if (x->at_ns != y->at_ns)
		return x->at_ns < y->at_ns ? -1 : 1;
	return (y->released > x->released) - (y->released < x->released);
}

// Of changes at one moment the last says what is held until the next: releases come first.
static void find_peak(const struct tables_context *context, const struct change *changes, size_t n,
                      struct tare_memory_use *use)
{
	uint64_t held = 0;
	use->peak_at_ns = TARE_NO_TIME;
	for (size_t i = 0; i < n; i++) {
		int64_t until_ns = i + 1 < n ? changes[i + 1].at_ns : INT64_MAX;
		// Where sizes of a damaged trace overflowed, less is held than is let go of.
		if (changes[i].released)
			held -= changes[i].bytes < held ? changes[i].bytes : held;
		else if (__builtin_add_overflow(held, changes[i].bytes, &held))
			held = UINT64_MAX;
		int64_t at_ns = tables_first_moment(context, changes[i].at_ns, until_ns);
		if (at_ns != TARE_NO_TIME && held > use->peak_bytes) {
			use->peak_bytes = held;
			use->peak_at_ns = at_ns;
		}
	}
}

int tables_memory(const struct tables_context *context, struct tare_memory_use *use)
{
	const struct tare_recording *recording = context->recording;
	TARE_FREE struct change *changes = calloc(2 * recording->memory_count + 1, sizeof *changes);
	// What comes after the last part of the view is not seen by it.
	int64_t end_ns =
	    context->span_count ? context->spans[context->span_count - 1].to_ns : INT64_MIN;
	size_t n = 0;
	if (!changes)
		return -ENOMEM;
	for (size_t i = 0; i < recording->memory_count; i++) {
		const struct tare_recorded_memory *memory = &recording->memories[i];
		bool released = memory->released_ns != TARE_NO_TIME &&
		                memory->released_ns >= memory->created_ns;
		if (!is_counted(context, memory))
			continue;
		if (tables_in_time(context, memory->created_ns)) {
			use->objects++;
			use->bytes += memory->bytes;
		}
		if (memory->created_ns < end_ns || end_ns == INT64_MAX)
			use->held_at_end +=
			    !released || (memory->released_ns >= end_ns && end_ns != INT64_MAX);
		if (released && memory->released_ns == memory->created_ns)
			continue; // held for no time
		changes[n++] = (struct change){ memory->created_ns, memory->bytes, false };
		if (released)
			changes[n++] = (struct change){ memory->released_ns, memory->bytes, true };
	}
	qsort(changes, n, sizeof *changes, compare_changes);
	find_peak(context, changes, n, use);
	return 0;
}
