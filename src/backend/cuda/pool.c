// SPDX-License-Identifier: Apache-2.0
// CUevents: the device's pool of them, a record in a stream, and waiting for one, or for all of a
// stream, with a limit.
#include "backend/cuda/internal.h"

#include "base/interrupt.h"

#include <errno.h>
#include <time.h>

// Waiting looks again without a break for so long, then sleeps between looks for a thousandth of
// what it has waited: a sleep must not show in the host's time of a large copy.
#define POLL_SPIN_NS 200000000
#define POLL_SLEEP_SHARE 1000
#define POLL_SLEEP_MOST_NS 10000000

int cuda_event_take(struct cuda_device *device, bool timed, cu_event *event,
                    struct tare_error *error)
{
	// Creating one costs as much as a launch; the pool keeps that out of what is measured.
	if (device->pooled[timed]) {
		*event = device->pool[timed][--device->pooled[timed]];
		return 0;
	}
	cu_result result = device->driver->call.cuEventCreate(
	    event, timed ? ABI_EVENT_DEFAULT : ABI_EVENT_DISABLE_TIMING);
	if (result != ABI_SUCCESS)
		return cuda_fail(device->driver, result, "cuEventCreate", error,
		                 "cannot create an event");
	return 0;
}

void cuda_event_give(struct cuda_device *device, bool timed, cu_event event)
{
	if (!event)
		return;
	if (device->pooled[timed] < CUDA_POOL_EVENTS)
		device->pool[timed][device->pooled[timed]++] = event;
	else
		device->driver->call.cuEventDestroy_v2(event);
}

int cuda_event_record(struct cuda_device *device, cu_event event, cu_stream stream,
                      struct tare_error *error)
{
	cu_result result = device->driver->call.cuEventRecord(event, stream);
	if (result != ABI_SUCCESS)
		return cuda_fail(device->driver, result, "cuEventRecord", error,
		                 "cannot record an event");
	return 0;
}

// ---- waiting

// What is looked at: an event, or else a stream.
struct query {
	const struct cuda_functions *call;
	cu_event event;
	cu_stream stream;
};

static cu_result look(const struct query *query)
{
	return query->event ? query->call->cuEventQuery(query->event)
	                    : query->call->cuStreamQuery(query->stream);
}

static int poll_until_done(struct cuda_device *device, const struct query *query, int64_t limit_ns,
                           struct tare_error *error)
{
	const char *call = query->event ? "cuEventQuery" : "cuStreamQuery";
	struct tare_host_time begun = tare_host_now();

	for (;;) {
		// Before the look: whose process is stopped meanwhile looks again before it gives
		// up.
		int64_t waited_ns = tare_host_elapsed_ns(begun, tare_host_now());
		cu_result result = look(query);
		if (result == ABI_SUCCESS)
			return 0;
		if (result != ABI_NOT_READY)
			return cuda_fail(device->driver, result, call, error, "waiting failed");
		if (tare_interrupt_due())
			return tare_fail(error, EINTR, "interrupted while waiting for the device");
		if (waited_ns >= limit_ns)
			return tare_fail(error, ETIMEDOUT, "not done after %.3g s",
			                 (double)limit_ns / 1e9);
		if (waited_ns > POLL_SPIN_NS) {
			int64_t sleep_ns = waited_ns / POLL_SLEEP_SHARE;
			if (sleep_ns > POLL_SLEEP_MOST_NS)
				sleep_ns = POLL_SLEEP_MOST_NS;
			nanosleep(&(struct timespec){ .tv_nsec = sleep_ns }, NULL);
		}
	}
}

int cuda_poll_event(struct cuda_device *device, cu_event event, int64_t limit_ns,
                    struct tare_error *error)
{
	const struct query query = { .call = &device->driver->call, .event = event };
	return poll_until_done(device, &query, limit_ns, error);
}

int cuda_poll_stream(struct cuda_device *device, cu_stream stream, int64_t limit_ns,
                     struct tare_error *error)
{
	const struct query query = { .call = &device->driver->call, .stream = stream };
	return poll_until_done(device, &query, limit_ns, error);
}
