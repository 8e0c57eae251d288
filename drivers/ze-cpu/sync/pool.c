// SPDX-License-Identifier: Apache-2.0
// Event pools, also opened a second time through a handle for other processes: of this one only.
#include "run/run.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Host visible, IPC, kernel timestamps, and mapped ones since 1.6.
#define POOL_FLAGS UINT32_C(0xf)

static void pool_release(ze_event_pool_handle_t pool)
{
	if (__atomic_sub_fetch(&pool->references, 1, __ATOMIC_ACQ_REL) != 0)
		return;
	if (pool->of)
		pool_release(pool->of);
	free(pool->events);
	free(pool);
}

static ze_result_t check_flags(ze_event_pool_flags_t flags)
{
	bool both = (flags & ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP) != 0 &&
	            (flags & LEVELZERO_EVENT_POOL_MAPPED_TIMESTAMP) != 0;

	if (flags > POOL_FLAGS)
		return ZE_RESULT_ERROR_INVALID_ENUMERATION;
	return both ? ZE_RESULT_ERROR_INVALID_ARGUMENT : ZE_RESULT_SUCCESS;
}

// Whether events of the pool count, and in which lists. 0: they are regular.
static ze_result_t read_counting(const ze_event_pool_desc_t *description, uint32_t *counting)
{
	*counting = 0;
	for (const ze_base_desc_t *at = description->pNext; at; at = at->pNext)
		if (at->stype == LEVELZERO_TYPE_COUNTER_POOL) {
			*counting = ((const struct levelzero_counter_pool *)at)->flags;
			if (*counting > (LEVELZERO_COUNTER_IMMEDIATE | LEVELZERO_COUNTER_REGULAR))
				return ZE_RESULT_ERROR_INVALID_ENUMERATION;
			if (*counting == 0)
				*counting = LEVELZERO_COUNTER_IMMEDIATE;
		}
	// Another process could not see what they stand for.
	return *counting && (description->flags & ZE_EVENT_POOL_FLAG_IPC) != 0
	           ? ZE_RESULT_ERROR_UNSUPPORTED_FEATURE
	           : ZE_RESULT_SUCCESS;
}

ze_result_t cpu_zeEventPoolCreate(ze_context_handle_t context,
                                  const ze_event_pool_desc_t *description, uint32_t device_count,
                                  ze_device_handle_t *devices, ze_event_pool_handle_t *made)
{
	ze_event_pool_handle_t pool;
	uint32_t counting;
	ze_result_t result;

	if (!context)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (!description || !made)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	if (description->count == 0 || (!devices && device_count > 0))
		return ZE_RESULT_ERROR_INVALID_SIZE;
	result = check_flags(description->flags);
	if (result == ZE_RESULT_SUCCESS)
		result = read_counting(description, &counting);
	if (result != ZE_RESULT_SUCCESS)
		return result;
	pool = calloc(1, sizeof *pool);
	if (!pool)
		return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
	pool->events = calloc(description->count, sizeof(ze_event_handle_t));
	if (!pool->events) {
		free(pool);
		return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
	}
	pool->context = context;
	pool->flags = description->flags;
	pool->count = description->count;
	pool->counting = counting;
	pool->references = 1;
	*made = pool;
	return ZE_RESULT_SUCCESS;
}

ze_result_t cpu_zeEventPoolDestroy(ze_event_pool_handle_t pool)
{
	if (!pool)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	pool_release(pool);
	return ZE_RESULT_SUCCESS;
}

// What an IPC handle holds: it is good in the process that made it.
struct pool_ticket {
	char word[8];
	int64_t process;
	ze_event_pool_handle_t pool;
};
static const char ticket_word[8] = "ze-cpu";

