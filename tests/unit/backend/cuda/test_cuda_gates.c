// SPDX-License-Identifier: Apache-2.0
// Gates, waits, callbacks and errors of the CUDA backend.
#include "cuda_rig.h"

#include <stdatomic.h>

static void a_gate_refuses_what_would_wait_for_ever(void **state)
{
	struct tare_event *events[CUDA_GATE_CAPACITY];
	struct tare_event *event = NULL;
	struct tare_gate *gate = NULL;

	(void)state;
	open_device(NULL);
	struct tare_queue *queue = new_queue(true);
	struct tare_memory *heap = new_memory(TARE_MEMORY_PAGEABLE, 4096);
	struct tare_memory *pinned = new_memory(TARE_MEMORY_PINNED, 4096);
	struct tare_memory *remote = new_memory(TARE_MEMORY_DEVICE, 4096);
	struct tare_operation staged = copy(heap, remote), blocking = copy(pinned, remote);
	blocking.blocking = true;
	for (int round = 0; round < 3; round++) {
		must(tare_gate_shut(queue, &gate, &error));
		assert_int_equal(gate->capacity, CUDA_GATE_CAPACITY);
		assert_int_equal(tare_append(queue, &staged, NULL, &error), -EINVAL);
		assert_says("pageable");
		assert_int_equal(tare_append(queue, &blocking, NULL, &error), -EINVAL);
		assert_says("blocking");
		for (uint32_t i = 0; i < gate->capacity; i++)
			must(tare_append(queue, &marker, &events[i], &error));
		assert_int_equal(tare_append(queue, &marker, &event, &error), -EINVAL);
		assert_int_equal(tare_event_done(events[0], &error), 0);
		must(tare_gate_open(gate, &error));
		must(tare_finish(queue, TARE_LIMIT_DEFAULT_NS, &error));
		assert_int_equal(tare_event_done(events[0], &error), 1);
		for (uint32_t i = 0; i < gate->capacity; i++)
			tare_event_free(events[i]);
		tare_gate_free(gate);
	}
	must(tare_append(queue, &staged, NULL, &error));
	must(tare_append(queue, &blocking, NULL, &error));
	tare_memory_free(heap);
	tare_memory_free(pinned);
	tare_memory_free(remote);
	tare_queue_free(queue);
}

// The stand-in ends the process when a launch would block for ever.
static void a_queue_that_waits_for_a_gated_one_is_bounded_too(void **state)
{
	struct tare_event *gated[2] = { NULL };
	struct tare_event *many[40];
	struct tare_gate *gate = NULL;
	struct tare_graph *graph = NULL;
	(void)state;
	open_device(NULL);
	struct tare_queue *first = new_queue(false), *second = new_queue(true);
	must(tare_graph_begin(second, &error));
	must(tare_append(second, &marker, NULL, &error));
	must(tare_graph_end(second, &graph, &error));
	for (int what = 0; what < 4; what++) {
		struct tare_operation operation = marker;
		struct tare_event *event = NULL;
		int taken = 0, rc = 0;
		must(tare_gate_shut(first, &gate, &error));
		must(tare_append(first, &marker, &gated[0], &error));
		for (int i = 0; i < 40; i++)
			many[i] = gated[0];
		operation.waits = many;
		operation.wait_count = 1;
		must(tare_append(second, &operation, NULL, &error));
		operation.wait_count = what == 1 ? 40 : 0;
		// 0: plain operations; 1: with many waits; 2: graphs; 3: graphs behind their own
		// gate.
		struct tare_queue *queue = what == 3 ? first : second;
		for (; rc == 0 && taken < 1200; taken += rc == 0) {
			event = NULL;
			rc = what < 2 ? tare_append(queue, &operation, &event, &error)
			              : tare_graph_launch(graph, queue, &event, &error);
			tare_event_free(event);
		}
		assert_int_equal(rc, -EINVAL);
		assert_says("shut gate");
		assert_true(what == 1 ? taken >= 15 : taken >= 200);
		must(tare_gate_open(gate, &error));
		must(tare_finish(second, TARE_LIMIT_DEFAULT_NS, &error));
		must(tare_finish(first, TARE_LIMIT_DEFAULT_NS, &error));
		tare_gate_free(gate);
		// What is done holds nothing, though another gate is shut.
		must(tare_gate_shut(first, &gate, &error));
		operation.wait_count = 1;
		for (int i = 0; i < 600; i++)
			must(tare_append(second, &operation, NULL, &error));
		tare_gate_free(gate);
		must(tare_finish(second, TARE_LIMIT_DEFAULT_NS, &error));
		tare_event_free(gated[0]);
	}
	tare_graph_free(graph);
	tare_queue_free(first);
	tare_queue_free(second);
}

