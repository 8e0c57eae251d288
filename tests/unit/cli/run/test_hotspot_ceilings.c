// SPDX-License-Identifier: Apache-2.0
// Which device's ceilings a counted device gets, and what each is.
#include "cli/run/hotspot_ceilings.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static void add(struct tare_result *result, const char *name, const char *uuid, uint32_t number)
{
	struct tare_device_entry *device = tare_result_add_device(result);

	assert_non_null(device);
	device->number = number;
	tare_fact_set_text(&device->facts, TARE_FACT_NAME, TARE_ORIGIN_DRIVER, name);
	if (uuid)
		tare_fact_set_text(&device->facts, TARE_FACT_UUID, TARE_ORIGIN_DRIVER, uuid);
}

static void a_device_is_found_by_its_uuid_or_by_a_name_that_only_it_has(void **state)
{
	struct tare_result *devices = tare_result_new("devices");

	(void)state;
	add(devices, "H200", "00112233-4455-6677-8899-aabbccddeeff", 0);
	add(devices, "H200", "10112233-4455-6677-8899-aabbccddeeff", 1);
	add(devices, "PoCL", "00000000-0000-0000-0000-000000000000", 2);
	add(devices, "PoCL", NULL, 2); // the same one under another API
	assert_ptr_equal(
	    tare_hotspot_device_find(devices, "10112233445566778899AABBCCDDEEFF", "other"),
	    &devices->devices[1]);
	// Two of one name cannot be told apart without a UUID.
	assert_null(tare_hotspot_device_find(devices, "", "H200"));
	assert_null(tare_hotspot_device_find(devices, "2011223344556677", "H200"));
	assert_null(tare_hotspot_device_find(devices, "001122334455", "none"));
	assert_ptr_equal(
	    tare_hotspot_device_find(devices, "00000000000000000000000000000000", "PoCL"),
	    &devices->devices[2]);
	tare_result_free(devices);
}

static void each_level_has_its_ceiling(void **state)
{
	struct tare_counted_device device = { .name = "x", .cores = 3 };
	struct tare_peaks peaks;

	(void)state;
	for (int c = 0; c < TARE_CEILING_COUNT; c++) {
		peaks.per_second[c] = c + 1;
		peaks.theoretical[c] = 100 + c;
	}
	peaks.per_second[TARE_CEILING_MEMORY_TRIAD] = NAN;
	tare_hotspot_ceilings_take(&peaks, &device);
	assert_true(device.measured_memory_bytes_per_s == TARE_CEILING_MEMORY_COPY + 1);
	assert_true(device.measured_l2_bytes_per_s == TARE_CEILING_SHARED_CACHE + 1);
	assert_true(device.measured_l1_bytes_per_s == TARE_CEILING_LOCAL + 1);
	assert_true(device.measured_fp16_flop_per_s == TARE_CEILING_FP16 + 1);
	assert_true(device.measured_fp32_flop_per_s == TARE_CEILING_FP32 + 1);
	assert_true(device.measured_fp64_flop_per_s == TARE_CEILING_FP64 + 1);
	assert_true(device.paper_memory_bytes_per_s == 100 + TARE_CEILING_MEMORY_READ);
	assert_true(device.paper_fp64_flop_per_s == 100 + TARE_CEILING_FP64);
	assert_int_equal(device.cores, 3);
}

static void a_device_that_is_not_here_has_no_ceilings(void **state)
{
	struct tare_counted_device device = { .name = "no such device" };
	char origin[256] = "";

	(void)state;
	assert_int_equal(tare_hotspot_ceilings_find("", "none", &device, origin, NULL), 0);
	assert_string_equal(origin, "this machine's drivers do not list the device");
	assert_true(device.measured_memory_bytes_per_s == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_device_is_found_by_its_uuid_or_by_a_name_that_only_it_has),
		cmocka_unit_test(each_level_has_its_ceiling),
		cmocka_unit_test(a_device_that_is_not_here_has_no_ceilings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
