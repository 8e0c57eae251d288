// SPDX-License-Identifier: Apache-2.0
// Phases: begins and ends are joined, and each nested one gets the one that it lies in. Nested are
// those of a thread without an identity; an end closes the innermost of the same source and domain,
// so that a library's marks never close the program's. What two of them do to each other is left as
// it is: one that began inside another and ends after it lies in neither.
#include "analysis/recording/internal.h"

// A phase that has begun, in two lists: of those that the same end would close, and of the nested
// ones of its thread, in the order in which they began.
struct open_phase {
	uint32_t phase;        // index into the recording's; TARE_NO_INDEX: the place is free
	uint32_t below;        // that the same end closes next; or the next free place
	uint32_t older, newer; // on its thread
	uint32_t track;
	uint64_t key;
};

struct load_phases {
	struct open_phase *open;
	size_t count, room;
	uint32_t free;              // TARE_NO_INDEX: none
	struct tare_id_map top_of;  // the innermost open one of a key
	struct tare_id_map text_of; // by the file's number
	const char **texts;
	size_t text_count, text_room;
};

static struct load_phases *phases_of(struct loading *l)
{
	if (!l->phases) {
		l->phases = calloc(1, sizeof *l->phases);
		if (l->phases)
			l->phases->free = TARE_NO_INDEX;
		else
			loading_fail(l, ENOMEM, "phases");
	}
	return l->phases;
}

void loading_forget_phases(struct loading *l)
{
	if (!l->phases)
		return;
	free(l->phases->open);
	free(l->phases->texts);
	tare_id_map_free(&l->phases->top_of);
	tare_id_map_free(&l->phases->text_of);
	free(l->phases);
	l->phases = NULL;
}

// The same text for the same number: there may be a million phases of ten names.
static const char *text_of(struct loading *l, uint32_t number)
{
	struct load_phases *p = l->phases;
	uint32_t index = number ? tare_id_map_find(&p->text_of, number) : TARE_ID_ABSENT;
	const char **text;

	if (!number)
		return "";
	if (index != TARE_ID_ABSENT)
		return p->texts[index];
	text = TARE_ROOM_FOR(p->texts, p->text_room, p->text_count);
	if (!text || !tare_id_map_put(&p->text_of, number, (uint32_t)p->text_count)) {
		loading_fail(l, ENOMEM, "phases");
		return "";
	}
	*text = loading_text(l, tare_trace_text(l->trace, l->file, number));
	p->text_count++;
	return *text;
}

// What begin and end have in common. An NVTX range may be ended by nvtxRangeEnd, which names no
// domain.
static uint64_t key_of(const struct tare_trace_phase *phase, const char *domain)
{
	uint64_t words[] = { phase->value, tare_trace_record_flags(phase->head),
		             phase->value ? 0 : (uint64_t)tare_trace_track(phase->head) + 1 };
	bool alone = phase->value && words[1] == TARE_PHASE_NVTX;

	return tare_hash_text(tare_hash_bytes(TARE_HASH_START, words, sizeof words),
	                      alone ? "" : domain);
}

// ---- the open ones

static struct open_phase *open_new(struct loading *l, uint32_t *index)
{
	struct load_phases *p = l->phases;
	struct open_phase *open;

	if (p->free != TARE_NO_INDEX) {
		*index = p->free;
		p->free = p->open[*index].below;
		return &p->open[*index];
	}
	open = TARE_ROOM_FOR(p->open, p->room, p->count);
	if (!open || p->count >= TARE_NO_INDEX - 1) {
		loading_fail(l, ENOMEM, "phases");
		return NULL;
	}
	*index = (uint32_t)p->count++;
	return open;
}

// Ends one. What is still open of its thread and began before it contains it.
static void close_phase(struct loading *l, uint32_t index, int64_t to_ns)
{
	struct load_phases *p = l->phases;
	struct open_phase *open = &p->open[index];
	struct tare_recorded_phase *phase = &l->recording->phases[open->phase];

	phase->to_ns = to_ns > phase->from_ns ? to_ns : phase->from_ns;
	if (!phase->range) {
		struct load_track *track = loading_track(l, open->track);
		if (open->older != TARE_NO_INDEX) {
			phase->parent = p->open[open->older].phase;
			p->open[open->older].newer = open->newer;
		}
		if (open->newer != TARE_NO_INDEX)
			p->open[open->newer].older = open->older;
		else if (track)
			track->phase = open->older;
	}
	open->phase = TARE_NO_INDEX;
	open->below = p->free;
	p->free = index;
}

// The time of a nested mark: on its thread none is earlier than the one before.
static int64_t mark_ns(const struct loading *l, struct load_track *track,
                       const struct tare_trace_phase *mark)
{
	int64_t ns = loading_ns(l, mark->ticks);

	// An instant lies in the phase that is open, whatever its value.
	if (mark->value && tare_trace_detail(mark->head) != 0)
		return ns;
	if (track->phase_ns > ns)
		ns = track->phase_ns;
	track->phase_ns = ns;
	return ns;
}

