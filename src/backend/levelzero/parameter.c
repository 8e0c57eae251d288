// SPDX-License-Identifier: Apache-2.0
// What a kernel's parameters are. Level Zero tells only how many there are; the rest is read from
// the module's SPIR-V.
#include "backend/levelzero/module.h"

#include <errno.h>

int levelzero_kernel_parameter(struct tare_kernel *base, uint32_t index,
                               struct tare_parameter *parameter, struct tare_error *error)
{
	const struct levelzero_kernel *kernel = (const struct levelzero_kernel *)base;

	if (!kernel->spirv)
		return tare_fail(
		    error, ENODATA,
		    "Level Zero does not tell what a kernel's parameters are, and this module "
		    "is no SPIR-V that tare can read");
	if (index >= kernel->spirv->parameter_count)
		return tare_fail(
		    error, EINVAL,
		    "the kernel has %u parameters; number %u, from 0, is not among them",
		    kernel->spirv->parameter_count, index);
	*parameter = kernel->spirv->parameters[index];
	return 0;
}
