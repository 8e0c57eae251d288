// SPDX-License-Identifier: Apache-2.0
// The repetitions in a recording: copies in, kernels, copies out, queue by queue.
#include "analysis/whatif_internal.h"

#include "base/cleanup.h"

#include <math.h>
#include <stdlib.h>

// A pause so many times as long as a chunk is usually at work divides the run into parts.
enum { PAUSE_CHUNKS = 8 };

// A queue while its commands come in the order of enqueueing.
struct queue_state {
	struct whatif_chunk chunk;
	enum tare_stage stage; // that it is in
	bool open;
};

bool whatif_chunk_overlaps(const struct whatif_chunk *chunk)
{
	return chunk->kernels > 0 && chunk->copies > 0;
}

static enum tare_stage stage_of(enum tare_effect effect)
{
	return effect == TARE_EFFECT_TO_DEVICE     ? TARE_STAGE_TO_DEVICE
	       : effect == TARE_EFFECT_FROM_DEVICE ? TARE_STAGE_TO_HOST
	                                           : TARE_STAGE_KERNEL;
}

static int close_chunk(struct whatif_chunks *chunks, struct queue_state *queue)
{
	if (!queue->open)
		return 0;
	struct whatif_chunk *chunk = TARE_ROOM_FOR(chunks->at, chunks->room, chunks->count);
	if (!chunk)
		return -ENOMEM;
	*chunk = queue->chunk;
	chunks->count++;
	queue->open = false;
	return 0;
}

static int add_command(struct whatif_chunks *chunks, struct queue_state *queue,
                       const struct tare_recorded_command *command)
{
	enum tare_effect effect = tare_command_effect(command);
	enum tare_stage stage = stage_of(effect);
	int64_t pause_ns = queue->open ? tare_earlier_ns(command->start_ns, queue->chunk.to_ns) : 0;
	int code = 0;
	if (queue->open && (stage < queue->stage || (double)pause_ns > chunks->pause_ns))
		code = close_chunk(chunks, queue);
	if (code)
		return code;
	if (!queue->open)
		queue->chunk = (struct whatif_chunk){ .from_ns = command->start_ns,
			                              .to_ns = command->end_ns };
	queue->open = true;
	queue->stage = stage;
	queue->chunk.stage_ns[stage] += (double)(command->end_ns - command->start_ns);
	queue->chunk.kernels += effect == TARE_EFFECT_KERNEL;
	queue->chunk.copies += stage != TARE_STAGE_KERNEL;
	if (command->end_ns > queue->chunk.to_ns)
		queue->chunk.to_ns = command->end_ns;
	if (command->start_ns < queue->chunk.from_ns)
		queue->chunk.from_ns = command->start_ns;
	return 0;
}

static int compare_chunks(const void *a, const void *b)
{
	const struct whatif_chunk *x = a, *y = b;
	if (x->from_ns != y->from_ns)
		return x->from_ns < y->from_ns ? -1 : 1;
	return (x->to_ns > y->to_ns) - (x->to_ns < y->to_ns);
}

static int gather(const struct whatif_scope *scope, struct whatif_chunks *chunks)
{
	const struct tare_recording *recording = scope->recording;
	TARE_FREE struct queue_state *queues = calloc(recording->queue_count + 1, sizeof *queues);
	int code = queues ? 0 : -ENOMEM;
	chunks->count = 0;
	for (size_t i = 0; !code && i < recording->command_count; i++) {
		const struct tare_recorded_command *command = &recording->commands[i];
		if (tare_command_device(recording, command) != scope->device ||
		    !tare_command_timed(command) ||
		    tare_command_effect(command) == TARE_EFFECT_NONE ||
		    !tare_view_has_command(recording, scope->view, command))
			continue;
		code = add_command(chunks, &queues[command->queue], command);
	}
	for (size_t i = 0; !code && i < recording->queue_count; i++)
		code = close_chunk(chunks, &queues[i]);
	if (!code && chunks->count > 1)
		qsort(chunks->at, chunks->count, sizeof *chunks->at, compare_chunks);
	return code;
}

// The usual time of a chunk that has copies and kernels; 0: there is none.
static int median_work(const struct whatif_chunks *chunks, double *median_ns)
{
	TARE_FREE struct tables_span *spans = calloc(chunks->count + 1, sizeof *spans);
	size_t count = 0;
	if (!spans)
		return -ENOMEM;
	for (size_t i = 0; i < chunks->count; i++) {
		const struct whatif_chunk *chunk = &chunks->at[i];
		double sum_ns = 0;
		for (int stage = 0; stage < TARE_STAGE_COUNT; stage++)
			sum_ns += chunk->stage_ns[stage];
		if (whatif_chunk_overlaps(chunk) && sum_ns < 0x1p60)
			spans[count++] = (struct tables_span){ 0, llround(sum_ns) };
	}
	*median_ns = count ? tables_median_length(spans, count) : 0;
	return 0;
}

int whatif_chunks_find(const struct whatif_scope *scope, struct whatif_chunks *chunks)
{
	double median_ns = 0;
	*chunks = (struct whatif_chunks){ .pause_ns = INFINITY };
	// What a chunk is tells how long a pause is too long, which tells what a chunk is.
	int code = gather(scope, chunks);
	if (!code)
		code = median_work(chunks, &median_ns);
	if (code || !(median_ns > 0))
		return code;
	chunks->pause_ns = (double)PAUSE_CHUNKS * median_ns;
	return gather(scope, chunks);
}
