// SPDX-License-Identifier: Apache-2.0
// Events of the Level Zero backend, on the CPU driver: how they are used again, and their stamps.
#include "levelzero_rig.h"

#include <errno.h>

static void events_are_used_again(void **state)
{
	struct tare_queue *queue = new_queue(TARE_QUEUE_IN_ORDER, 0, true);
	struct tare_operation marker = { .type = TARE_OPERATION_MARKER };
	struct tare_event *event = NULL, *before = NULL;
	int blocks;
	(void)state;
	must(tare_append(queue, &marker, &event, &error));
	must(tare_event_wait(event, LIMIT, &error));
	tare_event_free(event);
	must(tare_finish(queue, LIMIT, &error));
	blocks = block_count();
	for (int i = 0; i < 1000; i++) {
		must(tare_append(queue, &marker, &event, &error));
		if (i % 2)
			must(tare_event_wait(event, LIMIT, &error));
		if (i % 50 == 49)
			must(tare_finish(queue, LIMIT, &error));
		tare_event_free(before);
		before = event;
		// Also those that somebody waited for.
		marker.waits = &before;
		marker.wait_count = 1;
	}
	tare_event_free(before);
	assert_int_equal(block_count(), blocks);
	tare_queue_free(queue);
}

// An event that is reset while somebody still waits for it would hold him for ever.
static void an_event_that_is_waited_for_is_left_alone(void **state)
{
	struct tare_queue *first = new_queue(TARE_QUEUE_IN_ORDER, 0, false);
	struct tare_queue *held = new_queue(TARE_QUEUE_IN_ORDER, 1, false);
	struct tare_operation marker = { .type = TARE_OPERATION_MARKER };
	struct tare_event *waited = NULL, *others[200];
	struct tare_gate *gate = NULL;
	(void)state;
	must(tare_gate_shut(held, &gate, &error));
	must(tare_append(first, &marker, &waited, &error));
	must(tare_event_wait(waited, LIMIT, &error));
	struct tare_operation waits = marker;
	waits.waits = &waited;
	waits.wait_count = 1;
	must(tare_append(held, &waits, NULL, &error));
	tare_event_free(waited);
	for (int i = 0; i < 200; i++)
		must(tare_append(first, &marker, &others[i], &error));
	must(tare_finish(first, LIMIT, &error));
	for (int i = 0; i < 200; i++)
		tare_event_free(others[i]);
	must(tare_gate_open(gate, &error));
	must(tare_finish(held, LIMIT, &error));
	tare_gate_free(gate);
	tare_queue_free(first);
	tare_queue_free(held);
}

static void thousands_of_events_are_told_apart(void **state)
{
	enum { MANY = 5000 };
	struct tare_queue *queue = new_queue(TARE_QUEUE_OUT_OF_ORDER, 0, true);
	struct tare_operation marker = { .type = TARE_OPERATION_MARKER };
	struct tare_event **events = calloc(MANY, sizeof(struct tare_event *));
	struct tare_stamps stamps;
	(void)state;
	for (int i = 0; i < MANY; i++)
		must(tare_append(queue, &marker, &events[i], &error));
	must(tare_finish(queue, LIMIT, &error));
	for (int i = 0; i < MANY; i++) {
		must(tare_event_stamps(events[i], &stamps, &error));
		tare_event_free(events[i]);
	}
	free(events);
	tare_queue_free(queue);
}

// In an in-order queue an event tells that all before it is done; in another it does not.
static void an_event_tells_of_the_others_only_in_order(void **state)
{
	static const enum tare_queue_order orders[] = { TARE_QUEUE_IN_ORDER,
		                                        TARE_QUEUE_OUT_OF_ORDER };
	struct tare_operation marker = { .type = TARE_OPERATION_MARKER };
	struct tare_memory *memory = new_memory(TARE_MEMORY_PINNED);
	struct tare_operation blocking = copy(memory, 0, memory, 64, 64);
	(void)state;
	put(memory, 1);
	blocking.blocking = true;
	for (size_t i = 0; i < 2; i++) {
		struct tare_queue *queue = used_queue(orders[i], false);
		struct levelzero_queue *inside = (struct levelzero_queue *)queue;
		struct tare_event *event = NULL;
		must(tare_append(queue, &marker, NULL, &error));
		must(tare_append(queue, &marker, &event, &error));
		must(tare_event_wait(event, LIMIT, &error));
		assert_int_equal(inside->done == inside->last, orders[i] == TARE_QUEUE_IN_ORDER);
		// So does a blocking operation.
		must(tare_append(queue, &marker, NULL, &error));
		must(tare_append(queue, &blocking, NULL, &error));
		assert_int_equal(inside->done == inside->last, orders[i] == TARE_QUEUE_IN_ORDER);
		must(tare_finish(queue, LIMIT, &error));
		assert_int_equal(inside->done, inside->last);
		tare_event_free(event);
		tare_queue_free(queue);
	}
	tare_memory_free(memory);
}

static void every_stamp_is_told(void **state)
{
	struct tare_queue *queue = new_queue(TARE_QUEUE_IN_ORDER, 0, true);
	struct tare_memory *a = new_memory(TARE_MEMORY_PINNED), *b = new_memory(TARE_MEMORY_DEVICE);
	struct tare_operation operation = copy(a, 0, b, 0, BYTES);
	const struct tare_clock_rate *rate = &own()->rates[TARE_CLOCK_STAMPS];
	struct tare_event *event = NULL;
	struct tare_stamps stamps;
	(void)state;
	put(a, 1);
	must(tare_append(queue, &operation, &event, &error));
	must(tare_event_wait(event, LIMIT, &error));
	must(tare_event_stamps(event, &stamps, &error));
	assert_int_equal(stamps.present, 1 << TARE_STAMP_START | 1 << TARE_STAMP_END |
	                                     1 << TARE_STAMP_ACTIVE_START |
	                                     1 << TARE_STAMP_ACTIVE_END);
	assert_true(stamps.brackets_engine);
	int64_t all =
	    tare_ticks_elapsed_signed(rate, stamps.at[TARE_STAMP_START], stamps.at[TARE_STAMP_END]);
	int64_t active = tare_ticks_elapsed_signed(rate, stamps.at[TARE_STAMP_ACTIVE_START],
	                                           stamps.at[TARE_STAMP_ACTIVE_END]);
	assert_true(all > 0 && active > 0 && active <= all);
	tare_event_free(event);
	free_all(queue, a, b);
}

