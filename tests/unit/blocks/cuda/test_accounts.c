// SPDX-License-Identifier: Apache-2.0
// Executions of blocks from what the hardware counts, on code made here: what counts and branches
// leave of each block, lanes that part and meet, calls, what is not known, and contradictions.
#include "blocks/cuda/accounts.h"
#include "blocks/cuda/linear.h"
#include "blocks/cuda/samples.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
	MOST = 64,
	SM = 80, // a branch's target is one number there
	ALWAYS = 7,
	NOP = 0x918,
	LDG = 0x981,
	STG = 0x986,
	FADD = 0x221,
	BRA = 0x947,
	EXIT = 0x94d,
	BRX = 0x949,
	BSSY = 0x945,
	BSYNC = 0x941,
	BREAK = 0x942,
	CALL = 0x944,
	RET = 0x950,
	STRANGE = 0x9ff,
};

struct made {
	uint8_t code[MOST * TARE_SASS_BYTES];
	struct tare_cubin cubin;
	struct tare_cubin_function function;
	struct tare_stall_counts instructions[MOST];
	struct tare_sampled_kernel kernel;
	struct tare_accounts accounts;
	struct tare_accounts_result result;
	uint32_t count;
};

// An instruction under a predicate; what goes somewhere goes to instruction `to`.
static void put(struct made *made, uint64_t opcode, unsigned predicate, uint32_t to)
{
	int64_t distance = (int64_t)to - made->count - 1;
	uint64_t words[2] = { opcode | (uint64_t)predicate << 12, (uint64_t)ALWAYS << 23 };

	if (opcode == BRA || opcode == CALL) {
		distance *= TARE_SASS_BYTES / 4;
		words[0] |= (uint64_t)distance << 34;
		words[1] |= (uint64_t)distance >> 30 & 0x3ffff;
	} else if (opcode == BSSY)
		words[0] |= (uint64_t)(distance * TARE_SASS_BYTES) << 32;
	memcpy(made->code + made->count++ * TARE_SASS_BYTES, words, sizeof words);
}

static void put_some(struct made *made, uint64_t opcode, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		put(made, opcode, ALWAYS, 0);
}

static void count(struct made *made, enum tare_account account, double value)
{
	made->accounts.known |= 1u << account;
	made->accounts.sums[account] = value;
}

// By so many warps.
static void settle(struct made *made, uint32_t sm, double warps,
                   const struct tare_account_bounds *sampled)
{
	made->function = (struct tare_cubin_function){ .code = made->code,
		                                       .bytes = made->count * TARE_SASS_BYTES };
	made->cubin.sm = sm;
	made->accounts.warps = warps;
	made->kernel = (struct tare_sampled_kernel){ .cubin = &made->cubin,
		                                     .function = &made->function,
		                                     .instructions = made->instructions,
		                                     .count = made->count };
	assert_int_equal(tare_sampled_kernel_work_out(&made->kernel), 0);
	assert_int_equal(tare_accounts_settle(&made->kernel, &made->accounts, sampled,
	                                      (struct tare_host_time){ INT64_MAX }, &made->result),
	                 0);
}

static void release(struct made *made)
{
	tare_accounts_free(&made->result);
	free(made->kernel.split.at);
	free(made->kernel.blocks);
	free(made->kernel.lines);
}

static void expect_ends(const struct tare_account_bounds *bounds, double low, double high)
{
	assert_true(bounds->known);
	assert_true(fabs(bounds->low - low) <= 1e-6 * fmax(1, low));
	assert_true(isinf(high) ? isinf(bounds->high)
	                        : fabs(bounds->high - high) <= 1e-6 * fmax(1, high));
}

static void expect(const struct made *made, const double *executions)
{
	assert_int_equal(made->result.end, TARE_ACCOUNTS_SETTLED);
	for (uint32_t i = 0; i < made->kernel.split.count; i++) {
		expect_ends(&made->result.blocks[i], executions[i], executions[i]);
		assert_true(
		    tare_account_counted(&made->result.blocks[i], 0, made->accounts.warps) ==
		    round(executions[i] * made->accounts.warps));
	}
}

