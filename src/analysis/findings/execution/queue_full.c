// SPDX-License-Identifier: Apache-2.0
// A stream that is so full that launches into it hold the host up, which has work for another one.
#include "analysis/findings/execution/internal.h"

#include "base/cleanup.h"
#include "base/room.h"
#include "base/units.h"
#include "model/statistics/order.h"

#include <stdlib.h>

// So many commands wait in the stream, a launch takes so many times what launches into less full
// ones take in the median, and so much more.
#define PENDING 256
#define SLOWER 4
#define LEAST_CALL_NS 2000
#define FEWEST_HELD 4

// What a thread has been held up for, since it last gave another stream a command.
struct held {
	uint32_t queue; // that is full; TARE_NO_INDEX: none
	int64_t since_ns;
	double ns;
};

struct queue_state {
	uint32_t *at; // its commands that may be pending, in order
	size_t first, count, room;
	int64_t reach_ns; // end of the last command before
	bool full;        // launches into it were held up
};

// When those end that have not when one is enqueued, up to where a stream is full: a ring.
struct ends {
	int64_t at[PENDING];
	size_t first, count;
};

struct full {
	struct evaluation *evaluation;
	struct queue_state *queues;
	struct held *threads;
	uint32_t *pending; // of each command: how many others its stream held when it was enqueued
	bool any_full;
	double usual_ns;
	uint64_t launches, held; // launches that were held up; commands of others behind them
	double blocked_ns, late_ns;
	double after_ns; // what others ran while no full stream had anything left
	uint64_t most_pending;
};

static bool is_launch(const struct tare_recorded_command *c)
{
	return (c->kind == TARE_KIND_KERNEL || c->kind == TARE_KIND_GRAPH) &&
	       !(c->flags & TARE_COMMAND_BLOCKING) && !tare_command_is_run(c);
}

// How many commands of the queue have not ended when `c` is enqueued; `c` becomes one of them.
static int count_pending(struct full *full, uint32_t index)
{
	const struct tare_recording *recording = full->evaluation->recording;
	const struct tare_recorded_command *command = TARE_COMMAND(recording, index);
	struct queue_state *queue = &full->queues[command->queue];
	for (; queue->first < queue->count &&
	       TARE_COMMAND(recording, queue->at[queue->first])->end_ns <= command->enter_ns;
	     queue->first++)
		;
	full->pending[index] = (uint32_t)(queue->count - queue->first);
	if (queue->first == queue->count)
		queue->first = queue->count = 0;
	if (!TARE_ROOM_FOR(queue->at, queue->room, queue->count))
		return -ENOMEM;
	queue->at[queue->count++] = index;
	return 0;
}

static bool is_looked_at(const struct tare_recording *recording,
                         const struct tare_recorded_command *c)
{
	return c->queue < recording->queue_count &&
	       recording->queues[c->queue].api == TARE_TRACE_CUDA &&
	       c->thread < recording->thread_count && tare_command_timed(c) &&
	       !tare_command_is_run(c);
}

// Fills in how many are pending. Returns 0 or -ENOMEM.
static int find_pending(struct full *full)
{
	const struct tare_recording *recording = full->evaluation->recording;
	int code = 0;
	for (uint32_t i = 0; i < recording->command_count && !code; i++) {
		if (!is_looked_at(recording, TARE_COMMAND(recording, i)))
			continue;
		code = count_pending(full, i);
	}
	return code;
}

// Whether any stream ever is full, before memory is taken for what each command found there.
static int look_for_full(struct full *full)
{
	const struct tare_recording *recording = full->evaluation->recording;
	TARE_FREE struct ends *queues = calloc(recording->queue_count + 1, sizeof *queues);
	int code = queues ? 0 : -ENOMEM;
	for (uint32_t i = 0; i < recording->command_count && !code && !full->any_full; i++) {
		const struct tare_recorded_command *c = TARE_COMMAND(recording, i);
		if (!is_looked_at(recording, c))
			continue;
		struct ends *queue = &queues[c->queue];
		while (queue->count && queue->at[queue->first] <= c->enter_ns) {
			queue->first = (queue->first + 1) % PENDING;
			queue->count--;
		}
		full->any_full = queue->count == PENDING;
		if (!full->any_full)
			queue->at[(queue->first + queue->count++) % PENDING] = c->end_ns;
	}
	return code;
}

