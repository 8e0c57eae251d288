// SPDX-License-Identifier: Apache-2.0
// What the check of tare's own loop spends its time in; compiled with -O3 whatever the build type
// is.
#include "measure/overlap/check.h"

// A block without a way out in the middle is vectorised.
#define BLOCK 4096

bool overlap_is_affine(const uint32_t *restrict input, const uint32_t *restrict output,
                       uint64_t count, uint32_t multiplier, uint32_t summand)
{
	for (uint64_t from = 0; from < count; from += BLOCK) {
		uint64_t items = count - from < BLOCK ? count - from : BLOCK;
		uint32_t wrong = 0;
		for (uint64_t i = 0; i < items; i++)
			wrong |= output[from + i] ^ (input[from + i] * multiplier + summand);
		if (wrong)
			return false;
	}
	return true;
}
