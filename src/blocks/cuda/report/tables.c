// SPDX-License-Identifier: Apache-2.0
#include "blocks/cuda/report/tables.h"
#include "report/core/table_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// ---- counts by name

enum { EVERYWHERE = TARE_ON_TEXT | TARE_ON_PAGE, TEXT_AND_CSV = TARE_ON_TEXT | TARE_ON_CSV };

static struct tare_cell_value share_of(uint64_t part, uint64_t whole)
{
	return tare_number(whole ? (double)part / (double)whole : 0, TARE_NOT_KNOWN);
}

#define SOURCE struct tare_stall_counts
#define SOURCE_NAME counts
#define ROW uint64_t
#define TABLE stalls
#define COLUMNS "blocks/cuda/report/tables/stalls.def"
#include "table/declare.h"
TARE_TABLE(, tare_stalls_table, "stalls", "Samples by reason", "a reason to wait", NULL,
           struct tare_stall_counts, counts, TARE_STALLS, &counts->by[index], stalls_columns);
#undef SOURCE
#undef SOURCE_NAME

#define STATE ((enum tare_stall)(row - kernel->states.by))
#define SOURCE struct tare_sampled_kernel
#define SOURCE_NAME kernel
#define ROW uint64_t
#define TABLE states
#define COLUMNS "blocks/cuda/report/tables/states.def"
#include "table/declare.h"
TARE_TABLE(, tare_states_table, "states", "States of warps, counted", "a state of warps", NULL,
           struct tare_sampled_kernel, kernel, TARE_STALLS, &kernel->states.by[index],
           states_columns);
#undef SOURCE
#undef SOURCE_NAME
#undef STATE

#define SOURCE uint64_t
#define SOURCE_NAME counts
#define ROW uint64_t
#define TABLE issued
#define COLUMNS "blocks/cuda/report/tables/issued.def"
#include "table/declare.h"
TARE_ROWS(issued, "issued", "Samples that issued", "a class of instructions", TARE_SASS_CLASS_COUNT,
          counts);
#undef SOURCE
#undef SOURCE_NAME

// ---- places

static struct tare_cell_value file_of(const struct tare_sampled_kernel *kernel, uint32_t file)
{
	return tare_string(file < kernel->cubin->lines.file_count ? kernel->cubin->lines.files[file]
	                                                          : NULL);
}

static const struct tare_elf_row *line_of(const struct tare_sampled_kernel *kernel,
                                          uint32_t instruction)
{
	return kernel->function ? tare_cubin_line(kernel->cubin, kernel->function,
	                                          tare_sampled_pc(kernel, instruction))
	                        : NULL;
}

static struct tare_cell_value instruction_of(const struct tare_sampled_row *kernel,
                                             uint32_t instruction)
{
	tare_sampled_instruction(kernel->kernel, instruction, kernel->words,
	                         sizeof((struct tare_pc_samples_rows *)0)->words);
	return tare_string(kernel->words);
}

static struct tare_cell_value line_words(const struct tare_sampled_row *kernel, uint32_t file,
                                         uint32_t line)
{
	snprintf(kernel->words, TARE_SAMPLED_WORDS, "%s:%" PRIu32,
	         tare_sampled_file(kernel->kernel, file), line);
	return tare_string(kernel->words);
}

static struct tare_cell_value place_of(const struct tare_sampled_row *kernel, uint32_t first,
                                       uint32_t count)
{
	return tare_string(tare_sampled_place(kernel->kernel, first, count, kernel->words));
}

static struct tare_cell_value waits_of(const struct tare_sampled_row *kernel,
                                       const struct tare_stall_counts *counts)
{
	return tare_string(tare_sampled_waits(counts, kernel->words));
}

// ---- figures

static struct tare_cell_value lanes_of(const struct tare_exact_counts *counts)
{
	return tare_number(counts->warps ? (double)counts->threads / (double)counts->warps : 0,
	                   TARE_NOT_KNOWN);
}

// "1.2e6 ± 3 %", "12" or "n/a".
static bool figure_cell(const struct tare_cell_text *cell, const struct tare_sampled *figure)
{
	char words[TARE_SAMPLED_WORDS];

	snprintf(cell->text, cell->size, "%s", tare_sampled_figure(figure, words));
	return true;
}

