// SPDX-License-Identifier: Apache-2.0
// Command lists. What is appended to one is a template: a call for the host, nothing for the
// device. Each execution makes a command of every template, a run, enqueued when the list was
// executed; times that name the template and the execution are the run's.
//
// A small file may claim a great many runs: a list of n commands that is executed n times. Runs are
// made as long as there are not many more than the file has records; what goes beyond is counted.
#include "analysis/recording/internal.h"

#define MOST_EXECUTIONS 0x3fffffff // an index has 30 bits
#define FREE_RUNS 262144           // whatever the size of the file
#define RUNS_A_RECORD 8

struct load_list {
	uint64_t ticks;       // when it was made
	uint32_t next;        // that took over its number; TARE_NO_INDEX: none
	uint32_t first, last; // templates; TARE_NO_INDEX: none
	uint64_t waits;       // events that they wait for, together
};

// An event that a template waits for.
struct load_event {
	uint64_t event;
	uint32_t next; // TARE_NO_INDEX: none
	uint8_t api;
};

struct load_template {
	uint64_t amount, event;
	uint32_t number;     // of its command
	uint32_t list, next; // next: of its list
	uint32_t position;   // in its list
	uint32_t call;       // that appended it
	uint32_t object;
	uint32_t first_event, last_event; // that it waits for
	uint32_t identity;                // of its place
	uint32_t untimed_before;          // executions that `untimed` is said of
	uint16_t function;
	uint8_t kind, direction, alignment, memory, flags, api, untimed;
	bool placed;
};

// A command that executes a list.
struct load_executing {
	uint32_t command, list; // list: TARE_NO_INDEX: not known
	uint32_t call;          // the first command of the same call
	bool known;             // by an EXECUTE record
};

struct load_lists {
	struct tare_id_map list_of;      // by number, the one that is appended to now
	struct tare_id_map latest_of;    // by number, the one that was defined last
	struct tare_id_map template_of;  // by track and number
	struct tare_id_map executing_of; // the same
	struct tare_id_map execution_of; // by list and number
	struct load_list *lists;
	struct load_template *templates;
	struct load_event *events;
	struct load_executing *executing;
	uint32_t *first_run;                // of each execution
	size_t first_list, first_execution; // of the process
	size_t list_count, list_room, template_count, template_room, event_count, event_room,
	    executing_count, executing_room, run_count, run_room;
	uint64_t left; // runs, and what they wait for, that may still be made
};

static struct load_lists *lists_of(struct loading *l)
{
	uint64_t bytes = tare_trace_file(l->trace, l->file)->bytes;

	if (l->lists)
		return l->lists;
	l->lists = calloc(1, sizeof *l->lists);
	if (!l->lists) {
		loading_fail(l, ENOMEM, "command lists");
		return NULL;
	}
	l->lists->first_list = l->recording->list_count;
	l->lists->first_execution = l->recording->execution_count;
	l->lists->left = FREE_RUNS + RUNS_A_RECORD * (bytes / sizeof(union tare_trace_record));
	return l->lists;
}

void loading_forget_lists(struct loading *l)
{
	struct load_lists *s = l->lists;

	if (!s)
		return;
	tare_id_map_free(&s->list_of);
	tare_id_map_free(&s->latest_of);
	tare_id_map_free(&s->template_of);
	tare_id_map_free(&s->executing_of);
	tare_id_map_free(&s->execution_of);
	free(s->lists);
	free(s->templates);
	free(s->events);
	free(s->executing);
	free(s->first_run);
	free(s);
	l->lists = NULL;
}

static uint64_t identity_of(uint64_t head, uint32_t number)
{
	return (uint64_t)tare_trace_track(head) << 32 | number;
}

// ---- what is appended

// A list that is reset may keep its number.
static bool number_list(struct load_lists *s, uint32_t number, uint32_t index)
{
	uint32_t before = tare_id_map_find(&s->latest_of, number);

	if (before != TARE_ID_ABSENT)
		s->lists[before - s->first_list].next = index;
	else if (!tare_id_map_put(&s->list_of, number, index))
		return false;
	return tare_id_map_put(&s->latest_of, number, index);
}

