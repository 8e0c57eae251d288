// SPDX-License-Identifier: Apache-2.0
#include "blocks/gains/changing.h"

#include "blocks/module/calls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	NUMBER = 4,  // word of the function's number in an extended instruction
	DIVISOR = 4, // word of a division
	F_CONVERT = 115,
};

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

	if (tare_blocks_change_of(advice) != changing->change || changing->changed->asked[seen->at])
		return;
	changing->changed->asked[seen->at] = true;
	for (uint32_t i = 3; i < spirv_length(tare_blocks_changing_words(changing), seen->at); i++)
		if (tare_blocks_changing_word(changing, seen->at, i) <
		    tare_blocks_changing_words(changing)->bound)
			changing->wanted[tare_blocks_changing_word(changing, seen->at, i)] = true;
	uint32_t operand = tare_blocks_changing_word(changing, seen->at, 3);
	if (spirv_op(tare_blocks_changing_words(changing), seen->at) != F_CONVERT ||
	    operand >= tare_blocks_changing_words(changing)->bound)
		return;
	changing->narrowed_too[seen->at] = changing->narrowed[operand];
	changing->narrowed[operand] = seen->at;
}

static void place(void *context, size_t at, uint32_t file, uint32_t line)
{
	struct changing *changing = context;
	const struct tare_blocks_build *build = changing->build;
	const char *name = tare_blocks_file_name(&build->module, file);
	size_t length = strlen(name), own = strlen(build->source);

	if (spirv_op(tare_blocks_changing_words(changing), at) == SPIRV_LINE)
		changing->column = tare_blocks_changing_word(changing, at, 3);
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

	for (uint32_t i = 0; i < module->block_count; i++)
		tare_blocks_each(module, i, place, changing);
	return tare_blocks_see_all(module, &seeing);
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
	if (operand && index < spirv_length(tare_blocks_changing_words(changing), at) &&
	    !changing->out.failed) {
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
	const struct spirv_words *words = tare_blocks_changing_words(changing);
	uint32_t function = 0;

	for (size_t at = SPIRV_HEADER_WORDS; at < words->count; at += spirv_length(words, at)) {
		struct tare_blocks_divisor divisor;
		if (spirv_op(words, at) == SPIRV_FUNCTION)
			function = tare_blocks_changing_word(changing, at, 2);
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
	const struct spirv_words *words = tare_blocks_changing_words(changing);
	bool inside = false;

	for (size_t at = SPIRV_HEADER_WORDS; at < words->count; at += spirv_length(words, at)) {
		uint32_t op = spirv_op(words, at),
		         result = tare_blocks_changing_word(changing, at, 2);
		inside = (inside || op == SPIRV_FUNCTION) && op != SPIRV_FUNCTION_END;
		if (inside && op != SPIRV_FUNCTION && op != SPIRV_PARAMETER &&
		    result < words->bound && tare_blocks_changing_word(changing, at, 1) != 0 &&
		    changing->build->module.types[result] ==
		        tare_blocks_changing_word(changing, at, 1))
			changing->defined[result] = changing->defined[result] ?: at;
	}
}

static void change_instruction(struct changing *changing, size_t at)
{
	if (changing->change == TARE_BLOCKS_IN_SINGLE)
		tare_blocks_single(changing, at);
	else if (changing->change == TARE_BLOCKS_IN_NATIVE && changing->changed->asked[at])
		put_with(changing, at, NUMBER,
		         native_of(tare_blocks_changing_word(changing, at, NUMBER)));
	else if (changing->change == TARE_BLOCKS_BY_CONSTANTS && changing->changed->asked[at])
		put_with(changing, at, DIVISOR, changing->others[at]);
	else
		rewrite_copy(&changing->out, at);
}

static void write_out(struct changing *changing)
{
	const struct spirv_words *words = tare_blocks_changing_words(changing);
	bool inside = false, single = changing->change == TARE_BLOCKS_IN_SINGLE;

	changing->out.count = 0;
	changing->out.bound = words->bound;
	for (size_t i = 0; i < SPIRV_HEADER_WORDS; i++)
		rewrite_put(&changing->out, words->words[i]);
	for (size_t at = SPIRV_HEADER_WORDS; at < words->count; at += spirv_length(words, at)) {
		if (!inside && spirv_op(words, at) == SPIRV_FUNCTION) {
			inside = true;
			if (single)
				tare_blocks_single_constants(changing);
			else if (changing->change == TARE_BLOCKS_BY_CONSTANTS)
				put_divisors(changing);
		}
		if (inside)
			change_instruction(changing, at);
		else if (single)
			tare_blocks_single_global(changing, at);
		else
			rewrite_copy(&changing->out, at);
	}
	if (!changing->out.failed)
		changing->out.words[3] = changing->out.bound;
}

// Without what nothing needs any more.
static int write_again(struct changing *changing, size_t ids)
{
	int status = tare_blocks_single_end(changing);

	memset(changing->others, 0, ids * sizeof *changing->others);
	if (status == 0)
		write_out(changing);
	return status;
}

static int change(struct changing *changing, size_t ids)
{
	int status = mark_all(changing);

	if (status < 0)
		return status;
	define(changing);
	if (changing->change == TARE_BLOCKS_REGROUPED)
		regroup(changing);
	write_out(changing);
	return changing->change == TARE_BLOCKS_IN_SINGLE ? write_again(changing, ids) : 0;
}

int tare_blocks_change(const struct tare_blocks_build *build,
                       const struct tare_blocks_profile *profile, enum tare_blocks_change kind,
                       struct tare_blocks_changed *changed)
{
	const struct spirv_words *words = &build->module.words;
	size_t most = (words->count > words->bound ? words->count : words->bound) + 1;
	struct changing changing = { .build = build,
		                     .profile = profile,
		                     .change = kind,
		                     .changed = changed,
		                     .out = { .module = &build->module },
		                     .others = calloc(most, sizeof *changing.others),
		                     .defined = calloc(most, sizeof *changing.defined),
		                     .narrowed = calloc(most, sizeof *changing.narrowed),
		                     .narrowed_too = calloc(most, sizeof *changing.narrowed_too),
		                     .wanted = calloc(most, sizeof *changing.wanted) };

	*changed =
	    (struct tare_blocks_changed){ .asked = calloc(most, sizeof *changed->asked),
		                          .done = calloc(most, sizeof *changed->done),
		                          .lines = calloc(most, sizeof *changed->lines),
		                          .columns = calloc(most, sizeof *changed->columns),
		                          .divisors = calloc(most, sizeof *changed->divisors),
		                          .options = "" };
	bool well = changing.others && changing.defined && changing.narrowed &&
	            changing.narrowed_too && changing.wanted && changed->asked && changed->done &&
	            changed->lines && changed->columns && changed->divisors;
	int status = well ? change(&changing, most) : -ENOMEM;
	free(changing.others);
	free(changing.defined);
	free(changing.narrowed);
	free(changing.narrowed_too);
	free(changing.wanted);
	free(changing.dropped);
	free(changing.singles);
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
