// SPDX-License-Identifier: Apache-2.0
// The ledger of random recordings: the same as by the rules applied to every nanosecond, whatever
// the order of events and threads. The seed comes from the clock and is printed; TARE_TEST_SEED
// repeats a run.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "random_recording.h"

static void every_nanosecond_is_where_the_rules_say(void **state)
{
	struct tare_random random = { test_seed() };
	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		struct made *made = some_recording(&random, 6);
		struct tare_view view = some_view(&random, made);
		assert_ledgers_agree(made, &view);
		free(made);
	}
}

static void every_nanosecond_of_spans_is_where_the_rules_say(void **state)
{
	struct tare_random random = { test_seed() };
	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		struct made *made = some_recording(&random, 6);
		struct tare_view view = some_view(&random, made);
		struct tare_run_span spans[SPANS];
		view.span_count = some_spans(&random, &view, spans);
		view.spans = spans;
		assert_ledgers_agree(made, &view);
		free(made);
	}
}

// ---- properties

static void compute(const struct made *made, int64_t from_ns, int64_t to_ns,
                    struct tare_ledgers *ledgers)
{
	struct tare_view view = { from_ns, to_ns, TARE_NO_INDEX, TARE_NO_INDEX, NULL };
	assert_int_equal(tare_ledgers_compute(&made->recording, &view, ledgers, NULL), 0);
}

static void assert_sums(const struct tare_ledger *ledger)
{
	int64_t parts_ns = 0, matrix_ns = 0, kernel_ns = 0;
	for (int i = 0; i < TARE_LEDGER_CATEGORIES; i++) {
		assert_true(ledger->parts_ns[i] >= 0);
		parts_ns += ledger->parts_ns[i];
	}
	for (int h = 0; h < TARE_HOST_STATES; h++) {
		for (int d = 0; d < TARE_DEVICE_STATES; d++) {
			assert_true(ledger->matrix_ns[h][d] >= 0);
			matrix_ns += ledger->matrix_ns[h][d];
		}
		kernel_ns += ledger->matrix_ns[h][TARE_DEVICE_KERNEL] +
		             ledger->matrix_ns[h][TARE_DEVICE_KERNEL_AND_TRANSFER];
	}
	assert_int_equal(parts_ns, ledger->wall_ns);
	assert_int_equal(matrix_ns, ledger->wall_ns);
	assert_int_equal(kernel_ns, ledger->parts_ns[TARE_LEDGER_KERNEL]);
	assert_in_range(ledger->ambiguous_ns, 0, ledger->wall_ns);
}

static void assert_equal_ledgers(const struct tare_ledgers *a, const struct tare_ledgers *b)
{
	assert_int_equal(a->count, b->count);
	for (size_t i = 0; i < a->count; i++) {
		const struct tare_ledger *x = &a->ledgers[i], *y = &b->ledgers[i];
		assert_memory_equal(x->parts_ns, y->parts_ns, sizeof x->parts_ns);
		assert_memory_equal(x->matrix_ns, y->matrix_ns, sizeof x->matrix_ns);
		assert_int_equal(x->ambiguous_ns, y->ambiguous_ns);
		assert_int_equal(x->hidden_to_device_ns, y->hidden_to_device_ns);
		assert_int_equal(x->hidden_from_device_ns, y->hidden_from_device_ns);
	}
	assert_int_equal(a->gap_count, b->gap_count);
	for (size_t i = 0; i < a->gap_count; i++) {
		assert_int_equal(a->gaps[i].from_ns, b->gaps[i].from_ns);
		assert_int_equal(a->gaps[i].to_ns, b->gaps[i].to_ns);
		assert_int_equal(a->gaps[i].cause, b->gaps[i].cause);
	}
}

static void parts_sum_to_the_wall(void **state)
{
	struct tare_random random = { test_seed() };
	(void)state;
	for (int round = 0; round < PROPERTY_ROUNDS; round++) {
		struct made *made = some_recording(&random, 400);
		struct tare_ledgers ledgers;
		compute(made, 0, WALL, &ledgers);
		for (size_t i = 0; i < ledgers.count; i++)
			assert_sums(&ledgers.ledgers[i]);
		tare_ledgers_free(&ledgers);
		free(made);
	}
}

static void order_and_names_do_not_matter(void **state)
{
	struct tare_random random = { test_seed() };
	(void)state;
	for (int round = 0; round < PROPERTY_ROUNDS; round++) {
		struct made *made = some_recording(&random, 6);
		struct made *other = made_shuffled(made, &random);
		struct tare_ledgers a, b;
		compute(made, 0, WALL, &a);
		compute(other, 0, WALL, &b);
		assert_equal_ledgers(&a, &b);
		tare_ledgers_free(&a);
		tare_ledgers_free(&b);
		free(made);
		free(other);
	}
}

