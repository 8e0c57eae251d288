// SPDX-License-Identifier: Apache-2.0
#include "trace/expand.h"

enum { OF_LAUNCH = 2, OF_TIMES = 4 }; // ticks of each

// Whether LAUNCHES or MORE_TIMES may follow it.
static bool begins(const union tare_trace_record *record)
{
	const uint8_t unlike =
	    TARE_COMMAND_FAILED | TARE_COMMAND_DEPENDS | TARE_COMMAND_LONG | TARE_COMMAND_TRANSFER;
	const uint8_t all = TARE_TRACE_STAMP_QUEUED | TARE_TRACE_STAMP_SUBMITTED |
	                    TARE_TRACE_STAMP_START | TARE_TRACE_STAMP_END;
	uint8_t flags = tare_trace_record_flags(record->head);

	if (tare_trace_type(record->head) == TARE_TRACE_COMMAND)
		return !(flags & unlike);
	return tare_trace_type(record->head) == TARE_TRACE_TIMES && flags == all &&
	       tare_trace_detail(record->head) == 0 && record->times.execution == 0;
}

static bool add(uint64_t *sum, uint64_t more)
{
	return !__builtin_add_overflow(*sum, more, sum);
}

static bool next_launch(struct tare_trace_command *command, const uint32_t *ticks)
{
	uint64_t exit = command->enter + command->call_ticks;

	command->enter = exit;
	command->call_ticks = ticks[1];
	command->event = 0;
	return ++command->number > 0 && add(&command->enter, ticks[0]) && add(&exit, ticks[0]) &&
	       add(&exit, ticks[1]);
}

static bool next_times(struct tare_trace_times *times, const uint32_t *ticks)
{
	bool fits = ++times->command_number > 0 && add(&times->queued, ticks[0]);

	times->submitted = times->start = times->end = times->queued;
	fits = fits && add(&times->submitted, ticks[1]);
	times->start = times->end = times->submitted;
	fits = fits && add(&times->start, ticks[2]);
	times->end = times->start;
	return fits && add(&times->end, ticks[3]);
}

static bool next(union tare_trace_record *latest, const uint32_t *ticks)
{
	return tare_trace_type(latest->head) == TARE_TRACE_COMMAND
	           ? next_launch(&latest->command, ticks)
	           : next_times(&latest->times, ticks);
}

static uint32_t step(const struct tare_trace_expansion *expansion)
{
	return tare_trace_type(expansion->latest.head) == TARE_TRACE_COMMAND ? OF_LAUNCH : OF_TIMES;
}

// All that it stands for can be.
static bool fits(const struct tare_trace_expansion *expansion,
                 const union tare_trace_record *record, uint32_t count)
{
	union tare_trace_record latest = expansion->latest;

	for (uint32_t i = 0; i < count; i++)
		if (!next(&latest, &record->launches.ticks[i * step(expansion)]))
			return false;
	return true;
}

bool tare_trace_expand(struct tare_trace_expansion *expansion,
                       const union tare_trace_record *record, bool sound)
{
	uint8_t begun = tare_trace_type(expansion->latest.head);
	uint8_t type = tare_trace_type(record->head);
	uint8_t wanted = type == TARE_TRACE_LAUNCHES ? TARE_TRACE_COMMAND : TARE_TRACE_TIMES;

	expansion->left = 0;
	if (!tare_trace_is_short(record->head)) {
		expansion->goes_on = sound && begins(record);
		if (expansion->goes_on)
			expansion->latest = *record;
		return true;
	}
	if (!sound || !expansion->goes_on || begun != wanted ||
	    tare_trace_track(record->head) != tare_trace_track(expansion->latest.head) ||
	    !fits(expansion, record, tare_trace_detail(record->head))) {
		expansion->goes_on = false;
		return false;
	}
	expansion->left = tare_trace_detail(record->head);
	expansion->ticks = record->launches.ticks;
	return true;
}

const union tare_trace_record *tare_trace_expand_next(struct tare_trace_expansion *expansion)
{
	if (!expansion->left)
		return NULL;
	next(&expansion->latest, expansion->ticks);
	expansion->ticks += step(expansion);
	expansion->left--;
	return &expansion->latest;
}
