// SPDX-License-Identifier: Apache-2.0
// Images: memory in a layout of the device's own, copied as a whole from and to host memory.
#include "backend/opencl/opencl.h"

#include <errno.h>
#include <stdlib.h>

#define PIXEL_BYTES 4

static int check_device(const struct opencl_device *device, struct tare_error *error)
{
	cl_bool images = CL_FALSE;

	if (!device->cl->clCreateImage || !device->cl->clEnqueueReadImage ||
	    !device->cl->clEnqueueWriteImage)
		return tare_fail(error, ENOTSUP, "this loader lacks OpenCL 1.2's images");
	if (device->cl->clGetDeviceInfo(device->entry.id, CL_DEVICE_IMAGE_SUPPORT, sizeof images,
	                                &images, NULL) != CL_SUCCESS ||
	    !images)
		return tare_fail(error, ENOTSUP, "this device has no images");
	return 0;
}

int opencl_image_create(struct tare_device *base, const struct tare_image *shape,
                        struct tare_memory **memory, struct tare_error *error)
{
	struct opencl_device *device = opencl_device(base);
	const cl_image_format format = { CL_RGBA, CL_UNSIGNED_INT8 };
	const cl_image_desc wanted = {
		.image_type = shape->depth > 1 ? CL_MEM_OBJECT_IMAGE3D : CL_MEM_OBJECT_IMAGE2D,
		.image_width = shape->width,
		.image_height = shape->height,
		.image_depth = shape->depth,
	};
	int status = check_device(device, error);
	struct opencl_memory *made = status < 0 ? NULL : calloc(1, sizeof *made);
	cl_int code = CL_SUCCESS;

	if (status < 0)
		return status;
	if (!made)
		return tare_fail(error, ENOMEM, "out of memory");
	made->base = (struct tare_memory){
		.device = base,
		.kind = TARE_MEMORY_DEVICE,
		.bytes = (uint64_t)shape->width * shape->height * shape->depth * PIXEL_BYTES,
	};
	made->image = *shape;
	made->buffer = device->cl->clCreateImage(device->context, CL_MEM_READ_WRITE, &format,
	                                         &wanted, NULL, &code);
	if (code != CL_SUCCESS) {
		free(made);
		// A size or a format that a device has not is no failure of the call.
		if (code == CL_INVALID_IMAGE_SIZE || code == CL_IMAGE_FORMAT_NOT_SUPPORTED)
			return tare_fail(error, ENOTSUP, "this device has no image of %u x %u x %u",
			                 shape->width, shape->height, shape->depth);
		return opencl_fail(error, "clCreateImage", code,
		                   "cannot make an image of %u x %u x %u", shape->width,
		                   shape->height, shape->depth);
	}
	*memory = &made->base;
	return 0;
}

bool opencl_is_image(const struct tare_memory *memory)
{
	return ((const struct opencl_memory *)memory)->image.width > 0;
}

int opencl_append_image(const struct opencl_append *append, struct tare_error *error)
{
	const struct opencl_functions *cl = append->device->cl;
	const struct tare_span *from = &append->operation->source;
	const struct tare_span *to = &append->operation->destination;
	bool in = opencl_is_image(to->memory);
	const struct tare_span *host = in ? from : to, *image = in ? to : from;
	const struct opencl_memory *own = (const struct opencl_memory *)image->memory;
	static const size_t origin[3];
	const size_t region[3] = { own->image.width, own->image.height, own->image.depth };
	cl_int code;

	if (!host->memory->host || opencl_is_image(host->memory))
		return tare_fail(error, ENOTSUP, "images are copied from and to host memory only");
	if (image->offset_bytes || image->bytes != image->memory->bytes ||
	    host->bytes != image->bytes)
		return tare_fail(error, EINVAL, "images are copied as a whole only");
	char *at = (char *)host->memory->host + host->offset_bytes;
	if (in)
		code = cl->clEnqueueWriteImage(
		    append->queue->queue, own->buffer, append->operation->blocking, origin, region,
		    0, 0, at, append->wait_count, append->waits, append->event);
	else
		code = cl->clEnqueueReadImage(append->queue->queue, own->buffer,
		                              append->operation->blocking, origin, region, 0, 0, at,
		                              append->wait_count, append->waits, append->event);
	return opencl_result(error, in ? "clEnqueueWriteImage" : "clEnqueueReadImage", code,
	                     "cannot copy an image");
}
