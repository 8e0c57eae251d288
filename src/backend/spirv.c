// SPDX-License-Identifier: Apache-2.0
#include "backend/spirv.h"

#include "backend/spirv_parameter.h"
#include "backend/spirv_words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { KERNEL_MODEL = 6, MODE_LOCAL_SIZE = 17, MODE_SUBGROUP_SIZE = 35, MODE_LOCAL_SIZE_ID = 38 };

static int no_memory(struct tare_error *error)
{
	return tare_fail(error, ENOMEM, "no memory for what a SPIR-V module tells");
}

// ---- kernels

static void read_mode(const struct spirv_words *module, size_t at, struct tare_spirv_kernel *kernel)
{
	const uint32_t *words = module->words + at;
	uint32_t length = spirv_length(module, at);
	uint64_t value;

	if (words[2] == MODE_SUBGROUP_SIZE && length > 3)
		kernel->required_sub_group_size = words[3];
	if ((words[2] != MODE_LOCAL_SIZE && words[2] != MODE_LOCAL_SIZE_ID) || length < 6)
		return;
	for (int i = 0; i < 3; i++) {
		value = words[3 + i];
		if (words[2] == MODE_LOCAL_SIZE_ID &&
		    (!spirv_constant_value(module, words[3 + i], &value) || value > UINT32_MAX))
			value = 0;
		kernel->required_group_size[i] = (uint32_t)value;
	}
}

static int read_kernel(const struct spirv_words *module, size_t entry,
                       struct tare_spirv_kernel *kernel, struct tare_error *error)
{
	uint32_t id = module->words[entry + 2];
	size_t function = spirv_find_op(module, id, SPIRV_FUNCTION);

	if (!function)
		return tare_fail(
		    error, EINVAL,
		    "this SPIR-V is damaged: an entry point is no function, at word %zu", entry);
	kernel->name = strdup(spirv_text(module, entry, 3));
	if (!kernel->name)
		return no_memory(error);
	return spirv_parameters(module, function, kernel, error);
}

static bool is_kernel(const struct spirv_words *module, size_t at)
{
	return spirv_op(module, at) == SPIRV_ENTRY_POINT && module->words[at + 1] == KERNEL_MODEL;
}

// The modes of a module's kernels: each names an entry point's function, which several may share.
static void read_modes(const struct spirv_words *module, const size_t *entries,
                       struct tare_spirv *answer)
{
	for (size_t at = SPIRV_HEADER_WORDS; at < module->count; at += spirv_length(module, at)) {
		uint32_t op = spirv_op(module, at);
		if (op == SPIRV_FUNCTION)
			return;
		if (op != SPIRV_EXECUTION_MODE && op != SPIRV_EXECUTION_MODE_ID)
			continue;
		for (uint32_t i = 0; i < answer->kernel_count; i++)
			if (module->words[entries[i] + 2] == module->words[at + 1])
				read_mode(module, at, &answer->kernels[i]);
	}
}

static int read_kernels(const struct spirv_words *module, struct tare_spirv *answer,
                        struct tare_error *error)
{
	size_t count = 0;
	int status = 0;

	for (size_t at = SPIRV_HEADER_WORDS; at < module->count; at += spirv_length(module, at))
		count += is_kernel(module, at);
	size_t *entries = calloc(count + 1, sizeof *entries);
	answer->kernels = calloc(count + 1, sizeof *answer->kernels);
	if (!entries || !answer->kernels) {
		free(entries);
		return no_memory(error);
	}
	for (size_t at = SPIRV_HEADER_WORDS; at < module->count && status == 0;
	     at += spirv_length(module, at)) {
		if (!is_kernel(module, at))
			continue;
		entries[answer->kernel_count] = at;
		status = read_kernel(module, at, &answer->kernels[answer->kernel_count++], error);
	}
	if (status == 0)
		read_modes(module, entries, answer);
	free(entries);
	return status;
}

// ---- variables, constants, linkage

// Marks the words at which variables are defined that constants or initial values refer to.
static void mark_addressed(const struct spirv_words *module, unsigned char *addressed)
{
	for (size_t at = SPIRV_HEADER_WORDS; at < module->count; at += spirv_length(module, at)) {
		uint32_t op = spirv_op(module, at), first = spirv_length(module, at);
		if (op == SPIRV_FUNCTION)
			return;
		if (op == SPIRV_CONSTANT_COMPOSITE || op == SPIRV_SPEC_COMPOSITE)
			first = 3;
		if (op == SPIRV_SPEC_OP || op == SPIRV_VARIABLE)
			first = 4;
		for (uint32_t i = first; i < spirv_length(module, at); i++)
			addressed[spirv_find_op(module, module->words[at + i], SPIRV_VARIABLE)] = 1;
	}
}

static int read_variable(const struct spirv_words *module, size_t at,
                         const unsigned char *addressed, struct tare_spirv *answer,
                         struct tare_error *error)
{
	uint32_t id = module->words[at + 2], storage = module->words[at + 3];
	size_t pointer = spirv_find_op(module, module->words[at + 1], SPIRV_TYPE_POINTER);
	const struct spirv_id *type =
	    pointer ? spirv_find(module, module->words[pointer + 3]) : NULL;
	bool import = false;
	const char *linkage = spirv_linkage(module, id, &import);

