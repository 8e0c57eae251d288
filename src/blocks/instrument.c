// SPDX-License-Identifier: Apache-2.0
#include "blocks/instrument.h"

#include "blocks/module/calls.h"
#include "blocks/module/printing.h"
#include "blocks/rewriting.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	NAME = 5,
	PTR_ACCESS_CHAIN = 67,
	I_ADD = 128,
	I_MUL = 132,
	I_EQUAL = 170,
	I_NOT_EQUAL = 171,
	I_SUB = 130,
	OR = 197,
	AND = 199,
	RETURN = 253,
	RETURN_VALUE = 254,
	MODULE_PROCESSED = 330,
	FUNCTION_POINTER = 5600,
	FUNCTION_POINTER_CALL = 5601,
	PURE_OR_CONST = 0x4 | 0x8, // of a function's control
	ROWS = 64,
	VOLATILE = 1, // of an access to memory
	MOST_BLOCKS_IN_REGISTERS = 128,
	LINE_COUNTERS = 8,         // in 64 bytes
	LONGEST = 0xffff - PLACES, // words of an instruction that can have some more
};

// ---- functions

static void begin_function(struct rewriting *rewriting, size_t at)
{
	const struct spirv_words *words = &rewriting->module->words;
	size_t begin = rewriting->count;

	rewriting->function = tare_blocks_function_of(rewriting->module, words->words[at + 2]);
	rewriting->parameter = rewriting->row = rewriting->leads = 0;
	rewriting->head = false;
	rewrite_copy(rewriting, at);
	if (!rewriting->function || rewriting->failed)
		return;
	// It writes to memory now.
	rewriting->words[begin + 3] &= ~(uint32_t)PURE_OR_CONST;
	rewriting->words[begin + 4] = rewriting->function_types[words->words[at + 4]];
}

// Three numbers joined by an operation.
static uint32_t put_join(struct rewriting *rewriting, uint32_t op, const uint32_t part[3])
{
	uint32_t two = rewrite_fresh(rewriting), three = rewrite_fresh(rewriting);

	EMIT(rewriting, op, rewriting->ulong_type, two, part[0], part[1]);
	EMIT(rewriting, op, rewriting->ulong_type, three, two, part[2]);
	return three;
}

// The row of this work-group, whether the work-item is its first, and how many it has.
static void put_row(struct rewriting *rewriting)
{
	uint32_t part[3], low = rewrite_fresh(rewriting), offset = rewrite_fresh(rewriting);

	rewrite_place(rewriting, PLACE_GROUP, part);
	uint32_t sum = put_join(rewriting, I_ADD, part);
	rewriting->row = rewrite_fresh(rewriting);
	EMIT(rewriting, AND, rewriting->ulong_type, low, sum, rewriting->mask);
	EMIT(rewriting, I_MUL, rewriting->ulong_type, offset, low, rewriting->stride);
	EMIT(rewriting, PTR_ACCESS_CHAIN, rewriting->pointer_type, rewriting->row,
	     rewriting->parameter, offset);
	rewrite_place(rewriting, PLACE_ITEM, part);
	uint32_t any = put_join(rewriting, OR, part);
	rewriting->leads = rewrite_fresh(rewriting);
	EMIT(rewriting, I_EQUAL, rewriting->bool_type, rewriting->leads, any, rewriting->zero);
	rewrite_place(rewriting, PLACE_SIZE, part);
	rewriting->items = put_join(rewriting, I_MUL, part);
}

static bool is_begun_by_group(const struct rewriting *rewriting, uint32_t block)
{
	return rewriting->leads && block == rewriting->function->first_block;
}

// The counter of a block of the function that keeps it in a variable of its own, or
// TARE_BLOCKS_DERIVED. How often the function is begun needs none where its launches or its calls
// tell it.
static uint32_t own_counter(const struct rewriting *rewriting, uint32_t block)
{
	uint32_t counter = rewriting->plan->counters[block];

	if (counter == TARE_BLOCKS_DERIVED || is_begun_by_group(rewriting, block) ||
	    rewriting->plan->kept[counter].keeper == TARE_BLOCKS_KEPT_BY_CALLS)
		return TARE_BLOCKS_DERIVED;
	return counter;
}

