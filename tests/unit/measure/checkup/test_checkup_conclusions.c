// SPDX-License-Identifier: Apache-2.0
// What a checkup concludes from the cells of its parts.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "measure/checkup/internal.h"
#include "tests/unit/measure/core/simulated_run.h"

struct figure {
	const char *command;           // of the part
	const char *name[2], *text[2]; // labels
	const char *number_name;
	int64_t number;
	int64_t ns;
	double work;      // with a rate
	const char *unit; // of the rate
	bool wrong;
	int64_t spread_ns; // of the samples, each way
	bool few;          // samples: no interval
	bool by_device;    // the clock
};

static struct tare_result *part_for(struct tare_result *whole, const char *command)
{
	struct tare_result *made;
	for (size_t i = 0; i < whole->part_count; i++)
		if (strcmp(whole->parts[i]->command, command) == 0)
			return whole->parts[i];
	made = tare_result_new(command);
	assert_non_null(made);
	assert_int_equal(tare_result_add_part(whole, made), 0);
	return made;
}

static struct tare_result *whole_of(const struct figure *figures, size_t count)
{
	struct tare_result *whole = tare_result_new("checkup");
	struct tare_device_entry *device = tare_result_add_device(whole);
	assert_non_null(device);
	assert_int_equal(tare_set_string(&device->backend, "opencl"), 0);
	assert_int_equal(tare_set_string(&device->backend_title, "OpenCL"), 0);
	tare_fact_set_text(&device->facts, TARE_FACT_NAME, TARE_ORIGIN_DRIVER, "Big GPU");
	for (size_t i = 0; i < count; i++) {
		const struct figure *figure = &figures[i];
		struct tare_result *document = part_for(whole, figure->command);
		struct tare_cell *cell = tare_result_add_cell(
		    document, "time", "ns", figures[i].by_device ? "device" : "host");
		struct tare_series series = { .rule = tare_stopping_default() };
		assert_non_null(cell);
		for (int k = 0; k < 2; k++)
			if (figure->name[k])
				assert_int_equal(tare_labels_set_text(&cell->labels,
				                                      figure->name[k],
				                                      figure->text[k]),
				                 0);
		if (figure->number_name)
			assert_int_equal(tare_labels_set_number(&cell->labels, figure->number_name,
			                                        figure->number),
			                 0);
		for (int k = 0; k < (figure->few ? 2 : 40); k++)
			assert_int_equal(
			    tare_series_add(&series,
			                    figure->ns + (k % 5 - 2) * figure->spread_ns / 2),
			    0);
		assert_int_equal(tare_cell_take_series(cell, &series, TARE_CONVERGED), 0);
		tare_series_clear(&series);
		if (figure->unit)
			assert_int_equal(tare_cell_set_rate(cell, figure->work, figure->unit, 1e9),
			                 0);
		cell->verified = figure->wrong ? TARE_WRONG : TARE_VERIFIED;
	}
	return whole;
}

static const char *conclusion(const struct tare_result *result, const char *id)
{
	for (size_t i = 0; i < result->conclusion_count; i++)
		if (strcmp(result->conclusions[i].id, id) == 0)
			return result->conclusions[i].text;
	return "";
}

#define LAUNCH(what, ns)                                                                           \
	{ "latency", { "group", "what" }, { "launch", what }, NULL, 0, ns, 0, NULL, false }

#define LINE(line, bytes, ns, wrong)                                                               \
	{ "bandwidth", { "line" }, { line }, "bytes", bytes, ns, bytes, "GB/s", wrong }

#define RUNG(rung, n, ns, wrong)                                                                   \
	{ "matmul", { "rung", "part" }, { rung, "kernel" }, "n",  n,                               \
	  ns,       2.0 * n * n * n,    "GFLOP/s",          wrong }

