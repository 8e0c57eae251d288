// SPDX-License-Identifier: Apache-2.0
// What holds for every schedule of the engine model, over random devices and random work. The seed
// comes from the clock and is printed; TARE_TEST_SEED repeats a run.
#include "base/random.h"
#include "model/engine/engine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

enum { QUEUES = 5, OPERATIONS = 60, WAITS = 3, ROUNDS = 400 };

struct work {
	struct tare_script script;
	bool plain; // no concurrency lines and no shared links: durations are exact
	struct {
		enum tare_model_order order;
		int engine;
	} queues[QUEUES];
	struct {
		struct tare_model_operation operation;
		struct tare_model_operation *waits[WAITS];
		size_t wait_at[WAITS], wait_count;
		size_t queue;
	} at[OPERATIONS];
	struct tare_model_operation *completed[OPERATIONS];
	size_t completed_count;
};

static uint64_t test_seed(void)
{
	const char *given = getenv("TARE_TEST_SEED");
	return given ? strtoull(given, NULL, 0) : (uint64_t)time(NULL);
}

static int64_t some_ps(struct tare_random *random)
{
	// Mostly short, some zero, few long; never round.
	switch (tare_random_below(random, 4)) {
	case 0:
		return 0;
	case 1:
		return (int64_t)tare_random_below(random, 100);
	default:
		return (int64_t)tare_random_below(random, 50000000);
	}
}

static void random_script(struct tare_random *random, struct work *work)
{
	struct tare_script *script = &work->script;

	memset(script, 0, sizeof *script);
	script->engine_count = 1 + tare_random_below(random, 4);
	for (size_t i = 0; i < script->engine_count; i++) {
		script->engines[i].compute = i == 0;
		script->engines[i].flows =
		    i == 0 ? 8 | tare_random_below(random, 8) : 1 + tare_random_below(random, 7);
		script->engines[i].order = tare_random_below(random, 4) == 0;
	}
	// Engine 0 serves what no other does.
	uint64_t served = 0;
	for (size_t i = 0; i < script->engine_count; i++)
		served |= script->engines[i].flows;
	script->engines[0].flows |= 15 & ~served;
	script->queue = (struct tare_script_queue){
		.gap_ps = some_ps(random),
		.same_gap_ps = some_ps(random),
		.event_gap_ps = some_ps(random),
		.switch_ps = some_ps(random),
	};
	script->concurrency_count = tare_random_below(random, 4);
	for (size_t i = 0; i < script->concurrency_count; i++)
		script->concurrencies[i] = (struct tare_script_concurrency){
			.flow = (enum tare_flow)tare_random_below(random, TARE_FLOW_COUNT),
			.others = 1 + tare_random_below(random, 15),
			.speed_ppm = 1 + tare_random_below(random, 1000000),
		};
	work->plain = script->concurrency_count == 0;
	for (enum tare_flow flow = 0; flow < TARE_FLOW_COUNT; flow++) {
		int serving = 0;
		for (size_t i = 0; i < script->engine_count; i++)
			serving += script->engines[i].flows >> flow & 1;
		work->plain = work->plain && serving == 1;
	}
}

static void random_work(struct tare_random *random, struct work *work)
{
	int64_t submitted = 0;

	random_script(random, work);
	for (size_t i = 0; i < QUEUES; i++) {
		work->queues[i].order =
		    tare_random_below(random, 3) ? TARE_MODEL_IN_ORDER : TARE_MODEL_OUT_OF_ORDER;
		work->queues[i].engine = -1;
	}
	work->completed_count = 0;
	for (size_t i = 0; i < OPERATIONS; i++) {
		struct tare_model_operation *operation = &work->at[i].operation;
		submitted += tare_random_below(random, 3) ? 0 : some_ps(random);
		*operation = (struct tare_model_operation){
			.flow = (enum tare_flow)tare_random_below(random, TARE_FLOW_COUNT + 1),
			.fixed_ps = some_ps(random),
			.work_ps = some_ps(random),
			.tail_ps = tare_random_below(random, 5) ? 0 : some_ps(random),
			.submitted_ps = submitted,
		};
		if (operation->flow == TARE_FLOW_NONE)
			operation->work_ps = 0;
		work->at[i].queue = tare_random_below(random, QUEUES);
		// Only on earlier ones, so that nothing waits in a circle.
		work->at[i].wait_count = i ? tare_random_below(random, WAITS + 1) : 0;
		for (size_t j = 0; j < work->at[i].wait_count; j++) {
			work->at[i].wait_at[j] = tare_random_below(random, i);
			work->at[i].waits[j] = &work->at[work->at[i].wait_at[j]].operation;
		}
		operation->waits = work->at[i].waits;
		operation->wait_count = work->at[i].wait_count;
	}
}

