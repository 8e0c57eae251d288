// SPDX-License-Identifier: Apache-2.0
// How times go into a packed row: inline, as each command's are put twice. For the files that load.
#pragma once
#include "analysis/recording/internal.h"

// Ticks of a device may lie anywhere: while they are kept as they are, they are kept against the
// first of the queue.
static inline uint64_t *loading_shift_of(const struct loading *l, uint32_t queue)
{
	return &l->commands->shift[queue % LOADING_SHIFTS];
}

// The times of a command as it was put: ticks where they are not mapped yet.
static inline struct load_times loading_unshifted(const struct loading *l,
                                                  const struct tare_recorded_command *c)
{
	struct load_times times = { c->submitted_ns, c->start_ns, c->end_ns, c->untimed };

	if (times.untimed == LOADING_RAW) {
		uint64_t shift = *loading_shift_of(l, c->queue);
		times.start_ns = (int64_t)((uint64_t)times.start_ns + shift);
		times.end_ns = (int64_t)((uint64_t)times.end_ns + shift);
		if (times.submitted_ns != TARE_NO_TIME)
			times.submitted_ns = (int64_t)((uint64_t)times.submitted_ns + shift);
	}
	return times;
}

// The same, as near to the call as other times.
static inline void loading_shift_ticks(const struct loading *l, uint32_t queue, int64_t enter_ns,
                                       struct load_times *times)
{
	uint64_t *shift = loading_shift_of(l, queue);

	if (times->untimed != LOADING_RAW)
		return;
	if (!l->commands->shifted[queue % LOADING_SHIFTS])
		*shift = (uint64_t)times->start_ns - (uint64_t)enter_ns;
	l->commands->shifted[queue % LOADING_SHIFTS] = true;
	times->start_ns = (int64_t)((uint64_t)times->start_ns - *shift);
	times->end_ns = (int64_t)((uint64_t)times->end_ns - *shift);
	if (times->submitted_ns != TARE_NO_TIME)
		times->submitted_ns = (int64_t)((uint64_t)times->submitted_ns - *shift);
}

// Whether `ns` - `from_ns` is at least `low` and below `high`; *offset: it.
static inline bool loading_fits(int64_t ns, int64_t from_ns, int64_t low, int64_t high,
                                int64_t *offset)
{
	return !__builtin_sub_overflow(ns, from_ns, offset) && *offset >= low && *offset < high;
}

// The command's times, against its call; the submission into *submitted_ns. Where they do not fit
// nothing is changed.
static inline bool loading_pack_times(const struct load_times *times, int64_t enter_ns,
                                      struct tare_packed_command *row, int32_t *submitted_ns)
{
	const int64_t near = INT64_C(1) << 39;
	int64_t start = 0, run = TARE_PACKED_UNTIMED, submitted = 0;
	bool timed = times->start_ns != TARE_NO_TIME || times->end_ns != TARE_NO_TIME;

	if (timed && (!loading_fits(times->start_ns, enter_ns, -near, near, &start) ||
	              !loading_fits(times->end_ns, times->start_ns, 0, TARE_PACKED_UNTIMED, &run)))
		return false;
	if (times->submitted_ns == TARE_NO_TIME)
		submitted = TARE_PACKED_NO_TIME;
	else if (!loading_fits(times->submitted_ns, enter_ns, TARE_PACKED_NO_TIME + 1, INT32_MAX,
	                       &submitted))
		return false;
	row->start = (uint32_t)start;
	row->start_high = (int8_t)(start >> 32);
	row->run_ns = (uint32_t)run;
	row->untimed = times->untimed;
	*submitted_ns = (int32_t)submitted;
	return true;
}

// Puts the times of a command that nothing else has to change for. False: they have to be put by
// loading_put_times.
static inline bool loading_put_times_in_row(const struct loading *l, size_t index, int64_t enter_ns,
                                            const struct load_times *times)
{
	const struct tare_commands *commands = &l->recording->commands;
	struct tare_packed_command *row = &commands->rows[index];
	struct load_times shifted = *times;
	int32_t submitted_ns;

	if (l->status || row->like == TARE_PACKED_WHOLE)
		return false;
	const struct tare_command_like *like = &commands->likes[row->like];
	// The others have something where a submission goes, or may.
	bool taken = like->link != TARE_LINK_NONE && !like->pair;
	if ((taken && times->submitted_ns != TARE_NO_TIME) || like->waits ||
	    like->link == TARE_LINK_ACTIVE)
		return false;
	loading_shift_ticks(l, like->queue, enter_ns, &shifted);
	if (!loading_pack_times(&shifted, enter_ns, row, &submitted_ns))
		return false;
	if (like->pair)
		commands->pairs[row->more].submitted_ns = submitted_ns;
	else if (!taken)
		row->more = (uint32_t)submitted_ns;
	return true;
}
