// SPDX-License-Identifier: Apache-2.0
#include "model/statistics/autocorrelation.h"

#include <math.h>
#include <string.h>

// Products of signs are -1, 0 or 1, so eight 16-bit lanes hold the sums of this many vectors.
enum { LANES = 8, VECTORS_A_SUM = INT16_MAX };
typedef int16_t vector __attribute__((vector_size(LANES * sizeof(int16_t))));

// Sum of a[i] * b[i]. Vectors, because this is the whole cost of a decision.
static int64_t product(const int16_t *a, const int16_t *b, size_t n)
{
	int64_t sum = 0;
	size_t i = 0;
	while (n - i >= LANES) {
		vector lanes = { 0 };
		for (size_t v = 0; v < VECTORS_A_SUM && n - i >= LANES; v++, i += LANES) {
			vector left, right;
			memcpy(&left, a + i, sizeof left);
			memcpy(&right, b + i, sizeof right);
			lanes += left * right;
		}
		for (size_t lane = 0; lane < LANES; lane++)
			sum += lanes[lane];
	}
	for (; i < n; i++)
		sum += a[i] * b[i];
	return sum;
}

void tare_signs(const int64_t *samples, size_t n, double median, int16_t *signs)
{
	for (size_t i = 0; i < n; i++) {
		double value = (double)samples[i];
		signs[i] = (int16_t)((value > median) - (value < median));
	}
}

// Autocovariances of one series, lag after lag.
struct covariance {
	const int16_t *signs;
	size_t n;
	double mean;
	int64_t total;
	int64_t head, tail; // sums of the first and the last `lag` signs
	size_t lag;
};

// The covariance at the next lag, times n.
static double next_covariance(struct covariance *c)
{
	size_t left = c->n - c->lag;
	double sum = (double)product(c->signs, c->signs + c->lag, left);
	double ends = (double)(c->total - c->tail) + (double)(c->total - c->head);
	sum += c->mean * (c->mean * (double)left - ends);
	c->head += c->signs[c->lag];
	c->tail += c->signs[left - 1];
	c->lag++;
	return sum;
}

struct tare_autocorrelation tare_autocorrelate(const int16_t *signs, size_t n)
{
	struct tare_autocorrelation result = { 0, 1 };
	struct covariance c = { .signs = signs, .n = n };
	double variance, sum, previous;
	size_t window = 1;
	if (n < 4)
		return result;
	for (size_t i = 0; i < n; i++)
		c.total += signs[i];
	c.mean = (double)c.total / (double)n;
	variance = next_covariance(&c);
	if (variance <= 0)
		return result;
	result.lag1 = next_covariance(&c) / variance;
	previous = 1 + result.lag1;
	sum = previous;
	while (c.lag + 1 < n / 2) {
		double pair = next_covariance(&c);
		pair = (pair + next_covariance(&c)) / variance;
		if (pair <= 0)
			break;
		previous = fmin(previous, pair);
		sum += previous;
		window += 2;
	}
	result.time = fmax(1, 2 * sum - 1);
	result.time *= 1 + sqrt(2 * (2 * (double)window + 1) / (double)n);
	return result;
}
