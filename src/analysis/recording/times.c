// SPDX-License-Identifier: Apache-2.0
// Device times: joined to their commands, then put on the host's clock.
#include "analysis/recording/internal.h"
#include "analysis/recording/intervals.h"
#include "analysis/recording/packing.h"

struct tare_device_clock *loading_clock(struct loading *l, uint32_t device)
{
	size_t at = device - l->first_device;

	if (!l->clocks[at])
		l->clocks[at] = tare_device_clock_new(
		    l->recording->processes[l->process].host_residual_ns, l->resolutions_ns[at]);
	if (!l->clocks[at])
		loading_fail(l, ENOMEM, "clocks");
	return l->clocks[at];
}

int loading_clock_pair(struct loading *l, const struct tare_trace_clock_pair *pair)
{
	struct tare_reading reading = { loading_ns(l, pair->before), loading_ns(l, pair->after),
		                        pair->value };
	struct tare_device_clock *clock;
	uint32_t device;

	if (tare_trace_detail(pair->head) != TARE_CLOCK_DEVICE)
		return l->status;
	device = loading_resolve(l, loading_api_of_head(l, pair->head), TARE_OBJECT_DEVICE,
	                         pair->device, pair->after);
	if (device == TARE_NO_INDEX)
		return l->status;
	clock = loading_clock(l, device);
	reading.ticks = loading_pair_ns(l, device, &reading);
	if (clock)
		tare_device_clock_pair(clock, &reading);
	return l->status;
}

static uint64_t stamp(const struct tare_trace_times *t, enum tare_trace_stamps which,
                      uint64_t ticks)
{
	return tare_trace_record_flags(t->head) & which ? ticks : 0;
}

static uint32_t device_of(const struct tare_recording *r, uint32_t queue)
{
	return queue == TARE_NO_INDEX ? TARE_NO_INDEX : r->queues[queue].device;
}

bool loading_keep_observed(struct loading *l, uint32_t command, int64_t observed_ns)
{
	size_t at = command - l->first_command;

	while (l->observed_room <= at) {
		int64_t *grown = tare_make_room(l->observed_ns, &l->observed_room, l->observed_room,
		                                sizeof *grown);
		if (!grown) {
			loading_fail(l, ENOMEM, "commands");
			return false;
		}
		l->observed_ns = grown;
	}
	l->observed_ns[at] = observed_ns;
	return true;
}

// A graph's nodes have times of their own: the command lasts from the first start to the last end.
static void widen(struct load_times *c, const struct tare_command_stamps *stamps)
{
	if ((int64_t)(stamps->start - (uint64_t)c->start_ns) < 0)
		c->start_ns = (int64_t)stamps->start;
	if ((int64_t)(stamps->end - (uint64_t)c->end_ns) > 0)
		c->end_ns = (int64_t)stamps->end;
}

// What a list did may be seen complete before the call that executes it has returned, and events
// are read in the order of their ends: what is said of a run comes before the run.
bool loading_keep_early(struct loading *l, uint64_t execution,
                        const union tare_trace_record *record)
{
	union tare_trace_record *added;

	if (execution == 0 || l->events_read)
		return false;
	added = TARE_ROOM_FOR(l->early, l->early_room, l->early_count);
	if (!added) {
		loading_fail(l, ENOMEM, "times");
		return true;
	}
	*added = *record;
	l->early_count++;
	return true;
}

static void put_active(struct loading *l, uint32_t index, int64_t active_ns)
{
	struct tare_recorded_command c = loading_command(l, index);

	c.active_ns = active_ns;
	loading_put_command(l, index, &c);
}

