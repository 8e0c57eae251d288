// SPDX-License-Identifier: Apache-2.0
// What the loader calls by name: one function a table of entry points, the only symbols that this
// library shows.
#include "device/tables.h"

#include "ze_cpu.h"

#include <stdatomic.h>
#include <string.h>

// All of specification 1.9's getters are here, but no ray tracing, which is optional.
#define NEWEST_MINOR 9
// "Since" a version that never comes.
#define IN_NO_TABLE UINT32_MAX

typedef void (*entry)(void);

enum table {
	TABLE_global,
	TABLE_driver,
	TABLE_device,
	TABLE_device_exp,
	TABLE_context,
	TABLE_command_queue,
	TABLE_command_list,
	TABLE_image,
	TABLE_image_exp,
	TABLE_fence,
	TABLE_event_pool,
	TABLE_event,
	TABLE_event_exp,
	TABLE_module,
	TABLE_module_build_log,
	TABLE_kernel,
	TABLE_kernel_exp,
	TABLE_sampler,
	TABLE_physical_mem,
	TABLE_mem,
	TABLE_virtual_mem,
	TABLE_fabric_vertex_exp,
	TABLE_fabric_edge_exp,
	TABLE_command_list_exp,
};

// The newer ones under names of their own, whatever types they are declared with.
#define N(table, place, since, function)                                                           \
	extern void newer_##function(void) __asm__("cpu_" #function) CPU_WEAK;
CPU_NEWER(N)
#undef N
#define E(function) extern void newer_##function(void) __asm__("cpu_" #function) CPU_WEAK;
CPU_EXTENSIONS(E)
#undef E

