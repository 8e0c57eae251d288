// SPDX-License-Identifier: Apache-2.0
#include "blocks/module/module.h"

#include "blocks/module/classify.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	PHI = 245,
	BRANCH = 249,
	BRANCH_CONDITIONAL = 250,
	SWITCH = 251,
	RETURN = 253,
	EXTENDED = 12,
	KERNEL_MODEL = 6,
	NO_RESULT = 3, // words of the shortest instruction with a type and a result
};

// Ids for each word that a module may name: more are no module that a compiler wrote.
#define IDS_A_WORD 16

struct reading {
	struct tare_blocks_module *module;
	uint32_t function; // index + 1; 0: outside
	bool in_block;
	uint32_t file, line; // of the instructions that follow
};

static uint32_t word(const struct tare_blocks_module *module, size_t at, uint32_t index)
{
	return index < spirv_length(&module->words, at) ? module->words.words[at + index] : 0;
}

static bool is_type(const struct tare_blocks_module *module, uint32_t id)
{
	const struct spirv_id *found = spirv_find(&module->words, id);
	uint32_t op = found ? spirv_op(&module->words, found->at) : 0;

	return (op >= SPIRV_TYPE_VOID && op <= SPIRV_TYPE_PIPE) || op == SPIRV_UNTYPED_POINTER;
}

// An instruction whose first operand is a type has a result of that type.
static int read_types(struct tare_blocks_module *module, struct tare_error *error)
{
	const struct spirv_words *words = &module->words;

	if (words->bound / IDS_A_WORD > words->count)
		return tare_fail(error, ENOTSUP, "the module's ids are too many for its size");
	module->types = calloc((size_t)words->bound + 1, sizeof *module->types);
	if (!module->types)
		return tare_fail(error, ENOMEM, "out of memory");
	for (size_t at = SPIRV_HEADER_WORDS; at < words->count; at += spirv_length(words, at)) {
		uint32_t result = word(module, at, 2);
		uint32_t op = spirv_op(words, at);
		if (spirv_length(words, at) < NO_RESULT || result == 0 || result >= words->bound ||
		    op < EXTENDED || (op >= SPIRV_TYPE_VOID && op <= SPIRV_TYPE_PIPE))
			continue;
		if (is_type(module, word(module, at, 1)))
			module->types[result] = word(module, at, 1);
	}
	return 0;
}

// ---- how much there is

static int make_room(struct tare_blocks_module *module, struct tare_error *error)
{
	const struct spirv_words *words = &module->words;
	size_t functions = 0, blocks = 0, instructions = 0, targets = 0;

	for (size_t at = SPIRV_HEADER_WORDS; at < words->count; at += spirv_length(words, at)) {
		uint32_t op = spirv_op(words, at);
		functions += op == SPIRV_FUNCTION;
		blocks += op == SPIRV_LABEL;
		instructions++;
		targets += op >= BRANCH && op <= SWITCH ? spirv_length(words, at) : 0;
	}
	module->functions = calloc(functions + 1, sizeof *module->functions);
	module->blocks = calloc(blocks + 1, sizeof *module->blocks);
	module->successors = calloc(targets + 1, sizeof *module->successors);
	// Given back where lines share a piece.
	module->pieces = calloc(instructions + 1, sizeof *module->pieces);
	if (!module->functions || !module->blocks || !module->successors || !module->pieces)
		return tare_fail(error, ENOMEM, "out of memory");
	return 0;
}

// ---- blocks

static void begin_block(struct reading *reading, size_t at)
{
	struct tare_blocks_module *module = reading->module;
	struct tare_blocks_function *function = &module->functions[reading->function - 1];

	if (function->blocks++ == 0)
		function->first_block = module->block_count;
	module->blocks[module->block_count++] =
	    (struct tare_blocks_block){ .function = reading->function - 1,
		                        .label = word(module, at, 1),
		                        .at = at,
		                        .first_piece = module->piece_count,
		                        .first_successor = module->successor_count };
	reading->in_block = true;
	reading->file = reading->line = 0;
}

static struct tare_blocks_piece *piece_of(struct reading *reading)
{
	struct tare_blocks_module *module = reading->module;
	struct tare_blocks_block *block = &module->blocks[module->block_count - 1];

