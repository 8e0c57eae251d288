// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

cu_pointer cuda_device_address(const struct tare_span *span)
{
	const struct cuda_memory *memory = (const struct cuda_memory *)span->memory;
	return memory->device ? memory->device + span->offset_bytes : 0;
}

void *cuda_host_address(const struct tare_span *span)
{
	return span->memory->host ? (char *)span->memory->host + span->offset_bytes : NULL;
}

static int map_pages(struct cuda_memory *memory, uint64_t bytes, struct tare_error *error)
{
	void *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (pages == MAP_FAILED)
		return tare_fail(error, ENOMEM, "cannot reserve %llu bytes of host memory",
		                 (unsigned long long)bytes);
	memory->pages = memory->base.host = pages;
	return 0;
}

static int page_lock(struct cuda_device *device, struct cuda_memory *memory,
                     struct tare_error *error)
{
	const struct cuda_functions *call = &device->driver->call;

	if (!device->register_supported)
		return tare_fail(error, ENOTSUP,
		                 "this device cannot page-lock memory that exists already");
	cu_result result = call->cuMemHostRegister_v2(memory->base.host, memory->base.bytes,
	                                              ABI_MEMHOSTREGISTER_PORTABLE);
	if (result != ABI_SUCCESS)
		return cuda_fail(device->driver, result, "cuMemHostRegister_v2", error,
		                 "cannot page-lock %llu bytes",
		                 (unsigned long long)memory->base.bytes);
	memory->registered = true;
	// Not every platform gives such memory a device address; copies do without.
	if (call->cuMemHostGetDevicePointer_v2(&memory->device, memory->base.host, 0) !=
	    ABI_SUCCESS)
		memory->device = 0;
	return 0;
}

static int allocate_host(struct cuda_device *device, struct cuda_memory *memory, unsigned int flags,
                         struct tare_error *error)
{
	const struct cuda_functions *call = &device->driver->call;
	cu_result result = call->cuMemHostAlloc(&memory->base.host, memory->base.bytes,
	                                        flags | ABI_MEMHOSTALLOC_PORTABLE);

	if (result != ABI_SUCCESS) {
		memory->base.host = NULL;
		return cuda_fail(device->driver, result, "cuMemHostAlloc", error,
		                 "cannot allocate %llu bytes of page-locked memory",
		                 (unsigned long long)memory->base.bytes);
	}
	if (call->cuMemHostGetDevicePointer_v2(&memory->device, memory->base.host, 0) !=
	    ABI_SUCCESS)
		memory->device = 0;
	if (!memory->device && memory->base.kind == TARE_MEMORY_MAPPED)
		return tare_fail(error, ENOTSUP, "this device cannot address host memory");
	return 0;
}

static int allocate_device(struct cuda_device *device, struct cuda_memory *memory,
                           struct tare_error *error)
{
	cu_result result = device->driver->call.cuMemAlloc_v2(&memory->device, memory->base.bytes);

	if (result == ABI_SUCCESS)
		return 0;
	memory->device = 0;
	return cuda_fail(device->driver, result, "cuMemAlloc_v2", error,
	                 "cannot allocate %llu bytes of device memory",
	                 (unsigned long long)memory->base.bytes);
}

static int allocate_managed(struct cuda_device *device, struct cuda_memory *memory,
                            struct tare_error *error)
{
	if (!device->managed)
		return tare_fail(error, ENOTSUP, "this device has no managed memory");
	cu_result result = device->driver->call.cuMemAllocManaged(
	    &memory->device, memory->base.bytes, ABI_MEM_ATTACH_GLOBAL);
	if (result != ABI_SUCCESS) {
		memory->device = 0;
		return cuda_fail(device->driver, result, "cuMemAllocManaged", error,
		                 "cannot allocate %llu bytes of managed memory",
		                 (unsigned long long)memory->base.bytes);
	}
	memory->base.host = (void *)(uintptr_t)memory->device;
	return 0;
}

static int allocate(struct cuda_device *device, struct cuda_memory *memory,
                    struct tare_error *error)
{
	int status;

	switch (memory->base.kind) {
	case TARE_MEMORY_PAGEABLE:
		status = map_pages(memory, memory->base.bytes, error);
		if (status == 0 && device->pageable_access)
			memory->device = (cu_pointer)(uintptr_t)memory->base.host;
		return status;
	case TARE_MEMORY_REGISTERED:
		status = map_pages(memory, memory->base.bytes, error);
		return status < 0 ? status : page_lock(device, memory, error);
	case TARE_MEMORY_PINNED:
	case TARE_MEMORY_MAPPED:
		return allocate_host(device, memory, ABI_MEMHOSTALLOC_DEVICEMAP, error);
	case TARE_MEMORY_WRITE_COMBINED:
		return allocate_host(device, memory,
		                     ABI_MEMHOSTALLOC_DEVICEMAP | ABI_MEMHOSTALLOC_WRITECOMBINED,
		                     error);
	case TARE_MEMORY_DEVICE:
		return allocate_device(device, memory, error);
	case TARE_MEMORY_SHARED:
		return allocate_managed(device, memory, error);
	case TARE_MEMORY_KIND_COUNT:
		break;
	}
	return tare_fail(error, EINVAL, "no such kind of memory");
}

int cuda_memory_create(struct tare_device *device, enum tare_memory_kind kind, uint64_t bytes,
                       struct tare_memory **memory, struct tare_error *error)
{
	struct cuda_device *self = cuda_device_of(device);
	struct cuda_memory *created;
	int status = cuda_enter(self, error);

