// SPDX-License-Identifier: Apache-2.0
// The program's memory, of which commands tell where their bytes lie.
#include "guest/levelzero/ze.h"
#include "guest/region.h"

static void allocated(ze_result_t result, void *const *made, ze_context_handle_t context,
                      ze_device_handle_t device, size_t bytes, enum tare_trace_memory memory)
{
	if (result != ZE_RESULT_SUCCESS || made == NULL)
		return;
	guest_region_add(*made, bytes, 0, (uint8_t)memory);
	ze_define(TARE_OBJECT_MEMORY, *made, context, device, 0, bytes, 0, memory);
}

void ze_after_zeMemAllocShared(struct guest_thread *thread, const struct ze_driver *driver,
                               ze_context_handle_t context, const ze_device_mem_alloc_desc_t *desc,
                               const ze_host_mem_alloc_desc_t *host, size_t bytes, size_t alignment,
                               ze_device_handle_t device, void **made, ze_result_t result)
{
	allocated(result, made, context, device, bytes, TARE_TRACE_MEMORY_SHARED);
}

void ze_after_zeMemAllocDevice(struct guest_thread *thread, const struct ze_driver *driver,
                               ze_context_handle_t context, const ze_device_mem_alloc_desc_t *desc,
                               size_t bytes, size_t alignment, ze_device_handle_t device,
                               void **made, ze_result_t result)
{
	allocated(result, made, context, device, bytes, TARE_TRACE_MEMORY_BUFFER);
}

void ze_after_zeMemAllocHost(struct guest_thread *thread, const struct ze_driver *driver,
                             ze_context_handle_t context, const ze_host_mem_alloc_desc_t *desc,
                             size_t bytes, size_t alignment, void **made, ze_result_t result)
{
	allocated(result, made, context, NULL, bytes, TARE_TRACE_MEMORY_PINNED);
}

// Before: afterwards another thread may have been given the same address.
void ze_before_zeMemFree(struct guest_thread *thread, const struct ze_driver *driver,
                         ze_context_handle_t context, void *memory)
{
	guest_region_forget(memory);
}

void ze_before_zeMemFreeExt(struct guest_thread *thread, const struct ze_driver *driver,
                            ze_context_handle_t context, const ze_memory_free_ext_desc_t *desc,
                            void *memory)
{
	guest_region_forget(memory);
}
