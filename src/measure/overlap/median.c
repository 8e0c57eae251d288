// SPDX-License-Identifier: Apache-2.0
// A schedule run until its median is known.
#include "measure/overlap/internal.h"
#include "model/statistics/order.h"

int overlap_median_run(struct overlap *overlap, const struct tare_schedule *schedule, uint32_t runs,
                       double *ns, double *issue_ns, struct tare_error *error)
{
	double times[OVERLAP_REPEATS_MOST], issues[OVERLAP_REPEATS_MOST];
	int status = 0;

	for (uint32_t i = 0; status == 0 && i < runs; i++) {
		int64_t time = 0, issue = 0;
		status = overlap_go_on(overlap, error);
		if (status == 0)
			status = tare_pipeline_run(overlap->pipeline, schedule, TARE_BREAK_NONE,
			                           &time, &issue, error);
		times[i] = (double)time;
		issues[i] = (double)issue;
	}
	if (status < 0)
		return status;
	*ns = tare_median(times, runs);
	if (issue_ns)
		*issue_ns = tare_median(issues, runs);
	return 0;
}
