// SPDX-License-Identifier: Apache-2.0
// A small reproducible generator (SplitMix64, Steele et al. 2014): cell order, test data.
#pragma once
#include <stdint.h>

struct tare_random {
	uint64_t state;
};

static inline uint64_t tare_random_next(struct tare_random *random)
{
	uint64_t z = (random->state += UINT64_C(0x9e3779b97f4a7c15));
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

// A number in [0, bound), bound > 0, without the bias of a plain remainder.
static inline uint64_t tare_random_below(struct tare_random *random, uint64_t bound)
{
	return (uint64_t)(((unsigned __int128)tare_random_next(random) * bound) >> 64);
}
