// SPDX-License-Identifier: Apache-2.0
// How sets of build options are told.
#pragma once
#include "blocks/options/trials.h"

#include <stdio.h>

// As text; `verbose`: all kernels.
void tare_blocks_options_text(const struct tare_blocks_trials *trials, bool verbose, FILE *file);

// As CSV, a row a kernel and set.
void tare_blocks_options_csv(const struct tare_blocks_trials *trials, FILE *file);

// As reports and documents write them: "faster"; "differs".
const char *tare_blocks_told_apart_name(enum tare_blocks_told_apart told);
const char *tare_blocks_result_name(enum tare_blocks_result result);
