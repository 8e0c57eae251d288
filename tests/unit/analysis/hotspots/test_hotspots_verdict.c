// SPDX-License-Identifier: Apache-2.0
// Verdicts of kernels made by hand: docs/hotspots-verdicts.md.
#include "analysis/hotspots/roles.h"
#include "analysis/hotspots/verdict.h"
#include "base/random.h"
#include "made_counted.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct tare_kernel_verdict judge(const struct tare_counted_kernel *kernel)
{
	struct tare_kernel_verdict verdict;

	tare_hotspot_judge(kernel, &made_device, &verdict);
	return verdict;
}

static void each_kernel_has_its_bound(void **state)
{
	static const struct {
		enum tare_kernel_bound bound, next;
		double margin;
		enum tare_counter_role role; // of the limit; ROLES: it is none
		enum tare_counter_role pipe;
	} rows[] = {
		[MADE_COPY] = { TARE_KERNEL_BOUND_DEVICE_MEMORY, TARE_KERNEL_BOUND_LATENCY, 32,
		                TARE_COUNTER_DEVICE_MEMORY_SHARE, TARE_COUNTER_PIPE_ALU_SHARE },
		[MADE_NAIVE] = { TARE_KERNEL_BOUND_L1, TARE_KERNEL_BOUND_LATENCY, 88 / 0.98 - 60,
		                 TARE_COUNTER_L1_SHARE, TARE_COUNTER_PIPE_ALU_SHARE },
		[MADE_SHARED] = { TARE_KERNEL_BOUND_L2, TARE_KERNEL_BOUND_LATENCY, 25,
		                  TARE_COUNTER_L2_SHARE, TARE_COUNTER_PIPE_ALU_SHARE },
		[MADE_FMA] = { TARE_KERNEL_BOUND_COMPUTE, TARE_KERNEL_BOUND_LATENCY, 5,
		               TARE_COUNTER_ISSUE_SHARE, TARE_COUNTER_PIPE_FMA_SHARE },
		[MADE_MATRIX] = { TARE_KERNEL_BOUND_COMPUTE, TARE_KERNEL_BOUND_LATENCY, 31,
		                  TARE_COUNTER_PIPE_TENSOR_SHARE, TARE_COUNTER_PIPE_TENSOR_SHARE },
		[MADE_CHASE] = { TARE_KERNEL_BOUND_LATENCY, TARE_KERNEL_BOUND_L2, 51,
		                 TARE_COUNTER_ROLES, TARE_COUNTER_PIPE_ALU_SHARE },
		[MADE_ONE] = { TARE_KERNEL_BOUND_TOO_SMALL, TARE_KERNEL_BOUND_COMPUTE, 30,
		               TARE_COUNTER_ROLES, TARE_COUNTER_PIPE_ALU_SHARE },
		[MADE_FEW] = { TARE_KERNEL_BOUND_TOO_SMALL, TARE_KERNEL_BOUND_COMPUTE, 35,
		               TARE_COUNTER_ROLES, TARE_COUNTER_PIPE_FMA_SHARE },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tare_counted_kernel kernel = made_kernel((enum made_kernel)i);
		struct tare_kernel_verdict verdict = judge(&kernel);
		assert_int_equal(verdict.bound, rows[i].bound);
		assert_true(tare_kernel_verdict_decided(&verdict));
		assert_int_equal(verdict.next, rows[i].next);
		assert_true(fabs(verdict.margin - rows[i].margin) < 1e-9);
		assert_int_equal(verdict.pipe, rows[i].pipe);
		assert_int_equal(verdict.contradiction_count, 0);
		assert_int_equal(verdict.missing, 0);
		if (rows[i].role != TARE_COUNTER_ROLES)
			assert_int_equal(verdict.limits[verdict.bound].role, rows[i].role);
	}
}

static void what_is_busy_only_while_cores_are_is_measured_by_that_time(void **state)
{
	struct tare_counted_kernel kernel = made_kernel(MADE_NAIVE);
	struct tare_kernel_verdict verdict;

	(void)state;
	// A third of the time without work: L1 is full in the rest.
	made_set(&kernel, TARE_COUNTER_CORES_ACTIVE_SHARE, 66);
	made_set(&kernel, TARE_COUNTER_L1_SHARE, 58);
	verdict = judge(&kernel);
	assert_int_equal(verdict.bound, TARE_KERNEL_BOUND_L1);
	assert_true(fabs(verdict.limits[TARE_KERNEL_BOUND_L1].share - 58 / 0.66) < 1e-9);
	assert_true(fabs(verdict.limits[TARE_KERNEL_BOUND_L1].of_time - 0.58) < 1e-9);
}

