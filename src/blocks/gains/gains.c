// SPDX-License-Identifier: Apache-2.0
// What was measured, as a promise.
#include "blocks/gains/gains.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// A change that reaches less than this of a finding leaves the rest to be known.
#define WHOLE_REACH 0.95

// Why no machine makes the change.
static const char *const by_hand[TARE_BLOCKS_ADVICE] = {
	[TARE_BLOCKS_DIVERGENT] =
	    "idle lanes are a model of GPUs (a CPU runs work-items in turn, or as vectors that "
	    "its compiler makes, and may gain nothing), and which work-items are neighbours is "
	    "the program's to change",
	[TARE_BLOCKS_SCATTERED] =
	    "lines that neighbours touch at once are a model of GPUs (a CPU finds them in its "
	    "caches from one work-item to the next, and may gain nothing), and where the data lie "
	    "is the program's to change",
	[TARE_BLOCKS_BARRIERS] =
	    "a barrier costs something else on each device (on a CPU, where the work-items of a "
	    "group are turns of loops, it may be nothing), and how the work is divided between "
	    "barriers is the program's to change",
};

// Why a change reaches nothing of a finding.
static const char *const not_reached[TARE_BLOCKS_CHANGES] = {
	[TARE_BLOCKS_IN_SINGLE] = "tare cannot make the change: its constants are not found on its "
	                          "lines, or other doubles hang on them",
	[TARE_BLOCKS_BY_CONSTANTS] = "what it divides by is no argument that is the same in each "
	                             "launch, or not surely one in the kernel's text, or the "
	                             "kernel needs it for something else, too",
	[TARE_BLOCKS_IN_NATIVE] =
	    "tare cannot make the change: the functions are called by a macro, "
	    "or have no native form",
	[TARE_BLOCKS_REGROUPED] =
	    "it sees how its work-items are grouped, so that other groups may "
	    "compute something else",
};