	// Samplers and the like have no bytes, and are no memory.
	if ((storage != SPIRV_CROSS_WORKGROUP && storage != SPIRV_UNIFORM_CONSTANT) || import ||
	    !type || type->bytes == SPIRV_UNKNOWN_BYTES)
		return 0;
	char *name = strdup(linkage ? linkage : spirv_name(module, id));
	if (!name)
		return no_memory(error);
	answer->variables[answer->variable_count++] = (struct tare_spirv_variable){
		id,
		name,
		type->bytes,
		storage == SPIRV_UNIFORM_CONSTANT,
		linkage != NULL,
		addressed[at] != 0,
	};
	return 0;
}

static void read_constant(const struct spirv_words *module, size_t at, struct tare_spirv *answer)
{
	const uint32_t *words = module->words + at;
	size_t decoration = spirv_decorated(module, words[2], SPIRV_SPEC_ID);
	const struct spirv_id *type = spirv_find(module, words[1]);

	if (!decoration || spirv_length(module, decoration) < 4 || !type ||
	    type->bytes == SPIRV_UNKNOWN_BYTES || type->bytes > 8)
		return;
	answer->constants[answer->constant_count++] = (struct tare_spirv_constant){
		module->words[decoration + 3],
		(uint32_t)type->bytes,
	};
}

static int read_linkage(const struct spirv_words *module, size_t at, struct tare_spirv *answer,
                        struct tare_error *error)
{
	bool import = false;
	uint32_t id = module->words[at + 2];
	const char *name = spirv_linkage(module, id, &import);

	// What has an entry point's name is the function that the entry point calls.
	if (!name || (!import && tare_spirv_kernel(answer, name)))
		return 0;
	char *copy = strdup(name);
	if (!copy)
		return no_memory(error);
	if (import)
		answer->imports[answer->import_count++] = copy;
	else
		answer->functions[answer->function_count++] = copy;
	return 0;
}

static bool is_specialisation(uint32_t op)
{
	return op == SPIRV_SPEC_TRUE || op == SPIRV_SPEC_FALSE || op == SPIRV_SPEC_CONSTANT;
}

static int make_room(const struct spirv_words *module, struct tare_spirv *answer,
                     struct tare_error *error)
{
	size_t variables = 0, constants = 0, functions = 0;

	for (size_t at = SPIRV_HEADER_WORDS; at < module->count; at += spirv_length(module, at)) {
		variables += spirv_op(module, at) == SPIRV_VARIABLE;
		constants += is_specialisation(spirv_op(module, at));
		functions += spirv_op(module, at) == SPIRV_FUNCTION;
	}
	answer->variables = calloc(variables + 1, sizeof *answer->variables);
	answer->constants = calloc(constants + 1, sizeof *answer->constants);
	answer->imports = calloc(functions + 1, sizeof *answer->imports);
	answer->functions = calloc(functions + 1, sizeof *answer->functions);
	if (!answer->variables || !answer->constants || !answer->imports || !answer->functions)
		return no_memory(error);
	return 0;
}

static int read_globals(const struct spirv_words *module, struct tare_spirv *answer,
                        struct tare_error *error)
{
	unsigned char *addressed = calloc(module->count, 1);
	int status = addressed ? make_room(module, answer, error) : no_memory(error);

	if (status == 0)
		mark_addressed(module, addressed);
	for (size_t at = SPIRV_HEADER_WORDS; at < module->count && status == 0;
	     at += spirv_length(module, at)) {
		uint32_t op = spirv_op(module, at);
		if (op == SPIRV_VARIABLE)
			status = read_variable(module, at, addressed, answer, error);
		else if (op == SPIRV_FUNCTION)
			status = read_linkage(module, at, answer, error);
		else if (is_specialisation(op))
			read_constant(module, at, answer);
	}
	free(addressed);
	return status;
}

// ---- the whole

int tare_spirv_read(const void *data, size_t bytes, struct tare_spirv **module,
                    struct tare_error *error)
{
	struct spirv_words words;

	*module = NULL;
	int status = spirv_words_read(data, bytes, &words, error);
	if (status < 0)
		return status;
	struct tare_spirv *answer = calloc(1, sizeof *answer);
	if (!answer) {
		spirv_words_free(&words);
		return no_memory(error);
	}
	answer->version = words.version;
	answer->address_bits = words.address_bits;
	status = read_kernels(&words, answer, error);
	status = status ?: read_globals(&words, answer, error);
	spirv_words_free(&words);
	if (status < 0)
		tare_spirv_free(answer);
	else
		*module = answer;
	return status;
}

void tare_spirv_free(struct tare_spirv *module)
{
	if (!module)
		return;
	for (uint32_t i = 0; i < module->kernel_count; i++) {
		free(module->kernels[i].name);
		free(module->kernels[i].parameters);
	}
	for (uint32_t i = 0; i < module->variable_count; i++)
		free(module->variables[i].name);
	for (uint32_t i = 0; i < module->import_count; i++)
		free(module->imports[i]);
	for (uint32_t i = 0; i < module->function_count; i++)
		free(module->functions[i]);
	free(module->kernels);
	free(module->variables);
	free(module->constants);
	free(module->imports);
	free(module->functions);
	free(module);
}

const struct tare_spirv_kernel *tare_spirv_kernel(const struct tare_spirv *module, const char *name)
{
	for (uint32_t i = 0; module && i < module->kernel_count; i++)
		if (strcmp(module->kernels[i].name, name) == 0)
			return &module->kernels[i];
	return NULL;
}
