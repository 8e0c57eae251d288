// SPDX-License-Identifier: Apache-2.0
#include "measure/checkup.h"

#include <errno.h>

int tare_measure_checkup(struct tare_run *run, struct tare_error *error)
{
	(void)run;
	return tare_fail(error, ENOSYS, "not written yet");
}