static void it_concludes_from_the_cells(void **state)
{
	static struct figure figures[] = {
		LAUNCH("launch and wait", 12000),
		LAUNCH("launch, many then wait", 4000),
		LAUNCH("launch, issue only", 1000),
		LINE("host-to-device", 1000000, 50000, false),
		LINE("host-to-device", 4000000, 160000, false),
		LINE("device-to-host", 1000000, 50000, false),
		LINE("device-to-host", 4000000, 200000, false),
		LINE("heap-to-device", 1000000, 100000, false),
		LINE("heap-to-device", 4000000, 400000, false),
		LINE("device-to-heap", 1000000, 100000, false),
		LINE("device-to-heap", 4000000, 800000, false),
		LINE("host-to-device", 16000000, 640000, false), // only this line has it
		// Too few samples for an interval.
		LINE("host-to-device", 8000000, 320000, false),
		LINE("device-to-host", 8000000, 320000, false),
		LINE("heap-to-device", 8000000, 320000, false),
		LINE("device-to-heap", 8000000, 320000, false),
		RUNG("naive", 64, 1000, false),
		RUNG("naive", 1000, 4000000, false),
		RUNG("register", 1000, 400000, false),
		RUNG("tiled", 1000, 200000, true),
		RUNG("blas-fp16", 1000, 40000, false),
	};
	for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
		figures[i].few = figures[i].number == 8000000;
	struct tare_result *whole = whole_of(figures, sizeof figures / sizeof *figures);
	struct tare_peaks peaks = { .present = true, .origin = "measured 3 days ago (tare peak)" };
	(void)state;
	for (int i = 0; i < TARE_CEILING_COUNT; i++)
		peaks.per_second[i] = peaks.theoretical[i] = NAN;
	peaks.per_second[TARE_CEILING_FP32] = 10e12;
	peaks.theoretical[TARE_CEILING_FP32] = 12.5e12;
	peaks.per_second[TARE_CEILING_TENSOR_FP16] = 80e12;
	peaks.per_second[TARE_CEILING_MEMORY_READ] = 1e12;
	assert_int_equal(tare_result_conclude(part_for(whole, "overlap"), "limit", "The link."), 0);
	assert_int_equal(
	    tare_result_conclude(part_for(whole, "overlap"), "worth-it", "Worth it: yes."), 0);
	assert_int_equal(
	    tare_result_conclude(part_for(whole, "matmul"), "total", "With copies not."), 0);
	assert_int_equal(
	    tare_result_conclude(part_for(whole, "matmul"), "kernels", "Without it does."), 0);
	checkup_conclude(whole, &peaks);
	assert_string_equal(
	    whole->conclusions[0].text,
	    "Does it pay here, for a matrix product? With copies not. Without it does.");
	assert_string_equal(conclusion(whole, "device"),
	                    "Big GPU, measured through OpenCL (opencl:0).");
	assert_string_equal(
	    conclusion(whole, "launch"),
	    "A launch that is waited for costs 12.0 µs, one of many 4.00 µs (host's "
	    "clock): kernels shorter than 4.00 µs are launch-bound.");
	assert_string_equal(
	    conclusion(whole, "link"),
	    "Pinned memory moves at 25.0 GB/s to the device and 20.0 GB/s back, pageable "
	    "memory at 10.0 GB/s (40 %) and 5.00 GB/s (25 %) (3.81 MB, host's clock).");
	assert_string_equal(
	    conclusion(whole, "ceilings"),
	    "The device reaches 10.0 TFLOP/s in FP32 (80 % of the paper's) and reads its "
	    "memory at 1000 GB/s (measured 3 days ago (tare peak)): a kernel that does "
	    "fewer than 10 FLOP for each byte is bound by memory.");
	assert_string_equal(
	    conclusion(whole, "matmul"),
	    "The fastest matrix product of n = 1000 in FP32 is 'register': 5.00 TFLOP/s in "
	    "its kernel, 50 % of the FP32 ceiling and 10 times the naive kernel. With "
	    "factors of fewer bits 'blas-fp16' reaches 50.0 TFLOP/s, 62 % of the tensor "
	    "fp16 ceiling.");
	assert_string_equal(conclusion(whole, "overlap"),
	                    "Overlapping copies and kernels: worth it: yes.");
	assert_int_equal(whole->conclusion_count, 7);
	tare_result_free(whole);
}

