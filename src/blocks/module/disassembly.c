// SPDX-License-Identifier: Apache-2.0
// Facts: the SPIR-V specification, unified 1.6, and the extended instruction set OpenCL.std 1.0.
#include "blocks/module/disassembly.h"

#include "blocks/module/classify.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	EXTENDED = 12,
	LOAD = 61,
	STORE = 62,
	PHI = 245,
	BRANCH = 249,
	BRANCH_CONDITIONAL = 250,
	SWITCH = 251,
	MOST_DEPTH = 3,    // types within types that are written
	MOST_OPERANDS = 16 // of one instruction that are written
};

// What translators name variables such as GlobalInvocationId.
#define BUILT_IN "__spirv_BuiltIn"

struct row {
	uint32_t number;
	const char *name, *operands;
};

// Sorted by number.
static const struct row instructions[] = {
#define INSTRUCTION(number, name, operands) { number, name, operands },
#include "blocks/module/instructions.def"
#undef INSTRUCTION
};
static const struct row functions[] = {
#define FUNCTION(number, name) { number, name, "" },
#include "blocks/module/functions.def"
#undef FUNCTION
};

struct writing {
	const struct tare_blocks_module *module;
	char *text;
	size_t size, used;
};

static void put(struct writing *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(struct writing *out, const char *format, ...)
{
	va_list arguments;

	if (out->used + 1 >= out->size)
		return;
	va_start(arguments, format);
	int length = vsnprintf(out->text + out->used, out->size - out->used, format, arguments);
	va_end(arguments);
	if (length > 0)
		out->used += (size_t)length;
	if (out->used >= out->size)
		out->used = out->size - 1;
}

static int compare(const void *number, const void *row)
{
	uint32_t a = *(const uint32_t *)number, b = ((const struct row *)row)->number;

	return (a > b) - (a < b);
}

static const struct row *look_up(const struct row *rows, size_t bytes, uint32_t number)
{
	return bsearch(&number, rows, bytes / sizeof *rows, sizeof *rows, compare);
}

static uint32_t word(const struct writing *out, size_t at, uint32_t index)
{
	const struct spirv_words *words = &out->module->words;

	return index < spirv_length(words, at) ? words->words[at + index] : 0;
}

// ---- types

static const char *space_name(uint32_t storage)
{
	switch (storage) {
	case SPIRV_CROSS_WORKGROUP:
	case SPIRV_DEVICE_ONLY:
	case SPIRV_HOST_ONLY:
		return "global ";
	case SPIRV_WORKGROUP:
		return "local ";
	case SPIRV_UNIFORM_CONSTANT:
		return "constant ";
	case SPIRV_FUNCTION_STORAGE:
		return "private ";
	case SPIRV_GENERIC:
		return "generic ";
	default:
		return "";
	}
}

static void put_named(struct writing *out, uint32_t id, const char *other)
{
	const char *name = spirv_name(&out->module->words, id);

	put(out, "%s", name[0] ? name : other);
}

// "float4", "global int*", "float[64]"; "?" for what is no type, or too deep.
static void put_type(struct writing *out, uint32_t id, int depth)
{
	static const char *const integers[] = { "char", "short", "int", "long" };
	const struct spirv_id *type = spirv_find(&out->module->words, id);
	size_t at = type ? type->at : 0;
	uint32_t bits = at ? word(out, at, 2) : 0;
	uint64_t length = 0;

	switch (at && depth < MOST_DEPTH ? spirv_op(&out->module->words, at) : 0) {
	case SPIRV_TYPE_VOID:
		put(out, "void");
		break;
	case SPIRV_TYPE_BOOL:
		put(out, "bool");
		break;
	case SPIRV_TYPE_INT:
		put(out, "%s",
		    bits == 8    ? integers[0]
		    : bits == 16 ? integers[1]
		    : bits == 32 ? integers[2]
		    : bits == 64 ? integers[3]
		                 : "integer");
		break;
	case SPIRV_TYPE_FLOAT:
		put(out, "%s", bits == 16 ? "half" : bits == 64 ? "double" : "float");
		break;
	case SPIRV_TYPE_VECTOR:
		put_type(out, word(out, at, 2), depth + 1);
		put(out, "%" PRIu32, word(out, at, 3));
		break;
	case SPIRV_TYPE_ARRAY:
		put_type(out, word(out, at, 2), depth + 1);
		spirv_constant_value(&out->module->words, word(out, at, 3), &length);
		put(out, "[%" PRIu64 "]", length);
		break;
	case SPIRV_TYPE_STRUCT:
		put_named(out, id, "struct");
		break;
	case SPIRV_TYPE_POINTER:
		put(out, "%s", space_name(word(out, at, 2)));
		put_type(out, word(out, at, 3), depth + 1);
		put(out, "*");
		break;
	case SPIRV_TYPE_IMAGE:
		put(out, "image");
		break;
	case SPIRV_TYPE_SAMPLER:
		put(out, "sampler");
		break;
	default:
		put(out, "?");
	}
}

// ---- operands

// Of half precision the bits are written.
static void put_float(struct writing *out, size_t at, uint64_t bits)
{
	size_t type = spirv_find_op(&out->module->words, word(out, at, 1), SPIRV_TYPE_FLOAT);
	uint32_t low = (uint32_t)bits, width = type ? word(out, type, 2) : 0;
	float single;
	double whole;

	memcpy(&single, &low, sizeof single);
	memcpy(&whole, &bits, sizeof whole);
	if (width == 32)
		put(out, "%.9g", (double)single);
	else if (width == 64)
		put(out, "%.17g", whole);
	else
		put(out, "0x%" PRIx64, bits);
}

static void put_constant(struct writing *out, size_t at)
{
	const struct spirv_words *words = &out->module->words;
	uint32_t bits = 0;
	uint64_t value = word(out, at, 3) | (uint64_t)word(out, at, 4) << 32;
	size_t type = spirv_find_op(words, word(out, at, 1), SPIRV_TYPE_INT);

	if (!type) {
		put_float(out, at, value);
		return;
	}
	bits = word(out, type, 2);
	if (bits > 0 && bits < 64) // narrow ones are kept with their sign
		value = (uint64_t)((int64_t)(value << (64 - bits)) >> (64 - bits));
	put(out, "%" PRId64, (int64_t)value);
}

static void put_id(struct writing *out, uint32_t id, int depth)
{
	const struct spirv_words *words = &out->module->words;
	const struct spirv_id *known = spirv_find(words, id);
	uint32_t op = known ? spirv_op(words, known->at) : 0;
	const char *name = spirv_name(words, id);

	if (op == SPIRV_CONSTANT || op == SPIRV_SPEC_CONSTANT) {
		put_constant(out, known->at);
	} else if (op == SPIRV_CONSTANT_TRUE || op == SPIRV_CONSTANT_FALSE) {
		put(out, op == SPIRV_CONSTANT_TRUE ? "true" : "false");
	} else if (op == SPIRV_CONSTANT_NULL) {
		put(out, "0");
	} else if (op == SPIRV_CONSTANT_COMPOSITE && depth < MOST_DEPTH) {
		put(out, "{");
		for (uint32_t i = 3; i < spirv_length(words, known->at) && i < MOST_OPERANDS; i++) {
			put(out, i > 3 ? ", " : "");
			put_id(out, word(out, known->at, i), depth + 1);
		}
		put(out, "}");
	} else if (name[0]) {
		bool built_in = strncmp(name, BUILT_IN, strlen(BUILT_IN)) == 0;
		put(out, "%%%s", name + (built_in ? strlen(BUILT_IN) : 0));
	} else {
		put(out, "%%%" PRIu32, id);
	}
}

static void put_block(struct writing *out, uint32_t label)
{
	for (uint32_t i = 0; i < out->module->block_count; i++)
		if (out->module->blocks[i].label == label) {
			put(out, "block %" PRIu32, i);
			return;
		}
	put(out, "no block");
}

// The memory that a pointer leads to.
static void put_space(struct writing *out, uint32_t pointer)
{
	const struct tare_blocks_module *module = out->module;
	uint32_t type = pointer < module->words.bound ? module->types[pointer] : 0;
	size_t at = spirv_find_op(&module->words, type, SPIRV_TYPE_POINTER);

	put(out, "%s", at ? space_name(word(out, at, 2)) : "");
}

// ---- instructions

// As `operands` says, from the word `first` on.
static void put_operands(struct writing *out, size_t at, uint32_t first, const char *operands)
{
	uint32_t length = spirv_length(&out->module->words, at);
	char what = 'i';

	for (uint32_t i = first; i < length && *operands && i < first + MOST_OPERANDS; i++) {
		if (*operands != '*')
			what = *operands++;
		put(out, i > first ? ", " : " ");
		if (what == 'i')
			put_id(out, word(out, at, i), 0);
		else
			put(out, "%" PRIu32, word(out, at, i));
	}
}

static void put_cases(struct writing *out, size_t at)
{
	const struct tare_blocks_module *module = out->module;
	uint32_t selector = word(out, at, 1);
	uint32_t type = selector < module->words.bound ? module->types[selector] : 0;
	const struct spirv_id *found = spirv_find(&module->words, type);
	uint32_t wide = found && found->bytes == 8;

	put_id(out, selector, 0);
	put(out, ", else ");
	put_block(out, word(out, at, 2));
	for (uint32_t i = 3; i + wide + 1 < spirv_length(&module->words, at); i += 2 + wide) {
		put(out, ", %" PRIu32 ": ", word(out, at, i));
		put_block(out, word(out, at, i + wide + 1));
	}
}

// What branches say, and phi. False: it is none of these.
static bool put_ways(struct writing *out, size_t at, uint32_t op)
{
	switch (op) {
	case BRANCH:
		put(out, "Branch ");
		put_block(out, word(out, at, 1));
		return true;
	case BRANCH_CONDITIONAL:
		put(out, "BranchConditional ");
		put_id(out, word(out, at, 1), 0);
		put(out, ", ");
		put_block(out, word(out, at, 2));
		put(out, ", else ");
		put_block(out, word(out, at, 3));
		return true;
	case SWITCH:
		put(out, "Switch ");
		put_cases(out, at);
		return true;
	case PHI:
		put(out, "Phi ");
		for (uint32_t i = 3; i + 1 < spirv_length(&out->module->words, at); i += 2) {
			put(out, i > 3 ? ", " : "");
			put_id(out, word(out, at, i), 0);
			put(out, " from ");
			put_block(out, word(out, at, i + 1));
		}
		return true;
	default:
		return false;
	}
}

static bool has_result(const struct row *row, uint32_t op)
{
	return op == EXTENDED || op == PHI || (row && row->operands[0] == 't');
}

const char *tare_blocks_disassemble(const struct tare_blocks_module *module, size_t at, char *text,
                                    size_t size)
{
	struct writing out = { module, text, size, 0 };
	uint32_t op = spirv_op(&module->words, at);
	const struct row *row = look_up(instructions, sizeof instructions, op);
	const struct row *function =
	    op == EXTENDED ? look_up(functions, sizeof functions, word(&out, at, 4)) : NULL;
	uint32_t type = word(&out, at, 1), first = has_result(row, op) ? 3 : 1;

	if (size == 0)
		return text;
	text[0] = '\0';
	if (first == 3) {
		if (!spirv_find_op(&module->words, type, SPIRV_TYPE_VOID)) {
			put_type(&out, type, 0);
			put(&out, " ");
			put_id(&out, word(&out, at, 2), 0);
			put(&out, " = ");
		}
	}
	if (put_ways(&out, at, op))
		return text;
	if (op == EXTENDED) {
		put(&out, "%s", function ? function->name : "function");
		put_operands(&out, at, 5, "i*");
	} else if (row) {
		put(&out, "%s", row->name);
		if (op == LOAD || op == STORE) {
			put(&out, " ");
			put_space(&out, word(&out, at, first));
			out.used -= out.used && text[out.used - 1] == ' ';
		}
		put_operands(&out, at, first, row->operands + (first == 3 ? 2 : 0));
	} else {
		put(&out, "instruction %" PRIu32, op);
	}
	return text;
}
