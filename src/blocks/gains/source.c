// SPDX-License-Identifier: Apache-2.0
// OpenCL C changed as findings advise. What the driver compiles is then changed in nothing else.
#include "blocks/gains/change.h"
#include "blocks/gains/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME = 48, EXTENDED_NUMBER = 4 };

// ---- divisors

// Whether all that is divided at this place divides by the same argument.
static bool is_one_divisor(const struct tare_blocks_changed *changed, size_t words, size_t at)
{
	for (size_t i = 0; i < words; i++)
		if (changed->asked[i] && changed->lines[i] == changed->lines[at] &&
		    changed->columns[i] == changed->columns[at] &&
		    changed->divisors[i] != changed->divisors[at])
			return false;
	return true;
}

// Whether a name and what stands behind it are one expression, as n[1] and n.x are.
static bool goes_on(const char *behind)
{
	behind = tare_blocks_text_skip(behind);
	return (*behind && strchr("([.\\#", *behind)) || strncmp(behind, "->", 2) == 0 ||
	       strncmp(behind, "++", 2) == 0 || strncmp(behind, "--", 2) == 0;
}

// The argument's value in the place of its name, if what stands at a sign divides by that.
static bool put_value(const char *clean, const char *sign, const char *name, uint64_t value,
                      struct tare_blocks_edit *edit)
{
	const char *divisor = tare_blocks_text_skip(sign + 1 + (sign[1] == '='));

	if ((*sign != '/' && *sign != '%') || !tare_blocks_text_names(divisor, name) ||
	    goes_on(divisor + strlen(name)))
		return false;
	*edit = (struct tare_blocks_edit){ (size_t)(divisor - clean), strlen(name), "" };
	snprintf(edit->put, sizeof edit->put, "((__typeof__(%s))%" PRIu64 "UL)", name, value);
	return true;
}

// The same wherever the kernel's own body divides by the argument: what was one division after the
// optimisation may be two in the text, a / n and a % n. (The text of another function is compiled
// into other kernels, too, and may be given something else there.) False: what stands at the
// division's place is surely none of them. *status: -ENOMEM.
static bool put_values(const char *clean, const struct tare_blocks_changed *changed, size_t at,
                       struct tare_blocks_edits *edits, int *status)
{
	const struct blocks_fixed *fixed = &changed->fixed[changed->divisors[at] - 1];
	size_t place = tare_blocks_text_place(clean, changed->lines[at], changed->columns[at]);
	const char *sign = place < SIZE_MAX ? clean + place : NULL;
	struct tare_blocks_definition of;
	struct tare_blocks_edit one;
	char name[NAME];

	if (!sign || !tare_blocks_text_definition(clean, fixed->kernel, &of) || sign < of.begin ||
	    sign > of.end || !tare_blocks_text_parameter(&of, fixed->argument, name, sizeof name) ||
	    tare_blocks_text_is_written(clean, &of, name) ||
	    !put_value(clean, sign, name, fixed->value, &one))
		return false;
	for (const char *each = of.begin; *status == 0 && each < of.end; each++)
		if (put_value(clean, each, name, fixed->value, &one))
			*status = tare_blocks_edits_add(edits, &one);
	return *status == 0;
}

// ---- functions

// "native_" before the function's name, where that is called by it.
static bool put_native(const struct tare_blocks_build *build, const char *clean,
                       const struct tare_blocks_changed *changed, size_t at,
                       struct tare_blocks_edit *edit)
{
	size_t place = tare_blocks_text_place(clean, changed->lines[at], changed->columns[at]);
	uint32_t number = build->module.words.words[at + EXTENDED_NUMBER];

	for (const struct tare_blocks_native *of = tare_blocks_natives;
	     of->name && place < SIZE_MAX; of++) {
		const char *name = clean + place;
		if (of->exact != number || !tare_blocks_text_names(name, of->name) ||
		    *tare_blocks_text_skip(name + strlen(of->name)) != '(' ||
		    tare_blocks_text_is_macro(clean, of->name))
			continue;
		*edit = (struct tare_blocks_edit){ place, 0, "native_" };
		return true;
	}
	return false;
}

