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

// The part of a result that a command made: itself, or what of a checkup is that command's. NULL:
// it has none.
const struct tare_result *tare_result_cache_part(const struct tare_result *result,
                                                 const char *command);

// Keeps a part by its first device's name and driver, unless it was interrupted or the device is
// refused or unnamed. Returns 0, also when it is not kept, or a negative errno with a sentence.
int tare_result_cache_keep(const struct tare_result *part, struct tare_error *error);

// What is kept of a command for a device of that name and driver, whatever API measured it, to
// tare_result_free. driver_version: as the driver tells it, without the platform's name. NULL with
// the reason in `why` (size bytes): nothing is kept, or it cannot be read.
struct tare_result *tare_result_cache_find(const char *command, const char *device_name,
                                           const char *driver_version, char *why, size_t size);

// Writes a result there, replacing an older one as a whole; makes the folders. Returns 0, or a
// negative errno with a sentence.
int tare_result_cache_write(char *path, const struct tare_result *result, struct tare_error *error);
