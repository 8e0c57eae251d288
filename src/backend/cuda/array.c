// SPDX-License-Identifier: Apache-2.0
// Arrays: memory in a layout of the device's own, which copies alone reach.
#include "backend/cuda/internal.h"

#include <errno.h>
#include <stdlib.h>

enum { CHANNELS = 4 }; // of a byte each: a pixel

bool cuda_is_array(const struct tare_memory *memory)
{
	return memory && ((const struct cuda_memory *)memory)->array;
}

int cuda_image_create(struct tare_device *base, const struct tare_image *shape,
                      struct tare_memory **memory, struct tare_error *error)
{
	struct cuda_device *device = cuda_device_of(base);
	const struct cuda_functions *call = &device->driver->call;
	const cu_array3d wanted = { .width = shape->width,
		                    .height = shape->height,
		                    .depth = shape->depth > 1 ? shape->depth : 0,
		                    .format = ABI_AD_FORMAT_UNSIGNED_INT8,
		                    .channels = CHANNELS };
	int status = cuda_enter(device, error);

	if (status < 0)
		return status;
	if (!call->cuArray3DCreate_v2 || !call->cuArrayDestroy)
		return tare_fail(error, ENOTSUP, "this CUDA driver has no cuArray3DCreate_v2");
	struct cuda_memory *made = calloc(1, sizeof *made);
	if (!made)
		return tare_fail(error, ENOMEM, "out of memory");
	made->base = (struct tare_memory){
		.device = base,
		.kind = TARE_MEMORY_DEVICE,
		.bytes = (uint64_t)shape->width * shape->height * shape->depth * CHANNELS,
	};
	made->shape = *shape;
	cu_result result = call->cuArray3DCreate_v2(&made->array, &wanted);
	if (result != ABI_SUCCESS) {
		free(made);
		// A size that a device has not is no failure of the call.
		if (result == ABI_INVALID_VALUE)
			return tare_fail(error, ENOTSUP, "this device has no array of %u x %u x %u",
			                 shape->width, shape->height, shape->depth);
		return cuda_fail(device->driver, result, "cuArray3DCreate_v2", error,
		                 "cannot make an array of %u x %u x %u", shape->width,
		                 shape->height, shape->depth);
	}
	*memory = &made->base;
	return 0;
}

int cuda_copy_array(struct cuda_device *device, const struct tare_operation *operation,
                    cu_stream stream, struct tare_error *error)
{
	const struct tare_span *from = &operation->source, *to = &operation->destination;
	bool in = cuda_is_array(to->memory);
	const struct tare_span *host = in ? from : to, *array = in ? to : from;
	const struct cuda_memory *own = (const struct cuda_memory *)array->memory;
	cu_memcpy3d what = { .width_bytes = (size_t)own->shape.width * CHANNELS,
		             .height = own->shape.height,
		             .depth = own->shape.depth };

	if (!host->memory->host || cuda_is_array(host->memory))
		return tare_fail(error, ENOTSUP, "arrays are copied from and to host memory only");
	if (array->offset_bytes || array->bytes != array->memory->bytes ||
	    host->bytes != array->bytes)
		return tare_fail(error, EINVAL, "arrays are copied as a whole only");
	if (in) {
		what.source_type = ABI_MEMORYTYPE_HOST;
		what.source_host = cuda_host_address(host);
		what.source_pitch = what.width_bytes;
		what.source_height = what.height;
		what.destination_type = ABI_MEMORYTYPE_ARRAY;
		what.destination_array = own->array;
	} else {
		what.source_type = ABI_MEMORYTYPE_ARRAY;
		what.source_array = own->array;
		what.destination_type = ABI_MEMORYTYPE_HOST;
		what.destination_host = cuda_host_address(host);
		what.destination_pitch = what.width_bytes;
		what.destination_height = what.height;
	}
	cu_result result = device->driver->call.cuMemcpy3DAsync_v2(&what, stream);
	if (result != ABI_SUCCESS)
		return cuda_fail(device->driver, result, "cuMemcpy3DAsync_v2", error,
		                 "cannot copy an array");
	return 0;
}
