// SPDX-License-Identifier: Apache-2.0
#include "export/export.h"

#include <errno.h>

int tare_export_csv(const struct tare_recording *recording, const struct tare_view *view,
                         const char *path, struct tare_export_counts *counts, struct tare_error *error)
{
	(void)recording, (void)view, (void)path;
	*counts = (struct tare_export_counts){ 0 };
	(void)error;
	return -ENOSYS;
}