static void views_side_by_side_add_up(void **state)
{
	struct tare_random random = { test_seed() };
	(void)state;
	for (int round = 0; round < PROPERTY_ROUNDS; round++) {
		struct made *made = some_recording(&random, 30);
		int64_t cut_ns = below(&random, WALL + 1);
		struct tare_ledgers whole, left, right;
		compute(made, 0, WALL, &whole);
		compute(made, 0, cut_ns, &left);
		compute(made, cut_ns, WALL, &right);
		for (size_t i = 0; i < whole.count; i++) {
			const struct tare_ledger *w = &whole.ledgers[i], *l = &left.ledgers[i],
			                         *r = &right.ledgers[i];
			for (int k = 0; k < TARE_LEDGER_CATEGORIES; k++)
				assert_int_equal(l->parts_ns[k] + r->parts_ns[k], w->parts_ns[k]);
			for (int h = 0; h < TARE_HOST_STATES; h++)
				for (int d = 0; d < TARE_DEVICE_STATES; d++)
					assert_int_equal(l->matrix_ns[h][d] + r->matrix_ns[h][d],
					                 w->matrix_ns[h][d]);
			assert_int_equal(l->ambiguous_ns + r->ambiguous_ns, w->ambiguous_ns);
			assert_int_equal(l->hidden_to_device_ns + r->hidden_to_device_ns,
			                 w->hidden_to_device_ns);
		}
		tare_ledgers_free(&whole);
		tare_ledgers_free(&left);
		tare_ledgers_free(&right);
		free(made);
	}
}

static void complementary_spans_add_up(void **state)
{
	struct tare_random random = { test_seed() };
	(void)state;
	for (int round = 0; round < PROPERTY_ROUNDS; round++) {
		struct made *made = some_recording(&random, 30);
		struct tare_view all = some_view(&random, made), views[2] = { all, all };
		struct tare_run_span spans[SPANS], others[SPANS + 1];
		struct tare_ledgers whole, parts[2];
		views[0].spans = spans;
		views[0].span_count = some_spans(&random, &all, spans);
		views[1].spans = others;
		views[1].span_count = complement(&all, spans, views[0].span_count, others);
		assert_int_equal(tare_ledgers_compute(&made->recording, &all, &whole, NULL), 0);
		for (int i = 0; i < 2; i++)
			assert_int_equal(
			    tare_ledgers_compute(&made->recording, &views[i], &parts[i], NULL), 0);
		for (size_t i = 0; i < whole.count; i++) {
			const struct tare_ledger *w = &whole.ledgers[i], *l = &parts[0].ledgers[i],
			                         *r = &parts[1].ledgers[i];
			assert_sums(l);
			assert_int_equal(l->wall_ns, tare_view_ns(&views[0]));
			assert_int_equal(l->wall_ns + r->wall_ns, w->wall_ns);
			for (int k = 0; k < TARE_LEDGER_CATEGORIES; k++)
				assert_int_equal(l->parts_ns[k] + r->parts_ns[k], w->parts_ns[k]);
			for (int h = 0; h < TARE_HOST_STATES; h++)
				for (int d = 0; d < TARE_DEVICE_STATES; d++)
					assert_int_equal(l->matrix_ns[h][d] + r->matrix_ns[h][d],
					                 w->matrix_ns[h][d]);
			assert_int_equal(l->ambiguous_ns + r->ambiguous_ns, w->ambiguous_ns);
			assert_int_equal(l->hidden_to_device_ns + r->hidden_to_device_ns,
			                 w->hidden_to_device_ns);
			assert_int_equal(l->hidden_from_device_ns + r->hidden_from_device_ns,
			                 w->hidden_from_device_ns);
		}
		tare_ledgers_free(&whole);
		tare_ledgers_free(&parts[0]);
		tare_ledgers_free(&parts[1]);
		free(made);
	}
}