static void what_was_not_measured_is_not_concluded(void **state)
{
	static const struct figure figures[] = {
		LAUNCH("launch, issue only", 1000),
		LINE("host-to-device", 1000, 100, false),
		LINE("device-to-host", 1000, 100, true),
		RUNG("naive", 64, 1000, true),
	};
	struct tare_result *whole = whole_of(figures, sizeof figures / sizeof *figures);
	struct tare_peaks peaks = { .present = true };
	(void)state;
	for (int i = 0; i < TARE_CEILING_COUNT; i++)
		peaks.per_second[i] = peaks.theoretical[i] = NAN;
	part_for(whole, "overlap");
	checkup_conclude(whole, &peaks);
	assert_int_equal(whole->conclusion_count, 2);
	assert_non_null(strstr(conclusion(whole, "pays"), "Not known"));
	assert_string_equal(whole->conclusions[1].id, "device");
	tare_result_free(whole);
}

static void a_difference_within_the_noise_is_none(void **state)
{
	struct figure figures[] = {
		LINE("host-to-device", 4000000, 400000, false),
		LINE("device-to-host", 4000000, 400000, false),
		LINE("heap-to-device", 4000000, 410000, false),
		LINE("device-to-heap", 4000000, 500000, false),
	};
	struct tare_peaks peaks = { 0 };
	struct tare_result *whole;
	(void)state;
	for (int noisy = 4; noisy >= 2; noisy -= 2) {
		for (int i = 0; i < 4; i++)
			figures[i].spread_ns = i < noisy ? 200000 : 0;
		figures[1].spread_ns = figures[3].spread_ns = noisy == 4 ? 200000 : 0;
		whole = whole_of(figures, 4);
		checkup_conclude(whole, &peaks);
		if (noisy == 4)
			assert_non_null(
			    strstr(conclusion(whole, "link"),
			           "pageable memory at 9.76 GB/s and 8.00 GB/s (3.81 MB, "
			           "host's clock; no difference that is sure)."));
		else
			assert_non_null(
			    strstr(conclusion(whole, "link"),
			           "at 9.76 GB/s and 8.00 GB/s (80 %) (3.81 MB, host's clock)."));
		tare_result_free(whole);
	}
	figures[0].few = true;
	whole = whole_of(figures, 4);
	checkup_conclude(whole, &peaks);
	assert_non_null(
	    strstr(conclusion(whole, "link"), "host's clock; too few samples to compare)."));
	tare_result_free(whole);
}

// The tables show the device's figure of the same copies first.
static void two_clocks_of_one_copy_are_told_apart(void **state)
{
	struct figure figures[] = {
		LINE("host-to-device", 4000000, 400000, false),
		LINE("device-to-host", 4000000, 400000, false),
		LINE("host-to-device", 4000000, 250000, false),
		LINE("device-to-host", 4000000, 200000, false),
	};
	struct tare_peaks peaks = { 0 };
	struct tare_result *whole;
	(void)state;
	figures[2].by_device = figures[3].by_device = true;
	whole = whole_of(figures, 4);
	checkup_conclude(whole, &peaks);
	assert_string_equal(
	    conclusion(whole, "link"),
	    "Pinned memory moves at 10.0 GB/s to the device and 10.0 GB/s back (3.81 MB, "
	    "host's clock). By the device's clock, which leaves out what the host does around "
	    "a copy, pinned memory moves at 16.0 and 20.0 GB/s.");
	tare_result_free(whole);
}

// Without plain memory's lines, or without a launch alone.
static void a_half_is_better_than_nothing(void **state)
{
	static const struct figure figures[] = {
		LAUNCH("launch, many then wait", 4000),
		LINE("host-to-device", 4096, 4096, false),
		LINE("device-to-host", 4096, 2048, false),
		LINE("heap-to-device", 1024, 4096, false),
	};
	struct tare_result *whole = whole_of(figures, sizeof figures / sizeof *figures);
	struct tare_peaks peaks = { 0 };
	(void)state;
	checkup_conclude(whole, &peaks);
	assert_string_equal(
	    conclusion(whole, "launch"),
	    "A launch of many costs 4.00 µs by the host's clock: kernels shorter than "
	    "that are launch-bound.");
	assert_string_equal(
	    conclusion(whole, "link"),
	    "Pinned memory moves at 1.00 GB/s to the device and 2.00 GB/s back (4 KB, "
	    "host's clock).");
	tare_result_free(whole);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_concludes_from_the_cells),
		cmocka_unit_test(what_was_not_measured_is_not_concluded),
		cmocka_unit_test(a_difference_within_the_noise_is_none),
		cmocka_unit_test(two_clocks_of_one_copy_are_told_apart),
		cmocka_unit_test(a_half_is_better_than_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
