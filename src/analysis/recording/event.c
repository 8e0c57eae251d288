// SPDX-License-Identifier: Apache-2.0
// Events of one process: commands and what belongs to them, calls, callbacks, CPU samples, losses.
#include "analysis/recording/internal.h"

// As in struct tare_recorded_wait.

// ---- commands

// Moves the list of what the last command waits for to its place. Other threads' lists may have
// come in between, and a list is in one piece.
static int finish_wait(struct loading *l, struct load_track *track)
{
	struct tare_recording *r = l->recording;
	size_t first = r->wait_count;

	if (!track->wait_count || track->command == TARE_NO_INDEX || l->status)
		return l->status;
	for (size_t i = 0; i < track->wait_count; i++) {
		struct tare_recorded_wait *wait = LOADING_ADD(l, waits, wait_count, wait_room);
		if (!wait)
			return l->status;
		*wait = track->waits[i];
		wait->last = i + 1 == track->wait_count;
	}
	struct tare_recorded_command c = loading_command(l, track->command);
	c.first_wait = (uint32_t)first;
	loading_put_command(l, track->command, &c);
	track->wait_count = 0;
	return l->status;
}

int loading_finish_waits(struct loading *l)
{
	for (size_t i = 0; i < l->track_count && !l->status; i++)
		finish_wait(l, &l->tracks[i]);
	return l->status;
}

static uint32_t queue_of_number(struct loading *l, uint32_t number)
{
	uint32_t queue = loading_find_again(&l->queue_of, &l->last_queue, number);

	if (queue != TARE_ID_ABSENT)
		return queue;
	l->recording->unresolved += !loading_is_list(l, number);
	return TARE_NO_INDEX;
}

static int64_t not_before(int64_t ns, int64_t earliest_ns)
{
	return ns > earliest_ns ? ns : earliest_ns;
}

static uint64_t command_exit(const struct tare_trace_command *c)
{
	return c->call_ticks > UINT64_MAX - c->enter ? UINT64_MAX : c->enter + c->call_ticks;
}

// An enqueue that the API refused is a call.
static int add_failed(struct loading *l, struct load_track *track,
                      const struct tare_trace_command *c)
{
	struct tare_recorded_call *call = LOADING_ADD(l, calls, call_count, call_room);
	uint8_t flags = tare_trace_record_flags(c->head);

	l->recording->failed_commands++;
	if (!call)
		return l->status;
	*call = (struct tare_recorded_call){
		.enter_ns = loading_ns(l, c->enter),
		.count = 1,
		.thread = track->thread,
		.role = TARE_ROLE_COMMAND,
		.function =
		    (uint16_t)loading_function(l, tare_trace_detail(c->head), TARE_ROLE_COMMAND),
		.flags = TARE_CALL_FAILED,
		.result = (int32_t)(int64_t)c->object2,
		.object = queue_of_number(l, c->queue),
		.device = TARE_NO_INDEX,
		.stack = TARE_NO_INDEX,
		.bytes = c->kind == TARE_KIND_KERNEL ? 0 : c->amount,
	};
	if (flags & TARE_COMMAND_NESTED)
		call->flags |= TARE_CALL_NESTED;
	call->exit_ns = not_before(loading_ns(l, command_exit(c)), call->enter_ns);
	call->inside_ns = call->exit_ns - call->enter_ns;
	if (call->object != TARE_NO_INDEX)
		call->device = l->recording->queues[call->object].device;
	track->call = (uint32_t)(l->recording->call_count - 1);
	track->call_enter = c->enter;
	track->command = TARE_NO_INDEX;
	track->command_number = c->number;
	track->template = TARE_NO_INDEX;
	return l->status;
}

static uint8_t api_of(const struct loading *l, uint32_t command)
{
	return loading_api_of_function(l, TARE_COMMAND(l->recording, command)->function);
}

