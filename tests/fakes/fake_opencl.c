// SPDX-License-Identifier: Apache-2.0
// An OpenCL that plays faults: one GPU of NVIDIA's kind on which everything is done inside the
// enqueue, in host memory. TARE_FAKE_OPENCL lists what goes wrong, separated by commas; a changed
// list counts enqueues from 1 again:
//   no-platform            the loader finds no driver
//   no-device              a driver without devices
//   no-profiling           the device has no profiling
//   refuses-profiling      it says it has, and refuses the queue
//   no-stamps              events have no profiling information
//   plain                  none of NVIDIA's extensions
//   version=1.1            of platform and device
//   coarse                 the profiling timer steps by a millisecond
//   paired-timers          clGetDeviceAndHostTimer works
//   allocation-limit=N     buffers above N bytes fail
//   lazy-limit=N           buffers above N bytes fail when they are first used
//   no-user-events         clCreateUserEvent fails
//   enqueue-fails=N        enqueue N fails with CL_OUT_OF_RESOURCES
//   enqueue-crashes=N      enqueue N crashes
//   event-fails=N          the event of enqueue N ends with status CL_OUT_OF_RESOURCES
//   event-lost=N           the same with CL_DEVICE_NOT_AVAILABLE, and all that follow
//   event-hangs=N          the event of enqueue N never ends, nor does what follows in its queue
//   release-hangs          once a command was lost or hangs, the last release of a queue, memory
//                          or context ends the process, because it would not return
//   context-dies=N         enqueue N and all that follow fail with CL_INVALID_COMMAND_QUEUE
//   illegal-access=N       the event of enqueue N ends with NVIDIA's -9999
//   no-compiler            clBuildProgram says that there is none
//   no-names               neither the platform's name nor the driver's version is told
//   build-fails            clBuildProgram fails and leaves a log
//   build-exits            clBuildProgram ends the program by exit()
//   build-crashes          clBuildProgram crashes
//   late-callback          the callback of an event comes when fake_opencl_call_late is called
//   local-untold           0 bytes of local memory for every kernel
//   no-parameters          nothing is told about a kernel's parameters
#include "fake_opencl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const void *const table[1];
static struct object *objects;

static struct _cl_platform_id platform = { { .table = table, .references = 1 } };
static struct _cl_device_id device = { { .table = table, .references = 1 } };

// ---- the script

static struct {
	char text[256];
	uint64_t enqueues;
} script;

static const char *script_text(void)
{
	const char *text = getenv("TARE_FAKE_OPENCL");
	if (!text)
		text = "";
	if (strcmp(text, script.text) != 0) {
		snprintf(script.text, sizeof script.text, "%s", text);
		script.enqueues = 0;
	}
	return script.text;
}

bool fake_told(const char *word, const char **value)
{
	size_t length = strlen(word);
	const char *next;
	for (const char *at = script_text(); at && *at; at = next ? next + 1 : NULL) {
		next = strchr(at, ',');
		if (strncmp(at, word, length) == 0 && strchr("=,", at[length])) {
			if (value)
				*value = at + length + 1;
			return true;
		}
	}
	return false;
}

static uint64_t told_number(const char *word)
{
	const char *value;
	return fake_told(word, &value) ? strtoull(value, NULL, 10) : 0;
}

// ---- objects

void *fake_create(size_t bytes)
{
	struct object *object = calloc(1, bytes);
	object->table = table;
	object->references = 1;
	object->after = objects;
	if (objects)
		objects->before = object;
	objects = object;
	return object;
}

static bool gone; // the device: a command was lost or hangs

static _Noreturn void would_hang(const char *call)
{
	fprintf(stderr, "fake OpenCL: %s would wait for ever\n", call);
	abort();
}

// The last reference of what the device may still use.
static void release_waits(const void *pointer)
{
	if (gone && ((const struct object *)pointer)->references == 1 &&
	    fake_told("release-hangs", NULL))
		would_hang("a release");
}

cl_int fake_release(void *pointer)
{
	struct object *object = pointer;
	if (--object->references > 0)
		return CL_SUCCESS;
	if (object->before)
		object->before->after = object->after;
	else
		objects = object->after;
	if (object->after)
		object->after->before = object->before;
	free(object);
	return CL_SUCCESS;
}

