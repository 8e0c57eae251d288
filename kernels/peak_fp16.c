// SPDX-License-Identifier: Apache-2.0
// Half precision: independent chains of value = value * factor + addend. Each turn has
// 512 multiply-adds of one number, whatever the width, so that the loop is below 1 % of it.
// start[]: a number for each lane of each chain. output[]: an item's sum over chains and lanes.

#ifdef __OPENCL_VERSION__
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL FP_CONTRACT ON
// The fused function where the device says that it is fast; else the compiler contracts if it can.
#ifdef FP_FAST_FMA_HALF
#define MULTIPLY_ADD(value) fma((value), a, b)
#else
#define MULTIPLY_ADD(value) ((value) * a + b)
#endif

#define ELEMENT half
#define ARGUMENT float
#define ITEM (half)((float)(GLOBAL_ID(0) & 7u) * 0.125f)

PEAK8_TO_8(peak_fp16, half)
PEAK8(peak_fp16_16, half16, TIMES4, SUM16)
#else
// clang has no half for PTX without NVIDIA's headers: pairs of them are words here, and the
// instructions are written out. Wider vectors are several pairs. A half of its own is of width 1.
typedef unsigned short half;

FUNCTION half half_of(float value)
{
	half bits;

	__asm__("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
	return bits;
}

FUNCTION uint pair_of(half low, half high)
{
	return (uint)low | (uint)high << 16;
}

FUNCTION half add_halves(half left, half right)
{
	half sum;

	__asm__("add.rn.f16 %0, %1, %2;" : "=h"(sum) : "h"(left), "h"(right));
	return sum;
}

FUNCTION uint add_pairs(uint left, uint right)
{
	uint sum;

	__asm__("add.rn.f16x2 %0, %1, %2;" : "=r"(sum) : "r"(left), "r"(right));
	return sum;
}

#define STEP_HALF(value) __asm__("fma.rn.f16 %0, %0, %1, %2;" : "+h"(value) : "h"(a), "h"(b));
#define STEP_PAIR(value) __asm__("fma.rn.f16x2 %0, %0, %1, %2;" : "+r"(value) : "r"(a), "r"(b));
#define EACH8(step) step(x0) step(x1) step(x2) step(x3) step(x4) step(x5) step(x6) step(x7)
#define STEP8_HALF EACH8(STEP_HALF)

KERNEL void peak_fp16_1(GLOBAL half *output, GLOBAL const half *start, float factor, float addend,
                        uint rounds)
{
	half a = half_of(factor), b = half_of(addend);
	half item = half_of((float)(GLOBAL_ID(0) & 7u) * 0.125f);
	half x0 = add_halves(start[0], item), x1 = add_halves(start[1], item);
	half x2 = add_halves(start[2], item), x3 = add_halves(start[3], item);
	half x4 = add_halves(start[4], item), x5 = add_halves(start[5], item);
	half x6 = add_halves(start[6], item), x7 = add_halves(start[7], item);

	for (uint round = 0; round < rounds; round++) {
		TIMES64(STEP8_HALF)
	}
	x0 = add_halves(add_halves(x0, x1), add_halves(x2, x3));
	x4 = add_halves(add_halves(x4, x5), add_halves(x6, x7));
	output[GLOBAL_ID(0)] = add_halves(x0, x4);
}

// Eight chains of so many pairs, `steps` times each a round; the loops over pairs are unrolled.
#define PEAK_PAIRS(name, pairs, steps)                                                             \
	KERNEL void name(GLOBAL half *output, GLOBAL const half *start, float factor,              \
	                 float addend, uint rounds)                                                \
	{                                                                                          \
		GLOBAL const uint *from = (GLOBAL const uint *)start;                              \
		uint a = pair_of(half_of(factor), half_of(factor));                                \
		uint b = pair_of(half_of(addend), half_of(addend));                                \
		half one = half_of((float)(GLOBAL_ID(0) & 7u) * 0.125f);                           \
		uint item = pair_of(one, one), x[8 * (pairs)];                                     \
		_Pragma("unroll") for (int i = 0; i < 8 * (pairs); i++) x[i] =                     \
		    add_pairs(from[i], item);                                                      \
		for (uint round = 0; round < rounds; round++) {                                    \
			_Pragma("unroll") for (int step = 0; step < (steps); step++)               \
			{                                                                          \
				_Pragma("unroll") for (int i = 0; i < 8 * (pairs); i++)            \
				    STEP_PAIR(x[i])                                                \
			}                                                                          \
		}                                                                                  \
		_Pragma("unroll") for (int half_way = 4 * (pairs); half_way > 0; half_way /= 2)    \
		{                                                                                  \
			_Pragma("unroll") for (int i = 0; i < half_way; i++) x[i] =                \
			    add_pairs(x[i], x[i + half_way]);                                      \
		}                                                                                  \
		output[GLOBAL_ID(0)] = add_halves((half)x[0], (half)(x[0] >> 16));                 \
	}

PEAK_PAIRS(peak_fp16_2, 1, 32)
PEAK_PAIRS(peak_fp16_4, 2, 16)
PEAK_PAIRS(peak_fp16_8, 4, 8)
PEAK_PAIRS(peak_fp16_16, 8, 4)
#endif