// What becomes known later is joined by (track, number), dependencies by the event's handle.
static void remember(struct loading *l, const struct tare_trace_command *c, uint32_t index)
{
	uint8_t flags = tare_trace_record_flags(c->head);
	uint64_t identity = loading_identity(tare_trace_track(c->head), c->number);

	if (!(flags & TARE_COMMAND_NO_TIMES) && !loading_put_pending(&l->pending, identity, index))
		loading_fail(l, ENOMEM, "commands");
	bool sampled = (flags & TARE_COMMAND_NOT_SAMPLED) != TARE_COMMAND_NOT_SAMPLED;
	if (sampled && flags & TARE_COMMAND_OWN_EVENT) {
		l->own_events++; // the program does not know its handle
	} else if (c->event) {
		l->retained_events += !(flags & TARE_COMMAND_NO_TIMES);
		loading_put_event(l, api_of(l, index), c->event, index);
	}
}

// A call may execute several lists: the first command has the call, the others are within it.
// Returns the number of the command before, if it is of the same call, else 0.
static uint32_t same_call(struct loading *l, const struct load_track *track,
                          const struct tare_trace_command *c, struct tare_recorded_command *added)
{
	const struct tare_recorded_command *before =
	    track->command == TARE_NO_INDEX ? NULL : TARE_COMMAND(l->recording, track->command);

	if (!before || before->kind != TARE_KIND_GRAPH || before->function != added->function ||
	    track->command_enter != c->enter)
		return 0;
	added->flags |= TARE_COMMAND_NESTED;
	return track->command_number;
}

static uint8_t object_kind(const struct tare_trace_command *c)
{
	return c->kind == TARE_KIND_KERNEL  ? TARE_OBJECT_KERNEL
	       : c->kind == TARE_KIND_GRAPH ? TARE_OBJECT_GRAPH
	                                    : TARE_OBJECT_MEMORY;
}

// Finds out what the record means, and appends it. Its index, or TARE_NO_INDEX.
static uint32_t make_command(struct loading *l, const struct load_track *track,
                             const struct tare_trace_command *c, int64_t enter_ns, int64_t exit_ns)
{
	uint32_t index, list = TARE_NO_INDEX, graph = TARE_NO_INDEX, before = 0;
	uint64_t unresolved = l->recording->unresolved;
	uint8_t api;
	struct tare_recorded_command added = {
		.enter_ns = enter_ns,
		.exit_ns = exit_ns,
		.submitted_ns = TARE_NO_TIME,
		.start_ns = TARE_NO_TIME,
		.end_ns = TARE_NO_TIME,
		.amount = c->amount,
		.thread = track->thread,
		.queue = queue_of_number(l, c->queue),
		.first_wait = TARE_NO_INDEX,
		.stack = TARE_NO_INDEX,
		.function =
		    (uint16_t)loading_function(l, tare_trace_detail(c->head), TARE_ROLE_COMMAND),
		.kind = c->kind,
		.direction = c->direction,
		.alignment = c->alignment,
		.memory = c->memory,
		.flags = tare_trace_record_flags(c->head),
	};
	// A command of ours that has no event has its event's flag for another reason.
	if ((added.flags & TARE_COMMAND_NOT_SAMPLED) == TARE_COMMAND_NOT_SAMPLED) {
		added.untimed = TARE_UNTIMED_NOT_SAMPLED;
		if (c->event)
			added.flags &= (uint8_t)~TARE_COMMAND_OWN_EVENT;
	}
	api = loading_api_of_function(l, added.function);
	added.object = loading_resolve(l, api, object_kind(c), c->object, c->enter);
	if (c->kind == TARE_KIND_KERNEL) {
		added.amount = loading_shape(l, c->amount);
	} else if (c->kind == TARE_KIND_GRAPH) {
		// CUDA's graphs are no lists.
		if (added.object != TARE_NO_INDEX && added.object & LOADING_GRAPH)
			graph = added.object & ~LOADING_GRAPH;
		else
			list = added.object;
		added.object = TARE_NO_INDEX;
		before = same_call(l, track, c, &added);
	}
	index = loading_add_command(l, &added);
	if (index != TARE_NO_INDEX && c->kind == TARE_KIND_GRAPH)
		loading_executes(l, c, index, list, graph == TARE_NO_INDEX ? 0 : graph + 1, before);
	if (index != TARE_NO_INDEX && l->recording->unresolved == unresolved)
		loading_keep_alike(l, c, index);
	return index;
}