	for (uint32_t i = 0; i < block->pieces; i++) {
		struct tare_blocks_piece *piece = &module->pieces[block->first_piece + i];
		if (piece->file == reading->file && piece->line == reading->line)
			return piece;
	}
	struct tare_blocks_piece *piece = &module->pieces[module->piece_count++];
	block->pieces++;
	piece->file = reading->file;
	piece->line = reading->line;
	return piece;
}

static void add_successor(struct tare_blocks_module *module, uint32_t label)
{
	module->successors[module->successor_count++] = label;
	module->blocks[module->block_count - 1].successors++;
}

// A switch's literals are as wide as its selector.
static void add_cases(struct tare_blocks_module *module, size_t at)
{
	uint32_t selector = word(module, at, 1);
	const uint32_t type = selector < module->words.bound ? module->types[selector] : 0;
	const struct spirv_id *found = spirv_find(&module->words, type);
	uint32_t step = found && found->bytes == 8 ? 3 : 2;

	add_successor(module, word(module, at, 2));
	for (uint32_t i = 3; i + step - 1 < spirv_length(&module->words, at); i += step)
		add_successor(module, word(module, at, i + step - 1));
}

static void end_block(struct reading *reading, size_t at)
{
	struct tare_blocks_module *module = reading->module;
	uint32_t op = spirv_op(&module->words, at);

	if (op == BRANCH)
		add_successor(module, word(module, at, 1));
	else if (op == BRANCH_CONDITIONAL) {
		add_successor(module, word(module, at, 2));
		add_successor(module, word(module, at, 3));
	} else if (op == SWITCH)
		add_cases(module, at);
	reading->in_block = false;
}

static void read_line(struct reading *reading, size_t at)
{
	bool none = spirv_op(&reading->module->words, at) == SPIRV_NO_LINE;
	uint32_t line = none ? 0 : word(reading->module, at, 2);

	// Line 0 is an optimiser's: it belongs to no line.
	reading->file = line ? word(reading->module, at, 1) : 0;
	reading->line = line;
}

static void read_instruction(struct reading *reading, size_t at)
{
	struct tare_blocks_module *module = reading->module;
	uint32_t op = spirv_op(&module->words, at);

	if (op == SPIRV_FUNCTION) {
		uint32_t id = word(module, at, 2);
		module->functions[module->function_count++] = (struct tare_blocks_function){
			.id = id, .name = spirv_name(&module->words, id), .counted = true
		};
		reading->function = module->function_count;
	} else if (op == SPIRV_FUNCTION_END)
		reading->function = 0;
	else if (op == SPIRV_LABEL && reading->function)
		begin_block(reading, at);
	else if (op == SPIRV_LINE || op == SPIRV_NO_LINE)
		read_line(reading, at);
	else if (reading->in_block && !tare_blocks_is_silent(module, at)) {
		tare_blocks_classify(module, at, &piece_of(reading)->tally);
		if (op >= BRANCH && op < 256)
			end_block(reading, at);
	}
}

// Successors were labels; they become the blocks' places.
static int resolve(struct tare_blocks_module *module, struct tare_error *error)
{
	uint32_t *places = calloc((size_t)module->words.bound + 1, sizeof *places);

	if (!places)
		return tare_fail(error, ENOMEM, "out of memory");
	for (uint32_t i = 0; i < module->block_count; i++)
		if (module->blocks[i].label < module->words.bound)
			places[module->blocks[i].label] = i + 1;
	for (uint32_t i = 0; i < module->successor_count; i++) {
		uint32_t label = module->successors[i];
		module->successors[i] =
		    label < module->words.bound && places[label] ? places[label] - 1 : UINT32_MAX;
	}
	free(places);
	return 0;
}

static void sum_blocks(struct tare_blocks_module *module)
{
	for (uint32_t i = 0; i < module->block_count; i++) {
		struct tare_blocks_block *block = &module->blocks[i];
		for (uint32_t k = 0; k < block->pieces; k++)
			tare_blocks_add(&block->tally,
			                &module->pieces[block->first_piece + k].tally, 1);
	}
}

// ---- kernels

static struct tare_blocks_function *function_of(struct tare_blocks_module *module, uint32_t id)
{
	for (uint32_t i = 0; i < module->function_count; i++)
		if (module->functions[i].id == id && module->functions[i].blocks)
			return &module->functions[i];
	return NULL;
}

