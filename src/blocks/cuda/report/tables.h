// SPDX-License-Identifier: Apache-2.0
// What was sampled and counted of CUDA kernels as declared tables (tables/*.def).
#pragma once
#include "blocks/cuda/report/write.h"
#include "report/core/texts.h"

struct tare_stall_finding_row {
	const struct tare_stall_finding *finding;
	const struct tare_sampled_kernel *kernel;
};

struct tare_sampled_row {
	const struct tare_sampled_kernel *kernel;
	struct tare_stall_findings found;
	struct tare_stall_finding_row findings[TARE_STALL_ADVICE];
	struct tare_text_list notes;
	char *words; // an instruction that was asked for, until the next one
};

struct tare_pc_samples_rows {
	const struct tare_pc_samples *of;
	struct tare_text_list notes;
	struct tare_sampled_row *kernels; // of each
	char words[700];
};

// Samples by reason, of struct tare_stall_counts; and its rows that were met, the most frequent
// first: how many.
extern const struct tare_table tare_stalls_table;
// The same of states, of struct tare_sampled_kernel whose states were counted.
extern const struct tare_table tare_states_table;
size_t tare_stalls_rows(const struct tare_stall_counts *counts, const void *rows[TARE_STALLS]);

// All of it, of struct tare_pc_samples_rows; instructions, of struct tare_sampled_row; what was
// executed by class, of struct tare_exact.
extern const struct tare_table tare_pc_samples_table, tare_sampled_instructions_table,
    tare_exact_classes_table;

// Tables of struct tare_sampled_row, those of TARE_EXACT_... of a kernel that was counted.
enum tare_sampled_part {
	TARE_SAMPLED_BLOCKS,
	TARE_SAMPLED_LINES,
	TARE_SAMPLED_INSTRUCTIONS,
	TARE_EXACT_BLOCKS,
	TARE_EXACT_LINES,
	TARE_EXACT_INSTRUCTIONS,
};
struct tare_sampled_rows {
	const struct tare_table *table;
	const void **at; // those that were met or executed, the most frequent first; malloc
	size_t count;
};
// 0 or -ENOMEM; free rows->at in either case.
int tare_sampled_part(const struct tare_sampled_row *kernel, enum tare_sampled_part part,
                      struct tare_sampled_rows *rows);
// Writes a part as text, a few of its rows without -v, and returns how many it left out; or
// -ENOMEM.
int tare_sampled_part_text(struct tare_text *text, const struct tare_sampled_row *kernel,
                           enum tare_sampled_part part);

// 0 or -ENOMEM; to free in either case.
int tare_pc_samples_rows_make(const struct tare_pc_samples *samples,
                              struct tare_pc_samples_rows *rows);
void tare_pc_samples_rows_free(struct tare_pc_samples_rows *rows);
