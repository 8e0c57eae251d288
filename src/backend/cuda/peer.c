// SPDX-License-Identifier: Apache-2.0
// One device's reach into another's memory. Without peer access the driver moves a copy through
// the host itself; with it the copy goes straight over the link between the two.
#include "backend/cuda/internal.h"

#include <errno.h>

// Access is a matter of the context, and contexts are the process's own: another library may have
// given it already.
int cuda_peer_enable(struct tare_device *device, struct tare_device *peer, struct tare_error *error)
{
	struct cuda_device *self = cuda_device_of(device), *other = cuda_device_of(peer);
	const struct cuda_functions *call = &self->driver->call;
	int can = 0, status;

	if (self->handle == other->handle)
		return tare_fail(error, EINVAL, "a device is no peer of its own");
	status = cuda_enter(self, error);
	if (status < 0)
		return status;
	cu_result result = call->cuDeviceCanAccessPeer(&can, self->handle, other->handle);
	if (result != ABI_SUCCESS)
		return cuda_fail(self->driver, result, "cuDeviceCanAccessPeer", error,
		                 "whether cuda:%u can reach cuda:%u is not known", device->index,
		                 peer->index);
	if (!can)
		return tare_fail(error, ENOTSUP,
		                 "the driver gives cuda:%u no access to the memory of cuda:%u",
		                 device->index, peer->index);
	result = call->cuCtxEnablePeerAccess(other->context, 0);
	if (result == ABI_SUCCESS || result == ABI_PEER_ACCESS_ALREADY_ENABLED)
		return 0;
	if (result == ABI_PEER_ACCESS_UNSUPPORTED)
		return tare_fail(error, ENOTSUP,
		                 "the driver refuses cuda:%u access to the memory of cuda:%u",
		                 device->index, peer->index);
	if (result == ABI_TOO_MANY_PEERS)
		return tare_fail(error, ENOTSUP,
		                 "cuda:%u has as many peers already as the hardware allows",
		                 device->index);
	return cuda_fail(self->driver, result, "cuCtxEnablePeerAccess", error,
	                 "cuda:%u cannot be given access to cuda:%u", device->index, peer->index);
}

int cuda_peer_copy(struct cuda_device *device, const struct tare_span *from,
                   const struct tare_span *to, cu_stream stream, struct tare_error *error)
{
	const struct cuda_device *source = cuda_device_of(from->memory->device);
	const struct cuda_device *destination = cuda_device_of(to->memory->device);

	if (!device->driver->call.cuMemcpyPeerAsync)
		return tare_fail(error, ENOTSUP, "this CUDA driver copies nothing between devices");
	cu_result result = device->driver->call.cuMemcpyPeerAsync(
	    cuda_device_address(to), destination->context, cuda_device_address(from),
	    source->context, to->bytes, stream);
	if (result != ABI_SUCCESS)
		return cuda_fail(device->driver, result, "cuMemcpyPeerAsync", error,
		                 "cannot copy %llu bytes from cuda:%u to cuda:%u",
		                 (unsigned long long)to->bytes, source->base.index,
		                 destination->base.index);
	return 0;
}
