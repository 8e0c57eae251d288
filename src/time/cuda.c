// SPDX-License-Identifier: Apache-2.0
// CUDA: events recorded into the stream. An event has no time of its own, only a difference from
// another's.
#include "time/engines.h"

#include "backend/cuda/abi.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

// What the driver API's documentation says of cuEventElapsedTime.
#define STEP_NS 500.0
// The last of the streams that are numbers: NULL, CU_STREAM_LEGACY, CU_STREAM_PER_THREAD.
#define PER_THREAD 2
// CUPTI's documentation says nothing; on H100 and H200 its times come in steps of 32 ns.
#define ENGINES_STEP_NS 32.0
// Flushes after which a record of CUPTI's is not waited for any more.
#define TRIES 200

struct functions {
	cu_result (*cuCtxGetCurrent)(cu_context *context);
	cu_result (*cuCtxSetCurrent)(cu_context context);
	cu_result (*cuEventCreate)(cu_event *event, unsigned int flags);
	cu_result (*cuEventDestroy_v2)(cu_event event);
	cu_result (*cuEventRecord)(cu_event event, cu_stream stream);
	cu_result (*cuEventQuery)(cu_event event);
	cu_result (*cuEventElapsedTime)(float *ms, cu_event start, cu_event end);
	cu_result (*cuStreamIsCapturing)(cu_stream stream, int *status); // 10.0
	cu_result (*cuDriverGetVersion)(int *version);
	cu_result (*cuCtxGetDevice)(cu_device *device);
	cu_result (*cuDeviceGetName)(char *name, int bytes, cu_device device);
};

#define ROW(function, optional) { #function, offsetof(struct functions, function), optional }
static const struct tare_time_symbol symbols[] = {
	ROW(cuCtxGetCurrent, false),    ROW(cuCtxSetCurrent, false),
	ROW(cuEventCreate, false),      ROW(cuEventDestroy_v2, false),
	ROW(cuEventRecord, false),      ROW(cuEventQuery, false),
	ROW(cuEventElapsedTime, false), ROW(cuStreamIsCapturing, true),
	ROW(cuDriverGetVersion, false), ROW(cuCtxGetDevice, false),
	ROW(cuDeviceGetName, false),
};

enum { FLOOR, START, END, MOMENTS };

// Of a span whose engines' times are wanted.
struct records {
	enum { NONE, WANTED, ASKED } state;
	uint32_t tries;
};

struct stream {
	struct functions cuda;
	cu_context context;
	cu_stream native;
	char device[TARE_TIME_DEVICE];
	struct tare_time_engines *engines; // NULL: not asked for
	struct records *records;           // of each slot, with `engines`
	pthread_mutex_t records_lock;
	uint32_t spans;
	cu_event events[][MOMENTS];
};

// The context that was current before, for leave.
static cu_result enter(const struct stream *stream, cu_context *before)
{
	cu_result result = stream->cuda.cuCtxGetCurrent(before);

	if (result == ABI_SUCCESS && *before != stream->context)
		result = stream->cuda.cuCtxSetCurrent(stream->context);
	return result;
}

static void leave(const struct stream *stream, cu_context before)
{
	if (before != stream->context)
		stream->cuda.cuCtxSetCurrent(before);
}

static int refuse_capture(const struct stream *stream, struct tare_time_error *error)
{
	int capturing = 0;

	if (!stream->cuda.cuStreamIsCapturing ||
	    stream->cuda.cuStreamIsCapturing(stream->native, &capturing) != ABI_SUCCESS ||
	    !capturing)
		return 0;
	return tare_time_fail(
	    error, EBUSY,
	    "the stream is being captured, and events in a graph have no times here; "
	    "put the span around the graph's launch");
}

static int record(struct stream *stream, uint32_t slot, int first, int last,
                  struct tare_time_error *error)
{
	cu_context before = NULL;
	cu_result result = enter(stream, &before);
	int status = result == ABI_SUCCESS ? refuse_capture(stream, error) : 0;

	if (stream->engines)
		tare_time_engines_enter(stream->engines, slot, last == END);
	for (int i = first; status == 0 && result == ABI_SUCCESS && i <= last; i++)
		result = stream->cuda.cuEventRecord(stream->events[slot][i], stream->native);
	if (stream->engines)
		tare_time_engines_leave();
	leave(stream, before);
	if (status < 0 || result == ABI_SUCCESS)
		return status;
	return tare_time_fail_native(error, EIO, "cuEventRecord", result,
	                             "CUDA refused a span's event in the stream");
}

