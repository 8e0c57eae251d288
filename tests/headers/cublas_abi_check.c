// SPDX-License-Identifier: Apache-2.0
// Compares our declarations of cuBLAS with NVIDIA's own header, as cuda_abi_check.c does for the
// driver library. cublas_v2.h would rename functions: the check takes cublas_api.h alone.
#define CUBLASAPI
#include <cublas_api.h>
#include <stdio.h>

// First our own types, unchanged, against the sizes that NVIDIA's have.
#include "backend/cuda/cublas_abi.h"

#define SAME_SIZE(ours, theirs)                                                                    \
	_Static_assert(sizeof(ours) == sizeof(theirs), #ours " and " #theirs " differ in size")
SAME_SIZE(cublas_status, cublasStatus_t);
SAME_SIZE(cublas_operation, cublasOperation_t);
SAME_SIZE(cublas_type, cudaDataType);
SAME_SIZE(cublas_compute, cublasComputeType_t);
SAME_SIZE(cublas_math, cublasMath_t);
SAME_SIZE(cublas_algorithm, cublasGemmAlgo_t);
SAME_SIZE(cublas_handle, cublasHandle_t);
SAME_SIZE(cublas_stream, cudaStream_t);

#define SAME_VALUE(ours, theirs)                                                                   \
	_Static_assert((long long)(ours) == (long long)(theirs), #ours " is not " #theirs)
#define SAME_STATUS(name) SAME_VALUE(ABI_CUBLAS_##name, CUBLAS_STATUS_##name)
SAME_STATUS(SUCCESS);
SAME_STATUS(NOT_INITIALIZED);
SAME_STATUS(ALLOC_FAILED);
SAME_STATUS(INVALID_VALUE);
SAME_STATUS(ARCH_MISMATCH);
SAME_STATUS(MAPPING_ERROR);
SAME_STATUS(EXECUTION_FAILED);
SAME_STATUS(INTERNAL_ERROR);
SAME_STATUS(NOT_SUPPORTED);
SAME_STATUS(LICENSE_ERROR);
SAME_VALUE(ABI_CUBLAS_NOT_TRANSPOSED, CUBLAS_OP_N);
SAME_VALUE(ABI_CUBLAS_R_32F, CUDA_R_32F);
SAME_VALUE(ABI_CUBLAS_R_16F, CUDA_R_16F);
SAME_VALUE(ABI_CUBLAS_R_16BF, CUDA_R_16BF);
SAME_VALUE(ABI_CUBLAS_COMPUTE_32F, CUBLAS_COMPUTE_32F);
SAME_VALUE(ABI_CUBLAS_COMPUTE_32F_FAST_TF32, CUBLAS_COMPUTE_32F_FAST_TF32);
SAME_VALUE(ABI_CUBLAS_DEFAULT_MATH, CUBLAS_DEFAULT_MATH);
SAME_VALUE(ABI_CUBLAS_TF32_MATH, CUBLAS_TF32_TENSOR_OP_MATH);
SAME_VALUE(ABI_CUBLAS_DEFAULT_ALGORITHM, CUBLAS_GEMM_DEFAULT);

// Then the functions, with NVIDIA's types in place of ours.
#define cublas_status cublasStatus_t
#define cublas_operation cublasOperation_t
#define cublas_type cudaDataType
#define cublas_compute cublasComputeType_t
#define cublas_math cublasMath_t
#define cublas_algorithm cublasGemmAlgo_t
#define cublas_handle cublasHandle_t
#define cublas_stream cudaStream_t
#define SAME_TYPE(name, parameters)                                                                \
	_Static_assert(                                                                            \
	    __builtin_types_compatible_p(__typeof__(&name), cublasStatus_t(*) parameters),         \
	    #name " is declared otherwise by NVIDIA");
CUBLAS_FUNCTIONS(SAME_TYPE, SAME_TYPE)

int main(void)
{
	printf("1..1\nok 1 - our declarations agree with cublas_api.h %d.%d\n", CUBLAS_VER_MAJOR,
	       CUBLAS_VER_MINOR);
	return 0;
}