static bool cycles_cell(const struct tare_cell_text *cell)
{
	return figure_cell(cell, &((const struct tare_sampled_block *)cell->row)->cycles);
}

static bool executions_cell(const struct tare_cell_text *cell)
{
	return figure_cell(cell, &((const struct tare_sampled_block *)cell->row)->executions);
}

// Places of instructions are hexadecimal for people: "40", "40-60".
static bool pc_cell(const struct tare_cell_text *cell, uint32_t first, uint32_t count)
{
	const struct tare_sampled_kernel *kernel =
	    ((const struct tare_sampled_row *)cell->source)->kernel;
	int length = snprintf(cell->text, cell->size, "%" PRIx64, tare_sampled_pc(kernel, first));

	if (count > 1)
		snprintf(cell->text + length, cell->size - (size_t)length, "-%" PRIx64,
		         tare_sampled_pc(kernel, first + count - 1));
	return true;
}

static bool block_pcs(const struct tare_cell_text *cell)
{
	const struct tare_sampled_block *block = cell->row;

	return pc_cell(cell, block->first, block->count);
}

static bool instruction_pc(const struct tare_cell_text *cell)
{
	const struct tare_stall_counts *row = cell->row;

	return pc_cell(
	    cell,
	    (uint32_t)(row - ((const struct tare_sampled_row *)cell->source)->kernel->instructions),
	    0);
}

// The block of an instruction; absent where blocks are not known.
static struct tare_cell_value block_of(const struct tare_sampled_kernel *kernel,
                                       uint32_t instruction)
{
	uint32_t block = kernel->split.count;

	while (block > 1 && kernel->split.at[block - 1].first > instruction)
		block--;
	return tare_if(block > 0, tare_unsigned(block - 1), TARE_NOT_KNOWN);
}

// ---- what was sampled of a kernel

static const char *const finding_ids[] = { "memory-latency",
	                                   "memory-queue",
	                                   "shared-memory-queue",
	                                   "barrier-wait",
	                                   "busy-pipe",
	                                   "branching",
	                                   NULL };
_Static_assert(sizeof finding_ids / sizeof *finding_ids == TARE_STALL_ADVICE + 1, "an id each");

#define SOURCE struct tare_stall_finding_row
#define SOURCE_NAME finding
#define ROW uint32_t
#define TABLE pcs
#define COLUMNS "blocks/cuda/report/tables/pcs.def"
#include "table/declare.h"
TARE_ROWS(pcs, "pcs", "Places", "an instruction", finding->finding->place_count,
          finding->finding->instructions);
#undef SOURCE
#undef SOURCE_NAME

static bool block_is_met(const void *kernel, const void *block)
{
	(void)kernel;
	return ((const struct tare_sampled_block *)block)->stalls.all > 0;
}

static bool instruction_is_met(const void *kernel, const void *counts)
{
	(void)kernel;
	return ((const struct tare_stall_counts *)counts)->all > 0;
}

static bool has_cycles(const void *kernel, const void *block)
{
	(void)kernel;
	return ((const struct tare_sampled_block *)block)->cycles.known;
}

static bool has_executions(const void *kernel, const void *block)
{
	(void)kernel;
	return ((const struct tare_sampled_block *)block)->executions.known;
}

#define KERNEL kernel->kernel
#define HAS_LINE(value) (line_of(KERNEL, INSTRUCTION) ? (value) : tare_absent(TARE_NOT_KNOWN))
#define COUNTED(member)                                                                            \
	(KERNEL->exact ? tare_unsigned(KERNEL->exact->at[INSTRUCTION].member)                      \
	               : tare_absent(TARE_NOT_ASKED))
#define INSTRUCTION ((uint32_t)(row - KERNEL->instructions))

static bool has_line(const void *source, const void *row)
{
	const struct tare_sampled_row *kernel = source;

	return line_of(KERNEL, (uint32_t)((const struct tare_stall_counts *)row -
	                                  KERNEL->instructions)) != NULL;
}

static const struct tare_column_group cycles = {
	"cycles", NULL, has_cycles,
	"of a warp in a pass, from the second instruction on; null: too few samples, or not known"
};
static const struct tare_column_group executions = {
	"executions", NULL, has_executions,
	"by warps, of all launches; null: too few samples, or not known"
};
static const struct tare_column_group source_line = { "at", NULL, has_line, "its line" };

