// SPDX-License-Identifier: Apache-2.0
// Findings by what instructions are: doubles between floats, divisions in loops, functions.
#include "blocks/findings/findings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	EXTENDED = 12,
	LOAD = 61,
	FIRST_CHAIN = 65, // OpAccessChain ..
	LAST_CHAIN = 67,  // .. OpPtrAccessChain, and
	IN_BOUNDS_CHAIN = 70,
	S_TO_F = 111,
	U_TO_F = 112,
	F_CONVERT = 115,
	U_DIV = 134,
	S_DIV = 135,
	U_MOD = 137,
	S_MOD = 139,
	FIRST_FLOAT = 127, // FNegate .. FMod
	LAST_FLOAT = 141,
	SELECT = 169,
	FIRST_COMPARISON = 180, // FOrdEqual .. FUnordGreaterThanEqual
	LAST_COMPARISON = 191,
	LAST_FUNCTION = 103, // of OpenCL.std, that gives a floating-point number
	DOUBLE_BITS = 64,
};

// What a value is that doubles are made of.
enum origin {
	UNKNOWN,
	WIDENED,  // from a float
	COUNTED,  // from an integer
	CONSTANT, // also of a table of constants
	COMPUTED, // of these
	TABLE,    // a place in a table of constants
};

struct looking {
	const struct tare_blocks_kernel *kernel;
	uint8_t *origins; // enum origin, of each id below the bound
	bool *narrows;    // of each id: a float is made of it, or of what is computed of it
	bool *turns;      // of each block: it is in a loop
	uint32_t block;
	bool again; // something more was found
	const struct tare_blocks_seeing *seeing;
};

static uint32_t word(const struct looking *looking, size_t at, uint32_t index)
{
	const struct spirv_words *words = &looking->kernel->build->module.words;

	return index < spirv_length(words, at) ? words->words[at + index] : 0;
}

static const struct tare_blocks_module *module_of(const struct looking *looking)
{
	return &looking->kernel->build->module;
}

static void add(const struct looking *looking, enum tare_blocks_advice advice, size_t at,
                uint32_t file, uint32_t line)
{
	looking->seeing->see(looking->seeing->context, advice,
	                     &(const struct tare_blocks_seen){
	                         at, file, line, looking->kernel->executions[looking->block] });
}

static uint32_t float_bits(const struct looking *looking, uint32_t type)
{
	const struct spirv_words *words = &module_of(looking)->words;
	size_t vector = spirv_find_op(words, type, SPIRV_TYPE_VECTOR);
	size_t number =
	    spirv_find_op(words, vector ? word(looking, vector, 2) : type, SPIRV_TYPE_FLOAT);

	return number ? word(looking, number, 2) : 0;
}

static uint32_t type_of(const struct looking *looking, uint32_t id)
{
	return id < module_of(looking)->words.bound ? module_of(looking)->types[id] : 0;
}

static enum origin origin_of(const struct looking *looking, uint32_t id)
{
	const struct spirv_words *words = &module_of(looking)->words;

	if (spirv_find_op(words, id, SPIRV_CONSTANT) ||
	    spirv_find_op(words, id, SPIRV_CONSTANT_COMPOSITE))
		return CONSTANT;
	size_t variable = spirv_find_op(words, id, SPIRV_VARIABLE);
	if (variable && words->words[variable + 3] == SPIRV_UNIFORM_CONSTANT &&
	    spirv_length(words, variable) > 4)
		return TABLE;
	return id < words->bound ? (enum origin)looking->origins[id] : UNKNOWN;
}

// ---- doubles between floats

// Whether all that arithmetic stands on was made of floats, or is a constant; or was made of
// integers, where a float is made of the result.
static bool stands_on_floats(const struct looking *looking, size_t at, uint32_t first, bool narrows)
{
	bool any = false, constant = false;

	for (uint32_t i = first; i < spirv_length(&module_of(looking)->words, at); i++) {
		enum origin origin = origin_of(looking, word(looking, at, i));
		if (origin == UNKNOWN || origin == TABLE)
			return false;
		any |= origin == WIDENED || origin == COMPUTED || (origin == COUNTED && narrows);
		constant |= origin == CONSTANT || origin == COMPUTED;
	}
	return any && constant;
}

