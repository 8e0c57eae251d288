// SPDX-License-Identifier: Apache-2.0
// The first pass over a file: finds its windows, judges every record, and keeps what must be known
// before the first event can be passed on.
#include "base/room.h"
#include "trace/expand.h"
#include "trace/internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	MOST_READINGS = 16384, // of the host's clock; more are thinned out
	LOOK_BEYOND = 4,       // records after one that was never completed
};

// The pass over one file.
struct scan {
	struct tare_trace_source *source;
	int file;
	uint64_t bytes; // of the file
	uint64_t slots; // windows that it has room for, the last one perhaps cut
	union tare_trace_record *window;
	struct tare_trace_chains chains;
	struct tare_trace_expansion expansion; // of this window
	bool damaged;                          // something of this window was left out
	uint64_t complaints;                   // windows of which nothing could be read
};

// ---- finding windows

static struct tare_trace_place *add_place(struct tare_trace_source *source)
{
	if (!TARE_ROOM_FOR(source->places, source->room, source->count))
		return NULL;
	return &source->places[source->count++];
}

// The next slot that may hold something: holes of the file are passed over.
static uint64_t next_slot(const struct scan *scan, uint64_t slot)
{
	uint64_t offset = tare_trace_offset(scan->source, slot, 0);
	off_t data = lseek(scan->file, (off_t)offset, SEEK_DATA);

	if (data < 0)
		return errno == ENXIO ? scan->slots : slot;
	if ((uint64_t)data <= offset)
		return slot;
	return ((uint64_t)data - scan->source->header.header_bytes) /
	       scan->source->header.window_bytes;
}

static void leave_out_window(struct scan *scan, uint64_t slot, const char *why)
{
	scan->source->open.damaged_windows++;
	tare_trace_say(scan->source,
	               "is damaged: the window at byte %" PRIu64 " %s and was left out",
	               tare_trace_offset(scan->source, slot, 0), why);
}

static void tell_cut(struct scan *scan, uint64_t slot)
{
	tare_trace_say(scan->source,
	               "is cut inside the window at byte %" PRIu64
	               ": what is before the cut was read",
	               tare_trace_offset(scan->source, slot, 0));
}

// Looks at a slot. Returns 1 for something, 0 when it was never claimed, or a negative errno.
static int find_window(struct scan *scan, uint64_t slot)
{
	union tare_trace_record first[1 + LOOK_BEYOND] = { 0 };
	ssize_t have = tare_trace_pread(scan->file, first, sizeof first,
	                                tare_trace_offset(scan->source, slot, 0));
	struct tare_trace_place *place;

	if (have < 0)
		return (int)have;
	if (!first[0].head) {
		// Being claimed when the process ended, or never: either way without records.
		for (size_t i = 1; i <= LOOK_BEYOND; i++)
			if (first[i].head) {
				leave_out_window(scan, slot, "has records but no head");
				return 1;
			}
		return 0;
	}
	if (have < TARE_TRACE_RECORD_BYTES) {
		tell_cut(scan, slot);
		return 1;
	}
	if (!tare_trace_is_window(&first[0].window)) {
		leave_out_window(scan, slot, "does not begin like one");
		return 1;
	}
	place = add_place(scan->source);
	if (!place)
		return -ENOMEM;
	*place = (struct tare_trace_place){
		.slot = slot,
		.sequence = first[0].window.sequence,
		.claimed_ticks = first[0].window.claimed_ticks,
		.in_call =
		    (uint32_t)(first[0].window.in_call <= UINT16_MAX + 1 ? first[0].window.in_call
		                                                         : 0),
		.in_call_ticks = first[0].window.in_call_ticks,
		.track = tare_trace_track(first[0].head),
		.definitions = tare_trace_detail(first[0].head) == 1,
	};
	return 1;
}