int loading_times(struct loading *l, const struct tare_trace_times *t)
{
	struct tare_recording *r = l->recording;
	uint64_t identity = loading_identity(t->command_track, t->command_number);
	bool node = tare_trace_detail(t->head) == TARE_TIMES_OF_NODE;
	uint32_t index =
	    !node && t->execution ? loading_run_of(l, identity, t->execution) : TARE_NO_RUN;
	bool run = index != TARE_NO_RUN;
	struct tare_device_clock *clock;
	struct tare_command_stamps stamps;
	uint32_t device;

	if (node) {
		index = loading_run_of_node(l, t);
		if (index == TARE_NO_INDEX)
			return l->status;
	} else if (!run)
		index = t->execution ? loading_find_pending(&l->pending, identity)
		                     : loading_take_pending(&l->pending, identity);
	if (index == TARE_ID_ABSENT &&
	    loading_keep_early(l, t->execution, &(union tare_trace_record){ .times = *t }))
		return l->status;
	// A run has times once.
	if (index == TARE_ID_ABSENT || (run && TARE_COMMAND(r, index)->untimed)) {
		r->unresolved++;
		return l->status;
	}
	const struct tare_recorded_command *c = TARE_COMMAND(r, index);
	uint8_t untimed = c->untimed;
	device = device_of(r, c->queue);
	stamps = (struct tare_command_stamps){ c->enter_ns,
		                               c->exit_ns,
		                               loading_ns(l, t->observed),
		                               stamp(t, TARE_TRACE_STAMP_QUEUED, t->queued),
		                               stamp(t, TARE_TRACE_STAMP_SUBMITTED, t->submitted),
		                               stamp(t, TARE_TRACE_STAMP_START, t->start),
		                               stamp(t, TARE_TRACE_STAMP_END, t->end) };
	if (device == TARE_NO_INDEX) {
		loading_put_untimed(l, index, TARE_UNTIMED_UNUSABLE); // of which clock?
		return l->status;
	}
	if (tare_trace_record_flags(t->head) & TARE_TRACE_STAMP_ACTIVE)
		put_active(l, index, loading_active_ns(l, device, t->queued, t->submitted));
	loading_stamps_ns(l, device, tare_trace_record_flags(t->head), &stamps);
	clock = loading_clock(l, device);
	if (!clock || !loading_keep_observed(l, index, stamps.observed_ns))
		return l->status;
	bool agrees = tare_device_clock_command(clock, &stamps);
	r->devices[device].contradictions += !agrees;
	// One that was not told takes no room; 0 is none either, as of clocks that do not wrap.
	struct load_times times = { stamps.submitted ? (int64_t)stamps.submitted : TARE_NO_TIME,
		                    (int64_t)stamps.start, (int64_t)stamps.end, LOADING_RAW };
	if (agrees && untimed != LOADING_RAW)
		return loading_put_times_in_row(l, index, stamps.enter_ns, &times)
		           ? l->status
		           : loading_put_times(l, index, &times);
	times = loading_times_of(l, index);
	if (agrees)
		widen(&times, &stamps);
	else if (untimed != LOADING_RAW)
		times.untimed = TARE_UNTIMED_UNUSABLE;
	return loading_put_times(l, index, &times);
}

int loading_untimed(struct loading *l, const struct tare_trace_untimed_record *u)
{
	uint64_t identity = loading_identity(u->command_track, u->command_number);
	uint32_t index = loading_take_pending(&l->pending, identity);
	uint8_t why = tare_trace_detail(u->head) <= TARE_UNTIMED_NOT_ASKED
	                  ? (uint8_t)tare_trace_detail(u->head)
	                  : TARE_UNTIMED_UNUSABLE;

	if (u->execution && loading_run_of(l, identity, u->execution) == TARE_ID_ABSENT &&
	    loading_keep_early(l, u->execution, &(union tare_trace_record){ .untimed = *u }))
		return l->status;
	if (loading_untimed_list(l, identity, u->execution, why))
		return l->status;
	if (index == TARE_ID_ABSENT)
		l->recording->unresolved++;
	else if (TARE_COMMAND(l->recording, index)->untimed != LOADING_RAW)
		loading_put_untimed(l, index, why);
	return l->status;
}

// ---- mapping

static void forget_times(struct load_times *c)
{
	c->submitted_ns = c->start_ns = c->end_ns = TARE_NO_TIME;
	c->untimed = TARE_UNTIMED_UNUSABLE;
}

// By how much the times are outside what the host saw: 0 when they are inside.
static int64_t outside_ns(int64_t enter_ns, int64_t start_ns, int64_t end_ns, int64_t observed_ns)
{
	int64_t before = enter_ns - start_ns;
	int64_t after = end_ns - observed_ns;
	int64_t most = before > after ? before : after;

	return most > 0 ? most : 0;
}

// Beyond the residual a stamp contradicts; so far beyond it, it is not used.
static int64_t farthest_ns(int64_t residual_ns)
{
	return residual_ns > 100000 ? 10 * residual_ns : 1000000;
}

// The command's stamps on the host's clock, or none when they are far from where they can be.
// Returns whether they contradict.
static bool map_command(const struct tare_device_clock *clock, int64_t enter_ns,
                        struct load_times *c, int64_t observed_ns)
{
	int64_t start_ns = tare_device_clock_map(clock, (uint64_t)c->start_ns);
	int64_t end_ns = tare_device_clock_map(clock, (uint64_t)c->end_ns);
	int64_t submitted_ns = TARE_NO_TIME;
	int64_t outside;

