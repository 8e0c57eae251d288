// SPDX-License-Identifier: Apache-2.0
// CUDA has no counter to read. It gives the time between two events as a float of milliseconds,
// and a float has 24 bits: it is wrong by up to 6e-8 of what it tells. 50 ms are told to 2 ns, 1 s
// to 30 ns, 100 s to 4 µs. So:
//  - An operation's duration comes from its own two events and is always as good as the timer.
//  - Its start is the distance from an epoch: an event recorded on a stream of its own. When the
//    epoch is older than 50 ms, the next operation records a new one.
//  - The new epoch's distance from the one before is measured the same way, once both are done, and
//    added up. Each event has one time stamp, so these links add no error of the timer, only the
//    float's. Stamps of neighbours stay comparable to a few ns however long the program runs;
//    over a distance they are wrong by 6e-8 of it at most, as a drift of 0.06 ppm would be.
//  - After a pause the link is as long as the pause. If it is longer than 8 s, more than 0.25 µs
//    may be lost at once: the stamps go on, but in an epoch of another number, which says that
//    they must not be subtracted from earlier ones.
// A tick is a nanosecond. Ticks begin at 2^40, because an operation that waited behind a gate may
// come before an epoch that was recorded later in the program, and its distance is negative.
#include "backend/cuda/internal.h"
#include "model/statistics/order.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define FIRST_TICK (UINT64_C(1) << 40)
#define EPOCH_LIFE_NS 50000000
#define EPOCH_LINK_NS 8e9
#define EPOCH_LIMIT_NS INT64_C(1000000000)
#define RESOLUTION_EVENTS 129
#define DOCUMENTED_RESOLUTION_NS 500 // cuEventElapsedTime: "around 0.5 microseconds"

int cuda_elapsed(struct cuda_device *device, cu_event start, cu_event end, double *ns,
                 struct tare_error *error)
{
	float ms = 0;
	cu_result result = device->driver->call.cuEventElapsedTime(&ms, start, end);
	if (result != ABI_SUCCESS)
		return cuda_fail(device->driver, result, "cuEventElapsedTime", error,
		                 "cannot tell the time between two events");
	*ns = (double)ms * 1e6;
	return 0;
}

static int wait_for(struct cuda_device *device, cu_event event, struct tare_error *error)
{
	int status = cuda_poll_event(device, event, EPOCH_LIMIT_NS, error);
	if (status < 0)
		tare_error_prefix(error, "the clock's event");
	return status;
}

void cuda_epoch_give(struct cuda_device *device, struct cuda_epoch *epoch)
{
	while (epoch && --epoch->users == 0) {
		struct cuda_epoch *previous = epoch->previous;
		cuda_event_give(device, true, epoch->event);
		free(epoch);
		epoch = previous;
	}
}

// Finds the epoch's distance from the first one, by way of those between.
static int resolve(struct cuda_device *device, struct cuda_epoch *epoch, struct tare_error *error)
{
	struct cuda_epoch *previous = epoch->previous;
	double link_ns = 0;
	int status = 0;

	if (!epoch->done)
		status = wait_for(device, epoch->event, error);
	if (status < 0)
		return status;
	epoch->done = true;
	if (!previous)
		return 0;
	status = resolve(device, previous, error);
	status = status ?: cuda_elapsed(device, previous->event, epoch->event, &link_ns, error);
	if (status < 0)
		return status;
	epoch->ns = previous->ns + link_ns;
	epoch->number = previous->number + (link_ns > EPOCH_LINK_NS);
	epoch->previous = NULL;
	cuda_epoch_give(device, previous);
	return 0;
}

int cuda_epoch_take(struct cuda_device *device, struct cuda_epoch **epoch, struct tare_error *error)
{
	struct tare_host_time now = tare_host_now();
	struct cuda_epoch *last = device->epoch, *next;
	int status;

	if (last && tare_host_elapsed_ns(last->recorded, now) < EPOCH_LIFE_NS) {
		last->users++;
		*epoch = last;
		return 0;
	}
	next = calloc(1, sizeof *next);
	if (!next)
		return tare_fail(error, ENOMEM, "out of memory");
	status = cuda_event_take(device, true, &next->event, error);
	status = status ?: cuda_event_record(device, next->event, device->clock_stream, error);
	if (status < 0) {
		cuda_event_give(device, true, next->event);
		free(next);
		return status;
	}
	// The last epoch is done by now unless a gate is shut: settle it, so that the chain stays
	// short. It is not waited for.
	if (last && last->previous && device->driver->call.cuEventQuery(last->event) == ABI_SUCCESS)
		resolve(device, last, NULL);
	next->recorded = now;
	next->number = 1;
	next->previous = last; // takes over the device's use of it
	next->users = 2;       // the device's and the caller's
	device->epoch = next;
	*epoch = next;
	return 0;
}

