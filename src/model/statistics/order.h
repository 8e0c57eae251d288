// SPDX-License-Identifier: Apache-2.0
// Order statistics: of integers without sorting everything, and of a few doubles.
#pragma once
#include <stddef.h>
#include <stdint.h>

// The value of rank `k` (0 is the smallest) of values[0..n), k < n. Rearranges: afterwards
// nothing before k is larger, nothing behind it is smaller. Hoare's quickselect with the median of
// three random places as the pivot, so that no order of the samples makes it slow.
int64_t tare_select(int64_t *values, size_t n, size_t k);

// Sample median: the mean of the two middle values when n is even. Rearranges as tare_select at
// n / 2. n > 0.
double tare_select_median(int64_t *values, size_t n);

// The quantile at `p` (0 to 1), interpolated between neighbours (type 7 of Hyndman and Fan,
// "Sample Quantiles in Statistical Packages", Am. Stat. 50, 1996). Rearranges. n > 0.
double tare_select_quantile(int64_t *values, size_t n, double p);

// Compare two int64_t or two doubles, the smaller first; for qsort.
int tare_compare_integers(const void *a, const void *b);
int tare_compare_doubles(const void *a, const void *b);

// Sorts the values, then returns the median: the mean of the two middle values when n is even.
// n > 0.
double tare_median(double *values, size_t n);