// ---- the whole kernel, or the whole text

// Adds to what is put at a place. False: there is no room for it.
static bool put_more(struct tare_blocks_edits *edits, size_t at, const char *more, int *status)
{
	struct tare_blocks_edit one = { .at = at };

	for (size_t i = 0; i < edits->count; i++) {
		size_t used = strlen(edits->at[i].put);
		if (edits->at[i].at != at || edits->at[i].bytes)
			continue;
		if (strstr(edits->at[i].put, more))
			return true;
		if (used + strlen(more) >= sizeof one.put)
			return false;
		memcpy(edits->at[i].put + used, more, strlen(more) + 1);
		return true;
	}
	snprintf(one.put, sizeof one.put, "%s", more);
	*status = tare_blocks_edits_add(edits, &one);
	return *status == 0;
}

// The argument's value in a variable of its name, which all of the kernel's body takes for it.
static bool put_variable(const char *clean, const struct blocks_fixed *fixed,
                         struct tare_blocks_edits *edits, int *status)
{
	struct tare_blocks_definition of;
	char name[NAME], variable[4 * NAME];

	if (!tare_blocks_text_definition(clean, fixed->kernel, &of) ||
	    !tare_blocks_text_parameter(&of, fixed->argument, name, sizeof name) ||
	    tare_blocks_text_is_macro(clean, name))
		return false;
	snprintf(variable, sizeof variable, "__typeof__(%s) %s = (__typeof__(%s))%" PRIu64 "UL;",
	         name, name, name, fixed->value);
	size_t begin = (size_t)(of.begin + 1 - clean);
	return put_more(edits, begin, "{", status) && put_more(edits, begin, variable, status) &&
	       put_more(edits, (size_t)(of.end - clean), "}", status);
}

// The name of a function with a native form, as a macro for it before the text.
static bool put_macro(const struct tare_blocks_build *build, const char *clean, size_t at,
                      struct tare_blocks_edits *edits, int *status)
{
	uint32_t number = build->module.words.words[at + EXTENDED_NUMBER];
	char macro[2 * NAME];

	for (const struct tare_blocks_native *of = tare_blocks_natives; of->name; of++) {
		if (of->exact != number || tare_blocks_text_is_macro(clean, of->name))
			continue;
		snprintf(macro, sizeof macro, "#undef %s\n#define %s native_%s\n", of->name,
		         of->name, of->name);
		return put_more(edits, 0, macro, status);
	}
	return false;
}

// ---- the whole

// Edits the text where instructions stand that the change is to reach.
static int edit(const struct tare_blocks_build *build, enum tare_blocks_change change,
                const char *clean, struct tare_blocks_changed *changed,
                struct tare_blocks_edits *edits)
{
	bool keeps = tare_blocks_text_keeps_lines(clean),
	     divides = change == TARE_BLOCKS_BY_CONSTANTS;
	size_t words = build->module.words.count;
	int status = 0;

	for (size_t at = 0; status == 0 && at < words; at++) {
		struct tare_blocks_edit one;
		if (!changed->done[at])
			continue;
		if (!keeps) {
			changed->done[at] = false;
		} else if (divides) {
			changed->done[at] = is_one_divisor(changed, words, at) &&
			                    put_values(clean, changed, at, edits, &status);
		} else {
			changed->done[at] = put_native(build, clean, changed, at, &one);
			if (changed->done[at])
				status = tare_blocks_edits_add(edits, &one);
		}
	}
	return status;
}

struct changing_text {
	const struct tare_blocks_build *build;
	enum tare_blocks_change change;
	const struct tare_blocks_retry *retry;
	struct tare_blocks_changed *changed;
	char *clean;
	bool *missed; // of each word: the change reaches it, and no place in the text is surely it
};

