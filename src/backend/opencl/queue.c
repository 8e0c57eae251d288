// SPDX-License-Identifier: Apache-2.0
#include "backend/opencl/opencl.h"

#include <errno.h>
#include <stdlib.h>

int opencl_queue_open(const struct opencl_device *device, cl_command_queue_properties properties,
                      cl_command_queue *queue, struct tare_error *error)
{
	const struct opencl_functions *cl = device->cl;
	cl_int code = CL_SUCCESS;

	if (cl->clCreateCommandQueueWithProperties && device->entry.version >= 200) {
		const cl_queue_properties list[] = { CL_QUEUE_PROPERTIES, properties, 0 };
		*queue = cl->clCreateCommandQueueWithProperties(device->context, device->entry.id,
		                                                list, &code);
		if (code != CL_SUCCESS)
			return opencl_fail(
			    error, "clCreateCommandQueueWithProperties", code,
			    "cannot create a queue%s",
			    properties & CL_QUEUE_PROFILING_ENABLE ? " with time stamps" : "");
		return 0;
	}
	*queue = cl->clCreateCommandQueue(device->context, device->entry.id, properties, &code);
	if (code != CL_SUCCESS)
		return opencl_fail(error, "clCreateCommandQueue", code, "cannot create a queue%s",
		                   properties & CL_QUEUE_PROFILING_ENABLE ? " with time stamps"
		                                                          : "");
	return 0;
}

static int refuse(const struct opencl_device *device, const struct tare_queue_options *options,
                  struct tare_error *error)
{
	if (options->engine)
		return tare_fail(error, ENOTSUP, "OpenCL does not let one choose a queue's engine");
	switch (options->order) {
	case TARE_QUEUE_IN_ORDER:
		break;
	case TARE_QUEUE_OUT_OF_ORDER:
		if (!device->out_of_order)
			return tare_fail(error, ENOTSUP, "this device has no out-of-order queues");
		break;
	case TARE_QUEUE_DEFERRED:
		return tare_fail(error, ENOTSUP, "OpenCL has no deferred queues");
	case TARE_QUEUE_LEGACY_DEFAULT:
	case TARE_QUEUE_THREAD_DEFAULT:
		return tare_fail(error, ENOTSUP, "OpenCL has no default queue");
	}
	if (options->timed && !device->profiling)
		return tare_fail(error, ENOTSUP,
		                 "this device cannot time operations (no profiling)");
	return 0;
}

int opencl_queue_create(struct tare_device *device, const struct tare_queue_options *options,
                        struct tare_queue **queue, struct tare_error *error)
{
	struct opencl_device *own = opencl_device(device);
	int rc = refuse(own, options, error);
	if (rc < 0)
		return rc;

	struct opencl_queue *created = calloc(1, sizeof *created);
	if (!created)
		return tare_fail(error, ENOMEM, "out of memory");
	created->base.device = device;
	created->context = own->context;
	created->timed = options->timed;
	created->out_of_order = options->order == TARE_QUEUE_OUT_OF_ORDER;
	rc = opencl_queue_open(
	    own,
	    (created->timed ? CL_QUEUE_PROFILING_ENABLE : 0) |
	        (created->out_of_order ? CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE : 0),
	    &created->queue, error);
	if (rc < 0) {
		free(created);
		return rc;
	}
	*queue = &created->base;
	return 0;
}

void opencl_queue_free(struct tare_queue *queue)
{
	struct opencl_queue *own = (struct opencl_queue *)queue;
	if (!own)
		return;
	if (own->queue)
		opencl_device(own->base.device)->cl->clReleaseCommandQueue(own->queue);
	free(own);
}

int opencl_submit(struct tare_queue *queue, struct tare_error *error)
{
	cl_int code =
	    opencl_device(queue->device)->cl->clFlush(((struct opencl_queue *)queue)->queue);
	return opencl_result(error, "clFlush", code, "cannot submit");
}

int opencl_finish(struct tare_queue *queue, int64_t limit_ns, struct tare_error *error)
{
	struct opencl_device *device = opencl_device(queue->device);
	cl_command_queue native = ((struct opencl_queue *)queue)->queue;
	cl_event last = NULL;
	cl_int code;

	if (limit_ns == TARE_LIMIT_NATIVE) {
		code = device->cl->clFinish(native);
		return opencl_result(error, "clFinish", code, "cannot finish a queue");
	}
	// clFinish has no limit. A marker with an empty wait list waits for all that came before.
	code = device->cl->clEnqueueMarkerWithWaitList(native, 0, NULL, &last);
	if (code != CL_SUCCESS)
		return opencl_fail(error, "clEnqueueMarkerWithWaitList", code,
		                   "cannot finish a queue");
	int rc = opencl_wait(device, last, limit_ns, "a queue", error);
	device->cl->clReleaseEvent(last);
	return rc;
}
