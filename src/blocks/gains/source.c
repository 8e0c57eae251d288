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

// The argument's value in the place of its name, where the kernel's own body divides by it: the
// text of another function is compiled into other kernels, too, and may be given something else
// there. False: it is not surely so.
static bool put_value(const char *clean, const struct tare_blocks_changed *changed, size_t at,
                      struct tare_blocks_edit *edit)
{
	const struct blocks_fixed *fixed = &changed->fixed[changed->divisors[at] - 1];
	size_t place = tare_blocks_text_place(clean, changed->lines[at], changed->columns[at]);
	const char *sign = place < SIZE_MAX ? clean + place : NULL;
	struct tare_blocks_definition of;
	char name[NAME];

	if (!sign || (*sign != '/' && *sign != '%') ||
	    !tare_blocks_text_definition(clean, fixed->kernel, &of) || sign < of.begin ||
	    sign > of.end || !tare_blocks_text_parameter(&of, fixed->argument, name, sizeof name) ||
	    tare_blocks_text_is_written(clean, &of, name))
		return false;
	const char *divisor = tare_blocks_text_skip(sign + 1 + (sign[1] == '='));
	if (!tare_blocks_text_names(divisor, name) || goes_on(divisor + strlen(name)))
		return false;
	*edit = (struct tare_blocks_edit){ (size_t)(divisor - clean), strlen(name), "" };
	snprintf(edit->put, sizeof edit->put, "((__typeof__(%s))%" PRIu64 "UL)", name,
	         fixed->value);
	return true;
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
		changed->done[at] =
		    keeps && (divides ? is_one_divisor(changed, words, at) &&
		                            put_value(clean, changed, at, &one)
		                      : put_native(build, clean, changed, at, &one));
		if (changed->done[at])
			status = tare_blocks_edits_add(edits, &one);
	}
	return status;
}

int tare_blocks_change_source(const struct tare_blocks_build *build, enum tare_blocks_change change,
                              const struct tare_blocks_retry *retry,
                              struct tare_blocks_changed *changed, char **text)
{
	struct tare_blocks_edits edits = { .count = 0 };
	int status = 0;

	if (change == TARE_BLOCKS_IN_SINGLE)
		return tare_blocks_change_floats(build, retry, changed, text);
	char *clean = tare_blocks_text_clean(build->text);
	if (!clean)
		status = -ENOMEM;
	else if (change == TARE_BLOCKS_BY_CONSTANTS || change == TARE_BLOCKS_IN_NATIVE)
		status = edit(build, change, clean, changed, &edits);
	*text = status == 0 ? tare_blocks_edits_make(&edits, build->text) : NULL;
	free(clean);
	free(edits.at);
	return *text ? 0 : -ENOMEM;
}
