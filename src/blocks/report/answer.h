// SPDX-License-Identifier: Apache-2.0
// What a report says of a kernel first: where most of its instructions are, and what to change.
#pragma once
#include "blocks/report/tables.h"

struct tare_blocks_answer {
	const struct tare_blocks_line *line; // that costs most; NULL: none is known
	double share;                        // of the kernel's instructions
};
// Of a kernel; of one that was not counted no line.
struct tare_blocks_answer tare_blocks_answer(const struct tare_blocks_row *row);

// A line a kernel that was counted, `most` of them without -v, the costliest first; nothing where
// there is none.
void tare_blocks_answers_text(struct tare_text *text, const struct tare_blocks_rows *rows);
