// SPDX-License-Identifier: Apache-2.0
// Events: waiting with a limit, asking, calling back, stamps.
#include "backend/opencl/opencl.h"

#include "base/interrupt.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>

static cl_int read_status(const struct opencl_device *device, cl_event event, cl_int *status)
{
	return device->cl->clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof *status,
	                                  status, NULL);
}

// User events have no queue. Flushing again is not idle: PoCL's `basic` device runs commands that
// became ready only inside a flush of the thread that waits.
static void flush_queue_of(const struct opencl_device *device, cl_event event)
{
	cl_command_queue queue = NULL;
	if (device->cl->clGetEventInfo(event, CL_EVENT_COMMAND_QUEUE, sizeof(cl_command_queue),
	                               &queue, NULL) == CL_SUCCESS &&
	    queue)
		device->cl->clFlush(queue);
}

static int wait_natively(const struct opencl_device *device, cl_event event,
                         struct tare_error *error)
{
	cl_int status = CL_COMPLETE;
	cl_int code = device->cl->clWaitForEvents(1, &event);

	if (code == CL_SUCCESS)
		return 0;
	if (read_status(device, event, &status) == CL_SUCCESS && status < 0)
		return opencl_fail_status(error, status);
	return opencl_fail(error, "clWaitForEvents", code, "cannot wait for an event");
}

// Polls give way to others at once, and sleep once the wait is long: a 50th of what has passed, so
// that the end is never seen more than about 2 % late, and a millisecond at most.
static void back_off(const struct opencl_device *device, cl_event event, int64_t passed_ns)
{
	if (passed_ns < 200000) {
		sched_yield();
		return;
	}
	int64_t ns = passed_ns / 50 < 1000000 ? passed_ns / 50 : 1000000;
	flush_queue_of(device, event);
	nanosleep(&(struct timespec){ .tv_nsec = (long)ns }, NULL);
}

int opencl_wait(const struct opencl_device *device, cl_event event, int64_t limit_ns,
                const char *what, struct tare_error *error)
{
	if (limit_ns == TARE_LIMIT_NATIVE)
		return wait_natively(device, event, error);

	struct tare_host_time begun = tare_host_now();
	flush_queue_of(device, event);
	for (;;) {
		// Before the look: whose process is stopped meanwhile looks again before it gives
		// up.
		int64_t passed_ns = tare_host_elapsed_ns(begun, tare_host_now());
		cl_int status;
		cl_int code = read_status(device, event, &status);
		if (code != CL_SUCCESS)
			return opencl_fail(error, "clGetEventInfo", code, "cannot ask for %s",
			                   what);
		if (status < 0)
			return opencl_fail_status(error, status);
		if (status == CL_COMPLETE)
			break;
		if (tare_interrupt_due())
			return tare_fail(error, EINTR, "interrupted while waiting for %s", what);
		if (passed_ns >= limit_ns)
			return tare_fail(error, ETIMEDOUT, "%s was not done after %.3g s", what,
			                 (double)limit_ns / 1e9);
		back_off(device, event, passed_ns);
	}
	// A status that reads "complete" is no synchronisation point (OpenCL 5.11); this is, and
	// returns at once.
	return wait_natively(device, event, error);
}

int opencl_event_wait(struct tare_event *event, int64_t limit_ns, struct tare_error *error)
{
	return opencl_wait(opencl_device(event->device), ((struct opencl_event *)event)->event,
	                   limit_ns, "an operation", error);
}

int opencl_event_done(struct tare_event *event, struct tare_error *error)
{
	struct opencl_device *device = opencl_device(event->device);
	cl_event native = ((struct opencl_event *)event)->event;
	cl_int status;
	cl_int code = read_status(device, native, &status);

	if (code != CL_SUCCESS)
		return opencl_fail(error, "clGetEventInfo", code, "cannot ask for an event");
	if (status < 0)
		return opencl_fail_status(error, status);
	if (status != CL_COMPLETE)
		return 0;
	int rc = wait_natively(device, native, error);
	return rc < 0 ? rc : 1;
}

struct callback {
	void (*function)(void *context);
	void *context;
};

static void CL_CALLBACK call_back(cl_event event, cl_int status, void *context)
{
	struct callback callback = *(struct callback *)context;
	(void)event;
	(void)status;
	free(context);
	callback.function(callback.context);
}

int opencl_event_callback(struct tare_event *event, void (*function)(void *context), void *context,
                          struct tare_error *error)
{
	struct callback *callback = malloc(sizeof *callback);
	if (!callback)
		return tare_fail(error, ENOMEM, "out of memory");
	*callback = (struct callback){ function, context };
	cl_int code = opencl_device(event->device)
	                  ->cl->clSetEventCallback(((struct opencl_event *)event)->event,
	                                           CL_COMPLETE, call_back, callback);
	if (code != CL_SUCCESS) {
		free(callback);
		return opencl_fail(error, "clSetEventCallback", code,
		                   "cannot call back from an event");
	}
	return 0;
}

int opencl_event_stamps(struct tare_event *event, struct tare_stamps *stamps,
                        struct tare_error *error)
{
	static const struct {
		enum tare_stamp stamp;
		cl_profiling_info name;
	} rows[] = {
		{ TARE_STAMP_QUEUED, CL_PROFILING_COMMAND_QUEUED },
		{ TARE_STAMP_SUBMITTED, CL_PROFILING_COMMAND_SUBMIT },
		{ TARE_STAMP_START, CL_PROFILING_COMMAND_START },
		{ TARE_STAMP_END, CL_PROFILING_COMMAND_END },
	};
	const struct opencl_event *own = (struct opencl_event *)event;
	struct tare_stamps read = { .brackets_engine = true };

	if (!own->timed)
		return tare_fail(error, ENODATA, "the queue of this operation is not timed");
	int done = opencl_event_done(event, error);
	if (done < 0)
		return done;
	if (!done)
		return tare_fail(error, EAGAIN, "the operation is not finished");
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		cl_ulong ns = 0;
		bool begun = own->begun && rows[i].stamp != TARE_STAMP_END;
		cl_profiling_info name = begun && rows[i].stamp == TARE_STAMP_START
		                             ? CL_PROFILING_COMMAND_END
		                             : rows[i].name;
		cl_int code = opencl_device(event->device)
		                  ->cl->clGetEventProfilingInfo(begun ? own->begun : own->event,
		                                                name, sizeof ns, &ns, NULL);
		if (code != CL_SUCCESS)
			return opencl_fail(error, "clGetEventProfilingInfo", code,
			                   "this operation has no time stamps");
		// Drivers leave 0 where they stamp nothing.
		if (!ns)
			continue;
		read.at[rows[i].stamp].ticks = ns;
		read.present |= 1u << rows[i].stamp;
	}
	if (!tare_stamps_have(&read, TARE_STAMP_END))
		return tare_fail(error, ENODATA, "the driver stamped nothing for this operation");
	*stamps = read;
	return 0;
}

void opencl_event_free(struct tare_event *event)
{
	struct opencl_event *own = (struct opencl_event *)event;
	if (!own)
		return;
	if (own->event)
		opencl_device(own->base.device)->cl->clReleaseEvent(own->event);
	if (own->begun)
		opencl_device(own->base.device)->cl->clReleaseEvent(own->begun);
	free(own);
}
