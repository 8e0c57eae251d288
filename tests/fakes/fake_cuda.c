// SPDX-License-Identifier: Apache-2.0
// A stand-in for libcuda.so.1 that keeps CUDA's documented rules: streams run in order, events tell
// only differences as a float of milliseconds, errors of kernels come late and stay, a full queue
// blocks the host. Where CUDA would block for ever, it aborts with a sentence.
//
// TARE_FAKE_CUDA, read by cuInit, holds words: init=CODE, devices=N, cc=9.0, name=NVIDIA_H200
// (underscores are spaces), memory=BYTES, step=NS (of the timer), fail_launch=N and hang_launch=N
// (the Nth kernel), no_wait_value, no_managed.
#include "fake_cuda_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- start, devices

cu_result cuInit(unsigned int flags)
{
	(void)flags;
	pthread_mutex_lock(&mutex);
	start_device();
	return leave(gpu.script.init);
}

cu_result cuDriverGetVersion(int *version)
{
	*version = 13000;
	return ABI_SUCCESS;
}

cu_result cuGetErrorName(cu_result result, const char **name)
{
	static const struct { cu_result result; const char *name; } names[] = {
		{ ABI_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE" },
		{ ABI_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY" },
		{ ABI_STUB_LIBRARY, "CUDA_ERROR_STUB_LIBRARY" },
		{ ABI_NO_DEVICE, "CUDA_ERROR_NO_DEVICE" },
		{ ABI_INVALID_PTX, "CUDA_ERROR_INVALID_PTX" },
		{ ABI_NOT_FOUND, "CUDA_ERROR_NOT_FOUND" },
		{ ABI_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED" },
		{ ABI_UNKNOWN, "CUDA_ERROR_UNKNOWN" },
	};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (names[i].result == result) {
			*name = names[i].name;
			return ABI_SUCCESS;
		}
	*name = NULL;
	return ABI_INVALID_VALUE;
}

cu_result cuDeviceGetCount(int *count)
{
	ENTER();
	*count = gpu.script.devices;
	return leave(ABI_SUCCESS);
}

cu_result cuDeviceGet(cu_device *device, int ordinal)
{
	ENTER();
	*device = ordinal;
	return leave(ordinal >= 0 && ordinal < gpu.script.devices ? ABI_SUCCESS : ABI_INVALID_DEVICE);
}

cu_result cuDeviceGetName(char *name, int length, cu_device device)
{
	(void)device;
	ENTER();
	snprintf(name, (size_t)length, "%s", gpu.script.name);
	return leave(ABI_SUCCESS);
}

cu_result cuDeviceGetUuid_v2(cu_uuid *uuid, cu_device device)
{
	ENTER();
	for (int i = 0; i < 16; i++)
		uuid->bytes[i] = (char)(0xa0 + i);
	uuid->bytes[15] = (char)device;
	return leave(ABI_SUCCESS);
}

cu_result cuDeviceTotalMem_v2(size_t *bytes, cu_device device)
{
	(void)device;
	ENTER();
	*bytes = gpu.script.memory;
	return leave(ABI_SUCCESS);
}

cu_result cuDeviceGetAttribute(int *value, cu_attribute attribute, cu_device device)
{
	// An H200's, as a real one said them.
	static const struct { cu_attribute attribute; int value; } table[] = {
		{ ABI_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024 },
		{ ABI_ATTRIBUTE_WARP_SIZE, 32 },
		{ ABI_ATTRIBUTE_CLOCK_RATE, 1980000 },
		{ ABI_ATTRIBUTE_MULTIPROCESSOR_COUNT, 132 },
		{ ABI_ATTRIBUTE_INTEGRATED, 0 },
		{ ABI_ATTRIBUTE_ECC_ENABLED, 1 },
		{ ABI_ATTRIBUTE_MEMORY_CLOCK_RATE, 3201000 },
		{ ABI_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 6144 },
		{ ABI_ATTRIBUTE_L2_CACHE_SIZE, 62914560 },
		{ ABI_ATTRIBUTE_ASYNC_ENGINE_COUNT, 3 },
		{ ABI_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 233472 },
		{ ABI_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, 1 },
		{ ABI_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS, 0 },
		{ ABI_ATTRIBUTE_HOST_REGISTER_SUPPORTED, 1 },
	};
	(void)device;
	ENTER();
	if (attribute == ABI_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)
		*value = gpu.script.major;
	else if (attribute == ABI_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)
		*value = gpu.script.minor;
	else if (attribute == ABI_ATTRIBUTE_MANAGED_MEMORY)
		*value = !gpu.script.no_managed;
	else {
		for (size_t i = 0; i < sizeof table / sizeof *table; i++)
			if (table[i].attribute == attribute) {
				*value = table[i].value;
				return leave(ABI_SUCCESS);
			}
		return leave(ABI_INVALID_VALUE);
	}
	return leave(ABI_SUCCESS);
}

cu_result cuDeviceGetPCIBusId(char *text, int length, cu_device device)
{
	ENTER();
	snprintf(text, (size_t)length, "0000:%02X:00.0", 0x3b + device);
	return leave(ABI_SUCCESS);
}

cu_result cuDevicePrimaryCtxRetain(cu_context *context, cu_device device)
{
	ENTER();
	*context = &gpu.contexts[device];
	gpu.objects += gpu.contexts[device].users++ == 0;
	return leave(ABI_SUCCESS);
}

cu_result cuDevicePrimaryCtxRelease_v2(cu_device device)
{
	pthread_mutex_lock(&mutex);
	if (gpu.contexts[device].users == 0)
		return leave(ABI_INVALID_CONTEXT);
	if (--gpu.contexts[device].users > 0)
		return leave(ABI_SUCCESS);
	gpu.objects--;
	// What is still queued ends first; then all memory of the context goes with it.
	for (int i = 0; i < 100 && work_pending(); i++) {
		pump();
		pause_shortly();
	}
	for (int i = 0; i < MAX_RANGES; i++)
		if (gpu.ranges[i].at) {
			if (gpu.ranges[i].kind != REGISTERED) {
				gpu.allocated -= gpu.ranges[i].bytes;
				free(gpu.ranges[i].at);
			}
			gpu.ranges[i] = (struct range){ 0 };
			gpu.objects--;
		}
	return leave(ABI_SUCCESS);
}

cu_result cuCtxSetCurrent(cu_context context)
{
	ENTER();
	current = context;
	return leave(ABI_SUCCESS);
}

cu_result cuDeviceCanAccessPeer(int *can, cu_device device, cu_device peer)
{
	ENTER();
	*can = device != peer;
	return leave(ABI_SUCCESS);
}

cu_result cuCtxEnablePeerAccess(cu_context peer, unsigned int flags)
{
	(void)flags;
	ENTER_CONTEXT();
	return leave(peer == current ? ABI_INVALID_VALUE : ABI_SUCCESS);
}

// ---- memory

static bool on_device(const void *at)
{
	struct range *range = range_of(at);
	return range && (range->kind == DEVICE || range->kind == MANAGED);
}

static cu_result allocate(void **at, size_t bytes, int kind)
{
	if (bytes == 0)
		return ABI_INVALID_VALUE;
	if (bytes > gpu.script.memory - gpu.allocated)
		return ABI_OUT_OF_MEMORY;
	*at = aligned_alloc(4096, (bytes + 4095) & ~(size_t)4095);
	if (!*at)
		return ABI_OUT_OF_MEMORY;
	gpu.allocated += bytes;
	keep_range(*at, bytes, kind);
	return ABI_SUCCESS;
}

static cu_result release(void *at, int kind, int other)
{
	struct range *range = range_of(at);
	if (!range || range->at != at || ((int)range->kind != kind && (int)range->kind != other))
		return ABI_INVALID_VALUE;
	gpu.allocated -= range->bytes;
	free(range->at);
	*range = (struct range){ 0 };
	gpu.objects--;
	return ABI_SUCCESS;
}

cu_result cuMemAlloc_v2(cu_pointer *pointer, size_t bytes)
{
	void *at = NULL;
	ENTER_CONTEXT();
	cu_result result = allocate(&at, bytes, DEVICE);
	*pointer = (cu_pointer)(uintptr_t)at;
	return leave(result);
}

cu_result cuMemFree_v2(cu_pointer pointer)
{
	ENTER_CONTEXT();
	return leave(release((void *)(uintptr_t)pointer, DEVICE, MANAGED));
}

cu_result cuMemHostAlloc(void **pointer, size_t bytes, unsigned int flags)
{
	(void)flags;
	ENTER_CONTEXT();
	return leave(allocate(pointer, bytes, PINNED));
}

cu_result cuMemFreeHost(void *pointer)
{
	ENTER_CONTEXT();
	return leave(release(pointer, PINNED, PINNED));
}

cu_result cuMemHostRegister_v2(void *pointer, size_t bytes, unsigned int flags)
{
	(void)flags;
	ENTER_CONTEXT();
	if (range_of(pointer))
		return leave(712);
	keep_range(pointer, bytes, REGISTERED);
	return leave(ABI_SUCCESS);
}

cu_result cuMemHostUnregister(void *pointer)
{
	ENTER_CONTEXT();
	struct range *range = range_of(pointer);
	if (!range || range->kind != REGISTERED)
		return leave(713);
	*range = (struct range){ 0 };
	gpu.objects--;
	return leave(ABI_SUCCESS);
}

cu_result cuMemHostGetDevicePointer_v2(cu_pointer *pointer, void *host, unsigned int flags)
{
	(void)flags;
	ENTER_CONTEXT();
	*pointer = (cu_pointer)(uintptr_t)host;
	return leave(range_of(host) ? ABI_SUCCESS : ABI_INVALID_VALUE);
}

cu_result cuMemAllocManaged(cu_pointer *pointer, size_t bytes, unsigned int flags)
{
	void *at = NULL;
	ENTER_CONTEXT();
	if (flags != ABI_MEM_ATTACH_GLOBAL || gpu.script.no_managed)
		return leave(gpu.script.no_managed ? ABI_NOT_SUPPORTED : ABI_INVALID_VALUE);
	cu_result result = allocate(&at, bytes, MANAGED);
	*pointer = (cu_pointer)(uintptr_t)at;
	return leave(result);
}

static cu_result work_on_managed(cu_pointer pointer, cu_stream stream)
{
	struct range *range = range_of((void *)(uintptr_t)pointer);
	if (!range || range->kind != MANAGED)
		return ABI_INVALID_VALUE;
	return append(stream, (struct op){ .kind = WORK, .cost_ns = 3000 });
}

cu_result cuMemPrefetchAsync(cu_pointer pointer, size_t bytes, cu_device to, cu_stream stream)
{
	(void)bytes;
	(void)to;
	ENTER_CONTEXT();
	return leave(work_on_managed(pointer, stream));
}

cu_result cuMemAdvise(cu_pointer pointer, size_t bytes, cu_advice advice, cu_device device)
{
	(void)bytes;
	(void)device;
	ENTER_CONTEXT();
	return leave(range_of((void *)(uintptr_t)pointer) && advice >= 1 && advice <= 6
	             ? ABI_SUCCESS : ABI_INVALID_VALUE);
}

static cu_result copy(void *destination, const void *source, size_t bytes, cu_stream stream)
{
	cu_result result = append(stream, (struct op){
		.kind = COPY, .destination = destination, .source = source, .bytes = bytes,
		.cost_ns = 1000 + (int64_t)(bytes / 50),
	});
	// Memory that CUDA does not know is staged while the caller waits.
	if (result == ABI_SUCCESS && (!range_of(destination) || !range_of(source)) &&
	    !stream_of(stream)->capturing)
		result = drain(stream);
	return result;
}

// Checks that each side of a copy is where the caller says that it is.
static cu_result copy_between(void *destination, bool to_device, const void *source,
                              bool from_device, size_t bytes, cu_stream stream)
{
	if (on_device(destination) != to_device || on_device(source) != from_device)
		return ABI_INVALID_VALUE;
	return copy(destination, source, bytes, stream);
}

cu_result cuMemcpyAsync(cu_pointer destination, cu_pointer source, size_t bytes, cu_stream stream)
{
	ENTER_CONTEXT();
	return leave(copy(AT(destination), AT(source), bytes, stream));
}

cu_result cuMemcpyHtoDAsync_v2(cu_pointer destination, const void *source, size_t bytes,
                               cu_stream stream)
{
	ENTER_CONTEXT();
	return leave(copy_between(AT(destination), true, source, false, bytes, stream));
}

cu_result cuMemcpyDtoHAsync_v2(void *destination, cu_pointer source, size_t bytes,
                               cu_stream stream)
{
	ENTER_CONTEXT();
	return leave(copy_between(destination, false, AT(source), true, bytes, stream));
}

cu_result cuMemcpyDtoDAsync_v2(cu_pointer destination, cu_pointer source, size_t bytes,
                               cu_stream stream)
{
	ENTER_CONTEXT();
	return leave(copy_between(AT(destination), true, AT(source), true, bytes, stream));
}

cu_result cuMemcpy(cu_pointer destination, cu_pointer source, size_t bytes)
{
	ENTER_CONTEXT();
	cu_result result = copy(AT(destination), AT(source), bytes, NULL);
	return leave(result ? result : drain(NULL));
}

cu_result cuMemcpyHtoD_v2(cu_pointer destination, const void *source, size_t bytes)
{
	ENTER_CONTEXT();
	cu_result result = copy_between(AT(destination), true, source, false, bytes, NULL);
	return leave(result ? result : drain(NULL));
}

cu_result cuMemcpyDtoH_v2(void *destination, cu_pointer source, size_t bytes)
{
	ENTER_CONTEXT();
	cu_result result = copy_between(destination, false, AT(source), true, bytes, NULL);
	return leave(result ? result : drain(NULL));
}

static char *side(int type, const void *host, cu_pointer device)
{
	return type == ABI_MEMORYTYPE_HOST ? (char *)(uintptr_t)host : AT(device);
}

cu_result cuMemcpy3DAsync_v2(const cu_memcpy3d *what, cu_stream stream)
{
	cu_result result = ABI_SUCCESS;

	ENTER_CONTEXT();
	if (what->reserved0 || what->reserved1 || what->source_pitch < what->width_bytes ||
	    what->destination_pitch < what->width_bytes)
		return leave(ABI_INVALID_VALUE);
	for (size_t z = 0; z < what->depth; z++)
		for (size_t y = 0; y < what->height && result == ABI_SUCCESS; y++)
			result = copy(side(what->destination_type, what->destination_host,
			                   what->destination_device) +
			              (z * what->destination_height + y) * what->destination_pitch,
			              side(what->source_type, what->source_host, what->source_device) +
			              (z * what->source_height + y) * what->source_pitch,
			              what->width_bytes, stream);
	return leave(result);
}

static cu_result fill(cu_pointer destination, uint32_t value, size_t unit, size_t count,
                      cu_stream stream)
{
	if (destination % unit || !range_of(AT(destination)))
		return ABI_INVALID_VALUE;
	return append(stream, (struct op){ .kind = FILL, .destination = AT(destination),
	                                   .value = value, .unit = unit, .bytes = unit * count,
	                                   .cost_ns = 1000 });
}

cu_result cuMemsetD8Async(cu_pointer destination, unsigned char value, size_t count,
                          cu_stream stream)
{
	ENTER_CONTEXT();
	return leave(fill(destination, value, 1, count, stream));
}

cu_result cuMemsetD16Async(cu_pointer destination, unsigned short value, size_t count,
                           cu_stream stream)
{
	ENTER_CONTEXT();
	return leave(fill(destination, value, 2, count, stream));
}

cu_result cuMemsetD32Async(cu_pointer destination, unsigned int value, size_t count,
                           cu_stream stream)
{
	ENTER_CONTEXT();
	return leave(fill(destination, value, 4, count, stream));
}

// ---- for the tests

int64_t fake_cuda_event_ns(cu_event event)
{
	return event->ns / gpu.script.step * gpu.script.step;
}

void fake_cuda_skip_ns(int64_t ns)
{
	pthread_mutex_lock(&mutex);
	gpu.skipped_ns += ns;
	pthread_mutex_unlock(&mutex);
}

int fake_cuda_objects(void)
{
	return gpu.objects;
}

int fake_cuda_records(void)
{
	return gpu.records;
}

int fake_cuda_pending(void)
{
	pthread_mutex_lock(&mutex);
	pump();
	int pending = work_pending();
	pthread_mutex_unlock(&mutex);
	return pending;
}
