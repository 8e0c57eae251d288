// SPDX-License-Identifier: Apache-2.0
// A file's kernels as a driver builds them, without running anything.
#pragma once
#include "measure/overlap/user_kernel.h"
#include "result/kernels.h"

// Builds options->file for the device and adds what the driver says of each of its kernels (of
// options->entry alone, where it is given) to `list`. Returns 0; -ENOTSUP: this API or device does
// not take such a file; -EINVAL: it does not build, or has no such kernel (*log, if log is not
// NULL: the build log to free(), which may also be there on success); -ENODEV, -ENOMEM, -EIO. Each
// with a sentence that names the file.
int tare_kernels_list(struct tare_device *device, const struct tare_user_kernel *options,
                      struct tare_kernel_list *list, char **log, struct tare_error *error);
