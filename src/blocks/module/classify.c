// SPDX-License-Identifier: Apache-2.0
// Kinds of instructions, by SPIR-V's numbers (specification 1.6, and of the extended instruction
// set OpenCL.std 1.0).
#include "blocks/module/classify.h"

#include <string.h>

// How an instruction's kind is found.
enum how {
	SILENT, // it executes nothing
	KIND,   // the row's
	NUMBER, // floating point of the width of the result, or else of the first operand
	LOAD,   // memory: see memory()
	STORE,
	COPY,
};

struct range {
	uint16_t first, last;
	uint8_t how;   // enum how
	uint8_t kind;  // enum tare_blocks_kind
	uint8_t flops; // for each number of the result
};

// Sorted; what lies between is OTHER.
static const struct range instructions[] = {
	{ 0, 1, SILENT, 0, 0 },
	{ 8, 8, SILENT, 0, 0 },
	{ 57, 57, KIND, TARE_BLOCKS_CONTROL, 0 },
	{ 59, 59, SILENT, 0, 0 },
	{ 61, 61, LOAD, 0, 0 },
	{ 62, 62, STORE, 0, 0 },
	{ 63, 64, COPY, 0, 0 },
	{ 65, 70, KIND, TARE_BLOCKS_ADDRESS, 0 },
	{ 77, 84, KIND, TARE_BLOCKS_MOVE, 0 },
	{ 86, 107, KIND, TARE_BLOCKS_IMAGE, 0 },
	{ 109, 116, KIND, TARE_BLOCKS_CONVERSION, 0 },
	{ 117, 117, KIND, TARE_BLOCKS_MOVE, 0 },
	{ 118, 119, KIND, TARE_BLOCKS_CONVERSION, 0 },
	{ 120, 124, KIND, TARE_BLOCKS_MOVE, 0 },
	{ 126, 126, KIND, TARE_BLOCKS_INTEGER, 0 },
	{ 127, 127, NUMBER, 0, 0 },
	{ 128, 128, KIND, TARE_BLOCKS_INTEGER, 0 },
	{ 129, 129, NUMBER, 0, 1 },
	{ 130, 130, KIND, TARE_BLOCKS_INTEGER, 0 },
	{ 131, 131, NUMBER, 0, 1 },
	{ 132, 132, KIND, TARE_BLOCKS_INTEGER, 0 },
	{ 133, 133, NUMBER, 0, 1 },
	{ 134, 135, KIND, TARE_BLOCKS_INTEGER, 0 },
	{ 136, 136, NUMBER, 0, 1 },
	{ 137, 139, KIND, TARE_BLOCKS_INTEGER, 0 },
	{ 140, 141, NUMBER, 0, 1 },
	{ 142, 142, NUMBER, 0, 1 },
	{ 149, 152, KIND, TARE_BLOCKS_INTEGER, 0 },
	{ 154, 155, KIND, TARE_BLOCKS_INTEGER, 0 },
	{ 156, 163, NUMBER, 0, 0 },
	{ 164, 168, KIND, TARE_BLOCKS_INTEGER, 0 },
	{ 169, 169, KIND, TARE_BLOCKS_MOVE, 0 },
	{ 170, 179, KIND, TARE_BLOCKS_INTEGER, 0 },
	{ 180, 191, NUMBER, 0, 0 },
	{ 194, 205, KIND, TARE_BLOCKS_INTEGER, 0 },
	{ 224, 225, KIND, TARE_BLOCKS_BARRIER, 0 },
	{ 227, 242, KIND, TARE_BLOCKS_ATOMIC, 0 },
	{ 245, 245, KIND, TARE_BLOCKS_MOVE, 0 },
	{ 246, 248, SILENT, 0, 0 },
	{ 249, 255, KIND, TARE_BLOCKS_CONTROL, 0 },
	{ 256, 257, SILENT, 0, 0 },
	{ 259, 271, KIND, TARE_BLOCKS_GROUP, 0 },
	{ 317, 317, SILENT, 0, 0 },
	{ 318, 319, KIND, TARE_BLOCKS_ATOMIC, 0 },
	{ 333, 366, KIND, TARE_BLOCKS_GROUP, 0 },
	{ 400, 400, KIND, TARE_BLOCKS_MOVE, 0 },
	{ 401, 403, KIND, TARE_BLOCKS_INTEGER, 0 },
	{ 5571, 5580, KIND, TARE_BLOCKS_GROUP, 0 },
	{ 5614, 5615, KIND, TARE_BLOCKS_ATOMIC, 0 },
	{ 6035, 6035, KIND, TARE_BLOCKS_ATOMIC, 0 },
};

