// SPDX-License-Identifier: Apache-2.0
// First touch: the destination of each copy is new.
#include "measure/bandwidth/internal.h"

#include "backend/call.h"

// New memory, and the copy into it.
static int renew(struct transfer *transfer, struct tare_error *error)
{
	struct bandwidth *bandwidth = transfer->bandwidth;
	int status;

	tare_memory_free(transfer->fresh);
	transfer->fresh = NULL;
	transfer->operation.destination.memory = NULL;
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
	transfer_mark_unstamped(transfer, measurement);
	status = status ?: renew(transfer, error);
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

	return status < 0 ? status : transfer_sample(measurement, values, error);
}

void transfer_plan_first_touch(struct transfer *transfer, struct tare_measurement *measurement)
{
	bool heap = transfer->line == TARE_LINE_FIRST_TOUCH_HEAP;

	transfer->source = heap ? DEVICE_SOURCE : SHARED_SOURCE;
	transfer->sink = heap ? HEAP_SINK : SHARED_SINK;
	measurement->begin = begin_first_touch;
	measurement->sample = sample_first_touch;
	measurement->end = transfer_end;
	measurement->no_warm_up = true;
	transfer_add_figures(
	    transfer, measurement,
	    "start to end on the device's clock of the first copy into new memory",
	    "the first, blocking copy into new memory: call to return on the host's clock");
}
