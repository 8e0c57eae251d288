// SPDX-License-Identifier: Apache-2.0
// A stand-in for libcuda.so.1 that keeps CUDA's documented rules, on the engine model. Here are
// start, devices and contexts; fake_cuda_script.c says what it can be told, and each file of a
// subject begins with the rules that it keeps:
//  - nothing works before cuInit; what needs a context fails without a current one (201);
//  - a device in exclusive-process mode that another process uses, or in prohibited mode, gives no
//    context (46);
//  - an error of a kernel comes late, stays, and is told by every later call in its context.
#include "fake_cuda_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

cu_result cuInit(unsigned int flags)
{
	static pid_t begun;
	pthread_mutex_lock(&mutex);
	if (flags)
		return leave(ABI_INVALID_VALUE);
	// In the child of a process that it has begun in it does not begin again.
	if (begun && begun != getpid())
		return leave(ABI_NOT_INITIALIZED);
	begun = getpid();
	start_device();
	if (!gpu.words.init && gpu.words.devices == 0) {
		gpu.initialised = false;
		return leave(ABI_NO_DEVICE);
	}
	cu_result result = leave(gpu.words.init);
	if (result == ABI_SUCCESS)
		let_in();
	return result;
}

cu_result cuDriverGetVersion(int *version)
{
	pthread_mutex_lock(&mutex);
	// May be asked before cuInit.
	if (!gpu.words.driver)
		read_words();
	*version = gpu.words.driver;
	return leave(ABI_SUCCESS);
}

