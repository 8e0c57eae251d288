// SPDX-License-Identifier: Apache-2.0
#include "record/loader/layer.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOADER TARE_LOADER
#define LAYERS TARE_LOADER_VARIABLE

// The folder of this program, "" when it is not known.
static void own_folder(char *folder, size_t size)
{
	ssize_t length = readlink("/proc/self/exe", folder, size - 1);
	char *slash;

	folder[length > 0 ? length : 0] = '\0';
	slash = strrchr(folder, '/');
	if (slash)
		*slash = '\0';
}

// The layer's path in a folder, from the root and without detours; NULL when it is not there.
static char *look_in(const char *base, const char *folder)
{
	char path[2 * PATH_MAX];
	bool rooted = folder[0] == '/';

	snprintf(path, sizeof path, "%s%s%s/%s", rooted ? "" : base, rooted ? "" : "/", folder,
	         TARE_RECORDER);
	return access(path, R_OK) == 0 ? realpath(path, NULL) : NULL;
}

char *tare_layer_find(struct tare_error *error)
{
	// As installed, then as built.
	static const char *const folders[] = { TARE_LAYER_INSTALLED, "../guest" };
	const char *answer = getenv(TARE_LAYER_FOLDER);
	char base[PATH_MAX], *path = NULL;

	if (answer && answer[0]) {
		path = look_in(".", answer);
		if (!path)
			tare_fail(error, ENOENT,
			          "$" TARE_LAYER_FOLDER
			          " is %.200s, where there is no " TARE_RECORDER
			          " that may be read",
			          answer);
	} else {
		own_folder(base, sizeof base);
		for (size_t i = 0; base[0] && !path && i < sizeof folders / sizeof *folders; i++)
			path = look_in(base, folders[i]);
		if (!path)
			tare_fail(error, ENOENT,
			          "the recorder " TARE_RECORDER " is not in "
			          "%.150s/" TARE_LAYER_INSTALLED "; $" TARE_LAYER_FOLDER
			          " can name its folder",
			          base);
	}
	// The list of layers is separated by colons and knows no way to write one.
	if (path && strchr(path, ':')) {
		tare_fail(error, EINVAL,
		          "the recorder's path %.200s has a colon, which " LAYERS
		          " cannot express; install tare elsewhere",
		          path);
		free(path);
		path = NULL;
	}
	return path;
}

int tare_layer_check(const char *layer, struct tare_error *error)
{
	void *library;
	const char *why;

	if (tare_file_is_cut(layer))
		return tare_fail(error, ELIBBAD,
		                 "the recorder %.300s is cut off; install tare again", layer);
	library = dlopen(layer, RTLD_LAZY | RTLD_LOCAL);
	why = library ? NULL : dlerror();
	if (library) {
		dlclose(library);
		return 0;
	}
	// It begins with the path.
	return tare_fail(error, ELIBBAD,
	                 "the recorder cannot be loaded: %.300s; install tare again",
	                 why ? why : layer);
}

void tare_layer_explain(const struct tare_program *program, const struct tare_loader *loader,
                        const char *withheld, char *text, size_t size)
{
	if (program->privileged)
		snprintf(
		    text, size,
		    "%.200s has the set-user-ID or set-group-ID bit, and then loaders ignore the "
		    "environment; record it as its owner",
		    program->path);
	else if (program->fixed && !program->knows_layers)
		snprintf(text, size,
		         "%.200s is statically linked: it contains no OpenCL loader that knows "
		         "layers, and can "
		         "load no Level Zero driver in whose place the recorder stands",
		         program->path);
	else if (program->fixed)
		snprintf(text, size,
		         "%.200s is statically linked and made no OpenCL call; it can load no "
		         "Level Zero "
		         "driver in whose place the recorder stands",
		         program->path);
	else if (!loader->path[0])
		snprintf(text, size,
		         "there is no " LOADER
		         " on this machine that the program could have called");
	else if (!loader->knows_layers && withheld)
		snprintf(text, size,
		         "the program made no OpenCL call, or made it through %.200s, a loader "
		         "that knows no layers; without --strict %.200s is put in front of it",
		         loader->path, withheld);
	else if (!loader->knows_layers)
		snprintf(
		    text, size,
		    "the program made no OpenCL call, or made it through %.200s, a loader that "
		    "knows no layers (" LAYERS " does not occur in it): ocl-icd from 2.3.0 and "
		    "Khronos' loader from 2020.12 know them, and one that is installed is put in "
		    "front (package ocl-icd-libopencl1)",
		    loader->path);
	else
		snprintf(text, size,
		         "the program made no OpenCL call through %.200s; if it should have, see "
		         "that its environment reaches it (env -i, su - and sudo clear it)",
		         loader->path);
}
