// SPDX-License-Identifier: Apache-2.0
// A driver that is slow on purpose: what of it is, the case says.
#pragma once
#include "layer_rig.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <time.h>

#define SLOW_NS 20000
#define LAUNCHES 4000
#define MANY 200000 // of which one in 1,024 is a number with a narrow spread

static bool slow_profiling, slow_writes, slow_release, slow_events, slow_launches, fails;
static size_t made_queues, gone_queues;
static const char *which_case;

static void take(int64_t ns)
{
	struct timespec from, now;
	clock_gettime(CLOCK_MONOTONIC, &from);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while ((now.tv_sec - from.tv_sec) * 1000000000 + now.tv_nsec - from.tv_nsec < ns);
}

static atomic_bool has_worker;
static sem_t handed_over, executed;

static void *execute(void *nothing)
{
	while (sem_wait(&handed_over), has_worker) {
		struct timespec from, now;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
		do
			clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
		while ((now.tv_sec - from.tv_sec) * 1000000000 + now.tv_nsec - from.tv_nsec <
		       SLOW_NS);
		sem_post(&executed);
	}
	return nothing;
}

// Events are given from a ring: those that are long gone are used again.
static cl_int enqueue_slowly(cl_command_queue queue, cl_event *event)
{
	if (event_count == sizeof events / sizeof *events)
		event_count = 0;
	if (slow_profiling && ((struct queue *)queue)->properties & CL_QUEUE_PROFILING_ENABLE)
		take(SLOW_NS);
	if (has_worker) {
		sem_post(&handed_over);
		while (sem_wait(&executed) != 0)
			;
	}
	if (slow_events)
		take(event != NULL ? SLOW_NS : SLOW_NS / 10);
	if (slow_launches)
		take(12 * SLOW_NS);
	return enqueue(queue, event);
}

static cl_int write_slowly(cl_command_queue queue, cl_mem memory, cl_bool blocking, size_t offset,
                           size_t bytes, const void *host, cl_uint count, const cl_event *waits,
                           cl_event *event)
{
	if (slow_writes && ((struct queue *)queue)->properties & CL_QUEUE_PROFILING_ENABLE)
		take(SLOW_NS);
	return write_buffer(queue, memory, blocking, offset, bytes, host, count, waits, event);
}

static cl_int fill(cl_command_queue queue, cl_mem memory, const void *pattern, size_t pattern_bytes,
                   size_t offset, size_t bytes, cl_uint count, const cl_event *waits,
                   cl_event *event)
{
	(void)memory, (void)pattern, (void)pattern_bytes, (void)offset, (void)bytes, (void)count,
	    (void)waits;
	return fails ? CL_OUT_OF_RESOURCES : enqueue_slowly(queue, event);
}

static cl_int launch_slowly(cl_command_queue queue, cl_kernel of, cl_uint dimensions,
                            const size_t *offset, const size_t *global, const size_t *local,
                            cl_uint count, const cl_event *waits, cl_event *event)
{
	(void)of, (void)dimensions, (void)offset, (void)global, (void)local, (void)count,
	    (void)waits;
	return enqueue_slowly(queue, event);
}

static cl_int release_slowly(cl_event event)
{
	if (slow_release)
		take(SLOW_NS);
	return release_event(event);
}

static cl_command_queue make(cl_context owner, cl_device_id of,
                             cl_command_queue_properties properties, cl_int *error)
{
	made_queues++;
	return create_queue(owner, of, properties, error);
}

static cl_int let_go(cl_command_queue queue)
{
	(void)queue;
	gone_queues++;
	return CL_SUCCESS;
}

static cl_context
make_context(const cl_context_properties *properties, cl_uint count, const cl_device_id *list,
             void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *), void *data,
             cl_int *error)
{
	(void)properties, (void)count, (void)list, (void)notify, (void)data;
	*error = CL_SUCCESS;
	return context;
}

static cl_int context_info(cl_context of, cl_context_info name, size_t bytes, void *value,
                           size_t *bytes_ret)
{
	(void)of, (void)bytes;
	assert_int_equal(name, CL_CONTEXT_DEVICES);
	*(cl_device_id *)value = device;
	*bytes_ret = sizeof device;
	return CL_SUCCESS;
}

static void fill_slow_driver(void)
{
	cl_icd_dispatch *table = &driver.table;
	fill_driver();
	table->clCreateContext = make_context;
	table->clGetContextInfo = context_info;
	table->clCreateCommandQueue = make;
	table->clReleaseCommandQueue = let_go;
	table->clEnqueueFillBuffer = fill;
	table->clEnqueueNDRangeKernel = launch_slowly;
	table->clEnqueueWriteBuffer = write_slowly;
	table->clReleaseEvent = release_slowly;
	slow_profiling = strcmp(which_case, "profiling") == 0;
	slow_writes = strcmp(which_case, "transfers") == 0;
	slow_release = strcmp(which_case, "release") == 0;
	slow_events = strcmp(which_case, "share") == 0;
	fails = strcmp(which_case, "refuses") == 0;
}

static void make_first_context(void)
{
	cl_int error = 1;
	errno = EDOM;
	assert_ptr_equal(cl->clCreateContext(NULL, 1, &device, NULL, NULL, &error), context);
	assert_int_equal(errno, EDOM);
	assert_int_equal(error, CL_SUCCESS);
}