static struct tare_recorded_phase *add(struct loading *l, const struct load_track *track,
                                       const struct tare_trace_phase *mark, int64_t ns)
{
	struct tare_recorded_phase *phase = LOADING_ADD(l, phases, phase_count, phase_room);

	if (!phase)
		return NULL;
	*phase = (struct tare_recorded_phase){
		.from_ns = ns,
		.to_ns = ns,
		.thread = track->thread,
		.parent = TARE_NO_INDEX,
		.name = mark->name ? text_of(l, mark->name) : "(unnamed)",
		.domain = text_of(l, mark->domain),
		.source = tare_trace_record_flags(mark->head),
	};
	return phase;
}

static int begin_phase(struct loading *l, struct load_track *track,
                       const struct tare_trace_phase *mark)
{
	struct load_phases *p = l->phases;
	uint64_t key = key_of(mark, text_of(l, mark->domain));
	struct tare_recorded_phase *phase = add(l, track, mark, mark_ns(l, track, mark));
	struct open_phase *open;
	uint32_t index;

	open = phase ? open_new(l, &index) : NULL;
	if (!open)
		return l->status;
	phase->range = mark->value != 0;
	*open = (struct open_phase){
		.phase = (uint32_t)(l->recording->phase_count - 1),
		.below = tare_id_map_find(&p->top_of, key), // absent is TARE_NO_INDEX
		.older = phase->range ? TARE_NO_INDEX : track->phase,
		.newer = TARE_NO_INDEX,
		.track = tare_trace_track(mark->head),
		.key = key,
	};
	if (!tare_id_map_put(&p->top_of, key, index))
		return loading_fail(l, ENOMEM, "phases");
	if (phase->range)
		return 0;
	if (track->phase != TARE_NO_INDEX)
		p->open[track->phase].newer = index;
	track->phase = index;
	return 0;
}

// An end without a begin is of a phase that began before the recording, or a mistake of the
// program.
static int end_phase(struct loading *l, struct load_track *track,
                     const struct tare_trace_phase *mark)
{
	struct load_phases *p = l->phases;
	uint64_t key = key_of(mark, text_of(l, mark->domain));
	int64_t ns = mark_ns(l, track, mark);
	uint32_t index = tare_id_map_take(&p->top_of, key);

	if (index == TARE_ID_ABSENT || l->status)
		return l->status;
	if (p->open[index].below != TARE_NO_INDEX &&
	    !tare_id_map_put(&p->top_of, key, p->open[index].below))
		return loading_fail(l, ENOMEM, "phases");
	close_phase(l, index, ns);
	return l->status;
}

static int add_instant(struct loading *l, struct load_track *track,
                       const struct tare_trace_phase *mark)
{
	struct tare_recorded_phase *phase = add(l, track, mark, mark_ns(l, track, mark));

	if (!phase)
		return l->status;
	phase->instant = true;
	if (track->phase != TARE_NO_INDEX)
		phase->parent = l->phases->open[track->phase].phase;
	return 0;
}

int loading_phase(struct loading *l, const struct tare_trace_phase *mark)
{
	struct load_track *track = loading_track(l, tare_trace_track(mark->head));

	if (!track || !phases_of(l) || l->status)
		return l->status;
	switch (tare_trace_detail(mark->head)) {
	case 0:
		return add_instant(l, track, mark);
	case 1:
		return begin_phase(l, track, mark);
	default:
		return end_phase(l, track, mark);
	}
}

// ---- at the end

int loading_finish_phases(struct loading *l)
{
	struct load_phases *p = l->phases;
	int64_t end_ns = l->recording->processes[l->process].end_ns;

	for (size_t i = 0; p && i < p->count; i++)
		if (p->open[i].phase != TARE_NO_INDEX)
			l->recording->phases[p->open[i].phase].unended = true;
	// All of a thread's end at the same time: the newest first, each inside the one before.
	for (size_t i = 0; p && i < l->track_count && !l->status; i++)
		while (l->tracks[i].phase != TARE_NO_INDEX) {
			int64_t last_ns = l->tracks[i].phase_ns;
			close_phase(l, l->tracks[i].phase, last_ns > end_ns ? last_ns : end_ns);
		}
	for (size_t i = 0; p && i < p->count; i++)
		if (p->open[i].phase != TARE_NO_INDEX)
			close_phase(l, (uint32_t)i, end_ns);
	return l->status;
}

void loading_phase_depths(struct loading *l)
{
	struct tare_recording *r = l->recording;

	for (size_t i = 0; i < r->phase_count; i++)
		if (r->phases[i].parent != TARE_NO_INDEX)
			r->phases[i].depth = r->phases[r->phases[i].parent].depth + 1;
}
