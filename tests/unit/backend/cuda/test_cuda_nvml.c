// SPDX-License-Identifier: Apache-2.0
// What the CUDA backend tells of a device's state, against stand-ins for libcuda and NVML
// (tests/fakes/fake_nvml.c).
#include "backend/call.h"
#include "model/fact.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct tare_driver *driver;
static struct tare_device *device;
static struct tare_error error;
static const struct tare_backend *cuda;

static void open_driver(const char *of_cuda, const char *of_nvml)
{
	setenv("TARE_FAKE_CUDA", of_cuda, 1);
	setenv("TARE_FAKE_NVML", of_nvml, 1);
	assert_int_equal(cuda->driver_open(NULL, &driver, &error), 0);
}

static int teardown(void **state)
{
	(void)state;
	tare_device_close(device);
	device = NULL;
	if (driver)
		cuda->driver_close(driver);
	driver = NULL;
	return 0;
}

static struct tare_facts facts_of(uint32_t index)
{
	struct tare_facts facts = { 0 };
	assert_int_equal(cuda->device_facts(driver, index, &facts, &error), 0);
	return facts;
}

static void an_h200_at_rest(void **state)
{
	static const struct {
		enum tare_fact_id id;
		const char *text;
	} rows[] = {
		{ TARE_FACT_CLOCK_NOW, "345 MHz" },
		{ TARE_FACT_CLOCK_SETTING, "1.98 GHz" },
		{ TARE_FACT_MEMORY_CLOCK_NOW, "3.20 GHz" },
		{ TARE_FACT_POWER_NOW, "78 W" },
		{ TARE_FACT_POWER_LIMIT, "700 W" },
		{ TARE_FACT_POWER_LIMIT_MAX, "700 W" },
		{ TARE_FACT_TEMPERATURE, "31 C" },
		{ TARE_FACT_TEMPERATURE_LIMITS, "slows down at 89 C, shuts down at 92 C" },
		{ TARE_FACT_THROTTLE, "idle" },
		{ TARE_FACT_ECC_CORRECTED, "3" },
		{ TARE_FACT_ECC_UNCORRECTED, "0" },
		{ TARE_FACT_MIG, "off" },
		{ TARE_FACT_PERSISTENCE, "yes" },
		{ TARE_FACT_NVLINK, "17 of 18 links active" },
		{ TARE_FACT_COMPUTE_MODE, "default: shared by processes" },
		{ TARE_FACT_REGISTERS, "256 KB" },
		{ TARE_FACT_RESIDENT, "2048" },
		{ TARE_FACT_PEAK_FP8, "2.14 PFLOP/s" },
	};
	char text[256];
	(void)state;

	open_driver("", "");
	struct tare_facts facts = facts_of(0);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		assert_string_equal(tare_fact_format(&facts, rows[i].id, text, sizeof text),
		                    rows[i].text);
		assert_int_equal(facts.fact[rows[i].id].origin, rows[i].id == TARE_FACT_PEAK_FP8
		                                                    ? TARE_ORIGIN_FORMULA
		                                                    : TARE_ORIGIN_DRIVER);
	}
}

static void a_slice_says_what_is_its_own(void **state)
{
	(void)state;
	open_driver("", "mig");
	struct tare_facts facts = facts_of(0);
	assert_non_null(strstr(facts.fact[TARE_FACT_MIG].text, "slice"));
	assert_non_null(strstr(facts.fact[TARE_FACT_MIG].text, "whole GPU"));
	// Not every refusal means that the device has none.
	teardown(NULL);
	open_driver("", "slices=3");
	facts = facts_of(0);
	assert_string_equal(tare_fact_reason(&facts, TARE_FACT_MIG), "this device has none");
	teardown(NULL);
	open_driver("", "slices=4");
	facts = facts_of(0);
	assert_string_equal(tare_fact_reason(&facts, TARE_FACT_MIG),
	                    "NVML does not tell it of this device");
}

static void a_mode_that_keeps_others_out_is_named(void **state)
{
	static const struct {
		const char *script, *text;
	} rows[] = {
		{ "exclusive", "exclusive process" },
		{ "prohibited", "prohibited" },
	};
	(void)state;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		open_driver(rows[i].script, "");
		struct tare_facts facts = facts_of(0);
		assert_non_null(strstr(facts.fact[TARE_FACT_COMPUTE_MODE].text, rows[i].text));
		teardown(NULL);
	}
}