// At the beginning of a function's first block.
static void begin_body(struct rewriting *rewriting)
{
	uint32_t first = rewriting->function->first_block;

	for (uint32_t i = first; i < first + rewriting->function->blocks; i++) {
		uint32_t counter = rewriting->plan->counters[i];
		if (counter == TARE_BLOCKS_DERIVED)
			continue;
		rewriting->own[counter] = rewrite_fresh(rewriting);
		EMIT(rewriting, SPIRV_VARIABLE, rewriting->own_type, rewriting->own[counter],
		     SPIRV_FUNCTION_STORAGE);
	}
	rewrite_sample_variables(rewriting);
}

// In functions of very many blocks the counters stay in memory (a volatile access). A compiler
// would bring each of them to each place where ways meet: of 600 cases PoCL's took minutes for
// that.
static void put_store(struct rewriting *rewriting, uint32_t counter, uint32_t value)
{
	if (rewriting->function->blocks > MOST_BLOCKS_IN_REGISTERS)
		EMIT(rewriting, REWRITE_STORE, rewriting->own[counter], value, VOLATILE);
	else
		EMIT(rewriting, REWRITE_STORE, rewriting->own[counter], value);
}

static uint32_t put_own(struct rewriting *rewriting, uint32_t counter)
{
	uint32_t value = rewrite_fresh(rewriting);

	if (rewriting->function->blocks > MOST_BLOCKS_IN_REGISTERS)
		EMIT(rewriting, REWRITE_LOAD, rewriting->ulong_type, value, rewriting->own[counter],
		     VOLATILE);
	else
		EMIT(rewriting, REWRITE_LOAD, rewriting->ulong_type, value,
		     rewriting->own[counter]);
	return value;
}

static void clear_counters(struct rewriting *rewriting)
{
	uint32_t first = rewriting->function->first_block;

	rewriting->leads = 0;
	if (tare_blocks_is_launched(rewriting->module, rewriting->function))
		put_row(rewriting);
	else
		rewriting->row = rewriting->parameter;
	for (uint32_t i = first; i < first + rewriting->function->blocks; i++)
		if (own_counter(rewriting, i) != TARE_BLOCKS_DERIVED)
			put_store(rewriting, own_counter(rewriting, i), rewriting->zero);
	rewrite_sample_clear(rewriting);
}

static void raise_counter(struct rewriting *rewriting)
{
	uint32_t counter = own_counter(rewriting, rewriting->block - 1);

	if (counter == TARE_BLOCKS_DERIVED)
		return;
	uint32_t before = put_own(rewriting, counter), after = rewrite_fresh(rewriting);
	EMIT(rewriting, I_ADD, rewriting->ulong_type, after, before, rewriting->one);
	put_store(rewriting, counter, after);
}

static void put_addition(struct rewriting *rewriting, uint32_t counter, uint32_t value)
{
	uint32_t place = rewrite_fresh(rewriting);

	EMIT(rewriting, PTR_ACCESS_CHAIN, rewriting->pointer_type, place, rewriting->row,
	     rewriting->constants[counter]);
	rewrite_addition(rewriting, place, value);
}

// What a work-item adds: nothing where it has what is expected of it.
static void put_each(struct rewriting *rewriting, uint32_t counter)
{
	uint32_t value = put_own(rewriting, counter), differs = rewrite_fresh(rewriting);

	if (rewriting->leads && rewriting->plan->kept[counter].expected) {
		uint32_t more = rewrite_fresh(rewriting);
		EMIT(rewriting, I_SUB, rewriting->ulong_type, more, value, rewriting->one);
		value = more;
	}
	EMIT(rewriting, I_NOT_EQUAL, rewriting->bool_type, differs, value, rewriting->zero);
	uint32_t out = rewrite_when(rewriting, differs);
	put_addition(rewriting, counter, value);
	rewrite_out(rewriting, out);
}

// What the first work-item of a group adds for all.
static void put_group(struct rewriting *rewriting, uint32_t block)
{
	uint32_t counter = rewriting->plan->counters[block], all = rewriting->items;

	if (counter == TARE_BLOCKS_DERIVED)
		return;
	if (rewriting->plan->kept[counter].keeper == TARE_BLOCKS_KEPT_BY_EACH &&
	    rewriting->plan->kept[counter].expected == 0)
		return;
	if (rewriting->plan->kept[counter].keeper == TARE_BLOCKS_KEPT_BY_GROUP &&
	    !is_begun_by_group(rewriting, block)) {
		uint32_t value = put_own(rewriting, counter);
		all = rewrite_fresh(rewriting);
		EMIT(rewriting, I_MUL, rewriting->ulong_type, all, value, rewriting->items);
	}
	put_addition(rewriting, counter, all);
}

