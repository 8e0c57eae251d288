// SPDX-License-Identifier: Apache-2.0
#include "analysis/ledger/internal.h"
#include "base/room.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

// By when everything that was put into a queue so far must have been complete; going backwards.
struct queue_bound {
	// a wait for the queue, or a blocking command of an in-order queue, returned
	int64_t ended_ns;
	int64_t started_ns; // a later command of an in-order queue began
};

struct search {
	const struct ledger_scope *scope;
	struct queue_bound *bounds;  // one a queue
	struct tare_run_span *spans; // latest first
	size_t count, capacity;
};

static int add_span(struct search *search, struct tare_run_span span)
{
	if (span.from_ns >= span.to_ns)
		return 0;
	while (search->count && search->spans[search->count - 1].from_ns <= span.to_ns) {
		const struct tare_run_span *next = &search->spans[--search->count];
		if (next->to_ns > span.to_ns)
			span.to_ns = next->to_ns;
	}
	if (!TARE_ROOM_FOR(search->spans, search->capacity, search->count))
		return -ENOMEM;
	search->spans[search->count++] = span;
	return 0;
}

static int64_t process_end_ns(const struct tare_recording *recording,
                              const struct tare_recorded_command *command)
{
	int64_t end_ns = TARE_NO_TIME;
	if (command->thread < recording->thread_count)
		end_ns = recording->processes[recording->threads[command->thread].process].end_ns;
	return end_ns != TARE_NO_TIME ? end_ns : recording->end_ns;
}

static int64_t earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static inline bool is_untimed(const struct tare_recorded_command *command)
{
	return !tare_command_timed(command) && tare_command_effect(command) != TARE_EFFECT_NONE;
}

static int note_untimed(struct search *search, const struct tare_recorded_command *command)
{
	const struct tare_recording *recording = search->scope->recording;
	if (!is_untimed(command) || !ledger_has_command(search->scope, command))
		return 0;
	int64_t until_ns = process_end_ns(recording, command);
	if (command->flags & TARE_COMMAND_BLOCKING)
		until_ns = earlier(until_ns, command->exit_ns);
	if (command->queue < recording->queue_count) {
		const struct queue_bound *bound = &search->bounds[command->queue];
		until_ns = earlier(until_ns, earlier(bound->ended_ns, bound->started_ns));
	}
	return add_span(search, (struct tare_run_span){ command->enter_ns, until_ns });
}

static void note_bound(struct search *search, const struct tare_recorded_command *command)
{
	const struct tare_recording *recording = search->scope->recording;
	if (command->queue >= recording->queue_count ||
	    recording->queues[command->queue].out_of_order)
		return;
	struct queue_bound *bound = &search->bounds[command->queue];
	if (command->flags & TARE_COMMAND_BLOCKING)
		bound->ended_ns = earlier(bound->ended_ns, command->exit_ns);
	if (tare_command_timed(command))
		bound->started_ns = earlier(bound->started_ns, command->start_ns);
}

static void note_wait(struct search *search, const struct tare_recorded_call *call)
{
	if (call->role != TARE_ROLE_WAIT || call->flags & TARE_CALL_FAILED ||
	    call->object >= search->scope->recording->queue_count)
		return;
	struct queue_bound *bound = &search->bounds[call->object];
	bound->ended_ns = earlier(bound->ended_ns, call->exit_ns);
}

// The first that has no times; command_count: there is none, mostly.
static size_t first_untimed(const struct tare_recording *recording)
{
	size_t first = 0;
	if (recording->commands.sums && recording->commands.all_timed)
		return recording->command_count;
	while (first < recording->command_count && !is_untimed(TARE_COMMAND(recording, first)))
		first++;
	return first;
}

// Backwards through commands and calls. Of those that begin at the same moment none bounds another.
// What comes before the first untimed command bounds none.
static int go_back(struct search *search)
{
	const struct tare_recording *recording = search->scope->recording;
	const struct tare_recorded_call *calls = recording->calls;
	size_t command = recording->command_count, call = recording->call_count;
	size_t earliest = first_untimed(recording);
	int rc = 0;

	while (command > earliest && !rc) {
		const struct tare_recorded_command *last = TARE_COMMAND(recording, command - 1);
		int64_t at_ns = last->enter_ns;
		size_t first = command;
		while (call > 0 && calls[call - 1].enter_ns > at_ns)
			note_wait(search, &calls[--call]);
		if (first == 1 || TARE_COMMAND(recording, first - 2)->enter_ns != at_ns) {
			rc = note_untimed(search, last);
			note_bound(search, last);
			command--;
			continue;
		}
		while (first > 0 && TARE_COMMAND(recording, first - 1)->enter_ns == at_ns && !rc)
			rc = note_untimed(search, TARE_COMMAND(recording, --first));
		while (command > first)
			note_bound(search, TARE_COMMAND(recording, --command));
	}
	return rc;
}

static void reverse(struct tare_run_span *spans, size_t count)
{
	for (size_t i = 0; i < count / 2; i++) {
		struct tare_run_span span = spans[i];
		spans[i] = spans[count - 1 - i];
		spans[count - 1 - i] = span;
	}
}

static int add_unknown(const struct ledger_scope *scope, struct tare_run_span **spans,
                       size_t *count)
{
	struct tare_run_span *all =
	    reallocarray(*spans, *count + scope->unknown_count, sizeof *all);
	if (!all) {
		free(*spans);
		*spans = NULL;
		return -ENOMEM;
	}
	memcpy(all + *count, scope->unknown, scope->unknown_count * sizeof *all);
	*spans = all;
	*count = tare_spans_unite(all, *count + scope->unknown_count);
	return 0;
}

int ledger_untimed(const struct ledger_scope *scope, struct tare_run_span **spans, size_t *count)
{
	size_t queues = scope->recording->queue_count;
	struct search search = { .scope = scope };
	search.bounds = calloc(queues + 1, sizeof *search.bounds);
	if (!search.bounds)
		return -ENOMEM;
	for (size_t i = 0; i < queues; i++)
		search.bounds[i] = (struct queue_bound){ INT64_MAX, INT64_MAX };
	int rc = go_back(&search);
	free(search.bounds);
	if (rc) {
		free(search.spans);
		return rc;
	}
	reverse(search.spans, search.count);
	*spans = search.spans;
	*count = search.count;
	return scope->unknown_count ? add_unknown(scope, spans, count) : 0;
}
