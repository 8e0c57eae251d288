// SPDX-License-Identifier: Apache-2.0
#include "measure/devices/devices.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct device {
	const char *backend, *uuid, *pci; // NULL: the driver does not tell
	uint32_t number;                  // expected
	const char *same_by;              // expected
};

static void check(const struct device *devices, size_t count)
{
	struct tare_device_entry entries[8] = { 0 };

	for (size_t i = 0; i < count; i++) {
		tare_set_string(&entries[i].backend, devices[i].backend);
		if (devices[i].uuid)
			tare_fact_set_text(&entries[i].facts, TARE_FACT_UUID, TARE_ORIGIN_DRIVER,
			                   devices[i].uuid);
		if (devices[i].pci)
			tare_fact_set_text(&entries[i].facts, TARE_FACT_PCI, TARE_ORIGIN_DRIVER,
			                   devices[i].pci);
	}
	assert_int_equal(tare_merge_identities(entries, count), 0);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(entries[i].number, devices[i].number);
		if (devices[i].same_by)
			assert_string_equal(entries[i].same_by, devices[i].same_by);
		else
			assert_null(entries[i].same_by);
		free(entries[i].backend);
		free(entries[i].same_by);
	}
}

#define A "5b1c0d5e-8f2a-11ee-a506-0242ac120002"
#define B "5b1c0d5e-8f2a-11ee-a506-0242ac120003"
#define ZERO "00000000-0000-0000-0000-000000000000"

static void one_uuid_under_two_apis_is_one_device(void **state)
{
	static const struct device rows[] = {
		{ "cuda", A, NULL, 0, NULL },
		{ "opencl", A, NULL, 0, "UUID" },
	};
	(void)state;
	check(rows, 2);
}

static void a_uuid_is_the_same_however_it_is_written(void **state)
{
	static const struct device rows[] = {
		{ "cuda", "GPU-5B1C0D5E-8F2A-11EE-A506-0242AC120002", NULL, 0, NULL },
		{ "opencl", A, NULL, 0, "UUID" },
		{ "levelzero", "5b1c0d5e8f2a11eea5060242ac120002", NULL, 0, "UUID" },
	};
	(void)state;
	check(rows, 3);
}

static void a_pci_address_decides_where_one_has_no_uuid(void **state)
{
	static const struct device rows[] = {
		{ "cuda", A, "0000:3b:00.0", 0, NULL },
		{ "opencl", NULL, "0000:3b:00.0", 0, "PCI address" },
		{ "levelzero", NULL, "3b:00.0", 0, "PCI address" },
		{ "opencl", NULL, "0000:3c:00.0", 1, NULL },
	};
	(void)state;
	check(rows, 4);
}

static void the_domain_of_a_pci_address_counts(void **state)
{
	static const struct device rows[] = {
		{ "cuda", NULL, "0000:3b:00.0", 0, NULL },
		{ "opencl", NULL, "0001:3b:00.0", 1, NULL },
	};
	(void)state;
	check(rows, 2);
}

// Two parts of one card share its address.
static void different_uuids_at_one_address_are_two_devices(void **state)
{
	static const struct device rows[] = {
		{ "cuda", A, "0000:3b:00.0", 0, NULL },
		{ "opencl", B, "0000:3b:00.0", 1, NULL },
	};
	(void)state;
	check(rows, 2);
}

static void a_uuid_of_zeros_says_nothing(void **state)
{
	static const struct device rows[] = {
		{ "cuda", ZERO, NULL, 0, NULL },
		{ "opencl", ZERO, NULL, 1, NULL },
		{ "levelzero", ZERO, "0000:3b:00.0", 2, NULL },
		{ "opencl", ZERO, "0000:3b:00.0", 2, "PCI address" },
	};
	(void)state;
	check(rows, 4);
}

static void two_devices_of_one_backend_are_two(void **state)
{
	static const struct device rows[] = {
		{ "opencl", A, NULL, 0, NULL },
		{ "opencl", A, NULL, 1, NULL },
	};
	(void)state;
	check(rows, 2);
}

static void devices_that_tell_nothing_are_never_merged(void **state)
{
	static const struct device rows[] = {
		{ "cuda", NULL, NULL, 0, NULL },
		{ "opencl", NULL, NULL, 1, NULL },
		{ "levelzero", NULL, "not an address", 2, NULL },
		{ "opencl", NULL, "not an address", 3, NULL },
	};
	(void)state;
	check(rows, 4);
}

static void numbers_follow_the_first_appearance(void **state)
{
	static const struct device rows[] = {
		{ "cuda", A, NULL, 0, NULL },      { "cuda", B, NULL, 1, NULL },
		{ "opencl", B, NULL, 1, "UUID" },  { "opencl", A, NULL, 0, "UUID" },
		{ "opencl", NULL, NULL, 2, NULL },
	};
	(void)state;
	check(rows, 5);
}

