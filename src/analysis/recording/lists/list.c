// SPDX-License-Identifier: Apache-2.0
// Command lists and what is appended to them.
//
// A small file may claim a great many runs: a list of n commands that is executed n times. Runs are
// made as long as there are not many more than the file has records; what goes beyond is counted.
#include "analysis/recording/lists/list.h"

#define FREE_RUNS 262144 // whatever the size of the file
#define RUNS_A_RECORD 8

struct load_lists *loading_lists(struct loading *l)
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
	struct load_lists *s = o->number ? loading_lists(l) : NULL;
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
	    !tare_id_map_put(&s->template_of, list_identity(c->head, c->number), index))
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

size_t loading_template_count(const struct loading *l)
{
	return l->lists ? l->lists->template_count : 0;
}