// The list of a number at a time; they are asked for in the order of time.
static uint32_t list_now(struct load_lists *s, uint32_t number, uint64_t ticks)
{
	uint32_t list = tare_id_map_find(&s->list_of, number), first = list, next;

	while ((next = s->lists[list - s->first_list].next) != TARE_NO_INDEX &&
	       s->lists[next - s->first_list].ticks <= ticks)
		list = next;
	if (list != first)
		tare_id_map_put(&s->list_of, number, list);
	return list;
}

uint32_t loading_add_list(struct loading *l, const struct tare_trace_object *o)
{
	struct load_lists *s = o->number ? lists_of(l) : NULL;
	struct tare_recorded_list *list = s ? LOADING_ADD(l, lists, list_count, list_room) : NULL;
	struct load_list *state =
	    list ? TARE_ROOM_FOR(s->lists, s->list_room, s->list_count) : NULL;
	uint32_t index = (uint32_t)(l->recording->list_count - 1);

	if (!o->number)
		return TARE_NO_INDEX; // nothing can be appended to it under that number
	if (!state || !number_list(s, o->number, index)) {
		loading_fail(l, ENOMEM, "command lists");
		return TARE_NO_INDEX;
	}
	*list = (struct tare_recorded_list){ .process = l->process,
		                             .number = o->number,
		                             .properties = o->properties,
		                             .created_ns = loading_ns(l, o->ticks) };
	*state = (struct load_list){ o->ticks, TARE_NO_INDEX, TARE_NO_INDEX, TARE_NO_INDEX, 0 };
	s->list_count++;
	return index;
}

bool loading_is_list(const struct loading *l, uint32_t number)
{
	return l->lists && tare_id_map_find(&l->queue_of, number) == TARE_ID_ABSENT &&
	       tare_id_map_find(&l->lists->list_of, number) != TARE_ID_ABSENT;
}

// The call that appended, which is all that the host had to do with it.
static uint32_t add_append_call(struct loading *l, const struct load_track *track,
                                const struct tare_trace_command *c, uint32_t function)
{
	struct tare_recorded_call *call = LOADING_ADD(l, calls, call_count, call_room);
	uint64_t exit =
	    c->call_ticks > UINT64_MAX - c->enter ? UINT64_MAX : c->enter + c->call_ticks;

	if (!call)
		return TARE_NO_INDEX;
	*call = (struct tare_recorded_call){ .enter_ns = loading_ns(l, c->enter),
		                             .count = 1,
		                             .bytes = c->kind == TARE_KIND_KERNEL ? 0 : c->amount,
		                             .thread = track->thread,
		                             .object = TARE_NO_INDEX,
		                             .device = TARE_NO_INDEX,
		                             .function = (uint16_t)function,
		                             .role = TARE_ROLE_COMMAND,
		                             .stack = TARE_NO_INDEX };
	if (tare_trace_record_flags(c->head) & TARE_COMMAND_NESTED)
		call->flags = TARE_CALL_NESTED;
	if (!(tare_trace_record_flags(c->head) & TARE_COMMAND_NO_TIMES))
		call->flags |= TARE_CALL_TIMED;
	if (tare_trace_record_flags(c->head) & TARE_COMMAND_OWN_EVENT)
		call->flags |= TARE_CALL_OWN_EVENT;
	if (c->kind == TARE_KIND_KERNEL || c->kind == TARE_KIND_FILL)
		call->flags |= TARE_CALL_LIKE_KERNEL;
	call->exit_ns = loading_ns(l, exit);
	if (call->exit_ns < call->enter_ns)
		call->exit_ns = call->enter_ns;
	call->inside_ns = call->exit_ns - call->enter_ns;
	return (uint32_t)(l->recording->call_count - 1);
}

