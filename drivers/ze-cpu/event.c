// SPDX-License-Identifier: Apache-2.0
// What the host does with events: signals, resets, waits, and reads their stamps.
#include "run.h"

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

// Waits for the event's point of this moment; with work_lock, which lets go of it meanwhile. Another
// thread may destroy the event then, or have it signalled by something else.
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

void cpu_stamp_ticks(const struct cpu_stamp *stamp, ze_kernel_timestamp_result_t *result)
{
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

// The stamp of a signalled event; NOT_READY of another. Only events of pools with one of `flags` have
// any; 0: all do.
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

// There are no sub-devices: one result.
ze_result_t cpu_zeEventQueryTimestampsExp(ze_event_handle_t event, ze_device_handle_t device,
                                          uint32_t *count, ze_kernel_timestamp_result_t *results)
{
	struct cpu_stamp stamp;
	ze_result_t status;

	if (!event || !device)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (!count)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	if (*count == 0) {
		*count = 1;
		return ZE_RESULT_SUCCESS;
	}
	*count = 1;
	if (!results)
		return ZE_RESULT_SUCCESS;
	status = stamp_of(event, STAMPED, &stamp);
	if (status == ZE_RESULT_SUCCESS)
		cpu_stamp_ticks(&stamp, results);
	return status;
}

ze_result_t cpu_zeEventQueryKernelTimestampsExt(ze_event_handle_t event, ze_device_handle_t device,
                                                uint32_t *count,
                                                struct levelzero_stamps_results *results);

ze_result_t cpu_zeEventQueryKernelTimestampsExt(ze_event_handle_t event, ze_device_handle_t device,
                                                uint32_t *count,
                                                struct levelzero_stamps_results *results)
{
	ze_event_pool_flags_t flags = STAMPED;
	int64_t start_ns, end_ns;
	struct cpu_stamp stamp;
	ze_result_t status;

	if (!event || !device)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (!count)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	if (*count == 0 || !results) {
		*count = 1;
		return ZE_RESULT_SUCCESS;
	}
	*count = 1;
	if (results->host)
		flags = LEVELZERO_EVENT_POOL_MAPPED_TIMESTAMP;
	status = stamp_of(event, flags, &stamp);
	if (status != ZE_RESULT_SUCCESS)
		return status;
	if (results->ticks)
		cpu_stamp_ticks(&stamp, results->ticks);
	if (results->host) {
		cpu_stamp_host_ns(&stamp, &start_ns, &end_ns);
		results->host->global.start_ns = (uint64_t)start_ns;
		results->host->global.end_ns = (uint64_t)end_ns;
		results->host->context = results->host->global;
	}
	return ZE_RESULT_SUCCESS;
}
