// SPDX-License-Identifier: Apache-2.0
// For test_opencl_layer.c: a driver that does what the test says, and a look into the trace.
#pragma once
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_0_APIS
#include "tare/trace_format.h"

#include <CL/cl_ext.h>
#include <CL/cl_layer.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

// ---- the driver

struct event {
	_Atomic int references;
	cl_command_queue queue;
	_Atomic cl_int status;
	cl_ulong times[4]; // from CL_PROFILING_COMMAND_QUEUED
};
struct queue {
	cl_command_queue_properties properties;
};
static union {
	cl_icd_dispatch table;
	void *entries[400];
} driver;
static const cl_icd_dispatch *cl; // the layer's
static cl_uint entries, entries_ret;
static char directory[64] = "/tmp/tare-layer-XXXXXX";

static struct queue queues[64];
static size_t queue_count;
static _Atomic int live_events;
static struct event *last_event; // that the driver gave out
static cl_int next_status = CL_COMPLETE, next_result = CL_SUCCESS;
static bool refuses_profiling, was_given_event;
static void *handles[8] = { driver.entries };
static struct event events[8192]; // never used again: the helper thread looks at them too
static size_t event_count;
static cl_device_id device = (cl_device_id)&handles[0];
static cl_context context = (cl_context)&handles[1];
static cl_mem buffer = (cl_mem)&handles[2], image = (cl_mem)&handles[3];
static cl_kernel kernel = (cl_kernel)&handles[4];
static int finished_errno;

static cl_command_queue create_queue(cl_context owner, cl_device_id of,
                                     cl_command_queue_properties properties, cl_int *error)
{
	assert_ptr_equal(owner, context);
	assert_ptr_equal(of, device);
	bool refused = refuses_profiling && properties & CL_QUEUE_PROFILING_ENABLE;
	if (error != NULL)
		*error = refused ? CL_INVALID_QUEUE_PROPERTIES : CL_SUCCESS;
	if (refused)
		return NULL;
	queues[queue_count].properties = properties;
	return (cl_command_queue)&queues[queue_count++];
}

static cl_int queue_info(cl_command_queue queue, cl_command_queue_info name, size_t bytes,
                         void *value, size_t *bytes_ret)
{
	assert_int_equal(name, CL_QUEUE_PROPERTIES);
	if (value != NULL && bytes >= sizeof(cl_command_queue_properties))
		*(cl_command_queue_properties *)value = ((struct queue *)queue)->properties;
	if (bytes_ret != NULL)
		*bytes_ret = sizeof(cl_command_queue_properties);
	return CL_SUCCESS;
}

static cl_int succeed(cl_command_queue queue)
{
	(void)queue;
	return CL_SUCCESS;
}

static cl_int finish(cl_command_queue queue)
{
	(void)queue;
	errno = finished_errno;
	return CL_SUCCESS;
}

static cl_int enqueue(cl_command_queue queue, cl_event *event)
{
	was_given_event = event != NULL;
	if (next_result != CL_SUCCESS || event == NULL)
		return next_result;
	assert_true(event_count < sizeof events / sizeof *events);
	last_event = &events[event_count++];
	last_event->references = 1;
	last_event->queue = queue;
	last_event->status = next_status;
	for (int i = 0; i < 4; i++)
		last_event->times[i] = 10 * ((cl_ulong)i + 1);
	live_events++;
	*event = (cl_event)last_event;
	return CL_SUCCESS;
}

static cl_int ndrange(cl_command_queue queue, cl_kernel which, cl_uint dimensions,
                      const size_t *offset, const size_t *global, const size_t *local,
                      cl_uint count, const cl_event *waits, cl_event *event)
{
	(void)which, (void)dimensions, (void)offset, (void)global, (void)local, (void)count;
	(void)waits;
	return enqueue(queue, event);
}

static cl_int write_buffer(cl_command_queue queue, cl_mem memory, cl_bool blocking, size_t offset,
                           size_t bytes, const void *host, cl_uint count, const cl_event *waits,
                           cl_event *event)
{
	(void)memory, (void)blocking, (void)offset, (void)bytes, (void)host, (void)count,
	    (void)waits;
	return enqueue(queue, event);
}

static cl_int read_rect(cl_command_queue queue, cl_mem memory, cl_bool blocking,
                        const size_t *origin, const size_t *host_origin, const size_t *region,
                        size_t row, size_t slice, size_t host_row, size_t host_slice, void *host,
                        cl_uint count, const cl_event *waits, cl_event *event)
{
	(void)memory, (void)blocking, (void)origin, (void)host_origin, (void)region, (void)row;
	(void)slice, (void)host_row, (void)host_slice, (void)host, (void)count, (void)waits;
	return enqueue(queue, event);
}

