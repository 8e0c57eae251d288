// SPDX-License-Identifier: Apache-2.0
// Compares our declarations of NVRTC with NVIDIA's own header, as cuda_abi_check.c does for the
// driver library.
#include <nvrtc.h>
#include <stdio.h>

#include "backend/cuda/nvrtc/nvrtc_abi.h"

_Static_assert(sizeof(nvrtc_result) == sizeof(nvrtcResult), "nvrtc_result differs in size");
_Static_assert(sizeof(nvrtc_program) == sizeof(nvrtcProgram), "nvrtc_program differs in size");

#define SAME_VALUE(ours, theirs)                                                                   \
	_Static_assert((long long)(ours) == (long long)(theirs), #ours " is not " #theirs)
#define SAME_RESULT(name) SAME_VALUE(ABI_NVRTC_##name, NVRTC_ERROR_##name)
SAME_VALUE(ABI_NVRTC_SUCCESS, NVRTC_SUCCESS);
SAME_RESULT(OUT_OF_MEMORY);
SAME_RESULT(INVALID_INPUT);
SAME_RESULT(INVALID_PROGRAM);
SAME_RESULT(INVALID_OPTION);
SAME_RESULT(COMPILATION);
SAME_RESULT(BUILTIN_OPERATION_FAILURE);
SAME_RESULT(NO_NAME_EXPRESSIONS_AFTER_COMPILATION);
SAME_RESULT(NO_LOWERED_NAMES_BEFORE_COMPILATION);
SAME_RESULT(NAME_EXPRESSION_NOT_VALID);

#define nvrtc_result nvrtcResult
#define nvrtc_program nvrtcProgram
#define SAME_TYPE(type, name, parameters)                                                          \
	_Static_assert(__builtin_types_compatible_p(__typeof__(&name), type(*) parameters),        \
	               #name " is declared otherwise by NVIDIA");
NVRTC_FUNCTIONS(SAME_TYPE, SAME_TYPE)

int main(void)
{
	printf("1..1\nok 1 - our declarations agree with nvrtc.h\n");
	return 0;
}
