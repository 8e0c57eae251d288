// SPDX-License-Identifier: Apache-2.0
// One copy of one size, timed on the device's clock and on the host's: plain, at an offset, of a
// rectangle, into untouched memory.
#include "measure/bandwidth_internal.h"

#include "backend/call.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

// Up to here the host times a copy of its own: stamps would cost a share of it.
#define APART_BYTES (UINT64_C(256) << 10)

struct tare_figure *transfer_figure(struct transfer *transfer, struct tare_measurement *measurement,
                                    enum tare_line line, const char *source, double work,
                                    const char *method)
{
	bool device = strcmp(source, "device") == 0;
	struct tare_figure *figure =
	    tare_measurement_add(measurement, "time", "ps", source, "%s%s", method,
	                         device ? tare_bench_stamp_note(&transfer->bandwidth->bench) : "");

	if (!figure || tare_labels_set_text(&figure->labels, "line", tare_lines[line].name) < 0 ||
	    tare_labels_set_number(&figure->labels, "bytes", (int64_t)transfer->bytes) < 0)
		return NULL;
	figure->quantum = device ? transfer->bandwidth->bench.step_ps
	                         : 1000 * (double)transfer->bandwidth->run->host_step_ns;
	figure->floor = 1;
	figure->rate_unit = "GB/s";
	figure->work = work;
	return figure;
}

int transfer_need(const struct transfer *transfer, enum buffer buffer, struct tare_error *error)
{
	const struct bandwidth *bandwidth = transfer->bandwidth;

	if (bandwidth->buffers[buffer])
		return 0;
	return tare_fail(error, ENOTSUP, "%s",
	                 bandwidth->no_buffer[buffer][0] ? bandwidth->no_buffer[buffer]
	                                                 : "no such memory");
}

static struct tare_figure *figure_of(struct tare_measurement *measurement, const char *source)
{
	for (size_t i = 0; i < measurement->figure_count; i++)
		if (strcmp(measurement->figures[i].source, source) == 0)
			return &measurement->figures[i];
	return NULL;
}

static int64_t *value_of(struct tare_measurement *measurement, int64_t *values, const char *source)
{
	struct tare_figure *figure = figure_of(measurement, source);
	return figure ? &values[figure - measurement->figures] : NULL;
}

// Host time of one copy: append to the return of finish, or of append where that blocks.
static int time_on_host(struct transfer *transfer, struct tare_queue *queue,
                        struct tare_event **event, int64_t *ps, struct tare_error *error)
{
	struct tare_device *device = transfer->bandwidth->bench.device;
	struct tare_host_time begin = tare_device_now(device);
	int status = tare_append(queue, &transfer->operation, event, error);

	if (status == 0 && !transfer->operation.blocking)
		status = tare_finish(queue, TARE_LIMIT_NATIVE, error);
	*ps = tare_host_elapsed_ns(begin, tare_device_now(device)) * 1000;
	// A blocking copy is done now, but its stamps need not be there yet.
	if (status == 0 && event && transfer->operation.blocking)
		status = tare_finish(queue, TARE_LIMIT_NATIVE, error);
	return status;
}

// A copy that lasts longer than stamps can tell has no device figure; the host's stays.
static int refuse_if_too_long(struct tare_measurement *measurement, int status,
                              const struct tare_error *error)
{
	struct tare_figure *figure = figure_of(measurement, "device");

	if (status != -EOVERFLOW)
		return status;
	figure->refused = true;
	snprintf(figure->absent, sizeof figure->absent, "%.300s", error->message);
	return 0;
}

// Host and device time from copies of their own, each on a queue that was in use just before.
static int sample_apart(struct transfer *transfer, int64_t *host, int64_t *device,
                        struct tare_error *error)
{
	struct tare_bench *bench = &transfer->bandwidth->bench;
	int status = tare_bench_turn_to(bench->plain, &transfer->operation, error);

	if (status == 0)
		status = time_on_host(transfer, bench->plain, NULL, host, error);
	if (status == 0)
		status = tare_bench_turn_to(bench->timed, &transfer->operation, error);
	return status < 0 ? status
	                  : tare_bench_batch_ps(bench, &transfer->operation, transfer->batch,
	                                        device, error);
}

static int sample_copy(struct tare_measurement *measurement, int64_t *values,
                       struct tare_error *error)
{
	struct transfer *transfer = measurement->context;
	struct tare_bench *bench = &transfer->bandwidth->bench;
	int64_t *host = value_of(measurement, values, "host");
	int64_t *device = value_of(measurement, values, "device");
	struct tare_event *event = NULL;
	int status;

