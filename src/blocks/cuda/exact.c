// SPDX-License-Identifier: Apache-2.0
#include "blocks/cuda/exact.h"

#include "blocks/cuda/samples.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void add(struct tare_exact_counts *to, const struct tare_exact_counts *from)
{
	to->warps += from->warps;
	to->threads += from->threads;
}

// ---- launches

static void add_launches(const struct tare_pc_samples *samples, uint64_t name_hash,
                         struct tare_exact *exact)
{
	for (size_t i = 0; i < samples->exact_count; i++) {
		const struct samples_exact *each = &samples->exact[i];
		if (each->name_hash != name_hash || !each->counts)
			continue;
		exact->launches += each->launches;
		exact->warps += each->warps;
		exact->graphs += each->graphs;
	}
}

// The one process that counted it, or that did not; NULL: none, or several.
static const struct samples_exact *only(const struct tare_pc_samples *samples, uint64_t name_hash,
                                        bool counts)
{
	const struct samples_exact *found = NULL;

	for (size_t i = 0; i < samples->exact_count; i++) {
		const struct samples_exact *each = &samples->exact[i];
		if (each->name_hash != name_hash || (each->counts != 0) != counts)
			continue;
		if (found)
			return NULL;
		found = each;
	}
	return found;
}

// Launches are compared one with one; the first also took the time to put counters in, and is left
// out where there are others.
static void compare_times(const struct tare_pc_samples *samples, uint64_t name_hash,
                          struct tare_exact *exact)
{
	const struct samples_exact *plain = only(samples, name_hash, false),
	                           *counted = only(samples, name_hash, true);
	uint64_t times = SAMPLES_TIMES;

	if (!plain || !counted)
		return;
	times = plain->times < times ? plain->times : times;
	times = counted->times < times ? counted->times : times;
	exact->first = times == 1;
	for (uint64_t i = exact->first ? 0 : 1; i < times; i++) {
		if (!plain->time_ns[i] || !counted->time_ns[i])
			continue;
		exact->plain_ns += plain->time_ns[i];
		exact->counted_ns += counted->time_ns[i];
		exact->timed++;
	}
}

// ---- instructions

static int compare_opcodes(const void *a, const void *b)
{
	const struct tare_exact_opcode *x = a, *y = b;

	if (x->counts.warps != y->counts.warps)
		return x->counts.warps > y->counts.warps ? -1 : 1;
	return strcmp(x->name ? x->name : "", y->name ? y->name : "");
}

static int sum_opcodes(const struct tare_sampled_kernel *kernel, struct tare_exact *exact)
{
	exact->opcodes = calloc((size_t)kernel->count + 1, sizeof *exact->opcodes);
	if (!exact->opcodes)
		return -ENOMEM;
	for (uint32_t i = 0; i < kernel->count; i++) {
		struct tare_sass read = tare_sampled_sass(kernel, i);
		size_t at = 0;
		if (!exact->at[i].warps)
			continue;
		add(&exact->by_class[read.class], &exact->at[i]);
		// Names are of one table: the same one has the same place.
		while (at < exact->opcode_count && exact->opcodes[at].name != read.name)
			at++;
		if (at == exact->opcode_count)
			exact->opcodes[exact->opcode_count++].name = read.name;
		add(&exact->opcodes[at].counts, &exact->at[i]);
	}
	if (exact->opcode_count)
		qsort(exact->opcodes, exact->opcode_count, sizeof *exact->opcodes, compare_opcodes);
	return 0;
}

static int sum_blocks(const struct tare_sampled_kernel *kernel, struct tare_exact *exact)
{
	exact->blocks = calloc((size_t)kernel->split.count + 1, sizeof *exact->blocks);
	if (!exact->blocks)
		return -ENOMEM;
	for (uint32_t i = 0; i < kernel->split.count; i++) {
		struct tare_exact_block *block = &exact->blocks[i];
		const struct tare_exact_counts *first = &exact->at[kernel->split.at[i].first];
		block->executions = first->warps;
		block->even = true;
		for (uint32_t j = 0; j < kernel->split.at[i].count; j++) {
			block->even &= first[j].warps == first->warps;
			add(&block->all, &first[j]);
		}
		exact->uneven += !block->even;
	}
	return 0;
}

static int compare_places(const void *a, const void *b)
{
	const struct tare_exact_line *x = a, *y = b;

	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

static int compare_lines(const void *a, const void *b)
{
	const struct tare_exact_line *x = a, *y = b;

	if (x->counts.warps != y->counts.warps)
		return x->counts.warps > y->counts.warps ? -1 : 1;
	return compare_places(a, b);
}

static int sum_lines(const struct tare_sampled_kernel *kernel, struct tare_exact *exact)
{
	struct tare_exact_line *lines = calloc((size_t)kernel->count + 1, sizeof *lines);
	size_t count = 0, joined = 0;

	exact->lines = lines;
	if (!lines)
		return -ENOMEM;
	for (uint32_t i = 0; i < kernel->count; i++) {
		const struct tare_elf_row *row =
		    tare_cubin_line(kernel->cubin, kernel->function, tare_sampled_pc(kernel, i));
		if (row && exact->at[i].warps)
			lines[count++] =
			    (struct tare_exact_line){ row->file, row->line, exact->at[i] };
	}
	if (count)
		qsort(lines, count, sizeof *lines, compare_places);
	for (size_t i = 0; i < count; i++)
		if (joined && compare_places(&lines[joined - 1], &lines[i]) == 0)
			add(&lines[joined - 1].counts, &lines[i].counts);
		else
			lines[joined++] = lines[i];
	if (joined)
		qsort(lines, joined, sizeof *lines, compare_lines);
	exact->line_count = joined;
	return 0;
}

int tare_exact_work_out(const struct tare_pc_samples *samples, struct tare_sampled_kernel *kernel,
                        uint64_t name_hash)
{
	struct tare_exact *exact = kernel->exact;
	int status = 0;

	add_launches(samples, name_hash, exact);
	compare_times(samples, name_hash, exact);
	for (uint32_t i = 0; i < kernel->count; i++)
		add(&exact->all, &exact->at[i]);
	exact->begun = kernel->count && tare_sampled_pc(kernel, 0) == 0 ? exact->at[0].warps : 0;
	exact->whole = TARE_EXACT_UNKNOWN;
	if (!kernel->blocks)
		return 0;
	if (!exact->graphs && !tare_sampled_is_looped(kernel))
		exact->whole = exact->begun == exact->warps ? TARE_EXACT_WHOLE : TARE_EXACT_DIFFERS;
	status = sum_opcodes(kernel, exact);
	status = status ?: sum_blocks(kernel, exact);
	return status == 0 ? sum_lines(kernel, exact) : status;
}

void tare_exact_free(struct tare_exact *exact)
{
	if (!exact)
		return;
	free(exact->at);
	free(exact->opcodes);
	free(exact->blocks);
	free(exact->lines);
	free(exact);
}
