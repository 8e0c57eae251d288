// SPDX-License-Identifier: Apache-2.0
// Ledgers of several devices and processes, of parts of a run; ambiguous time, gaps and names.
#include "analysis/ledger/ledger.h"
#include "analysis/recording/intervals.h"
#include "made_recording.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { K = TARE_KIND_KERNEL, W = TARE_KIND_WRITE };

// A run of 1000 ns with one process to its end, one thread, one device, one in-order queue.
static void simple(struct made *made)
{
	made->recording.end_ns = 1000;
	made_process(made, 1000);
	made_thread(made, 0);
	made_device(made, 0, TARE_NO_INDEX, 0);
	made_queue(made, 0, 0, false);
}

// On a CPU all the time.
static void simple_busy(struct made *made)
{
	simple(made);
	made_sample(made, 0, 0);
	made_sample(made, 1000, 1000);
}

static void command(struct made *made, uint8_t kind, int64_t enter_ns, int64_t exit_ns,
                    int64_t submitted_ns, int64_t start_ns, int64_t end_ns)
{
	made_command(made, made_plain_command(0, 0, kind, enter_ns, exit_ns, submitted_ns, start_ns,
	                                      end_ns));
}

static void one_kernel(struct made *made)
{
	simple_busy(made);
	command(made, K, 100, 120, 150, 200, 300);
}

static struct tare_view whole(const struct made *made)
{
	return (struct tare_view){ 0, made->recording.end_ns, TARE_NO_INDEX, TARE_NO_INDEX, NULL };
}

static void compute(const struct made *made, struct tare_ledgers *ledgers)
{
	struct tare_view view = whole(made);
	assert_int_equal(tare_ledgers_compute(&made->recording, &view, ledgers, NULL), 0);
}

static void two_devices_and_their_union(void **state)
{
	struct made *made = made_new(0);
	struct tare_ledgers ledgers;
	(void)state;
	simple_busy(made);
	made_device(made, 0, TARE_NO_INDEX, 0);
	made_queue(made, 0, 1, false);
	made_device(made, 0, TARE_NO_INDEX, 0); // never used: no queue, no ledger
	command(made, K, 0, 10, 20, 100, 300);
	made_command(made, made_plain_command(0, 1, W, 20, 30, 40, 200, 600));
	compute(made, &ledgers);
	assert_int_equal(ledgers.count, 3);
	assert_int_equal(ledgers.ledgers[0].device, 0);
	assert_int_equal(ledgers.ledgers[1].device, 1);
	assert_int_equal(ledgers.ledgers[2].device, TARE_NO_INDEX);
	assert_string_equal(ledgers.ledgers[2].scope, "union");
	assert_int_equal(ledgers.ledgers[0].parts_ns[TARE_LEDGER_KERNEL], 200);
	assert_int_equal(ledgers.ledgers[0].parts_ns[TARE_LEDGER_TO_DEVICE], 0);
	assert_int_equal(ledgers.ledgers[1].parts_ns[TARE_LEDGER_TO_DEVICE], 400);
	assert_int_equal(ledgers.ledgers[2].parts_ns[TARE_LEDGER_KERNEL], 200);
	assert_int_equal(ledgers.ledgers[2].parts_ns[TARE_LEDGER_TO_DEVICE], 300);
	assert_int_equal(ledgers.ledgers[2].hidden_to_device_ns, 100);
	// On device 1 the hiding kernel of device 0 hides nothing.
	assert_int_equal(ledgers.ledgers[1].hidden_to_device_ns, 0);
	tare_ledgers_free(&ledgers);
	free(made);
}

static void processes_share_a_device(void **state)
{
	struct made *made = made_new(0);
	struct tare_ledgers ledgers;
	(void)state;
	simple_busy(made);
	made_process(made, 1000);
	made_thread(made, 1);
	made_device(made, 1, 0, 0);
	made_queue(made, 1, 1, false);
	command(made, K, 0, 10, 20, 100, 300);
	made_command(made, made_plain_command(1, 1, K, 20, 30, 40, 200, 600));
	compute(made, &ledgers);
	assert_int_equal(ledgers.count, 2);
	assert_int_equal(ledgers.ledgers[0].parts_ns[TARE_LEDGER_KERNEL], 500);
	tare_ledgers_free(&ledgers);

	struct tare_view view = whole(made);
	view.process = 1;
	assert_int_equal(tare_ledgers_compute(&made->recording, &view, &ledgers, NULL), 0);
	assert_int_equal(ledgers.ledgers[0].parts_ns[TARE_LEDGER_KERNEL], 400);
	assert_int_equal(ledgers.ledgers[0].parts_ns[TARE_LEDGER_BEFORE_FIRST], 20);
	tare_ledgers_free(&ledgers);
	free(made);
}

