// SPDX-License-Identifier: Apache-2.0
// Noise of known properties, and seeds that nobody chose.
#pragma once
#include "base/random.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

// A number above 0 and below 1.
static inline double uniform(struct tare_random *random)
{
	return ((double)(tare_random_next(random) >> 11) + 0.5) * 0x1p-53;
}

// A standard normal deviate (Marsaglia's polar method).
static inline double normal(struct tare_random *random)
{
	static double spare;
	static bool has_spare;
	double x, y, square;
	has_spare = !has_spare;
	if (!has_spare)
		return spare;
	do {
		x = 2 * uniform(random) - 1;
		y = 2 * uniform(random) - 1;
		square = x * x + y * y;
	} while (square >= 1);
	square = sqrt(-2 * log(square) / square);
	spare = y * square;
	return x * square;
}

// The next of a first-order autoregressive series with standard normal values. Start from normal().
static inline double autoregress(struct tare_random *random, double previous, double correlation)
{
	return correlation * previous + sqrt(1 - correlation * correlation) * normal(random);
}

// TARE_TEST_SEED, or else the time; printed, so that a failure can be repeated.
static inline struct tare_random unchosen_seed(void)
{
	const char *text = getenv("TARE_TEST_SEED");
	struct timespec now;
	struct tare_random random;
	clock_gettime(CLOCK_REALTIME, &now);
	random.state = text ? strtoull(text, NULL, 0)
	                    : (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	printf("# TARE_TEST_SEED=%llu\n", (unsigned long long)random.state);
	fflush(stdout);
	return random;
}
