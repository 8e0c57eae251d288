// SPDX-License-Identifier: Apache-2.0
// Results: waiting for what was asked for, and what its stamps say.
#include "time/internal.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define POLLS_AT_ONCE 64
#define PAUSE_FIRST_NS 10000
#define PAUSE_MOST_NS 1000000
// Clocks of devices and hosts drift apart; more than this share, and this much, they do not.
#define DRIFT 0.001
#define SLACK_NS 1000000

// Of what is asked for: a span's slot or an event.
struct asked {
	void *event; // NULL: the slot
	uint32_t slot;
};

static int is_done(struct tare_timer *timer, const struct asked *asked, struct tare_time_why *why)
{
	return asked->event ? timer->api->event_done(timer->queue, asked->event, why)
	                    : timer->api->done(timer->queue, asked->slot, why);
}

static void pause_for(const struct tare_timer *timer, unsigned polls, int64_t left_ns)
{
	int64_t ns = PAUSE_FIRST_NS;

	if (polls < POLLS_AT_ONCE && !timer->api->pause_ns) {
		sched_yield();
		return;
	}
	for (unsigned i = POLLS_AT_ONCE; i < polls && ns < PAUSE_MOST_NS; i += 16)
		ns *= 2;
	if (ns > left_ns)
		ns = left_ns;
	if (timer->api->pause_ns)
		timer->api->pause_ns(timer->queue, ns);
	else
		nanosleep(&(struct timespec){ .tv_nsec = ns }, NULL);
}

// 1: done; 0: not within the limit; -ENODATA.
static int wait_for(struct tare_timer *timer, const struct asked *asked, int64_t limit_ns,
                    struct tare_time_why *why)
{
	int64_t began = tare_time_now(timer);
	int status;

	if (timer->api->flush && limit_ns > 0)
		timer->api->flush(timer->queue);
	for (unsigned polls = 0;; polls++) {
		int64_t passed;
		status = is_done(timer, asked, why);
		passed = tare_time_now(timer) - began;
		if (status != 0 || passed >= limit_ns)
			return status;
		pause_for(timer, polls, limit_ns - passed);
	}
}

static double ticks_ns(const struct tare_time_stamps *stamps, uint64_t from, uint64_t to)
{
	uint64_t ticks = tare_ticks_elapsed(&stamps->rate, (struct tare_ticks){ from },
	                                    (struct tare_ticks){ to });

	return (double)tare_ticks_to_ns(&stamps->rate, ticks);
}

static double floor_of(const struct tare_time_stamps *stamps)
{
	return stamps->counted ? ticks_ns(stamps, stamps->floor, stamps->start) : stamps->floor_ns;
}

// The median of the floors known; negative: none.
static double median_floor(const struct tare_timer *timer)
{
	double sorted[TARE_TIME_FLOORS];
	uint32_t n = timer->floor_count;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = i;
		for (; k > 0 && sorted[k - 1] > timer->floor_ns[i]; k--)
			sorted[k] = sorted[k - 1];
		sorted[k] = timer->floor_ns[i];
	}
	return n ? sorted[n / 2] : -1;
}

static void take_floor(struct tare_timer *timer, struct tare_time_slot *slot,
                       const struct tare_time_stamps *stamps, double most_ns)
{
	double floor_ns = floor_of(stamps);

	if (!stamps->has_floor || slot->floor_taken)
		return;
	slot->floor_taken = true;
	timer->floors_on_the_way--;
	if (floor_ns >= 0 && floor_ns <= most_ns)
		timer->floor_ns[timer->floor_count++] = floor_ns;
}

static void set_absent(struct tare_time_result *result, const struct tare_time_why *why)
{
	result->state = TARE_TIME_NOT_AVAILABLE;
	result->reason = why->reason;
	result->native = why->native;
	result->sentence = why->sentence;
}

