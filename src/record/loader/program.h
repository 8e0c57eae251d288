// SPDX-License-Identifier: Apache-2.0
// What can be told of a program without running it.
#pragma once
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct tare_program {
	char *path; // of the file that exec will take
	bool fixed; // an ELF file without a dynamic linker: no library can be put under it
	// set-user-ID or set-group-ID of another: loaders ignore the environment
	bool privileged;
	bool knows_layers; // it contains a loader that reads OPENCL_LAYERS
};

// Finds what execvp(3) would run for `name` and looks at it. Returns 0 and *program (to be freed);
// -ENOENT nothing of that name (in PATH), -EACCES it is there and may not be executed or is a
// folder, -ENOMEM; with a sentence.
int tare_program_find(const char *name, struct tare_program *program, struct tare_error *error);
void tare_program_free(struct tare_program *program); // accepts a zeroed one

// Whether an ELF file of this machine is shorter than its own header says, as a copy that was cut
// off is: mapping it would end in SIGBUS.
bool tare_file_is_cut(const char *path);

// A whole file, mapped for reading (to munmap); NULL when there is none, it is empty or no plain
// file.
const unsigned char *tare_file_map(const char *path, size_t *bytes);

// Whether a file contains `text` anywhere. False also when it cannot be read.
bool tare_file_contains(const char *path, const char *text);
