// SPDX-License-Identifier: Apache-2.0
// Phases that the program marks, written into the record stream of the thread that marks them. The
// hooks by which marks come are phase_itt.c, phase_nvtx.c and phase_own.c; docs/phases.md. The
// first mark begins the recording when no API has begun it yet. Marks are recorded whether events
// are wanted or not: a phase may begin before --delay is over. errno is kept, nothing is waited
// for.
#pragma once
#include "guest/guest.h"

// Names beyond this many bytes are cut.
#define GUEST_PHASE_TEXT 1024

// A phase begins on this thread. `name` NULL or "": "(unnamed)"; `domain` NULL or "": none. With
// identity 0 it nests on the thread and ends there, else wherever an end has the same source,
// domain and identity.
void guest_phase_begin(enum tare_trace_phase_source source, const char *name, const char *domain,
                       uint64_t identity);
void guest_phase_end(enum tare_trace_phase_source source, const char *domain, uint64_t identity);
void guest_phase_instant(enum tare_trace_phase_source source, const char *name, const char *domain);
// As the two above, at a time that the program has asked for earlier (host ticks). One that cannot
// be, 0 among them, is now.
void guest_phase_begin_at(enum tare_trace_phase_source source, const char *name, const char *domain,
                          uint64_t identity, uint64_t ticks);
void guest_phase_end_at(enum tare_trace_phase_source source, const char *domain, uint64_t identity,
                        uint64_t ticks);

// This thread; recording begins when nobody has begun it. NULL: nothing is recorded.
struct guest_thread *guest_phase_thread(void);

// How many phases are open on this thread in a domain (any pointer that stands for it), to be
// changed by the caller. NULL: nothing is recorded, or no memory.
int *guest_phase_depth(const void *domain);

// A copy of the text that stays, the same one for the same text. NULL: no memory.
const char *guest_phase_keep(const char *text);
