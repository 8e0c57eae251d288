// SPDX-License-Identifier: Apache-2.0
// Streams of the stand-in for libcuda, by CUDA's rules:
//  - what is in a stream runs in order; streams run beside each other;
//  - the legacy stream (NULL or 1) waits for all blocking streams of its context, and they wait for
//    it; streams created as non-blocking do not. The default stream of a thread (2) is a blocking
//    one;
//  - an event stands for what it was recorded behind when the wait for it was asked for;
//  - about 1,000 things fit into a stream: then the host blocks. Where it would do so for ever,
//    this aborts with a sentence.
#include "fake_cuda_device.h"

#include <stdlib.h>
#include <string.h>

static _Thread_local uint32_t last_correlation;

uint32_t next_correlation(void)
{
	// In a call of its own kind (fake_cuda_calls.c) it is that one's.
	uint32_t call = fake_cuda_call_under_way();
	return last_correlation = call ? call : fake_cuda_new_number();
}

uint32_t fake_cuda_last_correlation(void)
{
	return last_correlation;
}

// ---- operations

static void push(struct ops *ops, struct op *op)
{
	if (ops->count == ops->capacity) {
		ops->capacity = ops->capacity ? 2 * ops->capacity : 4;
		ops->at = realloc(ops->at, ops->capacity * sizeof *ops->at);
	}
	ops->at[ops->count++] = op;
}

void follow(struct op *op, struct op *first)
{
	if (!first || first == op)
		return;
	push(&op->waits, first);
	push(&first->followers, op);
	op->model.held = true;
}

void free_op(struct op *op)
{
	*(op->previous ? &op->previous->next : &op->lane->first) = op->next;
	*(op->next ? &op->next->previous : &op->lane->last) = op->previous;
	if (op->event && --op->event->users == 0) {
		forget_captured(op->event);
		free(op->event);
	}
	free(op->waits.at);
	free(op->followers.at);
	free(op->arguments);
	free(op->staged);
	free(op);
}

struct op *enqueue(struct cu_stream_object *stream, struct lane *lane, const struct op *what)
{
	struct op *op = malloc(sizeof *op);

	*op = *what;
	op->device = stream->device;
	op->stream = stream;
	op->lane = lane;
	op->previous = lane->last;
	op->next = NULL;
	*(lane->last ? &lane->last->next : &lane->first) = op;
	lane->last = op;
	op->waits = op->followers = (struct ops){ 0 };
	if (op->kind == RECORD) {
		op->event->users++;
		op->event->asked++;
		op->event->recorded = true;
		op->event->last = op;
	}
	if (op->model.flow != TARE_FLOW_NONE)
		op->device->working++;
	op->model.held = op->kind == WAIT_VALUE || op->kind == HOST_RETURN;
	if (op->model.submitted_ps == 0)
		op->model.submitted_ps = now_ps();
	op->model.submitted_ps += op->device->script.queue.submission_ps;
	tare_model_append(op->device->model, lane->queue, &op->model);
	return op;
}

struct op *enqueue_return(const struct op *call)
{
	static uint32_t number;
	struct op what = { .kind = HOST_RETURN,
		           .function = call->function,
		           .data = call->data,
		           .correlation = call->correlation,
		           .value = ++number,
		           .model.flow = TARE_FLOW_NONE };

	gpu.functions_pending++;
	wake_worker();
	return enqueue(call->stream, call->lane, &what);
}

void order_streams(struct op *op)
{
	struct device *device = op->device;
	struct cu_stream_object *legacy = device->streams;

	if (op->stream == legacy) {
		for (struct cu_stream_object *each = legacy->next; each; each = each->next)
			if (each->blocking)
				follow(op, each->lanes->last);
	} else if (op->stream->blocking) {
		follow(op, legacy->lanes->last);
	}
}

cu_result wait_for_room(struct cu_stream_object *stream)
{
	pump();
	while (stream->count >= QUEUE_DEPTH && !stream->device->lost) {
		if (head_is_stuck(stream))
			would_hang("a launch into a full queue");
		pause_shortly();
		pump();
	}
	return stream->device->lost;
}

static void drop_template(const struct op *op)
{
	free(op->arguments);
	free(op->staged);
}

// The legacy stream would wait for what is only recorded.
static bool captures_blocking(const struct device *device)
{
	for (const struct cu_stream_object *each = device->streams; each; each = each->next)
		if (each->capture && each->blocking)
			return true;
	return false;
}

