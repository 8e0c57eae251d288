// SPDX-License-Identifier: Apache-2.0
// The matrix product of the CUDA backend, and what `matmul` and `peak` make of it, against a
// library that keeps cuBLAS's rules (tests/fakes/fake_cublas.c).
#include "backend/call.h"
#include "backend/cuda/internal.h"
#include "fake_cuda.h"
#include "measure/core/precision.h"
#include "measure/matmul/matmul.h"
#include "measure/peak/internal.h"

#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MOST_N 64u

static struct tare_driver *driver;
static struct tare_device *device;
static struct tare_queue *queue;
static struct tare_memory *memory[3]; // c, a, b
static struct tare_gate *gate;
static struct tare_error error;
static const struct tare_backend *cuda;
static float factors[2][MOST_N * MOST_N];

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

static int fake_count(const char *name)
{
	void *library = dlopen(getenv("TARE_CUBLAS_LIBRARY"), RTLD_NOW | RTLD_NOLOAD);
	int (*count)(void) = library ? (int (*)(void))dlsym(library, name) : NULL;
	int is = count ? count() : 0;

	if (library)
		dlclose(library);
	return is;
}

static void close_all(void)
{
	tare_gate_free(gate);
	gate = NULL;
	if (queue)
		tare_finish(queue, TARE_LIMIT_DEFAULT_NS, NULL);
	tare_queue_free(queue);
	queue = NULL;
	for (int i = 0; i < 3; i++) {
		tare_memory_free(memory[i]);
		memory[i] = NULL;
	}
	tare_device_close(device);
	device = NULL;
	if (driver)
		cuda->driver_close(driver);
	driver = NULL;
}

static int teardown(void **state)
{
	(void)state;
	close_all();
	unsetenv("TARE_FAKE_CUBLAS");
	unsetenv("NVIDIA_TF32_OVERRIDE");
	return 0;
}

static void open_device(const char *cuda_script, const char *script)
{
	close_all();
	setenv("TARE_FAKE_CUDA", cuda_script, 1);
	setenv("TARE_FAKE_CUBLAS", script, 1);
	must(cuda->driver_open(NULL, &driver, &error));
	must(cuda->device_open(driver, 0, &device, &error));
	must(tare_queue_create(device, &(struct tare_queue_options){ .timed = true }, &queue,
	                       &error));
	for (int i = 0; i < 3; i++)
		must(tare_memory_create(device, TARE_MEMORY_DEVICE, 2 * sizeof factors[0],
		                        &memory[i], &error));
}

static struct tare_span span(int i, uint64_t offset_bytes)
{
	return (struct tare_span){ memory[i], offset_bytes, memory[i]->bytes - offset_bytes };
}

static int gemm(enum tare_blas_precision precision, uint32_t n, struct tare_event **event)
{
	return tare_blas_gemm(queue, precision, n, span(0, 0), span(1, 0), span(2, 0), event,
	                      &error);
}

static void fill_factors(uint32_t n)
{
	uint32_t state = 12345;

	for (int m = 0; m < 2; m++)
		for (uint32_t i = 0; i < n * n; i++) {
			state = state * 1664525u + 1013904223u;
			factors[m][i] = (float)(state >> 8) * 0x1p-23f - 1;
		}
}

// Copies a factor in the precision's form, or c back.
static void move(int i, uint64_t offset_bytes, void *host, uint64_t bytes, bool to_device)
{
	struct tare_memory *staging;
	struct tare_operation copy = { .type = TARE_OPERATION_COPY };

	must(tare_memory_create(device, TARE_MEMORY_PINNED, bytes, &staging, &error));
	if (to_device)
		memcpy(staging->host, host, bytes);
	copy.source = to_device ? (struct tare_span){ staging, 0, bytes }
	                        : (struct tare_span){ memory[i], offset_bytes, bytes };
	copy.destination = to_device ? (struct tare_span){ memory[i], offset_bytes, bytes }
	                             : (struct tare_span){ staging, 0, bytes };
	must(tare_append(queue, &copy, NULL, &error));
	must(tare_finish(queue, TARE_LIMIT_DEFAULT_NS, &error));
	if (!to_device)
		memcpy(host, staging->host, bytes);
	tare_memory_free(staging);
}