static void gates_hold_their_own_queue_only(void **state)
{
	static const char *const scripts[] = { "", "no_wait_value" };
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct tare_queue *queues[2];
		struct tare_gate *gate = NULL;
		open_device(scripts[i]);
		for (int j = 0; j < 2; j++)
			queues[j] = new_queue(false);
		must(tare_gate_shut(queues[0], &gate, &error));
		must(tare_append(queues[0], &marker, NULL, &error));
		must(tare_append(queues[1], &marker, NULL, &error));
		must(tare_finish(queues[1], TARE_LIMIT_DEFAULT_NS, &error));
		assert_int_equal(tare_finish(queues[0], 3000000, &error), -ETIMEDOUT);
		// Free the queue first: the gate must not write into it later.
		tare_queue_free(queues[0]);
		tare_gate_free(gate);
		tare_queue_free(queues[1]);
	}
}

static void closing_a_device_opens_its_gates(void **state)
{
	struct tare_gate *gates[3];
	(void)state;
	open_device(NULL);
	for (int i = 0; i < 3; i++) {
		struct tare_queue *queue = new_queue(false);
		must(tare_gate_shut(queue, &gates[i], &error));
		tare_queue_free(queue);
	}
	// Not the last that was shut, nor the first: the others must still be found.
	must(tare_gate_open(gates[1], &error));
	// Two are left shut on purpose; the gates' own memory is freed by hand.
	tare_device_close(device);
	device = NULL;
	assert_int_equal(fake.pending(), 0);
	for (int i = 0; i < 3; i++)
		free(gates[i]);
}

static void words_of_gates_are_used_again(void **state)
{
	(void)state;
	open_device(NULL);
	struct tare_queue *queue = new_queue(false);
	for (int i = 0; i < 3 * CUDA_GATE_SLOTS; i++) {
		struct tare_gate *gate = NULL;
		must(tare_gate_shut(queue, &gate, &error));
		assert_in_range(((struct cuda_gate *)gate)->slot, 0, CUDA_GATE_SLOTS - 1);
		assert_int_equal(tare_finish(queue, 100000, &error), -ETIMEDOUT);
		tare_gate_free(gate);
		must(tare_finish(queue, TARE_LIMIT_DEFAULT_NS, &error));
	}
	tare_queue_free(queue);
}

static void set(void *context)
{
	atomic_store((atomic_int *)context, 1);
}

static void wait_until_set(atomic_int *flag)
{
	for (int i = 0; i < 20000 && !atomic_load(flag); i++)
		tare_device_pause(device, 100000);
	assert_int_equal(atomic_load(flag), 1);
}

static void a_callback_that_waits_does_not_hold_up_another(void **state)
{
	atomic_int called[2] = { 0 };
	struct tare_queue *queues[2];
	struct tare_event *events[2];
	struct tare_gate *gate = NULL;

	(void)state;
	open_device(NULL);
	for (int i = 0; i < 2; i++)
		queues[i] = new_queue(false);
	must(tare_gate_shut(queues[0], &gate, &error));
	for (int i = 0; i < 2; i++) {
		must(tare_append(queues[i], &marker, &events[i], &error));
		must(tare_event_callback(events[i], set, &called[i], &error));
	}
	wait_until_set(&called[1]);
	assert_int_equal(atomic_load(&called[0]), 0);
	tare_gate_free(gate);
	wait_until_set(&called[0]);
	for (int i = 0; i < 2; i++) {
		tare_event_free(events[i]);
		tare_queue_free(queues[i]);
	}
}

