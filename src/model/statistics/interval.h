// SPDX-License-Identifier: Apache-2.0
// Where the median of a series lies.
#pragma once
#include "model/statistics/autocorrelation.h"

#include <stddef.h>
#include <stdint.h>

struct tare_location {
	double median;
	double low, high; // NaN: so few samples bound no median
	double effective_n;
	struct tare_autocorrelation dependence;
};

// The median of samples[0..n), n > 0, and its interval: the samples of rank
// n/2 -+ z/2 * sqrt(n * tau), which for independent samples is Le Boudec's theorem 2.1
// ("Performance Evaluation of Computer and Communication Systems", 2010); the autocorrelation time
// tau of the signs around the median scales the variance of the count below it; z is 2.33 and
// grows as effective_n = n / tau gets small. Widened by `quantum` to each side: a timer that cuts
// off hides up to one quantum below, one that rounds up hides it above, and which of them it does
// is not known.
// `ordered` and `signs` have room for n: the samples in some order for tare_select, and
// tare_signs of them.
struct tare_location tare_locate_median(const int64_t *samples, size_t n, double quantum,
                                        int64_t *ordered, int16_t *signs);
