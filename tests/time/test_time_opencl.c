// SPDX-License-Identifier: Apache-2.0
// Spans on queues of the first OpenCL device: device times lie within the host's bracket, queues
// without profiling and failed commands say so, and threads share a timer.
#include "../unit/skip.h"
#include "tare/time.h"

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include <cmocka.h>

#define LIMIT_NS INT64_C(60000000000)
#define BYTES ((size_t)1 << 20)

static cl_context context;
static cl_device_id device;
static cl_command_queue queue;
static cl_mem memory;
static char host[1 << 20];
static struct tare_timer *timer;
static struct tare_time_error error;

// PoCL's serial device.
static bool is_serial(void)
{
	const char *devices = getenv("POCL_DEVICES");

	return devices && strcmp(devices, "basic") == 0;
}

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int set_up(void **state)
{
	cl_platform_id platforms[8];
	cl_uint count = 0;
	(void)state;

	clGetPlatformIDs(8, platforms, &count);
	for (cl_uint i = 0; i < count && i < 8 && !device; i++)
		clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, &device, NULL);
	if (!device)
		return 0;
	context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
	memory = clCreateBuffer(context, CL_MEM_READ_WRITE, BYTES, NULL, NULL);
	return 0;
}

static void open_queue(cl_command_queue_properties properties)
{
	cl_int status;

	if (!device)
		skip_because("there is no OpenCL device");
	queue = clCreateCommandQueue(context, device, properties, &status);
	if (status != CL_SUCCESS)
		skip_because("this device has no such queue");
	if (tare_time_open_opencl(&timer, queue, NULL, &error) < 0)
		fail_msg("%s", error.message);
}

static void close_queue(void)
{
	assert_int_equal(tare_time_close(timer, &error), 0);
	clReleaseCommandQueue(queue);
}

static struct tare_time_result result_of(struct tare_time_span span)
{
	struct tare_time_result result;

	assert_int_equal(tare_time_read(timer, span, LIMIT_NS, &result, &error), 0);
	return result;
}

static cl_event write_buffer(void)
{
	cl_event event;

	assert_int_equal(
	    clEnqueueWriteBuffer(queue, memory, CL_FALSE, 0, BYTES, host, 0, NULL, &event),
	    CL_SUCCESS);
	return event;
}

// What an event says of itself, by the same clock.
static int64_t profiled_ns(cl_event event)
{
	cl_ulong start = 0, end = 0;

	clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL);
	clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL);
	return (int64_t)(end - start);
}

static void check_bracket(cl_command_queue_properties order)
{
	struct tare_time_result result, own;
	struct tare_time_span span;
	(void)order;

	for (int i = 0; i < 20; i++) {
		int64_t before = now_ns();
		assert_int_equal(tare_time_begin(timer, "writes", &span, &error), 0);
		cl_event first = write_buffer(), second = write_buffer();
		assert_int_equal(tare_time_end(timer, span, &error), 0);
		result = result_of(span);
		int64_t bracket = now_ns() - before;
		assert_int_equal(
		    result.state == TARE_TIME_OK || result.state == TARE_TIME_BELOW_FLOOR, 1);
		assert_true(result.device_ns <= bracket);
		assert_true(result.host_ns >= 0 && result.host_ns <= bracket);
		assert_true(result.floor_ns >= 0);
		// Both copies are in it, whole.
		assert_true(result.device_ns >= profiled_ns(first));
		assert_true(result.device_ns >= profiled_ns(second));
		assert_int_equal(result.end_ticks - result.start_ticks, result.device_ns);
		assert_int_equal(tare_time_event(timer, "write", second, LIMIT_NS, &own, &error),
		                 0);
		assert_int_equal(own.device_ns, profiled_ns(second));
		assert_int_equal(own.floor_ns, 0);
		clReleaseEvent(first);
		clReleaseEvent(second);
		assert_int_equal(tare_time_release(timer, span, &error), 0);
	}
}

