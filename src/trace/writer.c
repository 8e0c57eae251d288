// SPDX-License-Identifier: Apache-2.0
#include "trace/writer.h"

#include "base/room.h"
#include "trace/record.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// A window that is being filled, and the place in the file that it was claimed for.
struct open_window {
	union tare_trace_record *records; // NULL: none claimed
	size_t used;                      // records, the window's own among them
	uint64_t slot;
	uint64_t last_ticks; // written by this track so far
	uint32_t track;
};

struct tare_trace_writer {
	int file;
	char path[PATH_MAX];
	struct tare_trace_header header;
	struct open_window definitions;
	struct open_window *tracks; // in the order of their numbers
	size_t track_count, track_room;
	size_t hint; // the track that was last written to
	uint32_t strings;
	uint64_t last_ticks;
	int failure; // positive errno of the first one
};

static void fill_header(struct tare_trace_header *header)
{
	memcpy(header->magic, TARE_TRACE_MAGIC, sizeof header->magic);
	header->version_major = TARE_TRACE_VERSION_MAJOR;
	header->version_minor = TARE_TRACE_VERSION_MINOR;
	header->byte_order = TARE_TRACE_BYTE_ORDER;
	header->header_bytes = TARE_TRACE_HEADER_BYTES;
	if (!header->window_bytes)
		header->window_bytes = TARE_TRACE_WINDOW_BYTES;
	header->record_bytes = TARE_TRACE_RECORD_BYTES;
	if (!header->host_clock)
		header->host_clock = TARE_TRACE_CLOCK_RAW;
	if (!header->state)
		header->state = TARE_TRACE_ENDED;
	if (!header->rank_count && !header->rank)
		header->rank = TARE_TRACE_NO_RANK;
	if (header->host_clock == TARE_TRACE_CLOCK_RAW && !header->start_ticks)
		header->start_ticks = (uint64_t)header->start_raw_ns;
}

static int make_folders(const char *path)
{
	char part[PATH_MAX];

	if (snprintf(part, sizeof part, "%s", path) >= (int)sizeof part)
		return ENAMETOOLONG;
	for (char *at = part + 1;; at++) {
		char kept = *at;
		if (kept && kept != '/')
			continue;
		*at = '\0';
		if (mkdir(part, 0777) < 0 && errno != EEXIST)
			return errno;
		if (!kept)
			return 0;
		*at = kept;
	}
}

int tare_trace_writer_open(const char *directory, const char *name,
                           const struct tare_trace_header *header,
                           struct tare_trace_writer **writer, struct tare_error *error)
{
	struct tare_trace_writer *made = calloc(1, sizeof *made);
	int failure;

	*writer = NULL;
	if (!made)
		return tare_fail(error, ENOMEM, "no memory to write a trace");
	made->header = *header;
	fill_header(&made->header);
	if (made->header.window_bytes % TARE_TRACE_RECORD_BYTES ||
	    made->header.window_bytes < 2 * TARE_TRACE_RECORD_BYTES) {
		uint32_t bytes = made->header.window_bytes;
		free(made);
		return tare_fail(error, EINVAL,
		                 "windows of %u bytes cannot be: at least two whole records",
		                 bytes);
	}
	failure = make_folders(directory);
	if (!failure && snprintf(made->path, sizeof made->path, "%s/%s.trace", directory, name) >=
	                    (int)sizeof made->path)
		failure = ENAMETOOLONG;
	if (!failure) {
		made->file = open(made->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
		failure = made->file < 0 ? errno : 0;
	}
	if (failure) {
		free(made);
		return tare_fail(error, failure, "cannot make the trace %s/%s.trace: %s", directory,
		                 name, strerror(failure));
	}
	*writer = made;
	return 0;
}

static void write_at(struct tare_trace_writer *writer, const void *bytes, size_t length,
                     uint64_t at)
{
	const char *from = bytes;

	while (length > 0 && !writer->failure) {
		ssize_t written = pwrite(writer->file, from, length, (off_t)at);
		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0) {
			writer->failure = written < 0 ? errno : EIO;
			return;
		}
		from += written;
		at += (uint64_t)written;
		length -= (size_t)written;
	}
}

// Writes what the window holds; the rest of it stays a hole, or beyond the end of the file.
static void flush_window(struct tare_trace_writer *writer, struct open_window *window)
{
	if (window->used)
		write_at(writer, window->records, window->used * TARE_TRACE_RECORD_BYTES,
		         TARE_TRACE_HEADER_BYTES + window->slot * writer->header.window_bytes);
	window->used = 0;
}

static bool claim(struct tare_trace_writer *writer, struct open_window *window, bool definitions,
                  uint64_t ticks)
{
	if (!window->records)
		window->records = malloc(writer->header.window_bytes);
	if (!window->records) {
		writer->failure = ENOMEM;
		return false;
	}
	window->slot = writer->header.windows++;
	writer->header.definition_windows += definitions;
	window->used = 1;
	window->records[0].window = (struct tare_trace_window){
		.head = tare_trace_head(TARE_TRACE_WINDOW, 0, definitions, window->track),
		.sequence = window->slot + 1,
		.claimed_ticks = ticks,
	};
	return true;
}