// Whether an instruction computes numbers of numbers, from word *first on.
static bool is_arithmetic(const struct looking *looking, size_t at, uint32_t *first)
{
	uint32_t op = spirv_op(&module_of(looking)->words, at), number = word(looking, at, 4);

	*first = op == EXTENDED ? 5 : op == SELECT ? 4 : 3;
	return (op >= FIRST_FLOAT && op <= LAST_FLOAT) || op == SELECT ||
	       (op == EXTENDED && number <= LAST_FUNCTION);
}

// What is no arithmetic, and gives a double all the same, or a place of one.
static void note_origin(struct looking *looking, size_t at)
{
	uint32_t op = spirv_op(&module_of(looking)->words, at), result = word(looking, at, 2);
	enum origin of = origin_of(looking, word(looking, at, 3));

	if (result >= module_of(looking)->words.bound)
		return;
	if (of == TABLE && ((op >= FIRST_CHAIN && op <= LAST_CHAIN) || op == IN_BOUNDS_CHAIN))
		looking->origins[result] = TABLE;
	if (float_bits(looking, word(looking, at, 1)) != DOUBLE_BITS)
		return;
	if (of == TABLE && op == LOAD)
		looking->origins[result] = CONSTANT;
	else if (op == S_TO_F || op == U_TO_F)
		looking->origins[result] = COUNTED;
}

static void add_doubles(const struct looking *looking, size_t at, uint32_t first, uint32_t file,
                        uint32_t line)
{
	add(looking, TARE_BLOCKS_DOUBLES, at, file, line);
	for (uint32_t i = first; i < spirv_length(&module_of(looking)->words, at); i++) {
		enum origin origin = origin_of(looking, word(looking, at, i));
		// What widens it goes, too.
		if (origin == WIDENED)
			add(looking, TARE_BLOCKS_DOUBLES, at, file, line);
	}
}

static void look_for_doubles(struct looking *looking, size_t at, uint32_t file, uint32_t line)
{
	uint32_t op = spirv_op(&module_of(looking)->words, at), result = word(looking, at, 2);
	uint32_t bits = float_bits(looking, word(looking, at, 1)), first;

	note_origin(looking, at);
	if (op >= FIRST_COMPARISON && op <= LAST_COMPARISON &&
	    float_bits(looking, type_of(looking, word(looking, at, 3))) == DOUBLE_BITS &&
	    stands_on_floats(looking, at, 3, false)) {
		add_doubles(looking, at, 3, file, line);
		return;
	}
	if (result >= module_of(looking)->words.bound)
		return;
	if (op == F_CONVERT) {
		uint32_t operand = word(looking, at, 3);
		if (bits == DOUBLE_BITS && float_bits(looking, type_of(looking, operand)) == 32) {
			looking->origins[result] = WIDENED;
		} else if (bits == 32 && origin_of(looking, operand) == COMPUTED) {
			// Back to a float: this, and what went before, need not have been doubles.
			add(looking, TARE_BLOCKS_DOUBLES, at, file, line);
		}
		return;
	}
	if (bits != DOUBLE_BITS || !is_arithmetic(looking, at, &first) ||
	    !stands_on_floats(looking, at, first, looking->narrows[result]))
		return;
	looking->origins[result] = COMPUTED;
	add_doubles(looking, at, first, file, line);
}

// ---- what becomes a float

static void note_narrow(void *context, size_t at, uint32_t file, uint32_t line)
{
	struct looking *looking = context;
	const struct spirv_words *words = &module_of(looking)->words;
	uint32_t result = word(looking, at, 2), bits = float_bits(looking, word(looking, at, 1)),
	         first = 3;
	bool converts = spirv_op(words, at) == F_CONVERT && bits == 32;

	(void)file;
	(void)line;
	if (!converts && (bits != DOUBLE_BITS || result >= words->bound ||
	                  !looking->narrows[result] || !is_arithmetic(looking, at, &first)))
		return;
	for (uint32_t i = first; i < spirv_length(words, at); i++) {
		uint32_t operand = word(looking, at, i);
		if (operand < words->bound && !looking->narrows[operand] &&
		    float_bits(looking, type_of(looking, operand)) == DOUBLE_BITS)
			looking->narrows[operand] = looking->again = true;
	}
}

static void find_narrow(struct looking *looking)
{
	const struct tare_blocks_module *module = module_of(looking);

	do {
		looking->again = false;
		for (uint32_t i = module->block_count; i-- > 0;)
			tare_blocks_each(module, i, note_narrow, looking);
	} while (looking->again);
}

// ---- divisions and functions