static void put_factors(enum tare_blas_precision precision, uint32_t n, uint64_t offset_bytes)
{
	float numbers[MOST_N * MOST_N];

	for (int m = 0; m < 2; m++) {
		tare_precision_put(precision, factors[m], n * n, numbers);
		move(m + 1, offset_bytes, numbers,
		     (uint64_t)n * n * tare_precision_bytes(precision), true);
	}
}

static float rounded(enum tare_blas_precision precision, float number)
{
	uint32_t one;

	tare_precision_put(precision, &number, 1, &one);
	return tare_precision_get(precision, &one, 0);
}

static void assert_product(enum tare_blas_precision precision, uint32_t n, const float *c)
{
	for (uint32_t row = 0; row < n; row++)
		for (uint32_t column = 0; column < n; column++) {
			double sum = 0, magnitude = 0;
			for (uint32_t k = 0; k < n; k++) {
				double term =
				    (double)rounded(precision, factors[0][row * n + k]) *
				    (double)rounded(precision, factors[1][k * n + column]);
				sum += term;
				magnitude += fabs(term);
			}
			if (!(fabs((double)c[row * n + column] - sum) <= n * 0x1p-23 * magnitude))
				fail_msg("%s, n = %u: (%u, %u) is %g, not %g",
				         tare_precision_name(precision), n, row, column,
				         (double)c[row * n + column], sum);
		}
}

// ---- products

static void products_are_right_in_every_precision(void **state)
{
	static const uint32_t sizes[] = { 1, 3, 17, 64 };
	float c[MOST_N * MOST_N];
	(void)state;
	open_device("", "");
	assert_string_equal(tare_blas_name(device), "");
	for (int p = 0; p < TARE_BLAS_PRECISION_COUNT; p++)
		for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
			uint32_t n = sizes[i];
			fill_factors(n);
			put_factors((enum tare_blas_precision)p, n, 8);
			must(tare_blas_gemm(queue, (enum tare_blas_precision)p, n, span(0, 4),
			                    span(1, 8), span(2, 8), NULL, &error));
			memset(c, 0xff, sizeof c);
			move(0, 4, c, (uint64_t)n * n * 4, false);
			assert_product((enum tare_blas_precision)p, n, c);
		}
	assert_string_equal(tare_blas_name(device), "cuBLAS 13.1.0");
	assert_int_equal(fake_count("fake_cublas_handles"), 1);
	close_all();
	assert_int_equal(fake_count("fake_cublas_handles"), 0);
}

// A factor of 1 + 2^-12 that TF32 cannot hold, in a product of exact sums.
static void single_precision_is_no_tf32(void **state)
{
	float c;
	(void)state;
	open_device("", "");
	factors[0][0] = 1 + 0x1p-12f;
	factors[1][0] = 1;
	put_factors(TARE_BLAS_FP32, 1, 0);
	// In this order: a mode of the handle must not outlive its product.
	must(gemm(TARE_BLAS_TF32, 1, NULL));
	move(0, 0, &c, sizeof c, false);
	assert_true(c == 1);
	must(gemm(TARE_BLAS_FP32, 1, NULL));
	move(0, 0, &c, sizeof c, false);
	assert_true(c == 1 + 0x1p-12f);
}

static void a_product_is_timed_and_held_by_a_gate(void **state)
{
	struct tare_event *event = NULL;
	struct tare_queue *other;
	struct tare_stamps stamps;
	int products = fake_count("fake_cublas_products");
	(void)state;
	open_device("", "");
	fill_factors(MOST_N);
	must(tare_gate_shut(queue, &gate, &error));
	// Its first call would load kernels.
	assert_int_equal(gemm(TARE_BLAS_FP32, 32, NULL), -EINVAL);
	assert_says("shut gate");
	assert_int_equal(fake_count("fake_cublas_products"), products);
	tare_gate_free(gate);
	gate = NULL;
	must(gemm(TARE_BLAS_FP32, 32, NULL));
	must(gemm(TARE_BLAS_FP32, MOST_N, NULL));
	must(tare_finish(queue, TARE_LIMIT_DEFAULT_NS, &error));
	must(tare_gate_shut(queue, &gate, &error));
	assert_int_equal(gemm(TARE_BLAS_FP16, MOST_N, NULL), -EINVAL);
	assert_int_equal(gemm(TARE_BLAS_FP32, MOST_N - 1, NULL), -EINVAL);
	must(tare_queue_create(device, &(struct tare_queue_options){ .timed = true }, &other,
	                       &error));
	assert_int_equal(tare_blas_gemm(other, TARE_BLAS_FP32, MOST_N, span(0, 0), span(1, 0),
	                                span(2, 0), NULL, &error),
	                 -EINVAL);
	tare_queue_free(other);
	must(gemm(TARE_BLAS_FP32, MOST_N, &event));
	assert_int_equal(tare_event_done(event, &error), 0);
	must(tare_gate_open(gate, &error));
	must(tare_finish(queue, TARE_LIMIT_DEFAULT_NS, &error));
	must(tare_event_stamps(event, &stamps, &error));
	// 2 n^3 operations at one a nanosecond; ticks are nanoseconds.
	assert_true(stamps.at[TARE_STAMP_END].ticks - stamps.at[TARE_STAMP_START].ticks >=
	            2 * MOST_N * MOST_N * MOST_N);
	tare_event_free(event);
}