// Of OpenCL.std.
static const struct range functions[] = {
	{ 0, 11, KIND, TARE_BLOCKS_SPECIAL, 0 },    // acos .. cbrt
	{ 12, 13, NUMBER, 0, 0 },                   // ceil, copysign
	{ 14, 22, KIND, TARE_BLOCKS_SPECIAL, 0 },   // cos .. expm1
	{ 23, 23, NUMBER, 0, 0 },                   // fabs
	{ 24, 24, NUMBER, 0, 1 },                   // fdim
	{ 25, 25, NUMBER, 0, 0 },                   // floor
	{ 26, 26, NUMBER, 0, 2 },                   // fma
	{ 27, 28, NUMBER, 0, 0 },                   // fmax, fmin
	{ 29, 29, KIND, TARE_BLOCKS_SPECIAL, 0 },   // fmod
	{ 30, 31, NUMBER, 0, 0 },                   // fract, frexp
	{ 32, 32, KIND, TARE_BLOCKS_SPECIAL, 0 },   // hypot
	{ 33, 34, NUMBER, 0, 0 },                   // ilogb, ldexp
	{ 35, 40, KIND, TARE_BLOCKS_SPECIAL, 0 },   // lgamma .. log1p
	{ 41, 41, NUMBER, 0, 0 },                   // logb
	{ 42, 42, NUMBER, 0, 2 },                   // mad
	{ 43, 47, NUMBER, 0, 0 },                   // maxmag .. nextafter
	{ 48, 54, KIND, TARE_BLOCKS_SPECIAL, 0 },   // pow .. rootn
	{ 55, 55, NUMBER, 0, 0 },                   // round
	{ 56, 65, KIND, TARE_BLOCKS_SPECIAL, 0 },   // rsqrt .. tgamma
	{ 66, 66, NUMBER, 0, 0 },                   // trunc
	{ 67, 94, KIND, TARE_BLOCKS_SPECIAL, 0 },   // half_cos .. native_tan
	{ 95, 103, NUMBER, 0, 0 },                  // fclamp .. sign
	{ 104, 110, KIND, TARE_BLOCKS_SPECIAL, 0 }, // cross .. fast_normalize
	{ 141, 170, KIND, TARE_BLOCKS_INTEGER, 0 }, // s_abs .. u_mul24
	{ 171, 171, LOAD, 0, 0 },                   // vloadn
	{ 172, 172, STORE, 0, 0 },                  // vstoren
	{ 173, 174, LOAD, 0, 0 },                   // vload_half, vload_halfn
	{ 175, 178, STORE, 0, 0 },                  // vstore_half .. vstore_halfn_r
	{ 179, 179, LOAD, 0, 0 },                   // vloada_halfn
	{ 180, 181, STORE, 0, 0 },                  // vstorea_halfn, vstorea_halfn_r
	{ 182, 183, KIND, TARE_BLOCKS_MOVE, 0 },    // shuffle, shuffle2
	{ 186, 186, KIND, TARE_BLOCKS_INTEGER, 0 }, // bitselect
	{ 187, 187, KIND, TARE_BLOCKS_MOVE, 0 },    // select
	{ 201, 204, KIND, TARE_BLOCKS_INTEGER, 0 }, // u_abs .. u_mad_hi
};

enum { EXTENDED = 12, BITCAST = 124, FIRST_HALF = 173, LAST_HALF = 181, WORD_BYTES = 8 };

static const struct range *look_up(const struct range *ranges, size_t count, uint32_t number)
{
	for (size_t i = 0; i < count; i++)
		if (number >= ranges[i].first && number <= ranges[i].last)
			return &ranges[i];
	return NULL;
}

