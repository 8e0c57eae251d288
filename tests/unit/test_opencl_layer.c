// SPDX-License-Identifier: Apache-2.0
// The OpenCL layer between this program and a driver that is played here, so that events complete
// when the test says so and every answer of the driver's can be wrong.
//   test_opencl_layer LAYER.so ENTRIES    ENTRIES: of the loader's table, as an older or newer one
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
#include <setjmp.h>
#include <stdarg.h>
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
	int references;
	cl_command_queue queue;
	cl_int status;
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
static int live_events;
static struct event *last_event;   // that the driver gave out
static cl_int next_status = CL_COMPLETE, next_result = CL_SUCCESS;
static bool refuses_profiling, was_given_event;
static void *handles[8] = {driver.entries};
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

static cl_int succeed(cl_command_queue queue) { (void)queue; return CL_SUCCESS; }

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
	last_event = calloc(1, sizeof *last_event);
	*last_event = (struct event){.references = 1, .queue = queue, .status = next_status,
	                             .times = {10, 20, 30, 40}};
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
	(void)memory, (void)blocking, (void)offset, (void)bytes, (void)host, (void)count, (void)waits;
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
	(void)memory, (void)blocking, (void)origin, (void)region, (void)row, (void)slice, (void)host;
	(void)count, (void)waits;
	return enqueue(queue, event);
}

static void *map_buffer(cl_command_queue queue, cl_mem memory, cl_bool blocking,
                        cl_map_flags flags, size_t offset, size_t bytes, cl_uint count,
                        const cl_event *waits, cl_event *event, cl_int *error)
{
	static char mapped[8192] __attribute__((aligned(4096)));
	(void)memory, (void)blocking, (void)flags, (void)offset, (void)bytes, (void)count, (void)waits;
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
	assert_true(event->references > 0);
	if (--event->references == 0) {
		live_events--;
		free(event);
	}
	return CL_SUCCESS;
}

static cl_int release_memory(cl_mem memory) { (void)memory; return CL_SUCCESS; }

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
	       : strcmp(name, "clUnheardOf") == 0        ? (void *)handles : NULL;
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
	struct found found = {0};
	open_trace();
	for (size_t at = TARE_TRACE_HEADER_BYTES; at + TARE_TRACE_WINDOW_BYTES <= trace_bytes;
	     at += TARE_TRACE_WINDOW_BYTES) {
		const uint64_t *record = (const uint64_t *)(trace + at);
		for (size_t i = 0; i < TARE_TRACE_WINDOW_BYTES / 64 && record[0] != 0; i++, record += 8) {
			if (tare_trace_type(record[0]) != type || (word != 0 && record[word] != value))
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
	struct found found = find(TARE_TRACE_COMMAND, offsetof(struct tare_trace_command, object) / 8,
	                          (uintptr_t)object);
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
	static const size_t global[] = {64, 8}, local[] = {16, 2};
	assert_int_equal(cl->clEnqueueNDRangeKernel(queue, which, 2, NULL, global, local, 0, NULL,
	                                            event), CL_SUCCESS);
}

static int setup(void **state)
{
	(void)state;
	next_status = CL_COMPLETE;
	next_result = CL_SUCCESS;
	refuses_profiling = false;
	return 0;
}

// ---- tests

static void test_table(void **state)
{
	(void)state;
	assert_int_equal(entries_ret, entries);
	const void *const *table = (const void *const *)cl;
	size_t known = sizeof(cl_icd_dispatch) / sizeof(void *);
	for (size_t i = known; i < entries; i++)
		assert_ptr_equal(table[i], driver.entries[i]);
	// What the loader does not have stays so.
	assert_null(cl->clCreateProgramWithSource);
	assert_ptr_not_equal(cl->clFinish, driver.table.clFinish);
}

static void test_profiling_is_hidden(void **state)
{
	(void)state;
	cl_command_queue queue = make_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
	assert_true(((struct queue *)queue)->properties & CL_QUEUE_PROFILING_ENABLE);
	cl_command_queue_properties properties = 0;
	assert_int_equal(cl->clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof properties,
	                                           &properties, NULL), CL_SUCCESS);
	assert_int_equal(properties, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
	cl_event event;
	cl_ulong end = 7;
	launch(queue, kernel, &event);
	assert_int_equal(cl->clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end,
	                                             NULL), CL_PROFILING_INFO_NOT_AVAILABLE);
	assert_int_equal(end, 7);
	struct found change = find(TARE_TRACE_CHANGE, 1, (uintptr_t)queue);
	assert_true(change.count >= 1);
	cl->clReleaseEvent(event);

	// A queue of a program that asked for it is as it is.
	queue = make_queue(CL_QUEUE_PROFILING_ENABLE);
	launch(queue, kernel, &event);
	assert_int_equal(cl->clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end,
	                                             NULL), CL_SUCCESS);
	assert_int_equal(end, 40);
	cl->clReleaseEvent(event);
}

