// SPDX-License-Identifier: Apache-2.0
// A value is the same in all work-items of a group when it is reckoned from such values, in a block
// that all pass equally often. A branch by another value splits a group, until its ways meet again.
// All is taken to be uniform until something speaks against it.
#include "blocks/module/uniform.h"

#include "blocks/module/graph.h"

#include <errno.h>
#include <stdlib.h>

enum {
	LOAD = 61,
	COMPOSITE_EXTRACT = 81,
	COMPOSITE_INSERT = 82,
	VECTOR_SHUFFLE = 79,
	PHI = 245,
	BRANCH_CONDITIONAL = 250,
	SWITCH = 251,
};

// Instructions whose result hangs on their operands alone, all of which are ids.
static const struct {
	uint16_t first, last;
} pure[] = {
	{ 65, 67 },   // where an element lies
	{ 70, 70 },   // the same
	{ 77, 78 },   // parts of vectors
	{ 80, 80 },   // vectors of parts
	{ 83, 83 },   // copies
	{ 109, 114 }, // conversions
	{ 116, 124 }, //
	{ 126, 126 }, // arithmetic of integers: that of floats may be contracted here and not there
	{ 128, 128 }, //
	{ 130, 130 }, //
	{ 132, 132 }, //
	{ 134, 135 }, //
	{ 137, 138 }, //
	{ 149, 152 }, //
	{ 154, 191 }, // logic, comparisons
	{ 194, 205 }, // bits
};

// Variables that say the same to all work-items of a group: OpDecorate BuiltIn.
static bool is_of_groups(uint32_t built_in)
{
	return (built_in >= 24 && built_in <= 26) || (built_in >= 30 && built_in <= 33);
}

struct finding {
	const struct tare_blocks_module *module;
	struct graph graph;
	struct tare_blocks_way *ways;
	bool *differs; // of each id: it may be another in each work-item
	bool *meets;   // of each block: ways that a group has split on meet there
	bool *split;   // of each block: its branch was seen to split
	uint32_t block;
	bool launched, more;
};

static uint32_t word(const struct finding *finding, size_t at, uint32_t index)
{
	const struct spirv_words *words = &finding->module->words;

	return index < spirv_length(words, at) ? words->words[at + index] : 0;
}

static bool differs(const struct finding *finding, uint32_t id)
{
	return id >= finding->module->words.bound || finding->differs[id];
}

// The storage class of what an id points to; UINT32_MAX: not known.
static uint32_t storage_of(const struct finding *finding, uint32_t id)
{
	const struct spirv_words *words = &finding->module->words;
	uint32_t type = id < words->bound ? finding->module->types[id] : 0;
	size_t at = type ? spirv_find_op(words, type, SPIRV_TYPE_POINTER) : 0;

	return at ? words->words[at + 2] : UINT32_MAX;
}

static bool load_differs(const struct finding *finding, size_t at)
{
	const struct spirv_words *words = &finding->module->words;
	uint32_t pointer = word(finding, at, 3), storage = storage_of(finding, pointer);

	if (storage == SPIRV_UNIFORM_CONSTANT)
		return differs(finding, pointer);
	if (storage != SPIRV_INPUT || pointer >= words->bound)
		return true;
	size_t note = spirv_decorated(words, pointer, SPIRV_BUILT_IN);
	return !note || !is_of_groups(words->words[note + 3]);
}

static bool operands_differ(const struct finding *finding, size_t at, uint32_t first, uint32_t end)
{
	for (uint32_t i = first; i < end; i++)
		if (differs(finding, word(finding, at, i)))
			return true;
	return false;
}

static bool phi_differs(const struct finding *finding, size_t at)
{
	if (finding->meets[finding->block])
		return true;
	for (uint32_t i = 3; i < spirv_length(&finding->module->words, at); i += 2)
		if (differs(finding, word(finding, at, i)))
			return true;
	return false;
}

