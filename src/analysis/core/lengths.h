// SPDX-License-Identifier: Apache-2.0
// Times of which order statistics are asked, 4 bytes each where all of them are below 4.29 s.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Zero at first.
struct tare_lengths {
	uint32_t *narrow;
	int64_t *wide; // instead, as soon as one does not fit
	size_t count, room;
};

// Returns 0 or -ENOMEM. In any order, of any sign.
int tare_lengths_append(struct tare_lengths *lengths, int64_t ns);
static inline int tare_lengths_add(struct tare_lengths *lengths, int64_t ns)
{
	if (lengths->wide || lengths->count >= lengths->room || (uint64_t)ns > UINT32_MAX)
		return tare_lengths_append(lengths, ns);
	lengths->narrow[lengths->count++] = (uint32_t)ns;
	return 0;
}
// The quantile at `p` (0 to 1), interpolated between neighbours (type 7 of Hyndman and Fan, "Sample
// Quantiles in Statistical Packages", Am. Stat. 50, 1996). count > 0; rearranges.
double tare_lengths_quantile(struct tare_lengths *lengths, double p);
void tare_lengths_free(struct tare_lengths *lengths);
