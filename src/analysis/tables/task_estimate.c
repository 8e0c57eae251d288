// SPDX-License-Identifier: Apache-2.0
// The device time of commands of which a random sample has times. What was timed without being
// drawn (the beginning, the first of each kind) is known and stands for nothing else: it is another
// stratum. A command that was drawn with the probability p stands for 1/p - 1 that were not. Both
// p and what commands take change in the course of a run, so that the estimate is made for blocks
// of commands that follow each other, each with 16 drawn ones, and summed. Of a block in which u
// were not drawn, with w = 1/p of each drawn one, these took u times the mean of the drawn,
// weighted by w - 1 (Hajek's estimator), with the variance (u / sum (w - 1))^2 times the sum of
// w (w - 1) e^2 n / (n - 1), where e is a duration less that mean and n the drawn ones (Sarndal,
// Swensson, Wretman, Model Assisted Survey Sampling, 5.7, for independent draws). The sum's
// interval is by Student's t, with Satterthwaite's degrees of freedom (Biometrics 2 (1946), 110).
#include "analysis/tables/internal.h"
#include "model/statistics/statistics.h"

#include <math.h>

enum { BLOCK = 16, LEAST = 4, SMALL = 8 };
// The mean of n is about normal where n is above 25 times the square of the skewness (Cochran,
// Sampling Techniques, 3rd ed., 2.15).
#define EVEN 25.0
// What none of n was is less than this over n of all, with 95 % confidence.
#define RULE_OF_THREE 3.0

// Of two parts: Pebay, Formulas for Robust, One-Pass Parallel Computation of Covariances and
// Arbitrary-Order Statistical Moments, SAND2008-6212, 2008, 2.1.
static void spread_join(struct tables_spread *sum, const struct tables_spread *more)
{
	double n = sum->count, m = more->count, all = n + m;
	if (m <= 0)
		return;
	sum->least = n > 0 ? fmin(sum->least, more->least) : more->least;
	sum->most = n > 0 ? fmax(sum->most, more->most) : more->most;
	double off = more->mean - sum->mean;
	sum->sum3 += more->sum3 + off * off * off * n * m * (n - m) / (all * all) +
	             3 * off * (n * more->sum2 - m * sum->sum2) / all;
	sum->sum2 += more->sum2 + off * off * n * m / all;
	sum->mean += off * m / all;
	sum->count = all;
}

static double skewness(const struct tables_spread *spread)
{
	if (spread->count < 2 || spread->sum2 <= 0)
		return 0;
	return sqrt(spread->count) * spread->sum3 / pow(spread->sum2, 1.5);
}

static void block_join(struct tables_block *sum, const struct tables_block *more)
{
	sum->drawn += more->drawn;
	sum->unsampled += more->unsampled;
	sum->stand += more->stand;
	sum->stand_ns += more->stand_ns;
	sum->square += more->square;
	sum->square_ns += more->square_ns;
	sum->square_ns2 += more->square_ns2;
}

// What the sample may have missed where a few commands take far longer than the rest: as many as it
// cannot rule out, each as long as the longest that has times. n is Kish's, of draws that stand for
// as many each (Survey Sampling, 1965, 11.7).
static double above(const struct tables_spread *spread, const struct tables_block *drawn)
{
	double skew = skewness(spread), n = drawn->stand * drawn->stand / drawn->square;
	if (n >= EVEN * skew * skew)
		return 0;
	return (double)drawn->unsampled * fmin(1, RULE_OF_THREE / n) *
	       (spread->most - spread->mean);
}

// Of at least two that were drawn.
static void conclude(struct tables_estimate *estimate, const struct tables_block *block)
{
	double n = (double)block->drawn, each = (double)block->unsampled / block->stand;
	if (block->unsampled == 0)
		return;
	double mean = block->stand_ns / block->stand;
	double squares =
	    block->square_ns2 - 2 * mean * block->square_ns + mean * mean * block->square;
	double variance = each * each * fmax(squares, 0) * n / (n - 1);
	estimate->total_ns += each * block->stand_ns;
	estimate->variance += variance;
	estimate->by_degrees += variance * variance / (n - 1);
}