static void two_within_their_errors_are_not_decided(void **state)
{
	struct tare_counted_kernel kernel = made_kernel(MADE_COPY);
	struct tare_kernel_verdict verdict;

	(void)state;
	made_set(&kernel, TARE_COUNTER_L2_SHARE, 88);
	verdict = judge(&kernel);
	assert_int_equal(verdict.bound, TARE_KERNEL_BOUND_DEVICE_MEMORY);
	assert_false(tare_kernel_verdict_decided(&verdict));
	assert_int_equal(verdict.possible,
	                 1 << TARE_KERNEL_BOUND_DEVICE_MEMORY | 1 << TARE_KERNEL_BOUND_L2);
	assert_int_equal(verdict.next, TARE_KERNEL_BOUND_L2);
	assert_true(fabs(verdict.margin - 4) < 1e-9);
	// Neither alone, but both together: 4 % of 92, 2 points.
	made_set(&kernel, TARE_COUNTER_L2_SHARE, 87);
	assert_int_equal(judge(&kernel).possible,
	                 1 << TARE_KERNEL_BOUND_DEVICE_MEMORY | 1 << TARE_KERNEL_BOUND_L2);
	made_set(&kernel, TARE_COUNTER_L2_SHARE, 86);
	verdict = judge(&kernel);
	assert_true(tare_kernel_verdict_decided(&verdict));
	// Run more than once, L2 is off by 11 %.
	kernel.replayed = true;
	verdict = judge(&kernel);
	assert_false(tare_kernel_verdict_decided(&verdict));
}

static void near_a_threshold_is_not_decided(void **state)
{
	static const struct {
		enum made_kernel of;
		enum tare_counter_role role;
		double value;
		unsigned possible;
	} rows[] = {
		{ MADE_FMA, TARE_COUNTER_ISSUE_SHARE, 61,
		  1 << TARE_KERNEL_BOUND_COMPUTE | 1 << TARE_KERNEL_BOUND_LATENCY },
		{ MADE_FMA, TARE_COUNTER_ISSUE_SHARE, 59,
		  1 << TARE_KERNEL_BOUND_COMPUTE | 1 << TARE_KERNEL_BOUND_LATENCY },
		{ MADE_FMA, TARE_COUNTER_ISSUE_SHARE, 57, 1 << TARE_KERNEL_BOUND_LATENCY },
		{ MADE_FMA, TARE_COUNTER_CORES_ACTIVE_SHARE, 21,
		  1 << TARE_KERNEL_BOUND_COMPUTE | 1 << TARE_KERNEL_BOUND_TOO_SMALL },
		{ MADE_FMA, TARE_COUNTER_CORES_ACTIVE_SHARE, 19,
		  1 << TARE_KERNEL_BOUND_COMPUTE | 1 << TARE_KERNEL_BOUND_TOO_SMALL },
		{ MADE_FMA, TARE_COUNTER_CORES_ACTIVE_SHARE, 17, 1 << TARE_KERNEL_BOUND_TOO_SMALL },
		// Idle 48, stalled 49.92: two points of activity turn that round.
		{ MADE_CHASE, TARE_COUNTER_CORES_ACTIVE_SHARE, 52,
		  1 << TARE_KERNEL_BOUND_LATENCY | 1 << TARE_KERNEL_BOUND_TOO_SMALL },
		{ MADE_CHASE, TARE_COUNTER_CORES_ACTIVE_SHARE, 60, 1 << TARE_KERNEL_BOUND_LATENCY },
		{ MADE_CHASE, TARE_COUNTER_CORES_ACTIVE_SHARE, 45,
		  1 << TARE_KERNEL_BOUND_TOO_SMALL },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tare_counted_kernel kernel = made_kernel(rows[i].of);
		made_set(&kernel, rows[i].role, rows[i].value);
		made_set(&kernel, TARE_COUNTER_L1_SHARE, 1);
		assert_int_equal(judge(&kernel).possible, rows[i].possible);
	}
}

