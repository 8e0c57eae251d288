// SPDX-License-Identifier: Apache-2.0
// Findings about transfers of bytes that were there already.
#include "made_copies.h"

// What the recorder took between two commands is not the program's computing.
static void hashing_is_no_computing(void **state)
{
	(void)state;
	for (int hashed = 0; hashed < 2; hashed++) {
		struct copies copies =
		    COPIES(.think_ns = 100000, .contents = TARE_CONTENTS_WHOLE, .differ = true);
		struct hand *hand = by_hand(&copies);
		for (size_t i = 0; i < hand->made->recording.place_count; i++) {
			hand->places[i].from_ns = hand->made->commands[i].exit_ns;
			hand->places[i].to_ns =
			    hand->made->commands[i].exit_ns + (hashed ? 100000 : 0);
		}
		// On a CPU all the time.
		made_sample(hand->made, 0, 0);
		made_sample(hand->made, hand->now_ns, (uint64_t)hand->now_ns);
		struct tare_findings findings = evaluate(hand->made);
		const struct tare_finding *finding = find(&findings, "idle-host-computes");
		if ((finding != NULL) == hashed)
			fail_msg("idle-host-computes is%s raised", hashed ? "" : " not");
		put_away(hand, &findings);
	}
}

// Two parts of a buffer, in turn: sure unless one reaches into the other.
static void another_part_may_reach_into_it(void **state)
{
	static const struct {
		uint64_t offset;
		double low_ns;
	} rows[] = {
		{ 1 << 20, 38 * 100000 },
		{ (1 << 20) - 1, 0 },
		{ UINT64_MAX, 0 },
	};
	(void)state;
	for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
		struct copies copies = SAME(.think_ns = 0);
		struct hand *hand = by_hand(&copies);
		for (size_t i = 1; i < hand->made->recording.place_count; i += 2) {
			hand->places[i].identity = 5;
			hand->places[i].offset = rows[k].offset;
		}
		struct tare_findings findings = evaluate(hand->made);
		const struct tare_finding *finding = find(&findings, "duplicate-transfers");
		assert_non_null(finding);
		assert_close((double)finding->cost_low_ns, rows[k].low_ns);
		put_away(hand, &findings);
	}
}

