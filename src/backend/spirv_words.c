// SPDX-License-Identifier: Apache-2.0
// SPIR-V's words: checked once, and then looked up by id.
#include "backend/spirv_words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

// Sizes beyond this are taken as unknown, so that no sum of them overflows.
#define LARGEST_BYTES (UINT64_C(1) << 48)

// Where an instruction defines what the index has, and the words that it has at least.
struct shape {
	uint16_t op;
	uint8_t words;  // at least
	uint8_t result; // word of the id that it defines; 0: none
	uint8_t text;   // word at which a text begins that must end within it; 0: none
};

static const struct shape shapes[] = {
	{ SPIRV_UNDEF, 3, 2, 0 },
	{ SPIRV_NAME, 3, 0, 2 },
	{ SPIRV_STRING, 3, 1, 2 },
	{ SPIRV_MEMORY_MODEL, 3, 0, 0 },
	{ SPIRV_ENTRY_POINT, 4, 0, 3 },
	{ SPIRV_EXECUTION_MODE, 3, 0, 0 },
	{ SPIRV_EXECUTION_MODE_ID, 3, 0, 0 },
	{ SPIRV_CAPABILITY, 2, 0, 0 },
	{ SPIRV_TYPE_VOID, 2, 1, 0 },
	{ SPIRV_TYPE_BOOL, 2, 1, 0 },
	{ SPIRV_TYPE_INT, 4, 1, 0 },
	{ SPIRV_TYPE_FLOAT, 3, 1, 0 },
	{ SPIRV_TYPE_VECTOR, 4, 1, 0 },
	{ SPIRV_TYPE_MATRIX, 4, 1, 0 },
	{ SPIRV_TYPE_IMAGE, 9, 1, 0 },
	{ SPIRV_TYPE_SAMPLER, 2, 1, 0 },
	{ 27, 3, 1, 0 },
	{ SPIRV_TYPE_ARRAY, 4, 1, 0 },
	{ 29, 3, 1, 0 },
	{ SPIRV_TYPE_STRUCT, 2, 1, 0 },
	{ SPIRV_TYPE_OPAQUE, 3, 1, 2 },
	{ SPIRV_TYPE_POINTER, 4, 1, 0 },
	{ SPIRV_TYPE_FUNCTION, 3, 1, 0 },
	{ 34, 2, 1, 0 },
	{ 35, 2, 1, 0 },
	{ 36, 2, 1, 0 },
	{ 37, 2, 1, 0 },
	{ SPIRV_TYPE_PIPE, 3, 1, 0 },
	{ SPIRV_UNTYPED_POINTER, 3, 1, 0 },
	{ SPIRV_CONSTANT_TRUE, 3, 2, 0 },
	{ SPIRV_CONSTANT_FALSE, 3, 2, 0 },
	{ SPIRV_CONSTANT, 4, 2, 0 },
	{ SPIRV_CONSTANT_COMPOSITE, 3, 2, 0 },
	{ SPIRV_CONSTANT_SAMPLER, 6, 2, 0 },
	{ SPIRV_CONSTANT_NULL, 3, 2, 0 },
	{ SPIRV_SPEC_TRUE, 3, 2, 0 },
	{ SPIRV_SPEC_FALSE, 3, 2, 0 },
	{ SPIRV_SPEC_CONSTANT, 4, 2, 0 },
	{ SPIRV_SPEC_COMPOSITE, 3, 2, 0 },
	{ SPIRV_SPEC_OP, 4, 2, 0 },
	{ SPIRV_FUNCTION, 5, 2, 0 },
	{ SPIRV_PARAMETER, 3, 2, 0 },
	{ SPIRV_CALL, 4, 0, 0 },
	{ SPIRV_VARIABLE, 4, 2, 0 },
	{ SPIRV_DECORATE, 3, 0, 0 },
	{ SPIRV_DECORATE_ID, 3, 0, 0 },
	{ SPIRV_DECORATE_STRING, 3, 0, 0 },
	{ SPIRV_MEMBER_DECORATE, 4, 0, 0 },
	{ SPIRV_GROUP, 2, 1, 0 },
	{ SPIRV_GROUP_DECORATE, 2, 0, 0 },
};

