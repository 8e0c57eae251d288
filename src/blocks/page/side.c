// SPDX-License-Identifier: Apache-2.0
// Ids on the page: "k0" a kernel, "k0b4" a block of it, "k0s1l12" a line of a text.
#include "blocks/page/side.h"

#include "base/units.h"
#include "blocks/report/facts.h"
#include "report/core/figures.h"
#include "report/core/table_html.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// Of the texts, lines beside those that ran that stay open, and as many others as are folded; of
// the instructions, how many one kernel has on the page, and from which share a block is open.
enum { NEAR = 3, FOLDED = 8, MOST_INSTRUCTIONS = 6000, OPEN_PERCENT = 3, ID = 64 };

static size_t number_of(const struct tare_blocks_rows *rows, const struct tare_blocks_row *row)
{
	return (size_t)(row - rows->kernels);
}

// "" where the page has no such line.
static const char *line_id(const struct tare_blocks_rows *rows, const struct tare_blocks_row *row,
                           const struct tare_blocks_text *text, uint32_t line, char id[ID])
{
	id[0] = '\0';
	if (text && text->lines.count && line)
		snprintf(id, ID, "k%zus%zul%" PRIu32, number_of(rows, row),
		         (size_t)(text - rows->texts.at), line);
	return id;
}

void tare_blocks_line_link(const struct tare_blocks_rows *rows, const struct tare_blocks_row *row,
                           uint32_t file, uint32_t line)
{
	const struct tare_blocks_build *build = row->kernel->build;
	const char *label = tare_blocks_label(build, file);
	char id[ID];

	line_id(rows, row, tare_blocks_texts_find(&rows->texts, build, file), line, id);
	fprintf(rows->page, id[0] ? "<a href=\"#%s\">" : "%s", id);
	fprintf(rows->page, "%" PRIu32 "%s", line, id[0] ? "</a>" : "");
	if (label[0]) {
		fputs(" of ", rows->page);
		tare_html_text(label, rows->page);
	}
}

// ---- a text

// A line of a text as the kernel ran it.
struct ran {
	uint32_t number;   // of the line
	uint64_t cost;     // instructions
	uint32_t block;    // that executed most of them; UINT32_MAX: not known
	bool near, counts; // it is beside one that ran; it is a line of its own
};

struct text_side {
	const struct tare_blocks_rows *rows;
	const struct tare_blocks_row *row;
	const struct tare_blocks_text *text;
	struct ran *lines;
	size_t count;
	uint64_t all;
};

// The block that executes most of a line.
static uint32_t hottest(const struct tare_blocks_kernel *kernel,
                        const struct tare_blocks_line *line)
{
	const struct tare_blocks_module *module = &kernel->build->module;
	uint32_t found = UINT32_MAX;
	uint64_t most = 0;

	for (uint32_t i = 0; i < module->block_count; i++) {
		const struct tare_blocks_block *block = &module->blocks[i];
		for (uint32_t k = 0; k < block->pieces && kernel->executions[i]; k++) {
			const struct tare_blocks_piece *piece =
			    &module->pieces[block->first_piece + k];
			uint64_t cost =
			    tare_blocks_instructions(&piece->tally) * kernel->executions[i];
			if (piece->file != line->file || piece->line != line->line || cost <= most)
				continue;
			most = cost;
			found = i;
		}
	}
	return found;
}

static void add_costs(struct text_side *side)
{
	const struct tare_blocks_row *row = side->row;

	for (size_t i = 0; i < row->line_count; i++) {
		const struct tare_blocks_line *line = &row->lines[i];
		if (!line->line || tare_blocks_texts_find(&side->rows->texts, row->kernel->build,
		                                          line->file) != side->text)
			continue;
		for (size_t k = 0; k < side->count; k++) {
			struct ran *ran = &side->lines[k];
			if (!ran->counts || ran->number != line->line)
				continue;
			ran->cost += tare_blocks_instructions(&line->tally);
			ran->block = hottest(row->kernel, line);
		}
	}
}

static int lines_make(struct text_side *side)
{
	uint32_t number = 1;

	side->count = side->text->lines.count;
	side->lines = calloc(side->count + 1, sizeof *side->lines);
	if (!side->lines)
		return -ENOMEM;
	for (size_t i = 0; i < side->count; i++) {
		uint32_t next = tare_blocks_next_line(side->text->lines.at[i], number);
		side->lines[i] = (struct ran){ .number = number,
			                       .block = UINT32_MAX,
			                       .counts = next == number + 1 };
		number = next;
	}
	add_costs(side);
	for (size_t i = 0; i < side->count; i++)
		for (size_t k = i > NEAR ? i - NEAR : 0; k <= i + NEAR && k < side->count; k++)
			side->lines[i].near |= side->lines[k].cost > 0;
	return 0;
}

