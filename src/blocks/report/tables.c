// SPDX-License-Identifier: Apache-2.0
// A program's blocks as declared tables: all, and each kernel.
#include "blocks/report/tables.h"
#include "blocks/report/source.h"

#include "report/core/figures.h"
#include "tare_config.h"

#include <string.h>

// ---- figures

#define SOURCE uint64_t
#define SOURCE_NAME counts
#define ROW uint64_t
#define TABLE isas
#define COLUMNS "blocks/report/tables/isas.def"
#include "table/declare.h"
TARE_ROWS(isas, "isas", "A device's instructions by kind", "a kind", TARE_BLOCKS_ISAS, counts);
#undef SOURCE
#undef SOURCE_NAME

static uint64_t sum_of(const uint64_t counts[TARE_BLOCKS_SPACES])
{
	uint64_t sum = 0;

	for (int i = 0; i < TARE_BLOCKS_SPACES; i++)
		sum += counts[i];
	return sum;
}

static struct tare_cell_value share_of(uint64_t part, uint64_t whole)
{
	return tare_number(whole ? (double)part / (double)whole : 0, TARE_NOT_KNOWN);
}

#define NOT_ZERO(value) tare_not_zero(value, TARE_NOT_KNOWN)
#define KNOWN_LINE(line) NOT_ZERO(line)

// The file as the compiler names it, or what a source among several is called; absent: the build's
// only source.
static struct tare_cell_value file_of(const struct tare_blocks_build *build, uint32_t file)
{
	const char *name = tare_blocks_file_name(&build->module, file);

	if (!tare_blocks_sources_find(&build->sources, name))
		return tare_named(name);
	name = tare_blocks_label(build, file);
	return name[0] ? tare_named(name) : tare_absent(TARE_NOT_THERE);
}

static const char *const apis[] = { "OpenCL", "Level Zero", "CUDA", NULL };

// ---- columns of the CSV, a kind or a space of memory

enum { MEMORY_FIGURES = 4, MEMORY_COUNTS = MEMORY_FIGURES * TARE_BLOCKS_SPACES };

static const char *named(char text[64], const char *name, const char *end)
{
	snprintf(text, 64, "%s%s", name, end);
	return text;
}

static const char *memory_title(char text[64], size_t at)
{
	static const char *const ends[MEMORY_FIGURES] = { "_loads_once", "_stores_once",
		                                          "_loaded_bytes_once",
		                                          "_stored_bytes_once" };

	return named(text, tare_blocks_space_names[at / MEMORY_FIGURES], ends[at % MEMORY_FIGURES]);
}

static uint64_t memory_count(const struct tare_blocks_tally *tally, size_t at)
{
	const uint64_t *const figures[MEMORY_FIGURES] = { tally->loads, tally->stores,
		                                          tally->loaded_bytes,
		                                          tally->stored_bytes };

	return figures[at % MEMORY_FIGURES][at / MEMORY_FIGURES];
}

// ---- blocks and lines

#define KERNEL kernel->kernel
#define MODULE (&KERNEL->build->module)
#define BLOCK (&MODULE->blocks[*row])
enum { EVERYWHERE = TARE_ON_TEXT | TARE_ON_PAGE };

static struct tare_cell_value line_of(const struct tare_blocks_row *kernel, uint32_t block,
                                      bool last)
{
	uint32_t lines[2];

	tare_blocks_span(MODULE, block, &lines[0], &lines[1]);
	return NOT_ZERO(lines[last]);
}

static struct tare_cell_value block_share(const struct tare_blocks_row *kernel, uint32_t block)
{
	return share_of(tare_blocks_instructions(&MODULE->blocks[block].tally) *
	                    KERNEL->executions[block],
	                tare_blocks_instructions(&KERNEL->tally));
}

// Samples of a line or block, and their share of the kernel's; absent where lines are not known.
static struct tare_cell_value sampled(const struct tare_blocks_row *kernel, const uint64_t *samples,
                                      size_t at)
{
	return kernel->timed.known ? tare_unsigned(samples[at]) : tare_absent(TARE_NOT_KNOWN);
}

static struct tare_cell_value time_share(const struct tare_blocks_row *kernel,
                                         const uint64_t *samples, size_t at)
{
	return kernel->timed.known ? share_of(samples[at], kernel->time->samples)
	                           : tare_absent(TARE_NOT_KNOWN);
}

static bool span(const struct tare_cell_text *cell)
{
	const struct tare_blocks_row *kernel = cell->source;

	tare_blocks_span_words(KERNEL->build, *(const uint32_t *)cell->row, cell->text, cell->size);
	return true;
}

