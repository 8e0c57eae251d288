// SPDX-License-Identifier: Apache-2.0
#include "analysis/whatif.h"

#include <errno.h>

int tare_whatif_overlap(const struct tare_recording *recording, const struct tare_view *view,
                        uint32_t device, struct tare_overlap_gain *gain, struct tare_error *error)
{
	(void)recording, (void)view, (void)error;
	*gain = (struct tare_overlap_gain){ .device = device, .why_not = "not written yet" };
	return -ENODATA;
}
