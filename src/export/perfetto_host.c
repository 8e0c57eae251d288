// SPDX-License-Identifier: Apache-2.0
// Tracks of threads: phases, calls, enqueues and callbacks, one inside another as they were. What
// does not nest (phases that are begun and ended by an identity, overlapping records of a damaged
// trace) goes to lanes of its own beside the thread.
#include "export/perfetto_internal.h"

#include "analysis/recording/intervals.h"
#include "analysis/tables/tables.h"
#include "report/core/words.h"

#include <errno.h>
#include <stdlib.h>

// What is open on a thread.
struct thread_line {
	int64_t *until_ns; // of the open slices, the innermost last
	size_t depth, room;
	struct lanes beside;
};

// One slice of a thread, whatever it comes from; in the order in which equal ones nest.
enum source { SOURCE_PHASE, SOURCE_CALL, SOURCE_COMMAND, SOURCE_CALLBACK, SOURCES };
struct item {
	int64_t from_ns, to_ns;
	uint32_t thread;
	size_t index;
	enum source source;
};

struct host {
	struct perfetto *p;
	struct thread_line *lines;
	size_t next[SOURCES], count[SOURCES];
};

// ---- in order

static struct item item_of(const struct tare_recording *r, enum source source, size_t i)
{
	switch (source) {
	case SOURCE_PHASE:
		return (struct item){ r->phases[i].from_ns, r->phases[i].to_ns, r->phases[i].thread,
			              i, source };
	case SOURCE_CALL:
		return (struct item){ r->calls[i].enter_ns, r->calls[i].exit_ns, r->calls[i].thread,
			              i, source };
	case SOURCE_COMMAND:
		return (struct item){ TARE_COMMAND(r, i)->enter_ns, TARE_COMMAND(r, i)->exit_ns,
			              TARE_COMMAND(r, i)->thread, i, source };
	default:
		return (struct item){ r->callbacks[i].enter_ns, r->callbacks[i].exit_ns,
			              r->callbacks[i].thread, i, source };
	}
}

static bool is_wanted(const struct perfetto *p, const struct item *item)
{
	const struct tare_recording *r = p->recording;

	if (item->thread >= r->thread_count)
		return false;
	if (item->source == SOURCE_CALL)
		return tare_view_filter_has_call(p->members, &r->calls[item->index]);
	// Runs of a list are in the call of the command that executes it.
	if (item->source == SOURCE_COMMAND)
		return !tare_command_is_run(TARE_COMMAND(r, item->index)) &&
		       tare_view_filter_has_command(p->members, TARE_COMMAND(r, item->index));
	return tare_view_filter_has_moment(p->members, item->thread, item->from_ns);
}

static bool is_before(const struct item *a, const struct item *b)
{
	if (a->from_ns != b->from_ns)
		return a->from_ns < b->from_ns;
	return a->to_ns > b->to_ns;
}

// The next of all sources; false: none is left.
static bool take_next(struct host *host, struct item *item)
{
	bool found = false;

	for (int s = 0; s < SOURCES; s++) {
		struct item candidate;
		if (host->next[s] == host->count[s])
			continue;
		candidate = item_of(host->p->recording, (enum source)s, host->next[s]);
		if (!found || is_before(&candidate, item))
			*item = candidate;
		found = true;
	}
	if (found)
		host->next[item->source]++;
	return found;
}

// ---- where

static void close_until(struct host *host, uint32_t thread, int64_t at_ns)
{
	struct thread_line *line = &host->lines[thread];

	while (line->depth && line->until_ns[line->depth - 1] <= at_ns)
		perfetto_end(host->p, line->until_ns[--line->depth], host->p->thread_track[thread]);
}

static bool stack_up(struct thread_line *line, int64_t until_ns)
{
	if (line->depth == line->room) {
		size_t room = line->room ? 2 * line->room : 8;
		int64_t *grown = reallocarray(line->until_ns, room, sizeof *grown);
		if (!grown)
			return false;
		line->until_ns = grown;
		line->room = room;
	}
	line->until_ns[line->depth++] = until_ns;
	return true;
}

