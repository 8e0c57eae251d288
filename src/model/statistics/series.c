// SPDX-License-Identifier: Apache-2.0
#include "base/room.h"
#include "model/statistics/statistics.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

enum {
	// The first look: fewer samples say nothing of autocorrelation.
	FIRST_LOOK = 32,
	// Samples, in worth of independent ones, below which nothing is called converged.
	FEWEST_EFFECTIVE = 24,
};

// Each look is at half as many samples again, so that looking often costs little coverage.
static size_t next_look(size_t n)
{
	return n + (n + 1) / 2;
}

struct tare_stopping tare_stopping_default(void)
{
	return (struct tare_stopping){ .relative_half_width = 0.01,
		                       .minimum_n = FIRST_LOOK,
		                       .minimum_ns = 50000000 };
}

int tare_series_add(struct tare_series *series, int64_t sample)
{
	int64_t *added = TARE_ROOM_FOR(series->samples, series->capacity, series->n);

	if (!added)
		return -ENOMEM;
	*added = sample;
	series->n++;
	return 0;
}

enum tare_verdict tare_series_decide(struct tare_series *series, int64_t elapsed_ns)
{
	const struct tare_stopping *rule = &series->rule;
	double wanted, half;
	bool last = rule->maximum_n && series->n >= rule->maximum_n;
	if (!series->next_decision)
		series->next_decision = rule->minimum_n > FIRST_LOOK ? rule->minimum_n : FIRST_LOOK;
	if (series->n < series->next_decision && !last)
		return TARE_CONTINUE;
	while (series->next_decision <= series->n)
		series->next_decision = next_look(series->next_decision);
	if (tare_series_summarise(series))
		return TARE_NOT_CONVERGED;
	if (!last && elapsed_ns < rule->minimum_ns)
		return TARE_CONTINUE;
	wanted = rule->relative_half_width * fabs(series->summary.median);
	half = (series->summary.ci_high - series->summary.ci_low) / 2;
	if (series->n >= rule->minimum_n &&
	    series->summary.effective_n >= (double)FEWEST_EFFECTIVE && half <= wanted)
		return TARE_CONVERGED;
	// A timer too coarse for the rule. Once the ends are at one tick, or at two neighbours that
	// the median may lie between for ever, more samples are in vain.
	if (last || (rule->quantum >= wanted && half - 1.5 * rule->quantum <= wanted))
		return TARE_NOT_CONVERGED;
	return TARE_CONTINUE;
}

int tare_series_summarise(struct tare_series *series)
{
	return tare_summarise(series->samples, series->n, series->rule.quantum, &series->summary);
}

void tare_series_clear(struct tare_series *series)
{
	free(series->samples);
	*series = (struct tare_series){ .rule = series->rule };
}
