// SPDX-License-Identifier: Apache-2.0
// `devices --counters`: what hardware counters drivers list, and why not.
#pragma once
#include "cli/options/option.h"
#include "result/result.h"

#include <stdio.h>

// Makes drivers list what they list only when asked, if they begin then. Call it before any driver
// is opened.
void tare_device_counters_prepare(void);

// Whether Level Zero's drivers begin with ZET_ENABLE_METRICS, tried in a process of its own:
// Intel's does not where its libraries that count are missing. True also where that cannot be
// tried.
bool tare_device_counters_begin(void);

// Writes what each device of `result` offers. Returns TARE_EXIT_OK, or TARE_EXIT_FAILED with a
// sentence.
int tare_device_counters(const struct tare_settings *settings, const struct tare_result *result,
                         FILE *file, struct tare_error *error);

// Why a process that is not root may not read counters, by what the system's files say; "" where
// they say nothing against it. `folder` stands before their paths (""; a test's own).
void tare_device_counters_forbidden(const char *folder, char text[512]);