// The track for an item, 0 without memory. *nested: its end is written when it has come.
static uint64_t place(struct host *host, const struct item *item, bool ranges, bool *nested)
{
	struct perfetto *p = host->p;
	struct thread_line *line = &host->lines[item->thread];
	uint32_t lane;

	close_until(host, item->thread, item->from_ns);
	*nested = !ranges && (line->depth == 0 || item->to_ns <= line->until_ns[line->depth - 1]);
	if (*nested)
		return stack_up(line, item->to_ns) ? p->thread_track[item->thread] : 0;
	lane = lanes_take(&line->beside, item->from_ns, item->to_ns);
	if (lane == LANES_NONE)
		return 0;
	return perfetto_lane(p, &line->beside, lane, p->thread_track[item->thread],
	                     ranges || lane ? "phases" : "beside");
}

// ---- what

static void note_call(struct perfetto *p, size_t index)
{
	const struct tare_recorded_call *call = &p->recording->calls[index];

	perfetto_note_number(p, NOTE_CALL, index);
	if (call->object < p->recording->queue_count &&
	    (call->role == TARE_ROLE_WAIT || call->role == TARE_ROLE_FLUSH))
		perfetto_note_number(p, NOTE_QUEUE, p->recording->queues[call->object].number);
	if (call->bytes)
		perfetto_note_number(p, NOTE_BYTES, call->bytes);
	if (call->count != 1) {
		perfetto_note_number(p, NOTE_COUNT, call->count);
		perfetto_note_signed(p, NOTE_INSIDE, call->inside_ns);
	}
	if (call->flags & TARE_CALL_FAILED)
		perfetto_note_signed(p, NOTE_RESULT, call->result);
	perfetto_note_site(p, call->stack);
}

static void note_command(struct perfetto *p, size_t index)
{
	const struct tare_recorded_command *command = TARE_COMMAND(p->recording, index);

	perfetto_note_number(p, NOTE_COMMAND, index);
	perfetto_note_text(p, NOTE_WHAT, perfetto_name(p, perfetto_command(p, command)));
	if (command->queue < p->recording->queue_count)
		perfetto_note_number(p, NOTE_QUEUE, p->recording->queues[command->queue].number);
	perfetto_note_site(p, command->stack);
	if (command->part == TARE_EXECUTES || tare_command_timed(command)) {
		perfetto_flow(p, perfetto_call_flow(index));
		p->counts->flows++;
	} else {
		perfetto_note_text(p, NOTE_UNTIMED,
		                   tare_report_unobserved(tare_command_unobserved(command)));
	}
}

static void note_phase(struct perfetto *p, const struct tare_recorded_phase *phase)
{
	static const char *const sources[] = { "tare", "ITT", "NVTX" };

	perfetto_note_text(p, NOTE_DOMAIN, phase->domain);
	perfetto_note_text(p, NOTE_SOURCE, phase->source < 3 ? sources[phase->source] : NULL);
	if (phase->unended)
		perfetto_note_number(p, NOTE_UNENDED, 1);
}

static struct perfetto_opened begin(struct perfetto *p, const struct item *item,
                                    enum perfetto_event type, uint64_t track)
{
	static const enum perfetto_category categories[SOURCES] = {
		[SOURCE_PHASE] = CATEGORY_PHASE,
		[SOURCE_CALL] = CATEGORY_CALL,
		[SOURCE_COMMAND] = CATEGORY_COMMAND,
		[SOURCE_CALLBACK] = CATEGORY_CALLBACK,
	};
	const struct tare_recording *r = p->recording;
	uint64_t name = 0;

	if (item->source == SOURCE_CALL)
		name = perfetto_function(p, r->calls[item->index].function);
	else if (item->source == SOURCE_COMMAND)
		name = perfetto_function(p, TARE_COMMAND(r, item->index)->function);
	else if (item->source == SOURCE_CALLBACK)
		name = perfetto_function(p, r->callbacks[item->index].function);
	return perfetto_event_open(p, type, item->from_ns, track, categories[item->source], name,
	                           name ? NULL : r->phases[item->index].name);
}

