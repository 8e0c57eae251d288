// SPDX-License-Identifier: Apache-2.0
// What the driver loads by itself within a call: a kernel when it is first launched or asked for
// (CUDA_MODULE_LOADING=LAZY, its default), and the module of it. Of the kernel CUPTI has an
// overhead record; of the module it tells when it is loaded.
#include "guest/cuda/cuda.h"

#include <time.h>

enum { READINGS = 5 };
enum loaded { LOADED_KERNEL, LOADED_MODULE, LOADED_COUNT };

// Functions of nobody's stand for them, behind all others.
static const char *const names[LOADED_COUNT] = {
	[LOADED_KERNEL] = "(lazy function loading)",
	[LOADED_MODULE] = "(module loading)",
};
static _Atomic uint32_t defined[LOADED_COUNT]; // in whose file
_Static_assert(CUDA_MOST_NAMES + LOADED_COUNT <= GUEST_FUNCTIONS, "");

// A moment on both clocks.
struct moment {
	uint64_t ticks, ns;
};
static struct moment beginning;

// The tightest of a few: between two readings the thread may have been off its processor.
static struct moment read_clocks(void)
{
	struct moment best = { 0 };
	uint64_t width = UINT64_MAX;
	for (int i = 0; i < READINGS; i++) {
		struct timespec now;
		uint64_t before = guest_ticks(), took;
		clock_gettime(CLOCK_MONOTONIC_RAW, &now);
		took = guest_ticks() - before;
		if (took >= width)
			continue;
		width = took;
		best = (struct moment){ before + took / 2,
			                (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec };
	}
	return best;
}

// Of nanoseconds before `now`: by the rate since the beginning, once that is long enough ago.
static uint64_t ticks_of(uint64_t ns, const struct moment *now)
{
	enum { LONG_ENOUGH_NS = 50000000 };
	uint64_t before_ns = now->ns - ns, since_ns = now->ns - beginning.ns;
	if (!guest_clock_tsc)
		return ns;
	if (since_ns < LONG_ENOUGH_NS)
		return now->ticks - guest_ticks_of_ns((int64_t)before_ns);
	return now->ticks -
	       (uint64_t)((unsigned __int128)before_ns * (now->ticks - beginning.ticks) / since_ns);
}

static void write_within(struct guest_thread *thread, enum loaded what, uint64_t enter,
                         uint64_t exit, uint32_t track)
{
	uint32_t name = (uint32_t)CUDA_MOST_NAMES + what;
	union tare_trace_record *record;
	if (atomic_exchange(&defined[what], thread->process) != thread->process)
		guest_define_function(TARE_TRACE_CUDA, name, names[what], TARE_ROLE_LOAD);
	record = guest_event(thread);
	if (!record)
		return;
	record->within =
	    (struct tare_trace_within){ .enter = enter, .exit = exit, .call_track = track };
	guest_commit(record,
	             tare_trace_head(TARE_TRACE_WITHIN, 0, cuda_detail(name), thread->track));
}

void cuda_loading_begin(void)
{
	beginning = read_clocks();
	// Older ones may not have it, or tell of nothing that is meant here.
	cuda_cupti.cuptiActivityEnable(ABI_CUPTI_KIND_OVERHEAD);
}

void cuda_overhead_tell(struct guest_thread *thread, const struct cupti_overhead *told)
{
	struct moment now = read_clocks();
	uint32_t track;
	enum loaded what;
	switch (told->overhead) {
	case ABI_CUPTI_OVERHEAD_LAZY_LOADING:
		what = LOADED_KERNEL;
		break;
	case ABI_CUPTI_OVERHEAD_MODULE_LOADING:
		what = LOADED_MODULE;
		break;
	default:
		return;
	}
	if (told->object != ABI_CUPTI_OBJECT_THREAD || told->start < beginning.ns ||
	    told->end < told->start || told->end > now.ns)
		return;
	track = cuda_track_of(told->thread);
	if (track)
		write_within(thread, what, ticks_of(told->start, &now), ticks_of(told->end, &now),
		             track);
}

// By the thread that launches: from the beginning of the launch on, or from what was called within
// it before, nothing else was done.
void cuda_module_loaded(struct guest_thread *thread)
{
	const struct cuda_thread *mine = cuda_of(thread);
	uint64_t enter = mine->shared.defining_ticks;
	if (!enter || !mine->launches)
		return;
	if (thread->left_ticks > enter)
		enter = thread->left_ticks;
	write_within(thread, LOADED_MODULE, enter, guest_ticks(), thread->track);
	thread->left_ticks = guest_ticks();
}