	if (start_ns == TARE_NO_TIME || end_ns == TARE_NO_TIME) {
		forget_times(c);
		return true;
	}
	if (c->submitted_ns != TARE_NO_TIME)
		submitted_ns = tare_device_clock_map(clock, (uint64_t)c->submitted_ns);
	outside = outside_ns(enter_ns, start_ns, end_ns, observed_ns);
	if (outside > farthest_ns(clock->residual_ns)) {
		forget_times(c);
		return true;
	}
	// The mapping may put what began at the machine's start a little before it.
	c->start_ns = loading_cut(start_ns);
	c->end_ns = loading_cut(end_ns < start_ns ? start_ns : end_ns);
	// A submission that was not between the two says nothing.
	c->submitted_ns = TARE_NO_TIME;
	if (submitted_ns != TARE_NO_TIME && submitted_ns <= start_ns &&
	    submitted_ns >= enter_ns - clock->residual_ns)
		c->submitted_ns = loading_cut(submitted_ns);
	c->untimed = 0;
	return outside > clock->residual_ns;
}

// What was settled of a device's clock goes into the recording; one that most commands contradict
// is none. The mapping stretches the device's time to the host's: what it adds is what the device's
// clock loses.
static double device_drift_ppm(const struct tare_device_clock *clock)
{
	return 1e6 * (1 / (1 + clock->drift_ppm / 1e6) - 1);
}

static void tell_devices(struct loading *l, const uint64_t *timed, const uint64_t *contradict)
{
	for (size_t i = 0; i < l->clock_count; i++) {
		struct tare_recorded_device *d = &l->recording->devices[l->first_device + i];
		struct tare_device_clock *clock = l->clocks[i];
		d->contradictions += contradict[i];
		if (!clock)
			continue;
		if (2 * contradict[i] > timed[i])
			tare_device_clock_refuse(clock);
		d->clock_source = clock->source;
		d->residual_ns = clock->residual_ns;
		d->drift_ppm = device_drift_ppm(clock);
		d->clock_pairs = clock->rests_on;
	}
}

// Maps the commands whose stamps are raw and counts, for each device, all and those that
// contradict.
static void map_commands(struct loading *l, uint64_t *timed, uint64_t *contradict)
{
	struct tare_recording *r = l->recording;

	for (size_t i = l->first_command; i < r->command_count; i++) {
		const struct tare_device_clock *clock;
		const struct tare_recorded_command *c = TARE_COMMAND(r, i);
		struct load_times times;
		size_t device;
		if (c->untimed != LOADING_RAW)
			continue;
		device = device_of(r, c->queue) - l->first_device;
		clock = l->clocks[device];
		times = loading_unshifted(l, c);
		if (clock->source == TARE_CLOCK_NONE) {
			forget_times(&times);
		} else {
			// What the driver did by itself is mapped as if it was asked for when it
			// began.
			int64_t enter_ns = tare_command_is_drivers(c) ? 0 : c->enter_ns;
			timed[device]++;
			contradict[device] += map_command(clock, enter_ns, &times,
			                                  l->observed_ns[i - l->first_command]);
		}
		if (!loading_put_times_in_row(l, i, c->enter_ns, &times))
			loading_put_times(l, i, &times);
	}
}

// Takes the times of commands whose device's clock turned out to be none.
static void unmap_commands(struct loading *l)
{
	struct tare_recording *r = l->recording;

	for (size_t i = l->first_command; i < r->command_count; i++) {
		const struct tare_recorded_command *c = TARE_COMMAND(r, i);
		struct load_times none;
		if (c->start_ns == TARE_NO_TIME ||
		    l->clocks[device_of(r, c->queue) - l->first_device]->source != TARE_CLOCK_NONE)
			continue;
		forget_times(&none);
		loading_put_times(l, i, &none);
	}
}

int loading_map_times(struct loading *l)
{
	uint64_t *timed = calloc(l->clock_count + 1, 2 * sizeof *timed);
	uint64_t *contradict = timed + l->clock_count + 1;
	bool refused = false;

	if (!timed)
		return loading_fail(l, ENOMEM, "clocks");
	for (size_t i = 0; i < l->clock_count && !l->status; i++)
		if (l->clocks[i] && tare_device_clock_settle(l->clocks[i], l->error))
			l->status = -ENOMEM;
	if (!l->status) {
		map_commands(l, timed, contradict);
		tell_devices(l, timed, contradict);
		for (size_t i = 0; i < l->clock_count; i++)
			refused |= timed[i] && l->clocks[i]->source == TARE_CLOCK_NONE;
		if (refused)
			unmap_commands(l);
	}
	free(timed);
	return l->status;
}
