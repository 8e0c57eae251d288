// SPDX-License-Identifier: Apache-2.0
#include "measure/peak.h"

#include <errno.h>

int tare_measure_peak(struct tare_run *run, struct tare_error *error)
{
	(void)run;
	return tare_fail(error, ENOSYS, "not written yet");
}
