// SPDX-License-Identifier: Apache-2.0
// Sets of build options are told apart round by round: what all rounds agree on, and nothing else.
#include "blocks/options/trials.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { ROUNDS = 8, SETS = 4 };

static struct tare_blocks_cell cells[SETS];
static struct tare_blocks_trials trials;
static char name[] = "kernel";
static char *names[] = { name };

// The program's own takes 100 ns at first and doubles on the way; a set takes parts of that.
static void begin(double first, double second, double third)
{
	const double part[SETS] = { 1, first, second, third };

	trials = (struct tare_blocks_trials){
		.set_count = SETS, .rounds = ROUNDS, .names = names, .name_count = 1
	};
	for (uint32_t i = 0; i < SETS; i++) {
		cells[i] = (struct tare_blocks_cell){ .launches = 3 };
		trials.sets[i].cells = &cells[i];
		for (uint32_t round = 0; round < ROUNDS; round++)
			cells[i].ns[round] = part[i] * (100 + 100.0 * round / (ROUNDS - 1));
	}
}

static void drift_is_no_difference(void **state)
{
	(void)state;
	begin(0.9, 1.0, 1.1);
	tare_blocks_trials_judge(&trials);
	assert_int_equal(cells[1].told, TARE_BLOCKS_FASTER);
	assert_int_equal(cells[2].told, TARE_BLOCKS_ALIKE);
	assert_int_equal(cells[3].told, TARE_BLOCKS_SLOWER);
	assert_true(cells[1].best && !cells[2].best && !cells[3].best);
	assert_float_equal(cells[1].ratio.value, 0.9, 1e-9);
}

static void one_round_against_it_is_enough(void **state)
{
	(void)state;
	begin(0.9, 0.9, 1.1);
	cells[1].ns[5] = 1.01 * cells[0].ns[5];
	cells[3].ns[0] = 0.99 * cells[0].ns[0];
	tare_blocks_trials_judge(&trials);
	assert_int_equal(cells[1].told, TARE_BLOCKS_ALIKE);
	assert_int_equal(cells[2].told, TARE_BLOCKS_FASTER);
	assert_int_equal(cells[3].told, TARE_BLOCKS_ALIKE);
	assert_true(!cells[1].best && cells[2].best);
}

static void two_that_are_alike_are_both_the_best(void **state)
{
	(void)state;
	begin(0.5, 0.5, 0.7);
	cells[1].ns[2] *= 1.01;
	cells[1].ns[3] *= 0.99;
	tare_blocks_trials_judge(&trials);
	assert_true(cells[1].best && cells[2].best && !cells[3].best);
}

static void few_rounds_and_other_launches_decide_nothing(void **state)
{
	(void)state;
	begin(0.5, 0.5, 0.5);
	for (uint32_t round = TARE_BLOCKS_LEAST_ROUNDS - 1; round < ROUNDS; round++)
		cells[1].ns[round] = 0;
	cells[2].launches = 4;
	cells[3].varies = true;
	tare_blocks_trials_judge(&trials);
	for (uint32_t i = 1; i < SETS; i++) {
		assert_int_equal(cells[i].told, TARE_BLOCKS_NOT_KNOWN);
		assert_false(cells[i].best);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(drift_is_no_difference),
		cmocka_unit_test(one_round_against_it_is_enough),
		cmocka_unit_test(two_that_are_alike_are_both_the_best),
		cmocka_unit_test(few_rounds_and_other_launches_decide_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
