// SPDX-License-Identifier: Apache-2.0
// The stand-in's arrays: rows one after another in memory of its device, which only copies with
// the array's handle reach.
#include "fake_cuda_array.h"
#include "fake_cuda_device.h"

#include <stdint.h>
#include <stdlib.h>

enum { MOST_2D = 131072, MOST_3D = 16384 };

struct cu_array_object {
	cu_pointer at;
	size_t pitch, height;
};

FAKE_EXPORT cu_result cuArray3DCreate_v2(cu_array *array, const cu_array3d *wanted);
cu_result cuArray3DCreate_v2(cu_array *array, const cu_array3d *wanted)
{
	size_t most = wanted->depth ? MOST_3D : MOST_2D;
	if (!array || !wanted->width || !wanted->height || wanted->width > most ||
	    wanted->height > most || wanted->depth > most || wanted->flags ||
	    wanted->format != ABI_AD_FORMAT_UNSIGNED_INT8 || wanted->channels != 4)
		return ABI_INVALID_VALUE;
	struct cu_array_object *made = calloc(1, sizeof *made);
	if (!made)
		return ABI_OUT_OF_MEMORY;
	made->pitch = wanted->width * wanted->channels;
	made->height = wanted->height;
	cu_result result = cuMemAlloc_v2(&made->at, made->pitch * wanted->height *
	                                                (wanted->depth ? wanted->depth : 1));
	if (result != ABI_SUCCESS) {
		free(made);
		return result;
	}
	*array = made;
	return ABI_SUCCESS;
}

FAKE_EXPORT cu_result cuArrayDestroy(cu_array array);
cu_result cuArrayDestroy(cu_array array)
{
	if (!array)
		return ABI_INVALID_VALUE;
	cu_result result = cuMemFree_v2(array->at);
	free(array);
	return result;
}

char *fake_array_rows(cu_array array, size_t *pitch, size_t *height)
{
	if (!array)
		return NULL;
	*pitch = array->pitch;
	*height = array->height;
	return (char *)(uintptr_t)array->at;
}