static int by_sequence(const void *a, const void *b)
{
	const struct tare_trace_place *x = a;
	const struct tare_trace_place *y = b;

	if (x->sequence != y->sequence)
		return x->sequence < y->sequence ? -1 : 1;
	return (x->slot > y->slot) - (x->slot < y->slot);
}

// Two windows of one number cannot be, but each may be right in all else: both are read.
static void tell_doubles(struct tare_trace_source *source)
{
	for (size_t i = 1; i < source->count; i++)
		if (source->places[i - 1].sequence == source->places[i].sequence)
			tare_trace_say(source,
			               "is damaged: the windows at bytes %" PRIu64 " and %" PRIu64
			               " have the same number; their order is not known",
			               tare_trace_offset(source, source->places[i - 1].slot, 0),
			               tare_trace_offset(source, source->places[i].slot, 0));
}

static int find_windows(struct scan *scan)
{
	struct tare_trace_source *source = scan->source;
	uint64_t slot = 0;

	while (slot < scan->slots) {
		int found;
		if (source->count + source->open.damaged_windows >= TARE_TRACE_MOST_WINDOWS) {
			tare_trace_say(source,
			               "has more than %d windows: those from byte %" PRIu64
			               " on were left out",
			               TARE_TRACE_MOST_WINDOWS, tare_trace_offset(source, slot, 0));
			break;
		}
		found = find_window(scan, slot);
		if (found < 0)
			return found;
		slot++;
		if (!found && slot < scan->slots)
			slot = next_slot(scan, slot);
	}
	if (source->count)
		qsort(source->places, source->count, sizeof *source->places, by_sequence);
	tell_doubles(source);
	return 0;
}

// ---- judging records

static void leave_out(struct scan *scan, const struct tare_trace_place *place, size_t record,
                      const char *why)
{
	if (!scan->damaged)
		scan->source->open.damaged_windows++;
	scan->damaged = true;
	tare_trace_say(scan->source,
	               "is damaged: the record at byte %" PRIu64 " %s and was left out",
	               tare_trace_offset(scan->source, place->slot, record), why);
}

// Keeps every other of the readings, of two neighbours the narrower one.
static void thin_out(struct tare_trace_source *source)
{
	size_t kept = 0;

	for (size_t i = 0; i + 1 < source->reading_count; i += 2) {
		struct tare_trace_reading *a = &source->readings[i], *b = &source->readings[i + 1];
		source->readings[kept++] = a->after - a->before <= b->after - b->before ? *a : *b;
	}
	source->reading_count = kept;
}

static int keep_reading(struct tare_trace_source *source, const struct tare_trace_clock_pair *pair)
{
	if (source->reading_count == MOST_READINGS)
		thin_out(source);
	if (!TARE_ROOM_FOR(source->readings, source->reading_room, source->reading_count))
		return -ENOMEM;
	source->readings[source->reading_count++] = (struct tare_trace_reading){
		.before = pair->before,
		.after = pair->after,
		.ns = pair->value <= INT64_MAX ? (int64_t)pair->value : -1,
	};
	return 0;
}

static int keep_text(struct scan *scan, const struct tare_trace_place *place, size_t record,
                     const struct tare_trace_string *part)
{
	int status = tare_trace_texts_add(&scan->source->texts, part);

	if (status == -EPROTO)
		leave_out(scan, place, record, "is a part of a text without the part before it");
	else if (status == -E2BIG)
		leave_out(scan, place, record, "is more text than is ever kept");
	else
		return status;
	return 0;
}

// A record that the format allows.
static int keep_record(struct scan *scan, struct tare_trace_place *place, size_t at)
{
	const union tare_trace_record *record = &scan->window[at];
	uint8_t type = tare_trace_type(record->head);

	if (type == TARE_TRACE_STRING)
		return keep_text(scan, place, at, &record->string);
	if (type == TARE_TRACE_CLOCK_PAIR && tare_trace_detail(record->head) == TARE_CLOCK_RAW &&
	    scan->source->header.host_clock == TARE_TRACE_CLOCK_TSC)
		return keep_reading(scan->source, &record->clock_pair);
	return 0;
}