static size_t place_of(const struct tare_trace_writer *writer, uint32_t track)
{
	size_t low = 0, high = writer->track_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (writer->tracks[middle].track < track)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct open_window *window_of(struct tare_trace_writer *writer, uint32_t track)
{
	size_t at = writer->hint;

	if (at < writer->track_count && writer->tracks[at].track == track)
		return &writer->tracks[at];
	at = place_of(writer, track);
	if (at == writer->track_count || writer->tracks[at].track != track) {
		if (!TARE_ROOM_FOR(writer->tracks, writer->track_room, writer->track_count)) {
			writer->failure = ENOMEM;
			return NULL;
		}
		memmove(&writer->tracks[at + 1], &writer->tracks[at],
		        (writer->track_count - at) * sizeof *writer->tracks);
		writer->tracks[at] = (struct open_window){ .track = track };
		writer->track_count++;
	}
	writer->hint = at;
	return &writer->tracks[at];
}

void tare_trace_writer_add(struct tare_trace_writer *writer, const union tare_trace_record *record)
{
	bool definition = tare_trace_type(record->head) < TARE_TRACE_CALL;
	struct open_window *window = &writer->definitions;

	if (writer->failure)
		return;
	if (!definition) {
		window = window_of(writer, tare_trace_track(record->head));
		if (!window)
			return;
		window->last_ticks = tare_trace_written_ticks(record, window->last_ticks);
		if (window->last_ticks > writer->last_ticks)
			writer->last_ticks = window->last_ticks;
	}
	if (window->used * TARE_TRACE_RECORD_BYTES == writer->header.window_bytes)
		flush_window(writer, window);
	if (!window->used && !claim(writer, window, definition,
	                            definition ? writer->last_ticks : window->last_ticks))
		return;
	window->records[window->used++] = *record;
}

bool tare_trace_writer_goes_on(const struct tare_trace_writer *writer, uint32_t track)
{
	size_t at = place_of(writer, track);

	return at < writer->track_count && writer->tracks[at].track == track &&
	       writer->tracks[at].used > 1 &&
	       writer->tracks[at].used * TARE_TRACE_RECORD_BYTES < writer->header.window_bytes;
}

uint32_t tare_trace_writer_text(struct tare_trace_writer *writer, const char *text)
{
	union tare_trace_record record;
	size_t total = strnlen(text, TARE_TRACE_STRING_LIMIT);
	size_t offset = 0;
	uint32_t id = ++writer->strings;

	do {
		size_t part = total - offset < sizeof record.string.text
		                  ? total - offset
		                  : sizeof record.string.text;
		memset(&record, 0, sizeof record);
		record.string = (struct tare_trace_string){
			.head = tare_trace_head(TARE_TRACE_STRING, 0, 0, 0),
			.id = id,
			.total = (uint32_t)total,
			.offset = (uint32_t)offset,
			.bytes = (uint32_t)part,
		};
		memcpy(record.string.text, text + offset, part);
		tare_trace_writer_add(writer, &record);
		offset += part;
	} while (offset < total);
	return id;
}

void tare_trace_writer_phase(struct tare_trace_writer *writer, uint32_t track, uint16_t what,
                             enum tare_trace_phase_source source,
                             const struct tare_trace_phase *phase)
{
	union tare_trace_record record = { .phase = *phase };

	record.head = tare_trace_head(TARE_TRACE_PHASE, (uint8_t)source, what, track);
	tare_trace_writer_add(writer, &record);
}

static void flush_all(struct tare_trace_writer *writer)
{
	static const char zeros[TARE_TRACE_HEADER_BYTES - sizeof writer->header];

	flush_window(writer, &writer->definitions);
	for (size_t i = 0; i < writer->track_count; i++)
		flush_window(writer, &writer->tracks[i]);
	if (!writer->header.end_ticks && writer->header.state != TARE_TRACE_RECORDING)
		writer->header.end_ticks = writer->last_ticks > writer->header.start_ticks
		                               ? writer->last_ticks
		                               : writer->header.start_ticks;
	if (!writer->header.alive_ticks)
		writer->header.alive_ticks = writer->last_ticks;
	write_at(writer, &writer->header, sizeof writer->header, 0);
	write_at(writer, zeros, sizeof zeros, sizeof writer->header);
	// Whole windows, as a recorder reserves them: what is shorter was cut.
	if (!writer->failure &&
	    ftruncate(writer->file, (off_t)(TARE_TRACE_HEADER_BYTES +
	                                    writer->header.windows * writer->header.window_bytes)) <
	        0)
		writer->failure = errno;
}

int tare_trace_writer_close(struct tare_trace_writer *writer, struct tare_error *error)
{
	int status = 0;

	flush_all(writer);
	if (close(writer->file) < 0 && !writer->failure)
		writer->failure = errno;
	if (writer->failure)
		status = tare_fail(error, writer->failure, "cannot write the trace %s: %s",
		                   writer->path, strerror(writer->failure));
	free(writer->definitions.records);
	for (size_t i = 0; i < writer->track_count; i++)
		free(writer->tracks[i].records);
	free(writer->tracks);
	free(writer);
	return status;
}
