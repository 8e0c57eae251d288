// SPDX-License-Identifier: Apache-2.0
#include "blocks/cuda/linear.h"

#include "tare_config.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#if TARE_HAVE_LINEAR
#include <glpk.h>
#include <setjmp.h>

// GLPK would end the process where it has no memory, or meets an error of its own. What it had is
// given back, and no problem of it is used any more.
static jmp_buf on_error;
static bool broken;
static void fail(void *of)
{
	(void)of;
	glp_error_hook(NULL, NULL);
	glp_free_env();
	broken = true;
	longjmp(on_error, 1);
}

// 100 times what the largest kernel needs that is tried.
enum { MOST_UNKNOWNS = 1000000 };

struct tare_linear {
	glp_prob *problem;
	uint32_t unknowns;
	double *sums; // of a row, by unknown
	int *at;      // GLPK counts from 1
	double *factors;
};

bool tare_linear_is_there(void)
{
	return true;
}

void tare_linear_free(struct tare_linear *linear)
{
	if (!linear)
		return;
	if (linear->problem && !broken)
		glp_delete_prob(linear->problem);
	free(linear->sums);
	free(linear->at);
	free(linear->factors);
	free(linear);
}

struct tare_linear *tare_linear_make(uint32_t unknowns)
{
	struct tare_linear *made =
	    unknowns && unknowns <= MOST_UNKNOWNS && !broken ? calloc(1, sizeof *made) : NULL;

	if (!made)
		return NULL;
	made->unknowns = unknowns;
	made->sums = calloc((size_t)unknowns + 1, sizeof *made->sums);
	made->at = calloc((size_t)unknowns + 1, sizeof *made->at);
	made->factors = calloc((size_t)unknowns + 1, sizeof *made->factors);
	if (!made->sums || !made->at || !made->factors) {
		tare_linear_free(made);
		return NULL;
	}
	if (setjmp(on_error)) {
		tare_linear_free(made);
		return NULL;
	}
	glp_term_out(GLP_OFF);
	glp_error_hook(fail, NULL);
	made->problem = glp_create_prob();
	glp_add_cols(made->problem, (int)unknowns);
	for (uint32_t i = 1; i <= unknowns; i++)
		glp_set_col_bnds(made->problem, (int)i, GLP_LO, 0, 0);
	return made;
}

// Of what stands in `at` and `factors`.
static int add_row(struct tare_linear *linear, int length, double low, double high)
{
	if (setjmp(on_error))
		return -ENOMEM;
	int row = glp_add_rows(linear->problem, 1);
	bool below = isinf(low), above = isinf(high);
	glp_set_row_bnds(linear->problem, row,
	                 below && above ? GLP_FR
	                 : below        ? GLP_UP
	                 : above        ? GLP_LO
	                 : low == high  ? GLP_FX
	                                : GLP_DB,
	                 low, high);
	glp_set_mat_row(linear->problem, row, length, linear->at, linear->factors);
	return 0;
}

int tare_linear_add(struct tare_linear *linear, const struct tare_linear_term *terms,
                    uint32_t count, double low, double high)
{
	int length = 0;

	if (isnan(low) || isnan(high) || low > high)
		return -EINVAL;
	for (uint32_t i = 0; i < count; i++)
		if (terms[i].unknown >= linear->unknowns || !isfinite(terms[i].factor))
			return -EINVAL;
	for (uint32_t i = 0; i < count; i++)
		linear->sums[terms[i].unknown] += terms[i].factor;
	for (uint32_t i = 0; i < count; i++) {
		double *sum = &linear->sums[terms[i].unknown];
		if (*sum == 0)
			continue;
		linear->at[++length] = (int)terms[i].unknown + 1;
		linear->factors[length] = *sum;
		*sum = 0;
	}
	return broken ? -ENOMEM : add_row(linear, length, low, high);
}

// GLPK begins where it stood last, and may lose its way by rounding: then it begins anew.
static int solve(struct tare_linear *linear, int most_ms)
{
	glp_smcp how;

	glp_init_smcp(&how);
	how.msg_lev = GLP_MSG_OFF;
	how.tm_lim = most_ms;
	for (int turn = 0; turn < 2; turn++) {
		int status = glp_simplex(linear->problem, &how);
		if (status == GLP_ETMLIM || status == GLP_EITLIM)
			return -ETIME;
		int is = status ? GLP_UNDEF : glp_get_status(linear->problem);
		if (is == GLP_OPT || is == GLP_UNBND)
			return is;
		glp_std_basis(linear->problem);
	}
	return -EDOM;
}

// The end in one direction.
static int find(struct tare_linear *linear, uint32_t unknown, int direction, int most_ms,
                double *end)
{
	glp_set_obj_dir(linear->problem, direction);
	glp_set_obj_coef(linear->problem, (int)unknown + 1, 1);
	int status = solve(linear, most_ms);
	glp_set_obj_coef(linear->problem, (int)unknown + 1, 0);
	*end = status == GLP_OPT ? glp_get_col_prim(linear->problem, (int)unknown + 1) : INFINITY;
	return status < 0 ? status : 0;
}

int tare_linear_bounds(struct tare_linear *linear, uint32_t unknown, int most_ms, double *low,
                       double *high)
{
	if (broken)
		return -ENOMEM;
	if (setjmp(on_error))
		return -ENOMEM;
	int status = find(linear, unknown, GLP_MIN, most_ms, low);

	return status == 0 ? find(linear, unknown, GLP_MAX, most_ms, high) : status;
}

#else

bool tare_linear_is_there(void)
{
	return false;
}

struct tare_linear *tare_linear_make(uint32_t unknowns)
{
	(void)unknowns;
	return NULL;
}

void tare_linear_free(struct tare_linear *linear)
{
	(void)linear;
}

int tare_linear_add(struct tare_linear *linear, const struct tare_linear_term *terms,
                    uint32_t count, double low, double high)
{
	(void)linear, (void)terms, (void)count, (void)low, (void)high;
	return -ENOSYS;
}

int tare_linear_bounds(struct tare_linear *linear, uint32_t unknown, int most_ms, double *low,
                       double *high)
{
	(void)linear, (void)unknown, (void)most_ms, (void)low, (void)high;
	return -ENOSYS;
}
#endif