static uint32_t word(const struct tare_blocks_module *module, size_t at, uint32_t index)
{
	return index < spirv_length(&module->words, at) ? module->words.words[at + index] : 0;
}

static uint32_t type_of(const struct tare_blocks_module *module, uint32_t id)
{
	return id < module->words.bound ? module->types[id] : 0;
}

static bool is_set(const struct tare_blocks_module *module, uint32_t set, const char *name)
{
	// The imports stand at the beginning, before all functions.
	for (size_t at = SPIRV_HEADER_WORDS; at < module->words.count;
	     at += spirv_length(&module->words, at)) {
		uint32_t op = spirv_op(&module->words, at);
		if (op == SPIRV_FUNCTION || op == SPIRV_MEMORY_MODEL)
			return false;
		if (op == 11 && word(module, at, 1) == set) {
			const char *text = spirv_text(&module->words, at, 2);
			return text && strcmp(text, name) == 0;
		}
	}
	return false;
}

// The row of an instruction; NULL: of an unknown one.
static const struct range *row_of(const struct tare_blocks_module *module, size_t at)
{
	static const struct range silent = { 0, 0, SILENT, 0, 0 };
	uint32_t op = spirv_op(&module->words, at);

	if (op != EXTENDED)
		return look_up(instructions, sizeof instructions / sizeof *instructions, op);
	if (!is_set(module, word(module, at, 3), "OpenCL.std"))
		return &silent; // debug information
	return look_up(functions, sizeof functions / sizeof *functions, word(module, at, 4));
}

bool tare_blocks_is_silent(const struct tare_blocks_module *module, size_t at)
{
	const struct range *row = row_of(module, at);

	return row && row->how == SILENT;
}

// Of a scalar or vector type: how many numbers, and of how many bits, where they are floating
// point (else 0).
static uint32_t float_bits(const struct tare_blocks_module *module, uint32_t type, uint32_t *parts)
{
	size_t vector = spirv_find_op(&module->words, type, SPIRV_TYPE_VECTOR);

	*parts = vector ? word(module, vector, 3) : 1;
	size_t number = spirv_find_op(&module->words, vector ? word(module, vector, 2) : type,
	                              SPIRV_TYPE_FLOAT);

	return number ? word(module, number, 2) : 0;
}

static void number(const struct tare_blocks_module *module, size_t at, const struct range *row,
                   struct tare_blocks_tally *tally)
{
	uint32_t first = spirv_op(&module->words, at) == EXTENDED ? 5 : 3, parts = 1;
	uint32_t bits = float_bits(module, word(module, at, 1), &parts);

	// A comparison: its operand tells.
	if (bits == 0)
		bits = float_bits(module, type_of(module, word(module, at, first)), &parts);
	tally->kinds[bits == 16   ? TARE_BLOCKS_FLOAT16
	             : bits == 64 ? TARE_BLOCKS_FLOAT64
	             : bits == 32 ? TARE_BLOCKS_FLOAT32
	                          : TARE_BLOCKS_OTHER]++;
	tally->flops[bits == 16   ? TARE_BLOCKS_HALF
	             : bits == 64 ? TARE_BLOCKS_DOUBLE
	                          : TARE_BLOCKS_SINGLE] += (uint64_t)row->flops * parts;
}

static bool space_of(const struct tare_blocks_module *module, uint32_t pointer,
                     enum tare_blocks_space *space)
{
	size_t type = spirv_find_op(&module->words, type_of(module, pointer), SPIRV_TYPE_POINTER);

	switch (type ? word(module, type, 2) : UINT32_MAX) {
	case SPIRV_CROSS_WORKGROUP:
	case SPIRV_DEVICE_ONLY:
	case SPIRV_HOST_ONLY:
		*space = TARE_BLOCKS_GLOBAL;
		return true;
	case SPIRV_WORKGROUP:
		*space = TARE_BLOCKS_LOCAL;
		return true;
	case SPIRV_UNIFORM_CONSTANT:
		*space = TARE_BLOCKS_CONSTANT;
		return true;
	case SPIRV_FUNCTION_STORAGE:
		*space = TARE_BLOCKS_PRIVATE;
		return true;
	case SPIRV_GENERIC:
		*space = TARE_BLOCKS_GENERIC;
		return true;
	default:
		return false;
	}
}

