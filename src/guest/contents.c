// SPDX-License-Identifier: Apache-2.0
// Hashes of what transfers carry. The memory is the program's: it may be gone, or never have been
// there. So it is copied by a system call, which fails where a load would fault, in parts that fit
// a near cache.
#include "guest/contents.h"
#include "guest/internal.h"
#include "tare_config.h"

#include <errno.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
	PART_BYTES = 65536,
	SAMPLES = 8,
	SAMPLE_BYTES = 4096, // each
	WHOLE_BYTES = SAMPLES * SAMPLE_BYTES,
	// One so-manieth of the run: what hashing all may take, and what hashing a part.
	WHOLE_SHARE = 5,
	SHARE = 3,
	PLACES = 4096, // reads to come
	LOOKS = 16,
	PATIENCE_NS = 50000000,
};

struct later {
	struct guest_contents_of of; // number 0: free
	const void *start;           // NULL: overwritten by another one
	uint64_t bytes, since;
};

static struct later *reads;
static guest_lock lock;
static const char *all_from, *all_to; // what those that wait reach into lies in between
static _Atomic uint32_t waiting;      // in `reads`
static _Atomic uint64_t spent;        // host ticks, of this process
static _Atomic uint64_t part_ticks;   // of the last whole part

void guest_contents_begin(void)
{
	if (!guest_options.contents)
		return;
	guest_lock_register(&lock);
	reads = guest_memory(PLACES * sizeof *reads);
}

void guest_contents_forget(void)
{
	for (size_t i = 0; reads != NULL && i < PLACES; i++)
		reads[i].of.number = 0;
	atomic_store(&waiting, 0);
	atomic_store(&spent, 0);
}

struct guest_contents guest_contents_none(enum tare_trace_contents_of why, uint64_t bytes)
{
	uint64_t now = guest_ticks();
	return (struct guest_contents){ .of = why, .bytes = bytes, .from = now, .to = now };
}

#if TARE_HAVE_CONTENTS
#define XXH_INLINE_ALL
#include <xxhash.h>

// A thread's room: the program's stack may be a small one.
struct guest_contents_room {
	XXH3_state_t state;
	char part[PART_BYTES];
	_Atomic bool taken; // by a call that a signal handler has interrupted
};

// 0 or an errno.
static int hash_part(struct guest_contents_room *room, const char *start, uint64_t bytes)
{
	while (bytes != 0) {
		size_t part = bytes < PART_BYTES ? (size_t)bytes : PART_BYTES;
		struct iovec to = { room->part, part };
		struct iovec from = { (char *)(uintptr_t)start, part };
		// The sixth lies on the stack, where the upper half of an int is whatever was
		// there.
		long got =
		    syscall(SYS_process_vm_readv, syscall(SYS_getpid), &to, 1L, &from, 1L, 0L);
		if (got <= 0)
			return got < 0 ? errno : EFAULT;
		XXH3_64bits_update(&room->state, room->part, (size_t)got);
		start += got;
		bytes -= (uint64_t)got;
	}
	return 0;
}

static int hash_sample(struct guest_contents_room *room, const char *start, uint64_t bytes,
                       uint64_t *hash)
{
	int error = 0;
	XXH3_64bits_reset(&room->state);
	for (uint64_t i = 0; i < SAMPLES && error == 0; i++)
		error = hash_part(room, start + (bytes - SAMPLE_BYTES) * i / (SAMPLES - 1),
		                  SAMPLE_BYTES);
	*hash = XXH3_64bits_digest(&room->state);
	return error;
}

static int hash_whole(struct guest_contents_room *room, const char *start, uint64_t bytes,
                      uint64_t *hash)
{
	uint64_t from = guest_ticks();
	XXH3_64bits_reset(&room->state);
	int error = hash_part(room, start, bytes);
	*hash = XXH3_64bits_digest(&room->state);
	if (error == 0 && bytes >= PART_BYTES)
		atomic_store(&part_ticks, (guest_ticks() - from) / (bytes / PART_BYTES));
	return error;
}

// Whether what is to take so long keeps hashing within one `share`th of the run so far.
static bool may_take(uint64_t ticks, uint64_t share)
{
	uint64_t run = guest_ticks() - guest_header->start_ticks;
	return (atomic_load(&spent) + ticks) <= run / share;
}

static int take(struct guest_contents_room *room, const char *start,
                struct guest_contents *contents)
{
	uint64_t bytes = contents->bytes;
	int error = 0;
	if (bytes > WHOLE_BYTES)
		error = hash_sample(room, start, bytes, &contents->sample);
	if (error != 0)
		return error;
	// As fast as the last time; at first as the sample was.
	uint64_t each = atomic_load(&part_ticks);
	if (each == 0)
		each = (guest_ticks() - contents->from) * (PART_BYTES / WHOLE_BYTES);
	contents->of = TARE_CONTENTS_SAMPLED;
	if (bytes > WHOLE_BYTES && !may_take(each * (bytes / PART_BYTES), WHOLE_SHARE))
		return 0;
	contents->of = TARE_CONTENTS_WHOLE;
	error = hash_whole(room, start, bytes, &contents->whole);
	if (bytes <= WHOLE_BYTES)
		contents->sample = contents->whole;
	return error;
}