static struct load_template template_of(struct loading *l, const struct tare_trace_command *c,
                                        uint32_t function)
{
	struct load_template t = { .amount = c->amount,
		                   .number = c->number,
		                   .next = TARE_NO_INDEX,
		                   .first_event = TARE_NO_INDEX,
		                   .last_event = TARE_NO_INDEX,
		                   .function = (uint16_t)function,
		                   .kind = c->kind,
		                   .direction = c->direction,
		                   .alignment = c->alignment,
		                   .memory = c->memory,
		                   .flags = tare_trace_record_flags(c->head),
		                   .api = loading_api_of_function(l, function) };

	if (t.flags & TARE_COMMAND_OWN_EVENT)
		l->own_events++; // the program does not know its handle
	else
		t.event = c->event;
	l->retained_events += t.event && !(t.flags & TARE_COMMAND_NO_TIMES);
	t.object = loading_resolve(
	    l, t.api, c->kind == TARE_KIND_KERNEL ? TARE_OBJECT_KERNEL : TARE_OBJECT_MEMORY,
	    c->object, c->enter);
	if (c->kind == TARE_KIND_KERNEL)
		t.amount = loading_shape(l, c->amount);
	t.placed = (c->kind == TARE_KIND_WRITE || c->kind == TARE_KIND_READ) && c->object2;
	t.identity = loading_place_identity(c->kind, c->object2);
	return t;
}

int loading_append(struct loading *l, struct load_track *track, const struct tare_trace_command *c)
{
	struct load_lists *s = l->lists;
	uint32_t list = list_now(s, c->queue, c->enter);
	uint32_t function = loading_function(l, tare_trace_detail(c->head), TARE_ROLE_COMMAND);
	uint32_t call = add_append_call(l, track, c, function);
	struct load_template *t = TARE_ROOM_FOR(s->templates, s->template_room, s->template_count);
	struct load_list *state = &s->lists[list - s->first_list];
	uint32_t index = (uint32_t)s->template_count;

	if (l->status || !t || index == TARE_NO_INDEX ||
	    !tare_id_map_put(&s->template_of, identity_of(c->head, c->number), index))
		return loading_fail(l, ENOMEM, "command lists");
	*t = template_of(l, c, function);
	t->call = call;
	t->list = list;
	t->position = l->recording->lists[list].commands++;
	s->template_count++;
	if (state->last == TARE_NO_INDEX)
		state->first = index;
	else
		s->templates[state->last].next = index;
	state->last = index;
	track->call = call;
	track->call_enter = c->enter;
	track->command = TARE_NO_INDEX;
	track->command_number = c->number;
	track->template = index;
	return l->status;
}

bool loading_is_template(const struct loading *l, uint32_t template, uint64_t number)
{
	return l->lists &&
	       template <l->lists->template_count && l->lists->templates[template].number == number;
}

int loading_append_depends(struct loading *l, uint32_t template, uint8_t api,
                           const struct tare_trace_depends *d, uint32_t events)
{
	struct load_lists *s = l->lists;
	struct load_template *t = &s->templates[template];

	for (uint32_t i = 0; i < events; i++) {
		struct load_event *event = TARE_ROOM_FOR(s->events, s->event_room, s->event_count);
		uint32_t index = (uint32_t)s->event_count;
		if (!event || index == TARE_NO_INDEX)
			return loading_fail(l, ENOMEM, "dependencies");
		*event = (struct load_event){ d->event[i], TARE_NO_INDEX, api };
		if (t->last_event == TARE_NO_INDEX)
			t->first_event = index;
		else
			s->events[t->last_event].next = index;
		t->last_event = index;
		s->event_count++;
	}
	s->lists[t->list - s->first_list].waits += events;
	return l->status;
}

void loading_append_transfer(struct loading *l, uint32_t template,
                             const struct tare_trace_transfer *more)
{
	struct load_template *t = &l->lists->templates[template];

	t->identity = loading_transfer_identity(t->identity, more);
}

// ---- what is executed

int loading_executes(struct loading *l, const struct tare_trace_command *c, uint32_t index,
                     uint32_t list, uint32_t before)
{
	struct load_lists *s = lists_of(l);
	uint32_t at = s && before ? tare_id_map_find(&s->executing_of, identity_of(c->head, before))
	                          : TARE_ID_ABSENT;
	uint32_t call = at == TARE_ID_ABSENT ? index : s->executing[at].call;
	struct load_executing *x =
	    s ? TARE_ROOM_FOR(s->executing, s->executing_room, s->executing_count) : NULL;

	if (!x || !tare_id_map_put(&s->executing_of, identity_of(c->head, c->number),
	                           (uint32_t)s->executing_count))
		return loading_fail(l, ENOMEM, "command lists");
	*x = (struct load_executing){ index, list, call, false };
	s->executing_count++;
	return l->status;
}

