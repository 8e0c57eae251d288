// SPDX-License-Identifier: Apache-2.0
#include "module/program.h"
#include "spirv/spirv_rewrite.h"

#include <stdlib.h>
#include <string.h>

static bool device_is_lost(void)
{
	pthread_mutex_lock(&work_lock);
	bool lost = cpu_device.lost;
	pthread_mutex_unlock(&work_lock);
	return lost;
}

// Values of specialisation constants, with the sizes that the SPIR-V gives them.
static ze_result_t take_constants(const struct program_source *source,
                                  const ze_module_constants_t *given,
                                  struct spirv_specialisation **constants, uint32_t *count,
                                  ze_module_build_log_handle_t log)
{
	struct tare_error error = { .message = "" };
	struct tare_spirv *spirv;

	if (given->numConstants && (!given->pConstantIds || !given->pConstantValues))
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	if (tare_spirv_read(source->il, source->il_bytes, &spirv, &error)) {
		build_log_add(log, "error: %s", error.message);
		return ZE_RESULT_ERROR_MODULE_BUILD_FAILURE;
	}
	*constants = calloc(given->numConstants + (size_t)1, sizeof **constants);
	ze_result_t result = *constants ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
	for (uint32_t i = 0; !result && i < given->numConstants; i++) {
		uint32_t id = given->pConstantIds[i], bytes = 0;
		for (uint32_t k = 0; k < spirv->constant_count; k++)
			if (spirv->constants[k].id == id)
				bytes = spirv->constants[k].bytes;
		if (!bytes)
			build_log_add(log,
			              "warning: the module has no specialisation constant %u; "
			              "its value is passed over",
			              id);
		else if (!given->pConstantValues[i])
			result = ZE_RESULT_ERROR_INVALID_NULL_POINTER;
		else
			(*constants)[(*count)++] =
			    (struct spirv_specialisation){ id, given->pConstantValues[i], bytes };
	}
	tare_spirv_free(spirv);
	return result;
}

// Several modules in one description, for which the driver answers as for one that they are linked
// to. *linked is the caller's to free; `whole` is the description of that.
static ze_result_t join_inputs(const ze_module_desc_t *description,
                               ze_module_build_log_handle_t log, void **linked,
                               ze_module_desc_t *whole)
{
	const ze_module_program_exp_desc_t *parts = description->pNext;
	size_t bytes;

	*whole = *description;
	if (!parts || parts->stype != ZE_STRUCTURE_TYPE_MODULE_PROGRAM_EXP_DESC)
		return ZE_RESULT_SUCCESS;
	if (description->format != ZE_MODULE_FORMAT_IL_SPIRV || !parts->count)
		return ZE_RESULT_ERROR_INVALID_ARGUMENT;
	if (!parts->inputSizes || !parts->pInputModules)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	for (uint32_t i = 0; i < parts->count; i++) {
		if (!parts->pInputModules[i])
			return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
		if (parts->pConstants && parts->pConstants[i] &&
		    parts->pConstants[i]->numConstants) {
			build_log_add(log, "error: specialisation constants of one of several "
			                   "modules are not supported");
			return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
		}
	}
	if (program_join((const void *const *)parts->pInputModules, parts->inputSizes, parts->count,
	                 linked, &bytes, log))
		return ZE_RESULT_ERROR_MODULE_LINK_FAILURE;
	whole->pInputModule = *linked;
	whole->inputSize = bytes;
	whole->pBuildFlags = parts->pBuildFlags ? parts->pBuildFlags[0] : NULL;
	whole->pConstants = NULL;
	return ZE_RESULT_SUCCESS;
}

static ze_result_t make_program(const ze_module_desc_t *description,
                                ze_module_build_log_handle_t log, struct cpu_program **program)
{
	struct program_source source = { .il = description->pInputModule,
		                         .il_bytes = description->inputSize,
		                         .flags = description->pBuildFlags };
	struct spirv_specialisation *constants = NULL;
	uint64_t *values = NULL;
	ze_result_t result = ZE_RESULT_SUCCESS;

	if (!source.il)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	if (!source.il_bytes)
		return ZE_RESULT_ERROR_INVALID_SIZE;
	if (cpu_device.script.faults.build_log[0]) {
		build_log_add(log, "%s", cpu_device.script.faults.build_log);
		return ZE_RESULT_ERROR_MODULE_BUILD_FAILURE;
	}
	if (description->format == ZE_MODULE_FORMAT_NATIVE) {
		if (!native_read(description->pInputModule, description->inputSize, &source,
		                 &constants, &values)) {
			build_log_add(log, "error: no native binary of this driver; "
			                   "zeModuleGetNativeBinary gives one");
			return ZE_RESULT_ERROR_INVALID_NATIVE_BINARY;
		}
	} else if (description->pConstants) {
		result = take_constants(&source, description->pConstants, &constants,
		                        &source.constant_count, log);
		source.constants = constants;
	}
	if (!result)
		result = program_new(&source, log, program);
	free(constants);
	free(values);
	return result;
}