// In one piece, or in several that touch.
static void spans_of_all_the_time_change_nothing(void **state)
{
	struct tare_random random = { test_seed() };
	(void)state;
	for (int round = 0; round < PROPERTY_ROUNDS; round++) {
		struct made *made = some_recording(&random, 6);
		struct tare_view all = some_view(&random, made), view = all;
		struct tare_run_span spans[3];
		int64_t at_ns = all.from_ns;
		struct tare_ledgers a, b;
		for (int i = 0; i < 3 && at_ns < all.to_ns; i++) {
			int64_t to_ns =
			    i == 2 ? all.to_ns : at_ns + 1 + below(&random, all.to_ns - at_ns);
			spans[view.span_count++] = (struct tare_run_span){ at_ns, to_ns };
			at_ns = to_ns;
		}
		// What of a span is beyond the view counts for nothing.
		if (view.span_count > 0) {
			spans[0].from_ns -= below(&random, 20);
			spans[view.span_count - 1].to_ns += below(&random, 20);
		}
		view.spans = spans;
		assert_int_equal(tare_ledgers_compute(&made->recording, &all, &a, NULL), 0);
		assert_int_equal(tare_ledgers_compute(&made->recording, &view, &b, NULL), 0);
		assert_int_equal(a.ledgers[0].wall_ns, b.ledgers[0].wall_ns);
		assert_equal_ledgers(&a, &b);
		tare_ledgers_free(&a);
		tare_ledgers_free(&b);
		free(made);
	}
}

// With several threads it may change which of them was the last to call.
static void a_wait_in_two_parts_is_one_wait(void **state)
{
	struct tare_random random = { test_seed() };
	(void)state;
	for (int round = 0; round < PROPERTY_ROUNDS; round++) {
		struct made *made = some_threads(&random, 6, 1);
		struct tare_ledgers a, b;
		size_t calls = made->recording.call_count;
		compute(made, 0, WALL, &a);
		for (size_t i = 0; i < calls; i++) {
			struct tare_recorded_call *call = &made->calls[i];
			// A wait for a queue also tells by when its commands were complete.
			if (call->role != TARE_ROLE_WAIT || call->exit_ns - call->enter_ns < 2 ||
			    call->object != TARE_NO_INDEX)
				continue;
			struct tare_recorded_call second = *call;
			call->exit_ns = second.enter_ns =
			    call->enter_ns + 1 + below(&random, call->exit_ns - call->enter_ns - 1);
			made_call(made, second);
		}
		made_sort(made);
		compute(made, 0, WALL, &b);
		assert_equal_ledgers(&a, &b);
		tare_ledgers_free(&a);
		tare_ledgers_free(&b);
		free(made);
	}
}

static void exact_clocks_leave_nothing_ambiguous(void **state)
{
	struct tare_random random = { test_seed() };
	(void)state;
	for (int round = 0; round < PROPERTY_ROUNDS; round++) {
		struct made *made = some_recording(&random, 0);
		struct tare_ledgers ledgers;
		compute(made, 0, WALL, &ledgers);
		for (size_t i = 0; i < ledgers.count; i++)
			assert_int_equal(ledgers.ledgers[i].ambiguous_ns, 0);
		tare_ledgers_free(&ledgers);
		free(made);
	}
}

static void assert_figures(const struct tare_ledger *a, const struct tare_ledger *b)
{
	assert_int_equal(a->wall_ns, b->wall_ns);
	assert_int_equal(a->ambiguous_ns, b->ambiguous_ns);
	assert_int_equal(a->hidden_to_device_ns, b->hidden_to_device_ns);
	assert_int_equal(a->hidden_from_device_ns, b->hidden_from_device_ns);
	assert_memory_equal(a->parts_ns, b->parts_ns, sizeof a->parts_ns);
	assert_memory_equal(a->matrix_ns, b->matrix_ns, sizeof a->matrix_ns);
}

static void assert_gap(const struct tare_gap *a, const struct tare_gap *b)
{
	assert_int_equal(a->from_ns, b->from_ns);
	assert_int_equal(a->to_ns, b->to_ns);
	assert_int_equal(a->device, b->device);
	assert_int_equal(a->command, b->command);
	assert_int_equal(a->cause, b->cause);
}

static struct tare_run_span some_span(struct tare_random *random)
{
	int64_t from_ns = below(random, WALL - 1);
	return (struct tare_run_span){ from_ns, from_ns + 1 + below(random, WALL - from_ns) };
}

