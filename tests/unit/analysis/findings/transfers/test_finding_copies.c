// SPDX-License-Identifier: Apache-2.0
// Findings about transfers: copies made by hand at the thresholds.
#include "made_copies.h"

static const struct {
	const char *id;
	bool raised;
	struct copies copies;
	double low_ns, best_ns, high_ns; // of what is raised; best 0: not looked at
} cases[] = {
	{ "transfers-dominate", true, COPIES(.work_ns = 100000), 0, 4000000, 4000000 },
	{ "transfers-dominate", false, COPIES(.work_ns = 4100000), 0, 0, 0 },
	{ "transfers-dominate", false, COPIES(.work_ns = 100000, .think_ns = 200000), 0, 0, 0 },

	{ "small-transfers", true,
	  COPIES(.count = 200, .places = 200, .bytes = 256, .copy_ns = 500), 1000 * 199, 2000 * 199,
	  2500 * 199 },
	{ "small-transfers", false, COPIES(.count = 99, .places = 99, .bytes = 256, .copy_ns = 500),
	  0, 0, 0 },
	{ "small-transfers", false,
	  COPIES(.count = 200, .places = 200, .bytes = 65537, .copy_ns = 500), 0, 0, 0 },
	{ "small-transfers", false,
	  COPIES(.count = 200, .places = 200, .bytes = 256, .copy_ns = 2500), 0, 0, 0 },
	{ "small-transfers", false,
	  COPIES(.count = 200, .places = 200, .bytes = 256, .copy_ns = 500, .work_ns = 40000000), 0,
	  0, 0 },

	// The device was busy while the calls waited for their turn: that passes without them, too.
	{ "small-transfers", false,
	  COPIES(.count = 200, .places = 200, .bytes = 256, .copy_ns = 500, .before_ns = 200000), 0,
	  0, 0 },
	{ "small-transfers", true,
	  COPIES(.count = 200, .places = 200, .bytes = 256, .copy_ns = 500, .before_ns = 5000),
	  1000 * 199, 2000 * 199, 2500 * 199 },

	{ "unaligned-transfers", true, COPIES(.alignment = 0), 0, 2000000, 4000000 },
	{ "unaligned-transfers", true, COPIES(.alignment = 3), 0, 2000000, 4000000 },
	{ "unaligned-transfers", false, COPIES(.alignment = 4), 0, 0, 0 },
	{ "unaligned-transfers", false, COPIES(.alignment = 255), 0, 0, 0 },
	{ "unaligned-transfers", false, COPIES(.alignment = 0, .count = 15), 0, 0, 0 },
	{ "unaligned-transfers", false, COPIES(.alignment = 0, .bytes = 4095), 0, 0, 0 },
	{ "unaligned-transfers", false, COPIES(.alignment = 0, .work_ns = 90000000), 0, 0, 0 },
	{ "unaligned-transfers", true, COPIES(.alignment = 0, .aligned = 4), 4000000 - 40 * 33333.,
	  4000000 - 40 * 33333., 4000000 - 40 * 33333. },

	{ "pageable-memory", true,
	  COPIES(.memory = TARE_TRACE_MEMORY_PAGEABLE, .asynchronous = true), 0, 2000000, 4000000 },
	{ "pageable-memory", false, COPIES(.memory = TARE_TRACE_MEMORY_PAGEABLE), 0, 0, 0 },
	{ "pageable-memory", true,
	  COPIES(.memory = TARE_TRACE_MEMORY_PAGEABLE, .asynchronous = true, .bytes = 65536), 0,
	  2000000, 4000000 },
	{ "pageable-memory", false,
	  COPIES(.memory = TARE_TRACE_MEMORY_PAGEABLE, .asynchronous = true, .bytes = 65535), 0, 0,
	  0 },
	{ "pageable-memory", false, COPIES(.asynchronous = true), 0, 0, 0 },
	{ "pageable-memory", false,
	  COPIES(.memory = TARE_TRACE_MEMORY_UNKNOWN, .asynchronous = true), 0, 0, 0 },
	{ "pageable-memory", false,
	  COPIES(.memory = TARE_TRACE_MEMORY_PAGEABLE, .asynchronous = true, .count = 3), 0, 0, 0 },
	{ "pageable-memory", false,
	  COPIES(.memory = TARE_TRACE_MEMORY_PAGEABLE, .asynchronous = true, .work_ns = 90000000),
	  0, 0, 0 },
	{ "pageable-memory", true,
	  COPIES(.memory = TARE_TRACE_MEMORY_PAGEABLE, .asynchronous = true, .pinned = 4),
	  4000000 - 40 * 33333., 4000000 - 40 * 33333., 4000000 - 40 * 33333. },

	{ "duplicate-transfers", true, SAME(), 3900000, 3900000, 39 * 102000 },
	{ "duplicate-transfers", true, SAME(.asynchronous = true), 3900000, 3900000, 3900000 },
	{ "duplicate-transfers", false, SAME(.differ = true), 0, 0, 0 },
	{ "duplicate-transfers", false, SAME(.contents = 0), 0, 0, 0 },
	{ "duplicate-transfers", false, SAME(.contents = TARE_CONTENTS_SKIPPED), 0, 0, 0 },
	{ "duplicate-transfers", false, SAME(.contents = TARE_CONTENTS_UNREADABLE), 0, 0, 0 },
	{ "duplicate-transfers", true, SAME(.contents = TARE_CONTENTS_SAMPLED), 0, 3900000,
	  39 * 102000 },
	{ "duplicate-transfers", false, SAME(.contents = TARE_CONTENTS_SAMPLED, .differ = true), 0,
	  0, 0 },
	{ "duplicate-transfers", true, SAME(.kernel_before = true), 0, 3900000, 39 * 102000 },
	{ "duplicate-transfers", true, SAME(.kernel_before = true, .read_only = true), 3900000,
	  3900000, 39 * 102000 },
	{ "duplicate-transfers", true, SAME(.think_ns = 1000000), 3900000, 3900000, 39 * 102000 },
	{ "duplicate-transfers", true, SAME(.bytes = 4096), 3900000, 3900000, 39 * 102000 },
	{ "duplicate-transfers", false, SAME(.bytes = 4095), 0, 0, 0 },
	{ "duplicate-transfers", false, SAME(.places = 40), 0, 0, 0 },
	{ "duplicate-transfers", true, SAME(.count = 3), 200000, 200000, 2 * 102000 },
	{ "duplicate-transfers", false, SAME(.count = 2), 0, 0, 0 },
	{ "duplicate-transfers", false, SAME(.work_ns = 500000000), 0, 0, 0 },
	{ "duplicate-transfers", true, SAME(.kind = TARE_KIND_READ), 3900000, 3900000,
	  39 * 102000 },
	{ "duplicate-transfers", true, SAME(.kind = TARE_KIND_READ, .late = true), 0, 3900000,
	  39 * 102000 },
	// What is read anew after a kernel may be what that has made.
	{ "duplicate-transfers", false, SAME(.kind = TARE_KIND_READ, .kernel_before = true), 0, 0,
	  0 },
	// The kernel makes each way there one that may be needed, and the way back none.
	{ "duplicate-transfers", false, SAME(.read_first = true, .kernel_before = true), 0, 0, 0 },

	{ "ping-pong", true, SAME(.read_first = true, .kernel_before = true), 4000000, 8000000,
	  80 * 102000 },
	{ "ping-pong", true, SAME(.read_first = true, .kernel_before = true, .late = true), 0,
	  8000000, 80 * 102000 },
	{ "ping-pong", true, SAME(.read_first = true), 4000000, 4100000, 41 * 102000 },
	{ "ping-pong", false, SAME(.read_first = true, .differ = true), 0, 0, 0 },
	{ "ping-pong", false, SAME(.read_first = true, .contents = 0), 0, 0, 0 },
	{ "ping-pong", true, SAME(.read_first = true, .count = 1), 100000, 200000, 2 * 102000 },
	{ "ping-pong", false, SAME(), 0, 0, 0 },
	{ "ping-pong", false, SAME(.read_first = true, .kernel_before = true, .work_ns = 500000000),
	  0, 0, 0 },
};

