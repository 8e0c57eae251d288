// SPDX-License-Identifier: Apache-2.0
// How much memory was asked for, and the most that was held at once.
#include "analysis/tables_internal.h"

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

static void find_peak(const struct tables_context *context, const struct change *changes, size_t n,
                      struct tare_memory_use *use)
{
	uint64_t held = 0;
	use->peak_at_ns = TARE_NO_TIME;
	for (size_t i = 0; i <= n; i++) {
		bool begun = i == n || changes[i].at_ns >= context->from_ns;
		// Made before the view and held when it begins.
		if (begun && (i == 0 || changes[i - 1].at_ns < context->from_ns) &&
		    held > use->peak_bytes) {
			use->peak_bytes = held;
			use->peak_at_ns = context->from_ns;
		}
		if (i == n || (begun && !tables_in_time(context, changes[i].at_ns)))
			break;
		// Where sizes of a damaged trace overflowed, less is held than is let go of.
		if (changes[i].released)
			held -= changes[i].bytes < held ? changes[i].bytes : held;
		else if (__builtin_add_overflow(held, changes[i].bytes, &held))
			held = UINT64_MAX;
		if (begun && held > use->peak_bytes) {
			use->peak_bytes = held;
			use->peak_at_ns = changes[i].at_ns;
		}
	}
}

int tables_memory(const struct tables_context *context, struct tare_memory_use *use)
{
	const struct tare_recording *recording = context->recording;
	TARE_FREE struct change *changes = calloc(2 * recording->memory_count + 1, sizeof *changes);
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
		if (memory->created_ns < context->to_ns || context->to_ns == INT64_MAX)
			use->held_at_end += !released || (memory->released_ns >= context->to_ns &&
			                                  context->to_ns != INT64_MAX);
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
