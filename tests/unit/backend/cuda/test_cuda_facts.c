// SPDX-License-Identifier: Apache-2.0
// What the CUDA backend says of drivers and devices, and why there are none.
#include "cuda_rig.h"

static void an_h200_is_told_as_it_is(void **state)
{
	static const struct {
		enum tare_fact_id id;
		const char *text;
	} rows[] = {
		{ TARE_FACT_NAME, "NVIDIA H200" },
		{ TARE_FACT_PCI, "0000:3b:00.0" },
		{ TARE_FACT_UUID, "a0a1a2a3-a4a5-a6a7-a8a9-aaabacadae00" },
		{ TARE_FACT_ARCHITECTURE, "Hopper, compute capability 9.0" },
		{ TARE_FACT_API_VERSION, "CUDA 13.0" },
		{ TARE_FACT_DRIVER, "580.159.04" },
		{ TARE_FACT_UNITS, "132" },
		{ TARE_FACT_CLOCK, "1.98 GHz" },
		{ TARE_FACT_COPY_ENGINES, "3" },
		{ TARE_FACT_ENGINES, "1 compute, 3 copy" },
		{ TARE_FACT_PEAK_FP32, "66.9 TFLOP/s" },
		{ TARE_FACT_PEAK_FP64, "33.5 TFLOP/s" },
		{ TARE_FACT_PEAK_TENSOR, "1.07 PFLOP/s" },
		{ TARE_FACT_PEAK_MEMORY, "4.92 TB/s" },
		{ TARE_FACT_PEAK_LINK, "63.0 GB/s" },
		{ TARE_FACT_LINK_NOW, "PCIe 1.0 x16" },
		{ TARE_FACT_LINK_MAX, "PCIe 5.0 x16" },
		{ TARE_FACT_THROTTLE, "idle" },
		{ TARE_FACT_POWER_LIMIT, "700 W" },
		{ TARE_FACT_UNIFIED, "no" },
		{ TARE_FACT_ECC, "yes" },
	};
	struct tare_facts facts = { 0 };
	struct tare_engine engines[8];
	char text[256];

	(void)state;
	open_device(NULL);
	must(cuda->device_facts(driver, 0, &facts, &error));
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		assert_string_equal(tare_fact_format(&facts, rows[i].id, text, sizeof text),
		                    rows[i].text);
	assert_int_equal(tare_engines(device, engines, 8, &error), 4);
	assert_int_equal(engines[0].class, TARE_ENGINE_COMPUTE);
	assert_int_equal(engines[3].class, TARE_ENGINE_COPY);
	assert_int_equal(engines[3].index, 2);
	assert_true(engines[3].known);
}

static void an_unknown_capability_has_no_peak_but_a_reason(void **state)
{
	struct tare_facts facts = { 0 };
	(void)state;
	open_driver("cc=14.2");
	must(cuda->device_facts(driver, 0, &facts, &error));
	assert_false(facts.fact[TARE_FACT_PEAK_FP32].present);
	assert_non_null(strstr(tare_fact_reason(&facts, TARE_FACT_PEAK_FP32), "14.2"));
	assert_true(facts.fact[TARE_FACT_PEAK_MEMORY].present);
}

static void without_nvml_its_facts_are_absent_with_the_reason(void **state)
{
	static const struct {
		const char *library, *script, *reason;
	} rows[] = {
		{ "/nonexistent.so", "", "/nonexistent.so" },
		{ NULL, "init=9", "code 9" },
	};
	char *real = strdup(getenv("TARE_NVML_LIBRARY"));
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tare_facts facts = { 0 };
		struct tare_telemetry telemetry;
		setenv("TARE_NVML_LIBRARY", rows[i].library ? rows[i].library : real, 1);
		setenv("TARE_FAKE_NVML", rows[i].script, 1);
		open_device(NULL);
		must(cuda->device_facts(driver, 0, &facts, &error));
		assert_false(facts.fact[TARE_FACT_LINK_MAX].present);
		assert_non_null(
		    strstr(tare_fact_reason(&facts, TARE_FACT_LINK_MAX), rows[i].reason));
		assert_non_null(strstr(tare_fact_reason(&facts, TARE_FACT_DRIVER), rows[i].reason));
		assert_true(facts.fact[TARE_FACT_NAME].present);
		assert_int_equal(tare_telemetry(device, &telemetry, &error), -ENOTSUP);
		assert_says(rows[i].reason);
	}
	setenv("TARE_NVML_LIBRARY", real, 1);
	unsetenv("TARE_FAKE_NVML");
	free(real);
}

static void nvml_reads_the_state_now(void **state)
{
	struct tare_telemetry telemetry;
	struct tare_facts facts = { 0 };
	(void)state;
	setenv("TARE_FAKE_NVML", "throttle=0x44 no_link", 1);
	open_device(NULL);
	must(tare_telemetry(device, &telemetry, &error));
	assert_int_equal(telemetry.clock_hz, 345000000);
	assert_int_equal(telemetry.throttle, 0x44);
	assert_int_equal(telemetry.present >> TARE_TELEMETRY_LINK & 1, 0);
	must(cuda->device_facts(driver, 0, &facts, &error));
	assert_string_equal(facts.fact[TARE_FACT_THROTTLE].text, "power cap, hardware thermal");
	assert_false(facts.fact[TARE_FACT_PEAK_LINK].present);
	unsetenv("TARE_FAKE_NVML");
}

static void a_driver_that_does_not_start_says_what_to_do(void **state)
{
	static const struct {
		const char *script;
		int code;
		const char *words;
	} rows[] = {
		{ "init=34", -ENODEV, "stub" },        { "init=100", -ENODEV, "no NVIDIA GPU" },
		{ "init=803", -ENODEV, "restart" },    { "init=999", -ENODEV, "nvidia-smi" },
		{ "init=304", -ENODEV, "nvidia-smi" }, { "devices=0", -ENODEV, "no NVIDIA GPU" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		close_all();
		setenv("TARE_FAKE_CUDA", rows[i].script, 1);
		assert_int_equal(cuda->driver_open(NULL, &driver, &error), rows[i].code);
		assert_says(rows[i].words);
	}
	assert_null(driver);
}

static void a_library_that_is_not_there_is_named(void **state)
{
	char *real = strdup(getenv("TARE_CUDA_LIBRARY"));
	(void)state;
	close_all();
	setenv("TARE_CUDA_LIBRARY", "/nonexistent/libcuda.so", 1);
	assert_int_equal(cuda->driver_open(NULL, &driver, &error), -ENOENT);
	assert_says("/nonexistent/libcuda.so");
	// A library that is no CUDA driver.
	setenv("TARE_CUDA_LIBRARY", getenv("TARE_NVML_LIBRARY"), 1);
	assert_int_equal(cuda->driver_open(NULL, &driver, &error), -ENODEV);
	assert_says("cuInit");
	assert_says("too old");
	setenv("TARE_CUDA_LIBRARY", real, 1);
	free(real);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		rig_test(an_h200_is_told_as_it_is),
		rig_test(an_unknown_capability_has_no_peak_but_a_reason),
		rig_test(without_nvml_its_facts_are_absent_with_the_reason),
		rig_test(nvml_reads_the_state_now),
		rig_test(a_driver_that_does_not_start_says_what_to_do),
		rig_test(a_library_that_is_not_there_is_named),
		cmocka_unit_test(nothing_is_left_behind),
	};
	return cmocka_run_group_tests(tests, rig_setup, NULL);
}
