// SPDX-License-Identifier: Apache-2.0
// The recurrences of kernels/peak_{fp32,fp64,fp16,integer}.c, in closed form.
#include "measure/peak/internal.h"

#include <math.h>
#include <string.h>

uint32_t peak_chains(enum peak_type type, uint32_t width)
{
	return type == PEAK_FP64 && width == 16 ? 4 : 8;
}

uint32_t peak_type_bytes(enum peak_type type)
{
	return type == PEAK_FP64 ? 8 : type == PEAK_FP16 ? 2 : 4;
}

uint32_t peak_check_rounds(uint32_t width)
{
	return width > 2 ? width / 2 : 1;
}

// Numbers that half precision can hold too.
double peak_start(uint32_t index)
{
	return 0.5 + (double)index / 128;
}

uint32_t peak_start_int(uint32_t index)
{
	return 2654435761u * (index + 1);
}

static double of_half(uint16_t bits)
{
	int exponent = bits >> 10 & 31;
	double mantissa = bits & 1023, sign = bits >> 15 ? -1 : 1;

	if (exponent == 31)
		return mantissa > 0 ? NAN : sign * INFINITY;
	if (exponent == 0)
		return sign * ldexp(mantissa, -24);
	return sign * ldexp(1024 + mantissa, exponent - 25);
}

static double read_output(enum peak_type type, const void *output, uint64_t item)
{
	const unsigned char *at = (const unsigned char *)output + item * peak_type_bytes(type);
	uint16_t half;
	double wide;
	float single;

	switch (type) {
	case PEAK_FP16:
		memcpy(&half, at, sizeof half);
		return of_half(half);
	case PEAK_FP64:
		memcpy(&wide, at, sizeof wide);
		return wide;
	default:
		memcpy(&single, at, sizeof single);
		return (double)single;
	}
}

// The nearest number that a type can hold; both constants are between 2^-7 and 1.
static double round_to(enum peak_type type, double value)
{
	int exponent;

	if (type == PEAK_FP64)
		return value;
	if (type == PEAK_FP32)
		return (double)(float)value;
	frexp(value, &exponent);
	return ldexp(rint(ldexp(value, 11 - exponent)), exponent - 11);
}

// x = x * a + b, n times, is a line in x: composed by squaring.
static uint32_t int_after(uint32_t x, uint64_t n)
{
	uint32_t a = PEAK_FACTOR_INT, b = PEAK_ADDEND_INT;

	for (; n; n >>= 1) {
		if (n & 1)
			x = x * a + b;
		b = a * b + b;
		a = a * a;
	}
	return x;
}

static uint64_t steps_of(enum peak_type type, uint32_t width, uint32_t rounds)
{
	return (uint64_t)rounds * (PEAK_ROUND / (peak_chains(type, width) * width));
}

static bool check_int(uint32_t width, uint64_t steps, const void *output, uint64_t items)
{
	uint32_t count = peak_chains(PEAK_INT32, width) * width, expected[PEAK_CLASSES] = { 0 };

	for (uint32_t c = 0; c < PEAK_CLASSES; c++)
		for (uint32_t i = 0; i < count; i++)
			expected[c] += int_after(peak_start_int(i) + c, steps);
	for (uint64_t i = 0; i < items; i++) {
		uint32_t value;
		memcpy(&value, (const unsigned char *)output + i * sizeof value, sizeof value);
		if (value != expected[i % PEAK_CLASSES])
			return false;
	}
	return true;
}

// x after n steps is f + (x0 - f) * a^n with f = b / (1 - a). Each step adds at most a rounding
// error or two of numbers below 2.5, and takes earlier ones down by a: less than
// min(n, 1 / (1 - a)) of them remain. Adding up the chains has its own.
bool peak_check_compute(enum peak_type type, uint32_t width, uint32_t rounds, const void *output,
                        uint64_t items)
{
	uint64_t steps = steps_of(type, width, rounds);
	uint32_t count = peak_chains(type, width) * width;
	double a = round_to(type, PEAK_FACTOR), b = round_to(type, PEAK_ADDEND), f = b / (1 - a);
	double unit = ldexp(1, type == PEAK_FP64 ? -53 : type == PEAK_FP16 ? -11 : -24);
	double left = fmin((double)steps, 1 / (1 - a)), expected[PEAK_CLASSES] = { 0 };
	double bound = count * 2.5 * 2 * unit * (left + 8);

	if (type == PEAK_INT32)
		return check_int(width, steps, output, items);
	for (uint32_t c = 0; c < PEAK_CLASSES; c++)
		for (uint32_t i = 0; i < count; i++)
			expected[c] += f + (peak_start(i) + c / 8.0 - f) * pow(a, (double)steps);
	for (uint64_t i = 0; i < items; i++) {
		double value = read_output(type, output, i);
		if (!(fabs(value - expected[i % PEAK_CLASSES]) <= bound))
			return false;
	}
	return true;
}

// ---- fused or not

static double step(enum peak_type type, double x, bool fused)
{
	if (type == PEAK_FP32) {
		volatile float product = (float)x * (float)PEAK_FACTOR;
		return fused ? (double)fmaf((float)x, (float)PEAK_FACTOR, (float)PEAK_ADDEND)
		             : (double)(product + (float)PEAK_ADDEND);
	}
	volatile double product = x * PEAK_FACTOR;
	return fused ? fma(x, PEAK_FACTOR, PEAK_ADDEND) : product + PEAK_ADDEND;
}

static double add(enum peak_type type, double a, double b)
{
	return type == PEAK_FP32 ? (double)((float)a + (float)b) : a + b;
}

// Adds pairs as the kernels do: `apart` is the distance of the two of a pair.
static void fold(enum peak_type type, double *x, uint32_t count, uint32_t apart)
{
	for (uint32_t i = 0; i < count; i++)
		x[i] = add(type, x[i], x[i + apart]);
}

// What a work-item of class `c` puts out, by the kernel's own order of adding.
static double put_out(enum peak_type type, uint32_t width, uint32_t c, bool fused)
{
	uint32_t chains = peak_chains(type, width), count = chains * width;
	double x[128];

	for (uint32_t i = 0; i < count; i++) {
		x[i] = add(type, peak_start(i), c / 8.0);
		for (uint64_t n = steps_of(type, width, peak_check_rounds(width)); n; n--)
			x[i] = step(type, x[i], fused);
	}
	// Chains: neighbours first; then lanes, of which the upper half is added to the lower.
	for (; chains > 1; chains /= 2)
		for (uint32_t pair = 0; pair < chains / 2; pair++)
			for (uint32_t lane = 0; lane < width; lane++)
				x[pair * width + lane] = add(type, x[2 * pair * width + lane],
				                             x[(2 * pair + 1) * width + lane]);
	for (uint32_t half = width / 2; half; half /= 2)
		fold(type, x, half, half);
	return x[0];
}

const char *peak_tell_fused(enum peak_type type, uint32_t width, const void *output)
{
	bool fused = true, apart = true;

	if (type != PEAK_FP32 && type != PEAK_FP64)
		return NULL;
	for (uint32_t c = 0; c < PEAK_CLASSES; c++) {
		double value = read_output(type, output, c);
		fused = fused && value == put_out(type, width, c, true);
		apart = apart && value == put_out(type, width, c, false);
	}
	if (fused == apart)
		return NULL;
	return fused ? "fused, with one rounding" : "multiplied, then added, with two roundings";
}
