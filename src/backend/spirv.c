// SPDX-License-Identifier: Apache-2.0
#include "backend/spirv.h"

#include <errno.h>
#include <string.h>

int tare_spirv_read(const void *data, size_t bytes, struct tare_spirv **module,
                    struct tare_error *error)
{
	(void)data;
	(void)bytes;
	*module = NULL;
	return tare_fail(error, ENOTSUP, "tare cannot read SPIR-V yet");
}

void tare_spirv_free(struct tare_spirv *module)
{
	(void)module;
}

const struct tare_spirv_kernel *tare_spirv_kernel(const struct tare_spirv *module,
                                                  const char *name)
{
	for (uint32_t i = 0; i < module->kernel_count; i++)
		if (strcmp(module->kernels[i].name, name) == 0)
			return &module->kernels[i];
	return NULL;
}
