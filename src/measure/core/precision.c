// SPDX-License-Identifier: Apache-2.0
#include "measure/core/precision.h"

#include <math.h>
#include <string.h>

static uint32_t bits_of(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof bits);
	return bits;
}

static float of_bits(uint32_t bits)
{
	float value;

	memcpy(&value, &bits, sizeof value);
	return value;
}

// The upper bits of a float, `dropped` bits rounded away to the nearest, ties to even. What is no
// number stays so: its fraction must not become 0.
static uint32_t round_away(uint32_t bits, unsigned dropped)
{
	uint32_t half = (UINT32_C(1) << (dropped - 1)) - 1;

	if ((bits & 0x7fffffff) > 0x7f800000)
		return (bits | 0x400000) >> dropped;
	return (bits + half + (bits >> dropped & 1)) >> dropped;
}

uint16_t tare_fp16_of(float value)
{
	uint32_t bits = bits_of(value), sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;

	if (magnitude > 0x7f800000)
		return (uint16_t)(sign | 0x7e00);
	if (magnitude >= 0x477ff000) // rounds to 65536 or more
		return (uint16_t)(sign | 0x7c00);
	if (magnitude < 0x38800000) // below 2^-14: multiples of 2^-24
		return (uint16_t)(sign | (uint32_t)lrintf(of_bits(magnitude) * 0x1p24f));
	return (uint16_t)(sign | (round_away(magnitude, 13) - (UINT32_C(112) << 10)));
}

float tare_fp16_value(uint16_t bits)
{
	uint32_t sign = (uint32_t)(bits & 0x8000) << 16, rest = bits & 0x7fff;

	if (rest >= 0x7c00)
		return of_bits(sign | 0x7f800000 | (rest & 0x3ff) << 13);
	if (rest < 0x400)
		return (sign ? -1.0f : 1.0f) * (float)rest * 0x1p-24f;
	return of_bits(sign | (rest + (UINT32_C(112) << 10)) << 13);
}

uint16_t tare_bf16_of(float value)
{
	return (uint16_t)round_away(bits_of(value), 16);
}

float tare_bf16_value(uint16_t bits)
{
	return of_bits((uint32_t)bits << 16);
}

float tare_tf32_of(float value)
{
	return of_bits(round_away(bits_of(value), 13) << 13);
}

const char *tare_precision_name(enum tare_blas_precision precision)
{
	static const char *const names[TARE_BLAS_PRECISION_COUNT] = {
		[TARE_BLAS_FP32] = "fp32",
		[TARE_BLAS_TF32] = "tf32",
		[TARE_BLAS_FP16] = "fp16",
		[TARE_BLAS_BF16] = "bf16",
	};
	return names[precision];
}

uint32_t tare_precision_bytes(enum tare_blas_precision precision)
{
	return precision == TARE_BLAS_FP16 || precision == TARE_BLAS_BF16 ? 2 : 4;
}

void tare_precision_put(enum tare_blas_precision precision, const float *from, size_t count,
                        void *to)
{
	uint16_t *narrow = to;
	float *wide = to;

	for (size_t i = 0; i < count; i++)
		switch (precision) {
		case TARE_BLAS_FP16:
			narrow[i] = tare_fp16_of(from[i]);
			break;
		case TARE_BLAS_BF16:
			narrow[i] = tare_bf16_of(from[i]);
			break;
		case TARE_BLAS_TF32:
			wide[i] = tare_tf32_of(from[i]);
			break;
		default:
			wide[i] = from[i];
		}
}

float tare_precision_get(enum tare_blas_precision precision, const void *array, size_t index)
{
	if (precision == TARE_BLAS_FP16)
		return tare_fp16_value(((const uint16_t *)array)[index]);
	if (precision == TARE_BLAS_BF16)
		return tare_bf16_value(((const uint16_t *)array)[index]);
	return ((const float *)array)[index];
}

double tare_precision_unit(enum tare_blas_precision precision)
{
	return precision == TARE_BLAS_FP32 ? 0x1p-24 : 0x1p-22;
}