static void what_was_not_counted_is_not_ruled_out(void **state)
{
	struct tare_counted_kernel kernel = made_kernel(MADE_CHASE);
	struct tare_kernel_verdict verdict;

	(void)state;
	made_unset(&kernel, TARE_COUNTER_DEVICE_MEMORY_SHARE, TARE_COUNTER_NOT_ON_DEVICE);
	verdict = judge(&kernel);
	assert_int_equal(verdict.missing, 1 << TARE_KERNEL_BOUND_DEVICE_MEMORY);
	assert_int_equal(verdict.possible,
	                 1 << TARE_KERNEL_BOUND_LATENCY | 1 << TARE_KERNEL_BOUND_DEVICE_MEMORY);
	// A limit that is full is full, whatever else is.
	kernel = made_kernel(MADE_SHARED);
	made_unset(&kernel, TARE_COUNTER_DEVICE_MEMORY_SHARE, TARE_COUNTER_NOT_ON_DEVICE);
	verdict = judge(&kernel);
	assert_true(tare_kernel_verdict_decided(&verdict));
	assert_int_equal(verdict.missing, 1 << TARE_KERNEL_BOUND_DEVICE_MEMORY);
	// Without the time of the cores arithmetic may be that of one core.
	kernel = made_kernel(MADE_FMA);
	made_unset(&kernel, TARE_COUNTER_CORES_ACTIVE_SHARE, TARE_COUNTER_NO_INSTANCE);
	assert_int_equal(judge(&kernel).possible,
	                 1 << TARE_KERNEL_BOUND_COMPUTE | 1 << TARE_KERNEL_BOUND_TOO_SMALL);
	// Memory that is busy has cores that wait for it.
	kernel = made_kernel(MADE_COPY);
	made_unset(&kernel, TARE_COUNTER_CORES_ACTIVE_SHARE, TARE_COUNTER_NO_INSTANCE);
	assert_true(
	    tare_kernel_verdict_decided(&(struct tare_kernel_verdict[]){ judge(&kernel) }[0]));
	// A pipe that was not counted may be full though little is issued.
	kernel = made_kernel(MADE_CHASE);
	made_unset(&kernel, TARE_COUNTER_PIPE_FP64_SHARE, TARE_COUNTER_NO_INSTANCE);
	assert_int_equal(judge(&kernel).possible,
	                 1 << TARE_KERNEL_BOUND_LATENCY | 1 << TARE_KERNEL_BOUND_COMPUTE);
	// Without the issue rate, arithmetic and the split of the rest are open.
	kernel = made_kernel(MADE_FEW);
	made_unset(&kernel, TARE_COUNTER_ISSUE_SHARE, TARE_COUNTER_REFUSED);
	verdict = judge(&kernel);
	assert_int_equal(verdict.possible,
	                 1 << TARE_KERNEL_BOUND_COMPUTE | 1 << TARE_KERNEL_BOUND_TOO_SMALL);
}

static void nothing_counted_is_not_known(void **state)
{
	struct tare_counted_kernel kernel = made_kernel(MADE_CAPTURED);
	struct tare_kernel_verdict verdict = judge(&kernel);

	(void)state;
	assert_int_equal(verdict.bound, TARE_KERNEL_BOUND_NOT_KNOWN);
	assert_false(tare_kernel_verdict_decided(&verdict));
	kernel = made_uncounted("x");
	assert_int_equal(judge(&kernel).bound, TARE_KERNEL_BOUND_NOT_KNOWN);
	// What a kernel that was left alone seems to have is not looked at.
	kernel = made_kernel(MADE_COPY);
	kernel.uncounted = TARE_UNCOUNTED_FAILED;
	assert_int_equal(judge(&kernel).bound, TARE_KERNEL_BOUND_NOT_KNOWN);
}

