// SPDX-License-Identifier: Apache-2.0
// For tests of PTX with counters in it:
//     counting FILE argument|module OUT       writes it with counters; prints rows, counters of a
//     row, and names of
//                                             variables
//     counting FILE tell KERNEL < COUNTERS    prints what these sums of a kernel's rows tell
//     counting FILE uniform KERNEL            prints its counters: how many the first thread of a
//     group adds for all
#include "blocks/module/calls.h"
#include "blocks/ptx/instrument.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *read_text(const char *path, size_t *bytes)
{
	FILE *file = fopen(path, "rb");
	char *text = file ? malloc(16 << 20) : NULL;

	*bytes = text ? fread(text, 1, 16 << 20, file) : 0;
	if (file)
		fclose(file);
	return text;
}

static int write_counted(const struct ptx *ptx, const struct tare_blocks_plan *plan, char **argv)
{
	struct tare_blocks_instrumented made;
	struct tare_error error = { 0 };
	char variables[256];
	enum ptx_memory memory =
	    strcmp(argv[2], "module") == 0 ? PTX_MEMORY_MODULE : PTX_MEMORY_ARGUMENT;

	if (ptx_instrument(ptx, plan, memory, &made, &error) < 0) {
		fprintf(stderr, "%s\n", error.message);
		return 1;
	}
	FILE *file = fopen(argv[3], "wb");
	fwrite(made.data, 1, made.bytes - 1, file);
	fclose(file);
	free(made.data);
	ptx_variables(ptx, variables, sizeof variables);
	printf("%" PRIu32 " %" PRIu32 " %s\n", made.rows, made.row_counters, variables);
	return 0;
}

static void print_tally(const struct tare_blocks_tally *tally)
{
	for (int i = 0; i < TARE_BLOCKS_KINDS; i++)
		printf("%s\t%" PRIu64 "\n", tare_blocks_kind_names[i], tally->kinds[i]);
	for (int i = 0; i < TARE_BLOCKS_SPACES; i++) {
		const char *name = tare_blocks_space_names[i];
		printf("load %s\t%" PRIu64 "\nload bytes %s\t%" PRIu64 "\n", name, tally->loads[i],
		       name, tally->loaded_bytes[i]);
		printf("store %s\t%" PRIu64 "\nstore bytes %s\t%" PRIu64 "\n", name,
		       tally->stores[i], name, tally->stored_bytes[i]);
	}
	for (int i = 0; i < TARE_BLOCKS_WIDTHS; i++)
		printf("operations %s\t%" PRIu64 "\n", tare_blocks_width_names[i], tally->flops[i]);
	printf("instructions\t%" PRIu64 "\n", tare_blocks_instructions(tally));
}

static int tell(const struct ptx *ptx, const struct tare_blocks_plan *plan, const char *kernel)
{
	const struct tare_blocks_module *module = &ptx->module;
	uint64_t *values = calloc(plan->counter_count + 1, sizeof *values);
	struct tare_blocks_tally tally = { 0 };

	for (uint32_t i = 0; i < plan->counter_count; i++)
		if (scanf("%" SCNu64, &values[i]) != 1)
			return 1;
	tare_blocks_plan_complete(plan, module, values);
	for (uint32_t i = 0; i < module->block_count; i++) {
		uint64_t count = tare_blocks_plan_count(plan, i, values);
		const struct tare_blocks_function *function =
		    &module->functions[module->blocks[i].function];
		tare_blocks_add(&tally, &module->blocks[i].tally, count);
		if (function->first_block == i && strcmp(function->name, kernel) == 0)
			printf("entered\t%" PRIu64 "\n", count);
	}
	print_tally(&tally);
	free(values);
	return 0;
}

static int uniform(const struct ptx *ptx, const struct tare_blocks_plan *plan, const char *kernel)
{
	const struct tare_blocks_module *module = &ptx->module;
	unsigned all = 0, group = 0;

	for (uint32_t i = 0; i < module->block_count; i++) {
		uint32_t counter = plan->counters[i];
		if (strcmp(module->functions[module->blocks[i].function].name, kernel) != 0 ||
		    counter == TARE_BLOCKS_DERIVED)
			continue;
		all++;
		group += plan->kept[counter].keeper == TARE_BLOCKS_KEPT_BY_GROUP;
	}
	printf("%u of %u\n", group, all);
	return 0;
}

int main(int argc, char **argv)
{
	struct tare_blocks_plan plan = { .terms = NULL };
	struct tare_error error = { 0 };
	struct ptx ptx = { .text = NULL };
	size_t bytes;

	if (argc < 4)
		return 2;
	char *text = read_text(argv[1], &bytes);
	int status = text ? ptx_read(text, bytes, &ptx, &error) : -1;
	if (status == 0)
		status = tare_blocks_plan_make(&ptx.module, &plan, &error);
	if (status < 0)
		fprintf(stderr, "%s\n", error.message);
	else if (strcmp(argv[2], "tell") == 0)
		status = tell(&ptx, &plan, argv[3]);
	else if (strcmp(argv[2], "uniform") == 0)
		status = uniform(&ptx, &plan, argv[3]);
	else
		status = write_counted(&ptx, &plan, argv);
	free(text);
	tare_blocks_plan_free(&plan);
	ptx_free(&ptx);
	return status != 0;
}