// The key of an execution of a list, whether it is known or where it would go. *index: it, or
// absent.
static uint64_t execution_key(const struct loading *l, uint32_t list, uint64_t number,
                              uint32_t *index)
{
	const struct load_lists *s = l->lists;
	uint64_t key = tare_hash_bytes(tare_hash_bytes(TARE_HASH_START, &list, sizeof list),
	                               &number, sizeof number);

	for (;; key++) {
		const struct tare_recorded_execution *x;
		*index = tare_id_map_find(&s->execution_of, key);
		if (*index == TARE_ID_ABSENT)
			return key;
		x = &l->recording->executions[*index];
		if (x->list == list && x->number == number)
			return key;
	}
}

// What a run waits for: events of the list's own commands are those of the same execution, as they
// were put into the table just before.
static void add_waits(struct loading *l, const struct load_template *t, uint32_t run)
{
	struct tare_recording *r = l->recording;
	int64_t enter_ns = r->commands[run].enter_ns;
	size_t first = r->wait_count;

	for (uint32_t i = t->first_event; i != TARE_NO_INDEX; i = l->lists->events[i].next) {
		const struct load_event *event = &l->lists->events[i];
		uint32_t command =
		    loading_command_of_event(l, event->api, event->event, UINT64_MAX, enter_ns);
		struct tare_recorded_wait *wait = LOADING_ADD(l, waits, wait_count, wait_room);
		if (!wait)
			return;
		wait->command = command & 0x7fffffff;
		wait->last = l->lists->events[i].next == TARE_NO_INDEX;
	}
	if (r->wait_count > first)
		r->commands[run].first_wait = (uint32_t)first;
}

static void add_run(struct loading *l, const struct load_template *t,
                    const struct tare_recorded_command *by, uint32_t execution)
{
	struct tare_recording *r = l->recording;
	struct tare_recorded_command *run = LOADING_ADD(l, commands, command_count, command_room);
	uint32_t index = (uint32_t)(r->command_count - 1);
	// That the execution failed, blocked or was nested is said of the command that executes.
	uint8_t own = t->flags & (TARE_COMMAND_OWN_EVENT | TARE_COMMAND_DEPENDS |
	                          TARE_COMMAND_NO_TIMES | TARE_COMMAND_TRANSFER);

	if (!run)
		return;
	*run = (struct tare_recorded_command){ .enter_ns = by->enter_ns,
		                               .exit_ns = by->exit_ns,
		                               .submitted_ns = TARE_NO_TIME,
		                               .start_ns = TARE_NO_TIME,
		                               .end_ns = TARE_NO_TIME,
		                               .amount = t->amount,
		                               .thread = by->thread,
		                               .queue = by->queue,
		                               .object = t->object,
		                               .first_wait = TARE_NO_INDEX,
		                               .function = t->function,
		                               .kind = t->kind,
		                               .direction = t->direction,
		                               .alignment = t->alignment,
		                               .memory = t->memory,
		                               .flags = own,
		                               .stack = r->calls[t->call].stack,
		                               .part = TARE_RUN,
		                               .execution = execution & MOST_EXECUTIONS };
	add_waits(l, t, index);
	if (t->event && !l->status)
		loading_put_event(l, t->api, t->event, index);
	if (t->placed)
		loading_add_place(l, index, t->identity);
}

static void add_runs(struct loading *l, uint32_t execution)
{
	struct tare_recording *r = l->recording;
	const struct tare_recorded_execution x = r->executions[execution];
	const struct tare_recorded_command by = r->commands[x.command];
	uint32_t at = x.runs ? l->lists->lists[x.list - l->lists->first_list].first : TARE_NO_INDEX;

	for (uint32_t i = 0; i < x.runs && !l->status; i++) {
		add_run(l, &l->lists->templates[at], &by, execution);
		at = l->lists->templates[at].next;
	}
}

