// SPDX-License-Identifier: Apache-2.0
// Memory. How the contract's kinds are made:
//   PAGEABLE    mmap, untouched
//   PINNED      a CL_MEM_ALLOC_HOST_PTR buffer that stays mapped; copies use the host address,
//               which is how every vendor's guide says pinned memory is had in OpenCL
//   REGISTERED  mmap under a CL_MEM_USE_HOST_PTR buffer that stays mapped
//   DEVICE      a plain buffer
//   MAPPED      a CL_MEM_ALLOC_HOST_PTR buffer, mapped and unmapped by operations
//   SHARED      shared virtual memory, fine-grained where the device has it
#include "backend/opencl/opencl.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

// What waits for the device here may be stuck behind a device that hangs.
#define UNMAP_LIMIT_NS INT64_C(5000000000)

static int reserve(struct opencl_memory *memory, struct tare_error *error)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t bytes = (memory->base.bytes + page - 1) / page * page;
	void *reserved =
	    mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (reserved == MAP_FAILED)
		return tare_fail(error, ENOMEM, "cannot reserve %zu bytes of host memory", bytes);
	memory->reserved = reserved;
	memory->reserved_bytes = bytes;
	return 0;
}

static int create_buffer(struct opencl_memory *memory, cl_mem_flags flags, void *host,
                         struct tare_error *error)
{
	struct opencl_device *device = opencl_device(memory->base.device);
	cl_int code = CL_SUCCESS;

	memory->buffer = device->cl->clCreateBuffer(device->context, CL_MEM_READ_WRITE | flags,
	                                            memory->base.bytes, host, &code);
	if (code == CL_SUCCESS)
		return 0;
	memory->buffer = NULL;
	return opencl_fail(error, "clCreateBuffer", code, "cannot allocate %llu bytes",
	                   (unsigned long long)memory->base.bytes);
}

// Drivers allocate at first use. Moving the buffer there now, contents undefined, makes "out of
// memory" appear here and keeps the allocation out of whatever is timed first.
static int place(struct opencl_memory *memory, struct tare_error *error)
{
	struct opencl_device *device = opencl_device(memory->base.device);
	cl_event placed = NULL;
	cl_int code = device->cl->clEnqueueMigrateMemObjects(
	    device->service, 1, &memory->buffer, CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED, 0, NULL,
	    &placed);

	if (code != CL_SUCCESS)
		return opencl_fail(error, "clEnqueueMigrateMemObjects", code,
		                   "cannot allocate %llu bytes on the device",
		                   (unsigned long long)memory->base.bytes);
	int rc = opencl_wait(device, placed, TARE_LIMIT_DEFAULT_NS, "an allocation", error);
	device->cl->clReleaseEvent(placed);
	return rc;
}

static int map_for_good(struct opencl_memory *memory, struct tare_error *error)
{
	struct opencl_device *device = opencl_device(memory->base.device);
	cl_int code = CL_SUCCESS;

	memory->mapped = device->cl->clEnqueueMapBuffer(device->service, memory->buffer, CL_TRUE,
	                                                CL_MAP_READ | CL_MAP_WRITE, 0,
	                                                memory->base.bytes, 0, NULL, NULL, &code);
	if (code != CL_SUCCESS) {
		memory->mapped = NULL;
		return opencl_fail(error, "clEnqueueMapBuffer", code,
		                   "cannot map %llu bytes of pinned memory",
		                   (unsigned long long)memory->base.bytes);
	}
	memory->base.host = memory->mapped;
	return 0;
}

static int create_shared(struct opencl_memory *memory, struct tare_error *error)
{
	struct opencl_device *device = opencl_device(memory->base.device);
	bool fine = device->svm & CL_DEVICE_SVM_FINE_GRAIN_BUFFER;

	if (!(device->svm & (CL_DEVICE_SVM_COARSE_GRAIN_BUFFER | CL_DEVICE_SVM_FINE_GRAIN_BUFFER)))
		return tare_fail(error, ENOTSUP, "this device has no shared virtual memory");
	memory->svm = device->cl->clSVMAlloc(
	    device->context, CL_MEM_READ_WRITE | (fine ? CL_MEM_SVM_FINE_GRAIN_BUFFER : 0),
	    memory->base.bytes, 0);
	if (!memory->svm)
		return tare_fail(error, ENOMEM,
		                 "cannot allocate %llu bytes of shared memory (clSVMAlloc)",
		                 (unsigned long long)memory->base.bytes);
	memory->svm_fine = fine;
	memory->base.host = fine ? memory->svm : NULL;
	// As a buffer it can be copied to and from other buffers by the device. Where a driver
	// refuses this, copies fall back to the host's calls.
	if (create_buffer(memory, CL_MEM_USE_HOST_PTR, memory->svm, NULL) < 0)
		memory->buffer = NULL;
	return 0;
}

