// SPDX-License-Identifier: Apache-2.0
// Single precision: independent chains of value = value * factor + addend. Each turn has
// 512 multiply-adds of one number, whatever the width, so that the loop is below 1 % of it.
// start[]: a number for each lane of each chain. output[]: an item's sum over chains and lanes.

#ifdef __OPENCL_VERSION__
#pragma OPENCL FP_CONTRACT ON
#endif
// The fused function where the device says that it is fast; else the compiler contracts if it can.
#ifdef FP_FAST_FMAF
#define MULTIPLY_ADD(value) fma((value), a, b)
#else
#define MULTIPLY_ADD(value) ((value) * a + b)
#endif

#define ELEMENT float
#define ARGUMENT float
#define ITEM ((float)(GLOBAL_ID(0) & 7u) * 0.125f)

PEAK8_TO_8(peak_fp32, float)
PEAK8(peak_fp32_16, float16, TIMES4, SUM16)
