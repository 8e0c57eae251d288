// SPDX-License-Identifier: Apache-2.0
// The device's clock: the profiling timer, nanoseconds in 64 bits by definition (OpenCL 5.14).
#include "backend/opencl/opencl.h"

#include <errno.h>

bool opencl_timer_pairs(const struct opencl_functions *cl, const struct opencl_entry *entry)
{
	cl_ulong host_resolution = 0, device_ns = 0, host_ns = 0;

	if (!cl->clGetDeviceAndHostTimer || entry->version < 210)
		return false;
	// 0 says that the platform does not synchronise the two timers; NVIDIA's and PoCL's say so.
	if (cl->clGetPlatformInfo(entry->platform, CL_PLATFORM_HOST_TIMER_RESOLUTION,
	                          sizeof host_resolution, &host_resolution, NULL) != CL_SUCCESS ||
	    !host_resolution)
		return false;
	return cl->clGetDeviceAndHostTimer(entry->id, &device_ns, &host_ns) == CL_SUCCESS &&
	       device_ns;
}

int opencl_clock_rate(struct tare_device *device, enum tare_clock clock,
                      struct tare_clock_rate *rate, struct tare_error *error)
{
	const struct opencl_device *own = opencl_device(device);

	// Events and clGetDeviceAndHostTimer read the same timer, so both clocks are one.
	(void)clock;
	if (!own->profiling)
		return tare_fail(error, ENOTSUP, "this device has no profiling timer");
	*rate = (struct tare_clock_rate){ 1000000000, 1, 64, own->resolution_ns };
	return 0;
}

// The host timer that this call returns is the driver's, of an unknown kind; only the device's
// reading is used, between two readings of our own clock.
static int pair_by_timer(const struct opencl_device *device, struct tare_clock_pair *pair,
                         struct tare_error *error)
{
	cl_ulong device_ns = 0, host_ns = 0;

	pair->before = tare_host_now();
	cl_int code = device->cl->clGetDeviceAndHostTimer(device->entry.id, &device_ns, &host_ns);
	pair->after = tare_host_now();
	if (code != CL_SUCCESS)
		return opencl_fail(error, "clGetDeviceAndHostTimer", code,
		                   "cannot read the device clock");
	pair->device.ticks = device_ns;
	return 0;
}

// The QUEUED stamp of a command is taken inside the call that enqueues it: "the device time
// counter when the command is enqueued in a queue by the host". So two host readings around that
// call bracket it, and the bracket is as short as one call, where START and END would need the
// whole way to the device and back. It is right as long as the driver converts to the device's
// counter when it stamps. A driver that fills QUEUED in later, or from a host clock with a stale
// conversion, makes it wrong; the fit over many pairs shows that as residual or drift, and the
// stamps of blocking copies, which must lie between call and return, show it as a contradiction.
static int pair_by_enqueue(const struct opencl_device *device, struct tare_clock_pair *pair,
                           struct tare_error *error)
{
	const struct opencl_functions *cl = device->cl;
	cl_event marker = NULL;
	cl_ulong queued = 0;

	pair->before = tare_host_now();
	cl_int code = cl->clEnqueueMarkerWithWaitList(device->service, 0, NULL, &marker);
	pair->after = tare_host_now();
	if (code != CL_SUCCESS)
		return opencl_fail(error, "clEnqueueMarkerWithWaitList", code,
		                   "cannot read the device clock");
	int rc = opencl_wait(device, marker, TARE_LIMIT_DEFAULT_NS, "a marker", error);
	if (rc == 0) {
		code = cl->clGetEventProfilingInfo(marker, CL_PROFILING_COMMAND_QUEUED,
		                                   sizeof queued, &queued, NULL);
		if (code != CL_SUCCESS)
			rc = opencl_fail(error, "clGetEventProfilingInfo", code,
			                 "cannot read the device clock");
		else if (!queued)
			rc = tare_fail(error, ENOTSUP,
			               "the driver does not stamp when a command is queued");
	}
	cl->clReleaseEvent(marker);
	if (rc < 0)
		return rc;
	pair->device.ticks = queued;
	// A coarse timer (1,000 ns on NVIDIA) has read anything within a step: the bracket must
	// hold for each of them.
	if (device->resolution_ns > 1) {
		pair->before.ns -= (int64_t)device->resolution_ns;
		pair->after.ns += (int64_t)device->resolution_ns;
	}
	return 0;
}

int opencl_clock_pair(struct tare_device *device, struct tare_clock_pair *pair,
                      struct tare_error *error)
{
	const struct opencl_device *own = opencl_device(device);

	if (own->timer_pairs)
		return pair_by_timer(own, pair, error);
	if (!own->service_timed)
		return tare_fail(error, ENOTSUP, "this device has no profiling timer");
	return pair_by_enqueue(own, pair, error);
}