// The stream would take no more, and the host would wait for a gate that it is to open itself.
static void products_beyond_a_gates_capacity_are_refused(void **state)
{
	int held = 0;
	(void)state;
	open_device("", "");
	must(gemm(TARE_BLAS_FP32, 4, NULL));
	must(tare_gate_shut(queue, &gate, &error));
	while (held < 300 && gemm(TARE_BLAS_FP32, 4, NULL) == 0)
		held++;
	assert_int_equal(held, gate->capacity);
	assert_says("CUDA would block");
	must(tare_gate_open(gate, &error));
	must(tare_finish(queue, TARE_LIMIT_DEFAULT_NS, &error));
}

static void a_product_can_be_recorded_into_a_graph(void **state)
{
	static const struct tare_operation marker = { .type = TARE_OPERATION_MARKER };
	struct tare_graph *graph = NULL;
	struct tare_stamps product, after;
	float c[9];
	(void)state;
	open_device("", "");
	fill_factors(3);
	put_factors(TARE_BLAS_BF16, 3, 0);
	must(tare_graph_begin(queue, &error));
	assert_int_equal(gemm(TARE_BLAS_BF16, 3, NULL), -EINVAL);
	assert_says("run one before");
	must(tare_graph_end(queue, &graph, &error));
	tare_graph_free(graph);
	must(gemm(TARE_BLAS_BF16, 3, NULL));
	must(tare_graph_begin(queue, &error));
	must(gemm(TARE_BLAS_BF16, 3, NULL));
	must(tare_append(queue, &marker, NULL, &error));
	must(tare_graph_end(queue, &graph, &error));
	for (int run = 0; run < 2; run++) {
		memset(c, 0xff, sizeof c);
		move(0, 0, c, sizeof c, true);
		must(tare_graph_launch(graph, queue, NULL, &error));
		move(0, 0, c, sizeof c, false);
		assert_product(TARE_BLAS_BF16, 3, c);
	}
	// A node like any other, with stamps of its own.
	must(tare_graph_stamps(graph, 0, &product, &error));
	must(tare_graph_stamps(graph, 1, &after, &error));
	assert_true(product.at[TARE_STAMP_START].ticks < product.at[TARE_STAMP_END].ticks);
	assert_true(product.at[TARE_STAMP_END].ticks <= after.at[TARE_STAMP_START].ticks);
	tare_graph_free(graph);
}

// ---- what goes wrong