	if (!bench->stamped)
		return time_on_host(transfer, bench->plain, NULL, host, error);
	if (transfer->apart) {
		status = sample_apart(transfer, host, device, error);
		return refuse_if_too_long(measurement, status, error);
	}
	status = time_on_host(transfer, bench->timed, &event, host, error);
	if (status == 0)
		status = tare_bench_duration_ps(bench, event, *host / 1000, device, error);
	tare_event_free(event);
	return refuse_if_too_long(measurement, status, error);
}

// Finds how many copies one device sample needs.
static int calibrate(struct transfer *transfer, struct tare_measurement *measurement,
                     struct tare_error *error)
{
	struct tare_bench *bench = &transfer->bandwidth->bench;
	struct tare_figure *figure = figure_of(measurement, "device");
	int64_t ps = 0;
	int status;

	transfer->batch = 1;
	status = tare_bench_batch_ps(bench, &transfer->operation, 1, &ps, error);
	if (status < 0)
		return refuse_if_too_long(measurement, status, error);
	transfer->batch = tare_bench_batch(bench, &transfer->operation, ps);
	transfer->apart = transfer->batch > 1 || transfer->bytes <= APART_BYTES;
	figure->quantum = bench->step_ps / transfer->batch;
	if (transfer->batch == 1)
		return 0;
	if (tare_labels_set_number(&figure->labels, "batch", transfer->batch) < 0)
		return tare_fail(error, ENOMEM, "out of memory");
	return 0;
}

static void mark_unstamped(struct transfer *transfer, struct tare_measurement *measurement)
{
	struct tare_figure *figure = figure_of(measurement, "device");

	if (figure && !transfer->bandwidth->bench.stamped)
		snprintf(figure->absent, sizeof figure->absent, "%s",
		         transfer->bandwidth->bench.unstamped);
}

// Poisons the destination and tries the copy once with a limit on both queues.
static int prepare(struct transfer *transfer, struct tare_measurement *measurement,
                   struct tare_error *error)
{
	struct tare_bench *bench = &transfer->bandwidth->bench;
	struct tare_operation copy = transfer->operation;
	int status;

	copy.blocking = false;
	mark_unstamped(transfer, measurement);
	status = tare_bench_run(bench->plain, &copy, error);
	if (status == 0 && bench->timed != bench->plain)
		status = tare_bench_run(bench->timed, &copy, error);
	if (status == 0)
		status = bandwidth_poison(transfer->bandwidth, copy.destination, error);
	if (status == 0 && bench->stamped)
		status = calibrate(transfer, measurement, error);
	return status;
}

static int begin_copy(struct tare_measurement *measurement, struct tare_error *error)
{
	struct transfer *transfer = measurement->context;
	struct bandwidth *bandwidth = transfer->bandwidth;
	bool from_host = transfer->source < DEVICE_SOURCE;
	int status = transfer_need(transfer, transfer->source, error);

	if (status == 0)
		status = transfer_need(transfer, transfer->sink, error);
	if (status < 0)
		return status;
	transfer->operation = (struct tare_operation){
		.type = TARE_OPERATION_COPY,
		.source = { bandwidth->buffers[transfer->source], from_host ? transfer->offset : 0,
		            transfer->bytes },
		.destination = { bandwidth->buffers[transfer->sink], 0, transfer->bytes },
		.blocking = tare_lines[transfer->line].host_is_main,
	};
	return prepare(transfer, measurement, error);
}

static int end_copy(struct tare_measurement *measurement, enum tare_verified *verified,
                    struct tare_error *error)
{
	struct transfer *transfer = measurement->context;

	if (!transfer->operation.destination.memory)
		return 0;
	return bandwidth_verify(transfer->bandwidth, transfer->operation.destination,
	                        transfer->operation.source.offset_bytes, verified, error);
}

