// SPDX-License-Identifier: Apache-2.0
// ITT: the static part that is linked into programs and libraries loads $INTEL_LIBITTNOTIFY64 at
// its first call, finds __itt_api_init there and calls it with its description: the list of its
// functions, each a name and a place for a pointer. We set those of tasks, frames, regions and
// markers, and set the others to what does nothing. The binary interface below is ITT's, version 3.
#include "guest/phase/phase.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#define EXPORTED __attribute__((visibility("default")))

struct itt_function {
	const char *name;
	void **place;
	void *at_first, *nothing;
	int group;
};
struct itt_global {
	unsigned char magic[8];
	unsigned long major, minor, build;
	volatile long state[3];
	pthread_mutex_t mutex;
	void *library, *error_handler;
	const char **library_path;
	struct itt_function *functions; // the last one has no name
};
struct itt_domain {
	volatile int enabled;
	const char *name;
	void *wide_name;
	int extra1;
	void *extra2;
	struct itt_domain *following;
};
struct itt_string {
	const char *text;
	void *wide_text;
	int extra1;
	void *extra2;
	struct itt_string *following;
};
struct itt_id {
	unsigned long long word[3];
};

// What an identity is of, so that a task and a region of one id are two phases.
enum identity { OVERLAPPED = 1, REGION = 2, FRAME = 3 };

// Of descriptions as long as this; older ones had shorter entries.
enum { LEAST_BUILD = 20101002 };
// A frame that the program gives no time for.
#define NO_TIME UINT64_MAX

EXPORTED void __itt_api_init(struct itt_global *global, int groups);
EXPORTED void __itt_api_fini(struct itt_global *global);

// ---- domains and strings: the same one for the same name

static void *find_or_make(char kind, const char *name, size_t bytes)
{
	static _Atomic(struct guest_map *) made;
	struct guest_map *map = atomic_load(&made), *none = NULL;
	uint64_t hash = guest_hash(GUEST_HASH_START, &kind, 1);
	const void *key =
	    (const void *)(uintptr_t)(guest_hash(hash, name, strnlen(name, GUEST_PHASE_TEXT)) << 4 |
	                              8);
	void *object;
	if (!map) {
		map = guest_map_new();
		if (map && !atomic_compare_exchange_strong(&made, &none, map))
			map = none;
	}
	object = (void *)(uintptr_t)guest_map_find(map, key, 0);
	if (object)
		return object;
	object = guest_memory(bytes);
	if (object)
		guest_map_put(map, key, (uintptr_t)object);
	return object;
}

static struct itt_domain *domain_create(const char *name)
{
	int error = errno;
	struct itt_domain *domain = name ? find_or_make('D', name, sizeof *domain) : NULL;
	if (domain && !domain->name) {
		domain->name = guest_phase_keep(name);
		domain->enabled = 1;
	}
	errno = error;
	return domain;
}

static struct itt_string *string_create(const char *name)
{
	int error = errno;
	struct itt_string *string = name ? find_or_make('S', name, sizeof *string) : NULL;
	if (string && !string->text)
		string->text = guest_phase_keep(name);
	errno = error;
	return string;
}

// ---- what all forms of a call come to

static const char *name_of(const struct itt_domain *domain)
{
	return domain ? domain->name : NULL;
}

static uint64_t identity_of(enum identity kind, const struct itt_id *id)
{
	static const struct itt_id none;
	uint64_t hash = guest_hash(GUEST_HASH_START, &kind, sizeof kind);
	hash = guest_hash(hash, id ? id : &none, sizeof *id);
	return hash ? hash : 1;
}

static void begin(const struct itt_domain *domain, const char *name, uint64_t identity,
                  uint64_t ticks)
{
	int error = errno;
	guest_phase_begin_at(TARE_PHASE_ITT, name, name_of(domain), identity, ticks);
	errno = error;
}