static int needs_a_solver(void **state)
{
	(void)state;
	if (!tare_linear_is_there())
		skip();
	return 0;
}

// ---- the solver

static void ends_of_unknowns_are_found(void **state)
{
	struct tare_linear *linear = tare_linear_make(3);
	double low, high;

	(void)state;
	assert_non_null(linear);
	// a + b is 10, b twice is at least 4, c has no bound.
	assert_int_equal(
	    tare_linear_add(linear, (struct tare_linear_term[]){ { 0, 1 }, { 1, 1 } }, 2, 10, 10),
	    0);
	assert_int_equal(tare_linear_add(linear, (struct tare_linear_term[]){ { 1, 1 }, { 1, 1 } },
	                                 2, 4, INFINITY),
	                 0);
	assert_int_equal(tare_linear_bounds(linear, 0, 1000, &low, &high), 0);
	assert_true(fabs(low) < 1e-9 && fabs(high - 8) < 1e-9);
	assert_int_equal(tare_linear_bounds(linear, 2, 1000, &low, &high), 0);
	assert_true(low == 0 && isinf(high));
	assert_int_equal(tare_linear_add(linear, (struct tare_linear_term[]){ { 3, 1 } }, 1, 0, 1),
	                 -EINVAL);
	assert_int_equal(
	    tare_linear_add(linear, (struct tare_linear_term[]){ { 0, NAN } }, 1, 0, 1), -EINVAL);
	assert_int_equal(tare_linear_add(linear, (struct tare_linear_term[]){ { 0, 1 } }, 1, 9, 10),
	                 0);
	assert_int_equal(tare_linear_bounds(linear, 0, 1000, &low, &high), -EDOM);
	tare_linear_free(linear);
}

// ---- flow

// 3 instructions, a loop of 4 that runs 50 times, and 3.
static void a_loop_is_counted_by_all_instructions(void **state)
{
	struct made made = { .count = 0 };

	(void)state;
	put_some(&made, NOP, 6);
	put(&made, BRA, 0, 3);
	put_some(&made, NOP, 2);
	put(&made, EXIT, ALWAYS, 0);
	count(&made, TARE_ACCOUNT_ALL, 1000 * (6 + 4 * 50));
	count(&made, TARE_ACCOUNT_APART, 0);
	settle(&made, SM, 1000, NULL);
	expect(&made, (double[]){ 1, 50, 1 });
	release(&made);
}

// Two ways of two and of three instructions, the second of which loads: a quarter takes it.
static void put_two_ways(struct made *made)
{
	put(made, NOP, ALWAYS, 0);
	put(made, BRA, 0, 4); // 0 to 1
	put(made, NOP, ALWAYS, 0);
	put(made, BRA, ALWAYS, 7); // 2 to 3
	put_some(made, LDG, 1);
	put_some(made, NOP, 2); // 4 to 6
	put(made, EXIT, ALWAYS, 0);
}

static void ways_are_told_apart_by_what_they_execute(void **state)
{
	struct made made = { .count = 0 };

	(void)state;
	put_two_ways(&made);
	count(&made, TARE_ACCOUNT_ALL, 100 * 3 + 75 * 2 + 25 * 3);
	count(&made, TARE_ACCOUNT_LOADS_GLOBAL, 25);
	count(&made, TARE_ACCOUNT_APART, 0);
	settle(&made, SM, 100, NULL);
	expect(&made, (double[]){ 1, .75, .25, 1 });
	release(&made);
}

// Of ten warps the lanes take both ways.
static void lanes_that_part_are_counted(void **state)
{
	struct made made = { .count = 0 };

	(void)state;
	put_two_ways(&made);
	count(&made, TARE_ACCOUNT_ALL, 2 * 100 + 75 * 2 + 35 * 3 + 110);
	count(&made, TARE_ACCOUNT_APART, 10);
	settle(&made, SM, 100, NULL);
	expect(&made, (double[]){ 1, .75, .35, 1.1 });
	release(&made);
}

