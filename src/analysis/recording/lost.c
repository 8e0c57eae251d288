// SPDX-License-Identifier: Apache-2.0
// Times in which the events of a process were not recorded, by what its file and its threads show.
// docs/ledger.md, "What was not recorded", states the rules.
#include "analysis/recording/internal.h"

static void add_lost(struct loading *l, uint32_t process, int64_t from_ns, int64_t to_ns,
                     enum tare_loss_why why)
{
	struct tare_recorded_loss *added;

	if (from_ns >= to_ns)
		return;
	added = LOADING_ADD(l, losses, loss_count, loss_room);
	if (added)
		*added = (struct tare_recorded_loss){ process, TARE_NO_INDEX, from_ns, to_ns, 0, 0,
			                              why };
}

// When the program first called, as far as is known: definitions are never overwritten.
static int64_t first_call_ns(const struct loading *l)
{
	return l->first_call_ns != TARE_NO_TIME
	           ? l->first_call_ns
	           : l->recording->processes[l->process].recorded_from_ns;
}

void loading_note_written(struct loading *l, const union tare_trace_record *record,
                          int64_t written_ns)
{
	struct load_track *track = loading_track(l, tare_trace_track(record->head));

	if (!track)
		return;
	written_ns = loading_shift(l, written_ns);
	if (track->first_ns == TARE_NO_TIME)
		track->first_ns = written_ns;
	track->last_ns = written_ns;
	if (tare_trace_type(record->head) == TARE_TRACE_COMMAND && !track->first_number)
		track->first_number = record->command.number;
}

int loading_active(struct loading *l, const struct tare_trace_active *active)
{
	int64_t at_ns = loading_ns(l, active->ticks);

	if (tare_trace_detail(active->head) == 0) {
		if (l->inactive_since_ns == TARE_NO_TIME)
			l->inactive_since_ns = at_ns;
	} else {
		// That recording was not active before may have been told by a record that is gone.
		if (l->inactive_since_ns == TARE_NO_TIME && !l->active_told)
			l->inactive_since_ns = first_call_ns(l);
		if (l->inactive_since_ns != TARE_NO_TIME)
			add_lost(l, l->process, l->inactive_since_ns, at_ns, TARE_LOSS_INACTIVE);
		l->inactive_since_ns = TARE_NO_TIME;
	}
	l->active_told = true;
	return l->status;
}

static bool is_programs(const struct loading *l, const struct load_track *track)
{
	return !l->recording->threads[track->thread].helper && track->first_ns != TARE_NO_TIME;
}

// When the file was full for one of the program's threads. None got a window afterwards: of those
// that wrote after the last window was claimed the first to fall silent.
static int64_t stopped_at_ns(const struct loading *l)
{
	int64_t claimed_ns = loading_shift(l, tare_trace_file(l->trace, l->file)->claimed_ns);
	int64_t first_ns = INT64_MAX, last_ns = first_call_ns(l);

	for (size_t i = 0; i < l->track_count; i++) {
		const struct load_track *track = &l->tracks[i];
		if (!is_programs(l, track))
			continue;
		if (track->last_ns >= claimed_ns && track->last_ns < first_ns)
			first_ns = track->last_ns;
		if (track->last_ns > last_ns)
			last_ns = track->last_ns;
	}
	return first_ns != INT64_MAX ? first_ns : last_ns;
}

// Until when records were overwritten: until the first one left of each thread that does not begin
// with its first command. Where no thread shows it, of any thread.
static int64_t recycled_until_ns(const struct loading *l)
{
	int64_t shown_ns = INT64_MIN, latest_ns = first_call_ns(l);

	for (size_t i = 0; i < l->track_count; i++) {
		const struct load_track *track = &l->tracks[i];
		if (!is_programs(l, track))
			continue;
		if (track->first_number > 1 && track->first_ns > shown_ns)
			shown_ns = track->first_ns;
		if (track->first_ns > latest_ns)
			latest_ns = track->first_ns;
	}
	return shown_ns != INT64_MIN ? shown_ns : latest_ns;
}

int loading_lost_of_process(struct loading *l)
{
	const struct tare_recorded_process *p = &l->recording->processes[l->process];

	if (p->recycled_records)
		add_lost(l, l->process, first_call_ns(l), recycled_until_ns(l), TARE_LOSS_RECYCLED);
	if (p->state == TARE_TRACE_STOPPED)
		add_lost(l, l->process, stopped_at_ns(l), p->end_ns, TARE_LOSS_STOPPED);
	if (l->inactive_since_ns != TARE_NO_TIME)
		add_lost(l, l->process, l->inactive_since_ns, p->end_ns, TARE_LOSS_INACTIVE);
	return l->status;
}

int loading_lost_at_the_end(struct loading *l)
{
	struct tare_recording *r = l->recording;

	for (uint32_t i = 0; i < r->process_count && !l->status; i++) {
		const struct tare_recorded_process *p = &r->processes[i];
		if (p->came_to_exit || p->state == TARE_TRACE_EXEC)
			continue;
		// However long: a driver that hangs may keep the recorder's own thread, too.
		add_lost(l, i, p->end_ns, r->end_ns, TARE_LOSS_NO_SIGN);
	}
	return l->status;
}