static void draw(struct tables_block *block, double ns, double chance)
{
	double weight = 1 / chance, stand = weight - 1;
	block->drawn++;
	block->stand += stand;
	block->stand_ns += stand * ns;
	block->square += weight * stand;
	block->square_ns += weight * stand * ns;
	block->square_ns2 += weight * stand * ns * ns;
}

void tables_estimate_timed(struct tables_estimate *estimate, int64_t ns, double chance)
{
	// The first of a kind is known to be another: it loads what the rest find.
	if (estimate->timed++ > 0)
		spread_join(&estimate->spread,
		            &(struct tables_spread){ 1, (double)ns, .least = (double)ns,
		                                     .most = (double)ns });
	if (chance >= 1)
		return;
	draw(&estimate->all, (double)ns, chance);
	draw(&estimate->open, (double)ns, chance);
	if (estimate->open.drawn < BLOCK)
		return;
	if (estimate->before.drawn > 0)
		conclude(estimate, &estimate->before);
	estimate->before = estimate->open;
	estimate->open = (struct tables_block){ 0 };
}

void tables_estimate_unsampled(struct tables_estimate *estimate)
{
	estimate->open.unsampled++;
	estimate->all.unsampled++;
	estimate->unsampled++;
}

// So few beside those with times that they may as well take what the shortest or the longest of
// these took: that is twice the deviation then.
static void conclude_small(struct tables_estimate *estimate)
{
	const struct tables_spread *spread = &estimate->spread;
	double u = (double)estimate->unsampled;
	double off = u * fmax(spread->most - spread->mean, spread->mean - spread->least) / 2;
	estimate->total_ns += u * spread->mean;
	estimate->variance += off * off;
}

void tables_estimate_end(struct tables_estimate *estimate)
{
	// What is left belongs to the block before it: alone it would be too few.
	struct tables_block last = estimate->before;
	block_join(&last, &estimate->open);
	if (estimate->all.drawn >= LEAST) {
		conclude(estimate, &last);
		estimate->above_ns = above(&estimate->spread, &estimate->all);
	} else if (estimate->unsampled * SMALL <= estimate->timed) {
		conclude_small(estimate);
	} else {
		estimate->few = last;
	}
	estimate->before = estimate->open = (struct tables_block){ 0 };
}

void tables_estimate_add(struct tables_estimate *sum, const struct tables_estimate *more)
{
	block_join(&sum->few, &more->few);
	sum->unsampled += more->unsampled;
	sum->total_ns += more->total_ns;
	sum->variance += more->variance;
	sum->by_degrees += more->by_degrees;
	sum->above_ns += more->above_ns;
	// Those of which few were drawn are judged together.
	if (more->few.unsampled > 0)
		spread_join(&sum->spread, &more->spread);
}

struct tare_estimate tables_estimate_tell(const struct tables_estimate *estimate, int64_t total_ns)
{
	struct tare_estimate answer = { estimate->unsampled, NAN, NAN, NAN };
	struct tables_estimate all = *estimate;
	if (all.unsampled == 0)
		return answer;
	if (all.few.unsampled > 0) {
		if (all.few.drawn < LEAST)
			return answer;
		conclude(&all, &all.few);
		all.above_ns += above(&all.spread, &all.few);
	}
	double degrees = all.by_degrees > 0 ? all.variance * all.variance / all.by_degrees : 1e9;
	double about_ns = sqrt(all.variance) * tare_student_95((size_t)fmax(degrees, 1));
	double ns = (double)total_ns + all.total_ns;
	// An estimate that may be less than half of the truth is none.
	if (all.above_ns > ns)
		return answer;
	answer.ns = ns;
	// What was timed is known: nothing can be less.
	answer.low_ns = fmax((double)total_ns, answer.ns - about_ns);
	answer.high_ns = answer.ns + about_ns + all.above_ns;
	return answer;
}
