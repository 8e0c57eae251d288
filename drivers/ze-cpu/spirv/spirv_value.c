// SPDX-License-Identifier: Apache-2.0
#include "spirv/spirv_value.h"

#include <errno.h>
#include <string.h>

// Nothing that a compiler writes nests deeper, or takes more steps for one number.
enum { DEEPEST = 64, MOST_STEPS = 4096 };

// Operations of OpSpecConstantOp.
enum {
	OP_ACCESS_CHAIN = 65,
	OP_IN_BOUNDS_ACCESS_CHAIN = 66,
	OP_PTR_ACCESS_CHAIN = 67,
	OP_IN_BOUNDS_PTR_ACCESS_CHAIN = 70,
	OP_U_CONVERT = 113,
	OP_S_CONVERT = 114,
	OP_PTR_TO_U = 117,
	OP_U_TO_PTR = 120,
	OP_PTR_TO_GENERIC = 121,
	OP_GENERIC_TO_PTR = 122,
	OP_BITCAST = 124,
	OP_S_NEGATE = 126,
	OP_I_ADD = 128,
	OP_I_SUB = 130,
	OP_I_MUL = 132,
	OP_U_DIV = 134,
	OP_S_DIV = 135,
	OP_U_MOD = 137,
	OP_S_REM = 138,
	OP_LOGICAL_OR = 166,
	OP_LOGICAL_AND = 167,
	OP_LOGICAL_NOT = 168,
	OP_SELECT = 169,
	OP_I_EQUAL = 170,
	OP_I_NOT_EQUAL = 171,
	OP_SHIFT_RIGHT = 194,
	OP_SHIFT_RIGHT_SIGNED = 195,
	OP_SHIFT_LEFT = 196,
	OP_OR = 197,
	OP_XOR = 198,
	OP_AND = 199,
	OP_NOT = 200,
};

struct scalar {
	uint64_t value; // zero-extended
	uint32_t bits;
};

// Where an evaluation is: a constant stands before what is made of it, so that none is in itself.
struct place {
	size_t before; // word
	int depth;
	uint32_t *steps; // taken so far for this number
};

static int evaluate(const struct spirv_values *values, uint32_t id, struct place place,
                    struct scalar *scalar, struct tare_error *error);

static int damaged(struct tare_error *error, size_t at)
{
	return tare_fail(error, EINVAL,
	                 "this SPIR-V is damaged: a constant of a wrong type, at word %zu", at);
}

const struct spirv_specialisation *spirv_given(const struct spirv_values *values, uint32_t id)
{
	const struct spirv_words *module = values->module;
	size_t at = values->constant_count ? spirv_decorated(module, id, SPIRV_SPEC_ID) : 0;
	const struct spirv_id *constant =
	    at && spirv_length(module, at) > 3 ? spirv_find(module, id) : NULL;
	const struct spirv_id *type =
	    constant ? spirv_find(module, module->words[constant->at + 1]) : NULL;

	for (uint32_t i = 0; type && i < values->constant_count; i++)
		if (values->constants[i].id == module->words[at + 3])
			return values->constants[i].bytes == type->bytes ? &values->constants[i]
			                                                 : NULL;
	return NULL;
}

const struct spirv_placement *spirv_placed(const struct spirv_values *values, uint32_t id)
{
	for (uint32_t i = 0; i < values->placement_count; i++)
		if (values->placements[i].id == id)
			return &values->placements[i];
	return NULL;
}

static uint64_t masked(uint64_t value, uint32_t bits)
{
	return bits >= 64 ? value : value & ((UINT64_C(1) << bits) - 1);
}

static int64_t extended(struct scalar scalar)
{
	uint32_t shift = 64 - scalar.bits;

	return (int64_t)(scalar.value << shift) >> shift;
}

// ---- addresses

// Moves *address from the type `whole` on to its part `index`, which becomes *whole.
static bool into_part(const struct spirv_words *module, const struct spirv_id **whole,
                      struct scalar index, uint64_t *address)
{
	const struct spirv_id *part = NULL;
	uint64_t end = 0, offset = 0;
	uint32_t op = spirv_op(module, (*whole)->at);

	if (op == SPIRV_TYPE_ARRAY || op == SPIRV_TYPE_VECTOR) {
		part = spirv_find(module, module->words[(*whole)->at + 2]);
		if (!part || part->bytes == SPIRV_UNKNOWN_BYTES)
			return false;
		offset = (uint64_t)extended(index) * part->bytes;
	} else {
		for (uint64_t i = 0; i <= index.value; i++)
			if (!spirv_next_part(module, *whole, i, &end, &offset, &part))
				return false;
	}
	*address += offset;
	*whole = part;
	return true;
}

