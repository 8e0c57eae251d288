// SPDX-License-Identifier: Apache-2.0
#include "record/loader/cupti.h"

#include "guest/cuda/cupti_places.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FRONT "libtare-cuda.so"

static bool matches(const char *pattern)
{
	glob_t found;
	bool any = glob(pattern, 0, NULL, &found) == 0;

	if (any)
		globfree(&found);
	return any;
}

// As the recorder will look for it. A library that the program brings is seen there alone.
static bool cupti_is_found(const char *library_path, const char *cache)
{
	static const char *const versions[] = { CUPTI_VERSIONS }, *const folders[] = {
		CUPTI_FOLDERS
	};
	const char *answer = getenv(CUPTI_VARIABLE);
	char text[256];

	if (answer && answer[0])
		return tare_library_is_found(answer, library_path, cache);
	for (size_t v = 0; v < sizeof versions / sizeof *versions; v++) {
		snprintf(text, sizeof text, "libcupti.so.%s", versions[v]);
		if (tare_library_is_found(text, library_path, cache))
			return true;
		for (size_t f = 0; f < sizeof folders / sizeof *folders; f++) {
			snprintf(text, sizeof text, "%s/libcupti.so.%s", folders[f], versions[v]);
			if (matches(text))
				return true;
		}
	}
	return false;
}

// The list that LD_PRELOAD is knows no way to write these.
static bool can_be_listed(const char *path)
{
	return path[0] == '/' && !strpbrk(path, ": \t\n$");
}

// Of the program or a library of it. Another C library's linker cannot load ours, and a sanitizer's
// runtime that is not the first library ends the program.
static bool bears_none(const struct tare_closure *closure)
{
	static const char *const first[] = { "libasan.so", "libtsan.so", "libhwasan.so",
		                             "libclang_rt.asan" };
	const char *linker = closure->count ? closure->objects[0].interpreter : NULL;

	for (size_t i = 0; i < closure->count; i++)
		for (size_t n = 0; n < closure->objects[i].needed_count; n++)
			for (size_t f = 0; f < sizeof first / sizeof *first; f++)
				if (strncmp(closure->objects[i].needed[n], first[f],
				            strlen(first[f])) == 0)
					return true;
	return linker && strstr(linker, "ld-musl");
}

char *tare_cuda_front_find(const char *layer, const struct tare_closure *closure,
                           const char *library_path, const char *cache, bool anyway)
{
	const char *slash = strrchr(layer, '/');
	char *front;

	if (!slash || bears_none(closure))
		return NULL;
	if (!anyway && (cupti_is_found(library_path, cache) ||
	                !tare_library_is_found("libcuda.so.1", library_path, cache)))
		return NULL;
	if (asprintf(&front, "%.*s/" FRONT, (int)(slash - layer), layer) < 0)
		return NULL;
	if (can_be_listed(front) && access(front, R_OK) == 0)
		return front;
	free(front);
	return NULL;
}
