// SPDX-License-Identifier: Apache-2.0
// What a module handle stands for: SPIR-V, built for the OpenCL device. It outlives its handle
// while kernels and launches of it are left.
#pragma once
#include "backend/spirv.h"
#include "module/build_log.h"
#include "module/opencl.h"
#include "ze_cpu.h"

#include <stdatomic.h>

struct spirv_specialisation;

// A program-scope variable, at an address of its own.
struct program_global {
	const char *name; // of the SPIR-V's record: as long as the program lives
	uint32_t id;
	bool exported;
	void *at;
	size_t bytes;
};

// They outlive their program where another one was linked with it.
struct program_globals {
	atomic_uint references;
	uint32_t count;
	struct program_global all[];
};

// OpenCL kernels are stateful: each launch takes one that nobody uses.
struct idle_kernel {
	struct idle_kernel *next;
	cl_kernel kernel;
};

struct cpu_program {
	atomic_uint references;
	const struct cpu_opencl *opencl;
	void *il; // the SPIR-V as it was given
	size_t il_bytes;
	char *flags;                            // build flags as they were given, "" for none
	struct spirv_specialisation *constants; // values are copies, in constant_values
	uint64_t *constant_values;
	uint32_t constant_count;
	struct tare_spirv *spirv;
	struct program_globals *globals;
	// the SPIR-V with constants and globals worked in; may be `il`
	void *ready;
	size_t ready_bytes;
	pthread_mutex_t lock;            // guards what follows
	cl_program built;                // NULL: its imports are not resolved yet
	struct program_globals **linked; // that `built` uses as well
	uint32_t linked_count;
	struct idle_kernel **idle; // by kernel of the SPIR-V
};

struct _ze_module_handle_t {
	ze_context_handle_t context;
	ze_device_handle_t device;
	struct cpu_program *program;
};

// What is to be built; all borrowed.
struct program_source {
	const void *il;
	size_t il_bytes;
	const char *flags;
	const struct spirv_specialisation *constants;
	uint32_t constant_count;
};

// Links SPIR-V modules into one, which is the caller's to free. What went wrong is in the log. 0 or
// a negative errno.
int program_join(const void *const *modules, const size_t *bytes, uint32_t count, void **linked,
                 size_t *linked_bytes, ze_module_build_log_handle_t log);

// Builds it. Everything that the user should read is in the log.
// ZE_RESULT_ERROR_MODULE_BUILD_FAILURE, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY.
ze_result_t program_new(const struct program_source *source, ze_module_build_log_handle_t log,
                        struct cpu_program **program);
struct cpu_program *program_hold(struct cpu_program *program);
void program_release(struct cpu_program *program);             // NULL is legal
void program_globals_release(struct program_globals *globals); // NULL is legal

// A kernel of the built program that nobody else uses until it is given back; NULL: out of memory,
// or the device has no such kernel. `index` is the SPIR-V's.
cl_kernel program_take_kernel(struct cpu_program *program, uint32_t index);
void program_give_kernel(struct cpu_program *program, uint32_t index, cl_kernel kernel);
// Its imports are resolved. Any thread.
bool program_is_built(struct cpu_program *program);

// program_build.c: SPIR-V into program->built, with the globals placed. Where it has imports that
// the device does not know either, program->built stays NULL, and the log says what is missing.
ze_result_t program_build(struct cpu_program *program, ze_module_build_log_handle_t log);
// Builds any SPIR-V with the program's flags. NULL: the log says why; *taken tells that the device
// took it, but could not build it.
cl_program program_compile(const struct cpu_program *program, const void *spirv, size_t bytes,
                           bool *taken, ze_module_build_log_handle_t log);

// A native binary (native.c): the SPIR-V with its flags and constants behind a header of ours.
// Bytes that it takes; written to `to` unless that is NULL.
size_t native_write(const struct cpu_program *program, uint8_t *to);
// False: it is none of ours, or is damaged. What *source points at: parts of `data`, and *constants
// and *values, which are the caller's to free.
bool native_read(const void *data, size_t bytes, struct program_source *source,
                 struct spirv_specialisation **constants, uint64_t **values);
