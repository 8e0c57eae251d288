// SPDX-License-Identifier: Apache-2.0
// Images: how many bytes a copy of one, or of a part of it, moves.
#include "guest/levelzero/ze.h"

struct image {
	void *spare;
	uint32_t texel_bytes; // 0: not known
	uint64_t bytes;
};
static struct guest_map *images; // by handle
static struct ze_spares spares;

bool ze_images_begin(void)
{
	guest_lock_register(&spares.lock);
	images = guest_map_new();
	return images != NULL;
}

// Of media formats, whose planes differ, it is not told.
static uint32_t texel_bytes(const ze_image_desc_t *desc)
{
	static const uint8_t bytes[] = { [ZE_IMAGE_FORMAT_LAYOUT_8] = 1,
		                         [ZE_IMAGE_FORMAT_LAYOUT_16] = 2,
		                         [ZE_IMAGE_FORMAT_LAYOUT_32] = 4,
		                         [ZE_IMAGE_FORMAT_LAYOUT_8_8] = 2,
		                         [ZE_IMAGE_FORMAT_LAYOUT_8_8_8_8] = 4,
		                         [ZE_IMAGE_FORMAT_LAYOUT_16_16] = 4,
		                         [ZE_IMAGE_FORMAT_LAYOUT_16_16_16_16] = 8,
		                         [ZE_IMAGE_FORMAT_LAYOUT_32_32] = 8,
		                         [ZE_IMAGE_FORMAT_LAYOUT_32_32_32_32] = 16,
		                         [ZE_IMAGE_FORMAT_LAYOUT_10_10_10_2] = 4,
		                         [ZE_IMAGE_FORMAT_LAYOUT_11_11_10] = 4,
		                         [ZE_IMAGE_FORMAT_LAYOUT_5_6_5] = 2,
		                         [ZE_IMAGE_FORMAT_LAYOUT_5_5_5_1] = 2,
		                         [ZE_IMAGE_FORMAT_LAYOUT_4_4_4_4] = 2 };
	if (desc->type == ZE_IMAGE_TYPE_BUFFER)
		return 1;
	return (size_t)desc->format.layout < sizeof bytes ? bytes[desc->format.layout] : 0;
}

static uint64_t texels(const ze_image_desc_t *desc)
{
	bool flat = desc->type == ZE_IMAGE_TYPE_1D || desc->type == ZE_IMAGE_TYPE_1DARRAY ||
	            desc->type == ZE_IMAGE_TYPE_BUFFER;
	bool array = desc->type == ZE_IMAGE_TYPE_1DARRAY || desc->type == ZE_IMAGE_TYPE_2DARRAY;
	uint64_t rows = flat || desc->height == 0 ? 1 : desc->height;
	uint64_t slices = array                            ? desc->arraylevels
	                  : desc->type == ZE_IMAGE_TYPE_3D ? desc->depth
	                                                   : 1;
	return desc->width * rows * (slices != 0 ? slices : 1);
}

void ze_after_zeImageCreate(struct guest_thread *thread, const struct ze_driver *driver,
                            ze_context_handle_t context, ze_device_handle_t device,
                            const ze_image_desc_t *desc, ze_image_handle_t *made,
                            ze_result_t result)
{
	struct image *image = result == ZE_RESULT_SUCCESS ? ze_take(&spares, sizeof *image) : NULL;
	if (image == NULL)
		return;
	image->texel_bytes = texel_bytes(desc);
	image->bytes = texels(desc) * image->texel_bytes;
	guest_map_put(images, *made, (uintptr_t)image);
	ze_define(TARE_OBJECT_MEMORY, *made, context, device, 0, image->bytes, 0,
	          TARE_TRACE_MEMORY_IMAGE);
}

void ze_before_zeImageDestroy(struct guest_thread *thread, const struct ze_driver *driver,
                              ze_image_handle_t handle)
{
	struct image *image = (struct image *)(uintptr_t)guest_map_find(images, handle, 0);
	if (image == NULL)
		return;
	guest_map_remove(images, handle);
	ze_give(&spares, image);
}

uint64_t ze_image_bytes(ze_image_handle_t handle, const ze_image_region_t *part)
{
	const struct image *image =
	    (const struct image *)(uintptr_t)guest_map_find(images, handle, 0);
	if (image == NULL)
		return 0;
	if (part == NULL)
		return image->bytes;
	return (uint64_t)part->width * (part->height != 0 ? part->height : 1) *
	       (part->depth != 0 ? part->depth : 1) * image->texel_bytes;
}
