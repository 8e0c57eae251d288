// SPDX-License-Identifier: Apache-2.0
// What tables.c knows about whom it serves.
#pragma once
#include <level_zero/ze_api.h>

// The specification's version that programs are told: the newest that this driver has in full, but
// 1.4 where the loader's own tables are older than that one's.
ze_api_version_t tables_api_version(void);

// The entry point of that name ("zeMemFree"); NULL: there is none, or the driver lacks it.
void *tables_entry(const char *name);
