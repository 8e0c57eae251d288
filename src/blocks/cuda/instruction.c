// SPDX-License-Identifier: Apache-2.0
#include "blocks/cuda/samples.h"

uint64_t tare_sampled_pc(const struct tare_sampled_kernel *kernel, uint32_t instruction)
{
	return kernel->pcs ? kernel->pcs[instruction] : (uint64_t)instruction * TARE_SASS_BYTES;
}

struct tare_sass tare_sampled_sass(const struct tare_sampled_kernel *kernel, uint32_t instruction)
{
	uint64_t pc = tare_sampled_pc(kernel, instruction);

	return tare_sass_read(kernel->function->code + pc, kernel->cubin->sm, pc);
}
