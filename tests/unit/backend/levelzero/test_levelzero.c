// SPDX-License-Identifier: Apache-2.0
// The Level Zero backend against a stand-in for its loader (tests/fakes/fake_levelzero.c).
#include "tests/unit/backend/unasked_facts.h"

#include "backend/call.h"
#include "backend/levelzero/module.h"
#include "backend/levelzero/newer.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct tare_backend *levelzero;
static struct tare_driver *driver;
static struct tare_device *device;
static struct tare_error error;

#define must(call)                                                                                 \
	do {                                                                                       \
		if ((call) < 0) {                                                                  \
			print_error("%s\n", error.message);                                        \
			fail_msg("%s", #call);                                                     \
		}                                                                                  \
	} while (0)

static void assert_says(const char *words)
{
	if (!strstr(error.message, words))
		fail_msg("'%s' does not say '%s'", error.message, words);
}

static int teardown(void **state)
{
	(void)state;
	tare_device_close(device);
	device = NULL;
	levelzero->driver_close(driver);
	driver = NULL;
	return 0;
}

static void open_driver(const char *script)
{
	teardown(NULL);
	setenv("TARE_FAKE_LEVELZERO", script, 1);
	must(levelzero->driver_open(NULL, &driver, &error));
}

static void an_integrated_gpu_is_told_as_it_is(void **state)
{
	static const struct {
		enum tare_fact_id id;
		const char *text;
	} rows[] = {
		{ TARE_FACT_NAME, "Intel(R) UHD Graphics [fake]" },
		{ TARE_FACT_TYPE, "GPU" },
		{ TARE_FACT_VENDOR, "Intel" },
		{ TARE_FACT_DRIVER, "1.3.24931" },
		{ TARE_FACT_API_VERSION, "Level Zero 1.3" },
		{ TARE_FACT_UUID, "00010203-0405-0607-0809-0a0b0c0d0e0f" },
		{ TARE_FACT_PCI, "0000:00:02.0" },
		{ TARE_FACT_UNITS, "24" },
		{ TARE_FACT_LANES, "8" },
		{ TARE_FACT_CLOCK, "1.15 GHz" },
		// Intel's figure for the UHD 630 at 1.15 GHz
		{ TARE_FACT_PEAK_FP32, "442 GFLOP/s" },
		{ TARE_FACT_SUB_GROUP, "32" },
		{ TARE_FACT_MEMORY, "8 GB" },
		{ TARE_FACT_UNIFIED, "yes" },
		{ TARE_FACT_TIMER_BITS, "32 bit" },
		{ TARE_FACT_ENGINES, "1 compute, 2 copy" },
		{ TARE_FACT_DEVICE_ID, "0x3e98" },
		{ TARE_FACT_EXTENSIONS, "0" },
		{ TARE_FACT_NOTE, "n/a" },
		{ TARE_FACT_SLICES, "1" },
		{ TARE_FACT_SUB_SLICES, "3" },
		{ TARE_FACT_EUS, "8" },
		{ TARE_FACT_EU_THREADS, "7" },
		{ TARE_FACT_SUB_GROUPS, "8, 16, 32" },
		{ TARE_FACT_MEMORIES, "0: 8 GB" },
		{ TARE_FACT_TIMER_OLDER,
		  "83 ns a tick, with which durations are 0.40 % too short" },
		{ TARE_FACT_TIMER_GLOBAL_BITS, "36 bit" },
		{ TARE_FACT_QUEUE_GROUPS, "0: 1 queue for compute, copy; 1: 2 queues for copy" },
		{ TARE_FACT_LINK_MAX, "n/a" },
		{ TARE_FACT_PEAK_LINK, "n/a" },
		{ TARE_FACT_PEAK_FP64, "n/a" },
		{ TARE_FACT_MEMORY_BUS, "n/a" },
	};
	struct tare_facts facts = { 0 };
	struct tare_engine engines[8];
	char text[256];

	(void)state;
	open_driver("");
	assert_int_equal(levelzero->device_count(driver), 1);
	must(levelzero->device_facts(driver, 0, &facts, &error));
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		assert_string_equal(tare_fact_format(&facts, rows[i].id, text, sizeof text),
		                    rows[i].text);
	for (int id = 0; id < TARE_FACT_COUNT_OF; id++)
		if (!facts.fact[id].present && !facts.fact[id].text[0] && !may_be_unasked(id))
			fail_msg("%s is absent without a reason", tare_fact_rows[id].key);
	// Not 83 whole nanoseconds a tick, which would be 12,048,192 Hz.
	assert_int_equal(facts.fact[TARE_FACT_TIMER_RATE].count, 12000048);
	must(levelzero->device_open(driver, 0, &device, &error));
	assert_int_equal(tare_engines(device, engines, 8, &error), 3);
	assert_string_equal(engines[2].title, "ordinal 1, copy 1");
	assert_int_equal(engines[2].index, 1);
	assert_true(engines[2].known);
	assert_int_equal(tare_engines(device, engines, 1, &error), 3);
}

static void both_counters_have_their_own_width(void **state)
{
	struct tare_clock_rate rate;
	(void)state;
	open_driver("");
	must(levelzero->device_open(driver, 0, &device, &error));
	must(tare_clock_rate(device, TARE_CLOCK_STAMPS, &rate, &error));
	assert_int_equal(rate.valid_bits, 32);
	assert_int_equal(rate.hz_numerator, 12000048);
	must(tare_clock_rate(device, TARE_CLOCK_PAIRS, &rate, &error));
	assert_int_equal(rate.valid_bits, 36);
	assert_int_equal(tare_ticks_to_ns(&rate, 12000048), 1000000000);
}

static void an_old_driver_tells_nanoseconds_a_tick(void **state)
{
	struct tare_clock_rate rate;
	(void)state;
	open_driver("old");
	must(levelzero->device_open(driver, 0, &device, &error));
	must(tare_clock_rate(device, TARE_CLOCK_STAMPS, &rate, &error));
	assert_int_equal(tare_ticks_to_ns(&rate, 1000), 83000);
}

static void pairs_bracket_the_devices_clock(void **state)
{
	struct tare_clock_rate rate;
	struct tare_clock_pair first, last;
	(void)state;
	open_driver("");
	must(levelzero->device_open(driver, 0, &device, &error));
	must(tare_clock_rate(device, TARE_CLOCK_PAIRS, &rate, &error));
	must(tare_clock_pair(device, &first, &error));
	tare_device_pause(device, 20000000);
	must(tare_clock_pair(device, &last, &error));
	int64_t elapsed =
	    tare_ticks_to_ns(&rate, tare_ticks_elapsed(&rate, first.device, last.device));
	assert_true(elapsed >= tare_host_elapsed_ns(first.after, last.before) - 100);
	assert_true(elapsed <= tare_host_elapsed_ns(first.before, last.after) + 100);
}

static void what_is_missing_is_said(void **state)
{
	static const struct {
		const char *script;
		int code;
		const char *words;
	} rows[] = {
		{ "init=0x78000001", -ENODEV, "install" },
		{ "init=0x70000001", -ENODEV, "does not start" },
		{ "no_driver", -ENODEV, "install" },
		{ "no_device", -ENODEV, "/dev/dri" },
	};
	char *real = strdup(getenv("TARE_LEVELZERO_LIBRARY"));
	struct tare_facts facts = { 0 };
	struct tare_clock_pair pair;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		setenv("TARE_FAKE_LEVELZERO", rows[i].script, 1);
		assert_int_equal(levelzero->driver_open(NULL, &driver, &error), rows[i].code);
		assert_int_equal(error.code, rows[i].code);
		assert_says(rows[i].words);
		assert_null(driver);
	}
	setenv("TARE_LEVELZERO_LIBRARY", "/nonexistent.so", 1);
	assert_int_equal(levelzero->driver_open(NULL, &driver, &error), -ENOENT);
	assert_says("/nonexistent.so");
	setenv("TARE_LEVELZERO_LIBRARY", real, 1);
	free(real);
	open_driver("no_pci");
	must(levelzero->device_facts(driver, 0, &facts, &error));
	assert_non_null(strstr(tare_fact_reason(&facts, TARE_FACT_PCI), "extension"));
	open_driver("lost");
	must(levelzero->device_open(driver, 0, &device, &error));
	assert_int_equal(tare_clock_pair(device, &pair, &error), -ENODEV);
}

