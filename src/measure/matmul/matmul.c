// SPDX-License-Identifier: Apache-2.0
#include "measure/matmul/matmul.h"

#include "backend/call.h"
#include "measure/matmul/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIT_NS INT64_C(100000000)
#define LARGEST 2048u // by default
#define PRODUCTS (TARE_RUNG_COUNT * TARE_MATMUL_SIZES)

static void take_options(struct matmul *matmul, const struct tare_matmul_options *options)
{
	matmul->n_count = options ? options->n_count : 0;
	for (size_t i = 0; i < matmul->n_count; i++)
		matmul->n[i] = options->n[i];
	for (uint32_t n = 32; !(options && options->n_count) && n <= LARGEST; n *= 2)
		matmul->n[matmul->n_count++] = n;
	matmul->rungs = options && options->rungs ? options->rungs : (1u << TARE_RUNG_COUNT) - 1;
}

static void add_parameters(const struct matmul *matmul)
{
	struct tare_labels *parameters = &matmul->run->result->parameters;
	char sizes[256] = "", rungs[256] = "";
	size_t used = 0;

	for (size_t i = 0; i < matmul->n_count && used < sizeof sizes; i++)
		used += (size_t)snprintf(sizes + used, sizeof sizes - used, "%s%u", i ? "," : "",
		                         matmul->n[i]);
	used = 0;
	for (int i = 0; i < TARE_RUNG_COUNT && used < sizeof rungs; i++)
		if (matmul->rungs >> i & 1)
			used +=
			    (size_t)snprintf(rungs + used, sizeof rungs - used, "%s%s",
			                     used ? "," : "", tare_rung_name((enum tare_rung)i));
	tare_labels_set_text(parameters, "n", sizes);
	tare_labels_set_text(parameters, "rungs", rungs);
	if (matmul->peaks->origin[0])
		tare_labels_set_text(parameters, "peaks", matmul->peaks->origin);
}

// What the tests of equality rest on, once for all: cells say only verified or wrong.
static void say_verification(const struct matmul *matmul)
{
	tare_labels_set_text(
	    &matmul->run->result->parameters, "verification",
	    "against double precision: |c - ref| <= gamma_n (|a| |b|), gamma_n = n u / (1 "
	    "- n u), "
	    "u = 2^-24 (2^-22 for factors rounded to fewer bits, of which ref is); every "
	    "element "
	    "up to n = 512, above that 64 rows drawn from the seed and in all "
	    "rows the signed sums of neighbouring elements");
}

// One call of the sampling loop, in random order.
static int sample_some(struct matmul *matmul, struct matmul_product *products, size_t count,
                       double share_ns, struct tare_error *error)
{
	struct tare_measurement *measurements = calloc(count + 1, sizeof *measurements);
	int status;

	if (!measurements)
		return tare_fail(error, ENOMEM, "out of memory");
	for (size_t i = 0; i < count; i++) {
		struct tare_measurement *measurement = &measurements[i];
		snprintf(measurement->title, sizeof measurement->title, "%s, n = %u",
		         tare_rung_name(products[i].rung), products[i].n);
		measurement->weight = 1 + (double)products[i].once_ns / share_ns;
		// It has run before, when it was tried.
		measurement->no_warm_up = (double)products[i].once_ns > share_ns / 4;
		products[i].batch = 1;
		if (matmul_on_host(products[i].rung))
			matmul_plan_host(&products[i], measurement);
		else
			matmul_plan_device(&products[i], measurement);
	}
	status = tare_run_measure(matmul->run, measurements, count, error);
	for (size_t i = 0; i < count; i++)
		tare_measurement_clear(&measurements[i]);
	free(measurements);
	return status;
}

static int compare_products(const void *a, const void *b)
{
	const struct matmul_product *left = a, *right = b;

	return (left->once_ns > right->once_ns) - (left->once_ns < right->once_ns);
}

// The short products first: should the machine become slower than it was when products were tried,
// it is the long ones whose turn does not come.
static int sample(struct matmul *matmul, struct matmul_product *products, size_t count,
                  struct tare_error *error)
{
	struct tare_run *run = matmul->run;
	// Above 0 even when the budget is used up: it is divided by.
	double share_ns = (double)(tare_run_remaining_ns(run) + 1) / ((double)count + 1);
	double reserve = 0;
	// A quarter each: nothing but kernels is in them.
	size_t quick = 0, traced = (matmul_traceable(matmul, products, count) + 3) / 4;
	int status;

	qsort(products, count, sizeof *products, compare_products);
	while (quick < count && (double)products[quick].once_ns < share_ns / 4)
		quick++;
	for (size_t i = quick; i < count; i++)
		reserve += 1 + (double)products[i].once_ns / share_ns;
	run->cells_total = quick + (size_t)reserve + traced;
	status = sample_some(matmul, products, quick, share_ns, error);
	run->cells_total = run->cells_done + count - quick + traced;
	for (size_t i = quick; status < 0 && i < count; i++)
		matmul_add_absent(matmul, products[i].rung, products[i].n, TARE_ABSENT_OTHER,
		                  "not measured: the run ended before its turn");
	if (status < 0)
		return status;
	return sample_some(matmul, products + quick, count - quick, share_ns, error);
}

