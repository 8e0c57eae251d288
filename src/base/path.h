// SPDX-License-Identifier: Apache-2.0
// Parts of paths.
#pragma once
#include <string.h>

// What follows the last slash, within `path`: all where there is none.
static inline const char *tare_path_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}
