// SPDX-License-Identifier: Apache-2.0
// What Level Zero queues wait for, in time and at their end.
#include "levelzero_rig.h"

#include "backend/kernels.h"

#include <errno.h>

static void a_blocking_copy_comes_after_what_is_before_it(void **state)
{
	static const struct {
		enum tare_queue_order order;
		bool used;
	} rows[] = {
		{ TARE_QUEUE_IN_ORDER, false },
		{ TARE_QUEUE_IN_ORDER, true },
		{ TARE_QUEUE_DEFERRED, false },
	};
	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct tare_queue *queue = rows[i].used ? used_queue(rows[i].order, true)
		                                        : new_queue(rows[i].order, 0, true);
		struct tare_memory *a = new_memory(TARE_MEMORY_PINNED),
		                   *b = new_memory(TARE_MEMORY_DEVICE);
		struct tare_operation operation = copy(a, 0, a, BYTES / 2, BYTES / 2);
		struct tare_event *event = NULL;
		struct tare_stamps stamps;
		put(a, 1);
		shift(queue, a, b, 10);
		operation.blocking = true;
		must(tare_append(queue, &operation, &event, &error));
		for (uint64_t at = 10; at < BYTES / 2; at++)
			assert_int_equal(((uint8_t *)a->host)[at + BYTES / 2], pattern(at - 10, 1));
		assert_int_equal(tare_event_done(event, &error), 1);
		must(tare_event_stamps(event, &stamps, &error));
		tare_event_free(event);
		free_all(queue, a, b);
	}
}

static void a_blocking_copy_behind_a_gate_is_refused(void **state)
{
	struct tare_queue *queue = new_queue(TARE_QUEUE_IN_ORDER, 0, false);
	struct tare_memory *a = new_memory(TARE_MEMORY_PINNED), *b = new_memory(TARE_MEMORY_DEVICE);
	struct tare_operation operation = copy(a, 0, b, 0, BYTES);
	struct tare_gate *gate = NULL;
	(void)state;
	put(a, 1);
	operation.blocking = true;
	must(tare_gate_shut(queue, &gate, &error));
	assert_int_equal(tare_append(queue, &operation, NULL, &error), -EINVAL);
	must(tare_gate_open(gate, &error));
	must(tare_append(queue, &operation, NULL, &error));
	tare_gate_free(gate);
	free_all(queue, a, b);
}

static void a_queue_freed_with_work_in_it_does_it(void **state)
{
	static const enum tare_queue_order orders[] = { TARE_QUEUE_IN_ORDER,
		                                        TARE_QUEUE_OUT_OF_ORDER,
		                                        TARE_QUEUE_DEFERRED };
	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct tare_queue *queue = new_queue(orders[i], 0, false), *other;
		struct tare_memory *a = new_memory(TARE_MEMORY_PINNED),
		                   *b = new_memory(TARE_MEMORY_PINNED);
		struct tare_operation operation = copy(a, 0, b, 0, BYTES);
		struct tare_event *event = NULL;
		struct tare_gate *gate = NULL;
		put(a, 1);
		put(b, 2);
		must(tare_gate_shut(queue, &gate, &error));
		must(tare_append(queue, &operation, &event, &error));
		tare_queue_free(queue);
		assert_non_null(own()->work->queues);
		assert_int_equal(tare_event_done(event, &error), 0);
		must(tare_gate_open(gate, &error));
		must(tare_event_wait(event, LIMIT, &error));
		assert_pattern(b, 0, 1, 0);
		tare_event_free(event);
		tare_gate_free(gate);
		// Its handles go when somebody looks; the token comes right behind the copy.
		for (int n = 0; n < 2000; n++) {
			other = new_queue(TARE_QUEUE_IN_ORDER, 0, false);
			bool gone = own()->work->queues == (struct levelzero_queue *)other &&
			            !own()->work->queues->next;
			tare_queue_free(other);
			if (gone)
				break;
			tare_device_pause(device, MS);
		}
		assert_null(own()->work->queues);
		tare_memory_free(a);
		tare_memory_free(b);
	}
}

static void a_device_closes_with_a_gate_shut(void **state)
{
	struct tare_queue *queue = new_queue(TARE_QUEUE_IN_ORDER, 0, false);
	struct tare_operation marker = { .type = TARE_OPERATION_MARKER };
	struct tare_gate *gate = NULL;
	(void)state;
	must(tare_gate_shut(queue, &gate, &error));
	must(tare_append(queue, &marker, NULL, &error));
	tare_queue_free(queue);
	levelzero_work_close(own());
	assert_null(own()->work);
	// The gate's event is gone with the device's work: only its own memory is left.
	free(gate);
}

