// SPDX-License-Identifier: Apache-2.0
// The kernels that tare carries (folder kernels/), in the formats in which it carries them.
#pragma once
#include "backend/backend.h"

// The source of kernel `name` in `format`; `name` is also the name to give to kernel_create.
// *source points to static data. In TARE_MODULE_NATIVE it is the kernel's name, which is what the
// simulated device takes.
// Returns 0; -ENOENT when there is no such kernel; -ENOTSUP when it is not carried in this format.
// A caller tries the formats in order: a backend answers -ENOTSUP to one that it cannot take.
int tare_kernel_source(const char *name, enum tare_module_format format,
                       struct tare_module_source *source, struct tare_error *error);

// Builds kernel `name` for the device, from OpenCL C, PTX or the name: the first of these that the
// backend takes. Both are the caller's to free, the kernel first.
// Returns 0; -ENOTSUP when that is not carried or the device cannot build it (the error tells);
// -EINVAL when the kernel does not compile there, with *log as module_create leaves it.
int tare_kernel_build(struct tare_device *device, const char *name, struct tare_module **module,
                      struct tare_kernel **kernel, char **log, struct tare_error *error);

// The texts themselves.
extern const char tare_kernel_empty_opencl[];
extern const size_t tare_kernel_empty_opencl_bytes;
