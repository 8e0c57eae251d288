// SPDX-License-Identifier: Apache-2.0
// What a kernel writes down of its sampled work-items, as it returns (sample.h).
#include "blocks/rewriting.h"

enum {
	CONVERT_PTR_TO_U = 117,
	I_ADD = 128,
	I_MUL = 132,
	LOGICAL_AND = 167,
	I_EQUAL = 170,
	U_LESS_THAN = 176,
	SHIFT_RIGHT_LOGICAL = 194,
	BITWISE_AND = 199,
	PTR_ACCESS_CHAIN = 67,
	BRANCH = 249,
	BRANCH_CONDITIONAL = 250,
};

bool rewrite_is_sampled(const struct rewriting *rewriting)
{
	return rewriting->layout.items && rewriting->leads;
}

void rewrite_sample_variables(struct rewriting *rewriting)
{
	uint32_t function = (uint32_t)(rewriting->function - rewriting->module->functions);

	rewriting->site_count = rewriting->next_site = 0;
	if (!rewriting->layout.items || !rewriting->function->kernel)
		return;
	rewriting->site_count = tare_blocks_sites(rewriting->module, function, rewriting->sites);
	for (uint32_t i = 0; i < rewriting->site_count; i++) {
		rewriting->addresses[i] = rewrite_fresh(rewriting);
		EMIT(rewriting, SPIRV_VARIABLE, rewriting->own_type, rewriting->addresses[i],
		     SPIRV_FUNCTION_STORAGE);
	}
}

void rewrite_sample_clear(struct rewriting *rewriting)
{
	if (!rewrite_is_sampled(rewriting))
		rewriting->site_count = 0;
	for (uint32_t i = 0; i < rewriting->site_count; i++)
		EMIT(rewriting, REWRITE_STORE, rewriting->addresses[i], rewriting->zero);
}

void rewrite_sample_access(struct rewriting *rewriting, size_t at)
{
	if (rewriting->next_site >= rewriting->site_count ||
	    rewriting->sites[rewriting->next_site].at != at)
		return;
	const struct tare_blocks_site *site = &rewriting->sites[rewriting->next_site];
	uint32_t pointer = rewriting->module->words.words[at + (site->store ? 1 : 3)];
	uint32_t address = rewrite_fresh(rewriting);

	EMIT(rewriting, CONVERT_PTR_TO_U, rewriting->ulong_type, address, pointer);
	EMIT(rewriting, REWRITE_STORE, rewriting->addresses[rewriting->next_site++], address);
}

static uint32_t put(struct rewriting *rewriting, uint32_t op, uint32_t type, uint32_t left,
                    uint32_t right)
{
	uint32_t made = rewrite_fresh(rewriting);

	EMIT(rewriting, op, type, made, left, right);
	return made;
}

// x + nx (y + ny z), of a place in what has so many.
static uint32_t put_linear(struct rewriting *rewriting, enum rewriting_place place,
                           enum rewriting_place of)
{
	uint32_t at[3], size[3], type = rewriting->ulong_type;

	rewrite_place(rewriting, place, at);
	rewrite_place(rewriting, of, size);
	uint32_t plane = put(rewriting, I_MUL, type, size[1], at[2]);
	uint32_t row = put(rewriting, I_ADD, type, at[1], plane);
	uint32_t rows = put(rewriting, I_MUL, type, size[0], row);
	return put(rewriting, I_ADD, type, at[0], rows);
}

static uint32_t put_load(struct rewriting *rewriting, uint32_t pointer)
{
	uint32_t value = rewrite_fresh(rewriting);

	EMIT(rewriting, REWRITE_LOAD, rewriting->ulong_type, value, pointer);
	return value;
}

static uint32_t put_word(struct rewriting *rewriting, uint32_t slot, uint32_t index)
{
	return put(rewriting, PTR_ACCESS_CHAIN, rewriting->pointer_type, slot,
	           rewriting->offsets[index]);
}