static int create_kind(struct opencl_memory *memory, struct tare_error *error)
{
	int rc = 0;

	switch (memory->base.kind) {
	case TARE_MEMORY_PAGEABLE:
		rc = reserve(memory, error);
		memory->base.host = memory->reserved;
		return rc;
	case TARE_MEMORY_PINNED:
		rc = create_buffer(memory, CL_MEM_ALLOC_HOST_PTR, NULL, error);
		return rc < 0 ? rc : map_for_good(memory, error);
	case TARE_MEMORY_REGISTERED:
		rc = reserve(memory, error);
		if (rc == 0)
			rc = create_buffer(memory, CL_MEM_USE_HOST_PTR, memory->reserved, error);
		return rc < 0 ? rc : map_for_good(memory, error);
	case TARE_MEMORY_DEVICE:
		rc = create_buffer(memory, 0, NULL, error);
		return rc < 0 ? rc : place(memory, error);
	case TARE_MEMORY_MAPPED:
		return create_buffer(memory, CL_MEM_ALLOC_HOST_PTR, NULL, error);
	case TARE_MEMORY_SHARED:
		return create_shared(memory, error);
	case TARE_MEMORY_WRITE_COMBINED:
	case TARE_MEMORY_KIND_COUNT:
		break;
	}
	return tare_fail(error, ENOTSUP, "OpenCL has no write-combined memory");
}

int opencl_memory_create(struct tare_device *device, enum tare_memory_kind kind, uint64_t bytes,
                         struct tare_memory **memory, struct tare_error *error)
{
	if (!bytes)
		return tare_fail(error, EINVAL, "an allocation of 0 bytes");
	struct opencl_memory *created = calloc(1, sizeof *created);
	if (!created)
		return tare_fail(error, ENOMEM, "out of memory");
	created->base = (struct tare_memory){ .device = device, .kind = kind, .bytes = bytes };
	int rc = create_kind(created, error);
	if (rc < 0) {
		// Behind what hangs its release could block; the caller is about to give up.
		if (tare_device_is_gone(rc))
			created->buffer = NULL;
		opencl_memory_free(&created->base);
		return rc;
	}
	*memory = &created->base;
	return 0;
}

// True when the device has let go of a mapping.
static bool unmap(struct opencl_memory *memory)
{
	struct opencl_device *device = opencl_device(memory->base.device);
	const struct opencl_functions *cl = device->cl;
	cl_event event = NULL;
	cl_int code;

	if (memory->svm)
		code = cl->clEnqueueSVMUnmap(device->service, memory->mapped, 0, NULL, &event);
	else
		code = cl->clEnqueueUnmapMemObject(device->service, memory->buffer, memory->mapped,
		                                   0, NULL, &event);
	if (code != CL_SUCCESS)
		return false;
	int rc = opencl_wait(device, event, UNMAP_LIMIT_NS, "an unmapping", NULL);
	cl->clReleaseEvent(event);
	return rc == 0;
}

void opencl_memory_free(struct tare_memory *memory)
{
	struct opencl_memory *own = (struct opencl_memory *)memory;
	if (!own)
		return;
	struct opencl_device *device = opencl_device(own->base.device);
	bool released = !own->mapped || unmap(own);

	if (own->buffer)
		device->cl->clReleaseMemObject(own->buffer);
	// Pages that a stuck device may still write are better lost than given to someone else.
	if (own->svm && released)
		device->cl->clSVMFree(device->context, own->svm);
	if (own->reserved && released)
		munmap(own->reserved, own->reserved_bytes);
	free(own);
}
