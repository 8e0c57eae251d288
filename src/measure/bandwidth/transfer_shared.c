// SPDX-License-Identifier: Apache-2.0
// Shared (managed) memory between host and device: what moving its pages costs when they are
// touched, when they are asked for beforehand, and when advice was given. Before each sample one
// side writes all of it, so that its pages are there; the sample is the other side's reading.
#include "measure/bandwidth/internal.h"

#include "backend/call.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static enum tare_advice advice_of(enum tare_line line)
{
	switch (line) {
	case TARE_LINE_SHARED_READ_MOSTLY:
		return TARE_ADVISE_READ_MOSTLY;
	case TARE_LINE_SHARED_PREFER_DEVICE:
		return TARE_ADVISE_PREFER_DEVICE;
	case TARE_LINE_SHARED_PREFER_HOST:
		return TARE_ADVISE_PREFER_HOST;
	default:
		return TARE_ADVISE_NONE;
	}
}

static bool is_back(const struct transfer *transfer)
{
	return transfer->line == TARE_LINE_SHARED_BACK_FAULT ||
	       transfer->line == TARE_LINE_SHARED_BACK_PREFETCH;
}

static struct tare_queue *queue_of(const struct transfer *transfer)
{
	const struct tare_bench *bench = &transfer->bandwidth->bench;
	return bench->stamped ? bench->timed : bench->plain;
}

static struct tare_span shared_of(const struct transfer *transfer)
{
	return (struct tare_span){ transfer->fresh, 0, transfer->bytes };
}

static struct tare_operation migration(const struct transfer *transfer, bool to_host)
{
	return (struct tare_operation){ .type = TARE_OPERATION_MIGRATE,
		                        .destination = shared_of(transfer),
		                        .to_host = to_host };
}

static bool is_refusal(int status)
{
	return status == -ENOTSUP || status == -ENOSYS;
}

// The host writes the pattern, or reads what is there into the heap. Where it may not touch the
// memory just so, it maps it first.
static int touch(struct transfer *transfer, bool write, struct tare_error *error)
{
	struct bandwidth *bandwidth = transfer->bandwidth;
	struct tare_operation map = { .type = TARE_OPERATION_MAP,
		                      .destination = shared_of(transfer),
		                      .access = write ? TARE_MAP_WRITE : TARE_MAP_READ };
	struct tare_memory *memory = transfer->fresh;
	bool mapped = !memory->host;
	int status = mapped ? tare_bench_run(queue_of(transfer), &map, error) : 0;

	if (status < 0)
		return status;
	if (!memory->host)
		return tare_fail(error, ENOTSUP, "the host may not touch this memory");
	if (write)
		memcpy(memory->host, bandwidth->buffers[HEAP_SOURCE]->host, transfer->bytes);
	else
		memcpy(bandwidth->buffers[HEAP_SINK]->host, memory->host, transfer->bytes);
	map.type = TARE_OPERATION_UNMAP;
	return mapped ? tare_bench_run(queue_of(transfer), &map, error) : 0;
}

// The host has the pages and has written them last. Where pages do not move on request, touching
// them must do.
static int place_on_host(struct transfer *transfer, struct tare_error *error)
{
	struct tare_operation move = migration(transfer, true);
	int status = tare_bench_run(queue_of(transfer), &move, error);

	return status < 0 && !is_refusal(status) ? status : touch(transfer, true, error);
}

// The kernel between shared memory and the device's own; transfer->operation is the one that reads.
static struct tare_operation launch_of(struct transfer *transfer)
{
	struct bandwidth *bandwidth = transfer->bandwidth;
	struct tare_span sink = { bandwidth->buffers[DEVICE_SINK], 0, transfer->bytes };
	struct tare_span source = { bandwidth->buffers[DEVICE_SOURCE], 0, transfer->bytes };

	return is_back(transfer) ? transfer_launch(transfer, source, shared_of(transfer))
	                         : transfer_launch(transfer, shared_of(transfer), sink);
}

