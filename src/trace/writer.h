// SPDX-License-Identifier: Apache-2.0
// Writes a trace file outside a recorded program: for tests whose truth is known, and for traces
// made by the engine model. It allocates; the recorder in the user's program does not use it.
#pragma once
#include "base/error.h"
#include "tare/trace.h"

struct tare_trace_writer;

// Begins DIRECTORY/NAME.trace (the directory is made if need be). Members of `header` that a file
// must have (magic, version, sizes, counts of windows) are filled in, the others are the caller's;
// those left 0 become: window_bytes the usual, host_clock RAW, state ENDED, rank without rank_count
// none, start_ticks start_raw_ns (RAW), end_ticks and alive_ticks the last record's. Returns 0 or a
// negative errno.
int tare_trace_writer_open(const char *directory, const char *name,
                           const struct tare_trace_header *header,
                           struct tare_trace_writer **writer, struct tare_error *error);
// Adds a record to the windows of its track (by the head), a definition (types below 16) to the
// windows for definitions. Nothing is checked: tests write what is false. Failures are kept and
// told by tare_trace_writer_close.
void tare_trace_writer_add(struct tare_trace_writer *writer, const union tare_trace_record *record);
// Whether LAUNCHES or MORE_TIMES may follow the last record of a track: it is not the first of a
// window, where nothing is before it that it could go on from.
bool tare_trace_writer_goes_on(const struct tare_trace_writer *writer, uint32_t track);
// Defines a text (64 KiB of it at most) and returns its id.
uint32_t tare_trace_writer_text(struct tare_trace_writer *writer, const char *text);
// Adds a PHASE record of a track: what 0 an instant, 1 a begin, 2 an end. The head of `phase` is
// made, its name and domain are texts as above.
void tare_trace_writer_phase(struct tare_trace_writer *writer, uint32_t track, uint16_t what,
                             enum tare_trace_phase_source source,
                             const struct tare_trace_phase *phase);
// Completes and closes the file, and frees the writer. Returns 0, or the first failure.
int tare_trace_writer_close(struct tare_trace_writer *writer, struct tare_error *error);