static const struct shape *shape_of(uint32_t op)
{
	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
		if (shapes[i].op == op)
			return &shapes[i];
	return NULL;
}

static int damaged(struct tare_error *error, size_t at, const char *what)
{
	return tare_fail(error, EINVAL, "this SPIR-V is damaged: %s, at word %zu", what, at);
}

// ---- looking up

static struct spirv_id *slot_of(const struct spirv_words *module, uint32_t id)
{
	size_t slot = (id * UINT32_C(2654435761)) & module->id_mask;

	while (module->ids[slot].at && module->ids[slot].id != id)
		slot = (slot + 1) & module->id_mask;
	return &module->ids[slot];
}

const struct spirv_id *spirv_find(const struct spirv_words *module, uint32_t id)
{
	const struct spirv_id *slot = slot_of(module, id);

	return slot->at ? slot : NULL;
}

size_t spirv_find_op(const struct spirv_words *module, uint32_t id, enum spirv_op op)
{
	const struct spirv_id *found = spirv_find(module, id);

	return found && spirv_op(module, found->at) == op ? found->at : 0;
}

bool spirv_constant_value(const struct spirv_words *module, uint32_t id, uint64_t *value)
{
	const struct spirv_id *found = spirv_find(module, id);
	uint32_t op = found ? spirv_op(module, found->at) : 0;
	const uint32_t *words = found ? module->words + found->at : NULL;
	size_t type = found ? spirv_find_op(module, words[1], SPIRV_TYPE_INT) : 0;

	if (!type ||
	    (op != SPIRV_CONSTANT && op != SPIRV_SPEC_CONSTANT && op != SPIRV_CONSTANT_NULL))
		return false;
	*value = op == SPIRV_CONSTANT_NULL ? 0 : words[3];
	if (op != SPIRV_CONSTANT_NULL && module->words[type + 2] > 32 &&
	    spirv_length(module, found->at) > 4)
		*value |= (uint64_t)words[4] << 32;
	return true;
}

const char *spirv_text(const struct spirv_words *module, size_t at, uint32_t word)
{
	uint32_t length = spirv_length(module, at);

	if (word >= length)
		return NULL;
	const char *text = (const char *)(module->words + at + word);

	return memchr(text, '\0', (length - word) * sizeof(uint32_t)) ? text : NULL;
}

// The first note of an id, and where they end.
static const struct spirv_note *notes_of(const struct spirv_words *module, uint32_t id,
                                         const struct spirv_note **end)
{
	size_t low = 0, high = module->note_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (module->notes[middle].target < id)
			low = middle + 1;
		else
			high = middle;
	}
	for (high = low; high < module->note_count && module->notes[high].target == id;)
		high++;
	*end = module->notes + high;
	return module->notes + low;
}

const char *spirv_name(const struct spirv_words *module, uint32_t id)
{
	const struct spirv_note *end, *note = notes_of(module, id, &end);

	for (; note < end; note++)
		if (spirv_op(module, note->at) == SPIRV_NAME)
			return spirv_text(module, note->at, 2);
	return "";
}

#define ANY_LITERAL UINT32_MAX

// True where the note is a decoration of this kind, with this literal.
static bool is_kind(const struct spirv_words *module, const struct spirv_note *note,
                    enum spirv_decoration kind, uint32_t literal)
{
	uint32_t op = spirv_op(module, note->at);

	return (op == SPIRV_DECORATE || op == SPIRV_DECORATE_ID) &&
	       module->words[note->at + 2] == (uint32_t)kind &&
	       (literal == ANY_LITERAL ||
	        (spirv_length(module, note->at) > 3 && module->words[note->at + 3] == literal));
}

static size_t find_decoration(const struct spirv_words *module, uint32_t id,
                              enum spirv_decoration kind, uint32_t literal)
{
	const struct spirv_note *end, *note = notes_of(module, id, &end);

