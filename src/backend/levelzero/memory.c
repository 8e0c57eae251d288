// SPDX-License-Identifier: Apache-2.0
// Memory. How the contract's kinds are made:
//   PAGEABLE  mmap, untouched: the heap memory of the API's examples
//   PINNED    zeMemAllocHost
//   MAPPED    zeMemAllocHost as well: kernels address it, nothing is mapped
//   DEVICE    zeMemAllocDevice
//   SHARED    zeMemAllocShared, with the device as its home
#include "backend/levelzero/work.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

// As mmap aligns: what is compared differs in its kind only.
#define ALIGNMENT 4096

struct levelzero_memory {
	struct tare_memory base;
	void *at;                // NULL: an image
	ze_image_handle_t image; // NULL: it is none
};

ze_image_handle_t levelzero_image_of(const struct tare_memory *memory)
{
	return memory ? ((const struct levelzero_memory *)memory)->image : NULL;
}

int levelzero_memory_of_image(struct levelzero_device *device, ze_image_handle_t image,
                              uint64_t bytes, struct tare_memory **memory, struct tare_error *error)
{
	struct levelzero_memory *made = calloc(1, sizeof *made);

	if (!made)
		return tare_fail(error, ENOMEM, "out of memory");
	made->base = (struct tare_memory){ .device = &device->base,
		                           .kind = TARE_MEMORY_DEVICE,
		                           .bytes = bytes };
	made->image = image;
	*memory = &made->base;
	return 0;
}

void *levelzero_address(const struct tare_span *span)
{
	return (char *)((const struct levelzero_memory *)span->memory)->at + span->offset_bytes;
}

bool levelzero_reaches_heap(const struct levelzero_device *device)
{
	ze_device_memory_access_properties_t access = {
		.stype = ZE_STRUCTURE_TYPE_DEVICE_MEMORY_ACCESS_PROPERTIES,
	};
	const struct levelzero_functions *call = &device->driver->call;

	return call->zeDeviceGetMemoryAccessProperties &&
	       call->zeDeviceGetMemoryAccessProperties(device->place.device, &access) ==
	           ZE_RESULT_SUCCESS &&
	       access.sharedSystemAllocCapabilities & ZE_MEMORY_ACCESS_CAP_FLAG_RW;
}

static int map_pages(struct levelzero_memory *memory, struct tare_error *error)
{
	memory->at = mmap(NULL, memory->base.bytes, PROT_READ | PROT_WRITE,
	                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory->at != MAP_FAILED)
		return 0;
	memory->at = NULL;
	return tare_fail(error, ENOMEM, "cannot reserve %llu bytes of host memory",
	                 (unsigned long long)memory->base.bytes);
}

static int allocate(struct levelzero_device *device, struct levelzero_memory *memory,
                    struct tare_error *error)
{
	static const ze_device_mem_alloc_desc_t on_device = {
		.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC,
	};
	static const ze_host_mem_alloc_desc_t on_host = {
		.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC,
	};
	const struct levelzero_functions *call = &device->driver->call;
	size_t bytes = memory->base.bytes;
	const char *name = "zeMemAllocHost";
	ze_result_t result;

	if (memory->base.kind == TARE_MEMORY_DEVICE) {
		name = "zeMemAllocDevice";
		result = call->zeMemAllocDevice(device->context, &on_device, bytes, ALIGNMENT,
		                                device->place.device, &memory->at);
	} else if (memory->base.kind == TARE_MEMORY_SHARED) {
		name = "zeMemAllocShared";
		result = call->zeMemAllocShared(device->context, &on_device, &on_host, bytes,
		                                ALIGNMENT, device->place.device, &memory->at);
	} else {
		result =
		    call->zeMemAllocHost(device->context, &on_host, bytes, ALIGNMENT, &memory->at);
	}
	if (result == ZE_RESULT_SUCCESS && memory->at)
		return 0;
	memory->at = NULL;
	return levelzero_fail(result == ZE_RESULT_SUCCESS ? ZE_RESULT_ERROR_UNKNOWN : result, name,
	                      error, "cannot allocate %llu bytes", (unsigned long long)bytes);
}

int levelzero_memory_create(struct tare_device *base, enum tare_memory_kind kind, uint64_t bytes,
                            struct tare_memory **memory, struct tare_error *error)
{
	struct levelzero_device *device = levelzero_device_of(base);
	struct levelzero_memory *made;
	int status = levelzero_works(device, error);