cl_int fake_answer(const void *value, size_t bytes, size_t room, void *to, size_t *size)
{
	if (size)
		*size = bytes;
	if (!to)
		return CL_SUCCESS;
	if (room < bytes)
		return CL_INVALID_VALUE;
	memcpy(to, value, bytes);
	return CL_SUCCESS;
}

static cl_ulong now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC_RAW, &time);
	return (cl_ulong)time.tv_sec * 1000000000 + (cl_ulong)time.tv_nsec;
}

// ---- platform and device

cl_int clGetPlatformIDs(cl_uint room, cl_platform_id *to, cl_uint *count)
{
	if (fake_told("no-platform", NULL))
		return CL_PLATFORM_NOT_FOUND_KHR;
	if (count)
		*count = 1;
	if (to && room)
		*to = &platform;
	return CL_SUCCESS;
}

static const char *version(void)
{
	static char text[32];
	const char *number = "3.0";
	fake_told("version", &number);
	snprintf(text, sizeof text, "OpenCL %.3s fake", number);
	return text;
}

cl_int clGetPlatformInfo(cl_platform_id asked, cl_platform_info name, size_t room, void *to,
                         size_t *size)
{
	cl_ulong resolution = fake_told("paired-timers", NULL) ? 1 : 0;
	if (name == CL_PLATFORM_NAME && fake_told("no-names", NULL))
		return CL_OUT_OF_HOST_MEMORY;
	const char *text = name == CL_PLATFORM_VERSION ? version() : "Fake platform";
	if (name == CL_PLATFORM_HOST_TIMER_RESOLUTION)
		return fake_answer(&resolution, sizeof resolution, room, to, size);
	return fake_answer(text, strlen(text) + 1, room, to, size);
}

cl_int clGetDeviceIDs(cl_platform_id asked, cl_device_type type, cl_uint room, cl_device_id *to,
                      cl_uint *count)
{
	if (fake_told("no-device", NULL))
		return CL_DEVICE_NOT_FOUND;
	if (count)
		*count = 1;
	if (to && room)
		*to = &device;
	return CL_SUCCESS;
}

static cl_int text_info(cl_device_info name, size_t room, void *to, size_t *size)
{
	if (name == CL_DRIVER_VERSION && fake_told("no-names", NULL))
		return CL_OUT_OF_HOST_MEMORY;
	const char *text =
	    name == CL_DEVICE_NAME      ? "Fake GPU"
	    : name == CL_DEVICE_VENDOR  ? "Nobody"
	    : name == CL_DRIVER_VERSION ? "1.0"
	    : name == CL_DEVICE_VERSION ? version()
	    : name == CL_DEVICE_EXTENSIONS
	        ? (fake_told("plain", NULL)
	               ? "cl_khr_device_uuids"
	               : "cl_khr_device_uuid cl_nv_device_attribute_query cl_khr_fp64")
	        : NULL;
	return text ? fake_answer(text, strlen(text) + 1, room, to, size) : CL_INVALID_VALUE;
}

cl_int clGetDeviceInfo(cl_device_id asked, cl_device_info name, size_t room, void *to, size_t *size)
{
	static const struct {
		cl_device_info name;
		size_t bytes;
		cl_ulong value;
	} numbers[] = {
		{ CL_DEVICE_TYPE, 8, CL_DEVICE_TYPE_GPU },
		{ CL_DEVICE_MAX_COMPUTE_UNITS, 4, 132 },
		{ CL_DEVICE_MAX_WORK_GROUP_SIZE, 8, 1024 },
		{ CL_DEVICE_MAX_CLOCK_FREQUENCY, 4, 1980 },
		{ CL_DEVICE_GLOBAL_MEM_SIZE, 8, 1 << 30 },
		{ CL_DEVICE_MAX_MEM_ALLOC_SIZE, 8, 1 << 28 },
		{ CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, 8, 0 },
		{ CL_DEVICE_LOCAL_MEM_SIZE, 8, 49152 },
		{ CL_DEVICE_HOST_UNIFIED_MEMORY, 4, 0 },
		{ CL_DEVICE_PROFILING_TIMER_RESOLUTION, 8, 1000 },
		{ CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV, 4, 9 },
		{ CL_DEVICE_COMPUTE_CAPABILITY_MINOR_NV, 4, 0 },
		{ CL_DEVICE_WARP_SIZE_NV, 4, 32 },
		{ 0x4007, 4, 3 },          // asynchronous engines
		{ 0x4008, 4, 0x3b },       // PCI bus,
		{ 0x4009, 4, 2 << 3 | 1 }, // slot,
		{ 0x400A, 4, 0x10 },       // domain
	};
	cl_ulong properties = fake_told("no-profiling", NULL) ? 0 : CL_QUEUE_PROFILING_ENABLE;

	cl_ulong millisecond = 1000000;

	if (name == CL_DEVICE_PROFILING_TIMER_RESOLUTION && fake_told("coarse", NULL))
		return fake_answer(&millisecond, sizeof millisecond, room, to, size);
	if (name == CL_DEVICE_QUEUE_PROPERTIES)
		return fake_answer(&properties, sizeof properties, room, to, size);
	if (name == CL_DEVICE_UUID_KHR)
		return fake_answer(
		    "\x01\x23\x45\x67\x89\xab\xcd\xef\x00\x11\x22\x33\x44\x55\x66\x77", 16, room,
		    to, size);
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		if (numbers[i].name == name)
			return fake_answer(&numbers[i].value, numbers[i].bytes, room, to, size);
	return text_info(name, room, to, size);
}

