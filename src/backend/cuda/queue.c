// SPDX-License-Identifier: Apache-2.0
// A queue is a CUDA stream. In-order ones are created non-blocking, so that nobody's default
// stream holds them up; the legacy default stream is there to measure just that, and so is the
// default stream of a thread, which waits for the legacy one only.
#include "backend/cuda/internal.h"

#include "base/interrupt.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

// Waiting looks again without a break for so long, then sleeps between looks for a thousandth of
// what it has waited: a sleep must not show in the host's time of a large copy.
#define POLL_SPIN_NS 200000000
#define POLL_SLEEP_SHARE 1000
#define POLL_SLEEP_MOST_NS 10000000

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

static int make(struct tare_device *device, cu_stream stream, struct cuda_queue **queue,
                struct tare_error *error)
{
	struct cuda_queue *made = calloc(1, sizeof *made);
	if (!made)
		return tare_fail(error, ENOMEM, "out of memory");
	made->base.device = device;
	made->stream = stream;
	*queue = made;
	return 0;
}

int cuda_queue_enter(const struct cuda_queue *queue, struct tare_error *error)
{
	if (queue->of_thread && !pthread_equal(queue->thread, pthread_self()))
		return tare_fail(error, EINVAL,
		                 "this queue is the default stream of the thread that made it; "
		                 "another thread cannot use it");
	return cuda_enter(cuda_device_of(queue->base.device), error);
}

int cuda_queue_create(struct tare_device *device, const struct tare_queue_options *options,
                      struct tare_queue **queue, struct tare_error *error)
{
	struct cuda_device *self = cuda_device_of(device);
	struct cuda_queue *made = NULL;
	int status = cuda_enter(self, error);

	if (status < 0)
		return status;
	if (options->order == TARE_QUEUE_OUT_OF_ORDER)
		return tare_fail(error, ENOTSUP, "a CUDA stream runs in order");
	if (options->order == TARE_QUEUE_DEFERRED)
		return tare_fail(error, ENOTSUP,
		                 "a CUDA stream runs what it gets at once; use a graph");
	if (options->engine != 0)
		return tare_fail(error, ENOTSUP,
		                 "CUDA chooses the engine itself, by the operation");
	status = make(device, ABI_STREAM_LEGACY, &made, error);
	if (status < 0)
		return status;
	made->timed = options->timed;
	made->legacy = options->order == TARE_QUEUE_LEGACY_DEFAULT;
	made->of_thread = options->order == TARE_QUEUE_THREAD_DEFAULT;
	if (made->of_thread) {
		made->stream = ABI_STREAM_PER_THREAD;
		made->thread = pthread_self();
	} else if (!made->legacy) {
		cu_result result =
		    self->driver->call.cuStreamCreate(&made->stream, ABI_STREAM_NON_BLOCKING);
		if (result != ABI_SUCCESS) {
			free(made);
			return cuda_fail(self->driver, result, "cuStreamCreate", error,
			                 "cannot create a stream");
		}
	}
	*queue = &made->base;
	return 0;
}

void cuda_queue_free(struct tare_queue *base)
{
	if (!base)
		return;
	struct cuda_queue *queue = (struct cuda_queue *)base;
	struct cuda_device *device = cuda_device_of(base->device);

	cuda_enter(device, NULL);
	for (struct cuda_gate *gate = device->gates; gate; gate = gate->next)
		if (gate->queue == queue)
			gate->queue = NULL;
	cuda_graph_leave(queue);
	// Destroying does not wait: what was appended still runs.
	if (!queue->legacy && !queue->of_thread)
		device->driver->call.cuStreamDestroy_v2(queue->stream);
	free(queue);
}

int cuda_submit(struct tare_queue *base, struct tare_error *error)
{
	// A launch is submitted when it is made (on Linux, which has no WDDM to batch it).
	(void)base;
	(void)error;
	return 0;
}

// Nothing is left in the stream.
static void forget_held(struct cuda_queue *queue)
{
	queue->held = queue->entries = 0;
	queue->depends = false;
}

int cuda_finish(struct tare_queue *base, int64_t limit_ns, struct tare_error *error)
{
	struct cuda_queue *queue = (struct cuda_queue *)base;
	struct cuda_device *device = cuda_device_of(base->device);
	int status = cuda_queue_enter(queue, error);

	if (status < 0)
		return status;
	if (limit_ns != TARE_LIMIT_NATIVE) {
		status = cuda_poll_stream(device, queue->stream, limit_ns, error);
		if (status < 0)
			tare_error_prefix(error, "queue of device %u", base->device->index);
		else
			forget_held(queue);
		return status;
	}
	cu_result result = device->driver->call.cuStreamSynchronize(queue->stream);
	if (result != ABI_SUCCESS)
		return cuda_fail(device->driver, result, "cuStreamSynchronize", error,
		                 "waiting failed");
	forget_held(queue);
	return 0;
}
