// SPDX-License-Identifier: Apache-2.0
// The SQLite database that a command writes its document into (--sqlite).
#pragma once
#include "cli/options/option.h"
#include "export/document.h"

// Whether the file can be written, before time is spent; NULL: none is asked for. TARE_EXIT_OK, or
// another with a sentence.
int tare_database_check(const char *path, struct tare_error *error);
// Writes it, and puts it in place when it is complete. Returns as the former.
int tare_database_write(const struct tare_export_document *document, const char *path,
                        struct tare_error *error);