// ---- order of the cells: by size, by rung, measured ones first

static int rung_of(const struct tare_cell *cell)
{
	const struct tare_label *label = tare_labels_find(&cell->labels, "rung");

	for (int i = 0; label && label->text && i < TARE_RUNG_COUNT; i++)
		if (strcmp(label->text, tare_rung_name((enum tare_rung)i)) == 0)
			return i;
	return TARE_RUNG_COUNT;
}

struct place {
	int64_t n;
	int rung;
	bool model;
	size_t index;
};

static int compare_places(const void *a, const void *b)
{
	const struct place *left = a, *right = b;

	if (left->n != right->n)
		return left->n < right->n ? -1 : 1;
	if (left->rung != right->rung)
		return left->rung - right->rung;
	if (left->model != right->model)
		return left->model ? 1 : -1;
	return left->index < right->index ? -1 : 1;
}

static void sort_cells(struct tare_result *result)
{
	struct place *places = calloc(result->cell_count + 1, sizeof *places);
	struct tare_cell *sorted = calloc(result->cell_count + 1, sizeof *sorted);
	bool room = places && sorted;

	for (size_t i = 0; room && i < result->cell_count; i++)
		places[i] = (struct place){ tare_cell_number(&result->cells[i], "n"),
			                    rung_of(&result->cells[i]),
			                    tare_cell_is_model(&result->cells[i]), i };
	if (room && result->cell_count) {
		qsort(places, result->cell_count, sizeof *places, compare_places);
		for (size_t i = 0; i < result->cell_count; i++)
			sorted[i] = result->cells[places[i].index];
		memcpy(result->cells, sorted, result->cell_count * sizeof *sorted);
	}
	free(places);
	if (!room)
		tare_result_fail(result);
	free(sorted);
}

// Everything that is derived from the cells; also after an interruption or a lost device.
static void conclude(struct matmul *matmul)
{
	matmul_add_models(matmul);
	matmul_add_plots(matmul);
	matmul_add_advice(matmul);
	sort_cells(matmul->run->result);
}

static void name_library(const struct matmul *matmul)
{
	const char *name = matmul_library_name(matmul);

	if (name[0])
		tare_labels_set_text(&matmul->run->result->parameters, "library", name);
}

static int measure(struct matmul *matmul, struct tare_error *error)
{
	struct matmul_product *products = calloc(PRODUCTS, sizeof *products);
	size_t count = 0;
	int status;

	status = products ? matmul_try_all(matmul, products, &count, error)
	                  : tare_fail(error, ENOMEM, "out of memory");
	status = status ?: sample(matmul, products, count, error);
	status = status ?: matmul_trace(matmul, products, count, error);
	free(products);
	if (status == -EINTR)
		matmul->run->result->interrupted = true;
	if (status == 0 && count == 0 && matmul->run->result->cell_count == 0)
		return tare_fail(error, ENOTSUP, "no rung can run here");
	if (status < 0 && !tare_run_is_partial(matmul->run, status))
		return status;
	name_library(matmul);
	conclude(matmul);
	return tare_run_end(matmul->run, status, error);
}

static int fail_if_wrong(const struct matmul *matmul, struct tare_error *error)
{
	return matmul->wrong[0] ? tare_fail(error, EBADMSG, "a product is wrong: %s", matmul->wrong)
	                        : 0;
}

int tare_measure_matmul(struct tare_run *run, const struct tare_matmul_options *options,
                        struct tare_error *error)
{
	static const struct tare_peaks none;
	struct matmul matmul = { .run = run,
		                 .peaks = options ? &options->peaks : &none,
		                 .untraced = options && options->untraced };
	int status = tare_run_begin(run, TARE_MATMUL_BUDGET_NS, error);

	if (status < 0)
		return status;
	take_options(&matmul, options);
	add_parameters(&matmul);
	say_verification(&matmul);
	status = tare_bench_open(run, FIT_NS, &matmul.bench, error);
	status = status ?: matmul_open_matrices(&matmul, error);
	status = status ?: matmul_open_rungs(&matmul, error);
	tare_run_restart(run);
	run->result->interrupted = status == -EINTR;
	if (status == 0)
		status = measure(&matmul, error);
	// What the rungs' making measured (builds) is reported.
	else if (tare_run_is_partial(run, status))
		status = tare_run_end(run, status, error);
	if (tare_device_is_gone(status))
		tare_device_abandon(run->device);
	matmul_close(&matmul);
	tare_bench_close(&matmul.bench);
	return status == 0 ? fail_if_wrong(&matmul, error) : status;
}
