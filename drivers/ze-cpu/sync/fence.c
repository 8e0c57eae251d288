// SPDX-License-Identifier: Apache-2.0
// Fences.
#include "run/run.h"

#include <stdlib.h>

ze_result_t cpu_zeFenceCreate(ze_command_queue_handle_t queue, const ze_fence_desc_t *description,
                              ze_fence_handle_t *made)
{
	ze_fence_handle_t fence;

	if (!queue)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (!description || !made)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	if (description->flags > ZE_FENCE_FLAG_SIGNALED)
		return ZE_RESULT_ERROR_INVALID_ENUMERATION;
	fence = calloc(1, sizeof *fence);
	if (!fence)
		return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
	fence->queue = queue;
	fence->references = 1;
	fence->real = fence->modelled = (description->flags & ZE_FENCE_FLAG_SIGNALED) != 0;
	*made = fence;
	return ZE_RESULT_SUCCESS;
}

void cpu_fence_release(ze_fence_handle_t fence)
{
	if (__atomic_sub_fetch(&fence->references, 1, __ATOMIC_ACQ_REL) == 0)
		free(fence);
}

ze_result_t cpu_zeFenceDestroy(ze_fence_handle_t fence)
{
	if (!fence)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	cpu_fence_release(fence);
	return ZE_RESULT_SUCCESS;
}

static bool signalled(void *context)
{
	const struct _ze_fence_handle_t *fence = context;

	return fence->real && fence->modelled;
}

ze_result_t cpu_zeFenceHostSynchronize(ze_fence_handle_t fence, uint64_t timeout_ns)
{
	ze_result_t result;

	if (!fence)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	// Another thread may destroy it meanwhile.
	__atomic_add_fetch(&fence->references, 1, __ATOMIC_RELAXED);
	pthread_mutex_lock(&work_lock);
	result = cpu_wait(signalled, fence, timeout_ns);
	if (result == ZE_RESULT_SUCCESS && fence->failed)
		result = ZE_RESULT_ERROR_DEVICE_LOST;
	pthread_mutex_unlock(&work_lock);
	cpu_fence_release(fence);
	return result;
}

ze_result_t cpu_zeFenceQueryStatus(ze_fence_handle_t fence)
{
	return cpu_zeFenceHostSynchronize(fence, 0);
}

ze_result_t cpu_zeFenceReset(ze_fence_handle_t fence)
{
	if (!fence)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	pthread_mutex_lock(&work_lock);
	fence->real = fence->modelled = fence->failed = false;
	pthread_mutex_unlock(&work_lock);
	return ZE_RESULT_SUCCESS;
}
