// SPDX-License-Identifier: Apache-2.0
// Shared by the files of the user's kernel; nobody else's business.
#pragma once
#include "measure/overlap/user_kernel.h"

#define USER_KERNEL_ARGUMENTS 4 // of the contract: input, output, first, count; then those of --arg

// Whether the kernel takes what the contract and --arg give it, as far as the driver tells. Returns
// 0, or -EINVAL with a sentence that names the parameter.
int tare_user_kernel_check(const struct tare_user_kernel *options, const char *entry,
                           enum tare_module_format format, const struct tare_built_kernel *built,
                           const struct tare_kernel_facts *facts, struct tare_error *error);

// Work-items of a group: --group, or what suits the kernel. Returns 0, or -EINVAL where --group is
// too many.
int tare_user_kernel_group(const struct tare_user_kernel *options, const char *entry,
                           const struct tare_kernel_facts *facts, uint32_t *group,
                           struct tare_error *error);