	if (status < 0)
		return status;
	if (bytes == 0)
		return tare_fail(error, EINVAL, "memory of 0 bytes");
	created = calloc(1, sizeof *created);
	if (!created)
		return tare_fail(error, ENOMEM, "out of memory");
	created->base = (struct tare_memory){ .device = device, .kind = kind, .bytes = bytes };
	status = allocate(self, created, error);
	if (status < 0) {
		cuda_memory_free(&created->base);
		return status;
	}
	*memory = &created->base;
	return 0;
}

void cuda_memory_free(struct tare_memory *base)
{
	if (!base)
		return;
	struct cuda_memory *memory = (struct cuda_memory *)base;
	struct cuda_device *device = cuda_device_of(base->device);
	const struct cuda_functions *call = &device->driver->call;

	cuda_enter(device, NULL);
	if (memory->registered)
		call->cuMemHostUnregister(base->host);
	if (memory->array)
		call->cuArrayDestroy(memory->array);
	if (memory->pages)
		munmap(memory->pages, base->bytes);
	else if (base->kind == TARE_MEMORY_DEVICE || base->kind == TARE_MEMORY_SHARED) {
		if (memory->device)
			call->cuMemFree_v2(memory->device);
	} else if (base->host) {
		call->cuMemFreeHost(base->host);
	}
	free(memory);
}

// ---- managed memory: drivers since 12.2 take locations, older ones a device or the processor

static cu_location location_of(const struct cuda_device *device, bool host)
{
	return (cu_location){ .type = host ? ABI_LOCATION_HOST : ABI_LOCATION_DEVICE,
		              .id = host ? 0 : device->handle };
}

static int advise(struct cuda_device *device, const struct tare_span *span, cu_advice advice,
                  bool host, struct tare_error *error)
{
	const struct cuda_functions *call = &device->driver->call;
	cu_pointer at = cuda_device_address(span);
	const char *name = call->cuMemAdvise_v2 ? "cuMemAdvise_v2" : "cuMemAdvise";
	cu_result result =
	    call->cuMemAdvise_v2
	        ? call->cuMemAdvise_v2(at, span->bytes, advice, location_of(device, host))
	        : call->cuMemAdvise(at, span->bytes, advice,
	                            host ? ABI_DEVICE_CPU : device->handle);

	if (result != ABI_SUCCESS)
		return cuda_fail(device->driver, result, name, error,
		                 "cannot advise on managed memory");
	return 0;
}

int cuda_memory_advise(struct tare_span span, enum tare_advice advice, struct tare_error *error)
{
	struct cuda_device *device = cuda_device_of(span.memory->device);
	const struct cuda_functions *call = &device->driver->call;
	int status = cuda_enter(device, error);

	if (status < 0)
		return status;
	if (span.memory->kind != TARE_MEMORY_SHARED)
		return tare_fail(error, EINVAL, "only shared memory takes advice");
	if (!device->concurrent_managed)
		return tare_fail(error, ENOTSUP,
		                 "this device takes no advice on managed memory: it cannot use it "
		                 "while the host does (concurrentManagedAccess is 0)");
	if (!call->cuMemAdvise_v2 && !call->cuMemAdvise)
		return tare_fail(error, ENOTSUP,
		                 "this CUDA driver takes no advice on managed memory (it needs 8.0 "
		                 "or later)");
	switch (advice) {
	case TARE_ADVISE_NONE:
		status = advise(device, &span, ABI_ADVISE_UNSET_READ_MOSTLY, false, error);
		return status < 0 ? status
		                  : advise(device, &span, ABI_ADVISE_UNSET_PREFERRED_LOCATION,
		                           false, error);
	case TARE_ADVISE_READ_MOSTLY:
		return advise(device, &span, ABI_ADVISE_SET_READ_MOSTLY, false, error);
	case TARE_ADVISE_PREFER_DEVICE:
		return advise(device, &span, ABI_ADVISE_SET_PREFERRED_LOCATION, false, error);
	case TARE_ADVISE_PREFER_HOST:
		return advise(device, &span, ABI_ADVISE_SET_PREFERRED_LOCATION, true, error);
	}
	return tare_fail(error, EINVAL, "no such advice");
}

int cuda_memory_migrate(struct cuda_device *device, const struct tare_span *span, bool to_host,
                        cu_stream stream, struct tare_error *error)
{
	const struct cuda_functions *call = &device->driver->call;
	cu_pointer at = cuda_device_address(span);
	const char *name =
	    call->cuMemPrefetchAsync_v2 ? "cuMemPrefetchAsync_v2" : "cuMemPrefetchAsync";
	cu_result result;

	if (span->memory->kind != TARE_MEMORY_SHARED)
		return tare_fail(error, ENOTSUP, "only shared memory migrates");
	if (!device->concurrent_managed)
		return tare_fail(error, ENOTSUP,
		                 "this device prefetches no managed memory: it cannot use it while "
		                 "the host does (concurrentManagedAccess is 0)");
	if (!call->cuMemPrefetchAsync_v2 && !call->cuMemPrefetchAsync)
		return tare_fail(error, ENOTSUP,
		                 "this CUDA driver prefetches no managed memory (it needs 8.0 or "
		                 "later)");
	result = call->cuMemPrefetchAsync_v2
	             ? call->cuMemPrefetchAsync_v2(at, span->bytes, location_of(device, to_host), 0,
	                                           stream)
	             : call->cuMemPrefetchAsync(at, span->bytes,
	                                        to_host ? ABI_DEVICE_CPU : device->handle, stream);
	if (result != ABI_SUCCESS)
		return cuda_fail(device->driver, result, name, error, "cannot migrate %llu bytes",
		                 (unsigned long long)span->bytes);
	return 0;
}
