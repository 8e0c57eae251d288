// SPDX-License-Identifier: Apache-2.0
// Integers modulo 2^32: independent chains of value = value * factor + addend. Each turn has 512
// multiply-adds of one number, whatever the width, so that the loop is below 1 % of it.
// start[]: a number for each lane of each chain. output[]: an item's sum over chains and lanes.

#define MULTIPLY_ADD(value) ((value) * a + b)

#define TWICE(code) code code
#define TIMES4(code) TWICE(TWICE(code))
#define TIMES8(code) TWICE(TIMES4(code))
#define TIMES16(code) TWICE(TIMES8(code))
#define TIMES32(code) TWICE(TIMES16(code))
#define TIMES64(code) TWICE(TIMES32(code))

#define SUM1(v) (v)
#define SUM2(v) ((v).lo + (v).hi)
#define SUM4(v) SUM2((v).lo + (v).hi)
#define SUM8(v) SUM4((v).lo + (v).hi)
#define SUM16(v) SUM8((v).lo + (v).hi)

#define STEP4                                                                                      \
	x0 = MULTIPLY_ADD(x0);                                                                     \
	x1 = MULTIPLY_ADD(x1);                                                                     \
	x2 = MULTIPLY_ADD(x2);                                                                     \
	x3 = MULTIPLY_ADD(x3);
#define STEP8                                                                                      \
	STEP4                                                                                      \
	x4 = MULTIPLY_ADD(x4);                                                                     \
	x5 = MULTIPLY_ADD(x5);                                                                     \
	x6 = MULTIPLY_ADD(x6);                                                                     \
	x7 = MULTIPLY_ADD(x7);

#define PEAK8(name, type, steps, sum)                                                              \
	KERNEL void name(GLOBAL uint *output, GLOBAL const uint *start, uint factor, uint addend,  \
	                 uint rounds)                                                              \
	{                                                                                          \
		GLOBAL const type *from = (GLOBAL const type *)start;                              \
		type a = (type)factor, b = (type)addend;                                           \
		type item = (type)(GLOBAL_ID(0) & 7u);                                             \
		type x0 = from[0] + item, x1 = from[1] + item, x2 = from[2] + item,                \
		     x3 = from[3] + item;                                                          \
		type x4 = from[4] + item, x5 = from[5] + item, x6 = from[6] + item,                \
		     x7 = from[7] + item;                                                          \
		for (uint round = 0; round < rounds; round++) {                                    \
			steps(STEP8)                                                               \
		}                                                                                  \
		x0 = ((x0 + x1) + (x2 + x3)) + ((x4 + x5) + (x6 + x7));                            \
		output[GLOBAL_ID(0)] = sum(x0);                                                    \
	}

PEAK8(peak_int32_1, uint, TIMES64, SUM1)
PEAK8(peak_int32_2, uint2, TIMES32, SUM2)
PEAK8(peak_int32_4, uint4, TIMES16, SUM4)
PEAK8(peak_int32_8, uint8, TIMES8, SUM8)
PEAK8(peak_int32_16, uint16, TIMES4, SUM16)
