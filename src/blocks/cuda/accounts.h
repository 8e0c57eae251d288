// SPDX-License-Identifier: Apache-2.0
// How often blocks of a kernel were executed, by what the hardware counted of its launches: the
// instructions of each sort that blocks have, times their executions, add up to its counts, and
// what leads into a block comes out of it. docs/blocks-accounts.md says how, and how it was tried.
#pragma once
#include "base/time.h"

#include <stdbool.h>
#include <stdint.h>

struct tare_sampled_kernel;

enum tare_account {
#define ACCOUNT(name, counter) TARE_ACCOUNT_##name,
#include "blocks/cuda/accounts.def"
#undef ACCOUNT
	TARE_ACCOUNTS,
};
// Sums over launches.
struct tare_accounts {
	double sums[TARE_ACCOUNTS];
	uint32_t known;                   // bits 1 << enum tare_account
	uint64_t launches[TARE_ACCOUNTS]; // of which it was read
	double warps;
};
// The account that a counter of a trace is; TARE_ACCOUNTS: none.
enum tare_account tare_account_of(uint16_t counter);

// How the accounts of a kernel came out.
enum tare_accounts_end {
	TARE_ACCOUNTS_NONE,      // nothing was counted
	TARE_ACCOUNTS_NO_SOLVER, // tare was built without GLPK
	TARE_ACCOUNTS_UNREAD,    // where a branch leads is not read
	TARE_ACCOUNTS_LARGE,     // too many blocks
	TARE_ACCOUNTS_UNLIKE,    // the launches that were counted are not like all
	TARE_ACCOUNTS_OFF,       // they contradict each other
	TARE_ACCOUNTS_LATE,      // it took too long
	TARE_ACCOUNTS_SETTLED,
};
// Executions of a block, a warp of the kernel; INFINITY: without bound.
struct tare_account_bounds {
	bool known;
	double low, high;
};
struct tare_accounts_result {
	enum tare_accounts_end end;
	double slack; // relative, that the counts were given so that they add up
	struct tare_account_bounds *blocks; // by block, by the counts alone; malloc
	struct tare_account_bounds
	    *narrow; // with what was sampled, too; NULL: that contradicts them, or took too long
};
// `until`: by then it ends, with what is known. `sampled`: between what each block's executions are
// by samples, which narrows the others. NULL: there are none. 0 or -ENOMEM; to free in either case.
int tare_accounts_settle(const struct tare_sampled_kernel *kernel,
                         const struct tare_accounts *accounts,
                         const struct tare_account_bounds *sampled, struct tare_host_time until,
                         struct tare_accounts_result *result);
void tare_accounts_free(struct tare_accounts_result *result);
// Whether bounds leave one whole number of executions by so many warps; NAN: they do not.
double tare_account_counted(const struct tare_account_bounds *bounds, double slack, double warps);
