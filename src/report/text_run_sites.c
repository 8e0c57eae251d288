// SPDX-License-Identifier: Apache-2.0
#include "report/text_run.h"

int tare_run_text_sites(const struct tare_text *text, const struct tare_run_report *run)
{
	(void)text, (void)run;
	return 0;
}
