// SPDX-License-Identifier: Apache-2.0
// The APIs that are recorded in this process.
#include "guest/api.h"

#include "guest/internal.h"

static _Atomic(const struct guest_api *) begun[TARE_TRACE_API_COUNT];
static _Atomic uint64_t bits;
static _Atomic uint32_t first;

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
		calls += api->calls ? api->calls() : 0;
	}
	__atomic_store_n(&guest_header->calls_seen, calls, __ATOMIC_RELAXED);
}

void guest_api_in_child(void)
{
	for (uint32_t i = 0; i < TARE_TRACE_API_COUNT; i++) {
		const struct guest_api *api = atomic_load(&begun[i]);
		if (api && api->in_child)
			api->in_child();
	}
}
