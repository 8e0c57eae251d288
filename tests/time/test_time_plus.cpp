// SPDX-License-Identifier: Apache-2.0
// tare/time.hpp on the first OpenCL device: every function of it that OpenCL has; TAP.
#include <tare/time.hpp>

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <cerrno>
#include <cstdio>

static int number, failed;

static void expect(bool right, const char *what)
{
	std::printf("%s %d - %s\n", right ? "ok" : "not ok", ++number, what);
	failed += !right;
}

static cl_device_id first_device()
{
	cl_platform_id platforms[8];
	cl_device_id device = nullptr;
	cl_uint count = 0;

	clGetPlatformIDs(8, platforms, &count);
	for (cl_uint i = 0; i < count && i < 8 && !device; i++)
		clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, &device, nullptr);
	return device;
}

template <class Call> static int thrown(Call call)
{
	try {
		call();
	} catch (const tare::time_error &error) {
		return error.what()[0] ? error.error().code : 0;
	}
	return 0;
}

static void time_queue(cl_command_queue queue)
{
	const int64_t limit = INT64_C(60000000000);
	tare::timer timer = tare::timer::opencl(queue, 2);

	for (int i = 0; i < 10; i++) {
		tare::span span(timer, "scope");
		clEnqueueMarkerWithWaitList(queue, 0, nullptr, nullptr);
	}
	expect(true, "spans end and go with their scope");
	tare::span outer(timer, "outer");
	expect(thrown([&] { outer.result(0); }) == -EBUSY,
	       "a span that has not ended has no result");
	{
		tare::span inner(timer, "inner");
		expect(thrown([&] { tare::span third(timer, "third"); }) == -ENOSPC,
		       "there are as many spans as were asked for");
	}
	outer.end();
	expect(thrown([&] { outer.end(); }) == -EALREADY, "a span ends once");
	tare::time_result result = outer.result(limit);
	expect(result.device_ns >= 0 && result.ok() == (result.state == TARE_TIME_OK),
	       "a span has a time");
	expect(result.line().find("outer: ") == 0, "a line says it");
	cl_event event = nullptr;
	clEnqueueMarkerWithWaitList(queue, 0, nullptr, &event);
	result = timer.event(event, limit, "marker");
	expect(result.floor_ns == 0 || result.state == TARE_TIME_NOT_AVAILABLE,
	       "an event has its own time");
	clReleaseEvent(event);
	tare::timer moved(static_cast<tare::timer &&>(timer));
	expect(timer.get() == nullptr && moved.get() != nullptr,
	       "a timer moves, and goes when its last span does");
}

int main()
{
	cl_device_id device = first_device();

	expect(thrown([] { tare::timer::opencl(nullptr); }) == -EINVAL, "a NULL queue is refused");
	expect(thrown([] {
		       tare::timer::levelzero(nullptr, nullptr, nullptr, TARE_TIME_IMMEDIATE);
	       }) < 0,
	       "so is a NULL list");
	expect(thrown([] { tare::timer::cuda(nullptr, 5000); }) == -EINVAL, "and too many spans");
	if (device) {
		cl_context context =
		    clCreateContext(nullptr, 1, &device, nullptr, nullptr, nullptr);
		cl_command_queue queue =
		    clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE, nullptr);
		time_queue(queue);
		clReleaseCommandQueue(queue);
		clReleaseContext(context);
	}
	std::printf("1..%d\n", number);
	return failed != 0;
}