static void note_completion(void *context, struct tare_model_operation *operation)
{
	struct work *work = context;
	work->completed[work->completed_count++] = operation;
}

// Runs the work; in small random steps of time where `steps` is not NULL.
static void run(struct work *work, struct tare_random *steps)
{
	struct tare_model *model = tare_model_new(&work->script, note_completion, work);
	struct tare_model_queue *queues[QUEUES];

	for (size_t i = 0; i < QUEUES; i++)
		queues[i] =
		    tare_model_queue_new(model, work->queues[i].order, work->queues[i].engine);
	for (size_t i = 0; i < OPERATIONS; i++)
		tare_model_append(model, queues[work->at[i].queue], &work->at[i].operation);
	while (steps && tare_model_next_ps(model) != TARE_MODEL_NEVER)
		tare_model_run(model, tare_model_now_ps(model) + 1 + some_ps(steps));
	tare_model_run(model, TARE_PS_MAX - 1);
	tare_model_free(model);
}

static void check_operation(const struct work *work, size_t i)
{
	const struct tare_model_operation *operation = &work->at[i].operation;
	int64_t busy = operation->fixed_ps + operation->work_ps;

	assert_int_equal(operation->phase, TARE_PHASE_DONE);
	assert_true(operation->ready_ps >= operation->submitted_ps);
	assert_true(operation->start_ps >= operation->ready_ps);
	assert_true(operation->leave_ps >= operation->start_ps + busy);
	assert_int_equal(operation->end_ps, operation->leave_ps + operation->tail_ps);
	if (work->plain || operation->flow == TARE_FLOW_NONE)
		assert_int_equal(operation->leave_ps, operation->start_ps + busy);
	for (size_t j = 0; j < work->at[i].wait_count; j++) {
		const struct tare_model_operation *awaited = work->at[i].waits[j];
		int64_t gap = work->at[work->at[i].wait_at[j]].queue == work->at[i].queue
		                  ? 0
		                  : work->script.queue.event_gap_ps;
		assert_true(operation->start_ps >= awaited->end_ps + gap);
	}
	if (operation->flow == TARE_FLOW_NONE)
		assert_int_equal(operation->engine, work->script.engine_count);
	else
		assert_true(work->script.engines[operation->engine].flows >> operation->flow & 1);
}

static void check_pairs(const struct work *work)
{
	for (size_t i = 0; i < OPERATIONS; i++)
		for (size_t j = i + 1; j < OPERATIONS; j++) {
			const struct tare_model_operation *a = &work->at[i].operation;
			const struct tare_model_operation *b = &work->at[j].operation;
			// No engine runs two at once. Where neither takes time the order is free.
			if (a->engine == b->engine && a->flow != TARE_FLOW_NONE)
				assert_true(a->leave_ps <= b->start_ps ||
				            b->leave_ps <= a->start_ps);
			// A queue keeps its order.
			if (work->at[i].queue == work->at[j].queue &&
			    work->queues[work->at[i].queue].order == TARE_MODEL_IN_ORDER)
				assert_true(b->start_ps >= a->end_ps);
		}
}