cl_int clGetDeviceAndHostTimer(cl_device_id asked, cl_ulong *device_ns, cl_ulong *host_ns)
{
	*device_ns = now() + 1000000000; // another origin than the host's
	*host_ns = 7;
	return CL_SUCCESS;
}

cl_context clCreateContext(const cl_context_properties *properties, cl_uint count,
                           const cl_device_id *devices,
                           void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *),
                           void *data, cl_int *code)
{
	*code = CL_SUCCESS;
	gone = false;
	return fake_create(sizeof(struct _cl_context));
}

cl_int clReleaseContext(cl_context context)
{
	release_waits(context);
	return fake_release(context);
}

// ---- queues

cl_command_queue clCreateCommandQueue(cl_context context, cl_device_id on,
                                      cl_command_queue_properties properties, cl_int *code)
{
	if (properties & CL_QUEUE_PROFILING_ENABLE &&
	    (fake_told("refuses-profiling", NULL) || fake_told("no-profiling", NULL))) {
		*code = CL_INVALID_QUEUE_PROPERTIES;
		return NULL;
	}
	cl_command_queue queue = fake_create(sizeof *queue);
	queue->context = context;
	queue->properties = properties;
	*code = CL_SUCCESS;
	return queue;
}

cl_command_queue clCreateCommandQueueWithProperties(cl_context context, cl_device_id on,
                                                    const cl_queue_properties *properties,
                                                    cl_int *code)
{
	return clCreateCommandQueue(context, on, properties ? properties[1] : 0, code);
}

cl_int clRetainCommandQueue(cl_command_queue queue)
{
	queue->object.references++;
	return CL_SUCCESS;
}

cl_int clReleaseCommandQueue(cl_command_queue queue)
{
	release_waits(queue);
	return fake_release(queue);
}

cl_int clGetCommandQueueInfo(cl_command_queue queue, cl_command_queue_info name, size_t room,
                             void *to, size_t *size)
{
	cl_device_id own = &device;
	switch (name) {
	case CL_QUEUE_DEVICE:
		return fake_answer(&own, sizeof(cl_device_id), room, to, size);
	case CL_QUEUE_CONTEXT:
		return fake_answer(&queue->context, sizeof(cl_context), room, to, size);
	case CL_QUEUE_PROPERTIES:
		return fake_answer(&queue->properties, sizeof queue->properties, room, to, size);
	}
	return CL_INVALID_VALUE;
}

cl_int clFlush(cl_command_queue queue)
{
	return CL_SUCCESS;
}

cl_int clFinish(cl_command_queue queue)
{
	if (queue->stuck)
		would_hang("clFinish");
	return CL_SUCCESS;
}

// ---- events

// For tests, by dlsym: how many events commands were asked for.
int fake_opencl_events(void);
static int events_made;

int fake_opencl_events(void)
{
	return events_made;
}