static void pipes_that_are_alike_are_both_named(void **state)
{
	struct tare_counted_kernel kernel = made_kernel(MADE_FMA);

	(void)state;
	assert_int_equal(judge(&kernel).other_pipe, TARE_COUNTER_ROLES);
	made_set(&kernel, TARE_COUNTER_PIPE_ALU_SHARE, 51);
	assert_int_equal(judge(&kernel).pipe, TARE_COUNTER_PIPE_FMA_SHARE);
	assert_int_equal(judge(&kernel).other_pipe, TARE_COUNTER_PIPE_ALU_SHARE);
	// Load and store units are L1's.
	made_set(&kernel, TARE_COUNTER_PIPE_MEMORY_SHARE, 90);
	assert_int_equal(judge(&kernel).bound, TARE_KERNEL_BOUND_L1);
	assert_int_equal(judge(&kernel).limits[TARE_KERNEL_BOUND_L1].role,
	                 TARE_COUNTER_PIPE_MEMORY_SHARE);
}

static void integer_multiplication_fills_half_of_a_pipe(void **state)
{
	struct tare_counted_kernel kernel = made_kernel(MADE_FMA);

	(void)state;
	// As busy as the whole pipe: single precision is what is done.
	made_set(&kernel, TARE_COUNTER_PIPE_INTEGER_MULTIPLY_SHARE, 55);
	assert_int_equal(judge(&kernel).pipe, TARE_COUNTER_PIPE_FMA_SHARE);
	assert_int_equal(judge(&kernel).other_pipe, TARE_COUNTER_ROLES);
	made_set(&kernel, TARE_COUNTER_ISSUE_SHARE, 50);
	made_set(&kernel, TARE_COUNTER_PIPE_FMA_SHARE, 48);
	assert_int_equal(judge(&kernel).bound, TARE_KERNEL_BOUND_LATENCY);
	made_set(&kernel, TARE_COUNTER_PIPE_INTEGER_MULTIPLY_SHARE, 96);
	assert_int_equal(judge(&kernel).bound, TARE_KERNEL_BOUND_COMPUTE);
	assert_int_equal(judge(&kernel).possible, 1 << TARE_KERNEL_BOUND_COMPUTE);
	assert_int_equal(judge(&kernel).pipe, TARE_COUNTER_PIPE_INTEGER_MULTIPLY_SHARE);
	assert_int_equal(judge(&kernel).other_pipe, TARE_COUNTER_ROLES);
	assert_int_equal(judge(&kernel).limits[TARE_KERNEL_BOUND_COMPUTE].role,
	                 TARE_COUNTER_PIPE_INTEGER_MULTIPLY_SHARE);
	// As a matrix product in registers was counted on an H100, which multiplies no integers
	// to speak of: floats are not dealt quite evenly.
	made_set(&kernel, TARE_COUNTER_ISSUE_SHARE, 63.3);
	made_set(&kernel, TARE_COUNTER_PIPE_FMA_SHARE, 51.8);
	made_set(&kernel, TARE_COUNTER_PIPE_INTEGER_MULTIPLY_SHARE, 58.6);
	assert_int_equal(judge(&kernel).bound, TARE_KERNEL_BOUND_COMPUTE);
	assert_int_equal(judge(&kernel).pipe, TARE_COUNTER_PIPE_FMA_SHARE);
	assert_int_equal(judge(&kernel).other_pipe, TARE_COUNTER_ROLES);
	// Without the whole pipe's figure it is not known whose work it is.
	made_unset(&kernel, TARE_COUNTER_PIPE_FMA_SHARE, TARE_COUNTER_NO_INSTANCE);
	assert_int_equal(judge(&kernel).pipe, TARE_COUNTER_PIPE_ALU_SHARE);
	assert_int_equal(judge(&kernel).limits[TARE_KERNEL_BOUND_COMPUTE].role,
	                 TARE_COUNTER_ISSUE_SHARE);
}

