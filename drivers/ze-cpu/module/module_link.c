// SPDX-License-Identifier: Apache-2.0
// Linking works on SPIR-V: a module that imports is built again, together with the modules that
// export. Variables stay one for all, since each module's are at addresses of its own by then.
#include "module/program.h"
#include "module/translate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { SPIRV_HEAD = 5 }; // words

static bool exports(const struct cpu_program *program, const char *name)
{
	for (uint32_t i = 0; i < program->spirv->function_count; i++)
		if (strcmp(program->spirv->functions[i], name) == 0)
			return true;
	return false;
}

// What to link `programs[at]` with: itself, those that export what is imported, and so on.
static uint32_t needed_for(struct cpu_program **programs, uint32_t count, uint32_t at, bool *needed,
                           ze_module_build_log_handle_t log)
{
	uint32_t missing = 0;
	bool more = true;

	memset(needed, 0, count * sizeof *needed);
	needed[at] = true;
	while (more) {
		more = false;
		missing = 0;
		for (uint32_t i = 0; i < count; i++)
			for (uint32_t k = 0; needed[i] && k < programs[i]->spirv->import_count;
			     k++) {
				uint32_t from = 0;
				while (from < count &&
				       !exports(programs[from], programs[i]->spirv->imports[k]))
					from++;
				missing += from == count;
				if (from < count && !needed[from])
					needed[from] = more = true;
			}
	}
	for (uint32_t i = 0; missing && i < count; i++)
		for (uint32_t k = 0; needed[i] && k < programs[i]->spirv->import_count; k++) {
			uint32_t from = 0;
			while (from < count &&
			       !exports(programs[from], programs[i]->spirv->imports[k]))
				from++;
			if (from == count)
				build_log_add(log, "error: no module exports %s",
				              programs[i]->spirv->imports[k]);
		}
	return missing;
}

static ze_result_t adopt(struct cpu_program *program, cl_program built,
                         struct cpu_program **programs, uint32_t count, const bool *needed)
{
	struct program_globals **linked = calloc(count, sizeof *linked);

	pthread_mutex_lock(&program->lock);
	bool first = linked && !program->built;
	if (first) {
		program->built = built;
		program->linked = linked;
		for (uint32_t i = 0; i < count; i++)
			if (needed[i] && programs[i] != program) {
				atomic_fetch_add(&programs[i]->globals->references, 1);
				linked[program->linked_count++] = programs[i]->globals;
			}
	}
	pthread_mutex_unlock(&program->lock);
	if (!first) {
		program->opencl->cl->clReleaseProgram(built);
		free(linked);
	}
	return linked ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
}

// spirv-link wants one version: the highest, since each version reads what earlier ones wrote.
int program_join(const void *const *modules, const size_t *bytes, uint32_t count, void **linked,
                 size_t *linked_bytes, ze_module_build_log_handle_t log)
{
	uint32_t version = 0, **copies = calloc(count + (size_t)1, sizeof *copies);
	int result = copies ? 0 : -ENOMEM;

	for (uint32_t i = 0; !result && i < count; i++) {
		copies[i] = malloc(bytes[i]);
		if (!copies[i])
			result = -ENOMEM;
		else if (bytes[i] < SPIRV_HEAD * sizeof **copies)
			result = -EINVAL;
		if (result)
			break;
		memcpy(copies[i], modules[i], bytes[i]);
		version = copies[i][1] > version ? copies[i][1] : version;
	}
	for (uint32_t i = 0; !result && i < count; i++)
		copies[i][1] = version;
	if (result)
		build_log_add(log, "error: %s",
		              result == -EINVAL ? "a module is no SPIR-V" : "out of memory");
	else
		result = link_spirv((const void *const *)copies, bytes, count, linked, linked_bytes,
		                    log);
	for (uint32_t i = 0; copies && i < count; i++)
		free(copies[i]);
	free(copies);
	return result;
}