static int add_command(struct loading *l, const struct tare_trace_command *c)
{
	struct load_track *track = loading_track(l, tare_trace_track(c->head));
	int64_t enter_ns, exit_ns;
	uint32_t index;

	if (!track || finish_wait(l, track))
		return l->status;
	enter_ns = loading_ns(l, c->enter);
	exit_ns = not_before(loading_ns(l, command_exit(c)), enter_ns);
	index = loading_add_alike(l, c, enter_ns, exit_ns);
	if (index == TARE_NO_INDEX) {
		if (tare_trace_record_flags(c->head) & TARE_COMMAND_FAILED)
			return add_failed(l, track, c);
		if (loading_is_list(l, c->queue))
			return loading_append(l, track, c);
		index = make_command(l, track, c, enter_ns, exit_ns);
	}
	if (index == TARE_NO_INDEX)
		return l->status;
	track->command = index;
	track->template = TARE_NO_INDEX;
	track->command_number = c->number;
	track->command_enter = c->enter;
	remember(l, c, index);
	return loading_place(l, c, index);
}

static int add_call_end(struct loading *l, const struct tare_trace_call_end *e)
{
	struct load_track *track;
	bool is = loading_is_last_command(l, tare_trace_track(e->head), e->number, &track);
	int64_t exit_ns = loading_ns(l, e->exit);

	if (is) {
		struct tare_recorded_command c = loading_command(l, track->command);
		c.exit_ns = not_before(exit_ns, c.enter_ns);
		loading_put_command(l, track->command, &c);
	} else if (track && track->command_number == e->number && track->call != TARE_NO_INDEX) {
		struct tare_recorded_call *call = &l->recording->calls[track->call];
		call->exit_ns = not_before(exit_ns, call->enter_ns);
		call->inside_ns = call->exit_ns - call->enter_ns;
	} else {
		l->recording->unresolved++;
	}
	return l->status;
}

// ---- what is waited for

static uint8_t api_of_depends(const struct loading *l, const struct tare_trace_depends *d)
{
	return loading_api(l, tare_trace_record_flags(d->head) >> TARE_DEPENDS_API_SHIFT);
}

// Waiting calls are about a queue and a device when all their events are.
static void tell_call(const struct load_track *track, struct tare_recorded_call *call)
{
	if (call->object == TARE_NO_INDEX)
		call->object = track->waits_queue;
	if (call->device == TARE_NO_INDEX)
		call->device = track->waits_device;
}

static void add_waits_of_call(struct loading *l, struct load_track *track,
                              const struct tare_trace_depends *d, uint32_t events)
{
	const struct tare_recording *r = l->recording;
	int64_t enter_ns = loading_ns(l, d->of);
	bool first = !track->waits_told || track->waits_of != d->of;

	for (uint32_t i = 0; i < events; i++) {
		uint32_t command =
		    loading_command_of_event(l, api_of_depends(l, d), d->event[i], d->of, enter_ns);
		uint32_t queue =
		    command == LOADING_NO_COMMAND ? TARE_NO_INDEX : TARE_COMMAND(r, command)->queue;
		uint32_t device = queue == TARE_NO_INDEX ? queue : r->queues[queue].device;
		if (first || track->waits_queue != queue)
			track->waits_queue = first ? queue : TARE_NO_INDEX;
		if (first || track->waits_device != device)
			track->waits_device = first ? device : TARE_NO_INDEX;
		first = false;
	}
	track->waits_of = d->of;
	track->waits_told = true;
	if (track->call != TARE_NO_INDEX && track->call_enter == d->of)
		tell_call(track, &r->calls[track->call]);
}