	for (; note < end; note++) {
		const struct spirv_note *group_end = note + 1, *of = note;
		if (note->group)
			of = notes_of(module, note->group, &group_end);
		for (; of < group_end; of++)
			if (is_kind(module, of, kind, literal))
				return of->at;
	}
	return 0;
}

size_t spirv_decorated(const struct spirv_words *module, uint32_t id, enum spirv_decoration kind)
{
	return find_decoration(module, id, kind, ANY_LITERAL);
}

bool spirv_has_attribute(const struct spirv_words *module, uint32_t id,
                         enum spirv_parameter_attribute attribute)
{
	return find_decoration(module, id, SPIRV_PARAMETER_ATTRIBUTE, attribute) != 0;
}

const char *spirv_linkage(const struct spirv_words *module, uint32_t id, bool *import)
{
	size_t at = spirv_decorated(module, id, SPIRV_LINKAGE);
	const char *name = at ? spirv_text(module, at, 3) : NULL;

	if (!name)
		return NULL;
	size_t word = 3 + strlen(name) / sizeof(uint32_t) + 1;
	*import = word < spirv_length(module, at) && module->words[at + word] == 1;
	return name;
}

// ---- sizes of types, OpenCL's layout

static uint64_t rounded(uint64_t bytes, uint32_t alignment)
{
	return (bytes + alignment - 1) / alignment * alignment;
}

static void size_scalar(uint32_t bits, struct spirv_id *type)
{
	if (bits != 8 && bits != 16 && bits != 32 && bits != 64)
		return;
	type->bytes = bits / 8;
	type->alignment_bytes = bits / 8;
}

static void size_vector(const struct spirv_words *module, struct spirv_id *type)
{
	const struct spirv_id *part = spirv_find(module, module->words[type->at + 2]);
	uint32_t parts = module->words[type->at + 3];

	if (!part || part->bytes == 0 || part->bytes > 8 || parts < 2 || parts > 16)
		return;
	// Three take the room of four.
	type->bytes = part->bytes * (parts == 3 ? 4 : parts);
	type->alignment_bytes = (uint32_t)type->bytes;
}

static void size_array(const struct spirv_words *module, struct spirv_id *type)
{
	const struct spirv_id *part = spirv_find(module, module->words[type->at + 2]);
	uint64_t parts;

	// A length that may still be given otherwise is not known.
	if (!part || part->bytes == SPIRV_UNKNOWN_BYTES ||
	    spirv_find_op(module, module->words[type->at + 3], SPIRV_SPEC_CONSTANT) ||
	    !spirv_constant_value(module, module->words[type->at + 3], &parts) ||
	    (part->bytes && parts > LARGEST_BYTES / part->bytes))
		return;
	type->bytes = part->bytes * parts;
	type->alignment_bytes = part->alignment_bytes;
}

static void size_struct(const struct spirv_words *module, struct spirv_id *type)
{
	bool packed = spirv_decorated(module, type->id, SPIRV_PACKED) != 0;
	uint64_t bytes = 0;
	uint32_t alignment = 1;

	for (uint32_t i = 2; i < spirv_length(module, type->at); i++) {
		const struct spirv_id *part = spirv_find(module, module->words[type->at + i]);
		if (!part || part->bytes == SPIRV_UNKNOWN_BYTES)
			return;
		if (!packed && part->alignment_bytes > alignment)
			alignment = part->alignment_bytes;
		bytes = rounded(bytes, packed ? 1 : part->alignment_bytes) + part->bytes;
		if (bytes > LARGEST_BYTES)
			return;
	}
	type->bytes = rounded(bytes, alignment);
	type->alignment_bytes = alignment;
}