// Which memory a kernel may write is told of OpenCL's.
static void kernels_change_what_they_may_write(void **state)
{
	static const struct {
		uint32_t kernels, memory, flags; // kernels 0: not told of which kernel
		uint64_t lost;
		double low_ns;
	} rows[] = {
		{ 1, 1, TARE_TRACE_COMPARED, 0, 3900000 },
		{ 1, 0, TARE_TRACE_COMPARED, 0, 0 },
		{ 0, 1, TARE_TRACE_COMPARED, 0, 0 },
		{ 1, TARE_NO_INDEX, TARE_TRACE_COMPARED, 0, 0 },
		{ 1, 1, TARE_TRACE_COMPARED | TARE_TRACE_FORKED, 0, 0 },
		{ 1, 1, TARE_TRACE_COMPARED, 1, 0 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct copies copies = SAME(.kernel_before = true);
		struct hand *hand = by_hand(&copies);
		struct tare_recorded_memory memories[2] = { hand->memory, hand->memory };
		struct tare_recorded_argument argument = { 0, rows[i].memory };
		hand->made->recording.memories = memories;
		hand->made->recording.memory_count = 2;
		hand->made->recording.arguments = &argument;
		hand->made->recording.argument_count = 1;
		hand->made->recording.kernel_count = rows[i].kernels;
		hand->made->processes[0].flags = rows[i].flags;
		hand->made->processes[0].lost_records = rows[i].lost;
		struct tare_findings findings = evaluate(hand->made);
		const struct tare_finding *finding = find(&findings, "duplicate-transfers");
		assert_non_null(finding);
		if ((double)finding->cost_low_ns != rows[i].low_ns)
			fail_msg("row %zu: %lld", i, (long long)finding->cost_low_ns);
		put_away(hand, &findings);
	}
}

// Without contents nobody knows; how to find out is said where it matters, and of what was not
// compared.
static void what_was_not_compared_is_told(void **state)
{
	static const struct {
		struct copies copies;
		const char *words;
		bool said;
	} rows[] = {
		{ SAME(.contents = 0), "tare record --contents", true },
		{ SAME(.contents = 0, .count = 16), "tare record --contents", false },
		{ SAME(.contents = 0, .count = 17), "tare record --contents", true },
		{ SAME(.contents = 0, .bytes = 32767), "tare record --contents", false },
		{ SAME(.contents = 0, .work_ns = 500000000), "tare record --contents", false },
		{ COPIES(.contents = 0), "tare record --contents", false },
		{ SAME(.differ = true), "tare record --contents", false },
		{ SAME(.differ = true), "not compared", false },
		{ SAME(.contents = TARE_CONTENTS_SAMPLED), "not compared", false },
		{ SAME(.contents = TARE_CONTENTS_SKIPPED), "40 of 40 copies", true },
		{ SAME(.contents = TARE_CONTENTS_UNREADABLE), "could not be read: 40", true },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct hand *hand = by_hand(&rows[i].copies);
		struct tare_findings findings = evaluate(hand->made);
		if (says(&findings, rows[i].words) != rows[i].said)
			fail_msg("row %zu", i);
		put_away(hand, &findings);
	}
}

// From the half of them on the copies are compared by samples, which all agree.
static struct tare_findings with_samples(bool differ, struct hand **hand)
{
	struct copies copies = SAME(.differ = differ);
	*hand = by_hand(&copies);
	const size_t count = (*hand)->made->recording.place_count;
	for (size_t i = count / 2; i < count; i++) {
		(*hand)->places[i].contents = TARE_CONTENTS_SAMPLED;
		(*hand)->places[i].whole = 0;
		(*hand)->places[i].sample = (*hand)->places[count / 2 - 1].sample;
	}
	return evaluate((*hand)->made);
}

// That samples agree is no proof, and none at all where the whole never did.
static void samples_are_told_and_do_not_outweigh_the_whole(void **state)
{
	struct copies sampled = SAME(.contents = TARE_CONTENTS_SAMPLED);
	struct hand *hand;
	(void)state;
	struct tare_findings findings = with_samples(true, &hand);
	assert_null(find(&findings, "duplicate-transfers"));
	put_away(hand, &findings);
	findings = with_samples(false, &hand);
	const struct tare_finding *finding = find(&findings, "duplicate-transfers");
	assert_non_null(finding);
	assert_non_null(strstr(finding->title, "already, some of them by samples"));
	assert_int_equal(finding->confidence, TARE_CONFIDENCE_LIKELY);
	put_away(hand, &findings);
	hand = by_hand(&sampled);
	findings = evaluate(hand->made);
	finding = find(&findings, "duplicate-transfers");
	assert_non_null(finding);
	assert_non_null(strstr(finding->title, "already, by samples"));
	assert_int_equal(finding->confidence, TARE_CONFIDENCE_POSSIBLE);
	put_away(hand, &findings);
}

// Images: where in them is not recorded.
static void copies_to_images_are_not_compared(void **state)
{
	struct copies copies = SAME();
	struct hand *hand = by_hand(&copies);
	(void)state;
	hand->memory.kind = TARE_TRACE_MEMORY_IMAGE;
	struct tare_findings findings = evaluate(hand->made);
	assert_null(find(&findings, "duplicate-transfers"));
	put_away(hand, &findings);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hashing_is_no_computing),
		cmocka_unit_test(another_part_may_reach_into_it),
		cmocka_unit_test(kernels_change_what_they_may_write),
		cmocka_unit_test(what_was_not_compared_is_told),
		cmocka_unit_test(samples_are_told_and_do_not_outweigh_the_whole),
		cmocka_unit_test(copies_to_images_are_not_compared),
	};
	return cmocka_run_group_tests_name("finding_contents", tests, NULL, NULL);
}