static int add_depends(struct loading *l, const struct tare_trace_depends *d)
{
	uint32_t events = tare_trace_detail(d->head) <= 6 ? tare_trace_detail(d->head) : 6;
	struct load_track *track;
	uint64_t enter_ticks;
	bool is = loading_is_last_command(l, tare_trace_track(d->head), d->of, &track);

	if (!track)
		return l->status;
	if (tare_trace_record_flags(d->head) & TARE_DEPENDS_OF_CALL) {
		add_waits_of_call(l, track, d, events);
		return l->status;
	}
	if (!is && loading_is_template(l, track->template, d->of))
		return loading_append_depends(l, track->template, api_of_depends(l, d), d, events);
	if (!is) {
		// What a refused command would have waited for does not matter.
		l->recording->unresolved += track->command_number != d->of;
		return l->status;
	}
	enter_ticks = track->command_enter;
	int64_t enter_ns = TARE_COMMAND(l->recording, track->command)->enter_ns;
	for (uint32_t i = 0; i < events; i++) {
		uint32_t command = loading_command_of_event(l, api_of_depends(l, d), d->event[i],
		                                            enter_ticks, enter_ns);
		struct tare_recorded_wait *wait =
		    TARE_ROOM_FOR(track->waits, track->wait_room, track->wait_count);
		if (!wait)
			return loading_fail(l, ENOMEM, "dependencies");
		wait->command =
		    (command == track->command ? LOADING_NO_COMMAND : command) & LOADING_NO_COMMAND;
		wait->last = false;
		track->wait_count++;
	}
	return l->status;
}

// ---- calls

// What a call is about: an object of the kind that goes with its role.
static uint32_t object_of_call(struct loading *l, const struct tare_trace_call *c, uint8_t api,
                               uint32_t role)
{
	bool released = tare_trace_record_flags(c->head) & TARE_CALL_RELEASED;
	// What a call makes is there at its end; what it lets go of may be another by then.
	uint64_t ticks = !released && (role == TARE_ROLE_ALLOCATE || role == TARE_ROLE_BUILD)
	                     ? c->exit
	                     : c->enter;

	switch (role) {
	case TARE_ROLE_WAIT:
	case TARE_ROLE_FLUSH: {
		const struct load_object *queue =
		    loading_find(l, api, TARE_OBJECT_QUEUE, c->object, ticks);
		return queue ? queue->index : TARE_NO_INDEX; // waits may be for events
	}
	case TARE_ROLE_BUILD:
		return loading_resolve(l, api, TARE_OBJECT_PROGRAM, c->object, ticks);
	case TARE_ROLE_ALLOCATE:
		if (tare_trace_record_flags(c->head) & TARE_CALL_FAILED)
			return TARE_NO_INDEX;
		return loading_resolve(l, api, TARE_OBJECT_MEMORY, c->object, ticks);
	default:
		return TARE_NO_INDEX;
	}
}

static int add_call(struct loading *l, const struct tare_trace_call *c)
{
	struct tare_recording *r = l->recording;
	struct load_track *track = loading_track(l, tare_trace_track(c->head));
	struct tare_recorded_call *call;
	uint32_t function, role;
	uint8_t api;

	if (!track || finish_wait(l, track))
		return l->status;
	call = LOADING_ADD(l, calls, call_count, call_room);
	if (!call)
		return l->status;
	function = loading_function(l, tare_trace_detail(c->head), TARE_ROLE_OTHER);
	role = l->status ? 0 : r->functions[function].role;
	api = loading_api_of_function(l, function);
	*call = (struct tare_recorded_call){
		.enter_ns = loading_ns(l, c->enter),
		.count = 1,
		.bytes = c->bytes,
		.thread = track->thread,
		.object = object_of_call(l, c, api, role),
		.device = TARE_NO_INDEX,
		.function = (uint16_t)function,
		.role = (uint8_t)role,
		.stack = TARE_NO_INDEX,
		.flags = tare_trace_record_flags(c->head),
		.result =
		    c->result < INT32_MIN || c->result > INT32_MAX ? INT32_MIN : (int32_t)c->result,
	};
	call->exit_ns = not_before(loading_ns(l, c->exit), call->enter_ns);
	call->inside_ns = call->exit_ns - call->enter_ns;
	if (c->device)
		call->device = loading_resolve(l, api, TARE_OBJECT_DEVICE, c->device, c->exit);
	if (role == TARE_ROLE_WAIT || role == TARE_ROLE_FLUSH) {
		if (call->object != TARE_NO_INDEX && call->device == TARE_NO_INDEX)
			call->device = r->queues[call->object].device;
		if (track->waits_told && track->waits_of == c->enter)
			tell_call(track, call);
	}
	if (role == TARE_ROLE_ALLOCATE && call->object != TARE_NO_INDEX &&
	    call->flags & TARE_CALL_RELEASED)
		r->memories[call->object].released_ns = call->enter_ns;
	track->call = (uint32_t)(r->call_count - 1);
	track->call_enter = c->enter;
	return l->status;
}

