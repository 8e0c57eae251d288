// SPDX-License-Identifier: Apache-2.0
// Verdicts of kernels that were counted on an H200, and whose nature is known.
#include "analysis/hotspots/hierarchy.h"
#include "analysis/hotspots/roles.h"
#include "made_counted.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

static const struct tare_counted_device h200 = { .name = "NVIDIA H200",
	                                         .cores = 132,
	                                         .paper_memory_bytes_per_s = 4.8e12 };

static json_t *document;

static int read_document(void **state)
{
	char path[1024];

	(void)state;
	snprintf(path, sizeof path, "%s/counted_h200.json", getenv("TARE_TEST_DATA"));
	document = json_load_file(path, 0, NULL);
	return document ? 0 : -1;
}

static int free_document(void **state)
{
	(void)state;
	json_decref(document);
	return 0;
}

static double number(const json_t *object, const char *key, double without)
{
	const json_t *value = json_object_get(object, key);
	return json_is_number(value) ? json_number_value(value) : without;
}

static struct tare_counted_kernel kernel_of(const json_t *object)
{
	const json_t *values = json_object_get(object, "values");
	struct tare_counted_kernel kernel =
	    made_uncounted(json_string_value(json_object_get(object, "name")));

	kernel.mean_ns = (uint64_t)number(object, "mean_ns", 0);
	kernel.occupancy_possible = number(object, "occupancy_possible", NAN);
	for (enum tare_counter_role role = 0; role < TARE_COUNTER_ROLES; role++) {
		const json_t *value = json_object_get(values, tare_counter_roles[role].key);
		double mean = number(value, "mean", NAN);
		if (isnan(mean))
			continue;
		kernel.values[role] =
		    (struct tare_counter_value){ TARE_COUNTER_COUNTED,
			                         mean,
			                         number(value, "least", mean),
			                         number(value, "most", mean),
			                         (uint32_t)number(value, "launches", 0),
			                         (uint32_t)number(value, "group", 0) };
	}
	return kernel;
}

// The kernel whose name begins so; there must be one.
static struct tare_hotspot hotspot_of(const char *name, struct tare_counted_kernel *kernel)
{
	const json_t *kernels = json_object_get(document, "kernels");
	struct tare_hotspot hotspot = { 0 };

	for (size_t i = 0; i < json_array_size(kernels); i++) {
		*kernel = kernel_of(json_array_get(kernels, i));
		if (strncmp(kernel->name, name, strlen(name)) != 0)
			continue;
		tare_hotspot_derive(kernel, &h200, &hotspot);
		return hotspot;
	}
	fail_msg("no kernel %s", name);
	return hotspot;
}

static void kernels_are_bound_by_what_they_are_made_for(void **state)
{
	static const struct {
		const char *name;
		enum tare_kernel_bound bound;
		enum tare_counter_role pipe; // ROLES: not asked
	} rows[] = {
		{ "naive(", TARE_KERNEL_BOUND_L1, TARE_COUNTER_ROLES },
		{ "tiled(", TARE_KERNEL_BOUND_L1, TARE_COUNTER_ROLES },
		{ "copy4(", TARE_KERNEL_BOUND_DEVICE_MEMORY, TARE_COUNTER_ROLES },
		{ "stride32(", TARE_KERNEL_BOUND_DEVICE_MEMORY, TARE_COUNTER_ROLES },
		{ "ffma(", TARE_KERNEL_BOUND_COMPUTE, TARE_COUNTER_PIPE_FMA_SHARE },
		{ "dfma(", TARE_KERNEL_BOUND_COMPUTE, TARE_COUNTER_PIPE_FP64_SHARE },
		{ "chase(", TARE_KERNEL_BOUND_TOO_SMALL, TARE_COUNTER_ROLES },
		{ "cutlass::Kernel2<cutlass_80_simt_sgemm", TARE_KERNEL_BOUND_COMPUTE,
		  TARE_COUNTER_PIPE_FMA_SHARE },
		{ "sm80_xmma_gemm_f32f32_f32f32_f32_tn", TARE_KERNEL_BOUND_COMPUTE,
		  TARE_COUNTER_PIPE_FMA_SHARE },
		{ "at::native::vectorized_elementwise_kernel", TARE_KERNEL_BOUND_DEVICE_MEMORY,
		  TARE_COUNTER_ROLES },
	};
	struct tare_counted_kernel kernel;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tare_hotspot hotspot = hotspot_of(rows[i].name, &kernel);
		assert_int_equal(hotspot.verdict.bound, rows[i].bound);
		assert_true(tare_kernel_verdict_decided(&hotspot.verdict));
		assert_int_equal(hotspot.verdict.contradiction_count, 0);
		assert_false(hotspot.unlike_recorded);
		if (rows[i].pipe != TARE_COUNTER_ROLES)
			assert_int_equal(hotspot.verdict.pipe, rows[i].pipe);
	}
}

// By hand: 1024 x 1024 products have 2 * 1024^3 operations; copy4 moves 256 MB each way.
static void arithmetic_and_traffic_are_those_of_the_program(void **state)
{
	struct tare_counted_kernel kernel;
	struct tare_hotspot hotspot = hotspot_of("naive(", &kernel);

	(void)state;
	assert_true(fabs(hotspot.arithmetic.flop[TARE_FLOP_FP32] / 2147483648.0 - 1) < 0.001);
	hotspot = hotspot_of("copy4(", &kernel);
	assert_true(hotspot.edges[TARE_EDGE_L2_DEVICE].binding);
	assert_true(fabs(hotspot.edges[TARE_EDGE_L2_DEVICE].read_bytes / 268435456.0 - 1) < 0.02);
	assert_true(fabs(hotspot.edges[TARE_EDGE_L2_DEVICE].write_bytes / 268435456.0 - 1) < 0.1);
	assert_true(fabs(hotspot.edges[TARE_EDGE_L1_L2].bytes / 536870912.0 - 1) < 0.01);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernels_are_bound_by_what_they_are_made_for),
		cmocka_unit_test(arithmetic_and_traffic_are_those_of_the_program),
	};

	return cmocka_run_group_tests(tests, read_document, free_document);
}
