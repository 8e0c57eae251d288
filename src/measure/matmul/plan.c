// SPDX-License-Identifier: Apache-2.0
// Which products are measured: each is tried once, the smaller sizes first, and what would not fit
// into the budget is left out with a reason.
#include "measure/matmul/internal.h"

#include "base/units.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// All tries together may take so much of the budget: each product is measured at least once more.
#define TRY_SHARE 0.3
// Up to here a product is short, and what it takes is as much launching as computing. What a larger
// one will take goes by a product of half this size or more.
#define PROBE_N 128u
// The launches that the cookbook's example took; more of them show nothing new.
#define ELEMENT_LARGEST 256u
// The simulated device computes every product, on one core of this machine.
#define SIMULATED_LARGEST 2048u
#define SIMULATED_ELEMENT 64u
#define PROBE_LAUNCHES 64u

struct candidate {
	enum tare_rung rung;
	double ns; // of one product; 0: not known
};

static bool only_this_one(int status)
{
	return !tare_device_is_gone(status) && status != -EINTR;
}

static int try_once(struct matmul_product *product, bool add_cells, int64_t *ns,
                    struct tare_error *error)
{
	return matmul_on_host(product->rung) ? matmul_try_host(product, ns, error)
	                                     : matmul_try_device(product, add_cells, ns, error);
}

void matmul_say(struct matmul *matmul, const char *doing, enum tare_rung rung, uint32_t n)
{
	char title[96], of_n[24] = "";

	if (n)
		snprintf(of_n, sizeof of_n, ", n = %u", n);
	snprintf(title, sizeof title, "%s %s%s", doing, tare_rung_name(rung), of_n);
	if (matmul->run->progress)
		matmul->run->progress(matmul->run->progress_context, title, 0, 0, -1);
}

// Runs a product and keeps what it took; twice where the first run took longer than it should, for
// drivers compile when a kernel is first used. Such a time is none of measuring, and not in the
// budget.
static int try_product(struct matmul_product *product, double expected_ns, bool add_cells,
                       struct tare_error *error)
{
	struct matmul *matmul = product->matmul;
	struct tare_run *run = matmul->run;
	int64_t ns = 0, again_ns = 0;
	int status = try_once(product, add_cells, &ns, error);

	if (status == 0 && !run->simulated && (double)ns > 3 * expected_ns &&
	    (product->n <= PROBE_N || ns < run->budget_ns / 4)) {
		status = try_once(product, false, &again_ns, error);
		if (status == 0 && again_ns < ns) {
			if (ns > 3 * again_ns)
				run->started.ns += ns - again_ns;
			ns = again_ns;
		}
	}
	if (status < 0)
		return status;
	product->once_ns = ns;
	matmul->tried_ns[product->rung] = (double)ns;
	matmul->tried_n[product->rung] = product->n;
	return 0;
}

// Squares of one tile, or of all, are what the rung before does.
static int expect_cached(const struct matmul *matmul, uint32_t n, struct tare_error *error)
{
	uint64_t bytes = matmul_cache_bytes(matmul);
	uint32_t tile = matmul_rungs[TARE_RUNG_CACHED].tile, square = matmul_square(bytes, n);
	char cache[TARE_UNIT_TEXT];

	tare_format_bytes(bytes, cache);
	if (square >= (n + tile - 1) / tile)
		return tare_fail(error, EDOM,
		                 "the whole product fits the shared cache of %s: there is nothing "
		                 "to divide",
		                 cache);
	if (square < 2)
		return tare_fail(error, EDOM,
		                 "no square of 2 x 2 tiles fits the shared cache of %s, with the "
		                 "rows and columns that it is made of",
		                 cache);
	return 0;
}

// Expected time of a product, 0 where it is short. -EDOM with the reason where the rung is not for
// this size.
static int expect(struct matmul_product *product, double *ns, struct tare_error *error)
{
	struct matmul *matmul = product->matmul;
	enum tare_rung rung = product->rung;
	uint32_t n = product->n;
	bool simulated = matmul->run->simulated;
	int64_t launch_ns;
	int status = 0;

	*ns = 0;
	if (simulated && n > SIMULATED_LARGEST)
		return tare_fail(error, EDOM,
		                 "the simulated device computes every product: n = %u "
		                 "at most",
		                 SIMULATED_LARGEST);
	if (rung == TARE_RUNG_ELEMENT && n > (simulated ? SIMULATED_ELEMENT : ELEMENT_LARGEST))
		return tare_fail(error, EDOM, "n x n launches are too many beyond n = %u",
		                 simulated ? SIMULATED_ELEMENT : ELEMENT_LARGEST);
	if (rung == TARE_RUNG_CACHED)
		status = expect_cached(matmul, n, error);
	if (status < 0 || simulated)
		return status;
	if (rung == TARE_RUNG_ELEMENT) {
		uint32_t launches = n * n < PROBE_LAUNCHES ? n * n : PROBE_LAUNCHES;
		status = matmul_time_launches(product, launches, &launch_ns, error);
		*ns = (double)launch_ns * n * n;
		return status;
	}
	if (n <= PROBE_N)
		return 0;
	if (matmul->tried_n[rung] < PROBE_N / 2) {
		struct matmul_product probe = *product;
		probe.n = PROBE_N;
		status = try_product(&probe, 0, false, error);
	}
	if (status == 0)
		*ns = matmul->tried_ns[rung] * pow((double)n / matmul->tried_n[rung], 3);
	return status;
}