static void copies_at_the_thresholds(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct hand *hand = by_hand(&cases[i].copies);
		struct tare_findings findings = evaluate(hand->made);
		const struct tare_finding *finding = find(&findings, cases[i].id);
		char text[400];
		if ((finding != NULL) != cases[i].raised)
			fail_msg("case %zu: '%s' is%s raised; raised are:%s", i, cases[i].id,
			         finding ? "" : " not", text_of(&findings, text));
		if (finding && cases[i].best_ns > 0)
			assert_costs(finding, cases[i].low_ns, cases[i].best_ns, cases[i].high_ns);
		put_away(hand, &findings);
	}
}

// A rate that was measured earlier stands in for copies to compare with; small copies lose against
// it what may be their fixed cost.
static void kept_ceilings_stand_in(void **state)
{
	static const struct {
		const char *id;
		struct copies copies;
		double pinned, pageable;         // GB/s
		double low_ns, best_ns, high_ns; // best 0: not raised
	} kept[] = {
		{ "pageable-memory",
		  COPIES(.memory = TARE_TRACE_MEMORY_PAGEABLE, .asynchronous = true,
		         .bytes = 4 << 20),
		  83.88608, 50, 2000000, 2000000, 2000000 },
		{ "pageable-memory",
		  COPIES(.memory = TARE_TRACE_MEMORY_PAGEABLE, .asynchronous = true), 20.97152, 12,
		  0, 2000000, 2000000 },
		{ "pageable-memory",
		  COPIES(.memory = TARE_TRACE_MEMORY_PAGEABLE, .asynchronous = true, .pinned = 4),
		  10.5, 10.5, 4000000 - 40 * 33333., 4000000 - 40 * 33333., 4000000 - 40 * 33333. },
		{ "unaligned-transfers", COPIES(.alignment = 0, .bytes = 4 << 20), 83.88608, 50,
		  2000000, 2000000, 2000000 },
		{ "unaligned-transfers", COPIES(.alignment = 0), 20.97152, 12, 0, 2000000,
		  2000000 },
		{ "unaligned-transfers", COPIES(.alignment = 0), 10.5, 90, 0, 0, 0 },
		{ "unaligned-transfers",
		  COPIES(.alignment = 0, .memory = TARE_TRACE_MEMORY_PAGEABLE), 90, 20.97152, 0,
		  2000000, 2000000 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
		const struct tare_transfer_ceiling ceilings[] = {
			{ "device", TARE_DIRECTION_TO_DEVICE, true, 1e9 * kept[i].pinned, NULL },
			{ "device", TARE_DIRECTION_TO_DEVICE, false, 1e9 * kept[i].pageable, NULL },
			{ "device", TARE_DIRECTION_FROM_DEVICE, true, 1e9, NULL },
			{ "another", TARE_DIRECTION_TO_DEVICE, true, 1e12, NULL },
		};
		struct hand *hand = by_hand(&kept[i].copies);
		struct tare_findings findings = evaluate_with(hand->made, ceilings, 4);
		const struct tare_finding *finding = find(&findings, kept[i].id);
		if ((finding != NULL) != (kept[i].best_ns > 0))
			fail_msg("case %zu was%s raised", i, finding ? "" : " not");
		if (finding)
			assert_costs(finding, kept[i].low_ns, kept[i].best_ns, kept[i].high_ns);
		put_away(hand, &findings);
	}
}

// What a kept rate explains of the first copies of new memory is not the memory's cost.
static void first_copies_are_held_against_kept_ceilings(void **state)
{
	int64_t span_ns, highs_ns[2];
	struct made *made = rig_run(&(struct rig_pipeline){ .form = RIG_ALLOCATION,
	                                                    .chunks = 16,
	                                                    .in_ns = 300000,
	                                                    .work_ns = 300000,
	                                                    .out_ns = 300000 },
	                            &span_ns);
	const struct tare_transfer_ceiling ceiling = { "device", TARE_DIRECTION_TO_DEVICE, true,
		                                       10e9, NULL };
	struct tare_recorded_memory memory = {
		.created_ns = made->commands[made->recording.command_count / 2].enter_ns
	};
	(void)state;
	made->recording.memories = &memory;
	made->recording.memory_count = 1;
	for (size_t i = 0; i < made->recording.command_count; i++)
		if (made->commands[i].kind != TARE_KIND_KERNEL)
			made->commands[i].object = 0;
	for (int i = 0; i < 2; i++) {
		struct tare_findings findings = evaluate_with(made, &ceiling, i);
		const struct tare_finding *finding = find(&findings, "allocation-in-loop");
		assert_non_null(finding);
		highs_ns[i] = finding->cost_high_ns;
		tare_findings_free(&findings);
	}
	assert_true(highs_ns[0] > highs_ns[1] && highs_ns[1] == 15 * 60000);
	free(made);
}

// Two copies at the same time take it once: pinned memory cannot save more than what they leave.
static void copies_that_overlap_are_not_saved_twice(void **state)
{
	struct copies copies =
	    COPIES(.memory = TARE_TRACE_MEMORY_PAGEABLE, .asynchronous = true, .bytes = 4 << 20);
	const struct tare_transfer_ceiling ceiling = { "device", TARE_DIRECTION_TO_DEVICE, true,
		                                       4 * 41.94304e9, NULL };
	struct hand *hand = by_hand(&copies);
	(void)state;
	for (size_t i = 1; i < 40; i += 2) {
		hand->made->commands[i].start_ns = hand->made->commands[i - 1].start_ns;
		hand->made->commands[i].end_ns = hand->made->commands[i - 1].end_ns;
	}
	for (int known = 0; known < 2; known++) {
		struct tare_findings findings = evaluate_with(hand->made, &ceiling, known);
		const struct tare_finding *finding = find(&findings, "pageable-memory");
		assert_non_null(finding);
		// Busy for 2 ms; all of them would take 1 ms, and where that is not known half is
		// the estimate.
		assert_close((double)finding->cost_ns, 1000000);
		assert_close((double)finding->cost_high_ns, known ? 1000000 : 2000000);
		tare_findings_free(&findings);
	}
	// The kernel hides all but the last half millisecond, of which they run for half: no more
	// than that is lost to them.
	hand->made->commands[40].start_ns = hand->made->commands[0].start_ns;
	hand->made->commands[40].end_ns = hand->made->commands[39].end_ns - 500000;
	struct tare_findings findings = evaluate(hand->made);
	const struct tare_finding *finding = find(&findings, "pageable-memory");
	assert_non_null(finding);
	assert_in_range(finding->cost_ns, 200000, 300000);
	assert_in_range(finding->cost_high_ns, 200000, 300000);
	tare_findings_free(&findings);
	free(hand->made);
	free(hand);
}

static void maps_are_compared_with(void **state)
{
	struct copies copies =
	    COPIES(.memory = TARE_TRACE_MEMORY_PAGEABLE, .asynchronous = true, .pinned = 4);
	(void)state;
	for (int unified = 0; unified < 2; unified++) {
		struct hand *hand = by_hand(&copies);
		for (size_t i = 40; i < 44; i++)
			hand->made->commands[i].kind = TARE_KIND_UNMAP;
		hand->made->devices[0].unified_memory = unified;
		struct tare_findings findings = evaluate(hand->made);
		const struct tare_finding *finding = find(&findings, "pageable-memory");
		// Of the host's own memory nothing is said.
		assert_int_equal(finding != NULL, !unified);
		assert_true(unified || finding->cost_low_ns > 0);
		put_away(hand, &findings);
	}
}

// Where memory is the host's own only aligned copies prove that others are slower.
static void cores_take_any_address(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++) {
		bool unified = i & 1, beside = i & 2;
		struct copies copies = COPIES(.alignment = 0, .aligned = beside ? 4 : 0);
		struct hand *hand = by_hand(&copies);
		hand->made->devices[0].unified_memory = unified;
		struct tare_findings findings = evaluate(hand->made);
		assert_int_equal(find(&findings, "unaligned-transfers") != NULL,
		                 beside || !unified);
		put_away(hand, &findings);
	}
}

