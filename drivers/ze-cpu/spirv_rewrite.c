// SPDX-License-Identifier: Apache-2.0
#include "spirv_rewrite.h"

#include <errno.h>

int spirv_rewrite(const void *data, size_t bytes,
                  const struct spirv_specialisation *constants, uint32_t constant_count,
                  const struct spirv_placement *placements, uint32_t placement_count,
                  void **changed, size_t *changed_bytes, struct tare_error *error)
{
	(void)data;
	(void)bytes;
	(void)constants;
	(void)constant_count;
	(void)placements;
	(void)placement_count;
	*changed = NULL;
	*changed_bytes = 0;
	return tare_fail(error, ENOTSUP, "not written yet");
}
