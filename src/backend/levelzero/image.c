// SPDX-License-Identifier: Apache-2.0
// Images: memory in a layout of the device's own. Only copies of the whole of one are
// made (operation.c).
#include "backend/levelzero/work.h"

#include <errno.h>

enum { PIXEL_BYTES = 4 };

static bool can_copy(const struct levelzero_functions *call)
{
	return call->zeImageCreate && call->zeImageDestroy && call->zeDeviceGetImageProperties &&
	       call->zeCommandListAppendImageCopyFromMemory &&
	       call->zeCommandListAppendImageCopyToMemory;
}

// Whether the device has images of that size; 0 or an error.
static int check(const struct levelzero_device *device, const struct tare_image *shape,
                 struct tare_error *error)
{
	const struct levelzero_functions *call = &device->driver->call;
	ze_device_image_properties_t most = { .stype = ZE_STRUCTURE_TYPE_DEVICE_IMAGE_PROPERTIES };
	bool deep = shape->depth > 1;

	if (!can_copy(call))
		return tare_fail(error, ENOTSUP, "this Level Zero driver copies no images");
	ze_result_t result = call->zeDeviceGetImageProperties(device->place.device, &most);
	if (result != ZE_RESULT_SUCCESS)
		return levelzero_fail(result, "zeDeviceGetImageProperties", error,
		                      "cannot ask which images there are");
	uint32_t side = deep ? most.maxImageDims3D : most.maxImageDims2D;
	if (side == 0)
		return tare_fail(error, ENOTSUP, "this device has no images");
	if (shape->width > side || shape->height > side || shape->depth > side)
		return tare_fail(error, ENOTSUP, "this device has no image of %u x %u x %u",
		                 shape->width, shape->height, shape->depth);
	return 0;
}

int levelzero_image_create(struct tare_device *base, const struct tare_image *shape,
                           struct tare_memory **memory, struct tare_error *error)
{
	struct levelzero_device *device = levelzero_device_of(base);
	const ze_image_desc_t wanted = {
		.stype = ZE_STRUCTURE_TYPE_IMAGE_DESC,
		.type = shape->depth > 1 ? ZE_IMAGE_TYPE_3D : ZE_IMAGE_TYPE_2D,
		.format = { .layout = ZE_IMAGE_FORMAT_LAYOUT_8_8_8_8,
		            .type = ZE_IMAGE_FORMAT_TYPE_UINT,
		            .x = ZE_IMAGE_FORMAT_SWIZZLE_R,
		            .y = ZE_IMAGE_FORMAT_SWIZZLE_G,
		            .z = ZE_IMAGE_FORMAT_SWIZZLE_B,
		            .w = ZE_IMAGE_FORMAT_SWIZZLE_A },
		.width = shape->width,
		.height = shape->height,
		.depth = shape->depth,
	};
	ze_image_handle_t image = NULL;
	int status = levelzero_works(device, error);

	status = status ?: check(device, shape, error);
	if (status < 0)
		return status;
	ze_result_t result = device->driver->call.zeImageCreate(
	    device->context, device->place.device, &wanted, &image);
	// A size or a format that a device has not is no failure of the call.
	if (result == ZE_RESULT_ERROR_UNSUPPORTED_IMAGE_FORMAT ||
	    result == ZE_RESULT_ERROR_UNSUPPORTED_SIZE)
		return tare_fail(error, ENOTSUP, "this device has no image of %u x %u x %u",
		                 shape->width, shape->height, shape->depth);
	if (result != ZE_RESULT_SUCCESS)
		return levelzero_fail(result, "zeImageCreate", error,
		                      "cannot make an image of %u x %u x %u", shape->width,
		                      shape->height, shape->depth);
	status = levelzero_memory_of_image(
	    device, image, (uint64_t)shape->width * shape->height * shape->depth * PIXEL_BYTES,
	    memory, error);
	if (status < 0)
		device->driver->call.zeImageDestroy(image);
	return status;
}
