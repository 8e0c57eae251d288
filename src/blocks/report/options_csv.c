// SPDX-License-Identifier: Apache-2.0
// Sets of build options as CSV (RFC 4180): a row a kernel and set, the first of a set for all
// kernels together. Empty: not known.
#include "base/csv.h"
#include "blocks/report/options.h"
#include "result/kernels.h"

#include <inttypes.h>

static void write_number(uint64_t number, FILE *file)
{
	if (number == UINT64_MAX)
		fputc(',', file);
	else
		fprintf(file, ",%" PRIu64, number);
}

static void write_ns(double ns, FILE *file)
{
	if (ns > 0)
		fprintf(file, ",%.9g", ns);
	else
		fputc(',', file);
}

static void write_set(const struct tare_blocks_set *set, FILE *file)
{
	fputc(',', file);
	if (set->options)
		tare_csv_text(set->options, file);
	fputc(',', file);
	if (set->why.code)
		tare_csv_text(set->why.message, file);
}

static void write_times(const struct tare_blocks_cell *cell, uint32_t rounds, FILE *file)
{
	fprintf(file, ",%" PRIu64, cell->launches);
	write_ns(tare_blocks_cell_ns(cell, rounds), file);
	if (cell->ratio.known)
		fprintf(file, ",%.6g,%.6g,%.6g", cell->ratio.value, cell->ratio.low,
		        cell->ratio.high);
	else
		fputs(",,,", file);
	fprintf(file, ",%s,%s",
	        cell->told == TARE_BLOCKS_NOT_KNOWN ? "" : tare_blocks_told_apart_name(cell->told),
	        cell->best ? "yes" : "no");
}

static void write_facts(const struct tare_blocks_cell *cell, FILE *file)
{
	write_number(cell->multiple, file);
	write_number(cell->sub_group, file);
	write_number(cell->private_bytes, file);
	write_number(cell->local_bytes, file);
	write_number(cell->spill_bytes, file);
	write_number(cell->counted ? tare_blocks_instructions(&cell->counted->tally) : UINT64_MAX,
	             file);
	for (int i = 0; i < TARE_BLOCKS_KINDS; i++)
		write_number(cell->counted ? cell->counted->tally.kinds[i] : UINT64_MAX, file);
	for (int i = 0; i < TARE_BLOCKS_SPACES; i++) {
		write_number(cell->counted ? cell->counted->tally.loads[i] : UINT64_MAX, file);
		write_number(cell->counted ? cell->counted->tally.stores[i] : UINT64_MAX, file);
	}
}

static void write_header(FILE *file)
{
	fputs("kernel,set,options,why,launches,time_ns,ratio,ratio_low,ratio_high,told,best,"
	      "preferred_multiple,sub_group,private_bytes,local_bytes,spill_bytes,instructions",
	      file);
	for (int i = 0; i < TARE_BLOCKS_KINDS; i++)
		fprintf(file, ",%s", tare_blocks_kind_name((enum tare_blocks_kind)i));
	for (int i = 0; i < TARE_BLOCKS_SPACES; i++) {
		const char *space = tare_blocks_space_name((enum tare_blocks_space)i);
		fprintf(file, ",%s_loads,%s_stores", space, space);
	}
	fputs("\r\n", file);
}

void tare_blocks_options_csv(const struct tare_blocks_trials *trials, FILE *file)
{
	write_header(file);
	for (size_t name = 0; name < trials->name_count; name++) {
		if (!tare_blocks_was_launched(trials, name))
			continue;
		for (uint32_t i = 0; i < trials->set_count; i++) {
			const struct tare_blocks_set *set = &trials->sets[i];
			if (name)
				tare_csv_text(trials->names[name], file);
			fprintf(file, ",%c", tare_kernel_set_letter((int64_t)i));
			write_set(set, file);
			write_times(&set->cells[name], trials->rounds, file);
			write_facts(&set->cells[name], file);
			fputs("\r\n", file);
		}
	}
}
