// SPDX-License-Identifier: Apache-2.0
// Variables of the environment by which a user makes the driver behave in another way. They are
// taken when it begins, for the program may set them later, which changes nothing.
#include "guest/cuda/cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// NVIDIA's, CUDA Programming Guide, "CUDA Environment Variables".
static const char *const known[] = {
	"CUDA_VISIBLE_DEVICES",
	"CUDA_DEVICE_ORDER",
	"CUDA_LAUNCH_BLOCKING",
	"CUDA_DEVICE_MAX_CONNECTIONS",
	"CUDA_DEVICE_MAX_COPY_CONNECTIONS",
	"CUDA_SCALE_LAUNCH_QUEUES",
	"CUDA_AUTO_BOOST",
	"CUDA_MODULE_LOADING",
	"CUDA_MODULE_DATA_LOADING",
	"CUDA_BINARY_LOADER_THREAD_COUNT",
	"CUDA_CACHE_DISABLE",
	"CUDA_CACHE_PATH",
	"CUDA_CACHE_MAXSIZE",
	"CUDA_FORCE_PTX_JIT",
	"CUDA_DISABLE_PTX_JIT",
	"CUDA_FORCE_JIT",
	"CUDA_DISABLE_JIT",
	"CUDA_MANAGED_FORCE_DEVICE_ALLOC",
	"CUDA_GRAPHS_USE_NODE_PRIORITY",
	"CUDA_DEVICE_DEFAULT_PERSISTING_L2_CACHE_PERCENTAGE_LIMIT",
	"CUDA_MPS_ACTIVE_THREAD_PERCENTAGE",
	"CUDA_MPS_PIPE_DIRECTORY",
};
enum { COUNT = sizeof known / sizeof *known };

static const char *texts[COUNT]; // "NAME=VALUE"; NULL: not set

void cuda_variables_begin(void)
{
	for (size_t i = 0; i < COUNT; i++) {
		const char *value = getenv(known[i]);
		size_t bytes = value ? strlen(known[i]) + strlen(value) + 2 : 0;
		char *text = bytes ? guest_memory(bytes) : NULL;
		if (text)
			snprintf(text, bytes, "%s=%s", known[i], value);
		texts[i] = text;
	}
}

void cuda_variables_define(const void *platform)
{
	for (size_t i = 0; i < COUNT; i++)
		if (texts[i])
			cuda_fact(TARE_TRACE_FACT_ENVIRONMENT, platform, 0,
			          guest_text(texts[i], strlen(texts[i])));
}
