// SPDX-License-Identifier: Apache-2.0
// Images: rows one after another in memory of the device, which copies fill and read. No kernel
// takes one: the device's image properties say so.
#include "ze_cpu.h"

#include <stdlib.h>

struct _ze_image_handle_t {
	ze_context_handle_t context;
	void *at; // NULL: of a format that nothing can be done with
	uint32_t pixel_bytes;
	ze_image_region_t whole;
};

// 0: of a format whose pixels are no whole number of bytes each, or of media.
static uint32_t pixel_bytes_of(ze_image_format_layout_t layout)
{
	switch (layout) {
	case ZE_IMAGE_FORMAT_LAYOUT_8:
		return 1;
	case ZE_IMAGE_FORMAT_LAYOUT_16:
	case ZE_IMAGE_FORMAT_LAYOUT_8_8:
		return 2;
	case ZE_IMAGE_FORMAT_LAYOUT_32:
	case ZE_IMAGE_FORMAT_LAYOUT_16_16:
	case ZE_IMAGE_FORMAT_LAYOUT_8_8_8_8:
		return 4;
	case ZE_IMAGE_FORMAT_LAYOUT_32_32:
	case ZE_IMAGE_FORMAT_LAYOUT_16_16_16_16:
		return 8;
	case ZE_IMAGE_FORMAT_LAYOUT_32_32_32_32:
		return 16;
	default:
		return 0;
	}
}

static uint32_t at_least_one(uint64_t value)
{
	return value != 0 ? (uint32_t)value : 1;
}

static ze_image_region_t extent_of(const ze_image_desc_t *description)
{
	bool is_1d = description->type == ZE_IMAGE_TYPE_1D;
	bool is_3d = description->type == ZE_IMAGE_TYPE_3D;
	return (ze_image_region_t){
		.width = at_least_one(description->width),
		.height = is_1d ? 1 : at_least_one(description->height),
		.depth = is_3d ? at_least_one(description->depth) : 1,
	};
}

static bool is_plain(ze_image_type_t type)
{
	return type == ZE_IMAGE_TYPE_1D || type == ZE_IMAGE_TYPE_2D || type == ZE_IMAGE_TYPE_3D;
}

ze_result_t cpu_zeImageGetProperties(ze_device_handle_t device, const ze_image_desc_t *description,
                                     ze_image_properties_t *properties)
{
	if (!device)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (!description || !properties)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	if (!is_plain(description->type) || !pixel_bytes_of(description->format.layout))
		return ZE_RESULT_ERROR_UNSUPPORTED_IMAGE_FORMAT;
	properties->samplerFilterFlags = 0;
	return ZE_RESULT_SUCCESS;
}

ze_result_t cpu_zeImageCreate(ze_context_handle_t context, ze_device_handle_t device,
                              const ze_image_desc_t *description, ze_image_handle_t *made)
{
	static const ze_device_mem_alloc_desc_t memory = {
		.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC,
	};
	ze_image_handle_t image;
	ze_result_t result = ZE_RESULT_SUCCESS;

	if (!context || !device)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (!description || !made)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	if (description->flags > 3 || description->type > ZE_IMAGE_TYPE_BUFFER)
		return ZE_RESULT_ERROR_INVALID_ENUMERATION;
	image = calloc(1, sizeof *image);
	if (!image)
		return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
	image->context = context;
	image->whole = extent_of(description);
	image->pixel_bytes = pixel_bytes_of(description->format.layout);
	// Programs exist that make others nevertheless and expect to get rid of them again.
	if (image->pixel_bytes && is_plain(description->type)) {
		size_t bytes = (size_t)image->whole.width * image->whole.height *
		               image->whole.depth * image->pixel_bytes;
		result =
		    image->whole.width > CPU_IMAGE_SIDE || image->whole.height > CPU_IMAGE_SIDE ||
		            image->whole.depth > CPU_IMAGE_SIDE
		        ? ZE_RESULT_ERROR_UNSUPPORTED_SIZE
		        : cpu_zeMemAllocDevice(context, &memory, bytes, 64, device, &image->at);
	}
	if (result != ZE_RESULT_SUCCESS) {
		free(image);
		return result;
	}
	*made = image;
	return ZE_RESULT_SUCCESS;
}

ze_result_t cpu_zeImageDestroy(ze_image_handle_t image)
{
	if (!image)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (image->at)
		cpu_zeMemFree(image->context, image->at);
	free(image);
	return ZE_RESULT_SUCCESS;
}

// ---- copies

// A part of memory with rows and layers of pixels, as copies of regions take it.
struct side {
	void *at;
	ze_copy_region_t region;
	uint32_t pitch, slice;
};

static bool is_within(const ze_image_region_t *part, const ze_image_region_t *whole)
{
	return part->width && part->height && part->depth && part->originX <= whole->width &&
	       part->width <= whole->width - part->originX && part->originY <= whole->height &&
	       part->height <= whole->height - part->originY && part->originZ <= whole->depth &&
	       part->depth <= whole->depth - part->originZ;
}