static void choose_buffers(struct transfer *transfer)
{
	static const struct {
		enum buffer source, sink;
		uint64_t offset;
	} rows[TARE_LINE_COUNT] = {
		[TARE_LINE_SHARED_TO_SHARED] = { SHARED_SOURCE, SHARED_SINK, 0 },
		[TARE_LINE_HEAP_TO_DEVICE] = { HEAP_SOURCE, DEVICE_SINK, 0 },
		[TARE_LINE_DEVICE_TO_HEAP] = { DEVICE_SOURCE, HEAP_SINK, 0 },
		[TARE_LINE_DEVICE_TO_DEVICE] = { DEVICE_SOURCE, DEVICE_SINK, 0 },
		[TARE_LINE_HOST_TO_DEVICE] = { HOST_SOURCE, DEVICE_SINK, 0 },
		[TARE_LINE_DEVICE_TO_HOST] = { DEVICE_SOURCE, HOST_SINK, 0 },
		[TARE_LINE_UNALIGNED_1] = { HEAP_SOURCE, DEVICE_SINK, 1 },
		[TARE_LINE_UNALIGNED_64] = { HEAP_SOURCE, DEVICE_SINK, 64 },
		[TARE_LINE_UNALIGNED_4096] = { HEAP_SOURCE, DEVICE_SINK, 4096 },
		[TARE_LINE_RECTANGLE_TO_DEVICE] = { HOST_SOURCE, DEVICE_SINK, 0 },
		[TARE_LINE_RECTANGLE_TO_HOST] = { DEVICE_SOURCE, HOST_SINK, 0 },
		[TARE_LINE_FIRST_TOUCH_HEAP] = { DEVICE_SOURCE, HEAP_SINK, 0 },
		[TARE_LINE_FIRST_TOUCH_SHARED] = { SHARED_SOURCE, SHARED_SINK, 0 },
	};
	transfer->source = rows[transfer->line].source;
	transfer->sink = rows[transfer->line].sink;
	transfer->offset = rows[transfer->line].offset;
}

// Both figures, the line's own first.
static int add_figures(struct transfer *transfer, struct tare_measurement *measurement,
                       const char *device_method, const char *host_method)
{
	bool host_first = tare_lines[transfer->line].host_is_main;

	for (int i = 0; i < 2; i++) {
		bool host = host_first == (i == 0);
		if (!transfer_figure(transfer, measurement, transfer->line,
		                     host ? "host" : "device", (double)transfer->bytes,
		                     host ? host_method : device_method))
			return -ENOMEM;
	}
	return 0;
}

int transfer_plan_copy(struct transfer *transfer, struct tare_measurement *measurement)
{
	bool host_first = tare_lines[transfer->line].host_is_main;

	choose_buffers(transfer);
	measurement->begin = begin_copy;
	measurement->sample = sample_copy;
	measurement->end = end_copy;
	return add_figures(
	    transfer, measurement,
	    host_first
	        ? "start to end on the device's clock; staging by the driver may lie outside it"
	        : "start to end on the device's clock; copies shorter than 100 ticks in a row "
	          "behind a gate, divided",
	    host_first ? "one blocking copy: call to return on the host's clock"
	               : "one copy: call to the return of finish on the host's clock");
}

// ---- rectangles: rows of 4 KB, every other one of the host's, tight on the device

static int begin_rectangle(struct tare_measurement *measurement, struct tare_error *error)
{
	struct transfer *transfer = measurement->context;
	struct bandwidth *bandwidth = transfer->bandwidth;
	bool to_device = transfer->line == TARE_LINE_RECTANGLE_TO_DEVICE;
	uint64_t rows = transfer->bytes / BANDWIDTH_ROW_BYTES;
	uint64_t host_bytes = 2 * transfer->bytes;
	struct tare_memory *source, *sink;
	int status = transfer_need(transfer, transfer->source, error);

	if (status == 0)
		status = transfer_need(transfer, transfer->sink, error);
	if (status < 0)
		return status;
	source = bandwidth->buffers[transfer->source];
	sink = bandwidth->buffers[transfer->sink];
	transfer->operation = (struct tare_operation){
		.type = TARE_OPERATION_RECTANGLE,
		.source = { source, 0, to_device ? host_bytes : transfer->bytes },
		.destination = { sink, 0, to_device ? transfer->bytes : host_bytes },
		.rectangle = {
			.row_bytes = BANDWIDTH_ROW_BYTES, .rows = rows, .layers = 1,
			.source_row_pitch = BANDWIDTH_ROW_BYTES * (to_device ? 2 : 1),
			.destination_row_pitch = BANDWIDTH_ROW_BYTES * (to_device ? 1 : 2),
		},
	};
	return prepare(transfer, measurement, error);
}