static void add_to_memory(struct rewriting *rewriting)
{
	uint32_t first = rewriting->function->first_block;
	uint32_t end = first + rewriting->function->blocks;

	for (uint32_t i = first; i < end; i++) {
		uint32_t counter = own_counter(rewriting, i);
		if (counter != TARE_BLOCKS_DERIVED &&
		    rewriting->plan->kept[counter].keeper == TARE_BLOCKS_KEPT_BY_EACH)
			put_each(rewriting, counter);
	}
	if (!rewriting->leads)
		return;
	uint32_t out = rewrite_when(rewriting, rewriting->leads);
	for (uint32_t i = first; i < end; i++)
		put_group(rewriting, i);
	rewrite_out(rewriting, out);
}

static void begin_block(struct rewriting *rewriting, size_t at)
{
	bool first = rewriting->block == rewriting->function->first_block;

	if (first) {
		rewriting->parameter = rewrite_fresh(rewriting);
		EMIT(rewriting, SPIRV_PARAMETER, rewriting->pointer_type, rewriting->parameter);
	}
	rewrite_copy(rewriting, at);
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
	// No block comes behind a return, so that its own may be cut in pieces.
	if (op == RETURN || op == RETURN_VALUE) {
		add_to_memory(rewriting);
		rewrite_sample_put(rewriting);
	}
	rewrite_sample_access(rewriting, at);
	if (op == SPIRV_CALL && tare_blocks_function_of(rewriting->module, words->words[at + 3]))
		rewrite_copy_with(rewriting, at, rewriting->row);
	else
		rewrite_copy(rewriting, at);
	if (op == SPIRV_FUNCTION_END)
		rewriting->function = NULL;
}

// ---- the whole

// A name, for itself or others, of a function by which a translator writes out an instruction of
// LLVM's (a rotation). It would make that instruction of it again, which has no counters: without
// the name it stays a function.
static bool is_written_out(const struct spirv_words *words, size_t at)
{
	static const char prefix[] = "spirv.llvm_";
	bool links = spirv_op(words, at) == SPIRV_DECORATE && spirv_length(words, at) > 3 &&
	             words->words[at + 2] == SPIRV_LINKAGE;
	const char *name = links                         ? spirv_text(words, at, 3)
	                   : spirv_op(words, at) == NAME ? spirv_text(words, at, 2)
	                                                 : NULL;

	return name && strncmp(name, prefix, sizeof prefix - 1) == 0;
}

static bool is_annotation_or_before(uint32_t op)
{
	return op <= 17 || op == MODULE_PROCESSED ||
	       (op >= SPIRV_DECORATE && op <= SPIRV_GROUP_DECORATE + 1) ||
	       op == SPIRV_EXECUTION_MODE_ID || op == SPIRV_DECORATE_ID ||
	       op == SPIRV_DECORATE_STRING || op == SPIRV_DECORATE_STRING + 1;
}

// Whether an entry point names a variable that it uses.
static bool names(const struct spirv_words *words, size_t at, uint32_t variable)
{
	const char *name = spirv_text(words, at, 3);
	size_t first = 3 + (name ? strlen(name) / 4 + 1 : 0);

	for (size_t i = first; i < spirv_length(words, at); i++)
		if (words->words[at + i] == variable)
			return true;
	return false;
}

static void copy_entry(struct rewriting *rewriting, size_t at)
{
	size_t begin = rewriting->count;

	rewrite_copy(rewriting, at);
	for (int i = 0; i < PLACES; i++)
		if (!names(&rewriting->module->words, at, rewriting->places[i]))
			rewrite_put(rewriting, rewriting->places[i]);
	if (!rewriting->failed)
		rewriting->words[begin] =
		    (uint32_t)(rewriting->count - begin) << 16 | SPIRV_ENTRY_POINT;
}

