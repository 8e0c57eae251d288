// SPDX-License-Identifier: Apache-2.0
#include "blocks/gains/change.h"

#include "blocks/module/calls.h"
#include "blocks/rewriting.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	EXTENDED = 12,
	NUMBER = 4, // word of the function's number in EXTENDED
	COPY_OBJECT = 83,
	F_CONVERT = 115,
	DIVISOR = 4, // word of a division
	FLOAT_BITS = 32,
	DOUBLE_BITS = 64,
};

struct changing {
	const struct tare_blocks_build *build;
	const struct tare_blocks_profile *profile;
	enum tare_blocks_change change;
	struct tare_blocks_changed *changed;
	struct rewriting out;
	uint32_t *others; // of each id: the float for a double; of each word: a divisor's constant
	uint32_t column;
	size_t *defined; // of each id: the word of its instruction in a function, or 0
};

static const struct spirv_words *words_of(const struct changing *changing)
{
	return &changing->build->module.words;
}

static uint32_t word(const struct changing *changing, size_t at, uint32_t index)
{
	const struct spirv_words *words = words_of(changing);

	return index < spirv_length(words, at) ? words->words[at + index] : 0;
}

enum tare_blocks_change tare_blocks_change_of(enum tare_blocks_advice advice)
{
	switch (advice) {
	case TARE_BLOCKS_DOUBLES:
		return TARE_BLOCKS_IN_SINGLE;
	case TARE_BLOCKS_DIVISIONS:
		return TARE_BLOCKS_BY_CONSTANTS;
	case TARE_BLOCKS_FUNCTIONS:
		return TARE_BLOCKS_IN_NATIVE;
	case TARE_BLOCKS_UNUSED:
		return TARE_BLOCKS_REGROUPED;
	default:
		return TARE_BLOCKS_AS_IT_IS;
	}
}

// ---- what takes part

static void mark(void *context, enum tare_blocks_advice advice, const struct tare_blocks_seen *seen)
{
	struct changing *changing = context;

	if (tare_blocks_change_of(advice) == changing->change)
		changing->changed->asked[seen->at] = true;
}

static void place(void *context, size_t at, uint32_t file, uint32_t line)
{
	struct changing *changing = context;
	const struct tare_blocks_build *build = changing->build;
	const char *name = tare_blocks_file_name(&build->module, file);
	size_t length = strlen(name), own = strlen(build->source);

	if (spirv_op(words_of(changing), at) == SPIRV_LINE)
		changing->column = word(changing, at, 3);
	if (line && length >= own && strcmp(name + length - own, build->source) == 0) {
		changing->changed->lines[at] = line;
		changing->changed->columns[at] = changing->column;
	}
}

// In all blocks, whether they ran or not: what is changed may be compiled in another way than what
// was counted.
static int mark_all(struct changing *changing)
{
	const struct tare_blocks_module *module = &changing->build->module;
	const struct tare_blocks_seeing seeing = { mark, changing };
	struct tare_blocks_kernel all = { .build = changing->build,
		                          .executions = calloc((size_t)module->block_count + 1,
		                                               sizeof *all.executions) };
	int status = all.executions ? 0 : -ENOMEM;

	for (uint32_t i = 0; status == 0 && i < module->block_count; i++) {
		all.executions[i] = 1;
		tare_blocks_each(module, i, place, changing);
	}
	status = status ?: tare_blocks_see_arithmetic(&all, &seeing);
	free(all.executions);
	return status;
}

// ---- doubles become floats

static uint32_t float_bits(const struct changing *changing, uint32_t type)
{
	size_t at = spirv_find_op(words_of(changing), type, SPIRV_TYPE_FLOAT);

	return at ? word(changing, at, 2) : 0;
}

// The type of floats in the place of one of doubles, if the module has it; 0.
static uint32_t single_of(const struct changing *changing, uint32_t type)
{
	const struct spirv_words *words = words_of(changing);
	size_t vector = spirv_find_op(words, type, SPIRV_TYPE_VECTOR);
	uint32_t scalar = 0;

	if (float_bits(changing, vector ? word(changing, vector, 2) : type) != DOUBLE_BITS)
		return 0;
	for (size_t at = SPIRV_HEADER_WORDS; at < words->count; at += spirv_length(words, at)) {
		uint32_t op = spirv_op(words, at);
		if (op == SPIRV_FUNCTION)
			return 0;
		if (op == SPIRV_TYPE_FLOAT && word(changing, at, 2) == FLOAT_BITS)
			scalar = word(changing, at, 1);
		if (scalar && !vector)
			return scalar;
		if (vector && op == SPIRV_TYPE_VECTOR && word(changing, at, 2) == scalar &&
		    word(changing, at, 3) == word(changing, vector, 3))
			return word(changing, at, 1);
	}
	return 0;
}