// Every enqueue comes here first. Whether the command is to be carried out; if not, *code says
// whether the call failed (the command may instead have been accepted and hang or fail later).
static bool enqueue(cl_command_queue queue, cl_event *event, cl_int *code)
{
	script_text();
	uint64_t number = ++script.enqueues;
	cl_int status = CL_COMPLETE;

	*code = CL_SUCCESS;
	if (told_number("enqueue-crashes") == number)
		abort();
	if (told_number("enqueue-fails") == number) {
		*code = CL_OUT_OF_RESOURCES;
		return false;
	}
	if (told_number("context-dies") && number >= told_number("context-dies")) {
		*code = CL_INVALID_COMMAND_QUEUE;
		return false;
	}
	if (told_number("illegal-access") == number)
		status = -9999;
	if (told_number("event-fails") == number)
		status = CL_OUT_OF_RESOURCES;
	if (told_number("event-lost") && number >= told_number("event-lost"))
		status = CL_DEVICE_NOT_AVAILABLE;
	gone |= status == CL_DEVICE_NOT_AVAILABLE || told_number("event-hangs") == number;
	queue->stuck |= told_number("event-hangs") == number;
	if (queue->stuck)
		status = CL_SUBMITTED;
	if (event) {
		events_made++;
		*event = fake_create(sizeof **event);
		(*event)->queue = queue;
		(*event)->status = status;
		(*event)->stamp = now();
	}
	return status == CL_COMPLETE;
}

cl_event clCreateUserEvent(cl_context context, cl_int *code)
{
	if (fake_told("no-user-events", NULL)) {
		*code = CL_INVALID_OPERATION;
		return NULL;
	}
	cl_event event = fake_create(sizeof *event);
	event->status = CL_SUBMITTED;
	*code = CL_SUCCESS;
	return event;
}

cl_int clSetUserEventStatus(cl_event event, cl_int status)
{
	event->status = status;
	return CL_SUCCESS;
}

cl_int clReleaseEvent(cl_event event)
{
	return fake_release(event);
}

cl_int clWaitForEvents(cl_uint count, const cl_event *events)
{
	if (events[0]->status > CL_COMPLETE)
		would_hang("clWaitForEvents");
	return events[0]->status < 0 ? CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST : CL_SUCCESS;
}

cl_int clGetEventInfo(cl_event event, cl_event_info name, size_t room, void *to, size_t *size)
{
	if (name == CL_EVENT_COMMAND_QUEUE)
		return fake_answer(&event->queue, sizeof(cl_command_queue), room, to, size);
	return fake_answer(&event->status, sizeof event->status, room, to, size);
}

cl_int clGetEventProfilingInfo(cl_event event, cl_profiling_info name, size_t room, void *to,
                               size_t *size)
{
	if (fake_told("no-stamps", NULL) || !(event->queue->properties & CL_QUEUE_PROFILING_ENABLE))
		return CL_PROFILING_INFO_NOT_AVAILABLE;
	return fake_answer(&event->stamp, sizeof event->stamp, room, to, size);
}

static struct {
	void(CL_CALLBACK *notify)(cl_event, cl_int, void *);
	void *data;
} late;

// For tests, by dlsym: makes the callback that was kept back.
void fake_opencl_call_late(void);
void fake_opencl_call_late(void)
{
	late.notify(NULL, CL_COMPLETE, late.data);
}

cl_int clSetEventCallback(cl_event event, cl_int type,
                          void(CL_CALLBACK *notify)(cl_event, cl_int, void *), void *data)
{
	if (fake_told("late-callback", NULL)) {
		late.notify = notify;
		late.data = data;
		return CL_SUCCESS;
	}
	notify(event, event->status, data);
	return CL_SUCCESS;
}

// ---- memory

cl_mem clCreateBuffer(cl_context context, cl_mem_flags flags, size_t bytes, void *host,
                      cl_int *code)
{
	uint64_t limit = told_number("allocation-limit");
	if (limit && bytes > limit) {
		*code = CL_MEM_OBJECT_ALLOCATION_FAILURE;
		return NULL;
	}
	cl_mem memory = fake_create(sizeof *memory);
	memory->owned = !(flags & CL_MEM_USE_HOST_PTR);
	memory->data = memory->owned ? calloc(1, bytes) : host;
	memory->bytes = bytes;
	*code = CL_SUCCESS;
	return memory;
}