static void look_for_division(struct looking *looking, size_t at, uint32_t file, uint32_t line)
{
	uint32_t op = spirv_op(&module_of(looking)->words, at);

	if ((op != U_DIV && op != S_DIV && (op < U_MOD || op > S_MOD)) ||
	    !looking->turns[looking->block] || origin_of(looking, word(looking, at, 4)) == CONSTANT)
		return;
	add(looking, TARE_BLOCKS_DIVISIONS, at, file, line);
}

// Those of OpenCL.std that have a native_ form: cos, exp, exp2, exp10, log, log2, log10, powr,
// rsqrt, sin, sqrt, tan, and pow, whose fast form is powr's.
static void look_for_function(struct looking *looking, size_t at, uint32_t file, uint32_t line)
{
	static const uint8_t known[] = { 14, 19, 20, 21, 37, 38, 39, 48, 50, 56, 57, 61, 62 };

	if (spirv_op(&module_of(looking)->words, at) != EXTENDED ||
	    float_bits(looking, word(looking, at, 1)) != 32 ||
	    !memchr(known, (int)(word(looking, at, 4) & 0xff), sizeof known) ||
	    word(looking, at, 4) > 0xff)
		return;
	add(looking, TARE_BLOCKS_FUNCTIONS, at, file, line);
}

static void look_at(void *context, size_t at, uint32_t file, uint32_t line)
{
	struct looking *looking = context;

	look_for_doubles(looking, at, file, line);
	look_for_division(looking, at, file, line);
	look_for_function(looking, at, file, line);
}

// ---- loops

// Marks the block where a way leads from it to itself.
static void mark_loop(const struct tare_blocks_module *module, uint32_t block, bool *seen,
                      uint32_t *stack, bool *turns)
{
	uint32_t depth = 0;

	memset(seen, 0, module->block_count * sizeof *seen);
	stack[depth++] = block;
	while (depth && !turns[block]) {
		const struct tare_blocks_block *at = &module->blocks[stack[--depth]];
		for (uint32_t i = 0; i < at->successors; i++) {
			uint32_t next = module->successors[at->first_successor + i];
			if (next >= module->block_count || seen[next])
				continue;
			turns[block] |= next == block;
			seen[next] = true;
			stack[depth++] = next;
		}
	}
}

int tare_blocks_see_arithmetic(const struct tare_blocks_kernel *kernel,
                               const struct tare_blocks_seeing *seeing)
{
	const struct tare_blocks_module *module = &kernel->build->module;
	size_t blocks = (size_t)module->block_count + 1;
	struct looking looking = { .kernel = kernel,
		                   .origins = calloc((size_t)module->words.bound + 1, 1),
		                   .narrows = calloc((size_t)module->words.bound + 1, 1),
		                   .turns = calloc(blocks, sizeof *looking.turns),
		                   .seeing = seeing };
	bool *seen = calloc(blocks, sizeof *seen);
	uint32_t *stack = calloc(blocks, sizeof *stack);
	bool well = looking.origins && looking.narrows && looking.turns && seen && stack;

	if (well)
		find_narrow(&looking);
	for (looking.block = 0; well && looking.block < module->block_count; looking.block++) {
		if (!kernel->executions[looking.block])
			continue;
		mark_loop(module, looking.block, seen, stack, looking.turns);
		tare_blocks_each(module, looking.block, look_at, &looking);
	}
	free(looking.origins);
	free(looking.narrows);
	free(looking.turns);
	free(seen);
	free(stack);
	return well ? 0 : -ENOMEM;
}

static void add_to(void *context, enum tare_blocks_advice advice,
                   const struct tare_blocks_seen *seen)
{
	struct tare_blocks_finding *finding = &((struct tare_blocks_finding *)context)[advice];

	finding->executions += seen->executions;
	tare_blocks_place_add(finding, seen->file, seen->line, seen->executions);
}

int tare_blocks_find_arithmetic(const struct tare_blocks_kernel *kernel,
                                struct tare_blocks_finding found[TARE_BLOCKS_ADVICE])
{
	static const enum tare_blocks_advice all[] = { TARE_BLOCKS_DOUBLES, TARE_BLOCKS_DIVISIONS,
		                                       TARE_BLOCKS_FUNCTIONS };
	const struct tare_blocks_seeing seeing = { add_to, found };
	double instructions = (double)tare_blocks_instructions(&kernel->tally);
	int status = tare_blocks_see_arithmetic(kernel, &seeing);

	for (size_t i = 0; instructions > 0 && i < sizeof all / sizeof *all; i++)
		found[all[i]].share = (double)found[all[i]].executions / instructions;
	return status;
}
