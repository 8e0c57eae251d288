// SPDX-License-Identifier: Apache-2.0
// One row a basic block that ran, as CSV (RFC 4180).
#include "base/csv.h"
#include "blocks/cuda/report/write.h"
#include "blocks/report/options.h"
#include "blocks/report/write.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

static void write_header(FILE *file)
{
	fputs("kernel,api,function,block,first_line,last_line,executions,instructions_once", file);
	for (int i = 0; i < TARE_BLOCKS_KINDS; i++)
		fprintf(file, ",%s_once", tare_blocks_kind_name((enum tare_blocks_kind)i));
	for (int i = 0; i < TARE_BLOCKS_SPACES; i++) {
		const char *space = tare_blocks_space_name((enum tare_blocks_space)i);
		fprintf(file,
		        ",%s_loads_once,%s_stores_once,%s_loaded_bytes_once,%s_stored_bytes_once",
		        space, space, space, space);
	}
	fputs(",fp16_flops_once,fp32_flops_once,fp64_flops_once\r\n", file);
}

static void write_tally(const struct tare_blocks_tally *tally, FILE *file)
{
	fprintf(file, ",%" PRIu64, tare_blocks_instructions(tally));
	for (int i = 0; i < TARE_BLOCKS_KINDS; i++)
		fprintf(file, ",%" PRIu64, tally->kinds[i]);
	for (int i = 0; i < TARE_BLOCKS_SPACES; i++)
		fprintf(file, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, tally->loads[i],
		        tally->stores[i], tally->loaded_bytes[i], tally->stored_bytes[i]);
	for (int i = 0; i < TARE_BLOCKS_WIDTHS; i++)
		fprintf(file, ",%" PRIu64, tally->flops[i]);
	fputs("\r\n", file);
}

// Empty: not known.
static void write_line(uint32_t line, FILE *file)
{
	if (line)
		fprintf(file, ",%" PRIu32, line);
	else
		fputc(',', file);
}

static int write_kernel(const struct tare_blocks_kernel *kernel, FILE *file)
{
	const struct tare_blocks_module *module = &kernel->build->module;
	size_t count;
	uint32_t *order = tare_blocks_order(kernel, &count);

	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		const struct tare_blocks_block *block = &module->blocks[order[i]];
		uint32_t first, last;
		tare_blocks_span(module, order[i], &first, &last);
		tare_csv_text(kernel->name, file);
		fputs(kernel->api == BLOCKS_LEVEL_ZERO ? ",Level Zero," : ",OpenCL,", file);
		tare_csv_text(module->functions[block->function].name, file);
		fprintf(file, ",%" PRIu32, order[i]);
		write_line(first, file);
		write_line(last, file);
		fprintf(file, ",%" PRIu64, kernel->executions[order[i]]);
		write_tally(&block->tally, file);
	}
	free(order);
	return 0;
}

int tare_blocks_csv(const struct tare_blocks_document *document, FILE *file)
{
	const struct tare_blocks_profile *profile = document->profile;
	uint64_t counted, launches;
	int status = 0;

	// One table: of the sets of options, where there are any; else of what was counted, if
	// anything was.
	if (document->trials->set_count) {
		tare_blocks_options_csv(document->trials, file);
		return 0;
	}
	tare_blocks_coverage(profile, &counted, &launches);
	if (!launches && document->samples->used)
		return tare_pc_samples_csv(document->samples, file);
	write_header(file);
	for (size_t i = 0; status == 0 && i < profile->kernel_count; i++)
		if (profile->kernels[i].counted && profile->kernels[i].executions)
			status = write_kernel(&profile->kernels[i], file);
	return status;
}
