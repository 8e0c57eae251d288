// SPDX-License-Identifier: Apache-2.0
// SPIR-V into an OpenCL program: constants and variables worked in, translated where the device
// takes no SPIR-V, built.
#include "kernel/ending.h"
#include "module/program.h"
#include "module/translate.h"
#include "spirv/spirv_generic.h"
#include "spirv/spirv_half.h"
#include "spirv/spirv_rewrite.h"

#include "backend/spirv_words.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GLOBAL_ALIGNMENT 128 // of the widest type, double16

// What flags of Level Zero are to OpenCL. "" is passed over: it tunes a GPU.
static const struct {
	const char *flag, *option;
} flag_options[] = {
	{ "-ze-opt-disable", "-cl-opt-disable" },
	{ "-ze-opt-greater-than-4GB-buffer-required", "" },
	{ "-ze-opt-large-register-file", "" },
	{ "-ze-opt-has-buffer-offset-arg", "" },
	{ "-g", "" },
};

static const char *option_of(const char *flag)
{
	for (size_t i = 0; i < sizeof flag_options / sizeof *flag_options; i++)
		if (strcmp(flag, flag_options[i].flag) == 0)
			return flag_options[i].option;
	if (strncmp(flag, "-ze-opt-level", strlen("-ze-opt-level")) == 0) {
		const char *level = flag + strcspn(flag, "0123456789");
		return *level == '0' ? "-cl-opt-disable" : "";
	}
	return strncmp(flag, "-cl-", strlen("-cl-")) == 0 ? flag : NULL;
}

static void map_flags(const char *flags, char *options, size_t bytes,
                      ze_module_build_log_handle_t log)
{
	char *copy = strdup(flags), *rest = copy;
	size_t used = 0;

	options[0] = '\0';
	for (char *flag; copy && (flag = strtok_r(rest, " \t\n", &rest));) {
		// "-ze-opt-level 2" is one flag in two words.
		if (strspn(flag, "012345") == strlen(flag))
			continue;
		const char *option = option_of(flag);
		if (!option)
			build_log_add(log, "warning: the flag %s is passed over", flag);
		else if (*option && used + strlen(option) + 2 < bytes)
			used += (size_t)snprintf(options + used, bytes - used, " %s", option);
	}
	free(copy);
}

static ze_result_t place_globals(struct cpu_program *program)
{
	const struct tare_spirv *spirv = program->spirv;

	struct program_globals *globals =
	    calloc(1, sizeof *globals + spirv->variable_count * sizeof *globals->all);

	program->globals = globals;
	if (!globals)
		return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
	globals->references = 1;
	for (uint32_t i = 0; i < spirv->variable_count; i++) {
		struct program_global *global = &globals->all[globals->count];
		const struct tare_spirv_variable *variable = &spirv->variables[i];
		// Constant memory that nothing names or points to stays where the compiler puts it.
		if (variable->constant && !variable->exported && !variable->addressed)
			continue;
		// The size is the module's word: no more than the program might allocate itself.
		if (variable->bytes > SIZE_MAX / 2 ||
		    (cpu_device.script.device.largest_bytes &&
		     variable->bytes > cpu_device.script.device.largest_bytes))
			return ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
		size_t bytes =
		    (variable->bytes + GLOBAL_ALIGNMENT) / GLOBAL_ALIGNMENT * GLOBAL_ALIGNMENT;
		global->at = aligned_alloc(GLOBAL_ALIGNMENT, bytes);
		if (!global->at)
			return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
		memset(global->at, 0, bytes);
		global->bytes = variable->bytes;
		global->name = variable->name;
		global->id = variable->id;
		global->exported = variable->exported;
		globals->count++;
	}
	return ZE_RESULT_SUCCESS;
}

