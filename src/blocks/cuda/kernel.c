// SPDX-License-Identifier: Apache-2.0
// Blocks and lines of a kernel that was sampled, and what follows from its samples.
//
// A warp that is met is in one state: it issues (`selected`), or it waits. It issues each
// instruction in one cycle. So of a block of n instructions that was met N times, S of them while
// it issued, a pass takes n × N / S cycles of a warp; and its executions are to those of the first
// block, which each warp executes once, as S / n are to the first block's. The hardware books the
// first instruction behind a branch that is taken elsewhere (on the one that follows the branch):
// blocks' first instructions are left out of both.
#include "blocks/cuda/samples.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

enum { LEAST_ISSUES = 100 };
static const double interval = 1.96; // standard deviations of 95 %

// ---- blocks

// All but the first instruction's.
static struct tare_stall_counts rest_of(const struct tare_sampled_kernel *kernel,
                                        const struct tare_sampled_block *block)
{
	struct tare_stall_counts rest = { 0 };

	for (uint32_t i = 1; i < block->count; i++)
		tare_stalls_add(&rest, &kernel->instructions[block->first + i]);
	return rest;
}

static struct tare_sampled with_error(double value, double relative)
{
	return (struct tare_sampled){ .known = true,
		                      .value = value,
		                      .low = value * fmax(0, 1 - interval * relative),
		                      .high = value * (1 + interval * relative) };
}

static struct tare_sampled cycles_of(const struct tare_sampled_kernel *kernel,
                                     const struct tare_sampled_block *block)
{
	struct tare_stall_counts rest = rest_of(kernel, block);
	double met = (double)rest.all, issued = (double)rest.by[TARE_STALL_SELECTED];

	if (rest.by[TARE_STALL_SELECTED] < LEAST_ISSUES)
		return (struct tare_sampled){ .known = false };
	return with_error((block->count - 1) * met / issued, sqrt((1 - issued / met) / issued));
}

bool tare_sampled_is_looped(const struct tare_sampled_kernel *kernel)
{
	for (uint32_t i = 0; i < kernel->count; i++) {
		uint64_t pc = tare_sampled_pc(kernel, i);
		struct tare_sass read =
		    tare_sass_read(kernel->function->code + pc, kernel->cubin->sm, pc);
		if (read.has_target && read.target == 0)
			return true;
	}
	return false;
}

static int work_out_blocks(struct tare_sampled_kernel *kernel)
{
	int status = tare_sass_split(kernel->function->code, kernel->function->bytes,
	                             kernel->cubin->sm, &kernel->split);

	kernel->blocks = calloc((size_t)kernel->split.count + 1, sizeof *kernel->blocks);
	if (status < 0 || !kernel->blocks)
		return -ENOMEM;
	for (uint32_t i = 0; i < kernel->split.count; i++) {
		struct tare_sampled_block *block = &kernel->blocks[i];
		block->first = kernel->split.at[i].first;
		block->count = kernel->split.at[i].count;
		for (uint32_t j = 0; j < block->count; j++)
			tare_stalls_add(&block->stalls, &kernel->instructions[block->first + j]);
		block->cycles = cycles_of(kernel, block);
	}
	return 0;
}

// ---- lines

static int compare_places(const void *a, const void *b)
{
	const struct tare_sampled_line *x = a, *y = b;

	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

static int compare_lines(const void *a, const void *b)
{
	const struct tare_sampled_line *x = a, *y = b;

	if (x->stalls.all != y->stalls.all)
		return x->stalls.all > y->stalls.all ? -1 : 1;
	return compare_places(a, b);
}

static int work_out_lines(struct tare_sampled_kernel *kernel)
{
	size_t count = 0, joined = 0;
	struct tare_sampled_line *lines = calloc((size_t)kernel->count + 1, sizeof *lines);

	if (!lines)
		return -ENOMEM;
	kernel->lines = lines;
	for (uint32_t i = 0; i < kernel->count; i++) {
		const struct tare_stall_counts *met = &kernel->instructions[i];
		const struct tare_elf_row *row =
		    tare_cubin_line(kernel->cubin, kernel->function, tare_sampled_pc(kernel, i));
		if (!met->all)
			continue;
		if (row)
			lines[count++] = (struct tare_sampled_line){ row->file, row->line, *met };
		else
			kernel->of_no_line += met->all;
	}
	if (count)
		qsort(lines, count, sizeof *lines, compare_places);
	for (size_t i = 0; i < count; i++)
		if (joined && compare_places(&lines[joined - 1], &lines[i]) == 0)
			tare_stalls_add(&lines[joined - 1].stalls, &lines[i].stalls);
		else
			lines[joined++] = lines[i];
	if (joined)
		qsort(lines, joined, sizeof *lines, compare_lines);
	kernel->line_count = joined;
	return 0;
}

int tare_sampled_kernel_work_out(struct tare_sampled_kernel *kernel)
{
	if (!kernel->function || tare_sass_known(kernel->cubin->sm) == TARE_SASS_FOREIGN)
		return 0;
	for (uint32_t i = 0; i < kernel->count; i++) {
		uint64_t pc = tare_sampled_pc(kernel, i);
		enum tare_sass_class class =
		    tare_sass_read(kernel->function->code + pc, kernel->cubin->sm, pc).class;
		kernel->issued[class] += kernel->instructions[i].by[TARE_STALL_SELECTED];
	}
	int status = work_out_blocks(kernel);
	return status == 0 ? work_out_lines(kernel) : status;
}