static void what_nothing_stamps_says_so(void **state)
{
	struct tare_queue *queue = new_queue(TARE_QUEUE_IN_ORDER, 0, true);
	struct tare_memory *shared = new_memory(TARE_MEMORY_SHARED);
	struct tare_operation migrate = { .type = TARE_OPERATION_MIGRATE,
		                          .destination = { shared, 0, BYTES } };
	struct tare_event *event = NULL;
	struct tare_stamps stamps;
	(void)state;
	must(tare_append(queue, &migrate, &event, &error));
	must(tare_event_wait(event, LIMIT, &error));
	assert_int_equal(tare_event_stamps(event, &stamps, &error), -ENODATA);
	assert_says("prefetch");
	tare_event_free(event);
	// It waits, too.
	struct tare_queue *held = new_queue(TARE_QUEUE_IN_ORDER, 1, false);
	struct tare_operation marker = { .type = TARE_OPERATION_MARKER };
	struct tare_event *before = NULL;
	struct tare_gate *gate = NULL;
	must(tare_gate_shut(held, &gate, &error));
	must(tare_append(held, &marker, &before, &error));
	migrate.waits = &before;
	migrate.wait_count = 1;
	must(tare_append(queue, &migrate, &event, &error));
	assert_int_equal(tare_event_wait(event, FEW_MS, &error), -ETIMEDOUT);
	must(tare_gate_open(gate, &error));
	must(tare_event_wait(event, LIMIT, &error));
	tare_gate_free(gate);
	tare_event_free(before);
	tare_event_free(event);
	tare_queue_free(held);
	free_all(queue, shared, NULL);
}

static ze_result_t ZE_APICALL tell_no_stamps(ze_event_handle_t event,
                                             ze_kernel_timestamp_result_t *told)
{
	(void)event;
	memset(told, 0, sizeof *told);
	return ZE_RESULT_SUCCESS;
}

static void stamps_of_zero_are_no_stamps(void **state)
{
	struct tare_queue *queue = new_queue(TARE_QUEUE_IN_ORDER, 0, true);
	struct tare_operation marker = { .type = TARE_OPERATION_MARKER };
	struct tare_event *event = NULL;
	struct tare_stamps stamps;
	(void)state;
	must(tare_append(queue, &marker, &event, &error));
	must(tare_event_wait(event, LIMIT, &error));
	calls()->zeEventQueryKernelTimestamp = tell_no_stamps;
	assert_int_equal(tare_event_stamps(event, &stamps, &error), -ENODATA);
	assert_int_equal(stamps.present, 0);
	tare_event_free(event);
	tare_queue_free(queue);
}

static void a_fence_tells_when_a_list_is_done(void **state)
{
	struct tare_queue *queue = new_queue(TARE_QUEUE_DEFERRED, 0, false);
	struct tare_queue *immediate = new_queue(TARE_QUEUE_IN_ORDER, 0, false);
	struct tare_operation marker = { .type = TARE_OPERATION_MARKER };
	struct tare_event *event = NULL;
	struct tare_gate *gate = NULL;
	(void)state;
	for (int i = 0; i < 3; i++) { // the second time it is reset
		must(tare_append(queue, &marker, &event, &error));
		must(tare_finish_fenced(queue, LIMIT, &error));
		assert_int_equal(tare_event_done(event, &error), 1);
		tare_event_free(event);
	}
	must(tare_finish_fenced(queue, LIMIT, &error)); // nothing was appended
	assert_int_equal(tare_finish_fenced(immediate, LIMIT, &error), -ENOTSUP);
	must(tare_gate_shut(queue, &gate, &error));
	must(tare_append(queue, &marker, NULL, &error));
	assert_int_equal(tare_finish_fenced(queue, FEW_MS, &error), -ETIMEDOUT);
	must(tare_append(queue, &marker, NULL, &error));
	// not to be reset yet
	assert_int_equal(tare_finish_fenced(queue, FEW_MS, &error), -EINVAL);
	assert_says("still pending");
	must(tare_gate_open(gate, &error));
	must(tare_finish(queue, LIMIT, &error));
	must(tare_append(queue, &marker, NULL, &error));
	must(tare_finish_fenced(queue, LIMIT, &error));
	tare_gate_free(gate);
	must(tare_append(queue, &marker, NULL, &error));
	calls()->zeFenceReset = NULL;
	assert_int_equal(tare_finish_fenced(queue, LIMIT, &error), -ENOTSUP);
	assert_says("zeFenceCreate");
	must(tare_finish(queue, LIMIT, &error));
	tare_queue_free(immediate);
	tare_queue_free(queue);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(events_are_used_again),
		TEST(an_event_that_is_waited_for_is_left_alone),
		TEST(thousands_of_events_are_told_apart),
		TEST(an_event_tells_of_the_others_only_in_order),
		TEST(every_stamp_is_told),
		TEST(what_nothing_stamps_says_so),
		TEST(stamps_of_zero_are_no_stamps),
		TEST(a_fence_tells_when_a_list_is_done),
	};
	return run_on_levelzero(tests);
}
