// SPDX-License-Identifier: Apache-2.0
// Rectangles: rows of 4 KB or 256 B, every other one of the host's, tight on the device.
#include "measure/bandwidth/internal.h"

#include "backend/call.h"

#include <string.h>

static bool is_to_device(const struct transfer *transfer)
{
	return transfer->line == TARE_LINE_RECTANGLE_TO_DEVICE ||
	       transfer->line == TARE_LINE_NARROW_TO_DEVICE;
}

static uint64_t row_bytes_of(const struct transfer *transfer)
{
	return transfer->line == TARE_LINE_NARROW_TO_DEVICE ||
	               transfer->line == TARE_LINE_NARROW_TO_HOST
	           ? BANDWIDTH_NARROW_BYTES
	           : BANDWIDTH_ROW_BYTES;
}

static int begin_rectangle(struct tare_measurement *measurement, struct tare_error *error)
{
	struct transfer *transfer = measurement->context;
	struct bandwidth *bandwidth = transfer->bandwidth;
	bool to_device = is_to_device(transfer);
	uint64_t row_bytes = row_bytes_of(transfer);
	uint64_t host_bytes = 2 * transfer->bytes;
	struct tare_memory *source, *sink;
	int status = transfer_need(transfer, transfer->source, error);

	status = status ?: transfer_need(transfer, transfer->sink, error);
	if (status < 0)
		return status;
	source = bandwidth->buffers[transfer->source];
	sink = bandwidth->buffers[transfer->sink];
	transfer->operation = (struct tare_operation){
		.type = TARE_OPERATION_RECTANGLE,
		.source = { source, 0, to_device ? host_bytes : transfer->bytes },
		.destination = { sink, 0, to_device ? transfer->bytes : host_bytes },
		.rectangle = {
			.row_bytes = row_bytes, .rows = transfer->bytes / row_bytes, .layers = 1,
			.source_row_pitch = row_bytes * (to_device ? 2 : 1),
			.destination_row_pitch = row_bytes * (to_device ? 1 : 2),
		},
	};
	return transfer_prepare(transfer, measurement, error);
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
	if (is_to_device(transfer)) {
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

void transfer_plan_rectangle(struct transfer *transfer, struct tare_measurement *measurement)
{
	bool narrow = row_bytes_of(transfer) == BANDWIDTH_NARROW_BYTES;

	transfer->source = is_to_device(transfer) ? HOST_SOURCE : DEVICE_SOURCE;
	transfer->sink = is_to_device(transfer) ? DEVICE_SINK : HOST_SINK;
	measurement->begin = begin_rectangle;
	measurement->sample = transfer_sample;
	measurement->end = end_rectangle;
	transfer_add_figures(
	    transfer, measurement,
	    narrow ? "start to end on the device's clock of one two-dimensional copy, rows of 256 B"
	           : "start to end on the device's clock of one two-dimensional copy, rows of 4 KB",
	    "one two-dimensional copy: call to the return of finish on the host's clock");
}
