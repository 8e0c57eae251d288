// SPDX-License-Identifier: Apache-2.0
#include "blocks/cuda/report/tables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

// ---- texts

int tare_blocks_texts_add(struct tare_blocks_texts *texts, const char *text, size_t length)
{
	char **grown = realloc((void *)texts->at, (texts->count + 1) * sizeof *grown);

	if (!grown)
		return -ENOMEM;
	texts->at = grown;
	grown[texts->count] = strndup(text, length);
	return grown[texts->count] ? (texts->count++, 0) : -ENOMEM;
}

void tare_blocks_texts_free(struct tare_blocks_texts *texts)
{
	for (size_t i = 0; i < texts->count; i++)
		free(texts->at[i]);
	free((void *)texts->at);
}

#define SOURCE struct tare_blocks_texts
#define SOURCE_NAME texts
#define ROW char *const
#define TABLE texts
#define COLUMNS "blocks/report/tables/texts.def"
#include "table/declare.h"
TARE_TABLE(, tare_blocks_texts_table, "texts", "Texts", "a text", NULL, struct tare_blocks_texts,
           texts, texts->count, &texts->at[index], texts_columns);
#undef SOURCE
#undef SOURCE_NAME

// ---- counts by name

#define SOURCE struct tare_stall_counts
#define SOURCE_NAME counts
#define ROW uint64_t
#define TABLE stalls
#define COLUMNS "blocks/cuda/report/tables/stalls.def"
#include "table/declare.h"
TARE_ROWS(stalls, "stalls", "Samples by reason", "a reason to wait", TARE_STALLS, counts->by);
#undef SOURCE
#undef SOURCE_NAME

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
	return tare_string(file < kernel->cubin->file_count ? kernel->cubin->files[file] : NULL);
}

static const struct tare_cubin_row *line_of(const struct tare_sampled_kernel *kernel,
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
static const struct tare_column_group at = { "at", NULL, has_line, "its line" };

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

#define ROW struct tare_stall_counts
#define TABLE instructions
#define COLUMNS "blocks/cuda/report/tables/instructions.def"
#include "table/declare.h"
TARE_ROWS(instructions, "cuda_instructions", "Instructions of a CUDA kernel", "an instruction",
          KERNEL->count, KERNEL->instructions, .keep = instruction_is_met);

// ---- what was counted of it

#define EXACT KERNEL->exact
#define EXACT_INSTRUCTION ((uint32_t)(row - EXACT->at))
#define SPLIT (&KERNEL->split.at[row - EXACT->blocks])

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
TARE_ROWS(classes, "classes", "Executed, by class", "a class of instructions",
          TARE_SASS_CLASS_COUNT, exact->by_class, .keep = is_executed);

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

// ---- making it

static int make_kernel(const struct tare_sampled_kernel *kernel, struct tare_sampled_row *row)
{
	char note[700];

	row->kernel = kernel;
	tare_stalls_find(kernel, &row->found);
	for (uint32_t i = 0; i < row->found.count; i++)
		row->findings[i] = (struct tare_stall_finding_row){ &row->found.at[i], kernel };
	for (uint32_t i = 0; tare_sampled_note(kernel, i, note, sizeof note); i++)
		if (tare_blocks_texts_add(&row->notes, note, sizeof note) < 0)
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
		status = tare_blocks_texts_add(&rows->notes, note, sizeof note);
	for (size_t i = 0; status == 0 && rows->kernels && i < samples->kernel_count; i++) {
		rows->kernels[i].words = rows->words;
		status = make_kernel(&samples->kernels[i], &rows->kernels[i]);
	}
	return rows->kernels ? status : -ENOMEM;
}

void tare_pc_samples_rows_free(struct tare_pc_samples_rows *rows)
{
	for (size_t i = 0; rows->kernels && i < rows->of->kernel_count; i++)
		tare_blocks_texts_free(&rows->kernels[i].notes);
	tare_blocks_texts_free(&rows->notes);
	free(rows->kernels);
}
