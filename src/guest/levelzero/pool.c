// SPDX-License-Identifier: Apache-2.0
// The recorder's own events: made some hundreds at a time, used again when they were read.
#include "guest/levelzero/ze.h"

#include <string.h>

enum { EVENTS_A_POOL = 256, MOST_EVENTS = 1 << 20, MOST_POOLS = MOST_EVENTS / EVENTS_A_POOL };

struct ze_own_events {
	struct ze_own_events *following;
	const struct ze_driver *driver;
	ze_context_handle_t context;
	_Atomic bool ended; // the context was destroyed
	guest_lock lock;
	ze_event_handle_t *free; // room for all that were made
	uint32_t free_count, room, made;
	ze_event_pool_handle_t *pools;
	uint32_t pool_count;
	union slot {
		ze_kernel_timestamp_result_t stamps;
		union slot *following;
	} *slots; // free ones
};
static struct ze_own_events *_Atomic all;

struct ze_own_events *ze_own_events_of(const struct ze_driver *driver, ze_context_handle_t context)
{
	for (struct ze_own_events *own = atomic_load(&all); own != NULL; own = own->following)
		if (own->context == context && own->driver == driver && !atomic_load(&own->ended))
			return own;
	struct ze_own_events *own = guest_memory(sizeof *own);
	if (own == NULL)
		return NULL;
	own->driver = driver;
	own->context = context;
	guest_lock_register(&own->lock);
	own->following = atomic_load(&all);
	while (!atomic_compare_exchange_weak(&all, &own->following, own))
		;
	return own;
}

static ze_event_handle_t pop(struct ze_own_events *own)
{
	guest_hold(&own->lock);
	ze_event_handle_t event = own->free_count != 0 ? own->free[--own->free_count] : NULL;
	guest_let_go(&own->lock);
	return event;
}

// Room for `count` more, with the lock held.
static bool make_room(struct ze_own_events *own, uint32_t count)
{
	if (own->pools == NULL)
		own->pools = guest_memory(MOST_POOLS * sizeof *own->pools);
	if (own->pools == NULL || own->pool_count == MOST_POOLS)
		return false;
	if (own->made + count <= own->room)
		return true;
	uint32_t room = own->room != 0 ? own->room * 2 : EVENTS_A_POOL;
	ze_event_handle_t *larger =
	    room <= MOST_EVENTS ? guest_memory(room * sizeof(*larger)) : NULL;
	if (larger == NULL)
		return false;
	if (own->free_count != 0)
		memcpy(larger, own->free, own->free_count * sizeof(*larger));
	own->free = larger;
	own->room = room;
	return true;
}

static uint32_t make_own_events(const struct ze_own_events *own, ze_event_pool_handle_t *pool,
                                ze_event_handle_t events[EVENTS_A_POOL])
{
	const ze_event_pool_desc_t desc = { .stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
		                            .flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE |
		                                     ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP,
		                            .count = EVENTS_A_POOL };
	uint32_t made = 0;
	if (own->driver->call.zeEventPoolCreate(own->context, &desc, 0, NULL, pool) !=
	    ZE_RESULT_SUCCESS)
		return 0;
	for (; made < EVENTS_A_POOL; made++) {
		const ze_event_desc_t event = { .stype = ZE_STRUCTURE_TYPE_EVENT_DESC,
			                        .index = made,
			                        .signal = ZE_EVENT_SCOPE_FLAG_HOST,
			                        .wait = 0 };
		if (own->driver->call.zeEventCreate(*pool, &event, &events[made]) !=
		    ZE_RESULT_SUCCESS)
			break;
	}
	return made;
}

ze_event_handle_t ze_own_take(struct ze_own_events *own)
{
	ze_event_handle_t event = own != NULL ? pop(own) : NULL, events[EVENTS_A_POOL];
	ze_event_pool_handle_t pool;
	if (event != NULL || own == NULL)
		return event;
	guest_hold(&own->lock);
	bool room = make_room(own, EVENTS_A_POOL);
	own->made += room ? EVENTS_A_POOL : 0;
	guest_let_go(&own->lock);
	uint32_t made = room ? make_own_events(own, &pool, events) : 0;
	if (made == 0)
		return NULL;
	guest_hold(&own->lock);
	own->pools[own->pool_count++] = pool;
	for (uint32_t i = 1; i < made; i++)
		own->free[own->free_count++] = events[i];
	guest_let_go(&own->lock);
	return events[0];
}

void ze_own_give(struct ze_own_events *own, ze_event_handle_t event)
{
	if (own->driver->call.zeEventHostReset(event) != ZE_RESULT_SUCCESS)
		return;
	guest_hold(&own->lock);
	own->free[own->free_count++] = event;
	guest_let_go(&own->lock);
}

ze_kernel_timestamp_result_t *ze_slot_take(struct ze_own_events *own)
{
	enum { SLOTS_AT_A_TIME = 128 };
	const ze_host_mem_alloc_desc_t desc = { .stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC };
	void *made = NULL;
	if (own == NULL)
		return NULL;
	guest_hold(&own->lock);
	union slot *slot = own->slots;
	if (slot != NULL)
		own->slots = slot->following;
	guest_let_go(&own->lock);
	if (slot == NULL &&
	    own->driver->call.zeMemAllocHost(own->context, &desc, SLOTS_AT_A_TIME * sizeof *slot,
	                                     64, &made) == ZE_RESULT_SUCCESS) {
		slot = made;
		for (int i = 1; i < SLOTS_AT_A_TIME; i++)
			ze_slot_give(own, &slot[i].stamps);
	}
	return slot != NULL ? &slot->stamps : NULL;
}

void ze_slot_give(struct ze_own_events *own, ze_kernel_timestamp_result_t *stamps)
{
	union slot *slot = (union slot *)stamps;
	guest_hold(&own->lock);
	slot->following = own->slots;
	own->slots = slot;
	guest_let_go(&own->lock);
}

// A context goes: ours in it go before it, unless some are still at work.
void ze_own_end(const struct ze_driver *driver, ze_context_handle_t context)
{
	for (struct ze_own_events *own = atomic_load(&all); own != NULL; own = own->following) {
		if (own->context != context || own->driver != driver ||
		    atomic_exchange(&own->ended, true) || own->free_count != own->made)
			continue;
		for (uint32_t i = 0; i < own->free_count; i++)
			driver->call.zeEventDestroy(own->free[i]);
		for (uint32_t i = 0; i < own->pool_count; i++)
			driver->call.zeEventPoolDestroy(own->pools[i]);
		own->free_count = own->pool_count = own->made = 0;
	}
}
