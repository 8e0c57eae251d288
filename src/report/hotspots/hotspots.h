// SPDX-License-Identifier: Apache-2.0
// Counted kernels as text, JSON and page. All of them only read the run.
#pragma once
#include "analysis/hotspots/counted.h"
#include "base/error.h"
#include "report/terminal/options.h"

#include <stdio.h>

// What a person reads: a table with a row a kernel, then for the first `shown` kernels that were
// counted the verdict, what to try, and the memory hierarchy. Returns 0 or -ENOMEM.
int tare_report_hotspots_text(const struct tare_counted_run *run, size_t shown,
                              const struct tare_text_options *options, FILE *file,
                              struct tare_error *error);

// The same with every figure, "tare.hotspots/1"; docs/hotspots-verdicts.md. Returns 0, -ENOMEM, or
// -ENOSYS when tare was built without JSON.
int tare_report_hotspots_json(const struct tare_counted_run *run, FILE *file,
                              struct tare_error *error);

// One self-contained page of it; -ENOSYS as above.
int tare_report_hotspots_page(const struct tare_counted_run *run, FILE *file,
                              struct tare_error *error);
