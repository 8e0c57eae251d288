// SPDX-License-Identifier: Apache-2.0
// How work is cut and issued: what holds for every schedule, and the orders spelt out.
#include "base/random.h"
#include "model/engine/schedule.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 64, ALL_STAGES = TARE_MODE_COUNT - 1 };

static struct tare_schedule schedule_of(uint32_t chunks, uint32_t queues, int order, int mechanism,
                                        int sizes)
{
	return (struct tare_schedule){ chunks, queues, (enum tare_issue_order)order,
		                       (enum tare_mechanism)mechanism,
		                       (enum tare_chunk_sizes)sizes };
}

// ---- steps

static const char *spell(const struct tare_schedule *schedule, uint32_t stages, char *text)
{
	struct tare_step steps[3 * MOST];
	size_t count = tare_schedule_steps(schedule, stages, steps), used = 0;

	text[0] = '\0';
	for (size_t i = 0; i < count; i++)
		used += (size_t)sprintf(text + used, "%s%c%u", i ? " " : "", "HKD"[steps[i].stage],
		                        steps[i].chunk);
	return text;
}

static void orders_are_as_named(void **state)
{
	static const struct {
		int order;
		uint32_t stages;
		const char *expected;
	} table[] = {
		{ TARE_ORDER_DEPTH_FIRST, ALL_STAGES, "H0 K0 D0 H1 K1 D1 H2 K2 D2" },
		{ TARE_ORDER_BREADTH_FIRST, ALL_STAGES, "H0 H1 H2 K0 K1 K2 D0 D1 D2" },
		{ TARE_ORDER_INTERLEAVED, ALL_STAGES, "H0 H1 K0 H2 K1 D0 K2 D1 D2" },
		{ TARE_ORDER_DEPTH_FIRST, 6, "K0 D0 K1 D1 K2 D2" },
		{ TARE_ORDER_BREADTH_FIRST, 3, "H0 H1 H2 K0 K1 K2" },
		{ TARE_ORDER_INTERLEAVED, 6, "K0 K1 D0 K2 D1 D2" },
		{ TARE_ORDER_INTERLEAVED, 2, "K0 K1 K2" },
		{ TARE_ORDER_INTERLEAVED, 0, "" },
	};
	char text[64 * MOST];
	(void)state;
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct tare_schedule schedule = schedule_of(3, 1, table[i].order, 0, 0);
		assert_string_equal(spell(&schedule, table[i].stages, text), table[i].expected);
	}
}

static void check_steps(const struct tare_schedule *schedule, uint32_t stages)
{
	struct tare_step steps[3 * MOST];
	bool seen[MOST][TARE_STAGE_COUNT] = { { false } };
	uint32_t queues = tare_schedule_queues(schedule), expected = 0;
	size_t count = tare_schedule_steps(schedule, stages, steps);

	for (int stage = 0; stage < TARE_STAGE_COUNT; stage++)
		expected += (stages >> stage & 1) * schedule->chunks;
	assert_int_equal(count, expected);
	for (size_t i = 0; i < count; i++) {
		const struct tare_step *step = &steps[i];
		bool first = true;
		assert_true(step->chunk < schedule->chunks);
		assert_true(step->queue < queues);
		assert_true(stages >> step->stage & 1);
		assert_false(seen[step->chunk][step->stage]);
		// What comes before it in its chunk is appended before it: in-order queues need no
		// more, and the others can wait for its event.
		for (int earlier = 0; earlier < (int)step->stage; earlier++)
			if (stages >> earlier & 1) {
				assert_true(seen[step->chunk][earlier]);
				first = false;
			}
		seen[step->chunk][step->stage] = true;
		if (schedule->mechanism == TARE_MECHANISM_CHUNK_QUEUES ||
		    schedule->mechanism == TARE_MECHANISM_GRAPH) {
			assert_false(step->waits);
			assert_int_equal(step->queue, step->chunk % schedule->queues);
		} else {
			assert_int_equal(step->waits, !first);
		}
		if (schedule->mechanism == TARE_MECHANISM_STAGE_QUEUES)
			assert_int_equal(step->queue, step->stage);
		// Chunks of one stage come in their order.
		for (uint32_t later = step->chunk + 1; later < schedule->chunks; later++)
			assert_false(seen[later][step->stage]);
	}
}

static void every_order_is_a_permutation_that_keeps_each_chunk_in_order(void **state)
{
	(void)state;
	for (int order = 0; order < TARE_ORDER_COUNT; order++)
		for (int mechanism = 0; mechanism < TARE_MECHANISM_COUNT; mechanism++)
			for (uint32_t chunks = 1; chunks <= MOST; chunks = chunks * 3 / 2 + 1)
				for (uint32_t queues = 1; queues <= 5; queues++)
					for (uint32_t stages = 1; stages <= ALL_STAGES; stages++) {
						struct tare_schedule schedule = schedule_of(
						    chunks, queues, order, mechanism, 0);
						check_steps(&schedule, stages);
					}
}

// ---- chunks

static void check_chunks(const struct tare_schedule *schedule, uint64_t items, uint64_t align)
{
	uint64_t starts[MOST], sizes[MOST], least = UINT64_MAX, most = 0, next = 0;
	uint64_t units = (items + align - 1) / align;
	struct tare_error error = { 0 };
	int status = tare_schedule_chunks(schedule, items, align, starts, sizes, &error);

	if (units < schedule->chunks) {
		assert_int_equal(status, -ERANGE);
		assert_true(strlen(error.message) > 0);
		return;
	}
	assert_int_equal(status, 0);
	for (uint32_t i = 0; i < schedule->chunks; i++) {
		assert_true(starts[i] == next);
		assert_true(starts[i] % align == 0);
		assert_true(sizes[i] > 0);
		next += sizes[i];
		least = sizes[i] < least ? sizes[i] : least;
		most = sizes[i] > most ? sizes[i] : most;
	}
	assert_true(next == items);
	if (schedule->sizes == TARE_CHUNKS_EQUAL)
		assert_true(most - least <= align);
}

