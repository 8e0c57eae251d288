// SPDX-License-Identifier: Apache-2.0
// What tables say by sums of what commands have in common is what they say by looking at each.
#include "analysis/findings/findings.h"
#include "analysis/recording/internal.h"
#include "analysis/tables/tables.h"
#include "tests/unit/model/statistics/noise.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { COMMANDS = 900, QUEUES = 3, THREADS = 2, ROUNDS = 40 };

struct world {
	struct tare_recorded_process process;
	struct tare_recorded_thread threads[THREADS];
	struct tare_recorded_device device;
	struct tare_recorded_queue queues[QUEUES];
	struct tare_recorded_kernel kernels[2];
	struct tare_recorded_shape shape;
	struct tare_recorded_function functions[2];
	struct tare_recorded_command commands[COMMANDS];
	struct tare_recording each;   // its commands are plain
	struct tare_recording summed; // they are packed, and summed up
	struct loading loading;
	struct tare_random random;
};

static int64_t below(struct world *world, int64_t bound)
{
	return (int64_t)tare_random_below(&world->random, (uint64_t)bound);
}

static struct tare_recorded_command make_command(struct world *world, int64_t enter_ns,
                                                 bool all_timed)
{
	bool kernel = below(world, 4) > 0;
	struct tare_recorded_command command = {
		.enter_ns = enter_ns,
		.exit_ns = enter_ns + 1 + below(world, 900),
		.submitted_ns = TARE_NO_TIME,
		.start_ns = enter_ns + below(world, 3000),
		.amount = kernel ? 0 : (uint64_t)(4096 << below(world, 2)),
		.thread = (uint32_t)below(world, THREADS),
		.queue = (uint32_t)below(world, QUEUES),
		.object = kernel ? (uint32_t)below(world, 2) : 0,
		.first_wait = TARE_NO_INDEX,
		.stack = TARE_NO_INDEX,
		.function = !kernel,
		.kind = kernel ? TARE_KIND_KERNEL : TARE_KIND_WRITE,
		.direction = kernel ? TARE_DIRECTION_NONE : TARE_DIRECTION_TO_DEVICE,
		.flags = !kernel && below(world, 2) ? TARE_COMMAND_BLOCKING : 0,
	};
	command.end_ns = command.start_ns + below(world, 2500);
	if (!all_timed && below(world, 9) == 0)
		command.start_ns = command.end_ns = TARE_NO_TIME;
	return command;
}

static void make_objects(struct world *world)
{
	world->process = (struct tare_recorded_process){ .came_to_exit = true };
	world->device = (struct tare_recorded_device){ .name = "A", .compute_units = 4 };
	for (uint32_t i = 0; i < THREADS; i++)
		world->threads[i] =
		    (struct tare_recorded_thread){ .name = "",
			                           .unfinished_function = TARE_NO_INDEX };
	for (uint32_t i = 0; i < QUEUES; i++)
		world->queues[i] =
		    (struct tare_recorded_queue){ .number = i, .api = TARE_TRACE_OPENCL };
	world->kernels[0] =
	    (struct tare_recorded_kernel){ .program = TARE_NO_INDEX, .name = "add" };
	world->kernels[1] =
	    (struct tare_recorded_kernel){ .program = TARE_NO_INDEX, .name = "norm" };
	world->shape = (struct tare_recorded_shape){ .dimensions = 1,
		                                     .global = { 64, 1, 1 },
		                                     .local = { 16, 1, 1 } };
	world->functions[0] =
	    (struct tare_recorded_function){ "clEnqueueNDRangeKernel", 1, 1, false };
	world->functions[1] =
	    (struct tare_recorded_function){ "clEnqueueWriteBuffer", 1, 1, false };
}

static void make_world(struct world *world, bool all_timed)
{
	int64_t at_ns = 1000;
	make_objects(world);
	for (size_t i = 0; i < COMMANDS; i++) {
		at_ns += below(world, 2000);
		world->commands[i] = make_command(world, at_ns, all_timed);
	}
	world->process.end_ns = at_ns + 10000;
	world->each = (struct tare_recording){
		.path = "",
		.name = "",
		.program = "",
		.apis = 1 << TARE_TRACE_OPENCL,
		.end_ns = at_ns + 10000,
		.user_cpu_ns = TARE_NO_TIME,
		.system_cpu_ns = TARE_NO_TIME,
		.processes = &world->process,
		.process_count = 1,
		.threads = world->threads,
		.thread_count = THREADS,
		.devices = &world->device,
		.device_count = 1,
		.queues = world->queues,
		.queue_count = QUEUES,
		.kernels = world->kernels,
		.kernel_count = 2,
		.shapes = &world->shape,
		.shape_count = 1,
		.functions = world->functions,
		.function_count = 2,
	};
	world->summed = world->each;
	world->each.commands.plain = world->commands;
	world->each.command_count = COMMANDS;
	world->loading = (struct loading){ .recording = &world->summed };
	for (size_t i = 0; i < COMMANDS; i++)
		loading_add_command(&world->loading, &world->commands[i]);
	assert_int_equal(loading_sum_likes(&world->loading), 0);
	assert_non_null(world->summed.commands.sums);
	assert_int_equal(world->summed.commands.all_timed, all_timed);
}

