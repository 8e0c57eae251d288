// SPDX-License-Identifier: Apache-2.0
// Constants that are doubles become floats in OpenCL C: those on lines on which all doubles hang on
// such. The text is compiled once more, to see that nothing else changes.
#include "blocks/gains/change.h"
#include "blocks/gains/text.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { S_TO_F = 111, U_TO_F = 112, F_CONVERT = 115, MOST_TRIES = 3 };

// ---- constants of a line

// The next constant from `at` that is a double: its end in *end. NULL: none.
static const char *double_in(const char *at, const char *line_end, const char **end)
{
	for (bool behind = false; at < line_end;
	     behind = tare_blocks_text_is_word(*at) || *at == '.', at++) {
		if (behind || (!isdigit((unsigned char)*at) && *at != '.') ||
		    (at[0] == '0' && (at[1] | 0x20) == 'x'))
			continue;
		const char *last = at + strspn(at, "0123456789");
		bool point = *last == '.';
		last += point ? 1 + strspn(last + 1, "0123456789") : 0;
		bool digits = last - at > point;
		if (digits && (*last | 0x20) == 'e') {
			const char *power = last + 1 + (last[1] == '+' || last[1] == '-');
			point |= isdigit((unsigned char)*power) != 0;
			last = power + strspn(power, "0123456789");
		}
		*end = last;
		if (point && digits && !tare_blocks_text_is_word(*last) && *last != '.' &&
		    *last != '\\')
			return at;
		at = last > at ? last - 1 : at;
	}
	return NULL;
}

struct floating {
	const struct tare_blocks_build *build;
	struct tare_blocks_changed *changed;
	const char *clean;
	bool *refused; // of each line
	uint32_t lines;
};

static bool converts(const struct tare_blocks_module *module, size_t at)
{
	uint32_t op = spirv_op(&module->words, at);

	return op == F_CONVERT || op == S_TO_F || op == U_TO_F;
}

// Lines with doubles that are no part of the finding, or cannot all be changed.
static void refuse_others(struct floating *floating)
{
	const struct tare_blocks_module *module = &floating->build->module;
	const struct tare_blocks_changed *changed = floating->changed;

	for (size_t at = SPIRV_HEADER_WORDS; at < module->words.count;
	     at += spirv_length(&module->words, at))
		if (!changed->done[at] && changed->lines[at] <= floating->lines &&
		    (changed->asked[at] ||
		     (!converts(module, at) && tare_blocks_is_double(module, at))))
			floating->refused[changed->lines[at]] = true;
}

static int edit_line(const struct floating *floating, uint32_t line,
                     struct tare_blocks_edits *edits)
{
	size_t place = tare_blocks_text_place(floating->clean, line, 1);
	const char *at = place < SIZE_MAX ? floating->clean + place : "", *end;
	const char *line_end = at + strcspn(at, "\n");
	int status = 0;

	while (status == 0 && (at = double_in(at, line_end, &end))) {
		const struct tare_blocks_edit edit = { (size_t)(end - floating->clean), 0, "f" };
		status = tare_blocks_edits_add(edits, &edit);
		at = end;
	}
	return status;
}

// The text with the constants of all lines that are not refused as floats. 0 or -ENOMEM.
static int edit_lines(const struct floating *floating, char **text)
{
	const struct tare_blocks_changed *changed = floating->changed;
	struct tare_blocks_edits edits = { .count = 0 };
	bool *seen = calloc((size_t)floating->lines + 1, sizeof *seen);
	int status = seen ? 0 : -ENOMEM;

	for (size_t at = 0; status == 0 && at < floating->build->module.words.count; at++) {
		uint32_t line = changed->lines[at];
		if (!changed->done[at] || !line || line > floating->lines || seen[line] ||
		    floating->refused[line])
			continue;
		seen[line] = true;
		status = edit_line(floating, line, &edits);
	}
	*text = status == 0 ? tare_blocks_edits_make(&edits, floating->build->text) : NULL;
	free(seen);
	free(edits.at);
	return *text ? 0 : -ENOMEM;
}

// ---- what the compiler makes of it

static bool has_constant(const struct spirv_words *words, const uint32_t bits[2])
{
	for (size_t at = SPIRV_HEADER_WORDS;
	     at < words->count && spirv_op(words, at) != SPIRV_FUNCTION;
	     at += spirv_length(words, at))
		if (spirv_op(words, at) == SPIRV_CONSTANT && spirv_length(words, at) == 5 &&
		    memcmp(&words->words[at + 3], bits, 2 * sizeof *bits) == 0)
			return true;
	return false;
}

// Whether a double has another value than any had before: a constant of other arithmetic was
// changed.
static bool changes_others(const struct tare_blocks_module *before,
                           const struct tare_blocks_module *after)
{
	const struct spirv_words *words = &after->words;

	for (size_t at = SPIRV_HEADER_WORDS;
	     at < words->count && spirv_op(words, at) != SPIRV_FUNCTION;
	     at += spirv_length(words, at))
		if (spirv_op(words, at) == SPIRV_CONSTANT && spirv_length(words, at) == 5 &&
		    tare_blocks_is_double(after, at) &&
		    !has_constant(&before->words, &words->words[at + 3]))
			return true;
	return false;
}

struct others {
	bool *seen;
};

static void see_other(void *context, enum tare_blocks_advice advice,
                      const struct tare_blocks_seen *seen)
{
	const struct others *others = context;

	if (advice == TARE_BLOCKS_DOUBLES)
		others->seen[seen->at] = true;
}

