// SPDX-License-Identifier: Apache-2.0
// Ledgers worked out by hand; docs/ledger.md has the rules.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "ledger_runs.h"

static const struct ledger_case {
	const char *name;
	void (*make)(struct made *);
	struct part parts[13];
	int64_t hidden_to_device_ns, hidden_from_device_ns;
} cases[] = {
	{ "nothing", nothing, { { TARE_LEDGER_BEFORE_FIRST, 1000 } }, 0, 0 },
	{ "no command",
	  no_command,
	  { { TARE_LEDGER_BEFORE_FIRST, 100 },
	    { TARE_LEDGER_API, 200 },
	    { TARE_LEDGER_COMPUTING, 600 },
	    { TARE_LEDGER_ENDED, 100 } },
	  0,
	  0 },
	{ "example",
	  example,
	  { { TARE_LEDGER_KERNEL, 190 },
	    { TARE_LEDGER_TO_DEVICE, 70 },
	    { TARE_LEDGER_FROM_DEVICE, 60 },
	    { TARE_LEDGER_BEFORE_FIRST, 100 },
	    { TARE_LEDGER_BUILD, 200 },
	    { TARE_LEDGER_BLOCKING_COPY, 20 },
	    { TARE_LEDGER_WAIT, 40 },
	    { TARE_LEDGER_API, 40 },
	    { TARE_LEDGER_COMPUTING, 90 },
	    { TARE_LEDGER_OFF_CPU, 80 },
	    { TARE_LEDGER_HELD, 40 },
	    { TARE_LEDGER_DISPATCH, 50 },
	    { TARE_LEDGER_ENDED, 20 } },
	  0,
	  50 },
	{ "one kernel",
	  one_kernel,
	  { { TARE_LEDGER_KERNEL, 100 },
	    { TARE_LEDGER_BEFORE_FIRST, 100 },
	    { TARE_LEDGER_API, 20 },
	    { TARE_LEDGER_HELD, 30 },
	    { TARE_LEDGER_DISPATCH, 50 },
	    { TARE_LEDGER_COMPUTING, 700 } },
	  0,
	  0 },
	{ "no length",
	  no_length,
	  { { TARE_LEDGER_KERNEL, 100 },
	    { TARE_LEDGER_BEFORE_FIRST, 100 },
	    { TARE_LEDGER_API, 20 },
	    { TARE_LEDGER_HELD, 30 },
	    { TARE_LEDGER_DISPATCH, 150 },
	    { TARE_LEDGER_COMPUTING, 600 } },
	  0,
	  0 },
	{ "overlapping",
	  overlapping,
	  { { TARE_LEDGER_KERNEL, 300 },
	    { TARE_LEDGER_API, 10 },
	    { TARE_LEDGER_HELD, 10 },
	    { TARE_LEDGER_DISPATCH, 80 },
	    { TARE_LEDGER_COMPUTING, 600 } },
	  0,
	  0 },
	{ "hidden",
	  hidden,
	  { { TARE_LEDGER_KERNEL, 200 },
	    { TARE_LEDGER_TO_DEVICE, 150 },
	    { TARE_LEDGER_FROM_DEVICE, 100 },
	    { TARE_LEDGER_BOTH_WAYS, 100 },
	    { TARE_LEDGER_API, 20 },
	    { TARE_LEDGER_HELD, 10 },
	    { TARE_LEDGER_DISPATCH, 20 },
	    { TARE_LEDGER_COMPUTING, 400 } },
	  100,
	  50 },
	{ "local copies",
	  local_copies,
	  { { TARE_LEDGER_LOCAL, 300 },
	    { TARE_LEDGER_API, 10 },
	    { TARE_LEDGER_HELD, 10 },
	    { TARE_LEDGER_DISPATCH, 80 },
	    { TARE_LEDGER_COMPUTING, 600 } },
	  0,
	  0 },
	{ "untimed",
	  untimed,
	  { { TARE_LEDGER_BEFORE_FIRST, 100 },
	    { TARE_LEDGER_UNTIMED, 600 },
	    { TARE_LEDGER_COMPUTING, 300 } },
	  0,
	  0 },
	{ "untimed until a later start",
	  untimed_until_a_later_start,
	  { { TARE_LEDGER_KERNEL, 100 },
	    { TARE_LEDGER_BEFORE_FIRST, 100 },
	    { TARE_LEDGER_UNTIMED, 500 },
	    { TARE_LEDGER_COMPUTING, 300 } },
	  0,
	  0 },
	{ "user event",
	  user_event,
	  { { TARE_LEDGER_KERNEL, 100 },
	    { TARE_LEDGER_API, 100 },
	    { TARE_LEDGER_DEPENDENCY, 500 },
	    { TARE_LEDGER_COMPUTING, 300 } },
	  0,
	  0 },
	{ "after a marker",
	  after_a_marker,
	  { { TARE_LEDGER_KERNEL, 100 },
	    { TARE_LEDGER_API, 20 },
	    { TARE_LEDGER_DEPENDENCY, 380 },
	    { TARE_LEDGER_DISPATCH, 200 },
	    { TARE_LEDGER_COMPUTING, 300 } },
	  0,
	  0 },
	{ "submission not told",
	  submission_not_told,
	  { { TARE_LEDGER_KERNEL, 100 },
	    { TARE_LEDGER_API, 100 },
	    { TARE_LEDGER_DISPATCH, 500 },
	    { TARE_LEDGER_COMPUTING, 300 } },
	  0,
	  0 },
	{ "wake-up",
	  wake_up,
	  { { TARE_LEDGER_KERNEL, 650 },
	    { TARE_LEDGER_API, 20 },
	    { TARE_LEDGER_HELD, 20 },
	    { TARE_LEDGER_DISPATCH, 10 },
	    { TARE_LEDGER_WAIT, 300 } },
	  0,
	  0 },
	{ "nested",
	  nested,
	  { { TARE_LEDGER_KERNEL, 500 },
	    { TARE_LEDGER_API, 300 },
	    { TARE_LEDGER_BUILD, 100 },
	    { TARE_LEDGER_ALLOCATE, 100 } },
	  0,
	  0 },
	{ "asleep",
	  asleep,
	  { { TARE_LEDGER_KERNEL, 200 },
	    { TARE_LEDGER_API, 100 },
	    { TARE_LEDGER_COMPUTING, 200 },
	    { TARE_LEDGER_OFF_CPU, 500 } },
	  0,
	  0 },
	{ "CPU not known",
	  cpu_not_known,
	  { { TARE_LEDGER_KERNEL, 200 }, { TARE_LEDGER_API, 100 }, { TARE_LEDGER_UNKNOWN, 700 } },
	  0,
	  0 },
	// 300 of 1000 ns on a CPU, of these 100 in the call: 200 of 900 outside, spread evenly.
	{ "CPU of the process only",
	  cpu_of_the_process_only,
	  { { TARE_LEDGER_KERNEL, 200 },
	    { TARE_LEDGER_API, 100 },
	    { TARE_LEDGER_COMPUTING, 156 },
	    { TARE_LEDGER_OFF_CPU, 544 } },
	  0,
	  0 },
	{ "records lost",
	  records_lost,
	  { { TARE_LEDGER_KERNEL, 200 },
	    { TARE_LEDGER_BUILD, 200 },
	    { TARE_LEDGER_NOT_RECORDED, 400 },
	    { TARE_LEDGER_COMPUTING, 200 } },
	  0,
	  0 },
	{ "stopped",
	  stopped,
	  { { TARE_LEDGER_KERNEL, 370 },
	    { TARE_LEDGER_BEFORE_FIRST, 100 },
	    { TARE_LEDGER_API, 10 },
	    { TARE_LEDGER_HELD, 10 },
	    { TARE_LEDGER_DISPATCH, 10 },
	    { TARE_LEDGER_NOT_RECORDED, 450 },
	    { TARE_LEDGER_ENDED, 50 } },
	  0,
	  0 },
	{ "stopped in flight",
	  stopped_in_flight,
	  { { TARE_LEDGER_BEFORE_FIRST, 100 },
	    { TARE_LEDGER_UNTIMED, 300 },
	    { TARE_LEDGER_NOT_RECORDED, 600 } },
	  0,
	  0 },
	{ "recycled",
	  recycled,
	  { { TARE_LEDGER_KERNEL, 70 },
	    { TARE_LEDGER_BEFORE_FIRST, 200 },
	    { TARE_LEDGER_NOT_RECORDED, 400 },
	    { TARE_LEDGER_API, 10 },
	    { TARE_LEDGER_HELD, 10 },
	    { TARE_LEDGER_DISPATCH, 10 },
	    { TARE_LEDGER_COMPUTING, 300 } },
	  0,
	  0 },
	{ "delayed",
	  delayed,
	  { { TARE_LEDGER_KERNEL, 170 },
	    { TARE_LEDGER_BEFORE_FIRST, 100 },
	    { TARE_LEDGER_NOT_RECORDED, 550 },
	    { TARE_LEDGER_BUILD, 50 },
	    { TARE_LEDGER_API, 10 },
	    { TARE_LEDGER_HELD, 10 },
	    { TARE_LEDGER_DISPATCH, 10 },
	    { TARE_LEDGER_COMPUTING, 100 } },
	  0,
	  0 },
	{ "no sign of life",
	  no_sign,
	  { { TARE_LEDGER_KERNEL, 870 },
	    { TARE_LEDGER_API, 10 },
	    { TARE_LEDGER_HELD, 10 },
	    { TARE_LEDGER_DISPATCH, 10 },
	    { TARE_LEDGER_NOT_RECORDED, 80 },
	    { TARE_LEDGER_ENDED, 20 } },
	  0,
	  0 },
	{ "held after the last command",
	  held_after_waiting,
	  { { TARE_LEDGER_KERNEL, 200 },
	    { TARE_LEDGER_API, 10 },
	    { TARE_LEDGER_DEPENDENCY, 190 },
	    { TARE_LEDGER_HELD, 200 },
	    { TARE_LEDGER_DISPATCH, 100 },
	    { TARE_LEDGER_COMPUTING, 300 } },
	  0,
	  0 },
	{ "polling",
	  polling_row,
	  { { TARE_LEDGER_KERNEL, 600 }, { TARE_LEDGER_WAIT, 400 } },
	  0,
	  0 },
	{ "asking",
	  asking_row,
	  { { TARE_LEDGER_KERNEL, 600 }, { TARE_LEDGER_API, 100 }, { TARE_LEDGER_COMPUTING, 300 } },
	  0,
	  0 },
	{ "slow polling",
	  slow_polling,
	  { { TARE_LEDGER_KERNEL, 100000 },
	    { TARE_LEDGER_WAIT, 100 },
	    { TARE_LEDGER_COMPUTING, 399900 } },
	  0,
	  0 },
	{ "edge of polling",
	  edge_of_polling,
	  { { TARE_LEDGER_KERNEL, 100000 }, { TARE_LEDGER_WAIT, 400000 } },
	  0,
	  0 },
	{ "edge of slow polling",
	  edge_of_slow_polling,
	  { { TARE_LEDGER_KERNEL, 91000 },
	    { TARE_LEDGER_WAIT, 100 },
	    { TARE_LEDGER_COMPUTING, 408900 } },
	  0,
	  0 },
	{ "worker",
	  worker,
	  { { TARE_LEDGER_KERNEL, 270 },
	    { TARE_LEDGER_BEFORE_FIRST, 100 },
	    { TARE_LEDGER_BUILD, 400 },
	    { TARE_LEDGER_COMPUTING, 190 },
	    { TARE_LEDGER_API, 20 },
	    { TARE_LEDGER_HELD, 10 },
	    { TARE_LEDGER_DISPATCH, 10 } },
	  0,
	  0 },
	{ "hung",
	  hung,
	  { { TARE_LEDGER_KERNEL, 280 },
	    { TARE_LEDGER_API, 10 },
	    { TARE_LEDGER_HELD, 10 },
	    { TARE_LEDGER_WAIT, 600 },
	    { TARE_LEDGER_ENDED, 100 } },
	  0,
	  0 },
};

