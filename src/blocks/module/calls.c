// SPDX-License-Identifier: Apache-2.0
#include "blocks/module/calls.h"

#include <stdlib.h>

// A module with more functions is not searched for circles of calls.
enum { MOST_FUNCTIONS = 1000 };

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

const struct tare_blocks_function *tare_blocks_function_of(const struct tare_blocks_module *module,
                                                           uint32_t id)
{
	for (uint32_t i = 0; i < module->function_count; i++)
		if (module->functions[i].id == id && module->functions[i].blocks)
			return &module->functions[i];
	return NULL;
}

// How often a module calls a function.
static uint32_t calls_of(const struct spirv_words *words, uint32_t function)
{
	uint32_t calls = 0;

	for (size_t at = SPIRV_HEADER_WORDS; at < words->count; at += spirv_length(words, at))
		calls += spirv_op(words, at) == SPIRV_CALL && words->words[at + 3] == function;
	return calls;
}

bool tare_blocks_is_launched(const struct tare_blocks_module *module,
                             const struct tare_blocks_function *function)
{
	const struct spirv_words *words = &module->words;

	if (!function->counted)
		return false;
	if (!tare_blocks_has_words(module))
		return function->kernel != NULL;
	return is_entry(module, function->id)
	           ? calls_of(words, function->id) == 0
	           : function->kernel && calls_of(words, function->id) == 1;
}

// ---- circles

struct search {
	const struct tare_blocks_module *module;
	bool *seen;      // by place of the function
	uint32_t *stack; // places
	uint32_t depth;
};

static void look_at(void *context, size_t at, uint32_t file, uint32_t line)
{
	struct search *search = context;
	const struct spirv_words *words = &search->module->words;

	(void)file;
	(void)line;
	if (spirv_op(words, at) != SPIRV_CALL)
		return;
	const struct tare_blocks_function *to =
	    tare_blocks_function_of(search->module, words->words[at + 3]);
	if (!to || search->seen[to - search->module->functions])
		return;
	search->seen[to - search->module->functions] = true;
	search->stack[search->depth++] = (uint32_t)(to - search->module->functions);
}

static void look_into(struct search *search, uint32_t function)
{
	const struct tare_blocks_function *of = &search->module->functions[function];

	for (uint32_t i = 0; i < of->blocks; i++)
		tare_blocks_each(search->module, of->first_block + i, look_at, search);
}

bool tare_blocks_is_told_by_calls(const struct tare_blocks_module *module,
                                  const struct tare_blocks_function *function)
{
	uint32_t place = (uint32_t)(function - module->functions);

	if (!tare_blocks_has_words(module) || !function->counted || function->kernel ||
	    is_entry(module, function->id) || module->function_count > MOST_FUNCTIONS)
		return false;
	struct search search = { .module = module,
		                 .seen = calloc(module->function_count, sizeof *search.seen),
		                 .stack = calloc(module->function_count, sizeof *search.stack) };
	bool circle = !search.seen || !search.stack;
	if (!circle)
		look_into(&search, place);
	while (!circle && search.depth)
		look_into(&search, search.stack[--search.depth]);
	circle = circle || search.seen[place];
	free(search.seen);
	free(search.stack);
	return !circle;
}