// The device's share of the fixed cost comes from the times of several sizes.
static void the_fixed_cost_is_fitted(void **state)
{
	struct copies copies =
	    COPIES(.count = 100, .places = 100, .bytes = 256, .copy_ns = 5000, .call_ns = 200);
	struct hand *hand = by_hand(&copies);
	(void)state;
	for (size_t i = 0; i < 100; i++) {
		struct tare_recorded_command *command = &hand->made->commands[i];
		command->amount = 256 * (1 + i % 4);
		command->end_ns = command->start_ns + 4000 + (int64_t)(i % 4) * 100;
	}
	struct tare_findings findings = evaluate(hand->made);
	const struct tare_finding *finding = find(&findings, "small-transfers");
	assert_non_null(finding);
	assert_true(finding->modelled);
	// The intercept, and what the calls of 5200 ns take beside copies of 4150.
	assert_close((double)finding->cost_ns, 99 * (3900 + 1050));
	put_away(hand, &findings);
}

// Copies that a kernel hides cost nothing.
static void what_is_hidden_is_not_saved(void **state)
{
	struct copies copies = SAME(.read_only = true);
	struct hand *hand = by_hand(&copies);
	struct tare_recorded_command *kernel = &hand->made->commands[40];
	(void)state;
	kernel->enter_ns = kernel->exit_ns = kernel->submitted_ns = 1000;
	kernel->start_ns = hand->made->commands[0].start_ns;
	kernel->end_ns = hand->made->commands[20].start_ns;
	struct tare_findings findings = evaluate(hand->made);
	const struct tare_finding *finding = find(&findings, "duplicate-transfers");
	assert_non_null(finding);
	assert_close((double)finding->cost_low_ns, 20 * 100000);
	put_away(hand, &findings);
}