static cl_int read_image(cl_command_queue queue, cl_mem memory, cl_bool blocking,
                         const size_t *origin, const size_t *region, size_t row, size_t slice,
                         void *host, cl_uint count, const cl_event *waits, cl_event *event)
{
	(void)memory, (void)blocking, (void)origin, (void)region, (void)row, (void)slice,
	    (void)host;
	(void)count, (void)waits;
	return enqueue(queue, event);
}

static void *map_buffer(cl_command_queue queue, cl_mem memory, cl_bool blocking, cl_map_flags flags,
                        size_t offset, size_t bytes, cl_uint count, const cl_event *waits,
                        cl_event *event, cl_int *error)
{
	static char mapped[8192] __attribute__((aligned(4096)));
	(void)memory, (void)blocking, (void)flags, (void)offset, (void)bytes, (void)count,
	    (void)waits;
	*error = enqueue(queue, event);
	return *error == CL_SUCCESS ? mapped : NULL;
}

static cl_int unmap(cl_command_queue queue, cl_mem memory, void *mapped, cl_uint count,
                    const cl_event *waits, cl_event *event)
{
	(void)memory, (void)mapped, (void)count, (void)waits;
	return enqueue(queue, event);
}

static cl_mem create_buffer(cl_context owner, cl_mem_flags flags, size_t bytes, void *host,
                            cl_int *error)
{
	(void)owner, (void)flags, (void)bytes, (void)host;
	if (error != NULL)
		*error = CL_SUCCESS;
	return buffer;
}

static cl_int image_info(cl_mem memory, cl_image_info name, size_t bytes, void *value,
                         size_t *bytes_ret)
{
	(void)bytes, (void)bytes_ret;
	assert_ptr_equal(memory, image);
	assert_int_equal(name, CL_IMAGE_ELEMENT_SIZE);
	*(size_t *)value = 16;
	return CL_SUCCESS;
}

static cl_int event_info(cl_event handle, cl_event_info name, size_t bytes, void *value,
                         size_t *bytes_ret)
{
	const struct event *event = (const struct event *)handle;
	(void)bytes, (void)bytes_ret;
	if (name == CL_EVENT_COMMAND_QUEUE)
		*(cl_command_queue *)value = event->queue;
	else if (name == CL_EVENT_COMMAND_EXECUTION_STATUS)
		*(cl_int *)value = event->status;
	else
		*(cl_uint *)value = (cl_uint)event->references;
	return CL_SUCCESS;
}

static cl_int profiling_info(cl_event handle, cl_profiling_info name, size_t bytes, void *value,
                             size_t *bytes_ret)
{
	const struct event *event = (const struct event *)handle;
	(void)bytes, (void)bytes_ret;
	if (event->status != CL_COMPLETE)
		return CL_PROFILING_INFO_NOT_AVAILABLE;
	*(cl_ulong *)value = event->times[name - CL_PROFILING_COMMAND_QUEUED];
	return CL_SUCCESS;
}

static cl_int retain_event(cl_event event)
{
	((struct event *)event)->references++;
	return CL_SUCCESS;
}

static cl_int release_event(cl_event handle)
{
	struct event *event = (struct event *)handle;
	int before = event->references--;
	if (before == 1)
		live_events--;
	return before > 0 ? CL_SUCCESS : CL_INVALID_EVENT;
}

static cl_int wait_events(cl_uint count, const cl_event *list)
{
	(void)count, (void)list;
	return CL_SUCCESS;
}

static cl_int release_memory(cl_mem memory)
{
	(void)memory;
	return CL_SUCCESS;
}

static void(CL_CALLBACK *registered)(cl_event, cl_int, void *);
static void *registered_data;
static cl_int set_callback(cl_event event, cl_int type,
                           void(CL_CALLBACK *notify)(cl_event, cl_int, void *), void *data)
{
	(void)event, (void)type;
	registered = notify;
	registered_data = data;
	return CL_SUCCESS;
}

static cl_int memcpy_intel(cl_command_queue queue, cl_bool blocking, void *to, const void *from,
                           size_t bytes, cl_uint count, const cl_event *waits, cl_event *event)
{
	(void)blocking, (void)to, (void)from, (void)bytes, (void)count, (void)waits;
	return enqueue(queue, event);
}

static void *extension(const char *name)
{
	return strcmp(name, "clEnqueueMemcpyINTEL") == 0 ? (void *)memcpy_intel
	       : strcmp(name, "clUnheardOf") == 0        ? (void *)handles
	                                                 : NULL;
}

// ---- the trace

static char *trace;
static size_t trace_bytes;
struct found {
	size_t count;
	const uint64_t *last; // the record
};

static void open_trace(void)
{
	char path[sizeof directory + 300] = "";
	DIR *folder = opendir(directory);
	for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
		if (strstr(entry->d_name, ".trace") != NULL)
			snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
	}
	closedir(folder);
	int file = open(path, O_RDONLY);
	struct stat status;
	assert_int_equal(fstat(file, &status), 0);
	if (trace != NULL)
		munmap(trace, trace_bytes);
	trace_bytes = (size_t)status.st_size;
	trace = mmap(NULL, trace_bytes, PROT_READ, MAP_SHARED, file, 0);
	assert_ptr_not_equal(trace, MAP_FAILED);
	close(file);
}