// Nothing tells how many warps part: what is known is what each way takes at least and at most.
static void what_may_part_is_bounded(void **state)
{
	struct made made = { .count = 0 };

	(void)state;
	put_two_ways(&made);
	count(&made, TARE_ACCOUNT_ALL, 100 * 3 + 75 * 2 + 25 * 3);
	settle(&made, SM, 100, NULL);
	assert_int_equal(made.result.end, TARE_ACCOUNTS_SETTLED);
	expect_ends(&made.result.blocks[0], 1, 1);
	assert_true(made.result.blocks[1].low < .75 && made.result.blocks[1].high >= .75);
	assert_true(isnan(tare_account_counted(&made.result.blocks[1], 0, 100)));
	release(&made);
}

// BSSY; half of the lanes go each way; both come to BSYNC, and go on together. Then half of the
// warps end. How often lanes part is not known, so only that each BSSY is followed by one meeting
// tells how many went on.
static void lanes_that_part_meet_again(void **state)
{
	struct made made = { .count = 0 };

	(void)state;
	put(&made, BSSY, ALWAYS, 5);
	put(&made, BRA, 0, 4);
	put(&made, STG, ALWAYS, 0);
	put(&made, BRA, ALWAYS, 5);
	put(&made, LDG, ALWAYS, 0);
	put(&made, BSYNC, ALWAYS, 0);
	put(&made, EXIT, 0, 0);
	put(&made, NOP, ALWAYS, 0);
	put(&made, EXIT, ALWAYS, 0);
	count(&made, TARE_ACCOUNT_LOADS_GLOBAL, 10);
	count(&made, TARE_ACCOUNT_STORES_GLOBAL, 10);
	count(&made, TARE_ACCOUNT_ALL, 10 * (2 + 2 + 1 + 2 + 1) + 5 * 2);
	settle(&made, SM, 10, NULL);
	expect(&made, (double[]){ 1, 1, 1, 2, 1, .5 });
	release(&made);
}

// By BREAK lanes leave those that they were to meet. Here all go back to the beginning together,
// and then one half: of three BSSY two are followed by a meeting.
static void those_that_break_out_need_not_meet(void **state)
{
	struct made made = { .count = 0 };

	(void)state;
	put(&made, NOP, ALWAYS, 0);
	put(&made, BSSY, ALWAYS, 6);
	put(&made, BRA, 0, 5);
	put(&made, BREAK, ALWAYS, 0);
	put(&made, BRA, ALWAYS, 1);
	put(&made, NOP, ALWAYS, 0);
	put(&made, BSYNC, ALWAYS, 0);
	put(&made, EXIT, ALWAYS, 0);
	count(&made, TARE_ACCOUNT_APART, 10);
	count(&made, TARE_ACCOUNT_ALL, 10 * (1 + 3 * 2 + 2 * 2 + 2 + 2 + 2));
	settle(&made, SM, 10, NULL);
	assert_int_equal(made.result.end, TARE_ACCOUNTS_SETTLED);
	assert_true(made.result.blocks[1].low <= 3 + 1e-6 &&
	            made.result.blocks[1].high >= 3 - 1e-6);
	release(&made);
}

// Two calls of one subroutine, one of them in a loop of five turns.
static void calls_come_back(void **state)
{
	struct made made = { .count = 0 };

	(void)state;
	put(&made, CALL, ALWAYS, 6);
	put(&made, NOP, ALWAYS, 0);
	put(&made, CALL, ALWAYS, 6);
	put(&made, NOP, ALWAYS, 0);
	put(&made, BRA, 0, 1);
	put(&made, EXIT, ALWAYS, 0);
	put(&made, NOP, ALWAYS, 0);
	put(&made, RET, ALWAYS, 0);
	count(&made, TARE_ACCOUNT_APART, 0);
	count(&made, TARE_ACCOUNT_ALL, 1 + 5 * 4 + 1 + 6 * 2);
	settle(&made, SM, 1, NULL);
	expect(&made, (double[]){ 1, 5, 5, 1, 6 });
	release(&made);
}

// ---- what is not known