cu_result cuGetErrorName(cu_result result, const char **name)
{
	static const struct {
		cu_result result;
		const char *name;
	} names[] = {
		{ ABI_SUCCESS, "CUDA_SUCCESS" },
		{ ABI_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE" },
		{ ABI_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY" },
		{ ABI_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED" },
		{ ABI_STUB_LIBRARY, "CUDA_ERROR_STUB_LIBRARY" },
		{ ABI_DEVICE_UNAVAILABLE, "CUDA_ERROR_DEVICE_UNAVAILABLE" },
		{ ABI_NO_DEVICE, "CUDA_ERROR_NO_DEVICE" },
		{ ABI_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE" },
		{ ABI_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT" },
		{ ABI_ECC_UNCORRECTABLE, "CUDA_ERROR_ECC_UNCORRECTABLE" },
		{ FAKE_PEER_ACCESS_UNSUPPORTED, "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED" },
		{ ABI_INVALID_PTX, "CUDA_ERROR_INVALID_PTX" },
		{ ABI_UNSUPPORTED_PTX_VERSION, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION" },
		{ ABI_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE" },
		{ ABI_NOT_FOUND, "CUDA_ERROR_NOT_FOUND" },
		{ ABI_NOT_READY, "CUDA_ERROR_NOT_READY" },
		{ ABI_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS" },
		{ ABI_PEER_ACCESS_ALREADY_ENABLED, "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED" },
		{ ABI_MISALIGNED_ADDRESS, "CUDA_ERROR_MISALIGNED_ADDRESS" },
		{ ABI_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED" },
		{ ABI_NOT_PERMITTED, "CUDA_ERROR_NOT_PERMITTED" },
		{ ABI_NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED" },
		{ ABI_SYSTEM_DRIVER_MISMATCH, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH" },
		{ FAKE_CAPTURE_UNSUPPORTED, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED" },
		{ FAKE_CAPTURE_UNJOINED, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED" },
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

// ---- devices

static bool exists(cu_device device)
{
	return device >= 0 && device < gpu.words.devices;
}

cu_result cuDeviceGetCount(int *count)
{
	ENTER();
	*count = gpu.words.devices;
	return leave(ABI_SUCCESS);
}

cu_result cuDeviceGet(cu_device *device, int ordinal)
{
	ENTER();
	*device = ordinal;
	return leave(exists(ordinal) ? ABI_SUCCESS : ABI_INVALID_DEVICE);
}

cu_result cuDeviceGetName(char *name, int length, cu_device device)
{
	ENTER();
	if (!exists(device))
		return leave(ABI_INVALID_DEVICE);
	snprintf(name, (size_t)length, "%s",
	         gpu.words.name[0] ? gpu.words.name : gpu.devices[device].script.device.name);
	return leave(ABI_SUCCESS);
}

cu_result cuDeviceGetUuid_v2(cu_uuid *uuid, cu_device device)
{
	ENTER();
	for (int i = 0; i < 16; i++)
		uuid->bytes[i] = (char)(0xa0 + i);
	uuid->bytes[15] = (char)device;
	return leave(exists(device) ? ABI_SUCCESS : ABI_INVALID_DEVICE);
}

cu_result cuDeviceTotalMem_v2(size_t *bytes, cu_device device)
{
	ENTER();
	if (!exists(device))
		return leave(ABI_INVALID_DEVICE);
	*bytes =
	    gpu.words.memory ? gpu.words.memory : gpu.devices[device].script.device.memory_bytes;
	return leave(ABI_SUCCESS);
}

static int compute_mode(void)
{
	return gpu.words.prohibited ? 2 : gpu.words.exclusive ? 3 : 0;
}

static int copy_engines(const struct device *device)
{
	int count = 0;
	for (size_t i = 0; i < device->script.engine_count; i++)
		count += !device->script.engines[i].compute;
	return count;
}

cu_result cuDeviceGetAttribute(int *value, cu_attribute attribute, cu_device index)
{
	ENTER();
	if (!exists(index))
		return leave(ABI_INVALID_DEVICE);
	const struct device *device = &gpu.devices[index];
	const struct tare_script_device *is = &device->script.device;
	const struct {
		cu_attribute attribute;
		uint64_t value;
	} table[] = {
		{ ABI_ATTRIBUTE_MAX_THREADS_PER_BLOCK, is->work_group ? is->work_group : 1024 },
		{ ABI_ATTRIBUTE_WARP_SIZE, 32 },
		{ ABI_ATTRIBUTE_CLOCK_RATE, is->clock_hz / 1000 },
		{ ABI_ATTRIBUTE_MULTIPROCESSOR_COUNT, is->units },
		{ ABI_ATTRIBUTE_INTEGRATED, is->unified == 1 },
		{ FAKE_ATTRIBUTE_COMPUTE_MODE, (uint64_t)compute_mode() },
		{ ABI_ATTRIBUTE_ECC_ENABLED, is->ecc == 1 },
		{ ABI_ATTRIBUTE_MEMORY_CLOCK_RATE, is->memory_clock_hz / 1000 },
		{ ABI_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, is->memory_bus_bits },
		{ ABI_ATTRIBUTE_L2_CACHE_SIZE, is->cache_bytes },
		{ ABI_ATTRIBUTE_ASYNC_ENGINE_COUNT, (uint64_t)copy_engines(device) },
		{ ABI_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, (uint64_t)gpu.words.major },
		{ ABI_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, (uint64_t)gpu.words.minor },
		{ ABI_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, is->local_bytes },
		{ ABI_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, 65536 },
		{ ABI_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 2048 },
		{ ABI_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, 32 },
		{ ABI_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, 65536 },
		{ ABI_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK, 1024 },
		{ ABI_ATTRIBUTE_MANAGED_MEMORY, !gpu.words.no_managed },
		{ ABI_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, !gpu.words.no_managed },
		{ ABI_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS, 0 },
		{ ABI_ATTRIBUTE_HOST_REGISTER_SUPPORTED, 1 },
	};
	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		if (table[i].attribute == attribute) {
			*value = (int)table[i].value;
			return leave(ABI_SUCCESS);
		}
	return leave(ABI_INVALID_VALUE);
}

cu_result cuDeviceGetPCIBusId(char *text, int length, cu_device device)
{
	ENTER();
	snprintf(text, (size_t)length, "0000:%02X:00.0", 0x3b + device);
	return leave(exists(device) ? ABI_SUCCESS : ABI_INVALID_DEVICE);
}

// ---- contexts

cu_result cuDevicePrimaryCtxRetain(cu_context *context, cu_device device)
{
	ENTER();
	if (!exists(device))
		return leave(ABI_INVALID_DEVICE);
	if (compute_mode())
		return leave(ABI_DEVICE_UNAVAILABLE);
	*context = &gpu.devices[device].context;
	gpu.objects += (*context)->users++ == 0;
	return leave(ABI_SUCCESS);
}

FAKE_EXPORT cu_result cuDevicePrimaryCtxGetState(cu_device device, unsigned int *flags,
                                                 int *active);
cu_result cuDevicePrimaryCtxGetState(cu_device device, unsigned int *flags, int *active)
{
	ENTER();
	if (!exists(device))
		return leave(ABI_INVALID_DEVICE);
	*flags = 0;
	*active = gpu.devices[device].context.users > 0;
	return leave(ABI_SUCCESS);
}

static bool anything_pending(const struct device *device)
{
	for (const struct cu_stream_object *each = device->streams; each; each = each->next)
		if (each->count)
			return true;
	return false;
}

cu_result cuDevicePrimaryCtxRelease_v2(cu_device index)
{
	ENTER();
	struct device *device = exists(index) ? &gpu.devices[index] : NULL;
	if (!device || device->context.users == 0)
		return leave(device ? ABI_INVALID_CONTEXT : ABI_INVALID_DEVICE);
	if (--device->context.users > 0)
		return leave(ABI_SUCCESS);
	gpu.objects--;
	// What is still queued ends first, if it ends; then all of the context goes.
	pump();
	for (int i = 0; i < 200 && !device->lost && anything_pending(device); i++) {
		pause_shortly();
		pump();
	}
	for (struct cu_stream_object *each = device->streams; each; each = each->next)
		gpu.objects -= !each->destroyed && !each->legacy && !each->of_thread;
	forget_work(device);
	free_ranges(device);
	revive_device(device);
	return leave(ABI_SUCCESS);
}

cu_result cuCtxSetCurrent(cu_context context)
{
	ENTER();
	current = context;
	return leave(ABI_SUCCESS);
}

FAKE_EXPORT cu_result cuCtxGetCurrent(cu_context *context);
cu_result cuCtxGetCurrent(cu_context *context)
{
	ENTER();
	*context = current;
	return leave(ABI_SUCCESS);
}

FAKE_EXPORT cu_result cuCtxGetDevice(cu_device *device);
cu_result cuCtxGetDevice(cu_device *device)
{
	ENTER_CONTEXT();
	*device = current->device->index;
	return leave(ABI_SUCCESS);
}

FAKE_EXPORT cu_result cuCtxSynchronize(void);
cu_result cuCtxSynchronize(void)
{
	ENTER_CONTEXT();
	return leave(drain_device(current->device));
}

// ---- peers

cu_result cuDeviceCanAccessPeer(int *can, cu_device device, cu_device peer)
{
	ENTER();
	if (!exists(device) || !exists(peer))
		return leave(ABI_INVALID_DEVICE);
	*can = device != peer && !gpu.words.no_peer;
	return leave(ABI_SUCCESS);
}

FAKE_EXPORT cu_result cuDeviceGetP2PAttribute(int *value, int attribute, cu_device source,
                                              cu_device destination);
cu_result cuDeviceGetP2PAttribute(int *value, int attribute, cu_device source,
                                  cu_device destination)
{
	enum { ACCESS_SUPPORTED = 2 };
	ENTER();
	if (!exists(source) || !exists(destination) || source == destination)
		return leave(ABI_INVALID_DEVICE);
	*value = attribute == ACCESS_SUPPORTED && !gpu.words.no_peer;
	return leave(ABI_SUCCESS);
}

cu_result cuCtxEnablePeerAccess(cu_context peer, unsigned int flags)
{
	ENTER_CONTEXT();
	if (!peer || peer == current)
		return leave(ABI_INVALID_CONTEXT);
	if (flags)
		return leave(ABI_INVALID_VALUE);
	if (gpu.words.no_peer)
		return leave(FAKE_PEER_ACCESS_UNSUPPORTED);
	bool *enabled = &current->device->peers[peer->device->index];
	cu_result result = *enabled ? ABI_PEER_ACCESS_ALREADY_ENABLED : ABI_SUCCESS;
	*enabled = true;
	return leave(result);
}
