// SPDX-License-Identifier: Apache-2.0
#include "model/statistics/order.h"

#include "base/random.h"

#include <math.h>
#include <stdlib.h>

static int64_t pivot(const int64_t *values, size_t n, struct tare_random *random)
{
	int64_t a = values[tare_random_below(random, n)];
	int64_t b = values[tare_random_below(random, n)];
	int64_t c = values[tare_random_below(random, n)];
	int64_t low = a < b ? a : b;
	int64_t high = a < b ? b : a;
	return c < low ? low : c > high ? high : c;
}

static void swap(int64_t *a, int64_t *b)
{
	int64_t held = *a;
	*a = *b;
	*b = held;
}

int64_t tare_select(int64_t *values, size_t n, size_t k)
{
	struct tare_random random = { n };
	ptrdiff_t low = 0;
	ptrdiff_t high = (ptrdiff_t)n - 1;
	ptrdiff_t rank = (ptrdiff_t)k;
	while (low < high) {
		int64_t middle = pivot(values + low, (size_t)(high - low + 1), &random);
		ptrdiff_t i = low;
		ptrdiff_t j = high;
		// Stopping at equals keeps the halves balanced when a coarse timer makes ties.
		while (i <= j) {
			while (values[i] < middle)
				i++;
			while (values[j] > middle)
				j--;
			if (i <= j)
				swap(&values[i++], &values[j--]);
		}
		if (rank <= j)
			high = j;
		else if (rank >= i)
			low = i;
		else
			break;
	}
	return values[k];
}

// The smallest of values[from..n).
static int64_t smallest(const int64_t *values, size_t from, size_t n)
{
	int64_t least = values[from];
	for (size_t i = from + 1; i < n; i++)
		if (values[i] < least)
			least = values[i];
	return least;
}

double tare_select_median(int64_t *values, size_t n)
{
	int64_t upper = tare_select(values, n, n / 2);
	int64_t lower = upper;
	if (n % 2)
		return (double)upper;
	for (size_t i = 0; i < n / 2; i++)
		if (i == 0 || values[i] > lower)
			lower = values[i];
	return (double)lower + ((double)upper - (double)lower) / 2;
}

double tare_select_quantile(int64_t *values, size_t n, double p)
{
	double place = p * (double)(n - 1);
	size_t k = (size_t)floor(place);
	double lower = (double)tare_select(values, n, k);
	double upper = k + 1 < n ? (double)smallest(values, k + 1, n) : lower;
	return lower + (place - (double)k) * (upper - lower);
}

int tare_compare_integers(const void *a, const void *b)
{
	int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
	return (left > right) - (left < right);
}

int tare_compare_doubles(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;
	return (left > right) - (left < right);
}

double tare_median(double *values, size_t n)
{
	qsort(values, n, sizeof *values, tare_compare_doubles);
	return (values[(n - 1) / 2] + values[n / 2]) / 2;
}