// How many runs are made of a list's execution: all that are known, or none.
static uint32_t runs_of(struct loading *l, uint32_t list, uint64_t nodes)
{
	struct load_lists *s = l->lists;
	uint64_t commands, cost;

	if (list == TARE_NO_INDEX)
		return 0;
	commands = l->recording->lists[list].commands;
	commands = commands < nodes ? commands : nodes;
	cost = commands + s->lists[list - s->first_list].waits;
	if (cost > s->left)
		return 0;
	s->left -= cost;
	return (uint32_t)commands;
}

// What a call took is shared by all that it ran, of however many lists.
static void share_call(struct loading *l, uint32_t execution)
{
	struct tare_recording *r = l->recording;
	const struct tare_recorded_execution *x = &r->executions[execution];
	uint32_t first = r->commands[x->call].execution;

	if (r->commands[x->call].part == TARE_ALONE || first >= r->execution_count)
		return; // the first is not told
	r->executions[first].shares +=
	    x->runs + (r->commands[x->command].part == TARE_EXECUTES_MORE);
}

int loading_execute(struct loading *l, const struct tare_trace_execute *e)
{
	struct tare_recording *r = l->recording;
	struct load_lists *s = l->lists;
	uint64_t identity = (uint64_t)e->command_track << 32 | e->command_number;
	uint32_t at = s ? tare_id_map_find(&s->executing_of, identity) : TARE_ID_ABSENT;
	uint32_t index = (uint32_t)r->execution_count, before;
	struct tare_recorded_execution *x;
	uint32_t *first_run;
	uint64_t key;

	if (at == TARE_ID_ABSENT || s->executing[at].known) {
		r->unresolved++;
		return l->status;
	}
	first_run = TARE_ROOM_FOR(s->first_run, s->run_room, s->run_count);
	x = first_run ? LOADING_ADD(l, executions, execution_count, execution_room) : NULL;
	if (!x || index >= MOST_EXECUTIONS)
		return loading_fail(l, ENOMEM, "command lists");
	*first_run = (uint32_t)r->command_count;
	s->run_count++;
	s->executing[at].known = true;
	*x = (struct tare_recorded_execution){ .command = s->executing[at].command,
		                               .list = s->executing[at].list,
		                               .call = s->executing[at].call,
		                               .number = e->execution,
		                               // No list is so long; sums of these do not run over.
		                               .nodes =
		                                   e->nodes < UINT32_MAX ? e->nodes : UINT32_MAX };
	x->runs = runs_of(l, x->list, x->nodes);
	r->commands[x->command].part = x->nodes > x->runs ? TARE_EXECUTES_MORE : TARE_EXECUTES;
	r->commands[x->command].execution = index & MOST_EXECUTIONS;
	share_call(l, index);
	// Its times are those of its runs.
	r->commands[x->command].flags &= (uint8_t)~TARE_COMMAND_NO_TIMES;
	if (x->list != TARE_NO_INDEX)
		r->lists[x->list].executions++;
	key = execution_key(l, x->list, x->number, &before);
	if (!tare_id_map_put(&s->execution_of, key, index))
		return loading_fail(l, ENOMEM, "command lists");
	add_runs(l, index);
	return l->status;
}

// ---- nodes that are told by their times

uint32_t loading_launch(struct loading *l, uint64_t identity)
{
	struct tare_recording *r = l->recording;
	struct load_lists *s = l->lists;
	uint32_t at = s ? tare_id_map_find(&s->executing_of, identity) : TARE_ID_ABSENT;
	uint32_t index = (uint32_t)r->execution_count, command;
	struct tare_recorded_execution *x;
	uint32_t *first_run;

	if (at == TARE_ID_ABSENT)
		return TARE_NO_INDEX;
	command = s->executing[at].command;
	if (s->executing[at].known) {
		uint32_t known = r->commands[command].execution;
		return s->first_run[known - s->first_execution] == TARE_NO_INDEX ? known
		                                                                 : TARE_NO_INDEX;
	}
	first_run = TARE_ROOM_FOR(s->first_run, s->run_room, s->run_count);
	x = first_run ? LOADING_ADD(l, executions, execution_count, execution_room) : NULL;
	if (!x || index >= MOST_EXECUTIONS) {
		loading_fail(l, ENOMEM, "graphs");
		return TARE_NO_INDEX;
	}
	*first_run = TARE_NO_INDEX;
	s->run_count++;
	s->executing[at].known = true;
	*x = (struct tare_recorded_execution){ .command = command,
		                               .list = TARE_NO_INDEX,
		                               .call = command,
		                               .number = index - s->first_execution + 1 };
	r->commands[command].part = TARE_EXECUTES;
	r->commands[command].execution = index & MOST_EXECUTIONS;
	return index;
}