static void put_values(struct rewriting *rewriting, uint32_t slot, uint32_t stamp)
{
	uint32_t function = (uint32_t)(rewriting->function - rewriting->module->functions), count;
	uint32_t low =
	    tare_blocks_first_counter(rewriting->module, rewriting->plan, function, &count);
	uint32_t first = rewriting->function->first_block;

	EMIT(rewriting, REWRITE_STORE, slot, stamp);
	EMIT(rewriting, REWRITE_STORE, put_word(rewriting, slot, 1), rewriting->items);
	for (uint32_t i = first; i < first + rewriting->function->blocks; i++) {
		uint32_t counter = rewriting->plan->counters[i];
		if (counter == TARE_BLOCKS_DERIVED)
			continue;
		// A group's first work-item counts the function's beginnings for all.
		uint32_t value =
		    i == first ? rewriting->one : put_load(rewriting, rewriting->own[counter]);
		uint32_t to = put_word(rewriting, slot, TARE_BLOCKS_SLOT_HEAD + counter - low);
		EMIT(rewriting, REWRITE_STORE, to, value);
	}
	for (uint32_t i = 0; i < rewriting->site_count; i++) {
		uint32_t value = put_load(rewriting, rewriting->addresses[i]);
		uint32_t to = put_word(rewriting, slot,
		                       TARE_BLOCKS_SLOT_HEAD + rewriting->layout.counters + i);
		EMIT(rewriting, REWRITE_STORE, to, value);
	}
}

void rewrite_sample_put(struct rewriting *rewriting)
{
	uint32_t type = rewriting->ulong_type, yes = rewriting->bool_type;

	if (!rewrite_is_sampled(rewriting))
		return;
	uint32_t group = put_linear(rewriting, PLACE_GROUP, PLACE_COUNT);
	uint32_t item = put_linear(rewriting, PLACE_ITEM, PLACE_SIZE);
	uint32_t base = put(rewriting, PTR_ACCESS_CHAIN, rewriting->pointer_type,
	                    rewriting->parameter, rewriting->sample_at);
	uint32_t mask = put_load(rewriting, base);
	uint32_t shift = put_load(rewriting, put_word(rewriting, base, 1));
	uint32_t rest = put(rewriting, BITWISE_AND, type, group, mask);
	uint32_t chosen = put(rewriting, I_EQUAL, yes, rest, rewriting->zero);
	uint32_t number = put(rewriting, SHIFT_RIGHT_LOGICAL, type, group, shift);
	uint32_t before = put(rewriting, I_MUL, type, number, rewriting->items);
	uint32_t place = put(rewriting, I_ADD, type, before, item);
	uint32_t fits = put(rewriting, U_LESS_THAN, yes, place, rewriting->sample_items);
	uint32_t both = put(rewriting, LOGICAL_AND, yes, chosen, fits);
	uint32_t look = rewrite_fresh(rewriting), write = rewrite_fresh(rewriting),
	         out = rewrite_fresh(rewriting);
	EMIT(rewriting, BRANCH_CONDITIONAL, both, look, out);
	EMIT(rewriting, SPIRV_LABEL, look);
	uint32_t words = put(rewriting, I_MUL, type, place, rewriting->sample_words);
	uint32_t slots = put_word(rewriting, base, TARE_BLOCKS_SAMPLE_HEAD);
	uint32_t slot = put(rewriting, PTR_ACCESS_CHAIN, rewriting->pointer_type, slots, words);
	uint32_t there = put_load(rewriting, slot);
	uint32_t free_slot = put(rewriting, I_EQUAL, yes, there, rewriting->zero);
	// The first launch that has a work-item for a slot keeps it.
	EMIT(rewriting, BRANCH_CONDITIONAL, free_slot, write, out);
	EMIT(rewriting, SPIRV_LABEL, write);
	put_values(rewriting, slot, put(rewriting, I_ADD, type, group, rewriting->one));
	EMIT(rewriting, BRANCH, out);
	EMIT(rewriting, SPIRV_LABEL, out);
}
