// SPDX-License-Identifier: Apache-2.0
// Results that are kept in the user's cache for other commands: $XDG_CACHE_HOME/tare, or
// ~/.cache/tare.
#pragma once
#include "base/error.h"
#include "result/result.h"

#include <stdbool.h>

// Whether results of this device must not be kept, nor kept ones be taken for it: it is simulated,
// or its driver says against quoting any figure of it (ze-cpu).
bool tare_result_cache_refuses(const struct tare_device_entry *device);

// The path of a kept result, "COMMAND-DEVICE-HASH.json" in the cache, to free(). `name` of the
// device makes it readable; `identity` and `driver` tell the files apart. NULL with a sentence:
// -ENOENT the environment names no cache, -ENOMEM.
char *tare_result_cache_path(const char *command, const char *name, const char *identity,
                             const char *driver, struct tare_error *error);

// Writes a result there, replacing an older one as a whole; makes the folders. Returns 0, or a
// negative errno with a sentence.
int tare_result_cache_write(char *path, const struct tare_result *result, struct tare_error *error);