// Copies to a device that has the host's memory need not be; that there are many is not said as
// well then.
static void copies_in_one_memory_need_not_be(void **state)
{
	static const struct {
		bool unified, image;
		uint64_t type;
		struct copies copies;
		bool raised;
	} rows[] = {
		{ true, false, 4, COPIES(.think_ns = 0), true },
		{ false, false, 2, COPIES(.think_ns = 0), true }, // a CPU
		{ false, false, 4, COPIES(.think_ns = 0), false },
		{ true, true, 4, COPIES(.think_ns = 0), false },
		{ true, false, 4, COPIES(.count = 1), false },
		{ true, false, 4, COPIES(.bytes = 4096), true },
		{ true, false, 4, COPIES(.bytes = 4095), false },
		{ true, false, 4, COPIES(.work_ns = 35000000), true },
		// Kernels that they wait for are none of theirs.
		{ true, false, 4, COPIES(.before_ns = 300000), true },
		{ true, false, 4, COPIES(.work_ns = 37000000), false },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct hand *hand = by_hand(&rows[i].copies);
		hand->made->devices[0].unified_memory = rows[i].unified;
		hand->made->devices[0].type = rows[i].type;
		if (rows[i].image)
			hand->memory.kind = TARE_TRACE_MEMORY_IMAGE;
		struct tare_findings findings = evaluate(hand->made);
		const struct tare_finding *finding = find(&findings, "zero-copy");
		if ((finding != NULL) != rows[i].raised)
			fail_msg("row %zu is%s raised", i, finding ? "" : " not");
		if (finding) {
			assert_costs(finding, 2000000, 4000000, 40 * 102000);
			assert_null(find(&findings, "transfers-dominate"));
		}
		put_away(hand, &findings);
	}
}

