// SPDX-License-Identifier: Apache-2.0
// The records of calls that are no commands, and what they made.
#include "guest/cuda/cuda.h"
#include "guest/region.h"
#include "guest/stack/stack.h"

#include <string.h>

// ---- what they say

static void know_memory(const void *address, uint64_t bytes, uint8_t memory,
                        const struct cupti_call *told)
{
	if (!address)
		return;
	guest_region_add(address, bytes, 0, memory);
	cuda_define(0, TARE_OBJECT_MEMORY, address, told->context, NULL, 0, bytes, 0, memory);
}

static struct cuda_said allocated(const struct cuda_call *call,
                                  const struct cuda_function *function)
{
	const struct cupti_call *told = call->told;
	const void *const *made = cuda_parameter(told, 0);
	uint64_t bytes = (uintptr_t)cuda_parameter(told, 1);
	const void *address = function->form == CUDA_REGISTER ? (const void *)made : NULL;
	if (function->form != CUDA_REGISTER && made)
		address = *made;
	if (function->form == CUDA_ALLOCATE_PITCH) {
		const size_t *pitch = cuda_parameter(told, 1);
		bytes = pitch ? (uint64_t)*pitch * (uintptr_t)cuda_parameter(told, 3) : 0;
	}
	know_memory(address, bytes, function->detail, told);
	if (function->detail == TARE_TRACE_MEMORY_SHARED)
		cuda_pages_begin(told->context);
	return (struct cuda_said){ (uintptr_t)address, bytes, false };
}

static uint64_t module_of(const struct cupti_call *told)
{
	const void *const *made = cuda_parameter(told, 0);
	if (!made || !*made)
		return 0;
	cuda_define(0, TARE_OBJECT_PROGRAM, *made, told->context, NULL, 0, 0, 0, 0);
	return (uintptr_t)*made;
}

static uint64_t stream_object(struct guest_thread *thread, const struct cuda_call *call)
{
	cu_stream handle = (cu_stream)(uintptr_t)cuda_parameter(call->told, 0);
	const struct cuda_stream *stream =
	    cuda_stream_of(thread, call->told, handle, call->of_thread);
	return !stream ? 0 : (uintptr_t)handle <= 2 ? (uintptr_t)stream : (uintptr_t)handle;
}

static void event_recorded(struct guest_thread *thread, const struct cuda_call *call)
{
	cu_stream handle = (cu_stream)(uintptr_t)cuda_parameter(call->told, 1);
	struct cuda_stream *stream = cuda_stream_of(thread, call->told, handle, call->of_thread);
	if (stream && !cuda_is_captured(handle))
		cuda_order_recorded(stream, cuda_parameter(call->told, 0));
}

static void event_awaited(struct guest_thread *thread, const struct cuda_call *call)
{
	cu_stream handle = (cu_stream)(uintptr_t)cuda_parameter(call->told, 0);
	struct cuda_stream *stream = cuda_stream_of(thread, call->told, handle, call->of_thread);
	if (stream && !cuda_is_captured(handle))
		cuda_order_awaited(stream, cuda_parameter(call->told, 1));
}

// What the queue of a wait is, is said by what its event stands for.
static void event_waited(struct guest_thread *thread, const struct cuda_call *call)
{
	uint64_t ids[CUDA_MOST_WAITS];
	uint32_t count = cuda_order_of_event(cuda_parameter(call->told, 0), ids);
	cuda_write_depends(thread, TARE_DEPENDS_OF_CALL, call->enter, count, ids);
}

// Before any thread can use it.
static void stream_made(struct guest_thread *thread, const struct cuda_call *call)
{
	const cu_stream *made = cuda_parameter(call->told, 0);
	if (made && *made)
		cuda_stream_of(thread, call->told, *made, false);
}

static void graph_made(const struct cupti_call *told)
{
	const void *const *made = cuda_parameter(told, 0);
	if (made && *made)
		cuda_define(0, TARE_OBJECT_GRAPH, *made, told->context, NULL, 0, 0, 0, 0);
}

struct cuda_said cuda_said_of(struct guest_thread *thread, const struct cuda_call *call)
{
	const struct cuda_function *function = &cuda_functions[call->function];
	struct cuda_said said = { 0 };
	switch (function->form) {
	case CUDA_ALLOCATE:
	case CUDA_ALLOCATE_PITCH:
	case CUDA_REGISTER:
		return allocated(call, function);
	case CUDA_FREE:
		return (struct cuda_said){ (uintptr_t)cuda_parameter(call->told, 0), 0, true };
	case CUDA_MODULE:
		said.object = module_of(call->told);
		return said;
	case CUDA_OF_STREAM:
		said.object = stream_object(thread, call);
		return said;
	case CUDA_EVENT_RECORD:
		event_recorded(thread, call);
		return said;
	case CUDA_EVENT_AWAIT:
		event_awaited(thread, call);
		return said;
	case CUDA_STREAM_CREATE:
		stream_made(thread, call);
		return said;
	case CUDA_GRAPH_MADE:
		graph_made(call->told);
		return said;
	case CUDA_CAPTURE_BEGIN:
		atomic_fetch_add(&cuda_captures, 1);
		return said;
	default:
		return said;
	}
}

