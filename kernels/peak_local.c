// SPDX-License-Identifier: Apache-2.0
// Local memory: each work-item reads its eight vectors and writes them back one place further and
// greater by `add`, `turns` times. Groups have 64 items; vectors of neighbours lie side by side.
// output[]: an item's sum over its vectors and lanes, which began as 0 to 7 plus its local number.
// `mask` is 0; it is an argument so that no compiler knows that a turn reads what the one before
// wrote, and keeps that in registers. A turn reckons one place and has the others at fixed
// distances: where each vector had a place of its own to be reckoned, the narrowest were bound by
// these instructions as much as by local memory.

#define EACH8(code) code(0) code(1) code(2) code(3) code(4) code(5) code(6) code(7)
#define INITIAL(k) tile[k][LOCAL_ID(0)] = (LOCAL_ID(0) + k##u) + zero;
#define LOAD(k) v##k = tile[k][place];
#define STORE(k) tile[(k + 1) % 8][place] = v##k + step;
#define TOTAL(k) zero += tile[k][LOCAL_ID(0)];

#define PEAK(name, type, sum)                                                                      \
	KERNEL void name(GLOBAL uint *output, uint mask, uint add, uint turns)                     \
	{                                                                                          \
		LOCAL type tile[8][64];                                                            \
		type v0, v1, v2, v3, v4, v5, v6, v7, zero = (type)(0u), step = (type)(add);        \
		EACH8(INITIAL)                                                                     \
		for (uint turn = 0u; turn < turns; turn++) {                                       \
			uint place = LOCAL_ID(0) + (turn & mask);                                  \
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