static bool source_cell(const struct tare_cell_text *cell)
{
	const struct tare_blocks_row *kernel = cell->source;
	const struct tare_blocks_line *line = cell->row;
	const char *label = tare_blocks_label(KERNEL->build, line->file);
	size_t used = 0;

	if (label[0] && strlen(label) + 2 < cell->size)
		used = (size_t)snprintf(cell->text, cell->size, "%s: ", label);
	if (!line->line)
		snprintf(cell->text, cell->size, "(the compiler's own, of no line)");
	else if (tare_blocks_source_line(KERNEL->build, line->file, line->line, cell->text + used,
	                                 cell->size - used) == TARE_BLOCKS_SOURCE_NONE)
		snprintf(cell->text, cell->size, "%s", tare_blocks_file_name(MODULE, line->file));
	return true;
}

#define SOURCE struct tare_blocks_listed_block
#define SOURCE_NAME code
#define ROW struct tare_blocks_listed_row
#define TABLE code
#define COLUMNS "blocks/report/tables/code.def"
#include "table/declare.h"
TARE_ROWS(code, "code", "Instructions of a block", "an instruction", code->count, code->at);
#undef SOURCE
#undef SOURCE_NAME

static const char *const origins[] = { "gone", "build", "file", NULL };
_Static_assert(TARE_BLOCKS_SOURCE_NONE == 0 && TARE_BLOCKS_SOURCE_FILE == 2, "a word each");
#define SOURCE struct tare_blocks_texts
#define SOURCE_NAME texts
#define ROW struct tare_blocks_text
#define TABLE sources
#define COLUMNS "blocks/report/tables/sources.def"
#include "table/declare.h"
TARE_ROWS(sources, "sources", "Sources of counted lines", "a text", texts->count, texts->at);
#undef SOURCE
#undef SOURCE_NAME

#define SOURCE struct tare_blocks_row
#define SOURCE_NAME kernel
#define ROW uint32_t
#define TABLE blocks
#define COLUMNS "blocks/report/tables/blocks.def"
#include "table/declare.h"
TARE_TABLE(, tare_blocks_blocks_table, "kernel_blocks", "Blocks of a kernel", "a block, by cost",
           NULL, struct tare_blocks_row, kernel, kernel->order_count, &kernel->order[index],
           blocks_columns);

#define LINE (row - kernel->lines)
#define ROW struct tare_blocks_line
#define TABLE lines
#define COLUMNS "blocks/report/tables/lines.def"
#include "table/declare.h"
TARE_TABLE(, tare_blocks_lines_table, "kernel_lines", "Lines of a kernel", "a line, by cost", NULL,
           struct tare_blocks_row, kernel, kernel->line_count, &kernel->lines[index],
           lines_columns);

// ---- what else is in a kernel

#define TURNS_OF (&kernel->told.sampled.turns[row->header])
#define TURNS(figure)                                                                              \
	(kernel->told.sampled.work_items && TURNS_OF->most ? tare_unsigned(TURNS_OF->figure)       \
	                                                   : tare_absent(TARE_NOT_KNOWN))
#define ROW struct tare_blocks_loop
#define TABLE loops
#define COLUMNS "blocks/report/tables/loops.def"
#include "table/declare.h"
TARE_ROWS(loops, "loops", "Loops of a kernel", "a loop", kernel->loop_count, kernel->loops);

#define ROW struct tare_blocks_access
#define TABLE accesses
#define COLUMNS "blocks/report/tables/accesses.def"
#include "table/declare.h"
TARE_ROWS(accesses, "accesses", "Accesses of a kernel", "a load or store",
          kernel->told.sampled.work_items ? kernel->told.sampled.accesses : 0,
          kernel->told.sampled.access);
#undef SOURCE
#undef SOURCE_NAME

#define SOURCE struct tare_blocks_finding_row
#define SOURCE_NAME finding
#define ROW struct tare_blocks_place_of
#define TABLE places
#define COLUMNS "blocks/report/tables/places.def"
#include "table/declare.h"
TARE_ROWS(places, "places", "Places of a finding", "a line", finding->finding->place_count,
          finding->finding->places);
#undef SOURCE
#undef SOURCE_NAME

#define SOURCE struct tare_blocks_model
#define SOURCE_NAME model
#define PIECE (&model->listing.pieces[row->piece])
#define PASSED                                                                                     \
	(model->joined.passed && model->joined.passed[PIECE->block] != UINT64_MAX                  \
	     ? tare_unsigned(model->joined.passed[PIECE->block])                                   \
	     : tare_absent(TARE_NOT_KNOWN))
#define ROW struct tare_blocks_listing_code
#define TABLE model_code
#define COLUMNS "blocks/report/tables/model_code.def"
#include "table/declare.h"
TARE_ROWS(model_code, "model_code", "Code of a device that is not there", "an instruction",
          model->listing.code_count, model->listing.code);
