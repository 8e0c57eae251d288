// SPDX-License-Identifier: Apache-2.0
// What tare blocks --ptx asks of the stand-in for libcuda. No code of PTX runs here: a variable
// `tare0_…KERNEL`, the counters, gets the work-items of each launch of KERNEL in the number to
// which the first thread of a group adds its group first (…_w). TARE_FAKE_CUDA_TEXTS names a file
// to which each text of a module is added; a text that has the word that TARE_FAKE_CUDA_REFUSES
// names is not taken.
#include "fake_cuda_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_VARIABLES = 64 };
static struct {
	struct cu_function_object *function;
	uint64_t *numbers;
} variables[MOST_VARIABLES];

static uint64_t *counter_of(const struct cu_function_object *function, uint64_t *numbers)
{
	char entry[300];

	snprintf(entry, sizeof entry, ".entry %s(", function->name);
	const char *at = strstr(function->module->text, entry), *first = NULL;
	while (at && (at = strstr(at, "_m+"))) {
		const char *value = at + strcspn(at, "]");
		first = first ? first : at;
		if (strncmp(value, "], %tare", 8) == 0 &&
		    strncmp(value + strcspn(value, "_"), "_w;", 3) == 0)
			break;
		at += 3;
	}
	at = at ? at : first;
	return numbers + (at ? strtoul(at + 3, NULL, 10) / sizeof *numbers : 0);
}

void count_in_ptx(struct cu_function_object *function, uint64_t work_items)
{
	function->work_items += work_items;
	for (int i = 0; i < MOST_VARIABLES; i++)
		if (variables[i].function == function) {
			*counter_of(function, variables[i].numbers) += function->work_items;
			function->work_items = 0;
		}
}

bool refuses_ptx(const char *text)
{
	const char *file = getenv("TARE_FAKE_CUDA_TEXTS"), *word = getenv("TARE_FAKE_CUDA_REFUSES");
	FILE *to = file ? fopen(file, "a") : NULL;

	if (to) {
		fprintf(to, "%s\n", text);
		fclose(to);
	}
	return word && strstr(text, word);
}

void forget_ptx(const struct cu_module_object *module)
{
	for (int i = 0; i < MOST_VARIABLES; i++)
		if (variables[i].function && variables[i].function->module == module)
			variables[i].function = NULL;
}

static cu_result add_variable(struct cu_function_object *function, size_t bytes, uint64_t *at)
{
	for (int i = 0; i < MOST_VARIABLES; i++) {
		if (variables[i].function == function) {
			*at = (uint64_t)(uintptr_t)variables[i].numbers;
			return ABI_SUCCESS;
		}
		if (variables[i].function)
			continue;
		// It is never given back, as who is late may look at it.
		uint64_t *numbers = make_device_memory(bytes);
		if (!numbers)
			return ABI_OUT_OF_MEMORY;
		memset(numbers, 0, bytes);
		variables[i].function = function;
		variables[i].numbers = numbers;
		count_in_ptx(function, 0);
		*at = (uint64_t)(uintptr_t)numbers;
		return ABI_SUCCESS;
	}
	return ABI_NOT_FOUND;
}

FAKE_EXPORT cu_result cuModuleGetGlobal_v2(uint64_t *at, size_t *bytes,
                                           struct cu_module_object *module, const char *name);
cu_result cuModuleGetGlobal_v2(uint64_t *at, size_t *bytes, struct cu_module_object *module,
                               const char *name)
{
	ENTER_CONTEXT();
	const char *found = strstr(module->text, name);
	size_t length = strlen(name);
	while (found && found[length] != '[')
		found = strstr(found + 1, name);
	if (!found)
		return leave(ABI_NOT_FOUND);
	*bytes = strtoul(found + length + 1, NULL, 10) * sizeof(uint64_t);
	for (struct cu_function_object *function = module->functions; function;
	     function = function->next) {
		size_t own = strlen(function->name);
		if (own < length && strcmp(name + length - own, function->name) == 0)
			return leave(add_variable(function, *bytes, at));
	}
	return leave(ABI_NOT_FOUND);
}

FAKE_EXPORT cu_result cuFuncGetModule(struct cu_module_object **module, cu_function function);
cu_result cuFuncGetModule(struct cu_module_object **module, cu_function function)
{
	ENTER_CONTEXT();
	*module = function->module;
	return leave(ABI_SUCCESS);
}