#define X(table, member, since, function)                                                          \
	{ TABLE_##table, offsetof(ze_##table##_dditable_t, member), since, #function,              \
	  (entry)cpu_##function },
#define N(table, place, since, function)                                                           \
	{ TABLE_##table, (place) * sizeof(entry), since, #function, newer_##function },
#define E(function) { TABLE_driver, 0, IN_NO_TABLE, #function, newer_##function },

static const struct {
	enum table table;
	size_t offset;  // in the table
	uint32_t since; // specification 1.N
	const char *name;
	entry function; // NULL: the driver lacks it
} rows[] = { CPU_ENTRIES(X) CPU_NEWER(N) CPU_EXTENSIONS(E) };

#undef X
#undef N
#undef E

static atomic_uint loader_minor;

ze_api_version_t tables_api_version(void)
{
	return atomic_load(&loader_minor) >= NEWEST_MINOR ? ZE_MAKE_VERSION(1, NEWEST_MINOR)
	                                                  : ZE_API_VERSION_1_4;
}

void *tables_entry(const char *name)
{
	void *found = NULL;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (strcmp(rows[i].name, name) == 0)
			memcpy(&found, &rows[i].function, sizeof found);
	return found;
}

static ze_result_t check(ze_api_version_t version, const void *members)
{
	if (!members)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	return ZE_MAJOR_VERSION(version) == 1 ? ZE_RESULT_SUCCESS
	                                      : ZE_RESULT_ERROR_UNSUPPORTED_VERSION;
}

// Writes those members that the tables of this version have; an older loader's end before.
static ze_result_t fill(ze_api_version_t version, enum table table, void *members)
{
	ze_result_t result = check(version, members);

	if (result == ZE_RESULT_SUCCESS)
		atomic_store(&loader_minor, ZE_MINOR_VERSION(version));
	for (size_t i = 0; result == ZE_RESULT_SUCCESS && i < sizeof rows / sizeof *rows; i++)
		if (rows[i].table == table && rows[i].since <= ZE_MINOR_VERSION(version))
			memcpy((char *)members + rows[i].offset, &rows[i].function, sizeof(entry));
	return result;
}

#define TABLE(name, table)                                                                         \
	ZE_DLLEXPORT ze_result_t ZE_APICALL name(ze_api_version_t version,                         \
	                                         ze_##table##_dditable_t *members)                 \
	{                                                                                          \
		return fill(version, TABLE_##table, members);                                      \
	}
TABLE(zeGetGlobalProcAddrTable, global)
TABLE(zeGetDriverProcAddrTable, driver)
TABLE(zeGetDeviceProcAddrTable, device)
TABLE(zeGetDeviceExpProcAddrTable, device_exp)
TABLE(zeGetContextProcAddrTable, context)
TABLE(zeGetCommandQueueProcAddrTable, command_queue)
TABLE(zeGetCommandListProcAddrTable, command_list)
TABLE(zeGetImageProcAddrTable, image)
TABLE(zeGetImageExpProcAddrTable, image_exp)
TABLE(zeGetFenceProcAddrTable, fence)
TABLE(zeGetEventPoolProcAddrTable, event_pool)
TABLE(zeGetEventProcAddrTable, event)
TABLE(zeGetEventExpProcAddrTable, event_exp)
TABLE(zeGetModuleProcAddrTable, module)
TABLE(zeGetModuleBuildLogProcAddrTable, module_build_log)
TABLE(zeGetKernelProcAddrTable, kernel)
TABLE(zeGetKernelExpProcAddrTable, kernel_exp)
TABLE(zeGetSamplerProcAddrTable, sampler)
TABLE(zeGetPhysicalMemProcAddrTable, physical_mem)
TABLE(zeGetMemProcAddrTable, mem)
TABLE(zeGetVirtualMemProcAddrTable, virtual_mem)
TABLE(zeGetFabricVertexExpProcAddrTable, fabric_vertex_exp)
TABLE(zeGetFabricEdgeExpProcAddrTable, fabric_edge_exp)

// Not in Debian's headers: a name of our own in C.
ZE_DLLEXPORT ze_result_t ZE_APICALL command_list_exp_table(
    ze_api_version_t version, void *members) __asm__("zeGetCommandListExpProcAddrTable");
ZE_DLLEXPORT ze_result_t ZE_APICALL command_list_exp_table(ze_api_version_t version, void *members)
{
	return fill(version, TABLE_command_list_exp, members);
}

// Tools (but metrics: metric.c and others) and system management: nothing of them is there,
// but loaders insist on their tables.
#define EMPTY(name, type)                                                                          \
	ZE_DLLEXPORT ze_result_t ZE_APICALL name(ze_api_version_t version, type *members)          \
	{                                                                                          \
		return check(version, members);                                                    \
	}
EMPTY(zetGetDeviceProcAddrTable, zet_device_dditable_t)
EMPTY(zetGetModuleProcAddrTable, zet_module_dditable_t)
EMPTY(zetGetKernelProcAddrTable, zet_kernel_dditable_t)
EMPTY(zetGetMetricGroupExpProcAddrTable, zet_metric_group_exp_dditable_t)
EMPTY(zetGetTracerExpProcAddrTable, zet_tracer_exp_dditable_t)
EMPTY(zetGetDebugProcAddrTable, zet_debug_dditable_t)
EMPTY(zesGetDriverProcAddrTable, zes_driver_dditable_t)
EMPTY(zesGetDeviceProcAddrTable, zes_device_dditable_t)
EMPTY(zesGetSchedulerProcAddrTable, zes_scheduler_dditable_t)
EMPTY(zesGetPerformanceFactorProcAddrTable, zes_performance_factor_dditable_t)
EMPTY(zesGetPowerProcAddrTable, zes_power_dditable_t)
EMPTY(zesGetFrequencyProcAddrTable, zes_frequency_dditable_t)
EMPTY(zesGetEngineProcAddrTable, zes_engine_dditable_t)
EMPTY(zesGetStandbyProcAddrTable, zes_standby_dditable_t)
EMPTY(zesGetFirmwareProcAddrTable, zes_firmware_dditable_t)
EMPTY(zesGetMemoryProcAddrTable, zes_memory_dditable_t)
EMPTY(zesGetFabricPortProcAddrTable, zes_fabric_port_dditable_t)
EMPTY(zesGetTemperatureProcAddrTable, zes_temperature_dditable_t)
EMPTY(zesGetPsuProcAddrTable, zes_psu_dditable_t)
EMPTY(zesGetFanProcAddrTable, zes_fan_dditable_t)
EMPTY(zesGetLedProcAddrTable, zes_led_dditable_t)
EMPTY(zesGetRasProcAddrTable, zes_ras_dditable_t)
EMPTY(zesGetDiagnosticsProcAddrTable, zes_diagnostics_dditable_t)
