// SPDX-License-Identifier: Apache-2.0
// One copy of one size, timed on the device's clock and on the host's: plain or at an offset.
// Others time their operations in the same way.
#include "measure/bandwidth/internal.h"

#include "backend/call.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

// Up to here the host times a copy of its own: stamps would cost a share of it.
#define APART_BYTES (UINT64_C(256) << 10)

// Of a large copy that is tried.
#define PART_BYTES (UINT64_C(16) << 20)

struct tare_figure *transfer_figure(struct transfer *transfer, struct tare_measurement *measurement,
                                    enum tare_line line, const char *source, double work,
                                    const char *method)
{
	bool device = strcmp(source, "device") == 0;
	struct tare_figure *figure =
	    tare_measurement_add(measurement, "time", "ps", source, "%s%s", method,
	                         device ? tare_bench_stamp_note(&transfer->bandwidth->bench) : "");

	tare_labels_set_text(&figure->labels, "line", tare_lines[line].name);
	tare_labels_set_number(&figure->labels, "bytes", (int64_t)transfer->bytes);
	figure->quantum = device ? transfer->bandwidth->bench.step_ps
	                         : 1000 * (double)transfer->bandwidth->run->host_step_ns;
	figure->floor = 1;
	figure->rate_unit = "GB/s";
	figure->work = work;
	return figure;
}

int transfer_need(const struct transfer *transfer, enum buffer buffer, struct tare_error *error)
{
	struct bandwidth *bandwidth = transfer->bandwidth;
	// A rectangle's rows lie apart by their own length.
	bool rectangle = tare_lines[transfer->line].group == TARE_LINES_RECTANGLE;
	uint64_t bytes = (rectangle ? 2 : 1) * transfer->bytes + BANDWIDTH_SLACK;
	int status;

	if (bandwidth->buffers[buffer]) {
		status = bandwidth_fill(bandwidth, HEAP_SINK, bytes, error);
		return status < 0 ? status : bandwidth_fill(bandwidth, buffer, bytes, error);
	}
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

	status = status ?: time_on_host(transfer, bench->plain, NULL, host, error);
	status = status ?: tare_bench_turn_to(bench->timed, &transfer->operation, error);
	return status < 0 ? status
	                  : tare_bench_batch_ps(bench, &transfer->operation, transfer->batch,
	                                        device, error);
}

int transfer_sample(struct tare_measurement *measurement, int64_t *values, struct tare_error *error)
{
	struct transfer *transfer = measurement->context;
	struct tare_bench *bench = &transfer->bandwidth->bench;
	int64_t *host = value_of(measurement, values, "host");
	int64_t *device = value_of(measurement, values, "device");
	struct tare_event *event = NULL;
	struct tare_host_time begin;
	int64_t host_ns;
	int status;

	if (!bench->stamped)
		return time_on_host(transfer, bench->plain, NULL, host, error);
	if (transfer->apart) {
		status = sample_apart(transfer, host, device, error);
		return refuse_if_too_long(measurement, status, error);
	}
	// Not *host: a blocking copy may return when the driver has taken the bytes, before they
	// arrive.
	begin = tare_device_now(bench->device);
	status = time_on_host(transfer, bench->timed, &event, host, error);
	host_ns = tare_host_elapsed_ns(begin, tare_device_now(bench->device));
	status = status ?: tare_bench_duration_ps(bench, event, host_ns, device, error);
	tare_event_free(event);
	return refuse_if_too_long(measurement, status, error);
}

// The beginning of a large copy, which is as good to try as the whole; else the operation itself.
static struct tare_operation part_of(const struct transfer *transfer)
{
	struct tare_operation part = transfer->operation;
	bool whole = tare_lines[transfer->line].group == TARE_LINES_IMAGE;

	if (part.type == TARE_OPERATION_COPY && transfer->bytes >= BANDWIDTH_LARGE && !whole)
		part.source.bytes = part.destination.bytes = PART_BYTES;
	return part;
}

// Finds how many copies one device sample needs.
static int calibrate(struct transfer *transfer, struct tare_measurement *measurement,
                     struct tare_error *error)
{
	struct tare_bench *bench = &transfer->bandwidth->bench;
	struct tare_figure *figure = figure_of(measurement, "device");
	struct tare_operation one;
	int64_t ps = 0;
	int status;

	transfer->batch = 1;
	one = part_of(transfer);
	status = tare_bench_batch_ps(bench, &one, 1, &ps, error);
	// What part of it is long enough already tells that the whole is.
	if (status == 0 && one.source.bytes < transfer->operation.source.bytes &&
	    tare_bench_batch(bench, &one, ps) > 1)
		status = tare_bench_batch_ps(bench, &transfer->operation, 1, &ps, error);
	if (status < 0)
		return refuse_if_too_long(measurement, status, error);
	transfer->batch = tare_bench_batch(bench, &transfer->operation, ps);
	transfer->apart = transfer->batch > 1 || transfer->bytes <= APART_BYTES;
	figure->quantum = tare_bench_batch_step_ps(bench, transfer->batch);
	if (transfer->batch > 1)
		tare_labels_set_number(&figure->labels, "batch", transfer->batch);
	return 0;
}