// Notes that a track writes in this window from `at` on.
static int change_track(struct scan *scan, struct tare_trace_place *place, size_t at,
                        uint32_t track)
{
	int status = tare_trace_chains_add(&scan->chains, scan->source,
	                                   (uint32_t)(place - scan->source->places), track);

	if (status != -E2BIG)
		return status;
	leave_out(scan, place, at, "belongs to one thread more than is believed");
	return 1;
}

// Whether a record of head 0 at `at` ends the window, rather than being one that was begun inside a
// signal handler's record and never completed.
static bool ends(const struct scan *scan, size_t at, size_t records)
{
	for (size_t i = at + 1; i < records && i <= at + LOOK_BEYOND; i++)
		if (scan->window[i].head)
			return false;
	return true;
}

static int scan_record(struct scan *scan, struct tare_trace_place *place, size_t at)
{
	const union tare_trace_record *record = &scan->window[at];
	enum tare_trace_verdict verdict = tare_trace_judge(record, place->definitions);
	bool follows = tare_trace_expand(&scan->expansion, record, verdict == TARE_TRACE_SOUND);

	if (verdict == TARE_TRACE_SOUND && !follows)
		verdict = TARE_TRACE_FALSE;
	switch (verdict) {
	case TARE_TRACE_SOUND:
		return keep_record(scan, place, at);
	case TARE_TRACE_UNKNOWN:
		if (scan->source->header.version_minor > TARE_TRACE_VERSION_MINOR)
			scan->source->open.unknown_records++;
		else
			leave_out(scan, place, at, "is of a kind that the format does not have");
		return 0;
	default:
		leave_out(scan, place, at,
		          record->head ? "contradicts the format" : "was never completed");
		return 0;
	}
}

// When the last of what a record stands for was written.
static uint64_t last_written(struct scan *scan, uint64_t previous)
{
	const union tare_trace_record *next;

	while ((next = tare_trace_expand_next(&scan->expansion)))
		previous = tare_trace_settle(previous, tare_trace_written_ticks(next, previous), 0);
	return previous;
}

// Judges the records of a window that has been read. Its latest time goes into the file's.
static int scan_records(struct scan *scan, struct tare_trace_place *place, size_t records)
{
	uint64_t limit = tare_trace_limit(scan->source);
	uint64_t written = 0;
	uint32_t last_track = place->track;
	int status = place->definitions ? 0 : change_track(scan, place, 0, last_track);

	for (size_t at = 1; at < records && !status; at++) {
		const union tare_trace_record *record = &scan->window[at];
		uint32_t track = tare_trace_track(record->head);
		uint64_t next = limit;
		if (!record->head && ends(scan, at, records))
			break;
		status = scan_record(scan, place, at);
		place->records = (uint32_t)at + 1;
		if (place->definitions || status || !record->head)
			continue;
		if (track != last_track)
			status = change_track(scan, place, at, track);
		last_track = track;
		if (at + 1 < records && scan->window[at + 1].head)
			next = tare_trace_written_ticks(record + 1, UINT64_MAX);
		written =
		    tare_trace_settle(written, tare_trace_written_ticks(record, written), next);
		written = last_written(scan, written);
	}
	if (written > scan->source->last_ticks)
		scan->source->last_ticks = written;
	return status < 0 ? status : 0;
}

static int scan_window(struct scan *scan, struct tare_trace_place *place)
{
	size_t whole = scan->source->header.window_bytes;
	ssize_t have = tare_trace_pread(scan->file, scan->window, whole,
	                                tare_trace_offset(scan->source, place->slot, 0));

	if (have < 0)
		return (int)have;
	if ((size_t)have < whole)
		tell_cut(scan, place->slot);
	scan->damaged = false;
	scan->expansion = (struct tare_trace_expansion){ 0 };
	place->records = 1;
	scan->source->open.windows++;
	return scan_records(scan, place, (size_t)have / TARE_TRACE_RECORD_BYTES);
}