static void test_profiling_refused(void **state)
{
	(void)state;
	static char which;
	refuses_profiling = true;
	cl_command_queue queue = make_queue(0);
	assert_int_equal(((struct queue *)queue)->properties, 0);
	launch(queue, &which, NULL);
	assert_false(was_given_event);
	uint8_t flags;
	command_of(&which, &flags);
	assert_int_equal(flags, TARE_COMMAND_NO_TIMES);
}

static void test_own_event(void **state)
{
	(void)state;
	static char which;
	uint8_t flags;
	int before = live_events;
	cl_command_queue queue = make_queue(0);
	next_status = CL_RUNNING;
	launch(queue, &which, NULL);
	assert_true(was_given_event);
	struct tare_trace_command command = command_of(&which, &flags);
	assert_int_equal(flags, TARE_COMMAND_OWN_EVENT);
	assert_int_equal(command.kind, TARE_KIND_KERNEL);
	assert_int_equal(command.event, (uintptr_t)last_event);
	struct found shape = find(TARE_TRACE_SHAPE, 1, command.amount | UINT64_C(2) << 32);
	assert_int_equal(shape.count, 1);
	assert_int_equal(((const struct tare_trace_shape *)shape.last)->global[1], 8);
	assert_int_equal(((const struct tare_trace_shape *)shape.last)->local[0], 16);
	cl->clFinish(queue);
	assert_int_equal(times_of(command), 0);
	last_event->status = CL_COMPLETE;
	cl->clFinish(queue);
	struct found times = find(TARE_TRACE_TIMES, 1, id_of(command));
	assert_int_equal(times.count, 1);
	const struct tare_trace_times *record = (const struct tare_trace_times *)times.last;
	assert_int_equal(record->queued, 10);
	assert_int_equal(record->submitted, 20);
	assert_int_equal(record->start, 30);
	assert_int_equal(record->end, 40);
	assert_true(record->observed >= command.enter + command.call_ticks);
	assert_int_equal(live_events, before);
}

static void test_program_event(void **state)
{
	(void)state;
	static char which;
	uint8_t flags;
	cl_event event;
	cl_uint references = 0;
	int before = live_events;
	cl_command_queue queue = make_queue(0);
	next_status = CL_SUBMITTED;
	launch(queue, &which, &event);
	struct event *inner = (struct event *)event;
	assert_int_equal(inner->references, 2);
	assert_int_equal(cl->clGetEventInfo(event, CL_EVENT_REFERENCE_COUNT, sizeof references,
	                                    &references, NULL), CL_SUCCESS);
	assert_int_equal(references, 1);
	cl->clReleaseEvent(event);
	assert_int_equal(live_events, before + 1);
	inner->status = CL_COMPLETE;
	cl->clFinish(queue);
	assert_int_equal(live_events, before);
	struct tare_trace_command command = command_of(&which, &flags);
	assert_int_equal(flags, 0);
	assert_int_equal(times_of(command), 1);
}

static void test_seeing_completion_harvests(void **state)
{
	(void)state;
	static char which;
	uint8_t flags;
	cl_event event;
	cl_int status = 1;
	cl_command_queue queue = make_queue(0);
	launch(queue, &which, &event);
	cl->clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL);
	assert_int_equal(times_of(command_of(&which, &flags)), 1);
	cl->clReleaseEvent(event);
}

static void test_failed_enqueue(void **state)
{
	(void)state;
	static char which;
	uint8_t flags;
	size_t global = 1;
	cl_command_queue queue = make_queue(0);
	next_result = CL_OUT_OF_RESOURCES;
	assert_int_equal(cl->clEnqueueNDRangeKernel(queue, (cl_kernel)&which, 1, NULL, &global, NULL, 0,
	                                            NULL, NULL), CL_OUT_OF_RESOURCES);
	struct tare_trace_command command = command_of(&which, &flags);
	assert_int_equal(flags, TARE_COMMAND_FAILED);
	assert_int_equal((int64_t)command.object2, CL_OUT_OF_RESOURCES);
}

