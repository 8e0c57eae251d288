// SPDX-License-Identifier: Apache-2.0
// What is said of executions that follow from what the hardware counted, and of warps' states.
#include "blocks/cuda/report/write.h"

#include <inttypes.h>
#include <math.h>

const char *tare_executions_from(enum tare_executions_from from)
{
	static const char *const words[] = {
		[TARE_EXECUTIONS_SAMPLED] = "sampled",
		[TARE_EXECUTIONS_BOUNDED] = "bounded",
		[TARE_EXECUTIONS_COUNTED] = "counted",
	};

	return words[from];
}

const char *tare_accounts_word(enum tare_accounts_end end)
{
	static const char *const words[] = {
		[TARE_ACCOUNTS_NONE] = NULL,         [TARE_ACCOUNTS_NO_SOLVER] = "absent",
		[TARE_ACCOUNTS_UNLIKE] = "unlike",   [TARE_ACCOUNTS_UNREAD] = "unread",
		[TARE_ACCOUNTS_LARGE] = "large",     [TARE_ACCOUNTS_OFF] = "contradictory",
		[TARE_ACCOUNTS_SETTLED] = "settled", [TARE_ACCOUNTS_LATE] = "late",
	};

	return words[end];
}

// The state whose share is farthest from that of samples; how far, in points.
static double farthest(const struct tare_sampled_kernel *kernel, enum tare_stall *stall)
{
	double most = 0;

	for (int i = 0; i < TARE_STALLS && kernel->states.all && kernel->stalls.all; i++) {
		enum tare_stall each = (enum tare_stall)i;
		double counted = (double)kernel->states.by[i] / (double)kernel->states.all;
		double sampled =
		    (double)tare_stall_sampled(kernel, each) / (double)kernel->stalls.all;
		// Of these the hardware has no counter of their own.
		if (each == TARE_STALL_WARPGROUP_ARRIVE || each == TARE_STALL_OTHER)
			continue;
		if (100 * fabs(counted - sampled) > most) {
			most = 100 * fabs(counted - sampled);
			*stall = each;
		}
	}
	return most;
}

// Points of all from which the two are said to differ.
enum { APART = 5 };

static bool say_apart(const struct tare_sampled_kernel *kernel, char *text, size_t size)
{
	enum tare_stall stall = TARE_STALL_SELECTED;

	if (!tare_sampled_counts_stand(kernel) || farthest(kernel, &stall) <= APART)
		return false;
	snprintf(
	    text, size,
	    "%s is %.1f %% of its warps' cycles as counted, and of its samples %.1f %%: believe "
	    "the count, of %" PRIu64 " launches; samples of a loop that keeps step with the "
	    "sampler are off, and so may be those of its instructions",
	    tare_stall_name(stall),
	    100 * (double)kernel->states.by[stall] / (double)kernel->states.all,
	    100 * (double)tare_stall_sampled(kernel, stall) / (double)kernel->stalls.all,
	    kernel->counted);
	return true;
}

static bool say_accounts(const struct tare_sampled_kernel *kernel, char *text, size_t size)
{
	static const char *const sentences[] = {
		[TARE_ACCOUNTS_NO_SOLVER] =
		    "executions are from samples alone: this tare was built without GLPK, by which "
		    "counts of the hardware are spread over blocks",
		[TARE_ACCOUNTS_UNREAD] = "executions are from samples alone: where a branch of it "
		                         "leads is not read, so counts are not spread over blocks",
		[TARE_ACCOUNTS_UNLIKE] =
		    "executions and states are from samples alone: its launches "
		    "differ, and few of them were counted",
		[TARE_ACCOUNTS_LARGE] = "executions are from samples alone: it has too many blocks "
		                        "for counts to be spread over them",
		[TARE_ACCOUNTS_OFF] =
		    "executions are from samples alone: counts of the hardware do "
		    "not add up over its blocks (its passes did different work, or "
		    "tare divided it wrongly)",
		[TARE_ACCOUNTS_LATE] = "executions are from samples alone: to spread counts over "
		                       "its blocks took too long",
		[TARE_ACCOUNTS_SETTLED] = NULL,
	};

	if (!sentences[kernel->accounts_end])
		return false;
	snprintf(text, size, "%s", sentences[kernel->accounts_end]);
	return true;
}

static bool say_slack(const struct tare_sampled_kernel *kernel, char *text, size_t size)
{
	if (kernel->accounts_end != TARE_ACCOUNTS_SETTLED || kernel->slack == 0)
		return false;
	snprintf(text, size,
	         "counts of its passes do not agree to the last digit; they add up within %g %%, "
	         "which intervals of executions include",
	         100 * kernel->slack);
	return true;
}

bool tare_accounts_note(const struct tare_sampled_kernel *kernel, uint32_t number, char *text,
                        size_t size)
{
	static bool (*const says[])(const struct tare_sampled_kernel *, char *,
	                            size_t) = { say_apart, say_accounts, say_slack };

	for (size_t i = 0; i < sizeof says / sizeof *says; i++)
		if (says[i](kernel, text, size) && number-- == 0)
			return true;
	return false;
}
