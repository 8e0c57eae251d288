// SPDX-License-Identifier: Apache-2.0
// What adds to a counter in memory: one atomic addition of 64 bits, or where the device has none,
// two of 32. The sum modulo 2^64 is exact either way: each addition to the low word says by what it
// returns whether it alone went past the end, and then one more goes to the high word. In between
// the counter is too low by 2^32, so that it is read while nothing runs.
#include "blocks/rewriting.h"

enum {
	PTR_ACCESS_CHAIN = 67,
	U_CONVERT = 113,
	BITCAST = 124,
	I_ADD = 128,
	SELECT = 169,
	I_NOT_EQUAL = 171,
	U_LESS_THAN = 176,
	SHIFT_RIGHT_LOGICAL = 194,
	ATOMIC_I_ADD = 234,
	BRANCH = 249,
	BRANCH_CONDITIONAL = 250,
};

uint32_t rewrite_when(struct rewriting *rewriting, uint32_t condition)
{
	uint32_t inside = rewrite_fresh(rewriting), out = rewrite_fresh(rewriting);

	EMIT(rewriting, BRANCH_CONDITIONAL, condition, inside, out);
	EMIT(rewriting, SPIRV_LABEL, inside);
	return out;
}

void rewrite_out(struct rewriting *rewriting, uint32_t out)
{
	EMIT(rewriting, BRANCH, out);
	EMIT(rewriting, SPIRV_LABEL, out);
}

static uint32_t put(struct rewriting *rewriting, uint32_t op, uint32_t type, uint32_t operand)
{
	uint32_t made = rewrite_fresh(rewriting);

	EMIT(rewriting, op, type, made, operand);
	return made;
}

static uint32_t put_two(struct rewriting *rewriting, uint32_t op, uint32_t type, uint32_t left,
                        uint32_t right)
{
	uint32_t made = rewrite_fresh(rewriting);

	EMIT(rewriting, op, type, made, left, right);
	return made;
}

// What was there before.
static uint32_t put_atomic(struct rewriting *rewriting, uint32_t type, uint32_t place,
                           uint32_t value)
{
	uint32_t before = rewrite_fresh(rewriting);

	EMIT(rewriting, ATOMIC_I_ADD, type, before, place, rewriting->scope, rewriting->relaxed,
	     value);
	return before;
}

void rewrite_addition(struct rewriting *rewriting, uint32_t place, uint32_t value)
{
	uint32_t word = rewriting->uint_type;

	if (!rewriting->plan->carries) {
		put_atomic(rewriting, rewriting->ulong_type, place, value);
		return;
	}
	uint32_t at = put(rewriting, BITCAST, rewriting->half_type, place);
	uint32_t low = put(rewriting, U_CONVERT, word, value);
	uint32_t rest = put_two(rewriting, SHIFT_RIGHT_LOGICAL, rewriting->ulong_type, value,
	                        rewriting->half_bits);
	uint32_t high = put(rewriting, U_CONVERT, word, rest);
	uint32_t before = put_atomic(rewriting, word, at, low);
	uint32_t after = put_two(rewriting, I_ADD, word, before, low);
	uint32_t wraps = put_two(rewriting, U_LESS_THAN, rewriting->bool_type, after, before);
	uint32_t carry = rewrite_fresh(rewriting);
	EMIT(rewriting, SELECT, word, carry, wraps, rewriting->half_one, rewriting->half_zero);
	uint32_t more = put_two(rewriting, I_ADD, word, high, carry);
	uint32_t any =
	    put_two(rewriting, I_NOT_EQUAL, rewriting->bool_type, more, rewriting->half_zero);
	uint32_t out = rewrite_when(rewriting, any);
	uint32_t above =
	    put_two(rewriting, PTR_ACCESS_CHAIN, rewriting->half_type, at, rewriting->one);
	put_atomic(rewriting, word, above, more);
	rewrite_out(rewriting, out);
}