static void test_failed_command(void **state)
{
	(void)state;
	static char which;
	uint8_t flags;
	int before = live_events;
	cl_command_queue queue = make_queue(0);
	next_status = CL_OUT_OF_RESOURCES;
	launch(queue, &which, NULL);
	cl->clFinish(queue);
	struct found untimed = find(TARE_TRACE_UNTIMED, 1, id_of(command_of(&which, &flags)));
	assert_int_equal(untimed.count, 1);
	assert_int_equal(tare_trace_detail(untimed.last[0]), TARE_UNTIMED_FAILED);
	assert_int_equal((int64_t)untimed.last[2], CL_OUT_OF_RESOURCES);
	assert_int_equal(live_events, before);
}

// The second command completes before the first one.
static void test_order(void **state)
{
	(void)state;
	static char first[2], second[2];
	uint8_t flags;
	for (int out_of_order = 0; out_of_order < 2; out_of_order++) {
		cl_command_queue queue =
		    make_queue(out_of_order ? CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE : 0);
		next_status = CL_RUNNING;
		launch(queue, &first[out_of_order], NULL);
		struct event *slow = last_event;
		launch(queue, &second[out_of_order], NULL);
		last_event->status = CL_COMPLETE;
		cl->clFinish(queue);
		assert_int_equal(times_of(command_of(&first[out_of_order], &flags)), 0);
		assert_int_equal(times_of(command_of(&second[out_of_order], &flags)), out_of_order);
		slow->status = CL_COMPLETE;
		cl->clFinish(queue);
		assert_int_equal(times_of(command_of(&first[out_of_order], &flags)), 1);
		assert_int_equal(times_of(command_of(&second[out_of_order], &flags)), 1);
	}
}

static void test_many_pending(void **state)
{
	(void)state;
	static char which;
	enum { MANY = 3000 };
	static struct event *events[MANY];
	size_t before = find(TARE_TRACE_TIMES, 0, 0).count;
	cl_command_queue queue = make_queue(0);
	next_status = CL_QUEUED;
	for (int i = 0; i < MANY; i++) {
		launch(queue, &which, NULL);
		events[i] = last_event;
	}
	assert_true(header()->pending > 0);
	assert_int_equal(find(TARE_TRACE_TIMES, 0, 0).count, before);
	int live = live_events;
	for (int i = 0; i < MANY; i++)
		events[i]->status = CL_COMPLETE;
	cl->clFinish(queue);
	assert_int_equal(find(TARE_TRACE_TIMES, 0, 0).count, before + MANY);
	assert_int_equal(find(TARE_TRACE_UNTIMED, 1, 0).count, 0);
	assert_int_equal(live_events, live - MANY);
	assert_int_equal(header()->pending, 0);
	assert_int_equal(find(TARE_TRACE_SHAPE, 0, 0).count, 1);
}

static void test_bytes(void **state)
{
	(void)state;
	static char memory[8192] __attribute__((aligned(4096)));
	uint8_t flags;
	cl_command_queue queue = make_queue(0);
	cl_mem rectangle = (cl_mem)&handles[5];
	size_t origin[] = {4, 2, 1}, none[] = {0, 0, 0}, region[] = {32, 3, 2};
	assert_int_equal(cl->clEnqueueReadBufferRect(queue, rectangle, CL_TRUE, origin, none, region,
	                                             128, 1024, 64, 0, memory + 8, 0, NULL, NULL),
	                 CL_SUCCESS);
	struct tare_trace_command command = command_of(rectangle, &flags);
	assert_int_equal(command.kind, TARE_KIND_READ);
	assert_int_equal(command.direction, TARE_DIRECTION_FROM_DEVICE);
	assert_int_equal(command.amount, 32 * 3 * 2);
	assert_int_equal(command.alignment, 3);
	assert_int_equal(command.memory, TARE_TRACE_MEMORY_PAGEABLE);
	assert_int_equal(command.object2, (uintptr_t)(memory + 8));
	assert_int_equal(flags, TARE_COMMAND_BLOCKING | TARE_COMMAND_OWN_EVENT | TARE_COMMAND_TRANSFER);
	assert_int_equal(times_of(command), 1); // the program waited
	struct found found = find(TARE_TRACE_TRANSFER, 1, command.number);
	const struct tare_trace_transfer *transfer = (const struct tare_trace_transfer *)found.last;
	assert_int_equal(found.count, 1);
	assert_int_equal(transfer->offset, 4 + 2 * 128 + 1024);
	assert_int_equal(transfer->region[1], 3);
	assert_int_equal(transfer->row_pitch, 64);

	assert_int_equal(cl->clEnqueueReadImage(queue, image, CL_FALSE, none, region, 0, 0, memory, 0,
	                                        NULL, NULL), CL_SUCCESS);
	command = command_of(image, &flags);
	assert_int_equal(command.amount, 32 * 3 * 2 * 16);
	assert_int_equal(command.alignment, 12);
}

