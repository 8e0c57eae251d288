// SPDX-License-Identifier: Apache-2.0
// Local memory: each work-item reads its eight vectors and writes them back one place further and
// greater by `add`, `turns` times. Groups have 64 items; vectors of neighbours lie side by side.
// output[]: an item's sum over its vectors and lanes, which began as 0 to 7 plus its local number.
// `mask` is 7; it is an argument so that no compiler can keep the vectors in registers.

#define EACH8(code) code(0) code(1) code(2) code(3) code(4) code(5) code(6) code(7)
#define PLACE(k) tile[((turn + (k##u)) & mask) * 64u + LOCAL_ID(0)]
#define INITIAL(k) tile[k##u * 64u + LOCAL_ID(0)] = (LOCAL_ID(0) + k##u) + zero;
#define LOAD(k) v##k = PLACE(k);
#define STORE(k) tile[((turn + k##u + 1u) & mask) * 64u + LOCAL_ID(0)] = v##k + step;
#define TOTAL(k) zero += tile[k##u * 64u + LOCAL_ID(0)];

#define PEAK(name, type, sum)                                                                      \
	KERNEL void name(GLOBAL uint *output, uint mask, uint add, uint turns)                     \
	{                                                                                          \
		LOCAL type tile[8 * 64];                                                           \
		type v0, v1, v2, v3, v4, v5, v6, v7, zero = (type)(0u), step = (type)(add);        \
		EACH8(INITIAL)                                                                     \
		for (uint turn = 0u; turn < turns; turn++) {                                       \
			EACH8(LOAD)                                                                \
			EACH8(STORE)                                                               \
		}                                                                                  \
		EACH8(TOTAL)                                                                       \
		output[GLOBAL_ID(0)] = sum(zero);                                                  \
	}

PEAK(peak_local_1, uint, SUM1)
PEAK(peak_local_2, uint2, SUM2)
PEAK(peak_local_4, uint4, SUM4)
PEAK(peak_local_8, uint8, SUM8)
PEAK(peak_local_16, uint16, SUM16)