static struct tare_view whole(const struct made *made)
{
	return (struct tare_view){ 0, made->recording.end_ns, TARE_NO_INDEX, TARE_NO_INDEX, NULL };
}

static void compute(const struct made *made, struct tare_ledgers *ledgers)
{
	struct tare_view view = whole(made);
	assert_int_equal(tare_ledgers_compute(&made->recording, &view, ledgers, NULL), 0);
}

static void check_case(const struct ledger_case *c)
{
	struct made *made = made_new(0);
	struct tare_ledgers ledgers;
	int64_t should_ns[TARE_LEDGER_CATEGORIES] = { 0 };
	c->make(made);
	made_sort(made);
	compute(made, &ledgers);
	for (size_t i = 0; i < sizeof c->parts / sizeof *c->parts; i++)
		should_ns[c->parts[i].category] += c->parts[i].ns;
	for (size_t i = 0; i < ledgers.count; i++) {
		for (int k = 0; k < TARE_LEDGER_CATEGORIES; k++)
			if (ledgers.ledgers[i].parts_ns[k] != should_ns[k])
				fail_msg("%s: %s is %lld, not %lld", c->name,
				         tare_ledger_category_name(k),
				         (long long)ledgers.ledgers[i].parts_ns[k],
				         (long long)should_ns[k]);
		assert_int_equal(ledgers.ledgers[i].hidden_to_device_ns, c->hidden_to_device_ns);
		assert_int_equal(ledgers.ledgers[i].hidden_from_device_ns,
		                 c->hidden_from_device_ns);
	}
	tare_ledgers_free(&ledgers);
	struct tare_view view = whole(made);
	if (view.to_ns <= 4000)
		assert_ledgers_agree(made, &view);
	free(made);
}