static int compare_candidates(const void *a, const void *b)
{
	const struct candidate *left = a, *right = b;

	if (left->ns != right->ns)
		return left->ns < right->ns ? -1 : 1;
	return (int)left->rung - (int)right->rung;
}

// A failure that is this product's alone becomes its reason.
static int refuse(struct matmul_product *product, int status, const struct tare_error *why,
                  struct tare_error *error)
{
	if (!only_this_one(status)) {
		if (error)
			*error = *why;
		return status;
	}
	matmul_add_absent(product->matmul, product->rung, product->n, TARE_ABSENT_OTHER,
	                  why->message);
	return 0;
}

struct plan {
	struct matmul_product *products;
	size_t count;
	double spent_ns, left_out_ns;
	size_t left_out;
};

static void leave_out(struct plan *plan, struct matmul_product *product, double expected_ns)
{
	struct tare_run *run = product->matmul->run;
	char why[200], budget[TARE_UNIT_TEXT];

	snprintf(why, sizeof why,
	         "left out: going by smaller ones, a product takes too much of the budget of %s s",
	         tare_format_significant((double)run->budget_ns * 1e-9, 3, budget));
	plan->left_out++;
	plan->left_out_ns += expected_ns;
	matmul_add_absent(product->matmul, product->rung, product->n, TARE_ABSENT_NO_TIME, why);
}

static int try_candidate(struct plan *plan, struct matmul_product *product, double expected_ns,
                         struct tare_error *error)
{
	struct matmul *matmul = product->matmul;
	struct tare_error why = { 0 };
	int status;

	if (plan->spent_ns + expected_ns > TRY_SHARE * (double)matmul->run->budget_ns) {
		leave_out(plan, product, expected_ns);
		return 0;
	}
	if (tare_run_interrupted(matmul->run))
		return tare_fail(error, EINTR, "interrupted");
	matmul_say(matmul, "trying", product->rung, product->n);
	status = try_product(product, expected_ns, true, &why);
	plan->spent_ns += (double)product->once_ns;
	if (status < 0)
		return refuse(product, status, &why, error);
	plan->products[plan->count++] = *product;
	return 0;
}

// All rungs at one size, the fast ones first: a slow one must not take their place.
static int try_size(struct plan *plan, struct matmul *matmul, size_t size, struct tare_error *error)
{
	struct candidate candidates[TARE_RUNG_COUNT];
	size_t count = 0;
	int status = 0;

	for (int i = 0; status == 0 && i < TARE_RUNG_COUNT; i++) {
		struct matmul_product product = { .matmul = matmul,
			                          .rung = (enum tare_rung)i,
			                          .n = matmul->n[size],
			                          .size = size };
		struct tare_error why = { 0 };
		double ns;
		if (!(matmul->rungs >> i & 1) || matmul->no_rung[i][0])
			continue;
		status = expect(&product, &ns, &why);
		if (status == 0)
			candidates[count++] = (struct candidate){ product.rung, ns };
		else
			status = refuse(&product, status, &why, error);
	}
	qsort(candidates, count, sizeof *candidates, compare_candidates);
	for (size_t i = 0; status == 0 && i < count; i++) {
		struct matmul_product product = { .matmul = matmul,
			                          .rung = candidates[i].rung,
			                          .n = matmul->n[size],
			                          .size = size };
		status = try_candidate(plan, &product, candidates[i].ns, error);
	}
	return status;
}

static void warn_left_out(const struct plan *plan, struct tare_run *run)
{
	double needed_s = (plan->spent_ns + plan->left_out_ns) / TRY_SHARE * 1.2e-9;
	char action[96], budget[TARE_UNIT_TEXT];

	if (plan->left_out == 0)
		return;
	if (needed_s <= TARE_LONGEST_ADVICE_S)
		snprintf(action, sizeof action, "--budget %.0f, or fewer --n or --rungs",
		         ceil(needed_s / 10) * 10);
	else
		snprintf(action, sizeof action, "ask for fewer --n or --rungs");
	tare_result_warn(
	    run->result, "sizes-short", action,
	    "%zu product%s left out, the largest first: the budget of %s s is too short for them",
	    plan->left_out, plan->left_out == 1 ? " was" : "s were",
	    tare_format_significant((double)run->budget_ns * 1e-9, 3, budget));
	if (needed_s <= TARE_LONGEST_ADVICE_S)
		tare_result_action_is_options(run->result, "sizes-short");
}

int matmul_try_all(struct matmul *matmul, struct matmul_product *products, size_t *count,
                   struct tare_error *error)
{
	struct plan plan = { .products = products };
	int status = 0;

	for (size_t i = 0; status == 0 && i < matmul->n_count; i++)
		status = try_size(&plan, matmul, i, error);
	*count = plan.count;
	for (int i = 0; i < TARE_RUNG_COUNT; i++)
		if ((matmul->rungs >> i & 1) && matmul->no_rung[i][0])
			matmul_add_absent(matmul, (enum tare_rung)i, 0, matmul->no_rung_as[i],
			                  matmul->no_rung[i]);
	warn_left_out(&plan, matmul->run);
	return status;
}
