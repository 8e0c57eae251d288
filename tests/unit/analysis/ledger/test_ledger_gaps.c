// SPDX-License-Identifier: Apache-2.0
// Idle gaps as they are kept: what goes in comes out, however far apart, long or divided.
#include "analysis/ledger/working.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { MANY = 100 };

// Every third begins hours behind the one before, every fifth is of seconds, every second has two
// parts. Every seventh ends before its command starts.
static struct tare_gap gap_of(uint32_t i, int64_t *at_ns, int64_t parts_ns[TARE_LEDGER_CATEGORIES])
{
	int64_t ns = i % 5 ? 10 + i : INT64_C(5000000000) + i;
	*at_ns += i % 3 ? 100 : INT64_C(7200000000000);
	struct tare_gap gap = { *at_ns, *at_ns + ns, 0, i, TARE_LEDGER_DISPATCH };
	*at_ns += ns;
	for (int k = 0; k < TARE_LEDGER_CATEGORIES; k++)
		parts_ns[k] = 0;
	parts_ns[TARE_LEDGER_API] = i % 2 ? 3 + i % 7 : 0;
	parts_ns[TARE_LEDGER_DISPATCH] = ns - parts_ns[TARE_LEDGER_API];
	return gap;
}

static struct tare_recorded_command commands[MANY];
static const struct tare_recording recording = { .command_count = MANY,
	                                         .commands.plain = commands };

static void fill(struct ledger_working_gaps *gaps)
{
	int64_t at_ns = -1000, parts_ns[TARE_LEDGER_CATEGORIES];
	for (uint32_t i = 0; i < MANY; i++) {
		struct tare_gap gap = gap_of(i, &at_ns, parts_ns);
		commands[i].start_ns = gap.to_ns + (i % 7 == 0);
		assert_int_equal(
		    ledger_working_add(gaps, &gap, parts_ns, (1u << TARE_LEDGER_CATEGORIES) - 1),
		    0);
	}
}

// Of `step` gaps that were made every one that is kept.
static void assert_all(const struct ledger_working_gaps *gaps, uint32_t step)
{
	int64_t at_ns = -1000, parts_ns[TARE_LEDGER_CATEGORIES];
	for (uint32_t i = 0; i < MANY; i++) {
		struct tare_gap made = gap_of(i, &at_ns, parts_ns);
		if (i % step)
			continue;
		struct ledger_working_gap gap = ledger_gap_at(gaps, i / step);
		assert_int_equal(gap.from_ns, made.from_ns);
		assert_int_equal(gap.to_ns, made.to_ns);
		assert_int_equal(gap.command, i);
		assert_int_equal(gap.cause, TARE_LEDGER_DISPATCH);
		assert_int_equal(gap.undivided, i % 2 == 0);
		assert_int_equal(gap.drained, i == 33);
		if (gap.undivided)
			continue;
		assert_true(*ledger_gap_part(gaps, &gap, TARE_LEDGER_API) ==
		            (float)parts_ns[TARE_LEDGER_API]);
		assert_true(*ledger_gap_part(gaps, &gap, TARE_LEDGER_DISPATCH) ==
		            (float)parts_ns[TARE_LEDGER_DISPATCH]);
	}
}

static void all_come_out(void **state)
{
	struct ledger_working_gaps gaps = { .recording = &recording };
	(void)state;
	fill(&gaps);
	ledger_gap_mark(&gaps, 33, LEDGER_GAP_DRAINED, true);
	assert_int_equal(gaps.count, MANY);
	// Those of seconds, and those that end before.
	assert_int_equal(gaps.wide_count, MANY / 5 + (MANY + 6) / 7 - (MANY + 34) / 35);
	assert_all(&gaps, 1);
	ledger_working_free_gaps(&gaps);
}

static bool is_third(const void *context, const struct ledger_working_gap *gap)
{
	return gap->command % *(const uint32_t *)context == 0;
}

static void some_are_kept(void **state)
{
	struct ledger_working_gaps gaps = { .recording = &recording };
	const uint32_t all = 1, thirds = 3;
	(void)state;
	fill(&gaps);
	ledger_gap_mark(&gaps, 33, LEDGER_GAP_DRAINED, true);
	const struct ledger_kept_gap *at = gaps.at;
	assert_int_equal(ledger_working_keep(&gaps, is_third, &all), 0);
	assert_ptr_equal(gaps.at, at);
	assert_int_equal(ledger_working_keep(&gaps, is_third, &thirds), 0);
	assert_int_equal(gaps.count, (MANY + 2) / 3);
	assert_all(&gaps, 3);
	ledger_working_free_gaps(&gaps);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_come_out),
		cmocka_unit_test(some_are_kept),
	};
	return cmocka_run_group_tests_name("ledger_gaps", tests, NULL, NULL);
}