static void what_cannot_be_is_said_and_not_used(void **state)
{
	static const struct {
		enum tare_counter_role role;
		double value;
		enum tare_contradiction_kind kind;
	} rows[] = {
		{ TARE_COUNTER_L2_SHARE, 103, TARE_CONTRADICTION_OVER_MAXIMUM },
		{ TARE_COUNTER_CORES_ACTIVE_SHARE, 110, TARE_CONTRADICTION_OVER_MAXIMUM },
		{ TARE_COUNTER_ISSUE_SHARE, -1, TARE_CONTRADICTION_NO_NUMBER },
		{ TARE_COUNTER_ISSUE_SHARE, NAN, TARE_CONTRADICTION_NO_NUMBER },
		{ TARE_COUNTER_DEVICE_READ_BYTES, INFINITY, TARE_CONTRADICTION_NO_NUMBER },
		{ TARE_COUNTER_DEVICE_READ_BYTES, 5e9, TARE_CONTRADICTION_OVER_PAPER },
		{ TARE_COUNTER_L2_BYTES, 100e6, TARE_CONTRADICTION_OVER_WHOLE },
	};
	struct tare_counted_kernel kernel = made_kernel(MADE_COPY);
	struct tare_kernel_verdict verdict;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct tare_contradiction *found;
		kernel = made_kernel(MADE_COPY);
		made_set(&kernel, rows[i].role, rows[i].value);
		verdict = judge(&kernel);
		found = tare_kernel_verdict_contradiction(&verdict, rows[i].role);
		assert_non_null(found);
		assert_int_equal(found->kind, rows[i].kind);
		assert_int_equal(verdict.bound, TARE_KERNEL_BOUND_DEVICE_MEMORY);
	}
	// Rounding is none.
	made_set(&kernel, TARE_COUNTER_DEVICE_MEMORY_SHARE, 101);
	verdict = judge(&kernel);
	assert_null(tare_kernel_verdict_contradiction(&verdict, TARE_COUNTER_DEVICE_MEMORY_SHARE));
	assert_true(verdict.limits[TARE_KERNEL_BOUND_DEVICE_MEMORY].share <= 100);
	// What the verdict would rest on is not used either.
	made_set(&kernel, TARE_COUNTER_DEVICE_MEMORY_SHARE, 130);
	verdict = judge(&kernel);
	assert_false(verdict.limits[TARE_KERNEL_BOUND_DEVICE_MEMORY].known);
	assert_int_not_equal(verdict.bound, TARE_KERNEL_BOUND_DEVICE_MEMORY);
	kernel = made_kernel(MADE_NAIVE);
	made_set(&kernel, TARE_COUNTER_CORES_ACTIVE_SHARE, 60);
	verdict = judge(&kernel);
	assert_non_null(tare_kernel_verdict_contradiction(&verdict, TARE_COUNTER_L1_SHARE));
	assert_int_equal(verdict.limits[TARE_KERNEL_BOUND_L1].role, TARE_COUNTER_PIPE_MEMORY_SHARE);
	kernel.occupancy_possible = 50;
	verdict = judge(&kernel);
	assert_non_null(tare_kernel_verdict_contradiction(&verdict, TARE_COUNTER_OCCUPANCY_SHARE));
}

static void every_role_has_a_name(void **state)
{
	(void)state;
	for (enum tare_counter_role role = 0; role < TARE_COUNTER_ROLES; role++) {
		assert_non_null(tare_counter_roles[role].key);
		assert_non_null(tare_counter_roles[role].title);
		for (enum tare_counter_role other = 0; other < role; other++)
			assert_string_not_equal(tare_counter_roles[role].key,
			                        tare_counter_roles[other].key);
	}
}

static void the_busiest_part_of_l2_counts(void **state)
{
	static const enum tare_counter_role others[] = { TARE_COUNTER_L1_TO_L2_SHARE,
		                                         TARE_COUNTER_L2_LOOKUP_SHARE };
	struct tare_counted_kernel kernel = made_kernel(MADE_CHASE);
	struct tare_kernel_verdict verdict;

	(void)state;
	made_set(&kernel, TARE_COUNTER_L2_TO_L1_SHARE, 80);
	verdict = judge(&kernel);
	assert_int_equal(verdict.bound, TARE_KERNEL_BOUND_L2);
	assert_int_equal(verdict.limits[TARE_KERNEL_BOUND_L2].role, TARE_COUNTER_L2_TO_L1_SHARE);
	for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
		made_set(&kernel, others[i], 90);
		verdict = judge(&kernel);
		assert_int_equal(verdict.bound, TARE_KERNEL_BOUND_L2);
		assert_int_equal(verdict.limits[TARE_KERNEL_BOUND_L2].role, others[i]);
		made_unset(&kernel, others[i], TARE_COUNTER_NO_INSTANCE);
	}
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		made_set(&kernel, others[i], 3);
	// Alone it does not tell how busy L2 is.
	made_set(&kernel, TARE_COUNTER_L2_TO_L1_SHARE, 8);
	made_unset(&kernel, TARE_COUNTER_L2_SHARE, TARE_COUNTER_NO_INSTANCE);
	assert_int_equal(judge(&kernel).missing, 1 << TARE_KERNEL_BOUND_L2);
}