static const struct tare_time_why impossible = {
	TARE_TIME_IMPOSSIBLE, 0,
	"by the device's clock it ended before it began, or took longer than passed on the host, "
	"or than half of the "
	"clock's period"
};

// The ticks, and the period that they count in.
static void set_ticks(struct tare_time_result *result, const struct tare_time_stamps *stamps,
                      double passed_ns)
{
	int64_t almost = tare_ticks_to_ns(&stamps->rate, tare_ticks_mask(&stamps->rate));

	result->start_ticks = stamps->start;
	result->end_ticks = stamps->end;
	result->rate = stamps->rate;
	result->period_ns =
	    almost == INT64_MAX ? 0 : almost + (int64_t)ceil(tare_tick_ns(&stamps->rate));
	result->wraps_excluded =
	    result->period_ns == 0 || (passed_ns >= 0 && passed_ns < (double)result->period_ns);
}

// passed_ns: no more can have passed between the stamps; negative: not known. floor_ns: negative:
// not known.
static void set_interval(struct tare_time_result *result, const struct tare_time_stamps *stamps,
                         double passed_ns, double floor_ns)
{
	double step_ns = stamps->counted ? tare_step_ns(&stamps->rate) : stamps->step_ns;
	double span_ns =
	    stamps->counted ? ticks_ns(stamps, stamps->start, stamps->end) : stamps->span_ns;
	bool backwards =
	    stamps->counted && passed_ns < 0 &&
	    tare_ticks_elapsed_signed(&stamps->rate, (struct tare_ticks){ stamps->start },
	                              (struct tare_ticks){ stamps->end }) < 0;

	if (stamps->counted)
		set_ticks(result, stamps, passed_ns);
	else
		result->wraps_excluded = 1;
	if (backwards || span_ns < 0 ||
	    (passed_ns >= 0 && span_ns > passed_ns * (1 + DRIFT) + SLACK_NS + step_ns)) {
		set_absent(result, &impossible);
		return;
	}
	result->device_ns = llrint(span_ns);
	result->floor_ns = floor_ns < 0 ? -1 : llrint(floor_ns);
	result->uncertainty_ns =
	    (int64_t)ceil(step_ns) + (floor_ns > 0 ? TARE_TIME_GAPS * result->floor_ns : 0);
	result->state = TARE_TIME_OK;
	if (span_ns < step_ns || (floor_ns > 0 && span_ns <= floor_ns + step_ns)) {
		result->state = TARE_TIME_BELOW_FLOOR;
		result->sentence = floor_ns > 0 ? "no longer than an empty span takes on this queue"
		                                : "shorter than a step of the device's clock";
	}
}

static void start_result(const struct tare_timer *timer, const char *name,
                         struct tare_time_result *result)
{
	*result = (struct tare_time_result){
		.sentence = "",
		.device_ns = -1,
		.floor_ns = -1,
		.uncertainty_ns = -1,
		.host_ns = -1,
	};
	snprintf(result->name, sizeof result->name, "%s", name ? name : "");
	snprintf(result->device, sizeof result->device, "%s", timer->device);
}

static void set_not_ready(struct tare_time_result *result)
{
	result->state = TARE_TIME_NOT_READY;
	result->sentence = "the device has not finished it yet";
}

// With the lock held, when the span is done.
static void read_span(struct tare_timer *timer, uint32_t index, struct tare_time_result *result)
{
	struct tare_time_slot *slot = &timer->slots[index];
	struct tare_time_stamps stamps = { 0 };
	struct tare_time_why why = { 0 };
	double passed_ns = (double)(tare_time_now(timer) - slot->before_ns);
	int status = timer->api->stamps(timer->queue, index, slot->with_floor, &stamps, &why);

	if (status == -EAGAIN) {
		set_not_ready(result);
	} else if (status < 0) {
		set_absent(result, &why);
	} else {
		take_floor(timer, slot, &stamps, passed_ns);
		set_interval(result, &stamps, passed_ns, stamps.engines ? 0 : median_floor(timer));
		result->between = stamps.engines ? TARE_TIME_ENGINES : TARE_TIME_MARKS;
		result->commands = stamps.commands;
	}
}

