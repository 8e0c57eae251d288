// SPDX-License-Identifier: Apache-2.0
// Idle gaps, and threads' commands, as they are kept: what goes in comes out, however far apart,
// long, divided or unlike.
#include "analysis/ledger/host_internal.h"
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

// Gaps of more kinds than have a number; each kind twice.
static void more_kinds_than_are_numbered(void **state)
{
	enum { PATTERNS = 1 << 9, KINDS = LEDGER_GAP_KINDS + 200 };
	struct ledger_working_gaps gaps = { .recording = &recording };
	(void)state;
	for (uint32_t i = 0; i < 2 * KINDS; i++) {
		uint32_t kind = i % KINDS, has = 1 + kind % (PATTERNS - 1);
		int64_t parts_ns[TARE_LEDGER_CATEGORIES] = { 0 };
		struct tare_gap gap = { 100 * (int64_t)i,
			                100 * (int64_t)i + __builtin_popcount(has), 0, i % MANY,
			                kind / (PATTERNS - 1) };
		for (uint32_t left = has; left; left &= left - 1)
			parts_ns[TARE_LEDGER_BEFORE_FIRST + __builtin_ctz(left)] = 1;
		commands[i % MANY].start_ns = gap.to_ns;
		assert_int_equal(
		    ledger_working_add(&gaps, &gap, parts_ns, (1u << TARE_LEDGER_CATEGORIES) - 1),
		    0);
		// While its command starts when it ends.
		struct ledger_working_gap kept = ledger_gap_at(&gaps, i);
		assert_int_equal(kept.from_ns, gap.from_ns);
		assert_int_equal(kept.to_ns, gap.to_ns);
	}
	assert_int_equal(gaps.kind_count, LEDGER_GAP_KINDS);
	assert_int_equal(gaps.wide_count, 2 * (KINDS - LEDGER_GAP_KINDS));
	for (uint32_t i = 0; i < 2 * KINDS; i++) {
		uint32_t kind = i % KINDS;
		struct ledger_working_gap gap = ledger_gap_at(&gaps, i);
		assert_int_equal(gap.has, (1 + kind % (PATTERNS - 1)) << TARE_LEDGER_BEFORE_FIRST);
		assert_int_equal(gap.cause, kind / (PATTERNS - 1));
		assert_int_equal(gap.command, i % MANY);
	}
	ledger_working_free_gaps(&gaps);
}

// The first and the last command are of one thread, all between of another.
static void a_threads_next_command_may_be_far(void **state)
{
	const uint32_t distances[] = { 1, HOST_FAR - 1, HOST_FAR, HOST_FAR + 1, HOST_FAR + 100 };
	struct tare_recorded_process process = { .end_ns = INT64_C(1) << 40 };
	struct tare_recorded_thread threads[2] = { { 0 }, { 0 } };
	struct tare_recorded_command *plain = calloc(HOST_FAR + 102, sizeof *plain);
	(void)state;
	assert_non_null(plain);
	for (size_t i = 0; i < sizeof distances / sizeof *distances; i++) {
		struct tare_recording far = { .command_count = distances[i] + 2,
			                      .commands.plain = plain,
			                      .processes = &process,
			                      .process_count = 1,
			                      .threads = threads,
			                      .thread_count = 2,
			                      .end_ns = INT64_C(1) << 40 };
		const struct tare_view view = tare_view_all(&far);
		struct ledger_hosts *hosts;
		for (uint32_t c = 0; c < far.command_count; c++)
			plain[c] = (struct tare_recorded_command){
				.enter_ns = 10 * (int64_t)c,
				.exit_ns = 10 * (int64_t)c + 5,
				.thread = c > 0 && c < distances[i],
				.start_ns = TARE_NO_TIME,
				.end_ns = TARE_NO_TIME,
			};
		assert_int_equal(ledger_hosts_new(&far, &view, &hosts), 0);
		assert_int_equal(host_next_command(hosts, 0), distances[i]);
		assert_int_equal(host_next_command(hosts, distances[i]), distances[i] + 1);
		assert_int_equal(host_next_command(hosts, distances[i] + 1), TARE_NO_INDEX);
		ledger_hosts_free(hosts);
	}
	free(plain);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_come_out),
		cmocka_unit_test(some_are_kept),
		cmocka_unit_test(more_kinds_than_are_numbered),
		cmocka_unit_test(a_threads_next_command_may_be_far),
	};
	return cmocka_run_group_tests_name("ledger_gaps", tests, NULL, NULL);
}