static void where_a_branch_leads_must_be_read(void **state)
{
	struct made made = { .count = 0 };

	(void)state;
	put(&made, BRX, ALWAYS, 0);
	put(&made, EXIT, ALWAYS, 0);
	count(&made, TARE_ACCOUNT_ALL, 2);
	settle(&made, SM, 1, NULL);
	assert_int_equal(made.result.end, TARE_ACCOUNTS_UNREAD);
	release(&made);
}

// A pipe's account is of one architecture, and has room for opcodes that were not met there.
static void put_pipes(struct made *made, uint64_t more)
{
	put(made, NOP, ALWAYS, 0);
	put(made, EXIT, 0, 0);
	put(made, more, ALWAYS, 0);
	put_some(made, FADD, 2);
	put(made, EXIT, ALWAYS, 0);
}

static void pipes_are_of_the_architecture_that_was_tried(void **state)
{
	struct made made = { .count = 0 }, other = { .count = 0 }, strange = { .count = 0 };

	(void)state;
	put_pipes(&made, NOP);
	count(&made, TARE_ACCOUNT_FMA, 2 * 30);
	count(&made, TARE_ACCOUNT_ALL, 2 * 100 + 30 * 4);
	settle(&made, 90, 100, NULL);
	expect(&made, (double[]){ 1, .3 });
	release(&made);
	// Of another one a wrong count of a pipe does not matter.
	put_pipes(&other, NOP);
	count(&other, TARE_ACCOUNT_FMA, 12345);
	count(&other, TARE_ACCOUNT_ALL, 2 * 100 + 30 * 4);
	settle(&other, SM, 100, NULL);
	expect(&other, (double[]){ 1, .3 });
	release(&other);
	// An unknown opcode may be one of the pipe's.
	put_pipes(&strange, STRANGE);
	count(&strange, TARE_ACCOUNT_FMA, 3 * 30);
	count(&strange, TARE_ACCOUNT_ALL, 2 * 100 + 30 * 4);
	settle(&strange, 90, 100, NULL);
	expect(&strange, (double[]){ 1, .3 });
	release(&strange);
}

// ---- contradictions, and samples

static void counts_that_contradict_each_other_are_not_used(void **state)
{
	struct made made = { .count = 0 };

	(void)state;
	put_some(&made, NOP, 3);
	put(&made, EXIT, ALWAYS, 0);
	count(&made, TARE_ACCOUNT_ALL, 5 * 10);
	settle(&made, SM, 10, NULL);
	assert_int_equal(made.result.end, TARE_ACCOUNTS_OFF);
	release(&made);
}

static void counts_of_passes_get_the_least_slack(void **state)
{
	struct made made = { .count = 0 };

	(void)state;
	put_some(&made, NOP, 3);
	put(&made, EXIT, ALWAYS, 0);
	count(&made, TARE_ACCOUNT_ALL, 40000 + 2);
	settle(&made, SM, 10000, NULL);
	assert_int_equal(made.result.end, TARE_ACCOUNTS_SETTLED);
	assert_true(made.result.slack == 1e-4);
	release(&made);
}

// The count cannot tell one way from the other.
static void put_equal_ways(struct made *made)
{
	put(made, NOP, ALWAYS, 0);
	put(made, BRA, 0, 4);
	put(made, NOP, ALWAYS, 0);
	put(made, BRA, ALWAYS, 6);
	put_some(made, NOP, 2);
	put(made, EXIT, ALWAYS, 0);
}

