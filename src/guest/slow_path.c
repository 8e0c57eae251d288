// SPDX-License-Identifier: Apache-2.0
// What a call of the program's does when its thread is not known yet, or something is due.
#include "guest/internal.h"

struct guest_thread *guest_thread_slow(void)
{
	struct guest_thread *thread = NULL;
	struct guest_quiet quiet;
	uint32_t life = atomic_load(&guest_life);
	if (life != GUEST_RECORDING && life != GUEST_FORKED)
		return NULL;
	guest_quiet_enter(&quiet);
	if (life == GUEST_RECORDING || guest_begin_child())
		thread = guest_thread_here();
	guest_quiet_leave(&quiet);
	// It may be the process's second.
	if (thread && atomic_load(&guest_lone))
		guest_lone_round(thread, 0);
	return thread;
}

void guest_cpu_time_slow(struct guest_thread *thread, uint64_t now)
{
	if (now - thread->cpu_read_ticks < guest_cpu_ticks)
		return;
	thread->cpu_read_ticks = now;
	guest_cpu_time_write(thread, now);
	if (atomic_load_explicit(&guest_lone, memory_order_relaxed))
		guest_lone_round(thread, 1);
}