// What a launch takes while few are pending.
static int find_usual(struct full *full)
{
	const struct tare_recording *recording = full->evaluation->recording;
	TARE_FREE int64_t *calls_ns = calloc(recording->command_count + 1, sizeof *calls_ns);
	size_t count = 0;
	if (!calls_ns)
		return -ENOMEM;
	for (uint32_t i = 0; i < recording->command_count; i++) {
		const struct tare_recorded_command *c = TARE_COMMAND(recording, i);
		if (is_looked_at(recording, c) && is_launch(c) && full->pending[i] < PENDING)
			calls_ns[count++] = c->exit_ns - c->enter_ns;
	}
	full->usual_ns = count ? tare_select_quantile(calls_ns, count, 0.5) : 0;
	return 0;
}

// A command of another stream, which the thread came to so much later.
static void add_late(struct full *full, struct held *held, uint32_t index,
                     struct finding_draft *draft)
{
	const struct tare_recorded_command *c = TARE_COMMAND(full->evaluation->recording, index);
	int64_t reach_ns = full->queues[c->queue].reach_ns;
	int64_t from_ns = reach_ns > held->since_ns ? reach_ns : held->since_ns;
	double late_ns = (double)(c->start_ns - from_ns);
	late_ns = late_ns < held->ns ? late_ns : held->ns;
	if (late_ns > 0 && c->first_wait == TARE_NO_INDEX &&
	    evaluation_has_command(full->evaluation, c)) {
		full->held++;
		full->late_ns += late_ns;
		finding_claim(draft, c->start_ns - (int64_t)late_ns, c->start_ns);
		finding_saw_command(draft, index, c->start_ns - (int64_t)late_ns, c->start_ns,
		                    (int64_t)late_ns);
	}
	*held = (struct held){ .queue = TARE_NO_INDEX };
}

static void look_at(struct full *full, uint32_t index, struct finding_draft *draft)
{
	const struct tare_recorded_command *c = TARE_COMMAND(full->evaluation->recording, index);
	struct held *held = &full->threads[c->thread];
	double call_ns = (double)(c->exit_ns - c->enter_ns), over_ns = call_ns - full->usual_ns;
	uint32_t pending = full->pending[index];
	if (held->queue != TARE_NO_INDEX && held->queue != c->queue)
		add_late(full, held, index, draft);
	if (c->end_ns > full->queues[c->queue].reach_ns)
		full->queues[c->queue].reach_ns = c->end_ns;
	if (!is_launch(c) || pending < PENDING || over_ns < LEAST_CALL_NS ||
	    call_ns < SLOWER * full->usual_ns)
		return;
	if (held->queue != c->queue)
		*held = (struct held){ .queue = c->queue, .since_ns = c->enter_ns };
	held->ns += over_ns;
	full->queues[c->queue].full = true;
	full->launches++;
	full->blocked_ns += over_ns;
	full->most_pending = pending > full->most_pending ? pending : full->most_pending;
}

// Of the others' work what does not hide behind the full streams': only that would end the run
// earlier.
static int find_after(struct full *full)
{
	const struct evaluation *evaluation = full->evaluation;
	TARE_FREE struct tables_span *spans = calloc(evaluation->order_count + 1, sizeof *spans);
	double both_ns[2];
	if (!spans)
		return -ENOMEM;
	for (int full_only = 0; full_only < 2; full_only++) {
		size_t count = 0;
		for (size_t i = 0; i < evaluation->order_count; i++) {
			const struct tare_recorded_command *c =
			    TARE_COMMAND(evaluation->recording, evaluation->order[i]);
			bool is_full = c->queue < evaluation->recording->queue_count &&
			               full->queues[c->queue].full;
			if (is_full || !full_only)
				spans[count++] =
				    (struct tables_span){ is_full ? c->enter_ns : c->start_ns,
					                  c->end_ns };
		}
		tables_sort(spans, count);
		both_ns[full_only] = (double)tables_union(spans, count);
	}
	full->after_ns = both_ns[0] - both_ns[1];
	return 0;
}

