// SPDX-License-Identifier: Apache-2.0
#include "guest/phase/phase.h"

#include "guest/internal.h"

#include <errno.h>
#include <string.h>

// Texts that a program makes up for each phase ("step 81204") would fill the file with definitions,
// which are never overwritten: of a small file they take a quarter at most.
enum { MOST_TEXTS = 65536, TEXT_OF_RECORD = sizeof((struct tare_trace_string *)0)->text };
static const char other_text[] = "(other names)";

static _Atomic(struct guest_map *) texts, kept;
static _Atomic uint32_t text_count, text_process;
static _Atomic uint64_t text_records;

// A map made by whoever needs it first; of two made at once one is lost.
static struct guest_map *map_of(_Atomic(struct guest_map *) *place)
{
	struct guest_map *map = atomic_load_explicit(place, memory_order_acquire), *none = NULL;
	if (map)
		return map;
	map = guest_map_new();
	return map && !atomic_compare_exchange_strong(place, &none, map) ? none : map;
}

// Whether one more text may be defined in the file of this process.
static bool may_define(uint32_t process, size_t bytes)
{
	uint64_t records = bytes / TEXT_OF_RECORD + 1;
	uint64_t most = guest_options.max_bytes / 4 / TARE_TRACE_RECORD_BYTES;
	if (atomic_exchange(&text_process, process) != process) {
		atomic_store(&text_count, 0);
		atomic_store(&text_records, 0);
	}
	records += atomic_fetch_add(&text_records, records);
	return atomic_fetch_add(&text_count, 1) < MOST_TEXTS &&
	       (!guest_options.max_bytes || records <= most);
}

// The id of a text in this process's file. The text itself is the key: the program may use its
// buffer again for another one.
static uint32_t text_id(const char *text)
{
	uint32_t process = atomic_load_explicit(&guest_process, memory_order_relaxed), id;
	struct guest_map *map = map_of(&texts);
	size_t bytes;
	const void *key;
	if (!text || !*text)
		return 0;
	bytes = strnlen(text, GUEST_PHASE_TEXT);
	key = guest_hash_key(
	    guest_hash(guest_hash(GUEST_HASH_START, &process, sizeof process), text, bytes));
	id = (uint32_t)guest_map_find(map, key, 0);
	if (id)
		return id;
	if (text != other_text && !may_define(process, bytes))
		return text_id(other_text);
	// Not in the middle of a character.
	if (bytes == GUEST_PHASE_TEXT)
		while (bytes && ((unsigned char)text[bytes] & 0xc0) == 0x80)
			bytes--;
	id = guest_string(text, bytes);
	if (id && map)
		guest_map_put(map, key, id);
	return id;
}

const char *guest_phase_keep(const char *text)
{
	size_t bytes = strnlen(text, GUEST_PHASE_TEXT);
	const void *key = guest_hash_key(guest_hash(GUEST_HASH_START, text, bytes));
	struct guest_map *map = map_of(&kept);
	char *copy = (char *)(uintptr_t)guest_map_find(map, key, 0);
	if (copy && !strncmp(copy, text, bytes) && !copy[bytes])
		return copy;
	copy = guest_memory(bytes + 1);
	if (!copy)
		return NULL;
	memcpy(copy, text, bytes);
	guest_map_put(map, key, (uintptr_t)copy);
	return copy;
}

struct guest_thread *guest_phase_thread(void)
{
	struct guest_thread *thread = guest_thread();
	if (!thread && atomic_load(&guest_life) == GUEST_UNBORN && guest_begin(NULL))
		thread = guest_thread();
	return thread;
}

// Ticks that the program names, unless they lie before the recording or in the future.
static uint64_t possible(uint64_t ticks)
{
	uint64_t now = guest_ticks();
	return ticks < guest_header->start_ticks || ticks > now ? now : ticks;
}

static void write_phase(struct guest_thread *thread, const struct tare_trace_phase *phase,
                        uint16_t what, enum tare_trace_phase_source source)
{
	union tare_trace_record *record = guest_event_always(thread);
	if (!record)
		return;
	memset(&record->words[1], 0, sizeof *record - sizeof record->head);
	record->phase.ticks = phase->ticks;
	record->phase.name = phase->name;
	record->phase.domain = phase->domain;
	record->phase.value = phase->value;
	guest_commit(record,
	             tare_trace_head(TARE_TRACE_PHASE, (uint8_t)source, what, thread->track));
	if (atomic_load_explicit(&guest_lone, memory_order_relaxed))
		guest_lone_round(thread, 0);
}

static void mark(enum tare_trace_phase_source source, uint16_t what, const char *name,
                 const char *domain, uint64_t identity, uint64_t ticks)
{
	struct guest_thread *thread = guest_phase_thread();
	struct tare_trace_phase phase = { .value = identity };
	if (!thread)
		return;
	phase.name = text_id(name && *name ? name : "(unnamed)");
	phase.domain = text_id(domain);
	phase.ticks = possible(ticks);
	write_phase(thread, &phase, what, source);
}

void guest_phase_begin_at(enum tare_trace_phase_source source, const char *name, const char *domain,
                          uint64_t identity, uint64_t ticks)
{
	mark(source, 1, name, domain, identity, ticks);
}

void guest_phase_begin(enum tare_trace_phase_source source, const char *name, const char *domain,
                       uint64_t identity)
{
	mark(source, 1, name, domain, identity, 0);
}

void guest_phase_instant(enum tare_trace_phase_source source, const char *name, const char *domain)
{
	mark(source, 0, name, domain, 0, 0);
}

void guest_phase_end_at(enum tare_trace_phase_source source, const char *domain, uint64_t identity,
                        uint64_t ticks)
{
	uint64_t now = guest_ticks();
	struct guest_thread *thread = guest_thread(); // an end alone begins nothing
	struct tare_trace_phase phase = { .value = identity };
	if (!thread)
		return;
	phase.ticks = ticks ? possible(ticks) : now;
	phase.domain = text_id(domain);
	write_phase(thread, &phase, 2, source);
}

void guest_phase_end(enum tare_trace_phase_source source, const char *domain, uint64_t identity)
{
	guest_phase_end_at(source, domain, identity, 0);
}

// ---- depths

int *guest_phase_depth(const void *domain)
{
	struct guest_thread *thread = guest_phase_thread();
	struct guest_phase_open *open;
	if (!thread)
		return NULL;
	for (open = thread->phases; open; open = open->following)
		if (open->domain == domain)
			return &open->depth;
	open = guest_memory(sizeof *open);
	if (!open)
		return NULL;
	open->domain = domain;
	open->following = thread->phases;
	thread->phases = open;
	return &open->depth;
}