static void write_line(const struct text_side *side, size_t at)
{
	const struct ran *ran = &side->lines[at];
	FILE *file = side->rows->page;
	char id[ID] = "", percent[RUN_TEXT];

	if (ran->counts)
		line_id(side->rows, side->row, side->text, ran->number, id);
	tare_html_code_line(tare_html_heat(ran->cost, side->all), id, file);
	if (ran->block != UINT32_MAX)
		fprintf(file, "<a class=\"n\" href=\"#k%zub%" PRIu32 "\">%" PRIu32 "</a>",
		        number_of(side->rows, side->row), ran->block, ran->number);
	else
		fprintf(file, "<span class=\"n\">%" PRIu32 "</span>", ran->number);
	fprintf(file, "<span class=\"s\">%s</span>",
	        ran->cost ? tare_report_percent((double)ran->cost / (double)side->all, percent)
	                  : "");
	tare_html_text(side->text->lines.at[at], file);
	fputs("</div>\n", file);
}

// Lines from `from` to before `to`, none of which ran.
static void write_cold(const struct text_side *side, size_t from, size_t to)
{
	FILE *file = side->rows->page;
	bool folds = to - from >= FOLDED;

	if (folds && side->text->shown) {
		fprintf(file,
		        "<p>lines %" PRIu32 " to %" PRIu32 ": with a kernel above that has this "
		        "source</p>\n",
		        side->lines[from].number, side->lines[to - 1].number);
		return;
	}
	if (folds)
		fprintf(file, "<details><summary>lines %" PRIu32 " to %" PRIu32 "</summary>",
		        side->lines[from].number, side->lines[to - 1].number);
	for (size_t i = from; i < to; i++)
		write_line(side, i);
	if (folds)
		fputs("</details>\n", file);
}

static int write_text(struct tare_blocks_rows *rows, const struct tare_blocks_row *row,
                      struct tare_blocks_text *text)
{
	struct text_side side = { rows, row, text,
		                  NULL, 0,   tare_blocks_instructions(&row->kernel->tally) };
	int status = lines_make(&side);

	if (status < 0)
		return status;
	fputs("<h4>", rows->page);
	tare_html_text(text->label[0] ? text->label : "source", rows->page);
	fputs(text->from == TARE_BLOCKS_SOURCE_FILE ? ", as it is now</h4>" : "</h4>", rows->page);
	fputs("<div class=\"code\">\n", rows->page);
	for (size_t i = 0; i < side.count;) {
		size_t end = i;
		while (end < side.count && !side.lines[end].near)
			end++;
		if (end > i)
			write_cold(&side, i, end);
		else
			write_line(&side, end++);
		i = end;
	}
	fputs("</div>\n", rows->page);
	text->shown = true;
	free(side.lines);
	return 0;
}

// Lines of what cannot be read, by their numbers.
static void write_gone(const struct tare_blocks_rows *rows, const struct tare_blocks_row *row,
                       const struct tare_blocks_text *text)
{
	FILE *file = rows->page;
	uint64_t all = tare_blocks_instructions(&row->kernel->tally);
	char percent[RUN_TEXT];
	const char *before = ": line ";

	fputs("<p>", file);
	tare_html_text(text->label, file);
	fputs(" cannot be read", file);
	for (size_t i = 0; i < row->line_count && i < NEAR; i++)
		if (row->lines[i].line && tare_blocks_texts_find(&rows->texts, row->kernel->build,
		                                                 row->lines[i].file) == text) {
			fprintf(file, "%s%" PRIu32 " %s", before, row->lines[i].line,
			        tare_report_percent(
			            (double)tare_blocks_instructions(&row->lines[i].tally) /
			                (double)all,
			            percent));
			before = ", ";
		}
	fputs(".</p>\n", file);
}

static int write_texts(struct tare_blocks_rows *rows, const struct tare_blocks_row *row)
{
	int status = 0;
	bool any = false;

	for (size_t i = 0; i < rows->texts.count && status == 0; i++) {
		struct tare_blocks_text *text = &rows->texts.at[i];
		bool is_of =
		    text->build == row->kernel->build && text->from == TARE_BLOCKS_SOURCE_BUILD;
		for (size_t k = 0; k < row->line_count && !is_of; k++)
			is_of = row->lines[k].line &&
			        tare_blocks_texts_find(&rows->texts, row->kernel->build,
			                               row->lines[k].file) == text;
		if (!is_of)
			continue;
		any = true;
		if (text->lines.count)
			status = write_text(rows, row, text);
		else if (text->label[0])
			write_gone(rows, row, text);
	}
	if (!any)
		fputs("<p>No lines: the module has no debug information.</p>\n", rows->page);
	return status;
}

