// SPDX-License-Identifier: Apache-2.0
#include "analysis/core/demangle.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

static char *(*demangle)(const char *, char *, size_t *, int *);

// It stays open: there is one for all.
static void open_library(void)
{
	void *library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);

	if (library)
		*(void **)&demangle = dlsym(library, "__cxa_demangle");
}

char *tare_demangle(const char *mangled)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	int status = 0;

	if (strncmp(mangled, "_Z", 2) != 0)
		return NULL;
	pthread_once(&once, open_library);
	return demangle ? demangle(mangled, NULL, NULL, &status) : NULL;
}