// Floats beside all constants that are doubles.
static void put_constants(struct changing *changing)
{
	const struct spirv_words *words = words_of(changing);

	for (size_t at = SPIRV_HEADER_WORDS; at < words->count; at += spirv_length(words, at)) {
		uint32_t op = spirv_op(words, at), id = word(changing, at, 2);
		if (op == SPIRV_FUNCTION)
			return;
		if (op != SPIRV_CONSTANT && op != SPIRV_CONSTANT_COMPOSITE)
			continue;
		uint32_t type = single_of(changing, word(changing, at, 1));
		bool known = type != 0 && id < words->bound;
		for (uint32_t i = 3; op == SPIRV_CONSTANT_COMPOSITE && i < spirv_length(words, at);
		     i++)
			known &= word(changing, at, i) < words->bound &&
			         changing->others[word(changing, at, i)] != 0;
		if (!known)
			continue;
		changing->others[id] = rewrite_fresh(&changing->out);
		if (op == SPIRV_CONSTANT) {
			uint64_t bits = word(changing, at, 3) | (uint64_t)word(changing, at, 4)
			                                            << 32;
			double value;
			memcpy(&value, &bits, sizeof value);
			float narrow = (float)value;
			uint32_t narrow_bits;
			memcpy(&narrow_bits, &narrow, sizeof narrow_bits);
			EMIT(&changing->out, op, type, changing->others[id], narrow_bits);
			continue;
		}
		rewrite_put(&changing->out, words->words[at]);
		rewrite_put(&changing->out, type);
		rewrite_put(&changing->out, changing->others[id]);
		for (uint32_t i = 3; i < spirv_length(words, at); i++)
			rewrite_put(&changing->out, changing->others[word(changing, at, i)]);
	}
}

// The same arithmetic in floats, beside that in doubles, which a compiler drops where nothing else
// needs it.
static void put_single(struct changing *changing, size_t at)
{
	const struct spirv_words *words = words_of(changing);
	uint32_t first = spirv_op(words, at) == EXTENDED ? 5 : 3, result = word(changing, at, 2);
	uint32_t type = single_of(changing, word(changing, at, 1));
	bool known = type != 0 && result < words->bound;

	for (uint32_t i = first; known && i < spirv_length(words, at); i++)
		known = word(changing, at, i) < words->bound &&
		        changing->others[word(changing, at, i)] != 0;
	if (!known)
		return;
	changing->others[result] = rewrite_fresh(&changing->out);
	rewrite_put(&changing->out, words->words[at]);
	rewrite_put(&changing->out, type);
	rewrite_put(&changing->out, changing->others[result]);
	for (uint32_t i = 3; i < spirv_length(words, at); i++)
		rewrite_put(&changing->out, i < first ? word(changing, at, i)
		                                      : changing->others[word(changing, at, i)]);
	changing->changed->done[at] = true;
}

static void change_doubles(struct changing *changing, size_t at)
{
	const struct tare_blocks_module *module = &changing->build->module;
	uint32_t op = spirv_op(&module->words, at), type = word(changing, at, 1),
	         result = word(changing, at, 2), operand = word(changing, at, 3);
	bool converts =
	    op == F_CONVERT && result < module->words.bound && operand < module->words.bound;

	if (converts && changing->changed->asked[at] && changing->others[operand] &&
	    single_of(changing, module->types[operand]) == type) {
		EMIT(&changing->out, COPY_OBJECT, type, result, changing->others[operand]);
		changing->changed->done[at] = true;
		return;
	}
	rewrite_copy(&changing->out, at);
	if (converts && single_of(changing, type) &&
	    single_of(changing, type) == module->types[operand])
		changing->others[result] = operand;
	else if (!converts && changing->changed->asked[at])
		put_single(changing, at);
}

// ---- functions take their native form

// Of pow the advice is powr, which is another function.
const struct tare_blocks_native tare_blocks_natives[] = {
	{ 14, 81, "cos" },   { 19, 83, "exp" },  { 20, 84, "exp2" },  { 21, 85, "exp10" },
	{ 37, 86, "log" },   { 38, 87, "log2" }, { 39, 88, "log10" }, { 50, 89, "powr" },
	{ 56, 91, "rsqrt" }, { 57, 92, "sin" },  { 61, 93, "sqrt" },  { 62, 94, "tan" },
	{ 0, 0, NULL },
};

