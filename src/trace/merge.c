// SPDX-License-Identifier: Apache-2.0
// The second pass: definitions, then the events of all chains merged by the time at which they were
// written. A chain is read through a small buffer, so memory does not grow with the file.
#include "trace/expand.h"
#include "trace/internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BUFFER_RECORDS = 1024, ALL_BUFFERS_RECORDS = 256 * 1024 };

// Where a chain of windows is being read.
struct merge_run {
	uint64_t key;                          // settled ticks of `record`
	const union tare_trace_record *record; // the next to be passed on
	const union tare_trace_record *at, *end;
	union tare_trace_record *buffer;
	uint32_t window, last_window; // places in the order
	uint32_t read;                // records of the window that were read
	struct tare_trace_expansion expansion;
};

struct merge {
	struct tare_trace_source *source;
	const struct tare_trace_visitor *visitor;
	int file;
	size_t room; // records of one buffer
	uint64_t limit;
	const uint32_t *order;
	struct merge_run **heap;
	size_t count;
};

// Reads records of a window. At its beginning it must still be the window that was found: a live
// recorder may have used it again. Returns the number of records; 0: no more, or not the same.
static ssize_t read_records(struct tare_trace_source *source, int file,
                            const struct tare_trace_place *place, uint32_t from,
                            union tare_trace_record *buffer, size_t room)
{
	size_t left = place->records - from;
	ssize_t have;

	if (!left)
		return 0;
	have = tare_trace_pread(file, buffer, (left < room ? left : room) * TARE_TRACE_RECORD_BYTES,
	                        tare_trace_offset(source, place->slot, from));
	if (have < 0)
		return have;
	have /= TARE_TRACE_RECORD_BYTES;
	if (!have || (from == 0 && (!tare_trace_is_window(&buffer->window) ||
	                            buffer->window.sequence != place->sequence))) {
		tare_trace_say(source,
		               "was written to while it was read: the window at byte %" PRIu64
		               " was left out from record %" PRIu32 " on",
		               tare_trace_offset(source, place->slot, 0), from);
		return 0;
	}
	return have;
}

// What one buffer is good for: a window is never read across its end.
static size_t buffer_records(const struct tare_trace_source *source)
{
	size_t window = source->header.window_bytes / TARE_TRACE_RECORD_BYTES;

	return window < BUFFER_RECORDS ? window : BUFFER_RECORDS;
}

// Whether the user gets to see a record; the host's clock is the reader's own business.
static bool passed_on(const union tare_trace_record *record, bool definitions)
{
	uint8_t type = tare_trace_type(record->head);

	if (type == TARE_TRACE_STRING || type == TARE_TRACE_VOID ||
	    tare_trace_judge(record, definitions) != TARE_TRACE_SOUND)
		return false;
	return type != TARE_TRACE_CLOCK_PAIR ||
	       tare_trace_detail(record->head) == TARE_CLOCK_DEVICE;
}

// ---- definitions

static int pass_definitions(struct merge *merge, const struct tare_trace_place *place,
                            union tare_trace_record *buffer, size_t room)
{
	uint32_t from = 0;

	for (;;) {
		ssize_t have = read_records(merge->source, merge->file, place, from, buffer, room);
		if (have <= 0)
			return (int)have;
		for (ssize_t i = from == 0; i < have; i++) {
			int status =
			    passed_on(&buffer[i], true)
			        ? merge->visitor->definition(merge->visitor->context, &buffer[i])
			        : 0;
			if (status)
				return status;
		}
		from += (uint32_t)have;
	}
}

static int all_definitions(struct merge *merge)
{
	size_t room = buffer_records(merge->source);
	union tare_trace_record *buffer = malloc(room * sizeof *buffer);
	int status = buffer ? 0 : -ENOMEM;

	for (size_t i = 0; i < merge->source->count && !status; i++)
		if (merge->source->places[i].definitions)
			status = pass_definitions(merge, &merge->source->places[i], buffer, room);
	free(buffer);
	return status;
}

