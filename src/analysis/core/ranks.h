// SPDX-License-Identifier: Apache-2.0
// Order statistics of values of 32 bits in any array, by counting: they stay where they are.
#pragma once
#include <stddef.h>
#include <stdint.h>

// Neighbours in the order of size: of rank k, and of rank k + 1 (the same where there is none).
struct tare_ranks {
	uint32_t at, next;
};

enum { TARE_RANK_BITS = 11, TARE_RANK_BINS = 1 << TARE_RANK_BITS };

// How many of the values are in each bin: of `bits` from `shift` on, of those that have `above` in
// the bits above it.
__attribute__((always_inline)) static inline void
tare_rank_count(uint32_t (*value)(const void *values, size_t index), const void *values, size_t n,
                uint64_t above, int shift, int bits, uint32_t bins[TARE_RANK_BINS])
{
	for (size_t i = 0; i < TARE_RANK_BINS; i++)
		bins[i] = 0;
	for (size_t i = 0; i < n; i++) {
		uint64_t at = value(values, i);
		if (at >> (shift + bits) == above)
			bins[at >> shift & ((UINT32_C(1) << bits) - 1)]++;
	}
}

// Of n values, n below 2^32, k < n: counted in bins, by the highest bits first. They stay where
// they are. Inline, so that `value` is.
__attribute__((always_inline)) static inline struct tare_ranks
tare_ranks_of(uint32_t (*value)(const void *values, size_t index), const void *values, size_t n,
              size_t k)
{
	uint32_t bins[TARE_RANK_BINS], next = UINT32_MAX, all = 1;
	uint64_t found = 0;
	size_t left = k, same = n;
	for (size_t i = 0; i < n; i++)
		all |= value(values, i);
	// Bits that none of them has need not be counted.
	for (int shift = 32 - __builtin_clz(all); shift > 0;) {
		uint32_t bin = 0;
		int bits = shift < TARE_RANK_BITS ? shift : TARE_RANK_BITS;
		shift -= bits;
		tare_rank_count(value, values, n, found, shift, bits, bins);
		while (left >= bins[bin])
			left -= bins[bin++];
		same = bins[bin];
		found = found << bits | bin;
	}
	const uint32_t at = (uint32_t)found;
	if (left + 1 < same || k + 1 == n)
		return (struct tare_ranks){ at, at };
	for (size_t i = 0; i < n; i++) {
		uint32_t other = value(values, i);
		if (other > at && other < next)
			next = other;
	}
	return (struct tare_ranks){ at, next };
}

// The quantile at `p` (0 to 1), interpolated between neighbours (type 7 of Hyndman and Fan, "Sample
// Quantiles in Statistical Packages", Am. Stat. 50, 1996). 0 < n < 2^32.
__attribute__((always_inline)) static inline double
tare_ranks_quantile(uint32_t (*value)(const void *values, size_t index), const void *values,
                    size_t n, double p)
{
	double place = p * (double)(n - 1);
	size_t k = (size_t)place;
	struct tare_ranks ranks = tare_ranks_of(value, values, n, k);
	return (double)ranks.at + (place - (double)k) * ((double)ranks.next - (double)ranks.at);
}
