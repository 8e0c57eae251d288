// SPDX-License-Identifier: Apache-2.0
// The entry points by which an OpenCL loader takes us between the program and the drivers: the
// older clInitLayer and the newer clInitLayerWithProperties.
#include "guest/opencl/layer.h"
#include "guest/environment.h"
#include "guest/stack/stack.h"

#include <CL/cl_layer.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LAYER_NAME "tare"
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

cl_icd_dispatch layer_next;

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

// A loader that reads its list of layers cuts it behind the first one (ocl-icd and Khronos' both
// do), in the environment itself. What this process starts is to have all of it. The entry is
// exchanged for a whole one, which takes one store and no memory of malloc's; the loader goes on in
// the old one.
static void restore_list(void)
{
	static const char name[] = "OPENCL_LAYERS=";
	const char *now = getenv("OPENCL_LAYERS"), *whole = getenv(TARE_ENVIRONMENT_LAYERS);
	size_t first = now != NULL ? strlen(now) : 0;
	if (first == 0 || whole == NULL || strncmp(whole, now, first) != 0 || whole[first] != ':')
		return;
	char *entry = guest_memory(sizeof name + strlen(whole));
	if (entry == NULL)
		return;
	memcpy(entry, name, sizeof name - 1);
	memcpy(entry + sizeof name - 1, whole, strlen(whole) + 1);
	for (char **at = environ; at != NULL && *at != NULL; at++)
		if (*at + sizeof name - 1 == now)
			__atomic_store_n(at, entry, __ATOMIC_RELEASE);
}

// The loader in front came with LD_PRELOAD, unless the program has taken that away for this
// process.
static void tell_front(void)
{
	const char *preload = getenv("LD_PRELOAD");
	if (guest_options.front && preload != NULL && preload[0] != '\0')
		layer_change(TARE_CHANGE_LOADER, NULL, 0, 1);
}

// Recording begins, or nothing is wrapped.
static bool begin(void)
{
	static const struct guest_api opencl = { .api = TARE_TRACE_OPENCL,
		                                 .harvest = layer_harvest,
		                                 .calls = layer_calls,
		                                 .in_child = layer_in_child };
	if (!guest_begin(&opencl) || !layer_objects_begin())
		return false;
	guest_regions_begin();
	layer_callbacks_begin();
	layer_extensions_begin();
	layer_devices_begin();
	layer_pin((const void *)layer_next.clGetPlatformIDs);
	guest_stacks_begin((const void *)begin);
	layer_calibrate();
	tell_front();
	return true;
}

// The loader's table may be shorter or longer than the one that we know: its length is kept, what
// we do not know is left as it is, and what it lacks is never called.
static cl_int begin_layer(cl_uint entries, const cl_icd_dispatch *target, cl_uint *entries_ret,
                          const cl_icd_dispatch **table_ret)
{
	static bool wrapped;
	if (target == NULL || entries_ret == NULL || table_ret == NULL)
		return CL_INVALID_VALUE;
	*entries_ret = entries;
	*table_ret = target;
	restore_list();
	// A second loader in the process has functions of its own; only the first one is recorded.
	if (wrapped)
		return CL_SUCCESS;
	wrapped = true;
	size_t known = entries < ENTRIES ? entries : ENTRIES;
	memcpy(&layer_next, target, known * sizeof(void *));
	cl_icd_dispatch table = layer_next;
	if (!begin())
		return CL_SUCCESS;
	void *whole = guest_memory(entries * sizeof(void *));
	if (whole == NULL)
		return CL_SUCCESS;
	layer_wrap(&table);
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
	layer_harvest();
	layer_harvest_stop();
	return CL_SUCCESS;
}