static void times_lie_in_the_hosts_bracket(void **state)
{
	(void)state;
	open_queue(CL_QUEUE_PROFILING_ENABLE);
	check_bracket(0);
	close_queue();
}

static void so_they_do_without_order(void **state)
{
	(void)state;
	open_queue(CL_QUEUE_PROFILING_ENABLE | CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
	check_bracket(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
	close_queue();
}

static void a_queue_without_profiling_says_so(void **state)
{
	struct tare_time_result result;
	struct tare_time_span span;
	char line[TARE_TIME_LINE];
	(void)state;

	open_queue(0);
	assert_int_equal(tare_time_begin(timer, "write", &span, &error), 0);
	clReleaseEvent(write_buffer());
	assert_int_equal(tare_time_end(timer, span, &error), 0);
	result = result_of(span);
	assert_int_equal(result.state, TARE_TIME_NOT_AVAILABLE);
	assert_int_equal(result.reason, TARE_TIME_NO_PROFILING);
	assert_int_equal(result.device_ns, -1);
	assert_true(result.host_ns >= 0);
	tare_time_line(&result, line, sizeof line);
	assert_string_equal(
	    line, "write: n/a, because the queue was created without CL_QUEUE_PROFILING_ENABLE");
	cl_event event = write_buffer();
	assert_int_equal(tare_time_event(timer, "own", event, LIMIT_NS, &result, &error), 0);
	assert_int_equal(result.reason, TARE_TIME_NO_STAMPS);
	clReleaseEvent(event);
	clFinish(queue);
	close_queue();
}

// Behind an event that nobody sets, nothing is done; and when that fails, so has the event.
static void what_is_held_is_not_ready_and_what_failed_says_so(void **state)
{
	struct tare_time_result result;
	struct tare_time_span span;
	cl_event gate, event;
	(void)state;

	// It runs what is flushed at once, and waits for ever behind a user event.
	if (is_serial())
		skip_because("this device hangs behind user events");
	open_queue(CL_QUEUE_PROFILING_ENABLE);
	gate = clCreateUserEvent(context, NULL);
	assert_int_equal(tare_time_begin(timer, "held", &span, &error), 0);
	assert_int_equal(
	    clEnqueueWriteBuffer(queue, memory, CL_FALSE, 0, BYTES, host, 1, &gate, &event),
	    CL_SUCCESS);
	assert_int_equal(tare_time_end(timer, span, &error), 0);
	assert_int_equal(tare_time_read(timer, span, 2000000, &result, &error), 0);
	assert_int_equal(result.state, TARE_TIME_NOT_READY);
	assert_int_equal(tare_time_event(timer, "held", event, 0, &result, &error), 0);
	assert_int_equal(result.state, TARE_TIME_NOT_READY);
	clSetUserEventStatus(gate, CL_COMPLETE);
	assert_int_equal(result_of(span).device_ns > 0, 1);
	clReleaseEvent(gate);
	clReleaseEvent(event);
	gate = clCreateUserEvent(context, NULL);
	clSetUserEventStatus(gate, -9999);
	assert_int_equal(tare_time_event(timer, "failed", gate, 0, &result, &error), 0);
	assert_int_equal(result.reason, TARE_TIME_COMMAND_FAILED);
	assert_int_equal(result.native, -9999);
	clReleaseEvent(gate);
	close_queue();
}

static void wrong_handles_are_errors(void **state)
{
	struct tare_timer *none = timer;
	(void)state;

	if (!device)
		skip_because("there is no OpenCL device");
	assert_int_equal(tare_time_open_opencl(&none, NULL, NULL, &error), -EINVAL);
	assert_null(none);
	assert_non_null(strstr(error.message, "NULL"));
	assert_int_equal(tare_time_open_opencl(NULL, NULL, NULL, NULL), -EINVAL);
}

// Numbers, memory that has gone, and memory that holds something else: of none of them anything is
// called.
static void foreign_handles_are_errors(void **state)
{
	void *gone = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *zeros[16] = { NULL }, *stack[16] = { zeros, zeros };
	void *handles[] = { (void *)1, (void *)0x1234567, gone, zeros, stack, &error };
	struct tare_time_result result;
	struct tare_timer *none;
	(void)state;

	munmap(gone, 4096);
	open_queue(CL_QUEUE_PROFILING_ENABLE);
	for (size_t i = 0; i < sizeof handles / sizeof *handles; i++) {
		none = timer;
		assert_int_equal(tare_time_open_opencl(&none, handles[i], NULL, &error), -EINVAL);
		assert_null(none);
		assert_non_null(strstr(error.message, "is no command queue"));
		assert_int_equal(
		    tare_time_event(timer, "event", handles[i], LIMIT_NS, &result, &error),
		    -EINVAL);
		assert_non_null(strstr(error.message, "is no event"));
	}
	close_queue();
}

static void *in_a_thread(void *unused)
{
	for (intptr_t i = 0; i < 50; i++) {
		struct tare_time_result result;
		struct tare_time_span span;
		struct tare_time_error mine;
		if (tare_time_begin(timer, "of a thread", &span, &mine) < 0)
			return (void *)1;
		clReleaseEvent(write_buffer());
		if (tare_time_end(timer, span, &mine) < 0 ||
		    tare_time_read(timer, span, LIMIT_NS, &result, &mine) < 0 ||
		    result.device_ns < 0 || tare_time_release(timer, span, &mine) < 0)
			return (void *)2;
	}
	return unused;
}

static void threads_share_a_timer(void **state)
{
	pthread_t threads[4];
	(void)state;

	// Two threads that enqueue to one of its queues can lock each other out, in its own event
	// locks.
	if (is_serial())
		skip_because("this device hangs when threads share a queue");
	open_queue(CL_QUEUE_PROFILING_ENABLE);
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, in_a_thread, NULL), 0);
	for (int i = 0; i < 4; i++) {
		void *failed = NULL;
		pthread_join(threads[i], &failed);
		assert_null(failed);
	}
	close_queue();
}