static void set_records(struct stream *stream, uint32_t slot, int state)
{
	pthread_mutex_lock(&stream->records_lock);
	stream->records[slot] = (struct records){ .state = state };
	pthread_mutex_unlock(&stream->records_lock);
}

static int cuda_begin(void *state, uint32_t slot, bool with_floor, struct tare_time_error *error)
{
	struct stream *stream = state;

	if (stream->engines)
		set_records(stream, slot, NONE);
	return record(stream, slot, with_floor && !stream->engines ? FLOOR : START, START, error);
}

static int cuda_end(void *state, uint32_t slot, struct tare_time_error *error)
{
	struct stream *stream = state;
	int status = record(stream, slot, END, END, error);

	if (status == 0 && stream->engines)
		set_records(stream, slot, WANTED);
	return status;
}

static bool is_gone(cu_result native)
{
	return native == ABI_DEVICE_UNAVAILABLE || native == ABI_NO_DEVICE ||
	       native == ABI_ECC_UNCORRECTABLE || native == ABI_NVLINK_UNCORRECTABLE ||
	       native == ABI_CONTAINED || native == ABI_CONTEXT_IS_DESTROYED ||
	       native == ABI_MPS_CLIENT_TERMINATED;
}

// A CUDA error is of the whole context, and stays.
static int failed(struct tare_time_why *why, cu_result native)
{
	if (is_gone(native))
		return tare_time_absent(why, TARE_TIME_DEVICE_LOST, native,
		                        "CUDA says that the device, or this context, is lost");
	return tare_time_absent(why, TARE_TIME_COMMAND_FAILED, native,
	                        "CUDA says that work of this context failed");
}

// A flush costs tens of microseconds, so one does for all spans that are done by then. Some records
// come with a later one only. 1: they are here, or will not come.
static int fetch_records(struct stream *stream, uint32_t slot)
{
	struct records *records = stream->records;
	bool ask;
	int here;

	pthread_mutex_lock(&stream->records_lock);
	ask = records[slot].state == WANTED;
	for (uint32_t i = 0; i < stream->spans && ask; i++)
		if (records[i].state == WANTED &&
		    stream->cuda.cuEventQuery(stream->events[i][END]) == ABI_SUCCESS)
			records[i].state = ASKED;
	if (ask)
		tare_time_engines_flush();
	here = tare_time_engines_known(stream->engines, slot) || ++records[slot].tries >= TRIES;
	if (!here)
		records[slot].state = WANTED;
	pthread_mutex_unlock(&stream->records_lock);
	return here;
}

static int cuda_done(void *state, uint32_t slot, struct tare_time_why *why)
{
	struct stream *stream = state;
	cu_context before = NULL;
	cu_result result = enter(stream, &before);
	int here = 1;

	if (result == ABI_SUCCESS)
		result = stream->cuda.cuEventQuery(stream->events[slot][END]);
	if (result == ABI_SUCCESS && stream->engines)
		here = fetch_records(stream, slot);
	leave(stream, before);
	if (result == ABI_NOT_READY)
		return 0;
	return result == ABI_SUCCESS ? here : failed(why, result);
}

// In place of the time between the marks, which it cannot exceed.
static int take_engines(struct stream *stream, uint32_t slot, struct tare_time_stamps *stamps,
                        struct tare_time_why *why)
{
	struct tare_time_engine_times times;
	int status;

	status = tare_time_engines_times(stream->engines, slot, &times, why);
	if (status == -EAGAIN)
		return tare_time_absent(why, TARE_TIME_NO_STAMPS, 0,
		                        "CUPTI has no record of the span's marks");
	if (status < 0)
		return status;
	if ((double)(times.end_ns - times.start_ns) > stamps->span_ns + stamps->step_ns)
		return tare_time_absent(why, TARE_TIME_IMPOSSIBLE, 0,
		                        "CUPTI's times are longer than the time between the marks "
		                        "around them");
	stamps->span_ns = (double)(times.end_ns - times.start_ns);
	stamps->step_ns = ENGINES_STEP_NS;
	stamps->has_floor = false;
	stamps->engines = true;
	stamps->commands = times.commands;
	return 0;
}

static int cuda_stamps(void *state, uint32_t slot, bool with_floor, struct tare_time_stamps *stamps,
                       struct tare_time_why *why)
{
	struct stream *stream = state;
	cu_event *events = stream->events[slot];
	cu_context before = NULL;
	float span_ms = 0, floor_ms = 0;
	cu_result result = enter(stream, &before);

