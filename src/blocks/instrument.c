// SPDX-License-Identifier: Apache-2.0
#include "blocks/instrument.h"

#include "blocks/classify.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	NAME_OP = 5,
	EXTENSION = 10,
	EXT_IMPORT = 11,
	MODULE_PROCESSED = 330,
	LOAD = 61,
	STORE = 62,
	PTR_ACCESS_CHAIN = 67,
	COMPOSITE_EXTRACT = 81,
	I_ADD = 128,
	I_MUL = 132,
	AND = 199,
	ATOMIC_I_ADD = 234,
	RETURN = 253,
	RETURN_VALUE = 254,
	CAPABILITY_INT64 = 11,
	CAPABILITY_INT64_ATOMICS = 12,
	BUILT_IN_WORKGROUP_ID = 26,
	INPUT = 1,
	SCOPE_DEVICE = 1,
	LINKAGE_IMPORT = 1,
	ROWS = 64,
	LINE_COUNTERS = 8,         // in 64 bytes
	PURE_OR_CONST = 0x4 | 0x8, // of a function's control
	OPENCL_PRINTF = 184,
	EXTENDED = 12,
	FUNCTION_POINTER_CALL = 5601,
	FUNCTION_POINTER = 5600,
};

struct rewriting {
	const struct tare_blocks_module *module;
	uint32_t *words; // what is written
	size_t count, room;
	bool failed; // no memory
	uint32_t bound;
	uint32_t rows, row_counters;
	// ids of types, constants and the variable
	uint32_t uint_type, ulong_type, triple_type, input_type, group, pointer_type, own_type;
	uint32_t scope, relaxed, zero, one, mask, stride;
	bool group_is_new;
	uint32_t *function_types; // of each id of a function type: the one with one more parameter
	uint32_t *constants;      // of each block: its index
	uint32_t *own;            // of each block: its private variable
	const struct tare_blocks_function *function; // in which we are; NULL: none with a body
	uint32_t parameter, row;                     // of that function
	uint32_t block;                              // index of the next one
	bool head;                                   // of a block: its counter is not yet raised
};

// ---- writing

static void put(struct rewriting *rewriting, uint32_t word)
{
	if (rewriting->count == rewriting->room) {
		size_t room = rewriting->room ? 2 * rewriting->room : 1024;
		uint32_t *words = realloc(rewriting->words, room * sizeof *words);
		if (!words) {
			rewriting->failed = true;
			return;
		}
		rewriting->words = words;
		rewriting->room = room;
	}
	rewriting->words[rewriting->count++] = word;
}

static void put_all(struct rewriting *rewriting, uint32_t op, const uint32_t *operands,
                    uint32_t count)
{
	put(rewriting, (count + 1) << 16 | op);
	for (uint32_t i = 0; i < count; i++)
		put(rewriting, operands[i]);
}

#define EMIT(rewriting, op, ...)                                                                   \
	put_all(rewriting, op, (const uint32_t[]){ __VA_ARGS__ },                                  \
	        sizeof((const uint32_t[]){ __VA_ARGS__ }) / sizeof(uint32_t))

static uint32_t fresh(struct rewriting *rewriting)
{
	return rewriting->bound++;
}

static void copy(struct rewriting *rewriting, size_t at)
{
	const struct spirv_words *words = &rewriting->module->words;

	for (uint32_t i = 0; i < spirv_length(words, at); i++)
		put(rewriting, words->words[at + i]);
}

// The same instruction with one more operand.
static void copy_with(struct rewriting *rewriting, size_t at, uint32_t operand)
{
	size_t begin = rewriting->count;

	copy(rewriting, at);
	put(rewriting, operand);
	if (!rewriting->failed)
		rewriting->words[begin] += UINT32_C(1) << 16;
}

// ---- types

// A type of the module that is written with these operands; 0: it has none.
static uint32_t find_type(const struct spirv_words *words, uint32_t op, const uint32_t *operands,
                          uint32_t count)
{
	for (size_t at = SPIRV_HEADER_WORDS; at < words->count; at += spirv_length(words, at)) {
		if (spirv_op(words, at) == SPIRV_FUNCTION)
			return 0;
		if (spirv_op(words, at) == op && spirv_length(words, at) == count + 2 &&
		    memcmp(words->words + at + 2, operands, count * sizeof *operands) == 0)
			return words->words[at + 1];
	}
	return 0;
}

