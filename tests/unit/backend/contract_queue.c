// SPDX-License-Identifier: Apache-2.0
// The contract's promises about order, gates, waits, events, callbacks and host calls.
#include "contract.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void an_in_order_queue_keeps_the_order(void **state)
{
	enum { BYTES = 65536, STEPS = 20 };
	struct tare_queue *queue = new_queue(false);
	struct tare_memory *host = new_memory(TARE_MEMORY_PAGEABLE, BYTES);
	struct tare_memory *a = new_memory(TARE_MEMORY_DEVICE, BYTES);
	struct tare_memory *b = new_memory(TARE_MEMORY_DEVICE, BYTES);
	struct tare_operation there = copy(span(a, 0, BYTES - 1), span(b, 1, BYTES - 1));
	struct tare_operation back = copy(span(b, 0, BYTES), span(a, 0, BYTES));
	struct tare_operation read = copy(span(a, 0, BYTES), span(host, 0, BYTES));
	(void)state;
	put(queue, a, 1);
	put(queue, b, 1);
	for (int i = 0; i < STEPS; i++) {
		must(tare_append(queue, &there, NULL, &error));
		must(tare_append(queue, &back, NULL, &error));
	}
	must(tare_append(queue, &read, NULL, &error));
	must(tare_finish(queue, LIMIT, &error));
	for (uint64_t i = STEPS; i < BYTES; i++)
		assert_int_equal(((uint8_t *)host->host)[i], pattern(i - STEPS, 1));
	tare_memory_free(host);
	tare_memory_free(a);
	tare_memory_free(b);
	tare_queue_free(queue);
}

void an_out_of_order_queue_finishes_all(void **state)
{
	struct tare_queue *queue = NULL;
	struct tare_queue_options options = { .order = TARE_QUEUE_OUT_OF_ORDER };
	struct tare_event *events[8];
	int rc = tare_queue_create(device, &options, &queue, &error);
	(void)state;
	if (cannot(rc))
		skip_test();
	must(rc);
	struct tare_memory *from = new_memory(TARE_MEMORY_PAGEABLE, 8 << 16);
	struct tare_memory *to = new_memory(TARE_MEMORY_DEVICE, 8 << 16);
	put(queue, from, 4);
	for (uint64_t i = 0; i < 8; i++) {
		struct tare_operation operation =
		    copy(span(from, i << 16, 1 << 16), span(to, i << 16, 1 << 16));
		must(tare_append(queue, &operation, &events[i], &error));
	}
	must(tare_finish(queue, LIMIT, &error));
	for (int i = 0; i < 8; i++) {
		assert_int_equal(tare_event_done(events[i], &error), 1);
		tare_event_free(events[i]);
	}
	uint8_t *bytes = get(queue, to);
	assert_memory_equal(bytes, from->host, 8 << 16);
	free(bytes);
	tare_memory_free(from);
	tare_memory_free(to);
	tare_queue_free(queue);
}

// A gate with one copy behind it, from device to host.
struct gated {
	struct tare_queue *queue;
	struct tare_memory *from, *to;
	struct tare_gate *gate;
	struct tare_event *event;
};

// False where the device cannot hold a queue; nothing is left behind then.
static bool shut_a_gate(struct gated *gated)
{
	*gated = (struct gated){ .queue = new_queue(false) };
	gated->from = new_memory(TARE_MEMORY_DEVICE, 4096);
	gated->to = new_memory(TARE_MEMORY_PINNED, 4096);
	if (!gated->to)
		gated->to = new_memory(TARE_MEMORY_PAGEABLE, 4096);
	put(gated->queue, gated->from, 1);
	put(gated->queue, gated->to, 2);
	int rc = tare_gate_shut(gated->queue, &gated->gate, &error);
	if (cannot(rc)) {
		tare_memory_free(gated->from);
		tare_memory_free(gated->to);
		tare_queue_free(gated->queue);
		return false;
	}
	must(rc);
	struct tare_operation operation =
	    copy(span(gated->from, 0, 4096), span(gated->to, 0, 4096));
	must(tare_append(gated->queue, &operation, &gated->event, &error));
	must(tare_submit(gated->queue, &error));
	return true;
}

