// SPDX-License-Identifier: Apache-2.0
// Graphs of the Level Zero backend, on the CPU driver: recorded lists that are executed again.
#include "levelzero_rig.h"

#include <errno.h>

static struct tare_graph *record_shift(struct tare_queue *queue, struct tare_memory *a,
                                       struct tare_memory *b, int steps)
{
	struct tare_graph *graph = NULL;
	must(tare_graph_begin(queue, &error));
	shift(queue, a, b, steps);
	must(tare_graph_end(queue, &graph, &error));
	return graph;
}

// As in a queue: before each command that has one before it, and is no barrier itself.
static void nodes_of_a_queue_keep_their_order(void **state)
{
	static const struct {
		enum tare_queue_order order;
		int want;
	} rows[] = {
		{ TARE_QUEUE_IN_ORDER, 3 + 1 },
		{ TARE_QUEUE_OUT_OF_ORDER, 1 },
	};
	struct tare_operation marker = { .type = TARE_OPERATION_MARKER };
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct tare_queue *queue = new_queue(rows[i].order, 0, false);
		struct tare_memory *a = new_memory(TARE_MEMORY_PINNED),
		                   *b = new_memory(TARE_MEMORY_DEVICE);
		struct tare_graph *graph = NULL;
		must(tare_graph_begin(queue, &error));
		calls()->zeCommandListAppendBarrier = count_barrier;
		barriers = 0;
		shift(queue, a, b, 2);
		must(tare_append(queue, &marker, NULL, &error));
		assert_int_equal(barriers, rows[i].want);
		*calls() = real;
		must(tare_graph_end(queue, &graph, &error));
		tare_graph_free(graph);
		free_all(queue, a, b);
	}
}

static void a_graph_runs_each_time_it_is_launched(void **state)
{
	static const enum tare_queue_order orders[] = { TARE_QUEUE_IN_ORDER, TARE_QUEUE_DEFERRED };
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct tare_queue *queue = new_queue(orders[i], 0, true);
		struct tare_memory *a = new_memory(TARE_MEMORY_PINNED),
		                   *b = new_memory(TARE_MEMORY_DEVICE);
		struct tare_graph *graph = record_shift(queue, a, b, 2);
		struct tare_event *event = NULL;
		struct tare_stamps stamps;
		put(a, 1);
		assert_int_equal(tare_graph_stamps(graph, 0, &stamps, &error), -EAGAIN);
		// Between other work, behind one another, and alone.
		shift(queue, a, b, 1);
		for (int n = 0; n < 10; n++)
			must(tare_graph_launch(graph, queue, NULL, &error));
		shift(queue, a, b, 1);
		must(tare_graph_launch(graph, queue, &event, &error));
		must(tare_event_wait(event, LIMIT, &error));
		assert_pattern(a, 24, 1, 24);
		assert_int_equal(tare_event_stamps(event, &stamps, &error), -ENODATA);
		tare_event_free(event);
		for (int n = 0; n < 10; n++) {
			must(tare_graph_launch(graph, queue, NULL, &error));
			must(tare_finish(queue, LIMIT, &error));
		}
		assert_pattern(a, 44, 1, 44);
		tare_graph_free(graph);
		free_all(queue, a, b);
	}
}

static void nodes_have_stamps_in_their_order(void **state)
{
	struct tare_queue *queue = new_queue(TARE_QUEUE_IN_ORDER, 0, true);
	struct tare_memory *a = new_memory(TARE_MEMORY_PINNED), *b = new_memory(TARE_MEMORY_DEVICE);
	const struct tare_clock_rate *rate = &own()->rates[TARE_CLOCK_STAMPS];
	struct tare_graph *graph = record_shift(queue, a, b, 2);
	struct tare_stamps before = { 0 }, stamps;
	(void)state;
	put(a, 1);
	for (int n = 0; n < 3; n++) {
		must(tare_graph_launch(graph, queue, NULL, &error));
		must(tare_finish(queue, LIMIT, &error));
		for (uint32_t i = 0; i < 4; i++) {
			must(tare_graph_stamps(graph, i, &stamps, &error));
			// Also after the last node of the launch before.
			if (n || i)
				assert_true(
				    tare_ticks_elapsed_signed(rate, before.at[TARE_STAMP_END],
				                              stamps.at[TARE_STAMP_START]) >= 0);
			assert_true(tare_ticks_elapsed_signed(rate, stamps.at[TARE_STAMP_START],
			                                      stamps.at[TARE_STAMP_END]) > 0);
			before = stamps;
		}
	}
	assert_int_equal(tare_graph_stamps(graph, 4, &stamps, &error), -EINVAL);
	tare_graph_free(graph);
	free_all(queue, a, b);
}

