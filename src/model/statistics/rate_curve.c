// SPDX-License-Identifier: Apache-2.0
#include "model/statistics/rate_curve.h"

#include <math.h>
#include <string.h>

void tare_rate_curve_add(struct tare_rate_curve *curve, double bytes, double bytes_per_second)
{
	size_t i = 0;

	if (!(bytes > 0) || !(bytes_per_second > 0))
		return;
	while (i < curve->count && curve->at[i].bytes < bytes)
		i++;
	if (i < curve->count && !(curve->at[i].bytes > bytes)) {
		curve->at[i].bytes_per_second =
		    fmax(curve->at[i].bytes_per_second, bytes_per_second);
		return;
	}
	if (curve->count == TARE_CURVE_SIZES)
		return;
	memmove(&curve->at[i + 1], &curve->at[i], (curve->count - i) * sizeof curve->at[0]);
	curve->at[i] = (struct tare_rate_at){ bytes, bytes_per_second };
	curve->count++;
}

static double ns_at(const struct tare_rate_at *at)
{
	return 1e9 * at->bytes / at->bytes_per_second;
}

double tare_rate_curve_ns(const struct tare_rate_curve *curve, uint64_t bytes)
{
	const struct tare_rate_at *low, *high;
	size_t i = 0;

	while (i < curve->count && curve->at[i].bytes <= (double)bytes)
		i++;
	if (i == 0)
		return NAN;
	low = &curve->at[i - 1];
	if (i == curve->count)
		return 1e9 * (double)bytes / low->bytes_per_second;
	high = &curve->at[i];
	return ns_at(low) + (ns_at(high) - ns_at(low)) * ((double)bytes - low->bytes) /
	                        (high->bytes - low->bytes);
}
