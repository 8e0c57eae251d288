// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

// Changes the context of a thread that faulted in a kernel so that it goes on in the OpenCL device,
// as if the kernel's work-group had returned. False: it is not certain how (nothing is changed),
// which is always so on other processors than x86-64. `in_kernel` tells code of kernels.
// Async-signal-safe as far as dladdr is.
bool trap_leave_kernel(ucontext_t *context, bool (*in_kernel)(uintptr_t at));