// Edits for what has no place of its own. 0 or -ENOMEM.
static int edit_missed(const struct changing_text *text, struct tare_blocks_edits *edits)
{
	struct tare_blocks_changed *changed = text->changed;
	int status = 0;
	bool any = false;

	for (size_t at = 0; status == 0 && at < text->build->module.words.count; at++) {
		if (!text->missed[at])
			continue;
		const struct blocks_fixed *fixed =
		    changed->divisors[at] ? &changed->fixed[changed->divisors[at] - 1] : NULL;
		if (text->change != TARE_BLOCKS_BY_CONSTANTS)
			any |= put_macro(text->build, text->clean, at, edits, &status);
		else if (tare_blocks_only_divides(&text->build->module, fixed))
			put_variable(text->clean, fixed, edits, &status);
	}
	if (status == 0 && any)
		put_more(edits, 0, "#line 1\n", &status);
	return status;
}

// Takes a text with edits for all, if it compiles and reaches more. 0 or -ENOMEM.
static int take_missed(const struct changing_text *text, char *made, char **taken)
{
	enum tare_blocks_advice advice = text->change == TARE_BLOCKS_BY_CONSTANTS
	                                     ? TARE_BLOCKS_DIVISIONS
	                                     : TARE_BLOCKS_FUNCTIONS;
	struct tare_blocks_module module = { .block_count = 0 };
	struct tare_error why = { 0 };
	uint32_t lines = 1;
	bool any = false;

	for (const char *at = text->build->text; (at = strchr(at, '\n')); at++)
		lines++;
	bool *left = calloc((size_t)lines + 1, sizeof *left);
	int status = left ? tare_blocks_compile_text(text->retry->from, text->retry->folder,
	                                             text->build, made, "", &module, &why)
	                  : -ENOMEM;
	bool compiles = status == 0;
	if (compiles)
		status = tare_blocks_lines_left(text->build, &module, advice, left, lines);
	for (size_t at = 0; compiles && status >= 0 && at < text->build->module.words.count; at++) {
		uint32_t line = text->changed->lines[at];
		if (!text->missed[at] || !line || line > lines || left[line])
			continue;
		text->changed->done[at] = any = true;
	}
	tare_blocks_module_free(&module);
	free(left);
	if (any) {
		free(*taken);
		*taken = made;
	} else {
		free(made);
	}
	return status == -ENOMEM ? status : 0;
}

static int edit_all(const struct changing_text *text, char **made)
{
	struct tare_blocks_changed *changed = text->changed;
	struct tare_blocks_edits edits = { .count = 0 };
	size_t words = text->build->module.words.count;
	bool missed = false;

	memcpy(text->missed, changed->done, words * sizeof *changed->done);
	int status = edit(text->build, text->change, text->clean, changed, &edits);
	*made = status == 0 ? tare_blocks_edits_make(&edits, text->build->text) : NULL;
	for (size_t at = 0; at < words; at++) {
		text->missed[at] &= !changed->done[at];
		missed |= text->missed[at];
	}
	if (*made && missed && tare_blocks_text_keeps_lines(text->clean)) {
		status = edit_missed(text, &edits);
		char *more = status == 0 ? tare_blocks_edits_make(&edits, text->build->text) : NULL;
		status = more ? take_missed(text, more, made) : -ENOMEM;
	}
	free(edits.at);
	return *made ? status : -ENOMEM;
}

int tare_blocks_change_source(const struct tare_blocks_build *build, enum tare_blocks_change change,
                              const struct tare_blocks_retry *retry,
                              struct tare_blocks_changed *changed, char **text)
{
	struct changing_text of = { build, change, retry, changed, NULL, NULL };
	int status = -ENOMEM;

	*text = NULL;
	if (change == TARE_BLOCKS_IN_SINGLE)
		return tare_blocks_change_floats(build, retry, changed, text);
	if (change == TARE_BLOCKS_REGROUPED) {
		*text = strdup(build->text);
		return *text ? 0 : -ENOMEM;
	}
	of.clean = tare_blocks_text_clean(build->text);
	of.missed = calloc(build->module.words.count + 1, sizeof *of.missed);
	if (of.clean && of.missed)
		status = edit_all(&of, text);
	free(of.clean);
	free(of.missed);
	return status;
}
