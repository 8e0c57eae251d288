// SPDX-License-Identifier: Apache-2.0
// Which set of options is faster. Rounds are compared in pairs: what changes slowly (clocks,
// neighbours) is then the same for both.
#include "blocks/options/trials.h"

#include <stdlib.h>

static int by_value(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

static double middle(const double *sorted, uint32_t count)
{
	return count % 2 ? sorted[count / 2] : (sorted[count / 2 - 1] + sorted[count / 2]) / 2;
}

struct tare_blocks_ratio tare_blocks_ratio_of(const double *times, const double *others,
                                              uint32_t rounds)
{
	double ratios[TARE_BLOCKS_MOST_ROUNDS];
	uint32_t count = 0;

	for (uint32_t i = 0; i < rounds; i++)
		if (times[i] > 0 && others[i] > 0)
			ratios[count++] = times[i] / others[i];
	if (count < TARE_BLOCKS_LEAST_ROUNDS)
		return (struct tare_blocks_ratio){ .known = false };
	qsort(ratios, count, sizeof *ratios, by_value);
	return (struct tare_blocks_ratio){ .value = middle(ratios, count),
		                           .low = ratios[0],
		                           .high = ratios[count - 1],
		                           .known = true };
}

double tare_blocks_cell_ns(const struct tare_blocks_cell *cell, uint32_t rounds)
{
	double times[TARE_BLOCKS_MOST_ROUNDS];
	uint32_t count = 0;

	for (uint32_t i = 0; i < rounds; i++)
		if (cell->ns[i] > 0)
			times[count++] = cell->ns[i];
	qsort(times, count, sizeof *times, by_value);
	return count ? middle(times, count) : 0;
}

static void judge_cell(struct tare_blocks_cell *cell, const struct tare_blocks_cell *own,
                       uint32_t rounds)
{
	cell->told = TARE_BLOCKS_NOT_KNOWN;
	// Of other launches the times say something else.
	if (cell->unchanged || cell->launches != own->launches || cell->varies || own->varies)
		return;
	cell->ratio = tare_blocks_ratio_of(cell->ns, own->ns, rounds);
	if (cell->ratio.known)
		cell->told = cell->ratio.high < 1  ? TARE_BLOCKS_FASTER
		             : cell->ratio.low > 1 ? TARE_BLOCKS_SLOWER
		                                   : TARE_BLOCKS_ALIKE;
}

// The fastest of those that are faster than the program's own, and those not told from it.
static void find_best(struct tare_blocks_trials *trials, size_t name)
{
	const struct tare_blocks_cell *best = NULL;

	for (uint32_t i = 1; i < trials->set_count; i++) {
		const struct tare_blocks_cell *cell = &trials->sets[i].cells[name];
		if (cell->told == TARE_BLOCKS_FASTER &&
		    (!best || cell->ratio.value < best->ratio.value))
			best = cell;
	}
	for (uint32_t i = 1; best && i < trials->set_count; i++) {
		struct tare_blocks_cell *cell = &trials->sets[i].cells[name];
		if (cell->told == TARE_BLOCKS_FASTER)
			cell->best =
			    cell == best ||
			    tare_blocks_ratio_of(cell->ns, best->ns, trials->rounds).low <= 1;
	}
}

void tare_blocks_trials_judge(struct tare_blocks_trials *trials)
{
	for (size_t name = 0; name < trials->name_count; name++) {
		for (uint32_t i = 1; i < trials->set_count; i++)
			if (trials->sets[i].why.code == 0)
				judge_cell(&trials->sets[i].cells[name],
				           &trials->sets[0].cells[name], trials->rounds);
		find_best(trials, name);
	}
}

bool tare_blocks_was_launched(const struct tare_blocks_trials *trials, size_t name)
{
	for (uint32_t i = 0; i < trials->set_count; i++)
		if (trials->sets[i].cells[name].launches || trials->sets[i].cells[name].varies)
			return true;
	return false;
}
