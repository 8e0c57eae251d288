// SPDX-License-Identifier: Apache-2.0
// The source of a kernel and its instructions side by side, on the page.
#pragma once
#include "blocks/report/tables.h"

#include <stdio.h>

// The page's style sheet, in its element.
extern const char tare_blocks_style[];
// A link to a line of the kernel's sources: "12", or "12 of helper.h". All goes to rows->page.
void tare_blocks_line_link(const struct tare_blocks_rows *rows, const struct tare_blocks_row *row,
                           uint32_t file, uint32_t line);
// Both, of a kernel that was counted. 0 or -ENOMEM.
int tare_blocks_side(struct tare_blocks_rows *rows, const struct tare_blocks_row *row);
// The code of a device that is not there (--for), beside the lines that it is of; nothing where
// its compiler listed none.
void tare_blocks_model_side(const struct tare_blocks_rows *rows, const struct tare_blocks_row *row,
                            const struct tare_blocks_model *model);
