// SPDX-License-Identifier: Apache-2.0
// What the files that make the trace reader's corpus have in common.
#pragma once
#include "trace/writer.h"

#include <stdio.h>

enum {
	PLATFORM = 0x100,
	DEVICE,
	CONTEXT,
	QUEUE,
	PROGRAM,
	KERNEL,
	BUFFER,
	WRITE = 1,
	LAUNCH,
	FINISH,
	STATUS
};

#define FLAGGED(member, type, flags, detail, track, ...)                                           \
	(union tare_trace_record)                                                                  \
	{                                                                                          \
		.member = {                                                                        \
			.head = tare_trace_head(TARE_TRACE_##type, (uint8_t)(flags),               \
			                        (uint16_t)(detail), track),                        \
			__VA_ARGS__                                                                \
		}                                                                                  \
	}
#define RECORD(member, type, detail, track, ...)                                                   \
	FLAGGED(member, type, 0, detail, track, __VA_ARGS__)

static inline void add(struct tare_trace_writer *writer, union tare_trace_record record)
{
	tare_trace_writer_add(writer, &record);
}

// A trace whose header has the usual beside what is given; windows are as small as can be.
struct tare_trace_writer *begin(const char *folder, const char *name,
                                struct tare_trace_header header);
void end(struct tare_trace_writer *writer);

// make_records.c: small traces of one subject each.
void every_record(const char *folder);
// make_lists.c: of them, those of command lists and graphs.
void lists(const char *folder);
void graphs(const char *folder);
