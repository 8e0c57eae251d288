// SPDX-License-Identifier: Apache-2.0
// As blocks/module/uniform.c does for SPIR-V: all is taken to be the same for a whole group until
// something speaks against it. A register may be set at several places; in a block that not all
// threads pass equally often that makes it differ.
#include "blocks/module/graph.h"
#include "blocks/ptx/ptx.h"

#include <errno.h>
#include <stdlib.h>

struct finding {
	const struct ptx *ptx;
	struct graph graph;
	struct tare_blocks_way *ways; // of the function's blocks
	bool *differs;                // of each register
	bool *split;                  // of each block: its branch was seen to split
	bool more;
};

static bool operands_differ(const struct finding *finding, const struct ptx_step *step)
{
	const uint32_t *registers = finding->ptx->registers;
	uint32_t first = step->first + step->results;

	for (uint32_t i = 0; i < step->operands; i++)
		if (finding->differs[registers[first + i]])
			return true;
	return step->differs;
}

static void look_at(struct finding *finding, const struct ptx_step *step)
{
	uint32_t block = step->block - finding->graph.function->first_block;
	bool differs = operands_differ(finding, step);

	if (step->branches && differs && !finding->split[block]) {
		graph_split(&finding->graph, block, finding->ways);
		finding->split[block] = finding->more = true;
	}
	if (!differs && finding->ways[block].uniform)
		return;
	for (uint32_t i = 0; i < step->results; i++) {
		bool *of = &finding->differs[finding->ptx->registers[step->first + i]];
		finding->more |= !*of;
		*of = true;
	}
}

static void find(struct finding *finding, size_t first, size_t end)
{
	do {
		finding->more = false;
		for (size_t i = first; i < end; i++)
			look_at(finding, &finding->ptx->steps[i]);
	} while (finding->more);
}

// One kernel; *step moves behind its steps.
static int find_in(struct ptx *ptx, const struct tare_blocks_function *function, bool *differs,
                   size_t first, size_t end)
{
	struct finding finding = { .ptx = ptx, .differs = differs };
	int status = graph_make(&ptx->module, function, &finding.graph);

	finding.ways = calloc((size_t)function->blocks + 1, sizeof *finding.ways);
	finding.split = calloc((size_t)function->blocks + 1, sizeof *finding.split);
	if (!finding.ways || !finding.split)
		status = -ENOMEM;
	for (uint32_t i = 0; status == 0 && i < function->blocks; i++)
		finding.ways[i].uniform = true;
	if (status == 0)
		find(&finding, first, end);
	for (uint32_t i = 0; status == 0 && i < function->blocks; i++)
		ptx->module.uniform[function->first_block + i] = finding.ways[i].uniform;
	free(finding.ways);
	free(finding.split);
	graph_free(&finding.graph);
	return status;
}

bool ptx_find_uniform(struct ptx *ptx)
{
	bool *differs = calloc((size_t)ptx->register_count + 1, sizeof *differs);
	size_t step = 0;
	int status = 0;

	ptx->module.uniform = calloc((size_t)ptx->module.block_count + 1, sizeof(bool));
	if (!differs || !ptx->module.uniform)
		status = -ENOMEM;
	for (uint32_t i = 0; status != -ENOMEM && i < ptx->module.function_count; i++) {
		const struct tare_blocks_function *function = &ptx->module.functions[i];
		size_t end = step;
		while (end < ptx->step_count &&
		       ptx->steps[end].block < function->first_block + function->blocks)
			end++;
		if (function->kernel)
			status = find_in(ptx, function, differs, step, end);
		step = end;
	}
	free(differs);
	return status != -ENOMEM;
}