static uint32_t native_of(uint32_t number)
{
	for (const struct tare_blocks_native *at = tare_blocks_natives; at->name; at++)
		if (at->exact == number)
			return at->native;
	return 0;
}

// An instruction with another operand in the place of one.
static void put_with(struct changing *changing, size_t at, uint32_t index, uint32_t operand)
{
	size_t begin = changing->out.count;

	rewrite_copy(&changing->out, at);
	if (operand && index < spirv_length(words_of(changing), at) && !changing->out.failed) {
		changing->out.words[begin + index] = operand;
		changing->changed->done[at] = true;
	}
}

// ---- divisors become constants

// The place of a fixed argument, from 1 on; 0: there is no room.
static uint32_t fix(struct tare_blocks_changed *changed, const struct blocks_fixed *fixed)
{
	for (uint32_t i = 0; i < changed->fixed_count; i++)
		if (changed->fixed[i].argument == fixed->argument &&
		    strcmp(changed->fixed[i].kernel, fixed->kernel) == 0)
			return i + 1;
	if (changed->fixed_count == BLOCKS_FIXED)
		return 0;
	changed->fixed[changed->fixed_count++] = *fixed;
	return changed->fixed_count;
}

static void put_divisors(struct changing *changing)
{
	const struct spirv_words *words = words_of(changing);
	uint32_t function = 0;

	for (size_t at = SPIRV_HEADER_WORDS; at < words->count; at += spirv_length(words, at)) {
		struct tare_blocks_divisor divisor;
		if (spirv_op(words, at) == SPIRV_FUNCTION)
			function = word(changing, at, 2);
		if (!changing->changed->asked[at] ||
		    !tare_blocks_divisor_of(changing->build, changing->profile, changing->defined,
		                            at, function, &divisor))
			continue;
		changing->changed->divisors[at] = (uint8_t)fix(changing->changed, &divisor.fixed);
		if (!changing->changed->divisors[at])
			continue;
		changing->others[at] = rewrite_fresh(&changing->out);
		size_t type = spirv_find_op(words, divisor.type, SPIRV_TYPE_INT);
		if (type && words->words[type + 2] == 64)
			EMIT(&changing->out, SPIRV_CONSTANT, divisor.type, changing->others[at],
			     (uint32_t)divisor.value, (uint32_t)(divisor.value >> 32));
		else
			EMIT(&changing->out, SPIRV_CONSTANT, divisor.type, changing->others[at],
			     (uint32_t)divisor.value);
	}
}

// ---- the whole

static void regroup(struct changing *changing)
{
	const struct tare_blocks_module *module = &changing->build->module;

	for (size_t i = 0; i < changing->profile->kernel_count; i++) {
		const struct tare_blocks_kernel *kernel = &changing->profile->kernels[i];
		struct blocks_fixed fixed = { .argument = BLOCKS_GROUPS };
		memcpy(fixed.kernel, kernel->name, sizeof fixed.kernel);
		bool ours = kernel->build && kernel->build->hash == changing->build->hash;
		for (uint32_t k = 0; ours && k < module->function_count; k++)
			if (module->functions[k].kernel &&
			    strcmp(module->functions[k].kernel, kernel->name) == 0 &&
			    kernel->lanes_offered > kernel->lanes_used &&
			    tare_blocks_is_free_of_groups(module, &module->functions[k]))
				fix(changing->changed, &fixed);
	}
}

static void define(struct changing *changing)
{
	const struct spirv_words *words = words_of(changing);
	bool inside = false;

	for (size_t at = SPIRV_HEADER_WORDS; at < words->count; at += spirv_length(words, at)) {
		uint32_t op = spirv_op(words, at), result = word(changing, at, 2);
		inside = (inside || op == SPIRV_FUNCTION) && op != SPIRV_FUNCTION_END;
		if (inside && op != SPIRV_FUNCTION && op != SPIRV_PARAMETER &&
		    result < words->bound && word(changing, at, 1) != 0 &&
		    changing->build->module.types[result] == word(changing, at, 1))
			changing->defined[result] = changing->defined[result] ?: at;
	}
}

