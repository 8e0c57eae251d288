// SPDX-License-Identifier: Apache-2.0
// Command lists that are executed: their runs, and the times of these.
#include "analysis/recording/lists/list.h"

#define MOST_EXECUTIONS 0x3fffffff // an index has 30 bits

int loading_executes(struct loading *l, const struct tare_trace_command *c, uint32_t index,
                     uint32_t list, uint32_t graph, uint32_t before)
{
	struct load_lists *s = loading_lists(l);
	uint32_t at = s && before
	                  ? tare_id_map_find(&s->executing_of, list_identity(c->head, before))
	                  : TARE_ID_ABSENT;
	uint32_t call = at == TARE_ID_ABSENT ? index : s->executing[at].call;
	struct load_executing *x =
	    s ? TARE_ROOM_FOR(s->executing, s->executing_room, s->executing_count) : NULL;

	if (!x || !tare_id_map_put(&s->executing_of, list_identity(c->head, c->number),
	                           (uint32_t)s->executing_count))
		return loading_fail(l, ENOMEM, "command lists");
	*x = (struct load_executing){ index, list, call, false, graph };
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
static uint32_t add_waits(struct loading *l, const struct load_template *t, int64_t enter_ns)
{
	struct tare_recording *r = l->recording;
	size_t first = r->wait_count;

	for (uint32_t i = t->first_event; i != TARE_NO_INDEX; i = l->lists->events[i].next) {
		const struct load_event *event = &l->lists->events[i];
		uint32_t command =
		    loading_command_of_event(l, event->api, event->event, UINT64_MAX, enter_ns);
		struct tare_recorded_wait *wait = LOADING_ADD(l, waits, wait_count, wait_room);
		if (!wait)
			break;
		wait->command = command & 0x7fffffff;
		wait->last = l->lists->events[i].next == TARE_NO_INDEX;
	}
	return r->wait_count > first ? (uint32_t)first : TARE_NO_INDEX;
}

static void add_run(struct loading *l, const struct load_template *t,
                    const struct tare_recorded_command *by, uint32_t execution)
{
	struct tare_recording *r = l->recording;
	// That the execution failed, blocked or was nested is said of the command that executes.
	uint8_t own = t->flags & (TARE_COMMAND_OWN_EVENT | TARE_COMMAND_DEPENDS |
	                          TARE_COMMAND_NO_TIMES | TARE_COMMAND_TRANSFER);

	struct tare_recorded_command run = { .enter_ns = by->enter_ns,
		                             .exit_ns = by->exit_ns,
		                             .submitted_ns = TARE_NO_TIME,
		                             .start_ns = TARE_NO_TIME,
		                             .end_ns = TARE_NO_TIME,
		                             .amount = t->amount,
		                             .thread = by->thread,
		                             .queue = by->queue,
		                             .object = t->object,
		                             .first_wait = add_waits(l, t, by->enter_ns),
		                             .function = t->function,
		                             .kind = t->kind,
		                             .direction = t->direction,
		                             .alignment = t->alignment,
		                             .memory = t->memory,
		                             .flags = own,
		                             .stack = r->calls[t->call].stack,
		                             .part = TARE_RUN,
		                             .execution = execution & MOST_EXECUTIONS };
	uint32_t index = loading_add_command(l, &run);
	if (t->event && !l->status)
		loading_put_event(l, t->api, t->event, index);
	if (t->placed)
		loading_add_place(l, index, t->identity);
}

static void add_runs(struct loading *l, uint32_t execution)
{
	struct tare_recording *r = l->recording;
	const struct tare_recorded_execution x = r->executions[execution];
	const struct tare_recorded_command by = loading_command(l, x.command);
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

// The command turns out to execute a list; `not` are flags that it has no longer.
static void executes(struct loading *l, uint32_t command, enum tare_list_part part,
                     uint32_t execution, uint8_t not)
{
	struct tare_recorded_command c = loading_command(l, command);

	c.part = (uint8_t)part;
	c.execution = execution & MOST_EXECUTIONS;
	c.flags &= (uint8_t)~not;
	loading_put_command(l, command, &c);
}

// What a call took is shared by all that it ran, of however many lists.
static void share_call(struct loading *l, uint32_t execution)
{
	struct tare_recording *r = l->recording;
	const struct tare_recorded_execution *x = &r->executions[execution];
	uint32_t first = TARE_COMMAND(r, x->call)->execution;

	if (TARE_COMMAND(r, x->call)->part == TARE_ALONE || first >= r->execution_count)
		return; // the first is not told
	r->executions[first].shares +=
	    x->runs + (TARE_COMMAND(r, x->command)->part == TARE_EXECUTES_MORE);
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
	// Its times are those of its runs.
	executes(l, x->command, x->nodes > x->runs ? TARE_EXECUTES_MORE : TARE_EXECUTES, index,
	         TARE_COMMAND_NO_TIMES);
	share_call(l, index);
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
		uint32_t known = TARE_COMMAND(r, command)->execution;
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
		                               .graph = s->executing[at].graph,
		                               .call = command,
		                               .number = index - s->first_execution + 1 };
	executes(l, command, TARE_EXECUTES, index, 0);
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
		else if (!TARE_COMMAND(l->recording, run)->untimed)
			loading_put_untimed(l, run, why);
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
	if (TARE_COMMAND(l->recording, s->executing[at].command)->untimed != LOADING_RAW)
		loading_put_untimed(l, s->executing[at].command, why);
	return true;
}

// Why a run has no times, where its own template or the execution says so.
static void finish_runs(struct loading *l, uint32_t execution)
{
	struct tare_recording *r = l->recording;
	const struct load_lists *s = l->lists;
	const struct tare_recorded_execution *x = &r->executions[execution];
	const struct tare_recorded_command *by = TARE_COMMAND(r, x->command);
	uint32_t run = s->first_run[execution - s->first_execution];
	bool listed = x->runs && run != TARE_NO_INDEX;
	uint32_t at = listed ? s->lists[x->list - s->first_list].first : TARE_NO_INDEX;

	for (uint32_t i = 0; listed && i < x->runs; i++, run++, at = s->templates[at].next) {
		const struct load_template *t = &s->templates[at];
		struct tare_recorded_command c = loading_command(l, run);
		c.exit_ns = by->exit_ns; // a long call tells its end after the list's commands
		if (!c.untimed && execution < t->untimed_before)
			c.untimed = t->untimed;
		else if (!c.untimed && by->untimed != LOADING_RAW)
			c.untimed = by->untimed;
		loading_put_command(l, run, &c);
	}
}

void loading_finish_lists(struct loading *l)
{
	if (!l->lists)
		return;
	for (size_t i = l->lists->first_execution; i < l->recording->execution_count; i++)
		finish_runs(l, (uint32_t)i);
}

size_t loading_run_count(const struct loading *l)
{
	size_t count = 0;

	for (size_t i = l->lists ? l->lists->first_execution : SIZE_MAX;
	     i < l->recording->execution_count; i++)
		count += l->recording->executions[i].runs;
	return count;
}
