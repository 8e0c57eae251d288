// SPDX-License-Identifier: Apache-2.0
#include "fake_cuda_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct gpu gpu;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
_Thread_local cu_context current;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool worker_runs;

static int64_t device_now(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec + gpu.skipped_ns + 12345;
}

void pause_shortly(void)
{
	pthread_mutex_unlock(&mutex);
	nanosleep(&(struct timespec){ .tv_nsec = 5000 }, NULL);
	pthread_mutex_lock(&mutex);
}

static _Noreturn void would_hang(const char *what)
{
	fprintf(stderr, "fake CUDA: %s would wait for ever\n", what);
	abort();
}

static void finish_op(struct op *op)
{
	switch (op->kind) {
	case RECORD:
		op->event->done++;
		op->event->ns = op->end_ns;
		break;
	case COPY:
		memmove(op->destination, op->source, op->bytes);
		break;
	case FILL:
		for (size_t i = 0; i < op->bytes; i += op->unit)
			memcpy(op->destination + i, &op->value, op->unit);
		break;
	case KERNEL:
		if (op->destination)
			memcpy(op->destination, op->store, sizeof op->store);
		if (op->fails)
			gpu.lost = op->fails;
		break;
	default:
		break;
	}
}

// True when the operation at the head is over.
static bool advance(struct cu_stream_object *stream, struct op *op, int64_t now)
{
	if (!op->begun) {
		int64_t start = op->asked_ns > stream->ready_ns ? op->asked_ns : stream->ready_ns;
		if (op->kind == WAIT_EVENT) {
			if (op->event->done < op->generation)
				return false;
			if (op->event->ns > start)
				start = op->event->ns;
		}
		if (op->kind == WAIT_VALUE) {
			if ((int32_t)(*op->word - op->value) < 0)
				return false;
			start = now;
		}
		op->begun = true;
		op->end_ns = op->cost_ns == FOR_EVER ? FOR_EVER : start + op->cost_ns;
		if (op->kind == HOST_FUNCTION)
			pthread_cond_broadcast(&changed);
	}
	return op->kind == HOST_FUNCTION ? op->finished : now >= op->end_ns;
}

void pump(void)
{
	bool moved = true;

	while (moved && !gpu.lost) {
		moved = false;
		for (int i = 0; i < MAX_STREAMS; i++) {
			struct cu_stream_object *stream = &gpu.streams[i];
			while (stream->count && !gpu.lost) {
				struct op *op = &stream->queue[stream->head];
				if (!advance(stream, op, device_now()))
					break;
				finish_op(op);
				stream->ready_ns = op->kind == HOST_FUNCTION ? device_now() : op->end_ns;
				stream->head = (stream->head + 1) % QUEUE_DEPTH;
				stream->count--;
				moved = true;
			}
			if (stream->destroyed && !stream->count)
				stream->used = stream->destroyed = false;
		}
	}
}

// Runs host functions, as the driver does, on one thread of its own.
static void *work(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&mutex);
	for (;;) {
		struct op *ready = NULL;
		pump();
		for (int i = 0; i < MAX_STREAMS && !ready; i++) {
			struct op *op = &gpu.streams[i].queue[gpu.streams[i].head];
			if (gpu.streams[i].count && op->kind == HOST_FUNCTION && op->begun && !op->finished)
				ready = op;
		}
		if (ready) {
			pthread_mutex_unlock(&mutex);
			ready->function(ready->data);
			pthread_mutex_lock(&mutex);
			ready->finished = true;
			gpu.functions_pending--;
		} else if (gpu.functions_pending && !gpu.lost) {
			pause_shortly();
		} else {
			pthread_cond_wait(&changed, &mutex);
		}
	}
	return NULL;
}

// The stream in which the event's record still waits.
static const struct cu_stream_object *recorded_in(const struct cu_event_object *event)
{
	for (int i = 0; i < MAX_STREAMS; i++)
		for (size_t k = 0; k < gpu.streams[i].count; k++) {
			const struct cu_stream_object *stream = &gpu.streams[i];
			const struct op *op = &stream->queue[(stream->head + k) % QUEUE_DEPTH];
			if (op->kind == RECORD && op->event == event)
				return stream;
		}
	return NULL;
}

// Behind a shut gate, or waiting for what is.
static bool head_is_stuck(const struct cu_stream_object *stream)
{
	while (stream && stream->count) {
		const struct op *op = &stream->queue[stream->head];
		if (op->begun || (op->kind != WAIT_VALUE && op->kind != WAIT_EVENT))
			return false;
		if (op->kind == WAIT_VALUE)
			return true;
		stream = recorded_in(op->event);
	}
	return false;
}

