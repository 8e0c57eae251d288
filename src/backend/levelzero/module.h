// SPDX-License-Identifier: Apache-2.0
// Modules and kernels of the Level Zero backend: module.c, kernel.c, parameter.c.
#pragma once
#include "backend/levelzero/internal.h"
#include "backend/spirv.h"

struct levelzero_module {
	struct tare_module base;
	ze_module_handle_t handle;
	// what the SPIR-V tells of itself; NULL: native, or it is unreadable
	struct tare_spirv *spirv;
	bool ends; // its kernels are known to end
};

struct levelzero_kernel {
	struct tare_kernel base;
	ze_kernel_handle_t handle;
	const struct tare_spirv_kernel *spirv; // the module's; NULL where that is not known
};

// The members of struct tare_backend of these names.
int levelzero_module_create(struct tare_device *device, const struct tare_module_source *source,
                            struct tare_module **module, char **log, struct tare_error *error);
void levelzero_module_free(struct tare_module *module);
int levelzero_module_kernels(struct tare_module *module, char *names, size_t size,
                             struct tare_error *error);
int levelzero_kernel_create(struct tare_module *module, const char *name,
                            struct tare_kernel **kernel, struct tare_error *error);
void levelzero_kernel_free(struct tare_kernel *kernel);
int levelzero_kernel_facts(struct tare_kernel *kernel, struct tare_kernel_facts *facts,
                           struct tare_error *error);
int levelzero_kernel_parameter(struct tare_kernel *kernel, uint32_t index,
                               struct tare_parameter *parameter, struct tare_error *error);