#undef SOURCE
#undef SOURCE_NAME
static const char *const finding_ids[] = { "divergent-branch",  "uncoalesced-access",
	                                   "double-constant",   "integer-division",
	                                   "special-functions", "frequent-barriers",
	                                   "unused-lanes",      NULL };
_Static_assert(sizeof finding_ids / sizeof *finding_ids == TARE_BLOCKS_SPILLS + 1, "an id each");
static const char *const model_findings[] = { "spills", NULL };

static struct tare_cell_value differs_of(const struct tare_blocks_gain *gain)
{
	if (!gain || (gain->results != TARE_BLOCKS_RESULT_SAME &&
	              gain->results != TARE_BLOCKS_RESULT_DIFFERS))
		return tare_absent(TARE_NOT_MEASURED);
	return tare_truth(gain->results == TARE_BLOCKS_RESULT_DIFFERS);
}

#define SOURCE struct tare_blocks_row
#define SOURCE_NAME kernel
#define GAIN(known, figure)                                                                        \
	(row->gain && row->gain->known ? tare_integer((int64_t)row->gain->figure)                  \
	                               : tare_absent(TARE_NOT_MEASURED))
#define RULE (&tare_blocks_rules[row->finding->advice])
#define ROW struct tare_blocks_finding_row
#define TABLE findings
#define COLUMNS "blocks/report/tables/findings.def"
#include "table/declare.h"
TARE_ROWS(findings, "findings", "What to change in a kernel", "a finding",
          kernel->told.findings.count, kernel->findings);

static bool is_model_of(const void *kernel, const void *model)
{
	return tare_blocks_is_model_of(model, ((const struct tare_blocks_row *)kernel)->kernel);
}

#define IS_MADE (row->why.code == 0)
#define IS_JOINED (IS_MADE && row->joined.how == TARE_BLOCKS_JOINED && row->joined.instructions > 0)
#define MADE(value) tare_if(IS_MADE, tare_unsigned(value), TARE_NOT_KNOWN)
#define ROW struct tare_blocks_model
#define TABLE models
#define COLUMNS "blocks/report/tables/models.def"
#include "table/declare.h"
TARE_ROWS(models, "models", "A kernel on other devices", "a device",
          kernel->document->models->count, kernel->document->models->at, .keep = is_model_of);
#undef SOURCE
#undef SOURCE_NAME

// ---- kernels, and all

static size_t language_of(const struct tare_blocks_build *build)
{
	return build->language == BLOCKS_PTX ? 2 : build->language != BLOCKS_OPENCL_C;
}

static const char *const languages[] = { "OpenCL C", "SPIR-V", "PTX", NULL };
static const char *const formats[] = { "tare.blocks/1", NULL };
static const char *const tools[] = { "tare", NULL };

static bool has_build(const void *rows, const void *row)
{
	(void)rows;
	return ((const struct tare_blocks_row *)row)->kernel->build != NULL;
}

static bool has_time(const void *rows, const void *row)
{
	(void)rows;
	return ((const struct tare_blocks_row *)row)->document->times->asked;
}

static bool has_lanes(const void *rows, const void *row)
{
	(void)rows;
	return ((const struct tare_blocks_row *)row)->told.sampled.work_items > 0;
}

static const struct tare_column_group build = { "build", NULL, has_build,
	                                        "the build that it is of" };
static const struct tare_column_group time = {
	"time", NULL, has_time, "samples of the host's clock, without counters; null: not asked for"
};
static const struct tare_column_group device = {
	"device", NULL, NULL, "what the driver says of the program's own kernel; null: nothing"
};
static const struct tare_column_group lanes = {
	"lanes", NULL, has_lanes,
	"a model: neighbouring work-items that run side by side, weighted by instructions; null: "
	"nothing was sampled"
};
static const struct tare_column_group tool = { "tool", NULL, NULL, "what wrote it" };

#undef KERNEL
#define KERNEL row->kernel
#define TIMES row->document->times
#define SAMPLED (&row->told.sampled)
#define SOURCE struct tare_blocks_rows
#define SOURCE_NAME rows
#define ROW struct tare_blocks_row
#define TABLE kernels
#define COLUMNS "blocks/report/tables/kernels.def"
#include "table/declare.h"
TARE_ROWS(kernels, "kernels", "Kernels by blocks", "a kernel", rows->kernel_count, rows->kernels);

#define OF row->document
#define ROW struct tare_blocks_rows
#define TABLE document
#define COLUMNS "blocks/report/tables/document.def"
#include "table/declare.h"
TARE_TABLE(, tare_blocks_document_table, "blocks", "Basic blocks of a program", "a run", NULL,
           struct tare_blocks_rows, rows, 1, rows, document_columns);
