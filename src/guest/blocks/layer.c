// SPDX-License-Identifier: Apache-2.0
// The entry points by which an OpenCL loader takes us between the program and the drivers.
#include "guest/blocks/layer.h"
#include "guest/blocks/set.h"

#include <CL/cl_layer.h>
#include <errno.h>
#include <string.h>

#define LAYER_NAME "tare blocks"
#define ENTRIES (sizeof(cl_icd_dispatch) / sizeof(void *))

#define EXPORTED __attribute__((visibility("default")))

// Of newer headers than some that we are built with.
EXPORTED cl_int CL_API_CALL clInitLayerWithProperties(cl_uint entries,
                                                      const cl_icd_dispatch *target,
                                                      cl_uint *entries_ret,
                                                      const cl_icd_dispatch **table_ret,
                                                      const void *properties);
EXPORTED cl_int CL_API_CALL clDeinitLayer(void);
EXPORTED extern __typeof__(clGetLayerInfo) clGetLayerInfo;
EXPORTED extern __typeof__(clInitLayer) clInitLayer;

cl_icd_dispatch blocks_next;

static cl_int answer(const void *data, size_t bytes, size_t room, void *value, size_t *bytes_ret)
{
	if (value != NULL && room < bytes)
		return CL_INVALID_VALUE;
	if (value != NULL)
		memcpy(value, data, bytes);
	if (bytes_ret != NULL)
		*bytes_ret = bytes;
	return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clGetLayerInfo(cl_layer_info name, size_t room, void *value,
                                               size_t *bytes_ret)
{
	static const cl_layer_api_version version = CL_LAYER_API_VERSION_100;

	if (name == CL_LAYER_API_VERSION)
		return answer(&version, sizeof version, room, value, bytes_ret);
	if (name == CL_LAYER_NAME)
		return answer(LAYER_NAME, sizeof LAYER_NAME, room, value, bytes_ret);
	return CL_INVALID_VALUE;
}

// The loader's table may be shorter or longer than the one that we know: its length is kept, and
// what we do not know is left as it is.
static cl_int begin_layer(cl_uint entries, const cl_icd_dispatch *target, cl_uint *entries_ret,
                          const cl_icd_dispatch **table_ret)
{
	static bool begun;

	if (target == NULL || entries_ret == NULL || table_ret == NULL)
		return CL_INVALID_VALUE;
	*entries_ret = entries;
	*table_ret = target;
	// A second loader in the process has functions of its own; only the first one's are
	// wrapped.
	if (begun)
		return CL_SUCCESS;
	begun = true;
	size_t known = entries < ENTRIES ? entries : ENTRIES;
	memcpy(&blocks_next, target, known * sizeof(void *));
	enum blocks_stage stage = blocks_files_begin();
	void *whole = stage != BLOCKS_OFF ? guest_memory(entries * sizeof(void *)) : NULL;
	if (whole == NULL || !blocks_kernels_begin(stage))
		return CL_SUCCESS;
	blocks_set_begin();
	cl_icd_dispatch table = blocks_next;
	blocks_wrap(&table);
	memcpy(whole, target, entries * sizeof(void *));
	memcpy(whole, &table, known * sizeof(void *));
	*table_ret = whole;
	return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clInitLayer(cl_uint entries, const cl_icd_dispatch *target,
                                            cl_uint *entries_ret, const cl_icd_dispatch **table_ret)
{
	int saved = errno;
	cl_int result = begin_layer(entries, target, entries_ret, table_ret);

	errno = saved;
	return result;
}

cl_int CL_API_CALL clInitLayerWithProperties(cl_uint entries, const cl_icd_dispatch *target,
                                             cl_uint *entries_ret,
                                             const cl_icd_dispatch **table_ret,
                                             const void *properties)
{
	(void)properties;
	return clInitLayer(entries, target, entries_ret, table_ret);
}

cl_int CL_API_CALL clDeinitLayer(void)
{
	return CL_SUCCESS;
}