// Such a type, written where the module has none.
static uint32_t type_with(struct rewriting *rewriting, uint32_t op, uint32_t first, uint32_t second)
{
	uint32_t operands[] = { first, second };
	uint32_t found = find_type(&rewriting->module->words, op, operands, 2);

	if (found)
		return found;
	uint32_t id = fresh(rewriting);
	EMIT(rewriting, op, id, first, second);
	return id;
}

static uint32_t constant(struct rewriting *rewriting, uint32_t type, uint64_t value)
{
	uint32_t id = fresh(rewriting);

	if (type == rewriting->uint_type)
		EMIT(rewriting, SPIRV_CONSTANT, type, id, (uint32_t)value);
	else
		EMIT(rewriting, SPIRV_CONSTANT, type, id, (uint32_t)value, (uint32_t)(value >> 32));
	return id;
}

// The program's own variable for the work-group's number, or 0.
static uint32_t find_group(const struct spirv_words *words)
{
	for (size_t at = SPIRV_HEADER_WORDS; at < words->count; at += spirv_length(words, at)) {
		if (spirv_op(words, at) == SPIRV_FUNCTION)
			return 0;
		if (spirv_op(words, at) == SPIRV_DECORATE && spirv_length(words, at) == 4 &&
		    words->words[at + 2] == SPIRV_BUILT_IN &&
		    words->words[at + 3] == BUILT_IN_WORKGROUP_ID)
			return words->words[at + 1];
	}
	return 0;
}

// Function types with the memory as their last parameter.
static void put_function_types(struct rewriting *rewriting)
{
	const struct spirv_words *words = &rewriting->module->words;

	for (size_t at = SPIRV_HEADER_WORDS; at < words->count; at += spirv_length(words, at)) {
		if (spirv_op(words, at) == SPIRV_FUNCTION)
			return;
		if (spirv_op(words, at) != SPIRV_TYPE_FUNCTION)
			continue;
		uint32_t old = words->words[at + 1];
		size_t begin = rewriting->count;
		rewriting->function_types[old] = fresh(rewriting);
		copy_with(rewriting, at, rewriting->pointer_type);
		if (!rewriting->failed)
			rewriting->words[begin + 1] = rewriting->function_types[old];
	}
}

// All that stands in front of the first function.
static void put_globals(struct rewriting *rewriting)
{
	rewriting->uint_type = type_with(rewriting, SPIRV_TYPE_INT, 32, 0);
	rewriting->ulong_type = type_with(rewriting, SPIRV_TYPE_INT, 64, 0);
	rewriting->triple_type = type_with(rewriting, SPIRV_TYPE_VECTOR, rewriting->ulong_type, 3);
	rewriting->input_type =
	    type_with(rewriting, SPIRV_TYPE_POINTER, INPUT, rewriting->triple_type);
	rewriting->pointer_type =
	    type_with(rewriting, SPIRV_TYPE_POINTER, SPIRV_CROSS_WORKGROUP, rewriting->ulong_type);
	rewriting->own_type =
	    type_with(rewriting, SPIRV_TYPE_POINTER, SPIRV_FUNCTION_STORAGE, rewriting->ulong_type);
	rewriting->scope = constant(rewriting, rewriting->uint_type, SCOPE_DEVICE);
	rewriting->relaxed = constant(rewriting, rewriting->uint_type, 0);
	rewriting->zero = constant(rewriting, rewriting->ulong_type, 0);
	rewriting->one = constant(rewriting, rewriting->ulong_type, 1);
	rewriting->mask = constant(rewriting, rewriting->ulong_type, rewriting->rows - 1);
	rewriting->stride = constant(rewriting, rewriting->ulong_type, rewriting->row_counters);
	if (rewriting->group_is_new)
		EMIT(rewriting, SPIRV_VARIABLE, rewriting->input_type, rewriting->group, INPUT);
	for (uint32_t i = 0; i < rewriting->module->block_count; i++)
		rewriting->constants[i] = constant(rewriting, rewriting->ulong_type, i);
	put_function_types(rewriting);
}

static void put_capabilities(struct rewriting *rewriting)
{
	static const uint32_t needed[] = { CAPABILITY_INT64, CAPABILITY_INT64_ATOMICS };
	const struct spirv_words *words = &rewriting->module->words;

	for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
		bool there = false;
		for (size_t at = SPIRV_HEADER_WORDS;
		     at < words->count && spirv_op(words, at) == SPIRV_CAPABILITY;
		     at += spirv_length(words, at))
			there |= words->words[at + 1] == needed[i];
		if (!there)
			EMIT(rewriting, SPIRV_CAPABILITY, needed[i]);
	}
}

