// SPDX-License-Identifier: Apache-2.0
// What the layer has written of a build: BUILDs, their PARTs, and HEADERS.
#pragma once
#include "base/error.h"
#include "guest/blocks/shared.h"

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

// A text of the program's that lines of a module can be of.
struct tare_blocks_source {
	char file[64];  // in the folder, as debug information names it
	char label[64]; // what a person calls it; "": the build has no other
	char *text;
};

struct tare_blocks_sources {
	struct tare_blocks_source *at;
	size_t count;
};

// A BUILD, or a PART of one.
struct tare_blocks_input {
	uint64_t hash;
	struct blocks_build head;
	char *options, *extensions, *version, *platform, *text; // with ends
};

// Reads one. 0, or -EIO, -EINVAL (cut off) or -ENOMEM with a sentence. To free in either case.
int tare_blocks_input_read(const char *folder, uint64_t hash, const char *suffix,
                           struct tare_blocks_input *input, struct tare_error *error);
void tare_blocks_input_free(struct tare_blocks_input *input);

// The list of an input's headers for clang (-ivfsoverlay), and the folder in which they lie by that
// list; there is none.
#define TARE_BLOCKS_LIST_SUFFIX ".list"
#define TARE_BLOCKS_FOLDER_SUFFIX ".folder"
// Writes the headers that an input was compiled with, if any, as files, and the list of them; adds
// them to the sources. 0 or a negative errno with a sentence.
int tare_blocks_headers_write(const char *folder, const struct tare_blocks_input *input,
                              struct tare_blocks_sources *sources, struct tare_error *error);

// Adds a source; the text is copied, and the label cut off. 0 or -ENOMEM.
int tare_blocks_sources_add(struct tare_blocks_sources *sources, const char *file,
                            const char *label, const char *text);
// The one that debug information names so; NULL: none of them.
const struct tare_blocks_source *tare_blocks_sources_find(const struct tare_blocks_sources *sources,
                                                          const char *name);
void tare_blocks_sources_free(struct tare_blocks_sources *sources);

// "FOLDER/HASH.suffix".
void tare_blocks_path(const char *folder, uint64_t hash, const char *suffix, char path[PATH_MAX]);
// The whole file, malloc, with an end behind it; NULL (errno).
void *tare_blocks_file_read(const char *path, size_t *bytes);
// Writes a file of `count` pieces. 0 or a negative errno.
int tare_blocks_file_write(const char *path, const void *const *pieces, const size_t *bytes,
                           int count);

// Whether a file of the folder is a BUILD, and its hash; and how many of them there are, the list
// being at its beginning before and behind.
bool tare_blocks_is_build(const char *name, uint64_t *hash);
size_t tare_blocks_count_builds(DIR *list);
