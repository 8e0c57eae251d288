// SPDX-License-Identifier: Apache-2.0
// Events in the program's hands: what it asks of them is answered as without us, and what the
// answers tell is used.
#include "guest/opencl/layer.h"

#include <string.h>

enum { AT_A_LOOK = 16, AT_A_WAIT = 256 };

cl_int layer_do_clGetEventInfo(layer_next_clGetEventInfo next, cl_event event, cl_event_info name,
                               size_t bytes, void *value, size_t *bytes_ret)
{
	cl_int result = next(event, name, bytes, value, bytes_ret);
	if (result != CL_SUCCESS || value == NULL ||
	    (name != CL_EVENT_COMMAND_EXECUTION_STATUS && name != CL_EVENT_REFERENCE_COUNT))
		return result;
	cl_int number;
	memcpy(&number, value, sizeof number);
	if (name == CL_EVENT_COMMAND_EXECUTION_STATUS && number > CL_COMPLETE)
		return result;
	struct guest_thread *thread = layer_thread();
	struct layer_queue *queue = thread != NULL ? layer_queue_of_event(thread, event) : NULL;
	if (thread != NULL && queue == NULL && name == CL_EVENT_COMMAND_EXECUTION_STATUS)
		layer_harvest_released(thread);
	if (queue == NULL)
		return result;
	if (name == CL_EVENT_COMMAND_EXECUTION_STATUS) {
		if (layer_of(thread) != NULL)
			layer_of(thread)->stands_by = true;
		layer_harvest_queue(thread, queue, AT_A_LOOK, 0, 0);
		if (layer_of(thread) != NULL)
			layer_of(thread)->stands_by = false;
	} else {
		number -= (cl_int)layer_held(queue, event);
		memcpy(value, &number, sizeof number);
	}
	return result;
}

// Whether the program may not know that the event's queue has profiling.
static bool is_hidden(cl_event event)
{
	cl_command_queue handle = NULL;
	if (event == NULL || layer_next.clGetEventInfo(event, CL_EVENT_COMMAND_QUEUE, sizeof handle,
	                                               &handle, NULL) != CL_SUCCESS)
		return false;
	const struct layer_queue *queue =
	    (const struct layer_queue *)layer_object_find(TARE_OBJECT_QUEUE, handle);
	return queue != NULL && queue->altered;
}

cl_int layer_do_clGetEventProfilingInfo(layer_next_clGetEventProfilingInfo next, cl_event event,
                                        cl_profiling_info name, size_t bytes, void *value,
                                        size_t *bytes_ret)
{
	if (is_hidden(event))
		return CL_PROFILING_INFO_NOT_AVAILABLE;
	return next(event, name, bytes, value, bytes_ret);
}

// Before, because the events may be gone when it returns: another thread may have released them.
void layer_before_clWaitForEvents(struct guest_thread *thread, cl_uint count,
                                  const cl_event *events)
{
	struct layer_thread *mine = layer_of(thread);
	uint32_t known = 0;
	for (cl_uint i = 0;
	     events != NULL && i < count && i < 4 * LAYER_WAITED && known < LAYER_WAITED; i++) {
		struct layer_queue *queue =
		    events[i] != NULL ? layer_queue_of_event(thread, events[i]) : NULL;
		bool again = queue == NULL;
		for (uint32_t j = 0; j < known && !again; j++)
			again = mine->waited[j] == queue;
		if (!again)
			mine->waited[known++] = queue;
	}
	mine->waited_count = known;
}

void layer_after_clWaitForEvents(struct guest_thread *thread, cl_int result, cl_uint count,
                                 const cl_event *events)
{
	struct layer_thread *mine = layer_of(thread);
	uint32_t known = mine->waited_count;
	mine->waited_count = 0;
	if (result != CL_SUCCESS && result != CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST)
		return;
	mine->stands_by = true;
	for (uint32_t i = 0; i < known; i++)
		layer_harvest_queue(thread, mine->waited[i], AT_A_WAIT, 0, 0);
	mine->stands_by = false;
}

// ---- events that are no command's

void layer_after_clCreateUserEvent(struct guest_thread *thread, cl_event result, cl_context context,
                                   cl_int *error)
{
	if (result != NULL)
		layer_define(TARE_OBJECT_EVENT, result, context, NULL, 0, 0, 0, 0);
}

void layer_after_clCreateEventFromGLsyncKHR(struct guest_thread *thread, cl_event result,
                                            cl_context context, cl_GLsync sync, cl_int *error)
{
	if (result != NULL)
		layer_define(TARE_OBJECT_EVENT, result, context, NULL, 0, 0, 0, 0);
}

void layer_after_clCreateEventFromEGLSyncKHR(struct guest_thread *thread, cl_event result,
                                             cl_context context, CLeglSyncKHR sync,
                                             CLeglDisplayKHR display, cl_int *error)
{
	if (result != NULL)
		layer_define(TARE_OBJECT_EVENT, result, context, NULL, 0, 0, 0, 0);
}

// References of the context's that commands hold are given back first.
cl_int layer_do_clGetContextInfo(layer_next_clGetContextInfo next, cl_context context,
                                 cl_context_info name, size_t bytes, void *value, size_t *bytes_ret)
{
	struct guest_thread *thread = name == CL_CONTEXT_REFERENCE_COUNT ? layer_thread() : NULL;
	for (struct layer_queue *queue = layer_queues(); thread != NULL && queue != NULL;
	     queue = queue->following) {
		if (atomic_load(&queue->free) == LAYER_QUEUE_USED && queue->context == context)
			layer_harvest_queue(thread, queue, UINT32_MAX, 0, 0);
	}
	return next(context, name, bytes, value, bytes_ret);
}
