// SPDX-License-Identifier: Apache-2.0
// Totals that are estimated from a random sample.
#include "base/units.h"
#include "report/core/figures.h"

#include <math.h>

bool tare_report_is_estimated(const struct tare_estimate *estimate)
{
	return estimate->unsampled > 0 && isfinite(estimate->ns);
}

void tare_report_estimate_cell(struct tare_text_table *table, const struct tare_estimate *estimate,
                               struct tare_report_unit unit)
{
	char figure[RUN_TEXT], about[TARE_UNIT_TEXT];
	tare_text_cell(
	    table, "~%s ±%s", tare_report_time(estimate->ns, unit, figure),
	    tare_format_significant((estimate->high_ns - estimate->ns) / unit.ns, 2, about));
}

const char *tare_report_estimate_remark(bool estimated)
{
	return estimated
	           ? "; but ~ is estimated of all from a random sample, ± with 95 % confidence"
	           : "";
}
