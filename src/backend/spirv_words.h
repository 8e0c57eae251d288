// SPDX-License-Identifier: Apache-2.0
// A SPIR-V module as checked words: what spirv.c and the driver's rewriting share. Once
// spirv_words_read has returned 0, every instruction lies within the module, has at least the words
// that its meaning needs, ends the strings that are read, and defines an id below the bound once.
// (Facts: the SPIR-V specification, unified 1.6.)
#pragma once
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum spirv_op {
	SPIRV_UNDEF = 1,
	SPIRV_NAME = 5,
	SPIRV_MEMBER_NAME = 6,
	SPIRV_STRING = 7,
	SPIRV_LINE = 8,
	SPIRV_EXTENSION = 10,
	SPIRV_MEMORY_MODEL = 14,
	SPIRV_ENTRY_POINT = 15,
	SPIRV_EXECUTION_MODE = 16,
	SPIRV_CAPABILITY = 17,
	SPIRV_TYPE_VOID = 19,
	SPIRV_TYPE_BOOL = 20,
	SPIRV_TYPE_INT = 21,
	SPIRV_TYPE_FLOAT = 22,
	SPIRV_TYPE_VECTOR = 23,
	SPIRV_TYPE_MATRIX = 24,
	SPIRV_TYPE_IMAGE = 25,
	SPIRV_TYPE_SAMPLER = 26,
	SPIRV_TYPE_ARRAY = 28,
	SPIRV_TYPE_STRUCT = 30,
	SPIRV_TYPE_OPAQUE = 31,
	SPIRV_TYPE_POINTER = 32,
	SPIRV_TYPE_FUNCTION = 33,
	SPIRV_TYPE_PIPE = 38,
	SPIRV_TYPE_FORWARD_POINTER = 39,
	SPIRV_CONSTANT_TRUE = 41,
	SPIRV_CONSTANT_FALSE = 42,
	SPIRV_CONSTANT = 43,
	SPIRV_CONSTANT_COMPOSITE = 44,
	SPIRV_CONSTANT_SAMPLER = 45,
	SPIRV_CONSTANT_NULL = 46,
	SPIRV_SPEC_TRUE = 48,
	SPIRV_SPEC_FALSE = 49,
	SPIRV_SPEC_CONSTANT = 50,
	SPIRV_SPEC_COMPOSITE = 51,
	SPIRV_SPEC_OP = 52,
	SPIRV_FUNCTION = 54,
	SPIRV_PARAMETER = 55,
	SPIRV_FUNCTION_END = 56,
	SPIRV_CALL = 57,
	SPIRV_VARIABLE = 59,
	SPIRV_DECORATE = 71,
	SPIRV_MEMBER_DECORATE = 72,
	SPIRV_GROUP = 73,
	SPIRV_GROUP_DECORATE = 74,
	SPIRV_CONVERT_U_TO_PTR = 120,
	SPIRV_LABEL = 248,
	SPIRV_NO_LINE = 317,
	SPIRV_EXECUTION_MODE_ID = 331,
	SPIRV_DECORATE_ID = 332,
	SPIRV_UNTYPED_POINTER = 4417,
	SPIRV_DECORATE_STRING = 5632,
};

enum spirv_storage {
	SPIRV_UNIFORM_CONSTANT = 0,
	SPIRV_INPUT = 1,
	SPIRV_WORKGROUP = 4,
	SPIRV_CROSS_WORKGROUP = 5,
	SPIRV_FUNCTION_STORAGE = 7,
	SPIRV_GENERIC = 8,
	SPIRV_DEVICE_ONLY = 5936,
	SPIRV_HOST_ONLY = 5937,
};

enum spirv_decoration {
	SPIRV_SPEC_ID = 1,
	SPIRV_PACKED = 10,
	SPIRV_BUILT_IN = 11,
	SPIRV_CONSTANT_DECORATION = 22,
	SPIRV_NON_WRITABLE = 24,
	SPIRV_PARAMETER_ATTRIBUTE = 38,
	SPIRV_LINKAGE = 41,
	SPIRV_ALIGNMENT = 44,
};

enum spirv_parameter_attribute {
	SPIRV_ZEXT = 0,
	SPIRV_SEXT = 1,
	SPIRV_BY_VALUE = 2,
	SPIRV_NO_WRITE = 6,
	SPIRV_NO_ACCESS = 7,
};

enum { SPIRV_HEADER_WORDS = 5 };
#define SPIRV_MAGIC UINT32_C(0x07230203)
#define SPIRV_UNKNOWN_BYTES UINT64_MAX

// What is known of an id that is a type, a constant, a variable, a function, a parameter or a text.
struct spirv_id {
	uint32_t id;
	uint32_t at;              // word at which its instruction begins; 0: an empty slot
	uint64_t bytes;           // a type's size; SPIRV_UNKNOWN_BYTES: none, or not known
	uint32_t alignment_bytes; // a type's
};

// A name, or a decoration, of an id; sorted by target and then by place.
struct spirv_note {
	uint32_t target;
	uint32_t at;    // word of its OpName, OpDecorate or OpGroupDecorate
	uint32_t group; // OpGroupDecorate: the group whose decorations it has; else 0
};

struct spirv_words {
	uint32_t *words; // in the host's byte order
	size_t count;
	uint32_t version, bound, address_bits;
	struct spirv_id *ids; // a hash table
	size_t id_mask, id_count;
	struct spirv_note *notes;
	size_t note_count;
};

static inline uint32_t spirv_op(const struct spirv_words *module, size_t at)
{
	return module->words[at] & 0xffff;
}

static inline uint32_t spirv_length(const struct spirv_words *module, size_t at)
{
	return module->words[at] >> 16;
}

// Copies, checks and indexes a module; memory is in proportion to `bytes`, whatever its bound says.
// 0, -EINVAL (what is wrong and at which word) or -ENOMEM; *module is then empty. To free with
// spirv_words_free.
int spirv_words_read(const void *data, size_t bytes, struct spirv_words *module,
                     struct tare_error *error);
void spirv_words_free(struct spirv_words *module);

// What is known of the id; NULL: it is nothing of the kinds above.
const struct spirv_id *spirv_find(const struct spirv_words *module, uint32_t id);
// The same, as the word at which a definition by `op` begins; 0: the id is nothing such.
size_t spirv_find_op(const struct spirv_words *module, uint32_t id, enum spirv_op op);
// The value of a scalar integer constant (also a specialisation constant's default).
bool spirv_constant_value(const struct spirv_words *module, uint32_t id, uint64_t *value);
// The text that begins at `word` of the instruction at `at`; NULL where it has no end there.
const char *spirv_text(const struct spirv_words *module, size_t at, uint32_t word);
// The debug name of an id, or "".
const char *spirv_name(const struct spirv_words *module, uint32_t id);
// The word of the first OpDecorate of this kind; 0 where there is none. Groups are looked through.
size_t spirv_decorated(const struct spirv_words *module, uint32_t id, enum spirv_decoration kind);
// True where a parameter has the attribute.
bool spirv_has_attribute(const struct spirv_words *module, uint32_t id,
                         enum spirv_parameter_attribute attribute);
// The linkage name, or NULL; *import tells which way.
const char *spirv_linkage(const struct spirv_words *module, uint32_t id, bool *import);
// The next part of a composite type, `index` from 0 on: where it begins, given *end_bytes of the
// one before (0 for the first), which becomes its own end. False: there is no such part.
bool spirv_next_part(const struct spirv_words *module, const struct spirv_id *whole, uint64_t index,
                     uint64_t *end_bytes, uint64_t *offset_bytes, const struct spirv_id **part);