static void chunks_cover_all_items_once_and_are_aligned(void **state)
{
	struct tare_random random = { 7 };
	(void)state;
	for (int i = 0; i < 20000; i++) {
		uint32_t chunks = 1 + (uint32_t)tare_random_below(&random, MOST);
		uint64_t align = 1 + tare_random_below(&random, i % 2 ? 300 : 3);
		uint64_t items = 1 + tare_random_below(&random, i % 3 ? 100000 : 300);
		struct tare_schedule schedule = schedule_of(chunks, 1, 0, 0, i % TARE_CHUNKS_COUNT);
		check_chunks(&schedule, items, align);
	}
	// As many items as a 64-bit count can tell.
	struct tare_schedule schedule = schedule_of(MOST, 1, 0, 0, TARE_CHUNKS_TAPERED);
	check_chunks(&schedule, UINT64_MAX - 100, 64);
}

static void chunks_have_the_sizes_that_they_should(void **state)
{
	static const struct {
		uint32_t chunks;
		int sizes;
		uint64_t items, align, expected[7];
	} table[] = {
		{ 1, TARE_CHUNKS_TAPERED, 10, 1, { 10 } },
		{ 3, TARE_CHUNKS_EQUAL, 10, 1, { 3, 3, 4 } },
		{ 3, TARE_CHUNKS_EQUAL, 10, 4, { 4, 4, 2 } },
		{ 2, TARE_CHUNKS_EQUAL, 18, 4, { 8, 10 } },
		{ 2, TARE_CHUNKS_TAPERED, 10, 1, { 5, 5 } },
		{ 3, TARE_CHUNKS_TAPERED, 4003, 1, { 1001, 2001, 1001 } },
		{ 7, TARE_CHUNKS_TAPERED, 18007, 1, { 1001, 2001, 4001, 4001, 4001, 2001, 1001 } },
	};
	(void)state;
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct tare_schedule schedule =
		    schedule_of(table[i].chunks, 1, 0, 0, table[i].sizes);
		uint64_t starts[7], sizes[7];
		assert_int_equal(tare_schedule_chunks(&schedule, table[i].items, table[i].align,
		                                      starts, sizes, NULL),
		                 0);
		for (uint32_t chunk = 0; chunk < table[i].chunks; chunk++)
			assert_int_equal(sizes[chunk], table[i].expected[chunk]);
	}
}

static void too_many_chunks_are_refused(void **state)
{
	static const struct {
		uint32_t chunks;
		uint64_t items, align;
	} table[] = {
		{ 0, 10, 1 }, { 11, 10, 1 }, { 4, 10, 4 }, { 1, 0, 1 }, { 2, 100, 100 },
	};
	uint64_t starts[16], sizes[16];
	struct tare_error error = { 0 };
	(void)state;
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct tare_schedule schedule = schedule_of(table[i].chunks, 1, 0, 0, 0);
		assert_int_equal(tare_schedule_chunks(&schedule, table[i].items, table[i].align,
		                                      starts, sizes, &error),
		                 -ERANGE);
	}
	assert_string_equal(error.message, "100 items cannot be cut into 2 chunks that begin at "
	                                   "multiples of 100 items; use at most 1");
}

// ---- words

static void schedules_are_said_in_words(void **state)
{
	static const struct {
		struct tare_schedule schedule;
		const char *expected;
	} table[] = {
		{ { 32, 3, TARE_ORDER_INTERLEAVED, TARE_MECHANISM_CHUNK_QUEUES, TARE_CHUNKS_EQUAL },
		  "32 chunks, 3 queues, interleaved" },
		{ { 1, 1, TARE_ORDER_DEPTH_FIRST, TARE_MECHANISM_CHUNK_QUEUES, TARE_CHUNKS_EQUAL },
		  "1 chunk, 1 queue" },
		{ { 8, 3, TARE_ORDER_DEPTH_FIRST, TARE_MECHANISM_STAGE_QUEUES,
		    TARE_CHUNKS_TAPERED },
		  "8 tapered chunks, a queue for each stage" },
		{ { 8, 1, TARE_ORDER_BREADTH_FIRST, TARE_MECHANISM_OUT_OF_ORDER,
		    TARE_CHUNKS_EQUAL },
		  "8 chunks, one out-of-order queue, breadth-first" },
	};
	char text[128], little[8];
	(void)state;
	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		assert_string_equal(tare_schedule_text(&table[i].schedule, text, sizeof text),
		                    table[i].expected);
	assert_string_equal(tare_schedule_text(&table[0].schedule, little, sizeof little),
	                    "32 chun");
	assert_string_equal(tare_order_name(TARE_ORDER_COUNT), "");
	assert_string_equal(tare_mechanism_name(TARE_MECHANISM_STAGE_QUEUES), "stage-queues");
	assert_string_equal(tare_chunk_sizes_name(TARE_CHUNKS_TAPERED), "tapered");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(orders_are_as_named),
		cmocka_unit_test(every_order_is_a_permutation_that_keeps_each_chunk_in_order),
		cmocka_unit_test(chunks_cover_all_items_once_and_are_aligned),
		cmocka_unit_test(chunks_have_the_sizes_that_they_should),
		cmocka_unit_test(too_many_chunks_are_refused),
		cmocka_unit_test(schedules_are_said_in_words),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
