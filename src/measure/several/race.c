// SPDX-License-Identifier: Apache-2.0
// Copies of several devices at the same time. A thread a device keeps a few copies under way on
// each of its queues and notes, on the host's clock, when how many were done. What counts is the
// time from when every lane has been seen to finish something until one is seen for the last time.
#include "backend/call.h"
#include "measure/core/bench.h"
#include "measure/several/internal.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/prctl.h>

#define LOOKS_A_COPY 100
#define LOOK_LEAST_NS 2000
#define LOOK_MOST_NS 50000
// A sleeping thread is woken so late at most, where the kernel can.
#define SLACK_NS 1000UL

// What the threads of a race share. The mutex is for `ready`, `go` and `window_ns`.
struct start {
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	size_t ready;
	bool go;
	atomic_bool stop; // one has failed, or not all could be started
	atomic_int first; // the racer that failed first, from 1; 0: none
	int64_t window_ns;
	atomic_llong end_ns;
};

struct runner {
	struct several_racer *racer;
	struct start *start;
	int number; // from 1
	int64_t look_ns;
	pthread_t thread;
};

struct flight {
	struct tare_event *events[SEVERAL_DEPTH];
	size_t first, count;
	uint64_t done;
};

static int64_t now_ns(const struct several_racer *racer)
{
	return tare_device_now(racer->device).ns;
}

// Tops up what is under way on a lane.
static int fill(struct several_lane *lane, struct flight *flight, struct tare_error *error)
{
	int status = 0;

	while (status == 0 && flight->count < SEVERAL_DEPTH) {
		size_t at = (flight->first + flight->count) % SEVERAL_DEPTH;
		status = tare_append(lane->queue, &lane->copy, &flight->events[at], error);
		if (status == 0)
			flight->count++;
		status = status ?: tare_submit(lane->queue, error);
	}
	return status;
}

// Takes what is done off a lane. Returns how many copies, or a negative errno.
static int harvest(struct flight *flight, struct tare_error *error)
{
	int taken = 0;

	while (flight->count) {
		int done = tare_event_done(flight->events[flight->first], error);
		if (done < 0)
			return done;
		if (done == 0)
			break;
		tare_event_free(flight->events[flight->first]);
		flight->first = (flight->first + 1) % SEVERAL_DEPTH;
		flight->count--;
		flight->done++;
		taken++;
	}
	return taken;
}

// Marks are no closer than the window needs, so that there is always room for the last.
static void mark(struct several_lane *lane, uint64_t done, int64_t now, int64_t window_ns)
{
	struct several_mark *last = lane->mark_count ? &lane->marks[lane->mark_count - 1] : NULL;

	if (last && now - last->ns < 2 * window_ns / SEVERAL_MARKS)
		return;
	if (lane->mark_count < SEVERAL_MARKS)
		lane->marks[lane->mark_count++] = (struct several_mark){ now, done };
}

// Each lane's copies until the common end.
static int copy_on(struct runner *runner, struct flight *flights, struct tare_error *error)
{
	struct several_racer *racer = runner->racer;
	int64_t end_ns = atomic_load(&runner->start->end_ns), moved_ns = now_ns(racer);

	for (;;) {
		int64_t now = now_ns(racer);
		bool moved = false;
		for (size_t i = 0; i < racer->lane_count; i++) {
			struct several_lane *lane = racer->lanes[i];
			int taken = harvest(&flights[i], error);
			if (taken < 0)
				return taken;
			if (taken) {
				moved = true;
				mark(lane, flights[i].done, now_ns(racer),
				     runner->start->window_ns);
			}
			if (now < end_ns) {
				int status = fill(lane, &flights[i], error);
				if (status < 0)
					return status;
			}
		}
		if (now >= end_ns || atomic_load(&runner->start->stop))
			return 0;
		if (moved)
			moved_ns = now;
		else if (now - moved_ns > TARE_LIMIT_DEFAULT_NS)
			return tare_fail(error, ETIMEDOUT, "copies were not done after %d s",
			                 (int)(TARE_LIMIT_DEFAULT_NS / 1000000000));
		else
			tare_device_pause(racer->device, runner->look_ns);
	}
}

static int warm_up(struct several_racer *racer, struct tare_error *error)
{
	int status = 0;

	for (size_t i = 0; status == 0 && i < racer->lane_count; i++) {
		struct several_lane *lane = racer->lanes[i];
		lane->mark_count = 0;
		status = tare_bench_run(lane->queue, &lane->copy, error);
	}
	return status;
}

// Whether the race is on; false: it was called off.
static bool wait_for_go(struct start *start)
{
	pthread_mutex_lock(&start->mutex);
	start->ready++;
	pthread_cond_broadcast(&start->changed);
	while (!start->go)
		pthread_cond_wait(&start->changed, &start->mutex);
	pthread_mutex_unlock(&start->mutex);
	return !atomic_load(&start->stop);
}