static void put_decorations(struct rewriting *rewriting)
{
	static const char name[] = "__spirv_BuiltInWorkgroupId";
	uint32_t text[(sizeof name + 3) / 4] = { 0 };

	if (!rewriting->group_is_new)
		return;
	memcpy(text, name, sizeof name);
	size_t begin = rewriting->count;
	EMIT(rewriting, SPIRV_DECORATE, rewriting->group, SPIRV_LINKAGE);
	for (size_t i = 0; i < sizeof text / sizeof *text; i++)
		put(rewriting, text[i]);
	put(rewriting, LINKAGE_IMPORT);
	if (!rewriting->failed)
		rewriting->words[begin] =
		    (uint32_t)(rewriting->count - begin) << 16 | SPIRV_DECORATE;
	EMIT(rewriting, SPIRV_DECORATE, rewriting->group, SPIRV_CONSTANT_DECORATION);
	EMIT(rewriting, SPIRV_DECORATE, rewriting->group, SPIRV_BUILT_IN, BUILT_IN_WORKGROUP_ID);
}

// ---- functions

static bool is_entry(const struct tare_blocks_module *module, uint32_t function)
{
	const struct spirv_words *words = &module->words;

	for (size_t at = SPIRV_HEADER_WORDS; at < words->count; at += spirv_length(words, at)) {
		if (spirv_op(words, at) == SPIRV_ENTRY_POINT && words->words[at + 2] == function)
			return true;
		if (spirv_op(words, at) == SPIRV_FUNCTION)
			return false;
	}
	return false;
}

static const struct tare_blocks_function *find_function(const struct tare_blocks_module *module,
                                                        uint32_t id)
{
	for (uint32_t i = 0; i < module->function_count; i++)
		if (module->functions[i].id == id && module->functions[i].blocks)
			return &module->functions[i];
	return NULL;
}

static void begin_function(struct rewriting *rewriting, size_t at)
{
	const struct spirv_words *words = &rewriting->module->words;
	size_t begin = rewriting->count;

	rewriting->function = find_function(rewriting->module, words->words[at + 2]);
	rewriting->parameter = 0;
	copy(rewriting, at);
	if (!rewriting->function || rewriting->failed)
		return;
	// It writes to memory now.
	rewriting->words[begin + 3] &= ~(uint32_t)PURE_OR_CONST;
	rewriting->words[begin + 4] = rewriting->function_types[words->words[at + 4]];
}

// How often a module calls a function.
static uint32_t calls_of(const struct spirv_words *words, uint32_t function)
{
	uint32_t calls = 0;

	for (size_t at = SPIRV_HEADER_WORDS; at < words->count; at += spirv_length(words, at))
		calls += spirv_op(words, at) == SPIRV_CALL && words->words[at + 3] == function;
	return calls;
}

// Whether a function finds its row itself: a kernel, and a kernel's body that is called by nothing
// but what hands it the kernel's arguments. (Translators drop that again, and call the body the
// kernel.)
static bool finds_row(const struct tare_blocks_module *module,
                      const struct tare_blocks_function *function)
{
	const struct spirv_words *words = &module->words;

	if (!function->counted)
		return false;
	return is_entry(module, function->id)
	           ? calls_of(words, function->id) == 0
	           : function->kernel && calls_of(words, function->id) == 1;
}

// The row of this work-group: a kernel finds it, a function is given it.
static void put_row(struct rewriting *rewriting)
{
	uint32_t triple = fresh(rewriting), part[3], sum[2], low = fresh(rewriting),
	         offset = fresh(rewriting);

	EMIT(rewriting, LOAD, rewriting->triple_type, triple, rewriting->group, 2, 32);
	for (uint32_t i = 0; i < 3; i++) {
		part[i] = fresh(rewriting);
		EMIT(rewriting, COMPOSITE_EXTRACT, rewriting->ulong_type, part[i], triple, i);
	}
	sum[0] = fresh(rewriting);
	sum[1] = fresh(rewriting);
	rewriting->row = fresh(rewriting);
	EMIT(rewriting, I_ADD, rewriting->ulong_type, sum[0], part[0], part[1]);
	EMIT(rewriting, I_ADD, rewriting->ulong_type, sum[1], sum[0], part[2]);
	EMIT(rewriting, AND, rewriting->ulong_type, low, sum[1], rewriting->mask);
	EMIT(rewriting, I_MUL, rewriting->ulong_type, offset, low, rewriting->stride);
	EMIT(rewriting, PTR_ACCESS_CHAIN, rewriting->pointer_type, rewriting->row,
	     rewriting->parameter, offset);
}