// Parts come before what is made of them, so a cycle of types has no size.
static void size_type(const struct spirv_words *module, struct spirv_id *type)
{
	const uint32_t *words = module->words + type->at;

	type->bytes = SPIRV_UNKNOWN_BYTES;
	type->alignment_bytes = 1;
	switch (words[0] & 0xffff) {
	case SPIRV_TYPE_BOOL:
		size_scalar(8, type);
		break;
	case SPIRV_TYPE_INT:
	case SPIRV_TYPE_FLOAT:
		size_scalar(words[2], type);
		break;
	case SPIRV_TYPE_VECTOR:
		size_vector(module, type);
		break;
	case SPIRV_TYPE_ARRAY:
		size_array(module, type);
		break;
	case SPIRV_TYPE_STRUCT:
		size_struct(module, type);
		break;
	case SPIRV_TYPE_POINTER:
	case SPIRV_UNTYPED_POINTER:
		size_scalar(module->address_bits, type);
		break;
	}
}

bool spirv_next_part(const struct spirv_words *module, const struct spirv_id *whole, uint64_t index,
                     uint64_t *end_bytes, uint64_t *offset_bytes, const struct spirv_id **part)
{
	uint32_t op = spirv_op(module, whole->at);
	uint32_t alignment = 1;
	uint64_t parts;

	if (whole->bytes == SPIRV_UNKNOWN_BYTES)
		return false;
	if (op == SPIRV_TYPE_STRUCT) {
		if (index >= spirv_length(module, whole->at) - 2)
			return false;
		*part = spirv_find(module, module->words[whole->at + 2 + index]);
		if (!spirv_decorated(module, whole->id, SPIRV_PACKED))
			alignment = (*part)->alignment_bytes;
	} else if (op == SPIRV_TYPE_VECTOR || op == SPIRV_TYPE_ARRAY) {
		parts = module->words[whole->at + 3];
		if (op == SPIRV_TYPE_ARRAY &&
		    !spirv_constant_value(module, module->words[whole->at + 3], &parts))
			return false;
		if (index >= parts)
			return false;
		*part = spirv_find(module, module->words[whole->at + 2]);
	} else {
		return false;
	}
	*offset_bytes = rounded(*end_bytes, alignment);
	*end_bytes = *offset_bytes + (*part)->bytes;
	return true;
}

// ---- reading

static void swap_words(struct spirv_words *module)
{
	for (size_t i = 0; i < module->count; i++)
		module->words[i] = __builtin_bswap32(module->words[i]);
}

static int copy_words(const void *data, size_t bytes, struct spirv_words *module,
                      struct tare_error *error)
{
	if (bytes < SPIRV_HEADER_WORDS * sizeof(uint32_t))
		return tare_fail(error, EINVAL,
		                 "this is no SPIR-V: %zu bytes are less than its header's 20",
		                 bytes);
	module->count = bytes / sizeof(uint32_t);
	if (module->count > UINT32_MAX)
		return tare_fail(error, EINVAL, "this SPIR-V is too long: %zu bytes", bytes);
	module->words = malloc(module->count * sizeof *module->words);
	if (!module->words)
		return tare_fail(error, ENOMEM, "no memory for %zu bytes of SPIR-V", bytes);
	memcpy(module->words, data, module->count * sizeof *module->words);
	if (__builtin_bswap32(module->words[0]) == SPIRV_MAGIC)
		swap_words(module);
	if (module->words[0] != SPIRV_MAGIC)
		return tare_fail(error, EINVAL,
		                 "this is no SPIR-V: it begins with 0x%08x, not 0x07230203",
		                 module->words[0]);
	if (bytes % sizeof(uint32_t))
		return damaged(error, module->count, "it ends within a word");
	module->version = module->words[1];
	module->bound = module->words[3];
	return 0;
}

// Checks the instruction at `at`, and counts what it defines and notes.
static int check_instruction(struct spirv_words *module, size_t at, size_t *ids, size_t *notes,
                             struct tare_error *error)
{
	uint32_t length = spirv_length(module, at), op = spirv_op(module, at);
	const struct shape *shape = shape_of(op);

