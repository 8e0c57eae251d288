// SPDX-License-Identifier: Apache-2.0
// Call stacks, the modules that their addresses lie in, and what was issued from where.
#include "analysis/recording/internal.h"

// More than any recorder writes; a stack that claims more is damaged.
#define MOST_FRAMES 1024
#define LINE_MASK 0xffffff

// Parts of a stack come one directly after another; of one that is not whole nothing is kept.
static void drop_open(struct loading *l)
{
	struct tare_recording *r = l->recording;

	if (!l->stack_left)
		return;
	r->stack_count--;
	r->frame_count = r->stacks[r->stack_count].first_frame;
	l->stack_left = 0;
	r->unresolved++;
}

static bool begin_stack(struct loading *l, const struct tare_trace_stack *s)
{
	struct tare_recorded_stack *stack;

	if (s->total == 0 || s->total > MOST_FRAMES ||
	    tare_id_map_find(&l->stack_of, s->id) != TARE_ID_ABSENT) {
		l->recording->unresolved++;
		return false;
	}
	stack = LOADING_ADD(l, stacks, stack_count, stack_room);
	if (!stack)
		return false;
	// The order of definitions tells which modules were there.
	*stack = (struct tare_recorded_stack){ .process = l->process,
		                               .first_frame = (uint32_t)l->recording->frame_count,
		                               .seen_ns = l->module_seen_ns };
	l->stack_id = s->id;
	l->stack_left = s->total;
	return true;
}

// A line of a script, as the recording has it.
static uint64_t script_frame(struct loading *l, uint64_t frame)
{
	uint32_t index = tare_id_map_find(&l->script_of, frame);
	struct tare_recorded_script *script;

	if (index != TARE_ID_ABSENT)
		return TARE_TRACE_FRAME_TEXT | index;
	script = LOADING_ADD(l, scripts, script_count, script_room);
	if (!script)
		return 0;
	index = (uint32_t)(l->recording->script_count - 1);
	*script = (struct tare_recorded_script){
		.text = loading_text(l, tare_trace_text(l->trace, l->file, (uint32_t)frame)),
		.line = (uint32_t)(frame >> 32) & LINE_MASK,
	};
	if (!tare_id_map_put(&l->script_of, frame, index))
		loading_fail(l, ENOMEM, "call stacks");
	return TARE_TRACE_FRAME_TEXT | index;
}

int loading_stack(struct loading *l, const struct tare_trace_stack *s)
{
	struct tare_recording *r = l->recording;
	uint32_t count = tare_trace_detail(s->head);
	struct tare_recorded_stack *stack;

	if (l->stack_left && (s->id != l->stack_id || s->offset == 0))
		drop_open(l);
	if (!l->stack_left && (s->offset != 0 || !begin_stack(l, s))) {
		r->unresolved += s->offset != 0;
		return l->status;
	}
	stack = &r->stacks[r->stack_count - 1];
	if (s->offset != stack->frame_count || s->offset + l->stack_left != s->total ||
	    count > l->stack_left) {
		drop_open(l);
		return l->status;
	}
	for (uint32_t i = 0; i < count; i++) {
		uint64_t *frame = LOADING_ADD(l, frames, frame_count, frame_room);
		if (!frame)
			return l->status;
		*frame = s->frame[i] & TARE_TRACE_FRAME_TEXT ? script_frame(l, s->frame[i])
		                                             : s->frame[i];
	}
	stack->frame_count += count;
	l->stack_left -= count;
	if (!l->stack_left && !tare_id_map_put(&l->stack_of, s->id, (uint32_t)(r->stack_count - 1)))
		return loading_fail(l, ENOMEM, "call stacks");
	return l->status;
}

void loading_finish_stacks(struct loading *l)
{
	drop_open(l);
}

int loading_module(struct loading *l, const struct tare_trace_module *m)
{
	struct tare_recorded_module *module = LOADING_ADD(l, modules, module_count, module_room);

	if (!module)
		return l->status;
	*module = (struct tare_recorded_module){
		.process = l->process,
		.from = m->from,
		.to = m->to,
		.bias = m->bias,
		.seen_ns = loading_ns(l, m->ticks),
		.path = loading_text(l, tare_trace_text(l->trace, l->file, m->path)),
		.build_id = loading_text(l, tare_trace_text(l->trace, l->file, m->build_id))
	};
	if (module->seen_ns > l->module_seen_ns)
		l->module_seen_ns = module->seen_ns;
	return l->status;
}

// A SITE is of the last command or call of its track; false: it is not.
static bool put_stack(struct loading *l, const struct load_track *track,
                      const struct tare_trace_site *s, uint32_t stack)
{
	struct tare_recording *r = l->recording;
	bool of_call = tare_trace_record_flags(s->head) & TARE_SITE_OF_CALL;

	if (!of_call && track->command != TARE_NO_INDEX && track->command_number == s->of) {
		loading_put_stack(l, track->command, stack);
		return true;
	}
	// One that the API refused is a call.
	if (track->call != TARE_NO_INDEX &&
	    (of_call ? track->call_enter == s->of
	             : track->command == TARE_NO_INDEX && track->command_number == s->of)) {
		r->calls[track->call].stack = stack;
		return true;
	}
	return false;
}

int loading_site(struct loading *l, const struct tare_trace_site *s)
{
	const struct load_track *track = loading_track(l, tare_trace_track(s->head));
	uint32_t index = loading_find_again(&l->stack_of, &l->last_stack, s->stack);

	if (!track)
		return l->status;
	if (index == TARE_ID_ABSENT || !put_stack(l, track, s, index))
		l->recording->unresolved++;
	return l->status;
}
