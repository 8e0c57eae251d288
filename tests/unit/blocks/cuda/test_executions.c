// SPDX-License-Identifier: Apache-2.0
// Executions of blocks from samples that issued and from how many instructions a warp executes, on
// code made here: which blocks each warp executes once, and what follows for the others.
#include "blocks/cuda/samples.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 64, SM = 80, ALWAYS = 7, NOP = 0x918, BRA = 0x947, EXIT = 0x94d, BRX = 0x949 };

static void expect_near(double value, double expected, double most)
{
	assert_true(fabs(value - expected) <= most);
}

struct made {
	uint8_t code[MOST * TARE_SASS_BYTES];
	struct tare_cubin cubin;
	struct tare_cubin_function function;
	struct tare_stall_counts instructions[MOST];
	struct tare_sampled_kernel kernel;
	uint32_t count;
};

// An instruction under a predicate; a branch goes to instruction `to`.
static void put(struct made *made, uint64_t opcode, unsigned predicate, uint32_t to)
{
	int64_t distance = ((int64_t)to - made->count - 1) * (TARE_SASS_BYTES / 4);
	uint64_t words[2] = { opcode | (uint64_t)predicate << 12, (uint64_t)ALWAYS << 23 };

	if (opcode == BRA) {
		words[0] |= (uint64_t)distance << 34;
		words[1] |= (uint64_t)distance >> 30 & 0x3ffff;
	}
	memcpy(made->code + made->count++ * TARE_SASS_BYTES, words, sizeof words);
}

static void put_plain(struct made *made, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		put(made, NOP, ALWAYS, 0);
}

// Each of so many warps executes `each` instructions, and its lanes never part.
static void finish(struct made *made, uint64_t warps, double each)
{
	made->function = (struct tare_cubin_function){ .code = made->code,
		                                       .bytes = made->count * TARE_SASS_BYTES };
	made->cubin.sm = SM;
	made->kernel = (struct tare_sampled_kernel){ .cubin = &made->cubin,
		                                     .function = &made->function,
		                                     .instructions = made->instructions,
		                                     .count = made->count,
		                                     .why = TARE_SAMPLED_UNCOUNTED,
		                                     .warps = warps,
		                                     .each = each,
		                                     .each_least = each,
		                                     .each_most = each,
		                                     .accounts.known = 1u << TARE_ACCOUNT_APART };
	assert_int_equal(tare_sampled_kernel_work_out(&made->kernel), 0);
	assert_int_equal(tare_sampled_tell_executions(&made->kernel, tare_host_now()), 0);
}

static void release(struct made *made)
{
	free(made->kernel.split.at);
	free(made->kernel.blocks);
	free(made->kernel.lines);
}

static void meet(struct made *made, uint32_t first, uint32_t count, uint64_t times)
{
	for (uint32_t i = first; i < first + count; i++)
		made->instructions[i].by[TARE_STALL_SELECTED] = times;
}

static void expect_once(const struct made *made, const char *once)
{
	assert_int_equal(made->kernel.split.count, strlen(once));
	for (uint32_t i = 0; once[i]; i++)
		assert_int_equal(made->kernel.blocks[i].once, once[i] == '1');
}

// 3 instructions, a loop of 4, and 3; the loop runs 50 times.
static void put_loop(struct made *made)
{
	put_plain(made, 6);
	put(made, BRA, 0, 3);
	put_plain(made, 2);
	put(made, EXIT, ALWAYS, 0);
}

static void a_loop_has_what_is_left(void **state)
{
	struct made made = { .count = 0 };

	(void)state;
	put_loop(&made);
	// Beginning and end are met three times too often; the loop's first one elsewhere.
	meet(&made, 0, 3, 30);
	meet(&made, 7, 3, 30);
	meet(&made, 3, 4, 500);
	made.instructions[7].by[TARE_STALL_SELECTED] += 500;
	made.instructions[3].by[TARE_STALL_SELECTED] = 0;
	finish(&made, 1000, 6 + 4 * 50);
	expect_once(&made, "101");
	assert_int_equal(made.kernel.why, TARE_SAMPLED_KNOWN);
	const struct tare_sampled *loop = &made.kernel.blocks[1].executions;
	assert_true(loop->known && loop->value > 49900 && loop->value <= 50000);
	assert_true(loop->low < 50000 && loop->low > 45000);
	// No more than all instructions that are left.
	expect_near(loop->high, 50000, 1e-6);
	expect_near(made.kernel.blocks[2].executions.value, 1000, 0);
	release(&made);
}

