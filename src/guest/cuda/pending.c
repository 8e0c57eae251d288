// SPDX-License-Identifier: Apache-2.0
// Commands that wait for their times, by CUPTI's correlation: buckets of entries. Adding is one exchange
// and a few stores, by any thread; one thread at a time finds.
#include "guest/cuda/cuda.h"

enum { BUCKETS = 1 << 16, ENTRIES = 4, TAKEN = 1 };

struct entry {
	_Atomic uint32_t state;       // 0: free; TAKEN: being filled or emptied; 2: filled
	uint32_t correlation;
	uint32_t track, number;
	bool many, alias;
	_Atomic bool seen;            // of a graph: an activity has come
	uint8_t kind;
	uint32_t other;               // the other correlation that it is kept by; 0: none
	struct cuda_kernel *kernel;
};
_Static_assert(sizeof(struct entry) == 32, "two a line of the cache");

static struct entry (*buckets)[ENTRIES];

// Whether the activities of a kind of command have the correlation of the runtime's call or of the driver's within
// it. CUPTI does not say; until one has shown it, both are kept.
enum { UNKNOWN, OF_DRIVER, OF_RUNTIME };
static _Atomic uint8_t shown[TARE_KIND_KINDS];

bool cuda_pending_begin(void)
{
	buckets = guest_memory(sizeof *buckets * BUCKETS); // touched as it is used
	return buckets != NULL;
}

static bool take(struct entry *entry, uint32_t from)
{
	return atomic_compare_exchange_strong_explicit(&entry->state, &from, TAKEN, memory_order_acquire,
	                                               memory_order_relaxed);
}

// A free one, or that of a graph of which times have come: nobody knows how many there are to be.
static struct entry *take_entry(struct entry *bucket)
{
	for (int i = 0; i < ENTRIES; i++)
		if (!atomic_load_explicit(&bucket[i].state, memory_order_relaxed) && take(&bucket[i], 0))
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
		.command_number = number, .observed = guest_ticks() };
	guest_commit(record, tare_trace_head(TARE_TRACE_UNTIMED, 0, TARE_UNTIMED_NO_ROOM, thread->track));
}

static bool keep(const struct guest_thread *thread, const struct cuda_command *command, uint32_t correlation,
                 uint32_t other, bool alias)
{
	struct entry *entry = take_entry(buckets[correlation % BUCKETS]);
	if (!entry)
		return false;
	entry->correlation = correlation;
	entry->other = other;
	entry->alias = alias;
	entry->track = thread->track;
	entry->number = command->number;
	entry->many = command->many;
	entry->kind = command->kind;
	entry->kernel = command->kernel;
	atomic_store_explicit(&entry->seen, false, memory_order_relaxed);
	atomic_store_explicit(&entry->state, 2, memory_order_release);
	return true;
}

void cuda_pending_add(struct guest_thread *thread, const struct cuda_command *command)
{
	uint32_t driver = command->correlation, runtime = command->outer_correlation;
	uint8_t of = atomic_load_explicit(&shown[command->kind], memory_order_relaxed);
	bool both = runtime && runtime != driver && of == UNKNOWN;
	if (CUDA_UNLIKELY(!keep(thread, command, runtime && of == OF_RUNTIME ? runtime : driver, both ? runtime : 0, false))) {
		no_room(thread, command->number);
		return;
	}
	guest_count(&guest_header->pending, 1);
	if (CUDA_UNLIKELY(both))
		keep(thread, command, runtime, driver, true);
}

static struct entry *taken_by(uint32_t correlation)
{
	struct entry *bucket = buckets[correlation % BUCKETS];
	for (int i = 0; i < ENTRIES; i++)
		if (atomic_load_explicit(&bucket[i].state, memory_order_acquire) == 2 &&
		    bucket[i].correlation == correlation && take(&bucket[i], 2))
			return &bucket[i];
	return NULL;
}

// An activity has come by one of the two.
static void forget_other(struct entry *entry)
{
	struct entry *other = taken_by(entry->other);
	atomic_store(&shown[entry->kind], entry->alias ? OF_RUNTIME : OF_DRIVER);
	entry->other = 0;
	if (other)
		atomic_store_explicit(&other->state, 0, memory_order_release);
}

bool cuda_pending_find(uint32_t correlation, struct cuda_pending *found, bool *first)
{
	struct entry *entry = taken_by(correlation);
	if (!entry)
		return false;
	*found = (struct cuda_pending){ entry->track, entry->number, entry->many, entry->kernel };
	*first = !atomic_exchange(&entry->seen, true);
	if (CUDA_UNLIKELY(entry->other))
		forget_other(entry);
	atomic_store_explicit(&entry->state, entry->many ? 2 : 0, memory_order_release);
	if (*first)
		guest_count(&guest_header->pending, (uint64_t)-1);
	return true;
}
