// SPDX-License-Identifier: Apache-2.0
#include "measure/matmul.h"

#include <errno.h>

int tare_measure_matmul(struct tare_run *run, const struct tare_matmul_options *options,
                        struct tare_error *error)
{
	(void)run;
	(void)options;
	return tare_fail(error, ENOSYS, "not written yet");
}