// A pointer to a part of what another points to.
static int evaluate_chain(const struct spirv_values *values, size_t at, struct place place,
                          struct scalar *scalar, struct tare_error *error)
{
	const struct spirv_words *module = values->module;
	const uint32_t *words = module->words + at;
	uint32_t operation = words[3], length = spirv_length(module, at), i = 5;
	bool first_is_element =
	    operation == OP_PTR_ACCESS_CHAIN || operation == OP_IN_BOUNDS_PTR_ACCESS_CHAIN;
	const struct spirv_id *base = spirv_find(module, words[4]);
	size_t pointer =
	    base ? spirv_find_op(module, module->words[base->at + 1], SPIRV_TYPE_POINTER) : 0;
	const struct spirv_id *whole =
	    pointer ? spirv_find(module, module->words[pointer + 3]) : NULL;
	struct scalar index;

	if (!whole)
		return damaged(error, at);
	int status = evaluate(values, words[4], place, scalar, error);
	for (; i < length && status == 0; i++) {
		status = evaluate(values, words[i], place, &index, error);
		if (status < 0)
			break;
		if (i == 5 && first_is_element) {
			if (whole->bytes == SPIRV_UNKNOWN_BYTES)
				return damaged(error, at);
			scalar->value += (uint64_t)extended(index) * whole->bytes;
		} else if (!into_part(module, &whole, index, &scalar->value)) {
			return damaged(error, at);
		}
	}
	return status;
}

// ---- arithmetic

static uint64_t signed_quotient(int64_t a, int64_t b, bool remainder)
{
	if (b == 0)
		return 0;
	// The one quotient that does not fit wraps.
	if (b == -1)
		return remainder ? 0 : -(uint64_t)a;
	return (uint64_t)(remainder ? a % b : a / b);
}

// One operation of at most two numbers (of three for a choice); false: it is not known here.
// Operations of one value.
static bool convert(uint32_t operation, const struct scalar in[3], uint64_t *result)
{
	uint64_t a = in[0].value;

	switch (operation) {
	case OP_U_CONVERT:
	case OP_PTR_TO_U:
	case OP_U_TO_PTR:
	case OP_PTR_TO_GENERIC:
	case OP_GENERIC_TO_PTR:
	case OP_BITCAST:
		*result = a;
		return true;
	case OP_S_CONVERT:
		*result = (uint64_t)extended(in[0]);
		return true;
	case OP_S_NEGATE:
		*result = -a;
		return true;
	case OP_NOT:
		*result = ~a;
		return true;
	}
	return false;
}

// Arithmetic of two integers.
static bool calculate(uint32_t operation, const struct scalar in[3], uint64_t *result)
{
	uint64_t a = in[0].value, b = in[1].value;

	switch (operation) {
	case OP_I_ADD:
		*result = a + b;
		return true;
	case OP_I_SUB:
		*result = a - b;
		return true;
	case OP_I_MUL:
		*result = a * b;
		return true;
	case OP_U_DIV:
		*result = b ? a / b : 0;
		return true;
	case OP_U_MOD:
		*result = b ? a % b : 0;
		return true;
	case OP_S_DIV:
		*result = signed_quotient(extended(in[0]), extended(in[1]), false);
		return true;
	case OP_S_REM:
		*result = signed_quotient(extended(in[0]), extended(in[1]), true);
		return true;
	}
	return false;
}

// Shifts, bits, comparisons and selections.
static bool choose(uint32_t operation, const struct scalar in[3], uint64_t *result)
{
	uint64_t a = in[0].value, b = in[1].value;

	switch (operation) {
	case OP_SHIFT_LEFT:
		*result = b < 64 ? a << b : 0;
		return true;
	case OP_SHIFT_RIGHT:
		*result = b < 64 ? a >> b : 0;
		return true;
	case OP_SHIFT_RIGHT_SIGNED:
		*result = (uint64_t)(extended(in[0]) >> (b < 63 ? b : 63));
		return true;
	case OP_OR:
	case OP_LOGICAL_OR:
		*result = a | b;
		return true;
	case OP_AND:
	case OP_LOGICAL_AND:
		*result = a & b;
		return true;
	case OP_XOR:
		*result = a ^ b;
		return true;
	case OP_LOGICAL_NOT:
		*result = !a;
		return true;
	case OP_I_EQUAL:
		*result = a == b;
		return true;
	case OP_I_NOT_EQUAL:
		*result = a != b;
		return true;
	case OP_SELECT:
		*result = a ? b : in[2].value;
		return true;
	}
	return false;
}

static bool compute(uint32_t operation, const struct scalar in[3], uint64_t *result)
{
	return convert(operation, in, result) || calculate(operation, in, result) ||
	       choose(operation, in, result);
}

static int evaluate_operation(const struct spirv_values *values, size_t at, struct place place,
                              struct scalar *scalar, struct tare_error *error)
{
	const uint32_t *words = values->module->words + at;
	uint32_t length = spirv_length(values->module, at), operation = words[3];
	struct scalar in[3] = { { 0, 64 }, { 0, 64 }, { 0, 64 } };
	uint32_t bits = scalar->bits;

