// SPDX-License-Identifier: Apache-2.0
// What test_opencl_threads.c looks for in a trace.
#pragma once
#include "tests/unit/guest/guest_trace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

// Each command of the trace has its times once; there are `count` of them.
static inline bool is_complete_trace(const struct guest_trace *trace, size_t count)
{
	enum { TRACKS = 64, NUMBERS = 1 << 16 };
	static uint8_t made[TRACKS][NUMBERS], given[TRACKS][NUMBERS];
	struct guest_place place = { 0 };
	const union tare_trace_record *record;
	size_t found = 0, timed = 0;
	memset(made, 0, sizeof made);
	memset(given, 0, sizeof given);
	while ((record = next_record(trace, &place))) {
		bool is_command = tare_trace_type(record->head) == TARE_TRACE_COMMAND;
		if (!is_command && tare_trace_type(record->head) != TARE_TRACE_TIMES)
			continue;
		uint32_t track = is_command ? tare_trace_track(record->head)
		                            : record->times.command_track,
		         number =
		             is_command ? record->command.number : record->times.command_number;
		if (track >= TRACKS || number >= NUMBERS ||
		    (is_command ? made : given)[track][number]++)
			return false;
		found += is_command;
		timed += !is_command;
	}
	if (found != count || timed != count)
		print_message("%zu commands, %zu found, %zu timed\n", count, found, timed);
	return found == count && timed == count && memcmp(made, given, sizeof given) == 0;
}

// Times written before a record of something else lie before it, those after it behind it. `count`
// commands of one queue, in order.
static inline void check_mark(const struct guest_trace *trace, uint32_t mark, uint32_t count)
{
	struct guest_place place = { 0 };
	const union tare_trace_record *record;
	uint32_t timed = 0, marks = 0;
	while ((record = next_record(trace, &place))) {
		if (tare_trace_type(record->head) == TARE_TRACE_PHASE) {
			assert_int_equal(record->words[1], mark);
			assert_int_equal(timed, mark - 1);
			marks++;
		} else if (tare_trace_type(record->head) == TARE_TRACE_TIMES) {
			assert_int_equal(record->times.command_number, ++timed);
			assert_int_equal(record->times.end, 13);
		}
	}
	assert_int_equal(timed, count);
	assert_int_equal(marks, 1);
}

// A launch that comes while another is being put behind those before it takes neither its number
// nor its place.
static inline void check_launches(const struct guest_trace *trace, uint32_t launched,
                                  uint32_t handled, const void *kernel_of_handlers)
{
	uint32_t count = launched + handled, in_handlers = 0;
	uint8_t *seen = calloc(count + 1, 1);
	struct guest_place place = { 0 };
	const union tare_trace_record *record;
	assert_non_null(seen);
	while ((record = next_record(trace, &place))) {
		const struct tare_trace_command *command = &record->command;
		if (tare_trace_type(record->head) != TARE_TRACE_COMMAND)
			continue;
		assert_in_range(command->number, 1, count);
		seen[command->number]++;
		in_handlers += command->object == (uintptr_t)kernel_of_handlers;
	}
	// What a handler calls while the recorder is at the driver itself is not recorded.
	size_t found = count_records(trace, TARE_TRACE_COMMAND);
	assert_int_equal(found - in_handlers, launched);
	assert_in_range(in_handlers, 1, handled);
	for (size_t number = 1; number <= found; number++)
		assert_int_equal(seen[number], 1);
	free(seen);
}