ze_result_t cpu_zeModuleCreate(ze_context_handle_t context, ze_device_handle_t device,
                               const ze_module_desc_t *description, ze_module_handle_t *module,
                               ze_module_build_log_handle_t *build_log)
{
	if (!context || !device)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (!description || !module)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	if (description->format > ZE_MODULE_FORMAT_NATIVE)
		return ZE_RESULT_ERROR_INVALID_ENUMERATION;
	if (device_is_lost())
		return ZE_RESULT_ERROR_DEVICE_LOST;
	ze_module_build_log_handle_t log = build_log_new();
	ze_module_handle_t made = calloc(1, sizeof *made);
	ze_module_desc_t whole;
	void *linked = NULL;

	*module = NULL;
	ze_result_t result = log && made ? join_inputs(description, log, &linked, &whole)
	                                 : ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
	if (!result)
		result = make_program(&whole, log, &made->program);
	free(linked);
	if (result) {
		if (log && log->bytes)
			cpu_log("module not built: %s", log->text);
		free(made);
	} else {
		made->context = context;
		made->device = device;
		*module = made;
	}
	if (build_log)
		*build_log = log;
	else
		build_log_free(log);
	return result;
}

static void release_program(void *program)
{
	program_release(program);
}

ze_result_t cpu_zeModuleDestroy(ze_module_handle_t module)
{
	if (!module)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	// Kernels and launches hold the program; copies from its globals do not.
	cpu_when_unused(release_program, module->program);
	free(module);
	return ZE_RESULT_SUCCESS;
}

ze_result_t cpu_zeModuleGetNativeBinary(ze_module_handle_t module, size_t *size, uint8_t *binary)
{
	if (!module)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (!size)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	size_t needed = native_write(module->program, NULL);
	if (binary && *size < needed)
		return ZE_RESULT_ERROR_INVALID_SIZE;
	if (binary)
		native_write(module->program, binary);
	*size = needed;
	return ZE_RESULT_SUCCESS;
}

ze_result_t cpu_zeModuleGetGlobalPointer(ze_module_handle_t module, const char *name, size_t *size,
                                         void **pointer)
{
	if (!module)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (!name)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	const struct program_globals *globals = module->program->globals;
	for (uint32_t i = 0; i < globals->count; i++)
		if (globals->all[i].exported && strcmp(globals->all[i].name, name) == 0) {
			if (size)
				*size = globals->all[i].bytes;
			if (pointer)
				*pointer = globals->all[i].at;
			return ZE_RESULT_SUCCESS;
		}
	return ZE_RESULT_ERROR_INVALID_GLOBAL_NAME;
}

ze_result_t cpu_zeModuleGetKernelNames(ze_module_handle_t module, uint32_t *count,
                                       const char **names)
{
	if (!module)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (!count)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	const struct tare_spirv *spirv = module->program->spirv;
	uint32_t wanted = names ? *count : 0;
	if (!wanted || wanted > spirv->kernel_count)
		*count = spirv->kernel_count;
	for (uint32_t i = 0; i < wanted && i < *count; i++)
		names[i] = spirv->kernels[i].name;
	return ZE_RESULT_SUCCESS;
}

ze_result_t cpu_zeModuleGetProperties(ze_module_handle_t module, ze_module_properties_t *properties)
{
	if (!module)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (!properties)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	properties->flags =
	    module->program->spirv->import_count ? ZE_MODULE_PROPERTY_FLAG_IMPORTS : 0;
	return ZE_RESULT_SUCCESS;
}

// Each launch may be other machine code: there is no address to give.
ze_result_t cpu_zeModuleGetFunctionPointer(ze_module_handle_t module, const char *name,
                                           void **function)
{
	if (!module)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (!name || !function)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	const struct tare_spirv *spirv = module->program->spirv;
	bool known = tare_spirv_kernel(spirv, name) != NULL;
	for (uint32_t i = 0; !known && i < spirv->function_count; i++)
		known = strcmp(spirv->functions[i], name) == 0;
	if (!known)
		return ZE_RESULT_ERROR_INVALID_FUNCTION_NAME;
	*function = NULL;
	return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
}
