// SPDX-License-Identifier: Apache-2.0
// Reads a trace that `tare record` made. C99 and C++. Link with libtare-trace (pkg-config
// tare-trace). Every byte of a trace is treated as hostile: what cannot be read is left out,
// counted and named, never trusted. Memory does not grow with the number of records: only an index
// of the windows (0.03 % of the file), texts and clocks are kept. A trace may be read while it is
// still being written: what was there when it was opened is read. docs/trace-format.md has the
// rules.
#ifndef TARE_TRACE_H
#define TARE_TRACE_H
#include "tare/trace_format.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tare_trace;

// One process of the trace.
struct tare_trace_file {
	const char *name;                       // of the file, without the folder
	const struct tare_trace_header *header; // texts in it always end with a NUL
	uint64_t bytes;                         // of the file
	uint64_t windows;                       // that could be read
	uint64_t damaged_windows;               // of which a record, or all, was left out
	uint64_t unknown_records;               // of a type that this reader does not know
	// first thing found wrong, a sentence; NULL: nothing
	const char *problem;
	// first and last known host time, CLOCK_MONOTONIC_RAW
	int64_t first_ns, last_ns;
	// when the last of its windows was claimed, or first_ns
	int64_t claimed_ns;
	// largest error of host ticks turned into ns; 0: exact
	int64_t residual_ns;
};

// Opens a trace directory, or one .trace file, and reads headers, clocks and strings; that takes
// one pass over the whole file. Files are in the order of their names; those that are no trace are
// left out and counted as a problem of the trace. A directory without a process file is opened when
// it has a record.json. Returns 0 and *trace (to be closed), or a negative errno with a sentence in
// `message` (message_bytes long): -ENOENT no such folder, -ENODATA no trace file in it that can be
// read, -EPROTO written by a newer version, -ENOMEM, or what the system says (-EACCES).
int tare_trace_open(const char *path, struct tare_trace **trace, char *message,
                    size_t message_bytes);
void tare_trace_close(struct tare_trace *trace); // accepts NULL

size_t tare_trace_file_count(const struct tare_trace *trace);
// Valid until tare_trace_close; the counts of damage are complete after tare_trace_read.
const struct tare_trace_file *tare_trace_file(const struct tare_trace *trace, size_t file);
// The text of record.json, or NULL when there is none; valid until tare_trace_close.
// Of a regular file of at most 4 MiB; a NUL follows. One file opened alone has none.
const char *tare_trace_record_json(const struct tare_trace *trace, size_t *bytes);
// What is wrong with the folder as a whole (files left out); NULL: nothing.
const char *tare_trace_problem(const struct tare_trace *trace);

// The text of a string of this file. "" for 0 and for one that is not there. UTF-8 is not promised.
const char *tare_trace_text(const struct tare_trace *trace, size_t file, uint32_t string);

// Host ticks of this file as nanoseconds of CLOCK_MONOTONIC_RAW, rounded once, to the nearest. The
// larger ticks are, the later the time; outside what was recorded residual_ns does not hold.
int64_t tare_trace_ns(const struct tare_trace *trace, size_t file, uint64_t host_ticks);

// One record. `head` says which member is meant.
union tare_trace_record {
	uint64_t head;
	struct tare_trace_window window;
	struct tare_trace_string string;
	struct tare_trace_track_record track;
	struct tare_trace_function function;
	struct tare_trace_object object;
	struct tare_trace_fact_record fact;
	struct tare_trace_shape shape;
	struct tare_trace_change_record change;
	struct tare_trace_stack stack;
	struct tare_trace_module module;
	struct tare_trace_node node;
	struct tare_trace_site site;
	struct tare_trace_call call;
	struct tare_trace_polled polled;
	struct tare_trace_command command;
	struct tare_trace_launches launches;
	struct tare_trace_call_end call_end;
	struct tare_trace_depends depends;
	struct tare_trace_transfer transfer;
	struct tare_trace_drawn drawn;
	struct tare_trace_peer peer;
	struct tare_trace_link link;
	struct tare_trace_times times;
	struct tare_trace_more_times more_times;
	struct tare_trace_untimed_record untimed;
	struct tare_trace_execute execute;
	struct tare_trace_callback callback;
	struct tare_trace_cpu_time cpu_time;
	struct tare_trace_clock_pair clock_pair;
	struct tare_trace_phase phase;
	struct tare_trace_loss loss;
	struct tare_trace_fork fork;
	struct tare_trace_active active;
	struct tare_trace_pages pages;
	struct tare_trace_within within;
	struct tare_trace_part part;
	struct tare_trace_contents contents;
	struct tare_trace_counted counted;
	struct tare_trace_counting counting;
	struct tare_trace_sampled sampled;
	struct tare_trace_sampling sampling;
	uint64_t words[8];
};

// What tare_trace_read calls. A value other than 0 stops the reading and is returned.
struct tare_trace_visitor {
	// Definitions first: objects, facts, shapes, changes, functions, tracks in the order in
	// which they were written. Strings and clock pairs with the host's clocks are not passed
	// on; pairs with a device's clock are, here or among the events, wherever they were
	// written. May be NULL.
	int (*definition)(void *context, const union tare_trace_record *record);
	// Then events. Records of one track come in the order in which they were written; tracks
	// are merged by the time at which a record was written (a call's exit, `observed` of
	// times), so that a handle's latest meaning is known when it is used. `written_ns` never
	// decreases: a record without a time, or with an earlier one than the record before it on
	// its thread, has that one's. Of equal times the thread whose first window is older comes
	// first. LAUNCHES and MORE_TIMES come as what they are short for. May be NULL.
	int (*event)(void *context, const union tare_trace_record *record, int64_t written_ns);
	// The call that a thread was in when the file ended, if it may wait. May be NULL.
	int (*unfinished)(void *context, uint32_t track, uint32_t function, int64_t since_ns);
	void *context;
};

// Reads one process. Fields are as in the file, but sizes, strings and enumerations have been
// checked: a record whose fields contradict the format counts as damage and is not passed on.
// Returns 0, the visitor's value, or a negative errno: -ENOMEM, -EINVAL no such file, -ESTALE
// another file has its name by now, or what the system says of reading it.
int tare_trace_read(struct tare_trace *trace, size_t file,
                    const struct tare_trace_visitor *visitor);

#ifdef __cplusplus
}
#endif
#endif
