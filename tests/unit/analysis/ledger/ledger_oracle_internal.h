// SPDX-License-Identifier: Apache-2.0
// Shared by the files of the ledger's oracle.
#pragma once
#include "ledger_oracle.h"

enum { LONGEST = 4096 };

struct oracle {
	const struct made *made;
	const struct tare_recording *r;
	const struct tare_view *view;
	uint32_t device;
	unsigned char host[MADE_FEW][LONGEST]; // state of each thread, each nanosecond
	int64_t first[MADE_FEW], gone[MADE_FEW];
	uint32_t stand_in[MADE_FEW];
};

static inline int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}
static inline int64_t most(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

// ---- ledger_oracle_host.c

enum tare_host_state oracle_role_state(uint32_t role);
enum tare_host_state oracle_command_state(const struct tare_recorded_command *c);
// An order of threads by their system's numbers.
bool oracle_before_thread(const struct oracle *o, uint32_t a, uint32_t b);
bool oracle_wanted_thread(const struct oracle *o, uint32_t thread);
bool oracle_is_unfinished(const struct oracle *o, uint32_t thread);
enum tare_host_state oracle_unfinished_state(const struct oracle *o, uint32_t thread);
// Paints what every thread does at every nanosecond.
void oracle_find_hosts(struct oracle *o);
enum tare_host_state oracle_host_at(const struct oracle *o, uint32_t thread, int64_t t);
