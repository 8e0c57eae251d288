// SPDX-License-Identifier: Apache-2.0
// What an ELF file asks of the dynamic linker, read from the file and never by running it.
#pragma once
#include <stdbool.h>
#include <stddef.h>

#define TARE_OBJECT_NEEDS 64

struct tare_object {
	bool readable;                   // an ELF file of this machine's kind, with what follows
	char *path;                      // as it was found
	char *interpreter;               // dynamic linker; NULL: none
	char *soname;                    // NULL: none
	char *rpath, *runpath;           // folders joined by colons, $ORIGIN replaced; NULL: none
	char *needed[TARE_OBJECT_NEEDS]; // names, as many as there is room for
	size_t needed_count;
};

// Reads one file; any file, and none, will do.
void tare_object_read(const char *path, struct tare_object *object);
void tare_object_free(struct tare_object *object); // accepts a zeroed one

// Where the cache of ldconfig(8) says that `name` is: calls `found` with each path, in the dynamic
// linker's order, until that returns true. Libraries of other machines are among them.
void tare_cache_look(const char *cache, const char *name,
                     bool (*found)(const char *path, void *context), void *context);
#define TARE_CACHE "/etc/ld.so.cache"