static void failures_are_named(void **state)
{
	static const struct {
		const char *cuda, *script, *override;
		enum tare_blas_precision precision;
		int status;
		const char *words;
	} rows[] = {
		{ "", "create=1", "", TARE_BLAS_FP32, -EIO,
		  "does not start with a driver of CUDA 13.0" },
		{ "", "create=1", "", TARE_BLAS_FP32, -EIO, "CUBLAS_STATUS_NOT_INITIALIZED" },
		{ "", "create=3", "", TARE_BLAS_FP32, -ENOMEM, "no room" },
		{ "", "gemm=3", "", TARE_BLAS_FP32, -ENOMEM,
		  "the FP32 product of 32 x 32 by cuBLAS 13.1.0" },
		{ "", "gemm=7", "", TARE_BLAS_FP16, -EINVAL, "CUBLAS_STATUS_INVALID_VALUE" },
		{ "", "gemm=8", "", TARE_BLAS_BF16, -ENOTSUP, "CUBLAS_STATUS_ARCH_MISMATCH" },
		{ "", "gemm=14", "", TARE_BLAS_FP32, -EIO, "CUBLAS_STATUS_INTERNAL_ERROR" },
		{ "", "gemm=77", "", TARE_BLAS_FP32, -EIO, "77" },
		{ "cc=7.5", "", "", TARE_BLAS_TF32, -ENOTSUP,
		  "TF32 needs compute capability 8.0; this device has 7.5" },
		{ "cc=7.5", "", "", TARE_BLAS_BF16, -ENOTSUP, "BF16 needs" },
		{ "cc=7.5", "", "", TARE_BLAS_FP16, 0, "" },
		{ "cc=6.1", "", "", TARE_BLAS_FP16, -ENOTSUP, "FP16 needs compute capability 7.0" },
		{ "", "", "0", TARE_BLAS_TF32, -ENOTSUP, "NVIDIA_TF32_OVERRIDE=0" },
		{ "", "", "0", TARE_BLAS_FP32, 0, "" },
		{ "", "", "1", TARE_BLAS_FP32, -ENOTSUP, "NVIDIA_TF32_OVERRIDE=1" },
		{ "", "", "1", TARE_BLAS_TF32, 0, "" },
		{ "", "version=120", "", TARE_BLAS_FP32, 0, "" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char text[1024];
		setenv("NVIDIA_TF32_OVERRIDE", rows[i].override, 1);
		open_device(rows[i].cuda, rows[i].script);
		error = (struct tare_error){ 0 };
		assert_int_equal(gemm(rows[i].precision, 32, NULL), rows[i].status);
		snprintf(text, sizeof text, "%s [%s %lld]", error.message, error.native_name,
		         (long long)error.native);
		if (!strstr(text, rows[i].words))
			fail_msg("row %zu: '%s' does not say '%s'", i, text, rows[i].words);
	}
	assert_string_equal(tare_blas_name(device), "cuBLAS");
}

static void a_missing_library_is_a_sentence(void **state)
{
	char *kept = strdup(getenv("TARE_CUBLAS_LIBRARY"));
	(void)state;
	open_device("", "");
	setenv("TARE_CUBLAS_LIBRARY", "/nowhere/libcublas.so.13", 1);
	assert_int_equal(gemm(TARE_BLAS_FP32, 32, NULL), -ENOENT);
	assert_says("TARE_CUBLAS_LIBRARY names '/nowhere/libcublas.so.13'");
	setenv("TARE_CUBLAS_LIBRARY", getenv("TARE_NVML_LIBRARY"), 1);
	assert_int_equal(gemm(TARE_BLAS_FP32, 32, NULL), -ENOSYS);
	assert_says("cublas");
	// It is looked for again: an answer from before must not stick.
	setenv("TARE_CUBLAS_LIBRARY", kept, 1);
	must(gemm(TARE_BLAS_FP32, 32, NULL));
	free(kept);
}

static void a_lost_device_is_told(void **state)
{
	(void)state;
	open_device("fail_launch=1", "");
	must(gemm(TARE_BLAS_FP32, 32, NULL));
	assert_int_equal(tare_finish(queue, TARE_LIMIT_DEFAULT_NS, &error), -ENODEV);
	assert_int_equal(gemm(TARE_BLAS_FP32, 32, NULL), -ENODEV);
	assert_says("lost");
}

static void matrices_must_fit(void **state)
{
	struct tare_memory *host;
	struct tare_span spans[3];
	(void)state;
	open_device("", "");
	must(tare_memory_create(device, TARE_MEMORY_PAGEABLE, memory[0]->bytes, &host, &error));
	for (int i = 0; i < 3; i++) {
		for (int k = 0; k < 3; k++)
			spans[k] = span(k, 0);
		spans[i].memory = host;
		assert_int_equal(tare_blas_gemm(queue, TARE_BLAS_FP32, 32, spans[0], spans[1],
		                                spans[2], NULL, &error),
		                 -ENOTSUP);
		spans[i] = span(i, memory[i]->bytes - 32 * 32 * 4 + 4);
		assert_int_equal(tare_blas_gemm(queue, TARE_BLAS_FP32, 32, spans[0], spans[1],
		                                spans[2], NULL, &error),
		                 -EINVAL);
		assert_says("does not fit");
		spans[i] = span(i, 2);
		assert_int_equal(tare_blas_gemm(queue, TARE_BLAS_FP32, 32, spans[0], spans[1],
		                                spans[2], NULL, &error),
		                 -EINVAL);
	}
	assert_int_equal(gemm(TARE_BLAS_FP32, 0, NULL), -EINVAL);
	tare_memory_free(host);
}

// ---- `matmul`

static struct tare_facts facts;

static int multiply_within(int64_t budget_ns, const char *script, const char *rungs,
                           struct tare_result **result)
{
	struct tare_matmul_options options = { .n = { 33, 64 }, .n_count = 2 };
	struct tare_run run = { .facts = &facts, .budget_ns = budget_ns, .seed = 1 };

	open_device("", script);
	must(cuda->device_facts(driver, 0, &facts, &error));
	must(tare_parse_rungs(rungs, &options.rungs, &error));
	run.device = device;
	run.result = *result = tare_result_new("matmul");
	for (int c = 0; c < TARE_CEILING_COUNT; c++)
		options.peaks.per_second[c] = options.peaks.theoretical[c] = NAN;
	options.peaks.present = true;
	options.peaks.per_second[TARE_CEILING_FP32] = 1e9;
	options.peaks.per_second[TARE_CEILING_TENSOR_FP16] = 8e9;
	return tare_measure_matmul(&run, &options, &error);
}

static bool ran_out_of_time(const struct tare_result *result)
{
	for (size_t i = 0; i < result->cell_count; i++)
		if (result->cells[i].absent && strstr(result->cells[i].absent, "budget"))
			return true;
	return false;
}

// With more time where a busy machine left too little.
static int multiply(const char *script, const char *rungs, struct tare_result **result)
{
	int status = multiply_within(100000000, script, rungs, result);

	for (int64_t ns = 1000000000; status == 0 && ran_out_of_time(*result) && ns < 20000000000;
	     ns *= 10) {
		tare_result_free(*result);
		status = multiply_within(ns, script, rungs, result);
	}
	return status;
}

static const struct tare_cell *find_cell(const struct tare_result *result, const char *rung,
                                         const char *label, const char *text)
{
	for (size_t i = 0; i < result->cell_count; i++)
		if (tare_cell_has_text(&result->cells[i], "rung", rung) &&
		    tare_cell_has_text(&result->cells[i], label, text) &&
		    tare_cell_number(&result->cells[i], "n") == 64)
			return &result->cells[i];
	return NULL;
}

static void matmul_has_the_library_as_rungs(void **state)
{
	static const char *const rungs[] = { "blas", "blas-tf32", "blas-fp16", "blas-bf16" };
	static const char *const ceilings[] = { "fp32", NULL, "tensor fp16", NULL };
	struct tare_result *result;
	(void)state;
	must(multiply("", "blas,blas-tf32,blas-fp16,blas-bf16", &result));
	for (int i = 0; i < 4; i++) {
		const struct tare_cell *cell = find_cell(result, rungs[i], "part", "kernel");
		const struct tare_cell *tightest =
		    find_cell(result, rungs[i], "what", "tightest-ceiling");
		assert_non_null(cell);
		assert_null(cell->absent);
		assert_int_equal(cell->verified, TARE_VERIFIED);
		assert_non_null(strstr(cell->method, "cuBLAS 13.1.0"));
		assert_true((strstr(cell->method, "factors in") != NULL) == (i > 0));
		assert_non_null(tightest);
		assert_int_equal(tightest->absent == NULL, ceilings[i] != NULL);
		if (ceilings[i])
			assert_string_equal(tare_cell_text(tightest, "ceiling"), ceilings[i]);
	}
	assert_string_equal(tare_labels_find(&result->parameters, "library")->text,
	                    "cuBLAS 13.1.0");
	// The best rung is one whose factors are those asked for.
	for (size_t i = 0; i < result->conclusion_count; i++)
		if (strcmp(result->conclusions[i].id, "best-rung") == 0)
			assert_non_null(strstr(result->conclusions[i].text, "best rung is blas ("));
	tare_result_free(result);
}

static void a_wrong_product_is_found(void **state)
{
	static const struct {
		const char *script, *rungs, *words;
	} rows[] = {
		{ "wrong", "blas-fp16", "a product is wrong: blas-fp16, n = 33" },
		{ "lazy", "blas-bf16", "blas-bf16" },
		{ "lazy", "blas", "blas, n" },
		{ "coarse", "blas", "factors rounded to TF32" },
	};
	struct tare_result *result;
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		assert_int_equal(multiply(rows[i].script, rows[i].rungs, &result), -EBADMSG);
		if (i > 0)
			assert_says(rows[i].words);
		tare_result_free(result);
	}
	// TF32 that was asked for is none.
	must(multiply("coarse", "blas-tf32", &result));
	tare_result_free(result);
}