static int check_needs(struct transfer *transfer, struct tare_error *error)
{
	struct bandwidth *bandwidth = transfer->bandwidth;
	int status =
	    transfer_need(transfer, is_back(transfer) ? DEVICE_SOURCE : DEVICE_SINK, error);

	if (status == 0 && !bandwidth->kernel)
		status = tare_fail(error, ENOTSUP, "%s", bandwidth->no_kernel);
	// Virtual time does not pass while the host reads.
	if (status == 0 && is_back(transfer) && bandwidth->run->simulated)
		status = tare_fail(error, ENOTSUP,
		                   "the simulated device does not see the host touch memory");
	return status;
}

// Makes the memory, gives the advice and tries everything once with a limit.
static int begin_shared(struct tare_measurement *measurement, struct tare_error *error)
{
	struct transfer *transfer = measurement->context;
	enum tare_advice advice = advice_of(transfer->line);
	bool prefetch = transfer->line == TARE_LINE_SHARED_PREFETCH ||
	                transfer->line == TARE_LINE_SHARED_BACK_PREFETCH;
	int status = check_needs(transfer, error);

	if (!is_back(transfer))
		transfer_mark_unstamped(transfer, measurement);
	status = status ?: transfer_make(transfer, TARE_MEMORY_SHARED, false, error);
	if (status == 0 && advice != TARE_ADVISE_NONE)
		status = tare_memory_advise(shared_of(transfer), advice, error);
	status = status ?: place_on_host(transfer, error);
	if (status < 0)
		return status;
	transfer->operation = launch_of(transfer);
	if (prefetch) {
		struct tare_operation move = migration(transfer, is_back(transfer));
		status = tare_bench_run(queue_of(transfer), &move, error);
	}
	status = status ?: tare_bench_run(queue_of(transfer), &transfer->operation, error);
	if (status < 0)
		return status;
	if (!is_back(transfer))
		return bandwidth_poison(transfer->bandwidth, transfer->operation.destination,
		                        error);
	memset(transfer->bandwidth->buffers[HEAP_SINK]->host, 0xa5, transfer->bytes);
	return 0;
}

// ---- the device reads

// Issues the prefetch, if any, and the kernel, and waits. *first and *last: their events.
static int issue(struct transfer *transfer, struct tare_event **first, struct tare_event **last,
                 struct tare_error *error)
{
	bool stamped = transfer->bandwidth->bench.stamped;
	static const struct tare_operation marker = { .type = TARE_OPERATION_MARKER };
	struct tare_operation move = migration(transfer, false);
	struct tare_queue *queue = queue_of(transfer);
	bool prefetch = transfer->line == TARE_LINE_SHARED_PREFETCH;
	// Level Zero's prefetch signals no event: what goes just before it does.
	bool marked = prefetch && stamped && queue->device->backend->binds_queues;
	int status = 0;

	if (marked)
		status = tare_append(queue, &marker, first, error);
	if (status == 0 && prefetch)
		status = tare_append(queue, &move, stamped && !marked ? first : NULL, error);
	if (status == 0)
		status = tare_append(queue, &transfer->operation, stamped ? last : NULL, error);
	return status < 0 ? status : tare_finish(queue, TARE_LIMIT_NATIVE, error);
}

static int sample_shared(struct tare_measurement *measurement, int64_t *values,
                         struct tare_error *error)
{
	struct transfer *transfer = measurement->context;
	struct tare_bench *bench = &transfer->bandwidth->bench;
	struct tare_event *first = NULL, *last = NULL;
	struct tare_host_time begin;
	int64_t host_ns = 0;
	int status = transfer->line == TARE_LINE_SHARED_RESIDENT
	                 ? tare_bench_run(queue_of(transfer), &transfer->operation, error)
	                 : place_on_host(transfer, error);

