// SPDX-License-Identifier: Apache-2.0
// A program and the libraries that the dynamic linker would load with it, found without running it.
#pragma once
#include "record/loader/object.h"

#include <stdbool.h>
#include <stddef.h>

struct tare_closure {
	// the program first; of a library that is not found there is none
	struct tare_object *objects;
	size_t count;
};

// Without memory, or of a program that is no ELF file of this machine's kind, it is what could be
// read, perhaps nothing. `library_path`: LD_LIBRARY_PATH of the program; NULL as "".
void tare_closure_find(const char *program, const char *library_path, struct tare_closure *closure);
void tare_closure_free(struct tare_closure *closure);

// Calls `found` with the path of a library `name` in each of the folders, joined by colons (an
// empty one is where tare was started), until that returns true. Returns whether it did.
bool tare_folders_look(const char *folders, const char *name,
                       bool (*found)(const char *path, void *context), void *context);

// Whether the dynamic linker would find a library by this name, a path if it has a slash.
// `library_path`: LD_LIBRARY_PATH of the program; NULL as "". `cache`: of ldconfig(8).
bool tare_library_is_found(const char *name, const char *library_path, const char *cache);

// Where libraries are that no cache knows: the linker's own folders, then usual ones.
extern const char tare_system_folders[];
