// SPDX-License-Identifier: Apache-2.0
// Commands that wait for their times, by CUPTI's correlation: buckets of entries. Adding is one
// exchange and a few stores, by any thread; one thread at a time finds.
#include "guest/cuda/cuda.h"

enum { BUCKETS = 1 << 16, ENTRIES = 4, TAKEN = 1 };

struct entry {
	_Atomic uint32_t state; // 0: free; TAKEN: being filled or emptied; 2: filled
	uint32_t correlation;
	uint32_t track, number;
	bool many;
	_Atomic bool seen; // of many: an activity has come
	uint16_t ends;
	struct cuda_recorded_kernel *kernel;
};
_Static_assert(sizeof(struct entry) == 32, "two a line of the cache");

static struct entry (*buckets)[ENTRIES];

bool cuda_pending_begin(void)
{
	buckets = guest_memory(sizeof *buckets * BUCKETS); // touched as it is used
	return buckets != NULL;
}

static bool take(struct entry *entry, uint32_t from)
{
	return atomic_compare_exchange_strong_explicit(&entry->state, &from, TAKEN,
	                                               memory_order_acquire, memory_order_relaxed);
}

// A free one, or that of a graph of which times have come: nobody knows how many there are to be.
static struct entry *take_entry(struct entry *bucket)
{
	for (int i = 0; i < ENTRIES; i++)
		if (!atomic_load_explicit(&bucket[i].state, memory_order_relaxed) &&
		    take(&bucket[i], 0))
			return &bucket[i];
	for (int i = 0; i < ENTRIES; i++)
		if (bucket[i].many && atomic_load(&bucket[i].seen) && take(&bucket[i], 2))
			return &bucket[i];
	return NULL;
}

static void no_room(struct guest_thread *thread, uint32_t number)
{
	union tare_trace_record *record = guest_event(thread);
	if (!record)
		return;
	record->untimed = (struct tare_trace_untimed_record){ .command_track = thread->track,
		                                              .command_number = number,
		                                              .observed = guest_ticks() };
	guest_commit(record,
	             tare_trace_head(TARE_TRACE_UNTIMED, 0, TARE_UNTIMED_NO_ROOM, thread->track));
}

void cuda_pending_add(struct guest_thread *thread, uint32_t correlation, uint32_t number, bool many,
                      uint16_t ends, struct cuda_recorded_kernel *kernel)
{
	struct entry *entry = take_entry(buckets[correlation % BUCKETS]);
	if (CUDA_UNLIKELY(!entry)) {
		no_room(thread, number);
		return;
	}
	entry->correlation = correlation;
	entry->track = thread->track;
	entry->number = number;
	entry->many = many;
	entry->ends = ends;
	entry->kernel = kernel;
	atomic_store_explicit(&entry->seen, false, memory_order_relaxed);
	atomic_store_explicit(&entry->state, 2, memory_order_release);
	guest_count(&guest_header->pending, 1);
}

bool cuda_pending_find(uint32_t correlation, struct cuda_pending *found, bool *first)
{
	struct entry *bucket = buckets[correlation % BUCKETS];
	for (int i = 0; i < ENTRIES; i++) {
		struct entry *entry = &bucket[i];
		if (atomic_load_explicit(&entry->state, memory_order_acquire) != 2 ||
		    entry->correlation != correlation || !take(entry, 2))
			continue;
		*found = (struct cuda_pending){ entry->track, entry->number, entry->many,
			                        entry->ends, entry->kernel };
		*first = !atomic_exchange(&entry->seen, true);
		atomic_store_explicit(&entry->state, entry->many ? 2 : 0, memory_order_release);
		if (*first)
			guest_count(&guest_header->pending, (uint64_t)-1);
		return true;
	}
	return false;
}
