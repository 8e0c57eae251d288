// SPDX-License-Identifier: Apache-2.0
// The other half of fake_cuda.c: streams, events, kernels and graphs.
#include "fake_cuda_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- gpu.streams and events

cu_result cuStreamCreate(cu_stream *stream, unsigned int flags)
{
	(void)flags;
	ENTER_CONTEXT();
	for (int i = 1; i < MAX_STREAMS; i++)
		if (!gpu.streams[i].used) {
			gpu.streams[i].used = true;
			gpu.streams[i].count = 0;
			gpu.streams[i].ready_ns = 0;
			*stream = &gpu.streams[i];
			gpu.objects++;
			return leave(ABI_SUCCESS);
		}
	return leave(ABI_OUT_OF_MEMORY);
}

cu_result cuStreamDestroy_v2(cu_stream stream)
{
	ENTER_CONTEXT();
	if (!stream->used || stream->destroyed)
		return leave(ABI_INVALID_HANDLE);
	gpu.objects--;
	stream->destroyed = true;
	pump();
	return leave(ABI_SUCCESS);
}

cu_result cuStreamSynchronize(cu_stream stream)
{
	ENTER_CONTEXT();
	return leave(drain(stream));
}

cu_result cuStreamQuery(cu_stream stream)
{
	ENTER_CONTEXT();
	pump();
	return leave(gpu.lost ? gpu.lost : stream_of(stream)->count ? ABI_NOT_READY : ABI_SUCCESS);
}

cu_result cuStreamWaitEvent(cu_stream stream, cu_event event, unsigned int flags)
{
	(void)flags;
	ENTER_CONTEXT();
	return leave(append(stream, (struct op){ .kind = WAIT_EVENT, .event = event,
	                                         .generation = event->captured ? 0 : event->asked }));
}

cu_result cuStreamWaitValue32_v2(cu_stream stream, cu_pointer address, cu_u32 value,
                                 unsigned int flags)
{
	ENTER_CONTEXT();
	if (gpu.script.no_wait_value)
		return leave(ABI_NOT_SUPPORTED);
	if (flags != ABI_STREAM_WAIT_VALUE_GEQ || address % 4 || !range_of(AT(address)))
		return leave(ABI_INVALID_VALUE);
	return leave(append(stream, (struct op){ .kind = WAIT_VALUE, .word = AT(address),
	                                         .value = value }));
}

cu_result cuEventCreate(cu_event *event, unsigned int flags)
{
	ENTER_CONTEXT();
	*event = calloc(1, sizeof **event);
	(*event)->timed = !(flags & ABI_EVENT_DISABLE_TIMING);
	gpu.objects++;
	return leave(ABI_SUCCESS);
}

cu_result cuEventDestroy_v2(cu_event event)
{
	pthread_mutex_lock(&mutex);
	pump();
	// CUDA keeps what is still pending; so does this, at the price of a small leak.
	if (event->asked == event->done || gpu.lost)
		free(event);
	gpu.objects--;
	return leave(gpu.lost);
}

cu_result cuEventRecord(cu_event event, cu_stream stream)
{
	ENTER_CONTEXT();
	gpu.records++;
	if (stream_of(stream)->capturing) {
		event->captured = true;
		return leave(ABI_SUCCESS);
	}
	event->recorded = true;
	event->captured = false;
	event->asked++;
	return leave(append(stream, (struct op){ .kind = RECORD, .event = event, .cost_ns = 700 }));
}

cu_result cuEventQuery(cu_event event)
{
	ENTER_CONTEXT();
	pump();
	if (gpu.lost)
		return leave(gpu.lost);
	if (event->captured)
		return leave(ABI_CAPTURED_EVENT);
	return leave(event->done < event->asked ? ABI_NOT_READY : ABI_SUCCESS);
}

cu_result cuEventSynchronize(cu_event event)
{
	ENTER_CONTEXT();
	pump();
	while (event->done < event->asked && !gpu.lost) {
		pause_shortly();
		pump();
	}
	return leave(gpu.lost);
}

cu_result cuEventElapsedTime(float *ms, cu_event start, cu_event end)
{
	ENTER_CONTEXT();
	pump();
	if (!start->timed || !end->timed || !start->recorded || !end->recorded)
		return leave(ABI_INVALID_HANDLE);
	if (start->done < start->asked || end->done < end->asked)
		return leave(ABI_NOT_READY);
	int64_t step = gpu.script.step;
	*ms = (float)((double)(end->ns / step * step - start->ns / step * step) / 1e6);
	return leave(ABI_SUCCESS);
}

cu_result cuLaunchHostFunc(cu_stream stream, cu_host_function function, void *data)
{
	ENTER_CONTEXT();
	gpu.functions_pending++;
	cu_result result = append(stream, (struct op){ .kind = HOST_FUNCTION, .function = function,
	                                               .data = data });
	wake_worker();
	return leave(result);
}

// ---- kernels

// Finds the .entry points of a PTX text.
static void find_entries(struct cu_module_object *module)
{
	const char *at = module->text;

	while ((at = strstr(at, ".entry ")) && module->count < 4) {
		size_t length;
		at += strlen(".entry ");
		length = strcspn(at, "( \n\t");
		snprintf(module->functions[module->count++].name, 32, "%.*s", (int)length, at);
	}
}

