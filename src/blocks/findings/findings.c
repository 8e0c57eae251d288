// SPDX-License-Identifier: Apache-2.0
#include "blocks/findings/findings.h"

#include <stdlib.h>

#define DEVICE "What a change saves is the device's to tell."

const struct tare_blocks_rule tare_blocks_rules[TARE_BLOCKS_ADVICE] = {
	[TARE_BLOCKS_DIVERGENT] = {
		.id = "divergent-branch",
		.what = "neighbouring work-items take different ways",
		.advice = "let neighbours take the same way: sort the work by it, or compute both "
		          "and select",
		.of = "lanes, where 32 neighbours run side by side, pass idle",
		.least = 0.2,
		.saves = "A change can save these; where loops are in loops there may be more.",
	},
	[TARE_BLOCKS_SCATTERED] = {
		.id = "uncoalesced-access",
		.what = "neighbouring work-items touch memory far apart",
		.advice = "let work-item i touch element i: swap the dimensions, or store the "
		          "parts of a struct apart",
		.of = "lines of 64 bytes that neighbours touch are more than their bytes take",
		.least = 0.2,
		.most_known = true,
		.saves = "That is the most of them that a change can save.",
	},
	[TARE_BLOCKS_DOUBLES] = {
		.id = "double-constant",
		.what = "single-precision values are computed in double precision",
		.advice = "write constants as floats (1.5f), or build with "
		          "-cl-single-precision-constant",
		.of = "instructions are in doubles, or convert to and from them",
		.least = 0.02,
		.saves = "The conversions go, and the others become single precision. " DEVICE,
	},
	[TARE_BLOCKS_DIVISIONS] = {
		.id = "integer-division",
		.what = "integers are divided in a loop by a number that the compiler does not know",
		.advice = "make the divisor a constant, or a power of two and shift; or count "
		          "instead of dividing",
		.of = "instructions are such divisions, each of many on most devices",
		.least = 0.01,
		.saves = DEVICE,
	},
	[TARE_BLOCKS_FUNCTIONS] = {
		.id = "special-functions",
		.what = "functions are computed to full precision",
		.advice = "use the native_ or half_ form where its precision is enough, or build "
		          "with -cl-fast-relaxed-math",
		.of = "instructions are such functions, each of many on most devices",
		.least = 0.02,
		.saves = DEVICE,
	},
	[TARE_BLOCKS_BARRIERS] = {
		.id = "frequent-barriers",
		.what = "work-items wait for their group every few instructions",
		.advice = "do more between two barriers: more numbers a work-item, or the "
		          "operations of a sub-group, which need none",
		.of = "instructions are barriers or fences, each of which a whole group waits at",
		.least = 0.05,
		.saves = DEVICE,
	},
	[TARE_BLOCKS_UNUSED] = {
		.id = "unused-lanes",
		.what = "work-groups do not fill the width that the driver tells of",
		.advice = "make work-groups a multiple of that width, as the report names it",
		.of = "lanes of that width have no work-item",
		.least = 0.1,
		.most_known = true,
		.saves = "That is the most of them that a change can fill.",
	},
	[TARE_BLOCKS_SPILLS] = {
		.id = "spills",
		.what = "registers do not hold what the kernel keeps",
		.advice = "keep fewer values alive at once: smaller private arrays, whose indices "
		          "the compiler knows, less unrolling, or one value after another",
		.of = "memory is private to each hardware thread",
		.saves = DEVICE,
	},
};

static int by_cost(const void *left, const void *right)
{
	const struct tare_blocks_place_of *a = left, *b = right;

	if (a->cost != b->cost)
		return (a->cost < b->cost) - (a->cost > b->cost);
	return (a->line > b->line) - (a->line < b->line);
}

// ---- by the sample

static void find_divergence(const struct tare_blocks_kernel *kernel,
                            const struct tare_blocks_sampled *sampled,
                            struct tare_blocks_finding *finding)
{
	const struct tare_blocks_module *module = &kernel->build->module;
	const struct tare_blocks_function *function = &module->functions[sampled->function];

	if (!sampled->all.offered)
		return;
	finding->executions = sampled->all.offered - sampled->all.used;
	finding->share = (double)finding->executions / (double)sampled->all.offered;
	for (uint32_t i = function->first_block; i < function->first_block + function->blocks;
	     i++) {
		const struct tare_blocks_block *block = &module->blocks[i];
		uint64_t idle = sampled->lanes[i].offered - sampled->lanes[i].used;
		for (uint32_t k = 0; k < block->pieces; k++) {
			const struct tare_blocks_piece *piece =
			    &module->pieces[block->first_piece + k];
			tare_blocks_place_add(finding, piece->file, piece->line,
			                      idle * tare_blocks_instructions(&piece->tally));
		}
	}
}

