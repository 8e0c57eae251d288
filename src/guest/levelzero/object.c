// SPDX-License-Identifier: Apache-2.0
// What is kept of threads, and the definitions that are written.
#include "guest/levelzero/ze.h"

_Atomic uint32_t ze_defined[ZE_FUNCTIONS];

// The lists of a fork's child are the parent's: see `process`.
void ze_in_child(void)
{
	struct ze_thread *mine;
	ze_count_in_child();
	ze_bench_in_child();
	GUEST_API_THREADS(mine, TARE_TRACE_LEVELZERO)
	mine->arena.taken = false;
}

void ze_define_function(uint32_t function, uint32_t process)
{
	if (atomic_exchange(&ze_defined[function], process) != process)
		guest_define_function(TARE_TRACE_LEVELZERO, function, ze_rows[function].name,
		                      ze_rows[function].role);
}

// ---- memory for objects that come and go

void *ze_take(struct ze_spares *spares, size_t bytes)
{
	guest_hold(&spares->lock);
	void **object = spares->first;
	if (object != NULL)
		spares->first = *object;
	guest_let_go(&spares->lock);
	if (object == NULL) {
		// A page's worth at a time.
		size_t part = bytes < 4096 ? 4096 / bytes : 1;
		char *memory = guest_memory(part * bytes);
		for (size_t i = 1; memory != NULL && i < part; i++)
			ze_give(spares, memory + i * bytes);
		return memory;
	}
	__builtin_memset((char *)object + spares->kept, 0, bytes - spares->kept);
	return object;
}

void ze_give(struct ze_spares *spares, void *object)
{
	guest_hold(&spares->lock);
	*(void **)object = spares->first;
	spares->first = object;
	guest_let_go(&spares->lock);
}

bool ze_objects_begin(void)
{
	return ze_events_begin() && ze_lists_begin() && ze_modules_begin() && ze_images_begin();
}