static void test_kinds_of_memory(void **state)
{
	(void)state;
	uint8_t flags;
	cl_int error = 1;
	cl_command_queue queue = make_queue(0);
	cl_mem other = (cl_mem)&handles[6];
	cl->clCreateBuffer(context, CL_MEM_ALLOC_HOST_PTR, 8192, NULL, NULL);
	char *mapped = cl->clEnqueueMapBuffer(queue, buffer, CL_TRUE, CL_MAP_WRITE, 0, 4096, 0, NULL,
	                                      NULL, &error);
	assert_non_null(mapped);
	assert_int_equal(error, CL_SUCCESS);
	struct tare_trace_command command = command_of(buffer, &flags);
	assert_int_equal(command.kind, TARE_KIND_MAP);
	assert_int_equal(command.memory, TARE_TRACE_MEMORY_PINNED);
	struct {
		const char *from;
		uint8_t memory;
	} rows[] = {{mapped, TARE_TRACE_MEMORY_PINNED},
	            {mapped + 4095, TARE_TRACE_MEMORY_PINNED},
	            {mapped + 4096, TARE_TRACE_MEMORY_PAGEABLE}};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		cl->clEnqueueWriteBuffer(queue, other, CL_FALSE, 0, 1, rows[i].from, 0, NULL, NULL);
		assert_int_equal(command_of(other, &flags).memory, rows[i].memory);
	}
	cl->clEnqueueUnmapMemObject(queue, buffer, mapped, 0, NULL, NULL);
	command = command_of(buffer, &flags);
	assert_int_equal(command.kind, TARE_KIND_UNMAP);
	assert_int_equal(command.direction, TARE_DIRECTION_TO_DEVICE);
	assert_int_equal(command.amount, 4096);
	cl->clEnqueueWriteBuffer(queue, other, CL_FALSE, 0, 1, mapped, 0, NULL, NULL);
	assert_int_equal(command_of(other, &flags).memory, TARE_TRACE_MEMORY_PAGEABLE);
}

static void test_dependencies(void **state)
{
	(void)state;
	static char which;
	cl_event waits[8];
	uint8_t flags;
	size_t global = 1;
	cl_command_queue queue = make_queue(0);
	for (int i = 0; i < 8; i++)
		launch(queue, kernel, &waits[i]);
	cl->clEnqueueNDRangeKernel(queue, (cl_kernel)&which, 1, NULL, &global, NULL, 8, waits, NULL);
	struct tare_trace_command command = command_of(&which, &flags);
	assert_true(flags & TARE_COMMAND_DEPENDS);
	struct found found = find(TARE_TRACE_DEPENDS, 1, command.number);
	assert_int_equal(found.count, 2);
	assert_int_equal(tare_trace_detail(found.last[0]), 2);
	assert_int_equal(found.last[3], (uintptr_t)waits[7]);
	for (int i = 0; i < 8; i++)
		cl->clReleaseEvent(waits[i]);
}

static void test_polling_is_one_record(void **state)
{
	(void)state;
	cl_event event;
	cl_int status;
	cl_command_queue queue = make_queue(0);
	next_status = CL_RUNNING;
	launch(queue, kernel, &event);
	for (int i = 0; i < 1000; i++)
		cl->clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL);
	struct found polled = find(TARE_TRACE_POLLED, offsetof(struct tare_trace_polled, object) / 8,
	                           (uintptr_t)event);
	assert_int_equal(polled.count, 1);
	assert_int_equal(((const struct tare_trace_polled *)polled.last)->count, 1000);
	((struct event *)event)->status = CL_COMPLETE;
	cl->clReleaseEvent(event);
	cl->clFinish(queue);
}

static int calls;
static void CL_CALLBACK on_event(cl_event event, cl_int status, void *data)
{
	assert_non_null(event);
	assert_int_equal(status, CL_COMPLETE);
	calls += *(int *)data;
}

static void test_callback(void **state)
{
	(void)state;
	cl_event event;
	int five = 5;
	cl_command_queue queue = make_queue(0);
	launch(queue, kernel, &event);
	cl->clSetEventCallback(event, CL_COMPLETE, on_event, &five);
	registered(event, CL_COMPLETE, registered_data);
	assert_int_equal(calls, 5);
	struct found found = find(TARE_TRACE_CALLBACK, 3, (uintptr_t)event);
	assert_int_equal(found.count, 1);
	assert_true(found.last[1] <= found.last[2]);
	cl->clReleaseEvent(event);
	cl->clFinish(queue);
}

