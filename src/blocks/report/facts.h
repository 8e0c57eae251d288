// SPDX-License-Identifier: Apache-2.0
// What is said of a kernel in lines of text, also on the page.
#pragma once
#include "blocks/report/tables.h"

#include <stdio.h>

// "  LEAD: control 7.4 %, move 13.5 %", the kinds that there are.
void tare_blocks_mix_text(const char *lead, const struct tare_blocks_tally *tally, FILE *file);
// Floating-point operations, and how many for each byte; nothing where there are none.
void tare_blocks_arithmetic_text(const struct tare_blocks_tally *tally, FILE *file);
// What the driver says of the program's own kernel, on the device that it runs on.
void tare_blocks_facts_text(const struct tare_blocks_kernel *kernel, FILE *file);
// What was counted before the optimisation, where that was asked for.
void tare_blocks_before_text(const struct tare_blocks_row *row, FILE *file);
// The language whose instructions a build's counts are of: "SPIR-V" or "PTX".
const char *tare_blocks_language_of(const struct tare_blocks_build *build);
// Which instructions are counted, without a full stop.
const char *tare_blocks_language_text(const struct tare_blocks_rows *rows);
// How far its counts can be trusted, and what they leave out: where they were kept, what is
// missing, what was not checked.
void tare_blocks_trust_text(const struct tare_blocks_kernel *kernel, FILE *file);
// What of all that the program launched is in no kernel's counts.
void tare_blocks_missing_text(const struct tare_blocks_document *document, FILE *file);
// The kernel on devices that are not there (--for).
void tare_blocks_models_text(const struct tare_blocks_row *row, FILE *file);
