// SPDX-License-Identifier: Apache-2.0
// Any bytes as a module whose blocks are to be counted: it is cut into blocks and instrumented
// without harm, what is written is a module again, and the counters of any way through a function
// tell how often each of its blocks was passed. A sample of any words is read without harm, too.
// In the corpus, kernels.spv is tests/programs/counted.cl, lines.spv a kernel of it with lines.
#include "target.h"

#include "blocks/gains/change.h"
#include "blocks/instrument.h"
#include "blocks/module/disassembly.h"

#include <errno.h>
#include <string.h>

enum { MOST_STEPS = 3000, WALKS = 3 };

static uint64_t state;

static uint32_t random_below(uint32_t end)
{
	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(state >> 33) % end;
}

// Goes from a function's beginning to an end of it, and adds what it passes. False: it found none.
static bool walk(const struct tare_blocks_module *module,
                 const struct tare_blocks_function *function, uint64_t *passed)
{
	uint32_t at = function->first_block;

	for (int step = 0; step < MOST_STEPS; step++) {
		const struct tare_blocks_block *block = &module->blocks[at];
		passed[at]++;
		if (block->successors == 0)
			return true;
		at = module->successors[block->first_successor + random_below(block->successors)];
		if (at < function->first_block || at - function->first_block >= function->blocks)
			return false;
	}
	return false;
}

static void check_plan(const struct tare_blocks_module *module, const struct tare_blocks_plan *plan,
                       const struct tare_blocks_function *function)
{
	uint64_t *passed = calloc((size_t)module->block_count + 1, sizeof *passed);
	uint64_t *values = calloc((size_t)plan->counter_count + 1, sizeof *values);
	bool ended = true;

	FUZZ_CHECK(passed && values);
	for (int i = 0; ended && i < WALKS; i++)
		ended = walk(module, function, passed);
	for (uint32_t i = 0; i < module->block_count; i++)
		if (plan->counters[i] != TARE_BLOCKS_DERIVED)
			values[plan->counters[i]] = passed[i];
	for (uint32_t i = 0; ended && i < module->block_count; i++)
		FUZZ_CHECK(tare_blocks_plan_count(plan, i, values) == passed[i]);
	FUZZ_CHECK(tare_blocks_plan_complete(plan, module, values) == 0);
	free(passed);
	free(values);
}

// A module changed as each kind of finding advises is a module again, with the same blocks.
static void change(const struct tare_blocks_kernel *kernel)
{
	struct tare_blocks_kernel copy = *kernel;
	const struct tare_blocks_profile profile = { .kernels = &copy, .kernel_count = 1 };

	copy.lanes_offered = 2;
	for (int i = 0; i < BLOCKS_ARGUMENTS; i++)
		copy.arguments[i] = (struct blocks_argument){ .value = 7, .bytes = 4 };
	for (int i = TARE_BLOCKS_AS_IT_IS + 1; i < TARE_BLOCKS_CHANGES; i++) {
		struct tare_blocks_changed changed;
		struct tare_blocks_module again;
		struct tare_error error = { 0 };
		FUZZ_CHECK(tare_blocks_change(copy.build, &profile, (enum tare_blocks_change)i,
		                              &changed) == 0);
		FUZZ_CHECK(tare_blocks_module_read(changed.words,
		                                   changed.count * sizeof *changed.words, &again,
		                                   &error) == 0);
		FUZZ_CHECK(again.block_count == copy.build->module.block_count);
		tare_blocks_module_free(&again);
		tare_blocks_changed_free(&changed);
	}
}

// Each kernel's findings, by a sample whose groups have 1 to 70 work-items and whose counters are
// whatever they are.
static void look(const struct tare_blocks_module *module, const struct tare_blocks_plan *plan)
{
	const struct tare_blocks_build build = { .module = *module, .plan = *plan };
	const struct tare_blocks_layout layout = tare_blocks_layout(module, plan);
	size_t words = (size_t)layout.items * layout.words;
	uint64_t *executions = calloc((size_t)module->block_count + 1, sizeof *executions);
	uint64_t *sample = calloc(words + 1, sizeof *sample), group = 1 + random_below(70);

	FUZZ_CHECK(executions && sample);
	for (uint32_t i = 0; i < module->block_count; i++)
		executions[i] = random_below(3);
	for (size_t i = 0; i < words; i++)
		sample[i] = i % layout.words == 0   ? 1 + i / layout.words / group
		            : i % layout.words == 1 ? group
		                                    : random_below(5);
	for (uint32_t i = 0; i < module->function_count; i++) {
		struct tare_blocks_kernel kernel = { .build = &build,
			                             .executions = executions,
			                             .sample = sample };
		struct tare_blocks_sampled sampled;
		struct tare_blocks_findings findings;
		if (!module->functions[i].kernel)
			continue;
		snprintf(kernel.name, sizeof kernel.name, "%s", module->functions[i].kernel);
		FUZZ_CHECK(tare_blocks_sampled_make(&kernel, &sampled) == 0);
		FUZZ_CHECK(sampled.all.used <= sampled.all.offered);
		FUZZ_CHECK(tare_blocks_find(&kernel, &sampled, &findings) == 0);
		tare_blocks_sampled_free(&sampled);
		change(&kernel);
	}
	free(executions);
	free(sample);
}

// Any instruction is a text that ends within its room.
static void write_as_text(void *module, size_t at, uint32_t file, uint32_t line)
{
	char text[TARE_BLOCKS_INSTRUCTION_TEXT];

	(void)file, (void)line;
	tare_blocks_disassemble(module, at, text, sizeof text);
	FUZZ_CHECK(memchr(text, '\0', sizeof text));
	tare_blocks_disassemble(module, at, text, 9);
	FUZZ_CHECK(strlen(text) < 9);
}

static void check_refusal(int status, const struct tare_error *error)
{
	FUZZ_CHECK(status == -EINVAL || status == -ENOTSUP);
	FUZZ_CHECK(error->code == status && error->message[0] && !strchr(error->message, '\n'));
}

static void instrument(const struct tare_blocks_module *module)
{
	struct tare_blocks_plan plan;
	struct tare_blocks_instrumented made;
	struct tare_blocks_module again;
	struct tare_error error = { 0 };

	FUZZ_CHECK(tare_blocks_plan_make(module, &plan, &error) == 0);
	plan.samples = true;
	for (uint32_t i = 0; i < module->function_count; i++)
		if (module->functions[i].counted && module->functions[i].blocks)
			check_plan(module, &plan, &module->functions[i]);
	look(module, &plan);
	for (uint32_t i = 0; i < module->block_count; i++)
		tare_blocks_each(module, i, write_as_text, (void *)module);
	int status = tare_blocks_instrument(module, &plan, &made, &error);
	if (status < 0) {
		check_refusal(status, &error);
	} else {
		FUZZ_CHECK((made.rows & (made.rows - 1)) == 0 &&
		           made.row_counters >= made.counters);
		FUZZ_CHECK(tare_blocks_module_read(made.data, made.bytes, &again, &error) == 0);
		FUZZ_CHECK(again.block_count >= module->block_count);
		tare_blocks_module_free(&again);
		free(made.data);
	}
	tare_blocks_plan_free(&plan);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tare_blocks_module module;
	struct tare_error error = { 0 };
	int status = tare_blocks_module_read(data, size, &module, &error);

	state = size;
	if (status < 0)
		check_refusal(status, &error);
	else
		instrument(&module);
	tare_blocks_module_free(&module);
	return 0;
}