	if (result == ABI_SUCCESS)
		result = stream->cuda.cuEventElapsedTime(&span_ms, events[START], events[END]);
	if (result == ABI_SUCCESS && with_floor && !stream->engines)
		result = stream->cuda.cuEventElapsedTime(&floor_ms, events[FLOOR], events[START]);
	leave(stream, before);
	if (result == ABI_NOT_READY)
		return -EAGAIN;
	if (result != ABI_SUCCESS)
		return failed(why, result);
	stamps->has_floor = with_floor;
	stamps->span_ns = (double)span_ms * 1e6;
	stamps->floor_ns = (double)floor_ms * 1e6;
	// A float has 24 bits: long spans come in larger steps.
	stamps->step_ns = fmax(STEP_NS, stamps->span_ns / (1 << 23));
	return stream->engines ? take_engines(stream, slot, stamps, why) : 0;
}

static int cuda_event_done(void *state, void *event, struct tare_time_why *why)
{
	(void)state;
	(void)event;
	return tare_time_absent(why, TARE_TIME_NO_STAMPS, 0,
	                        "a CUDA event is one moment, and no command's begin and end");
}

static void cuda_close(void *state)
{
	struct stream *stream = state;
	cu_context before = NULL;

	if (enter(stream, &before) == ABI_SUCCESS) {
		for (uint32_t i = 0; i < stream->spans * MOMENTS; i++)
			if (stream->events[i / MOMENTS][i % MOMENTS])
				stream->cuda.cuEventDestroy_v2(
				    stream->events[i / MOMENTS][i % MOMENTS]);
		leave(stream, before);
	}
	tare_time_engines_close(stream->engines);
	pthread_mutex_destroy(&stream->records_lock);
	free(stream->records);
	free(stream);
}

static const char *cuda_device(void *state)
{
	struct stream *stream = state;

	return stream->device;
}

static const struct tare_time_api cuda = {
	.begin = cuda_begin,
	.end = cuda_end,
	.done = cuda_done,
	.stamps = cuda_stamps,
	.event_done = cuda_event_done,
	.close = cuda_close,
	.device = cuda_device,
};

static void name_device(struct stream *stream)
{
	cu_device device = 0;

	if (stream->cuda.cuCtxGetDevice(&device) != ABI_SUCCESS ||
	    stream->cuda.cuDeviceGetName(stream->device, sizeof stream->device, device) !=
	        ABI_SUCCESS)
		stream->device[0] = '\0';
	stream->device[sizeof stream->device - 1] = '\0';
}

static int make_events(struct stream *stream, struct tare_time_error *error)
{
	cu_result result = stream->cuda.cuCtxGetCurrent(&stream->context);

	if (result != ABI_SUCCESS || !stream->context)
		return tare_time_fail_native(error, EINVAL, "cuCtxGetCurrent", result,
		                             "no CUDA context is current on this thread");
	name_device(stream);
	for (uint32_t i = 0; i < stream->spans * MOMENTS && result == ABI_SUCCESS; i++)
		result = stream->cuda.cuEventCreate(&stream->events[i / MOMENTS][i % MOMENTS], 0);
	return result == ABI_SUCCESS ? 0
	                             : tare_time_fail_native(error, EIO, "cuEventCreate", result,
	                                                     "CUDA gives no events");
}

static int open_engines(struct stream *stream, struct tare_time_error *error)
{
	int version = 0;

	stream->records = calloc(stream->spans, sizeof *stream->records);
	if (!stream->records)
		return tare_time_fail(error, ENOMEM, "out of memory");
	stream->cuda.cuDriverGetVersion(&version);
	return tare_time_engines_open(&stream->engines, stream->context, stream->native,
	                              stream->spans, version, error);
}

int tare_time_open_cuda(struct tare_timer **timer, void *native,
                        const struct tare_time_options *options, struct tare_time_error *error)
{
	struct stream *stream;
	uint32_t spans;
	int status = tare_time_start(timer, options, true, &spans, error);

	if (status == 0 && (uintptr_t)native > PER_THREAD)
		status = tare_time_check_handle(native, "stream", error);
	if (status < 0)
		return status;
	stream = calloc(1, sizeof *stream + spans * sizeof *stream->events);
	if (!stream)
		return tare_time_fail(error, ENOMEM, "out of memory");
	stream->native = native;
	stream->spans = spans;
	pthread_mutex_init(&stream->records_lock, NULL);
	status = tare_time_find("libcuda.so.1", "libcuda.so", symbols,
	                        sizeof symbols / sizeof *symbols, &stream->cuda, error);
	if (status < 0) {
		free(stream);
		return status;
	}
	status = make_events(stream, error);
	if (status == 0 && options && options->engines)
		status = open_engines(stream, error);
	status = status ?: tare_time_make(timer, &cuda, stream, spans, error);
	if (status < 0)
		cuda_close(stream);
	return status;
}
