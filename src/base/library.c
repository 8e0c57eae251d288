// SPDX-License-Identifier: Apache-2.0
#include "base/library.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tare_library {
	void *handle;
	char name[128];
};

static void *open_first(const char *const *names, const char **opened, char *tried, size_t size)
{
	size_t used = 0;
	tried[0] = '\0';
	for (; *names; names++) {
		void *handle = dlopen(*names, RTLD_NOW | RTLD_LOCAL);
		if (handle) {
			*opened = *names;
			return handle;
		}
		if (used < size) {
			int written =
			    snprintf(tried + used, size - used, "%s%s", used ? ", " : "", *names);
			used += written > 0 ? (size_t)written : 0;
		}
	}
	return NULL;
}

int tare_library_open(const char *const *names, const struct tare_symbol *symbols,
                      size_t symbol_count, void *functions, struct tare_library **library,
                      struct tare_error *error)
{
	char tried[256];
	const char *opened = NULL;
	void *handle = open_first(names, &opened, tried, sizeof tried);

	if (!handle)
		return tare_fail(error, ENOENT, "no library found (tried %s)", tried);
	for (size_t i = 0; i < symbol_count; i++) {
		void *symbol = dlsym(handle, symbols[i].name);
		if (!symbol && !symbols[i].optional) {
			dlclose(handle);
			tare_fail(error, ENOSYS, "%s lacks the function %s; it may be too old",
			          opened, symbols[i].name);
			if (error)
				snprintf(error->call, sizeof error->call, "%s", symbols[i].name);
			return -ENOSYS;
		}
		memcpy((char *)functions + symbols[i].offset, &symbol, sizeof symbol);
	}
	struct tare_library *result = calloc(1, sizeof *result);
	if (!result) {
		dlclose(handle);
		return tare_fail(error, ENOMEM, "out of memory");
	}
	result->handle = handle;
	snprintf(result->name, sizeof result->name, "%s", opened);
	*library = result;
	return 0;
}

void tare_library_close(struct tare_library *library)
{
	if (!library)
		return;
	dlclose(library->handle);
	free(library);
}

const char *tare_library_name(const struct tare_library *library)
{
	return library->name;
}
