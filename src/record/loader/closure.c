// SPDX-License-Identifier: Apache-2.0
#include "record/loader/closure.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Of more libraries nobody looks at the rest: this is evidence, not linking.
#define MOST_OBJECTS 256

const char tare_system_folders[] =
#if defined(__x86_64__)
    "/lib/x86_64-linux-gnu:/usr/lib/x86_64-linux-gnu:"
#elif defined(__aarch64__)
    "/lib/aarch64-linux-gnu:/usr/lib/aarch64-linux-gnu:"
#endif
    "/lib64:/usr/lib64:/lib:/usr/lib:/usr/local/lib64:/usr/local/lib";

bool tare_folders_look(const char *folders, const char *name,
                       bool (*found)(const char *path, void *context), void *context)
{
	while (folders && *folders) {
		size_t length = strcspn(folders, ":");
		char path[PATH_MAX];
		int bytes = snprintf(path, sizeof path, "%.*s/%s", length ? (int)length : 1,
		                     length ? folders : ".", name);
		if (bytes > 0 && bytes < (int)sizeof path && found(path, context))
			return true;
		folders += length + (folders[length] == ':');
	}
	return false;
}

static bool is_there(const char *path, void *context)
{
	bool *found = context;

	*found = *found || access(path, R_OK) == 0;
	return *found;
}

bool tare_library_is_found(const char *name, const char *library_path, const char *cache)
{
	bool found = false;

	if (strchr(name, '/'))
		return access(name, R_OK) == 0;
	if (!tare_folders_look(library_path, name, is_there, &found)) {
		tare_cache_look(cache, name, is_there, &found);
		if (!found)
			tare_folders_look(tare_system_folders, name, is_there, &found);
	}
	return found;
}

// Takes the first file that the linker would take.
static bool take(const char *path, void *context)
{
	struct tare_object *object = context;

	tare_object_read(path, object);
	if (!object->readable)
		tare_object_free(object);
	return object->readable;
}

// As ld.so(8) has it, but that a library's rpath is not one of what its own libraries need.
static bool find(const char *name, const struct tare_closure *closure, size_t asking,
                 const char *library_path, struct tare_object *object)
{
	const struct tare_object *first = &closure->objects[0], *from = &closure->objects[asking];

	*object = (struct tare_object){ 0 };
	if (strchr(name, '/'))
		return take(name, object);
	if (!from->runpath &&
	    (tare_folders_look(from->rpath, name, take, object) ||
	     (!first->runpath && tare_folders_look(first->rpath, name, take, object))))
		return true;
	if (tare_folders_look(library_path, name, take, object) ||
	    tare_folders_look(from->runpath, name, take, object))
		return true;
	tare_cache_look(TARE_CACHE, name, take, object);
	return object->readable || tare_folders_look(tare_system_folders, name, take, object);
}

static bool has(const struct tare_closure *closure, const char *name)
{
	for (size_t i = 0; i < closure->count; i++) {
		const struct tare_object *object = &closure->objects[i];
		const char *slash = strrchr(object->path, '/');
		if ((object->soname && strcmp(object->soname, name) == 0) ||
		    strcmp(slash ? slash + 1 : object->path, name) == 0)
			return true;
	}
	return false;
}

void tare_closure_find(const char *program, const char *library_path, struct tare_closure *closure)
{
	*closure =
	    (struct tare_closure){ .objects = calloc(MOST_OBJECTS, sizeof *closure->objects) };
	if (!closure->objects || !take(program, &closure->objects[0]))
		return;
	closure->count = 1;
	for (size_t i = 0; i < closure->count; i++) {
		for (size_t n = 0; n < closure->objects[i].needed_count; n++) {
			const char *name = closure->objects[i].needed[n];
			if (closure->count < MOST_OBJECTS && !has(closure, name) &&
			    find(name, closure, i, library_path, &closure->objects[closure->count]))
				closure->count++;
		}
	}
}

void tare_closure_free(struct tare_closure *closure)
{
	for (size_t i = 0; i < closure->count; i++)
		tare_object_free(&closure->objects[i]);
	free(closure->objects);
	*closure = (struct tare_closure){ 0 };
}
