// SPDX-License-Identifier: Apache-2.0
// Native events: made in blocks, used again. A block is one pool; pools whose events carry kernel
// timestamps are apart, because some drivers spend more on those.
#include "backend/levelzero/work.h"

#include <errno.h>
#include <stdlib.h>

#define FIRST_BLOCK 64
#define LARGEST_BLOCK 4096

// Nothing that was appended up to the command `serial` can still wait.
static bool waits_are_over(const struct levelzero_work *work, uint64_t serial)
{
	for (const struct levelzero_queue *queue = work->queues; serial && queue;
	     queue = queue->next)
		if (queue->done < queue->last && queue->done < serial)
			return false;
	return true;
}

static void put(struct levelzero_slot **list, struct levelzero_slot *slot)
{
	slot->next = *list;
	*list = slot;
}

void levelzero_slot_give_unused(struct levelzero_device *device, struct levelzero_slot *slot)
{
	if (slot)
		put(&device->work->spare[slot->timed], slot);
}

// Makes a signalled event nobody waits for fresh again; false where it cannot be.
static bool renew(struct levelzero_device *device, struct levelzero_slot *slot)
{
	if (!waits_are_over(device->work, slot->waited) ||
	    device->driver->call.zeEventHostReset(slot->handle) != ZE_RESULT_SUCCESS)
		return false;
	slot->waited = 0;
	put(&device->work->spare[slot->timed], slot);
	return true;
}

void levelzero_slot_give(struct levelzero_device *device, struct levelzero_slot *slot, bool done)
{
	if (slot && !(done && renew(device, slot)))
		put(&device->work->limbo[slot->timed], slot);
}

// Looks which of those in limbo are done by now. Returns how many.
static uint32_t sweep(struct levelzero_device *device, bool timed)
{
	struct levelzero_slot *list = device->work->limbo[timed], *next;
	uint32_t found = 0;

	device->work->limbo[timed] = NULL;
	for (; list; list = next) {
		bool done =
		    device->driver->call.zeEventQueryStatus(list->handle) == ZE_RESULT_SUCCESS;
		next = list->next;
		if (done && renew(device, list))
			found++;
		else
			put(&device->work->limbo[timed], list);
	}
	return found;
}

static int fill_block(struct levelzero_device *device, struct levelzero_block *block, bool timed,
                      struct tare_error *error)
{
	const struct levelzero_functions *call = &device->driver->call;
	ze_event_pool_desc_t pool = {
		.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
		.flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE |
		         (timed ? (unsigned)ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP : 0u),
		.count = block->count,
	};
	ze_device_handle_t handle = device->place.device;
	ze_result_t result =
	    call->zeEventPoolCreate(device->context, &pool, 1, &handle, &block->handle);

	if (result != ZE_RESULT_SUCCESS) {
		block->handle = NULL;
		return levelzero_fail(result, "zeEventPoolCreate", error, "cannot make %u events%s",
		                      block->count, timed ? " with kernel timestamps" : "");
	}
	for (uint32_t i = 0; i < block->count; i++) {
		// The host reads results once an event is there, and opens gates by events: both
		// need the widest scope.
		ze_event_desc_t event = {
			.stype = ZE_STRUCTURE_TYPE_EVENT_DESC,
			.index = i,
			.signal = ZE_EVENT_SCOPE_FLAG_HOST,
			.wait = ZE_EVENT_SCOPE_FLAG_HOST,
		};
		block->slots[i].timed = timed;
		result = call->zeEventCreate(block->handle, &event, &block->slots[i].handle);
		if (result != ZE_RESULT_SUCCESS) {
			block->slots[i].handle = NULL;
			return levelzero_fail(result, "zeEventCreate", error,
			                      "cannot make an event");
		}
	}
	return 0;
}

static void free_block(struct levelzero_device *device, struct levelzero_block *block)
{
	const struct levelzero_functions *call = &device->driver->call;

	for (uint32_t i = 0; i < block->count; i++)
		if (block->slots[i].handle)
			call->zeEventDestroy(block->slots[i].handle);
	if (block->handle)
		call->zeEventPoolDestroy(block->handle);
	free(block->slots);
	free(block);
}

static int grow(struct levelzero_device *device, bool timed, struct tare_error *error)
{
	struct levelzero_work *work = device->work;
	struct levelzero_block *block = calloc(1, sizeof *block);
	uint32_t before = work->block_events[timed];
	int status;

	if (!block)
		return tare_fail(error, ENOMEM, "out of memory");
	block->count = before == 0 ? FIRST_BLOCK : before < LARGEST_BLOCK ? 2 * before : before;
	block->slots = calloc(block->count, sizeof *block->slots);
	if (!block->slots) {
		free(block);
		return tare_fail(error, ENOMEM, "out of memory");
	}
	status = fill_block(device, block, timed, error);
	if (status < 0) {
		free_block(device, block);
		return status;
	}
	work->block_events[timed] = block->count;
	block->next = work->blocks;
	work->blocks = block;
	for (uint32_t i = block->count; i-- > 0;)
		put(&work->spare[timed], &block->slots[i]);
	return 0;
}

int levelzero_slot_take(struct levelzero_device *device, bool timed, struct levelzero_slot **slot,
                        struct tare_error *error)
{
	struct levelzero_slot **spare = &device->work->spare[timed];

	// A sweep that finds few would have to be made again soon: better more events.
	if (!*spare && sweep(device, timed) < FIRST_BLOCK / 2) {
		struct tare_error why = { 0 };
		int status = grow(device, timed, &why);
		if (status < 0 && !*spare) {
			if (error)
				*error = why;
			return status;
		}
	}
	*slot = *spare;
	*spare = (*slot)->next;
	(*slot)->next = NULL;
	return 0;
}

void levelzero_pools_close(struct levelzero_device *device)
{
	while (device->work->blocks) {
		struct levelzero_block *block = device->work->blocks;
		device->work->blocks = block->next;
		free_block(device, block);
	}
}