struct cu_stream_object *stream_of(cu_stream handle)
{
	if (!handle || handle == ABI_STREAM_LEGACY)
		return &gpu.streams[0];
	return handle;
}

cu_result append(cu_stream handle, struct op op)
{
	struct cu_stream_object *stream = stream_of(handle);

	if (stream != &gpu.streams[0] && !stream->used)
		return ABI_INVALID_HANDLE;
	if (stream->capturing) {
		stream->captured = realloc(stream->captured,
		                           (stream->captured_count + 1) * sizeof *stream->captured);
		stream->captured[stream->captured_count++] = op;
		return ABI_SUCCESS;
	}
	pump();
	while (stream->count == QUEUE_DEPTH) {
		if (head_is_stuck(stream))
			would_hang("a launch into a full queue");
		pause_shortly();
		pump();
	}
	op.asked_ns = device_now();
	stream->queue[(stream->head + stream->count++) % QUEUE_DEPTH] = op;
	return ABI_SUCCESS;
}

cu_result drain(cu_stream handle)
{
	struct cu_stream_object *stream = stream_of(handle);

	pump();
	while (stream->count && !gpu.lost) {
		if (head_is_stuck(stream))
			would_hang("a synchronisation behind a shut gate");
		pause_shortly();
		pump();
	}
	return gpu.lost;
}

cu_result leave(cu_result result)
{
	pthread_mutex_unlock(&mutex);
	return result;
}

struct range *range_of(const void *at)
{
	for (int i = 0; i < MAX_RANGES; i++)
		if (gpu.ranges[i].at && (const char *)at >= gpu.ranges[i].at &&
		    (const char *)at < gpu.ranges[i].at + gpu.ranges[i].bytes)
			return &gpu.ranges[i];
	return NULL;
}

struct range *keep_range(void *at, size_t bytes, int kind)
{
	for (int i = 0; i < MAX_RANGES; i++)
		if (!gpu.ranges[i].at) {
			gpu.ranges[i] = (struct range){ at, bytes, kind };
			gpu.objects++;
			return &gpu.ranges[i];
		}
	abort();
}

static void read_script(void)
{
	const char *text = getenv("TARE_FAKE_CUDA");
	char words[512], *place = NULL;

	memset(&gpu.script, 0, sizeof gpu.script);
	gpu.script.devices = 1;
	gpu.script.major = 9;
	gpu.script.step = 32;
	gpu.script.memory = (size_t)1 << 30;
	strcpy(gpu.script.name, "NVIDIA H200");
	snprintf(words, sizeof words, "%s", text ? text : "");
	for (char *word = strtok_r(words, " ", &place); word; word = strtok_r(NULL, " ", &place)) {
		char *value = strchr(word, '=');
		if (value)
			*value++ = '\0';
		if (strcmp(word, "no_wait_value") == 0)
			gpu.script.no_wait_value = true;
		else if (strcmp(word, "no_managed") == 0)
			gpu.script.no_managed = true;
		else if (!value)
			continue;
		else if (strcmp(word, "cc") == 0)
			sscanf(value, "%d.%d", &gpu.script.major, &gpu.script.minor);
		else if (strcmp(word, "memory") == 0)
			gpu.script.memory = strtoull(value, NULL, 10);
		else if (strcmp(word, "name") == 0) {
			snprintf(gpu.script.name, sizeof gpu.script.name, "%s", value);
			for (char *at = gpu.script.name; *at; at++)
				if (*at == '_')
					*at = ' ';
		} else {
			static const struct { const char *word; int *value; } numbers[] = {
				{ "init", &gpu.script.init }, { "devices", &gpu.script.devices },
				{ "fail_launch", &gpu.script.fail_launch }, { "hang_launch", &gpu.script.hang_launch },
				{ "step", &gpu.script.step },
			};
			for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
				if (strcmp(word, numbers[i].word) == 0)
					*numbers[i].value = atoi(value);
		}
	}
}

int work_pending(void)
{
	int pending = 0;
	for (int i = 0; i < MAX_STREAMS; i++)
		pending += (int)gpu.streams[i].count;
	return pending;
}

void wake_worker(void)
{
	pthread_t thread;

	if (!worker_runs && pthread_create(&thread, NULL, work, NULL) == 0)
		worker_runs = pthread_detach(thread) == 0;
	pthread_cond_broadcast(&changed);
}

void start_device(void)
{
	read_script();
	// A test process starts over here, as a new process would.
	gpu.lost = 0;
	gpu.launches = 0;
	current = NULL;
	for (int i = 0; i < MAX_STREAMS; i++)
		gpu.streams[i].count = 0;
	gpu.initialised = gpu.script.init == 0;
}
