// SPDX-License-Identifier: Apache-2.0
#include "report/text_parts.h"

int tare_text_peak(const struct tare_text *text, const struct tare_result *result)
{
	return tare_text_latency(text, result);
}
