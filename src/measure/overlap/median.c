// SPDX-License-Identifier: Apache-2.0
// A schedule run until its median is known.
#include "measure/overlap/internal.h"
#include <stdlib.h>

static int compare_doubles(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;
	return (left > right) - (left < right);
}

double overlap_median(double *values, uint32_t count)
{
	qsort(values, count, sizeof *values, compare_doubles);
	return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

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
	*ns = overlap_median(times, runs);
	if (issue_ns)
		*issue_ns = overlap_median(issues, runs);
	return 0;
}
