// SPDX-License-Identifier: Apache-2.0
// What decides when two threads do the same thing at the same moment.
#include "analysis/ledger/ledger.h"
#include "made_recording.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

// A process and a thread each for two threads, one of which builds and the other allocates until
// 400.
static struct made *two_threads(void)
{
	struct made *made = made_new(1000);
	for (uint32_t i = 0; i < 2; i++) {
		made_process(made, 1000);
		made_thread(made, i);
		made_device(made, i, i ? 0 : TARE_NO_INDEX, 0);
		made_queue(made, i, i, true);
		made_call(made,
		          made_plain_call(i, i ? TARE_ROLE_ALLOCATE : TARE_ROLE_BUILD, 0, 400));
	}
	return made;
}

static struct tare_ledgers compute(struct made *made)
{
	struct tare_view view = { 0, 1000, TARE_NO_INDEX, TARE_NO_INDEX, NULL };
	struct tare_ledgers ledgers;
	made_sort(made);
	assert_int_equal(tare_ledgers_compute(&made->recording, &view, &ledgers, NULL), 0);
	return ledgers;
}

// Which thread's command ended the idle time before `a` and `b`, which start together.
static uint32_t first_of(const struct tare_recorded_command *a,
                         const struct tare_recorded_command *b, bool turned, bool renumbered)
{
	struct made *made = two_threads();
	if (renumbered) {
		made->processes[0].pid = 300;
	} else {
		made->threads[1].process = 0;
		made->queues[1].process = 0;
	}
	made_command(made, turned ? *b : *a);
	made_command(made, turned ? *a : *b);
	struct tare_ledgers ledgers = compute(made);
	const int64_t *parts_ns = ledgers.ledgers[0].parts_ns;
	assert_int_equal(parts_ns[TARE_LEDGER_BUILD] + parts_ns[TARE_LEDGER_ALLOCATE], 400);
	uint32_t thread = parts_ns[TARE_LEDGER_ALLOCATE] == 400;
	tare_ledgers_free(&ledgers);
	free(made);
	return thread;
}

static void commands_that_start_together(void **state)
{
	const struct tare_recorded_command plain =
	    made_plain_command(0, 0, TARE_KIND_TASK, 410, 420, 430, 500, 600);
	static const char *const keys[] = { "enqueued", "submitted", "ended", "kind", "name" };
	(void)state;
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		for (int turned = 0; turned < 2; turned++) {
			struct tare_recorded_command a = plain, b = plain;
			a.object = b.object = 1;
			b.thread = b.queue = 1;
			b.enter_ns -= i == 0;
			b.submitted_ns -= i == 1;
			b.end_ns -= i == 2;
			b.kind = i == 3 ? TARE_KIND_KERNEL : b.kind;
			b.object = i == 4 ? 0 : b.object;
			// What is decided later speaks for the other.
			a.submitted_ns -= i < 1;
			a.end_ns -= i < 2;
			a.kind = i < 3 ? TARE_KIND_KERNEL : a.kind;
			if (first_of(&a, &b, turned, false) != 1)
				fail_msg("%s first does not decide", keys[i]);
		}
	}
}

static void then_the_numbers_of_the_system(void **state)
{
	struct tare_recorded_command a =
	    made_plain_command(0, 0, TARE_KIND_KERNEL, 410, 420, 430, 500, 600);
	struct tare_recorded_command b = a;
	(void)state;
	b.thread = b.queue = 1;
	for (int turned = 0; turned < 2; turned++) {
		assert_int_equal(first_of(&a, &b, turned, false), 0);
		// By the process first: the other thread's has the lower number.
		assert_int_equal(first_of(&a, &b, turned, true), 1);
	}
}

