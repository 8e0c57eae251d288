// SPDX-License-Identifier: Apache-2.0
// The ledger of pipelines that the engine model ran for a host whose every nanosecond is scripted.
// The truth comes from the model's own times and the script, painted onto a grid of nanoseconds.
#include "analysis/ledger/ledger.h"
#include "base/random.h"
#include "made_recording.h"
#include "model/engine/engine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

enum { LONGEST = 2000000, OPERATIONS = 400, CHUNKS = 40, NO_CATEGORY = 255 };

// Engines: kernels, copies to the device, copies from it; the fourth is another device.
enum { QUEUE_IN, QUEUE_WORK, QUEUE_OUT, QUEUE_OTHER, QUEUES };

struct operation {
	struct tare_model_operation model;
	struct tare_model_operation *waits[2];
	uint32_t wait_at[2];
	size_t wait_count;
	int queue;
	int64_t enter_ns, exit_ns;
	bool blocking;
};

struct scene {
	struct tare_script script;
	struct tare_model *model;
	struct tare_model_queue *queues[QUEUES];
	struct operation operations[OPERATIONS];
	size_t count;
	int64_t now_ns, cpu_ns;
	struct made *made;
	unsigned char host[LONGEST]; // enum tare_ledger_category of the one thread
	unsigned char truth[LONGEST];
	int64_t parts_ns[TARE_LEDGER_CATEGORIES];
	int64_t edges; // changes of category
};

static uint64_t test_seed(void)
{
	const char *given = getenv("TARE_TEST_SEED");
	uint64_t seed = given ? strtoull(given, NULL, 0) : (uint64_t)time(NULL);
	print_message("# TARE_TEST_SEED=%llu\n", (unsigned long long)seed);
	return seed;
}

static int64_t below(struct tare_random *random, int64_t bound)
{
	return (int64_t)tare_random_below(random, (uint64_t)bound);
}

// ---- the host

static void host_does(struct scene *scene, enum tare_ledger_category what, int64_t ns)
{
	assert_true(scene->now_ns + ns < LONGEST);
	memset(scene->host + scene->now_ns, (int)what, (size_t)ns);
	scene->now_ns += ns;
	if (what != TARE_LEDGER_WAIT && what != TARE_LEDGER_OFF_CPU &&
	    what != TARE_LEDGER_BLOCKING_COPY)
		scene->cpu_ns += ns;
}

static void host_calls(struct scene *scene, uint8_t role, enum tare_ledger_category what,
                       int64_t ns)
{
	int64_t enter_ns = scene->now_ns;
	made_sample(scene->made, scene->now_ns, scene->cpu_ns);
	host_does(scene, what, ns);
	made_sample(scene->made, scene->now_ns, scene->cpu_ns);
	made_call(scene->made, made_plain_call(0, role, enter_ns, scene->now_ns));
}

static struct operation *enqueue(struct scene *scene, int queue, int64_t work_ns, int64_t call_ns,
                                 int64_t submission_ns)
{
	static const enum tare_flow flows[QUEUES] = { TARE_FLOW_TO_DEVICE, TARE_FLOW_KERNEL,
		                                      TARE_FLOW_TO_HOST, TARE_FLOW_LOCAL };
	assert_true(scene->count < OPERATIONS);
	struct operation *operation = &scene->operations[scene->count++];
	tare_model_run(scene->model, scene->now_ns * 1000);
	*operation = (struct operation){
		.model = { .flow = flows[queue],
		           .fixed_ps = work_ns / 3 * 1000,
		           .work_ps = (work_ns - work_ns / 3) * 1000,
		           .submitted_ps = (scene->now_ns + submission_ns) * 1000 },
		.queue = queue,
		.enter_ns = scene->now_ns,
	};
	made_sample(scene->made, scene->now_ns, scene->cpu_ns);
	host_does(scene, TARE_LEDGER_API, call_ns);
	made_sample(scene->made, scene->now_ns, scene->cpu_ns);
	operation->exit_ns = scene->now_ns;
	return operation;
}

static void waits_for(struct scene *scene, struct operation *operation, struct operation *other)
{
	operation->wait_at[operation->wait_count] = (uint32_t)(other - scene->operations);
	operation->waits[operation->wait_count++] = &other->model;
	operation->model.waits = (struct tare_model_operation *const *)operation->waits;
	operation->model.wait_count = operation->wait_count;
}

static void append(struct scene *scene, struct operation *operation)
{
	tare_model_append(scene->model, scene->queues[operation->queue], &operation->model);
}

// The host goes on `wake_ns` after the operation is done.
static int64_t wait_for(struct scene *scene, struct operation *operation, int64_t wake_ns)
{
	tare_model_run_until(scene->model, &operation->model, TARE_MODEL_NEVER);
	int64_t done_ns = operation->model.end_ps / 1000 + wake_ns;
	return done_ns > scene->now_ns ? done_ns - scene->now_ns : 0;
}