static int claim_span(struct tare_timer *timer, struct tare_time_span span,
                      struct tare_time_result *result, struct tare_time_error *error)
{
	struct tare_time_slot *slot = tare_time_slot_of(timer, span);

	if (!slot)
		return tare_time_fail(
		    error, ESTALE,
		    "this timer has no such span; it was never begun, was released, or is another "
		    "timer's");
	start_result(timer, slot->name, result);
	if (slot->state == TARE_TIME_BEGUN)
		return tare_time_fail(error, EBUSY, "this span has not ended; end it first");
	result->host_ns = slot->ended_ns - slot->begun_ns;
	if (slot->state == TARE_TIME_BROKEN) {
		set_absent(result,
		           &(struct tare_time_why){ TARE_TIME_NOT_APPENDED, 0,
		                                    "the API refused the end of this span" });
		return 1;
	}
	slot->waiting++;
	return 0;
}

int tare_time_read(struct tare_timer *timer, struct tare_time_span span, int64_t limit_ns,
                   struct tare_time_result *result, struct tare_time_error *error)
{
	struct asked asked = { NULL, span.slot };
	struct tare_time_why why = { 0 };
	int status;

	if (!timer || !result)
		return tare_time_fail(error, EINVAL,
		                      "a result needs a timer, and a place to be told in");
	start_result(timer, NULL, result);
	pthread_mutex_lock(&timer->lock);
	status = claim_span(timer, span, result, error);
	pthread_mutex_unlock(&timer->lock);
	if (status != 0)
		return status < 0 ? status : 0;
	status = wait_for(timer, &asked, limit_ns, &why);
	pthread_mutex_lock(&timer->lock);
	timer->slots[span.slot].waiting--;
	if (status > 0)
		read_span(timer, span.slot, result);
	else if (status < 0)
		set_absent(result, &why);
	else
		set_not_ready(result);
	pthread_mutex_unlock(&timer->lock);
	return 0;
}

// When an event's command began nobody knows, but it was after the machine, whose clock this is.
static void set_event(struct tare_time_result *result, const struct tare_time_stamps *stamps,
                      double uptime_ns)
{
	set_interval(result, stamps, -1, 0);
	result->between = TARE_TIME_COMMAND;
	if (result->period_ns > 0)
		result->wraps_excluded = uptime_ns < (double)result->period_ns;
}

int tare_time_event(struct tare_timer *timer, const char *name, void *event, int64_t limit_ns,
                    struct tare_time_result *result, struct tare_time_error *error)
{
	struct asked asked = { event, 0 };
	struct tare_time_stamps stamps = { 0 };
	struct tare_time_why why = { 0 };
	int status;

	if (!timer || !event || !result)
		return tare_time_fail(
		    error, EINVAL, "a result needs a timer, an event, and a place to be told in");
	start_result(timer, name, result);
	if (timer->api->event_check) {
		status = timer->api->event_check(event, error);
		if (status < 0)
			return status;
	}
	pthread_mutex_lock(&timer->lock);
	timer->events_waiting++;
	pthread_mutex_unlock(&timer->lock);
	status = wait_for(timer, &asked, limit_ns, &why);
	if (status > 0) {
		status = timer->api->event_stamps(timer->queue, event, &stamps, &why);
		if (status == 0)
			set_event(result, &stamps, (double)tare_time_now(timer));
		else if (status == -EAGAIN)
			set_not_ready(result);
	} else if (status == 0) {
		set_not_ready(result);
	}
	if (status == -ENODATA)
		set_absent(result, &why);
	pthread_mutex_lock(&timer->lock);
	timer->events_waiting--;
	pthread_mutex_unlock(&timer->lock);
	return 0;
}
