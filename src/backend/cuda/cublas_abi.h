// SPDX-License-Identifier: Apache-2.0
// The part of cuBLAS's binary interface that tare uses, in our own words (see abi.h).
// tests/headers/cublas_abi_check.c compares it with NVIDIA's cublas_v2.h where a toolkit is
// installed. The same from version 11 to 13.
#pragma once
#include "backend/cuda/abi.h"

typedef int cublas_status;
typedef int cublas_operation;
typedef int cublas_type;
typedef int cublas_compute;
typedef int cublas_math;
typedef int cublas_algorithm;
typedef struct cublas_object *cublas_handle;
typedef cu_stream cublas_stream;

enum {
	ABI_CUBLAS_SUCCESS = 0,
	ABI_CUBLAS_NOT_INITIALIZED = 1,
	ABI_CUBLAS_ALLOC_FAILED = 3,
	ABI_CUBLAS_INVALID_VALUE = 7,
	ABI_CUBLAS_ARCH_MISMATCH = 8,
	ABI_CUBLAS_MAPPING_ERROR = 11,
	ABI_CUBLAS_EXECUTION_FAILED = 13,
	ABI_CUBLAS_INTERNAL_ERROR = 14,
	ABI_CUBLAS_NOT_SUPPORTED = 15,
	ABI_CUBLAS_LICENSE_ERROR = 16,
};

enum {
	ABI_CUBLAS_NOT_TRANSPOSED = 0,
	ABI_CUBLAS_R_32F = 0,
	ABI_CUBLAS_R_16F = 2,
	ABI_CUBLAS_R_16BF = 14,
	ABI_CUBLAS_COMPUTE_32F = 68,
	ABI_CUBLAS_COMPUTE_32F_FAST_TF32 = 77,
	ABI_CUBLAS_DEFAULT_MATH = 0,
	ABI_CUBLAS_TF32_MATH = 3,
	ABI_CUBLAS_DEFAULT_ALGORITHM = -1,
};

// required(name, parameters), optional(name, parameters); all of them return cublas_status.
// One function a line.
// clang-format off
#define CUBLAS_FUNCTIONS(required, optional) \
	required(cublasCreate_v2, (cublas_handle *handle)) \
	required(cublasDestroy_v2, (cublas_handle handle)) \
	optional(cublasGetVersion_v2, (cublas_handle handle, int *version)) \
	required(cublasSetStream_v2, (cublas_handle handle, cublas_stream stream)) \
	required(cublasSetMathMode, (cublas_handle handle, cublas_math mode)) \
	required(cublasGemmEx, \
	         (cublas_handle handle, cublas_operation transpose_a, \
	          cublas_operation transpose_b, int m, int n, int k, const void *alpha, \
	          const void *a, cublas_type type_a, int pitch_a, const void *b, \
	          cublas_type type_b, int pitch_b, const void *beta, void *c, cublas_type type_c, \
	          int pitch_c, cublas_compute compute, cublas_algorithm algorithm))
// clang-format on

struct cublas_functions {
#define X(name, parameters) cublas_status(*name) parameters;
	CUBLAS_FUNCTIONS(X, X)
#undef X
};