static void cases_by_hand(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		check_case(&cases[i]);
}

// ---- more than parts

static void matrix_and_ambiguous_time_of_the_example(void **state)
{
	static const struct {
		enum tare_host_state host;
		enum tare_device_state device;
		int64_t ns;
	} cells[] = {
		{ TARE_HOST_BEFORE_FIRST, TARE_DEVICE_IDLE, 100 },
		{ TARE_HOST_BUILD, TARE_DEVICE_IDLE, 200 },
		{ TARE_HOST_BLOCKING_COPY, TARE_DEVICE_TO_DEVICE, 70 },
		{ TARE_HOST_BLOCKING_COPY, TARE_DEVICE_IDLE, 50 },
		{ TARE_HOST_WAIT, TARE_DEVICE_KERNEL, 50 },
		{ TARE_HOST_WAIT, TARE_DEVICE_KERNEL_AND_TRANSFER, 50 },
		{ TARE_HOST_WAIT, TARE_DEVICE_FROM_DEVICE, 60 },
		{ TARE_HOST_WAIT, TARE_DEVICE_IDLE, 40 },
		{ TARE_HOST_API, TARE_DEVICE_IDLE, 30 },
		{ TARE_HOST_COMPUTING, TARE_DEVICE_KERNEL, 90 },
		{ TARE_HOST_COMPUTING, TARE_DEVICE_IDLE, 160 },
		{ TARE_HOST_OFF_CPU, TARE_DEVICE_IDLE, 80 },
		{ TARE_HOST_GONE, TARE_DEVICE_IDLE, 20 },
	};
	struct made *made = made_new(0);
	struct tare_ledgers ledgers;
	(void)state;
	example(made);
	compute(made, &ledgers);
	const struct tare_ledger *ledger = &ledgers.ledgers[0];
	for (size_t i = 0; i < sizeof cells / sizeof *cells; i++)
		assert_int_equal(ledger->matrix_ns[cells[i].host][cells[i].device], cells[i].ns);
	assert_int_equal(ledger->ambiguous_ns, 100);
	tare_ledgers_free(&ledgers);
	free(made);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cases_by_hand),
		cmocka_unit_test(matrix_and_ambiguous_time_of_the_example),
	};
	return cmocka_run_group_tests_name("ledger", tests, NULL, NULL);
}
