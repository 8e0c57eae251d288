// SPDX-License-Identifier: Apache-2.0
#include "model/statistics/statistics.h"

#include <errno.h>
#include <math.h>

// A straight line through weighted points, with what its two parameters leave uncertain.
struct line {
	double intercept, slope;
	double intercept_deviation, slope_deviation;
};

double tare_student_95(size_t degrees)
{
	static const double few[] = { NAN, 12.706, 4.303 };
	static const double z = 1.959964;
	double n = (double)degrees;
	double z2 = z * z;
	if (degrees < sizeof few / sizeof *few)
		return few[degrees];
	return z * (1 + (z2 + 1) / (4 * n) + ((5 * z2 + 16) * z2 + 3) / (96 * n * n) +
	            (((3 * z2 + 19) * z2 + 17) * z2 - 15) / (384 * n * n * n));
}

// What a point weighs: one over the square of the time that is expected there, so that all weigh
// the same in percent. Expecting the line's own time, not the measured one, keeps points that
// happened to be fast from pulling it down.
static double weight(const struct line *expected, double bytes, double time_ns)
{
	double time = expected->intercept + expected->slope * bytes;
	time = fmax(time, time_ns / 4); // a line near zero there says nothing about the noise
	return 1 / (time * time);
}

// Weighted least squares (any textbook; here in the form centred on the weighted means, because
// sizes span five decades).
static struct line fit_line(const uint64_t *bytes, const double *time_ns, size_t n,
                            const struct line *expected)
{
	double weights = 0, mean_x = 0, mean_y = 0, square = 0, cross = 0, error = 0;
	struct line line;
	for (size_t i = 0; i < n; i++) {
		double w = weight(expected, (double)bytes[i], time_ns[i]);
		weights += w;
		mean_x += w * (double)bytes[i];
		mean_y += w * time_ns[i];
	}
	mean_x /= weights;
	mean_y /= weights;
	for (size_t i = 0; i < n; i++) {
		double w = weight(expected, (double)bytes[i], time_ns[i]);
		double x = (double)bytes[i] - mean_x;
		square += w * x * x;
		cross += w * x * (time_ns[i] - mean_y);
	}
	line.slope = cross / square;
	line.intercept = mean_y - line.slope * mean_x;
	for (size_t i = 0; i < n; i++) {
		double off = time_ns[i] - line.intercept - line.slope * (double)bytes[i];
		error += weight(expected, (double)bytes[i], time_ns[i]) * off * off;
	}
	error /= (double)(n - 2);
	line.slope_deviation = sqrt(error / square);
	line.intercept_deviation = sqrt(error * (1 / weights + mean_x * mean_x / square));
	return line;
}

// Three distinct sizes and times that can be.
static bool usable(const uint64_t *bytes, const double *time_ns, size_t n)
{
	uint64_t seen[2];
	size_t distinct = 0;
	for (size_t i = 0; i < n; i++) {
		bool known = false;
		if (!isfinite(time_ns[i]) || time_ns[i] <= 0)
			return false;
		for (size_t k = 0; k < distinct && k < 2; k++)
			known = known || seen[k] == bytes[i];
		if (known)
			continue;
		if (distinct < 2)
			seen[distinct] = bytes[i];
		distinct++;
	}
	return distinct >= 3;
}

int tare_fit_transfer(const uint64_t *bytes, const double *time_ns, size_t n,
                      struct tare_transfer_fit *fit)
{
	enum { ROUNDS = 5 };
	struct line line = { 0 };
	double t;
	if (!usable(bytes, time_ns, n))
		return -EINVAL;
	// The first round expects nothing; weight() then goes by the measured times.
	for (int round = 0; round < ROUNDS; round++)
		line = fit_line(bytes, time_ns, n, &line);
	t = tare_student_95(n - 2);
	// More bytes must cost more time, by so much that the rate is known to a factor of two (a
	// slope that is barely beyond doubt was picked out of the noise); and no bytes cannot cost
	// less than nothing, beyond doubt.
	if (!(line.slope - 3 * t * line.slope_deviation > 0) ||
	    !(line.intercept + t * line.intercept_deviation >= 0))
		return -EINVAL;
	*fit = (struct tare_transfer_fit){
		.latency_ns = line.intercept,
		.latency_low_ns = line.intercept - t * line.intercept_deviation,
		.latency_high_ns = line.intercept + t * line.intercept_deviation,
		.rate_bytes_per_s = 1e9 / line.slope,
		.rate_low = 1e9 / (line.slope + t * line.slope_deviation),
		.rate_high = 1e9 / (line.slope - t * line.slope_deviation),
		.half_rate_bytes = line.intercept > 0 ? line.intercept / line.slope : NAN,
		.points = n,
	};
	for (size_t i = 0; i < n; i++) {
		double modelled = line.intercept + line.slope * (double)bytes[i];
		double residual = fabs(time_ns[i] - modelled) / time_ns[i];
		fit->worst_relative_residual = fmax(fit->worst_relative_residual, residual);
	}
	return 0;
}
