// SPDX-License-Identifier: Apache-2.0
// Double precision: independent chains of value = value * factor + addend. Each turn has
// 512 multiply-adds of one number, whatever the width, so that the loop is below 1 % of it.
// start[]: a number for each lane of each chain. output[]: an item's sum over chains and lanes.

#ifdef __OPENCL_VERSION__
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL FP_CONTRACT ON
#endif
// The fused function where the device says that it is fast; else the compiler contracts if it can.
#ifdef FP_FAST_FMA
#define MULTIPLY_ADD(value) fma((value), a, b)
#else
#define MULTIPLY_ADD(value) ((value) * a + b)
#endif

#define ELEMENT double
#define ARGUMENT double
#define ITEM ((double)(GLOBAL_ID(0) & 7u) * 0.125)

// With double16, eight chains would take more registers than GPUs have.
#define PEAK4(name, type, steps, sum)                                                              \
	KERNEL void name(GLOBAL double *output, GLOBAL const double *start, double factor,         \
	                 double addend, uint rounds)                                               \
	{                                                                                          \
		GLOBAL const type *from = (GLOBAL const type *)start;                              \
		type a = (type)factor, b = (type)addend;                                           \
		type item = (type)((double)(GLOBAL_ID(0) & 7u) * 0.125);                           \
		type x0 = from[0] + item, x1 = from[1] + item, x2 = from[2] + item,                \
		     x3 = from[3] + item;                                                          \
		for (uint round = 0; round < rounds; round++) {                                    \
			steps(STEP4)                                                               \
		}                                                                                  \
		x0 = (x0 + x1) + (x2 + x3);                                                        \
		output[GLOBAL_ID(0)] = sum(x0);                                                    \
	}

PEAK8_TO_8(peak_fp64, double)
PEAK4(peak_fp64_16, double16, TIMES8, SUM16)
