// SPDX-License-Identifier: Apache-2.0
// Any bytes as a SPIR-V module: what is read must be told without harm, and what is changed must be
// a module again. Memory for variables is as large as the module says, up to a limit.
// In the corpus, globals.spv was compiled from OpenCL C, constants.spv and half.spv assembled by
// spirv-as.
#include "target.h"

#include "spirv/spirv_generic.h"
#include "spirv/spirv_half.h"
#include "spirv/spirv_rewrite.h"

#include <errno.h>
#include <string.h>

enum { MOST = 8, LARGEST_VARIABLE = 1 << 16 };

static void check_refusal(int status, const struct tare_error *error)
{
	FUZZ_CHECK(status == -EINVAL || status == -ENOTSUP);
	FUZZ_CHECK(error->code == status && error->message[0] && !strchr(error->message, '\n'));
}

static void change(const uint8_t *data, size_t size, const struct tare_spirv *module)
{
	static const uint64_t value = UINT64_C(0x8001020304050607);
	struct spirv_specialisation constants[MOST];
	struct spirv_placement placements[MOST];
	struct tare_error error = { 0 };
	struct tare_spirv *again = NULL;
	uint32_t constant_count = 0, placement_count = 0;
	size_t bytes;
	void *changed;

	for (uint32_t i = 0; i < module->constant_count && i < MOST; i++)
		constants[constant_count++] = (struct spirv_specialisation){
			module->constants[i].id,
			&value,
			module->constants[i].bytes,
		};
	for (uint32_t i = 0; i < module->variable_count && placement_count < MOST; i++)
		if (module->variables[i].bytes <= LARGEST_VARIABLE) {
			// A block of the exact size lets the address sanitizer see a write beyond
			// it.
			void *at =
			    malloc(module->variables[i].bytes ? module->variables[i].bytes : 1);
			FUZZ_CHECK(at);
			placements[placement_count++] =
			    (struct spirv_placement){ module->variables[i].id, at };
		}
	int status = spirv_rewrite(data, size, constants, constant_count, placements,
	                           placement_count, &changed, &bytes, &error);
	if (status < 0) {
		check_refusal(status, &error);
		FUZZ_CHECK(!changed && !bytes);
	} else {
		FUZZ_CHECK(tare_spirv_read(changed, bytes, &again, &error) == 0);
		FUZZ_CHECK(again->kernel_count == module->kernel_count);
		for (uint32_t i = 0; i < again->variable_count; i++)
			for (uint32_t k = 0; k < placement_count; k++)
				FUZZ_CHECK(again->variables[i].id != placements[k].id);
	}
	tare_spirv_free(again);
	free(changed);
	for (uint32_t i = 0; i < placement_count; i++)
		free(placements[i].at);
}

typedef int lowering(const void *data, size_t bytes, void **changed, size_t *changed_bytes,
                     struct tare_error *error);

static void lower(lowering *made_by, const uint8_t *data, size_t size,
                  const struct tare_spirv *module)
{
	struct tare_error error = { 0 };
	struct tare_spirv *again = NULL;
	size_t bytes;
	void *changed;
	int status = made_by(data, size, &changed, &bytes, &error);

	if (status < 0) {
		check_refusal(status, &error);
		FUZZ_CHECK(!changed && !bytes);
	} else if (changed) {
		FUZZ_CHECK(bytes > size);
		FUZZ_CHECK(tare_spirv_read(changed, bytes, &again, &error) == 0);
		FUZZ_CHECK(again->kernel_count == module->kernel_count);
	}
	tare_spirv_free(again);
	free(changed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tare_error error = { 0 };
	struct tare_spirv *module;
	int status = tare_spirv_read(data, size, &module, &error);
	size_t length = 0;

	if (status < 0) {
		check_refusal(status, &error);
		FUZZ_CHECK(!module);
		return 0;
	}
	for (uint32_t i = 0; i < module->kernel_count; i++) {
		length += strlen(module->kernels[i].name);
		for (uint32_t k = 0; k < module->kernels[i].parameter_count; k++) {
			const struct tare_parameter *parameter = &module->kernels[i].parameters[k];
			length += strlen(parameter->name) + strlen(parameter->type);
			FUZZ_CHECK(parameter->bytes >= -1);
		}
	}
	for (uint32_t i = 0; i < module->variable_count; i++)
		length += strlen(module->variables[i].name);
	FUZZ_CHECK(length < SIZE_MAX);
	change(data, size, module);
	lower(spirv_half, data, size, module);
	lower(spirv_generic, data, size, module);
	tare_spirv_free(module);
	return 0;
}