static int looks;

// The process is stopped right after the first look, and the event is done meanwhile.
static cu_result look_and_stop(cu_event event)
{
	(void)event;
	if (looks++ > 0)
		return ABI_SUCCESS;
	tare_device_pause(device, 20000000);
	return ABI_NOT_READY;
}

static void who_was_stopped_looks_again_before_it_gives_up(void **state)
{
	struct tare_event *event = NULL;
	(void)state;
	open_device(NULL);
	struct cuda_functions *call = &((struct cuda_device *)device)->driver->call;
	struct tare_queue *queue = new_queue(false);
	must(tare_append(queue, &marker, &event, &error));
	must(tare_finish(queue, TARE_LIMIT_DEFAULT_NS, &error));
	cu_result (*query)(cu_event) = call->cuEventQuery;
	call->cuEventQuery = look_and_stop;
	int status = tare_event_wait(event, 10000000, &error);
	call->cuEventQuery = query;
	must(status);
	assert_int_equal(looks, 2);
	tare_event_free(event);
	tare_queue_free(queue);
}

static void a_lost_context_says_so_and_a_hang_ends_at_the_limit(void **state)
{
	static const struct {
		const char *script;
		int64_t limit_ns;
		int code;
		const char *words;
	} rows[] = {
		{ "fail_launch=3", TARE_LIMIT_DEFAULT_NS, -ENODEV, "context is lost" },
		{ "hang_launch=3", 20000000, -ETIMEDOUT, "not done after 0.02 s" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tare_module *module = NULL;
		struct tare_event *event = NULL;
		open_device(rows[i].script);
		struct tare_queue *queue = new_queue(true);
		struct tare_kernel *kernel = new_kernel("empty", &module);
		struct tare_operation what = launch(kernel);
		for (int n = 0; n < 2; n++) {
			must(tare_append(queue, &what, &event, &error));
			must(tare_event_wait(event, TARE_LIMIT_DEFAULT_NS, &error));
			tare_event_free(event);
			event = NULL;
		}
		// On a busy machine the kernel may have failed before its event is recorded.
		int status = tare_append(queue, &what, &event, &error);
		if (status == 0)
			status = tare_event_wait(event, rows[i].limit_ns, &error);
		assert_int_equal(status, rows[i].code);
		assert_says(rows[i].words);
		if (rows[i].code == -ENODEV) {
			assert_string_equal(error.native_name, "CUDA_ERROR_LAUNCH_FAILED");
			assert_int_equal(tare_append(queue, &what, NULL, &error), -ENODEV);
			assert_int_equal(tare_finish(queue, TARE_LIMIT_NATIVE, &error), -ENODEV);
		}
		tare_event_free(event);
		tare_kernel_free(kernel);
		tare_module_free(module);
		tare_queue_free(queue);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		rig_test(a_gate_refuses_what_would_wait_for_ever),
		rig_test(a_queue_that_waits_for_a_gated_one_is_bounded_too),
		rig_test(gates_hold_their_own_queue_only),
		rig_test(closing_a_device_opens_its_gates),
		rig_test(words_of_gates_are_used_again),
		rig_test(a_callback_that_waits_does_not_hold_up_another),
		rig_test(who_was_stopped_looks_again_before_it_gives_up),
		cmocka_unit_test(nothing_is_left_behind),
		// Last: after a lost context there is nothing that could be freed.
		rig_test(a_lost_context_says_so_and_a_hang_ends_at_the_limit),
	};
	return cmocka_run_group_tests(tests, rig_setup, NULL);
}
