// SPDX-License-Identifier: Apache-2.0
// A gate is a user event with a barrier on the queue that waits for it.
#include "backend/opencl/opencl.h"

#include <errno.h>
#include <stdlib.h>

struct opencl_gate {
	struct tare_gate base;
	cl_event event;
	cl_command_queue queue; // retained
	bool shut;
};

int opencl_user_event(const struct opencl_device *device, cl_context context, cl_event *event,
                      struct tare_error *error)
{
	cl_int code = CL_SUCCESS;

	if (!device->user_events)
		return tare_fail(
		    error, ENOTSUP,
		    "PoCL before 5.0 hangs when its 'basic' device is held "
		    "back by the host; its other devices do not (POCL_DEVICES=pthread)");
	*event = device->cl->clCreateUserEvent(context, &code);
	if (code == CL_SUCCESS)
		return 0;
	int rc = opencl_fail(error, "clCreateUserEvent", code, "cannot hold a queue");
	if (rc == -ENOMEM || rc == -ENODEV)
		return rc;
	// The arguments are ours, so any other refusal means that the device has no user events.
	if (error)
		error->code = -ENOTSUP;
	return -ENOTSUP;
}

int opencl_gate_shut(struct tare_queue *queue, struct tare_gate **gate, struct tare_error *error)
{
	struct opencl_device *device = opencl_device(queue->device);
	struct opencl_queue *own = (struct opencl_queue *)queue;
	struct opencl_gate *created = calloc(1, sizeof *created);

	if (!created)
		return tare_fail(error, ENOMEM, "out of memory");
	created->base.device = queue->device;
	int rc = opencl_user_event(device, own->context, &created->event, error);
	if (rc < 0) {
		free(created);
		return rc;
	}
	// A barrier, not a marker: out-of-order queues must not run past it.
	cl_int code =
	    device->cl->clEnqueueBarrierWithWaitList(own->queue, 1, &created->event, NULL);
	if (code != CL_SUCCESS) {
		device->cl->clSetUserEventStatus(created->event, CL_COMPLETE);
		device->cl->clReleaseEvent(created->event);
		free(created);
		return opencl_fail(error, "clEnqueueBarrierWithWaitList", code,
		                   "cannot hold a queue");
	}
	device->cl->clRetainCommandQueue(own->queue);
	created->queue = own->queue;
	created->shut = true;
	*gate = &created->base;
	return 0;
}

int opencl_gate_open(struct tare_gate *gate, struct tare_error *error)
{
	struct opencl_gate *own = (struct opencl_gate *)gate;
	const struct opencl_functions *cl = opencl_device(gate->device)->cl;

	if (!own->shut)
		return 0;
	cl_int code = cl->clSetUserEventStatus(own->event, CL_COMPLETE);
	if (code != CL_SUCCESS)
		return opencl_fail(error, "clSetUserEventStatus", code, "cannot let a queue go");
	own->shut = false;
	// PoCL's `basic` device starts what became ready only inside a flush; elsewhere this is
	// free.
	cl->clFlush(own->queue);
	return 0;
}

void opencl_gate_free(struct tare_gate *gate)
{
	struct opencl_gate *own = (struct opencl_gate *)gate;
	if (!own)
		return;
	const struct opencl_functions *cl = opencl_device(own->base.device)->cl;
	opencl_gate_open(gate, NULL);
	cl->clReleaseEvent(own->event);
	cl->clReleaseCommandQueue(own->queue);
	free(own);
}