static int add_polled(struct loading *l, const struct tare_trace_polled *p)
{
	struct load_track *track = loading_track(l, tare_trace_track(p->head));
	struct tare_recorded_call *call;
	uint32_t function;
	int64_t longest_ns;

	if (!track || finish_wait(l, track))
		return l->status;
	call = LOADING_ADD(l, calls, call_count, call_room);
	if (!call)
		return l->status;
	function = loading_function(l, tare_trace_detail(p->head), TARE_ROLE_POLL);
	*call = (struct tare_recorded_call){
		.enter_ns = loading_ns(l, p->first_enter),
		.count = p->count,
		.thread = track->thread,
		.object = TARE_NO_INDEX,
		.device = TARE_NO_INDEX,
		.function = (uint16_t)function,
		.stack = TARE_NO_INDEX,
		.flags = (tare_trace_record_flags(p->head) & TARE_CALL_NESTED) |
		         (p->failed ? TARE_CALL_FAILED : 0),
	};
	if (!l->status)
		call->role = (uint8_t)l->recording->functions[function].role;
	call->exit_ns = not_before(loading_ns(l, p->last_exit), call->enter_ns);
	longest_ns = call->exit_ns - call->enter_ns;
	call->inside_ns = longest_ns;
	if (p->ticks < p->last_exit - p->first_enter)
		call->inside_ns = loading_ns(l, p->first_enter + p->ticks) - call->enter_ns;
	if (call->inside_ns < 0 || call->inside_ns > longest_ns)
		call->inside_ns = longest_ns;
	return l->status;
}

// ---- the rest

static int add_callback(struct loading *l, const struct tare_trace_callback *c)
{
	const struct load_track *track = loading_track(l, tare_trace_track(c->head));
	struct tare_recorded_callback *added =
	    track ? LOADING_ADD(l, callbacks, callback_count, callback_room) : NULL;

	if (!added)
		return l->status;
	added->enter_ns = loading_ns(l, c->enter);
	added->exit_ns = not_before(loading_ns(l, c->exit), added->enter_ns);
	added->thread = track->thread;
	added->function =
	    (uint16_t)loading_function(l, tare_trace_detail(c->head), TARE_ROLE_OTHER);
	return l->status;
}

static int add_cpu_time(struct loading *l, const struct tare_trace_cpu_time *c)
{
	struct tare_recording *r = l->recording;
	const struct load_track *track;
	struct tare_cpu_sample *sample;
	uint32_t *thread;

	if (tare_trace_detail(c->head) == 1) {
		struct tare_recorded_process *p = &r->processes[l->process];
		if (c->cpu_ns > p->cpu_ns && c->cpu_ns < INT64_MAX)
			p->cpu_ns = c->cpu_ns;
		return 0;
	}
	track = loading_track(l, tare_trace_track(c->head));
	if (!track || tare_trace_detail(c->head))
		return l->status;
	thread = TARE_ROOM_FOR(l->sample_threads, l->sample_thread_room, r->cpu_sample_count);
	sample = LOADING_ADD(l, cpu_samples, cpu_sample_count, sample_room);
	if (!thread || !sample)
		return loading_fail(l, ENOMEM, "CPU times");
	*thread = track->thread;
	sample->at_ns = loading_ns(l, c->ticks);
	sample->cpu_ns = loading_cut(c->cpu_ns > INT64_MAX ? INT64_MAX : (int64_t)c->cpu_ns);
	return l->status;
}

