// SPDX-License-Identifier: Apache-2.0
// libgcc's unwinder finds the tables by _dl_find_object, which takes no lock. It is linked
// statically: one of our own has no code registered at run time, for which it would need a lock.
#include "guest/stack/stack.h"

#include "guest/internal.h"
#include "guest/python/python.h"

#include <pthread.h>
#include <setjmp.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
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
	bool interrupted;    // it went through a signal handler
	struct again *again; // filled on the way; NULL: not wanted
	uint64_t frame[MOST_FRAMES];
	struct guest_python python; // where Python is, the interpreter's frames are left out
	jmp_buf out;
};

// A walk that this thread has made lately, to be told again by what it read: where each return
// address lay, and what it was. Only x86-64 has them all below a frame's CFA.
struct again {
	uint64_t frame, caller; // of guest_stack, and the frame pointer of who called it
	uint64_t python;        // the key of Python's frames
	uint32_t process, id, count;
	const uint64_t *slot[MOST_STEPS];
	uint64_t value[MOST_STEPS];
};
enum { AGAIN = 32, TOP_BYTES = 64 * 1024 };
struct guest_walks {
	uint64_t top;         // the end of the thread's own stack
	uint64_t begun;       // host ticks: the stack that is being found is measured; 0: it is not
	bool told;            // it was known again
	uint32_t hits, until; // not counted yet; known ones until one is measured
	struct again again[AGAIN];
};

// What stacks really cost here, in the program with its cold caches and its record written: each
// walk is measured, and one of so many that are known again. No divisor of the periods programs
// have.
enum { EVERY = 61 };
static _Atomic uint64_t all_walks, all_hits; // how many there were
static struct {
	_Atomic uint64_t ticks, count;
} of_walks, of_hits;            // measured
static int64_t walk_ps, hit_ps; // as calibrated, until they are
static uint64_t ours_from, ours_to;
static struct guest_map *stacks;             // ids by hash and generation
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

static void note_slot(struct guest_walk *walk, uint64_t address)
{
	struct again *again = walk->again;
	const uint64_t *slot = (const uint64_t *)(uintptr_t)walk->cfa - 1;
	if (walk->cfa <= again->frame)
		return; // below guest_stack
	if (*slot != address)
		walk->interrupted = true;
	if (again->count == MOST_STEPS)
		return; // a signal handler has taken the place in the middle of ours, and filled it
	again->slot[again->count] = slot;
	again->value[again->count++] = address;
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
	walk->interrupted |= interrupted;
	if (walk->again)
		note_slot(walk, address);
	if (walk->python.count && guest_python_is(address))
		return _URC_NORMAL_STOP;
	add_frame(walk, address + (interrupted != 0));
	return walk->count == MOST_FRAMES - walk->python.count ? _URC_NORMAL_STOP : _URC_NO_REASON;
}

static void walk_stack(struct guest_thread *thread, struct guest_walk *walk)
{
	walk->outer = thread->walk;
	walk->cfa = 0;
	walk->steps = walk->count = 0;
	walk->interrupted = false;
	if (!_setjmp(walk->out)) {
		thread->walk = walk;
		_Unwind_Backtrace(on_frame, walk);
	}
	thread->walk = walk->outer;
	for (uint32_t i = 0; i < walk->python.count && walk->count < MOST_FRAMES; i++) {
		uint64_t frame = guest_python_frame(&walk->python, i);
		if (frame)
			walk->frame[walk->count++] = frame;
	}
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
		if (!(walk->frame[i] & TARE_TRACE_FRAME_TEXT))
			guest_module_know(walk->frame[i] - 1);
	id = guest_stack_define(guest_thread(), walk->frame, walk->count);
	if (id && process == atomic_load(&guest_process))
		guest_map_put(stacks, key, id);
	return id;
}

// ---- walks told again

#if defined(__x86_64__)

extern void *__libc_stack_end;

static struct guest_walks *walks_of(struct guest_thread *thread)
{
	struct guest_walks *walks = thread->walks;
	if (!walks) {
		walks = guest_memory(sizeof *walks);
		thread->walks = walks;
	}
	// A state goes from thread to thread.
	if (walks && thread->walks_track != thread->track) {
		thread->walks_track = thread->track;
		memset(walks->again, 0, sizeof walks->again);
		// The C library puts its own data at the end of a thread's stack.
		walks->top = (uint64_t)getpid() == (uint64_t)syscall(SYS_gettid)
		                 ? (uint64_t)(uintptr_t)__libc_stack_end
		                 : (uint64_t)pthread_self();
	}
	return walks;
}

static struct again *place_again(struct guest_walks *walks, uint64_t frame, uint64_t address)
{
	uint64_t hash = (frame ^ address << 7) * UINT64_C(0x9e3779b97f4a7c15);
	return &walks->again[hash >> 59];
}

// Whether all that a walk read is as it was. It lies on this thread's own stack, above us.
static __attribute__((no_sanitize("address", "thread"))) bool holds(const struct again *again)
{
	for (uint32_t i = 0; i < again->count; i++)
		if (*(const volatile uint64_t *)again->slot[i] != again->value[i])
			return false;
	return true;
}

static bool can_be_told_again(const struct guest_walks *walks, const struct guest_walk *walk)
{
	return !walk->interrupted && walk->again->count && walk->cfa <= walks->top &&
	       walks->top - walk->cfa < TOP_BYTES;
}

