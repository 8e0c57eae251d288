// SPDX-License-Identifier: Apache-2.0
// The kernels' own times by the vendor's tracer, where the driver's stamps are positions in the
// stream: those of a short kernel are mostly what lies around it.
#include "measure/core/traced.h"
#include "measure/matmul/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

// What one sample's kernels last together, at the most, unless one alone lasts longer.
#define SAMPLE_PS 2e8
// Longer ones are by the stamps: what lies around them is less than a thousandth.
#define LONGEST_PS 1e10
// Before it is known that there are times by the tracer.

static bool is_traceable(const struct matmul_product *product)
{
	return !matmul_on_host(product->rung) && product->rung != TARE_RUNG_ELEMENT;
}

size_t matmul_traceable(const struct matmul *matmul, const struct matmul_product *products,
                        size_t count)
{
	size_t found = 0;

	for (size_t i = 0; !matmul->untraced && tare_traced_possible(&matmul->bench) && i < count;
	     i++)
		found += is_traceable(&products[i]);
	return found;
}

static int append(void *context, struct tare_event **event, struct tare_error *error)
{
	return matmul_launch_once(context, event, error);
}

static int begin(struct tare_measurement *measurement, struct tare_error *error)
{
	return matmul_open_product(measurement->context, error);
}

static int sample(struct tare_measurement *measurement, int64_t *values, struct tare_error *error)
{
	struct matmul_product *product = measurement->context;

	return tare_traced_mean_ps(&product->matmul->bench, product->batch, append, product,
	                           &values[0], error);
}

// Its result was verified before, by the same launches.
static int end(struct tare_measurement *measurement, enum tare_verified *verified,
               struct tare_error *error)
{
	struct matmul_product *product = measurement->context;
	const struct tare_cell *kernel =
	    matmul_cell(product->matmul->run->result, product->rung, product->n, TARE_PART_KERNEL);

	(void)error;
	if (kernel)
		*verified = kernel->verified;
	matmul_close_product(product);
	return 0;
}

static void plan(struct matmul_product *product, const struct tare_cell *kernel,
                 struct tare_measurement *measurement)
{
	const struct tare_bench *bench = &product->matmul->bench;
	struct tare_figure *figure = matmul_figure(
	    product, measurement, TARE_PART_KERNEL_TRACED, "device",
	    matmul_by_library(product->rung)
	        ? "start of the library's first kernel to the end of its last, as the vendor's "
	          "tracer saw the engines at work; one product at a time, after everything else "
	          "that is timed"
	        : "start to end of the kernel as the vendor's tracer saw the engine at work; one "
	          "at "
	          "a time, after everything else that is timed");

	product->batch = (uint32_t)(SAMPLE_PS / (kernel->summary.median + 1));
	product->batch = product->batch < 1                  ? 1
	                 : product->batch > TARE_TRACED_MOST ? TARE_TRACED_MOST
	                                                     : product->batch;
	figure->quantum = bench->step_ps / product->batch;
	figure->rate_unit = "GFLOP/s";
	figure->work = matmul_flop(product->n);
	snprintf(measurement->title, sizeof measurement->title, "%s, n = %u, traced",
	         tare_rung_name(product->rung), product->n);
	measurement->begin = begin;
	measurement->sample = sample;
	measurement->end = end;
	measurement->context = product;
	if (product->batch > 1)
		tare_labels_set_number(&figure->labels, "batch", product->batch);
	tare_traced_name(figure);
}

// The tracer's figures take the name, and what the stamps said keeps another.
static void rename_parts(struct matmul *matmul, const struct matmul_product *products, size_t count)
{
	struct tare_result *result = matmul->run->result;

	for (size_t i = 0; i < count; i++) {
		// Both are cells of the result.
		struct tare_cell *traced = (struct tare_cell *)matmul_cell(
		    result, products[i].rung, products[i].n, TARE_PART_KERNEL_TRACED);
		struct tare_cell *stamped = (struct tare_cell *)matmul_cell(
		    result, products[i].rung, products[i].n, TARE_PART_KERNEL);
		if (!is_traceable(&products[i]) || !traced || !stamped)
			continue;
		tare_labels_set_text(&stamped->labels, "part",
		                     tare_part_name(TARE_PART_KERNEL_STAMPS));
		tare_labels_set_text(&traced->labels, "part", tare_part_name(TARE_PART_KERNEL));
	}
}

static void say_clock(const struct matmul *matmul, const char *what)
{
	tare_labels_set_text(&matmul->run->result->parameters, "kernel-clock", what);
}

static int measure(struct matmul *matmul, struct matmul_product *products, size_t count,
                   struct tare_measurement *measurements, struct tare_error *error)
{
	size_t planned = 0;
	int status;

	for (size_t i = 0; i < count; i++) {
		const struct tare_cell *kernel = matmul_cell(matmul->run->result, products[i].rung,
		                                             products[i].n, TARE_PART_KERNEL);
		if (is_traceable(&products[i]) && kernel && kernel->summary.median <= LONGEST_PS)
			plan(&products[i], kernel, &measurements[planned++]);
	}
	status = tare_run_measure(matmul->run, measurements, planned, error);
	rename_parts(matmul, products, count);
	say_clock(matmul, "the engine's time by the vendor's tracer (of element, and above 10 ms: "
	                  "between positions in the stream); GFLOP/s, shares and speed-ups are "
	                  "by it");
	return status;
}

int matmul_trace(struct matmul *matmul, struct matmul_product *products, size_t count,
                 struct tare_error *error)
{
	struct tare_measurement *measurements;
	struct tare_error why = { 0 };
	char text[400];
	int status;

	if (matmul_traceable(matmul, products, count) == 0)
		return 0;
	status = tare_traced_try(&matmul->bench, &why);
	snprintf(text, sizeof text,
	         "between two positions in the stream, which for a short one is mostly what lies "
	         "around it; %.280s",
	         why.message);
	if (status == -ENODATA) {
		say_clock(matmul, text);
		return 0;
	}
	if (status < 0) {
		if (error)
			*error = why;
		return status;
	}
	measurements = calloc(count, sizeof *measurements);
	if (!measurements)
		return tare_fail(error, ENOMEM, "out of memory");
	status = measure(matmul, products, count, measurements, error);
	for (size_t i = 0; i < count; i++)
		tare_measurement_clear(&measurements[i]);
	free(measurements);
	return status;
}