static int add_loss(struct loading *l, const struct tare_trace_loss *loss)
{
	const struct load_track *track = loading_track(l, tare_trace_track(loss->head));
	struct tare_recorded_loss *added =
	    track ? LOADING_ADD(l, losses, loss_count, loss_room) : NULL;

	if (!added)
		return l->status;
	*added = (struct tare_recorded_loss){
		l->process,    track->thread,  loading_ns(l, loss->from), 0,
		loss->records, loss->commands, TARE_LOSS_NO_ROOM
	};
	added->to_ns = not_before(loading_ns(l, loss->to), added->from_ns);
	return 0;
}

// It is a call within the thread's own. What is told of the thread's last call is not told of it.
static int add_within(struct loading *l, const struct tare_trace_within *w)
{
	struct load_track *track = loading_track(l, w->call_track);
	struct tare_recorded_call *call =
	    track ? LOADING_ADD(l, calls, call_count, call_room) : NULL;
	uint32_t function;

	if (!call)
		return l->status;
	function = loading_function(l, tare_trace_detail(w->head), TARE_ROLE_LOAD);
	*call = (struct tare_recorded_call){ .enter_ns = loading_ns(l, w->enter),
		                             .count = 1,
		                             .thread = track->thread,
		                             .object = TARE_NO_INDEX,
		                             .device = TARE_NO_INDEX,
		                             .function = (uint16_t)function,
		                             .stack = TARE_NO_INDEX,
		                             .flags = TARE_CALL_NESTED };
	call->role = l->status ? 0 : (uint8_t)l->recording->functions[function].role;
	call->exit_ns = not_before(loading_ns(l, w->exit), call->enter_ns);
	call->inside_ns = call->exit_ns - call->enter_ns;
	return l->status;
}

int loading_event(struct loading *l, const union tare_trace_record *record)
{
	switch (tare_trace_type(record->head)) {
	case TARE_TRACE_CALL:
		return add_call(l, &record->call);
	case TARE_TRACE_POLLED:
		return add_polled(l, &record->polled);
	case TARE_TRACE_COMMAND:
		return add_command(l, &record->command);
	case TARE_TRACE_CALL_END:
		return add_call_end(l, &record->call_end);
	case TARE_TRACE_DEPENDS:
		return add_depends(l, &record->depends);
	case TARE_TRACE_TIMES:
		return loading_times(l, &record->times);
	case TARE_TRACE_UNTIMED:
		return loading_untimed(l, &record->untimed);
	case TARE_TRACE_EXECUTE:
		return loading_execute(l, &record->execute);
	case TARE_TRACE_CALLBACK:
		return add_callback(l, &record->callback);
	case TARE_TRACE_CPU_TIME:
		return add_cpu_time(l, &record->cpu_time);
	case TARE_TRACE_CLOCK_PAIR:
		return loading_clock_pair(l, &record->clock_pair);
	case TARE_TRACE_PHASE:
		return loading_phase(l, &record->phase);
	case TARE_TRACE_LOSS:
		return add_loss(l, &record->loss);
	case TARE_TRACE_SITE:
		return loading_site(l, &record->site);
	case TARE_TRACE_ACTIVE:
		return loading_active(l, &record->active);
	case TARE_TRACE_PAGES:
		return loading_pages(l, &record->pages);
	case TARE_TRACE_WITHIN:
		return add_within(l, &record->within);
	case TARE_TRACE_PART:
		return loading_part(l, &record->part);
	case TARE_TRACE_TRANSFER:
		return loading_transfer(l, &record->transfer);
	case TARE_TRACE_DRAWN:
		return loading_drawn(l, &record->drawn);
	case TARE_TRACE_PEER:
		return loading_peer(l, &record->peer);
	case TARE_TRACE_LINK:
		return loading_link_told(l, &record->link);
	case TARE_TRACE_CONTENTS:
		return loading_contents(l, &record->contents);
	case TARE_TRACE_COUNTED:
		return loading_counted(l, &record->counted);
	case TARE_TRACE_COUNTING:
		return loading_counting(l, &record->counting);
	default:
		return l->status;
	}
}
