// SPDX-License-Identifier: Apache-2.0
// Of a kernel that was counted: its blocks by cost, its lines and its loops.
#include "blocks/profile.h"

#include <stdlib.h>
#include <string.h>

// ---- blocks

struct cost {
	uint64_t instructions;
	uint32_t block;
};

static int by_cost(const void *left, const void *right)
{
	const struct cost *a = left, *b = right;

	if (a->instructions != b->instructions)
		return (a->instructions < b->instructions) - (a->instructions > b->instructions);
	return (a->block > b->block) - (a->block < b->block);
}

uint32_t *tare_blocks_order(const struct tare_blocks_kernel *kernel, size_t *count)
{
	const struct tare_blocks_module *module = &kernel->build->module;
	struct cost *costs = calloc(module->block_count + 1, sizeof *costs);
	uint32_t *order = calloc(module->block_count + 1, sizeof *order);

	*count = 0;
	for (uint32_t i = 0; costs && order && i < module->block_count; i++)
		if (kernel->executions[i])
			costs[(*count)++] =
			    (struct cost){ kernel->executions[i] *
				               tare_blocks_instructions(&module->blocks[i].tally),
				           i };
	if (costs && *count)
		qsort(costs, *count, sizeof *costs, by_cost);
	for (size_t i = 0; costs && order && i < *count; i++)
		order[i] = costs[i].block;
	free(costs);
	return order;
}

uint32_t tare_blocks_span(const struct tare_blocks_module *module, uint32_t block, uint32_t *first,
                          uint32_t *last)
{
	const struct tare_blocks_block *of = &module->blocks[block];
	uint32_t file = 0;

	*first = *last = 0;
	for (uint32_t i = 0; i < of->pieces; i++) {
		const struct tare_blocks_piece *piece = &module->pieces[of->first_piece + i];
		if (piece->line == 0 || (file && piece->file != file))
			continue;
		file = piece->file;
		*first = *first && *first < piece->line ? *first : piece->line;
		*last = *last > piece->line ? *last : piece->line;
	}
	return file;
}

// ---- lines

static int by_place(const void *left, const void *right)
{
	const struct tare_blocks_line *a = left, *b = right;

	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	return (a->line > b->line) - (a->line < b->line);
}

static int by_instructions(const void *left, const void *right)
{
	const struct tare_blocks_line *a = left, *b = right;
	uint64_t first = tare_blocks_instructions(&a->tally),
	         second = tare_blocks_instructions(&b->tally);

	return first != second ? (first < second) - (first > second) : by_place(left, right);
}

struct tare_blocks_line *tare_blocks_lines(const struct tare_blocks_kernel *kernel, size_t *count)
{
	const struct tare_blocks_module *module = &kernel->build->module;
	struct tare_blocks_line *lines = calloc(module->piece_count + 1, sizeof *lines);
	size_t used = 0;

	*count = 0;
	if (!lines)
		return NULL;
	for (uint32_t i = 0; i < module->block_count; i++) {
		const struct tare_blocks_block *block = &module->blocks[i];
		for (uint32_t k = 0; kernel->executions[i] && k < block->pieces; k++) {
			const struct tare_blocks_piece *piece =
			    &module->pieces[block->first_piece + k];
			lines[used].file = piece->file;
			lines[used].line = piece->line;
			lines[used].executions = kernel->executions[i];
			tare_blocks_add(&lines[used++].tally, &piece->tally, kernel->executions[i]);
		}
	}
	if (used)
		qsort(lines, used, sizeof *lines, by_place);
	for (size_t i = 0; i < used; i++) {
		if (*count && by_place(&lines[*count - 1], &lines[i]) == 0) {
			struct tare_blocks_line *same = &lines[*count - 1];
			tare_blocks_add(&same->tally, &lines[i].tally, 1);
			if (lines[i].executions > same->executions)
				same->executions = lines[i].executions;
		} else {
			lines[(*count)++] = lines[i];
		}
	}
	if (*count)
		qsort(lines, *count, sizeof *lines, by_instructions);
	return lines;
}
