// SPDX-License-Identifier: Apache-2.0
// What is kept of threads, and the definitions that are written.
#include "guest/levelzero/ze.h"

_Atomic uint32_t ze_defined[ZE_FUNCTIONS];
static struct ze_thread *_Atomic all_threads;

bool ze_thread_make(struct guest_thread *thread)
{
	struct ze_thread *mine = guest_memory(sizeof *mine);
	if (mine == NULL)
		return false;
	mine->following = atomic_load(&all_threads);
	while (!atomic_compare_exchange_weak(&all_threads, &mine->following, mine))
		;
	// A signal handler may have been here before us.
	if (ze_of(thread) == NULL)
		thread->api[TARE_TRACE_LEVELZERO] = mine;
	return true;
}

uint64_t ze_calls_seen(void)
{
	uint64_t sum = 0;
	for (struct ze_thread *mine = atomic_load(&all_threads); mine != NULL;
	     mine = mine->following)
		sum += atomic_load_explicit(&mine->calls, memory_order_relaxed);
	return sum;
}

// The child of a fork counts its own calls. Its lists are the parent's: see `process`.
void ze_in_child(void)
{
	ze_count_in_child();
	for (struct ze_thread *mine = atomic_load(&all_threads); mine != NULL;
	     mine = mine->following) {
		atomic_store(&mine->calls, 0);
		mine->arena.taken = false;
	}
}

void ze_define_function(uint32_t function, uint32_t process)
{
	if (atomic_exchange(&ze_defined[function], process) != process)
		guest_define_function(TARE_TRACE_LEVELZERO, function, ze_rows[function].name,
		                      ze_rows[function].role);
}

// The exit of this thread's last call, or now.
static uint64_t definition_ticks(void)
{
	struct guest_thread *thread = guest_thread();
	struct ze_thread *mine = thread != NULL ? ze_of(thread) : NULL;
	return mine != NULL && mine->exit != 0 ? mine->exit : guest_ticks();
}

void ze_define(enum tare_trace_object_kind kind, const void *handle, const void *parent,
               const void *device, uint64_t properties, uint64_t bytes, uint32_t name,
               uint32_t number)
{
	union tare_trace_record record = { .object = { .head = guest_api_head(TARE_TRACE_LEVELZERO,
		                                                              TARE_TRACE_OBJECT,
		                                                              (uint16_t)kind),
		                                       .handle = (uintptr_t)handle,
		                                       .ticks = definition_ticks(),
		                                       .parent = (uintptr_t)parent,
		                                       .device = (uintptr_t)device,
		                                       .properties = properties,
		                                       .bytes = bytes,
		                                       .name = name,
		                                       .number = number } };
	guest_define(&record);
}

void ze_fact(enum tare_trace_fact fact, const void *object, uint64_t value, const void *device,
             uint32_t text)
{
	union tare_trace_record record = { .fact = { .head = guest_api_head(TARE_TRACE_LEVELZERO,
		                                                            TARE_TRACE_FACT,
		                                                            (uint16_t)fact),
		                                     .object = (uintptr_t)object,
		                                     .ticks = definition_ticks(),
		                                     .value = value,
		                                     .device = (uintptr_t)device,
		                                     .text = text } };
	guest_define(&record);
}

void ze_change(enum tare_trace_change change, const void *object, uint64_t from, uint64_t to)
{
	union tare_trace_record record = { .change = { .head = guest_api_head(TARE_TRACE_LEVELZERO,
		                                                              TARE_TRACE_CHANGE,
		                                                              (uint16_t)change),
		                                       .object = (uintptr_t)object,
		                                       .ticks = definition_ticks(),
		                                       .from = from,
		                                       .to = to } };
	guest_define(&record);
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
	__builtin_memset(object, 0, bytes);
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