// Of an image. part NULL: the whole of it.
static ze_result_t side_of_image(ze_image_handle_t image, const ze_image_region_t *part,
                                 struct side *side)
{
	if (!image)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (!image->at)
		return ZE_RESULT_ERROR_UNSUPPORTED_IMAGE_FORMAT;
	const ze_image_region_t *cut = part ? part : &image->whole;
	uint32_t pixel = image->pixel_bytes;
	if (!is_within(cut, &image->whole))
		return ZE_RESULT_ERROR_INVALID_SIZE;
	*side = (struct side){ .at = image->at,
		               .region = { .originX = cut->originX * pixel,
		                           .originY = cut->originY,
		                           .originZ = cut->originZ,
		                           .width = cut->width * pixel,
		                           .height = cut->height,
		                           .depth = cut->depth },
		               .pitch = image->whole.width * pixel,
		               .slice = image->whole.width * pixel * image->whole.height };
	return ZE_RESULT_SUCCESS;
}

// Of memory beside an image: as many rows, one right behind the other.
static struct side packed(const void *at, const struct side *like)
{
	return (struct side){ .at = (void *)(uintptr_t)at,
		              .region = { .width = like->region.width,
		                          .height = like->region.height,
		                          .depth = like->region.depth },
		              .pitch = like->region.width,
		              .slice = like->region.width * like->region.height };
}

static bool is_row(const struct side *side)
{
	return side->region.originX == 0 && side->region.originY == 0 &&
	       side->region.originZ == 0 && side->region.width == side->pitch &&
	       side->pitch * side->region.height == side->slice;
}

static ze_result_t append(ze_command_list_handle_t list, const struct side *to,
                          const struct side *from, ze_event_handle_t signal, uint32_t wait_count,
                          ze_event_handle_t *waits)
{
	if (!to->at || !from->at)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	if (is_row(to) && is_row(from))
		return cpu_zeCommandListAppendMemoryCopy(list, to->at, from->at,
		                                         (size_t)to->slice * to->region.depth,
		                                         signal, wait_count, waits);
	return cpu_zeCommandListAppendMemoryCopyRegion(
	    list, to->at, &to->region, to->pitch, to->slice, from->at, &from->region, from->pitch,
	    from->slice, signal, wait_count, waits);
}

ze_result_t cpu_zeCommandListAppendImageCopyFromMemory(ze_command_list_handle_t list,
                                                       ze_image_handle_t image, const void *source,
                                                       const ze_image_region_t *part,
                                                       ze_event_handle_t signal,
                                                       uint32_t wait_count,
                                                       ze_event_handle_t *waits)
{
	struct side to;
	ze_result_t result =
	    list ? side_of_image(image, part, &to) : ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (result != ZE_RESULT_SUCCESS)
		return result;
	struct side from = packed(source, &to);
	return append(list, &to, &from, signal, wait_count, waits);
}

ze_result_t cpu_zeCommandListAppendImageCopyToMemory(ze_command_list_handle_t list,
                                                     void *destination, ze_image_handle_t image,
                                                     const ze_image_region_t *part,
                                                     ze_event_handle_t signal, uint32_t wait_count,
                                                     ze_event_handle_t *waits)
{
	struct side from;
	ze_result_t result =
	    list ? side_of_image(image, part, &from) : ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (result != ZE_RESULT_SUCCESS)
		return result;
	struct side to = packed(destination, &from);
	return append(list, &to, &from, signal, wait_count, waits);
}

ze_result_t
cpu_zeCommandListAppendImageCopyRegion(ze_command_list_handle_t list, ze_image_handle_t destination,
                                       ze_image_handle_t source, const ze_image_region_t *to_part,
                                       const ze_image_region_t *from_part, ze_event_handle_t signal,
                                       uint32_t wait_count, ze_event_handle_t *waits)
{
	struct side to, from;
	ze_result_t result =
	    list ? side_of_image(destination, to_part, &to) : ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (result == ZE_RESULT_SUCCESS)
		result = side_of_image(source, from_part, &from);
	if (result == ZE_RESULT_SUCCESS && destination->pixel_bytes != source->pixel_bytes)
		result = ZE_RESULT_ERROR_INVALID_ARGUMENT;
	return result == ZE_RESULT_SUCCESS ? append(list, &to, &from, signal, wait_count, waits)
	                                   : result;
}

ze_result_t cpu_zeCommandListAppendImageCopy(ze_command_list_handle_t list,
                                             ze_image_handle_t destination,
                                             ze_image_handle_t source, ze_event_handle_t signal,
                                             uint32_t wait_count, ze_event_handle_t *waits)
{
	return cpu_zeCommandListAppendImageCopyRegion(list, destination, source, NULL, NULL, signal,
	                                              wait_count, waits);
}