static void free_gated(struct gated *gated)
{
	tare_gate_free(gated->gate);
	tare_event_free(gated->event);
	must(tare_finish(gated->queue, LIMIT, &error));
	tare_memory_free(gated->from);
	tare_memory_free(gated->to);
	tare_queue_free(gated->queue);
}

void a_gate_holds_what_comes_after_it(void **state)
{
	struct gated gated;
	if (!shut_a_gate(&gated))
		skip_test();
	(void)state;
	tare_device_pause(device, 20 * MS);
	assert_int_equal(tare_event_done(gated.event, &error), 0);
	assert_int_equal(((uint8_t *)gated.to->host)[9], pattern(9, 2));
	must(tare_gate_open(gated.gate, &error));
	must(tare_event_wait(gated.event, LIMIT, &error));
	assert_int_equal(tare_event_done(gated.event, &error), 1);
	assert_int_equal(((uint8_t *)gated.to->host)[9], pattern(9, 1));
	free_gated(&gated);
}

void waits_give_up_at_their_limit(void **state)
{
	struct gated gated;
	if (!shut_a_gate(&gated))
		skip_test();
	(void)state;
	assert_int_equal(tare_event_wait(gated.event, 30 * MS, &error), -ETIMEDOUT);
	assert_int_equal(error.code, -ETIMEDOUT);
	assert_int_equal(tare_finish(gated.queue, 30 * MS, &error), -ETIMEDOUT);
	assert_int_equal(tare_finish(gated.queue, 0, &error), -ETIMEDOUT);
	must(tare_gate_open(gated.gate, &error));
	must(tare_finish(gated.queue, LIMIT, &error));
	assert_int_equal(tare_event_done(gated.event, &error), 1);
	free_gated(&gated);
}

void opening_an_open_gate_is_nothing(void **state)
{
	struct gated gated;
	if (!shut_a_gate(&gated))
		skip_test();
	(void)state;
	assert_int_equal(tare_gate_open(gated.gate, &error), 0);
	assert_int_equal(tare_gate_open(gated.gate, &error), 0);
	must(tare_event_wait(gated.event, LIMIT, &error));
	assert_int_equal(tare_gate_open(gated.gate, &error), 0);
	free_gated(&gated);
}

void too_much_behind_a_gate_is_refused(void **state)
{
	struct gated gated;
	if (!shut_a_gate(&gated))
		skip_test();
	struct tare_operation marker = { .type = TARE_OPERATION_MARKER };
	uint32_t capacity = gated.gate->capacity;
	(void)state;
	// One copy is there already.
	for (uint32_t i = 1; i < capacity; i++)
		must(tare_append(gated.queue, &marker, NULL, &error));
	if (capacity) {
		assert_int_equal(tare_append(gated.queue, &marker, NULL, &error), -EINVAL);
		assert_int_equal(error.code, -EINVAL);
	}
	free_gated(&gated);
	if (!capacity) {
		snprintf(error.message, sizeof error.message, "the gate has no known capacity");
		skip_test();
	}
}

void an_unfinished_operation_has_no_stamps_yet(void **state)
{
	struct tare_queue *queue = new_queue(true);
	struct tare_operation marker = { .type = TARE_OPERATION_MARKER };
	struct tare_gate *gate = NULL;
	struct tare_event *event = NULL;
	struct tare_stamps stamps;
	int rc = tare_gate_shut(queue, &gate, &error);
	(void)state;
	if (cannot(rc)) {
		tare_queue_free(queue);
		skip_test();
	}
	must(rc);
	must(tare_append(queue, &marker, &event, &error));
	must(tare_submit(queue, &error));
	assert_int_equal(tare_event_stamps(event, &stamps, &error), -EAGAIN);
	tare_gate_free(gate);
	must(tare_event_wait(event, LIMIT, &error));
	must(tare_event_stamps(event, &stamps, &error));
	tare_event_free(event);
	tare_queue_free(queue);
}