// Up on one engine, back on another, several chunks: each waits for the one of the other engine.
static void a_graph_of_two_engines_keeps_who_waits_for_whom(void **state)
{
	enum { CHUNKS = 4, CHUNK = BYTES / CHUNKS };
	struct tare_queue *up = new_queue(TARE_QUEUE_IN_ORDER, 0, false);
	struct tare_queue *down = new_queue(TARE_QUEUE_IN_ORDER, 1, false);
	struct tare_memory *in = new_memory(TARE_MEMORY_PINNED),
	                   *out = new_memory(TARE_MEMORY_PINNED);
	struct tare_memory *middle = new_memory(TARE_MEMORY_DEVICE);
	struct tare_operation marker = { .type = TARE_OPERATION_MARKER };
	struct tare_event *there[CHUNKS], *end = NULL;
	struct tare_graph *graph = NULL;
	struct tare_stamps stamps;
	(void)state;
	put(in, 1);
	must(tare_graph_begin(up, &error));
	assert_int_equal(tare_graph_begin(up, &error), -EINVAL);
	assert_int_equal(tare_graph_begin(down, &error), -EINVAL);
	for (int i = 0; i < CHUNKS; i++) {
		struct tare_operation write =
		    copy(in, (uint64_t)i * CHUNK, middle, (uint64_t)i * CHUNK, CHUNK);
		struct tare_operation read =
		    copy(middle, (uint64_t)i * CHUNK, out, (uint64_t)i * CHUNK, CHUNK);
		must(tare_append(up, &write, &there[i], &error));
		read.waits = &there[i];
		read.wait_count = 1;
		must(tare_append(down, &read, NULL, &error));
	}
	must(tare_append(down, &marker, &end, &error));
	marker.waits = &end;
	marker.wait_count = 1;
	must(tare_append(up, &marker, NULL, &error));
	assert_int_equal(tare_graph_end(down, &graph, &error), -EINVAL);
	must(tare_graph_end(up, &graph, &error));
	for (uint8_t seed = 3; seed < 40; seed++) {
		put(in, seed);
		put(out, 0);
		must(tare_graph_launch(graph, up, NULL, &error));
		must(tare_finish(up, LIMIT, &error));
		assert_pattern(out, 0, seed, 0);
	}
	// Several in a row: no launch may begin before the last has ended everywhere.
	for (int n = 0; n < 20; n++)
		must(tare_graph_launch(graph, up, NULL, &error));
	must(tare_finish(up, LIMIT, &error));
	assert_int_equal(tare_graph_stamps(graph, 0, &stamps, &error), -ENODATA);
	assert_int_equal(tare_event_wait(there[0], LIMIT, &error), -EINVAL);
	assert_int_equal(tare_append(up, &marker, NULL, &error), -EINVAL);
	tare_graph_free(graph);
	for (int i = 0; i < CHUNKS; i++)
		tare_event_free(there[i]);
	tare_event_free(end);
	tare_memory_free(middle);
	tare_queue_free(down);
	free_all(up, in, out);
}

// The last launch's stamps are none of the next one's; and what is launched begins by itself.
static void stamps_are_of_the_last_launch(void **state)
{
	struct tare_queue *queue = new_queue(TARE_QUEUE_DEFERRED, 0, true);
	struct tare_memory *a = new_memory(TARE_MEMORY_PINNED), *b = new_memory(TARE_MEMORY_DEVICE);
	struct tare_graph *graph = record_shift(queue, a, b, 1);
	struct tare_gate *gate = NULL;
	struct tare_stamps stamps;
	int rc = -EAGAIN;
	(void)state;
	put(a, 1);
	shift(queue, a, b, 1);
	must(tare_graph_launch(graph, queue, NULL, &error));
	for (int i = 0; i < 20000 && rc == -EAGAIN; i++) {
		tare_device_pause(device, MS);
		rc = tare_graph_stamps(graph, 1, &stamps, &error);
	}
	must(rc);
	must(tare_gate_shut(queue, &gate, &error));
	must(tare_graph_launch(graph, queue, NULL, &error));
	assert_int_equal(tare_graph_stamps(graph, 1, &stamps, &error), -EAGAIN);
	must(tare_gate_open(gate, &error));
	must(tare_finish(queue, LIMIT, &error));
	must(tare_graph_stamps(graph, 1, &stamps, &error));
	tare_gate_free(gate);
	tare_graph_free(graph);
	free_all(queue, a, b);
}

