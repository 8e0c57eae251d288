// SPDX-License-Identifier: Apache-2.0
// What the host does with events: signals, resets, waits, and reads their stamps.
#include "run/run.h"

ze_result_t cpu_zeEventHostSignal(ze_event_handle_t event)
{
	struct cpu_point *point;

	if (!event)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (event->counting)
		return ZE_RESULT_ERROR_INVALID_ARGUMENT;
	point = event->slot->point;
	pthread_mutex_lock(&work_lock);
	point->real = true;
	point->failed = false;
	point->stamp.known = false;
	point->stamp.start_ns = point->stamp.end_ns = tare_host_now().ns;
	if (cpu_device.scripted)
		scripted_host_signal(point);
	else
		point->modelled = true;
	cpu_pump_wake();
	cpu_changed_in_model();
	pthread_mutex_unlock(&work_lock);
	return ZE_RESULT_SUCCESS;
}

ze_result_t cpu_zeEventHostReset(ze_event_handle_t event)
{
	struct cpu_point *point;

	if (!event)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (event->counting)
		return ZE_RESULT_ERROR_INVALID_ARGUMENT;
	point = event->slot->point;
	pthread_mutex_lock(&work_lock);
	point->real = point->failed = false;
	if (cpu_device.scripted)
		scripted_host_reset(point);
	else
		point->modelled = false;
	// An urgent queue may want its engine no longer.
	cpu_changed();
	pthread_mutex_unlock(&work_lock);
	return ZE_RESULT_SUCCESS;
}

static bool reached(void *context)
{
	return cpu_point_reached(context);
}

// Waits for the event's point of this moment; with work_lock, which lets go of it meanwhile.
// Another thread may destroy the event then, or have it signalled by something else.
static ze_result_t wait_for(ze_event_handle_t event, uint64_t timeout_ns, struct cpu_stamp *stamp)
{
	struct cpu_point *point = cpu_point_retain(event->slot->point);
	ze_result_t result = cpu_wait(reached, point, timeout_ns);

	if (result == ZE_RESULT_SUCCESS && point->failed)
		result = ZE_RESULT_ERROR_DEVICE_LOST;
	*stamp = point->stamp;
	cpu_point_release(point);
	return result;
}

ze_result_t cpu_zeEventHostSynchronize(ze_event_handle_t event, uint64_t timeout_ns)
{
	struct cpu_stamp stamp;
	ze_result_t result;

	if (!event)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	// Also while this thread waits for the lock.
	cpu_event_retain(event);
	pthread_mutex_lock(&work_lock);
	result = wait_for(event, timeout_ns, &stamp);
	pthread_mutex_unlock(&work_lock);
	cpu_event_release(event);
	return result;
}

ze_result_t cpu_zeEventQueryStatus(ze_event_handle_t event)
{
	return cpu_zeEventHostSynchronize(event, 0);
}

void cpu_stamp_host_ns(const struct cpu_stamp *stamp, int64_t *start_ns, int64_t *end_ns)
{
	*start_ns = stamp->start_ns;
	*end_ns = stamp->end_ns;
	if (cpu_device.scripted) {
		*start_ns = cpu_device.started.ns + stamp->start_ps / 1000;
		*end_ns = cpu_device.started.ns + stamp->end_ps / 1000;
	}
}

// Of an event that is not signalled a list reads what GPU drivers reset it to.
void cpu_stamp_ticks(const struct cpu_stamp *stamp, ze_kernel_timestamp_result_t *result)
{
	if (stamp->none) {
		result->global.kernelStart = result->global.kernelEnd = UINT32_MAX;
		result->context = result->global;
		return;
	}
	if (!cpu_device.scripted) {
		result->global.kernelStart = cpu_kernel_ticks(stamp->start_ns);
		result->global.kernelEnd = cpu_kernel_ticks(stamp->end_ns);
		result->context = result->global;
		return;
	}
	result->global.kernelStart = cpu_kernel_ticks_ps(stamp->start_ps);
	result->global.kernelEnd = cpu_kernel_ticks_ps(stamp->end_ps);
	result->context.kernelStart = result->global.kernelStart;
	result->context.kernelEnd = cpu_kernel_ticks_ps(stamp->leave_ps);
}

// The stamp of a signalled event; NOT_READY of another. Only events of pools with one of `flags`
// have any; 0: all do.
static ze_result_t stamp_of(ze_event_handle_t event, ze_event_pool_flags_t flags,
                            struct cpu_stamp *stamp)
{
	ze_result_t result;

	if (flags && (event->flags & flags) == 0)
		return ZE_RESULT_ERROR_INVALID_ARGUMENT;
	pthread_mutex_lock(&work_lock);
	result = wait_for(event, 0, stamp);
	pthread_mutex_unlock(&work_lock);
	return result;
}

