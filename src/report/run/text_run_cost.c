// SPDX-License-Identifier: Apache-2.0
// What recording cost, in words.
#include "report/run/text_run.h"

#include <math.h>

// "about 32 % of the time (29 to 35 %)".
const char *tare_report_cost_share(const struct tare_report *run, char words[RUN_TEXT])
{
	const struct tare_coverage *coverage = &run->tables->coverage;
	double share = coverage->cost_share, low, high;
	int64_t wall_ns = tare_view_ns(run->view);
	double per_ns = wall_ns > 0 ? 1 / (double)wall_ns : 0;
	const char *lead = coverage->cost_source == TARE_COST_OWN_CODE ? "at least" : "about";
	const char *tail = coverage->cost_source == TARE_COST_COMPARED   ? ", by runs without it"
	                   : coverage->cost_source != TARE_COST_OWN_CODE ? ""
	                   : coverage->driver_hidden
	                       ? "; the driver's own threads hide its part, which --calibrate finds"
	                   : run->recording->apis == 1 << TARE_TRACE_CUDA
	                       ? "; what CUPTI takes is not known, which --calibrate finds"
	                       : "; the driver's part is not known";

	if (!isfinite(share)) {
		snprintf(words, RUN_TEXT, "n/a");
		return words;
	}
	low = 100 * per_ns * (double)coverage->cost_low_ns;
	high = 100 * per_ns * (double)coverage->cost_high_ns;
	if (share < 0.0005 && (coverage->cost_high_ns == TARE_NO_TIME || high < 0.1))
		snprintf(words, RUN_TEXT, "below 0.1 %% of the time%s", tail);
	else if (coverage->cost_high_ns == TARE_NO_TIME || high - low < 0.1)
		snprintf(words, RUN_TEXT, "%s %.1f %% of the time%s", lead, 100 * share, tail);
	else
		snprintf(words, RUN_TEXT, "%s %.1f %% of the time (%.1f to %.1f %%)%s", lead,
		         100 * share, low, high, tail);
	return words;
}

// "the driver about 12 ms (9.5 to 14 ms) for profiling and events".
const char *tare_report_driver_cost(const struct tare_report *run, char words[RUN_TEXT])
{
	const struct tare_coverage *coverage = &run->tables->coverage;
	char best[TARE_UNIT_TEXT], low[TARE_UNIT_TEXT], high[TARE_UNIT_TEXT];

	if (coverage->driver_ns == TARE_NO_TIME)
		snprintf(words, RUN_TEXT,
		         "what the driver takes for profiling and events is not known%s",
		         coverage->driver_hidden ? ": threads of its own do part of it" : "");
	else if (coverage->driver_ns == 0 && coverage->driver_high_ns == 0)
		snprintf(words, RUN_TEXT, "nothing in the driver");
	else
		snprintf(words, RUN_TEXT,
		         "the driver about %s (%s to %s) for profiling and events, by calibration",
		         tare_format_ns((double)coverage->driver_ns, best),
		         tare_format_ns((double)coverage->driver_low_ns, low),
		         tare_format_ns((double)coverage->driver_high_ns, high));
	return words;
}
