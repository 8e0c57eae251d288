// SPDX-License-Identifier: Apache-2.0
// What is known of a single record: when it was written, and whether its fields can be true.
#pragma once
#include "tare/trace.h"

#include <stdbool.h>

_Static_assert(sizeof(union tare_trace_record) == TARE_TRACE_RECORD_BYTES, "one record");

enum { TARE_TRACE_STRING_LIMIT = 64 * 1024 }; // bytes of one text

// Host ticks at which an event was written, by its own account; `previous`, those of the record
// before it on the same thread, for one that carries no time. A command that took too long for its
// call_ticks took at least so many.
static inline uint64_t tare_trace_written_ticks(const union tare_trace_record *record,
                                                uint64_t previous)
{
	switch (tare_trace_type(record->head)) {
	case TARE_TRACE_CALL:
		return record->call.exit;
	case TARE_TRACE_COMMAND:
		return record->command.enter + record->command.call_ticks;
	case TARE_TRACE_TIMES:
		return record->times.observed;
	case TARE_TRACE_POLLED:
		return record->polled.last_exit;
	case TARE_TRACE_CALL_END:
		return record->call_end.exit;
	case TARE_TRACE_UNTIMED:
		return record->untimed.observed;
	case TARE_TRACE_CALLBACK:
		return record->callback.exit;
	case TARE_TRACE_CPU_TIME:
		return record->cpu_time.ticks;
	case TARE_TRACE_CLOCK_PAIR:
		return record->clock_pair.after;
	case TARE_TRACE_PHASE:
		return record->phase.ticks;
	case TARE_TRACE_LOSS:
		return record->loss.to;
	case TARE_TRACE_FORK:
		return record->fork.ticks;
	case TARE_TRACE_ACTIVE:
		return record->active.ticks;
	case TARE_TRACE_LINK:
		return record->link.ticks;
	case TARE_TRACE_PAGES:
		return record->pages.observed;
	case TARE_TRACE_PART:
		return record->part.observed;
	case TARE_TRACE_CONTENTS:
		return record->contents.to;
	case TARE_TRACE_COUNTED:
		return record->counted.ticks;
	case TARE_TRACE_COUNTING:
		return record->counting.to;
	case TARE_TRACE_SAMPLING:
		return record->sampling.to;
	default:
		return previous;
	}
}

enum tare_trace_verdict {
	TARE_TRACE_SOUND,
	TARE_TRACE_UNKNOWN, // a type or value that a newer minor version may have added
	TARE_TRACE_FALSE,   // contradicts the format
};

// Whether the fields of a record are what the format allows. Values that a minor version may add
// are UNKNOWN. Flags are not judged: those not known are to be ignored.
//   definitions  the record lies in a window of definitions
enum tare_trace_verdict tare_trace_judge(const union tare_trace_record *record, bool definitions);
