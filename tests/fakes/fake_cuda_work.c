// SPDX-License-Identifier: Apache-2.0
// Streams and events of the stand-in for libcuda, as they are called. Events tell only differences,
// as a float of milliseconds, in steps of the timer; one that is recorded again stands for its last
// record; destroying what is pending lets that go on.
#include "fake_cuda_device.h"

#include <stdlib.h>
#include <string.h>

cu_result cuStreamCreate(cu_stream *stream, unsigned int flags)
{
	ENTER_CONTEXT();
	if (flags & ~(unsigned int)ABI_STREAM_NON_BLOCKING)
		return leave(ABI_INVALID_VALUE);
	*stream = new_stream(current->device, flags);
	gpu.objects++;
	return leave(ABI_SUCCESS);
}

FAKE_EXPORT cu_result cuStreamCreateWithPriority(cu_stream *stream, unsigned int flags,
                                                 int priority);
cu_result cuStreamCreateWithPriority(cu_stream *stream, unsigned int flags, int priority)
{
	cu_result result = cuStreamCreate(stream, flags);
	if (result == ABI_SUCCESS)
		(*stream)->priority = priority;
	return result;
}

cu_result cuStreamDestroy_v2(cu_stream handle)
{
	struct cu_stream_object *stream;
	ENTER_CONTEXT();
	cu_result result = stream_of(handle, &stream);
	if (result != ABI_SUCCESS || stream != handle)
		return leave(ABI_INVALID_HANDLE);
	gpu.objects--;
	stream->destroyed = true;
	pump();
	return leave(ABI_SUCCESS);
}

cu_result refuse_capturing(struct cu_stream_object *stream)
{
	if (!stream->capture)
		return ABI_SUCCESS;
	stream->capture->invalid = true;
	return FAKE_CAPTURE_UNSUPPORTED;
}

cu_result cuStreamSynchronize(cu_stream handle)
{
	struct cu_stream_object *stream;
	ENTER_CONTEXT();
	cu_result result = stream_of(handle, &stream);
	if (result == ABI_SUCCESS)
		result = refuse_capturing(stream);
	return leave(result == ABI_SUCCESS ? drain(stream) : result);
}

cu_result cuStreamQuery(cu_stream handle)
{
	struct cu_stream_object *stream;
	ENTER_CONTEXT();
	cu_result result = stream_of(handle, &stream);
	if (result == ABI_SUCCESS)
		result = refuse_capturing(stream);
	if (result != ABI_SUCCESS)
		return leave(result);
	pump();
	if (current->device->lost)
		return leave(current->device->lost);
	return leave(stream->count ? ABI_NOT_READY : ABI_SUCCESS);
}

cu_result cuStreamWaitEvent(cu_stream handle, cu_event event, unsigned int flags)
{
	struct cu_stream_object *stream;
	struct op op = { .kind = WAIT, .model.flow = TARE_FLOW_NONE }, *made = NULL;
	ENTER_CONTEXT();
	cu_result result = stream_of(handle, &stream);
	if (result != ABI_SUCCESS)
		return leave(result);
	if ((stream->capture && !(flags & FAKE_RECORD_EXTERNAL)) || event->capture)
		return leave(capture_wait(stream, event));
	result = append(handle, &op, &made);
	if (made)
		follow(made, event->last);
	return leave(result);
}

cu_result cuStreamWaitValue32_v2(cu_stream stream, cu_pointer address, cu_u32 value,
                                 unsigned int flags)
{
	struct op op = { .kind = WAIT_VALUE,
		         .word = AT(address),
		         .value = value,
		         .model.flow = TARE_FLOW_NONE };
	ENTER_CONTEXT();
	if (gpu.words.no_wait_value)
		return leave(ABI_NOT_SUPPORTED);
	if (flags != ABI_STREAM_WAIT_VALUE_GEQ || address % 4 || !range_of(AT(address)))
		return leave(ABI_INVALID_VALUE);
	return leave(append(stream, &op, NULL));
}

