// SPDX-License-Identifier: Apache-2.0
#include "backend/backend.h"

#include <string.h>

extern const struct tare_backend tare_backend_opencl;
extern const struct tare_backend tare_backend_levelzero;
extern const struct tare_backend tare_backend_cuda;
extern const struct tare_backend tare_backend_simulated;

const struct tare_backend *const tare_backends[] = {
	&tare_backend_cuda,
	&tare_backend_levelzero,
	&tare_backend_opencl,
	&tare_backend_simulated,
	NULL,
};

const struct tare_backend *tare_backend_find(const char *name)
{
	for (size_t i = 0; tare_backends[i]; i++)
		if (strcmp(tare_backends[i]->name, name) == 0)
			return tare_backends[i];
	return NULL;
}
