// SPDX-License-Identifier: Apache-2.0
#include "measure/overlap/kernel_list.h"

#include "backend/call.h"
#include "base/cleanup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *words_for(const struct tare_parameter *parameter)
{
	return parameter->type[0] ? parameter->type
	       : parameter->kind == TARE_PARAMETER_MEMORY || parameter->kind == TARE_PARAMETER_LOCAL
	           ? "pointer"
	       : parameter->kind == TARE_PARAMETER_VALUE ? "value"
	                                                 : "?";
}

// "const float* in, local float* part, uint first", "" for none; NULL where the driver does not
// tell. -ENOMEM.
static int describe_parameters(struct tare_kernel *kernel, int64_t count, char **parameters)
{
	char *text = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&text, &size);
	bool known = count >= 0;

	if (!file)
		return -ENOMEM;
	for (int64_t i = 0; known && i < count; i++) {
		struct tare_parameter parameter = { 0 };
		known = tare_kernel_parameter(kernel, (uint32_t)i, &parameter, NULL) == 0;
		if (known)
			fprintf(file, "%s%s%s%s%s%s", i ? ", " : "",
			        parameter.read_only ? "const " : "",
			        parameter.kind == TARE_PARAMETER_LOCAL ? "local " : "",
			        words_for(&parameter), parameter.name[0] ? " " : "",
			        parameter.name);
	}
	if (fclose(file) != 0) {
		free(text);
		return -ENOMEM;
	}
	if (known)
		*parameters = text;
	else
		free(text);
	return 0;
}

// Names in SPIR-V may hold any byte; what is shown holds no control characters.
static void make_plain(char *text)
{
	for (; text && *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			*text = '?';
}

static int add_kernel(struct tare_module *module, const char *name, struct tare_kernel_list *list,
                      struct tare_error *error)
{
	struct tare_kernel *kernel = NULL;
	struct tare_kernel_entry *entry;
	struct tare_kernel_facts facts;
	int status = tare_kernel_create(module, name, &kernel, error);

	if (status < 0)
		return status;
	entry = tare_kernel_list_add(list, name);
	status = entry ? 0 : -ENOMEM;
	if (status == 0 && tare_kernel_facts(kernel, &facts, NULL) == 0) {
		const int64_t values[TARE_KERNEL_VALUE_COUNT] = {
			[TARE_KERNEL_ARGUMENTS] = facts.arguments,
			[TARE_KERNEL_SIMD_WIDTH] = facts.simd_width,
			[TARE_KERNEL_GROUP_SIZE] = facts.max_group_size,
			[TARE_KERNEL_MULTIPLE] = facts.preferred_multiple,
			[TARE_KERNEL_LOCAL] = facts.local_bytes,
			[TARE_KERNEL_PRIVATE] = facts.private_bytes,
			[TARE_KERNEL_SPILL] = facts.spill_bytes,
			[TARE_KERNEL_REGISTERS] = facts.registers,
		};
		memcpy(entry->value, values, sizeof values);
		status = describe_parameters(kernel, facts.arguments, &entry->parameters);
	}
	tare_kernel_free(kernel);
	if (entry) {
		make_plain(entry->name);
		make_plain(entry->parameters);
	}
	return status < 0 ? tare_fail(error, ENOMEM, "out of memory") : 0;
}

int tare_kernels_list(struct tare_device *device, const struct tare_user_kernel *options,
                      struct tare_kernel_list *list, char **log, struct tare_error *error)
{
	struct tare_module *module = NULL;
	TARE_FREE char *names = NULL;
	int status = tare_user_kernel_module(device, options, &module, &names, log, error);

	if (status < 0)
		return status;
	// An entry may be an expression with commas of its own: "scale<float, 4>".
	if (options->entry) {
		status = add_kernel(module, options->entry, list, error);
	} else {
		char *at = names;
		while (status == 0 && at) {
			char *next = strstr(at, ", ");
			if (next) {
				*next = '\0';
				next += 2;
			}
			status = add_kernel(module, at, list, error);
			at = next;
		}
	}
	if (status < 0 && status != -ENOMEM)
		tare_error_prefix(error, "%s", options->file);
	tare_module_free(module);
	return status;
}
