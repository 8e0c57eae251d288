// SPDX-License-Identifier: Apache-2.0
// A run by the device's own clock, where a script says what the device's time is. The host does
// such a device's work, and the script says nothing of the host: so everything is issued before the
// first operation may begin, and the clock is written before that one and behind the last of each
// queue.
#include "backend/call.h"
#include "measure/pipeline/internal.h"

#include <errno.h>

// Where the clock is written: before the first operation, then behind the last of each queue.
#define BYTES 4096
#define QUEUES_MOST (BYTES / sizeof(uint64_t) - 1)

static struct tare_span place(const struct pipeline_clock *clock, size_t index)
{
	return (struct tare_span){ clock->written, index * sizeof(uint64_t), sizeof(uint64_t) };
}

int pipeline_clock_open(struct tare_pipeline *pipeline, struct tare_error *error)
{
	struct pipeline_clock *clock = &pipeline->clock;
	struct tare_memory *written = NULL;
	int status;

	// A device without a readable clock is timed by the host's.
	if (!pipeline->device->scripted || !pipeline->bench->gated ||
	    !pipeline->device->backend->append_clock ||
	    tare_clock_rate(pipeline->device, TARE_CLOCK_PAIRS, &clock->rate, NULL) < 0)
		return 0;
	status = tare_memory_create(pipeline->device, TARE_MEMORY_PINNED, BYTES, &written, error);
	if (status == -ENOTSUP)
		return 0;
	clock->written = written;
	return status;
}

bool tare_pipeline_by_device(const struct tare_pipeline *pipeline)
{
	return pipeline && pipeline->clock.written;
}

double tare_pipeline_device_step_ns(const struct tare_pipeline *pipeline)
{
	return tare_pipeline_by_device(pipeline) ? tare_step_ns(&pipeline->clock.rate) : 0;
}

int pipeline_clock_begin(struct tare_pipeline *pipeline, const struct pipeline_queue *queues,
                         uint32_t count, uint32_t first, struct tare_error *error)
{
	struct pipeline_clock *clock = &pipeline->clock;
	struct tare_operation marker = { .type = TARE_OPERATION_MARKER };
	int status = count <= QUEUES_MOST
	                 ? tare_gate_shut(queues[first].queue, &clock->gate, error)
	                 : tare_fail(error, EINVAL, "%u queues are more than can be timed", count);

	// One gate for all queues: opened one by one they would begin as the host gets to it.
	if (status == 0 && count > 1)
		status = tare_append(queues[first].queue, &marker, &clock->opened, error);
	marker.waits = &clock->opened;
	marker.wait_count = 1;
	for (uint32_t i = 0; status == 0 && i < count; i++)
		if (i != first)
			status = tare_append(queues[i].queue, &marker, NULL, error);
	return status < 0 ? status : tare_append_clock(queues[first].queue, place(clock, 0), error);
}

int pipeline_clock_end(struct tare_pipeline *pipeline, const struct pipeline_queue *queues,
                       uint32_t count, bool ordered, struct tare_error *error)
{
	const struct tare_operation marker = { .type = TARE_OPERATION_MARKER };
	int status = 0;

	for (uint32_t i = 0; status == 0 && i < count; i++) {
		// Where nothing else keeps order, a barrier does.
		if (!ordered)
			status = tare_append(queues[i].queue, &marker, NULL, error);
		if (status == 0)
			status = tare_append_clock(queues[i].queue, place(&pipeline->clock, i + 1),
			                           error);
		status = status ?: tare_submit(queues[i].queue, error);
	}
	return status;
}

int pipeline_clock_go(struct tare_pipeline *pipeline, struct tare_error *error)
{
	return tare_gate_open(pipeline->clock.gate, error);
}

int pipeline_clock_read(const struct tare_pipeline *pipeline, uint32_t count, int64_t host_ns,
                        int64_t *ns, struct tare_error *error)
{
	const struct pipeline_clock *clock = &pipeline->clock;
	const uint64_t *written = clock->written->host;
	const struct tare_ticks first = { written[0] };
	int status = tare_clock_can_tell(&clock->rate, host_ns, error);
	uint64_t longest = 0;

	for (uint32_t i = 0; status == 0 && i < count; i++) {
		uint64_t ticks =
		    tare_ticks_elapsed(&clock->rate, first, (struct tare_ticks){ written[i + 1] });
		if (ticks > longest)
			longest = ticks;
	}
	*ns = tare_ticks_to_ns(&clock->rate, longest);
	return status;
}

void pipeline_clock_clear(struct tare_pipeline *pipeline)
{
	struct pipeline_clock *clock = &pipeline->clock;

	tare_gate_free(clock->gate);
	tare_event_free(clock->opened);
	clock->gate = NULL;
	clock->opened = NULL;
}
