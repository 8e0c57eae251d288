// SPDX-License-Identifier: Apache-2.0
// The contract's promises about kernels: parameters, the vendor's matrix product.
#include "contract.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char program[] =
    "kernel void many(global const int *input, global float *output, local uint *tile,\n"
    "                 constant float *weights, uint first, float factor, ulong big,\n"
    "                 const uchar small, float4 vector)\n"
    "{\n"
    "	tile[0] = first + small;\n"
    "	output[first] = input[0] + weights[0] * factor + big + vector.x + tile[0];\n"
    "}\n";

static int build(const char *text, const char *name, struct tare_module **module,
                 struct tare_kernel **kernel)
{
	struct tare_module_source source = { .format = TARE_MODULE_OPENCL_C,
		                             .data = text,
		                             .bytes = strlen(text) };
	int rc = tare_module_create(device, &source, module, NULL, &error);
	return rc < 0 ? rc : tare_kernel_create(*module, name, kernel, &error);
}

void parameters_are_told_or_said_to_be_unknown(void **state)
{
	static const struct tare_parameter rows[] = {
		{ TARE_PARAMETER_MEMORY, "input", "int*", -1, true },
		{ TARE_PARAMETER_MEMORY, "output", "float*", -1, false },
		{ TARE_PARAMETER_LOCAL, "tile", "uint*", -1, false },
		{ TARE_PARAMETER_MEMORY, "weights", "float*", -1, true },
		{ TARE_PARAMETER_VALUE, "first", "uint", 4, false },
		{ TARE_PARAMETER_VALUE, "factor", "float", 4, false },
		{ TARE_PARAMETER_VALUE, "big", "ulong", 8, false },
		{ TARE_PARAMETER_VALUE, "small", "uchar", 1, false },
		{ TARE_PARAMETER_VALUE, "vector", "float4", 16, false },
	};
	enum { COUNT = sizeof rows / sizeof *rows };
	struct tare_module *module = NULL;
	struct tare_kernel *kernel = NULL;
	struct tare_kernel_facts known;
	struct tare_parameter parameter;
	int rc = build(program, "many", &module, &kernel);
	(void)state;
	if (cannot(rc))
		skip_test();
	must(rc);
	must(tare_kernel_facts(kernel, &known, &error));
	if (known.arguments >= 0)
		assert_int_equal(known.arguments, COUNT);
	for (uint32_t i = 0; i < COUNT; i++) {
		rc = tare_kernel_parameter(kernel, i, &parameter, &error);
		if (cannot(rc) || rc == -ENODATA) {
			assert_true(error.message[0]);
			break;
		}
		must(rc);
		assert_int_equal(parameter.kind, rows[i].kind);
		if (parameter.bytes >= 0)
			assert_int_equal(parameter.bytes, rows[i].bytes);
		if (parameter.name[0])
			assert_string_equal(parameter.name, rows[i].name);
		if (parameter.type[0])
			assert_string_equal(parameter.type, rows[i].type);
		// Drivers may drop the const of a value.
		if (parameter.kind == TARE_PARAMETER_MEMORY)
			assert_int_equal(parameter.read_only, rows[i].read_only);
	}
	if (rc == 0)
		assert_int_equal(tare_kernel_parameter(kernel, COUNT, &parameter, &error), -EINVAL);
	tare_kernel_free(kernel);
	tare_module_free(module);
}

static void fill_matrix(struct tare_queue *queue, struct tare_memory *memory, uint64_t offset,
                        float *values, uint32_t n, uint32_t seed)
{
	struct tare_memory *staging = new_memory(TARE_MEMORY_PAGEABLE, memory->bytes);
	for (uint32_t i = 0; i < n * n; i++)
		values[i] = (float)((i * 37 + seed * 11) % 19) - 9;
	memset(staging->host, 0, staging->bytes);
	memcpy((char *)staging->host + offset, values, n * n * sizeof(float));
	must(run(queue, copy(span(staging, 0, memory->bytes), span(memory, 0, memory->bytes))));
	tare_memory_free(staging);
}

// Small integers: every partial sum is exact in single precision, in whatever order.
static bool is_product(const float *c, const float *a, const float *b, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = 0; j < n; j++) {
			double sum = 0;
			for (uint32_t k = 0; k < n; k++)
				sum += (double)a[i * n + k] * b[k * n + j];
			if (sum != c[i * n + j])
				return false;
		}
	return true;
}

static void multiply(struct tare_queue *queue, uint32_t n)
{
	// The matrices begin inside their memories.
	const uint64_t offset = 64, bytes = (uint64_t)n * n * sizeof(float);
	struct tare_memory *at[3];
	float *values[3];
	struct tare_span spans[3];
	struct tare_event *event = NULL;
	struct tare_stamps stamps;

	for (int i = 0; i < 3; i++) {
		at[i] = new_memory(TARE_MEMORY_DEVICE, offset + bytes);
		values[i] = malloc(bytes);
		assert_non_null(values[i]);
		fill_matrix(queue, at[i], offset, values[i], n, (uint32_t)i);
		spans[i] = span(at[i], offset, bytes);
	}
	must(
	    tare_blas_gemm(queue, TARE_BLAS_FP32, n, spans[0], spans[1], spans[2], &event, &error));
	must(tare_event_wait(event, LIMIT, &error));
	must(tare_event_stamps(event, &stamps, &error));
	if (tare_stamps_have(&stamps, TARE_STAMP_START))
		assert_true(stamps.at[TARE_STAMP_START].ticks <= stamps.at[TARE_STAMP_END].ticks);
	must(tare_blas_gemm(queue, TARE_BLAS_FP32, n, spans[0], spans[1], spans[2], NULL, &error));
	must(tare_finish(queue, LIMIT, &error));
	uint8_t *result = get(queue, at[0]);
	assert_true(is_product((float *)(result + offset), values[1], values[2], n));
	assert_int_equal(tare_blas_gemm(queue, TARE_BLAS_FP32, n + 1, spans[0], spans[1], spans[2],
	                                NULL, &error),
	                 -EINVAL);
	free(result);
	tare_event_free(event);
	for (int i = 0; i < 3; i++) {
		free(values[i]);
		tare_memory_free(at[i]);
	}
}

void the_vendors_product_is_right_or_says_what_is_missing(void **state)
{
	struct tare_queue *queue = new_queue(true);
	struct tare_memory *memory = new_memory(TARE_MEMORY_DEVICE, 64);
	(void)state;
	int rc = tare_blas_gemm(queue, TARE_BLAS_FP32, 4, span(memory, 0, 64), span(memory, 0, 64),
	                        span(memory, 0, 64), NULL, &error);
	if (cannot(rc) || rc == -ENOENT) {
		assert_true(error.message[0]);
		assert_string_equal(tare_blas_name(device), "");
		tare_memory_free(memory);
		tare_queue_free(queue);
		skip_test();
	}
	must(rc);
	must(tare_finish(queue, LIMIT, &error));
	assert_true(tare_blas_name(device)[0]);
	multiply(queue, 64);
	multiply(queue, 100);
	tare_memory_free(memory);
	tare_queue_free(queue);
}