cu_result cuModuleLoadDataEx(cu_module *module, const void *image, unsigned int option_count,
                             cu_jit_option *options, void **values)
{
	ENTER_CONTEXT();
	if (!strstr(image, ".version") || !strstr(image, ".entry")) {
		for (unsigned i = 0; i < option_count; i++)
			if (options[i] == ABI_JIT_ERROR_LOG_BUFFER)
				strcpy(values[i], "ptxas fatal: Missing .version directive");
		return leave(ABI_INVALID_PTX);
	}
	*module = calloc(1, sizeof **module);
	(*module)->text = strdup(image);
	find_entries(*module);
	gpu.objects++;
	return leave(ABI_SUCCESS);
}

cu_result cuModuleUnload(cu_module module)
{
	// Even when the context is lost the host's memory goes.
	pthread_mutex_lock(&mutex);
	free(module->text);
	free(module);
	gpu.objects--;
	return leave(gpu.lost);
}

cu_result cuModuleGetFunction(cu_function *function, cu_module module, const char *name)
{
	ENTER_CONTEXT();
	for (int i = 0; i < module->count; i++)
		if (strcmp(module->functions[i].name, name) == 0) {
			*function = &module->functions[i];
			return leave(ABI_SUCCESS);
		}
	return leave(ABI_NOT_FOUND);
}

cu_result cuFuncGetAttribute(int *value, cu_function_attribute attribute, cu_function function)
{
	static const int values[] = { [ABI_FUNCTION_MAX_THREADS_PER_BLOCK] = 1024,
		                      [ABI_FUNCTION_NUM_REGS] = 24 };
	(void)function;
	ENTER_CONTEXT();
	*value = values[attribute];
	return leave(ABI_SUCCESS);
}

cu_result cuFuncLoad(cu_function function)
{
	(void)function;
	ENTER_CONTEXT();
	return leave(ABI_SUCCESS);
}

// A kernel `store` writes to its first argument what reached it: the value of its second, its
// third and fourth (offsets into shared memory), and the bytes of shared memory.
cu_result cuLaunchKernel(cu_function function, unsigned int groups_x, unsigned int groups_y,
                         unsigned int groups_z, unsigned int size_x, unsigned int size_y,
                         unsigned int size_z, unsigned int shared_bytes, cu_stream stream,
                         void **parameters, void **extra)
{
	struct op op = { .kind = KERNEL, .cost_ns = 2000 };

	ENTER_CONTEXT();
	if (extra || !groups_x || !groups_y || !groups_z || !size_x || !size_y || !size_z ||
	    (uint64_t)size_x * size_y * size_z > 1024)
		return leave(ABI_INVALID_VALUE);
	gpu.launches++;
	if (gpu.launches == gpu.script.fail_launch)
		op.fails = ABI_LAUNCH_FAILED;
	if (gpu.launches == gpu.script.hang_launch)
		op.cost_ns = FOR_EVER;
	if (strcmp(function->name, "store") == 0) {
		op.destination = AT(*(cu_pointer *)parameters[0]);
		for (int i = 0; i < 3; i++)
			op.store[i] = *(uint32_t *)parameters[i + 1];
		op.store[3] = shared_bytes;
	}
	return leave(append(stream, op));
}

// ---- graphs

cu_result cuStreamBeginCapture_v2(cu_stream stream, cu_capture_mode mode)
{
	(void)mode;
	ENTER_CONTEXT();
	struct cu_stream_object *self = stream_of(stream);
	if (self == &gpu.streams[0])
		return leave(900);
	self->capturing = true;
	self->captured = NULL;
	self->captured_count = 0;
	return leave(ABI_SUCCESS);
}

cu_result cuStreamEndCapture(cu_stream stream, cu_graph *graph)
{
	ENTER_CONTEXT();
	stream->capturing = false;
	*graph = calloc(1, sizeof **graph);
	**graph = (struct cu_graph_object){ stream->captured, stream->captured_count };
	gpu.objects++;
	return leave(ABI_SUCCESS);
}

cu_result cuGraphInstantiateWithFlags(cu_graph_exec *exec, cu_graph graph,
                                      unsigned long long flags)
{
	struct cu_graph_object *made = calloc(1, sizeof *made);
	(void)flags;
	ENTER_CONTEXT();
	made->count = graph->count;
	made->ops = calloc(graph->count + 1, sizeof *made->ops);
	if (graph->count)
		memcpy(made->ops, graph->ops, graph->count * sizeof *made->ops);
	*exec = (cu_graph_exec)made;
	gpu.objects++;
	return leave(ABI_SUCCESS);
}

cu_result cuGraphUpload(cu_graph_exec exec, cu_stream stream)
{
	(void)exec;
	(void)stream;
	return ABI_SUCCESS;
}

cu_result cuGraphLaunch(cu_graph_exec exec, cu_stream stream)
{
	struct cu_graph_object *self = (struct cu_graph_object *)exec;
	cu_result result = ABI_SUCCESS;
	ENTER_CONTEXT();
	for (size_t i = 0; i < self->count && result == ABI_SUCCESS; i++)
		result = append(stream, self->ops[i]);
	return leave(result);
}

cu_result cuGraphDestroy(cu_graph graph)
{
	ENTER_CONTEXT();
	free(graph->ops);
	free(graph);
	gpu.objects--;
	return leave(ABI_SUCCESS);
}

cu_result cuGraphExecDestroy(cu_graph_exec exec)
{
	return cuGraphDestroy((cu_graph)exec);
}