	if (length < 5)
		return damaged(error, at);
	switch (operation) {
	case OP_ACCESS_CHAIN:
	case OP_IN_BOUNDS_ACCESS_CHAIN:
	case OP_PTR_ACCESS_CHAIN:
	case OP_IN_BOUNDS_PTR_ACCESS_CHAIN:
		return evaluate_chain(values, at, place, scalar, error);
	}
	for (uint32_t i = 4; i < length && i < 7; i++) {
		int status = evaluate(values, words[i], place, &in[i - 4], error);
		if (status < 0)
			return status;
	}
	if (length > 7 || !compute(operation, in, &scalar->value))
		return tare_fail(
		    error, ENOTSUP,
		    "a constant is worked out by SPIR-V's operation %u, which is not evaluated "
		    "here",
		    operation);
	scalar->value = masked(scalar->value, bits);
	scalar->bits = bits;
	return 0;
}

// The value of a scalar or pointer constant.
static int evaluate(const struct spirv_values *values, uint32_t id, struct place place,
                    struct scalar *scalar, struct tare_error *error)
{
	const struct spirv_words *module = values->module;
	const struct spirv_id *constant = spirv_find(module, id);
	const struct spirv_id *type =
	    constant ? spirv_find(module, module->words[constant->at + 1]) : NULL;
	const struct spirv_specialisation *given = spirv_given(values, id);
	const struct spirv_placement *placed = spirv_placed(values, id);

	if (!constant || constant->at >= place.before || !type || type->bytes == 0 ||
	    type->bytes > 8)
		return damaged(error, place.before);
	if (place.depth >= DEEPEST || ++*place.steps > MOST_STEPS)
		return tare_fail(error, ENOTSUP, "a constant is worked out in too many steps");
	const uint32_t *words = module->words + constant->at;
	uint32_t op = words[0] & 0xffff, length = words[0] >> 16;
	bool truth = spirv_op(module, type->at) == SPIRV_TYPE_BOOL;
	*scalar = (struct scalar){ 0, truth ? 1 : (uint32_t)type->bytes * 8 };
	if (given) {
		memcpy(&scalar->value, given->value, given->bytes < 8 ? given->bytes : 8);
		scalar->value = truth ? scalar->value != 0 : scalar->value;
		return 0;
	}
	switch (op) {
	case SPIRV_CONSTANT_TRUE:
	case SPIRV_SPEC_TRUE:
		scalar->value = 1;
		return 0;
	case SPIRV_CONSTANT:
	case SPIRV_SPEC_CONSTANT:
		scalar->value = words[3] | (length > 4 ? (uint64_t)words[4] << 32 : 0);
		scalar->value = masked(scalar->value, scalar->bits);
		return 0;
	case SPIRV_CONSTANT_FALSE:
	case SPIRV_SPEC_FALSE:
	case SPIRV_CONSTANT_NULL:
	case SPIRV_UNDEF:
		return 0;
	case SPIRV_SPEC_OP:
		return evaluate_operation(
		    values, constant->at,
		    (struct place){ constant->at, place.depth + 1, place.steps }, scalar, error);
	case SPIRV_VARIABLE:
		if (!placed)
			return tare_fail(error, ENOTSUP,
			                 "a variable's initial value has the address of "
			                 "'%.60s', which has none",
			                 spirv_name(module, id));
		scalar->value = (uint64_t)(uintptr_t)placed->at;
		return 0;
	}
	return tare_fail(error, ENOTSUP,
	                 "a variable's initial value is no constant: SPIR-V's "
	                 "operation %u",
	                 op);
}

// ---- composites

static int write_value(const struct spirv_values *values, uint32_t id, const struct spirv_id *type,
                       size_t before, int depth, unsigned char *at, struct tare_error *error)
{
	const struct spirv_words *module = values->module;
	const struct spirv_id *constant = spirv_find(module, id), *part = NULL;
	uint32_t op = constant ? spirv_op(module, constant->at) : 0;
	uint64_t end = 0, offset = 0;
	struct scalar scalar;
	uint32_t steps = 0;
	int status = 0;

	if (!constant || constant->at >= before || type->bytes == SPIRV_UNKNOWN_BYTES ||
	    module->words[constant->at + 1] != type->id)
		return damaged(error, before);
	if (depth >= DEEPEST)
		return tare_fail(error, ENOTSUP, "a constant nests deeper than %d", DEEPEST);
	if (op == SPIRV_CONSTANT_NULL || op == SPIRV_UNDEF)
		return 0;
	if (op != SPIRV_CONSTANT_COMPOSITE && op != SPIRV_SPEC_COMPOSITE) {
		status = evaluate(values, id, (struct place){ before, 0, &steps }, &scalar, error);
		if (status == 0)
			memcpy(at, &scalar.value, type->bytes);
		return status;
	}
	uint32_t parts = spirv_length(module, constant->at) - 3;
	for (uint32_t i = 0; i < parts && status == 0; i++) {
		if (!spirv_next_part(module, type, i, &end, &offset, &part) || end > type->bytes)
			return damaged(error, constant->at);
		// Parts without bytes need no time either.
		if (part->bytes)
			status = write_value(values, module->words[constant->at + 3 + i], part,
			                     constant->at, depth + 1, at + offset, error);
	}
	return status;
}

int spirv_write_value(const struct spirv_values *values, uint32_t id, const struct spirv_id *type,
                      unsigned char *at, struct tare_error *error)
{
	return write_value(values, id, type, values->module->count, 0, at, error);
}