static void end(const struct itt_domain *domain, uint64_t identity, uint64_t ticks)
{
	int error = errno;
	guest_phase_end_at(TARE_PHASE_ITT, name_of(domain), identity, ticks);
	errno = error;
}

// The times of a clock that the program has made up cannot be compared with ours.
static uint64_t own_time(const void *clock, unsigned long long timestamp)
{
	return clock ? 0 : timestamp;
}

// ---- the functions that programs call

static void task_begin_ex(const struct itt_domain *domain, void *clock,
                          unsigned long long timestamp, struct itt_id id, struct itt_id parent,
                          const struct itt_string *name)
{
	(void)id, (void)parent;
	begin(domain, name ? name->text : NULL, 0, own_time(clock, timestamp));
}

static void task_begin(const struct itt_domain *domain, struct itt_id id, struct itt_id parent,
                       const struct itt_string *name)
{
	task_begin_ex(domain, NULL, 0, id, parent, name);
}

// A task that is named by a function has its address for a name.
static void task_begin_fn_ex(const struct itt_domain *domain, void *clock,
                             unsigned long long timestamp, struct itt_id id, struct itt_id parent,
                             void *function)
{
	uintptr_t address = (uintptr_t)function;
	char name[2 + 2 * sizeof address + 1] = "0x", *at = name + 2;
	int digits = 1;
	(void)id, (void)parent;
	while (digits < (int)(2 * sizeof address) && address >> 4 * digits)
		digits++;
	while (digits-- > 0)
		*at++ = "0123456789abcdef"[address >> 4 * digits & 15];
	*at = 0;
	begin(domain, name, 0, own_time(clock, timestamp));
}

static void task_begin_fn(const struct itt_domain *domain, struct itt_id id, struct itt_id parent,
                          void *function)
{
	task_begin_fn_ex(domain, NULL, 0, id, parent, function);
}

static void task_end_ex(const struct itt_domain *domain, void *clock, unsigned long long timestamp)
{
	end(domain, 0, own_time(clock, timestamp));
}

static void task_end(const struct itt_domain *domain)
{
	end(domain, 0, 0);
}

static void task_begin_overlapped_ex(const struct itt_domain *domain, void *clock,
                                     unsigned long long timestamp, struct itt_id id,
                                     struct itt_id parent, const struct itt_string *name)
{
	(void)parent;
	begin(domain, name ? name->text : NULL, identity_of(OVERLAPPED, &id),
	      own_time(clock, timestamp));
}

static void task_begin_overlapped(const struct itt_domain *domain, struct itt_id id,
                                  struct itt_id parent, const struct itt_string *name)
{
	task_begin_overlapped_ex(domain, NULL, 0, id, parent, name);
}

static void task_end_overlapped_ex(const struct itt_domain *domain, void *clock,
                                   unsigned long long timestamp, struct itt_id id)
{
	end(domain, identity_of(OVERLAPPED, &id), own_time(clock, timestamp));
}

static void task_end_overlapped(const struct itt_domain *domain, struct itt_id id)
{
	task_end_overlapped_ex(domain, NULL, 0, id);
}

static void region_begin(const struct itt_domain *domain, struct itt_id id, struct itt_id parent,
                         const struct itt_string *name)
{
	(void)parent;
	begin(domain, name ? name->text : NULL, identity_of(REGION, &id), 0);
}

static void region_end(const struct itt_domain *domain, struct itt_id id)
{
	end(domain, identity_of(REGION, &id), 0);
}

// Frames have no names.
static void frame_begin(const struct itt_domain *domain, const struct itt_id *id)
{
	begin(domain, "frame", identity_of(FRAME, id), 0);
}

static void frame_end(const struct itt_domain *domain, const struct itt_id *id)
{
	end(domain, identity_of(FRAME, id), 0);
}