// No schedule is shorter than its longest chain or its busiest engine group.
static void check_bound(const struct work *work)
{
	int64_t makespan = 0, chain[OPERATIONS], flow_work[TARE_FLOW_COUNT] = { 0 };

	for (size_t i = 0; i < OPERATIONS; i++) {
		const struct tare_model_operation *operation = &work->at[i].operation;
		int64_t before = operation->submitted_ps;
		for (size_t j = 0; j < work->at[i].wait_count; j++)
			before = chain[work->at[i].wait_at[j]] > before
			             ? chain[work->at[i].wait_at[j]]
			             : before;
		for (size_t j = 0; j < i; j++)
			if (work->at[j].queue == work->at[i].queue &&
			    work->queues[work->at[i].queue].order == TARE_MODEL_IN_ORDER &&
			    chain[j] > before)
				before = chain[j];
		chain[i] = before + operation->fixed_ps + operation->work_ps + operation->tail_ps;
		assert_true(operation->end_ps >= chain[i]);
		makespan = operation->end_ps > makespan ? operation->end_ps : makespan;
		// A link does a second's work of its flow each second, however many engines share
		// it.
		if (operation->flow != TARE_FLOW_NONE)
			flow_work[operation->flow] += operation->work_ps;
	}
	for (size_t flow = 0; flow < TARE_FLOW_COUNT; flow++)
		assert_true(makespan >= flow_work[flow]);
}

static void check_completions(const struct work *work)
{
	assert_int_equal(work->completed_count, OPERATIONS);
	for (size_t i = 1; i < OPERATIONS; i++)
		assert_true(work->completed[i - 1]->end_ps <= work->completed[i]->end_ps);
}

// No engine stands still while something that it alone could run is ready.
static void check_no_idling(const struct work *work)
{
	for (size_t i = 0; i < OPERATIONS; i++) {
		const struct tare_model_operation *waiting = &work->at[i].operation;
		int64_t busy = 0;
		if (waiting->flow == TARE_FLOW_NONE || !work->plain ||
		    work->script.engines[waiting->engine].order == TARE_ENGINE_BY_ISSUE)
			continue;
		for (size_t j = 0; j < OPERATIONS; j++) {
			const struct tare_model_operation *other = &work->at[j].operation;
			if (other->engine != waiting->engine || other->flow == TARE_FLOW_NONE ||
			    i == j)
				continue;
			int64_t from = other->start_ps - work->script.queue.switch_ps;
			from = from > waiting->ready_ps ? from : waiting->ready_ps;
			int64_t to = other->leave_ps < waiting->start_ps ? other->leave_ps
			                                                 : waiting->start_ps;
			busy += to > from ? to - from : 0;
		}
		assert_true(waiting->start_ps - waiting->ready_ps <=
		            busy + work->script.queue.switch_ps);
	}
}

static void random_schedules_keep_every_rule(void **state)
{
	struct tare_random random = { test_seed() };
	struct work *work = calloc(1, sizeof *work);
	(void)state;
	print_message("# seed %llu (TARE_TEST_SEED repeats it)\n",
	              (unsigned long long)random.state);
	for (int round = 0; round < ROUNDS; round++) {
		random_work(&random, work);
		run(work, NULL);
		for (size_t i = 0; i < OPERATIONS; i++)
			check_operation(work, i);
		check_pairs(work);
		check_bound(work);
		check_completions(work);
		check_no_idling(work);
	}
	free(work);
}

static void looking_on_changes_nothing(void **state)
{
	struct tare_random random = { test_seed() + 1 };
	struct work *work = calloc(1, sizeof *work);
	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		int64_t start[OPERATIONS], end[OPERATIONS];
		random_work(&random, work);
		run(work, NULL);
		for (size_t i = 0; i < OPERATIONS; i++) {
			start[i] = work->at[i].operation.start_ps;
			end[i] = work->at[i].operation.end_ps;
		}
		work->completed_count = 0;
		run(work, &random);
		for (size_t i = 0; i < OPERATIONS; i++) {
			assert_int_equal(work->at[i].operation.start_ps, start[i]);
			assert_int_equal(work->at[i].operation.end_ps, end[i]);
		}
	}
	free(work);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_schedules_keep_every_rule),
		cmocka_unit_test(looking_on_changes_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