// ---- instructions

// The line that an instruction is of, as a link, or nothing.
static void write_where(const struct tare_blocks_rows *rows, const struct tare_blocks_row *row,
                        uint32_t file, uint32_t line)
{
	const struct tare_blocks_text *text =
	    line ? tare_blocks_texts_find(&rows->texts, row->kernel->build, file) : NULL;
	char id[ID];

	line_id(rows, row, text, line, id);
	if (!line)
		fputs("<span class=\"n\"></span>", rows->page);
	else if (id[0])
		fprintf(rows->page, "<a class=\"n\" href=\"#%s\">%" PRIu32 "</a>", id, line);
	else
		fprintf(rows->page, "<span class=\"n\">%" PRIu32 "</span>", line);
	fputs(" ", rows->page);
}

static uint64_t most_executions(const struct tare_blocks_row *row)
{
	uint64_t most = 0;

	for (size_t i = 0; i < row->order_count; i++)
		if (row->kernel->executions[row->order[i]] > most)
			most = row->kernel->executions[row->order[i]];
	return most;
}

// An instruction is as hot as it is executed often, a block as it costs much.
static void write_block(const struct tare_blocks_rows *rows, const struct tare_blocks_row *row,
                        uint32_t at, size_t *room)
{
	const struct tare_blocks_kernel *kernel = row->kernel;
	const struct tare_blocks_listed_block *block = &row->code->blocks[at];
	uint64_t executions = kernel->executions[at],
	         all = tare_blocks_instructions(&kernel->tally),
	         cost =
	             executions * tare_blocks_instructions(&kernel->build->module.blocks[at].tally);
	char lines[160], number[TARE_UNIT_TEXT], percent[RUN_TEXT];
	int heat = tare_html_heat(executions, most_executions(row));
	FILE *file = rows->page;

	fprintf(file, "<details id=\"k%zub%" PRIu32 "\"%s>", number_of(rows, row), at,
	        100 * (double)cost >= OPEN_PERCENT * (double)all ? " open" : "");
	tare_html_summary(tare_html_heat(cost, all), file);
	fprintf(file, "block %" PRIu32 ", line ", at);
	tare_html_text(tare_blocks_span_words(kernel->build, at, lines, sizeof lines), file);
	fprintf(file, ": %s execution%s, <b>%s</b></summary>\n",
	        tare_format_grouped(executions, number), executions == 1 ? "" : "s",
	        tare_report_percent(all ? (double)cost / (double)all : 0, percent));
	for (size_t i = 0; i < block->count && *room; i++, --*room) {
		const struct tare_blocks_listed_row *one = &block->at[i];
		tare_html_code_line(heat, "", file);
		write_where(rows, row, one->file, one->line);
		tare_html_text(tare_blocks_listed_text(block, one), file);
		fputs("</div>\n", file);
	}
	fputs("</details>\n", file);
}

// Whether the kernel has the function: it is its own, or it was called.
static bool has(const struct tare_blocks_kernel *kernel,
                const struct tare_blocks_function *function)
{
	bool ran = function->kernel && strcmp(function->kernel, kernel->name) == 0;

	for (uint32_t i = 0; i < function->blocks && !ran; i++)
		ran = kernel->executions[function->first_block + i] > 0;
	return ran;
}

static void write_instructions(const struct tare_blocks_rows *rows,
                               const struct tare_blocks_row *row)
{
	const struct tare_blocks_module *module = &row->kernel->build->module;
	size_t room = MOST_INSTRUCTIONS;

	fprintf(rows->page, "<h4>instructions of %s, ",
	        tare_blocks_language_of(row->kernel->build));
	tare_html_text(row->kernel->build->level, rows->page);
	fputs("</h4>\n<div class=\"code\">\n", rows->page);
	for (uint32_t i = 0; i < module->function_count; i++) {
		const struct tare_blocks_function *function = &module->functions[i];
		if (!has(row->kernel, function))
			continue;
		if (!function->kernel) {
			fputs("<h5>function ", rows->page);
			tare_html_text(function->name, rows->page);
			fputs("</h5>\n", rows->page);
		}
		for (uint32_t k = 0; k < function->blocks; k++)
			write_block(rows, row, function->first_block + k, &room);
	}
	if (!room)
		fprintf(rows->page,
		        "<p>Instructions beyond the first %d are left out; --json has all.</p>\n",
		        MOST_INSTRUCTIONS);
	fputs("</div>\n", rows->page);
}

#define PANE "<div class=\"pane\" role=\"region\" tabindex=\"0\" aria-label=\""

