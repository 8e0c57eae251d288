// SPDX-License-Identifier: Apache-2.0
// A SPIR-V module for a device whose atomics know pointers to global and to local memory, but none
// to "generic" memory, which is either (PoCL 3.1). To a CPU all memory is one, so they become the
// former.
#pragma once
#include "base/error.h"

#include <stddef.h>

// Writes a changed copy to *changed (malloc; *changed_bytes), or NULL where nothing is to change.
// 0, -EINVAL (damaged), -ENOMEM.
int spirv_generic(const void *data, size_t bytes, void **changed, size_t *changed_bytes,
                  struct tare_error *error);