// Of the part and of each span, against sweeps of their own.
static void check_asked(const struct made *made, const struct tare_ledger_asked *asked,
                        const struct ledger_working *working)
{
	const struct tare_recording *recording = &made->recording;
	struct tare_view view = { 0, WALL, TARE_NO_INDEX, TARE_NO_INDEX, NULL };
	struct ledger_working own = { 0 };
	assert_int_equal(ledger_working_find(recording, &view, asked->part, &own), 0);
	assert_figures(&working->ledger, &own.ledger);
	assert_int_equal(working->gaps.count, own.gaps.count);
	assert_int_equal(working->gaps.part_count, own.gaps.part_count);
	for (size_t i = 0; i < own.gaps.count; i++) {
		assert_memory_equal(&working->gaps.at[i], &own.gaps.at[i], sizeof *own.gaps.at);
		assert_int_equal(ledger_gap_bits(&working->gaps, i), ledger_gap_bits(&own.gaps, i));
	}
	if (own.gaps.part_count)
		assert_memory_equal(working->gaps.parts_ns, own.gaps.parts_ns,
		                    own.gaps.part_count * sizeof *own.gaps.parts_ns);
	assert_int_equal(working->order_count, own.order_count);
	assert_memory_equal(working->order, own.order, own.order_count * sizeof *own.order);
	ledger_working_free(&own);
	for (size_t i = 0; i < asked->span_count; i++) {
		const struct tare_ledger *of = ledger_working_span(working, asked->spans[i]);
		struct tare_ledgers ledgers;
		assert_int_equal(of != NULL, asked->spans[i].to_ns <= WALL);
		if (!of)
			continue;
		view.from_ns = asked->spans[i].from_ns;
		view.to_ns = asked->spans[i].to_ns;
		assert_int_equal(tare_ledgers_compute(recording, &view, &ledgers, NULL), 0);
		assert_figures(of, &ledgers.ledgers[0]);
		tare_ledgers_free(&ledgers);
	}
}

// Devices and processes that nothing is enqueued to, or by: their waits count for the union only.
static struct made *some_bystanders(struct tare_random *random)
{
	struct made *made = some_recording(random, 8);
	if (one_in(random, 4)) {
		uint32_t device = made_device(made, 0, TARE_NO_INDEX, 0);
		for (size_t i = 0; i < made->recording.call_count; i++)
			if (one_in(random, 8))
				made->calls[i].device = device;
	}
	if (one_in(random, 4)) {
		uint32_t thread = made_thread(made, made_process(made, WALL));
		for (int64_t at_ns = below(random, 40); at_ns < WALL - 40; at_ns += 40)
			made_call(made, made_plain_call(thread, TARE_ROLE_WAIT, at_ns,
			                                at_ns + 1 + below(random, 39)));
		made_sort(made);
	}
	return made;
}

static void what_is_asked_is_what_sweeps_of_their_own_say(void **state)
{
	struct tare_random random = { test_seed() };
	uint64_t answered = 0;
	(void)state;
	for (int round = 0; round < PROPERTY_ROUNDS; round++) {
		struct made *made = some_bystanders(&random);
		struct tare_view view = { 0, WALL, TARE_NO_INDEX, TARE_NO_INDEX, NULL };
		struct tare_ledger_asked asked = { .part = some_span(&random), .span_count = 3 };
		struct tare_ledgers ledgers, plain;
		for (size_t i = 0; i < asked.span_count; i++)
			asked.spans[i] = some_span(&random);
		if (one_in(&random, 4))
			asked.spans[0].to_ns = WALL + 1; // beyond the view: nobody answers
		assert_int_equal(
		    tare_ledgers_compute_with(&made->recording, &view, &asked, &ledgers, NULL), 0);
		compute(made, 0, WALL, &plain);
		assert_int_equal(ledgers.count, plain.count);
		assert_int_equal(ledgers.gap_count, plain.gap_count);
		for (size_t i = 0; i < plain.count; i++)
			assert_figures(&ledgers.ledgers[i], &plain.ledgers[i]);
		for (size_t i = 0; i < plain.gap_count; i++)
			assert_gap(&ledgers.gaps[i], &plain.gaps[i]);
		if (ledgers.working && *ledgers.working) {
			check_asked(made, &asked, *ledgers.working);
			answered++;
		}
		tare_ledgers_free(&ledgers);
		tare_ledgers_free(&plain);
		free(made);
	}
	// Half of these recordings have one device; of some no process has a queue on it, or a call
	// waits for another.
	assert_true(answered > PROPERTY_ROUNDS / 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_nanosecond_is_where_the_rules_say),
		cmocka_unit_test(every_nanosecond_of_spans_is_where_the_rules_say),
		cmocka_unit_test(complementary_spans_add_up),
		cmocka_unit_test(spans_of_all_the_time_change_nothing),
		cmocka_unit_test(parts_sum_to_the_wall),
		cmocka_unit_test(order_and_names_do_not_matter),
		cmocka_unit_test(views_side_by_side_add_up),
		cmocka_unit_test(a_wait_in_two_parts_is_one_wait),
		cmocka_unit_test(exact_clocks_leave_nothing_ambiguous),
		cmocka_unit_test(what_is_asked_is_what_sweeps_of_their_own_say),
	};
	return cmocka_run_group_tests_name("ledger_random", tests, NULL, NULL);
}
