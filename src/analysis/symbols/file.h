// SPDX-License-Identifier: Apache-2.0
// One file with code, read by elfutils. Internal to src/analysis.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum symbols_state {
	SYMBOLS_FINE,
	SYMBOLS_NO_LINES, // no debug information, here or in a file of its own
	SYMBOLS_GONE,     // there is no such file any more
	SYMBOLS_UNREADABLE,
	SYMBOLS_REBUILT,   // it is another one by now
	SYMBOLS_NO_READER, // tare was built without elfutils
};

struct symbols_file;

// Opens the file at `path`. `build_id` (hexadecimal; "": none) must be its own; where neither has
// one the file must not have been changed after `seen_realtime_s` (0: not known, then it is not
// used). Returns NULL when memory ran out; what else is wrong is its state. Separate debug
// information is found by build id or debug link under /usr/lib/debug and beside the file.
struct symbols_file *symbols_file_open(const char *path, const char *build_id,
                                       int64_t seen_realtime_s);
void symbols_file_free(struct symbols_file *file); // accepts NULL
enum symbols_state symbols_file_state(const struct symbols_file *file);

enum { SYMBOLS_INLINED = 24 }; // most frames of one address

// What is at an address of the file. Texts live as long as `file`.
struct symbols_found {
	const char *function; // as the linker knows it; NULL: not known
	const char *source;   // file; NULL
	int line;             // 0: not known
	bool inlined;         // into the next one
};
// The functions that the address is in, those inlined first. Returns how many, 0: nothing is known.
size_t symbols_file_find(struct symbols_file *file, uint64_t address,
                         struct symbols_found found[SYMBOLS_INLINED]);