static void dependency_on_another_device(void **state)
{
	static const uint32_t first[] = { 0 };
	struct made *made = made_new(0);
	struct tare_ledgers ledgers;
	(void)state;
	simple_busy(made);
	made_device(made, 0, TARE_NO_INDEX, 0);
	made_queue(made, 0, 1, false);
	command(made, K, 0, 10, 20, 100, 300);
	made_command(made, made_plain_command(0, 1, K, 20, 30, 40, 350, 600));
	made_waits(made, first, 1);
	compute(made, &ledgers);
	assert_int_equal(ledgers.ledgers[1].parts_ns[TARE_LEDGER_DEPENDENCY], 270);
	assert_int_equal(ledgers.ledgers[1].parts_ns[TARE_LEDGER_DISPATCH], 50);
	tare_ledgers_free(&ledgers);
	free(made);
}

// A process that was not recorded hides what happened on the devices that it uses, not on others.
static void lost_for_its_own_devices(void **state)
{
	struct made *made = made_new(0);
	struct tare_ledgers ledgers;
	(void)state;
	simple_busy(made);
	command(made, K, 0, 10, 20, 100, 300);
	made_process(made, 1000);
	made_thread(made, 1);
	made_device(made, 1, TARE_NO_INDEX, 0);
	made_queue(made, 1, 1, false);
	made_command(made, made_plain_command(1, 1, K, 0, 10, 20, 100, 400));
	made->losses[0] = (struct tare_recorded_loss){ .process = 1,
		                                       .thread = TARE_NO_INDEX,
		                                       .from_ns = 350,
		                                       .to_ns = 900,
		                                       .why = TARE_LOSS_STOPPED };
	made->recording.loss_count = 1;
	compute(made, &ledgers);
	assert_int_equal(ledgers.count, 3);
	assert_int_equal(ledgers.ledgers[0].parts_ns[TARE_LEDGER_NOT_RECORDED], 0);
	assert_int_equal(ledgers.ledgers[1].parts_ns[TARE_LEDGER_NOT_RECORDED], 500);
	assert_int_equal(ledgers.ledgers[2].parts_ns[TARE_LEDGER_NOT_RECORDED], 500);
	tare_ledgers_free(&ledgers);
	free(made);
}