#define SOURCE struct tare_sampled_row
#define SOURCE_NAME kernel
#define ROW struct tare_stall_finding_row
#define TABLE findings
#define COLUMNS "blocks/cuda/report/tables/findings.def"
#include "table/declare.h"
TARE_ROWS(findings, "cuda_findings", "What to change in a CUDA kernel", "a finding",
          kernel->found.count, kernel->findings);

#define ROW struct tare_sampled_block
#define TABLE blocks
#define COLUMNS "blocks/cuda/report/tables/blocks.def"
#include "table/declare.h"
TARE_ROWS(blocks, "cuda_blocks", "Blocks of a CUDA kernel", "a block",
          KERNEL->blocks ? KERNEL->split.count : 0, KERNEL->blocks, .keep = block_is_met);

#define ROW struct tare_sampled_line
#define TABLE lines
#define COLUMNS "blocks/cuda/report/tables/lines.def"
#include "table/declare.h"
TARE_ROWS(lines, "cuda_lines", "Lines of a CUDA kernel", "a line", KERNEL->line_count,
          KERNEL->lines);

// A test builds it with a line more.
#ifndef TARE_CUDA_COLUMNS
#define TARE_CUDA_COLUMNS "blocks/cuda/report/tables/instructions.def"
#endif
#define ROW struct tare_stall_counts
#define TABLE instructions
#define COLUMNS TARE_CUDA_COLUMNS
#include "table/declare.h"
TARE_TABLE(, tare_sampled_instructions_table, "cuda_instructions", "Instructions of a CUDA kernel",
           "an instruction", NULL, struct tare_sampled_row, kernel, KERNEL->count,
           &KERNEL->instructions[index], instructions_columns, .keep = instruction_is_met);

// ---- what was counted of it

#define EXACT KERNEL->exact
#define EXACT_INSTRUCTION ((uint32_t)(row - EXACT->at))
#define SPLIT (&KERNEL->split.at[row - EXACT->blocks])

static bool exact_block_pcs(const struct tare_cell_text *cell)
{
	const struct tare_sampled_row *kernel = cell->source;
	const struct tare_exact_block *row = cell->row;

	return pc_cell(cell, SPLIT->first, SPLIT->count);
}

static bool exact_pc(const struct tare_cell_text *cell)
{
	const struct tare_sampled_row *kernel = cell->source;
	const struct tare_exact_counts *row = cell->row;

	return pc_cell(cell, EXACT_INSTRUCTION, 0);
}

static const char *uneven(const void *kernel, const void *block)
{
	(void)kernel;
	return ((const struct tare_exact_block *)block)->even ? "" : "*";
}

static bool is_executed(const void *kernel, const void *counts)
{
	(void)kernel;
	return ((const struct tare_exact_counts *)counts)->warps > 0;
}

static bool opcode_is_executed(const void *kernel, const void *opcode)
{
	(void)kernel;
	return ((const struct tare_exact_opcode *)opcode)->counts.warps > 0;
}

static bool has_cost(const void *kernel, const void *exact)
{
	(void)kernel;
	return ((const struct tare_exact *)exact)->timed > 0;
}

static const struct tare_column_group cost = {
	"cost", NULL, has_cost,
	"what counting cost; null: no launch was timed with counters and without"
};

#define ROW struct tare_exact_block
#define TABLE exact_blocks
#define COLUMNS "blocks/cuda/report/tables/exact_blocks.def"
#include "table/declare.h"
TARE_ROWS(exact_blocks, "exact_blocks", "Blocks, counted exactly", "a block",
          EXACT->blocks ? KERNEL->split.count : 0, EXACT->blocks);

#define ROW struct tare_exact_line
#define TABLE exact_lines
#define COLUMNS "blocks/cuda/report/tables/exact_lines.def"
#include "table/declare.h"
TARE_ROWS(exact_lines, "exact_lines", "Lines, counted exactly", "a line", EXACT->line_count,
          EXACT->lines);

#define ROW struct tare_exact_counts
#define TABLE exact_instructions
#define COLUMNS "blocks/cuda/report/tables/exact_instructions.def"
#include "table/declare.h"
TARE_ROWS(exact_instructions, "exact_instructions", "Instructions, counted exactly",
          "an instruction", KERNEL->count, EXACT->at, .keep = is_executed);