static void a_senseless_timer_is_refused_with_its_reason(void **state)
{
	static const struct {
		const char *script, *words;
	} rows[] = {
		{ "bits=0", "kernel timestamps has 0 valid bits" },
		{ "bits=65", "kernel timestamps has 65 valid bits" },
		{ "wide=0", "global counter has 0 valid bits" },
		{ "wide=4294967295", "global counter has 4294967295 valid bits" },
		{ "rate=0", "rate of 0" },
	};
	struct tare_facts facts;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		open_driver(rows[i].script);
		memset(&facts, 0, sizeof facts);
		must(levelzero->device_facts(driver, 0, &facts, &error));
		assert_true(facts.fact[TARE_FACT_NAME].present);
		assert_false(facts.fact[TARE_FACT_TIMER_BITS].present);
		assert_non_null(
		    strstr(tare_fact_reason(&facts, TARE_FACT_TIMER_RATE), rows[i].words));
		assert_int_equal(levelzero->device_open(driver, 0, &device, &error), -EINVAL);
		assert_says(rows[i].words);
		assert_says("update");
	}
	open_driver("bits=64 wide=1");
	must(levelzero->device_open(driver, 0, &device, &error));
}

// 24 units at 1.15 GHz: 2 * 24 * 1.15e9 = 55.2e9 a lane.
static void the_peak_goes_by_the_generation(void **state)
{
	static const struct {
		const char *script, *peak, *architecture;
	} rows[] = {
		{ "", "442 GFLOP/s", "n/a" },
		{ "simd=16", "883 GFLOP/s", "n/a" },
		{ "simd=32", "n/a", "n/a" },
		{ "ip=0x02400000", "442 GFLOP/s", "Gen9 (9.0)" },
		{ "ip=0x03000000 simd=16", "442 GFLOP/s", "Xe-LP (12.0)" },
		{ "ip=0x030dc000", "442 GFLOP/s", "Xe-HPG (12.55)" },
		{ "ip=0x030f0000 simd=8", "883 GFLOP/s", "Xe-HPC (12.60)" },
		{ "ip=0x03118000", "442 GFLOP/s", "Xe-LPG (12.70)" },
		{ "ip=0x05004000 simd=8", "883 GFLOP/s", "Xe2 (20.1)" },
		{ "ip=0x7fc00000 simd=8", "442 GFLOP/s", "n/a" },
		{ "id=0x0bd5 simd=8", "883 GFLOP/s", "Xe-HPC" },
		{ "cpu", "n/a", "n/a" },
	};
	struct tare_facts facts;
	char text[256];

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		open_driver(rows[i].script);
		memset(&facts, 0, sizeof facts);
		must(levelzero->device_facts(driver, 0, &facts, &error));
		assert_string_equal(
		    tare_fact_format(&facts, TARE_FACT_PEAK_FP32, text, sizeof text), rows[i].peak);
		assert_string_equal(
		    tare_fact_format(&facts, TARE_FACT_ARCHITECTURE, text, sizeof text),
		    rows[i].architecture);
	}
}

