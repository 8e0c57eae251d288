// SPDX-License-Identifier: Apache-2.0
// Writers of a result document. All of them only read the document.
#pragma once
#include "report/terminal/options.h"
#include "result/result.h"

#include <stdio.h>

// What a person reads: a head line of device and clock, aligned tables, conclusions, warnings, what
// to do next. A document with parts has a heading for each and the same below it.
int tare_report_text(const struct tare_result *result, const struct tare_text_options *options,
                     FILE *file, struct tare_error *error);

// The document (result/json.h) with the tables that its text shows, as `tables`. Returns 0, -EIO,
// -ENOMEM, or -ENOSYS when tare was built without JSON.
int tare_report_json(const struct tare_result *result, FILE *file, struct tare_error *error);

// One row a cell (RFC 4180, header row, no raw samples): labels as columns, then quantity, unit,
// n, min, median, p95, ci_low, ci_high, converged, source, verified, rate columns, absent.
// With parts: the rows of all of them under the columns of all, with a first column `command`.
// For `devices`: one row a device and fact: device (its number), backend, index, key, value, unit,
// origin, reason; a backend without devices is a row with a reason only. Unknown is empty.
// Returns 0, -EIO or -ENOMEM.
int tare_report_csv(const struct tare_result *result, FILE *file, struct tare_error *error);

// One self-contained page. -ENOSYS when tare was built without JSON.
int tare_report_page(const struct tare_result *result, FILE *file, struct tare_error *error);