static ze_result_t rewrite(struct cpu_program *program, ze_module_build_log_handle_t log)
{
	void *changed;
	size_t changed_bytes;
	struct tare_error error = { .message = "" };
	const struct program_globals *globals = program->globals;
	struct spirv_placement *placements = calloc(globals->count + (size_t)1, sizeof *placements);

	if (!placements)
		return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
	for (uint32_t i = 0; i < globals->count; i++)
		placements[i] = (struct spirv_placement){ globals->all[i].id, globals->all[i].at };
	int code = spirv_rewrite(program->il, program->il_bytes, program->constants,
	                         program->constant_count, placements, globals->count, &changed,
	                         &changed_bytes, &error);
	free(placements);
	if (!code) {
		program->ready = changed;
		program->ready_bytes = changed_bytes;
		return ZE_RESULT_SUCCESS;
	}
	build_log_add(log, "error: %s", error.message);
	return code == -ENOMEM ? ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY
	                       : ZE_RESULT_ERROR_MODULE_BUILD_FAILURE;
}

typedef int lowering(const void *data, size_t bytes, void **changed, size_t *changed_bytes,
                     struct tare_error *error);

// What the device lacks is written in what it has.
static ze_result_t lower(struct cpu_program *program, lowering *change,
                         ze_module_build_log_handle_t log)
{
	void *changed;
	size_t changed_bytes;
	struct tare_error error = { .message = "" };
	int code = change(program->ready, program->ready_bytes, &changed, &changed_bytes, &error);

	if (code) {
		build_log_add(log, "error: %s", error.message);
		return code == -ENOMEM ? ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY
		                       : ZE_RESULT_ERROR_MODULE_BUILD_FAILURE;
	}
	if (!changed)
		return ZE_RESULT_SUCCESS;
	if (program->ready != program->il)
		free(program->ready);
	program->ready = changed;
	program->ready_bytes = changed_bytes;
	return ZE_RESULT_SUCCESS;
}

static void add_opencl_log(const struct cpu_opencl *opencl, cl_program program,
                           ze_module_build_log_handle_t log)
{
	size_t bytes = 0;

	opencl->cl->clGetProgramBuildInfo(program, opencl->device, CL_PROGRAM_BUILD_LOG, 0, NULL,
	                                  &bytes);
	char *text = bytes ? calloc(1, bytes + 1) : NULL;
	if (text && opencl->cl->clGetProgramBuildInfo(program, opencl->device, CL_PROGRAM_BUILD_LOG,
	                                              bytes, text, NULL) == CL_SUCCESS)
		build_log_add(log, "%s", text);
	free(text);
}

// The OpenCL program of SPIR-V (`spirv`), not built yet; *options are those it has to be built
// with.
static cl_program load(const struct cpu_opencl *opencl, const void *spirv, size_t bytes,
                       const char **options, ze_module_build_log_handle_t log)
{
	cl_int code = CL_SUCCESS, status = CL_SUCCESS;
	void *bitcode;
	size_t bitcode_bytes;

	*options = "";
	if (opencl->takes_spirv && !translator_is_named()) {
		cl_program made =
		    opencl->cl->clCreateProgramWithIL(opencl->context, spirv, bytes, &code);
		if (!made)
			build_log_add(
			    log, "error: %s does not take the SPIR-V (clCreateProgramWithIL %d)",
			    opencl->name, code);
		return made;
	}
	if (translate_spirv(spirv, bytes, opencl->llvm, &bitcode, &bitcode_bytes, log))
		return NULL;
	*options = "-x spir -spir-std=1.2";
	cl_program program = opencl->cl->clCreateProgramWithBinary(
	    opencl->context, 1, &opencl->device, &bitcode_bytes, (const unsigned char **)&bitcode,
	    &status, &code);
	free(bitcode);
	if (code || !program) {
		build_log_add(
		    log,
		    "error: %s does not take the translated module (clCreateProgramWithBinary "
		    "%d); %s",
		    opencl->name, code,
		    opencl->takes_spirv ? "it takes SPIR-V itself: unset ZE_CPU_LLVM_SPIRV"
		                        : "the translator may be newer than its LLVM");
		return NULL;
	}
	return program;
}

