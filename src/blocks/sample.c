// SPDX-License-Identifier: Apache-2.0
#include "blocks/sample.h"

#include "blocks/module/classify.h"

enum { LOAD = 61, STORE = 62 };

// Of one function, as it is walked.
struct walk {
	const struct tare_blocks_module *module;
	struct tare_blocks_site *sites;
	uint32_t count, block;
};

static void look_at(void *context, size_t at, uint32_t file, uint32_t line)
{
	struct walk *walk = context;
	uint32_t op = spirv_op(&walk->module->words, at);
	struct tare_blocks_tally tally = { 0 };

	// vloadn and its like have an offset of their own.
	if ((op != LOAD && op != STORE) || walk->count == TARE_BLOCKS_SITES)
		return;
	tare_blocks_classify(walk->module, at, &tally);
	uint64_t bytes =
	    tally.loaded_bytes[TARE_BLOCKS_GLOBAL] + tally.stored_bytes[TARE_BLOCKS_GLOBAL];
	if (bytes && bytes <= UINT32_MAX)
		walk->sites[walk->count++] = (struct tare_blocks_site){ .at = at,
			                                                .block = walk->block,
			                                                .file = file,
			                                                .line = line,
			                                                .bytes = (uint32_t)bytes,
			                                                .store = op == STORE };
}

uint32_t tare_blocks_sites(const struct tare_blocks_module *module, uint32_t function,
                           struct tare_blocks_site sites[TARE_BLOCKS_SITES])
{
	const struct tare_blocks_function *of = &module->functions[function];
	struct walk walk = { .module = module, .sites = sites };

	for (uint32_t i = 0; i < of->blocks; i++) {
		walk.block = of->first_block + i;
		tare_blocks_each(module, walk.block, look_at, &walk);
	}
	return walk.count;
}

uint32_t tare_blocks_first_counter(const struct tare_blocks_module *module,
                                   const struct tare_blocks_plan *plan, uint32_t function,
                                   uint32_t *count)
{
	const struct tare_blocks_function *of = &module->functions[function];
	uint32_t first = UINT32_MAX, last = 0;

	for (uint32_t i = 0; i < of->blocks; i++) {
		uint32_t counter = plan->counters[of->first_block + i];
		if (counter == TARE_BLOCKS_DERIVED)
			continue;
		first = counter < first ? counter : first;
		last = counter > last ? counter : last;
	}
	*count = first == UINT32_MAX ? 0 : last - first + 1;
	return first == UINT32_MAX ? 0 : first;
}

struct tare_blocks_layout tare_blocks_layout(const struct tare_blocks_module *module,
                                             const struct tare_blocks_plan *plan)
{
	struct tare_blocks_layout layout = { .items = TARE_BLOCKS_SAMPLE_ITEMS };

	if (!plan->samples)
		return (struct tare_blocks_layout){ .items = 0 };
	for (uint32_t i = 0; i < module->function_count; i++) {
		struct tare_blocks_site sites[TARE_BLOCKS_SITES];
		uint32_t counters;
		if (!module->functions[i].kernel)
			continue;
		tare_blocks_first_counter(module, plan, i, &counters);
		uint32_t count = tare_blocks_sites(module, i, sites);
		layout.counters = counters > layout.counters ? counters : layout.counters;
		layout.sites = count > layout.sites ? count : layout.sites;
	}
	layout.words = TARE_BLOCKS_SLOT_HEAD + layout.counters + layout.sites;
	while (layout.items > 1 &&
	       (uint64_t)layout.items * layout.words * 8 > TARE_BLOCKS_SAMPLE_BYTES)
		layout.items /= 2;
	// Fewer than two sub-groups say nothing about neighbours.
	if (layout.items < 64)
		layout.items = 0;
	return layout;
}
