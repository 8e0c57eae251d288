// SPDX-License-Identifier: Apache-2.0
// LAUNCHES and MORE_TIMES as what they are short for, from docs/trace-format.md alone.
#pragma once
#include "tare/trace.h"

#include <stdint.h>
#include <string.h>

static inline int is_short(const uint64_t *record)
{
	return tare_trace_type(record[0]) == TARE_TRACE_LAUNCHES ||
	       tare_trace_type(record[0]) == TARE_TRACE_MORE_TIMES;
}

// What a record of a window stands for: that many.
static inline uint32_t stands_for(const uint64_t *record)
{
	return is_short(record) ? tare_trace_detail(record[0]) : 1;
}

// The `i`th of them: `latest`, what came before it in the window, becomes it.
static inline void stand_for(union tare_trace_record *latest, const uint64_t *record, uint32_t i)
{
	const uint32_t *ticks = (const uint32_t *)(record + 1);
	struct tare_trace_command *command = &latest->command;
	struct tare_trace_times *times = &latest->times;
	if (tare_trace_type(record[0]) == TARE_TRACE_LAUNCHES) {
		command->enter += command->call_ticks + (uint64_t)ticks[2 * i];
		command->call_ticks = ticks[2 * i + 1];
		command->number++;
		command->event = 0;
	} else if (tare_trace_type(record[0]) == TARE_TRACE_MORE_TIMES) {
		times->queued += ticks[4 * i];
		times->submitted = times->queued + ticks[4 * i + 1];
		times->start = times->submitted + ticks[4 * i + 2];
		times->end = times->start + ticks[4 * i + 3];
		times->command_number++;
	} else {
		memcpy(latest, record, sizeof *latest);
	}
}