// ---- the whole file

// Windows are claimed at the end of the file as long as none is used again.
static void check_length(struct scan *scan)
{
	const struct tare_trace_header *header = &scan->source->header;

	if (!(header->flags & TARE_TRACE_KEEP_NEWEST) && header->windows > scan->slots)
		tare_trace_say(scan->source,
		               "is cut at byte %" PRIu64 ": %" PRIu64 " of %" PRIu64
		               " windows are in it",
		               scan->bytes, scan->slots, header->windows);
}

static int make_map(struct tare_trace_source *source)
{
	const struct tare_trace_header *header = &source->header;
	uint64_t last = source->last_ticks;
	int status;

	if (header->host_clock == TARE_TRACE_CLOCK_RAW)
		return 0;
	status = tare_trace_map_fit(source->readings, source->reading_count, header->start_ticks,
	                            header->start_raw_ns, header->host_hz, header->start_ticks,
	                            last > header->start_ticks ? last : header->start_ticks,
	                            &source->map);
	free(source->readings);
	source->readings = NULL;
	if (status)
		return status;
	if (source->map.rate_unknown)
		tare_trace_say(source,
		               "does not tell how fast its clock ticks: times in it mean little");
	if (source->map.contradicting)
		tare_trace_say(
		    source, "has %zu clock readings that contradict the others and were left out",
		    source->map.contradicting);
	return 0;
}

static int64_t raw_ns(const struct tare_trace_source *source, uint64_t ticks)
{
	return source->map.segments ? tare_trace_map_ns(&source->map, ticks)
	                            : (int64_t)(ticks & INT64_MAX);
}

static void tell_times(struct tare_trace_source *source)
{
	const struct tare_trace_header *header = &source->header;

	source->open.first_ns = header->start_raw_ns;
	source->open.last_ns = raw_ns(source, source->last_ticks);
	// They are in the order of claiming.
	source->open.claimed_ns =
	    source->count ? raw_ns(source, source->places[source->count - 1].claimed_ticks)
	                  : header->start_raw_ns;
	if (source->open.last_ns < source->open.first_ns) {
		tare_trace_say(source, "is damaged in its header: it began after its last record");
		source->open.last_ns = source->open.first_ns;
	}
	source->open.residual_ns = source->map.residual_ns;
}

static int scan_all(struct scan *scan)
{
	struct tare_trace_source *source = scan->source;
	int status = find_windows(scan);

	for (size_t i = 0; i < source->count && !status; i++)
		source->places[i].parent = (uint32_t)i;
	for (size_t i = 0; i < source->count && !status; i++)
		status = scan_window(scan, &source->places[i]);
	if (status)
		return status;
	check_length(scan);
	if (tare_trace_texts_finish(&source->texts))
		tare_trace_say(source, "is damaged: a text was defined twice");
	if (source->header.alive_ticks > source->last_ticks)
		source->last_ticks = source->header.alive_ticks;
	if (source->header.end_ticks > source->last_ticks)
		source->last_ticks = source->header.end_ticks;
	if (source->last_ticks < source->header.start_ticks && source->count == 0)
		source->last_ticks = source->header.start_ticks;
	status = make_map(source);
	if (!status)
		status = tare_trace_chains_finish(source);
	tell_times(source);
	return status;
}

int tare_trace_scan(struct tare_trace_source *source, int file)
{
	struct scan scan = { .source = source, .file = file, .bytes = source->open.bytes };
	uint64_t body = scan.bytes - source->header.header_bytes;
	int status;

	if (scan.bytes < source->header.header_bytes)
		body = 0;
	scan.slots = (body + source->header.window_bytes - 1) / source->header.window_bytes;
	scan.window = malloc(source->header.window_bytes);
	if (!scan.window)
		return -ENOMEM;
	status = scan_all(&scan);
	free(scan.window);
	free(scan.chains.entries);
	return status;
}
