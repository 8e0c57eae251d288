// SPDX-License-Identifier: Apache-2.0
// For test_opencl_threads.c and test_opencl_early.c: a driver that ends the process when it is
// handed a dead event. It has no locks, so that signal handlers and children of forks may call it.
#pragma once
#include "guest/opencl/layer.h"
#include "tests/unit/guest/guest_trace.h"

#include <CL/cl_layer.h>
#include <stdbool.h>
#include <unistd.h>

enum { EVENTS = 4096, QUEUES = 64 };
struct queue {
	_Atomic uint32_t taken, enqueued, done;
	cl_command_queue_properties properties;
};
struct event {
	_Atomic int references;
	struct queue *_Atomic queue;
	_Atomic uint32_t number;
	_Atomic bool done; // before those that were enqueued before it
};
static struct queue queues[QUEUES];
static struct event events[EVENTS];
static _Atomic uint32_t next_event, commands;
static cl_icd_dispatch driver;
static const cl_icd_dispatch *cl; // the layer's
static char device, context, kernel, buffer;
static _Thread_local cl_command_queue drop_queue; // see wait_events
static bool gives_no_event;
static bool release_finishes;      // what a queue has when it is released
static uint32_t thread_at_command; // the driver starts a thread then; 0: never
static uint32_t marked_command;    // when its times are asked for, a record comes between; 0: none
static _Atomic uint32_t asked_in_vain; // for times of what is not complete
static _Atomic bool is_slow;
static _Atomic int inside; // of a call that is slow

static struct event *alive(cl_event handle)
{
	struct event *event = (struct event *)handle;
	if (event < events || event >= events + EVENTS || event->references <= 0) {
		static const char text[] = "the driver was handed a dead event\n";
		(void)!write(STDERR_FILENO, text, sizeof text - 1);
		_exit(70);
	}
	return event;
}

static bool is_complete(const struct event *event)
{
	return event->done || (int32_t)(event->queue->done - event->number) >= 0;
}

static cl_command_queue create_queue(cl_context of, cl_device_id on,
                                     cl_command_queue_properties properties, cl_int *error)
{
	(void)of, (void)on;
	for (size_t i = 0; i < QUEUES; i++) {
		uint32_t free = 0;
		if (!atomic_compare_exchange_strong(&queues[i].taken, &free, 1))
			continue;
		queues[i].properties = properties;
		*error = CL_SUCCESS;
		return (cl_command_queue)&queues[i];
	}
	*error = CL_OUT_OF_RESOURCES;
	return NULL;
}

static cl_int release_queue(cl_command_queue queue)
{
	if (release_finishes)
		((struct queue *)queue)->done = ((struct queue *)queue)->enqueued;
	((struct queue *)queue)->taken = 0;
	return CL_SUCCESS;
}

static cl_int enqueue(cl_command_queue handle, cl_event *event)
{
	struct queue *queue = (struct queue *)handle;
	if (++commands == thread_at_command)
		start_idle_thread();
	uint32_t number = ++queue->enqueued;
	if (event == NULL || gives_no_event)
		return CL_SUCCESS;
	for (;;) {
		struct event *one = &events[next_event++ % EVENTS];
		int none = 0;
		// Taken as dead, so that nobody may ask before it is whole.
		if (!atomic_compare_exchange_strong(&one->references, &none, -1))
			continue;
		one->queue = queue;
		one->number = number;
		one->done = false;
		one->references = 1;
		*event = (cl_event)one;
		return CL_SUCCESS;
	}
}

static cl_int ndrange(cl_command_queue queue, cl_kernel of, cl_uint dimensions,
                      const size_t *offset, const size_t *global, const size_t *local,
                      cl_uint count, const cl_event *waits, cl_event *event)
{
	(void)of, (void)dimensions, (void)offset, (void)global, (void)local, (void)count,
	    (void)waits;
	return enqueue(queue, event);
}

static cl_int finish(cl_command_queue handle)
{
	struct queue *queue = (struct queue *)handle;
	uint32_t to = queue->enqueued, done = queue->done;
	while ((int32_t)(to - done) > 0 && !atomic_compare_exchange_weak(&queue->done, &done, to))
		;
	return CL_SUCCESS;
}