// At the beginning of a function's first block.
static void begin_body(struct rewriting *rewriting)
{
	const struct tare_blocks_function *function = rewriting->function;
	uint32_t end = function->first_block + function->blocks;

	for (uint32_t i = function->first_block; function->counted && i < end; i++) {
		rewriting->own[i] = fresh(rewriting);
		EMIT(rewriting, SPIRV_VARIABLE, rewriting->own_type, rewriting->own[i],
		     SPIRV_FUNCTION_STORAGE);
	}
}

static void clear_counters(struct rewriting *rewriting)
{
	const struct tare_blocks_function *function = rewriting->function;
	uint32_t end = function->first_block + function->blocks;

	if (finds_row(rewriting->module, function))
		put_row(rewriting);
	else
		rewriting->row = rewriting->parameter;
	for (uint32_t i = function->first_block; function->counted && i < end; i++)
		EMIT(rewriting, STORE, rewriting->own[i], rewriting->zero);
}

static void raise_counter(struct rewriting *rewriting)
{
	uint32_t before = fresh(rewriting), after = fresh(rewriting);
	uint32_t own = rewriting->own[rewriting->block - 1];

	if (!rewriting->function->counted)
		return;
	EMIT(rewriting, LOAD, rewriting->ulong_type, before, own);
	EMIT(rewriting, I_ADD, rewriting->ulong_type, after, before, rewriting->one);
	EMIT(rewriting, STORE, own, after);
}

static void add_to_memory(struct rewriting *rewriting)
{
	const struct tare_blocks_function *function = rewriting->function;
	uint32_t end = function->first_block + function->blocks;

	for (uint32_t i = function->first_block; function->counted && i < end; i++) {
		uint32_t value = fresh(rewriting), place = fresh(rewriting),
		         before = fresh(rewriting);
		EMIT(rewriting, LOAD, rewriting->ulong_type, value, rewriting->own[i]);
		EMIT(rewriting, PTR_ACCESS_CHAIN, rewriting->pointer_type, place, rewriting->row,
		     rewriting->constants[i]);
		EMIT(rewriting, ATOMIC_I_ADD, rewriting->ulong_type, before, place,
		     rewriting->scope, rewriting->relaxed, value);
	}
}

static void begin_block(struct rewriting *rewriting, size_t at)
{
	bool first = rewriting->block == rewriting->function->first_block;

	if (first) {
		rewriting->parameter = fresh(rewriting);
		EMIT(rewriting, SPIRV_PARAMETER, rewriting->pointer_type, rewriting->parameter);
	}
	copy(rewriting, at);
	if (first)
		begin_body(rewriting);
	rewriting->block++;
	rewriting->head = true;
}

static void end_head(struct rewriting *rewriting)
{
	if (rewriting->block - 1 == rewriting->function->first_block)
		clear_counters(rewriting);
	raise_counter(rewriting);
	rewriting->head = false;
}

static void rewrite_body(struct rewriting *rewriting, size_t at)
{
	const struct spirv_words *words = &rewriting->module->words;
	uint32_t op = spirv_op(words, at);

	if (op == SPIRV_LABEL) {
		begin_block(rewriting, at);
		return;
	}
	if (rewriting->head && !tare_blocks_is_head(rewriting->module, at))
		end_head(rewriting);
	if (op == RETURN || op == RETURN_VALUE)
		add_to_memory(rewriting);
	if (op == SPIRV_CALL && find_function(rewriting->module, words->words[at + 3]))
		copy_with(rewriting, at, rewriting->row);
	else
		copy(rewriting, at);
}

// ---- the whole

static bool is_annotation_or_before(uint32_t op)
{
	return op <= 17 || op == MODULE_PROCESSED ||
	       (op >= SPIRV_DECORATE && op <= SPIRV_GROUP_DECORATE + 1) ||
	       op == SPIRV_EXECUTION_MODE_ID || op == SPIRV_DECORATE_ID ||
	       op == SPIRV_DECORATE_STRING || op == SPIRV_DECORATE_STRING + 1;
}