static void finish(struct scene *scene, int64_t wake_ns)
{
	int64_t ns = 0;
	for (size_t i = 0; i < scene->count; i++) {
		int64_t one_ns = wait_for(scene, &scene->operations[i], wake_ns);
		ns = one_ns > ns ? one_ns : ns;
	}
	host_calls(scene, TARE_ROLE_WAIT, TARE_LEDGER_WAIT, ns);
}

static void blocking(struct scene *scene, struct operation *operation, int64_t wake_ns)
{
	// Submitted while the call runs, so that all of the call is known to be about it.
	int64_t from_ns = operation->enter_ns, ns = wait_for(scene, operation, wake_ns);
	host_does(scene, TARE_LEDGER_BLOCKING_COPY, ns);
	made_sample(scene->made, scene->now_ns, scene->cpu_ns);
	operation->exit_ns = scene->now_ns;
	operation->blocking = true;
	memset(scene->host + from_ns, TARE_LEDGER_BLOCKING_COPY, (size_t)(scene->now_ns - from_ns));
}

static void one_chunk(struct scene *scene, struct tare_random *random)
{
	struct operation *in, *work, *out, *other;
	host_does(scene, TARE_LEDGER_COMPUTING, below(random, 3000));
	if (below(random, 4) == 0)
		host_calls(scene, TARE_ROLE_ALLOCATE, TARE_LEDGER_ALLOCATE, below(random, 4000));
	in = enqueue(scene, QUEUE_IN, 1 + below(random, 9000), 1 + below(random, 600),
	             below(random, 2500));
	append(scene, in);
	work = enqueue(scene, QUEUE_WORK, 1 + below(random, 9000), 1 + below(random, 600),
	               below(random, 2500));
	waits_for(scene, work, in);
	append(scene, work);
	other = enqueue(scene, QUEUE_OTHER, 1 + below(random, 4000), 1 + below(random, 600),
	                below(random, 900));
	waits_for(scene, other, work);
	append(scene, other);
	out = enqueue(scene, QUEUE_OUT, 1 + below(random, 9000), 1 + below(random, 600),
	              below(random, 2500));
	waits_for(scene, out, below(random, 2) ? other : work);
	append(scene, out);
	if (below(random, 3) == 0)
		blocking(scene, out, below(random, 1500));
	if (below(random, 4) == 0) {
		made_sample(scene->made, scene->now_ns, scene->cpu_ns);
		host_does(scene, TARE_LEDGER_OFF_CPU, below(random, 8000));
		made_sample(scene->made, scene->now_ns, scene->cpu_ns);
	}
	if (below(random, 6) == 0)
		finish(scene, below(random, 2000));
}

static void make_model(struct scene *scene)
{
	static const uint64_t flows[QUEUES] = { 1 << TARE_FLOW_TO_DEVICE, 1 << TARE_FLOW_KERNEL,
		                                1 << TARE_FLOW_TO_HOST, 1 << TARE_FLOW_LOCAL };
	scene->script.engine_count = QUEUES;
	for (int i = 0; i < QUEUES; i++)
		scene->script.engines[i] = (struct tare_script_engine){
			.compute = i == QUEUE_WORK,
			.flows = flows[i],
		};
	scene->model = tare_model_new(&scene->script, NULL, NULL);
	assert_non_null(scene->model);
	for (int i = 0; i < QUEUES; i++) {
		scene->queues[i] = tare_model_queue_new(scene->model, TARE_MODEL_IN_ORDER, i);
		assert_non_null(scene->queues[i]);
	}
}

static struct scene *run_scene(struct tare_random *random)
{
	struct scene *scene = calloc(1, sizeof *scene);
	assert_non_null(scene);
	scene->made = made_new(0);
	make_model(scene);
	made_process(scene->made, INT64_MAX);
	made_thread(scene->made, 0);
	uint32_t device = made_device(scene->made, 0, TARE_NO_INDEX, 0);
	uint32_t other = made_device(scene->made, 0, TARE_NO_INDEX, 0);
	for (int i = 0; i < QUEUES; i++)
		made_queue(scene->made, 0, i == QUEUE_OTHER ? other : device, false);

	host_does(scene, TARE_LEDGER_BEFORE_FIRST, 5000);
	scene->cpu_ns = 0;
	host_calls(scene, TARE_ROLE_START, TARE_LEDGER_API, 2000);
	host_calls(scene, TARE_ROLE_BUILD, TARE_LEDGER_BUILD, 30000);
	for (int i = 0; i < CHUNKS; i++)
		one_chunk(scene, random);
	finish(scene, 700);
	host_does(scene, TARE_LEDGER_COMPUTING, 4000);
	made_sample(scene->made, scene->now_ns, scene->cpu_ns);
	scene->made->processes[0].end_ns = scene->now_ns;
	host_does(scene, TARE_LEDGER_ENDED, 1000);
	scene->made->recording.end_ns = scene->now_ns;
	return scene;
}

