// SPDX-License-Identifier: Apache-2.0
// PTX that counts how often its basic blocks run. A thread keeps its counters in registers and adds
// them to memory as it ends, as the instrumented SPIR-V does (blocks/instrument.h); nothing of the
// text is taken out.
#pragma once
#include "blocks/instrument.h"
#include "blocks/ptx/ptx.h"

// Where the counters' memory is.
enum ptx_memory {
	PTX_MEMORY_ARGUMENT, // a kernel's last argument, one more than it had
	PTX_MEMORY_MODULE,   // a variable of the module for each kernel (ptx_variables)
};

// 0; -ENOTSUP where the module is of a kind that cannot be instrumented, or -ENOMEM, with a
// sentence. `made->data` is the caller's, a text with an end, which `made->bytes` counts. The plan
// is that of ptx->module.
int ptx_instrument(const struct ptx *ptx, const struct tare_blocks_plan *plan,
                   enum ptx_memory memory, struct tare_blocks_instrumented *made,
                   struct tare_error *error);

// What the names of the kernels' variables begin with; the kernel's name follows.
void ptx_variables(const struct ptx *ptx, char *text, size_t size);
