// SPDX-License-Identifier: Apache-2.0
// In a module doubles between floats become floats, as a person's code with 1.5f in the place of
// 1.5 has them: what is computed in floats takes the place of what was rounded to them, and doubles
// that nothing takes any more are left out. Which these are shows a first writing; the second one
// is without them.
#include "blocks/gains/changing.h"

#include "blocks/module/classify.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	EXTENDED = 12,
	F_TO_U = 109,
	F_TO_S = 110,
	S_TO_F = 111,
	U_TO_F = 112,
	F_CONVERT = 115,
	SELECT = 169,
	FIRST_COMPARISON = 180,
	LAST_COMPARISON = 191,
	FLOAT_BITS = 32,
	DOUBLE_BITS = 64,
	RESULT = 2,
	ROUNDING_MODE = 39, // of a conversion
};

static bool gives_value(const struct tare_blocks_module *module, size_t at)
{
	const struct spirv_words *words = &module->words;

	return spirv_length(words, at) > RESULT && words->words[at + RESULT] < words->bound &&
	       module->types[words->words[at + RESULT]] == words->words[at + 1];
}

bool tare_blocks_is_double(const struct tare_blocks_module *module, size_t at)
{
	const struct spirv_words *words = &module->words;

	if (!gives_value(module, at))
		return false;
	uint32_t type = words->words[at + 1];
	size_t vector = spirv_find_op(words, type, SPIRV_TYPE_VECTOR);
	size_t number =
	    spirv_find_op(words, vector ? words->words[vector + 2] : type, SPIRV_TYPE_FLOAT);
	return number && words->words[number + 2] == DOUBLE_BITS;
}

static uint32_t float_bits(const struct changing *changing, uint32_t type)
{
	size_t at = spirv_find_op(tare_blocks_changing_words(changing), type, SPIRV_TYPE_FLOAT);

	return at ? tare_blocks_changing_word(changing, at, 2) : 0;
}

// The type of floats in the place of one of doubles, if the module has it; 0.
static uint32_t single_of(const struct changing *changing, uint32_t type)
{
	const struct spirv_words *words = tare_blocks_changing_words(changing);
	size_t vector = spirv_find_op(words, type, SPIRV_TYPE_VECTOR);
	uint32_t scalar = 0;

	if (float_bits(changing, vector ? tare_blocks_changing_word(changing, vector, 2) : type) !=
	    DOUBLE_BITS)
		return 0;
	for (size_t at = SPIRV_HEADER_WORDS; at < words->count; at += spirv_length(words, at)) {
		uint32_t op = spirv_op(words, at);
		if (op == SPIRV_FUNCTION)
			return 0;
		if (op == SPIRV_TYPE_FLOAT &&
		    tare_blocks_changing_word(changing, at, 2) == FLOAT_BITS)
			scalar = tare_blocks_changing_word(changing, at, 1);
		if (scalar && !vector)
			return scalar;
		if (vector && op == SPIRV_TYPE_VECTOR &&
		    tare_blocks_changing_word(changing, at, 2) == scalar &&
		    tare_blocks_changing_word(changing, at, 3) ==
		        tare_blocks_changing_word(changing, vector, 3))
			return tare_blocks_changing_word(changing, at, 1);
	}
	return 0;
}