// Finishing needs an event; one that is still to be signalled must not be somebody else's.
static void a_finish_that_gave_up_leaves_its_event_alone(void **state)
{
	struct tare_queue *queue = new_queue(TARE_QUEUE_IN_ORDER, 0, false);
	struct tare_operation marker = { .type = TARE_OPERATION_MARKER };
	struct tare_gate *first = NULL, *second = NULL;
	struct tare_event *event = NULL;
	(void)state;
	must(tare_gate_shut(queue, &first, &error));
	assert_int_equal(tare_finish(queue, 0, &error), -ETIMEDOUT);
	must(tare_gate_shut(queue, &second, &error));
	must(tare_append(queue, &marker, &event, &error));
	must(tare_gate_open(first, &error));
	tare_device_pause(device, FEW_MS);
	assert_int_equal(tare_event_done(event, &error), 0);
	must(tare_gate_open(second, &error));
	must(tare_event_wait(event, LIMIT, &error));
	tare_event_free(event);
	tare_gate_free(first);
	tare_gate_free(second);
	tare_queue_free(queue);
}

static void what_never_ends_is_given_up_in_time(void **state)
{
	// a driver stays open behind a device that was given up
	static struct tare_driver *left_open;
	struct tare_device *lost = NULL;
	struct tare_queue *queue = NULL;
	struct tare_gate *gate = NULL;
	struct tare_event *event = NULL;
	struct tare_operation marker = { .type = TARE_OPERATION_MARKER };
	(void)state;
	must(levelzero->driver_open(NULL, &left_open, &error));
	must(levelzero->device_open(left_open, 0, &lost, &error));
	must(
	    tare_queue_create(lost, &(struct tare_queue_options){ .timed = true }, &queue, &error));
	must(tare_gate_shut(queue, &gate, &error));
	must(tare_append(queue, &marker, &event, &error));
	struct tare_host_time begun = tare_host_now();
	assert_int_equal(tare_event_wait(event, FEW_MS, &error), -ETIMEDOUT);
	assert_says("not done after 0.02 s");
	assert_int_equal(tare_finish(queue, FEW_MS, &error), -ETIMEDOUT);
	assert_true(tare_host_elapsed_ns(begun, tare_host_now()) >= 2 * FEW_MS);
	// The rest goes on.
	struct tare_queue *other = new_queue(TARE_QUEUE_IN_ORDER, 1, false);
	must(tare_append(other, &marker, NULL, &error));
	must(tare_finish(other, LIMIT, &error));
	tare_queue_free(other);
	tare_device_abandon(lost);
	begun = tare_host_now();
	assert_int_equal(tare_append(queue, &marker, NULL, &error), -ENODEV);
	must(levelzero_gate_open(gate, &error)); // for the driver's own end of the process
	tare_event_free(event);
	tare_gate_free(gate);
	tare_queue_free(queue);
	tare_device_close(lost);
}

// The events of a list say nothing of the list itself, which the device may still read.
static bool unfinished;

static int destroyed;

static ze_result_t ZE_APICALL finish_later(ze_command_queue_handle_t native, uint64_t timeout_ns)
{
	return unfinished ? ZE_RESULT_NOT_READY
	                  : real.zeCommandQueueSynchronize(native, timeout_ns);
}

static ze_result_t ZE_APICALL count_destroy(ze_command_list_handle_t list)
{
	destroyed++;
	return real.zeCommandListDestroy(list);
}

static void lists_are_destroyed_once_their_queue_is_done(void **state)
{
	struct tare_queue *queue = new_queue(TARE_QUEUE_DEFERRED, 0, false);
	struct tare_operation marker = { .type = TARE_OPERATION_MARKER };
	struct tare_event *event = NULL;
	(void)state;
	calls()->zeCommandQueueSynchronize = finish_later;
	calls()->zeCommandListDestroy = count_destroy;
	unfinished = true;
	destroyed = 0;
	must(tare_append(queue, &marker, &event, &error));
	must(tare_event_wait(event, LIMIT, &error));
	tare_queue_free(queue);
	assert_int_equal(destroyed, 0);
	unfinished = false;
	// It goes when the next queue is made or freed.
	tare_queue_free(new_queue(TARE_QUEUE_DEFERRED, 0, false));
	assert_int_equal(destroyed, 1);
	tare_event_free(event);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_blocking_copy_comes_after_what_is_before_it),
		TEST(a_blocking_copy_behind_a_gate_is_refused),
		TEST(a_queue_freed_with_work_in_it_does_it),
		TEST(lists_are_destroyed_once_their_queue_is_done),
		TEST(a_device_closes_with_a_gate_shut),
		TEST(a_finish_that_gave_up_leaves_its_event_alone),
		TEST(what_never_ends_is_given_up_in_time),
	};
	return run_on_levelzero(tests);
}
