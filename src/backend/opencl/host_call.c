// SPDX-License-Identifier: Apache-2.0
// HOST_CALL. OpenCL has none for every device, so it is put together: a marker whose callback
// calls the function and then completes a user event, and a barrier that waits for it.
#include "backend/opencl/opencl.h"

#include <errno.h>
#include <stdlib.h>

// The callback may come late, when the driver's table of functions is gone: it has its own. The
// library itself stays mapped.
struct host_call {
	__typeof__(clSetUserEventStatus) *set_status;
	__typeof__(clReleaseEvent) *release;
	void (*function)(void *context);
	void *context;
	cl_event called; // user event
};

static void CL_CALLBACK call_host(cl_event event, cl_int status, void *context)
{
	struct host_call *call = context;
	(void)event;
	// What the marker waited for failed: the call is not made, and the failure travels on.
	if (status >= 0)
		call->function(call->context);
	call->set_status(call->called, status < 0 ? status : CL_COMPLETE);
	call->release(call->called);
	free(call);
}

int opencl_append_host_call(const struct opencl_append *append, struct tare_error *error)
{
	const struct opencl_functions *cl = append->device->cl;
	struct host_call *call = calloc(1, sizeof *call);
	const char *failed = "clEnqueueMarkerWithWaitList";
	cl_event marker = NULL;
	cl_int code = CL_SUCCESS;

	if (!call)
		return tare_fail(error, ENOMEM, "out of memory");
	*call = (struct host_call){ .set_status = cl->clSetUserEventStatus,
		                    .release = cl->clReleaseEvent,
		                    .function = append->operation->call.function,
		                    .context = append->operation->call.context };
	int rc = opencl_user_event(append->device, append->queue->context, &call->called, error);
	if (rc < 0) {
		free(call);
		return rc;
	}
	code = cl->clEnqueueMarkerWithWaitList(append->queue->queue, append->wait_count,
	                                       append->waits, &marker);
	if (code != CL_SUCCESS)
		goto out;
	// The barrier goes first: the callback may run inside clSetEventCallback and end `called`.
	failed = "clEnqueueBarrierWithWaitList";
	code =
	    cl->clEnqueueBarrierWithWaitList(append->queue->queue, 1, &call->called, append->event);
	if (code != CL_SUCCESS)
		goto out;
	failed = "clSetEventCallback";
	code = cl->clSetEventCallback(marker, CL_COMPLETE, call_host, call);
	if (code == CL_SUCCESS) {
		cl->clReleaseEvent(marker);
		return 0;
	}
	if (append->event)
		cl->clReleaseEvent(*append->event);
out:
	if (marker)
		cl->clReleaseEvent(marker);
	cl->clSetUserEventStatus(call->called, CL_COMPLETE);
	cl->clReleaseEvent(call->called);
	free(call);
	return opencl_fail(error, failed, code, "cannot call the host from a queue");
}
