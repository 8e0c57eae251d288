// SPDX-License-Identifier: Apache-2.0
// One table as CSV (RFC 4180): of the sets of options, where there are any; else of what was
// counted, a row a basic block that ran, if anything was; else of what was sampled.
#include "blocks/report/tables.h"
#include "report/core/table_csv.h"

static void write_head(const struct tare_table *table, const void *source, FILE *file)
{
	tare_csv_put_ids(&(struct tare_csv_row){ .file = file }, table, source, TARE_ON_CSV);
}

static void write_rows(const struct tare_blocks_rows *rows, FILE *file)
{
	const struct tare_table_part part = { .on = TARE_ON_CSV };

	if (rows->trials.of->set_count) {
		write_head(&tare_blocks_options_csv_table, &rows->trials, file);
		tare_csv_put_rows(file, &tare_blocks_options_csv_table, &rows->trials, &part);
		return;
	}
	if (!rows->launches && rows->document->samples->used) {
		tare_pc_samples_csv(&rows->samples, file);
		return;
	}
	write_head(&tare_blocks_blocks_table, NULL, file);
	for (size_t i = 0; i < rows->kernel_count; i++)
		tare_csv_put_rows(file, &tare_blocks_blocks_table, &rows->kernels[i], &part);
}

int tare_blocks_csv(const struct tare_blocks_document *document, FILE *file)
{
	struct tare_blocks_rows rows;
	int status = tare_blocks_rows_make(document, &rows);

	if (status == 0)
		write_rows(&rows, file);
	tare_blocks_rows_free(&rows);
	return status;
}
