// SPDX-License-Identifier: Apache-2.0
// The tables that the Level Zero CPU driver fills for a loader: which members, and how far.
#include <dlfcn.h>
#include <level_zero/ze_api.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define NEWEST 17
#define MEMBERS 64
#define GUARD ((void *)(uintptr_t)0xa5a5a5a5a5a5a5a5)

typedef ze_result_t (*fill_function)(ze_api_version_t version, void *members);

// How many members each table has had since which specification 1.N.
static const struct {
	const char *name;
	struct {
		unsigned since, members;
	} steps[12];
} tables[] = {
	{ "zeGetGlobalProcAddrTable", { { 0, 1 }, { 10, 2 } } },
	{ "zeGetDriverProcAddrTable", { { 0, 5 }, { 1, 6 }, { 6, 7 }, { 13, 8 }, { 14, 9 } } },
	{ "zeGetDeviceProcAddrTable",
	  { { 0, 14 },
	    { 1, 15 },
	    { 2, 17 },
	    { 3, 18 },
	    { 7, 19 },
	    { 12, 21 },
	    { 13, 22 },
	    { 14, 23 },
	    { 15, 24 },
	    { 16, 27 },
	    { 17, 28 } } },
	{ "zeGetDeviceExpProcAddrTable", { { 4, 1 } } },
	{ "zeGetContextProcAddrTable", { { 0, 8 }, { 1, 9 } } },
	{ "zeGetCommandQueueProcAddrTable", { { 0, 4 }, { 9, 6 }, { 17, 9 } } },
	{ "zeGetCommandListProcAddrTable",
	  { { 0, 26 },
	    { 3, 28 },
	    { 6, 29 },
	    { 9, 34 },
	    { 12, 36 },
	    { 14, 38 },
	    { 16, 41 },
	    { 17, 52 } } },
	{ "zeGetCommandListExpProcAddrTable", { { 9, 6 }, { 10, 8 }, { 17, 9 } } },
	{ "zeGetImageProcAddrTable", { { 0, 3 }, { 3, 4 }, { 5, 5 } } },
	{ "zeGetImageExpProcAddrTable", { { 2, 2 }, { 9, 3 } } },
	{ "zeGetFenceProcAddrTable", { { 0, 5 } } },
	{ "zeGetEventPoolProcAddrTable", { { 0, 5 }, { 6, 6 }, { 9, 8 } } },
	{ "zeGetEventProcAddrTable", { { 0, 7 }, { 6, 8 }, { 9, 11 }, { 15, 16 }, { 17, 17 } } },
	{ "zeGetEventExpProcAddrTable", { { 2, 1 } } },
	{ "zeGetModuleProcAddrTable", { { 0, 8 }, { 3, 9 } } },
	{ "zeGetModuleBuildLogProcAddrTable", { { 0, 2 } } },
	{ "zeGetKernelProcAddrTable", { { 0, 12 } } },
	{ "zeGetKernelExpProcAddrTable", { { 1, 1 }, { 2, 2 }, { 11, 3 }, { 14, 4 } } },
	{ "zeGetSamplerProcAddrTable", { { 0, 2 } } },
	{ "zeGetPhysicalMemProcAddrTable", { { 0, 2 }, { 15, 3 } } },
	{ "zeGetMemProcAddrTable", { { 0, 9 }, { 3, 10 }, { 6, 11 }, { 9, 12 }, { 15, 13 } } },
	{ "zeGetVirtualMemProcAddrTable", { { 0, 7 } } },
	{ "zeGetFabricVertexExpProcAddrTable", { { 4, 4 } } },
	{ "zeGetFabricEdgeExpProcAddrTable", { { 4, 3 } } },
};
#define TABLES (sizeof tables / sizeof *tables)

// Members of specification 1.4 that are there, by the bits of their places; the others belong to
// images, samplers and fabric, of which the driver has nothing of use.
static const struct {
	const char *name;
	uint64_t places;
} present[] = {
	{ "zeGetGlobalProcAddrTable", 1 },         { "zeGetDriverProcAddrTable", 0x3f },
	{ "zeGetDeviceProcAddrTable", 0x3ffff },   { "zeGetContextProcAddrTable", 0x13f },
	{ "zeGetCommandQueueProcAddrTable", 0xf }, { "zeGetCommandListProcAddrTable", 0x3ff0fff },
	{ "zeGetFenceProcAddrTable", 0x1f },       { "zeGetEventPoolProcAddrTable", 0x1f },
	{ "zeGetEventProcAddrTable", 0x7f },       { "zeGetModuleProcAddrTable", 0x7f },
	{ "zeGetModuleBuildLogProcAddrTable", 3 }, { "zeGetKernelProcAddrTable", 0xfff },
	{ "zeGetPhysicalMemProcAddrTable", 3 },    { "zeGetMemProcAddrTable", 0x3ff },
	{ "zeGetVirtualMemProcAddrTable", 0x7f },
};

