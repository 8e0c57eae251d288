// SPDX-License-Identifier: Apache-2.0
// A module that is written anew with counters in it: what instrument.c and globals.c share.
#pragma once
#include "blocks/sample.h"

enum {
	REWRITE_LOAD = 61,
	REWRITE_STORE = 62,
	REWRITE_INPUT = 1, // storage class
};

// What a work-group or a work-item asks where it is: variables of three numbers.
enum rewriting_place { PLACE_GROUP, PLACE_ITEM, PLACE_SIZE, PLACE_COUNT, PLACES };

struct rewriting {
	const struct tare_blocks_module *module;
	const struct tare_blocks_plan *plan;
	uint32_t *words; // what is written
	size_t count, room;
	bool failed; // no memory
	uint32_t bound;
	uint32_t rows, row_counters;
	// ids of types, constants and variables
	uint32_t uint_type, ulong_type, bool_type, triple_type, input_type, pointer_type, own_type;
	uint32_t scope, relaxed, zero, one, mask, stride;
	// where a counter is added to by words of 32 bits (plan->carries)
	uint32_t half_type, half_zero, half_one, half_bits;
	uint32_t places[PLACES];
	bool place_is_new[PLACES];
	uint32_t *function_types; // of each id of a function type: the one with one more parameter
	uint32_t *constants;      // of each counter: its index
	uint32_t *own;            // of each counter: its private variable
	const struct tare_blocks_function *function; // in which we are; NULL: none with a body
	uint32_t parameter, row;                     // of that function
	uint32_t leads, items; // whether the work-item is its group's first, and how many there are
	uint32_t block;        // index of the next one
	bool head;             // of a block: its counter is not yet raised
	// the sample: how it lies, ids of its constants, and the function's sites with the
	// variables of their addresses
	struct tare_blocks_layout layout;
	uint32_t sample_at, sample_items, sample_words, *offsets;
	struct tare_blocks_site sites[TARE_BLOCKS_SITES];
	uint32_t addresses[TARE_BLOCKS_SITES], site_count, next_site;
};

void rewrite_put(struct rewriting *rewriting, uint32_t word);
void rewrite_emit(struct rewriting *rewriting, uint32_t op, const uint32_t *operands,
                  uint32_t count);
#define EMIT(rewriting, op, ...)                                                                   \
	rewrite_emit(rewriting, op, (const uint32_t[]){ __VA_ARGS__ },                             \
	             sizeof((const uint32_t[]){ __VA_ARGS__ }) / sizeof(uint32_t))
// An id that nothing has yet.
uint32_t rewrite_fresh(struct rewriting *rewriting);
// An instruction of the module as it is, and with one more operand.
void rewrite_copy(struct rewriting *rewriting, size_t at);
void rewrite_copy_with(struct rewriting *rewriting, size_t at, uint32_t operand);

// The three numbers of a place.
void rewrite_place(struct rewriting *rewriting, enum rewriting_place place, uint32_t part[3]);

// The sample (sampling.c): variables of a function, their values at its beginning and before an
// access, and what is written before it returns.
void rewrite_sample_variables(struct rewriting *rewriting);
void rewrite_sample_clear(struct rewriting *rewriting);
void rewrite_sample_access(struct rewriting *rewriting, size_t at);
void rewrite_sample_put(struct rewriting *rewriting);
bool rewrite_is_sampled(const struct rewriting *rewriting);

// Adds a value of 64 bits to the counter at a place (addition.c).
void rewrite_addition(struct rewriting *rewriting, uint32_t place, uint32_t value);
// Begins a block that is passed where a condition holds; the id of the one behind it, which the
// second one begins.
uint32_t rewrite_when(struct rewriting *rewriting, uint32_t condition);
void rewrite_out(struct rewriting *rewriting, uint32_t out);

// Chooses the ids of the variables for places, before anything is written.
void rewrite_places(struct rewriting *rewriting);
// What is added behind the module's own capabilities, decorations, and types.
void rewrite_capabilities(struct rewriting *rewriting);
void rewrite_decorations(struct rewriting *rewriting);
void rewrite_globals(struct rewriting *rewriting);
