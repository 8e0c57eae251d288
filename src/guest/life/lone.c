// SPDX-License-Identifier: Apache-2.0
// A process with one thread. The C library spares it what only a second thread makes necessary, bus
// locks above all, and a driver may take twenty mutexes for a command: the helper, however idle,
// would cost such a program more than all that is recorded. So there is none, and what it would do
// the program's own thread does, a little at a time, at its calls. When the C library says that
// there is another thread, whoever's, the helper is started.
#include "guest/internal.h"

#include <errno.h>

enum {
	MS = 1000000,
	SAMPLE_NS = 10 * MS,
	FIRST_PAIRS_NS = 10 * MS,
	MOST_PAIRS_NS = 1000 * MS,
};

// Of the process's only thread. A signal handler of the program that comes meanwhile finds `at_it`.
static _Atomic bool at_it;
static uint64_t next_sample, next_pairs, pairs_ticks; // host ticks

bool guest_lone_begin(void)
{
	// Who waits for a moment of the clock must not depend on the program's calls.
	bool lone = guest_alone() && !guest_options.delay_ns && !guest_options.duration_ns;
	uint64_t now = guest_ticks();
	next_sample = now + guest_ticks_of_ns(SAMPLE_NS);
	pairs_ticks = guest_ticks_of_ns(FIRST_PAIRS_NS);
	next_pairs = now + pairs_ticks;
	atomic_store(&at_it, false);
	atomic_store(&guest_lone, lone);
	return lone;
}

void guest_lone_forget(void)
{
	atomic_store(&guest_lone, false);
	atomic_store(&at_it, false);
}

// Both the program's first thread and its second may be the one to see that there are two.
static void start_helper(void)
{
	struct guest_quiet quiet;
	guest_quiet_enter(&quiet);
	if (atomic_exchange(&guest_lone, false))
		guest_helper_start();
	guest_quiet_leave(&quiet);
}

static void pairs(struct guest_thread *thread, uint64_t now)
{
	uint64_t most = guest_ticks_of_ns(MOST_PAIRS_NS);
	guest_clock_pairs(thread);
	pairs_ticks = pairs_ticks * 2 < most ? pairs_ticks * 2 : most;
	next_pairs = now + pairs_ticks;
}

static void go_round(struct guest_thread *thread, uint32_t depth)
{
	uint64_t now = guest_ticks();
	__atomic_store_n(&guest_header->alive_ticks, now, __ATOMIC_RELAXED);
	if (now >= next_sample) {
		next_sample = now + guest_ticks_of_ns(SAMPLE_NS);
		guest_sample(thread, true);
		if (thread->depth <= depth)
			guest_api_harvest(thread);
	}
	if (now >= next_pairs)
		pairs(thread, now);
}

void guest_lone_round(struct guest_thread *thread, uint32_t depth)
{
	int error = errno;
	// What a recorder calibrates on is nobody's state: it does not know what this thread is
	// inside of.
	if (thread != guest_this || !atomic_load(&guest_alive) || atomic_exchange(&at_it, true))
		return;
	if (guest_alone())
		go_round(thread, depth);
	else
		start_helper();
	atomic_store(&at_it, false);
	errno = error;
}