static void ways_apart_are_not_executed_once(void **state)
{
	struct made made = { .count = 0 };

	(void)state;
	put_plain(&made, 2);
	put(&made, BRA, 0, 6); // 0 to 2
	put_plain(&made, 2);
	put(&made, BRA, ALWAYS, 9); // 3 to 5
	put_plain(&made, 3);        // 6 to 8
	put_plain(&made, 2);
	put(&made, EXIT, ALWAYS, 0); // 9 to 11
	meet(&made, 0, 12, 200);
	finish(&made, 10, 9);
	expect_once(&made, "1001");
	// Each way may be taken by all warps or by none.
	const struct tare_sampled *way = &made.kernel.blocks[1].executions;
	expect_near(way->value, 5, 0.01);
	assert_true(way->low < 5.0 / 1.7 && way->high > 5 * 1.4);
	release(&made);
}

static void an_exit_of_some_warps_ends_what_is_executed_once(void **state)
{
	struct made made = { .count = 0 };

	(void)state;
	put_plain(&made, 2);
	put(&made, EXIT, 0, 0);
	put_plain(&made, 2);
	put(&made, EXIT, ALWAYS, 0);
	meet(&made, 0, 6, 200);
	finish(&made, 10, 6);
	expect_once(&made, "10");
	release(&made);
}

static void after_a_branch_to_anywhere_nothing_is_executed_once(void **state)
{
	struct made made = { .count = 0 };

	(void)state;
	put_plain(&made, 3);
	put(&made, BRX, ALWAYS, 0);
	put_plain(&made, 3);
	put(&made, EXIT, ALWAYS, 0);
	meet(&made, 0, 8, 200);
	finish(&made, 10, 8);
	expect_once(&made, "00");
	release(&made);
}

static void launches_that_are_unlike_widen_the_interval(void **state)
{
	struct made made = { .count = 0 };

	(void)state;
	put_loop(&made);
	meet(&made, 0, 10, 500);
	finish(&made, 1000, 206);
	struct tare_sampled alike = made.kernel.blocks[1].executions;
	made.kernel.why = TARE_SAMPLED_UNCOUNTED;
	made.kernel.each_least = 103;
	made.kernel.each_most = 412;
	assert_int_equal(tare_sampled_tell_executions(&made.kernel, tare_host_now()), 0);
	const struct tare_sampled *unlike = &made.kernel.blocks[1].executions;
	// Six are executed once by each warp, whatever it loops.
	expect_near(unlike->low, alike.low * (103 - 6) / (206 - 6), 1e-6);
	expect_near(unlike->high, alike.high * (412 - 6) / (206 - 6), 1e-6);
	release(&made);
}

static void few_samples_are_no_figure(void **state)
{
	struct made made = { .count = 0 };

	(void)state;
	put_loop(&made);
	meet(&made, 0, 10, 20);
	finish(&made, 1000, 206);
	assert_int_equal(made.kernel.why, TARE_SAMPLED_FEW);
	assert_false(made.kernel.blocks[1].executions.known);
	release(&made);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_loop_has_what_is_left),
		cmocka_unit_test(ways_apart_are_not_executed_once),
		cmocka_unit_test(an_exit_of_some_warps_ends_what_is_executed_once),
		cmocka_unit_test(after_a_branch_to_anywhere_nothing_is_executed_once),
		cmocka_unit_test(launches_that_are_unlike_widen_the_interval),
		cmocka_unit_test(few_samples_are_no_figure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