	if (status == 0) {
		begin = tare_device_now(bench->device);
		status = issue(transfer, &first, &last, error);
		host_ns = tare_host_elapsed_ns(begin, tare_device_now(bench->device));
		values[1] = host_ns * 1000;
	}
	if (status == 0 && bench->stamped) {
		status = tare_bench_span_ps(bench, first ? first : last, last, host_ns, &values[0],
		                            error);
		if (status == -EOVERFLOW) {
			measurement->figures[0].refused = true;
			snprintf(measurement->figures[0].absent,
			         sizeof measurement->figures[0].absent, "%.300s", error->message);
			status = 0;
		}
	}
	tare_event_free(first);
	tare_event_free(last);
	return status;
}

// ---- the host reads

static int sample_back(struct tare_measurement *measurement, int64_t *values,
                       struct tare_error *error)
{
	struct transfer *transfer = measurement->context;
	struct tare_device *device = transfer->bandwidth->bench.device;
	struct tare_operation move = migration(transfer, true);
	struct tare_host_time begin;
	int status = tare_bench_run(queue_of(transfer), &transfer->operation, error);

	if (status < 0)
		return status;
	begin = tare_device_now(device);
	if (transfer->line == TARE_LINE_SHARED_BACK_PREFETCH)
		status = tare_append(queue_of(transfer), &move, NULL, error);
	if (status == 0 && transfer->line == TARE_LINE_SHARED_BACK_PREFETCH)
		status = tare_finish(queue_of(transfer), TARE_LIMIT_NATIVE, error);
	status = status ?: touch(transfer, false, error);
	values[0] = tare_host_elapsed_ns(begin, tare_device_now(device)) * 1000;
	transfer->samples++;
	return status;
}

static int end_back(struct tare_measurement *measurement, enum tare_verified *verified,
                    struct tare_error *error)
{
	struct transfer *transfer = measurement->context;
	const struct tare_memory *sink = transfer->bandwidth->buffers[HEAP_SINK];

	(void)error;
	if (transfer->samples)
		*verified = bandwidth_equal(transfer->bandwidth, sink->host, 0, transfer->bytes)
		                ? TARE_VERIFIED
		                : TARE_WRONG;
	tare_memory_free(transfer->fresh);
	transfer->fresh = NULL;
	return 0;
}

// ---- methods

static const char *device_method(enum tare_line line)
{
	switch (line) {
	case TARE_LINE_SHARED_PREFETCH:
		return "the host wrote all of it last: from the start of a prefetch to the device "
		       "to "
		       "the end of a kernel that reads it and writes device memory";
	case TARE_LINE_SHARED_RESIDENT:
		return "start to end of a kernel that reads it and writes device memory; the "
		       "kernel "
		       "before it read it as well";
	case TARE_LINE_SHARED_READ_MOSTLY:
		return "advised as mostly read; the host wrote all of it last: start to end of a "
		       "kernel that reads it and writes device memory";
	case TARE_LINE_SHARED_PREFER_DEVICE:
		return "advised to stay on the device; the host wrote all of it last: start to end "
		       "of a kernel that reads it and writes device memory";
	case TARE_LINE_SHARED_PREFER_HOST:
		return "advised to stay on the host; the host wrote all of it last: start to end "
		       "of "
		       "a kernel that reads it and writes device memory";
	default:
		return "the host wrote all of it last: start to end of a kernel that reads it and "
		       "writes device memory";
	}
}

static void plan_back(struct transfer *transfer, struct tare_measurement *measurement)
{
	measurement->sample = sample_back;
	measurement->end = end_back;
	transfer_figure(
	    transfer, measurement, transfer->line, "host", (double)transfer->bytes,
	    transfer->line == TARE_LINE_SHARED_BACK_PREFETCH
	        ? "a kernel wrote all of it last: a prefetch to the host, waited for, and "
	          "one copy of it by one thread of the host"
	        : "a kernel wrote all of it last: one copy of it by one thread of the host");
}

void transfer_plan_shared(struct transfer *transfer, struct tare_measurement *measurement)
{
	measurement->begin = begin_shared;
	if (is_back(transfer)) {
		plan_back(transfer, measurement);
		return;
	}
	measurement->sample = sample_shared;
	measurement->end = transfer_end;
	transfer_add_figures(transfer, measurement, device_method(transfer->line),
	                     "the same operations: call to the return of finish on the "
	                     "host's clock");
}