static void rewrite(struct rewriting *rewriting)
{
	const struct spirv_words *words = &rewriting->module->words;
	bool capabilities = false, decorations = false, globals = false;

	for (size_t i = 0; i < SPIRV_HEADER_WORDS; i++)
		put(rewriting, words->words[i]);
	for (size_t at = SPIRV_HEADER_WORDS; at < words->count; at += spirv_length(words, at)) {
		uint32_t op = spirv_op(words, at);
		if (!capabilities && op != SPIRV_CAPABILITY) {
			put_capabilities(rewriting);
			capabilities = true;
		}
		if (!decorations && !is_annotation_or_before(op)) {
			put_decorations(rewriting);
			decorations = true;
		}
		if (!globals && op == SPIRV_FUNCTION) {
			put_globals(rewriting);
			globals = true;
		}
		if (op == SPIRV_FUNCTION)
			begin_function(rewriting, at);
		else if (rewriting->function)
			rewrite_body(rewriting, at);
		else if (op == SPIRV_ENTRY_POINT && rewriting->group_is_new)
			copy_with(rewriting, at, rewriting->group);
		else
			copy(rewriting, at);
	}
	if (!rewriting->failed)
		rewriting->words[3] = rewriting->bound;
}

// Why a module's instructions cannot be instrumented so that the program does not notice; NULL:
// they can.
static const char *obstacle(const struct tare_blocks_module *module)
{
	const struct spirv_words *words = &module->words;
	bool in_function = false;

	if (module->block_count == 0)
		return "it has no code";
	for (size_t at = SPIRV_HEADER_WORDS; at < words->count; at += spirv_length(words, at)) {
		uint32_t op = spirv_op(words, at);
		in_function |= op == SPIRV_FUNCTION;
		if (op == FUNCTION_POINTER || op == FUNCTION_POINTER_CALL)
			return "it calls functions through pointers";
		if (op == EXTENDED && words->words[at + 4] == OPENCL_PRINTF &&
		    !tare_blocks_is_silent(module, at))
			return "it calls printf, whose output could change";
		if (!in_function && op == SPIRV_VARIABLE &&
		    words->words[at + 3] == SPIRV_CROSS_WORKGROUP)
			return "it has variables in global memory, which kernels share";
	}
	return NULL;
}

static int check(const struct tare_blocks_module *module, struct tare_error *error)
{
	const char *why = obstacle(module);

	return why ? tare_fail(error, ENOTSUP, "the program cannot be instrumented: %s", why) : 0;
}

int tare_blocks_instrument(const struct tare_blocks_module *module,
                           struct tare_blocks_instrumented *made, struct tare_error *error)
{
	struct rewriting rewriting = { .module = module, .bound = module->words.bound };
	uint32_t blocks = module->block_count;
	int status = check(module, error);

	*made = (struct tare_blocks_instrumented){ .counters = blocks };
	if (status < 0)
		return status;
	rewriting.row_counters = (blocks + LINE_COUNTERS - 1) / LINE_COUNTERS * LINE_COUNTERS;
	rewriting.rows = ROWS;
	while (rewriting.rows > 1 &&
	       (uint64_t)rewriting.rows * rewriting.row_counters * 8 > TARE_BLOCKS_MOST_BYTES)
		rewriting.rows /= 2;
	rewriting.function_types = calloc((size_t)module->words.bound + 1, sizeof(uint32_t));
	rewriting.constants = calloc(blocks, sizeof(uint32_t));
	rewriting.own = calloc(blocks, sizeof(uint32_t));
	rewriting.group = find_group(&module->words);
	rewriting.group_is_new = rewriting.group == 0;
	if (rewriting.group_is_new)
		rewriting.group = fresh(&rewriting);
	if (rewriting.function_types && rewriting.constants && rewriting.own)
		rewrite(&rewriting);
	else
		rewriting.failed = true;
	free(rewriting.function_types);
	free(rewriting.constants);
	free(rewriting.own);
	if (rewriting.failed) {
		free(rewriting.words);
		return tare_fail(error, ENOMEM, "out of memory");
	}
	made->data = rewriting.words;
	made->bytes = rewriting.count * sizeof(uint32_t);
	made->rows = rewriting.rows;
	made->row_counters = rewriting.row_counters;
	return 0;
}
