// SPDX-License-Identifier: Apache-2.0
// What a kernel's parameters are, by its SPIR-V.
#pragma once
#include "backend/spirv.h"
#include "backend/spirv_words.h"

// Fills in parameters and parameter_count of the kernel whose OpFunction is at word `function`;
// kernel->name is set. 0, -EINVAL (fewer parameters than the function's type has) or -ENOMEM.
int spirv_parameters(const struct spirv_words *module, size_t function,
                     struct tare_spirv_kernel *kernel, struct tare_error *error);