// A container that was not given the device: CUDA's own facts are there, and the driver's version.
static void a_device_that_nvml_does_not_give_is_absent_with_the_reason(void **state)
{
	static const struct {
		const char *script, *reason;
	} rows[] = {
		{ "handle=4", "may not look at it" },  { "handle=6", "sees no such device" },
		{ "handle=15", "fallen off the bus" }, { "handle=16", "has to be reset" },
		{ "handle=999", "code 999" },
	};
	(void)state;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tare_telemetry telemetry;
		open_driver("", rows[i].script);
		struct tare_facts facts = facts_of(0);
		assert_true(facts.fact[TARE_FACT_NAME].present);
		assert_true(facts.fact[TARE_FACT_CLOCK].present);
		assert_string_equal(facts.fact[TARE_FACT_DRIVER].text, "580.159.04");
		for (int id = 0; id < TARE_FACT_COUNT_OF; id++)
			assert_string_not_equal(tare_fact_reason(&facts, (enum tare_fact_id)id),
			                        "");
		assert_false(facts.fact[TARE_FACT_LINK_NOW].present);
		assert_false(facts.fact[TARE_FACT_MIG].present);
		assert_non_null(strstr(tare_fact_reason(&facts, TARE_FACT_MIG), rows[i].reason));
		assert_non_null(
		    strstr(tare_fact_reason(&facts, TARE_FACT_CLOCK_NOW), "0000:3b:00.0"));
		assert_int_equal(cuda->device_open(driver, 0, &device, &error), 0);
		assert_int_equal(tare_telemetry(device, &telemetry, &error), -ENOTSUP);
		assert_non_null(strstr(error.message, rows[i].reason));
		teardown(NULL);
	}
}

// The second is a device that NVML does not know: neither borrows of the other.
static void one_device_without_nvml_takes_nothing_from_the_other(void **state)
{
	(void)state;
	open_driver("devices=2", "");
	struct tare_facts first = facts_of(0), second = facts_of(1);
	assert_true(first.fact[TARE_FACT_POWER_NOW].present);
	assert_false(second.fact[TARE_FACT_POWER_NOW].present);
	assert_non_null(strstr(tare_fact_reason(&second, TARE_FACT_POWER_NOW), "0000:3c:00.0"));
	first = facts_of(0);
	assert_true(first.fact[TARE_FACT_POWER_NOW].present);
}

static void telemetry_reads_what_is_now(void **state)
{
	struct tare_telemetry telemetry;
	(void)state;

	open_driver("", "sm=1980:1755 throttle=0x24");
	assert_int_equal(cuda->device_open(driver, 0, &device, &error), 0);
	assert_int_equal(tare_telemetry(device, &telemetry, &error), 0);
	assert_int_equal(telemetry.clock_hz, 1980000000);
	assert_int_equal(tare_telemetry(device, &telemetry, &error), 0);
	assert_int_equal(telemetry.clock_hz, 1755000000);
	assert_int_equal(telemetry.memory_clock_hz, UINT64_C(3201000000));
	assert_int_equal(telemetry.throttle,
	                 1 << TARE_THROTTLE_POWER_CAP | 1 << TARE_THROTTLE_HEAT);
	assert_int_equal(telemetry.link_generation, 1);
	assert_int_equal(telemetry.link_width, 16);
}

// A library that has lost the device in the middle: the rest of the reading stands.
static void a_clock_that_is_gone_is_not_present(void **state)
{
	struct tare_telemetry telemetry;
	(void)state;

	open_driver("", "sm=1980 dies=1");
	assert_int_equal(cuda->device_open(driver, 0, &device, &error), 0);
	assert_int_equal(tare_telemetry(device, &telemetry, &error), 0);
	assert_true(tare_telemetry_has(&telemetry, TARE_TELEMETRY_CLOCK));
	assert_int_equal(tare_telemetry(device, &telemetry, &error), 0);
	assert_false(tare_telemetry_has(&telemetry, TARE_TELEMETRY_CLOCK));
	assert_true(tare_telemetry_has(&telemetry, TARE_TELEMETRY_POWER));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(an_h200_at_rest, teardown),
		cmocka_unit_test_teardown(a_slice_says_what_is_its_own, teardown),
		cmocka_unit_test_teardown(a_mode_that_keeps_others_out_is_named, teardown),
		cmocka_unit_test_teardown(
		    a_device_that_nvml_does_not_give_is_absent_with_the_reason, teardown),
		cmocka_unit_test_teardown(one_device_without_nvml_takes_nothing_from_the_other,
		                          teardown),
		cmocka_unit_test_teardown(telemetry_reads_what_is_now, teardown),
		cmocka_unit_test_teardown(a_clock_that_is_gone_is_not_present, teardown),
	};
	cuda = tare_backend_find("cuda");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
