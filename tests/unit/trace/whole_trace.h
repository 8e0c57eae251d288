// SPDX-License-Identifier: Apache-2.0
// A small trace that is right, to be damaged. Include after cmocka.h.
#pragma once
#include "trace_files.h"

#include "tests/unit/model/statistics/noise.h"
#include "tests/unit/skip.h"

#include <errno.h>

enum {
	WINDOW = 1024,
	RECORDS = WINDOW / TARE_TRACE_RECORD_BYTES,
	WINDOWS = 4,
	CALLS = 3 * (RECORDS - 1),
	FIRST = TARE_TRACE_HEADER_BYTES, // window, of definitions
	EVENTS = FIRST + WINDOW,         // window of events
	VICTIM = EVENTS + 192,           // record of it
	SIZE = FIRST + WINDOWS * WINDOW,
};

static struct seen seen;

static char message[512];

// A small trace that is right: a window of definitions, then three of events, full.
static uint8_t whole[SIZE];

static inline int make_whole(void **state)
{
	struct tare_trace_writer *writer;
	uint8_t *bytes;
	size_t size;

	if (make_trace_folder(state))
		return -1;
	writer = begin_trace(
	    "a", (struct tare_trace_header){
	             .window_bytes = WINDOW, .start_raw_ns = 5, .pid = 77, .executable = "app" });
	tare_trace_writer_text(writer, "a kernel with a name that takes two records");
	add(writer,
	    (union tare_trace_record){
	        .object = { .head = tare_trace_head(TARE_TRACE_OBJECT, 0, TARE_OBJECT_KERNEL, 0),
	                    .handle = 1,
	                    .name = 1 } });
	for (uint64_t i = 0; i < CALLS; i++)
		add(writer, a_call(1 + (uint32_t)i / (RECORDS - 1), 10 + i, 20 + i, 1000 + i));
	end_trace(writer);
	bytes = file_bytes("a.trace", &size);
	if (size != SIZE)
		return -1;
	memcpy(whole, bytes, SIZE);
	free(bytes);
	return 0;
}

#define AT(member) offsetof(struct tare_trace_header, member)
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_whole, remove_trace_folder)