// What a function calls that does nothing but hand its arguments on, as translators write for a
// kernel that the module calls too; 0: it does more.
static uint32_t handed_to(const struct tare_blocks_module *module,
                          const struct tare_blocks_function *function)
{
	const struct spirv_words *words = &module->words;
	size_t at = module->blocks[function->first_block].at;
	uint32_t called = 0;

	if (function->blocks != 1)
		return 0;
	for (at += spirv_length(words, at); at < words->count; at += spirv_length(words, at)) {
		uint32_t op = spirv_op(words, at);
		if (op == RETURN)
			return called;
		if (tare_blocks_is_silent(module, at))
			continue;
		if (op != SPIRV_CALL || called)
			return 0;
		called = word(module, at, 3);
	}
	return 0;
}

static void name_kernels(struct tare_blocks_module *module)
{
	const struct spirv_words *words = &module->words;

	for (size_t at = SPIRV_HEADER_WORDS; at < words->count; at += spirv_length(words, at)) {
		if (spirv_op(words, at) != SPIRV_ENTRY_POINT || word(module, at, 1) != KERNEL_MODEL)
			continue;
		struct tare_blocks_function *entry = function_of(module, word(module, at, 2));
		const char *name = spirv_text(words, at, 3);
		if (!entry || !name)
			continue;
		uint32_t to = handed_to(module, entry);
		struct tare_blocks_function *body = to ? function_of(module, to) : NULL;
		if (body && strcmp(body->name, name) == 0)
			entry->counted = false;
		else
			body = entry;
		body->kernel = name;
		if (!body->name[0])
			body->name = name;
	}
}

int tare_blocks_module_read(const void *data, size_t bytes, struct tare_blocks_module *module,
                            struct tare_error *error)
{
	struct reading reading = { .module = module };
	int status;

	*module = (struct tare_blocks_module){ .words = { .words = NULL } };
	status = spirv_words_read(data, bytes, &module->words, error);
	if (status < 0)
		return status;
	if (module->words.address_bits != 64)
		return tare_fail(error, ENOTSUP, "the module's addresses do not have 64 bits");
	status = read_types(module, error);
	status = status ?: make_room(module, error);
	if (status < 0)
		return status;
	for (size_t at = SPIRV_HEADER_WORDS; at < module->words.count;
	     at += spirv_length(&module->words, at))
		read_instruction(&reading, at);
	status = resolve(module, error);
	if (status < 0)
		return status;
	sum_blocks(module);
	name_kernels(module);
	return 0;
}

void tare_blocks_module_free(struct tare_blocks_module *module)
{
	spirv_words_free(&module->words);
	free(module->types);
	free(module->functions);
	free(module->blocks);
	free(module->pieces);
	free(module->successors);
	free(module->files);
	free(module->names);
	free(module->uniform);
	free(module->text);
	free(module->written);
	*module = (struct tare_blocks_module){ .words = { .words = NULL } };
}

const char *tare_blocks_file_name(const struct tare_blocks_module *module, uint32_t file)
{
	if (!tare_blocks_has_words(module))
		return file && file <= module->file_count && module->files[file - 1]
		           ? module->files[file - 1]
		           : "";
	size_t at = file ? spirv_find_op(&module->words, file, SPIRV_STRING) : 0;
	const char *text = at ? spirv_text(&module->words, at, 2) : NULL;

	return text ? text : "";
}

bool tare_blocks_is_head(const struct tare_blocks_module *module, size_t at)
{
	return spirv_op(&module->words, at) == PHI || tare_blocks_is_silent(module, at);
}

void tare_blocks_each(const struct tare_blocks_module *module, uint32_t block,
                      void (*visit)(void *context, size_t at, uint32_t file, uint32_t line),
                      void *context)
{
	const struct spirv_words *words = &module->words;
	size_t at = module->blocks[block].at;
	uint32_t file = 0, line = 0;

	if (!tare_blocks_has_words(module))
		return;
	for (at += spirv_length(words, at); at < words->count; at += spirv_length(words, at)) {
		uint32_t op = spirv_op(words, at);
		if (op == SPIRV_LABEL || op == SPIRV_FUNCTION_END)
			return;
		if (op == SPIRV_LINE || op == SPIRV_NO_LINE) {
			line = op == SPIRV_LINE ? word(module, at, 2) : 0;
			file = line ? word(module, at, 1) : 0;
		}
		visit(context, at, file, line);
	}
}