static void *race_one(void *context)
{
	struct runner *runner = context;
	struct several_racer *racer = runner->racer;
	struct flight flights[2] = { { .count = 0 } };
	int status, none = 0;

	prctl(PR_SET_TIMERSLACK, SLACK_NS, 0, 0, 0);
	racer->error = (struct tare_error){ 0 };
	status = warm_up(racer, &racer->error);
	if (status < 0)
		atomic_store(&runner->start->stop, true);
	if (wait_for_go(runner->start) && status == 0)
		status = copy_on(runner, flights, &racer->error);
	if (status < 0)
		atomic_store(&runner->start->stop, true);
	for (size_t i = 0; i < racer->lane_count; i++) {
		if (status == 0)
			status = tare_finish(racer->lanes[i]->queue, TARE_LIMIT_DEFAULT_NS,
			                     &racer->error);
		else
			status = tare_bench_settle(racer->lanes[i]->queue, status, &racer->error);
		while (flights[i].count--) {
			tare_event_free(flights[i].events[flights[i].first]);
			flights[i].first = (flights[i].first + 1) % SEVERAL_DEPTH;
		}
	}
	racer->status = status;
	if (status < 0)
		atomic_compare_exchange_strong(&runner->start->first, &none, runner->number);
	return NULL;
}

// Starts the threads and lets them go once all are ready. Returns how many have to be joined.
static size_t start_all(struct runner *runners, size_t count, struct start *start)
{
	size_t started = 0;

	while (started < count &&
	       pthread_create(&runners[started].thread, NULL, race_one, &runners[started]) == 0)
		started++;
	pthread_mutex_lock(&start->mutex);
	while (start->ready < started)
		pthread_cond_wait(&start->changed, &start->mutex);
	if (started < count)
		atomic_store(&start->stop, true);
	atomic_store(&start->end_ns, now_ns(runners[0].racer) + start->window_ns);
	start->go = true;
	pthread_cond_broadcast(&start->changed);
	pthread_mutex_unlock(&start->mutex);
	return started;
}

int several_speeds(struct several_lane *const *lanes, size_t count)
{
	int64_t from = INT64_MIN, to = INT64_MAX;

	for (size_t i = 0; i < count; i++) {
		const struct several_lane *lane = lanes[i];
		if (lane->mark_count < 2)
			return -EAGAIN;
		if (lane->marks[0].ns > from)
			from = lane->marks[0].ns;
		if (lane->marks[lane->mark_count - 1].ns < to)
			to = lane->marks[lane->mark_count - 1].ns;
	}
	for (size_t i = 0; i < count; i++) {
		struct several_lane *lane = lanes[i];
		const struct several_mark *first = NULL, *last = NULL;
		for (size_t k = 0; k < lane->mark_count; k++) {
			const struct several_mark *at = &lane->marks[k];
			if (at->ns < from || at->ns > to)
				continue;
			first = first ? first : at;
			last = at;
		}
		if (!first || last->done - first->done < SEVERAL_LEAST)
			return -EAGAIN;
		lane->ps =
		    1000 * (double)(last->ns - first->ns) / (double)(last->done - first->done);
	}
	return 0;
}

static int speeds_of(struct several_racer *racers, size_t count, struct tare_error *error)
{
	struct several_lane *lanes[2 * TARE_SEVERAL_MOST];
	size_t lane_count = 0;

	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < racers[i].lane_count; k++)
			lanes[lane_count++] = racers[i].lanes[k];
	return several_speeds(lanes, lane_count) == 0
	           ? 0
	           : tare_fail(error, EAGAIN, "too few copies were done while all were at work");
}

int several_race(struct several_racer *racers, size_t count, int64_t window_ns,
                 struct tare_error *error)
{
	struct start start = { .mutex = PTHREAD_MUTEX_INITIALIZER,
		               .changed = PTHREAD_COND_INITIALIZER,
		               .window_ns = window_ns };
	struct runner runners[TARE_SEVERAL_MOST];
	size_t started;
	int first;

	if (count > TARE_SEVERAL_MOST)
		return tare_fail(error, EINVAL, "more than %d devices at once", TARE_SEVERAL_MOST);
	for (size_t i = 0; i < count; i++) {
		int64_t look_ns = racers[i].copy_ns / LOOKS_A_COPY;
		look_ns = look_ns < LOOK_LEAST_NS ? LOOK_LEAST_NS : look_ns;
		racers[i].status = 0;
		runners[i] = (struct runner){
			.racer = &racers[i],
			.start = &start,
			.number = (int)i + 1,
			.look_ns = look_ns > LOOK_MOST_NS ? LOOK_MOST_NS : look_ns,
		};
	}
	started = start_all(runners, count, &start);
	for (size_t i = 0; i < started; i++)
		pthread_join(runners[i].thread, NULL);
	pthread_cond_destroy(&start.changed);
	pthread_mutex_destroy(&start.mutex);
	if (started < count)
		return tare_fail(error, ENOMEM, "the system starts no thread for each device");
	first = atomic_load(&start.first);
	if (first == 0)
		return speeds_of(racers, count, error);
	if (error)
		*error = racers[first - 1].error;
	return racers[first - 1].status;
}