struct guest_contents guest_contents_take(struct guest_thread *thread, const void *start,
                                          uint64_t bytes)
{
	struct guest_contents contents = guest_contents_none(TARE_CONTENTS_SKIPPED, bytes);
	struct guest_contents_room *room = thread->contents;
	int saved = errno;
	if (start == NULL || bytes == 0 || guest_header == NULL || !may_take(0, SHARE))
		return contents;
	if (room == NULL)
		room = thread->contents = guest_memory(sizeof *room);
	if (room == NULL || atomic_exchange(&room->taken, true)) {
		errno = saved;
		return contents;
	}
	int error = take(room, start, &contents);
	if (error != 0) {
		contents.of = TARE_CONTENTS_UNREADABLE;
		contents.whole = (uint64_t)error;
		contents.sample = 0;
	}
	atomic_store(&room->taken, false);
	contents.to = guest_ticks();
	atomic_fetch_add(&spent, contents.to - contents.from);
	errno = saved;
	return contents;
}
#else
struct guest_contents guest_contents_take(struct guest_thread *thread, const void *start,
                                          uint64_t bytes)
{
	(void)thread, (void)start;
	return guest_contents_none(TARE_CONTENTS_SKIPPED, bytes);
}
#endif

void guest_contents_write(struct guest_thread *thread, const struct guest_contents_of *of,
                          const struct guest_contents *contents)
{
	union tare_trace_record *record = guest_event(thread);
	if (record == NULL)
		return;
	record->contents = (struct tare_trace_contents){ .command_track = of->track,
		                                         .command_number = of->number,
		                                         .execution = of->execution,
		                                         .whole = contents->whole,
		                                         .sample = contents->sample,
		                                         .bytes = contents->bytes,
		                                         .from = contents->from,
		                                         .to = contents->to };
	guest_commit(record, tare_trace_head(TARE_TRACE_CONTENTS, of->flags, (uint16_t)contents->of,
	                                     thread->track));
}

// ---- reads that are not complete yet

static struct later *place_of(const struct guest_contents_of *of, uint32_t turn)
{
	return &reads[(of->number + of->execution + of->track * 2654435761u + turn) % PLACES];
}

static bool is_of(const struct guest_contents_of *one, const struct guest_contents_of *other)
{
	return one->number == other->number && one->track == other->track &&
	       one->execution == other->execution;
}

// With the lock held. NULL: it is not there.
static struct later *find(const struct guest_contents_of *of)
{
	for (uint32_t i = 0; i < LOOKS; i++)
		if (is_of(&place_of(of, i)->of, of))
			return place_of(of, i);
	return NULL;
}

static bool overlaps(const struct later *read, const char *start, uint64_t bytes)
{
	const char *from = read->start;
	return read->of.number != 0 && from != NULL && from < start + bytes &&
	       start < from + read->bytes;
}

// With the lock held: whether any read's memory is looked at one by one.
static bool is_within_all(const char *start, uint64_t bytes)
{
	return atomic_load_explicit(&waiting, memory_order_relaxed) != 0 && start < all_to &&
	       all_from < start + bytes;
}

// With the lock held: what they read is not to be told from what comes behind.
static void overwrite(const void *start, uint64_t bytes)
{
	for (uint32_t i = 0; is_within_all(start, bytes) && i < PLACES; i++)
		if (overlaps(&reads[i], start, bytes))
			reads[i].start = NULL;
}

static void widen(const char *start, uint64_t bytes)
{
	bool first = atomic_load_explicit(&waiting, memory_order_relaxed) == 0;
	all_from = first || start < all_from ? start : all_from;
	all_to = first || start + bytes > all_to ? start + bytes : all_to;
}

bool guest_contents_later(const struct guest_contents_of *of, const void *start, uint64_t bytes)
{
	struct later *place = NULL;
	if (reads == NULL)
		return false;
	guest_hold(&lock);
	overwrite(start, bytes);
	for (uint32_t i = 0; i < LOOKS && place == NULL; i++)
		if (place_of(of, i)->of.number == 0)
			place = place_of(of, i);
	if (place != NULL) {
		*place = (struct later){ *of, start, bytes, guest_ticks() };
		widen(start, bytes);
		atomic_fetch_add(&waiting, 1);
	}
	guest_let_go(&lock);
	return place != NULL;
}

static bool is_any_waiting(void)
{
	return reads != NULL && atomic_load_explicit(&waiting, memory_order_relaxed) != 0;
}

bool guest_contents_changes(const void *start, uint64_t bytes)
{
	bool changes = false;
	if (!is_any_waiting())
		return false;
	guest_hold(&lock);
	for (uint32_t i = 0; is_within_all(start, bytes) && i < PLACES && !changes; i++)
		changes = overlaps(&reads[i], start, bytes);
	guest_let_go(&lock);
	return changes;
}

bool guest_contents_waits(const struct guest_contents_of *of)
{
	if (!is_any_waiting())
		return false;
	guest_hold(&lock);
	const struct later *place = find(of);
	bool waits = place != NULL && place->start != NULL &&
	             guest_ticks() - place->since < guest_ticks_of_ns(PATIENCE_NS);
	guest_let_go(&lock);
	return waits;
}

// Its number is 0: it is not there.
static struct later take_out(const struct guest_contents_of *of)
{
	struct later read = { .bytes = 0 };
	guest_hold(&lock);
	struct later *place = find(of);
	if (place != NULL) {
		read = *place;
		place->of.number = 0;
		atomic_fetch_sub(&waiting, 1);
	}
	guest_let_go(&lock);
	return read;
}

void guest_contents_come(struct guest_thread *thread, const struct guest_contents_of *of, bool seen)
{
	struct later read = is_any_waiting() ? take_out(of) : (struct later){ .bytes = 0 };
	if (read.of.number == 0)
		return;
	struct guest_contents contents =
	    seen && read.start != NULL ? guest_contents_take(thread, read.start, read.bytes)
	                               : guest_contents_none(TARE_CONTENTS_UNSEEN, read.bytes);
	guest_contents_write(thread, &read.of, &contents);
}

void guest_contents_drop(const struct guest_contents_of *of)
{
	if (is_any_waiting())
		take_out(of);
}
