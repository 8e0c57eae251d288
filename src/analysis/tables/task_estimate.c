// SPDX-License-Identifier: Apache-2.0
// The device time of commands of which a random sample has times. Chance may have been another at
// another moment (all of them at first, fewer later), and so may the commands: the estimate is made
// for blocks of commands that follow each other, each with 12 timed ones, and summed: blocks of 30
// are so long that the chance changes within them, and what commands take with it. Of a block with
// n timed commands of mean m and standard deviation s and u others, the others take u·m, with the
// variance u·s²·(1 + u/n) (simple random sampling: Cochran, Sampling Techniques, 3rd ed., 2.5 and
// 5.3; the sum of strata).
#include "analysis/tables/internal.h"

#include <math.h>

#define BLOCK 12
#define NORMAL_95 1.96

static void note(struct tables_block *block, double value)
{
	double off = value - block->mean;
	block->timed++;
	block->mean += off / (double)block->timed;
	block->squares += off * (value - block->mean);
}

// Sums of squares of two parts: Chan, Golub, LeVeque, The American Statistician 37 (1983), 242.
static void join(struct tables_block *block, const struct tables_block *more)
{
	double n = (double)block->timed, m = (double)more->timed;
	double off = more->mean - block->mean;
	block->unsampled += more->unsampled;
	if (more->timed == 0)
		return;
	block->mean += off * m / (n + m);
	block->squares += more->squares + off * off * n * m / (n + m);
	block->timed += more->timed;
}

static void conclude(struct tables_estimate *estimate, const struct tables_block *block)
{
	double n = (double)block->timed, u = (double)block->unsampled;
	if (block->unsampled == 0)
		return;
	if (block->timed < 2) {
		estimate->unknown = true;
		return;
	}
	estimate->total_ns += u * block->mean;
	estimate->variance += u * block->squares / (n - 1) * (1 + u / n);
}

void tables_estimate_timed(struct tables_estimate *estimate, int64_t ns)
{
	note(&estimate->open, (double)ns);
	if (estimate->open.timed < BLOCK)
		return;
	conclude(estimate, &estimate->before);
	estimate->before = estimate->open;
	estimate->open = (struct tables_block){ 0 };
}

void tables_estimate_unsampled(struct tables_estimate *estimate)
{
	estimate->open.unsampled++;
	estimate->unsampled++;
}

void tables_estimate_end(struct tables_estimate *estimate)
{
	// What is left belongs to the block before it: alone it would be too few.
	struct tables_block last = estimate->before;
	join(&last, &estimate->open);
	conclude(estimate, &last);
	estimate->before = estimate->open = (struct tables_block){ 0 };
}

void tables_estimate_add(struct tables_estimate *sum, const struct tables_estimate *more)
{
	sum->unsampled += more->unsampled;
	sum->total_ns += more->total_ns;
	sum->variance += more->variance;
	sum->unknown |= more->unknown;
}

struct tare_estimate tables_estimate_tell(const struct tables_estimate *estimate, int64_t total_ns)
{
	double about_ns = NORMAL_95 * sqrt(estimate->variance);
	struct tare_estimate answer = { estimate->unsampled, NAN, NAN, NAN };
	if (estimate->unsampled == 0 || estimate->unknown)
		return answer;
	// What was timed is known: nothing can be less.
	answer.ns = (double)total_ns + estimate->total_ns;
	answer.low_ns = fmax((double)total_ns, answer.ns - about_ns);
	answer.high_ns = answer.ns + about_ns;
	return answer;
}