static void rewrite(struct rewriting *rewriting)
{
	const struct spirv_words *words = &rewriting->module->words;
	bool capabilities = false, decorations = false, globals = false;

	for (size_t i = 0; i < SPIRV_HEADER_WORDS; i++)
		rewrite_put(rewriting, words->words[i]);
	for (size_t at = SPIRV_HEADER_WORDS; at < words->count; at += spirv_length(words, at)) {
		uint32_t op = spirv_op(words, at);
		if (!capabilities && op != SPIRV_CAPABILITY) {
			rewrite_capabilities(rewriting);
			capabilities = true;
		}
		if (!decorations && !is_annotation_or_before(op)) {
			rewrite_decorations(rewriting);
			decorations = true;
		}
		if (!globals && op == SPIRV_FUNCTION) {
			rewrite_globals(rewriting);
			globals = true;
		}
		if (op == SPIRV_FUNCTION)
			begin_function(rewriting, at);
		else if (rewriting->function)
			rewrite_body(rewriting, at);
		else if (op == SPIRV_ENTRY_POINT)
			copy_entry(rewriting, at);
		else if (!is_written_out(words, at))
			rewrite_copy(rewriting, at);
	}
	if (!rewriting->failed)
		rewriting->words[3] = rewriting->bound;
}

// A variable that kernels keep something in. A twin has its own, and a launch that it does not take
// would find the other's. What is constant may be there twice.
static bool is_written(const struct spirv_words *words, size_t at)
{
	return spirv_op(words, at) == SPIRV_VARIABLE &&
	       words->words[at + 3] == SPIRV_CROSS_WORKGROUP &&
	       (spirv_length(words, at) < 5 ||
	        !spirv_decorated(words, words->words[at + 2], SPIRV_CONSTANT_DECORATION));
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
		if (spirv_length(words, at) > LONGEST)
			return "an instruction of it is too long";
		if (op == SPIRV_FUNCTION &&
		    !spirv_find_op(words, words->words[at + 4], SPIRV_TYPE_FUNCTION))
			return "a function of it has no type";
		if (!in_function && is_written(words, at))
			return "it has variables in global memory that kernels may write, and with "
			       "counters it would have its own";
	}
	return tare_blocks_print_obstacle(module);
}

static int check(const struct tare_blocks_module *module, struct tare_error *error)
{
	const char *why = obstacle(module);

	return why ? tare_fail(error, ENOTSUP, "the program cannot be instrumented: %s", why) : 0;
}

int tare_blocks_instrument(const struct tare_blocks_module *module,
                           const struct tare_blocks_plan *plan,
                           struct tare_blocks_instrumented *made, struct tare_error *error)
{
	struct rewriting rewriting = {
		.module = module, .plan = plan, .bound = module->words.bound, .rows = ROWS
	};
	uint32_t counters = plan->counter_count;
	int status = check(module, error);

	*made = (struct tare_blocks_instrumented){ .counters = counters };
	if (status < 0)
		return status;
	rewriting.row_counters = (counters + LINE_COUNTERS - 1) / LINE_COUNTERS * LINE_COUNTERS;
	while (rewriting.rows > 1 &&
	       (uint64_t)rewriting.rows * rewriting.row_counters * 8 > TARE_BLOCKS_MOST_BYTES)
		rewriting.rows /= 2;
	rewriting.layout = tare_blocks_layout(module, plan);
	rewriting.offsets = calloc((size_t)rewriting.layout.words + 1, sizeof(uint32_t));
	rewriting.function_types = calloc((size_t)module->words.bound + 1, sizeof(uint32_t));
	rewriting.constants = calloc((size_t)counters + 1, sizeof(uint32_t));
	rewriting.own = calloc((size_t)counters + 1, sizeof(uint32_t));
	rewrite_places(&rewriting);
	if (rewriting.offsets && rewriting.function_types && rewriting.constants && rewriting.own)
		rewrite(&rewriting);
	else
		rewriting.failed = true;
	free(rewriting.function_types);
	free(rewriting.constants);
	free(rewriting.own);
	free(rewriting.offsets);
	if (rewriting.failed) {
		free(rewriting.words);
		return tare_fail(error, ENOMEM, "out of memory");
	}
	made->data = rewriting.words;
	made->bytes = rewriting.count * sizeof(uint32_t);
	made->rows = rewriting.rows;
	made->row_counters = rewriting.row_counters;
	made->layout = rewriting.layout;
	return 0;
}