static void our_own_driver_is_told_for_what_it_is(void **state)
{
	struct tare_facts facts = { 0 };
	(void)state;
	open_driver("cpu ze-cpu");
	must(levelzero->device_facts(driver, 0, &facts, &error));
	assert_int_equal(facts.doubt, TARE_DOUBT_FOR_TESTS);
	assert_non_null(strstr(facts.fact[TARE_FACT_NOTE].text, "its speed means nothing"));
	assert_false(facts.fact[TARE_FACT_PEAK_FP32].present);
	assert_false(facts.fact[TARE_FACT_LANES].present);
}

// Not by the name of its device, which anybody's may have.
static void a_driver_is_ours_by_its_uuid(void **state)
{
	static const struct {
		const char *script;
		enum tare_doubt doubt;
		bool scripted;
	} rows[] = {
		{ "named", TARE_DOUBT_NONE, false },
		{ "named by-script", TARE_DOUBT_NONE, false },
		{ "ze-cpu", TARE_DOUBT_FOR_TESTS, false },
		{ "ze-cpu by-script", TARE_DOUBT_FOR_TESTS, true },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tare_facts facts = { 0 };
		open_driver(rows[i].script);
		must(levelzero->device_facts(driver, 0, &facts, &error));
		must(levelzero->device_open(driver, 0, &device, &error));
		assert_int_equal(facts.doubt, rows[i].doubt);
		assert_int_equal(facts.fact[TARE_FACT_NOTE].present,
		                 rows[i].doubt != TARE_DOUBT_NONE);
		assert_int_equal(device->scripted, rows[i].scripted);
	}
}

static void an_entry_point_that_the_loader_lacks_is_named(void **state)
{
	struct tare_module_source source = { .format = TARE_MODULE_OPENCL_C,
		                             .data = "",
		                             .bytes = 0 };
	static const unsigned char words[20] = { 0x03, 0x02, 0x23, 0x07 };
	struct tare_queue *queue = NULL;
	struct tare_module *module = NULL;

	(void)state;
	open_driver("");
	must(levelzero->device_open(driver, 0, &device, &error));
	assert_int_equal(
	    tare_queue_create(device, &(struct tare_queue_options){ 0 }, &queue, &error), -ENOTSUP);
	assert_says("this Level Zero loader lacks ze");
	assert_int_equal(tare_module_create(device, &source, &module, NULL, &error), -ENOTSUP);
	assert_says("SPIR-V");
	source = (struct tare_module_source){ .format = TARE_MODULE_SPIRV,
		                              .data = "kernel void f",
		                              .bytes = 13 };
	assert_int_equal(tare_module_create(device, &source, &module, NULL, &error), -EINVAL);
	assert_says("no SPIR-V");
	source.data = words;
	source.bytes = sizeof words;
	assert_int_equal(tare_module_create(device, &source, &module, NULL, &error), -ENOTSUP);
	assert_says("lacks zeModuleCreate");
	source.format = TARE_MODULE_NATIVE;
	assert_int_equal(tare_module_create(device, &source, &module, NULL, &error), -EINVAL);
	assert_says("is SPIR-V");
}