static void near_edges(void **state)
{
	static const struct {
		int64_t residual_ns, ambiguous_ns;
	} rows[] = {
		{ 0, 0 },       { TARE_NO_TIME, 0 },
		{ 1, 6 }, // around submission 150, start 200, end 300
		{ 10, 60 },     { 25, 150 },
		{ 30, 170 },  // those of submission and start run together
		{ 60, 270 },  // and those of start and end: 90 to 360
		{ 400, 700 }, // cut at the beginning of the run
		{ 5000, 1000 }, { INT64_MAX, 1000 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct made *made = made_new(0);
		struct tare_ledgers ledgers;
		one_kernel(made);
		made->devices[0].residual_ns = rows[i].residual_ns;
		compute(made, &ledgers);
		assert_int_equal(ledgers.ledgers[0].ambiguous_ns, rows[i].ambiguous_ns);
		tare_ledgers_free(&ledgers);
		free(made);
	}
}

// The measure of the union so far.
static int64_t cover_ns(const struct tare_cover *cover)
{
	int64_t sum_ns = cover->settled_ns;

	for (size_t i = 0; i < cover->count; i++)
		sum_ns += cover->spans[i].to_ns - cover->spans[i].from_ns;
	return sum_ns;
}

// More edges with windows that overlap than a list of open ones holds at once.
static void many_edges(void **state)
{
	struct tare_cover cover = { .from_ns = 0, .to_ns = 1000000, .reach_ns = 5000 };
	(void)state;
	for (int64_t at = 0; at < 1000000; at += 1000)
		assert_int_equal(tare_cover_around(&cover, at, at % 3000 ? 100 : 450), 0);
	// At 0 half a wide one, then 333 wide and 666 narrow ones.
	int64_t apart_ns = 450 + 333 * 900 + 666 * 200;
	assert_int_equal(cover_ns(&cover), apart_ns);
	assert_true(cover.capacity <= 256);
	// One that swallows two wide and three narrow ones.
	assert_int_equal(tare_cover_around(&cover, 999500, 4700), 0);
	assert_int_equal(cover_ns(&cover), apart_ns + 5200 - 2 * 900 - 3 * 200);
	tare_cover_free(&cover);
}

static void longest_gaps_of_each_device(void **state)
{
	struct made *made = made_new(0);
	struct tare_ledgers ledgers;
	(void)state;
	simple_busy(made);
	made->recording.end_ns = 1000000;
	// Gaps of 1, 2, 3 ... 100 ns, and what is left at the end.
	int64_t at_ns = 1000;
	command(made, K, 0, 1, 1, 0, at_ns);
	for (int64_t i = 1; i <= 100; i++) {
		at_ns += i;
		command(made, K, i, i, i, at_ns, at_ns + 10);
		at_ns += 10;
	}
	compute(made, &ledgers);
	assert_int_equal(ledgers.gap_count, 64);
	assert_int_equal(ledgers.gaps[0].command, TARE_NO_INDEX);
	assert_int_equal(ledgers.gaps[0].to_ns, 1000000);
	for (size_t i = 1; i < 64; i++) {
		assert_int_equal(ledgers.gaps[i].to_ns - ledgers.gaps[i].from_ns, 101 - i);
		assert_int_equal(ledgers.gaps[i].command, 101 - i);
		assert_int_equal(ledgers.gaps[i].cause, TARE_LEDGER_DISPATCH);
		assert_int_equal(ledgers.gaps[i].device, 0);
	}
	tare_ledgers_free(&ledgers);
	free(made);
}

static void kernels_of_other_names_stay(void **state)
{
	struct made *made = made_new(0);
	struct tare_ledgers ledgers;
	(void)state;
	one_kernel(made);
	struct tare_view view = whole(made);
	view.kernel = "nothing is called so";
	assert_int_equal(tare_ledgers_compute(&made->recording, &view, &ledgers, NULL), 0);
	assert_int_equal(ledgers.ledgers[0].parts_ns[TARE_LEDGER_KERNEL], 100);
	tare_ledgers_free(&ledgers);
	free(made);
}

static void views_the_wrong_way_round_are_empty(void **state)
{
	struct made *made = made_new(0);
	struct tare_ledgers ledgers;
	(void)state;
	one_kernel(made);
	struct tare_view view = whole(made);
	view.from_ns = 500;
	view.to_ns = 400;
	assert_int_equal(tare_ledgers_compute(&made->recording, &view, &ledgers, NULL), 0);
	assert_int_equal(ledgers.ledgers[0].wall_ns, 0);
	for (int i = 0; i < TARE_LEDGER_CATEGORIES; i++)
		assert_int_equal(ledgers.ledgers[0].parts_ns[i], 0);
	tare_ledgers_free(&ledgers);
	free(made);
}

static void assert_text(const char *text, const char *names[], size_t *count)
{
	assert_non_null(text);
	assert_true(*text);
	for (size_t i = 0; i < *count; i++)
		assert_string_not_equal(names[i], text);
	names[(*count)++] = text;
}

static void everything_has_a_name_of_its_own(void **state)
{
	const char *names[TARE_LEDGER_CATEGORIES], *titles[TARE_LEDGER_CATEGORIES];
	size_t count = 0, titled = 0;
	(void)state;
	for (int i = 0; i < TARE_LEDGER_CATEGORIES; i++) {
		assert_text(tare_ledger_category_name(i), names, &count);
		assert_text(tare_ledger_category_title(i), titles, &titled);
	}
	count = 0;
	for (int i = 0; i < TARE_HOST_STATES; i++)
		assert_text(tare_host_state_name(i), names, &count);
	count = 0;
	for (int i = 0; i < TARE_DEVICE_STATES; i++)
		assert_text(tare_device_state_name(i), names, &count);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_devices_and_their_union),
		cmocka_unit_test(processes_share_a_device),
		cmocka_unit_test(dependency_on_another_device),
		cmocka_unit_test(lost_for_its_own_devices),
		cmocka_unit_test(near_edges),
		cmocka_unit_test(many_edges),
		cmocka_unit_test(longest_gaps_of_each_device),
		cmocka_unit_test(kernels_of_other_names_stay),
		cmocka_unit_test(views_the_wrong_way_round_are_empty),
		cmocka_unit_test(everything_has_a_name_of_its_own),
	};
	return cmocka_run_group_tests_name("ledger_views", tests, NULL, NULL);
}
