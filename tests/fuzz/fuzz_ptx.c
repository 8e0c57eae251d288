// SPDX-License-Identifier: Apache-2.0
// Any bytes as PTX: it is cut into blocks without harm, what is written with counters is PTX again,
// and the counters of any way through a function tell how often each of its blocks was passed. In
// the corpus, odd is tests/ptx/odd.ptx.
#include "blocks/ptx/instrument.h"
#include "guest/blocks/ptx_text.h"
#include "target.h"

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
		FUZZ_CHECK(at >= function->first_block &&
		           at - function->first_block < function->blocks);
		FUZZ_CHECK(at != function->first_block);
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
	free(passed);
	free(values);
}

static void instrument(const struct ptx *ptx, const struct tare_blocks_plan *plan,
                       enum ptx_memory memory)
{
	struct tare_blocks_instrumented made;
	struct tare_error error = { 0 };
	struct ptx again;
	int status = ptx_instrument(ptx, plan, memory, &made, &error);

	FUZZ_CHECK((status == -ENOTSUP) == (ptx->obstacle != NULL));
	if (status < 0)
		return;
	FUZZ_CHECK(made.bytes > ptx->bytes && made.row_counters >= plan->counter_count);
	FUZZ_CHECK(ptx_read(made.data, made.bytes, &again, &error) == 0);
	FUZZ_CHECK(again.module.function_count == ptx->module.function_count);
	FUZZ_CHECK(again.module.block_count >= ptx->module.block_count);
	ptx_free(&again);
	free(made.data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tare_blocks_plan plan;
	struct tare_error error = { 0 };
	struct ptx ptx;
	int status = ptx_read((const char *)data, size, &ptx, &error);

	state = size;
	FUZZ_CHECK(status < 0 || blocks_is_ptx((const char *)data, size));
	if (status < 0) {
		FUZZ_CHECK(status == -EINVAL || status == -ENOTSUP);
		FUZZ_CHECK(error.message[0] && !strchr(error.message, '\n'));
	} else {
		FUZZ_CHECK(tare_blocks_plan_make(&ptx.module, &plan, &error) == 0);
		for (uint32_t i = 0; i < ptx.module.function_count; i++)
			if (ptx.module.functions[i].blocks)
				check_plan(&ptx.module, &plan, &ptx.module.functions[i]);
		instrument(&ptx, &plan, PTX_MEMORY_ARGUMENT);
		instrument(&ptx, &plan, PTX_MEMORY_MODULE);
		tare_blocks_plan_free(&plan);
	}
	ptx_free(&ptx);
	return 0;
}
