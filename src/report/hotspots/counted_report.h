// SPDX-License-Identifier: Apache-2.0
// What counters said, figure by figure, as it was collected; what it means is said elsewhere.
#pragma once
#include "analysis/hotspots/counted.h"
#include "base/error.h"
#include "report/terminal/options.h"

#include <stdio.h>

// Every figure of every counted kernel, with how many launches it is from. Returns 0 or -ENOMEM.
int tare_report_counted_text(const struct tare_counted_run *run,
                             const struct tare_text_options *options, FILE *file,
                             struct tare_error *error);