// ---- events

// Own time of the record after `record` in its window, or the limit.
static uint64_t time_after(const struct merge *merge, const struct merge_run *run,
                           const union tare_trace_record *record)
{
	const struct tare_trace_place *place = &merge->source->places[merge->order[run->window]];
	uint32_t following = run->read - (uint32_t)(run->end - record) + 1;
	union tare_trace_record next;

	if (record + 1 < run->end)
		next = record[1];
	else if (following >= place->records ||
	         tare_trace_pread(merge->file, &next, sizeof next,
	                          tare_trace_offset(merge->source, place->slot, following)) !=
	             (ssize_t)sizeof next)
		return merge->limit;
	return next.head ? tare_trace_written_ticks(&next, UINT64_MAX) : merge->limit;
}

// Fills the buffer. Returns 1, 0 at the end of the chain, or a negative errno.
static int refill(struct merge *merge, struct merge_run *run)
{
	for (; run->window <= run->last_window; run->window++, run->read = 0) {
		const struct tare_trace_place *place =
		    &merge->source->places[merge->order[run->window]];
		ssize_t have = read_records(merge->source, merge->file, place, run->read,
		                            run->buffer, merge->room);
		if (have < 0)
			return (int)have;
		if (have == 0)
			continue;
		run->at = run->buffer + (run->read == 0);
		if (run->read == 0)
			run->expansion = (struct tare_trace_expansion){ 0 };
		run->end = run->buffer + have;
		run->read += (uint32_t)have;
		if (run->at < run->end)
			return 1;
	}
	return 0;
}

// The next record that is passed on, or what stands for it. Returns 1, 0 at the end, or a negative
// errno.
static int next_record(struct merge *merge, struct merge_run *run)
{
	for (;;) {
		const union tare_trace_record *record = tare_trace_expand_next(&run->expansion);
		bool sound;
		if (record) {
			run->record = record;
			return 1;
		}
		if (run->at == run->end) {
			int status = refill(merge, run);
			if (status <= 0)
				return status;
		}
		record = run->at++;
		sound = passed_on(record, false);
		if (!tare_trace_expand(&run->expansion, record, sound) || !sound ||
		    tare_trace_is_short(record->head))
			continue;
		run->record = record;
		return 1;
	}
}

// Finds the chain's next event. Returns 1, 0 at the end, or a negative errno.
static int advance(struct merge *merge, struct merge_run *run)
{
	int status = next_record(merge, run);
	uint64_t ticks, settled;

	if (status <= 0)
		return status;
	ticks = tare_trace_written_ticks(run->record, run->key);
	settled = tare_trace_settle(run->key, ticks, 0);
	// Looking ahead may take a read, and is rarely of use.
	if (settled < ticks && ticks > run->key)
		settled = tare_trace_settle(run->key, ticks, time_after(merge, run, run->at - 1));
	run->key = settled;
	return 1;
}

static bool before(const struct merge_run *a, const struct merge_run *b)
{
	return a->key != b->key ? a->key < b->key : a < b;
}

static void sink(struct merge *merge, size_t at)
{
	struct merge_run *run = merge->heap[at];

	for (size_t child; (child = 2 * at + 1) < merge->count; at = child) {
		if (child + 1 < merge->count && before(merge->heap[child + 1], merge->heap[child]))
			child++;
		if (!before(merge->heap[child], run))
			break;
		merge->heap[at] = merge->heap[child];
	}
	merge->heap[at] = run;
}

// The run that comes after the first one; NULL: there is none.
static const struct merge_run *second(const struct merge *merge)
{
	if (merge->count < 2)
		return NULL;
	return merge->count > 2 && before(merge->heap[2], merge->heap[1]) ? merge->heap[2]
	                                                                  : merge->heap[1];
}