static void free_scene(struct scene *scene)
{
	tare_model_free(scene->model);
	free(scene->made);
	free(scene);
}

// ---- the truth

static void paint(struct scene *scene, int queue, enum tare_ledger_category category)
{
	for (size_t i = 0; i < scene->count; i++) {
		const struct tare_model_operation *model = &scene->operations[i].model;
		if (scene->operations[i].queue != queue)
			continue;
		assert_int_equal(model->phase, TARE_PHASE_DONE);
		assert_int_equal(model->start_ps % 1000 + model->end_ps % 1000, 0);
		for (int64_t t = model->start_ps / 1000; t < model->end_ps / 1000; t++) {
			unsigned char *at = &scene->truth[t];
			bool other_way =
			    category == TARE_LEDGER_FROM_DEVICE && *at == TARE_LEDGER_TO_DEVICE;
			*at = (unsigned char)(other_way ? TARE_LEDGER_BOTH_WAYS : category);
		}
	}
}

// When all that an operation waits for has ended: its list, and the one before it on its queue.
static int64_t free_ns(const struct scene *scene, const struct operation *operation)
{
	int64_t free_ps = 0;
	for (size_t i = 0; i < operation->wait_count; i++)
		if (operation->waits[i]->end_ps > free_ps)
			free_ps = operation->waits[i]->end_ps;
	for (const struct operation *other = scene->operations; other < operation; other++)
		if (other->queue == operation->queue && other->model.end_ps > free_ps)
			free_ps = other->model.end_ps;
	return free_ps / 1000;
}

// Backwards from the start of an operation to the end of whatever ran before.
static void paint_idle_before(struct scene *scene, const struct operation *operation)
{
	const struct tare_model_operation *model = &operation->model;
	int64_t waits_until_ns = free_ns(scene, operation);
	for (int64_t t = model->start_ps / 1000 - 1; t >= 0 && scene->truth[t] == NO_CATEGORY; t--)
		scene->truth[t] =
		    (unsigned char)(t < operation->enter_ns ? scene->host[t]
		                    : t < operation->exit_ns && t < model->submitted_ps / 1000
		                        ? TARE_LEDGER_API
		                    : t < waits_until_ns             ? TARE_LEDGER_DEPENDENCY
		                    : t < model->submitted_ps / 1000 ? TARE_LEDGER_HELD
		                                                     : TARE_LEDGER_DISPATCH);
}

// What each nanosecond is for a device: 0 the first, 1 the other.
static void find_truth(struct scene *scene, int device)
{
	memset(scene->truth, NO_CATEGORY, sizeof scene->truth);
	if (device == 0) {
		paint(scene, QUEUE_IN, TARE_LEDGER_TO_DEVICE);
		paint(scene, QUEUE_OUT, TARE_LEDGER_FROM_DEVICE);
		paint(scene, QUEUE_WORK, TARE_LEDGER_KERNEL);
	} else {
		paint(scene, QUEUE_OTHER, TARE_LEDGER_KERNEL);
	}
	// In the order of enqueueing: of those that start together the first one paints.
	for (size_t i = 0; i < scene->count; i++)
		if ((scene->operations[i].queue == QUEUE_OTHER) == (device == 1))
			paint_idle_before(scene, &scene->operations[i]);
	memset(scene->parts_ns, 0, sizeof scene->parts_ns);
	scene->edges = 0;
	for (int64_t t = 0; t < scene->now_ns; t++) {
		if (scene->truth[t] == NO_CATEGORY)
			scene->truth[t] = scene->host[t];
		scene->parts_ns[scene->truth[t]]++;
		scene->edges += t > 0 && scene->truth[t] != scene->truth[t - 1];
	}
}

// ---- the recording

// An error that stays within `most` and never turns two times around.
static int64_t with_error(int64_t ns, int64_t most, int64_t phase)
{
	if (most == 0)
		return ns;
	int64_t period = 4 * most * 5, at = (ns + phase) % period;
	int64_t error = at < period / 2 ? at / 5 - most : most - (at - period / 2) / 5;
	return ns + error;
}