// The same place of two timers has spans that are not each other's.
static void a_span_of_another_queue_is_an_error(void **state)
{
	struct tare_timer *other;
	struct tare_time_span mine, theirs;
	struct tare_time_result result;
	(void)state;

	open_queue(CL_QUEUE_PROFILING_ENABLE);
	cl_command_queue second =
	    clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE, NULL);
	assert_int_equal(tare_time_open_opencl(&other, second, NULL, &error), 0);
	assert_int_equal(tare_time_begin(timer, "mine", &mine, &error), 0);
	assert_int_equal(tare_time_begin(other, "theirs", &theirs, &error), 0);
	assert_int_equal(mine.slot, theirs.slot);
	assert_int_equal(tare_time_end(other, mine, &error), -ESTALE);
	assert_non_null(strstr(error.message, "another timer's"));
	assert_int_equal(tare_time_end(timer, mine, &error), 0);
	assert_int_equal(tare_time_read(other, mine, 0, &result, &error), -ESTALE);
	assert_non_null(strstr(error.message, "another timer's"));
	assert_int_equal(tare_time_release(other, mine, &error), -ESTALE);
	assert_int_equal(tare_time_end(other, theirs, &error), 0);
	assert_int_equal(tare_time_read(other, theirs, LIMIT_NS, &result, &error), 0);
	assert_string_equal(result.name, "theirs");
	assert_int_equal(tare_time_close(other, &error), 0);
	clReleaseCommandQueue(second);
	close_queue();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_lie_in_the_hosts_bracket),
		cmocka_unit_test(so_they_do_without_order),
		cmocka_unit_test(a_queue_without_profiling_says_so),
		cmocka_unit_test(what_is_held_is_not_ready_and_what_failed_says_so),
		cmocka_unit_test(wrong_handles_are_errors),
		cmocka_unit_test(foreign_handles_are_errors),
		cmocka_unit_test(a_span_of_another_queue_is_an_error),
		cmocka_unit_test(threads_share_a_timer),
	};
	return cmocka_run_group_tests(tests, set_up, NULL);
}
