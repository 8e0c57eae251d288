// SPDX-License-Identifier: Apache-2.0
// The tables of a declared document, row after row. Internal to src/export.
#pragma once
#include "export/document.h"
#include "export/rows.h"

// Writes all of its tables. Returns 0, what the sink returned, or -ENOMEM.
int export_document_rows(const struct tare_export_document *document,
                         const struct export_sink *sink, void *context,
                         struct tare_export_counts *counts);