#undef SOURCE
#undef SOURCE_NAME

static const char *class_name(ptrdiff_t class)
{
	const char *name = tare_sass_class_name((enum tare_sass_class) class);

	return name ? name : "unknown";
}

#define SOURCE struct tare_exact
#define SOURCE_NAME exact
#define ROW struct tare_exact_counts
#define TABLE classes
#define COLUMNS "blocks/cuda/report/tables/classes.def"
#include "table/declare.h"
TARE_TABLE(, tare_exact_classes_table, "classes", "Executed, by class", "a class of instructions",
           NULL, struct tare_exact, exact, TARE_SASS_CLASS_COUNT, &exact->by_class[index],
           classes_columns, .keep = is_executed);

#define ROW struct tare_exact_opcode
#define TABLE opcodes
#define COLUMNS "blocks/cuda/report/tables/opcodes.def"
#include "table/declare.h"
TARE_ROWS(opcodes, "opcodes", "Executed, by opcode", "an opcode", exact->opcode_count,
          exact->opcodes, .keep = opcode_is_executed);
#undef SOURCE
#undef SOURCE_NAME

// ---- kernels, and all

#define SOURCE struct tare_sampled_row
#define SOURCE_NAME kernel
#define ROW struct tare_exact
#define TABLE exact
#define COLUMNS "blocks/cuda/report/tables/exact.def"
#include "table/declare.h"
TARE_TABLE(static, exact_table, "exact", "Counted exactly", "a kernel that was counted exactly",
           NULL, struct tare_sampled_row, kernel, 1, EXACT, exact_columns);
#undef SOURCE
#undef SOURCE_NAME
#undef KERNEL

static bool has_instructions(const void *samples, const void *row)
{
	(void)samples;
	return ((const struct tare_sampled_row *)row)->kernel->counted != 0;
}

static const struct tare_column_group warp_instructions = {
	"warp_instructions", NULL, has_instructions,
	"that a warp executes, as the hardware counted them; null: it did not"
};

#define KERNEL row->kernel
#define SEEN(count) tare_if(samples->of->sums.counts_launches > 0, count, TARE_NOT_ASKED)
#define SOURCE struct tare_pc_samples_rows
#define SOURCE_NAME samples
#define ROW struct tare_sampled_row
#define TABLE kernels
#define COLUMNS "blocks/cuda/report/tables/kernels.def"
#include "table/declare.h"
TARE_ROWS(kernels, "cuda_kernels", "CUDA kernels", "a kernel", samples->of->kernel_count,
          samples->kernels);

#define OF row->of
#define ROW struct tare_pc_samples_rows
#define TABLE samples
#define COLUMNS "blocks/cuda/report/tables/samples.def"
#include "table/declare.h"
TARE_TABLE(, tare_pc_samples_table, "cuda", "What was sampled of CUDA kernels", "a run", NULL,
           struct tare_pc_samples_rows, samples, 1, samples, samples_columns);

// ---- the most frequent first

enum { SHOWN = 8 }; // rows without -v

struct ranked {
	uint64_t weight;
	const void *row;
};

static int compare(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return ((const char *)x->row > (const char *)y->row) -
	       ((const char *)x->row < (const char *)y->row);
}

size_t tare_stalls_rows(const struct tare_stall_counts *counts, const void *rows[TARE_STALLS])
{
	enum tare_stall order[TARE_STALLS];
	uint32_t count = tare_stalls_order(counts, order);

	for (uint32_t i = 0; i < count; i++)
		rows[i] = &counts->by[order[i]];
	return count;
}

static uint64_t weight_of(enum tare_sampled_part part, const void *row)
{
	switch (part) {
	case TARE_SAMPLED_BLOCKS:
		return ((const struct tare_sampled_block *)row)->stalls.all;
	case TARE_SAMPLED_LINES:
		return ((const struct tare_sampled_line *)row)->stalls.all;
	case TARE_SAMPLED_INSTRUCTIONS:
		return ((const struct tare_stall_counts *)row)->all;
	case TARE_EXACT_BLOCKS:
		return ((const struct tare_exact_block *)row)->all.warps;
	case TARE_EXACT_LINES:
		return ((const struct tare_exact_line *)row)->counts.warps;
	default:
		return ((const struct tare_exact_counts *)row)->warps;
	}
}

