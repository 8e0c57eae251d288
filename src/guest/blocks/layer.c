// SPDX-License-Identifier: Apache-2.0
// The instrumentation as a layer of OpenCL: what it does when a loader takes it.
#include "guest/blocks/layer.h"
#include "guest/blocks/set.h"
#include "guest/layer/entry.h"

cl_icd_dispatch blocks_next;

static bool begin(void)
{
	enum blocks_stage stage = blocks_files_begin();

	if (stage == BLOCKS_OFF || !blocks_kernels_begin(stage))
		return false;
	blocks_set_begin();
	return true;
}

__attribute__((constructor)) static void be_layer(void)
{
	static const struct guest_layer layer = {
		.name = "tare blocks", .next = &blocks_next, .begin = begin, .wrap = blocks_wrap
	};

	guest_layer_is(&layer);
}
