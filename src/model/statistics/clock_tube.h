// SPDX-License-Identifier: Apache-2.0
// All straight lines that pass through a row of brackets, and the one to use.
#pragma once
#include <stddef.h>

// At device time `ns` the host is ahead of it by something from `low` to `high`. One bracket per
// clock pair, sorted by ns.
struct tare_clock_bracket {
	double ns;
	double low, high;
};

// ahead(ns) = offset + slope * ns.
struct tare_clock_line {
	double offset, slope;
	double slope_error; // the farthest slope that fits is so far; NaN when all brackets are at
	                    // one time
	// the farthest that any line that fits is from this one, over the brackets
	double error;
	double least_slope; // of all that fit, the one nearest to zero: what the data insist on;
	                    // infinite when the host's time went on and the device's did not
	double extra;       // what had to be added to each end of each bracket for any line to fit
};

// Each bracket leaves a strip of lines; what all of them leave is a convex polygon (a line is the
// pair of its heights at the first and the last bracket), found by clipping. The constraints are
// those of Moon, Skelly and Towsley, "Estimation and Removal of Clock Skew" (INFOCOM 1999), with
// both sides. The line returned is the polygon's centre of gravity: where the truth is expected
// when nothing is known of how a bracket's time splits into before and after the reading. When
// slopes that fit differ by more than `useful_slope` to each side, the slope nearest to zero is
// taken instead. Where no line fits (a clock whose rate wanders), the brackets are widened by twice
// the least amount that lets one fit, and the error is at least the farthest that the truth can be
// from the line at the narrower half of the brackets.
// n > 0. Returns 0 or -ENOMEM.
int tare_clock_line(const struct tare_clock_bracket *brackets, size_t n, double useful_slope,
                    struct tare_clock_line *line);
