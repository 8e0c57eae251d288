// SPDX-License-Identifier: Apache-2.0
// libgcc's unwinder finds the tables by _dl_find_object, which takes no lock. It is linked
// statically: one of our own has no code registered at run time, for which it would need a lock.
#include "guest/stack.h"

#include "guest/internal.h"

#include <setjmp.h>
#include <string.h>
#include <unwind.h>

enum {
	MOST_FRAMES = 48,      // in a stack
	MOST_STEPS = 64,       // our own frames included
	MOST_STACKS = 1 << 16, // of a process
};

bool guest_stacks;

// A walk in progress, on the stack that it walks.
struct guest_walk {
	struct guest_walk *outer; // that a signal handler of the program has interrupted
	uint64_t cfa;             // of the last frame: they ascend
	uint32_t steps, count;
	uint64_t frame[MOST_FRAMES];
	jmp_buf out;
};

static uint64_t ours_from, ours_to;
static struct guest_map *stacks; // ids by hash and generation
static _Atomic uint32_t defined, defined_in; // stacks of the process, and of which
static uint32_t most_stacks = MOST_STACKS;

// The unwinder's own search for the table of an address, which every step goes through.
const void *__real__Unwind_Find_FDE(void *address, void *bases);
const void *__wrap__Unwind_Find_FDE(void *address, void *bases);

static void add_frame(struct guest_walk *walk, uint64_t address)
{
	if (walk->count < MOST_FRAMES && (address < ours_from || address >= ours_to))
		walk->frame[walk->count++] = address;
}

// Where there is no table the unwinder would go on to read the code at the address, which may be
// anything by then: a coroutine's first function returns to whatever its maker has put there.
const void *__wrap__Unwind_Find_FDE(void *address, void *bases)
{
	const void *table = __real__Unwind_Find_FDE(address, bases);
	struct guest_thread *thread = guest_this;
	if (!table && thread && thread->walk) {
		uint64_t returns_to = (uint64_t)(uintptr_t)address + 1;
		if (thread->walk->steps && returns_to >> 47 == 0)
			add_frame(thread->walk, returns_to);
		longjmp(thread->walk->out, 1);
	}
	return table;
}

static _Unwind_Reason_Code on_frame(struct _Unwind_Context *context, void *argument)
{
	struct guest_walk *walk = argument;
	int interrupted = 0; // by a signal: the address is that of the next instruction already
	uint64_t address = _Unwind_GetIPInfo(context, &interrupted);
	uint64_t cfa = _Unwind_GetCFA(context);
	bool astray = walk->steps && cfa <= walk->cfa && !interrupted;
	if (!address || astray || walk->steps++ >= MOST_STEPS)
		return _URC_NORMAL_STOP;
	walk->cfa = cfa;
	add_frame(walk, address + (interrupted != 0));
	return walk->count == MOST_FRAMES ? _URC_NORMAL_STOP : _URC_NO_REASON;
}

static void walk_stack(struct guest_thread *thread, struct guest_walk *walk)
{
	walk->outer = thread->walk;
	walk->cfa = 0;
	walk->steps = walk->count = 0;
	if (!_setjmp(walk->out)) {
		thread->walk = walk;
		_Unwind_Backtrace(on_frame, walk);
	}
	thread->walk = walk->outer;
}

static const void *key_of(const struct guest_walk *walk)
{
	uint64_t hash = atomic_load_explicit(&guest_process, memory_order_relaxed);
	hash = hash << 32 | walk->count;
	for (uint32_t i = 0; i < walk->count; i++) {
		hash = (hash ^ walk->frame[i]) * UINT64_C(0x9e3779b97f4a7c15);
		hash ^= hash >> 29;
	}
	return (const void *)(uintptr_t)(hash << 4 | 8);
}

// The child of a fork counts anew.
static bool has_room(uint32_t process)
{
	if (atomic_exchange(&defined_in, process) != process)
		atomic_store(&defined, 0);
	return atomic_fetch_add(&defined, 1) < most_stacks;
}

static __attribute__((noinline)) uint32_t define(const struct guest_walk *walk, const void *key)
{
	uint32_t process = atomic_load(&guest_process), id;
	if (!has_room(process))
		return 0;
	// What the reader resolves a stack with comes before it.
	for (uint32_t i = 0; i < walk->count; i++)
		guest_module_know(walk->frame[i] - 1);
	id = guest_stack_define(walk->frame, walk->count);
	if (id && process == atomic_load(&guest_process))
		guest_map_put(stacks, key, id);
	return id;
}

static inline uint32_t find(bool may_define)
{
	struct guest_thread *thread = guest_this;
	struct guest_walk walk;
	const void *key;
	uint32_t id;
	if (!thread)
		return 0;
	walk_stack(thread, &walk);
	if (!walk.count)
		return 0;
	key = key_of(&walk);
	id = (uint32_t)guest_map_find(stacks, key, 0);
	return id || !may_define ? id : define(&walk, key);
}

uint32_t guest_stack(void)
{
	return find(true);
}

uint32_t guest_stack_seen(void)
{
	return find(false);
}

void guest_site(struct guest_thread *thread, uint8_t flags, uint64_t of, uint32_t stack)
{
	union tare_trace_record *record = stack ? guest_event(thread) : NULL;
	if (!record)
		return;
	record->site = (struct tare_trace_site){ .of = of, .stack = stack };
	guest_commit(record, tare_trace_head(TARE_TRACE_SITE, flags, 0, thread->track));
}

void guest_stacks_begin(const void *ours)
{
	// Definitions are never used again: of a small file they take a quarter at most.
	enum { STACK_BYTES = (MOST_FRAMES + 4) / 5 * TARE_TRACE_RECORD_BYTES };
	struct guest_module_place place;
	if (!guest_options.call_stacks || !guest_modules_begin())
		return;
	if (ours && guest_module_find((uint64_t)(uintptr_t)ours, &place)) {
		ours_from = place.from;
		ours_to = place.to;
	}
	if (guest_options.max_bytes && guest_options.max_bytes / 4 / STACK_BYTES < MOST_STACKS)
		most_stacks = (uint32_t)(guest_options.max_bytes / 4 / STACK_BYTES);
	stacks = guest_map_new();
	guest_stacks = stacks != NULL;
}