static bool result_differs(const struct finding *finding, size_t at)
{
	uint32_t op = spirv_op(&finding->module->words, at);
	uint32_t length = spirv_length(&finding->module->words, at);

	if (!finding->ways[finding->block].uniform)
		return true;
	if (op == LOAD)
		return load_differs(finding, at);
	if (op == PHI)
		return phi_differs(finding, at);
	if (op == COMPOSITE_EXTRACT)
		return operands_differ(finding, at, 3, 4);
	if (op == COMPOSITE_INSERT || op == VECTOR_SHUFFLE)
		return operands_differ(finding, at, 3, 5);
	for (size_t i = 0; i < sizeof pure / sizeof *pure; i++)
		if (op >= pure[i].first && op <= pure[i].last)
			return operands_differ(finding, at, 3, length);
	return true;
}

static void split(struct finding *finding)
{
	uint32_t join = graph_split(&finding->graph, finding->block, finding->ways);

	finding->split[finding->block] = finding->more = true;
	if (join < finding->graph.function->blocks)
		finding->meets[join] = true;
}

static void look_at(void *context, size_t at, uint32_t file, uint32_t line)
{
	struct finding *finding = context;
	const struct spirv_words *words = &finding->module->words;
	uint32_t op = spirv_op(words, at), id = word(finding, at, 2);

	(void)file;
	(void)line;
	if ((op == BRANCH_CONDITIONAL || op == SWITCH) && !finding->split[finding->block] &&
	    differs(finding, word(finding, at, 1)))
		split(finding);
	if (spirv_length(words, at) < 3 || id >= words->bound || finding->module->types[id] == 0 ||
	    finding->differs[id] || !result_differs(finding, at))
		return;
	finding->differs[id] = finding->more = true;
}

// What no one has set may be anything.
static void mark_undefined(struct finding *finding)
{
	const struct spirv_words *words = &finding->module->words;

	for (size_t at = SPIRV_HEADER_WORDS; at < words->count; at += spirv_length(words, at)) {
		if (spirv_op(words, at) == SPIRV_FUNCTION)
			return;
		if (spirv_op(words, at) == SPIRV_UNDEF && word(finding, at, 2) < words->bound)
			finding->differs[word(finding, at, 2)] = true;
	}
}

static void find(struct finding *finding)
{
	uint32_t blocks = finding->graph.function->blocks;

	mark_undefined(finding);
	for (uint32_t i = 0; i < blocks; i++)
		finding->ways[i].uniform = true;
	do {
		finding->more = false;
		for (uint32_t i = 0; i < blocks; i++) {
			finding->block = i;
			tare_blocks_each(finding->module, finding->graph.function->first_block + i,
			                 look_at, finding);
		}
	} while (finding->more);
}

static int fill(struct finding *finding)
{
	const struct graph *graph = &finding->graph;
	uint32_t blocks = graph->function->blocks;

	finding->differs = calloc((size_t)finding->module->words.bound + 1, sizeof(bool));
	finding->meets = calloc(blocks, sizeof(bool));
	finding->split = calloc(blocks, sizeof(bool));
	bool well = finding->differs && finding->meets && finding->split;
	for (uint32_t i = 0; i < blocks; i++)
		finding->ways[i].repeats = graph_has(&graph->reaches[i], i);
	if (well && finding->launched && tare_blocks_has_words(finding->module))
		find(finding);
	else if (finding->launched && finding->module->uniform)
		for (uint32_t i = 0; i < blocks; i++)
			finding->ways[i].uniform =
			    finding->module->uniform[graph->function->first_block + i];
	if (well)
		graph_likely(graph, finding->ways);
	free(finding->differs);
	free(finding->meets);
	free(finding->split);
	return well ? 0 : -ENOMEM;
}

bool tare_blocks_ways(const struct tare_blocks_module *module,
                      const struct tare_blocks_function *function, bool launched,
                      struct tare_blocks_way *ways)
{
	struct finding finding = { .module = module, .ways = ways, .launched = launched };

	for (uint32_t i = 0; i < function->blocks; i++)
		ways[i] = (struct tare_blocks_way){ .likely = 500 };
	int status = graph_make(module, function, &finding.graph);
	status = status ?: fill(&finding);
	graph_free(&finding.graph);
	return status != -ENOMEM;
}