cu_result append(cu_stream handle, const struct op *what, struct op **made)
{
	struct cu_stream_object *stream = NULL;
	cu_result result = stream_of(handle, &stream);

	if (made)
		*made = NULL;
	if (result == ABI_SUCCESS && stream->capture)
		return capture_operation(stream, what);
	if (result == ABI_SUCCESS && stream->legacy && captures_blocking(stream->device))
		result = FAKE_CAPTURE_IMPLICIT;
	if (result == ABI_SUCCESS)
		result = wait_for_room(stream);
	if (result != ABI_SUCCESS) {
		drop_template(what);
		return result;
	}
	struct op *op = enqueue(stream, stream->lanes, what);
	op->correlation = next_correlation();
	op->entry = true;
	stream->count++;
	order_streams(op);
	if (made)
		*made = op;
	if (op->kind == HOST_CALL) {
		enqueue_return(op)->entry = true;
		stream->count++;
	}
	return ABI_SUCCESS;
}

// Behind a shut gate, or waiting for what is.
static bool is_stuck(const struct op *op, int depth)
{
	if (!op || depth > 64)
		return false;
	if (op->kind == WAIT_VALUE && op->model.held)
		return true;
	if (op->model.phase != TARE_PHASE_PENDING)
		return false;
	for (size_t i = 0; i < op->waits.count; i++)
		if (is_stuck(op->waits.at[i]->lane->first, depth + 1))
			return true;
	return false;
}

bool head_is_stuck(const struct cu_stream_object *stream)
{
	return is_stuck(stream->lanes->first, 0);
}

// ---- streams

struct cu_stream_object *new_stream(struct device *device, unsigned int flags)
{
	struct cu_stream_object *stream = calloc(1, sizeof *stream);
	struct cu_stream_object **end = &device->streams;

	stream->device = device;
	stream->blocking = !(flags & ABI_STREAM_NON_BLOCKING);
	lane_of(stream, 0);
	while (*end)
		end = &(*end)->next;
	*end = stream;
	return stream;
}

struct lane *lane_of(struct cu_stream_object *stream, size_t index)
{
	struct lane **at = &stream->lanes;

	for (size_t i = 0; *at && i < index; i++)
		at = &(*at)->next;
	if (!*at) {
		*at = calloc(1, sizeof **at);
		(*at)->queue = tare_model_queue_new(stream->device->model, TARE_MODEL_IN_ORDER, -1);
	}
	return *at;
}

static void forget_lane(struct cu_stream_object *stream, struct lane *lane)
{
	while (lane->last) {
		struct op *op = lane->last;
		if (op->event && op->event->last == op)
			op->event->last = NULL;
		if (op->graph && op->graph->last == op)
			op->graph->last = NULL;
		for (size_t i = 0; i < op->followers.count; i++) {
			struct ops *waits = &op->followers.at[i]->waits;
			for (size_t k = 0; k < waits->count; k++)
				if (waits->at[k] == op)
					waits->at[k--] = waits->at[--waits->count];
		}
		for (size_t i = 0; i < op->waits.count; i++) {
			struct ops *followers = &op->waits.at[i]->followers;
			for (size_t k = 0; k < followers->count; k++)
				if (followers->at[k] == op)
					followers->at[k--] = followers->at[--followers->count];
		}
		tare_model_forget(stream->device->model, &op->model);
		free_op(op);
	}
	tare_model_queue_free(stream->device->model, lane->queue);
	free(lane);
}

void free_stream(struct cu_stream_object *stream)
{
	struct cu_stream_object **link = &stream->device->streams;

	while (*link != stream)
		link = &(*link)->next;
	*link = stream->next;
	while (stream->lanes) {
		struct lane *lane = stream->lanes;
		stream->lanes = lane->next;
		forget_lane(stream, lane);
	}
	free(stream->nodes);
	free(stream);
}

static struct cu_stream_object *stream_of_thread(struct device *device)
{
	for (struct cu_stream_object *each = device->streams; each; each = each->next)
		if (each->of_thread && pthread_equal(each->thread, pthread_self()))
			return each;
	struct cu_stream_object *made = new_stream(device, 0);
	made->of_thread = true;
	made->thread = pthread_self();
	return made;
}

cu_result stream_of(cu_stream handle, struct cu_stream_object **stream)
{
	*stream = NULL;
	if (!handle || handle == ABI_STREAM_LEGACY) {
		*stream = current->device->streams;
		return ABI_SUCCESS;
	}
	if (handle == FAKE_STREAM_PER_THREAD) {
		*stream = stream_of_thread(current->device);
		return ABI_SUCCESS;
	}
	for (int i = 0; i < gpu.words.devices; i++)
		for (struct cu_stream_object *each = gpu.devices[i].streams; each;
		     each = each->next)
			if (each == handle && !each->destroyed && !each->legacy &&
			    !each->of_thread) {
				*stream = each;
				// A stream belongs to one context and is used with that one.
				return &each->device->context == current ? ABI_SUCCESS
				                                         : ABI_INVALID_HANDLE;
			}
	return ABI_INVALID_HANDLE;
}
