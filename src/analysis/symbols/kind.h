// SPDX-License-Identifier: Apache-2.0
// Whose code a module is, by its path: what the site of a command is chosen by. Internal to
// src/analysis.
#pragma once
#include <stdbool.h>
#include <stddef.h>

enum symbols_kind {
	SYMBOLS_PROGRAM,  // the program, and libraries that are not the system's
	SYMBOLS_LIBRARY,  // of the system
	SYMBOLS_RUNTIME,  // of a language: it runs what is meant
	SYMBOLS_PLUMBING, // the API, its drivers, the C library, the recorder
	SYMBOLS_KINDS
};

// `executable`: of the process; it may be cut at its beginning. An empty path is plumbing.
enum symbols_kind symbols_kind_of(const char *path, const char *executable);

// Whether a source file is one that programs only include: of the system, or the API's C++
// wrappers.
bool symbols_is_included(const char *source);

// The name of a module without folder, version and what comes of the platform: "libcl.so". Returns
// how many characters of *name it is.
size_t symbols_short_name(const char *path, const char **name);
