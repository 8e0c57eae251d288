// SPDX-License-Identifier: Apache-2.0
// Device memory: reading, writing, copying, a = b + s * c, and reading a working set again and
// again. Vector `i` of a buffer holds i * factor in every lane, so that what was read can be
// checked in closed form: status[0] becomes 1 if any work-item read something else, and status[1]
// is `turns` once the kernel has run.
// The launch's shape is in its arguments: work-item l of group g begins at vector
// g * group_step + l * item_step and takes every `step`-th one, some of them each turn: 128 bytes,
// or 8 vectors if these are less.

// 0 + 1 + ... + (n - 1)
FUNCTION uint sum_below(ulong n)
{
	return (uint)((n & 1ul) ? n * ((n - 1ul) / 2ul) : (n / 2ul) * (n - 1ul));
}

FUNCTION void report(GLOBAL uint *status, uint turns, uint sum, uint expected)
{
	if (sum != expected)
		status[0] = 1u;
	if (GLOBAL_ID(0) == 0u)
		status[1] = turns;
}

#define EACH2(code) code(0) code(1)
#define EACH4(code) EACH2(code) code(2) code(3)
#define EACH8(code) EACH4(code) code(4) code(5) code(6) code(7)

#define ADD(k) sum += input[at + (k##u) * step];
#define STORE(k) output[at + (k##u) * step] = (at + (k##u) * step) * factor;
#define LOAD(k) v##k = input[at + (k##u) * step];
#define PUT(k) output[at + (k##u) * step] = v##k;
#define LOAD_BOTH(k) v##k = input[at + (k##u) * step] + second[at + (k##u) * step] * scale;

#define VALUES2(type) type v0, v1
#define VALUES4(type) VALUES2(type), v2, v3
#define VALUES8(type) VALUES4(type), v4, v5, v6, v7

#define TURNS(count)                                                                               \
	uint base = GROUP_ID(0) * group_step + LOCAL_ID(0) * item_step, at = base;                 \
	for (uint turn = 0u; turn < turns; turn++, at += (count##u) * step)

#define MEMORY(width, type, count, each, lanes)                                                    \
	KERNEL void peak_read_##width(GLOBAL const type *RESTRICT input,                           \
	                              GLOBAL uint *RESTRICT status, uint group_step,               \
	                              uint item_step, uint step, uint factor, uint turns)          \
	{                                                                                          \
		type sum = (type)(0u);                                                             \
		TURNS(count){ each(ADD) } ulong n = (ulong)turns * count##ul;                      \
		report(status, turns, lanes(sum),                                                  \
		       width##u *factor *((uint)n * base + step * sum_below(n)));                  \
	}                                                                                          \
	KERNEL void peak_write_##width(GLOBAL type *RESTRICT output, GLOBAL uint *RESTRICT status, \
	                               uint group_step, uint item_step, uint step, uint factor,    \
	                               uint turns)                                                 \
	{                                                                                          \
		TURNS(count){ each(STORE) } report(status, turns, 0u, 0u);                         \
	}                                                                                          \
	KERNEL void peak_copy_##width(                                                             \
	    GLOBAL type *RESTRICT output, GLOBAL const type *RESTRICT input,                       \
	    GLOBAL uint *RESTRICT status, uint group_step, uint item_step, uint step, uint turns)  \
	{                                                                                          \
		VALUES##count(type);                                                               \
		TURNS(count){ each(LOAD) each(PUT) } report(status, turns, 0u, 0u);                \
	}                                                                                          \
	KERNEL void peak_triad_##width(                                                            \
	    GLOBAL type *RESTRICT output, GLOBAL const type *RESTRICT input,                       \
	    GLOBAL const type *RESTRICT second, GLOBAL uint *RESTRICT status, uint group_step,     \
	    uint item_step, uint step, uint scale, uint turns)                                     \
	{                                                                                          \
		VALUES##count(type);                                                               \
		TURNS(count){ each(LOAD_BOTH) each(PUT) } report(status, turns, 0u, 0u);           \
	}

MEMORY(1, uint, 8, EACH8, SUM1)
MEMORY(2, uint2, 8, EACH8, SUM2)
MEMORY(4, uint4, 8, EACH8, SUM4)
MEMORY(8, uint8, 4, EACH4, SUM8)
MEMORY(16, uint16, 2, EACH2, SUM16)

// A working set of span_bytes (a power of two, at least a vector for each item of a group). Each
// group goes round all of it; group g of G begins at g/G, so that the groups are spread over the
// set and none reads what another has just fetched: between two reads of a place all groups
// together have read the whole set, and so has each alone between two of its own.
#define ADD_WRAPPED(k) sum += input[(at + (k##u) * step) & mask];

#define SWEEP(width, type, lanes)                                                                  \
	KERNEL void peak_sweep_##width(GLOBAL const type *RESTRICT input,                          \
	                               GLOBAL uint *RESTRICT status, uint span_bytes, uint factor, \
	                               uint turns)                                                 \
	{                                                                                          \
		uint vectors = span_bytes / (width##u * 4u), mask = vectors - 1u,                  \
		     step = GROUP_SIZE(0);                                                         \
		uint row = (uint)((ulong)GROUP_ID(0) * (vectors / step) / GROUP_COUNT(0));         \
		uint base = row * step, at = base + LOCAL_ID(0);                                   \
		type sum = (type)(0u);                                                             \
		for (uint turn = 0u; turn < turns; turn++, at += 8u * step) {                      \
			EACH8(ADD_WRAPPED)                                                         \
		}                                                                                  \
		/* In rows of a group's size: whole passes over all, then a part that may wrap     \
		 * once. */                                                                        \
		ulong rows = vectors / step, n = (ulong)turns * 8ul, first = base / step;          \
		ulong rest = n % rows, end = first + rest;                                         \
		uint passes = (uint)(n / rows);                                                    \
		uint part = end <= rows                                                            \
		                ? sum_below(end) - sum_below(first)                                \
		                : sum_below(rows) - sum_below(first) + sum_below(end - rows);      \
		report(status, turns, lanes(sum),                                                  \
		       width##u *factor *((uint)n * LOCAL_ID(0) +                                  \
		                          step * (passes * sum_below(rows) + part)));              \
	}

SWEEP(4, uint4, SUM4)
SWEEP(16, uint16, SUM16)