// Also of an engine that the first never waits for.
static void a_graph_ends_when_all_its_engines_have(void **state)
{
	enum { COPIES = 40 };
	struct tare_queue *first = new_queue(TARE_QUEUE_IN_ORDER, 0, false);
	struct tare_queue *other = new_queue(TARE_QUEUE_IN_ORDER, 1, false);
	struct tare_memory *a = new_memory(TARE_MEMORY_PINNED), *b = new_memory(TARE_MEMORY_PINNED);
	struct tare_operation marker = { .type = TARE_OPERATION_MARKER };
	struct tare_operation there = copy(a, 0, b, 1, BYTES - 1), back = copy(b, 0, a, 0, BYTES);
	struct tare_graph *graph = NULL;
	struct tare_event *fork = NULL;
	(void)state;
	put(a, 1);
	put(b, 2);
	must(tare_graph_begin(first, &error));
	must(tare_append(first, &marker, &fork, &error));
	there.waits = &fork;
	there.wait_count = 1;
	for (int i = 0; i < COPIES; i++) {
		must(tare_append(other, &there, NULL, &error));
		there.wait_count = 0;
		must(tare_append(other, &back, NULL, &error));
	}
	must(tare_graph_end(first, &graph, &error));
	for (int i = 1; i <= 5; i++) {
		must(tare_graph_launch(graph, first, NULL, &error));
		must(tare_finish(first, LIMIT, &error));
		assert_pattern(a, (uint64_t)i * COPIES, 1, (uint64_t)i * COPIES);
	}
	tare_graph_free(graph);
	tare_event_free(fork);
	tare_queue_free(other);
	free_all(first, a, b);
}

static void a_graph_refuses_what_would_break_it(void **state)
{
	struct tare_queue *queue = new_queue(TARE_QUEUE_IN_ORDER, 0, false);
	struct tare_queue *other = new_queue(TARE_QUEUE_IN_ORDER, 1, false);
	struct tare_operation marker = { .type = TARE_OPERATION_MARKER }, waits = marker;
	struct tare_event *event = NULL;
	struct tare_gate *gate = NULL;
	struct tare_graph *graph = NULL, *none = NULL;
	(void)state;
	must(tare_append(queue, &marker, &event, &error));
	must(tare_graph_begin(queue, &error));
	waits.waits = &event;
	waits.wait_count = 1;
	assert_int_equal(tare_append(queue, &waits, NULL, &error), -EINVAL);
	assert_says("others of its graph");
	assert_int_equal(tare_gate_shut(queue, &gate, &error), -EINVAL);
	marker.blocking = true;
	assert_int_equal(tare_append(queue, &marker, NULL, &error), -EINVAL);
	marker.blocking = false;
	must(tare_append(queue, &marker, NULL, &error));
	must(tare_graph_end(queue, &graph, &error));
	// In another queue while it runs in one.
	must(tare_gate_shut(queue, &gate, &error));
	must(tare_graph_launch(graph, queue, NULL, &error));
	assert_int_equal(tare_graph_launch(graph, other, NULL, &error), -EINVAL);
	must(tare_gate_open(gate, &error));
	must(tare_finish(queue, LIMIT, &error));
	must(tare_graph_launch(graph, other, NULL, &error));
	must(tare_finish(other, LIMIT, &error));
	tare_gate_free(gate);
	tare_event_free(event);
	tare_graph_free(graph);
	// A queue that goes while it records takes the graph with it.
	must(tare_graph_begin(queue, &error));
	must(tare_append(queue, &marker, NULL, &error));
	tare_queue_free(queue);
	assert_int_equal(tare_graph_end(other, &none, &error), -EINVAL);
	must(tare_graph_begin(other, &error));
	must(tare_graph_end(other, &graph, &error));
	tare_graph_free(graph);
	tare_queue_free(other);
}

static int waits;
static ze_result_t ZE_APICALL count_wait(ze_command_queue_handle_t native, uint64_t timeout_ns)
{
	waits++;
	return real.zeCommandQueueSynchronize(native, timeout_ns);
}

