// SPDX-License-Identifier: Apache-2.0
// The least and the most that an unknown can be, of unknowns that are not negative and of which
// sums are known: linear programming, by GLPK where tare was built with it.
#pragma once
#include <stdbool.h>
#include <stdint.h>

// Whether tare was built with GLPK.
bool tare_linear_is_there(void);

struct tare_linear;
struct tare_linear_term {
	uint32_t unknown; // from 0; may come several times, which is added
	double factor;
};
// NULL: no memory, or no GLPK. For tare_linear_free().
struct tare_linear *tare_linear_make(uint32_t unknowns);
void tare_linear_free(struct tare_linear *linear);
// The sum of the terms is from `low` to `high` (INFINITY: without bound). 0; -EINVAL: a number that
// is none, or an unknown that is none; -ENOMEM.
int tare_linear_add(struct tare_linear *linear, const struct tare_linear_term *terms,
                    uint32_t count, double low, double high);
// Of an unknown; *high may be INFINITY. 0; -EDOM: the sums contradict each other; -ETIME: it was
// not found in the given milliseconds; -ENOMEM.
int tare_linear_bounds(struct tare_linear *linear, uint32_t unknown, int most_ms, double *low,
                       double *high);
