// SPDX-License-Identifier: Apache-2.0
// Totals that are estimated from a random sample.
#include "report/core/figures.h"

#include <math.h>

bool tare_report_is_estimated(const struct tare_estimate *estimate)
{
	return estimate->unsampled > 0 && isfinite(estimate->ns);
}

const char *tare_report_estimate_remark(bool estimated)
{
	return estimated
	           ? "; but ~ is estimated of all from a random sample, ± with 95 % confidence, "
	             "unless a few that it missed took far longer (the ledger's row of what is not "
	             "timed "
	             "has the time in which they may have run)"
	           : "";
}
