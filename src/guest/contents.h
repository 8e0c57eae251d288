// SPDX-License-Identifier: Apache-2.0
// What the host's side of a transfer holds, as a hash, for who wants to know whether the same bytes
// move again (--contents). docs/recorder.md has the rules.
#pragma once
#include "guest/api.h"

// What was found. A CONTENTS record without its command.
struct guest_contents {
	enum tare_trace_contents_of of;
	uint64_t whole, sample, bytes, from, to;
};
// The command, as TIMES names it; flags: enum tare_trace_contents_flags.
struct guest_contents_of {
	uint32_t track, number;
	uint64_t execution;
	uint8_t flags;
};

// Whether this build can hash, and was asked to.
static inline bool guest_compares(void)
{
	return __builtin_expect(guest_options.contents, 0);
}

// Reads `bytes` from `start` on and hashes them, all or a part, as far as the share of the run that
// hashing may take goes. Memory that cannot be read is no fault. By a thread of the program's.
struct guest_contents guest_contents_take(struct guest_thread *thread, const void *start,
                                          uint64_t bytes);
// What is known of nothing, and why.
struct guest_contents guest_contents_none(enum tare_trace_contents_of why, uint64_t bytes);
void guest_contents_write(struct guest_thread *thread, const struct guest_contents_of *of,
                          const struct guest_contents *contents);

// Remembers a read into the host's memory that is not complete. One that was remembered before and
// reaches into the same memory is UNSEEN from then on. False: there is no room.
bool guest_contents_later(const struct guest_contents_of *of, const void *start, uint64_t bytes);
// Whether a read that is not complete reaches into this memory: what a copy carries from there is
// not there yet.
bool guest_contents_changes(const void *start, uint64_t bytes);
// Whether a command waits for a thread that stands by: whoever sees it complete without one is to
// leave it a while.
bool guest_contents_waits(const struct guest_contents_of *of);
// It is complete. `seen`: by a thread of the program's in a call that waits, which has not returned
// since; its bytes are hashed then. Nothing where it was not remembered.
void guest_contents_come(struct guest_thread *thread, const struct guest_contents_of *of,
                         bool seen);
// It was not handed over: nothing comes, and nothing is written of it.
void guest_contents_drop(const struct guest_contents_of *of);
// In the child of a fork nothing is remembered.
void guest_contents_forget(void);
// Once.
void guest_contents_begin(void);
