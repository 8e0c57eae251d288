// SPDX-License-Identifier: Apache-2.0
// Points and slots (see ze_cpu.h), and the events that count: each signal of theirs is another
// point.
#include "run/run.h"

#include <stdlib.h>

#define COUNTER_FLAGS UINT32_C(0x7f)

struct cpu_point *cpu_point_new(void)
{
	struct cpu_point *point = calloc(1, sizeof *point);

	if (point)
		point->references = 1;
	return point;
}

struct cpu_point *cpu_point_retain(struct cpu_point *point)
{
	__atomic_add_fetch(&point->references, 1, __ATOMIC_RELAXED);
	return point;
}

void cpu_point_release(struct cpu_point *point)
{
	if (point && __atomic_sub_fetch(&point->references, 1, __ATOMIC_ACQ_REL) == 0)
		free(point);
}

struct cpu_slot *cpu_slot_new(bool counts)
{
	struct cpu_slot *slot = calloc(1, sizeof *slot);

	if (!slot)
		return NULL;
	slot->point = cpu_point_new();
	if (!slot->point) {
		free(slot);
		return NULL;
	}
	slot->references = 1;
	slot->counts = counts;
	return slot;
}

struct cpu_slot *cpu_slot_retain(struct cpu_slot *slot)
{
	__atomic_add_fetch(&slot->references, 1, __ATOMIC_RELAXED);
	return slot;
}

void cpu_slot_release(struct cpu_slot *slot)
{
	if (!slot || __atomic_sub_fetch(&slot->references, 1, __ATOMIC_ACQ_REL) != 0)
		return;
	cpu_point_release(slot->point);
	free(slot);
}

struct cpu_slot *cpu_event_slot(ze_event_handle_t event)
{
	struct cpu_slot *slot;

	if (!event->counting)
		return cpu_slot_retain(event->slot);
	pthread_mutex_lock(&work_lock);
	slot = cpu_slot_retain(event->slot);
	pthread_mutex_unlock(&work_lock);
	return slot;
}

void cpu_command_count(struct command *command)
{
	ze_event_handle_t event = command->counter;

	if (!event)
		return;
	cpu_slot_release(event->slot);
	event->slot = cpu_slot_retain(command->signal);
}

ze_event_handle_t cpu_event_new(ze_event_pool_flags_t flags, uint32_t counting)
{
	ze_event_handle_t event = calloc(1, sizeof *event);
	struct cpu_point *point;

	if (!event)
		return NULL;
	event->slot = cpu_slot_new(counting != 0);
	if (!event->slot) {
		free(event);
		return NULL;
	}
	event->flags = flags;
	event->counting = counting;
	event->references = event->handles = 1;
	point = event->slot->point;
	point->real = point->modelled = counting != 0;
	if (counting) {
		point->stamp.start_ns = point->stamp.end_ns = tare_host_now().ns;
		point->stamp.start_ps = point->stamp.end_ps = point->stamp.leave_ps =
		    scripted_now_ps();
	}
	return event;
}

// What an event may have besides its flags: a way to wait for it, which is no matter here. Counters
// in the program's own memory there are none.
static ze_result_t check_extensions(const void *next)
{
	for (const ze_base_desc_t *at = next; at; at = at->pNext)
		if (at->stype != LEVELZERO_TYPE_SYNC_MODE &&
		    at->stype != LEVELZERO_TYPE_INTEL_SYNC_MODE)
			return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
	return ZE_RESULT_SUCCESS;
}

static ze_result_t check_description(const struct levelzero_counter_event *description)
{
	const uint32_t stamps = LEVELZERO_COUNTER_DEVICE_STAMPS | LEVELZERO_COUNTER_HOST_STAMPS;

	if (description->flags > COUNTER_FLAGS || description->signal > 7 || description->wait > 7)
		return ZE_RESULT_ERROR_INVALID_ENUMERATION;
	if ((description->flags & stamps) == stamps)
		return ZE_RESULT_ERROR_INVALID_ARGUMENT;
	if ((description->flags & LEVELZERO_COUNTER_IPC) != 0)
		return (description->flags & stamps) != 0 ? ZE_RESULT_ERROR_INVALID_ARGUMENT
		                                          : ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
	return check_extensions(description->pNext);
}

levelzero_create_counter_event cpu_zeEventCounterBasedCreate, cpu_zexCounterBasedEventCreate2;
levelzero_get_counter_flags cpu_zeEventGetCounterBasedFlags;

ze_result_t cpu_zeEventCounterBasedCreate(ze_context_handle_t context, ze_device_handle_t device,
                                          const struct levelzero_counter_event *description,
                                          ze_event_handle_t *made)
{
	ze_event_pool_flags_t flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE;
	ze_event_handle_t event;
	uint32_t counting;
	ze_result_t result;

	if (!context || !device)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (!description || !made)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	result = check_description(description);
	if (result != ZE_RESULT_SUCCESS)
		return result;
	counting = description->flags;
	if ((counting & (LEVELZERO_COUNTER_IMMEDIATE | LEVELZERO_COUNTER_REGULAR)) == 0)
		counting |= LEVELZERO_COUNTER_IMMEDIATE;
	if ((counting & LEVELZERO_COUNTER_DEVICE_STAMPS) != 0)
		flags |= ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP;
	if ((counting & LEVELZERO_COUNTER_HOST_STAMPS) != 0)
		flags |= LEVELZERO_EVENT_POOL_MAPPED_TIMESTAMP;
	pthread_mutex_lock(&work_lock);
	event = cpu_event_new(flags, counting);
	pthread_mutex_unlock(&work_lock);
	if (!event)
		return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
	event->signal_scope = description->signal;
	event->wait_scope = description->wait;
	*made = event;
	return ZE_RESULT_SUCCESS;
}

// Without a description it is for both kinds of lists, as Intel's driver has it.
ze_result_t cpu_zexCounterBasedEventCreate2(ze_context_handle_t context, ze_device_handle_t device,
                                            const struct levelzero_counter_event *description,
                                            ze_event_handle_t *made)
{
	static const struct levelzero_counter_event usual = {
		.flags = LEVELZERO_COUNTER_IMMEDIATE | LEVELZERO_COUNTER_REGULAR |
		         LEVELZERO_COUNTER_HOST_VISIBLE,
		.signal = ZE_EVENT_SCOPE_FLAG_HOST,
		.wait = ZE_EVENT_SCOPE_FLAG_DEVICE,
	};

	return cpu_zeEventCounterBasedCreate(context, device, description ? description : &usual,
	                                     made);
}

ze_result_t cpu_zeEventGetCounterBasedFlags(ze_event_handle_t event, uint32_t *flags)
{
	if (!event)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (!flags)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	*flags = event->counting;
	return ZE_RESULT_SUCCESS;
}
