// SPDX-License-Identifier: Apache-2.0
// The repetitions in a recording: copies in, kernels, copies out, queue by queue; or thread by
// thread, where each queue only copies or only runs kernels, as engines do.
#include "analysis/whatif/internal.h"

#include "base/cleanup.h"

#include <math.h>
#include <stdlib.h>

// A pause so many times as long as a chunk is usually at work divides the run into parts.
enum { PAUSE_CHUNKS = 8 };

// A queue (or a thread) while its commands come in the order of enqueueing.
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
	else if (queue->open && pause_ns > chunks->longest_ns)
		chunks->longest_ns = pause_ns;
	if (code)
		return code;
	if (!queue->open)
		queue->chunk =
		    (struct whatif_chunk){ .from_ns = command->start_ns, .to_ns = command->end_ns };
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

// Whatever its times.
static bool may_be_of_chunk(const struct whatif_scope *scope,
                            const struct tare_recorded_command *command)
{
	return tare_command_device(scope->recording, command) == scope->device &&
	       tare_command_effect(command) != TARE_EFFECT_NONE &&
	       tare_view_wants_command(scope->recording, scope->view, command);
}

// What of it commands have in common is found out once; `likes`: may_be_of_chunk.
static inline bool is_of_chunk(const struct whatif_scope *scope, const bool *likes, size_t index)
{
	const struct tare_recorded_command *command = TARE_COMMAND(scope->recording, index);
	uint32_t like = tare_command_like_of(&scope->recording->commands, index);
	bool may = like != TARE_PACKED_WHOLE ? likes[like] : may_be_of_chunk(scope, command);
	return may && tare_command_timed(command) &&
	       tare_view_reaches_command(scope->view, command);
}

// To be freed; NULL: there is no memory.
static bool *look_at_likes(const struct whatif_scope *scope)
{
	const struct tare_commands *commands = &scope->recording->commands;
	bool *likes = calloc(commands->like_count + 1, sizeof *likes);
	for (uint32_t i = 0; likes && i < commands->like_count; i++) {
		const struct tare_recorded_command command = tare_command_of_like(commands, i);
		likes[i] = may_be_of_chunk(scope, &command);
	}
	return likes;
}

// Whether no queue has both copies and kernels. A fill or a local copy says nothing of its queue.
static int find_apart(const struct whatif_scope *scope, const bool *likes, bool *apart)
{
	enum { KERNELS = 1, COPIES = 2 };
	const struct tare_recording *recording = scope->recording;
	TARE_FREE unsigned char *seen = calloc(recording->queue_count + 1, sizeof *seen);
	if (!seen)
		return -ENOMEM;
	*apart = true;
	for (size_t i = 0; i < recording->command_count && *apart; i++) {
		const struct tare_recorded_command *command = TARE_COMMAND(recording, i);
		if (!is_of_chunk(scope, likes, i))
			continue;
		enum tare_effect effect = tare_command_effect(command);
		seen[command->queue] |= effect == TARE_EFFECT_KERNEL            ? KERNELS
		                        : stage_of(effect) != TARE_STAGE_KERNEL ? COPIES
		                                                                : 0;
		*apart = seen[command->queue] != (KERNELS | COPIES);
	}
	return 0;
}

static int gather(const struct whatif_scope *scope, struct whatif_chunks *chunks)
{
	const struct tare_recording *recording = scope->recording;
	bool apart = false;
	TARE_FREE bool *likes = look_at_likes(scope);
	int code = likes ? find_apart(scope, likes, &apart) : -ENOMEM;
	size_t rows = apart ? recording->thread_count : recording->queue_count;
	TARE_FREE struct queue_state *queues = calloc(rows + 1, sizeof *queues);
	if (!queues)
		code = -ENOMEM;
	chunks->count = 0;
	for (size_t i = 0; !code && i < recording->command_count; i++) {
		const struct tare_recorded_command *command = TARE_COMMAND(recording, i);
		uint32_t row = apart ? command->thread : command->queue;
		if (row < rows && is_of_chunk(scope, likes, i))
			code = add_command(chunks, &queues[row], command);
	}
	for (size_t i = 0; !code && i < rows; i++)
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
	// No chunk has such a pause in it, mostly.
	return (double)chunks->longest_ns > chunks->pause_ns ? gather(scope, chunks) : 0;
}
