// SPDX-License-Identifier: Apache-2.0
// One row an instruction that was met or counted, as CSV (RFC 4180).
#include "base/csv.h"
#include "blocks/cuda/report/write.h"

#include <inttypes.h>

enum { TEXT = 700 };

// The block of an instruction, from which the search goes on; nothing where blocks are not known.
static void write_block(const struct tare_sampled_kernel *kernel, uint32_t instruction,
                        uint32_t *block, FILE *file)
{
	while (*block + 1 < kernel->split.count &&
	       kernel->split.at[*block + 1].first <= instruction)
		++*block;
	if (kernel->split.count)
		fprintf(file, ",%" PRIu32, *block);
	else
		fputc(',', file);
}

static void write_kernel(const struct tare_sampled_kernel *kernel, FILE *file)
{
	uint32_t block = 0;

	for (uint32_t i = 0; i < kernel->count; i++) {
		const struct tare_stall_counts *met = &kernel->instructions[i];
		const struct tare_cubin_row *row =
		    kernel->function ? tare_cubin_line(kernel->cubin, kernel->function,
		                                       tare_sampled_pc(kernel, i))
		                     : NULL;
		char text[TEXT];
		if (!met->all && !(kernel->exact && kernel->exact->at[i].warps))
			continue;
		tare_csv_text(tare_sampled_name(kernel), file);
		write_block(kernel, i, &block, file);
		tare_sampled_instruction(kernel, i, text, sizeof text);
		fprintf(file, ",%" PRIu64 ",", tare_sampled_pc(kernel, i));
		tare_csv_text(text, file);
		fputc(',', file);
		if (row) {
			tare_csv_text(kernel->cubin->files[row->file], file);
			fprintf(file, ",%" PRIu32, row->line);
		} else {
			fputc(',', file);
		}
		fprintf(file, ",%" PRIu64, met->all);
		for (int j = 0; j < TARE_STALLS; j++)
			fprintf(file, ",%" PRIu64, met->by[j]);
		if (kernel->exact)
			fprintf(file, ",%" PRIu64 ",%" PRIu64, kernel->exact->at[i].warps,
			        kernel->exact->at[i].threads);
		else
			fputs(",,", file);
		fputs("\r\n", file);
	}
}

int tare_pc_samples_csv(const struct tare_pc_samples *samples, FILE *file)
{
	fputs("kernel,block,pc,instruction,file,line,samples", file);
	for (int i = 0; i < TARE_STALLS; i++)
		fprintf(file, ",%s", tare_stall_name((enum tare_stall)i));
	fputs(",executions,lanes\r\n", file);
	for (size_t i = 0; i < samples->kernel_count; i++)
		write_kernel(&samples->kernels[i], file);
	return 0;
}