// ---- `peak`

// Measures every size of a precision as `peak` does; the cells are the result's.
static int measure_tensor(const char *script, enum tare_blas_precision precision,
                          struct tare_result **result)
{
	struct tare_run run = { .facts = &facts, .budget_ns = 50000000, .seed = 1 };
	struct peak peak = { .run = &run, .target_ps = 2000000 };
	struct tare_measurement measurement = { .begin = peak_begin_tensor,
		                                .end = peak_end_tensor };
	struct peak_task task = { .peak = &peak, .group = PEAK_TENSOR, .precision = precision };
	enum tare_verified verified = TARE_NOT_VERIFIABLE;
	int64_t ps = 0;
	int status;

	open_device("", script);
	must(cuda->device_facts(driver, 0, &facts, &error));
	run.device = device;
	run.result = *result = tare_result_new("peak");
	must(tare_run_begin(&run, 0, &error));
	must(tare_bench_open(&run, 1000000, &peak.bench, &error));
	must(peak_survey_tensor(&peak, &error));
	assert_true(peak.has_library);
	assert_int_equal(peak.tensors[precision].count, 1);
	task.n = peak.tensors[precision].n[0];
	assert_int_equal(task.n, 128);
	measurement.context = &task;
	assert_non_null(tare_measurement_add(&measurement, "time", "ps", "device", "%s", ""));
	must(peak_begin_tensor(&measurement, &error));
	must(peak_sample_tensor(&task, &ps, &error));
	must(peak_end_tensor(&measurement, &verified, &error));
	// 8 FLOP a nanosecond at most.
	assert_true(measurement.figures[0].work == 2.0 * 128 * 128 * 128);
	assert_true(measurement.figures[0].work / ((double)ps * 1e-3) < 8.0);
	status = verified == TARE_VERIFIED ? 0 : verified == TARE_WRONG ? -EBADMSG : -ENODATA;
	if (status == 0)
		assert_non_null(strstr(measurement.figures[0].method, "cuBLAS 13.1.0"));
	tare_measurement_clear(&measurement);
	tare_bench_close(&peak.bench);
	return status;
}