// A frame that is over, by times that get_timestamp gave.
static void frame_submit(const struct itt_domain *domain, const struct itt_id *id,
                         unsigned long long from, unsigned long long to)
{
	static _Atomic uint64_t last;
	uint64_t identity = identity_of(FRAME, id) ^ (atomic_fetch_add(&last, 1) + 1) << 32;
	if (!from || from == NO_TIME || (to != NO_TIME && to < from))
		return;
	begin(domain, "frame", identity ? identity : 1, from);
	end(domain, identity ? identity : 1, to == NO_TIME ? 0 : to);
}

static void marker_ex(const struct itt_domain *domain, void *clock, unsigned long long timestamp,
                      struct itt_id id, const struct itt_string *name, int scope)
{
	int error = errno;
	(void)clock, (void)timestamp, (void)id, (void)scope;
	guest_phase_instant(TARE_PHASE_ITT, name ? name->text : NULL, name_of(domain));
	errno = error;
}

static void marker(const struct itt_domain *domain, struct itt_id id, const struct itt_string *name,
                   int scope)
{
	marker_ex(domain, NULL, 0, id, name, scope);
}

// What ticks are is known when recording has begun.
static unsigned long long get_timestamp(void)
{
	int error = errno;
	unsigned long long ticks = guest_phase_thread() ? guest_ticks() : 0;
	errno = error;
	return ticks;
}

// ---- the list

typedef void (*any_function)(void);
static const struct {
	const char *name; // without "__itt_"
	any_function function;
} ours[] = {
	{ "domain_create", (any_function)domain_create },
	{ "domain_createA", (any_function)domain_create },
	{ "string_handle_create", (any_function)string_create },
	{ "string_handle_createA", (any_function)string_create },
	{ "task_begin", (any_function)task_begin },
	{ "task_begin_ex", (any_function)task_begin_ex },
	{ "task_begin_fn", (any_function)task_begin_fn },
	{ "task_begin_fn_ex", (any_function)task_begin_fn_ex },
	{ "task_end", (any_function)task_end },
	{ "task_end_ex", (any_function)task_end_ex },
	{ "task_begin_overlapped", (any_function)task_begin_overlapped },
	{ "task_begin_overlapped_ex", (any_function)task_begin_overlapped_ex },
	{ "task_end_overlapped", (any_function)task_end_overlapped },
	{ "task_end_overlapped_ex", (any_function)task_end_overlapped_ex },
	{ "region_begin", (any_function)region_begin },
	{ "region_end", (any_function)region_end },
	{ "frame_begin_v3", (any_function)frame_begin },
	{ "frame_end_v3", (any_function)frame_end },
	{ "frame_submit_v3", (any_function)frame_submit },
	{ "marker", (any_function)marker },
	{ "marker_ex", (any_function)marker_ex },
	{ "get_timestamp", (any_function)get_timestamp },
};

static any_function find(const char *name)
{
	static const char prefix[] = "__itt_";
	if (strncmp(name, prefix, sizeof prefix - 1))
		return NULL;
	for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
		if (!strcmp(name + sizeof prefix - 1, ours[i].name))
			return ours[i].function;
	return NULL;
}

// Called under the program's lock of ITT, once for each static part in the process. Functions that
// are left as they are would do nothing either; set to nothing they are not even called.
void __itt_api_init(struct itt_global *global, int groups)
{
	static const unsigned char magic[] = { 0xed, 0xab, 0xab, 0xec, 0x0d, 0xee, 0xda, 0x30 };
	int error = errno;
	(void)groups;
	if (!global || memcmp(global->magic, magic, sizeof magic) || global->build < LEAST_BUILD ||
	    !global->functions)
		return;
	for (struct itt_function *f = global->functions; f->name; f++) {
		any_function function = find(f->name);
		if (!f->place)
			continue;
		if (function)
			memcpy(f->place, &function, sizeof function);
		else
			*f->place = f->nothing;
	}
	errno = error;
}

// The program sets all its functions to nothing itself.
void __itt_api_fini(struct itt_global *global)
{
	(void)global;
}
