// SPDX-License-Identifier: Apache-2.0
// What tare blocks found as declared tables (tables/*.def, ../cuda/report/tables/*.def): JSON and
// schema go by them, and text and CSV where they have tables. Internal to src/blocks, but for the
// list of what is declared.
#pragma once
#include "blocks/cuda/report/tables.h"
#include "blocks/report/listed.h"
#include "blocks/report/options.h"
#include "blocks/report/timed.h"
#include "blocks/report/told.h"
#include "blocks/report/write.h"

// What a driver says of a kernel.
#define TOLD(value) tare_if((value) != BLOCKS_NOT_TOLD, tare_unsigned(value), TARE_NOT_TOLD)

// A finding, and the build that its files are of.
struct tare_blocks_finding_row {
	const struct tare_blocks_finding *finding;
	const struct tare_blocks_build *build;
	const struct tare_blocks_gain *gain; // NULL: not asked for
};

// A kernel with what follows from its counts.
struct tare_blocks_row {
	const struct tare_blocks_document *document;
	const struct tare_blocks_kernel *kernel;
	const struct tare_blocks_kernel *before;    // the optimisation; NULL: not counted
	const struct tare_blocks_kernel_time *time; // NULL: not known
	bool counted;
	struct tare_blocks_told told; // empty where it was not counted, as are these
	struct tare_blocks_finding_row findings[TARE_BLOCKS_ADVICE];
	uint32_t *order; // of the blocks that ran
	size_t order_count;
	struct tare_blocks_line *lines;
	size_t line_count;
	struct tare_blocks_timed timed; // lines and blocks
	struct tare_blocks_loop *loops;
	size_t loop_count;
	struct tare_text_list source;          // its lines; none: it has none that can be read
	const struct tare_blocks_listed *code; // of its module
	char why[600];                         // launches were not counted
};

// A kernel with a set of build options, and with all of them.
struct tare_blocks_cell_row {
	const struct tare_blocks_cell *cell;
	const struct tare_blocks_set *set;
	const char *name; // of the kernel; "": of all
	uint32_t rounds;
	char letter[2]; // of the set
};
struct tare_blocks_name_row {
	const struct tare_blocks_trials *of;
	size_t name;
	struct tare_blocks_cell_row cells[TARE_BLOCKS_MOST_SETS];
};
struct tare_blocks_trial_rows {
	const struct tare_blocks_trials *of;
	struct tare_blocks_name_row *names; // those that were launched
	size_t name_count;
};

struct tare_blocks_rows {
	const struct tare_blocks_document *document;
	uint64_t launches, counted;
	struct tare_text_list program;
	struct tare_blocks_row *kernels; // those that were launched
	size_t kernel_count;
	struct tare_blocks_listed *codes; // of the builds that these are of
	size_t code_count;
	struct tare_blocks_texts texts; // that counted lines are of
	FILE *page;                     // that is written; NULL: another form is
	struct tare_blocks_trial_rows trials;
	struct tare_pc_samples_rows samples;
};

// The whole document, of struct tare_blocks_rows; in it the instructions of something and where
// these load and store, of struct tare_blocks_tally; of struct tare_blocks_row a kernel's blocks
// and lines; what sets of build options bring, and the same as CSV, of struct
// tare_blocks_trial_rows; and one kernel with them, of struct tare_blocks_name_row.
extern const struct tare_table tare_blocks_document_table, tare_blocks_tally_table,
    tare_blocks_memory_table, tare_blocks_blocks_table, tare_blocks_lines_table,
    tare_blocks_options_table, tare_blocks_options_csv_table, tare_blocks_cells_table;
// Where tare_blocks_cells_table has what is of one kernel alone.
enum { TARE_BLOCKS_ON_KERNEL = TARE_ON_MORE };

// What follows from all. 0 or -ENOMEM; to free in either case. The document must outlive it.
int tare_blocks_rows_make(const struct tare_blocks_document *document,
                          struct tare_blocks_rows *rows);
void tare_blocks_rows_free(struct tare_blocks_rows *rows);
