// SPDX-License-Identifier: Apache-2.0
// When kernels ran, of more commands than wait to be put in order, in several orders.
#include "analysis/tables/internal.h"

#include "base/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

enum { COMMANDS = 150000, APART = 100 };

static struct tare_recorded_process process;
static struct tare_recorded_thread thread;
static struct tare_recorded_device device;
static struct tare_recorded_queue queue;
static struct tare_recorded_command commands[COMMANDS];

// Kernels of 30 to 129 ns, each APART ns behind the last one, and moved so far at most.
static int64_t make_commands(struct tare_random *random, size_t moved)
{
	int64_t sum_ns = 0, covered_ns = 0;
	for (size_t i = 0; i < COMMANDS; i++) {
		int64_t from_ns = APART * (int64_t)i,
		        to_ns = from_ns + 30 + (int64_t)tare_random_below(random, 100);
		commands[i] = (struct tare_recorded_command){ .start_ns = from_ns,
			                                      .end_ns = to_ns,
			                                      .enter_ns = 0,
			                                      .kind = TARE_KIND_KERNEL,
			                                      .first_wait = TARE_NO_INDEX,
			                                      .object = TARE_NO_INDEX,
			                                      .stack = TARE_NO_INDEX };
		sum_ns += to_ns - (from_ns > covered_ns ? from_ns : covered_ns);
		covered_ns = to_ns;
	}
	for (size_t i = 0; i < COMMANDS && moved; i++) {
		size_t left = COMMANDS - i;
		size_t other = i + tare_random_below(random, moved < left ? moved : left);
		struct tare_recorded_command held = commands[i];
		commands[i] = commands[other];
		commands[other] = held;
	}
	return sum_ns;
}

static void kernel_time_does_not_depend_on_the_order(void **state)
{
	const size_t moved[] = { 0, 500, COMMANDS };
	struct tare_random random = { 3 };
	struct tare_recording recording = {
		.processes = &process,
		.process_count = 1,
		.threads = &thread,
		.thread_count = 1,
		.devices = &device,
		.device_count = 1,
		.queues = &queue,
		.queue_count = 1,
		.commands.plain = commands,
		.command_count = COMMANDS,
		.end_ns = INT64_C(1) << 40,
	};
	struct tare_view view = tare_view_all(&recording);
	(void)state;
	for (size_t i = 0; i < sizeof moved / sizeof *moved; i++) {
		int64_t sum_ns = make_commands(&random, moved[i]);
		struct tables_context context;
		struct tables_busy busy;
		assert_int_equal(tables_context_open(&recording, &view, NULL, &context), 0);
		assert_int_equal(tables_busy_open(&context, true, &busy), 0);
		assert_true(tables_busy_total(&busy, 0) == sum_ns);
		assert_true(tables_busy_before(&busy, 0, APART * COMMANDS / 2) <=
		            APART * COMMANDS / 2);
		assert_true(tables_busy_before(&busy, 0, INT64_MAX / 4) == sum_ns);
		tables_busy_close(&busy);
		tables_context_close(&context);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernel_time_does_not_depend_on_the_order),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
