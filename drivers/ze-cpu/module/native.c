// SPDX-License-Identifier: Apache-2.0
#include "module/program.h"
#include "spirv/spirv_rewrite.h"

#include <stdlib.h>
#include <string.h>

#define NATIVE_MAGIC "ze-cpu\0\1"

struct native_header {
	char magic[8];
	uint64_t il_bytes, flags_bytes; // the latter with the 0 at their end
	uint64_t constant_count;
};

struct native_constant {
	uint32_t id, bytes;
	uint64_t value;
};

size_t native_write(const struct cpu_program *program, uint8_t *to)
{
	struct native_header header = { .magic = NATIVE_MAGIC,
		                        .il_bytes = program->il_bytes,
		                        .flags_bytes = strlen(program->flags) + 1,
		                        .constant_count = program->constant_count };

	if (to) {
		memcpy(to, &header, sizeof header);
		to += sizeof header;
		for (uint32_t i = 0; i < program->constant_count; i++) {
			struct native_constant constant = { program->constants[i].id,
				                            (uint32_t)program->constants[i].bytes,
				                            program->constant_values[i] };
			memcpy(to, &constant, sizeof constant);
			to += sizeof constant;
		}
		memcpy(to, program->flags, header.flags_bytes);
		memcpy(to + header.flags_bytes, program->il, program->il_bytes);
	}
	return sizeof header + program->constant_count * sizeof(struct native_constant) +
	       header.flags_bytes + program->il_bytes;
}

bool native_read(const void *data, size_t bytes, struct program_source *source,
                 struct spirv_specialisation **constants, uint64_t **values)
{
	struct native_header header;
	const char *at = (const char *)data + sizeof header;

	if (bytes < sizeof header)
		return false;
	memcpy(&header, data, sizeof header);
	uint64_t left = bytes - sizeof header;
	if (memcmp(header.magic, NATIVE_MAGIC, sizeof header.magic) != 0 ||
	    header.constant_count > left / sizeof(struct native_constant))
		return false;
	left -= header.constant_count * sizeof(struct native_constant);
	if (!header.flags_bytes || header.flags_bytes > left || !header.il_bytes ||
	    header.il_bytes != left - header.flags_bytes)
		return false;
	*constants = calloc(header.constant_count + 1, sizeof **constants);
	*values = calloc(header.constant_count + 1, sizeof **values);
	bool good = *constants && *values;
	for (uint64_t i = 0; good && i < header.constant_count;
	     i++, at += sizeof(struct native_constant)) {
		struct native_constant constant;
		memcpy(&constant, at, sizeof constant);
		(*values)[i] = constant.value;
		(*constants)[i] =
		    (struct spirv_specialisation){ constant.id, &(*values)[i], constant.bytes };
		good = constant.bytes && constant.bytes <= sizeof constant.value;
	}
	if (!good || at[header.flags_bytes - 1]) {
		free(*constants);
		free(*values);
		return false;
	}
	*source = (struct program_source){ .il = at + header.flags_bytes,
		                           .il_bytes = header.il_bytes,
		                           .flags = at,
		                           .constants = *constants,
		                           .constant_count = (uint32_t)header.constant_count };
	return true;
}