// What the loader asks for beyond the core; it gives up without some of them.
static const char *const others[] = {
	"zetGetDeviceProcAddrTable",
	"zetGetContextProcAddrTable",
	"zetGetCommandListProcAddrTable",
	"zetGetModuleProcAddrTable",
	"zetGetKernelProcAddrTable",
	"zetGetMetricGroupProcAddrTable",
	"zetGetMetricGroupExpProcAddrTable",
	"zetGetMetricProcAddrTable",
	"zetGetMetricStreamerProcAddrTable",
	"zetGetMetricQueryPoolProcAddrTable",
	"zetGetMetricQueryProcAddrTable",
	"zetGetTracerExpProcAddrTable",
	"zetGetDebugProcAddrTable",
	"zesGetDriverProcAddrTable",
	"zesGetDeviceProcAddrTable",
	"zesGetSchedulerProcAddrTable",
	"zesGetPerformanceFactorProcAddrTable",
	"zesGetPowerProcAddrTable",
	"zesGetFrequencyProcAddrTable",
	"zesGetEngineProcAddrTable",
	"zesGetStandbyProcAddrTable",
	"zesGetFirmwareProcAddrTable",
	"zesGetMemoryProcAddrTable",
	"zesGetFabricPortProcAddrTable",
	"zesGetTemperatureProcAddrTable",
	"zesGetPsuProcAddrTable",
	"zesGetFanProcAddrTable",
	"zesGetLedProcAddrTable",
	"zesGetRasProcAddrTable",
	"zesGetDiagnosticsProcAddrTable",
};

static void *library;

static fill_function find(const char *name)
{
	void *address = dlsym(library, name);
	fill_function function;

	if (!address)
		fail_msg("the driver has no %s", name);
	memcpy(&function, &address, sizeof function);
	return function;
}

static unsigned members_of(size_t table, unsigned minor)
{
	unsigned members = 0;

	for (size_t i = 0; i < sizeof tables->steps / sizeof *tables->steps; i++)
		if (tables[table].steps[i].since <= minor &&
		    tables[table].steps[i].members > members)
			members = tables[table].steps[i].members;
	return members;
}

static void fill(const char *name, unsigned minor, void **members)
{
	for (size_t i = 0; i < MEMBERS; i++)
		members[i] = GUARD;
	assert_int_equal(find(name)((ze_api_version_t)ZE_MAKE_VERSION(1, minor), members),
	                 ZE_RESULT_SUCCESS);
}

static void nothing_is_written_beyond_the_version(void **state)
{
	void *members[MEMBERS];

	(void)state;
	for (size_t table = 0; table < TABLES; table++)
		for (unsigned minor = 0; minor <= NEWEST + 3; minor++) {
			fill(tables[table].name, minor, members);
			for (size_t i = members_of(table, minor); i < MEMBERS; i++)
				if (members[i] != GUARD)
					fail_msg("%s of 1.%u: member %zu was written",
					         tables[table].name, minor, i);
		}
}

static void what_there_is_has_an_address(void **state)
{
	void *members[MEMBERS];

	(void)state;
	for (size_t i = 0; i < sizeof present / sizeof *present; i++) {
		fill(present[i].name, 4, members);
		for (size_t place = 0; place < MEMBERS; place++)
			if (present[i].places >> place & 1 &&
			    (!members[place] || members[place] == GUARD))
				fail_msg("%s: member %zu is missing", present[i].name, place);
	}
}

// Samplers, fabric: NULL, which the loader answers for.
static void what_there_is_not_is_null(void **state)
{
	void *members[MEMBERS];

	(void)state;
	fill("zeGetSamplerProcAddrTable", 4, members);
	assert_null(members[0]);
	fill("zeGetFabricVertexExpProcAddrTable", 4, members);
	assert_null(members[0]);
}