int tare_blocks_side(struct tare_blocks_rows *rows, const struct tare_blocks_row *row)
{
	fputs("<h3>Source and instructions</h3>\n<div class=\"side\">\n" PANE
	      "source of the kernel, tinted by share of instructions\">\n",
	      rows->page);
	int status = write_texts(rows, row);
	fputs("</div>\n" PANE "instructions by block\">\n", rows->page);
	write_instructions(rows, row);
	fputs("</div>\n</div>\n", rows->page);
	return status;
}

// ---- a device that is not there

// The file of a listing as the page knows it; NULL. ocloc is given an OpenCL program's source in a
// file of its own.
static const struct tare_blocks_text *listed_text(const struct tare_blocks_rows *rows,
                                                  const struct tare_blocks_row *row,
                                                  const char *name)
{
	const char *slash = strrchr(name, '/');
	bool own = strcmp(slash ? slash + 1 : name, TARE_BLOCKS_MODEL_SOURCE) == 0;

	for (size_t i = 0; i < rows->texts.count; i++) {
		const struct tare_blocks_text *text = &rows->texts.at[i];
		if (text->build == row->kernel->build &&
		    (own ? text->from == TARE_BLOCKS_SOURCE_BUILD : strcmp(text->file, name) == 0))
			return text;
	}
	return NULL;
}

static void begin_listed_block(const struct tare_blocks_model *model, uint32_t block, uint64_t most,
                               FILE *file)
{
	uint64_t passed = model->joined.passed ? model->joined.passed[block] : UINT64_MAX;
	char number[TARE_UNIT_TEXT];

	fputs("<details open>", file);
	tare_html_summary(passed == UINT64_MAX ? -1 : tare_html_heat(passed, most), file);
	if (passed == UINT64_MAX)
		fprintf(file, "block %" PRIu32 ": executions n/a</summary>\n", block);
	else
		fprintf(file, "block %" PRIu32 ": %s execution%s by work-items</summary>\n", block,
		        tare_format_grouped(passed, number), passed == 1 ? "" : "s");
}

static void write_listed_line(const struct tare_blocks_rows *rows,
                              const struct tare_blocks_row *row,
                              const struct tare_blocks_listing *listing,
                              const struct tare_blocks_listing_code *code, uint32_t *shown)
{
	const struct tare_blocks_listing_piece *piece = &listing->pieces[code->piece];
	const struct tare_blocks_text *text =
	    piece->line && piece->file < listing->file_count
	        ? listed_text(rows, row, listing->files[piece->file])
	        : NULL;
	const char *words = "";
	char id[ID];

	// The source stands beside the first of its instructions.
	if (text && piece->line <= text->lines.count && code->piece != *shown)
		words = text->lines.at[piece->line - 1] +
		        strspn(text->lines.at[piece->line - 1], " \t");
	*shown = code->piece;
	line_id(rows, row, text, piece->line, id);
	fputs("<div><span class=\"w\">", rows->page);
	if (id[0])
		fprintf(rows->page, "<a class=\"n\" href=\"#%s\">%" PRIu32 "</a> ", id,
		        piece->line);
	tare_html_text(words, rows->page);
	fputs("</span><span class=\"c\">", rows->page);
	tare_html_text(listing->text + code->at, rows->page);
	fputs("</span></div>\n", rows->page);
}

void tare_blocks_model_side(const struct tare_blocks_rows *rows, const struct tare_blocks_row *row,
                            const struct tare_blocks_model *model)
{
	const struct tare_blocks_listing *listing = &model->listing;
	uint64_t most = 0;
	uint32_t block = UINT32_MAX, shown = UINT32_MAX;

	if (!listing->code_count)
		return;
	for (uint32_t i = 0; i < listing->block_count && model->joined.passed; i++)
		if (model->joined.passed[i] != UINT64_MAX && model->joined.passed[i] > most)
			most = model->joined.passed[i];
	fputs("<details><summary>source and code for ", rows->page);
	tare_html_text(model->device, rows->page);
	fputs(", a model, built with -g</summary>\n<div class=\"code pairs\">\n", rows->page);
	for (uint32_t i = 0; i < listing->code_count && i < MOST_INSTRUCTIONS; i++) {
		uint32_t own = listing->pieces[listing->code[i].piece].block;
		if (own != block) {
			fputs(block == UINT32_MAX ? "" : "</details>\n", rows->page);
			begin_listed_block(model, own, most, rows->page);
			shown = UINT32_MAX;
		}
		block = own;
		write_listed_line(rows, row, listing, &listing->code[i], &shown);
	}
	fputs("</details>\n", rows->page);
	if (listing->code_count > MOST_INSTRUCTIONS)
		fprintf(rows->page,
		        "<p>Instructions beyond the first %d are left out; --json has all.</p>\n",
		        MOST_INSTRUCTIONS);
	fputs("</div></details>\n", rows->page);
}