static void samples_narrow_what_counts_leave(void **state)
{
	struct made made = { .count = 0 };
	struct tare_account_bounds sampled[MOST] = { [2] = { true, .2, .3 } };

	(void)state;
	put_two_ways(&made);
	count(&made, TARE_ACCOUNT_APART, 0);
	settle(&made, SM, 100, sampled);
	// Without any account nothing is told.
	assert_int_equal(made.result.end, TARE_ACCOUNTS_NONE);
	release(&made);
	made = (struct made){ .count = 0 };
	put_equal_ways(&made);
	count(&made, TARE_ACCOUNT_ALL, 100 * 5);
	count(&made, TARE_ACCOUNT_APART, 0);
	settle(&made, SM, 100, sampled);
	assert_int_equal(made.result.end, TARE_ACCOUNTS_SETTLED);
	assert_non_null(made.result.narrow);
	assert_true(made.result.narrow[2].high <= .3 + 1e-6 &&
	            made.result.narrow[2].low >= .2 - 1e-6);
	expect_ends(&made.result.narrow[1], .7, .8);
	release(&made);
	// What was sampled and cannot be is left out.
	sampled[2] = (struct tare_account_bounds){ true, 5, 6 };
	made = (struct made){ .count = 0 };
	put_equal_ways(&made);
	count(&made, TARE_ACCOUNT_ALL, 100 * 5);
	count(&made, TARE_ACCOUNT_APART, 0);
	settle(&made, SM, 100, sampled);
	assert_int_equal(made.result.end, TARE_ACCOUNTS_SETTLED);
	assert_null(made.result.narrow);
	release(&made);
}

// ---- what is told

static void tell(struct made *made, double warps)
{
	struct tare_sampled_kernel *kernel = &made->kernel;

	kernel->accounts = made->accounts;
	kernel->why = TARE_SAMPLED_UNCOUNTED;
	kernel->warps = kernel->counted_warps = (uint64_t)warps;
	kernel->launches = kernel->counted = 1;
	kernel->each = kernel->each_least = kernel->each_most =
	    made->accounts.sums[TARE_ACCOUNT_ALL] / warps;
	assert_int_equal(tare_sampled_tell_executions(kernel, tare_host_now()), 0);
}

static void expect_counted(const struct made *made, uint32_t block, double executions)
{
	const struct tare_sampled_block *is = &made->kernel.blocks[block];

	assert_int_equal(is->from, TARE_EXECUTIONS_COUNTED);
	assert_true(is->executions.known && is->executions.value == executions &&
	            is->executions.low == executions && is->executions.high == executions);
}

// Lanes that parted and do not meet come to the end as two.
static void what_is_once_is_told_by_the_counts(void **state)
{
	struct made made = { .count = 0 };

	(void)state;
	put_two_ways(&made);
	count(&made, TARE_ACCOUNT_ALL, 2 * 100 + 75 * 2 + 35 * 3 + 110);
	count(&made, TARE_ACCOUNT_APART, 10);
	settle(&made, SM, 100, NULL);
	tell(&made, 100);
	expect_counted(&made, 2, 35);
	expect_counted(&made, 3, 110);
	release(&made);
}

static void what_is_once_is_not_told_without_counts(void **state)
{
	struct made made = { .count = 0 };

	(void)state;
	put_two_ways(&made);
	settle(&made, SM, 100, NULL);
	made.accounts.sums[TARE_ACCOUNT_ALL] = 560;
	tell(&made, 100);
	expect_counted(&made, 0, 100);
	assert_int_not_equal(made.kernel.blocks[3].from, TARE_EXECUTIONS_COUNTED);
	release(&made);
}

// Of ten million warps ten take one of two ways: which one is not known.
static void rare_blocks_are_not_counted_where_any_may_be(void **state)
{
	struct made made = { .count = 0 };
	const double warps = 1e7;

	(void)state;
	for (uint32_t i = 5; i <= 10; i += 5) {
		put(&made, NOP, ALWAYS, 0);
		put(&made, BRA, 0, i);
		put_some(&made, NOP, 3);
	}
	put(&made, EXIT, ALWAYS, 0);
	count(&made, TARE_ACCOUNT_ALL, 5 * warps + 3 * 10);
	count(&made, TARE_ACCOUNT_APART, 0);
	settle(&made, SM, warps, NULL);
	tell(&made, warps);
	assert_int_not_equal(made.kernel.blocks[1].from, TARE_EXECUTIONS_COUNTED);
	assert_int_not_equal(made.kernel.blocks[3].from, TARE_EXECUTIONS_COUNTED);
	expect_counted(&made, 2, warps);
	release(&made);
}

