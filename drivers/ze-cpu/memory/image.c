// SPDX-License-Identifier: Apache-2.0
// Images that nothing can be done with. The device's image properties are all 0, which says that
// there are none; programs exist that make them nevertheless and expect to get rid of them again.
#include "ze_cpu.h"

#include <stdlib.h>

struct _ze_image_handle_t {
	ze_context_handle_t context;
};

ze_result_t cpu_zeImageGetProperties(ze_device_handle_t device, const ze_image_desc_t *description,
                                     ze_image_properties_t *properties)
{
	if (!device)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (!description || !properties)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	return ZE_RESULT_ERROR_UNSUPPORTED_IMAGE_FORMAT;
}

ze_result_t cpu_zeImageCreate(ze_context_handle_t context, ze_device_handle_t device,
                              const ze_image_desc_t *description, ze_image_handle_t *made)
{
	ze_image_handle_t image;

	if (!context || !device)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (!description || !made)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	if (description->flags > 3 || description->type > ZE_IMAGE_TYPE_BUFFER)
		return ZE_RESULT_ERROR_INVALID_ENUMERATION;
	image = malloc(sizeof *image);
	if (!image)
		return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
	image->context = context;
	*made = image;
	return ZE_RESULT_SUCCESS;
}

ze_result_t cpu_zeImageDestroy(ze_image_handle_t image)
{
	if (!image)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	free(image);
	return ZE_RESULT_SUCCESS;
}
