// SPDX-License-Identifier: Apache-2.0
// Writes what tare blocks found: to the files that are asked for, and to standard output.
#pragma once
#include "blocks/report/write.h"
#include "cli/options/option.h"

// Returns an exit status, with a sentence.
int tare_blocks_report(const struct tare_settings *settings,
                       const struct tare_blocks_document *document, struct tare_error *error);
