// SPDX-License-Identifier: Apache-2.0
// To be linked with in place of CUDA's driver; what runs is the stand-in under its name.
#include "backend/cuda/abi.h"

#define X(name, parameters)                                                                        \
	__attribute__((visibility("default"))) cu_result name parameters;                          \
	cu_result name parameters                                                                  \
	{                                                                                          \
		return ABI_STUB_LIBRARY;                                                           \
	}
#pragma GCC diagnostic ignored "-Wunused-parameter"
CUDA_FUNCTIONS(X, X)
X(cuCtxSynchronize, (void))