int tare_sampled_part(const struct tare_sampled_row *kernel, enum tare_sampled_part part,
                      struct tare_sampled_rows *rows)
{
	static const struct tare_table *const tables[] = {
		[TARE_SAMPLED_BLOCKS] = &blocks_table,
		[TARE_SAMPLED_LINES] = &lines_table,
		[TARE_SAMPLED_INSTRUCTIONS] = &tare_sampled_instructions_table,
		[TARE_EXACT_BLOCKS] = &exact_blocks_table,
		[TARE_EXACT_LINES] = &exact_lines_table,
		[TARE_EXACT_INSTRUCTIONS] = &exact_instructions_table,
	};
	const struct tare_table *table = tables[part];
	size_t all = table->count(kernel), count = 0;
	struct ranked *ranked = calloc(all + 1, sizeof *ranked);

	*rows =
	    (struct tare_sampled_rows){ .table = table, .at = calloc(all + 1, sizeof *rows->at) };
	for (size_t i = 0; ranked && i < all; i++) {
		const void *row = table->row(kernel, i);
		if (weight_of(part, row))
			ranked[count++] = (struct ranked){ weight_of(part, row), row };
	}
	if (count)
		qsort(ranked, count, sizeof *ranked, compare);
	for (; ranked && rows->at && rows->count < count; rows->count++)
		rows->at[rows->count] = ranked[rows->count].row;
	bool made = ranked && rows->at;
	free(ranked);
	return made ? 0 : -ENOMEM;
}

int tare_sampled_part_text(struct tare_text *text, const struct tare_sampled_row *kernel,
                           enum tare_sampled_part part)
{
	struct tare_sampled_rows rows;
	int status = tare_sampled_part(kernel, part, &rows);
	size_t shown = text->options->verbosity > 0 || rows.count < SHOWN ? rows.count : SHOWN;

	if (status == 0 && shown) {
		fputc('\n', text->file);
		tare_table_text(text, rows.table, kernel,
		                &(struct tare_table_part){ .on = TARE_ON_TEXT,
		                                           .rows = rows.at,
		                                           .most = shown,
		                                           .flush = true,
		                                           .indent = 2,
		                                           .fold = true });
	}
	free((void *)rows.at);
	return status < 0 ? status : (int)(rows.count - shown);
}

// ---- making it

static int make_kernel(const struct tare_sampled_kernel *kernel, struct tare_sampled_row *row)
{
	char note[700];

	row->kernel = kernel;
	tare_stalls_find(kernel, &row->found);
	for (uint32_t i = 0; i < row->found.count; i++)
		row->findings[i] = (struct tare_stall_finding_row){ &row->found.at[i], kernel };
	for (uint32_t i = 0; tare_sampled_note(kernel, i, note, sizeof note); i++)
		if (tare_text_list_add(&row->notes, note, sizeof note) < 0)
			return -ENOMEM;
	return 0;
}

int tare_pc_samples_rows_make(const struct tare_pc_samples *samples,
                              struct tare_pc_samples_rows *rows)
{
	char note[700];
	int status = 0;

	*rows = (struct tare_pc_samples_rows){
		.of = samples, .kernels = calloc(samples->kernel_count + 1, sizeof *rows->kernels)
	};
	for (uint32_t i = 0; status == 0 && tare_pc_samples_note(samples, i, note, sizeof note);
	     i++)
		status = tare_text_list_add(&rows->notes, note, sizeof note);
	for (size_t i = 0; status == 0 && rows->kernels && i < samples->kernel_count; i++) {
		rows->kernels[i].words = rows->words;
		status = make_kernel(&samples->kernels[i], &rows->kernels[i]);
	}
	return rows->kernels ? status : -ENOMEM;
}

void tare_pc_samples_rows_free(struct tare_pc_samples_rows *rows)
{
	for (size_t i = 0; rows->kernels && i < rows->of->kernel_count; i++)
		tare_text_list_free(&rows->kernels[i].notes);
	tare_text_list_free(&rows->notes);
	free(rows->kernels);
}
