// SPDX-License-Identifier: Apache-2.0
// Stands in the place of a Level Zero driver: the loader asks it for tables of functions, and gets
// the driver's own, in which the recorder may have replaced some. Without state: it can be loaded
// as often as the loader likes. One that cannot find the recorder is the driver, as far as anybody
// can see.
#include "guest/environment.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// Of ze_result_t; the stub is built without the headers.
#define SUCCESS 0
#define UNINITIALIZED 0x78000001
#define UNSUPPORTED_FEATURE 0x78000003

#define EXPORTED __attribute__((visibility("default")))

typedef int get_table(uint32_t version, void *members);
typedef void patch_table(unsigned slot, const char *table, uint32_t version, void *members);

// Part `at` of the list that `tare record` has made: the recorder first, then the drivers. NULL:
// none.
static const char *part(unsigned at, char room[PATH_MAX])
{
	const char *list = getenv(TARE_ENVIRONMENT_LEVELZERO);
	size_t length;
	for (; list && at; at--) {
		list = strchr(list, ',');
		list = list ? list + 1 : NULL;
	}
	if (!list)
		return NULL;
	length = strcspn(list, ",");
	if (length == 0 || length >= PATH_MAX)
		return NULL;
	memcpy(room, list, length);
	room[length] = '\0';
	return room;
}

static void *open_part(unsigned at)
{
	char path[PATH_MAX];
	const char *library = part(at, path);
	return library ? dlopen(library, RTLD_LAZY | RTLD_LOCAL) : NULL;
}

// Lets a library replace functions in a table; NULL: there is none.
static void patch(void *library, const char *table, uint32_t version, void *members)
{
	patch_table *replace =
	    library ? (patch_table *)dlsym(library, "tare_levelzero_table") : NULL;
	if (replace)
		replace(STUB_SLOT, table, version, members);
}

static int fill(const char *table, uint32_t version, void *members)
{
	void *driver = open_part(1 + STUB_SLOT);
	get_table *get = driver ? (get_table *)dlsym(driver, table) : NULL;
	const char *first = getenv(TARE_ENVIRONMENT_LEVELZERO_FIRST);
	int result;
	if (!driver)
		return UNINITIALIZED;
	// A table that the driver has not is empty: the loader answers that its functions are
	// unsupported.
	if (!get)
		return strncmp(table, "zer", 3) == 0 ? UNSUPPORTED_FEATURE : SUCCESS;
	result = get(version, members);
	if (result == SUCCESS &&
	    (strncmp(table, "zeGet", 5) == 0 || strncmp(table, "zetGet", 6) == 0)) {
		if (first && *first)
			patch(dlopen(first, RTLD_LAZY | RTLD_LOCAL), table, version, members);
		patch(open_part(0), table, version, members);
	}
	return result;
}

#define TABLE(name)                                                                                \
	EXPORTED int name(uint32_t version, void *members);                                        \
	EXPORTED int name(uint32_t version, void *members)                                         \
	{                                                                                          \
		int saved = errno, result = fill(#name, version, members);                         \
		errno = saved;                                                                     \
		return result;                                                                     \
	}

TABLE(zeGetGlobalProcAddrTable)
TABLE(zeGetDriverProcAddrTable)
TABLE(zeGetDriverExpProcAddrTable)
TABLE(zeGetDeviceProcAddrTable)
TABLE(zeGetDeviceExpProcAddrTable)
TABLE(zeGetContextProcAddrTable)
TABLE(zeGetCommandQueueProcAddrTable)
TABLE(zeGetCommandListProcAddrTable)
TABLE(zeGetCommandListExpProcAddrTable)
TABLE(zeGetEventProcAddrTable)
TABLE(zeGetEventExpProcAddrTable)
TABLE(zeGetEventPoolProcAddrTable)
TABLE(zeGetFenceProcAddrTable)
TABLE(zeGetImageProcAddrTable)
TABLE(zeGetImageExpProcAddrTable)
TABLE(zeGetKernelProcAddrTable)
TABLE(zeGetKernelExpProcAddrTable)
TABLE(zeGetMemProcAddrTable)
TABLE(zeGetMemExpProcAddrTable)
TABLE(zeGetModuleProcAddrTable)
TABLE(zeGetModuleBuildLogProcAddrTable)
TABLE(zeGetPhysicalMemProcAddrTable)
TABLE(zeGetSamplerProcAddrTable)
TABLE(zeGetVirtualMemProcAddrTable)
TABLE(zeGetFabricVertexExpProcAddrTable)
TABLE(zeGetFabricEdgeExpProcAddrTable)
TABLE(zeGetGraphProcAddrTable)
TABLE(zeGetExecutableGraphProcAddrTable)
TABLE(zeGetRTASBuilderProcAddrTable)
TABLE(zeGetRTASBuilderExpProcAddrTable)
TABLE(zeGetRTASParallelOperationProcAddrTable)
TABLE(zeGetRTASParallelOperationExpProcAddrTable)
TABLE(zerGetGlobalProcAddrTable)
TABLE(zesGetDeviceProcAddrTable)
TABLE(zesGetDeviceExpProcAddrTable)
TABLE(zesGetDiagnosticsProcAddrTable)
TABLE(zesGetDriverProcAddrTable)
TABLE(zesGetDriverExpProcAddrTable)
TABLE(zesGetEngineProcAddrTable)
TABLE(zesGetFabricPortProcAddrTable)
TABLE(zesGetFanProcAddrTable)
TABLE(zesGetFirmwareProcAddrTable)
TABLE(zesGetFirmwareExpProcAddrTable)
TABLE(zesGetFrequencyProcAddrTable)
TABLE(zesGetGlobalProcAddrTable)
TABLE(zesGetLedProcAddrTable)
TABLE(zesGetMemoryProcAddrTable)
TABLE(zesGetOverclockProcAddrTable)
TABLE(zesGetPerformanceFactorProcAddrTable)
TABLE(zesGetPowerProcAddrTable)
TABLE(zesGetPsuProcAddrTable)
TABLE(zesGetRasProcAddrTable)
TABLE(zesGetRasExpProcAddrTable)
TABLE(zesGetSchedulerProcAddrTable)
TABLE(zesGetStandbyProcAddrTable)
TABLE(zesGetTemperatureProcAddrTable)
TABLE(zesGetVFManagementExpProcAddrTable)
TABLE(zetGetCommandListProcAddrTable)
TABLE(zetGetCommandListExpProcAddrTable)
TABLE(zetGetContextProcAddrTable)
TABLE(zetGetDebugProcAddrTable)
TABLE(zetGetDeviceProcAddrTable)
TABLE(zetGetDeviceExpProcAddrTable)
TABLE(zetGetKernelProcAddrTable)
TABLE(zetGetMetricDecoderExpProcAddrTable)
TABLE(zetGetMetricExpProcAddrTable)
TABLE(zetGetMetricGroupExpProcAddrTable)
TABLE(zetGetMetricGroupProcAddrTable)
TABLE(zetGetMetricProcAddrTable)
TABLE(zetGetMetricProgrammableExpProcAddrTable)
TABLE(zetGetMetricQueryPoolProcAddrTable)
TABLE(zetGetMetricQueryProcAddrTable)
TABLE(zetGetMetricStreamerProcAddrTable)
TABLE(zetGetMetricTracerExpProcAddrTable)
TABLE(zetGetModuleProcAddrTable)
TABLE(zetGetTracerExpProcAddrTable)