void freeing_a_shut_gate_opens_it(void **state)
{
	struct gated gated;
	if (!shut_a_gate(&gated))
		skip_test();
	(void)state;
	tare_gate_free(gated.gate);
	gated.gate = NULL;
	must(tare_event_wait(gated.event, LIMIT, &error));
	free_gated(&gated);
}

void an_operation_waits_for_events_of_other_queues(void **state)
{
	struct gated gated;
	if (!shut_a_gate(&gated))
		skip_test();
	struct tare_queue *other = new_queue(false);
	// Not pageable where it can be helped: CUDA's copy to such memory returns when it is done.
	struct tare_memory *pinned = new_memory(TARE_MEMORY_PINNED, 4096);
	struct tare_memory *result = pinned ? pinned : new_memory(TARE_MEMORY_PAGEABLE, 4096);
	struct tare_memory *middle = new_memory(TARE_MEMORY_DEVICE, 4096);
	struct tare_event *written = NULL, *read = NULL;
	struct tare_operation write = copy(span(gated.from, 0, 4096), span(middle, 0, 4096));
	struct tare_operation back = copy(span(middle, 0, 4096), span(result, 0, 4096));
	(void)state;
	put(other, result, 3);
	// Behind the gate on one queue; read on the other, which has no gate.
	must(tare_append(gated.queue, &write, &written, &error));
	back.waits = &written;
	back.wait_count = 1;
	must(tare_append(other, &back, &read, &error));
	must(tare_submit(gated.queue, &error));
	must(tare_submit(other, &error));
	tare_device_pause(device, 10 * MS);
	assert_int_equal(tare_event_done(read, &error), 0);
	must(tare_gate_open(gated.gate, &error));
	must(tare_finish(other, LIMIT, &error));
	assert_int_equal(((uint8_t *)result->host)[100], pattern(100, 1));
	tare_event_free(written);
	tare_event_free(read);
	tare_memory_free(result);
	tare_memory_free(middle);
	tare_queue_free(other);
	free_gated(&gated);
}

void a_marker_is_done_when_what_it_waits_for_is(void **state)
{
	struct gated gated;
	if (!shut_a_gate(&gated))
		skip_test();
	struct tare_queue *other = new_queue(false);
	struct tare_event *marker = NULL;
	struct tare_operation operation = {
		.type = TARE_OPERATION_MARKER,
		.waits = &gated.event,
		.wait_count = 1,
	};
	(void)state;
	must(tare_append(other, &operation, &marker, &error));
	must(tare_submit(other, &error));
	tare_device_pause(device, 10 * MS);
	assert_int_equal(tare_event_done(marker, &error), 0);
	must(tare_gate_open(gated.gate, &error));
	must(tare_event_wait(marker, LIMIT, &error));
	assert_int_equal(tare_event_done(gated.event, &error), 1);
	tare_event_free(marker);
	tare_queue_free(other);
	free_gated(&gated);
}

void an_operation_may_wait_for_many_events(void **state)
{
	enum { MANY = 40 };
	struct gated gated;
	if (!shut_a_gate(&gated))
		skip_test();
	struct tare_queue *other = new_queue(false);
	struct tare_event *events[MANY], *marker = NULL;
	struct tare_operation operation = { .type = TARE_OPERATION_MARKER };
	(void)state;
	for (int i = 0; i < MANY; i++)
		must(tare_append(i == MANY - 1 ? gated.queue : other, &operation, &events[i],
		                 &error));
	operation.waits = events;
	operation.wait_count = MANY;
	must(tare_append(other, &operation, &marker, &error));
	must(tare_submit(gated.queue, &error));
	must(tare_submit(other, &error));
	tare_device_pause(device, 5 * MS);
	assert_int_equal(tare_event_done(marker, &error), 0);
	must(tare_gate_open(gated.gate, &error));
	must(tare_event_wait(marker, LIMIT, &error));
	for (int i = 0; i < MANY; i++) {
		assert_int_equal(tare_event_done(events[i], &error), 1);
		tare_event_free(events[i]);
	}
	tare_event_free(marker);
	tare_queue_free(other);
	free_gated(&gated);
}