// Two waits at once: the blocking copy counts, then the thread with the lower number.
static void waits_that_begin_and_end_together(void **state)
{
	(void)state;
	for (int turned = 0; turned < 2; turned++) {
		for (int copies = 0; copies < 2; copies++) {
			struct made *made = two_threads();
			struct tare_recorded_command copy =
			    made_plain_command(1, 1, TARE_KIND_WRITE, 500, 700, 510, 500, 700);
			copy.flags = TARE_COMMAND_BLOCKING;
			made_call(made,
			          made_plain_call((uint32_t)turned, TARE_ROLE_WAIT, 500, 700));
			if (copies)
				made_command(made, copy);
			else
				made_call(made, made_plain_call((uint32_t)!turned, TARE_ROLE_WAIT,
				                                500, 700));
			// While the thread that counts waits, it also builds or allocates.
			made_call(made, made_plain_call(0, TARE_ROLE_BUILD, 600, 650));
			made_call(made, made_plain_call(1, TARE_ROLE_ALLOCATE, 660, 700));
			struct tare_ledgers ledgers = compute(made);
			int64_t build_ns = 0, allocate_ns = 0;
			for (int d = 0; d < TARE_DEVICE_STATES; d++) {
				build_ns += ledgers.ledgers[0].matrix_ns[TARE_HOST_BUILD][d];
				allocate_ns += ledgers.ledgers[0].matrix_ns[TARE_HOST_ALLOCATE][d];
			}
			// Until 400 the next to wait counts.
			assert_int_equal(build_ns, copies ? 0 : 400 + 50);
			assert_int_equal(allocate_ns, copies ? 400 + 40 : 0);
			tare_ledgers_free(&ledgers);
			free(made);
		}
	}
}

static void a_process_lives_as_long_as_its_calls(void **state)
{
	struct made *made = made_new(1000);
	(void)state;
	made_process(made, 500);
	made_thread(made, 0);
	made_call(made, made_plain_call(0, TARE_ROLE_OTHER, 100, 800));
	struct tare_ledgers ledgers = compute(made);
	assert_int_equal(ledgers.ledgers[0].parts_ns[TARE_LEDGER_API], 700);
	assert_int_equal(ledgers.ledgers[0].parts_ns[TARE_LEDGER_ENDED], 200);
	tare_ledgers_free(&ledgers);
	free(made);
}

// What the recorder's own thread has used is no CPU time of the program's.
static void cpu_time_of_the_recorder_is_not_the_programs(void **state)
{
	struct made *made = made_new(1000);
	(void)state;
	made_process(made, 1000);
	made_thread(made, 0);
	made->processes[0].cpu_ns = 500;
	made->processes[0].helper_cpu_ns = 300;
	made_call(made, made_plain_call(0, TARE_ROLE_OTHER, 0, 100));
	struct tare_ledgers ledgers = compute(made);
	assert_int_equal(ledgers.ledgers[0].parts_ns[TARE_LEDGER_COMPUTING], 100);
	assert_int_equal(ledgers.ledgers[0].parts_ns[TARE_LEDGER_OFF_CPU], 800);
	tare_ledgers_free(&ledgers);
	free(made);
}

// A CPU clock that goes back says nothing but that no time was used.
static void cpu_clock_that_goes_back(void **state)
{
	struct made *made = made_new(1000);
	(void)state;
	made_process(made, 1000);
	made_thread(made, 0);
	made_sample(made, 0, 900);
	made_sample(made, 500, 300);
	made_sample(made, 1000, 800);
	made_call(made, made_plain_call(0, TARE_ROLE_OTHER, 0, 100));
	made_call(made, made_plain_call(0, TARE_ROLE_WAIT, 200, 300));
	struct tare_ledgers ledgers = compute(made);
	assert_int_equal(ledgers.ledgers[0].parts_ns[TARE_LEDGER_OFF_CPU], 300);
	assert_int_equal(ledgers.ledgers[0].parts_ns[TARE_LEDGER_COMPUTING], 500);
	tare_ledgers_free(&ledgers);
	free(made);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(commands_that_start_together),
		cmocka_unit_test(then_the_numbers_of_the_system),
		cmocka_unit_test(waits_that_begin_and_end_together),
		cmocka_unit_test(a_process_lives_as_long_as_its_calls),
		cmocka_unit_test(cpu_time_of_the_recorder_is_not_the_programs),
		cmocka_unit_test(cpu_clock_that_goes_back),
	};
	return cmocka_run_group_tests_name("ledger_ties", tests, NULL, NULL);
}