static void free_world(struct world *world)
{
	loading_free_commands(&world->loading);
	free(world->summed.commands.rows);
	free(world->summed.commands.likes);
	free(world->summed.commands.pairs);
	free(world->summed.commands.sums);
}

#define SAME(member) assert_memory_equal(&a->member, &b->member, sizeof a->member)

static void assert_same_tables(const struct tare_tables *x, const struct tare_tables *y)
{
	{
		const struct tare_recorded_summary *a = &x->summary, *b = &y->summary;
		SAME(launch_ns), SAME(mean_launch_ns), SAME(working_from_ns), SAME(working_to_ns);
		SAME(bound);
	}
	{
		const struct tare_coverage *a = &x->coverage, *b = &y->coverage;
		SAME(enqueued), SAME(calls), SAME(completed), SAME(unobserved);
		SAME(unobserved_by), SAME(never_flushed), SAME(stacks);
	}
	assert_int_equal(x->queue_count, y->queue_count);
	for (size_t i = 0; i < x->queue_count; i++) {
		const struct tare_queue_row *a = &x->queues[i], *b = &y->queues[i];
		SAME(queue), SAME(commands), SAME(timed), SAME(busy_ns), SAME(gaps_ns);
		SAME(max_depth), SAME(mean_depth), SAME(median_latency_ns);
	}
	assert_int_equal(x->task_count, y->task_count);
	for (size_t i = 0; i < x->task_count; i++) {
		const struct tare_task *a = &x->tasks[i], *b = &y->tasks[i];
		SAME(name), SAME(instances), SAME(timed), SAME(total_ns), SAME(launch_total_ns);
		SAME(median_ns), SAME(share), SAME(kernel), SAME(shapes);
	}
}

static void assert_same_findings(const struct tare_findings *x, const struct tare_findings *y)
{
	assert_int_equal(x->count, y->count);
	for (size_t i = 0; i < x->count; i++) {
		assert_string_equal(x->at[i].id, y->at[i].id);
		assert_string_equal(x->at[i].evidence, y->at[i].evidence);
		assert_int_equal(x->at[i].cost_ns, y->at[i].cost_ns);
	}
}

struct answer {
	struct tare_ledgers ledgers;
	struct tare_tables tables;
	struct tare_findings findings;
};

static void ask(const struct tare_recording *recording, struct answer *answer)
{
	struct tare_view view = tare_view_all(recording);
	struct tare_error error;
	assert_int_equal(tare_ledgers_compute(recording, &view, &answer->ledgers, &error), 0);
	assert_int_equal(tare_tables_compute(recording, &view, &answer->ledgers, NULL, 0,
	                                     &answer->tables, &error),
	                 0);
	assert_int_equal(tare_findings_find(recording, &view, &answer->ledgers, &answer->tables,
	                                    &answer->findings, &error),
	                 0);
}

static void forget(struct answer *answer)
{
	tare_findings_free(&answer->findings);
	tare_tables_free(&answer->tables);
	tare_ledgers_free(&answer->ledgers);
}

static void sums_say_what_each_command_says(void **state)
{
	(void)state;
	for (uint64_t round = 0; round < ROUNDS; round++) {
		struct world *world = calloc(1, sizeof *world);
		struct answer each, summed;
		assert_non_null(world);
		world->random = (struct tare_random){ round };
		make_world(world, round % 2);
		ask(&world->each, &each);
		ask(&world->summed, &summed);
		assert_same_tables(&each.tables, &summed.tables);
		assert_same_findings(&each.findings, &summed.findings);
		assert_memory_equal(each.ledgers.ledgers[0].parts_ns,
		                    summed.ledgers.ledgers[0].parts_ns,
		                    sizeof each.ledgers.ledgers[0].parts_ns);
		forget(&each);
		forget(&summed);
		free_world(world);
		free(world);
	}
}

// Where each is another, or one has to do with a list, they are looked at one by one.
static void few_of_a_kind_are_not_summed(void **state)
{
	(void)state;
	struct tare_recording recording = { 0 };
	struct loading loading = { .recording = &recording };
	for (uint64_t i = 0; i < 100; i++)
		loading_add_command(&loading, &(struct tare_recorded_command){ .amount = i });
	assert_int_equal(loading_sum_likes(&loading), 0);
	assert_null(recording.commands.sums);
	loading_free_commands(&loading);
	free(recording.commands.rows);
	free(recording.commands.likes);
	free(recording.commands.pairs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_say_what_each_command_says),
		cmocka_unit_test(few_of_a_kind_are_not_summed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
