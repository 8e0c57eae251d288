// SPDX-License-Identifier: Apache-2.0
#include "ze_cpu.h"

#include <stdatomic.h>
#include <stdlib.h>

// ---- contexts

static ze_result_t create(ze_driver_handle_t driver, const ze_context_desc_t *desc,
                          ze_context_handle_t *context)
{
	if (!driver)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (!desc || !context)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	if (desc->flags & ~(ze_context_flags_t)ZE_CONTEXT_FLAG_TBD)
		return ZE_RESULT_ERROR_INVALID_ENUMERATION;
	*context = calloc(1, sizeof **context);
	if (!*context)
		return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
	(*context)->driver = driver;
	return ZE_RESULT_SUCCESS;
}

ze_result_t cpu_zeContextCreate(ze_driver_handle_t driver, const ze_context_desc_t *desc,
                                ze_context_handle_t *context)
{
	return create(driver, desc, context);
}

ze_result_t cpu_zeContextCreateEx(ze_driver_handle_t driver, const ze_context_desc_t *desc,
                                  uint32_t count, ze_device_handle_t *devices,
                                  ze_context_handle_t *context)
{
	if (!devices && count)
		return ZE_RESULT_ERROR_INVALID_SIZE;
	for (uint32_t i = 0; i < count; i++)
		if (!devices[i])
			return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	return create(driver, desc, context);
}

ze_result_t cpu_zeContextDestroy(ze_context_handle_t context)
{
	if (!context)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (context == cpu_zeDriverGetDefaultContext(&cpu_driver))
		return ZE_RESULT_ERROR_INVALID_ARGUMENT;
	free(context);
	return ZE_RESULT_SUCCESS;
}

static ze_result_t status(void)
{
	bool lost;

	pthread_mutex_lock(&work_lock);
	lost = cpu_device.lost;
	pthread_mutex_unlock(&work_lock);
	return lost ? ZE_RESULT_ERROR_DEVICE_LOST : ZE_RESULT_SUCCESS;
}

ze_result_t cpu_zeContextGetStatus(ze_context_handle_t context)
{
	return context ? status() : ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
}

ze_result_t cpu_zeDeviceGetStatus(ze_device_handle_t device)
{
	return device ? status() : ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
}

// Lives as long as the library: programs do not destroy it.
ze_context_handle_t cpu_zeDriverGetDefaultContext(ze_driver_handle_t driver)
{
	static struct _ze_context_handle_t context = { .driver = &cpu_driver };

	return driver ? &context : NULL;
}

// ---- residency: all memory is in reach of the device at all times

ze_result_t cpu_zeContextSystemBarrier(ze_context_handle_t context, ze_device_handle_t device)
{
	if (!context || !device)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	atomic_thread_fence(memory_order_seq_cst);
	return ZE_RESULT_SUCCESS;
}

static ze_result_t reside(ze_context_handle_t context, ze_device_handle_t device, const void *at,
                          size_t bytes)
{
	if (!context || !device)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (!at)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	if (!bytes)
		return ZE_RESULT_ERROR_UNSUPPORTED_SIZE;
	return ZE_RESULT_SUCCESS;
}

ze_result_t cpu_zeContextMakeMemoryResident(ze_context_handle_t context, ze_device_handle_t device,
                                            void *at, size_t bytes)
{
	return reside(context, device, at, bytes);
}

ze_result_t cpu_zeContextEvictMemory(ze_context_handle_t context, ze_device_handle_t device,
                                     void *at, size_t bytes)
{
	return reside(context, device, at, bytes);
}
