// SPDX-License-Identifier: Apache-2.0
// What follows from what was counted, for the declared tables.
#include "blocks/report/tables.h"
#include "result/kernels.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

// ---- sets of build options

static int make_trials(const struct tare_blocks_trials *trials, struct tare_blocks_trial_rows *rows)
{
	rows->of = trials;
	rows->names = calloc(trials->name_count + 1, sizeof *rows->names);
	for (size_t i = 0; rows->names && i < trials->name_count; i++) {
		struct tare_blocks_name_row *row = &rows->names[rows->name_count];
		if (!tare_blocks_was_launched(trials, i))
			continue;
		*row = (struct tare_blocks_name_row){ .of = trials, .name = i };
		for (uint32_t set = 0; set < trials->set_count; set++)
			row->cells[set] = (struct tare_blocks_cell_row){
				.cell = &trials->sets[set].cells[i],
				.set = &trials->sets[set],
				.name = trials->names[i],
				.rounds = trials->rounds,
				.letter = { tare_kernel_set_letter(set) }
			};
		rows->name_count++;
	}
	return rows->names ? 0 : -ENOMEM;
}

// ---- kernels

// What was sampled where it is this kernel's alone: whose samples are of several kernels of one
// name is not known.
static const struct tare_blocks_kernel_time *own_time(const struct tare_blocks_row *row)
{
	const struct tare_blocks_profile *profile = row->document->profile;
	uint64_t launches = tare_blocks_launches_of(profile, row->kernel->name);

	return launches == row->kernel->launches ? row->time : NULL;
}

static int make_counted(struct tare_blocks_row *row)
{
	int status = tare_blocks_told_make(row->kernel, row->document->gains, &row->told);

	row->order = tare_blocks_order(row->kernel, &row->order_count);
	row->lines = tare_blocks_lines(row->kernel, &row->line_count);
	row->loops = tare_blocks_loops(row->kernel, &row->loop_count);
	for (uint32_t i = 0; i < row->told.findings.count; i++)
		row->findings[i] =
		    (struct tare_blocks_finding_row){ .finding = &row->told.findings.at[i],
			                              .build = row->kernel->build,
			                              .gain = row->told.gained ? &row->told.gains[i]
			                                                       : NULL };
	if (row->lines && status == 0)
		status = tare_blocks_timed_make(row->kernel, own_time(row), row->lines,
		                                row->line_count, &row->timed);
	return row->order && row->lines && row->loops ? status : -ENOMEM;
}

static int make_source(const struct tare_blocks_build *build, struct tare_text_list *source)
{
	const char *at = build->language == BLOCKS_OPENCL_C ? build->text : NULL;
	int status = 0;

	while (at && *at && status == 0) {
		size_t length = strcspn(at, "\n");
		status = tare_text_list_add(source, at, length);
		at += length + (at[length] == '\n');
	}
	return status;
}

// The instructions of the kernel's module, which others of the build have as well.
static int make_code(struct tare_blocks_rows *rows, struct tare_blocks_row *row)
{
	for (size_t i = 0; i < rows->code_count; i++)
		if (rows->codes[i].build == row->kernel->build) {
			row->code = &rows->codes[i];
			return 0;
		}
	row->code = &rows->codes[rows->code_count];
	return tare_blocks_listed_make(row->kernel->build, &rows->codes[rows->code_count++]);
}

// What follows from a kernel's counts. 0 or -ENOMEM; to free in either case.
static int make_row(struct tare_blocks_rows *rows, const struct tare_blocks_kernel *kernel)
{
	const struct tare_blocks_document *document = rows->document;
	struct tare_blocks_row *row = &rows->kernels[rows->kernel_count++];
	int status = 0;

	memset(row, 0, sizeof *row);
	row->document = document;
	row->kernel = kernel;
	row->before = tare_blocks_before(document->before, kernel);
	row->time = tare_blocks_time_of(document->times, kernel->name);
	row->counted = kernel->executions && kernel->counted;
	tare_blocks_why(document, kernel, row->why, sizeof row->why);
	if (kernel->build)
		status = make_source(kernel->build, &row->source);
	if (status == 0 && row->counted)
		status = make_counted(row);
	if (status == 0 && row->counted)
		status = make_code(rows, row);
	return status == 0 && row->counted
	           ? tare_blocks_texts_add(kernel, row->lines, row->line_count, &rows->texts)
	           : status;
}

static void free_row(struct tare_blocks_row *row)
{
	tare_blocks_told_free(&row->told);
	tare_blocks_timed_free(&row->timed);
	tare_text_list_free(&row->source);
	free(row->order);
	free(row->lines);
	free(row->loops);
}

// ---- all

static size_t count_words(char *const *words)
{
	size_t count = 0;

	while (words[count])
		count++;
	return count;
}

int tare_blocks_rows_make(const struct tare_blocks_document *document,
                          struct tare_blocks_rows *rows)
{
	const struct tare_blocks_profile *profile = document->profile;
	int status;

	*rows = (struct tare_blocks_rows){
		.document = document,
		.program = { document->program, count_words(document->program) },
		.kernels = calloc(profile->kernel_count + 1, sizeof *rows->kernels),
		.codes = calloc(profile->kernel_count + 1, sizeof *rows->codes),
	};
	tare_blocks_coverage(profile, &rows->counted, &rows->launches);
	status = tare_pc_samples_rows_make(document->samples, &rows->samples);
	if (make_trials(document->trials, &rows->trials) < 0 || !rows->kernels || !rows->codes)
		status = -ENOMEM;
	for (size_t i = 0; status == 0 && i < profile->kernel_count; i++)
		if (profile->kernels[i].launches)
			status = make_row(rows, &profile->kernels[i]);
	return status;
}

void tare_blocks_rows_free(struct tare_blocks_rows *rows)
{
	for (size_t i = 0; i < rows->kernel_count; i++)
		free_row(&rows->kernels[i]);
	for (size_t i = 0; i < rows->code_count; i++)
		tare_blocks_listed_free(&rows->codes[i]);
	tare_blocks_texts_free(&rows->texts);
	free(rows->codes);
	free(rows->kernels);
	free(rows->trials.names);
	tare_pc_samples_rows_free(&rows->samples);
}

int tare_blocks_declared(const struct tare_blocks_document *document,
                         int (*take)(void *context, const struct tare_table *table,
                                     const void *source),
                         void *context)
{
	struct tare_blocks_rows rows;
	int status = tare_blocks_rows_make(document, &rows);

	status = status ?: take(context, &tare_blocks_document_table, &rows);
	tare_blocks_rows_free(&rows);
	return status;
}