static int raise_full(struct full *full, struct finding_draft *draft)
{
	struct evaluation *evaluation = full->evaluation;
	char blocked[TARE_UNIT_TEXT], usual[TARE_UNIT_TEXT], late[TARE_UNIT_TEXT],
	    after[TARE_UNIT_TEXT];
	double saved_ns = full->late_ns < full->after_ns ? full->late_ns : full->after_ns;
	if (full->held < FEWEST_HELD ||
	    !finding_matters(evaluation, TARE_NO_INDEX, saved_ns, full->held, full->launches, 0,
	                     FINDING_SHARE)) {
		finding_drop(draft);
		return 0;
	}
	tare_format_ns(full->blocked_ns, blocked);
	tare_format_ns(full->usual_ns, usual);
	tare_format_ns(full->late_ns, late);
	tare_format_ns(full->after_ns, after);
	finding_title(draft,
	              "%llu launches go into a stream that is full and hold up the host, which has "
	              "work for others",
	              (unsigned long long)full->launches);
	finding_evidence(
	    draft,
	    "with up to %llu commands waiting these calls took %s more than the %s that a launch "
	    "takes "
	    "otherwise; %llu commands of other streams were issued behind them, %s later in all; "
	    "others run %s when this stream has nothing left, and only that ends the run later",
	    (unsigned long long)full->most_pending, blocked, usual, (unsigned long long)full->held,
	    late, after);
	finding_advice(draft,
	               "Issue the other streams' work first or from a thread of its own, or make "
	               "fewer launches: %s",
	               finding_word(evaluation, FINDING_WORD_REPLAY));
	finding_figure(draft, "launches", (double)full->launches, "counted");
	finding_figure(draft, "blocked_ns", full->blocked_ns, "host clock");
	finding_figure(draft, "usual_ns", full->usual_ns, "host clock");
	finding_figure(draft, "late_ns", full->late_ns, "device timestamp");
	finding_figure(draft, "most_pending", (double)full->most_pending, "counted");
	finding_figure(draft, "after_ns", full->after_ns, "device timestamp");
	finding_cost(draft, 0, saved_ns, saved_ns);
	return finding_raise(draft);
}

static int evaluate_full(struct full *full)
{
	const struct tare_recording *recording = full->evaluation->recording;
	struct finding_draft draft;
	int code = look_for_full(full);
	// Mostly no stream ever is.
	if (code || !full->any_full)
		return code;
	full->pending = calloc(recording->command_count, sizeof *full->pending);
	code = full->pending ? find_pending(full) : -ENOMEM;
	if (!code)
		code = find_usual(full);
	for (size_t i = 0; i < recording->thread_count; i++)
		full->threads[i].queue = TARE_NO_INDEX;
	finding_begin(full->evaluation, &draft, "launch-queue-full");
	for (uint32_t i = 0; i < recording->command_count && !code && full->usual_ns > 0; i++)
		if (is_looked_at(recording, TARE_COMMAND(recording, i)))
			look_at(full, i, &draft);
	if (!code && full->held >= FEWEST_HELD)
		code = find_after(full);
	if (!code)
		return raise_full(full, &draft);
	finding_drop(&draft);
	return code;
}

int finding_launch_queue_full(struct evaluation *evaluation, struct tare_error *error)
{
	const struct tare_recording *recording = evaluation->recording;
	struct full full = { .evaluation = evaluation };
	(void)error;
	if (!(recording->apis >> TARE_TRACE_CUDA & 1) || recording->command_count < PENDING)
		return 0;
	full.queues = calloc(recording->queue_count + 1, sizeof *full.queues);
	full.threads = calloc(recording->thread_count + 1, sizeof *full.threads);
	for (size_t i = 0; full.queues && i < recording->queue_count; i++)
		full.queues[i].reach_ns = INT64_MIN;
	int code = full.queues && full.threads ? evaluate_full(&full) : -ENOMEM;
	for (size_t i = 0; full.queues && i < recording->queue_count; i++)
		free(full.queues[i].at);
	free(full.queues);
	free(full.threads);
	free(full.pending);
	return code;
}