static void complete(struct event *event)
{
	if (event->queue->properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)
		event->done = true;
	else
		finish((cl_command_queue)event->queue);
}

static cl_int write_buffer(cl_command_queue queue, cl_mem memory, cl_bool blocking, size_t offset,
                           size_t bytes, const void *host, cl_uint count, const cl_event *waits,
                           cl_event *event)
{
	(void)memory, (void)blocking, (void)offset, (void)bytes, (void)host, (void)count,
	    (void)waits;
	cl_int result = enqueue(queue, event);
	if (event != NULL)
		complete((struct event *)*event);
	else
		finish(queue);
	return result;
}

static cl_int retain_event(cl_event event)
{
	alive(event)->references++;
	return CL_SUCCESS;
}

static cl_int release_event(cl_event event)
{
	alive(event)->references--;
	return CL_SUCCESS;
}

// With drop_queue, what another thread may do when it sees that the first event is complete is done
// before the call returns: the event's times are taken and the program's reference is given back.
static cl_int wait_events(cl_uint count, const cl_event *list)
{
	for (cl_uint i = 0; i < count; i++)
		complete(alive(list[i]));
	if (drop_queue != NULL) {
		cl_command_queue queue = drop_queue;
		drop_queue = NULL;
		cl->clFinish(queue);
		cl->clReleaseEvent(list[0]);
	}
	return CL_SUCCESS;
}

static cl_int event_info(cl_event handle, cl_event_info name, size_t bytes, void *value,
                         size_t *ret)
{
	struct event *event = alive(handle);
	(void)bytes, (void)ret;
	if (name == CL_EVENT_COMMAND_QUEUE)
		*(cl_command_queue *)value = (cl_command_queue)event->queue;
	else if (name == CL_EVENT_COMMAND_EXECUTION_STATUS)
		*(cl_int *)value = is_complete(event) ? CL_COMPLETE : CL_SUBMITTED;
	else
		*(cl_uint *)value = (cl_uint)event->references;
	return CL_SUCCESS;
}

// As a signal handler may, of what is not OpenCL's.
static void write_mark(uint32_t number)
{
	struct guest_thread *thread = guest_thread();
	union tare_trace_record *record = guest_event(thread);
	if (record == NULL)
		return;
	memset(&record->words[1], 0, sizeof *record - sizeof record->words[0]);
	record->words[1] = number;
	guest_commit(record, tare_trace_head(TARE_TRACE_PHASE, 0, 0, thread->track));
}

static cl_int profiling_info(cl_event handle, cl_profiling_info name, size_t bytes, void *value,
                             size_t *ret)
{
	const struct event *event = alive(handle);
	(void)bytes, (void)ret;
	if (is_slow) {
		inside++;
		usleep(2000);
		inside--;
	}
	if (!is_complete(event)) {
		asked_in_vain++;
		return CL_PROFILING_INFO_NOT_AVAILABLE;
	}
	if (event->number == marked_command && name == CL_PROFILING_COMMAND_START)
		write_mark(event->number);
	*(cl_ulong *)value = 10 + name - CL_PROFILING_COMMAND_QUEUED;
	return CL_SUCCESS;
}

static size_t living_events(void)
{
	size_t living = 0;
	for (size_t i = 0; i < EVENTS; i++)
		living += events[i].references != 0;
	return living;
}

static bool no_event_lives(void)
{
	for (int turn = 0; turn < 5000; turn++) {
		if (living_events() == 0 &&
		    __atomic_load_n(&guest_header->pending, __ATOMIC_RELAXED) == 0)
			return true;
		usleep(1000);
	}
	return false;
}

static bool begin(void)
{
	cl_uint entries = sizeof driver / sizeof(void *), ret;
	driver.clCreateCommandQueue = create_queue;
	driver.clReleaseCommandQueue = release_queue;
	driver.clEnqueueNDRangeKernel = ndrange;
	driver.clEnqueueWriteBuffer = write_buffer;
	driver.clFinish = finish;
	driver.clWaitForEvents = wait_events;
	driver.clRetainEvent = retain_event;
	driver.clReleaseEvent = release_event;
	driver.clGetEventInfo = event_info;
	driver.clGetEventProfilingInfo = profiling_info;
	return clInitLayer(entries, &driver, &ret, &cl) == CL_SUCCESS && cl != &driver;
}