// The finished event on the device's time base.
static int epoch_stamp(struct cuda_device *device, struct cuda_epoch *epoch, cu_event event,
                       struct tare_ticks *ticks, struct tare_error *error)
{
	double distance_ns = 0;
	int status = resolve(device, epoch, error);

	status = status ?: cuda_elapsed(device, epoch->event, event, &distance_ns, error);
	if (status < 0)
		return status;
	ticks->ticks = FIRST_TICK + (uint64_t)llround(epoch->ns + distance_ns);
	return 0;
}

int cuda_epoch_stamps(struct cuda_device *device, struct cuda_epoch *epoch, cu_event start,
                      cu_event end, struct tare_stamps *stamps, struct tare_error *error)
{
	struct tare_ticks at;
	double duration_ns = 0;
	int status = epoch_stamp(device, epoch, start, &at, error);

	// The duration comes from the operation's own two events, which keeps it as exact as a
	// float can be; the difference of two distances from the epoch would not.
	status = status ?: cuda_elapsed(device, start, end, &duration_ns, error);
	if (status < 0)
		return status;
	stamps->at[TARE_STAMP_START] = at;
	stamps->at[TARE_STAMP_END].ticks = at.ticks + (uint64_t)(int64_t)(duration_ns + 0.5);
	stamps->present = 1u << TARE_STAMP_START | 1u << TARE_STAMP_END;
	stamps->epoch = epoch->number;
	return 0;
}

// The smallest difference between any two of the intervals: the timer's step, or a multiple of it
// that is all there was to see.
static double smallest_step(double *intervals, size_t n)
{
	double step = 0;
	qsort(intervals, n, sizeof *intervals, tare_compare_doubles);
	for (size_t i = 1; i < n; i++) {
		double gap = intervals[i] - intervals[i - 1];
		// Below half a nanosecond it is the float's own rounding.
		if (gap > 0.5 && (step == 0 || gap < step))
			step = gap;
	}
	return step;
}

static int measure_resolution(struct cuda_device *device, struct tare_error *error)
{
	cu_event events[RESOLUTION_EVENTS] = { 0 };
	double intervals[RESOLUTION_EVENTS - 1], step;
	int status = 0;

	for (size_t i = 0; i < RESOLUTION_EVENTS && status == 0; i++) {
		status = cuda_event_take(device, true, &events[i], error);
		if (status == 0)
			status = cuda_event_record(device, events[i], device->clock_stream, error);
	}
	status = status ?: wait_for(device, events[RESOLUTION_EVENTS - 1], error);
	for (size_t i = 0; i < RESOLUTION_EVENTS - 1 && status == 0; i++)
		status = cuda_elapsed(device, events[i], events[i + 1], &intervals[i], error);
	for (size_t i = 0; i < RESOLUTION_EVENTS; i++)
		cuda_event_give(device, true, events[i]);
	if (status < 0)
		return status;
	step = smallest_step(intervals, RESOLUTION_EVENTS - 1);
	device->resolution_ns = step > 0 ? (uint64_t)ceil(step - 0.25) : DOCUMENTED_RESOLUTION_NS;
	return 0;
}

int cuda_clock_rate(struct tare_device *base, enum tare_clock clock, struct tare_clock_rate *rate,
                    struct tare_error *error)
{
	struct cuda_device *device = cuda_device_of(base);
	int status = cuda_enter(device, error);

	(void)clock; // pairs are made of the same events that stamp operations
	if (status == 0 && !device->resolution_ns)
		status = measure_resolution(device, error);
	if (status < 0)
		return status;
	*rate = (struct tare_clock_rate){
		.hz_numerator = 1000000000,
		.hz_denominator = 1,
		.valid_bits = 64,
		.resolution_ticks = device->resolution_ns,
	};
	return 0;
}

// Records an event on the idle clock stream and waits for it. It was recorded after the host's
// first reading and before its second, so the pair is sound; but the bracket spans a submission
// and a synchronisation, some µs.
int cuda_clock_pair(struct tare_device *base, struct tare_clock_pair *pair,
                    struct tare_error *error)
{
	struct cuda_device *device = cuda_device_of(base);
	struct cuda_epoch *epoch = NULL;
	cu_event event = NULL;
	int status = cuda_enter(device, error);

	status = status ?: cuda_epoch_take(device, &epoch, error);
	if (status < 0)
		return status;
	status = resolve(device, epoch, error); // and with that the stream is idle
	status = status ?: cuda_event_take(device, true, &event, error);
	if (status == 0) {
		pair->before = tare_host_now();
		status = cuda_event_record(device, event, device->clock_stream, error);
	}
	if (status == 0) {
		status = wait_for(device, event, error);
		pair->after = tare_host_now();
	}
	status = status ?: epoch_stamp(device, epoch, event, &pair->device, error);
	cuda_event_give(device, true, event);
	cuda_epoch_give(device, epoch);
	return status;
}