// ---- its times

uint32_t loading_run_of(struct loading *l, uint64_t identity, uint64_t execution)
{
	const struct load_lists *s = l->lists;
	uint32_t at = s ? tare_id_map_find(&s->template_of, identity) : TARE_ID_ABSENT;
	const struct load_template *t;
	uint32_t index;

	if (at == TARE_ID_ABSENT)
		return TARE_NO_RUN;
	t = &s->templates[at];
	execution_key(l, t->list, execution, &index);
	if (index == TARE_ID_ABSENT || t->position >= l->recording->executions[index].runs)
		return TARE_ID_ABSENT;
	return s->first_run[index - s->first_execution] + t->position;
}

bool loading_untimed_list(struct loading *l, uint64_t identity, uint64_t execution, uint8_t why)
{
	struct load_lists *s = l->lists;
	uint32_t at = s ? tare_id_map_find(&s->template_of, identity) : TARE_ID_ABSENT;

	if (at != TARE_ID_ABSENT && execution) {
		uint32_t run = loading_run_of(l, identity, execution);
		if (run == TARE_ID_ABSENT)
			l->recording->unresolved++;
		else if (!l->recording->commands[run].untimed)
			l->recording->commands[run].untimed = why;
		return true;
	}
	if (at != TARE_ID_ABSENT) {
		// It does not say of which execution: of all so far that have no times.
		s->templates[at].untimed = why;
		s->templates[at].untimed_before = (uint32_t)l->recording->execution_count;
		return true;
	}
	at = s ? tare_id_map_find(&s->executing_of, identity) : TARE_ID_ABSENT;
	if (at == TARE_ID_ABSENT)
		return false;
	if (l->recording->commands[s->executing[at].command].untimed != LOADING_RAW)
		l->recording->commands[s->executing[at].command].untimed = why;
	return true;
}

// Why a run has no times, where its own template or the execution says so.
static void finish_runs(struct loading *l, uint32_t execution)
{
	struct tare_recording *r = l->recording;
	const struct load_lists *s = l->lists;
	const struct tare_recorded_execution *x = &r->executions[execution];
	const struct tare_recorded_command *by = &r->commands[x->command];
	uint32_t run = s->first_run[execution - s->first_execution];
	bool listed = x->runs && run != TARE_NO_INDEX;
	uint32_t at = listed ? s->lists[x->list - s->first_list].first : TARE_NO_INDEX;

	for (uint32_t i = 0; listed && i < x->runs; i++, run++, at = s->templates[at].next) {
		const struct load_template *t = &s->templates[at];
		struct tare_recorded_command *c = &r->commands[run];
		c->exit_ns = by->exit_ns; // a long call tells its end after the list's commands
		if (c->untimed)
			continue;
		if (execution < t->untimed_before)
			c->untimed = t->untimed;
		else if (by->untimed != LOADING_RAW)
			c->untimed = by->untimed;
	}
}

void loading_finish_lists(struct loading *l)
{
	if (!l->lists)
		return;
	for (size_t i = l->lists->first_execution; i < l->recording->execution_count; i++)
		finish_runs(l, (uint32_t)i);
}

size_t loading_template_count(const struct loading *l)
{
	return l->lists ? l->lists->template_count : 0;
}

size_t loading_run_count(const struct loading *l)
{
	size_t count = 0;

	for (size_t i = l->lists ? l->lists->first_execution : SIZE_MAX;
	     i < l->recording->execution_count; i++)
		count += l->recording->executions[i].runs;
	return count;
}