// Where specification 1.17 has them.
static void newer_entries_have_their_places(void **state)
{
	static const struct {
		const char *table;
		size_t place;
		unsigned since;
		const char *entry;
	} rows[] = {
		{ "zeGetGlobalProcAddrTable", 1, 10, "zeInitDrivers" },
		{ "zeGetDriverProcAddrTable", 6, 6, "zeDriverGetLastErrorDescription" },
		{ "zeGetDeviceProcAddrTable", 18, 7, "zeDeviceGetRootDevice" },
		{ "zeGetCommandListProcAddrTable", 28, 6, "zeCommandListHostSynchronize" },
		{ "zeGetCommandListProcAddrTable", 36, 14,
		  "zeCommandListAppendLaunchKernelWithParameters" },
		{ "zeGetCommandListProcAddrTable", 37, 14,
		  "zeCommandListAppendLaunchKernelWithArguments" },
		{ "zeGetEventProcAddrTable", 7, 6, "zeEventQueryKernelTimestampsExt" },
		{ "zeGetMemProcAddrTable", 10, 6, "zeMemPutIpcHandle" },
	};
	ze_result_t (*address_of)(void *driver, const char *name, void **address);
	void *members[MEMBERS], *driver[MEMBERS], *address;

	(void)state;
	fill("zeGetDriverProcAddrTable", 4, driver);
	memcpy(&address_of, &driver[5], sizeof address_of);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		assert_int_equal(address_of(driver, rows[i].entry, &address), ZE_RESULT_SUCCESS);
		fill(rows[i].table, rows[i].since, members);
		assert_ptr_equal(members[rows[i].place], address);
		fill(rows[i].table, rows[i].since - 1, members);
		assert_ptr_equal(members[rows[i].place], GUARD);
	}
	assert_int_not_equal(address_of(driver, "zeNoSuchEntry", &address), ZE_RESULT_SUCCESS);
}

static void bad_requests_are_refused(void **state)
{
	void *members[MEMBERS] = { NULL };

	(void)state;
	for (size_t i = 0; i < TABLES + sizeof others / sizeof *others; i++) {
		fill_function function = find(i < TABLES ? tables[i].name : others[i - TABLES]);
		assert_int_equal(function(ZE_API_VERSION_1_4, NULL),
		                 ZE_RESULT_ERROR_INVALID_NULL_POINTER);
		assert_int_equal(function((ze_api_version_t)ZE_MAKE_VERSION(2, 0), members),
		                 ZE_RESULT_ERROR_UNSUPPORTED_VERSION);
		assert_int_equal(function((ze_api_version_t)ZE_MAKE_VERSION(0, 91), members),
		                 ZE_RESULT_ERROR_UNSUPPORTED_VERSION);
		assert_int_equal(function(ZE_API_VERSION_1_4, members), ZE_RESULT_SUCCESS);
	}
}

// 1.4 to loaders as old, more to newer ones.
static void the_version_told_fits_the_loader(void **state)
{
	ze_result_t (*version_of)(void *driver, ze_api_version_t *version);
	void *members[MEMBERS];
	ze_api_version_t version;

	(void)state;
	for (unsigned minor = 0; minor <= NEWEST; minor++) {
		fill("zeGetDriverProcAddrTable", minor, members);
		memcpy(&version_of, &members[1], sizeof version_of);
		assert_int_equal(version_of(members, &version), ZE_RESULT_SUCCESS);
		assert_int_equal(ZE_MAJOR_VERSION(version), 1);
		assert_true(ZE_MINOR_VERSION(version) <= (minor > 4 ? minor : 4));
		if (minor == NEWEST)
			assert_true(ZE_MINOR_VERSION(version) > 4);
	}
}

int main(int argument_count, char **arguments)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_written_beyond_the_version),
		cmocka_unit_test(what_there_is_has_an_address),
		cmocka_unit_test(what_there_is_not_is_null),
		cmocka_unit_test(newer_entries_have_their_places),
		cmocka_unit_test(bad_requests_are_refused),
		cmocka_unit_test(the_version_told_fits_the_loader),
	};

	library = argument_count > 1 ? dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL) : NULL;
	if (!library) {
		fprintf(stderr, "%s\n", argument_count > 1 ? dlerror() : "the driver is not named");
		return 1;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