static void cores_in_another_order_are_a_contradiction(void **state)
{
	struct tare_counted_kernel kernel = made_kernel(MADE_COPY);

	(void)state;
	made_set(&kernel, TARE_COUNTER_CORE_ACTIVE_LEAST, 10);
	made_set(&kernel, TARE_COUNTER_CORE_ACTIVE_MEAN, 50);
	made_set(&kernel, TARE_COUNTER_CORE_ACTIVE_MOST, 100);
	assert_int_equal(judge(&kernel).contradiction_count, 0);
	made_set(&kernel, TARE_COUNTER_CORE_ACTIVE_MOST, 40);
	assert_int_equal(judge(&kernel).contradictions[0].kind, TARE_CONTRADICTION_ORDER);
}

static double share(struct tare_random *random)
{
	return (double)tare_random_below(random, 1001) / 10;
}

// Properties that hold whatever was counted.
static void random_kernels_keep_to_the_rules(void **state)
{
	struct tare_random random = { 20 };
	unsigned seen = 0;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		struct tare_counted_kernel kernel = made_kernel(MADE_COPY);
		struct tare_kernel_verdict verdict, slower, wider;
		double active = share(&random), issue = share(&random) / 2;
		made_set(&kernel, TARE_COUNTER_CORES_ACTIVE_SHARE, active);
		made_set(&kernel, TARE_COUNTER_ISSUE_SHARE, issue);
		made_set(&kernel, TARE_COUNTER_DEVICE_MEMORY_SHARE, share(&random) / 1.5);
		made_set(&kernel, TARE_COUNTER_L2_SHARE, share(&random));
		made_set(&kernel, TARE_COUNTER_L1_SHARE, share(&random) * active / 100);
		verdict = judge(&kernel);
		assert_true(verdict.possible & 1U << verdict.bound);
		assert_int_not_equal(verdict.next, verdict.bound);
		assert_true(verdict.margin >= 0);
		seen |= tare_kernel_verdict_decided(&verdict) ? 1U << verdict.bound : 1U;
		// All of it twice as long, with the same shares.
		made_set(&kernel, TARE_COUNTER_DURATION_NS, 2e6);
		slower = judge(&kernel);
		assert_int_equal(slower.bound, verdict.bound);
		assert_int_equal(slower.possible, verdict.possible);
		// A wider spread never decides what was open.
		made_spread(&kernel, TARE_COUNTER_L2_SHARE, 0, 100);
		wider = judge(&kernel);
		assert_int_equal(wider.possible & verdict.possible, verdict.possible);
		// Nearer to its limit, it stays bound by it.
		if (verdict.bound == TARE_KERNEL_BOUND_DEVICE_MEMORY) {
			made_set(&kernel, TARE_COUNTER_DEVICE_MEMORY_SHARE, 99);
			assert_int_equal(judge(&kernel).bound, TARE_KERNEL_BOUND_DEVICE_MEMORY);
		}
	}
	// Every verdict was among them, and undecided ones.
	assert_int_equal(seen | 1U << TARE_KERNEL_BOUND_COMPUTE, (1U << TARE_KERNEL_BOUNDS) - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_kernel_has_its_bound),
		cmocka_unit_test(what_is_busy_only_while_cores_are_is_measured_by_that_time),
		cmocka_unit_test(two_within_their_errors_are_not_decided),
		cmocka_unit_test(near_a_threshold_is_not_decided),
		cmocka_unit_test(what_was_not_counted_is_not_ruled_out),
		cmocka_unit_test(nothing_counted_is_not_known),
		cmocka_unit_test(pipes_that_are_alike_are_both_named),
		cmocka_unit_test(integer_multiplication_fills_half_of_a_pipe),
		cmocka_unit_test(what_cannot_be_is_said_and_not_used),
		cmocka_unit_test(every_role_has_a_name),
		cmocka_unit_test(the_busiest_part_of_l2_counts),
		cmocka_unit_test(cores_in_another_order_are_a_contradiction),
		cmocka_unit_test(random_kernels_keep_to_the_rules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