// Pinned memory is no advice where there is no other memory.
static void the_advice_goes_by_whose_memory_it_is(void **state)
{
	struct copies copies = COPIES(.count = 1, .copy_ns = 4000000);
	(void)state;
	for (int unified = 0; unified < 2; unified++) {
		struct hand *hand = by_hand(&copies);
		hand->made->devices[0].unified_memory = unified;
		hand->made->devices[0].type = 4;
		struct tare_findings findings = evaluate(hand->made);
		const struct tare_finding *finding = find(&findings, "transfers-dominate");
		assert_non_null(finding);
		assert_int_equal(strstr(finding->advice, "has the host's memory") != NULL, unified);
		assert_int_equal(strstr(finding->advice, "pinned") != NULL, !unified);
		put_away(hand, &findings);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(copies_at_the_thresholds),
		cmocka_unit_test(kept_ceilings_stand_in),
		cmocka_unit_test(first_copies_are_held_against_kept_ceilings),
		cmocka_unit_test(the_advice_goes_by_whose_memory_it_is),
		cmocka_unit_test(copies_that_overlap_are_not_saved_twice),
		cmocka_unit_test(maps_are_compared_with),
		cmocka_unit_test(cores_take_any_address),
		cmocka_unit_test(the_fixed_cost_is_fitted),
		cmocka_unit_test(what_is_hidden_is_not_saved),
		cmocka_unit_test(copies_in_one_memory_need_not_be),
	};
	return cmocka_run_group_tests_name("finding_copies", tests, NULL, NULL);
}
