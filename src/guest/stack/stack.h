// SPDX-License-Identifier: Apache-2.0
// Call stacks of the program's threads (--call-stacks): walked by the unwind tables that its code
// carries, without a lock or malloc. docs/call-stacks.md says how far they reach.
#pragma once
#include "guest/guest.h"

// Whether stacks are wanted and can be had. Set once, by guest_stacks_begin.
extern GUEST_HIDDEN bool guest_stacks;

// Begins them, if the options ask for it. Frames of the module that `ours` lies in are left out
// (NULL: none are). Once a process image, before the first stack.
void guest_stacks_begin(const void *ours);

// The id of this thread's call stack, defined in the trace when it is new there; 0: it could not be
// told, or there was no room. Takes some 2 kB of the stack.
uint32_t guest_stack(void);
// The same but for the definition: for measuring what it costs.
uint32_t guest_stack_seen(void);

// What a walk costs, and a stack that is known again, as calibrated. The header's cost becomes the
// mean of what was measured of the program's stacks, from guest_stack to the end of guest_site, as
// they come; these two stand for what has not been measured yet.
void guest_stacks_cost(int64_t walk, int64_t again);

// Writes a SITE of this thread's last record: of command number `of`, or with TARE_SITE_OF_CALL in
// `flags` of the call that was entered at `of`.
void guest_site(struct guest_thread *thread, uint8_t flags, uint64_t of, uint32_t stack);