// Records of a type whose word `word` is `value` (word 0: any).
static struct found find(enum tare_trace_type type, size_t word, uint64_t value)
{
	struct found found = { 0 };
	open_trace();
	for (size_t at = TARE_TRACE_HEADER_BYTES; at + TARE_TRACE_WINDOW_BYTES <= trace_bytes;
	     at += TARE_TRACE_WINDOW_BYTES) {
		const uint64_t *record = (const uint64_t *)(trace + at);
		for (size_t i = 0; i < TARE_TRACE_WINDOW_BYTES / 64 && record[0] != 0;
		     i++, record += 8) {
			if (tare_trace_type(record[0]) != type ||
			    (word != 0 && record[word] != value))
				continue;
			found.count++;
			found.last = record;
		}
	}
	return found;
}

static const struct tare_trace_header *header(void)
{
	open_trace();
	return (const struct tare_trace_header *)trace;
}

// Of the command whose object is `object`, the last one.
static struct tare_trace_command command_of(const void *object, uint8_t *flags)
{
	struct tare_trace_command command;
	struct found found = find(
	    TARE_TRACE_COMMAND, offsetof(struct tare_trace_command, object) / 8, (uintptr_t)object);
	assert_true(found.count != 0);
	memcpy(&command, found.last, sizeof command);
	*flags = tare_trace_record_flags(command.head);
	return command;
}

static uint64_t id_of(struct tare_trace_command command)
{
	return tare_trace_track(command.head) | (uint64_t)command.number << 32;
}

static size_t times_of(struct tare_trace_command command)
{
	return find(TARE_TRACE_TIMES, 1, id_of(command)).count;
}

// ---- what the tests share

static cl_command_queue make_queue(cl_command_queue_properties properties)
{
	cl_int error = 1;
	cl_command_queue queue = cl->clCreateCommandQueue(context, device, properties, &error);
	assert_non_null(queue);
	assert_int_equal(error, CL_SUCCESS);
	return queue;
}

static void launch(cl_command_queue queue, void *which, cl_event *event)
{
	static const size_t global[] = { 64, 8 }, local[] = { 16, 2 };
	assert_int_equal(
	    cl->clEnqueueNDRangeKernel(queue, which, 2, NULL, global, local, 0, NULL, event),
	    CL_SUCCESS);
}

// The helper thread may be harvesting just when the test's own call would.
#define EVENTUALLY(condition)                                                                      \
	do {                                                                                       \
		for (int turn = 0; turn < 5000 && !(condition); turn++) {                          \
			cl->clFinish(queue);                                                       \
			usleep(1000);                                                              \
		}                                                                                  \
		assert_true(condition);                                                            \
	} while (0)

static int setup(void **state)
{
	(void)state;
	next_status = CL_COMPLETE;
	next_result = CL_SUCCESS;
	refuses_profiling = false;
	for (int turn = 0; turn < 5000 && header()->pending != 0; turn++)
		usleep(1000);
	return header()->pending != 0;
}

static void *be_idle(void *argument)
{
	for (;;)
		pause();
	return argument;
}

// As real drivers do, it starts a thread: with a second one the recorder has its helper, too.
static void start_driver_thread(void)
{
	pthread_t thread;
	if (pthread_create(&thread, NULL, be_idle, NULL) != 0)
		abort();
}

static void fill_driver(void)
{
	start_driver_thread();
	cl_icd_dispatch *table = &driver.table;
	table->clCreateCommandQueue = create_queue;
	table->clGetCommandQueueInfo = queue_info;
	table->clFlush = succeed;
	table->clFinish = finish;
	table->clEnqueueNDRangeKernel = ndrange;
	table->clEnqueueWriteBuffer = write_buffer;
	table->clEnqueueReadBufferRect = read_rect;
	table->clEnqueueReadImage = read_image;
	table->clEnqueueMapBuffer = map_buffer;
	table->clEnqueueUnmapMemObject = unmap;
	table->clCreateBuffer = create_buffer;
	table->clRetainMemObject = release_memory;
	table->clReleaseMemObject = release_memory;
	table->clGetImageInfo = image_info;
	table->clGetEventInfo = event_info;
	table->clGetEventProfilingInfo = profiling_info;
	table->clRetainEvent = retain_event;
	table->clWaitForEvents = wait_events;
	table->clReleaseEvent = release_event;
	table->clSetEventCallback = set_callback;
	table->clGetExtensionFunctionAddress = extension;
	for (size_t i = sizeof *table / sizeof(void *); i < 400; i++)
		driver.entries[i] = &driver.entries[i];
}

static void remove_trace(void)
{
	DIR *folder = opendir(directory);
	for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;)
		unlinkat(dirfd(folder), entry->d_name, 0);
	closedir(folder);
	rmdir(directory);
}
