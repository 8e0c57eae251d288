// SPDX-License-Identifier: Apache-2.0
// OpenCL: markers around a span, or barriers where the queue keeps no order, each with an event.
// What a marker waits for is done when the marker ends, so its END is what is taken of it.
#include "time/internal.h"

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define FUNCTIONS(X)                                                                               \
	X(clGetCommandQueueInfo)                                                                   \
	X(clGetDeviceInfo)                                                                         \
	X(clRetainCommandQueue)                                                                    \
	X(clReleaseCommandQueue)                                                                   \
	X(clEnqueueMarkerWithWaitList)                                                             \
	X(clEnqueueBarrierWithWaitList)                                                            \
	X(clFlush)                                                                                 \
	X(clGetEventInfo)                                                                          \
	X(clGetEventProfilingInfo)                                                                 \
	X(clReleaseEvent)

struct functions {
#define X(function) __typeof__(function) *function;
	FUNCTIONS(X)
#undef X
};

static const struct tare_time_symbol symbols[] = {
#define X(function) { #function, offsetof(struct functions, function), false },
	FUNCTIONS(X)
#undef X
};

enum { FLOOR, START, END, MOMENTS };

struct queue {
	struct functions cl;
	cl_command_queue native;
	struct tare_clock_rate rate;
	bool profiling, out_of_order;
	char device[TARE_TIME_DEVICE];
	cl_event events[][MOMENTS];
};

static int refused(struct tare_time_error *error, const char *call, cl_int result)
{
	return tare_time_fail_native(error, EIO, call, result,
	                             "OpenCL refused a span's mark in the queue");
}

static int mark(struct queue *queue, cl_event *event, struct tare_time_error *error)
{
	cl_int result;

	if (queue->out_of_order) {
		result = queue->cl.clEnqueueBarrierWithWaitList(queue->native, 0, NULL, event);
		return result == CL_SUCCESS
		           ? 0
		           : refused(error, "clEnqueueBarrierWithWaitList", result);
	}
	result = queue->cl.clEnqueueMarkerWithWaitList(queue->native, 0, NULL, event);
	return result == CL_SUCCESS ? 0 : refused(error, "clEnqueueMarkerWithWaitList", result);
}

static void opencl_release(void *state, uint32_t slot)
{
	struct queue *queue = state;

	for (int i = 0; i < MOMENTS; i++) {
		if (queue->events[slot][i])
			queue->cl.clReleaseEvent(queue->events[slot][i]);
		queue->events[slot][i] = NULL;
	}
}

static int opencl_begin(void *state, uint32_t slot, bool with_floor, struct tare_time_error *error)
{
	struct queue *queue = state;
	int status = 0;

	// Without times there is nothing to be had from events but the end.
	if (!queue->profiling)
		return 0;
	if (with_floor)
		status = mark(queue, &queue->events[slot][FLOOR], error);
	status = status ?: mark(queue, &queue->events[slot][START], error);
	if (status < 0)
		opencl_release(state, slot);
	return status;
}

static int opencl_end(void *state, uint32_t slot, struct tare_time_error *error)
{
	struct queue *queue = state;

	return queue->profiling ? mark(queue, &queue->events[slot][END], error) : 0;
}

static void opencl_flush(void *state)
{
	struct queue *queue = state;

	queue->cl.clFlush(queue->native);
}

static int no_profiling(struct tare_time_why *why)
{
	return tare_time_absent(why, TARE_TIME_NO_PROFILING, 0,
	                        "the queue was created without CL_QUEUE_PROFILING_ENABLE");
}

static int failed(struct tare_time_why *why, cl_int native)
{
	return tare_time_absent(why, TARE_TIME_COMMAND_FAILED, native, "a command failed");
}

static int opencl_event_check(const void *event, struct tare_time_error *error)
{
	return tare_time_check_cl(event, "event", error);
}

static int opencl_event_done(void *state, void *event, struct tare_time_why *why)
{
	struct queue *queue = state;
	cl_int status = CL_QUEUED;
	cl_int result = queue->cl.clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS,
	                                         sizeof status, &status, NULL);

	if (result != CL_SUCCESS)
		return failed(why, result);
	if (status < 0)
		return failed(why, status);
	return status == CL_COMPLETE;
}

static int opencl_done(void *state, uint32_t slot, struct tare_time_why *why)
{
	struct queue *queue = state;

	return queue->profiling ? opencl_event_done(state, queue->events[slot][END], why)
	                        : no_profiling(why);
}

static int moment(struct queue *queue, cl_event event, cl_profiling_info which, uint64_t *ticks,
                  struct tare_time_why *why)
{
	cl_ulong told = 0;
	cl_int result = queue->cl.clGetEventProfilingInfo(event, which, sizeof told, &told, NULL);

