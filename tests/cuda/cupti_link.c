// SPDX-License-Identifier: Apache-2.0
// To be linked with in place of CUPTI; what runs is the stand-in under its name.
#include "backend/cuda/cupti_abi.h"

#define X(name, parameters)                                                                        \
	__attribute__((visibility("default"))) cupti_result name parameters;                       \
	cupti_result name parameters                                                               \
	{                                                                                          \
		return ABI_CUPTI_NOT_INITIALIZED;                                                  \
	}
#pragma GCC diagnostic ignored "-Wunused-parameter"
CUPTI_FUNCTIONS(X, X)
