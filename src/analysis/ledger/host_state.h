// SPDX-License-Identifier: Apache-2.0
// What each thread of the program was doing at each moment: inside which kind of call, computing,
// off the CPU. docs/ledger.md, "The host".
#pragma once
#include "analysis/ledger/ledger.h"

// What is known of all threads of a view; shared by the walks over it.
struct ledger_hosts;

// Returns 0 or -ENOMEM. Both must stay as long as the result. Free with ledger_hosts_free.
int ledger_hosts_new(const struct tare_recording *recording, const struct tare_view *view,
                     struct ledger_hosts **hosts);
void ledger_hosts_free(struct ledger_hosts *hosts); // accepts NULL

// The state of a thread that is inside a call of such a role.
enum tare_host_state ledger_state_of_role(uint32_t role);
// The same for a command: blocking transfers are waited for, all others issued.
static inline enum tare_host_state
ledger_state_of_command(const struct tare_recorded_command *command)
{
	const uint32_t never = 1u << TARE_KIND_KERNEL | 1u << TARE_KIND_TASK |
	                       1u << TARE_KIND_GRAPH | 1u << TARE_KIND_MARKER |
	                       1u << TARE_KIND_BARRIER;
	if (!(command->flags & TARE_COMMAND_BLOCKING))
		return TARE_HOST_API;
	return command->kind < TARE_KIND_KINDS && never >> command->kind & 1
	           ? TARE_HOST_API
	           : TARE_HOST_BLOCKING_COPY;
}

// Before 0, after above 0: an order of threads that does not rest on their place in the array.
int ledger_compare_threads(const struct tare_recording *recording, uint32_t a, uint32_t b);

// A call that had not returned when its process ended.
struct ledger_unfinished {
	int64_t enter_ns, exit_ns;
	uint32_t thread;
	enum tare_host_state state;
};
// Those that wait or put work into a queue, by enter_ns.
const struct ledger_unfinished *ledger_unfinished(const struct ledger_hosts *hosts, size_t *count);

// A walk through time along all threads.
struct ledger_walk;
struct ledger_walk *ledger_walk_new(const struct ledger_hosts *hosts); // NULL: no memory
void ledger_walk_free(struct ledger_walk *walk);                       // accepts NULL
// Adds the time [from, to) of a thread to `states` by what it was doing; TARE_NO_INDEX: all of it
// BEFORE_FIRST. Times must not decrease from call to call of one walk.
void ledger_walk_spend(struct ledger_walk *walk, uint32_t thread, int64_t from_ns, int64_t to_ns,
                       int64_t states[TARE_HOST_STATES]);
// Until when nothing that the state of a thread depends on begins or ends, at least at_ns + 1.
// Times must not decrease, as above.
int64_t ledger_walk_steady_ns(struct ledger_walk *walk, uint32_t thread, int64_t at_ns);
bool ledger_walk_failed(const struct ledger_walk *walk); // memory ran out, the figures are wrong
