// SPDX-License-Identifier: Apache-2.0
// What a run says of its noise: one statement, at its end.
#include "measure/core/run.h"

#include "base/units.h"

#include <math.h>
#include <stdio.h>

struct counts {
	size_t cells, skipped;
};

static void count_figures(const struct tare_result *result, struct counts *counts)
{
	for (size_t i = 0; i < result->cell_count; i++) {
		const struct tare_cell *cell = &result->cells[i];
		if (tare_cell_is_model(cell))
			continue;
		counts->skipped += cell->absent && cell->absence == TARE_ABSENT_NO_TURN;
		counts->cells += !cell->absent;
	}
	for (size_t i = 0; i < result->part_count; i++)
		count_figures(result->parts[i], counts);
}

// A budget that would do, as a person would type it; 0: none in any sensible time.
static double better_budget_s(const struct tare_run *run)
{
	double budget_s = (double)run->budget_ns * 1e-9, needed_s = run->needed_ns * 1.25e-9;

	if (needed_s < 1.5 * budget_s)
		needed_s = 1.5 * budget_s;
	needed_s = needed_s > 60 ? ceil(needed_s / 60) * 60 : ceil(needed_s / 5) * 5;
	return needed_s > TARE_LONGEST_ADVICE_S ? 0 : needed_s;
}

// Plain digits, two of them significant.
static const char *format_worst(double percent, char text[TARE_UNIT_TEXT])
{
	if (percent > 1000)
		snprintf(text, TARE_UNIT_TEXT, "more than ±1000");
	else if (percent >= 100)
		snprintf(text, TARE_UNIT_TEXT, "±%.0f", 10 * round(percent / 10));
	else
		snprintf(text, TARE_UNIT_TEXT, "±%s",
		         tare_format_significant(percent, 2, (char[TARE_UNIT_TEXT]){ 0 }));
	return text;
}

// " (at worst ±24 %, 2 without an interval)". Samples may also be too few although their interval
// is narrow enough.
static void say_worst(const struct tare_run *run, char *text, size_t size)
{
	bool wide = run->worst > tare_stopping_default().relative_half_width;
	char number[TARE_UNIT_TEXT], without[48];

	snprintf(without, sizeof without, "%zu without an interval", run->without_interval);
	if (wide && run->without_interval > 0)
		snprintf(text, size, " (at worst %s %%, %s)",
		         format_worst(100 * run->worst, number), without);
	else if (wide)
		snprintf(text, size, " (at worst %s %%)", format_worst(100 * run->worst, number));
	else if (run->without_interval > 0)
		snprintf(text, size, " (%s)", without);
}

static void warn_noise(struct tare_run *run, const struct counts *counts, const char *budget)
{
	double better_s = better_budget_s(run);
	char action[160], worst[96] = "", limited[96] = "", within[TARE_UNIT_TEXT + 8];

	if (run->open_figures == 0)
		snprintf(action, sizeof action,
		         "read them with their intervals; more time does not help");
	else if (better_s > 0)
		snprintf(action, sizeof action, "--budget %.0f would do", better_s);
	else
		// More time is what those take that were not measured at all.
		snprintf(action, sizeof action, "too noisy for 1 %%: close other programs%s",
		         counts->skipped > 0 ? "" : "; more time alone does not help");
	say_worst(run, worst, sizeof worst);
	if (run->open_figures == 0) {
		tare_result_warn(
		    run->result, "clock-limited", action,
		    "%zu of %zu figures are not known to 1 %%: the clocks allow no more%s",
		    run->limited_figures, counts->cells, worst);
		return;
	}
	if (run->limited_figures > 0)
		snprintf(limited, sizeof limited, "; for %zu of them the clocks allow no more",
		         run->limited_figures);
	if (run->samples)
		snprintf(within, sizeof within, "%zu samples", run->samples);
	else
		snprintf(within, sizeof within, "%s s", budget);
	tare_result_warn(
	    run->result, "not-converged",
	    run->samples ? "a --budget in place of --samples measures until they do" : action,
	    "%zu of %zu figures did not converge to 1 %% in %s%s%s",
	    run->open_figures + run->limited_figures, counts->cells, within, worst, limited);
	if (better_s > 0 && !run->samples)
		tare_result_action_is_options(run->result, "not-converged");
}

void tare_run_warn_convergence(struct tare_run *run)
{
	struct counts counts = { 0 };
	char budget[TARE_UNIT_TEXT];

	if (run->is_part)
		return;
	count_figures(run->result, &counts);
	tare_format_significant((double)run->budget_ns * 1e-9, 3, budget);
	if (counts.skipped > 0)
		tare_result_warn(run->result, "budget-short", "give more time with --budget",
		                 "%zu figures were not measured: the budget of %s s ran out",
		                 counts.skipped, budget);
	if (run->open_figures + run->limited_figures > 0)
		warn_noise(run, &counts, budget);
}

void tare_run_add_noise(struct tare_run *whole, const struct tare_run *part)
{
	whole->open_figures += part->open_figures;
	whole->limited_figures += part->limited_figures;
	whole->without_interval += part->without_interval;
	whole->worst = fmax(whole->worst, part->worst);
	if (part->budget_ns > 0)
		whole->needed_ns =
		    fmax(whole->needed_ns,
		         part->needed_ns * (double)whole->budget_ns / (double)part->budget_ns);
}