// Floats beside all constants that are doubles.
void tare_blocks_single_constants(struct changing *changing)
{
	const struct spirv_words *words = tare_blocks_changing_words(changing);

	for (size_t at = SPIRV_HEADER_WORDS; at < words->count; at += spirv_length(words, at)) {
		uint32_t op = spirv_op(words, at), id = tare_blocks_changing_word(changing, at, 2);
		if (op == SPIRV_FUNCTION)
			return;
		if (op != SPIRV_CONSTANT && op != SPIRV_CONSTANT_COMPOSITE)
			continue;
		uint32_t type = single_of(changing, tare_blocks_changing_word(changing, at, 1));
		bool known = type != 0 && id < words->bound;
		for (uint32_t i = 3; op == SPIRV_CONSTANT_COMPOSITE && i < spirv_length(words, at);
		     i++)
			known &= tare_blocks_changing_word(changing, at, i) < words->bound &&
			         changing->others[tare_blocks_changing_word(changing, at, i)] != 0;
		if (!known)
			continue;
		changing->others[id] = rewrite_fresh(&changing->out);
		if (op == SPIRV_CONSTANT) {
			uint64_t bits = tare_blocks_changing_word(changing, at, 3) |
			                (uint64_t)tare_blocks_changing_word(changing, at, 4) << 32;
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
			rewrite_put(&changing->out,
			            changing->others[tare_blocks_changing_word(changing, at, i)]);
	}
}

// The first operand of an instruction that is a number.
static uint32_t first_number(const struct spirv_words *words, size_t at)
{
	return spirv_op(words, at) == EXTENDED ? 5 : spirv_op(words, at) == SELECT ? 4 : 3;
}

// Whether all numbers that an instruction takes are floats, too.
static bool takes_known(const struct changing *changing, size_t at)
{
	const struct spirv_words *words = tare_blocks_changing_words(changing);

	for (uint32_t i = first_number(words, at); i < spirv_length(words, at); i++)
		if (words->words[at + i] >= words->bound ||
		    changing->others[words->words[at + i]] == 0)
			return false;
	return true;
}

// An instruction of floats in the place of doubles.
static void put_as(struct changing *changing, size_t at, uint32_t type, uint32_t result)
{
	const struct spirv_words *words = tare_blocks_changing_words(changing);
	uint32_t first = first_number(words, at);

	rewrite_put(&changing->out, words->words[at]);
	rewrite_put(&changing->out, type);
	rewrite_put(&changing->out, result);
	for (uint32_t i = 3; i < spirv_length(words, at); i++) {
		uint32_t operand = words->words[at + i];
		rewrite_put(&changing->out, i < first ? operand : changing->others[operand]);
	}
}

// The same arithmetic in floats. Where the double is rounded to a float, that float is this. (A
// copy would do, too; but translators make a variable of it, in the middle of loops.)
static void put_single(struct changing *changing, size_t at)
{
	const struct spirv_words *words = tare_blocks_changing_words(changing);
	uint32_t result = tare_blocks_changing_word(changing, at, RESULT);
	uint32_t type = single_of(changing, tare_blocks_changing_word(changing, at, 1));

	if (type == 0 || result >= words->bound || !takes_known(changing, at))
		return;
	for (size_t of = changing->narrowed[result]; of; of = changing->narrowed_too[of]) {
		if (of < at || words->words[of + 1] != type)
			continue;
		changing->others[result] = words->words[of + RESULT];
		put_as(changing, at, type, changing->others[result]);
		changing->changed->done[of] = true;
	}
	if (!changing->others[result]) {
		changing->others[result] = rewrite_fresh(&changing->out);
		put_as(changing, at, type, changing->others[result]);
	}
	if (!changing->dropped)
		changing->changed->done[at] = true;
}

// Whether a number that an instruction takes is computed in floats now.
static bool takes_changed(const struct changing *changing, size_t at)
{
	const struct spirv_words *words = tare_blocks_changing_words(changing);

	for (uint32_t i = 3; i < spirv_length(words, at); i++) {
		uint32_t id = words->words[at + i];
		if (id < words->bound && changing->defined[id] &&
		    changing->changed->asked[changing->defined[id]])
			return true;
	}
	return false;
}

// What compares doubles, or makes integers of them, does so with floats. True: it was written.
static bool put_taker(struct changing *changing, size_t at)
{
	const struct spirv_words *words = tare_blocks_changing_words(changing);
	uint32_t op = spirv_op(words, at);
	bool compares = op >= FIRST_COMPARISON && op <= LAST_COMPARISON;

	if ((!compares && op != F_TO_U && op != F_TO_S) || !takes_known(changing, at) ||
	    !(changing->changed->asked[at] || takes_changed(changing, at)))
		return false;
	put_as(changing, at, words->words[at + 1], words->words[at + RESULT]);
	changing->changed->done[at] = true;
	return true;
}

// An integer that becomes a double becomes a float beside it, where floats are computed of it.
static void put_counted(struct changing *changing, size_t at)
{
	const struct spirv_words *words = tare_blocks_changing_words(changing);
	uint32_t op = spirv_op(words, at), result = tare_blocks_changing_word(changing, at, RESULT);
	uint32_t type = single_of(changing, tare_blocks_changing_word(changing, at, 1));

	if ((op != S_TO_F && op != U_TO_F) || !type || result >= words->bound ||
	    !changing->wanted[result])
		return;
	changing->others[result] = rewrite_fresh(&changing->out);
	EMIT(&changing->out, op, type, changing->others[result], words->words[at + 3]);
}

static bool is_dropped(const struct changing *changing, uint32_t id)
{
	return changing->dropped && id < tare_blocks_changing_words(changing)->bound &&
	       changing->dropped[id];
}

// Whether debug information tells of an id that is left out.
static bool tells_of_dropped(const struct changing *changing, size_t at)
{
	const struct spirv_words *words = tare_blocks_changing_words(changing);

	if (!changing->dropped || spirv_op(words, at) != EXTENDED ||
	    !tare_blocks_is_silent(&changing->build->module, at))
		return false;
	for (uint32_t i = 5; i < spirv_length(words, at); i++)
		if (is_dropped(changing, words->words[at + i]))
			return true;
	return false;
}

void tare_blocks_single(struct changing *changing, size_t at)
{
	const struct tare_blocks_module *module = &changing->build->module;
	const struct spirv_words *words = &module->words;
	uint32_t type = tare_blocks_changing_word(changing, at, 1),
	         result = tare_blocks_changing_word(changing, at, RESULT),
	         operand = tare_blocks_changing_word(changing, at, 3);
	bool converts =
	    spirv_op(words, at) == F_CONVERT && result < words->bound && operand < words->bound;

	// It stands where its operand was computed.
	if (converts && changing->changed->done[at])
		return;
	if (tells_of_dropped(changing, at) || put_taker(changing, at))
		return;
	if (!gives_value(module, at) || !is_dropped(changing, result))
		rewrite_copy(&changing->out, at);
	if (converts && single_of(changing, type) &&
	    single_of(changing, type) == module->types[operand])
		changing->others[result] = operand;
	put_counted(changing, at);
	if (!converts && changing->changed->asked[at])
		put_single(changing, at);
}

// ---- what stands before functions

// A list of what has the decorations of a group.
static void put_targets(struct changing *changing, size_t at)
{
	const struct spirv_words *words = tare_blocks_changing_words(changing);
	size_t begin = changing->out.count;

	rewrite_put(&changing->out, words->words[at]);
	for (uint32_t i = 1; i < spirv_length(words, at); i++) {
		uint32_t id = words->words[at + i];
		if (i > 1 && is_dropped(changing, id))
			id = changing->singles[id];
		if (id)
			rewrite_put(&changing->out, id);
	}
	if (!changing->out.failed)
		changing->out.words[begin] =
		    (uint32_t)(changing->out.count - begin) << 16 | SPIRV_GROUP_DECORATE;
}

void tare_blocks_single_global(struct changing *changing, size_t at)
{
	const struct spirv_words *words = tare_blocks_changing_words(changing);
	uint32_t op = spirv_op(words, at), target = tare_blocks_changing_word(changing, at, 1);
	bool names = op == SPIRV_NAME, decorates = op == SPIRV_DECORATE ||
	                                           op == SPIRV_DECORATE_ID ||
	                                           op == SPIRV_DECORATE_STRING;
	size_t begin = changing->out.count,
	       defined = decorates && target < words->bound ? changing->defined[target] : 0;

	if (op == SPIRV_GROUP_DECORATE && changing->dropped) {
		put_targets(changing, at);
		return;
	}
	// Nothing is rounded any more.
	if (defined && spirv_op(words, defined) == F_CONVERT && changing->changed->done[defined] &&
	    tare_blocks_changing_word(changing, at, 2) == ROUNDING_MODE)
		return;
	bool dropped = (names || decorates) && is_dropped(changing, target);
	if (dropped && (names || !changing->singles[target]))
		return;
	rewrite_copy(&changing->out, at);
	if (dropped && !changing->out.failed)
		changing->out.words[begin + 1] = changing->singles[target];
}

// ---- what is needed all the same

// Marks the ids that an instruction takes.
static void need(const struct tare_blocks_module *module, size_t at, bool *needed)
{
	const struct spirv_words *words = &module->words;
	uint32_t op = spirv_op(words, at), first, end = tare_blocks_ids_of(words, at, &first);

	// What debug information names is not needed by what runs.
	if (op == SPIRV_LINE || (op == EXTENDED && tare_blocks_is_silent(module, at)))
		return;
	for (uint32_t i = gives_value(module, at) && first < 3 ? 3 : first; i < end; i++)
		if (words->words[at + i] < words->bound)
			needed[words->words[at + i]] = true;
}

// Takes back what is done to doubles that are needed as they are all the same. True: something was.
static bool keep_doubles(const struct tare_blocks_module *module, size_t functions,
                         const bool *needed, bool *done)
{
	const struct spirv_words *words = &module->words;
	bool any = false;

	for (size_t at = functions; at < words->count; at += spirv_length(words, at))
		if (done[at] && tare_blocks_is_double(module, at) &&
		    needed[words->words[at + RESULT]])
			done[at] = false, any = true;
	return any;
}

// Arithmetic that is in floats now, and floats and integers that nothing takes as doubles.
static void drop(struct changing *changing, size_t functions, const bool *needed)
{
	const struct tare_blocks_module *module = &changing->build->module;
	const struct spirv_words *words = &module->words;

	for (size_t at = functions; at < words->count; at += spirv_length(words, at)) {
		uint32_t op = spirv_op(words, at);
		bool widens = op == F_CONVERT || op == S_TO_F || op == U_TO_F;
		if (!tare_blocks_is_double(module, at) ||
		    (!widens && !changing->changed->done[at]) || needed[words->words[at + RESULT]])
			continue;
		changing->dropped[words->words[at + RESULT]] = true;
		if (!widens)
			changing->singles[words->words[at + RESULT]] =
			    changing->others[words->words[at + RESULT]];
	}
}

int tare_blocks_single_end(struct changing *changing)
{
	const struct tare_blocks_module *module = &changing->build->module;
	const struct spirv_words *words = &module->words;
	bool *needed = calloc((size_t)words->bound + 1, sizeof *needed), again = true;
	size_t functions = SPIRV_HEADER_WORDS;

	while (functions < words->count && spirv_op(words, functions) != SPIRV_FUNCTION)
		functions += spirv_length(words, functions);
	changing->dropped = calloc((size_t)words->bound + 1, sizeof *changing->dropped);
	changing->singles = calloc((size_t)words->bound + 1, sizeof *changing->singles);
	while (needed && again) {
		for (size_t at = functions; at < words->count; at += spirv_length(words, at))
			if (!changing->changed->done[at])
				need(module, at, needed);
		again = keep_doubles(module, functions, needed, changing->changed->done);
	}
	bool well = needed && changing->dropped && changing->singles;
	if (well)
		drop(changing, functions, needed);
	free(needed);
	return well ? 0 : -ENOMEM;
}
