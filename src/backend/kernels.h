// SPDX-License-Identifier: Apache-2.0
// The kernels that tare carries (folder kernels/), in the formats in which it carries them.
#pragma once
#include "backend/backend.h"

// The source of module `name` (kernels/NAME.c) in `format`. *source points to static data. In
// TARE_MODULE_NATIVE it is the module's name.
// Returns 0; -ENOENT when there is no such module; -ENOTSUP when it is not carried in this format.
// A caller tries the formats in order: a backend answers -ENOTSUP to one that it cannot take.
int tare_kernel_source(const char *name, enum tare_module_format format,
                       struct tare_module_source *source, struct tare_error *error);

// Builds module `name` for the device, from OpenCL C, PTX (CUDA C where no PTX is carried), SPIR-V
// or the entry's name: the first of these that the backend takes; and takes the kernel `entry` from
// it.
// Both are the caller's to free, the kernel first.
// Returns 0; -ENOTSUP when that is not carried or the device cannot build it (the error tells);
// -EINVAL when the kernel does not compile there, with *log as module_create leaves it.
int tare_kernel_build(struct tare_device *device, const char *name, const char *entry,
                      struct tare_module **module, struct tare_kernel **kernel, char **log,
                      struct tare_error *error);
