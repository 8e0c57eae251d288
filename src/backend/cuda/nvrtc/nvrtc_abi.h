// SPDX-License-Identifier: Apache-2.0
// The part of NVRTC's binary interface that tare uses, in our own words; opened at run time.
// tests/headers/nvrtc_abi_check.c compares it with NVIDIA's nvrtc.h where a toolkit is installed.
#pragma once
#include <stddef.h>

typedef int nvrtc_result;
typedef struct nvrtc_program_object *nvrtc_program;

enum {
	ABI_NVRTC_SUCCESS = 0,
	ABI_NVRTC_OUT_OF_MEMORY = 1,
	ABI_NVRTC_INVALID_INPUT = 3,
	ABI_NVRTC_INVALID_PROGRAM = 4,
	ABI_NVRTC_INVALID_OPTION = 5,
	ABI_NVRTC_COMPILATION = 6,
	ABI_NVRTC_BUILTIN_OPERATION_FAILURE = 7,
	ABI_NVRTC_NO_NAME_EXPRESSIONS_AFTER_COMPILATION = 8,
	ABI_NVRTC_NO_LOWERED_NAMES_BEFORE_COMPILATION = 9,
	ABI_NVRTC_NAME_EXPRESSION_NOT_VALID = 10,
};

// required(type, name, parameters). The list of architectures came with 11.2, CUBIN with 11.1.
// One function a line.
// clang-format off
#define NVRTC_FUNCTIONS(required, optional) \
	required(const char *, nvrtcGetErrorString, (nvrtc_result result)) \
	required(nvrtc_result, nvrtcVersion, (int *major, int *minor)) \
	optional(nvrtc_result, nvrtcGetNumSupportedArchs, (int *count)) \
	optional(nvrtc_result, nvrtcGetSupportedArchs, (int *architectures)) \
	required(nvrtc_result, nvrtcCreateProgram, \
	         (nvrtc_program *program, const char *source, const char *name, int header_count, \
	          const char *const *headers, const char *const *header_names)) \
	required(nvrtc_result, nvrtcDestroyProgram, (nvrtc_program *program)) \
	required(nvrtc_result, nvrtcCompileProgram, \
	         (nvrtc_program program, int option_count, const char *const *options)) \
	required(nvrtc_result, nvrtcGetPTXSize, (nvrtc_program program, size_t *bytes)) \
	required(nvrtc_result, nvrtcGetPTX, (nvrtc_program program, char *ptx)) \
	optional(nvrtc_result, nvrtcGetCUBINSize, (nvrtc_program program, size_t *bytes)) \
	optional(nvrtc_result, nvrtcGetCUBIN, (nvrtc_program program, char *cubin)) \
	required(nvrtc_result, nvrtcGetProgramLogSize, (nvrtc_program program, size_t *bytes)) \
	required(nvrtc_result, nvrtcGetProgramLog, (nvrtc_program program, char *log)) \
	required(nvrtc_result, nvrtcAddNameExpression, \
	         (nvrtc_program program, const char *const expression)) \
	required(nvrtc_result, nvrtcGetLoweredName, \
	         (nvrtc_program program, const char *const expression, const char **lowered))
// clang-format on

struct nvrtc_functions {
#define X(type, name, parameters) type(*name) parameters;
	NVRTC_FUNCTIONS(X, X)
#undef X
};