// Each access counts by how often it was executed.
static void find_scattered(const struct tare_blocks_sampled *sampled,
                           struct tare_blocks_finding *finding)
{
	double lines = 0, lost = 0;

	for (uint32_t i = 0; i < sampled->accesses; i++) {
		const struct tare_blocks_access *access = &sampled->access[i];
		if (!access->sub_groups)
			continue;
		double each = (double)access->executions / (double)access->sub_groups;
		lines += each * (double)access->lines;
		if (!tare_blocks_is_scattered(access))
			continue;
		double idle = each * (double)(access->lines - access->fewest);
		lost += idle;
		finding->executions += access->lines - access->fewest;
		tare_blocks_place_add(finding, access->site.file, access->site.line,
		                      (uint64_t)idle);
	}
	finding->share = lines > 0 ? lost / lines : 0;
}

// ---- by what is executed

static void find_barriers(const struct tare_blocks_kernel *kernel,
                          struct tare_blocks_finding *finding)
{
	const struct tare_blocks_module *module = &kernel->build->module;
	uint64_t all = tare_blocks_instructions(&kernel->tally);

	finding->executions = kernel->tally.kinds[TARE_BLOCKS_BARRIER];
	finding->share = all ? (double)finding->executions / (double)all : 0;
	for (uint32_t i = 0; i < module->block_count; i++) {
		const struct tare_blocks_block *block = &module->blocks[i];
		for (uint32_t k = 0; kernel->executions[i] && k < block->pieces; k++) {
			const struct tare_blocks_piece *piece =
			    &module->pieces[block->first_piece + k];
			uint64_t barriers = piece->tally.kinds[TARE_BLOCKS_BARRIER];
			if (barriers)
				tare_blocks_place_add(finding, piece->file, piece->line,
				                      barriers * kernel->executions[i]);
		}
	}
}

// By the sizes of work-groups alone.
static void find_unused(const struct tare_blocks_kernel *kernel,
                        struct tare_blocks_finding *finding)
{
	if (kernel->lanes_offered <= kernel->lanes_used)
		return;
	finding->executions = kernel->lanes_offered - kernel->lanes_used;
	finding->share = (double)finding->executions / (double)kernel->lanes_offered;
}

// ---- the whole

// Shares are of unlike things. How many times it is the share from which a finding is raised, which
// is less where each instruction takes long, is what they have in common.
static double weight_of(const struct tare_blocks_finding *finding)
{
	return finding->share / tare_blocks_rules[finding->advice].least;
}

static void add_finding(struct tare_blocks_findings *findings,
                        const struct tare_blocks_finding *finding)
{
	uint32_t at = findings->count++;
	for (; at > 0 && weight_of(&findings->at[at - 1]) < weight_of(finding); at--)
		findings->at[at] = findings->at[at - 1];
	findings->at[at] = *finding;
}

int tare_blocks_find(const struct tare_blocks_kernel *kernel,
                     const struct tare_blocks_sampled *sampled,
                     struct tare_blocks_findings *findings)
{
	struct tare_blocks_finding found[TARE_BLOCKS_ADVICE] = { 0 };

	*findings = (struct tare_blocks_findings){ .count = 0 };
	if (sampled->work_items) {
		find_divergence(kernel, sampled, &found[TARE_BLOCKS_DIVERGENT]);
		find_scattered(sampled, &found[TARE_BLOCKS_SCATTERED]);
	}
	int status = tare_blocks_find_arithmetic(kernel, found);
	find_barriers(kernel, &found[TARE_BLOCKS_BARRIERS]);
	find_unused(kernel, &found[TARE_BLOCKS_UNUSED]);
	for (int i = 0; status == 0 && i < TARE_BLOCKS_ADVICE; i++) {
		struct tare_blocks_finding *finding = &found[i];
		if (!finding->executions || finding->share < tare_blocks_rules[i].least)
			continue;
		finding->advice = (enum tare_blocks_advice)i;
		if (finding->place_count)
			qsort(finding->places, finding->place_count, sizeof *finding->places,
			      by_cost);
		if (finding->place_count > TARE_BLOCKS_PLACES)
			finding->place_count = TARE_BLOCKS_PLACES;
		add_finding(findings, finding);
	}
	return status;
}
