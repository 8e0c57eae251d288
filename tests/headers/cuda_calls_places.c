// SPDX-License-Identifier: Apache-2.0
// The recorder's side of cuda_calls_check.c, with what its table needs to stand alone.
#include "guest/cuda/cuda.h"

#include <string.h>

struct cupti_functions cuda_cupti;

void guest_define_function(enum tare_trace_api api, uint32_t number, const char *name,
                           enum tare_trace_role role)
{
	(void)api, (void)number, (void)name, (void)role;
}

unsigned cuda_stream_place(const char *called);
unsigned cuda_stream_place(const char *called)
{
	for (uint32_t i = 0; i < cuda_function_count; i++)
		if (strcmp(cuda_functions[i].called, called) == 0)
			return cuda_functions[i].stream;
	return CUDA_NO_STREAM;
}