static void peak_measures_the_library(void **state)
{
	struct tare_result *result;
	(void)state;
	assert_int_equal(measure_tensor("", TARE_BLAS_FP16, &result), 0);
	tare_result_free(result);
	assert_int_equal(measure_tensor("lazy", TARE_BLAS_BF16, &result), -EBADMSG);
	tare_result_free(result);
	assert_int_equal(measure_tensor("scaled", TARE_BLAS_TF32, &result), -EBADMSG);
	tare_result_free(result);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(products_are_right_in_every_precision, teardown),
		cmocka_unit_test_teardown(single_precision_is_no_tf32, teardown),
		cmocka_unit_test_teardown(a_product_is_timed_and_held_by_a_gate, teardown),
		cmocka_unit_test_teardown(products_beyond_a_gates_capacity_are_refused, teardown),
		cmocka_unit_test_teardown(a_product_can_be_recorded_into_a_graph, teardown),
		cmocka_unit_test_teardown(failures_are_named, teardown),
		cmocka_unit_test_teardown(a_missing_library_is_a_sentence, teardown),
		cmocka_unit_test_teardown(a_lost_device_is_told, teardown),
		cmocka_unit_test_teardown(matrices_must_fit, teardown),
		cmocka_unit_test_teardown(matmul_has_the_library_as_rungs, teardown),
		cmocka_unit_test_teardown(a_wrong_product_is_found, teardown),
		cmocka_unit_test_teardown(peak_measures_the_library, teardown),
	};
	cuda = tare_backend_find("cuda");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
