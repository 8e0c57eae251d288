// SPDX-License-Identifier: Apache-2.0
#include "result/matmul_words.h"

#include <string.h>

static const char *const rungs[TARE_RUNG_COUNT] = {
	[TARE_RUNG_SEQUENTIAL] = "sequential", [TARE_RUNG_HOST_BLAS] = "host-blas",
	[TARE_RUNG_ELEMENT] = "element",       [TARE_RUNG_NAIVE] = "naive",
	[TARE_RUNG_TILED] = "tiled",           [TARE_RUNG_SECOND] = "second",
	[TARE_RUNG_SUB_GROUPS] = "sub-groups", [TARE_RUNG_REGISTER] = "register",
	[TARE_RUNG_CACHED] = "cached",         [TARE_RUNG_BLAS] = "blas",
	[TARE_RUNG_BLAS_TF32] = "blas-tf32",   [TARE_RUNG_BLAS_FP16] = "blas-fp16",
	[TARE_RUNG_BLAS_BF16] = "blas-bf16",
};

static const char *const parts[TARE_PART_COUNT] = {
	[TARE_PART_BUILD] = "build",
	[TARE_PART_ALLOCATE] = "allocate",
	[TARE_PART_FIRST_LAUNCH] = "first-launch",
	[TARE_PART_COPY_IN] = "copy-in",
	[TARE_PART_LAUNCH] = "launch",
	[TARE_PART_COMPLETE] = "submit-to-complete",
	[TARE_PART_KERNEL] = "kernel",
	[TARE_PART_KERNEL_TRACED] = "kernel-traced",
	[TARE_PART_KERNEL_STAMPS] = "kernel-stamps",
	[TARE_PART_KERNELS_ALONE] = "kernels-alone",
	[TARE_PART_COPY_OUT] = "copy-out",
	[TARE_PART_TOTAL] = "total",
};

const char *tare_rung_name(enum tare_rung rung)
{
	return rungs[rung];
}

enum tare_rung tare_rung_named(const char *name)
{
	int rung = 0;

	while (rung < TARE_RUNG_COUNT && strcmp(rungs[rung], name) != 0)
		rung++;
	return (enum tare_rung)rung;
}

const char *tare_part_name(enum tare_part part)
{
	return parts[part];
}