static cl_program compile(const struct cpu_program *program, const void *spirv, size_t bytes,
                          bool *taken, ze_module_build_log_handle_t log)
{
	const struct cpu_opencl *opencl = program->opencl;
	const char *needed;
	char flags[512], options[640];
	cl_program loaded = load(opencl, spirv, bytes, &needed, log);

	*taken = loaded != NULL;
	if (!loaded)
		return NULL;
	map_flags(program->flags, flags, sizeof flags, log);
	snprintf(options, sizeof options, "%s%s", needed, flags);
	cl_int code = opencl->cl->clBuildProgram(loaded, 1, &opencl->device, options, NULL, NULL);
	add_opencl_log(opencl, loaded, log);
	if (!code)
		return loaded;
	build_log_add(log, "error: %s cannot build the module (clBuildProgram %d)", opencl->name,
	              code);
	opencl->cl->clReleaseProgram(loaded);
	return NULL;
}

cl_program program_compile(const struct cpu_program *program, const void *spirv, size_t bytes,
                           bool *taken, ze_module_build_log_handle_t log)
{
	static atomic_bool compiled;

	*taken = false;
	ending_watch_thread();
	if (!ending_compiles()) {
		build_log_add(log, "error: the process ends");
		return NULL;
	}
	cl_program made = compile(program, spirv, bytes, taken, log);
	if (!atomic_exchange(&compiled, true))
		ending_watch();
	ending_compiled();
	return made;
}

// What is imported may be the device's own functions; only building tells.
static ze_result_t build(struct cpu_program *program, ze_module_build_log_handle_t log)
{
	const struct tare_spirv *spirv = program->spirv;
	bool taken;

	program->built =
	    program_compile(program, program->ready, program->ready_bytes, &taken, log);
	if (program->built)
		return ZE_RESULT_SUCCESS;
	if (!spirv->import_count || !taken)
		return ZE_RESULT_ERROR_MODULE_BUILD_FAILURE;
	for (uint32_t i = 0; i < spirv->import_count; i++)
		build_log_add(log, "note: %s is imported; zeModuleDynamicLink joins modules",
		              spirv->imports[i]);
	return ZE_RESULT_SUCCESS;
}

// Every module says how its pointers look. One that does not was cut off, perhaps behind its
// header, and translators make an empty program of it.
static int check_whole(const struct cpu_program *program, struct tare_error *error)
{
	struct spirv_words words;
	bool found = false;
	int code = spirv_words_read(program->il, program->il_bytes, &words, error);

	if (code)
		return code;
	for (size_t at = SPIRV_HEADER_WORDS; at < words.count && !found;
	     at += spirv_length(&words, at))
		found = spirv_op(&words, at) == SPIRV_MEMORY_MODEL;
	spirv_words_free(&words);
	return found ? 0
	             : tare_fail(error, EINVAL, "this SPIR-V is cut off: it has no memory model");
}

ze_result_t program_build(struct cpu_program *program, ze_module_build_log_handle_t log)
{
	struct tare_error error = { .message = "" };
	char why[512];
	int code = tare_spirv_read(program->il, program->il_bytes, &program->spirv, &error);

	if (!code)
		code = check_whole(program, &error);
	if (code) {
		build_log_add(log, "error: %s", error.message);
		return code == -ENOMEM ? ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY
		                       : ZE_RESULT_ERROR_MODULE_BUILD_FAILURE;
	}
	program->opencl = cpu_opencl(why, sizeof why);
	if (!program->opencl) {
		build_log_add(log, "error: %s", why);
		return ZE_RESULT_ERROR_MODULE_BUILD_FAILURE;
	}
	program->idle = calloc(program->spirv->kernel_count + 1, sizeof *program->idle);
	ze_result_t result =
	    program->idle ? place_globals(program) : ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
	program->ready = program->il;
	program->ready_bytes = program->il_bytes;
	if (!result && (program->globals->count || program->constant_count))
		result = rewrite(program, log);
	if (!result && !program->opencl->half)
		result = lower(program, spirv_half, log);
	if (!result)
		result = lower(program, spirv_generic, log);
	return result ? result : build(program, log);
}