// Passes on events of the first run for as long as they come before all others'.
static int drain(struct merge *merge)
{
	const struct tare_trace_source *source = merge->source;
	const struct merge_run *other = second(merge);
	struct merge_run *run = merge->heap[0];
	int status;

	do {
		int64_t written_ns = tare_trace_map_ns(&source->map, run->key);
		// Nothing of this thread had a time yet, or one that cannot be.
		if (written_ns < source->open.first_ns)
			written_ns = source->open.first_ns;
		status = merge->visitor->event(merge->visitor->context, run->record, written_ns);
		if (status)
			return status;
		status = advance(merge, run);
		if (status < 0)
			return status;
	} while (status > 0 && (!other || before(run, other)));
	if (status == 0)
		merge->heap[0] = merge->heap[--merge->count];
	if (merge->count)
		sink(merge, 0);
	return 0;
}

// One run a chain. Returns 0 or a negative errno.
static int begin_runs(struct merge *merge, struct merge_run *runs, union tare_trace_record *buffers)
{
	const struct tare_trace_source *source = merge->source;

	for (uint32_t i = 0, chain = 0; i < source->ordered; chain++) {
		struct merge_run *run = &runs[chain];
		uint32_t from = i;
		int status;
		while (i < source->ordered && source->places[source->order[i]].chain == chain)
			i++;
		run->window = from;
		run->last_window = i - 1;
		run->buffer = buffers + chain * merge->room;
		run->at = run->end = run->buffer;
		status = advance(merge, run);
		if (status < 0)
			return status;
		if (status > 0)
			merge->heap[merge->count++] = run;
	}
	for (size_t i = merge->count / 2; i-- > 0;)
		sink(merge, i);
	return 0;
}

static int all_events(struct merge *merge)
{
	size_t chains = merge->source->chains;
	struct merge_run *runs = calloc(chains + 1, sizeof *runs);
	union tare_trace_record *buffers;
	int status = -ENOMEM;

	merge->room = chains ? ALL_BUFFERS_RECORDS / chains : 1;
	merge->room = merge->room > buffer_records(merge->source) ? buffer_records(merge->source)
	                                                          : merge->room;
	merge->room = merge->room < 2 ? 2 : merge->room;
	merge->heap = malloc((chains + 1) * sizeof *merge->heap);
	buffers = malloc((chains + 1) * merge->room * sizeof *buffers);
	if (runs && merge->heap && buffers)
		status = begin_runs(merge, runs, buffers);
	while (!status && merge->count)
		status = drain(merge);
	free(buffers);
	free(merge->heap);
	free(runs);
	return status;
}

// ---- calls that never returned

// The last window of a chain tells what the thread that holds it is in.
static int all_unfinished(const struct merge *merge)
{
	const struct tare_trace_source *source = merge->source;
	const struct tare_trace_visitor *visitor = merge->visitor;

	for (size_t i = 0; i < source->ordered && visitor->unfinished; i++) {
		const struct tare_trace_place *place = &source->places[source->order[i]];
		bool last = i + 1 == source->ordered ||
		            source->places[source->order[i + 1]].chain != place->chain;
		int status;
		if (!last || !place->in_call)
			continue;
		status = visitor->unfinished(visitor->context, place->track, place->in_call - 1,
		                             tare_trace_map_ns(&source->map, place->in_call_ticks));
		if (status)
			return status;
	}
	return 0;
}

int tare_trace_read(struct tare_trace *trace, size_t file, const struct tare_trace_visitor *visitor)
{
	struct merge merge = { .visitor = visitor };
	int status;

	if (file >= trace->count)
		return -EINVAL;
	merge.source = trace->sources[file];
	merge.order = merge.source->order;
	merge.limit = tare_trace_limit(merge.source);
	merge.file = tare_trace_reopen(merge.source);
	if (merge.file < 0)
		return merge.file;
	status = visitor->definition ? all_definitions(&merge) : 0;
	if (!status && visitor->event)
		status = all_events(&merge);
	if (!status)
		status = all_unfinished(&merge);
	close(merge.file);
	return status;
}
