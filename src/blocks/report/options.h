// SPDX-License-Identifier: Apache-2.0
// How sets of build options are told.
#pragma once
#include "blocks/options/trials.h"
#include "report/terminal/write.h"

struct tare_blocks_trial_rows;
// As text; with -v all kernels.
void tare_blocks_options_text(struct tare_text *text, const struct tare_blocks_trial_rows *rows);