// The rows must hold the pattern; on the host, what lies between them must still be poison.
static bool rows_are_right(struct transfer *transfer, const uint8_t *at)
{
	const struct tare_rectangle *rectangle = &transfer->operation.rectangle;
	uint64_t row_bytes = rectangle->row_bytes, pitch = rectangle->destination_row_pitch;

	for (uint64_t row = 0; row < rectangle->rows; row++) {
		if (!bandwidth_equal(transfer->bandwidth, at + row * pitch,
		                     row * rectangle->source_row_pitch, row_bytes))
			return false;
		for (uint64_t i = row_bytes; i < pitch; i++)
			if (at[row * pitch + i] != 0xa5)
				return false;
	}
	return true;
}

static int end_rectangle(struct tare_measurement *measurement, enum tare_verified *verified,
                         struct tare_error *error)
{
	struct transfer *transfer = measurement->context;
	struct bandwidth *bandwidth = transfer->bandwidth;
	struct tare_span span = transfer->operation.destination;
	const uint8_t *at;

	if (!span.memory)
		return 0;
	at = span.memory->host;
	if (transfer->line == TARE_LINE_RECTANGLE_TO_DEVICE) {
		struct tare_memory *sink = bandwidth->buffers[HEAP_SINK];
		struct tare_operation copy = { .type = TARE_OPERATION_COPY,
			                       .source = span,
			                       .destination = { sink, 0, span.bytes } };
		int status;
		memset(sink->host, 0xa5, span.bytes);
		status = tare_bench_run(bandwidth->bench.plain, &copy, error);
		if (status < 0)
			return status;
		at = sink->host;
	}
	*verified = rows_are_right(transfer, at) ? TARE_VERIFIED : TARE_WRONG;
	return 0;
}

int transfer_plan_rectangle(struct transfer *transfer, struct tare_measurement *measurement)
{
	choose_buffers(transfer);
	measurement->begin = begin_rectangle;
	measurement->sample = sample_copy;
	measurement->end = end_rectangle;
	return add_figures(
	    transfer, measurement,
	    "start to end on the device's clock of one two-dimensional copy, rows of 4 KB",
	    "one two-dimensional copy: call to the return of finish on the host's clock");
}

// ---- first touch: the destination is new each time

// New memory, and the copy into it.
static int renew(struct transfer *transfer, struct tare_error *error)
{
	struct bandwidth *bandwidth = transfer->bandwidth;
	int status;

	tare_memory_free(transfer->fresh);
	transfer->fresh = NULL;
	status = tare_memory_create(bandwidth->run->device, bandwidth_kind(transfer->sink),
	                            transfer->bytes, &transfer->fresh, error);
	if (status < 0)
		return status;
	transfer->operation = (struct tare_operation){
		.type = TARE_OPERATION_COPY,
		.source = { bandwidth->buffers[transfer->source], 0, transfer->bytes },
		.destination = { transfer->fresh, 0, transfer->bytes },
		.blocking = true,
	};
	return 0;
}

// Tries the copy once with a limit on the queue of the samples; into memory that no sample gets.
static int begin_first_touch(struct tare_measurement *measurement, struct tare_error *error)
{
	struct transfer *transfer = measurement->context;
	struct tare_operation copy;
	int status = transfer_need(transfer, transfer->source, error);

	transfer->batch = 1;
	mark_unstamped(transfer, measurement);
	if (status == 0)
		status = renew(transfer, error);
	if (status < 0)
		return status;
	copy = transfer->operation;
	copy.blocking = false;
	return tare_bench_run(transfer->bandwidth->bench.timed, &copy, error);
}

static int sample_first_touch(struct tare_measurement *measurement, int64_t *values,
                              struct tare_error *error)
{
	int status = renew(measurement->context, error);

	return status < 0 ? status : sample_copy(measurement, values, error);
}

static int end_first_touch(struct tare_measurement *measurement, enum tare_verified *verified,
                           struct tare_error *error)
{
	struct transfer *transfer = measurement->context;
	int status = 0;

	if (transfer->fresh)
		status = bandwidth_verify(transfer->bandwidth, transfer->operation.destination, 0,
		                          verified, error);
	tare_memory_free(transfer->fresh);
	transfer->fresh = NULL;
	return status;
}

int transfer_plan_first_touch(struct transfer *transfer, struct tare_measurement *measurement)
{
	choose_buffers(transfer);
	measurement->begin = begin_first_touch;
	measurement->sample = sample_first_touch;
	measurement->end = end_first_touch;
	measurement->no_warm_up = true;
	return add_figures(
	    transfer, measurement,
	    "start to end on the device's clock of the first copy into new memory",
	    "the first, blocking copy into new memory: call to return on the host's clock");
}