static ze_result_t link_one(struct cpu_program **programs, uint32_t count, uint32_t at,
                            ze_module_build_log_handle_t log)
{
	bool *needed = calloc(count, sizeof *needed);
	const void **modules = calloc(count, sizeof *modules);
	size_t *bytes = calloc(count, sizeof *bytes), linked_bytes = 0;
	void *linked = NULL;
	uint32_t used = 0;
	ze_result_t result =
	    needed && modules && bytes ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;

	if (!result && needed_for(programs, count, at, needed, log))
		result = ZE_RESULT_ERROR_MODULE_LINK_FAILURE;
	for (uint32_t i = 0; !result && i < count; i++)
		if (needed[i]) {
			modules[used] = programs[i]->ready;
			bytes[used++] = programs[i]->ready_bytes;
		}
	if (!result && program_join(modules, bytes, used, &linked, &linked_bytes, log))
		result = ZE_RESULT_ERROR_MODULE_LINK_FAILURE;
	if (!result) {
		bool taken;
		cl_program built = program_compile(programs[at], linked, linked_bytes, &taken, log);
		result = built ? adopt(programs[at], built, programs, count, needed)
		               : ZE_RESULT_ERROR_MODULE_LINK_FAILURE;
	}
	free(linked);
	free(bytes);
	free(modules);
	free(needed);
	return result;
}

static ze_result_t link_all(uint32_t count, ze_module_handle_t *modules,
                            ze_module_build_log_handle_t log)
{
	struct cpu_program **programs = calloc(count + (size_t)1, sizeof *programs);
	ze_result_t result = programs ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;

	for (uint32_t i = 0; !result && i < count; i++) {
		if (!modules[i])
			result = ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
		else
			programs[i] = modules[i]->program;
	}
	for (uint32_t i = 0; !result && i < count; i++)
		if (!program_is_built(programs[i]))
			result = link_one(programs, count, i, log);
	free(programs);
	return result;
}

ze_result_t cpu_zeModuleDynamicLink(uint32_t count, ze_module_handle_t *modules,
                                    ze_module_build_log_handle_t *link_log)
{
	if (!modules)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	ze_module_build_log_handle_t log = build_log_new();
	if (!log)
		return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
	ze_result_t result = link_all(count, modules, log);
	if (result)
		cpu_log("modules not linked: %s", log->text);
	if (link_log)
		*link_log = log;
	else
		build_log_free(log);
	return result;
}

static void list(ze_module_build_log_handle_t log, const char *title, char *const *names,
                 uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		build_log_add(log, "%s: %s", title, names[i]);
}

ze_result_t cpu_zeModuleInspectLinkageExt(ze_linkage_inspection_ext_desc_t *description,
                                          uint32_t count, ze_module_handle_t *modules,
                                          ze_module_build_log_handle_t *log)
{
	if (!description || !modules || !log)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	if (description->flags > 0x7)
		return ZE_RESULT_ERROR_INVALID_ENUMERATION;
	for (uint32_t i = 0; i < count; i++)
		if (!modules[i])
			return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	ze_module_build_log_handle_t made = build_log_new();
	if (!made)
		return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
	for (uint32_t i = 0; i < count; i++) {
		const struct tare_spirv *spirv = modules[i]->program->spirv;
		if (description->flags & ZE_LINKAGE_INSPECTION_EXT_FLAG_IMPORTS)
			list(made, "import", spirv->imports, spirv->import_count);
		if (description->flags & ZE_LINKAGE_INSPECTION_EXT_FLAG_EXPORTS)
			list(made, "export", spirv->functions, spirv->function_count);
		for (uint32_t k = 0;
		     description->flags & ZE_LINKAGE_INSPECTION_EXT_FLAG_UNRESOLVABLE_IMPORTS &&
		     k < spirv->import_count;
		     k++) {
			uint32_t from = 0;
			while (from < count && !exports(modules[from]->program, spirv->imports[k]))
				from++;
			if (from == count)
				list(made, "unresolvable import", &spirv->imports[k], 1);
		}
	}
	*log = made;
	return ZE_RESULT_SUCCESS;
}