// How many instructions compute doubles that are no part of the finding. 0 or -ENOMEM.
static int count_others(const struct tare_blocks_module *module, uint32_t *count)
{
	struct others others = { calloc(module->words.count + 1, sizeof *others.seen) };
	const struct tare_blocks_seeing seeing = { see_other, &others };
	int status = others.seen ? tare_blocks_see_all(module, &seeing) : -ENOMEM;

	bool inside = false;

	*count = 0;
	for (size_t at = SPIRV_HEADER_WORDS; status == 0 && at < module->words.count;
	     at += spirv_length(&module->words, at)) {
		inside |= spirv_op(&module->words, at) == SPIRV_FUNCTION;
		*count += inside && !others.seen[at] && !converts(module, at) &&
		          tare_blocks_is_double(module, at);
	}
	free(others.seen);
	return status;
}

// Whether other doubles are computed as they were: by the same constants, and as many.
static int keeps_others(const struct tare_blocks_module *before,
                        const struct tare_blocks_module *after, bool *keeps)
{
	uint32_t old = 0, new = 0;
	int status = count_others(before, &old) ?: count_others(after, &new);

	*keeps = status == 0 && old == new && !changes_others(before, after);
	return status;
}

// 0: the text does what it should, 1: lines were refused, or -ENOMEM. *well: it can be had at all.
static int check(struct floating *floating, const struct tare_blocks_retry *retry, const char *text,
                 const char *options, bool *well)
{
	struct tare_blocks_module module = { .block_count = 0 };
	struct tare_error why = { 0 };
	int status = tare_blocks_compile_text(retry->from, retry->folder, floating->build, text,
	                                      options, &module, &why);

	*well = false;
	if (status == 0)
		status = keeps_others(&floating->build->module, &module, well);
	status = *well ? tare_blocks_lines_left(floating->build, &module, TARE_BLOCKS_DOUBLES,
	                                        floating->refused, floating->lines)
	         : status == -ENOMEM ? status
	                             : 0;
	tare_blocks_module_free(&module);
	return status;
}

static int try_floats(struct floating *floating, const struct tare_blocks_retry *retry, char **text,
                      bool *well)
{
	int status = 1;

	refuse_others(floating);
	for (int tries = 0; status == 1 && tries < MOST_TRIES; tries++) {
		free(*text);
		status = edit_lines(floating, text);
		*well = status == 0 && strcmp(*text, floating->build->text) != 0;
		if (*well)
			status = check(floating, retry, *text, "", well);
	}
	*well &= status == 0;
	return status < 0 ? status : 0;
}

// How many of the finding's instructions are changed.
static uint32_t reached(const struct floating *floating)
{
	const struct tare_blocks_changed *changed = floating->changed;
	uint32_t count = 0;

	for (size_t at = 0; at < floating->build->module.words.count; at++)
		count += changed->done[at] && changed->lines[at] &&
		         changed->lines[at] <= floating->lines &&
		         !floating->refused[changed->lines[at]];
	return count;
}

// Where constants are not on the lines, as macros' are not, an option makes floats of all of them,
// if that changes no other arithmetic. It is taken where it reaches more than the text does. 0 or
// -ENOMEM.
static int try_option(struct floating *floating, const struct tare_blocks_retry *retry,
                      uint32_t by_text, char **text, bool *well)
{
	static const char option[] = "-cl-single-precision-constant";
	bool *refused = floating->refused, fine = false;

	floating->refused = calloc((size_t)floating->lines + 1, sizeof *refused);
	int status = floating->refused
	                 ? check(floating, retry, floating->build->text, option, &fine)
	                 : -ENOMEM;
	if (status < 0 || !fine || reached(floating) <= by_text) {
		free(floating->refused);
		floating->refused = refused;
		return status < 0 ? status : 0;
	}
	free(refused);
	free(*text);
	*text = strdup(floating->build->text);
	floating->changed->options = option;
	*well = true;
	return *text ? 0 : -ENOMEM;
}

static int make(struct floating *floating, const struct tare_blocks_retry *retry, char **text,
                bool *well)
{
	uint32_t all = reached(floating);
	int status = try_floats(floating, retry, text, well);
	uint32_t by_text = *well ? reached(floating) : 0;

	return status == 0 && by_text < all ? try_option(floating, retry, by_text, text, well)
	                                    : status;
}

int tare_blocks_change_floats(const struct tare_blocks_build *build,
                              const struct tare_blocks_retry *retry,
                              struct tare_blocks_changed *changed, char **text)
{
	struct floating floating = { .build = build,
		                     .changed = changed,
		                     .clean = tare_blocks_text_clean(build->text),
		                     .lines = 1 };
	bool well = false;
	int status = -ENOMEM;

	for (const char *at = build->text; (at = strchr(at, '\n')); at++)
		floating.lines++;
	floating.refused = calloc((size_t)floating.lines + 1, sizeof *floating.refused);
	*text = NULL;
	if (floating.clean && floating.refused)
		status = tare_blocks_text_keeps_lines(floating.clean)
		             ? make(&floating, retry, text, &well)
		             : 0;
	if (status == 0 && !well) {
		free(*text);
		*text = strdup(build->text);
	}
	for (size_t at = 0; at < build->module.words.count; at++)
		changed->done[at] &= well && changed->lines[at] &&
		                     changed->lines[at] <= floating.lines &&
		                     !floating.refused[changed->lines[at]];
	free((void *)(uintptr_t)floating.clean);
	free(floating.refused);
	return status < 0 ? status : *text ? 0 : -ENOMEM;
}