static bool write_item(struct host *host, struct item *item)
{
	struct perfetto *p = host->p;
	const struct tare_recorded_phase *phase =
	    item->source == SOURCE_PHASE ? &p->recording->phases[item->index] : NULL;
	struct perfetto_opened opened;
	bool nested = true;
	uint64_t track;

	if (item->to_ns < item->from_ns)
		item->to_ns = item->from_ns;
	if (phase && phase->instant) {
		close_until(host, item->thread, item->from_ns);
		track = p->thread_track[item->thread];
	} else {
		track = place(host, item, phase && phase->range, &nested);
	}
	if (!track)
		return false;
	opened = begin(p, item, phase && phase->instant ? EVENT_INSTANT : EVENT_BEGIN, track);
	if (phase)
		note_phase(p, phase);
	else if (item->source == SOURCE_CALL)
		note_call(p, item->index);
	else if (item->source == SOURCE_COMMAND)
		note_command(p, item->index);
	perfetto_event_close(p, opened);
	if (!nested)
		perfetto_end(p, item->to_ns, track);
	return true;
}

// ---- what was not recorded

static const char *why_lost(enum tare_loss_why why)
{
	switch (why) {
	case TARE_LOSS_NO_ROOM:
		return "not recorded: no room";
	case TARE_LOSS_STOPPED:
		return "not recorded: recording had stopped";
	case TARE_LOSS_RECYCLED:
		return "not recorded: overwritten by newer records";
	case TARE_LOSS_INACTIVE:
		return "not recorded: --delay or --duration";
	default:
		return "no sign of life";
	}
}

static int write_losses(struct perfetto *p)
{
	const struct tare_recording *r = p->recording;

	for (size_t i = 0; i < r->loss_count; i++) {
		const struct tare_recorded_loss *loss = &r->losses[i];
		struct perfetto_opened opened;
		uint64_t track;
		if (loss->process >= r->process_count || !p->process_track[loss->process] ||
		    loss->to_ns < loss->from_ns)
			continue;
		// Each on a track of its own: there are few, and they overlap as they like.
		track =
		    perfetto_track(p,
		                   loss->thread < r->thread_count ? p->thread_track[loss->thread]
		                                                  : p->process_track[loss->process],
		                   "not recorded");
		opened = perfetto_event_open(p, EVENT_BEGIN, loss->from_ns, track, CATEGORY_LOSS, 0,
		                             why_lost(loss->why));
		perfetto_note_number(p, NOTE_RECORDS, loss->records);
		perfetto_event_close(p, opened);
		perfetto_end(p, loss->to_ns, track);
	}
	return p->status;
}

// ---- all

static int walk(struct host *host)
{
	struct perfetto *p = host->p;
	const struct tare_recording *r = p->recording;
	uint64_t total = 0, done = 0;
	struct item item = { 0 };

	host->count[SOURCE_PHASE] = r->phase_count;
	host->count[SOURCE_CALL] = r->call_count;
	host->count[SOURCE_COMMAND] = r->command_count;
	host->count[SOURCE_CALLBACK] = r->callback_count;
	for (int s = 0; s < SOURCES; s++)
		total += host->count[s];
	while (take_next(host, &item)) {
		if (!perfetto_step(p, "threads", done++, total))
			return p->status;
		if (is_wanted(p, &item) && !write_item(host, &item))
			return -ENOMEM;
	}
	for (uint32_t i = 0; i < r->thread_count; i++)
		close_until(host, i, INT64_MAX);
	return p->status;
}

int perfetto_host(struct perfetto *p)
{
	size_t threads = p->recording->thread_count;
	struct host host = { .p = p, .lines = calloc(threads + 1, sizeof *host.lines) };
	int status = host.lines ? walk(&host) : -ENOMEM;

	for (size_t i = 0; host.lines && i < threads; i++) {
		free(host.lines[i].until_ns);
		lanes_free(&host.lines[i].beside);
	}
	free(host.lines);
	return status ? status : write_losses(p);
}