// ---- what is asked of a kernel

static bool lists_largest; // whether the driver lists the extension
static uint32_t fixed_items;

static ze_result_t list_extensions(ze_driver_handle_t handle, uint32_t *count,
                                   ze_driver_extension_properties_t *list)
{
	(void)handle;
	*count = lists_largest;
	if (list && lists_largest)
		strcpy(list->name, LEVELZERO_NAME_MAX_GROUP_SIZE);
	return ZE_RESULT_SUCCESS;
}

// A driver may go round for ever on a structure that it does not know, as one of Intel's does.
static ze_result_t tell_kernel(ze_kernel_handle_t handle, ze_kernel_properties_t *properties)
{
	(void)handle;
	for (ze_base_properties_t *next = properties->pNext; next; next = next->pNext) {
		if (next->stype == LEVELZERO_TYPE_MAX_GROUP_SIZE && lists_largest)
			((struct levelzero_max_group_size *)next)->items = 96;
		else if (next->stype == ZE_STRUCTURE_TYPE_KERNEL_PREFERRED_GROUP_SIZE_PROPERTIES)
			((ze_kernel_preferred_group_size_properties_t *)next)->preferredMultiple =
			    32;
		else
			fail_msg("structure %#x is given to a driver that does not know it",
			         next->stype);
	}
	properties->maxSubgroupSize = 32;
	properties->maxNumSubgroups = 8;
	properties->spillMemSize = 512;
	properties->requiredGroupSizeX = fixed_items;
	properties->requiredGroupSizeY = properties->requiredGroupSizeZ = fixed_items ? 1 : 0;
	return ZE_RESULT_SUCCESS;
}

static void a_kernel_is_asked_only_what_the_driver_knows(void **state)
{
	static const struct {
		bool lists;
		uint32_t fixed;
		int64_t limit;
	} rows[] = { { false, 0, 256 }, { true, 0, 96 }, { true, 64, 64 }, { false, 64, 64 } };
	struct tare_kernel_facts facts;

	(void)state;
	open_driver("");
	must(levelzero->device_open(driver, 0, &device, &error));
	struct levelzero_driver *own = (struct levelzero_driver *)driver;
	struct tare_module module = { .device = device };
	struct levelzero_kernel kernel = { .base.module = &module };
	own->call.zeKernelGetProperties = tell_kernel;
	own->call.zeDriverGetExtensionProperties = list_extensions;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		lists_largest = rows[i].lists;
		fixed_items = rows[i].fixed;
		must(levelzero_kernel_facts(&kernel.base, &facts, &error));
		assert_int_equal(facts.max_group_size, rows[i].limit);
		assert_int_equal(facts.preferred_multiple, 32);
		assert_int_equal(facts.simd_width, 32);
		assert_int_equal(facts.spill_bytes, 512);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(an_integrated_gpu_is_told_as_it_is, teardown),
		cmocka_unit_test_teardown(both_counters_have_their_own_width, teardown),
		cmocka_unit_test_teardown(an_old_driver_tells_nanoseconds_a_tick, teardown),
		cmocka_unit_test_teardown(pairs_bracket_the_devices_clock, teardown),
		cmocka_unit_test_teardown(what_is_missing_is_said, teardown),
		cmocka_unit_test_teardown(a_senseless_timer_is_refused_with_its_reason, teardown),
		cmocka_unit_test_teardown(the_peak_goes_by_the_generation, teardown),
		cmocka_unit_test_teardown(our_own_driver_is_told_for_what_it_is, teardown),
		cmocka_unit_test_teardown(a_driver_is_ours_by_its_uuid, teardown),
		cmocka_unit_test_teardown(an_entry_point_that_the_loader_lacks_is_named, teardown),
		cmocka_unit_test_teardown(a_kernel_is_asked_only_what_the_driver_knows, teardown),
	};
	levelzero = tare_backend_find("levelzero");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