	if (length == 0 || length > module->count - at)
		return damaged(error, at,
		               length ? "an instruction goes beyond its end"
		                      : "an instruction of no words");
	if (shape && length < shape->words)
		return damaged(error, at, "an instruction is shorter than it can be");
	if (shape && shape->text && !spirv_text(module, at, shape->text))
		return damaged(error, at, "a text without an end");
	if (shape && shape->result) {
		uint32_t id = module->words[at + shape->result];
		if (id == 0 || id >= module->bound)
			return damaged(error, at, "an id is beyond the bound");
		++*ids;
	}
	if (op == SPIRV_MEMORY_MODEL && !module->address_bits)
		module->address_bits = module->words[at + 1] == 1 ? 32 : 64;
	if (op == SPIRV_NAME || op == SPIRV_DECORATE || op == SPIRV_DECORATE_ID)
		++*notes;
	if (op == SPIRV_GROUP_DECORATE)
		*notes += length - 2;
	return 0;
}

static int note_order(const void *left, const void *right)
{
	const struct spirv_note *a = left, *b = right;

	if (a->target != b->target)
		return a->target < b->target ? -1 : 1;
	return (a->at > b->at) - (a->at < b->at);
}

static void gather_notes(struct spirv_words *module)
{
	for (size_t at = SPIRV_HEADER_WORDS; at < module->count; at += spirv_length(module, at)) {
		uint32_t op = spirv_op(module, at);
		if (op == SPIRV_NAME || op == SPIRV_DECORATE || op == SPIRV_DECORATE_ID)
			module->notes[module->note_count++] =
			    (struct spirv_note){ module->words[at + 1], (uint32_t)at, 0 };
		if (op != SPIRV_GROUP_DECORATE)
			continue;
		for (uint32_t i = 2; i < spirv_length(module, at); i++)
			module->notes[module->note_count++] = (struct spirv_note){
				module->words[at + i],
				(uint32_t)at,
				module->words[at + 1],
			};
	}
	qsort(module->notes, module->note_count, sizeof *module->notes, note_order);
}

static int gather_ids(struct spirv_words *module, struct tare_error *error)
{
	for (size_t at = SPIRV_HEADER_WORDS; at < module->count; at += spirv_length(module, at)) {
		const struct shape *shape = shape_of(spirv_op(module, at));
		if (!shape || !shape->result)
			continue;
		struct spirv_id *slot = slot_of(module, module->words[at + shape->result]);
		if (slot->at)
			return damaged(error, at, "an id is defined twice");
		slot->id = module->words[at + shape->result];
		// A type is sized before it can be found, so that it is no part of itself.
		struct spirv_id type = { .id = slot->id, .at = (uint32_t)at };
		size_type(module, &type);
		*slot = type;
		module->id_count++;
	}
	return 0;
}

static int index_words(struct spirv_words *module, struct tare_error *error)
{
	size_t ids = 0, notes = 0, slots = 16;

	for (size_t at = SPIRV_HEADER_WORDS; at < module->count; at += spirv_length(module, at)) {
		int status = check_instruction(module, at, &ids, &notes, error);
		if (status < 0)
			return status;
	}
	while (slots < 2 * ids)
		slots *= 2;
	module->id_mask = slots - 1;
	module->ids = calloc(slots, sizeof *module->ids);
	module->notes = calloc(notes + 1, sizeof *module->notes);
	if (!module->ids || !module->notes)
		return tare_fail(error, ENOMEM, "no memory for the index of a SPIR-V module");
	if (!module->address_bits)
		module->address_bits = 64;
	gather_notes(module);
	return gather_ids(module, error);
}

int spirv_words_read(const void *data, size_t bytes, struct spirv_words *module,
                     struct tare_error *error)
{
	*module = (struct spirv_words){ 0 };
	int status = copy_words(data, bytes, module, error);
	status = status ?: index_words(module, error);
	if (status < 0)
		spirv_words_free(module);
	return status;
}

void spirv_words_free(struct spirv_words *module)
{
	free(module->words);
	free(module->ids);
	free(module->notes);
	*module = (struct spirv_words){ 0 };
}