static void what_is_counted_is_whole(void **state)
{
	struct made made = { .count = 0 };
	const double warps = 3333333;

	(void)state;
	put(&made, NOP, ALWAYS, 0);
	put(&made, BRA, 0, 5);
	put_some(&made, LDG, 3);
	put(&made, NOP, ALWAYS, 0);
	put(&made, EXIT, ALWAYS, 0);
	count(&made, TARE_ACCOUNT_ALL, 4 * warps + 3 * 7);
	count(&made, TARE_ACCOUNT_LOADS_GLOBAL, 3 * 7);
	count(&made, TARE_ACCOUNT_APART, 0);
	settle(&made, SM, warps, NULL);
	tell(&made, warps);
	expect_counted(&made, 1, 7);
	release(&made);
	struct tare_account_bounds half = { true, 7.5, 7.5 }, one = { true, 1, 1 };
	assert_true(isnan(tare_account_counted(&half, 0, 1)));
	assert_true(isnan(tare_account_counted(&one, 1e-6, 1)));
}

static void what_takes_too_long_is_no_contradiction(void **state)
{
	struct made made = { .count = 0 };
	struct tare_accounts_result late;

	(void)state;
	put_two_ways(&made);
	count(&made, TARE_ACCOUNT_ALL, 100 * 3 + 75 * 2 + 25 * 3);
	settle(&made, SM, 100, NULL);
	assert_int_equal(
	    tare_accounts_settle(&made.kernel, &made.accounts, NULL, tare_host_now(), &late), 0);
	assert_int_equal(late.end, TARE_ACCOUNTS_LATE);
	tare_accounts_free(&late);
	release(&made);
	assert_null(tare_linear_make(UINT32_MAX));
}

// What was counted is told of all launches if these are like those that were counted.
static void counts_of_some_launches_stand_for_all_alike(void **state)
{
	struct tare_sampled_kernel alike = {
		.launches = 60,
		.warps = 6000,
		.counted = 2,
		.counted_warps = 200,
		.each_least = 50,
		.each_most = 50.4,
	};
	struct tare_sampled_kernel larger = alike, other = alike, none = alike;

	(void)state;
	assert_true(tare_sampled_counts_stand(&alike));
	larger.counted_warps = 210;
	assert_false(tare_sampled_counts_stand(&larger));
	other.each_most = 51;
	assert_false(tare_sampled_counts_stand(&other));
	none.counted = 0;
	assert_false(tare_sampled_counts_stand(&none));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(ends_of_unknowns_are_found, needs_a_solver),
		cmocka_unit_test_setup(a_loop_is_counted_by_all_instructions, needs_a_solver),
		cmocka_unit_test_setup(ways_are_told_apart_by_what_they_execute, needs_a_solver),
		cmocka_unit_test_setup(lanes_that_part_are_counted, needs_a_solver),
		cmocka_unit_test_setup(what_may_part_is_bounded, needs_a_solver),
		cmocka_unit_test_setup(lanes_that_part_meet_again, needs_a_solver),
		cmocka_unit_test_setup(those_that_break_out_need_not_meet, needs_a_solver),
		cmocka_unit_test_setup(calls_come_back, needs_a_solver),
		cmocka_unit_test_setup(where_a_branch_leads_must_be_read, needs_a_solver),
		cmocka_unit_test_setup(pipes_are_of_the_architecture_that_was_tried,
		                       needs_a_solver),
		cmocka_unit_test_setup(counts_that_contradict_each_other_are_not_used,
		                       needs_a_solver),
		cmocka_unit_test_setup(counts_of_passes_get_the_least_slack, needs_a_solver),
		cmocka_unit_test_setup(samples_narrow_what_counts_leave, needs_a_solver),
		cmocka_unit_test_setup(what_is_once_is_told_by_the_counts, needs_a_solver),
		cmocka_unit_test(what_is_once_is_not_told_without_counts),
		cmocka_unit_test_setup(rare_blocks_are_not_counted_where_any_may_be,
		                       needs_a_solver),
		cmocka_unit_test_setup(what_is_counted_is_whole, needs_a_solver),
		cmocka_unit_test_setup(what_takes_too_long_is_no_contradiction, needs_a_solver),
		cmocka_unit_test(counts_of_some_launches_stand_for_all_alike),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