void cuda_before_free(const struct cupti_call *told, const struct cuda_function *function)
{
	void *first = (void *)(uintptr_t)cuda_parameter(told, 0);
	if (function->form == CUDA_FREE)
		guest_region_forget(first);
	else if (function->form == CUDA_STREAM_DESTROY)
		cuda_stream_forget(first);
	else
		cuda_order_forget(first);
}

// ---- records

// Whether it matters from where a call is made: there are many that only let go of something.
static bool has_site(enum tare_trace_role role)
{
	return role == TARE_ROLE_WAIT || role == TARE_ROLE_BUILD || role == TARE_ROLE_ALLOCATE;
}

static bool adds_up(enum tare_trace_role role)
{
	return role == TARE_ROLE_POLL || role == TARE_ROLE_QUERY || role == TARE_ROLE_OTHER;
}

// Calls of one function in a row are one record.
static bool count_polled(struct guest_thread *thread, const struct cuda_call *call, uint64_t exit,
                         bool failed)
{
	union tare_trace_record *last = thread->polled;
	struct tare_trace_polled *polled;
	if (!last || tare_trace_detail(last->head) != cuda_detail(call->name))
		return false;
	polled = &last->polled;
	polled->failed += failed;
	polled->ticks += exit - call->enter;
	polled->last_exit = exit;
	__atomic_store_n(&polled->count, polled->count + 1, __ATOMIC_RELEASE);
	return true;
}

static void asked(struct guest_thread *thread, const struct cuda_call *call, uint64_t exit)
{
	bool failed = call->result != ABI_SUCCESS && call->result != ABI_NOT_READY;
	union tare_trace_record *record;
	if (count_polled(thread, call, exit, failed))
		return;
	record = guest_event(thread);
	if (!record)
		return;
	record->polled = (struct tare_trace_polled){ .first_enter = call->enter,
		                                     .last_exit = exit,
		                                     .count = 1,
		                                     .ticks = exit - call->enter,
		                                     .failed = failed };
	guest_commit(record, tare_trace_head(TARE_TRACE_POLLED, call->nested ? TARE_CALL_NESTED : 0,
	                                     cuda_detail(call->name), thread->track));
	thread->polled = record;
}

void cuda_call_end(struct guest_thread *thread, const struct cuda_call *call)
{
	const struct cuda_function *function = &cuda_functions[call->function];
	bool failed = call->result != ABI_SUCCESS;
	struct cuda_said said = { 0 };
	union tare_trace_record *record;
	uint64_t exit = guest_ticks();
	uint8_t flags;
	thread->left_ticks = exit;
	if (function->waits)
		guest_waiting(thread, 0, 0);
	cuda_know_function(thread, call->name);
	if (adds_up(function->role) && (function->role == TARE_ROLE_POLL || !failed)) {
		asked(thread, call, exit);
		return;
	}
	// A capture that failed has ended, too.
	if (function->form == CUDA_CAPTURE_END && atomic_load(&cuda_captures) > 0)
		atomic_fetch_sub(&cuda_captures, 1);
	if (!failed)
		said = cuda_said_of(thread, call);
	record = guest_event(thread);
	if (!record)
		return;
	record->call = (struct tare_trace_call){ .enter = call->enter,
		                                 .exit = exit,
		                                 .result = (int64_t)call->result,
		                                 .object = said.object,
		                                 .bytes = said.bytes };
	flags = failed ? TARE_CALL_FAILED : 0;
	flags |= said.released ? TARE_CALL_RELEASED : 0;
	flags |= call->nested ? TARE_CALL_NESTED : 0;
	guest_commit(record, tare_trace_head(TARE_TRACE_CALL, flags, cuda_detail(call->name),
	                                     thread->track));
	if (function->form == CUDA_EVENT_WAIT)
		event_waited(thread, call);
	if (CUDA_UNLIKELY(guest_stacks) && has_site(function->role))
		guest_site(thread, TARE_SITE_OF_CALL, call->enter, guest_stack());
	guest_cpu_time(thread, call->enter, exit);
}

void cuda_runtime_call_end(struct guest_thread *thread, const struct cuda_call *call)
{
	enum tare_trace_role role = cuda_runtime_role(call->name - CUDA_MOST_FUNCTIONS);
	bool failed = call->result != ABI_SUCCESS;
	union tare_trace_record *record;
	uint64_t exit = guest_ticks();
	uint8_t flags = failed ? TARE_CALL_FAILED : 0;
	thread->left_ticks = exit;
	cuda_know_function(thread, call->name);
	if (adds_up(role)) {
		asked(thread, call, exit);
		return;
	}
	record = guest_event(thread);
	if (!record)
		return;
	record->call = (struct tare_trace_call){ .enter = call->enter,
		                                 .exit = exit,
		                                 .result = (int64_t)call->result };
	flags |= call->nested ? TARE_CALL_NESTED : 0;
	guest_commit(record, tare_trace_head(TARE_TRACE_CALL, flags, cuda_detail(call->name),
	                                     thread->track));
	if (CUDA_UNLIKELY(guest_stacks) && has_site(role))
		guest_site(thread, TARE_SITE_OF_CALL, call->enter, guest_stack());
	guest_cpu_time(thread, call->enter, exit);
}
