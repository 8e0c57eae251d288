// SPDX-License-Identifier: Apache-2.0
// Integers modulo 2^32: independent chains of value = value * factor + addend. Each turn has 512
// multiply-adds of one number, whatever the width, so that the loop is below 1 % of it.
// start[]: a number for each lane of each chain. output[]: an item's sum over chains and lanes.

#define MULTIPLY_ADD(value) ((value) * a + b)

#define ELEMENT uint
#define ARGUMENT uint
#define ITEM GLOBAL_ID(0) & 7u

PEAK8_TO_8(peak_int32, uint)
PEAK8(peak_int32_16, uint16, TIMES4, SUM16)