	if (status < 0)
		return status;
	if (bytes == 0)
		return tare_fail(error, EINVAL, "an allocation of 0 bytes");
	if (kind == TARE_MEMORY_REGISTERED)
		return tare_fail(error, ENOTSUP,
		                 "Level Zero's core cannot page-lock memory that exists already");
	if (kind == TARE_MEMORY_WRITE_COMBINED)
		return tare_fail(error, ENOTSUP,
		                 "Level Zero has no memory that is surely write-combined");
	made = calloc(1, sizeof *made);
	if (!made)
		return tare_fail(error, ENOMEM, "out of memory");
	made->base = (struct tare_memory){ .device = base, .kind = kind, .bytes = bytes };
	status =
	    kind == TARE_MEMORY_PAGEABLE ? map_pages(made, error) : allocate(device, made, error);
	if (status < 0) {
		free(made);
		return status;
	}
	made->base.host = kind == TARE_MEMORY_DEVICE ? NULL : made->at;
	*memory = &made->base;
	return 0;
}

void levelzero_memory_free(struct tare_memory *base)
{
	struct levelzero_memory *memory = (struct levelzero_memory *)base;

	if (!memory)
		return;
	struct levelzero_device *device = levelzero_device_of(base->device);
	if (memory->image)
		device->driver->call.zeImageDestroy(memory->image);
	if (memory->at) {
		if (base->kind == TARE_MEMORY_PAGEABLE)
			munmap(memory->at, base->bytes);
		else
			device->driver->call.zeMemFree(device->context, memory->at);
	}
	free(memory);
}

// A synchronous list would have no limit.
static int wait_for_service(struct levelzero_device *device, struct tare_error *error)
{
	struct levelzero_slot *slot = NULL;
	int status = levelzero_slot_take(device, false, &slot, error);

	if (status < 0)
		return status;
	ze_result_t result = device->driver->call.zeCommandListAppendBarrier(device->work->service,
	                                                                     slot->handle, 0, NULL);
	if (result != ZE_RESULT_SUCCESS) {
		levelzero_slot_give_unused(device, slot);
		return levelzero_fail(result, "zeCommandListAppendBarrier", error,
		                      "cannot wait for the advice");
	}
	status = levelzero_slot_wait(device, slot->handle, TARE_LIMIT_DEFAULT_NS, "advice", error);
	levelzero_slot_give(device, slot, status == 0);
	return status;
}

int levelzero_memory_advise(struct tare_span span, enum tare_advice advice,
                            struct tare_error *error)
{
	struct levelzero_device *device = levelzero_device_of(span.memory->device);
	const struct levelzero_functions *call = &device->driver->call;
	static const ze_memory_advice_t words[][2] = {
		[TARE_ADVISE_NONE] = { ZE_MEMORY_ADVICE_CLEAR_READ_MOSTLY,
		                       ZE_MEMORY_ADVICE_CLEAR_PREFERRED_LOCATION },
		[TARE_ADVISE_READ_MOSTLY] = { ZE_MEMORY_ADVICE_SET_READ_MOSTLY,
		                              ZE_MEMORY_ADVICE_SET_READ_MOSTLY },
		[TARE_ADVISE_PREFER_DEVICE] = { ZE_MEMORY_ADVICE_SET_PREFERRED_LOCATION,
		                                ZE_MEMORY_ADVICE_SET_PREFERRED_LOCATION },
	};
	int status = 0;

	if (span.memory->kind != TARE_MEMORY_SHARED)
		return tare_fail(error, ENOTSUP, "Level Zero takes advice on shared memory only");
	if (advice == TARE_ADVISE_PREFER_HOST)
		return tare_fail(error, ENOTSUP,
		                 "Level Zero 1.4 cannot be told that memory's home is the host");
	if (!device->work->service)
		status = levelzero_list_open(device, &device->work->engines[0],
		                             ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS, false,
		                             &device->work->service, error);
	if (status < 0)
		return status;
	for (int i = 0; i < (words[advice][0] == words[advice][1] ? 1 : 2); i++) {
		ze_result_t result = call->zeCommandListAppendMemAdvise(
		    device->work->service, device->place.device, levelzero_address(&span),
		    span.bytes, words[advice][i]);
		if (result != ZE_RESULT_SUCCESS)
			return levelzero_fail(result, "zeCommandListAppendMemAdvise", error,
			                      "the advice was not taken");
	}
	return wait_for_service(device, error);
}