static void test_extensions(void **state)
{
	(void)state;
	static char to[64], from[64];
	uint8_t flags;
	cl_command_queue queue = make_queue(0);
	uint64_t passed = header()->passed_calls;
	assert_ptr_equal(cl->clGetExtensionFunctionAddress("clUnheardOf"), handles);
	assert_int_equal(header()->passed_calls, passed + 1);
	assert_null(cl->clGetExtensionFunctionAddress("clNone"));
	clEnqueueMemcpyINTEL_fn copy =
	    (clEnqueueMemcpyINTEL_fn)cl->clGetExtensionFunctionAddress("clEnqueueMemcpyINTEL");
	assert_ptr_not_equal(copy, memcpy_intel);
	assert_int_equal(copy(queue, CL_FALSE, to, from, 64, 0, NULL, NULL), CL_SUCCESS);
	struct tare_trace_command command = command_of(to, &flags);
	assert_int_equal(command.kind, TARE_KIND_COPY);
	assert_int_equal(command.direction, TARE_DIRECTION_HOST);
	assert_int_equal(command.amount, 64);
	assert_int_equal(header()->passed_calls, passed + 1);
	cl->clFinish(queue);
}

static void test_last_release(void **state)
{
	(void)state;
	cl->clCreateBuffer(context, 0, 64, NULL, NULL);
	cl->clRetainMemObject(buffer);
	cl->clReleaseMemObject(buffer);
	struct found found = find(TARE_TRACE_CALL, 4, (uintptr_t)buffer);
	assert_int_equal(tare_trace_record_flags(found.last[0]), 0);
	cl->clReleaseMemObject(buffer);
	found = find(TARE_TRACE_CALL, 4, (uintptr_t)buffer);
	assert_int_equal(tare_trace_record_flags(found.last[0]), TARE_CALL_RELEASED);
}

static void test_errno(void **state)
{
	(void)state;
	cl_command_queue queue = make_queue(0);
	launch(queue, kernel, NULL);
	finished_errno = ERANGE;
	errno = 0;
	cl->clFinish(queue);
	assert_int_equal(errno, ERANGE);
	finished_errno = 0;
}

static void test_own_cost(void **state)
{
	(void)state;
	assert_true(header()->self_cost_ps > 0);
	assert_true(header()->self_call_cost_ps > 0);
}

static void fill_driver(void)
{
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

int main(int argc, char **argv)
{
	if (argc != 3 || mkdtemp(directory) == NULL)
		return 2;
	setenv("TARE_RECORD", directory, 1);
	unsetenv("TARE_RECORD_OPTIONS");
	fill_driver();
	entries = (cl_uint)atoi(argv[2]);
	void *layer = dlopen(argv[1], RTLD_NOW);
	pfn_clInitLayer begin = layer != NULL ? (pfn_clInitLayer)dlsym(layer, "clInitLayer") : NULL;
	if (begin == NULL || begin(entries, &driver.table, &entries_ret, &cl) != CL_SUCCESS) {
		fprintf(stderr, "%s: no layer: %s\n", argv[1], dlerror());
		return 2;
	}
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(test_table, setup),
	    cmocka_unit_test_setup(test_own_event, setup),
	    cmocka_unit_test_setup(test_many_pending, setup),
	    cmocka_unit_test_setup(test_profiling_is_hidden, setup),
	    cmocka_unit_test_setup(test_profiling_refused, setup),
	    cmocka_unit_test_setup(test_program_event, setup),
	    cmocka_unit_test_setup(test_seeing_completion_harvests, setup),
	    cmocka_unit_test_setup(test_failed_enqueue, setup),
	    cmocka_unit_test_setup(test_failed_command, setup),
	    cmocka_unit_test_setup(test_order, setup),
	    cmocka_unit_test_setup(test_bytes, setup),
	    cmocka_unit_test_setup(test_kinds_of_memory, setup),
	    cmocka_unit_test_setup(test_dependencies, setup),
	    cmocka_unit_test_setup(test_polling_is_one_record, setup),
	    cmocka_unit_test_setup(test_callback, setup),
	    cmocka_unit_test_setup(test_extensions, setup),
	    cmocka_unit_test_setup(test_last_release, setup),
	    cmocka_unit_test_setup(test_errno, setup),
	    cmocka_unit_test_setup(test_own_cost, setup),
	};
	int failed = cmocka_run_group_tests_name("opencl_layer", tests, NULL, NULL);
	remove_trace();
	return failed;
}