// Later than all before it, and before all after it: what is measured is short.
static uint64_t exact_ticks(void)
{
	__builtin_ia32_lfence();
	uint64_t ticks = guest_ticks();
	__builtin_ia32_lfence();
	return ticks;
}

static double mean_ps(uint64_t ticks, uint64_t count, int64_t calibrated)
{
	uint64_t of_ms = guest_ticks_of_ns(1000000);
	return count && of_ms ? (double)ticks / (double)count * 1e9 / (double)of_ms
	                      : (double)calibrated;
}

static __attribute__((noinline)) void say_cost(void)
{
	double made = (double)atomic_load(&all_walks), hits = (double)atomic_load(&all_hits);
	double walk = mean_ps(atomic_load(&of_walks.ticks), atomic_load(&of_walks.count), walk_ps);
	double hit = mean_ps(atomic_load(&of_hits.ticks), atomic_load(&of_hits.count), hit_ps);
	if (guest_header && walk_ps && made + hits > 0)
		__atomic_store_n(&guest_header->self_stack_cost_ps,
		                 (int64_t)((walk * made + hit * hits) / (made + hits)),
		                 __ATOMIC_RELAXED);
}

static void begin_measuring(struct guest_walks *walks)
{
	walks->told = true; // as yet
	walks->begun = 0;
	if (walks->until-- == 0) {
		walks->until = EVERY - 1;
		walks->begun = exact_ticks();
	}
}

// A stack that was begun to be measured is written.
static __attribute__((noinline)) void measured(struct guest_walks *walks)
{
	uint64_t ticks = exact_ticks() - walks->begun;
	// Longer ones: another thread has run meanwhile.
	bool ours = ticks < guest_ticks_of_ns(walks->told ? 20000 : 1000000);
	walks->begun = 0;
	if (ours && walks->told) {
		atomic_fetch_add(&of_hits.ticks, ticks);
		atomic_fetch_add(&of_hits.count, 1);
	} else if (ours) {
		atomic_fetch_add(&of_walks.ticks, ticks);
		atomic_fetch_add(&of_walks.count, 1);
	}
	if (walks->hits) {
		atomic_fetch_add(&all_hits, walks->hits);
		walks->hits = 0;
	}
	say_cost();
}

#endif

static uint32_t find(struct guest_thread *thread, struct guest_walk *walk, bool may_define)
{
	const void *key;
	uint32_t id;
	walk_stack(thread, walk);
	if (!walk->count)
		return 0;
	key = key_of(walk);
	id = (uint32_t)guest_map_find(stacks, key, 0);
	return id || !may_define ? id : define(walk, key);
}

__attribute__((noinline)) uint32_t guest_stack(void)
{
	struct guest_thread *thread = guest_this;
	struct guest_walk walk;
	uint32_t id;
	if (!thread)
		return 0;
	walk.again = NULL;
	guest_python_now(&walk.python);
#if defined(__x86_64__)
	const uint64_t *frame = __builtin_frame_address(0);
	struct guest_walks *walks = walks_of(thread);
	if (walks)
		begin_measuring(walks);
	struct again *again =
	    walks ? place_again(walks, (uint64_t)(uintptr_t)frame, frame[1]) : NULL;
	if (again && again->id && again->frame == (uint64_t)(uintptr_t)frame &&
	    again->caller == frame[0] && again->process == thread->process &&
	    again->python == walk.python.key && holds(again)) {
		walks->hits++;
		return again->id;
	}
	if (again) {
		again->id = again->count = 0;
		again->frame = (uint64_t)(uintptr_t)frame;
		again->caller = frame[0];
		again->process = thread->process;
		again->python = walk.python.key;
		atomic_fetch_add(&all_walks, 1);
		walks->told = false;
		if (!walks->begun)
			walks->begun = exact_ticks();
	}
	walk.again = again;
#endif
	id = find(thread, &walk, true);
#if defined(__x86_64__)
	// A handler of the program's may have taken the place meanwhile: then its frame is another.
	if (again && again->frame == (uint64_t)(uintptr_t)frame && can_be_told_again(walks, &walk))
		again->id = id;
#endif
	return id;
}

uint32_t guest_stack_seen(void)
{
	struct guest_thread *thread = guest_this;
	struct guest_walk walk;
	walk.again = NULL;
	guest_python_now(&walk.python);
	return thread ? find(thread, &walk, false) : 0;
}

void guest_stacks_cost(int64_t walk, int64_t again)
{
	walk_ps = walk;
	hit_ps = again;
	atomic_store(&all_walks, 0);
	atomic_store(&all_hits, 0);
	atomic_store(&of_walks.count, 0);
	atomic_store(&of_walks.ticks, 0);
	atomic_store(&of_hits.count, 0);
	atomic_store(&of_hits.ticks, 0);
	if (guest_this && guest_this->walks)
		guest_this->walks->hits = 0;
}

void guest_site(struct guest_thread *thread, uint8_t flags, uint64_t of, uint32_t stack)
{
	union tare_trace_record *record = stack ? guest_event(thread) : NULL;
	if (record) {
		record->site = (struct tare_trace_site){ .of = of, .stack = stack };
		guest_commit(record, tare_trace_head(TARE_TRACE_SITE, flags, 0, thread->track));
	}
#if defined(__x86_64__)
	if (thread->walks && thread->walks->begun)
		measured(thread->walks);
#endif
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
	guest_python_begin();
	stacks = guest_map_new();
	guest_stacks = stacks != NULL;
}
