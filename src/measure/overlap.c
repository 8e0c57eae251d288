// SPDX-License-Identifier: Apache-2.0
#include "measure/overlap.h"

#include <errno.h>

int tare_measure_overlap(struct tare_run *run, const struct tare_overlap_options *options,
                         char **log, struct tare_error *error)
{
	(void)run;
	(void)options;
	(void)log;
	return tare_fail(error, ENOSYS, "not written yet");
}
