// SPDX-License-Identifier: Apache-2.0
// What all of the recorder goes by: whether this process is recorded, in which file, by which
// thread.
#include "guest/internal.h"

_Atomic bool guest_active;
_Atomic bool guest_alive;
_Atomic uint32_t guest_process;
_Atomic uint32_t guest_life;
_Atomic bool guest_lone;
struct tare_trace_header *guest_header;
_Thread_local struct guest_thread *guest_this
    __attribute__((tls_model("initial-exec"), visibility("hidden")));
