// SPDX-License-Identifier: Apache-2.0
// Local and private memory that a kernel declares: the variables that it, or a function that it
// calls, names.
#include "kernel/kernel.h"

#include "backend/spirv_words.h"

#include <stdlib.h>
#include <string.h>

#define LOCAL_ALIGNMENT 16
#define CONSTANTS_DEEP 8 // addresses within variables, made of one another

enum { EXTENDED = 12 };

struct locals {
	const struct spirv_words *module;
	unsigned char *seen; // by word at which a definition begins
	uint32_t *functions; // seen, and still to be read
	size_t function_count;
	uint64_t bytes, private_bytes;
};

static void add_variable(struct locals *locals, size_t at)
{
	const struct spirv_words *module = locals->module;
	size_t pointer = spirv_find_op(module, module->words[at + 1], SPIRV_TYPE_POINTER);
	const struct spirv_id *type =
	    pointer ? spirv_find(module, module->words[pointer + 3]) : NULL;
	uint32_t storage = module->words[at + 3];

	if (!type || type->bytes == SPIRV_UNKNOWN_BYTES)
		return;
	if (storage == SPIRV_WORKGROUP)
		locals->bytes +=
		    (type->bytes + LOCAL_ALIGNMENT - 1) / LOCAL_ALIGNMENT * LOCAL_ALIGNMENT;
	else if (storage == SPIRV_FUNCTION_STORAGE)
		locals->private_bytes += type->bytes;
}

static void see(struct locals *locals, uint32_t id, int depth)
{
	const struct spirv_words *module = locals->module;
	const struct spirv_id *known = spirv_find(module, id);

	if (!known || locals->seen[known->at])
		return;
	switch (spirv_op(module, known->at)) {
	case SPIRV_VARIABLE:
		add_variable(locals, known->at);
		break;
	case SPIRV_FUNCTION:
		locals->functions[locals->function_count++] = known->at;
		break;
	case SPIRV_SPEC_OP:
		if (depth == CONSTANTS_DEEP)
			return;
		for (uint32_t i = 4; i < spirv_length(module, known->at); i++)
			see(locals, module->words[known->at + i], depth + 1);
		break;
	default:
		return;
	}
	locals->seen[known->at] = 1;
}

// The last word of an instruction in a function that may name a variable: numbers follow.
static uint32_t last_name(uint32_t op, uint32_t length)
{
	static const struct {
		uint16_t op, last;
	} with_numbers[] = {
		{ SPIRV_LINE, 0 },
		{ SPIRV_FUNCTION, 0 },
		{ SPIRV_VARIABLE, 0 },
		{ 61 /* Load */, 3 },
		{ 62 /* Store */, 2 },
		{ 63 /* CopyMemory */, 2 },
		{ 64 /* CopyMemorySized */, 3 },
		{ 79 /* VectorShuffle */, 4 },
		{ 81 /* CompositeExtract */, 3 },
		{ 82 /* CompositeInsert */, 4 },
		{ 246 /* LoopMerge */, 0 },
		{ 247 /* SelectionMerge */, 0 },
		{ 250 /* BranchConditional */, 1 },
		{ 251 /* Switch */, 1 },
		{ 256 /* LifetimeStart */, 0 },
		{ 257 /* LifetimeStop */, 0 },
	};

	for (size_t i = 0; i < sizeof with_numbers / sizeof *with_numbers; i++)
		if (with_numbers[i].op == op && with_numbers[i].last < length)
			return with_numbers[i].last;
	return length - 1;
}

static void read_function(struct locals *locals, size_t at)
{
	const struct spirv_words *module = locals->module;

	for (; at < module->count && spirv_op(module, at) != SPIRV_FUNCTION_END;
	     at += spirv_length(module, at))
		for (uint32_t i = 1; i <= last_name(spirv_op(module, at), spirv_length(module, at));
		     i++)
			if (spirv_op(module, at) != EXTENDED ||
			    i != 4) // a number: which one of the set
				see(locals, module->words[at + i], 0);
}

static void read_kernel(struct locals *locals, const char *name)
{
	const struct spirv_words *module = locals->module;

	for (size_t at = SPIRV_HEADER_WORDS; at < module->count; at += spirv_length(module, at)) {
		const char *own =
		    spirv_op(module, at) == SPIRV_ENTRY_POINT ? spirv_text(module, at, 3) : NULL;
		if (own && strcmp(own, name) == 0)
			see(locals, module->words[at + 2], 0);
	}
	while (locals->function_count)
		read_function(locals, locals->functions[--locals->function_count]);
}

void kernel_variable_bytes(const struct _ze_kernel_handle_t *kernel, uint64_t *local_bytes,
                           uint64_t *private_bytes)
{
	const struct cpu_program *program = kernel->program;
	struct spirv_words module;
	struct tare_error error;

	*private_bytes = 0;
	if (spirv_words_read(program->ready, program->ready_bytes, &module, &error))
		return;
	struct locals locals = { .module = &module,
		                 .seen = calloc(module.count, 1),
		                 .functions =
		                     calloc(module.id_count + 1, sizeof *locals.functions) };
	if (locals.seen && locals.functions) {
		read_kernel(&locals, kernel->spirv->name);
		*private_bytes = locals.private_bytes;
		// Functions of other modules may have some more; no device's word makes it less
		// (PoCL 3.1 tells the sum of the module's, 6.0 nothing).
		if (!program->linked_count || locals.bytes > *local_bytes)
			*local_bytes = locals.bytes;
	}
	free(locals.seen);
	free(locals.functions);
	spirv_words_free(&module);
}
