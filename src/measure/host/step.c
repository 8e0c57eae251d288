// SPDX-License-Identifier: Apache-2.0
#include "measure/host/step.h"

#include "model/statistics/order.h"

#include <stdlib.h>

// Sorts and leaves each value once.
static size_t make_distinct(int64_t *values, size_t count)
{
	size_t n = 0;

	qsort(values, count, sizeof *values, tare_compare_integers);
	for (size_t i = 0; i < count; i++)
		if (n == 0 || values[i] != values[n - 1])
			values[n++] = values[i];
	return n;
}

int64_t tare_host_step_ns(const struct tare_host_time *reads, size_t count)
{
	int64_t apart[TARE_STEP_READS], step = 0;
	size_t n = count < 2 ? 0 : count - 1;

	if (n > TARE_STEP_READS)
		n = TARE_STEP_READS;
	for (size_t i = 0; i < n; i++)
		apart[i] = tare_host_elapsed_ns(reads[i], reads[i + 1]);
	n = make_distinct(apart, n);
	for (size_t i = 1; i < n; i++) {
		int64_t gap = apart[i] - apart[i - 1];
		// Rounding makes pairs of neighbours, never three.
		if (gap == 1 && i + 1 < n && apart[i + 1] - apart[i] == 1)
			return 1;
		if (gap > 1 && (step == 0 || gap < step))
			step = gap;
	}
	if (step == 0)
		for (size_t i = 0; i < n && step <= 0; i++)
			step = apart[i];
	return step > 0 ? step : 1;
}