static void an_unknown_backend_is_refused_by_name(void **state)
{
	struct tare_result *result = tare_result_new("devices");
	struct tare_devices_options options = { .backend = "vulkan" };
	struct tare_error error = { 0 };
	(void)state;
	assert_true(tare_measure_devices(&options, result, &error) < 0);
	assert_non_null(strstr(error.message, "vulkan"));
	tare_result_free(result);
}

static void a_backend_without_a_device_says_why_and_what_to_do(void **state)
{
	struct tare_result *result = tare_result_new("devices");
	struct tare_devices_options options = { .backend = "opencl" };
	(void)state;
	setenv("TARE_OPENCL_LIBRARY", "/nonexistent/libOpenCL.so", 1);
	assert_int_equal(tare_measure_devices(&options, result, NULL), 0);
	assert_int_equal(result->device_count, 0);
	assert_int_equal(result->absence_count, 1);
	assert_string_equal(result->absences[0].backend, "opencl");
	assert_non_null(strstr(result->absences[0].reason, "/nonexistent/libOpenCL.so"));
	assert_non_null(strstr(result->absences[0].action, "ocl-icd"));
	tare_result_free(result);
}

static void the_simulated_device_is_described_without_this_host(void **state)
{
	struct tare_result *result = tare_result_new("devices");
	struct tare_devices_options options = { .backend = "simulated" };
	(void)state;
	assert_int_equal(tare_measure_devices(&options, result, NULL), 0);
	assert_int_equal(result->device_count, 1);
	assert_true(result->devices[0].engine_count > 0);
	assert_int_equal(result->host.count, 0);
	assert_string_equal(result->written_at, "1970-01-01T00:00:00Z");
	tare_result_free(result);
}

static void choosing_opens_no_device(void **state)
{
	struct tare_result *result = tare_result_new("devices");
	struct tare_devices_options options = { .backend = "simulated", .facts_only = true };
	(void)state;
	assert_int_equal(tare_measure_devices(&options, result, NULL), 0);
	assert_int_equal(result->device_count, 1);
	assert_true(result->devices[0].facts.fact[TARE_FACT_NAME].present);
	// They take an open device.
	assert_int_equal(result->devices[0].engine_count, 0);
	tare_result_free(result);
}

// A device like CUDA's: its stamps have a rate (tare's own unit), but the driver names none.
static int silent_facts(struct tare_driver *driver, uint32_t index, struct tare_facts *facts,
                        struct tare_error *error)
{
	(void)driver;
	(void)index;
	(void)error;
	tare_fact_absent(facts, TARE_FACT_TIMER_RATE, "only differences");
	tare_fact_absent(facts, TARE_FACT_TIMER_BITS, "only differences");
	return 0;
}

static int silent_rate(struct tare_device *device, enum tare_clock clock,
                       struct tare_clock_rate *rate, struct tare_error *error)
{
	(void)device;
	(void)clock;
	(void)error;
	*rate = (struct tare_clock_rate){ .hz_numerator = 1000000000,
		                          .hz_denominator = 1,
		                          .valid_bits = 64 };
	return 0;
}

static void what_a_driver_does_not_tell_is_not_made_up(void **state)
{
	static const struct tare_backend backend = { .name = "silent",
		                                     .title = "Silent",
		                                     .device_facts = silent_facts,
		                                     .clock_rate = silent_rate };
	struct tare_driver driver = { .backend = &backend };
	struct tare_device device = { .backend = &backend };
	struct tare_device_entry entry = { 0 };
	(void)state;
	assert_int_equal(tare_device_describe(&driver, 0, &entry, NULL), 0);
	assert_int_equal(tare_device_describe_open(&device, &entry, NULL), 0);
	assert_false(entry.facts.fact[TARE_FACT_TIMER_RATE].present);
	assert_string_equal(tare_fact_reason(&entry.facts, TARE_FACT_TIMER_RATE),
	                    "only differences");
	assert_false(entry.facts.fact[TARE_FACT_TIMER_BITS].present);
	free(entry.backend);
	free(entry.backend_title);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_uuid_under_two_apis_is_one_device),
		cmocka_unit_test(a_uuid_is_the_same_however_it_is_written),
		cmocka_unit_test(a_pci_address_decides_where_one_has_no_uuid),
		cmocka_unit_test(the_domain_of_a_pci_address_counts),
		cmocka_unit_test(different_uuids_at_one_address_are_two_devices),
		cmocka_unit_test(a_uuid_of_zeros_says_nothing),
		cmocka_unit_test(two_devices_of_one_backend_are_two),
		cmocka_unit_test(devices_that_tell_nothing_are_never_merged),
		cmocka_unit_test(numbers_follow_the_first_appearance),
		cmocka_unit_test(an_unknown_backend_is_refused_by_name),
		cmocka_unit_test(a_backend_without_a_device_says_why_and_what_to_do),
		cmocka_unit_test(the_simulated_device_is_described_without_this_host),
		cmocka_unit_test(choosing_opens_no_device),
		cmocka_unit_test(what_a_driver_does_not_tell_is_not_made_up),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
