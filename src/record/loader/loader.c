// SPDX-License-Identifier: Apache-2.0
#include "record/loader/loader.h"

#include "record/loader/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// All that were met, in the order in which they are preferred.
#define MOST_LOADERS 32

struct search {
	struct tare_loader met[MOST_LOADERS];
	// its soname is the loader's: it answers to that when preloaded
	bool as_named[MOST_LOADERS];
	size_t count;
	size_t last; // where the one is that was met last
	bool all;    // go on after the first
};

static bool meet(const char *path, void *context)
{
	struct search *search = context;
	struct tare_object object;
	struct tare_loader *loader;

	for (size_t i = 0; i < search->count; i++)
		if (strcmp(search->met[i].path, path) == 0) {
			search->last = i;
			return !search->all;
		}
	tare_object_read(path, &object);
	if (object.readable && search->count < MOST_LOADERS &&
	    strlen(path) < sizeof search->met[0].path) {
		loader = &search->met[search->count];
		snprintf(loader->path, sizeof loader->path, "%s", path);
		loader->knows_layers = tare_file_contains(path, TARE_LOADER_VARIABLE);
		search->as_named[search->count] =
		    object.soname && strcmp(object.soname, TARE_LOADER) == 0;
		search->last = search->count++;
	}
	tare_object_free(&object);
	return !search->all && search->last != MOST_LOADERS;
}

// ---- where

// One that the user has put in front.
static bool look_in_preload(const char *preload, struct search *search)
{
	while (preload && *preload) {
		size_t length = strcspn(preload, ": ");
		char path[512];
		const char *name;
		snprintf(path, sizeof path, "%.*s", (int)length, preload);
		name = strrchr(path, '/');
		if (name && strncmp(name + 1, "libOpenCL.so", strlen("libOpenCL.so")) == 0 &&
		    meet(path, search))
			return true;
		preload += length + (preload[length] != '\0');
	}
	return false;
}

static bool look_in_folders(const char *folders, struct search *search)
{
	return tare_folders_look(folders, TARE_LOADER, meet, search);
}

static bool look_in_system(const char *library_path, const char *cache, struct search *search)
{
	if (look_in_folders(library_path, search))
		return true;
	tare_cache_look(cache, TARE_LOADER, meet, search);
	if (search->last != MOST_LOADERS && !search->all)
		return true;
	return look_in_folders(tare_system_folders, search);
}

// What is met by one way of looking; MOST_LOADERS: nothing.
static size_t begin(struct search *search)
{
	return search->last = MOST_LOADERS;
}

static size_t find_of_program(const struct tare_closure *closure, const char *preload,
                              const char *library_path, const char *cache, struct search *search)
{
	const struct tare_object *first = closure->count ? &closure->objects[0] : NULL;

	begin(search);
	if (look_in_preload(preload, search) ||
	    (first && !first->runpath && look_in_folders(first->rpath, search)) ||
	    look_in_folders(library_path, search) ||
	    (first && look_in_folders(first->runpath, search)))
		return search->last;
	look_in_system(NULL, cache, search);
	return search->last;
}

// ---- which

static bool is_foreign(const struct tare_closure *closure)
{
	const char *linker = closure->count ? closure->objects[0].interpreter : NULL;

	return linker && strstr(linker, "ld-musl");
}

static void take(const struct search *search, size_t at, struct tare_loader_choice *choice)
{
	if (at < search->count && !search->met[at].knows_layers && !choice->wanted) {
		choice->wanted = true;
		choice->without = search->met[at];
	}
}

// The list that LD_PRELOAD is knows no way to write these.
static bool can_be_listed(const char *path)
{
	return path[0] == '/' && !strpbrk(path, ": \t\n$");
}

static void choose_front(const struct search *search, struct tare_loader_choice *choice)
{
	for (size_t i = 0; i < search->count && !choice->front[0]; i++)
		if (search->met[i].knows_layers && search->as_named[i] &&
		    can_be_listed(search->met[i].path))
			snprintf(choice->front, sizeof choice->front, "%s", search->met[i].path);
}

void tare_loader_choose(const struct tare_closure *closure, const char *preload,
                        const char *library_path, const char *cache,
                        struct tare_loader_choice *choice)
{
	struct search *search = calloc(1, sizeof *search);
	size_t own;

	*choice = (struct tare_loader_choice){ 0 };
	if (!search)
		return;
	own = find_of_program(closure, preload, library_path, cache, search);
	if (own < search->count)
		choice->program = search->met[own];
	take(search, own, choice);
	// Another program that this one starts has no paths of this one.
	begin(search);
	look_in_system(library_path, cache, search);
	take(search, search->last, choice);
	// A library of the program may open the loader, and look in its own folders first.
	for (size_t i = 1; i < closure->count; i++) {
		begin(search);
		look_in_folders(closure->objects[i].runpath ? closure->objects[i].runpath
		                                            : closure->objects[i].rpath,
		                search);
		take(search, search->last, choice);
	}
	if (choice->wanted) {
		search->all = true;
		look_in_system(library_path, cache, search);
		choice->foreign = is_foreign(closure);
		if (!choice->foreign)
			choose_front(search, choice);
	}
	free(search);
}
