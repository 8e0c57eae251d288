// SPDX-License-Identifier: Apache-2.0
// A folder of files that appear in it only when all of them are complete.
#pragma once
#include "base/error.h"

#include <stdbool.h>

struct tare_export_folder {
	const char *path;         // as the user wrote it
	char *work;               // where the files are written: beside the folder, or within it
	const char *const *names; // of the files, without ".csv"; ended by NULL
	bool exists;              // the folder was there before
};

// Whether the folder may be used: not there, or empty, or `force`. Returns 0 or a negative errno
// with a sentence.
int tare_export_folder_check(const char *path, bool force, struct tare_error *error);
// Makes folder->work. Returns as the former; tare_export_folder_close in either case.
int tare_export_folder_open(struct tare_export_folder *folder, struct tare_error *error);
// Puts the files in their place.
int tare_export_folder_finish(struct tare_export_folder *folder, struct tare_error *error);
// Removes what was not put in place.
void tare_export_folder_close(struct tare_export_folder *folder);