	*ticks = told;
	if (result == CL_PROFILING_INFO_NOT_AVAILABLE || (result == CL_SUCCESS && told == 0))
		return tare_time_absent(why, TARE_TIME_NO_STAMPS, result,
		                        "the driver has no times of this event");
	return result == CL_SUCCESS ? 0 : failed(why, result);
}

static int opencl_stamps(void *state, uint32_t slot, bool with_floor,
                         struct tare_time_stamps *stamps, struct tare_time_why *why)
{
	struct queue *queue = state;
	cl_event *events = queue->events[slot];
	int status = moment(queue, events[START], CL_PROFILING_COMMAND_END, &stamps->start, why);

	status = status ?: moment(queue, events[END], CL_PROFILING_COMMAND_END, &stamps->end, why);
	if (status == 0 && with_floor)
		status =
		    moment(queue, events[FLOOR], CL_PROFILING_COMMAND_END, &stamps->floor, why);
	stamps->counted = true;
	stamps->has_floor = with_floor;
	stamps->rate = queue->rate;
	return status;
}

static int opencl_event_stamps(void *state, void *event, struct tare_time_stamps *stamps,
                               struct tare_time_why *why)
{
	struct queue *queue = state;
	int status = moment(queue, event, CL_PROFILING_COMMAND_START, &stamps->start, why);

	status = status ?: moment(queue, event, CL_PROFILING_COMMAND_END, &stamps->end, why);
	stamps->counted = true;
	stamps->rate = queue->rate;
	return status;
}

static void opencl_close(void *state)
{
	struct queue *queue = state;

	queue->cl.clReleaseCommandQueue(queue->native);
	free(queue);
}

static const char *opencl_device(void *state)
{
	struct queue *queue = state;

	return queue->device;
}

static const struct tare_time_api opencl = {
	.begin = opencl_begin,
	.end = opencl_end,
	.flush = opencl_flush,
	.done = opencl_done,
	.stamps = opencl_stamps,
	.event_check = opencl_event_check,
	.event_done = opencl_event_done,
	.event_stamps = opencl_event_stamps,
	.release = opencl_release,
	.close = opencl_close,
	.device = opencl_device,
};

// A name that is longer than the room is cut.
static void name_device(struct queue *queue, cl_device_id device)
{
	char name[1024] = "";

	if (queue->cl.clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof name, name, NULL) !=
	    CL_SUCCESS)
		name[0] = '\0';
	name[sizeof name - 1] = '\0';
	snprintf(queue->device, sizeof queue->device, "%.*s", TARE_TIME_DEVICE - 1, name);
}

// What the queue is; its device's clock counts nanoseconds in steps of its own.
static int ask_queue(struct queue *queue, struct tare_time_error *error)
{
	cl_command_queue_properties properties = 0;
	cl_device_id device = NULL;
	size_t step_ns = 0;
	cl_int result = queue->cl.clGetCommandQueueInfo(queue->native, CL_QUEUE_PROPERTIES,
	                                                sizeof properties, &properties, NULL);

	if (result == CL_SUCCESS)
		result = queue->cl.clGetCommandQueueInfo(queue->native, CL_QUEUE_DEVICE,
		                                         sizeof(cl_device_id), &device, NULL);
	if (result != CL_SUCCESS)
		return tare_time_fail_native(error, EINVAL, "clGetCommandQueueInfo", result,
		                             "this is no command queue");
	if (queue->cl.clGetDeviceInfo(device, CL_DEVICE_PROFILING_TIMER_RESOLUTION, sizeof step_ns,
	                              &step_ns, NULL) != CL_SUCCESS)
		step_ns = 1;
	name_device(queue, device);
	queue->profiling = properties & CL_QUEUE_PROFILING_ENABLE;
	queue->out_of_order = properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
	queue->rate = (struct tare_clock_rate){ 1000000000, 1, 64, step_ns ? step_ns : 1 };
	return 0;
}

int tare_time_open_opencl(struct tare_timer **timer, void *native,
                          const struct tare_time_options *options, struct tare_time_error *error)
{
	struct queue *queue;
	uint32_t spans;
	int status = tare_time_start(timer, options, false, &spans, error);

	if (status < 0)
		return status;
	if (!native)
		return tare_time_fail(error, EINVAL, "the command queue is NULL");
	status = tare_time_check_cl(native, "command queue", error);
	if (status < 0)
		return status;
	queue = calloc(1, sizeof *queue + spans * sizeof *queue->events);
	if (!queue)
		return tare_time_fail(error, ENOMEM, "out of memory");
	queue->native = native;
	status = tare_time_find("libOpenCL.so.1", "libOpenCL.so", symbols,
	                        sizeof symbols / sizeof *symbols, &queue->cl, error);
	status = status ?: ask_queue(queue, error);
	status = status ?: tare_time_make(timer, &opencl, queue, spans, error);
	if (status < 0) {
		free(queue);
		return status;
	}
	queue->cl.clRetainCommandQueue(native);
	return 0;
}