cu_result cuEventCreate(cu_event *event, unsigned int flags)
{
	ENTER_CONTEXT();
	*event = calloc(1, sizeof **event);
	(*event)->device = current->device;
	(*event)->timed = !(flags & ABI_EVENT_DISABLE_TIMING);
	(*event)->users = 1;
	gpu.objects++;
	return leave(ABI_SUCCESS);
}

cu_result cuEventDestroy_v2(cu_event event)
{
	pthread_mutex_lock(&mutex);
	cu_result result = event->device->lost;
	gpu.objects--;
	if (--event->users == 0) {
		forget_captured(event);
		free(event);
	}
	return leave(result);
}

static cu_result record(cu_event event, cu_stream handle, bool external)
{
	struct cu_stream_object *stream;
	struct op op = { .kind = RECORD, .event = event, .model.flow = TARE_FLOW_NONE };
	cu_result result = stream_of(handle, &stream);

	if (result != ABI_SUCCESS)
		return result;
	if (stream->device != event->device)
		return ABI_INVALID_HANDLE;
	gpu.records++;
	op.model.fixed_ps = stream->device->script.marker.fixed_ps;
	if (stream->capture && !external) {
		capture_event(stream, event);
		return ABI_SUCCESS;
	}
	forget_captured(event);
	return append(handle, &op, NULL);
}

cu_result cuEventRecord(cu_event event, cu_stream stream)
{
	ENTER_CONTEXT();
	return leave(record(event, stream, false));
}

FAKE_EXPORT cu_result cuEventRecordWithFlags(cu_event event, cu_stream stream, unsigned int flags);
cu_result cuEventRecordWithFlags(cu_event event, cu_stream stream, unsigned int flags)
{
	ENTER_CONTEXT();
	if (flags & ~(unsigned int)FAKE_RECORD_EXTERNAL)
		return leave(ABI_INVALID_VALUE);
	return leave(record(event, stream, flags & FAKE_RECORD_EXTERNAL));
}

cu_result cuEventQuery(cu_event event)
{
	ENTER_CONTEXT();
	pump();
	if (event->device->lost)
		return leave(event->device->lost);
	if (event->capture)
		return leave(ABI_CAPTURED_EVENT);
	return leave(event->done < event->asked ? ABI_NOT_READY : ABI_SUCCESS);
}

cu_result cuEventSynchronize(cu_event event)
{
	ENTER_CONTEXT();
	if (event->capture)
		return leave(ABI_CAPTURED_EVENT);
	pump();
	bool waits = event->done < event->asked;
	while (event->done < event->asked && !event->device->lost) {
		if (event->last && head_is_stuck(event->last->stream))
			would_hang("a synchronisation behind a shut gate");
		pause_shortly();
		pump();
	}
	host_wakes(event->device, waits);
	return leave(event->device->lost);
}

cu_result cuEventElapsedTime(float *ms, cu_event start, cu_event end)
{
	ENTER_CONTEXT();
	pump();
	if (!start->timed || !end->timed || !start->recorded || !end->recorded ||
	    start->device != end->device)
		return leave(ABI_INVALID_HANDLE);
	if (start->capture || end->capture)
		return leave(ABI_CAPTURED_EVENT);
	if (start->done < start->asked || end->done < end->asked)
		return leave(ABI_NOT_READY);
	int64_t step = gpu.words.step;
	*ms = (float)((double)(end->ns / step * step - start->ns / step * step) / 1e6);
	return leave(ABI_SUCCESS);
}

cu_result cuLaunchHostFunc(cu_stream stream, cu_host_function function, void *data)
{
	struct op op = {
		.kind = HOST_CALL, .function = function, .data = data, .model.flow = TARE_FLOW_NONE
	};
	ENTER_CONTEXT();
	if (!function)
		return leave(ABI_INVALID_VALUE);
	op.model.fixed_ps = current->device->script.call.fixed_ps;
	return leave(append(stream, &op, NULL));
}