#define STAMPED (ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP | LEVELZERO_EVENT_POOL_MAPPED_TIMESTAMP)

ze_result_t cpu_zeEventQueryKernelTimestamp(ze_event_handle_t event,
                                            ze_kernel_timestamp_result_t *result)
{
	struct cpu_stamp stamp;
	ze_result_t status;

	if (!event)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (!result)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	// Of any pool: programs ask without the pool's flag, and GPU drivers answer them.
	status = stamp_of(event, 0, &stamp);
	if (status == ZE_RESULT_SUCCESS)
		cpu_stamp_ticks(&stamp, result);
	return status;
}

static int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

// What one sub-device did of a command that ran on several: they begin, and end, one after another,
// all of them together when the command did.
static struct cpu_stamp part_of(const struct cpu_stamp *whole, uint32_t part)
{
	int64_t stagger_ps = cpu_device.script.device.stagger_ps;
	int64_t late_ps = stagger_ps * part, early_ps = stagger_ps * (whole->parts - 1 - part);
	int64_t length_ps = whole->end_ps - whole->start_ps;
	struct cpu_stamp stamp = *whole;

	stamp.start_ps += late_ps < length_ps ? late_ps : length_ps;
	stamp.end_ps = larger(whole->end_ps - early_ps, stamp.start_ps);
	stamp.leave_ps = larger(whole->leave_ps - early_ps, stamp.start_ps);
	return stamp;
}

// How many results there are, for all sub-devices or for one: of a command that ran, else of one to
// come.
static uint32_t count_parts(ze_device_handle_t device, const struct cpu_stamp *stamp, bool ran)
{
	uint32_t parts = ran ? stamp->parts : cpu_sub_device_count;

	return device->root || parts < 2 ? 1 : parts;
}

// The stamps of up to *count sub-devices into `stamps`, which has room for all; *count: how many
// there are, of which no more than it was are given. Nothing is taken where it was 0 or `wanted` is
// not.
static ze_result_t take_parts(ze_event_handle_t event, ze_device_handle_t device,
                              ze_event_pool_flags_t flags, bool wanted, uint32_t *count,
                              struct cpu_stamp *stamps)
{
	struct cpu_stamp whole = { 0 };
	ze_result_t status;
	uint32_t parts;

	wanted = wanted && *count > 0;
	status = stamp_of(event, wanted ? flags : 0, &whole);
	parts = count_parts(device, &whole, status == ZE_RESULT_SUCCESS && whole.known);
	if (*count == 0 || *count > parts)
		*count = parts;
	if (!wanted)
		return ZE_RESULT_SUCCESS;
	for (uint32_t i = 0; i < *count; i++)
		stamps[i] =
		    whole.parts < 2 ? whole : part_of(&whole, device->root ? device->number : i);
	return status;
}

ze_result_t cpu_zeEventQueryTimestampsExp(ze_event_handle_t event, ze_device_handle_t device,
                                          uint32_t *count, ze_kernel_timestamp_result_t *results)
{
	struct cpu_stamp stamps[CPU_SUB_DEVICES];
	bool wanted = count && *count > 0 && results;
	ze_result_t status;

	if (!event || !device)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (!count)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	status = take_parts(event, device, STAMPED, wanted, count, stamps);
	for (uint32_t i = 0; wanted && status == ZE_RESULT_SUCCESS && i < *count; i++)
		cpu_stamp_ticks(&stamps[i], &results[i]);
	return status;
}

levelzero_query_stamps cpu_zeEventQueryKernelTimestampsExt;

ze_result_t cpu_zeEventQueryKernelTimestampsExt(ze_event_handle_t event, ze_device_handle_t device,
                                                uint32_t *count,
                                                struct levelzero_stamps_results *results)
{
	ze_event_pool_flags_t flags = STAMPED;
	struct cpu_stamp stamps[CPU_SUB_DEVICES];
	bool wanted = count && *count > 0 && results;
	int64_t start_ns, end_ns;
	ze_result_t status;

	if (!event || !device)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (!count)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	if (wanted && results->host)
		flags = LEVELZERO_EVENT_POOL_MAPPED_TIMESTAMP;
	status = take_parts(event, device, flags, wanted, count, stamps);
	for (uint32_t i = 0; wanted && status == ZE_RESULT_SUCCESS && i < *count; i++) {
		if (results->ticks)
			cpu_stamp_ticks(&stamps[i], &results->ticks[i]);
		if (!results->host)
			continue;
		cpu_stamp_host_ns(&stamps[i], &start_ns, &end_ns);
		results->host[i].global.start_ns = (uint64_t)start_ns;
		results->host[i].global.end_ns = (uint64_t)end_ns;
		results->host[i].context = results->host[i].global;
	}
	return status;
}