static void change_instruction(struct changing *changing, size_t at)
{
	if (changing->change == TARE_BLOCKS_IN_SINGLE)
		change_doubles(changing, at);
	else if (changing->change == TARE_BLOCKS_IN_NATIVE && changing->changed->asked[at])
		put_with(changing, at, NUMBER, native_of(word(changing, at, NUMBER)));
	else if (changing->change == TARE_BLOCKS_BY_CONSTANTS && changing->changed->asked[at])
		put_with(changing, at, DIVISOR, changing->others[at]);
	else
		rewrite_copy(&changing->out, at);
}

static void write_out(struct changing *changing)
{
	const struct spirv_words *words = words_of(changing);
	bool inside = false;

	for (size_t i = 0; i < SPIRV_HEADER_WORDS; i++)
		rewrite_put(&changing->out, words->words[i]);
	for (size_t at = SPIRV_HEADER_WORDS; at < words->count; at += spirv_length(words, at)) {
		if (!inside && spirv_op(words, at) == SPIRV_FUNCTION) {
			inside = true;
			if (changing->change == TARE_BLOCKS_IN_SINGLE)
				put_constants(changing);
			else if (changing->change == TARE_BLOCKS_BY_CONSTANTS)
				put_divisors(changing);
		}
		if (inside)
			change_instruction(changing, at);
		else
			rewrite_copy(&changing->out, at);
	}
	if (!changing->out.failed)
		changing->out.words[3] = changing->out.bound;
}

int tare_blocks_change(const struct tare_blocks_build *build,
                       const struct tare_blocks_profile *profile, enum tare_blocks_change change,
                       struct tare_blocks_changed *changed)
{
	const struct spirv_words *words = &build->module.words;
	size_t most = (words->count > words->bound ? words->count : words->bound) + 1;
	struct changing changing = { .build = build,
		                     .profile = profile,
		                     .change = change,
		                     .changed = changed,
		                     .out = { .module = &build->module, .bound = words->bound },
		                     .others = calloc(most, sizeof *changing.others),
		                     .defined = calloc(most, sizeof *changing.defined) };

	*changed =
	    (struct tare_blocks_changed){ .asked = calloc(most, sizeof *changed->asked),
		                          .done = calloc(most, sizeof *changed->done),
		                          .lines = calloc(most, sizeof *changed->lines),
		                          .columns = calloc(most, sizeof *changed->columns),
		                          .divisors = calloc(most, sizeof *changed->divisors) };
	int status = changing.others && changing.defined && changed->asked && changed->done &&
	                     changed->lines && changed->columns && changed->divisors
	                 ? mark_all(&changing)
	                 : -ENOMEM;
	if (status == 0) {
		define(&changing);
		if (change == TARE_BLOCKS_REGROUPED)
			regroup(&changing);
		write_out(&changing);
		if (change == TARE_BLOCKS_IN_SINGLE)
			status = tare_blocks_keep_doubles(&build->module, changed->done);
	}
	free(changing.others);
	free(changing.defined);
	changed->words = changing.out.words;
	changed->count = changing.out.count;
	return changing.out.failed ? -ENOMEM : status;
}

void tare_blocks_changed_free(struct tare_blocks_changed *changed)
{
	free(changed->words);
	free(changed->asked);
	free(changed->done);
	free(changed->lines);
	free(changed->columns);
	free(changed->divisors);
	*changed = (struct tare_blocks_changed){ .words = NULL };
}

// ---- how far it reaches

struct reaching {
	const struct tare_blocks_changed *changed;
	enum tare_blocks_advice advice;
	uint64_t all, done;
};

static void reach(void *context, enum tare_blocks_advice advice,
                  const struct tare_blocks_seen *seen)
{
	struct reaching *reaching = context;

	if (advice != reaching->advice)
		return;
	reaching->all += seen->executions;
	reaching->done += reaching->changed->done[seen->at] ? seen->executions : 0;
}

double tare_blocks_change_reach(const struct tare_blocks_changed *changed,
                                const struct tare_blocks_kernel *kernel,
                                enum tare_blocks_advice advice)
{
	struct reaching reaching = { .changed = changed, .advice = advice };
	const struct tare_blocks_seeing seeing = { reach, &reaching };

	if (advice == TARE_BLOCKS_UNUSED) {
		for (uint32_t i = 0; i < changed->fixed_count; i++)
			if (strcmp(changed->fixed[i].kernel, kernel->name) == 0)
				return 1;
		return 0;
	}
	if (tare_blocks_see_arithmetic(kernel, &seeing) < 0)
		return -1;
	return reaching.all ? (double)reaching.done / (double)reaching.all : 0;
}
