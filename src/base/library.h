// SPDX-License-Identifier: Apache-2.0
// Vendor libraries are opened at run time: one binary starts on any machine.
#pragma once
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

// One function to resolve. A table of these describes a library once.
struct tare_symbol {
	const char *name; // the exported, versioned name: "cuMemAlloc_v2"
	size_t offset;    // offsetof() of the function pointer in the caller's struct
	bool optional;    // left NULL when the library lacks it
};

// Row of a symbol table: the member of `type` carries the symbol's name.
#define TARE_SYMBOL(type, member) { #member, offsetof(type, member), false }
#define TARE_SYMBOL_OPTIONAL(type, member) { #member, offsetof(type, member), true }
// For members whose exported name carries a version suffix.
#define TARE_SYMBOL_ALIAS(type, member, exported) { exported, offsetof(type, member), false }

struct tare_library;

// Opens the first of `names` (NULL-terminated) that loads and resolves `symbols` (`symbol_count`
// rows) into *functions. Returns 0; -ENOENT when none of the names loads (error names all that were
// tried); -ENOSYS when one loads but lacks a required symbol (error names it). On failure nothing
// stays open. The library belongs to the caller until tare_library_close, which accepts NULL.
int tare_library_open(const char *const *names, const struct tare_symbol *symbols,
                      size_t symbol_count, void *functions, struct tare_library **library,
                      struct tare_error *error);
void tare_library_close(struct tare_library *library);

// The name under which it was opened.
const char *tare_library_name(const struct tare_library *library);
