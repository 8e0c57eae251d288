// SPDX-License-Identifier: Apache-2.0
// What the styles of streams.c work with: the driver, by the way that the program is to find it, a
// module, memory and streams.
#pragma once
#include "backend/cuda/cupti_abi.h"
#include "driver.h"

#include <string.h>

#ifdef LINKED
#define X(name, parameters) cu_result name parameters;
CUDA_FUNCTIONS(X, X)
#undef X
cu_result cuCtxSynchronize(void);
#endif

enum { BYTES = 1 << 20, STREAMS = 3 };
static const char ptx[] = ".version 6.0\n.target sm_70\n.address_size 64\n"
                          ".visible .entry empty() { ret; }\n.visible .entry other() { ret; }\n"
                          ".visible .entry takes(.param .u64 takes_param_0) { ret; }\n";
static void *driver;
static cu_module module;
static cu_function empty, other;
static cu_context context;
static cu_pointer memory, second;
static char *pinned, *pageable;
static cu_stream streams[STREAMS];

static cu_result (*get_address)(const char *symbol, void **found, int version, uint64_t flags,
                                int *status);

// As the runtime does: by names without their version, before anything is initialised.
static void *address_of(const char *name)
{
	char symbol[64];
	void *found = NULL;
	size_t length = strlen(name);
	if (!get_address)
		return dlsym(driver, name);
	snprintf(symbol, sizeof symbol, "%.*s",
	         (int)(length - (length > 3 && strcmp(name + length - 3, "_v2") == 0 ? 3 : 0)),
	         name);
	// The second version of cuCtxSynchronize, of CUDA 13, takes a context.
	int version = strcmp(name, "cuCtxSynchronize") == 0 ? 12000 : 13000;
	if (get_address(symbol, &found, version, 0, NULL) == 0 &&
	    strcmp(symbol, "cuGetProcAddress") == 0)
		*(void **)&get_address = found;
	return found;
}

static void open_driver(void)
{
	driver = dlopen("libcuda.so.1", RTLD_NOW);
	if (!driver) {
		puts(dlerror());
		exit(2);
	}
#ifdef LINKED
#define X(name, parameters) cuda.name = name;
	CUDA_FUNCTIONS(X, X)
#undef X
	cuda.cuCtxSynchronize = cuCtxSynchronize;
#else
#define X(name, parameters) *(void **)&cuda.name = address_of(#name);
	CUDA_FUNCTIONS(X, X)
#undef X
	*(void **)&cuda.cuCtxSynchronize = address_of("cuCtxSynchronize");
#endif
}
