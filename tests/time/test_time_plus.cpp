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

static void time_series(cl_command_queue queue)
{
	const int64_t limit = INT64_C(60000000000);
	tare::timer timer = tare::timer::opencl(queue, 2);
	tare_time_series_options options = tare_time_series_options();
	int calls = 0;

	options.most = 40;
	tare::series series("markers", options), own("own", options);
	const tare_time_figure figure = series.repeat(timer, limit, [&] {
		clEnqueueMarkerWithWaitList(queue, 0, nullptr, nullptr);
		calls++;
	});
	expect(figure.known != TARE_TIME_OPEN && figure.n <= 40 &&
	           static_cast<int>(figure.n) == calls,
	       "a span is repeated until it is known");
	expect(thrown([&] { series.repeat(timer, limit, [] {}); }) == -EALREADY,
	       "a series ends once");
	tare_time_result result = tare_time_result();
	result.sentence = "";
	result.device_ns = 1000;
	for (int i = 0; i < 39 && own.add(result); i++)
		;
	expect(own.figure().n == 39 && own.figure().known == TARE_TIME_OPEN,
	       "more results are wanted");
	expect(!own.add(result) && own.figure().median_ns == 1000, "and then no more");
	const std::string table = tare::series::table({ &series, &own });
	expect(table.find("\nmarkers ") != std::string::npos &&
	           table.find("\nown ") != std::string::npos && table.back() == '\n',
	       "a table shows them");
	expect(thrown([&] { tare::series::write({ &series }, "/nowhere/at/all"); }) == -ENOENT,
	       "a file that cannot be written is an error");
	tare_time_series *native = nullptr;
	tare_time_span span;
	expect(tare_time_series_open(&native, "native", nullptr, nullptr) == 0 &&
	           tare_time_begin(timer.get(), nullptr, &span, nullptr) == 0 &&
	           tare_time_end(timer.get(), span, nullptr) == 0 &&
	           tare_time_series_take(native, timer.get(), span, limit, nullptr) == 1,
	       "C's functions are C++'s");
	tare_time_series_close(native);
	bool passed = false;
	tare::series interrupted("interrupted", options);
	try {
		interrupted.repeat(timer, limit, [] { throw 7; });
	} catch (int seven) {
		passed = seven == 7;
	}
	expect(passed, "what the work throws passes");
	expect(interrupted.repeat(timer, limit, [] {}).known != TARE_TIME_OPEN,
	       "and its span is gone");
}

int main()
{
	expect(std::string(tare_time_version()) == TARE_TIME_VERSION,
	       "the library is the header's");
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
		time_series(queue);
		clReleaseCommandQueue(queue);
		clReleaseContext(context);
	}
	std::printf("1..%d\n", number);
	return failed != 0;
}
