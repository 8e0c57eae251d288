// SPDX-License-Identifier: Apache-2.0
#include "module/program.h"
#include "spirv/spirv_rewrite.h"

#include <stdlib.h>
#include <string.h>

static void release_kernels(struct cpu_program *program)
{
	for (uint32_t i = 0; program->idle && i < program->spirv->kernel_count; i++)
		for (struct idle_kernel *kernel = program->idle[i], *next; kernel; kernel = next) {
			next = kernel->next;
			program->opencl->cl->clReleaseKernel(kernel->kernel);
			free(kernel);
		}
	free(program->idle);
}

void program_globals_release(struct program_globals *globals)
{
	if (!globals || atomic_fetch_sub(&globals->references, 1) > 1)
		return;
	for (uint32_t i = 0; i < globals->count; i++)
		free(globals->all[i].at);
	free(globals);
}

void program_release(struct cpu_program *program)
{
	if (!program || atomic_fetch_sub(&program->references, 1) > 1 || cpu_forked)
		return;
	release_kernels(program);
	if (program->built)
		program->opencl->cl->clReleaseProgram(program->built);
	for (uint32_t i = 0; i < program->linked_count; i++)
		program_globals_release(program->linked[i]);
	free(program->linked);
	program_globals_release(program->globals);
	tare_spirv_free(program->spirv);
	free(program->constants);
	free(program->constant_values);
	free(program->flags);
	if (program->ready != program->il)
		free(program->ready);
	free(program->il);
	pthread_mutex_destroy(&program->lock);
	free(program);
}

struct cpu_program *program_hold(struct cpu_program *program)
{
	atomic_fetch_add(&program->references, 1);
	return program;
}

static bool copy_source(struct cpu_program *program, const struct program_source *source)
{
	program->il = malloc(source->il_bytes);
	program->flags = strdup(source->flags ? source->flags : "");
	program->constants = calloc(source->constant_count + 1, sizeof *program->constants);
	program->constant_values =
	    calloc(source->constant_count + 1, sizeof *program->constant_values);
	if (!program->il || !program->flags || !program->constants || !program->constant_values)
		return false;
	memcpy(program->il, source->il, source->il_bytes);
	program->il_bytes = source->il_bytes;
	program->constant_count = source->constant_count;
	for (uint32_t i = 0; i < source->constant_count; i++) {
		program->constants[i] = source->constants[i];
		memcpy(&program->constant_values[i], source->constants[i].value,
		       source->constants[i].bytes);
		program->constants[i].value = &program->constant_values[i];
	}
	return true;
}

ze_result_t program_new(const struct program_source *source, ze_module_build_log_handle_t log,
                        struct cpu_program **program)
{
	struct cpu_program *made = calloc(1, sizeof *made);

	if (!made)
		return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
	made->references = 1;
	pthread_mutex_init(&made->lock, NULL);
	ze_result_t result = copy_source(made, source) ? program_build(made, log)
	                                               : ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
	if (result) {
		program_release(made);
		return result;
	}
	*program = made;
	return ZE_RESULT_SUCCESS;
}

bool program_is_built(struct cpu_program *program)
{
	pthread_mutex_lock(&program->lock);
	bool built = program->built != NULL;
	pthread_mutex_unlock(&program->lock);
	return built;
}

cl_kernel program_take_kernel(struct cpu_program *program, uint32_t index)
{
	cl_kernel kernel = NULL;
	cl_int code;

	pthread_mutex_lock(&program->lock);
	struct idle_kernel *idle = program->idle[index];
	if (idle)
		program->idle[index] = idle->next;
	else if (program->built)
		kernel = program->opencl->cl->clCreateKernel(
		    program->built, program->spirv->kernels[index].name, &code);
	pthread_mutex_unlock(&program->lock);
	if (idle)
		kernel = idle->kernel;
	free(idle);
	return kernel;
}

void program_give_kernel(struct cpu_program *program, uint32_t index, cl_kernel kernel)
{
	struct idle_kernel *idle = malloc(sizeof *idle);

	if (!idle) {
		program->opencl->cl->clReleaseKernel(kernel);
		return;
	}
	idle->kernel = kernel;
	pthread_mutex_lock(&program->lock);
	idle->next = program->idle[index];
	program->idle[index] = idle;
	pthread_mutex_unlock(&program->lock);
}
