// SPDX-License-Identifier: Apache-2.0
// Timers and the life of their spans.
#include "time/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SPANS_DEFAULT 64
#define SPANS_MOST 4096

int tare_time_start(struct tare_timer **timer, const struct tare_time_options *options,
                    bool has_engines, uint32_t *spans, struct tare_time_error *error)
{
	if (!timer)
		return tare_time_fail(error, EINVAL, "a timer needs a place to be told in");
	*timer = NULL;
	*spans = options && options->spans ? options->spans : SPANS_DEFAULT;
	if (*spans > SPANS_MOST)
		return tare_time_fail(error, EINVAL, "a timer has at most %d spans, not %u",
		                      SPANS_MOST, *spans);
	if (options && options->engines && !has_engines)
		return tare_time_fail(error, ENOTSUP,
		                      "only CUDA timers have the engines' own times; here "
		                      "tare_time_event has those of one command");
	return 0;
}

int64_t tare_time_now(const struct tare_timer *timer)
{
	struct timespec now;

	if (timer->api->now_ns)
		return timer->api->now_ns(timer->queue);
	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

// Where a timer's turns begin: far from those of others, so that a span of another timer is none.
static uint32_t first_turn(void)
{
	static uint32_t timers;

	return __atomic_add_fetch(&timers, 1, __ATOMIC_RELAXED) * UINT32_C(2654435769);
}

int tare_time_make(struct tare_timer **timer, const struct tare_time_api *api, void *queue,
                   uint32_t spans, struct tare_time_error *error)
{
	uint32_t turn = first_turn();
	struct tare_timer *made;

	made = calloc(1, sizeof *made + spans * sizeof *made->slots);
	if (!made)
		return tare_time_fail(error, ENOMEM, "out of memory");
	for (uint32_t i = 0; i < spans; i++)
		made->slots[i].turn = turn;
	made->api = api;
	made->queue = queue;
	made->count = spans;
	if (api->device)
		snprintf(made->device, sizeof made->device, "%s", api->device(queue));
	pthread_mutex_init(&made->lock, NULL);
	*timer = made;
	return 0;
}

struct tare_time_slot *tare_time_slot_of(struct tare_timer *timer, struct tare_time_span span)
{
	struct tare_time_slot *slot = span.slot < timer->count ? &timer->slots[span.slot] : NULL;
	bool there = slot && span.turn != 0 && slot->turn == span.turn &&
	             slot->state != TARE_TIME_FREE && slot->state != TARE_TIME_LEAVING;

	return there ? slot : NULL;
}

static int no_span(struct tare_time_error *error)
{
	return tare_time_fail(
	    error, ESTALE,
	    "this timer has no such span; it was never begun, was released, or is another "
	    "timer's");
}

static void free_slot(struct tare_timer *timer, uint32_t index)
{
	struct tare_time_slot *slot = &timer->slots[index];

	if (slot->with_floor && !slot->floor_taken && timer->floors_on_the_way > 0)
		timer->floors_on_the_way--;
	if (timer->api->release)
		timer->api->release(timer->queue, index);
	slot->state = TARE_TIME_FREE;
	slot->with_floor = slot->floor_taken = false;
}

// Whether the device may still write into what a slot holds.
static bool is_awaited(const struct tare_timer *timer, uint32_t index)
{
	enum tare_time_slot_state state = timer->slots[index].state;
	struct tare_time_why why;

	if (!timer->api->writes_later || timer->api->executes_again)
		return false;
	if (state == TARE_TIME_BEGUN)
		return true;
	return (state == TARE_TIME_ENDED || state == TARE_TIME_LEAVING) &&
	       timer->api->done(timer->queue, index, &why) == 0;
}

// A free slot, or -1.
static int64_t take_slot(struct tare_timer *timer)
{
	for (uint32_t k = 0; k < timer->count; k++) {
		uint32_t index = (timer->next + k) % timer->count;
		struct tare_time_slot *slot = &timer->slots[index];
		if (slot->state == TARE_TIME_LEAVING && !is_awaited(timer, index))
			free_slot(timer, index);
		if (slot->state == TARE_TIME_FREE) {
			timer->next = (index + 1) % timer->count;
			return index;
		}
	}
	return -1;
}

static void name_slot(struct tare_time_slot *slot, const char *name)
{
	snprintf(slot->name, sizeof slot->name, "%s", name ? name : "");
	if (++slot->turn == 0)
		slot->turn = 1;
}

static int begin_locked(struct tare_timer *timer, uint32_t index, const char *name,
                        struct tare_time_error *error)
{
	struct tare_time_slot *slot = &timer->slots[index];
	int status;

	name_slot(slot, name);
	slot->thread = tare_time_thread();
	slot->with_floor = timer->floor_count + timer->floors_on_the_way < TARE_TIME_FLOORS;
	tare_time_phase_begin(timer, index, slot->turn, slot->name);
	slot->before_ns = tare_time_now(timer);
	status = timer->api->begin(timer->queue, index, slot->with_floor, error);
	if (status < 0) {
		slot->with_floor = false;
		tare_time_phase_end(timer, index, slot->turn);
		return status;
	}
	slot->state = TARE_TIME_BEGUN;
	timer->floors_on_the_way += slot->with_floor;
	slot->begun_ns = tare_time_now(timer);
	return 0;
}

int tare_time_begin(struct tare_timer *timer, const char *name, struct tare_time_span *span,
                    struct tare_time_error *error)
{
	int status = 0;
	int64_t index;

	if (!timer || !span)
		return tare_time_fail(error, EINVAL,
		                      "a span needs a timer, and a place to be told in");
	*span = (struct tare_time_span){ 0, 0 };
	pthread_mutex_lock(&timer->lock);
	index = take_slot(timer);
	if (index < 0)
		status = tare_time_fail(
		    error, ENOSPC,
		    "all %u spans of this timer exist; release some, or open it with more",
		    timer->count);
	else
		status = begin_locked(timer, (uint32_t)index, name, error);
	if (status == 0)
		*span = (struct tare_time_span){ (uint32_t)index, timer->slots[index].turn };
	pthread_mutex_unlock(&timer->lock);
	return status;
}

static int end_locked(struct tare_timer *timer, struct tare_time_span span,
                      struct tare_time_error *error)
{
	struct tare_time_slot *slot = tare_time_slot_of(timer, span);
	int status;

	if (!slot)
		return no_span(error);
	if (slot->state != TARE_TIME_BEGUN)
		return tare_time_fail(error, EALREADY, "this span has ended already");
	if (slot->thread != tare_time_thread())
		return tare_time_fail(error, EPERM,
		                      "another thread began this span, and it has to end it");
	slot->ended_ns = tare_time_now(timer);
	status = timer->api->end(timer->queue, span.slot, error);
	slot->state = status < 0 ? TARE_TIME_BROKEN : TARE_TIME_ENDED;
	tare_time_phase_end(timer, span.slot, span.turn);
	return status;
}

int tare_time_end(struct tare_timer *timer, struct tare_time_span span,
                  struct tare_time_error *error)
{
	int status;

	if (!timer)
		return tare_time_fail(error, EINVAL, "there is no timer");
	pthread_mutex_lock(&timer->lock);
	status = end_locked(timer, span, error);
	pthread_mutex_unlock(&timer->lock);
	return status;
}

int tare_time_release(struct tare_timer *timer, struct tare_time_span span,
                      struct tare_time_error *error)
{
	struct tare_time_slot *slot;
	int status = 0;

	if (!timer)
		return tare_time_fail(error, EINVAL, "there is no timer");
	pthread_mutex_lock(&timer->lock);
	slot = tare_time_slot_of(timer, span);
	if (!slot)
		status = no_span(error);
	else if (slot->state == TARE_TIME_BEGUN)
		status = tare_time_fail(error, EBUSY, "this span has not ended; end it first");
	else if (slot->waiting)
		status = tare_time_fail(error, EBUSY, "a thread waits for this span's result");
	else if (is_awaited(timer, span.slot))
		slot->state = TARE_TIME_LEAVING;
	else
		free_slot(timer, span.slot);
	pthread_mutex_unlock(&timer->lock);
	return status;
}

int tare_time_close(struct tare_timer *timer, struct tare_time_error *error)
{
	unsigned waiting = 0;
	bool awaited = false;

	if (!timer)
		return 0;
	pthread_mutex_lock(&timer->lock);
	waiting += timer->events_waiting;
	for (uint32_t i = 0; i < timer->count; i++) {
		waiting += timer->slots[i].waiting;
		awaited = awaited || is_awaited(timer, i);
	}
	pthread_mutex_unlock(&timer->lock);
	if (waiting)
		return tare_time_fail(error, EBUSY, "a thread waits for a result of this timer");
	if (awaited)
		return tare_time_fail(error, EBUSY,
		                      "a span has not ended, or the device has still to write what "
		                      "it asked for; end it and "
		                      "synchronize first");
	if (timer->api->release)
		for (uint32_t i = 0; i < timer->count; i++)
			timer->api->release(timer->queue, i);
	timer->api->close(timer->queue);
	pthread_mutex_destroy(&timer->lock);
	free(timer);
	return 0;
}
