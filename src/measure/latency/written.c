// SPDX-License-Identifier: Apache-2.0
// The device's readable clock, written by the queue itself around any sequence (Level Zero's global
// timestamps): what one costs, and whether it agrees with the stamps of a copy's own event.
#include "backend/call.h"
#include "measure/latency/internal.h"

#define COPY_BYTES 65536
#define COPY_AT 4096 // in the host's memory, behind the clocks that are written

int latency_begin_written(struct latency_task *task, struct tare_error *error)
{
	struct tare_device *device = task->latency->bench.device;
	int status = tare_memory_create(device, TARE_MEMORY_PINNED, COPY_AT + COPY_BYTES,
	                                &task->host, error);

	return status < 0 ? status
	                  : tare_memory_create(device, TARE_MEMORY_DEVICE, COPY_BYTES,
	                                       &task->device, error);
}

static int append_clock(struct latency_task *task, uint32_t which, struct tare_error *error)
{
	const struct tare_span to = { task->host, which * sizeof(uint64_t), sizeof(uint64_t) };

	return tare_append_clock(task->latency->bench.timed, to, error);
}

// From one to the other, in picoseconds.
static int64_t between(const struct latency_task *task, const struct tare_clock_rate *rate,
                       uint32_t first, uint32_t last)
{
	const uint64_t *written = task->host->host;
	const struct tare_ticks from = { written[first] }, to = { written[last] };

	return tare_ticks_to_ps(rate, tare_ticks_elapsed(rate, from, to));
}

int latency_sample_written(struct latency_task *task, int64_t *values, struct tare_error *error)
{
	struct tare_bench *bench = &task->latency->bench;
	const struct tare_operation copy = {
		.type = TARE_OPERATION_COPY,
		.source = { task->host, COPY_AT, COPY_BYTES },
		.destination = { task->device, 0, COPY_BYTES },
	};
	struct tare_host_time begin = tare_device_now(bench->device);
	struct tare_event *event = NULL;
	struct tare_clock_rate rate;
	int64_t host_ns;
	int status = tare_clock_rate(bench->device, TARE_CLOCK_PAIRS, &rate, error);

	for (uint32_t i = 0; status == 0 && i < LATENCY_WRITES; i++)
		status = append_clock(task, i, error);
	status = status ?: append_clock(task, LATENCY_WRITES, error);
	status = status ?: tare_append(bench->timed, &copy, &event, error);
	status = status ?: append_clock(task, LATENCY_WRITES + 1, error);
	status = status ?: tare_finish(bench->timed, TARE_LIMIT_DEFAULT_NS, error);
	host_ns = tare_host_elapsed_ns(begin, tare_device_now(bench->device));
	status = status ?: tare_bench_duration_ps(bench, event, host_ns, &values[1], error);
	// The written counter may be narrower than the one that stamps.
	status = status ?: tare_clock_can_tell(&rate, host_ns, error);
	if (status == 0) {
		values[0] = between(task, &rate, 0, LATENCY_WRITES - 1) / (LATENCY_WRITES - 1);
		values[2] = between(task, &rate, LATENCY_WRITES, LATENCY_WRITES + 1);
	}
	status = tare_bench_settle(bench->timed, status, error);
	tare_event_free(event);
	return status;
}