cl_mem clCreateSubBuffer(cl_mem memory, cl_mem_flags flags, cl_buffer_create_type type,
                         const void *info, cl_int *code)
{
	*code = CL_MISALIGNED_SUB_BUFFER_OFFSET;
	return NULL;
}

cl_int clReleaseMemObject(cl_mem memory)
{
	release_waits(memory);
	if (memory->object.references == 1 && memory->owned)
		free(memory->data);
	return fake_release(memory);
}

cl_int clEnqueueReadBuffer(cl_command_queue queue, cl_mem memory, cl_bool blocking, size_t offset,
                           size_t bytes, void *to, cl_uint waits, const cl_event *list,
                           cl_event *event)
{
	cl_int code;
	if (enqueue(queue, event, &code))
		memcpy(to, memory->data + offset, bytes);
	return code;
}

cl_int clEnqueueWriteBuffer(cl_command_queue queue, cl_mem memory, cl_bool blocking, size_t offset,
                            size_t bytes, const void *from, cl_uint waits, const cl_event *list,
                            cl_event *event)
{
	cl_int code;
	if (enqueue(queue, event, &code))
		memcpy(memory->data + offset, from, bytes);
	return code;
}

cl_int clEnqueueCopyBuffer(cl_command_queue queue, cl_mem from, cl_mem to, size_t from_offset,
                           size_t to_offset, size_t bytes, cl_uint waits, const cl_event *list,
                           cl_event *event)
{
	cl_int code;
	if (enqueue(queue, event, &code))
		memmove(to->data + to_offset, from->data + from_offset, bytes);
	return code;
}

void *clEnqueueMapBuffer(cl_command_queue queue, cl_mem memory, cl_bool blocking,
                         cl_map_flags flags, size_t offset, size_t bytes, cl_uint waits,
                         const cl_event *list, cl_event *event, cl_int *code)
{
	enqueue(queue, event, code);
	return *code == CL_SUCCESS ? memory->data + offset : NULL;
}

cl_int clEnqueueMigrateMemObjects(cl_command_queue queue, cl_uint count, const cl_mem *memories,
                                  cl_mem_migration_flags flags, cl_uint waits, const cl_event *list,
                                  cl_event *event)
{
	cl_int code;
	uint64_t limit = told_number("lazy-limit");
	enqueue(queue, event, &code);
	if (code == CL_SUCCESS && limit && memories[0]->bytes > limit && event)
		(*event)->status = CL_MEM_OBJECT_ALLOCATION_FAILURE;
	return code;
}

// Commands that have nothing to do here but to be counted.
#define COUNTED(name, ...)                                                                         \
	cl_int name(cl_command_queue queue, __VA_ARGS__, cl_uint waits, const cl_event *list,      \
	            cl_event *event)                                                               \
	{                                                                                          \
		cl_int code;                                                                       \
		enqueue(queue, event, &code);                                                      \
		return code;                                                                       \
	}
COUNTED(clEnqueueReadBufferRect, cl_mem memory, cl_bool blocking, const size_t *a, const size_t *b,
        const size_t *region, size_t c, size_t d, size_t e, size_t f, void *to)
COUNTED(clEnqueueWriteBufferRect, cl_mem memory, cl_bool blocking, const size_t *a, const size_t *b,
        const size_t *region, size_t c, size_t d, size_t e, size_t f, const void *from)
COUNTED(clEnqueueCopyBufferRect, cl_mem from, cl_mem to, const size_t *a, const size_t *b,
        const size_t *region, size_t c, size_t d, size_t e, size_t f)
COUNTED(clEnqueueFillBuffer, cl_mem memory, const void *pattern, size_t size, size_t offset,
        size_t bytes)
COUNTED(clEnqueueUnmapMemObject, cl_mem memory, void *mapped)
COUNTED(clEnqueueNDRangeKernel, cl_kernel kernel, cl_uint dimensions, const size_t *offset,
        const size_t *global, const size_t *local)

cl_int clEnqueueMarkerWithWaitList(cl_command_queue queue, cl_uint waits, const cl_event *list,
                                   cl_event *event)
{
	cl_int code;
	enqueue(queue, event, &code);
	return code;
}

cl_int clEnqueueBarrierWithWaitList(cl_command_queue queue, cl_uint waits, const cl_event *list,
                                    cl_event *event)
{
	return clEnqueueMarkerWithWaitList(queue, waits, list, event);
}
