// SPDX-License-Identifier: Apache-2.0
// Records that stand for several: LAUNCHES and MORE_TIMES as the COMMANDs and TIMES that they are
// short for.
#pragma once
#include "tare/trace.h"

#include <stdbool.h>

// What the records of one window have said so far. Zeroed at the beginning of each window.
struct tare_trace_expansion {
	// of TARE_TRACE_COMMAND or TARE_TRACE_TIMES, the latest that is stood for
	union tare_trace_record latest;
	bool goes_on; // the next record may go on from it
	// what is not made yet of the record that was taken last
	const uint32_t *ticks;
	uint32_t left;
};

// Takes the next record of the window, whose fields have been judged (`sound` or not). Returns
// false when it is short for others that do not follow what it goes on from, or that cannot be:
// then it is to be left out. After true, tare_trace_expand_next gives what it stands for; `record`
// must stay until then.
bool tare_trace_expand(struct tare_trace_expansion *expansion,
                       const union tare_trace_record *record, bool sound);

// Whether a record is short for others.
static inline bool tare_trace_is_short(uint64_t head)
{
	return tare_trace_type(head) == TARE_TRACE_LAUNCHES ||
	       tare_trace_type(head) == TARE_TRACE_MORE_TIMES;
}

// The next one that the record taken last stands for, valid until the one after it is asked for.
// NULL: there is none left, or it was not short for any.
const union tare_trace_record *tare_trace_expand_next(struct tare_trace_expansion *expansion);
