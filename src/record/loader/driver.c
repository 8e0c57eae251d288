// SPDX-License-Identifier: Apache-2.0
#include "record/loader/driver.h"

#include "guest/environment.h"
#include "record/loader/closure.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Those that loaders know by name, in their order.
static const char *const known[] = { "libze_intel_gpu.so.1", "libze_intel_gpu_legacy1.so.1",
	                             "libze_intel_vpu.so.1", "libze_intel_npu.so.1" };

struct made {
	struct tare_drivers *drivers;
	const char *layer;
	unsigned stubs;
};

static void append(char **list, const char *entry, size_t length)
{
	char *longer;

	if (asprintf(&longer, "%s%s%.*s", *list ? *list : "", *list ? "," : "", (int)length,
	             entry) < 0)
		longer = NULL;
	free(*list);
	*list = longer;
}

// Puts a stub in the place of a driver, if there is one.
static bool add_stub(struct made *made, const char *driver, size_t length)
{
	const char *slash = strrchr(made->layer, '/');
	char *stub;
	bool there;

	if (made->stubs == TARE_LEVELZERO_STUBS || !slash ||
	    asprintf(&stub, "%.*s/libtare-levelzero-%u.so", (int)(slash - made->layer), made->layer,
	             made->stubs) < 0)
		return false;
	// A comma is the list's own.
	there = access(stub, R_OK) == 0 && !strchr(made->layer, ',');
	if (there) {
		append(&made->drivers->stubs, stub, strlen(stub));
		append(&made->drivers->behind, driver, length);
		made->stubs++;
	}
	free(stub);
	return there;
}

// Of a tare record around this one: the driver behind its stub. Else the name itself. To free().
static char *behind_stub(const char *name, size_t length)
{
	static const char stub[] = "/libtare-levelzero-";
	const char *list = getenv(TARE_ENVIRONMENT_LEVELZERO);
	char *own = strndup(name, length), *found = own ? strstr(own, stub) : NULL;

	if (!found || !list)
		return own;
	for (long at = strtol(found + strlen(stub), NULL, 10) + 1; list && at > 0; at--) {
		list = strchr(list, ',');
		list = list ? list + 1 : NULL;
	}
	free(own);
	return list ? strndup(list, strcspn(list, ",")) : NULL;
}

static void add_named(struct made *made, const char *list, const char *library_path,
                      const char *cache)
{
	while (*list) {
		size_t length = strcspn(list, ",");
		char *name = length ? behind_stub(list, length) : NULL;
		if (name && (!tare_library_is_found(name, library_path, cache) ||
		             !add_stub(made, name, strlen(name))))
			append(&made->drivers->stubs, name, strlen(name));
		free(name);
		list += length + (list[length] == ',');
	}
}

void tare_drivers_find(const char *layer, const char *alternative, const char *library_path,
                       const char *cache, struct tare_drivers *drivers)
{
	struct made made = { .drivers = drivers, .layer = layer };

	*drivers = (struct tare_drivers){ 0 };
	append(&drivers->behind, layer, strlen(layer));
	if (alternative)
		add_named(&made, alternative, library_path, cache);
	for (size_t i = 0; !alternative && i < sizeof known / sizeof *known; i++)
		if (tare_library_is_found(known[i], library_path, cache) &&
		    !add_stub(&made, known[i], strlen(known[i])))
			append(&drivers->stubs, known[i], strlen(known[i]));
	// Nothing to gain: the loader is left to find what it finds.
	if (!made.stubs || !drivers->behind)
		tare_drivers_free(drivers);
}

void tare_drivers_free(struct tare_drivers *drivers)
{
	free(drivers->stubs);
	free(drivers->behind);
	*drivers = (struct tare_drivers){ 0 };
}