void events_may_be_freed_at_any_time(void **state)
{
	struct gated gated;
	if (!shut_a_gate(&gated))
		skip_test();
	(void)state;
	tare_event_free(gated.event);
	gated.event = NULL;
	must(tare_gate_open(gated.gate, &error));
	must(tare_finish(gated.queue, LIMIT, &error));
	assert_int_equal(((uint8_t *)gated.to->host)[9], pattern(9, 1));
	free_gated(&gated);
}

static void count_up(void *context)
{
	atomic_fetch_add((atomic_int *)context, 1);
}

void a_callback_comes_once(void **state)
{
	struct gated gated;
	if (!shut_a_gate(&gated))
		skip_test();
	atomic_int calls = 0;
	(void)state;
	int rc = tare_event_callback(gated.event, count_up, &calls, &error);
	must(cannot(rc) ? 0 : rc);
	tare_device_pause(device, 5 * MS);
	assert_int_equal(calls, 0);
	must(tare_gate_open(gated.gate, &error));
	must(tare_event_wait(gated.event, LIMIT, &error));
	for (int i = 0; i < 2000 && !calls; i++)
		tare_device_pause(device, MS);
	tare_device_pause(device, 5 * MS);
	int seen = calls;
	free_gated(&gated);
	if (cannot(rc))
		skip_test();
	assert_int_equal(seen, 1);
}

void a_host_call_takes_its_place_in_the_queue(void **state)
{
	struct gated gated;
	if (!shut_a_gate(&gated))
		skip_test();
	atomic_int calls = 0;
	struct tare_event *event = NULL;
	struct tare_operation operation = {
		.type = TARE_OPERATION_HOST_CALL,
		.call = { count_up, &calls },
	};
	(void)state;
	int rc = tare_append(gated.queue, &operation, &event, &error);
	if (rc == 0) {
		must(tare_submit(gated.queue, &error));
		tare_device_pause(device, 10 * MS);
		assert_int_equal(calls, 0);
		assert_int_equal(tare_event_done(event, &error), 0);
		must(tare_gate_open(gated.gate, &error));
		must(tare_event_wait(event, LIMIT, &error));
		assert_int_equal(calls, 1);
		tare_event_free(event);
	}
	free_gated(&gated);
	if (cannot(rc))
		skip_test();
	must(rc);
}

// Late on purpose: what does not wait for the call overtakes it.
static void write_late(void *context)
{
	usleep(20000);
	memset(context, 42, 4096);
}

void what_follows_a_host_call_sees_what_it_did(void **state)
{
	struct tare_queue *queue = new_queue(false);
	// Pinned: CUDA stages pageable memory when the copy is appended, before the call has run.
	struct tare_memory *from = new_memory(TARE_MEMORY_PINNED, 4096);
	if (!from) {
		tare_queue_free(queue);
		skip_test();
	}
	struct tare_memory *to = new_memory(TARE_MEMORY_DEVICE, 4096);
	struct tare_operation call = { .type = TARE_OPERATION_HOST_CALL };
	struct tare_operation write = copy(span(from, 0, 4096), span(to, 0, 4096));
	uint8_t *bytes = NULL;
	(void)state;
	put(queue, from, 1);
	call.call.function = write_late;
	call.call.context = from->host;
	int rc = tare_append(queue, &call, NULL, &error);
	if (rc == 0) {
		must(run(queue, write));
		bytes = get(queue, to);
		assert_int_equal(bytes[0], 42);
		assert_int_equal(bytes[4095], 42);
	}
	free(bytes);
	tare_memory_free(from);
	tare_memory_free(to);
	tare_queue_free(queue);
	if (cannot(rc))
		skip_test();
	must(rc);
}

void native_waits_return(void **state)
{
	struct tare_queue *queue = new_queue(false);
	struct tare_event *event = NULL;
	struct tare_operation marker = { .type = TARE_OPERATION_MARKER };
	(void)state;
	must(tare_append(queue, &marker, &event, &error));
	must(tare_finish(queue, LIMIT, &error));
	must(tare_event_wait(event, TARE_LIMIT_NATIVE, &error));
	must(tare_finish(queue, TARE_LIMIT_NATIVE, &error));
	tare_event_free(event);
	tare_queue_free(queue);
}
