// SPDX-License-Identifier: Apache-2.0
// How long something had run before a time, against adding up.
#include "analysis/core/busy.h"

#include "base/random.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

enum { SPANS = 300, ROUNDS = 60 };

struct span {
	int64_t from_ns, to_ns;
};

// Begins by begin, a few of them hours apart or hours long, some on top of one another.
static void make_spans(struct tare_random *random, struct span *spans)
{
	int64_t at_ns = 1000;
	for (int i = 0; i < SPANS; i++) {
		bool far = tare_random_below(random, 40) == 0,
		     wide = tare_random_below(random, 40) == 0;
		at_ns += (int64_t)tare_random_below(random, far ? UINT64_C(20000000000000) : 300);
		spans[i].from_ns = at_ns;
		spans[i].to_ns = at_ns + (int64_t)tare_random_below(
		                             random, wide ? UINT64_C(9000000000000) : 200);
	}
}

static int64_t added_up(const struct span *spans, int64_t before_ns)
{
	int64_t sum_ns = 0, covered_ns = INT64_MIN;
	for (int i = 0; i < SPANS; i++) {
		int64_t from_ns = spans[i].from_ns > covered_ns ? spans[i].from_ns : covered_ns;
		int64_t to_ns = spans[i].to_ns < before_ns ? spans[i].to_ns : before_ns;
		if (to_ns > from_ns)
			sum_ns += to_ns - from_ns;
		covered_ns = to_ns > covered_ns ? to_ns : covered_ns;
	}
	return sum_ns;
}

static void what_ran_before_is_what_adding_up_gives(void **state)
{
	struct tare_random random = { 5 };
	size_t blocks = 0;
	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		struct span spans[SPANS];
		struct tare_busy busy = { 0 };
		make_spans(&random, spans);
		for (int i = 0; i < SPANS; i++)
			assert_int_equal(tare_busy_add(&busy, spans[i].from_ns, spans[i].to_ns), 0);
		for (int i = 0; i < SPANS; i++) {
			const struct span *near = &spans[tare_random_below(&random, SPANS)];
			const int64_t asked[] = { near->from_ns,     near->to_ns,
				                  near->from_ns - 1, near->from_ns + 1,
				                  near->to_ns + 70,  0,
				                  INT64_MAX };
			for (size_t k = 0; k < sizeof asked / sizeof *asked; k++)
				assert_true(tare_busy_before(&busy, asked[k]) ==
				            added_up(spans, asked[k]));
		}
		assert_true(tare_busy_total(&busy) == added_up(spans, INT64_MAX));
		blocks += busy.block_count;
		tare_busy_shrink(&busy);
		assert_true(tare_busy_total(&busy) == added_up(spans, INT64_MAX));
		tare_busy_free(&busy);
	}
	assert_in_range(blocks, 2 * ROUNDS, ROUNDS * SPANS / 2);
}

static void a_walk_gives_the_pieces_in_order(void **state)
{
	struct tare_random random = { 6 };
	struct span spans[SPANS];
	struct tare_busy busy = { 0 };
	int64_t to_ns = INT64_MIN, sum_ns = 0;
	(void)state;
	make_spans(&random, spans);
	for (int i = 0; i < SPANS; i++)
		assert_int_equal(tare_busy_add(&busy, spans[i].from_ns, spans[i].to_ns), 0);
	for (struct tare_busy_walk walk = { 0 }; tare_busy_next(&busy, &walk);) {
		assert_true(walk.piece.from_ns > to_ns && walk.piece.to_ns > walk.piece.from_ns);
		assert_true(walk.piece.before_ns == sum_ns);
		to_ns = walk.piece.to_ns;
		sum_ns += to_ns - walk.piece.from_ns;
	}
	assert_true(sum_ns == tare_busy_total(&busy));
	assert_int_equal(tare_busy_add(&busy, busy.from_ns - 1, INT64_MAX), -EINVAL);
	assert_true(sum_ns == tare_busy_total(&busy));
	tare_busy_free(&busy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_ran_before_is_what_adding_up_gives),
		cmocka_unit_test(a_walk_gives_the_pieces_in_order),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
