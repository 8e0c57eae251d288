// SPDX-License-Identifier: Apache-2.0
// The end of the process, in two steps. At exit(), while the vendor's library may be torn down any
// moment, nothing of the vendor's is called any more and the file is marked as ended; what the
// program's other handlers still call is recorded. When the last library is finished, the end is
// moved there. _exit, quick_exit and SIGKILL run neither: readers go by alive_ticks.
#include "guest/internal.h"

#include <stdlib.h>
#include <time.h>

static void mark_end(struct guest_thread *thread)
{
	uint64_t now = guest_ticks();
	uint32_t recording = TARE_TRACE_RECORDING;
	guest_sample(thread, true);
	__atomic_store_n(&guest_header->alive_ticks, now, __ATOMIC_RELAXED);
	__atomic_store_n(&guest_header->end_ticks, now, __ATOMIC_RELAXED);
	// A recorder that gave up stays so: end_ticks tells that the process came to its exit.
	__atomic_compare_exchange_n(&guest_header->state, &recording, TARE_TRACE_ENDED, false,
	                            __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

static void at_exit(void)
{
	struct guest_thread *thread;
	struct guest_quiet quiet;
	uint64_t from_ns = guest_ns(CLOCK_MONOTONIC);
	if (atomic_load(&guest_life) != GUEST_RECORDING || !atomic_exchange(&guest_alive, false))
		return;
	guest_helper_leave_harvest();
	thread = guest_thread();
	guest_api_harvest(thread);
	guest_quiet_enter(&quiet);
	if (thread)
		guest_cpu_time_write(thread, guest_ticks());
	guest_clock_pairs(thread);
	guest_setup_took(from_ns);
	mark_end(thread);
	guest_quiet_leave(&quiet);
}

__attribute__((destructor)) static void at_last(void)
{
	struct guest_quiet quiet;
	if (atomic_load(&guest_life) != GUEST_RECORDING)
		return;
	at_exit();
	guest_quiet_enter(&quiet);
	mark_end(NULL);
	atomic_store(&guest_life, GUEST_OVER);
	atomic_fetch_add(&guest_process, 1); // guest_thread is NULL from now on
	guest_quiet_leave(&quiet);
}

void guest_end_register(void)
{
	atexit(at_exit); // the first one to run does it
}