static void record(struct scene *scene, int64_t residual_ns, int64_t phase)
{
	static const uint8_t kinds[QUEUES] = { TARE_KIND_WRITE, TARE_KIND_KERNEL, TARE_KIND_READ,
		                               TARE_KIND_KERNEL };
	struct made *made = scene->made;
	made->recording.command_count = made->recording.wait_count = 0;
	made->devices[0].residual_ns = made->devices[1].residual_ns = residual_ns;
	for (size_t i = 0; i < scene->count; i++) {
		const struct operation *operation = &scene->operations[i];
		struct tare_recorded_command command = made_plain_command(
		    0, (uint32_t)operation->queue, kinds[operation->queue], operation->enter_ns,
		    operation->exit_ns,
		    with_error(operation->model.submitted_ps / 1000, residual_ns, phase),
		    with_error(operation->model.start_ps / 1000, residual_ns, phase),
		    with_error(operation->model.end_ps / 1000, residual_ns, phase));
		command.flags = operation->blocking ? TARE_COMMAND_BLOCKING : 0;
		made_command(made, command);
		made_waits(made, operation->wait_at, operation->wait_count);
	}
	made_sort(made);
}

static const struct tare_ledger *ledger_of(const struct tare_ledgers *ledgers, int device)
{
	assert_int_equal(ledgers->count, 3);
	return &ledgers->ledgers[device];
}

static void exact_times_give_the_exact_ledger(void **state)
{
	struct tare_random random = { test_seed() };
	int64_t seen_ns[TARE_LEDGER_CATEGORIES] = { 0 };
	(void)state;
	for (int round = 0; round < 6; round++) {
		struct scene *scene = run_scene(&random);
		struct tare_view view = { 0, scene->now_ns, TARE_NO_INDEX, TARE_NO_INDEX, NULL };
		struct tare_ledgers ledgers;
		record(scene, 0, 0);
		assert_int_equal(
		    tare_ledgers_compute(&scene->made->recording, &view, &ledgers, NULL), 0);
		for (int device = 0; device < 2; device++) {
			find_truth(scene, device);
			for (int i = 0; i < TARE_LEDGER_CATEGORIES; i++) {
				assert_int_equal(ledger_of(&ledgers, device)->parts_ns[i],
				                 scene->parts_ns[i]);
				seen_ns[i] += scene->parts_ns[i];
			}
			assert_int_equal(ledger_of(&ledgers, device)->ambiguous_ns, 0);
		}
		tare_ledgers_free(&ledgers);
		free_scene(scene);
	}
	// The scenes show what they are there to show.
	static const int shown[] = {
		TARE_LEDGER_KERNEL,    TARE_LEDGER_TO_DEVICE,     TARE_LEDGER_FROM_DEVICE,
		TARE_LEDGER_BOTH_WAYS, TARE_LEDGER_BEFORE_FIRST,  TARE_LEDGER_BUILD,
		TARE_LEDGER_ALLOCATE,  TARE_LEDGER_BLOCKING_COPY, TARE_LEDGER_WAIT,
		TARE_LEDGER_API,       TARE_LEDGER_COMPUTING,     TARE_LEDGER_OFF_CPU,
		TARE_LEDGER_HELD,      TARE_LEDGER_DEPENDENCY,    TARE_LEDGER_ENDED,
	};
	for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
		if (seen_ns[shown[i]] == 0)
			fail_msg("no scene has time of '%s'", tare_ledger_category_name(shown[i]));
}

static void errors_stay_within_residual_times_boundaries(void **state)
{
	struct tare_random random = { test_seed() };
	(void)state;
	for (int round = 0; round < 6; round++) {
		struct scene *scene = run_scene(&random);
		struct tare_view view = { 0, scene->now_ns, TARE_NO_INDEX, TARE_NO_INDEX, NULL };
		struct tare_ledgers ledgers;
		int64_t residual_ns = 1 + below(&random, 60);
		record(scene, residual_ns, below(&random, 100000));
		assert_int_equal(
		    tare_ledgers_compute(&scene->made->recording, &view, &ledgers, NULL), 0);
		for (int device = 0; device < 2; device++) {
			const struct tare_ledger *ledger = ledger_of(&ledgers, device);
			int64_t wrong_ns = 0;
			find_truth(scene, device);
			for (int i = 0; i < TARE_LEDGER_CATEGORIES; i++) {
				int64_t error_ns = llabs(ledger->parts_ns[i] - scene->parts_ns[i]);
				assert_true(error_ns <= residual_ns * scene->edges);
				wrong_ns += error_ns;
			}
			// Whatever is in the wrong place was said to be uncertain.
			assert_true(wrong_ns > 0);
			assert_true(wrong_ns / 2 <= ledger->ambiguous_ns);
			assert_true(ledger->ambiguous_ns <= 2 * residual_ns * (scene->edges + 1));
		}
		tare_ledgers_free(&ledgers);
		free_scene(scene);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exact_times_give_the_exact_ledger),
		cmocka_unit_test(errors_stay_within_residual_times_boundaries),
	};
	return cmocka_run_group_tests_name("ledger_engine", tests, NULL, NULL);
}