// Bytes that a value takes as it is loaded or stored; vectors of three as they lie in memory
// unless `packed`.
static uint64_t bytes_of(const struct tare_blocks_module *module, uint32_t type, bool packed)
{
	const struct spirv_id *found = spirv_find(&module->words, type);
	size_t vector = spirv_find_op(&module->words, type, SPIRV_TYPE_VECTOR);

	if (!found)
		return 0;
	if (spirv_op(&module->words, found->at) == SPIRV_TYPE_POINTER)
		return WORD_BYTES;
	if (found->bytes == SPIRV_UNKNOWN_BYTES)
		return spirv_op(&module->words, found->at) == SPIRV_TYPE_BOOL;
	if (vector && packed && word(module, vector, 3) == 3)
		return found->bytes / 4 * 3;
	return found->bytes;
}

// vload_half and its like move two bytes for each number.
static uint64_t extended_bytes(const struct tare_blocks_module *module, size_t at, uint32_t type)
{
	uint32_t number = word(module, at, 4), parts;

	if (number < FIRST_HALF || number > LAST_HALF)
		return bytes_of(module, type, true);
	float_bits(module, type, &parts);
	return (uint64_t)parts * 2;
}

static void loads(const struct tare_blocks_module *module, size_t at,
                  struct tare_blocks_tally *tally)
{
	bool extended = spirv_op(&module->words, at) == EXTENDED;
	uint32_t pointer = word(module, at, extended ? 6 : 3), type = word(module, at, 1);
	enum tare_blocks_space space;

	if (!space_of(module, pointer, &space)) {
		tally->kinds[TARE_BLOCKS_WORK_ITEM]++; // a variable such as GlobalInvocationId
		return;
	}
	tally->loads[space]++;
	tally->loaded_bytes[space] +=
	    extended ? extended_bytes(module, at, type) : bytes_of(module, type, false);
}

static void stores(const struct tare_blocks_module *module, size_t at,
                   struct tare_blocks_tally *tally)
{
	bool extended = spirv_op(&module->words, at) == EXTENDED;
	uint32_t pointer = word(module, at, extended ? 7 : 1);
	uint32_t type = type_of(module, word(module, at, extended ? 5 : 2));
	enum tare_blocks_space space;

	if (!space_of(module, pointer, &space)) {
		tally->kinds[TARE_BLOCKS_OTHER]++;
		return;
	}
	tally->stores[space]++;
	tally->stored_bytes[space] +=
	    extended ? extended_bytes(module, at, type) : bytes_of(module, type, false);
}

// OpCopyMemory and OpCopyMemorySized: a load and a store.
static void copies(const struct tare_blocks_module *module, size_t at,
                   struct tare_blocks_tally *tally)
{
	uint32_t target = word(module, at, 1), source = word(module, at, 2);
	size_t type = spirv_find_op(&module->words, type_of(module, target), SPIRV_TYPE_POINTER);
	enum tare_blocks_space to, from;
	uint64_t bytes = 0;

	if (!space_of(module, target, &to) || !space_of(module, source, &from)) {
		tally->kinds[TARE_BLOCKS_OTHER]++;
		return;
	}
	if (spirv_op(&module->words, at) == 64)
		tally->unsized +=
		    !spirv_constant_value(&module->words, word(module, at, 3), &bytes);
	else if (type)
		bytes = bytes_of(module, word(module, type, 3), false);
	tally->loads[from]++;
	tally->stores[to]++;
	tally->loaded_bytes[from] += bytes;
	tally->stored_bytes[to] += bytes;
}

void tare_blocks_classify(const struct tare_blocks_module *module, size_t at,
                          struct tare_blocks_tally *tally)
{
	const struct range *row = row_of(module, at);

	switch (row ? (enum how)row->how : KIND) {
	case SILENT:
		return;
	case NUMBER:
		number(module, at, row, tally);
		return;
	case LOAD:
		loads(module, at, tally);
		return;
	case STORE:
		stores(module, at, tally);
		return;
	case COPY:
		copies(module, at, tally);
		return;
	case KIND:
		tally->kinds[row ? row->kind : TARE_BLOCKS_OTHER]++;
		return;
	}
}