ze_result_t cpu_zeEventPoolGetIpcHandle(ze_event_pool_handle_t pool,
                                        ze_ipc_event_pool_handle_t *handle)
{
	struct pool_ticket ticket;

	if (!pool)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (!handle)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	if ((pool->flags & ZE_EVENT_POOL_FLAG_IPC) == 0)
		return ZE_RESULT_ERROR_INVALID_ARGUMENT;
	memcpy(ticket.word, ticket_word, sizeof ticket.word);
	ticket.process = getpid();
	ticket.pool = pool->of ? pool->of : pool;
	memset(handle, 0, sizeof *handle);
	memcpy(handle, &ticket, sizeof ticket);
	return ZE_RESULT_SUCCESS;
}

ze_result_t cpu_zeEventPoolOpenIpcHandle(ze_context_handle_t context,
                                         ze_ipc_event_pool_handle_t handle,
                                         ze_event_pool_handle_t *opened)
{
	struct pool_ticket ticket;
	ze_event_pool_handle_t pool;

	if (!context)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (!opened)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	memcpy(&ticket, &handle, sizeof ticket);
	if (memcmp(ticket.word, ticket_word, sizeof ticket.word) != 0)
		return ZE_RESULT_ERROR_INVALID_ARGUMENT;
	if (ticket.process != getpid())
		return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
	pool = calloc(1, sizeof *pool);
	if (!pool)
		return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
	pool->context = context;
	pool->flags = ticket.pool->flags;
	pool->count = ticket.pool->count;
	pool->references = 1;
	pool->of = ticket.pool;
	__atomic_add_fetch(&pool->of->references, 1, __ATOMIC_RELAXED);
	*opened = pool;
	return ZE_RESULT_SUCCESS;
}

ze_result_t cpu_zeEventPoolCloseIpcHandle(ze_event_pool_handle_t pool)
{
	return cpu_zeEventPoolDestroy(pool);
}

static ze_event_handle_t event_new(ze_event_pool_handle_t pool, const ze_event_desc_t *description)
{
	ze_event_handle_t event = cpu_event_new(pool->flags, pool->counting);

	if (!event)
		return NULL;
	event->pool = pool;
	event->index = description->index;
	event->signal_scope = description->signal;
	event->wait_scope = description->wait;
	__atomic_add_fetch(&pool->references, 1, __ATOMIC_RELAXED);
	return event;
}

// From a pool that was opened by IPC it is the event that the pool has at the index, if it has one.
// Otherwise it is a new one, also where the index is in use.
ze_result_t cpu_zeEventCreate(ze_event_pool_handle_t pool, const ze_event_desc_t *description,
                              ze_event_handle_t *made)
{
	ze_event_handle_t event = NULL;

	if (!pool)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (!description || !made)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	if (description->signal > 7 || description->wait > 7)
		return ZE_RESULT_ERROR_INVALID_ENUMERATION;
	if (description->index >= pool->count)
		return ZE_RESULT_ERROR_INVALID_ARGUMENT;
	pthread_mutex_lock(&work_lock);
	if (pool->of) {
		pool = pool->of;
		event = pool->events[description->index];
		if (event)
			event->handles++;
	}
	if (!event)
		event = event_new(pool, description);
	if (event)
		*made = pool->events[event->index] = event;
	pthread_mutex_unlock(&work_lock);
	return event ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
}

ze_result_t cpu_zeEventDestroy(ze_event_handle_t event)
{
	bool last;

	if (!event)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	pthread_mutex_lock(&work_lock);
	last = --event->handles == 0;
	if (last && event->pool && event->pool->events[event->index] == event)
		event->pool->events[event->index] = NULL;
	pthread_mutex_unlock(&work_lock);
	if (last)
		cpu_event_release(event);
	return ZE_RESULT_SUCCESS;
}

void cpu_event_retain(ze_event_handle_t event)
{
	__atomic_add_fetch(&event->references, 1, __ATOMIC_RELAXED);
}

void cpu_event_release(ze_event_handle_t event)
{
	if (__atomic_sub_fetch(&event->references, 1, __ATOMIC_ACQ_REL) != 0)
		return;
	if (event->pool)
		pool_release(event->pool);
	cpu_slot_release(event->slot);
	free(event);
}
