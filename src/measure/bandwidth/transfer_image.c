// SPDX-License-Identifier: Apache-2.0
// Images (arrays in CUDA's words) of two and three dimensions: memory in a layout of the device's
// own, as a whole from and to pinned memory. They are made for each measurement.
#include "measure/bandwidth/internal.h"

#include "backend/call.h"

static bool is_to_image(enum tare_line line)
{
	return line == TARE_LINE_TO_IMAGE_2D || line == TARE_LINE_TO_IMAGE_3D;
}

// As near to a square or a cube as powers of two come.
static struct tare_image shape_of(const struct transfer *transfer)
{
	bool deep =
	    transfer->line == TARE_LINE_TO_IMAGE_3D || transfer->line == TARE_LINE_FROM_IMAGE_3D;
	uint32_t powers = 0;

	while (transfer->bytes / BANDWIDTH_PIXEL_BYTES >> (powers + 1))
		powers++;
	uint32_t depth = deep ? powers / 3 : 0, height = (powers - depth) / 2;
	return (struct tare_image){ 1u << (powers - depth - height), 1u << height, 1u << depth };
}

static int begin_image(struct tare_measurement *measurement, struct tare_error *error)
{
	struct transfer *transfer = measurement->context;
	struct bandwidth *bandwidth = transfer->bandwidth;
	bool in = is_to_image(transfer->line);
	struct tare_image shape = shape_of(transfer);
	struct tare_operation fill = { .type = TARE_OPERATION_COPY };
	int status = transfer_need(transfer, in ? HOST_SOURCE : HOST_SINK, error);

	if (status == 0)
		status = tare_image_create(bandwidth->run->device, &shape, &transfer->fresh, error);
	if (status < 0)
		return status;
	struct tare_span image = { transfer->fresh, 0, transfer->bytes };
	if (!in) {
		status = bandwidth_fill(bandwidth, HEAP_SOURCE, transfer->bytes, error);
		fill.source =
		    (struct tare_span){ bandwidth->buffers[HEAP_SOURCE], 0, transfer->bytes };
		fill.destination = image;
		status = status ?: tare_bench_run(bandwidth->bench.plain, &fill, error);
	}
	if (status < 0)
		return status;
	struct tare_span host = { bandwidth->buffers[in ? HOST_SOURCE : HOST_SINK], 0,
		                  transfer->bytes };
	transfer->operation = (struct tare_operation){ .type = TARE_OPERATION_COPY,
		                                       .source = in ? host : image,
		                                       .destination = in ? image : host };
	return transfer_prepare(transfer, measurement, error);
}

void transfer_plan_image(struct transfer *transfer, struct tare_measurement *measurement)
{
	measurement->begin = begin_image;
	measurement->sample = transfer_sample;
	measurement->end = transfer_end;
	transfer_add_figures(
	    transfer, measurement,
	    "start to end on the device's clock of one copy of a whole image",
	    "one copy of a whole image: call to the return of finish on the host's clock");
}