static bool say(struct tare_blocks_gain *gain, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static bool say(struct tare_blocks_gain *gain, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(gain->why, sizeof gain->why, format, arguments);
	va_end(arguments);
	return false;
}

static const struct tare_blocks_cell *cell_of(const struct tare_blocks_gains *gains, uint32_t set,
                                              const struct tare_blocks_kernel *kernel)
{
	for (size_t i = 1; i < gains->trials.name_count; i++)
		if (strcmp(gains->trials.names[i], kernel->name) == 0)
			return &gains->trials.sets[set].cells[i];
	return NULL;
}

static const struct tare_blocks_kernel *launched(const struct tare_blocks_profile *profile,
                                                 const struct tare_blocks_kernel *kernel)
{
	for (size_t i = 0; i < profile->kernel_count; i++)
		if (strcmp(profile->kernels[i].name, kernel->name) == 0)
			return &profile->kernels[i];
	return NULL;
}

static bool has_one_build(const struct tare_blocks_gains *gains,
                          const struct tare_blocks_kernel *kernel)
{
	uint32_t count = 0;

	for (size_t i = 0; i < gains->profile->kernel_count; i++)
		count += gains->profile->kernels[i].launches != 0 &&
		         strcmp(gains->profile->kernels[i].name, kernel->name) == 0;
	return count == 1;
}

// The least of a cell's times, which others on the machine have made longer the least; 0: none.
static double least_of(const struct tare_blocks_cell *cell, uint32_t rounds)
{
	double least = 0;

	for (uint32_t i = 0; i < rounds; i++)
		if (cell->ns[i] > 0 && (least <= 0 || cell->ns[i] < least))
			least = cell->ns[i];
	return least;
}

// What the kernel takes, which is the most that can be saved. False where that is not known.
static bool bound(const struct tare_blocks_gains *gains, const struct tare_blocks_kernel *kernel,
                  struct tare_blocks_gain *gain)
{
	const struct tare_blocks_cell *own = cell_of(gains, 0, kernel);

	if (!has_one_build(gains, kernel))
		return say(gain, "several builds have a kernel of this name");
	if (!own || least_of(own, gains->trials.rounds) <= 0)
		return say(gain, "its launches have no device times");
	if (own->varies)
		return say(gain, "it is launched more often in some runs than in others");
	gain->kernel_ns = least_of(own, gains->trials.rounds) * (double)own->launches;
	gain->high_ns = gain->kernel_ns;
	return true;
}

// Why launches did not take the changed kernel.
static bool say_not_taken(const struct tare_blocks_gains *gains, uint32_t set,
                          const struct tare_blocks_kernel *kernel, enum blocks_why why,
                          struct tare_blocks_gain *gain)
{
	const struct tare_blocks_unwritten *unwritten = &gains->unwritten[set];

	if (why == BLOCKS_NO_MODULE && unwritten->why.code && kernel->build &&
	    kernel->build->hash == unwritten->hash)
		return say(gain, "the changed kernel could not be written: %.200s",
		           unwritten->why.message);
	return say(gain, "%s",
	           why == BLOCKS_OTHER_VALUE
	               ? "it divides by an argument that differs between launches"
	           : why == BLOCKS_NO_GROUPS
	               ? "no size of work-groups that divides its launches fills the width"
	               : "the driver did not take the changed kernel for each launch");
}

static enum tare_blocks_result worse(enum tare_blocks_result a, enum tare_blocks_result b)
{
	static const int badness[] = { [TARE_BLOCKS_RESULT_SAME] = 1,
		                       [TARE_BLOCKS_RESULT_DIFFERS] = 3,
		                       [TARE_BLOCKS_RESULT_VARIES] = 2,
		                       [TARE_BLOCKS_RESULT_UNKNOWN] = 0 };

	return badness[a] > badness[b] ? a : b;
}

// Whether all launches of a set took its kernel.
static bool took(const struct tare_blocks_gains *gains, uint32_t set,
                 const struct tare_blocks_kernel *kernel, struct tare_blocks_gain *gain)
{
	const struct tare_blocks_set *tried = &gains->trials.sets[set];
	const struct tare_blocks_kernel *taken = launched(&tried->profile, kernel);
	const struct tare_blocks_cell *cell = cell_of(gains, set, kernel),
	                              *own = cell_of(gains, 0, kernel);

	if (tried->why.code)
		return say(gain, "%.200s", tried->why.message);
	gain->results = worse(worse(tried->read, tried->output), tried->end);
	if (!taken || !cell || taken->counted < taken->launches)
		return say_not_taken(gains, set, kernel, taken ? taken->why : BLOCKS_NO_MODULE,
		                     gain);
	if (cell->varies || cell->launches != own->launches)
		return say(gain, "with the change it is launched more or less often");
	return true;
}

static double saved(const struct tare_blocks_cell *own, double before, double after)
{
	return before > after ? (before - after) * (double)own->launches : 0;
}

static void measure(const struct tare_blocks_gains *gains, const struct tare_blocks_kernel *kernel,
                    enum tare_blocks_change change, struct tare_blocks_gain *gain)
{
	uint32_t set = gains->sets[change], rounds = gains->trials.rounds;
	size_t index = (size_t)(kernel - gains->profile->kernels);
	double reach = gains->reaches[index * TARE_BLOCKS_CHANGES + (size_t)change];

	if (kernel->build->language == BLOCKS_PTX) {
		say(gain, "its program was counted as PTX, which tare does not change");
		return;
	}
	if (!tare_blocks_is_single(kernel->build)) {
		say(gain, "its program is of several parts, or compiled with headers that are "
		          "programs, and tare changes single ones");
		return;
	}
	if (!set || reach <= 0) {
		say(gain, "%s", not_reached[change]);
		return;
	}
	if (!took(gains, set, kernel, gain))
		return;
	const struct tare_blocks_cell *own = cell_of(gains, 0, kernel),
	                              *changed = cell_of(gains, set, kernel);
	struct tare_blocks_ratio ratio = tare_blocks_ratio_of(changed->ns, own->ns, rounds);
	double before = least_of(own, rounds), after = least_of(changed, rounds);
	if (!ratio.known) {
		say(gain, "fewer than %d rounds decide nothing", TARE_BLOCKS_LEAST_ROUNDS);
		return;
	}
	gain->measured = true;
	// Told from none is what all rounds agree on.
	if (ratio.high < 1)
		gain->low_ns = saved(own, before, tare_blocks_cell_ns(changed, rounds));
	if (reach < WHOLE_REACH) {
		say(gain, "tare can make the change for %.0f %% of these only", 100 * reach);
		return;
	}
	gain->best_known = true;
	gain->best_ns = saved(own, before, after);
	gain->high_ns = fmin(saved(own, tare_blocks_cell_ns(own, rounds), after), gain->kernel_ns);
	gain->told = ratio.high < 1;
}

bool tare_blocks_gain_of(const struct tare_blocks_gains *gains,
                         const struct tare_blocks_kernel *kernel, enum tare_blocks_advice advice,
                         struct tare_blocks_gain *gain)
{
	enum tare_blocks_change change = tare_blocks_change_of(advice);

	*gain = (struct tare_blocks_gain){ .results = TARE_BLOCKS_RESULT_UNKNOWN };
	if (!gains->asked)
		return false;
	if (gains->why.code)
		say(gain, "its runs failed: %.280s", gains->why.message);
	else if (!gains->trials.rounds)
		say(gain, "the runs for it were ended by a signal");
	else if (!bound(gains, kernel, gain))
		return true;
	else if (change == TARE_BLOCKS_AS_IT_IS)
		say(gain, "%s", by_hand[advice]);
	else
		measure(gains, kernel, change, gain);
	return true;
}
