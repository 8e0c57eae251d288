// SPDX-License-Identifier: Apache-2.0
// Copies between the device and host memory of other kinds than the usual ones, by the copy engine
// and by a kernel. Such memory is made for each measurement and given back after it.
#include "measure/bandwidth/internal.h"

#include "backend/call.h"
#include "backend/kernels.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

// A work-item of the kernel copies so much (kernels/copy.c).
#define ITEM_BYTES 64
#define GROUP_SIZE 256

int bandwidth_open_kernel(struct bandwidth *bandwidth, struct tare_error *error)
{
	uint64_t needed = 0;

	for (int line = 0; line < TARE_LINE_COUNT; line++)
		if (tare_lines[line].group == TARE_LINES_KERNEL ||
		    tare_lines[line].group == TARE_LINES_SHARED)
			needed |= UINT64_C(1) << line;
	if (!(bandwidth->lines & needed))
		return 0;
	return tare_bench_try_kernel(bandwidth->run->device, "copy", "copy_bytes",
	                             "no kernel that copies", &bandwidth->module,
	                             &bandwidth->kernel, bandwidth->no_kernel,
	                             sizeof bandwidth->no_kernel, error);
}

struct tare_operation transfer_launch(struct transfer *transfer, struct tare_span source,
                                      struct tare_span destination)
{
	uint64_t items = (transfer->bytes + ITEM_BYTES - 1) / ITEM_BYTES;

	transfer->arguments[0] =
	    (struct tare_argument){ .type = TARE_ARGUMENT_MEMORY, .span = destination };
	transfer->arguments[1] =
	    (struct tare_argument){ .type = TARE_ARGUMENT_MEMORY, .span = source };
	transfer->arguments[2] = (struct tare_argument){ .type = TARE_ARGUMENT_VALUE,
		                                         .value = &transfer->bytes,
		                                         .bytes = sizeof transfer->bytes };
	return (struct tare_operation){
		.type = TARE_OPERATION_LAUNCH,
		.source = source,
		.destination = destination,
		.launch = { .kernel = transfer->bandwidth->kernel,
		            .groups = { (uint32_t)((items + GROUP_SIZE - 1) / GROUP_SIZE), 1, 1 },
		            .group_size = { GROUP_SIZE, 1, 1 },
		            .arguments = transfer->arguments,
		            .argument_count = 3 },
	};
}

int transfer_make(struct transfer *transfer, enum tare_memory_kind kind, bool filled,
                  struct tare_error *error)
{
	struct bandwidth *bandwidth = transfer->bandwidth;
	const struct tare_memory *pattern = bandwidth->buffers[HEAP_SOURCE];
	struct tare_operation copy = { .type = TARE_OPERATION_COPY };
	int status = tare_memory_create(bandwidth->run->device, kind, transfer->bytes,
	                                &transfer->fresh, error);

	if (status == 0 && filled)
		status = bandwidth_fill(bandwidth, HEAP_SOURCE, transfer->bytes, error);
	if (status < 0 || !filled)
		return status;
	if (transfer->fresh->host) {
		memcpy(transfer->fresh->host, pattern->host, transfer->bytes);
		return 0;
	}
	copy.source = (struct tare_span){ bandwidth->buffers[HEAP_SOURCE], 0, transfer->bytes };
	copy.destination = (struct tare_span){ transfer->fresh, 0, transfer->bytes };
	return tare_bench_run(bandwidth->bench.plain, &copy, error);
}

// ---- the copy engine, with write-combined or registered memory

static int begin_host_memory(struct tare_measurement *measurement, struct tare_error *error)
{
	struct transfer *transfer = measurement->context;
	bool to_device = transfer->line != TARE_LINE_DEVICE_TO_REGISTERED;
	enum buffer other = to_device ? DEVICE_SINK : DEVICE_SOURCE;
	struct tare_span host, device;
	int status = transfer_need(transfer, other, error);

	if (status == 0)
		status = transfer_make(transfer,
		                       transfer->line == TARE_LINE_COMBINED_TO_DEVICE
		                           ? TARE_MEMORY_WRITE_COMBINED
		                           : TARE_MEMORY_REGISTERED,
		                       to_device, error);
	if (status < 0)
		return status;
	host = (struct tare_span){ transfer->fresh, 0, transfer->bytes };
	device = (struct tare_span){ transfer->bandwidth->buffers[other], 0, transfer->bytes };
	transfer->operation = (struct tare_operation){
		.type = TARE_OPERATION_COPY,
		.source = to_device ? host : device,
		.destination = to_device ? device : host,
	};
	return transfer_prepare(transfer, measurement, error);
}

void transfer_plan_host_memory(struct transfer *transfer, struct tare_measurement *measurement)
{
	char method[240];

	snprintf(
	    method, sizeof method,
	    "start to end on the device's clock; copies shorter than 100 ticks: %s; allocating "
	    "and page-locking are not in it",
	    tare_bench_batch_note(&transfer->bandwidth->bench));
	measurement->begin = begin_host_memory;
	measurement->sample = transfer_sample;
	measurement->end = transfer_end;
	transfer_add_figures(transfer, measurement, method,
	                     "one copy: call to the return of finish on the host's clock");
}

// ---- a kernel

static int begin_kernel(struct tare_measurement *measurement, struct tare_error *error)
{
	struct transfer *transfer = measurement->context;
	struct bandwidth *bandwidth = transfer->bandwidth;
	bool from_host = transfer->line == TARE_LINE_KERNEL_TO_DEVICE;
	bool to_host = transfer->line == TARE_LINE_KERNEL_TO_HOST;
	struct tare_memory *source, *sink;
	int status = from_host ? 0 : transfer_need(transfer, DEVICE_SOURCE, error);

	if (status == 0 && !to_host)
		status = transfer_need(transfer, DEVICE_SINK, error);
	if (status == 0 && !bandwidth->kernel)
		status = tare_fail(error, ENOTSUP, "%s", bandwidth->no_kernel);
	if (status == 0 && (from_host || to_host))
		status = transfer_make(transfer, TARE_MEMORY_MAPPED, from_host, error);
	if (status < 0)
		return status;
	source = from_host ? transfer->fresh : bandwidth->buffers[DEVICE_SOURCE];
	sink = to_host ? transfer->fresh : bandwidth->buffers[DEVICE_SINK];
	transfer->operation =
	    transfer_launch(transfer, (struct tare_span){ source, 0, transfer->bytes },
	                    (struct tare_span){ sink, 0, transfer->bytes });
	return transfer_prepare(transfer, measurement, error);
}

void transfer_plan_kernel(struct transfer *transfer, struct tare_measurement *measurement)
{
	char method[240];

	snprintf(method, sizeof method,
	         "start to end on the device's clock of a kernel that copies 64 bytes a work-item, "
	         "four reads of 16 under way at once; shorter than 100 ticks: %s",
	         tare_bench_batch_note(&transfer->bandwidth->bench));
	measurement->begin = begin_kernel;
	measurement->sample = transfer_sample;
	measurement->end = transfer_end;
	transfer_add_figures(transfer, measurement, method,
	                     "one launch: call to the return of finish on the host's clock");
}
