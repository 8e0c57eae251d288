// SPDX-License-Identifier: Apache-2.0
// cuGetProcAddress of the stand-in for libcuda: works before cuInit, and gives the exported
// function of the newest version that the caller may know. What depends on the default stream of a
// thread it does not have.
#define FAKE_CUDA_CALLERS
#include "fake_cuda_device.h"

#include <string.h>

FAKE_EXPORT cu_result cuCtxGetCurrent(cu_context *context);
FAKE_EXPORT cu_result cuGetProcAddress(const char *symbol, void **found, int version,
                                       uint64_t flags);
FAKE_EXPORT cu_result cuGetProcAddress_v2(const char *symbol, void **found, int version,
                                          uint64_t flags, int *status);

// Those that tell of their calls are declared where they are made.
#define DECLARE_CALL(name, parameters, ...) FAKE_EXPORT cu_result name parameters;
FAKE_CUDA_CALLS(DECLARE_CALL)

typedef void (*function)(void);
static const struct row {
	const char *name;
	function address;
} rows[] = {
#define ROW(name, ...) { #name, (function)name },
	FAKE_CUDA_CALLS(ROW) CUDA_FUNCTIONS(ROW, ROW) ROW(cuCtxGetCurrent) ROW(cuGetProcAddress)
	    ROW(cuGetProcAddress_v2)
#undef ROW
};

static const struct row *named(const char *symbol, const char *version)
{
	size_t length = strlen(symbol);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (strncmp(rows[i].name, symbol, length) == 0 &&
		    strcmp(rows[i].name + length, version) == 0)
			return &rows[i];
	return NULL;
}

static cu_result look_up(const char *symbol, void **found, int version)
{
	const struct row *row = version >= 4000 ? named(symbol, "_v2") : NULL;
	if (!row)
		row = named(symbol, "");
	*found = NULL;
	if (!row)
		return ABI_NOT_FOUND;
	memcpy(found, &row->address, sizeof *found);
	return ABI_SUCCESS;
}

cu_result cuGetProcAddress(const char *symbol, void **found, int version, uint64_t flags)
{
	return flags ? ABI_INVALID_VALUE : look_up(symbol, found, version);
}

cu_result cuGetProcAddress_v2(const char *symbol, void **found, int version, uint64_t flags,
                              int *status)
{
	cu_result result = flags ? ABI_INVALID_VALUE : look_up(symbol, found, version);
	if (status)
		*status = result == ABI_SUCCESS ? 0 : 1;
	return result;
}
