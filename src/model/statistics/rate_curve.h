// SPDX-License-Identifier: Apache-2.0
// Measured rates of copies by size, and what a copy of another size takes by them.
#pragma once
#include <stddef.h>
#include <stdint.h>

#define TARE_CURVE_SIZES 64

struct tare_rate_curve {
	size_t count;
	struct tare_rate_at {
		double bytes;
		double bytes_per_second;
	} at[TARE_CURVE_SIZES]; // ascending sizes
};

// Adds a rate. Of several for one size the highest stays; beyond TARE_CURVE_SIZES sizes, a size
// that is zero or a rate that is not above zero: left out.
void tare_rate_curve_add(struct tare_rate_curve *curve, double bytes, double bytes_per_second);

// Nanoseconds for a copy of so many bytes: between two measured sizes on the line through their
// times (time = fixed + bytes / rate is one), beyond the largest at its rate, where rates no longer
// grow. NaN below the smallest, for a curve without sizes, and for 0 bytes.
double tare_rate_curve_ns(const struct tare_rate_curve *curve, uint64_t bytes);
