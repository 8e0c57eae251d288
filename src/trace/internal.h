// SPDX-License-Identifier: Apache-2.0
// How the reader keeps a file: an index of its windows, its texts and the map of its clock. The
// records themselves stay on disk. This part of the library stands alone: it is installed.
#pragma once
#include "trace/clock.h"
#include "trace/record.h"
#include "trace/text.h"

#include <sys/types.h>

enum {
	TARE_TRACE_MOST_WINDOWS = 1 << 20,
	TARE_TRACE_MOST_TRACKS = 1 << 20,
	TARE_TRACE_LEAST_WINDOW_BYTES = 1024,
	TARE_TRACE_MOST_WINDOW_BYTES = 16 << 20,
	TARE_TRACE_SENTENCE = 512,
};

// A window that could be read, in some part.
struct tare_trace_place {
	uint64_t slot; // in the file, from 0
	uint64_t sequence;
	uint64_t claimed_ticks;
	uint64_t in_call_ticks;
	uint32_t in_call;
	uint32_t records; // up to its end, its own among them
	uint32_t track;   // that holds it, or did last
	uint32_t parent;  // while chains are being found
	uint32_t chain;
	bool definitions;
};

struct tare_trace_source {
	struct tare_trace_file open;     // what the user sees
	struct tare_trace_header header; // checked; counters that make no sense are 0
	char *path, *name;
	dev_t device;
	ino_t inode;
	struct tare_trace_place *places; // in the order of sequence numbers
	size_t count, room;
	uint32_t *order; // windows of events: chain by chain, each in its order
	size_t ordered, chains;
	struct tare_trace_reading *readings; // of the host's clock; freed when the map is made
	size_t reading_count, reading_room;
	struct tare_trace_texts texts;
	struct tare_trace_map map;
	uint64_t last_ticks;
	char problem[TARE_TRACE_SENTENCE];
};

struct tare_trace {
	struct tare_trace_source **sources;
	size_t count, room;
	char *record_json;
	size_t record_json_bytes;
	size_t left_out, newer;
	char first_left_out[TARE_TRACE_SENTENCE], problem[2 * TARE_TRACE_SENTENCE];
};

// Keeps the first sentence: "NAME: " and what the format says.
void tare_trace_say(struct tare_trace_source *source, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

// Reads `bytes` at `offset`, less at the end of the file. Returns what was read or a negative
// errno.
ssize_t tare_trace_pread(int file, void *buffer, size_t bytes, uint64_t offset);

static inline uint64_t tare_trace_offset(const struct tare_trace_source *source, uint64_t slot,
                                         uint64_t record)
{
	return source->header.header_bytes + slot * source->header.window_bytes +
	       record * TARE_TRACE_RECORD_BYTES;
}

// The head of a window that is one: its type and a sequence number.
static inline bool tare_trace_is_window(const struct tare_trace_window *window)
{
	return tare_trace_type(window->head) == TARE_TRACE_WINDOW &&
	       tare_trace_detail(window->head) <= 1 && window->sequence > 0;
}

// When a record was written, for merging: never before the one before it on its thread. A time that
// lies seconds beyond both its neighbours' is not believed. The settled time of a record that has
// none is that of the one before; 0: nothing had a time yet.
//   next   by its own account, when the following record was written
static inline uint64_t tare_trace_settle(uint64_t previous, uint64_t ticks, uint64_t next)
{
	const uint64_t jump = UINT64_C(10000000000);

	if (ticks <= previous)
		return previous;
	return ticks - previous > jump && next < ticks - jump ? previous : ticks;
}

// Latest time that a record without a follower may claim.
static inline uint64_t tare_trace_limit(const struct tare_trace_source *source)
{
	return source->header.end_ticks ? source->header.end_ticks : UINT64_MAX;
}

// Reads and checks the header. Returns 0, -EPROTO for a newer version, -ENODATA for what is no
// trace, with a sentence in `source->problem`.
int tare_trace_read_header(struct tare_trace_source *source, int file, uint64_t bytes);
// Finds the windows, judges every record, keeps texts and readings of the clock, makes the map and
// the chains. Returns 0 or a negative errno.
int tare_trace_scan(struct tare_trace_source *source, int file);
// Opens the file again: the descriptor, or a negative errno when it is another one by now.
int tare_trace_reopen(const struct tare_trace_source *source);

// Sets of windows that must be read one after another, for they hold records of the same tracks: a
// window that a thread leaves when it ends is filled by the next one.
struct tare_trace_chains {
	struct tare_trace_chain_entry {
		uint32_t track;
		uint32_t place; // 1 + the latest window with records of it; 0: free
	} *entries;
	size_t count, room; // room: a power of two
};
// Notes that window `place` (in the order of sequence numbers) has records of `track`. Returns 0,
// -ENOMEM, or -E2BIG when there are more tracks than are believed.
int tare_trace_chains_add(struct tare_trace_chains *chains, struct tare_trace_source *source,
                          uint32_t place, uint32_t track);
// Fills `order` and `chain` of the windows. Returns 0 or -ENOMEM.
int tare_trace_chains_finish(struct tare_trace_source *source);
