// SPDX-License-Identifier: Apache-2.0
// One row an instruction that was met or counted, as CSV (RFC 4180).
#include "blocks/cuda/report/tables.h"
#include "report/core/table_csv.h"

static bool is_met_or_counted(const void *source, const void *row)
{
	const struct tare_sampled_kernel *kernel =
	    ((const struct tare_sampled_row *)source)->kernel;
	const struct tare_stall_counts *met = row;

	return met->all || (kernel->exact && kernel->exact->at[met - kernel->instructions].warps);
}

void tare_pc_samples_csv(const struct tare_pc_samples_rows *rows, FILE *file)
{
	const struct tare_table *table = &tare_sampled_instructions_table;
	const struct tare_table_part part = { .on = TARE_ON_CSV, .keep = is_met_or_counted };

	tare_csv_put_ids(&(struct tare_csv_row){ .file = file }, table, NULL, part.on);
	for (size_t i = 0; i < rows->of->kernel_count; i++)
		tare_csv_put_rows(file, table, &rows->kernels[i], &part);
}
