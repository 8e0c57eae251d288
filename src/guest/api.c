// SPDX-License-Identifier: Apache-2.0
// The APIs that are recorded in this process.
#include "guest/api.h"

#include "guest/internal.h"

static _Atomic(const struct guest_api *) begun[TARE_TRACE_API_COUNT];
static _Atomic uint64_t bits;
static _Atomic uint32_t first;
static struct guest_api_thread *_Atomic threads[TARE_TRACE_API_COUNT];

bool guest_api_thread_make(struct guest_thread *thread, enum tare_trace_api api, size_t bytes)
{
	struct guest_api_thread *mine = guest_memory(bytes);
	if (!mine)
		return false;
	// Known to all before it is the thread's: the child of a fork in between would count
	// nothing.
	mine->following = atomic_load(&threads[api]);
	while (!atomic_compare_exchange_weak(&threads[api], &mine->following, mine))
		;
	// A signal handler may have been here before us.
	if (!thread->api[api])
		thread->api[api] = mine;
	return true;
}

struct guest_api_thread *guest_api_threads(enum tare_trace_api api)
{
	return atomic_load(&threads[api]);
}

static uint64_t calls_of(const struct guest_api *api)
{
	uint64_t sum = 0;
	if (api->calls)
		return api->calls();
	for (const struct guest_api_thread *mine = guest_api_threads(api->api); mine;
	     mine = mine->following)
		sum += atomic_load_explicit(&mine->calls, memory_order_relaxed);
	return sum;
}

bool guest_api_add(const struct guest_api *api)
{
	uint32_t none = TARE_TRACE_NO_API;
	if (!api || atomic_load(&begun[api->api]))
		return false;
	atomic_store(&begun[api->api], api);
	atomic_compare_exchange_strong(&first, &none, api->api);
	atomic_fetch_or(&bits, UINT64_C(1) << api->api);
	return true;
}

void guest_api_tell(struct tare_trace_header *header)
{
	__atomic_store_n(&header->api, atomic_load(&first), __ATOMIC_RELAXED);
	__atomic_store_n(&header->apis, atomic_load(&bits), __ATOMIC_RELAXED);
}

void guest_api_harvest(struct guest_thread *thread)
{
	uint64_t calls = 0;
	for (uint32_t i = 0; i < TARE_TRACE_API_COUNT; i++) {
		const struct guest_api *api = atomic_load(&begun[i]);
		uint32_t before;
		if (!api)
			continue;
		before = guest_aside_begin(thread, api->api);
		api->harvest();
		guest_aside_end(thread, before);
		calls += calls_of(api);
	}
	__atomic_store_n(&guest_header->calls_seen, calls, __ATOMIC_RELAXED);
}

void guest_api_in_child(void)
{
	for (uint32_t i = 0; i < TARE_TRACE_API_COUNT; i++) {
		const struct guest_api *api = atomic_load(&begun[i]);
		for (struct guest_api_thread *mine = atomic_load(&threads[i]); mine;
		     mine = mine->following)
			atomic_store(&mine->calls, 0);
		if (api && api->in_child)
			api->in_child();
	}
}