void transfer_mark_unstamped(struct transfer *transfer, struct tare_measurement *measurement)
{
	struct tare_figure *figure = figure_of(measurement, "device");

	if (figure && !transfer->bandwidth->bench.stamped)
		snprintf(figure->absent, sizeof figure->absent, "%s",
		         transfer->bandwidth->bench.unstamped);
}

int transfer_prepare(struct transfer *transfer, struct tare_measurement *measurement,
                     struct tare_error *error)
{
	struct tare_bench *bench = &transfer->bandwidth->bench;
	struct tare_operation copy = part_of(transfer);
	int status;

	copy.blocking = false;
	// The simulated device has nothing that would have to warm up.
	measurement->no_warm_up |=
	    transfer->bandwidth->run->simulated && transfer->bytes >= BANDWIDTH_LARGE;
	transfer_mark_unstamped(transfer, measurement);
	status = tare_bench_run(bench->plain, &copy, error);
	status = status ?: bandwidth_check_interrupt(transfer->bandwidth, error);
	if (status == 0 && bench->timed != bench->plain)
		status = tare_bench_run(bench->timed, &copy, error);
	status = status ?: bandwidth_check_interrupt(transfer->bandwidth, error);
	if (status == 0)
		status =
		    bandwidth_poison(transfer->bandwidth, transfer->operation.destination, error);
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

	status = status ?: transfer_need(transfer, transfer->sink, error);
	if (status < 0)
		return status;
	transfer->operation = (struct tare_operation){
		.type = TARE_OPERATION_COPY,
		.source = { bandwidth->buffers[transfer->source], from_host ? transfer->offset : 0,
		            transfer->bytes },
		.destination = { bandwidth->buffers[transfer->sink], 0, transfer->bytes },
		.blocking = tare_lines[transfer->line].host_is_main,
	};
	return transfer_prepare(transfer, measurement, error);
}

int transfer_end(struct tare_measurement *measurement, enum tare_verified *verified,
                 struct tare_error *error)
{
	struct transfer *transfer = measurement->context;

	int status = 0;

	if (transfer->operation.destination.memory)
		status = bandwidth_verify(transfer->bandwidth, transfer->operation.destination,
		                          transfer->operation.source.offset_bytes, verified, error);
	tare_memory_free(transfer->fresh);
	transfer->fresh = NULL;
	return status;
}

// ---- within the device: counted twice as well, in a third figure

static void copy_figure(struct tare_measurement *measurement)
{
	struct tare_figure *device = figure_of(measurement, "device");
	struct tare_figure *twice = &measurement->figures[2];

	twice->quantum = device->quantum;
	twice->refused = device->refused;
	snprintf(twice->absent, sizeof twice->absent, "%s", device->absent);
}

static int begin_twice(struct tare_measurement *measurement, struct tare_error *error)
{
	struct transfer *transfer = measurement->context;
	int status = begin_copy(measurement, error);

	copy_figure(measurement);
	if (status == 0 && transfer->batch > 1)
		tare_labels_set_number(&measurement->figures[2].labels, "batch", transfer->batch);
	return status;
}

static int sample_twice(struct tare_measurement *measurement, int64_t *values,
                        struct tare_error *error)
{
	int status = transfer_sample(measurement, values, error);

	values[2] = *value_of(measurement, values, "device");
	copy_figure(measurement);
	return status;
}

static void plan_twice(struct transfer *transfer, struct tare_measurement *measurement)
{
	measurement->begin = begin_twice;
	measurement->sample = sample_twice;
	transfer_figure(transfer, measurement, TARE_LINE_DEVICE_TWICE, "device",
	                2 * (double)transfer->bytes,
	                "the time of device-to-device; each byte is read and written, and "
	                "counted both times");
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
	};
	transfer->source = rows[transfer->line].source;
	transfer->sink = rows[transfer->line].sink;
	transfer->offset = rows[transfer->line].offset;
}

void transfer_add_figures(struct transfer *transfer, struct tare_measurement *measurement,
                          const char *device_method, const char *host_method)
{
	bool host_first = tare_lines[transfer->line].host_is_main;

	for (int i = 0; i < 2; i++) {
		bool host = host_first == (i == 0);
		transfer_figure(transfer, measurement, transfer->line, host ? "host" : "device",
		                (double)transfer->bytes, host ? host_method : device_method);
	}
}

void transfer_plan_copy(struct transfer *transfer, struct tare_measurement *measurement)
{
	bool host_first = tare_lines[transfer->line].host_is_main;
	char device_method[160];

	snprintf(device_method, sizeof device_method,
	         "start to end on the device's clock; copies shorter than 100 ticks: %s",
	         tare_bench_batch_note(&transfer->bandwidth->bench));
	choose_buffers(transfer);
	measurement->begin = begin_copy;
	measurement->sample = transfer_sample;
	measurement->end = transfer_end;
	transfer_add_figures(
	    transfer, measurement,
	    host_first
	        ? "start to end on the device's clock; staging by the driver may lie outside it"
	        : device_method,
	    host_first ? "one blocking copy: call to return on the host's clock"
	               : "one copy: call to the return of finish on the host's clock");
	if (transfer->line == TARE_LINE_DEVICE_TO_DEVICE &&
	    BANDWIDTH_HAS(transfer->bandwidth->lines, TARE_LINE_DEVICE_TWICE))
		plan_twice(transfer, measurement);
}