static ze_result_t ZE_APICALL fail_barrier(ze_command_list_handle_t list, ze_event_handle_t signal,
                                           uint32_t count, ze_event_handle_t *events)
{
	(void)list, (void)signal, (void)count, (void)events;
	return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
}

static ze_result_t ZE_APICALL fail_execute(ze_command_queue_handle_t native, uint32_t count,
                                           ze_command_list_handle_t *lists, ze_fence_handle_t fence)
{
	(void)native, (void)count, (void)lists, (void)fence;
	return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
}

// Its lists run, but its queue does not wait for them: not to be launched on top of that, nor to be
// destroyed before they are done.
static void a_launch_that_fails_half_way(void **state)
{
	struct tare_queue *queue = new_queue(TARE_QUEUE_IN_ORDER, 0, true);
	struct tare_stamps stamps;
	struct tare_memory *a = new_memory(TARE_MEMORY_PINNED), *b = new_memory(TARE_MEMORY_DEVICE);
	struct tare_graph *graph = record_shift(queue, a, b, 2);
	(void)state;
	calls()->zeCommandListAppendBarrier = fail_barrier;
	calls()->zeCommandQueueSynchronize = count_wait;
	assert_int_equal(tare_graph_launch(graph, queue, NULL, &error), -ENOMEM);
	calls()->zeCommandListAppendBarrier = real.zeCommandListAppendBarrier;
	assert_int_equal(tare_graph_launch(graph, queue, NULL, &error), -EINVAL);
	assert_says("record it again");
	assert_int_equal(tare_graph_stamps(graph, 0, &stamps, &error), -ENODATA);
	waits = 0;
	tare_graph_free(graph);
	assert_int_equal(waits, 1);
	// What is not executed at all leaves an event signalled, which nobody may be given as a new
	// one.
	graph = record_shift(queue, a, b, 2);
	calls()->zeCommandQueueExecuteCommandLists = fail_execute;
	assert_int_equal(tare_graph_launch(graph, queue, NULL, &error), -ENOMEM);
	tare_graph_free(graph);
	for (struct levelzero_slot *slot = own()->work->spare[0]; slot; slot = slot->next)
		assert_int_equal(real.zeEventQueryStatus(slot->handle), ZE_RESULT_NOT_READY);
	free_all(queue, a, b);
}

static ze_result_t ZE_APICALL fail_list(ze_context_handle_t context, ze_device_handle_t handle,
                                        const ze_command_list_desc_t *wanted,
                                        ze_command_list_handle_t *list)
{
	(void)context, (void)handle, (void)wanted, (void)list;
	return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
}

// What an engine could not be given once it may be given later.
static void an_engine_that_cannot_record_yet(void **state)
{
	struct tare_queue *queue = new_queue(TARE_QUEUE_IN_ORDER, 0, false);
	struct tare_queue *other = new_queue(TARE_QUEUE_IN_ORDER, 1, false);
	struct tare_operation marker = { .type = TARE_OPERATION_MARKER };
	struct tare_event *event = NULL, *end = NULL;
	struct tare_graph *graph = NULL;
	(void)state;
	must(tare_graph_begin(queue, &error));
	must(tare_append(queue, &marker, &event, &error));
	struct tare_operation next = { .type = TARE_OPERATION_MARKER,
		                       .waits = &event,
		                       .wait_count = 1 };
	calls()->zeCommandListCreate = fail_list;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(tare_append(other, &next, &end, &error), -ENOMEM);
		assert_says("zeCommandListCreate");
	}
	*calls() = real;
	must(tare_append(other, &next, &end, &error));
	must(tare_graph_end(queue, &graph, &error));
	must(tare_graph_launch(graph, queue, NULL, &error));
	must(tare_finish(queue, LIMIT, &error));
	tare_event_free(event);
	tare_event_free(end);
	tare_graph_free(graph);
	tare_queue_free(other);
	tare_queue_free(queue);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(nodes_of_a_queue_keep_their_order),
		TEST(a_graph_runs_each_time_it_is_launched),
		TEST(nodes_have_stamps_in_their_order),
		TEST(a_graph_of_two_engines_keeps_who_waits_for_whom),
		TEST(stamps_are_of_the_last_launch),
		TEST(a_graph_ends_when_all_its_engines_have),
		TEST(a_graph_refuses_what_would_break_it),
		TEST(a_launch_that_fails_half_way),
		TEST(an_engine_that_cannot_record_yet),
	};
	return run_on_levelzero(tests);
}
